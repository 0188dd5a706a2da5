/* structured.h - takes the JSON out of an answer and checks it against the request's schema.

   If phi_agent_desc.format asks for JSON, the text of an answer is JSON. phi_message_json hides how
   the provider was asked for JSON (docs/structured.md). */
#ifndef PHI_WIRE_STRUCTURED_H
#define PHI_WIRE_STRUCTURED_H

#include "model/message.h"
#include "model/model.h"
#include "text/json.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads the JSON of an assistant message: the arguments of PHI_RESPOND_TOOL, or else all texts of
   the message, joined without separators. If this text is not JSON but one Markdown code block, its
   fences are removed: models write fences if their provider does not enforce JSON. format: the
   format that the JSON must fit, as in phi_agent_desc (NULL: any). JSON_OBJECT requires an object.
   JSON_SCHEMA checks the part of the schema that schema.h understands. With `strict`, null members
   that mean absent ones are removed first.

   Ownership: *out and all its strings are in the arena. `message` (may be NULL with message_size 0)
   is terminated, and empty on success. PHI_BAD_ARG: `answer` is no assistant message, or its text
   is blank or not valid JSON. PHI_PARSE: the JSON does not fit ("answer.price: expected number, got
   string"), or the schema is not JSON. PHI_TOO_BIG: the JSON is nested too deeply, or the check
   takes too much work. PHI_NO_MEMORY. After any error *out is NULL and `message` says why. */
PHI_API phi_status phi_message_json(const phi_message *answer, const phi_format *format,
                                    phi_arena *arena, phi_json **out, char *message,
                                    size_t message_size);

#ifdef __cplusplus
}
#endif
#endif
