/* agent_make.c - makes agents; all defaults of phi_agent_desc are resolved here, except those of
   its model. agent_make.c checks a desc, agent_make.c copies it. */
#include "agent/agent_in.h"
#include "features/features_in.h"

#include <stdio.h>

/* ---- settings copied into an agent's memory ---- */

/* ---- the model ---- */

/* ---- format and policy ---- */

/* ---- what a host says in requests: options, an extra, raw tools, texts ---- */

enum { PHI__AGENT_SAID_WORDS = 240 };

/* ---- checks ---- */

PHI__FN phi_status phi__said_check_extra(phi_runtime *rt, const char *what, const phi_provider *own,
                                         const phi_model *model, const char *extra) {
    char words[PHI__AGENT_SAID_WORDS];
    const phi__codec *codec = NULL;
    if (extra == NULL) return PHI_OK;
    if (own == NULL) own = phi__provider_find(rt, phi_str_of(model->protocol));
    if (own == NULL) codec = phi__codec_of(rt->codecs, model);
    phi_status status =
        phi__extra_check(codec, &rt->memory, phi_str_of(extra), words, sizeof words);
    if (status == PHI_BAD_ARG) return phi__error(rt, status, "%s%s", what, words);
    return status == PHI_OK ? PHI_OK : phi__error(rt, status, "%s: out of memory", what);
}

static phi_status phi__said_check_raws(phi_runtime *rt, const phi_agent_desc *desc) {
    char what[48];
    phi_status status = PHI_OK;
    if (desc->tool_options.raw_tool_count > 0 && desc->tool_options.raw_tools == NULL)
        return phi__error(rt, PHI_BAD_ARG,
                          "tool_options.raw_tools is missing, raw_tool_count is %u",
                          (unsigned)desc->tool_options.raw_tool_count);
    for (size_t i = 0; status == PHI_OK && i < desc->tool_options.raw_tool_count; i++) {
        const phi_raw_tool *raw = &desc->tool_options.raw_tools[i];
        if (raw->protocol == NULL || raw->protocol[0] == '\0')
            return phi__error(rt, PHI_BAD_ARG, "tool_options.raw_tools[%u].protocol is missing",
                              (unsigned)i);
        (void)snprintf(what, sizeof what, "tool_options.raw_tools[%u].json", (unsigned)i);
        status = phi__tool_check_raw(rt, what, raw->json);
    }
    return status;
}

static phi_status phi__said_check(phi_runtime *rt, const phi_agent_desc *desc) {
    char words[PHI__AGENT_SAID_WORDS];
    const char *fault = phi__takes_fault(&desc->options);
    if (fault == NULL) fault = phi__texts_check(desc->texts, words, sizeof words);
    if (fault != NULL) return phi__error(rt, PHI_BAD_ARG, "%s", fault);
    phi_status status = phi__said_check_extra(rt, "options.extra", desc->provider, &desc->model,
                                              desc->options.extra);
    return status == PHI_OK ? phi__said_check_raws(rt, desc) : status;
}

/* ---- copies ---- */

static bool phi__said_text(phi_arena *arena, const char **text) {
    phi_str copy;
    if (*text == NULL) return true;
    if (!phi__arena_str(arena, phi_str_of(*text), &copy)) return false;
    *text = copy.at;
    return true;
}

static bool phi__said_raws(phi_arena *arena, phi_agent_desc *desc) {
    size_t n = desc->tool_options.raw_tool_count;
    if (n == 0) {
        desc->tool_options.raw_tools = NULL;
        return true;
    }
    phi_raw_tool *raws = (phi_raw_tool *)phi_arena_alloc(arena, phi__mul(n, sizeof *raws));
    if (raws == NULL) return false;
    for (size_t i = 0; i < n; i++) {
        raws[i] = desc->tool_options.raw_tools[i];
        if (!phi__said_text(arena, &raws[i].protocol) || !phi__said_text(arena, &raws[i].json))
            return false;
    }
    desc->tool_options.raw_tools = raws;
    return true;
}

