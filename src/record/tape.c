/* tape.c - makes and frees tapes, and hashes logs. */
#include "base/base_in.h"
#include "model/event_parts.h"
#include "model/failure.h"
#include "record/replay.h"
#include "record/replay_in.h"
#include "text/text_in.h"

#include <stdio.h>

/* ---- a hash of a log, the same on every machine ---- */

static void phi__tape_hash_nums(phi__sha256 *sha, const uint64_t *nums, size_t count) {
    for (size_t i = 0; i < count; i++) {
        unsigned char bytes[8];
        for (size_t j = 0; j < 8; j++) bytes[j] = (unsigned char)(nums[i] >> (8 * j));
        phi__sha256_add(sha, bytes, sizeof bytes);
    }
}

static void phi__tape_hash_num(phi__sha256 *sha, uint64_t n) { phi__tape_hash_nums(sha, &n, 1); }

static void phi__tape_hash_strs(phi__sha256 *sha, const phi_str *strs, size_t count) {
    for (size_t i = 0; i < count; i++) {
        phi__tape_hash_num(sha, strs[i].len);
        if (strs[i].len > 0) phi__sha256_add(sha, strs[i].at, strs[i].len);
    }
}

/* Hashes whether the part exists. False if it does not. */
static bool phi__tape_hash_has(phi__sha256 *sha, const void *part) {
    phi__tape_hash_num(sha, part != NULL);
    return part != NULL;
}

static void phi__tape_hash_usage(phi__sha256 *sha, const phi_usage *u) {
    if (!phi__tape_hash_has(sha, u)) return;
    const uint64_t nums[] = {u->input,      u->output,      u->reasoning,
                             u->cache_read, u->cache_write, u->total_tokens};
    phi__tape_hash_nums(sha, nums, PHI__COUNT(nums));
}

static void phi__tape_hash_content(phi__sha256 *sha, const phi_content *c) {
    const uint64_t nums[] = {(uint64_t)c->kind,
                             (uint64_t)(c->redacted ? 1 : 0) + (c->incomplete ? 2 : 0)};
    const phi_str strs[8] = {c->text, c->data,      c->mime_type, c->id,
                             c->name, c->arguments, c->signature, c->replay};
    const phi_str later[3] = {c->url, c->protocol, c->citations};
    phi__tape_hash_nums(sha, nums, PHI__COUNT(nums));
    phi__tape_hash_strs(sha, strs, PHI__COUNT(strs));
    if (c->url.len + c->protocol.len + c->citations.len > 0) /* keeps older hashes valid */
        phi__tape_hash_strs(sha, later, PHI__COUNT(later));
}

static void phi__tape_hash_message(phi__sha256 *sha, const phi_message *m) {
    if (!phi__tape_hash_has(sha, m)) return;
    const phi_str model[4] = {m->raw_stop_reason, m->model, m->provider, m->protocol};
    const phi_str strs[3] = {m->error_message, m->tool_call_id, m->tool_name};
    const phi_str more[3] = {m->details, m->extension_kind, m->extension_data};
    phi__tape_hash_num(sha, (uint64_t)m->role);
    phi__tape_hash_num(sha, m->content_count);
    for (size_t i = 0; i < m->content_count; i++) phi__tape_hash_content(sha, &m->content[i]);
    phi__tape_hash_num(sha, (uint64_t)m->timestamp_ms);
    phi__tape_hash_strs(sha, &m->loop_id, 1);
    phi__tape_hash_num(sha, m->turn_index);
    phi__tape_hash_num(sha, (uint64_t)m->stop_reason);
    phi__tape_hash_strs(sha, model, PHI__COUNT(model));
    phi__tape_hash_usage(sha, &m->usage);
    phi__tape_hash_strs(sha, strs, PHI__COUNT(strs));
    phi__tape_hash_num(sha, m->is_error);
    phi__tape_hash_strs(sha, more, PHI__COUNT(more));
}

