/* bench_wire.c - what a streamed delta costs from its event's text to the message, beside reading
   the same text into a tree; and whether long tool arguments cost what their length says.

       cc -O2 -std=c99 -D_GNU_SOURCE -Isrc bench/bench_wire.c src/base/x.c src/text/x.c \
          src/model/x.c src/wire/x.c src/codecs/x.c src/io/request.c -lm

   Prints `name value unit` lines; times are thread CPU time, the least of several rounds. */
#include "model/model.h"
#include "text/json.h"
#include "text/json_in.h"
#include "wire/codec_in.h"
#include "support/codec_of.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ROUNDS 9
#define DELTAS 20000

static double now_ns(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static const char anthropic_delta[] =
    "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":"
    "\" mended the sword\"}}";

static const char chat_delta[] =
    "{\"id\":\"chatcmpl-B1x\",\"object\":\"chat.completion.chunk\",\"created\":1763700000,"
    "\"model\":"
    "\"gpt-5-mini\",\"service_tier\":\"default\",\"system_fingerprint\":\"fp_1\",\"choices\":[{"
    "\"index\":0,\"delta\":{\"content\":\" mended the sword\"},\"logprobs\":null,\"finish_reason\":"
    "null}],\"usage\":null,\"obfuscation\":\"Qa\"}";

static volatile size_t heard;

static void sink(void *ctx, phi__assembly *a, phi__part part, size_t block, size_t from) {
    (void)ctx;
    if (part == PHI__PART_DELTA) heard += a->drafts[block].bytes.len - from;
}

static double decode_once(const char *protocol, const char *start, const char *delta) {
    phi_memory memory;
    phi__assembly a;
    const phi__codec *codec = codec_of(protocol);
    void *state = calloc(1, codec->state_bytes);
    phi_str data = phi_str_of(delta), name = {NULL, 0};
    double t0, t1;
    int i;
    phi_memory_init(&memory, NULL, 0);
    phi__assembly_init(&a, &memory);
    a.sink = sink;
    if (start != NULL) codec->event(state, &a, name, phi_str_of(start));
    t0 = now_ns();
    for (i = 0; i < DELTAS; i++) codec->event(state, &a, name, data);
    t1 = now_ns();
    if (a.count != 1 || a.failure.kind != PHI_FAILURE_NONE) abort();
    phi__assembly_free(&a);
    free(state);
    return (t1 - t0) / DELTAS;
}

static double tree_once(const char *delta) {
    phi_memory memory;
    phi_arena arena;
    phi_arena_mark mark;
    phi_str data = phi_str_of(delta);
    double t0, t1;
    int i;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 4096);
    (void)phi_arena_alloc(&arena, 1);
    mark = phi_arena_save(&arena);
    t0 = now_ns();
    for (i = 0; i < DELTAS; i++) {
        phi_json *root;
        if (phi_json_parse(&arena, data, PHI_JSON_BORROW, &root, NULL) != PHI_OK) abort();
        heard += phi_json_count(root);
        phi_arena_reset(&arena, mark);
    }
    t1 = now_ns();
    phi_arena_free(&arena);
    return (t1 - t0) / DELTAS;
}

static double skip_once(const char *delta) {
    phi_str data = phi_str_of(delta);
    double t0 = now_ns();
    int i;
    for (i = 0; i < DELTAS; i++) {
        phi__json_cursor c;
        phi__json_cursor_init(&c, data);
        heard += phi__json_cursor_skip(&c);
    }
    return (now_ns() - t0) / DELTAS;
}

/* The events as they come from a socket, 16 KiB a read. */
static double stream_once(const char *protocol, const char *start, const char *delta) {
    phi_memory memory;
    phi__assembly a;
    phi__sse sse;
    phi__sse_event event;
    const phi__codec *codec = codec_of(protocol);
    void *state = calloc(1, codec->state_bytes);
    phi__buf text;
    double t0, t1;
    size_t at;
    int i;
    phi_memory_init(&memory, NULL, 0);
    phi__buf_init(&text, &memory);
    if (start != NULL) phi__buf_printf(&text, "data: %s\n\n", start);
    for (i = 0; i < DELTAS; i++) phi__buf_printf(&text, "data: %s\n\n", delta);
    phi__assembly_init(&a, &memory);
    phi__sse_init(&sse, &memory, 0);
    a.sink = sink;
    t0 = now_ns();
    for (at = 0; at < text.len; at += 16384) {
        phi__sse_feed(&sse, text.at + at, phi__min(16384, text.len - at));
        while (phi__sse_next(&sse, &event) > 0) codec->event(state, &a, event.name, event.data);
    }
    t1 = now_ns();
    phi__sse_free(&sse);
    phi__assembly_free(&a);
    phi__buf_free(&text);
    free(state);
    return (t1 - t0) / DELTAS;
}

