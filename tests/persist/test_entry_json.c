/* test_entry_json.c - entries as text: every field comes back, and what could not have been written is refused. */
#include "persist/journal_in.h"
#include "log/random_log.h"
#include "persist/store.h"
#include "support/thread_text.h"

static phi_memory memory;
static phi_thread thread, again;
static phi_arena arena;

static void setup(void) {
    phi_allocator a = test_allocator();
    phi_memory_init(&memory, &a, 0);
    phi__thread_init(&thread, &memory, NULL);
    phi__thread_init(&again, &memory, NULL);
    phi_arena_init(&arena, &memory, 0);
}

static void teardown(void) {
    phi__journal_free_thread(&thread);
    phi__journal_free_thread(&again);
    phi_arena_free(&arena);
    CHECK_EQ_INT(memory.used_bytes, 0);
}

static phi_thread *of(phi_thread *log) { return log; }

static phi_str text_of(phi_thread *log) {
    phi_str text = {"", 0};
    CHECK_EQ_INT(phi_thread_to_json(of(log), &arena, &text), PHI_OK);
    return text;
}

/* Line i of the thread's text, from 0; the header is not counted. */
static const char *line(size_t i) {
    phi_str text = text_of(&thread), copy = {"", 0};
    const char *at = text.at, *end;
    for (i++; i > 0; i--) at = strchr(at, '\n') + 1;
    end = strchr(at, '\n');
    CHECK(phi__arena_str(&arena, phi__str(at, (size_t)(end - at)), &copy));
    return copy.at;
}

static bool append(const phi_message *m) {
    return phi_thread_append(of(&thread), m, 1, NULL) == PHI_OK;
}

static phi_message message_of(phi_role role, const phi_content *content) {
    phi_message m;
    memset(&m, 0, sizeof m);
    m.role = role;
    m.content = content;
    m.content_count = content != NULL ? 1 : 0;
    return m;
}

static phi_content text_block(const char *text) {
    phi_content c;
    memset(&c, 0, sizeof c);
    c.kind = PHI_CONTENT_TEXT;
    c.text = phi_str_of(text);
    return c;
}

/* ---- the same again ---- */

static bool same_message(const phi_message *a, const phi_message *b);

static bool same_content(const phi_content *a, const phi_content *b) {
    return a->kind == b->kind && a->redacted == b->redacted && a->incomplete == b->incomplete &&
           phi_str_equal(a->text, b->text) && phi_str_equal(a->data, b->data) &&
           phi_str_equal(a->mime_type, b->mime_type) && phi_str_equal(a->id, b->id) &&
           phi_str_equal(a->name, b->name) && phi_str_equal(a->arguments, b->arguments) &&
           phi_str_equal(a->signature, b->signature) && phi_str_equal(a->replay, b->replay);
}

static bool same_message(const phi_message *a, const phi_message *b) {
    size_t i;
    bool same = a->role == b->role && a->content_count == b->content_count &&
                a->timestamp_ms == b->timestamp_ms && phi_str_equal(a->loop_id, b->loop_id) &&
                a->turn_index == b->turn_index && a->stop_reason == b->stop_reason &&
                phi_str_equal(a->raw_stop_reason, b->raw_stop_reason) &&
                phi_str_equal(a->model, b->model) && phi_str_equal(a->provider, b->provider) &&
                phi_str_equal(a->protocol, b->protocol) &&
                memcmp(&a->usage, &b->usage, sizeof a->usage) == 0 &&
                phi_str_equal(a->error_message, b->error_message) &&
                phi_str_equal(a->tool_call_id, b->tool_call_id) &&
                phi_str_equal(a->tool_name, b->tool_name) && a->is_error == b->is_error &&
                phi_str_equal(a->details, b->details) &&
                phi_str_equal(a->extension_kind, b->extension_kind) &&
                phi_str_equal(a->extension_data, b->extension_data) &&
                (a->extra == NULL) == (b->extra == NULL);
    if (same && a->extra != NULL)
        same = phi_str_equal(a->extra->node_id, b->extra->node_id) &&
               phi_str_equal(a->extra->parent_id, b->extra->parent_id) &&
               phi_str_equal(a->extra->tags, b->extra->tags) &&
               phi_str_equal(a->extra->provenance_hint, b->extra->provenance_hint) &&
               phi_str_equal(a->extra->role, b->extra->role);
    for (i = 0; same && i < a->content_count; i++)
        same = same_content(&a->content[i], &b->content[i]);
    return same;
}

