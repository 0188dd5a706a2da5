/* deny_in.h - whether a shell command contains a pattern, however its words are spelled.

   A command is compared as it is; with quotes and backslashes taken out and blanks as one; and with
   the flags of each rm as "-rf". It is no parser of shell words: variables, substitutions, and
   scripts that a command writes and runs are not seen. */
#ifndef PHI_TOOLS_DENY_IN_H
#define PHI_TOOLS_DENY_IN_H

#include "base/base_in.h"

/* *found: the first of NULL-ended patterns that the command contains, or NULL. PHI_NO_MEMORY. */
PHI__FN phi_status phi__deny_find(phi_memory *memory, const char *command,
                                  const char *const *patterns, const char **found);

#endif
