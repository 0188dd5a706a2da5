/* test_thinking.c - which thinking goes back, against a stand-in for a server that makes the check of
   the documents (support/binding.h): stories, and random lives of an agent. */
#include "support/preflight.h"
#include "agent/snapshot.h"
#include "features/facts.h"
#include "features/failover.h"
#include "support/binding.h"
#include "support/heard.h"
#include "support/set.h"
#include "wire/wire_in.h"
#include "agent/agent_history.h"
#include "agent/runtime.h"
#include "log/policy.h"
#include "log/thread.h"
#include "model/message.h"
#include "log/log_in.h"

/* ---- answers that think ---- */

typedef struct thinker {
    rig *r;
    phi_agent agent;
    phi_agent_desc desc;
    phi_tool tools[3];
    binding seen;
    size_t looked; /* requests */
    size_t answers;
    binding_found last, all;
    size_t warnings;
    char warning[240];
    const char *words; /* of the prompts */
    bool asks;         /* phi_preflight before each prompt */
    char foreseen[600];
} thinker;

static void watch(void *user_data, const phi_event *e) {
    thinker *t = (thinker *)user_data;
    if (e->kind != PHI_EV_WARNING || phi__str_find(e->text, 0, "thinking") == SIZE_MAX) return;
    t->warnings++;
    (void)snprintf(t->warning, sizeof t->warning, "%.*s", (int)e->text.len, e->text.at);
}

static phi_tool named(const char *name) {
    phi_tool tool = rig_echo();
    tool.name = name;
    return tool;
}

static void thinker_begin(thinker *t, const char *model) {
    memset(t, 0, sizeof *t);
    t->r = rig_new();
    binding_begin(&t->seen);
    rig_watch(t->r, watch, t);
    t->words = "Well?";
    t->desc = rig_desc();
    t->desc.model.id = model;
    t->desc.model.reasoning = true;
    t->desc.model.provider = "anthropic";
    t->desc.thinking = PHI_THINKING_LOW;
    t->desc.system_prompt = "You are a smith.";
    t->tools[0] = named("look");
    t->tools[1] = named("take");
    t->tools[2] = named("give");
    t->desc.tools = t->tools;
    t->desc.tool_count = 2;
    t->agent = rig_agent(t->r, &t->desc);
}

static void thinker_end(thinker *t) {
    binding_end(&t->seen);
    rig_free(t->r);
}

#define EVENT(type, rest) "event: " type "\ndata: {\"type\":\"" type "\"" rest "}\n\n"

/* Thinking, a text that names it, and calls. */
static void thinks(thinker *t, size_t calls) {
    char body[4000];
    size_t n = t->answers++, i;
    int at = snprintf(
        body, sizeof body,
        EVENT("message_start", ",\"message\":{\"id\":\"m%u\",\"model\":\"x\",\"content\":[],"
                               "\"usage\":{\"input_tokens\":10,\"output_tokens\":1}}")
            EVENT("content_block_start", ",\"index\":0,\"content_block\":{\"type\":\"thinking\","
                                         "\"thinking\":\"\",\"signature\":\"\"}")
                EVENT("content_block_delta", ",\"index\":0,\"delta\":{\"type\":\"signature_delta\","
                                             "\"signature\":\"sig%u\"}")
                    EVENT("content_block_stop", ",\"index\":0")
                        EVENT("content_block_start", ",\"index\":1,\"content_block\":{\"type\":"
                                                     "\"text\",\"text\":\"text of sig%u\"}")
                            EVENT("content_block_stop", ",\"index\":1"),
        (unsigned)n, (unsigned)n, (unsigned)n);
    for (i = 0; i < calls; i++)
        at += snprintf(body + at, sizeof body - (size_t)at,
                       EVENT("content_block_start",
                             ",\"index\":%u,\"content_block\":{\"type\":\"tool_use\",\"id\":"
                             "\"c%u_%u\",\"name\":\"look\",\"input\":{ \"at\" : %u }}")
                           EVENT("content_block_stop", ",\"index\":%u"),
                       (unsigned)i + 2, (unsigned)n, (unsigned)i, (unsigned)n, (unsigned)i + 2);
    (void)snprintf(body + at, sizeof body - (size_t)at,
                   EVENT("message_delta", ",\"delta\":{\"stop_reason\":\"%s\"},\"usage\":{"
                                          "\"output_tokens\":9}") EVENT("message_stop", ""),
                   calls > 0 ? "tool_use" : "end_turn");
    rig_replies(t->r, 200, "Content-Type: text/event-stream\r\n", body);
}

/* Looks at the requests that went out since, whose answers think. */
static void look(thinker *t) {
    for (; t->looked < rig_requests(t->r); t->looked++) {
        char signature[24];
        (void)snprintf(signature, sizeof signature, "sig%u", (unsigned)t->seen.count);
        t->last = binding_request(&t->seen, rig_request(t->r, t->looked), signature);
        t->all.sent += t->last.sent;
        t->all.invalid += t->last.invalid;
        t->all.lost += t->last.lost;
        if (!CHECK(t->last.invalid == 0 && t->last.lost == 0))
            printf("request %u: %s\n%s\n", (unsigned)t->looked, t->last.words,
                   rig_request(t->r, t->looked));
    }
}

