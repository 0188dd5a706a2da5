/* prune.c - plans a prune: whole groups, the oldest first. */
#include "history/prune.h"

#include "text/json_in.h"
#include "history/history_in.h"

/* An item; where it leads a group, also the group's facts. */
typedef struct phi__prune_item {
    size_t leader; /* the answer that a result belongs to; else itself */
    uint64_t tokens;
    bool stays, goes;
} phi__prune_item;

typedef struct phi__pruning {
    const phi_view_item *items;
    size_t count;
    const phi_prune *prune;
    const phi_token_counter *counter;
    phi_arena *arena;
    phi__prune_item *known;
    phi_message *memo;
    phi_pruned pruned;
} phi__pruning;

static bool phi__prune_calls(const phi_message *m, phi_str id) {
    size_t i;
    for (i = 0; m->role == PHI_ROLE_ASSISTANT && i < m->content_count; i++)
        if (m->content[i].kind == PHI_CONTENT_TOOL_CALL && phi_str_equal(m->content[i].id, id))
            return true;
    return false;
}

/* The nearest answer before it that made its call; a result without one is a group by itself. */
static size_t phi__prune_leader(const phi__pruning *p, size_t at) {
    const phi_message *m = p->items[at].message;
    size_t i = at;
    if (m->role != PHI_ROLE_TOOL_RESULT) return at;
    while (i > 0)
        if (phi__prune_calls(p->items[--i].message, m->tool_call_id)) return i;
    return at;
}

static bool phi__prune_stays(const phi__pruning *p, const phi_view_item *item) {
    uint32_t kept = (uint32_t)PHI_ITEM_SYNTHETIC | (uint32_t)PHI_ENTRY_DURABLE;
    phi_role role = item->message->role;
    return (role != PHI_ROLE_ASSISTANT && role != PHI_ROLE_TOOL_RESULT) ||
           (item->flags & kept) != 0 || item->from < p->prune->from_seq ||
           (p->prune->end_seq != 0 && item->to >= p->prune->end_seq);
}

static void phi__prune_look(phi__pruning *p) {
    size_t i;
    for (i = 0; i < p->count; i++) {
        size_t leader = phi__prune_leader(p, i);
        phi__prune_item *group = &p->known[leader];
        p->known[i].leader = leader;
        group->tokens += phi_tokens_of_message(p->counter, p->items[i].message);
        group->stays = group->stays || phi__prune_stays(p, &p->items[i]);
    }
}

static void phi__prune_choose(phi__pruning *p) {
    size_t i;
    for (i = 0; i < p->count; i++) {
        phi__prune_item *item = &p->known[i];
        if (item->leader == i && !item->stays && p->pruned.tokens_removed < p->prune->tokens) {
            item->goes = true;
            p->pruned.tokens_removed += item->tokens;
        }
        if (p->known[item->leader].goes) p->pruned.messages_removed++;
    }
}

static bool phi__prune_goes(const phi__pruning *p, size_t i) {
    return p->known[p->known[i].leader].goes;
}

/* ---- the report ---- */

static bool phi__prune_times(phi__pruning *p) {
    int64_t *times = (int64_t *)phi_arena_alloc(
        p->arena, phi__mul(phi__max(p->pruned.messages_removed, 1), sizeof *times));
    size_t i;
    if (times == NULL) return false;
    for (i = 0; i < p->count; i++)
        if (phi__prune_goes(p, i))
            times[p->pruned.timestamp_count++] = p->items[i].message->timestamp_ms;
    p->pruned.timestamps = times;
    return true;
}

/* It stands where the first one stood, and in its time. */
static bool phi__prune_remember(phi__pruning *p) {
    phi_content *block;
    phi__buf text;
    bool done;
    size_t first = 0;
    if (p->prune->memo.len == 0) return true;
    while (first + 1 < p->count && !phi__prune_goes(p, first)) first++;
    block = (phi_content *)phi__arena_zero(p->arena, sizeof *block);
    p->memo = (phi_message *)phi__arena_zero(p->arena, sizeof *p->memo);
    if (block == NULL || p->memo == NULL) return false;
    phi__buf_init(&text, p->arena->memory);
    phi__buf_text(&text, "[Pruned context summary: ");
    phi__buf_add_str(&text, p->prune->memo);
    phi__buf_char(&text, ']');
    done = !text.failed && phi__arena_str(p->arena, phi__buf_str(&text), &block->text) &&
           phi__arena_str(p->arena, p->prune->memo, &p->pruned.memo);
    phi__buf_free(&text);
    block->kind = PHI_CONTENT_TEXT;
    p->memo->role = PHI_ROLE_USER;
    p->memo->content = block;
    p->memo->content_count = 1;
    p->memo->timestamp_ms = p->items[first].message->timestamp_ms;
    p->memo->loop_id = p->items[first].message->loop_id;
    p->memo->turn_index = p->items[first].message->turn_index;
    return done;
}

