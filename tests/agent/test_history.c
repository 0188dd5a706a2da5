/* test_history.c - an agent's messages from outside: appended, replaced, cleared. */
#include "agent/messages.h"
#include "agent/response.h"
#include "loop/events.h"
#include "support/request.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "loop/hook.h"

TEST(appended_messages_are_seen_by_the_model) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    char question[] = "seen before";
    phi_content asked = text_block(question), said = text_block("said before");
    phi_message user = message_of(PHI_ROLE_USER, &asked);
    phi_message answer = message_of(PHI_ROLE_ASSISTANT, &said);
    CHECK_EQ_INT(phi_thread_append(phi_agent_thread(agent), &user, 1, NULL), PHI_OK);
    CHECK_EQ_INT(phi_thread_append(phi_agent_thread(agent), &answer, 1, NULL), PHI_OK);
    memset(question, 'x', sizeof question - 1); /* it was copied */
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 2);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 0)->content[0].text, "seen before");
    CHECK(phi_thread_message_at(phi_agent_thread(agent), 2) == NULL);
    rig_says(r, "fine");
    CHECK_EQ_INT(phi_prompt(agent, "and now"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK(strstr(rig_request(r, 0), "seen before") != NULL);
    CHECK(strstr(rig_request(r, 0), "said before") != NULL);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 4);
    CHECK(strstr(rig_story(r), "seen before") == NULL); /* no events of what the host did itself */
    rig_free(r);
}

TEST(an_extension_is_kept_and_never_sent) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    phi_message note = extension_of("bookmark", "{\"page\": 7}");
    CHECK_EQ_INT(phi_thread_append(phi_agent_thread(agent), &note, 1, NULL), PHI_OK);
    rig_says(r, "fine");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK(strstr(rig_request(r, 0), "bookmark") == NULL);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 3);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 0)->extension_data, "{\"page\": 7}");
    rig_free(r);
}

static void refused(rig *r, phi_agent agent, const phi_message *message, const char *want) {
    char both[160];
    size_t before = phi_thread_message_count(phi_agent_thread(agent));
    CHECK_EQ_INT(phi_thread_append(phi_agent_thread(agent), message, 1, NULL), PHI_BAD_ARG);
    (void)snprintf(both, sizeof both, "phi_thread_append: messages[0]: %s", want);
    CHECK_EQ_STR(words_of(r), both);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), before);
}

TEST(what_is_no_message_is_refused_with_words) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    phi_content text = text_block("x"), odd = text;
    phi_message message;
    CHECK_EQ_INT(phi_thread_append(phi_agent_thread(agent), NULL, 1, NULL), PHI_BAD_ARG);
    CHECK_EQ_STR(words_of(r), "phi_thread_append: messages is missing");
    message = message_of((phi_role)0, &text);
    refused(r, agent, &message, "role is none of its values");
    message = message_of((phi_role)5, &text);
    refused(r, agent, &message, "role is none of its values");
    message = message_of(PHI_ROLE_ASSISTANT, &text);
    message.stop_reason = (phi_stop_reason)99;
    refused(r, agent, &message, "stop_reason is none of its values");
    message = message_of(PHI_ROLE_ASSISTANT, NULL);
    refused(r, agent, &message, "content is missing");
    odd.kind = (phi_content_kind)0;
    message = message_of(PHI_ROLE_USER, &odd);
    refused(r, agent, &message, "content[0]: expected text, an image, a document or audio");
    odd.kind = PHI_CONTENT_THINKING;
    refused(r, agent, &message, "content[0]: expected text, an image, a document or audio");
    odd.kind = PHI_CONTENT_IMAGE;
    refused(r, agent, &message, "content[0]: an image needs data and mime_type");
    odd.kind = PHI_CONTENT_OPAQUE;
    refused(r, agent, &message, "content[0]: an opaque block needs replay and protocol");
    odd.replay = phi_str_of("{\"type\":\"x\"");
    odd.protocol = phi_str_of(PHI_PROTOCOL_ANTHROPIC);
    refused(r, agent, &message, "content[0]: an opaque block's replay is no JSON object");
    odd.replay = phi_str_of("[1]");
    refused(r, agent, &message, "content[0]: an opaque block's replay is no JSON object");
    odd.kind = PHI_CONTENT_IMAGE;
    message = message_of(PHI_ROLE_ASSISTANT, &odd);
    refused(r, agent, &message,
            "content[0]: expected text, thinking, a tool call or an opaque block");
    odd = call_block("", "echo", "{}");
    refused(r, agent, &message, "content[0]: a tool call needs an id");
    message = result_of("", &text);
    refused(r, agent, &message, "a tool result needs a tool_call_id");
    message = extension_of("", "{}");
    refused(r, agent, &message, "an extension needs an extension_kind");
    message = extension_of("note", "{not json");
    refused(r, agent, &message, "extension_data is no JSON");
    CHECK_EQ_INT(phi_agent_replace_messages(agent, NULL, 1), PHI_BAD_ARG);
    CHECK_EQ_STR(words_of(r), "phi_agent_replace_messages: messages is missing");
    CHECK_EQ_INT(phi_agent_replace_messages(agent, &message, 1), PHI_BAD_ARG);
    CHECK_EQ_STR(words_of(r), "phi_agent_replace_messages: messages[0]: extension_data is no JSON");
    rig_free(r);
}

