/* test_openai_chat_text.c - text of small models' answers: thinking between tags, calls written as
   text, cut at every byte. */
#include "wire/wire_support.h"

#include <time.h>

#define P PHI_PROTOCOL_OPENAI_CHAT
#define THINK PHI_QUIRK_THINK_TAGS
#define OPEN (PHI_QUIRK_THINK_TAGS | PHI_QUIRK_THINK_OPEN)
#define CALLS PHI_QUIRK_TEXT_CALLS
#define ALL (PHI_QUIRK_THINK_TAGS | PHI_QUIRK_TEXT_CALLS | PHI_QUIRK_REPAIR_CALLS)

static const char read_schema[] =
    "{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\"},\"line\":{\"type\":"
    "\"integer\"},\"all\":{\"type\":\"boolean\"},\"tags\":{\"type\":\"array\"}}}";
static const phi__tool_view tools[] = {
    {{"read", 4},
     {NULL, 0},
     {read_schema, sizeof read_schema - 1},
     false,
     NULL,
     false,
     {NULL, 0},
     false},
    {{"list_files", 10}, {NULL, 0}, {NULL, 0}, false, NULL, false, {NULL, 0}, false}};

static char shown[4096]; /* what a user has seen of texts; of the thinking nothing */
static int retracted;

static void sink(void *ctx, phi__assembly *a, phi__part part, size_t block, size_t from) {
    size_t n = strlen(shown);
    (void)ctx;
    if (part == PHI__PART_AGAIN) {
        shown[0] = '\0';
        retracted++;
    } else if (part == PHI__PART_DELTA && a->drafts[block].kind == PHI_CONTENT_TEXT)
        snprintf(shown + n, sizeof shown - n, "%.*s", (int)(a->drafts[block].bytes.len - from),
                 a->drafts[block].bytes.at + from);
}

static void begin(stream *s, uint64_t quirks) {
    stream_begin(s, P);
    s->assembly.quirks = quirks;
    s->assembly.tools = tools;
    s->assembly.tool_count = 2;
    s->assembly.sink = sink;
    shown[0] = '\0';
    retracted = 0;
}

/* A chunk with a text. */
static void say(stream *s, const char *text, size_t len) {
    static const char head[] = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"";
    char hex[8];
    size_t i;
    if (len == 0) return;
    stream_feed(s, head, sizeof head - 1);
    for (i = 0; i < len; i++) {
        if (text[i] == '"' || text[i] == '\\' || (unsigned char)text[i] < 0x20) {
            snprintf(hex, sizeof hex, "\\u%04x", (unsigned)(unsigned char)text[i]);
            stream_text(s, hex);
        } else
            stream_feed(s, text + i, 1);
    }
    stream_text(s, "\"}}]}\n\n");
}

static void stop(stream *s, const char *word) {
    stream_text(s, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"");
    stream_text(s, word);
    stream_text(s, "\"}]}\n\ndata: [DONE]\n\n");
    stream_end(s);
}

/* The message in a line: thinking in (), text as it is, calls in [], broken ones in [! ]. */
static const char *line(stream *s) {
    static char out[4096];
    size_t i, n = 0;
    out[0] = '\0';
    for (i = 0; i < s->message.content_count && n < sizeof out; i++) {
        const phi_content *c = &s->content[i];
        if (i > 0) n += (size_t)snprintf(out + n, sizeof out - n, "|");
        if (c->kind == PHI_CONTENT_TOOL_CALL)
            n += (size_t)snprintf(out + n, sizeof out - n, "[%s%.*s %.*s]",
                                  c->incomplete ? "!" : "", (int)c->name.len, c->name.at,
                                  (int)c->arguments.len, c->arguments.at);
        else
            n += (size_t)snprintf(out + n, sizeof out - n,
                                  c->kind == PHI_CONTENT_THINKING ? "(%.*s)" : "%.*s",
                                  (int)c->text.len, c->text.at);
    }
    return out;
}

