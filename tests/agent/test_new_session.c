/* test_new_session.c - a session that begins: its log, what it takes over, and what becomes of the old one. */
#include "agent/one_shot_run.h"
#include "agent/response.h"
#include "agent/snapshot.h"
#include "support/rig.h"
#include "support/store_mem.h"
#include "loop/events.h"
#include "support/append.h"
#include "support/request.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "loop/input.h"
#include "log/log_in.h"

static store_mem *store;

static const char *last_words(rig *r) {
    const char *words = NULL;
    words = phi_last_error(rig_runtime(r)).message;
    return words;
}

static void talk(rig *r, phi_agent agent, const char *text, const char *answer) {
    rig_says(r, answer);
    CHECK_EQ_INT(phi_prompt(agent, text), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 60), 0);
}

static phi_message user_of(phi_content *content, const char *text) {
    phi_message m;
    memset(&m, 0, sizeof m);
    memset(content, 0, sizeof *content);
    content->kind = PHI_CONTENT_TEXT;
    content->text = phi_str_of(text);
    m.role = PHI_ROLE_USER;
    m.content = content;
    m.content_count = 1;
    return m;
}

/* What the active lane shows, a line a message: flags, role, the first block's text. In a static buffer. */
static const char *shown(phi_agent agent) {
    static char text[4096];
    const phi_view_item *items = NULL;
    size_t count = 0, i, n = 0;
    phi_memory memory;
    phi_arena arena;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_thread_view(phi_agent_thread(agent), NULL, UINT64_MAX, &arena, &items, &count),
                 PHI_OK);
    text[0] = '\0';
    for (i = 0; i < count && n < sizeof text; i++) {
        const phi_message *m = items[i].message;
        phi_str words = m->content_count > 0 ? m->content[0].text : phi_str_of("");
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s%s%s %.*s\n",
                              (items[i].flags & PHI_ENTRY_DURABLE) != 0 ? "durable " : "",
                              (items[i].flags & PHI_ITEM_SUMMARY) != 0     ? "summary "
                              : (items[i].flags & PHI_ITEM_SYNTHETIC) != 0 ? "made "
                                                                           : "",
                              (items[i].flags & PHI_ITEM_UNMEASURED) != 0 ? "unmeasured " : "",
                              m->role == PHI_ROLE_USER        ? "user"
                              : m->role == PHI_ROLE_ASSISTANT ? "assistant"
                                                              : "result",
                              (int)words.len, words.at);
    }
    phi_arena_free(&arena);
    return text;
}

/* In the place of entries from to to: one message that sums them up. */
static void sum_up(phi_agent agent, uint64_t from, uint64_t to, const char *words) {
    phi_content content;
    phi_message summary = user_of(&content, words);
    phi_span span;
    phi_rewrite rewrite;
    summary.timestamp_ms = 1234;
    memset(&span, 0, sizeof span);
    memset(&rewrite, 0, sizeof rewrite);
    span.from = from;
    span.to = to;
    span.messages = &summary;
    span.message_count = 1;
    span.summary = true;
    rewrite.reason = PHI_REWRITE_COMPACTION;
    rewrite.spans = &span;
    rewrite.span_count = 1;
    CHECK_EQ_INT(phi_agent_rewrite(agent, &rewrite), PHI_OK);
}

static phi_agent_desc desc_of(bool stored) {
    static phi_tool tools[1];
    phi_agent_desc desc = rig_desc();
    tools[0] = rig_echo();
    desc.tools = tools;
    desc.tool_count = 1;
    if (!stored) return desc;
    desc.store = store_mem_store(store);
    desc.thread_id = "t";
    return desc;
}

/* Two runs, of which the first has been summed up, and a message that stays whatever is. */
static void past(rig *r, phi_agent agent) {
    phi_content content;
    phi_message rule = user_of(&content, "Never lie.");
    talk(r, agent, "my name is Ada", "hello Ada");
    CHECK_EQ_INT(append_with(phi_agent_thread(agent), &rule, 1, PHI_ENTRY_DURABLE), PHI_OK);
    rig_call(r, "c1", "echo", "{\"n\":1}");
    talk(r, agent, "say one", "one");
    sum_up(agent, 0, 5, "She is called Ada.");
    (void)rig_step(r);
}

static const char PAST[] = "summary user She is called Ada.\n"
                           "durable user Never lie.\n"
                           "user say one\n"
                           "assistant \n"
                           "result {\"n\":1}\n"
                           "assistant one\n";

static const char CARRIED[] = "summary user She is called Ada.\n"
                              "durable user Never lie.\n"
                              "user say one\n"
                              "unmeasured assistant \n"
                              "result {\"n\":1}\n"
                              "unmeasured assistant one\n";

static phi_agent agent_with_a_past(rig *r, bool stored) {
    phi_agent_desc desc = desc_of(stored);
    phi_agent agent = rig_agent(r, &desc);
    past(r, agent);
    CHECK_EQ_STR(shown(agent), PAST);
    return agent;
}

/* ---- what the new log is ---- */

