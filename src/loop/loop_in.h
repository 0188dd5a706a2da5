/* loop_in.h - the functions that loop/ offers to other rooms, by file; state_in.h has its structs.
   Threads: the pumping thread. */
#ifndef PHI_LOOP_LOOP_IN_H
#define PHI_LOOP_LOOP_IN_H

#include "loop/state_in.h"

/* ---- schedule.c ---- */
PHI__FN phi__agent *phi__find_agent(phi_agent handle); /* NULL: stale */

/* PHI_OK, or PHI_BUSY during a run or while the agent is held, with words that begin with
   `what`. */
PHI__FN phi_status phi__find_idle(phi__agent *agent, const char *what);

/* Keeps prompts and changes from an agent that a room above works on, outside of a run: they answer
   PHI_BUSY and quote `what` (static: "an evaluation is going on"). NULL: no longer. */
static inline void phi__find_hold(phi__agent *agent, const char *what) { agent->held = what; }

static inline bool phi__find_hidden(const phi__agent *agent) {
    return agent->tree.watch != NULL && agent->tree.watch->hidden;
}

/* The agent that the host knows: of a hidden one, the nearest above it that is not. */
static inline phi_agent phi__find_seen(const phi__agent *agent) {
    while (phi__find_hidden(agent) && agent->tree.parent != NULL) agent = agent->tree.parent;
    return agent->handle;
}

PHI__FN void phi__schedule_wake(phi__run *run);

/* The runs of an agent and of those below it. after_turn: when their turns are over. */
PHI__FN void phi__schedule_cancel_tree(phi__agent *agent, bool after_turn);

/* Keeps both for phi_last_error, and returns the status. */
PHI__FN phi_status phi__error(phi_runtime *rt, phi_status status, const char *format, ...)
    PHI_PRINTF(3, 4);

/* words: may be NULL. */
PHI__FN phi_status phi__error_last(const phi_runtime *rt, const char **words);

/* NULL: stale. */
PHI__FN phi__toolcall *phi__call_find(phi_call call);
PHI__FN phi_call phi__call_handle(const phi__toolcall *call);

/* A copy of a text in its own memory, terminated (text.at NULL: none, without memory); false: no
   memory. And frees it. */
PHI__FN bool phi__own(phi_memory *memory, phi_str text, phi_str *out);
PHI__FN void phi__disown(phi_memory *memory, phi_str *s);

/* ---- pump.c ---- */
/* A step: the inbox, then cancels and timers, then I/O, then tools that poll, then runs. */
PHI__FN void phi__pump(phi_runtime *rt, int timeout_ms);
PHI__FN int phi__pump_next(const phi_runtime *rt); /* as phi_next_timeout */

/* ---- session.c ---- */
PHI__FN void phi__session_init(phi__sessions *sessions, phi_memory *memory);

/* every session must have been dropped */
PHI__FN void phi__session_free_all(phi__sessions *sessions);

/* The session of an id, made where there is none, with one more user. NULL: no memory. */
PHI__FN phi__session *phi__session_take(phi__sessions *sessions, phi_str id);
PHI__FN void phi__session_drop(phi__sessions *sessions, phi__session *session); /* NULL: harmless */

PHI__FN uint32_t phi__session_count_so_far(phi__session *session, phi_str segment); /* given */

/* The N of "session.segment.N", and the segment; 0: the id is not of this session. And that such a
   run was: numbers count on from it. False: no memory. */
PHI__FN uint64_t phi__session_number(const phi__session *session, phi_str loop_id,
                                     phi_str *segment);
PHI__FN bool phi__session_saw(phi__sessions *sessions, phi__session *session, phi_str loop_id);

/* The same of every loop id that a log in memory names, in view or not. Entries are read once.
   False: no memory. */
PHI__FN bool phi__session_read(phi__sessions *sessions, phi__session *session, phi_thread *thread);

/* Replaces the session by another, with one more user. */
PHI__FN void phi__line_move(phi__agent *agent, phi__session *session);

/* Exchanges the session for an empty one of another id. False: no memory, and nothing changed. */
PHI__FN bool phi__line_renew(phi__agent *agent, phi_str session_id);

/* The agent's last run is of another session: this one has had none. */
PHI__FN void phi__line_restart(phi__agent *agent);