/* Whether what was shown is what the texts of the message hold. */
static bool shown_is_kept(const stream *s) {
    char kept[4096] = "";
    size_t i, n = 0;
    for (i = 0; i < s->message.content_count; i++)
        if (s->content[i].kind == PHI_CONTENT_TEXT)
            n += (size_t)snprintf(kept + n, sizeof kept - n, "%.*s", (int)s->content[i].text.len,
                                  s->content[i].text.at);
    return strcmp(kept, shown) == 0;
}

static bool answer_is(uint64_t quirks, const char *text, size_t a, size_t b, const char *word,
                      const char *want) {
    size_t len = strlen(text);
    stream s;
    bool same;
    begin(&s, quirks);
    say(&s, text, a);
    say(&s, text + a, b - a);
    say(&s, text + b, len - b);
    stop(&s, word);
    same = strcmp(line(&s), want) == 0 && shown_is_kept(&s);
    if (!same)
        fprintf(stderr, "at %zu and %zu of %s\n got: %s\nwant: %s\nshown: %s\n", a, b, text,
                line(&s), want, shown);
    stream_free(&s);
    return same;
}

/* Whole, cut at every byte, and cut at every two bytes. */
static bool all_cuts(uint64_t quirks, const char *text, const char *want) {
    size_t len = strlen(text), a, b;
    for (a = 0; a <= len; a++)
        for (b = a; b <= len; b++)
            if (!answer_is(quirks, text, a, b, "stop", want)) return false;
    return true;
}

/* ---- thinking ---- */

TEST(thinking_between_tags_is_thinking_wherever_it_is_cut) {
    CHECK(all_cuts(THINK, "<think>hm</think>yes", "(hm)|yes"));
    CHECK(all_cuts(THINK, "\n<think>\nhm\n</think>\n\nyes\n", "(hm\n)|yes\n"));
    CHECK(all_cuts(THINK, "<think>\xc3\xa9 \xf0\x9f\x98\x80</think>\xc3\xa9",
                   "(\xc3\xa9 \xf0\x9f\x98\x80)|\xc3\xa9"));
    CHECK(all_cuts(THINK, "<think>\n\n</think>\n\nyes", "yes"));
    CHECK(all_cuts(THINK, "a<think>b</think>c<think>d</think>e", "a|(b)|c|(d)|e"));
}

TEST(thinking_that_is_never_closed_stays_thinking) {
    CHECK(all_cuts(THINK, "<think>hm", "(hm)"));
    CHECK(all_cuts(THINK, "<think>hm</thin", "(hm</thin)"));
    CHECK(all_cuts(THINK, "<think>", ""));
}

TEST(text_before_a_closing_tag_alone_was_thinking) {
    stream s;
    CHECK(all_cuts(THINK, "hm</think>\nyes", "(hm)|yes"));
    CHECK(all_cuts(THINK, "\n</think>yes", "yes"));
    CHECK(all_cuts(THINK, "a</think>b</think>c", "(a)|bc"));
    CHECK(all_cuts(THINK, "<think>a<think>b</think>c</think>d", "(a<think>b)|cd"));
    begin(&s, THINK);
    say(&s, "hm", 2);
    CHECK_EQ_STR(shown, "hm");
    say(&s, "</think>yes", 11);
    CHECK_EQ_INT(retracted, 1);
    CHECK_EQ_STR(shown, "yes");
    stop(&s, "stop");
    CHECK_EQ_INT(retracted, 1);
    stream_free(&s);
}

TEST(an_answer_begins_with_thinking_where_the_template_opens_the_tag) {
    stream s;
    CHECK(all_cuts(OPEN, "hm</think>\nyes", "(hm)|yes"));
    CHECK(all_cuts(OPEN, "<think>hm</think>yes", "(hm)|yes"));
    CHECK(all_cuts(OPEN, "yes", "yes"));
    CHECK(answer_is(OPEN, "hm", 1, 1, "length", "(hm)"));
    begin(&s, OPEN);
    say(&s, "hm</think>yes", 13);
    stop(&s, "stop");
    CHECK_EQ_INT(retracted, 0);
    stream_free(&s);
}

TEST(where_the_server_reads_the_thinking_no_tag_is_assumed) {
    stream s;
    begin(&s, OPEN);
    stream_text(&s, "data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"hm\"}}]}\n\n");
    say(&s, "yes", 3);
    stop(&s, "stop");
    CHECK_EQ_STR(line(&s), "(hm)|yes");
    stream_free(&s);
}

