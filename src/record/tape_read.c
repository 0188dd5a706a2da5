/* tape_read.c - checks and indexes the lines of a tape, and reads single lines. */
#include "base/base_in.h"
#include "loop/loop_in.h"
#include "model/model_in.h"
#include "record/replay_in.h"
#include "text/text_in.h"

#include <stdio.h>

/* ---- the tape's transfers ---- */

PHI__FN phi__tape_flow *phi__tape_flow_of(phi__tape *tape, phi_transfer transfer) {
    for (size_t i = 0; i < tape->flows.count; i++) {
        phi__tape_flow *flow = &tape->flows.at[i];
        if (flow->live && flow->transfer.index == transfer.index &&
            flow->transfer.gen == transfer.gen)
            return flow;
    }
    return NULL;
}

static phi__tape_flow *phi__tape_flow_place(phi__tape *tape) {
    for (size_t i = 0; i < tape->flows.count; i++)
        if (!tape->flows.at[i].live) return &tape->flows.at[i];
    void *grown = phi__grow(&tape->memory, tape->flows.at, &tape->flows.cap, tape->flows.count + 1,
                            sizeof *tape->flows.at);
    if (grown == NULL) return NULL;
    tape->flows.at = (phi__tape_flow *)grown;
    memset(&tape->flows.at[tape->flows.count], 0, sizeof *tape->flows.at);
    phi__buf_init(&tape->flows.at[tape->flows.count].head, &tape->memory);
    phi__buf_init(&tape->flows.at[tape->flows.count].carry, &tape->memory);
    return &tape->flows.at[tape->flows.count++];
}

PHI__FN phi__tape_flow *phi__tape_flow_new(phi__tape *tape, phi_transfer transfer, uint64_t x) {
    phi__tape_flow *flow = phi__tape_flow_place(tape);
    if (flow == NULL) return NULL;
    flow->transfer = transfer;
    flow->x = x;
    flow->live = true;
    flow->has_head = flow->held_head = flow->has_end = flow->refused = false;
    flow->stage = 0;
    phi__buf_clear(&flow->head);
    phi__buf_clear(&flow->carry);
    return flow;
}

/* ---- the clock and the random source of a runtime with a tape ---- */

PHI__FN void phi__tape_sources_set(phi__tape *tape, uint64_t us) {
    if (us > tape->us) tape->us = us;
    if (tape->rt == NULL || !tape->rt->in_step) return;
    tape->rt->step.began_us = tape->us;
    tape->rt->step.wall_ms = (int64_t)(tape->us / 1000);
}

/* Returns hashes of the seed and a counter, which are the same on every machine. */
PHI__FN void phi__tape_sources_random(void *user_data, void *out, size_t len) {
    phi__tape *tape = (phi__tape *)user_data;
    unsigned char block[40], hash[32];
    char *to = (char *)out;
    while (len > 0) {
        size_t n = phi__min(len, sizeof hash);
        memcpy(block, tape->seed, 32);
        for (size_t i = 0; i < 8; i++) block[32 + i] = (unsigned char)(tape->drawn >> (8 * i));
        tape->drawn++;
        phi__sha256_of(phi__str((const char *)block, sizeof block), hash);
        memcpy(to, hash, n);
        to += n;
        len -= n;
    }
}

static void phi__tape_sources_watch(void *user_data, intptr_t fd, int want) {
    phi__tape *tape = (phi__tape *)user_data;
    tape->sources.watch_fn(tape->sources.user_data, fd, want);
}

PHI__FN phi_status phi__tape_sources_take(phi_tape *base, const phi__tape_sources *sources) {
    phi__tape *tape = (phi__tape *)base;
    if (tape->taken) return PHI_MISUSE;
    tape->taken = true;
    tape->sources = *sources;
    base->watch_fn = sources->watch_fn != NULL ? phi__tape_sources_watch : NULL;
    return PHI_OK;
}

/* ---- writing lines ---- */

PHI__FN phi__buf *phi__tape_line_begin(phi__tape *tape, const char *kind) {
    phi__buf_clear(&tape->line);
    phi__buf_text(&tape->line, "{\"k\":\"");
    phi__buf_text(&tape->line, kind);
    phi__buf_char(&tape->line, '"');
    return &tape->line;
}

