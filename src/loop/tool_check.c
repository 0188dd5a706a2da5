/* tool_check.c - checks tools as an agent is to have them. A refusal names the fault in
   phi_last_error, and changes nothing. */
#include "loop/tool_check_in.h"

#include "base/utf8_in.h"
#include "loop/deferral_in.h"
#include "loop/loop_in.h"
#include "loop/provider_in.h"
#include "text/schema_in.h"
#include "wire/strict_in.h"

#include <stdio.h>

PHI__FN bool phi__tool_check_schema_fault(const phi_json *schema, char *out, size_t size) {
    const phi_json *properties = phi_json_get(schema, "properties");
    phi_json_iter it = phi_json_each(properties);
    out[0] = '\0';
    if (!phi__str_is(phi_json_str(phi_json_get(schema, "type"), ""), "object"))
        (void)snprintf(out, size, ": expected an object with \"type\":\"object\"");
    else if (properties != NULL && !phi_json_is(properties, PHI_JSON_OBJECT))
        (void)snprintf(out, size, ".properties: expected an object, got %s",
                       phi__json_get_type_name(properties));
    else
        while (phi_json_next(&it) != NULL && out[0] == '\0')
            if (!phi_json_is(it.at, PHI_JSON_OBJECT) && !phi_json_is(it.at, PHI_JSON_BOOL))
                (void)snprintf(out, size, ".properties.%.*s: expected a schema, got %s",
                               (int)phi__min(it.key.len, 80), it.key.at,
                               phi__json_get_type_name(it.at));
    return out[0] != '\0';
}

PHI__FN phi_status phi__tool_check_raw(phi_runtime *rt, const char *what, const char *json) {
    phi_arena arena;
    phi_json *root = NULL;
    phi_parse_error parse;
    phi_status status;
    if (json == NULL || json[0] == '\0') return phi__error(rt, PHI_BAD_ARG, "%s is missing", what);
    phi_arena_init(&arena, &rt->memory, 512);
    status = phi_json_parse(&arena, phi_str_of(json), PHI_JSON_BORROW, &root, &parse);
    if (status == PHI_PARSE || status == PHI_TOO_BIG)
        status = phi__error(rt, PHI_BAD_ARG, "%s:%u:%u: %s", what, (unsigned)parse.line,
                            (unsigned)parse.column, parse.message);
    else if (status != PHI_OK)
        (void)phi__error(rt, status, "%s: %s", what, phi_status_text(status));
    else if (!phi_json_is(root, PHI_JSON_OBJECT))
        status = phi__error(rt, PHI_BAD_ARG, "%s: expected a JSON object, got %s", what,
                            phi__json_get_type_name(root));
    else if (phi__utf8_valid(phi_str_of(json)) != strlen(json))
        status = phi__error(rt, PHI_BAD_ARG, "%s: expected UTF-8", what);
    phi_arena_free(&arena);
    return status;
}

/* A tool with an empty raw comes with another element of the list. */
static phi_status phi__tool_check_own_raw(phi_runtime *rt, const phi_tool *tool) {
    char what[120];
    if (tool->raw == NULL) return PHI_OK;
    if (tool->raw_protocol == NULL || tool->raw_protocol[0] == '\0')
        return phi__error(rt, PHI_BAD_ARG, "tool \"%s\": raw_protocol is missing", tool->name);
    if (tool->raw[0] == '\0') return PHI_OK;
    (void)snprintf(what, sizeof what, "tool \"%.64s\": raw", tool->name);
    return phi__tool_check_raw(rt, what, tool->raw);
}

