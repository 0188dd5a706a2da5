/* context_edits.c - prunes and reverts that tools ask for.

   The edits of a turn wait until its calls are over. They are applied before TURN_END, as rewrites
   of the run. A revert comes first, so that a prune does not count messages that the revert
   removes. */
#include "features/features_in.h"
#include "features/context_edits.h"

#include <stdio.h>

/* The feature's state of a run. */
typedef struct phi__context_edits {
    uint64_t prune_tokens; /* 0: no prune */
    phi__buf memo;
    bool reverts;
    phi_revert_category category;
    uint64_t step;
    phi__buf summary;
} phi__context_edits;

/* Makes the buffers, in the agent's memory, before the first edit. */
static void phi__edits_begin(phi__run *run, phi__context_edits *edits) {
    if (edits->memo.memory != NULL) return;
    phi__feature_join(run, phi_feature_context_edits);
    phi__buf_init(&edits->memo, &run->agent->memory);
    phi__buf_init(&edits->summary, &run->agent->memory);
}

static phi__context_edits *phi__edits_of(phi__run *run) {
    phi__context_edits *edits =
        (phi__context_edits *)phi__feature_run_state(run, phi_feature_context_edits);
    phi__edits_begin(run, edits);
    return edits;
}

static void phi__edits_free(phi__context_edits *edits) {
    if (edits->memo.memory == NULL) return;
    phi__buf_free(&edits->memo);
    phi__buf_free(&edits->summary);
    edits->prune_tokens = 0;
    edits->reverts = false;
}

/* Returns the seq of the entry that began the turn. */
static uint64_t phi__edits_turn(const phi__run *run) {
    const phi_thread *thread = run->agent->thread;
    size_t i = thread->log.held;
    while (i > 0 && thread->log.entries[i - 1]->kind != PHI_ENTRY_TURN_START) i--;
    return i > 0 ? thread->log.entries[i - 1]->seq : 0;
}

/* ---- prunes ---- */

static bool phi__edits_prune(phi__run *run, const phi__context_edits *edits, phi_arena *scratch) {
    phi_thread *thread = run->agent->thread;
    const phi_view_item *items;
    phi_rewrite rewrite;
    phi_pruned pruned;
    size_t count;
    phi_prune prune = PHI_ZERO;
    prune.tokens = edits->prune_tokens;
    prune.memo = phi__buf_str(&edits->memo);
    prune.texts = run->agent->desc.texts;
    prune.from_seq = phi__prune_from(thread);
    prune.end_seq = phi__edits_turn(run);
    if (phi_thread_view(thread, NULL, UINT64_MAX, scratch, &items, &count) != PHI_OK ||
        phi__prune_plan(items, count, &prune, phi__projection_counter(run->agent), scratch,
                        &rewrite, &pruned) != PHI_OK)
        return false;
    if (rewrite.span_count == 0) return true;
    phi_status status = phi__events_rewrite(run, &rewrite);
    if (status != PHI_OK) return status != PHI_NO_MEMORY;
    phi_arena *arena = phi__thread_room(thread);
    phi_pruned *kept = (phi_pruned *)phi_arena_alloc(arena, sizeof *kept);
    int64_t *times = (int64_t *)phi_arena_alloc(
        arena, phi__mul(phi__max(pruned.timestamp_count, 1), sizeof *times));
    if (kept == NULL || times == NULL) return false;
    *kept = pruned;
    memcpy(times, pruned.timestamps, pruned.timestamp_count * sizeof *times);
    kept->timestamps = times;
    phi_event event = PHI_ZERO;
    event.kind = PHI_EV_PRUNED;
    event.pruned = kept;
    return phi__arena_str(arena, pruned.memo, &kept->memo) && phi__events_emit(run->agent, &event);
}

/* ---- reverts ---- */

static bool phi__edits_emit_reverted(phi__run *run, const phi_reverted *reverted) {
    phi_arena *arena = phi__thread_room(run->agent->thread);
    phi_reverted *kept = (phi_reverted *)phi_arena_alloc(arena, sizeof *kept);
    phi_str *names = (phi_str *)phi_arena_alloc(
        arena, phi__mul(phi__max(reverted->abandoned_count, 1), sizeof *names));
    if (kept == NULL || names == NULL) return false;
    *kept = *reverted; /* the category is a static string */
    for (size_t i = 0; i < reverted->abandoned_count; i++)
        if (!phi__arena_str(arena, reverted->abandoned[i], &names[i])) return false;
    kept->abandoned = names;
    phi_event event = PHI_ZERO;
    event.kind = PHI_EV_REVERTED;
    event.reverted = kept;
    return phi__arena_str(arena, reverted->target, &kept->target) &&
           phi__arena_str(arena, reverted->summary, &kept->summary) &&
           phi__arena_str(arena, reverted->reason, &kept->reason) &&
           phi__events_emit(run->agent, &event);
}

