/* test_about.c - what a thread knows of itself: id, times, title, metadata, origin, and its runs' system prompts; in memory,
   in a store, as text, in a snapshot, after forgetting, and when memory fails. */
#include "support/set.h"
#include "support/store_mem.h"
#include "support/talk.h"
#include "support/thread_text.h"

#include "agent/one_shot_run.h"
#include "agent/snapshot.h"
#include "persist/introspect.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "log/log_in.h"

static phi_thread_info info_of(phi_thread *thread) {
    CHECK(phi_thread_id(thread).len > 0);
    return phi_thread_get_info(thread);
}

static void says_of_itself(phi_thread *thread, const char *title, const char *metadata) {
    phi_thread_info info = info_of(thread);
    CHECK_STR(info.title, title);
    CHECK_STR(info.metadata, metadata);
}

/* The prompt of the last run up to entry seq. */
static const char *prompt_at(const phi_thread *thread, uint64_t seq) {
    static char out[100];
    uint64_t i = phi_thread_count(thread), first = phi_thread_get_info(thread).first;
    phi_entry e;
    if (seq < i) i = seq + 1;
    for (; i > first; i--)
        if (phi_thread_entry(thread, i - 1, &e) == PHI_OK && e.kind == PHI_ENTRY_LOOP_START &&
            e.loop->has_system_prompt) {
            (void)snprintf(out, sizeof out, "%.*s", (int)e.loop->system_prompt.len,
                           e.loop->system_prompt.at);
            return out;
        }
    return "(none)";
}

static size_t notes(const phi_thread *thread) {
    size_t n = 0;
    uint64_t i;
    phi_entry e;
    for (i = phi_thread_get_info(thread).first; i < phi_thread_count(thread); i++)
        n += phi_thread_entry(thread, i, &e) == PHI_OK && e.kind == PHI_ENTRY_NOTE;
    return n;
}

/* ---- id, times ---- */

TEST(a_thread_in_memory_has_an_id_that_stays) {
    rig *r = rig_new();
    phi_thread *thread = phi_thread_new(rig_runtime(r), 0);
    phi_thread *other = phi_thread_new(rig_runtime(r), 0);
    phi_thread_info info = info_of(thread);
    char id[64];
    CHECK_EQ_INT((int)phi_thread_id(thread).len, 36);
    CHECK(info.made_ms == 0 && info.changed_ms == 0 && info.title.len == 0);
    CHECK(info.metadata.len == 0 && info.forked_from.len == 0);
    heard_copy(id, sizeof id, phi_thread_id(thread));
    CHECK_EQ_INT(phi_thread_note(thread, "mine", phi_str_of("1"), NULL), PHI_OK);
    CHECK_EQ_INT(phi_thread_set_info(thread, "At the forge", NULL), PHI_OK);
    CHECK_STR(phi_thread_id(thread), id);
    CHECK(!phi_str_equal(phi_thread_id(other), phi_thread_id(thread)));
    CHECK_STR(phi_thread_id(NULL), "");
    CHECK_EQ_INT(phi_thread_get_info(NULL).lane_count, 0);
    rig_free(r);
}

TEST(a_new_lane_and_a_switch_have_their_time) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_thread *thread;
    int64_t before;
    talk t;
    talk_begin(&t, r, &desc);
    thread = phi_agent_thread(t.agent);
    CHECK(exchange(&t) == PHI_OK);
    before = info_of(thread).changed_ms;
    rig_pass_ms(r, 5000);
    CHECK_EQ_INT(phi_thread_fork_lane(thread, "side", NULL, UINT64_MAX), PHI_OK);
    CHECK(info_of(thread).changed_ms >= before + 5000);
    rig_pass_ms(r, 5000);
    CHECK_EQ_INT(phi_thread_switch(thread, "side"), PHI_OK);
    CHECK(info_of(thread).changed_ms >= before + 10000);
    rig_free(r);
}

