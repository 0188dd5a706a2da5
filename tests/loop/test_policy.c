/* An agent with a policy: what is sent, what the hooks see, what it says of itself, warnings, and what happens when not
   even the newest turn fits. */
#include "support/rig.h"
#include "support/set.h"
#include "record/event_json.h"

#include "model/tokens.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "base/arena.h"
#include "log/policy.h"
#include "log/thread.h"
#include "loop/hook.h"

static char filler[1 << 15];

static const char *text_of_tokens(size_t tokens) {
    memset(filler, 'x', sizeof filler);
    filler[(tokens - 4) * 4] = '\0';
    return filler;
}

static size_t times_in(const char *text, const char *what) {
    size_t n = 0;
    for (; text != NULL && (text = strstr(text, what)) != NULL; text++) n++;
    return n;
}

static const char *words_of(rig *r) {
    const char *words = "";
    words = phi_last_error(rig_runtime(r)).message;
    return words;
}

static size_t messages_of(rig *r, size_t request) {
    return times_in(rig_request(r, request), "\"role\":");
}

static void ask(rig *r, phi_agent agent, const char *prompt) {
    CHECK_EQ_INT(phi_prompt(agent, prompt), PHI_OK);
    CHECK_EQ_INT(rig_run_until(r, 60000), 0);
}

static phi_policy tokens_for_messages(uint64_t n) {
    phi_policy p = PHI_ZERO;
    p.max_input_tokens = n;
    p.no_reserve = true;
    p.keep_no_turns = true;
    return p;
}

TEST(the_conversation_of_six_entries_calls_the_model_with_1_3_and_5_messages_and_the_prompt) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_policy policy = phi_policy_of(PHI_POLICY_DEFAULT, NULL);
    phi_tool tool = rig_echo();
    phi_agent agent;
    desc.system_prompt = "You are a calculator.";
    desc.policy = &policy;
    desc.tools = &tool;
    desc.tool_count = 1;
    agent = rig_agent(r, &desc);
    rig_says(r, "4");
    rig_call(r, "c1", "echo", "{\"n\":12}");
    rig_says(r, "12");
    ask(r, agent, "2+2?");
    ask(r, agent, "multiply by 3");
    CHECK_EQ_INT(rig_requests(r), 3);
    CHECK_EQ_INT(messages_of(r, 0), 1);
    CHECK_EQ_INT(messages_of(r, 1), 3);
    CHECK_EQ_INT(messages_of(r, 2), 5);
    CHECK_EQ_INT(phi_agent_get_info(agent).projection.messages_included, 5);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 6);
    rig_free(r);
}

static size_t seen;

static phi_verdict look(void *user_data, phi_hook *hook) {
    (void)user_data;
    seen = hook->message_count;
    return PHI_ALLOW;
}

TEST(hooks_see_what_is_left_and_the_log_has_all) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_policy policy = PHI_ZERO;
    phi_projection_meta meta;
    phi_agent agent;
    policy.max_turns = 1;
    desc.policy = &policy;
    desc.hook_fn = look;
    desc.hook_points = PHI_HOOK_TRANSFORM_CONTEXT;
    agent = rig_agent(r, &desc);
    policy.max_turns = 5; /* it was copied */
    rig_says(r, "one");
    rig_says(r, "two");
    ask(r, agent, "first");
    ask(r, agent, "second");
    CHECK_EQ_INT(seen, 1);
    CHECK_EQ_INT(messages_of(r, 1), 1);
    CHECK(strstr(rig_request(r, 1), "second") != NULL);
    CHECK(strstr(rig_request(r, 1), "first") == NULL);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 4);
    meta = phi_agent_get_info(agent).projection;
    CHECK(meta.window_truncated && !meta.budget_truncated);
    CHECK_EQ_INT(meta.groups_dropped, 2);
    CHECK_EQ_INT(meta.messages_total, 3);
    rig_free(r);
}

