/* bench_decode.c - what decoding an answer's stream costs, beside reading the same JSON into trees.

       cc -O2 -std=c99 -D_GNU_SOURCE -Isrc bench/bench_decode.c build/bench/inside.o -lcurl -lm
       (with -DBENCH_CJSON -lcjson: beside cJSON, too)

   For each protocol a stream of some megabytes is written as its provider sends it: thinking, text, a tool's
   arguments, in deltas of a few tokens, with escapes and with all that providers put around them. Three
   sides take turns over the same bytes:

   - decoding: reads of 16 KiB through server-sent events, or through frames and their checks, and the codec,
     into the message, whose parts a sink is told of;
   - phi_json_parse of each payload, the strings left where they are, its arena reset after each;
   - cJSON_ParseWithLength and cJSON_Delete of each payload.

   Of frames half the bytes are not JSON, and each byte is checked by a CRC: what the checks alone cost is
   shown beside it, and what a byte of the wire costs over one of JSON.

   Times are thread CPU, the median of the rounds. Prints `name value unit` lines. */
#include "base/base_in.h"
#include "model/model.h"
#include "text/json.h"
#include "text/json_in.h"
#include "wire/codec_in.h"
#include "wire/wire_in.h"
#include "support/codec_of.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#ifdef BENCH_CJSON
#include <cjson/cJSON.h>
#endif

enum { ROUNDS = 9, PART_BYTES = 700000, READ = 16384, PAYLOADS_MOST = 40000 };

