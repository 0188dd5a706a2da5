/* loop_in.h - the functions that loop/ offers to other rooms, by file. Its structs are in
   state_in.h.
   Threads: only the pumping thread calls them, except phi__call_pending. */
#ifndef PHI_LOOP_LOOP_IN_H
#define PHI_LOOP_LOOP_IN_H

#include "loop/state_in.h"

/* ---- schedule.c ---- */
PHI__FN phi__agent *phi__find_agent(phi_agent handle); /* NULL: the handle is stale */

/* Returns PHI_BUSY, with a message that begins with `what`, during a run or a hold. */
PHI__FN phi_status phi__find_idle(phi__agent *agent, const char *what);

/* Holds an agent while code above the loop works on it outside of a run. During the hold, prompts
   and changes return PHI_BUSY and quote `what` (static: "an evaluation is going on"). If `what` is
   NULL, ends the hold. */
static inline void phi__find_hold(phi__agent *agent, const char *what) { agent->held = what; }

static inline bool phi__find_hidden(const phi__agent *agent) {
    return agent->tree.watch != NULL && agent->tree.watch->hidden;
}

/* Returns the agent that the host knows: a hidden agent's nearest ancestor that is not hidden. */
static inline phi_agent phi__find_seen(const phi__agent *agent) {
    while (phi__find_hidden(agent) && agent->tree.parent != NULL) agent = agent->tree.parent;
    return agent->handle;
}

PHI__FN void phi__schedule_wake(phi__run *run);

/* Cancels the runs of an agent and its descendants. after_turn: cancels each run when its turn is
   over. */
PHI__FN void phi__schedule_cancel_tree(phi__agent *agent, bool after_turn);

/* Stores the status and the message for phi_last_error. Returns the status. */
PHI__FN phi_status phi__error(phi_runtime *rt, phi_status status, const char *format, ...)
    PHI_PRINTF(3, 4);

/* Returns the last error's status, and the message in *words. words may be NULL. */
PHI__FN phi_status phi__error_last(const phi_runtime *rt, const char **words);

/* Returns NULL if the handle is stale. */
PHI__FN phi__toolcall *phi__call_find(phi_call call);
PHI__FN phi_call phi__call_handle(const phi__toolcall *call);

/* own: copies a text into separate memory, null-terminated. If text.at is NULL, it allocates
   nothing. False: no memory. disown: frees the copy. */
PHI__FN bool phi__own(phi_memory *memory, phi_str text, phi_str *out);
PHI__FN void phi__disown(phi_memory *memory, phi_str *s);

/* ---- pump.c ---- */
/* Make and free the loop's parts of a runtime. Before the parts are freed, the caller must free all
   agents, and then release the registered providers. The transport must still work until then. */
PHI__FN void phi__pump_init(phi_runtime *rt);
PHI__FN void phi__pump_free(phi_runtime *rt);
PHI__FN void phi__provider_free_all(phi_runtime *rt);

/* Runs a step in this order: the inbox, cancels and timers, I/O, polled tools, and runs. */
PHI__FN void phi__pump(phi_runtime *rt, int timeout_ms);
PHI__FN int phi__pump_next(const phi_runtime *rt); /* see phi_next_timeout */

/* ---- session.c ---- */
/* Returns the session with this id and adds a user. Creates a missing session. NULL: no memory. */
PHI__FN phi__session *phi__session_take(phi__sessions *sessions, phi_str id);
/* NULL is ignored */
PHI__FN void phi__session_drop(phi__sessions *sessions, phi__session *session);

PHI__FN uint32_t phi__session_count_so_far(phi__session *session, phi_str segment);

/* Makes room for the segment's count; then phi__session_saw cannot fail for its runs. False: no
   memory. */
PHI__FN bool phi__session_room(phi__sessions *sessions, phi__session *session, phi_str segment);

/* Records that this run exists, so that later runs get larger numbers. False: no memory. */
PHI__FN bool phi__session_saw(phi__sessions *sessions, phi__session *session, phi_str loop_id);

