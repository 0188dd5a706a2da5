/* thread_in.h - the log: append-only entries, and the projection of them that a model sees.

   Entries and their messages live in the thread's arena and never move. Order is seq, which is also
   the place in the log. What is projected is kept as a list that grows with the log, so that a turn
   costs its new entries.
   An assistant message that failed or was aborted stays in the log and is not projected.
   Threads: the pumping thread. */
#ifndef PHI_THREAD_THREAD_IN_H
#define PHI_THREAD_THREAD_IN_H

#include "model/event.h"
#include "wire/codec_in.h"

typedef enum phi__entry_kind {
    PHI__ENTRY_MESSAGE = 1,
    PHI__ENTRY_LOOP_START,
    PHI__ENTRY_LOOP_END,
    PHI__ENTRY_TURN_START,
    PHI__ENTRY_TURN_END
} phi__entry_kind;

typedef struct phi__entry {
    uint64_t seq;
    int64_t at_ms; /* for display, never for order */
    phi__entry_kind kind;
    phi_status status;   /* LOOP_END */
    phi_trigger trigger; /* TURN_START */
    uint32_t turn_index;
    phi_str loop_id;
    const phi_message *message; /* MESSAGE */
    const phi_usage *usage;     /* TURN_END, LOOP_END */
    const phi_failure *failure; /* LOOP_END that failed */
    phi__rendered *rendered;    /* MESSAGE: its blocks in wire formats */
} phi__entry;

typedef struct phi__thread {
    phi_memory *memory;
    phi_arena arena;
    phi__entry **entries; /* by seq */
    size_t count, cap;
    phi__entry **messages; /* the MESSAGE entries, in order */
    size_t message_count, message_cap;
    phi__item *items; /* the projection */
    size_t item_count, item_cap;
    uint64_t *ids; /* hashes of the tool call ids so far: an open table, half empty, 0 is free */
    size_t id_count, id_cap;
} phi__thread;

PHI__FN void phi__thread_init(phi__thread *thread, phi_memory *memory);
PHI__FN void phi__thread_free(phi__thread *thread);

/* Appends copies of n entries, all or none, and fills their seq; what they point to must live in the
   thread's arena. False: no memory, and nothing changed. */
PHI__FN bool phi__thread_append(phi__thread *thread, const phi__entry *entries, size_t n);

/* Takes note of a tool call id. PHI_OK: new; PHI_FULL: the thread has it already, results would be
   ambiguous; PHI_NO_MEMORY. */
PHI__FN phi_status phi__thread_claim_id(phi__thread *thread, phi_str id);

/* Copies a message into the thread's arena without appending it; NULL: no memory. */
PHI__FN phi_message *phi__thread_keep(phi__thread *thread, const phi_message *message);

#endif