TEST(a_bracket_that_is_no_tag_is_shown_at_once) {
    stream s;
    CHECK(all_cuts(THINK, "a < b <thin> <b>", "a < b <thin> <b>"));
    CHECK(all_cuts(ALL, "[TOOL_ [x] <tool_ <func", "[TOOL_ [x] <tool_ <func"));
    begin(&s, ALL);
    say(&s, "a <th", 5);
    CHECK_EQ_STR(shown, "a ");
    say(&s, "e", 1);
    CHECK_EQ_STR(shown, "a <the");
    say(&s, " <", 2);
    CHECK_EQ_STR(shown, "a <the ");
    stop(&s, "stop");
    CHECK_EQ_STR(shown, "a <the <");
    stream_free(&s);
}

TEST(tags_in_code_are_text) {
    CHECK(all_cuts(ALL, "```\n<think>\n```\nx", "```\n<think>\n```\nx"));
    CHECK(all_cuts(ALL, "use `<think>` or `</think>`", "use `<think>` or `</think>`"));
    CHECK(all_cuts(ALL, "```xml\n<tool_call>{}</tool_call>\n```",
                   "```xml\n<tool_call>{}</tool_call>\n```"));
    CHECK(all_cuts(THINK, "it's ` odd\n<think>a</think>b", "it's ` odd\n|(a)|b"));
}

TEST(without_the_quirks_tags_are_text) {
    CHECK(all_cuts(0, "<think>hm</think>", "<think>hm</think>"));
    CHECK(all_cuts(PHI_QUIRK_REPAIR_CALLS, "<tool_call>{\"name\":\"read\"}",
                   "<tool_call>{\"name\":\"read\"}"));
    CHECK(all_cuts(CALLS, "<think>hm</think>", "<think>hm</think>"));
}

/* ---- calls ---- */

TEST(calls_between_tags_are_calls_wherever_they_are_cut) {
    CHECK(all_cuts(CALLS,
                   "<tool_call>{\"name\":\"read\",\"arguments\":{\"path\":\"a\"}}</tool_call>",
                   "[read {\"path\":\"a\"}]"));
    CHECK(all_cuts(ALL,
                   "<think>a</think>Now:\n<tool_call>\n{\"name\":\"read\",\"arguments\":{}}\n"
                   "</tool_call>",
                   "(a)|Now:\n|[read {}]"));
    CHECK(all_cuts(
        CALLS, "<tool_call>{\"name\":\"a\"}</tool_call>\n<tool_call>{\"name\":\"b\"}</tool_call>",
        "[a {}]|[b {}]"));
    CHECK(all_cuts(CALLS,
                   "<tool_call>{\"name\":\"read\",\"arguments\":{\"path\":\"</tool_call>\"}}",
                   "[read {\"path\":\"</tool_call>\"}]"));
    CHECK(all_cuts(CALLS, "<tool_call>nothing</tool_call> x", "<tool_call>nothing</tool_call> x"));
    CHECK(all_cuts(CALLS, "<tool_call></tool_call>", "<tool_call></tool_call>"));
}

TEST(functions_with_parameters_take_their_types_from_the_schema) {
    CHECK(all_cuts(CALLS,
                   "<tool_call><function=read><parameter=path>\na\n</parameter></function>"
                   "</tool_call>",
                   "[read {\"path\":\"a\"}]"));
    CHECK(answer_is(CALLS,
                    "<tool_call>\n<function=read>\n<parameter=path>\n7\n</parameter>\n"
                    "<parameter=line>\n7\n</parameter>\n<parameter=all>\nTrue\n</parameter>\n"
                    "<parameter=tags>\n[\"a\"]\n</parameter>\n<parameter=other>\n7\n</parameter>\n"
                    "</function>\n</tool_call>",
                    0, 0, "stop",
                    "[read {\"path\":\"7\",\"line\":7,\"all\":true,\"tags\":[\"a\"],"
                    "\"other\":\"7\"}]"));
    CHECK(answer_is(CALLS,
                    "<tool_call><function=read>\n<parameter=path>\na</function>b\n</parameter>\n"
                    "</function></tool_call>",
                    0, 0, "stop", "[read {\"path\":\"a</function>b\"}]"));
    CHECK(answer_is(CALLS,
                    "<tool_call><function=read>\n<parameter=path>\na\n<parameter=line>\nx\n"
                    "</function></tool_call>",
                    0, 0, "stop", "[read {\"path\":\"a\",\"line\":\"x\"}]"));
}