TEST(an_assistant_message_may_be_empty_and_an_extension_without_data) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    phi_message empty = message_of(PHI_ROLE_ASSISTANT, NULL), bare = extension_of("mark", "");
    empty.content_count = 0;
    CHECK_EQ_INT(phi_thread_append(phi_agent_thread(agent), &empty, 1, NULL), PHI_OK);
    CHECK_EQ_INT(phi_thread_append(phi_agent_thread(agent), &bare, 1, NULL), PHI_OK);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 2);
    rig_free(r);
}

TEST(while_a_run_goes_on_the_history_is_read_and_not_changed) {
    rig *r = rig_new();
    phi_agent agent = talked(r);
    phi_content text = text_block("x");
    phi_message message = message_of(PHI_ROLE_USER, &text);
    phi_parse_error error;
    char *json;
    rig_hangs(r, "");
    CHECK_EQ_INT(phi_prompt(agent, "again"), PHI_OK);
    (void)rig_run(r, 5);
    CHECK_EQ_INT(phi_thread_append(phi_agent_thread(agent), &message, 1, NULL), PHI_BUSY);
    CHECK_EQ_INT(phi_agent_replace_messages(agent, &message, 1), PHI_BUSY);
    CHECK_EQ_INT(phi_agent_replace_messages(agent, NULL, 0), PHI_BUSY);
    CHECK_EQ_INT(phi_agent_messages_from_json(agent, phi_str_of("[]"), &error), PHI_BUSY);
    CHECK_EQ_STR(error.message, "");
    CHECK_EQ_STR(words_of(r), "phi_agent_messages_from_json: a run is going on");
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 3);
    json = saved(agent);
    REQUIRE(json != NULL);
    CHECK(strstr(json, "the answer") != NULL);
    CHECK(strstr(json, "again") != NULL);
    free(json);
    rig_free(r);
}

TEST(a_stale_agent_has_no_history) {
    rig *r = rig_new();
    phi_agent agent = talked(r), none;
    phi_content text = text_block("x");
    phi_message message = message_of(PHI_ROLE_USER, &text);
    phi_memory memory;
    phi_arena arena;
    phi_str json = {NULL, 0};
    memset(&none, 0, sizeof none);
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    phi_agent_free(agent);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 0);
    CHECK(phi_thread_message_at(phi_agent_thread(agent), 0) == NULL);
    CHECK_EQ_INT(phi_thread_append(phi_agent_thread(agent), &message, 1, NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_agent_replace_messages(agent, &message, 1), PHI_STALE);
    CHECK_EQ_INT(phi_agent_replace_messages(agent, NULL, 0), PHI_STALE);
    CHECK_EQ_INT(phi_agent_messages_to_json(agent, &arena, &json), PHI_STALE);
    CHECK_EQ_INT(phi_agent_messages_from_json(agent, phi_str_of("[]"), NULL), PHI_STALE);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(none)), 0);
    CHECK(phi_thread_message_at(phi_agent_thread(none), 0) == NULL);
    CHECK_EQ_INT(phi_thread_append(phi_agent_thread(none), &message, 1, NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_agent_replace_messages(none, NULL, 0), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_agent_messages_to_json(none, &arena, &json), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_agent_messages_from_json(none, phi_str_of("[]"), NULL), PHI_BAD_ARG);
    agent = rig_agent(r, NULL);
    CHECK_EQ_INT(phi_agent_messages_to_json(agent, NULL, &json), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_agent_messages_to_json(agent, &arena, NULL), PHI_BAD_ARG);
    phi_arena_free(&arena);
    rig_free(r);
}

