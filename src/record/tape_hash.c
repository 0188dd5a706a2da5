/* tape_hash.c - a hash of a whole log, the same on every machine. */
#include "base/sha256_in.h"
#include "record/replay.h"
#include "model/event_parts.h"
#include "model/failure.h"

static void phi__tape_hash_num(phi__sha256 *sha, uint64_t n) {
    unsigned char bytes[8];
    size_t i;
    for (i = 0; i < 8; i++) bytes[i] = (unsigned char)(n >> (8 * i));
    phi__sha256_add(sha, bytes, sizeof bytes);
}

static void phi__tape_hash_str(phi__sha256 *sha, phi_str s) {
    phi__tape_hash_num(sha, s.len);
    if (s.len > 0) phi__sha256_add(sha, s.at, s.len);
}

static void phi__tape_hash_text(phi__sha256 *sha, const char *text) {
    phi__tape_hash_str(sha, phi_str_of(text));
}

static void phi__tape_hash_usage(phi__sha256 *sha, const phi_usage *usage) {
    phi__tape_hash_num(sha, usage != NULL);
    if (usage == NULL) return;
    phi__tape_hash_num(sha, usage->input);
    phi__tape_hash_num(sha, usage->output);
    phi__tape_hash_num(sha, usage->reasoning);
    phi__tape_hash_num(sha, usage->cache_read);
    phi__tape_hash_num(sha, usage->cache_write);
    phi__tape_hash_num(sha, usage->total_tokens);
}

static void phi__tape_hash_content(phi__sha256 *sha, const phi_content *c) {
    phi__tape_hash_num(sha, (uint64_t)c->kind);
    phi__tape_hash_num(sha, (uint64_t)(c->redacted ? 1 : 0) + (c->incomplete ? 2 : 0));
    phi__tape_hash_str(sha, c->text);
    phi__tape_hash_str(sha, c->data);
    phi__tape_hash_str(sha, c->mime_type);
    phi__tape_hash_str(sha, c->id);
    phi__tape_hash_str(sha, c->name);
    phi__tape_hash_str(sha, c->arguments);
    phi__tape_hash_str(sha, c->signature);
    phi__tape_hash_str(sha, c->replay);
    if (c->url.len == 0 && c->protocol.len == 0 && c->citations.len == 0) return; /* as before */
    phi__tape_hash_str(sha, c->url);
    phi__tape_hash_str(sha, c->protocol);
    phi__tape_hash_str(sha, c->citations);
}

static void phi__tape_hash_message(phi__sha256 *sha, const phi_message *m) {
    size_t i;
    phi__tape_hash_num(sha, m != NULL);
    if (m == NULL) return;
    phi__tape_hash_num(sha, (uint64_t)m->role);
    phi__tape_hash_num(sha, m->content_count);
    for (i = 0; i < m->content_count; i++) phi__tape_hash_content(sha, &m->content[i]);
    phi__tape_hash_num(sha, (uint64_t)m->timestamp_ms);
    phi__tape_hash_str(sha, m->loop_id);
    phi__tape_hash_num(sha, m->turn_index);
    phi__tape_hash_num(sha, (uint64_t)m->stop_reason);
    phi__tape_hash_str(sha, m->raw_stop_reason);
    phi__tape_hash_str(sha, m->model);
    phi__tape_hash_str(sha, m->provider);
    phi__tape_hash_str(sha, m->protocol);
    phi__tape_hash_usage(sha, &m->usage);
    phi__tape_hash_str(sha, m->error_message);
    phi__tape_hash_str(sha, m->tool_call_id);
    phi__tape_hash_str(sha, m->tool_name);
    phi__tape_hash_num(sha, m->is_error);
    phi__tape_hash_str(sha, m->details);
    phi__tape_hash_str(sha, m->extension_kind);
    phi__tape_hash_str(sha, m->extension_data);
}

