/* strict_none.c - PHI_NO_STRICT: no schema has a strict form, so there are no nulls to take out
   again. */
#include "wire/strict_in.h"

#include <stdio.h>

#ifdef PHI_NO_STRICT

PHI__FN bool phi__strict_schema(phi__buf *out, phi_str schema, phi__strict_form form, char *words,
                                size_t words_size) {
    (void)out;
    (void)schema;
    (void)form;
    if (words_size > 0) (void)snprintf(words, words_size, "%s", PHI__STRICT_LEFT_OUT);
    return false;
}

PHI__FN size_t phi__strict_nulls(const phi_json *schema, phi_json *value) {
    (void)schema;
    (void)value;
    return 0;
}

#endif
