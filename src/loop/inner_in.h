/* inner_in.h - the functions that the files of loop/ offer each other, by file.
   Threads: the pumping thread. */
#ifndef PHI_LOOP_INNER_IN_H
#define PHI_LOOP_INNER_IN_H

#include "loop/loop_in.h"

/* ---- schedule.c ---- */
/* True if a watcher of a child points into the log of the agent. */
PHI__FN bool phi__find_reader(const phi__agent *agent);
PHI__FN void phi__schedule_unready(phi__run *run); /* not in the list: harmless */

/* The run that was woken first, and out of the list; NULL: none is ready. */
PHI__FN phi__run *phi__schedule_next_ready(phi_runtime *rt);
PHI__FN bool phi__schedule_timer_set(phi__run *run, uint64_t at_us); /* wakes the run */

/* What other threads see of an agent. */
PHI__FN void phi__schedule_publish_state(const phi__agent *agent, bool running);

/* The clock, for values that are only shown to the host: a tape does not record the reading. */
PHI__FN uint64_t phi__schedule_look_us(const phi_runtime *rt);

/* ---- session.c ---- */
/* The next number of a segment; 0: no memory, and nothing changed. */
PHI__FN uint32_t phi__session_next(phi__sessions *sessions, phi__session *session, phi_str segment);

/* Gives the last number back: a run that could not begin. */
PHI__FN void phi__session_undo(phi__session *session, phi_str segment);

/* Exchanges *session for one of another id (a UUID), whose counts are empty. A session without
   other users is renamed, which needs no memory. False: no memory, and nothing changed. */
PHI__FN bool phi__session_renew(phi__sessions *sessions, phi__session **session, phi_str id);

/* A run of that id begins. False: no memory, and nothing changed. */
PHI__FN bool phi__line_begin_run(phi__agent *agent, phi_str loop_id);

/* At least so many numbers of the segment were given; more than 2^31 are not believed. False: no
   memory. */
PHI__FN bool phi__session_go_on(phi__sessions *sessions, phi__session *session, phi_str segment,
                                uint64_t runs);

/* Copies the parent of the next run. False: no memory. */
PHI__FN bool phi__line_remember(phi__agent *agent, phi_str loop_id);

/* ---- feature.c ---- */
/* A run is about to begin, or goes on out of a snapshot: who takes part in it. */
PHI__FN void phi__feature_begin(phi__run *run);

/* Calls the features at a point of the run; returns the outcome. */
PHI__FN phi__state phi__feature_run(phi__run *run, phi__point point);

/* The same about a tool call. */
PHI__FN phi__state phi__feature_call(phi__toolcall *call, phi__point point);

/* The state HELD: what its holder makes of it; and as which state it is saved. */
PHI__FN phi__state phi__feature_held(phi__run *run, bool *wait);
PHI__FN phi__state phi__feature_held_as(const phi__run *run);

/* ---- events.c ---- */
PHI__FN phi__answer *phi__answer_new(phi__run *run); /* of its turn */
PHI__FN void phi__answer_drop(phi__answer *answer);  /* one reference; NULL is harmless */
PHI__FN bool phi__answer_room(phi__answer *answer);  /* for a view of all its blocks */

/* What there is of it now. NULL: no memory. */
PHI__FN const phi_message *phi__answer_whole(phi__answer *answer);

/* It is over: `final` in its place, in the thread; NULL: nothing came of it. */
PHI__FN void phi__answer_settle(phi__answer *answer, const phi_message *final);

/* The same with a copy of a result of text and images, the event's message, and of its
   child_loop_id. */
PHI__FN bool phi__events_emit_part(phi__agent *agent, const phi_event *event,
                                   const phi_message *part);

/* As phi__events_emit, of an answer, which the event shows. */
PHI__FN bool phi__events_emit_of(phi__agent *agent, const phi_event *event, phi__answer *answer);

