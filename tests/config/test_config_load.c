/* test_config_load.c - files, formats, variables, the list of problems; hostile and huge files; no
   memory. */
#include "support/problems.h"
#include "config/config_test.h"

#include <stdio.h>

static phi_config *load_file(const char *path) {
    phi_config_desc desc = PHI_ZERO;
    desc.allocator = test_allocator();
    desc.path = path;
    desc.variable_fn = config_variable;
    return phi_config_load(&desc);
}

static void write_file(const char *path, const char *text) {
    FILE *file = fopen(path, "wb");
    if (!CHECK(file != NULL)) return;
    fputs(text, file);
    fclose(file);
}

static const char toml[] = "[provider]\nmodel = \"m\"\napi_key = \"${KEY}\"\n";
static const char json[] = "{\"provider\": {\"model\": \"m\", \"api_key\": \"${KEY}\"}}";
static const char yaml[] = "provider:\n  model: m\n  api_key: ${KEY}\n";

static void check_good(phi_config *config) {
    const phi_json *tree = phi_config_tree(config);
    CHECK_EQ_INT(config_status(config), PHI_OK);
    CHECK_EQ_STR(config_message(config), "");
    CHECK_STR(phi_json_str(phi_json_path(tree, "provider.model"), ""), "m");
    CHECK_STR(phi_json_str(phi_json_path(tree, "provider.api_key"), ""), "sk-secret");
    phi_config_free(config);
}

TEST(a_file_is_read_by_its_extension) {
    static const struct {
        const char *name, *text;
    } files[] = {{"a.toml", toml}, {"a.json", json}, {"a.yaml", yaml},
                 {"a.yml", yaml},  {"a.TOML", toml}, {".x.json", json}};
    char directory[256], path[300];
    size_t i;
    REQUIRE(test_temp_dir(directory, sizeof directory));
    for (i = 0; i < PHI__COUNT(files); i++) {
        snprintf(path, sizeof path, "%s/%s", directory, files[i].name);
        write_file(path, files[i].text);
        check_good(load_file(path));
    }
}

static void check_failed(const char *path, phi_status status, const char *message) {
    phi_config *config = load_file(path);
    char want[600];
    snprintf(want, sizeof want, "%s%s", path, message);
    CHECK_EQ_INT(config_status(config), status);
    CHECK_EQ_STR(config_message(config), want);
    CHECK_EQ_INT(config_error_count(config), 1);
    CHECK(phi_config_tree(config) == NULL);
    phi_config_free(config);
}

TEST(a_file_that_cannot_be_read_says_why) {
    char directory[256], path[300];
    REQUIRE(test_temp_dir(directory, sizeof directory));
    check_failed("no/such/file.toml", PHI_NOT_FOUND, ": I/O error: No such file or directory");
    snprintf(path, sizeof path, "%s/d.toml", directory);
    snprintf(path, sizeof path, "%s/a.ini", directory);
    write_file(path, toml);
    check_failed(path, PHI_UNSUPPORTED,
                 ": Unsupported config file extension: .ini (expected .toml, .json, .yaml or "
                 ".yml)");
    snprintf(path, sizeof path, "%s/agent", directory);
    write_file(path, toml);
    check_failed(path, PHI_UNSUPPORTED,
                 ": Unsupported config file extension: none (expected .toml, .json, .yaml or "
                 ".yml)");
    check_failed("tests", PHI_UNSUPPORTED,
                 ": Unsupported config file extension: none (expected .toml, .json, .yaml or "
                 ".yml)");
}

TEST(a_text_is_tried_as_toml_then_json_then_yaml) {
    check_good(config_load(PHI_CONFIG_AUTO, NULL, toml));
    check_good(config_load(PHI_CONFIG_AUTO, NULL, json));
    check_good(config_load(PHI_CONFIG_AUTO, NULL, yaml));
    check_good(config_load(PHI_CONFIG_AUTO, "name.yaml", yaml));
    check_good(config_load(PHI_CONFIG_YAML, "name.toml", yaml));
}

