/* config_json.c - limits, retries, caching, compaction and tool modes as JSON, and back. */
#include "config/config_in.h"
#include "config/config_json_in.h"
#include "config/config_tables_in.h"

/* ---- reading ---- */

PHI__FN void phi__config_json_fail(phi__config_json *r, const char *error) {
    if (r->error == NULL) r->error = error;
}

PHI__FN phi_status phi__config_json_end(const phi__config_json *r, const char **error) {
    if (error != NULL) *error = r->error;
    return r->error == NULL ? PHI_OK : PHI_BAD_ARG;
}

/* The member, or NULL where it is missing or null. */
PHI__FN const phi_json *phi__config_json_get(const phi_json *node, const char *key) {
    const phi_json *member = phi_json_get(node, key);
    return phi_json_is(member, PHI_JSON_NULL) ? NULL : member;
}

PHI__FN bool phi__config_json_uint(phi__config_json *r, const phi_json *node, const char *key,
                                   uint64_t least, uint64_t most, uint64_t *out,
                                   const char *error) {
    const phi_json *member = phi__config_json_get(node, key);
    if (member == NULL) return false;
    if (!phi_json_is(member, PHI_JSON_INTEGER) || phi_json_num(member, -1) < 0 ||
        phi__json_get_uint(member, 0) < least || phi__json_get_uint(member, 0) > most) {
        phi__config_json_fail(r, error);
        return false;
    }
    *out = phi__json_get_uint(member, 0);
    return true;
}

PHI__FN bool phi__config_json_u32(phi__config_json *r, const phi_json *node, const char *key,
                                  uint32_t least, uint32_t *out, const char *error) {
    uint64_t value;
    if (!phi__config_json_uint(r, node, key, least, UINT32_MAX, &value, error)) return false;
    *out = (uint32_t)value;
    return true;
}

PHI__FN void phi__config_json_num(phi__config_json *r, const phi_json *node, const char *key,
                                  double least, double most, double *out, const char *error) {
    const phi_json *member = phi__config_json_get(node, key);
    double value = phi_json_num(member, -1);
    if (member == NULL) return;
    if (phi_json_is(member, PHI_JSON_NUMBER) && value >= least && value <= most)
        *out = value;
    else
        phi__config_json_fail(r, error);
}

PHI__FN void phi__config_json_bool(phi__config_json *r, const phi_json *node, const char *key,
                                   bool *out, const char *error) {
    const phi_json *member = phi__config_json_get(node, key);
    if (member == NULL) return;
    if (phi_json_is(member, PHI_JSON_BOOL))
        *out = phi_json_bool(member, false);
    else
        phi__config_json_fail(r, error);
}

PHI__FN void phi__config_json_text(phi__config_json *r, const phi_json *node, const char *key,
                                   const char **out, const char *error) {
    const phi_json *member = phi__config_json_get(node, key);
    phi_str text = phi_json_str(member, "");
    if (member == NULL) return;
    if (phi_json_is(member, PHI_JSON_STRING) &&
        (text.len == 0 || memchr(text.at, 0, text.len) == NULL))
        *out = text.at;
    else
        phi__config_json_fail(r, error);
}

/* ---- limits ---- */

enum { PHI__CONFIG_JSON_MS = 1000, PHI__CONFIG_JSON_NANOS = 1000000 /* of a millisecond */ };

static void phi__config_json_duration(phi__config_json *r, const phi_json *node, uint32_t *out) {
    static const char error[] =
        "max_duration: expected {\"secs\": 600, \"nanos\": 0}, above 0 and below 4294967 seconds";
    uint64_t secs = 0, nanos = 0, ms;
    if (node == NULL) return;
    if (!phi_json_is(node, PHI_JSON_OBJECT)) phi__config_json_fail(r, error);
    (void)phi__config_json_uint(r, node, "secs", 0, 4294967, &secs, error);
    (void)phi__config_json_uint(r, node, "nanos", 0, 999999999, &nanos, error);
    ms = secs * PHI__CONFIG_JSON_MS + nanos / PHI__CONFIG_JSON_NANOS;
    if (ms == 0 || ms > UINT32_MAX) phi__config_json_fail(r, error);
    if (r->error == NULL) *out = (uint32_t)ms;
}

/* ---- writing ---- */

