/* test_strict.c - schemas in the strict forms, what is refused with which words, nulls that stand for what was
   left out, and what the codecs send. */
#include "base/base_in.h"
#include "text/text_in.h"
#include "codecs/gemini_in.h"
#include "wire/wire_in.h"
#include "wire/codec_in.h"
#include "wire/wire_support.h"
#include "support/codec_of.h"

static char adapted[8192];
static char words[400];

static const char *adapt(const char *schema, phi__strict_form form) {
    phi_allocator allocator = test_allocator();
    phi_memory memory;
    phi__buf out;
    phi_memory_init(&memory, &allocator, 0);
    phi__buf_init(&out, &memory);
    if (phi__strict_schema(&out, phi_str_of(schema), form, words, sizeof words)) {
        CHECK_EQ_STR(words, "");
        (void)snprintf(adapted, sizeof adapted, "%.*s", (int)out.len, out.at);
    } else
        (void)snprintf(adapted, sizeof adapted, "refused: %s", words);
    phi__buf_free(&out);
    CHECK_EQ_INT((int)memory.used_bytes, 0);
    return adapted;
}

static const char *openai(const char *schema) { return adapt(schema, PHI__STRICT_OPENAI); }
static const char *anthropic(const char *schema) { return adapt(schema, PHI__STRICT_ANTHROPIC); }

/* A schema that is the only property of an object. */
static const char *property(const char *schema, phi__strict_form form) {
    char text[2048];
    (void)snprintf(text, sizeof text,
                   "{\"type\":\"object\",\"properties\":{\"a\":%s},\"required\":[\"a\"]}", schema);
    return adapt(text, form);
}

#define OPEN "{\"type\":\"object\",\"properties\":{\"a\":"
#define CLOSE "},\"required\":[\"a\"],\"additionalProperties\":false}"

TEST(objects_are_closed_and_what_was_optional_may_be_null) {
    CHECK_EQ_STR(openai("{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\","
                        "\"description\":\"Where\"},\"deep\":{\"type\":\"boolean\"},\"in\":"
                        "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}}}},"
                        "\"required\":[\"path\"]}"),
                 "{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\","
                 "\"description\":\"Where\"},\"deep\":{\"type\":[\"boolean\",\"null\"]},\"in\":"
                 "{\"type\":[\"object\",\"null\"],\"properties\":{\"n\":{\"type\":[\"integer\","
                 "\"null\"]}},\"required\":[\"n\"],\"additionalProperties\":false}},"
                 "\"required\":[\"path\",\"deep\",\"in\"],\"additionalProperties\":false}");
    CHECK_EQ_STR(openai("{\"type\":\"object\"}"),
                 "{\"type\":\"object\",\"properties\":{},"
                 "\"required\":[],\"additionalProperties\":false}");
    CHECK_EQ_STR(openai("{\"properties\":{}}"), "{\"type\":\"object\",\"properties\":{},"
                                                "\"required\":[],\"additionalProperties\":false}");
}

TEST(anthropic_s_form_leaves_optional_what_is_optional) {
    CHECK_EQ_STR(anthropic("{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"},\"b\":"
                           "{\"type\":\"string\",\"format\":\"uri\"}},\"required\":[\"b\"]}"),
                 "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"},\"b\":"
                 "{\"type\":\"string\",\"format\":\"uri\"}},\"required\":[\"b\"],"
                 "\"additionalProperties\":false}");
}

