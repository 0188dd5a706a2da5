/* trace.c - walks the threads of a trace in slices, and writes to a sink or a file. */
#include "trace/trace_in.h"

#include "agent/agent_history.h"
#include "features/failover.h"
#include "log/log_in.h"
#include "loop/loop_in.h"
#include "model/event_parts.h"
#include "model/model_in.h"
#include "record/session.h"
#include "system/system_in.h"
#include "text/text_in.h"

#include <stdio.h>

/* ---- the view behind each request ---- */

/* A view is kept up to date during the walk, and written as a change of the view before it, since
   most requests only add a few messages.

   The change is [n, m, [items]]: the first n items of the earlier view stay, the next m are
   removed, the new items come in their place, and the rest stays. An item is [from, to, flags]; a
   message entry of the log is just its number. */

static void phi__trace_view_drop(phi_trace *t) {
    if (t->thread != NULL) phi__fold_free(t->thread->log.memory, &t->view.fold);
    t->view.valid = false;
    t->view.same = 0;
}

static void phi__trace_view_free(phi_trace *t) {
    phi__trace_view *v = &t->view;
    phi__trace_view_drop(t);
    phi__free(t->memory, v->seen, v->seen_cap * sizeof *v->seen);
    v->seen = NULL;
    v->seen_count = v->seen_cap = 0;
    v->requested = false;
}

/* True if a request was made: the entry is an answer, or ends a turn that has no answer. */
static bool phi__trace_view_has_request(phi_trace *t, const phi__entry *e) {
    phi__trace_view *v = &t->view;
    bool was = v->requested;
    switch ((int)e->kind) {
    case PHI_ENTRY_TURN_START:
        v->requested = true;
        v->turn_lane = e->lane;
        return false;
    case PHI_ENTRY_MESSAGE:
        if (e->message->role != PHI_ROLE_ASSISTANT || (e->loop_id.len == 0 && !was)) return false;
        v->requested = false;
        return true;
    case PHI_ENTRY_TURN_END:
    case PHI_ENTRY_LOOP_END: v->requested = false; return was;
    default: return false;
    }
}

/* Notes that from index `at` on, the items of the fold may differ from those of `seen`. */
static void phi__trace_view_changed(phi__trace_view *v, size_t at) {
    if (at < v->same) v->same = at;
}

static void phi__trace_view_rewrite(phi_trace *t, phi__op *op) {
    phi__trace_view *v = &t->view;
    if (op->rewrite.revoke != NULL) {
        phi__trace_view_drop(t);
        return;
    }
    if (op->rewrite.span_count == 0) return;
    phi__trace_view_changed(v, phi__fold_find(&v->fold, op->rewrite.spans[0].from));
    v->work += v->fold.count - v->same;
    if (!phi__fold_op(t->thread, &v->fold, op)) phi__trace_view_drop(t);
}

/* Updates the view after an entry. If there is no memory for the update, the fold is dropped and
   built again later. */
static void phi__trace_view_after(phi_trace *t, phi__entry *e) {
    phi__trace_view *v = &t->view;
    if (!v->valid) return;
    if (e->kind == PHI_ENTRY_REWRITE) {
        if (e->of.op->lane == v->lane) phi__trace_view_rewrite(t, e->of.op);
    } else if (e->lane != v->lane)
        return;
    else if (e->kind == PHI_ENTRY_MESSAGE) {
        if (!phi__fold_message(t->thread->log.memory, &v->fold, e)) phi__trace_view_drop(t);
    } else if (e->kind == PHI_ENTRY_LOOP_END && e->keep == PHI_KEEP_NONE && e->ordinal > 0) {
        phi__trace_view_changed(v, phi__fold_find(&v->fold, (uint64_t)e->ordinal - 1));
        phi__fold_take_out(&v->fold, (uint64_t)e->ordinal - 1, e->seq);
    }
}

/* Makes the view that the lane had before the current entry. False: no memory. */
static bool phi__trace_view_make(phi_trace *t, uint32_t lane) {
    phi__trace_view *v = &t->view;
    phi_status status = PHI_OK;
    if (v->valid && v->lane == lane) return true;
    phi__trace_view_drop(t);
    if (t->seq > t->base) status = phi__fold_lane(t->thread, lane, t->seq - 1, &v->fold);
    v->work += t->thread->log.held;
    v->valid = status == PHI_OK;
    v->lane = lane;
    return v->valid;
}

static bool phi__trace_view_is(const phi__trace_seen *seen, const phi__item *item) {
    return seen->from == item->from && seen->to == item->to && seen->flags == item->flags;
}

/* Copies the fold to `seen`. The first `keep` items are already right. False: no memory. */
static bool phi__trace_view_see(phi_trace *t, size_t keep) {
    phi__trace_view *v = &t->view;
    if (v->fold.count > v->seen_cap) {
        void *grown = phi__grow(t->memory, v->seen, &v->seen_cap, v->fold.count, sizeof *v->seen);
        if (grown == NULL) return false;
        v->seen = (phi__trace_seen *)grown;
    }
    for (size_t i = keep; i < v->fold.count; i++) {
        v->seen[i].from = v->fold.items[i].from;
        v->seen[i].to = v->fold.items[i].to;
        v->seen[i].flags = v->fold.items[i].flags;
    }
    v->same = v->seen_count = v->fold.count;
    return true;
}

