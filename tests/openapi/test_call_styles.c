/* test_call_styles.c - every style of parameter and kind of body, with the exact bytes that are sent. */
#include "asked.h"

static const char document_form[] =
    "{\"openapi\":\"3.0.3\",\"info\":{\"title\":\"t\",\"version\":\"1\"},\"servers\":[{\"url\":"
    "\"https://h.example/v1/\"}],\"paths\":{\"%s\":{\"%s\":{\"operationId\":\"op\",\"parameters\":["
    "%s],%s\"responses\":{\"200\":{\"description\":\"d\"}}}}}}";

/* Calls the one operation; body: "\"requestBody\":{...}," or "". */
static void sends(const char *path, const char *method, const char *parameters, const char *body,
                  const char *arguments, const char *want) {
    static char document[8192];
    asked a;
    (void)snprintf(document, sizeof document, document_form, path, method, parameters, body);
    if (!asked_open(&a, NULL, document)) return;
    if (ask(&a, "op", arguments)) {
        CHECK_EQ_STR(asked_sent(&a, 0), want);
        if (a.is_error[0]) CHECK_EQ_STR(a.text[0], "");
    }
    asked_close(&a);
}

static void parameter(const char *in, const char *rest, const char *value, const char *want) {
    char p[600], arguments[600], whole[900];
    bool path = strcmp(in, "path") == 0;
    (void)snprintf(p, sizeof p, "{\"name\":\"color\",\"in\":\"%s\",%s%s}", in,
                   path ? "\"required\":true," : "", rest);
    (void)snprintf(arguments, sizeof arguments, "{\"color\":%s}", value);
    (void)snprintf(whole, sizeof whole, "GET https://h.example/v1/x%s\n%s\n",
                   path || strcmp(in, "query") == 0 ? want : "",
                   path || strcmp(in, "query") == 0 ? "" : want);
    sends(path ? "/x{color}" : "/x", "get", p, "", arguments, whole);
}

#define ANY "\"schema\":{}"
#define ARRAY "[\"blue\",\"black\",\"brown\"]"
#define OBJECT "{\"R\":100,\"G\":200,\"B\":150}"

TEST(paths_are_simple_label_or_matrix) {
    static const char *const rows[][3] = {
        /* style, value, want */
        {"\"style\":\"simple\"", "\"blue\"", "blue"},
        {"\"style\":\"simple\"", ARRAY, "blue,black,brown"},
        {"\"style\":\"simple\"", OBJECT, "R,100,G,200,B,150"},
        {"\"style\":\"simple\",\"explode\":true", ARRAY, "blue,black,brown"},
        {"\"style\":\"simple\",\"explode\":true", OBJECT, "R=100,G=200,B=150"},
        {"\"style\":\"label\"", "\"blue\"", ".blue"},
        {"\"style\":\"label\"", "\"\"", "."},
        {"\"style\":\"label\"", ARRAY, ".blue,black,brown"},
        {"\"style\":\"label\"", OBJECT, ".R,100,G,200,B,150"},
        {"\"style\":\"label\",\"explode\":true", ARRAY, ".blue.black.brown"},
        {"\"style\":\"label\",\"explode\":true", OBJECT, ".R=100.G=200.B=150"},
        {"\"style\":\"matrix\"", "\"blue\"", ";color=blue"},
        {"\"style\":\"matrix\"", "\"\"", ";color"},
        {"\"style\":\"matrix\"", ARRAY, ";color=blue,black,brown"},
        {"\"style\":\"matrix\"", OBJECT, ";color=R,100,G,200,B,150"},
        {"\"style\":\"matrix\",\"explode\":true", ARRAY, ";color=blue;color=black;color=brown"},
        {"\"style\":\"matrix\",\"explode\":true", OBJECT, ";R=100;G=200;B=150"},
        {"\"style\":\"simple\"", "\"a/b c\"", "a%2Fb%20c"},
        {"\"style\":\"simple\"", "\"../admin\"", "..%2Fadmin"},
        {"\"style\":\"simple\"", "\"//host/x\"", "%2F%2Fhost%2Fx"},
        {"\"style\":\"simple\"", "\"a?b#c&d=e;f,g\"", "a%3Fb%23c%26d%3De%3Bf%2Cg"},
        {"\"style\":\"simple\"", "\"-._~\"", "-._~"},
        {"\"style\":\"simple\"", "\"%2e\"", "%252e"},
        {"\"style\":\"simple\"", "\"\xC3\xA9\xF0\x9F\x98\x80\"", "%C3%A9%F0%9F%98%80"},
        {"\"style\":\"simple\"", "\"a\\u0000\\r\\nb\"", "a%00%0D%0Ab"},
        {"\"style\":\"simple\"", "true", "true"},
        {"\"style\":\"simple\"", "-1.5", "-1.5"},
        {"\"style\":\"simple\"", "1e300", "1e300"},
        {"\"style\":\"simple\"", "9007199254740993", "9007199254740993"},
        {"\"style\":\"simple\"", "[1,null,[2,3],\"a,b\"]", "1,%5B2%2C3%5D,a%2Cb"},
    };
    char rest[200];
    size_t i;
    for (i = 0; i < PHI__COUNT(rows); i++) {
        (void)snprintf(rest, sizeof rest, ANY ",%s", rows[i][0]);
        parameter("path", rest, rows[i][1], rows[i][2]);
    }
    parameter("path", "\"content\":{\"application/json\":{" ANY "}}", "{\"a\":[1,\"b c\"]}",
              "%7B%22a%22%3A%5B1%2C%22b%20c%22%5D%7D");
}

