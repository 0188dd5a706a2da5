/* config_json.c - writes the settings of an agent as JSON, and reads them.

   A row describes a member that is a plain field, for reading and for writing. Other members are
   handled by code between ranges of rows. Only the first error is kept, so rows are read in their
   listed order. */
#include "config/config_json.h"

#include "codecs/presets.h"
#include "config/config_tables_in.h"
#include "model/model_in.h"
#include "wire/wire_in.h"

#include <stdio.h>

typedef struct phi__set_reader {
    phi_arena *arena;
    phi_settings *out;
    const char *error; /* message of the first error, static */
    bool no_memory;
} phi__set_reader;

typedef struct phi__set_writer {
    phi_arena *arena;
    phi_json *node;
    bool no_memory;
} phi__set_writer;

typedef enum phi__set_kind {
    PHI__SET_UINT,
    PHI__SET_NUM,
    PHI__SET_BOOL,
    PHI__SET_TEXT
} phi__set_kind;

/* Describes a member that is a plain field. Numbers are at least `least` and at most `most` (0:
   only the type limits them). Zero is written as `fallback`, or left out if fallback is below 0. */
typedef struct phi__set_row {
    char key[40];
    uint8_t kind, size;
    uint16_t offset;
    double least, most, fallback;
    char error[80];
} phi__set_row;

#define PHI__SET_ROW(type, member, key, kind, least, most, fallback, error)                        \
    {                                                                                              \
        key, kind, (uint8_t)sizeof(((type *)0)->member), (uint16_t)offsetof(type, member), least,  \
            most, fallback, error                                                                  \
    }
#define PHI__SET_COUNT(type, member, key, fallback) /* at least 0 */                               \
    PHI__SET_ROW(type, member, key, PHI__SET_UINT, 0, 0, fallback,                                 \
                 key ": expected an integer of at least 0")
#define PHI__SET_SOME(type, member, key, fallback) /* at least 1 */                                \
    PHI__SET_ROW(type, member, key, PHI__SET_UINT, 1, 0, fallback,                                 \
                 key ": expected an integer of at least 1")
#define PHI__SET_U32(type, member, key, fallback)                                                  \
    PHI__SET_ROW(type, member, key, PHI__SET_UINT, 1, 0, fallback,                                 \
                 key ": expected an integer from 1 to 4294967295")
#define PHI__SET_FLAG(type, member, key, fallback)                                                 \
    PHI__SET_ROW(type, member, key, PHI__SET_BOOL, 0, 0, fallback, key ": expected true or false")
#define PHI__SET_STR(type, member, key)                                                            \
    PHI__SET_ROW(type, member, key, PHI__SET_TEXT, 0, 0, 0, key ": expected a text")

/* ---- reading ---- */

static void phi__set_expect(phi__set_reader *r, bool fits, const char *error) {
    if (!fits && r->error == NULL) r->error = error;
}

/* Returns the member, or NULL if it is missing or null. */
static const phi_json *phi__set_get(const phi_json *node, const char *key) {
    const phi_json *member = phi_json_get(node, key);
    return phi_json_is(member, PHI_JSON_NULL) ? NULL : member;
}

/* Reads an integer. True if *out was set. */
static bool phi__set_uint(phi__set_reader *r, const phi_json *node, const char *key, uint64_t least,
                          uint64_t most, uint64_t *out, const char *error) {
    const phi_json *member = phi__set_get(node, key);
    if (member == NULL) return false;
    bool fits = phi_json_is(member, PHI_JSON_INTEGER) && phi_json_num(member, -1) >= 0 &&
                phi__json_get_uint(member, 0) >= least && phi__json_get_uint(member, 0) <= most;
    phi__set_expect(r, fits, error);
    if (fits) *out = phi__json_get_uint(member, 0);
    return fits;
}

/* Sets the fields whose members exist. */
static void phi__set_read(phi__set_reader *r, const phi__set_row *row, size_t count,
                          const phi_json *node, void *out) {
    for (; count > 0; count--, row++) {
        char *at = (char *)out + row->offset;
        const phi_json *member = phi__set_get(node, row->key);
        phi_str text = phi_json_str(member, "");
        double d = phi_json_num(member, -1);
        bool flag = phi_json_bool(member, false);
        uint64_t n;
        if (member == NULL) continue;
        if (row->kind == PHI__SET_UINT) {
            if (!phi__set_uint(r, node, row->key, (uint64_t)row->least,
                               row->size == 4 ? UINT32_MAX : UINT64_MAX, &n, row->error))
                continue;
            uint32_t half = (uint32_t)n;
            memcpy(at, row->size == 4 ? (void *)&half : (void *)&n, row->size);
        } else if (row->kind == PHI__SET_NUM && phi_json_is(member, PHI_JSON_NUMBER) &&
                   d >= row->least && d <= row->most)
            memcpy(at, &d, sizeof d);
        else if (row->kind == PHI__SET_BOOL && phi_json_is(member, PHI_JSON_BOOL))
            memcpy(at, &flag, sizeof flag);
        else if (row->kind == PHI__SET_TEXT && phi_json_is(member, PHI_JSON_STRING) &&
                 (text.len == 0 || memchr(text.at, 0, text.len) == NULL))
            memcpy(at, &text.at, sizeof text.at);
        else
            phi__set_expect(r, false, row->error);
    }
}