/* The same for a part of an answer, made in place: there are many of them. */
PHI__FN bool phi__events_emit_delta(phi__agent *agent, phi_event_kind kind, uint32_t block_index,
                                    phi_str text, phi__answer *answer, size_t partial_len);

/* PHI_EV_OPAQUE, with copies of the block's type and JSON. */
PHI__FN bool phi__events_emit_opaque(phi__agent *agent, uint32_t block_index, phi_str type,
                                     phi_str json, phi__answer *answer);
PHI__FN bool phi__events_backlog(const phi__agent *agent); /* the host does not drain */

/* The time, and which run and turn it is of. */
PHI__FN void phi__events_stamp(const phi__run *run, phi_message *message);
PHI__FN phi__entry phi__events_entry(const phi__run *run, phi_entry_kind kind);

/* False, here and below: no memory. */
/* Appends an entry of the run's: its time, run and turn are filled in. */
PHI__FN bool phi__events_note(phi__run *run, phi__entry *entry);

/* MESSAGE_START and MESSAGE_END of a message that is in the log. */
PHI__FN bool phi__events_message(phi__run *run, const phi_message *message, phi_input input,
                                 phi_str source);

/* Appends a message, and emits its events. */
PHI__FN bool phi__events_log(phi__run *run, const phi_message *kept);

/* Events popped before this step are not the host's any more: frees a part of them, or all. */
PHI__FN void phi__events_release(phi_runtime *rt, bool all);
PHI__FN void phi__events_purge(phi_runtime *rt, phi__agent *agent); /* its events, popped or not */

/* ---- hooks.c ---- */
enum { PHI__QUESTION_MOST = 64 }; /* open at once for one agent */

/* A call is over: its questions end in the next step; one whose hook is being called, after it. */
PHI__FN void phi__question_call_over(const phi__toolcall *call);
PHI__FN void phi__decision_init(phi__decision *decision, phi__agent *agent, phi__run *run,
                                phi__toolcall *call); /* run: NULL for a question */

/* Calls the hook, or takes the decision made since. The reply is in decision->reply until the next
   call. */
PHI__FN phi__hooked phi__hooks_decide(phi__decision *decision, phi_hook *hook, phi_hook_fn fn,
                                      void *user_data);
PHI__FN phi__hooked phi__hooks_call(phi__toolcall *call, phi_hook *hook);
PHI__FN void *phi__hooks_user_data(const phi__agent *agent); /* that hook_fn is called with */
PHI__FN void phi__decision_posted(phi_runtime *rt, const phi__post *post);

/* a ticket, decided without a text */
PHI__FN void phi__decision_marked(phi_runtime *rt, uint32_t index);

PHI__FN void phi__question_drop_all(phi__agent *agent);

/* ---- input.c ---- */
/* The same, however many wait: what a snapshot had, or a hook gave. */
PHI__FN phi_status phi__input_append(phi__agent *agent, phi__inputs *to, phi_input kind,
                                     const phi_content *content, size_t count, phi_str source,
                                     phi_str details);

/* Moves a queue's messages for a checkpoint, and the pull hook's reply, to the pending input. */
PHI__FN phi__hooked phi__input_poll(phi__run *run, phi_input kind);
PHI__FN void phi__input_take_injected(phi__run *run); /* is pending from now on */
PHI__FN void phi__input_end(phi__run *run);           /* the run goes */

/* Pending input goes back to its queue; injected messages are reported as dropped. */
PHI__FN void phi__input_return(phi__run *run);
PHI__FN void phi__input_drop_injected(phi__agent *agent);
PHI__FN void phi__input_poll_end(phi__run *run); /* gives up a poll that waits */

/* Puts pending input and injected messages into the log. False: no memory. */
PHI__FN bool phi__input_deliver(phi__run *run);
PHI__FN void phi__filter_init(phi__run *run);

