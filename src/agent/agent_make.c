/* agent_make.c - makes agents; all defaults of phi_agent_desc are resolved here, except those of
   its model. agent_check.c checks a desc, agent_take.c copies it. */
#include "agent/agent_in.h"
#include "base/id_in.h"
#include "features/ask_model_in.h"
#include "features/failover_in.h"
#include "history/compact_in.h"
#include "agent/profile.h"

enum {
    PHI__AGENT_TURNS = 50,           /* behaviours C 17 */
    PHI__AGENT_TOKENS = 1000000,     /* the same */
    PHI__AGENT_DURATION_MS = 600000, /* the same */
    PHI__AGENT_CONNECT_MS = 15000,
    PHI__AGENT_FIRST_EVENT_MS = 300000, /* a cold local model loads for minutes */
    PHI__AGENT_IDLE_MS = 120000,
    PHI__AGENT_DEFER_PERCENT = 10,
    PHI__AGENT_TOOL_MS = 120000, /* DESIGN part 5; api-sketch.h */
    PHI__AGENT_BATCH = 4,
    PHI__AGENT_RETRIES = 3, /* behaviours C 40, and the three below */
    PHI__AGENT_RETRY_MS = 1000,
    PHI__AGENT_RETRY_FACTOR = 2,
    PHI__AGENT_RETRY_MOST_MS = 30000,
    PHI__AGENT_SERVER_DELAY_MS = 60000, /* DESIGN part 10 */
    PHI__AGENT_DECISION_MS = 300000,
    PHI__AGENT_QUEUE_LIMIT = 64, /* spec, threads and strategies, D */
    PHI__AGENT_REPEAT_WARN = 3,  /* demands, row 19 */
    PHI__AGENT_REPEAT_STOP = 5,  /* the same */
    PHI__AGENT_QUEUE_BYTES = 262144,
    PHI__AGENT_EVENT_BYTES = 16777216,
    PHI__AGENT_RESULT_BYTES = 2097152, /* the largest text of C 27, with line numbers, is whole */
    PHI__AGENT_IMAGE_BYTES = 20971520, /* behaviours C 27 */
    PHI__AGENT_RESPONSE_BYTES = 268435456
};

/* ---- defaults ---- */

static uint32_t phi__agent_make_or_default(uint32_t value, uint32_t fallback) {
    return value != 0 ? value : fallback;
}

PHI__FN phi_limits phi__agent_make_limits_of(const phi_limits *given) {
    phi_limits limits = *given;
    limits.max_turns = phi__agent_make_or_default(limits.max_turns, PHI__AGENT_TURNS);
    limits.max_duration_ms =
        phi__agent_make_or_default(limits.max_duration_ms, PHI__AGENT_DURATION_MS);
    if (limits.max_tokens == 0) limits.max_tokens = PHI__AGENT_TOKENS;
    if (limits.disable) {
        limits.max_turns = limits.max_duration_ms = PHI_UNLIMITED;
        limits.max_tokens = UINT64_MAX;
        limits.max_cost = 0;
        /* A limit that is set later, over the desc as it reads back, counts. */
        limits.disable = false;
    }
    return limits;
}

static void phi__agent_make_limits(phi_agent_desc *desc) {
    phi_deadlines *deadlines = &desc->deadlines;
    desc->limits = phi__agent_make_limits_of(&desc->limits);
    deadlines->connect_ms =
        phi__agent_make_or_default(deadlines->connect_ms, PHI__AGENT_CONNECT_MS);
    deadlines->first_event_ms =
        phi__agent_make_or_default(deadlines->first_event_ms, PHI__AGENT_FIRST_EVENT_MS);
    deadlines->idle_ms = phi__agent_make_or_default(deadlines->idle_ms, PHI__AGENT_IDLE_MS);
    deadlines->total_ms = phi__agent_make_or_default(deadlines->total_ms, PHI_UNLIMITED);
    if (desc->memory.event_queue_bytes == 0)
        desc->memory.event_queue_bytes = PHI__AGENT_QUEUE_BYTES;
    if (desc->memory.max_event_bytes == 0) desc->memory.max_event_bytes = PHI__AGENT_EVENT_BYTES;
    if (desc->memory.max_response_bytes == 0)
        desc->memory.max_response_bytes = PHI__AGENT_RESPONSE_BYTES;
}