PHI__FN bool phi__said_add(phi_agent_desc *desc, phi_arena *arena, const phi_texts *there) {
    phi_arena_mark mark = phi_arena_save(arena);
    phi_request_options options;
    const phi_texts *texts = desc->texts;
    if (texts != NULL && texts != there) texts = phi__texts_copy(texts, arena);
    if ((desc->texts == NULL || texts != NULL) &&
        phi__takes_copy(arena, &desc->options, &options) && phi__said_raws(arena, desc)) {
        desc->options = options;
        desc->texts = texts;
        return true;
    }
    phi_arena_reset(arena, mark);
    return false;
}

PHI__FN bool phi__said_copy(phi__agent *agent, phi_agent_desc *desc, phi_arena *arena) {
    phi_arena_init(arena, &agent->memory, 128);
    if (phi__said_add(desc, arena, NULL)) return true;
    phi_arena_free(arena);
    return false;
}

/* ---- checks a phi_agent_desc ---- */

/* A refusal names the field and changes nothing. */

/* ---- the model ---- */

/* True if it is "http" or "https", the schemes of the transport, with a host. */
static bool phi__check_url_fits(phi_str url) {
    phi__url parts;
    for (size_t i = 0; i < url.len; i++)
        if ((unsigned char)url.at[i] <= ' ' || url.at[i] == 0x7f) return false;
    return phi__url_split(url, &parts) && parts.web && parts.host.len > 0;
}

PHI__FN phi_status phi__check_url(phi_runtime *rt, const char *what, const char *base_url) {
    phi_str url = phi_str_of(base_url);
    phi__buf shown;
    if (url.len == 0) return phi__error(rt, PHI_BAD_ARG, "%smodel.base_url is missing", what);
    if (phi__check_url_fits(url)) return PHI_OK;
    phi__buf_init(&shown, &rt->memory);
    phi__secret_put_url(&shown, url);
    (void)phi__error(
        rt, PHI_BAD_ARG, "%smodel.base_url \"%.*s\": expected http:// or https:// and a host", what,
        shown.failed ? 0 : (int)phi__min(shown.len, 200), shown.failed ? "" : shown.at);
    phi__buf_free(&shown);
    return PHI_BAD_ARG;
}

static phi_status phi__check_protocol(phi_runtime *rt, const char *what, const phi_model *model) {
    if (phi__codec_of(rt->codecs, model) != NULL) return PHI_OK;
    return phi__error(rt, PHI_UNSUPPORTED,
                      "%sNo provider registered for protocol: %s (presets bring theirs; or set "
                      "phi_runtime_desc.codecs = PHI_ALL_PROTOCOLS)",
                      what, model->protocol);
}

static phi_status phi__check_headers(phi_runtime *rt, const char *what, const phi_model *model) {
    if (model->header_count > 0 && model->headers == NULL)
        return phi__error(rt, PHI_BAD_ARG, "%smodel.headers is missing, header_count is %u", what,
                          (unsigned)model->header_count);
    for (size_t i = 0; i < model->header_count; i++)
        if (model->headers[i].name == NULL || model->headers[i].value == NULL ||
            strpbrk(model->headers[i].name, "\r\n:") != NULL ||
            strpbrk(model->headers[i].value, "\r\n") != NULL)
            return phi__error(rt, PHI_BAD_ARG, "%smodel.headers[%u]: not a header", what,
                              (unsigned)i);
    return PHI_OK;
}

PHI__FN phi_status phi__check_model(phi_runtime *rt, const char *what, const phi_provider *own,
                                    const phi_model *model) {
    char place[64];
    if (model->protocol == NULL || model->protocol[0] == '\0')
        return phi__error(rt, PHI_BAD_ARG,
                          model->codec == NULL && model->provider != NULL
                              ? "%smodel.protocol is missing: there is no preset \"%.40s\""
                              : "%smodel.protocol is missing: use a phi_model_ preset",
                          what, model->provider);
    if (model->id == NULL || model->id[0] == '\0')
        return phi__error(rt, PHI_BAD_ARG, "%smodel.id is missing", what);
    if (own == NULL) own = phi__provider_find(rt, phi_str_of(model->protocol));
    if (own == NULL && phi__check_protocol(rt, what, model) != PHI_OK) return PHI_UNSUPPORTED;
    if (own == NULL && phi__check_url(rt, what, model->base_url) != PHI_OK) return PHI_BAD_ARG;
    if (phi__check_headers(rt, what, model) != PHI_OK) return PHI_BAD_ARG;
    if (model->api_key != NULL && strpbrk(model->api_key, "\r\n") != NULL)
        return phi__error(rt, PHI_BAD_ARG, "%smodel.api_key holds a line break", what);
    (void)snprintf(place, sizeof place, "%smodel.extra", what);
    return phi__said_check_extra(rt, place, own, model, model->extra);
}