static double now_ns(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* ---- a stream ---- */

typedef struct stream {
    const char *protocol;
    phi_memory memory;
    phi__buf wire;     /* as it comes from the socket */
    phi__buf payloads; /* the JSON of it, end to end */
    size_t from[PAYLOADS_MOST + 1], count;
    phi__buf said; /* what was said in this part so far, escaped, for events that repeat it */
    bool frames;
} stream;

/* Its text, terminated. */
static const char *ended(phi__buf *buf) {
    phi__buf_char(buf, '\0');
    if (buf->failed) abort();
    buf->len--;
    return buf->at;
}

static void be32(phi__buf *out, uint32_t n) {
    int i;
    for (i = 24; i >= 0; i -= 8) phi__buf_char(out, (char)(unsigned char)(n >> i));
}

static void frame_header(phi__buf *out, const char *name, const char *value) {
    phi__buf_char(out, (char)strlen(name));
    phi__buf_text(out, name);
    phi__buf_char(out, 7);
    phi__buf_char(out, 0);
    phi__buf_char(out, (char)strlen(value));
    phi__buf_text(out, value);
}

static void put_frame(stream *s, const char *name, phi_str payload) {
    phi__buf headers;
    size_t from = s->wire.len;
    phi__buf_init(&headers, &s->memory);
    frame_header(&headers, ":event-type", name);
    frame_header(&headers, ":content-type", "application/json");
    frame_header(&headers, ":message-type", "event");
    be32(&s->wire, (uint32_t)(16 + headers.len + payload.len));
    be32(&s->wire, (uint32_t)headers.len);
    be32(&s->wire, phi__crc32(0, s->wire.at + from, 8));
    phi__buf_add(&s->wire, headers.at, headers.len);
    phi__buf_add(&s->wire, payload.at, payload.len);
    be32(&s->wire, phi__crc32(0, s->wire.at + from, s->wire.len - from));
    phi__buf_free(&headers);
}

/* What was added to `payloads` since the last event becomes one; name NULL: it has none. */
static void event(stream *s, const char *name) {
    size_t from = s->from[s->count];
    phi_str payload = phi__str(s->payloads.at + from, s->payloads.len - from);
    if (s->count == PAYLOADS_MOST || s->payloads.failed) abort();
    s->from[++s->count] = s->payloads.len;
    if (s->frames) {
        put_frame(s, name, payload);
        return;
    }
    if (name != NULL) phi__buf_printf(&s->wire, "event: %s\n", name);
    phi__buf_text(&s->wire, "data: ");
    phi__buf_add(&s->wire, payload.at, payload.len);
    phi__buf_text(&s->wire, "\n\n");
}

/* Deltas of an answer, as JSON text, and of a tool's arguments, which are JSON in JSON. */
static const char *const words[] = {
    " mended",     " the",           " sword, and", " \\\"yes\\\"",
    ".\\n\\n",     " The smith",     " looks",      " at you",
    " f\xc3\xbcr", " a while;",      " then he",    " says",
    ":\\n\\n- ",   " twelve silver", " pieces",     ", no less than that, my friend"};
static const char *const pieces[] = {"{\\\"path\\\":\\\"",
                                     "src/",
                                     "main.c",
                                     "\\\",\\\"text\\\":\\\"",
                                     "int main(",
                                     "void) {",
                                     "\\\\n    ",
                                     "return ",
                                     "0;",
                                     "\\\\n}",
                                     " /* ",
                                     "what it is for",
                                     " */",
                                     "\\\\n"};

static const char *piece(size_t i) { return i < 4 ? pieces[i] : pieces[4 + i % 10]; }

static const char *next_word(stream *s, size_t i) {
    const char *w = words[(i * 7 + i / 16) % 16];
    phi__buf_text(&s->said, w);
    return w;
}

/* Between 8 and 60 letters, as providers pad their events. */
static int padding(size_t i) { return 8 + (int)(i * 31 % 53); }
static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

static bool part_is_over(stream *s, size_t began) { return s->payloads.len - began >= PART_BYTES; }

/* ---- as the providers write ---- */

static void anthropic_block(stream *s, int index, const char *start, const char *type,
                            const char *member) {
    size_t began = s->payloads.len, i;
    bool tool = index == 2;
    phi__buf_printf(&s->payloads,
                    "{\"type\":\"content_block_start\",\"index\":%d,\"content_block\":%s}", index,
                    start);
    event(s, "content_block_start");
    for (i = 0; tool ? i < 4 || !part_is_over(s, began) : !part_is_over(s, began); i++) {
        phi__buf_printf(&s->payloads,
                        "{\"type\":\"content_block_delta\",\"index\":%d,\"delta\":{\"type\":\"%s\","
                        "\"%s\":\"%s\"}}",
                        index, type, member, tool ? piece(i) : next_word(s, i));
        event(s, "content_block_delta");
    }
    if (tool) {
        phi__buf_printf(&s->payloads,
                        "{\"type\":\"content_block_delta\",\"index\":%d,\"delta\":{\"type\":\"%s\","
                        "\"%s\":\"\\\"}\"}}",
                        index, type, member);
        event(s, "content_block_delta");
    }
    phi__buf_printf(&s->payloads, "{\"type\":\"content_block_stop\",\"index\":%d}", index);
    event(s, "content_block_stop");
}

static void write_anthropic(stream *s) {
    phi__buf_text(
        &s->payloads,
        "{\"type\":\"message_start\",\"message\":{\"id\":\"msg_01Tool\",\"type\":\"message\","
        "\"role\":\"assistant\",\"model\":\"claude-sonnet-4-6\",\"content\":[],\"stop_reason\":"
        "null,\"usage\":{\"input_tokens\":310,\"cache_creation_input_tokens\":0,"
        "\"cache_read_input_tokens\":0,\"output_tokens\":2}}}");
    event(s, "message_start");
    anthropic_block(s, 0, "{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}",
                    "thinking_delta", "thinking");
    anthropic_block(s, 1, "{\"type\":\"text\",\"text\":\"\"}", "text_delta", "text");
    anthropic_block(
        s, 2, "{\"type\":\"tool_use\",\"id\":\"toolu_01A09q90\",\"name\":\"write\",\"input\":{}}",
        "input_json_delta", "partial_json");
    phi__buf_text(&s->payloads,
                  "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\","
                  "\"stop_sequence\":null},\"usage\":{\"output_tokens\":40000}}");
    event(s, "message_delta");
    phi__buf_text(&s->payloads, "{\"type\":\"message_stop\"}");
    event(s, "message_stop");
}

static void chat_chunk(stream *s, size_t i, const char *before, const char *text, const char *after,
                       const char *reason) {
    phi__buf_printf(
        &s->payloads,
        "{\"id\":\"chatcmpl-B1xyzKQ8\",\"object\":\"chat.completion.chunk\",\"created\":"
        "1763700000,\"model\":\"gpt-5-mini-2025-08-07\",\"service_tier\":\"default\","
        "\"system_fingerprint\":null,\"choices\":[{\"index\":0,\"delta\":{%s%s%s},"
        "\"logprobs\":null,\"finish_reason\":%s}],\"usage\":null,\"obfuscation\":"
        "\"%.*s\"}",
        before, text, after, reason, padding(i) / 4, letters);
    event(s, NULL);
}

static void write_chat(stream *s) {
    size_t began = s->payloads.len, i;
    chat_chunk(s, 0, "\"role\":\"assistant\",\"content\":\"", "", "\",\"refusal\":null", "null");
    for (i = 0; !part_is_over(s, began); i++)
        chat_chunk(s, i, "\"content\":null,\"reasoning_content\":\"", next_word(s, i), "\"",
                   "null");
    began = s->payloads.len;
    for (i = 0; !part_is_over(s, began); i++)
        chat_chunk(s, i, "\"content\":\"", next_word(s, i), "\"", "null");
    began = s->payloads.len;
    chat_chunk(s, 0,
               "\"tool_calls\":[{\"index\":0,\"id\":\"call_DdmO9pD3xa9XTPNJ\",\"type\":"
               "\"function\",\"function\":{\"name\":\"write\",\"arguments\":\"",
               "", "\"}}]", "null");
    for (i = 0; i < 4 || !part_is_over(s, began); i++)
        chat_chunk(s, i, "\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"", piece(i),
                   "\"}}]", "null");
    chat_chunk(s, i, "\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"", "\\\"}",
               "\"}}]", "null");
    chat_chunk(s, i, "", "", "", "\"tool_calls\"");
    phi__buf_text(&s->wire, "data: [DONE]\n\n");
}

static void responses_item(stream *s, size_t *seq, const char *name, int index, const char *item) {
    phi__buf_printf(&s->payloads,
                    "{\"type\":\"response.output_item.%s\",\"sequence_number\":%u,"
                    "\"output_index\":%d,\"item\":%s}",
                    name, (unsigned)(*seq)++, index, item);
    event(s,
          strcmp(name, "added") == 0 ? "response.output_item.added" : "response.output_item.done");
}

/* `between`: members before the delta, of this kind. */
static void responses_delta(stream *s, size_t *seq, const char *name, const char *id, int index,
                            const char *between, const char *text) {
    phi__buf_printf(&s->payloads,
                    "{\"type\":\"%s\",\"sequence_number\":%u,\"item_id\":\"%s\","
                    "\"output_index\":%d,%s\"delta\":\"%s\",\"obfuscation\":\"%.*s\"}",
                    name, (unsigned)*seq, id, index, between, text, padding(*seq) / 4, letters);
    (*seq)++;
    event(s, name);
}

#define RESPONSE_HEAD                                                                              \
    "\"response\":{\"id\":\"resp_p1\",\"object\":\"response\",\"created_at\":1763700000,"          \
    "\"background\":false,\"error\":null,\"incomplete_details\":null,\"instructions\":null,"       \
    "\"max_output_tokens\":null,\"model\":\"gpt-5-mini-2025-08-07\",\"parallel_tool_calls\":true," \
    "\"store\":false,"

static void responses_reasoning(stream *s, size_t *seq, phi__buf *item) {
    static const char reasoning[] = "rs_68fa01b2c3d4e5f6";
    size_t began, i;
    responses_item(s, seq, "added", 0,
                   "{\"id\":\"rs_68fa01b2c3d4e5f6\",\"type\":\"reasoning\",\"summary\":[]}");
    phi__buf_printf(&s->payloads,
                    "{\"type\":\"response.reasoning_summary_part.added\",\"sequence_number\":%u,"
                    "\"item_id\":\"%s\",\"output_index\":0,\"summary_index\":0,\"part\":{\"type\":"
                    "\"summary_text\",\"text\":\"\"}}",
                    (unsigned)(*seq)++, reasoning);
    event(s, "response.reasoning_summary_part.added");
    phi__buf_clear(&s->said);
    for (i = 0, began = s->payloads.len; !part_is_over(s, began); i++)
        responses_delta(s, seq, "response.reasoning_summary_text.delta", reasoning, 0,
                        "\"summary_index\":0,", next_word(s, i));
    phi__buf_printf(item,
                    "{\"id\":\"%s\",\"type\":\"reasoning\",\"summary\":[{\"type\":\"summary_text\","
                    "\"text\":\"%s\"}],\"encrypted_content\":\"gAAAAABo\"}",
                    reasoning, ended(&s->said));
    responses_item(s, seq, "done", 0, ended(item));
}

static void responses_message(stream *s, size_t *seq, phi__buf *item) {
    static const char message[] = "msg_68fa01b2c3d4e5f7";
    size_t began, i;
    responses_item(
        s, seq, "added", 1,
        "{\"id\":\"msg_68fa01b2c3d4e5f7\",\"type\":\"message\",\"status\":\"in_progress\","
        "\"role\":\"assistant\",\"content\":[]}");
    phi__buf_printf(&s->payloads,
                    "{\"type\":\"response.content_part.added\",\"sequence_number\":%u,\"item_id\":"
                    "\"%s\",\"output_index\":1,\"content_index\":0,\"part\":{\"type\":"
                    "\"output_text\",\"annotations\":[],\"logprobs\":[],\"text\":\"\"}}",
                    (unsigned)(*seq)++, message);
    event(s, "response.content_part.added");
    phi__buf_clear(&s->said);
    for (i = 0, began = s->payloads.len; !part_is_over(s, began); i++)
        responses_delta(s, seq, "response.output_text.delta", message, 1,
                        "\"content_index\":0,\"logprobs\":[],", next_word(s, i));
    phi__buf_printf(
        &s->payloads,
        "{\"type\":\"response.output_text.done\",\"sequence_number\":%u,\"item_id\":"
        "\"%s\",\"output_index\":1,\"content_index\":0,\"logprobs\":[],\"text\":\"%s\"}",
        (unsigned)(*seq)++, message, ended(&s->said));
    event(s, "response.output_text.done");
    phi__buf_printf(item,
                    "{\"id\":\"%s\",\"type\":\"message\",\"status\":\"completed\",\"role\":"
                    "\"assistant\",\"content\":[{\"type\":\"output_text\",\"annotations\":[],"
                    "\"logprobs\":[],\"text\":\"%s\"}]}",
                    message, ended(&s->said));
    responses_item(s, seq, "done", 1, ended(item));
}

static void responses_call(stream *s, size_t *seq, phi__buf *item) {
    static const char call[] = "fc_68fa01b2c3d4e5f8";
    size_t began, i;
    responses_item(s, seq, "added", 2,
                   "{\"id\":\"fc_68fa01b2c3d4e5f8\",\"type\":\"function_call\",\"status\":"
                   "\"in_progress\",\"arguments\":\"\",\"call_id\":\"call_a\",\"name\":\"write\"}");
    phi__buf_clear(&s->said);
    for (i = 0, began = s->payloads.len; i < 4 || !part_is_over(s, began); i++) {
        responses_delta(s, seq, "response.function_call_arguments.delta", call, 2, "", piece(i));
        phi__buf_text(&s->said, piece(i));
    }
    responses_delta(s, seq, "response.function_call_arguments.delta", call, 2, "", "\\\"}");
    phi__buf_text(&s->said, "\\\"}");
    phi__buf_printf(&s->payloads,
                    "{\"type\":\"response.function_call_arguments.done\",\"sequence_number\":%u,"
                    "\"item_id\":\"%s\",\"output_index\":2,\"arguments\":\"%s\"}",
                    (unsigned)(*seq)++, call, ended(&s->said));
    event(s, "response.function_call_arguments.done");
    phi__buf_printf(item,
                    "{\"id\":\"%s\",\"type\":\"function_call\",\"status\":\"completed\","
                    "\"arguments\":\"%s\",\"call_id\":\"call_a\",\"name\":\"write\"}",
                    call, ended(&s->said));
    responses_item(s, seq, "done", 2, ended(item));
}

static void write_responses(stream *s) {
    phi__buf items[3];
    size_t i, seq = 1;
    for (i = 0; i < 3; i++) phi__buf_init(&items[i], &s->memory);
    phi__buf_text(&s->payloads,
                  "{\"type\":\"response.created\",\"sequence_number\":0," RESPONSE_HEAD
                  "\"status\":\"in_progress\",\"output\":[],\"usage\":null}}");
    event(s, "response.created");
    responses_reasoning(s, &seq, &items[0]);
    responses_message(s, &seq, &items[1]);
    responses_call(s, &seq, &items[2]);
    phi__buf_printf(
        &s->payloads,
        "{\"type\":\"response.completed\",\"sequence_number\":%u," RESPONSE_HEAD
        "\"status\":\"completed\",\"output\":[%s,%s,%s],\"usage\":{\"input_tokens\":1825,"
        "\"input_tokens_details\":{\"cached_tokens\":1800},\"output_tokens\":40000,"
        "\"output_tokens_details\":{\"reasoning_tokens\":10000},\"total_tokens\":41825}"
        "}}",
        (unsigned)seq, ended(&items[0]), ended(&items[1]), ended(&items[2]));
    event(s, "response.completed");
    for (i = 0; i < 3; i++) phi__buf_free(&items[i]);
}

static void google_chunk(stream *s, size_t i, const char *before, const char *text,
                         const char *after, const char *reason) {
    phi__buf_printf(
        &s->payloads,
        "{\"candidates\":[{\"content\":{\"parts\":[{%s%s%s}],\"role\":\"model\"},%s\"index\":0}],"
        "\"usageMetadata\":{\"promptTokenCount\":1050,\"candidatesTokenCount\":%u,"
        "\"totalTokenCount\":%u,\"cachedContentTokenCount\":1000,\"promptTokensDetails\":[{"
        "\"modality\":\"TEXT\",\"tokenCount\":1050}],\"thoughtsTokenCount\":30},\"modelVersion\":"
        "\"gemini-3-pro-preview\",\"responseId\":\"rT2\"}",
        before, text, after, reason, (unsigned)i, (unsigned)i + 1080);
    event(s, NULL);
}

/* These send some ten tokens a chunk, and a call's arguments in one piece. */
static void write_google(stream *s) {
    phi__buf text;
    size_t i, k, n = 0, began;
    int part;
    phi__buf_init(&text, &s->memory);
    for (part = 0; part < 2; part++)
        for (began = s->payloads.len; !part_is_over(s, began);) {
            phi__buf_clear(&text);
            for (k = 0; k < 6; k++) phi__buf_text(&text, next_word(s, n++));
            google_chunk(s, n, "\"text\":\"", ended(&text),
                         part == 0 ? "\",\"thought\":true" : "\"", "");
        }
    for (began = s->payloads.len, i = 0; !part_is_over(s, began); i++) {
        phi__buf_clear(&text);
        for (k = 0; k < 1000; k++) phi__buf_text(&text, next_word(s, n++));
        phi__buf_printf(&text, "\"}},\"thoughtSignature\":\"EpwCCpkCQ2FsbFNpZw==\"");
        google_chunk(s, n,
                     "\"functionCall\":{\"name\":\"write\",\"args\":{\"path\":\"src/main.c\","
                     "\"mode\":420,\"text\":\"",
                     ended(&text), "", "");
    }
    google_chunk(s, n, "\"text\":\"\"", "", "", "\"finishReason\":\"STOP\",");
    phi__buf_free(&text);
}

static void bedrock_delta(stream *s, size_t i, int block, const char *before, const char *text,
                          const char *after) {
    phi__buf_printf(&s->payloads, "{\"contentBlockIndex\":%d,\"delta\":{%s%s%s},\"p\":\"%.*s\"}",
                    block, before, text, after, padding(i), letters);
    event(s, "contentBlockDelta");
}

static void bedrock_stop(stream *s, int block) {
    phi__buf_printf(&s->payloads, "{\"contentBlockIndex\":%d,\"p\":\"abcdefg\"}", block);
    event(s, "contentBlockStop");
}

static void write_bedrock(stream *s) {
    size_t began, i;
    phi__buf_text(&s->payloads, "{\"role\":\"assistant\",\"p\":\"abcdefghijklmnopq\"}");
    event(s, "messageStart");
    for (i = 0, began = s->payloads.len; !part_is_over(s, began); i++)
        bedrock_delta(s, i, 0, "\"reasoningContent\":{\"text\":\"", next_word(s, i), "\"}");
    bedrock_delta(s, i, 0, "\"reasoningContent\":{\"signature\":\"", "EqQBCkYI", "\"}");
    bedrock_stop(s, 0);
    for (i = 0, began = s->payloads.len; !part_is_over(s, began); i++)
        bedrock_delta(s, i, 1, "\"text\":\"", next_word(s, i), "\"");
    bedrock_stop(s, 1);
    phi__buf_text(&s->payloads, "{\"contentBlockIndex\":2,\"start\":{\"toolUse\":{\"toolUseId\":"
                                "\"tooluse_kZJMlvQmRJ6e\",\"name\":\"write\"}},\"p\":\"abc\"}");
    event(s, "contentBlockStart");
    for (i = 0, began = s->payloads.len; i < 4 || !part_is_over(s, began); i++)
        bedrock_delta(s, i, 2, "\"toolUse\":{\"input\":\"", piece(i), "\"}");
    bedrock_delta(s, i, 2, "\"toolUse\":{\"input\":\"", "\\\"}", "\"}");
    bedrock_stop(s, 2);
    phi__buf_text(&s->payloads, "{\"stopReason\":\"tool_use\",\"p\":\"abcdefghijk\"}");
    event(s, "messageStop");
    phi__buf_text(&s->payloads,
                  "{\"usage\":{\"inputTokens\":310,\"outputTokens\":40000,\"totalTokens\":40310},"
                  "\"metrics\":{\"latencyMs\":812},\"p\":\"abcdefghijklm\"}");
    event(s, "metadata");
}

/* ---- the three sides ---- */

static volatile size_t heard;

static void sink(void *ctx, phi__assembly *a, phi__part part, size_t block, size_t from) {
    (void)ctx;
    if (part == PHI__PART_DELTA) heard += a->drafts[block].bytes.len - from;
}

static double decode(const stream *s) {
    const phi__codec *codec = codec_of(s->protocol);
    void *state = calloc(1, codec->state_bytes);
    phi_memory memory;
    phi__assembly a;
    phi__reader reader;
    size_t at;
    double t0;
    phi_memory_init(&memory, NULL, 0);
    t0 = now_ns();
    phi__assembly_init(&a, &memory);
    a.sink = sink;
    phi__reader_init(&reader, codec, state, &a, 0);
    for (at = 0; at < s->wire.len; at += READ)
        phi__reader_feed(&reader,
                         phi__str(s->wire.at + at, phi__min((size_t)READ, s->wire.len - at)));
    phi__reader_end(&reader);
    phi__assembly_finish(&a);
    if (a.failure.kind != PHI_FAILURE_NONE || a.count < 3 || !a.terminal) {
        fprintf(stderr, "%s: %u blocks, failure %d: %.*s\n", s->protocol, (unsigned)a.count,
                (int)a.failure.kind, (int)a.failure.message.len, a.failure.message.at);
        abort();
    }
    phi__reader_free(&reader);
    phi__assembly_free(&a);
    t0 = now_ns() - t0;
    free(state);
    return t0;
}

static phi_str payload_at(const stream *s, size_t i) {
    return phi__str(s->payloads.at + s->from[i], s->from[i + 1] - s->from[i]);
}

static double parse(const stream *s) {
    phi_memory memory;
    phi_arena arena;
    phi_arena_mark mark;
    phi_json *root;
    size_t i;
    double t0;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 4096);
    (void)phi_arena_alloc(&arena, 1);
    mark = phi_arena_save(&arena);
    t0 = now_ns();
    for (i = 0; i < s->count; i++) {
        if (phi_json_parse(&arena, payload_at(s, i), PHI_JSON_BORROW, &root, NULL) != PHI_OK)
            abort();
        heard += phi_json_count(root);
        phi_arena_reset(&arena, mark);
    }
    t0 = now_ns() - t0;
    phi_arena_free(&arena);
    return t0;
}

