/* test_openapi.c - whole documents: the pet stores, versions, errors, filters, memory. */
#include "openapi/opened.h"
#include "agent/agent.h"
#include "openapi/spec.h"
#include "support/wires.h"

static void open_fixture(spec *s, const phi_openapi_desc *desc, const char *path) {
    char *text = test_fixture(path, NULL);
    spec_open(s, desc, text != NULL ? text : "");
    free(text);
    CHECK_EQ_INT(s->status, PHI_OK);
}

TEST(the_pet_store_of_3_0_becomes_seven_tools) {
    static const char *const names[] = {"listPets",   "createPet", "getPet",
                                        "deletePet",  "patchPet",  "put_pets_petId_photo",
                                        "probeOrders"};
    phi_openapi_operation op;
    size_t i;
    spec s;
    open_fixture(&s, NULL, "openapi/petstore_3.0.json");
    CHECK_EQ_INT(s.tools.skip_count, 0);
    REQUIRE(CHECK_EQ_INT(s.tools.count, 7));
    CHECK_EQ_INT(open_count(s.api), 7);
    for (i = 0; i < 7; i++) {
        CHECK_EQ_STR(s.tools.tools[i].name, names[i]);
        CHECK(open_at(s.api, s.tools.operations[i], &op));
        CHECK_STR(op.name, names[i]);
        CHECK_EQ_INT(op.read_only, i == 0 || i == 2 || i == 6);
        CHECK_EQ_INT(op.destructive, i == 3);
        CHECK_EQ_INT(op.deprecated, i == 3);
    }
    CHECK(phi_openapi_operation_at(s.api, 7) == NULL);
    CHECK_EQ_STR(s.tools.tools[0].description, "List pets");
    CHECK_EQ_STR(s.tools.tools[0].label, "List pets");
    CHECK_EQ_STR(s.tools.tools[1].description, "Adds a pet.");
    CHECK_EQ_STR(s.tools.tools[1].label, "createPet");
    CHECK_EQ_STR(s.tools.tools[3].description, "(deprecated) /pets/{petId}");
    spec_close(&s);
}

TEST(schemas_of_the_pet_store_of_3_0) {
    spec s;
    open_fixture(&s, NULL, "openapi/petstore_3.0.json");
    CHECK_EQ_STR(spec_schema(&s, "listPets"),
                 "{\"type\":\"object\",\"properties\":{"
                 "\"limit\":{\"description\":\"How many\",\"type\":\"integer\",\"maximum\":100},"
                 "\"tags\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
                 "\"filter\":{\"type\":\"object\",\"properties\":{\"kind\":{\"type\":\"string\"}}},"
                 "\"X-Trace\":{\"description\":\"For the log\",\"type\":\"string\"},"
                 "\"session\":{\"type\":\"string\"}}}");
    CHECK_EQ_STR(
        spec_schema(&s, "createPet"),
        "{\"type\":\"object\",\"properties\":{\"body\":{\"description\":\"The new pet\","
        "\"$ref\":\"#/$defs/"
        "Pet\"}},\"required\":[\"body\"],\"$defs\":{\"Pet\":{\"type\":\"object\","
        "\"required\":[\"name\"],\"properties\":{\"name\":{\"description\":\"(pattern: ^[A-Z])\","
        "\"type\":\"string\",\"examples\":[\"Rex\"]},\"secret\":{\"type\":\"string\"},"
        "\"age\":{\"type\":[\"integer\",\"null\"]},\"parent\":{\"$ref\":\"#/$defs/Pet\"}}}}}");
    CHECK_EQ_STR(spec_schema(&s, "getPet"),
                 "{\"type\":\"object\",\"properties\":{\"petId\":{\"type\":\"integer\","
                 "\"exclusiveMinimum\":0,\"format\":\"int64\"}},\"required\":[\"petId\"]}");
    CHECK_EQ_STR(
        spec_schema(&s, "put_pets_petId_photo"),
        "{\"type\":\"object\",\"properties\":{\"petId\":{\"type\":\"string\"},\"body\":{\"type\":"
        "\"object\",\"required\":[\"photo\"],\"properties\":{\"photo\":{\"anyOf\":[{\"type\":"
        "\"string\",\"description\":\"The content\"},{\"type\":\"object\",\"description\":\"A "
        "file\",\"properties\":{\"path\":{\"type\":\"string\",\"description\":\"Path of the file "
        "to "
        "send\"},\"filename\":{\"type\":\"string\",\"description\":\"Name to send (default: the "
        "file's own)\"}},\"required\":[\"path\"]}]},\"note\":{\"type\":\"string\"},\"about\":{"
        "\"type\":\"object\"}}}},\"required\":[\"petId\"]}");
    CHECK_EQ_STR(spec_schema(&s, "probeOrders"), "{\"type\":\"object\",\"properties\":{}}");
    spec_close(&s);
}