/* ---- what features check ---- */

PHI__FN phi_status phi__check_failover(phi_runtime *rt, const phi_failover *failover,
                                       const phi_provider *own, const phi_tool *tools,
                                       size_t tool_count) {
    return failover == NULL ? PHI_OK
                            : rt->features.failover->check(rt, failover, own, tools, tool_count,
                                                           phi__check_model);
}

PHI__FN phi_status phi__check_format(phi_runtime *rt, const phi_format *format,
                                     const phi_tool *tools, size_t tool_count) {
    if (format == NULL) return PHI_OK;
    if (format->kind == PHI_FORMAT_TEXT)
        return format->schema == NULL
                   ? PHI_OK
                   : phi__error(rt, PHI_BAD_ARG, "format.schema is given, format.kind is text");
    return rt->features.check_format != NULL
               ? rt->features.check_format(rt, format, tools, tool_count)
               : phi__feature_missing(rt, "format", "phi_feature_formats");
}

PHI__FN phi_status phi__check_own(const phi__agent *agent, const phi_tool *tools, size_t count) {
    phi__tool_rules rules =
        phi__tool_check_rules(agent->rt, agent->desc.provider, &agent->desc.model,
                              phi__hooks_wanted(agent, PHI_HOOK_BEFORE_TOOL));
    phi_status status = phi__tool_check_all(agent->rt, &rules, tools, count);
    if (status == PHI_OK)
        status = phi__check_failover(agent->rt, agent->desc.failover, agent->desc.provider, tools,
                                     count);
    return status == PHI_OK ? phi__check_format(agent->rt, &agent->desc.format, tools, count)
                            : status;
}

/* ---- the rest ---- */

static phi_status phi__check_sources(phi_runtime *rt, const phi_agent_desc *desc) {
    for (size_t i = 0; i < desc->tool_options.source_count; i++)
        if (desc->tool_options.sources == NULL || desc->tool_options.sources[i] == NULL ||
            desc->tool_options.sources[i]->version == NULL ||
            desc->tool_options.sources[i]->take == NULL)
            return phi__error(rt, PHI_BAD_ARG,
                              "tool_options.sources[%u]: expected a source with version and take",
                              (unsigned)i);
    return PHI_OK;
}

static phi_status phi__check_control(phi_runtime *rt, const phi_agent_desc *desc) {
    if (desc->hook_points != 0 && desc->hook_fn == NULL)
        return phi__error(rt, PHI_BAD_ARG, "hook_fn is missing, hook_points is 0x%x",
                          (unsigned)desc->hook_points);
    if (desc->hook_fn != NULL && desc->hook_points == 0)
        return phi__error(rt, PHI_BAD_ARG, "hook_points is 0, hook_fn would never be called");
    if (desc->input.filter_count > 0 && desc->input.filters == NULL)
        return phi__error(rt, PHI_BAD_ARG, "input.filters is missing, filter_count is %u",
                          (unsigned)desc->input.filter_count);
    for (size_t i = 0; i < desc->input.filter_count; i++)
        if (desc->input.filters[i].fn == NULL)
            return phi__error(rt, PHI_BAD_ARG, "input.filters[%u].fn is missing", (unsigned)i);
    return PHI_OK;
}

static phi_status phi__check_around(phi_runtime *rt, const phi_agent_desc *desc) {
    if (desc->policy != NULL && phi__policy_fault(desc->policy) != NULL)
        return phi__error(rt, PHI_BAD_ARG, "%s", phi__policy_fault(desc->policy));
    if (phi__check_sources(rt, desc) != PHI_OK) return PHI_BAD_ARG;
    if (desc->parent.rt != NULL && desc->parent.rt != rt)
        return phi__error(rt, PHI_BAD_ARG, "parent is of another runtime");
    if (desc->parent.rt != NULL && phi__find_agent(desc->parent) == NULL)
        return phi__error(rt, PHI_STALE, "parent is gone");
    if (desc->profile != NULL && desc->profile->skill_count > 0 && desc->profile->skills == NULL)
        return phi__error(rt, PHI_BAD_ARG, "profile.skills is missing, skill_count is %u",
                          (unsigned)desc->profile->skill_count);
    return PHI_OK;
}

