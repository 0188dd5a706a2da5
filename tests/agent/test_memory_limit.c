/* test_memory_limit.c - an agent at its memory limit: it compacts, forgets the oldest turns, or stops; and it goes on. */
#include "support/figures.h"
#include "support/store_mem.h"
#include "support/talk.h"

#include "agent/one_shot_run.h"
#include "agent/response.h"
#include "agent/snapshot.h"
#include "persist/introspect.h"
#include "support/append.h"
#include "support/request.h"
#include "support/thread_text.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "log/log_in.h"

static char *long_text(size_t bytes) {
    char *text = (char *)malloc(bytes + 1);
    if (text == NULL) abort();
    memset(text, 'a', bytes);
    text[bytes] = '\0';
    return text;
}

/* ---- for ever ---- */

static void lives_for_ever(phi_at_memory_limit how, size_t count) {
    rig *r = rig_new();
    phi_agent_desc desc = limited(65536, how);
    talk t;
    talk_begin(&t, r, &desc);
    CHECK_EQ_INT((int)exchanges(&t, count), (int)count);
    CHECK(phi_agent_get_info(t.agent).memory_peak <= 65536);
    CHECK(t.times > 0 && t.times < count / 4);
    CHECK(t.compacted == (how == PHI_AT_MEMORY_LIMIT_COMPACT));
    history_holds(t.agent);
    rig_free(r);
}

TEST(ten_thousand_exchanges_fit_into_64_kb_with_compaction) {
    lives_for_ever(PHI_AT_MEMORY_LIMIT_COMPACT, 10000);
}

TEST(ten_thousand_exchanges_fit_into_64_kb_with_forgetting) {
    lives_for_ever(PHI_AT_MEMORY_LIMIT_FORGET, 10000);
}

TEST(smaller_and_larger_limits_last_as_well) {
    static const size_t limits[] = {18432, 24576, 32768, 131072, 262144};
    size_t i;
    for (i = 0; i < PHI__COUNT(limits); i++) {
        rig *r = rig_new();
        phi_agent_desc desc = limited(limits[i], (phi_at_memory_limit)(i % 2));
        talk t;
        talk_begin(&t, r, &desc);
        CHECK_EQ_INT((int)exchanges(&t, 300), 300);
        CHECK(t.times > 0);
        history_holds(t.agent);
        rig_free(r);
    }
}

TEST(an_agent_without_a_limit_forgets_nothing) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    talk t;
    talk_begin(&t, r, &desc);
    CHECK_EQ_INT((int)exchanges(&t, 200), 200);
    CHECK(t.times == 0 && phi_thread_message_count(phi_agent_thread(t.agent)) == 400);
    CHECK(phi_thread_get_info(phi_agent_thread(t.agent)).first == 0);
    rig_free(r);
}

/* ---- what is forgotten, and what is said of it ---- */

TEST(what_is_forgotten_is_not_found_and_an_entry_of_the_log_says_so) {
    rig *r = rig_new();
    phi_agent_desc desc = limited(65536, PHI_AT_MEMORY_LIMIT_FORGET);
    phi_thread *thread;
    phi_memory memory;
    phi_arena arena;
    phi_entry e;
    uint64_t first;
    talk t;
    talk_begin(&t, r, &desc);
    while (t.times < 2) CHECK(exchange(&t) == PHI_OK);
    thread = phi_agent_thread(t.agent);
    first = phi_thread_get_info(thread).first;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK(first > 0 && first == t.last_to);
    CHECK_EQ_INT(phi_thread_entry(thread, 0, &e), PHI_NOT_FOUND);
    CHECK_EQ_INT(phi_thread_entry(thread, first - 1, &e), PHI_NOT_FOUND);
    CHECK_EQ_INT(phi_thread_entry(thread, phi_thread_count(thread), &e), PHI_NOT_FOUND);
    CHECK_EQ_INT(phi_thread_entry(thread, first, &e), PHI_OK);
    REQUIRE(e.kind == PHI_ENTRY_FORGOTTEN && e.forgotten != NULL && e.usage != NULL);
    CHECK(e.forgotten->to == first && e.forgotten->from < first && e.forgotten->from > 0);
    CHECK(e.forgotten->bytes > 0 && e.forgotten->messages > 0 && !e.forgotten->compacted);
    CHECK(phi_thread_fork(thread, first - 1) == NULL);
    phi_arena_free(&arena);
    rig_free(r);
}

