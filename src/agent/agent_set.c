/* agent_set.c - changes the settings of an agent: any number at once, checked as those of a new
   agent, all of them or none.

   A desc with the new values is made and checked. What needs memory is copied next: the model,
   which is put back when a later copy fails, then the tools, last. After that nothing can fail, and
   the new desc takes the place of the agent's. */
#include "agent/agent_in.h"
#include "features/features_in.h"

enum {
    PHI__AGENT_SET_ALL = (PHI_SET_TEXTS << 1) - 1,
    PHI__AGENT_SET_LIVE = PHI_SET_MAX_TOKENS | PHI_SET_RETRY | PHI_SET_CACHE | PHI_SET_TOOL_CHOICE |
                          PHI_SET_BUDGET | PHI_SET_DEADLINES | PHI_SET_QUEUES | PHI_SET_REPEAT |
                          PHI_SET_OPTIONS,
    PHI__AGENT_SET_SAID = PHI_SET_OPTIONS | PHI_SET_RAW_TOOLS | PHI_SET_TEXTS
};

static const uint32_t phi__agent_set_speaker = PHI_SET_MODEL | PHI_SET_PROVIDER;

/* The model as it was, with what depends on it. */
typedef struct phi__agent_seat {
    phi__speaker speaker;
    phi_str segment;
    phi_arena strings; /* of both */
    phi_thinking thinking;
} phi__agent_seat;

/* The new values, and their copies. */
typedef struct phi__agent_setting {
    phi__agent *agent;
    uint32_t fields;
    phi_agent_desc desc;
    phi_str focus; /* compaction.focus_message */
    phi_str prompt;
    phi_format format;
    phi_filter *filters;
    phi__failover_made models;
    bool has_models; /* they were made */
    phi_arena said;
    bool has_said; /* the same */
    phi__agent_seat before;
    bool has_before; /* the agent has another model now */
} phi__agent_setting;

static bool phi__set_has(const phi__agent_setting *s, uint32_t fields) {
    return (s->fields & fields) != 0;
}

/* ---- which ---- */

static void phi__set_tools(phi_agent_desc *desc, const phi_agent_desc *to, uint32_t fields) {
    if ((fields & (uint32_t)PHI_SET_TOOL_MODE) != 0) {
        desc->tool_options.mode = to->tool_options.mode;
        desc->tool_options.batch = to->tool_options.batch;
    }
    if ((fields & (uint32_t)PHI_SET_TOOL_TIMEOUT) != 0)
        desc->tool_options.timeout_ms = to->tool_options.timeout_ms;
    if ((fields & (uint32_t)PHI_SET_REPEAT) != 0) {
        desc->tool_options.repeat_warn_after = to->tool_options.repeat_warn_after;
        desc->tool_options.repeat_stop_after = to->tool_options.repeat_stop_after;
    }
    if ((fields & (uint32_t)PHI_SET_RESULTS) != 0) {
        desc->tool_options.max_result_bytes = to->tool_options.max_result_bytes;
        desc->tool_options.max_result_image_bytes = to->tool_options.max_result_image_bytes;
    }
    if ((fields & (uint32_t)PHI_SET_EFFECTS) != 0)
        desc->tool_options.effects = to->tool_options.effects;
    if ((fields & (uint32_t)PHI_SET_DEFER_PERCENT) != 0)
        desc->tool_options.defer_percent = to->tool_options.defer_percent;
}

static void phi__set_said(phi_agent_desc *desc, const phi_agent_desc *to, uint32_t fields) {
    if ((fields & (uint32_t)PHI_SET_OPTIONS) != 0) desc->options = to->options;
    if ((fields & (uint32_t)PHI_SET_RAW_TOOLS) != 0) {
        desc->tool_options.raw_tools = to->tool_options.raw_tools;
        desc->tool_options.raw_tool_count = to->tool_options.raw_tool_count;
    }
    if ((fields & (uint32_t)PHI_SET_TEXTS) != 0) desc->texts = to->texts;
}

/* ---- whether ---- */

/* Tools that the agent has are checked again where their rules have changed. */
static phi_status phi__set_check_tools(const phi__agent_setting *s) {
    const phi_agent_desc *d = &s->desc;
    phi_runtime *rt = s->agent->rt;
    bool approves = (d->hook_points & (uint32_t)PHI_HOOK_BEFORE_TOOL) != 0;
    phi__tool_rules rules = phi__tool_check_rules(rt, d->provider, &d->model, approves);
    if (phi__set_has(s, PHI_SET_TOOLS | PHI_SET_HOOKS))
        return phi__tool_check_all(rt, &rules, d->tools, d->tool_count);
    if (phi__set_has(s, phi__agent_set_speaker))
        return phi__tool_check_names(rt, &rules, d->tools, d->tool_count);
    return PHI_OK;
}