TEST(an_optional_enum_gains_null_and_so_does_a_const) {
    CHECK_EQ_STR(openai("{\"type\":\"object\",\"properties\":{\"a\":{\"enum\":[\"x\",\"y\"]},"
                        "\"b\":{\"const\":1},\"c\":{\"type\":[\"string\",\"null\"],\"enum\":"
                        "[\"x\",null]}}}"),
                 "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":[\"string\",\"null\"],"
                 "\"enum\":[\"x\",\"y\",null]},\"b\":{\"type\":[\"integer\",\"null\"],\"enum\":"
                 "[1,null]},\"c\":{\"type\":[\"string\",\"null\"],\"enum\":[\"x\",null]}},"
                 "\"required\":[\"a\",\"b\",\"c\"],\"additionalProperties\":false}");
}

TEST(choices_and_references_gain_null_as_one_more_alternative) {
    CHECK_EQ_STR(openai("{\"type\":\"object\",\"properties\":{\"a\":{\"anyOf\":[{\"type\":"
                        "\"string\"},{\"type\":\"integer\"}]},\"b\":{\"$ref\":\"#/$defs/t\"},"
                        "\"c\":{\"$ref\":\"#\",\"description\":\"again\"}},\"required\":[\"c\"],"
                        "\"$defs\":{\"t\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/t\"}"
                        "}}}"),
                 "{\"type\":\"object\",\"properties\":{\"a\":{\"anyOf\":[{\"type\":\"string\"},"
                 "{\"type\":\"integer\"},{\"type\":\"null\"}]},\"b\":{\"anyOf\":[{\"$ref\":"
                 "\"#/$defs/t\"},{\"type\":\"null\"}]},\"c\":{\"description\":\"again\",\"anyOf\":"
                 "[{\"$ref\":\"#\"}]}},\"required\":[\"a\",\"b\",\"c\"],"
                 "\"additionalProperties\":false,\"$defs\":{\"t\":{\"type\":\"array\",\"items\":"
                 "{\"$ref\":\"#/$defs/t\"}}}}");
    CHECK_EQ_STR(
        property("{\"allOf\":[{\"type\":\"string\"}],\"nullable\":true}", PHI__STRICT_OPENAI),
        OPEN "{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"null\"}]}" CLOSE);
}

TEST(what_narrows_stays_where_the_form_has_it_and_else_goes_into_the_description) {
    static const char number[] =
        "{\"type\":\"integer\",\"description\":\"How many\",\"minimum\":1,\"default\":5}";
    static const char text[] = "{\"type\":\"string\",\"minLength\":3,\"pattern\":\"^\\\"a\","
                               "\"format\":\"uri\"}";
    static const char list[] = "{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"minItems\":1,"
                               "\"maxItems\":4,\"uniqueItems\":true}";
    CHECK_EQ_STR(property(number, PHI__STRICT_OPENAI),
                 OPEN "{\"type\":\"integer\",\"description\":\"How many (default: 5)\","
                      "\"minimum\":1}" CLOSE);
    CHECK_EQ_STR(property(number, PHI__STRICT_PLAIN),
                 OPEN "{\"type\":\"integer\",\"description\":\"How many (minimum: 1, default: 5)\""
                      "}" CLOSE);
    CHECK_EQ_STR(property(text, PHI__STRICT_OPENAI),
                 OPEN "{\"type\":\"string\",\"description\":\"(minLength: 3, format: \\\"uri\\\")\""
                      ",\"pattern\":\"^\\\"a\"}" CLOSE);
    CHECK_EQ_STR(property(text, PHI__STRICT_ANTHROPIC),
                 OPEN "{\"type\":\"string\",\"description\":\"(minLength: 3, pattern: "
                      "\\\"^\\\\\\\"a\\\")\",\"format\":\"uri\"}" CLOSE);
    CHECK_EQ_STR(property(list, PHI__STRICT_OPENAI),
                 OPEN "{\"type\":\"array\",\"description\":\"(uniqueItems: true)\",\"items\":"
                      "{\"type\":\"string\"},\"minItems\":1,\"maxItems\":4}" CLOSE);
    CHECK_EQ_STR(property(list, PHI__STRICT_ANTHROPIC),
                 OPEN "{\"type\":\"array\",\"description\":\"(maxItems: 4, uniqueItems: true)\","
                      "\"items\":{\"type\":\"string\"},\"minItems\":1}" CLOSE);
}

TEST(the_plain_form_has_no_list_of_types_with_objects_or_arrays) {
    CHECK_EQ_STR(adapt("{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"array\",\"items\":"
                       "{\"type\":\"string\"}}}}",
                       PHI__STRICT_PLAIN),
                 OPEN "{\"anyOf\":[{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
                      "{\"type\":\"null\"}]}" CLOSE);
}

TEST(what_cannot_be_left_out_is_refused_with_its_place) {
    static const struct {
        const char *schema, *words;
    } cases[] = {
        {"{\"oneOf\":[{\"type\":\"string\"},{\"type\":\"null\"}]}",
         "at /properties/a: \"oneOf\" has no strict form"},
        {"{\"allOf\":[{\"type\":\"string\"},{\"type\":\"null\"}]}",
         "at /properties/a: \"allOf\" has no strict form"},
        {"{\"type\":\"string\",\"not\":{\"const\":\"x\"}}",
         "at /properties/a: \"not\" has no strict form"},
        {"{\"type\":\"object\",\"properties\":{},\"if\":{}}",
         "at /properties/a: \"if\" has no strict form"},
        {"{\"type\":\"object\",\"patternProperties\":{}}",
         "at /properties/a: \"patternProperties\" has no strict form"},
        {"{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}}",
         "at /properties/a: \"additionalProperties\" has no strict form unless it is false"},
        {"{\"type\":\"object\",\"properties\":{},\"unevaluatedProperties\":{}}",
         "at /properties/a: \"unevaluatedProperties\" has no strict form unless it is false"},
        {"{\"type\":\"object\"}",
         "at /properties/a: an object of any properties has no strict form"},
        {"{\"type\":\"array\"}", "at /properties/a: an array must say what its items are"},
        {"{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{\"b/c\":{}}}}",
         "at /properties/a/items/properties/b~1c: a strict schema must say a type"},
        {"true", "at /properties/a: a strict schema must be an object"},
        {"{\"type\":\"object\",\"properties\":{},\"required\":[\"x\"]}",
         "at /properties/a: \"x\" is required, and is none of the properties"},
        {"{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"array\",\"items\":{\"contains\":{}}}]}",
         "at /properties/a/anyOf/1/items: \"contains\" has no strict form"},
        {"{\"anyOf\":[]}", "at /properties/a/anyOf: \"anyOf\" must be an array that is not empty"},
        {"{\"type\":\"string\",\"anyOf\":[{\"minLength\":1}]}",
         "at /properties/a: \"type\" beside anyOf or $ref has no strict form"},
        {"{\"$ref\":\"#/properties/b\"}",
         "at /properties/a: \"$ref\" must be \"#\" or name one of the $defs"},
        {"{\"$ref\":\"other.json\"}",
         "at /properties/a: \"$ref\" must be \"#\" or name one of the $defs"},
        {"{\"enum\":[{}]}",
         "at /properties/a: \"enum\" with objects or arrays in it has no strict form"},
        {"{\"const\":[]}", "at /properties/a: \"const\" of an object or array has no strict form"},
        {"{\"enum\":[],\"type\":\"string\"}",
         "at /properties/a: \"enum\" must be an array that is not empty"},
        {"{\"enum\":[1],\"const\":1}",
         "at /properties/a: \"enum\" beside const has no strict form"},
    };
    size_t i;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        (void)property(cases[i].schema, PHI__STRICT_OPENAI);
        CHECK_EQ_STR(words, cases[i].words);
    }
    (void)openai("{\"anyOf\":[{\"type\":\"object\"}]}");
    CHECK_EQ_STR(words, "at its root: \"anyOf\" may not be at the root");
    (void)openai("{\"type\":\"string\"}");
    CHECK_EQ_STR(words, "at its root: the type must be \"object\"");
    (void)openai("{\"type\":\"object\",");
    CHECK(phi__str_starts(phi_str_of(words), "at its root: "));
}

