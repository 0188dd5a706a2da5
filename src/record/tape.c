/* tape.c - a tape's life, and what recording and playing share: lines, transfers, chance. */
#include "base/base64_in.h"
#include "base/crc32_in.h"
#include "base/utf8_in.h"
#include "io/clock_in.h"
#include "model/message_in.h"
#include "record/replay_in.h"
#include "text/json_in.h"

#include <stdio.h>

/* ---- transfers ---- */

PHI__FN phi__tape_flow *phi__tape_flow_of(phi__tape *tape, phi_xfer xfer) {
    size_t i;
    for (i = 0; i < tape->flow_count; i++) {
        phi__tape_flow *flow = &tape->flows[i];
        if (flow->live && flow->xfer.index == xfer.index && flow->xfer.gen == xfer.gen) return flow;
    }
    return NULL;
}

static phi__tape_flow *phi__tape_flow_place(phi__tape *tape) {
    void *grown;
    size_t i;
    for (i = 0; i < tape->flow_count; i++)
        if (!tape->flows[i].live) return &tape->flows[i];
    grown = phi__grow(&tape->memory, tape->flows, &tape->flow_cap, tape->flow_count + 1,
                      sizeof *tape->flows);
    if (grown == NULL) return NULL;
    tape->flows = (phi__tape_flow *)grown;
    memset(&tape->flows[tape->flow_count], 0, sizeof *tape->flows);
    phi__buf_init(&tape->flows[tape->flow_count].head, &tape->memory);
    phi__buf_init(&tape->flows[tape->flow_count].carry, &tape->memory);
    return &tape->flows[tape->flow_count++];
}

PHI__FN phi__tape_flow *phi__tape_flow_new(phi__tape *tape, phi_xfer xfer, uint64_t x) {
    phi__tape_flow *flow = phi__tape_flow_place(tape);
    if (flow == NULL) return NULL;
    flow->xfer = xfer;
    flow->x = x;
    flow->live = true;
    flow->has_head = flow->held_head = flow->has_end = flow->refused = false;
    flow->stage = 0;
    phi__buf_clear(&flow->head);
    phi__buf_clear(&flow->carry);
    return flow;
}

/* ---- time and chance ---- */

PHI__FN void phi__tape_set(phi__tape *tape, uint64_t us) {
    if (us > tape->us) tape->us = us;
    if (tape->rt == NULL || !tape->rt->in_step) return;
    tape->rt->step_began_us = tape->us;
    tape->rt->step_wall_ms = (int64_t)(tape->us / 1000);
}

/* Blocks of a hash over the seed and a counter: the same on every machine. */
PHI__FN void phi__tape_random(void *user_data, void *out, size_t len) {
    phi__tape *tape = (phi__tape *)user_data;
    unsigned char block[40], hash[32];
    char *to = (char *)out;
    while (len > 0) {
        size_t n = phi__min(len, sizeof hash), i;
        memcpy(block, tape->seed, 32);
        for (i = 0; i < 8; i++) block[32 + i] = (unsigned char)(tape->drawn >> (8 * i));
        tape->drawn++;
        phi__sha256_of(phi__str((const char *)block, sizeof block), hash);
        memcpy(to, hash, n);
        to += n;
        len -= n;
    }
}

PHI__FN void phi__tape_watch(void *user_data, intptr_t fd, int want) {
    phi__tape *tape = (phi__tape *)user_data;
    tape->sources.watch_fn(tape->sources.user_data, fd, want);
}

PHI__FN phi_status phi__tape_take(phi_tape *base, const phi__tape_sources *sources) {
    phi__tape *tape = (phi__tape *)base;
    if (tape->taken) return PHI_MISUSE;
    tape->taken = true;
    tape->sources = *sources;
    base->watch_fn = sources->watch_fn != NULL ? phi__tape_watch : NULL;
    return PHI_OK;
}

/* ---- lines ---- */

PHI__FN phi__buf *phi__tape_begin_line(phi__tape *tape, const char *kind) {
    phi__buf_clear(&tape->line);
    phi__buf_text(&tape->line, "{\"k\":\"");
    phi__buf_text(&tape->line, kind);
    phi__buf_char(&tape->line, '"');
    return &tape->line;
}