/* ---- items that a policy left out ---- */

/* "g" is a list of [n, verdict]: the next n items have this verdict. Verdict 9: the items are in no
   group. */
enum { PHI__TRACE_VIEW_NO_GROUP = 9 };

static uint64_t phi__trace_view_less(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }

static void phi__trace_view_project(phi_trace *t, phi_str prompt) {
    phi__proj_order order = PHI_ZERO;
    phi__projection made = PHI_ZERO;
    phi__fold_link(&t->view.fold);
    order.fold = &t->view.fold;
    order.count = t->view.fold.count;
    order.policy = &t->policy;
    order.all = true;
    order.counter = &t->desc.token_counter;
    order.system_prompt = prompt;
    order.tools_tokens = t->desc.tools_tokens;
    uint8_t *all = (uint8_t *)phi_arena_alloc(&t->scratch, phi__max(order.count, 1));
    t->view.work += order.count;
    if (all == NULL || phi__project(&order, &t->scratch, &made) != PHI_OK) {
        t->text.failed = true;
        return;
    }
    size_t i, n, count = t->view.fold.count;
    memset(all, PHI__TRACE_VIEW_NO_GROUP, phi__max(count, 1));
    for (const phi__group *g = made.groups; g != NULL; g = g->newer) {
        all[g->at] = (uint8_t)g->verdict;
        for (i = 0; i < g->result_count; i++)
            if (g->places[i] < count) all[g->places[i]] = (uint8_t)g->verdict;
    }
    phi__records_raw(&t->text, "g", "[");
    for (i = 0; i < count; i += n) {
        for (n = 1; i + n < count && all[i + n] == all[i];) n++;
        phi__json_write_comma(&t->text);
        phi__buf_printf(&t->text, "[%llu,%u]", (unsigned long long)n, (unsigned)all[i]);
    }
    phi__buf_char(&t->text, ']');
    const phi_projection_meta *meta = &made.meta; /* the budget does not count prompt and tools */
    uint64_t sent = phi__trace_view_less(meta->estimated_tokens, meta->system_tokens);
    sent = phi__trace_view_less(sent, meta->tools_tokens);
    phi__records_raw(&t->text, "x", "[");
    phi__buf_printf(&t->text, "%llu,%llu,%llu]", (unsigned long long)sent,
                    (unsigned long long)meta->budget_tokens,
                    (unsigned long long)meta->messages_included);
}

/* Returns the tokens of the view by desc.token_counter. The counter is called only for new
   items. */
static uint64_t phi__trace_view_tokens(phi_trace *t) {
    phi__fold *fold = &t->view.fold;
    if (t->desc.token_counter.count_text != NULL)
        t->view.work += fold->count - phi__min(fold->counted, fold->count);
    return phi__fold_tokens(fold, &t->desc.token_counter);
}

static void phi__trace_view_put(phi_trace *t, uint32_t lane, phi_str prompt) {
    if (!phi__trace_view_make(t, lane)) {
        t->text.failed = true;
        return;
    }
    phi__records_u64(&t->text, "tokens", phi__trace_view_tokens(t));
    phi__trace_view *v = &t->view;
    size_t keep = phi__min(v->same, v->seen_count), tail = 0;
    while (keep < v->seen_count && keep < v->fold.count &&
           phi__trace_view_is(&v->seen[keep], &v->fold.items[keep]))
        keep++;
    size_t most = phi__min(v->seen_count, v->fold.count) - keep;
    while (tail < most && phi__trace_view_is(&v->seen[v->seen_count - 1 - tail],
                                             &v->fold.items[v->fold.count - 1 - tail]))
        tail++;
    v->work += v->fold.count - phi__min(v->same, v->fold.count);
    phi__records_raw(&t->text, "v", "[");
    phi__buf_printf(&t->text, "%llu,%llu,[", (unsigned long long)keep,
                    (unsigned long long)(v->seen_count - tail - keep));
    for (size_t i = keep; i < v->fold.count - tail && !t->text.failed; i++) {
        const phi__item *item = &v->fold.items[i];
        phi__json_write_comma(&t->text);
        if (item->from == item->to && item->flags == 0)
            phi__json_number_put_u64(&t->text, item->from);
        else
            phi__buf_printf(&t->text, "[%llu,%llu,%u]", (unsigned long long)item->from,
                            (unsigned long long)item->to, (unsigned)item->flags);
    }
    phi__buf_text(&t->text, "]]");
    if (!phi__trace_view_see(t, keep)) t->text.failed = true;
    if (t->desc.policy != NULL) phi__trace_view_project(t, prompt);
}

/* ---- a thread and its entries as data of the page, for scripts/trace_page/page.js ---- */