static bool same_fold(const phi__fold *a, const phi__fold *b) {
    size_t i;
    if (a->count != b->count || a->tokens != b->tokens) return false;
    for (i = 0; i < a->count; i++)
        if (a->items[i].from != b->items[i].from || a->items[i].to != b->items[i].to ||
            a->items[i].flags != b->items[i].flags ||
            !same_message(a->items[i].message, b->items[i].message))
            return false;
    return true;
}

/* Both as they stand, and every lane's fold after every entry. */
static bool same_thread(phi_thread *a, phi_thread *b, bool every_point) {
    uint32_t lane;
    uint64_t upto;
    bool same = a->log.count == b->log.count && a->lanes.active == b->lanes.active &&
                a->counted.usage.output == b->counted.usage.output &&
                a->messages.count == b->messages.count &&
                a->counted.ids.count == b->counted.ids.count &&
                phi__thread_lanes(a) == phi__thread_lanes(b) && same_fold(&a->fold, &b->fold);
    for (lane = 0; same && every_point && lane < phi__thread_lanes(a); lane++)
        for (upto = 0; same && upto < a->log.count; upto++) {
            phi__fold x, y;
            if (phi__fold_lane(a, lane, upto, &x) != PHI_OK) return false;
            if (phi__fold_lane(b, lane, upto, &y) != PHI_OK) abort();
            same = same_fold(&x, &y);
            phi__fold_free(a->log.memory, &x);
            phi__fold_free(b->log.memory, &y);
        }
    return same;
}

/* Reads what thread was written as, and compares. */
static bool comes_back(void) {
    char words[200];
    phi_str text = text_of(&thread), second;
    if (!CHECK_EQ_INT(thread_from_json(of(&again), text, words, sizeof words), PHI_OK)) {
        printf("    %s\n%.*s\n", words, (int)text.len, text.at);
        return false;
    }
    second = text_of(&again);
    return CHECK(phi_str_equal(text, second)) && CHECK(same_thread(&thread, &again, true));
}

/* ---- tests ---- */

TEST(an_empty_thread_is_its_header) {
    setup();
    CHECK_STR(text_of(&thread), "{\"phi_thread\":1}\n");
    CHECK(comes_back());
    teardown();
}

TEST(a_message_is_written_as_the_interchange_format_has_it) {
    phi_content c;
    phi_message m;
    setup();
    c = text_block("two\nlines");
    m = message_of(PHI_ROLE_USER, &c);
    m.timestamp_ms = 7;
    CHECK(append(&m));
    CHECK_EQ_STR(
        line(0),
        "{\"seq\":0,\"kind\":\"message\",\"at\":0,\"message\":{\"role\":\"user\",\"content\":["
        "{\"type\":\"text\",\"text\":\"two\\nlines\"}],\"timestamp\":7}}");
    CHECK(comes_back());
    teardown();
}

