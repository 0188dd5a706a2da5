/* strict_in.h - a JSON Schema in the strict form that a provider can enforce, and the way back.

   In OpenAI's form every object is closed and every property required: an optional property may be
   null instead, and phi__strict_nulls takes those nulls out of the arguments again. Anthropic's
   form leaves optional properties optional. Keywords that only narrow a value (minLength, pattern,
   ...) and that a form does not have move into the description: arguments are checked against the
   original schema in any case. Keywords that cannot be left out without a change of meaning (oneOf,
   patternProperties, ...) are refused. */
#ifndef PHI_WIRE_STRICT_IN_H
#define PHI_WIRE_STRICT_IN_H

#include "wire/wire_in.h"
#include "text/text_in.h"
#include "wire/codec_in.h"

/* Appends the schema in that form, always the same bytes for the same text. False: no memory
   (out->failed), or the schema has no such form: `words` (terminated) then say where and why: at
   /properties/a: "oneOf" has no strict form. The appended bytes are then of no use. */
PHI__FN bool phi__strict_schema(phi__buf *out, phi_str schema, phi__strict_form form, char *words,
                                size_t words_size);

/* The form in which a model takes strict tools. */
PHI__FN phi__strict_form phi__strict_form_of(const phi__codec *codec, const phi_model *model);

#endif
