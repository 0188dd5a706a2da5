/* input_in.h - the input of a run: the queues of steering, follow-ups and injected messages, and
   the filters that they and prompts pass before they are stored. */
#ifndef PHI_LOOP_INPUT_IN_H
#define PHI_LOOP_INPUT_IN_H

#include "base/arena.h"
#include "base/arena_in.h"
#include "io/inbox_in.h"
#include "loop/input.h"
#include "loop/types_in.h"

/* One message in a queue, in memory of its own. */
typedef struct phi__input {
    struct phi__input *next;
    phi_arena arena; /* of the content and the source */
    phi_input kind;
    phi_message message;
    phi_str source;
    bool filtered; /* the filters have passed it; their warnings are in the message */
} phi__input;

typedef struct phi__inputs {
    phi__input *head, *tail;
    size_t count;
} phi__inputs;

typedef struct phi__polling {
    bool on;             /* a poll is under way: it has looked into the queue */
    uint32_t got;        /* messages so far */
    phi__inputs pending; /* polled, for the next turn */
    uint64_t posts_from; /* of the inbox: messages injected before it were for an earlier run */
} phi__polling;

PHI__FN void phi__input_free_queues(phi__agent *agent); /* all three: they are empty */

/* NULL: no such queue */
PHI__FN phi__inputs *phi__input_list_of(phi__agent *agent, phi_input kind);

/* The same, however many wait: what a snapshot had, or a hook gave. */
PHI__FN phi_status phi__input_append(phi__agent *agent, phi__inputs *to, phi_input kind,
                                     const phi_content *content, size_t count, phi_str source,
                                     phi_str details);

/* A block of text, which stays the caller's. */
PHI__FN phi_content phi__input_text(phi_str text);

/* Moves a queue's messages for a checkpoint, and the pull hook's reply, to the pending input. */
PHI__FN phi__hooked phi__input_poll(phi__run *run, phi_input kind);

/* The pending input, in its order; NULL: none. */
PHI__FN phi__input *phi__input_first(const phi__run *run);
PHI__FN void phi__input_take_injected(phi__run *run); /* is pending from now on */
PHI__FN void phi__input_end(phi__run *run);           /* the run goes */

/* Messages injected before this place in the inbox were for an earlier run. */
PHI__FN void phi__input_since(phi__run *run, uint64_t at);

/* Pending input goes back to its queue; injected messages are reported as dropped. */
PHI__FN void phi__input_return(phi__run *run);

/* Report each message as dropped, and empty the queues: those that outlive a run; that of injected
   messages, since the run ends. */
PHI__FN void phi__input_drop_kept(phi__agent *agent, const char *why);
PHI__FN void phi__input_drop_injected(phi__agent *agent);
PHI__FN void phi__input_poll_end(phi__run *run); /* gives up a poll that waits */

/* Puts pending input and injected messages into the log. False: no memory. */
PHI__FN bool phi__input_deliver(phi__run *run);

/* input.c */
/* A host's id and refs as the message's details: empty where both are NULL. And their check: false
   with a message that begins with `what`. */
PHI__FN void phi__enqueue_details(const char *id, const char *refs, phi__buf *out);
PHI__FN phi_status phi__enqueue_check_details(phi_runtime *rt, const char *what, const char *id,
                                              const char *refs);

/* PHI_BAD_ARG "what: name is no JSON", if it is none; NULL is good. */
PHI__FN phi_status phi__enqueue_check_json(phi_runtime *rt, const char *what, const char *name,
                                           const char *text);

/* Whether content can be a user's message; else words that begin with `what`. */
PHI__FN phi_status phi__enqueue_check(phi_runtime *rt, const char *what, const phi_content *content,
                                      size_t count);

typedef struct phi__filtering {
    bool on;       /* a text is under way */
    size_t at;     /* the next filter to call */
    phi__buf text; /* the text that they filter */
    phi__buf warnings;
    phi_str rejection; /* of the prompts; in the thread */
} phi__filtering;

PHI__FN void phi__input_filter_init(phi__run *run);

/* Filters the prompts, or the pending input. DENY: the reason was emitted, and the input is gone.
   Warnings are in the messages. */
PHI__FN phi__hooked phi__input_filter_prompts(phi__run *run);
PHI__FN phi__hooked phi__input_filter_pending(phi__run *run);
PHI__FN void phi__input_filter_end(phi__run *run);                /* ends the filtering under way */
PHI__FN phi_str phi__input_filter_text(const phi__run *run);      /* under way */
PHI__FN phi_str phi__input_filter_rejection(const phi__run *run); /* of the prompts; empty: none */

#endif