/* ---- writing ---- */

static phi__set_writer phi__set_begin(phi_arena *arena) {
    phi__set_writer w = PHI_ZERO;
    w.arena = arena;
    w.node = phi_json_new_object(arena);
    w.no_memory = w.node == NULL;
    return w;
}

/* Adds a member. A NULL value means no memory. */
static void phi__set_put(phi__set_writer *w, const char *key, phi_json *value) {
    if (w->no_memory) return;
    w->no_memory = value == NULL || phi_json_set(w->arena, w->node, key, value) != PHI_OK;
}

static void phi__set_put_uint(phi__set_writer *w, const char *key, uint64_t value) {
    phi__set_put(w, key, phi__json_edit_uint(w->arena, value));
}

/* Adds a text; NULL is written as null. */
static void phi__set_put_text(phi__set_writer *w, const char *key, const char *value) {
    phi__set_put(w, key,
                 value != NULL ? phi__json_edit_text(w->arena, value)
                               : phi__json_edit_null(w->arena));
}

static void phi__set_write(phi__set_writer *w, const phi__set_row *row, size_t count,
                           const void *from) {
    for (; count > 0; count--, row++) {
        const char *at = (const char *)from + row->offset;
        uint64_t n = 0;
        uint32_t half = 0;
        double d = 0;
        bool flag = false;
        const char *text = NULL;
        switch (row->kind) {
        case PHI__SET_UINT:
            memcpy(row->size == 4 ? (void *)&half : (void *)&n, at, row->size);
            n += half;
            if (n == 0 && row->fallback < 0) break;
            phi__set_put_uint(w, row->key, n != 0 ? n : (uint64_t)row->fallback);
            break;
        case PHI__SET_NUM:
            memcpy(&d, at, sizeof d);
            phi__set_put(w, row->key, phi_json_new_num(w->arena, d > 0 ? d : row->fallback));
            break;
        case PHI__SET_BOOL:
            memcpy(&flag, at, sizeof flag);
            if (flag || row->fallback >= 0)
                phi__set_put(w, row->key, phi_json_new_bool(w->arena, flag));
            break;
        default: memcpy(&text, at, sizeof text); phi__set_put_text(w, row->key, text);
        }
    }
}

/* Returns the tree, or NULL without memory. */
static phi_json *phi__set_tree(const phi__set_writer *w) { return w->no_memory ? NULL : w->node; }

/* ---- limits ---- */

enum { PHI__SET_MS = 1000, PHI__SET_NANOS = 1000000 /* nanoseconds in a millisecond */ };

/* The rows are written and read in ranges, because max_duration comes after the first two rows. So
   a new row at the end also needs larger counts in phi__set_limits_write and
   phi__set_limits_read. */
static const phi__set_row phi__set_limits[] = {
    PHI__SET_U32(phi_limits, max_turns, "max_turns", 50),
    PHI__SET_SOME(phi_limits, max_tokens, "max_total_tokens", 1000000),
    PHI__SET_ROW(phi_limits, max_cost, "max_cost", PHI__SET_NUM, 1e-9, 1e15, 0,
                 "max_cost: expected a number above 0, or null"),
    PHI__SET_FLAG(phi_limits, pause, "pause", -1)};

static phi_json *phi__set_limits_write(phi_arena *arena, const phi_settings *settings) {
    phi__set_writer w = phi__set_begin(arena), time = phi__set_begin(arena);
    phi_limits l = settings->limits;
    if (l.disable) {
        l.max_turns = l.max_duration_ms = PHI_UNLIMITED;
        l.max_tokens = UINT64_MAX;
        l.max_cost = 0;
    }
    uint64_t ms = l.max_duration_ms != 0 ? l.max_duration_ms : 600000;
    phi__set_put_uint(&time, "secs", ms / PHI__SET_MS);
    phi__set_put_uint(&time, "nanos", ms % PHI__SET_MS * PHI__SET_NANOS);
    phi__set_write(&w, phi__set_limits, 2, &l);
    phi__set_put(&w, "max_duration", phi__set_tree(&time));
    if (l.max_cost > 0)
        phi__set_write(&w, &phi__set_limits[2], 1, &l);
    else
        phi__set_put_text(&w, "max_cost", NULL);
    phi__set_write(&w, &phi__set_limits[3], 1, &l);
    return phi__set_tree(&w);
}

