/* test_texts.c - texts with their holes filled, how they are read again, and what is refused. */
#include "support/text_name.h"
#include "model/model_in.h"
#include "base/base_in.h"
#include "support/test.h"

static phi_memory memory;
static phi_arena arena;

static void begin(void) {
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
}

TEST(every_text_has_a_name_and_phis_own_words) {
    int i, j;
    for (i = 0; i < (int)PHI_TEXT_COUNT; i++) {
        CHECK(text_name((phi_text)i)[0] != '\0');
        CHECK(phi_text_default((phi_text)i, NULL)[0] != '\0');
        for (j = 0; j < i; j++) CHECK(strcmp(text_name((phi_text)i), text_name((phi_text)j)) != 0);
    }
    CHECK_EQ_STR(text_name(PHI_TEXT_FACTS), "facts");
    CHECK_EQ_STR(phi_text_default(PHI_TEXT_FACTS, NULL), "[What you know now]");
    CHECK_EQ_STR(text_name(PHI_TEXT_COUNT), "");
    CHECK(phi_text_default(PHI_TEXT_COUNT, NULL) == NULL);
}

TEST(the_tables_of_the_page_have_every_text_as_it_is) {
    static char page[40000];
    FILE *file = fopen("docs/texts.md", "r");
    size_t n;
    int i;
    REQUIRE(CHECK(file != NULL));
    n = fread(page, 1, sizeof page - 1, file);
    page[n] = '\0';
    (void)fclose(file);
    for (i = 0; i < (int)PHI_TEXT_COUNT; i++) {
        char row[1000];
        const char *from = phi_text_default((phi_text)i, NULL);
        size_t at = (size_t)snprintf(row, sizeof row, "| `%s` | `", text_name((phi_text)i));
        for (; *from != '\0' && at + 8 < sizeof row; from++) {
            if (*from == '\n') row[at++] = '\\';
            row[at++] = *from == '\n' ? 'n' : *from;
        }
        (void)snprintf(row + at, sizeof row - at, "` |");
        if (!CHECK(strstr(page, row) != NULL)) printf("no row %s\n", row);
    }
}

/* phi's own, or `text` in its place. */
static phi_str filled(phi_text which, const char *text, uint64_t n, const char *a, const char *b) {
    phi_texts texts;
    phi__texts_args args;
    phi_str out = {"", 0};
    memset(&texts, 0, sizeof texts);
    texts.at[which] = text;
    args.n = n;
    args.text = phi_str_of(a);
    args.name = phi_str_of(b);
    CHECK(phi__texts_make(&arena, &texts, which, &args, &out));
    return out;
}

TEST(numbers_texts_and_names_stand_in_their_places) {
    begin();
    CHECK_STR(filled(PHI_TEXT_REMOVED, NULL, 7, "", ""),
              "[Context compacted: 7 messages removed to fit context window]");
    CHECK_STR(filled(PHI_TEXT_REVERTED_SUMMARY, NULL, 12, "no key", "failure"),
              "[Reverted to step n12 (failure): no key]");
    CHECK_STR(filled(PHI_TEXT_IMAGE_CUT, NULL, 300, "", "20"),
              "[An image of 300 bytes was left out: at most 20 bytes are shown]");
    CHECK_STR(filled(PHI_TEXT_SUMMARY, "Kurz: {text}.", 0, "{n} wells", ""), "Kurz: {n} wells.");
    CHECK_STR(filled(PHI_TEXT_REMOVED, "{n}{n}{x}{ {n", 18446744073709551615u, "", ""),
              "1844674407370955161518446744073709551615{x}{ {n");
    CHECK_STR(filled(PHI_TEXT_REVERTED_SUMMARY, "{name} {text} {n}", 3, "b", "a"), "a b 3");
    CHECK_STR(filled(PHI_TEXT_PRUNED, "{n} {name} {text}", 0, "b", "a"), "{n} {name} b");
    phi_arena_free(&arena);
}

TEST(a_marker_is_read_in_the_hosts_words_and_in_phis) {
    static const struct {
        const char *host, *text;
        bool is;
        uint64_t n;
    } rows[] = {{NULL, "[... 12 earlier lines left out ...]", true, 12},
                {NULL, "[... 12 earlier lines left out ...] ", false, 0},
                {NULL, "[... x earlier lines left out ...]", false, 0},
                {NULL, "[...  earlier lines left out ...]", false, 0},
                {NULL, "", false, 0},
                {"{n} Zeilen fehlen", "3 Zeilen fehlen", true, 3},
                {"{n} Zeilen fehlen", "[... 12 earlier lines left out ...]", true, 12},
                {"{n} Zeilen fehlen", "99999999999999999999 Zeilen fehlen", false, 0},
                {"Zeilen fehlen", "Zeilen fehlen", true, 1},
                {"Zeilen fehlen", "Zeilen fehlen!", false, 0}};
    size_t i;
    for (i = 0; i < PHI__COUNT(rows); i++) {
        phi_texts texts;
        uint64_t n = 0;
        memset(&texts, 0, sizeof texts);
        texts.at[PHI_TEXT_SUMMARY_LEFT_OUT] = rows[i].host;
        CHECK_EQ_INT(phi__texts_is(&texts, PHI_TEXT_SUMMARY_LEFT_OUT, PHI_TEXT_COUNT,
                                   phi_str_of(rows[i].text), &n),
                     rows[i].is);
        if (rows[i].is) CHECK(n == rows[i].n);
    }
}