TEST(parameters_of_the_pet_store_of_3_0) {
    const phi__operation *op;
    spec s;
    open_fixture(&s, NULL, "openapi/petstore_3.0.json");
    op = spec_operation(&s, "listPets");
    REQUIRE(CHECK_EQ_INT(op->parameter_count, 5));
    CHECK_EQ_INT(op->parameters[0].place, PHI__OPERATION_QUERY);
    CHECK_EQ_INT(op->parameters[0].style, PHI__STYLE_FORM);
    CHECK(op->parameters[0].explode && !op->parameters[0].required);
    CHECK_EQ_INT(op->parameters[0].type, PHI_JSON_NUMBER);
    CHECK_EQ_INT(op->parameters[1].style, PHI__STYLE_PIPE);
    CHECK(!op->parameters[1].explode);
    CHECK_EQ_INT(op->parameters[2].style, PHI__STYLE_DEEP);
    CHECK_EQ_INT(op->parameters[3].place, PHI__OPERATION_HEADER);
    CHECK_EQ_INT(op->parameters[3].style, PHI__STYLE_SIMPLE);
    CHECK_EQ_INT(op->parameters[4].place, PHI__OPERATION_COOKIE);
    CHECK_STR(op->server, "https://eu.pets.example/v1");
    CHECK_STR(op->method, "GET");
    op = spec_operation(&s, "patchPet"); /* its own petId counts, not the path's */
    REQUIRE(CHECK_EQ_INT(op->parameter_count, 1));
    CHECK_EQ_INT(op->parameters[0].style, PHI__STYLE_MATRIX);
    CHECK_EQ_INT(op->body.kind, PHI__BODY_FORM);
    CHECK(!op->body.required);
    REQUIRE(CHECK_EQ_INT(op->body.property_count, 2));
    CHECK_STR(op->body.properties[1].name, "tags");
    CHECK(op->body.properties[1].has_style && !op->body.properties[1].explode);
    CHECK_EQ_INT(op->body.properties[1].style, PHI__STYLE_SPACE);
    op = spec_operation(&s, "put_pets_petId_photo");
    CHECK_EQ_INT(op->body.kind, PHI__BODY_MULTIPART);
    REQUIRE(CHECK_EQ_INT(op->body.property_count, 3));
    CHECK(op->body.properties[0].file && !op->body.properties[1].file);
    CHECK_STR(op->body.properties[0].content_type, "image/png");
    CHECK_STR(phi_json_str(phi_json_get(op->body.properties[0].headers, "X-From"), NULL), "phi");
    CHECK_EQ_INT(op->body.properties[2].type, PHI_JSON_OBJECT);
    op = spec_operation(&s, "probeOrders");
    CHECK_STR(op->server, "/orders-api");
    CHECK_EQ_INT(op->security_count, 0);
    spec_close(&s);
}

TEST(security_of_the_pet_store_of_3_0) {
    const phi__operation *op;
    spec s;
    open_fixture(&s, NULL, "openapi/petstore_3.0.json");
    op = spec_operation(&s, "listPets");
    REQUIRE(CHECK_EQ_INT(op->security_count, 1));
    REQUIRE(CHECK_EQ_INT(op->security[0].count, 1));
    CHECK_EQ_INT(op->security[0].schemes[0].kind, PHI__SCHEME_KEY);
    CHECK_STR(op->security[0].schemes[0].key, "X-Key");
    op = spec_operation(&s, "createPet");
    REQUIRE(CHECK_EQ_INT(op->security_count, 3));
    CHECK_EQ_INT(op->security[0].schemes[0].kind, PHI__SCHEME_OAUTH);
    CHECK_STR(op->security[0].schemes[0].token_url, "https://auth.pets.example/token");
    REQUIRE(CHECK_EQ_INT(op->security[0].schemes[0].scope_count, 1));
    CHECK_STR(op->security[0].schemes[0].scopes[0], "pets:write");
    REQUIRE(CHECK_EQ_INT(op->security[1].count, 2));
    CHECK_EQ_INT(op->security[1].schemes[0].kind, PHI__SCHEME_BASIC);
    CHECK_EQ_INT(op->security[2].count, 0);
    spec_close(&s);
}

