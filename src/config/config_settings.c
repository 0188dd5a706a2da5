/* config_settings.c - limits, retries, caching, compaction and all the plain settings of an
   agent. */
#include "config/config_agents_in.h"

static phi_status phi__config_settings_retry(phi__config_ground *ground, const phi_json *node,
                                             phi_retry *out) {
    phi__config_retry taken;
    if (node == NULL) return PHI_OK;
    memset(&taken, 0, sizeof taken);
    taken.retry = *out;
    if (!phi__config_take(ground->arena, node, phi__config_tables_retry(), &taken))
        return PHI_NO_MEMORY;
    *out = taken.retry;
    if (phi__config_fields_has(phi__config_tables_retry(), &taken, "max_retries"))
        out->disable = taken.retry.max_retries == 0;
    return PHI_OK;
}

static phi_status phi__config_settings_cache(phi__config_ground *ground, const phi_json *node,
                                             phi_cache *out) {
    const phi__config_table *table = phi__config_tables_cache();
    phi__config_cache taken;
    if (node == NULL) return PHI_OK;
    memset(&taken, 0, sizeof taken);
    taken.cache = *out;
    if (!phi__config_take(ground->arena, node, table, &taken)) return PHI_NO_MEMORY;
    *out = taken.cache;
    if (!phi__config_fields_has(table, &taken, "enabled")) return PHI_OK;
    if (!taken.enabled)
        out->mode = PHI_CACHE_DISABLED;
    else if (!phi__config_fields_has(table, &taken, "strategy") && out->mode == PHI_CACHE_DISABLED)
        out->mode = PHI_CACHE_AUTO;
    return PHI_OK;
}

static phi_status phi__config_settings_execution(phi__config_maker *maker, phi_agent_desc *desc) {
    static const char *const limits[] = {"max_turns", "max_total_tokens", "max_duration_secs",
                                         "max_cost"};
    phi__config_ground *ground = &maker->ground;
    phi__config_execution e;
    phi__config_budget budget;
    phi__config_deadlines deadlines;
    phi_status status;
    size_t i;
    memset(&e, 0, sizeof e);
    memset(&budget, 0, sizeof budget);
    memset(&deadlines, 0, sizeof deadlines);
    e.limits = desc->limits;
    budget.budget = desc->budget;
    deadlines.deadlines = desc->deadlines;
    if (!phi__config_take(ground->arena, maker->whole.top.execution, phi__config_tables_execution(),
                          &e) ||
        !phi__config_take(ground->arena, e.budget, phi__config_tables_budget(), &budget) ||
        !phi__config_take(ground->arena, e.deadlines, phi__config_tables_deadlines(), &deadlines))
        return PHI_NO_MEMORY;
    for (i = 0; i < PHI__COUNT(limits); i++) /* the host's switch for all yields to one limit */
        if (phi__config_fields_has(phi__config_tables_execution(), &e, limits[i]))
            e.limits.disable = false;
    desc->limits = e.limits;
    desc->budget = budget.budget;
    desc->deadlines = deadlines.deadlines;
    status = phi__config_settings_retry(ground, e.retry, &desc->retry);
    return status == PHI_OK ? phi__config_settings_cache(ground, e.cache, &desc->cache) : status;
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
    taken.kind = desc->format.kind;
    taken.name = desc->format.name;
    taken.strict = desc->format.strict;
    if (!phi__config_take(ground->arena, node, phi__config_tables_format(), &taken))
        return PHI_NO_MEMORY;
    if (phi_json_is(taken.schema, PHI_JSON_STRING)) {
        phi_status status =
            phi__config_prompt_make(ground, taken.schema, ground->directory, &schema);
        if (status != PHI_OK) return status;
        status = phi__config_settings_schema(ground, taken.schema, schema);
        if (status != PHI_OK) return status;
    } else if (taken.schema != NULL) {
        schema = phi__config_said_text(ground->arena, taken.schema);
        if (schema == NULL) return PHI_NO_MEMORY;
    }
    desc->format.kind = taken.kind;
    if (schema != NULL) desc->format.schema = schema;
    desc->format.name = taken.name;
    desc->format.strict = taken.strict;
    return PHI_OK;
}

static phi_status phi__config_settings_policy(phi__config_ground *ground, const phi_json *node,
                                              phi_agent_desc *desc) {
    phi__config_policy *taken;
    if (node == NULL) return PHI_OK;
    taken = (phi__config_policy *)phi__arena_zero(ground->arena, sizeof *taken);
    if (taken == NULL) return PHI_NO_MEMORY;
    if (desc->policy != NULL) taken->policy = *desc->policy;
    if (!phi__config_take(ground->arena, node, phi__config_tables_policy(), taken))
        return PHI_NO_MEMORY;
    if (taken->include.at != NULL)
        taken->policy.include =
            phi__config_take_bits(&taken->include, phi__config_tables_include());
    if (phi__config_fields_has(phi__config_tables_policy(), taken, "keep_last_turns"))
        taken->policy.keep_no_turns = taken->policy.keep_last_turns == 0;
    if (phi__config_fields_has(phi__config_tables_policy(), taken, "reserve_output_tokens"))
        taken->policy.no_reserve = taken->policy.reserve_output_tokens == 0;
    desc->policy = &taken->policy;
    return PHI_OK;
}

static phi_status phi__config_settings_effects(phi__config_ground *ground, const phi_json *node,
                                               phi_agent_desc *desc) {
    phi__config_effects taken;
    if (node == NULL) return PHI_OK;
    memset(&taken, 0, sizeof taken);
    taken.effects = desc->tool_options.effects;
    if (!phi__config_take(ground->arena, node, phi__config_tables_effects(), &taken))
        return PHI_NO_MEMORY;
    desc->tool_options.effects = taken.effects;
    if (taken.allow.at != NULL)
        desc->tool_options.effects.allow =
            phi__config_take_bits(&taken.allow, phi__config_tables_effect_ops());
    if (taken.deny.at != NULL)
        desc->tool_options.effects.deny =
            phi__config_take_bits(&taken.deny, phi__config_tables_effect_ops());
    return PHI_OK;
}

