/* format_in.h - structured output: a target's own form of it, and a tool in its place where it has
   none. */
#ifndef PHI_WIRE_FORMAT_IN_H
#define PHI_WIRE_FORMAT_IN_H

#include "wire/codec_in.h"

/* Adapts ask->format to this target, before the request is begun. Where the target has structured
   output, the format stays, with a name and with a schema that the target accepts. Else the format
   becomes TEXT, and PHI_RESPOND_TOOL is put behind the tools, forced as far as the target allows
   that (ask->respond). The new values live in `arena`; ask->tools and ask->system_prompt may then
   point there.
   PHI_BAD_ARG: it cannot be done, `words` say why; PHI_NO_MEMORY. */
PHI__FN phi_status phi__format_apply(const phi__codec *codec, phi__request_spec *spec,
                                     phi_arena *arena, char *words, size_t words_size);
PHI__FN const struct phi__formats *phi__format_ops(void);

/* For codecs: a line more of the system prompt. False: no memory. */
PHI__FN bool phi__format_say(phi__request_spec *spec, phi_arena *arena, const char *line);

#endif
