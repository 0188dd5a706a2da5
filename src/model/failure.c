/* failure.c - the words of failure kinds. */
#include "model/failure.h"

/* ---- public ---- */

PHI_API const char *phi_failure_kind_text(phi_failure_kind kind) {
    switch (kind) {
#define PHI_X(name, value, text)                                                                   \
    case PHI_FAILURE_##name: return text;
        PHI_FAILURE_LIST(PHI_X)
#undef PHI_X
    case PHI_FAILURE_NONE: break;
    }
    return "";
}
