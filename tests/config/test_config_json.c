/* test_config_json.c - settings as JSON in the shapes of the interchange, both ways. */
#include "codecs/presets.h"
#include "config/config_json.h"
#include "support/test.h"

typedef struct room {
    phi_memory memory;
    phi_arena arena;
} room;

static room *here;

static void room_begin(room *r) {
    here = r;
    phi_allocator allocator = test_allocator();
    phi_memory_init(&r->memory, &allocator, 0);
    phi_arena_init(&r->arena, &r->memory, 0);
}

static void room_end(room *r) { phi_arena_free(&r->arena); }

static const phi_json *read_json(room *r, const char *text) {
    phi_json *root = NULL;
    CHECK_EQ_INT(phi_json_parse(&r->arena, phi_str_of(text), 0, &root, NULL), PHI_OK);
    return root;
}

static const char *text_of(room *r, const phi_json *node) {
    phi_str text = PHI_ZERO;
    if (node == NULL || phi_json_write(&r->arena, node, 0, &text) != PHI_OK) return "no memory";
    return text.at;
}

/* ---- one part of the settings, as JSON and back ---- */

static phi_json *part_write(const char *key, const phi_settings *settings, uint32_t flags) {
    phi_str text;
    phi_json *root = NULL;
    if (phi_settings_to_json(settings, flags, &here->arena, &text) != PHI_OK) return NULL;
    if (phi_json_parse(&here->arena, text, 0, &root, NULL) != PHI_OK) return NULL;
    root = (phi_json *)(uintptr_t)phi_json_get(root, key);
    CHECK(root != NULL);
    return root;
}

static phi_status part_read(const char *key, const phi_json *node, phi_settings *out,
                            const char **error) {
    phi_json *root = phi_json_new_object(&here->arena), *copy = NULL;
    phi_parse_error why = PHI_ZERO;
    phi_str text;
    if (error != NULL) *error = NULL;
    if (root == NULL || phi_json_write(&here->arena, node, 0, &text) != PHI_OK ||
        phi_json_parse(&here->arena, text, 0, &copy, NULL) != PHI_OK ||
        phi_json_set(&here->arena, root, key, copy) != PHI_OK ||
        phi_json_write(&here->arena, root, 0, &text) != PHI_OK)
        return PHI_NO_MEMORY;
    phi_status status = phi_settings_from_json(text, &here->arena, out, &why);
    if (status == PHI_OK || error == NULL) return status;
    if (phi__arena_str(&here->arena, phi_str_of(why.message), &text)) *error = text.at;
    return status;
}

#define PART(name, key, type, member)                                                              \
    static phi_json *name##_write(const type *value) {                                             \
        phi_settings settings = PHI_ZERO;                                                          \
        if (value != NULL) settings.member = *value;                                               \
        return part_write(key, &settings, PHI_SETTINGS_SECRETS);                                   \
    }                                                                                              \
    static phi_status name##_read(const phi_json *node, type *out, const char **error) {           \
        phi_settings settings = PHI_ZERO;                                                          \
        phi_status status = part_read(key, node, &settings, error);                                \
        if (status == PHI_OK) *out = settings.member;                                              \
        return status;                                                                             \
    }
PART(limits, "limits", phi_limits, limits)
PART(retry, "retry", phi_retry, retry)
PART(cache, "cache", phi_cache, cache)
PART(compaction, "context", phi_compaction_config, compaction)
PART(thinking, "thinking_level", phi_thinking, thinking)
PART(model, "model", phi_model, model)

static phi_json *model_without_secrets(const phi_model *model) {
    phi_settings settings = PHI_ZERO;
    settings.model = *model;
    return part_write("model", &settings, 0);
}

static phi_json *level_write(phi_thinking level) { return thinking_write(&level); }

static phi_json *tool_mode_write(phi_tool_mode mode, uint32_t batch) {
    phi_settings settings = PHI_ZERO;
    settings.tool_mode = mode;
    settings.tool_batch = batch;
    return part_write("tool_execution", &settings, 0);
}

static phi_status tool_mode_read(const phi_json *node, phi_tool_mode *mode, uint32_t *batch,
                                 const char **error) {
    phi_settings settings = PHI_ZERO;
    phi_status status = part_read("tool_execution", node, &settings, error);
    if (status != PHI_OK) return status;
    *mode = settings.tool_mode;
    *batch = settings.tool_batch;
    return status;
}

/* ---- the shapes ---- */