static void phi__set_limits_read(phi__set_reader *r, const phi_json *node) {
    static const char wrong[] =
        "max_duration: expected {\"secs\": 600, \"nanos\": 0}, above 0 and below 4294967 seconds";
    phi_limits *l = &r->out->limits;
    const phi_json *time = phi__set_get(node, "max_duration");
    uint64_t secs = 0, nanos = 0;
    phi__set_read(r, phi__set_limits, 2, node, l);
    if (time != NULL) {
        phi__set_expect(r, phi_json_is(time, PHI_JSON_OBJECT), wrong);
        (void)phi__set_uint(r, time, "secs", 0, 4294967, &secs, wrong);
        (void)phi__set_uint(r, time, "nanos", 0, 999999999, &nanos, wrong);
        uint64_t ms = secs * PHI__SET_MS + nanos / PHI__SET_NANOS;
        phi__set_expect(r, ms > 0 && ms <= UINT32_MAX, wrong);
        l->max_duration_ms = (uint32_t)ms;
    }
    phi__set_read(r, &phi__set_limits[2], 2, node, l);
}

/* ---- retries ---- */

static const phi__set_row phi__set_retry[] = {
    PHI__SET_ROW(phi_retry, max_retries, "max_retries", PHI__SET_UINT, 0, 0, 3,
                 "max_retries: expected an integer from 0 to 4294967295"),
    PHI__SET_U32(phi_retry, initial_delay_ms, "initial_delay_ms", 1000),
    PHI__SET_ROW(phi_retry, backoff_multiplier, "backoff_multiplier", PHI__SET_NUM, 1, 1e6, 2,
                 "backoff_multiplier: expected a number from 1 to 1000000"),
    PHI__SET_U32(phi_retry, max_delay_ms, "max_delay_ms", 30000),
    PHI__SET_U32(phi_retry, max_server_delay_ms, "max_server_delay_ms", -1)};

static phi_json *phi__set_retry_write(phi_arena *arena, const phi_settings *settings) {
    phi__set_writer w = phi__set_begin(arena);
    const phi_retry *retry = &settings->retry;
    if (retry->disable)
        phi__set_put_uint(&w, "max_retries", 0);
    else
        phi__set_write(&w, phi__set_retry, 1, retry);
    phi__set_write(&w, &phi__set_retry[1], PHI__COUNT(phi__set_retry) - 1, retry);
    return phi__set_tree(&w);
}

static void phi__set_retry_read(phi__set_reader *r, const phi_json *node) {
    phi_retry *retry = &r->out->retry;
    phi__set_read(r, phi__set_retry, PHI__COUNT(phi__set_retry), node, retry);
    retry->disable = phi__set_get(node, "max_retries") != NULL && retry->max_retries == 0;
}

/* ---- caching ---- */

typedef struct phi__set_cached {
    bool enabled;
    phi_cache cache;
} phi__set_cached;

static const phi__set_row phi__set_cache[] = {
    PHI__SET_FLAG(phi__set_cached, enabled, "enabled", 0),
    PHI__SET_FLAG(phi__set_cached, cache.one_hour, "one_hour", -1)};
static const phi__set_row phi__set_marks[] = {
    PHI__SET_FLAG(phi_cache, system, "cache_system", 0),
    PHI__SET_FLAG(phi_cache, tools, "cache_tools", 0),
    PHI__SET_FLAG(phi_cache, messages, "cache_messages", 0)};

static phi_json *phi__set_cache_write(phi_arena *arena, const phi_settings *settings) {
    phi__set_writer w = phi__set_begin(arena);
    phi__set_cached c = {settings->cache.mode != PHI_CACHE_DISABLED, settings->cache};
    phi__set_write(&w, phi__set_cache, 1, &c);
    if (c.cache.mode != PHI_CACHE_MANUAL)
        phi__set_put_text(&w, "strategy", c.enabled ? "auto" : "disabled");
    else {
        phi__set_writer marks = phi__set_begin(arena), manual = phi__set_begin(arena);
        phi__set_write(&marks, phi__set_marks, PHI__COUNT(phi__set_marks), &c.cache);
        phi__set_put(&manual, "manual", phi__set_tree(&marks));
        phi__set_put(&w, "strategy", phi__set_tree(&manual));
    }
    phi__set_write(&w, &phi__set_cache[1], 1, &c);
    return phi__set_tree(&w);
}

