/* test_config_tables.c - what every table keeps to; structs filled by tables; the JSON Schema. */
#include "config/config_tables_in.h"
#include "config/config_test.h"

static phi_memory memory;
static phi_arena arena;

static void setup(void) {
    phi_allocator allocator = test_allocator();
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
}

static void teardown(void) { phi_arena_free(&arena); }

/* ---- every table ---- */

static void check_default(const phi__cfg_field *field) {
    phi_json *value = NULL;
    phi_status status = phi_json_parse(&arena, phi_str_of(field->fallback), 0, &value, NULL);
    if (!CHECK_EQ_INT(status, PHI_OK)) printf("default of %s\n", field->key);
    if (phi_json_is(value, PHI_JSON_NULL)) return;
    switch (field->kind) {
    case PHI__CFG_INTEGER:
    case PHI__CFG_NUMBER:
    case PHI__CFG_SECONDS:
        CHECK(phi_json_num(value, -1) >= field->min);
        CHECK(field->max <= 0 || phi_json_num(value, -1) <= field->max);
        break;
    case PHI__CFG_BOOL: CHECK(phi_json_is(value, PHI_JSON_BOOL)); break;
    case PHI__CFG_CHOICE:
        CHECK(phi__choice_find(field->choices, phi_json_str(value, ""), NULL));
        break;
    case PHI__CFG_TEXT: CHECK(phi_json_is(value, PHI_JSON_STRING)); break;
    case PHI__CFG_BITS:
    case PHI__CFG_TEXTS:
    case PHI__CFG_TABLES: CHECK(phi_json_is(value, PHI_JSON_ARRAY)); break;
    default: CHECK(phi_json_is(value, PHI_JSON_OBJECT)); break;
    }
}

static void check_field(const phi__cfg_field *field) {
    static const uint8_t sizes[] = {sizeof(char *),
                                    sizeof(bool),
                                    0,
                                    sizeof(double),
                                    sizeof(uint32_t),
                                    sizeof(int),
                                    sizeof(phi__cfg_texts),
                                    0,
                                    sizeof(phi_json *),
                                    sizeof(phi_json *),
                                    sizeof(phi_json *),
                                    sizeof(phi_json *),
                                    sizeof(phi_json *)};
    size_t n = strlen(field->text);
    bool references =
        (field->flags & (PHI__CFG_REFERENCE | PHI__ONLY_REFERENCE | PHI__CFG_ID | PHI__CFG_NAME)) !=
        0;
    bool good = sizes[field->kind] == 0 || sizes[field->kind] == field->size ||
                (field->flags & PHI__CFG_PART) != 0;
    if (field->kind == PHI__CFG_TEXTS && field->size == sizeof(char **)) /* the count follows */
        good = field->twin == field->offset + sizeof(char **);
    good = CHECK(good) && CHECK(n > 0 && field->text[n - 1] == '.');
    good = CHECK((field->space != NULL) == references) && good;
    if (field->kind == PHI__CFG_CHOICE) good = CHECK(field->choices != NULL) && good;
    if (field->kind == PHI__CFG_TABLE || field->kind == PHI__CFG_TABLES)
        good = CHECK(field->table != NULL) && good;
    if (!good) printf("field %s\n", field->key);
    check_default(field);
}

/* Returns how many fields there are in it and below. */
static size_t check_table(const phi__cfg_table *table, int depth) {
    const phi__cfg_field *field, *other;
    size_t i, j, all = 0;
    CHECK(depth < 8);
    for (i = 0; (field = phi__fields_at(table, i)) != NULL; i++) {
        check_field(field);
        CHECK(phi__fields_find(table, phi_str_of(field->key), &j) == field && j == i);
        for (j = 0; j < i && (other = phi__fields_at(table, j)) != NULL; j++) {
            CHECK(strcmp(field->key, other->key) != 0);
            CHECK(field->offset != other->offset);
        }
        if (field->table != NULL) all += check_table(field->table(), depth + 1);
    }
    CHECK(i <= 64);
    return all + i;
}

TEST(every_field_has_a_place_a_default_and_a_sentence) {
    setup();
    CHECK(check_table(phi__table_top(), 0) > 250);
    teardown();
}

/* ---- taking ---- */

