/* test_secrets.c - servers that repeat what a request carried: nothing of it is in any event, in the thread, in a snapshot,
   in a session file or on a tape, in whatever form it came back. */
#include "e2e/e2e.h"
#include "agent/snapshot.h"
#include "base/base_in.h"
#include "record/recorder.h"
#include "record/replay.h"
#include "support/store_mem.h"
#include "record/event_json.h"
#include "record/session_in.h"

#define KEY "sk-e2e/0123456789+abcdef=="
#define AWS_KEY "AKIDEXAMPLE:wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY:SESSION/TOKEN+EXAMPLE=="
#define PASS "gate/way+pass-0123456789"
#define TENANT "tenant4711-abcdef"
#define USER "some-user:pass-word-0815"
#define CODE "query/code+0123456789"

typedef struct target {
    const char *protocol, *provider, *id, *base, *key;
    bool address; /* user info and a query in the URL */
} target;

static const target targets[] = {
    {PHI_PROTOCOL_ANTHROPIC, "anthropic", "claude-sonnet-4-5", "", KEY, true},
    {PHI_PROTOCOL_OPENAI_CHAT, "openai", "gpt-4.1-mini", "/v1", KEY, true},
    {PHI_PROTOCOL_OPENAI_RESPONSES, "openai", "gpt-4.1-mini", "/v1", KEY, false},
    {PHI_PROTOCOL_AZURE_RESPONSES, "azure", "my-deployment", "/openai/v1", KEY, false},
    {PHI_PROTOCOL_GOOGLE, "google", "gemini-3-pro-preview", "/v1beta", KEY, false},
    {PHI_PROTOCOL_VERTEX, "vertex", "gemini-3-pro-preview", "/v1/projects/p/locations/global", KEY,
     false},
    {PHI_PROTOCOL_INTERACTIONS, "google", "gemini-3-pro-preview", "/v1beta", KEY, false},
    {PHI_PROTOCOL_BEDROCK, "bedrock", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "", AWS_KEY,
     false}};
enum { TARGETS = sizeof targets / sizeof targets[0] };

/* Parts of the above, and of their forms: percent-encoded, and base64 at each of the three places in a group. */
static const char *const needles[] = {
    "e2e/0123456789", "e2e%2F0123",      "e2e\\/0123",     "9+abcdef",         "9%2Babcdef",
    "LWUyZS8wMTIzND", "stZTJlLzAxMjM0",  "zay1lMmUvMDEyM", "way+pass",         "way%2Bpass",
    "YXRlL3dheStwYX", "dhdGUvd2F5K3Bh",  "nYXRlL3dheStwY", "tenant4711",       "dGVuYW50NDcxMS",
    "RlbmFudDQ3MTEt", "ZW5hbnQ0NzExLW",  "pass-word-0815", "some-user",        "c29tZS11c2VyOn",
    "query/code",     "query%2Fcode",    "WVyeS9jb2RlKz",  "cXVlcnkvY29kZS",   "F1ZXJ5L2NvZGUr",
    "AKIDEXAMPLE",    "QUtJREVYQU1QTE",  "wJalrXUtnFEMI",  "SESSION/TOKEN",    "SESSION%2FTOKEN",
    "U0VTU0lPTi9UT0", "TRVNTSU9OL1RPS0", "NFU1NJT04vVE9L", "xRfiCYEXAMPLEKEY", "UtJREVYQU1QTE"};

/* All that is kept anywhere. */
static char *kept;
static size_t kept_len;
static phi_recorder *recorder;

static void keep(const char *at, size_t len) {
    char *more = (char *)realloc(kept, kept_len + len + 2);
    REQUIRE(more != NULL);
    kept = more;
    if (len > 0) memcpy(kept + kept_len, at, len);
    kept[kept_len + len] = '\n';
    kept_len += len + 1;
    kept[kept_len] = '\0';
}

