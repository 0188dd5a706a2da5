/* Entries that have left memory are read back when somebody asks, and where that fails nothing has changed: each
   question is asked of a log most of which is away, and answered as one answers that was never in a store. */
#include "agent/long_talk.h"

#include "agent/response.h"
#include "agent/snapshot.h"
#include "record/session.h"
#include "support/store_mem.h"
#include "log/revert.h"
#include "support/request.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "loop/hook.h"

enum { WINDOW = 8000, TURNS = 30 };

/* ---- the scene ---- */

typedef struct scene {
    bool stored;
    store_mem *store;
    talk_store watched;
    rig *r;
    phi_tool tool;
    phi_agent agent;
    phi_thread *thread;
    uint64_t aside; /* the last answer of the other lane */
} scene;

static void some_turns(scene *s, unsigned first, unsigned count) {
    unsigned turn;
    for (turn = first; turn < first + count; turn++)
        talk_answers(s->r, turn, 150, turn + 1 < first + count ? 700 + turn % 5 * 400 : 0);
    CHECK_EQ_INT(phi_prompt(s->agent, "Look around."), PHI_OK);
    talk_run(s->r);
}

static phi_message user_message(phi_content *content, const char *text) {
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

static phi_status replace(phi_thread *thread, const char *op_id, const char *lane, uint64_t from,
                          uint64_t to, const char *text, bool *duplicate) {
    phi_content content;
    phi_message m = user_message(&content, text);
    phi_span span;
    phi_rewrite r;
    memset(&span, 0, sizeof span);
    memset(&r, 0, sizeof r);
    span.from = from;
    span.to = to;
    span.messages = &m;
    span.message_count = 1;
    span.summary = true;
    r.op_id = op_id;
    r.lane = lane;
    r.spans = &span;
    r.span_count = 1;
    return phi_thread_rewrite(thread, &r, duplicate, NULL, 0);
}

/* Puts one message in the place of all that is shown. */
static void replace_all(scene *s, const char *op_id, const char *text) {
    talk_scratch scratch;
    const phi_view_item *items;
    size_t count = 0;
    talk_open(&scratch);
    CHECK_EQ_INT(phi_thread_view(s->thread, NULL, UINT64_MAX, &scratch.arena, &items, &count),
                 PHI_OK);
    if (CHECK(count > 0))
        CHECK_EQ_INT(
            replace(s->thread, op_id, NULL, items[0].from, items[count - 1].to, text, NULL),
            PHI_OK);
    talk_close(&scratch);
}

static uint64_t last_shown(scene *s) {
    talk_scratch scratch;
    const phi_view_item *items;
    size_t count = 0;
    uint64_t last = 0;
    talk_open(&scratch);
    CHECK_EQ_INT(phi_thread_view(s->thread, NULL, UINT64_MAX, &scratch.arena, &items, &count),
                 PHI_OK);
    if (CHECK(count > 0)) last = items[count - 1].to;
    talk_close(&scratch);
    return last;
}

/* Two lanes of thirty turns each, compacted again and again; on the active one all but the end is gone from view, by
   a rewrite of the host's, and all of it has left memory. */
static void begin(scene *s, bool stored) {
    phi_agent_desc desc;
    memset(s, 0, sizeof *s);
    s->stored = stored;
    s->store = store_mem_new();
    s->r = rig_new();
    s->tool = talk_tool();
    desc = talk_desc(&s->tool, 1, WINDOW);
    if (stored) {
        desc.store = talk_watch(&s->watched, store_mem_store(s->store));
        desc.thread_id = "t";
    }
    s->agent = rig_agent(s->r, &desc);
    s->thread = phi_agent_thread(s->agent);
    some_turns(s, 0, 5);
    CHECK_EQ_INT(phi_thread_note(s->thread, "mark", phi_str_of("{\"at\":1}"), NULL), PHI_OK);
    CHECK_EQ_INT(phi_thread_fork_lane(s->thread, "way", NULL, UINT64_MAX), PHI_OK);
    CHECK_EQ_INT(phi_thread_switch(s->thread, "way"), PHI_OK);
    some_turns(s, 100, TURNS);
    s->aside = last_shown(s);
    CHECK_EQ_INT(phi_thread_switch(s->thread, PHI_LANE_DEFAULT), PHI_OK);
    some_turns(s, 200, TURNS);
    replace_all(s, "gone", "All that was.");
    some_turns(s, 300, 9); /* of 16 KB and more: no compaction follows */
    (void)rig_step(s->r);
    (void)rig_step(s->r);
    s->watched.reads = 0;
}

static void end(scene *s) {
    rig_free(s->r);
    store_mem_free(s->store);
}

/* ---- questions ---- */

typedef struct question {
    const char *name;
    uint64_t (*ask)(scene *s, phi_status *status); /* a number for the answer; 0: it failed */
    bool changes;                                  /* the log, where it did not fail */
} question;

static uint64_t ask_entry(scene *s, phi_status *status) { return talk_entry(s->thread, 1, status); }

static uint64_t ask_rewrite(scene *s, phi_status *status) {
    uint64_t seq = 0, sum = 0;
    phi_entry e;
    *status = PHI_OK;
    for (; *status == PHI_OK && sum == 0; seq++) {
        *status = phi_thread_entry(s->thread, seq, &e);
        if (*status == PHI_OK && e.kind == PHI_ENTRY_REWRITE) sum = talk_mix_entry(1, &e);
    }
    return sum;
}

static uint64_t ask_message(scene *s, phi_status *status) {
    const phi_message *m = phi_thread_message_at(phi_agent_thread(s->agent), 2);
    *status = m != NULL ? PHI_OK : phi_last_error(rig_runtime(s->r)).status;
    return m != NULL ? talk_mix_message(1, m) : 0;
}

static uint64_t ask_thread_message(scene *s, phi_status *status) {
    const phi_message *m = phi_thread_message_at(s->thread, 3);
    *status = m != NULL ? PHI_OK : phi_last_error(rig_runtime(s->r)).status;
    return m != NULL ? talk_mix_message(1, m) : 0;
}

static uint64_t ask_earlier(scene *s, phi_status *status) {
    return talk_view(s->thread, NULL, 14, status);
}

static uint64_t ask_lane(scene *s, phi_status *status) {
    return talk_view(s->thread, "way", UINT64_MAX, status);
}

static uint64_t ask_lane_earlier(scene *s, phi_status *status) {
    return talk_view(s->thread, "way", 60, status);
}

static uint64_t ask_log(scene *s, phi_status *status) { return talk_log(s->thread, status); }
static uint64_t ask_saved(scene *s, phi_status *status) { return talk_saved(s->agent, status); }
static uint64_t ask_fork(scene *s, phi_status *status) { return talk_fork(s->agent, 20, status); }

static uint64_t ask_snapshot(scene *s, phi_status *status) {
    talk_scratch scratch;
    phi_str text = {"", 0};
    uint64_t sum = 0;
    talk_open(&scratch);
    *status = phi_agent_snapshot(s->agent, &scratch.arena, &text);
    if (*status == PHI_OK) sum = talk_mix_str(1, text);
    talk_close(&scratch);
    return sum;
}

static uint64_t ask_session(scene *s, phi_status *status) {
    phi_session *session = NULL;
    talk_scratch scratch;
    phi_str text = {"", 0};
    phi_allocator allocator = test_allocator();
    uint64_t sum = 0;
    talk_open(&scratch);
    *status = phi_session_of_thread(s->thread, &allocator, &session);
    if (*status == PHI_OK) *status = phi_session_to_json(session, 0, &scratch.arena, &text);
    if (*status == PHI_OK) sum = talk_mix_str(1, text);
    phi_session_free(session);
    talk_close(&scratch);
    return sum;
}

static uint64_t after(scene *s, phi_status status) {
    return status == PHI_OK ? talk_face(s->agent) : 0;
}

static uint64_t ask_fork_lane(scene *s, phi_status *status) {
    *status = phi_thread_fork_lane(s->thread, "new", NULL, 14);
    return after(s, *status);
}

static uint64_t ask_switch(scene *s, phi_status *status) {
    *status = phi_thread_switch(s->thread, "way");
    return after(s, *status);
}

static uint64_t ask_revoke(scene *s, phi_status *status) {
    phi_rewrite r;
    memset(&r, 0, sizeof r);
    r.revoke = "gone";
    *status = phi_thread_rewrite(s->thread, &r, NULL, NULL, 0);
    return after(s, *status);
}

static uint64_t ask_other_lane(scene *s, phi_status *status) {
    *status = replace(s->thread, "aside", "way", s->aside, s->aside, "Looked about.", NULL);
    return after(s, *status);
}

static const question questions[] = {
    {"an entry", ask_entry, false},
    {"a rewrite", ask_rewrite, false},
    {"a message of the agent", ask_message, false},
    {"a message of the thread", ask_thread_message, false},
    {"an earlier view", ask_earlier, false},
    {"another lane", ask_lane, false},
    {"another lane, earlier", ask_lane_earlier, false},
    {"the log", ask_log, false},
    {"the history", ask_saved, false},
    {"a fork of its own", ask_fork, false},
    {"a snapshot", ask_snapshot, false},
    {"a session", ask_session, false},
    {"a lane", ask_fork_lane, true},
    {"a switch", ask_switch, true},
    {"an undo", ask_revoke, true},
    {"a rewrite of another lane", ask_other_lane, true},
};

/* What the same question gets where nothing is ever away. */
static uint64_t answer_of(const question *q) {
    static uint64_t answers[PHI__COUNT(questions)];
    uint64_t *answer = &answers[q - questions];
    scene plain;
    phi_status status;
    if (*answer != 0) return *answer;
    begin(&plain, false);
    *answer = q->ask(&plain, &status);
    CHECK_EQ_INT(status, PHI_OK);
    CHECK(*answer != 0);
    end(&plain);
    return *answer;
}

static void same_answer(const question *q, uint64_t got) { CHECK(got == answer_of(q)); }

static void each_question(void (*test)(scene *s, const question *q)) {
    size_t i;
    for (i = 0; i < PHI__COUNT(questions); i++) {
        scene s;
        int before = test_failures();
        begin(&s, true);
        test(&s, &questions[i]);
        end(&s);
        if (test_failures() != before) printf("  %s\n", questions[i].name);
    }
}

/* ---- what is away comes back ---- */

static void is_answered(scene *s, const question *q) {
    phi_status status;
    uint64_t got = q->ask(s, &status);
    CHECK_EQ_INT(status, PHI_OK);
    same_answer(q, got);
    CHECK_EQ_INT(s->watched.reads, 1);
    CHECK(talk_log(s->thread, NULL) == talk_log(s->thread, NULL));
    CHECK_EQ_INT(s->watched.reads, 1); /* it is there from then on */
}

TEST(what_is_away_is_read_back_once_for_any_question) { each_question(is_answered); }

TEST(what_is_shown_is_never_read_back) {
    scene s;
    scene plain;
    talk_scratch scratch;
    phi_str text = {"", 0};
    begin(&s, true);
    begin(&plain, false);
    s.watched.read_says = PHI_IO;
    CHECK(talk_face(s.agent) == talk_face(plain.agent));
    CHECK(talk_mix_message(
              1, phi_thread_message_at(phi_agent_thread(s.agent),
                                       phi_thread_message_count(phi_agent_thread(s.agent)) - 1)) ==
          talk_mix_message(
              1, phi_thread_message_at(phi_agent_thread(plain.agent),
                                       phi_thread_message_count(phi_agent_thread(s.agent)) - 1)));
    CHECK(talk_entry(s.thread, phi_thread_count(s.thread) - 1, NULL) ==
          talk_entry(plain.thread, phi_thread_count(s.thread) - 1, NULL));
    talk_open(&scratch);
    CHECK_EQ_INT(phi_agent_explain(s.agent, &scratch.arena, &text), PHI_OK);
    talk_close(&scratch);
    some_turns(&s, 400, TURNS); /* it goes on, and is compacted, without looking back */
    some_turns(&plain, 400, TURNS);
    CHECK(talk_face(s.agent) == talk_face(plain.agent));
    CHECK_EQ_INT(phi_thread_switch(s.thread, NULL), PHI_OK);
    CHECK_EQ_INT(phi_thread_switch(plain.thread, NULL), PHI_OK);
    CHECK(talk_face(s.agent) == talk_face(plain.agent));
    CHECK_EQ_INT(s.watched.reads, 0);
    end(&plain);
    end(&s);
}

TEST(an_id_that_is_away_is_known_all_the_same) {
    scene s;
    bool duplicate = false;
    uint64_t count, face;
    begin(&s, true);
    some_turns(&s, 400, TURNS); /* the rewrite "gone" is long gone */
    (void)rig_step(s.r);
    count = phi_thread_count(s.thread);
    face = talk_face(s.agent);
    CHECK_EQ_INT(replace(s.thread, "gone", NULL, 1, 2, "Again.", &duplicate), PHI_OK);
    CHECK(duplicate);
    CHECK_EQ_INT(phi_thread_count(s.thread), count);
    CHECK(talk_face(s.agent) == face);
    end(&s);
}

/* An id of a call that is away cannot be used again: its results would be ambiguous. */
TEST(a_call_that_is_away_is_known_all_the_same) {
    scene s, plain;
    begin(&s, true);
    begin(&plain, false);
    talk_answers(s.r, 1, 100, 300);
    talk_answers(plain.r, 1, 100, 300);
    talk_answers(s.r, 2, 100, 0);
    talk_answers(plain.r, 2, 100, 0);
    CHECK_EQ_INT(phi_prompt(s.agent, "Again."), PHI_OK);
    CHECK_EQ_INT(phi_prompt(plain.agent, "Again."), PHI_OK);
    talk_run(s.r);
    talk_run(plain.r);
    CHECK_EQ_INT(s.watched.reads, 0);
    CHECK(talk_face(s.agent) == talk_face(plain.agent));
    CHECK(talk_log(s.thread, NULL) == talk_log(plain.thread, NULL));
    end(&plain);
    end(&s);
}

TEST(a_message_that_is_no_longer_shown_is_good_until_the_next_step) {
    scene s;
    const phi_message *list[200];
    uint64_t sums[200];
    size_t i, count;
    begin(&s, true);
    count = phi_thread_message_count(phi_agent_thread(s.agent));
    REQUIRE(count > 40 && count < 200);
    for (i = 0; i < count; i++) { /* the newest ones before the others are read back */
        size_t at = count - 1 - i;
        list[at] = phi_thread_message_at(phi_agent_thread(s.agent), at);
        REQUIRE(list[at] != NULL);
        sums[at] = talk_mix_message(1, list[at]);
    }
    CHECK_EQ_INT(phi_thread_switch(s.thread, "way"), PHI_OK);
    CHECK_EQ_INT(phi_thread_switch(s.thread, PHI_LANE_DEFAULT), PHI_OK);
    CHECK(talk_log(s.thread, NULL) != 0);
    replace_all(&s, "once more", "All that was, again.");
    for (i = 0; i < count; i++) CHECK(talk_mix_message(1, list[i]) == sums[i]);
    (void)rig_step(s.r);
    for (i = 0; i < count; i++) /* and each is the same when it is asked for again */
        CHECK(talk_mix_message(1, phi_thread_message_at(phi_agent_thread(s.agent), i)) == sums[i]);
    end(&s);
}

TEST(a_message_that_is_shown_stays_where_it_is) {
    scene s;
    talk_scratch scratch;
    const phi_view_item *items = NULL;
    const phi_message *kept[100];
    uint64_t sums[100];
    size_t count = 0, i;
    begin(&s, true);
    talk_open(&scratch);
    CHECK_EQ_INT(phi_thread_view(s.thread, NULL, UINT64_MAX, &scratch.arena, &items, &count),
                 PHI_OK);
    REQUIRE(count > 3 && count < 100);
    for (i = 0; i < count; i++) {
        kept[i] = items[i].message;
        sums[i] = talk_mix_message(1, kept[i]);
    }
    CHECK(talk_log(s.thread, NULL) != 0);
    some_turns(&s, 400, 2);
    replace(s.thread, "one", NULL, items[1].from, items[2].to, "In short.", NULL);
    (void)rig_step(s.r);
    (void)rig_step(s.r);
    for (i = 3; i < count; i++) CHECK(talk_mix_message(1, kept[i]) == sums[i]);
    talk_close(&scratch);
    end(&s);
}

static int second_turns;

static phi_verdict waits_in_the_second_turn(void *user_data, phi_hook *hook) {
    (void)user_data;
    return hook->turn_index == 1 && second_turns++ == 0 ? PHI_WAIT : PHI_ALLOW;
}

/* It calls a tool whose result is long, and the run is cancelled in its next turn. Later it is out
   of view. */
TEST(an_answer_that_a_response_has_stays_in_memory) {
    scene s;
    phi_agent_desc desc;
    phi_response response;
    phi_response_info info;
    char loop_id[100];
    uint64_t sum;
    memset(&s, 0, sizeof s);
    s.store = store_mem_new();
    s.r = rig_new();
    s.tool = talk_tool();
    desc = talk_desc(&s.tool, 1, WINDOW);
    desc.store = talk_watch(&s.watched, store_mem_store(s.store));
    desc.thread_id = "t";
    desc.hook_fn = waits_in_the_second_turn;
    desc.hook_points = PHI_HOOK_TRANSFORM_CONTEXT;
    s.agent = rig_agent(s.r, &desc);
    s.thread = phi_agent_thread(s.agent);
    second_turns = 0;
    talk_answers(s.r, 500, 150, 12000);
    CHECK_EQ_INT(prompt_for(s.agent, "Where is it?", &response), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 40), 1);
    CHECK_EQ_INT(phi_abort(s.agent), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 40), 0);
    CHECK_EQ_INT(response_get(response, &info), PHI_OK);
    CHECK_EQ_INT(info.status, PHI_CANCELLED);
    REQUIRE(info.message != NULL);
    CHECK(talk_is(info.text, 500, false));
    sum = talk_mix_message(1, info.message);
    (void)snprintf(loop_id, sizeof loop_id, "%.*s", (int)info.loop_id.len, info.loop_id.at);
    some_turns(&s, 400, TURNS);
    (void)rig_step(s.r);
    (void)rig_step(s.r);
    s.watched.reads = 0;
    CHECK_EQ_INT(response_get(response, &info), PHI_OK);
    REQUIRE(info.message != NULL);
    CHECK(talk_is(info.text, 500, false));
    CHECK(talk_mix_message(1, info.message) == sum);
    CHECK_STR(info.loop_id, loop_id);
    CHECK_EQ_INT(s.watched.reads, 0);
    end(&s);
}