static phi_json *read_json(const char *text) {
    phi_json *out = NULL;
    CHECK_EQ_INT(phi_json_parse(&arena, phi_str_of(text), 0, &out, NULL), PHI_OK);
    return out;
}

TEST(a_struct_is_filled_from_a_base_and_an_instance_over_it) {
    phi__cfg_provider p = PHI_ZERO;
    const phi__cfg_table *table = phi__table_provider_instance();
    setup();
    CHECK(phi__cfg_take(&arena,
                        read_json("{\"model\":\"a\",\"api\":\"OpenAI\",\"max_tokens\":5,"
                                  "\"url\":\"u\"}"),
                        phi__table_provider(), &p));
    CHECK(phi__cfg_take(&arena,
                        read_json("{\"id\":\"x\",\"model\":\"b\",\"reasoning\":true,"
                                  "\"name\":null,\"no_field\":1}"),
                        table, &p));
    CHECK(phi__cfg_take(&arena, NULL, table, &p));
    CHECK_EQ_STR(p.model, "b");
    CHECK_EQ_STR(p.id, "x");
    CHECK_EQ_STR(p.base_url, "u");
    CHECK(p.name == NULL && p.reasoning);
    CHECK_EQ_INT(p.api, PHI__CFG_API_OPENAI_CHAT);
    CHECK_EQ_INT(p.max_tokens, 5);
    CHECK(phi__fields_has(table, &p, "model"));
    CHECK(phi__fields_has(table, &p, "url"));
    CHECK(!phi__fields_has(table, &p, "name"));
    CHECK(!phi__fields_has(table, &p, "preset"));
    CHECK(!phi__fields_has(table, &p, "no_field"));
    teardown();
}

TEST(twins_tell_a_zero_from_a_missing_field) {
    phi_retry retry = PHI_ZERO;
    phi_request_options options = PHI_ZERO;
    setup();
    CHECK(phi__cfg_take(&arena, read_json("{\"max_delay_ms\":7}"), phi__table_retry(), &retry));
    CHECK(phi__cfg_take(&arena, read_json("{\"top_k\":7}"), phi__table_options(), &options));
    CHECK(!retry.disable && !options.has_seed);
    CHECK(phi__cfg_take(&arena, read_json("{\"max_retries\":0}"), phi__table_retry(), &retry));
    CHECK(phi__cfg_take(&arena, read_json("{\"seed\":0,\"stop\":[\"a\",\"b\"]}"),
                        phi__table_options(), &options));
    CHECK(retry.disable && options.has_seed);
    CHECK_EQ_INT(options.stop_count, 2);
    CHECK_EQ_STR(options.stop[1], "b");
    CHECK(phi__cfg_take(&arena, read_json("{\"max_retries\":2}"), phi__table_retry(), &retry));
    CHECK(!retry.disable);
    teardown();
}

TEST(every_kind_is_taken) {
    phi__cfg_execution e = PHI_ZERO;
    phi__cfg_tools t = PHI_ZERO;
    phi__cfg_failover f = PHI_ZERO;
    phi__cfg_tot tot = PHI_ZERO;
    phi__cfg_prompt_block block = PHI_ZERO;
    setup();
    CHECK(phi__cfg_take(&arena,
                        read_json("{\"max_turns\":\"unlimited\",\"max_total_tokens\":"
                                  "\"unlimited\",\"max_duration_secs\":1.5,\"max_cost\":2.5,"
                                  "\"pause\":true,\"retry\":{\"max_retries\":2}}"),
                        phi__table_execution(), &e));
    CHECK_EQ_INT(e.desc.limits.max_turns, PHI_UNLIMITED);
    CHECK(e.desc.limits.max_tokens == UINT64_MAX);
    CHECK_EQ_INT(e.desc.limits.max_duration_ms, 1500);
    CHECK(e.desc.limits.max_cost == 2.5 && e.desc.limits.pause && e.desc.retry.max_retries == 2);
    CHECK(phi__cfg_take(&arena, read_json("{\"enabled\":[\"a\",\"b\"],\"strategy\":\"Batched\"}"),
                        phi__table_tools(), &t));
    CHECK_EQ_INT(t.enabled.count, 2);
    CHECK_EQ_STR(t.enabled.at[1], "b");
    CHECK(t.enabled.at[2] == NULL);
    CHECK_EQ_INT(t.mode, PHI_TOOLS_BATCHED);
    CHECK(phi__cfg_take(&arena, read_json("{\"on\":[\"server\",\"no-model\"],\"stay\":\"for\"}"),
                        phi__table_failover(), &f));
    CHECK_EQ_INT(f.failover.on, PHI_FAILOVER_SERVER | PHI_FAILOVER_NO_MODEL);
    CHECK_EQ_INT(f.failover.stay, PHI_FAILOVER_STAY_FOR);
    CHECK(phi__cfg_take(&arena, read_json("{\"traversal\":\"dfs\",\"max_nodes\":7}"),
                        phi__table_tot(), &tot));
    CHECK_EQ_INT(tot.traversal, PHI_TOT_DFS);
    CHECK_EQ_INT(tot.max_nodes, 7);
    CHECK(phi__cfg_take(&arena, read_json("{\"order\":-2,\"max_length\":3}"),
                        phi__table_prompt_block(), &block));
    CHECK_EQ_INT(block.order, -2);
    CHECK_EQ_INT(block.max_length, 3);
    teardown();
}

