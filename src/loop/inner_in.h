/* inner_in.h - the functions that the files of loop/ share with each other, by file.
   Threads: only the pumping thread calls them. */
#ifndef PHI_LOOP_INNER_IN_H
#define PHI_LOOP_INNER_IN_H

#include "loop/loop_in.h"

/* ---- schedule.c ---- */
/* True if a watcher of a child points into the agent's log. */
PHI__FN bool phi__find_reader(const phi__agent *agent);
PHI__FN void phi__schedule_unready(phi__run *run); /* no effect if the run is not ready */

/* Removes and returns the first run of the ready list. NULL: none is ready. */
PHI__FN phi__run *phi__schedule_next_ready(phi_runtime *rt);
PHI__FN bool phi__schedule_timer_set(phi__run *run, uint64_t at_us); /* the timer wakes the run */

/* Makes the agent's state visible to other threads. */
PHI__FN void phi__schedule_publish_state(const phi__agent *agent, bool running);

/* Reads the clock for values that are only displayed: a tape does not record this reading. */
PHI__FN uint64_t phi__schedule_look_us(const phi_runtime *rt);

/* ---- session.c ---- */
PHI__FN void phi__session_init(phi__sessions *sessions, phi_memory *memory);

/* All sessions must have been dropped before. */
PHI__FN void phi__session_free_all(phi__sessions *sessions);

/* Returns the next run number of a segment. 0: no memory; nothing changed. */
PHI__FN uint32_t phi__session_next(phi__sessions *sessions, phi__session *session, phi_str segment);

/* Takes the last number back, because its run could not begin. */
PHI__FN void phi__session_undo(phi__session *session, phi_str segment);

/* Replaces *session by a session with another id (a UUID) and no counts. A session without other
   users is renamed, which needs no memory. False: no memory; nothing changed. */
PHI__FN bool phi__session_renew(phi__sessions *sessions, phi__session **session, phi_str id);

/* Records that a run with this id begins. False: no memory; nothing changed. */
PHI__FN bool phi__line_begin_run(phi__agent *agent, phi_str loop_id);

/* Makes later run numbers of the segment exceed `runs`; ignores runs > 2^31. False: no memory. */
PHI__FN bool phi__session_go_on(phi__sessions *sessions, phi__session *session, phi_str segment,
                                uint64_t runs);

/* Copies the loop id that will be the parent of the next run. False: no memory. */
PHI__FN bool phi__line_remember(phi__agent *agent, phi_str loop_id);

/* ---- feature.c ---- */
/* Returns PHI_UNSUPPORTED, with a message that `what` ("failover") needs the feature `name`. */
PHI__FN phi_status phi__feature_missing(phi_runtime *rt, const char *what, const char *name);

/* Makes the arguments of a point of a run (NULL: of an agent). The caller sets more fields. */
PHI__FN phi__moment phi__feature_moment(phi__agent *agent, const phi__run *run, phi__point point);

/* Calls the features at the point. Returns the outcome. */
PHI__FN phi__state phi__feature_take(phi__moment *moment);

/* Determines which features take part in a run that begins or is restored. */
PHI__FN void phi__feature_begin(phi__run *run);

/* Call the features at a point of the run, or of a tool call. Return the outcome. */
PHI__FN phi__state phi__feature_run(phi__run *run, phi__point point);

PHI__FN phi__state phi__feature_call(phi__toolcall *call, phi__point point);

/* held: calls the feature that holds the run. held_as: returns the state that a snapshot saves. */
PHI__FN phi__state phi__feature_held(phi__run *run, bool *wait);
PHI__FN phi__state phi__feature_held_as(const phi__run *run);

/* ---- events.c ---- */
PHI__FN void phi__events_free(phi__events *events);
/* makes an answer for the run's current turn */
PHI__FN phi__answer *phi__answer_new(phi__run *run);
PHI__FN void phi__answer_drop(phi__answer *answer); /* drops one reference; NULL is allowed */
PHI__FN bool phi__answer_room(phi__answer *answer); /* allocates a view of all blocks */

/* Returns the answer so far as a message. NULL: no memory. */
PHI__FN const phi_message *phi__answer_whole(phi__answer *answer);