/* Asks what the next request leaves out, twice: the same is said, and nothing changes. */
static void foresee(thinker *t) {
    phi_memory memory;
    phi_arena arena;
    char again[sizeof t->foreseen];
    size_t sent = rig_requests(t->r);
    uint64_t entries = phi_thread_count(phi_agent_thread(t->agent));
    phi_status status;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    status = preflight_thinking(t->agent, &arena, t->foreseen, sizeof t->foreseen);
    CHECK_EQ_INT(status, t->foreseen[0] == '\0' ? PHI_OK : PHI_UNSUPPORTED);
    CHECK_EQ_INT(preflight_thinking(t->agent, &arena, again, sizeof again), status);
    CHECK_EQ_STR(again, t->foreseen);
    CHECK_EQ_INT(rig_requests(t->r), sent);
    CHECK_EQ_INT(phi_thread_count(phi_agent_thread(t->agent)), entries);
    phi_arena_free(&arena);
}

static size_t times(const char *text, const char *part) {
    size_t n = 0;
    while ((text = strstr(text, part)) != NULL) n++, text += strlen(part);
    return n;
}

/* The answers that words name are those whose thinking is not in a request. */
static void compare(thinker *t, size_t request) {
    const char *body = rig_request(t->r, request), *at = t->foreseen;
    size_t named = 0, answers = times(body, "\"text\":\"text of sig");
    for (; (at = strstr(at, "the thinking of ")) != NULL; at++)
        named += (size_t)atoi(at + strlen("the thinking of "));
    if (!CHECK_EQ_INT(named, answers - times(body, "\"signature\":\"sig")))
        printf("%s\n%s\n", t->foreseen, rig_story(t->r));
}

static void talk(thinker *t, size_t rounds) {
    size_t first = rig_requests(t->r);
    for (; rounds > 0; rounds--) thinks(t, 1);
    thinks(t, 0);
    if (t->asks) foresee(t);
    CHECK_EQ_INT(phi_prompt(t->agent, t->words), PHI_OK);
    CHECK_EQ_INT(rig_run(t->r, 200), 0);
    if (t->asks) compare(t, first);
    look(t);
}

static const char *last_request(thinker *t) { return rig_request(t->r, rig_requests(t->r) - 1); }

/* Restores the agent out of a snapshot in which `from` is `to`, where they are given. */
static void again(thinker *t, const char *from, const char *to) {
    phi_memory memory;
    phi_arena arena;
    phi_str text = {NULL, 0};
    phi__buf edited;
    size_t at;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    phi__buf_init(&edited, &memory);
    CHECK_EQ_INT(phi_agent_snapshot(t->agent, &arena, &text), PHI_OK);
    at = from != NULL ? phi__str_find(text, 0, from) : SIZE_MAX;
    CHECK(from == NULL || at != SIZE_MAX);
    if (at != SIZE_MAX) {
        phi__buf_add(&edited, text.at, at);
        phi__buf_text(&edited, to);
        at += strlen(from);
        phi__buf_add(&edited, text.at + at, text.len - at);
        text = phi__buf_str(&edited);
    }
    phi_agent_free(t->agent);
    t->agent = phi_agent_restore(rig_runtime(t->r), &t->desc, text, PHI_RESTORE_RESUME);
    phi__buf_free(&edited);
    phi_arena_free(&arena);
}

/* ---- stories ---- */

TEST(thinking_of_every_answer_goes_back_while_nothing_changes) {
    thinker t;
    thinker_begin(&t, "claude-opus-5-5");
    talk(&t, 2);
    talk(&t, 0);
    talk(&t, 1);
    CHECK_EQ_INT(t.last.sent, 5);
    CHECK_EQ_INT(t.warnings, 0);
    thinker_end(&t);
}

TEST(facts_that_change_each_turn_cost_no_thinking) {
    thinker t;
    char value[16];
    int i;
    thinker_begin(&t, "claude-opus-5-5");
    for (i = 0; i < 6; i++) {
        (void)snprintf(value, sizeof value, "%d o'clock", i);
        CHECK_EQ_INT(phi_fact_set(phi_fact_all(t.agent.rt), "time", phi_str_of(value), NULL),
                     PHI_OK);
        talk(&t, 1);
    }
    CHECK_EQ_INT(t.last.sent, 11);
    CHECK_EQ_INT(t.warnings, 0);
    thinker_end(&t);
}

TEST(another_system_prompt_is_appended_and_costs_no_thinking) {
    thinker t;
    const char *body;
    thinker_begin(&t, "claude-opus-5-5");
    talk(&t, 1);
    CHECK_EQ_INT(set_system_prompt(t.agent, "You are a king."), PHI_OK);
    talk(&t, 0);
    CHECK_EQ_INT(t.last.sent, 2);
    body = last_request(&t);
    CHECK(strstr(body, "\"system\":[{\"type\":\"text\",\"text\":\"You are a smith.\"") != NULL);
    CHECK(
        strstr(body,
               "{\"role\":\"system\",\"content\":[{\"type\":\"text\",\"text\":\"Your instructions "
               "have changed. From now on they are:\\n\\nYou are a king.\"") != NULL);
    CHECK_EQ_INT(set_system_prompt(t.agent, NULL), PHI_OK);
    talk(&t, 0);
    CHECK(strstr(last_request(&t), "Your earlier instructions no longer apply.") != NULL);
    CHECK_EQ_INT(t.last.sent, 3);
    CHECK_EQ_INT(set_system_prompt(t.agent, "You are a smith."), PHI_OK);
    talk(&t, 0);
    CHECK_EQ_INT(t.last.sent, 4);
    CHECK_EQ_INT(t.warnings, 0);
    thinker_end(&t);
}

