/* test_repair.c - calls of small models, repaired or refused: the table of docs/local_models.md, and
   what is no row of it. */
#include "wire/codec_in.h"
#include "wire/wire_support.h"

static const char schema[] = "{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\"},"
                             "\"lines\":{\"type\":\"array\"}}}";
static const phi__tool_view tools[] = {
    {{"read", 4}, {NULL, 0}, {NULL, 0}, false, NULL, false, {NULL, 0}, false},
    {{"write_file", 10},
     {NULL, 0},
     {schema, sizeof schema - 1},
     false,
     NULL,
     false,
     {NULL, 0},
     false},
    {{"list_files", 10}, {NULL, 0}, {NULL, 0}, false, NULL, false, {NULL, 0}, false},
    {{"get_item", 8}, {NULL, 0}, {NULL, 0}, false, NULL, false, {NULL, 0}, false},
    {{"getItem", 7}, {NULL, 0}, {NULL, 0}, false, NULL, false, {NULL, 0}, false}};

static phi_memory memory;
static phi__assembly a;

/* An answer of one call, repaired. */
static void repair(uint64_t quirks, const char *name, const char *arguments) {
    phi_allocator allocator = test_allocator();
    size_t block;
    phi_memory_init(&memory, &allocator, 0);
    phi__assembly_init(&a, &memory);
    a.quirks = quirks;
    a.tools = tools;
    a.tool_count = 5;
    a.terminal = true;
    block = phi__assembly_open(&a, PHI_CONTENT_TOOL_CALL, 0);
    if (block == SIZE_MAX) return;
    phi__assembly_set(&a, &a.drafts[block].name, phi_str_of(name));
    phi__assembly_add(&a, block, phi_str_of(arguments));
    phi__assembly_close(&a, block);
    phi__assembly_finish(&a);
    phi__repair_calls(&a);
}

static bool call_is(const char *name, const char *arguments) {
    return phi__str_is(phi__buf_str(&a.drafts[0].name), name) &&
           phi__str_is(phi__buf_str(&a.drafts[0].bytes), arguments);
}

static bool note_is(const char *note) {
    bool same = phi__str_is(phi__buf_str(&a.drafts[0].note), note);
    if (!same) fprintf(stderr, "%.*s\n", (int)a.drafts[0].note.len, a.drafts[0].note.at);
    return same;
}

/* ---- the table of the page ---- */

typedef struct row {
    char span[4][200];
    int spans;
    bool refused;
} row;

/* Code spans of a line: without their backticks, with a bar for \| and a line feed for its sign. */
static void read_row(const char *line, const char *end, row *out) {
    memset(out, 0, sizeof *out);
    out->refused = end - line > 10 && memcmp(end - 10, "| refused ", 10) == 0;
    while (line < end && out->spans < 4) {
        int ticks = 0, n = 0;
        char *to = out->span[out->spans];
        while (line < end && *line != '`') line++;
        while (line < end && *line == '`') line++, ticks++;
        if (line == end) return;
        if (ticks > 1) line++;
        for (; line < end; line++) {
            int run = 0;
            while (line + run < end && line[run] == '`') run++;
            if (run == ticks) break;
            for (; run > 1; run--) to[n++] = *line++;
            if (line[0] == '\\' && line[1] == '|') line++;
            if (memcmp(line, "\xe2\x8f\x8e", 3) == 0) {
                to[n++] = '\n';
                line += 2;
            } else
                to[n++] = *line;
        }
        if (ticks > 1) to[n - 1] = '\0';
        line += ticks;
        out->spans++;
    }
}

TEST(each_row_of_the_page_is_repaired_or_refused) {
    size_t len = 0;
    char *page = test_read_file("docs/local_models.md", &len);
    const char *line = page != NULL ? strstr(page, "| fault | name |") : NULL;
    int rows = 0;
    CHECK(line != NULL);
    if (line == NULL) return;
    line = strchr(strchr(line, '\n') + 1, '\n') + 1;
    while (*line == '|') {
        const char *end = strchr(line, '\n');
        bool same;
        row r;
        read_row(line, end - 1, &r);
        CHECK_EQ_INT(r.spans, r.refused ? 2 : 4);
        repair(PHI_QUIRK_REPAIR_CALLS, r.span[0], r.span[1]);
        same = r.refused ? call_is(r.span[0], r.span[1]) && a.drafts[0].note.len == 0
                         : call_is(r.span[2], r.span[3]) &&
                               (a.drafts[0].note.len > 0) == (strcmp(r.span[0], r.span[2]) != 0 ||
                                                              strcmp(r.span[1], r.span[3]) != 0);
        CHECK(same);
        if (!same)
            fprintf(stderr, "%.*s\n%.*s\n", (int)(end - line), line, (int)a.drafts[0].bytes.len,
                    a.drafts[0].bytes.at);
        phi__assembly_free(&a);
        /* nothing without the quirk */
        repair(PHI_QUIRK_TEXT_CALLS, r.span[0], r.span[1]);
        CHECK(call_is(r.span[0], r.span[1]) && a.drafts[0].note.len == 0);
        phi__assembly_free(&a);
        line = end + 1;
        rows++;
    }
    CHECK(rows >= 30);
    free(page);
}

/* ---- what is no row ---- */