static void phi__config_settings_plain(const phi__config_agent *a, phi_agent_desc *desc) {
    if (a->agent_id != NULL) desc->ids.agent_id = a->agent_id;
    if (a->session_id != NULL) desc->ids.session_id = a->session_id;
    desc->tool_options.result_directory = a->result_directory;
    desc->keep = a->keep;
    desc->input.steering_mode = a->steering_mode;
    desc->input.follow_up_mode = a->follow_up_mode;
    desc->memory.at_limit = a->at_memory_limit;
    desc->input.queue_limit = a->queue_limit;
    desc->tool_options.repeat_warn_after = a->repeat_warn_after;
    desc->tool_options.repeat_stop_after = a->repeat_stop_after;
    desc->deadlines.decision_ms = a->decision_timeout_ms;
    desc->tool_options.max_result_bytes = a->max_result_bytes;
    desc->tool_options.max_result_image_bytes = a->max_result_image_bytes;
    desc->memory.limit_bytes = phi__config_take_size(a->memory_limit_bytes);
    desc->memory.event_queue_bytes = phi__config_take_size(a->event_queue_bytes);
    desc->memory.max_event_bytes = phi__config_take_size(a->max_event_bytes);
    desc->memory.max_response_bytes = phi__config_take_size(a->max_response_bytes);
    desc->options.capture_requests = a->capture_requests;
    desc->options.disable_facts = a->disable_facts;
}

/* ---- for other modules ---- */

PHI__FN void phi__config_settings_of(const phi_agent_desc *desc, phi__config_agent *a) {
    a->result_directory = desc->tool_options.result_directory;
    a->keep = desc->keep;
    a->steering_mode = desc->input.steering_mode;
    a->follow_up_mode = desc->input.follow_up_mode;
    a->at_memory_limit = desc->memory.at_limit;
    a->queue_limit = desc->input.queue_limit;
    a->repeat_warn_after = desc->tool_options.repeat_warn_after;
    a->repeat_stop_after = desc->tool_options.repeat_stop_after;
    a->decision_timeout_ms = desc->deadlines.decision_ms;
    a->max_result_bytes = desc->tool_options.max_result_bytes;
    a->max_result_image_bytes = desc->tool_options.max_result_image_bytes;
    a->memory_limit_bytes = desc->memory.limit_bytes;
    a->event_queue_bytes = desc->memory.event_queue_bytes;
    a->max_event_bytes = desc->memory.max_event_bytes;
    a->max_response_bytes = desc->memory.max_response_bytes;
    a->capture_requests = desc->options.capture_requests;
    a->disable_facts = desc->options.disable_facts;
}

PHI__FN void phi__config_settings_compaction(phi__config_maker *maker, const char *reference,
                                             phi_compaction_config *out) {
    const phi__config_top *top = &maker->whole.top;
    const phi__config_table *table = phi__config_tables_compaction_instance();
    phi_arena *arena = maker->ground.arena;
    phi__config_compaction taken;
    const phi_json *nodes[3] = {phi_json_get(top->context, "compaction"), top->compaction, NULL};
    size_t i;
    if (reference != NULL)
        nodes[2] = phi__config_refs_find(maker->ground.config, "compaction", reference);
    memset(&taken, 0, sizeof taken);
    taken.config = *out;
    for (i = 0; i < PHI__COUNT(nodes); i++) /* it has no lists */
        (void)phi__config_take(arena, nodes[i], table, &taken);
    if (phi__config_fields_has(table, &taken, "keep_first_turns"))
        taken.config.keep_no_first = taken.config.keep_first_turns == 0;
    if (phi__config_fields_has(table, &taken, "max_context_tokens")) taken.config.disable = false;
    if (phi__config_fields_has(table, &taken, "enabled")) taken.config.disable = !taken.enabled;
    if (taken.config.max_context_tokens == 0) taken.config.disable = true;
    *out = taken.config;
}

PHI__FN phi_status phi__config_settings_whole(phi__config_maker *maker, phi_agent_desc *desc) {
    const phi__config_tools *tools = &maker->whole.tools;
    const phi__config_table *table = phi__config_tables_tools();
    if (phi__config_fields_has(table, tools, "tool_strategy"))
        desc->tool_options.mode = tools->mode;
    if (phi__config_fields_has(table, tools, "choice")) desc->tool_options.choice = tools->choice;
    if (tools->timeout_ms > 0) desc->tool_options.timeout_ms = tools->timeout_ms;
    if (tools->defer_percent > 0) desc->tool_options.defer_percent = tools->defer_percent;
    if (desc->tool_options.mode == PHI_TOOLS_BATCHED && tools->batch_size > 0)
        desc->tool_options.batch = tools->batch_size;
    if (tools->mode == PHI_TOOLS_BATCHED && desc->tool_options.batch == 0)
        desc->tool_options.batch = 3; /* the book's default */
    return phi__config_settings_execution(maker, desc);
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
    if (status == PHI_OK) status = phi__config_said_take(ground, a, &job->desc);
    if (status == PHI_OK) status = phi__config_failover_use(maker, job);
    if (status == PHI_OK && a->strategy != NULL) {
        status = phi__config_machine_make(ground, a->strategy, &provider);
        if (status == PHI_OK) job->desc.provider = provider;
        if (status == PHI_UNSUPPORTED) status = PHI_OK; /* a problem says so */
    }
    return status;
}
