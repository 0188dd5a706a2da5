/* schema.h - checks a value, such as the arguments of a tool call, against a JSON Schema.

   Understood: type (also several), enum, const, properties, required, additionalProperties, items
   (one schema for all items), minItems, maxItems, minLength, maxLength (in characters), minimum,
   maximum, exclusiveMinimum, exclusiveMaximum (numbers; the old booleans too), anyOf, oneOf, allOf,
   $ref to "#" or "#/a/b"; true and false as schemas; nullable. Keywords that only describe (title,
   description, default, examples, format, ...) are ignored. Keywords that would restrict but are
   not understood (pattern, not, if, uniqueItems, ...), and malformed keywords, restrict nothing.
   phi_agent_new refuses a tool whose schema has such keywords, and names them.
   Nothing is allocated. Nesting, references and work are bounded: a schema or value beyond these
   bounds gives PHI_TOO_BIG, never a hang or a crash. A value is checked only once against a schema,
   however often the schema refers to itself. To compare the names of an object of n members with a
   schema of m properties takes n x m units of work; 16,000,000 units are allowed (docs/limits.md).
   phi's own checks of arguments, answers and results need less: they look up names in a table. */
#ifndef PHI_TEXT_SCHEMA_H
#define PHI_TEXT_SCHEMA_H

#include "text/json.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Why a value does not fit, for a model: "arguments.path: expected string, got number". */
typedef struct phi_schema_error {
    char message[256]; /* terminated; cut between two characters if too long */
} phi_schema_error;

/* Checks `value`, which messages call `name` (NULL: "arguments"). PHI_OK: the value fits.
   PHI_PARSE: the value does not fit, and *error says why. PHI_TOO_BIG: nested too deeply, or too
   much work. PHI_BAD_ARG: schema or value is NULL. `error` may be NULL. */
PHI_API phi_status phi_schema_check(const phi_json *schema, const phi_json *value, const char *name,
                                    phi_schema_error *error);

#ifdef __cplusplus
}
#endif
#endif
