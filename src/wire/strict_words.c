/* strict_words.c - the table of keywords. */
#include "wire/strict_words_in.h"

enum {
    PHI__STRICT_BY_OPENAI = 1 << PHI__STRICT_OPENAI,
    PHI__STRICT_BY_ANTHROPIC = 1 << PHI__STRICT_ANTHROPIC
};

typedef struct phi__strict_word {
    const char *name;
    phi__strict_kind kind;
    unsigned forms; /* that have it */
} phi__strict_word;

static const phi__strict_word phi__strict_words_all[] = {
    {"type", PHI__STRICT_OWN, 0},
    {"description", PHI__STRICT_KEEP, 0},
    {"title", PHI__STRICT_KEEP, 0},
    {"nullable", PHI__STRICT_KEEP, 0},
    {"$defs", PHI__STRICT_KEEP, 0},
    {"definitions", PHI__STRICT_KEEP, 0},
    {"properties", PHI__STRICT_OWN, 0},
    {"required", PHI__STRICT_OWN, 0},
    {"additionalProperties", PHI__STRICT_OWN, 0},
    {"unevaluatedProperties", PHI__STRICT_OWN, 0},
    {"items", PHI__STRICT_OWN, 0},
    {"enum", PHI__STRICT_OWN, 0},
    {"const", PHI__STRICT_OWN, 0},
    {"anyOf", PHI__STRICT_CHOICE, 0},
    {"oneOf", PHI__STRICT_CHOICE, 0},
    {"allOf", PHI__STRICT_CHOICE, 0},
    {"$ref", PHI__STRICT_CHOICE, 0},
    {"default", PHI__STRICT_NOTE, 0},
    {"examples", PHI__STRICT_NOTE, 0},
    {"minimum", PHI__STRICT_NARROWS, PHI__STRICT_BY_OPENAI},
    {"maximum", PHI__STRICT_NARROWS, PHI__STRICT_BY_OPENAI},
    {"exclusiveMinimum", PHI__STRICT_NARROWS, PHI__STRICT_BY_OPENAI},
    {"exclusiveMaximum", PHI__STRICT_NARROWS, PHI__STRICT_BY_OPENAI},
    {"multipleOf", PHI__STRICT_NARROWS, PHI__STRICT_BY_OPENAI},
    {"pattern", PHI__STRICT_NARROWS, PHI__STRICT_BY_OPENAI},
    {"format", PHI__STRICT_NARROWS, PHI__STRICT_BY_OPENAI | PHI__STRICT_BY_ANTHROPIC},
    {"minItems", PHI__STRICT_NARROWS, PHI__STRICT_BY_OPENAI | PHI__STRICT_BY_ANTHROPIC},
    {"maxItems", PHI__STRICT_NARROWS, PHI__STRICT_BY_OPENAI},
    {"minLength", PHI__STRICT_NARROWS, 0},
    {"maxLength", PHI__STRICT_NARROWS, 0},
    {"uniqueItems", PHI__STRICT_NARROWS, 0},
    {"minProperties", PHI__STRICT_NARROWS, 0},
    {"maxProperties", PHI__STRICT_NARROWS, 0},
    {"not", PHI__STRICT_REFUSED, 0},
    {"if", PHI__STRICT_REFUSED, 0},
    {"then", PHI__STRICT_REFUSED, 0},
    {"else", PHI__STRICT_REFUSED, 0},
    {"patternProperties", PHI__STRICT_REFUSED, 0},
    {"propertyNames", PHI__STRICT_REFUSED, 0},
    {"dependentRequired", PHI__STRICT_REFUSED, 0},
    {"dependentSchemas", PHI__STRICT_REFUSED, 0},
    {"dependencies", PHI__STRICT_REFUSED, 0},
    {"prefixItems", PHI__STRICT_REFUSED, 0},
    {"additionalItems", PHI__STRICT_REFUSED, 0},
    {"unevaluatedItems", PHI__STRICT_REFUSED, 0},
    {"contains", PHI__STRICT_REFUSED, 0},
    {"$dynamicRef", PHI__STRICT_REFUSED, 0},
    {"$recursiveRef", PHI__STRICT_REFUSED, 0},
};

static const phi__strict_word *phi__strict_words_of(phi_str key) {
    size_t i;
    for (i = 0; i < PHI__COUNT(phi__strict_words_all); i++)
        if (phi__str_is(key, phi__strict_words_all[i].name)) return &phi__strict_words_all[i];
    return NULL;
}

PHI__FN phi__strict_kind phi__strict_words_kind(phi_str key) {
    const phi__strict_word *word = phi__strict_words_of(key);
    return word != NULL ? word->kind : PHI__STRICT_OTHER;
}

static bool phi__strict_words_format(phi__strict_form form, phi_str format) {
    static const char *const names[] = {"date-time", "time", "date", "duration", "email",
                                        "hostname",  "ipv4", "ipv6", "uuid"};
    size_t i;
    for (i = 0; i < PHI__COUNT(names); i++)
        if (phi__str_is(format, names[i])) return true;
    return form == PHI__STRICT_ANTHROPIC && phi__str_is(format, "uri");
}

/* Whether the form has this keyword with this value. */
PHI__FN bool phi__strict_words_keep(phi__strict_form form, phi_str key, const phi_json *value) {
    const phi__strict_word *word = phi__strict_words_of(key);
    if (word == NULL || (word->forms >> form & 1u) == 0) return false;
    if (phi__str_is(key, "format"))
        return phi__strict_words_format(form, phi_json_str(value, NULL));
    if (phi__str_is(key, "pattern")) return phi_json_is(value, PHI_JSON_STRING);
    if (phi__str_is(key, "minItems") && form == PHI__STRICT_ANTHROPIC)
        return phi_json_int(value, 2) <= 1;
    return phi_json_is(value, PHI_JSON_NUMBER);
}

PHI__FN const char *phi__strict_words_next(phi__strict_form form, size_t *at) {
    while (*at < PHI__COUNT(phi__strict_words_all)) {
        const phi__strict_word *word = &phi__strict_words_all[(*at)++];
        if ((word->forms >> form & 1u) != 0) return word->name;
    }
    return NULL;
}