/* One call's arguments in deltas of 10 bytes: nanoseconds a delta must not grow with the total. */
static double arguments_once(size_t total) {
    static const char start[] =
        "{\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,"
        "\"id\":\"c\",\"function\":{\"name\":\"write\"}}]}}]}";
    static const char delta[] =
        "{\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,"
        "\"function\":{\"arguments\":\"0123456789\"}}]}}]}";
    phi_memory memory;
    phi__assembly a;
    const phi__codec *codec = codec_of(PHI_PROTOCOL_OPENAI_CHAT);
    void *state = calloc(1, codec->state_bytes);
    phi_str name = {NULL, 0};
    double t0, t1;
    size_t i;
    phi_memory_init(&memory, NULL, 0);
    phi__assembly_init(&a, &memory);
    codec->event(state, &a, name, phi_str_of(start));
    t0 = now_ns();
    for (i = 0; i < total / 10; i++) codec->event(state, &a, name, phi_str_of(delta));
    t1 = now_ns();
    phi__assembly_free(&a);
    free(state);
    return (t1 - t0) / (double)(total / 10);
}

#define LEAST(out, call)                                                                           \
    do {                                                                                           \
        int round_;                                                                                \
        (out) = 1e18;                                                                              \
        for (round_ = 0; round_ < ROUNDS; round_++) {                                              \
            double one_ = (call);                                                                  \
            if (one_ < (out)) (out) = one_;                                                        \
        }                                                                                          \
    } while (0)

/* A request over a long history, of which only the last message is new. */
static void requests(size_t turns) {
    phi_model model = phi_model_anthropic("claude-sonnet-4-6", "K");
    phi_memory memory;
    phi_arena kept, turn;
    phi_arena_mark none;
    phi__request_spec spec;
    phi__item *items = (phi__item *)calloc(turns, sizeof *items);
    phi_message *messages = (phi_message *)calloc(turns, sizeof *messages);
    phi__rendered **rendered = (phi__rendered **)calloc(turns, sizeof *rendered);
    phi_content content;
    char *text = (char *)malloc(2048);
    double first = 0, again = 1e18;
    size_t i;
    int round;
    memset(text, 'x', 2048);
    memset(&none, 0, sizeof none);
    memset(&content, 0, sizeof content);
    memset(&spec, 0, sizeof spec);
    content.kind = PHI_CONTENT_TEXT;
    content.text = phi__str(text, 2048);
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&kept, &memory, 0);
    phi_arena_init(&turn, &memory, 0);
    for (i = 0; i < turns; i++) {
        messages[i].role = i % 2 == 0 ? PHI_ROLE_USER : PHI_ROLE_ASSISTANT;
        messages[i].content = &content;
        messages[i].content_count = 1;
        items[i].message = &messages[i];
        items[i].rendered = &rendered[i];
        items[i].arena = &kept;
    }
    spec.model = &model;
    spec.items = items;
    spec.item_count = turns;
    spec.temperature = -1;
    for (round = 0; round < ROUNDS; round++) {
        phi__encoder e;
        double t0 = now_ns(), t;
        phi__encoder_begin(&e, codec_of(model.protocol), &spec, &turn);
        if (phi__encoder_advance(&e, SIZE_MAX) != PHI_OK) abort();
        t = now_ns() - t0;
        if (round == 0)
            first = t;
        else if (t < again)
            again = t;
        phi__encoder_free(&e);
        phi_arena_reset(&turn, none);
    }
    printf("wire_request_%zu_messages_first %.1f us\n", turns, first / 1e3);
    printf("wire_request_%zu_messages_kept %.1f us\n", turns, again / 1e3);
    phi_arena_free(&kept);
    phi_arena_free(&turn);
    free(items);
    free(messages);
    free(rendered);
    free(text);
}

int main(void) {
    static const char block[] = "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{"
                                "\"type\":\"text\",\"text\":\"\"}}";
    double ns;
    LEAST(ns, decode_once(PHI_PROTOCOL_ANTHROPIC, block, anthropic_delta));
    printf("wire_anthropic_delta %.0f ns\n", ns);
    LEAST(ns, stream_once(PHI_PROTOCOL_ANTHROPIC, block, anthropic_delta));
    printf("wire_anthropic_delta_with_sse %.0f ns\n", ns);
    LEAST(ns, tree_once(anthropic_delta));
    printf("wire_anthropic_delta_as_tree %.0f ns\n", ns);
    LEAST(ns, skip_once(anthropic_delta));
    printf("wire_anthropic_delta_skipped %.0f ns\n", ns);
    LEAST(ns, decode_once(PHI_PROTOCOL_OPENAI_CHAT, NULL, chat_delta));
    printf("wire_chat_delta %.0f ns\n", ns);
    LEAST(ns, stream_once(PHI_PROTOCOL_OPENAI_CHAT, NULL, chat_delta));
    printf("wire_chat_delta_with_sse %.0f ns\n", ns);
    LEAST(ns, tree_once(chat_delta));
    printf("wire_chat_delta_as_tree %.0f ns\n", ns);
    LEAST(ns, skip_once(chat_delta));
    printf("wire_chat_delta_skipped %.0f ns\n", ns);
    LEAST(ns, arguments_once(10000));
    printf("wire_arguments_10kb_delta %.0f ns\n", ns);
    LEAST(ns, arguments_once(100000));
    printf("wire_arguments_100kb_delta %.0f ns\n", ns);
    LEAST(ns, arguments_once(1000000));
    printf("wire_arguments_1mb_delta %.0f ns\n", ns);
    requests(100);
    requests(2000);
    return 0;
}