PHI__FN void phi__tape_line_end(phi__tape *tape) {
    phi__buf *line = &tape->line;
    if (tape->failed != PHI_OK || tape->over) return;
    if (!line->failed)
        (void)phi__secret_hide(&tape->secrets, line->at, line->len, PHI__SECRET_JSON);
    if (!line->failed) tape->sum = phi__crc32(tape->sum, line->at, line->len);
    phi__buf_printf(line, ",\"sum\":\"%08lx\"}\n", (unsigned long)tape->sum);
    if (line->failed)
        tape->failed = PHI_NO_MEMORY;
    else
        tape->failed = tape->desc.write_fn(tape->desc.user_data, line->at, line->len);
    tape->lines++;
}

/* ---- keeping secrets off the tape ---- */

/* Asterisks of the same length replace a secret in all text after it was sent, such as answers that
   repeat it and results of tools (io/secret_in.h). */

/* Fails the tape if a secret could not be stored. */
static void phi__tape_secret_kept(phi__tape *tape) {
    if (tape->secrets.failed || tape->secrets.count > PHI__TAPE_SECRETS_MOST)
        tape->failed = PHI_NO_MEMORY;
}

PHI__FN void phi__tape_secret_add(phi__tape *tape, const char *const *secrets) {
    for (; secrets != NULL && *secrets != NULL; secrets++)
        phi__secret_add(&tape->secrets, phi_str_of(*secrets));
    phi__tape_secret_kept(tape);
}

PHI__FN void phi__tape_secret_add_proxy(phi__tape *tape, const phi__http *http) {
    phi__http_proxy(http, &tape->secrets);
    phi__tape_secret_kept(tape);
}