TEST(the_newest_turns_are_kept_and_the_model_sees_them) {
    rig *r = rig_new();
    phi_agent_desc desc = limited(65536, PHI_AT_MEMORY_LIMIT_FORGET);
    const char *request;
    char text[32];
    size_t i = 0, kept;
    talk t;
    talk_begin(&t, r, &desc);
    while (t.times == 0) {
        (void)snprintf(text, sizeof text, "question %u.", (unsigned)i++);
        CHECK_EQ_INT(talk_say(&t, text, answer), PHI_OK);
    }
    kept = phi_thread_message_count(phi_agent_thread(t.agent)) / 2;
    CHECK(kept >= 3 && kept < i);
    request = rig_request(r, 0); /* of the exchange that forgot: its run began with it */
    (void)snprintf(text, sizeof text, "question %u.", (unsigned)(i - 1));
    CHECK(strstr(request, text) != NULL);
    (void)snprintf(text, sizeof text, "question %u.", (unsigned)(i - kept));
    CHECK(strstr(request, text) != NULL);
    (void)snprintf(text, sizeof text, "question %u.", (unsigned)(i - kept - 1));
    CHECK(strstr(request, text) == NULL);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(t.agent), 2 * kept - 2)->content[0].text,
              rig_story(r) == NULL
                  ? ""
                  : (snprintf(text, sizeof text, "question %u.", (unsigned)(i - 1)), text));
    CHECK(strncmp(rig_story(r), "Forgotten 0 to ", 15) == 0); /* before AGENT_START */
    rig_free(r);
}

TEST(durable_messages_outlive_the_forgetting) {
    rig *r = rig_new();
    phi_agent_desc desc = limited(65536, PHI_AT_MEMORY_LIMIT_FORGET);
    phi_content block;
    phi_message fact = text_message(PHI_ROLE_USER, &block, "The miller owes you nine coins.");
    talk t;
    talk_begin(&t, r, &desc);
    CHECK_EQ_INT(append_with(phi_agent_thread(t.agent), &fact, 1, PHI_ENTRY_DURABLE), PHI_OK);
    CHECK_EQ_INT((int)exchanges(&t, 200), 200);
    CHECK(t.times > 2);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(t.agent), 0)->content[0].text,
              "The miller owes you nine coins.");
    CHECK(strstr(rig_request(r, 0), "nine coins") != NULL);
    rig_free(r);
}

TEST(usage_and_loop_ids_count_on) {
    rig *r = rig_new();
    phi_agent_desc desc = limited(65536, PHI_AT_MEMORY_LIMIT_FORGET);
    talk t;
    desc.ids.session_id = "s";
    talk_begin(&t, r, &desc);
    CHECK_EQ_INT((int)exchanges(&t, 100), 100);
    CHECK(t.times > 2);
    CHECK(phi_thread_get_info(phi_agent_thread(t.agent)).usage.output == 100 * 5);
    CHECK(phi_agent_get_info(t.agent).usage.output == 100 * 5);
    CHECK_STR(phi_agent_get_info(t.agent).loop_id, "s.anthropic.test-model.100");
    rig_free(r);
}

TEST(other_lanes_keep_what_they_show) {
    rig *r = rig_new();
    phi_agent_desc desc = limited(65536, PHI_AT_MEMORY_LIMIT_FORGET);
    phi_lane_figures figures;
    phi_thread *thread;
    talk t;
    talk_begin(&t, r, &desc);
    CHECK_EQ_INT((int)exchanges(&t, 3), 3);
    thread = phi_agent_thread(t.agent);
    CHECK_EQ_INT(phi_thread_switch(thread, "aside"), PHI_OK);
    CHECK_EQ_INT((int)exchanges(&t, 200), 200);
    CHECK(t.times > 2);
    CHECK_STR(phi_thread_get_info(thread).lane, "aside");
    CHECK_EQ_INT(lane_figures(thread, PHI_LANE_DEFAULT, UINT64_MAX, &figures), PHI_OK);
    CHECK_EQ_INT((int)figures.messages, 6);
    CHECK_EQ_INT(phi_thread_switch(thread, PHI_LANE_DEFAULT), PHI_OK);
    CHECK_EQ_INT((int)phi_thread_message_count(phi_agent_thread(t.agent)), 6);
    CHECK_EQ_INT((int)exchanges(&t, 1), 1);
    rig_free(r);
}