static void phi__set_cache_read(phi__set_reader *r, const phi_json *node) {
    phi__set_cached c = PHI_ZERO;
    c.enabled = true;
    phi__set_read(r, phi__set_cache, PHI__COUNT(phi__set_cache), node, &c);
    const phi_json *strategy = phi__set_get(node, "strategy");
    const phi_json *marks = phi__set_get(strategy, "manual");
    phi_str name = phi_json_str(strategy, "");
    if (phi__str_is_nocase(name, "disabled"))
        c.cache.mode = PHI_CACHE_DISABLED;
    else if (phi_json_is(marks, PHI_JSON_OBJECT)) {
        c.cache.mode = PHI_CACHE_MANUAL;
        phi__set_read(r, phi__set_marks, PHI__COUNT(phi__set_marks), marks, &c.cache);
    } else
        phi__set_expect(r, strategy == NULL || phi__str_is_nocase(name, "auto"),
                        "strategy: expected \"auto\", \"disabled\" or {\"manual\": {...}}");
    if (c.enabled)
        r->out->cache = c.cache;
    else
        r->out->cache.mode = PHI_CACHE_DISABLED;
}

/* ---- tools and thinking ---- */

static phi_json *phi__set_tools_write(phi_arena *arena, const phi_settings *settings) {
    phi__set_writer w = phi__set_begin(arena);
    phi_tool_mode mode = settings->tool_mode;
    phi__set_put_text(&w, "type",
                      mode == PHI_TOOLS_SEQUENTIAL ? "sequential"
                      : mode == PHI_TOOLS_BATCHED  ? "batched"
                                                   : "parallel");
    if (mode == PHI_TOOLS_BATCHED)
        phi__set_put_uint(&w, "size", settings->tool_batch != 0 ? settings->tool_batch : 4);
    return phi__set_tree(&w);
}

static void phi__set_tools_read(phi__set_reader *r, const phi_json *node) {
    phi_str type = phi_json_str(phi_json_get(node, "type"), "");
    uint64_t size = 0;
    if (phi__str_is_nocase(type, "sequential"))
        r->out->tool_mode = PHI_TOOLS_SEQUENTIAL;
    else if (phi__str_is_nocase(type, "batched"))
        r->out->tool_mode = PHI_TOOLS_BATCHED;
    else
        phi__set_expect(r, phi__str_is_nocase(type, "parallel"),
                        "type: expected \"sequential\", \"parallel\" or \"batched\"");
    if (r->out->tool_mode == PHI_TOOLS_BATCHED)
        (void)phi__set_uint(r, node, "size", 1, UINT32_MAX, &size,
                            "size: expected an integer from 1 to 4294967295");
    r->out->tool_batch = (uint32_t)size;
}

static phi_json *phi__set_thinking_write(phi_arena *arena, const phi_settings *settings) {
    phi__cfg_choice choice;
    bool known = phi__choice_of(phi__names_thinking(), (int)settings->thinking, &choice);
    return phi__json_edit_text(arena, known ? choice.name : "off");
}

static void phi__set_thinking_read(phi__set_reader *r, const phi_json *node) {
    phi__cfg_choice choice = PHI_ZERO;
    phi__set_expect(
        r, phi__choice_find(phi__names_thinking(), phi_json_str(node, ""), &choice),
        "thinking_level: expected \"off\", \"minimal\", \"low\", \"medium\" or \"high\"");
    r->out->thinking = (phi_thinking)choice.value;
}

/* ---- compaction ---- */

enum { PHI__SET_FIRST = 2, PHI__SET_RECENT = 10, PHI__SET_LINES = 50, PHI__SET_RUNS = 3 };

#define PHI__SET_PCT(member, key, fallback)                                                        \
    PHI__SET_ROW(phi_compaction_config, member, key, PHI__SET_NUM, 1e-9, 1, fallback,              \
                 key ": expected a number above 0, at most 1")

static const phi__set_row phi__set_context[] =
    {/* members of "context" */
     PHI__SET_SOME(phi_compaction_config, max_context_tokens, "max_context_tokens", 100000),
     PHI__SET_SOME(phi_compaction_config, system_prompt_tokens, "system_prompt_tokens", 4000),
     PHI__SET_COUNT(phi_compaction_config, keep_first_messages, "keep_first", PHI__SET_FIRST),
     PHI__SET_COUNT(phi_compaction_config, keep_recent_messages, "keep_recent", PHI__SET_RECENT)};

static const phi__set_row phi__set_inner[] =
    {/* members of "compaction" in "context" */
     PHI__SET_PCT(compact_at_pct, "compact_at_pct", 0.9),
     PHI__SET_PCT(budget_threshold_pct, "compact_budget_threshold_pct", 0.05),
     PHI__SET_SOME(phi_compaction_config, scope_tokens, "scope_tokens", -1),
     PHI__SET_SOME(phi_compaction_config, max_summary_tokens, "max_summary_tokens", 2000),
     PHI__SET_ROW(phi_compaction_config, focus_message, "focus_message", PHI__SET_TEXT, 0, 0, 0,
                  "focus_message: expected a text or null"),
     PHI__SET_FLAG(phi_compaction_config, disable, "disable", -1),
     PHI__SET_COUNT(phi_compaction_config, keep_first_turns, "keep_first_turns", PHI__SET_FIRST),
     PHI__SET_COUNT(phi_compaction_config, keep_recent_turns, "keep_recent_turns", PHI__SET_RECENT),
     PHI__SET_COUNT(phi_compaction_config, tool_output_max_lines, "tool_output_max_lines",
                    PHI__SET_LINES)};