TEST(the_new_log_begins_with_what_the_old_one_showed) {
    rig *r = rig_new();
    phi_agent agent = agent_with_a_past(r, false);
    phi_usage before = phi_agent_get_info(agent).usage;
    int64_t at_ms = 0;
    phi_entry e;
    uint64_t i;
    for (i = 0; phi_thread_entry(phi_agent_thread(agent), i, &e) == PHI_OK; i++)
        if (e.message != NULL && e.message->role == PHI_ROLE_USER) at_ms = e.at_ms;
    CHECK_EQ_INT(phi_agent_new_session(agent, false), PHI_OK);
    CHECK_EQ_STR(shown(agent), CARRIED);
    CHECK_EQ_INT(phi_thread_count(phi_agent_thread(agent)), 6);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 6);
    CHECK_EQ_INT(phi_thread_get_info(phi_agent_thread(agent)).lane_count, 1);
    for (i = 0; i < 6; i++) {
        CHECK_EQ_INT(phi_thread_entry(phi_agent_thread(agent), i, &e), PHI_OK);
        CHECK_EQ_INT(e.kind, PHI_ENTRY_MESSAGE);
        if (i == 0) CHECK_EQ_INT(e.at_ms, 1234);
        if (i == 2) CHECK_EQ_INT(e.at_ms, at_ms);
    }
    CHECK_STR(e.loop_id, "session.anthropic.test-model.2");
    CHECK_EQ_INT(phi_thread_get_info(phi_agent_thread(agent)).usage.output, 0);
    CHECK_EQ_INT(phi_agent_get_info(agent).usage.output, before.output);
    CHECK_EQ_INT(phi_agent_get_info(agent).session_id.len, 36);
    CHECK_STR(phi_agent_get_info(agent).loop_id, "");
    CHECK_STR(phi_agent_get_info(agent).thread_id, "");
    rig_free(r);
}

TEST(an_empty_one_begins_with_nothing) {
    rig *r = rig_new();
    phi_agent agent = agent_with_a_past(r, false);
    CHECK_EQ_INT(phi_agent_new_session(agent, true), PHI_OK);
    CHECK_EQ_STR(shown(agent), "");
    CHECK_EQ_INT(phi_thread_count(phi_agent_thread(agent)), 0);
    talk(r, agent, "who am I?", "no idea");
    CHECK(strstr(rig_request(r, 3), "Ada") == NULL);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 2);
    CHECK_EQ_INT(phi_agent_new_session(agent, false), PHI_OK);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 2);
    CHECK_EQ_INT(phi_agent_new_session(agent, true), PHI_OK);
    CHECK_EQ_INT(phi_agent_new_session(agent, false), PHI_OK); /* of nothing */
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 0);
    rig_free(r);
}

/* What is sent by an agent that has begun a new session `renew` times. */
static void sent(bool stored, int renew, const phi_policy *policy, char *out, size_t size) {
    rig *r;
    phi_agent_desc desc;
    phi_agent agent;
    const char *body;
    if (stored) store = store_mem_new();
    r = rig_new();
    desc = desc_of(stored);
    desc.policy = policy;
    agent = rig_agent(r, &desc);
    past(r, agent);
    while (renew-- > 0) CHECK_EQ_INT(phi_agent_new_session(agent, false), PHI_OK);
    talk(r, agent, "and now?", "two");
    body = rig_request(r, 3);
    if (CHECK(body != NULL)) {
        (void)snprintf(out, size, "%s", body);
        CHECK(strlen(body) < size && strstr(body, "She is called Ada.") != NULL);
    }
    rig_free(r);
    if (stored) store_mem_free(store);
}

TEST(what_a_model_is_sent_next_is_the_same_byte_for_byte) {
    static char want[8192], got[8192];
    phi_policy last = PHI_ZERO;
    last.summaries = PHI_SUMMARIES_USE;
    last.max_turns = 1; /* and the summary, which is no turn */
    sent(false, 0, NULL, want, sizeof want);
    sent(false, 1, NULL, got, sizeof got);
    CHECK_EQ_STR(got, want);
    sent(true, 3, NULL, got, sizeof got);
    CHECK_EQ_STR(got, want);
    sent(false, 0, &last, want, sizeof want);
    CHECK(strstr(want, "say one") == NULL);
    sent(false, 2, &last, got, sizeof got);
    CHECK_EQ_STR(got, want);
}

/* Runs over a window that is full, then compacted, then gone on with. */
static void story_of(bool renew, char *out, size_t size) {
    static const char *const says[] = {
        "The quick brown fox jumps over the lazy dog and asks for more of the same, once more.",
        "Grapes hung high over the wall, and the fox said that they were sour, as one does."};
    rig *r = rig_new();
    phi_agent_desc desc = desc_of(false);
    phi_agent agent;
    int i;
    rig_mock(r);
    desc.compaction.max_context_tokens = 400;
    desc.compaction.system_prompt_tokens = 10;
    desc.compaction.keep_first_turns = 1;
    desc.compaction.keep_recent_turns = 2;
    agent = rig_agent(r, &desc);
    for (i = 0; i < 14; i++) talk(r, agent, says[i % 2], says[(i + 1) % 2]);
    CHECK(strstr(rig_story(r), "CompactionEnded") != NULL);
    if (renew) CHECK_EQ_INT(phi_agent_new_session(agent, false), PHI_OK);
    for (i = 0; i < 14; i++) talk(r, agent, says[i % 2], says[(i + 1) % 2]);
    (void)snprintf(out, size, "%s", rig_request(r, rig_requests(r) - 1));
    CHECK(strlen(out) + 1 < size);
    rig_free(r);
}