/* Calls phi__session_saw for every loop id of a log in memory, once for each entry. False: no
   memory. */
PHI__FN bool phi__session_read(phi__sessions *sessions, phi__session *session, phi_thread *thread);

/* Begins another sequence of runs. session: the agent's new session. The function takes over the
   caller's use of it. If it is NULL, the agent's session stays. last_loop_id: the parent of the
   next run. The function takes over this text, which is in the agent's memory. If the id is from
   another session, it is freed, and the next run has no parent. */
PHI__FN void phi__line_begin(phi__agent *agent, phi__session *session, phi_str last_loop_id);

/* Begins a sequence in an empty session with another id. Needs no memory if no other agent shares
   the session. False: no memory; nothing changed. */
PHI__FN bool phi__line_renew(phi__agent *agent, phi_str session_id);

/* Sets the parent of the next run. Takes over loop_id, which is in the agent's memory. */
PHI__FN void phi__line_take_last(phi__agent *agent, phi_str loop_id);

/* Raises the number of the agent's earlier runs to `loops`. A larger number stays. */
PHI__FN void phi__line_count(phi__agent *agent, uint32_t loops);

/* ---- feature.c ---- */
PHI__FN bool phi__feature_named(const phi_runtime *rt, unsigned order);

/* Returns PHI_OK, or PHI_UNSUPPORTED with a message that `what` ("failover") needs the feature
   `name`. */
PHI__FN phi_status phi__feature_need(phi_runtime *rt, unsigned order, const char *what,
                                     const char *name);

/* From now on the feature takes part in the run. */
PHI__FN void phi__feature_join(phi__run *run, phi__feature_fn feature);

/* From now on the feature takes part in all runs of the runtime, current and future ones. */
PHI__FN void phi__feature_join_all(phi_runtime *rt, phi__feature_fn feature);

/* A `wants` function that always returns false, for features that take part only in runs that they
   join. */
PHI__FN bool phi__feature_late(const phi__run *run);

/* Calls the features at a point of the agent. */
PHI__FN void phi__feature_agent(phi__agent *agent, phi__point point);

/* Calls the features after a log was read from a store. Returns PHI_OK or a feature's status. */
PHI__FN phi_status phi__feature_opened(phi__agent *agent);

/* Reports that the agent has a new log with a copy of the view `copied`. If copied is NULL, the new
   log is empty. shortened: the log was replaced because memory was short. */
PHI__FN void phi__feature_renewed(phi__agent *agent, const phi__fold *copied, bool shortened);

/* Returns the feature's state. NULL: the runtime does not have the feature. */
PHI__FN void *phi__feature_run_state(const phi__run *run, phi__feature_fn feature);
PHI__FN void *phi__feature_agent_state(const phi__agent *agent, phi__feature_fn feature);

/* ---- events.c ---- */
/* Queues a copy of `event` and sets agent, seq and time. The event's text is copied. Its other
   strings must live as long as the agent's thread. False: no memory. */
PHI__FN bool phi__events_emit(phi__agent *agent, const phi_event *event);

/* Emits PHI_EV_WARNING with the text. False: no memory. */
PHI__FN bool phi__events_warn(phi__agent *agent, phi_str text);

/* Like phi__events_emit, but copies all strings of a question. */
PHI__FN bool phi__events_emit_asked(phi__agent *agent, const phi_event *event);

/* Allocates the event reserve of an agent before a run. unreserve frees it if there is no run and
   the reserve is not in use. False: no memory. */
PHI__FN bool phi__events_reserve(phi__agent *agent);
PHI__FN void phi__events_unreserve(phi__agent *agent);

/* Queues an event that must not be lost. If there is no memory, it takes a reserve record and
   returns false; the run must then end. */
PHI__FN bool phi__events_emit_surely(phi__agent *agent, const phi_event *event);

