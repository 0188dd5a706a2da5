/* agent_set.c - changes the settings of an agent: any number at once, checked as those of a new
   agent, all of them or none.

   The agent's desc with the new values is made beside it. What needs memory is copied first; then
   nothing can fail any more, and the one takes the place of the other. */
#include "agent/agent_in.h"
#include "features/compaction_in.h"
#include "features/failover_in.h"

enum {
    PHI__AGENT_SET_ALL = (1 << 23) - 1,
    PHI__AGENT_SET_LIVE = PHI_SET_MAX_TOKENS | PHI_SET_RETRY | PHI_SET_CACHE | PHI_SET_TOOL_CHOICE |
                          PHI_SET_BUDGET | PHI_SET_DEADLINES | PHI_SET_QUEUES | PHI_SET_REPEAT |
                          PHI_SET_OPTIONS,
    PHI__AGENT_SET_SAID = PHI_SET_OPTIONS | PHI_SET_RAW_TOOLS | PHI_SET_TEXTS
};

/* The new values, and their copies in memory of their own. */
typedef struct phi__agent_setting {
    phi__agent *agent;
    uint32_t fields;
    phi_agent_desc desc;
    phi_str focus; /* compaction.focus_message */
    phi_filter *filters;
    phi__failover_made models;
    bool has_models; /* they were made */
    phi_arena said;
    bool has_said; /* the same */
} phi__agent_setting;

/* ---- which ---- */

static void phi__agent_set_calls(phi_agent_desc *desc, const phi_agent_desc *to, uint32_t fields) {
    if ((fields & (uint32_t)PHI_SET_THINKING) != 0) desc->thinking = to->thinking;
    if ((fields & (uint32_t)PHI_SET_MAX_TOKENS) != 0) desc->max_tokens = to->max_tokens;
    if ((fields & (uint32_t)PHI_SET_RETRY) != 0) desc->retry = to->retry;
    if ((fields & (uint32_t)PHI_SET_CACHE) != 0) desc->cache = to->cache;
    if ((fields & (uint32_t)PHI_SET_DEADLINES) != 0) desc->deadlines = to->deadlines;
    if ((fields & (uint32_t)PHI_SET_TOOL_CHOICE) != 0)
        desc->tool_options.choice = to->tool_options.choice;
    if ((fields & (uint32_t)PHI_SET_FAILOVER) != 0) desc->failover = to->failover;
    if ((fields & (uint32_t)PHI_SET_COMPACTION) != 0) {
        desc->compaction = to->compaction;
        desc->compactor = to->compactor;
    }
}

static void phi__agent_set_runs(phi_agent_desc *desc, const phi_agent_desc *to, uint32_t fields) {
    if ((fields & (uint32_t)PHI_SET_LIMITS) != 0) desc->limits = to->limits;
    if ((fields & (uint32_t)PHI_SET_BUDGET) != 0) desc->budget = to->budget;
    if ((fields & (uint32_t)PHI_SET_KEEP) != 0) desc->keep = to->keep;
    if ((fields & (uint32_t)PHI_SET_HOOKS) != 0) {
        desc->hook_fn = to->hook_fn;
        desc->hook_points = to->hook_points;
        desc->hook_user_data = to->hook_user_data;
    }
    if ((fields & (uint32_t)PHI_SET_FILTERS) != 0) {
        desc->input.filters = to->input.filters;
        desc->input.filter_count = to->input.filter_count;
    }
    if ((fields & (uint32_t)PHI_SET_QUEUES) != 0) {
        desc->input.steering_mode = to->input.steering_mode;
        desc->input.follow_up_mode = to->input.follow_up_mode;
        desc->input.queue_limit = to->input.queue_limit;
    }
}