TEST(tools_that_come_and_go_are_appended_and_cost_no_thinking) {
    thinker t;
    phi_tool changed[2];
    const char *body;
    thinker_begin(&t, "claude-opus-5-5");
    talk(&t, 1);
    changed[0] = t.tools[0];
    changed[1] = t.tools[2];
    CHECK_EQ_INT(set_tools(t.agent, changed, 2), PHI_OK);
    talk(&t, 0);
    body = last_request(&t);
    CHECK_EQ_INT(t.last.sent, 2);
    CHECK(strstr(body,
                 "{\"role\":\"system\",\"content\":[{\"type\":\"tool_removal\",\"tool\":{\"type\":"
                 "\"tool_reference\",\"name\":\"take\"}},{\"type\":\"tool_addition\",\"tool\":{"
                 "\"type\":\"tool_definition\",\"definition\":{\"name\":\"give\",") != NULL);
    changed[1].description = "Another one";
    CHECK_EQ_INT(set_tools(t.agent, changed, 2), PHI_OK);
    talk(&t, 0);
    CHECK_EQ_INT(t.last.sent, 3);
    CHECK(strstr(last_request(&t),
                 "\"definition\":{\"name\":\"give\",\"description\":\"Another one\"") != NULL);
    CHECK_EQ_INT(set_tools(t.agent, t.tools, 2), PHI_OK);
    talk(&t, 0);
    CHECK_EQ_INT(t.last.sent, 4);
    CHECK_EQ_INT(t.warnings, 0);
    thinker_end(&t);
}

TEST(no_tool_is_removed_whose_addition_has_left_the_view) {
    thinker t;
    phi_policy policy = PHI_ZERO;
    thinker_begin(&t, "claude-opus-5-5");
    talk(&t, 0);
    CHECK_EQ_INT(set_tools(t.agent, t.tools, 3), PHI_OK);
    talk(&t, 0);
    CHECK_EQ_INT(set_tools(t.agent, t.tools, 2), PHI_OK);
    talk(&t, 0);
    CHECK(strstr(last_request(&t), "\"type\":\"tool_removal\"") != NULL);
    policy.max_turns = 2;
    CHECK_EQ_INT(set_policy(t.agent, &policy), PHI_OK);
    talk(&t, 0);
    CHECK(strstr(last_request(&t), "\"type\":\"tool_addition\"") == NULL);
    CHECK(strstr(last_request(&t), "\"type\":\"tool_removal\"") == NULL);
    again(&t, NULL, NULL);
    talk(&t, 0);
    CHECK(strstr(last_request(&t), "\"type\":\"tool_removal\"") == NULL);
    CHECK_EQ_INT(set_policy(t.agent, NULL), PHI_OK);
    talk(&t, 0);
    CHECK(strstr(last_request(&t), "\"type\":\"tool_removal\"") == NULL);
    thinker_end(&t);
}

TEST(a_model_without_updates_is_told_anew_and_its_thinking_goes_with_a_warning) {
    thinker t;
    thinker_begin(&t, "claude-opus-5-5");
    t.desc.model.provider = "a_reseller"; /* takes system messages, no definitions in them */
    phi_agent_free(t.agent);
    t.agent = rig_agent(t.r, &t.desc);
    talk(&t, 1);
    CHECK_EQ_INT(set_tools(t.agent, t.tools, 3), PHI_OK);
    talk(&t, 0);
    CHECK_EQ_INT(t.last.sent, 0);
    CHECK_EQ_STR(t.warning,
                 "The thinking of 2 answers is not sent any more: the tools have changed");
    talk(&t, 0);
    CHECK_EQ_INT(t.last.sent, 1);
    CHECK_EQ_INT(t.warnings, 1);
    thinker_end(&t);
}

static char longer[4000];

TEST(a_compaction_takes_the_thinking_behind_it_along) {
    thinker t;
    phi_memory memory;
    phi_arena arena;
    phi_str words = {NULL, 0};
    thinker_begin(&t, "claude-opus-5-5");
    phi_agent_free(t.agent);
    memset(longer, 'x', sizeof longer - 1);
    t.words = longer;
    t.desc.compaction.keep_first_turns = 1;
    t.desc.compaction.keep_recent_turns = 1;
    t.agent = rig_agent(t.r, &t.desc);
    talk(&t, 0);
    talk(&t, 0);
    talk(&t, 0);
    talk(&t, 0);
    CHECK_EQ_INT(phi_compact(t.agent), PHI_OK);
    CHECK_EQ_INT(rig_run(t.r, 40), 0);
    talk(&t, 0);
    CHECK_EQ_INT(t.last.sent, 0);
    CHECK_EQ_INT(t.warnings, 1);
    CHECK_EQ_STR(t.warning, "The thinking of 1 answer is not sent any more: the messages before it "
                            "have changed (a compaction)");
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_agent_explain(t.agent, &arena, &words), PHI_OK);
    CHECK(phi__str_find(words, 0,
                        "thinking: the last request left out that of 1 answer, from entry") !=
          SIZE_MAX);
    phi_arena_free(&arena);
    talk(&t, 0);
    CHECK_EQ_INT(t.last.sent, 1);
    CHECK_EQ_INT(t.warnings, 1);
    thinker_end(&t);
}

TEST(a_policy_that_keeps_two_turns_sends_the_thinking_of_the_turn_it_is_in) {
    thinker t;
    phi_policy policy = PHI_ZERO;
    thinker_begin(&t, "claude-opus-5-5");
    policy.max_turns = 2;
    CHECK_EQ_INT(set_policy(t.agent, &policy), PHI_OK);
    talk(&t, 1);
    talk(&t, 1);
    CHECK_EQ_INT(t.last.sent, 3);
    talk(&t, 2);
    CHECK_EQ_INT(t.last.sent, 2);
    talk(&t, 0);
    CHECK_EQ_INT(t.warnings, 1);
    CHECK_EQ_STR(t.warning,
                 "The thinking of 2 answers is not sent any more: the messages before it "
                 "have changed (the policy)");
    thinker_end(&t);
}