static void phi__tentry_usage(phi_trace *t, const phi_usage *usage) {
    if (usage == NULL || (usage->total_tokens == 0 && usage->output == 0 && usage->input == 0 &&
                          usage->cache_read == 0 && usage->cache_write == 0))
        return;
    phi__json_write_key(&t->text, PHI__LIT("u"));
    phi__buf_printf(&t->text, "[%llu,%llu,%llu,%llu,%llu]", (unsigned long long)usage->input,
                    (unsigned long long)usage->output, (unsigned long long)usage->cache_read,
                    (unsigned long long)usage->cache_write, (unsigned long long)usage->reasoning);
}

/* Writes the cost by the model's rates. Writes nothing if the rates are not known. */
static void phi__tentry_cost(phi_trace *t, phi_str model, const phi_usage *usage) {
    for (size_t i = 0; usage != NULL && i < t->desc.model_count; i++) {
        const phi_model *m = &t->desc.models[i];
        if (m->id == NULL || !phi_str_equal(phi_str_of(m->id), model)) continue;
        double cost = phi_cost_of(&m->cost, usage);
        if (cost > 0) phi__records_double(&t->text, "$", cost);
        return;
    }
}

static void phi__tentry_content(phi_trace *t, const phi_content *c) {
    phi__buf *out = &t->text;
    phi__json_write_comma(out);
    phi__buf_char(out, '{');
    phi__records_u64(out, "k", (uint64_t)c->kind);
    switch (c->kind) {
    case PHI_CONTENT_TEXT: phi__tout_str(t, "t", c->text); break;
    case PHI_CONTENT_THINKING:
        phi__tout_str(t, "t", c->text);
        phi__records_true(out, "redacted", c->redacted);
        break;
    case PHI_CONTENT_IMAGE:
        phi__tout_some(t, "mime", c->mime_type);
        phi__records_u64(out, "bytes", c->data.len);
        break;
    case PHI_CONTENT_TOOL_CALL:
        phi__tout_whole(t, "i", c->id);
        phi__tout_whole(t, "a", c->name);
        phi__tout_str(t, "t", c->arguments);
        phi__records_true(out, "cut", c->incomplete);
        break;
    case PHI_CONTENT_OPAQUE:
        phi__tout_whole(t, "a", c->name);
        phi__tout_str(t, "t", c->replay);
        break;
    case PHI_CONTENT_DOCUMENT:
    case PHI_CONTENT_AUDIO:
        phi__tout_some(t, "mime", c->mime_type);
        phi__tout_some(t, "a", c->name);
        phi__records_u64(out, "bytes", c->data.len + c->text.len);
        break;
    }
    phi__buf_char(out, '}');
}

static void phi__tentry_message(phi_trace *t, const phi_message *m) {
    phi__buf *out = &t->text;
    phi__json_write_comma(out);
    phi__buf_char(out, '{');
    phi__records_u64(out, "o", (uint64_t)m->role);
    if (m->timestamp_ms > 0) phi__records_i64(out, "at", m->timestamp_ms);
    switch (m->role) {
    case PHI_ROLE_ASSISTANT:
        phi__tout_some(t, "stop", phi_str_of(phi__message_stop_text(m->stop_reason)));
        phi__tout_some(t, "model", m->model);
        phi__tout_some(t, "provider", m->provider);
        phi__tentry_usage(t, &m->usage);
        if (m->error_message.len > 0) phi__tout_str(t, "error", m->error_message);
        break;
    case PHI_ROLE_TOOL_RESULT:
        phi__tout_whole(t, "i", m->tool_call_id);
        phi__tout_some(t, "a", m->tool_name);
        phi__records_true(&t->text, "bad", m->is_error);
        if (m->details.len > 0) phi__tout_str(t, "details", m->details);
        break;
    case PHI_ROLE_EXTENSION:
        phi__tout_some(t, "a", m->extension_kind);
        if (m->extension_data.len > 0) phi__tout_str(t, "details", m->extension_data);
        break;
    case PHI_ROLE_USER: break;
    }
    phi__records_raw(out, "c", "[");
    for (size_t i = 0; i < m->content_count && !out->failed; i++)
        phi__tentry_content(t, &m->content[i]);
    phi__buf_text(out, "]}");
}

/* ---- other entries ---- */

static void phi__tentry_rewrite(phi_trace *t, const phi_rewrite *r) {
    phi__buf *out = &t->text;
    phi__tout_some(t, "id", phi_str_of(r->op_id));
    phi__tout_some(t, "why", phi_str_of(phi__entry_reason_word(r->reason)));
    phi__tout_some(t, "revoke", phi_str_of(r->revoke));
    phi__tout_some(t, "to", phi_str_of(r->switch_to));
    phi__records_raw(out, "spans", "[");
    for (size_t i = 0; i < r->span_count && !out->failed; i++) {
        const phi_span *span = &r->spans[i];
        phi__json_write_comma(out);
        phi__buf_printf(out, "[%llu,%llu,%d,[", (unsigned long long)span->from,
                        (unsigned long long)span->to, span->summary ? 1 : 0);
        for (size_t k = 0; k < span->message_count; k++) phi__tentry_message(t, &span->messages[k]);
        phi__buf_text(out, "]]");
    }
    phi__buf_char(out, ']');
    if (r->written == NULL) return;
    phi__tout_some(t, "model", phi_str_of(r->written->model));
    phi__tentry_usage(t, &r->written->usage);
    if (r->written->cost > 0) phi__records_double(out, "$", r->written->cost);
}