/* Else a host that tries again and again would fill the log's memory with what is in no log. */
TEST(notes_that_find_no_memory_take_none) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_thread *thread;
    size_t once = 0, used, failed = 0;
    int k, n, i;
    talk t;
    talk_begin(&t, r, &desc);
    thread = phi_agent_thread(t.agent);
    CHECK(exchange(&t) == PHI_OK);
    for (k = n = 0; k < 40; n++) {
        phi_status status = PHI_NO_MEMORY;
        for (i = 0; i < 50 && status == PHI_NO_MEMORY; i++) {
            test_alloc_fail_at(n);
            status = phi_thread_note(thread, "mine", phi_str_of("[1,2,3,4,5,6,7,8,9,10]"), NULL);
            test_alloc_fail_at(-1);
            used = phi_agent_get_info(t.agent).memory_used;
            if (i == 0) once = used;
            if (status == PHI_NO_MEMORY) CHECK(used <= once + 64);
            failed += status == PHI_NO_MEMORY;
        }
        if (status != PHI_OK) continue;
        k++; /* it is in the log, with whatever that took: the same with the next */
        n = -1;
    }
    CHECK(failed > 100);
    rig_free(r);
}

TEST(it_knows_when_it_was_made_and_changed) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_thread *thread;
    phi_thread_info before, after;
    phi_entry first, last;
    talk t;
    talk_begin(&t, r, &desc);
    thread = phi_agent_thread(t.agent);
    CHECK(exchange(&t) == PHI_OK);
    before = info_of(thread);
    rig_pass_ms(r, 5000);
    CHECK(exchange(&t) == PHI_OK);
    after = info_of(thread);
    CHECK_EQ_INT(phi_thread_entry(thread, 0, &first), PHI_OK);
    CHECK_EQ_INT(phi_thread_entry(thread, phi_thread_count(thread) - 1, &last), PHI_OK);
    CHECK(before.made_ms == first.at_ms && after.made_ms == first.at_ms);
    CHECK(after.changed_ms == last.at_ms && after.changed_ms >= before.changed_ms + 5000);
    rig_pass_ms(r, 5000);
    CHECK_EQ_INT(phi_thread_note(thread, "mark", phi_str_of("1"), NULL), PHI_OK);
    CHECK_EQ_INT(phi_thread_entry(thread, phi_thread_count(thread) - 1, &first), PHI_OK);
    CHECK(first.at_ms >= last.at_ms + 5000 && info_of(thread).changed_ms == first.at_ms);
    rig_free(r);
}

/* ---- title, metadata ---- */

TEST(a_title_and_metadata_are_notes_of_the_log_and_said_once) {
    rig *r = rig_new();
    phi_thread *thread = phi_thread_new(rig_runtime(r), 0);
    CHECK_EQ_INT(phi_thread_set_info(thread, "At the forge", NULL), PHI_OK);
    CHECK_EQ_INT(phi_thread_set_info(thread, "At the forge", NULL), PHI_OK);
    CHECK_EQ_INT(phi_thread_set_info(thread, NULL, "{\"save\": 3}"), PHI_OK);
    CHECK_EQ_INT((int)notes(thread), 2);
    says_of_itself(thread, "At the forge", "{\"save\": 3}");
    CHECK_EQ_INT(phi_thread_set_info(thread, "", NULL), PHI_OK);
    says_of_itself(thread, "", "{\"save\": 3}");
    CHECK_EQ_INT(phi_thread_set_info(thread, NULL, ""), PHI_OK);
    says_of_itself(thread, "", "");
    rig_free(r);
}