TEST(the_pet_store_of_3_1_becomes_two_tools) {
    const phi__operation *op;
    spec s;
    open_fixture(&s, NULL, "openapi/petstore_3.1.json");
    REQUIRE(CHECK_EQ_INT(s.tools.count, 2));
    CHECK_EQ_STR(
        spec_schema(&s, "createPet"),
        "{\"type\":\"object\",\"properties\":{\"body\":{\"$ref\":\"#/$defs/Animal\"}},\"required\":"
        "[\"body\"],\"$defs\":{\"Animal\":{\"description\":\"(its variant is named by the property "
        "kind)\",\"oneOf\":[{\"allOf\":[{\"$ref\":\"#/$defs/Cat\"},{\"type\":\"object\","
        "\"properties\":{\"kind\":{\"enum\":[\"cat\",\"lion\"]}},\"required\":[\"kind\"]}]},"
        "{\"allOf\":[{\"$ref\":\"#/$defs/Dog\"},{\"type\":\"object\",\"properties\":{\"kind\":{"
        "\"enum\":[\"Dog\"]}},\"required\":[\"kind\"]}]}]},\"Cat\":{\"description\":"
        "\"(unevaluatedProperties: false)\",\"type\":\"object\",\"properties\":{\"kind\":{\"type\":"
        "\"string\"},\"lives\":{\"type\":[\"integer\",\"null\"],\"exclusiveMaximum\":10}}},"
        "\"Dog\":{\"properties\":{\"bark\":{\"type\":\"boolean\"}},\"allOf\":[{\"$ref\":"
        "\"#/$defs/Base\"}]},\"Base\":{\"type\":\"object\",\"required\":[\"kind\"],\"properties\":{"
        "\"kind\":{\"type\":\"string\"}}}}}");
    op = spec_operation(&s, "getToy"); /* {id} is declared nowhere: a text that is required */
    REQUIRE(CHECK_EQ_INT(op->parameter_count, 2));
    CHECK_STR(op->parameters[0].content_type, "application/json");
    CHECK_STR(op->parameters[1].name, "id");
    CHECK(op->parameters[1].required);
    spec_close(&s);
}

/* What a model is offered of the three sources: names, descriptions and schemas. */
static char *offered(const spec *s) {
    static char text[3][20000];
    static int next;
    char *out = text[next++ % 3];
    size_t i, at = 0;
    out[0] = '\0';
    for (i = 0; i < s->tools.count && at < sizeof text[0]; i++)
        at += (size_t)snprintf(out + at, sizeof text[0] - at, "%s: %s %s\n", s->tools.tools[i].name,
                               s->tools.tools[i].description, s->tools.tools[i].schema);
    CHECK(at < sizeof text[0]);
    return out;
}

TEST(a_text_a_file_and_an_address_give_the_same_tools) {
    char *text = test_fixture("openapi/petstore_3.0.json", NULL);
    const char *want, *got;
    wires w;
    int i;
    spec s;
    REQUIRE(text != NULL);
    spec_open(&s, NULL, text);
    CHECK_EQ_INT(s.tools.count, 7);
    want = offered(&s);
    spec_close(&s);
    spec_runtime(&s);
    s.api = open_file(s.rt, NULL, "tests/fixtures/openapi/petstore_3.0.json");
    spec_read(&s);
    got = offered(&s);
    CHECK_EQ_STR(got, want);
    spec_close(&s);
    wires_init(&w);
    memset(&s, 0, sizeof s);
    s.rt = wires_runtime(&w, NULL);
    s.api = open_url(s.rt, NULL, "https://h.example/petstore.json");
    for (i = 0; i < 100 && w.count == 0 && phi_openapi_step(s.api, NULL) == PHI_BUSY; i++)
        (void)phi_step(s.rt, 0);
    REQUIRE(CHECK_EQ_INT(w.count, 1));
    wires_reply(&w, 0, 200, "Content-Type: application/json\r\n", text);
    for (i = 0; i < 100 && (s.status = phi_openapi_step(s.api, NULL)) == PHI_BUSY; i++)
        (void)phi_step(s.rt, 0);
    if (CHECK_EQ_INT(s.status, PHI_OK)) {
        while ((s.status = phi_openapi_select(s.api, NULL, &s.tools)) == PHI_BUSY) {}
        got = offered(&s);
        CHECK_EQ_STR(got, want);
    }
    spec_close(&s);
    wires_free(&w);
    free(text);
}

