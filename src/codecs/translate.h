/* translate.h - adapts a history that several models wrote to one model. */
#ifndef PHI_CODECS_TRANSLATE_H
#define PHI_CODECS_TRANSLATE_H

#include "base/arena.h"
#include "model/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Gives the messages in a form that `target` accepts. Pure: the same messages give the same list,
   and no message is changed. In the list, a message that needs no change is the caller's message;
   the others are copies in the arena.

   Thinking, signatures and opaque blocks stay in answers of the target itself (same model, provider
   and protocol) and are left out of other answers. Tool call ids become ids that the target
   accepts, the same in a call and its result. These are left out: cut calls, results without their
   call, second results, extensions, and answers without remaining content. A call without a result
   gets an error result, "No result provided". Images, documents and audio that the target does not
   take become lines of text (for images see PHI_QUIRK_NO_IMAGES). docs/providers.md has the details
   of each protocol.

   Ownership: *out and the copies are in the arena and point into the given messages.
   Errors: PHI_NO_MEMORY, PHI_BAD_ARG (protocol or id of the target is missing). *out is then not
           set.
   Threads: any. */
PHI_API phi_status phi_translate(const phi_model *target, const phi_message *const *messages,
                                 size_t count, phi_arena *arena, const phi_message *const **out,
                                 size_t *out_count);

#ifdef __cplusplus
}
#endif
#endif