static void phi__tape_hash_rewrite(phi__sha256 *sha, const phi_rewrite *r) {
    size_t i, j;
    phi__tape_hash_num(sha, r != NULL);
    if (r == NULL) return;
    phi__tape_hash_text(sha, r->op_id);
    phi__tape_hash_text(sha, r->lane);
    phi__tape_hash_num(sha, (uint64_t)r->reason);
    phi__tape_hash_num(sha, r->base_seq);
    phi__tape_hash_num(sha, r->span_count);
    for (i = 0; i < r->span_count; i++) {
        const phi_span *span = &r->spans[i];
        phi__tape_hash_num(sha, span->from);
        phi__tape_hash_num(sha, span->to);
        phi__tape_hash_num(sha, span->summary); /* `lines` says only what the next plan may do */
        phi__tape_hash_num(sha, span->message_count);
        for (j = 0; j < span->message_count; j++) phi__tape_hash_message(sha, &span->messages[j]);
    }
    phi__tape_hash_text(sha, r->revoke);
    phi__tape_hash_text(sha, r->meta);
    /* so that older hashes hold */
    if (r->switch_to != NULL) phi__tape_hash_text(sha, r->switch_to);
}

static void phi__tape_hash_ends(phi__sha256 *sha, const phi_entry *e) {
    const phi_failure *f = e->failure;
    const phi_loop_info *l = e->loop;
    phi__tape_hash_num(sha, f != NULL);
    if (f != NULL) {
        phi__tape_hash_num(sha, (uint64_t)f->kind);
        phi__tape_hash_num(sha, (uint64_t)(int64_t)f->http_status);
        phi__tape_hash_num(sha, (uint64_t)(f->retryable ? 1 : 0) + (f->has_retry_after ? 2 : 0));
        phi__tape_hash_num(sha, f->retry_after_ms);
        phi__tape_hash_str(sha, f->code);
        phi__tape_hash_str(sha, f->message);
        phi__tape_hash_str(sha, f->request_id);
    }
    phi__tape_hash_num(sha, l != NULL);
    if (l == NULL) return;
    phi__tape_hash_str(sha, l->agent_id);
    phi__tape_hash_str(sha, l->session_id);
    phi__tape_hash_str(sha, l->loop_id);
    phi__tape_hash_str(sha, l->parent_loop_id);
    phi__tape_hash_num(sha, (uint64_t)l->continuation);
    phi__tape_hash_str(sha, l->tag);
    phi__tape_hash_str(sha, l->metadata);
    phi__tape_hash_str(sha, l->config);
}

static void phi__tape_hash_entry(phi__sha256 *sha, const phi_entry *e) {
    phi__tape_hash_num(sha, e->seq);
    phi__tape_hash_num(sha, (uint64_t)e->at_ms);
    phi__tape_hash_num(sha, (uint64_t)e->kind);
    phi__tape_hash_num(sha, e->flags);
    phi__tape_hash_str(sha, e->lane);
    phi__tape_hash_str(sha, e->loop_id);
    phi__tape_hash_num(sha, e->turn_index);
    phi__tape_hash_message(sha, e->message);
    phi__tape_hash_rewrite(sha, e->rewrite);
    phi__tape_hash_str(sha, e->parent_lane);
    phi__tape_hash_num(sha, e->fork_seq);
    phi__tape_hash_num(sha, (uint64_t)e->trigger);
    phi__tape_hash_num(sha, (uint64_t)(int64_t)e->status);
    phi__tape_hash_num(sha, (uint64_t)e->keep);
    phi__tape_hash_usage(sha, e->usage);
    phi__tape_hash_ends(sha, e);
    phi__tape_hash_str(sha, e->tool_call_id);
    phi__tape_hash_str(sha, e->child_session_id);
    phi__tape_hash_str(sha, e->child_loop_id);
    phi__tape_hash_str(sha, e->note_kind);
    phi__tape_hash_str(sha, e->note);
}

/* ---- public ---- */

PHI_API uint64_t phi_thread_hash(const phi_thread *thread) {
    phi__sha256 sha;
    unsigned char out[32];
    phi_entry entry;
    uint64_t i, seq, n = 0, count = phi_thread_count(thread);
    phi__sha256_begin(&sha);
    for (seq = phi_thread_get_info(thread).first; seq < count; seq++) {
        if (phi_thread_entry(thread, seq, &entry) != PHI_OK) return 0;
        phi__tape_hash_entry(&sha, &entry);
    }
    phi__sha256_end(&sha, out);
    for (i = 0; i < 8; i++) n = n << 8 | out[i];
    return n;
}