/* A call without its result: a fork of all is cut in front of it. */
static void calls(scene *s) {
    phi_content c = PHI_ZERO;
    phi_message m = PHI_ZERO;
    c.kind = PHI_CONTENT_TOOL_CALL;
    c.id = PHI__LIT("open");
    c.name = PHI__LIT("look");
    c.arguments = PHI__LIT("{}");
    m.role = PHI_ROLE_ASSISTANT;
    m.stop_reason = PHI_STOP_REASON_TOOL_USE;
    m.content = &c;
    m.content_count = 1;
    CHECK_EQ_INT(phi_thread_append(s->thread, &m, 1, NULL), PHI_OK);
}

TEST(a_fork_of_all_that_is_cut_reads_back_what_it_needs) {
    scene s, plain;
    begin(&s, true);
    begin(&plain, false);
    calls(&s);
    calls(&plain);
    CHECK(talk_fork(s.agent, UINT64_MAX, NULL) == talk_fork(plain.agent, UINT64_MAX, NULL));
    CHECK(s.watched.reads == 1);
    end(&plain);
    end(&s);
}

TEST(what_left_memory_is_there_when_the_thread_leaves_its_store) {
    scene s, plain;
    char words[200];
    begin(&s, true);
    begin(&plain, false);
    CHECK_EQ_INT(phi_thread_attach(s.thread, NULL, NULL, NULL, NULL, 0), PHI_OK);
    CHECK(talk_log(s.thread, NULL) == talk_log(plain.thread, NULL));
    CHECK_EQ_INT(phi_thread_attach(s.thread, store_mem_store(s.store), "elsewhere", NULL, words,
                                   sizeof words),
                 PHI_OK);
    CHECK_EQ_STR(store_mem_text(s.store, "elsewhere"), store_mem_text(s.store, "t"));
    some_turns(&s, 400, TURNS);
    some_turns(&plain, 400, TURNS);
    (void)rig_step(s.r);
    CHECK(talk_log(s.thread, NULL) == talk_log(plain.thread, NULL));
    end(&plain);
    end(&s);
}