TEST(hooks_see_the_extensions_of_the_window) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_policy policy = PHI_ZERO;
    phi_message note = PHI_ZERO;
    phi_agent agent;
    policy.max_turns = 1;
    desc.policy = &policy;
    desc.hook_fn = look;
    desc.hook_points = PHI_HOOK_CONVERT_TO_LLM;
    agent = rig_agent(r, &desc);
    note.role = PHI_ROLE_EXTENSION;
    note.extension_kind = phi_str_of("note");
    note.extension_data = phi_str_of("{}");
    rig_says(r, "one");
    ask(r, agent, "first");
    CHECK_EQ_INT(phi_thread_append(phi_agent_thread(agent), &note, 1, NULL), PHI_OK);
    rig_says(r, "two");
    ask(r, agent, "second");
    CHECK_EQ_INT(seen, 1); /* what stands before the first question goes, too */
    policy.max_turns = 2;
    CHECK_EQ_INT(set_policy(agent, &policy), PHI_OK);
    CHECK_EQ_INT(phi_thread_append(phi_agent_thread(agent), &note, 1, NULL), PHI_OK);
    rig_says(r, "three");
    ask(r, agent, "third");
    CHECK_EQ_INT(seen, 4);
    CHECK_EQ_INT(messages_of(r, 2), 3);
    CHECK_EQ_INT(phi_agent_get_info(agent).projection.messages_included, 3);
    rig_free(r);
}

TEST(an_agent_explains_what_it_would_send_now) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_policy policy = PHI_ZERO;
    phi_allocator a = test_allocator();
    phi_memory memory;
    phi_arena arena;
    phi_str words = {NULL, 0};
    phi_agent agent = rig_agent(r, &desc);
    phi_memory_init(&memory, &a, 0);
    phi_arena_init(&arena, &memory, 0);
    rig_says(r, "one");
    ask(r, agent, "first");
    CHECK_EQ_INT(phi_agent_explain(agent, &arena, &words), PHI_OK);
    CHECK_STR(words, "no policy: all of 2 messages, 11 tokens\n");
    policy.max_turns = 1;
    CHECK_EQ_INT(set_policy(agent, &policy), PHI_OK);
    rig_says(r, "two");
    ask(r, agent, "second");
    CHECK_EQ_INT(phi_agent_explain(agent, &arena, &words), PHI_OK);
    CHECK(words.len > 0 &&
          strstr(words.at, "user message, 6 tokens: left out: max_turns\n") != NULL);
    CHECK(words.len > 0 && strstr(words.at, "user message, 6 tokens: shown\n") != NULL);
    CHECK_EQ_INT(phi_agent_explain(agent, NULL, &words), PHI_BAD_ARG);
    phi_agent_free(agent);
    CHECK_EQ_INT(phi_agent_explain(agent, &arena, &words), PHI_STALE);
    CHECK_EQ_INT(phi_agent_get_info(agent).projection.messages_total, 0);
    phi_arena_free(&arena);
    rig_free(r);
}

TEST(a_policy_is_set_read_and_refused) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc(), got;
    phi_policy policy = PHI_ZERO;
    phi_agent agent = rig_agent(r, &desc);
    CHECK_EQ_INT(phi_agent_get_desc(agent, &got), PHI_OK);
    CHECK(got.policy == NULL);
    policy.max_turns = 7;
    CHECK_EQ_INT(set_policy(agent, &policy), PHI_OK);
    CHECK_EQ_INT(phi_agent_get_desc(agent, &got), PHI_OK);
    CHECK(got.policy != NULL && got.policy->max_turns == 7);
    policy.include = 64;
    CHECK_EQ_INT(set_policy(agent, &policy), PHI_BAD_ARG);
    CHECK_EQ_STR(words_of(r), "policy.include: expected PHI_INCLUDE_ bits");
    policy.include = 0;
    policy.summary_role = PHI_ROLE_EXTENSION;
    desc.policy = &policy;
    CHECK(phi_agent_new(rig_runtime(r), &desc).rt == NULL);
    CHECK_EQ_STR(words_of(r), "policy.summary_role: expected user or assistant");
    policy.summary_role = (phi_role)0;
    policy.summaries = (phi_summaries)9;
    CHECK_EQ_INT(set_policy(agent, &policy), PHI_BAD_ARG);
    CHECK_EQ_STR(words_of(r), "policy.summaries is none of its values");
    CHECK_EQ_INT(phi_prompt(agent, "hello"), PHI_OK);
    CHECK_EQ_INT(set_policy(agent, NULL), PHI_BUSY);
    phi_agent_free(agent);
    CHECK_EQ_INT(set_policy(agent, NULL), PHI_STALE);
    rig_free(r);
}

/* ---- too much ---- */