TEST(queries_are_form_space_pipe_or_deep) {
    static const char *const rows[][3] = {
        {"\"style\":\"form\"", "\"blue\"", "?color=blue"},
        {"\"style\":\"form\"", "\"\"", "?color="},
        {"\"style\":\"form\"", ARRAY, "?color=blue&color=black&color=brown"},
        {"\"style\":\"form\"", OBJECT, "?R=100&G=200&B=150"},
        {"\"style\":\"form\"", "[]", ""},
        {"\"style\":\"form\"", "{}", ""},
        {"\"style\":\"form\",\"explode\":false", ARRAY, "?color=blue,black,brown"},
        {"\"style\":\"form\",\"explode\":false", OBJECT, "?color=R,100,G,200,B,150"},
        {"\"style\":\"form\",\"explode\":false", "[]", ""},
        {"\"style\":\"form\",\"explode\":false", "[\"a,b\",\"c&d\"]", "?color=a%2Cb,c%26d"},
        {"\"style\":\"spaceDelimited\",\"explode\":false", ARRAY, "?color=blue%20black%20brown"},
        {"\"style\":\"spaceDelimited\",\"explode\":true", ARRAY,
         "?color=blue&color=black&color=brown"},
        {"\"style\":\"spaceDelimited\",\"explode\":false", OBJECT,
         "?color=R%20100%20G%20200%20B%20150"},
        {"\"style\":\"pipeDelimited\",\"explode\":false", ARRAY, "?color=blue%7Cblack%7Cbrown"},
        {"\"style\":\"pipeDelimited\",\"explode\":false", OBJECT,
         "?color=R%7C100%7CG%7C200%7CB%7C150"},
        {"\"style\":\"deepObject\",\"explode\":true", OBJECT,
         "?color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150"},
        {"\"style\":\"deepObject\",\"explode\":true", "{\"a\":{\"b\":[1,{\"c\":2}]},\"d\":null}",
         "?color%5Ba%5D%5Bb%5D%5B0%5D=1&color%5Ba%5D%5Bb%5D%5B1%5D%5Bc%5D=2"},
        {"\"style\":\"deepObject\",\"explode\":true", "[\"x\",\"y\"]",
         "?color%5B0%5D=x&color%5B1%5D=y"},
        {"\"style\":\"form\"", "\"a b+c&d=e#f\"", "?color=a%20b%2Bc%26d%3De%23f"},
        {"\"style\":\"form\",\"allowReserved\":true", "\"/a:b?c@d,e;f&g=h#i+j[k]%20\"",
         "?color=/a:b?c@d,e;f%26g%3Dh%23i%2Bj%5Bk%5D%2520"},
        {"\"style\":\"form\"", "null", ""},
        {"\"style\":\"form\"", "false", "?color=false"},
    };
    char rest[200];
    size_t i;
    for (i = 0; i < PHI__COUNT(rows); i++) {
        (void)snprintf(rest, sizeof rest, ANY ",%s", rows[i][0]);
        parameter("query", rest, rows[i][1], rows[i][2]);
    }
    parameter("query", "\"content\":{\"application/json\":{" ANY "}}", "{\"a\":1}",
              "?color=%7B%22a%22%3A1%7D");
}