#define LIMITS                                                                                     \
    "{\"max_turns\":50,\"max_total_tokens\":1000000,\"max_duration\":{\"secs\":600,\"nanos\":0},"  \
    "\"max_cost\":null}"
#define RETRY                                                                                      \
    "{\"max_retries\":3,\"initial_delay_ms\":1000,\"backoff_multiplier\":2.0,"                     \
    "\"max_delay_ms\":30000}"
#define CONTEXT                                                                                    \
    "{\"max_context_tokens\":100000,\"system_prompt_tokens\":4000,\"compaction\":{"                \
    "\"compact_at_pct\":0.9,\"compact_budget_threshold_pct\":0.05,\"compaction_scope\":{"          \
    "\"FixedCount\":3},\"keep_first_turns\":2,\"keep_recent_turns\":10,"                           \
    "\"max_summary_tokens\":2000,\"tool_output_max_lines\":50,\"focus_message\":null},"            \
    "\"keep_recent\":10,\"keep_first\":2,\"tool_output_max_lines\":50}"

TEST(defaults_are_written_out_in_the_shapes_of_the_interchange) {
    room r;
    room_begin(&r);
    CHECK_EQ_STR(text_of(&r, limits_write(NULL)), LIMITS);
    CHECK_EQ_STR(text_of(&r, retry_write(NULL)), RETRY);
    CHECK_EQ_STR(text_of(&r, compaction_write(NULL)), CONTEXT);
    CHECK_EQ_STR(text_of(&r, cache_write(NULL)), "{\"enabled\":true,\"strategy\":\"auto\"}");
    CHECK_EQ_STR(text_of(&r, tool_mode_write(PHI_TOOLS_SEQUENTIAL, 0)),
                 "{\"type\":\"sequential\"}");
    CHECK_EQ_STR(text_of(&r, tool_mode_write(PHI_TOOLS_PARALLEL, 9)), "{\"type\":\"parallel\"}");
    CHECK_EQ_STR(text_of(&r, tool_mode_write(PHI_TOOLS_BATCHED, 3)),
                 "{\"type\":\"batched\",\"size\":3}");
    CHECK_EQ_STR(text_of(&r, level_write(PHI_THINKING_MINIMAL)), "\"minimal\"");
    room_end(&r);
}

TEST(limits_that_are_off_are_written_as_unlimited) {
    room r;
    phi_limits limits = PHI_ZERO, got = PHI_ZERO;
    const char *text;
    room_begin(&r);
    limits.disable = true;
    limits.max_turns = 3;
    limits.max_cost = 1;
    text = text_of(&r, limits_write(&limits));
    CHECK(strstr(text, "\"max_cost\":null") != NULL);
    CHECK_EQ_INT(limits_read(read_json(&r, text), &got, NULL), PHI_OK);
    CHECK(got.max_turns == PHI_UNLIMITED && got.max_tokens == UINT64_MAX);
    CHECK(got.max_duration_ms == PHI_UNLIMITED && !(got.max_cost > 0));
    room_end(&r);
}

TEST(what_others_wrote_is_read) {
    room r;
    phi_limits limits = PHI_ZERO;
    phi_retry retry = PHI_ZERO;
    phi_compaction_config c = PHI_ZERO;
    phi_cache cache = PHI_ZERO;
    phi_tool_mode mode = PHI_TOOLS_PARALLEL;
    phi_thinking level = PHI_THINKING_OFF;
    uint32_t batch = 9;
    const char *error = "";
    room_begin(&r);
    CHECK_EQ_INT(limits_read(read_json(&r, "{\"max_turns\":7,\"max_duration\":{\"secs\":1,"
                                           "\"nanos\":500000000},\"max_cost\":2.5,"
                                           "\"from_another_version\":[1]}"),
                             &limits, &error),
                 PHI_OK);
    CHECK(error == NULL);
    CHECK_EQ_INT(limits.max_turns, 7);
    CHECK_EQ_INT(limits.max_duration_ms, 1500);
    CHECK(limits.max_cost > 2.49 && limits.max_tokens == 0);
    CHECK_EQ_INT(retry_read(read_json(&r, "{\"max_retries\":0}"), &retry, NULL), PHI_OK);
    CHECK(retry.disable);
    CHECK_EQ_INT(
        compaction_read(read_json(&r,
                                  "{\"max_context_tokens\":5000,\"keep_first\":0,\"keep_recent\":4,"
                                  "\"compaction\":{\"compaction_scope\":\"TokenBudget\","
                                  "\"focus_message\":\"the tests\"}}"),
                        &c, NULL),
        PHI_OK);
    CHECK(c.keep_no_first_messages && c.keep_recent_messages == 4 &&
          c.scope == PHI_COMPACTION_TOKENS);
    CHECK_EQ_STR(c.focus_message, "the tests");
    CHECK_EQ_INT(
        compaction_read(read_json(&r, "{\"compaction\":{\"compaction_scope\":{\"FixedCount\":0}}}"),
                        &c, NULL),
        PHI_OK);
    CHECK_EQ_INT(c.scope_runs, PHI_COMPACTION_NO_RUNS);
    CHECK_EQ_INT(
        cache_read(read_json(&r, "{\"enabled\":true,\"strategy\":{\"manual\":{\"cache_system\":"
                                 "true,\"cache_tools\":true,\"cache_messages\":false}}}"),
                   &cache, NULL),
        PHI_OK);
    CHECK(cache.mode == PHI_CACHE_MANUAL && cache.system && cache.tools && !cache.messages);
    CHECK_EQ_INT(cache_read(read_json(&r, "{\"enabled\":false}"), &cache, NULL), PHI_OK);
    CHECK(cache.mode == PHI_CACHE_DISABLED && !cache.system);
    CHECK_EQ_INT(
        tool_mode_read(read_json(&r, "{\"type\":\"batched\",\"size\":3}"), &mode, &batch, NULL),
        PHI_OK);
    CHECK(mode == PHI_TOOLS_BATCHED && batch == 3);
    CHECK_EQ_INT(thinking_read(read_json(&r, "\"High\""), &level, NULL), PHI_OK);
    CHECK_EQ_INT(level, PHI_THINKING_HIGH);
    room_end(&r);
}