static void phi__agent_make_retry(phi_retry *retry) {
    retry->max_retries = phi__agent_make_or_default(retry->max_retries, PHI__AGENT_RETRIES);
    retry->initial_delay_ms =
        phi__agent_make_or_default(retry->initial_delay_ms, PHI__AGENT_RETRY_MS);
    retry->max_delay_ms = phi__agent_make_or_default(retry->max_delay_ms, PHI__AGENT_RETRY_MOST_MS);
    retry->max_server_delay_ms =
        phi__agent_make_or_default(retry->max_server_delay_ms, PHI__AGENT_SERVER_DELAY_MS);
    if (!(retry->backoff_multiplier > 0)) retry->backoff_multiplier = PHI__AGENT_RETRY_FACTOR;
}

static bool phi__agent_make_ids(phi__agent *agent, const phi_agent_desc *desc) {
    char made[PHI__UUID_SIZE];
    phi_str session = phi_str_of(desc->ids.session_id);
    phi__agent_take_random_id(agent, made);
    if (!phi__agent_take_own(agent, desc->ids.agent_id != NULL ? desc->ids.agent_id : made,
                             &agent->agent_id))
        return false;
    phi__agent_take_random_id(agent, made);
    if (desc->ids.session_id == NULL) session = phi_str_of(made);
    return phi__line_join(agent, session);
}

/* ---- profiles ---- */

static bool phi__agent_make_copy_text(phi__agent *agent, const char **text) {
    phi_str copy;
    if (*text == NULL) return true;
    if (!phi__arena_str(&agent->arena, phi_str_of(*text), &copy)) return false;
    *text = copy.at;
    return true;
}

static bool phi__agent_make_copy_profile(phi__agent *agent, const phi_profile *given) {
    phi_profile *profile;
    const char **skills;
    char made[PHI__UUID_SIZE];
    size_t i;
    if (given == NULL) return true;
    profile = (phi_profile *)phi_arena_alloc(&agent->arena, sizeof *profile);
    skills =
        (const char **)phi_arena_alloc(&agent->arena, phi__mul(given->skill_count, sizeof *skills));
    if (profile == NULL || skills == NULL) return false;
    *profile = *given;
    phi__agent_take_random_id(agent, made);
    if (profile->profile_id == NULL) profile->profile_id = made;
    for (i = 0; i < given->skill_count; i++) {
        skills[i] = given->skills[i];
        if (!phi__agent_make_copy_text(agent, &skills[i])) return false;
    }
    profile->skills = skills;
    agent->desc.profile = profile;
    return phi__agent_make_copy_text(agent, &profile->profile_id) &&
           phi__agent_make_copy_text(agent, &profile->name) &&
           phi__agent_make_copy_text(agent, &profile->description) &&
           phi__agent_make_copy_text(agent, &profile->system_prompt) &&
           phi__agent_make_copy_text(agent, &profile->config_id) &&
           phi__agent_make_copy_text(agent, &profile->workspace);
}

PHI__FN phi_agent_desc phi__agent_make_merge(const phi_agent_desc *desc) {
    phi_agent_desc merged = *desc;
    const phi_profile *profile = desc->profile;
    if (profile == NULL) return merged;
    if (merged.system_prompt == NULL) merged.system_prompt = profile->system_prompt;
    if (merged.thinking == PHI_THINKING_OFF) merged.thinking = profile->thinking;
    if (merged.max_tokens == 0) merged.max_tokens = profile->max_tokens;
    if (merged.ids.config_id == NULL) merged.ids.config_id = profile->config_id;
    if (merged.workspace == NULL) merged.workspace = profile->workspace;
    if (!merged.options.has_temperature) {
        merged.options.has_temperature = profile->has_temperature;
        merged.options.temperature = profile->temperature;
    }
    return merged;
}

/* ---- all of it ---- */

