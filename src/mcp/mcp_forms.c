/* mcp_forms.c - forms that a server wants filled in: a flat object, whose members are texts,
   numbers, truth values, or choices. */
#include "mcp/mcp_forms_in.h"

#include "text/json_in.h"

#include <stdio.h>

/* Members that are missing get their defaults. */
static phi_status phi__mcp_forms_defaults(phi_arena *arena, const phi_json *schema,
                                          phi_json *values) {
    const phi_json *properties = phi_json_get(schema, "properties"), *property;
    phi_json_iter it = phi_json_each(phi_json_is(properties, PHI_JSON_OBJECT) ? properties : NULL);
    phi_status status = PHI_OK;
    while (status == PHI_OK && (property = phi_json_next(&it)) != NULL) {
        const phi_json *value = phi_json_get(property, "default");
        phi_json *copy;
        if (value == NULL || phi__json_get_n(values, it.key) != NULL) continue;
        copy = phi_json_copy(arena, value);
        status = copy != NULL ? phi__json_edit_set(arena, values, it.key, copy) : PHI_NO_MEMORY;
    }
    return status;
}

PHI__FN phi_status phi__mcp_forms_fill(phi_arena *arena, const phi_json *schema, phi_str values,
                                       phi__buf *out, phi_schema_error *error) {
    phi_parse_error parse;
    phi_json *root = NULL;
    phi_status status;
    if (values.len == 0) values = PHI__LIT("{}");
    status = phi_json_parse(arena, values, 0, &root, &parse);
    if (status != PHI_OK || !phi_json_is(root, PHI_JSON_OBJECT)) {
        (void)snprintf(error->message, sizeof error->message, "%s",
                       status == PHI_PARSE ? parse.message : "expected a JSON object");
        return status == PHI_NO_MEMORY ? status : PHI_PARSE;
    }
    status = phi__mcp_forms_defaults(arena, schema, root);
    if (status == PHI_OK) status = phi_schema_check(schema, root, "form", error);
    if (status == PHI_UNSUPPORTED) status = PHI_OK; /* a build without PHI_SCHEMA checks nothing */
    if (status == PHI_OK) status = phi__json_write(out, root, 0);
    return status == PHI_OK && out->failed ? PHI_NO_MEMORY : status;
}