/* Found by a fuzzer: words were cut inside of a character. */
TEST(words_that_are_cut_end_at_a_character) {
    static const char open[] = "{\"type\":\"object\",\"properties\":{\"", close[] = "\":{}}}";
    phi_memory memory;
    char text[1200];
    size_t shift, i;
    phi_memory_init(&memory, NULL, 0);
    for (shift = 0; shift < 6; shift++) {
        char cut[100];
        phi__buf out;
        size_t n = (size_t)snprintf(text, sizeof text, "%s", open);
        for (i = 0; i < shift % 3; i++) text[n++] = 'x';
        for (i = 0; i < (shift < 3 ? 30u : 200u); i++)
            n += (size_t)snprintf(text + n, sizeof text - n, "\xe2\x82\xac");
        (void)snprintf(text + n, sizeof text - n, "%s", close);
        phi__buf_init(&out, &memory);
        CHECK(!phi__strict_schema(&out, phi_str_of(text), PHI__STRICT_OPENAI, cut, sizeof cut));
        CHECK(cut[0] != '\0' && phi__utf8_valid(phi_str_of(cut)) == strlen(cut));
        phi__buf_free(&out);
        (void)openai(text);
        CHECK(phi__utf8_valid(phi_str_of(words)) == strlen(words));
    }
}