TEST(a_turn_that_cannot_fit_is_not_sent) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_policy policy = tokens_for_messages(50);
    phi_agent agent;
    desc.policy = &policy;
    agent = rig_agent(r, &desc);
    ask(r, agent, text_of_tokens(104));
    CHECK_EQ_INT(rig_requests(r), 0);
    CHECK(strstr(rig_story(r), "Context overflow: The newest turn is too large for the policy: 104 "
                               "tokens by estimate, 50 are left for messages") != NULL);
    CHECK(phi_agent_get_info(agent).projection.overflow);
    rig_forget(r);
    rig_says(r, "fine");
    ask(r, agent, "short"); /* and the agent goes on: what failed is in the log */
    CHECK_EQ_INT(rig_requests(r), 1);
    rig_free(r);
}

TEST(a_long_run_is_compacted_when_its_turn_is_too_large) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_policy policy = tokens_for_messages(160);
    phi_tool tool = rig_echo();
    phi_agent agent;
    size_t i;
    desc.policy = &policy;
    desc.tools = &tool;
    desc.tool_count = 1;
    desc.tool_options.repeat_stop_after = desc.tool_options.repeat_warn_after = PHI_UNLIMITED;
    agent = rig_agent(r, &desc);
    for (i = 0; i < 8; i++) {
        char id[8];
        (void)snprintf(id, sizeof id, "c%u", (unsigned)i);
        rig_call(r, id, "echo", "{\"a\":\"01234567890123456789\"}");
    }
    rig_says(r, "done");
    ask(r, agent, "Go on");
    CHECK_EQ_INT(rig_requests(r), 9);
    CHECK(times_in(rig_story(r), "CompactionStarted") > 0);
    CHECK(strstr(rig_story(r), "Error ") == NULL);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 18);
    rig_free(r);
}

TEST(a_policy_may_leave_nothing_to_be_sent) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_policy policy = phi_policy_of(PHI_POLICY_DEFAULT, NULL);
    phi_content c = PHI_ZERO;
    phi_message m = PHI_ZERO;
    phi_agent agent;
    desc.policy = &policy;
    agent = rig_agent(r, &desc);
    c.kind = PHI_CONTENT_TEXT;
    c.text = phi_str_of("nobody called");
    m.role = PHI_ROLE_TOOL_RESULT;
    m.tool_call_id = m.tool_name = phi_str_of("x");
    m.content = &c;
    m.content_count = 1;
    CHECK_EQ_INT(phi_thread_append(phi_agent_thread(agent), &m, 1, NULL), PHI_OK);
    CHECK_EQ_INT(phi_continue(agent, PHI_CONTINUATION_DEFAULT), PHI_OK);
    CHECK_EQ_INT(rig_run_until(r, 1000), 0);
    CHECK_EQ_INT(rig_requests(r), 0);
    CHECK(strstr(rig_story(r), "the policy has left nothing to be sent") != NULL);
    rig_free(r);
}

/* ---- warnings ---- */

TEST(warnings_are_given_once_each_time_a_level_is_reached) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_policy policy = tokens_for_messages(100);
    phi_agent agent;
    desc.policy = &policy;
    agent = rig_agent(r, &desc);
    rig_mock(r);
    ask(r, agent, text_of_tokens(60)); /* the answer: 11 */
    CHECK_EQ_INT(times_in(rig_story(r), "ContextWarning"), 0);
    ask(r, agent, text_of_tokens(17)); /* 88 */
    CHECK_EQ_INT(times_in(rig_story(r), "ContextWarning \"approaching_limit\""), 1);
    rig_forget(r);
    ask(r, agent, "x"); /* 104 */
    CHECK_EQ_INT(times_in(rig_story(r), "ContextWarning \"at_limit\""), 1);
    ask(r, agent, "x");
    CHECK_EQ_INT(times_in(rig_story(r), "ContextWarning"), 1); /* still there */
    rig_forget(r);
    CHECK_EQ_INT(phi_agent_reset(agent), PHI_OK);
    ask(r, agent, "x");
    CHECK_EQ_INT(times_in(rig_story(r), "ContextWarning"), 0);
    ask(r, agent, text_of_tokens(75)); /* 91 */
    CHECK_EQ_INT(times_in(rig_story(r), "ContextWarning \"approaching_limit\""), 1);
    rig_free(r);
}