/* ---- models ---- */

#define MODEL                                                                                      \
    "{\"id\":\"gpt-4o\",\"name\":\"GPT-4o\",\"api\":\"open_ai_completions\",\"provider\":"         \
    "\"openai\",\"base_url\":\"https://api.openai.com/v1\",\"api_key\":\"%s\",\"reasoning\":"      \
    "false,\"context_window\":128000,\"max_tokens\":4096,\"cost\":{\"input_per_million\":2.5,"     \
    "\"output_per_million\":10.0,\"cache_read_per_million\":0.0,"                                  \
    "\"cache_write_per_million\":0.0},\"headers\":{\"X-Team\":\"%s\"},\"compat\":{"                \
    "\"supports_store\":true,\"supports_developer_role\":true,"                                    \
    "\"supports_reasoning_effort\":false,\"supports_usage_in_streaming\":true,"                    \
    "\"max_tokens_field\":\"MaxCompletionTokens\",\"requires_tool_result_name\":false,"            \
    "\"requires_assistant_after_tool_result\":false,\"thinking_format\":\"OpenAi\"%s}}"

TEST(a_model_is_read_and_written_without_its_secrets_unless_they_are_asked_for) {
    char text[1024], bare[1024], whole[1024];
    room r;
    phi_model m = PHI_ZERO;
    const char *quirks =
        ",\"quirks\":[\"max_completion_tokens\",\"developer_role\",\"store_false\"]";
    room_begin(&r);
    (void)snprintf(text, sizeof text, MODEL, "sk-1", "blue", "");
    (void)snprintf(bare, sizeof bare, MODEL, "", "", quirks);
    (void)snprintf(whole, sizeof whole, MODEL, "sk-1", "blue", quirks);
    CHECK_EQ_INT(model_read(read_json(&r, text), &m, NULL), PHI_OK);
    CHECK_EQ_STR(m.protocol, PHI_PROTOCOL_OPENAI_CHAT);
    CHECK_EQ_STR(m.id, "gpt-4o");
    CHECK_EQ_STR(m.api_key, "sk-1");
    CHECK_EQ_INT(m.quirks, PHI_QUIRK_MAX_COMPLETION_TOKENS | PHI_QUIRK_DEVELOPER_ROLE |
                               PHI_QUIRK_STORE_FALSE);
    CHECK_EQ_INT(m.header_count, 1);
    CHECK_EQ_STR(m.headers[0].value, "blue");
    CHECK(m.cost.output > 9.9);
    CHECK_EQ_STR(text_of(&r, model_without_secrets(&m)), bare);
    CHECK_EQ_STR(text_of(&r, model_write(&m)), whole);
    room_end(&r);
}