/* Writes a row of keep_first; if `none`, writes 0. */
static void phi__set_put_first(phi__set_writer *w, const phi__set_row *row, bool none,
                               const phi_compaction_config *c) {
    if (none)
        phi__set_put_uint(w, row->key, 0);
    else
        phi__set_write(w, row, 1, c);
}

static phi_json *phi__set_compaction_write(phi_arena *arena, const phi_settings *settings) {
    phi__set_writer w = phi__set_begin(arena), inner = phi__set_begin(arena);
    phi__set_writer scope = phi__set_begin(arena);
    const phi_compaction_config *c = &settings->compaction;
    uint32_t runs = c->scope_runs == PHI_COMPACTION_NO_RUNS ? 0
                    : c->scope_runs != 0                    ? c->scope_runs
                                                            : (uint32_t)PHI__SET_RUNS;
    phi__set_write(&w, phi__set_context, 2, c);
    phi__set_write(&inner, phi__set_inner, 2, c);
    phi__set_put_uint(&scope, "FixedCount", runs);
    phi__set_put(&inner, "compaction_scope",
                 c->scope == PHI_COMPACTION_TOKENS ? phi__json_edit_text(arena, "TokenBudget")
                                                   : phi__set_tree(&scope));
    phi__set_write(&inner, &phi__set_inner[2], 1, c);
    phi__set_put_first(&inner, &phi__set_inner[6], c->keep_no_first, c);
    phi__set_write(&inner, &phi__set_inner[7], 1, c);
    phi__set_write(&inner, &phi__set_inner[3], 1, c);
    phi__set_write(&inner, &phi__set_inner[8], 1, c);
    phi__set_write(&inner, &phi__set_inner[4], 2, c);
    phi__set_put(&w, "compaction", phi__set_tree(&inner));
    phi__set_write(&w, &phi__set_context[3], 1, c);
    phi__set_put_first(&w, &phi__set_context[2], c->keep_no_first_messages, c);
    phi__set_write(&w, &phi__set_inner[8], 1, c);
    return phi__set_tree(&w);
}

/* Reads "context". Counts of turns are in "compaction", counts of messages in the outer object, and
   counts of lines in either. */
static void phi__set_compaction_read(phi__set_reader *r, const phi_json *node) {
    static const char wrong[] = "compaction_scope: expected {\"FixedCount\": 3} or \"TokenBudget\"";
    phi_compaction_config *c = &r->out->compaction;
    const phi_json *inner = phi__set_get(node, "compaction");
    const phi_json *scope = phi__set_get(inner, "compaction_scope");
    uint64_t runs;
    phi__set_read(r, phi__set_context, 2, node, c);
    phi__set_expect(r, inner == NULL || phi_json_is(inner, PHI_JSON_OBJECT),
                    "compaction: expected an object");
    phi__set_read(r, phi__set_inner, 2, inner, c);
    if (phi__str_is(phi_json_str(scope, ""), "TokenBudget"))
        c->scope = PHI_COMPACTION_TOKENS;
    else if (phi__set_uint(r, scope, "FixedCount", 0, UINT32_MAX, &runs, wrong))
        c->scope_runs = runs == 0 ? PHI_COMPACTION_NO_RUNS : (uint32_t)runs;
    else
        phi__set_expect(r, scope == NULL, wrong);
    phi__set_read(r, &phi__set_inner[2], 6, inner, c);
    c->keep_no_first = phi__set_get(inner, "keep_first_turns") != NULL && c->keep_first_turns == 0;
    phi__set_read(r, &phi__set_context[2], 2, node, c);
    c->keep_no_first_messages =
        phi__set_get(node, "keep_first") != NULL && c->keep_first_messages == 0;
    bool lines = phi__set_get(inner, phi__set_inner[8].key) != NULL;
    phi__set_read(r, &phi__set_inner[8], 1, lines ? inner : node, c);
}

/* ---- a model ---- */

#define PHI__SET_RATE(member, key)                                                                 \
    PHI__SET_ROW(phi_cost, member, key, PHI__SET_NUM, 0, 1e9, 0,                                   \
                 "cost." key ": expected a number of at least 0")

static const phi__set_row phi__set_cost[] = {PHI__SET_RATE(input, "input_per_million"),
                                             PHI__SET_RATE(output, "output_per_million"),
                                             PHI__SET_RATE(cache_read, "cache_read_per_million"),
                                             PHI__SET_RATE(cache_write, "cache_write_per_million")};

