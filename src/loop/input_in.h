/* input_in.h - input.c for the other files of this room. */
#ifndef PHI_LOOP_INPUT_IN_H
#define PHI_LOOP_INPUT_IN_H

#include "loop/loop_in.h"

PHI__FN phi_status phi__input_add(phi__agent *agent, phi_input kind, const phi_content *content,
                                  size_t count, phi_str source, phi_str details);
PHI__FN void phi__input_emit_dropped(phi__agent *agent, phi_input kind, phi_str text,
                                     const char *why);

#endif
