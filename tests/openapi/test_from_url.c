/* test_from_url.c - documents that are asked for by HTTP, and documents in YAML. */
#include "openapi/opened.h"
#include "openapi/spec.h"
#include "support/wires.h"

static const char document[] =
    "openapi: 3.1.0\n"
    "servers: [{url: /v2}]\n"
    "paths:\n"
    "  /a/{id}:\n"
    "    get:\n"
    "      operationId: getA\n"
    "      description: |\n"
    "        Two\n"
    "        lines.\n"
    "      parameters:\n"
    "      - {name: id, in: path, required: true, schema: {type: [string, 'null'], maxLength: 4}}\n"
    "      responses: {200: {description: ok}}\n";

static const char schema_of_a[] = "{\"type\":\"object\",\"properties\":{\"id\":{\"type\":"
                                  "[\"string\",\"null\"],\"maxLength\":4}},\"required\":[\"id\"]}";

TEST(a_document_in_yaml_is_as_one_in_json) {
    spec s;
    spec_open(&s, NULL, document);
    CHECK_EQ_INT(s.status, PHI_OK);
    CHECK_EQ_STR(spec_schema(&s, "getA"), schema_of_a);
    CHECK_EQ_STR(spec_tool(&s, "getA")->description, "Two\nlines.");
    spec_close(&s);
    spec_open(&s, NULL, "openapi: 3.0.0\npaths: *nowhere\n");
    CHECK_EQ_INT(s.status, PHI_PARSE);
    CHECK_EQ_INT(open_error(s.api)->line, 2);
    spec_close(&s);
    spec_open(&s, NULL, "");
    CHECK_EQ_INT(s.status, PHI_UNSUPPORTED);
    CHECK_EQ_STR(open_error(s.api)->message, "this is no OpenAPI document: expected an object");
    spec_close(&s);
}

/* ---- requests ---- */

static void begin(wires *w, spec *s, const phi_openapi_desc *desc) {
    int i;
    wires_init(w);
    memset(s, 0, sizeof *s);
    s->rt = wires_runtime(w, NULL);
    s->api = open_url(s->rt, desc, "https://h.example/docs/api.yaml?key=1");
    if (!CHECK(s->api != NULL)) return;
    for (i = 0; i < 5; i++) {
        CHECK_EQ_INT(phi_openapi_step(s->api, NULL), PHI_BUSY);
        (void)phi_step(s->rt, 0);
    }
}

/* Steps until the document is there or the server must speak. */
static void run(spec *s) {
    int i;
    for (i = 0; i < 50 && (s->status = phi_openapi_step(s->api, NULL)) == PHI_BUSY; i++)
        (void)phi_step(s->rt, 0);
    if (s->status == PHI_OK)
        while ((s->status = phi_openapi_select(s->api, NULL, &s->tools)) == PHI_BUSY) {}
}

static void finish(wires *w, spec *s) {
    spec_close(s);
    wires_free(w);
}

TEST(a_document_is_asked_for_with_the_headers_of_the_desc_alone) {
    static const phi_openapi_pair header = {"X-Tenant", "seven"};
    phi_openapi_desc desc;
    wires w;
    spec s;
    memset(&desc, 0, sizeof desc);
    desc.headers = &header;
    desc.header_count = 1;
    desc.auth.bearer_token = "not-for-documents";
    begin(&w, &s, &desc);
    REQUIRE(CHECK_EQ_INT(w.count, 1));
    CHECK_EQ_STR(w.sent[0].text, "GET https://h.example/docs/api.yaml?key=1\n"
                                 "Accept: application/json, application/yaml, */*;q=0.5\n"
                                 "X-Tenant: seven\n\n");
    wires_reply(&w, 0, 200, "Content-Type: application/yaml\r\n", document);
    run(&s);
    CHECK_EQ_INT(s.status, PHI_OK);
    CHECK_EQ_STR(spec_schema(&s, "getA"), schema_of_a);
    CHECK_STR(spec_operation(&s, "getA")->server, "/v2");
    finish(&w, &s);
}

