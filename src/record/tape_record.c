/* tape_record.c - records a run: every input from outside is written to the tape when the run gets
   it.

   A step accepts input only at its start (tape->letting). At other times, a transport's events wait
   for the next step: the head and the end are stored, and bytes are refused as if the buffer were
   full. */
#include "base/base_in.h"
#include "io/io_in.h"
#include "loop/loop_in.h"
#include "record/replay_in.h"
#include "text/text_in.h"

#include <stdio.h>

/* Clock readings of the host within this many microseconds return the same time. */
enum { PHI__TAPE_TICK_US = 1000 };

static phi__tape *phi__taping_of(void *base) { return (phi__tape *)base; }

/* ---- time ---- */

/* Returns the time of the host's clock. If the host has none, returns a time of day that never goes
   back. */
static uint64_t phi__taping_real_us(const phi__tape *tape) {
    if (tape->sources.clock_us_fn != NULL)
        return tape->sources.clock_us_fn(tape->sources.user_data);
    return tape->wall_us + (phi__clock_us() - tape->clock_us);
}

static void phi__taping_time(phi__tape *tape, const char *kind) {
    phi__buf *line = phi__tape_line_begin(tape, kind);
    uint64_t gaps = phi__io_gaps_us(tape->rt->io, tape->us);
    phi__records_u64(line, "us", tape->us);
    if (gaps != tape->gaps_us) phi__records_u64(line, "gaps", gaps);
    tape->gaps_us = gaps;
}

static uint64_t phi__taping_clock(void *user_data) {
    phi__tape *tape = phi__taping_of(user_data);
    if (tape->rt == NULL || tape->rt->in_step || tape->over) return tape->us;
    uint64_t now = phi__taping_real_us(tape);
    if (now < tape->us + PHI__TAPE_TICK_US) {
        tape->reads++;
        return tape->us;
    }
    tape->us = tape->last_us = now;
    phi__taping_time(tape, "now");
    phi__records_u64(&tape->line, "after", tape->reads);
    phi__tape_line_end(tape);
    tape->reads = 0;
    return now;
}

static uint64_t phi__taping_work_us(void *user_data) {
    return phi__taping_real_us(phi__taping_of(user_data));
}

static void phi__taping_touch(phi_tape *base) {
    phi__tape *tape = phi__taping_of(base);
    if (tape->touched) return;
    tape->touched = true;
    phi__taping_time(tape, "t");
    if (tape->more)
        phi__records_true(&tape->line, "more", true);
    else
        phi__records_u64(&tape->line, "idle", tape->idle);
    phi__tape_line_end(tape);
    tape->idle = tape->reads = 0;
    tape->last_us = tape->us;
}

static phi__buf *phi__taping_line(phi__tape *tape, const char *kind) {
    phi__taping_touch(&tape->base);
    return phi__tape_line_begin(tape, kind);
}

static phi__buf *phi__taping_flow_line(phi__tape *tape, const char *kind, uint64_t x) {
    phi__buf *line = phi__taping_line(tape, kind);
    phi__records_u64(line, "x", x);
    return line;
}

/* ---- input from the transport ---- */

static phi_status phi__taping_stage(phi_tape *base, phi_transfer transfer,
                                    phi_transfer_stage stage) {
    phi__tape *tape = phi__taping_of(base);
    phi__tape_flow *flow = phi__tape_flow_of(tape, transfer);
    if (flow == NULL) return PHI_STALE;
    if (stage != PHI_TRANSFER_STARTED && stage != PHI_TRANSFER_CONNECTED) return PHI_BAD_ARG;
    if (!tape->letting) {
        flow->stage = (int)stage;
        return PHI_OK;
    }
    phi__taping_touch(base);
    phi_status status = phi__transfer_stage_now(transfer, stage);
    phi__records_u64(phi__taping_flow_line(tape, "stage", flow->x), "stage", (uint64_t)stage);
    phi__tape_line_end(tape);
    return status;
}

