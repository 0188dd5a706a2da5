/* Memory of a conversation that goes on and on: as much as what its model sees, while the file keeps everything. */
#include "agent/long_talk.h"

#include "agent/response.h"
#include "persist/file_store.h"
#include "loop/events.h"
#include "support/request.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"

enum { TURNS = 1000, EARLY = 200, WINDOW = 32000 };

/* ---- what is said ---- */

/* Ten sizes in turn: what differs from one compaction to the next is not what is measured here. */
static size_t text_bytes(unsigned turn) { return 100 + turn * 237 % 10 * 70; }

static size_t result_bytes(unsigned turn) {
    return turn % 10 == 5 ? 9000 : 200 + turn * 7919 % 10 * 200;
}

static void check_answer(const phi_message *m, unsigned turn, size_t blocks) {
    if (!CHECK(m != NULL && m->role == PHI_ROLE_ASSISTANT && m->content_count == blocks)) return;
    CHECK_EQ_INT(m->content[0].text.len, text_bytes(turn));
    CHECK(talk_is(m->content[0].text, turn, false));
}

static void check_result(const phi_message *m, unsigned turn) {
    if (!CHECK(m != NULL && m->role == PHI_ROLE_TOOL_RESULT && m->content_count == 1)) return;
    CHECK_EQ_INT(m->content[0].text.len, result_bytes(turn));
    CHECK(talk_is(m->content[0].text, turn, true));
}

/* ---- what is measured ---- */

typedef struct flat {
    char directory[300];
    phi_store files;
    talk_store watched;
    rig *r;
    phi_agent agent;
    phi_tool tool;
    size_t turns, compactions;
    size_t early, all; /* bytes of the runtime, at most: up to turn EARLY, and in all */
    size_t live;       /* of everything, between steps, after turn EARLY, at most */
    size_t live_early;
} flat;

static void measure(flat *f) {
    size_t live = test_alloc_live_bytes();
    (void)phi_memory_used(rig_runtime(f->r), &f->all);
    if (f->turns <= EARLY) f->early = f->all;
    if (f->turns <= EARLY && live > f->live_early) f->live_early = live;
    if (live > f->live) f->live = live;
}

static void watch(void *user_data, const phi_event *event) {
    flat *f = (flat *)user_data;
    CHECK(event->kind != PHI_EV_ERROR && event->kind != PHI_EV_WARNING);
    if (event->kind == PHI_EV_TURN_END) f->turns++;
    if (event->kind == PHI_EV_COMPACTION_END) f->compactions++;
    measure(f);
}

static void open_files(flat *f) {
    phi_file_store_desc files;
    memset(&files, 0, sizeof files);
    files.directory = f->directory;
    files.allocator = test_allocator();
    CHECK_EQ_INT(phi_file_store_open(&files, &f->files), PHI_OK);
}

static void open_agent(flat *f) {
    phi_agent_desc desc;
    f->r = rig_new();
    f->tool = talk_tool();
    desc = talk_desc(&f->tool, 1, WINDOW);
    desc.options.capture_requests = true;
    desc.store = talk_watch(&f->watched, &f->files);
    desc.thread_id = "long";
    f->agent = rig_agent(f->r, &desc);
    CHECK(f->agent.rt != NULL);
    rig_watch(f->r, watch, f);
}

static bool begin(flat *f) {
    memset(f, 0, sizeof *f);
    if (!test_temp_dir(f->directory, sizeof f->directory)) return false;
    open_files(f);
    open_agent(f);
    return f->agent.rt != NULL;
}

static void end(flat *f) {
    rig_free(f->r);
    phi_file_store_close(&f->files);
}

/* One block of memory more is a larger share of what a 32-bit machine has. */
static void is_flat(const char *what, size_t early, size_t all) {
    if (!CHECK(all <= early + early / (sizeof(void *) == 8 ? 20 : 8)))
        printf("  %s: %lu bytes up to turn %d, %lu in all\n", what, (unsigned long)early, EARLY,
               (unsigned long)all);
    if (getenv("PHI_FIGURES") != NULL)
        printf("  %s: %lu bytes up to turn %d, %lu in all\n", what, (unsigned long)early, EARLY,
               (unsigned long)all);
}

