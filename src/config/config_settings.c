/* config_settings.c - limits, retries, caching, compaction and all the plain settings of an
   agent. */
#include "config/config_agents_in.h"

#ifndef PHI_NO_CONFIG

static phi_status phi__config_settings_retry(phi__config_ground *ground, const phi_json *node,
                                             phi_retry *out) {
    phi__config_retry taken;
    if (node == NULL) return PHI_OK;
    memset(&taken, 0, sizeof taken);
    if (!phi__config_take(ground->arena, node, phi__config_tables_retry(), &taken))
        return PHI_NO_MEMORY;
    *out = taken.retry;
    out->disable = taken.retry.max_retries == 0 &&
                   phi__config_fields_has(phi__config_tables_retry(), &taken, "max_retries");
    return PHI_OK;
}

static phi_status phi__config_settings_cache(phi__config_ground *ground, const phi_json *node,
                                             phi_cache *out) {
    phi__config_cache taken;
    if (node == NULL) return PHI_OK;
    memset(&taken, 0, sizeof taken);
    if (!phi__config_take(ground->arena, node, phi__config_tables_cache(), &taken))
        return PHI_NO_MEMORY;
    *out = taken.cache;
    if (!taken.enabled && phi__config_fields_has(phi__config_tables_cache(), &taken, "enabled"))
        out->mode = PHI_CACHE_DISABLED;
    return PHI_OK;
}

static phi_status phi__config_settings_execution(phi__config_ground *ground,
                                                 const phi__config_execution *e,
                                                 phi_agent_desc *desc) {
    const phi_limits *limits = &e->limits;
    phi_status status;
    if (limits->max_turns > 0 || limits->max_tokens > 0 || limits->max_duration_ms > 0 ||
        limits->max_cost > 0 || limits->pause)
        desc->limits = *limits;
    if (e->budget != NULL) {
        phi__config_budget budget;
        memset(&budget, 0, sizeof budget);
        if (!phi__config_take(ground->arena, e->budget, phi__config_tables_budget(), &budget))
            return PHI_NO_MEMORY;
        desc->budget = budget.budget;
    }
    if (e->deadlines != NULL) {
        phi__config_deadlines deadlines;
        memset(&deadlines, 0, sizeof deadlines);
        if (!phi__config_take(ground->arena, e->deadlines, phi__config_tables_deadlines(),
                              &deadlines))
            return PHI_NO_MEMORY;
        desc->deadlines = deadlines.deadlines;
    }
    status = phi__config_settings_retry(ground, e->retry, &desc->retry);
    return status == PHI_OK ? phi__config_settings_cache(ground, e->cache, &desc->cache) : status;
}

/* A schema out of a text must be JSON, or its mistake would show with the first request alone. */
static phi_status phi__config_settings_schema(phi__config_ground *ground, const phi_json *node,
                                              const char *text) {
    phi_arena_mark mark = phi_arena_save(ground->arena);
    phi_parse_error error = PHI_ZERO;
    phi_json *root;
    phi_status status;
    if (text == NULL) return PHI_OK;
    status = phi_json_parse(ground->arena, phi_str_of(text), 0, &root, &error);
    phi_arena_reset(ground->arena, mark);
    if (status == PHI_OK || status == PHI_NO_MEMORY) return status;
    phi__config_words_error(ground, node, PHI_PARSE, "agent.format.schema",
                            "agent.format.schema is no JSON: line %u, column %u: %s; a file is "
                            "named as \"file:answer.json\"",
                            (unsigned)error.line, (unsigned)error.column, error.message);
    return PHI_OK;
}

