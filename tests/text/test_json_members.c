/* test_json_members.c - members of an object into a struct, by a table. */
#include "support/test.h"
#include "text/json_in.h"

typedef struct thing {
    phi__json_text name, inner, deep;
    int64_t n;
    uint64_t count;
    bool good;
    phi_str raw, some, object, array;
    unsigned calls;
} thing;

static void take_call(phi__json_cursor *c, void *to) {
    ((thing *)to)->calls++;
    (void)phi__json_cursor_skip(c);
}

static void take_count(phi__json_cursor *c, void *to) {
    (void)phi__json_cursor_take_u64(c, (uint64_t *)to);
}

static const phi__json_member deep_members[] = {PHI__MEMBER(thing, deep, "deep", PHI__MEMBER_TEXT),
                                                PHI__MEMBERS_END};

static const phi__json_member inner_members[] = {
    PHI__MEMBER(thing, inner, "name", PHI__MEMBER_TEXT),
    PHI__MEMBER_INSIDE_FIRST("list", deep_members), PHI__MEMBERS_END};

static const phi__json_member members[] = {PHI__MEMBER(thing, name, "name", PHI__MEMBER_TEXT),
                                           PHI__MEMBER(thing, n, "n", PHI__MEMBER_I64),
                                           PHI__MEMBER_TAKE(thing, count, "count", take_count),
                                           PHI__MEMBER(thing, good, "good", PHI__MEMBER_BOOL),
                                           PHI__MEMBER(thing, raw, "raw", PHI__MEMBER_RAW),
                                           PHI__MEMBER(thing, some, "some", PHI__MEMBER_SOME),
                                           PHI__MEMBER(thing, object, "object", PHI__MEMBER_OBJECT),
                                           PHI__MEMBER(thing, array, "array", PHI__MEMBER_ARRAY),
                                           PHI__MEMBER_INSIDE("inner", inner_members),
                                           PHI__MEMBER_TAKE_ALL("call", take_call),
                                           PHI__MEMBERS_END};

static thing got;
static uint32_t seen;

static bool read_text(const char *json) {
    memset(&got, 0, sizeof got);
    seen = 0;
    return phi__json_members_read(phi_str_of(json), members, &got, &seen);
}

static bool is(phi_str s, const char *text) { return phi_str_equal(s, phi_str_of(text)); }

static bool text_is(phi__json_text t, const char *text) {
    return phi__json_cursor_text_is(t, phi_str_of(text));
}

TEST(each_kind_of_member_gets_to_its_place) {
    CHECK(
        read_text("{\"name\":\"a\\n\",\"n\":-3,\"count\":7,\"good\":true,\"raw\":null,\"some\":[1],"
                  "\"object\":{\"x\":1},\"array\":[2],\"call\":{}}"));
    CHECK(got.name.escaped && text_is(got.name, "a\n"));
    CHECK(got.n == -3 && got.count == 7 && got.good);
    CHECK(is(got.raw, "null") && is(got.some, "[1]"));
    CHECK(is(got.object, "{\"x\":1}") && is(got.array, "[2]"));
    CHECK(got.calls == 1);
    CHECK(seen == 0x2ff); /* all but "inner" */
}

TEST(an_object_inside_goes_into_the_same_struct) {
    CHECK(read_text("{\"inner\":{\"list\":[{\"deep\":\"d\"},{\"deep\":\"e\"}],\"name\":\"b\"},"
                    "\"name\":\"a\"}"));
    CHECK(text_is(got.name, "a") && text_is(got.inner, "b"));
    CHECK(text_is(got.deep, "d")); /* of the first item alone */
}

TEST(what_is_missing_or_of_another_type_changes_nothing) {
    CHECK(
        read_text("{\"name\":1,\"n\":\"x\",\"good\":null,\"some\":null,\"object\":[],\"array\":{},"
                  "\"inner\":[],\"other\":{\"name\":\"z\"}}"));
    CHECK(got.name.at == NULL && got.n == 0 && !got.good);
    CHECK(got.some.len == 0 && got.object.len == 0 && got.array.len == 0);
    CHECK(got.inner.at == NULL);
    CHECK(seen == 0x1eb);
}

TEST(members_may_come_in_any_order_and_the_last_of_equal_ones_counts) {
    CHECK(read_text(
        "{\"array\":[1],\"n\":1,\"name\":\"a\",\"n\":2,\"\\u006eame\":\"b\",\"array\":[3]}"));
    CHECK(text_is(got.name, "b") && got.n == 2 && is(got.array, "[3]"));
}

TEST(a_text_that_is_no_object_or_broken_is_refused) {
    CHECK(!read_text(""));
    CHECK(!read_text("[]"));
    CHECK(!read_text("{\"n\":1} x"));
    CHECK(!read_text("{\"n\":1"));
    CHECK(!read_text("{\"raw\":[1,2}"));
    CHECK(!read_text("{\"raw\":[1],\"raw\":@}") && got.raw.len == 0);
    CHECK(read_text(" {} ") && seen == 0);
}

TEST_MAIN(TEST_ENTRY(each_kind_of_member_gets_to_its_place),
          TEST_ENTRY(an_object_inside_goes_into_the_same_struct),
          TEST_ENTRY(what_is_missing_or_of_another_type_changes_nothing),
          TEST_ENTRY(members_may_come_in_any_order_and_the_last_of_equal_ones_counts),
          TEST_ENTRY(a_text_that_is_no_object_or_broken_is_refused))