TEST(a_history_that_was_cleared_leaves_memory_and_comes_back_with_its_lane) {
    scene s;
    uint64_t face;
    size_t full, empty;
    begin(&s, true);
    face = talk_view(s.thread, NULL, UINT64_MAX, NULL);
    full = phi_agent_get_info(s.agent).memory_used;
    CHECK_EQ_INT(phi_agent_replace_messages(s.agent, NULL, 0), PHI_OK);
    (void)rig_step(s.r);
    (void)rig_step(s.r);
    empty = phi_agent_get_info(s.agent).memory_used;
    CHECK(empty < full);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(s.agent)), 0);
    CHECK_EQ_INT(phi_thread_switch(s.thread, PHI_LANE_DEFAULT), PHI_OK);
    CHECK(talk_view(s.thread, NULL, UINT64_MAX, NULL) == face);
    end(&s);
}

/* A rewrite, undone before and after it has left memory, by one that stays there or leaves as well. */
static void undo_some(scene *s, size_t turns) {
    talk_scratch scratch;
    const phi_view_item *items;
    phi_rewrite undo;
    size_t count = 0;
    talk_open(&scratch);
    CHECK_EQ_INT(phi_thread_view(s->thread, NULL, UINT64_MAX, &scratch.arena, &items, &count),
                 PHI_OK);
    if (CHECK(count > 8)) {
        CHECK_EQ_INT(replace(s->thread, "one", NULL, items[1].from, items[1].to, "One.", NULL),
                     PHI_OK);
        CHECK_EQ_INT(replace(s->thread, "two", NULL, items[2].from, items[3].to, "Two.", NULL),
                     PHI_OK);
    }
    talk_close(&scratch);
    memset(&undo, 0, sizeof undo);
    undo.revoke = "one";
    CHECK_EQ_INT(phi_thread_rewrite(s->thread, &undo, NULL, NULL, 0), PHI_OK);
    CHECK_EQ_INT(phi_thread_switch(s->thread, "way"), PHI_OK); /* what it shows pins nothing here */
    some_turns(s, 600, TURNS);
    CHECK_EQ_INT(phi_thread_switch(s->thread, PHI_LANE_DEFAULT), PHI_OK);
    (void)rig_step(s->r);
    undo.revoke = "two";
    CHECK_EQ_INT(phi_thread_rewrite(s->thread, &undo, NULL, NULL, 0), PHI_OK);
    (void)rig_step(s->r);
    if (turns > 0) replace_all(s, "all of it", "All that was.");
    if (turns > 0) some_turns(s, 700, (unsigned)turns);
    (void)rig_step(s->r);
    (void)rig_step(s->r);
}