static bool phi__edits_revert(phi__run *run, const phi__context_edits *edits, phi_arena *scratch) {
    const phi_thread *thread = run->agent->thread;
    phi_revert revert = PHI_ZERO;
    phi_reverted reverted;
    phi_rewrite rewrite;
    revert.category = edits->category;
    revert.step = edits->step;
    revert.summary = phi__buf_str(&edits->summary);
    revert.texts = run->agent->desc.texts;
    revert.end_seq = phi__edits_turn(run);
    if (phi__revert_plan(thread, &revert, scratch, &rewrite, &reverted) != PHI_OK) return false;
    phi_status status = rewrite.span_count > 0 ? phi__events_rewrite(run, &rewrite) : PHI_OK;
    if (status == PHI_NO_MEMORY) return false;
    /* happens in a history that the host has made, with results far from their calls */
    if (status != PHI_OK) {
        reverted.applied = false;
        reverted.abandoned_count = 0;
        reverted.reason = PHI__LIT("results behind the step belong to calls in front of it");
    }
    return phi__edits_emit_reverted(run, &reverted);
}

/* Reports a revert that a later one has replaced. */
static bool phi__edits_replaced(phi__run *run, const phi__context_edits *edits) {
    char target[PHI__STEP_BYTES];
    phi_reverted reverted = PHI_ZERO;
    (void)snprintf(target, sizeof target, "n%llu", (unsigned long long)edits->step);
    reverted.category = phi_str_of(phi__revert_word(edits->category));
    reverted.target = phi_str_of(target);
    reverted.summary = phi__buf_str(&edits->summary);
    reverted.reason = PHI__LIT("a later one of the same turn took its place");
    return phi__edits_emit_reverted(run, &reverted);
}

/* ---- at the end of a turn ---- */

static bool phi__edits_do(phi__run *run, phi__context_edits *edits) {
    phi_arena scratch;
    bool good = true;
    if (edits->prune_tokens == 0 && !edits->reverts) return true;
    phi_arena_init(&scratch, &run->agent->memory, 0);
    if (edits->reverts) good = phi__edits_revert(run, edits, &scratch);
    if (good && edits->prune_tokens > 0) good = phi__edits_prune(run, edits, &scratch);
    phi_arena_free(&scratch);
    phi__edits_free(edits);
    return good;
}

/* Returns the result for the log. If the agent's tools name steps, the result is a copy with the
   step's name. NULL: no memory. */
static const phi_message *phi__edits_name(phi__run *run, const phi_message *result) {
    phi_arena *arena = phi__thread_room(run->agent->thread);
    char label[PHI__STEP_BYTES];
    phi_message *named;
    phi_content *content;
    size_t n = result->content_count;
    if (!run->agent->tools->names_steps) return result;
    (void)phi__step_label(run->agent->thread->log.count, label);
    named = (phi_message *)phi_arena_alloc(arena, sizeof *named);
    content = (phi_content *)phi__arena_zero(arena, phi__mul(phi__add(n, 1), sizeof *content));
    if (named == NULL || content == NULL) return NULL;
    *named = *result;
    if (n > 0) memcpy(content, result->content, n * sizeof *content);
    content[n].kind = PHI_CONTENT_TEXT;
    if (!phi__arena_str(arena, phi_str_of(label), &content[n].text)) return NULL;
    named->content = content;
    named->content_count = n + 1;
    return named;
}

/* ---- snapshots ---- */

static void phi__edits_save(phi__buf *out, const phi__context_edits *edits) {
    if (edits->prune_tokens > 0) {
        phi__records_u64(out, "prune", edits->prune_tokens);
        phi__records_str(out, "prune_memo", phi__buf_str(&edits->memo));
    }
    if (!edits->reverts) return;
    phi__records_u64(out, "revert", (uint64_t)edits->category);
    phi__records_u64(out, "revert_step", edits->step);
    phi__records_str(out, "revert_summary", phi__buf_str(&edits->summary));
}

static phi_status phi__edits_load(phi__run *run, phi__context_edits *edits, const phi_json *node) {
    uint64_t category = phi__json_get_uint(phi_json_get(node, "revert"), 0);
    if (category > (uint64_t)PHI_REVERT_STEP_SUMMARY) return PHI_PARSE;
    phi__edits_begin(run, edits);
    edits->prune_tokens = phi__json_get_uint(phi_json_get(node, "prune"), 0);
    phi__buf_add_str(&edits->memo, phi_json_str(phi_json_get(node, "prune_memo"), ""));
    edits->reverts = category > 0;
    edits->category = (phi_revert_category)category;
    edits->step = phi__json_get_uint(phi_json_get(node, "revert_step"), 0);
    phi__buf_add_str(&edits->summary, phi_json_str(phi_json_get(node, "revert_summary"), ""));
    return edits->memo.failed || edits->summary.failed ? PHI_NO_MEMORY : PHI_OK;
}

