/* words_in.h - makes messages of bytes that came from a server or a file system. */
#ifndef PHI_BASE_WORDS_IN_H
#define PHI_BASE_WORDS_IN_H

#include "base/base_in.h"

/* Makes bytes fit for a terminal, in place: valid UTF-8 without control characters but newline and
   tab. CR LF becomes LF; any other control character (U+0000 to U+001F, U+007F to U+009F), any that
   changes the direction of text, and any byte that is no UTF-8 becomes '?'. Returns the
   length, which is not greater. */
PHI__FN size_t phi__words_clean(char *at, size_t len);
/* The same for one line: newline and tab become '?', too. */
PHI__FN size_t phi__words_clean_line(char *at, size_t len);

#endif