TEST(a_function_without_the_opening_tag_is_a_call_of_a_known_tool) {
    CHECK(all_cuts(CALLS,
                   "Hm.\n<function=read><parameter=path>a</parameter></function>\n"
                   "</tool_call>",
                   "Hm.\n|[read {\"path\":\"a\"}]"));
    CHECK(all_cuts(CALLS, "<function=read>{\"path\":\"a\"}</function>", "[read {\"path\":\"a\"}]"));
    CHECK(all_cuts(CALLS, "<function=nobody>{}</function> x", "<function=nobody>{}</function> x"));
}

TEST(calls_behind_a_token_reach_to_the_end) {
    CHECK(all_cuts(CALLS, "<|python_tag|>{\"name\":\"read\",\"parameters\":{\"path\":\"a\"}}",
                   "[read {\"path\":\"a\"}]"));
    CHECK(all_cuts(CALLS, "<|python_tag|>{\"name\":\"a\"}; {\"name\":\"b\"}<|eom_id|>",
                   "[a {}]|[b {}]"));
    CHECK(all_cuts(CALLS, "<|python_tag|>print(1)", "<|python_tag|>print(1)"));
    CHECK(all_cuts(CALLS, "[TOOL_CALLS][{\"name\":\"read\",\"arguments\":{},\"id\":\"x\"}]",
                   "[read {}]"));
    CHECK(all_cuts(CALLS, "[TOOL_CALLS]read[ARGS]{\"a\":1}[TOOL_CALLS]b[ARGS]{}",
                   "[read {\"a\":1}]|[b {}]"));
    CHECK(all_cuts(CALLS, "[TOOL_CALLS] is a token", "[TOOL_CALLS] is a token"));
}

TEST(json_that_is_all_of_the_rest_is_a_call_of_a_known_tool) {
    CHECK(all_cuts(CALLS, "{\"name\":\"read\",\"arguments\":{\"path\":\"a\"}}",
                   "[read {\"path\":\"a\"}]"));
    CHECK(all_cuts(CALLS, "Hm.\n```json\n{\"name\":\"read\",\"arguments\":{}}\n```\n",
                   "Hm.\n|[read {}]"));
    CHECK(all_cuts(CALLS, "[{\"name\":\"read\",\"arguments\":{}}]", "[read {}]"));
    CHECK(all_cuts(CALLS, "{\"name\":\"nobody\",\"arguments\":{}}",
                   "{\"name\":\"nobody\",\"arguments\":{}}"));
    CHECK(all_cuts(CALLS, "{\"name\":\"read\"}", "{\"name\":\"read\"}"));
    CHECK(all_cuts(CALLS, "{\"name\":\"read\",\"arguments\":{}} is a call",
                   "{\"name\":\"read\",\"arguments\":{}} is a call"));
    CHECK(all_cuts(CALLS, "```json\n{\"a\":1}\n```", "```json\n{\"a\":1}\n```"));
    CHECK(all_cuts(CALLS, "```json\n{\"name\":\"read\",\"args\":{}}\n```\nx",
                   "```json\n{\"name\":\"read\",\"args\":{}}\n```\nx"));
}

TEST(json_that_cannot_be_a_call_is_shown_at_once) {
    stream s;
    begin(&s, ALL);
    say(&s, "{\"na", 4);
    CHECK_EQ_STR(shown, "");
    say(&s, "tive\":", 6);
    CHECK_EQ_STR(shown, "{\"native\":");
    stop(&s, "stop");
    CHECK_EQ_STR(line(&s), "{\"native\":");
    stream_free(&s);
}