/* Filters the prompts, or the pending input. DENY: the reason was emitted, and the input is gone.
   Warnings are in the messages. */
PHI__FN phi__hooked phi__filter_prompts(phi__run *run);
PHI__FN phi__hooked phi__filter_pending(phi__run *run);
PHI__FN void phi__filter_end(phi__run *run); /* ends the filtering under way */

/* NULL: no such queue */
PHI__FN phi__inputs *phi__input_list_of(phi__agent *agent, phi_input kind);

/* The same, if the queue has room. */
PHI__FN phi_status phi__input_add(phi__agent *agent, phi_input kind, const phi_content *content,
                                  size_t count, phi_str source, phi_str details);

PHI__FN void phi__input_emit_dropped(phi__agent *agent, phi_input kind, phi_str text,
                                     const char *why);

/* ---- posts.c ---- */
/* Reads a bounded number of posts of other threads. */
PHI__FN void phi__posts_read(phi_runtime *rt);

/* ---- limits.c ---- */
PHI__FN uint64_t phi__charge_tokens(const phi_usage *usage);
PHI__FN void phi__charge_clear(phi__run *run); /* a turn begins */

/* the answer that counts */
PHI__FN void phi__charge_turn(phi__run *run, const phi_usage *usage);
PHI__FN void phi__charge(phi__run *run, const phi_usage *usage);

PHI__FN void phi__budget_release(phi__run *run); /* the reservation; harmless without */

/* Why a run ends that its agent's limit has ended; NULL: it has none. */
PHI__FN const phi_failure *phi__at_limit_of(const phi__agent *agent);

PHI__FN bool phi__limits_line_reserve(phi__run *run, const phi_spending *wanted, char *reason,
                                      size_t size);

/* ---- turn.c ---- */
/* The call of a turn that has begun fails, for that reason. */
PHI__FN phi__state phi__reserve_refuse(phi__run *run, const char *reason);

/* Each until it waits or is over, as far as the step's budget goes. */
PHI__FN void phi__turn_advance_all(phi_runtime *rt);

/* ---- projection.c ---- */
/* Computes the messages of this turn's model call, unless that was done, and emits warnings. False:
   *next is the run's next state. */
PHI__FN bool phi__projection_ensure(phi__run *run, phi__state *next);

/* The policy that holds now: that of the active run, or the agent's. NULL: none. */
PHI__FN const phi_policy *phi__projection_policy(const phi__agent *agent);

/* A policy of the run's own, copied. NULL: none. False: no memory. */
PHI__FN bool phi__projection_take_policy(phi__run *run, const phi_policy *policy);

/* The messages that the policy chose; NULL: the whole view. */
PHI__FN const phi__item *phi__projection_list(const phi__run *run, size_t *count);

/* ---- head.c ---- */
/* Puts the head into the request whose items are known, and appends the changes. False: no
   memory. */
PHI__FN bool phi__head_apply(phi__run *run);

PHI__FN void phi__head_free(phi__agent *agent); /* none is harmless */

/* The head in a snapshot, as a member "head" where there is one:
       "head":{"id":"HASH","system":"TEXT","tools":[["NAME","DESCRIPTION","SCHEMA",STRICT],...],
               "searches":true}
   A restored agent keeps it, so that earlier thinking stays valid. */
PHI__FN void phi__head_save(phi__buf *out, const phi__agent *agent);

/* PHI_PARSE: it is none of these; PHI_NO_MEMORY. Then the agent has no head. */
PHI__FN phi_status phi__head_load(phi__agent *agent, const phi_json *head);

/* ---- toolset.c ---- */
/* How a request differs from the set: a mark for each tool, and more tools after the set's. */
enum { PHI__TOOLSET_SHOWN = 0, PHI__TOOLSET_HIDDEN, PHI__TOOLSET_DEFERRED };