/* ---- who is still looking ---- */

TEST(nothing_is_forgotten_while_an_event_points_into_the_log) {
    rig *r = rig_new();
    phi_agent_desc desc = limited(65536, PHI_AT_MEMORY_LIMIT_FORGET);
    uint64_t last;
    talk t;
    talk_begin(&t, r, &desc);
    while (t.times == 0) CHECK(exchange(&t) == PHI_OK);
    while (phi_agent_get_info(t.agent).memory_used < 26000) CHECK(exchange(&t) == PHI_OK);
    last = t.last_to;
    rig_silent(r, true); /* the next run's events stay in the queue */
    rig_says(r, answer);
    CHECK_EQ_INT(phi_prompt(t.agent, question), PHI_OK);
    (void)rig_run(r, 50);
    rig_says(r, answer);
    CHECK_EQ_INT(phi_prompt(t.agent, question), PHI_OK); /* they are there still */
    (void)rig_run(r, 50);
    CHECK_EQ_INT((int)t.last_to, (int)last);
    rig_silent(r, false);
    (void)rig_step(r);
    CHECK_EQ_INT((int)exchanges(&t, 50), 50);
    CHECK(t.last_to > last);
    rig_free(r);
}

TEST(the_response_of_the_run_that_forgets_stays_good_and_older_ones_are_stale) {
    rig *r = rig_new();
    phi_agent_desc desc = limited(65536, PHI_AT_MEMORY_LIMIT_FORGET);
    phi_response older, newer;
    phi_response_info info;
    talk t;
    size_t i;
    talk_begin(&t, r, &desc);
    memset(&newer, 0, sizeof newer);
    for (i = 0; t.times == 0 && i < 100; i++) {
        older = newer;
        rig_rewind(r);
        rig_says(r, answer);
        CHECK_EQ_INT(prompt_for(t.agent, question, &newer), PHI_OK);
        (void)rig_run(r, 50);
    }
    CHECK(t.times == 1);
    CHECK_EQ_INT(response_get(older, &info), PHI_STALE);
    CHECK_EQ_INT(response_get(newer, &info), PHI_OK);
    CHECK_STR(info.text, answer);
    CHECK_STR(info.loop_id, phi_agent_get_info(t.agent).loop_id.at);
    rig_free(r);
}

/* ---- what does not fit ---- */

TEST(a_run_that_does_not_fit_says_which_limit_and_the_next_one_goes_on) {
    rig *r = rig_new();
    phi_agent_desc desc = limited(65536, PHI_AT_MEMORY_LIMIT_COMPACT);
    char *huge = long_text(31000);
    talk t;
    talk_begin(&t, r, &desc);
    CHECK_EQ_INT((int)exchanges(&t, 20), 20);
    CHECK_EQ_INT(talk_say(&t, question, huge), PHI_NO_MEMORY);
    CHECK_EQ_STR(t.error,
                 "Out of memory: the agent's memory.limit_bytes, 65536, are used up: nothing "
                 "more could be forgotten; pop every event of the agent, or raise it");
    CHECK_EQ_INT((int)exchanges(&t, 40), 40);
    free(huge);
    rig_free(r);
}

TEST(a_prompt_that_finds_no_memory_makes_room_at_the_next_step) {
    rig *r = rig_new();
    phi_agent_desc desc = limited(65536, PHI_AT_MEMORY_LIMIT_FORGET);
    char *large = long_text(14000), *said = long_text(20000);
    phi_content block;
    phi_message told = text_message(PHI_ROLE_USER, &block, said);
    const char *words = NULL;
    talk t;
    talk_begin(&t, r, &desc);
    while (t.times == 0) CHECK(exchange(&t) == PHI_OK);
    while (phi_agent_get_info(t.agent).memory_used < 26000) CHECK(exchange(&t) == PHI_OK);
    CHECK_EQ_INT(phi_thread_append(phi_agent_thread(t.agent), &told, 1, NULL), PHI_OK);
    CHECK_EQ_INT(talk_say(&t, large, answer), PHI_NO_MEMORY);
    words = phi_last_error(rig_runtime(r)).message;
    CHECK_EQ_INT(phi_last_error(rig_runtime(r)).status, PHI_NO_MEMORY);
    CHECK(strstr(words, "phi_prompt: out of memory: the agent's memory.limit_bytes, 65536,") ==
          words);
    (void)rig_step(r);
    (void)rig_step(r);
    CHECK_EQ_INT(talk_say(&t, large, answer), PHI_OK);
    CHECK_EQ_INT((int)exchanges(&t, 20), 20);
    free(large);
    free(said);
    rig_free(r);
}