TEST(what_the_interchange_format_loses_stands_beside_it) {
    phi_content c;
    phi_message m;
    setup();
    c = text_block("done");
    m = message_of(PHI_ROLE_TOOL_RESULT, &c);
    m.tool_call_id = phi_str_of("c1");
    m.tool_name = phi_str_of("echo");
    m.details = phi_str_of("{ \"exit\": 0 }");
    CHECK(append(&m));
    CHECK(strstr(line(0), ",\"more\":{\"details\":\"{ \\\"exit\\\": 0 }\"}}") != NULL);
    memset(&c, 0, sizeof c);
    c.kind = PHI_CONTENT_TOOL_CALL;
    c.id = phi_str_of("c2");
    c.name = phi_str_of("echo");
    c.arguments = phi_str_of("{ \"a\": 1 }");
    c.replay = phi_str_of("{\"same\":1}");
    m = message_of(PHI_ROLE_ASSISTANT, &c);
    m.raw_stop_reason = phi_str_of("tool_use");
    CHECK(append(&m));
    CHECK(strstr(line(1),
                 ",\"more\":{\"unstopped\":true,\"raw_stop_reason\":\"tool_use\",\"exact\":["
                 "{\"block\":0,\"arguments\":\"{ \\\"a\\\": 1 }\"}]}}") != NULL);
    m = message_of(PHI_ROLE_EXTENSION, NULL);
    m.extension_kind = phi_str_of("note");
    m.extension_data = phi_str_of("[1, 2]");
    m.timestamp_ms = 12;
    m.turn_index = 3;
    CHECK(append(&m));
    CHECK(strstr(line(2), ",\"more\":{\"turn\":3,\"timestamp\":12,\"data\":\"[1, 2]\"}}") != NULL);
    CHECK(comes_back());
    CHECK_STR(again.messages.at[1]->message->content[0].arguments, "{ \"a\": 1 }");
    CHECK_STR(again.messages.at[0]->message->details, "{ \"exit\": 0 }");
    teardown();
}

TEST(string_arguments_and_what_the_original_keeps_come_back) {
    static const char *const arguments[] = {"\"{\\\"a\\\":1}\"", "\"5\"", "\"\\u0035\"", "\"\"",
                                            "\"\\\"5\\\"\"",     "ls"};
    phi_message_extra extra;
    phi_content c;
    phi_message m;
    size_t i;
    setup();
    memset(&extra, 0, sizeof extra);
    extra.node_id = phi_str_of("4");
    extra.tags = phi_str_of("[1]");
    for (i = 0; i < sizeof arguments / sizeof arguments[0]; i++) {
        char id[8];
        memset(&c, 0, sizeof c);
        (void)snprintf(id, sizeof id, "c%d", (int)i);
        c.kind = PHI_CONTENT_TOOL_CALL;
        c.id = phi_str_of(id);
        c.name = phi_str_of("echo");
        c.arguments = phi_str_of(arguments[i]);
        m = message_of(PHI_ROLE_ASSISTANT, &c);
        m.extra = i == 0 ? &extra : NULL;
        CHECK(append(&m));
    }
    memset(&extra, 0, sizeof extra);
    extra.role = phi_str_of("ui");
    m = message_of(PHI_ROLE_EXTENSION, NULL);
    m.extension_kind = phi_str_of("note");
    m.extra = &extra;
    CHECK(append(&m));
    CHECK(comes_back());
    teardown();
}

TEST(lanes_switches_and_rewrites_are_told_by_name) {
    phi_content c;
    phi_message m;
    phi_rewrite r;
    phi_span span;
    setup();
    c = text_block("hi");
    m = message_of(PHI_ROLE_USER, &c);
    CHECK(append(&m));
    CHECK_EQ_INT(phi_thread_fork_lane(of(&thread), "other", NULL, UINT64_MAX), PHI_OK);
    CHECK_EQ_INT(phi_thread_switch(of(&thread), "other"), PHI_OK);
    memset(&r, 0, sizeof r);
    memset(&span, 0, sizeof span);
    span.messages = &m;
    span.message_count = 1;
    span.summary = true;
    r.op_id = "mine";
    r.lane = "default";
    r.reason = PHI_REWRITE_COMPACTION;
    r.spans = &span;
    r.span_count = 1;
    r.meta = "{}";
    CHECK_EQ_INT(phi_thread_rewrite(of(&thread), &r, NULL, NULL, 0), PHI_OK);
    memset(&r, 0, sizeof r);
    r.revoke = "mine";
    r.lane = "default";
    CHECK_EQ_INT(phi_thread_rewrite(of(&thread), &r, NULL, NULL, 0), PHI_OK);
    CHECK_EQ_STR(line(1), "{\"seq\":1,\"kind\":\"lane\",\"at\":0,\"lane\":\"other\",\"parent\":"
                          "\"default\",\"fork_seq\":0}");
    CHECK_EQ_STR(line(2), "{\"seq\":2,\"kind\":\"switch\",\"at\":0,\"lane\":\"other\"}");
    CHECK_EQ_STR(line(3),
                 "{\"seq\":3,\"kind\":\"rewrite\",\"at\":0,\"op_id\":\"mine\",\"reason\":"
                 "\"compaction\",\"base_seq\":2,"
                 "\"meta\":\"{}\",\"spans\":[{\"from\":0,\"to\":0,\"summary\":true,\"messages\":[{"
                 "\"message\":{\"role\":\"user\","
                 "\"content\":[{\"type\":\"text\",\"text\":\"hi\"}],\"timestamp\":0}}]}]}");
    CHECK_EQ_STR(line(4), "{\"seq\":4,\"kind\":\"rewrite\",\"at\":0,\"op_id\":\"op-4\",\"reason\":"
                          "\"manual\",\"base_seq\":3,"
                          "\"revoke\":\"mine\",\"spans\":[]}");
    CHECK(comes_back());
    CHECK_EQ_INT(phi_thread_rewrite(of(&again), &r, NULL, NULL, 0),
                 PHI_NOT_FOUND); /* it is revoked */
    teardown();
}

