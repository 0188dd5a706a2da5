/* config_json.c - limits, retries, caching, compaction and tool modes as JSON, and back. */
#include "config/config_json_in.h"

#include "codecs/presets.h"
#include "config/config_in.h"
#include "config/config_tables_in.h"
#include "model/model_in.h"
#include "wire/wire_in.h"

#include <stdio.h>

typedef struct phi__cfg_json {
    const char *error; /* the first; static */
} phi__cfg_json;

typedef struct phi__cfg_json_writer {
    phi_arena *arena;
    phi_json *node;
    bool no_memory;
} phi__cfg_json_writer;

/* ---- reading ---- */

static void phi__cfg_json_fail(phi__cfg_json *r, const char *error) {
    if (r->error == NULL) r->error = error;
}

static phi_status phi__cfg_json_end(const phi__cfg_json *r, const char **error) {
    if (error != NULL) *error = r->error;
    return r->error == NULL ? PHI_OK : PHI_BAD_ARG;
}

/* The member; NULL: missing or null. */
/* The member, or NULL where it is missing or null. */
static const phi_json *phi__cfg_json_get(const phi_json *node, const char *key) {
    const phi_json *member = phi_json_get(node, key);
    return phi_json_is(member, PHI_JSON_NULL) ? NULL : member;
}

/* True: *out is set. */
static bool phi__cfg_json_uint(phi__cfg_json *r, const phi_json *node, const char *key,
                               uint64_t least, uint64_t most, uint64_t *out, const char *error) {
    const phi_json *member = phi__cfg_json_get(node, key);
    if (member == NULL) return false;
    if (!phi_json_is(member, PHI_JSON_INTEGER) || phi_json_num(member, -1) < 0 ||
        phi__json_get_uint(member, 0) < least || phi__json_get_uint(member, 0) > most) {
        phi__cfg_json_fail(r, error);
        return false;
    }
    *out = phi__json_get_uint(member, 0);
    return true;
}

static bool phi__cfg_json_u32(phi__cfg_json *r, const phi_json *node, const char *key,
                              uint32_t least, uint32_t *out, const char *error) {
    uint64_t value;
    if (!phi__cfg_json_uint(r, node, key, least, UINT32_MAX, &value, error)) return false;
    *out = (uint32_t)value;
    return true;
}

static void phi__cfg_json_num(phi__cfg_json *r, const phi_json *node, const char *key, double least,
                              double most, double *out, const char *error) {
    const phi_json *member = phi__cfg_json_get(node, key);
    double value = phi_json_num(member, -1);
    if (member == NULL) return;
    if (phi_json_is(member, PHI_JSON_NUMBER) && value >= least && value <= most)
        *out = value;
    else
        phi__cfg_json_fail(r, error);
}

static void phi__cfg_json_bool(phi__cfg_json *r, const phi_json *node, const char *key, bool *out,
                               const char *error) {
    const phi_json *member = phi__cfg_json_get(node, key);
    if (member == NULL) return;
    if (phi_json_is(member, PHI_JSON_BOOL))
        *out = phi_json_bool(member, false);
    else
        phi__cfg_json_fail(r, error);
}

static void phi__cfg_json_text(phi__cfg_json *r, const phi_json *node, const char *key,
                               const char **out, const char *error) {
    const phi_json *member = phi__cfg_json_get(node, key);
    phi_str text = phi_json_str(member, "");
    if (member == NULL) return;
    if (phi_json_is(member, PHI_JSON_STRING) &&
        (text.len == 0 || memchr(text.at, 0, text.len) == NULL))
        *out = text.at;
    else
        phi__cfg_json_fail(r, error);
}

/* ---- limits ---- */

enum { PHI__CFG_JSON_MS = 1000, PHI__CFG_JSON_NANOS = 1000000 /* of a millisecond */ };

static void phi__cfg_json_duration(phi__cfg_json *r, const phi_json *node, uint32_t *out) {
    static const char error[] =
        "max_duration: expected {\"secs\": 600, \"nanos\": 0}, above 0 and below 4294967 seconds";
    uint64_t secs = 0, nanos = 0;
    if (node == NULL) return;
    if (!phi_json_is(node, PHI_JSON_OBJECT)) phi__cfg_json_fail(r, error);
    (void)phi__cfg_json_uint(r, node, "secs", 0, 4294967, &secs, error);
    (void)phi__cfg_json_uint(r, node, "nanos", 0, 999999999, &nanos, error);
    uint64_t ms = secs * PHI__CFG_JSON_MS + nanos / PHI__CFG_JSON_NANOS;
    if (ms == 0 || ms > UINT32_MAX) phi__cfg_json_fail(r, error);
    if (r->error == NULL) *out = (uint32_t)ms;
}

/* ---- writing ---- */

static phi__cfg_json_writer phi__cfg_json_begin(phi_arena *arena) {
    phi__cfg_json_writer w = PHI_ZERO;
    w.arena = arena;
    w.node = phi_json_new_object(arena);
    w.no_memory = w.node == NULL;
    return w;
}

/* value NULL: no memory. */
static void phi__cfg_json_put(phi__cfg_json_writer *w, const char *key, phi_json *value) {
    if (w->no_memory) return;
    w->no_memory = value == NULL || phi_json_set(w->arena, w->node, key, value) != PHI_OK;
}

static void phi__cfg_json_put_uint(phi__cfg_json_writer *w, const char *key, uint64_t value) {
    phi__cfg_json_put(w, key, phi__json_edit_uint(w->arena, value));
}

/* 0 is written as the fallback. */
static void phi__cfg_json_put_or(phi__cfg_json_writer *w, const char *key, uint64_t value,
                                 uint64_t fallback) {
    phi__cfg_json_put_uint(w, key, value != 0 ? value : fallback);
}