/* Writes the header lines of an answer, except its cookies. */
static void phi__taping_put_head(phi__tape *tape, phi__buf *line, phi_str headers) {
    phi__buf_clear(&tape->bytes);
    while (headers.len > 0) {
        size_t end = phi__str_find(headers, 0, "\n");
        size_t n = end < headers.len ? end + 1 : headers.len;
        phi_str one = phi__str(headers.at, n);
        size_t colon = phi__min(phi__str_find(one, 0, ":"), n);
        if (phi__str_find_nocase(phi__str(one.at, colon), 0, "cookie") != SIZE_MAX) {
            phi__buf_add(&tape->bytes, one.at, colon);
            phi__buf_text(&tape->bytes, ": [redacted]\r\n");
        } else
            phi__buf_add_str(&tape->bytes, one);
        headers = phi__str(headers.at + n, headers.len - n);
    }
    phi__records_str(line, "headers", phi__buf_str(&tape->bytes));
    line->failed = line->failed || tape->bytes.failed;
}

static phi_status phi__taping_head_now(phi__tape *tape, phi__tape_flow *flow) {
    flow->held_head = false;
    phi__taping_touch(&tape->base);
    (void)phi__secret_hide(&tape->secrets, flow->head.at, flow->head.len, PHI__SECRET_BYTES);
    phi__buf *line = phi__taping_flow_line(tape, "head", flow->x);
    phi__records_u64(line, "status", (uint64_t)(flow->http_status > 0 ? flow->http_status : 0));
    phi__taping_put_head(tape, line, phi__buf_str(&flow->head));
    phi__tape_line_end(tape);
    phi_status status =
        phi__transfer_head_now(flow->transfer, flow->http_status, flow->head.at, flow->head.len);
    phi__buf_clear(&flow->head);
    return status;
}

static phi_status phi__taping_head(phi_tape *base, phi_transfer transfer, int http_status,
                                   const char *headers, size_t len) {
    phi__tape *tape = phi__taping_of(base);
    phi__tape_flow *flow = phi__tape_flow_of(tape, transfer);
    if (flow == NULL) return PHI_STALE;
    if (headers == NULL && len > 0) return PHI_BAD_ARG;
    if (flow->has_head) return PHI_MISUSE;
    phi__buf_clear(&flow->head);
    phi__buf_add(&flow->head, headers, len);
    flow->http_status = http_status;
    flow->has_head = flow->held_head = true;
    if (flow->head.failed) tape->failed = PHI_NO_MEMORY;
    return tape->letting ? phi__taping_head_now(tape, flow) : PHI_OK;
}

static void phi__taping_bytes(phi__tape *tape, uint64_t x, phi_str bytes) {
    phi__buf *line = phi__taping_flow_line(tape, "bytes", x);
    if (phi__utf8_valid(bytes) == bytes.len)
        phi__records_str(line, "text", bytes);
    else {
        phi__json_write_key(line, phi_str_of("base64"));
        phi__buf_char(line, '"');
        phi__base64_encode(line, bytes.at, bytes.len);
        phi__buf_char(line, '"');
    }
    phi__tape_line_end(tape);
}

/* Passes bytes to the run and records them. The last bytes are kept back if a secret may begin
   there, unless `last` is true. PHI_FULL: nothing was passed. */
static phi_status phi__taping_pass(phi__tape *tape, phi__tape_flow *flow, phi_str more, bool last) {
    phi_status status = PHI_OK;
    phi_str bytes = more;
    if (tape->secrets.count > 0) {
        phi__buf_clear(&tape->bytes);
        phi__buf_add_str(&tape->bytes, phi__buf_str(&flow->carry));
        phi__buf_add(&tape->bytes, more.at, more.len);
        if (tape->bytes.failed) return PHI_FULL;
        (void)phi__secret_hide(&tape->secrets, tape->bytes.at, tape->bytes.len, PHI__SECRET_BYTES);
        bytes = phi__buf_str(&tape->bytes);
    }
    size_t tail = last ? 0 : phi__secret_tail(&tape->secrets, bytes);
    if (bytes.len > tail) {
        status = phi__transfer_push_now(flow->transfer, bytes.at, bytes.len - tail);
        if (status != PHI_OK) return status;
        phi__taping_bytes(tape, flow->x, phi__str(bytes.at, bytes.len - tail));
    }
    phi__buf_clear(&flow->carry);
    if (tail > 0) phi__buf_add(&flow->carry, bytes.at + (bytes.len - tail), tail);
    if (flow->carry.failed) tape->failed = PHI_NO_MEMORY;
    return PHI_OK;
}

