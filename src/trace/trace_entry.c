/* trace_entry.c - a thread and its entries as the page's data: JSON with short keys, which
   scripts/trace_page/page.js reads. A field that is empty or zero is left out. */
#include "history/about_in.h"
#include "text/json_in.h"
#include "text/records_in.h"
#include "trace/trace_in.h"
#include "model/event_parts.h"
#include "model/message_in.h"

/* ---- messages ---- */

static void phi__trace_entry_content(phi_trace *t, const phi_content *c) {
    phi__buf *out = &t->text;
    phi__json_write_comma(out);
    phi__buf_char(out, '{');
    phi__records_u64(out, "k", (uint64_t)c->kind);
    switch (c->kind) {
    case PHI_CONTENT_TEXT: phi__trace_out_str(t, "t", c->text); break;
    case PHI_CONTENT_THINKING:
        phi__trace_out_str(t, "t", c->text);
        phi__records_true(out, "redacted", c->redacted);
        break;
    case PHI_CONTENT_IMAGE:
        phi__trace_out_some(t, "mime", c->mime_type);
        phi__records_u64(out, "bytes", c->data.len);
        break;
    case PHI_CONTENT_TOOL_CALL:
        phi__trace_out_whole(t, "i", c->id);
        phi__trace_out_whole(t, "a", c->name);
        phi__trace_out_str(t, "t", c->arguments);
        phi__records_true(out, "cut", c->incomplete);
        break;
    case PHI_CONTENT_OPAQUE:
        phi__trace_out_whole(t, "a", c->name);
        phi__trace_out_str(t, "t", c->replay);
        break;
    case PHI_CONTENT_DOCUMENT:
    case PHI_CONTENT_AUDIO:
        phi__trace_out_some(t, "mime", c->mime_type);
        phi__trace_out_some(t, "a", c->name);
        phi__records_u64(out, "bytes", c->data.len + c->text.len);
        break;
    }
    phi__buf_char(out, '}');
}

static void phi__trace_entry_of_role(phi_trace *t, const phi_message *m) {
    switch (m->role) {
    case PHI_ROLE_ASSISTANT:
        phi__trace_out_some(t, "stop", phi_str_of(phi__message_stop_text(m->stop_reason)));
        phi__trace_out_some(t, "model", m->model);
        phi__trace_out_some(t, "provider", m->provider);
        phi__trace_out_usage(t, &m->usage);
        if (m->error_message.len > 0) phi__trace_out_str(t, "error", m->error_message);
        break;
    case PHI_ROLE_TOOL_RESULT:
        phi__trace_out_whole(t, "i", m->tool_call_id);
        phi__trace_out_some(t, "a", m->tool_name);
        phi__records_true(&t->text, "bad", m->is_error);
        if (m->details.len > 0) phi__trace_out_str(t, "details", m->details);
        break;
    case PHI_ROLE_EXTENSION:
        phi__trace_out_some(t, "a", m->extension_kind);
        if (m->extension_data.len > 0) phi__trace_out_str(t, "details", m->extension_data);
        break;
    case PHI_ROLE_USER: break;
    }
}

static void phi__trace_entry_message(phi_trace *t, const phi_message *m) {
    phi__buf *out = &t->text;
    size_t i;
    phi__json_write_comma(out);
    phi__buf_char(out, '{');
    phi__records_u64(out, "o", (uint64_t)m->role);
    if (m->timestamp_ms > 0) phi__records_i64(out, "at", m->timestamp_ms);
    phi__trace_entry_of_role(t, m);
    phi__records_raw(out, "c", "[");
    for (i = 0; i < m->content_count && !out->failed; i++)
        phi__trace_entry_content(t, &m->content[i]);
    phi__buf_text(out, "]}");
}

/* ---- other entries ---- */

static void phi__trace_entry_spans(phi_trace *t, const phi_rewrite *r) {
    size_t i, k;
    phi__records_raw(&t->text, "spans", "[");
    for (i = 0; i < r->span_count && !t->text.failed; i++) {
        const phi_span *span = &r->spans[i];
        phi__json_write_comma(&t->text);
        phi__buf_printf(&t->text, "[%llu,%llu,%d,[", (unsigned long long)span->from,
                        (unsigned long long)span->to, span->summary ? 1 : 0);
        for (k = 0; k < span->message_count; k++) phi__trace_entry_message(t, &span->messages[k]);
        phi__buf_text(&t->text, "]]");
    }
    phi__buf_char(&t->text, ']');
}