static void phi__tape_hash_rewrite(phi__sha256 *sha, const phi_rewrite *r) {
    if (!phi__tape_hash_has(sha, r)) return;
    const phi_str names[2] = {phi_str_of(r->op_id), phi_str_of(r->lane)};
    const phi_str strs[3] = {phi_str_of(r->revoke), phi_str_of(r->meta), phi_str_of(r->switch_to)};
    phi__tape_hash_strs(sha, names, PHI__COUNT(names));
    phi__tape_hash_num(sha, (uint64_t)r->reason);
    phi__tape_hash_num(sha, r->base_seq);
    phi__tape_hash_num(sha, r->span_count);
    for (size_t i = 0; i < r->span_count; i++) {
        const phi_span *span = &r->spans[i];
        /* not `lines`, which only matters for later plans */
        const uint64_t nums[] = {span->from, span->to, span->summary, span->message_count};
        phi__tape_hash_nums(sha, nums, PHI__COUNT(nums));
        for (size_t j = 0; j < span->message_count; j++)
            phi__tape_hash_message(sha, &span->messages[j]);
    }
    phi__tape_hash_strs(sha, strs, r->switch_to != NULL ? 3 : 2); /* keeps older hashes valid */
}

static void phi__tape_hash_ends(phi__sha256 *sha, const phi_entry *e) {
    const phi_failure *f = e->failure;
    const phi_loop_info *l = e->loop;
    if (phi__tape_hash_has(sha, f)) {
        const uint64_t nums[] = {(uint64_t)f->kind, (uint64_t)(int64_t)f->http_status,
                                 (uint64_t)(f->retryable ? 1 : 0) + (f->has_retry_after ? 2 : 0),
                                 f->retry_after_ms};
        const phi_str strs[3] = {f->code, f->message, f->request_id};
        phi__tape_hash_nums(sha, nums, PHI__COUNT(nums));
        phi__tape_hash_strs(sha, strs, PHI__COUNT(strs));
    }
    if (!phi__tape_hash_has(sha, l)) return;
    const phi_str ids[4] = {l->agent_id, l->session_id, l->loop_id, l->parent_loop_id};
    const phi_str strs[3] = {l->tag, l->metadata, l->config};
    phi__tape_hash_strs(sha, ids, PHI__COUNT(ids));
    phi__tape_hash_num(sha, (uint64_t)l->continuation);
    phi__tape_hash_strs(sha, strs, PHI__COUNT(strs));
}

static void phi__tape_hash_entry(phi__sha256 *sha, const phi_entry *e) {
    const uint64_t head[] = {e->seq, (uint64_t)e->at_ms, (uint64_t)e->kind, e->flags};
    const phi_str names[2] = {e->lane, e->loop_id};
    const uint64_t nums[] = {e->fork_seq, (uint64_t)e->trigger, (uint64_t)(int64_t)e->status,
                             (uint64_t)e->keep};
    const phi_str strs[5] = {e->tool_call_id, e->child_session_id, e->child_loop_id, e->note_kind,
                             e->note};
    phi__tape_hash_nums(sha, head, PHI__COUNT(head));
    phi__tape_hash_strs(sha, names, PHI__COUNT(names));
    phi__tape_hash_num(sha, e->turn_index);
    phi__tape_hash_message(sha, e->message);
    phi__tape_hash_rewrite(sha, e->rewrite);
    phi__tape_hash_strs(sha, &e->parent_lane, 1);
    phi__tape_hash_nums(sha, nums, PHI__COUNT(nums));
    phi__tape_hash_usage(sha, e->usage);
    phi__tape_hash_ends(sha, e);
    phi__tape_hash_strs(sha, strs, PHI__COUNT(strs));
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
        phi__tape_hash_entry(&sha, &entry);
    }
    phi__sha256_end(&sha, out);
    for (uint64_t i = 0; i < 8; i++) n = n << 8 | out[i];
    return n;
}

/* ---- tapes ---- */

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
    } else if (!tape->over)
        phi__play_end(tape);
    tape->over = true;
    if (divergence != NULL) *divergence = tape->parted.where;
    if (tape->parted.yes) return PHI_REFUSED;
    return tape->failed == PHI_OK && tape->torn ? PHI_PARSE : tape->failed;
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
