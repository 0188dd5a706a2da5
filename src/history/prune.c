/* prune.c - plans a prune: whole groups, the oldest first. */
#include "history/prune.h"

#include "text/json_in.h"
#include "history/compact_in.h"
#include "history/history_in.h"
#include "history/plan_in.h"
#include "history/prune_in.h"
#include "model/texts_in.h"
#include "model/event_parts.h"

typedef struct phi__pruning {
    const phi_view_item *items;
    const phi_prune *prune;
    const phi_token_counter *counter;
    phi_arena *arena;
    phi__plan plan;
    phi_message *memo;
    phi_pruned pruned;
} phi__pruning;

static bool phi__prune_stays(const phi__pruning *p, const phi_view_item *item) {
    uint32_t kept = (uint32_t)PHI_ITEM_SYNTHETIC | (uint32_t)PHI_ENTRY_DURABLE;
    phi_role role = item->message->role;
    return (role != PHI_ROLE_ASSISTANT && role != PHI_ROLE_TOOL_RESULT) ||
           (item->flags & kept) != 0 || item->from < p->prune->from_seq ||
           (p->prune->end_seq != 0 && item->to >= p->prune->end_seq);
}

/* A result without a call is a group by itself. False: no memory. */
static bool phi__prune_choose(phi__pruning *p) {
    phi_memory *memory = p->arena->memory;
    size_t *callers = phi__groups_find(memory, p->items, sizeof *p->items, p->plan.count);
    size_t i, at = 0;
    if (callers == NULL) return false;
    for (i = 0; i < p->plan.count; i++) {
        const phi_view_item *item = &p->items[i];
        phi__plan_put(&p->plan, i, item->from, item->to,
                      phi_tokens_of_message(p->counter, item->message));
        p->plan.items[i].stays = phi__prune_stays(p, item);
        if (callers[i] != SIZE_MAX) phi__plan_join(&p->plan, callers[i], i);
    }
    phi__groups_free(memory, p->plan.count, callers);
    while (p->plan.tokens < p->prune->tokens &&
           phi__plan_take(&p->plan, &at, p->plan.count, false)) {}
    p->pruned.tokens_removed = p->plan.tokens;
    p->pruned.messages_removed = p->plan.removed;
    return true;
}

/* ---- the report ---- */

static bool phi__prune_times(phi__pruning *p) {
    int64_t *times = (int64_t *)phi_arena_alloc(
        p->arena, phi__mul(phi__max(p->pruned.messages_removed, 1), sizeof *times));
    size_t i;
    if (times == NULL) return false;
    for (i = 0; i < p->plan.count; i++)
        if (phi__plan_goes(&p->plan, i))
            times[p->pruned.timestamp_count++] = p->items[i].message->timestamp_ms;
    p->pruned.timestamps = times;
    return true;
}

PHI__FN phi_message *phi__prune_memo(phi_str memo, const phi_message *first, const phi_texts *texts,
                                     phi_arena *arena) {
    phi__texts_args args;
    phi_str text;
    memset(&args, 0, sizeof args);
    args.text = memo;
    return phi__texts_make(arena, texts, PHI_TEXT_PRUNED, &args, &text)
               ? phi__compact_say_at(text, first, arena)
               : NULL;
}

static bool phi__prune_remember(phi__pruning *p) {
    size_t first = 0;
    if (p->prune->memo.len == 0) return true;
    while (first + 1 < p->plan.count && !phi__plan_goes(&p->plan, first)) first++;
    p->memo = phi__prune_memo(p->prune->memo, p->items[first].message, p->prune->texts, p->arena);
    return p->memo != NULL && phi__arena_str(p->arena, p->prune->memo, &p->pruned.memo);
}