PHI__FN phi__config_json_writer phi__config_json_begin(phi_arena *arena) {
    phi__config_json_writer w = PHI_ZERO;
    w.arena = arena;
    w.node = phi_json_new_object(arena);
    w.no_memory = w.node == NULL;
    return w;
}

PHI__FN void phi__config_json_put(phi__config_json_writer *w, const char *key, phi_json *value) {
    if (w->no_memory) return;
    w->no_memory = value == NULL || phi_json_set(w->arena, w->node, key, value) != PHI_OK;
}

PHI__FN void phi__config_json_put_uint(phi__config_json_writer *w, const char *key,
                                       uint64_t value) {
    phi__config_json_put(w, key, phi__json_edit_uint(w->arena, value));
}

PHI__FN void phi__config_json_put_or(phi__config_json_writer *w, const char *key, uint64_t value,
                                     uint64_t fallback) {
    phi__config_json_put_uint(w, key, value != 0 ? value : fallback);
}

PHI__FN void phi__config_json_put_num(phi__config_json_writer *w, const char *key, double value) {
    phi__config_json_put(w, key, phi_json_new_num(w->arena, value));
}

PHI__FN void phi__config_json_put_bool(phi__config_json_writer *w, const char *key, bool value) {
    phi__config_json_put(w, key, phi_json_new_bool(w->arena, value));
}

PHI__FN void phi__config_json_put_text(phi__config_json_writer *w, const char *key,
                                       const char *value) {
    phi__config_json_put(w, key,
                         value != NULL ? phi__json_edit_text(w->arena, value)
                                       : phi__json_edit_null(w->arena));
}

PHI__FN phi_json *phi__config_json_tree(const phi__config_json_writer *w) {
    return w->no_memory ? NULL : w->node;
}

/* ---- limits ---- */

PHI__FN phi_json *phi__config_json_limits_write(phi_arena *arena, const phi_limits *limits) {
    phi__config_json_writer w = phi__config_json_begin(arena), time = phi__config_json_begin(arena);
    phi_limits l = PHI_ZERO;
    uint64_t ms;
    if (limits != NULL) l = *limits;
    if (l.disable) {
        l.max_turns = l.max_duration_ms = PHI_UNLIMITED;
        l.max_tokens = UINT64_MAX;
        l.max_cost = 0;
    }
    ms = l.max_duration_ms != 0 ? l.max_duration_ms : 600000;
    phi__config_json_put_uint(&time, "secs", ms / PHI__CONFIG_JSON_MS);
    phi__config_json_put_uint(&time, "nanos", ms % PHI__CONFIG_JSON_MS * PHI__CONFIG_JSON_NANOS);
    phi__config_json_put_or(&w, "max_turns", l.max_turns, 50);
    phi__config_json_put_or(&w, "max_total_tokens", l.max_tokens, 1000000);
    phi__config_json_put(&w, "max_duration", phi__config_json_tree(&time));
    if (l.max_cost > 0)
        phi__config_json_put_num(&w, "max_cost", l.max_cost);
    else
        phi__config_json_put_text(&w, "max_cost", NULL);
    if (l.pause) phi__config_json_put_bool(&w, "pause", true);
    return phi__config_json_tree(&w);
}

PHI__FN phi_status phi__config_json_limits_read(const phi_json *node, phi_limits *out,
                                                const char **error) {
    phi__config_json r = PHI_ZERO;
    phi_limits l = PHI_ZERO;
    phi_status status;
    if (!phi_json_is(node, PHI_JSON_OBJECT))
        phi__config_json_fail(&r, "limits: expected an object");
    (void)phi__config_json_u32(&r, node, "max_turns", 1, &l.max_turns,
                               "max_turns: expected an integer from 1 to 4294967295");
    (void)phi__config_json_uint(&r, node, "max_total_tokens", 1, UINT64_MAX, &l.max_tokens,
                                "max_total_tokens: expected an integer of at least 1");
    phi__config_json_duration(&r, phi__config_json_get(node, "max_duration"), &l.max_duration_ms);
    phi__config_json_num(&r, node, "max_cost", 1e-9, 1e15, &l.max_cost,
                         "max_cost: expected a number above 0, or null");
    phi__config_json_bool(&r, node, "pause", &l.pause, "pause: expected true or false");
    status = phi__config_json_end(&r, error);
    if (status == PHI_OK) *out = l;
    return status;
}