TEST(every_protocol_is_read_by_both_spellings) {
    static const char *const rows[][3] = {
        {"anthropic_messages", "anthropic", PHI_PROTOCOL_ANTHROPIC},
        {"open_ai_completions", "openai_completions", PHI_PROTOCOL_OPENAI_CHAT},
        {"open_ai_responses", "openai_responses", PHI_PROTOCOL_OPENAI_RESPONSES},
        {"azure_open_ai_responses", "azure_openai_responses", PHI_PROTOCOL_AZURE_RESPONSES},
        {"google_generative_ai", "gemini", PHI_PROTOCOL_GOOGLE},
        {"google_vertex", "vertex", PHI_PROTOCOL_VERTEX},
        {"google_interactions", "interactions", PHI_PROTOCOL_INTERACTIONS},
        {"bedrock_converse_stream", "bedrock", PHI_PROTOCOL_BEDROCK},
        {"my_own", "my_own", "my_own"}};
    room r;
    size_t i, j;
    room_begin(&r);
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (j = 0; j < 2; j++) {
            char text[80];
            phi_model m = PHI_ZERO;
            const phi_json *node;
            (void)snprintf(text, sizeof text, "{\"api\":\"%s\"}", rows[i][j]);
            CHECK_EQ_INT(model_read(read_json(&r, text), &m, NULL), PHI_OK);
            CHECK_EQ_STR(m.protocol, rows[i][2]);
            node = model_without_secrets(&m);
            CHECK_EQ_STR(phi_json_str(phi_json_get(node, "api"), "").at, rows[i][0]);
        }
    room_end(&r);
}

/* ---- mistakes ---- */

typedef phi_status (*read_fn)(const phi_json *node, const char **error);

static phi_status limits_of(const phi_json *node, const char **error) {
    phi_limits v = PHI_ZERO;
    return limits_read(node, &v, error);
}
static phi_status retry_of(const phi_json *node, const char **error) {
    phi_retry v = PHI_ZERO;
    return retry_read(node, &v, error);
}
static phi_status cache_of(const phi_json *node, const char **error) {
    phi_cache v = PHI_ZERO;
    return cache_read(node, &v, error);
}
static phi_status context_of(const phi_json *node, const char **error) {
    phi_compaction_config v = PHI_ZERO;
    return compaction_read(node, &v, error);
}
static phi_status mode_of(const phi_json *node, const char **error) {
    phi_tool_mode mode;
    uint32_t batch;
    return tool_mode_read(node, &mode, &batch, error);
}
static phi_status level_of(const phi_json *node, const char **error) {
    phi_thinking v;
    return thinking_read(node, &v, error);
}
static phi_status model_of(const phi_json *node, const char **error) {
    phi_model v = PHI_ZERO;
    return model_read(node, &v, error);
}

TEST(a_value_that_does_not_fit_is_named_with_what_was_expected) {
    static const struct {
        read_fn read;
        const char *text, *error;
    } rows[] = {
        {limits_of, "5", "limits: expected an object"},
        {limits_of, "{\"max_turns\":0}", "max_turns: expected an integer from 1 to 4294967295"},
        {limits_of, "{\"max_turns\":\"5\"}", "max_turns: expected an integer from 1 to 4294967295"},
        {limits_of, "{\"max_total_tokens\":-1}",
         "max_total_tokens: expected an integer of at least 1"},
        {limits_of, "{\"max_duration\":600}",
         "max_duration: expected {\"secs\": 600, \"nanos\": 0}, above 0 and below 4294967 seconds"},
        {limits_of, "{\"max_duration\":{\"secs\":0}}",
         "max_duration: expected {\"secs\": 600, \"nanos\": 0}, above 0 and below 4294967 seconds"},
        {limits_of, "{\"max_cost\":-2}", "max_cost: expected a number above 0, or null"},
        {limits_of, "{\"pause\":1}", "pause: expected true or false"},
        {retry_of, "[]", "retry: expected an object"},
        {retry_of, "{\"backoff_multiplier\":0.5}",
         "backoff_multiplier: expected a number from 1 to 1000000"},
        {cache_of, "{\"strategy\":\"sometimes\"}",
         "strategy: expected \"auto\", \"disabled\" or {\"manual\": {...}}"},
        {cache_of, "{\"strategy\":{\"manual\":{\"cache_tools\":2}}}",
         "cache_tools: expected true or false"},
        {cache_of, "{\"one_hour\":\"yes\"}", "one_hour: expected true or false"},
        {context_of, "{\"compaction\":7}", "compaction: expected an object"},
        {context_of, "{\"compaction\":{\"compact_at_pct\":90}}",
         "compact_at_pct: expected a number above 0, at most 1"},
        {context_of, "{\"compaction\":{\"compaction_scope\":\"all\"}}",
         "compaction_scope: expected {\"FixedCount\": 3} or \"TokenBudget\""},
        {context_of, "{\"keep_recent\":-1}", "keep_recent: expected an integer of at least 0"},
        {mode_of, "{}", "type: expected \"sequential\", \"parallel\" or \"batched\""},
        {mode_of, "{\"type\":\"batched\",\"size\":0}",
         "size: expected an integer from 1 to 4294967295"},
        {level_of, "\"extreme\"",
         "thinking_level: expected \"off\", \"minimal\", \"low\", \"medium\" or \"high\""},
        {model_of, "{\"id\":5}", "id: expected a text"},
        {model_of, "{\"id\":\"a\\u0000b\"}", "id: expected a text"},
        {model_of, "{\"api_version\":2026}", "api_version: expected a text"},
        {model_of, "{\"headers\":[]}", "headers: expected an object of texts"},
        {model_of, "{\"headers\":{\"a\":1}}", "headers: expected an object of texts"},
        {model_of, "{\"cost\":{\"input_per_million\":-1}}",
         "cost.input_per_million: expected a number of at least 0"},
        {model_of, "{\"compat\":{\"quirks\":[\"none\"]}}",
         "compat.quirks: expected names of PHI_QUIRK_ in lower case"},
        {model_of, "{\"compat\":{\"supports_store\":1}}",
         "compat.supports_store: expected true or false"}};
    room r;
    size_t i;
    room_begin(&r);
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *error = NULL;
        CHECK_EQ_INT(rows[i].read(read_json(&r, rows[i].text), &error), PHI_BAD_ARG);
        CHECK_EQ_STR(error != NULL ? error : "", rows[i].error);
        CHECK_EQ_INT(rows[i].read(read_json(&r, rows[i].text), NULL), PHI_BAD_ARG);
    }
    room_end(&r);
}