TEST(what_was_compacted_is_compacted_further_as_before) {
    static char want[16384], got[16384];
    story_of(false, want, sizeof want);
    story_of(true, got, sizeof got);
    CHECK_EQ_STR(got, want);
}

/* The last answer told of a full window, and then some of that was summed up. */
static void measured(bool sums_up, bool renew, bool reload) {
    rig *r;
    phi_agent_desc desc;
    phi_agent agent;
    char id[64], much[1200];
    int i;
    memset(much, 'x', sizeof much);
    much[sizeof much - 1] = '\0';
    store = store_mem_new();
    r = rig_new();
    desc = desc_of(true);
    desc.compaction.max_context_tokens = 20000;
    desc.compaction.keep_recent_turns = 1;
    agent = rig_agent(r, &desc);
    for (i = 0; i < 5; i++) talk(r, agent, "one", much);
    rig_replies(
        r, 200, "content-type: text/event-stream\r\n",
        "data: {\"type\":\"message_start\",\"message\":{\"id\":\"m1\",\"model\":\"m\","
        "\"content\":[],\"usage\":{\"input_tokens\":19000,\"output_tokens\":1}}}\n\n"
        "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\","
        "\"text\":\"\"}}\n\n"
        "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\","
        "\"text\":\"yes\"}}\n\n"
        "data: {\"type\":\"content_block_stop\",\"index\":0}\n\n"
        "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{"
        "\"output_tokens\":2}}\n\n"
        "data: {\"type\":\"message_stop\"}\n\n");
    CHECK_EQ_INT(phi_prompt(agent, "two"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 40), 0);
    if (sums_up) sum_up(agent, 0, 5, "In short.");
    if (renew) CHECK_EQ_INT(phi_agent_new_session(agent, false), PHI_OK);
    if (reload) {
        (void)snprintf(id, sizeof id, "%s", phi_agent_get_info(agent).thread_id.at);
        phi_agent_free(agent);
        desc.thread_id = id;
        agent = rig_agent(r, &desc);
    }
    talk(r, agent, "three", "third");
    CHECK_EQ_INT(strstr(rig_story(r), "Compaction") == NULL, sums_up);
    rig_free(r);
    store_mem_free(store);
}

TEST(an_answer_s_usage_of_a_list_that_was_rewritten_since_counts_no_more_than_before) {
    int renew, reload;
    for (renew = 0; renew < 2; renew++)
        for (reload = 0; reload < 2; reload++) {
            measured(false, renew != 0, reload != 0);
            measured(true, renew != 0, reload != 0);
        }
}

TEST(ids_of_calls_stay_unique) {
    rig *r = rig_new();
    phi_agent agent = agent_with_a_past(r, false);
    CHECK_EQ_INT(phi_agent_new_session(agent, false), PHI_OK);
    rig_call(r, "c1", "echo", "{\"n\":2}");
    talk(r, agent, "say two", "two");
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 10);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 3)->content[0].id, "c1");
    CHECK(!phi_str_equal(phi_thread_message_at(phi_agent_thread(agent), 7)->content[0].id,
                         phi_str_of("c1")));
    CHECK(phi_str_equal(phi_thread_message_at(phi_agent_thread(agent), 7)->content[0].id,
                        phi_thread_message_at(phi_agent_thread(agent), 8)->tool_call_id));
    rig_free(r);
}

TEST(another_lane_stays_behind_with_what_it_shows) {
    rig *r = rig_new();
    phi_agent agent = agent_with_a_past(r, false);
    CHECK_EQ_INT(phi_thread_fork_lane(phi_agent_thread(agent), "what if", NULL, 6), PHI_OK);
    CHECK_EQ_INT(phi_thread_switch(phi_agent_thread(agent), "what if"), PHI_OK);
    talk(r, agent, "on a lane", "yes");
    CHECK_EQ_INT(phi_agent_new_session(agent, false), PHI_OK);
    CHECK_STR(phi_thread_get_info(phi_agent_thread(agent)).lane, "default");
    CHECK_EQ_INT(phi_thread_get_info(phi_agent_thread(agent)).lane_count, 1);
    CHECK_EQ_STR(shown(agent), "user my name is Ada\n"
                               "unmeasured assistant hello Ada\n"
                               "durable user Never lie.\n"
                               "user on a lane\n"
                               "assistant yes\n");
    rig_free(r);
}