/* Takes the parent of the next run, which is in the agent's memory. */
PHI__FN void phi__line_take_last(phi__agent *agent, phi_str loop_id);

/* So many runs were before, at least. */
PHI__FN void phi__line_count(phi__agent *agent, uint32_t loops);

/* ---- feature.c ---- */
PHI__FN bool phi__feature_named(const phi_runtime *rt, unsigned order);

/* PHI_UNSUPPORTED, with the line to add: what wants it ("failover"), and its name. */
PHI__FN phi_status phi__feature_missing(phi_runtime *rt, const char *what, const char *name);

/* PHI_OK, or the same. */
PHI__FN phi_status phi__feature_need(phi_runtime *rt, unsigned order, const char *what,
                                     const char *name);

/* A feature takes part in the run from now on. */
PHI__FN void phi__feature_join(phi__run *run, phi__feature_fn feature);

/* ... in all runs of the runtime, those under way and those to come. */
PHI__FN void phi__feature_join_all(phi_runtime *rt, phi__feature_fn feature);

/* A `wants` that is always false: the feature only joins. */
PHI__FN bool phi__feature_late(const phi__run *run);

/* The arguments of a point of a run, or, at NULL, of an agent; the caller adds the point's own. */
PHI__FN phi__moment phi__feature_moment(phi__agent *agent, const phi__run *run, phi__point point);

/* Calls the features at the point; returns the outcome. */
PHI__FN phi__state phi__feature_take(phi__moment *moment);
PHI__FN void phi__feature_agent(phi__agent *agent, phi__point point);

/* The log of an agent is another one: it has what `copied` showed, or, at NULL, nothing.
   shortened: for want of memory. */
PHI__FN void phi__feature_renewed(phi__agent *agent, const phi__fold *copied, bool shortened);

/* The state of one of them; NULL: it was left out. */
PHI__FN void *phi__feature_run_state(const phi__run *run, phi__feature_fn feature);
PHI__FN void *phi__feature_agent_state(const phi__agent *agent, phi__feature_fn feature);

/* ---- events.c ---- */
PHI__FN void phi__events_free(phi__events *events);

/* Queues a copy of `event` (kind, and the kind's fields; agent, seq, time are filled). Its text is
   copied; its other strings must live as long as the agent's thread. False: no memory. */
PHI__FN bool phi__events_emit(phi__agent *agent, const phi_event *event);

/* PHI_EV_WARNING with that text. False: no memory. */
PHI__FN bool phi__events_warn(phi__agent *agent, phi_str text);

/* As phi__events_emit, with copies of all strings of a question. */
PHI__FN bool phi__events_emit_asked(phi__agent *agent, const phi_event *event);

/* The reserve of an agent that is to run: taken before, and given back when there is no run and it
   is not in use. False: no memory. */
PHI__FN bool phi__events_reserve(phi__agent *agent);
PHI__FN void phi__events_unreserve(phi__agent *agent);

/* The same for an event that must not be lost: without memory it takes a record of the reserve, and
   returns false; the run must then end. */
PHI__FN bool phi__events_emit_surely(phi__agent *agent, const phi_event *event);

PHI__FN bool phi__events_reserve_free(const phi__agent *agent); /* or there is none */

/* phi__edit_rewrite and phi__truncate by the run. */
PHI__FN phi_status phi__events_rewrite(phi__run *run, const phi_rewrite *rewrite);

/* ---- hooks.c ---- */
/* PHI_STALE: the agent is gone, or the call is over; PHI_MISUSE: the runtime closes; PHI_FULL:
   PHI__QUESTION_MOST are open; PHI_NO_MEMORY. Then nothing was opened. */
PHI__FN phi_status phi__question_open(phi_agent agent, const phi__question_desc *desc,
                                      phi__question **out);

/* Withdraws it: its ticket dies, and `decided` is not called. Not for one that is gone; NULL is
   harmless. */
PHI__FN void phi__question_close(phi__question *question);

/* Fills the arguments that every hook of a run gets; the caller adds those of the point. */
PHI__FN phi_hook phi__hooks_make(const phi__run *run, phi_hook_point point);

/* The agent's own hook function, for a run or a call: PHI__HOOK_ALLOW where it does not want the
   point. */
PHI__FN phi__hooked phi__hooks_run(phi__run *run, phi_hook *hook);