TEST(what_was_undone_is_undone_when_it_is_read_back) {
    size_t turns;
    for (turns = 0; turns <= TURNS; turns += TURNS) {
        scene s, plain;
        uint64_t at;
        begin(&s, true);
        begin(&plain, false);
        undo_some(&s, turns);
        undo_some(&plain, turns);
        CHECK_EQ_INT(phi_thread_count(s.thread), phi_thread_count(plain.thread));
        for (at = 0; at < phi_thread_count(s.thread); at += 11) /* also while they stood */
            CHECK(talk_view(s.thread, NULL, at, NULL) == talk_view(plain.thread, NULL, at, NULL));
        CHECK(s.watched.reads > 0);
        CHECK(talk_log(s.thread, NULL) == talk_log(plain.thread, NULL));
        CHECK(talk_face(s.agent) == talk_face(plain.agent));
        end(&plain);
        end(&s);
    }
}

/* ---- the store fails ---- */

/* Asks, gets that status, and finds all as it was. */
static void fails_with(scene *s, const question *q, phi_status want) {
    uint64_t face = talk_face(s->agent);
    size_t used = phi_agent_get_info(s->agent).memory_used;
    phi_status status;
    uint64_t got;
    s->watched.reads = 0;
    got = q->ask(s, &status);
    CHECK_EQ_INT(status, want);
    CHECK_EQ_INT(got, 0);
    CHECK(s->watched.reads > 0);
    CHECK(talk_face(s->agent) == face);
    CHECK(phi_agent_get_info(s->agent).memory_used <= used + 2048);
}

