/* test_no_memory.c - each allocation of a whole run with a call of each tool fails once: nothing
   leaks, nothing crashes, and the agent can be used again. */
#include "support/context_tools.h"
#include "calls.h"

#include "tools/context_tools.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "log/thread.h"
#include "loop/hook.h"
/* Returns how many allocations there are. program: rg may search. */
static int fail_each_of(const char *tool, const char *arguments, bool program) {
    int n = 0, left;
    bool tripped;
    do {
        calls c;
        phi_status status;
        phi_tools_desc desc = PHI_ZERO;
        desc.search_with = PHI_SEARCH_OWN;
        if (!calls_open(&c, program ? NULL : &desc)) return -1;
        if (!program) calls_put(&c, ".ignore", "*.{o,a}\n!x\n");
        calls_put(&c, "f.txt", "one\ntwo\n");
        calls_mkdir(&c, "sub");
        calls_put(&c, "sub/g.txt", "three\n");
        rig_call(c.r, "c1", tool, arguments);
        rig_says(c.r, "done");
        test_alloc_fail_at(n++);
        status = phi_prompt(c.agent, "go");
        CHECK(status == PHI_OK || status == PHI_NO_MEMORY);
        left = 5000;
        while (status == PHI_OK && calls_step(&c) > 0 && left-- > 0) continue;
        CHECK(left > 0);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK_EQ_INT(phi_agent_get_info(c.agent).running, false);
        check_file(&c, "sub/g.txt", "three\n");
        calls_close(&c);
    } while (tripped && n < 2000);
    return n;
}

static int fail_each(const char *tool, const char *arguments) {
    return fail_each_of(tool, arguments, true);
}

TEST(bash_survives) { CHECK(fail_each("bash", "{\"command\":\"echo a; echo b >&2\"}") > 20); }
TEST(read_file_survives) { CHECK(fail_each("read_file", "{\"path\":\"f.txt\"}") > 20); }
TEST(write_file_survives) {
    CHECK(fail_each("write_file", "{\"path\":\"n/f.txt\",\"content\":\"x\"}") > 20);
}
TEST(edit_file_survives) {
    CHECK(fail_each("edit_file", "{\"path\":\"f.txt\",\"old_text\":\"two\",\"new_text\":\"2\"}") >
          20);
    CHECK(fail_each("edit_file",
                    "{\"path\":\"f.txt\",\"old_text\":\"two\\nx\",\"new_text\":\"2\"}") > 20);
}
TEST(list_files_survives) { CHECK(fail_each("list_files", "{\"pattern\":\"*.txt\"}") > 20); }
TEST(search_survives) {
    CHECK(fail_each("search", "{\"pattern\":\"t\",\"include\":\"*.txt\"}") > 20);
}

TEST(search_without_a_program_survives) {
    CHECK(fail_each_of("search", "{\"pattern\":\"t(w|h)\",\"include\":\"*.{txt,c}\"}", false) > 40);
    CHECK(fail_each_of("list_files", "{\"pattern\":\"*.{txt,c}\"}", false) > 30);
}

static phi_verdict takes_a_little(void *user_data, phi_hook *hook) {
    (void)user_data;
    CHECK(phi_call_state(hook->call, 10) != NULL);
    return PHI_ALLOW;
}

/* The host got hold of the call's memory before the tool did, and took less than that needs. */
TEST(a_tool_whose_memory_was_taken_before_says_so_and_writes_nothing_behind_it) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool;
    phi_agent agent;
    CHECK_EQ_INT(tools_revert(&tool), PHI_OK);
    desc.tools = &tool;
    desc.tool_count = 1;
    desc.hook_fn = takes_a_little;
    desc.hook_points = PHI_HOOK_BEFORE_TOOL;
    agent = rig_agent(r, &desc);
    rig_call(r, "c1", "revert_to_state", "{\"category\":\"failure\",\"step\":\"n1\"}");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 40), 0);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 2)->content[0].text, "Out of memory");
    rig_free(r);
}

TEST_MAIN(TEST_ENTRY(bash_survives), TEST_ENTRY(read_file_survives),
          TEST_ENTRY(write_file_survives), TEST_ENTRY(edit_file_survives),
          TEST_ENTRY(list_files_survives), TEST_ENTRY(search_survives),
          TEST_ENTRY(search_without_a_program_survives),
          TEST_ENTRY(a_tool_whose_memory_was_taken_before_says_so_and_writes_nothing_behind_it))