PHI__FN bool phi__events_reserve_free(const phi__agent *agent); /* true without a reserve, too */

/* Calls phi__edit_rewrite or phi__truncate for the run. */
PHI__FN phi_status phi__events_rewrite(phi__run *run, const phi_rewrite *rewrite);

/* ---- hooks.c ---- */
/* Opens a question. On failure nothing was opened. PHI_STALE: the agent was freed, or the call is
   over. PHI_MISUSE: the runtime is closing. PHI_FULL: PHI__QUESTION_MOST questions are open.
   PHI_NO_MEMORY: there is no memory for the question. */
PHI__FN phi_status phi__question_open(phi_agent agent, const phi__question_desc *desc,
                                      phi__question **out);

/* Withdraws a question: its ticket becomes stale, and `decided` is not called. The question must
   still exist. NULL is allowed. */
PHI__FN void phi__question_close(phi__question *question);

/* Fills in the arguments that every hook of a run gets. The caller sets the arguments of the
   point. */
PHI__FN phi_hook phi__hooks_make(const phi__run *run, phi_hook_point point);

/* Calls the agent's hook function. Returns PHI__HOOK_ALLOW if the agent does not want the point. */
PHI__FN phi__hooked phi__hooks_run(phi__run *run, phi_hook *hook);

/* Returns the state after a hook: `next`, `here` to wait, `denied`, or an outcome. */
PHI__FN phi__state phi__hooks_next(phi__run *run, phi__hooked hooked, phi__state here,
                                   phi__state next, phi__state denied, bool *wait);
PHI__FN bool phi__hooks_wanted(const phi__agent *agent, phi_hook_point point);

/* Drops a decision that is not needed any more. The ticket becomes stale. Works in any state. */
PHI__FN void phi__decision_drop(phi__decision *decision);

/* For hooks of other rooms. watch: calls `over` once, when the ticket becomes stale for any reason.
   `over` must not call the host. Returns false if the ticket is stale or already watched. hold:
   from now on phi_decide can only deny. settle: decides like phi_decide, but at once, with any
   reply and verdict, and only on the pumping thread. This calls `over`. A stale ticket is
   ignored. */
PHI__FN bool phi__hooks_watch(phi_ticket ticket, void (*over)(void *ctx), void *ctx);
PHI__FN void phi__hooks_unwatch(phi_ticket ticket);
PHI__FN void phi__hooks_hold(phi_ticket ticket);
PHI__FN void phi__hooks_settle(phi_ticket ticket, phi_verdict verdict, phi_str reply);

/* Describes the first item that an agent waits for, or else the model's answer. */
PHI__FN void phi__pending_of(const phi__agent *agent, phi_pending_item *out);

/* ---- input.c ---- */
PHI__FN void phi__input_free_queues(phi__agent *agent); /* leaves all three queues empty */

/* Makes a text block. The text still belongs to the caller. */
PHI__FN phi_content phi__input_text(phi_str text);

/* Makes the run ignore messages that were injected before this position in the inbox. */
PHI__FN void phi__input_since(phi__run *run, uint64_t at);

/* Empties the queues that outlive a run, and reports their messages as dropped. */
PHI__FN void phi__input_drop_kept(phi__agent *agent, const char *why);

/* details: writes a host's id and refs as a message's details, or nothing if both are NULL. check:
   checks id and refs. If they are invalid, sets a message that begins with `what`. */
PHI__FN void phi__enqueue_details(const char *id, const char *refs, phi__buf *out);
PHI__FN phi_status phi__enqueue_check_details(phi_runtime *rt, const char *what, const char *id,
                                              const char *refs);

/* Returns PHI_BAD_ARG "what: name is no JSON" if the text is not JSON. NULL is allowed. */
PHI__FN phi_status phi__enqueue_check_json(phi_runtime *rt, const char *what, const char *name,
                                           const char *text);

/* Returns PHI_OK if content can be a user's message, or else an error with a message that begins
   with `what`. */