static void phi__tentry_loop_start(phi_trace *t, const phi_loop_info *info) {
    if (info == NULL) return;
    phi__tout_some(t, "agent", info->agent_id);
    phi__tout_some(t, "session", info->session_id);
    phi__tout_some(t, "parent", info->parent_loop_id);
    phi__tout_some(t, "how", phi_str_of(phi__entry_continuation_word((int)info->continuation)));
    phi__tout_some(t, "tag", info->tag);
    if (info->has_system_prompt) phi__tout_str(t, "system", info->system_prompt);
}

static void phi__tentry_loop_end(phi_trace *t, const phi__entry *e) {
    const phi_failure *failure = e->of.failure;
    phi__records_true(&t->text, "dropped", e->keep == PHI_KEEP_NONE);
    phi__tentry_usage(t, e->usage);
    if (e->status != PHI_OK)
        phi__tout_some(t, "status", phi_str_of(phi_status_text((int)e->status)));
    if (failure == NULL) return;
    phi__tout_some(t, "failure", phi_str_of(phi_failure_kind_text(failure->kind)));
    phi__tout_str(t, "error", failure->message);
    if (failure->http_status > 0)
        phi__records_u64(&t->text, "http", (uint64_t)failure->http_status);
}

/* Returns the model whose rates apply to a turn: the model of its last answer. */
static phi_str phi__tentry_model(const phi_trace *t, const phi__entry *end) {
    uint64_t seq = end->seq, most = 512; /* limit for the number of entries searched */
    while (seq > t->base && most-- > 0) {
        const phi__entry *e = phi__thread_at(t->thread, --seq);
        if (e->kind == PHI_ENTRY_LOOP_START && phi_str_equal(e->loop_id, end->loop_id)) break;
        if (e->kind == PHI_ENTRY_MESSAGE && e->message->role == PHI_ROLE_ASSISTANT &&
            phi_str_equal(e->loop_id, end->loop_id))
            return e->message->model;
    }
    return phi__str("", 0);
}

static void phi__tentry_of_kind(phi_trace *t, const phi__entry *e) {
    const phi__lane *lanes = t->thread->lanes.at;
    switch ((int)e->kind) {
    case PHI_ENTRY_MESSAGE:
        phi__records_raw(&t->text, "m", "");
        phi__tentry_message(t, e->message);
        return;
    case PHI_ENTRY_REWRITE: phi__tentry_rewrite(t, &e->of.op->rewrite); return;
    case PHI_ENTRY_LOOP_START: phi__tentry_loop_start(t, e->of.loop); return;
    case PHI_ENTRY_LOOP_END: phi__tentry_loop_end(t, e); return;
    case PHI_ENTRY_LANE:
        if (lanes == NULL || lanes[e->lane].parent == PHI__LANE_NONE) return;
        phi__records_u64(&t->text, "from", lanes[e->lane].parent);
        phi__records_u64(&t->text, "fork", lanes[e->lane].fork_seq);
        return;
    case PHI_ENTRY_TURN_START:
        phi__tout_some(t, "how", phi_str_of(phi__entry_trigger_word((int)e->trigger)));
        return;
    case PHI_ENTRY_TURN_END:
        phi__tentry_usage(t, e->usage);
        phi__tentry_cost(t, phi__tentry_model(t, e), e->usage);
        return;
    case PHI_ENTRY_SPAWN:
        phi__tout_whole(t, "i", e->of.spawn->tool_call_id);
        phi__tout_whole(t, "session", e->of.spawn->session_id);
        phi__tout_whole(t, "child", e->of.spawn->loop_id);
        return;
    case PHI_ENTRY_NOTE:
        phi__tout_whole(t, "a", e->of.note->kind);
        phi__tout_str(t, "t", e->of.note->json);
        return;
    case PHI_ENTRY_FORGOTTEN:
        phi__tentry_usage(t, e->usage);
        if (e->of.forgotten == NULL) return;
        phi__records_u64(&t->text, "from", e->of.forgotten->from);
        phi__records_u64(&t->text, "to", e->of.forgotten->to);
        return;
    default: return;
    }
}

/* Writes an entry's lane and run, if they differ from those of the last entry. */
static void phi__tentry_of(phi_trace *t, const phi__entry *e) {
    uint32_t lane = e->kind == PHI_ENTRY_REWRITE ? e->of.op->lane : e->lane;
    phi_str loop_id = e->loop_id;
    if (loop_id.len == 0 && e->kind == PHI_ENTRY_MESSAGE) loop_id = e->message->loop_id;
    if (lane != t->lane) phi__records_u64(&t->text, "l", lane);
    t->lane = lane;
    if (phi_str_equal(loop_id, phi__buf_str(&t->loop_buf))) return;
    phi__tout_whole(t, "r", loop_id);
    phi__buf_clear(&t->loop_buf);
    phi__buf_add_str(&t->loop_buf, loop_id);
    if (t->loop_buf.failed) t->text.failed = true;
}