static void phi__agent_set_tools(phi_agent_desc *desc, const phi_agent_desc *to, uint32_t fields) {
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

static void phi__agent_set_said(phi_agent_desc *desc, const phi_agent_desc *to, uint32_t fields) {
    if ((fields & (uint32_t)PHI_SET_OPTIONS) != 0) desc->options = to->options;
    if ((fields & (uint32_t)PHI_SET_RAW_TOOLS) != 0) {
        desc->tool_options.raw_tools = to->tool_options.raw_tools;
        desc->tool_options.raw_tool_count = to->tool_options.raw_tool_count;
    }
    if ((fields & (uint32_t)PHI_SET_TEXTS) != 0) desc->texts = to->texts;
}

/* ---- whether ---- */

static phi_status phi__agent_set_check(const phi__agent_setting *s) {
    const phi__agent *agent = s->agent;
    phi__tool_rules rules;
    phi_status status = phi__agent_check_settings(agent->rt, &s->desc);
    if (status == PHI_OK && (s->fields & (uint32_t)PHI_SET_FAILOVER) != 0)
        status = phi__agent_check_failover(agent->rt, s->desc.failover, agent->desc.provider,
                                           agent->toolset.tools, agent->toolset.own);
    if (status != PHI_OK || (s->fields & (uint32_t)PHI_SET_HOOKS) == 0) return status;
    rules = phi__tool_check_rules(agent->rt, agent->desc.provider, &agent->desc.model,
                                  (s->desc.hook_points & (uint32_t)PHI_HOOK_BEFORE_TOOL) != 0);
    return phi__tool_check_all(agent->rt, &rules, agent->toolset.tools, agent->toolset.own);
}

/* PHI_OK, or why an agent that runs, or is somebody else's, cannot be changed now. */
static phi_status phi__agent_set_may(phi__agent *agent, uint32_t fields) {
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

static void phi__agent_set_drop(phi__agent_setting *s) {
    phi__agent_take_disown(s->agent, &s->focus);
    phi__free(&s->agent->memory, s->filters, s->desc.input.filter_count * sizeof *s->filters);
    if (s->has_models) phi_arena_free(&s->models.arena);
    if (s->has_said) phi_arena_free(&s->said);
}

/* The middle of its loop ids names its thinking; the model is taken anew with it. */
static bool phi__agent_set_think(phi__agent *agent, phi_thinking to) {
    phi_thinking was = agent->desc.thinking;
    agent->desc.thinking = to;
    if (was == to || phi__agent_retake(agent)) return true;
    agent->desc.thinking = was;
    return false;
}

/* False: no memory, and nothing changed. */
static bool phi__agent_set_copy(phi__agent_setting *s) {
    phi__agent *agent = s->agent;
    size_t bytes = phi__mul(s->desc.input.filter_count, sizeof *s->filters);
    if ((s->fields & (uint32_t)PHI__AGENT_SET_SAID) != 0) {
        s->has_said = agent->run == NULL && phi__agent_said_copy(agent, &s->desc, &s->said);
        /* the run's request points to the old copies: they stay until a change between runs */
        if (!s->has_said &&
            (agent->run == NULL || !phi__agent_said_add(&s->desc, &agent->said, agent->desc.texts)))
            return false;
    }
    if ((s->fields & (uint32_t)PHI_SET_COMPACTION) != 0 &&
        !phi__agent_take_own(agent, s->desc.compaction.focus_message, &s->focus))
        return false;
    if ((s->fields & (uint32_t)PHI_SET_FILTERS) != 0 && bytes > 0) {
        s->filters = (phi_filter *)phi__realloc(&agent->memory, NULL, 0, bytes);
        if (s->filters == NULL) return false;
        memcpy(s->filters, s->desc.input.filters, bytes);
    }
    if ((s->fields & (uint32_t)PHI_SET_FAILOVER) == 0)
        return phi__agent_set_think(agent, s->desc.thinking);
    s->has_models = phi__failover_make(agent, s->desc.failover, &s->models);
    return s->has_models && phi__agent_set_think(agent, s->desc.thinking);
}

/* ---- the exchange ---- */

static void phi__agent_set_keep(phi__agent_setting *s) {
    phi__agent *agent = s->agent;
    phi_agent_desc *desc = &agent->desc;
    uint32_t timeout = desc->tool_options.timeout_ms;
    if ((s->fields & (uint32_t)PHI_SET_COMPACTION) != 0) {
        phi__agent_take_off_focus(agent);
        s->desc.compaction.focus_message = s->focus.at;
    }
    if ((s->fields & (uint32_t)PHI_SET_FILTERS) != 0) {
        phi__agent_take_off_filters(agent);
        s->desc.input.filters = s->filters;
    }
    if (s->has_said) {
        phi_arena_free(&agent->said);
        agent->said = s->said;
    }
    if (s->has_models) phi__failover_put(agent, &s->models);
    s->desc.compaction.texts = s->desc.texts;
    s->desc.failover = desc->failover;
    s->desc.model = desc->model; /* the same, but it may be in new memory */
    s->desc.provider = desc->provider;
    if ((s->fields & (uint32_t)PHI_SET_BUDGET) != 0) agent->budget.limits = s->desc.budget;
    memset(&s->desc.budget, 0, sizeof s->desc.budget);
    *desc = s->desc;
    if ((s->fields & (uint32_t)PHI_SET_TOOL_TIMEOUT) != 0)
        phi__toolset_retime(&agent->toolset, timeout, desc->tool_options.timeout_ms);
    if ((s->fields & (uint32_t)PHI_SET_HOOKS) != 0) phi__tool_sources_recheck(agent);
    phi__feature_agent(agent, PHI__POINT_CHANGED);
    if ((s->fields & (uint32_t)PHI_SET_BUDGET) != 0) phi__limits_pause_wake_all(agent->rt);
}

static phi_status phi__agent_set_now(phi__agent *agent, const phi_agent_desc *to, uint32_t fields) {
    phi__agent_setting s;
    phi_status status;
    memset(&s, 0, sizeof s);
    s.agent = agent;
    s.fields = fields;
    s.desc = agent->desc;
    phi__agent_set_calls(&s.desc, to, fields);
    phi__agent_set_runs(&s.desc, to, fields);
    phi__agent_set_tools(&s.desc, to, fields);
    phi__agent_set_said(&s.desc, to, fields);
    status = phi__agent_set_check(&s);
    if (status != PHI_OK) return status;
    phi__agent_make_defaults(&s.desc);
    if (!phi__agent_set_copy(&s)) {
        phi__agent_set_drop(&s);
        return phi__error(agent->rt, PHI_NO_MEMORY, "phi_agent_set: out of memory");
    }
    phi__agent_set_keep(&s);
    return PHI_OK;
}

/* The job of the compactor that was replaced. The host may free the agent in `end`: as inside a
   step, it then stays until the end of this. */
static phi_status phi__agent_set_end_job(phi__agent *agent) {
    phi_runtime *rt = agent->rt;
    bool inside = rt->in_step, there;
    rt->in_step = true;
    phi__compaction_forget(agent);
    there = agent->slot != NULL;
    if (!inside) phi__agent_end_of_step(rt);
    return there ? PHI_OK : PHI_STALE;
}

/* ---- public ---- */

PHI_API phi_status phi_agent_set(phi_agent handle, const phi_agent_desc *to, uint32_t fields) {
    phi__agent *agent = phi__find_agent(handle);
    phi_status status;
    uint32_t at;
    bool ends_job;
    if (handle.rt == NULL || to == NULL) return PHI_BAD_ARG;
    if (agent == NULL) return PHI_STALE;
    status = phi__agent_set_may(agent, fields);
    if (status != PHI_OK) return status;
    ends_job = (fields & (uint32_t)PHI_SET_COMPACTION) != 0;
    at = phi__failover_leave(agent);
    status = phi__agent_set_now(agent, to, fields);
    if (status != PHI_OK || (fields & (uint32_t)PHI_SET_FAILOVER) == 0)
        phi__failover_back(agent, at);
    if (status == PHI_OK && ends_job) return phi__agent_set_end_job(agent);
    return status;
}