PHI__FN phi_status phi__enqueue_check(phi_runtime *rt, const char *what, const phi_content *content,
                                      size_t count);

/* ---- posts.c ---- */
/* Reads all posts that other threads have made so far. */
PHI__FN void phi__posts_read_all(phi_runtime *rt);

/* Reads only the aborts. Called before a run begins, because they apply to earlier runs. */
PHI__FN void phi__posts_read_aborts(phi_runtime *rt);
PHI__FN bool phi__posts_any(phi_runtime *rt);
PHI__FN uint64_t phi__posts_next(const phi_runtime *rt); /* position of the next post */

/* ---- limits.c ---- */
/* Adds the usage of children's runs that are now in the agent's log. The budgets were already
   charged for this usage. */
PHI__FN void phi__charge_runs(phi__agent *agent, const phi_usage *usage, double cost);
PHI__FN void phi__pause_end(phi__run *run); /* no effect if the run does not pause */

/* Lets all paused runs check their limits again. */
PHI__FN void phi__pause_wake_all(phi_runtime *rt);

/* True if the agent or an ancestor has a limit. */
PHI__FN bool phi__budget_limited(const phi__agent *agent);

/* Releases the reservation of the run's own model call, which is not made, and reserves a pot
   instead. The pot pays for `calls` model calls of descendants that are `of_run`, with the given
   tokens and dollars in total. The reservations of these calls are taken out of the pot. The rest
   of the pot is released with the turn. Returns true if there is no budget. False: the budget is
   too small; `reason` is set, and nothing is reserved. */
PHI__FN bool phi__pot_reserve(phi__run *run, uint64_t tokens, double cost, uint64_t calls,
                              char *reason, size_t size);

/* hold: reserves a model call of a run that has not begun. *held gets the reservation, which is
   added to the budgets of the agent and all ancestors. give: takes the reservation out of one
   agent's budget. The caller does this for each agent separately, because the tree may have
   changed. */
PHI__FN bool phi__budget_hold(phi__agent *agent, uint64_t tokens, double cost, phi_spending *held,
                              char *reason, size_t size);
PHI__FN void phi__budget_give(phi__agent *agent, const phi_spending *held);
/* true if the run has time for the delay */
PHI__FN bool phi__limits_leaves(const phi__run *run, uint32_t delay_ms);
PHI__FN bool phi__limits_reached(phi__run *run, char *reason, size_t size);

/* ---- turn.c ---- */
/* Reserves the cost of the run's next model call, whose input is the view and `more` tokens. An
   older reservation is released first. False: a budget is too small; `reason` is set. */
PHI__FN bool phi__reserve_call(phi__run *run, uint64_t more, char *reason, size_t size);

/* Pauses the run at a limit: releases its reservation and sets *wait. Emits PHI_EV_PAUSED if this
   limit or its payer is another than before. Returns a state that checks the limit again when the
   run is woken. RUN_ON: the run must not pause, or has paused long enough.
   RUN_LOST: no memory; *wait is false. The caller ends the pause. */
PHI__FN phi__state phi__reserve_pause(phi__run *run, const char *reason, bool *wait);

/* Makes the common part of all requests of the agent, without items. The tools are in the
   protocol's form. False: no memory. */
PHI__FN bool phi__ask_spec(phi__agent *agent, phi_arena *arena, phi__request_spec *spec);

/* ---- projection.c ---- */
/* Computes the projection by the effective policy. False: there is no policy. */
PHI__FN bool phi__projection_order_of(phi__agent *agent, phi__proj_order *order);
PHI__FN void phi__projection_clear(phi__run *run); /* forces a new projection */

/* Returns the items that a projection selects from a view, in the arena. If the projection has no
   places, returns all items. rendered: the items keep their cached renderings, which only runs may
   use. NULL: no memory. */
PHI__FN phi__item *phi__projection_items(phi_arena *arena, const phi__fold *fold,
                                         const phi__projection *made, bool rendered);

