/* test_reply.c - a call ended with one text, plain and formatted, and its arguments read by name. */
#include "support/rig.h"

#include "agent/runtime.h"
#include "agent/agent_history.h"
#include "log/thread.h"
#include "loop/hook.h"
#include "model/message.h"

#include <pthread.h>

typedef struct seen {
    char text[200];
    const char *twice[2];
    char copy[8], whole[64];
    bool copied, all;
    int64_t ints[4];
    double nums[2];
    bool bools[3];
    const char *none;
} seen;

static phi_tool tool_of(seen *s,
                        phi_flow (*start)(void *user_data, phi_call call, phi_str arguments)) {
    phi_tool tool;
    memset(&tool, 0, sizeof tool);
    tool.name = "look";
    tool.description = "Looks";
    tool.start = start;
    tool.user_data = s;
    return tool;
}

/* Calls the tool with those arguments; the text of its result, as the thread has it. */
static const phi_message *result_of(rig *r, const phi_tool *tool, const char *arguments) {
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    desc.tools = tool;
    desc.tool_count = 1;
    agent = rig_agent(r, &desc);
    rig_call(r, "c1", "look", arguments);
    rig_says(r, "Done.");
    CHECK_EQ_INT(phi_prompt(agent, "Go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 50), 0);
    return phi_thread_message_at(phi_agent_thread(agent), 2);
}

static phi_flow read_start(void *user_data, phi_call call, phi_str arguments) {
    seen *s = (seen *)user_data;
    (void)arguments;
    (void)snprintf(s->text, sizeof s->text, "%s|%s|%s", phi_call_arg_str(call, "place", "nowhere"),
                   phi_call_arg_str(call, "to.names[1]", "?"),
                   phi_call_arg_str(call, "steps", "!"));
    s->twice[0] = phi_call_arg_str(call, "place", NULL);
    s->twice[1] = phi_call_arg_str(call, "place", NULL);
    s->none = phi_call_arg_str(call, "absent", NULL);
    s->copied = phi_call_arg_copy(call, "place", s->copy, sizeof s->copy);
    s->all = phi_call_arg_copy(call, "place", s->whole, sizeof s->whole);
    s->ints[0] = phi_call_arg_int(call, "steps", -1);
    s->ints[1] = phi_call_arg_int(call, "place", -1);
    s->ints[2] = phi_call_arg_int(call, "to.x", -1);
    s->ints[3] = phi_call_arg_int(call, "big", -1);
    s->nums[0] = phi_call_arg_num(call, "speed", 9);
    s->nums[1] = phi_call_arg_num(call, "absent", 9);
    s->bools[0] = phi_call_arg_bool(call, "quietly", false);
    s->bools[1] = phi_call_arg_bool(call, "absent", true);
    s->bools[2] = phi_call_arg_bool(call, "steps", false);
    phi_call_replyf(call, "%d steps to the %s", (int)s->ints[0], s->twice[0]);
    return PHI_DONE;
}

TEST(a_tool_reads_its_arguments_by_name) {
    rig *r = rig_new();
    seen s;
    phi_tool tool;
    memset(&s, 0, sizeof s);
    tool = tool_of(&s, read_start);
    CHECK_STR(
        result_of(r, &tool,
                  "{\"place\":\"gate \\u00e9\\\"\",\"steps\":3,\"speed\":1.5,\"quietly\":true,"
                  "\"big\":9007199254740993,\"to\":{\"x\":-4,\"names\":[\"a\",\"b\"]}}")
            ->content[0]
            .text,
        "3 steps to the gate \xc3\xa9\"");
    CHECK(strcmp(s.text, "gate \xc3\xa9\"|b|!") == 0);
    CHECK(s.twice[0] == s.twice[1]);
    CHECK(s.none == NULL);
    CHECK(s.all && strcmp(s.whole, "gate \xc3\xa9\"") == 0);
    CHECK(!s.copied && strcmp(s.copy, "gate \xc3\xa9") == 0);
    CHECK_EQ_INT(s.ints[0], 3);
    CHECK_EQ_INT(s.ints[1], -1);
    CHECK_EQ_INT(s.ints[2], -4);
    CHECK(s.ints[3] == 9007199254740993);
    CHECK(s.nums[0] == 1.5 && s.nums[1] == 9);
    CHECK(s.bools[0] && s.bools[1] && !s.bools[2]);
    rig_free(r);
}

static phi_flow cut_start(void *user_data, phi_call call, phi_str arguments) {
    seen *s = (seen *)user_data;
    (void)arguments;
    s->copied = phi_call_arg_copy(call, "place", s->copy, 3);
    s->all = phi_call_arg_copy(call, "absent", s->whole, sizeof s->whole);
    s->bools[0] = phi_call_arg_copy(call, "place", NULL, 4);
    s->bools[1] = phi_call_arg_copy(call, "place", s->text, 0);
    phi_call_reply(call, "");
    return PHI_DONE;
}

TEST(a_copied_argument_is_cut_between_characters_and_is_empty_when_absent) {
    rig *r = rig_new();
    seen s;
    phi_tool tool;
    memset(&s, 0, sizeof s);
    memset(s.whole, 'x', sizeof s.whole);
    s.text[0] = 'x';
    tool = tool_of(&s, cut_start);
    CHECK_STR(result_of(r, &tool, "{\"place\":\"a\\u20ac\"}")->content[0].text, "");
    CHECK(!s.copied && strcmp(s.copy, "a") == 0);
    CHECK(!s.all && s.whole[0] == '\0');
    CHECK(!s.bools[0] && !s.bools[1] && s.text[0] == 'x');
    rig_free(r);
}

static phi_verdict other_place(void *user_data, phi_hook *hook) {
    seen *s = (seen *)user_data;
    (void)snprintf(s->text, sizeof s->text, "%s", phi_call_arg_str(hook->call, "place", "?"));
    return PHI_WAIT;
}

TEST(a_hook_reads_them_before_and_the_tool_reads_what_was_decided) {
    rig *r = rig_new();
    seen s;
    phi_agent_desc desc = rig_desc();
    phi_tool tool;
    phi_agent agent;
    memset(&s, 0, sizeof s);
    tool = tool_of(&s, read_start);
    desc.tools = &tool;
    desc.tool_count = 1;
    desc.hook_fn = other_place;
    desc.hook_points = PHI_HOOK_BEFORE_TOOL;
    desc.hook_user_data = &s;
    agent = rig_agent(r, &desc);
    rig_call(r, "c1", "look", "{\"place\":\"forge\"}");
    rig_says(r, "Done.");
    CHECK_EQ_INT(phi_prompt(agent, "Go"), PHI_OK);
    (void)rig_run(r, 20);
    CHECK(strcmp(s.text, "forge") == 0);
    {
        phi_pending_item item;
        CHECK_EQ_INT(phi_pending(rig_runtime(r), &item, 1), 1);
        CHECK_EQ_INT(phi_decide(item.ticket, PHI_ALLOW, "{\"place\":\"well\",\"steps\":1}"),
                     PHI_OK);
    }
    CHECK_EQ_INT(rig_run(r, 50), 0);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 2)->content[0].text,
              "1 steps to the well");
    rig_free(r);
}