TEST(a_fork_keeps_that_a_message_is_a_summary) {
    rig *r = rig_new();
    phi_agent agent = agent_with_a_past(r, false);
    phi_thread *fork = phi_thread_fork(phi_agent_thread(agent), UINT64_MAX);
    phi_entry e;
    REQUIRE(fork != NULL);
    CHECK_EQ_INT(phi_thread_entry(fork, 0, &e), PHI_OK);
    CHECK_EQ_INT(e.flags, PHI_ITEM_SYNTHETIC | PHI_ITEM_SUMMARY);
    CHECK_EQ_INT(e.at_ms, 1234);
    CHECK_EQ_INT(phi_thread_entry(fork, 1, &e), PHI_OK);
    CHECK_EQ_INT(e.flags, PHI_ENTRY_DURABLE);
    phi_thread_free(fork);
    rig_free(r);
}

/* ---- what goes with the old one, and what does not ---- */

TEST(responses_are_stale_and_events_are_purged) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    phi_response response;
    phi_response_info info;
    phi_event ev;
    rig_says(r, "fine");
    CHECK_EQ_INT(prompt_for(agent, "how are you?", &response), PHI_OK);
    rig_silent(r, true);
    CHECK_EQ_INT(rig_run(r, 40), 0);
    CHECK_EQ_INT(response_get(response, &info), PHI_OK);
    CHECK(phi_next_event(rig_runtime(r), &ev));
    CHECK_EQ_INT(phi_agent_new_session(agent, false), PHI_OK);
    CHECK_EQ_INT(response_get(response, &info), PHI_STALE);
    CHECK(!phi_next_event(rig_runtime(r), &ev));
    CHECK_EQ_STR(shown(agent), "user how are you?\nassistant fine\n");
    rig_free(r);
}

TEST(queues_go_on_into_the_new_session) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    CHECK_EQ_INT(phi_follow_up(agent, "and then?"), PHI_OK);
    (void)rig_step(r);
    CHECK_EQ_INT(phi_agent_new_session(agent, true), PHI_OK);
    CHECK_EQ_INT(phi_agent_get_info(agent).follow_ups, 1);
    rig_says(r, "first");
    talk(r, agent, "begin", "second");
    CHECK(strstr(rig_request(r, 1), "and then?") != NULL);
    rig_free(r);
}

TEST(the_first_run_of_a_new_session_has_no_parent_and_the_number_1) {
    rig *r = rig_new();
    phi_agent agent = agent_with_a_past(r, false);
    char want[128];
    phi_entry e;
    CHECK_EQ_INT(phi_agent_new_session(agent, false), PHI_OK);
    talk(r, agent, "go on", "yes");
    CHECK_EQ_INT(phi_thread_entry(phi_agent_thread(agent), 6, &e), PHI_OK);
    REQUIRE(e.kind == PHI_ENTRY_LOOP_START && e.loop != NULL);
    (void)snprintf(want, sizeof want, "%s.anthropic.test-model.1",
                   phi_agent_get_info(agent).session_id.at);
    CHECK_STR(e.loop_id, want);
    CHECK_EQ_INT(e.loop->parent_loop_id.len, 0);
    rig_free(r);
}

typedef struct work {
    phi_agent agent;
    int ended;
    bool frees;
} work;

static phi_status work_start(void *user_data, const phi_compaction_request *request, void **job) {
    (void)request;
    *job = user_data;
    return PHI_OK;
}

static phi_status work_poll(void *user_data, void *job, phi_rewrite *out) {
    (void)user_data;
    (void)job;
    (void)out;
    return PHI_BUSY;
}

static void work_end(void *user_data, void *job) {
    work *w = (work *)user_data;
    CHECK(job == w);
    w->ended++;
    if (w->frees) phi_agent_free(w->agent);
    if (w->frees) CHECK_EQ_INT(phi_step(w->agent.rt, 0), PHI_MISUSE);
}

static phi_status begin_anew(phi_agent agent, int how) {
    switch (how) {
    case 0: return phi_agent_new_session(agent, false);
    case 1: return phi_agent_new_session(agent, true);
    case 2: return phi_agent_reset(agent);
    case 3: return phi_agent_replace_messages(agent, NULL, 0);
    default: return phi_agent_use_thread(agent, "u");
    }
}

TEST(a_compaction_at_work_ends_with_the_old_log_and_its_end_may_free_the_agent) {
    int how, frees;
    for (how = 0; how < 5; how++)
        for (frees = 0; frees < 2; frees++) {
            work w;
            rig *r;
            phi_agent_desc desc;
            char much[1200];
            memset(&w, 0, sizeof w);
            memset(much, 'x', sizeof much);
            much[sizeof much - 1] = '\0';
            store = store_mem_new();
            r = rig_new();
            rig_mock(r);
            desc = desc_of(how == 4);
            desc.compaction.max_context_tokens = 1000;
            desc.compaction.system_prompt_tokens = 10;
            desc.compaction.budget_threshold_pct = 0.5;
            desc.compactor.start = work_start;
            desc.compactor.poll = work_poll;
            desc.compactor.end = work_end;
            desc.compactor.user_data = &w;
            w.agent = rig_agent(r, &desc);
            talk(r, w.agent, much, much);
            talk(r, w.agent, "go on", "yes");
            CHECK_EQ_INT(w.ended, 0);
            w.frees = frees != 0;
            CHECK_EQ_INT(begin_anew(w.agent, how), PHI_OK);
            CHECK_EQ_INT(w.ended, 1);
            CHECK_EQ_INT(phi_agent_alive(w.agent), frees == 0);
            rig_free(r);
            store_mem_free(store);
        }
}