PHI__FN void phi__tape_end_line(phi__tape *tape) {
    phi__buf *line = &tape->line;
    if (tape->failed != PHI_OK || tape->over) return;
    if (!line->failed)
        (void)phi__secret_hide(&tape->secrets, line->at, line->len, PHI__SECRET_JSON);
    if (!line->failed)
        phi__buf_printf(line, ",\"sum\":\"%08lx\"}\n",
                        (unsigned long)phi__crc32(0, line->at, line->len));
    if (line->failed)
        tape->failed = PHI_NO_MEMORY;
    else
        tape->failed = tape->desc.write_fn(tape->desc.user_data, line->at, line->len);
    tape->lines++;
}

PHI__FN void phi__tape_put_str(phi__buf *line, const char *key, phi_str text) {
    phi__json_put_key(line, phi_str_of(key));
    phi__json_put_str(line, text);
}

PHI__FN void phi__tape_put_num(phi__buf *line, const char *key, uint64_t n) {
    phi__json_put_key(line, phi_str_of(key));
    phi__json_put_u64(line, n);
}

/* Its hash, and the whole of it where that is wanted. */
static void phi__tape_put_body(phi__tape *tape, phi__buf *line, const phi_request *request,
                               bool whole) {
    char piece[4096];
    unsigned char hash[32];
    char hex[PHI__SHA256_HEX];
    phi__sha256 sha;
    uint64_t at = 0;
    size_t n;
    phi__sha256_begin(&sha);
    phi__buf_clear(&tape->bytes);
    while ((n = phi_request_read(request, at, piece, sizeof piece)) > 0) {
        phi__sha256_add(&sha, piece, n);
        if (whole) phi__buf_add(&tape->bytes, piece, n);
        at += n;
    }
    phi__sha256_end(&sha, hash);
    phi__sha256_hex(hash, hex);
    phi__tape_put_num(line, "length", at);
    phi__tape_put_str(line, "sha256", phi__str(hex, sizeof hex));
    if (whole) phi__tape_put_str(line, "body", phi__buf_str(&tape->bytes));
    line->failed = line->failed || tape->bytes.failed;
}

PHI__FN void phi__tape_put_request(phi__tape *tape, phi__buf *line, const phi_request *request,
                                   bool whole) {
    phi__tape_put_str(line, "method", phi_request_method(request));
    phi__tape_put_url(tape, line, phi_request_url(request));
    phi__tape_put_headers(tape, line, request);
    phi__tape_put_body(tape, line, request, whole);
}

/* ---- results ---- */

PHI__FN phi_message *phi__tape_keep(phi_arena *arena, const phi_tool_result *result) {
    phi_message message;
    memset(&message, 0, sizeof message);
    message.role = PHI_ROLE_TOOL_RESULT;
    message.content = result->content;
    message.content_count = result->content_count;
    message.is_error = result->is_error;
    message.details = phi_str_of(result->details);
    message.loop_id = phi_str_of(result->child_loop_id); /* the run that made it */
    return phi_message_copy(&message, arena);
}

PHI__FN phi_tool_result phi__tape_given(const phi_message *message) {
    phi_tool_result result;
    memset(&result, 0, sizeof result);
    result.content = message->content;
    result.content_count = message->content_count;
    result.is_error = message->is_error;
    result.details = message->details.len > 0 ? message->details.at : NULL;
    result.child_loop_id = message->loop_id.len > 0 ? message->loop_id.at : NULL;
    return result;
}

PHI__FN phi_status phi__tape_settle(phi__toolcall *call, const phi_message *message) {
    phi_tool_result result = phi__tape_given(message);
    call->held = NULL;
    return phi__call_take(call, &result);
}

PHI__FN void phi__tape_put_result(phi__tape *tape, phi__buf *line, const phi__toolcall *call,
                                  const phi_message *result) {
    phi_arena scratch;
    phi_message plain = *result;
    phi_arena_init(&scratch, &tape->memory, 0);
    phi__tape_put_num(line, "agent", call->run->agent->index);
    phi__tape_put_str(line, "id", call->block->id);
    if (call->starting) phi__buf_text(line, ",\"start\":true");
    if (result->details.len > 0) phi__tape_put_str(line, "details", result->details);
    if (result->loop_id.len > 0) phi__tape_put_str(line, "child", result->loop_id);
    plain.loop_id = phi__str(NULL, 0);
    phi__json_put_key(line, phi_str_of("result"));
    phi__message_put(line, &plain, &scratch);
    phi_arena_free(&scratch);
}

/* ---- a tape's life ---- */