static void memory_was_flat(flat *f) {
    is_flat("the runtime", f->early, f->all);
    is_flat("all of it, between steps", f->live_early, f->live);
    if (!CHECK(f->compactions >= 15 && f->compactions <= 60))
        printf("  %lu compactions\n", (unsigned long)f->compactions);
    if (!CHECK_EQ_INT(f->watched.reads, 1)) /* the one that looked whether there is such a thread */
        printf("  a run has read its own history\n");
}

/* ---- one run ---- */

/* The thread is read in a new runtime, and every message is what was said. */
static void one_run_is_in_the_file(flat *f, uint64_t entries) {
    unsigned turn;
    rig_free(f->r);
    open_agent(f);
    CHECK_EQ_INT(phi_thread_count(phi_agent_thread(f->agent)), entries);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(f->agent)), 2 * TURNS);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(f->agent), 0)->content[0].text,
              "Look around.");
    for (turn = 0; turn < TURNS; turn++) {
        check_answer(phi_thread_message_at(phi_agent_thread(f->agent), 1 + 2 * turn), turn,
                     turn < TURNS - 1 ? 2 : 1);
        if (turn < TURNS - 1)
            check_result(phi_thread_message_at(phi_agent_thread(f->agent), 2 + 2 * turn), turn);
    }
}

TEST(a_run_of_a_thousand_turns_needs_no_more_memory_than_one_of_two_hundred) {
    flat f;
    unsigned turn;
    uint64_t entries;
    REQUIRE(begin(&f));
    for (turn = 0; turn < TURNS; turn++)
        talk_answers(f.r, turn, text_bytes(turn), turn < TURNS - 1 ? result_bytes(turn) : 0);
    CHECK_EQ_INT(phi_prompt(f.agent, "Look around."), PHI_OK);
    talk_run(f.r);
    CHECK_EQ_INT(f.turns, TURNS);
    memory_was_flat(&f);
    entries = phi_thread_count(phi_agent_thread(f.agent));
    CHECK_EQ_INT(phi_thread_get_info(phi_agent_thread(f.agent)).stored, entries);
    one_run_is_in_the_file(&f, entries);
    end(&f);
}

/* ---- many runs ---- */

typedef struct asked {
    phi_response response;
    phi_str text; /* as it was given when the run was over */
    unsigned turn;
} asked;

/* The newest sixteen can be asked, and what was got of them then is still there. */
static void answers_are_held(const asked *list, unsigned count) {
    unsigned i = count > PHI_RESPONSES_KEPT ? count - PHI_RESPONSES_KEPT : 0;
    for (; i < count; i++) {
        phi_response_info info;
        if (!CHECK_EQ_INT(response_get(list[i].response, &info), PHI_OK)) continue;
        CHECK_EQ_INT(info.state, PHI_RESPONSE_COMPLETED);
        CHECK(talk_is(info.text, list[i].turn, false));
        CHECK(talk_is(list[i].text, list[i].turn, false));
        check_answer(info.message, list[i].turn, 1);
    }
}

static void ask(flat *f, asked *a, unsigned turn) {
    static char question[TALK_MOST + 1];
    phi_response_info info;
    memset(a, 0, sizeof *a);
    a->turn = turn;
    talk_answers(f->r, turn, text_bytes(turn), result_bytes(turn));
    talk_answers(f->r, turn, text_bytes(turn), 0);
    CHECK_EQ_INT(
        prompt_for(f->agent, talk_words(question, 150 + turn % 10 * 30, turn, false), &a->response),
        PHI_OK);
    talk_run(f->r);
    if (CHECK_EQ_INT(response_get(a->response, &info), PHI_OK)) a->text = info.text;
}