TEST(other_templates_have_other_names_for_the_members) {
    CHECK(answer_is(CALLS,
                    "{\"type\":\"function\",\"function\":{\"name\":\"read\",\"arguments\":"
                    "\"{\\\"a\\\":1}\"}}",
                    9, 9, "stop", "[read {\"a\":1}]"));
    CHECK(answer_is(CALLS, "{\"tool\":\"read\",\"args\":{\"a\":1}}", 3, 9, "stop",
                    "[read {\"a\":1}]"));
    CHECK(answer_is(CALLS, "{\"tool_name\":\"read\",\"tool_input\":{\"a\":1}}", 3, 9, "stop",
                    "[read {\"a\":1}]"));
    CHECK(answer_is(CALLS, "{\"function\":\"read\",\"input\":{\"a\":1}}", 3, 9, "stop",
                    "[read {\"a\":1}]"));
}

TEST(a_call_that_a_limit_cut_is_not_run) {
    CHECK(answer_is(ALL, "<tool_call>{\"name\":\"read\",\"arguments\":{\"path\":\"a", 5, 20,
                    "length", "[!read {\"path\":\"a]"));
    CHECK(answer_is(ALL, "<tool_call>{\"name\":\"read\",\"arg", 5, 20, "length", "[!read {]"));
    CHECK(answer_is(ALL, "<tool_call>{\"na", 5, 12, "length", "<tool_call>{\"na"));
    CHECK(answer_is(ALL, "<function=read><parameter=path>a", 5, 20, "length", "[!read {]"));
    CHECK(answer_is(ALL, "{\"name\":\"read\",\"arguments\":{}}", 5, 20, "length",
                    "{\"name\":\"read\",\"arguments\":{}}"));
}

TEST(a_call_between_tags_that_cannot_be_read_is_given_to_the_loop_as_it_is) {
    CHECK(all_cuts(ALL, "<tool_call>{\"name\":\"read\",\"arguments\":{\"a\":x y}}</tool_call>",
                   "[read {\"a\":x y}]"));
}

TEST(calls_as_text_beside_real_ones_are_no_calls) {
    stream s;
    begin(&s, ALL);
    say(&s, "Hm <tool_", 9);
    stream_text(&s, "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\","
                    "\"function\":{\"name\":\"read\",\"arguments\":\"{}\"}}]}}]}\n\n");
    say(&s, "{\"name\":\"read\",\"arguments\":{}}", 30);
    stop(&s, "tool_calls");
    CHECK_EQ_STR(line(&s), "Hm <tool_|[read {}]|{\"name\":\"read\",\"arguments\":{}}");
    stream_free(&s);
}

TEST(a_tag_that_the_server_left_beside_a_real_call_is_dropped) {
    stream s;
    begin(&s, ALL);
    say(&s, "Hm.\n<tool_call>\n", 16);
    stream_text(&s, "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\","
                    "\"function\":{\"name\":\"read\",\"arguments\":\"{}\"}}]}}]}\n\n");
    stop(&s, "tool_calls");
    CHECK_EQ_STR(line(&s), "Hm.\n|[read {}]");
    stream_free(&s);
}

TEST(a_call_at_the_end_of_thinking_that_is_never_closed_is_a_call) {
    stream s;
    CHECK(all_cuts(ALL, "<think>a<tool_call>{\"name\":\"read\",\"arguments\":{}}</tool_call>",
                   "(a<tool_call>{\"name\":\"read\",\"arguments\":{}}</tool_call>)|[read {}]"));
    CHECK(answer_is(ALL, "<think><tool_call><function=read></function>", 9, 9, "stop",
                    "(<tool_call><function=read></function>)|[read {}]"));
    CHECK(answer_is(ALL, "<think><tool_call><function=nobody></function>", 9, 9, "stop",
                    "(<tool_call><function=nobody></function>)"));
    CHECK(answer_is(ALL, "<think><tool_call><function=read></function></tool_call></think>x", 9, 9,
                    "stop", "(<tool_call><function=read></function></tool_call>)|x"));
    begin(&s, ALL);
    stream_text(&s, "data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"a<tool_call>"
                    "<function=read></function></tool_call>\"}}]}\n\n");
    stop(&s, "stop");
    CHECK_EQ_STR(line(&s), "(a<tool_call><function=read></function></tool_call>)|[read {}]");
    CHECK_EQ_INT(s.message.stop_reason, PHI_STOP_REASON_TOOL_USE);
    stream_free(&s);
}