TEST(a_rewrite_that_switches_says_where_to) {
    phi_rewrite r;
    setup();
    memset(&r, 0, sizeof r);
    r.op_id = "go";
    r.switch_to = "new";
    CHECK_EQ_INT(phi_thread_rewrite(of(&thread), &r, NULL, NULL, 0), PHI_OK);
    CHECK_EQ_STR(line(0), "{\"seq\":0,\"kind\":\"lane\",\"at\":0,\"lane\":\"new\"}");
    CHECK_EQ_STR(line(1), "{\"seq\":1,\"kind\":\"rewrite\",\"at\":0,\"op_id\":\"go\",\"reason\":"
                          "\"manual\",\"base_seq\":0,\"switch_to\":\"new\",\"spans\":[]}");
    CHECK(comes_back());
    teardown();
}

TEST(any_log_comes_back_the_same_and_is_written_the_same) {
    uint32_t seed;
    for (seed = 1; seed <= 200; seed++) {
        random_log g;
        setup();
        memset(&g, 0, sizeof g);
        g.thread = &thread;
        g.state = seed;
        CHECK(log_grow(&g, 4 + seed % 40));
        if (!comes_back()) {
            printf("    seed %u\n", (unsigned)seed);
            seed = 1000;
        }
        teardown();
    }
}

TEST(a_log_that_was_read_goes_on_like_the_one_it_was) {
    uint32_t seed;
    for (seed = 1; seed <= 60; seed++) {
        random_log a, b;
        setup();
        memset(&a, 0, sizeof a);
        a.thread = &thread;
        a.state = seed;
        CHECK(log_grow(&a, 20));
        if (!comes_back()) seed = 1000;
        b = a;
        b.thread = &again;
        CHECK(log_grow(&a, 20));
        CHECK(log_grow(&b, 20));
        if (!CHECK(phi_str_equal(text_of(&thread), text_of(&again)))) seed = 1000;
        teardown();
    }
}

TEST(cut_at_any_byte_what_is_left_is_read_or_refused) {
    random_log g;
    phi_str text;
    size_t cut;
    setup();
    memset(&g, 0, sizeof g);
    g.thread = &thread;
    g.state = 3;
    CHECK(log_grow(&g, 12));
    text = text_of(&thread);
    for (cut = 0; cut < text.len; cut++) {
        char words[200];
        phi_status status =
            thread_from_json(of(&again), phi__str(text.at, cut), words, sizeof words);
        bool whole = cut > 0 && (text.at[cut] == '\n' || text.at[cut - 1] == '\n');
        if (!CHECK_EQ_INT(status, whole ? PHI_OK : PHI_PARSE)) break;
        if (status != PHI_OK) CHECK(strncmp(words, "line ", 5) == 0 && again.log.count == 0);
        phi__journal_free_thread(&again);
    }
    teardown();
}

