/* test_random_calls.c - operations called by two agents while servers, memory and hosts do anything at
   any moment: every call has one result, no secret is seen by a host, and nothing is left. Each seed is
   one story; PHI_SEEDS says how many, PHI_SEED picks one. */
#include "asked.h"

#include "agent/snapshot.h"
#include "loop/events.h"

enum { SEEDS = 60, STEPS = 120 };

#define SECRET "s3cret-of-mine"
#define CLIENT "cl1ent-secret"
#define TOKEN "t0ken-that-is-secret"

static const char document[] =
    "{\"openapi\":\"3.1.0\",\"info\":{\"title\":\"t\",\"version\":\"1\"},\"servers\":[{\"url\":"
    "\"https://"
    "h.example\"}],\"components\":{\"securitySchemes\":{\"Q\":{\"type\":\"apiKey\",\"in\":"
    "\"query\",\"name\":\"key\"},\"O\":{\"type\":\"oauth2\",\"flows\":{\"clientCredentials\":{"
    "\"tokenUrl\":\"https://t.example/\"}}}}},\"paths\":{\"/r/"
    "{id}\":{\"get\":{\"operationId\":\"key\","
    "\"security\":[{\"Q\":[]}],\"parameters\":[{\"in\":\"query\",\"name\":\"q\",\"schema\":{}}]},"
    "\"post\":{\"operationId\":\"token\",\"security\":[{\"O\":[]}],\"requestBody\":{\"content\":{"
    "\"application/"
    "json\":{\"schema\":{}}}}},\"put\":{\"operationId\":\"up\",\"security\":[{\"O\":[],"
    "\"Q\":[]}],\"requestBody\":{\"content\":{\"multipart/form-data\":{\"schema\":{\"properties\":{"
    "\"f\":{\"type\":\"string\",\"format\":\"binary\"}}}}}}}}}}";

typedef struct story {
    asked a;
    phi_agent other;
    uint32_t random;
    size_t begun, ended; /* calls, by their events */
    bool starved;        /* an allocation failed: events may be missing */
    bool closing;
} story;

static uint32_t pick(story *s, uint32_t below) { return test_random(&s->random) % below; }

static void no_secret(const char *at, size_t len) {
    static const char *const secrets[] = {SECRET, CLIENT, TOKEN};
    size_t i;
    for (i = 0; i < PHI__COUNT(secrets); i++)
        CHECK_EQ_INT(phi__str_find(phi__str(at, len), 0, secrets[i]), SIZE_MAX);
}

static void look(story *s, const phi_event *event) {
    const phi_message *m = event->message;
    size_t i;
    no_secret(event->text.at, event->text.len);
    if (event->kind == PHI_EV_TOOL_START) s->begun++;
    if (event->kind == PHI_EV_TOOL_END) s->ended++;
    if (m == NULL) return;
    for (i = 0; i < m->content_count; i++) no_secret(m->content[i].text.at, m->content[i].text.len);
    no_secret(m->details.at, m->details.len);
}

/* ---- the servers ---- */

static void serve_token(story *s, size_t i) {
    static const char *const answers[] = {"{\"access_token\":\"" TOKEN "\",\"expires_in\":3600}",
                                          "{\"access_token\":\"" TOKEN "\",\"expires_in\":0}",
                                          "{\"access_token\":\"" TOKEN "\",\"expires_in\":-1e300}",
                                          "{\"access_token\":\"" TOKEN "\",\"expires_in\":\"NaN\"}",
                                          "{\"access_token\":7}",
                                          "{\"error\":\"" CLIENT " is wrong\"}",
                                          "[[[[",
                                          ""};
    uint32_t n = pick(s, 12);
    if (n == 11) return; /* silence */
    if (n == 10) {
        wires_end(&s->a.w, i, PHI_NETWORK, "no route for me:" CLIENT);
        return;
    }
    wires_reply(&s->a.w, i, pick(s, 4) > 0 ? 200 : 400, "Content-Type: application/json\r\n",
                answers[n < PHI__COUNT(answers) ? n : 0]);
}

