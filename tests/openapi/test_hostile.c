/* test_hostile.c - documents made to be slow or large: each is read in a moment, or refused. Where a
   loop in a loop comes back, this program takes minutes, and fails by its deadline. */
#include "openapi/opened.h"
#include "spec.h"

#define HEAD                                                                                       \
    "{\"openapi\":\"3.1.0\",\"info\":{\"title\":\"t\",\"version\":\"1\"},\"servers\":[{\"url\":"   \
    "\"https://h.example\"}],"
#define BODY(type)                                                                                 \
    "\"paths\":{\"/x\":{\"post\":{\"operationId\":\"a\",\"requestBody\":{\"content\":{\"" type     \
    "\":{\"schema\":"

/* The document made of `begin`, `count` times `item` with its number, and `end`. */
static char *repeated(char *before, const char *begin, const char *item, unsigned count,
                      const char *end) {
    size_t had = before != NULL ? strlen(before) : 0;
    char *out =
        (char *)realloc(before, had + strlen(begin) + strlen(end) + count * (strlen(item) + 24));
    char *at = out + had;
    unsigned i;
    if (out == NULL) abort();
    at += sprintf(at, "%s", begin);
    for (i = 0; i < count; i++) {
        const char *from = item;
        if (i > 0) *at++ = ',';
        for (; *from != '\0'; from++)
            if (*from == '$')
                at += sprintf(at, "%u", i);
            else
                *at++ = *from == '@' ? '$' : *from;
    }
    (void)sprintf(at, "%s", end);
    return out;
}

static void open_owned(spec *s, char *document) {
    spec_open(s, NULL, document);
    free(document);
    CHECK_EQ_INT(s->status, PHI_OK);
}

/* One operation, which became no tool. */
static void skipped(char *document, const char *why) {
    spec s;
    open_owned(&s, document);
    if (CHECK_EQ_INT(s.tools.skip_count, 1)) CHECK_EQ_STR(s.tools.skipped[0].message, why);
    spec_close(&s);
}

static void one_tool(char *document, size_t most) {
    spec s;
    open_owned(&s, document);
    if (s.tools.skip_count > 0) CHECK_EQ_STR(s.tools.skipped[0].message, "");
    if (CHECK_EQ_INT(s.tools.count, 1)) CHECK(strlen(s.tools.tools[0].schema) <= most);
    spec_close(&s);
}