static const phi__set_row phi__set_model[] = {
    PHI__SET_STR(phi_model, id, "id"),
    PHI__SET_STR(phi_model, name, "name"),
    PHI__SET_STR(phi_model, protocol, "api"),
    PHI__SET_STR(phi_model, provider, "provider"),
    PHI__SET_STR(phi_model, base_url, "base_url"),
    PHI__SET_STR(phi_model, api_key, "api_key"),
    PHI__SET_STR(phi_model, api_version, "api_version"),
    PHI__SET_FLAG(phi_model, reasoning, "reasoning", 0),
    PHI__SET_U32(phi_model, context_window, "context_window", 128000),
    PHI__SET_U32(phi_model, max_tokens, "max_tokens", 8192)};

/* The flags of the interchange format, which are members of "compat". */
static const struct {
    char key[40], error[72];
    uint64_t bit;
    bool inverse;
} phi__set_flags[] = {
#define PHI__SET_COMPAT(key, bit, inverse)                                                         \
    { key, "compat." key ": expected true or false", bit, inverse }
    PHI__SET_COMPAT("supports_store", PHI_QUIRK_STORE_FALSE, false),
    PHI__SET_COMPAT("supports_developer_role", PHI_QUIRK_DEVELOPER_ROLE, false),
    PHI__SET_COMPAT("supports_reasoning_effort", PHI_QUIRK_REASONING_EFFORT, false),
    PHI__SET_COMPAT("supports_usage_in_streaming", PHI_QUIRK_NO_STREAM_USAGE, true),
    PHI__SET_COMPAT("requires_tool_result_name", PHI_QUIRK_TOOL_NAME_IN_RESULT, false),
    PHI__SET_COMPAT("requires_assistant_after_tool_result", PHI_QUIRK_ASSISTANT_AFTER_TOOL, false)};

/* Returns `extra` as an object. If it is not JSON, returns it as a text. NULL: no memory. */
static phi_json *phi__set_extra_write(phi_arena *arena, const char *extra) {
    phi_json *root = NULL;
    phi_status status = phi_json_parse(arena, phi_str_of(extra), 0, &root, NULL);
    if (status == PHI_NO_MEMORY) return NULL;
    return status == PHI_OK ? root : phi__json_edit_text(arena, extra);
}

static phi_json *phi__set_compat_write(phi_arena *arena, uint64_t quirks) {
    phi__set_writer w = phi__set_begin(arena);
    phi_json *list = phi_json_new_array(arena);
    phi__cfg_choice quirk = PHI_ZERO;
    for (size_t i = 0; i < PHI__COUNT(phi__set_flags); i++) {
        if (i == 4) /* the member's position in the interchange format */
            phi__set_put_text(&w, "max_tokens_field",
                              (quirks & PHI_QUIRK_MAX_COMPLETION_TOKENS) != 0
                                  ? "MaxCompletionTokens"
                                  : "MaxTokens");
        bool has = (quirks & phi__set_flags[i].bit) != 0;
        phi__set_put(&w, phi__set_flags[i].key,
                     phi_json_new_bool(arena, has != phi__set_flags[i].inverse));
    }
    phi__set_put_text(&w, "thinking_format",
                      (quirks & PHI_QUIRK_REASONING_OBJECT) != 0  ? "OpenRouter"
                      : (quirks & PHI_QUIRK_ENABLE_THINKING) != 0 ? "Qwen"
                                                                  : "OpenAi");
    quirk.next = phi__names_quirks();
    while (list != NULL && phi__choice_next(&quirk))
        if ((quirks >> quirk.value & 1) != 0 &&
            phi_json_add(list, phi__json_edit_text(arena, quirk.name)) != PHI_OK)
            return NULL;
    phi__set_put(&w, "quirks", list);
    return phi__set_tree(&w);
}

static void phi__set_headers_read(phi__set_reader *r, const phi_json *node, phi_model *out) {
    static const char error[] = "headers: expected an object of texts";
    phi_json_iter it = phi_json_each(node);
    const phi_json *value;
    phi__set_expect(r, node == NULL || phi_json_is(node, PHI_JSON_OBJECT), error);
    while ((value = phi_json_next(&it)) != NULL)
        phi__set_expect(r, phi_json_is(value, PHI_JSON_STRING), error);
    if (r->error != NULL) return;
    out->headers = (const phi_model_header *)phi__cfg_pairs(r->arena, node, &out->header_count);
    r->no_memory = out->headers == NULL && out->header_count > 0;
}