TEST(headers_are_simple_and_cookies_are_form) {
    parameter("header", ANY, "\"a b\"", "color: a b\n");
    parameter("header", ANY, ARRAY, "color: blue,black,brown\n");
    parameter("header", ANY, OBJECT, "color: R,100,G,200,B,150\n");
    parameter("header", ANY ",\"explode\":true", OBJECT, "color: R=100,G=200,B=150\n");
    parameter("header", ANY, "12", "color: 12\n");
    parameter("header", "\"content\":{\"application/json\":{" ANY "}}", "{\"a\":\"b c\"}",
              "color: {\"a\":\"b c\"}\n");
    parameter("cookie", ANY, "\"blue\"", "Cookie: color=blue\n");
    parameter("cookie", ANY, "\"a b;c,d%e\\\"f\"", "Cookie: color=a%20b%3Bc%2Cd%25e%22f\n");
    parameter("cookie", ANY, ARRAY, "Cookie: color=blue; color=black; color=brown\n");
    parameter("cookie", ANY ",\"explode\":false", ARRAY, "Cookie: color=blue,black,brown\n");
    parameter("cookie", ANY ",\"explode\":false", OBJECT, "Cookie: color=R,100,G,200,B,150\n");
}

TEST(parameters_of_all_places_go_together) {
    sends("/a/{id}/b.{ext}", "delete",
          "{\"name\":\"id\",\"in\":\"path\",\"required\":true,\"schema\":{\"type\":\"integer\"}},"
          "{\"name\":\"ext\",\"in\":\"path\",\"required\":true,\"schema\":{\"type\":\"string\"}},"
          "{\"name\":\"q\",\"in\":\"query\",\"schema\":{\"type\":\"string\"}},"
          "{\"name\":\"n\",\"in\":\"query\",\"schema\":{\"type\":\"integer\"}},"
          "{\"name\":\"c\",\"in\":\"cookie\",\"schema\":{\"type\":\"string\"}},"
          "{\"name\":\"d\",\"in\":\"cookie\",\"schema\":{\"type\":\"string\"}},"
          "{\"name\":\"X-H\",\"in\":\"header\",\"schema\":{\"type\":\"string\"}}",
          "",
          "{\"ext\":\"json\",\"id\":7,\"n\":3,\"q\":\"x y\",\"d\":\"2\",\"c\":\"1\",\"X-H\":\"h\"}",
          "DELETE https://h.example/v1/a/7/b.json?q=x%20y&n=3\nX-H: h\nCookie: c=1; d=2\n\n");
}

TEST(headers_that_frame_the_request_are_not_the_models) {
    sends("/x", "get",
          "{\"name\":\"Content-Length\",\"in\":\"header\",\"schema\":{}},"
          "{\"name\":\"host\",\"in\":\"header\",\"schema\":{}},"
          "{\"name\":\"X-Ok\",\"in\":\"header\",\"schema\":{}}",
          "", "{\"Content-Length\":\"5\",\"host\":\"evil\",\"X-Ok\":\"1\"}",
          "GET https://h.example/v1/x\nX-Ok: 1\n\n");
}

