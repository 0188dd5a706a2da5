/* test_kept.c - JSON kept verbatim: random items, parts, members and calls of the wires of OpenAI
   and Google come back byte for byte, through the interchange JSON and into the next request.

   PHI_SEEDS=200000 makes as many answers (20,000); PHI_SEED=7 only that one. */
#include "codecs/kept_support.h"
#include "codecs/openai_in.h"

#define ITEMS_MOST 6
#define ROOM 4000

typedef struct made {
    char json[ITEMS_MOST][ROOM]; /* what must come back */
    size_t count;
} made;

/* ---- random JSON ---- */

typedef struct writer {
    char *at;
    size_t len;
    uint32_t random;
} writer;

static uint32_t below(writer *w, uint32_t n) { return test_random(&w->random) % n; }

static void put(writer *w, const char *text) {
    size_t n = strlen(text);
    memcpy(w->at + w->len, text, n + 1);
    w->len += n;
}

static void put_blank(writer *w) {
    static const char *const blanks[] = {"", "", "", "", " ", "\t", "  "};
    put(w, blanks[below(w, PHI__COUNT(blanks))]);
}

static void put_text(writer *w) {
    static const char *const bits[] = {
        "a",   "Z9", "\\\"",           "\\\\",   "\\n", "\\u00e9", "\\u0041", "é",
        "\\/", "]}", "\\ud83d\\ude00", "data: ", ":{",  "\\u0000", "漢"};
    uint32_t n = below(w, 6);
    put(w, "\"");
    while (n-- > 0) put(w, bits[below(w, PHI__COUNT(bits))]);
    put(w, "\"");
}

static void put_value(writer *w, int depth);

/* Members with names that no wire has; the first one has a comma before it where `more`. */
static void put_members(writer *w, int depth, bool more) {
    uint32_t n = below(w, 3) + (more ? 0 : 1), i;
    for (i = 0; i < n; i++) {
        char name[24];
        snprintf(name, sizeof name, "\"x_%u%s\"", (unsigned)(i * 7 + below(w, 5)),
                 below(w, 4) == 0 ? "\\u0061" : "");
        if (more || i > 0) put(w, ",");
        put_blank(w);
        put(w, name);
        put_blank(w);
        put(w, ":");
        put_blank(w);
        put_value(w, depth);
    }
    put_blank(w);
}

static void put_value(writer *w, int depth) {
    static const char *const plain[] = {"0",     "-0.0", "1e5", "1.50", "12345678901234567890123",
                                        "false", "true", "{}",  "[ ]",  "9007199254740993"};
    uint32_t kind = below(w, depth > 0 ? 5 : 3), n, i;
    if (w->len > ROOM / 2) kind = 0;
    if (kind < 2)
        put(w, plain[below(w, PHI__COUNT(plain))]);
    else if (kind == 2)
        put_text(w);
    else if (kind == 3) {
        put(w, "{");
        put_members(w, depth - 1, false);
        put(w, "}");
    } else {
        put(w, "[");
        n = below(w, 3) + 1;
        for (i = 0; i < n; i++) {
            if (i > 0) put(w, ",");
            put_blank(w);
            put_value(w, depth - 1);
        }
        put(w, "]");
    }
}

/* A new object in `out`, which begins with these members. */
static void make_object(made *m, uint32_t *random, const char *members) {
    writer w;
    w.at = m->json[m->count++];
    w.len = 0;
    w.random = *random;
    put(&w, "{");
    put(&w, members);
    put_members(&w, 3, members[0] != '\0');
    put(&w, "}");
    *random = w.random;
}

/* ---- the wires ---- */

static void feed(stream *s, uint32_t *random, const char *text) {
    size_t at = 0, len = strlen(text);
    while (at < len) {
        size_t n = 1 + test_random(random) % 64;
        if (n > len - at) n = len - at;
        stream_feed(s, text + at, n);
        at += n;
    }
}