static void phi__trace_entry_rewrite(phi_trace *t, const phi_rewrite *r) {
    const phi_written *w = r->written;
    phi__trace_out_some(t, "id", phi_str_of(r->op_id));
    phi__trace_out_some(t, "why", phi_str_of(phi__entry_reason_word(r->reason)));
    phi__trace_out_some(t, "revoke", phi_str_of(r->revoke));
    phi__trace_out_some(t, "to", phi_str_of(r->switch_to));
    phi__trace_entry_spans(t, r);
    if (w == NULL) return;
    phi__trace_out_some(t, "model", phi_str_of(w->model));
    phi__trace_out_usage(t, &w->usage);
    if (w->cost > 0) phi__records_double(&t->text, "$", w->cost);
}

static void phi__trace_entry_loop_start(phi_trace *t, const phi_loop_info *info) {
    if (info == NULL) return;
    phi__trace_out_some(t, "agent", info->agent_id);
    phi__trace_out_some(t, "session", info->session_id);
    phi__trace_out_some(t, "parent", info->parent_loop_id);
    phi__trace_out_some(t, "how",
                        phi_str_of(phi__entry_continuation_word((int)info->continuation)));
    phi__trace_out_some(t, "tag", info->tag);
    if (info->has_system_prompt) phi__trace_out_str(t, "system", info->system_prompt);
}

static void phi__trace_entry_loop_end(phi_trace *t, const phi__entry *e) {
    const phi_failure *failure = e->of.failure;
    phi__records_true(&t->text, "dropped", e->keep == PHI_KEEP_NONE);
    phi__trace_out_usage(t, e->usage);
    if (e->status != PHI_OK)
        phi__trace_out_some(t, "status", phi_str_of(phi_status_text((int)e->status)));
    if (failure == NULL) return;
    phi__trace_out_some(t, "failure", phi_str_of(phi_failure_kind_text(failure->kind)));
    phi__trace_out_str(t, "error", failure->message);
    if (failure->http_status > 0)
        phi__records_u64(&t->text, "http", (uint64_t)failure->http_status);
}

/* The model whose rates count for a turn: of its answer, the entry of the turn's before its end. */
static phi_str phi__trace_entry_model(const phi_trace *t, const phi__entry *end) {
    uint64_t seq = end->seq, most = 512; /* entries of a turn that are looked at */
    while (seq > t->base && most-- > 0) {
        const phi__entry *e = phi__thread_at(t->thread, --seq);
        if (e->kind == PHI_ENTRY_LOOP_START && phi_str_equal(e->loop_id, end->loop_id)) break;
        if (e->kind == PHI_ENTRY_MESSAGE && e->message->role == PHI_ROLE_ASSISTANT &&
            phi_str_equal(e->loop_id, end->loop_id))
            return e->message->model;
    }
    return phi__str("", 0);
}

static void phi__trace_entry_other(phi_trace *t, const phi__entry *e) {
    const phi__lane *lanes = t->thread->lanes.at;
    switch ((int)e->kind) {
    case PHI_ENTRY_LANE:
        if (lanes == NULL || lanes[e->lane].parent == PHI__LANE_NONE) return;
        phi__records_u64(&t->text, "from", lanes[e->lane].parent);
        phi__records_u64(&t->text, "fork", lanes[e->lane].fork_seq);
        return;
    case PHI_ENTRY_TURN_START:
        phi__trace_out_some(t, "how", phi_str_of(phi__entry_trigger_word((int)e->trigger)));
        return;
    case PHI_ENTRY_TURN_END:
        phi__trace_out_usage(t, e->usage);
        phi__trace_out_cost(t, phi__trace_entry_model(t, e), e->usage);
        return;
    case PHI_ENTRY_SPAWN:
        phi__trace_out_whole(t, "i", e->of.spawn->tool_call_id);
        phi__trace_out_whole(t, "session", e->of.spawn->session_id);
        phi__trace_out_whole(t, "child", e->of.spawn->loop_id);
        return;
    case PHI_ENTRY_NOTE:
        phi__trace_out_whole(t, "a", e->of.note->kind);
        phi__trace_out_str(t, "t", e->of.note->json);
        return;
    case PHI_ENTRY_FORGOTTEN:
        phi__trace_out_usage(t, e->usage);
        if (e->of.forgotten == NULL) return;
        phi__records_u64(&t->text, "from", e->of.forgotten->from);
        phi__records_u64(&t->text, "to", e->of.forgotten->to);
        return;
    default: return;
    }
}