/* Reads a list "quirks", or else the flags of the interchange format. */
static void phi__set_compat_read(phi__set_reader *r, const phi_json *node, uint64_t *quirks) {
    const phi_json *list = phi__set_get(node, "quirks"), *item;
    phi_json_iter it = phi_json_each(list);
    phi__cfg_choice quirk;
    if (node == NULL) return;
    phi__set_expect(r, phi_json_is(node, PHI_JSON_OBJECT), "compat: expected an object or null");
    phi__set_expect(r, list == NULL || phi_json_is(list, PHI_JSON_ARRAY),
                    "compat.quirks: expected an array");
    while ((item = phi_json_next(&it)) != NULL)
        if (phi__choice_find(phi__names_quirks(), phi_json_str(item, ""), &quirk))
            *quirks |= (uint64_t)1 << quirk.value;
        else
            phi__set_expect(r, false, "compat.quirks: expected names of PHI_QUIRK_ in lower case");
    if (list != NULL) return;
    for (size_t i = 0; i < PHI__COUNT(phi__set_flags); i++) {
        const phi_json *member = phi__set_get(node, phi__set_flags[i].key);
        if (member == NULL) continue;
        phi__set_expect(r, phi_json_is(member, PHI_JSON_BOOL), phi__set_flags[i].error);
        if (phi_json_bool(member, false) != phi__set_flags[i].inverse)
            *quirks |= phi__set_flags[i].bit;
    }
    phi_str field = phi_json_str(phi_json_get(node, "max_tokens_field"), "");
    phi_str format = phi_json_str(phi_json_get(node, "thinking_format"), "");
    if (phi__str_is_nocase(field, "MaxCompletionTokens") ||
        phi__str_is_nocase(field, "max_completion_tokens"))
        *quirks |= PHI_QUIRK_MAX_COMPLETION_TOKENS;
    if (phi__str_is_nocase(format, "OpenRouter")) *quirks |= PHI_QUIRK_REASONING_OBJECT;
    if (phi__str_is_nocase(format, "Qwen")) *quirks |= PHI_QUIRK_ENABLE_THINKING;
}

/* Reads an object, or a text that holds its JSON. */
static void phi__set_extra_read(phi__set_reader *r, const phi_json *node, phi_model *out) {
    phi_str text = phi_json_str(node, "");
    if (phi_json_is(node, PHI_JSON_OBJECT))
        r->no_memory |= phi_json_write(r->arena, node, 0, &text) != PHI_OK;
    else
        phi__set_expect(r, node == NULL || phi_json_is(node, PHI_JSON_STRING),
                        "extra: expected an object, or its JSON as a text");
    if (text.len == 0 || r->no_memory) return;
    r->no_memory = !phi__arena_str(r->arena, text, &text);
    out->extra = text.at;
}

/* Writes a text; NULL is written as `none`. */
static void phi__set_put_or(phi__set_writer *w, const char *key, const char *value,
                            const char *none) {
    phi__set_put_text(w, key, value != NULL ? value : none);
}

static phi_json *phi__set_model_write(phi_arena *arena, const phi_settings *settings,
                                      bool secrets) {
    const phi_model *m = &settings->model;
    phi__set_writer w = phi__set_begin(arena), cost = phi__set_begin(arena);
    phi__set_writer headers = phi__set_begin(arena);
    const char *protocol = m->protocol != NULL ? m->protocol : PHI_PROTOCOL_ANTHROPIC;
    phi__set_put_or(&w, "id", m->id, "");
    phi__set_put_or(&w, "name", m->name, m->id != NULL ? m->id : "");
    phi__set_put_or(&w, "api", phi__message_read_api(phi_str_of(protocol)), protocol);
    phi__set_put_or(&w, "provider", m->provider, protocol);
    phi__set_put_or(&w, "base_url", m->base_url, "");
    phi__set_put_or(&w, "api_key", secrets ? m->api_key : NULL, "");
    phi__set_write(&w, &phi__set_model[7], 3, m);
    phi__set_write(&cost, phi__set_cost, PHI__COUNT(phi__set_cost), &m->cost);
    phi__set_put(&w, "cost", phi__set_tree(&cost));
    for (size_t i = 0; i < m->header_count; i++)
        phi__set_put_text(&headers, m->headers[i].name, secrets ? m->headers[i].value : "");
    phi__set_put(&w, "headers", phi__set_tree(&headers));
    if (m->extra != NULL) phi__set_put(&w, "extra", phi__set_extra_write(arena, m->extra));
    if (m->quirks != 0 || strcmp(protocol, PHI_PROTOCOL_OPENAI_CHAT) == 0)
        phi__set_put(&w, "compat", phi__set_compat_write(arena, m->quirks));
    else
        phi__set_put_text(&w, "compat", NULL);
    if (m->api_version != NULL && m->api_version[0] != '\0')
        phi__set_put_text(&w, "api_version", m->api_version);
    return phi__set_tree(&w);
}

