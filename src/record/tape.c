/* tape.c - makes and frees tapes, checks and indexes their lines, and hashes logs. */
#include "base/base_in.h"
#include "loop/loop_in.h"
#include "model/event_parts.h"
#include "model/failure.h"
#include "model/model_in.h"
#include "record/replay.h"
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
static void phi__tape_sources_random(void *user_data, void *out, size_t len) {
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

/* After a secret was sent, asterisks of the same length replace it in all text: in answers that
   repeat the secret, and in results of tools (io/secret.c). */

/* Fails the tape if a secret could not be stored. */
static void phi__tape_secret_kept(phi__tape *tape) {
    if (tape->secrets.failed || tape->secrets.count > PHI__TAPE_SECRETS_MOST)
        tape->failed = PHI_NO_MEMORY;
}

/* `secrets` ends with NULL. */
static void phi__tape_secret_add(phi__tape *tape, const char *const *secrets) {
    for (; secrets != NULL && *secrets != NULL; secrets++)
        phi__secret_add(&tape->secrets, phi_str_of(*secrets));
    phi__tape_secret_kept(tape);
}

PHI__FN void phi__tape_secret_add_proxy(phi__tape *tape, const phi__http *http) {
    phi__http_proxy(http, &tape->secrets);
    phi__tape_secret_kept(tape);
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

/* Hashes 1 if the part exists, else 0. False if the part does not exist. */
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

/* ---- making a tape ---- */

PHI__FN phi__tape *phi__tape_new(const phi_tape_desc *desc) {
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
    phi__tape_secret_add(tape, desc->secrets);
    return tape;
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