static phi_status phi__config_settings_format(phi__config_ground *ground, const phi_json *node,
                                              phi_agent_desc *desc) {
    phi__config_format taken;
    const char *schema = NULL;
    if (node == NULL) return PHI_OK;
    memset(&taken, 0, sizeof taken);
    if (!phi__config_take(ground->arena, node, phi__config_tables_format(), &taken))
        return PHI_NO_MEMORY;
    if (phi_json_is_string(taken.schema)) {
        phi_status status =
            phi__config_prompt_make(ground, taken.schema, ground->directory, &schema);
        if (status != PHI_OK) return status;
        status = phi__config_settings_schema(ground, taken.schema, schema);
        if (status != PHI_OK) return status;
    } else if (taken.schema != NULL) {
        schema = phi__config_settings_text(ground->arena, taken.schema);
        if (schema == NULL) return PHI_NO_MEMORY;
    }
    desc->format.kind = taken.kind;
    desc->format.schema = schema;
    desc->format.name = taken.name;
    desc->format.strict = taken.strict;
    return PHI_OK;
}

static phi_status phi__config_settings_policy(phi__config_ground *ground, const phi_json *node,
                                              phi_agent_desc *desc) {
    phi__config_policy *taken;
    if (node == NULL) return PHI_OK;
    taken = (phi__config_policy *)phi__arena_zero(ground->arena, sizeof *taken);
    if (taken == NULL || !phi__config_take(ground->arena, node, phi__config_tables_policy(), taken))
        return PHI_NO_MEMORY;
    if (taken->include.at != NULL)
        taken->policy.include =
            phi__config_take_bits(&taken->include, phi__config_tables_include());
    taken->policy.keep_no_turns =
        taken->policy.keep_last_turns == 0 &&
        phi__config_fields_has(phi__config_tables_policy(), taken, "keep_last_turns");
    taken->policy.no_reserve =
        taken->policy.reserve_output_tokens == 0 &&
        phi__config_fields_has(phi__config_tables_policy(), taken, "reserve_output_tokens");
    desc->policy = &taken->policy;
    return PHI_OK;
}

static phi_status phi__config_settings_effects(phi__config_ground *ground, const phi_json *node,
                                               phi_agent_desc *desc) {
    phi__config_effects taken;
    if (node == NULL) return PHI_OK;
    memset(&taken, 0, sizeof taken);
    if (!phi__config_take(ground->arena, node, phi__config_tables_effects(), &taken))
        return PHI_NO_MEMORY;
    desc->effects = taken.effects;
    desc->effects.allow = phi__config_take_bits(&taken.allow, phi__config_tables_effect_ops());
    desc->effects.deny = phi__config_take_bits(&taken.deny, phi__config_tables_effect_ops());
    return PHI_OK;
}

/* A value of the file where it has one; zero is none. */
#define PHI__CONFIG_SETTINGS_PUT(to, value)                                                        \
    do {                                                                                           \
        if ((value) != 0) (to) = (value);                                                          \
    } while (0)

static void phi__config_settings_plain(const phi__config_agent *a, phi_agent_desc *desc) {
    PHI__CONFIG_SETTINGS_PUT(desc->agent_id, a->agent_id);
    PHI__CONFIG_SETTINGS_PUT(desc->session_id, a->session_id);
    PHI__CONFIG_SETTINGS_PUT(desc->result_directory, a->result_directory);
    PHI__CONFIG_SETTINGS_PUT(desc->keep, a->keep);
    PHI__CONFIG_SETTINGS_PUT(desc->steering_mode, a->steering_mode);
    PHI__CONFIG_SETTINGS_PUT(desc->follow_up_mode, a->follow_up_mode);
    PHI__CONFIG_SETTINGS_PUT(desc->at_memory_limit, a->at_memory_limit);
    PHI__CONFIG_SETTINGS_PUT(desc->queue_limit, a->queue_limit);
    PHI__CONFIG_SETTINGS_PUT(desc->repeat_warn_after, a->repeat_warn_after);
    PHI__CONFIG_SETTINGS_PUT(desc->repeat_stop_after, a->repeat_stop_after);
    PHI__CONFIG_SETTINGS_PUT(desc->decision_timeout_ms, a->decision_timeout_ms);
    PHI__CONFIG_SETTINGS_PUT(desc->max_result_bytes, a->max_result_bytes);
    PHI__CONFIG_SETTINGS_PUT(desc->max_result_image_bytes, a->max_result_image_bytes);
    PHI__CONFIG_SETTINGS_PUT(desc->max_response_bytes, a->max_response_bytes);
    if (a->memory_limit_bytes > 0) desc->memory_limit_bytes = (size_t)a->memory_limit_bytes;
    if (a->event_queue_bytes > 0) desc->event_queue_bytes = (size_t)a->event_queue_bytes;
    if (a->max_event_bytes > 0) desc->max_event_bytes = (size_t)a->max_event_bytes;
    desc->capture_requests = desc->capture_requests || a->capture_requests;
    desc->disable_facts = desc->disable_facts || a->disable_facts;
}