/* ---- in a store ---- */

TEST(the_old_log_stays_in_the_store_and_the_new_one_is_beside_it) {
    rig *r;
    phi_agent agent;
    char id[64];
    uint64_t entries;
    store = store_mem_new();
    r = rig_new();
    agent = agent_with_a_past(r, true);
    entries = phi_thread_count(phi_agent_thread(agent));
    CHECK_EQ_INT(phi_thread_note(phi_agent_thread(agent), "mark", phi_str_of("1"), NULL), PHI_OK);
    CHECK_EQ_INT(phi_agent_new_session(agent, false), PHI_OK);
    CHECK_EQ_INT(phi_agent_get_info(agent).thread_id.len, 36);
    (void)snprintf(id, sizeof id, "%s", phi_agent_get_info(agent).thread_id.at);
    CHECK_EQ_INT(store_mem_count(store, "t"), entries + 1);
    CHECK_EQ_INT(store_mem_count(store, id), 6);
    CHECK(!store_mem_locked(store, "t") && store_mem_locked(store, id));
    talk(r, agent, "go on", "yes");
    CHECK_EQ_INT(store_mem_count(store, "t"), entries + 1);
    CHECK_EQ_INT(store_mem_count(store, id), phi_thread_count(phi_agent_thread(agent)));
    CHECK_EQ_INT(phi_agent_use_thread(agent, "t"), PHI_OK);
    CHECK_EQ_STR(shown(agent), PAST);
    CHECK_STR(phi_agent_get_info(agent).session_id, "session");
    CHECK_EQ_INT(phi_thread_count(phi_agent_thread(agent)), entries + 1);
    CHECK_EQ_INT(phi_agent_use_thread(agent, id), PHI_OK);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 8);
    CHECK(strncmp(shown(agent), CARRIED, sizeof CARRIED - 1) == 0);
    rig_free(r);
    store_mem_free(store);
}

/* What it took over leaves memory piece by piece, as what is said in it does. */
TEST(what_is_summed_up_in_the_new_log_leaves_memory) {
    static char text[1001];
    rig *r;
    phi_agent_desc desc;
    phi_agent agent;
    phi_content content;
    phi_message m;
    size_t full;
    int i;
    store = store_mem_new();
    r = rig_new();
    desc = desc_of(true);
    agent = rig_agent(r, &desc);
    memset(text, 'x', sizeof text - 1);
    m = user_of(&content, text);
    for (i = 0; i < 300; i++)
        CHECK_EQ_INT(phi_thread_append(phi_agent_thread(agent), &m, 1, NULL), PHI_OK);
    CHECK_EQ_INT(phi_agent_new_session(agent, false), PHI_OK);
    full = phi_agent_get_info(agent).memory_used;
    CHECK(full > 300000);
    sum_up(agent, 0, 279, "Nothing happened.");
    talk(r, agent, "go on", "yes");
    CHECK(phi_agent_get_info(agent).memory_used < full / 2);
    rig_free(r);
    store_mem_free(store);
}

TEST(an_empty_one_is_in_the_store_from_its_first_entry_on) {
    rig *r;
    phi_agent agent;
    char id[64];
    store = store_mem_new();
    r = rig_new();
    agent = agent_with_a_past(r, true);
    CHECK_EQ_INT(phi_agent_new_session(agent, true), PHI_OK);
    (void)snprintf(id, sizeof id, "%s", phi_agent_get_info(agent).thread_id.at);
    CHECK_EQ_INT(store_mem_count(store, id), 0);
    CHECK(store_mem_locked(store, id));
    talk(r, agent, "go on", "yes");
    CHECK_EQ_INT(store_mem_count(store, id), phi_thread_count(phi_agent_thread(agent)));
    rig_free(r);
    store_mem_free(store);
}

TEST(a_thread_that_the_host_has_attached_is_left_the_same_way) {
    rig *r;
    phi_agent agent;
    store = store_mem_new();
    r = rig_new();
    agent = agent_with_a_past(r, false);
    CHECK_EQ_INT(
        phi_thread_attach(phi_agent_thread(agent), store_mem_store(store), "a", NULL, NULL, 0),
        PHI_OK);
    CHECK_EQ_INT(phi_agent_new_session(agent, false), PHI_OK);
    CHECK_EQ_INT(phi_agent_get_info(agent).thread_id.len, 36);
    CHECK(store_mem_count(store, "a") > 6 && !store_mem_locked(store, "a"));
    CHECK_EQ_INT(phi_thread_attach(phi_agent_thread(agent), NULL, NULL, NULL, NULL, 0), PHI_OK);
    CHECK_EQ_INT(phi_agent_new_session(agent, false), PHI_OK); /* in no store any more */
    CHECK_STR(phi_agent_get_info(agent).thread_id, "");
    CHECK_EQ_STR(shown(agent), CARRIED);
    rig_free(r);
    store_mem_free(store);
}

