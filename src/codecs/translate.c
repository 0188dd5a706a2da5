/* translate.c - see translate.h: the rules are those of wire/translate.c, by the codec of the
   target's protocol. */
#include "codecs/translate.h"

#include "wire/translate_in.h"

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

PHI_API phi_status phi_translate_default(void *user_data, const phi_model *target,
                                         const phi_message *const *messages, size_t count,
                                         phi_arena *arena, const phi_message *const **out,
                                         size_t *out_count) {
    (void)user_data;
    return phi_translate(target, messages, count, arena, out, out_count);
}

PHI_API phi_status phi_translate_none(void *user_data, const phi_model *target,
                                      const phi_message *const *messages, size_t count,
                                      phi_arena *arena, const phi_message *const **out,
                                      size_t *out_count) {
    const phi_message **list;
    size_t i;
    (void)user_data;
    if (target == NULL || arena == NULL || out == NULL || out_count == NULL ||
        (messages == NULL && count > 0))
        return PHI_BAD_ARG;
    list = (const phi_message **)phi_arena_alloc(arena, phi__mul(phi__max(count, 1), sizeof *list));
    if (list == NULL) return PHI_NO_MEMORY;
    for (i = 0; i < count; i++) {
        phi_message *copy = NULL;
        if (messages[i]->role == PHI_ROLE_ASSISTANT) {
            copy = (phi_message *)phi_arena_alloc(arena, sizeof *copy);
            if (copy == NULL) return PHI_NO_MEMORY;
            *copy = *messages[i]; /* its blocks are shared */
            copy->model = phi_str_of(target->id);
            copy->provider =
                phi_str_of(target->provider != NULL ? target->provider : target->protocol);
            copy->protocol = phi_str_of(target->protocol);
        }
        list[i] = copy != NULL ? copy : messages[i];
    }
    *out = list;
    *out_count = count;
    return PHI_OK;
}