/* Returns the agent's counter. If the result or its count_text is NULL, the built-in estimate is
   used. */
PHI__FN const phi_token_counter *phi__projection_counter(const phi__agent *agent);

/* Return token counts by the agent's counter. view: counts all messages in the agent's view. tool:
   counts the agent's tools and the schema of its format. */
PHI__FN uint64_t phi__projection_view_tokens(const phi__agent *agent);
PHI__FN uint64_t phi__projection_tool_tokens(const phi__agent *agent);
PHI__FN uint64_t phi__projection_overhead(const phi__run *run);

/* Returns the tokens of the messages that the run would send now: the count reported with the last
   answer, without the overhead, plus an estimate of later messages. If the list was changed since,
   or nothing was reported, all messages are estimated. */
PHI__FN uint64_t phi__projection_context_tokens(const phi__run *run);

/* ---- head.c ---- */
/* Called at PHI__POINT_REQUEST. Appends a message of the program (is_update) to the history: it is
   copied into the log, emitted, and becomes the last item of the request. If the last answer
   paused, appends nothing, because the provider continues that answer. False: no memory. */
PHI__FN bool phi__tell(phi__run *run, const phi_message *message);

/* Puts the agent's head, if it has one, into another request. Appends nothing. False: no memory. */
PHI__FN bool phi__head_keep(phi__agent *agent, phi__request_spec *spec, phi_arena *arena);

/* Puts the head that phi__head_apply would use into a request, without appending the update.
   Changes only the request. False: no memory. */
PHI__FN bool phi__head_foresee(const phi__agent *agent, phi__request_spec *spec, phi_arena *arena);

/* Copies the head of `from`, if it has one. The agent continues the history of `from`. False: no
   memory. */
PHI__FN bool phi__head_copy(phi__agent *agent, const phi__agent *from);

/* ---- toolset.c ---- */
/* Check tools. phi_last_error names the faulty tool and the fault. one: checks a tool except for
   its name. names: checks only the names, which another model may not accept. The message begins
   with `what`, and `own` is the model's provider or NULL. all: checks everything, by the model,
   provider and hooks of the desc. */
PHI__FN phi_status phi__tool_check_one(phi_runtime *rt, const phi__tool_rules *rules,
                                       const phi_tool *tool);
PHI__FN phi_status phi__tool_check_names(phi_runtime *rt, const char *what, const phi_provider *own,
                                         const phi_model *model, const phi_tool *tools,
                                         size_t count);
PHI__FN phi_status phi__tool_check_all(phi_runtime *rt, const phi_agent_desc *desc,
                                       const phi_tool *tools, size_t count);

/* Checks a JSON text that must be an object, for the list of tools. `what` names the field. */
PHI__FN phi_status phi__tool_check_raw(phi_runtime *rt, const char *what, const char *json);

/* True if a schema does not describe an object by properties that are schemas, as every provider
   requires. `out` then holds the place and the message. */
PHI__FN bool phi__tool_check_schema_fault(const phi_json *schema, char *out, size_t size);
PHI__FN void phi__toolset_init(phi__toolset *set, phi_memory *memory,
                               const struct phi__features *features);

/* Replaces the set's tools by copies. `tools` may be part of the old ones. timeout_ms: for tools
   without a timeout. False: no memory; nothing changed. */
PHI__FN bool phi__toolset_take(phi__toolset *set, const phi_tool *tools, size_t count,
                               uint32_t timeout_ms);

/* NULL: no tool has this name */
PHI__FN const phi_tool *phi__toolset_find(const phi__toolset *set, phi_str name);

/* The next refresh checks all tools again, because the rules for tools have changed. */
PHI__FN void phi__sources_recheck(phi__agent *agent);
PHI__FN const phi__sources_ops *phi__tool_sources_ops(void);

/* ---- deferral.c ---- */
PHI__FN const phi__deferral_ops *phi__deferral_tools_ops(void);