TEST(a_host_that_wants_it_to_stop_is_told_so_and_clearing_makes_it_usable_again) {
    rig *r = rig_new();
    phi_agent_desc desc = limited(65536, PHI_AT_MEMORY_LIMIT_STOP);
    const char *words = NULL;
    phi_status status = PHI_OK;
    talk t;
    size_t n = 0;
    talk_begin(&t, r, &desc);
    while (status == PHI_OK && n < 1000) {
        status = exchange(&t);
        n++;
    }
    CHECK_EQ_INT(status, PHI_NO_MEMORY);
    CHECK(n > 10 && n < 60 && t.times == 0);
    words = phi_last_error(rig_runtime(r)).message;
    if (t.error[0] != '\0') words = t.error;
    CHECK(
        strstr(words,
               "Out of memory: the agent's memory.limit_bytes, 65536, are used up: raise it, keep "
               "the thread in a store, or call phi_agent_replace_messages") != NULL);
    (void)rig_step(r);
    CHECK(exchange(&t) == PHI_NO_MEMORY); /* for good */
    (void)rig_step(r);
    CHECK_EQ_INT(phi_agent_replace_messages(t.agent, NULL, 0), PHI_OK);
    CHECK_EQ_INT((int)exchanges(&t, 10), 10);
    rig_free(r);
}

TEST(the_runtime_s_limit_has_words_of_its_own) {
    phi_runtime_desc rd;
    phi_agent_desc desc = rig_desc();
    talk t;
    rig *r;
    memset(&rd, 0, sizeof rd);
    rd.memory_limit_bytes = 200000;
    r = rig_new_with(&rd);
    talk_begin(&t, r, &desc);
    while (exchange(&t) == PHI_OK) {}
    CHECK(t.error[0] == '\0' ||
          strcmp(t.error,
                 "Out of memory: the runtime's memory_limit_bytes, 200000, are used up: raise it, "
                 "or free agents or their histories") == 0);
    rig_free(r);
}

TEST(an_agent_that_does_not_fit_into_its_limit_says_so) {
    rig *r = rig_new();
    phi_agent_desc desc = limited(100, PHI_AT_MEMORY_LIMIT_FORGET);
    CHECK(phi_agent_new(rig_runtime(r), &desc).rt == NULL);
    CHECK_EQ_INT(phi_last_error(rig_runtime(r)).status, PHI_NO_MEMORY);
    CHECK_EQ_STR(phi_last_error(rig_runtime(r)).message,
                 "phi_agent_new: out of memory: the agent's memory.limit_bytes, 100, are too few");
    rig_free(r);
}

TEST(an_agent_that_does_not_fit_into_the_runtime_s_limit_says_so) {
    phi_runtime_desc rd = PHI_ZERO;
    phi_agent_desc desc = rig_desc();
    rig *r;
    rd.memory_limit_bytes = 200000;
    r = rig_new_with(&rd);
    REQUIRE(r != NULL);
    while (phi_agent_new(rig_runtime(r), &desc).rt != NULL) {}
    CHECK_EQ_STR(phi_last_error(rig_runtime(r)).message,
                 "phi_agent_new: out of memory: the runtime's memory_limit_bytes, 200000, are used "
                 "up: raise it, or free agents or their histories");
    rig_free(r);
}

TEST(a_snapshot_that_does_not_fit_into_the_limit_says_so) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc(), small = limited(12000, PHI_AT_MEMORY_LIMIT_FORGET);
    phi_memory memory;
    phi_arena arena;
    phi_str saved;
    talk t;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    talk_begin(&t, r, &desc);
    CHECK_EQ_INT((int)exchanges(&t, 10), 10);
    CHECK_EQ_INT(phi_agent_snapshot(t.agent, &arena, &saved), PHI_OK);
    CHECK(phi_agent_restore(rig_runtime(r), &small, saved, PHI_RESTORE_RESUME).rt == NULL);
    CHECK_EQ_INT(phi_last_error(rig_runtime(r)).status, PHI_NO_MEMORY);
    CHECK_EQ_STR(phi_last_error(rig_runtime(r)).message,
                 "phi_agent_restore: out of memory: the agent's memory.limit_bytes, 12000, are too "
                 "few");
    small.memory.limit_bytes = 64000;
    CHECK(phi_agent_restore(rig_runtime(r), &small, saved, PHI_RESTORE_RESUME).rt != NULL);
    phi_arena_free(&arena);
    rig_free(r);
}