TEST(what_is_no_title_or_no_metadata_is_refused_and_phi_s_names_are_phi_s) {
    rig *r = rig_new();
    phi_thread *thread = phi_thread_new(rig_runtime(r), 0);
    CHECK_EQ_INT(phi_thread_set_info(thread, "\xff", NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_thread_set_info(NULL, "x", NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_thread_set_info(thread, NULL, "[1]"), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_thread_set_info(thread, NULL, "{"), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_thread_set_info(thread, NULL, "{\"a\":\"\xff\"}"), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_thread_set_info(NULL, NULL, "{}"), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_thread_note(thread, PHI_NOTE_THREAD, phi_str_of("{}"), NULL), PHI_BAD_ARG);
    CHECK_EQ_INT((int)phi_thread_count(thread), 0);
    rig_free(r);
}

/* ---- forks ---- */

TEST(a_fork_says_where_it_came_from) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_thread *thread, *fork, *empty, *again;
    phi_thread_info info;
    talk t;
    talk_begin(&t, r, &desc);
    thread = phi_agent_thread(t.agent);
    CHECK(exchange(&t) == PHI_OK);
    CHECK_EQ_INT(phi_thread_set_info(thread, "the first", NULL), PHI_OK);
    rig_pass_ms(r, 5000);
    fork = phi_thread_fork(thread, 3);
    REQUIRE(fork != NULL);
    info = info_of(fork);
    CHECK_STR(info.title, "");
    CHECK(phi_str_equal(info.forked_from, phi_thread_id(thread)));
    CHECK(!phi_str_equal(phi_thread_id(fork), info.forked_from));
    CHECK_EQ_INT((int)info.forked_at, 3);
    CHECK(info.made_ms >= info_of(thread).made_ms + 5000);
    again = phi_thread_fork(fork, UINT64_MAX);
    REQUIRE(again != NULL);
    CHECK(phi_str_equal(info_of(again).forked_from, phi_thread_id(fork)));
    empty = phi_thread_new(rig_runtime(r), 0);
    fork = phi_thread_fork(empty, UINT64_MAX);
    REQUIRE(fork != NULL);
    CHECK(info_of(fork).forked_at == UINT64_MAX);
    CHECK(phi_str_equal(info_of(fork).forked_from, phi_thread_id(empty)));
    rig_free(r);
}

/* ---- system prompts ---- */

TEST(each_run_s_system_prompt_is_known_and_kept_once) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_thread *thread;
    uint64_t ends[5], i, kept = 0;
    phi_entry e;
    talk t;
    desc.system_prompt = "You are the smith.";
    talk_begin(&t, r, &desc);
    thread = phi_agent_thread(t.agent);
    CHECK_EQ_STR(prompt_at(thread, UINT64_MAX), "(none)");
    for (i = 0; i < 5; i++) {
        if (i == 2) CHECK_EQ_INT(set_system_prompt(t.agent, NULL), PHI_OK);
        if (i == 4) CHECK_EQ_INT(set_system_prompt(t.agent, "You are a ghost."), PHI_OK);
        CHECK(exchange(&t) == PHI_OK);
        ends[i] = phi_thread_count(thread) - 1;
    }
    CHECK_EQ_STR(prompt_at(thread, ends[0]), "You are the smith.");
    CHECK_EQ_STR(prompt_at(thread, ends[1]), "You are the smith.");
    CHECK_EQ_STR(prompt_at(thread, ends[2]), "");
    CHECK_EQ_STR(prompt_at(thread, ends[3]), "");
    CHECK_EQ_STR(prompt_at(thread, UINT64_MAX), "You are a ghost.");
    for (i = 0; i < phi_thread_count(thread); i++)
        if (phi_thread_entry(thread, i, &e) == PHI_OK && e.kind == PHI_ENTRY_LOOP_START)
            kept += e.loop->has_system_prompt;
    CHECK_EQ_INT((int)kept, 3);
    rig_free(r);
}

TEST(an_agent_that_never_had_a_system_prompt_notes_none) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    talk t;
    desc.system_prompt = NULL;
    talk_begin(&t, r, &desc);
    CHECK(exchange(&t) == PHI_OK);
    CHECK_EQ_STR(prompt_at(phi_agent_thread(t.agent), UINT64_MAX), "(none)");
    rig_free(r);
}

/* ---- kept ---- */