static void phi__tentry_put(phi_trace *t, const phi__entry *e) {
    bool request = phi__trace_view_has_request(t, e);
    uint32_t turn = e->turn_index;
    if (turn == 0 && e->kind == PHI_ENTRY_MESSAGE) turn = e->message->turn_index;
    if (e->seq > t->base) phi__buf_char(&t->text, ',');
    phi__buf_text(&t->text, "\n{");
    phi__records_u64(&t->text, "s", e->seq);
    phi__records_u64(&t->text, "k", (uint64_t)e->kind);
    phi__records_i64(&t->text, "at", e->at_ms);
    phi__tentry_of(t, e);
    if (turn > 0) phi__records_u64(&t->text, "n", turn);
    if (e->flags > 0) phi__records_u64(&t->text, "f", e->flags);
    if (request)
        phi__trace_view_put(t, e->kind == PHI_ENTRY_LOOP_END ? t->view.turn_lane : t->lane,
                            phi__trace_prompt(t, phi__trace_prompt_at(t, e)));
    phi__tentry_of_kind(t, e);
    phi__buf_char(&t->text, '}');
}

/* ---- the walk ---- */

static inline const phi_thread *phi__trace_thread(const phi_trace *t, size_t i) {
    return i == 0 ? t->main : t->desc.children[i - 1];
}

enum { PHI__TRACE_WORK = 64 /* this many items of views count as one unit */ };

/* ---- threads ---- */

/* True if the thread at index `at` also has a smaller index. */
static bool phi__trace_thread_again(const phi_trace *t, size_t at) {
    for (size_t i = 0; i < at; i++)
        if (phi__trace_thread(t, i) == phi__trace_thread(t, at)) return true;
    return false;
}

/* Moves to the next thread, or after the last thread to the next stage. */
static void phi__trace_thread_next(phi_trace *t) {
    do t->at++;
    while (t->at < t->thread_count && phi__trace_thread_again(t, t->at));
    t->stage = PHI__TRACE_STAGE_THREAD;
    if (t->at < t->thread_count) return;
    if (t->kind == PHI_TRACE_HTML) {
        phi__buf_char(&t->text, ']');
        phi__records_raw(&t->text, "requests", "[0");
        t->stage = PHI__TRACE_STAGE_REQUESTS;
    } else if (t->spans.linking) {
        t->spans.linking = false;
        phi__map_clear(&t->spans.twins);
        t->at = 0;
        t->stage = PHI__TRACE_STAGE_HEAD;
    } else
        t->stage = PHI__TRACE_STAGE_TAIL;
}

static phi_status phi__trace_entry(phi_trace *t) {
    if (t->seq >= t->ends[t->at]) {
        t->stage = PHI__TRACE_STAGE_THREAD_END;
        return PHI_OK;
    }
    phi__entry *entry = phi__thread_at(t->thread, t->seq);
    if (entry == NULL) return PHI_NOT_FOUND;
    if (phi__trace_prompt_is_in(entry)) t->prompt = entry->seq + 1;
    if (t->kind == PHI_TRACE_HTML) {
        phi__tentry_put(t, entry);
        phi__trace_view_after(t, entry);
    } else
        phi__spans_entry(t, entry);
    t->seq++;
    return PHI_OK;
}

/* Writes a request of a session's turn, or moves to the next loop, session or stage. */
static void phi__trace_request(phi_trace *t) {
    if (t->session == t->desc.session_count) {
        t->stage = PHI__TRACE_STAGE_TAIL;
        return;
    }
    const phi_session *s = t->desc.sessions[t->session];
    if (s == NULL || t->loop >= s->loop_count) {
        t->session++;
        t->loop = 0;
    } else if (t->turn >= s->loops[t->loop]->turn_count) {
        t->loop++;
        t->turn = 0;
    } else {
        const phi_loop_record *loop = s->loops[t->loop];
        const phi_turn *turn = &loop->turns[t->turn++];
        if (turn->request.len == 0) return;
        phi__buf_text(&t->text, ",\n{");
        phi__tout_whole(t, "r", loop->loop_id);
        phi__records_u64(&t->text, "n", turn->turn_index);
        phi__tout_str(t, "t", turn->request);
        phi__buf_char(&t->text, '}');
    }
}

static phi_status phi__trace_head(phi_trace *t) {
    phi_status status = PHI_OK;
    t->stage = PHI__TRACE_STAGE_THREAD;
    if (t->kind == PHI_TRACE_OTEL) {
        phi__span_head(t);
        return PHI_OK;
    }
    for (size_t i = 0; status == PHI_OK && phi__trace_page_head(i) != NULL; i++)
        status = phi__tout_raw(t, phi__trace_page_head(i));
    phi__buf_char(&t->text, '{');
    phi__tout_whole(t, "phi", PHI__LIT(PHI_VERSION));
    phi__tout_some(t, "title",
                   t->desc.title != NULL ? phi_str_of(t->desc.title)
                                         : phi__about_info(t->main).title);
    phi__records_true(&t->text, "policy", t->desc.policy != NULL);
    phi__records_raw(&t->text, "threads", "[");
    return status;
}