/* ---- round trips ---- */

static uint32_t random_seed = 1;
static uint32_t random_to(uint32_t most) {
    random_seed = random_seed * 1664525u + 1013904223u;
    return random_seed % 7 == 0 ? 0 : random_seed % 11 == 0 ? most : random_seed % most + 1;
}

static void random_settings(phi_limits *l, phi_retry *y, phi_cache *c, phi_compaction_config *x,
                            phi_model *m) {
    static const char *const protocols[] = {PHI_PROTOCOL_ANTHROPIC, PHI_PROTOCOL_OPENAI_CHAT,
                                            PHI_PROTOCOL_GOOGLE, "own"};
    static const phi_model_header headers[] = {{"a", "1"}, {"b", "\"{}\""}};
    l->max_turns = random_to(UINT32_MAX);
    l->max_tokens = random_to(1000) ? random_to(UINT32_MAX) : UINT64_MAX;
    l->max_duration_ms = random_to(UINT32_MAX);
    l->max_cost = random_to(1000) / 8.0;
    l->pause = random_to(2) > 1;
    y->disable = random_to(2) > 1;
    y->max_retries = y->disable ? 0 : random_to(UINT32_MAX);
    y->backoff_multiplier = 1 + random_to(100) / 16.0;
    y->max_server_delay_ms = random_to(UINT32_MAX);
    c->mode = (phi_cache_mode)(random_to(300) % 3);
    c->system = c->mode == PHI_CACHE_MANUAL && random_to(2) > 1;
    c->messages = c->mode == PHI_CACHE_MANUAL && random_to(2) > 1;
    c->one_hour = c->mode != PHI_CACHE_DISABLED && random_to(2) > 1;
    x->max_context_tokens = random_to(1000000);
    x->compact_at_pct = random_to(100) / 128.0;
    x->scope = random_to(2) > 1 ? PHI_COMPACTION_TOKENS : PHI_COMPACTION_RUNS;
    x->scope_runs = x->scope == PHI_COMPACTION_TOKENS ? 0
                    : random_to(2) > 1                ? PHI_COMPACTION_NO_RUNS
                                                      : random_to(UINT32_MAX);
    x->scope_tokens = random_to(UINT32_MAX);
    x->keep_no_first = random_to(2) > 1;
    x->keep_first_turns = x->keep_no_first ? 0 : random_to(50);
    x->keep_recent_turns = random_to(50);
    x->keep_no_first_messages = random_to(2) > 1;
    x->keep_first_messages = x->keep_no_first_messages ? 0 : random_to(50);
    x->keep_recent_messages = random_to(50);
    x->focus_message = random_to(2) > 1 ? "a \"b\"\n\xc3\xa9" : NULL;
    x->disable = random_to(2) > 1;
    m->protocol = protocols[random_to(400) % 4];
    m->id = random_to(2) > 1 ? "m" : NULL;
    m->api_key = random_to(2) > 1 ? "k" : NULL;
    m->quirks = random_to(UINT32_MAX);
    m->max_tokens = random_to(UINT32_MAX);
    m->cost.cache_write = random_to(100) / 4.0;
    m->api_version = random_to(2) > 1 ? "2026-10-21" : NULL;
    m->headers = headers;
    m->header_count = random_to(300) % 3;
}