/* ---- provider.c ---- */
/* Returns PHI_OK, or an error with a message that begins with `what`. */
PHI__FN phi_status phi__provider_check(phi_runtime *rt, const char *what,
                                       const phi_provider *provider);

/* Returns the registered provider of a protocol, or NULL. */
PHI__FN const phi_provider *phi__provider_find(const phi_runtime *rt, phi_str protocol);

/* Copies a model and its provider into the arena, and fills in defaults. False: no memory. */
PHI__FN bool phi__speaker_take(const phi_runtime *rt, phi_arena *arena, const phi_provider *own,
                               const phi_model *model, phi__speaker *out);

/* Sets another provider for the model. The provider is borrowed. */
PHI__FN void phi__speaker_by(phi__speaker *seat, const phi_provider *own);

/* Gets or sets the agent's model with its provider. */
PHI__FN phi__speaker phi__speaker_of(const phi__agent *agent);
PHI__FN void phi__speaker_set(phi__agent *agent, const phi__speaker *seat);

/* ---- transfer.c ---- */
/* Opens a fetch. On failure phi_last_error has the message. PHI_BAD_ARG: the URL or a header cannot
   be sent. PHI_MISUSE: the runtime is closing, or a tape is played. PHI_FULL: too many fetches with
   `stands` are open. PHI_NO_MEMORY: there is no memory for the fetch. Errors of the transport are
   reported by on_end. */
PHI__FN phi_status phi__fetch_open(phi_runtime *rt, const phi__fetch_desc *desc, phi__fetch **out);

/* Cancels the fetch without on_end. NULL is allowed, and so is a call inside the fetch's on_end. */
PHI__FN void phi__fetch_close(phi__fetch *fetch);

/* True if the text can be a header's value: it has no control characters except the tab. */
PHI__FN bool phi__fetch_value_fits(phi_str value);
PHI__FN bool phi__fetch_name_fits(phi_str name); /* true if the name is a token of RFC 9110 */

/* Ends all fetches with PHI_CANCELLED: in the next step (cancel), or at once (end). */
PHI__FN void phi__fetch_cancel_all(phi_runtime *rt);
PHI__FN void phi__fetch_end_all(phi_runtime *rt);
PHI__FN const phi__transfer_port *phi__transfer_port_get(void);

/* Give input directly to a transfer; the tape does not see this input. */
PHI__FN phi_status phi__transfer_stage_now(phi_transfer transfer, phi_transfer_stage stage);
PHI__FN phi_status phi__transfer_head_now(phi_transfer transfer, int http_status,
                                          const char *headers, size_t len);
PHI__FN phi_status phi__transfer_push_now(phi_transfer transfer, const char *bytes, size_t len);
PHI__FN phi_status phi__transfer_end_now(phi_transfer transfer, phi_status status,
                                         const char *words);

/* ---- model_call.c ---- */
/* Returns a text that says why thinking was left out, as far as this is known. Static. */
PHI__FN const char *phi__thinking_cause(const phi__agent *agent, phi__prefix_cause cause,
                                        bool hooks, bool policy);

/* ---- attempt.c ---- */
/* Clears the attempt when a turn begins, and frees the turn's memory. */
PHI__FN void phi__attempt_clear(phi__run *run);

/* Fails the attempt without a retry. Returns PHI__RUN_GIVE_UP. failure: in the thread. */
PHI__FN phi__state phi__attempt_refuse(phi__run *run, const phi_failure *failure);
PHI__FN void phi__attempt_rewind(phi__run *run); /* frees the turn's memory, resets the secrets */

/* ---- tools.c ---- */
/* Finishes writing results to files. */
PHI__FN void phi__round_settle(phi__run *run);

/* Sets a function that is called before the call's state is freed, even if the call was finished
   from outside. (The tool's `cancel` is not called in that case.) */
PHI__FN void phi__call_on_gone(phi_call call, void (*gone)(void *state));

