/* loop_in.h - the shared functions of the pump, by file, over the structs of state_in.h. Threads:
   the pumping thread. */
#ifndef PHI_LOOP_LOOP_IN_H
#define PHI_LOOP_LOOP_IN_H

#include "loop/turn_in.h"
#include "loop/limits_in.h"
#include "loop/model_call_in.h"
#include "loop/projection_in.h"
#include "loop/run_in.h"
#include "loop/events_in.h"
#include "loop/feature_in.h"
#include "loop/find_in.h"
#include "loop/input_in.h"
#include "loop/session_in.h"
#include "loop/schedule_in.h"
#include "loop/state_in.h"
#include "loop/tools_in.h"
#include "model/event_in.h"
#include "model/texts_in.h"

/* transfer.c */
PHI__FN const phi__transfer_port *phi__transfer_port_get(void);
PHI__FN phi_status phi__transfer_open(phi_runtime *rt, phi_memory *memory,
                                      const phi_request *request, const phi_deadlines *deadlines,
                                      uint64_t max_bytes, const phi__transfer_owner *owner,
                                      phi__transfer **out);
PHI__FN phi_str phi__transfer_unread(const phi__transfer *transfer);
/* The bytes were decoded; alive: a meaningful event was among them. Returns the unread bytes. */
PHI__FN phi_str phi__transfer_took(phi__transfer *transfer, size_t bytes, bool alive);
PHI__FN void phi__transfer_alive(phi__transfer *transfer); /* a meaningful event was seen */
/* Input of a transfer, past the tape. */
PHI__FN phi_status phi__transfer_stage_now(phi_transfer transfer, phi_transfer_stage stage);
PHI__FN phi_status phi__transfer_head_now(phi_transfer transfer, int http_status,
                                          const char *headers, size_t len);
PHI__FN phi_status phi__transfer_push_now(phi_transfer transfer, const char *bytes, size_t len);
PHI__FN phi_status phi__transfer_end_now(phi_transfer transfer, phi_status status,
                                         const char *words);
/* cancels if it goes; NULL is harmless */
PHI__FN void phi__transfer_close(phi__transfer *transfer);
/* The run's message for the status of a provider's open, and of a transport's. */
PHI__FN phi_status phi__transfer_status(phi_status status);
PHI__FN phi_status phi__transfer_network_status(phi_status status);

/* tools.c */
/* Of a strict tool: without the nulls that stand for absent properties. PHI_NO_MEMORY. */
PHI__FN phi_status phi__arguments_without_nulls(phi__toolcall *call);
/* Whether they fit the tool's schema; else a message for the model. */
PHI__FN bool phi__arguments_fit(phi__toolcall *call, char *words, size_t size);

/* tools.c */
PHI__FN bool phi__call_open(phi__toolcall *call); /* its handle; false: no memory */
/* No result is on its way; with a tape, where it was so when that was recorded. */
PHI__FN bool phi__call_may_start(const phi__toolcall *call);
PHI__FN void phi__call_start(phi__toolcall *call);
PHI__FN void phi__call_resume(phi__toolcall *call); /* a call that had begun before a snapshot */
/* NULL: stale. */
PHI__FN phi__toolcall *phi__call_find(phi_call call);
/* As phi_call_get_info on the pumping thread. */
PHI__FN phi_call_info phi__update_info(phi_call call);
/* `gone` is called with the call's state before that is freed, also where somebody else has
   finished the call, of which a tool's `cancel` does not hear. */
PHI__FN void phi__call_on_gone(phi_call call, void (*gone)(void *state));
PHI__FN phi_call phi__call_handle(const phi__toolcall *call);
/* Whether a result is well formed; else PHI_BAD_ARG, with words that begin with the function's
   name. */
PHI__FN phi_status phi__call_check(phi_call handle, const char *function,
                                   const phi_tool_result *result);
/* A result of one text block, which is the caller's. */
PHI__FN phi_tool_result phi__call_text(phi_content *content, phi_str text, bool is_error);
/* The result with its `text` as its content, which is *one then. */
PHI__FN phi_tool_result phi__call_whole(const phi_tool_result *result, phi_content *one);
/* an error result, if none yet */
PHI__FN void phi__call_fail(phi__toolcall *call, const char *text);
/* The same with a text of the agent's, {name} being the tool's. */
PHI__FN void phi__call_fail_as(phi__toolcall *call, phi_text which, uint64_t n);
static inline const char *phi__loop_words(const phi__toolcall *call, phi_text which) {
    return phi__texts_get(call->run->agent->desc.texts, which);
}
PHI__FN void phi__call_fail_str(phi__toolcall *call, phi_str text);
PHI__FN void phi__call_cancel(phi__toolcall *call, const char *text); /* and its tool */
/* Detaches a call that will have no result: calls the tool's `cancel`, and its handle dies. Its own
   memory stays until dispose, for a tool function that is running just now. */