/* Ends an answer: `final`, in the thread, replaces the assembly. final NULL: there is no answer. */
PHI__FN void phi__answer_settle(phi__answer *answer, const phi_message *final);

/* Queues an event whose message has copies of a tool result's texts and images, and copies the
   event's child_loop_id. False: no memory. */
PHI__FN bool phi__events_emit_part(phi__agent *agent, const phi_event *event,
                                   const phi_message *part);

/* Like phi__events_emit, for an event that shows the answer. */
PHI__FN bool phi__events_emit_of(phi__agent *agent, const phi_event *event, phi__answer *answer);

/* Queues a delta of an answer. The event is built in place, because there are many deltas. */
PHI__FN bool phi__events_emit_delta(phi__agent *agent, phi_event_kind kind, uint32_t block_index,
                                    phi_str text, phi__answer *answer, size_t partial_len);

/* Queues PHI_EV_OPAQUE with copies of the block's type and JSON. */
PHI__FN bool phi__events_emit_opaque(phi__agent *agent, uint32_t block_index, phi_str type,
                                     phi_str json, phi__answer *answer);

/* Emits PHI_EV_WARNING about the call of this block. False: no memory. */
PHI__FN bool phi__events_warn_call(phi__agent *agent, const phi_content *block, phi_str text);
/* true if the queued events have reached event_queue_bytes */
PHI__FN bool phi__events_backlog(const phi__agent *agent);

/* stamp sets the message's time, loop id and turn. entry makes a log entry with the same values. */
PHI__FN void phi__events_stamp(const phi__run *run, phi_message *message);
PHI__FN phi__entry phi__events_entry(const phi__run *run, phi_entry_kind kind);

/* Emits MESSAGE_START and MESSAGE_END of a logged message. False: no memory. */
PHI__FN bool phi__events_message(phi__run *run, const phi_message *message, phi_input input,
                                 phi_str source);

/* Appends a message and emits its events. False: no memory. */
PHI__FN bool phi__events_log(phi__run *run, const phi_message *kept);

/* Frees events that were popped before this step: some of them, or all. */
PHI__FN void phi__events_release(phi_runtime *rt, bool all);

/* Frees the agent's events, also those that the host has popped. */
PHI__FN void phi__events_purge(phi_runtime *rt, phi__agent *agent);

/* ---- hooks.c ---- */
enum { PHI__QUESTION_MOST = 64 }; /* maximum of open questions for an agent */

/* Ends the questions of a finished call in the next step. A question whose hook is running ends
   after the hook. */
PHI__FN void phi__question_call_over(const phi__toolcall *call);
PHI__FN void phi__decision_init(phi__decision *decision, phi__agent *agent, phi__run *run,
                                phi__toolcall *call); /* run: NULL for a question */

/* Calls the hook, or takes the decision made since the last call. The reply is in decision->reply
   until the next call. */
PHI__FN phi__hooked phi__hooks_decide(phi__decision *decision, phi_hook *hook, phi_hook_fn fn,
                                      void *user_data);
PHI__FN phi__hooked phi__hooks_call(phi__toolcall *call, phi_hook *hook);
PHI__FN void *phi__hooks_user_data(const phi__agent *agent); /* returns the user_data for hook_fn */
PHI__FN void phi__decision_posted(phi_runtime *rt, const phi__post *post);

/* Takes a decision without a text. */
PHI__FN void phi__decision_marked(phi_runtime *rt, uint32_t index);

PHI__FN void phi__question_drop_all(phi__agent *agent);

/* ---- input.c ---- */
/* Appends a message to a queue, without checking the queue's limit. */
PHI__FN phi_status phi__input_append(phi__agent *agent, phi__inputs *to, phi_input kind,
                                     const phi_content *content, size_t count, phi_str source,
                                     phi_str details);

/* Moves messages from the queue to the pending input, then adds replies of the agent's hook. */
PHI__FN phi__hooked phi__input_poll(phi__run *run, phi_input kind);
PHI__FN void phi__input_take_injected(phi__run *run); /* makes injected messages pending */
PHI__FN void phi__input_end(phi__run *run);           /* frees the pending input */

