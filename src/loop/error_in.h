/* error_in.h - the runtime's last error: a status, and a message with the fault and the right
   values. */
#ifndef PHI_LOOP_ERROR_IN_H
#define PHI_LOOP_ERROR_IN_H

#include "base/base.h"
#include "base/base_in.h"
#include "io/transport.h"

typedef struct phi__last_error {
    phi_status status;
    char words[256];
} phi__last_error;

/* Keeps both for phi_last_error, and returns the status. */
PHI__FN phi_status phi__error(phi_runtime *rt, phi_status status, const char *format, ...)
    PHI_PRINTF(3, 4);
/* words: may be NULL. */
PHI__FN phi_status phi__error_last(const phi_runtime *rt, const char **words);

#endif