TEST(of_a_text_that_no_format_reads_the_error_that_got_farthest_counts) {
    static const config_case cases[] = {{"[provider]\nmodel = \"x\"\napi_key = \n", NULL},
                                        {"{\"provider\": {\"model\": \"x\" \"y\"}}", NULL},
                                        {"provider:\n  model: x\n  api_key: [1\n", NULL},
                                        {"hello", NULL}};
    static const char *const said[] = {
        "3:11: Config parse error: expected a value, found the end of the line",
        "1:28: Config parse error: expected ',' or '}', found '\"'",
        "4:1: Config parse error: expected ']', found the end of the text",
        "1:6: Config parse error: expected '.' or '=', found the end of the text"};
    size_t i;
    for (i = 0; i < PHI__COUNT(cases); i++) {
        phi_config *config = config_load(PHI_CONFIG_AUTO, NULL, cases[i].text);
        CHECK_EQ_STR(config_message(config), said[i]);
        CHECK_EQ_INT(config_status(config), PHI_PARSE);
        phi_config_free(config);
    }
}

TEST(an_empty_file_is_a_configuration) {
    static const phi_config_format formats[] = {PHI_CONFIG_AUTO, PHI_CONFIG_TOML, PHI_CONFIG_YAML};
    size_t i;
    for (i = 0; i < PHI__COUNT(formats); i++) {
        phi_config *config = config_load(formats[i], "a", "");
        CHECK_EQ_INT(config_status(config), PHI_OK);
        CHECK_EQ_INT(phi_json_count(phi_config_tree(config)), 0);
        phi_config_free(config);
    }
}

TEST(a_byte_order_mark_is_skipped) {
    check_good(config_load(PHI_CONFIG_TOML, NULL,
                           "\xef\xbb\xbf[provider]\nmodel = \"m\"\n"
                           "api_key = \"${KEY}\"\n"));
}

TEST(nothing_to_read_is_a_problem_and_nothing_to_free_is_none) {
    phi_config_desc desc = PHI_ZERO;
    phi_config_problem p;
    phi_config *config = phi_config_load(&desc);
    CHECK_EQ_STR(config_message(config), "phi_config_desc has neither a path nor a text");
    CHECK_EQ_INT(config_status(config), PHI_BAD_ARG);
    phi_config_free(config);
    phi_config_free(NULL);
    CHECK(phi_config_load(NULL) == NULL);
    CHECK_EQ_INT(config_status(NULL), PHI_NO_MEMORY);
    CHECK_EQ_INT(config_problem_count(NULL) + config_error_count(NULL), 0);
    CHECK(!config_problem(NULL, 0, &p));
    CHECK(phi_config_tree(NULL) == NULL);
    CHECK(config_message(NULL)[0] != '\0');
}

/* ---- variables ---- */

static void check_text(const char *text, const char *want) {
    char whole[400];
    phi_config *config;
    snprintf(whole, sizeof whole, "[agent]\nsystem_prompt = '%s'\n", text);
    config = config_load(PHI_CONFIG_TOML, "f", whole);
    CHECK_STR(phi_json_str(phi_json_path(phi_config_tree(config), "agent.system_prompt"), ""),
              want);
    phi_config_free(config);
}

TEST(variables_are_replaced_in_texts) {
    check_text("${FIVE}", "5");
    check_text("a${FIVE}b${FIVE}", "a5b5");
    check_text("${NONE:-none}", "none");
    check_text("${NONE:-}", "");
    check_text("${EMPTY:-text}", "text");
    check_text("${EMPTY}", "");
    check_text("${FIVE:-none}", "5");
    check_text("${NONE:-a:-b}", "a:-b");
    check_text("$${FIVE}", "${FIVE}");
    check_text("$$${FIVE}", "$${FIVE}");
    check_text("${}", "${}");
    check_text("${FIVE", "${FIVE");
    check_text("$FIVE", "$FIVE");
    check_text("${a.b}", "${a.b}");
    check_text("${TRICKY}", "\"]\n[x] ${KEY}"); /* it never becomes syntax, nor a variable */
}

TEST(comments_and_keys_are_not_looked_at) {
    phi_config *config =
        config_load(PHI_CONFIG_TOML, "f", "# ${NONE}\n[provider.headers]\n\"${NONE}\" = \"x\"\n");
    CHECK_EQ_STR(config_said(config), "");
    phi_config_free(config);
}

