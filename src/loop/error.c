/* error.c - the runtime's last error. */
#include "loop/error_in.h"

#include "base/words_in.h"
#include "loop/state_in.h"

#include <stdarg.h>
#include <stdio.h>

PHI__FN phi_status phi__error(phi_runtime *rt, phi_status status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    (void)vsnprintf(rt->error_words, sizeof rt->error_words, format, args);
    va_end(args);
    rt->error_words[phi__words_clean(rt->error_words, strlen(rt->error_words))] = '\0';
    rt->error = status;
    rt->error_http_status = 0;
    return status;
}