TEST(a_model_that_always_thinks_needs_no_word_of_it) {
    thinker t;
    phi_policy policy = PHI_ZERO;
    thinker_begin(&t, "claude-opus-5-5");
    t.desc.model.reasoning = false;
    CHECK_EQ_INT(set_model(t.agent, &t.desc.model), PHI_OK);
    policy.max_turns = 2;
    CHECK_EQ_INT(set_policy(t.agent, &policy), PHI_OK);
    talk(&t, 1);
    talk(&t, 1);
    CHECK_EQ_INT(t.last.sent, 3);
    talk(&t, 2);
    CHECK_EQ_INT(t.last.sent, 2);
    CHECK_EQ_INT(t.warnings, 1);
    thinker_end(&t);
}

TEST(thinking_goes_back_after_a_snapshot) {
    thinker t;
    phi_memory memory;
    phi_arena arena;
    phi_str text = {NULL, 0};
    thinker_begin(&t, "claude-opus-5-5");
    CHECK_EQ_INT(phi_fact_set(phi_fact_all(t.agent.rt), "king", phi_str_of("ill"), NULL), PHI_OK);
    talk(&t, 2);
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_agent_snapshot(t.agent, &arena, &text), PHI_OK);
    phi_agent_free(t.agent);
    t.agent = phi_agent_restore(rig_runtime(t.r), &t.desc, text, PHI_RESTORE_RESUME);
    phi_arena_free(&arena);
    talk(&t, 0);
    CHECK_EQ_INT(t.last.sent, 3);
    CHECK_EQ_INT(t.warnings, 0);
    thinker_end(&t);
}

TEST(an_agent_restored_with_another_prompt_goes_on_with_its_head) {
    thinker t;
    thinker_begin(&t, "claude-opus-5-5");
    t.tools[1].strict = true;
    t.tools[1].schema = "{\"type\":\"object\",\"properties\":{},\"additionalProperties\":false}";
    CHECK_EQ_INT(set_tools(t.agent, t.tools, 2), PHI_OK);
    talk(&t, 1);
    CHECK_EQ_INT(set_system_prompt(t.agent, "You are a king."), PHI_OK);
    talk(&t, 0);
    t.desc.system_prompt = "You are a king."; /* as it is by now: nothing is to be told */
    again(&t, NULL, NULL);
    talk(&t, 0);
    CHECK_EQ_INT(t.last.sent, 3);
    t.desc.system_prompt = "You are a fool.";
    t.desc.tool_count = 3;
    again(&t, NULL, NULL);
    talk(&t, 0);
    CHECK_EQ_INT(t.last.sent, 4);
    CHECK(strstr(last_request(&t), "\"text\":\"You are a smith.\"") != NULL);
    CHECK(strstr(last_request(&t), "From now on they are:\\n\\nYou are a fool.") != NULL);
    CHECK(strstr(last_request(&t), "\"definition\":{\"name\":\"give\"") != NULL);
    CHECK_EQ_INT(t.warnings, 0);
    thinker_end(&t);
}

TEST(a_snapshot_whose_head_is_broken_is_refused) {
    static const char *const broken[] = {"\"tools\":[7,[\"look\",", "\"tools\":[[],[\"look\",",
                                         "\"tools\":[[\"\",",
                                         "\"tools\":[[\"look\",\"\",\"[]\"],[\"look\",",
                                         "\"tools\":[[\"look\",\"\",\"{\"],[\"look\","};
    size_t i;
    for (i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        thinker t;
        thinker_begin(&t, "claude-opus-5-5");
        talk(&t, 0);
        again(&t, "\"tools\":[[\"look\",", broken[i]);
        CHECK(t.agent.rt == NULL);
        CHECK_EQ_INT(phi_last_error(rig_runtime(t.r)).status, PHI_PARSE);
        thinker_end(&t);
    }
}

TEST(a_head_is_restored_whole_or_not_at_all_when_memory_ends) {
    thinker t;
    phi_memory memory;
    phi_arena arena;
    phi_str text = {NULL, 0};
    phi_agent agent;
    bool tripped = true;
    int n = 0;
    thinker_begin(&t, "claude-opus-5-5");
    talk(&t, 1);
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_agent_snapshot(t.agent, &arena, &text), PHI_OK);
    phi_agent_free(t.agent);
    agent = t.agent;
    t.desc.system_prompt = "You are a king.";
    for (; tripped; n++) {
        test_alloc_fail_at(n);
        agent = phi_agent_restore(rig_runtime(t.r), &t.desc, text, PHI_RESTORE_RESUME);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK(agent.rt != NULL || tripped);
        if (tripped && agent.rt != NULL) phi_agent_free(agent);
    }
    CHECK(n > 20);
    phi_arena_free(&arena);
    t.agent = agent;
    talk(&t, 0);
    CHECK_EQ_INT(t.last.sent, 2);
    CHECK(strstr(last_request(&t), "\"text\":\"You are a smith.\"") != NULL);
    thinker_end(&t);
}

TEST(a_snapshot_of_before_has_no_head_and_one_is_made) {
    thinker t;
    thinker_begin(&t, "claude-opus-5-5");
    talk(&t, 1);
    again(&t, "\"head\":{", "\"no_head\":{");
    REQUIRE(t.agent.rt != NULL);
    talk(&t, 0);
    CHECK_EQ_INT(t.last.sent, 2);
    thinker_end(&t);
}