/* A message without a run keeps its own turn. */
TEST(a_turn_beside_a_message_that_is_too_large_is_the_largest) {
    static const struct {
        const char *turn;
        uint32_t want;
    } rows[] = {{"4294967295", UINT32_MAX},
                {"4294967296", UINT32_MAX},
                {"4294967299", UINT32_MAX},
                {"7", 7}};
    for (size_t i = 0; i < PHI__COUNT(rows); i++) {
        char text[400], words[200];
        setup();
        (void)snprintf(text, sizeof text,
                       "{\"phi_thread\":1}\n{\"seq\":0,\"kind\":\"message\",\"message\":{\"role\":"
                       "\"user\",\"content\":[{\"type\":\"text\",\"text\":\"hi\"}]},\"more\":{"
                       "\"turn\":%s}}\n",
                       rows[i].turn);
        CHECK_EQ_INT(thread_from_json(of(&again), phi_str_of(text), words, sizeof words), PHI_OK);
        if (CHECK_EQ_INT(again.messages.count, 1))
            CHECK_EQ_INT(again.messages.at[0]->message->turn_index, rows[i].want);
        teardown();
    }
}

/* ---- what is refused ---- */

static void refused(const char *lines, const char *want) {
    char text[2000], words[300];
    (void)snprintf(text, sizeof text, "{\"phi_thread\":1}\n%s\n", lines);
    CHECK_EQ_INT(thread_from_json(of(&again), phi_str_of(text), words, sizeof words), PHI_PARSE);
    CHECK_EQ_STR(words, want);
    CHECK_EQ_INT(again.log.count, 0);
}

#define HI                                                                                         \
    "{\"seq\":0,\"kind\":\"message\",\"message\":{\"role\":\"user\",\"content\":[{\"type\":"       \
    "\"text\",\"text\":\"hi\"}]}}\n"