TEST(a_variable_becomes_the_number_or_bool_that_a_field_wants) {
    phi_config *config = config_load(PHI_CONFIG_TOML, "f",
                                     "[execution]\nmax_turns = \"${FIVE}\"\npause = \"${YES}\"\n"
                                     "max_duration_secs = \"${NONE:-1.5}\"\n"
                                     "max_total_tokens = \"${NONE:-unlimited}\"\n");
    const phi_json *tree = phi_json_get(phi_config_tree(config), "execution");
    CHECK_EQ_STR(config_said(config), "");
    CHECK_EQ_INT(phi_json_int(phi_json_get(tree, "max_turns"), 0), 5);
    CHECK(phi_json_bool(phi_json_get(tree, "pause"), false));
    CHECK(phi_json_num(phi_json_get(tree, "max_duration_secs"), 0) == 1.5);
    phi_config_free(config);
}

TEST(without_variables_each_one_is_missing) {
    phi_config_desc desc = PHI_ZERO;
    phi_config *config;
    desc.text = phi_str_of("[provider]\napi_key = \"${KEY}\"\n");
    config = phi_config_load(&desc);
    CHECK_EQ_STR(config_message(config),
                 "2:11: Missing environment variable: ${KEY}: set it, or write ${KEY:-text} with a "
                 "text to use instead");
    phi_config_free(config);
    desc.environment = true;
    config = phi_config_load(&desc);
    CHECK_EQ_STR(config_message(config),
                 "2:11: Missing environment variable: ${KEY}: set it, or write ${KEY:-text} with a "
                 "text to use instead");
    phi_config_free(config);
    desc.text = phi_str_of("[provider]\napi_key = \"${PATH}\"\n");
    config = phi_config_load(&desc);
    CHECK_EQ_STR(config_message(config), "");
    CHECK_STR(phi_json_str(
                  phi_json_get(phi_json_get(phi_config_tree(config), "provider"), "api_key"), ""),
              getenv("PATH"));
    phi_config_free(config);
}

TEST(no_value_of_a_variable_and_no_secret_is_shown) {
    phi_config *config = config_load(
        PHI_CONFIG_TOML, "f",
        "[provider]\napi = \"${KEY}\"\nmax_tokens = \"${KEY}\"\napi_key = 31337\nmodel = 1\n"
        "[provider.headers]\nA = 31337\n[agent]\nprovider = \"${KEY}\"\n[[provider.instances]]\n"
        "id = \"${KEY}\"\n[[provider.instances]]\nid = \"${KEY}\"\n");
    phi_config_problem p;
    size_t i;
    CHECK(config_problem_count(config) >= 5);
    for (i = 0; config_problem(config, i, &p); i++) {
        CHECK(phi__str_find(p.message, 0, "31337") == SIZE_MAX);
        CHECK(phi__str_find(p.message, 0, "sk-secret") == SIZE_MAX);
        CHECK(phi__str_find(p.value, 0, "sk-secret") == SIZE_MAX);
        CHECK(phi__str_find(p.value, 0, "31337") == SIZE_MAX);
    }
    phi_config_free(config);
}

TEST(warnings_of_odd_variables_show_nothing_of_the_text) {
    static const char *const keys[] = {"sk-live-9${x", "${sk-live-9}", "${KEY:sk-live-9}",
                                       "${sk-live-9:-x}", "${sk-a:sk-live-9}"};
    size_t i, k;
    for (k = 0; k < PHI__COUNT(keys); k++) {
        char text[200];
        phi_config *config;
        phi_config_problem p;
        (void)snprintf(text, sizeof text, "[provider]\nmodel = \"m\"\napi_key = \"%s\"\n", keys[k]);
        config = config_load(PHI_CONFIG_TOML, "f", text);
        CHECK_EQ_INT(config_problem_count(config), 1);
        for (i = 0; config_problem(config, i, &p); i++) {
            CHECK(phi__str_find(p.message, 0, "live") == SIZE_MAX);
            CHECK_STR(p.value, k == 2 ? "${KEY:" : "${");
        }
        phi_config_free(config);
    }
}