TEST(a_text_with_a_name_is_known_by_it_as_far_as_its_own_words_go) {
    static const struct {
        phi_text which, name;
        const char *text;
        bool is;
    } rows[] = {
        {PHI_TEXT_REVERTED, PHI_TEXT_REVERT_FAILURE, "[Reverted to step n4 (failure)]", true},
        {PHI_TEXT_REVERTED, PHI_TEXT_REVERT_TANGENT, "[Reverted to step n4 (failure)]", false},
        {PHI_TEXT_REVERTED, PHI_TEXT_REVERT_FAILURE, "[Reverted to step n4 (failure): x]", false},
        {PHI_TEXT_REVERTED_SUMMARY, PHI_TEXT_REVERT_FAILURE, "[Reverted to step n4 (failure): x]",
         true},
        {PHI_TEXT_REVERTED, PHI_TEXT_REVERT_FAILURE, "Patzer: zu 4", true},
        {PHI_TEXT_REVERTED, PHI_TEXT_REVERT_FAILURE, "failure: zu 4", false},
        {PHI_TEXT_SUMMARY, PHI_TEXT_COUNT, "[Summary] Ada", true},
        {PHI_TEXT_SUMMARY, PHI_TEXT_COUNT, "[Summary]Ada", false},
        {PHI_TEXT_SUMMARY, PHI_TEXT_COUNT, "Bisher: Ada", true},
        {PHI_TEXT_SUMMARY, PHI_TEXT_COUNT, "", false}};
    phi_texts texts;
    uint64_t n;
    size_t i;
    memset(&texts, 0, sizeof texts);
    texts.at[PHI_TEXT_REVERTED] = "{name}: zu {n}";
    texts.at[PHI_TEXT_REVERT_FAILURE] = "Patzer";
    texts.at[PHI_TEXT_SUMMARY] = "Bisher: {text}";
    texts.at[PHI_TEXT_PRUNED] = "{text} so weit";
    CHECK(!phi__texts_is(&texts, PHI_TEXT_PRUNED, PHI_TEXT_COUNT, PHI__LIT("Ada so weit"), &n));
    for (i = 0; i < PHI__COUNT(rows); i++)
        CHECK_EQ_INT(
            phi__texts_is(&texts, rows[i].which, rows[i].name, phi_str_of(rows[i].text), &n),
            rows[i].is);
}

static char *many(char c, size_t n) {
    static char out[5000];
    memset(out, c, n);
    out[n] = '\0';
    return out;
}

TEST(what_cannot_be_a_text_is_refused_by_its_name) {
    static const struct {
        phi_text which;
        const char *text, *words;
    } rows[] = {{PHI_TEXT_FACTS, "", "texts.facts: expected 1 to 4,096 bytes of UTF-8"},
                {PHI_TEXT_FACTS, "\xff", "texts.facts: expected 1 to 4,096 bytes of UTF-8"},
                {PHI_TEXT_SUMMARY, "Kurz:", "texts.summary: {text} is missing"},
                {PHI_TEXT_PRUNED, "Weg", "texts.pruned: {text} is missing"},
                {PHI_TEXT_SUMMARY, "Kurz:\n{text}", "texts.summary: expected one line"},
                {PHI_TEXT_SUMMARY_LEFT_OUT, "{n}\n", "texts.summary_left_out: expected one line"},
                {PHI_TEXT_STOPPED, "Schluss", NULL},
                {PHI_TEXT_REMOVED, "Weg\n", NULL}};
    phi_texts texts;
    char words[100];
    size_t i;
    CHECK(phi__texts_check(NULL, words, sizeof words) == NULL);
    for (i = 0; i < PHI__COUNT(rows); i++) {
        const char *fault;
        memset(&texts, 0, sizeof texts);
        texts.at[rows[i].which] = rows[i].text;
        fault = phi__texts_check(&texts, words, sizeof words);
        if (CHECK_EQ_INT(fault == NULL, rows[i].words == NULL) && fault != NULL)
            CHECK_EQ_STR(fault, rows[i].words);
    }
    memset(&texts, 0, sizeof texts);
    texts.at[PHI_TEXT_FACTS] = many('x', 4096);
    CHECK(phi__texts_check(&texts, words, sizeof words) == NULL);
    texts.at[PHI_TEXT_FACTS] = many('x', 4097);
    CHECK(phi__texts_check(&texts, words, sizeof words) != NULL);
}

TEST(a_copy_has_strings_of_its_own) {
    char text[] = "Neu";
    phi_texts texts;
    phi_texts *copy;
    begin();
    memset(&texts, 0, sizeof texts);
    texts.at[PHI_TEXT_FACTS_CHANGED] = text;
    copy = phi__texts_copy(&texts, &arena);
    text[0] = 'X';
    REQUIRE(CHECK(copy != NULL));
    CHECK_EQ_STR(phi__texts_get(copy, PHI_TEXT_FACTS_CHANGED), "Neu");
    CHECK_EQ_STR(phi__texts_get(copy, PHI_TEXT_FACTS), "[What you know now]");
    phi_arena_free(&arena);
}

TEST_MAIN(TEST_ENTRY(every_text_has_a_name_and_phis_own_words),
          TEST_ENTRY(the_tables_of_the_page_have_every_text_as_it_is),
          TEST_ENTRY(numbers_texts_and_names_stand_in_their_places),
          TEST_ENTRY(a_marker_is_read_in_the_hosts_words_and_in_phis),
          TEST_ENTRY(a_text_with_a_name_is_known_by_it_as_far_as_its_own_words_go),
          TEST_ENTRY(what_cannot_be_a_text_is_refused_by_its_name),
          TEST_ENTRY(a_copy_has_strings_of_its_own))
