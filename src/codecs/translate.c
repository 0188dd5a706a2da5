/* translate.c - see translate.h. The rules are in wire/translate.c. */
#include "codecs/translate.h"
#include "wire/codec_in.h"

/* ---- public ---- */

PHI_API phi_status phi_translate(const phi_model *target, const phi_message *const *messages,
                                 size_t count, phi_arena *arena, const phi_message *const **out,
                                 size_t *out_count) {
    if (target == NULL || target->protocol == NULL || target->id == NULL || arena == NULL ||
        out == NULL || out_count == NULL || (messages == NULL && count > 0))
        return PHI_BAD_ARG;
    return phi__translate(phi__codec_of(NULL, target), target, messages, count, arena, out,
                          out_count);
}
