/* agent_history.h - an agent's log: sessions, messages and rewrites. */
#ifndef PHI_AGENT_AGENT_HISTORY_H
#define PHI_AGENT_AGENT_HISTORY_H

#include "agent/agent.h"
#include "log/thread.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- sessions ---- */

/* Begins a session in a new log: the session id is new, loop ids count from 1 again, and the next
   run has no parent. The new log begins with copies of the messages in the active lane's view, so
   the next request stays the same; durable messages stay durable. With `empty` the new log begins
   empty. Runs, lanes, rewrites, notes and entries outside of the view are not copied, and the usage
   in phi_thread_info starts at zero. The agent's own usage, budget and queues continue. The old log
   is freed, queued events are purged, responses become stale, and pointers in popped events become
   invalid. If the old log is in a store, the whole log is saved and stays there under its id. The
   new log goes to the same store under an id that phi makes (phi_agent_info.thread_id). PHI_BUSY: a
   run is active; PHI_MISUSE: the agent belongs to phi_run, whose thread the host owns;
   PHI_NO_MEMORY (both logs exist for a moment); the store's status. After any of these nothing
   changed. */
PHI_API phi_status phi_agent_new_session(phi_agent agent, bool empty);

/* Calls phi_agent_new_session with `empty` false if the last run began more than threshold_ms ago.
   If rotated is not NULL, *rotated is true if a new session began. Does nothing for an agent that
   has not run in its session. */
PHI_API phi_status phi_agent_rotate(phi_agent agent, uint64_t threshold_ms, bool *rotated);

/* ---- the history ---- */

/* Returns the agent's whole log, to read it, to fork it, and to rewrite it while no run is active;
   NULL for a stale agent. phi_thread_message_at reads messages, phi_thread_append appends. The
   agent owns the thread, which is valid until the agent is freed. (With phi_run the thread belongs
   to the host.) phi_agent_use_thread and phi_agent_new_session put another log into the thread. So
   do phi_agent_reset and phi_agent_replace_messages, unless the thread is in a store: then the
   thread keeps its entries, and a fresh lane begins. */
PHI_API phi_thread *phi_agent_thread(phi_agent agent);

/* Moves an agent that has a store to another thread: saves and leaves the current thread, and loads
   the thread with this id. If the store has no such thread, a new thread begins. If thread_id is
   NULL, a new thread begins under an id that phi makes. The agent takes the session of the thread's
   last run, or a new session if there is no run. Input from phi_steer and phi_follow_up stays
   queued. Queued events are purged, and pointers in popped events become invalid. PHI_BUSY: a run
   is active, or another writer has the thread; PHI_MISUSE: the agent has no store; or the store's
   status. After any of these nothing changed. */
PHI_API phi_status phi_agent_use_thread(phi_agent agent, const char *thread_id);

/* Describes, as text in the arena, which messages of the view the policy would send now. With a
   policy, each group has a line that says if the group is sent, or why not; without one, a line
   says that all messages are sent. The text also names the opaque blocks that the agent's
   protocol does not take. During a run of phi_prompt_with that has a policy, that policy is
   used. PHI_STALE: the agent is gone; PHI_BAD_ARG: a pointer is NULL; PHI_NO_MEMORY. */
PHI_API phi_status phi_agent_explain(phi_agent agent, phi_arena *arena, phi_str *out);

/* Rewrites the agent's view like phi_thread_rewrite. During a run the rewrite is deferred: phi
   appends it after the run's last entry. An agent has at most one deferred rewrite: a newer one
   replaces it. PHI_EV_REWRITE reports the outcome, unless there is no memory. A duplicate does
   nothing, and the event says so. A rewrite of entries that the agent forgot meanwhile is
   refused. A deferred rewrite with switch_to switches lanes after the run. The run's events are
   still about the run's own lane, but phi_thread_message_at then reads the new lane. Copied. A
   deferred rewrite always has an op_id (phi_agent_info). A note of the log holds the rewrite
   (PHI_NOTE_DEFERRED). So if the process ends before the run does, the next agent that opens the
   thread from its store applies the rewrite. If rewrite is NULL, the deferred rewrite is
   withdrawn: it is not applied, and PHI_EV_REWRITE has PHI_CANCELLED. PHI_NOT_FOUND: no rewrite
   is deferred. PHI_BAD_ARG: the rewrite is not valid or, during a run, could never become valid.
   PHI_BUSY: the agent belongs to a phi_run that is over, and another run uses its thread.
   PHI_UNSUPPORTED: the runtime lacks phi_feature_deferred_rewrites. PHI_STALE, PHI_NO_MEMORY.
   After any of these nothing changed. */
PHI_API phi_status phi_agent_rewrite(phi_agent agent, const phi_rewrite *rewrite);

/* Replaces the history by copies of these messages; count 0 leaves it empty. Queued events are
   purged, and pointers in popped events become invalid; usage and queues stay. The messages may be
   the agent's own. If the agent has a memory limit and its thread is in a store, the entries that
   the store lacks are written first, so that the old messages can be evicted at once. PHI_BUSY: a
   run is active; PHI_MISUSE: the agent belongs to phi_run; PHI_BAD_ARG: phi_last_error names the
   message; PHI_NO_MEMORY, PHI_STALE. After any of these nothing changed. */
PHI_API phi_status phi_agent_replace_messages(phi_agent agent, const phi_message *messages,
                                              size_t count);

/* phi_agent_messages_to_json writes the messages of the agent's thread into the arena as a JSON
   array; during a run, the messages so far. PHI_STALE: the agent is gone; PHI_BAD_ARG: a pointer is
   NULL; PHI_NO_MEMORY; or the store's status if evicted messages cannot be recalled.
   phi_agent_messages_from_json reads such a text and replaces the history as
   phi_agent_replace_messages does. PHI_PARSE: the text cannot be read, *error (if given) says why,
   and nothing changed. */
PHI_API phi_status phi_agent_messages_to_json(phi_agent agent, phi_arena *arena, phi_str *out);
PHI_API phi_status phi_agent_messages_from_json(phi_agent agent, phi_str json,
                                                phi_parse_error *error);

#ifdef __cplusplus
}
#endif
#endif