TEST(each_quirk_has_the_name_of_its_bit) {
    static const struct {
        const char *name;
        uint64_t bit;
    } rows[] = {{"max_completion_tokens", PHI_QUIRK_MAX_COMPLETION_TOKENS},
                {"developer_role", PHI_QUIRK_DEVELOPER_ROLE},
                {"store_false", PHI_QUIRK_STORE_FALSE},
                {"reasoning_effort", PHI_QUIRK_REASONING_EFFORT},
                {"reasoning_object", PHI_QUIRK_REASONING_OBJECT},
                {"thinking_type", PHI_QUIRK_THINKING_TYPE},
                {"enable_thinking", PHI_QUIRK_ENABLE_THINKING},
                {"no_stream_usage", PHI_QUIRK_NO_STREAM_USAGE},
                {"tool_name_in_result", PHI_QUIRK_TOOL_NAME_IN_RESULT},
                {"replay_reasoning", PHI_QUIRK_REPLAY_REASONING},
                {"reasoning_required", PHI_QUIRK_REASONING_REQUIRED},
                {"empty_content", PHI_QUIRK_EMPTY_CONTENT},
                {"id_9", PHI_QUIRK_ID_9},
                {"thinking_parts", PHI_QUIRK_THINKING_PARTS},
                {"cache_key", PHI_QUIRK_CACHE_KEY},
                {"open_key", PHI_QUIRK_OPEN_KEY},
                {"tool_stream", PHI_QUIRK_TOOL_STREAM},
                {"empty_is_overflow", PHI_QUIRK_EMPTY_IS_OVERFLOW},
                {"adaptive_thinking", PHI_QUIRK_ADAPTIVE_THINKING},
                {"cache_control", PHI_QUIRK_CACHE_CONTROL},
                {"no_images", PHI_QUIRK_NO_IMAGES},
                {"assistant_after_tool", PHI_QUIRK_ASSISTANT_AFTER_TOOL},
                {"reasoning_enabled", PHI_QUIRK_REASONING_ENABLED},
                {"reasoning_format", PHI_QUIRK_REASONING_FORMAT},
                {"tool_choice_any", PHI_QUIRK_TOOL_CHOICE_ANY},
                {"prompt_mode", PHI_QUIRK_PROMPT_MODE},
                {"template_thinking", PHI_QUIRK_TEMPLATE_THINKING},
                {"keep_thinking", PHI_QUIRK_KEEP_THINKING},
                {"empty_tools", PHI_QUIRK_EMPTY_TOOLS},
                {"no_json_schema", PHI_QUIRK_NO_JSON_SCHEMA},
                {"format_alone", PHI_QUIRK_FORMAT_ALONE},
                {"strict_tools", PHI_QUIRK_STRICT_TOOLS},
                {"think_tags", PHI_QUIRK_THINK_TAGS},
                {"think_open", PHI_QUIRK_THINK_OPEN},
                {"text_calls", PHI_QUIRK_TEXT_CALLS},
                {"repair_calls", PHI_QUIRK_REPAIR_CALLS}};
    phi__cfg_choice choice = PHI_ZERO;
    size_t i;
    choice.next = phi__names_quirks();
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CHECK(phi__choice_next(&choice));
        CHECK_EQ_STR(choice.name, rows[i].name);
        CHECK((uint64_t)1 << choice.value == rows[i].bit);
    }
    CHECK(!phi__choice_next(&choice));
}