TEST(a_text_with_many_odd_variables_is_not_copied_for_each) {
    static char text[100000];
    phi_config_desc desc = PHI_ZERO;
    phi_config *config;
    size_t n = (size_t)snprintf(text, sizeof text, "[agent]\nsystem_prompt = \"");
    while (n < sizeof text - 100)
        n += (size_t)snprintf(text + n, sizeof text - n, "${} ${:} ${a.b} ");
    (void)snprintf(text + n, sizeof text - n, "\"\n[provider]\nmodel = \"m\"\n");
    desc.allocator = test_allocator();
    desc.text = phi_str_of(text);
    desc.memory_limit_bytes = 4 << 20;
    config = phi_config_load(&desc);
    CHECK_EQ_INT(config_status(config), PHI_OK);
    CHECK_EQ_INT(config_problem_count(config), 2); /* one of each kind */
    phi_config_free(config);
}

static const char *endless(void *user_data, const char *name) {
    (void)name;
    return (const char *)user_data;
}

TEST(values_of_variables_cannot_outgrow_the_limit) {
    static char big[1001];
    phi_config_desc desc = PHI_ZERO;
    phi_config *config;
    memset(big, 'x', 1000);
    desc.text = phi_str_of("[agent]\nsystem_prompt = \"${A}${A}${A}\"\n");
    desc.max_bytes = 2500;
    desc.variable_fn = endless;
    desc.user_data = big;
    config = phi_config_load(&desc);
    CHECK_EQ_INT(config_status(config), PHI_TOO_BIG);
    phi_config_free(config);
}

TEST(a_configuration_over_the_limit_is_said_in_the_readers_words) {
    phi_config_desc desc = PHI_ZERO;
    phi_config *config;
    desc.text = phi_str_of("[provider]\nmodel = \"m\"\n");
    desc.max_bytes = 20;
    config = phi_config_load(&desc);
    CHECK_EQ_INT(config_status(config), PHI_TOO_BIG);
    CHECK_EQ_STR(config_message(config),
                 "The configuration is larger than 20 bytes, the most that is read");
    phi_config_free(config);
}

/* ---- problems ---- */

TEST(a_problem_has_all_its_parts) {
    phi_config *config = config_load(PHI_CONFIG_TOML, "dir/a.toml",
                                     "[agent.profile]\nthinking_level = \"extreme\"\n");
    phi_config_problem p;
    REQUIRE(config_problem(config, 0, &p));
    CHECK(!p.is_warning);
    CHECK_EQ_INT(p.status, PHI_BAD_ARG);
    CHECK_STR(p.file, "dir/a.toml");
    CHECK_EQ_INT(p.line, 2);
    CHECK_EQ_INT(p.column, 18);
    CHECK_STR(p.field, "agent.profile.thinking_level");
    CHECK_STR(p.value, "extreme");
    CHECK_STR(p.expected, "one of off, minimal, low, medium, high, xhigh, max");
    CHECK_STR(p.message,
              "dir/a.toml:2:18: Invalid value for agent.profile.thinking_level: "
              "\"extreme\" (expected one of off, minimal, low, medium, high, xhigh, max)");
    CHECK(!config_problem(config, 1, &p));
    phi_config_free(config);
}

TEST(problems_stand_in_the_order_of_the_text_and_warnings_are_no_errors) {
    phi_config *config = config_load(PHI_CONFIG_TOML, "f",
                                     "[tools]\nbatch_size = 3\n[execution]\nmax_turns = 0\n"
                                     "max_trns = 1\n[provider]\napi_key = \"${NONE}\"\n");
    phi_config_problem p;
    uint32_t last = 0;
    size_t i;
    CHECK_EQ_INT(config_problem_count(config), 4);
    CHECK_EQ_INT(config_error_count(config), 2);
    for (i = 0; config_problem(config, i, &p); i++) {
        CHECK(p.line >= last);
        last = p.line;
    }
    CHECK_EQ_STR(config_message(config),
                 "f:4:13: Invalid value for execution.max_turns: 0 (expected an integer from 1 to "
                 "4294967295, or \"unlimited\")");
    phi_config_free(config);
}

