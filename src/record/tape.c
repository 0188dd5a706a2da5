/* tape.c - makes and frees tapes, and reports divergences. */
#include "base/base_in.h"
#include "model/event_parts.h"
#include "model/failure.h"
#include "record/replay.h"
#include "record/replay_in.h"
#include "text/text_in.h"

#include <stdio.h>

/* ---- a hash of a whole log, the same on every machine ---- */

static void phi__tape_hash_num(phi__sha256 *sha, uint64_t n) {
    unsigned char bytes[8];
    for (size_t i = 0; i < 8; i++) bytes[i] = (unsigned char)(n >> (8 * i));
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
    phi__tape_hash_num(sha, m != NULL);
    if (m == NULL) return;
    phi__tape_hash_num(sha, (uint64_t)m->role);
    phi__tape_hash_num(sha, m->content_count);
    for (size_t i = 0; i < m->content_count; i++) phi__tape_hash_content(sha, &m->content[i]);
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
    size_t j;
    phi__tape_hash_num(sha, r != NULL);
    if (r == NULL) return;
    phi__tape_hash_text(sha, r->op_id);
    phi__tape_hash_text(sha, r->lane);
    phi__tape_hash_num(sha, (uint64_t)r->reason);
    phi__tape_hash_num(sha, r->base_seq);
    phi__tape_hash_num(sha, r->span_count);
    for (size_t i = 0; i < r->span_count; i++) {
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

/* ---- public ---- */

PHI_API uint64_t phi_thread_hash(const phi_thread *thread) {
    phi__sha256 sha;
    unsigned char out[32];
    phi_entry entry;
    uint64_t n = 0, count = phi_thread_count(thread);
    phi__sha256_begin(&sha);
    for (uint64_t seq = phi_thread_get_info(thread).first; seq < count; seq++) {
        if (phi_thread_entry(thread, seq, &entry) != PHI_OK) return 0;
        phi__tape_hash_num(&sha, entry.seq);
        phi__tape_hash_num(&sha, (uint64_t)entry.at_ms);
        phi__tape_hash_num(&sha, (uint64_t)entry.kind);
        phi__tape_hash_num(&sha, entry.flags);
        phi__tape_hash_str(&sha, entry.lane);
        phi__tape_hash_str(&sha, entry.loop_id);
        phi__tape_hash_num(&sha, entry.turn_index);
        phi__tape_hash_message(&sha, entry.message);
        phi__tape_hash_rewrite(&sha, entry.rewrite);
        phi__tape_hash_str(&sha, entry.parent_lane);
        phi__tape_hash_num(&sha, entry.fork_seq);
        phi__tape_hash_num(&sha, (uint64_t)entry.trigger);
        phi__tape_hash_num(&sha, (uint64_t)(int64_t)entry.status);
        phi__tape_hash_num(&sha, (uint64_t)entry.keep);
        phi__tape_hash_usage(&sha, entry.usage);
        phi__tape_hash_ends(&sha, &entry);
        phi__tape_hash_str(&sha, entry.tool_call_id);
        phi__tape_hash_str(&sha, entry.child_session_id);
        phi__tape_hash_str(&sha, entry.child_loop_id);
        phi__tape_hash_str(&sha, entry.note_kind);
        phi__tape_hash_str(&sha, entry.note);
    }
    phi__sha256_end(&sha, out);
    for (uint64_t i = 0; i < 8; i++) n = n << 8 | out[i];
    return n;
}

/* ---- tapes, and their divergences ---- */

static phi__tape *phi__tape_new(const phi_tape_desc *desc) {
    phi_allocator allocator =
        desc->allocator.realloc_fn != NULL ? desc->allocator : phi__allocator_default();
    phi__tape *tape = (phi__tape *)allocator.realloc_fn(allocator.user_data, NULL, 0, sizeof *tape);
    if (tape == NULL) return NULL;
    memset(tape, 0, sizeof *tape);
    tape->desc = *desc;
    phi_memory_init(&tape->memory, &allocator, 0);
    phi__buf_init(&tape->line, &tape->memory);
    phi__buf_init(&tape->bytes, &tape->memory);
    phi_arena_init(&tape->arena, &tape->memory, 0);
    phi_arena_init(&tape->parted.words, &tape->memory, 0);
    phi_arena_init(&tape->secret_arena, &tape->memory, 0);
    phi__secret_init(&tape->secrets, &tape->secret_arena);
    tape->base.random_fn = phi__tape_sources_random;
    return tape;
}

static void phi__tape_divergence_of(const phi__tape *tape, phi_tape_divergence *out) {
    if (out == NULL) return;
    memset(out, 0, sizeof *out);
    if (tape->parted.yes) *out = tape->parted.where;
}

/* ---- public ---- */

PHI_API phi_tape *phi_tape_record(const phi_tape_desc *desc) {
    if (desc == NULL || desc->write_fn == NULL) return NULL;
    phi__tape *tape = phi__tape_new(desc);
    if (tape == NULL) return NULL;
    phi__tape_secret_add(tape, desc->secrets);
    phi__taping_init(tape);
    return &tape->base;
}

PHI_API phi_tape *phi_tape_play(const phi_tape_desc *desc, phi_str text, phi_parse_error *error) {
    phi_tape_desc none = PHI_ZERO;
    if (desc == NULL) desc = &none;
    if (error != NULL) {
        memset(error, 0, sizeof *error);
        error->status = PHI_NO_MEMORY;
        (void)snprintf(error->message, sizeof error->message, "no memory");
    }
    phi__tape *tape = phi__tape_new(desc);
    if (tape == NULL) return NULL;
    phi__tape_secret_add(tape, desc->secrets);
    if (tape->failed != PHI_OK || phi__tape_read(tape, text, error) != PHI_OK) {
        phi_tape_free(&tape->base);
        return NULL;
    }
    phi__play_init(tape);
    return &tape->base;
}

PHI_API phi_status phi_tape_end(phi_tape *base, phi_tape_divergence *divergence) {
    phi__tape *tape = (phi__tape *)base;
    if (tape == NULL) return PHI_BAD_ARG;
    if (!base->plays) {
        phi__records_u64(phi__tape_line_begin(tape, "over"), "idle", tape->idle);
        phi__tape_line_end(tape);
        tape->over = true;
        phi__tape_divergence_of(tape, divergence);
        return tape->failed;
    }
    if (!tape->over) phi__play_end(tape);
    tape->over = true;
    phi__tape_divergence_of(tape, divergence);
    if (tape->parted.yes) return PHI_REFUSED;
    if (tape->failed != PHI_OK) return tape->failed;
    return tape->torn ? PHI_PARSE : PHI_OK;
}

PHI_API void phi_tape_free(phi_tape *base) {
    phi__tape *tape = (phi__tape *)base;
    if (tape == NULL) return;
    phi_allocator allocator = tape->memory.allocator;
    for (size_t i = 0; i < tape->flows.count; i++) {
        phi__buf_free(&tape->flows.at[i].head);
        phi__buf_free(&tape->flows.at[i].carry);
    }
    phi__free(&tape->memory, tape->flows.at, tape->flows.cap * sizeof *tape->flows.at);
    phi__free(&tape->memory, tape->index.lines, tape->index.cap * sizeof *tape->index.lines);
    phi__buf_free(&tape->line);
    phi__buf_free(&tape->bytes);
    phi_arena_free(&tape->arena);
    phi_arena_free(&tape->parted.words);
    phi_arena_free(&tape->secret_arena);
    (void)allocator.realloc_fn(allocator.user_data, tape, sizeof *tape, 0);
}