/* Returns the pending input to its queues. Injected messages are reported as dropped. */
PHI__FN void phi__input_return(phi__run *run);
PHI__FN void phi__input_drop_injected(phi__agent *agent);
PHI__FN void phi__input_poll_end(phi__run *run); /* gives up a waiting poll */

/* Logs the pending input. False: no memory. */
PHI__FN bool phi__input_deliver(phi__run *run);
PHI__FN void phi__filter_init(phi__run *run);

/* Filter the prompts, or the pending input. Warnings are added to the messages. DENY: the reason
   was emitted, and the rejected input was dropped. */
PHI__FN phi__hooked phi__filter_prompts(phi__run *run);
PHI__FN phi__hooked phi__filter_pending(phi__run *run);
PHI__FN void phi__filter_end(phi__run *run); /* ends the current filtering */

/* Returns NULL if the agent has no such queue. */
PHI__FN phi__inputs *phi__input_list_of(phi__agent *agent, phi_input kind);

/* Appends a message to the agent's queue. PHI_FULL: the queue's limit is reached. */
PHI__FN phi_status phi__input_add(phi__agent *agent, phi_input kind, const phi_content *content,
                                  size_t count, phi_str source, phi_str details);

PHI__FN void phi__input_emit_dropped(phi__agent *agent, phi_input kind, phi_str text,
                                     const char *why);

/* ---- posts.c ---- */
/* Reads a bounded number of posts from other threads. */
PHI__FN void phi__posts_read(phi_runtime *rt);

/* ---- limits.c ---- */
PHI__FN uint64_t phi__charge_tokens(const phi_usage *usage);
PHI__FN void phi__charge_clear(phi__run *run); /* called when a turn begins */

/* Charge the turn's answer, or an attempt. */
PHI__FN void phi__charge_turn(phi__run *run, const phi_usage *usage);
PHI__FN void phi__charge(phi__run *run, const phi_usage *usage);

PHI__FN void phi__budget_release(phi__run *run); /* releases the reservation, if any */

/* Returns the failure for runs that the agent's memory limit ends. NULL: the agent has no limit. */
PHI__FN const phi_failure *phi__at_limit_of(const phi__agent *agent);

PHI__FN bool phi__limits_line_reserve(phi__run *run, const phi_spending *wanted, char *reason,
                                      size_t size);

/* ---- turn.c ---- */
/* Advances each ready run until it waits or is over, as far as the step's slice allows. */
PHI__FN void phi__turn_advance_all(phi_runtime *rt);

/* ---- projection.c ---- */
/* Computes the messages of this turn's model call, unless that was already done, and emits
   warnings. False: *next is the run's next state. */
PHI__FN bool phi__projection_ensure(phi__run *run, phi__state *next);

/* Returns the policy of the active run, or else of the agent. NULL: none. */
PHI__FN const phi_policy *phi__projection_policy(const phi__agent *agent);

/* Copies a policy for this run only. NULL: none. False: no memory. */
PHI__FN bool phi__projection_take_policy(phi__run *run, const phi_policy *policy);

/* Returns the messages that the policy chose. NULL: the whole view. */
PHI__FN const phi__item *phi__projection_list(const phi__run *run, size_t *count);

/* ---- head.c ---- */
/* Puts the head into a request whose items are known, and appends changes. False: no memory. */
PHI__FN bool phi__head_apply(phi__run *run);

PHI__FN void phi__head_free(phi__agent *agent); /* no effect without a head */

/* Writes the head to a snapshot as the member "head", if the agent has one:
   "head":{"id":"HASH","system":"TEXT","tools":[["NAME","DESCRIPTION","SCHEMA",STRICT],...],
   "searches":true}
   A restored agent keeps its head, so that earlier thinking stays valid. */
PHI__FN void phi__head_save(phi__buf *out, const phi__agent *agent);

/* On failure the agent has no head. Returns PHI_PARSE if the value is not a head. May also return
   PHI_NO_MEMORY. */
PHI__FN phi_status phi__head_load(phi__agent *agent, const phi_json *head);

/* ---- toolset.c ---- */
/* A request's mark for each tool of the set. Additional tools follow the set's tools. */
enum { PHI__TOOLSET_SHOWN = 0, PHI__TOOLSET_HIDDEN, PHI__TOOLSET_DEFERRED };

