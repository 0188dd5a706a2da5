/* session_in.h - the memory of a session and its loops, for the files that make sessions.

   A session is one block of memory and an arena that holds all its data. When an array grows, its
   old copy stays in the arena until the session is freed. Loops never move. */
#ifndef PHI_RECORD_SESSION_IN_H
#define PHI_RECORD_SESSION_IN_H

#include "base/base_in.h"
#include "record/recorder.h"
#include "record/session_context.h"
#include "record/session.h"
#include "text/json.h"

typedef struct phi__session_box phi__session_box;

typedef struct phi__loop_box {
    phi_loop_record pub; /* first, so that loop and record have one address */
    phi__session_box *box;
    size_t turn_cap, event_cap, child_cap, spawned_cap;
    uint64_t sequence; /* sequence of the next event */
    bool open;         /* running or pending, so the recorder's table has it */
    uint64_t hash;     /* hash of the loop's id in that table */
    bool in_turn;
    phi_turn turn;                       /* the current turn */
    size_t turn_input_cap;               /* capacity of the turn's input */
    size_t turn_result_cap, message_cap; /* session_log.c: capacities */
} phi__loop_box;

struct phi__session_box {
    phi_session pub;   /* first, so that box and session have one address */
    phi_memory memory; /* child of the recorder's memory while the recorder owns the session */
    phi_arena arena;
    size_t loop_cap;
    size_t open;  /* number of open loops */
    bool decided; /* before_task_fn need not be called any more */
    phi_spawn_ref parent;
    bool completed; /* in the recorder's list of completed sessions */
    phi__link link; /* in one of the recorder's two lists */
};

static inline phi__loop_box *phi__session_loop_of(phi_loop_record *record) {
    return (phi__loop_box *)(void *)record;
}

static inline phi__session_box *phi__session_of(phi_session *session) {
    return (phi__session_box *)(void *)session;
}

/* Makes an empty session. `parent` is borrowed and may be NULL. NULL: no memory. */
PHI__FN phi__session_box *phi__session_make(const phi_allocator *allocator, size_t limit_bytes,
                                            phi_memory *parent);
/* Makes a loop and room for it in the session's list, but does not add it. NULL: no memory. */
PHI__FN phi__loop_box *phi__session_loop(phi__session_box *box);
/* Find the latest loop with this id. SIZE_MAX or NULL if there is none. */
PHI__FN size_t phi__session_place(const phi_session *session, phi_str loop_id);
PHI__FN const phi_loop_record *phi__session_get_loop(const phi_session *session, phi_str loop_id);
PHI__FN phi__loop_box *phi__loopbox_find(phi__session_box *box, phi_str loop_id);
PHI__FN void phi__session_add(phi__session_box *box, phi__loop_box *loop);

/* Copy a string or messages into the session's arena. False: no memory. */
PHI__FN bool phi__session_keep(phi__session_box *box, phi_str s, phi_str *out);
PHI__FN bool phi__session_keep_messages(phi__session_box *box, const phi_message *messages,
                                        size_t count, const phi_message **out);

/* Appends a copy of a message to a list in the session's arena. False: no memory. */
PHI__FN bool phi__session_push(phi__session_box *box, const phi_message **list, size_t *count,
                               size_t *cap, const phi_message *message);

/* If the session has the loop's parent, appends the loop's id to the parent's children. False: no
   memory. */
PHI__FN bool phi__session_chain(phi__session_box *box, const phi__loop_box *loop);

/* Set or add copied parts of a loop. False: no memory. */
PHI__FN bool phi__loopbox_fill(phi__loop_box *loop, phi_str loop_id, phi_str session_id,
                               const phi_loop_info *info);
PHI__FN bool phi__session_add_event(phi__loop_box *loop, uint64_t sequence, phi_str json);
PHI__FN bool phi__session_add_child(phi__loop_box *loop, const phi_child_ref *child);
PHI__FN void phi__session_turn_begin(phi__loop_box *loop, uint32_t turn_index, phi_trigger trigger,
                                     int64_t at_ms);
/* Returns the place of the next turn. NULL: no memory. */
PHI__FN phi_turn *phi__session_turn_room(phi__loop_box *loop);

/* Returns the type in an event's JSON. Empty if there is none. */
PHI__FN phi_str phi__session_event_type(phi_str json);

/* Read a run's settings from its LoopConfigSnapshot, or else from an answer. NULL: no memory. */
PHI__FN const phi_loop_config *phi__session_config(phi__session_box *box, const phi_json *node);
PHI__FN const phi_loop_config *phi__session_config_of(phi__session_box *box, phi_str loop_id,
                                                      const phi_message *answer);

/* ---- session_context.c: the turns of a block, and the ancestors of a loop ---- */

PHI__FN bool phi__way_same_turn(const phi_message *a, const phi_message *b);
PHI__FN size_t phi__way_turn_count(const phi_message *messages, size_t count);

/* Sets the section's turns, from `from` to before `end`. */
PHI__FN void phi__way_ends(phi_block_section *section, size_t from, size_t end);

/* The effect of PrunApplied events on a message. */
typedef struct phi__session_mark {
    bool gone;
    const phi_message *memo; /* replaces the message; NULL if nothing does */
} phi__session_mark;

typedef struct phi__way_way {
    phi_loop_record **loops; /* the first loop, and ancestors with messages or a block */
    size_t count;            /* loops in scope */
    size_t all;
    phi__session_mark **marks; /* one for each message of each loop; NULL: nothing was pruned */
    phi_compaction_config config;
    const phi_token_counter *counter;
} phi__way_way;

PHI__FN void phi__way_begin(phi__way_way *way, const phi_compaction_config *config,
                            const phi_token_counter *counter);

/* Finds the way to a loop, after phi__way_begin. `scratch` holds the way, and `kept` the memos. */
PHI__FN phi_status phi__way_find_way(const phi_session *session, phi_str loop_id, uint32_t flags,
                                     phi_arena *scratch, phi_arena *kept, phi__way_way *way);

/* Sets way->marks. */
PHI__FN phi_status phi__pruned_find(phi__way_way *way, phi_arena *scratch, phi_arena *kept);

/* Lists the messages to load, in the arena. They point into the session. */
PHI__FN phi_status phi__way_load(const phi__way_way *way, phi_arena *arena, const phi_message **out,
                                 size_t *count);

/* Makes phi's own blocks, changed by block_fn if there is one (phi_session_compact). */
PHI__FN phi_status phi__way_compact(phi_session *session, const phi_session_compact_desc *desc,
                                    size_t *made, char *words, size_t words_size);

/* ---- recorder.c ---- */

/* Each session is either open or completed. Running and pending loops are in the table `loops`. */
struct phi_recorder {
    phi_memory memory;
    phi_recorder_desc desc;
    phi_arena scratch; /* reset for each event */
    phi__list completed, open;
    phi__map loops;
    bool busy; /* a callback is active */
};

/* Returns the session after `last`; completed sessions come first. If `last` is NULL, returns the
   first session. NULL after the last session. */
PHI__FN phi__session_box *phi__known_each(const phi_recorder *rec, const phi__session_box *last);

#endif
