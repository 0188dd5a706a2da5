/* agent_check.c - checks a phi_agent_desc. A refusal names the field and changes nothing. */
#include "agent/agent_in.h"
#include "features/order_in.h"
#include "loop/feature_in.h"
#include "base/id_in.h"
#include "io/secret_in.h"
#include "wire/strict_in.h"
#include "agent/profile.h"
#include "features/failover_in.h"
#include "features/failover.h"

#include <stdio.h>

/* ---- the model ---- */

/* Whether it is "http" or "https" with a host, the schemes of the transport. */
static bool phi__agent_check_url_fits(phi_str url) {
    size_t scheme = phi__str_find(url, 0, "://"), host = scheme + 3, end = host, i;
    if (scheme == SIZE_MAX || (!phi__str_is_nocase(phi__str(url.at, scheme), "http") &&
                               !phi__str_is_nocase(phi__str(url.at, scheme), "https")))
        return false;
    for (i = 0; i < url.len; i++)
        if ((unsigned char)url.at[i] <= ' ' || url.at[i] == 0x7f) return false;
    while (end < url.len && strchr("/?#", url.at[end]) == NULL) end++;
    /* a user and a password end there */
    for (i = host; i < end; i++)
        if (url.at[i] == '@') host = i + 1;
    return host < end && url.at[host] != ':';
}

PHI__FN phi_status phi__agent_check_url(phi_runtime *rt, const char *what, const char *base_url) {
    phi_str url = phi_str_of(base_url);
    phi__buf shown;
    if (url.len == 0) return phi__error(rt, PHI_BAD_ARG, "%smodel.base_url is missing", what);
    if (phi__agent_check_url_fits(url)) return PHI_OK;
    phi__buf_init(&shown, &rt->memory);
    phi__secret_put_url(&shown, url);
    (void)phi__error(
        rt, PHI_BAD_ARG, "%smodel.base_url \"%.*s\": expected http:// or https:// and a host", what,
        shown.failed ? 0 : (int)phi__min(shown.len, 200), shown.failed ? "" : shown.at);
    phi__buf_free(&shown);
    return PHI_BAD_ARG;
}

static phi_status phi__agent_check_protocol(phi_runtime *rt, const char *what,
                                            const phi_model *model) {
    if (phi__codec_of(rt->codecs, model) != NULL) return PHI_OK;
    return phi__error(rt, PHI_UNSUPPORTED,
                      "%sNo provider registered for protocol: %s (presets bring theirs; or set "
                      "phi_runtime_desc.codecs = PHI_ALL_PROTOCOLS)",
                      what, model->protocol);
}

static phi_status phi__agent_check_headers(phi_runtime *rt, const char *what,
                                           const phi_model *model) {
    size_t i;
    if (model->header_count > 0 && model->headers == NULL)
        return phi__error(rt, PHI_BAD_ARG, "%smodel.headers is missing, header_count is %u", what,
                          (unsigned)model->header_count);
    for (i = 0; i < model->header_count; i++)
        if (model->headers[i].name == NULL || model->headers[i].value == NULL ||
            strpbrk(model->headers[i].name, "\r\n:") != NULL ||
            strpbrk(model->headers[i].value, "\r\n") != NULL)
            return phi__error(rt, PHI_BAD_ARG, "%smodel.headers[%u]: not a header", what,
                              (unsigned)i);
    return PHI_OK;
}

PHI__FN phi_status phi__agent_check_model(phi_runtime *rt, const char *what,
                                          const phi_provider *own, const phi_model *model) {
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
    if (own == NULL && phi__agent_check_protocol(rt, what, model) != PHI_OK) return PHI_UNSUPPORTED;
    if (own == NULL && phi__agent_check_url(rt, what, model->base_url) != PHI_OK)
        return PHI_BAD_ARG;
    if (phi__agent_check_headers(rt, what, model) != PHI_OK) return PHI_BAD_ARG;
    if (model->api_key != NULL && strpbrk(model->api_key, "\r\n") != NULL)
        return phi__error(rt, PHI_BAD_ARG, "%smodel.api_key holds a line break", what);
    (void)snprintf(place, sizeof place, "%smodel.extra", what);
    return phi__agent_said_check_extra(rt, place, own, model, model->extra);
}

/* ---- what features check ---- */