TEST(what_could_not_have_been_written_is_refused_with_words) {
    char words[200];
    setup();
    CHECK_EQ_INT(thread_from_json(of(&again), phi_str_of(""), words, sizeof words), PHI_PARSE);
    CHECK_EQ_STR(words, "line 1: expected the header of a thread, {\"phi_thread\":1}");
    CHECK_EQ_INT(
        thread_from_json(of(&again), phi_str_of("{\"phi_thread\":2}"), words, sizeof words),
        PHI_PARSE);
    refused("{", "line 2: column 2: expected a key in quotes or '}', found the end of the text");
    refused("[]", "line 2: expected an object: an entry");
    refused("{\"seq\":1}", "line 2: seq: expected 0");
    refused("{\"seq\":0}", "line 2: kind is none of its words");
    refused("{\"seq\":0,\"kind\":\"turn_end\",\"turn\":4294967296}",
            "line 2: turn is larger than there are turns");
    refused("{\"seq\":0,\"kind\":\"turn_end\",\"lane\":\"x\"}", "line 2: no lane \"x\"");
    refused("{\"seq\":0,\"kind\":\"lane\"}", "line 2: lane is missing");
    refused("{\"seq\":0,\"kind\":\"lane\",\"lane\":\"default\"}",
            "line 2: lane \"default\" is there already");
    refused("{\"seq\":0,\"kind\":\"lane\",\"lane\":\"a\",\"parent\":\"b\"}",
            "line 2: parent: no lane \"b\"");
    refused("{\"seq\":0,\"kind\":\"lane\",\"lane\":\"a\",\"parent\":\"default\",\"fork_seq\":0}",
            "line 2: fork_seq is 0, there are 0 entries");
    refused("{\"seq\":0,\"kind\":\"lane\",\"lane\":\"a\"}\n{\"seq\":1,\"kind\":\"turn_end\","
            "\"lane\":\"a\"}",
            "line 3: lane \"a\" is not the active one");
    refused("{\"seq\":0,\"kind\":\"switch\"}", "line 2: the lane is the active one already");
    refused("{\"seq\":0,\"kind\":\"message\"}", "line 2: message is missing");
    refused("{\"seq\":0,\"kind\":\"message\",\"message\":{\"role\":\"user\"}}",
            "line 2: message: content: expected an array of blocks");
    refused("{\"seq\":0,\"kind\":\"message\",\"message\":{\"role\":\"user\",\"content\":[]},"
            "\"more\":{\"exact\":[{\"block\":0}]}}",
            "line 2: exact: there is no such block of the message");
    refused("{\"seq\":0,\"kind\":\"message\",\"message\":{\"role\":\"x\",\"kind\":\"k\",\"data\":1}"
            ",\"more\":{\"content\":1}}",
            "line 2: more: content: expected an array of blocks");
    refused("{\"seq\":0,\"kind\":\"loop_start\",\"info\":{}}",
            "line 2: info.continuation is none of its words");
    refused("{\"seq\":0,\"kind\":\"loop_end\",\"status\":1}",
            "line 2: status: expected a phi_status");
    refused("{\"seq\":0,\"kind\":\"turn_start\",\"trigger\":\"x\"}",
            "line 2: trigger is none of its words");
    refused("{\"seq\":0,\"kind\":\"note\"}", "line 2: name is missing");
    refused("{\"seq\":0,\"kind\":\"note\",\"name\":\"n\",\"json\":\"{\"}",
            "line 2: json: expected a key in quotes or '}', found the end of the text");
    refused("{\"seq\":0,\"kind\":\"rewrite\"}", "line 2: op_id is missing");
    refused("{\"seq\":0,\"kind\":\"rewrite\",\"op_id\":\"a\\u0000\"}",
            "line 2: op_id: it holds a zero byte");
    refused("{\"seq\":0,\"kind\":\"rewrite\",\"op_id\":\"\",\"reason\":\"manual\"}",
            "line 2: op_id is empty");
    refused("{\"seq\":0,\"kind\":\"rewrite\",\"op_id\":\"a\"}",
            "line 2: reason is none of its words");
    refused("{\"seq\":0,\"kind\":\"rewrite\",\"op_id\":\"a\",\"reason\":\"manual\",\"switch_to\":"
            "\"b\"}",
            "line 2: switch_to: no lane \"b\"");
    refused("{\"seq\":0,\"kind\":\"rewrite\",\"op_id\":\"a\",\"reason\":\"manual\",\"switch_to\":"
            "\"default\",\"revoke\":\"b\"}",
            "line 2: rewrite: revoke comes without switch_to");
    refused(HI
            "{\"seq\":1,\"kind\":\"rewrite\",\"op_id\":\"a\",\"reason\":\"manual\",\"spans\":[{}]}",
            "line 3: spans: from or to is missing");
    refused(HI "{\"seq\":1,\"kind\":\"rewrite\",\"op_id\":\"a\",\"reason\":\"manual\",\"spans\":[{"
               "\"from\":0,\"to\":1}]}",
            "line 3: rewrite: spans[0]: 0 to 1, expected up to base_seq 0");
    refused(HI "{\"seq\":1,\"kind\":\"rewrite\",\"op_id\":\"a\",\"reason\":\"manual\"}\n"
               "{\"seq\":2,\"kind\":\"rewrite\",\"op_id\":\"a\",\"reason\":\"manual\"}",
            "line 4: op_id \"a\" is there already");
    teardown();
}

/* Of run a nothing came after its second turn: it was killed. b knows of an attempt that no turn tells of. */
TEST(turns_of_a_run_that_was_killed_count_and_none_counts_twice) {
    char words[200] = "";
    setup();
    CHECK_EQ_INT(
        thread_from_json(
            of(&again),
            phi_str_of(
                "{\"phi_thread\":1}\n"
                "{\"seq\":0,\"kind\":\"loop_start\",\"loop\":\"a\"}\n"
                "{\"seq\":1,\"kind\":\"turn_end\",\"loop\":\"a\",\"usage\":{\"output\":5}}\n"
                "{\"seq\":2,\"kind\":\"turn_end\",\"loop\":\"a\",\"turn\":1,\"usage\":{\"output\":"
                "7}}\n"
                "{\"seq\":3,\"kind\":\"loop_start\",\"loop\":\"b\"}\n"
                "{\"seq\":4,\"kind\":\"turn_end\",\"loop\":\"b\",\"usage\":{\"output\":20}}\n"
                "{\"seq\":5,\"kind\":\"loop_end\",\"loop\":\"b\",\"status\":0,\"usage\":{"
                "\"output\":23}}\n"),
            words, sizeof words),
        PHI_OK);
    CHECK_EQ_STR(words, "");
    CHECK_EQ_INT((int)phi_thread_get_info(of(&again)).usage.output, 5 + 7 + 23);
    teardown();
}