PHI__FN void phi__tape_secret_put_head(phi__tape *tape, phi__buf *line, phi_str headers) {
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

PHI__FN void phi__tape_secret_put_request(phi__tape *tape, phi__buf *line,
                                          const phi_request *request, bool whole) {
    phi__records_str(line, "method", phi_request_get_info(request).method);
    phi_str url = phi_request_get_info(request).url;
    phi__buf_clear(&tape->bytes);
    phi__secret_url(&tape->secrets, url);
    phi__tape_secret_kept(tape);
    phi__secret_put_url(&tape->bytes, url);
    phi__records_str(line, "url", phi__buf_str(&tape->bytes));
    line->failed = line->failed || tape->bytes.failed;
    phi_request_info info = phi_request_get_info(request);
    phi__records_raw(line, "headers", "{");
    for (size_t i = 0; i < info.header_count; i++) {
        phi_str name = info.headers[i].name, value = info.headers[i].value;
        phi__json_write_key(line, name);
        if (phi__secret_header(&tape->secrets, name, value)) value = phi_str_of("[redacted]");
        phi__json_write_str(line, value);
    }
    phi__buf_char(line, '}');
    phi__tape_secret_kept(tape);
    /* the hash of the body, and the whole body if `whole` is set */
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
    phi__records_u64(line, "length", at);
    phi__records_str(line, "sha256", phi__str(hex, sizeof hex));
    if (whole) phi__records_str(line, "body", phi__buf_str(&tape->bytes));
    line->failed = line->failed || tape->bytes.failed;
}

PHI__FN phi__toolcall *phi__tape_call_at(const phi__tape *tape, uint32_t i) {
    phi__slot *slot = phi__slots_at(&tape->rt->calls, i);
    bool live = slot != NULL && phi__slots_state_of(PHI__LOAD(&slot->word)) != 0;
    return live ? (phi__toolcall *)slot->object : NULL;
}

PHI__FN phi_status phi__tape_result_settle(phi__toolcall *call, const phi_message *message) {
    phi_tool_result result = phi__results_given(message);
    call->held = NULL;
    return phi__call_take(call, &result);
}

PHI__FN void phi__tape_result_put(phi__tape *tape, phi__buf *line, const phi__toolcall *call,
                                  const phi_message *result) {
    phi_arena scratch;
    phi_message plain = *result;
    phi_arena_init(&scratch, &tape->memory, 0);
    phi__records_u64(line, "agent", call->run->agent->handle.index);
    phi__records_str(line, "id", call->block->id);
    phi__records_true(line, "start", call->starting);
    phi__records_some(line, "details", result->details);
    phi__records_some(line, "child", result->loop_id);
    phi__records_some(line, "effects", result->extension_data);
    plain.loop_id = plain.extension_data = phi__str(NULL, 0);
    phi__json_write_key(line, phi_str_of("result"));
    phi__message_put(line, &plain, &scratch);
    phi_arena_free(&scratch);
}

/* ---- checking and reading lines ---- */

enum { PHI__TAPE_SUM_BYTES = 18 }; /* ,"sum":"01234567"} */

static const char *const phi__tape_kinds[] = {"",      "tape",    "t",      "now",     "timers",
                                              "posts", "request", "stage",  "head",    "bytes",
                                              "end",   "result",  "update", "claimed", "over"};

static bool phi__tape_read_summed(phi__tape *tape, phi_str line) {
    char sum[PHI__TAPE_SUM_BYTES + 1];
    if (line.len < PHI__TAPE_SUM_BYTES) return false;
    size_t n = line.len - PHI__TAPE_SUM_BYTES;
    tape->sum = phi__crc32(tape->version < 2 ? 0 : tape->sum, line.at, n);
    (void)snprintf(sum, sizeof sum, ",\"sum\":\"%08lx\"}", (unsigned long)tape->sum);
    return memcmp(line.at + n, sum, PHI__TAPE_SUM_BYTES) == 0;
}

static phi__tape_kind phi__tape_read_kind_of(phi_str name) {
    for (size_t i = 1; i < PHI__COUNT(phi__tape_kinds); i++)
        if (phi__str_is(name, phi__tape_kinds[i])) return (phi__tape_kind)i;
    return PHI__TAPE_NONE;
}

PHI__FN const phi_json *phi__tape_read_tree(phi__tape *tape, const phi__tape_line *line) {
    phi_json *root = NULL;
    phi_arena_free(&tape->arena);
    if (phi_json_parse(&tape->arena, line->text, 0, &root, NULL) != PHI_OK) return NULL;
    return root;
}

PHI__FN bool phi__tape_read_bytes(phi__tape *tape, const phi_json *root) {
    const phi_json *text = phi_json_get(root, "text");
    phi__buf_clear(&tape->bytes);
    if (text != NULL)
        phi__buf_add_str(&tape->bytes, phi_json_str(text, ""));
    else
        (void)phi__base64_decode(&tape->bytes, phi__records_get_str(root, "base64"));
    return !tape->bytes.failed;
}

PHI__FN phi_message *phi__tape_read_result(phi__tape *tape, const phi_json *root) {
    phi_message *message = (phi_message *)phi__arena_zero(&tape->arena, sizeof *message);
    if (message == NULL ||
        phi__message_read_get(phi_json_get(root, "result"), &tape->arena, message, NULL) != PHI_OK)
        return NULL;
    message->details = phi__records_get_str(root, "details");
    message->loop_id = phi__records_get_str(root, "child");
    message->extension_data = phi__records_get_str(root, "effects");
    return message;
}

static phi_status phi__tape_read_wrong(const phi__tape *tape, phi_parse_error *error,
                                       const char *words) {
    if (error == NULL) return PHI_PARSE;
    memset(error, 0, sizeof *error);
    error->line = (uint32_t)tape->index.count + 1;
    error->column = 1;
    error->status = PHI_PARSE;
    (void)snprintf(error->message, sizeof error->message, "%s", words);
    return PHI_PARSE;
}

static bool phi__tape_read_hex(phi_str hex, unsigned char out[32]) {
    memset(out, 0, 32);
    if (hex.len != 64) return false;
    for (size_t i = 0; i < 64; i++) {
        const char *digits = "0123456789abcdef";
        const char *at = (const char *)memchr(digits, hex.at[i], 16);
        if (at == NULL) return false;
        out[i / 2] = (unsigned char)(out[i / 2] * 16 + (unsigned char)(at - digits));
    }
    return true;
}

static phi_status phi__tape_read_head(phi__tape *tape, const phi_json *root,
                                      phi_parse_error *error) {
    uint64_t version = phi__records_get_u64(root, "version");
    if (version == 0 || version > PHI__TAPE_VERSION)
        return phi__tape_read_wrong(tape, error, "a tape of version 1 or 2 is expected");
    tape->version = (uint32_t)version;
    if (!phi__tape_read_hex(phi__records_get_str(root, "seed"), tape->seed))
        return phi__tape_read_wrong(tape, error, "seed: expected 64 hex digits");
    tape->us = phi__records_get_u64(root, "us");
    tape->base.stages = phi__records_get_bool(root, "stages");
    return PHI_OK;
}

/* Returns the first flaw of a line, so that reading it later cannot fail. NULL if there is none. */
static const char *phi__tape_read_flaw(phi__tape *tape, const phi__tape_line *line,
                                       const phi_json *root) {
    phi_parse_error why;
    if (line->kind == PHI__TAPE_BYTES && phi_json_get(root, "text") == NULL &&
        !phi_json_is(phi_json_get(root, "base64"), PHI_JSON_STRING))
        return "bytes: text or base64 is missing";
    if (line->kind != PHI__TAPE_RESULT &&
        (line->kind != PHI__TAPE_UPDATE || phi_json_get(root, "result") == NULL))
        return NULL;
    phi_message message = PHI_ZERO;
    if (phi__message_read_get(phi_json_get(root, "result"), &tape->arena, &message, &why) ==
            PHI_PARSE ||
        message.role != PHI_ROLE_TOOL_RESULT)
        return "result: it is no message of a tool's result";
    return NULL;
}

static phi_status phi__tape_read_add(phi__tape *tape, phi_str text, phi_parse_error *error) {
    phi__tape_line line = PHI_ZERO;
    line.text = text;
    const phi_json *root = phi__tape_read_tree(tape, &line);
    /* unless forged, a line with the right sum is valid JSON */
    if (root == NULL) return PHI_NO_MEMORY;
    line.kind = phi__tape_read_kind_of(phi__records_get_str(root, "k"));
    if (line.kind == PHI__TAPE_NONE)
        return phi__tape_read_wrong(tape, error, "k: no such kind of line");
    if ((line.kind == PHI__TAPE_HEAD) != (tape->index.count == 0))
        return phi__tape_read_wrong(tape, error, "a tape begins with one line of kind \"tape\"");
    const char *flaw = phi__tape_read_flaw(tape, &line, root);
    if (flaw != NULL) return phi__tape_read_wrong(tape, error, flaw);
    line.x = phi__records_get_u64(root, "x");
    line.us = phi__records_get_u64(root, "us");
    line.gaps_us = phi__records_get_u64(root, "gaps");
    line.n = phi__records_get_u64(root, line.kind == PHI__TAPE_NOW ? "after" : "idle");
    line.more = phi__records_get_bool(root, "more");
    line.start = phi__records_get_bool(root, "start");
    if (line.kind == PHI__TAPE_HEAD && phi__tape_read_head(tape, root, error) != PHI_OK)
        return PHI_PARSE;
    void *grown = phi__grow(&tape->memory, tape->index.lines, &tape->index.cap,
                            tape->index.count + 1, sizeof line);
    if (grown == NULL) return PHI_NO_MEMORY;
    tape->index.lines = (phi__tape_line *)grown;
    tape->index.lines[tape->index.count++] = line;
    return PHI_OK;
}

PHI__FN phi_status phi__tape_read(phi__tape *tape, phi_str text, phi_parse_error *error) {
    phi_status status = PHI_OK;
    while (text.len > 0 && status == PHI_OK) {
        const char *end = (const char *)memchr(text.at, '\n', text.len);
        size_t n = end != NULL ? (size_t)(end - text.at) : text.len;
        if (end == NULL && tape->index.count > 0) break; /* the last line is cut off */
        if (!phi__tape_read_summed(tape, phi__str(text.at, n)))
            return phi__tape_read_wrong(
                tape, error,
                tape->version < 2 ? "the line is damaged: its sum is another"
                                  : "its sum is another: the line is damaged, or lines before it "
                                    "are missing, doubled or in another order");
        status = phi__tape_read_add(tape, phi__str(text.at, n), error);
        if (end == NULL) break;
        text = phi__str(end + 1, text.len - n - 1);
    }
    if (status == PHI_OK && tape->index.count == 0)
        return phi__tape_read_wrong(tape, error, "a tape begins with one line of kind \"tape\"");
    if (status != PHI_OK) return status;
    tape->torn = tape->index.lines[tape->index.count - 1].kind != PHI__TAPE_OVER;
    tape->index.at = 1;
    return PHI_OK;
}