TEST(a_call_that_was_lost_with_its_process_is_told_so_in_the_new_log) {
    rig *r;
    phi_agent agent;
    phi_agent_desc desc;
    static const char lost[] =
        "{\"seq\":0,\"kind\":\"message\",\"at\":1,\"message\":{\"role\":\"user\",\"content\":"
        "[{\"type\":\"text\",\"text\":\"hi\"}],\"timestamp\":1}}\n"
        "{\"seq\":1,\"kind\":\"message\",\"at\":1,\"message\":{\"role\":\"assistant\",\"content\":"
        "[{\"type\":\"toolCall\",\"id\":\"c9\",\"name\":\"echo\",\"arguments\":{}}],"
        "\"stopReason\":\"toolUse\",\"model\":\"m\",\"provider\":\"p\",\"usage\":{},"
        "\"timestamp\":1}}\n";
    store = store_mem_new();
    r = rig_new();
    store_mem_set(store, "t", lost, sizeof lost - 1);
    desc = desc_of(true);
    agent = rig_agent(r, &desc);
    REQUIRE(agent.rt != NULL);
    CHECK_EQ_INT(phi_agent_new_session(agent, false), PHI_OK);
    talk(r, agent, "go on", "yes");
    CHECK(strstr(rig_request(r, 0), "The process ended before this call had a result") != NULL);
    rig_free(r);
    store_mem_free(store);
}

/* ---- trouble ---- */

static void unchanged(rig *r, phi_agent agent, bool stored, uint64_t entries) {
    (void)r;
    CHECK_STR(phi_agent_get_info(agent).session_id, "session");
    CHECK_STR(phi_agent_get_info(agent).loop_id, "session.anthropic.test-model.2");
    CHECK_STR(phi_agent_get_info(agent).thread_id, stored ? "t" : "");
    CHECK_EQ_INT(phi_thread_count(phi_agent_thread(agent)), entries);
    CHECK_EQ_STR(shown(agent), PAST);
    if (stored) CHECK(store_mem_locked(store, "t"));
}

static bool fail_at(int n, bool stored, bool empty) {
    rig *r;
    phi_agent agent;
    uint64_t entries;
    size_t appends;
    phi_status status;
    bool tripped;
    store = store_mem_new();
    r = rig_new();
    agent = agent_with_a_past(r, stored);
    entries = phi_thread_count(phi_agent_thread(agent));
    appends = store_mem_appends(store, NULL, NULL);
    test_alloc_fail_at(n);
    status = phi_agent_new_session(agent, empty);
    tripped = test_alloc_tripped();
    test_alloc_fail_at(-1);
    if (status != PHI_OK) {
        CHECK(tripped);
        CHECK_EQ_INT(status, PHI_NO_MEMORY);
        unchanged(r, agent, stored, entries);
        /* no part of a log that is not there has come into the store */
        CHECK_EQ_INT(store_mem_appends(store, NULL, NULL), appends);
        if (!stored) CHECK_EQ_STR(last_words(r), "phi_agent_new_session: out of memory");
        CHECK_EQ_INT(phi_agent_new_session(agent, empty), PHI_OK);
    }
    CHECK_EQ_STR(shown(agent), empty ? "" : CARRIED);
    talk(r, agent, "go on", "yes");
    if (stored)
        CHECK_EQ_INT(phi_thread_get_info(phi_agent_thread(agent)).stored,
                     phi_thread_count(phi_agent_thread(agent)));
    rig_free(r);
    store_mem_free(store);
    return tripped;
}

TEST(without_memory_nothing_changes) {
    int n, how;
    for (how = 0; how < 4; how++)
        for (n = 0; fail_at(n, (how & 1) != 0, (how & 2) != 0) && n < 500; n++) {}
}

TEST(a_store_that_fails_at_any_call_changes_nothing) {
    int n;
    bool failed = true;
    for (n = 0; failed; n++) {
        rig *r;
        phi_agent agent;
        uint64_t entries;
        phi_status status;
        store = store_mem_new();
        r = rig_new();
        agent = agent_with_a_past(r, true);
        CHECK_EQ_INT(phi_thread_note(phi_agent_thread(agent), "mark", phi_str_of("1"), NULL),
                     PHI_OK);
        entries = phi_thread_count(phi_agent_thread(agent));
        store_mem_fail_at(store, n, PHI_FULL);
        status = phi_agent_new_session(agent, false);
        store_mem_fail_at(store, -1, PHI_FULL);
        failed = status != PHI_OK;
        if (failed) {
            CHECK_EQ_INT(status, PHI_FULL);
            if (n == 0)
                CHECK_EQ_STR(last_words(r),
                             "phi_agent_new_session: thread \"t\": the store failed on demand");
            unchanged(r, agent, true, entries);
            CHECK_EQ_INT(phi_agent_new_session(agent, false), PHI_OK);
        }
        CHECK_EQ_STR(shown(agent), CARRIED);
        rig_free(r);
        store_mem_free(store);
    }
    CHECK_EQ_INT(n, 5); /* the old log is written; lock, read, append */
}