TEST(the_argument_of_a_stale_call_is_the_fallback) {
    phi_call none;
    char buffer[4] = "abc";
    memset(&none, 0, sizeof none);
    CHECK(strcmp(phi_call_arg_str(none, "place", "nowhere"), "nowhere") == 0);
    CHECK_EQ_INT(phi_call_arg_int(none, "n", 7), 7);
    CHECK(phi_call_arg_num(none, "n", 0.5) == 0.5);
    CHECK(phi_call_arg_bool(none, "n", true));
    CHECK(!phi_call_arg_copy(none, "place", buffer, sizeof buffer));
    CHECK(buffer[0] == '\0');
}

static phi_flow fail_start(void *user_data, phi_call call, phi_str arguments) {
    (void)user_data, (void)arguments;
    CHECK_EQ_INT(phi_call_fail(call, "100% shut, says %s"), PHI_OK);
    CHECK_EQ_INT(phi_call_failf(call, "%s", "again"), PHI_STALE);
    return PHI_DONE;
}

TEST(a_plain_text_with_percent_signs_stays_as_it_is) {
    rig *r = rig_new();
    phi_tool tool = tool_of(NULL, fail_start);
    const phi_message *result = result_of(r, &tool, "{}");
    CHECK_STR(result->content[0].text, "100% shut, says %s");
    CHECK(result->is_error);
    rig_free(r);
}