#ifdef BENCH_CJSON
static double parse_cjson(const stream *s) {
    double t0 = now_ns();
    size_t i;
    for (i = 0; i < s->count; i++) {
        phi_str text = payload_at(s, i);
        cJSON *root = cJSON_ParseWithLength(text.at, text.len);
        if (root == NULL) abort();
        heard += (size_t)cJSON_GetArraySize(root);
        cJSON_Delete(root);
    }
    return now_ns() - t0;
}
#endif

/* The checks of the frames alone: all bytes once, and of each frame's head once more. */
static double check(const stream *s) {
    double t0 = now_ns();
    heard += phi__crc32(0, s->wire.at, s->wire.len);
    return now_ns() - t0;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *values) {
    qsort(values, ROUNDS, sizeof *values, by_size);
    return values[ROUNDS / 2];
}

static void measure(const char *name, const stream *s) {
    double ours[ROUNDS], tree[ROUNDS], checks[ROUNDS], t, parsed;
    double bytes = (double)s->payloads.len;
    int i;
#ifdef BENCH_CJSON
    double cjson[ROUNDS];
#endif
    for (i = 0; i < ROUNDS; i++) {
        ours[i] = decode(s);
        tree[i] = parse(s);
        checks[i] = check(s);
#ifdef BENCH_CJSON
        cjson[i] = parse_cjson(s);
#endif
    }
    t = median(ours);
    parsed = median(tree);
    printf("decode_%s_payload %.2f MB\n", name, bytes / 1e6);
    printf("decode_%s_events %u events\n", name, (unsigned)s->count);
    printf("decode_%s %.0f MB/s\n", name, bytes / t * 1e3);
    printf("decode_%s_event %.0f ns\n", name, t / (double)s->count);
    printf("decode_%s_over_json_parse %.2f times\n", name, t / parsed);
    if (s->frames) {
        printf("decode_%s_checks_over_json_parse %.2f times\n", name, median(checks) / parsed);
        printf("decode_%s_byte_over_json_byte %.2f times\n", name,
               t / (double)s->wire.len / (parsed / bytes));
    }
#ifdef BENCH_CJSON
    printf("decode_%s_over_cjson %.2f times\n", name, t / median(cjson));
#endif
    (void)fflush(stdout);
}