TEST(a_history_that_is_saved_and_loaded_keeps_its_thinking) {
    thinker t;
    phi_memory memory;
    phi_arena arena;
    phi_str text = {NULL, 0};
    phi_parse_error error;
    thinker_begin(&t, "claude-opus-5-5");
    talk(&t, 2); /* its arguments are written with blanks, and anew by the file */
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_agent_messages_to_json(t.agent, &arena, &text), PHI_OK);
    CHECK_EQ_INT(phi_agent_messages_from_json(t.agent, text, &error), PHI_OK);
    phi_arena_free(&arena);
    talk(&t, 0);
    CHECK_EQ_INT(t.last.sent, 3);
    thinker_end(&t);
}

TEST(thinking_of_a_file_of_before_counts_until_something_is_rewritten) {
    thinker t;
    phi_message list[8];
    phi_content blocks[8][4];
    size_t i, n;
    thinker_begin(&t, "claude-opus-5-5");
    talk(&t, 0);
    talk(&t, 0);
    n = phi_thread_message_count(phi_agent_thread(t.agent));
    REQUIRE(n == 4);
    for (i = 0; i < n; i++) {
        const phi_message *m = phi_thread_message_at(phi_agent_thread(t.agent), i);
        list[i] = *m;
        memcpy(blocks[i], m->content, m->content_count * sizeof *m->content);
        list[i].content = blocks[i];
        list[i].prefix = list[i].prefix_parts = 0;
    }
    {
        phi_agent fresh = rig_agent(t.r, &t.desc);
        for (i = 0; i < n; i++)
            CHECK_EQ_INT(phi_thread_append(phi_agent_thread(fresh), &list[i], 1, NULL), PHI_OK);
        t.agent = fresh;
    }
    talk(&t, 0);
    CHECK_EQ_INT(t.last.sent, 2);
    CHECK_EQ_INT(phi_compact(t.agent), PHI_OK);
    CHECK_EQ_INT(rig_run(t.r, 40), 0);
    talk(&t, 0);
    CHECK_EQ_INT(t.all.invalid, 0);
    thinker_end(&t);
}

TEST(a_failover_and_back_keeps_the_thinking_of_the_first_model) {
    thinker t;
    phi_failover_model other;
    phi_failover failover;
    thinker_begin(&t, "claude-opus-5-5");
    memset(&other, 0, sizeof other);
    memset(&failover, 0, sizeof failover);
    other.model = t.desc.model;
    other.model.id = "claude-sonnet-5-5";
    failover.models = &other;
    failover.model_count = 1;
    t.desc.failover = &failover;
    phi_agent_free(t.agent);
    t.agent = rig_agent(t.r, &t.desc);
    talk(&t, 1);
    rig_replies(t.r, 503, HEARD_JSON, HEARD_BOOM);
    thinks(&t, 0);
    CHECK_EQ_INT(phi_prompt(t.agent, "Well?"), PHI_OK);
    CHECK_EQ_INT(rig_run(t.r, 200), 0);
    t.looked++; /* the one that failed has no answer */
    look(&t);
    CHECK(strstr(last_request(&t), "claude-sonnet-5-5") != NULL);
    CHECK_EQ_INT(t.last.sent, 0);
    talk(&t, 0);
    CHECK(strstr(last_request(&t), "claude-opus-5-5") != NULL);
    CHECK_EQ_INT(t.last.sent, 2);
    thinker_end(&t);
}

TEST(a_lane_that_was_forked_keeps_the_thinking_up_to_the_fork) {
    thinker t;
    phi_thread *thread;
    thinker_begin(&t, "claude-opus-5-5");
    talk(&t, 0);
    talk(&t, 0);
    thread = phi_agent_thread(t.agent);
    CHECK_EQ_INT(phi_thread_fork_lane(thread, "other", NULL, phi_thread_count(thread) - 1), PHI_OK);
    CHECK_EQ_INT(phi_thread_switch(thread, "other"), PHI_OK);
    talk(&t, 0);
    CHECK_EQ_INT(t.last.sent, 2);
    CHECK_EQ_INT(phi_thread_switch(thread, PHI_LANE_DEFAULT), PHI_OK);
    talk(&t, 0);
    CHECK_EQ_INT(t.last.sent, 2);
    thinker_end(&t);
}

TEST(a_model_that_checks_nothing_gets_all_its_thinking) {
    thinker t;
    thinker_begin(&t, "claude-opus-4-6");
    talk(&t, 0);
    CHECK_EQ_INT(set_system_prompt(t.agent, "You are a king."), PHI_OK);
    thinks(&t, 0);
    CHECK_EQ_INT(phi_prompt(t.agent, "Well?"), PHI_OK);
    CHECK_EQ_INT(rig_run(t.r, 200), 0);
    CHECK(strstr(last_request(&t), "\"signature\":\"sig0\"") != NULL);
    CHECK(strstr(last_request(&t), "\"text\":\"You are a king.\"") != NULL);
    CHECK_EQ_INT(t.warnings, 0);
    thinker_end(&t);
}