static void works_again(scene *s, const question *q) {
    phi_status status;
    uint64_t got = q->ask(s, &status);
    CHECK_EQ_INT(status, PHI_OK);
    same_answer(q, got);
}

static void fails_and_works_again(scene *s, const question *q) {
    static const phi_status says[] = {PHI_IO, PHI_NOT_FOUND, PHI_BUSY, PHI_PARSE};
    size_t i;
    for (i = 0; i < PHI__COUNT(says); i++) {
        s->watched.read_says = says[i];
        s->watched.gives = i * 20;
        fails_with(s, q, says[i]);
    }
    s->watched.read_says = PHI_OK;
    works_again(s, q);
}

TEST(a_store_that_cannot_be_read_is_told_and_nothing_changes) {
    each_question(fails_and_works_again);
}

static void damage_is_told(scene *s, const question *q) {
    s->watched.damaged = true;
    fails_with(s, q, PHI_PARSE);
    s->watched.damaged = false;
    s->watched.read_says = PHI_IO;
    s->watched.gives = 100;
    fails_with(s, q, PHI_IO);
    s->watched.read_says = PHI_OK;
    works_again(s, q);
}

/* Its id may be that of a run which has left memory: the store must say. */
TEST(a_run_with_an_id_of_the_host_s_is_refused_where_the_store_cannot_be_read) {
    scene s;
    phi_agent_desc desc;
    phi_run_desc run;
    phi_content content;
    phi_message prompt = user_message(&content, "Look around.");
    char text[200];
    const char *words = "";
    unsigned turn;
    memset(&s, 0, sizeof s);
    memset(&run, 0, sizeof run);
    s.store = store_mem_new();
    s.r = rig_new();
    s.tool = talk_tool();
    desc = talk_desc(&s.tool, 1, WINDOW);
    s.thread = phi_thread_new(rig_runtime(s.r), 0);
    CHECK_EQ_INT(phi_thread_attach(s.thread, talk_watch(&s.watched, store_mem_store(s.store)), "t",
                                   NULL, text, sizeof text),
                 PHI_OK);
    run.agent = &desc;
    run.thread = s.thread;
    run.prompts = &prompt;
    run.prompt_count = 1;
    for (turn = 0; turn < 2 * TURNS; turn += 2) {
        talk_answers(s.r, turn, 150, 1500);
        talk_answers(s.r, turn + 1, 150, 0);
        CHECK(phi_run(rig_runtime(s.r), &run).rt != NULL);
        talk_run(s.r);
        (void)rig_step(s.r);
    }
    run.loop_id = "evening.1";
    s.watched.read_says = PHI_IO;
    CHECK(phi_run(rig_runtime(s.r), &run).rt == NULL);
    words = phi_last_error(rig_runtime(s.r)).message;
    CHECK_EQ_INT(phi_last_error(rig_runtime(s.r)).status, PHI_IO);
    CHECK(strstr(words, "phi_run: the thread cannot be read: ") == words);
    s.watched.read_says = PHI_OK;
    talk_answers(s.r, 500, 150, 0);
    CHECK(phi_run(rig_runtime(s.r), &run).rt != NULL);
    talk_run(s.r);
    end(&s);
}