TEST(a_repair_says_all_that_was_done) {
    repair(PHI_QUIRK_REPAIR_CALLS, "functions.Read", "{'path':'a',}");
    CHECK(note_is("the name was \"functions.Read\", a comma came before a closing bracket, "
                  "strings had single quotes"));
    CHECK_EQ_INT(a.drafts[0].rewrites, 1);
    phi__assembly_free(&a);
    repair(PHI_QUIRK_REPAIR_CALLS, "read", "\"{path:True}}\"");
    CHECK(note_is("the arguments were inside a string, True, False or None were Python's, keys had "
                  "no quotes, there were too many closing brackets"));
    phi__assembly_free(&a);
}

TEST(a_long_name_is_not_cut_inside_a_character) {
    char name[210], want[240];
    memset(name, 'a', 199);
    memcpy(name + 199, "\xc3\xa9.read", 8);
    (void)snprintf(want, sizeof want, "the name was \"%.199s\"", name);
    repair(PHI_QUIRK_REPAIR_CALLS, name, "{}");
    CHECK(note_is(want));
    phi__assembly_free(&a);
}

TEST(the_words_of_each_repair) {
    static const struct {
        const char *arguments, *note;
    } rows[] = {{"{\"a\":\"b\"", "closing brackets were missing"},
                {"{\"a\":\"b\tc\"}", "a string had control characters"},
                {"{\"a\":\"\\*\"}", "a string had escapes that JSON has not"},
                {"```{}```", "the arguments were in a code fence"},
                {"{}{}", "the arguments came twice"},
                {"{} ok", "words came behind the arguments"},
                {"{\"lines\":\"[]\"}", "a list or an object was inside a string"},
                {"None", "the arguments were null"}};
    size_t i;
    for (i = 0; i < PHI__COUNT(rows); i++) {
        repair(PHI_QUIRK_REPAIR_CALLS, "write_file", rows[i].arguments);
        CHECK(note_is(rows[i].note));
        phi__assembly_free(&a);
    }
}

TEST(a_call_that_was_cut_is_not_repaired) {
    phi_allocator allocator = test_allocator();
    size_t block;
    phi_memory_init(&memory, &allocator, 0);
    phi__assembly_init(&a, &memory);
    a.quirks = PHI_QUIRK_REPAIR_CALLS;
    a.tools = tools;
    a.tool_count = 5;
    a.stop_reason = PHI_STOP_REASON_LENGTH;
    block = phi__assembly_open(&a, PHI_CONTENT_TOOL_CALL, 0);
    phi__assembly_set(&a, &a.drafts[block].name, phi_str_of("Read"));
    phi__assembly_add(&a, block, phi_str_of("{\"path\":\"a\""));
    phi__assembly_close(&a, block);
    phi__assembly_finish(&a);
    phi__repair_calls(&a);
    CHECK(a.drafts[0].incomplete);
    CHECK(call_is("Read", "{\"path\":\"a\""));
    phi__assembly_free(&a);
}

TEST(brackets_without_end_are_refused) {
    char *deep = (char *)malloc(1 << 20);
    memset(deep, '[', 1 << 20);
    memcpy(deep, "{\"a\":", 5);
    deep[(1 << 20) - 1] = '\0';
    repair(PHI_QUIRK_REPAIR_CALLS, "read", deep);
    CHECK_EQ_INT(a.drafts[0].note.len, 0);
    phi__assembly_free(&a);
    free(deep);
}

/* Anything that a repair gives is an object of JSON, whatever came. */
TEST(a_repair_gives_json_or_nothing) {
    static const char letters[] = "{}[]\"':,\\ aTrue1-.n\n`";
    uint32_t seed = 12345;
    int round, i;
    for (round = 0; round < 100000; round++) {
        char text[24];
        text[0] = '{';
        for (i = 1; i < 20; i++) {
            seed = seed * 1664525u + 1013904223u;
            text[i] = letters[(seed >> 8) % (sizeof letters - 1)];
        }
        text[20] = '\0';
        repair(PHI_QUIRK_REPAIR_CALLS, "read", text);
        if (a.drafts[0].note.len > 0) {
            phi_json *node = NULL;
            CHECK_EQ_INT(
                phi_json_parse(&a.scratch, phi__buf_str(&a.drafts[0].bytes), 0, &node, NULL),
                PHI_OK);
            CHECK(phi_json_is(node, PHI_JSON_OBJECT));
        }
        phi__assembly_free(&a);
    }
}

TEST(a_repair_survives_every_failed_allocation) {
    int n = 0;
    bool tripped;
    do {
        test_alloc_fail_at(n);
        repair(PHI_QUIRK_REPAIR_CALLS, "functions.Write_file", "\"{'lines':\\\"[1]\\\",}\"");
        CHECK(a.no_memory || call_is("write_file", "{\"lines\":[1]}"));
        phi__assembly_free(&a);
        tripped = test_alloc_tripped();
        n++;
    } while (tripped);
}

TEST_MAIN(TEST_ENTRY(each_row_of_the_page_is_repaired_or_refused),
          TEST_ENTRY(a_repair_says_all_that_was_done),
          TEST_ENTRY(a_long_name_is_not_cut_inside_a_character),
          TEST_ENTRY(the_words_of_each_repair), TEST_ENTRY(a_call_that_was_cut_is_not_repaired),
          TEST_ENTRY(brackets_without_end_are_refused), TEST_ENTRY(a_repair_gives_json_or_nothing),
          TEST_ENTRY(a_repair_survives_every_failed_allocation))
