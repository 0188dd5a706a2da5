/* inbox_in.h - messages of other threads to the pumping thread: a lock-free ring of fixed size.

   Producers reserve room with a compare-and-swap and publish a record by its first word; the one
   consumer reads published records in order and zeroes the room behind them. A producer that was
   stopped between the two holds up the records behind its own, never the producers.
   Ownership: the memory is taken at start; a posted text is copied into it.
   Threads: phi__inbox_prepare and phi__inbox_publish from any; the rest on the pumping thread.
   Posters must have stopped before phi__inbox_free. */
#ifndef PHI_IO_INBOX_IN_H
#define PHI_IO_INBOX_IN_H

#include "base/base_in.h"

typedef struct phi__inbox {
    phi_memory *memory;
    char *ring;
    uint32_t size;                    /* bytes, a power of two */
    PHI__ATOMIC(uint32_t) head, tail; /* running counts of bytes */
} phi__inbox;

/* One message: what, about whom, and up to a bounded text. */
typedef struct phi__post {
    uint32_t kind;       /* the owner's numbering, not 0 */
    uint32_t index, gen; /* a handle */
    uint32_t flag;
    phi_str text;
} phi__post;

PHI__FN phi_status phi__inbox_init(phi__inbox *inbox, phi_memory *memory, size_t bytes);
PHI__FN void phi__inbox_free(phi__inbox *inbox); /* zeroed or freed before is harmless */

/* PHI_FULL: no room now. PHI_BAD_ARG: longer than half the ring, so that it may never fit. Reserves
   room first, for a caller that must change its own state only when the message is sure to be sent:
   after PHI_OK, phi__inbox_publish must follow soon; later messages are not seen before it. `keep`
   false: the message is as if never posted. */
struct phi__inbox_record;
PHI__FN phi_status phi__inbox_prepare(phi__inbox *inbox, const phi__post *post,
                                      struct phi__inbox_record **out);
/* Another text stands before post->text in the message. */
PHI__FN phi_status phi__inbox_prepare_two(phi__inbox *inbox, const phi__post *post, phi_str before,
                                          struct phi__inbox_record **out);
/* The room for the text of a prepared message, when post->text.at was NULL: the caller fills it. */
PHI__FN char *phi__inbox_text(struct phi__inbox_record *record);
PHI__FN void phi__inbox_publish(struct phi__inbox_record *record, bool keep);

/* The oldest message; false: none. `out->text` is valid until phi__inbox_drop, which must
   follow. */
PHI__FN bool phi__inbox_peek(phi__inbox *inbox, phi__post *out);
PHI__FN void phi__inbox_drop(phi__inbox *inbox);

#endif