static phi_status phi__taping_push(phi_tape *base, phi_transfer transfer, const char *bytes,
                                   size_t len) {
    phi__tape *tape = phi__taping_of(base);
    phi__tape_flow *flow = phi__tape_flow_of(tape, transfer);
    if (flow == NULL || flow->has_end) return PHI_STALE;
    if (bytes == NULL && len > 0) return PHI_BAD_ARG;
    if (!flow->has_head) return PHI_MISUSE;
    if (len == 0) return PHI_OK;
    phi_status status =
        tape->letting ? phi__taping_pass(tape, flow, phi__str(bytes, len), false) : PHI_FULL;
    if (status == PHI_FULL) flow->refused = true;
    return status;
}

static phi_status phi__taping_end_now(phi__tape *tape, phi__tape_flow *flow) {
    if (flow->carry.len > 0 && phi__taping_pass(tape, flow, phi__str("", 0), true) == PHI_FULL)
        return PHI_OK; /* the next step tries again */
    phi__buf *line = phi__taping_flow_line(tape, "end", flow->x);
    phi__json_write_key(line, phi_str_of("status"));
    phi__json_number_put_i64(line, (int64_t)flow->status);
    phi__records_str(line, "words", phi_str_of(flow->words));
    phi__tape_line_end(tape);
    flow->live = false;
    return phi__transfer_end_now(flow->transfer, flow->status, flow->words);
}

static phi_status phi__taping_end(phi_tape *base, phi_transfer transfer, phi_status status,
                                  const char *words) {
    phi__tape *tape = phi__taping_of(base);
    phi__tape_flow *flow = phi__tape_flow_of(tape, transfer);
    if (flow == NULL) return PHI_STALE;
    if (!flow->has_end) {
        flow->has_end = true;
        flow->status = status;
        (void)snprintf(flow->words, sizeof flow->words, "%.*s",
                       (int)phi__utf8_cut(phi_str_of(words), sizeof flow->words - 1),
                       words != NULL ? words : "");
        (void)phi__secret_hide(&tape->secrets, flow->words, strlen(flow->words), PHI__SECRET_WORDS);
    }
    return tape->letting ? phi__taping_end_now(tape, flow) : PHI_OK;
}

/* ---- the runtime's transport ---- */

static phi_status phi__taping_open(void *user_data, phi_transfer transfer,
                                   const phi_request *request) {
    phi__tape *tape = phi__taping_of(user_data);
    phi__tape_flow *flow = phi__tape_flow_new(tape, transfer, tape->requests + 1);
    if (flow == NULL) return PHI_NO_MEMORY;
    tape->requests++;
    phi__buf *line = phi__taping_flow_line(tape, "request", tape->requests);
    phi__tape_secret_put_request(tape, line, request, tape->desc.whole_bodies);
    phi_status status = tape->inner.open(tape->inner.user_data, transfer, request);
    if (status != PHI_OK) {
        flow->live = false;
        phi__records_i64(line, "status", (int64_t)status);
    }
    phi__tape_line_end(tape);
    return status;
}

static void phi__taping_resume(void *user_data, phi_transfer transfer) {
    phi__tape *tape = phi__taping_of(user_data);
    phi__tape_flow *flow = phi__tape_flow_of(tape, transfer);
    if (flow == NULL || flow->has_end) return;
    flow->refused = false;
    tape->inner.resume(tape->inner.user_data, transfer);
}

static void phi__taping_cancel(void *user_data, phi_transfer transfer) {
    phi__tape *tape = phi__taping_of(user_data);
    phi__tape_flow *flow = phi__tape_flow_of(tape, transfer);
    if (flow == NULL) return;
    flow->live = false;
    if (!flow->has_end) tape->inner.cancel(tape->inner.user_data, transfer);
}

static void phi__taping_release(void *user_data, phi_transfer transfer) {
    phi__tape *tape = phi__taping_of(user_data);
    phi__tape_flow *flow = phi__tape_flow_of(tape, transfer);
    if (flow == NULL) return;
    if (tape->inner.release == NULL) {
        phi__taping_cancel(user_data, transfer);
        return;
    }
    flow->live = false;
    if (!flow->has_end) tape->inner.release(tape->inner.user_data, transfer);
}

static void phi__taping_pump(void *user_data) {
    phi__tape *tape = phi__taping_of(user_data);
    if (tape->inner.pump != NULL) tape->inner.pump(tape->inner.user_data);
}

/* ---- tools ---- */