/* ---- retries ---- */

PHI__FN phi_json *phi__config_json_retry_write(phi_arena *arena, const phi_retry *retry) {
    phi__config_json_writer w = phi__config_json_begin(arena);
    phi_retry v = PHI_ZERO;
    if (retry != NULL) v = *retry;
    phi__config_json_put_uint(&w, "max_retries",
                              v.disable            ? 0
                              : v.max_retries != 0 ? v.max_retries
                                                   : 3);
    phi__config_json_put_or(&w, "initial_delay_ms", v.initial_delay_ms, 1000);
    phi__config_json_put_num(&w, "backoff_multiplier",
                             v.backoff_multiplier > 0 ? v.backoff_multiplier : 2);
    phi__config_json_put_or(&w, "max_delay_ms", v.max_delay_ms, 30000);
    if (v.max_server_delay_ms != 0)
        phi__config_json_put_uint(&w, "max_server_delay_ms", v.max_server_delay_ms);
    return phi__config_json_tree(&w);
}

PHI__FN phi_status phi__config_json_retry_read(const phi_json *node, phi_retry *out,
                                               const char **error) {
    phi__config_json r = PHI_ZERO;
    phi_retry v = PHI_ZERO;
    phi_status status;
    if (!phi_json_is(node, PHI_JSON_OBJECT)) phi__config_json_fail(&r, "retry: expected an object");
    if (phi__config_json_u32(&r, node, "max_retries", 0, &v.max_retries,
                             "max_retries: expected an integer from 0 to 4294967295"))
        v.disable = v.max_retries == 0;
    (void)phi__config_json_u32(&r, node, "initial_delay_ms", 1, &v.initial_delay_ms,
                               "initial_delay_ms: expected an integer from 1 to 4294967295");
    phi__config_json_num(&r, node, "backoff_multiplier", 1, 1e6, &v.backoff_multiplier,
                         "backoff_multiplier: expected a number from 1 to 1000000");
    (void)phi__config_json_u32(&r, node, "max_delay_ms", 1, &v.max_delay_ms,
                               "max_delay_ms: expected an integer from 1 to 4294967295");
    (void)phi__config_json_u32(&r, node, "max_server_delay_ms", 1, &v.max_server_delay_ms,
                               "max_server_delay_ms: expected an integer from 1 to 4294967295");
    status = phi__config_json_end(&r, error);
    if (status == PHI_OK) *out = v;
    return status;
}

/* ---- caching ---- */

PHI__FN phi_json *phi__config_json_cache_write(phi_arena *arena, const phi_cache *cache) {
    phi__config_json_writer w = phi__config_json_begin(arena), manual, marks;
    phi_cache c = PHI_ZERO;
    if (cache != NULL) c = *cache;
    phi__config_json_put_bool(&w, "enabled", c.mode != PHI_CACHE_DISABLED);
    if (c.mode != PHI_CACHE_MANUAL) {
        phi__config_json_put_text(&w, "strategy",
                                  c.mode == PHI_CACHE_DISABLED ? "disabled" : "auto");
        if (c.one_hour) phi__config_json_put_bool(&w, "one_hour", true);
        return phi__config_json_tree(&w);
    }
    marks = phi__config_json_begin(arena);
    phi__config_json_put_bool(&marks, "cache_system", c.system);
    phi__config_json_put_bool(&marks, "cache_tools", c.tools);
    phi__config_json_put_bool(&marks, "cache_messages", c.messages);
    manual = phi__config_json_begin(arena);
    phi__config_json_put(&manual, "manual", phi__config_json_tree(&marks));
    phi__config_json_put(&w, "strategy", phi__config_json_tree(&manual));
    if (c.one_hour) phi__config_json_put_bool(&w, "one_hour", true);
    return phi__config_json_tree(&w);
}