TEST(keep_first_and_keep_recent_count_messages_and_in_compaction_turns) {
    phi_compaction_config c = PHI_ZERO;
    room r;
    room_begin(&r);
    CHECK_EQ_INT(
        compaction_read(read_json(&r, "{\"keep_first\":0,\"keep_recent\":4,\"compaction\":{}}"), &c,
                        NULL),
        PHI_OK);
    CHECK(!c.keep_no_first && c.keep_first_turns == 0 && c.keep_recent_turns == 0);
    CHECK(c.keep_no_first_messages && c.keep_recent_messages == 4);
    CHECK_EQ_INT(
        compaction_read(read_json(&r, "{\"keep_first\":3,\"compaction\":{\"keep_first_turns\":0,"
                                      "\"keep_recent_turns\":6}}"),
                        &c, NULL),
        PHI_OK);
    CHECK(c.keep_no_first && c.keep_recent_turns == 6);
    CHECK(!c.keep_no_first_messages && c.keep_first_messages == 3 && c.keep_recent_messages == 0);
    c.keep_recent_messages = 7;
    CHECK_EQ_STR(text_of(&r, compaction_write(&c)),
                 "{\"max_context_tokens\":100000,\"system_prompt_tokens\":4000,\"compaction\":{"
                 "\"compact_at_pct\":0.9,\"compact_budget_threshold_pct\":0.05,"
                 "\"compaction_scope\":{\"FixedCount\":3},\"keep_first_turns\":0,"
                 "\"keep_recent_turns\":6,\"max_summary_tokens\":2000,"
                 "\"tool_output_max_lines\":50,\"focus_message\":null},\"keep_recent\":7,"
                 "\"keep_first\":3,\"tool_output_max_lines\":50}");
    room_end(&r);
}

TEST(what_is_written_reads_back_and_is_written_the_same) {
    int i;
    for (i = 0; i < 500; i++) {
        room r;
        phi_limits l = PHI_ZERO, l2 = PHI_ZERO;
        phi_retry y = PHI_ZERO, y2 = PHI_ZERO;
        phi_cache c = PHI_ZERO, c2 = PHI_ZERO;
        phi_compaction_config x = PHI_ZERO, x2 = PHI_ZERO;
        phi_model m = PHI_ZERO, m2 = PHI_ZERO;
        const char *was;
        room_begin(&r);
        random_settings(&l, &y, &c, &x, &m);
        was = text_of(&r, limits_write(&l));
        CHECK_EQ_INT(limits_read(read_json(&r, was), &l2, NULL), PHI_OK);
        CHECK_EQ_STR(text_of(&r, limits_write(&l2)), was);
        CHECK(l.max_turns == 0 || l.max_turns == l2.max_turns);
        CHECK(l.max_duration_ms == 0 || l.max_duration_ms == l2.max_duration_ms);
        CHECK(l.max_tokens == 0 || l.max_tokens == l2.max_tokens);
        CHECK(l.max_cost - l2.max_cost == 0 && l.pause == l2.pause);
        was = text_of(&r, retry_write(&y));
        CHECK_EQ_INT(retry_read(read_json(&r, was), &y2, NULL), PHI_OK);
        CHECK_EQ_STR(text_of(&r, retry_write(&y2)), was);
        CHECK(y.disable == y2.disable && y.max_server_delay_ms == y2.max_server_delay_ms);
        was = text_of(&r, cache_write(&c));
        CHECK_EQ_INT(cache_read(read_json(&r, was), &c2, NULL), PHI_OK);
        CHECK(c.mode == c2.mode && c.system == c2.system && c.messages == c2.messages);
        CHECK(c.one_hour == c2.one_hour);
        was = text_of(&r, compaction_write(&x));
        CHECK_EQ_INT(compaction_read(read_json(&r, was), &x2, NULL), PHI_OK);
        CHECK_EQ_STR(text_of(&r, compaction_write(&x2)), was);
        CHECK(x.keep_no_first == x2.keep_no_first && x.scope == x2.scope);
        CHECK(x.scope_runs == 0 || x.scope_runs == x2.scope_runs);
        CHECK(x.disable == x2.disable && x.scope_tokens == x2.scope_tokens);
        was = text_of(&r, model_write(&m));
        CHECK_EQ_INT(model_read(read_json(&r, was), &m2, NULL), PHI_OK);
        CHECK_EQ_STR(text_of(&r, model_write(&m2)), was);
        CHECK(m.quirks == m2.quirks && m.header_count == m2.header_count);
        CHECK(m.max_tokens == 0 || m.max_tokens == m2.max_tokens);
        CHECK_EQ_STR(m2.api_version != NULL ? m2.api_version : "",
                     m.api_version != NULL ? m.api_version : "");
        room_end(&r);
    }
}