TEST(a_request_without_tools_has_no_calls) {
    stream s;
    begin(&s, ALL);
    s.assembly.tool_count = 0;
    say(&s, "<tool_call>{\"name\":\"read\"}</tool_call>", 38);
    CHECK_EQ_STR(shown, "<tool_call>{\"name\":\"read\"}</tool_call>");
    stop(&s, "stop");
    stream_free(&s);
}

TEST(whole_answers_are_split_too) {
    stream s;
    begin(&s, ALL);
    stream_whole(&s, "{\"choices\":[{\"message\":{\"content\":\"<think>a</think>b\\n<tool_call>"
                     "{\\\"name\\\":\\\"read\\\"}</tool_call>\"},\"finish_reason\":\"stop\"}]}");
    CHECK_EQ_STR(line(&s), "(a)|b\n|[read {}]");
    CHECK_EQ_INT(s.message.stop_reason, PHI_STOP_REASON_TOOL_USE);
    stream_free(&s);
    begin(&s, THINK);
    stream_whole(&s, "{\"choices\":[{\"message\":{\"content\":[{\"type\":\"text\",\"text\":"
                     "\"<think>a</think>b\"}]},\"finish_reason\":\"stop\"}]}");
    CHECK_EQ_STR(line(&s), "(a)|b");
    stream_free(&s);
}

TEST(an_answer_that_broke_off_shows_what_came_and_calls_nothing) {
    stream s;
    begin(&s, ALL);
    say(&s, "x <tool_call>{\"name\":\"read\",\"arguments\":{}}", 43);
    stream_end(&s);
    CHECK_EQ_STR(line(&s), "x <tool_call>{\"name\":\"read\",\"arguments\":{}}");
    CHECK(s.assembly.failure.kind != PHI_FAILURE_NONE);
    stream_free(&s);
}

/* ---- attacks ---- */

/* `count` times `unit`, in chunks of `chunk` bytes; the bytes of its texts. */
static size_t flood(uint64_t quirks, const char *unit, size_t count, size_t chunk) {
    size_t n = strlen(unit), i, total = 0;
    char *text = (char *)malloc(n * count);
    stream s;
    for (i = 0; i < count; i++) memcpy(text + i * n, unit, n);
    begin(&s, quirks);
    s.assembly.sink = NULL;
    for (i = 0; i < n * count; i += chunk)
        say(&s, text + i, n * count - i < chunk ? n * count - i : chunk);
    stop(&s, "stop");
    for (i = 0; i < s.assembly.count; i++) total += s.assembly.drafts[i].bytes.len;
    stream_free(&s);
    free(text);
    return total;
}

TEST(floods_of_tags_cost_no_more_than_their_bytes) {
    CHECK_EQ_INT(flood(ALL, "<", 1 << 20, 1 << 20), 1 << 20);
    CHECK_EQ_INT(flood(ALL, "<", 1 << 15, 1), 1 << 15);
    CHECK_EQ_INT(flood(ALL, "<think>", 1 << 15, 4096), 7 * (1 << 15) - 7);
    CHECK_EQ_INT(flood(ALL, "<tool_call>", 1 << 16, 4096), 11 << 16);
    CHECK_EQ_INT(flood(ALL, "<tool_call>\"{</tool_call>", 1 << 14, 4096), 25 << 14);
    CHECK_EQ_INT(flood(ALL, "{\"name\":\n", 1 << 15, 4096), 9 << 15);
    CHECK_EQ_INT(flood(ALL, "[\n", 1 << 16, 1 << 17), 2 << 16);
    CHECK_EQ_INT(flood(ALL, "```\n{\"name\":\n", 1 << 14, 100), 13 << 14);
    CHECK_EQ_INT(flood(ALL, "[TOOL_CALLS]{", 1 << 14, 100), 13 << 14);
}