TEST(problems_beyond_the_most_are_counted) {
    phi_config_desc desc = PHI_ZERO;
    phi_config *config;
    phi__buf text;
    phi_memory memory;
    int i;
    phi_memory_init(&memory, NULL, 0);
    phi__buf_init(&text, &memory);
    phi__buf_text(&text, "[tools]\nenabled = [");
    for (i = 0; i < 500; i++) phi__buf_text(&text, "1,");
    phi__buf_text(&text, "]\n");
    desc.text = phi__buf_str(&text);
    desc.max_problems = 7;
    config = phi_config_load(&desc);
    CHECK_EQ_INT(config_problem_count(config), 7);
    CHECK_EQ_INT(config_error_count(config), 500);
    phi_config_free(config);
    phi__buf_free(&text);
}

TEST(compaction_may_stand_under_context_alone) {
    phi_config *config = config_load(PHI_CONFIG_TOML, "f",
                                     "[context.compaction]\nmax_context_tokens = 50000\n"
                                     "[[context.compaction.instances]]\nid = \"{{%coding%}}\"\n"
                                     "[agent.profile]\ncompaction = \"{{compaction.coding}}\"\n");
    CHECK_EQ_STR(config_said(config), "");
    CHECK(phi__refs_find(config, "compaction", "coding") != NULL);
    phi_config_free(config);
    config = config_load(PHI_CONFIG_TOML, "f", "[context.compaction]\nkeep_first_turns = 1\n");
    CHECK_EQ_STR(config_said(config),
                 "f:2:1: warning: context.compaction.keep_first_turns has no effect: compaction is "
                 "off until max_context_tokens is set");
    phi_config_free(config);
}

/* ---- hostile, huge, no memory ---- */

static void check_ends(phi_config_format format, phi_str text, phi_status status) {
    phi_config_desc desc = PHI_ZERO;
    phi_config *config;
    desc.allocator = test_allocator();
    desc.text = text;
    desc.format = format;
    config = phi_config_load(&desc);
    CHECK_EQ_INT(config_status(config), status);
    phi_config_free(config);
}

TEST(deep_and_broken_files_end) {
    static char deep[200000];
    memset(deep, '[', sizeof deep);
    check_ends(PHI_CONFIG_JSON, phi__str(deep, sizeof deep), PHI_TOO_BIG);
    check_ends(PHI_CONFIG_YAML, phi__str(deep, sizeof deep), PHI_TOO_BIG);
    check_ends(PHI_CONFIG_TOML, phi__str(deep, sizeof deep), PHI_PARSE);
    check_ends(PHI_CONFIG_TOML, phi__str("\0\xff\xfe", 3), PHI_PARSE);
    check_ends(PHI_CONFIG_AUTO, phi__str("\0\xff\xfe", 3), PHI_PARSE);
    memset(deep, 'a', sizeof deep);
    deep[sizeof deep - 1] = ':';
    check_ends(PHI_CONFIG_YAML, phi__str(deep, sizeof deep), PHI_OK); /* one unknown key */
}

TEST(a_file_has_a_largest_size) {
    size_t n = 4u * 1024 * 1024 + 1;
    char *text = (char *)malloc(n);
    REQUIRE(text != NULL);
    memset(text, '\n', n);
    check_ends(PHI_CONFIG_TOML, phi__str(text, n - 1), PHI_OK);
    check_ends(PHI_CONFIG_TOML, phi__str(text, n), PHI_TOO_BIG);
    free(text);
}

TEST(ten_thousand_instances_are_read) {
    phi_memory memory;
    phi__buf text;
    phi_config *config;
    int i;
    phi_memory_init(&memory, NULL, 0);
    phi__buf_init(&text, &memory);
    for (i = 0; i < 10000; i++)
        phi__buf_printf(&text, "[[provider.instances]]\nid = \"{{p%d}}\"\nmodel = \"claude-x\"\n",
                        i);
    for (i = 0; i < 10000; i++)
        phi__buf_printf(&text, "[[agent.instances]]\nname = \"a%d\"\nprovider = \"{{p%d}}\"\n", i,
                        9999 - i);
    phi__buf_char(&text, '\0');
    config = config_load(PHI_CONFIG_TOML, "f", text.at);
    CHECK_EQ_STR(config_said(config), "");
    CHECK_STR(phi_json_str(phi_json_get(phi__refs_find(config, "provider", "p9999"), "id"), ""),
              "{{p9999}}");
    phi_config_free(config);
    phi__buf_free(&text);
}