TEST(a_lack_of_memory_is_said_and_leaves_nothing) {
    int n = 0;
    bool tripped;
    do {
        room r;
        phi_model m = PHI_ZERO, back = PHI_ZERO;
        phi_model_header header = {"a", "b"};
        phi_json *node;
        phi_compaction_config c = PHI_ZERO;
        m.headers = &header;
        m.header_count = 1;
        m.quirks = UINT32_MAX;
        c.focus_message = "x";
        room_begin(&r);
        test_alloc_fail_at(n);
        node = model_write(&m);
        if (node != NULL) {
            phi_status status = model_read(node, &back, NULL);
            CHECK(status == PHI_OK || status == PHI_NO_MEMORY);
        }
        (void)compaction_write(&c);
        (void)limits_write(NULL);
        (void)cache_write(NULL);
        tripped = test_alloc_tripped();
        n++;
        test_alloc_fail_at(-1);
        room_end(&r);
        CHECK_EQ_INT(test_alloc_live_bytes(), 0);
    } while (tripped);
    CHECK(n > 2);
}

/* ---- what goes into requests as it is ---- */

TEST(the_extra_of_a_model_is_an_object_in_its_json_and_reads_back) {
    room r;
    phi_model model = phi_model_anthropic("m", NULL), got;
    const char *error = NULL;
    const phi_json *node;
    room_begin(&r);
    model.extra = "{\"metadata\":{\"user_id\":\"u\"}}";
    node = model_without_secrets(&model);
    CHECK_EQ_STR(text_of(&r, phi_json_get(node, "extra")), model.extra);
    CHECK_EQ_INT(model_read(node, &got, &error), PHI_OK);
    CHECK_EQ_STR(got.extra, model.extra);
    node = read_json(&r, "{\"id\":\"m\",\"extra\":\"{\\\"a\\\":1}\"}");
    CHECK_EQ_INT(model_read(node, &got, &error), PHI_OK);
    CHECK_EQ_STR(got.extra, "{\"a\":1}");
    node = read_json(&r, "{\"id\":\"m\",\"extra\":[1]}");
    CHECK(model_read(node, &got, &error) != PHI_OK);
    CHECK_EQ_STR(error, "extra: expected an object, or its JSON as a text");
    model.extra = NULL;
    CHECK(phi_json_get(model_without_secrets(&model), "extra") == NULL);
    room_end(&r);
}

TEST(thinking_above_high_has_its_words) {
    room r;
    phi_thinking level = PHI_THINKING_OFF;
    const char *error = NULL;
    room_begin(&r);
    CHECK_EQ_STR(text_of(&r, level_write(PHI_THINKING_XHIGH)), "\"xhigh\"");
    CHECK_EQ_STR(text_of(&r, level_write(PHI_THINKING_MAX)), "\"max\"");
    CHECK_EQ_INT(thinking_read(read_json(&r, "\"Max\""), &level, &error), PHI_OK);
    CHECK_EQ_INT(level, PHI_THINKING_MAX);
    room_end(&r);
}

/* ---- all of them ---- */

