/* tool_state.h - tool state: a JSON object next to the messages of a lane, which tools read and
   change by effects.

   The log has each change as a note of kind PHI_NOTE_STATE, so the state of a lane after any entry
   is a fold of its notes: a branch begins with the state at its fork, and a thread that is read
   again has the state that it had. A fresh lane, and a lane whose messages were replaced, begin
   with {}.

   Effects are a JSON array, at most 64, of objects with a member "op":

       {"op":"merge","value":{...}}              members of the value take the place of those of the
                                                 state; an object in an object is merged in turn
       {"op":"replace","value":{...}}            the state becomes the value
       {"op":"delete_keys","keys":["a","b"]}     members of the state go; a missing one is no error
       {"op":"set_path","path":"/a/0","value":1} a JSON Pointer (RFC 6901); missing objects on the
                                                 way are made, "-" appends to an array
       {"op":"delete_path","path":"/a/0"}        the value there goes; a missing one is no error
       {"op":"emit","name":"x","value":...}      the state stays; the host gets PHI_EV_EFFECT */
#ifndef PHI_LOG_TOOL_STATE_H
#define PHI_LOG_TOOL_STATE_H

#include "model/effects.h"
#include "log/thread.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A note of phi's own: {"call":...,"effects":[...],"denied":[{"op":...,"why":...}],"state":{...}}:
   the call that had the effects (none: the host set the state); the effects that were applied; the
   others; and, now and then, the whole state after them, where a reader may begin. */
#define PHI_NOTE_STATE "phi.state"

/* The state of a lane (NULL: the active one) after entry seq (UINT64_MAX, and all past the end:
   now), as JSON text in the arena. arena NULL: the active lane's state now, valid until it changes.
   PHI_NOT_FOUND: no such lane, or the entry is forgotten; PHI_BAD_ARG, PHI_NO_MEMORY; the store's
   status. */
PHI_API phi_status phi_thread_tool_state(const phi_thread *thread, const char *lane, uint64_t seq,
                                         phi_arena *arena, phi_str *out);

#ifdef __cplusplus
}
#endif
#endif