TEST(a_thread_that_has_entries_reads_nothing) {
    phi_content c;
    phi_message m;
    setup();
    c = text_block("hi");
    m = message_of(PHI_ROLE_USER, &c);
    CHECK(append(&m));
    CHECK_EQ_INT(phi_thread_from_json(of(&thread), phi_str_of("{\"phi_thread\":1}"), NULL),
                 PHI_MISUSE);
    CHECK_EQ_INT(thread.log.count, 1);
    teardown();
}

TEST(calls_of_a_log_that_was_read_keep_their_ids_to_themselves) {
    phi_content c;
    phi_message m;
    setup();
    memset(&c, 0, sizeof c);
    c.kind = PHI_CONTENT_TOOL_CALL;
    c.id = phi_str_of("c1");
    m = message_of(PHI_ROLE_ASSISTANT, &c);
    CHECK(append(&m));
    CHECK(comes_back());
    CHECK_EQ_INT(phi__append_claim_id(&again, phi_str_of("c1")), PHI_FULL);
    CHECK_EQ_INT(phi__append_claim_id(&again, phi_str_of("c2")), PHI_OK);
    teardown();
}

TEST(without_memory_nothing_is_written_or_read_and_nothing_is_lost) {
    int n = 0;
    do {
        random_log g;
        phi_str text = {"", 0};
        phi_status status;
        setup();
        memset(&g, 0, sizeof g);
        g.thread = &thread;
        g.state = 11;
        CHECK(log_grow(&g, 25));
        test_alloc_fail_at(n);
        status = phi_thread_to_json(of(&thread), &arena, &text);
        if (status == PHI_OK) status = phi_thread_from_json(of(&again), text, NULL);
        CHECK_EQ_INT(status, test_alloc_tripped() ? PHI_NO_MEMORY : PHI_OK);
        if (status != PHI_OK) CHECK_EQ_INT(again.log.count, 0);
        test_alloc_fail_at(-1);
        teardown();
        if (status == PHI_OK) break;
    } while (++n < 5000);
    CHECK(n > 30 && n < 5000);
}

TEST_MAIN(TEST_ENTRY(an_empty_thread_is_its_header),
          TEST_ENTRY(a_message_is_written_as_the_interchange_format_has_it),
          TEST_ENTRY(what_the_interchange_format_loses_stands_beside_it),
          TEST_ENTRY(string_arguments_and_what_the_original_keeps_come_back),
          TEST_ENTRY(lanes_switches_and_rewrites_are_told_by_name),
          TEST_ENTRY(a_rewrite_that_switches_says_where_to),
          TEST_ENTRY(any_log_comes_back_the_same_and_is_written_the_same),
          TEST_ENTRY(a_log_that_was_read_goes_on_like_the_one_it_was),
          TEST_ENTRY(cut_at_any_byte_what_is_left_is_read_or_refused),
          TEST_ENTRY(a_turn_beside_a_message_that_is_too_large_is_the_largest),
          TEST_ENTRY(what_could_not_have_been_written_is_refused_with_words),
          TEST_ENTRY(turns_of_a_run_that_was_killed_count_and_none_counts_twice),
          TEST_ENTRY(a_thread_that_has_entries_reads_nothing),
          TEST_ENTRY(calls_of_a_log_that_was_read_keep_their_ids_to_themselves),
          TEST_ENTRY(without_memory_nothing_is_written_or_read_and_nothing_is_lost))