/* Where a state goes after a hook: on, back to itself, or out. */
PHI__FN phi__state phi__hooks_next(phi__run *run, phi__hooked hooked, phi__state here,
                                   phi__state next, phi__state denied, bool *wait);
PHI__FN bool phi__hooks_wanted(const phi__agent *agent, phi_hook_point point);

/* Drops a decision that is not needed any more; its ticket dies. Any state is allowed. */
PHI__FN void phi__decision_drop(phi__decision *decision);

/* For hooks of rooms above. watch: `over` is called once, when the ticket dies, however; it must
   not call the host. False: the ticket is dead, or watched. hold: phi_decide can only deny it from
   now on. settle: as phi_decide, but at once, for any reply and verdict, on the pumping thread;
   calls `over`; stale is harmless. */
PHI__FN bool phi__hooks_watch(phi_ticket ticket, void (*over)(void *ctx), void *ctx);
PHI__FN void phi__hooks_unwatch(phi_ticket ticket);
PHI__FN void phi__hooks_hold(phi_ticket ticket);
PHI__FN void phi__hooks_settle(phi_ticket ticket, phi_verdict verdict, phi_str reply);

/* the first thing that an agent waits for, or its model's answer. */
PHI__FN void phi__pending_of(const phi__agent *agent, phi_pending_item *out);

/* ---- input.c ---- */
PHI__FN void phi__input_free_queues(phi__agent *agent); /* all three: they are empty */

/* A block of text, which stays the caller's. */
PHI__FN phi_content phi__input_text(phi_str text);

/* Messages injected before this place in the inbox were for an earlier run. */
PHI__FN void phi__input_since(phi__run *run, uint64_t at);

/* Reports each message of the queues that outlive a run as dropped, and empties them. */
PHI__FN void phi__input_drop_kept(phi__agent *agent, const char *why);

/* A host's id and refs as the message's details: empty where both are NULL. And their check: false
   with a message that begins with `what`. */
PHI__FN void phi__enqueue_details(const char *id, const char *refs, phi__buf *out);
PHI__FN phi_status phi__enqueue_check_details(phi_runtime *rt, const char *what, const char *id,
                                              const char *refs);

/* PHI_BAD_ARG "what: name is no JSON", if it is none; NULL is good. */
PHI__FN phi_status phi__enqueue_check_json(phi_runtime *rt, const char *what, const char *name,
                                           const char *text);

/* PHI_OK if content can be a user's message; else words that begin with `what`. */
PHI__FN phi_status phi__enqueue_check(phi_runtime *rt, const char *what, const phi_content *content,
                                      size_t count);

/* ---- posts.c ---- */
/* Reads all posts of other threads so far. */
PHI__FN void phi__posts_read_all(phi_runtime *rt);

/* The aborts alone: before a run begins, for they mean earlier ones. */
PHI__FN void phi__posts_read_aborts(phi_runtime *rt);
PHI__FN bool phi__posts_any(phi_runtime *rt);
PHI__FN uint64_t phi__posts_next(const phi_runtime *rt); /* the place of the next post */

/* ---- limits.c ---- */
/* Runs of children that are now in the agent's log; their budgets were charged already. */
PHI__FN void phi__charge_runs(phi__agent *agent, const phi_usage *usage, double cost);
PHI__FN void phi__pause_end(phi__run *run); /* not pausing: harmless */

/* All look again. */
PHI__FN void phi__pause_wake_all(phi_runtime *rt);

/* it, or one above, has a limit */
PHI__FN bool phi__budget_limited(const phi__agent *agent);

/* In place of the reservation for its own model call, which it does not make: a pot for as many
   calls of agents below it that are `of_run`, of so many tokens and dollars in all. What they
   reserve leaves the pot; the rest is released with the turn. False: too much, with the reason;
   then nothing is reserved. Without a budget: true. */
PHI__FN bool phi__pot_reserve(phi__run *run, uint64_t tokens, double cost, uint64_t calls,
                              char *reason, size_t size);

/* A reservation for a model call whose run has not begun: in *held, and in the budgets of the agent
   and of all above it, until it is given back to each of them: the tree may be another by then. */
PHI__FN bool phi__budget_hold(phi__agent *agent, uint64_t tokens, double cost, phi_spending *held,
                              char *reason, size_t size);