static void hear(seen *s, const phi_event *event) {
    phi_allocator allocator = test_allocator();
    phi_memory memory;
    phi_arena arena;
    phi_str json;
    (void)s;
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
    if (CHECK_EQ_INT(phi_event_to_json(event, &arena, &json), PHI_OK)) keep(json.at, json.len);
    if (event->message != NULL) {
        keep(event->message->error_message.at, event->message->error_message.len);
        keep(event->message->raw_stop_reason.at, event->message->raw_stop_reason.len);
    }
    if (event->failure != NULL) {
        keep(event->failure->code.at, event->failure->code.len);
        keep(event->failure->message.at, event->failure->message.len);
        keep(event->failure->request_id.at, event->failure->request_id.len);
    }
    CHECK_EQ_INT(phi_recorder_add(recorder, event), PHI_OK);
    phi_arena_free(&arena);
}

static void keep_the_rest(const seen *s, store_mem *store) {
    phi_allocator allocator = test_allocator();
    phi_memory memory;
    phi_arena arena;
    phi_str json;
    phi_session *session;
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
    if (CHECK_EQ_INT(phi_agent_snapshot(s->agent, &arena, &json), PHI_OK)) keep(json.at, json.len);
    json = phi_str_of(store_mem_text(store, "talk"));
    CHECK(json.len > 0);
    keep(json.at, json.len);
    (void)phi_recorder_flush(recorder, PHI_FLUSH_ALL);
    session = phi_recorder_drain(recorder);
    if (CHECK(session != NULL) &&
        CHECK_EQ_INT(phi_session_to_json(session, 0, &arena, &json), PHI_OK))
        keep(json.at, json.len);
    phi_session_free(session);
    phi_arena_free(&arena);
}

static seen *agent_at(crowd *c, const target *t, const char *trouble, store_mem *store) {
    static const phi_model_header headers[] = {{"X-Gateway-Pass", PASS}, {"X-Tenant", TENANT}};
    phi_agent_desc desc = e2e_desc(E2E_ANTHROPIC, "");
    char url[500], *slashes;
    memset(&desc.model, 0, sizeof desc.model);
    (void)snprintf(url, sizeof url, "%s%s%s", mock_url(trouble), t->base,
                   t->address ? "?code=" CODE : "");
    if (t->address && (slashes = strstr(url, "//")) != NULL) {
        memmove(slashes + 2 + sizeof USER, slashes + 2, strlen(slashes + 2) + 1);
        memcpy(slashes + 2, USER "@", sizeof USER);
    }
    desc.model.protocol = t->protocol;
    desc.model.provider = t->provider;
    desc.model.id = t->id;
    desc.model.base_url = url;
    desc.model.api_key = t->key;
    desc.model.headers = headers;
    desc.model.header_count = 2;
    desc.retry.disable = false; /* its words are kept, too */
    desc.retry.max_retries = 1;
    desc.retry.initial_delay_ms = 1;
    desc.store = store_mem_store(store);
    desc.thread_id = "talk";
    return crowd_add(c, &desc, t->id);
}

/* A tape has bytes that are not UTF-8 in base64, as frames with their checks are for some answers: what it hides and what
   it must not have is looked for in the bytes, too. */
static void keep_the_bytes_of_the_tape(void) {
    static const char name[] = "\"base64\":\"";
    phi_allocator allocator = test_allocator();
    size_t at = 0, end = kept_len;
    phi_memory memory;
    phi_memory_init(&memory, &allocator, 0);
    while (at < end) {
        const char *found = strstr(kept + at, name);
        phi__buf bytes;
        phi_str text;
        size_t i;
        if (found == NULL || (at = (size_t)(found - kept) + sizeof name - 1) >= end) return;
        text = phi__str(kept + at, strcspn(kept + at, "\""));
        phi__buf_init(&bytes, &memory);
        CHECK(phi__base64_decode(&bytes, text));
        for (i = 0; i < bytes.len; i++)
            if (bytes.at[i] == '\0') bytes.at[i] = ' ';
        keep(bytes.at, bytes.len);
        phi__buf_free(&bytes);
    }
}

/* No needle in what was kept; and something was hidden, so that it did come: unless half of it was cut off. */
static bool kept_is_clean(const target *t, const char *trouble) {
    bool good = CHECK(kept != NULL);
    if (kept != NULL) keep_the_bytes_of_the_tape();
    if (strstr(trouble, "truncated") == NULL && strstr(trouble, "split") == NULL)
        good = CHECK(strstr(kept, "********") != NULL) && good;
    size_t i;
    for (i = 0; i < sizeof needles / sizeof needles[0]; i++) {
        const char *at = kept != NULL ? strstr(kept, needles[i]) : NULL;
        if (CHECK(at == NULL)) continue;
        printf("  \"%s\" in ...%.60s\n", needles[i], at - kept > 20 ? at - 20 : kept);
        good = false;
    }
    if (!good) printf("  %s %s\n", t->protocol, trouble);
    free(kept);
    kept = NULL;
    kept_len = 0;
    return good;
}

