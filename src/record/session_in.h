/* session_in.h - the memory behind a session and its loops, for the files that make them.

   A session is one block of memory with an arena: all that it points to is in there, and arrays
   that grow leave their smaller selves behind until the session is freed. Loops never move. */
#ifndef PHI_RECORD_SESSION_IN_H
#define PHI_RECORD_SESSION_IN_H

#include "base/base_in.h"
#include "record/recorder.h"
#include "record/session_context.h"
#include "record/session.h"
#include "text/json.h"

typedef struct phi__session_box phi__session_box;

typedef struct phi__loop_box {
    phi_loop_record pub; /* first: a record is its box */
    phi__session_box *box;
    size_t turn_cap, event_cap, child_cap, spawned_cap;
    uint64_t sequence; /* of the next event */
    bool open;         /* it runs or is pending: it is in the recorder's table */
    uint64_t hash;     /* in the table */
    bool in_turn;
    phi_turn turn; /* under way */
    phi_message *input;
    size_t input_cap;
    size_t turn_input_cap, turn_result_cap; /* session_log.c: of the turn's lists */
} phi__loop_box;

struct phi__session_box {
    phi_session pub;   /* first */
    phi_memory memory; /* a child of the recorder's as long as that has it */
    phi_arena arena;
    size_t loop_cap;
    size_t open;  /* loops that are */
    bool decided; /* before_task has answered */
    phi_spawn_ref parent;
    bool completed; /* in the list of such */
    phi__link link; /* in the recorder's list */
};

static inline phi__loop_box *phi__session_loop_of(phi_loop_record *record) {
    return (phi__loop_box *)(void *)record;
}

static inline phi__session_box *phi__session_of(phi_session *session) {
    return (phi__session_box *)(void *)session;
}

/* parent: borrowed, may be NULL. NULL: no memory. */
PHI__FN phi__session_box *phi__session_make(const phi_allocator *allocator, size_t limit_bytes,
                                            phi_memory *parent);
/* A loop that is not in the session's list yet, and room for it there. NULL: no memory. */
PHI__FN phi__loop_box *phi__session_loop(phi__session_box *box);
/* The loop of that id, the latest of several; SIZE_MAX, NULL: none. */
PHI__FN size_t phi__session_place(const phi_session *session, phi_str loop_id);
PHI__FN const phi_loop_record *phi__session_get_loop(const phi_session *session, phi_str loop_id);
PHI__FN phi__loop_box *phi__loopbox_find(phi__session_box *box, phi_str loop_id);
PHI__FN void phi__session_add(phi__session_box *box, phi__loop_box *loop);

/* An array in the session's arena with room for one more: `at`, or a copy of it that has; zeroed
   after `count`. NULL: no memory, and *cap is as it was. */
PHI__FN void *phi__session_room_for(phi__session_box *box, void *at, size_t count, size_t *cap,
                                    size_t size);
/* Copies in the session's arena. False: no memory. */
PHI__FN bool phi__session_keep(phi__session_box *box, phi_str s, phi_str *out);
PHI__FN bool phi__session_keep_messages(phi__session_box *box, const phi_message *messages,
                                        size_t count, const phi_message **out);

/* Appends a loop's id to its parent's children, where that is in the session. False: no memory. */
PHI__FN bool phi__session_chain(phi__session_box *box, const phi__loop_box *loop);

/* Parts of a loop, copied. False, NULL: no memory. */
PHI__FN bool phi__loopbox_fill(phi__loop_box *loop, phi_str loop_id, phi_str session_id,
                               const phi_loop_info *info);
PHI__FN bool phi__session_add_event(phi__loop_box *loop, uint64_t sequence, phi_str json);
PHI__FN bool phi__session_add_child(phi__loop_box *loop, const phi_child_ref *child);
PHI__FN void phi__session_turn_begin(phi__loop_box *loop, uint32_t turn_index, phi_trigger trigger,
                                     int64_t at_ms);
PHI__FN phi_turn *phi__session_turn_room(phi__loop_box *loop); /* the place of the next one */

/* The part of a loop id before its first dot; all of it without a dot. */
PHI__FN phi_str phi__session_id_of(phi_str loop_id);

/* The type of an event's text, as it is written there; empty: none. */
PHI__FN phi_str phi__session_event_type(phi_str json);

/* LoopConfigSnapshot: of JSON; and of an answer, where there was none. NULL: no memory. */
PHI__FN const phi_loop_config *phi__session_config(phi__session_box *box, const phi_json *node);
PHI__FN const phi_loop_config *phi__session_config_of(phi__session_box *box, phi_str loop_id,
                                                      const phi_message *answer);

/* ---- session_context.c: turns of messages, as blocks count them; a loop's ancestors ---- */

PHI__FN bool phi__way_same_turn(const phi_message *a, const phi_message *b);
PHI__FN size_t phi__way_turn_count(const phi_message *messages, size_t count);

/* A section of the turns from `from` up to one before `end`. */
PHI__FN void phi__way_ends(phi_block_section *section, size_t from, size_t end);

/* What prunes did to a message: PrunApplied events of its loop, or of a later one of the way. */
typedef struct phi__session_mark {
    bool gone;
    const phi_message *memo; /* in its place; NULL: nothing */
} phi__session_mark;

typedef struct phi__way_way {
    phi_loop_record **loops; /* those with messages or a block, the newest first */
    size_t count;            /* those in scope */
    size_t all;
    phi__session_mark **marks; /* of each message of each loop; NULL: nothing was pruned */
    phi_compaction_config config;
    const phi_token_counter *counter;
} phi__way_way;

PHI__FN void phi__way_begin(phi__way_way *way, const phi_compaction_config *config,
                            const phi_token_counter *counter);

/* Behind phi__way_begin. The list is in the scratch arena, memos are in `kept`. */
PHI__FN phi_status phi__way_find_way(const phi_session *session, phi_str loop_id, uint32_t flags,
                                     phi_arena *scratch, phi_arena *kept, phi__way_way *way);

/* Sets way->marks. */
PHI__FN phi_status phi__pruned_find(phi__way_way *way, phi_arena *scratch, phi_arena *kept);

/* The messages to load, in the arena; they point into the session. */
PHI__FN phi_status phi__way_load(const phi__way_way *way, phi_arena *arena, const phi_message **out,
                                 size_t *count);

/* phi_session_compact of phi's own blocks, or of block_fn's. */
PHI__FN phi_status phi__way_compact(phi_session *session, const phi_session_compact_desc *desc,
                                    size_t *made, char *words, size_t words_size);

/* ---- recorder.c ---- */

/* Each session is in one of two lists, open or completed; loops that run or are pending are in a
   table by id. */
struct phi_recorder {
    phi_memory memory;
    phi_recorder_desc desc;
    phi_arena scratch; /* of one event */
    phi__list completed, open;
    phi__map loops;
    bool busy; /* inside of a callback */
};

/* All sessions, completed ones first; NULL is before the first, and after the last. */
PHI__FN phi__session_box *phi__known_each(const phi_recorder *rec, const phi__session_box *last);

#endif