TEST(anthropic_s_form_has_no_recursion) {
    static const char tree[] =
        "{\"type\":\"object\",\"properties\":{\"a\":{\"$ref\":\"#/$defs/t\"}},\"$defs\":{\"t\":"
        "{\"type\":\"object\",\"properties\":{\"kids\":{\"type\":\"array\",\"items\":{\"$ref\":"
        "\"#/$defs/t\"}}}}}}";
    (void)anthropic(tree);
    CHECK_EQ_STR(words, "at /properties/kids/items: \"#/$defs/t\" leads back to itself: "
                        "Anthropic's strict form has no recursion");
    (void)anthropic("{\"type\":\"object\",\"properties\":{\"a\":{\"$ref\":\"#\"}}}");
    CHECK_EQ_STR(words, "at /properties/a: \"#\" leads back to itself: Anthropic's strict form has "
                        "no recursion");
    CHECK(phi__str_starts(phi_str_of(openai(tree)), "{\"type\":\"object\""));
    CHECK_EQ_STR(anthropic("{\"type\":\"object\",\"properties\":{\"a\":{\"$ref\":\"#/$defs/t\"},"
                           "\"b\":{\"$ref\":\"#/$defs/t\"}},\"$defs\":{\"t\":{\"type\":\"null\"}}"
                           "}"),
                 "{\"type\":\"object\",\"properties\":{\"a\":{\"$ref\":\"#/$defs/t\"},\"b\":"
                 "{\"$ref\":\"#/$defs/t\"}},\"required\":[],\"additionalProperties\":false,"
                 "\"$defs\":{\"t\":{\"type\":\"null\"}}}");
}

TEST(depth_and_size_are_bounded) {
    static char text[400000];
    size_t n = 0;
    int i;
    for (i = 0; i < 120; i++)
        n += (size_t)snprintf(text + n, sizeof text - n,
                              "{\"type\":\"object\",\"properties\":{\"a\":");
    n += (size_t)snprintf(text + n, sizeof text - n, "{\"type\":\"null\"}");
    for (i = 0; i < 120; i++) n += (size_t)snprintf(text + n, sizeof text - n, "}}");
    (void)openai(text);
    CHECK(phi__str_find(phi_str_of(words), 0, "this is nested too deeply") != SIZE_MAX);
    n = (size_t)snprintf(text, sizeof text, "{\"type\":\"object\",\"properties\":{");
    for (i = 0; i < 5000; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s\"p%d\":{\"type\":\"null\"}",
                              i > 0 ? "," : "", i);
    n += (size_t)snprintf(text + n, sizeof text - n, "},\"required\":[");
    for (i = 0; i < 5000; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s\"p%d\"", i > 0 ? "," : "", i);
    (void)snprintf(text + n, sizeof text - n, "]}");
    (void)openai(text);
    CHECK(phi__str_find(phi_str_of(words), 0, "this is too large") != SIZE_MAX);
}

TEST(an_allocation_that_fails_gives_no_words_and_no_schema) {
    static const char schema[] =
        "{\"type\":\"object\",\"properties\":{\"a\":{\"$ref\":\"#/$defs/t\"}"
        "},\"$defs\":{\"t\":{\"type\":\"string\",\"minLength\":3}}}";
    int n = 0;
    do {
        phi_allocator allocator = test_allocator();
        phi_memory memory;
        phi__buf out;
        bool made;
        phi_memory_init(&memory, &allocator, 0);
        phi__buf_init(&out, &memory);
        test_alloc_fail_at(n);
        made = phi__strict_schema(&out, phi_str_of(schema), PHI__STRICT_ANTHROPIC, words,
                                  sizeof words);
        CHECK(made == !out.failed);
        CHECK_EQ_STR(words, "");
        phi__buf_free(&out);
        CHECK_EQ_INT((int)test_alloc_live_bytes(), 0);
    } while (test_alloc_tripped() && n++ < 1000);
    test_alloc_fail_at(-1);
}

/* ---- Gemini ---- */

static const char *gemini(const char *schema) {
    phi_allocator allocator = test_allocator();
    phi_memory memory;
    phi__buf out;
    phi_memory_init(&memory, &allocator, 0);
    phi__buf_init(&out, &memory);
    if (phi__strict_gemini(&out, phi_str_of(schema), words, sizeof words))
        (void)snprintf(adapted, sizeof adapted, "%.*s", (int)out.len, out.at);
    else
        (void)snprintf(adapted, sizeof adapted, "refused: %s", words);
    phi__buf_free(&out);
    CHECK_EQ_INT((int)memory.used_bytes, 0);
    return adapted;
}