PHI__FN void phi__budget_give(phi__agent *agent, const phi_spending *held);
PHI__FN bool phi__limits_leaves(const phi__run *run, uint32_t delay_ms); /* time for a delay */
PHI__FN bool phi__limits_reached(phi__run *run, char *reason, size_t size);

/* ---- turn.c ---- */
/* Reserves what the run's next model call may cost, with so many tokens of input more than are in
   view; its older reservation is given back first. False: there is no room, and `reason` says
   where. */
PHI__FN bool phi__reserve_call(phi__run *run, uint64_t more, char *reason, size_t size);

/* Pauses the run at a limit: then *wait, and the outcome is its state, which looks again when it is
   woken. RUN_ON: it may not pause, or has for long enough. Its caller ends the pause. */
PHI__FN phi__state phi__reserve_pause(phi__run *run, const char *reason, bool *wait);

/* What each request of the agent's has, without its items and its tools; and its tools, as they are
   named or defined in it. False: no memory. */
PHI__FN phi__request_spec phi__ask_spec(const phi__agent *agent);
PHI__FN bool phi__ask_offer(phi__agent *agent, phi_arena *arena, phi__request_spec *spec);

/* ---- projection.c ---- */
/* The projection by the effective policy now; false: there is no policy. */
PHI__FN bool phi__projection_order_of(phi__agent *agent, phi__proj_order *order);
PHI__FN void phi__projection_clear(phi__run *run); /* it is to be made again */

/* The items that a projection sends of a view, in the arena; places NULL: all of them. rendered:
   with the renderings kept with them, which belong to the runs. NULL: no memory. */
PHI__FN phi__item *phi__projection_items(phi_arena *arena, const phi__fold *fold,
                                         const phi__projection *made, bool rendered);

/* The agent's own counter; its count_text, or the result, is NULL: the estimate. */
PHI__FN const phi_token_counter *phi__projection_counter(const phi__agent *agent);

/* By that counter: tokens of all that the agent's view holds; and of its tools and the schema of
   its format. */
PHI__FN uint64_t phi__projection_view_tokens(const phi__agent *agent);
PHI__FN uint64_t phi__projection_tool_tokens(const phi__agent *agent);
PHI__FN uint64_t phi__projection_overhead(const phi__run *run);

/* Tokens of the messages that the run would send now: those reported with the last answer, without
   the overhead, and an estimate of the messages since; where the list was changed since then, or
   nothing was reported, the estimate of all. */
PHI__FN uint64_t phi__projection_context_tokens(const phi__run *run);

/* ---- head.c ---- */
/* At PHI__POINT_REQUEST: appends a message of the program (is_update) to the history. It is copied
   into the log, emitted, and becomes the last item of the request. Nothing is appended after an
   answer that paused, since the provider continues that. False: no memory. */
PHI__FN bool phi__tell(phi__run *run, const phi_message *message);

/* Puts the head, where there is one, into another request of the agent's; appends nothing. The
   same. */
PHI__FN bool phi__head_keep(phi__agent *agent, phi__request_spec *spec, phi_arena *arena);

/* The head that phi__head_apply would put into a request, without the update that it would append;
   changes nothing but the request. False: no memory. */
PHI__FN bool phi__head_foresee(const phi__agent *agent, phi__request_spec *spec, phi_arena *arena);

/* Gives the agent the head of another one whose history it continues; no head is harmless. False:
   no memory. */
PHI__FN bool phi__head_copy(phi__agent *agent, const phi__agent *from);

/* ---- toolset.c ---- */
/* The rules of an agent with that own provider (or NULL) and model. */
PHI__FN phi__tool_rules phi__tool_check_rules(const phi_runtime *rt, const phi_provider *own,
                                              const phi_model *model, bool can_approve);

/* PHI_OK, or phi_last_error says which tool is at fault, and why: one that has a name, but for the
   rules about it; names alone, which another model may not take; all of a list. */
PHI__FN phi_status phi__tool_check_one(phi_runtime *rt, const phi__tool_rules *rules,
                                       const phi_tool *tool);
PHI__FN phi_status phi__tool_check_names(phi_runtime *rt, const phi__tool_rules *rules,
                                         const phi_tool *tools, size_t count);
PHI__FN phi_status phi__tool_check_all(phi_runtime *rt, const phi__tool_rules *rules,
                                       const phi_tool *tools, size_t count);