static void say(stream *s, uint32_t *random, const char *before, const char *json,
                const char *after) {
    feed(s, random, "data: ");
    feed(s, random, before);
    feed(s, random, json);
    feed(s, random, after);
    feed(s, random, "\n\n");
}

static void make_responses(stream *s, made *m, uint32_t *random) {
    static const char *const types[] = {"web_search_call", "mcp_call", "compaction", "acme:thing"};
    size_t i, n = 1 + test_random(random) % ITEMS_MOST;
    for (i = 0; i < n; i++) {
        char members[100], before[100];
        snprintf(members, sizeof members, "\"type\":\"%s\",\"id\":\"i%u\"",
                 types[test_random(random) % PHI__COUNT(types)], (unsigned)i);
        make_object(m, random, members);
        snprintf(
            before, sizeof before,
            "{\"type\":\"response.output_item.done\",\"output_index\":%u,\"item\":", (unsigned)i);
        say(s, random, before, m->json[i], "}");
    }
    say(s, random, "{\"type\":\"response.completed\",\"response\":{\"status\":\"completed\"}}", "",
        "");
}

/* A message with a part of an unknown kind, and a call with members of unknown names. */
static void make_inside(stream *s, made *m, uint32_t *random) {
    static char text[2 * ROOM];
    make_object(m, random, "\"type\":\"widget\"");
    snprintf(text, sizeof text,
             "{\"type\":\"message\",\"id\":\"m\",\"content\":[{\"type\":\"output_text\",\"text\":"
             "\"a\"},%s]}",
             m->json[0]);
    say(s, random, "{\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":", text,
        "}");
    m->count++;
    snprintf(m->json[1], ROOM, "\"namespace\":%.*s", (int)strlen(m->json[0]), m->json[0]);
    snprintf(
        text, sizeof text,
        "{\"type\":\"function_call\",\"call_id\":\"c\",\"name\":\"f\",\"arguments\":\"{}\",%s}",
        m->json[1]);
    say(s, random, "{\"type\":\"response.output_item.done\",\"output_index\":1,\"item\":", text,
        "}");
    say(s, random, "{\"type\":\"response.completed\",\"response\":{\"status\":\"completed\"}}", "",
        "");
}

static void make_gemini(stream *s, made *m, uint32_t *random) {
    size_t i, n = 1 + test_random(random) % ITEMS_MOST;
    for (i = 0; i < n; i++) {
        make_object(m, random, "");
        say(s, random, "{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"t\"},", m->json[i],
            "]}}]}");
    }
    say(s, random, "{\"candidates\":[{\"finishReason\":\"STOP\"}]}", "", "");
}

/* Steps of unknown types, whole in their start, and texts with an unknown item of content, or with
   an annotation. */
static void make_steps(stream *s, made *m, uint32_t *random) {
    size_t i, n = 1 + test_random(random) % ITEMS_MOST;
    for (i = 0; i < n; i++) {
        uint32_t kind = test_random(random) % 3;
        make_object(m, random,
                    kind == 0 ? "\"type\":\"acme_call\",\"id\":\"i\"" : "\"type\":\"widget\"");
        say(s, random,
            kind == 0   ? "{\"event_type\":\"step.start\",\"index\":0,\"step\":"
            : kind == 1 ? "{\"event_type\":\"step.start\",\"index\":0,\"step\":{\"type\":"
                          "\"model_output\",\"content\":[{\"type\":\"text\",\"text\":\"t\"},"
                        : "{\"event_type\":\"step.start\",\"index\":0,\"step\":{\"type\":"
                          "\"model_output\",\"content\":[{\"type\":\"text\",\"text\":\"t\","
                          "\"annotations\":[",
            m->json[i],
            kind == 0   ? "}"
            : kind == 1 ? "]}}"
                        : "]}]}}");
        say(s, random, "{\"event_type\":\"step.stop\",\"index\":0}", "", "");
    }
    say(s, random,
        "{\"event_type\":\"interaction.completed\",\"interaction\":{\"status\":\"completed\"}}", "",
        "");
}