static phi__state phi__edits_take(phi__moment *moment) {
    phi__run *run = moment->run;
    phi__context_edits *edits = (phi__context_edits *)moment->run_state;
    bool done = true;
    switch (moment->point) {
    case PHI__POINT_RESULT:
        moment->message = phi__edits_name(run, moment->message);
        done = moment->message != NULL;
        break;
    case PHI__POINT_TURN_ENDS: done = phi__edits_do(run, edits); break;
    case PHI__POINT_RUN_FREED: phi__edits_free(edits); break;
    case PHI__POINT_RUN_SAVE: phi__edits_save(moment->out, edits); break;
    case PHI__POINT_RUN_LOAD: moment->status = phi__edits_load(run, edits, moment->json); break;
    default: break;
    }
    return done ? PHI__RUN_ON : PHI__RUN_LOST;
}

static bool phi__edits_wants(const phi__run *run) {
    /* without named steps, the first edit makes the feature take part */
    return run->agent->tools->names_steps;
}

PHI_API const phi__feature *phi_feature_context_edits(void) {
    enum {
        points = PHI__POINT_RESULT | PHI__POINT_TURN_ENDS | PHI__POINT_RUN_FREED |
                 PHI__POINT_RUN_SAVE | PHI__POINT_RUN_LOAD
    };
    static const phi__feature feature = {
        points,           sizeof(phi__context_edits),    0,    phi__edits_take,
        phi__edits_wants, PHI__FEATURE_AT_CONTEXT_EDITS, NULL, NULL};
    return &feature;
}

static phi_status phi__edits_note_prune(phi__run *run, const phi_prune *prune) {
    phi__context_edits *edits = phi__edits_of(run);
    size_t before = edits->memo.len;
    if (before > 0 && prune->memo.len > 0) phi__buf_char(&edits->memo, '\n');
    phi__buf_add_str(&edits->memo, prune->memo);
    if (edits->memo.failed) {
        edits->memo.failed = false;
        edits->memo.len = before;
        return PHI_NO_MEMORY;
    }
    edits->prune_tokens = prune->tokens > UINT64_MAX - edits->prune_tokens
                              ? UINT64_MAX
                              : edits->prune_tokens + prune->tokens;
    return PHI_OK;
}

static phi_status phi__edits_note_revert(phi__run *run, const phi_revert *given, char *words,
                                         size_t words_size) {
    phi_revert revert = PHI_ZERO;
    revert.category = given->category;
    revert.step = given->step;
    revert.summary = given->summary;
    revert.end_seq = phi__edits_turn(run);
    /* A revert that is not possible now is reported at once. */
    phi_reverted reverted;
    phi_rewrite rewrite;
    phi_arena scratch;
    phi_arena_init(&scratch, &run->agent->memory, 0);
    phi_status status =
        phi__revert_plan(run->agent->thread, &revert, &scratch, &rewrite, &reverted);
    if (status == PHI_OK && !reverted.applied) {
        if (words != NULL && words_size > 0)
            (void)snprintf(words, words_size, "%.*s", (int)reverted.reason.len, reverted.reason.at);
        status = phi__edits_emit_reverted(run, &reverted) ? PHI_REJECTED : PHI_NO_MEMORY;
    }
    phi_arena_free(&scratch);
    if (status != PHI_OK) return status;
    phi__context_edits *edits = phi__edits_of(run);
    phi__buf copy;
    phi__buf_init(&copy, &run->agent->memory);
    phi__buf_add_str(&copy, revert.summary);
    if (copy.failed || (edits->reverts && !phi__edits_replaced(run, edits))) {
        phi__buf_free(&copy);
        return PHI_NO_MEMORY;
    }
    phi__buf_free(&edits->summary);
    edits->summary = copy;
    edits->category = revert.category;
    edits->step = revert.step;
    edits->reverts = true;
    return PHI_OK;
}

PHI_API phi_status phi_call_edit(phi_call call, const phi_prune *prune, const phi_revert *revert,
                                 char *words, size_t words_size) {
    const phi__toolcall *found = phi__call_find(call);
    phi__run *run = found != NULL ? found->run : NULL;
    if (call.rt == NULL || (prune == NULL) == (revert == NULL)) return PHI_BAD_ARG;
    if (prune != NULL && (prune->tokens == 0 || (prune->memo.at == NULL && prune->memo.len > 0)))
        return PHI_BAD_ARG;
    if (revert != NULL && revert->summary.at == NULL && revert->summary.len > 0) return PHI_BAD_ARG;
    if (words != NULL && words_size > 0) words[0] = '\0';
    if (run == NULL) return PHI_STALE;
    if (phi__feature_need(call.rt, PHI__FEATURE_AT_CONTEXT_EDITS, "edits of the context",
                          "phi_feature_context_edits") != PHI_OK)
        return PHI_UNSUPPORTED;
    return prune != NULL ? phi__edits_note_prune(run, prune)
                         : phi__edits_note_revert(run, revert, words, words_size);
}