TEST(gemini_gets_no_const_and_nothing_beside_a_reference) {
    CHECK_EQ_STR(gemini("{\"type\": \"object\"}"), "{\"type\": \"object\"}");
    CHECK_EQ_STR(gemini("{\"properties\":{\"const\":{\"const\":1},\"r\":{\"$ref\":\"#/$defs/t\","
                        "\"description\":\"d\"},\"s\":{\"$ref\":\"#/$defs/t\"}},\"default\":"
                        "{\"const\":1},\"$defs\":{\"t\":{\"anyOf\":[{\"const\":\"x\"}]}}}"),
                 "{\"properties\":{\"const\":{\"enum\":[1]},\"r\":{\"description\":\"d\",\"anyOf\":"
                 "[{\"$ref\":\"#/$defs/t\"}]},\"s\":{\"$ref\":\"#/$defs/t\"}},\"default\":"
                 "{\"const\":1},\"$defs\":{\"t\":{\"anyOf\":[{\"enum\":[\"x\"]}]}}}");
}

TEST(gemini_takes_recursion_only_where_a_property_is_not_required) {
    CHECK(phi__str_starts(phi_str_of(gemini("{\"properties\":{\"kids\":{\"items\":{\"$ref\":\"#\"}"
                                            "}}}")),
                          "{\"properties\""));
    CHECK_EQ_STR(gemini("{\"properties\":{\"t\":{\"$ref\":\"#/$defs/t\"}},\"$defs\":{\"t\":"
                        "{\"properties\":{\"kids\":{\"items\":{\"$ref\":\"#/$defs/t\"}}},"
                        "\"required\":[\"kids\"]}}}"),
                 "refused: at /properties/t/$ref/properties/kids/items/$ref: a schema may contain "
                 "itself only inside of a property that is not required");
    CHECK_EQ_STR(gemini("{\"properties\":{\"a\":{\"$ref\":\"other.json\"}}}"),
                 "refused: at /properties/a/$ref: \"$ref\" leads nowhere in this schema");
    CHECK_EQ_STR(gemini("{\"properties\":{\"a\":{\"$ref\":\"#/$defs/x\"}}}"),
                 "refused: at /properties/a/$ref: \"$ref\" leads nowhere in this schema");
    CHECK_EQ_STR(gemini("{\"properties\":{\"a\":{\"$ref\":\"#\",\"anyOf\":[{}]}}}"),
                 "refused: at /properties/a: \"$ref\" beside anyOf is not taken");
    CHECK_EQ_STR(gemini("{\"const\":"), "refused: at its root: this is not JSON");
}

/* ---- nulls ---- */

static const char *stripped(const char *schema_text, const char *value_text) {
    static char text[4096];
    phi_allocator allocator = test_allocator();
    phi_memory memory;
    phi_arena arena;
    phi_json *schema = NULL, *value = NULL;
    phi_str out = phi__str("?", 1);
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
    if (CHECK(phi_json_parse(&arena, phi_str_of(schema_text), 0, &schema, NULL) == PHI_OK) &&
        CHECK(phi_json_parse(&arena, phi_str_of(value_text), 0, &value, NULL) == PHI_OK)) {
        (void)phi__strict_nulls(schema, value);
        CHECK(phi_json_write(&arena, value, 0, &out) == PHI_OK);
    }
    (void)snprintf(text, sizeof text, "%.*s", (int)out.len, out.at);
    phi_arena_free(&arena);
    return text;
}

TEST(nulls_of_optional_properties_are_taken_out_again) {
    static const char schema[] =
        "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"},\"b\":{\"type\":"
        "[\"string\",\"null\"]},\"c\":{\"type\":\"string\"},\"list\":{\"type\":\"array\",\"items\":"
        "{\"$ref\":\"#/$defs/t\"}},\"u\":{\"anyOf\":[{\"$ref\":\"#/$defs/t\"},{\"type\":\"object\","
        "\"properties\":{\"k\":{\"type\":\"string\"},\"o\":{\"type\":\"string\"}},\"required\":"
        "[\"k\"]}]}},\"required\":[\"c\"],\"$defs\":{\"t\":{\"type\":\"object\",\"properties\":"
        "{\"n\":{\"type\":\"integer\"},\"down\":{\"$ref\":\"#/$defs/t\"}}}}}";
    CHECK_EQ_STR(stripped(schema, "{\"a\":null,\"b\":null,\"c\":null}"), "{\"b\":null,\"c\":null}");
    CHECK_EQ_STR(stripped(schema, "{\"a\":null}"), "{}");
    CHECK_EQ_STR(stripped(schema, "{\"c\":\"x\",\"zz\":null}"), "{\"c\":\"x\",\"zz\":null}");
    CHECK_EQ_STR(stripped(schema, "{\"list\":[{\"n\":null,\"down\":{\"n\":1,\"down\":null}}]}"),
                 "{\"list\":[{\"down\":{\"n\":1}}]}");
    CHECK_EQ_STR(stripped(schema, "{\"u\":{\"k\":\"x\",\"o\":null}}"), "{\"u\":{\"k\":\"x\"}}");
    CHECK_EQ_STR(stripped(schema, "{\"u\":{\"n\":null,\"down\":null}}"), "{\"u\":{}}");
    CHECK_EQ_STR(stripped(schema, "{\"u\":null}"), "{}");
    CHECK_EQ_STR(stripped("{\"properties\":{\"a\":{},\"b\":true,\"c\":{\"nullable\":true,\"type\":"
                          "\"string\"},\"d\":{\"enum\":[1,null]},\"e\":{\"const\":1}}}",
                          "{\"a\":null,\"b\":null,\"c\":null,\"d\":null,\"e\":null}"),
                 "{\"a\":null,\"b\":null,\"c\":null,\"d\":null}");
    CHECK_EQ_STR(stripped(schema, "[null]"), "[null]");
}