/* JSON text of an object, for the list of tools; `what` names the field. */
PHI__FN phi_status phi__tool_check_raw(phi_runtime *rt, const char *what, const char *json);

/* Every provider wants a schema to describe an object, by properties that are schemas. True when
   this one does not: `out` then has the place and the words. */
PHI__FN bool phi__tool_check_schema_fault(const phi_json *schema, char *out, size_t size);
PHI__FN void phi__toolset_init(phi__toolset *set, phi_memory *memory,
                               const struct phi__features *features);

/* Replaces its tools by copies of these, which may be part of the old ones. timeout_ms: of tools
   that have none. False: no memory, and nothing changed. */
PHI__FN bool phi__toolset_take(phi__toolset *set, const phi_tool *tools, size_t count,
                               uint32_t timeout_ms);

PHI__FN const phi_tool *phi__toolset_find(const phi__toolset *set, phi_str name); /* NULL: none */

/* What tools must fit has changed: the next refresh checks all of them. */
PHI__FN void phi__sources_recheck(phi__agent *agent);
PHI__FN const phi__sources_ops *phi__tool_sources_ops(void);

/* ---- deferral.c ---- */
PHI__FN const phi__deferral_ops *phi__deferral_tools_ops(void);

/* ---- provider.c ---- */
/* PHI_OK, or its fault in phi_last_error, with a message that begins with `what`. */
PHI__FN phi_status phi__provider_check(phi_runtime *rt, const char *what,
                                       const phi_provider *provider);

/* The registered one of a protocol, or NULL. */
PHI__FN const phi_provider *phi__provider_find(const phi_runtime *rt, phi_str protocol);
PHI__FN void phi__provider_free_all(phi_runtime *rt);

/* Copies a model and its provider into the arena, with defaults filled in. False: no memory. */
PHI__FN bool phi__speaker_take(const phi_runtime *rt, phi_arena *arena, const phi_provider *own,
                               const phi_model *model, phi__speaker *out);

/* Another provider for it; borrowed. */
PHI__FN void phi__speaker_by(phi__speaker *seat, const phi_provider *own);

/* The agent's, and giving it another one. */
PHI__FN phi__speaker phi__speaker_of(const phi__agent *agent);
PHI__FN void phi__speaker_set(phi__agent *agent, const phi__speaker *seat);

/* ---- transfer.c ---- */
/* PHI_BAD_ARG: a URL or a header that cannot be sent; PHI_MISUSE: the runtime closes, or a tape is
   played; PHI_FULL: too many stay open in silence; PHI_NO_MEMORY. phi_last_error has the message.
   What the transport refuses comes by on_end. */
PHI__FN phi_status phi__fetch_open(phi_runtime *rt, const phi__fetch_desc *desc, phi__fetch **out);

/* Cancels it; on_end is not called. NULL is harmless, and so is a close inside its own on_end. */
PHI__FN void phi__fetch_close(phi__fetch *fetch);

/* True if text can be in a header's value: no control characters but the tab. */
PHI__FN bool phi__fetch_value_fits(phi_str value);
PHI__FN bool phi__fetch_name_fits(phi_str name); /* a token of RFC 9110 */

/* All: they end with PHI_CANCELLED in the next step, or at once. */
PHI__FN void phi__fetch_cancel_all(phi_runtime *rt);
PHI__FN void phi__fetch_end_all(phi_runtime *rt);
PHI__FN const phi__transfer_port *phi__transfer_port_get(void);

/* Input of a transfer, past the tape. */
PHI__FN phi_status phi__transfer_stage_now(phi_transfer transfer, phi_transfer_stage stage);
PHI__FN phi_status phi__transfer_head_now(phi_transfer transfer, int http_status,
                                          const char *headers, size_t len);
PHI__FN phi_status phi__transfer_push_now(phi_transfer transfer, const char *bytes, size_t len);
PHI__FN phi_status phi__transfer_end_now(phi_transfer transfer, phi_status status,
                                         const char *words);

/* ---- model_call.c ---- */
/* Who changed the messages before thinking that is left out, as far as it is known. Static. */
PHI__FN const char *phi__thinking_cause(const phi__agent *agent, phi__prefix_cause cause,
                                        bool hooks, bool policy);