/* Copies tools for this run only. False: no memory. */
PHI__FN bool phi__toolset_take_run(phi__run *run, const phi_tool *tools, size_t count);
PHI__FN void phi__toolset_free_run(phi__run *run); /* no effect if the run has no own tools */

PHI__FN void phi__toolset_free(phi__toolset *set);

/* Makes the tool list of a request: the set's tools in the protocol's form, with `change` applied,
   then the raw tools for this protocol. names: the names of the codec; without a codec, only the
   name of the model's protocol. *views is in the arena, or is the set's own list if the request
   changes nothing; then it is valid until the set changes. False: no memory. */
PHI__FN bool phi__toolset_offer(const phi__toolset *set, const phi__toolset_change *change,
                                const phi_raw_tool *raws, size_t raw_count,
                                const char *const names[PHI__CODEC_NAMES], phi_arena *arena,
                                const phi__tool_view **views, size_t *count);

/* ---- deferral.c ---- */
PHI__FN bool phi__defer_defers(phi__defer_plan plan, const phi_tool *tool);
PHI__FN bool phi__defer_is_loaded(const phi__agent *agent, phi_str name);

/* ---- provider.c ---- */
/* Return the size of the decoder state of an attempt over HTTP through a host's provider, and
   initialize this state, which must be zeroed. */
PHI__FN size_t phi__provider_state_bytes(const phi_provider *provider);
PHI__FN void phi__provider_state_init(void *state, const phi_provider *provider);

/* request: makes the provider's request from run->attempt.spec, for all attempts. encode: makes the
   HTTP request of an attempt. Both return PHI_NO_MEMORY or the status of the host's function. */
PHI__FN phi_status phi__provider_request(phi__run *run);
PHI__FN phi_status phi__provider_encode(phi__run *run);

/* Starts an answer of an in-process provider. */
PHI__FN phi_status phi__provider_open(phi__run *run);

/* Polls the provider, at most once in a step. True: the answer has ended. False: sets *wait. */
PHI__FN bool phi__provider_poll(phi__run *run, bool *wait);

/* No effect if nothing is open. A close inside the provider's poll is deferred to the run's end. */
PHI__FN void phi__provider_close(phi__run *run);

/* ---- transfer.c ---- */
PHI__FN void phi__fetch_resume(phi__fetch *fetch); /* no effect if the fetch is not paused */
PHI__FN phi_status phi__transfer_open(phi_runtime *rt, phi_memory *memory,
                                      const phi_request *request, const phi_deadlines *deadlines,
                                      uint64_t max_bytes, const phi__transfer_owner *owner,
                                      phi__transfer **out);
PHI__FN phi_str phi__transfer_unread(const phi__transfer *transfer);

/* Marks bytes as decoded. alive: these bytes had a meaningful event. Returns the unread bytes. */
PHI__FN phi_str phi__transfer_took(phi__transfer *transfer, size_t bytes, bool alive);
PHI__FN void phi__transfer_alive(phi__transfer *transfer); /* reports a meaningful event */
/* Frees the bytes of the body, which nobody reads any more. */
PHI__FN void phi__transfer_drop_body(phi__transfer *transfer);

/* Cancels a transfer that has not ended. NULL is allowed. */
PHI__FN void phi__transfer_close(phi__transfer *transfer);

/* Map the status of a provider (transfer) or of a transport (network) to the status of the run. */
PHI__FN phi_status phi__transfer_status(phi_status status);
PHI__FN phi_status phi__network_status(phi_status status);

PHI__FN void phi__fetch_pump(phi_runtime *rt); /* calls the callbacks for a bounded part */

/* ---- model_call.c ---- */
/* Called after a request was rendered. Emits a warning if the request leaves out thinking, unless
   the last request left out thinking for the same cause. False: no memory. */
PHI__FN bool phi__thinking_look(phi__run *run);

/* True if the policy has left out messages. */
PHI__FN bool phi__thinking_left_out(const phi__run *run);

/* True if a server refused the request because of its thinking, although phi's record of the prefix
   matches. In this case something between phi and the server has changed the prefix. The text that
   is searched for comes from the provider's documentation. */
PHI__FN bool phi__thinking_refused(const phi__run *run, const phi_failure *failure);

