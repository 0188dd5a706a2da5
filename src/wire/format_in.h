/* format_in.h - structured output: what a target has for it, and what stands in for it where it has
   nothing. */
#ifndef PHI_WIRE_FORMAT_IN_H
#define PHI_WIRE_FORMAT_IN_H

#include "wire/codec_in.h"

/* Makes of ask->format what this target understands, before the request is begun. Where it has a
   way of its own, the format stays, with a name and with a schema that it takes. Else the format
   becomes TEXT, and PHI_RESPOND_TOOL is put behind the tools, forced as far as the target allows
   that (ask->respond). What is made lives in `arena`; ask->tools and ask->system_prompt may then
   point there.
   PHI_BAD_ARG: it cannot be done, `words` say why; PHI_NO_MEMORY. */
PHI__FN phi_status phi__format_apply(const phi__codec *codec, phi__ask *ask, phi_arena *arena,
                                     char *words, size_t words_size);
/* For codecs: a line more of the system prompt. False: no memory. */
PHI__FN bool phi__format_say(phi__ask *ask, phi_arena *arena, const char *line);

#endif