/* Tools of the run's own, copied. False: no memory. */
PHI__FN bool phi__toolset_take_run(phi__run *run, const phi_tool *tools, size_t count);
PHI__FN void phi__toolset_free_run(phi__run *run); /* none: harmless */

PHI__FN void phi__toolset_free(phi__toolset *set);

/* The tools of a request to a protocol: those of the set as that protocol has them and as they are
   changed, then the raw tools that are for it. names: of its codec, else the model's own protocol
   alone. *views: in the arena. False: no memory. */
PHI__FN bool phi__toolset_offer(const phi__toolset *set, const phi__toolset_change *change,
                                const phi_raw_tool *raws, size_t raw_count,
                                const char *const names[PHI__CODEC_NAMES], phi_arena *arena,
                                const phi__tool_view **views, size_t *count);

/* ---- deferral.c ---- */
PHI__FN bool phi__defer_defers(phi__defer_plan plan, const phi_tool *tool);
PHI__FN bool phi__defer_is_loaded(const phi__agent *agent, phi_str name);

/* ---- provider.c ---- */
/* The attempt's decoder state, zeroed, of an agent whose provider is one over HTTP. */
PHI__FN size_t phi__provider_state_bytes(const phi_provider *provider);
PHI__FN void phi__provider_state_init(void *state, const phi_provider *provider);

/* Makes the provider's request from run->attempt.spec, kept for all attempts; and, over HTTP, the
   request of an attempt. PHI_NO_MEMORY, or the status of the host's function. */
PHI__FN phi_status phi__provider_request(phi__run *run);
PHI__FN phi_status phi__provider_encode(phi__run *run);

/* In process: the states SEND and STREAM of an answer that is prepared. */
PHI__FN phi_status phi__provider_open(phi__run *run);

/* One poll. False: come again, woken or not as *wait says. */
PHI__FN bool phi__provider_poll(phi__run *run, bool *wait);

/* harmless if none is open; inside its poll deferred to the run's end */
PHI__FN void phi__provider_close(phi__run *run);

/* ---- transfer.c ---- */
PHI__FN void phi__fetch_resume(phi__fetch *fetch); /* not paused: harmless */
PHI__FN phi_status phi__transfer_open(phi_runtime *rt, phi_memory *memory,
                                      const phi_request *request, const phi_deadlines *deadlines,
                                      uint64_t max_bytes, const phi__transfer_owner *owner,
                                      phi__transfer **out);
PHI__FN phi_str phi__transfer_unread(const phi__transfer *transfer);

/* The bytes were decoded; alive: a meaningful event was among them. Returns the unread bytes. */
PHI__FN phi_str phi__transfer_took(phi__transfer *transfer, size_t bytes, bool alive);
PHI__FN void phi__transfer_alive(phi__transfer *transfer); /* a meaningful event was seen */

/* cancels if it goes; NULL is harmless */
PHI__FN void phi__transfer_close(phi__transfer *transfer);

/* The run's message for the status of a provider's open, and of a transport's. */
PHI__FN phi_status phi__transfer_status(phi_status status);
PHI__FN phi_status phi__network_status(phi_status status);

PHI__FN void phi__fetch_pump(phi_runtime *rt); /* hands on a bounded part */

/* ---- model_call.c ---- */
/* After a request was rendered: emits one warning each time another change takes thinking away.
   False: no memory. */
PHI__FN bool phi__thinking_look(phi__run *run);

/* The policy has left out messages. */
PHI__FN bool phi__thinking_left_out(const phi__run *run);

/* True if a server refused the request for its thinking, although phi's record of the prefix
   matches: something on the way changed it. The words are from the documents. */
PHI__FN bool phi__thinking_refused(const phi__run *run, const phi_failure *failure);

/* Gives an answer on its way into the log the numbers of the request that it answers. */
PHI__FN void phi__thinking_mark(const phi__run *run, phi_message *answer);

/* The list that the hooks get is made; and the hook's list is taken: its own messages are copied
   for the turn, NULLs are left out. False: no memory. */