TEST(each_choice_has_the_number_of_its_name) {
    static const struct {
        phi__cfg_table_fn table;
        const char *key, *name;
        int value;
    } rows[] = {{phi__table_provider, "api", "google-vertex", PHI__CFG_API_VERTEX},
                {phi__table_provider, "api", "azure", PHI__CFG_API_AZURE},
                {phi__table_provider, "api", "bedrock", PHI__CFG_API_BEDROCK},
                {phi__table_profile, "thinking_level", "off", PHI_THINKING_OFF},
                {phi__table_profile, "thinking_level", "medium", PHI_THINKING_MEDIUM},
                {phi__table_profile, "thinking_level", "max", PHI_THINKING_MAX},
                {phi__table_agent, "keep", "complete", PHI_KEEP_COMPLETE},
                {phi__table_agent, "keep", "none", PHI_KEEP_NONE},
                {phi__table_agent, "steering_mode", "one_at_a_time", PHI_QUEUE_ONE_AT_A_TIME},
                {phi__table_agent, "follow_up_mode", "all", PHI_QUEUE_ALL},
                {phi__table_agent, "at_memory_limit", "compact", PHI_AT_MEMORY_LIMIT_COMPACT},
                {phi__table_agent, "at_memory_limit", "forget", PHI_AT_MEMORY_LIMIT_FORGET},
                {phi__table_agent, "at_memory_limit", "stop", PHI_AT_MEMORY_LIMIT_STOP},
                {phi__table_format, "type", "text", PHI_FORMAT_TEXT},
                {phi__table_format, "type", "json", PHI_FORMAT_JSON_OBJECT},
                {phi__table_format, "type", "JSON_schema", PHI_FORMAT_JSON_SCHEMA},
                {phi__table_policy, "summaries", "use", PHI_SUMMARIES_USE},
                {phi__table_policy, "summaries", "none", PHI_SUMMARIES_NONE},
                {phi__table_policy, "summaries", "request", PHI_SUMMARIES_REQUEST},
                {phi__table_policy, "summaries", "write", PHI_SUMMARIES_WRITE},
                {phi__table_policy, "summary_role", "user", PHI_ROLE_USER},
                {phi__table_policy, "summary_role", "assistant", PHI_ROLE_ASSISTANT},
                {phi__table_effects, "mode", "allow_all", PHI_EFFECTS_ALLOW_ALL},
                {phi__table_effects, "mode", "deny_all", PHI_EFFECTS_DENY_ALL},
                {phi__table_effects, "mode", "allow_list", PHI_EFFECTS_ALLOW_LIST},
                {phi__table_session, "scope", "persistent", 1},
                {phi__table_tools, "tool_strategy", "sequential", PHI_TOOLS_SEQUENTIAL},
                {phi__table_tools, "tool_strategy", "parallel", PHI_TOOLS_PARALLEL},
                {phi__table_tools, "tool_strategy", "batched", PHI_TOOLS_BATCHED},
                {phi__table_tools, "choice", "auto", PHI_TOOL_CHOICE_AUTO},
                {phi__table_tools, "choice", "none", PHI_TOOL_CHOICE_NONE},
                {phi__table_tools, "choice", "required", PHI_TOOL_CHOICE_REQUIRED},
                {phi__table_failover, "stay", "run", PHI_FAILOVER_STAY_RUN},
                {phi__table_failover, "stay", "ever", PHI_FAILOVER_STAY_EVER},
                {phi__table_compaction, "scope", "runs", PHI_COMPACTION_RUNS},
                {phi__table_compaction, "scope", "tokens", PHI_COMPACTION_TOKENS},
                {phi__table_cache, "strategy", "auto", PHI_CACHE_AUTO},
                {phi__table_cache, "strategy", "disabled", PHI_CACHE_DISABLED},
                {phi__table_cache, "strategy", "manual", PHI_CACHE_MANUAL},
                {phi__table_strategy, "type", "cot", 0},
                {phi__table_strategy, "type", "adaptive", 6},
                {phi__table_aot, "profile", "standard", PHI_AOT_STANDARD},
                {phi__table_aot, "profile", "short", PHI_AOT_SHORT},
                {phi__table_aot, "profile", "long", PHI_AOT_LONG},
                {phi__table_aot, "style", "dfs", PHI_AOT_DFS},
                {phi__table_aot, "style", "bfs", PHI_AOT_BFS},
                {phi__table_tot, "traversal", "bfs", PHI_TOT_BFS},
                {phi__table_tot, "traversal", "dfs", PHI_TOT_DFS},
                {phi__table_got, "aggregation", "synthesis", PHI_GOT_SYNTHESIS},
                {phi__table_got, "aggregation", "voting", PHI_GOT_VOTING},
                {phi__table_got, "aggregation", "weighted", PHI_GOT_WEIGHTED}};
    static const struct {
        phi__cfg_table_fn table;
        const char *key, *name;
        unsigned bit;
    } bits[] = {{phi__table_policy, "include", "messages", PHI_INCLUDE_MESSAGES},
                {phi__table_policy, "include", "tools", PHI_INCLUDE_TOOLS},
                {phi__table_policy, "include", "summaries", PHI_INCLUDE_SUMMARIES},
                {phi__table_effects, "allow", "merge", PHI_EFFECT_MERGE},
                {phi__table_effects, "allow", "replace", PHI_EFFECT_REPLACE},
                {phi__table_effects, "allow", "delete_keys", PHI_EFFECT_DELETE_KEYS},
                {phi__table_effects, "deny", "set_path", PHI_EFFECT_SET_PATH},
                {phi__table_effects, "deny", "delete_path", PHI_EFFECT_DELETE_PATH},
                {phi__table_effects, "deny", "emit", PHI_EFFECT_EMIT},
                {phi__table_failover, "on", "network", PHI_FAILOVER_NETWORK},
                {phi__table_failover, "on", "rate_limited", PHI_FAILOVER_RATE_LIMITED},
                {phi__table_failover, "on", "invalid_request", PHI_FAILOVER_INVALID_REQUEST}};
    phi__cfg_choice choice;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const phi__cfg_field *field =
            phi__fields_find(rows[i].table(), phi_str_of(rows[i].key), NULL);
        CHECK(phi__choice_find(field->choices, phi_str_of(rows[i].name), &choice));
        if (!CHECK_EQ_INT(choice.value, rows[i].value)) printf("choice %s\n", rows[i].name);
    }
    for (size_t i = 0; i < sizeof bits / sizeof bits[0]; i++) {
        const phi__cfg_field *field =
            phi__fields_find(bits[i].table(), phi_str_of(bits[i].key), NULL);
        CHECK(phi__choice_find(field->choices, phi_str_of(bits[i].name), &choice));
        CHECK_EQ_INT(1u << choice.value, bits[i].bit);
    }
    CHECK(!phi__choice_find("one two|zwei", phi_str_of("tw"), NULL));
    CHECK(!phi__choice_find("one two|zwei", phi_str_of("two "), NULL));
    CHECK(!phi__choice_find("one two|zwei", phi__str("two\0", 4), NULL));
    CHECK(phi__choice_find("one two|zwei three", phi_str_of("ZWEI"), &choice));
    CHECK(choice.value == 1 && choice.alias);
    CHECK(phi__choice_of("one=4 two|zwei three", 5, &choice) && !choice.alias);
    CHECK_EQ_STR(choice.name, "two");
    CHECK(!phi__choice_of("one=4 two|zwei three", 7, &choice));
    CHECK_EQ_STR(choice.name, "");
}