static phi_status phi__set_check(const phi__agent_setting *s) {
    const phi_agent_desc *d = &s->desc;
    phi_runtime *rt = s->agent->rt;
    const char *fault = d->policy != NULL ? phi__policy_fault(d->policy) : NULL;
    phi_status status = PHI_OK;
    if (phi__set_has(s, PHI_SET_PROVIDER) && d->provider != NULL)
        status = phi__provider_check(rt, "provider", d->provider);
    if (status == PHI_OK && phi__set_has(s, phi__agent_set_speaker))
        status = phi__check_model(rt, "", d->provider, &d->model);
    if (status == PHI_OK) status = phi__check_settings(rt, d);
    if (status == PHI_OK && fault != NULL) status = phi__error(rt, PHI_BAD_ARG, "%s", fault);
    if (status == PHI_OK) status = phi__set_check_tools(s);
    if (status == PHI_OK &&
        phi__set_has(s, phi__agent_set_speaker | PHI_SET_TOOLS | PHI_SET_FAILOVER))
        status = phi__check_failover(rt, d->failover, d->provider, d->tools, d->tool_count);
    if (status == PHI_OK && phi__set_has(s, PHI_SET_TOOLS | PHI_SET_FORMAT))
        status = phi__check_format(rt, &d->format, d->tools, d->tool_count);
    return status;
}

/* PHI_OK, or why an agent that runs, or is somebody else's, cannot be changed now. */
static phi_status phi__set_may(phi__agent *agent, uint32_t fields) {
    phi_runtime *rt = agent->rt;
    if (fields == 0 || (fields & ~(uint32_t)PHI__AGENT_SET_ALL) != 0)
        return phi__error(rt, PHI_BAD_ARG, "phi_agent_set: fields is 0x%x: expected PHI_SET_ bits",
                          (unsigned)fields);
    if (!agent->thread->of_agent)
        return phi__error(rt, PHI_MISUSE, "phi_agent_set: an agent of phi_run is for that one run");
    return (fields & ~(uint32_t)PHI__AGENT_SET_LIVE) != 0 ? phi__find_idle(agent, "phi_agent_set")
                                                          : PHI_OK;
}

/* ---- copies ---- */

/* Its model, provider and thinking, and the middle of its loop ids, which names them. False: no
   memory, and the agent is as it was, or phi__set_drop makes it so. */
static bool phi__set_seat(phi__agent_setting *s) {
    phi__agent *agent = s->agent;
    phi__agent_seat *before = &s->before;
    if (!phi__set_has(s, phi__agent_set_speaker) && s->desc.thinking == agent->desc.thinking)
        return true;
    before->speaker = phi__speaker_of(agent);
    before->segment = agent->line.segment;
    before->strings = agent->model_arena;
    before->thinking = agent->desc.thinking;
    s->has_before = true;
    phi_arena_init(&agent->model_arena, &agent->memory, 256);
    agent->desc.thinking = s->desc.thinking;
    return phi__take_model(agent, s->desc.provider, &s->desc.model) &&
           phi__take_segment(agent, agent->line.segment_given ? before->segment.at : NULL);
}

/* The old tools stay if there is no memory. */
static bool phi__set_take_tools(phi__agent_setting *s) {
    phi__agent *agent = s->agent;
    phi_agent_desc *d = &s->desc;
    uint32_t before = agent->desc.tool_options.timeout_ms, timeout = d->tool_options.timeout_ms;
    if (!phi__set_has(s, PHI_SET_TOOLS)) return true;
    agent->desc.tool_options.timeout_ms = timeout;
    bool done = agent->sources != NULL
                    ? agent->rt->features.sources->own(agent, d->tools, d->tool_count) == PHI_OK
                    : phi__toolset_take(&agent->toolset, d->tools, d->tool_count, timeout);
    agent->desc.tool_options.timeout_ms = before;
    return done;
}

static void phi__set_drop(phi__agent_setting *s) {
    phi__agent *agent = s->agent;
    phi__take_disown(agent, &s->focus);
    phi__take_disown(agent, &s->prompt);
    phi__take_off_format(agent, &s->format);
    phi__free(&agent->memory, s->filters, s->desc.input.filter_count * sizeof *s->filters);
    if (s->has_models) phi_arena_free(&s->models.arena);
    if (s->has_said) phi_arena_free(&s->said);
    if (!s->has_before) return;
    phi_arena_free(&agent->model_arena);
    agent->model_arena = s->before.strings;
    agent->desc.thinking = s->before.thinking;
    phi__speaker_set(agent, &s->before.speaker);
    phi__line_set_segment(agent, s->before.segment);
}

