/* translate.h - makes a history that several models wrote fit for one of them. */
#ifndef PHI_CODECS_TRANSLATE_H
#define PHI_CODECS_TRANSLATE_H

#include "base/arena.h"
#include "model/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Puts messages into the form that `target` accepts; pure: the same messages give the same list,
   and none of them is changed. A message that needs no change is the caller's own, the rest are
   copies in the arena.

   Thinking, signatures and opaque items stay with answers of the target itself (model, provider and
   protocol are its own), and are left out of others; tool call ids become ids that the target
   accepts, the same in the call and its result; a call that was cut, a result without its call, a
   second result, extensions and answers without remaining content are left out; a call without a
   result gets one, an error "No result provided"; images become a line of text where the target
   takes none (PHI_QUIRK_NO_IMAGES). docs/providers.md has the details of each protocol.

   Ownership: *out and the copies are the arena's; they point into the messages given.
   Errors: PHI_NO_MEMORY, PHI_BAD_ARG (target.protocol or id is missing): *out is not set.
   Threads: any. */
PHI_API phi_status phi_translate(const phi_model *target, const phi_message *const *messages,
                                 size_t count, phi_arena *arena, const phi_message *const **out,
                                 size_t *out_count);

#ifdef __cplusplus
}
#endif
#endif
