/* config_json_compaction.c - the settings of compaction as JSON, and back. */
#include "config/config_json_in.h"

enum {
    PHI__CONFIG_JSON_FIRST = 2,
    PHI__CONFIG_JSON_RECENT = 10,
    PHI__CONFIG_JSON_LINES = 50,
    PHI__CONFIG_JSON_RUNS = 3
};

/* ---- writing ---- */

static phi_json *phi__config_json_compaction_scope(phi_arena *arena,
                                                   const phi_compaction_config *c) {
    phi__config_json_writer w = phi__config_json_begin(arena);
    if (c->scope == PHI_COMPACTION_TOKENS) return phi__json_edit_text(arena, "TokenBudget");
    phi__config_json_put_uint(&w, "FixedCount",
                              c->scope_runs == PHI_COMPACTION_NO_RUNS ? 0
                              : c->scope_runs != 0                    ? c->scope_runs
                                                   : (uint32_t)PHI__CONFIG_JSON_RUNS);
    return phi__config_json_tree(&w);
}

static void phi__config_json_compaction_put_first(phi__config_json_writer *w, const char *key,
                                                  uint32_t first, bool none) {
    if (none)
        phi__config_json_put_uint(w, key, 0);
    else
        phi__config_json_put_or(w, key, first, PHI__CONFIG_JSON_FIRST);
}

static phi_json *phi__config_json_compaction_inner(phi_arena *arena,
                                                   const phi_compaction_config *c) {
    phi__config_json_writer w = phi__config_json_begin(arena);
    phi__config_json_put_num(&w, "compact_at_pct", c->compact_at_pct > 0 ? c->compact_at_pct : 0.9);
    phi__config_json_put_num(&w, "compact_budget_threshold_pct",
                             c->budget_threshold_pct > 0 ? c->budget_threshold_pct : 0.05);
    phi__config_json_put(&w, "compaction_scope", phi__config_json_compaction_scope(arena, c));
    if (c->scope_tokens != 0) phi__config_json_put_uint(&w, "scope_tokens", c->scope_tokens);
    phi__config_json_compaction_put_first(&w, "keep_first_turns", c->keep_first_turns,
                                          c->keep_no_first);
    phi__config_json_put_or(&w, "keep_recent_turns", c->keep_recent_turns, PHI__CONFIG_JSON_RECENT);
    phi__config_json_put_or(&w, "max_summary_tokens", c->max_summary_tokens, 2000);
    phi__config_json_put_or(&w, "tool_output_max_lines", c->tool_output_max_lines,
                            PHI__CONFIG_JSON_LINES);
    phi__config_json_put_text(&w, "focus_message", c->focus_message);
    if (c->disable) phi__config_json_put_bool(&w, "disable", true);
    return phi__config_json_tree(&w);
}

/* ---- reading ---- */

static void phi__config_json_compaction_read_scope(phi__config_json *r, const phi_json *node,
                                                   phi_compaction_config *c) {
    static const char error[] = "compaction_scope: expected {\"FixedCount\": 3} or \"TokenBudget\"";
    const phi_json *scope = phi__config_json_get(node, "compaction_scope");
    if (scope == NULL) return;
    if (phi__str_is(phi_json_str(scope, ""), "TokenBudget"))
        c->scope = PHI_COMPACTION_TOKENS;
    else if (!phi__config_json_u32(r, scope, "FixedCount", 0, &c->scope_runs, error))
        phi__config_json_fail(r, error);
    else if (c->scope_runs == 0)
        c->scope_runs = PHI_COMPACTION_NO_RUNS;
}

