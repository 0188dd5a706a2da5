/* formats.c - answers as JSON: phi_feature_formats, and the checks of an agent's format. */
#include "features/features.h"
#include "features/features_in.h"

/* Checks the form of a schema for answers. The provider interprets the schema. */
static phi_status phi__formats_check_schema(phi_runtime *rt, const char *text) {
    phi_arena arena;
    phi_json *schema = NULL;
    phi_parse_error parse;
    char fault[200];
    if (text == NULL || text[0] == '\0')
        return phi__error(rt, PHI_BAD_ARG, "format.schema is missing");
    phi_arena_init(&arena, &rt->memory, 1024);
    phi_status status = phi_json_parse(&arena, phi_str_of(text), PHI_JSON_BORROW, &schema, &parse);
    if (status == PHI_PARSE)
        status = phi__error(rt, PHI_BAD_ARG, "format.schema:%u:%u: %s", (unsigned)parse.line,
                            (unsigned)parse.column, parse.message);
    else if (status != PHI_OK)
        (void)phi__error(rt, status, "format.schema: %s", phi_status_text(status));
    else if (phi__tool_check_schema_fault(schema, fault, sizeof fault))
        status = phi__error(rt, PHI_BAD_ARG, "format.schema%s", fault);
    phi_arena_free(&arena);
    return status;
}

static phi_status phi__formats_check(phi_runtime *rt, const phi_format *format,
                                     const phi_tool *tools, size_t tool_count) {
    if ((unsigned)format->kind > (unsigned)PHI_FORMAT_JSON_SCHEMA)
        return phi__error(rt, PHI_BAD_ARG,
                          "format.kind is %u: expected text, JSON object or schema",
                          (unsigned)format->kind);
    const char *why =
        format->name != NULL ? phi__preflight_name(NULL, phi_str_of(format->name)) : NULL;
    if (why != NULL)
        return phi__error(rt, PHI_BAD_ARG, "format.name \"%.80s\": %s", format->name, why);
    for (size_t i = 0; i < tool_count; i++)
        if (strcmp(tools[i].name, PHI_RESPOND_TOOL) == 0)
            return phi__error(rt, PHI_BAD_ARG,
                              "tool \"" PHI_RESPOND_TOOL
                              "\": the name is that of the tool by which "
                              "answers come, and format is JSON");
    if (format->kind != PHI_FORMAT_JSON_SCHEMA) return PHI_OK;
    return phi__formats_check_schema(rt, format->schema);
}

static void phi__formats_open(phi_runtime *rt) {
    rt->features.formats = phi__format_ops();
    rt->features.check_format = phi__formats_check;
}

PHI_API const phi__feature *phi_feature_formats(void) {
    static const phi__feature feature = {
        0, 0, 0, NULL, NULL, PHI__FEATURE_AT_FORMATS, phi__formats_open, NULL};
    return &feature;
}

/* ---- features without points: the loop reaches them by pointers, which are NULL without them
   ---- */

static void phi__pointed_deferral(phi_runtime *rt) {
    rt->features.deferral = phi__deferral_tools_ops();
}

PHI_API const phi__feature *phi_feature_deferral(void) {
    static const phi__feature feature = {
        0, 0, 0, NULL, NULL, PHI__FEATURE_AT_DEFERRAL, phi__pointed_deferral, NULL};
    return &feature;
}

static void phi__pointed_sources(phi_runtime *rt) {
    rt->features.sources = phi__tool_sources_ops();
}

PHI_API const phi__feature *phi_feature_tool_sources(void) {
    static const phi__feature feature = {
        0, 0, 0, NULL, NULL, PHI__FEATURE_AT_SOURCES, phi__pointed_sources, NULL};
    return &feature;
}