PHI__FN phi_status phi__agent_check_failover(phi_runtime *rt, const phi_failover *failover,
                                             const phi_provider *own, const phi_tool *tools,
                                             size_t tool_count) {
    return failover == NULL ? PHI_OK
                            : rt->features.failover->check(rt, failover, own, tools, tool_count,
                                                           phi__agent_check_model);
}

PHI__FN phi_status phi__agent_check_format(phi_runtime *rt, const phi_format *format,
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

PHI__FN phi_status phi__agent_check_own(const phi__agent *agent, const phi_tool *tools,
                                        size_t count) {
    phi__tool_rules rules =
        phi__tool_check_rules(agent->rt, agent->desc.provider, &agent->desc.model,
                              phi__hooks_wanted(agent, PHI_HOOK_BEFORE_TOOL));
    phi_status status = phi__tool_check_all(agent->rt, &rules, tools, count);
    if (status == PHI_OK)
        status = phi__agent_check_failover(agent->rt, agent->desc.failover, agent->desc.provider,
                                           tools, count);
    return status == PHI_OK ? phi__agent_check_format(agent->rt, &agent->desc.format, tools, count)
                            : status;
}

/* ---- the rest ---- */

static phi_status phi__agent_check_sources(phi_runtime *rt, const phi_agent_desc *desc) {
    size_t i;
    for (i = 0; i < desc->tool_options.source_count; i++)
        if (desc->tool_options.sources == NULL || desc->tool_options.sources[i] == NULL ||
            desc->tool_options.sources[i]->version == NULL ||
            desc->tool_options.sources[i]->take == NULL)
            return phi__error(rt, PHI_BAD_ARG,
                              "tool_options.sources[%u]: expected a source with version and take",
                              (unsigned)i);
    return PHI_OK;
}

static phi_status phi__agent_check_control(phi_runtime *rt, const phi_agent_desc *desc) {
    size_t i;
    if (desc->hook_points != 0 && desc->hook_fn == NULL)
        return phi__error(rt, PHI_BAD_ARG, "hook_fn is missing, hook_points is 0x%x",
                          (unsigned)desc->hook_points);
    if (desc->hook_fn != NULL && desc->hook_points == 0)
        return phi__error(rt, PHI_BAD_ARG, "hook_points is 0, hook_fn would never be called");
    if (desc->input.filter_count > 0 && desc->input.filters == NULL)
        return phi__error(rt, PHI_BAD_ARG, "input.filters is missing, filter_count is %u",
                          (unsigned)desc->input.filter_count);
    for (i = 0; i < desc->input.filter_count; i++)
        if (desc->input.filters[i].fn == NULL)
            return phi__error(rt, PHI_BAD_ARG, "input.filters[%u].fn is missing", (unsigned)i);
    return PHI_OK;
}

static phi_status phi__agent_check_around(phi_runtime *rt, const phi_agent_desc *desc) {
    if (desc->policy != NULL && phi__policy_fault(desc->policy) != NULL)
        return phi__error(rt, PHI_BAD_ARG, "%s", phi__policy_fault(desc->policy));
    if (phi__agent_check_sources(rt, desc) != PHI_OK) return PHI_BAD_ARG;
    if (desc->parent.rt != NULL && desc->parent.rt != rt)
        return phi__error(rt, PHI_BAD_ARG, "parent is of another runtime");
    if (desc->parent.rt != NULL && phi__find_agent(desc->parent) == NULL)
        return phi__error(rt, PHI_STALE, "parent is gone");
    if (desc->profile != NULL && desc->profile->skill_count > 0 && desc->profile->skills == NULL)
        return phi__error(rt, PHI_BAD_ARG, "profile.skills is missing, skill_count is %u",
                          (unsigned)desc->profile->skill_count);
    return PHI_OK;
}

static phi_status phi__agent_check_compaction(phi_runtime *rt, const phi_agent_desc *desc) {
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

static bool phi__agent_check_enums_fit(const phi_agent_desc *desc) {
    return (unsigned)desc->thinking <= (unsigned)PHI_THINKING_MAX &&
           (unsigned)desc->tool_options.choice <= (unsigned)PHI_TOOL_CHOICE_REQUIRED &&
           (unsigned)desc->tool_options.mode <= (unsigned)PHI_TOOLS_BATCHED &&
           (unsigned)desc->input.steering_mode <= (unsigned)PHI_QUEUE_ALL &&
           (unsigned)desc->input.follow_up_mode <= (unsigned)PHI_QUEUE_ALL &&
           (unsigned)desc->input.first_turn_trigger <= (unsigned)PHI_TRIGGER_BRANCH &&
           (unsigned)desc->keep <= (unsigned)PHI_KEEP_NONE &&
           (unsigned)desc->memory.at_limit <= (unsigned)PHI_AT_MEMORY_LIMIT_STOP;
}

/* They are in logs and in files, where two that differ in bytes which are not UTF-8 would be
   one. */
static phi_status phi__agent_check_ids(phi_runtime *rt, const phi_agent_desc *desc) {
    static const char *const names[] = {"ids.agent_id", "ids.session_id", "ids.config_id"};
    const char *ids[PHI__COUNT(names)];
    size_t i;
    ids[0] = desc->ids.agent_id;
    ids[1] = desc->ids.session_id;
    ids[2] = desc->ids.config_id;
    for (i = 0; i < PHI__COUNT(names); i++)
        if (!phi__check_id_fits(phi_str_of(ids[i])))
            return phi__error(rt, PHI_BAD_ARG, "%s is not UTF-8", names[i]);
    return PHI_OK;
}

static phi_status phi__agent_check_effects(phi_runtime *rt, const phi_effect_policy *policy) {
    if ((unsigned)policy->mode > (unsigned)PHI_EFFECTS_ALLOW_LIST)
        return phi__error(rt, PHI_BAD_ARG, "tool_options.effects.mode is none of its values");
    return policy->max_state_bytes <= (uint32_t)PHI__TOOL_STATE_MOST
               ? PHI_OK
               : phi__error(rt, PHI_BAD_ARG,
                            "tool_options.effects.max_state_bytes is %u: expected at most 1048576",
                            (unsigned)policy->max_state_bytes);
}

/* The runtime names the features that it needs. */
static phi_status phi__agent_check_features(phi_runtime *rt, const phi_agent_desc *desc) {
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
    return status;
}

PHI__FN phi_status phi__agent_check_settings(phi_runtime *rt, const phi_agent_desc *desc) {
    phi_status status = phi__agent_check_features(rt, desc);
    if (status != PHI_OK) return status;
    if (desc->options.has_temperature &&
        !(desc->options.temperature >= 0.0 && desc->options.temperature <= 100.0))
        return phi__error(rt, PHI_BAD_ARG, "options.temperature is %g: expected 0 or more",
                          desc->options.temperature);
    if (!phi__agent_check_enums_fit(desc))
        return phi__error(rt, PHI_BAD_ARG,
                          "thinking, tool_options.choice or mode, input.steering_mode, "
                          "follow_up_mode or first_turn_trigger, keep or memory.at_limit is none "
                          "of its values");
    status = phi__agent_check_control(rt, desc);
    if (status == PHI_OK) status = phi__agent_check_effects(rt, &desc->tool_options.effects);
    if (status == PHI_OK) status = phi__agent_check_compaction(rt, desc);
    return status == PHI_OK ? phi__agent_said_check(rt, desc) : status;
}

PHI__FN phi_status phi__agent_check(phi_runtime *rt, const phi_agent_desc *desc) {
    phi__tool_rules rules;
    phi_status status = phi__agent_check_ids(rt, desc);
    if (status != PHI_OK) return status;
    if (desc->provider != NULL) status = phi__provider_check(rt, "provider", desc->provider);
    if (status == PHI_OK) status = phi__agent_check_model(rt, "", desc->provider, &desc->model);
    if (status == PHI_OK) status = phi__agent_check_settings(rt, desc);
    if (status == PHI_OK) status = phi__agent_check_around(rt, desc);
    if (status == PHI_OK) status = phi__agent_store_check(rt, desc);
    if (status != PHI_OK) return status;
    rules = phi__tool_check_rules(rt, desc->provider, &desc->model,
                                  (desc->hook_points & (uint32_t)PHI_HOOK_BEFORE_TOOL) != 0);
    status = phi__tool_check_all(rt, &rules, desc->tools, desc->tool_count);
    if (status == PHI_OK)
        status = phi__agent_check_failover(rt, desc->failover, desc->provider, desc->tools,
                                           desc->tool_count);
    return status == PHI_OK
               ? phi__agent_check_format(rt, &desc->format, desc->tools, desc->tool_count)
               : status;
}
