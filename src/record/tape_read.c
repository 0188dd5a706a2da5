/* tape_read.c - checks and indexes a tape's lines, and reads a line when its turn comes. */
#include "base/base64_in.h"
#include "base/crc32_in.h"
#include "model/message_in.h"
#include "record/replay_in.h"
#include "text/records_in.h"

#include <stdio.h>

enum { PHI__TAPE_SUM_BYTES = 18 }; /* ,"sum":"01234567"} */

static const char *const phi__tape_kinds[] = {"",      "tape",    "t",      "now",     "timers",
                                              "posts", "request", "stage",  "head",    "bytes",
                                              "end",   "result",  "update", "claimed", "over"};

static bool phi__tape_read_summed(phi__tape *tape, phi_str line) {
    char sum[PHI__TAPE_SUM_BYTES + 1];
    size_t n;
    if (line.len < PHI__TAPE_SUM_BYTES) return false;
    n = line.len - PHI__TAPE_SUM_BYTES;
    tape->sum = phi__crc32(tape->version < 2 ? 0 : tape->sum, line.at, n);
    (void)snprintf(sum, sizeof sum, ",\"sum\":\"%08lx\"}", (unsigned long)tape->sum);
    return memcmp(line.at + n, sum, PHI__TAPE_SUM_BYTES) == 0;
}

static phi__tape_kind phi__tape_read_kind_of(phi_str name) {
    size_t i;
    for (i = 1; i < PHI__COUNT(phi__tape_kinds); i++)
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

/* ---- the index ---- */

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
    size_t i;
    memset(out, 0, 32);
    if (hex.len != 64) return false;
    for (i = 0; i < 64; i++) {
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

/* What of a result must be there, so that nothing is wrong with it later. */
static const char *phi__tape_read_flaw(phi__tape *tape, const phi__tape_line *line,
                                       const phi_json *root) {
    phi_parse_error why;
    phi_message message;
    if (line->kind == PHI__TAPE_BYTES && phi_json_get(root, "text") == NULL &&
        !phi_json_is(phi_json_get(root, "base64"), PHI_JSON_STRING))
        return "bytes: text or base64 is missing";
    if (line->kind != PHI__TAPE_RESULT &&
        (line->kind != PHI__TAPE_UPDATE || phi_json_get(root, "result") == NULL))
        return NULL;
    memset(&message, 0, sizeof message);
    if (phi__message_read_get(phi_json_get(root, "result"), &tape->arena, &message, &why) ==
            PHI_PARSE ||
        message.role != PHI_ROLE_TOOL_RESULT)
        return "result: it is no message of a tool's result";
    return NULL;
}

static phi_status phi__tape_read_add(phi__tape *tape, phi_str text, phi_parse_error *error) {
    phi__tape_line line;
    const phi_json *root;
    const char *flaw;
    void *grown;
    memset(&line, 0, sizeof line);
    line.text = text;
    root = phi__tape_read_tree(tape, &line);
    /* a line with the right check value is JSON that phi wrote, but for forgery */
    if (root == NULL) return PHI_NO_MEMORY;
    line.kind = phi__tape_read_kind_of(phi__records_get_str(root, "k"));
    if (line.kind == PHI__TAPE_NONE)
        return phi__tape_read_wrong(tape, error, "k: no such kind of line");
    if ((line.kind == PHI__TAPE_HEAD) != (tape->index.count == 0))
        return phi__tape_read_wrong(tape, error, "a tape begins with one line of kind \"tape\"");
    flaw = phi__tape_read_flaw(tape, &line, root);
    if (flaw != NULL) return phi__tape_read_wrong(tape, error, flaw);
    line.x = phi__records_get_u64(root, "x");
    line.us = phi__records_get_u64(root, "us");
    line.gaps_us = phi__records_get_u64(root, "gaps");
    line.n = phi__records_get_u64(root, line.kind == PHI__TAPE_NOW ? "after" : "idle");
    line.more = phi__records_get_bool(root, "more");
    line.start = phi__records_get_bool(root, "start");
    if (line.kind == PHI__TAPE_HEAD && phi__tape_read_head(tape, root, error) != PHI_OK)
        return PHI_PARSE;
    grown = phi__grow(&tape->memory, tape->index.lines, &tape->index.cap, tape->index.count + 1,
                      sizeof line);
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
        if (end == NULL && tape->index.count > 0) break; /* the last write was torn */
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