TEST(a_schema_that_contains_itself_in_every_way_is_no_endless_work) {
    CHECK_EQ_STR(stripped("{\"anyOf\":[{\"$ref\":\"#\"},{\"$ref\":\"#\"}],\"properties\":{\"a\":"
                          "{\"$ref\":\"#\"}}}",
                          "{\"a\":{\"a\":{\"a\":null}}}"),
                 "{\"a\":{\"a\":{\"a\":null}}}");
}

/* ---- a property: what was valid stays valid with nulls, and comes back ---- */

typedef struct maker {
    uint64_t random;
    phi__buf schema, value, full; /* full: with null where a property is left out */
} maker;

static unsigned make_random(maker *m, unsigned below) {
    m->random = m->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(m->random >> 33) % below;
}

static void make_text(maker *m, const char *schema, const char *value) {
    phi__buf_text(&m->schema, schema);
    phi__buf_text(&m->value, value);
    phi__buf_text(&m->full, value);
}

static void make(maker *m, unsigned depth);

static void make_object(maker *m, unsigned depth) {
    unsigned n = make_random(m, 5), i, required = 0, put = 0;
    make_text(m, "{\"type\":\"object\",\"properties\":{", "{");
    for (i = 0; i < n; i++) {
        size_t value = m->value.len, full = m->full.len;
        if (make_random(m, 2) == 0) required |= 1u << i;
        if (i > 0) phi__buf_char(&m->schema, ',');
        phi__buf_printf(&m->schema, "\"p%u\":", i);
        if (put > 0) phi__buf_char(&m->value, ',');
        phi__buf_printf(&m->value, "\"p%u\":", i);
        if (i > 0) phi__buf_char(&m->full, ',');
        phi__buf_printf(&m->full, "\"p%u\":", i);
        make(m, depth + 1);
        if ((required >> i & 1u) == 0 && make_random(m, 2) == 0) { /* left out */
            m->value.len = value;
            m->full.len = full;
            if (i > 0) phi__buf_char(&m->full, ',');
            phi__buf_printf(&m->full, "\"p%u\":null", i);
        } else
            put++;
    }
    phi__buf_text(&m->schema, "},\"required\":[");
    for (i = 0, put = 0; i < n; i++)
        if ((required >> i & 1u) != 0)
            phi__buf_printf(&m->schema, "%s\"p%u\"", put++ > 0 ? "," : "", i);
    make_text(m, "]}", "}");
}

/* All values of one array have the shape of the first. */
static void make_array(maker *m, unsigned depth) {
    size_t at = m->value.len + 1, full_at = m->full.len + 1;
    make_text(m, "{\"type\":\"array\",\"items\":", "[");
    make(m, depth + 1);
    if (make_random(m, 2) == 0) {
        char copy[4096];
        size_t len = m->value.len - at, full_len = m->full.len - full_at;
        if (len < sizeof copy && full_len < sizeof copy) {
            memcpy(copy, m->value.at + at, len);
            phi__buf_char(&m->value, ',');
            phi__buf_add(&m->value, copy, len);
            memcpy(copy, m->full.at + full_at, full_len);
            phi__buf_char(&m->full, ',');
            phi__buf_add(&m->full, copy, full_len);
        }
    }
    make_text(m, "}", "]");
}