static void all_runs_are_in_the_file(flat *f, uint64_t entries) {
    unsigned turn;
    size_t at = 0;
    rig_free(f->r);
    open_agent(f);
    CHECK_EQ_INT(phi_thread_count(phi_agent_thread(f->agent)), entries);
    for (turn = 0; turn < TURNS; turn++) {
        const phi_message *m = phi_thread_message_at(phi_agent_thread(f->agent), at++);
        REQUIRE(CHECK(m != NULL && m->role == PHI_ROLE_USER));
        CHECK_EQ_INT(m->content[0].text.len, 150 + turn % 10 * 30);
        CHECK(talk_is(m->content[0].text, turn, false));
        check_answer(phi_thread_message_at(phi_agent_thread(f->agent), at++), turn, 2);
        check_result(phi_thread_message_at(phi_agent_thread(f->agent), at++), turn);
        check_answer(phi_thread_message_at(phi_agent_thread(f->agent), at++), turn, 1);
    }
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(f->agent)), at);
}

TEST(a_thousand_questions_need_no_more_memory_than_two_hundred) {
    static asked list[TURNS];
    flat f;
    unsigned turn;
    uint64_t entries;
    REQUIRE(begin(&f));
    for (turn = 0; turn < TURNS; turn++) {
        ask(&f, &list[turn], turn);
        f.turns = turn + 1;
        if (turn % 10 == 9) answers_are_held(list, turn + 1);
    }
    memory_was_flat(&f);
    entries = phi_thread_count(phi_agent_thread(f.agent));
    all_runs_are_in_the_file(&f, entries);
    end(&f);
}

static const char half_an_answer[] =
    "data: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":0}}}\n\n"
    "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\","
    "\"text\":\"\"}}\n\n"
    "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\","
    "\"text\":\"Half of it\"}}\n\n";

static void some_turns(flat *f, unsigned first, unsigned count) {
    unsigned turn;
    for (turn = first; turn < first + count; turn++)
        talk_answers(f->r, turn, text_bytes(turn),
                     turn + 1 < first + count ? result_bytes(turn) : 0);
    CHECK_EQ_INT(phi_prompt(f->agent, "Look around."), PHI_OK);
    talk_run(f->r);
    (void)rig_step(f->r);
}

/* An answer that breaks off is not shown, and is held by its response all the same; so is a question that was never
   answered. */
TEST(an_answer_that_failed_is_held_as_long) {
    phi_response broken, refused;
    phi_response_info before, after;
    flat f;
    unsigned turn;
    REQUIRE(begin(&f));
    rig_watch(f.r, NULL, NULL);
    rig_breaks(f.r, half_an_answer, PHI_NETWORK, "the line is dead");
    CHECK_EQ_INT(prompt_for(f.agent, "What is there?", &broken), PHI_OK);
    talk_run(f.r);
    rig_replies(f.r, 500, "Content-Type: application/json\r\n",
                "{\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"boom\"}}");
    CHECK_EQ_INT(prompt_for(f.agent, "And now?", &refused), PHI_OK);
    talk_run(f.r);
    REQUIRE(CHECK_EQ_INT(response_get(broken, &before), PHI_OK));
    REQUIRE(before.message != NULL && before.failure != NULL);
    for (turn = 0; turn < 14; turn++) {
        some_turns(&f, 100 * turn, 10);
        CHECK_EQ_INT(response_get(broken, &after), PHI_OK);
        CHECK(after.message == before.message && after.failure == before.failure);
        CHECK_STR(after.message->content[0].text, "Half of it");
        CHECK_STR(after.failure->message, "the line is dead");
        CHECK_EQ_INT(response_get(refused, &after), PHI_OK);
        CHECK_EQ_INT(after.state, PHI_RESPONSE_FAILED);
        CHECK_EQ_INT(after.failure->http_status, 500);
        CHECK_STR(after.failure->message, "boom");
    }
    end(&f);
}

static void keep_loop_id(void *user_data, const phi_event *event) {
    phi_str *loop_id = (phi_str *)user_data;
    if (event->kind == PHI_EV_AGENT_START) *loop_id = phi_agent_get_info(event->agent).loop_id;
}

TEST(the_name_of_a_run_is_good_until_the_next_one) {
    phi_str loop_id = {"", 0};
    flat f;
    REQUIRE(begin(&f));
    rig_watch(f.r, keep_loop_id, &loop_id);
    some_turns(&f, 0, 150);
    CHECK_STR(loop_id, "session.anthropic.test-model.1");
    CHECK_EQ_INT(phi_compact(f.agent), PHI_OK);
    talk_run(f.r);
    CHECK_STR(loop_id, "session.anthropic.test-model.2");
    end(&f);
}