PHI__FN bool phi__ask_list_make(phi__run *run);
PHI__FN bool phi__ask_list_take(phi__run *run, const phi_hook *hook);

/* The list in the encoder's form, after the host's translation, if there is one: the thread's own
   messages come with their kept renderings. PHI_NO_MEMORY, or the translation's status. */
PHI__FN phi_status phi__ask_items(phi__run *run, const phi__item **items, size_t *count);

/* Pins the segments of log messages in the host's list. False: no memory for that. */
PHI__FN bool phi__ask_list_pin(phi__run *run);

/* ---- attempt.c ---- */
/* Charges the cost so far, before the answer is discarded. Harmless without an attempt. */
PHI__FN void phi__attempt_charge(phi__run *run);
PHI__FN void phi__attempt_detach(phi__run *run); /* nothing calls the run any more */

/* Hides in a result of a tool what the turn's requests carried, and the agent's key. NULL: NULL. */
PHI__FN phi_message *phi__attempt_hide(phi__run *run, phi_message *result);
PHI__FN phi__state phi__attempt_failed(phi__run *run, const phi_failure *failure,
                                       phi_status status);

/* Frees an attempt that has ended, or must not continue; harmless without one. */
PHI__FN void phi__attempt_drop(phi__run *run);

/* The transport's own trouble; and a server's error, of which the body is collected. */
PHI__FN phi__state phi__attempt_broken(phi__run *run);
PHI__FN phi__state phi__attempt_classify(phi__run *run);

/* phi__attempt_failed with such a failure. words NULL: the status's. */
PHI__FN phi__state phi__attempt_fault(phi__run *run, phi_failure_kind kind, bool retryable,
                                      phi_status status, const char *words);

/* The words of the assistant message's error_message. */
PHI__FN void phi__end_words(const phi_failure *failure, char *out, size_t size);
PHI__FN bool phi__end_emit_retry(phi__run *run, const phi_failure *failure);

/* Ids that an earlier answer used already would make results ambiguous, and some providers refuse
   them: such calls get another. Servers that count their calls from 0 in each answer do that.
   False: no memory. */
PHI__FN bool phi__end_unique_ids(phi__run *run);

/* The delay before retry number `attempt` (from 1); random in [0, 1). */
PHI__FN uint32_t phi__retry_delay_ms(const phi_retry *retry, uint32_t attempt, double random);

/* True if a model call that failed so is to be tried again; and after how long. */
PHI__FN bool phi__retry_wanted(const phi_retry *retry, const phi_failure *failure, uint32_t attempt,
                               double random, uint32_t *delay_ms);

PHI__FN void phi__attempt_close(phi__run *run, bool settle);

/* ---- tools.c ---- */
PHI__FN void phi__round_clear(phi__run *run); /* a turn begins */

/* Lays out the calls of the reply, none begun, without events. False: no memory. */
PHI__FN bool phi__tools_lay_calls(phi__run *run);
PHI__FN void phi__tools_detach(phi__run *run); /* calls their `cancel`; frees nothing */
PHI__FN void phi__tools_drop(phi__run *run);

/* the state TOOLS */
PHI__FN phi__state phi__tools_run(phi__run *run, bool *wait);
PHI__FN phi__state phi__tools_make_calls(phi__run *run); /* TOOLS, or TURN_END without any */

/* A number for a tool's name and its arguments, whatever their order of keys and blanks; text that
   is no JSON counts as it is. `arena` is given back. */
PHI__FN uint64_t phi__repeat_hash(phi_arena *arena, phi_str name, phi_str arguments);

/* Takes note of a call; how often it is in the window now, this one included. */
PHI__FN uint32_t phi__repeat_note(phi__repeat_guard *guard, uint64_t hash);
PHI__FN bool phi__call_open(phi__toolcall *call); /* its handle; false: no memory */