static bool phi__prune_meta(const phi__pruning *p, const char **meta) {
    phi__buf out;
    phi_str kept;
    size_t i;
    bool done;
    phi__buf_init(&out, p->arena->memory);
    phi__buf_text(&out, "{\"tokens_removed\":");
    phi__json_number_put_u64(&out, p->pruned.tokens_removed);
    phi__buf_text(&out, ",\"messages_removed\":");
    phi__json_number_put_u64(&out, p->pruned.messages_removed);
    phi__buf_text(&out, ",\"memo\":");
    if (p->pruned.memo.len > 0)
        phi__json_write_str(&out, p->pruned.memo);
    else
        phi__buf_text(&out, "null");
    phi__buf_text(&out, ",\"pruned_timestamps\":[");
    for (i = 0; i < p->pruned.timestamp_count; i++) {
        phi__json_write_comma(&out);
        phi__json_number_put_i64(&out, p->pruned.timestamps[i]);
    }
    phi__buf_text(&out, "]}");
    done = !out.failed && phi__arena_str(p->arena, phi__buf_str(&out), &kept);
    phi__buf_free(&out);
    if (done) *meta = kept.at;
    return done;
}

static phi_status phi__prune_make(phi__pruning *p, phi_rewrite *out) {
    if (!phi__prune_choose(p)) return PHI_NO_MEMORY;
    if (p->pruned.messages_removed > 0) {
        if (!phi__prune_remember(p)) return PHI_NO_MEMORY;
        if (p->memo == NULL ||
            phi_tokens_of_message(p->counter, p->memo) < p->pruned.tokens_removed) {
            if (!phi__prune_times(p) || !phi__prune_meta(p, &out->meta)) return PHI_NO_MEMORY;
            out->spans = phi__plan_spans(&p->plan, p->arena, p->memo, &out->span_count);
            return out->spans != NULL ? PHI_OK : PHI_NO_MEMORY;
        }
    }
    memset(&p->pruned, 0, sizeof p->pruned);
    return PHI_OK;
}

PHI__FN phi_status phi__prune_plan(const phi_view_item *items, size_t count, const phi_prune *prune,
                                   const phi_token_counter *counter, phi_arena *arena,
                                   phi_rewrite *out, phi_pruned *pruned) {
    phi__pruning p;
    phi__plan_item *known;
    phi_status status;
    if ((items == NULL && count > 0) || prune == NULL || prune->tokens == 0 || arena == NULL ||
        out == NULL)
        return PHI_BAD_ARG;
    memset(&p, 0, sizeof p);
    memset(out, 0, sizeof *out);
    if (pruned != NULL) memset(pruned, 0, sizeof *pruned);
    p.items = items;
    p.prune = prune;
    p.counter = counter;
    p.arena = arena;
    known = (phi__plan_item *)phi_arena_alloc(arena, phi__mul(phi__max(count, 1), sizeof *known));
    if (known == NULL) return PHI_NO_MEMORY;
    phi__plan_init(&p.plan, known, count);
    out->reason = PHI_REWRITE_PRUNE;
    status = phi__prune_make(&p, out);
    if (status != PHI_OK) memset(out, 0, sizeof *out);
    if (status == PHI_OK && pruned != NULL) *pruned = p.pruned;
    return status;
}

PHI__FN uint64_t phi__prune_from(const phi_thread *thread) {
    uint64_t limit = UINT64_MAX, from = 0;
    uint32_t lane;
    size_t i;
    if (thread == NULL) return 0;
    for (lane = thread->lanes.active; lane != PHI__LANE_NONE;
         lane = thread->lanes.at[lane].parent) {
        for (i = 0; i < thread->ops.compaction_count; i++) {
            const phi__compaction_mark *mark = &thread->ops.compactions[i];
            if (mark->lane == lane && mark->seq <= limit && mark->seq >= from) from = mark->seq + 1;
        }
        if (thread->lanes.at == NULL) break;
        if (thread->lanes.at[lane].fork_seq < limit) limit = thread->lanes.at[lane].fork_seq;
    }
    return from;
}