static bool phi__prune_meta(const phi__pruning *p, const char **meta) {
    phi__buf out;
    phi_str kept;
    size_t i;
    bool done;
    phi__buf_init(&out, p->arena->memory);
    phi__buf_text(&out, "{\"tokens_removed\":");
    phi__json_put_u64(&out, p->pruned.tokens_removed);
    phi__buf_text(&out, ",\"messages_removed\":");
    phi__json_put_u64(&out, p->pruned.messages_removed);
    phi__buf_text(&out, ",\"memo\":");
    if (p->pruned.memo.len > 0)
        phi__json_put_str(&out, p->pruned.memo);
    else
        phi__buf_text(&out, "null");
    phi__buf_text(&out, ",\"pruned_timestamps\":[");
    for (i = 0; i < p->pruned.timestamp_count; i++) {
        phi__json_put_comma(&out);
        phi__json_put_i64(&out, p->pruned.timestamps[i]);
    }
    phi__buf_text(&out, "]}");
    done = !out.failed && phi__arena_str(p->arena, phi__buf_str(&out), &kept);
    phi__buf_free(&out);
    if (done) *meta = kept.at;
    return done;
}

/* Neighbours that go are one span. */
static bool phi__prune_spans(const phi__pruning *p, phi_rewrite *out) {
    phi_span *spans = (phi_span *)phi__arena_zero(
        p->arena, phi__mul(phi__max(p->pruned.messages_removed, 1), sizeof *spans));
    size_t i;
    bool open = false;
    if (spans == NULL) return false;
    for (i = 0; i < p->count; i++) {
        if (!phi__prune_goes(p, i)) {
            open = false;
            continue;
        }
        if (!open) spans[out->span_count++].from = p->items[i].from;
        spans[out->span_count - 1].to = p->items[i].to;
        open = true;
    }
    spans[0].messages = p->memo;
    spans[0].message_count = p->memo != NULL ? 1 : 0;
    out->spans = spans;
    return true;
}

static phi_status phi__prune_make(phi__pruning *p, phi_rewrite *out) {
    phi__prune_look(p);
    phi__prune_choose(p);
    if (p->pruned.messages_removed > 0) {
        if (!phi__prune_remember(p)) return PHI_NO_MEMORY;
        if (p->memo == NULL ||
            phi_tokens_of_message(p->counter, p->memo) < p->pruned.tokens_removed)
            return phi__prune_times(p) && phi__prune_meta(p, &out->meta) && phi__prune_spans(p, out)
                       ? PHI_OK
                       : PHI_NO_MEMORY;
    }
    memset(&p->pruned, 0, sizeof p->pruned);
    return PHI_OK;
}

/* ---- public ---- */

PHI_API phi_status phi_prune_plan(const phi_view_item *items, size_t count, const phi_prune *prune,
                                  const phi_token_counter *counter, phi_arena *arena,
                                  phi_rewrite *out, phi_pruned *pruned) {
    phi__pruning p;
    phi_status status;
    if ((items == NULL && count > 0) || prune == NULL || prune->tokens == 0 || arena == NULL ||
        out == NULL)
        return PHI_BAD_ARG;
    memset(&p, 0, sizeof p);
    memset(out, 0, sizeof *out);
    if (pruned != NULL) memset(pruned, 0, sizeof *pruned);
    p.items = items;
    p.count = count;
    p.prune = prune;
    p.counter = counter;
    p.arena = arena;
    p.known =
        (phi__prune_item *)phi__arena_zero(arena, phi__mul(phi__max(count, 1), sizeof *p.known));
    if (p.known == NULL) return PHI_NO_MEMORY;
    out->reason = PHI_REWRITE_PRUNE;
    status = phi__prune_make(&p, out);
    if (status == PHI_OK && pruned != NULL) *pruned = p.pruned;
    return status;
}

PHI_API uint64_t phi_thread_prunable_from(const phi_thread *thread) {
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
