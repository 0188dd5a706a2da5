/* encoder_in.h - which thinking of earlier answers a request may still send.

   Newer Claude models accept a thinking block only while the system prompt, the tools and every
   message before it are those that it was made under, and only as part of an unbroken run of the
   thinking sent then (Anthropic, "Prefix checks on thinking blocks", read 2026-11-26): cache marks,
   thinking before it, and all other parameters do not count. phi keeps two numbers with each answer
   that thinks: a hash of that prefix, and parts of it with the thinking sent last
   (phi_message.prefix, .prefix_parts). Before a request is rendered they are compared with the
   request as it is now: thinking whose prefix has changed, and thinking before which another block
   is missing, is left out. So a compaction, a rewrite, another model, a restore and a hook need no
   code here.

   An answer from an older file has no such numbers: it counts as valid while nothing was rewritten.

   Cost: nothing for a target that neither checks nor is asked to think. Otherwise each message is
   hashed once and its hash kept with it; a request hashes its new messages and reads the number of
   each older one. */
#ifndef PHI_WIRE_ENCODER_IN_H
#define PHI_WIRE_ENCODER_IN_H

#include "wire/codec_in.h"

/* The change that made thinking invalid. */
typedef enum phi__prefix_cause {
    PHI__PREFIX_NOTHING = 0,
    PHI__PREFIX_SYSTEM,
    PHI__PREFIX_TOOLS,
    PHI__PREFIX_MESSAGES,
    PHI__PREFIX_REFUSED
} phi__prefix_cause;

typedef struct phi__prefix {
    uint64_t system, tools; /* hashes of the request's head */
    uint64_t now;           /* ... of the head and the items so far */
    uint64_t last;          /* the thinking sent last; 0: none */
    size_t at;              /* next item */
    /* By item: its last thinking that can go back to this target; 0: it has none. */
    uint32_t *thinking;
    uint8_t *thinks;
    bool deferred;    /* one of the tools is */
    bool only_counts; /* the target does not check: all thinking goes back */
    size_t dropped;   /* answers whose thinking is left out */
    size_t first;     /* the first of them; SIZE_MAX: none */
    phi__prefix_cause cause;
} phi__prefix;

/* At the beginning of a request, where the target binds thinking. NULL: no memory. */
PHI__FN phi__prefix *phi__prefix_begin(phi__encoder *e, bool only_counts);

/* Hashes items, as far as the units go, and then decides. False: the units are used up. */
PHI__FN bool phi__prefix_advance(phi__encoder *e, phi__prefix *p, size_t *units);

/* True if the thinking of an answer goes back: this target made it, and it is still valid. */
PHI__FN bool phi__prefix_sends(const phi__encoder *e, size_t item);

/* phi_message.prefix and .prefix_parts of the answer to this request. */
PHI__FN uint64_t phi__prefix_value(const phi__prefix *p);
PHI__FN uint64_t phi__prefix_parts(const phi__prefix *p);

/* "the tools have changed"... Static. */
PHI__FN const char *phi__prefix_words(phi__prefix_cause cause);

#endif
