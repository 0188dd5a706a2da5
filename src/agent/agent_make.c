/* agent_make.c - checks a phi_agent_desc, makes an agent from it, and changes agents' settings. All
   defaults of a desc except the model's are resolved here. A refusal names the field and changes
   nothing. */
#include "agent/agent_in.h"
#include "features/features_in.h"

#include <stdio.h>
#include "agent/agent_history.h"
#include "agent/agent_info.h"

/* ---- options, extra, raw tools and texts of a desc ---- */

enum { PHI__AGENT_SAID_WORDS = 240 };

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
        if (!phi__keep_text(arena, &raws[i].protocol) || !phi__keep_text(arena, &raws[i].json))
            return false;
    }
    desc->tool_options.raw_tools = raws;
    return true;
}

/* Copies like phi__said_copy, but into an arena in use: an active request points to older copies in
   it. If desc->texts is `there`, the texts are in the arena already and are not copied. */
static bool phi__said_add(phi_agent_desc *desc, phi_arena *arena, const phi_texts *there) {
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

/* Makes the arena, copies options, extra, raw tools and texts into it, and points the desc to the
   copies. False: there is no memory and no arena, and the desc must not be used. */
static bool phi__said_copy(phi__agent *agent, phi_agent_desc *desc, phi_arena *arena) {
    phi_arena_init(arena, &agent->memory, 128);
    if (phi__said_add(desc, arena, NULL)) return true;
    phi_arena_free(arena);
    return false;
}

/* ---- checks of a desc's model ---- */

/* True if the URL is http or https and has a host, and no spaces or control characters. */
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

/* ---- failover, format and tools ---- */

/* Checks a failover list for an agent with this provider and these tools. A NULL list passes. */
static phi_status phi__check_failover(phi_runtime *rt, const phi_failover *failover,
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
    phi_status status =
        phi__feature_need(rt, PHI__FEATURE_AT_FORMATS, "format", "phi_feature_formats");
    return status == PHI_OK ? rt->features.check_format(rt, format, tools, tool_count) : status;
}

PHI__FN phi_status phi__check_tools(phi_runtime *rt, const phi_agent_desc *desc,
                                    const phi_tool *tools, size_t count) {
    phi_status status = phi__tool_check_all(rt, desc, tools, count);
    if (status == PHI_OK)
        status = phi__check_failover(rt, desc->failover, desc->provider, tools, count);
    return status == PHI_OK ? phi__check_format(rt, &desc->format, tools, count) : status;
}

/* ---- the other fields ---- */

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

/* Checks the fields that phi_agent_set can change later, except failover. */
static phi_status phi__check_settings(phi_runtime *rt, const phi_agent_desc *desc) {
    phi_status status = PHI_OK;
    if (desc->failover != NULL)
        status =
            phi__feature_need(rt, PHI__FEATURE_AT_FAILOVER, "failover", "phi_feature_failover");
    if (status == PHI_OK && desc->options.capture_requests)
        status = phi__feature_need(rt, PHI__FEATURE_AT_CAPTURE, "options.capture_requests",
                                   "phi_feature_capture");
    if (status == PHI_OK && desc->tool_options.source_count > 0)
        status = phi__feature_need(rt, PHI__FEATURE_AT_SOURCES, "tool_options.sources",
                                   "phi_feature_tool_sources");
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
    return status == PHI_OK ? phi__check_tools(rt, desc, desc->tools, desc->tool_count) : status;
}

/* ---- making agents ---- */

enum {
    PHI__AGENT_TURNS = 50,
    PHI__AGENT_TOKENS = 1000000,
    PHI__AGENT_DURATION_MS = 600000,
    PHI__AGENT_RETRY_FACTOR = 2,
    PHI__AGENT_QUEUE_BYTES = 262144,
    PHI__AGENT_EVENT_BYTES = 16777216,
    PHI__AGENT_RESPONSE_BYTES = 268435456
};

/* A uint32_t member of phi_agent_desc (its offset), and the default that 0 means. */
typedef struct phi__default {
    uint16_t at;
    uint32_t value;
} phi__default;

#define PHI__DEFAULT(member, value)                                                                \
    { (uint16_t) offsetof(phi_agent_desc, member), (value) }

static const phi__default phi__make_default[] = {
    PHI__DEFAULT(tool_options.batch, 4),
    PHI__DEFAULT(tool_options.timeout_ms, 120000),
    PHI__DEFAULT(tool_options.defer_percent, 10),
    PHI__DEFAULT(tool_options.repeat_warn_after, 3),
    PHI__DEFAULT(tool_options.repeat_stop_after, 5),
    PHI__DEFAULT(tool_options.max_result_bytes, 2097152),
    PHI__DEFAULT(tool_options.max_result_image_bytes, 20971520),
    PHI__DEFAULT(retry.max_retries, 3),
    PHI__DEFAULT(retry.initial_delay_ms, 1000),
    PHI__DEFAULT(retry.max_delay_ms, 30000),
    PHI__DEFAULT(retry.max_server_delay_ms, 60000),
    PHI__DEFAULT(deadlines.connect_ms, 15000),
    PHI__DEFAULT(deadlines.first_event_ms, 300000), /* a local model can take minutes to load */
    PHI__DEFAULT(deadlines.idle_ms, 120000),
    PHI__DEFAULT(deadlines.total_ms, PHI_UNLIMITED),
    PHI__DEFAULT(deadlines.decision_ms, 300000),
    PHI__DEFAULT(input.queue_limit, 64)};

PHI__FN phi_limits phi__make_limits_of(const phi_limits *given) {
    phi_limits limits = *given;
    if (limits.max_turns == 0) limits.max_turns = PHI__AGENT_TURNS;
    if (limits.max_duration_ms == 0) limits.max_duration_ms = PHI__AGENT_DURATION_MS;
    if (limits.max_tokens == 0) limits.max_tokens = PHI__AGENT_TOKENS;
    if (limits.disable) {
        limits.max_turns = limits.max_duration_ms = PHI_UNLIMITED;
        limits.max_tokens = UINT64_MAX;
        limits.max_cost = 0;
        /* So a caller can take a desc from phi_agent_get_desc and change one limit, which then
           applies. */
        limits.disable = false;
    }
    return limits;
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
        if (!phi__keep_text(&agent->arena, &skills[i])) return false;
    }
    profile->skills = skills;
    agent->desc.profile = profile;
    return phi__keep_text(&agent->arena, &profile->profile_id) &&
           phi__keep_text(&agent->arena, &profile->name) &&
           phi__keep_text(&agent->arena, &profile->description) &&
           phi__keep_text(&agent->arena, &profile->system_prompt) &&
           phi__keep_text(&agent->arena, &profile->config_id) &&
           phi__keep_text(&agent->arena, &profile->workspace);
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

/* Fills in the defaults of zero fields. Calling it twice is harmless. */
static void phi__make_defaults(phi_agent_desc *desc) {
    for (size_t i = 0; i < PHI__COUNT(phi__make_default); i++) {
        char *at = (char *)desc + phi__make_default[i].at;
        uint32_t value;
        memcpy(&value, at, sizeof value);
        if (value == 0) memcpy(at, &phi__make_default[i].value, sizeof value);
    }
    if (!(desc->retry.backoff_multiplier > 0))
        desc->retry.backoff_multiplier = PHI__AGENT_RETRY_FACTOR;
    if (desc->input.first_turn_trigger == (phi_trigger)0)
        desc->input.first_turn_trigger = PHI_TRIGGER_USER;
    desc->limits = phi__make_limits_of(&desc->limits);
    phi_agent_memory *memory = &desc->memory;
    if (memory->event_queue_bytes == 0) memory->event_queue_bytes = PHI__AGENT_QUEUE_BYTES;
    if (memory->max_event_bytes == 0) memory->max_event_bytes = PHI__AGENT_EVENT_BYTES;
    if (memory->max_response_bytes == 0) memory->max_response_bytes = PHI__AGENT_RESPONSE_BYTES;
}

static bool phi__take_filters(phi__agent *agent, const phi_agent_desc *desc, phi_filter **out) {
    size_t bytes = phi__mul(desc->input.filter_count, sizeof **out);
    *out = NULL;
    if (bytes == 0) return true;
    *out = (phi_filter *)phi__realloc(&agent->memory, NULL, 0, bytes);
    if (*out != NULL) memcpy(*out, desc->input.filters, bytes);
    return *out != NULL;
}

static bool phi__make_take_failover(phi__agent *agent, const phi_failover *given) {
    phi__failover_made made;
    if (given == NULL) return true;
    if (!phi__failover_make(agent, given, &made)) return false;
    phi__failover_put(agent, &made);
    return true;
}

/* Sets the middle part of the agent's loop ids: config_id, or provider.slug[.thinking] if config_id
   is NULL. False: no memory. */
static bool phi__take_segment(phi__agent *agent, const char *config_id) {
    phi__buf segment;
    phi_str taken;
    bool done;
    if (config_id != NULL) {
        done = phi__arena_str(&agent->model_arena, phi_str_of(config_id), &taken);
        if (done) agent->line.segment = taken;
        return done;
    }
    phi__buf_init(&segment, &agent->memory);
    phi__buf_text(&segment, agent->desc.model.provider);
    phi__buf_char(&segment, '.');
    for (const char *p = agent->desc.model.id; *p != '\0'; p++)
        phi__buf_char(&segment, phi__is_alnum(*p) ? *p : '-');
    if (agent->desc.thinking != PHI_THINKING_OFF) phi__buf_text(&segment, ".thinking");
    done = !segment.failed && phi__arena_str(&agent->model_arena, phi__buf_str(&segment), &taken);
    if (done) agent->line.segment = taken;
    phi__buf_free(&segment);
    return done;
}

/* Sets the agent's model. own NULL: the provider of the model's protocol. False: no memory. */
static bool phi__take_model(phi__agent *agent, const phi_provider *own, const phi_model *model) {
    phi__speaker seat;
    if (!phi__speaker_take(agent->rt, &agent->model_arena, own, model, &seat)) return false;
    phi__speaker_set(agent, &seat);
    return true;
}

/* Makes agent->projected unless it exists, so that phi__take_policy needs no memory afterwards. */
static bool phi__take_projected(phi__agent *agent) {
    if (agent->projected == NULL)
        agent->projected = (phi__projected *)phi__alloc(&agent->memory, sizeof *agent->projected);
    return agent->projected != NULL;
}

/* Sets the policy and the token counter. A NULL policy removes the old one; a NULL counter keeps
   the old one. False: no memory. */
static bool phi__take_policy(phi__agent *agent, const phi_policy *policy,
                             const phi_token_counter *counter) {
    bool counts = counter != NULL && counter->count_text != NULL;
    if (agent->projected == NULL && policy == NULL && !counts) return true;
    if (!phi__take_projected(agent)) return false;
    if (counts) agent->projected->counter = *counter;
    agent->projected->has_policy = policy != NULL;
    if (policy != NULL) agent->projected->policy = *policy;
    return true;
}

/* Copies a format and its strings. False: no memory. */
static bool phi__take_format(phi__agent *agent, const phi_format *format, phi_format *out) {
    const char *given = format->kind == PHI_FORMAT_JSON_SCHEMA ? format->schema : NULL;
    phi_str schema = {NULL, 0}, name = {NULL, 0};
    memset(out, 0, sizeof *out);
    if (format->kind == PHI_FORMAT_TEXT) return true;
    if (!phi__own(&agent->memory, phi_str_of(given), &schema)) return false;
    if (!phi__own(&agent->memory, phi_str_of(format->name), &name)) {
        phi__disown(&agent->memory, &schema);
        return false;
    }
    *out = *format;
    out->schema = schema.at;
    out->name = name.at;
    return true;
}

static bool phi__make_fill(phi__agent *agent, const phi_agent_desc *given) {
    phi_agent_desc merged = phi__make_merge(given);
    const phi_agent_desc *desc = &merged;
    /* The fields set to NULL here are kept elsewhere in the agent, or copied below. */
    phi_agent_desc *own = &agent->desc;
    *own = *desc;
    own->system_prompt = own->workspace = own->thread_id = own->compaction.focus_message = NULL;
    own->tools = NULL;
    own->input.filters = NULL;
    own->tool_options.sources = NULL;
    own->tool_options.raw_tools = NULL;
    own->tool_count = own->input.filter_count = own->tool_options.source_count =
        own->tool_options.raw_tool_count = own->options.stop_count = 0;
    own->profile = NULL;
    own->provider = NULL;
    own->store = NULL;
    own->failover = NULL;
    own->compaction.texts = own->texts = NULL;
    own->policy = NULL;
    own->options.stop = NULL;
    own->options.service_tier = own->options.extra = NULL;
    memset(&own->ids, 0, sizeof own->ids);
    memset(&own->token_counter, 0, sizeof own->token_counter);
    memset(&own->parent, 0, sizeof own->parent);
    memset(&own->budget, 0, sizeof own->budget);
    memset(&own->format, 0, sizeof own->format);
    phi__make_defaults(own);
    agent->budget.limits = desc->budget;
    if (desc->ids.config_id != NULL) agent->line.segment_given = true;
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
    phi_filter *filters;
    if (!phi__make_take_failover(agent, desc->failover) ||
        !phi__take_filters(agent, desc, &filters))
        return false;
    agent->desc.input.filters = filters;
    agent->desc.input.filter_count = desc->input.filter_count;
    if ((desc->tool_options.source_count != 0 &&
         !agent->rt->features.sources->make(agent, desc->tool_options.sources,
                                            desc->tool_options.source_count)) ||
        !phi__make_copy_profile(agent, given->profile))
        return false;
    phi_str focus;
    if (!phi__own(&agent->memory, phi_str_of(desc->compaction.focus_message), &focus)) return false;
    agent->desc.compaction.focus_message = focus.at;
    if (!phi__keep_text(&agent->arena, &agent->desc.tool_options.result_directory) ||
        !phi__own(&agent->memory, phi_str_of(desc->system_prompt), &agent->system_prompt) ||
        !phi__own(&agent->memory, phi_str_of(desc->workspace), &agent->workspace) ||
        !phi__take_policy(agent, desc->policy, &desc->token_counter) ||
        !phi__take_segment(agent, desc->ids.config_id))
        return false;
    char made[PHI__UUID_SIZE];
    phi_str session = phi_str_of(desc->ids.session_id);
    phi__take_random_id(agent, made);
    if (!phi__own(&agent->memory,
                  phi_str_of(desc->ids.agent_id != NULL ? desc->ids.agent_id : made),
                  &agent->agent_id))
        return false;
    phi__take_random_id(agent, made);
    if (desc->ids.session_id == NULL) session = phi_str_of(made);
    agent->line.session = phi__session_take(&agent->rt->sessions, session);
    return agent->line.session != NULL;
}

/* If the agent has a memory limit, makes the failure that reports the limit as reached. The failure
   outlives the logs that hold it. False: no memory. */
static bool phi__at_limit_name(phi__agent *agent) {
    if (agent->desc.memory.limit_bytes == 0) return true;
    phi__limit_failure *at_limit =
        (phi__limit_failure *)phi_arena_alloc(&agent->arena, sizeof *at_limit);
    agent->room.at_limit = at_limit;
    if (at_limit == NULL) return false;
    (void)snprintf(
        at_limit->words, sizeof at_limit->words,
        "Out of memory: the agent's memory.limit_bytes, %llu, are used up: %s",
        (unsigned long long)agent->desc.memory.limit_bytes,
        agent->desc.memory.at_limit == PHI_AT_MEMORY_LIMIT_STOP
            ? "raise it, keep the thread in a store, or call phi_agent_replace_messages"
            : "nothing more could be forgotten; pop every event of the agent, or raise it");
    at_limit->failure = phi__failure_of(PHI_FAILURE_NO_MEMORY, false, at_limit->words);
    at_limit->failure.code = at_limit->failure.request_id = phi__str("", 0);
    return true;
}

/* *refused: set to true if the agent's limit has refused memory. */
static phi__agent *phi__make_build(phi_runtime *rt, const phi_agent_desc *desc, phi_thread *lent,
                                   bool *refused) {
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
        *refused = agent->memory.refusals > 0;
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
    uint64_t refusals = rt->memory.refusals;
    bool refused = false;
    phi__agent *agent = phi__make_build(rt, desc, lent, &refused);
    if (agent == NULL)
        phi__agent_no_room(rt, "phi_agent_new", refused ? desc->memory.limit_bytes : 0, refusals);
    if (agent != NULL && phi__stored_open_thread(agent, desc) != PHI_OK) {
        phi__end_drop(agent);
        return NULL;
    }
    if (agent != NULL && agent->sources != NULL &&
        rt->features.sources->refresh(agent, true) != PHI_OK) {
        refused = agent->memory.refusals > 0;
        phi__end_drop(agent);
        phi__agent_no_room(rt, "phi_agent_new", refused ? desc->memory.limit_bytes : 0, refusals);
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
    /* system_prompt_tokens stays 0 if it was not given, since its estimate changes. */
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

/* ---- changing settings: any number at once, either all of them or none ----

   A desc with the new values is made and checked. Then everything that needs memory is copied:
   first the model, which is restored if a later copy fails, and last the tools. After that nothing
   can fail, and the new desc replaces the agent's. */

enum {
    PHI__AGENT_SET_ALL = (PHI_SET_TEXTS << 1) - 1,
    PHI__AGENT_SET_LIVE = PHI_SET_MAX_TOKENS | PHI_SET_RETRY | PHI_SET_CACHE | PHI_SET_TOOL_CHOICE |
                          PHI_SET_BUDGET | PHI_SET_DEADLINES | PHI_SET_QUEUES | PHI_SET_REPEAT |
                          PHI_SET_OPTIONS,
    PHI__AGENT_SET_SAID = PHI_SET_OPTIONS | PHI_SET_RAW_TOOLS | PHI_SET_TEXTS
};

static const uint32_t phi__agent_set_speaker = PHI_SET_MODEL | PHI_SET_PROVIDER;

/* The agent's model before the change, with the values that depend on it. */
typedef struct phi__agent_seat {
    phi__speaker speaker;
    phi_str segment;
    phi_arena strings; /* holds the strings of speaker and segment */
    phi_thinking thinking;
} phi__agent_seat;

/* The new values and their copies. */
typedef struct phi__agent_setting {
    phi__agent *agent;
    uint32_t fields;
    phi_agent_desc desc;
    phi_str focus; /* compaction.focus_message */
    phi_str prompt;
    phi_format format;
    phi_filter *filters;
    phi__failover_made models;
    bool has_models; /* `models` was made */
    phi_arena said;
    bool has_said; /* `said` was made */
    phi__agent_seat before;
    bool has_before; /* the agent has a new model; `before` has the old one */
} phi__agent_setting;

static bool phi__set_has(const phi__agent_setting *s, uint32_t fields) {
    return (s->fields & fields) != 0;
}

/* A member of phi_agent_desc, and the PHI_SET_ bit that replaces the member. */
typedef struct phi__set_member {
    uint32_t field;
    uint16_t at, bytes;
} phi__set_member;

#define PHI__SET_MEMBER(bit, member)                                                               \
    {                                                                                              \
        (uint32_t)(bit), (uint16_t)offsetof(phi_agent_desc, member),                               \
            (uint16_t)sizeof(((phi_agent_desc *)0)->member)                                        \
    }

static const phi__set_member phi__set_members[] = {
    PHI__SET_MEMBER(PHI_SET_MODEL, model),
    PHI__SET_MEMBER(PHI_SET_PROVIDER, provider),
    PHI__SET_MEMBER(PHI_SET_SYSTEM_PROMPT, system_prompt),
    PHI__SET_MEMBER(PHI_SET_TOOLS, tools),
    PHI__SET_MEMBER(PHI_SET_TOOLS, tool_count),
    PHI__SET_MEMBER(PHI_SET_FORMAT, format),
    PHI__SET_MEMBER(PHI_SET_POLICY, policy),
    PHI__SET_MEMBER(PHI_SET_THINKING, thinking),
    PHI__SET_MEMBER(PHI_SET_MAX_TOKENS, max_tokens),
    PHI__SET_MEMBER(PHI_SET_RETRY, retry),
    PHI__SET_MEMBER(PHI_SET_CACHE, cache),
    PHI__SET_MEMBER(PHI_SET_DEADLINES, deadlines),
    PHI__SET_MEMBER(PHI_SET_FAILOVER, failover),
    PHI__SET_MEMBER(PHI_SET_COMPACTION, compaction),
    PHI__SET_MEMBER(PHI_SET_COMPACTION, compactor),
    PHI__SET_MEMBER(PHI_SET_LIMITS, limits),
    PHI__SET_MEMBER(PHI_SET_BUDGET, budget),
    PHI__SET_MEMBER(PHI_SET_KEEP, keep),
    PHI__SET_MEMBER(PHI_SET_HOOKS, hook_fn),
    PHI__SET_MEMBER(PHI_SET_HOOKS, hook_points),
    PHI__SET_MEMBER(PHI_SET_HOOKS, hook_user_data),
    PHI__SET_MEMBER(PHI_SET_FILTERS, input.filters),
    PHI__SET_MEMBER(PHI_SET_FILTERS, input.filter_count),
    PHI__SET_MEMBER(PHI_SET_QUEUES, input.steering_mode),
    PHI__SET_MEMBER(PHI_SET_QUEUES, input.follow_up_mode),
    PHI__SET_MEMBER(PHI_SET_QUEUES, input.queue_limit),
    PHI__SET_MEMBER(PHI_SET_TOOL_CHOICE, tool_options.choice),
    PHI__SET_MEMBER(PHI_SET_TOOL_MODE, tool_options.mode),
    PHI__SET_MEMBER(PHI_SET_TOOL_MODE, tool_options.batch),
    PHI__SET_MEMBER(PHI_SET_TOOL_TIMEOUT, tool_options.timeout_ms),
    PHI__SET_MEMBER(PHI_SET_REPEAT, tool_options.repeat_warn_after),
    PHI__SET_MEMBER(PHI_SET_REPEAT, tool_options.repeat_stop_after),
    PHI__SET_MEMBER(PHI_SET_RESULTS, tool_options.max_result_bytes),
    PHI__SET_MEMBER(PHI_SET_RESULTS, tool_options.max_result_image_bytes),
    PHI__SET_MEMBER(PHI_SET_EFFECTS, tool_options.effects),
    PHI__SET_MEMBER(PHI_SET_DEFER_PERCENT, tool_options.defer_percent),
    PHI__SET_MEMBER(PHI_SET_OPTIONS, options),
    PHI__SET_MEMBER(PHI_SET_RAW_TOOLS, tool_options.raw_tools),
    PHI__SET_MEMBER(PHI_SET_RAW_TOOLS, tool_options.raw_tool_count),
    PHI__SET_MEMBER(PHI_SET_TEXTS, texts)};

/* Checks new tools, or the current tools by new rules if the hooks or the model change. */
static phi_status phi__set_check_tools(const phi__agent_setting *s) {
    const phi_agent_desc *d = &s->desc;
    phi_runtime *rt = s->agent->rt;
    if (phi__set_has(s, PHI_SET_TOOLS | PHI_SET_HOOKS))
        return phi__tool_check_all(rt, d, d->tools, d->tool_count);
    if (phi__set_has(s, phi__agent_set_speaker))
        return phi__tool_check_names(rt, "", d->provider, &d->model, d->tools, d->tool_count);
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

/* PHI_OK if these fields can be changed now. Refuses an agent of phi_run and, during a run, fields
   that cannot change in a run. */
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

/* Sets the agent's model, provider and thinking, and the part of loop ids that names them. False:
   no memory; phi__set_drop restores the old values. */
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

/* Replaces the tools. False: no memory, and the old tools stay. */
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
    phi__disown(&agent->memory, &s->focus);
    phi__disown(&agent->memory, &s->prompt);
    phi__take_off_format(agent, &s->format);
    phi__free(&agent->memory, s->filters, s->desc.input.filter_count * sizeof *s->filters);
    if (s->has_models) phi_arena_free(&s->models.arena);
    if (s->has_said) phi_arena_free(&s->said);
    if (!s->has_before) return;
    phi_arena_free(&agent->model_arena);
    agent->model_arena = s->before.strings;
    agent->desc.thinking = s->before.thinking;
    phi__speaker_set(agent, &s->before.speaker);
    agent->line.segment = s->before.segment;
}

static bool phi__set_copy_said(phi__agent_setting *s) {
    phi__agent *agent = s->agent;
    if (!phi__set_has(s, PHI__AGENT_SET_SAID)) return true;
    s->has_said = agent->run == NULL && phi__said_copy(agent, &s->desc, &s->said);
    /* A run's request points to the old copies, so a change during a run adds its copies to the
       same arena. The next change between runs frees them all. */
    return s->has_said ||
           (agent->run != NULL && phi__said_add(&s->desc, &agent->said, agent->desc.texts));
}

/* Makes all copies. False: no memory; phi__set_drop undoes everything. */
static bool phi__set_copy(phi__agent_setting *s) {
    phi__agent *agent = s->agent;
    const phi_agent_desc *d = &s->desc;
    if (!phi__set_copy_said(s) ||
        (phi__set_has(s, PHI_SET_FILTERS) && !phi__take_filters(agent, d, &s->filters)))
        return false;
    if (phi__set_has(s, PHI_SET_COMPACTION) &&
        !phi__own(&agent->memory, phi_str_of(d->compaction.focus_message), &s->focus))
        return false;
    if (phi__set_has(s, PHI_SET_SYSTEM_PROMPT) &&
        !phi__own(&agent->memory, phi_str_of(d->system_prompt), &s->prompt))
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

/* ---- replacing the agent's desc ---- */

/* Changes the default timeout of calls: tools that have the old value get the new one. */
static void phi__toolset_retime(phi__toolset *set, uint32_t from_ms, uint32_t to_ms) {
    for (size_t i = 0; i < set->count; i++)
        if (set->tools[i].timeout_ms == from_ms) set->tools[i].timeout_ms = to_ms;
    for (size_t i = 0; set->finders != NULL && i < 2; i++) set->finders[i].timeout_ms = to_ms;
}

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
        phi__disown(&agent->memory, &agent->system_prompt);
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
    s->desc.tools = NULL; /* the agent keeps tools, prompt and policy elsewhere */
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
    for (size_t i = 0; i < PHI__COUNT(phi__set_members); i++) {
        const phi__set_member *m = &phi__set_members[i];
        if (phi__set_has(&s, m->field))
            memcpy((char *)&s.desc + m->at, (const char *)to + m->at, m->bytes);
    }
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
        /* Ends the job of the replaced compactor. The compactor's `end` may free the agent, but
           in_step keeps the agent's memory until phi__end_of_step. */
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