/* Clears fields that the agent keeps elsewhere, or needs only while it is made. */
static void phi__agent_make_leave_out(phi_agent_desc *desc) {
    desc->system_prompt = desc->workspace = NULL;
    desc->ids.agent_id = desc->ids.session_id = desc->ids.config_id = desc->thread_id = NULL;
    desc->tools = NULL;
    desc->input.filters = NULL;
    desc->tool_options.sources = NULL;
    desc->tool_count = desc->input.filter_count = desc->tool_options.source_count = 0;
    desc->profile = NULL;
    desc->provider = NULL;
    desc->store = NULL;
    desc->failover = NULL;
    desc->compaction.focus_message = NULL;
    desc->compaction.texts = desc->texts = NULL;
    desc->policy = NULL;
    memset(&desc->token_counter, 0, sizeof desc->token_counter);
    memset(&desc->parent, 0, sizeof desc->parent);
    memset(&desc->budget, 0, sizeof desc->budget);
    memset(&desc->format, 0, sizeof desc->format);
    desc->options.stop = NULL;
    desc->options.stop_count = 0;
    desc->options.service_tier = desc->options.extra = NULL;
    desc->tool_options.raw_tools = NULL;
    desc->tool_options.raw_tool_count = 0;
}

PHI__FN void phi__agent_make_defaults(phi_agent_desc *desc) {
    desc->tool_options.batch =
        phi__agent_make_or_default(desc->tool_options.batch, PHI__AGENT_BATCH);
    desc->tool_options.timeout_ms =
        phi__agent_make_or_default(desc->tool_options.timeout_ms, PHI__AGENT_TOOL_MS);
    desc->tool_options.defer_percent =
        phi__agent_make_or_default(desc->tool_options.defer_percent, PHI__AGENT_DEFER_PERCENT);
    phi__agent_make_retry(&desc->retry);
    desc->deadlines.decision_ms =
        phi__agent_make_or_default(desc->deadlines.decision_ms, PHI__AGENT_DECISION_MS);
    desc->input.queue_limit =
        phi__agent_make_or_default(desc->input.queue_limit, PHI__AGENT_QUEUE_LIMIT);
    desc->tool_options.repeat_warn_after =
        phi__agent_make_or_default(desc->tool_options.repeat_warn_after, PHI__AGENT_REPEAT_WARN);
    desc->tool_options.repeat_stop_after =
        phi__agent_make_or_default(desc->tool_options.repeat_stop_after, PHI__AGENT_REPEAT_STOP);
    desc->tool_options.max_result_bytes =
        phi__agent_make_or_default(desc->tool_options.max_result_bytes, PHI__AGENT_RESULT_BYTES);
    desc->tool_options.max_result_image_bytes = phi__agent_make_or_default(
        desc->tool_options.max_result_image_bytes, PHI__AGENT_IMAGE_BYTES);
    if (desc->input.first_turn_trigger == (phi_trigger)0)
        desc->input.first_turn_trigger = PHI_TRIGGER_USER;
    phi__agent_make_limits(desc);
}

static void phi__agent_make_behaviour(phi__agent *agent, const phi_agent_desc *given) {
    agent->desc = *given;
    phi__agent_make_leave_out(&agent->desc);
    phi__agent_make_defaults(&agent->desc);
    agent->budget.limits = given->budget;
    if (given->ids.config_id != NULL) phi__line_keep_segment(agent);
}

static bool phi__agent_make_take_filters(phi__agent *agent, const phi_agent_desc *desc) {
    size_t bytes = phi__mul(desc->input.filter_count, sizeof *desc->input.filters);
    phi_filter *filters;
    if (desc->input.filter_count == 0) return true;
    filters = (phi_filter *)phi__realloc(&agent->memory, NULL, 0, bytes);
    if (filters == NULL) return false;
    memcpy(filters, desc->input.filters, bytes);
    agent->desc.input.filters = filters;
    agent->desc.input.filter_count = desc->input.filter_count;
    return true;
}

static bool phi__agent_make_take_focus(phi__agent *agent, const phi_agent_desc *desc) {
    phi_str focus;
    if (!phi__agent_take_own(agent, desc->compaction.focus_message, &focus)) return false;
    agent->desc.compaction.focus_message = focus.at;
    return true;
}