TEST(an_answer_of_50_kb_in_ten_thousand_deltas_fits_into_256_kb) {
    static const char *const frame =
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,"
        "\"delta\":{\"type\":\"text_delta\",\"text\":\"word \"}}\n\n";
    const char *whole = rig_stream_of("word ");
    const char *delta = strstr(whole, "event: content_block_delta");
    const char *stop = strstr(whole, "event: content_block_stop");
    size_t len = strlen(frame), n = (size_t)(delta - whole), i;
    char *body = (char *)malloc(n + 10000 * len + strlen(stop) + 1);
    rig *r = rig_new();
    phi_agent_desc desc = limited(256 << 10, PHI_AT_MEMORY_LIMIT_COMPACT);
    phi_agent agent;
    REQUIRE(body != NULL);
    memcpy(body, whole, n);
    for (i = 0; i < 10000; i++) memcpy(body + n + i * len, frame, len);
    memcpy(body + n + 10000 * len, stop, strlen(stop) + 1);
    rig_chunk(r, 16384); /* as libcurl reads, from a server that is faster than the host */
    rig_greedy(r);
    agent = rig_agent(r, &desc);
    rig_replies(r, 200, "content-type: text/event-stream\r\n", body);
    CHECK_EQ_INT(phi_prompt(agent, "Tell me all."), PHI_OK);
    CHECK_EQ_INT(rig_run_until(r, 60000), 0);
    CHECK(strstr(rig_story(r), "Out of memory") == NULL);
    CHECK_EQ_INT((int)phi_thread_message_at(phi_agent_thread(agent), 1)->content[0].text.len,
                 50000);
    /* the text as it grew, and the log's copy: no bytes of the server that were read already */
    CHECK(phi_agent_get_info(agent).memory_peak < 140000);
    free(body);
    rig_free(r);
}

/* ---- stores and snapshots ---- */

static void stored_for_ever(size_t limit, phi_at_memory_limit how, size_t count) {
    rig *r = rig_new();
    store_mem *store = store_mem_new();
    phi_agent_desc desc = limited(limit, how);
    phi_thread *thread;
    phi_entry e;
    size_t peak;
    talk t;
    desc.store = store_mem_store(store);
    desc.thread_id = "t";
    talk_begin(&t, r, &desc);
    CHECK_EQ_INT((int)exchanges(&t, count), (int)count);
    thread = phi_agent_thread(t.agent);
    CHECK(t.times == 0 && phi_thread_get_info(thread).first == 0);
    peak = phi_agent_get_info(t.agent).memory_peak;
    CHECK(peak <= limit);
    CHECK(store_mem_count(store, "t") == phi_thread_count(thread));
    CHECK(phi_thread_count(thread) >= 6 * count);
    CHECK(phi_thread_entry(thread, 1, &e) != PHI_NOT_FOUND); /* it may not fit, but it is there */
    rig_free(r);
    store_mem_free(store);
}

TEST(with_a_store_the_view_is_made_smaller_and_the_log_stays_whole) {
    static const size_t limits[] = {40000, 65536, 100000, 150000};
    size_t i;
    for (i = 0; i < PHI__COUNT(limits); i++) {
        stored_for_ever(limits[i], PHI_AT_MEMORY_LIMIT_COMPACT, 150);
        stored_for_ever(limits[i], PHI_AT_MEMORY_LIMIT_FORGET, 150);
    }
}

/* Its text as JSON would not fit beside it; and while it is not stored it cannot leave memory. */
TEST(an_entry_of_half_the_limit_is_stored_and_leaves_memory) {
    rig *r = rig_new();
    store_mem *store = store_mem_new();
    phi_agent_desc desc = limited(65536, PHI_AT_MEMORY_LIMIT_COMPACT);
    char *large = long_text(32000);
    phi_content block;
    phi_message told = text_message(PHI_ROLE_USER, &block, large);
    talk t;
    desc.store = store_mem_store(store);
    desc.thread_id = "t";
    talk_begin(&t, r, &desc);
    CHECK_EQ_INT((int)exchanges(&t, 3), 3);
    CHECK_EQ_INT(phi_thread_append(phi_agent_thread(t.agent), &told, 1, NULL), PHI_OK);
    (void)rig_step(r);
    CHECK(store_mem_count(store, "t") == phi_thread_count(phi_agent_thread(t.agent)));
    CHECK_EQ_INT(phi_agent_replace_messages(t.agent, NULL, 0), PHI_OK);
    CHECK_EQ_INT((int)exchanges(&t, 20), 20);
    free(large);
    rig_free(r);
    store_mem_free(store);
}