static void phi__trace_entry_body(phi_trace *t, const phi__entry *e) {
    if (e->kind == PHI_ENTRY_MESSAGE) {
        phi__records_raw(&t->text, "m", "");
        phi__trace_entry_message(t, e->message);
    } else if (e->kind == PHI_ENTRY_REWRITE)
        phi__trace_entry_rewrite(t, &e->of.op->rewrite);
    else if (e->kind == PHI_ENTRY_LOOP_START)
        phi__trace_entry_loop_start(t, e->of.loop);
    else if (e->kind == PHI_ENTRY_LOOP_END)
        phi__trace_entry_loop_end(t, e);
    else
        phi__trace_entry_other(t, e);
}

/* The run that an entry is of is written where it is another than that of the entry before. */
static void phi__trace_entry_of(phi_trace *t, const phi__entry *e) {
    uint32_t lane = e->kind == PHI_ENTRY_REWRITE ? e->of.op->lane : e->lane;
    phi_str loop_id = e->loop_id;
    if (loop_id.len == 0 && e->kind == PHI_ENTRY_MESSAGE) loop_id = e->message->loop_id;
    if (lane != t->lane) phi__records_u64(&t->text, "l", lane);
    t->lane = lane;
    if (phi_str_equal(loop_id, phi__buf_str(&t->loop_buf))) return;
    phi__trace_out_whole(t, "r", loop_id);
    phi__buf_clear(&t->loop_buf);
    phi__buf_add_str(&t->loop_buf, loop_id);
    if (t->loop_buf.failed) t->text.failed = true;
}

PHI__FN void phi__trace_entry_put(phi_trace *t, const phi__entry *e) {
    bool request = phi__trace_view_has_request(t, e);
    uint32_t turn = e->turn_index;
    if (turn == 0 && e->kind == PHI_ENTRY_MESSAGE) turn = e->message->turn_index;
    if (e->seq > t->base) phi__buf_char(&t->text, ',');
    phi__buf_text(&t->text, "\n{");
    phi__records_u64(&t->text, "s", e->seq);
    phi__records_u64(&t->text, "k", (uint64_t)e->kind);
    phi__records_i64(&t->text, "at", e->at_ms);
    phi__trace_entry_of(t, e);
    if (turn > 0) phi__records_u64(&t->text, "n", turn);
    if (e->flags > 0) phi__records_u64(&t->text, "f", e->flags);
    if (request)
        phi__trace_view_put(t, e->kind == PHI_ENTRY_LOOP_END ? t->view.turn_lane : t->lane,
                            phi__trace_prompt(t, phi__trace_prompt_at(t, e)));
    phi__trace_entry_body(t, e);
    phi__buf_char(&t->text, '}');
}

/* ---- threads ---- */

static phi_str phi__trace_entry_id(const phi_thread *thread) {
    return thread->journal != NULL ? phi__str(thread->journal->id, thread->journal->id_len)
                                   : thread->id;
}

PHI__FN void phi__trace_entry_thread(phi_trace *t) {
    phi_thread_info info = phi__about_info(t->thread);
    phi_usage usage = phi_thread_get_info(t->thread).usage;
    size_t i;
    phi__buf_text(&t->text, t->at > 0 ? ",\n{" : "\n{");
    phi__trace_out_whole(t, "id", phi__trace_entry_id(t->thread));
    phi__trace_out_some(t, "title", info.title);
    phi__trace_out_some(t, "forked", info.forked_from);
    phi__trace_out_usage(t, &usage);
    phi__records_u64(&t->text, "active", t->thread->lanes.active);
    phi__records_raw(&t->text, "lanes", "[");
    for (i = 0; i < phi__thread_lanes(t->thread) && !t->text.failed; i++) {
        phi__json_write_comma(&t->text);
        phi__trace_out_value(t, phi__lane_name(t->thread, (uint32_t)i));
    }
    phi__buf_char(&t->text, ']');
    phi__records_raw(&t->text, "entries", "[");
}

/* ---- captured requests ---- */

PHI__FN void phi__trace_entry_request(phi_trace *t, const phi_loop_record *loop,
                                      const phi_turn *turn) {
    if (turn->request.len == 0) return;
    phi__buf_text(&t->text, ",\n{");
    phi__trace_out_whole(t, "r", loop->loop_id);
    phi__records_u64(&t->text, "n", turn->turn_index);
    phi__trace_out_str(t, "t", turn->request);
    phi__buf_char(&t->text, '}');
}
