/* The tools of a server: listed, named, changed, and called by an agent. */
#include "mcp/tools.h"

TEST(an_agent_calls_a_tool_of_a_server_in_each_era) {
    static const char *const eras[] = {"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26",
                                       "2024-11-05"};
    size_t i;
    for (i = 0; i < PHI__COUNT(eras); i++) {
        tools_kit t;
        tools_begin(&t, eras[i], NULL);
        if (CHECK(tools_ready(&t, NULL))) {
            CHECK_EQ_INT(phi_mcp_tool_count(t.k.mcp), 1);
            tools_agent(&t);
            (void)link_sent(&t.k);
            tools_call(&t, "echo", "{\"text\":\"hello\"}");
            printf("%s\n%s\n", link_sent(&t.k), rig_story(t.k.rig));
            CHECK_EQ_INT(t.calls, 1);
        }
        tools_end(&t);
    }
}

TEST_MAIN(TEST_ENTRY(an_agent_calls_a_tool_of_a_server_in_each_era))