/* Marks an answer with the numbers of the request that it answers. */
PHI__FN void phi__thinking_mark(const phi__run *run, phi_message *answer);

/* make: makes the list for the hooks. take: takes the hook's list; copies the hook's own messages
   for the turn and leaves out NULLs. False: no memory. */
PHI__FN bool phi__ask_list_make(phi__run *run);
PHI__FN bool phi__ask_list_take(phi__run *run, const phi_hook *hook);

/* Converts the list to the encoder's form, after the host's translation, if there is one. The
   thread's messages keep their cached renderings. Returns PHI_OK, PHI_NO_MEMORY, or an error of the
   translation. */
PHI__FN phi_status phi__ask_items(phi__run *run, const phi__item **items, size_t *count);

/* Pins the segments of log messages in the host's list. False: no memory. */
PHI__FN bool phi__ask_list_pin(phi__run *run);

/* ---- attempt.c ---- */
/* Charges the cost so far before the answer is discarded. No effect without an attempt. */
PHI__FN void phi__attempt_charge(phi__run *run);
/* closes the attempt's transfer or provider call */
PHI__FN void phi__attempt_detach(phi__run *run);

/* Removes the secrets of the turn's requests and the agent's key from a tool's result. Returns NULL
   if result is NULL. */
PHI__FN phi_message *phi__attempt_hide(phi__run *run, phi_message *result);
PHI__FN phi__state phi__attempt_failed(phi__run *run, const phi_failure *failure,
                                       phi_status status);

/* Frees an attempt that has ended or must not continue. No effect without an attempt. */
PHI__FN void phi__attempt_drop(phi__run *run);

/* broken: ends an attempt whose transport failed. classify: ends an attempt whose server returned
   an error; the body of the error was collected. */
PHI__FN phi__state phi__attempt_broken(phi__run *run);
PHI__FN phi__state phi__attempt_classify(phi__run *run);

/* Calls phi__attempt_failed with a failure of this kind. words NULL: the status's text. */
PHI__FN phi__state phi__attempt_fault(phi__run *run, phi_failure_kind kind, bool retryable,
                                      phi_status status, const char *words);

/* Writes the failure's text for the assistant message's error_message. */
PHI__FN void phi__end_words(const phi_failure *failure, char *out, size_t size);
PHI__FN bool phi__end_emit_retry(phi__run *run, const phi_failure *failure);

/* Replaces call ids that an earlier answer already used. Such ids would make results ambiguous, and
   some providers refuse them. They come from servers that number their calls from 0 in each answer.
   False: no memory. */
PHI__FN bool phi__end_unique_ids(phi__run *run);

/* Returns the delay before retry number `attempt` (from 1), varied by `random` in [0, 1). */
PHI__FN uint32_t phi__retry_delay_ms(const phi_retry *retry, uint32_t attempt, double random);

/* True if a failed model call shall be retried. Sets the delay. */
PHI__FN bool phi__retry_wanted(const phi_retry *retry, const phi_failure *failure, uint32_t attempt,
                               double random, uint32_t *delay_ms);

PHI__FN void phi__attempt_close(phi__run *run, bool settle);

/* ---- tools.c ---- */
PHI__FN void phi__round_clear(phi__run *run); /* called when a turn begins */

/* Creates the reply's calls, but begins none and emits no events. False: no memory. */
PHI__FN bool phi__tools_lay_calls(phi__run *run);
PHI__FN void phi__tools_detach(phi__run *run); /* cancels the calls; frees nothing */
PHI__FN void phi__tools_drop(phi__run *run);

PHI__FN phi__state phi__tools_run(phi__run *run, bool *wait);
PHI__FN phi__state phi__tools_make_calls(phi__run *run); /* returns TOOLS or TURN_END */

/* Hashes a tool's name and arguments. White space and the order of keys do not matter. Text that is
   not JSON is hashed as it is. Memory taken from the arena is given back. */
PHI__FN uint64_t phi__repeat_hash(phi_arena *arena, phi_str name, phi_str arguments);

/* Adds a call to the window. Returns how often it is in the window, including this call. */
PHI__FN uint32_t phi__repeat_note(phi__repeat_guard *guard, uint64_t hash);
PHI__FN bool phi__call_open(phi__toolcall *call); /* creates the call's handle; false: no memory */