/* A server repeats what it got, and no other secret. */
static char *body_of(story *s, const char *sent, size_t *len) {
    static const char *const parts[] = {"{",  "}",    "[",         "]",     "\"key\":", "\"",
                                        ",",  "null", "\\u12",     "\xC3",  "\xA9",     "\n",
                                        "1.", SECRET, "s3cret-of", "-mine", TOKEN,      "text "};
    size_t n = pick(s, 4) > 0 ? pick(s, 60) : 3000 + pick(s, 40000), i;
    char *out = (char *)malloc(n * 24 + 8), *at = out;
    if (out == NULL) abort();
    if (pick(s, 3) == 0) at += sprintf(at, "[\"");
    for (i = 0; i < n; i++) {
        const char *part = parts[pick(s, PHI__COUNT(parts))];
        bool secret = strstr(SECRET, part) != NULL || strcmp(part, TOKEN) == 0;
        if (!secret || strstr(sent, part) != NULL) at += sprintf(at, "%s", part);
    }
    if (pick(s, 20) == 0) *at++ = '\0';
    *len = (size_t)(at - out);
    return out;
}

static void serve_any(asked *a, size_t n, size_t i) {
    static const char *const heads[] = {"Content-Type: application/json\r\n",
                                        "Content-Type: text/plain; charset=latin1\r\n",
                                        "",
                                        "Content-Type: image/png\r\nContent-Length: 10\r\n",
                                        "Content-Type: a/b c\r\n",
                                        "Location: file:///etc/passwd\r\n",
                                        "Content-Encoding: gzip\r\nContent-Type: text/html\r\n",
                                        "Content-Type\r\n: \r\nContent-Length: -1\r\n"};
    static const int statuses[] = {200, 200, 204, 302, 401, 401, 500, 0, -1, 999};
    story *s = PHI__OWNER(a, story, a);
    char *body;
    size_t len;
    (void)n;
    if (strstr(a->w.sent[i].text, "https://t.example/") != NULL) {
        serve_token(s, i);
        return;
    }
    if (pick(s, 12) == 0) {
        wires_end(&a->w, i, PHI_TLS,
                  strstr(a->w.sent[i].text, SECRET) != NULL
                      ? "bad certificate of https://h.example?key=" SECRET
                      : "bad certificate, Bearer " TOKEN);
        return;
    }
    if (pick(s, 12) == 0) return; /* silence */
    body = body_of(s, a->w.sent[i].text, &len);
    wires_head(&a->w, i, statuses[pick(s, 10)], heads[pick(s, 8)]);
    if (pick(s, 6) == 0) {
        (void)wires_push(&a->w, i, body, phi__min(len, 20000));
        if (pick(s, 2) == 0) wires_end(&a->w, i, PHI_NETWORK, "gone");
    } else
        wires_reply_bytes(&a->w, i, 200, "", body, len);
    free(body);
}

/* ---- the host ---- */

static void prompt(story *s, phi_agent agent) {
    static const char *const calls[][2] = {
        {"key", "{\"id\":\"7\",\"q\":[1,{\"a\":2}]}"},
        {"token", "{\"id\":\"a/b\",\"body\":{\"x\":[null]}}"},
        {"up", "{\"id\":\"1\",\"body\":{\"f\":{\"path\":\"file\"},\"g\":[\"1\",2]}}"},
        {"up", "{\"id\":\"1\",\"body\":{\"f\":{\"path\":\"../file\"}}}"},
        {"key", "{\"id\":\"..\"}"},
        {"token", "{\"id\":\"x\",\"body\":null}"},
        {"none", "{}"},
        {"key", "{}"}};
    asked *a = &s->a;
    size_t i;
    if (s->closing || a->w.count > WIRES_MOST - 30) return;
    a->call_count = 1 + pick(s, 4);
    for (i = 0; i < a->call_count; i++) {
        uint32_t n = pick(s, PHI__COUNT(calls));
        a->name[i] = calls[n][0];
        a->arguments[i] = calls[n][1];
    }
    (void)phi_prompt(agent, "go");
}

static void save_and_load(story *s) {
    phi_allocator allocator = test_allocator();
    phi_agent_desc desc = rig_desc();
    phi_memory memory;
    phi_arena arena;
    phi_str saved;
    phi_agent again;
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
    desc.tools = s->a.tools.tools;
    desc.tool_count = s->a.tools.count;
    if (!s->closing && phi_agent_snapshot(s->a.agent, &arena, &saved) == PHI_OK) {
        no_secret(saved.at, saved.len);
        phi_agent_free(s->a.agent);
        again = phi_agent_restore(s->a.rt, &desc, saved, PHI_RESTORE_RESUME);
        s->a.agent = again;
        s->starved = true; /* the calls' events come twice, or not at all */
    }
    phi_arena_free(&arena);
}