/* Any mixture of tags, brackets, quotes and words, cut anywhere, is what it is when it comes whole. */
TEST(any_text_is_the_same_however_it_is_cut) {
    static const char *const parts[] = {"<think>",
                                        "</think>",
                                        "<tool_call>",
                                        "</tool_call>",
                                        "<function=read>",
                                        "</function>",
                                        "<parameter=path>",
                                        "</parameter>",
                                        "<|python_tag|>",
                                        "[TOOL_CALLS]",
                                        "{\"name\":\"read\",\"arguments\":{}}",
                                        "{\"name\":\"",
                                        "\"",
                                        "{",
                                        "}",
                                        "[",
                                        "]",
                                        "```",
                                        "`",
                                        "\n",
                                        " ",
                                        "a",
                                        "<",
                                        ";",
                                        "json",
                                        "[ARGS]",
                                        "\xc3\xa9"};
    static const uint64_t quirks[] = {ALL, ALL | PHI_QUIRK_THINK_OPEN, THINK, CALLS};
    static const char *const words[] = {"stop", "length"};
    uint32_t state = 7;
    int round;
    for (round = 0; round < 20000; round++) {
        uint32_t n = 1 + test_random(&state) % 12, i;
        uint64_t quirk = quirks[round % 4];
        const char *word = words[test_random(&state) % 8 == 0];
        char text[512] = "", want[4096];
        size_t len, at, next;
        stream s;
        for (i = 0; i < n; i++)
            strcat(text, parts[test_random(&state) % (sizeof parts / sizeof parts[0])]);
        len = strlen(text);
        begin(&s, quirk);
        say(&s, text, len);
        stop(&s, word);
        strcpy(want, line(&s));
        CHECK(shown_is_kept(&s));
        stream_free(&s);
        begin(&s, quirk);
        for (at = 0; at < len; at = next) {
            next = at + 1 + test_random(&state) % 9;
            if (next > len) next = len;
            say(&s, text + at, next - at);
        }
        stop(&s, word);
        if (!CHECK_EQ_STR(line(&s), want)) fprintf(stderr, "of %s\n", text);
        CHECK(shown_is_kept(&s));
        stream_free(&s);
    }
}

TEST(text_held_back_for_a_call_is_bounded) {
    stream s;
    char *x = (char *)malloc(1 << 16);
    size_t i;
    memset(x, 'x', 1 << 16);
    begin(&s, ALL);
    s.assembly.sink = NULL;
    say(&s, "<tool_call>{\"", 13);
    for (i = 0; i < 17; i++) say(&s, x, 1 << 16);
    CHECK_EQ_INT(s.assembly.count, 1);
    CHECK(s.assembly.drafts[0].bytes.len > 1 << 20);
    CHECK(s.assembly.held.bytes.len < 1 << 16);
    stream_end(&s);
    stream_free(&s);
    free(x);
}

/* A call with many parameters; its processor time in milliseconds. */
static double parameters(const char *head, const char *one, size_t count, const char *tail) {
    size_t each = strlen(one), n = strlen(head), i;
    char *text = (char *)malloc(n + each * count + strlen(tail) + 1);
    clock_t start = clock();
    stream s;
    memcpy(text, head, n);
    for (i = 0; i < count; i++, n += each) memcpy(text + n, one, each);
    memcpy(text + n, tail, strlen(tail) + 1);
    begin(&s, ALL);
    say(&s, text, strlen(text));
    stop(&s, "stop");
    CHECK_EQ_INT(s.assembly.count, 1);
    CHECK_EQ_INT(s.assembly.drafts[0].kind, PHI_CONTENT_TOOL_CALL);
    stream_free(&s);
    free(text);
    return (double)(clock() - start) * 1000 / CLOCKS_PER_SEC;
}

TEST(tens_of_thousands_of_parameters_are_read_once) {
    CHECK(parameters("<function=read>", "<parameter=a>\n\n\n</parameter>", 32000, "</function>") <
          8000);
    CHECK(parameters("<function=read>", "\n<parameter=a>1", 64000, "</parameter></function>") <
          8000);
}