TEST(replacing_puts_a_new_history_in_the_place_of_the_old) {
    rig *r = rig_new();
    phi_agent agent = talked(r);
    phi_content asked = text_block("another question"), said = text_block("another answer");
    phi_message both[2];
    phi_usage before = phi_agent_get_info(agent).usage;
    both[0] = message_of(PHI_ROLE_USER, &asked);
    both[1] = message_of(PHI_ROLE_ASSISTANT, &said);
    CHECK_EQ_INT(phi_agent_replace_messages(agent, both, 2), PHI_OK);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 2);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 1)->content[0].text, "another answer");
    CHECK_EQ_INT(phi_agent_get_info(agent).usage.input, before.input);
    rig_says(r, "fine");
    CHECK_EQ_INT(phi_prompt(agent, "go on"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK(strstr(rig_request(r, 1), "the question") == NULL);
    CHECK(strstr(rig_request(r, 1), "another answer") != NULL);
    rig_free(r);
}

TEST(a_history_may_be_replaced_by_a_part_of_itself) {
    rig *r = rig_new();
    phi_agent agent = talked(r);
    phi_message kept = *phi_thread_message_at(phi_agent_thread(agent), 1);
    int i;
    for (i = 0; i < 3; i++) {
        CHECK_EQ_INT(phi_agent_replace_messages(agent, &kept, 1), PHI_OK);
        REQUIRE(phi_thread_message_count(phi_agent_thread(agent)) == 1);
        kept = *phi_thread_message_at(phi_agent_thread(agent), 0);
        CHECK_STR(kept.content[0].text, "the answer");
    }
    rig_free(r);
}

TEST(replacing_and_clearing_purge_queued_events_and_responses) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL), other = rig_agent(r, NULL);
    phi_response response;
    phi_event event;
    size_t n = 0;
    rig_silent(r, true);
    rig_says(r, "one");
    rig_says(r, "two");
    CHECK_EQ_INT(prompt_for(agent, "first", &response), PHI_OK);
    (void)rig_run(r, 20);
    CHECK_EQ_INT(phi_prompt(other, "second"), PHI_OK);
    (void)rig_run(r, 20);
    REQUIRE(phi_next_event(rig_runtime(r), &event)); /* a popped one goes too */
    CHECK_EQ_INT(phi_agent_replace_messages(agent, NULL, 0), PHI_OK);
    CHECK(phi_response_get(response).done);
    phi_response_free(response);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 0);
    while (phi_next_event(rig_runtime(r), &event)) {
        CHECK_EQ_INT(event.agent.index, other.index);
        n++;
    }
    CHECK(n > 5);
    rig_free(r);
}

TEST(clearing_needs_no_memory_and_leaves_none_behind) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    size_t empty = phi_agent_get_info(agent).memory_used;
    phi_content text = text_block("something to forget");
    phi_message message = message_of(PHI_ROLE_USER, &text);
    int i;
    for (i = 0; i < 100; i++)
        CHECK_EQ_INT(phi_thread_append(phi_agent_thread(agent), &message, 1, NULL), PHI_OK);
    CHECK(phi_agent_get_info(agent).memory_used > empty);
    test_alloc_fail_from(0);
    CHECK_EQ_INT(phi_agent_replace_messages(agent, NULL, 0), PHI_OK);
    test_alloc_fail_at(-1);
    CHECK_EQ_INT(phi_agent_get_info(agent).memory_used, empty);
    CHECK_EQ_INT(phi_agent_replace_messages(agent, NULL, 0), PHI_OK);
    rig_free(r);
}