TEST(without_a_policy_the_window_of_the_model_is_the_limit) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    desc.model.context_window = 4000;
    desc.model.max_tokens = 1000;
    desc.compaction.disable = true;
    agent = rig_agent(r, &desc);
    rig_mock(r);
    ask(r, agent, text_of_tokens(2000));
    CHECK_EQ_INT(times_in(rig_story(r), "ContextWarning"), 0);
    ask(r, agent, text_of_tokens(1500));
    CHECK_EQ_INT(times_in(rig_story(r), "ContextWarning \"approaching_limit\""), 1);
    CHECK_EQ_INT(messages_of(r, 1), 3);
    rig_free(r);
}

/* ---- a need for a summary ---- */

typedef struct needs {
    phi_context last;
    size_t warnings, needs;
} needs;

static void needs_event(void *user_data, const phi_event *e) {
    needs *n = (needs *)user_data;
    if (e->kind != PHI_EV_CONTEXT_WARNING && e->kind != PHI_EV_SUMMARY_NEEDED) return;
    if (!CHECK(e->context != NULL)) return;
    n->last = *e->context;
    if (e->kind == PHI_EV_SUMMARY_NEEDED)
        n->needs++;
    else
        n->warnings++;
}

TEST(a_warning_has_its_figures_with_and_without_a_policy) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_policy policy = tokens_for_messages(100);
    needs n = PHI_ZERO;
    rig_watch(r, needs_event, &n);
    rig_mock(r);
    desc.policy = &policy;
    ask(r, rig_agent(r, &desc), text_of_tokens(90));
    CHECK_EQ_INT(n.warnings, 1);
    CHECK_EQ_INT(n.last.limit, 100);
    CHECK_EQ_INT(n.last.tokens, 90);
    CHECK(n.last.messages == 1 && n.last.shown == 1);
    desc.policy = NULL;
    desc.model.context_window = 4000;
    desc.model.max_tokens = 1000;
    desc.compaction.disable = true;
    ask(r, rig_agent(r, &desc), text_of_tokens(3500));
    CHECK_EQ_INT(n.warnings, 2);
    CHECK_EQ_INT(n.last.limit, 4000);
    CHECK(n.last.tokens >= 3500 && n.last.tokens < 3600);
    CHECK(n.last.messages == 1 && n.last.shown == 1);
    CHECK_EQ_INT(n.needs, 0);
    rig_free(r);
}

TEST(a_need_for_a_summary_is_told_once_until_more_is_left_out) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_policy policy = tokens_for_messages(100);
    phi_agent agent;
    needs n = PHI_ZERO;
    rig_watch(r, needs_event, &n);
    rig_mock(r);
    policy.summaries = PHI_SUMMARIES_REQUEST;
    desc.policy = &policy;
    agent = rig_agent(r, &desc);
    ask(r, agent, text_of_tokens(60));
    CHECK_EQ_INT(n.needs, 0);
    ask(r, agent, text_of_tokens(60)); /* 60 and 11 do not fit beside it: the 60 are left out */
    CHECK_EQ_INT(n.needs, 1);
    CHECK(n.last.messages == 3 && n.last.shown < 3);
    CHECK_EQ_INT(n.last.need_from, 1); /* behind the entry that begins the run */
    CHECK(n.last.need_from <= n.last.need_to);
    CHECK(n.last.need_to < phi_thread_count(phi_agent_thread(agent)));
    ask(r, agent, text_of_tokens(60));
    CHECK_EQ_INT(n.needs, 2);
    CHECK_EQ_INT(times_in(rig_story(r), "SummaryNeeded"), 2);
    CHECK_EQ_INT(times_in(rig_story(r), "Rewrite"), 0);
    rig_free(r);
}

TEST(a_policy_can_have_the_summary_written) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_policy policy = tokens_for_messages(100);
    phi_agent agent;
    policy.summaries = PHI_SUMMARIES_WRITE;
    desc.policy = &policy;
    agent = rig_agent(r, &desc);
    rig_says(r, "first answer");
    ask(r, agent, text_of_tokens(60));
    rig_says(r, "second answer"); /* the run's, and its writer's: they are alike */
    rig_says(r, "second answer");
    ask(r, agent, text_of_tokens(60));
    CHECK_EQ_INT(times_in(rig_story(r), "SummaryNeeded"), 1);
    CHECK_EQ_INT(times_in(rig_story(r), "Rewrite "), 1);
    rig_says(r, "third");
    ask(r, agent, "x");
    CHECK(strstr(rig_request(r, 3), "[Summary] second answer") != NULL);
    CHECK_EQ_INT(times_in(rig_story(r), "SummaryNeeded"), 1);
    rig_free(r);
}