static phi_status write_tape(void *user_data, const char *bytes, size_t len) {
    (void)user_data;
    keep(bytes, len);
    return PHI_OK;
}

static void echoed(const target *t, const char *trouble, bool taped) {
    phi_runtime_desc rt = PHI_ZERO;
    phi_recorder_desc how = PHI_ZERO;
    phi_tape_desc tape = PHI_ZERO;
    store_mem *store = store_mem_new();
    crowd *c;
    seen *s;
    how.allocator = tape.allocator = test_allocator();
    how.streaming_events = how.turn_requests = true;
    tape.write_fn = write_tape;
    if (taped) rt.tape = phi_tape_record(&tape);
    recorder = phi_recorder_new(&how);
    c = crowd_new(&rt);
    s = c != NULL ? agent_at(c, t, trouble, store) : NULL;
    if (s != NULL) {
        s->on_event = hear;
        CHECK(crowd_ask(s, "Begin."));
        CHECK(s->status != PHI_OK);
        keep_the_rest(s, store);
    }
    if (c != NULL) crowd_free(c);
    phi_recorder_free(recorder);
    if (taped) {
        CHECK_EQ_INT(phi_tape_end(rt.tape, NULL), PHI_OK);
        phi_tape_free(rt.tape);
    }
    store_mem_free(store);
    (void)kept_is_clean(t, trouble);
}

static void echoed_in_all(const char *trouble) {
    static const char *const forms[] = {"plain", "percent", "base64"};
    char path[200];
    size_t i, f;
    for (i = 0; i < TARGETS; i++)
        for (f = 0; f < 3; f++) {
            (void)snprintf(path, sizeof path, "/m/echo=%s+%s/s/lookup", forms[f], trouble);
            echoed(&targets[i], path, false);
        }
}

TEST(no_secret_that_a_refusal_repeats_in_body_and_headers_is_kept) { echoed_in_all("status=400"); }

TEST(no_secret_that_a_failure_repeats_is_kept_though_it_is_tried_again) {
    echoed_in_all("status=500+retry-after-ms=1");
}

TEST(no_secret_that_a_web_page_repeats_in_its_title_is_kept) { echoed_in_all("html+status=503"); }

TEST(no_secret_that_an_error_repeats_with_status_200_is_kept) { echoed_in_all("json-error"); }

TEST(no_secret_that_an_error_event_repeats_in_mid_stream_is_kept) {
    echoed_in_all("error-event=1");
}

TEST(no_secret_that_half_of_an_error_repeats_is_kept) {
    echoed_in_all("status=500+truncated-json");
}

TEST(no_secret_that_is_repeated_is_on_a_tape) {
    static const char *const troubles[] = {
        "/m/echo=plain+status=400/s/lookup", "/m/echo=percent+status=400/s/lookup",
        "/m/echo=base64+status=400/s/lookup", "/m/echo=plain+error-event=1+split=3,7/s/lookup",
        "/m/echo=base64+error-event=1+bytes/s/lookup"};
    size_t i, j;
    for (i = 0; i < TARGETS; i++)
        for (j = 0; j < sizeof troubles / sizeof troubles[0]; j++)
            echoed(&targets[i], troubles[j], true);
}

MOCK_MAIN(e2e_options, TEST_ENTRY(no_secret_that_a_refusal_repeats_in_body_and_headers_is_kept),
          TEST_ENTRY(no_secret_that_a_failure_repeats_is_kept_though_it_is_tried_again),
          TEST_ENTRY(no_secret_that_a_web_page_repeats_in_its_title_is_kept),
          TEST_ENTRY(no_secret_that_an_error_repeats_with_status_200_is_kept),
          TEST_ENTRY(no_secret_that_an_error_event_repeats_in_mid_stream_is_kept),
          TEST_ENTRY(no_secret_that_half_of_an_error_repeats_is_kept),
          TEST_ENTRY(no_secret_that_is_repeated_is_on_a_tape))