PHI__FN phi__tape *phi__tape_new(const phi_tape_desc *desc) {
    phi_allocator allocator =
        desc->allocator.realloc_fn != NULL ? desc->allocator : phi_allocator_default();
    phi__tape *tape = (phi__tape *)allocator.realloc_fn(allocator.user_data, NULL, 0, sizeof *tape);
    if (tape == NULL) return NULL;
    memset(tape, 0, sizeof *tape);
    tape->desc = *desc;
    phi_memory_init(&tape->memory, &allocator, 0);
    phi__buf_init(&tape->line, &tape->memory);
    phi__buf_init(&tape->bytes, &tape->memory);
    phi_arena_init(&tape->arena, &tape->memory, 0);
    phi_arena_init(&tape->words, &tape->memory, 0);
    phi_arena_init(&tape->secret_arena, &tape->memory, 0);
    phi__secret_init(&tape->secrets, &tape->secret_arena);
    tape->base.random_fn = phi__tape_random;
    return tape;
}

static void phi__tape_divergence_of(const phi__tape *tape, phi_tape_divergence *out) {
    if (out == NULL) return;
    memset(out, 0, sizeof *out);
    if (tape->diverged) *out = tape->divergence;
}

/* ---- public ---- */

PHI_API phi_tape *phi_tape_record(const phi_tape_desc *desc) {
    phi__tape *tape;
    if (desc == NULL || desc->write_fn == NULL) return NULL;
    tape = phi__tape_new(desc);
    if (tape == NULL) return NULL;
    phi__tape_secrets(tape, desc->secrets);
    phi__tape_record_init(tape);
    return &tape->base;
}

PHI_API phi_tape *phi_tape_play(const phi_tape_desc *desc, phi_str text, phi_parse_error *error) {
    phi_tape_desc none;
    phi__tape *tape;
    memset(&none, 0, sizeof none);
    if (desc == NULL) desc = &none;
    if (error != NULL) {
        memset(error, 0, sizeof *error);
        (void)snprintf(error->message, sizeof error->message, "no memory");
    }
    tape = phi__tape_new(desc);
    if (tape == NULL) return NULL;
    phi__tape_secrets(tape, desc->secrets);
    if (tape->failed != PHI_OK || phi__tape_read(tape, text, error) != PHI_OK) {
        phi_tape_free(&tape->base);
        return NULL;
    }
    phi__tape_play_init(tape);
    return &tape->base;
}

PHI_API phi_status phi_tape_end(phi_tape *base, phi_tape_divergence *divergence) {
    phi__tape *tape = (phi__tape *)base;
    if (tape == NULL) return PHI_BAD_ARG;
    if (!base->plays) {
        phi__tape_put_num(phi__tape_begin_line(tape, "over"), "idle", tape->idle);
        phi__tape_end_line(tape);
        tape->over = true;
        phi__tape_divergence_of(tape, divergence);
        return tape->failed;
    }
    if (!tape->over) phi__tape_play_end(tape);
    tape->over = true;
    phi__tape_divergence_of(tape, divergence);
    if (tape->diverged) return PHI_REFUSED;
    if (tape->failed != PHI_OK) return tape->failed;
    return tape->torn ? PHI_PARSE : PHI_OK;
}

PHI_API bool phi_tape_diverged(const phi_tape *base, phi_tape_divergence *divergence) {
    const phi__tape *tape = (const phi__tape *)base;
    if (tape == NULL) return false;
    phi__tape_divergence_of(tape, divergence);
    return tape->diverged;
}

PHI_API void phi_tape_free(phi_tape *base) {
    phi__tape *tape = (phi__tape *)base;
    phi_allocator allocator;
    size_t i;
    if (tape == NULL) return;
    allocator = tape->memory.allocator;
    for (i = 0; i < tape->flow_count; i++) {
        phi__buf_free(&tape->flows[i].head);
        phi__buf_free(&tape->flows[i].carry);
    }
    phi__free(&tape->memory, tape->flows, tape->flow_cap * sizeof *tape->flows);
    phi__free(&tape->memory, tape->index, tape->cap * sizeof *tape->index);
    phi__buf_free(&tape->line);
    phi__buf_free(&tape->bytes);
    phi_arena_free(&tape->arena);
    phi_arena_free(&tape->words);
    phi_arena_free(&tape->secret_arena);
    (void)allocator.realloc_fn(allocator.user_data, tape, sizeof *tape, 0);
}