TEST(a_store_whose_entries_are_damaged_is_told_and_nothing_changes) {
    each_question(damage_is_told);
}

/* Somebody took the file away, or cut it. */
static void is_shorter(scene *s, const question *q) {
    const char *text = store_mem_text(s->store, "t"), *cut = text;
    char *whole = (char *)malloc(strlen(text) + 1);
    phi_status status;
    int i;
    if (whole == NULL) abort();
    strcpy(whole, text);
    for (i = 0; i < 50; i++) cut = strchr(cut, '\n') + 1;
    store_mem_set(s->store, "t", whole, (size_t)(cut - text));
    s->watched.reads = 0;
    CHECK_EQ_INT(q->ask(s, &status), 0);
    CHECK(status != PHI_OK);
    store_mem_set(s->store, "t", whole, strlen(whole));
    works_again(s, q);
    free(whole);
}

TEST(a_store_that_has_less_than_it_had_is_told_and_nothing_changes) { each_question(is_shorter); }

/* As many entries, and none of them is what it was. What is said about it does not matter. */
static void tells_lies(scene *s, const question *q) {
    uint64_t count = store_mem_count(s->store, "t"), seq, face = talk_face(s->agent);
    char *text = (char *)malloc((size_t)count * 60 + 1), *at = text;
    phi_status status;
    if (text == NULL) abort();
    for (seq = 0; seq < count; seq++)
        at += sprintf(at, "{\"seq\":%u,\"kind\":\"turn_start\"}\n", (unsigned)seq);
    store_mem_set(s->store, "t", text, (size_t)(at - text));
    CHECK_EQ_INT(q->ask(s, &status), 0);
    CHECK_EQ_INT(status, PHI_PARSE);
    CHECK(talk_face(s->agent) == face);
    free(text);
}

