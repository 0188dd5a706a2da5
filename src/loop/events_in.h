/* events_in.h - the event queue between the pump and the host; streaming answers, which events hold
   by reference, so that an answer outlives its attempt; and a run's entries in its agent's log,
   with their events. */
#ifndef PHI_LOOP_EVENTS_IN_H
#define PHI_LOOP_EVENTS_IN_H

#include "loop/loop_in.h"
#include "base/base.h"
#include "base/base_in.h"
#include "history/history_in.h"
#include "io/transport.h"
#include "loop/events.h"
#include "loop/input.h"
#include "model/event.h"
#include "model/model.h"
#include "wire/wire_in.h"

PHI__FN phi__answer *phi__answer_new(phi__run *run); /* of its turn */
PHI__FN void phi__answer_drop(phi__answer *answer);  /* one reference; NULL is harmless */
PHI__FN bool phi__answer_room(phi__answer *answer);  /* for a view of all its blocks */

/* What there is of it now, looked at anew. NULL: no memory. */
PHI__FN const phi_message *phi__answer_whole(phi__answer *answer);

/* It is over: `final` in its place, in the thread; NULL: nothing came of it. */
PHI__FN void phi__answer_settle(phi__answer *answer, const phi_message *final);

/* The same with a copy of a result of text and images, the event's message, and of its
   child_loop_id. */
PHI__FN bool phi__events_emit_part(phi__agent *agent, const phi_event *event,
                                   const phi_message *part);

/* The same for a part of an answer, made in place: there are many of them. */
PHI__FN bool phi__events_emit_delta(phi__agent *agent, phi_event_kind kind, uint32_t block_index,
                                    phi_str text, phi__answer *answer, size_t partial_len);

/* PHI_EV_OPAQUE, with copies of the block's type and JSON. */
PHI__FN bool phi__events_emit_opaque(phi__agent *agent, uint32_t block_index, phi_str type,
                                     phi_str json, phi__answer *answer);
PHI__FN void phi__events_drop_unemitted(phi__agent *agent); /* a message; reported later */
PHI__FN bool phi__events_backlog(const phi__agent *agent);  /* the host does not drain */

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

#endif