/* Records a result and gives it to the run, both with secrets redacted. */
static phi_status phi__taping_result_now(phi__tape *tape, phi__toolcall *call,
                                         const phi_message *message) {
    phi__buf *line = phi__taping_line(tape, "result");
    phi__tape_result_put(tape, line, call, message);
    size_t before = line->len;
    if (!line->failed && phi__secret_hide(&tape->secrets, line->at, line->len, PHI__SECRET_JSON)) {
        phi__tape_line own = PHI_ZERO;
        phi__buf_char(line, '}');
        own.text = phi__buf_str(line);
        const phi_json *root = line->failed ? NULL : phi__tape_read_tree(tape, &own);
        message = root != NULL ? phi__tape_read_result(tape, root) : NULL;
        line->len = before;
        if (message == NULL) tape->failed = PHI_NO_MEMORY;
    }
    phi__tape_line_end(tape);
    phi_status status = message != NULL ? phi__tape_result_settle(call, message) : PHI_NO_MEMORY;
    if (message == NULL) phi__call_unclaim(call);
    return status;
}

static phi_status phi__taping_result(phi_tape *base, phi__toolcall *call,
                                     const phi_tool_result *result) {
    phi__tape *tape = phi__taping_of(base);
    phi_message *message = phi__results_keep(&call->run->arena, result);
    if (message == NULL) return phi__call_take(call, result); /* fails the call */
    if ((tape->letting && !tape->posting) || call->starting)
        return phi__taping_result_now(tape, call, message);
    call->held = message;
    return PHI_OK;
}

/* Records the results that were given between two steps, or in the host's posts. */
static void phi__taping_held(phi__tape *tape) {
    for (uint32_t i = 0; i < tape->rt->calls.count; i++) {
        phi__toolcall *call = phi__tape_call_at(tape, i);
        if (call != NULL && call->held != NULL)
            (void)phi__taping_result_now(tape, call, call->held);
    }
}

static bool phi__taping_on_way(phi_tape *base, const phi__toolcall *call, bool on_way) {
    phi__tape *tape = phi__taping_of(base);
    if (!on_way) return false;
    phi__buf *line = phi__taping_line(tape, "claimed");
    phi__records_u64(line, "agent", call->run->agent->handle.index);
    phi__records_str(line, "id", call->block->id);
    phi__tape_line_end(tape);
    return true;
}

static void phi__taping_said(phi_tape *base, phi__toolcall *call, phi_str text,
                             const phi_tool_result *part, bool progress) {
    phi__tape *tape = phi__taping_of(base);
    if (!tape->letting && !call->starting) return; /* a replay's host must repeat this update */
    if (part != NULL) {
        phi__buf *line = phi__taping_line(tape, "update");
        phi_arena *arena = &call->run->arena;
        phi_arena_mark mark = phi_arena_save(arena);
        const phi_message *message = phi__results_keep(arena, part);
        if (message != NULL)
            phi__tape_result_put(tape, line, call, message);
        else
            tape->failed = PHI_NO_MEMORY;
        phi_arena_reset(arena, mark);
        phi__tape_line_end(tape);
        return;
    }
    phi__buf *line = phi__taping_line(tape, "update");
    phi__records_u64(line, "agent", call->run->agent->handle.index);
    phi__records_str(line, "id", call->block->id);
    phi__records_true(line, "start", call->starting);
    phi__records_true(line, "progress", progress);
    phi__records_str(line, "text", text);
    phi__tape_line_end(tape);
}

/* ---- steps ---- */

static void phi__taping_begin(phi_tape *base) {
    phi__tape *tape = phi__taping_of(base);
    phi__tape_sources_set(tape, phi__taping_real_us(tape));
    tape->touched = tape->more = false;
    tape->letting = true;
    /* Delivers the events that were held back. No request may open here, so `flows` does not
       move. */
    for (size_t i = 0; i < tape->flows.count; i++) {
        phi__tape_flow *flow = &tape->flows.at[i];
        if (flow->live && flow->stage != 0) {
            int stage = flow->stage;
            flow->stage = 0;
            (void)phi__taping_stage(&tape->base, flow->transfer, (phi_transfer_stage)stage);
        }
        if (flow->live && flow->held_head) (void)phi__taping_head_now(tape, flow);
        if (flow->live && flow->refused) {
            flow->refused = false;
            tape->inner.resume(tape->inner.user_data, flow->transfer);
        }
        if (flow->live && flow->has_end) (void)phi__taping_end_now(tape, flow);
    }
    phi__taping_held(tape);
}