TEST(redirects_are_followed_without_headers_and_never_to_http) {
    static const phi_openapi_pair header = {"X-Tenant", "seven"};
    static const char *const places[] = {"/other", "//i.example/a", "https://j.example/b"};
    static const char *const asked[] = {"GET https://h.example/other\nAccept",
                                        "GET https://i.example/a\nAccept",
                                        "GET https://j.example/b\nAccept"};
    phi_openapi_desc desc;
    char line[100];
    size_t i;
    wires w;
    spec s;
    memset(&desc, 0, sizeof desc);
    desc.headers = &header;
    desc.header_count = 1;
    begin(&w, &s, &desc);
    for (i = 0; i < 3; i++) {
        (void)snprintf(line, sizeof line, "Location: %s\r\n", places[i]);
        wires_reply(&w, i, i == 1 ? 308 : 302, line, "moved");
        run(&s);
        CHECK_EQ_INT(s.status, PHI_BUSY);
        REQUIRE(CHECK_EQ_INT(w.count, i + 2));
        CHECK(strncmp(w.sent[i + 1].text, asked[i], strlen(asked[i])) == 0);
        CHECK(strstr(w.sent[i + 1].text, "seven") == NULL);
    }
    wires_reply(&w, 3, 302, "Location: http://j.example/b\r\n", "");
    run(&s);
    CHECK_EQ_INT(s.status, PHI_REFUSED);
    CHECK_EQ_STR(open_error(s.api)->message,
                 "the document: a redirect to an address that is not followed");
    finish(&w, &s);
}

TEST(redirects_in_a_circle_end) {
    size_t i;
    wires w;
    spec s;
    begin(&w, &s, NULL);
    for (i = 0; i < 6; i++) {
        wires_reply(&w, i, 301, "Location: /again\r\n", "");
        run(&s);
    }
    CHECK_EQ_INT(s.status, PHI_REFUSED);
    CHECK_EQ_STR(open_error(s.api)->message, "the document: too many redirects");
    CHECK_EQ_INT(w.count, 6);
    finish(&w, &s);
}

TEST(an_answer_that_is_no_document_says_so) {
    wires w;
    spec s;
    begin(&w, &s, NULL);
    wires_reply(&w, 0, 404, "", "{\"openapi\":\"3.0.0\"}");
    run(&s);
    CHECK_EQ_INT(s.status, PHI_REFUSED);
    CHECK_EQ_STR(open_error(s.api)->message, "the document: HTTP status 404");
    finish(&w, &s);
    begin(&w, &s, NULL);
    wires_head(&w, 0, 200, "");
    (void)wires_push(&w, 0, "openapi: 3.", 11);
    wires_end(&w, 0, PHI_NETWORK, "broken");
    run(&s);
    CHECK_EQ_INT(s.status, PHI_NETWORK);
    finish(&w, &s);
}

TEST(a_document_larger_than_its_limit_ends_the_request) {
    phi_openapi_desc desc;
    wires w;
    spec s;
    memset(&desc, 0, sizeof desc);
    desc.max_document_bytes = 100;
    begin(&w, &s, &desc);
    wires_reply(&w, 0, 200, "", document);
    run(&s);
    CHECK_EQ_INT(s.status, PHI_TOO_BIG);
    finish(&w, &s);
}

TEST(freeing_the_object_ends_its_request) {
    wires w;
    spec s;
    begin(&w, &s, NULL);
    phi_openapi_free(s.api);
    CHECK_EQ_INT(w.cancels, 1);
    s.api = open_url(s.rt, NULL, "ftp://h.example/");
    CHECK(s.api == NULL);
    CHECK(open_url(s.rt, NULL, NULL) == NULL);
    finish(&w, &s);
}

TEST(every_allocation_may_fail_while_a_document_is_asked_for) {
    int n = 0;
    bool tripped;
    do {
        wires w;
        spec s;
        wires_init(&w);
        memset(&s, 0, sizeof s);
        s.rt = wires_runtime(&w, NULL);
        test_alloc_fail_at(n++);
        s.api = open_url(s.rt, NULL, "https://h.example/a");
        if (s.api != NULL) {
            (void)phi_step(s.rt, 0);
            if (w.count == 1) wires_reply(&w, 0, 302, "Location: /b\r\n", "");
            (void)phi_step(s.rt, 0);
            (void)phi_step(s.rt, 0);
            if (w.count == 2) wires_reply(&w, 1, 200, "", document);
            run(&s);
        }
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        if (!tripped) CHECK_EQ_INT(s.tools.count, 1);
        finish(&w, &s);
        CHECK_EQ_INT(test_alloc_live_bytes(), 0);
    } while (tripped && test_failures() == 0);
    CHECK(n > 20);
}

TEST_MAIN(TEST_ENTRY(a_document_in_yaml_is_as_one_in_json),
          TEST_ENTRY(a_document_is_asked_for_with_the_headers_of_the_desc_alone),
          TEST_ENTRY(redirects_are_followed_without_headers_and_never_to_http),
          TEST_ENTRY(redirects_in_a_circle_end), TEST_ENTRY(an_answer_that_is_no_document_says_so),
          TEST_ENTRY(a_document_larger_than_its_limit_ends_the_request),
          TEST_ENTRY(freeing_the_object_ends_its_request),
          TEST_ENTRY(every_allocation_may_fail_while_a_document_is_asked_for))