TEST(a_store_keeps_all_of_it) {
    store_mem *store = store_mem_new();
    int64_t made = 0;
    int round;
    for (round = 0; round < 2; round++) {
        rig *r = rig_new();
        phi_agent_desc desc = rig_desc();
        phi_thread *thread;
        talk t;
        desc.system_prompt = "You are the smith.";
        desc.store = store_mem_store(store);
        desc.thread_id = "smith";
        if (round == 1) rig_pass_ms(r, 90000);
        talk_begin(&t, r, &desc);
        thread = phi_agent_thread(t.agent);
        if (round == 0) {
            CHECK_EQ_INT(phi_thread_set_info(thread, "At the forge", NULL), PHI_OK);
            CHECK_EQ_INT(phi_thread_set_info(thread, NULL, "{\"save\":3}"), PHI_OK);
            CHECK(exchange(&t) == PHI_OK);
            made = info_of(thread).made_ms;
        }
        CHECK_STR(phi_thread_id(thread), "smith");
        says_of_itself(thread, "At the forge", "{\"save\":3}");
        CHECK(made != 0 && info_of(thread).made_ms == made);
        CHECK_EQ_STR(prompt_at(thread, UINT64_MAX), "You are the smith.");
        rig_free(r);
    }
    CHECK(strstr(store_mem_text(store, "smith"), "You are the smith.") != NULL);
    store_mem_free(store);
}

TEST(a_fork_that_was_read_says_where_it_came_from) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_allocator a = test_allocator();
    phi_memory memory;
    phi_arena arena;
    phi_thread *fork, *again;
    phi_str json = {"", 0};
    char words[100] = "";
    talk t;
    phi_memory_init(&memory, &a, 0);
    phi_arena_init(&arena, &memory, 0);
    talk_begin(&t, r, &desc);
    CHECK(exchange(&t) == PHI_OK);
    fork = phi_thread_fork(phi_agent_thread(t.agent), 3);
    again = phi_thread_new(rig_runtime(r), 0);
    REQUIRE(fork != NULL && again != NULL);
    CHECK_EQ_INT(phi_thread_to_json(fork, &arena, &json), PHI_OK);
    CHECK_EQ_INT(thread_from_json(again, json, words, sizeof words), PHI_OK);
    CHECK_EQ_STR(words, "");
    CHECK(phi_str_equal(info_of(again).forked_from, phi_thread_id(phi_agent_thread(t.agent))));
    CHECK_EQ_INT((int)info_of(again).forked_at, 3);
    phi_arena_free(&arena);
    rig_free(r);
}

TEST(a_log_that_was_read_has_the_times_of_its_entries) {
    store_mem *store = store_mem_new();
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_thread_info before;
    phi_thread *again;
    char words[100];
    talk t;
    desc.store = store_mem_store(store);
    desc.thread_id = "smith";
    talk_begin(&t, r, &desc);
    CHECK(exchange(&t) == PHI_OK);
    rig_pass_ms(r, 5000);
    CHECK(exchange(&t) == PHI_OK);
    before = info_of(phi_agent_thread(t.agent));
    phi_agent_free(t.agent);
    (void)rig_run(r, 2);
    again = phi_thread_new(rig_runtime(r), 0);
    CHECK_EQ_INT(phi_thread_attach(again, store_mem_store(store), "smith", NULL, words, 100),
                 PHI_OK);
    CHECK(before.made_ms != 0 && info_of(again).made_ms == before.made_ms);
    CHECK(before.changed_ms > before.made_ms && info_of(again).changed_ms == before.changed_ms);
    rig_free(r);
    store_mem_free(store);
}

TEST(out_of_its_store_a_thread_keeps_its_id) {
    store_mem *store = store_mem_new();
    rig *r = rig_new();
    phi_thread *thread = phi_thread_new(rig_runtime(r), 0);
    char words[100];
    CHECK_EQ_INT(phi_thread_set_info(thread, "At the forge", NULL), PHI_OK);
    CHECK_EQ_INT(phi_thread_attach(thread, store_mem_store(store), "smith", NULL, words, 100),
                 PHI_OK);
    CHECK_STR(phi_thread_id(thread), "smith");
    CHECK_EQ_INT(phi_thread_attach(thread, NULL, NULL, NULL, NULL, 0), PHI_OK);
    CHECK_STR(phi_thread_id(thread), "smith");
    says_of_itself(thread, "At the forge", "");
    rig_free(r);
    store_mem_free(store);
}

