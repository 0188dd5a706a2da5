/* config_json.c - the settings of an agent as JSON, and back.

   Members that are plain fields are rows, which are read and written; the others are code between
   ranges of rows. The first error is kept, so rows are read in the order of their list. */
#include "config/config_json_in.h"

#include "codecs/presets.h"
#include "config/config_in.h"
#include "config/config_tables_in.h"
#include "model/model_in.h"
#include "wire/wire_in.h"

#include <stdio.h>

typedef struct phi__set_reader {
    const char *error; /* the first; static */
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

/* A member that is a field. Numbers from `least` to `most` (0: the type's). Zero is written as the
   fallback; below 0: it is left out. */
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
#define PHI__SET_COUNT(type, member, key, fallback) /* an integer of at least 0 */                 \
    PHI__SET_ROW(type, member, key, PHI__SET_UINT, 0, 0, fallback,                                 \
                 key ": expected an integer of at least 0")
#define PHI__SET_SOME(type, member, key, fallback) /* of at least 1 */                             \
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

static void phi__set_fail(phi__set_reader *r, const char *error) {
    if (r->error == NULL) r->error = error;
}

static phi_status phi__set_end(const phi__set_reader *r, const char **error) {
    if (error != NULL) *error = r->error;
    return r->error == NULL ? PHI_OK : PHI_BAD_ARG;
}

/* The member, or NULL if it is missing or null. */
static const phi_json *phi__set_get(const phi_json *node, const char *key) {
    const phi_json *member = phi_json_get(node, key);
    return phi_json_is(member, PHI_JSON_NULL) ? NULL : member;
}

/* True: *out is set. */
static bool phi__set_uint(phi__set_reader *r, const phi_json *node, const char *key, uint64_t least,
                          uint64_t most, uint64_t *out, const char *error) {
    const phi_json *member = phi__set_get(node, key);
    if (member == NULL) return false;
    if (!phi_json_is(member, PHI_JSON_INTEGER) || phi_json_num(member, -1) < 0 ||
        phi__json_get_uint(member, 0) < least || phi__json_get_uint(member, 0) > most) {
        phi__set_fail(r, error);
        return false;
    }
    *out = phi__json_get_uint(member, 0);
    return true;
}

/* Sets the fields whose members are there. */
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
            uint32_t small = (uint32_t)n;
            memcpy(at, row->size == 4 ? (void *)&small : (void *)&n, row->size);
        } else if (row->kind == PHI__SET_NUM && phi_json_is(member, PHI_JSON_NUMBER) &&
                   d >= row->least && d <= row->most)
            memcpy(at, &d, sizeof d);
        else if (row->kind == PHI__SET_BOOL && phi_json_is(member, PHI_JSON_BOOL))
            memcpy(at, &flag, sizeof flag);
        else if (row->kind == PHI__SET_TEXT && phi_json_is(member, PHI_JSON_STRING) &&
                 (text.len == 0 || memchr(text.at, 0, text.len) == NULL))
            memcpy(at, &text.at, sizeof text.at);
        else
            phi__set_fail(r, row->error);
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

/* value NULL: no memory. */
static void phi__set_put(phi__set_writer *w, const char *key, phi_json *value) {
    if (w->no_memory) return;
    w->no_memory = value == NULL || phi_json_set(w->arena, w->node, key, value) != PHI_OK;
}

static void phi__set_put_uint(phi__set_writer *w, const char *key, uint64_t value) {
    phi__set_put(w, key, phi__json_edit_uint(w->arena, value));
}