static void phi__cfg_json_put_num(phi__cfg_json_writer *w, const char *key, double value) {
    phi__cfg_json_put(w, key, phi_json_new_num(w->arena, value));
}

static void phi__cfg_json_put_bool(phi__cfg_json_writer *w, const char *key, bool value) {
    phi__cfg_json_put(w, key, phi_json_new_bool(w->arena, value));
}

/* NULL is written as null. */
static void phi__cfg_json_put_text(phi__cfg_json_writer *w, const char *key, const char *value) {
    phi__cfg_json_put(w, key,
                      value != NULL ? phi__json_edit_text(w->arena, value)
                                    : phi__json_edit_null(w->arena));
}

/* The tree; NULL: no memory. */
static phi_json *phi__cfg_json_tree(const phi__cfg_json_writer *w) {
    return w->no_memory ? NULL : w->node;
}

/* ---- limits ---- */

PHI__FN phi_json *phi__cfg_json_limits_write(phi_arena *arena, const phi_limits *limits) {
    phi__cfg_json_writer w = phi__cfg_json_begin(arena), time = phi__cfg_json_begin(arena);
    phi_limits l = PHI_ZERO;
    if (limits != NULL) l = *limits;
    if (l.disable) {
        l.max_turns = l.max_duration_ms = PHI_UNLIMITED;
        l.max_tokens = UINT64_MAX;
        l.max_cost = 0;
    }
    uint64_t ms = l.max_duration_ms != 0 ? l.max_duration_ms : 600000;
    phi__cfg_json_put_uint(&time, "secs", ms / PHI__CFG_JSON_MS);
    phi__cfg_json_put_uint(&time, "nanos", ms % PHI__CFG_JSON_MS * PHI__CFG_JSON_NANOS);
    phi__cfg_json_put_or(&w, "max_turns", l.max_turns, 50);
    phi__cfg_json_put_or(&w, "max_total_tokens", l.max_tokens, 1000000);
    phi__cfg_json_put(&w, "max_duration", phi__cfg_json_tree(&time));
    if (l.max_cost > 0)
        phi__cfg_json_put_num(&w, "max_cost", l.max_cost);
    else
        phi__cfg_json_put_text(&w, "max_cost", NULL);
    if (l.pause) phi__cfg_json_put_bool(&w, "pause", true);
    return phi__cfg_json_tree(&w);
}

PHI__FN phi_status phi__cfg_json_limits_read(const phi_json *node, phi_limits *out,
                                             const char **error) {
    phi__cfg_json r = PHI_ZERO;
    phi_limits l = PHI_ZERO;
    if (!phi_json_is(node, PHI_JSON_OBJECT)) phi__cfg_json_fail(&r, "limits: expected an object");
    (void)phi__cfg_json_u32(&r, node, "max_turns", 1, &l.max_turns,
                            "max_turns: expected an integer from 1 to 4294967295");
    (void)phi__cfg_json_uint(&r, node, "max_total_tokens", 1, UINT64_MAX, &l.max_tokens,
                             "max_total_tokens: expected an integer of at least 1");
    phi__cfg_json_duration(&r, phi__cfg_json_get(node, "max_duration"), &l.max_duration_ms);
    phi__cfg_json_num(&r, node, "max_cost", 1e-9, 1e15, &l.max_cost,
                      "max_cost: expected a number above 0, or null");
    phi__cfg_json_bool(&r, node, "pause", &l.pause, "pause: expected true or false");
    phi_status status = phi__cfg_json_end(&r, error);
    if (status == PHI_OK) *out = l;
    return status;
}

/* ---- retries ---- */

PHI__FN phi_json *phi__cfg_json_retry_write(phi_arena *arena, const phi_retry *retry) {
    phi__cfg_json_writer w = phi__cfg_json_begin(arena);
    phi_retry v = PHI_ZERO;
    if (retry != NULL) v = *retry;
    phi__cfg_json_put_uint(&w, "max_retries",
                           v.disable            ? 0
                           : v.max_retries != 0 ? v.max_retries
                                                : 3);
    phi__cfg_json_put_or(&w, "initial_delay_ms", v.initial_delay_ms, 1000);
    phi__cfg_json_put_num(&w, "backoff_multiplier",
                          v.backoff_multiplier > 0 ? v.backoff_multiplier : 2);
    phi__cfg_json_put_or(&w, "max_delay_ms", v.max_delay_ms, 30000);
    if (v.max_server_delay_ms != 0)
        phi__cfg_json_put_uint(&w, "max_server_delay_ms", v.max_server_delay_ms);
    return phi__cfg_json_tree(&w);
}

PHI__FN phi_status phi__cfg_json_retry_read(const phi_json *node, phi_retry *out,
                                            const char **error) {
    phi__cfg_json r = PHI_ZERO;
    phi_retry v = PHI_ZERO;
    if (!phi_json_is(node, PHI_JSON_OBJECT)) phi__cfg_json_fail(&r, "retry: expected an object");
    if (phi__cfg_json_u32(&r, node, "max_retries", 0, &v.max_retries,
                          "max_retries: expected an integer from 0 to 4294967295"))
        v.disable = v.max_retries == 0;
    (void)phi__cfg_json_u32(&r, node, "initial_delay_ms", 1, &v.initial_delay_ms,
                            "initial_delay_ms: expected an integer from 1 to 4294967295");
    phi__cfg_json_num(&r, node, "backoff_multiplier", 1, 1e6, &v.backoff_multiplier,
                      "backoff_multiplier: expected a number from 1 to 1000000");
    (void)phi__cfg_json_u32(&r, node, "max_delay_ms", 1, &v.max_delay_ms,
                            "max_delay_ms: expected an integer from 1 to 4294967295");
    (void)phi__cfg_json_u32(&r, node, "max_server_delay_ms", 1, &v.max_server_delay_ms,
                            "max_server_delay_ms: expected an integer from 1 to 4294967295");
    phi_status status = phi__cfg_json_end(&r, error);
    if (status == PHI_OK) *out = v;
    return status;
}