/* Turns are members of "compaction", messages of the object around it, lines of either. */
static void phi__config_json_compaction_read_kept(phi__config_json *r, const phi_json *node,
                                                  const phi_json *inner, phi_compaction_config *c) {
    bool has = phi__config_json_u32(r, inner, "keep_first_turns", 0, &c->keep_first_turns,
                                    "keep_first_turns: expected an integer of at least 0");
    c->keep_no_first = has && c->keep_first_turns == 0;
    (void)phi__config_json_u32(r, inner, "keep_recent_turns", 0, &c->keep_recent_turns,
                               "keep_recent_turns: expected an integer of at least 0");
    has = phi__config_json_u32(r, node, "keep_first", 0, &c->keep_first_messages,
                               "keep_first: expected an integer of at least 0");
    c->keep_no_first_messages = has && c->keep_first_messages == 0;
    (void)phi__config_json_u32(r, node, "keep_recent", 0, &c->keep_recent_messages,
                               "keep_recent: expected an integer of at least 0");
    if (!phi__config_json_u32(r, inner, "tool_output_max_lines", 0, &c->tool_output_max_lines,
                              "tool_output_max_lines: expected an integer of at least 0"))
        (void)phi__config_json_u32(r, node, "tool_output_max_lines", 0, &c->tool_output_max_lines,
                                   "tool_output_max_lines: expected an integer of at least 0");
}

static void phi__config_json_compaction_read_inner(phi__config_json *r, const phi_json *inner,
                                                   phi_compaction_config *c) {
    if (inner == NULL) return;
    if (!phi_json_is(inner, PHI_JSON_OBJECT))
        phi__config_json_fail(r, "compaction: expected an object");
    phi__config_json_num(r, inner, "compact_at_pct", 1e-9, 1, &c->compact_at_pct,
                         "compact_at_pct: expected a number above 0, at most 1");
    phi__config_json_num(r, inner, "compact_budget_threshold_pct", 1e-9, 1,
                         &c->budget_threshold_pct,
                         "compact_budget_threshold_pct: expected a number above 0, at most 1");
    phi__config_json_compaction_read_scope(r, inner, c);
    (void)phi__config_json_uint(r, inner, "scope_tokens", 1, UINT64_MAX, &c->scope_tokens,
                                "scope_tokens: expected an integer of at least 1");
    (void)phi__config_json_uint(r, inner, "max_summary_tokens", 1, UINT64_MAX,
                                &c->max_summary_tokens,
                                "max_summary_tokens: expected an integer of at least 1");
    phi__config_json_text(r, inner, "focus_message", &c->focus_message,
                          "focus_message: expected a text or null");
    phi__config_json_bool(r, inner, "disable", &c->disable, "disable: expected true or false");
}

PHI__FN phi_json *phi__config_json_compaction_write(phi_arena *arena,
                                                    const phi_compaction_config *config) {
    phi__config_json_writer w = phi__config_json_begin(arena);
    phi_compaction_config c = PHI_ZERO;
    if (config != NULL) c = *config;
    phi__config_json_put_or(&w, "max_context_tokens", c.max_context_tokens, 100000);
    phi__config_json_put_or(&w, "system_prompt_tokens", c.system_prompt_tokens, 4000);
    phi__config_json_put(&w, "compaction", phi__config_json_compaction_inner(arena, &c));
    phi__config_json_put_or(&w, "keep_recent", c.keep_recent_messages, PHI__CONFIG_JSON_RECENT);
    phi__config_json_compaction_put_first(&w, "keep_first", c.keep_first_messages,
                                          c.keep_no_first_messages);
    phi__config_json_put_or(&w, "tool_output_max_lines", c.tool_output_max_lines,
                            PHI__CONFIG_JSON_LINES);
    return phi__config_json_tree(&w);
}

PHI__FN phi_status phi__config_json_compaction_read(const phi_json *node,
                                                    phi_compaction_config *out,
                                                    const char **error) {
    phi__config_json r = PHI_ZERO;
    phi_compaction_config c = PHI_ZERO;
    const phi_json *inner = phi__config_json_get(node, "compaction");
    phi_status status;
    if (!phi_json_is(node, PHI_JSON_OBJECT))
        phi__config_json_fail(&r, "context: expected an object");
    (void)phi__config_json_uint(&r, node, "max_context_tokens", 1, UINT64_MAX,
                                &c.max_context_tokens,
                                "max_context_tokens: expected an integer of at least 1");
    (void)phi__config_json_uint(&r, node, "system_prompt_tokens", 1, UINT64_MAX,
                                &c.system_prompt_tokens,
                                "system_prompt_tokens: expected an integer of at least 1");
    phi__config_json_compaction_read_inner(&r, inner, &c);
    phi__config_json_compaction_read_kept(&r, node, inner, &c);
    status = phi__config_json_end(&r, error);
    if (status == PHI_OK) *out = c;
    return status;
}
