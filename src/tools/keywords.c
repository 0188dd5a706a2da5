/* keywords.c - the treatment of each keyword of a schema. */
#include "tools/match_in.h"

typedef enum phi__keywords_shape {
    PHI__SHAPE_ANY,
    PHI__SHAPE_TEXT,
    PHI__SHAPE_NUMBER,
    PHI__SHAPE_COUNT, /* an integer that is not negative */
    PHI__SHAPE_LIST,  /* a list that is not empty */
    PHI__SHAPE_OBJECT,
    PHI__SHAPE_SCHEMA,
    PHI__SHAPE_BOOL
} phi__keywords_shape;

static const struct {
    const char *name;
    uint8_t keyword, shape;
} phi__keywords_table[] = {{"title", PHI__KEYWORD_SHORT, PHI__SHAPE_TEXT},
                           {"default", PHI__KEYWORD_SHORT, PHI__SHAPE_ANY},
                           {"examples", PHI__KEYWORD_SHORT, PHI__SHAPE_LIST},
                           {"format", PHI__KEYWORD_SHORT, PHI__SHAPE_TEXT},
                           {"const", PHI__KEYWORD_COPY, PHI__SHAPE_ANY},
                           {"enum", PHI__KEYWORD_COPY, PHI__SHAPE_LIST},
                           {"minLength", PHI__KEYWORD_COPY, PHI__SHAPE_COUNT},
                           {"maxLength", PHI__KEYWORD_COPY, PHI__SHAPE_COUNT},
                           {"minItems", PHI__KEYWORD_COPY, PHI__SHAPE_COUNT},
                           {"maxItems", PHI__KEYWORD_COPY, PHI__SHAPE_COUNT},
                           {"items", PHI__KEYWORD_SUB, PHI__SHAPE_SCHEMA},
                           {"additionalProperties", PHI__KEYWORD_SUB, PHI__SHAPE_SCHEMA},
                           {"properties", PHI__KEYWORD_SUBS, PHI__SHAPE_OBJECT},
                           {"required", PHI__KEYWORD_NAMES, PHI__SHAPE_LIST},
                           {"anyOf", PHI__KEYWORD_CHOICES, PHI__SHAPE_LIST},
                           {"oneOf", PHI__KEYWORD_CHOICES, PHI__SHAPE_LIST},
                           {"allOf", PHI__KEYWORD_CHOICES, PHI__SHAPE_LIST},
                           {"pattern", PHI__KEYWORD_NOTE, PHI__SHAPE_TEXT},
                           {"multipleOf", PHI__KEYWORD_NOTE, PHI__SHAPE_NUMBER},
                           {"uniqueItems", PHI__KEYWORD_NOTE, PHI__SHAPE_BOOL},
                           {"minProperties", PHI__KEYWORD_NOTE, PHI__SHAPE_NUMBER},
                           {"maxProperties", PHI__KEYWORD_NOTE, PHI__SHAPE_NUMBER},
                           {"patternProperties", PHI__KEYWORD_NOTE, PHI__SHAPE_OBJECT},
                           {"propertyNames", PHI__KEYWORD_NOTE, PHI__SHAPE_SCHEMA},
                           {"prefixItems", PHI__KEYWORD_NOTE, PHI__SHAPE_LIST},
                           {"contains", PHI__KEYWORD_NOTE, PHI__SHAPE_SCHEMA},
                           {"minContains", PHI__KEYWORD_NOTE, PHI__SHAPE_NUMBER},
                           {"maxContains", PHI__KEYWORD_NOTE, PHI__SHAPE_NUMBER},
                           {"dependentRequired", PHI__KEYWORD_NOTE, PHI__SHAPE_OBJECT},
                           {"dependentSchemas", PHI__KEYWORD_NOTE, PHI__SHAPE_OBJECT},
                           {"unevaluatedProperties", PHI__KEYWORD_NOTE, PHI__SHAPE_SCHEMA},
                           {"unevaluatedItems", PHI__KEYWORD_NOTE, PHI__SHAPE_SCHEMA},
                           {"not", PHI__KEYWORD_NOTE, PHI__SHAPE_SCHEMA},
                           {"if", PHI__KEYWORD_NOTE, PHI__SHAPE_SCHEMA},
                           {"then", PHI__KEYWORD_NOTE, PHI__SHAPE_SCHEMA},
                           {"else", PHI__KEYWORD_NOTE, PHI__SHAPE_SCHEMA},
                           {"contentMediaType", PHI__KEYWORD_NOTE, PHI__SHAPE_TEXT},
                           {"contentEncoding", PHI__KEYWORD_NOTE, PHI__SHAPE_TEXT}};

static bool phi__keywords_fits(unsigned shape, const phi_json *value) {
    switch (shape) {
    case PHI__SHAPE_TEXT: return phi_json_is(value, PHI_JSON_STRING);
    case PHI__SHAPE_NUMBER: return phi_json_is(value, PHI_JSON_NUMBER);
    case PHI__SHAPE_COUNT:
        return phi_json_is(value, PHI_JSON_INTEGER) && phi_json_num(value, -1) >= 0;
    case PHI__SHAPE_LIST: return phi_json_is(value, PHI_JSON_ARRAY) && phi_json_count(value) > 0;
    case PHI__SHAPE_OBJECT: return phi_json_is(value, PHI_JSON_OBJECT);
    case PHI__SHAPE_SCHEMA:
        return phi_json_is(value, PHI_JSON_OBJECT) || phi_json_is(value, PHI_JSON_BOOL);
    case PHI__SHAPE_BOOL: return phi_json_bool(value, false);
    default: return true;
    }
}

PHI__FN phi__keyword phi__keywords_of(phi_str key, const phi_json *value) {
    for (size_t i = 0; i < PHI__COUNT(phi__keywords_table); i++)
        if (phi__str_is(key, phi__keywords_table[i].name))
            return phi__keywords_fits(phi__keywords_table[i].shape, value)
                       ? (phi__keyword)phi__keywords_table[i].keyword
                       : PHI__KEYWORD_DROP;
    return PHI__KEYWORD_DROP;
}

PHI__FN bool phi__keywords_is_type(phi_str name) {
    static const char *const names[] = {"string", "number", "integer", "boolean",
                                        "object", "array",  "null"};
    for (size_t i = 0; i < PHI__COUNT(names); i++)
        if (phi__str_is(name, names[i])) return true;
    return false;
}