/* ---- caching ---- */

PHI__FN phi_json *phi__cfg_json_cache_write(phi_arena *arena, const phi_cache *cache) {
    phi__cfg_json_writer w = phi__cfg_json_begin(arena);
    phi_cache c = PHI_ZERO;
    if (cache != NULL) c = *cache;
    phi__cfg_json_put_bool(&w, "enabled", c.mode != PHI_CACHE_DISABLED);
    if (c.mode != PHI_CACHE_MANUAL) {
        phi__cfg_json_put_text(&w, "strategy", c.mode == PHI_CACHE_DISABLED ? "disabled" : "auto");
        if (c.one_hour) phi__cfg_json_put_bool(&w, "one_hour", true);
        return phi__cfg_json_tree(&w);
    }
    phi__cfg_json_writer marks = phi__cfg_json_begin(arena);
    phi__cfg_json_put_bool(&marks, "cache_system", c.system);
    phi__cfg_json_put_bool(&marks, "cache_tools", c.tools);
    phi__cfg_json_put_bool(&marks, "cache_messages", c.messages);
    phi__cfg_json_writer manual = phi__cfg_json_begin(arena);
    phi__cfg_json_put(&manual, "manual", phi__cfg_json_tree(&marks));
    phi__cfg_json_put(&w, "strategy", phi__cfg_json_tree(&manual));
    if (c.one_hour) phi__cfg_json_put_bool(&w, "one_hour", true);
    return phi__cfg_json_tree(&w);
}

static void phi__cfg_json_strategy(phi__cfg_json *r, const phi_json *node, phi_cache *out) {
    const phi_json *marks = phi__cfg_json_get(node, "manual");
    phi_str name = phi_json_str(node, "");
    if (node == NULL || phi__str_is_nocase(name, "auto")) return;
    if (phi__str_is_nocase(name, "disabled")) {
        out->mode = PHI_CACHE_DISABLED;
        return;
    }
    if (!phi_json_is(marks, PHI_JSON_OBJECT)) {
        phi__cfg_json_fail(r, "strategy: expected \"auto\", \"disabled\" or {\"manual\": {...}}");
        return;
    }
    out->mode = PHI_CACHE_MANUAL;
    phi__cfg_json_bool(r, marks, "cache_system", &out->system,
                       "cache_system: expected true or false");
    phi__cfg_json_bool(r, marks, "cache_tools", &out->tools, "cache_tools: expected true or false");
    phi__cfg_json_bool(r, marks, "cache_messages", &out->messages,
                       "cache_messages: expected true or false");
}

PHI__FN phi_status phi__cfg_json_cache_read(const phi_json *node, phi_cache *out,
                                            const char **error) {
    phi__cfg_json r = PHI_ZERO;
    phi_cache c = PHI_ZERO;
    bool enabled = true;
    if (!phi_json_is(node, PHI_JSON_OBJECT)) phi__cfg_json_fail(&r, "cache: expected an object");
    phi__cfg_json_bool(&r, node, "enabled", &enabled, "enabled: expected true or false");
    phi__cfg_json_bool(&r, node, "one_hour", &c.one_hour, "one_hour: expected true or false");
    phi__cfg_json_strategy(&r, phi__cfg_json_get(node, "strategy"), &c);
    if (!enabled) {
        memset(&c, 0, sizeof c);
        c.mode = PHI_CACHE_DISABLED;
    }
    phi_status status = phi__cfg_json_end(&r, error);
    if (status == PHI_OK) *out = c;
    return status;
}

/* ---- tools and thinking ---- */

PHI__FN phi_json *phi__cfg_json_tool_mode_write(phi_arena *arena, phi_tool_mode mode,
                                                uint32_t batch) {
    phi__cfg_json_writer w = phi__cfg_json_begin(arena);
    phi__cfg_json_put_text(&w, "type",
                           mode == PHI_TOOLS_SEQUENTIAL ? "sequential"
                           : mode == PHI_TOOLS_BATCHED  ? "batched"
                                                        : "parallel");
    if (mode == PHI_TOOLS_BATCHED) phi__cfg_json_put_or(&w, "size", batch, 4);
    return phi__cfg_json_tree(&w);
}

PHI__FN phi_status phi__cfg_json_tool_mode_read(const phi_json *node, phi_tool_mode *mode,
                                                uint32_t *batch, const char **error) {
    phi__cfg_json r = PHI_ZERO;
    phi_str type = phi_json_str(phi_json_get(node, "type"), "");
    phi_tool_mode m = PHI_TOOLS_PARALLEL;
    uint32_t size = 0;
    if (phi__str_is_nocase(type, "sequential"))
        m = PHI_TOOLS_SEQUENTIAL;
    else if (phi__str_is_nocase(type, "batched"))
        m = PHI_TOOLS_BATCHED;
    else if (!phi__str_is_nocase(type, "parallel"))
        phi__cfg_json_fail(&r, "type: expected \"sequential\", \"parallel\" or \"batched\"");
    if (m == PHI_TOOLS_BATCHED)
        (void)phi__cfg_json_u32(&r, node, "size", 1, &size,
                                "size: expected an integer from 1 to 4294967295");
    phi_status status = phi__cfg_json_end(&r, error);
    if (status != PHI_OK) return status;
    *mode = m;
    *batch = size;
    return status;
}