TEST(parameters_whose_names_differ_in_what_is_cut_off_have_arguments_of_their_own) {
    enum { COUNT = 4000 };
    static bool seen[COUNT + 2];
    const phi__operation *op;
    unsigned long number = 0;
    spec s;
    size_t i;
    open_owned(&s,
               repeated(NULL,
                        HEAD "\"paths\":{\"/x\":{\"get\":{\"operationId\":\"a\","
                             "\"parameters\":[",
                        "{\"in\":\"query\",\"name\":\"\\u00e9"
                        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa$\",\"schema\":{}}",
                        COUNT, "]}}}}"));
    op = spec_operation(&s, "a");
    if (CHECK(op != NULL) && CHECK_EQ_INT(op->parameter_count, COUNT)) {
        CHECK_STR(op->parameters[0].argument, "__aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
        CHECK_STR(op->parameters[1].argument,
                  "__aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa_query");
        memset(seen, 0, sizeof seen);
        for (i = 2; i < COUNT; i++) {
            const char *behind = strrchr(op->parameters[i].argument.at, '_');
            number = behind != NULL ? strtoul(behind + 1, NULL, 10) : 0;
            if (!CHECK(number >= 2 && number <= COUNT && !seen[number])) break;
            seen[number] = true;
        }
        CHECK_EQ_INT(number, COUNT - 1);
    }
    spec_close(&s);
}

TEST(an_argument_takes_no_number_that_a_parameter_has_in_its_name) {
    const phi__operation *op;
    spec s;
    spec_open(&s, NULL,
              HEAD
              "\"paths\":{\"/x\":{\"get\":{\"operationId\":\"a\",\"parameters\":["
              "{\"in\":\"query\",\"name\":\"b_query_2\"},{\"in\":\"query\",\"name\":\"b_query\"},"
              "{\"in\":\"query\",\"name\":\"b_query_99999999999999999999\"},"
              "{\"in\":\"query\",\"name\":\"b?\"},{\"in\":\"query\",\"name\":\"b_\"},"
              "{\"in\":\"query\",\"name\":\"b\"},{\"in\":\"header\",\"name\":\"b\"},"
              "{\"in\":\"cookie\",\"name\":\"b_query\"},{\"in\":\"query\",\"name\":\"b!\"}]}}}}");
    op = spec_operation(&s, "a");
    if (CHECK(op != NULL) && CHECK_EQ_INT(op->parameter_count, 9)) {
        CHECK_STR(op->parameters[3].argument, "b_");
        CHECK_STR(op->parameters[4].argument, "b__query");
        CHECK_STR(op->parameters[5].argument, "b");
        CHECK_STR(op->parameters[6].argument, "b_header");
        CHECK_STR(op->parameters[7].argument, "b_query_cookie");
        CHECK_STR(op->parameters[8].argument, "b__query_2");
    }
    spec_close(&s);
}

TEST(definitions_of_the_same_name_have_numbers) {
    char *document = repeated(NULL, HEAD "\"components\":{\"schemas\":{",
                              "\"S$\":{\"properties\":{\"x\":{}}}", 4000, "}},");
    one_tool(repeated(document, BODY("application/json") "{\"anyOf\":[",
                      "{\"@ref\":\"#/components/schemas/S$/properties/x\"}", 2000, "]}}}}}}}}"),
             200000);
}

TEST(a_path_is_at_most_8192_bytes_long) {
    char *document =
        repeated(NULL, HEAD "\"paths\":{\"/", "aaaaaaaaaaaaaaaaaaaaaaaaaa{", 50000, "");
    skipped(repeated(document, "}\":{\"get\":{\"operationId\":\"a\",\"parameters\":[",
                     "{\"in\":\"path\",\"name\":\"a$\"}", 4000, "]}}}}"),
            "its path: it is longer than 8192 bytes");
}

TEST(parameters_that_lead_nowhere_are_counted) {
    char *document =
        repeated(NULL, HEAD "\"components\":{\"parameters\":{", "\"S$\":{}", 50000, "}},");
    skipped(repeated(document, "\"paths\":{\"/x\":{\"get\":{\"parameters\":[",
                     "{\"@ref\":\"#/components/parameters/S$\"}", 50000, "]}}}}"),
            "parameters[4096]: these are too many parameters");
}

TEST(choices_that_do_not_fit_are_left_out) {
    char *document = repeated(NULL, HEAD BODY("application/json") "{\"oneOf\":[", "{}", 300000,
                              "],\"anyOf\":[{\"type\":\"string\"}]}}}}}}}}");
    spec s;
    open_owned(&s, document);
    CHECK_EQ_STR(
        spec_schema(&s, "a"),
        "{\"type\":\"object\",\"properties\":{\"body\":{\"anyOf\":[{\"type\":\"string\"}]}}}");
    spec_close(&s);
}

TEST(a_large_mapping_of_many_variants_is_refused) {
    char *document = repeated(NULL,
                              HEAD "\"components\":{\"schemas\":{\"A\":{}}}," BODY(
                                  "application/json") "{\"discriminator\":{\"propertyName\":\"p\","
                                                      "\"mapping\":{",
                              "\"k$\":\"#/components/schemas/B\"", 50000, "}},\"anyOf\":[");
    skipped(repeated(document, "", "{\"@ref\":\"#/components/schemas/A\"}", 50000, "]}}}}}}}}"),
            "schema: its schema is too large");
}

TEST(many_references_cost_a_look_each) {
    char *document = repeated(NULL, HEAD "\"components\":{\"schemas\":{",
                              "\"S$\":{\"readOnly\":true}", 30000, "}},");
    one_tool(repeated(document, BODY("multipart/form-data") "{\"properties\":{",
                      "\"p$\":{\"@ref\":\"#/components/schemas/S$\"}", 30000, "}}}}}}}}}"),
             200);
}

TEST(odd_names_and_keywords_of_json_schema_are_survived) {
    const phi__operation *op;
    spec s;
    spec_open(&s, NULL,
              HEAD
              "\"paths\":{\"/x\":{\"get\":{\"operationId\":\"a\",\"parameters\":["
              "{\"in\":\"query\",\"name\":\"__proto__\",\"schema\":true},"
              "{\"in\":\"query\",\"name\":\"\",\"schema\":{}},"
              "{\"in\":\"header\",\"name\":\"a b\",\"schema\":false},"
              "{\"in\":\"cookie\",\"name\":\"\\u0000\\u00e9\",\"schema\":{\"type\":[\"string\","
              "\"null\",7],\"default\":7,\"enum\":[1,\"a\"],\"$anchor\":\"x\",\"$id\":\"y\","
              "\"$dynamicRef\":\"#x\",\"$defs\":{\"q\":{\"$ref\":\"#nowhere\"}}}}]}}}}");
    op = spec_operation(&s, "a");
    if (CHECK(op != NULL) && CHECK_EQ_INT(op->parameter_count, 3)) {
        CHECK_STR(op->parameters[0].argument, "__proto__");
        CHECK_STR(op->parameters[1].argument, "a_b");
        CHECK_STR(op->parameters[2].argument, "___");
        CHECK_EQ_STR(spec_schema(&s, "a"),
                     "{\"type\":\"object\",\"properties\":{\"__proto__\":{},"
                     "\"a_b\":{\"description\":\"(not allowed)\"},\"___\":{\"type\":[\"string\","
                     "\"null\"],\"default\":7,\"enum\":[1,\"a\"]}}}");
    }
    spec_close(&s);
}

TEST(names_are_given_in_slices) {
    char *document =
        repeated(NULL, HEAD "\"paths\":{", "\"/x$\":{\"get\":{\"operationId\":\"a\"}}", 4000, "}}");
    phi_openapi_operation op;
    unsigned steps = 0;
    spec s;
    spec_runtime(&s);
    s.api = open_text(s.rt, NULL, phi_str_of(document));
    while ((s.status = phi_openapi_step(s.api, NULL)) == PHI_BUSY) steps++;
    CHECK_EQ_INT(s.status, PHI_OK);
    CHECK(steps > 65); /* 32 of them for names */
    CHECK(open_at(s.api, 3999, &op));
    CHECK_EQ_INT(op.name.len, 10);
    spec_close(&s);
    spec_runtime(&s); /* freed in the midst */
    s.api = open_text(s.rt, NULL, phi_str_of(document));
    while (steps-- > 10) CHECK_EQ_INT(phi_openapi_step(s.api, NULL), PHI_BUSY);
    spec_close(&s);
    free(document);
}

TEST_MAIN(TEST_ENTRY(parameters_whose_names_differ_in_what_is_cut_off_have_arguments_of_their_own),
          TEST_ENTRY(an_argument_takes_no_number_that_a_parameter_has_in_its_name),
          TEST_ENTRY(definitions_of_the_same_name_have_numbers),
          TEST_ENTRY(a_path_is_at_most_8192_bytes_long),
          TEST_ENTRY(parameters_that_lead_nowhere_are_counted),
          TEST_ENTRY(choices_that_do_not_fit_are_left_out),
          TEST_ENTRY(a_large_mapping_of_many_variants_is_refused),
          TEST_ENTRY(many_references_cost_a_look_each),
          TEST_ENTRY(odd_names_and_keywords_of_json_schema_are_survived),
          TEST_ENTRY(names_are_given_in_slices))