PHI__FN void phi__call_detach(phi__toolcall *call);
PHI__FN void phi__call_dispose(phi__toolcall *call);
enum { PHI__CALL_IS_ERROR = 1, PHI__CALL_TERMINATED = 2 }; /* flags of a PHI__POST_FINISH */
PHI__FN void phi__call_posted(phi_runtime *rt, const phi__post *post);
/* True while it waits for its result; from any thread. */
PHI__FN bool phi__call_pending(phi_call handle);
/* The tape that its results go through; NULL: none. */
PHI__FN phi_tape *phi__call_tape(const phi__toolcall *call);
/* With a tape: settles a call with the result that was let in; or gives a claim back. */
PHI__FN phi_status phi__call_take(phi__toolcall *call, const phi_tool_result *result);
PHI__FN void phi__call_unclaim(phi__toolcall *call);
PHI__FN void phi__call_poll_all(phi_runtime *rt);
/* A polled call has its next slice ready: the next step does not sleep. */
PHI__FN void phi__call_has_work(phi_runtime *rt);

/* update.c: true on another thread than that of the last phi_step */
PHI__FN bool phi__reply_elsewhere(const phi_runtime *rt);

/* update.c: phi_call_update and phi_call_progress of a text that may not be terminated */
PHI__FN phi_status phi__update_text(phi_call call, phi_str text);
PHI__FN phi_status phi__update_progress(phi_call call, phi_str text);

/* hooks.c */
PHI__FN void phi__hooks_decision_init(phi__decision *decision, phi__run *run, phi__toolcall *call);
/* Fills the arguments that every hook of a run gets; the caller adds those of the point. */
PHI__FN phi_hook phi__hooks_make(const phi__run *run, phi_hook_point point);
/* Calls the hook, or takes the decision made since. The reply is in decision->reply until the next
   call. */
PHI__FN phi__hooked phi__hooks_decide(phi__decision *decision, phi_hook *hook, phi_hook_fn fn,
                                      void *user_data);
/* The agent's own hook function, for a run or a call: PHI__HOOK_ALLOW where it does not want the
   point. */
PHI__FN phi__hooked phi__hooks_run(phi__run *run, phi_hook *hook);
PHI__FN phi__hooked phi__hooks_call(phi__toolcall *call, phi_hook *hook);
/* Where a state goes after a hook: on, back to itself, or out. */
PHI__FN phi__state phi__hooks_next(phi__run *run, phi__hooked hooked, phi__state here,
                                   phi__state next, phi__state denied, bool *wait);
/* Those for an agent that need not run. */
PHI__FN phi_hook phi__hooks_make_of(const phi__agent *agent, phi_hook_point point);
/* The decision of a question; call: that it comes from, or NULL. asked: borrowed. settled: called
   when a wait is over, however; phi__hooks_decide has the verdict. */
PHI__FN void phi__hooks_decision_asked(phi__decision *decision, phi__agent *agent,
                                       phi__toolcall *call, const phi__asked *asked,
                                       void (*settled)(phi__decision *decision));
PHI__FN bool phi__hooks_wanted(const phi__agent *agent, phi_hook_point point);
PHI__FN void *phi__hooks_user_data(const phi__agent *agent); /* that hook_fn is called with */
/* The arguments of its call that a person is to decide on: those of the round before, if it changed
   them. */
PHI__FN phi_str phi__hooks_arguments(const phi__decision *decision);
/* Drops a decision that is not needed any more; its ticket dies. Any state is allowed. */
PHI__FN void phi__hooks_decision_drop(phi__decision *decision);
PHI__FN void phi__hooks_decision_posted(phi_runtime *rt, const phi__post *post);
/* a ticket, decided without a text */
PHI__FN void phi__hooks_decision_marked(phi_runtime *rt, uint32_t index);
/* For hooks of rooms above. watch: `over` is called once, when the ticket dies, however; it must
   not call the host. False: the ticket is dead, or watched. hold: phi_decide can only deny it from
   now on. settle: as phi_decide, but at once, for any reply and verdict, on the pumping thread;
   calls `over`; stale is harmless. */