PHI__FN phi_json *phi__cfg_json_thinking_write(phi_arena *arena, phi_thinking level) {
    const phi__cfg_choice *choice = phi__table_thinking();
    while (choice->name[0] != '\0' && (choice->alias || choice->value != (int)level)) choice++;
    return phi__json_edit_text(arena, choice->name[0] != '\0' ? choice->name : "off");
}

PHI__FN phi_status phi__cfg_json_thinking_read(const phi_json *node, phi_thinking *out,
                                               const char **error) {
    phi__cfg_json r = PHI_ZERO;
    const phi__cfg_choice *choice =
        phi__cfg_take_choice(phi__table_thinking(), phi_json_str(node, ""));
    if (choice != NULL)
        *out = (phi_thinking)choice->value;
    else
        phi__cfg_json_fail(
            &r, "thinking_level: expected \"off\", \"minimal\", \"low\", \"medium\" or \"high\"");
    return phi__cfg_json_end(&r, error);
}

/* ======== The settings of compaction as JSON, and back. */

enum {
    PHI__CFG_JSON_FIRST = 2,
    PHI__CFG_JSON_RECENT = 10,
    PHI__CFG_JSON_LINES = 50,
    PHI__CFG_JSON_RUNS = 3
};

/* ---- writing ---- */

static phi_json *phi__cfg_json_compaction_scope(phi_arena *arena, const phi_compaction_config *c) {
    phi__cfg_json_writer w = phi__cfg_json_begin(arena);
    if (c->scope == PHI_COMPACTION_TOKENS) return phi__json_edit_text(arena, "TokenBudget");
    phi__cfg_json_put_uint(&w, "FixedCount",
                           c->scope_runs == PHI_COMPACTION_NO_RUNS ? 0
                           : c->scope_runs != 0                    ? c->scope_runs
                                                                   : (uint32_t)PHI__CFG_JSON_RUNS);
    return phi__cfg_json_tree(&w);
}

static void phi__cfg_json_compaction_put_first(phi__cfg_json_writer *w, const char *key,
                                               uint32_t first, bool none) {
    if (none)
        phi__cfg_json_put_uint(w, key, 0);
    else
        phi__cfg_json_put_or(w, key, first, PHI__CFG_JSON_FIRST);
}

static phi_json *phi__cfg_json_compaction_inner(phi_arena *arena, const phi_compaction_config *c) {
    phi__cfg_json_writer w = phi__cfg_json_begin(arena);
    phi__cfg_json_put_num(&w, "compact_at_pct", c->compact_at_pct > 0 ? c->compact_at_pct : 0.9);
    phi__cfg_json_put_num(&w, "compact_budget_threshold_pct",
                          c->budget_threshold_pct > 0 ? c->budget_threshold_pct : 0.05);
    phi__cfg_json_put(&w, "compaction_scope", phi__cfg_json_compaction_scope(arena, c));
    if (c->scope_tokens != 0) phi__cfg_json_put_uint(&w, "scope_tokens", c->scope_tokens);
    phi__cfg_json_compaction_put_first(&w, "keep_first_turns", c->keep_first_turns,
                                       c->keep_no_first);
    phi__cfg_json_put_or(&w, "keep_recent_turns", c->keep_recent_turns, PHI__CFG_JSON_RECENT);
    phi__cfg_json_put_or(&w, "max_summary_tokens", c->max_summary_tokens, 2000);
    phi__cfg_json_put_or(&w, "tool_output_max_lines", c->tool_output_max_lines,
                         PHI__CFG_JSON_LINES);
    phi__cfg_json_put_text(&w, "focus_message", c->focus_message);
    if (c->disable) phi__cfg_json_put_bool(&w, "disable", true);
    return phi__cfg_json_tree(&w);
}

/* ---- reading ---- */

static void phi__cfg_json_compaction_read_scope(phi__cfg_json *r, const phi_json *node,
                                                phi_compaction_config *c) {
    static const char error[] = "compaction_scope: expected {\"FixedCount\": 3} or \"TokenBudget\"";
    const phi_json *scope = phi__cfg_json_get(node, "compaction_scope");
    if (scope == NULL) return;
    if (phi__str_is(phi_json_str(scope, ""), "TokenBudget"))
        c->scope = PHI_COMPACTION_TOKENS;
    else if (!phi__cfg_json_u32(r, scope, "FixedCount", 0, &c->scope_runs, error))
        phi__cfg_json_fail(r, error);
    else if (c->scope_runs == 0)
        c->scope_runs = PHI_COMPACTION_NO_RUNS;
}

/* Turns are members of "compaction", messages of the object around it, lines of either. */
static void phi__cfg_json_compaction_read_kept(phi__cfg_json *r, const phi_json *node,
                                               const phi_json *inner, phi_compaction_config *c) {
    bool has = phi__cfg_json_u32(r, inner, "keep_first_turns", 0, &c->keep_first_turns,
                                 "keep_first_turns: expected an integer of at least 0");
    c->keep_no_first = has && c->keep_first_turns == 0;
    (void)phi__cfg_json_u32(r, inner, "keep_recent_turns", 0, &c->keep_recent_turns,
                            "keep_recent_turns: expected an integer of at least 0");
    has = phi__cfg_json_u32(r, node, "keep_first", 0, &c->keep_first_messages,
                            "keep_first: expected an integer of at least 0");
    c->keep_no_first_messages = has && c->keep_first_messages == 0;
    (void)phi__cfg_json_u32(r, node, "keep_recent", 0, &c->keep_recent_messages,
                            "keep_recent: expected an integer of at least 0");
    if (!phi__cfg_json_u32(r, inner, "tool_output_max_lines", 0, &c->tool_output_max_lines,
                           "tool_output_max_lines: expected an integer of at least 0"))
        (void)phi__cfg_json_u32(r, node, "tool_output_max_lines", 0, &c->tool_output_max_lines,
                                "tool_output_max_lines: expected an integer of at least 0");
}