static bool phi__set_copy_said(phi__agent_setting *s) {
    phi__agent *agent = s->agent;
    if (!phi__set_has(s, PHI__AGENT_SET_SAID)) return true;
    s->has_said = agent->run == NULL && phi__said_copy(agent, &s->desc, &s->said);
    /* the run's request points to the old copies: they stay until a change between runs */
    return s->has_said ||
           (agent->run != NULL && phi__said_add(&s->desc, &agent->said, agent->desc.texts));
}

static bool phi__set_copy_filters(phi__agent_setting *s) {
    size_t bytes = phi__mul(s->desc.input.filter_count, sizeof *s->filters);
    if (!phi__set_has(s, PHI_SET_FILTERS) || bytes == 0) return true;
    s->filters = (phi_filter *)phi__realloc(&s->agent->memory, NULL, 0, bytes);
    if (s->filters == NULL) return false;
    memcpy(s->filters, s->desc.input.filters, bytes);
    return true;
}

/* False: no memory; phi__set_drop undoes it. */
static bool phi__set_copy(phi__agent_setting *s) {
    phi__agent *agent = s->agent;
    const phi_agent_desc *d = &s->desc;
    if (!phi__set_copy_said(s) || !phi__set_copy_filters(s)) return false;
    if (phi__set_has(s, PHI_SET_COMPACTION) &&
        !phi__take_own(agent, d->compaction.focus_message, &s->focus))
        return false;
    if (phi__set_has(s, PHI_SET_SYSTEM_PROMPT) &&
        !phi__take_own(agent, d->system_prompt, &s->prompt))
        return false;
    if (phi__set_has(s, PHI_SET_FORMAT) && !phi__take_format(agent, &d->format, &s->format))
        return false;
    if (phi__set_has(s, PHI_SET_POLICY) && d->policy != NULL && !phi__take_projected(agent))
        return false;
    if (phi__set_has(s, PHI_SET_FAILOVER))
        s->has_models = phi__failover_make(agent, d->failover, &s->models);
    return (s->has_models || !phi__set_has(s, PHI_SET_FAILOVER)) && phi__set_seat(s) &&
           phi__set_take_tools(s);
}

/* ---- the exchange ---- */

static void phi__set_keep(phi__agent_setting *s) {
    phi__agent *agent = s->agent;
    phi_agent_desc *desc = &agent->desc;
    uint32_t timeout = desc->tool_options.timeout_ms;
    if (phi__set_has(s, PHI_SET_COMPACTION)) {
        phi__take_off_focus(agent);
        s->desc.compaction.focus_message = s->focus.at;
    }
    if (phi__set_has(s, PHI_SET_FILTERS)) {
        phi__take_off_filters(agent);
        s->desc.input.filters = s->filters;
    }
    if (phi__set_has(s, PHI_SET_SYSTEM_PROMPT)) {
        phi__take_disown(agent, &agent->system_prompt);
        agent->system_prompt = s->prompt;
    }
    if (phi__set_has(s, PHI_SET_FORMAT)) {
        phi__take_off_format(agent, &agent->desc.format);
        s->desc.format = s->format;
    }
    if (phi__set_has(s, PHI_SET_POLICY)) (void)phi__take_policy(agent, s->desc.policy, NULL);
    if (s->has_said) {
        phi_arena_free(&agent->said);
        agent->said = s->said;
    }
    if (s->has_models) phi__failover_put(agent, &s->models);
    if (s->has_before) phi_arena_free(&s->before.strings);
    s->desc.compaction.texts = s->desc.texts;
    s->desc.failover = desc->failover;
    s->desc.model = desc->model;
    s->desc.provider = desc->provider;
    s->desc.tools = NULL; /* the agent has these three elsewhere */
    s->desc.tool_count = 0;
    s->desc.system_prompt = NULL;
    s->desc.policy = NULL;
    if (phi__set_has(s, PHI_SET_BUDGET)) agent->budget.limits = s->desc.budget;
    memset(&s->desc.budget, 0, sizeof s->desc.budget);
    *desc = s->desc;
    if (phi__set_has(s, PHI_SET_TOOL_TIMEOUT) && !phi__set_has(s, PHI_SET_TOOLS))
        phi__toolset_retime(&agent->toolset, timeout, desc->tool_options.timeout_ms);
    if (phi__set_has(s, phi__agent_set_speaker | PHI_SET_HOOKS)) phi__sources_recheck(agent);
    phi__feature_agent(agent, PHI__POINT_CHANGED);
    if (phi__set_has(s, PHI_SET_BUDGET)) phi__pause_wake_all(agent->rt);
}