TEST(thinking_that_a_server_refuses_all_the_same_is_left_out_at_once_and_for_ever) {
    static const char bound[] =
        "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":"
        "\"messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a "
        "different conversation. Remove the block.\"}}";
    thinker t;
    thinker_begin(&t, "claude-opus-5-5");
    talk(&t, 1);
    rig_replies(t.r, 400, HEARD_JSON, bound);
    thinks(&t, 0);
    CHECK_EQ_INT(phi_prompt(t.agent, "Well?"), PHI_OK);
    CHECK_EQ_INT(rig_run(t.r, 100), 0);
    CHECK_EQ_INT(rig_requests(t.r), 4);
    CHECK(strstr(rig_request(t.r, 2), "\"signature\":\"sig1\"") != NULL);
    CHECK(strstr(rig_request(t.r, 3), "\"signature\"") == NULL);
    CHECK_EQ_STR(t.warning,
                 "The thinking of 2 answers is not sent any more: the server has refused it");
    thinks(&t, 0);
    CHECK_EQ_INT(phi_prompt(t.agent, "Well?"), PHI_OK);
    CHECK_EQ_INT(rig_run(t.r, 100), 0);
    CHECK(strstr(last_request(&t), "\"signature\":\"sig2\"") != NULL);
    CHECK(strstr(last_request(&t), "\"signature\":\"sig1\"") == NULL);
    /* a server that goes on refusing is an error: nothing is left to leave out */
    rig_replies(t.r, 400, HEARD_JSON, bound);
    rig_replies(t.r, 400, HEARD_JSON, bound);
    CHECK_EQ_INT(phi_prompt(t.agent, "Well?"), PHI_OK);
    CHECK_EQ_INT(rig_run(t.r, 100), 0);
    CHECK_EQ_INT(rig_requests(t.r), 7);
    thinker_end(&t);
}

/* ---- random lives ---- */

static uint32_t chance_state;
static uint32_t chance(uint32_t most) {
    chance_state ^= chance_state << 13;
    chance_state ^= chance_state >> 17;
    chance_state ^= chance_state << 5;
    return chance_state % most;
}

static void restored(thinker *t) {
    phi_memory memory;
    phi_arena arena;
    phi_str text = {NULL, 0};
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    if (CHECK_EQ_INT(phi_agent_snapshot(t->agent, &arena, &text), PHI_OK)) {
        phi_agent_free(t->agent);
        t->agent = phi_agent_restore(rig_runtime(t->r), &t->desc, text, PHI_RESTORE_RESUME);
    }
    phi_arena_free(&arena);
}

static void changed(thinker *t, uint32_t what) {
    static const char *const prompts[] = {"You are a smith.", "You are a king.", ""};
    static const char *const models[] = {"claude-opus-5-5", "claude-sonnet-5-5",
                                         "claude-haiku-5-5"};
    phi_thread *thread = phi_agent_thread(t->agent);
    char name[16];
    phi_policy policy = PHI_ZERO;
    phi_tool tools[3];
    size_t i, n = 0;
    switch (what) {
    case 0:
        (void)snprintf(name, sizeof name, "k%u", (unsigned)chance(3));
        if (chance(4) == 0)
            (void)phi_fact_set(phi_fact_all(t->agent.rt), name, phi_str_of(NULL), NULL);
        else
            CHECK_EQ_INT(phi_fact_set(phi_fact_all(t->agent.rt), name,
                                      phi_str_of(chance(2) ? "one" : "two"), NULL),
                         PHI_OK);
        break;
    case 1: CHECK_EQ_INT(set_system_prompt(t->agent, prompts[chance(3)]), PHI_OK); break;
    case 2:
        for (i = 0; i < 3; i++)
            if (chance(3) != 0) tools[n++] = t->tools[i];
        CHECK_EQ_INT(set_tools(t->agent, tools, n), PHI_OK);
        break;
    case 3:
        CHECK_EQ_INT(phi_compact(t->agent), PHI_OK);
        CHECK_EQ_INT(rig_run(t->r, 40), 0);
        break;
    case 4:
        policy.max_turns = 1 + chance(3);
        CHECK_EQ_INT(set_policy(t->agent, chance(2) == 0 ? NULL : &policy), PHI_OK);
        break;
    case 5: restored(t); break;
    case 6:
        t->desc.model.id = models[chance(3)];
        CHECK_EQ_INT(set_model(t->agent, &t->desc.model), PHI_OK);
        break;
    case 7:
        (void)snprintf(name, sizeof name, "l%u", (unsigned)phi_thread_count(thread));
        (void)phi_thread_fork_lane(thread, name, NULL,
                                   (uint64_t)chance((uint32_t)phi_thread_count(thread) + 1));
        (void)phi_thread_switch(thread, chance(2) == 0 ? PHI_LANE_DEFAULT : name);
        break;
    case 8: /* a request that fails */
        rig_replies(t->r, 400, HEARD_JSON, HEARD_BOOM);
        CHECK_EQ_INT(phi_prompt(t->agent, "No."), PHI_OK);
        CHECK_EQ_INT(rig_run(t->r, 100), 0);
        t->looked++;
        break;
    default: break;
    }
}

/* A life: talks, and between them anything that changes what was said. */
static uint64_t life(uint32_t seed, bool asks) {
    thinker t;
    int i, before = test_failures();
    uint64_t bodies = 1;
    size_t at;
    chance_state = seed * 2654435761u + 1;
    thinker_begin(&t, "claude-opus-5-5");
    t.asks = asks;
    memset(longer, 'x', sizeof longer - 1);
    t.words = longer;
    for (i = 0; i < 14 && test_failures() == before; i++) {
        if (chance(3) != 0) changed(&t, chance(9));
        talk(&t, chance(3));
    }
    if (test_failures() != before) printf("seed %u\n", (unsigned)seed);
    for (at = 0; at < rig_requests(t.r); at++)
        bodies = phi__hash(phi_str_of(rig_request(t.r, at)), bodies);
    thinker_end(&t);
    return bodies;
}

TEST(no_life_meets_the_check_and_none_loses_thinking_that_is_valid) {
    const char *lives = getenv("PHI_LIVES");
    uint32_t most = lives != NULL ? (uint32_t)atoi(lives) : 150, i;
    const char *from = getenv("PHI_LIVES_FROM");
    uint32_t first = from != NULL ? (uint32_t)atoi(from) : 1;
    for (i = first; i < first + most && test_failures() < 3; i++) (void)life(i, i % 2 == 0);
}