TEST(a_text_of_a_thread_has_its_id_and_reads_as_the_same) {
    rig *r = rig_new();
    phi_thread *from = phi_thread_new(rig_runtime(r), 0), *to, *fork;
    phi_str text, again;
    phi_memory memory;
    phi_arena arena;
    char words[100];
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_thread_note(from, "mine", phi_str_of("1"), NULL), PHI_OK);
    CHECK_EQ_INT(phi_thread_to_json(from, &arena, &text), PHI_OK);
    CHECK(strncmp(text.at, "{\"phi_thread\":1}\n", 17) == 0); /* nobody asked */
    fork = phi_thread_fork(from, UINT64_MAX);
    REQUIRE(fork != NULL);
    CHECK_EQ_INT(phi_thread_set_info(fork, "\"the\nother\"", NULL), PHI_OK);
    CHECK(phi_thread_id(fork).len == 36);
    to = phi_thread_new(rig_runtime(r), 0);
    CHECK_EQ_INT(phi_thread_to_json(fork, &arena, &text), PHI_OK);
    CHECK_EQ_INT(thread_from_json(to, text, words, sizeof words), PHI_OK);
    CHECK(phi_str_equal(phi_thread_id(to), phi_thread_id(fork)));
    CHECK(phi_str_equal(info_of(to).forked_from, phi_thread_id(from)));
    CHECK(info_of(to).made_ms == info_of(fork).made_ms);
    says_of_itself(to, "\"the\nother\"", "");
    CHECK_EQ_INT(phi_thread_to_json(to, &arena, &again), PHI_OK);
    CHECK(phi_str_equal(text, again));
    phi_arena_free(&arena);
    rig_free(r);
}

TEST(a_text_whose_metadata_is_no_object_is_refused_with_its_line) {
    static const char text[] =
        "{\"phi_thread\":1}\n{\"seq\":0,\"kind\":\"note\",\"at\":1,\"name\":\"phi.thread\","
        "\"json\":\"{\\\"metadata\\\":\\\"[1]\\\"}\"}\n";
    rig *r = rig_new();
    phi_thread *thread = phi_thread_new(rig_runtime(r), 0);
    char words[100];
    CHECK_EQ_INT(thread_from_json(thread, phi_str_of(text), words, sizeof words), PHI_PARSE);
    CHECK_EQ_STR(words, "line 2: json: metadata is no object");
    CHECK_EQ_INT((int)phi_thread_count(thread), 0);
    rig_free(r);
}

TEST(a_snapshot_keeps_all_of_it) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_str saved;
    phi_memory memory;
    phi_arena arena;
    phi_agent back;
    char id[64];
    talk t;
    desc.system_prompt = "You are the smith.";
    talk_begin(&t, r, &desc);
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK(exchange(&t) == PHI_OK);
    CHECK_EQ_INT(phi_thread_set_info(phi_agent_thread(t.agent), "At the forge", NULL), PHI_OK);
    heard_copy(id, sizeof id, phi_thread_id(phi_agent_thread(t.agent)));
    CHECK_EQ_INT(phi_agent_snapshot(t.agent, &arena, &saved), PHI_OK);
    phi_agent_free(t.agent);
    back = phi_agent_restore(rig_runtime(r), &desc, saved, PHI_RESTORE_RESUME);
    REQUIRE(back.rt != NULL);
    CHECK_STR(phi_thread_id(phi_agent_thread(back)), id);
    says_of_itself(phi_agent_thread(back), "At the forge", "");
    CHECK_EQ_STR(prompt_at(phi_agent_thread(back), UINT64_MAX), "You are the smith.");
    phi_arena_free(&arena);
    rig_free(r);
}