/* ---- attempt.c ---- */
/* A turn begins, with its memory given back. */
PHI__FN void phi__attempt_clear(phi__run *run);

/* For good: PHI__RUN_GIVE_UP. failure: in the thread. */
PHI__FN phi__state phi__attempt_refuse(phi__run *run, const phi_failure *failure);
PHI__FN void phi__attempt_rewind(phi__run *run); /* the turn's memory, and what points into it */

/* ---- tools.c ---- */
/* Results that are being written to files get there now. */
PHI__FN void phi__round_settle(phi__run *run);

/* `gone` is called with the call's state before that is freed, also where somebody else has
   finished the call, of which a tool's `cancel` does not hear. */
PHI__FN void phi__call_on_gone(phi_call call, void (*gone)(void *state));

/* an error result, if none yet */
PHI__FN void phi__call_fail(phi__toolcall *call, const char *text);

static inline const char *phi__loop_words(const phi__toolcall *call, phi_text which) {
    return phi__texts_get(call->run->agent->desc.texts, which);
}

/* True while it waits for its result; from any thread. */
PHI__FN bool phi__call_pending(phi_call handle);

/* With a tape: settles a call with the result that was let in; or gives a claim back. */
PHI__FN phi_status phi__call_take(phi__toolcall *call, const phi_tool_result *result);
PHI__FN void phi__call_unclaim(phi__toolcall *call);

/* As phi_call_get_info on the pumping thread. */
PHI__FN phi_call_info phi__update_info(phi_call call);

/* phi_call_update and phi_call_progress of a text that may not be terminated */
PHI__FN phi_status phi__update_text(phi_call call, phi_str text);
PHI__FN phi_status phi__update_progress(phi_call call, phi_str text);

/* ---- cap.c ---- */
/* A copy: its run is the message's loop_id, its effects are the extension_data. NULL: no memory. */
PHI__FN phi_message *phi__results_keep(phi_arena *arena, const phi_tool_result *result);

/* And back; it points into the message. */
PHI__FN phi_tool_result phi__results_given(const phi_message *message);

/* For names that a call makes. With a tape a hash of the call: the runtime's random source would
   give other ids and delays to what comes behind where the tape is played, for then no tool
   runs. */
PHI__FN void phi__cap_random(const phi__toolcall *call, unsigned char out[16]);

/* ---- run.c ---- */
PHI__FN phi_status phi__run_new(phi__agent *agent, const phi__run_order *order);

/* The same with one prompt, a user's message of these blocks. NULL: without a prompt. */
PHI__FN phi_status phi__run_new_of(phi__agent *agent, phi__run_order order,
                                   const phi_content *content, size_t count);

/* The members of an agent in a snapshot but its thread, each with its comma; and back, of an idle
   agent without a log: its thread, too. PHI_PARSE: they do not fit; PHI_MISUSE: its store has the
   thread; PHI_NO_MEMORY. */
PHI__FN void phi__save_agent(phi__buf *out, const phi__agent *agent, phi_arena *scratch);
PHI__FN phi_status phi__load_agent(phi__agent *agent, const phi_json *root, bool interrupt,
                                   char *words, size_t words_size);

/* An agent goes: nothing calls or wakes it any more (false: it is gone already); its events and
   responses go; and all its state but its settings. */
PHI__FN bool phi__gone_detach(phi__agent *agent);
PHI__FN void phi__gone_drop(phi__agent *agent);
PHI__FN void phi__gone_free(phi__agent *agent);

/* ---- draft.c ---- */
/* The request's, or the agent's. */
PHI__FN const phi_format *phi__run_format_of(const phi__run *run);
PHI__FN double phi__run_temperature(const phi__run *run); /* negative: none was set */

/* Copies the state of the run so far. */
PHI__FN void phi__responses_update(phi__response *response, const phi__run *run);
PHI__FN void phi__responses_drop_one(phi__response *response); /* its handle is stale */

/* ---- stored.c ---- */
/* Evicts messages that an agent with a memory limit has just cleared: at once, since no pointer to
   them is valid any more. */
PHI__FN void phi__stored_evict_now(phi__agent *agent);

/* ---- forget.c ---- */
/* The bytes that the log may take, when it nears them and a compaction is what comes next; else
   0. */
PHI__FN size_t phi__forget_near(const phi__agent *agent);

#endif