/* Gives an error result, unless the call has a result. */
PHI__FN void phi__call_fail(phi__toolcall *call, const char *text);

static inline const char *phi__loop_words(const phi__toolcall *call, phi_text which) {
    return phi__texts_get(call->run->agent->desc.texts, which);
}

/* True while the call waits for its result. Any thread may call it. */
PHI__FN bool phi__call_pending(phi_call handle);

/* take: gives a claimed call its result. With a tape, the call gets the result after the tape has
   let it in. unclaim: makes a claimed call pending again. */
PHI__FN phi_status phi__call_take(phi__toolcall *call, const phi_tool_result *result);
PHI__FN void phi__call_unclaim(phi__toolcall *call);

/* Like phi_call_get_info on the pumping thread. */
PHI__FN phi_call_info phi__update_info(phi_call call);

/* Like phi_call_update and phi_call_progress, for a text that need not be null-terminated. */
PHI__FN phi_status phi__update_text(phi_call call, phi_str text);
PHI__FN phi_status phi__update_progress(phi_call call, phi_str text);

/* ---- cap.c ---- */
/* Copies a result into a message. The message's loop_id is the result's child_loop_id, and its
   extension_data has the result's effects. NULL: no memory. */
PHI__FN phi_message *phi__results_keep(phi_arena *arena, const phi_tool_result *result);

/* Converts a message of phi__results_keep back into a result, which points into the message. */
PHI__FN phi_tool_result phi__results_given(const phi_message *message);

/* Makes random bytes for file names. With a tape they are a hash of the call instead: when a tape
   is played, no tool runs, so using the random source here would change later ids and delays. */
PHI__FN void phi__cap_random(const phi__toolcall *call, unsigned char out[16]);

/* ---- run.c ---- */
PHI__FN phi_status phi__run_new(phi__agent *agent, const phi__run_order *order);

/* Like phi__run_new, with one prompt: a user message of these blocks. NULL: no prompt. */
PHI__FN phi_status phi__run_new_of(phi__agent *agent, phi__run_order order,
                                   const phi_content *content, size_t count);

/* save: writes the members of an agent for a snapshot, without its thread, each with its comma.
   load: reads these members and the thread into an idle agent with an empty log. PHI_PARSE: they do
   not fit. PHI_MISUSE: the agent's store already has the thread. PHI_NO_MEMORY: there is no
   memory. */
PHI__FN void phi__save_agent(phi__buf *out, const phi__agent *agent, phi_arena *scratch);
PHI__FN phi_status phi__load_agent(phi__agent *agent, const phi_json *root, bool interrupt,
                                   char *words, size_t words_size);

/* Free an agent in steps. detach: from now on nothing calls or wakes the agent. Returns false if
   the agent was already freed. drop: frees the agent's events and responses. free: frees all of the
   agent's state except its settings. */
PHI__FN bool phi__gone_detach(phi__agent *agent);
PHI__FN void phi__gone_drop(phi__agent *agent);
PHI__FN void phi__gone_free(phi__agent *agent);

/* ---- draft.c ---- */
/* Return the run's own format or temperature, or else the agent's. */
PHI__FN const phi_format *phi__run_format_of(const phi__run *run);
PHI__FN double phi__run_temperature(const phi__run *run); /* negative: not set */

/* Copies the run's state so far into the response. */
PHI__FN void phi__responses_update(phi__response *response, const phi__run *run);
/* makes the response's handle stale */
PHI__FN void phi__responses_drop_one(phi__response *response);

/* ---- stored.c ---- */
/* Evicts messages that an agent with a memory limit has just cleared. This is possible at once,
   because no pointer to them is valid any more. */
PHI__FN void phi__stored_evict_now(phi__agent *agent);

/* ---- forget.c ---- */
/* Returns the log's limit in bytes if the log is near the limit and a compaction would be done;
   else 0. */
PHI__FN size_t phi__forget_near(const phi__agent *agent);

#endif