PHI__FN bool phi__hooks_watch(phi_ticket ticket, void (*over)(void *ctx), void *ctx);
PHI__FN void phi__hooks_unwatch(phi_ticket ticket);
PHI__FN void phi__hooks_hold(phi_ticket ticket);
PHI__FN void phi__hooks_settle(phi_ticket ticket, phi_verdict verdict, phi_str reply);

/* hooks.c: the first thing that an agent waits for, or its model's answer. */
PHI__FN void phi__pending_of(const phi__agent *agent, phi_pending_item *out);

/* input.c: reads posts of other threads; a bounded number, or all so far */
PHI__FN void phi__posts_read(phi_runtime *rt);
PHI__FN void phi__posts_read_all(phi_runtime *rt);
/* The aborts alone: before a run begins, for they mean earlier ones. */
PHI__FN void phi__posts_read_aborts(phi_runtime *rt);
PHI__FN bool phi__posts_any(phi_runtime *rt);
PHI__FN uint64_t phi__posts_next(const phi_runtime *rt); /* where the next post will stand */

/* run.c */
/* Copies the state of the run so far. */
PHI__FN void phi__responses_update(phi__response *response, const phi__run *run);
/* The run has ended: when AGENT_END is emitted. Needs no memory; a run without a response is
   harmless. */
PHI__FN void phi__responses_close(phi__run *run);
PHI__FN void phi__responses_drop_one(phi__response *response); /* its handle is stale */
/* All of an agent's: it is freed or reset, or its messages are replaced. */
PHI__FN void phi__responses_drop(phi__agent *agent);

/* stored.c: threads in a store. Whether the store has all of the run's thread now; without one:
   no. */
enum { PHI__STORED_WORDS = 200 };
PHI__FN bool phi__stored_run(phi__run *run);
PHI__FN void phi__stored_updated(phi__run *run); /* the same at its end, with an event */
PHI__FN void phi__stored_step(phi_runtime *rt);  /* what else has grown, in part */
/* Evicts messages that an agent with a memory limit has just cleared: at once, since no pointer to
   them is valid any more. */
PHI__FN void phi__stored_evict_now(phi__agent *agent);
/* evicts stored entries outside of the view */
PHI__FN void phi__stored_evict(phi_runtime *rt);
/* NULL: there is no reply */
PHI__FN const phi__entry *phi__stored_reply_entry(const phi__run *run);

/* forget.c: room in an agent's memory. */
/* Makes room before a run without events so far, once; *wait: it continues in the next step. False:
   no memory. The agent may be freed by its compactor: look at agent->slot. */
PHI__FN bool phi__forget_begin(phi__run *run, bool *wait);
/* The bytes that the log may take, when it nears them and a compaction is what comes next; else
   0. */
PHI__FN size_t phi__forget_near(const phi__agent *agent);
/* bytes of a log for a token of a summary in it, which stands twice */
enum { PHI__FORGET_SUMMARY = 32 };
PHI__FN void phi__forget_ran(phi__agent *agent, phi_status status); /* a run of it has ended so */
PHI__FN void phi__forget_end(phi__agent *agent); /* the run is over: all of the limit may be used */
/* a prompt found no memory: the next step makes room */
PHI__FN void phi__forget_press(phi__agent *agent);
PHI__FN void phi__forget_unpress(phi__agent *agent); /* it goes; nothing is harmless */
PHI__FN void phi__forget_step(phi_runtime *rt);      /* a step begins, popped events are released */

/* limits.c */
/* Why a run ends that its agent's limit has ended; NULL: it has none. */
PHI__FN const phi_failure *phi__at_limit_of(const phi__agent *agent);
/* Makes at_limit of an agent, where it has a limit, and of a runtime; they outlive the logs they
   are put into. False: no memory. */
PHI__FN bool phi__at_limit_name(phi__agent *agent);
PHI__FN void phi__at_limit_name_all(phi_runtime *rt);

/* toolset.c */
/* Tools of the run's own, copied. False: no memory. */
PHI__FN bool phi__toolset_take_run(phi__run *run, const phi_tool *tools, size_t count);
PHI__FN void phi__toolset_free_run(phi__run *run); /* none: harmless */

#endif