static void phi__cfg_json_compaction_read_inner(phi__cfg_json *r, const phi_json *inner,
                                                phi_compaction_config *c) {
    if (inner == NULL) return;
    if (!phi_json_is(inner, PHI_JSON_OBJECT))
        phi__cfg_json_fail(r, "compaction: expected an object");
    phi__cfg_json_num(r, inner, "compact_at_pct", 1e-9, 1, &c->compact_at_pct,
                      "compact_at_pct: expected a number above 0, at most 1");
    phi__cfg_json_num(r, inner, "compact_budget_threshold_pct", 1e-9, 1, &c->budget_threshold_pct,
                      "compact_budget_threshold_pct: expected a number above 0, at most 1");
    phi__cfg_json_compaction_read_scope(r, inner, c);
    (void)phi__cfg_json_uint(r, inner, "scope_tokens", 1, UINT64_MAX, &c->scope_tokens,
                             "scope_tokens: expected an integer of at least 1");
    (void)phi__cfg_json_uint(r, inner, "max_summary_tokens", 1, UINT64_MAX, &c->max_summary_tokens,
                             "max_summary_tokens: expected an integer of at least 1");
    phi__cfg_json_text(r, inner, "focus_message", &c->focus_message,
                       "focus_message: expected a text or null");
    phi__cfg_json_bool(r, inner, "disable", &c->disable, "disable: expected true or false");
}

PHI__FN phi_json *phi__cfg_json_compaction_write(phi_arena *arena,
                                                 const phi_compaction_config *config) {
    phi__cfg_json_writer w = phi__cfg_json_begin(arena);
    phi_compaction_config c = PHI_ZERO;
    if (config != NULL) c = *config;
    phi__cfg_json_put_or(&w, "max_context_tokens", c.max_context_tokens, 100000);
    phi__cfg_json_put_or(&w, "system_prompt_tokens", c.system_prompt_tokens, 4000);
    phi__cfg_json_put(&w, "compaction", phi__cfg_json_compaction_inner(arena, &c));
    phi__cfg_json_put_or(&w, "keep_recent", c.keep_recent_messages, PHI__CFG_JSON_RECENT);
    phi__cfg_json_compaction_put_first(&w, "keep_first", c.keep_first_messages,
                                       c.keep_no_first_messages);
    phi__cfg_json_put_or(&w, "tool_output_max_lines", c.tool_output_max_lines, PHI__CFG_JSON_LINES);
    return phi__cfg_json_tree(&w);
}

PHI__FN phi_status phi__cfg_json_compaction_read(const phi_json *node, phi_compaction_config *out,
                                                 const char **error) {
    phi__cfg_json r = PHI_ZERO;
    phi_compaction_config c = PHI_ZERO;
    const phi_json *inner = phi__cfg_json_get(node, "compaction");
    if (!phi_json_is(node, PHI_JSON_OBJECT)) phi__cfg_json_fail(&r, "context: expected an object");
    (void)phi__cfg_json_uint(&r, node, "max_context_tokens", 1, UINT64_MAX, &c.max_context_tokens,
                             "max_context_tokens: expected an integer of at least 1");
    (void)phi__cfg_json_uint(&r, node, "system_prompt_tokens", 1, UINT64_MAX,
                             &c.system_prompt_tokens,
                             "system_prompt_tokens: expected an integer of at least 1");
    phi__cfg_json_compaction_read_inner(&r, inner, &c);
    phi__cfg_json_compaction_read_kept(&r, node, inner, &c);
    phi_status status = phi__cfg_json_end(&r, error);
    if (status == PHI_OK) *out = c;
    return status;
}

/* ======== A model as JSON, and back. */

/* ---- writing ---- */

static phi_json *phi__cfg_json_model_cost(phi_arena *arena, const phi_cost *cost) {
    phi__cfg_json_writer w = phi__cfg_json_begin(arena);
    phi__cfg_json_put_num(&w, "input_per_million", cost->input);
    phi__cfg_json_put_num(&w, "output_per_million", cost->output);
    phi__cfg_json_put_num(&w, "cache_read_per_million", cost->cache_read);
    phi__cfg_json_put_num(&w, "cache_write_per_million", cost->cache_write);
    return phi__cfg_json_tree(&w);
}

static phi_json *phi__cfg_json_model_put_headers(phi_arena *arena, const phi_model *model,
                                                 bool secrets) {
    phi__cfg_json_writer w = phi__cfg_json_begin(arena);
    for (size_t i = 0; i < model->header_count; i++)
        phi__cfg_json_put_text(&w, model->headers[i].name, secrets ? model->headers[i].value : "");
    return phi__cfg_json_tree(&w);
}

/* An object; a text that is none stays a text. NULL: no memory. */
static phi_json *phi__cfg_json_model_put_extra(phi_arena *arena, const char *extra) {
    phi_json *root = NULL;
    phi_status status = phi_json_parse(arena, phi_str_of(extra), 0, &root, NULL);
    if (status == PHI_NO_MEMORY) return NULL;
    return status == PHI_OK ? root : phi__json_edit_text(arena, extra);
}

static const char *phi__cfg_json_model_format(uint64_t quirks) {
    return (quirks & PHI_QUIRK_REASONING_OBJECT) != 0  ? "OpenRouter"
           : (quirks & PHI_QUIRK_ENABLE_THINKING) != 0 ? "Qwen"
                                                       : "OpenAi";
}