static phi_status phi__check_compaction(phi_runtime *rt, const phi_agent_desc *desc) {
    const phi_compaction_config *c = &desc->compaction;
    if (desc->compactor.start != NULL &&
        (desc->compactor.poll == NULL || desc->compactor.end == NULL))
        return phi__error(rt, PHI_BAD_ARG, "compactor.%s is missing",
                          desc->compactor.poll == NULL ? "poll" : "end");
    if ((unsigned)c->scope > (unsigned)PHI_COMPACTION_TOKENS)
        return phi__error(rt, PHI_BAD_ARG, "compaction.scope is %u: expected runs or tokens",
                          (unsigned)c->scope);
    if (!(c->compact_at_pct >= 0.0 && c->compact_at_pct <= 1.0))
        return phi__error(rt, PHI_BAD_ARG, "compaction.compact_at_pct is %g: expected 0 to 1",
                          c->compact_at_pct);
    if (!(c->budget_threshold_pct >= 0.0 && c->budget_threshold_pct <= 1.0))
        return phi__error(rt, PHI_BAD_ARG, "compaction.budget_threshold_pct is %g: expected 0 to 1",
                          c->budget_threshold_pct);
    return PHI_OK;
}

static phi_status phi__check_effects(phi_runtime *rt, const phi_effect_policy *policy) {
    if ((unsigned)policy->mode > (unsigned)PHI_EFFECTS_ALLOW_LIST)
        return phi__error(rt, PHI_BAD_ARG, "tool_options.effects.mode is none of its values");
    return policy->max_state_bytes <= (uint32_t)PHI__TOOL_STATE_MOST
               ? PHI_OK
               : phi__error(rt, PHI_BAD_ARG,
                            "tool_options.effects.max_state_bytes is %u: expected at most 1048576",
                            (unsigned)policy->max_state_bytes);
}

PHI__FN phi_status phi__check_settings(phi_runtime *rt, const phi_agent_desc *desc) {
    phi_status status = PHI_OK;
    if (desc->failover != NULL)
        status =
            phi__feature_need(rt, PHI__FEATURE_AT_FAILOVER, "failover", "phi_feature_failover");
    if (status == PHI_OK && desc->options.capture_requests)
        status = phi__feature_need(rt, PHI__FEATURE_AT_CAPTURE, "options.capture_requests",
                                   "phi_feature_capture");
    if (status == PHI_OK && desc->tool_options.source_count > 0 && rt->features.sources == NULL)
        status = phi__feature_missing(rt, "tool_options.sources", "phi_feature_tool_sources");
    if (status == PHI_OK && desc->policy != NULL && desc->policy->summaries == PHI_SUMMARIES_WRITE)
        status = phi__feature_need(rt, PHI__FEATURE_AT_SUMMARIES, "policy.summaries",
                                   "phi_feature_summaries");

    if (status != PHI_OK) return status;
    if (desc->options.has_temperature &&
        !(desc->options.temperature >= 0.0 && desc->options.temperature <= 100.0))
        return phi__error(rt, PHI_BAD_ARG, "options.temperature is %g: expected 0 or more",
                          desc->options.temperature);
    if ((unsigned)desc->thinking > (unsigned)PHI_THINKING_MAX ||
        (unsigned)desc->tool_options.choice > (unsigned)PHI_TOOL_CHOICE_REQUIRED ||
        (unsigned)desc->tool_options.mode > (unsigned)PHI_TOOLS_BATCHED ||
        (unsigned)desc->input.steering_mode > (unsigned)PHI_QUEUE_ALL ||
        (unsigned)desc->input.follow_up_mode > (unsigned)PHI_QUEUE_ALL ||
        (unsigned)desc->input.first_turn_trigger > (unsigned)PHI_TRIGGER_BRANCH ||
        (unsigned)desc->keep > (unsigned)PHI_KEEP_NONE ||
        (unsigned)desc->memory.at_limit > (unsigned)PHI_AT_MEMORY_LIMIT_STOP)
        return phi__error(rt, PHI_BAD_ARG,
                          "thinking, tool_options.choice or mode, input.steering_mode, "
                          "follow_up_mode or first_turn_trigger, keep or memory.at_limit is none "
                          "of its values");
    status = phi__check_control(rt, desc);
    if (status == PHI_OK) status = phi__check_effects(rt, &desc->tool_options.effects);
    if (status == PHI_OK) status = phi__check_compaction(rt, desc);
    return status == PHI_OK ? phi__said_check(rt, desc) : status;
}