/* ---- no memory ---- */
TEST(a_change_without_memory_changes_nothing) {
    int what, n;
    for (what = 0; what < 4; what++) {
        bool tripped = true;
        for (n = 0; tripped && n < 200; n++) {
            rig *r = rig_new();
            phi_agent agent = talked(r);
            phi_content blocks[3], asked = text_block("go");
            phi_message list[5];
            char *before = saved(agent), *after;
            size_t used = phi_agent_get_info(agent).memory_used;
            phi_status status;
            blocks[0] = call_block("c1", "echo", "{}");
            blocks[1] = call_block("c2", "echo", "{}");
            blocks[2] = text_block("done");
            list[0] = message_of(PHI_ROLE_USER, &asked);
            list[1] = message_of(PHI_ROLE_ASSISTANT, blocks);
            list[1].content_count = 2;
            list[2] = result_of("c1", &blocks[2]);
            list[3] = result_of("c2", &blocks[2]);
            list[4] = extension_of("note", "[1,2,3]");
            test_alloc_fail_at(n);
            switch (what) {
            case 0: status = phi_thread_append(phi_agent_thread(agent), &list[4], 1, NULL); break;
            case 1: status = phi_thread_append(phi_agent_thread(agent), &list[1], 1, NULL); break;
            case 2: status = phi_agent_replace_messages(agent, list, 5); break;
            default: status = phi_agent_messages_from_json(agent, phi_str_of(whole), NULL); break;
            }
            tripped = test_alloc_tripped();
            test_alloc_fail_at(-1);
            CHECK_EQ_INT(status, tripped ? PHI_NO_MEMORY : PHI_OK);
            if (tripped) CHECK_EQ_INT(phi_last_error(rig_runtime(r)).status, PHI_NO_MEMORY);
            after = saved(agent);
            CHECK_EQ_INT(strcmp(before, after) == 0, tripped);
            if (tripped && what > 1) CHECK_EQ_INT(phi_agent_get_info(agent).memory_used, used);
            free(before);
            free(after);
            rig_says(r, "fine");
            if (what != 1) CHECK_EQ_INT(phi_prompt(agent, "go on"), PHI_OK);
            CHECK_EQ_INT(rig_run(r, 20), 0);
            rig_free(r);
        }
        CHECK(!tripped);
        CHECK(n > 1);
    }
}

TEST(replacing_again_and_again_takes_no_more_memory) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    size_t used = 0, all = 0;
    int i;
    for (i = 0; i < 100; i++) {
        CHECK_EQ_INT(phi_agent_messages_from_json(agent, phi_str_of(whole), NULL), PHI_OK);
        if (i == 1) {
            used = phi_agent_get_info(agent).memory_used;
            all = phi_memory_used(rig_runtime(r), NULL);
        }
    }
    CHECK_EQ_INT(phi_agent_get_info(agent).memory_used, used);
    CHECK_EQ_INT(phi_memory_used(rig_runtime(r), NULL), all);
    rig_free(r);
}

/* ---- inside of a step ---- */

static phi_verdict clears(void *user_data, phi_hook *hook) {
    phi_agent *agents = (phi_agent *)user_data;
    if (hook->point != PHI_HOOK_AFTER_TURN) return PHI_ALLOW;
    CHECK_EQ_INT(phi_agent_replace_messages(agents[0], NULL, 0),
                 PHI_BUSY); /* its own run goes on */
    CHECK_EQ_INT(phi_agent_replace_messages(agents[1], NULL, 0), PHI_OK);
    return PHI_ALLOW;
}