static void protocol(const char *name, const char *protocol, void (*write)(stream *)) {
    stream *s = (stream *)calloc(1, sizeof *s);
    if (s == NULL) abort();
    s->protocol = protocol;
    s->frames = codec_of(protocol)->frames != NULL;
    phi_memory_init(&s->memory, NULL, 0);
    phi__buf_init(&s->wire, &s->memory);
    phi__buf_init(&s->payloads, &s->memory);
    phi__buf_init(&s->said, &s->memory);
    write(s);
    if (s->wire.failed || s->payloads.failed || s->said.failed) abort();
    measure(name, s);
    phi__buf_free(&s->wire);
    phi__buf_free(&s->payloads);
    phi__buf_free(&s->said);
    free(s);
}

int main(void) {
    protocol("anthropic", PHI_PROTOCOL_ANTHROPIC, write_anthropic);
    protocol("chat", PHI_PROTOCOL_OPENAI_CHAT, write_chat);
    protocol("responses", PHI_PROTOCOL_OPENAI_RESPONSES, write_responses);
    protocol("azure", PHI_PROTOCOL_AZURE_RESPONSES, write_responses);
    protocol("gemini", PHI_PROTOCOL_GOOGLE, write_google);
    protocol("vertex", PHI_PROTOCOL_VERTEX, write_google);
    protocol("bedrock", PHI_PROTOCOL_BEDROCK, write_bedrock);
    return 0;
}