/* NULL is written as null. */
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
        uint32_t small = 0;
        double d = 0;
        bool flag = false;
        const char *text = NULL;
        switch (row->kind) {
        case PHI__SET_UINT:
            memcpy(row->size == 4 ? (void *)&small : (void *)&n, at, row->size);
            n += small;
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

/* The tree; NULL: no memory. */
static phi_json *phi__set_tree(const phi__set_writer *w) { return w->no_memory ? NULL : w->node; }

/* ---- limits ---- */

enum { PHI__SET_MS = 1000, PHI__SET_NANOS = 1000000 /* of a millisecond */ };

static const phi__set_row phi__set_limits[] = {
    PHI__SET_U32(phi_limits, max_turns, "max_turns", 50),
    PHI__SET_SOME(phi_limits, max_tokens, "max_total_tokens", 1000000),
    PHI__SET_ROW(phi_limits, max_cost, "max_cost", PHI__SET_NUM, 1e-9, 1e15, 0,
                 "max_cost: expected a number above 0, or null"),
    PHI__SET_FLAG(phi_limits, pause, "pause", -1)};

PHI__FN phi_json *phi__set_limits_write(phi_arena *arena, const phi_limits *limits) {
    phi__set_writer w = phi__set_begin(arena), time = phi__set_begin(arena);
    phi_limits l = PHI_ZERO;
    if (limits != NULL) l = *limits;
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

PHI__FN phi_status phi__set_limits_read(const phi_json *node, phi_limits *out, const char **error) {
    static const char wrong[] =
        "max_duration: expected {\"secs\": 600, \"nanos\": 0}, above 0 and below 4294967 seconds";
    phi__set_reader r = PHI_ZERO;
    phi_limits l = PHI_ZERO;
    uint64_t secs = 0, nanos = 0;
    if (!phi_json_is(node, PHI_JSON_OBJECT)) phi__set_fail(&r, "limits: expected an object");
    phi__set_read(&r, phi__set_limits, 2, node, &l);
    const phi_json *time = phi__set_get(node, "max_duration");
    if (time != NULL) {
        if (!phi_json_is(time, PHI_JSON_OBJECT)) phi__set_fail(&r, wrong);
        (void)phi__set_uint(&r, time, "secs", 0, 4294967, &secs, wrong);
        (void)phi__set_uint(&r, time, "nanos", 0, 999999999, &nanos, wrong);
        uint64_t ms = secs * PHI__SET_MS + nanos / PHI__SET_NANOS;
        if (ms == 0 || ms > UINT32_MAX) phi__set_fail(&r, wrong);
        if (r.error == NULL) l.max_duration_ms = (uint32_t)ms;
    }
    phi__set_read(&r, &phi__set_limits[2], 2, node, &l);
    phi_status status = phi__set_end(&r, error);
    if (status == PHI_OK) *out = l;
    return status;
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

PHI__FN phi_json *phi__set_retry_write(phi_arena *arena, const phi_retry *retry) {
    phi__set_writer w = phi__set_begin(arena);
    phi_retry v = PHI_ZERO;
    if (retry != NULL) v = *retry;
    if (v.disable)
        phi__set_put_uint(&w, "max_retries", 0);
    else
        phi__set_write(&w, phi__set_retry, 1, &v);
    phi__set_write(&w, &phi__set_retry[1], PHI__COUNT(phi__set_retry) - 1, &v);
    return phi__set_tree(&w);
}

PHI__FN phi_status phi__set_retry_read(const phi_json *node, phi_retry *out, const char **error) {
    phi__set_reader r = PHI_ZERO;
    phi_retry v = PHI_ZERO;
    if (!phi_json_is(node, PHI_JSON_OBJECT)) phi__set_fail(&r, "retry: expected an object");
    phi__set_read(&r, phi__set_retry, PHI__COUNT(phi__set_retry), node, &v);
    v.disable = phi__set_get(node, "max_retries") != NULL && v.max_retries == 0;
    phi_status status = phi__set_end(&r, error);
    if (status == PHI_OK) *out = v;
    return status;
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

PHI__FN phi_json *phi__set_cache_write(phi_arena *arena, const phi_cache *cache) {
    phi__set_writer w = phi__set_begin(arena);
    phi__set_cached c = PHI_ZERO;
    if (cache != NULL) c.cache = *cache;
    c.enabled = c.cache.mode != PHI_CACHE_DISABLED;
    phi__set_write(&w, phi__set_cache, 1, &c);
    if (c.cache.mode != PHI_CACHE_MANUAL)
        phi__set_put_text(&w, "strategy", c.enabled ? "auto" : "disabled");
    else {
        phi__set_writer marks = phi__set_begin(arena);
        phi__set_write(&marks, phi__set_marks, PHI__COUNT(phi__set_marks), &c.cache);
        phi__set_writer manual = phi__set_begin(arena);
        phi__set_put(&manual, "manual", phi__set_tree(&marks));
        phi__set_put(&w, "strategy", phi__set_tree(&manual));
    }
    phi__set_write(&w, &phi__set_cache[1], 1, &c);
    return phi__set_tree(&w);
}

PHI__FN phi_status phi__set_cache_read(const phi_json *node, phi_cache *out, const char **error) {
    phi__set_reader r = PHI_ZERO;
    phi__set_cached c = PHI_ZERO;
    c.enabled = true;
    if (!phi_json_is(node, PHI_JSON_OBJECT)) phi__set_fail(&r, "cache: expected an object");
    phi__set_read(&r, phi__set_cache, PHI__COUNT(phi__set_cache), node, &c);
    const phi_json *strategy = phi__set_get(node, "strategy");
    const phi_json *marks = phi__set_get(strategy, "manual");
    phi_str name = phi_json_str(strategy, "");
    if (phi__str_is_nocase(name, "disabled"))
        c.cache.mode = PHI_CACHE_DISABLED;
    else if (phi_json_is(marks, PHI_JSON_OBJECT)) {
        c.cache.mode = PHI_CACHE_MANUAL;
        phi__set_read(&r, phi__set_marks, PHI__COUNT(phi__set_marks), marks, &c.cache);
    } else if (strategy != NULL && !phi__str_is_nocase(name, "auto"))
        phi__set_fail(&r, "strategy: expected \"auto\", \"disabled\" or {\"manual\": {...}}");
    if (!c.enabled) {
        memset(&c.cache, 0, sizeof c.cache);
        c.cache.mode = PHI_CACHE_DISABLED;
    }
    phi_status status = phi__set_end(&r, error);
    if (status == PHI_OK) *out = c.cache;
    return status;
}

/* ---- tools and thinking ---- */

PHI__FN phi_json *phi__set_tool_mode_write(phi_arena *arena, phi_tool_mode mode, uint32_t batch) {
    phi__set_writer w = phi__set_begin(arena);
    phi__set_put_text(&w, "type",
                      mode == PHI_TOOLS_SEQUENTIAL ? "sequential"
                      : mode == PHI_TOOLS_BATCHED  ? "batched"
                                                   : "parallel");
    if (mode == PHI_TOOLS_BATCHED) phi__set_put_uint(&w, "size", batch != 0 ? batch : 4);
    return phi__set_tree(&w);
}

PHI__FN phi_status phi__set_tool_mode_read(const phi_json *node, phi_tool_mode *mode,
                                           uint32_t *batch, const char **error) {
    phi__set_reader r = PHI_ZERO;
    phi_str type = phi_json_str(phi_json_get(node, "type"), "");
    phi_tool_mode m = PHI_TOOLS_PARALLEL;
    uint64_t size = 0;
    if (phi__str_is_nocase(type, "sequential"))
        m = PHI_TOOLS_SEQUENTIAL;
    else if (phi__str_is_nocase(type, "batched"))
        m = PHI_TOOLS_BATCHED;
    else if (!phi__str_is_nocase(type, "parallel"))
        phi__set_fail(&r, "type: expected \"sequential\", \"parallel\" or \"batched\"");
    if (m == PHI_TOOLS_BATCHED)
        (void)phi__set_uint(&r, node, "size", 1, UINT32_MAX, &size,
                            "size: expected an integer from 1 to 4294967295");
    phi_status status = phi__set_end(&r, error);
    if (status != PHI_OK) return status;
    *mode = m;
    *batch = (uint32_t)size;
    return status;
}

PHI__FN phi_json *phi__set_thinking_write(phi_arena *arena, phi_thinking level) {
    const phi__cfg_choice *choice = phi__table_thinking();
    while (choice->name[0] != '\0' && (choice->alias || choice->value != (int)level)) choice++;
    return phi__json_edit_text(arena, choice->name[0] != '\0' ? choice->name : "off");
}

PHI__FN phi_status phi__set_thinking_read(const phi_json *node, phi_thinking *out,
                                          const char **error) {
    phi__set_reader r = PHI_ZERO;
    const phi__cfg_choice *choice =
        phi__cfg_take_choice(phi__table_thinking(), phi_json_str(node, ""));
    if (choice != NULL)
        *out = (phi_thinking)choice->value;
    else
        phi__set_fail(
            &r, "thinking_level: expected \"off\", \"minimal\", \"low\", \"medium\" or \"high\"");
    return phi__set_end(&r, error);
}

/* ---- compaction ---- */

enum { PHI__SET_FIRST = 2, PHI__SET_RECENT = 10, PHI__SET_LINES = 50, PHI__SET_RUNS = 3 };

static const phi__set_row phi__set_context[] =
    {/* of the object, */
     PHI__SET_SOME(phi_compaction_config, max_context_tokens, "max_context_tokens", 100000),
     PHI__SET_SOME(phi_compaction_config, system_prompt_tokens, "system_prompt_tokens", 4000),
     PHI__SET_COUNT(phi_compaction_config, keep_first_messages, "keep_first", PHI__SET_FIRST),
     PHI__SET_COUNT(phi_compaction_config, keep_recent_messages, "keep_recent", PHI__SET_RECENT)};

static const phi__set_row phi__set_inner[] =
    {/* and of "compaction" in it */
     PHI__SET_ROW(phi_compaction_config, compact_at_pct, "compact_at_pct", PHI__SET_NUM, 1e-9, 1,
                  0.9, "compact_at_pct: expected a number above 0, at most 1"),
     PHI__SET_ROW(phi_compaction_config, budget_threshold_pct, "compact_budget_threshold_pct",
                  PHI__SET_NUM, 1e-9, 1, 0.05,
                  "compact_budget_threshold_pct: expected a number above 0, at most 1"),
     PHI__SET_SOME(phi_compaction_config, scope_tokens, "scope_tokens", -1),
     PHI__SET_SOME(phi_compaction_config, max_summary_tokens, "max_summary_tokens", 2000),
     PHI__SET_ROW(phi_compaction_config, focus_message, "focus_message", PHI__SET_TEXT, 0, 0, 0,
                  "focus_message: expected a text or null"),
     PHI__SET_FLAG(phi_compaction_config, disable, "disable", -1),
     PHI__SET_COUNT(phi_compaction_config, keep_first_turns, "keep_first_turns", PHI__SET_FIRST),
     PHI__SET_COUNT(phi_compaction_config, keep_recent_turns, "keep_recent_turns", PHI__SET_RECENT),
     PHI__SET_COUNT(phi_compaction_config, tool_output_max_lines, "tool_output_max_lines",
                    PHI__SET_LINES)};

/* A row of first turns or messages. */
static void phi__set_put_first(phi__set_writer *w, const phi__set_row *row, bool none,
                               const phi_compaction_config *c) {
    if (none)
        phi__set_put_uint(w, row->key, 0);
    else
        phi__set_write(w, row, 1, c);
}

PHI__FN phi_json *phi__set_compaction_write(phi_arena *arena, const phi_compaction_config *config) {
    phi__set_writer w = phi__set_begin(arena);
    phi_compaction_config c = PHI_ZERO;
    if (config != NULL) c = *config;
    phi__set_write(&w, phi__set_context, 2, &c);
    phi__set_writer inner = phi__set_begin(arena);
    phi__set_write(&inner, phi__set_inner, 2, &c);
    phi__set_writer scope = phi__set_begin(arena);
    uint32_t runs = c.scope_runs == PHI_COMPACTION_NO_RUNS ? 0
                    : c.scope_runs != 0                    ? c.scope_runs
                                                           : (uint32_t)PHI__SET_RUNS;
    phi__set_put_uint(&scope, "FixedCount", runs);
    phi__set_put(&inner, "compaction_scope",
                 c.scope == PHI_COMPACTION_TOKENS ? phi__json_edit_text(arena, "TokenBudget")
                                                  : phi__set_tree(&scope));
    phi__set_write(&inner, &phi__set_inner[2], 1, &c);
    phi__set_put_first(&inner, &phi__set_inner[6], c.keep_no_first, &c);
    phi__set_write(&inner, &phi__set_inner[7], 1, &c);
    phi__set_write(&inner, &phi__set_inner[3], 1, &c);
    phi__set_write(&inner, &phi__set_inner[8], 1, &c);
    phi__set_write(&inner, &phi__set_inner[4], 2, &c);
    phi__set_put(&w, "compaction", phi__set_tree(&inner));
    phi__set_write(&w, &phi__set_context[3], 1, &c);
    phi__set_put_first(&w, &phi__set_context[2], c.keep_no_first_messages, &c);
    phi__set_write(&w, &phi__set_inner[8], 1, &c);
    return phi__set_tree(&w);
}

/* Turns are members of "compaction", messages of the object around it, lines of either. */
PHI__FN phi_status phi__set_compaction_read(const phi_json *node, phi_compaction_config *out,
                                            const char **error) {
    static const char wrong[] = "compaction_scope: expected {\"FixedCount\": 3} or \"TokenBudget\"";
    phi__set_reader r = PHI_ZERO;
    phi_compaction_config c = PHI_ZERO;
    const phi_json *inner = phi__set_get(node, "compaction");
    const phi_json *scope = phi__set_get(inner, "compaction_scope");
    uint64_t runs;
    if (!phi_json_is(node, PHI_JSON_OBJECT)) phi__set_fail(&r, "context: expected an object");
    phi__set_read(&r, phi__set_context, 2, node, &c);
    if (inner != NULL && !phi_json_is(inner, PHI_JSON_OBJECT))
        phi__set_fail(&r, "compaction: expected an object");
    phi__set_read(&r, phi__set_inner, 2, inner, &c);
    if (phi__str_is(phi_json_str(scope, ""), "TokenBudget"))
        c.scope = PHI_COMPACTION_TOKENS;
    else if (scope != NULL) {
        if (phi__set_uint(&r, scope, "FixedCount", 0, UINT32_MAX, &runs, wrong))
            c.scope_runs = runs == 0 ? PHI_COMPACTION_NO_RUNS : (uint32_t)runs;
        else
            phi__set_fail(&r, wrong);
    }
    phi__set_read(&r, &phi__set_inner[2], 6, inner, &c);
    c.keep_no_first = phi__set_get(inner, "keep_first_turns") != NULL && c.keep_first_turns == 0;
    phi__set_read(&r, &phi__set_context[2], 2, node, &c);
    c.keep_no_first_messages =
        phi__set_get(node, "keep_first") != NULL && c.keep_first_messages == 0;
    bool lines = phi__set_get(inner, phi__set_inner[8].key) != NULL;
    phi__set_read(&r, &phi__set_inner[8], 1, lines ? inner : node, &c);
    phi_status status = phi__set_end(&r, error);
    if (status == PHI_OK) *out = c;
    return status;
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

/* The flags of the interchange: members of "compat". */
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

/* An object; a text that is none stays a text. NULL: no memory. */
static phi_json *phi__set_model_put_extra(phi_arena *arena, const char *extra) {
    phi_json *root = NULL;
    phi_status status = phi_json_parse(arena, phi_str_of(extra), 0, &root, NULL);
    if (status == PHI_NO_MEMORY) return NULL;
    return status == PHI_OK ? root : phi__json_edit_text(arena, extra);
}

static phi_json *phi__set_put_compat(phi_arena *arena, uint64_t quirks) {
    phi__set_writer w = phi__set_begin(arena);
    const phi__cfg_choice *names = phi__table_quirk_names();
    phi_json *list = phi_json_new_array(arena);
    for (size_t i = 0; i < PHI__COUNT(phi__set_flags); i++) {
        if (i == 4) /* the place that it has in the interchange */
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
    for (; list != NULL && names->name[0] != '\0'; names++)
        if ((quirks & phi__table_quirk_bit(names)) != 0 &&
            phi_json_add(list, phi__json_edit_text(arena, names->name)) != PHI_OK)
            return NULL;
    phi__set_put(&w, "quirks", list);
    return phi__set_tree(&w);
}

static bool phi__set_model_headers(phi__set_reader *r, const phi_json *node, phi_arena *arena,
                                   phi_model *out) {
    static const char error[] = "headers: expected an object of texts";
    phi_json_iter it = phi_json_each(node);
    phi_model_header *headers;
    const phi_json *value;
    size_t n = phi_json_count(node), i = 0;
    phi_str name;
    if (node == NULL) return true;
    if (!phi_json_is(node, PHI_JSON_OBJECT)) phi__set_fail(r, error);
    if (n == 0 || r->error != NULL) return true;
    headers = (phi_model_header *)phi_arena_alloc(arena, phi__mul(n, sizeof *headers));
    if (headers == NULL) return false;
    while ((value = phi_json_next(&it)) != NULL) {
        if (!phi_json_is(value, PHI_JSON_STRING)) phi__set_fail(r, error);
        if (!phi__arena_str(arena, it.key, &name)) return false;
        headers[i].name = name.at;
        headers[i++].value = phi_json_str(value, "").at;
    }
    out->headers = headers;
    out->header_count = n;
    return true;
}

/* A list of ours, or the flags of the interchange. */
static void phi__set_model_compat(phi__set_reader *r, const phi_json *node, uint64_t *quirks) {
    const phi_json *list = phi__set_get(node, "quirks"), *item;
    phi_json_iter it = phi_json_each(list);
    if (node == NULL) return;
    if (!phi_json_is(node, PHI_JSON_OBJECT)) phi__set_fail(r, "compat: expected an object or null");
    if (list != NULL && !phi_json_is(list, PHI_JSON_ARRAY))
        phi__set_fail(r, "compat.quirks: expected an array");
    while ((item = phi_json_next(&it)) != NULL) {
        const phi__cfg_choice *choice =
            phi__cfg_take_choice(phi__table_quirk_names(), phi_json_str(item, ""));
        if (choice == NULL)
            phi__set_fail(r, "compat.quirks: expected names of PHI_QUIRK_ in lower case");
        else
            *quirks |= phi__table_quirk_bit(choice);
    }
    if (list != NULL) return;
    for (size_t i = 0; i < PHI__COUNT(phi__set_flags); i++) {
        const phi_json *member = phi__set_get(node, phi__set_flags[i].key);
        if (member != NULL && !phi_json_is(member, PHI_JSON_BOOL))
            phi__set_fail(r, phi__set_flags[i].error);
        else if (member != NULL && phi_json_bool(member, false) != phi__set_flags[i].inverse)
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

/* An object, or its JSON as a text. False: no memory. */
static bool phi__set_model_extra(phi__set_reader *r, const phi_json *node, phi_arena *arena,
                                 phi_model *out) {
    phi_str text = PHI__LIT("");
    if (node == NULL) return true;
    if (phi_json_is(node, PHI_JSON_STRING))
        text = phi_json_str(node, "");
    else if (!phi_json_is(node, PHI_JSON_OBJECT))
        phi__set_fail(r, "extra: expected an object, or its JSON as a text");
    else {
        phi_status status = phi_json_write(arena, node, 0, &text);
        if (status != PHI_OK) return false;
    }
    if (text.len > 0 && !phi__arena_str(arena, text, &text)) return false;
    if (text.len > 0) out->extra = text.at;
    return true;
}

PHI__FN phi_json *phi__set_model_write(phi_arena *arena, const phi_model *model, uint32_t flags) {
    phi__set_writer w = phi__set_begin(arena), cost = phi__set_begin(arena);
    bool secrets = (flags & PHI_SETTINGS_SECRETS) != 0;
    phi_model m = PHI_ZERO;
    if (model != NULL) m = *model;
    if (m.protocol == NULL) m.protocol = PHI_PROTOCOL_ANTHROPIC;
    const char *api = phi__message_read_api(phi_str_of(m.protocol));
    phi__set_put_text(&w, "id", m.id != NULL ? m.id : "");
    phi__set_put_text(&w, "name", m.name != NULL ? m.name : m.id != NULL ? m.id : "");
    phi__set_put_text(&w, "api", api != NULL ? api : m.protocol);
    phi__set_put_text(&w, "provider", m.provider != NULL ? m.provider : m.protocol);
    phi__set_put_text(&w, "base_url", m.base_url != NULL ? m.base_url : "");
    phi__set_put_text(&w, "api_key", secrets && m.api_key != NULL ? m.api_key : "");
    phi__set_write(&w, &phi__set_model[7], 3, &m);
    phi__set_write(&cost, phi__set_cost, PHI__COUNT(phi__set_cost), &m.cost);
    phi__set_put(&w, "cost", phi__set_tree(&cost));
    phi__set_writer headers = phi__set_begin(arena);
    for (size_t i = 0; i < m.header_count; i++)
        phi__set_put_text(&headers, m.headers[i].name, secrets ? m.headers[i].value : "");
    phi__set_put(&w, "headers", phi__set_tree(&headers));
    if (m.extra != NULL) phi__set_put(&w, "extra", phi__set_model_put_extra(arena, m.extra));
    if (m.quirks != 0 || strcmp(m.protocol, PHI_PROTOCOL_OPENAI_CHAT) == 0)
        phi__set_put(&w, "compat", phi__set_put_compat(arena, m.quirks));
    else
        phi__set_put_text(&w, "compat", NULL);
    if (m.api_version != NULL && m.api_version[0] != '\0')
        phi__set_put_text(&w, "api_version", m.api_version);
    return phi__set_tree(&w);
}

PHI__FN phi_status phi__set_model_read(const phi_json *node, phi_arena *arena, phi_model *out,
                                       const char **error) {
    phi__set_reader r = PHI_ZERO;
    phi_model m = PHI_ZERO;
    if (error != NULL) *error = NULL;
    if (!phi_json_is(node, PHI_JSON_OBJECT)) phi__set_fail(&r, "model: expected an object");
    phi__set_read(&r, phi__set_model, PHI__COUNT(phi__set_model), node, &m);
    if (m.protocol != NULL) {
        /* "open_ai_completions", "gemini": as PHI_PROTOCOL_; a protocol of the host's own stays. */
        const phi__cfg_choice *api = phi__table_api();
        const phi__cfg_choice *found = phi__cfg_take_choice(api, phi_str_of(m.protocol));
        for (; found != NULL && api->name[0] != '\0'; api++)
            if (!api->alias && api->value == found->value) m.protocol = api->name;
    }
    const phi_json *cost = phi__set_get(node, "cost");
    if (cost != NULL && !phi_json_is(cost, PHI_JSON_OBJECT))
        phi__set_fail(&r, "cost: expected an object");
    phi__set_read(&r, phi__set_cost, PHI__COUNT(phi__set_cost), cost, &m.cost);
    phi__set_model_compat(&r, phi__set_get(node, "compat"), &m.quirks);
    if (!phi__set_model_headers(&r, phi__set_get(node, "headers"), arena, &m) ||
        !phi__set_model_extra(&r, phi__set_get(node, "extra"), arena, &m))
        return PHI_NO_MEMORY;
    if (m.base_url != NULL && m.base_url[0] == '\0') m.base_url = NULL;
    if (m.api_key != NULL && m.api_key[0] == '\0') m.api_key = NULL;
    if (m.protocol != NULL) m.codec = phi__codec_named(PHI_ALL_PROTOCOLS, phi_str_of(m.protocol));
    phi_status status = phi__set_end(&r, error);
    if (status == PHI_OK) *out = m;
    return status;
}

/* ---- public ---- */

PHI_API phi_status phi_settings_to_json(const phi_settings *settings, uint32_t flags,
                                        phi_arena *arena, phi_str *out) {
    if (arena == NULL || settings == NULL || out == NULL) return PHI_BAD_ARG;
    phi__set_writer w = phi__set_begin(arena);
    phi__set_put(&w, "limits", phi__set_limits_write(arena, &settings->limits));
    phi__set_put(&w, "retry", phi__set_retry_write(arena, &settings->retry));
    phi__set_put(&w, "cache", phi__set_cache_write(arena, &settings->cache));
    phi__set_put(&w, "context", phi__set_compaction_write(arena, &settings->compaction));
    phi__set_put(&w, "tool_execution",
                 phi__set_tool_mode_write(arena, settings->tool_mode, settings->tool_batch));
    phi__set_put(&w, "thinking_level", phi__set_thinking_write(arena, settings->thinking));
    phi__set_put(&w, "model", phi__set_model_write(arena, &settings->model, flags));
    const phi_json *tree = phi__set_tree(&w);
    return tree != NULL ? phi_json_write(arena, tree, 0, out) : PHI_NO_MEMORY;
}

static phi_status phi__set_all_read(const phi_json *node, phi_arena *arena, phi_settings *out,
                                    const char **error) {
    const phi_json *part = phi__set_get(node, "limits");
    phi_status status = PHI_OK;
    if (part != NULL) status = phi__set_limits_read(part, &out->limits, error);
    part = phi__set_get(node, "retry");
    if (status == PHI_OK && part != NULL) status = phi__set_retry_read(part, &out->retry, error);
    part = phi__set_get(node, "cache");
    if (status == PHI_OK && part != NULL) status = phi__set_cache_read(part, &out->cache, error);
    part = phi__set_get(node, "context");
    if (status == PHI_OK && part != NULL)
        status = phi__set_compaction_read(part, &out->compaction, error);
    part = phi__set_get(node, "tool_execution");
    if (status == PHI_OK && part != NULL)
        status = phi__set_tool_mode_read(part, &out->tool_mode, &out->tool_batch, error);
    part = phi__set_get(node, "thinking_level");
    if (status == PHI_OK && part != NULL)
        status = phi__set_thinking_read(part, &out->thinking, error);
    part = phi__set_get(node, "model");
    if (status == PHI_OK && part != NULL)
        status = phi__set_model_read(part, arena, &out->model, error);
    return status;
}

PHI_API phi_status phi_settings_from_json(phi_str json, phi_arena *arena, phi_settings *out,
                                          phi_parse_error *error) {
    phi__set_reader r = PHI_ZERO;
    phi_settings settings = PHI_ZERO;
    const char *fault = NULL;
    phi_json *node = NULL;
    if (arena == NULL || out == NULL) return PHI_BAD_ARG;
    phi_status status = phi_json_parse(arena, json, 0, &node, error);
    if (status != PHI_OK) return status;
    if (!phi_json_is(node, PHI_JSON_OBJECT)) phi__set_fail(&r, "settings: expected an object");
    status = phi__set_end(&r, &fault);
    if (status == PHI_OK) status = phi__set_all_read(node, arena, &settings, &fault);
    if (status == PHI_OK) *out = settings;
    if (status != PHI_OK && error != NULL) {
        memset(error, 0, sizeof *error);
        error->status = status;
        (void)snprintf(error->message, sizeof error->message, "%s",
                       fault != NULL ? fault : phi_status_text((int)status));
    }
    return status;
}