static phi_status phi__agent_check(phi_runtime *rt, const phi_agent_desc *desc) {
    static const char *const names[] = {"ids.agent_id", "ids.session_id", "ids.config_id"};
    const char *ids[PHI__COUNT(names)];
    ids[0] = desc->ids.agent_id;
    ids[1] = desc->ids.session_id;
    ids[2] = desc->ids.config_id;
    for (size_t i = 0; i < PHI__COUNT(names); i++)
        if (!phi__check_id_fits(phi_str_of(ids[i])))
            return phi__error(rt, PHI_BAD_ARG, "%s is not UTF-8", names[i]);
    phi_status status = PHI_OK;
    if (desc->provider != NULL) status = phi__provider_check(rt, "provider", desc->provider);
    if (status == PHI_OK) status = phi__check_model(rt, "", desc->provider, &desc->model);
    if (status == PHI_OK) status = phi__check_settings(rt, desc);
    if (status == PHI_OK) status = phi__check_around(rt, desc);
    if (status == PHI_OK) status = phi__stored_check(rt, desc);
    if (status != PHI_OK) return status;
    phi__tool_rules rules =
        phi__tool_check_rules(rt, desc->provider, &desc->model,
                              (desc->hook_points & (uint32_t)PHI_HOOK_BEFORE_TOOL) != 0);
    status = phi__tool_check_all(rt, &rules, desc->tools, desc->tool_count);
    if (status == PHI_OK)
        status =
            phi__check_failover(rt, desc->failover, desc->provider, desc->tools, desc->tool_count);
    return status == PHI_OK ? phi__check_format(rt, &desc->format, desc->tools, desc->tool_count)
                            : status;
}

/* ---- making agents; all defaults but those of the model are resolved here ---- */

