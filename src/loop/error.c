/* error.c - the runtime's last error. */
#include "loop/error_in.h"

#include "base/words_in.h"
#include "loop/state_in.h"

#include <stdarg.h>
#include <stdio.h>

PHI__FN phi_status phi__error(phi_runtime *rt, phi_status status, const char *format, ...) {
    va_list args;
    if (rt == NULL) return status;
    va_start(args, format);
    (void)vsnprintf(rt->last_error.words, sizeof rt->last_error.words, format, args);
    va_end(args);
    rt->last_error.words[phi__words_clean(rt->last_error.words, strlen(rt->last_error.words))] =
        '\0';
    rt->last_error.status = status;
    return status;
}

PHI__FN phi_status phi__error_last(const phi_runtime *rt, const char **words) {
    if (words != NULL) *words = rt->last_error.words;
    return rt->last_error.status;
}