static void phi__set_model_read(phi__set_reader *r, const phi_json *node) {
    phi_model *m = &r->out->model;
    const phi_json *cost = phi__set_get(node, "cost");
    phi__cfg_choice api;
    phi_str name;
    phi__set_read(r, phi__set_model, PHI__COUNT(phi__set_model), node, m);
    /* Replace names such as "open_ai_completions" by PHI_PROTOCOL_ names; keep others. */
    if (m->protocol != NULL && phi__choice_find(phi__names_api(), phi_str_of(m->protocol), &api)) {
        (void)phi__choice_of(phi__names_api(), api.value, &api);
        r->no_memory = !phi__arena_str(r->arena, phi_str_of(api.name), &name);
        if (!r->no_memory) m->protocol = name.at;
    }
    phi__set_expect(r, cost == NULL || phi_json_is(cost, PHI_JSON_OBJECT),
                    "cost: expected an object");
    phi__set_read(r, phi__set_cost, PHI__COUNT(phi__set_cost), cost, &m->cost);
    phi__set_compat_read(r, phi__set_get(node, "compat"), &m->quirks);
    if (!r->no_memory) phi__set_headers_read(r, phi__set_get(node, "headers"), m);
    if (!r->no_memory) phi__set_extra_read(r, phi__set_get(node, "extra"), m);
    if (m->base_url != NULL && m->base_url[0] == '\0') m->base_url = NULL;
    if (m->api_key != NULL && m->api_key[0] == '\0') m->api_key = NULL;
    if (m->protocol != NULL)
        m->codec = phi__codec_named(PHI_ALL_PROTOCOLS, phi_str_of(m->protocol));
}

/* ---- the parts ---- */

/* `error` is reported if the part is not an object. If `error` is NULL, the part may be another
   kind of value. */
static const struct {
    const char *key, *error;
    phi_json *(*write)(phi_arena *arena, const phi_settings *settings);
    void (*read)(phi__set_reader *r, const phi_json *node);
} phi__set_parts[] = {
    {"limits", "limits: expected an object", phi__set_limits_write, phi__set_limits_read},
    {"retry", "retry: expected an object", phi__set_retry_write, phi__set_retry_read},
    {"cache", "cache: expected an object", phi__set_cache_write, phi__set_cache_read},
    {"context", "context: expected an object", phi__set_compaction_write, phi__set_compaction_read},
    {"tool_execution", NULL, phi__set_tools_write, phi__set_tools_read},
    {"thinking_level", NULL, phi__set_thinking_write, phi__set_thinking_read},
    {"model", "model: expected an object", NULL, phi__set_model_read}};

/* ---- public ---- */

PHI_API phi_status phi_settings_to_json(const phi_settings *settings, uint32_t flags,
                                        phi_arena *arena, phi_str *out) {
    if (arena == NULL || settings == NULL || out == NULL) return PHI_BAD_ARG;
    phi__set_writer w = phi__set_begin(arena);
    bool secrets = (flags & PHI_SETTINGS_SECRETS) != 0;
    for (size_t i = 0; i < PHI__COUNT(phi__set_parts); i++)
        phi__set_put(&w, phi__set_parts[i].key,
                     phi__set_parts[i].write != NULL
                         ? phi__set_parts[i].write(arena, settings)
                         : phi__set_model_write(arena, settings, secrets));
    const phi_json *tree = phi__set_tree(&w);
    return tree != NULL ? phi_json_write(arena, tree, 0, out) : PHI_NO_MEMORY;
}

PHI_API phi_status phi_settings_from_json(phi_str json, phi_arena *arena, phi_settings *out,
                                          phi_parse_error *error) {
    phi__set_reader r = PHI_ZERO;
    phi_settings settings = PHI_ZERO;
    phi_json *node = NULL;
    if (arena == NULL || out == NULL) return PHI_BAD_ARG;
    phi_status status = phi_json_parse(arena, json, 0, &node, error);
    if (status != PHI_OK) return status;
    r.arena = arena;
    r.out = &settings;
    phi__set_expect(&r, phi_json_is(node, PHI_JSON_OBJECT), "settings: expected an object");
    for (size_t i = 0; i < PHI__COUNT(phi__set_parts) && r.error == NULL; i++) {
        const phi_json *part = phi__set_get(node, phi__set_parts[i].key);
        if (part == NULL) continue;
        phi__set_expect(&r, phi__set_parts[i].error == NULL || phi_json_is(part, PHI_JSON_OBJECT),
                        phi__set_parts[i].error);
        phi__set_parts[i].read(&r, part);
    }
    status = r.no_memory ? PHI_NO_MEMORY : r.error != NULL ? PHI_BAD_ARG : PHI_OK;
    if (status == PHI_OK)
        *out = settings;
    else if (error != NULL) {
        memset(error, 0, sizeof *error);
        error->status = status;
        (void)snprintf(error->message, sizeof error->message, "%s",
                       status == PHI_BAD_ARG ? r.error : phi_status_text((int)status));
    }
    return status;
}