TEST(a_hook_may_clear_another_agents_history_and_not_its_own) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agents[2];
    agents[1] = talked(r);
    desc.hook_fn = clears;
    desc.hook_points = PHI_HOOK_AFTER_TURN;
    desc.user_data = agents;
    agents[0] = rig_agent(r, &desc);
    rig_says(r, "fine");
    CHECK_EQ_INT(phi_prompt(agents[0], "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agents[0])), 2);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agents[1])), 0);
    rig_free(r);
}

/* ---- what an agent gives out, given back to it ---- */

TEST(a_call_without_a_result_in_a_restored_history_is_said_to_have_lost_its_process) {
    static const char saved[] =
        "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"go\"}],\"timestamp\":1},"
        "{\"role\":\"assistant\",\"content\":[{\"type\":\"toolCall\",\"id\":\"c1\",\"name\":"
        "\"echo\","
        "\"arguments\":{}}],\"stopReason\":\"toolUse\",\"model\":\"m\",\"provider\":\"p\","
        "\"usage\":{\"input\":1,\"output\":1},\"timestamp\":2}]";
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    CHECK_EQ_INT(phi_agent_messages_from_json(agent, phi_str_of(saved), NULL), PHI_OK);
    rig_says(r, "well");
    CHECK_EQ_INT(phi_prompt(agent, "and now?"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 50), 0);
    CHECK(strstr(rig_request(r, 0), "The process ended before this call had a result") != NULL);
    CHECK(strstr(rig_request(r, 0), "Out of memory") == NULL);
    rig_free(r);
}

/* Hypothesis: results that a host's history holds in another order are taken for those of other calls. */
TEST(a_history_with_results_out_of_order_has_one_for_each_call) {
    int which;
    for (which = 0; which < 4; which++) {
        rig *r = rig_new();
        phi_agent agent = rig_agent(r, NULL);
        phi_content blocks[2], text;
        phi_message m = text_message(PHI_ROLE_USER, &text, "go");
        CHECK_EQ_INT(phi_thread_append(phi_agent_thread(agent), &m, 1, NULL), PHI_OK);
        memset(blocks, 0, sizeof blocks);
        blocks[0].kind = blocks[1].kind = PHI_CONTENT_TOOL_CALL;
        blocks[0].id = PHI__LIT("c1");
        blocks[1].id = PHI__LIT("c2");
        blocks[0].name = blocks[1].name = PHI__LIT("echo");
        blocks[0].arguments = blocks[1].arguments = PHI__LIT("{}");
        m = text_message(PHI_ROLE_ASSISTANT, &text, "");
        m.content = blocks;
        m.content_count = 2;
        m.stop_reason = PHI_STOP_REASON_TOOL_USE;
        CHECK_EQ_INT(phi_thread_append(phi_agent_thread(agent), &m, 1, NULL), PHI_OK);
        m = text_message(PHI_ROLE_TOOL_RESULT, &text, "r2");
        m.tool_call_id = PHI__LIT("c2");
        m.tool_name = PHI__LIT("echo");
        if (which & 1)
            CHECK_EQ_INT(phi_thread_append(phi_agent_thread(agent), &m, 1, NULL), PHI_OK);
        m.tool_call_id = PHI__LIT("c1");
        if (which & 2)
            CHECK_EQ_INT(phi_thread_append(phi_agent_thread(agent), &m, 1, NULL), PHI_OK);
        rig_says(r, "well");
        CHECK_EQ_INT(phi_prompt(agent, "and now?"), PHI_OK); /* the rig checks the request */
        CHECK_EQ_INT(rig_run(r, 50), 0);
        CHECK(strstr(rig_story(r), "AgentEnd ok") != NULL);
        rig_free(r);
    }
}

TEST(an_extension_that_is_kept_is_no_error) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    phi_message note = extension_of("note", "{\"a\":1}");
    CHECK_EQ_INT(phi_thread_append(phi_agent_thread(agent), &note, 1, NULL), PHI_OK);
    CHECK_EQ_INT(phi_last_error(rig_runtime(r)).status, PHI_OK);
    CHECK_EQ_STR(words_of(r), "");
    rig_free(r);
}

TEST_MAIN(
    TEST_ENTRY(appended_messages_are_seen_by_the_model),
    TEST_ENTRY(an_extension_is_kept_and_never_sent),
    TEST_ENTRY(what_is_no_message_is_refused_with_words),
    TEST_ENTRY(an_assistant_message_may_be_empty_and_an_extension_without_data),
    TEST_ENTRY(while_a_run_goes_on_the_history_is_read_and_not_changed),
    TEST_ENTRY(a_stale_agent_has_no_history),
    TEST_ENTRY(replacing_puts_a_new_history_in_the_place_of_the_old),
    TEST_ENTRY(a_history_may_be_replaced_by_a_part_of_itself),
    TEST_ENTRY(replacing_and_clearing_purge_queued_events_and_responses),
    TEST_ENTRY(clearing_needs_no_memory_and_leaves_none_behind),
    TEST_ENTRY(a_change_without_memory_changes_nothing),
    TEST_ENTRY(replacing_again_and_again_takes_no_more_memory),
    TEST_ENTRY(a_hook_may_clear_another_agents_history_and_not_its_own),
    TEST_ENTRY(a_call_without_a_result_in_a_restored_history_is_said_to_have_lost_its_process),
    TEST_ENTRY(a_history_with_results_out_of_order_has_one_for_each_call),
    TEST_ENTRY(an_extension_that_is_kept_is_no_error))