TEST(settings_are_one_object_in_these_shapes_and_read_back) {
    room r;
    phi_settings s = PHI_ZERO, got = PHI_ZERO;
    phi_parse_error error;
    phi_str json, again;
    const char *was;
    room_begin(&r);
    s.limits.max_turns = 7;
    s.retry.disable = true;
    s.tool_mode = PHI_TOOLS_BATCHED;
    s.tool_batch = 3;
    s.thinking = PHI_THINKING_LOW;
    s.model = phi_model_anthropic("m", "secret");
    CHECK_EQ_INT(phi_settings_to_json(&s, 0, &r.arena, &json), PHI_OK);
    was = json.at;
    CHECK(strncmp(was, "{\"limits\":{\"max_turns\":7,", 25) == 0);
    CHECK(strstr(was, "\"retry\":{\"max_retries\":0,") != NULL);
    CHECK(strstr(was, "\"cache\":{\"enabled\":true,\"strategy\":\"auto\"}") != NULL);
    CHECK(strstr(was, "\"context\":" CONTEXT) != NULL);
    CHECK(strstr(was, "\"tool_execution\":{\"type\":\"batched\",\"size\":3}") != NULL);
    CHECK(strstr(was, "\"thinking_level\":\"low\",\"model\":{\"id\":\"m\",") != NULL);
    CHECK(strstr(was, "secret") == NULL);
    CHECK_EQ_INT(phi_settings_from_json(json, &r.arena, &got, &error), PHI_OK);
    CHECK_EQ_INT(got.limits.max_turns, 7);
    CHECK(got.retry.disable);
    CHECK_EQ_INT(got.tool_mode, PHI_TOOLS_BATCHED);
    CHECK_EQ_INT(got.tool_batch, 3);
    CHECK_EQ_INT(got.thinking, PHI_THINKING_LOW);
    CHECK_EQ_STR(got.model.id, "m");
    CHECK_EQ_INT(phi_settings_to_json(&got, 0, &r.arena, &again), PHI_OK);
    CHECK_EQ_STR(again.at, was);
    CHECK_EQ_INT(phi_settings_to_json(&s, PHI_SETTINGS_SECRETS, &r.arena, &again), PHI_OK);
    CHECK(strstr(again.at, "\"api_key\":\"secret\"") != NULL);
    room_end(&r);
}

TEST(settings_that_do_not_fit_change_nothing_and_members_may_be_missing) {
    room r;
    phi_settings got = PHI_ZERO;
    phi_parse_error error;
    phi_str json;
    room_begin(&r);
    got.limits.max_turns = 9;
    CHECK_EQ_INT(
        phi_settings_from_json(phi_str_of("{\"limits\":{\"max_turns\":3},\"thinking_level\":7}"),
                               &r.arena, &got, &error),
        PHI_BAD_ARG);
    CHECK(strstr(error.message, "thinking") != NULL);
    CHECK_EQ_INT(got.limits.max_turns, 9);
    CHECK_EQ_INT(phi_settings_from_json(phi_str_of("[]"), &r.arena, &got, &error), PHI_BAD_ARG);
    CHECK_EQ_STR(error.message, "settings: expected an object");
    CHECK_EQ_INT(error.status, PHI_BAD_ARG);
    CHECK_EQ_INT(phi_settings_from_json(phi_str_of("{"), &r.arena, &got, &error), PHI_PARSE);
    CHECK_EQ_INT(error.column, 2);
    CHECK_EQ_INT(phi_settings_from_json(phi_str_of("{\"retry\":null}"), NULL, &got, NULL),
                 PHI_BAD_ARG);
    CHECK_EQ_INT(got.limits.max_turns, 9);
    CHECK_EQ_INT(
        phi_settings_from_json(phi_str_of("{\"retry\":null,\"x\":1}"), &r.arena, &got, &error),
        PHI_OK);
    CHECK_EQ_INT(got.limits.max_turns, 0);
    CHECK_EQ_INT(phi_settings_to_json(NULL, 0, &r.arena, &json), PHI_BAD_ARG);
    room_end(&r);
}

TEST_MAIN(TEST_ENTRY(settings_are_one_object_in_these_shapes_and_read_back),
          TEST_ENTRY(settings_that_do_not_fit_change_nothing_and_members_may_be_missing),
          TEST_ENTRY(defaults_are_written_out_in_the_shapes_of_the_interchange),
          TEST_ENTRY(limits_that_are_off_are_written_as_unlimited),
          TEST_ENTRY(what_others_wrote_is_read),
          TEST_ENTRY(a_model_is_read_and_written_without_its_secrets_unless_they_are_asked_for),
          TEST_ENTRY(every_protocol_is_read_by_both_spellings),
          TEST_ENTRY(a_value_that_does_not_fit_is_named_with_what_was_expected),
          TEST_ENTRY(keep_first_and_keep_recent_count_messages_and_in_compaction_turns),
          TEST_ENTRY(what_is_written_reads_back_and_is_written_the_same),
          TEST_ENTRY(a_lack_of_memory_is_said_and_leaves_nothing),
          TEST_ENTRY(the_extra_of_a_model_is_an_object_in_its_json_and_reads_back),
          TEST_ENTRY(thinking_above_high_has_its_words))
