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
    PHI__ENTRY_TURN_END,
    PHI__ENTRY_TRUNCATE /* what a compaction took out of the projection */
} phi__entry_kind;

/* The projected messages of these entries went, but the first user message of all and that of `spared`
   (UINT64_MAX: none). gone: how many that were. It holds for itself: the one before it is to be forgotten. */
typedef struct phi__cut {
    uint64_t from_seq, to_seq, spared, gone;
} phi__cut;

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
    const phi_loop_info *loop;  /* LOOP_START */
    struct phi__cut *cut;       /* TRUNCATE: what `message` stands for */
    phi__rendered *rendered;    /* MESSAGE: its blocks in wire formats */
} phi__entry;

typedef struct phi__thread {
    phi_memory *memory;
    phi_arena arena;
    phi__entry **entries; /* by seq */
    size_t count, cap;
    phi__entry **messages; /* the MESSAGE entries, in order */
    size_t message_count, message_cap;
    phi__item *items; /* the projection, extensions included: encoders leave them out */
    size_t item_count, item_cap;
    uint64_t item_tokens; /* of the projection, by estimate */
    void *user;           /* the run that goes over it, or NULL */
    uint64_t *ids; /* hashes of the tool call ids so far: an open table, half empty, 0 is free */
    size_t id_count, id_cap;
} phi__thread;

PHI__FN void phi__thread_init(phi__thread *thread, phi_memory *memory);
PHI__FN void phi__thread_free(phi__thread *thread);

/* Room for n entries, `messages` of them MESSAGEs, so that attaching them cannot fail as long as nothing
   else is appended. False: no memory. */
PHI__FN bool phi__thread_reserve(phi__thread *thread, size_t n, size_t messages);
/* Appends entries that live in the thread's arena already; their room was reserved. */
PHI__FN void phi__thread_attach(phi__thread *thread, phi__entry *entries, size_t n);

/* Appends copies of n entries, all or none, and fills their seq; what they point to must live in the
   thread's arena. False: no memory, and nothing changed. */
PHI__FN bool phi__thread_append(phi__thread *thread, const phi__entry *entries, size_t n);

/* Takes note of a tool call id. PHI_OK: new; PHI_FULL: the thread has it already, results would be
   ambiguous; PHI_NO_MEMORY. */
PHI__FN phi_status phi__thread_claim_id(phi__thread *thread, phi_str id);

/* Takes the oldest whole groups (an answer with its results, or a user message) out of the projection until
   it is estimated at target_tokens or less; *removed messages went, all told: those of earlier times are
   counted in the marker's words, too. What stays: the first user message, the newest one, and the last
   group. A user message "[Context compacted: N messages removed to fit context window]" stands in their
   place. False: no memory, and nothing changed. *removed 0: there was nothing to take; no entry is
   appended. loop_id and turn_index are the entry's and the marker's. */
PHI__FN bool phi__thread_truncate(phi__thread *thread, uint64_t target_tokens, int64_t at_ms,
                                  phi_str loop_id, uint32_t turn_index, size_t *removed);

/* Calls of the last answer that have no result, since a run ended without memory, get one: an error that says
   so. at_ms: now. False: no memory; results that are there by then stay. */
PHI__FN bool phi__thread_answer_orphans(phi__thread *thread, int64_t at_ms);

/* Copies a message into the thread's arena without appending it; NULL: no memory. */
PHI__FN phi_message *phi__thread_keep(phi__thread *thread, const phi_message *message);

#endif