TEST(an_agent_takes_the_tools_of_both) {
    static const char *const paths[] = {"openapi/petstore_3.0.json", "openapi/petstore_3.1.json"};
    phi_agent_desc desc;
    phi_agent agent;
    size_t i;
    spec s;
    for (i = 0; i < 2; i++) {
        open_fixture(&s, NULL, paths[i]);
        memset(&desc, 0, sizeof desc);
        desc.model = phi_model_anthropic("claude-sonnet-4-5", "key");
        desc.tools = s.tools.tools;
        desc.tool_count = s.tools.count;
        agent = phi_agent_new(s.rt, &desc);
        CHECK(agent.rt != NULL);
        phi_agent_free(agent);
        spec_close(&s);
    }
}

/* ---- faults ---- */

static void refused(const char *text, phi_status status, unsigned line, unsigned column,
                    const char *message) {
    spec s;
    spec_open(&s, NULL, text);
    CHECK_EQ_INT(s.status, status);
    CHECK_EQ_INT(open_error(s.api)->line, line);
    CHECK_EQ_INT(open_error(s.api)->column, column);
    CHECK_EQ_STR(open_error(s.api)->message, message);
    CHECK_EQ_INT(open_count(s.api), 0);
    CHECK_EQ_INT(phi_openapi_select(s.api, NULL, &s.tools), PHI_MISUSE);
    CHECK_EQ_INT(phi_openapi_step(s.api, NULL), status); /* it stays */
    spec_close(&s);
}

TEST(what_is_no_document_is_refused_with_its_place) {
    refused("{\"swagger\":\"2.0\"}", PHI_UNSUPPORTED, 0, 0,
            "OpenAPI version 2.0: expected 3.0 or 3.1");
    refused("{\"openapi\":\"3.2.0\"}", PHI_UNSUPPORTED, 0, 0,
            "OpenAPI version 3.2.0: expected 3.0 or 3.1");
    refused("{}", PHI_UNSUPPORTED, 0, 0, "this is no OpenAPI document: \"openapi\" is missing");
    refused("[]", PHI_UNSUPPORTED, 0, 0, "this is no OpenAPI document: expected an object");
    refused("{\n \"openapi\": nope}", PHI_PARSE, 2, 14,
            "not valid JSON: expected 'null', found 'o'");
    refused("openapi: 3.0.0\npaths: *nowhere\n", PHI_PARSE, 2, 8,
            "not valid YAML: an alias to an anchor that is not defined before it");
}

TEST(a_document_without_operations_is_good) {
    spec s;
    spec_open(&s, NULL, " \n{\"openapi\":\"3.1.0\"}");
    CHECK_EQ_INT(s.status, PHI_OK);
    CHECK_EQ_INT(s.tools.count + open_count(s.api), 0);
    CHECK_EQ_INT(phi_openapi_select(s.api, NULL, &s.tools), PHI_OK); /* twice */
    spec_close(&s);
    spec_open(&s, NULL,
              "\xef\xbb\xbf{\"openapi\":\"3.0\",\"paths\":[],\"components\":{\"schemas\":3}}");
    CHECK_EQ_INT(s.status, PHI_OK);
    spec_close(&s);
}

TEST(a_document_that_is_too_large_is_refused) {
    phi_openapi_desc desc;
    spec s;
    memset(&desc, 0, sizeof desc);
    desc.max_document_bytes = 10;
    spec_open(&s, &desc, "{\"openapi\":\"3.0\"}");
    CHECK_EQ_INT(s.status, PHI_TOO_BIG);
    CHECK_EQ_STR(open_error(s.api)->message, "the document is larger than max_document_bytes, 10");
    spec_close(&s);
}