/* Calls of custom tools, whose order is theirs, and parts of the content. */
static void make_chat(stream *s, made *m, uint32_t *random) {
    size_t i, n = 1 + test_random(random) % ITEMS_MOST;
    for (i = 0; i < n; i++) {
        char before[100];
        if (test_random(random) % 2 == 0) {
            make_object(m, random, "\"type\":\"widget\"");
            say(s, random, "{\"choices\":[{\"delta\":{\"content\":[", m->json[i], "]}}]}");
            continue;
        }
        make_object(m, random, "\"id\":\"c\",\"type\":\"custom\",\"custom\":{}");
        snprintf(before, sizeof before, "{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":%u,",
                 (unsigned)i);
        say(s, random, before, m->json[i] + 1, "]}}]}");
        strcpy(m->json[i], "\"custom\":{}"); /* blanks between its members are not kept */
    }
    say(s, random, "{\"choices\":[{\"delta\":{\"content\":\"t\"},\"finish_reason\":\"stop\"}]}", "",
        "");
}

typedef struct wire {
    const char *protocol;
    phi_model (*model)(void);
    void (*make)(stream *s, made *m, uint32_t *random);
} wire;

static phi_model gpt(void) { return phi_model_openai_responses("gpt-5-mini", "K"); }
static phi_model azure(void) {
    return phi_model_azure("https://r.openai.azure.com/openai/v1", "d", "K");
}
static phi_model gemini(void) { return phi_model_google("gemini-3-pro", "K"); }
static phi_model vertex(void) {
    return phi_model_vertex("https://aiplatform.googleapis.com/v1/projects/p/locations/global",
                            "gemini-3-pro", "T");
}
static phi_model interactions(void) { return phi_model_interactions("gemini-3-pro", "K"); }
static phi_model mistral(void) {
    return phi_model_preset("mistral", "magistral-medium-latest", "K");
}

static const wire wires[] = {
    {PHI_PROTOCOL_OPENAI_RESPONSES, gpt, make_responses},
    {PHI_PROTOCOL_AZURE_RESPONSES, azure, make_responses},
    {PHI_PROTOCOL_OPENAI_RESPONSES, gpt, make_inside},
    {PHI_PROTOCOL_GOOGLE, gemini, make_gemini},
    {PHI_PROTOCOL_VERTEX, vertex, make_gemini},
    {PHI_PROTOCOL_INTERACTIONS, interactions, make_steps},
    {PHI_PROTOCOL_OPENAI_CHAT, mistral, make_chat},
};

/* Each in the body, behind the one before. */
static void check_made(const made *m, const char *body, uint32_t seed) {
    size_t i;
    for (i = 0; i < m->count; i++) {
        const char *found = body != NULL ? strstr(body, m->json[i]) : NULL;
        if (!CHECK(found != NULL)) {
            fprintf(stderr, "PHI_SEED=%u: %s\nis not in\n%s\n", (unsigned)seed, m->json[i],
                    body != NULL ? body : "nothing");
            return;
        }
        if (strcmp(m->json[i], "\"custom\":{}") != 0 &&
            (i == 0 || strcmp(m->json[i - 1], "\"custom\":{}") != 0))
            body = found;
    }
}

/* How many things the answer held. */
static size_t one_answer(uint32_t seed) {
    static made m;
    const wire *w = &wires[seed % PHI__COUNT(wires)];
    uint32_t random = seed * 2654435761u + 1;
    stream s;
    conversation t;
    m.count = 0;
    kept_begin(&s, w->protocol);
    w->make(&s, &m, &random);
    stream_end(&s);
    CHECK_EQ_INT(s.assembly.failure.kind, PHI_FAILURE_NONE);
    kept_send(&t, &s, w->model(), w->model());
    check_made(&m, t.body, seed);
    talk_free(&t);
    stream_free(&s);
    return m.count;
}

