/* events_in.h - the event queue between the pump and the host; streaming answers, which events hold
   by reference, so that an answer outlives its attempt; and a run's entries in its agent's log,
   with their events. */
#ifndef PHI_LOOP_EVENTS_IN_H
#define PHI_LOOP_EVENTS_IN_H

#include "base/base.h"
#include "base/base_in.h"
#include "base/list_in.h"
#include "history/thread_in.h"
#include "io/transport.h"
#include "loop/events.h"
#include "loop/input.h"
#include "loop/types_in.h"
#include "model/event.h"
#include "model/model.h"
#include "wire/assembly_in.h"

typedef struct phi__last_error {
    phi_status status;
    char words[256];
} phi__last_error;

/* Keeps both for phi_last_error, and returns the status. */
PHI__FN phi_status phi__error(phi_runtime *rt, phi_status status, const char *format, ...)
    PHI_PRINTF(3, 4);

/* words: may be NULL. */
PHI__FN phi_status phi__error_last(const phi_runtime *rt, const char **words);

/* One answer while it streams and, as `final`, in the thread; kept while events refer to it. */
typedef struct phi__answer {
    phi_memory *memory;
    size_t bytes; /* of this, and of the names behind it */
    uint32_t refs;
    bool live; /* the assembly is in use; else `final` has taken its place */
    phi__assembly assembly;
    const phi_message *final;
    /* Of the assembly, remade at a pop; at first only the model of the request. */
    phi_message view;
    phi_content *content;
    size_t content_cap;
    bool viewed; /* `view` shows the assembly as it is */
} phi__answer;

struct phi__event_block;

typedef struct phi__record {
    phi__link link;                 /* of those queued, held or popped */
    phi__link own;                  /* of its agent's */
    struct phi__event_block *block; /* NULL: one of an agent's reserve */
    phi__agent *agent;
    phi__answer *answer; /* for partial and message; NULL: none */
    size_t partial_len;
    size_t cost; /* bytes counted against the agent's queue */
    bool in_use; /* reserve: queued */
    bool popped;
    phi_event event;
} phi__record;

typedef struct phi__events {
    phi_memory *memory;
    phi__list queued;  /* records */
    phi__list held;    /* the same, of agents whose events are held */
    phi__list popped;  /* until the next step; then they are freed, a part in each */
    phi__link *kept;   /* the first of `popped` that is not to be freed yet; NULL: all are */
    uint64_t freed_at; /* `seq` when some were freed last */
    struct phi__event_block *current, *spare;
    uint64_t seq;
} phi__events;

typedef struct phi__agent_events {
    size_t queued_bytes; /* of events not popped yet */
    bool held;           /* those stay until the host lets them out */
    phi__list all;       /* records, those popped too: found without a look at other agents' */
    /* PHI__RESERVE of them: during a run, and until they are released */
    phi__record *reserve;
    size_t untold_drops; /* messages that were dropped while the event queue was full */
} phi__agent_events;

PHI__FN phi__answer *phi__events_answer_new(phi__run *run); /* of its turn */
PHI__FN void phi__events_answer_drop(phi__answer *answer);  /* one reference; NULL is harmless */
PHI__FN bool phi__events_answer_room(phi__answer *answer);  /* for a view of all its blocks */

/* What there is of it now, looked at anew. NULL: no memory. */
PHI__FN const phi_message *phi__events_answer_whole(phi__answer *answer);

/* It is over: `final` in its place, in the thread; NULL: nothing came of it. */
PHI__FN void phi__events_answer_settle(phi__answer *answer, const phi_message *final);
PHI__FN void phi__events_init(phi__events *events, phi_memory *memory);
PHI__FN void phi__events_free(phi__events *events);

/* Queues a copy of `event` (kind, and the kind's fields; agent, seq, time are filled). Its text is
   copied; its other strings must live as long as the agent's thread. False: no memory. */
PHI__FN bool phi__events_emit(phi__agent *agent, const phi_event *event, phi__answer *answer,
                              size_t partial_len);

/* The same with a copy of a result of text and images, the event's message, and of its
   child_loop_id. */
PHI__FN bool phi__events_emit_part(phi__agent *agent, const phi_event *event,
                                   const phi_message *part);

/* The same with copies of all strings of a question. */
PHI__FN bool phi__events_emit_asked(phi__agent *agent, const phi_event *event);

/* The same for a part of an answer, made in place: there are many of them. */
PHI__FN bool phi__events_emit_delta(phi__agent *agent, phi_event_kind kind, uint32_t block_index,
                                    phi_str text, phi__answer *answer, size_t partial_len);

/* PHI_EV_OPAQUE, with copies of the block's type and JSON. */
PHI__FN bool phi__events_emit_opaque(phi__agent *agent, uint32_t block_index, phi_str type,
                                     phi_str json, phi__answer *answer);

/* The reserve of an agent that is to run: taken before, and given back when there is no run and it
   is not in use. False: no memory. */
PHI__FN bool phi__events_reserve(phi__agent *agent);
PHI__FN void phi__events_unreserve(phi__agent *agent);

/* The same for an event that must not be lost: without memory it takes a record of the reserve, and
   returns false; the run must then end. */
PHI__FN bool phi__events_emit_surely(phi__agent *agent, const phi_event *event);

/* Events popped before this step are not the host's any more: frees a part of them, or all. */
PHI__FN void phi__events_release(phi_runtime *rt, bool all);
PHI__FN bool phi__events_due(const phi_runtime *rt); /* the last step has left some of it */
PHI__FN void phi__events_purge(phi_runtime *rt, phi__agent *agent); /* its events, popped or not */
PHI__FN bool phi__events_any(const phi__agent *agent);              /* of it, not released */
PHI__FN bool phi__events_reserve_free(const phi__agent *agent);     /* or there is none */
PHI__FN void phi__events_drop_unemitted(phi__agent *agent);         /* a message; reported later */
PHI__FN bool phi__events_backlog(const phi__agent *agent);          /* the host does not drain */

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

/* phi__edit_rewrite and phi__truncate by the run. */
PHI__FN phi_status phi__events_rewrite(phi__run *run, const phi_rewrite *rewrite);
PHI__FN bool phi__events_truncate(phi__run *run, uint64_t target_tokens,
                                  const phi_token_counter *counter, size_t *removed);

#endif
