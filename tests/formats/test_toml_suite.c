/* test_toml_suite.c - the official suite's cases of TOML 1.0.0 (tests/formats/toml_suite.txt): every
   valid text is read as its JSON says, and comes back from the writer and the editor; every
   invalid one is refused with a place. */
#include "support/test.h"
#include "support/toml_suite.h"
#include "text/json_in.h"
#include "formats/toml.h"
#include "formats/reader_in.h"

#include <math.h>

static phi_memory memory;
static phi_arena arena;

static void setup(void) {
    phi_allocator allocator = test_allocator();
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
}

static void teardown(void) { phi_arena_free(&arena); }

static phi_status read_sliced(phi_str text, size_t units, phi_json **out, phi_parse_error *error) {
    phi_reader *reader;
    phi_status status;
    char *exact = (char *)malloc(text.len > 0 ? text.len : 1);
    if (exact == NULL) abort();
    if (text.len > 0) memcpy(exact, text.at, text.len);
    reader = phi_toml_reader_new(&arena, phi__str(exact, text.len), NULL);
    while (phi_reader_advance(reader, units) == PHI_BUSY) continue;
    status = phi_reader_result(reader, out, error);
    free(exact);
    return status;
}

/* ---- trees against tagged JSON ---- */

static bool same_float(double d, const char *text) {
    double want = strstr(text, "inf") != NULL ? (double)INFINITY : strtod(text, NULL);
    if (*text == '-' && want > 0) want = -want;
    if (strstr(text, "nan") != NULL) return isnan(d);
    return d == want && (signbit(d) != 0) == (signbit(want) != 0);
}

static bool same_date(const phi_json *node, phi_str text) {
    phi_toml_date a = PHI_ZERO, b = PHI_ZERO;
    phi_toml_type is = phi_toml_type_of(node, &a);
    return is == phi_toml_type_of(phi_toml_new_date(&arena, text), &b) && a.type == is &&
           b.type == is && a.year == b.year && a.month == b.month && a.day == b.day &&
           a.hour == b.hour && a.minute == b.minute && a.second == b.second &&
           a.nanosecond == b.nanosecond && a.offset_minutes == b.offset_minutes;
}

static bool same_scalar(const phi_json *node, const char *type, phi_str value) {
    static const char *const names[] = {
        "",           "string",     "integer", "float", "bool", "datetime", "datetime-local",
        "date-local", "time-local", "",        ""};
    phi_toml_type is = phi_toml_type_of(node, NULL);
    if (strcmp(names[is], type) != 0) return false;
    switch (is) {
    case PHI_TOML_STRING: return phi_str_equal(phi_json_str(node, NULL), value);
    case PHI_TOML_INTEGER: return phi_json_int(node, 1) == strtoll(value.at, NULL, 10);
    case PHI_TOML_FLOAT: return same_float(phi_json_num(node, 1), value.at);
    case PHI_TOML_BOOL: return phi_json_bool(node, false) == phi__str_is(value, "true");
    default: return same_date(node, value);
    }
}

static bool same_tagged(const phi_json *node, const phi_json *want) {
    const phi_json *type = phi_json_get(want, "type"), *value = phi_json_get(want, "value");
    phi_json_iter it = phi_json_each(want), of = phi_json_each(node);
    if (phi_json_is(type, PHI_JSON_STRING) && phi_json_is(value, PHI_JSON_STRING))
        return same_scalar(node, phi_json_str(type, NULL).at, phi_json_str(value, NULL));
    if (phi_json_type_of(node) != phi_json_type_of(want)) return false;
    if (phi_json_count(node) != phi_json_count(want)) return false;
    while (phi_json_next(&it) != NULL) {
        const phi_json *child = phi_json_next(&of);
        if (phi_json_is(node, PHI_JSON_OBJECT)) child = phi__json_get_n(node, it.key);
        if (!same_tagged(child, it.at)) return false;
    }
    return true;
}

/* What was read, written and read again. */
static bool comes_back(const phi_json *root, const phi_json *want) {
    phi_json *again = NULL;
    phi_str out;
    if (phi_toml_write(&arena, root, 0, &out) != PHI_OK) return false;
    if (phi_toml_parse(&arena, out, NULL, &again, NULL) == PHI_OK && same_tagged(again, want))
        return true;
    fprintf(stderr, "%s\n", out.at);
    return false;
}

/* ---- cases ---- */

static const size_t slices[] = {SIZE_MAX, 1, 2, 3, 5, 17};

static bool is_read(phi_str text, phi_str tagged) {
    size_t i;
    for (i = 0; i < PHI__COUNT(slices); i++) {
        phi_json *root = NULL, *want = NULL;
        phi_parse_error error;
        bool good;
        setup();
        good = phi_json_parse(&arena, tagged, 0, &want, NULL) == PHI_OK;
        good = good && read_sliced(text, slices[i], &root, &error) == PHI_OK;
        good = good && same_tagged(root, want);
        good = good && (i > 0 || comes_back(root, want));
        teardown();
        if (!good) return false;
    }
    return true;
}

static bool is_refused(phi_str text) {
    phi_parse_error first = PHI_ZERO, error;
    size_t i;
    for (i = 0; i < PHI__COUNT(slices); i++) {
        phi_json *root = NULL;
        bool good;
        setup();
        good = read_sliced(text, slices[i], &root, &error) == PHI_PARSE && root == NULL;
        teardown();
        if (i == 0) first = error;
        if (!good || error.line == 0 || error.column == 0 || error.message[0] == '\0') return false;
        if (error.line != first.line || error.column != first.column) return false;
        if (error.offset != first.offset || strcmp(error.message, first.message) != 0) return false;
    }
    return true;
}

static toml_case cases[TOML_CASES];

TEST(every_case_of_the_official_suite_is_as_it_says) {
    char *texts;
    size_t count = toml_suite_read(cases, &texts), valid = 0, invalid = 0, i;
    for (i = 0; i < count; i++) {
        bool good;
        if (cases[i].tagged.len == 0)
            invalid += good = is_refused(cases[i].text);
        else
            valid += good = is_read(cases[i].text, cases[i].tagged);
        if (!good) fprintf(stderr, "%s\n", cases[i].name);
    }
    CHECK_EQ_INT(valid, 205);
    CHECK_EQ_INT(invalid, 474);
    free(texts);
}

TEST_MAIN(TEST_ENTRY(every_case_of_the_official_suite_is_as_it_says))