TEST(compat_changes_the_quirks_of_a_preset) {
    phi__cfg_compat compat = PHI_ZERO;
    uint64_t quirks;
    setup();
    CHECK_EQ_INT(phi__table_quirks(&compat, 12345), 12345);
    CHECK(phi__cfg_take(
        &arena,
        read_json("{\"supports_store\":true,\"supports_developer_role\":false,"
                  "\"supports_usage_in_streaming\":false,\"max_tokens_field\":"
                  "\"max_tokens\",\"thinking_format\":\"qwen\",\"quirks\":"
                  "[\"id-9\",\"strict_tools\",\"think_open\"],\"without\":[\"cache_key\"]}"),
        phi__table_compat(), &compat));
    quirks = phi__table_quirks(&compat, PHI_QUIRK_DEVELOPER_ROLE | PHI_QUIRK_MAX_COMPLETION_TOKENS |
                                            PHI_QUIRK_REASONING_EFFORT | PHI_QUIRK_CACHE_KEY |
                                            PHI_QUIRK_OPEN_KEY);
    CHECK(quirks ==
          (PHI_QUIRK_STORE_FALSE | PHI_QUIRK_NO_STREAM_USAGE | PHI_QUIRK_ENABLE_THINKING |
           PHI_QUIRK_ID_9 | PHI_QUIRK_STRICT_TOOLS | PHI_QUIRK_OPEN_KEY | PHI_QUIRK_THINK_OPEN));
    teardown();
}

