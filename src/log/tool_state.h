/* tool_state.h - tool state: a JSON object that a lane has besides its messages. Tools read it, and
   change it by effects.

   The log has each change as a note of the kind PHI_NOTE_STATE. The state of a lane after an entry
   results from the lane's notes up to that entry. So a branch begins with the state at its fork,
   and a thread that is loaded again has its last state. A fresh lane, and a lane whose messages
   were replaced, begin with {}.

   Effects are a JSON array of at most 64 objects, each with a member "op":

       {"op":"merge","value":{...}}              members of the value replace those of the state;
                                                 objects inside objects are merged, too
       {"op":"replace","value":{...}}            the state becomes the value
       {"op":"delete_keys","keys":["a","b"]}     removes these members; a missing one is no error
       {"op":"set_path","path":"/a/0","value":1} sets the value at a JSON Pointer (RFC 6901);
                                                 makes missing objects, "-" appends to an array
       {"op":"delete_path","path":"/a/0"}        removes this value; a missing one is no error
       {"op":"emit","name":"x","value":...}      no change; the host gets PHI_EV_EFFECT */
#ifndef PHI_LOG_TOOL_STATE_H
#define PHI_LOG_TOOL_STATE_H

#include "model/effects.h"
#include "log/thread.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A note that phi writes:
   {"call":...,"effects":[...],"denied":[{"op":...,"why":...}],"state":{...}}. "call" is the call
   that had the effects (missing if the host set the state). "effects" are the effects that were
   applied, and "denied" the others. Some notes also have the whole state after the effects in
   "state", so a reader can begin there. */
#define PHI_NOTE_STATE "phi.state"

/* Gets the state of a lane (NULL: the active lane) after entry seq, as JSON text in the arena, or
   the current state if seq is past the end, for example UINT64_MAX. If arena is NULL, lane must be
   NULL and seq UINT64_MAX; the text is then valid until the state changes. PHI_NOT_FOUND: there is
   no such lane, or the entry is forgotten. PHI_BAD_ARG: an argument is missing or does not fit.
   Otherwise PHI_NO_MEMORY or the store's status. */
PHI_API phi_status phi_thread_tool_state(const phi_thread *thread, const char *lane, uint64_t seq,
                                         phi_arena *arena, phi_str *out);

#ifdef __cplusplus
}
#endif
#endif