TEST(a_store_that_tells_another_story_is_not_believed) { each_question(tells_lies); }

/* ---- the store takes nothing ---- */

TEST(what_the_store_did_not_take_stays_in_memory) {
    scene s, plain;
    size_t first, i, full;
    begin(&s, true);
    begin(&plain, false);
    first = phi_thread_message_count(phi_agent_thread(s.agent));
    s.watched.append_says = PHI_FULL;
    s.watched.read_says = PHI_IO;
    for (i = 0; i < 4; i++) { /* it is compacted all the while */
        some_turns(&s, 400 + 100 * (unsigned)i, TURNS);
        some_turns(&plain, 400 + 100 * (unsigned)i, TURNS);
    }
    CHECK(phi_thread_get_info(s.thread).stored < phi_thread_count(s.thread));
    for (i = first; i < phi_thread_message_count(phi_agent_thread(s.agent)); i++) {
        const phi_message *m = phi_thread_message_at(phi_agent_thread(s.agent), i);
        if (!CHECK(m != NULL)) break;
        CHECK(talk_mix_message(1, m) ==
              talk_mix_message(1, phi_thread_message_at(phi_agent_thread(plain.agent), i)));
    }
    CHECK_EQ_INT(s.watched.reads, 0);
    full = phi_agent_get_info(s.agent).memory_used;
    s.watched.append_says = PHI_OK;
    s.watched.read_says = PHI_OK;
    CHECK_EQ_INT(phi_thread_sync(s.thread, NULL, 0), PHI_OK);
    some_turns(&s, 900, 2);
    some_turns(&plain, 900, 2);
    (void)rig_step(s.r);
    CHECK(phi_agent_get_info(s.agent).memory_used < full * 2 / 3);
    CHECK(talk_log(s.thread, NULL) == talk_log(plain.thread, NULL));
    end(&plain);
    end(&s);
}

