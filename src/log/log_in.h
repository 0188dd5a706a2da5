/* log_in.h - the log's entries in memory: found by seq, stored in segments.

   Entries, and all they point to, live in segments and never move. Order is seq, which is also the
   place in the log. Of a log in a store, segments to which no view points may be evicted: `entries`
   then has gaps. Nothing here reads or writes a store. Threads: the pumping thread. */
#ifndef PHI_LOG_LOG_IN_H
#define PHI_LOG_LOG_IN_H

#include "log/thread.h"
#include "wire/wire_in.h"

/* Why a step must handle a log. */
typedef enum phi__dirty_why {
    PHI__DIRTY_GREW = 0, /* it has entries which its store has not been given */
    PHI__DIRTY_LEAVES,   /* entries outside of its view may be evicted */
    PHI__DIRTY_WHYS
} phi__dirty_why;

/* A log's place in the lists; it is a part of the journal. */
typedef struct phi__dirty {
    phi__link links[PHI__DIRTY_WHYS];
    bool listed[PHI__DIRTY_WHYS];
} phi__dirty;

/* Logs of a runtime, a list for each reason. */
typedef struct phi__grown {
    phi__list of[PHI__DIRTY_WHYS];
} phi__grown;

/* Puts it into a list, if it is not in it and there are lists. NULL is harmless for each. */
PHI__FN void phi__dirty_add(phi__grown *grown, phi__dirty *dirty, phi__dirty_why why);
PHI__FN void phi__dirty_remove(phi__grown *grown, phi__dirty *dirty, phi__dirty_why why);

/* Removes and returns the oldest of the list; NULL: none. */
PHI__FN phi__dirty *phi__dirty_next(phi__grown *grown, phi__dirty_why why);

/* Hashes: an open table, half empty; 0 is free. */
typedef struct phi__hashes {
    uint64_t *at;
    size_t count, cap;
} phi__hashes;

PHI__FN bool phi__hashes_room(phi_memory *memory, phi__hashes *set, size_t more);
PHI__FN bool phi__hashes_has(const phi__hashes *set, uint64_t hash);
PHI__FN void phi__hashes_add(phi__hashes *set, uint64_t hash); /* its room was made */
PHI__FN void phi__hashes_exchange(phi__hashes *a, phi__hashes *b);
PHI__FN void phi__hashes_free(phi_memory *memory, phi__hashes *set);

/* The memory of entries and of all they point to: new entries go to the current segment; when it is
   full, a new one begins. */
typedef struct phi__segment {
    phi_arena arena;
    struct phi__segment *older;
    bool live; /* while something leaves: it stays */
} phi__segment;

/* A rewrite as it is kept. */
typedef struct phi__op {
    phi_rewrite rewrite; /* strings, spans and messages in its segment */
    phi__segment *segment;
    uint32_t lane;
    uint64_t seq;
    bool revoked;
    uint64_t revoked_at;       /* seq of what undid it */
    size_t message_count;      /* of all spans */
    phi__rendered **rendered;  /* of each */
    struct phi__load_op *load; /* load.c: while its thread is being read */
    struct phi__op *earlier;   /* in the log */
    uint64_t id_hash;
} phi__op;

typedef struct phi__child_run {
    phi_str tool_call_id, session_id, loop_id;
} phi__child_run;

typedef struct phi__note {
    phi_str kind, json;
} phi__note;

typedef struct phi__entry {
    uint64_t seq;
    phi__segment *segment;
    /* MESSAGE: its place among those of its lane, the parents' included. LOOP_END: seq of its run's
       LOOP_START, and 1; 0: none. */
    size_t ordinal;
    int64_t at_ms; /* for display, never for order */
    phi_entry_kind kind : 8;
    phi_trigger trigger : 8; /* TURN_START */
    phi_keep keep : 8;       /* LOOP_END */
    uint32_t flags : 8;
    uint32_t lane;
    uint32_t turn_index;
    phi_status status; /* LOOP_END */
    phi_str loop_id;
    const phi_message *message;     /* MESSAGE */
    const phi_usage *usage;         /* TURN_END, LOOP_END, FORGOTTEN */
    union {                         /* by kind; NULL, where there is nothing of it */
        phi__rendered *rendered;    /* MESSAGE: its blocks in wire formats */
        const phi_loop_info *loop;  /* LOOP_START */
        const phi_failure *failure; /* LOOP_END that failed */
        phi__op *op;                /* REWRITE */
        phi__child_run *spawn;      /* SPAWN */
        phi__note *note;            /* NOTE */
        phi_forgotten *forgotten;   /* FORGOTTEN */
    } of;
} phi__entry;

/* A log's entries, aside. */
typedef struct phi__entry_list {
    phi__entry **at;
    size_t held, cap;
} phi__entry_list;

/* log.c: where entries live. */
typedef struct phi__segments {
    phi__segment first;    /* in its place: a short log needs no other */
    phi__segment *others;  /* the newest in front */
    phi__segment *current; /* one of these */
    size_t full_bytes;     /* of a segment that is full */
    size_t limit_bytes;    /* of the agent's memory, of which that is a part; 0: none */
} phi__segments;