TEST(a_summary_in_the_assistants_role_comes_after_a_users_message) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_policy policy = tokens_for_messages(100);
    policy.summaries = PHI_SUMMARIES_WRITE;
    policy.summary_role = PHI_ROLE_ASSISTANT;
    desc.policy = &policy;
    phi_agent agent = rig_agent(r, &desc);
    rig_says(r, "first answer");
    ask(r, agent, text_of_tokens(60));
    rig_says(r, "second answer"); /* the run's, and its writer's: they are alike */
    rig_says(r, "second answer");
    ask(r, agent, text_of_tokens(60));
    rig_says(r, "third");
    ask(r, agent, "x");
    CHECK(strstr(rig_request(r, 3),
                 "\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\","
                 "\"text\":\"[The conversation so far]\"}]},"
                 "{\"role\":\"assistant\",\"content\":[{\"type\":\"text\","
                 "\"text\":\"[Summary] second answer\"}]},{\"role\":\"user\"") != NULL);
    rig_free(r);
}

TEST(a_warning_is_written_as_json_and_read_back) {
    static const char want[] =
        "{\"type\":\"ContextWarning\",\"loop_id\":\"\",\"text\":\"at_limit\"}";
    phi_allocator a = test_allocator();
    phi_memory memory;
    phi_arena arena;
    static const char figures[] =
        "{\"type\":\"SummaryNeeded\",\"loop_id\":\"\",\"tokens\":120,\"limit\":100,"
        "\"messages\":9,\"shown\":3,\"need_from\":2,\"need_to\":14}";
    phi_context context = {120, 100, 9, 3, 2, 14};
    phi_event event = PHI_ZERO, back;
    phi_parse_error error;
    phi_str json = {NULL, 0};
    phi_memory_init(&memory, &a, 0);
    phi_arena_init(&arena, &memory, 0);
    event.kind = PHI_EV_CONTEXT_WARNING;
    event.text = phi_str_of("at_limit");
    CHECK_EQ_INT(phi_event_to_json(&event, &arena, &json), PHI_OK);
    CHECK_STR(json, want);
    CHECK_EQ_INT(phi_event_from_json(json, &arena, &back, &error), PHI_OK);
    CHECK_EQ_INT(back.kind, PHI_EV_CONTEXT_WARNING);
    CHECK_STR(back.text, "at_limit");
    CHECK(back.context == NULL);
    event.kind = PHI_EV_SUMMARY_NEEDED;
    event.context = &context;
    CHECK_EQ_INT(phi_event_to_json(&event, &arena, &json), PHI_OK);
    CHECK_STR(json, figures);
    CHECK_EQ_INT(phi_event_from_json(json, &arena, &back, &error), PHI_OK);
    CHECK_EQ_INT(back.kind, PHI_EV_SUMMARY_NEEDED);
    REQUIRE(back.context != NULL);
    CHECK(memcmp(back.context, &context, sizeof context) == 0);
    phi_arena_free(&arena);
}

/* ---- memory, and a long thread ---- */

static void scenario(void) {
    rig *r = rig_new_with(NULL);
    phi_agent_desc desc = rig_desc();
    phi_policy policy = tokens_for_messages(60);
    phi_tool tool = rig_echo();
    phi_agent agent;
    if (r == NULL) return;
    desc.policy = &policy;
    desc.tools = &tool;
    desc.tool_count = 1;
    agent = rig_agent(r, &desc);
    rig_call(r, "c1", "echo", "{\"a\":\"0123456789\"}");
    rig_says(r, "fine");
    rig_says(r, "well");
    if (agent.rt != NULL && phi_prompt(agent, "Hello") == PHI_OK) (void)rig_run_until(r, 1000);
    if (agent.rt != NULL && phi_prompt(agent, "And?") == PHI_OK) (void)rig_run_until(r, 1000);
    rig_free(r);
}

TEST(an_agent_with_a_policy_survives_every_failed_allocation) {
    int n = 0;
    do {
        test_alloc_fail_at(n);
        scenario();
        if (!CHECK(test_alloc_live_bytes() == 0)) break;
    } while (test_alloc_tripped() && n++ < 2000);
    test_alloc_fail_at(-1);
    CHECK(n > 50);
}

