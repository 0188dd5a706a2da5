/* structured.h - takes the JSON of an answer out of a message and checks it against the request's
   schema.

   If phi_agent_desc.format asks for JSON, the text of an answer is JSON. With this function a host
   need not know how the provider was asked for JSON (docs/structured.md). */
#ifndef PHI_WIRE_STRUCTURED_H
#define PHI_WIRE_STRUCTURED_H

#include "model/message.h"
#include "model/model.h"
#include "text/json.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads the JSON of an assistant message: the arguments of PHI_RESPOND_TOOL, or else all texts of
   the message, joined without separators. If this text is not JSON but has a pair of Markdown
   fences around it, the fences are removed, since models write fences if their provider does not
   enforce JSON. format: what the answer must fit, as in phi_agent_desc (NULL: anything).
   JSON_OBJECT requires an object; JSON_SCHEMA checks the part of the schema that schema.h
   understands. With `strict` a strict schema makes every property required, so members that are
   null for this reason are removed first.
   Ownership: *out with all its text is in the arena. message (may be NULL with message_size 0) is
              terminated, and empty on success. PHI_BAD_ARG: not an assistant message, blank, or not
              valid JSON; PHI_PARSE: the JSON does not fit, or the schema is not JSON
              ("answer.price: expected number, got string"); PHI_TOO_BIG: nested too deeply, or too
              much work; PHI_NO_MEMORY. After any of these *out is NULL and message says why. */
PHI_API phi_status phi_message_json(const phi_message *answer, const phi_format *format,
                                    phi_arena *arena, phi_json **out, char *message,
                                    size_t message_size);

#ifdef __cplusplus
}
#endif
#endif