TEST(thousands_of_mistakes_are_read_in_time) {
    phi_memory memory;
    phi__buf text;
    phi_config *config;
    int i;
    phi_memory_init(&memory, NULL, 0);
    phi__buf_init(&text, &memory);
    phi__buf_text(&text, "[models]\n");
    for (i = 0; i < 5000; i++) phi__buf_printf(&text, "alias_%d = \"none\"\n", i);
    phi__buf_text(&text, "[agent]\n");
    for (i = 0; i < 5000; i++) phi__buf_printf(&text, "unknown_%d = 1\n", i);
    for (i = 0; i < 5000; i++)
        phi__buf_printf(&text,
                        "[[provider.instances]]\nid = \"%dp\"\n[[agent.instances]]\n"
                        "name = \"a%d\"\nprovider = \"p%d\"\nfailover = [\":b%d\"]\n",
                        i, i, i, i);
    phi__buf_text(&text, "[[system_prompt_strategy.instances]]\nid = \"t\"\nblocks = [");
    for (i = 0; i < 5000; i++) phi__buf_printf(&text, "{name = \"block%d\"},", i);
    phi__buf_text(&text, "]\n[[system_prompt.instances]]\nid = \"p\"\ntype = \"{{t}}\"\n");
    for (i = 0; i < 5000; i++) phi__buf_printf(&text, "other%d = \"x\"\n", i);
    phi__buf_char(&text, '\0');
    config = config_load(PHI_CONFIG_TOML, "f", text.at);
    CHECK_EQ_INT(config_problem_count(config), 1000);
    CHECK_EQ_INT(config_error_count(config), 15000);
    phi_config_free(config);
    phi__buf_free(&text);
}

TEST(every_allocation_may_fail) {
    static const char text[] =
        "unknown = 1\n[agent]\nsystem_prompt = \"Hi ${FIVE} ${NONE}\"\nprovider = \":fast\"\n"
        "sub_agents = [\"b\"]\n[agent.profile]\nthinking_level = \"x\"\n[models]\n"
        "fast = \"{{provider.a}}\"\n[[provider.instances]]\nid = \"a\"\nmodel = \"gpt-4o\"\n"
        "max_tokens = \"${FIVE}\"\n[[provider.instances]]\nid = \"a\"\n"
        "[[sub_agents.instances]]\nname = \"b\"\nsub_agents = [\"b\"]\n";
    int n = 0;
    bool tripped;
    do {
        phi_config *config;
        test_alloc_fail_at(n++);
        config = config_load(PHI_CONFIG_TOML, "f", text);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        if (config != NULL) {
            phi_status status = config_status(config);
            CHECK(tripped ? status == PHI_NO_MEMORY || status == PHI_BAD_ARG
                          : status == PHI_BAD_ARG);
            CHECK(tripped || config_error_count(config) == 5);
            phi_config_free(config);
        } else
            CHECK(tripped);
        CHECK_EQ_INT(test_alloc_live_bytes(), 0);
    } while (tripped);
    CHECK(n > 25);
}

TEST(a_memory_limit_holds) {
    phi_config_desc desc = PHI_ZERO;
    phi_config *config;
    desc.text = phi_str_of(toml);
    desc.memory_limit_bytes = 2000;
    desc.variable_fn = config_variable;
    config = phi_config_load(&desc);
    CHECK_EQ_INT(config_status(config), PHI_NO_MEMORY);
    CHECK_EQ_STR(config_message(config), "There was not enough memory to read the configuration");
    phi_config_free(config);
}