/* log.c: entries, by seq. */
typedef struct phi__log {
    phi_memory *memory;
    phi__io *io;
    phi__segments segments;
    size_t base;  /* seq of the first entry; those before it are forgotten */
    size_t count; /* 1 and the last entry's seq; `held` entries are in memory: by seq */
    phi__entry **entries;
    size_t held, cap;
    int64_t made_ms, changed_ms; /* phi_thread_info */
    bool left;                   /* an entry went out of view since the last eviction */
    phi__grown *grown;           /* where it is put when it grows; NULL: nowhere */
    phi__dirty *dirty;           /* its place there; NULL: it is in no store */
} phi__log;

/* Makes an empty log. io: gives appended entries their time; NULL: no clock. */
PHI__FN void phi__log_init(phi__log *log, phi_memory *memory, phi__io *io);
PHI__FN void phi__log_set_io(phi__log *log, phi__io *io);

/* The lists it is put into when it grows, and its place there; NULL: none. */
PHI__FN void phi__log_set_grown(phi__log *log, phi__grown *grown);
PHI__FN void phi__log_set_dirty(phi__log *log, phi__dirty *dirty);

/* Gives back all it has; then it is to be initialised again. */
PHI__FN void phi__log_free_all(phi__log *log);
PHI__FN int64_t phi__log_now(const phi__log *log);

/* An entry; NULL: it is evicted, or there is none. */
PHI__FN phi__entry *phi__log_at(const phi__log *log, uint64_t seq);

/* Room for n more entries, so that adding them cannot fail. False: no memory. */
PHI__FN bool phi__log_reserve(phi__log *log, size_t n);

/* When the last entry was made. */
PHI__FN void phi__log_set_time(phi__log *log, phi__entry *entry, int64_t at_ms);

/* The next entry, which lives in the current segment already. */
PHI__FN void phi__log_add(phi__log *log, phi__entry *entry);

/* When the log was made; of an empty one: the time of its first entry. */
PHI__FN void phi__log_set_made(phi__log *log, int64_t made_ms);

/* The next entry of an empty log has this seq: those before it are forgotten. */
PHI__FN void phi__log_begin_at(phi__log *log, uint64_t seq);

/* After something was added. */
PHI__FN void phi__log_grew(phi__log *log);

/* Something went out of view. */
PHI__FN void phi__log_left(phi__log *log);

/* Exchanges the list of entries in memory for another. */
PHI__FN void phi__log_exchange(phi__log *log, phi__entry_list *list);

/* Leaves out the entries of segments that are not live; and gives back the room of those, where it
   is much. Room is given back last: the lists that depend on it are made anew between the two. */
PHI__FN void phi__log_evict(phi__log *log);
PHI__FN void phi__log_shrink(phi__log *log);

/* The same of any list of entries: how many stay, and the list. */
PHI__FN size_t phi__log_keep_live(phi__entry **entries, size_t count);
PHI__FN phi__entry **phi__log_shrink_list(phi_memory *memory, phi__entry **entries, size_t count,
                                          size_t *cap);

/* Whether every entry from the first one on is in memory. */
static inline bool phi__log_whole(const phi__log *log) {
    return log->held + log->base == log->count;
}

/* Where the next entries are to live, and all they point to. */
static inline phi_arena *phi__log_room(phi__log *log) { return &log->segments.current->arena; }

/* How full segments of an empty log are to be: of an agent with a memory limit, a part of that; 0:
   as usual. */
PHI__FN void phi__segments_limit(phi__log *log, size_t limit_bytes);

/* Bytes of its segments. */
PHI__FN size_t phi__segments_bytes(const phi__log *log);

/* Leaves the current segment for a new one if it is full, at a moment when nothing is in it that is
   not appended. `carried`, where given, is copied into the new one: what later entries go on
   pointing to. False: no memory, and nothing changed. */
PHI__FN bool phi__segments_roll(phi__log *log, phi_str *carried);

/* Leaves the current segment for a new one in any case. False: no memory. */
PHI__FN bool phi__segments_open(phi__log *log);

/* Moves the segments of another log, but for its first one, behind the current one, which stays
   that. */
PHI__FN void phi__segments_take(phi__log *log, phi__log *from);

/* No segment is live any more but the current one. */
PHI__FN void phi__segments_unpin(phi__log *log);

/* Frees segments that are not live. */
PHI__FN void phi__segments_drop_dead(phi__log *log);
PHI__FN void phi__segments_pin(phi__segment *segment); /* it is live; NULL is harmless */

/* Words about what makes a message unfit for a thread, and the block it is (SIZE_MAX: none); NULL:
   it is fit. Static. */
PHI__FN const char *phi__check_message(const phi_message *message, size_t *block);

/* Words about a missing part of an image, a document, audio or an opaque block; NULL: it is whole.
   Static. */
PHI__FN const char *phi__check_media(const phi_content *content);

/* Whether an id is UTF-8, as ids and names in a thread are. */
PHI__FN bool phi__check_id_fits(phi_str id);

/* The names of enumerators in stored and printed entries, by number; NULL past the end. */
PHI__FN const char *phi__entry_kind_word(int kind);
PHI__FN const char *phi__entry_trigger_word(int trigger);
PHI__FN const char *phi__entry_continuation_word(int continuation);
PHI__FN const char *phi__entry_reason_word(phi_rewrite_reason reason); /* "manual"... */

#endif