/* Null itself is nowhere a value: one that is allowed would not be told from one that was left out. */
static void make(maker *m, unsigned depth) {
    unsigned what = depth == 0 ? 5 : make_random(m, depth > 3 ? 5 : 8);
    switch (what) {
    case 0: make_text(m, "{\"type\":\"string\",\"minLength\":1}", "\"x\""); break;
    case 1: make_text(m, "{\"type\":\"integer\",\"minimum\":1}", "7"); break;
    case 2: make_text(m, "{\"enum\":[\"a\",\"b\"]}", "\"b\""); break;
    case 3: make_text(m, "{\"const\":true}", "true"); break;
    case 4: make_text(m, "{\"type\":[\"string\",\"number\"]}", "1.5"); break;
    case 5: make_object(m, depth); break;
    case 6: make_array(m, depth); break;
    default:
        phi__buf_text(&m->schema, "{\"anyOf\":[{\"type\":\"boolean\"},");
        make(m, depth + 1);
        phi__buf_text(&m->schema, "]}");
        break;
    }
}

static void check_made(maker *m, phi__strict_form form) {
    phi_arena arena;
    phi_json *schema = NULL, *strict = NULL, *value = NULL, *full = NULL;
    phi_schema_error error;
    phi__buf out;
    bool nulls = form != PHI__STRICT_ANTHROPIC;
    memset(&error, 0, sizeof error);
    phi_arena_init(&arena, m->schema.memory, 0);
    phi__buf_init(&out, m->schema.memory);
    CHECK(phi__strict_schema(&out, phi__buf_str(&m->schema), form, words, sizeof words));
    CHECK(phi_json_parse(&arena, phi__buf_str(&m->schema), 0, &schema, NULL) == PHI_OK);
    CHECK(phi_json_parse(&arena, phi__buf_str(&m->value), 0, &value, NULL) == PHI_OK);
    CHECK(phi_json_parse(&arena, phi__buf_str(&m->full), 0, &full, NULL) == PHI_OK);
    if (CHECK(phi_json_parse(&arena, phi__buf_str(&out), 0, &strict, NULL) == PHI_OK)) {
        CHECK(phi__schema_valid(strict, &error) == PHI_OK || form == PHI__STRICT_OPENAI);
        CHECK(phi_schema_check(schema, value, NULL, &error) == PHI_OK);
        CHECK(phi_schema_check(strict, nulls ? full : value, NULL, &error) == PHI_OK);
        (void)phi__strict_nulls(schema, full);
        if (!CHECK(phi__json_get_equal(full, value)))
            fprintf(stderr, "%.*s\n", (int)m->schema.len, m->schema.at);
    }
    phi__buf_free(&out);
    phi_arena_free(&arena);
}

TEST(random_values_fit_the_strict_schema_with_nulls_and_come_back_without) {
    phi_memory memory;
    maker m;
    int i;
    phi_memory_init(&memory, NULL, 0);
    memset(&m, 0, sizeof m);
    m.random = 42;
    phi__buf_init(&m.schema, &memory);
    phi__buf_init(&m.value, &memory);
    phi__buf_init(&m.full, &memory);
    for (i = 0; i < 3000; i++) {
        phi__buf_clear(&m.schema);
        phi__buf_clear(&m.value);
        phi__buf_clear(&m.full);
        make(&m, 0);
        check_made(&m, (phi__strict_form)(PHI__STRICT_OPENAI + i % 3));
    }
    phi__buf_free(&m.schema);
    phi__buf_free(&m.value);
    phi__buf_free(&m.full);
}

/* ---- what is sent ---- */

#define TOOL "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\",\"minimum\":1}}}"
#define STRICT_OPENAI                                                                              \
    "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":[\"integer\",\"null\"],\"minimum\":1}}," \
    "\"required\":[\"n\"],\"additionalProperties\":false}"
#define STRICT_PLAIN                                                                               \
    "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":[\"integer\",\"null\"],"                 \
    "\"description\":\"(minimum: 1)\"}},\"required\":[\"n\"],\"additionalProperties\":false}"
#define STRICT_ANTHROPIC                                                                           \
    "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\",\"description\":"            \
    "\"(minimum: 1)\"}},\"required\":[],\"additionalProperties\":false}"

/* What a model's request says of a strict tool: its schema, and the flag. */
static void check_sent(phi_model model, const char *schema_at, const char *schema,
                       const char *flag_at, const char *flag) {
    phi__tool_view tool;
    conversation t;
    memset(&tool, 0, sizeof tool);
    tool.name = phi_str_of("pay");
    tool.schema = phi_str_of(TOOL);
    tool.strict = phi__format_ops();
    talk_begin(&t, model);
    talk_user(&t, "hi");
    t.spec.tools = &tool;
    t.spec.tool_count = 1;
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, schema_at), schema);
    CHECK_EQ_STR(talk_at(&t, flag_at), flag);
    /* made once and kept, it is the same */
    CHECK(phi__strict_tools_adapt(&tool, 1, codec_of(t.model.protocol), &t.model, &t.kept));
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, schema_at), schema);
    talk_free(&t);
}