TEST(a_problem_of_a_variable_shows_no_more_of_the_value_than_the_variable) {
    phi_config *config = config_load(PHI_CONFIG_TOML, "f",
                                     "[provider]\nmodel = \"claude-x\"\n"
                                     "api_key = \"sk-live-1 ${NOT_THERE} sk-live-2\"\n"
                                     "headers = {A = \"sk-live-3 ${a b:-sk-live-4} sk-live-5\"}\n");
    phi_config_problem p;
    REQUIRE(CHECK_EQ_INT(config_problem_count(config), 2));
    CHECK(config_problem(config, 0, &p));
    CHECK_STR(p.value, "${NOT_THERE}");
    CHECK(strstr(p.message.at, "sk-live") == NULL);
    CHECK(config_problem(config, 1, &p));
    CHECK_STR(p.value, "${");
    CHECK(strstr(p.message.at, "sk-live") == NULL);
    phi_config_free(config);
}

TEST(numbers_that_json_does_not_have_are_shown) {
    phi_config *config =
        config_load(PHI_CONFIG_TOML, "f", "[execution]\nmax_cost = -inf\nmax_turns = nan\n");
    phi_config_problem p;
    CHECK(config_problem(config, 1, &p));
    CHECK_STR(p.value, "-inf");
    CHECK(phi__str_find(p.message, 0, "execution.max_cost: -inf (") != SIZE_MAX);
    CHECK(config_problem(config, 2, &p));
    CHECK_STR(p.value, "nan");
    phi_config_free(config);
}

TEST(braces_that_are_never_closed_are_read_once) {
    enum { COUNT = 1000000 };
    char *text = (char *)malloc(2 * COUNT + 32);
    phi_config *config;
    size_t at = (size_t)sprintf(text, "{\"agent\":{\"system_prompt\":\""), i;
    for (i = 0; i < COUNT; i++) memcpy(text + at + 2 * i, "${", 2);
    memcpy(text + at + 2 * COUNT, "\"}}", 4);
    config = config_load(PHI_CONFIG_JSON, "f", text);
    CHECK_EQ_INT(config_status(config), PHI_OK);
    CHECK_EQ_INT(
        phi_json_str(phi_json_path(phi_config_tree(config), "agent.system_prompt"), "").len,
        2 * COUNT);
    phi_config_free(config);
    free(text);
}

TEST_MAIN(TEST_ENTRY(a_file_is_read_by_its_extension),
          TEST_ENTRY(a_file_that_cannot_be_read_says_why),
          TEST_ENTRY(a_text_is_tried_as_toml_then_json_then_yaml),
          TEST_ENTRY(of_a_text_that_no_format_reads_the_error_that_got_farthest_counts),
          TEST_ENTRY(an_empty_file_is_a_configuration), TEST_ENTRY(a_byte_order_mark_is_skipped),
          TEST_ENTRY(nothing_to_read_is_a_problem_and_nothing_to_free_is_none),
          TEST_ENTRY(variables_are_replaced_in_texts),
          TEST_ENTRY(comments_and_keys_are_not_looked_at),
          TEST_ENTRY(a_variable_becomes_the_number_or_bool_that_a_field_wants),
          TEST_ENTRY(without_variables_each_one_is_missing),
          TEST_ENTRY(no_value_of_a_variable_and_no_secret_is_shown),
          TEST_ENTRY(a_problem_of_a_variable_shows_no_more_of_the_value_than_the_variable),
          TEST_ENTRY(numbers_that_json_does_not_have_are_shown),
          TEST_ENTRY(braces_that_are_never_closed_are_read_once),
          TEST_ENTRY(warnings_of_odd_variables_show_nothing_of_the_text),
          TEST_ENTRY(a_text_with_many_odd_variables_is_not_copied_for_each),
          TEST_ENTRY(values_of_variables_cannot_outgrow_the_limit),
          TEST_ENTRY(a_configuration_over_the_limit_is_said_in_the_readers_words),
          TEST_ENTRY(a_problem_has_all_its_parts),
          TEST_ENTRY(problems_stand_in_the_order_of_the_text_and_warnings_are_no_errors),
          TEST_ENTRY(problems_beyond_the_most_are_counted),
          TEST_ENTRY(compaction_may_stand_under_context_alone),
          TEST_ENTRY(deep_and_broken_files_end), TEST_ENTRY(a_file_has_a_largest_size),
          TEST_ENTRY(ten_thousand_instances_are_read),
          TEST_ENTRY(thousands_of_mistakes_are_read_in_time), TEST_ENTRY(every_allocation_may_fail),
          TEST_ENTRY(a_memory_limit_holds))