static bool phi__agent_make_take_failover(phi__agent *agent, const phi_failover *given) {
    phi__failover_made made;
    if (given == NULL) return true;
    if (!phi__failover_make(agent, given, &made)) return false;
    phi__failover_put(agent, &made);
    return true;
}

static bool phi__agent_make_take_said(phi__agent *agent, const phi_agent_desc *given) {
    const phi__agent *parent = phi__find_agent(given->parent);
    phi_agent_desc copy = *given;
    if (copy.texts == NULL && parent != NULL) copy.texts = parent->desc.texts;
    if (!phi__agent_said_copy(agent, &copy, &agent->said)) return false;
    agent->desc.options = copy.options;
    agent->desc.tool_options.raw_tools = copy.tool_options.raw_tools;
    agent->desc.tool_options.raw_tool_count = copy.tool_options.raw_tool_count;
    agent->desc.texts = agent->desc.compaction.texts = copy.texts;
    return true;
}

static bool phi__agent_make_fill(phi__agent *agent, const phi_agent_desc *given) {
    phi_agent_desc merged = phi__agent_make_merge(given);
    const phi_agent_desc *desc = &merged;
    phi__agent_make_behaviour(agent, desc);
    return phi__agent_take_model(agent, desc->provider, &desc->model) &&
           phi__toolset_take(&agent->toolset, desc->tools, desc->tool_count,
                             agent->desc.tool_options.timeout_ms) &&
           phi__agent_take_format(agent, &desc->format, &agent->desc.format) &&
           phi__agent_make_take_said(agent, desc) &&
           phi__agent_make_take_failover(agent, desc->failover) &&
           phi__agent_make_take_filters(agent, desc) &&
           (desc->tool_options.source_count == 0 ||
            agent->rt->features.sources->make(agent, desc->tool_options.sources,
                                              desc->tool_options.source_count)) &&
           phi__agent_make_copy_profile(agent, given->profile) &&
           phi__agent_make_take_focus(agent, desc) &&
           phi__agent_make_copy_text(agent, &agent->desc.tool_options.result_directory) &&
           phi__agent_take_own(agent, desc->system_prompt, &agent->system_prompt) &&
           phi__agent_take_own(agent, desc->workspace, &agent->workspace) &&
           phi__agent_take_policy(agent, desc->policy, &desc->token_counter) &&
           phi__agent_take_segment(agent, desc->ids.config_id) && phi__agent_make_ids(agent, desc);
}

/* ---- making one ---- */

static phi__agent *phi__agent_make_build(phi_runtime *rt, const phi_agent_desc *desc,
                                         phi_thread *lent) {
    phi__agent *agent =
        (phi__agent *)phi__alloc(&rt->memory, sizeof *agent + rt->features.agent_bytes);
    if (agent == NULL) return NULL;
    agent->rt = rt;
    phi_memory_init(&agent->memory, &rt->memory.allocator, desc->memory.limit_bytes);
    agent->memory.parent = &rt->memory;
    agent->desc.memory.limit_bytes = desc->memory.limit_bytes;
    agent->desc.memory.at_limit = desc->memory.at_limit;
    phi_arena_init(&agent->arena, &agent->memory, 512);
    phi__toolset_init(&agent->toolset, &agent->memory, &rt->features);
    agent->tools = &agent->toolset;
    phi_arena_init(&agent->model_arena, &agent->memory, 256);
    phi_arena_init(&agent->said, &agent->memory, 128);
    phi__thread_init(&agent->own, &agent->memory, rt->io);
    phi__segments_limit(&agent->own.log, agent->desc.memory.limit_bytes);
    phi__thread_belong(&agent->own, rt, &rt->grown, NULL);
    agent->thread = lent != NULL ? lent : &agent->own;
    if (phi__at_limit_name(agent) && phi__agent_make_fill(agent, desc))
        agent->slot = phi__slots_take(&rt->agents, PHI__AGENT_IDLE, agent);
    if (agent->slot == NULL) {
        phi__agent_end_destroy(agent);
        return NULL;
    }
    agent->handle.rt = rt;
    agent->handle.index = agent->slot->index;
    agent->handle.gen = phi__slots_gen_of(PHI__LOAD(&agent->slot->word));
    phi__agent_end_adopt(phi__find_agent(desc->parent), agent);
    return agent;
}