TEST(what_is_cleared_of_a_stored_thread_leaves_memory_at_once) {
    int how;
    for (how = 0; how < 2; how++) {
        rig *r = rig_new();
        store_mem *store = store_mem_new();
        phi_agent_desc desc = limited(65536, PHI_AT_MEMORY_LIMIT_STOP);
        size_t full;
        talk t;
        desc.store = store_mem_store(store);
        desc.thread_id = "t";
        talk_begin(&t, r, &desc);
        while (t.ends < 500 && exchange(&t) == PHI_OK) {}
        CHECK(t.ends < 500);
        full = phi_agent_get_info(t.agent).memory_used;
        if (how == 0)
            CHECK_EQ_INT(phi_agent_replace_messages(t.agent, NULL, 0), PHI_OK);
        else
            CHECK_EQ_INT(phi_agent_reset(t.agent), PHI_OK);
        CHECK(phi_agent_get_info(t.agent).memory_used < full / 2);
        CHECK_EQ_INT((int)exchanges(&t, 10), 10);
        CHECK(store_mem_count(store, "t") == phi_thread_count(phi_agent_thread(t.agent)));
        rig_free(r);
        store_mem_free(store);
    }
}

TEST(a_snapshot_of_an_agent_that_has_forgotten_goes_on_and_can_be_stored) {
    rig *r = rig_new();
    store_mem *store = store_mem_new();
    phi_agent_desc desc = limited(65536, PHI_AT_MEMORY_LIMIT_FORGET);
    phi_thread *thread;
    phi_memory memory;
    phi_arena arena;
    phi_agent again;
    phi_str text = {NULL, 0}, twice = {NULL, 0};
    talk t;
    talk_begin(&t, r, &desc);
    CHECK_EQ_INT((int)exchanges(&t, 60), 60);
    CHECK(t.times > 1);
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_agent_snapshot(t.agent, &arena, &text), PHI_OK);
    CHECK(phi_thread_get_info(phi_agent_thread(t.agent)).usage.output == 60 * 5);
    phi_agent_free(t.agent);
    desc.store = store_mem_store(store);
    desc.thread_id = "t";
    again = phi_agent_restore(rig_runtime(r), &desc, text, PHI_RESTORE_RESUME);
    REQUIRE(again.rt != NULL);
    thread = phi_agent_thread(again);
    CHECK(phi_thread_get_info(thread).first == t.last_to);
    CHECK(phi_thread_get_info(thread).usage.output == 60 * 5);
    history_holds(again);
    CHECK_EQ_INT(phi_agent_snapshot(again, &arena, &twice), PHI_OK);
    CHECK(phi_str_equal(text, twice));
    t.agent = again;
    CHECK_EQ_INT((int)exchanges(&t, 60), 60);
    CHECK(store_mem_count(store, "t") ==
          phi_thread_count(thread) - phi_thread_get_info(thread).first);
    phi_agent_free(again);
    desc.memory.limit_bytes = 0; /* a log is read back as a whole */
    again = phi_agent_new(rig_runtime(r), &desc);
    REQUIRE(again.rt != NULL);
    CHECK(phi_thread_get_info(phi_agent_thread(again)).first == t.last_to);
    t.agent = again;
    CHECK_EQ_INT((int)exchanges(&t, 3), 3);
    phi_arena_free(&arena);
    rig_free(r);
    store_mem_free(store);
}