TEST(random_unknown_things_of_every_wire_come_back_byte_for_byte) {
    const char *chosen = getenv("PHI_SEED"), *more = getenv("PHI_BLOCKS");
    size_t most = more != NULL ? (size_t)strtoul(more, NULL, 10) : 40000, all = 0, i;
    size_t count[PHI__COUNT(wires)] = {0};
    uint32_t seed = 0;
    int before = test_failures();
    if (chosen != NULL) {
        (void)one_answer((uint32_t)strtoul(chosen, NULL, 10));
        return;
    }
    for (; all < most && test_failures() == before; seed++) {
        size_t n = one_answer(seed);
        count[seed % PHI__COUNT(wires)] += n;
        all += n;
    }
    for (i = 0; more != NULL && i < PHI__COUNT(wires); i++)
        printf("  %-24s %8lu blocks\n", wires[i].protocol, (unsigned long)count[i]);
}

/* Random bytes in place of some of the stream: never a crash, and a request that is JSON. */
TEST(streams_with_random_bytes_in_them_make_requests_that_are_json) {
    uint32_t seed;
    for (seed = 0; seed < 2000; seed++) {
        static made m;
        const wire *w = &wires[seed % PHI__COUNT(wires)];
        uint32_t random = seed + 77;
        stream s;
        size_t i;
        m.count = 0;
        kept_begin(&s, w->protocol);
        w->make(&s, &m, &random);
        stream_end(&s);
        for (i = 0; i < s.message.content_count && i < 8; i++) {
            phi__buf *b = &s.assembly.drafts[i].replay;
            if (b->len > 0) b->at[test_random(&random) % b->len] = "\"{}[],:\\x"[random % 9];
        }
        stream_view(&s);
        if (s.assembly.failure.kind == PHI_FAILURE_NONE) {
            conversation t;
            kept_send(&t, &s, w->model(), w->model()); /* which reads the body */
            talk_free(&t);
        }
        stream_free(&s);
    }
}

TEST(citations_are_one_array_whatever_comes) {
    stream s;
    size_t block;
    kept_begin(&s, PHI_PROTOCOL_OPENAI_CHAT);
    block = phi__assembly_open(&s.assembly, PHI_CONTENT_TEXT, -1);
    phi__assembly_cite(&s.assembly, SIZE_MAX, PHI__LIT("1"));
    phi__assembly_cite(&s.assembly, block, PHI__LIT(""));
    phi__assembly_cite(&s.assembly, block, PHI__LIT("{\"a\":1} x"));
    CHECK_EQ_INT(s.assembly.drafts[block].citations.len, 0);
    phi__assembly_cite(&s.assembly, block, PHI__LIT("{\"a\":1}"));
    phi__assembly_cite(&s.assembly, block, PHI__LIT("\"\xff\""));
    CHECK_STR(phi__buf_str(&s.assembly.drafts[block].citations), "[{\"a\":1},\"\xef\xbf\xbd\"]");
    CHECK_EQ_INT(phi__kept_text(&s.assembly), block);
    stream_free(&s);
}

TEST(members_but_the_known_ones_are_copied_verbatim) {
    static const char *const known[] = {"a", "b", NULL};
    phi_memory memory;
    phi_allocator allocator = test_allocator();
    phi__buf out;
    phi_memory_init(&memory, &allocator, 0);
    phi__buf_init(&out, &memory);
    phi__opaque_members(
        &out, PHI__LIT("{\"a\":1,\"c\": [ 1.0 ],\"\\u0062\":2,\"d\":null,\"e\":{}}"), known);
    CHECK_STR(phi__buf_str(&out), "\"c\":[ 1.0 ],\"e\":{}");
    phi__buf_clear(&out);
    phi__opaque_members(&out, PHI__LIT("[1]"), known);
    CHECK_EQ_INT(out.len, 0);
    phi__buf_free(&out);
}

TEST_MAIN(TEST_ENTRY(random_unknown_things_of_every_wire_come_back_byte_for_byte),
          TEST_ENTRY(streams_with_random_bytes_in_them_make_requests_that_are_json),
          TEST_ENTRY(citations_are_one_array_whatever_comes),
          TEST_ENTRY(members_but_the_known_ones_are_copied_verbatim))
