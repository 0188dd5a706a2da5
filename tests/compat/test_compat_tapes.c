/* test_compat_tapes.c - tapes of scenes, and the ends that they are played to:
   tests/fixtures/compat/tapes. PHI_COMPAT_WRITE=1 writes missing ones (compat.h).

   NAME.tape: the recording. ends.txt: the hash of each log at its end, which a run that plays the stored
   tape must have, too. */
#include "compat/scenes_crew.h"
#include "record/replay.h"
#include "agent/agent_history.h"

static phi_status write_tape(void *user_data, const char *bytes, size_t len) {
    compat_add((compat_text *)user_data, bytes, len);
    return PHI_OK;
}

/* Scenes with posts, decisions, timers, retries, tools that wait, other agents. */
static const char *const chosen[] = {"request_in_its_stream",
                                     "calls_and_input_pending",
                                     "steered_sequential_calls",
                                     "decision_pending",
                                     "paused_at_a_limit",
                                     "delay_before_a_retry",
                                     "failures_and_a_call",
                                     "failover_and_a_call",
                                     "hooks_that_change_requests",
                                     "tool_state_and_effects",
                                     "pruned_and_reverted",
                                     "input_refused_and_dropped",
                                     "rewritten_and_a_rewrite_that_waits",
                                     "lanes_and_a_branch",
                                     "sessions_begun_anew",
                                     "hosted_blocks_and_thinking",
                                     "subagents_at_work",
                                     "evaluation_with_a_judge",
                                     "tree_of_thoughts",
                                     "chain_of_draft"};

static bool is_chosen(const scene_kind *kind) {
    size_t i;
    for (i = 0; i < PHI__COUNT(chosen); i++)
        if (strcmp(chosen[i], kind->name) == 0) return true;
    return false;
}

/* Tools that do more than give results run again where a tape is played. */
static bool runs_again(void *user_data, phi_str name) {
    (void)user_data;
    return phi__str_starts(name, "prun") || phi__str_starts(name, "revert");
}

static phi_tape_desc tape_desc(compat_text *out) {
    phi_tape_desc desc = PHI_ZERO;
    desc.allocator = test_allocator();
    desc.write_fn = write_tape;
    desc.runs_fn = runs_again;
    desc.user_data = out;
    return desc;
}

/* The scene in a runtime with that tape; its story, and the hash of its log. */
static uint64_t lived(const scene_kind *kind, phi_tape *tape, compat_text *story) {
    phi_runtime_desc desc = PHI_ZERO;
    uint64_t hash = 0;
    scene s;
    desc.tape = tape;
    scene_begin(&s, kind, &desc);
    if (scene_open(&s)) {
        kind->act(&s);
        kind->rest(&s);
        hash = phi_thread_hash(phi_agent_thread(s.agent));
        compat_str(story, phi_str_of(rig_story(s.r)));
    }
    scene_close(&s);
    return hash;
}

static void recorded(const scene_kind *kind, const char *name, compat_text *ends,
                     compat_text *story) {
    compat_text out = PHI_ZERO;
    phi_tape_desc desc = tape_desc(&out);
    phi_tape *tape;
    uint64_t hash;
    desc.whole_bodies = strcmp(kind->name, "chain_of_draft") == 0;
    tape = phi_tape_record(&desc);
    hash = lived(kind, tape, story);
    CHECK_EQ_INT(phi_tape_end(tape, NULL), PHI_OK);
    compat_print(ends, "%016llx %s\n", (unsigned long long)hash, kind->name);
    phi_tape_free(tape);
    (void)compat_done(name, &out);
}

static void played(const scene_kind *kind, const char *name, compat_text *ends,
                   const compat_text *story) {
    phi_tape_divergence divergence = PHI_ZERO;
    phi_tape_desc desc = tape_desc(NULL);
    phi_parse_error error = PHI_ZERO;
    compat_text again = PHI_ZERO;
    phi_str text;
    char *stored = compat_stored(name, &text.len);
    phi_tape *tape;
    uint64_t hash;
    if (stored == NULL) return;
    text.at = stored;
    tape = phi_tape_play(&desc, text, &error);
    if (CHECK(tape != NULL)) {
        hash = lived(kind, tape, &again);
        if (!CHECK_EQ_INT(phi_tape_end(tape, &divergence), PHI_OK))
            printf("  line %u: %.*s: %.*s, now %.*s\n", (unsigned)divergence.line,
                   (int)divergence.what.len, divergence.what.at, (int)divergence.recorded.len,
                   divergence.recorded.at, (int)divergence.actual.len, divergence.actual.at);
        compat_print(ends, "%016llx %s\n", (unsigned long long)hash, kind->name);
        (void)compat_same(name, again.at, again.len, story->at, story->len);
    }
    phi_tape_free(tape);
    compat_drop(&again);
    free(stored);
}

static void each(const scene_kind *kinds, size_t count, compat_text *recordings,
                 compat_text *plays) {
    char name[160];
    size_t i;
    for (i = 0; i < count; i++) {
        compat_text story = PHI_ZERO;
        int failures = test_failures();
        if (!is_chosen(&kinds[i])) continue;
        (void)snprintf(name, sizeof name, "tapes/%s.tape", kinds[i].name);
        recorded(&kinds[i], name, recordings, &story);
        played(&kinds[i], name, plays, &story);
        compat_drop(&story);
        scene_failed(&kinds[i], failures);
    }
}

TEST(tapes_are_recorded_and_played_to_the_end_as_before) {
    compat_text recordings = PHI_ZERO, plays = PHI_ZERO;
    each(scenes_of_loops, PHI__COUNT(scenes_of_loops), &recordings, &plays);
    each(scenes_of_hosts, PHI__COUNT(scenes_of_hosts), &recordings, &plays);
    each(scenes_of_histories, PHI__COUNT(scenes_of_histories), &recordings, &plays);
    each(scenes_of_threads, PHI__COUNT(scenes_of_threads), &recordings, &plays);
    each(scenes_of_crews, PHI__COUNT(scenes_of_crews), &recordings, &plays);
    (void)compat_same("the ends", plays.at, plays.len, recordings.at, recordings.len);
    (void)compat_done("tapes/ends.txt", &recordings);
    compat_drop(&plays);
}

TEST(the_folder_has_no_other_tapes) { compat_folder("tapes"); }

TEST_MAIN(TEST_ENTRY(tapes_are_recorded_and_played_to_the_end_as_before),
          TEST_ENTRY(the_folder_has_no_other_tapes))