TEST(a_log_that_does_not_begin_with_what_it_forgot_is_refused) {
    static const char *const bad[] = {
        "{\"phi_thread\":1}\n{\"seq\":5,\"kind\":\"note\",\"at\":0,\"name\":\"n\",\"json\":\"1\"}"
        "\n",
        "{\"phi_thread\":1}\n{\"seq\":0,\"kind\":\"note\",\"at\":0,\"name\":\"n\",\"json\":\"1\"}\n"
        "{\"seq\":1,\"kind\":\"forgotten\",\"at\":0}\n",
        "{\"phi_thread\":1}\n{\"seq\":5,\"kind\":\"forgotten\",\"at\":0,\"from\":6}\n",
        "{\"phi_thread\":1}\n{\"seq\":18446744073709551615,\"kind\":\"forgotten\",\"at\":0}\n"};
    rig *r = rig_new();
    phi_thread *thread = phi_thread_new(rig_runtime(r), 0);
    char words[200];
    size_t i;
    for (i = 0; i < PHI__COUNT(bad); i++)
        CHECK_EQ_INT(thread_from_json(thread, phi_str_of(bad[i]), words, sizeof words), PHI_PARSE);
    CHECK_EQ_INT(thread_from_json(thread,
                                  phi_str_of("{\"phi_thread\":1}\n{\"seq\":5,\"kind\":"
                                             "\"forgotten\",\"at\":0,\"from\":2}\n"),
                                  words, sizeof words),
                 PHI_OK);
    CHECK(phi_thread_get_info(thread).first == 5 && phi_thread_count(thread) == 6);
    rig_free(r);
}

/* ---- without memory ---- */

TEST(an_allocation_that_fails_while_it_forgets_is_survived) {
    int n, ended = 0;
    for (n = 0; n < 4000 && ended < 3; n += 1 + n / 40) {
        rig *r = rig_new();
        phi_agent_desc desc = limited(24576, (phi_at_memory_limit)(n % 2));
        talk t;
        talk_begin(&t, r, &desc);
        CHECK_EQ_INT((int)exchanges(&t, 5), 5);
        test_alloc_fail_at(n);
        (void)exchanges(&t, 4);
        ended += !test_alloc_tripped();
        test_alloc_fail_at(-1);
        (void)rig_step(r);
        (void)rig_step(r);
        CHECK_EQ_INT((int)exchanges(&t, 3), 3);
        rig_free(r);
        if (!CHECK_EQ_INT(test_alloc_live_bytes(), 0)) return;
    }
}

TEST_MAIN(TEST_ENTRY(ten_thousand_exchanges_fit_into_64_kb_with_compaction),
          TEST_ENTRY(ten_thousand_exchanges_fit_into_64_kb_with_forgetting),
          TEST_ENTRY(smaller_and_larger_limits_last_as_well),
          TEST_ENTRY(an_agent_without_a_limit_forgets_nothing),
          TEST_ENTRY(what_is_forgotten_is_not_found_and_an_entry_of_the_log_says_so),
          TEST_ENTRY(the_newest_turns_are_kept_and_the_model_sees_them),
          TEST_ENTRY(durable_messages_outlive_the_forgetting),
          TEST_ENTRY(usage_and_loop_ids_count_on), TEST_ENTRY(other_lanes_keep_what_they_show),
          TEST_ENTRY(nothing_is_forgotten_while_an_event_points_into_the_log),
          TEST_ENTRY(the_response_of_the_run_that_forgets_stays_good_and_older_ones_are_stale),
          TEST_ENTRY(a_run_that_does_not_fit_says_which_limit_and_the_next_one_goes_on),
          TEST_ENTRY(a_prompt_that_finds_no_memory_makes_room_at_the_next_step),
          TEST_ENTRY(a_host_that_wants_it_to_stop_is_told_so_and_clearing_makes_it_usable_again),
          TEST_ENTRY(the_runtime_s_limit_has_words_of_its_own),
          TEST_ENTRY(an_agent_that_does_not_fit_into_its_limit_says_so),
          TEST_ENTRY(an_agent_that_does_not_fit_into_the_runtime_s_limit_says_so),
          TEST_ENTRY(a_snapshot_that_does_not_fit_into_the_limit_says_so),
          TEST_ENTRY(an_answer_of_50_kb_in_ten_thousand_deltas_fits_into_256_kb),
          TEST_ENTRY(with_a_store_the_view_is_made_smaller_and_the_log_stays_whole),
          TEST_ENTRY(an_entry_of_half_the_limit_is_stored_and_leaves_memory),
          TEST_ENTRY(what_is_cleared_of_a_stored_thread_leaves_memory_at_once),
          TEST_ENTRY(a_snapshot_of_an_agent_that_has_forgotten_goes_on_and_can_be_stored),
          TEST_ENTRY(a_log_that_does_not_begin_with_what_it_forgot_is_refused),
          TEST_ENTRY(an_allocation_that_fails_while_it_forgets_is_survived))
