/* strict_in.h - a JSON Schema in the strict form that a provider can enforce, and the way back.

   In OpenAI's form every object is closed and every property required: an optional property may be
   null instead, and phi__strict_nulls takes those nulls out of the arguments again. Anthropic's
   form leaves optional properties optional. Keywords that only narrow a value (minLength, pattern,
   ...) and that a form does not have move into the description: arguments are checked against the
   original schema in any case. Keywords that cannot be left out without a change of meaning (oneOf,
   patternProperties, ...) are refused. */
#ifndef PHI_WIRE_STRICT_IN_H
#define PHI_WIRE_STRICT_IN_H

#include "text/json_in.h"
#include "wire/codec_in.h"

/* The schema that "#" or "#/a/b" names, by names of members (~1 is a slash, ~0 a tilde); NULL:
   none. *looked grows by the members visited. */
PHI__FN const phi_json *phi__schema_ref_find(const phi_json *root, phi_str ref, size_t *looked);

/* A tool's schema in one form. */
struct phi__adapted {
    phi_str schema, refused; /* one of them; refused: words */
    bool done;
    /* of PHI__STRICT_BY_CODEC */
    bool (*by)(phi__buf *out, phi_str schema, char *words, size_t words_size);
};

/* Strict forms and formats, by pointer: phi_feature_formats names them. */
typedef struct phi__formats {
    bool (*schema)(phi__buf *out, phi_str schema, phi__strict_form form, char *words,
                   size_t words_size);
    size_t (*nulls)(const phi_json *schema, phi_json *value);
    /* phi__format_apply */
    phi_status (*apply)(const phi__codec *codec, phi__request_spec *spec, phi_arena *arena,
                        char *words, size_t words_size);
} phi__formats;

/* Appends the schema in that form, always the same bytes for the same text. False: no memory
   (out->failed), or the schema has no such form: `words` (terminated) then say where and why: at
   /properties/a: "oneOf" has no strict form. The appended bytes are then of no use. */
PHI__FN bool phi__strict_schema(phi__buf *out, phi_str schema, phi__strict_form form, char *words,
                                size_t words_size);

/* The form in which a model takes strict tools. */
PHI__FN phi__strict_form phi__strict_tools_form_of(const phi__codec *codec, const phi_model *model);

/* Makes the form of each strict tool (by PHI__STRICT_BY_CODEC: of each tool) that has none yet,
   into `arena`, which lives as long as the views. False: no memory. */
PHI__FN bool phi__strict_tools_adapt(phi__tool_view *tools, size_t count, const phi__codec *codec,
                                     const phi_model *model, phi_arena *arena);

/* Checks the tools up to the first that the target cannot take: PHI_BAD_ARG with a message that
   names tool and place; PHI_OK; PHI_NO_MEMORY. A schema that is not adapted yet is adapted in
   `scratch` memory and not kept. */
PHI__FN phi_status phi__strict_tools_refused(const phi__codec *codec, const phi__request_spec *spec,
                                             phi_memory *scratch, char *words, size_t words_size);

/* For codecs: a tool's name, its description and its schema as members of an object that the codec
   opens and closes; `schema`: the schema's key, with its comma and colon. Returns whether the
   schema is a strict one. */
PHI__FN bool phi__strict_tools_put_tool(phi__encoder *e, const phi__tool_view *tool,
                                        const char *schema);

/* Takes the members out of `value` that are null and that the schema neither requires nor allows to
   be null. Returns how many. Bounded work: what would take more is left as it is. */
PHI__FN size_t phi__strict_nulls(const phi_json *schema, phi_json *value);

#endif
