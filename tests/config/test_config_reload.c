/* test_config_reload.c - a file that was changed takes effect in the midst of conversations. */
#include "agent/snapshot.h"
#include "support/made.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "loop/hook.h"

#define PROVIDER                                                                                   \
    "[tools]\nenabled = [\"wait\"]\n[provider]\nmodel = \"claude-sonnet-4\"\napi_key = \"k\"\n"

static const char before[] =
    PROVIDER "[[agent.instances]]\nname = \"ada\"\nsystem_prompt = \"A smith.\"\n"
             "[[agent.instances]]\nname = \"bob\"\nsystem_prompt = \"A baker.\"\n"
             "[[agent.instances]]\nname = \"gone\"\n";
static const char after[] =
    PROVIDER "[[agent.instances]]\nname = \"new\"\n"
             "[[agent.instances]]\nname = \"bob\"\nsystem_prompt = \"A cook.\"\n"
             "[[agent.instances]]\nname = \"ada\"\nsystem_prompt = \"A queen.\"\n";

TEST(agents_of_a_changed_file_go_on_with_their_conversations) {
    rig *r = rig_new();
    phi_agents_desc with = PHI_ZERO;
    phi_tool wait = rig_wait(r);
    phi_agent ada;
    made was, now;
    with.tools = &wait;
    with.tool_count = 1;
    REQUIRE(made_load(&was, r, before, NULL, NULL, &with));
    REQUIRE(made_load(&now, r, after, NULL, NULL, &with));
    ada = phi_agents_get(was.agents, "ada");
    rig_says(r, "Good day.");
    CHECK_EQ_INT(phi_prompt(ada, "I am Tom."), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 50), 0);
    rig_call(r, "c1", "wait", "{}");
    CHECK_EQ_INT(phi_prompt(phi_agents_get(was.agents, "bob"), "Bread!"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 1);
    CHECK_EQ_INT(phi_agents_reload(now.agents, was.agents), PHI_OK);
    CHECK(!phi_agent_alive(ada));
    CHECK(!phi_agent_alive(phi_agents_get(was.agents, "bob")));
    CHECK(phi_agent_alive(phi_agents_get(was.agents, "gone")));
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(phi_agents_get(now.agents, "new"))), 0);
    made_free(&was);
    ada = phi_agents_get(now.agents, "ada");
    rig_says(r, "You are Tom.");
    CHECK_EQ_INT(phi_prompt(ada, "Who am I?"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 50), 1); /* bob's call waits still */
    CHECK(strstr(rig_request(r, 2), "A queen.") != NULL);
    CHECK(strstr(rig_request(r, 2), "I am Tom.") != NULL);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(ada)), 4);
    {
        phi_pending_item item;
        REQUIRE(phi_pending(rig_runtime(r), &item, 1) == 1);
        CHECK_EQ_INT(phi_call_reply(item.call, "baked"), PHI_OK);
    }
    rig_says(r, "Here you are.");
    CHECK_EQ_INT(rig_run(r, 50), 0);
    CHECK(strstr(rig_request(r, 3), "A cook.") != NULL);
    CHECK(strstr(rig_request(r, 3), "baked") != NULL);
    made_free(&now);
    rig_free(r);
}

TEST(without_memory_nobody_has_gone_over) {
    rig *r = rig_new();
    phi_agents_desc with = PHI_ZERO;
    phi_tool wait = rig_wait(r);
    phi_status status = PHI_NO_MEMORY;
    made was, now;
    int n;
    with.tools = &wait;
    with.tool_count = 1;
    REQUIRE(made_load(&was, r, before, NULL, NULL, &with));
    REQUIRE(made_load(&now, r, after, NULL, NULL, &with));
    rig_says(r, "Good day.");
    CHECK_EQ_INT(phi_prompt(phi_agents_get(was.agents, "ada"), "I am Tom."), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 50), 0);
    for (n = 0; n < 5000 && status != PHI_OK; n++) {
        test_alloc_fail_at(n);
        status = phi_agents_reload(now.agents, was.agents);
        test_alloc_fail_at(-1);
        if (status == PHI_OK) break;
        CHECK_EQ_INT(status, PHI_NO_MEMORY);
        CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(phi_agents_get(was.agents, "ada"))),
                     2);
        CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(phi_agents_get(now.agents, "ada"))),
                     0);
        CHECK(phi_agent_alive(phi_agents_get(was.agents, "bob")));
    }
    CHECK(n > 20);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(phi_agents_get(now.agents, "ada"))), 2);
    made_free(&was);
    made_free(&now);
    rig_free(r);
}

TEST(a_reload_is_refused_before_the_new_agents_are_there) {
    rig *r = rig_new();
    made was;
    phi_config_desc from = PHI_ZERO;
    phi_config *config;
    phi_agents *none;
    REQUIRE(made_load(&was, r, before, NULL, NULL, NULL));
    from.text = phi_str_of(after);
    config = phi_config_load(&from);
    none = phi_agents_from_config(rig_runtime(r), config, NULL);
    CHECK_EQ_INT(phi_agents_reload(none, was.agents), PHI_MISUSE);
    CHECK_EQ_INT(phi_agents_reload(was.agents, was.agents), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_agents_reload(NULL, was.agents), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_agents_reload(was.agents, NULL), PHI_BAD_ARG);
    phi_agents_free(none);
    phi_config_free(config);
    made_free(&was);
    rig_free(r);
}

TEST_MAIN(TEST_ENTRY(agents_of_a_changed_file_go_on_with_their_conversations),
          TEST_ENTRY(without_memory_nobody_has_gone_over),
          TEST_ENTRY(a_reload_is_refused_before_the_new_agents_are_there))