TEST(a_thousand_calls_of_one_function_take_the_memory_of_one_schema) {
    static char schema[40000];
    phi__tool_view tool = tools[0];
    size_t n = (size_t)sprintf(schema, "{\"type\":\"object\",\"properties\":{\"a\":{}"), i;
    stream s;
    for (i = 0; i < 1000; i++) n += (size_t)sprintf(schema + n, ",\"p%u\":{}", (unsigned)i);
    n += (size_t)sprintf(schema + n, "}}");
    tool.schema = phi__str(schema, n);
    begin(&s, ALL);
    s.assembly.tools = &tool;
    s.assembly.tool_count = 1;
    s.memory.limit_bytes = 4 << 20;
    for (i = 0; i < 1000; i++) say(&s, "<function=read></function>", 26);
    stop(&s, "stop");
    CHECK(!s.assembly.no_memory);
    CHECK_EQ_INT(s.assembly.count, 1000);
    stream_free(&s);
}

TEST(the_text_of_small_models_survives_every_failed_allocation) {
    int n = 0;
    bool tripped;
    do {
        stream s;
        test_alloc_fail_at(n);
        begin(&s, ALL);
        say(&s, "a</think>b<tool_call>{'name':'Read','arguments':{'path':'a',}}</tool_call>",
            strlen("a</think>b<tool_call>{'name':'Read','arguments':{'path':'a',}}</tool_call>"));
        say(&s, "<function=read><parameter=line>7</parameter></function>",
            strlen("<function=read><parameter=line>7</parameter></function>"));
        stop(&s, "stop");
        CHECK(s.assembly.no_memory || strcmp(line(&s), "(a)|b|[Read {\"path\":\"a\"}]|[read "
                                                       "{\"line\":7}]") == 0);
        stream_free(&s);
        tripped = test_alloc_tripped();
        n++;
    } while (tripped);
}

TEST_MAIN(TEST_ENTRY(thinking_between_tags_is_thinking_wherever_it_is_cut),
          TEST_ENTRY(thinking_that_is_never_closed_stays_thinking),
          TEST_ENTRY(text_before_a_closing_tag_alone_was_thinking),
          TEST_ENTRY(an_answer_begins_with_thinking_where_the_template_opens_the_tag),
          TEST_ENTRY(where_the_server_reads_the_thinking_no_tag_is_assumed),
          TEST_ENTRY(a_bracket_that_is_no_tag_is_shown_at_once), TEST_ENTRY(tags_in_code_are_text),
          TEST_ENTRY(without_the_quirks_tags_are_text),
          TEST_ENTRY(calls_between_tags_are_calls_wherever_they_are_cut),
          TEST_ENTRY(functions_with_parameters_take_their_types_from_the_schema),
          TEST_ENTRY(a_function_without_the_opening_tag_is_a_call_of_a_known_tool),
          TEST_ENTRY(calls_behind_a_token_reach_to_the_end),
          TEST_ENTRY(json_that_is_all_of_the_rest_is_a_call_of_a_known_tool),
          TEST_ENTRY(json_that_cannot_be_a_call_is_shown_at_once),
          TEST_ENTRY(other_templates_have_other_names_for_the_members),
          TEST_ENTRY(a_call_that_a_limit_cut_is_not_run),
          TEST_ENTRY(a_call_between_tags_that_cannot_be_read_is_given_to_the_loop_as_it_is),
          TEST_ENTRY(calls_as_text_beside_real_ones_are_no_calls),
          TEST_ENTRY(a_tag_that_the_server_left_beside_a_real_call_is_dropped),
          TEST_ENTRY(a_call_at_the_end_of_thinking_that_is_never_closed_is_a_call),
          TEST_ENTRY(a_request_without_tools_has_no_calls), TEST_ENTRY(whole_answers_are_split_too),
          TEST_ENTRY(an_answer_that_broke_off_shows_what_came_and_calls_nothing),
          TEST_ENTRY(floods_of_tags_cost_no_more_than_their_bytes),
          TEST_ENTRY(any_text_is_the_same_however_it_is_cut),
          TEST_ENTRY(text_held_back_for_a_call_is_bounded),
          TEST_ENTRY(tens_of_thousands_of_parameters_are_read_once),
          TEST_ENTRY(a_thousand_calls_of_one_function_take_the_memory_of_one_schema),
          TEST_ENTRY(the_text_of_small_models_survives_every_failed_allocation))