static phi_status phi__tool_check_schema(phi_runtime *rt, const phi_tool *tool) {
    phi_arena arena;
    phi_json *schema = NULL;
    phi_parse_error parse;
    phi_schema_error error;
    phi_status status;
    char fault[200];
    if (tool->schema == NULL) return PHI_OK;
    phi_arena_init(&arena, &rt->memory, 1024);
    status = phi_json_parse(&arena, phi_str_of(tool->schema), PHI_JSON_BORROW, &schema, &parse);
    if (status == PHI_PARSE)
        (void)phi__error(rt, status, "tool \"%s\": schema:%u:%u: %s", tool->name,
                         (unsigned)parse.line, (unsigned)parse.column, parse.message);
    else if (status != PHI_OK)
        (void)phi__error(rt, status, "tool \"%s\": schema: %s", tool->name,
                         phi_status_text(status));
    else if (phi__tool_check_schema_fault(schema, fault, sizeof fault))
        status = phi__error(rt, PHI_BAD_ARG, "tool \"%s\": schema%s", tool->name, fault);
    else if (!tool->checks_arguments && (status = phi__schema_valid(schema, &error)) != PHI_OK)
        (void)phi__error(rt, status, "tool \"%s\": %s", tool->name, error.message);
    phi_arena_free(&arena);
    return status;
}

PHI__FN phi__tool_rules phi__tool_check_rules(const phi_runtime *rt, const phi_provider *own,
                                              const phi_model *model, bool can_approve) {
    phi__tool_rules rules;
    if (own == NULL) own = phi__provider_find(rt, phi_str_of(model->protocol));
    rules.codec = own == NULL ? phi__codec_of(rt->codecs, model) : NULL;
    rules.can_approve = can_approve;
    return rules;
}

PHI__FN phi_status phi__tool_check_names(phi_runtime *rt, const phi__tool_rules *rules,
                                         const phi_tool *tools, size_t count) {
    size_t i;
    for (i = 0; rules->codec != NULL && i < count; i++) {
        const char *why = phi__preflight_name(rules->codec, phi_str_of(tools[i].name));
        if (why != NULL)
            return phi__error(rt, PHI_BAD_ARG, "tools[%u].name \"%.80s\": %s", (unsigned)i,
                              tools[i].name, why);
    }
    return PHI_OK;
}

PHI__FN phi_status phi__tool_check_one(phi_runtime *rt, const phi__tool_rules *rules,
                                       const phi_tool *tool) {
    phi_status status;
    if (tool->start == NULL)
        return phi__error(rt, PHI_BAD_ARG, "tool \"%s\": start is missing", tool->name);
    if (tool->needs_approval && !rules->can_approve)
        return phi__error(rt, PHI_BAD_ARG,
                          "tool \"%s\": needs_approval, and nothing can approve: set hook_fn, and "
                          "PHI_HOOK_BEFORE_TOOL in hook_points",
                          tool->name);
    if (tool->on_field != NULL && (rt->features.wanted & (uint32_t)PHI__POINT_SLICE) == 0)
        return phi__feature_missing(rt, "on_field", "phi_feature_argument_stream");
    if (tool->strict && rt->features.formats == NULL)
        return phi__feature_missing(rt, "strict", "phi_feature_formats");
    if (tool->deferred && rt->features.deferral == NULL)
        return phi__feature_missing(rt, "deferred", "phi_feature_deferral");
    status = phi__tool_check_own_raw(rt, tool);
    return status == PHI_OK ? phi__tool_check_schema(rt, tool) : status;
}

PHI__FN phi_status phi__tool_check_all(phi_runtime *rt, const phi__tool_rules *rules,
                                       const phi_tool *tools, size_t count) {
    const char *taken = NULL;
    size_t i, j;
    if (count > 0 && tools == NULL)
        return phi__error(rt, PHI_BAD_ARG, "tools is missing, tool_count is %u", (unsigned)count);
    for (i = 0; i < count; i++) {
        const phi_tool *tool = &tools[i];
        phi_status status;
        if (tool->name == NULL || tool->name[0] == '\0')
            return phi__error(rt, PHI_BAD_ARG, "tools[%u].name is missing", (unsigned)i);
        for (j = 0; j < i; j++)
            if (strcmp(tools[j].name, tool->name) == 0)
                return phi__error(rt, PHI_BAD_ARG, "tool \"%s\" is there twice", tool->name);
        status = phi__tool_check_one(rt, rules, tool);
        if (status != PHI_OK) return status;
    }
    if (rt->features.deferral != NULL) taken = rt->features.deferral->refuses(tools, count);
    if (taken != NULL)
        return phi__error(
            rt, PHI_BAD_ARG,
            "tool \"%s\": the name is that of a tool of phi, which loads the deferred ones", taken);
    return phi__tool_check_names(rt, rules, tools, count);
}