/* ---- references ---- */

TEST(references_are_read) {
    static const struct {
        const char *text, *space, *name;
        int kind;
        bool keep;
    } rows[] = {{"{{provider.openai}}", "provider", "openai", PHI__CFG_REF_NAME, false},
                {"{{%provider.openai%}}", "provider", "openai", PHI__CFG_REF_NAME, true},
                {"{{openai}}", "", "openai", PHI__CFG_REF_NAME, false},
                {"{{%openai%}}", "", "openai", PHI__CFG_REF_NAME, true},
                {" {{ % provider.a.b % }} ", "provider", "a.b", PHI__CFG_REF_NAME, true},
                {"{{#abc-123#}}", "", "abc-123", PHI__CFG_REF_ID, false},
                {"{{}}", "", "", PHI__CFG_REF_LITERAL, false},
                {"{{x}", "", "", PHI__CFG_REF_LITERAL, false},
                {"x", "", "", PHI__CFG_REF_LITERAL, false},
                {"", "", "", PHI__CFG_REF_LITERAL, false},
                {"{{a}} {{b}}", "", "", PHI__CFG_REF_LITERAL, false}};
    size_t i;
    for (i = 0; i < PHI__COUNT(rows); i++) {
        phi__cfg_ref ref = phi__refs_parse(phi_str_of(rows[i].text));
        CHECK_EQ_INT(ref.kind, rows[i].kind);
        if (rows[i].kind == PHI__CFG_REF_LITERAL) continue;
        CHECK_STR(ref.space, rows[i].space);
        CHECK_STR(ref.name, rows[i].name);
        CHECK(ref.keep == rows[i].keep);
    }
}

static const char *found(const phi_config *config, const char *space, const char *text) {
    static char model[64];
    phi_str s = phi_json_str(phi_json_get(phi__refs_find(config, space, text), "model"), "-");
    snprintf(model, sizeof model, "%.*s", (int)s.len, s.at);
    return model;
}

TEST(references_find_tables_and_aliases_providers) {
    phi_config *config = config_load(
        PHI_CONFIG_TOML, "f",
        "[provider]\nmodel = \"base\"\n[[provider.instances]]\nid = \"{{%a%}}\"\nmodel = \"A\"\n"
        "[[provider.instances]]\nname = \"fast\"\nmodel = \"F\"\n"
        "[[provider.instances]]\nid = \"{{provider.claude-4.1}}\"\nmodel = \"C\"\n"
        "[models]\nquick = \":smart\"\nsmart = \"{{provider.a}}\"\nmain = \"default\"\n"
        "[agent]\nprovider = \":quick\"\nfailover = [\"fast\", \":main\", \"{{claude-4.1}}\"]\n"
        "strategy = \"tot\"\n[[system_prompt.instances]]\nid = \"p\"\ntype = \"minimal\"\n");
    CHECK_EQ_STR(config_said(config), "");
    CHECK_EQ_STR(found(config, "provider", "{{%provider.a%}}"), "A");
    CHECK_EQ_STR(found(config, "provider", "{{a}}"), "A");
    CHECK_EQ_STR(found(config, "provider", "a"), "A");
    CHECK_EQ_STR(found(config, "provider", "{{#a#}}"), "A");
    CHECK_EQ_STR(found(config, "provider", ":quick"), "A");
    CHECK_EQ_STR(found(config, "provider", ":smart"), "A");
    CHECK_EQ_STR(found(config, "provider", "fast"), "F");
    CHECK_EQ_STR(found(config, "provider", ":main"), "base");
    CHECK_EQ_STR(found(config, "provider", "default"), "base");
    CHECK_EQ_STR(found(config, "provider", "{{provider.claude-4.1}}"), "C");
    CHECK_EQ_STR(found(config, "provider", "{{claude-4.1}}"), "C");
    CHECK_EQ_STR(found(config, "provider", "none"), "-");
    CHECK_EQ_STR(found(config, "provider", ":none"), "-");
    CHECK_EQ_STR(found(config, "strategy", "tot"), "-");
    CHECK(phi__refs_find(config, "system_prompt", "{{p}}") != NULL);
    CHECK(phi__refs_find(config, "system_prompt", "p") == NULL); /* a prompt of one letter */
    phi_config_free(config);
}