TEST(settings_are_checked) {
    static const phi_openapi_pair broken = {"X-A", "1\r\nX-B: 2"}, blank = {"X A", "1"};
    phi_openapi_desc desc;
    const char *words;
    spec s;
    spec_runtime(&s);
    memset(&desc, 0, sizeof desc);
    desc.headers = &broken;
    desc.header_count = 1;
    CHECK(open_text(s.rt, &desc, phi_str_of("{}")) == NULL);
    words = phi_last_error(s.rt).message;
    CHECK_EQ_INT(phi_last_error(s.rt).status, PHI_BAD_ARG);
    CHECK_EQ_STR(words, "phi_openapi_new: headers: each needs a name and a value, without line "
                        "breaks");
    desc.headers = &blank;
    CHECK(open_text(s.rt, &desc, phi_str_of("{}")) == NULL);
    memset(&desc, 0, sizeof desc);
    desc.auth.user = "a:b";
    CHECK(open_text(s.rt, &desc, phi_str_of("{}")) == NULL);
    memset(&desc, 0, sizeof desc);
    desc.auth.bearer_token = "a\n";
    CHECK(open_file(s.rt, &desc, "x") == NULL);
    memset(&desc, 0, sizeof desc);
    desc.auth.client_secret = "a";
    CHECK(open_text(s.rt, &desc, phi_str_of("{}")) == NULL);
    CHECK(open_file(s.rt, NULL, NULL) == NULL);
    words = phi_last_error(s.rt).message;
    CHECK_EQ_INT(phi_last_error(s.rt).status, PHI_BAD_ARG);
    CHECK_EQ_STR(words, "phi_openapi_new: expected one of text, path and url");
    desc.path = "x";
    CHECK(open_text(s.rt, &desc, phi_str_of("{}")) == NULL); /* two of them */
    CHECK(phi_openapi_new(s.rt, NULL) == NULL);
    CHECK(open_text(NULL, NULL, phi_str_of("{}")) == NULL);
    CHECK_EQ_INT(phi_openapi_step(NULL, NULL), PHI_BAD_ARG);
    phi_openapi_free(NULL);
    CHECK_EQ_STR(open_error(NULL)->message, "");
    phi_runtime_free(s.rt);
}

TEST(a_file_is_read_in_slices) {
    spec s;
    spec_runtime(&s);
    s.api = open_file(s.rt, NULL, "tests/fixtures/openapi/petstore_3.0.json");
    spec_read(&s);
    CHECK_EQ_INT(s.status, PHI_OK);
    CHECK_EQ_INT(s.tools.count, 7);
    phi_openapi_free(s.api);
    s.api = open_file(s.rt, NULL, "tests/fixtures/openapi/none.json");
    CHECK_EQ_INT(phi_openapi_step(s.api, NULL), PHI_NOT_FOUND);
    CHECK_EQ_STR(open_error(s.api)->message, "No such file or directory");
    spec_close(&s);
}

TEST(reading_can_be_broken_off_at_any_step) {
    char *text = test_fixture("openapi/petstore_3.0.json", NULL);
    phi_runtime_desc desc;
    phi_openapi *api;
    phi_runtime *rt;
    int steps, i;
    phi_status status = PHI_BUSY;
    memset(&desc, 0, sizeof desc);
    desc.allocator = test_allocator();
    desc.step_budget_bytes = 100;
    rt = phi_runtime_new(&desc);
    for (steps = 1; status == PHI_BUSY && steps < 1000; steps++) {
        api = open_text(rt, NULL, phi_str_of(text));
        for (i = 0; i < steps; i++) status = phi_openapi_step(api, NULL);
        phi_openapi_free(api);
    }
    CHECK_EQ_INT(status, PHI_OK);
    CHECK(steps > 20);
    phi_runtime_free(rt);
    free(text);
}

/* ---- selections ---- */

static size_t selected(spec *s, const char *const *ids, const char *const *tags,
                       const char *const *prefixes, const char *const *methods) {
    phi_openapi_filter filter;
    phi_openapi_tools tools;
    size_t count;
    phi_status status;
    filter.operation_ids = ids;
    filter.tags = tags;
    filter.path_prefixes = prefixes;
    filter.methods = methods;
    memset(&tools, 0, sizeof tools);
    while ((status = phi_openapi_select(s->api, &filter, &tools)) == PHI_BUSY) {}
    CHECK_EQ_INT(status, PHI_OK);
    count = tools.count;
    return count;
}

TEST(filters_choose_by_id_tag_path_and_method) {
    static const char *const ids[] = {"getPet", "listPets", "listpets", NULL};
    static const char *const pets[] = {"pets", NULL}, *const none[] = {NULL};
    static const char *const below[] = {"/pets/{petId}", NULL}, *const half[] = {"/pet", NULL};
    static const char *const slash[] = {"/", NULL}, *const ends[] = {"/pets/", NULL};
    static const char *const get[] = {"get", "HEAD", NULL};
    spec s;
    open_fixture(&s, NULL, "openapi/petstore_3.0.json");
    CHECK_EQ_INT(selected(&s, ids, NULL, NULL, NULL), 2);
    CHECK_EQ_INT(selected(&s, NULL, pets, NULL, NULL), 5);
    CHECK_EQ_INT(selected(&s, NULL, NULL, below, NULL), 4);
    CHECK_EQ_INT(selected(&s, NULL, NULL, half, NULL), 0);
    CHECK_EQ_INT(selected(&s, NULL, NULL, slash, NULL), 7);
    CHECK_EQ_INT(selected(&s, NULL, NULL, ends, NULL), 6);
    CHECK_EQ_INT(selected(&s, NULL, NULL, NULL, get), 3);
    CHECK_EQ_INT(selected(&s, NULL, pets, NULL, get), 2);
    CHECK_EQ_INT(selected(&s, none, NULL, NULL, NULL), 0);
    spec_close(&s);
}