static size_t threads_in(store_mem *from) {
    phi_memory memory;
    phi_arena arena;
    const phi_store_item *items = NULL;
    const phi_store *s = store_mem_store(from);
    size_t count = 0;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(s->list_threads(s->user_data, &arena, &items, &count, NULL, 0), PHI_OK);
    phi_arena_free(&arena);
    return count;
}

TEST(a_log_that_could_not_be_stored_as_a_whole_is_taken_out_again) {
    rig *r;
    phi_agent agent;
    phi_agent_desc desc;
    phi_content content;
    phi_message m = user_of(&content, "one of many");
    int i;
    store = store_mem_new();
    r = rig_new();
    desc = desc_of(true);
    agent = rig_agent(r, &desc);
    for (i = 0; i < 600; i++)
        CHECK_EQ_INT(phi_thread_append(phi_agent_thread(agent), &m, 1, NULL), PHI_OK);
    CHECK_EQ_INT(phi_thread_sync(phi_agent_thread(agent), NULL, 0), PHI_OK);
    store_mem_fail_at(store, 4, PHI_FULL); /* lock, read, and two of three batches */
    CHECK_EQ_INT(phi_agent_new_session(agent, false), PHI_FULL);
    CHECK_EQ_INT(threads_in(store), 1);
    CHECK_STR(phi_agent_get_info(agent).thread_id, "t");
    store_mem_lie(store); /* written, and it says that it was not */
    CHECK_EQ_INT(phi_agent_new_session(agent, false), PHI_IO);
    CHECK_EQ_INT(threads_in(store), 1);
    CHECK_EQ_INT(phi_agent_new_session(agent, false), PHI_OK);
    CHECK_EQ_INT(threads_in(store), 2);
    CHECK_EQ_INT(store_mem_count(store, phi_agent_get_info(agent).thread_id.at), 600);
    rig_free(r);
    store_mem_free(store);
}

/* The same seed makes the same ids, as a tape that is played does. */
TEST(an_id_that_the_store_has_is_not_written_over) {
    rig *r;
    phi_agent agent;
    char id[64];
    uint64_t entries;
    int empty;
    store = store_mem_new();
    r = rig_new();
    agent = agent_with_a_past(r, true);
    CHECK_EQ_INT(phi_agent_new_session(agent, false), PHI_OK);
    (void)snprintf(id, sizeof id, "%s", phi_agent_get_info(agent).thread_id.at);
    rig_free(r);
    entries = store_mem_count(store, id);
    for (empty = 0; empty < 2; empty++) {
        phi_agent_desc desc = desc_of(true);
        char words[200];
        desc.thread_id = empty != 0 ? "v" : "u";
        r = rig_new();
        agent = rig_agent(r, &desc);
        past(r, agent);
        CHECK_EQ_INT(phi_agent_new_session(agent, empty != 0), PHI_MISUSE);
        (void)snprintf(words, sizeof words,
                       "phi_agent_new_session: thread \"%s\": the store has it already", id);
        CHECK_EQ_STR(last_words(r), words);
        CHECK_EQ_INT(store_mem_count(store, id), entries);
        CHECK(!store_mem_locked(store, id));
        CHECK_STR(phi_agent_get_info(agent).thread_id, desc.thread_id);
        CHECK_EQ_STR(shown(agent), PAST);
        rig_free(r);
    }
    store_mem_free(store);
}

TEST(it_is_refused_while_a_run_goes_on_and_for_a_thread_that_is_the_host_s) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent = rig_agent(r, NULL), none;
    phi_content content;
    phi_message prompt = user_of(&content, "hello");
    phi_thread *thread = phi_thread_new(rig_runtime(r), 0);
    phi_run_desc run;
    memset(&none, 0, sizeof none);
    CHECK_EQ_INT(phi_agent_new_session(none, false), PHI_BAD_ARG);
    rig_hangs(r, "");
    CHECK_EQ_INT(phi_prompt(agent, "hello"), PHI_OK);
    (void)rig_step(r);
    CHECK_EQ_INT(phi_agent_new_session(agent, true), PHI_BUSY);
    CHECK_EQ_STR(last_words(r), "phi_agent_new_session: a run is going on");
    phi_agent_free(agent);
    CHECK_EQ_INT(phi_agent_new_session(agent, false), PHI_STALE);
    CHECK_EQ_STR(last_words(r), "phi_agent_new_session: the agent is gone");
    memset(&run, 0, sizeof run);
    run.agent = &desc;
    run.thread = thread;
    run.prompts = &prompt;
    run.prompt_count = 1;
    rig_says(r, "fine");
    agent = phi_run(rig_runtime(r), &run);
    CHECK_EQ_INT(phi_agent_new_session(agent, false), PHI_BUSY);
    rig_silent(r, true);
    CHECK_EQ_INT(rig_run(r, 40), 0);
    CHECK_EQ_INT(phi_agent_new_session(agent, false), PHI_MISUSE);
    CHECK_EQ_STR(last_words(r), "phi_agent_new_session: the thread is not its own");
    CHECK_EQ_INT(phi_thread_count(thread), 6);
    rig_free(r);
}