enum {
    PHI__AGENT_TURNS = 50,           /* behaviours C 17 */
    PHI__AGENT_TOKENS = 1000000,     /* the same */
    PHI__AGENT_DURATION_MS = 600000, /* the same */
    PHI__AGENT_CONNECT_MS = 15000,
    PHI__AGENT_FIRST_EVENT_MS = 300000, /* a cold local model loads for minutes */
    PHI__AGENT_IDLE_MS = 120000,
    PHI__AGENT_DEFER_PERCENT = 10,
    PHI__AGENT_TOOL_MS = 120000, /* a tool call */
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

static uint32_t phi__make_or_default(uint32_t value, uint32_t fallback) {
    return value != 0 ? value : fallback;
}

PHI__FN phi_limits phi__make_limits_of(const phi_limits *given) {
    phi_limits limits = *given;
    limits.max_turns = phi__make_or_default(limits.max_turns, PHI__AGENT_TURNS);
    limits.max_duration_ms = phi__make_or_default(limits.max_duration_ms, PHI__AGENT_DURATION_MS);
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

/* ---- profiles ---- */

static bool phi__make_copy_text(phi__agent *agent, const char **text) {
    phi_str copy;
    if (*text == NULL) return true;
    if (!phi__arena_str(&agent->arena, phi_str_of(*text), &copy)) return false;
    *text = copy.at;
    return true;
}

static bool phi__make_copy_profile(phi__agent *agent, const phi_profile *given) {
    char made[PHI__UUID_SIZE];
    if (given == NULL) return true;
    phi_profile *profile = (phi_profile *)phi_arena_alloc(&agent->arena, sizeof *profile);
    const char **skills =
        (const char **)phi_arena_alloc(&agent->arena, phi__mul(given->skill_count, sizeof *skills));
    if (profile == NULL || skills == NULL) return false;
    *profile = *given;
    phi__take_random_id(agent, made);
    if (profile->profile_id == NULL) profile->profile_id = made;
    for (size_t i = 0; i < given->skill_count; i++) {
        skills[i] = given->skills[i];
        if (!phi__make_copy_text(agent, &skills[i])) return false;
    }
    profile->skills = skills;
    agent->desc.profile = profile;
    return phi__make_copy_text(agent, &profile->profile_id) &&
           phi__make_copy_text(agent, &profile->name) &&
           phi__make_copy_text(agent, &profile->description) &&
           phi__make_copy_text(agent, &profile->system_prompt) &&
           phi__make_copy_text(agent, &profile->config_id) &&
           phi__make_copy_text(agent, &profile->workspace);
}

PHI__FN phi_agent_desc phi__make_merge(const phi_agent_desc *desc) {
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

PHI__FN void phi__make_defaults(phi_agent_desc *desc) {
    desc->tool_options.batch = phi__make_or_default(desc->tool_options.batch, PHI__AGENT_BATCH);
    desc->tool_options.timeout_ms =
        phi__make_or_default(desc->tool_options.timeout_ms, PHI__AGENT_TOOL_MS);
    desc->tool_options.defer_percent =
        phi__make_or_default(desc->tool_options.defer_percent, PHI__AGENT_DEFER_PERCENT);
    phi_retry *retry = &desc->retry;
    retry->max_retries = phi__make_or_default(retry->max_retries, PHI__AGENT_RETRIES);
    retry->initial_delay_ms = phi__make_or_default(retry->initial_delay_ms, PHI__AGENT_RETRY_MS);
    retry->max_delay_ms = phi__make_or_default(retry->max_delay_ms, PHI__AGENT_RETRY_MOST_MS);
    retry->max_server_delay_ms =
        phi__make_or_default(retry->max_server_delay_ms, PHI__AGENT_SERVER_DELAY_MS);
    if (!(retry->backoff_multiplier > 0)) retry->backoff_multiplier = PHI__AGENT_RETRY_FACTOR;
    desc->deadlines.decision_ms =
        phi__make_or_default(desc->deadlines.decision_ms, PHI__AGENT_DECISION_MS);
    desc->input.queue_limit = phi__make_or_default(desc->input.queue_limit, PHI__AGENT_QUEUE_LIMIT);
    desc->tool_options.repeat_warn_after =
        phi__make_or_default(desc->tool_options.repeat_warn_after, PHI__AGENT_REPEAT_WARN);
    desc->tool_options.repeat_stop_after =
        phi__make_or_default(desc->tool_options.repeat_stop_after, PHI__AGENT_REPEAT_STOP);
    desc->tool_options.max_result_bytes =
        phi__make_or_default(desc->tool_options.max_result_bytes, PHI__AGENT_RESULT_BYTES);
    desc->tool_options.max_result_image_bytes =
        phi__make_or_default(desc->tool_options.max_result_image_bytes, PHI__AGENT_IMAGE_BYTES);
    if (desc->input.first_turn_trigger == (phi_trigger)0)
        desc->input.first_turn_trigger = PHI_TRIGGER_USER;
    phi_deadlines *deadlines = &desc->deadlines;
    desc->limits = phi__make_limits_of(&desc->limits);
    deadlines->connect_ms = phi__make_or_default(deadlines->connect_ms, PHI__AGENT_CONNECT_MS);
    deadlines->first_event_ms =
        phi__make_or_default(deadlines->first_event_ms, PHI__AGENT_FIRST_EVENT_MS);
    deadlines->idle_ms = phi__make_or_default(deadlines->idle_ms, PHI__AGENT_IDLE_MS);
    deadlines->total_ms = phi__make_or_default(deadlines->total_ms, PHI_UNLIMITED);
    if (desc->memory.event_queue_bytes == 0)
        desc->memory.event_queue_bytes = PHI__AGENT_QUEUE_BYTES;
    if (desc->memory.max_event_bytes == 0) desc->memory.max_event_bytes = PHI__AGENT_EVENT_BYTES;
    if (desc->memory.max_response_bytes == 0)
        desc->memory.max_response_bytes = PHI__AGENT_RESPONSE_BYTES;
}

static bool phi__make_take_filters(phi__agent *agent, const phi_agent_desc *desc) {
    size_t bytes = phi__mul(desc->input.filter_count, sizeof *desc->input.filters);
    if (desc->input.filter_count == 0) return true;
    phi_filter *filters = (phi_filter *)phi__realloc(&agent->memory, NULL, 0, bytes);
    if (filters == NULL) return false;
    memcpy(filters, desc->input.filters, bytes);
    agent->desc.input.filters = filters;
    agent->desc.input.filter_count = desc->input.filter_count;
    return true;
}

static bool phi__make_take_failover(phi__agent *agent, const phi_failover *given) {
    phi__failover_made made;
    if (given == NULL) return true;
    if (!phi__failover_make(agent, given, &made)) return false;
    phi__failover_put(agent, &made);
    return true;
}

static bool phi__make_fill(phi__agent *agent, const phi_agent_desc *given) {
    phi_agent_desc merged = phi__make_merge(given);
    const phi_agent_desc *desc = &merged;
    agent->desc = *desc;
    agent->desc.system_prompt = agent->desc.workspace = NULL;
    agent->desc.ids.agent_id = agent->desc.ids.session_id = agent->desc.ids.config_id =
        agent->desc.thread_id = NULL;
    agent->desc.tools = NULL;
    agent->desc.input.filters = NULL;
    agent->desc.tool_options.sources = NULL;
    agent->desc.tool_count = agent->desc.input.filter_count =
        agent->desc.tool_options.source_count = 0;
    agent->desc.profile = NULL;
    agent->desc.provider = NULL;
    agent->desc.store = NULL;
    agent->desc.failover = NULL;
    agent->desc.compaction.focus_message = NULL;
    agent->desc.compaction.texts = agent->desc.texts = NULL;
    agent->desc.policy = NULL;
    memset(&agent->desc.token_counter, 0, sizeof agent->desc.token_counter);
    memset(&agent->desc.parent, 0, sizeof agent->desc.parent);
    memset(&agent->desc.budget, 0, sizeof agent->desc.budget);
    memset(&agent->desc.format, 0, sizeof agent->desc.format);
    agent->desc.options.stop = NULL;
    agent->desc.options.stop_count = 0;
    agent->desc.options.service_tier = agent->desc.options.extra = NULL;
    agent->desc.tool_options.raw_tools = NULL;
    agent->desc.tool_options.raw_tool_count = 0;
    phi__make_defaults(&agent->desc);
    agent->budget.limits = desc->budget;
    if (desc->ids.config_id != NULL) phi__line_keep_segment(agent);
    if (!phi__take_model(agent, desc->provider, &desc->model) ||
        !phi__toolset_take(&agent->toolset, desc->tools, desc->tool_count,
                           agent->desc.tool_options.timeout_ms) ||
        !phi__take_format(agent, &desc->format, &agent->desc.format))
        return false;
    const phi__agent *parent = phi__find_agent(desc->parent);
    phi_agent_desc copy = *desc;
    if (copy.texts == NULL && parent != NULL) copy.texts = parent->desc.texts;
    if (!phi__said_copy(agent, &copy, &agent->said)) return false;
    agent->desc.options = copy.options;
    agent->desc.tool_options.raw_tools = copy.tool_options.raw_tools;
    agent->desc.tool_options.raw_tool_count = copy.tool_options.raw_tool_count;
    agent->desc.texts = agent->desc.compaction.texts = copy.texts;
    if (!phi__make_take_failover(agent, desc->failover) || !phi__make_take_filters(agent, desc) ||
        (desc->tool_options.source_count != 0 &&
         !agent->rt->features.sources->make(agent, desc->tool_options.sources,
                                            desc->tool_options.source_count)) ||
        !phi__make_copy_profile(agent, given->profile))
        return false;
    phi_str focus;
    if (!phi__take_own(agent, desc->compaction.focus_message, &focus)) return false;
    agent->desc.compaction.focus_message = focus.at;
    if (!phi__make_copy_text(agent, &agent->desc.tool_options.result_directory) ||
        !phi__take_own(agent, desc->system_prompt, &agent->system_prompt) ||
        !phi__take_own(agent, desc->workspace, &agent->workspace) ||
        !phi__take_policy(agent, desc->policy, &desc->token_counter) ||
        !phi__take_segment(agent, desc->ids.config_id))
        return false;
    char made[PHI__UUID_SIZE];
    phi_str session = phi_str_of(desc->ids.session_id);
    phi__take_random_id(agent, made);
    if (!phi__take_own(agent, desc->ids.agent_id != NULL ? desc->ids.agent_id : made,
                       &agent->agent_id))
        return false;
    phi__take_random_id(agent, made);
    if (desc->ids.session_id == NULL) session = phi_str_of(made);
    return phi__line_join(agent, session);
}

/* ---- making one ---- */

static phi__agent *phi__make_build(phi_runtime *rt, const phi_agent_desc *desc, phi_thread *lent) {
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
    if (phi__at_limit_name(agent) && phi__make_fill(agent, desc))
        agent->slot = phi__slots_take(&rt->agents, PHI__AGENT_IDLE, agent);
    if (agent->slot == NULL) {
        phi__end_destroy(agent);
        return NULL;
    }
    agent->handle.rt = rt;
    agent->handle.index = agent->slot->index;
    agent->handle.gen = phi__slots_gen_of(PHI__LOAD(&agent->slot->word));
    phi__end_adopt(phi__find_agent(desc->parent), agent);
    return agent;
}

PHI__FN phi__agent *phi__agent_make(phi_runtime *rt, const phi_agent_desc *desc, phi_thread *lent) {
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
    phi__agent *agent = phi__make_build(rt, desc, lent);
    if (agent == NULL) (void)phi__error(rt, PHI_NO_MEMORY, "phi_agent_new: out of memory");
    if (agent != NULL && phi__stored_open_thread(agent, desc) != PHI_OK) {
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
    phi__agent *agent = rt != NULL ? phi__agent_make(rt, desc, NULL) : NULL;
    phi_agent none = PHI_ZERO;
    return agent != NULL ? agent->handle : none;
}

static const char *phi__make_text_or_null(phi_str s) { return s.len > 0 ? s.at : NULL; }

PHI_API phi_status phi_agent_get_desc(phi_agent handle, phi_agent_desc *out) {
    const phi__agent *agent = phi__find_agent(handle);
    if (handle.rt == NULL || out == NULL) return PHI_BAD_ARG;
    if (agent == NULL) return PHI_STALE;
    *out = agent->desc;
    if (out->failover != NULL) phi__failover_own(agent, out);
    phi__ask_model_own(agent, out);
    out->profile = NULL;
    out->system_prompt = phi__make_text_or_null(agent->system_prompt);
    out->tools = agent->toolset.tools;
    out->tool_count = agent->toolset.own;
    /* Tokens of the prompt stay 0 where they are not given, since their estimate changes. */
    const phi_model *model = &out->model;
    phi_compaction_config given = agent->desc.compaction;
    if (given.max_context_tokens == 0) given.max_context_tokens = model->context_window;
    phi_compaction_config c = phi__compact_config(&given);
    c.system_prompt_tokens = given.system_prompt_tokens;
    out->compaction = c;
    if (agent->projected != NULL) {
        out->policy = agent->projected->has_policy ? &agent->projected->policy : NULL;
        out->token_counter = agent->projected->counter;
    }
    out->budget = agent->budget.limits;
    out->ids.agent_id = agent->agent_id.at;
    out->ids.session_id = agent->line.session->id.at;
    out->ids.config_id = agent->line.segment.at;
    out->workspace = phi__make_text_or_null(agent->workspace);
    if (agent->tree.parent != NULL) out->parent = agent->tree.parent->handle;
    out->store = agent->has_store ? &agent->store : NULL;
    out->thread_id = agent->own.journal != NULL ? agent->own.journal->id : NULL;
    return PHI_OK;
}

PHI__FN const phi_profile *phi__make_profile(phi_agent handle) {
    const phi__agent *agent = phi__find_agent(handle);
    return agent != NULL ? agent->desc.profile : NULL;
}