/* ---- without memory ---- */

/* Every request of the first question fails once, of the others some. */
static void fails_without_memory(scene *s, const question *q) {
    uint64_t face = talk_face(s->agent), got = 0;
    phi_status status = PHI_NO_MEMORY;
    int n;
    for (n = 0; n < 20000 && status == PHI_NO_MEMORY; n += q == questions || n < 10 ? 1 : 13) {
        test_alloc_fail_at(n);
        got = q->ask(s, &status);
        test_alloc_fail_at(-1);
        if (status == PHI_NO_MEMORY) CHECK(talk_face(s->agent) == face);
    }
    CHECK_EQ_INT(status, PHI_OK);
    CHECK(n > 3);
    same_answer(q, got);
}

TEST(without_memory_what_is_away_stays_away) { each_question(fails_without_memory); }

/* Every request of a fresh lane, and of the steps behind it in which entries leave, fails once. */
TEST(without_memory_entries_leave_another_time) {
    int n;
    bool tripped = true;
    scene plain;
    uint64_t want;
    begin(&plain, false);
    want = talk_log(plain.thread, NULL);
    end(&plain);
    for (n = 0; n < 4000 && tripped; n++) {
        scene s;
        begin(&s, true);
        CHECK(talk_log(s.thread, NULL) == want); /* all of it is back */
        test_alloc_fail_at(n);
        CHECK(phi_thread_switch(s.thread, NULL) == (test_alloc_tripped() ? PHI_NO_MEMORY : PHI_OK));
        (void)phi_thread_sync(s.thread, NULL, 0);
        (void)rig_step(s.r);
        (void)rig_step(s.r);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK_EQ_INT(phi_thread_switch(s.thread, "way"), PHI_OK);
        (void)rig_step(s.r);
        CHECK_EQ_INT(phi_thread_switch(s.thread, PHI_LANE_DEFAULT), PHI_OK);
        some_turns(&s, 400, 2);
        CHECK_EQ_INT(phi_thread_get_info(s.thread).stored, phi_thread_count(s.thread));
        CHECK(talk_log(s.thread, NULL) != 0);
        end(&s);
    }
    CHECK(n > 3);
}

TEST_MAIN(TEST_ENTRY(what_is_away_is_read_back_once_for_any_question),
          TEST_ENTRY(what_is_shown_is_never_read_back),
          TEST_ENTRY(an_id_that_is_away_is_known_all_the_same),
          TEST_ENTRY(a_call_that_is_away_is_known_all_the_same),
          TEST_ENTRY(a_message_that_is_no_longer_shown_is_good_until_the_next_step),
          TEST_ENTRY(a_message_that_is_shown_stays_where_it_is),
          TEST_ENTRY(an_answer_that_a_response_has_stays_in_memory),
          TEST_ENTRY(a_fork_of_all_that_is_cut_reads_back_what_it_needs),
          TEST_ENTRY(what_left_memory_is_there_when_the_thread_leaves_its_store),
          TEST_ENTRY(a_history_that_was_cleared_leaves_memory_and_comes_back_with_its_lane),
          TEST_ENTRY(what_was_undone_is_undone_when_it_is_read_back),
          TEST_ENTRY(a_store_that_cannot_be_read_is_told_and_nothing_changes),
          TEST_ENTRY(a_run_with_an_id_of_the_host_s_is_refused_where_the_store_cannot_be_read),
          TEST_ENTRY(a_store_whose_entries_are_damaged_is_told_and_nothing_changes),
          TEST_ENTRY(a_store_that_has_less_than_it_had_is_told_and_nothing_changes),
          TEST_ENTRY(a_store_that_tells_another_story_is_not_believed),
          TEST_ENTRY(what_the_store_did_not_take_stays_in_memory),
          TEST_ENTRY(without_memory_what_is_away_stays_away),
          TEST_ENTRY(without_memory_entries_leave_another_time))