static phi_status phi__set_now(phi__agent *agent, const phi_agent_desc *to, uint32_t fields) {
    phi__agent_setting s = PHI_ZERO;
    s.agent = agent;
    s.fields = fields;
    s.desc = agent->desc;
    s.desc.tools = agent->toolset.tools;
    s.desc.tool_count = agent->toolset.own;
    phi_agent_desc *desc = &s.desc;
    if ((fields & (uint32_t)PHI_SET_MODEL) != 0) desc->model = to->model;
    if ((fields & (uint32_t)PHI_SET_PROVIDER) != 0) desc->provider = to->provider;
    if ((fields & (uint32_t)PHI_SET_SYSTEM_PROMPT) != 0) desc->system_prompt = to->system_prompt;
    if ((fields & (uint32_t)PHI_SET_TOOLS) != 0) {
        desc->tools = to->tools;
        desc->tool_count = to->tool_count;
    }
    if ((fields & (uint32_t)PHI_SET_FORMAT) != 0) desc->format = to->format;
    if ((fields & (uint32_t)PHI_SET_POLICY) != 0) desc->policy = to->policy;
    if ((fields & (uint32_t)PHI_SET_THINKING) != 0) s.desc.thinking = to->thinking;
    if ((fields & (uint32_t)PHI_SET_MAX_TOKENS) != 0) s.desc.max_tokens = to->max_tokens;
    if ((fields & (uint32_t)PHI_SET_RETRY) != 0) s.desc.retry = to->retry;
    if ((fields & (uint32_t)PHI_SET_CACHE) != 0) s.desc.cache = to->cache;
    if ((fields & (uint32_t)PHI_SET_DEADLINES) != 0) s.desc.deadlines = to->deadlines;
    if ((fields & (uint32_t)PHI_SET_TOOL_CHOICE) != 0)
        s.desc.tool_options.choice = to->tool_options.choice;
    if ((fields & (uint32_t)PHI_SET_FAILOVER) != 0) s.desc.failover = to->failover;
    if ((fields & (uint32_t)PHI_SET_COMPACTION) != 0) {
        s.desc.compaction = to->compaction;
        s.desc.compactor = to->compactor;
    }
    if ((fields & (uint32_t)PHI_SET_LIMITS) != 0) s.desc.limits = to->limits;
    if ((fields & (uint32_t)PHI_SET_BUDGET) != 0) s.desc.budget = to->budget;
    if ((fields & (uint32_t)PHI_SET_KEEP) != 0) s.desc.keep = to->keep;
    if ((fields & (uint32_t)PHI_SET_HOOKS) != 0) {
        s.desc.hook_fn = to->hook_fn;
        s.desc.hook_points = to->hook_points;
        s.desc.hook_user_data = to->hook_user_data;
    }
    if ((fields & (uint32_t)PHI_SET_FILTERS) != 0) {
        s.desc.input.filters = to->input.filters;
        s.desc.input.filter_count = to->input.filter_count;
    }
    if ((fields & (uint32_t)PHI_SET_QUEUES) != 0) {
        s.desc.input.steering_mode = to->input.steering_mode;
        s.desc.input.follow_up_mode = to->input.follow_up_mode;
        s.desc.input.queue_limit = to->input.queue_limit;
    }
    phi__set_tools(&s.desc, to, fields);
    phi__set_said(&s.desc, to, fields);
    phi_status status = phi__set_check(&s);
    if (status != PHI_OK) return status;
    phi__make_defaults(&s.desc);
    if (!phi__set_copy(&s)) {
        phi__set_drop(&s);
        return phi__error(agent->rt, PHI_NO_MEMORY, "phi_agent_set: out of memory");
    }
    phi__set_keep(&s);
    return PHI_OK;
}

/* ---- public ---- */

PHI_API phi_status phi_agent_set(phi_agent handle, const phi_agent_desc *to, uint32_t fields) {
    phi__agent *agent = phi__find_agent(handle);
    if (handle.rt == NULL || to == NULL) return PHI_BAD_ARG;
    if (agent == NULL) return PHI_STALE;
    phi_status status = phi__set_may(agent, fields);
    if (status != PHI_OK) return status;
    bool ends_job = (fields & (uint32_t)PHI_SET_COMPACTION) != 0;
    bool moves = (fields & (phi__agent_set_speaker | PHI_SET_FAILOVER)) != 0;
    uint32_t at = phi__failover_leave(agent);
    status = phi__set_now(agent, to, fields);
    if (status != PHI_OK || !moves) phi__failover_back(agent, at);
    if (status == PHI_OK && ends_job) {
        /* The job of the compactor that was replaced. The host may free the agent in `end`: as
           inside a step, it then stays until the end of this. */
        phi_runtime *rt = agent->rt;
        bool inside = rt->in_step;
        rt->in_step = true;
        phi__compaction_forget(agent);
        bool there = agent->slot != NULL;
        if (!inside) phi__end_of_step(rt);
        return there ? PHI_OK : PHI_STALE;
    }
    return status;
}