TEST(what_destroys_or_changes_may_need_approval) {
    phi_openapi_desc desc;
    spec s;
    memset(&desc, 0, sizeof desc);
    desc.destructive_needs_approval = true;
    open_fixture(&s, &desc, "openapi/petstore_3.0.json");
    CHECK(spec_tool(&s, "deletePet")->needs_approval);
    CHECK(!spec_tool(&s, "createPet")->needs_approval);
    spec_close(&s);
    desc.needs_approval = true;
    open_fixture(&s, &desc, "openapi/petstore_3.0.json");
    CHECK(spec_tool(&s, "createPet")->needs_approval);
    CHECK(!spec_tool(&s, "getPet")->needs_approval);
    spec_close(&s);
}

/* ---- memory ---- */

static void read_and_select(const char *text) {
    spec s;
    spec_runtime(&s);
    if (s.rt == NULL) return;
    s.api = open_text(s.rt, NULL, phi_str_of(text));
    if (s.api != NULL) {
        spec_read(&s);
        CHECK(s.status == PHI_OK || s.status == PHI_NO_MEMORY);
        if (s.status == PHI_NO_MEMORY) CHECK(s.tools.work == NULL && s.tools.count == 0);
        if (s.status == PHI_OK) CHECK_EQ_INT(s.tools.skip_count, 0);
        phi_openapi_free(s.api);
    }
    phi_runtime_free(s.rt);
}

TEST(every_allocation_may_fail) {
    static const char *const paths[] = {"openapi/petstore_3.0.json", "openapi/petstore_3.1.json"};
    size_t i;
    for (i = 0; i < 2; i++) {
        char *text = test_fixture(paths[i], NULL);
        int n = 0;
        bool tripped;
        do {
            test_alloc_fail_at(n++);
            read_and_select(text);
            tripped = test_alloc_tripped();
            test_alloc_fail_at(-1);
            CHECK_EQ_INT(test_alloc_live_bytes(), 0);
        } while (tripped && test_failures() == 0);
        CHECK(n > 30);
        free(text);
    }
}

TEST(a_text_that_ends_early_is_never_a_document) {
    size_t len, i;
    char *text = test_fixture("openapi/petstore_3.1.json", &len);
    while (len > 0 && text[len - 1] != '}') len--;
    for (i = 1; i < len; i += 7) {
        spec s;
        spec_runtime(&s);
        s.api = open_text(s.rt, NULL, phi__str(text, i));
        spec_read(&s);
        CHECK_EQ_INT(s.status, PHI_PARSE);
        spec_close(&s);
    }
    free(text);
}

TEST_MAIN(TEST_ENTRY(the_pet_store_of_3_0_becomes_seven_tools),
          TEST_ENTRY(schemas_of_the_pet_store_of_3_0),
          TEST_ENTRY(parameters_of_the_pet_store_of_3_0),
          TEST_ENTRY(security_of_the_pet_store_of_3_0),
          TEST_ENTRY(the_pet_store_of_3_1_becomes_two_tools),
          TEST_ENTRY(a_text_a_file_and_an_address_give_the_same_tools),
          TEST_ENTRY(an_agent_takes_the_tools_of_both),
          TEST_ENTRY(what_is_no_document_is_refused_with_its_place),
          TEST_ENTRY(a_document_without_operations_is_good),
          TEST_ENTRY(a_document_that_is_too_large_is_refused), TEST_ENTRY(settings_are_checked),
          TEST_ENTRY(a_file_is_read_in_slices), TEST_ENTRY(reading_can_be_broken_off_at_any_step),
          TEST_ENTRY(filters_choose_by_id_tag_path_and_method),
          TEST_ENTRY(what_destroys_or_changes_may_need_approval),
          TEST_ENTRY(every_allocation_may_fail),
          TEST_ENTRY(a_text_that_ends_early_is_never_a_document))