/* Begins a thread: writes everything that comes before its list of entries. */
static void phi__trace_thread_begin(phi_trace *t) {
    t->thread = phi__trace_thread(t, t->at);
    t->seq = t->base = t->thread->log.base;
    t->lane = 0;
    t->prompt = 0;
    phi__buf_clear(&t->loop_buf);
    t->stage = PHI__TRACE_STAGE_ENTRIES;
    if (t->kind == PHI_TRACE_OTEL) return;
    const phi_thread_info info = phi__about_info(t->thread);
    const phi_usage usage = phi_thread_get_info(t->thread).usage;
    phi__buf_text(&t->text, t->at > 0 ? ",\n{" : "\n{");
    phi__tout_whole(t, "id", phi__info_known_id(t->thread));
    phi__tout_some(t, "title", info.title);
    phi__tout_some(t, "forked", info.forked_from);
    phi__tentry_usage(t, &usage);
    phi__records_u64(&t->text, "active", t->thread->lanes.active);
    phi__records_raw(&t->text, "lanes", "[");
    for (size_t i = 0; i < phi__thread_lanes(t->thread) && !t->text.failed; i++) {
        phi_str name = phi__lane_name(t->thread, (uint32_t)i);
        phi__json_write_comma(&t->text);
        phi__tout_value(t, name);
    }
    phi__buf_char(&t->text, ']');
    phi__records_raw(&t->text, "entries", "[");
}

static void phi__trace_thread_end(phi_trace *t) {
    if (t->kind == PHI_TRACE_OTEL)
        phi__spans_thread_end(t);
    else {
        phi__buf_char(&t->text, ']');
        if (t->view.requested)
            phi__trace_view_put(t, t->view.turn_lane, phi__trace_prompt(t, t->prompt));
        phi__buf_char(&t->text, '}');
        phi__trace_view_free(t);
    }
    phi__trace_thread_next(t);
}

static phi_status phi__trace_tail(phi_trace *t) {
    t->stage = PHI__TRACE_STAGE_DONE;
    if (t->kind == PHI_TRACE_OTEL) {
        phi__buf_text(&t->text, "\n]}]}]}\n");
        return PHI_OK;
    }
    phi__buf_text(&t->text, "]}");
    phi_status status = phi__tout_move(t, false);
    for (size_t i = 0; status == PHI_OK && phi__trace_page_tail(i) != NULL; i++)
        status = phi__tout_raw(t, phi__trace_page_tail(i));
    return status;
}

static phi_status phi__trace_stage_run(phi_trace *t) {
    switch (t->stage) {
    case PHI__TRACE_STAGE_HEAD: return phi__trace_head(t);
    case PHI__TRACE_STAGE_THREAD: phi__trace_thread_begin(t); break;
    case PHI__TRACE_STAGE_ENTRIES: return phi__trace_entry(t);
    case PHI__TRACE_STAGE_THREAD_END: phi__trace_thread_end(t); break;
    case PHI__TRACE_STAGE_REQUESTS: phi__trace_request(t); break;
    case PHI__TRACE_STAGE_TAIL: return phi__trace_tail(t);
    case PHI__TRACE_STAGE_DONE: break;
    }
    return PHI_OK;
}

static phi_status phi__trace_unit(phi_trace *t, size_t *units) {
    phi_status status = PHI_OK;
    if (t->stage == PHI__TRACE_STAGE_ENTRIES || t->stage == PHI__TRACE_STAGE_THREAD_END) {
        /* Between two slices the host may have moved entries. A log in a store is recalled. If the
           log forgot entries, the trace cannot continue. */
        if (t->thread->log.base == t->base) {
            status = phi__recall(t->thread);
        } else {
            phi__trace_view_drop(t);
            status = PHI_NOT_FOUND;
        }
    }
    if (status == PHI_OK) status = phi__trace_stage_run(t);
    if (status == PHI_OK) status = phi__tout_move(t, t->stage == PHI__TRACE_STAGE_DONE);
    size_t work = 1 + t->view.work / PHI__TRACE_WORK;
    t->view.work = 0;
    *units -= phi__min(work, *units);
    return status;
}

/* ---- beginning ---- */

static bool phi__trace_ends(phi_trace *t) {
    t->thread_count = t->desc.child_count + 1;
    t->ends = (uint64_t *)phi_arena_alloc(&t->arena, phi__mul(t->thread_count, sizeof *t->ends));
    if (t->ends == NULL) return false;
    for (size_t i = 0; i < t->thread_count; i++)
        t->ends[i] = phi_thread_count(phi__trace_thread(t, i));
    return true;
}

