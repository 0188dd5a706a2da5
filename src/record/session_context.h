/* session_context.h - compaction blocks: applies them to load a session's messages, and makes them.

       phi_session_to_thread(session, phi_str_of(""), PHI_SESSION_ROOTS_GO_ON, NULL, NULL,
       phi_agent_thread(agent), NULL, 0);

   A block describes a loop's messages and removes none of them. Its sections count *turns*: rows of
   adjacent messages with the same loop_id and turn_index; a message without a loop_id is a turn by
   itself. Turns are counted from 0 in each loop.
   A thread does not need blocks: its compactions are rewrites. They are for files of the original,
   and for files that the original will read.
   Threads: one at a time. */
#ifndef PHI_RECORD_SESSION_CONTEXT_H
#define PHI_RECORD_SESSION_CONTEXT_H

#include "record/session.h"
#include "log/compact.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A loop whose parent is not in the session continues the loop before it, as the prompts of one
   agent do (of a group: the selected one). Without it such a loop starts over, as in the
   original. */
#define PHI_SESSION_ROOTS_GO_ON 1u

/* Appends the messages of a loop (loop_id empty: of the last loop that has any) and of its
   ancestors, oldest first, to a thread, and applies their blocks. Its view is then:
   - of the loop itself: the turns of keep_first as they are, keep_compacted, keep_recent, and then
     the turns that came after the block was made. A turn is loaded once: keep_first ends before the
     other sections begin;
   - of earlier loops in scope: keep_compacted alone; a block without it loads nothing;
   - of a loop without a block: all its messages;
   - of loops beyond the scope: nothing. config->scope, scope_runs and scope_tokens set its size: 3
     earlier loops by default (config NULL), UINT32_MAX for all, PHI_COMPACTION_NO_RUNS for none.
     Loops that have neither messages nor a block do not count, and by tokens the loop that would
     exceed them is out. counter NULL: the estimate.
   Messages that prunes took are not in view: PrunApplied events of the loop and its ancestors name
   them by timestamp, and a memo is in the place of the first.
   All messages of these loops are appended, also those that are not in view. What prunes took is
   one rewrite after them, a prune; blocks and scope are another, a compaction; revoked, the view
   has everything. The thread need not be empty. A summary stays a summary: a later compaction takes
   over its lines. A block that a rewrite cannot follow, since it parts a call from its result,
   replaces all messages at once. Runs over the thread that have the session's id get loop ids that
   no loop of the session has. For that, loops that no appended message names come first, as a
   LOOP_START and a LOOP_END each.
   PHI_BUSY: a run uses the thread; PHI_BAD_ARG: also a message that is unfit for a thread, and
   message (may be NULL) says which; PHI_NOT_FOUND; PHI_NO_MEMORY, the store's status: entries
   appended by then stay, such loops first, then the messages; the rewrite is not there. */
PHI_API phi_status phi_session_to_thread(const phi_session *session, phi_str loop_id,
                                         uint32_t flags, const phi_compaction_config *config,
                                         const phi_token_counter *counter, phi_thread *thread,
                                         char *message, size_t message_size);

/* The argument of a host's strategy: one loop. */
typedef struct phi_block_request {
    const phi_session *session;
    const phi_loop_record *loop;
    bool is_current; /* false: an earlier loop, of which only keep_compacted is loaded */
    const phi_compaction_config *config; /* defaults filled in */
    phi_arena *arena;                    /* for its new messages; freed once the block is copied */
} phi_block_request;

/* Zero means default for every field. Borrowed until phi_session_compact returns. */
typedef struct phi_session_compact_desc {
    phi_str loop_id; /* (default: of the last loop that has messages) */
    uint32_t flags;  /* PHI_SESSION_ROOTS_GO_ON (default: none) */
    const phi_compaction_config *config;
    const phi_token_counter *counter; /* (default: the estimate) */
    int64_t at_ms;                    /* when, of the blocks (default 0) */
    /* The host's strategy (default: phi's own blocks). It is called once for each loop that gets a
       block, the current one first. *block is phi's own; the function may change any of its
       sections, their turns, their messages. Anything but PHI_OK ends the compaction. It may block,
       and must not change or free the session. */
    phi_status (*block_fn)(void *user_data, const phi_block_request *request,
                           phi_compaction_block *block);
    void *user_data;
    /* The blocks of a session that was recorded from events describe what compactions of this
       thread did to its loops' part of the active lane's view, in place of all fields above
       (phi_session_of_thread has them already). The last loop that has messages gets up to three
       sections. An earlier loop gets keep_compacted with all of its messages in view; so do the
       loops before a loop that has a block, since the original expects that. A loop that no
       compaction touched has no block. Loops of other lanes, and loops with another number of
       messages than the log has of them, are left as they are. The store's status, where evicted
       entries cannot be recalled; *made is 0 (default: none) */
    const phi_thread *thread;
} phi_session_compact_desc;

/* Gives a loop, and the earlier loops in scope, as above, blocks: the loop gets a new one, which
   replaces its old one; an earlier loop without a block gets a keep_compacted of all its turns.
   Messages stay as they are. desc NULL: the defaults.
   keep_first: keep_first_turns, as they are. keep_recent: the last keep_recent_turns that are not
   among them, with long results cut. keep_compacted: the turns between, as one summary
   (log/compact.h) after the focus message, or as they are if that would not be smaller; absent if
   there are none. No section parts a call from its result. *made, where given: how many loops got a
   block.
   PHI_NOT_FOUND: no such loop; PHI_NO_MEMORY, PHI_BAD_ARG. PHI_REFUSED: a block of block_fn for the
   current loop has no messages, turns out of order, or a message that no thread accepts; what
   block_fn returns is returned, too. For these `message` (may be NULL) says which loop and why. In
   all cases nothing changed. */
PHI_API phi_status phi_session_compact(phi_session *session, const phi_session_compact_desc *desc,
                                       size_t *made, char *message, size_t message_size);

#ifdef __cplusplus
}
#endif
#endif