static phi_json *phi__cfg_json_model_put_compat(phi_arena *arena, uint64_t quirks) {
    phi__cfg_json_writer w = phi__cfg_json_begin(arena);
    const phi__cfg_choice *names = phi__table_quirk_names();
    phi_json *list = phi_json_new_array(arena);
    phi__cfg_json_put_bool(&w, "supports_store", (quirks & PHI_QUIRK_STORE_FALSE) != 0);
    phi__cfg_json_put_bool(&w, "supports_developer_role", (quirks & PHI_QUIRK_DEVELOPER_ROLE) != 0);
    phi__cfg_json_put_bool(&w, "supports_reasoning_effort",
                           (quirks & PHI_QUIRK_REASONING_EFFORT) != 0);
    phi__cfg_json_put_bool(&w, "supports_usage_in_streaming",
                           (quirks & PHI_QUIRK_NO_STREAM_USAGE) == 0);
    phi__cfg_json_put_text(&w, "max_tokens_field",
                           (quirks & PHI_QUIRK_MAX_COMPLETION_TOKENS) != 0 ? "MaxCompletionTokens"
                                                                           : "MaxTokens");
    phi__cfg_json_put_bool(&w, "requires_tool_result_name",
                           (quirks & PHI_QUIRK_TOOL_NAME_IN_RESULT) != 0);
    phi__cfg_json_put_bool(&w, "requires_assistant_after_tool_result",
                           (quirks & PHI_QUIRK_ASSISTANT_AFTER_TOOL) != 0);
    phi__cfg_json_put_text(&w, "thinking_format", phi__cfg_json_model_format(quirks));
    for (; list != NULL && names->name[0] != '\0'; names++)
        if ((quirks & phi__table_quirk_bit(names)) != 0 &&
            phi_json_add(list, phi__json_edit_text(arena, names->name)) != PHI_OK)
            return NULL;
    phi__cfg_json_put(&w, "quirks", list);
    return phi__cfg_json_tree(&w);
}

/* ---- reading ---- */

/* "open_ai_completions", "openai", "gemini": as PHI_PROTOCOL_; a protocol of the host's own stays
   as it is. */
static void phi__cfg_json_model_api(phi__cfg_json *r, const phi_json *node, phi_model *out) {
    const phi__cfg_choice *choice = phi__table_api();
    phi__cfg_json_text(r, node, "api", &out->protocol, "api: expected a text");
    if (out->protocol == NULL) return;
    const phi__cfg_choice *found = phi__cfg_take_choice(choice, phi_str_of(out->protocol));
    for (; found != NULL && choice->name[0] != '\0'; choice++)
        if (!choice->alias && choice->value == found->value) out->protocol = choice->name;
}

static void phi__cfg_json_model_read_cost(phi__cfg_json *r, const phi_json *node, phi_cost *out) {
    if (node == NULL) return;
    if (!phi_json_is(node, PHI_JSON_OBJECT)) phi__cfg_json_fail(r, "cost: expected an object");
    phi__cfg_json_num(r, node, "input_per_million", 0, 1e9, &out->input,
                      "cost.input_per_million: expected a number of at least 0");
    phi__cfg_json_num(r, node, "output_per_million", 0, 1e9, &out->output,
                      "cost.output_per_million: expected a number of at least 0");
    phi__cfg_json_num(r, node, "cache_read_per_million", 0, 1e9, &out->cache_read,
                      "cost.cache_read_per_million: expected a number of at least 0");
    phi__cfg_json_num(r, node, "cache_write_per_million", 0, 1e9, &out->cache_write,
                      "cost.cache_write_per_million: expected a number of at least 0");
}

static bool phi__cfg_json_model_headers(phi__cfg_json *r, const phi_json *node, phi_arena *arena,
                                        phi_model *out) {
    static const char error[] = "headers: expected an object of texts";
    phi_json_iter it = phi_json_each(node);
    phi_model_header *headers;
    const phi_json *value;
    size_t n = phi_json_count(node), i = 0;
    phi_str name;
    if (node == NULL) return true;
    if (!phi_json_is(node, PHI_JSON_OBJECT)) phi__cfg_json_fail(r, error);
    if (n == 0 || r->error != NULL) return true;
    headers = (phi_model_header *)phi_arena_alloc(arena, phi__mul(n, sizeof *headers));
    if (headers == NULL) return false;
    while ((value = phi_json_next(&it)) != NULL) {
        if (!phi_json_is(value, PHI_JSON_STRING)) phi__cfg_json_fail(r, error);
        if (!phi__arena_str(arena, it.key, &name)) return false;
        headers[i].name = name.at;
        headers[i++].value = phi_json_str(value, "").at;
    }
    out->headers = headers;
    out->header_count = n;
    return true;
}

/* The flags of the interchange, where there is no list of ours. */
static void phi__cfg_json_model_flags(phi__cfg_json *r, const phi_json *node, uint64_t *quirks) {
    static const struct {
        char key[40], error[68];
        uint64_t bit;
        bool inverse;
    } flags[] = {
        {"supports_store", "compat.supports_store: expected true or false", PHI_QUIRK_STORE_FALSE,
         false},
        {"supports_developer_role", "compat.supports_developer_role: expected true or false",
         PHI_QUIRK_DEVELOPER_ROLE, false},
        {"supports_reasoning_effort", "compat.supports_reasoning_effort: expected true or false",
         PHI_QUIRK_REASONING_EFFORT, false},
        {"supports_usage_in_streaming",
         "compat.supports_usage_in_streaming: expected true or false", PHI_QUIRK_NO_STREAM_USAGE,
         true},
        {"requires_tool_result_name", "compat.requires_tool_result_name: expected true or false",
         PHI_QUIRK_TOOL_NAME_IN_RESULT, false},
        {"requires_assistant_after_tool_result",
         "compat.requires_assistant_after_tool_result: expected true or false",
         PHI_QUIRK_ASSISTANT_AFTER_TOOL, false}};
    phi_str field = phi_json_str(phi_json_get(node, "max_tokens_field"), "");
    phi_str format = phi_json_str(phi_json_get(node, "thinking_format"), "");
    for (size_t i = 0; i < PHI__COUNT(flags); i++) {
        bool value = flags[i].inverse;
        phi__cfg_json_bool(r, node, flags[i].key, &value, flags[i].error);
        if (value != flags[i].inverse) *quirks |= flags[i].bit;
    }
    if (phi__str_is_nocase(field, "MaxCompletionTokens") ||
        phi__str_is_nocase(field, "max_completion_tokens"))
        *quirks |= PHI_QUIRK_MAX_COMPLETION_TOKENS;
    if (phi__str_is_nocase(format, "OpenRouter")) *quirks |= PHI_QUIRK_REASONING_OBJECT;
    if (phi__str_is_nocase(format, "Qwen")) *quirks |= PHI_QUIRK_ENABLE_THINKING;
}

