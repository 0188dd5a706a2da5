/* test_random_arguments.c - whatever a model gives as arguments, each value stays in its place: in one
   segment of the path, in the query, in a header, in a cookie. PHI_SEEDS says how many calls. */
#include "asked.h"

enum { CALLS = 400, EACH = 25 };

static const char *const styles[] = {"simple",         "label",         "matrix",    "form",
                                     "spaceDelimited", "pipeDelimited", "deepObject"};
static const char *const places[] = {"path", "query", "header", "cookie"};

static uint32_t chance(uint32_t *random, uint32_t below) { return test_random(random) % below; }

/* GET /a/{p}/b{p2}/{p3}, with parameters of every place in styles of chance. */
static void put_document(uint32_t *random, char *out, size_t size) {
    static const char *const names[] = {"p", "p2", "p3", "q", "q[2]", "X-H", "X-2", "c", "c2"};
    static const int place[] = {0, 0, 0, 1, 1, 2, 2, 3, 3};
    size_t i, n;
    n = (size_t)snprintf(out, size,
                         "{\"openapi\":\"3.1.0\",\"info\":{},\"servers\":[{\"url\":"
                         "\"https://h.example/v1\"}],\"paths\":{\"/a/{p}/b{p2}/{p3}\":{\"get\":{"
                         "\"operationId\":\"op\",\"parameters\":[");
    for (i = 0; i < PHI__COUNT(names); i++)
        n += (size_t)snprintf(
            out + n, size - n,
            "%s{\"name\":\"%s\",\"in\":\"%s\",\"style\":\"%s\",\"explode\":%s,\"allowReserved\":%s,"
            "\"%s\":{%s}}",
            i > 0 ? "," : "", names[i], places[place[i]], styles[chance(random, 7)],
            chance(random, 2) > 0 ? "true" : "false", chance(random, 2) > 0 ? "true" : "false",
            chance(random, 6) > 0 ? "schema" : "content",
            chance(random, 2) > 0 ? "" : "\"application/json\":{}");
    (void)snprintf(out + n, size - n, "]}}}}");
}

/* JSON of chance; a text for strings where `flat`. */
static char *put_value(uint32_t *random, char *at, int depth) {
    static const char *const texts[] = {"..",
                                        ".",
                                        "",
                                        "/",
                                        "%2e%2e",
                                        "a b",
                                        "\\r\\nX-Evil: 1",
                                        "\\u0000",
                                        "?x=1",
                                        "#f",
                                        "&a=b",
                                        "; c=d",
                                        ",",
                                        "\\\\",
                                        "\xC3\xA9",
                                        "@evil.example",
                                        "//evil.example/",
                                        "\\u007f",
                                        "=",
                                        "[",
                                        "{p}",
                                        "\\t",
                                        "x"};
    uint32_t kind = chance(random, depth > 3 ? 5 : 8), count = chance(random, 4), i;
    bool object = kind == 6;
    if (kind < 3)
        return at + sprintf(at, "\"%s%s\"", texts[chance(random, PHI__COUNT(texts))],
                            texts[chance(random, PHI__COUNT(texts))]);
    if (kind == 3) return at + sprintf(at, "%s", chance(random, 2) > 0 ? "null" : "true");
    if (kind == 4) return at + sprintf(at, "-1.5e300");
    *at++ = object ? '{' : '[';
    for (i = 0; i < count; i++) {
        if (i > 0) *at++ = ',';
        if (object)
            at += sprintf(at, "\"%u%s\":", (unsigned)i, texts[chance(random, PHI__COUNT(texts))]);
        at = put_value(random, at, depth + 1);
    }
    *at++ = object ? '}' : ']';
    return at;
}

static void put_arguments(uint32_t *random, char *at) {
    static const char *const keys[] = {"p", "p2", "p3", "q", "q_2_", "X-H", "X-2", "c", "c2"};
    size_t i;
    *at++ = '{';
    for (i = 0; i < PHI__COUNT(keys); i++) {
        at += sprintf(at, "%s\"%s\":", i > 0 ? "," : "", keys[i]);
        at = put_value(random, at, 0);
    }
    (void)sprintf(at, "}");
}

/* "/v1/a/X/bY/Z": no segment more or less, none that a server would take out. */
static void check_path(const char *at, const char *end) {
    unsigned slashes = 0;
    const char *segment = at + 1;
    for (; at < end; at++) {
        CHECK(strchr("?#\"<>\\^`{|} ", *at) == NULL && *at > 32 && *at < 127);
        if (*at == '/') slashes++;
        if (*at == '/') segment = at + 1;
        if (at + 1 < end && at[1] != '/') continue;
        CHECK(at + 1 - segment > 0 || at + 1 < end);
        CHECK(!(at + 1 - segment == 1 && segment[0] == '.'));
        CHECK(!(at + 1 - segment == 2 && memcmp(segment, "..", 2) == 0));
    }
    CHECK_EQ_INT(slashes, 5);
}

static void check_request(const char *sent) {
    static const char base[] = "GET https://h.example/v1/a/";
    const char *line = strchr(sent, '\n'), *query, *next;
    REQUIRE(line != NULL && strncmp(sent, base, sizeof base - 1) == 0);
    query = (const char *)memchr(sent, '?', (size_t)(line - sent));
    check_path(sent + 21, query != NULL ? query : line);
    for (; query != NULL && query < line; query++)
        CHECK(*query > 32 && *query < 127 && *query != '#');
    for (line++; *line != '\n' && *line != '\0'; line = next + 1) {
        next = strchr(line, '\n');
        REQUIRE(next != NULL);
        CHECK(strncmp(line, "X-H: ", 5) == 0 || strncmp(line, "X-2: ", 5) == 0 ||
              strncmp(line, "Cookie: ", 8) == 0);
        CHECK(memchr(line, '\r', (size_t)(next - line)) == NULL);
    }
    CHECK_EQ_STR(line, "\n"); /* no body */
}

TEST(each_value_stays_in_its_place) {
    static char text[4000], arguments[100000];
    const char *more = getenv("PHI_SEEDS");
    uint32_t calls = more != NULL ? (uint32_t)strtoul(more, NULL, 10) : (uint32_t)CALLS, i, k;
    uint32_t random = 7, sent = 0;
    for (i = 0; i < calls; i += EACH) {
        asked a;
        put_document(&random, text, sizeof text);
        if (!asked_open(&a, NULL, text)) return;
        for (k = 0; k < EACH; k++) {
            put_arguments(&random, arguments);
            if (!ask(&a, "op", arguments)) return;
            if (a.sent_count > 0) {
                check_request(asked_sent(&a, a.sent_count - 1));
                sent++;
            } else
                CHECK(a.is_error[0]);
            wires_free(&a.w);
            a.sent_count = 0;
            if (test_failures() > 0) {
                printf("%s\n%s\n", text, arguments);
                return;
            }
        }
        asked_close(&a);
    }
    printf("  %u of %u calls sent\n", (unsigned)sent, (unsigned)calls);
    CHECK(sent > calls / 40);
}

TEST_MAIN(TEST_ENTRY(each_value_stays_in_its_place))