/* ---- what comes and goes ---- */

/* Bytes of an agent that has talked, read all of its history (or not), and talked on. */
static size_t bytes_after(bool reads) {
    flat f;
    size_t before, after = 0;
    uint64_t seq, sum = 1;
    phi_entry e;
    if (!begin(&f)) return 0;
    some_turns(&f, 0, 300);
    before = phi_agent_get_info(f.agent).memory_used;
    for (seq = 0; reads && phi_thread_entry(phi_agent_thread(f.agent), seq, &e) == PHI_OK; seq++)
        sum = talk_mix_entry(sum, &e);
    if (reads) CHECK(phi_agent_get_info(f.agent).memory_used > before + 300 * 1500 && sum != 1);
    some_turns(&f, 300, 60); /* it is compacted once, at least */
    after = phi_agent_get_info(f.agent).memory_used;
    end(&f);
    return after;
}

TEST(what_was_read_back_leaves_again_when_something_leaves_the_view) {
    size_t plain = bytes_after(false), read = bytes_after(true);
    if (!CHECK(read < plain + plain / 10))
        printf("  %lu, and %lu\n", (unsigned long)plain, (unsigned long)read);
}

TEST(a_long_thread_that_is_opened_is_as_small_as_it_was) {
    flat f;
    size_t before, after;
    uint64_t face;
    REQUIRE(begin(&f));
    some_turns(&f, 0, 300);
    face = talk_view(phi_agent_thread(f.agent), NULL, UINT64_MAX, NULL);
    before = phi_agent_get_info(f.agent).memory_used;
    rig_free(f.r);
    open_agent(&f);
    (void)rig_step(f.r);
    after = phi_agent_get_info(f.agent).memory_used;
    CHECK(after < before + before / 4);
    CHECK(talk_view(phi_agent_thread(f.agent), NULL, UINT64_MAX, NULL) == face);
    CHECK_EQ_INT(f.watched.reads, 1);
    CHECK(talk_is(phi_thread_message_at(phi_agent_thread(f.agent), 2)->content[0].text, 0, true));
    end(&f);
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

/* The thread is the host's, and each run's agent is gone after it. */
static void bare_run(flat *f, phi_thread *thread, const phi_agent_desc *desc, unsigned turn) {
    phi_content content;
    phi_message prompt = user_message(&content, "Look around.");
    phi_run_desc run;
    memset(&run, 0, sizeof run);
    run.agent = desc;
    run.thread = thread;
    run.prompts = &prompt;
    run.prompt_count = 1;
    talk_answers(f->r, turn, text_bytes(turn), result_bytes(turn));
    talk_answers(f->r, turn, text_bytes(turn), 0);
    CHECK(phi_run(rig_runtime(f->r), &run).rt != NULL);
    talk_run(f->r);
    (void)rig_step(f->r);
}

TEST(a_thread_of_bare_runs_stays_small) {
    flat f;
    phi_thread *thread;
    phi_agent_desc desc;
    char words[200];
    unsigned turn;
    REQUIRE(begin(&f));
    desc = talk_desc(&f.tool, 1, WINDOW);
    thread = phi_thread_new(rig_runtime(f.r), 0);
    CHECK_EQ_INT(phi_thread_attach(thread, &f.files, "bare", NULL, words, sizeof words), PHI_OK);
    f.turns = 0;
    for (turn = 0; turn < 400; turn++) {
        bare_run(&f, thread, &desc, turn);
        f.turns = turn + 1;
    }
    is_flat("bare runs", f.early, f.all);
    check_result(phi_thread_message_at(thread, 2), 0);
    check_result(phi_thread_message_at(thread, 4 * 100 + 2), 100);
    CHECK_EQ_INT(phi_thread_message_count(thread), 1600);
    phi_thread_free(thread);
    end(&f);
}

/* ---- events that are popped late ---- */

enum { HELD = 100 };

/* Adds up all that an event points to. */
static uint64_t touch(const phi_event *e) {
    uint64_t sum = talk_mix_message((uint64_t)e->kind, e->message);
    sum = talk_mix_str(talk_mix_str(sum, e->text), e->partial);
    sum = talk_mix_str(talk_mix_str(sum, e->arguments), e->tool_call_id);
    sum = talk_mix_str(talk_mix_str(sum, e->tool_name), e->source);
    sum = talk_mix_usage(talk_mix_str(sum, e->rejection), e->usage);
    if (e->loop != NULL) sum = talk_mix_str(talk_mix_str(sum, e->loop->loop_id), e->loop->config);
    if (e->compaction != NULL) sum = talk_mix(sum, e->compaction->tokens_after);
    return sum;
}

/* The same run, whose events are popped after each step, and after every HELD steps: the same events. */
static uint64_t events_of(int held, size_t *count) {
    flat f;
    phi_event ev, kept[8];
    uint64_t sum = 1, sums[8];
    size_t i, popped = 0;
    unsigned turn;
    int steps = 0, runs = 1;
    if (!begin(&f)) return 0;
    for (turn = 0; turn < 300; turn++)
        talk_answers(f.r, turn, text_bytes(turn), turn < 299 ? result_bytes(turn) : 0);
    rig_silent(f.r, true);
    CHECK_EQ_INT(phi_prompt(f.agent, "Look around."), PHI_OK);
    while (runs > 0 && steps++ < 200000) {
        runs = rig_step(f.r);
        if (steps % held != 0 && runs > 0) continue;
        for (i = 0; phi_next_event(rig_runtime(f.r), &ev); i++, popped++) {
            kept[i % 8] = ev; /* what was popped stays until the next step */
            sums[i % 8] = touch(&ev);
            sum = talk_mix(sum, sums[i % 8]);
        }
        for (i = i > 8 ? 8 : i; i-- > 0;) CHECK(touch(&kept[i]) == sums[i]);
    }
    CHECK_EQ_INT(runs, 0);
    *count = popped;
    end(&f);
    return sum;
}

TEST(events_that_are_popped_late_are_what_they_were) {
    size_t at_once = 0, late = 0;
    uint64_t one = events_of(1, &at_once), two = events_of(HELD, &late);
    CHECK(at_once > 300 * 6);
    CHECK_EQ_INT(late, at_once);
    CHECK(one == two);
}

/* One event is popped a step: there is always one that waits, until the run is over. */
TEST(memory_comes_back_once_the_last_event_was_popped) {
    flat f;
    phi_event ev;
    size_t full;
    unsigned turn;
    int steps;
    REQUIRE(begin(&f));
    for (turn = 0; turn < 200; turn++)
        talk_answers(f.r, turn, text_bytes(turn), turn < 199 ? result_bytes(turn) : 0);
    rig_silent(f.r, true);
    CHECK_EQ_INT(phi_prompt(f.agent, "Look around."), PHI_OK);
    for (steps = 0; steps < 200000 && (rig_step(f.r) > 0 || steps < 10); steps++)
        if (phi_next_event(rig_runtime(f.r), &ev)) (void)touch(&ev);
    full = phi_agent_get_info(f.agent).memory_used;
    CHECK(full > 200 * 1500);
    while (phi_next_event(rig_runtime(f.r), &ev)) (void)touch(&ev);
    (void)rig_step(f.r);
    CHECK(phi_agent_get_info(f.agent).memory_used < full * 2 / 3);
    end(&f);
}

TEST_MAIN(TEST_ENTRY(a_run_of_a_thousand_turns_needs_no_more_memory_than_one_of_two_hundred),
          TEST_ENTRY(a_thousand_questions_need_no_more_memory_than_two_hundred),
          TEST_ENTRY(an_answer_that_failed_is_held_as_long),
          TEST_ENTRY(the_name_of_a_run_is_good_until_the_next_one),
          TEST_ENTRY(what_was_read_back_leaves_again_when_something_leaves_the_view),
          TEST_ENTRY(a_long_thread_that_is_opened_is_as_small_as_it_was),
          TEST_ENTRY(a_thread_of_bare_runs_stays_small),
          TEST_ENTRY(events_that_are_popped_late_are_what_they_were),
          TEST_ENTRY(memory_comes_back_once_the_last_event_was_popped))