static void phi__cfg_json_model_compat(phi__cfg_json *r, const phi_json *node, uint64_t *quirks) {
    const phi_json *list = phi__cfg_json_get(node, "quirks"), *item;
    phi_json_iter it = phi_json_each(list);
    if (node == NULL) return;
    if (!phi_json_is(node, PHI_JSON_OBJECT))
        phi__cfg_json_fail(r, "compat: expected an object or null");
    if (list == NULL) {
        phi__cfg_json_model_flags(r, node, quirks);
        return;
    }
    if (!phi_json_is(list, PHI_JSON_ARRAY))
        phi__cfg_json_fail(r, "compat.quirks: expected an array");
    while ((item = phi_json_next(&it)) != NULL) {
        const phi__cfg_choice *choice =
            phi__cfg_take_choice(phi__table_quirk_names(), phi_json_str(item, ""));
        if (choice == NULL)
            phi__cfg_json_fail(r, "compat.quirks: expected names of PHI_QUIRK_ in lower case");
        else
            *quirks |= phi__table_quirk_bit(choice);
    }
}

/* An object, or its JSON as a text. False: no memory. */
static bool phi__cfg_json_model_extra(phi__cfg_json *r, const phi_json *node, phi_arena *arena,
                                      phi_model *out) {
    phi_str text = PHI__LIT("");
    if (node == NULL) return true;
    if (phi_json_is(node, PHI_JSON_STRING))
        text = phi_json_str(node, "");
    else if (!phi_json_is(node, PHI_JSON_OBJECT))
        phi__cfg_json_fail(r, "extra: expected an object, or its JSON as a text");
    else {
        phi_status status = phi_json_write(arena, node, 0, &text);
        if (status != PHI_OK) return false;
    }
    if (text.len > 0 && !phi__arena_str(arena, text, &text)) return false;
    if (text.len > 0) out->extra = text.at;
    return true;
}

PHI__FN phi_json *phi__cfg_json_model_write(phi_arena *arena, const phi_model *model,
                                            uint32_t flags) {
    phi__cfg_json_writer w = phi__cfg_json_begin(arena);
    bool secrets = (flags & PHI_SETTINGS_SECRETS) != 0;
    phi_model m = PHI_ZERO;
    if (model != NULL) m = *model;
    if (m.protocol == NULL) m.protocol = PHI_PROTOCOL_ANTHROPIC;
    const char *api = phi__message_read_api(phi_str_of(m.protocol));
    phi__cfg_json_put_text(&w, "id", m.id != NULL ? m.id : "");
    phi__cfg_json_put_text(&w, "name", m.name != NULL ? m.name : m.id != NULL ? m.id : "");
    phi__cfg_json_put_text(&w, "api", api != NULL ? api : m.protocol);
    phi__cfg_json_put_text(&w, "provider", m.provider != NULL ? m.provider : m.protocol);
    phi__cfg_json_put_text(&w, "base_url", m.base_url != NULL ? m.base_url : "");
    phi__cfg_json_put_text(&w, "api_key", secrets && m.api_key != NULL ? m.api_key : "");
    phi__cfg_json_put_bool(&w, "reasoning", m.reasoning);
    phi__cfg_json_put_or(&w, "context_window", m.context_window, 128000);
    phi__cfg_json_put_or(&w, "max_tokens", m.max_tokens, 8192);
    phi__cfg_json_put(&w, "cost", phi__cfg_json_model_cost(arena, &m.cost));
    phi__cfg_json_put(&w, "headers", phi__cfg_json_model_put_headers(arena, &m, secrets));
    if (m.extra != NULL)
        phi__cfg_json_put(&w, "extra", phi__cfg_json_model_put_extra(arena, m.extra));
    if (m.quirks != 0 || strcmp(m.protocol, PHI_PROTOCOL_OPENAI_CHAT) == 0)
        phi__cfg_json_put(&w, "compat", phi__cfg_json_model_put_compat(arena, m.quirks));
    else
        phi__cfg_json_put_text(&w, "compat", NULL);
    if (m.api_version != NULL && m.api_version[0] != '\0')
        phi__cfg_json_put_text(&w, "api_version", m.api_version);
    return phi__cfg_json_tree(&w);
}