/* ---- for other modules ---- */

PHI__FN const char *phi__config_settings_text(phi_arena *arena, const phi_json *node) {
    phi_str text;
    if (phi_json_is_string(node)) return phi_json_str(node, "").at;
    return phi_json_write(arena, node, 0, &text) == PHI_OK ? text.at : NULL;
}

PHI__FN void phi__config_settings_compaction(phi__config_maker *maker, const char *reference,
                                             phi_compaction_config *out) {
    phi__config_compaction taken = maker->whole.compaction;
    const phi__config_table *table = phi__config_tables_compaction_instance();
    const phi_json *instance =
        reference != NULL ? phi__config_refs_find(maker->ground.config, "compaction", reference)
                          : NULL;
    (void)phi__config_take(maker->ground.arena, instance, table, &taken); /* it has no lists */
    *out = taken.config;
    out->keep_no_first = taken.config.keep_first_turns == 0 &&
                         phi__config_fields_has(table, &taken, "keep_first_turns");
    if (taken.config.scope_runs == 0 && phi__config_fields_has(table, &taken, "scope_runs"))
        out->scope_runs = PHI_COMPACTION_NO_RUNS;
    out->disable = taken.config.max_context_tokens == 0 ||
                   (!taken.enabled && phi__config_fields_has(table, &taken, "enabled"));
}

PHI__FN phi_status phi__config_settings_whole(phi__config_maker *maker, phi_agent_desc *desc) {
    const phi__config_tools *tools = &maker->whole.tools;
    PHI__CONFIG_SETTINGS_PUT(desc->tool_mode, tools->mode);
    PHI__CONFIG_SETTINGS_PUT(desc->tool_choice, tools->choice);
    PHI__CONFIG_SETTINGS_PUT(desc->tool_timeout_ms, tools->timeout_ms);
    if (tools->mode == PHI_TOOLS_BATCHED)
        desc->tool_batch = tools->batch_size > 0 ? tools->batch_size : 3; /* the book's default */
    return phi__config_settings_execution(&maker->ground, &maker->whole.execution, desc);
}

PHI__FN phi_status phi__config_settings_agent(phi__config_maker *maker, phi__config_job *job) {
    phi__config_ground *ground = &maker->ground;
    const phi__config_agent *a = &job->taken;
    phi_provider *provider = NULL;
    phi_status status = phi__config_settings_whole(maker, &job->desc);
    phi__config_settings_plain(a, &job->desc);
    if (status == PHI_OK) status = phi__config_settings_format(ground, a->format, &job->desc);
    if (status == PHI_OK) status = phi__config_settings_policy(ground, a->policy, &job->desc);
    if (status == PHI_OK) status = phi__config_settings_effects(ground, a->effects, &job->desc);
    if (status == PHI_OK) status = phi__config_failover_use(maker, job);
    if (status == PHI_OK && a->strategy != NULL) {
        status = phi__config_machine_make(ground, a->strategy, &provider);
        if (status == PHI_OK) job->desc.provider = provider;
        if (status == PHI_UNSUPPORTED) status = PHI_OK; /* a problem says so */
    }
    return status;
}

#endif