/* A result of one text block, which is the caller's. */
PHI__FN phi_tool_result phi__call_text(phi_content *content, phi_str text, bool is_error);

/* The result of a call that another thread has posted. */
PHI__FN void phi__call_posted(phi_runtime *rt, const phi__post *post);

PHI__FN void phi__call_poll_all(phi_runtime *rt);

/* ---- cap.c ---- */
/* Gives a claimed call its result; NULL: memory ran out. */
typedef phi_status (*phi__cap_give_fn)(phi__toolcall *call, const phi_tool_result *result);

/* The bytes that the texts of its result may have: the agent's or the tool's limit, the smaller. */
PHI__FN uint32_t phi__cap_most(const phi__toolcall *call);

/* True if an image, a document or audio has more bytes than `most`. */
PHI__FN bool phi__cap_too_large(const phi_content *content, uint32_t most);

/* A result is too large: gives the cut one now, or keeps call->cap until it can. */
PHI__FN phi_status phi__cap_begin(phi__toolcall *call, const phi_tool_result *result,
                                  phi__cap_give_fn give);

/* Writes a slice; the last one gives the result. */
PHI__FN void phi__cap_more(phi__toolcall *call);
PHI__FN void phi__cap_finish(phi__toolcall *call); /* all of it, now */
PHI__FN void phi__cap_drop(phi__toolcall *call);   /* gives nothing; the file is removed */

/* ---- draft.c ---- */
/* Moves a run that has not begun, and its prompts, into the agent's new log; its entries in the old
   log stay there. False: no memory, and the run is unchanged. */
PHI__FN bool phi__draft_rehome(phi__run *run, const phi_thread *before);

/* The run has ended: when AGENT_END is emitted. Needs no memory; a run without a response is
   harmless. */
PHI__FN void phi__responses_close(phi__run *run);

/* False: no memory, and the log is as it was, but for results of calls that had none. */
PHI__FN bool phi__draft_run(phi__run *run, const phi__run_order *order);

/* ---- run.c ---- */
/* AGENT_START, unless it is out: before the run, or a snapshot of it, failed or went on. False: the
   reserve was used, and the run must end. */
PHI__FN bool phi__run_emit_start(phi__run *run);

/* failure: in the thread, or static. */
PHI__FN phi__state phi__run_fail(phi__run *run, const phi_failure *failure, phi_status status);

/* Handles PHI__RUN_LOST: releases everything that the run holds of its turn. */
PHI__FN phi__state phi__run_no_memory(phi__run *run);

PHI__FN void phi__run_destroy(phi__run *run); /* at once, without events: agent or runtime go */

/* ---- stored.c ---- */
/* True if the store has all of the run's thread now; false without a store. */
PHI__FN bool phi__stored_run(phi__run *run);
PHI__FN void phi__stored_updated(phi__run *run); /* the same at its end, with an event */

/* NULL: there is no reply */
PHI__FN const phi__entry *phi__stored_reply_entry(const phi__run *run);

PHI__FN void phi__stored_step(phi_runtime *rt); /* what else has grown, in part */

/* evicts stored entries outside of the view */
PHI__FN void phi__stored_evict(phi_runtime *rt);

/* ---- forget.c ---- */
/* Makes room before a run without events so far, once; *wait: it continues in the next step. False:
   no memory. The agent may be freed by its compactor: look at agent->slot. */
PHI__FN bool phi__forget_begin(phi__run *run, bool *wait);
PHI__FN void phi__forget_ran(phi__agent *agent, phi_status status); /* a run of it has ended so */

/* a prompt found no memory: the next step makes room */
PHI__FN void phi__forget_press(phi__agent *agent);

PHI__FN void phi__forget_unpress(phi__agent *agent); /* it goes; nothing is harmless */

PHI__FN void phi__forget_step(phi_runtime *rt); /* a step begins, popped events are released */

#endif
