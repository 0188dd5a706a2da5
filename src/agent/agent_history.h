/* agent_history.h - an agent's log: its sessions, its messages, its rewrites. */
#ifndef PHI_AGENT_AGENT_HISTORY_H
#define PHI_AGENT_AGENT_HISTORY_H

#include "agent/agent.h"
#include "log/thread.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- sessions ---- */

/* Begins a session, in a new log: a new session id, loop ids count from 1, and the next run has no
   parent. The new log begins with copies of the messages in the active lane's view, durable ones
   durable still, so that the next request is the same; with `empty` it begins with nothing. Runs,
   lanes, rewrites, notes and entries outside of the view stay behind, and the usage of
   phi_thread_info begins at zero; the agent's own usage, its budget and its queues continue. The
   old log is freed, queued events are purged, responses are stale, and pointers out of popped
   events are invalid. A log in a store is saved there and left, whole, under its id; the new log is
   in the same store under an id that phi makes (phi_agent_info.thread_id). PHI_BUSY while running;
   PHI_MISUSE: an agent of phi_run, whose thread is the host's; PHI_NO_MEMORY (for a moment there
   are both); the store's status; then nothing changed. */
PHI_API phi_status phi_agent_new_session(phi_agent agent, bool empty);

/* The same, not empty, if the last run began more than threshold_ms ago; *rotated, where given,
   says whether. An agent that never ran in its session is left alone. */
PHI_API phi_status phi_agent_rotate(phi_agent agent, uint64_t threshold_ms, bool *rotated);

/* ---- the history ---- */

/* The agent's whole log: to read, to fork, to rewrite while no run is active. Owned by the agent,
   valid until it is freed (of a phi_run: the thread that it runs over); NULL for a stale agent.
   phi_thread_message_at reads it, phi_thread_append appends to it. phi_agent_use_thread and
   phi_agent_new_session begin another log in it, and so do phi_agent_reset and
   phi_agent_replace_messages; but a thread in a store keeps its entries then, and a fresh lane
   begins. */
PHI_API phi_thread *phi_agent_thread(phi_agent agent);

/* For an agent with a store: it saves and leaves its thread, and continues with another, loaded or,
   where the store has none of that id, new; NULL: new, with an id that phi makes. The session is
   that of the thread's last run, else a new one; input queued by phi_steer and phi_follow_up stays
   with the agent; queued events are purged, and pointers out of popped events are invalid. PHI_BUSY
   while running, or another writer has the thread; PHI_MISUSE: no store; or the store's status:
   then nothing changed. */
PHI_API phi_status phi_agent_use_thread(phi_agent agent, const char *thread_id);

/* Which messages of the view the policy would send now, a line for each group and why not the rest,
   and which opaque blocks the agent's protocol does not take, in the arena; during a run of
   phi_prompt_with that has a policy, by that policy. PHI_STALE, PHI_BAD_ARG, PHI_NO_MEMORY. */
PHI_API phi_status phi_agent_explain(phi_agent agent, phi_arena *arena, phi_str *out);

/* As phi_thread_rewrite; during a run the rewrite is deferred until the run has ended, after its
   last entry. An agent has at most one deferred rewrite: a newer one replaces it. PHI_EV_REWRITE
   reports the outcome, unless memory runs out; of a duplicate its text says that nothing was done,
   and spans of entries that the agent forgot meanwhile are refused. Lanes can be switched during a
   run in this way (switch_to): events of the run are about its own lane then, phi_thread_message_at
   about the new one. Copied. The deferred rewrite has an op_id in any case (phi_agent_info), and a
   note of the log holds it (PHI_NOTE_DEFERRED): where the process ends before the run does, the
   next agent that opens the thread out of its store applies it. rewrite NULL withdraws the deferred
   one: it is not applied, and PHI_EV_REWRITE says PHI_CANCELLED. PHI_NOT_FOUND: none is deferred.
   PHI_BAD_ARG: the rewrite is not valid, or, during a run, could never be; PHI_BUSY: the agent is
   of a phi_run that is over, and another run uses its thread; PHI_STALE, PHI_NO_MEMORY: nothing
   changed. */
PHI_API phi_status phi_agent_rewrite(phi_agent agent, const phi_rewrite *rewrite);

/* Replaces the history by copies of these messages; count 0: by nothing. Queued events are purged,
   and pointers out of popped ones are invalid; usage and queues stay. The messages may be the
   agent's own. For an agent with a memory limit whose thread is in a store it writes the entries
   that the store lacks, so that the old messages are evicted at once. PHI_BUSY while running;
   PHI_MISUSE: an agent of phi_run; PHI_BAD_ARG: phi_last_error names the message; PHI_NO_MEMORY,
   PHI_STALE: nothing changed. */
PHI_API phi_status phi_agent_replace_messages(phi_agent agent, const phi_message *messages,
                                              size_t count);

/* The messages of the agent's thread as a JSON array in the arena; during a run as far as it has
   come. PHI_STALE, PHI_BAD_ARG, PHI_NO_MEMORY; the store's status, when evicted messages cannot be
   recalled. And back, as phi_agent_replace_messages: *error, where given, says why the text was not
   read (PHI_PARSE), and then nothing changed. */
PHI_API phi_status phi_agent_messages_to_json(phi_agent agent, phi_arena *arena, phi_str *out);
PHI_API phi_status phi_agent_messages_from_json(phi_agent agent, phi_str json,
                                                phi_parse_error *error);

#ifdef __cplusplus
}
#endif
#endif