/* ---- rotation ---- */

TEST(a_rotation_begins_a_log_too_and_holds_what_was_shown) {
    rig *r;
    phi_agent agent;
    bool rotated = true;
    store = store_mem_new();
    r = rig_new();
    agent = agent_with_a_past(r, true);
    rig_pass_ms(r, 1000);
    CHECK_EQ_INT(phi_agent_rotate(agent, 60000, &rotated), PHI_OK);
    CHECK(!rotated);
    CHECK_STR(phi_agent_get_info(agent).thread_id, "t");
    store_mem_fail_at(store, 0, PHI_IO);
    CHECK_EQ_INT(phi_agent_rotate(agent, 500, &rotated), PHI_IO);
    CHECK(!rotated);
    CHECK_STR(phi_agent_get_info(agent).session_id, "session");
    CHECK_EQ_INT(phi_agent_rotate(agent, 500, &rotated), PHI_OK);
    CHECK(rotated);
    CHECK_EQ_INT(phi_agent_get_info(agent).thread_id.len, 36);
    CHECK_EQ_STR(shown(agent), CARRIED);
    CHECK_EQ_INT(phi_agent_rotate(agent, 500, &rotated), PHI_OK);
    CHECK(!rotated);
    rig_free(r);
    store_mem_free(store);
}

/* ---- saved right after ---- */

TEST(a_snapshot_right_after_goes_on_in_the_new_session) {
    rig *r = rig_new(), *other = rig_new();
    phi_agent agent = agent_with_a_past(r, false), loaded;
    phi_agent_desc desc = desc_of(false);
    phi_memory memory;
    phi_arena arena;
    phi_str text = {"", 0};
    char want[128];
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_agent_new_session(agent, false), PHI_OK);
    CHECK_EQ_INT(phi_agent_snapshot(agent, &arena, &text), PHI_OK);
    desc.ids.session_id = NULL;
    loaded = phi_agent_restore(rig_runtime(other), &desc, text, PHI_RESTORE_RESUME);
    REQUIRE(loaded.rt != NULL);
    CHECK_EQ_STR(shown(loaded), CARRIED);
    CHECK(
        phi_str_equal(phi_agent_get_info(loaded).session_id, phi_agent_get_info(agent).session_id));
    CHECK_STR(phi_agent_get_info(loaded).loop_id, "");
    talk(other, loaded, "go on", "yes");
    talk(r, agent, "go on", "yes");
    CHECK_EQ_STR(rig_request(other, 0), rig_request(r, 3));
    (void)snprintf(want, sizeof want, "%s.anthropic.test-model.1",
                   phi_agent_get_info(agent).session_id.at);
    CHECK_STR(phi_agent_get_info(loaded).loop_id, want);
    phi_arena_free(&arena);
    rig_free(other);
    rig_free(r);
}

TEST_MAIN(
    TEST_ENTRY(the_new_log_begins_with_what_the_old_one_showed),
    TEST_ENTRY(an_empty_one_begins_with_nothing),
    TEST_ENTRY(what_a_model_is_sent_next_is_the_same_byte_for_byte),
    TEST_ENTRY(what_was_compacted_is_compacted_further_as_before),
    TEST_ENTRY(an_answer_s_usage_of_a_list_that_was_rewritten_since_counts_no_more_than_before),
    TEST_ENTRY(ids_of_calls_stay_unique), TEST_ENTRY(another_lane_stays_behind_with_what_it_shows),
    TEST_ENTRY(a_fork_keeps_that_a_message_is_a_summary),
    TEST_ENTRY(responses_are_stale_and_events_are_purged),
    TEST_ENTRY(queues_go_on_into_the_new_session),
    TEST_ENTRY(the_first_run_of_a_new_session_has_no_parent_and_the_number_1),
    TEST_ENTRY(a_compaction_at_work_ends_with_the_old_log_and_its_end_may_free_the_agent),
    TEST_ENTRY(the_old_log_stays_in_the_store_and_the_new_one_is_beside_it),
    TEST_ENTRY(what_is_summed_up_in_the_new_log_leaves_memory),
    TEST_ENTRY(an_empty_one_is_in_the_store_from_its_first_entry_on),
    TEST_ENTRY(a_thread_that_the_host_has_attached_is_left_the_same_way),
    TEST_ENTRY(a_call_that_was_lost_with_its_process_is_told_so_in_the_new_log),
    TEST_ENTRY(without_memory_nothing_changes),
    TEST_ENTRY(a_store_that_fails_at_any_call_changes_nothing),
    TEST_ENTRY(a_log_that_could_not_be_stored_as_a_whole_is_taken_out_again),
    TEST_ENTRY(an_id_that_the_store_has_is_not_written_over),
    TEST_ENTRY(it_is_refused_while_a_run_goes_on_and_for_a_thread_that_is_the_host_s),
    TEST_ENTRY(a_rotation_begins_a_log_too_and_holds_what_was_shown),
    TEST_ENTRY(a_snapshot_right_after_goes_on_in_the_new_session))