/* ---- bodies ---- */

#define BODY(type, schema)                                                                         \
    "\"requestBody\":{\"required\":true,\"content\":{\"" type "\":{\"schema\":" schema "}}},"

TEST(bodies_are_json_forms_text_or_bytes) {
    sends("/x", "post", "", BODY("application/json", "{\"type\":\"object\"}"),
          "{\"body\":{\"a\":[1,2.5,null,\"\xC3\xA9\"]}}",
          "POST https://h.example/v1/x\nContent-Type: application/json\n\n"
          "{\"a\":[1,2.5,null,\"\xC3\xA9\"]}");
    sends("/x", "patch", "", BODY("application/merge-patch+json", "{}"), "{\"body\":null}",
          "PATCH https://h.example/v1/x\nContent-Type: application/merge-patch+json\n\nnull");
    sends("/x", "post", "",
          BODY("application/x-www-form-urlencoded", "{\"type\":\"object\",\"properties\":{"
                                                    "\"a\":{\"type\":\"string\"}}}"),
          "{\"body\":{\"a\":\"b c&d\",\"e\":[1,2],\"f\":{\"g\":\"h i\"},\"z\":null}}",
          "POST https://h.example/v1/x\nContent-Type: application/x-www-form-urlencoded\n\n"
          "a=b%20c%26d&e=1&e=2&f=%7B%22g%22%3A%22h%20i%22%7D");
    sends("/x", "put", "", BODY("text/plain", "{\"type\":\"string\"}"), "{\"body\":\"a\\nb\"}",
          "PUT https://h.example/v1/x\nContent-Type: text/plain\n\na\nb");
    sends("/x", "put", "",
          BODY("application/octet-stream", "{\"type\":\"string\",\"format\":\"binary\"}"),
          "{\"body\":\"AAECAw==\"}",
          "PUT https://h.example/v1/x\nContent-Type: application/octet-stream\n\n");
}

TEST(forms_heed_their_encoding) {
    sends(
        "/x", "post", "",
        "\"requestBody\":{\"content\":{\"application/x-www-form-urlencoded\":{\"schema\":{\"type\":"
        "\"object\",\"properties\":{\"a\":{\"type\":\"object\"},\"b\":{\"type\":\"array\","
        "\"items\":{}},"
        "\"c\":{\"type\":\"array\",\"items\":{}}}},\"encoding\":{\"a\":{\"style\":\"deepObject\","
        "\"explode\":true},\"b\":{\"style\":\"form\",\"explode\":false},\"c\":{\"contentType\":"
        "\"application/json\"}}}}},",
        "{\"body\":{\"a\":{\"x\":{\"y\":1}},\"b\":[1,2],\"c\":[3]}}",
        "POST https://h.example/v1/x\nContent-Type: application/x-www-form-urlencoded\n\n"
        "a%5Bx%5D%5By%5D=1&b=1,2&c=%5B3%5D");
}

TEST(a_body_that_is_not_required_may_be_missing) {
    sends("/x", "post", "", "\"requestBody\":{\"content\":{\"application/json\":{\"schema\":{}}}},",
          "{}", "POST https://h.example/v1/x\n\n");
}

TEST_MAIN(TEST_ENTRY(paths_are_simple_label_or_matrix),
          TEST_ENTRY(queries_are_form_space_pipe_or_deep),
          TEST_ENTRY(headers_are_simple_and_cookies_are_form),
          TEST_ENTRY(parameters_of_all_places_go_together),
          TEST_ENTRY(headers_that_frame_the_request_are_not_the_models),
          TEST_ENTRY(bodies_are_json_forms_text_or_bytes), TEST_ENTRY(forms_heed_their_encoding),
          TEST_ENTRY(a_body_that_is_not_required_may_be_missing))
