/* schema.h - checks a value against a JSON Schema: the arguments of a tool call.

   Understood: type (also several), enum, const, properties, required, additionalProperties, items
   (one schema for all items), minItems, maxItems, minLength, maxLength (in characters), minimum,
   maximum, exclusiveMinimum, exclusiveMaximum (numbers; the old booleans too), anyOf, oneOf, allOf,
   $ref to "#" or "#/a/b"; true and false as schemas; nullable. Keywords that only describe (title,
   description, default, examples, format, ...) are ignored. Keywords that would restrict but are
   not understood (pattern, not, if, uniqueItems, ...) restrict nothing, and neither does a
   malformed one; phi_agent_new refuses a tool whose schema has them, by name.
   Nothing is allocated. Nesting, references and work are bounded: a schema that goes beyond is
   PHI_TOO_BIG, never a hang or a crash. A value of a schema is checked once, however often the
   schema refers to itself; the names of an object of n members and of a schema of m properties cost
   n x m of the 16,000,000 units of work that there are (docs/limits.md). Where phi itself checks
   arguments, answers and results, it looks names up in a table. */
#ifndef PHI_TEXT_SCHEMA_H
#define PHI_TEXT_SCHEMA_H

#include "text/json.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The reason, in words that a model can act on: arguments.path: expected string, got number */
typedef struct phi_schema_error {
    char message[256]; /* terminated; cut at a character where it is too long */
} phi_schema_error;

/* Checks `value`. `name` is its name in messages (NULL: "arguments"); `error` may be NULL. PHI_OK;
   PHI_PARSE: it does not fit; PHI_TOO_BIG: too deep or too much work. */
PHI_API phi_status phi_schema_check(const phi_json *schema, const phi_json *value, const char *name,
                                    phi_schema_error *error);

#ifdef __cplusplus
}
#endif
#endif