static phi_message message_of(phi_role role, const phi_content *content, size_t count) {
    phi_message m;
    memset(&m, 0, sizeof m);
    m.role = role;
    m.content = content;
    m.content_count = count;
    return m;
}

/* A copy of an answer is of the model that gave it: its thinking goes back to that one. */
TEST(an_answer_shown_without_its_calls_keeps_its_signed_thinking) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_policy policy = phi_policy_of(PHI_POLICY_DEFAULT, NULL);
    phi_content blocks[3], said;
    phi_message m;
    phi_agent agent;
    memset(blocks, 0, sizeof blocks);
    memset(&said, 0, sizeof said);
    policy.include = PHI_INCLUDE_MESSAGES;
    desc.policy = &policy;
    agent = rig_agent(r, &desc);
    said.kind = blocks[1].kind = PHI_CONTENT_TEXT;
    said.text = phi_str_of("what is it?");
    m = message_of(PHI_ROLE_USER, &said, 1);
    CHECK_EQ_INT(phi_thread_append(phi_agent_thread(agent), &m, 1, NULL), PHI_OK);
    blocks[0].kind = PHI_CONTENT_THINKING;
    blocks[0].text = phi_str_of("a well, or a mill");
    blocks[0].signature = phi_str_of("c2lnbmVk");
    blocks[1].text = phi_str_of("Let me look.");
    blocks[2].kind = PHI_CONTENT_TOOL_CALL;
    blocks[2].id = phi_str_of("c1");
    blocks[2].name = phi_str_of("look");
    blocks[2].arguments = phi_str_of("{}");
    m = message_of(PHI_ROLE_ASSISTANT, blocks, 3);
    m.model = phi_str_of("test-model");
    m.provider = phi_str_of("anthropic");
    m.protocol = phi_str_of("anthropic_messages");
    m.stop_reason = PHI_STOP_REASON_TOOL_USE;
    CHECK_EQ_INT(phi_thread_append(phi_agent_thread(agent), &m, 1, NULL), PHI_OK);
    said.text = phi_str_of("a well");
    m = message_of(PHI_ROLE_TOOL_RESULT, &said, 1);
    m.tool_call_id = phi_str_of("c1");
    m.tool_name = phi_str_of("look");
    CHECK_EQ_INT(phi_thread_append(phi_agent_thread(agent), &m, 1, NULL), PHI_OK);
    rig_says(r, "A well.");
    ask(r, agent, "and?");
    CHECK(strstr(rig_request(r, 0), "\"c1\"") == NULL);
    CHECK(strstr(rig_request(r, 0), "Let me look.") != NULL);
    CHECK(strstr(rig_request(r, 0), "\"signature\":\"c2lnbmVk\"") != NULL);
    rig_free(r);
}

TEST_MAIN(
    TEST_ENTRY(
        the_conversation_of_six_entries_calls_the_model_with_1_3_and_5_messages_and_the_prompt),
    TEST_ENTRY(hooks_see_what_is_left_and_the_log_has_all),
    TEST_ENTRY(hooks_see_the_extensions_of_the_window),
    TEST_ENTRY(an_agent_explains_what_it_would_send_now),
    TEST_ENTRY(a_policy_is_set_read_and_refused), TEST_ENTRY(a_turn_that_cannot_fit_is_not_sent),
    TEST_ENTRY(a_long_run_is_compacted_when_its_turn_is_too_large),
    TEST_ENTRY(a_policy_may_leave_nothing_to_be_sent),
    TEST_ENTRY(warnings_are_given_once_each_time_a_level_is_reached),
    TEST_ENTRY(without_a_policy_the_window_of_the_model_is_the_limit),
    TEST_ENTRY(a_warning_has_its_figures_with_and_without_a_policy),
    TEST_ENTRY(a_need_for_a_summary_is_told_once_until_more_is_left_out),
    TEST_ENTRY(a_policy_can_have_the_summary_written),
    TEST_ENTRY(a_summary_in_the_assistants_role_comes_after_a_users_message),
    TEST_ENTRY(a_warning_is_written_as_json_and_read_back),
    TEST_ENTRY(an_agent_with_a_policy_survives_every_failed_allocation),
    TEST_ENTRY(an_answer_shown_without_its_calls_keeps_its_signed_thinking))