/* ---- before the request ---- */

TEST(nothing_is_foreseen_while_all_thinking_is_valid) {
    thinker t;
    thinker_begin(&t, "claude-opus-5-5");
    t.asks = true;
    talk(&t, 0); /* there is nothing yet */
    CHECK_EQ_STR(t.foreseen, "");
    talk(&t, 2);
    CHECK_EQ_STR(t.foreseen, "");
    CHECK_EQ_INT(phi_fact_set(phi_fact_all(t.agent.rt), "time", phi_str_of("noon"), NULL), PHI_OK);
    CHECK_EQ_INT(set_system_prompt(t.agent, "You are a king."), PHI_OK);
    CHECK_EQ_INT(set_tools(t.agent, t.tools, 3), PHI_OK);
    talk(&t, 1); /* all that is appended */
    CHECK_EQ_STR(t.foreseen, "");
    CHECK_EQ_INT(t.warnings, 0);
    thinker_end(&t);
}

TEST(thinking_that_a_compaction_takes_along_is_foreseen) {
    thinker t;
    thinker_begin(&t, "claude-opus-5-5");
    phi_agent_free(t.agent);
    memset(longer, 'x', sizeof longer - 1);
    t.words = longer;
    t.desc.compaction.keep_first_turns = 1;
    t.desc.compaction.keep_recent_turns = 1;
    t.agent = rig_agent(t.r, &t.desc);
    t.asks = true;
    talk(&t, 0);
    talk(&t, 0);
    talk(&t, 0);
    talk(&t, 0);
    CHECK_EQ_STR(t.foreseen, "");
    CHECK_EQ_INT(phi_compact(t.agent), PHI_OK);
    CHECK_EQ_INT(rig_run(t.r, 40), 0);
    talk(&t, 0);
    CHECK_EQ_STR(t.foreseen, "the thinking of 1 answer, from entry 21 on, will be left out: the "
                             "messages before it have changed (a compaction)");
    CHECK_EQ_STR(t.warning, "The thinking of 1 answer is not sent any more: the messages before it "
                            "have changed (a compaction)");
    thinker_end(&t);
}

TEST(thinking_that_a_policy_cuts_off_is_foreseen_with_the_turn_to_come) {
    thinker t;
    phi_policy policy = PHI_ZERO;
    thinker_begin(&t, "claude-opus-5-5");
    t.asks = true;
    talk(&t, 0);
    talk(&t, 1);
    policy.max_turns = 2;
    CHECK_EQ_INT(set_policy(t.agent, &policy), PHI_OK);
    talk(&t, 0); /* the first turn leaves with it */
    CHECK_EQ_STR(t.foreseen, "the thinking of 2 answers, from entry 9 on, will be left out: the "
                             "messages before it have changed (the policy)");
    CHECK_EQ_STR(t.warning, "The thinking of 2 answers is not sent any more: the messages before "
                            "it have changed (the policy)");
    CHECK_EQ_INT(set_policy(t.agent, NULL), PHI_OK);
    foresee(&t); /* the answer made without the first turn */
    CHECK_EQ_STR(t.foreseen, "the thinking of 1 answer, from entry 19 on, will be left out: the "
                             "messages before it have changed");
    thinker_end(&t);
}

TEST(thinking_made_under_other_tools_is_foreseen_where_no_tools_are_appended) {
    thinker t;
    thinker_begin(&t, "claude-opus-5-5");
    t.desc.model.provider = "a_reseller";
    phi_agent_free(t.agent);
    t.agent = rig_agent(t.r, &t.desc);
    t.asks = true;
    talk(&t, 1);
    CHECK_EQ_INT(set_tools(t.agent, t.tools, 3), PHI_OK);
    talk(&t, 0);
    CHECK_EQ_STR(t.foreseen, "the thinking of 2 answers, from entry 3 on, will be left out: the "
                             "tools have changed");
    talk(&t, 0); /* they stay out, and the newest goes back */
    CHECK_EQ_STR(t.foreseen, "the thinking of 2 answers, from entry 3 on, will be left out: the "
                             "tools have changed");
    CHECK_EQ_INT(t.last.sent, 1);
    thinker_end(&t);
}

TEST(thinking_made_by_another_model_is_foreseen) {
    thinker t;
    thinker_begin(&t, "claude-opus-5-5");
    t.asks = true;
    talk(&t, 1);
    t.desc.model.id = "claude-sonnet-5-5";
    CHECK_EQ_INT(set_model(t.agent, &t.desc.model), PHI_OK);
    talk(&t, 0);
    CHECK_EQ_STR(t.foreseen, "the thinking of 2 answers, from entry 3 on, will be left out: "
                             "another model has made it");
    thinker_end(&t);
}

TEST(thinking_that_was_refused_is_foreseen_with_that_cause) {
    static const char bound[] =
        "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":"
        "\"The block is bound to a different conversation. Remove the block.\"}}";
    thinker t;
    thinker_begin(&t, "claude-opus-5-5");
    talk(&t, 0);
    rig_replies(t.r, 400, HEARD_JSON, bound);
    thinks(&t, 0);
    CHECK_EQ_INT(phi_prompt(t.agent, "Well?"), PHI_OK);
    CHECK_EQ_INT(rig_run(t.r, 100), 0);
    foresee(&t);
    CHECK_EQ_STR(t.foreseen, "the thinking of 1 answer, from entry 3 on, will be left out: the "
                             "server has refused it");
    thinker_end(&t);
}

TEST(asking_before_each_prompt_changes_no_request) {
    uint32_t i;
    for (i = 1; i <= 12 && test_failures() < 3; i++) CHECK(life(i, true) == life(i, false));
}