static phi_flow text_start(void *user_data, phi_call call, phi_str arguments) {
    phi_tool_result result;
    phi_content content;
    (void)user_data, (void)arguments;
    memset(&result, 0, sizeof result);
    memset(&content, 0, sizeof content);
    content.kind = PHI_CONTENT_TEXT;
    result.text = "seen";
    result.content = &content;
    result.content_count = 1;
    CHECK_EQ_INT(phi_call_result(call, &result), PHI_BAD_ARG);
    result.content_count = 0;
    result.details = "{\"n\":1}";
    CHECK_EQ_INT(phi_call_result(call, &result), PHI_OK);
    return PHI_DONE;
}

TEST(a_result_has_one_text_or_blocks) {
    rig *r = rig_new();
    phi_tool tool = tool_of(NULL, text_start);
    const phi_message *result = result_of(r, &tool, "{}");
    const char *message = "";
    CHECK_EQ_INT(result->content_count, 1);
    CHECK_STR(result->content[0].text, "seen");
    CHECK_STR(result->details, "{\"n\":1}");
    message = phi_last_error(rig_runtime(r)).message;
    CHECK_EQ_INT(phi_last_error(rig_runtime(r)).status, PHI_BAD_ARG);
    CHECK(strcmp(message, "phi_call_result: text and content: give one of them") == 0);
    rig_free(r);
}

typedef struct worker {
    phi_call call;
    phi_status status;
} worker;

static phi_flow wait_start(void *user_data, phi_call call, phi_str arguments) {
    (void)arguments;
    ((worker *)user_data)->call = call;
    return PHI_PENDING;
}

static void *reply_elsewhere(void *user_data) {
    worker *w = (worker *)user_data;
    w->status = phi_call_replyf(w->call, "%s, %05d", "found", 42);
    return NULL;
}

TEST(another_thread_may_format_a_reply) {
    rig *r = rig_new();
    worker w;
    pthread_t thread;
    phi_agent_desc desc = rig_desc();
    phi_tool tool = tool_of(NULL, wait_start);
    phi_agent agent;
    memset(&w, 0, sizeof w);
    tool.user_data = &w;
    desc.tools = &tool;
    desc.tool_count = 1;
    agent = rig_agent(r, &desc);
    rig_call(r, "c1", "look", "{}");
    rig_says(r, "Done.");
    CHECK_EQ_INT(phi_prompt(agent, "Go"), PHI_OK);
    (void)rig_run(r, 20);
    CHECK_EQ_INT(pthread_create(&thread, NULL, reply_elsewhere, &w), 0);
    CHECK_EQ_INT(pthread_join(thread, NULL), 0);
    CHECK_EQ_INT(w.status, PHI_OK);
    CHECK_EQ_INT(rig_run(r, 50), 0);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 2)->content[0].text, "found, 00042");
    rig_free(r);
}

TEST_MAIN(TEST_ENTRY(a_tool_reads_its_arguments_by_name),
          TEST_ENTRY(a_copied_argument_is_cut_between_characters_and_is_empty_when_absent),
          TEST_ENTRY(a_hook_reads_them_before_and_the_tool_reads_what_was_decided),
          TEST_ENTRY(the_argument_of_a_stale_call_is_the_fallback),
          TEST_ENTRY(a_plain_text_with_percent_signs_stays_as_it_is),
          TEST_ENTRY(a_result_has_one_text_or_blocks),
          TEST_ENTRY(another_thread_may_format_a_reply))
