/* test_records.c - fields of a struct as members of JSON, by a table. */
#include "support/test.h"
#include "text/text_in.h"

typedef enum color { COLOR_RED, COLOR_GREEN, COLOR_BLUE } color;

typedef struct thing {
    phi_str name, memo;
    bool good;
    uint8_t small;
    uint16_t middle;
    uint32_t large;
    uint64_t huge;
    size_t size;
    color paint;
    double cost;
    int64_t at_ms;
} thing;

static const phi__field all[] = {
    PHI__FIELD(thing, name, "name", PHI__FIELD_STR, PHI__FIELD_ALWAYS),
    PHI__FIELD(thing, memo, "memo", PHI__FIELD_STR, PHI__FIELD_ALWAYS),
    PHI__FIELD(thing, good, "good", PHI__FIELD_BOOL, PHI__FIELD_ALWAYS),
    PHI__FIELD(thing, small, "small", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(thing, middle, "middle", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(thing, large, "large", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(thing, huge, "huge", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(thing, size, "size", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(thing, paint, "paint", PHI__FIELD_UINT, PHI__FIELD_ALWAYS),
    PHI__FIELD(thing, cost, "cost", PHI__FIELD_DOUBLE, PHI__FIELD_ALWAYS),
    PHI__FIELD(thing, at_ms, "at", PHI__FIELD_TIME, PHI__FIELD_ALWAYS)};

static const phi__field set[] = {
    PHI__FIELD(thing, name, "name", PHI__FIELD_STR, PHI__FIELD_SET),
    PHI__FIELD(thing, good, "good", PHI__FIELD_BOOL, PHI__FIELD_SET),
    PHI__FIELD(thing, large, "large", PHI__FIELD_UINT, PHI__FIELD_SET)};

static const phi__field option[] = {
    PHI__FIELD(thing, name, "name", PHI__FIELD_STR, PHI__FIELD_OPTION),
    PHI__FIELD(thing, large, "large", PHI__FIELD_UINT, PHI__FIELD_OPTION)};

static phi_memory memory;
static phi_arena arena;
static phi__buf out;

static void setup(void) {
    phi_allocator allocator = test_allocator();
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
    phi__buf_init(&out, &memory);
}

static void teardown(void) {
    phi__buf_free(&out);
    phi_arena_free(&arena);
}

static const char *text(void) {
    phi__buf_char(&out, '\0');
    return out.failed ? "(no memory)" : out.at;
}

static const phi_json *tree(const char *json) {
    phi_json *root = NULL;
    (void)phi_json_parse(&arena, phi_str_of(json), 0, &root, NULL);
    return root;
}

#define WHOLE                                                                                      \
    "{\"name\":\"a \\\"b\\\"\",\"memo\":\"\",\"good\":true,\"small\":255,\"middle\":65535,"        \
    "\"large\":4294967295,\"huge\":18446744073709551615,\"size\":7,\"paint\":2,\"cost\":0.5,"      \
    "\"at\":\"2026-01-02T03:04:05.006Z\"}"

TEST(every_kind_is_written_and_read_back) {
    thing t;
    setup();
    memset(&t, 0xaa, sizeof t);
    CHECK(phi__records_get(tree(WHOLE), all, PHI__COUNT(all), &t, NULL));
    CHECK(phi_str_equal(t.name, phi_str_of("a \"b\"")));
    CHECK(t.good && t.small == 255 && t.middle == 65535 && t.large == UINT32_MAX);
    CHECK(t.huge == UINT64_MAX && t.size == 7 && t.paint == COLOR_BLUE && t.cost == 0.5);
    CHECK(t.at_ms == INT64_C(1767323045006));
    phi__buf_char(&out, '{');
    phi__records_put(&out, all, PHI__COUNT(all), &t);
    phi__buf_char(&out, '}');
    CHECK_EQ_STR(text(), WHOLE);
    teardown();
}

TEST(what_is_missing_or_of_another_type_is_zero) {
    const char *const texts[] = {
        "{}", "{\"name\":1,\"good\":\"yes\",\"large\":-1,\"cost\":[],\"at\":5}", "[]"};
    size_t i;
    setup();
    for (i = 0; i < PHI__COUNT(texts); i++) {
        thing t;
        memset(&t, 0xaa, sizeof t);
        CHECK(phi__records_get(tree(texts[i]), all, PHI__COUNT(all), &t, NULL));
        CHECK(t.name.len == 0 && t.name.at != NULL && !t.good && t.large == 0 && t.huge == 0);
        CHECK(t.paint == COLOR_RED && t.cost == 0 && t.at_ms == 0);
    }
    teardown();
}

TEST(a_number_that_is_too_large_is_the_largest) {
    thing t;
    setup();
    CHECK(phi__records_get(tree("{\"small\":256,\"middle\":65536,\"large\":4294967296}"), all,
                           PHI__COUNT(all), &t, NULL));
    CHECK(t.small == UINT8_MAX && t.middle == UINT16_MAX && t.large == UINT32_MAX);
    teardown();
}

TEST(an_empty_field_is_left_out_or_null_as_its_rule_says) {
    thing t;
    setup();
    memset(&t, 0, sizeof t);
    phi__buf_char(&out, '{');
    phi__records_put(&out, set, PHI__COUNT(set), &t);
    phi__records_put(&out, option, PHI__COUNT(option), &t);
    t.name = phi_str_of("x");
    t.good = true;
    t.large = 3;
    phi__records_put(&out, set, PHI__COUNT(set), &t);
    phi__records_put(&out, option, PHI__COUNT(option), &t);
    CHECK_EQ_STR(text(), "{\"name\":null,\"large\":null,\"name\":\"x\",\"good\":true,\"large\":3,"
                         "\"name\":\"x\",\"large\":3");
    teardown();
}

TEST(strings_are_copied_into_an_arena_where_one_is_given) {
    phi_arena own;
    thing t;
    setup();
    phi_arena_init(&own, &memory, 0);
    CHECK(phi__records_get(tree("{\"name\":\"kept\"}"), set, PHI__COUNT(set), &t, &own));
    phi_arena_free(&arena); /* with the tree */
    CHECK(phi_str_equal(t.name, phi_str_of("kept")));
    phi_arena_free(&own);
    teardown();
}

TEST_MAIN(TEST_ENTRY(every_kind_is_written_and_read_back),
          TEST_ENTRY(what_is_missing_or_of_another_type_is_zero),
          TEST_ENTRY(a_number_that_is_too_large_is_the_largest),
          TEST_ENTRY(an_empty_field_is_left_out_or_null_as_its_rule_says),
          TEST_ENTRY(strings_are_copied_into_an_arena_where_one_is_given))