TEST(what_is_foreseen_is_whole_or_says_that_memory_ended) {
    thinker t;
    phi_policy policy = PHI_ZERO;
    phi_allocator allocator = test_allocator();
    phi_memory memory;
    phi_arena arena;
    char words[200];
    bool tripped = true;
    int n = 0;
    thinker_begin(&t, "claude-opus-5-5");
    talk(&t, 1);
    talk(&t, 1);
    policy.max_turns = 2;
    CHECK_EQ_INT(set_policy(t.agent, &policy), PHI_OK);
    for (; tripped; n++) {
        phi_status status;
        phi_memory_init(&memory, &allocator, 0);
        phi_arena_init(&arena, &memory, 0);
        test_alloc_fail_at(n);
        status = preflight_thinking(t.agent, &arena, words, sizeof words);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK_EQ_INT(status, tripped ? PHI_NO_MEMORY : PHI_UNSUPPORTED);
        phi_arena_free(&arena);
        CHECK_EQ_INT(memory.used_bytes, 0);
    }
    CHECK(n > 1);
    talk(&t, 0);
    thinker_end(&t);
}

TEST(arguments_that_are_wrong_are_refused_and_words_are_cut) {
    thinker t;
    phi_memory memory;
    phi_arena arena;
    phi_agent none = PHI_ZERO;
    char words[9] = "before";
    thinker_begin(&t, "claude-opus-5-5");
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(preflight_thinking(none, &arena, words, sizeof words), PHI_BAD_ARG);
    CHECK_EQ_INT(preflight_thinking(t.agent, NULL, words, sizeof words), PHI_BAD_ARG);
    CHECK_EQ_INT(preflight_thinking(t.agent, &arena, NULL, 9), PHI_BAD_ARG);
    CHECK_EQ_INT(preflight_thinking(t.agent, &arena, words, 0), PHI_BAD_ARG);
    CHECK_EQ_STR(words, "");
    talk(&t, 0);
    t.desc.model.id = "claude-sonnet-5-5";
    CHECK_EQ_INT(set_model(t.agent, &t.desc.model), PHI_OK);
    CHECK_EQ_INT(preflight_thinking(t.agent, &arena, words, sizeof words), PHI_UNSUPPORTED);
    CHECK_EQ_STR(words, "the thin");
    CHECK_EQ_INT(preflight_thinking(t.agent, &arena, words, 1), PHI_UNSUPPORTED);
    phi_agent_free(t.agent);
    CHECK_EQ_INT(preflight_thinking(t.agent, &arena, words, sizeof words), PHI_STALE);
    CHECK_EQ_STR(words, "");
    phi_arena_free(&arena);
    thinker_end(&t);
}

TEST_MAIN(TEST_ENTRY(thinking_of_every_answer_goes_back_while_nothing_changes),
          TEST_ENTRY(facts_that_change_each_turn_cost_no_thinking),
          TEST_ENTRY(another_system_prompt_is_appended_and_costs_no_thinking),
          TEST_ENTRY(tools_that_come_and_go_are_appended_and_cost_no_thinking),
          TEST_ENTRY(no_tool_is_removed_whose_addition_has_left_the_view),
          TEST_ENTRY(a_model_without_updates_is_told_anew_and_its_thinking_goes_with_a_warning),
          TEST_ENTRY(a_compaction_takes_the_thinking_behind_it_along),
          TEST_ENTRY(a_policy_that_keeps_two_turns_sends_the_thinking_of_the_turn_it_is_in),
          TEST_ENTRY(a_model_that_always_thinks_needs_no_word_of_it),
          TEST_ENTRY(thinking_goes_back_after_a_snapshot),
          TEST_ENTRY(an_agent_restored_with_another_prompt_goes_on_with_its_head),
          TEST_ENTRY(a_snapshot_whose_head_is_broken_is_refused),
          TEST_ENTRY(a_head_is_restored_whole_or_not_at_all_when_memory_ends),
          TEST_ENTRY(a_snapshot_of_before_has_no_head_and_one_is_made),
          TEST_ENTRY(a_history_that_is_saved_and_loaded_keeps_its_thinking),
          TEST_ENTRY(thinking_of_a_file_of_before_counts_until_something_is_rewritten),
          TEST_ENTRY(a_failover_and_back_keeps_the_thinking_of_the_first_model),
          TEST_ENTRY(a_lane_that_was_forked_keeps_the_thinking_up_to_the_fork),
          TEST_ENTRY(a_model_that_checks_nothing_gets_all_its_thinking),
          TEST_ENTRY(thinking_that_a_server_refuses_all_the_same_is_left_out_at_once_and_for_ever),
          TEST_ENTRY(no_life_meets_the_check_and_none_loses_thinking_that_is_valid),
          TEST_ENTRY(nothing_is_foreseen_while_all_thinking_is_valid),
          TEST_ENTRY(thinking_that_a_compaction_takes_along_is_foreseen),
          TEST_ENTRY(thinking_that_a_policy_cuts_off_is_foreseen_with_the_turn_to_come),
          TEST_ENTRY(thinking_made_under_other_tools_is_foreseen_where_no_tools_are_appended),
          TEST_ENTRY(thinking_made_by_another_model_is_foreseen),
          TEST_ENTRY(thinking_that_was_refused_is_foreseen_with_that_cause),
          TEST_ENTRY(asking_before_each_prompt_changes_no_request),
          TEST_ENTRY(what_is_foreseen_is_whole_or_says_that_memory_ended),
          TEST_ENTRY(arguments_that_are_wrong_are_refused_and_words_are_cut))