/* Returns the runtime's memory, so a trace does not count towards an agent's limit. */
static phi_memory *phi__trace_memory(const phi_thread *thread) {
    phi_memory *memory = thread->log.memory;
    while (memory->parent != NULL) memory = memory->parent;
    return memory;
}

/* Fills unset fields of *desc from desc->agent. `models` receives the agent's models. */
static phi_status phi__trace_of_agent(phi_trace_desc *desc,
                                      phi_model models[1 + PHI_FAILOVER_MODELS_MOST]) {
    phi_agent_desc is;
    phi_status status = phi_agent_get_desc(desc->agent, &is);
    if (status != PHI_OK) return status;
    if (desc->model_count == 0) {
        const phi_failover *failover = is.failover;
        models[desc->model_count++] = is.model;
        for (size_t i = 0; failover != NULL && i < failover->model_count; i++)
            models[desc->model_count++] = failover->models[i].model;
        desc->models = models;
    }
    if (desc->policy == NULL) desc->policy = is.policy;
    if (desc->token_counter.count_text == NULL) desc->token_counter = is.token_counter;
    if (desc->tools_tokens == 0)
        desc->tools_tokens = phi__projection_tool_tokens(phi__find_agent(desc->agent));
    return PHI_OK;
}

static bool phi__trace_keep_models(phi_trace *t) {
    size_t bytes = t->desc.model_count * sizeof *t->desc.models;
    phi_model *kept = (phi_model *)phi_arena_alloc(&t->arena, bytes);
    if (kept == NULL) return false;
    memcpy(kept, t->desc.models, bytes);
    t->desc.models = kept;
    return true;
}

static void phi__trace_secrets(phi_trace *t) {
    phi__secret_init(&t->secrets, &t->arena);
    for (size_t i = 0; i < t->desc.secret_count; i++)
        phi__secret_add(&t->secrets, phi_str_of(t->desc.secrets[i]));
    for (size_t i = 0; i < t->desc.model_count; i++) {
        const phi_model *m = &t->desc.models[i];
        phi__secret_key(&t->secrets, phi_str_of(m->api_key));
        if (m->base_url != NULL) phi__secret_url(&t->secrets, phi_str_of(m->base_url));
        for (size_t k = 0; k < m->header_count; k++)
            (void)phi__secret_header(&t->secrets, phi_str_of(m->headers[k].name),
                                     phi_str_of(m->headers[k].value));
    }
}

/* ---- public ---- */

PHI_API phi_status phi_trace_begin(const phi_thread *thread, phi_trace_kind kind,
                                   const phi_trace_desc *given, const phi_trace_sink *out,
                                   phi_trace **trace) {
    phi_model models[1 + PHI_FAILOVER_MODELS_MOST];
    phi_trace_desc desc = PHI_ZERO;
    phi_status status = PHI_OK;
    if (trace == NULL) return PHI_BAD_ARG;
    *trace = NULL;
    if (given != NULL) desc = *given;
    if ((desc.child_count > 0 && desc.children == NULL) || desc.child_count == SIZE_MAX ||
        (desc.model_count > 0 && desc.models == NULL) ||
        (desc.secret_count > 0 && desc.secrets == NULL) ||
        (desc.session_count > 0 && desc.sessions == NULL))
        return PHI_BAD_ARG;
    for (size_t i = 0; i < desc.child_count; i++)
        if (desc.children[i] == NULL) return PHI_BAD_ARG;
    if (desc.policy != NULL && phi__policy_fault(desc.policy) != NULL) return PHI_BAD_ARG;
    if (desc.agent.rt != NULL) status = phi__trace_of_agent(&desc, models);
    if (status != PHI_OK) return status;
    if (thread == NULL) thread = phi_agent_thread(desc.agent);
    if (thread == NULL || out == NULL || out->write == NULL ||
        (kind != PHI_TRACE_HTML && kind != PHI_TRACE_OTEL))
        return PHI_BAD_ARG;
    phi_trace *t = (phi_trace *)phi__alloc(phi__trace_memory(thread), sizeof *t);
    if (t == NULL) return PHI_NO_MEMORY;
    t->memory = phi__trace_memory(thread);
    t->main = thread;
    t->desc = desc;
    if (t->desc.policy != NULL) t->policy = phi__policy_filled(t->desc.policy);
    t->status = PHI_BUSY;
    phi_arena_init(&t->arena, t->memory, 0);
    phi_arena_init(&t->scratch, t->memory, 0);
    phi__buf_init(&t->text, t->memory);
    phi__buf_init(&t->out, t->memory);
    phi__buf_init(&t->loop_buf, t->memory);
    phi__map_init(&t->spans.links, t->memory);
    phi__map_init(&t->spans.twins, t->memory);
    phi__trace_secrets(t);
    t->kind = kind;
    t->sink = *out;
    t->spans.linking = kind == PHI_TRACE_OTEL;
    t->stage = t->spans.linking ? PHI__TRACE_STAGE_THREAD : PHI__TRACE_STAGE_HEAD;
    if ((desc.models == models && !phi__trace_keep_models(t)) || !phi__trace_ends(t) ||
        t->secrets.failed) {
        phi_trace_end(t);
        return PHI_NO_MEMORY;
    }
    *trace = t;
    return PHI_OK;
}