TEST(an_agent_that_forgets_keeps_it_and_one_that_begins_anew_does_not) {
    rig *r = rig_new();
    phi_agent_desc desc = limited(65536, PHI_AT_MEMORY_LIMIT_FORGET);
    phi_thread *thread;
    phi_thread_info info;
    int64_t made;
    char id[64];
    talk t;
    desc.system_prompt = "You are the smith.";
    talk_begin(&t, r, &desc);
    thread = phi_agent_thread(t.agent);
    CHECK(exchange(&t) == PHI_OK);
    CHECK_EQ_INT(phi_thread_set_info(thread, "At the forge", NULL), PHI_OK);
    info = info_of(thread);
    made = info.made_ms;
    heard_copy(id, sizeof id, phi_thread_id(thread));
    while (t.times < 3) REQUIRE(exchange(&t) == PHI_OK);
    CHECK(phi_thread_get_info(thread).first > 0);
    CHECK_STR(phi_thread_id(thread), id);
    says_of_itself(thread, "At the forge", "");
    CHECK(info_of(thread).made_ms == made);
    CHECK_EQ_INT((int)notes(thread), 1);
    CHECK_EQ_STR(prompt_at(thread, UINT64_MAX), "You are the smith.");
    CHECK_EQ_INT(phi_agent_replace_messages(t.agent, NULL, 0), PHI_OK);
    CHECK_STR(phi_thread_id(thread), id);
    says_of_itself(thread, "At the forge", "");
    CHECK(info_of(thread).made_ms == made);
    CHECK_EQ_INT(phi_agent_reset(t.agent), PHI_OK);
    thread = phi_agent_thread(t.agent);
    says_of_itself(thread, "", "");
    CHECK(!phi_str_equal(phi_thread_id(thread), phi_str_of(id)));
    rig_free(r);
}

/* ---- without memory ---- */

TEST(without_memory_nothing_changes) {
    int n;
    for (n = 0; n < 200; n++) {
        rig *r = rig_new();
        phi_thread *thread = phi_thread_new(rig_runtime(r), 0), *fork;
        phi_status titled, described;
        phi_thread_info info;
        bool tripped;
        CHECK_EQ_INT(phi_thread_set_info(thread, "old", NULL), PHI_OK);
        test_alloc_fail_at(n);
        titled = phi_thread_set_info(thread, "new", NULL);
        described = phi_thread_set_info(thread, NULL, "{\"a\":1}");
        fork = phi_thread_fork(thread, UINT64_MAX);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        info = info_of(thread);
        CHECK_STR(info.title, titled == PHI_OK ? "new" : "old");
        CHECK_STR(info.metadata, described == PHI_OK ? "{\"a\":1}" : "");
        CHECK(titled == PHI_OK || titled == PHI_NO_MEMORY);
        CHECK_EQ_INT((int)notes(thread), 1 + (titled == PHI_OK) + (described == PHI_OK));
        if (fork != NULL) CHECK(phi_str_equal(info_of(fork).forked_from, phi_thread_id(thread)));
        rig_free(r);
        CHECK_EQ_INT(test_alloc_live_bytes(), 0);
        if (!tripped) break;
    }
    CHECK(n > 5 && n < 200);
}

TEST_MAIN(TEST_ENTRY(a_thread_in_memory_has_an_id_that_stays),
          TEST_ENTRY(a_new_lane_and_a_switch_have_their_time),
          TEST_ENTRY(notes_that_find_no_memory_take_none),
          TEST_ENTRY(it_knows_when_it_was_made_and_changed),
          TEST_ENTRY(a_title_and_metadata_are_notes_of_the_log_and_said_once),
          TEST_ENTRY(what_is_no_title_or_no_metadata_is_refused_and_phi_s_names_are_phi_s),
          TEST_ENTRY(a_fork_says_where_it_came_from),
          TEST_ENTRY(each_run_s_system_prompt_is_known_and_kept_once),
          TEST_ENTRY(an_agent_that_never_had_a_system_prompt_notes_none),
          TEST_ENTRY(a_fork_that_was_read_says_where_it_came_from),
          TEST_ENTRY(a_log_that_was_read_has_the_times_of_its_entries),
          TEST_ENTRY(a_store_keeps_all_of_it), TEST_ENTRY(out_of_its_store_a_thread_keeps_its_id),
          TEST_ENTRY(a_text_of_a_thread_has_its_id_and_reads_as_the_same),
          TEST_ENTRY(a_text_whose_metadata_is_no_object_is_refused_with_its_line),
          TEST_ENTRY(a_snapshot_keeps_all_of_it),
          TEST_ENTRY(an_agent_that_forgets_keeps_it_and_one_that_begins_anew_does_not),
          TEST_ENTRY(without_memory_nothing_changes))
