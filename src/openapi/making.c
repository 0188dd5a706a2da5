/* making.c - messages and memory for the files that make an operation. */
#include "openapi/making_in.h"

#include <stdio.h>

PHI__FN bool phi__making_skip(phi__making *m, const char *place, const char *why) {
    (void)snprintf(m->message, sizeof m->message, "%s: %s", place, why);
    return false;
}

PHI__FN bool phi__making_lost(phi__making *m, const char *place) {
    if (!m->view.no_memory) return phi__making_skip(m, place, m->view.message);
    m->no_memory = true;
    return false;
}

PHI__FN bool phi__making_str(phi__making *m, phi_str text, phi_str *out) {
    if (phi__arena_str(m->arena, text, out)) return true;
    m->no_memory = true;
    return false;
}

PHI__FN void *phi__making_zero(phi__making *m, size_t count, size_t size) {
    void *at = phi__arena_zero(m->arena, phi__mul(count, size));
    if (at == NULL) m->no_memory = true;
    return at;
}