static void act(story *s) {
    int i;
    switch (pick(s, 40)) {
    case 0: (void)phi_abort(s->a.agent); break;
    case 1: (void)phi_abort(s->other); break;
    case 2:
        phi_agent_free(s->other);
        s->starved = true;
        s->other = asked_agent(&s->a);
        break;
    case 3:
        for (i = 0; i < 40; i++) { /* deadlines pass */
            s->a.w.now_us += 1000000;
            (void)phi_step(s->a.rt, 0);
        }
        break;
    case 4: save_and_load(s); break;
    case 5:
        test_alloc_fail_some(pick(s, 100000), 1 + pick(s, 40));
        s->starved = true;
        break;
    case 6:
        if (pick(s, 8) > 0) break;
        s->closing = true;
        (void)phi_runtime_close(s->a.rt);
        break;
    case 7: CHECK(phi_openapi_operation_at(s->a.api, SIZE_MAX) == NULL); break;
    case 8:
    case 9:
    case 10:
    case 11: prompt(s, s->other); break;
    case 12:
    case 13:
    case 14:
    case 15: prompt(s, s->a.agent); break;
    default: break;
    }
}

static int step(story *s) {
    phi_event event;
    int runs = phi_step(s->a.rt, 0);
    s->a.w.now_us += 1000;
    if (test_alloc_tripped()) test_alloc_fail_at(-1);
    while (phi_next_event(s->a.rt, &event)) look(s, &event);
    return runs;
}

static bool open_story(story *s, const char *dir) {
    static const char *roots[2];
    static phi_openapi_pair keys[] = {{"Q", SECRET}};
    phi_openapi_desc desc = PHI_ZERO;
    FILE *file;
    char path[400];
    size_t i;
    roots[0] = dir;
    desc.upload_roots = roots;
    desc.auth.keys = keys;
    desc.auth.key_count = 1;
    desc.auth.client_id = "me";
    desc.auth.client_secret = CLIENT;
    desc.max_response_bytes = pick(s, 2) == 0 ? 300 : 0;
    if (pick(s, 2) == 0) desc.response_directory = dir;
    (void)snprintf(path, sizeof path, "%s/file", dir);
    file = fopen(path, "wb");
    if (!CHECK(file != NULL)) return false;
    (void)fputs("the file's content", file);
    (void)fclose(file);
    if (!asked_open(&s->a, &desc, document)) return false;
    for (i = 0; i < s->a.tools.count; i++) s->a.tools.tools[i].retries = pick(s, 2);
    phi_agent_free(s->a.agent);
    (void)phi_step(s->a.rt, 0);
    s->a.agent = asked_agent(&s->a);
    s->other = asked_agent(&s->a);
    s->a.serve = serve_any;
    return CHECK(phi_agent_alive(s->other));
}

static void close_story(story *s) {
    int most = 3000;
    test_alloc_fail_at(-1);
    while (step(s) > 0 && most-- > 0) s->a.w.now_us += 1000000;
    CHECK(most > 0);
    if (!s->starved && !s->closing) CHECK_EQ_INT(s->ended, s->begun);
    phi_agent_free(s->other);
    asked_close(&s->a);
}

static bool tell(uint32_t seed, const char *dir) {
    int before = test_failures();
    static story s;
    int i;
    memset(&s, 0, sizeof s);
    s.random = seed * 2654435761u + 1;
    if (!open_story(&s, dir)) return false;
    for (i = 0; i < STEPS && !s.closing; i++) {
        act(&s);
        (void)step(&s);
    }
    close_story(&s);
    return test_failures() == before;
}

TEST(every_call_has_a_result_and_no_secret_is_seen) {
    const char *chosen = getenv("PHI_SEED"), *more = getenv("PHI_SEEDS");
    uint32_t most = more != NULL ? (uint32_t)strtoul(more, NULL, 10) : (uint32_t)SEEDS;
    uint32_t seed = chosen != NULL ? (uint32_t)strtoul(chosen, NULL, 10) : 1;
    char dir[300];
    REQUIRE(test_temp_dir(dir, sizeof dir));
    if (chosen != NULL) most = seed;
    for (; seed <= most; seed++)
        if (!tell(seed, dir)) {
            printf("  seed %u\n", (unsigned)seed);
            return;
        }
}

TEST_MAIN(TEST_ENTRY(every_call_has_a_result_and_no_secret_is_seen))