static void phi__taping_woken(phi_tape *base) {
    phi__tape *tape = phi__taping_of(base);
    phi__tape_sources_set(tape, phi__taping_real_us(tape));
    tape->more = tape->more || tape->touched;
    tape->touched = false;
}

static void phi__taping_fires(phi_tape *base) {
    phi__tape *tape = phi__taping_of(base);
    (void)phi__taping_line(tape, "timers");
    phi__tape_line_end(tape);
}

static void phi__taping_posting(phi_tape *base) {
    phi__taping_touch(base);
    phi__taping_of(base)->posting = true;
}

/* A replay does not post the results of tools. So the results among the posts are recorded after
   all posts. Otherwise the order of the other results would depend on the results of tools. */
static void phi__taping_posted(phi_tape *base) {
    phi__tape *tape = phi__taping_of(base);
    (void)phi__taping_line(tape, "posts");
    phi__tape_line_end(tape);
    tape->posting = false;
    phi__taping_held(tape);
}

static void phi__taping_let_in(phi_tape *base) {
    phi__tape *tape = phi__taping_of(base);
    tape->letting = false;
    if (tape->rt->ready.first != NULL) phi__taping_touch(base);
    if (tape->touched || tape->more) return;
    tape->idle++;
    tape->us = tape->last_us;
}

static void phi__taping_attach(phi_tape *base, phi_runtime *rt, const phi_transport *inner,
                               bool stages) {
    phi__tape *tape = phi__taping_of(base);
    char hex[PHI__SHA256_HEX];
    phi__buf *line = phi__tape_line_begin(tape, "tape");
    tape->rt = rt;
    tape->inner = *inner;
    base->stages = stages;
    phi__tape_secret_add_proxy(tape, rt->http);
    phi__records_u64(line, "version", PHI__TAPE_VERSION);
    phi__records_u64(line, "us", tape->us);
    phi__sha256_hex(tape->seed, hex);
    phi__records_str(line, "seed", phi__str(hex, sizeof hex));
    phi__records_bool(line, "stages", stages);
    phi__tape_line_end(tape);
}

static void phi__taping_detach(phi_tape *base) {
    phi__tape *tape = phi__taping_of(base);
    tape->rt = NULL;
}

static phi_status phi__taping_take(phi_tape *base, const phi__tape_sources *sources) {
    phi__tape *tape = phi__taping_of(base);
    phi_status status = phi__tape_sources_take(base, sources);
    if (status != PHI_OK) return status;
    tape->wall_us = (uint64_t)phi__clock_wall_ms() * 1000;
    tape->clock_us = phi__clock_us();
    tape->us = tape->last_us = phi__taping_real_us(tape);
    if (sources->random_fn != NULL)
        sources->random_fn(sources->user_data, tape->seed, sizeof tape->seed);
    else
        phi__clock_random(tape->seed, sizeof tape->seed);
    return PHI_OK;
}

static uint64_t phi__taping_look_us(phi_tape *base) {
    const phi__tape *tape = phi__taping_of(base);
    return tape->rt != NULL && tape->rt->in_step ? tape->us : phi__taping_real_us(tape);
}

static const phi__tape_ops phi__record_ops = {
    phi__taping_take,    phi__taping_attach, phi__taping_detach,
    phi__taping_begin,   phi__taping_posted, phi__taping_let_in,
    phi__taping_look_us, phi__taping_on_way, phi__taping_result};

static const phi__tape_recorder phi__record_recorder = {
    phi__taping_woken, phi__taping_fires, phi__taping_posting, phi__taping_stage,
    phi__taping_head,  phi__taping_push,  phi__taping_end,     phi__taping_said};

/* ---- public ---- */

PHI_API phi_tape *phi_tape_record(const phi_tape_desc *desc) {
    if (desc == NULL || desc->write_fn == NULL) return NULL;
    phi__tape *tape = phi__tape_new(desc);
    if (tape == NULL) return NULL;
    tape->base.ops = &phi__record_ops;
    tape->base.recorder = &phi__record_recorder;
    tape->base.clock_us_fn = phi__taping_clock;
    tape->base.work_us_fn = phi__taping_work_us;
    tape->base.transport.open = phi__taping_open;
    tape->base.transport.resume = phi__taping_resume;
    tape->base.transport.cancel = phi__taping_cancel;
    tape->base.transport.release = phi__taping_release;
    tape->base.transport.pump = phi__taping_pump;
    tape->base.transport.user_data = tape;
    return &tape->base;
}
