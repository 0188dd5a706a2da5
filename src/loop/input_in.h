/* input_in.h - the input of a run: the queues of steering, follow-ups and injected messages, and
   the filters that they and prompts pass before they are stored. */
#ifndef PHI_LOOP_INPUT_IN_H
#define PHI_LOOP_INPUT_IN_H

#include "loop/loop_in.h"
#include "base/arena.h"
#include "base/base_in.h"
#include "io/io_in.h"
#include "loop/input.h"

/* The same, however many wait: what a snapshot had, or a hook gave. */
PHI__FN phi_status phi__input_append(phi__agent *agent, phi__inputs *to, phi_input kind,
                                     const phi_content *content, size_t count, phi_str source,
                                     phi_str details);

/* Moves a queue's messages for a checkpoint, and the pull hook's reply, to the pending input. */
PHI__FN phi__hooked phi__input_poll(phi__run *run, phi_input kind);

/* The pending input, in its order; NULL: none. */
PHI__FN phi__input *phi__input_first(const phi__run *run);
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
PHI__FN void phi__filter_end(phi__run *run);                /* ends the filtering under way */
PHI__FN phi_str phi__filter_text(const phi__run *run);      /* under way */
PHI__FN phi_str phi__filter_rejection(const phi__run *run); /* of the prompts; empty: none */

#endif