PHI__FN phi__agent *phi__agent_make(phi_runtime *rt, const phi_agent_desc *desc, phi_thread *lent) {
    phi__agent *agent;
    if (rt->closing) {
        (void)phi__error(rt, PHI_MISUSE, "phi_agent_new: the runtime is closing");
        return NULL;
    }
    if (desc == NULL) {
        (void)phi__error(rt, PHI_BAD_ARG, "phi_agent_new: desc is NULL");
        return NULL;
    }
    if (lent != NULL && desc->store != NULL) {
        (void)phi__error(rt, PHI_MISUSE, "phi_run: agent.store: attach the thread instead");
        return NULL;
    }
    if (phi__agent_check(rt, desc) != PHI_OK) return NULL;
    agent = phi__agent_make_build(rt, desc, lent);
    if (agent == NULL) (void)phi__error(rt, PHI_NO_MEMORY, "phi_agent_new: out of memory");
    if (agent != NULL && phi__agent_store_open_thread(agent, desc) != PHI_OK) {
        phi_agent_free(agent->handle);
        return NULL;
    }
    if (agent != NULL && agent->sources != NULL &&
        rt->features.sources->refresh(agent, true) != PHI_OK) {
        phi_agent_free(agent->handle);
        (void)phi__error(rt, PHI_NO_MEMORY, "phi_agent_new: out of memory");
        return NULL;
    }
    return agent;
}

/* ---- public ---- */

PHI_API phi_agent phi_agent_new(phi_runtime *rt, const phi_agent_desc *desc) {
    phi_agent none;
    phi__agent *agent = rt != NULL ? phi__agent_make(rt, desc, NULL) : NULL;
    memset(&none, 0, sizeof none);
    return agent != NULL ? agent->handle : none;
}

static const char *phi__agent_make_text_or_null(phi_str s) { return s.len > 0 ? s.at : NULL; }

/* Tokens of the prompt stay 0 where they are not given, since their estimate changes. */
static phi_compaction_config phi__agent_make_compaction(const phi__agent *agent,
                                                        const phi_model *model) {
    phi_compaction_config given = agent->desc.compaction, c;
    if (given.max_context_tokens == 0) given.max_context_tokens = model->context_window;
    c = phi__compact_config(&given);
    c.system_prompt_tokens = given.system_prompt_tokens;
    return c;
}

PHI_API phi_status phi_agent_get_desc(phi_agent handle, phi_agent_desc *out) {
    const phi__agent *agent = phi__find_agent(handle);
    if (handle.rt == NULL || out == NULL) return PHI_BAD_ARG;
    if (agent == NULL) return PHI_STALE;
    *out = agent->desc;
    if (out->failover != NULL) phi__failover_own(agent, out);
    phi__ask_model_own(agent, out);
    out->profile = NULL;
    out->system_prompt = phi__agent_make_text_or_null(agent->system_prompt);
    out->tools = agent->toolset.tools;
    out->tool_count = agent->toolset.own;
    out->compaction = phi__agent_make_compaction(agent, &out->model);
    if (agent->projected != NULL) {
        out->policy = agent->projected->has_policy ? &agent->projected->policy : NULL;
        out->token_counter = agent->projected->counter;
    }
    out->budget = agent->budget.limits;
    out->ids.agent_id = agent->agent_id.at;
    out->ids.session_id = agent->line.session->id.at;
    out->ids.config_id = agent->line.segment.at;
    out->workspace = phi__agent_make_text_or_null(agent->workspace);
    if (agent->tree.parent != NULL) out->parent = agent->tree.parent->handle;
    out->store = agent->has_store ? &agent->store : NULL;
    out->thread_id = agent->own.journal != NULL ? agent->own.journal->id : NULL;
    return PHI_OK;
}

PHI__FN const phi_profile *phi__agent_make_profile(phi_agent handle) {
    const phi__agent *agent = phi__find_agent(handle);
    return agent != NULL ? agent->desc.profile : NULL;
}