PHI__FN phi_status phi__cfg_json_model_read(const phi_json *node, phi_arena *arena, phi_model *out,
                                            const char **error) {
    phi__cfg_json r = PHI_ZERO;
    phi_model m = PHI_ZERO;
    if (error != NULL) *error = NULL;
    if (!phi_json_is(node, PHI_JSON_OBJECT)) phi__cfg_json_fail(&r, "model: expected an object");
    phi__cfg_json_text(&r, node, "id", &m.id, "id: expected a text");
    phi__cfg_json_text(&r, node, "name", &m.name, "name: expected a text");
    phi__cfg_json_model_api(&r, node, &m);
    phi__cfg_json_text(&r, node, "provider", &m.provider, "provider: expected a text");
    phi__cfg_json_text(&r, node, "base_url", &m.base_url, "base_url: expected a text");
    phi__cfg_json_text(&r, node, "api_key", &m.api_key, "api_key: expected a text");
    phi__cfg_json_text(&r, node, "api_version", &m.api_version, "api_version: expected a text");
    phi__cfg_json_bool(&r, node, "reasoning", &m.reasoning, "reasoning: expected true or false");
    (void)phi__cfg_json_u32(&r, node, "context_window", 1, &m.context_window,
                            "context_window: expected an integer from 1 to 4294967295");
    (void)phi__cfg_json_u32(&r, node, "max_tokens", 1, &m.max_tokens,
                            "max_tokens: expected an integer from 1 to 4294967295");
    phi__cfg_json_model_read_cost(&r, phi__cfg_json_get(node, "cost"), &m.cost);
    phi__cfg_json_model_compat(&r, phi__cfg_json_get(node, "compat"), &m.quirks);
    if (!phi__cfg_json_model_headers(&r, phi__cfg_json_get(node, "headers"), arena, &m) ||
        !phi__cfg_json_model_extra(&r, phi__cfg_json_get(node, "extra"), arena, &m))
        return PHI_NO_MEMORY;
    if (m.base_url != NULL && m.base_url[0] == '\0') m.base_url = NULL;
    if (m.api_key != NULL && m.api_key[0] == '\0') m.api_key = NULL;
    if (m.protocol != NULL) m.codec = phi__codec_named(PHI_ALL_PROTOCOLS, phi_str_of(m.protocol));
    phi_status status = phi__cfg_json_end(&r, error);
    if (status == PHI_OK) *out = m;
    return status;
}

/* ======== The settings of an agent as one tree of JSON, out of its parts. */

PHI_API phi_status phi_settings_to_json(const phi_settings *settings, uint32_t flags,
                                        phi_arena *arena, phi_str *out) {
    if (arena == NULL || settings == NULL || out == NULL) return PHI_BAD_ARG;
    phi__cfg_json_writer w = phi__cfg_json_begin(arena);
    phi__cfg_json_put(&w, "limits", phi__cfg_json_limits_write(arena, &settings->limits));
    phi__cfg_json_put(&w, "retry", phi__cfg_json_retry_write(arena, &settings->retry));
    phi__cfg_json_put(&w, "cache", phi__cfg_json_cache_write(arena, &settings->cache));
    phi__cfg_json_put(&w, "context", phi__cfg_json_compaction_write(arena, &settings->compaction));
    phi__cfg_json_put(
        &w, "tool_execution",
        phi__cfg_json_tool_mode_write(arena, settings->tool_mode, settings->tool_batch));
    phi__cfg_json_put(&w, "thinking_level",
                      phi__cfg_json_thinking_write(arena, settings->thinking));
    phi__cfg_json_put(&w, "model", phi__cfg_json_model_write(arena, &settings->model, flags));
    const phi_json *tree = phi__cfg_json_tree(&w);
    return tree != NULL ? phi_json_write(arena, tree, 0, out) : PHI_NO_MEMORY;
}

static phi_status phi__settings_read(const phi_json *node, phi_arena *arena, phi_settings *out,
                                     const char **error) {
    const phi_json *part = phi__cfg_json_get(node, "limits");
    phi_status status = PHI_OK;
    if (part != NULL) status = phi__cfg_json_limits_read(part, &out->limits, error);
    part = phi__cfg_json_get(node, "retry");
    if (status == PHI_OK && part != NULL)
        status = phi__cfg_json_retry_read(part, &out->retry, error);
    part = phi__cfg_json_get(node, "cache");
    if (status == PHI_OK && part != NULL)
        status = phi__cfg_json_cache_read(part, &out->cache, error);
    part = phi__cfg_json_get(node, "context");
    if (status == PHI_OK && part != NULL)
        status = phi__cfg_json_compaction_read(part, &out->compaction, error);
    part = phi__cfg_json_get(node, "tool_execution");
    if (status == PHI_OK && part != NULL)
        status = phi__cfg_json_tool_mode_read(part, &out->tool_mode, &out->tool_batch, error);
    part = phi__cfg_json_get(node, "thinking_level");
    if (status == PHI_OK && part != NULL)
        status = phi__cfg_json_thinking_read(part, &out->thinking, error);
    part = phi__cfg_json_get(node, "model");
    if (status == PHI_OK && part != NULL)
        status = phi__cfg_json_model_read(part, arena, &out->model, error);
    return status;
}

PHI_API phi_status phi_settings_from_json(phi_str json, phi_arena *arena, phi_settings *out,
                                          phi_parse_error *error) {
    phi__cfg_json r = PHI_ZERO;
    phi_settings settings = PHI_ZERO;
    const char *fault = NULL;
    phi_json *node = NULL;
    if (arena == NULL || out == NULL) return PHI_BAD_ARG;
    phi_status status = phi_json_parse(arena, json, 0, &node, error);
    if (status != PHI_OK) return status;
    if (!phi_json_is(node, PHI_JSON_OBJECT)) phi__cfg_json_fail(&r, "settings: expected an object");
    status = phi__cfg_json_end(&r, &fault);
    if (status == PHI_OK) status = phi__settings_read(node, arena, &settings, &fault);
    if (status == PHI_OK) *out = settings;
    if (status != PHI_OK && error != NULL) {
        memset(error, 0, sizeof *error);
        error->status = status;
        (void)snprintf(error->message, sizeof error->message, "%s",
                       fault != NULL ? fault : phi_status_text((int)status));
    }
    return status;
}
