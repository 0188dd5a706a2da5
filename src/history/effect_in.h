/* effect_in.h - effects: the changes that a tool makes to a JSON object. */
#ifndef PHI_HISTORY_EFFECT_IN_H
#define PHI_HISTORY_EFFECT_IN_H

#include "base/arena_in.h"
#include "base/buf_in.h"
#include "history/tool_state.h"
#include "text/json.h"

#ifndef PHI_NO_TOOL_STATE
/* The op of an effect, a PHI_EFFECT_ bit; 0: it has none. And its word; "" for none. Static. */
PHI__FN uint32_t phi__effect_op(const phi_json *effect);
PHI__FN const char *phi__effect_word(uint32_t op);
/* The fault of an effect; NULL: it has none. Static. */
PHI__FN const char *phi__effect_fault(const phi_json *effect);
/* Whether a text is an array of effects; else words about the fault. PHI_BAD_ARG, PHI_NO_MEMORY. */
PHI__FN phi_status phi__effect_check(phi_memory *memory, phi_str effects, char *words,
                                     size_t words_size);
/* Applies an effect without fault to the text of an object. *why: it is refused, static, and the
   text is as before; NULL: it was applied. PHI_NO_MEMORY. */
PHI__FN phi_status phi__effect_apply(phi__buf *text, const phi_json *effect, size_t max_bytes,
                                     phi_arena *arena, const char **why);
#endif

#endif