/* Makes a result with one text block, which the caller provides. */
PHI__FN phi_tool_result phi__call_text(phi_content *content, phi_str text, bool is_error);

/* Takes a result that another thread has posted. */
PHI__FN void phi__call_posted(phi_runtime *rt, const phi__post *post);

PHI__FN void phi__call_poll_all(phi_runtime *rt);

/* ---- cap.c ---- */
/* Gives a claimed call its result. result NULL: memory ran out. */
typedef phi_status (*phi__cap_give_fn)(phi__toolcall *call, const phi_tool_result *result);

/* Returns the size limit for a result's texts: the smaller of the agent's and the tool's limits. */
PHI__FN uint32_t phi__cap_most(const phi__toolcall *call);

/* True if an image, a document or audio is larger than `most` bytes. */
PHI__FN bool phi__cap_too_large(const phi_content *content, uint32_t most);

/* Shortens a result that is too large. The result is given now, or later if call->cap is set. */
PHI__FN phi_status phi__cap_begin(phi__toolcall *call, const phi_tool_result *result,
                                  phi__cap_give_fn give);

/* Writes a slice of the file. The last slice gives the result. */
PHI__FN void phi__cap_more(phi__toolcall *call);
PHI__FN void phi__cap_finish(phi__toolcall *call); /* writes the rest of the file now */
PHI__FN void phi__cap_drop(phi__toolcall *call);   /* gives no result and removes the file */

/* ---- draft.c ---- */
/* Moves a run that has not begun, and its prompts, into the agent's new log. The run's entries in
   the old log stay there. False: no memory; the run is unchanged. */
PHI__FN bool phi__draft_rehome(phi__run *run, const phi_thread *before);

/* Closes the run's response, if there is one, when AGENT_END is emitted. Needs no memory. */
PHI__FN void phi__responses_close(phi__run *run);

/* Logs the run's beginning. False: no memory; the log is unchanged, except for added results of
   calls that had none. */
PHI__FN bool phi__draft_run(phi__run *run, const phi__run_order *order);

/* ---- run.c ---- */
/* Emits AGENT_START if it was not emitted yet: at the run's beginning, or before an early failure.
   False: a reserve record was used, and the run must end. */
PHI__FN bool phi__run_emit_start(phi__run *run);

/* Fails the run. failure: in the thread, or static. */
PHI__FN phi__state phi__run_fail(phi__run *run, const phi_failure *failure, phi_status status);

/* Handles PHI__RUN_LOST: releases all that the run holds for its turn. */
PHI__FN phi__state phi__run_no_memory(phi__run *run);

PHI__FN void phi__run_destroy(phi__run *run); /* frees the run at once, without events */

/* ---- stored.c ---- */
/* Writes the thread to its store. True if there is a store and it now has the whole thread. */
PHI__FN bool phi__stored_run(phi__run *run);
PHI__FN void phi__stored_updated(phi__run *run); /* like phi__stored_run, and emits an event */

/* Returns the entry of the run's reply. NULL: there is no reply. */
PHI__FN const phi__entry *phi__stored_reply_entry(const phi__run *run);

PHI__FN void phi__stored_step(phi_runtime *rt); /* writes other threads that have grown, in parts */

/* Evicts stored entries outside of the view. */
PHI__FN void phi__stored_evict(phi_runtime *rt);

/* ---- forget.c ---- */
/* Makes room before a run that has emitted no event. Does so once in a run. If *wait is set, the
   run continues in the next step. False: no memory. A compactor may free the agent, so check
   agent->slot afterwards. */
PHI__FN bool phi__forget_begin(phi__run *run, bool *wait);
/* records how the agent's run ended */
PHI__FN void phi__forget_ran(phi__agent *agent, phi_status status);

/* Called when a prompt found no memory: the next step makes room. */
PHI__FN void phi__forget_press(phi__agent *agent);

PHI__FN void phi__forget_unpress(phi__agent *agent); /* removes the agent from rt->pressed */

PHI__FN void phi__forget_step(phi_runtime *rt); /* makes room for the agents in rt->pressed */

#endif