static void phi__config_json_strategy(phi__config_json *r, const phi_json *node, phi_cache *out) {
    const phi_json *marks = phi__config_json_get(node, "manual");
    phi_str name = phi_json_str(node, "");
    if (node == NULL || phi__str_is_nocase(name, "auto")) return;
    if (phi__str_is_nocase(name, "disabled")) {
        out->mode = PHI_CACHE_DISABLED;
        return;
    }
    if (!phi_json_is(marks, PHI_JSON_OBJECT)) {
        phi__config_json_fail(r,
                              "strategy: expected \"auto\", \"disabled\" or {\"manual\": {...}}");
        return;
    }
    out->mode = PHI_CACHE_MANUAL;
    phi__config_json_bool(r, marks, "cache_system", &out->system,
                          "cache_system: expected true or false");
    phi__config_json_bool(r, marks, "cache_tools", &out->tools,
                          "cache_tools: expected true or false");
    phi__config_json_bool(r, marks, "cache_messages", &out->messages,
                          "cache_messages: expected true or false");
}

PHI__FN phi_status phi__config_json_cache_read(const phi_json *node, phi_cache *out,
                                               const char **error) {
    phi__config_json r = PHI_ZERO;
    phi_cache c = PHI_ZERO;
    bool enabled = true;
    phi_status status;
    if (!phi_json_is(node, PHI_JSON_OBJECT)) phi__config_json_fail(&r, "cache: expected an object");
    phi__config_json_bool(&r, node, "enabled", &enabled, "enabled: expected true or false");
    phi__config_json_bool(&r, node, "one_hour", &c.one_hour, "one_hour: expected true or false");
    phi__config_json_strategy(&r, phi__config_json_get(node, "strategy"), &c);
    if (!enabled) {
        memset(&c, 0, sizeof c);
        c.mode = PHI_CACHE_DISABLED;
    }
    status = phi__config_json_end(&r, error);
    if (status == PHI_OK) *out = c;
    return status;
}

/* ---- tools and thinking ---- */

PHI__FN phi_json *phi__config_json_tool_mode_write(phi_arena *arena, phi_tool_mode mode,
                                                   uint32_t batch) {
    phi__config_json_writer w = phi__config_json_begin(arena);
    phi__config_json_put_text(&w, "type",
                              mode == PHI_TOOLS_SEQUENTIAL ? "sequential"
                              : mode == PHI_TOOLS_BATCHED  ? "batched"
                                                           : "parallel");
    if (mode == PHI_TOOLS_BATCHED) phi__config_json_put_or(&w, "size", batch, 4);
    return phi__config_json_tree(&w);
}

PHI__FN phi_status phi__config_json_tool_mode_read(const phi_json *node, phi_tool_mode *mode,
                                                   uint32_t *batch, const char **error) {
    phi__config_json r = PHI_ZERO;
    phi_str type = phi_json_str(phi_json_get(node, "type"), "");
    phi_tool_mode m = PHI_TOOLS_PARALLEL;
    uint32_t size = 0;
    phi_status status;
    if (phi__str_is_nocase(type, "sequential"))
        m = PHI_TOOLS_SEQUENTIAL;
    else if (phi__str_is_nocase(type, "batched"))
        m = PHI_TOOLS_BATCHED;
    else if (!phi__str_is_nocase(type, "parallel"))
        phi__config_json_fail(&r, "type: expected \"sequential\", \"parallel\" or \"batched\"");
    if (m == PHI_TOOLS_BATCHED)
        (void)phi__config_json_u32(&r, node, "size", 1, &size,
                                   "size: expected an integer from 1 to 4294967295");
    status = phi__config_json_end(&r, error);
    if (status != PHI_OK) return status;
    *mode = m;
    *batch = size;
    return status;
}

PHI__FN phi_json *phi__config_json_thinking_write(phi_arena *arena, phi_thinking level) {
    const phi__config_choice *choice = phi__config_tables_thinking();
    while (choice->name[0] != '\0' && (choice->alias || choice->value != (int)level)) choice++;
    return phi__json_edit_text(arena, choice->name[0] != '\0' ? choice->name : "off");
}

PHI__FN phi_status phi__config_json_thinking_read(const phi_json *node, phi_thinking *out,
                                                  const char **error) {
    phi__config_json r = PHI_ZERO;
    const phi__config_choice *choice =
        phi__config_take_choice(phi__config_tables_thinking(), phi_json_str(node, ""));
    if (choice != NULL)
        *out = (phi_thinking)choice->value;
    else
        phi__config_json_fail(
            &r, "thinking_level: expected \"off\", \"minimal\", \"low\", \"medium\" or \"high\"");
    return phi__config_json_end(&r, error);
}