PHI_API phi_status phi_trace_advance(phi_trace *trace, size_t units) {
    if (trace == NULL) return PHI_BAD_ARG;
    if (units == 0) units = 1;
    /* Entries of a log in a store have other addresses after an eviction and a recall. */
    if (trace->thread != NULL && trace->thread->journal != NULL) phi__trace_view_drop(trace);
    while (trace->status == PHI_BUSY && units > 0) {
        phi_status status = phi__trace_unit(trace, &units);
        if (status != PHI_OK)
            trace->status = status == PHI_BUSY ? PHI_IO : status;
        else if (trace->stage == PHI__TRACE_STAGE_DONE)
            trace->status = PHI_OK;
    }
    return trace->status;
}

PHI_API void phi_trace_end(phi_trace *trace) {
    if (trace == NULL) return;
    phi_memory *memory = trace->memory;
    phi__trace_view_free(trace);
    phi__spans_free(trace);
    phi__buf_free(&trace->text);
    phi__buf_free(&trace->out);
    phi__buf_free(&trace->loop_buf);
    phi_arena_free(&trace->scratch);
    phi_arena_free(&trace->arena);
    phi__free(memory, trace, sizeof *trace);
}

#ifndef PHI_NO_FILES

static phi_status phi__trace_all(const phi_thread *thread, phi_trace_kind kind,
                                 const phi_trace_desc *desc, const phi_trace_sink *out) {
    phi_trace *t;
    phi_status status = phi_trace_begin(thread, kind, desc, out, &t);
    if (status != PHI_OK) return status;
    do status = phi_trace_advance(t, SIZE_MAX);
    while (status == PHI_BUSY);
    phi_trace_end(t);
    return status;
}

typedef struct phi__trace_file {
    phi__file *file;
    phi__words words;
} phi__trace_file;

static phi_status phi__trace_to_file(void *user_data, const char *bytes, size_t len) {
    phi__trace_file *to = (phi__trace_file *)user_data;
    return phi__files_write(to->file, bytes, len, &to->words);
}

/* Opens the file for writing. If the path is a symbolic link, its target is replaced, not the
   link. */
static phi_status phi__trace_open(phi_trace_sink *sink, phi_memory *memory, const char *path,
                                  phi__trace_file *to) {
    phi__resolve *r = (phi__resolve *)phi__alloc(memory, sizeof *r);
    size_t units = SIZE_MAX;
    if (r == NULL) return PHI_NO_MEMORY;
    phi_status status = phi__path_resolve_begin(r, NULL, path, &to->words);
    if (status == PHI_OK) status = phi__path_resolve_advance(r, &units, &to->words);
    if (status == PHI_OK) status = phi__files_open_replace(memory, r->out, &to->file, &to->words);
    /* for the owner only, since the file contains a conversation */
    if (status == PHI_OK) phi__files_private(to->file);
    phi__free(memory, r, sizeof *r);
    sink->write = phi__trace_to_file;
    sink->user_data = to;
    return status;
}
#endif

static phi_status phi__trace_refuse(phi_status status, char *words, size_t words_size) {
    if (words != NULL && words_size > 0)
        (void)snprintf(words, words_size, "%s", phi_status_text((int)status));
    return status;
}

PHI_API phi_status phi_trace_write(const phi_thread *thread, phi_trace_kind kind,
                                   const phi_trace_desc *desc, const char *path, char *words,
                                   size_t words_size) {
#ifndef PHI_NO_FILES
    phi__trace_file to;
    phi_trace_sink sink;
    if (words != NULL && words_size > 0) words[0] = '\0';
    if (thread == NULL && desc != NULL) thread = phi_agent_thread(desc->agent);
    if (thread == NULL || path == NULL || path[0] == '\0')
        return phi__trace_refuse(
            thread == NULL && desc != NULL && desc->agent.rt != NULL ? PHI_STALE : PHI_BAD_ARG,
            words, words_size);
    memset(&to, 0, sizeof to);
    phi_status status = phi__trace_open(&sink, phi__trace_memory(thread), path, &to);
    if (status == PHI_OK) status = phi__trace_all(thread, kind, desc, &sink);
    if (status == PHI_OK) status = phi__files_commit(to.file, &to.words);
    phi__files_close(to.file);
    if (status != PHI_OK && words != NULL && words_size > 0)
        (void)snprintf(words, words_size, "%.200s: %.160s", path,
                       to.words.text[0] != '\0' ? to.words.text : phi_status_text((int)status));
    return status;
#else
    (void)desc;
    (void)kind;
    if (thread == NULL || path == NULL) return phi__trace_refuse(PHI_BAD_ARG, words, words_size);
    if (words != NULL && words_size > 0)
        (void)snprintf(words, words_size, "built with PHI_NO_FILES");
    return PHI_UNSUPPORTED;
#endif
}