TEST(each_provider_that_has_strict_tools_is_sent_its_own_form) {
    static const char chat[] = "tools[0].function.parameters",
                      chat_flag[] = "tools[0].function.strict";
    phi_model azure = phi_model_azure("https://r.openai.azure.com/openai/v1", "gpt-5", "k");
    check_sent(phi_model_openai("gpt-5", "k"), chat, STRICT_OPENAI, chat_flag, "true");
    check_sent(phi_model_openai("ft:gpt-4o:me", "k"), chat, STRICT_PLAIN, chat_flag, "true");
    check_sent(phi_model_preset("groq", "openai/gpt-oss-120b", "k"), chat, STRICT_PLAIN, chat_flag,
               "true");
    check_sent(phi_model_preset("deepseek", "deepseek-chat", "k"), chat, STRICT_PLAIN, chat_flag,
               "true");
    check_sent(phi_model_preset("zai", "glm-5", "k"), chat, STRICT_PLAIN, chat_flag, "true");
    check_sent(phi_model_preset("mistral", "mistral-large", "k"), chat, TOOL, chat_flag, "");
    check_sent(phi_model_preset("ollama", "qwen3", NULL), chat, TOOL, chat_flag, "");
    check_sent(phi_model_openai_responses("gpt-5", "k"), "tools[0].parameters", STRICT_OPENAI,
               "tools[0].strict", "true");
    check_sent(azure, "tools[0].parameters", STRICT_PLAIN, "tools[0].strict", "true");
    check_sent(phi_model_anthropic("claude-sonnet-4-5", "k"), "tools[0].input_schema",
               STRICT_ANTHROPIC, "tools[0].strict", "true");
    check_sent(phi_model_anthropic("claude-opus-4-1", "k"), "tools[0].input_schema", TOOL,
               "tools[0].strict", "");
    check_sent(phi_model_bedrock(NULL, "anthropic.claude-sonnet-4-5-20250929-v1:0", "k"),
               "toolConfig.tools[0].toolSpec.inputSchema.json", STRICT_ANTHROPIC,
               "toolConfig.tools[0].toolSpec.strict", "true");
    check_sent(phi_model_bedrock(NULL, "amazon.nova-pro-v1:0", "k"),
               "toolConfig.tools[0].toolSpec.inputSchema.json", TOOL,
               "toolConfig.tools[0].toolSpec.strict", "");
    check_sent(phi_model_google("gemini-2.5-flash", "k"),
               "tools[0].functionDeclarations[0].parametersJsonSchema", TOOL,
               "tools[0].functionDeclarations[0].strict", "");
}

TEST_MAIN(TEST_ENTRY(objects_are_closed_and_what_was_optional_may_be_null),
          TEST_ENTRY(anthropic_s_form_leaves_optional_what_is_optional),
          TEST_ENTRY(an_optional_enum_gains_null_and_so_does_a_const),
          TEST_ENTRY(choices_and_references_gain_null_as_one_more_alternative),
          TEST_ENTRY(what_narrows_stays_where_the_form_has_it_and_else_goes_into_the_description),
          TEST_ENTRY(the_plain_form_has_no_list_of_types_with_objects_or_arrays),
          TEST_ENTRY(what_cannot_be_left_out_is_refused_with_its_place),
          TEST_ENTRY(words_that_are_cut_end_at_a_character),
          TEST_ENTRY(anthropic_s_form_has_no_recursion), TEST_ENTRY(depth_and_size_are_bounded),
          TEST_ENTRY(an_allocation_that_fails_gives_no_words_and_no_schema),
          TEST_ENTRY(gemini_gets_no_const_and_nothing_beside_a_reference),
          TEST_ENTRY(gemini_takes_recursion_only_where_a_property_is_not_required),
          TEST_ENTRY(nulls_of_optional_properties_are_taken_out_again),
          TEST_ENTRY(a_schema_that_contains_itself_in_every_way_is_no_endless_work),
          TEST_ENTRY(random_values_fit_the_strict_schema_with_nulls_and_come_back_without),
          TEST_ENTRY(each_provider_that_has_strict_tools_is_sent_its_own_form))