TEST(names_that_are_nearly_right_are_near) {
    static const struct {
        const char *a, *b;
        unsigned distance;
    } rows[] = {{"max_tokens", "maxTokens", 0},
                {"max-tokens", "max_tokens", 0},
                {"temprature", "temperature", 1},
                {"tempreature", "temperature", 1},
                {"a", "b", 4},
                {"model", "colour", 4},
                {"", "x", 4},
                {"temp", "temperature", 3},
                {"api", "api_key", 4}};
    size_t i;
    for (i = 0; i < PHI__COUNT(rows); i++)
        if (!CHECK_EQ_INT(phi__near_distance(phi_str_of(rows[i].a), phi_str_of(rows[i].b)),
                          rows[i].distance))
            printf("%s %s\n", rows[i].a, rows[i].b);
}

/* ---- the schema ---- */

TEST(the_schema_is_json_and_says_what_the_tables_say) {
    phi_json *schema;
    phi_str text;
    const phi_json *field;
    setup();
    REQUIRE(phi_config_schema(NULL, &arena, &text) == PHI_OK);
    REQUIRE(phi_json_parse(&arena, text, 0, &schema, NULL) == PHI_OK);
    field = phi_json_path(phi_json_get(phi_json_get(schema, "$defs"), "execution"),
                          "properties.max_turns");
    CHECK_STR(phi_json_str(phi_json_get(field, "description"), ""),
              "Maximum number of model calls per run.");
    CHECK_EQ_INT(phi_json_int(phi_json_get(field, "default"), 0), 50);
    CHECK_EQ_INT(phi_json_int(phi_json_path(field, "anyOf[0].minimum"), 0), 1);
    CHECK_STR(phi_json_str(phi_json_path(field, "anyOf[1].const"), ""), "unlimited");
    field = phi_json_path(phi_json_get(phi_json_get(schema, "$defs"), "provider.instances"),
                          "properties.api_key");
    CHECK(phi_json_bool(phi_json_get(field, "writeOnly"), false));
    field = phi_json_get(phi_json_get(schema, "$defs"), "system_prompt.instances");
    CHECK(phi_json_is(phi_json_get(field, "additionalProperties"), PHI_JSON_OBJECT));
    CHECK_STR(phi_json_str(phi_json_path(field, "required[1]"), ""), "type");
    CHECK_EQ_INT(phi_config_schema(NULL, NULL, &text), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_config_schema(NULL, &arena, NULL), PHI_BAD_ARG);
    teardown();
}

TEST(the_schema_survives_every_failed_allocation) {
    int n = 0;
    bool tripped;
    do {
        phi_str text;
        phi_status status;
        setup();
        test_alloc_fail_at(n++);
        status = phi_config_schema(NULL, &arena, &text);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK_EQ_INT(status, tripped ? PHI_NO_MEMORY : PHI_OK);
        teardown();
        CHECK_EQ_INT(test_alloc_live_bytes(), 0);
    } while (tripped);
}

TEST_MAIN(TEST_ENTRY(every_field_has_a_place_a_default_and_a_sentence),
          TEST_ENTRY(a_struct_is_filled_from_a_base_and_an_instance_over_it),
          TEST_ENTRY(twins_tell_a_zero_from_a_missing_field), TEST_ENTRY(every_kind_is_taken),
          TEST_ENTRY(each_quirk_has_the_name_of_its_bit),
          TEST_ENTRY(each_choice_has_the_number_of_its_name),
          TEST_ENTRY(compat_changes_the_quirks_of_a_preset), TEST_ENTRY(references_are_read),
          TEST_ENTRY(references_find_tables_and_aliases_providers),
          TEST_ENTRY(names_that_are_nearly_right_are_near),
          TEST_ENTRY(the_schema_is_json_and_says_what_the_tables_say),
          TEST_ENTRY(the_schema_survives_every_failed_allocation))
