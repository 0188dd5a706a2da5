/* structured.h - the JSON of an answer: takes it out of a message and checks it against the
   request's schema.

   The text of an answer is JSON where phi_agent_desc.format asked for it. It is read here, so that
   a host need not know how the provider was asked for it (docs/structured.md). */
#ifndef PHI_WIRE_STRUCTURED_H
#define PHI_WIRE_STRUCTURED_H

#include "model/message.h"
#include "model/model.h"
#include "text/json.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The JSON of an assistant message: the arguments of PHI_RESPOND_TOOL, or else all its texts,
   joined without anything between. One pair of Markdown fences around it is taken off, if the text
   with it is no JSON: models write them where their provider does not enforce JSON.
   format: what the answer must fit, as in phi_agent_desc (NULL: anything). JSON_OBJECT wants an
   object; JSON_SCHEMA checks the part of the schema that schema.h understands. With `strict`,
   members that are null because a strict schema makes every property required are removed first.
   Ownership: *out lives in the arena, text and all. message (may be NULL with message_size 0) is
   terminated, and empty on success.
   PHI_BAD_ARG: not an assistant's message, blank, or not valid JSON; PHI_PARSE: it does not fit, or
   the schema is no JSON: message says why ("answer.price: expected number, got string");
   PHI_TOO_BIG: nested too deeply, or too much work; PHI_NO_MEMORY. Then *out is NULL and message
   says why. */
PHI_API phi_status phi_message_json(const phi_message *answer, const phi_format *format,
                                    phi_arena *arena, phi_json **out, char *message,
                                    size_t message_size);

#ifdef __cplusplus
}
#endif
#endif
