/* session_context.h - compaction blocks: loads a session's messages as its blocks describe, and
   makes blocks.

       phi_session_to_thread(session, phi_str_of(""), PHI_SESSION_ROOTS_GO_ON, NULL, NULL,
                             phi_agent_thread(agent), NULL, 0);

   A block describes a loop's messages and removes none of them. Its sections count *turns*. A turn
   is a group of adjacent messages with the same loop_id and turn_index. A message without a loop_id
   is a turn by itself. Turns are counted from 0 in each loop.
   A thread needs no blocks, because its compactions are rewrites. Blocks are for files of the Rust
   original.
   Threads: one at a time. */
#ifndef PHI_RECORD_SESSION_CONTEXT_H
#define PHI_RECORD_SESSION_CONTEXT_H

#include "record/session.h"
#include "log/compact.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A loop whose parent is not in the session continues the previous loop, as successive prompts of
   one agent do. If the previous loop is in a parallel group, the selected loop of the group is
   continued. Without this flag such a loop starts a new history, as in the Rust original. */
#define PHI_SESSION_ROOTS_GO_ON 1u

/* Appends the messages of a loop and its ancestors to a thread, oldest first, and applies their
   blocks. If loop_id is empty, takes the last loop with messages or a block. The view is then: -
   for the loop itself, if it has a block: the turns of keep_first, keep_compacted, keep_recent, and
   the turns added after the block was made. No turn is loaded twice, because keep_first ends where
   the next section begins; - for an earlier loop in scope with a block: only its keep_compacted, if
   there is one; - for a loop in scope without a block: all its messages; - for loops beyond the
   scope: nothing. config->scope, scope_runs and scope_tokens set the scope. If config is NULL, 3
   earlier loops are in scope. A scope_runs of UINT32_MAX means all earlier loops,
   PHI_COMPACTION_NO_RUNS means none. Loops with neither messages nor a block do not count. With a
   scope in tokens, the loop that would exceed the limit is beyond the scope. If counter is NULL,
   tokens are estimated. Messages that prunes removed are not in view. PrunApplied events of the
   loop and its ancestors name these messages by timestamp. A prune's memo replaces the first
   message of the prune.

   All messages of these loops are appended, also those not in view. Up to two rewrites follow: a
   prune, and a compaction for blocks and scope. If both are revoked, all messages are in view. The
   thread need not be empty. Summaries stay summaries, so a later compaction takes over their lines.
   If a block separates a call from its result, the compaction replaces all messages at once. A loop
   without an appended message is logged first, as a LOOP_START and a LOOP_END, so that later runs
   of the session on this thread get new loop ids.

   PHI_BUSY: a run uses the thread. PHI_BAD_ARG: an argument is bad, or the thread does not
   accept one of the messages; `message` (may be NULL) then names it. PHI_NOT_FOUND: no such
   loop. PHI_NO_MEMORY or the store's status: entries appended before the failure stay, also a
   prune; the compaction is missing. */
PHI_API phi_status phi_session_to_thread(const phi_session *session, phi_str loop_id,
                                         uint32_t flags, const phi_compaction_config *config,
                                         const phi_token_counter *counter, phi_thread *thread,
                                         char *message, size_t message_size);

/* The argument of a host's block_fn: one loop. */
typedef struct phi_block_request {
    const phi_session *session;
    const phi_loop_record *loop;
    bool is_current; /* false: an earlier loop; only its keep_compacted counts */
    const phi_compaction_config *config; /* with defaults filled in */
    phi_arena *arena;                    /* for new messages; freed after the block was copied */
} phi_block_request;

/* Zero means default for every field. Borrowed until phi_session_compact returns. */
typedef struct phi_session_compact_desc {
    phi_str loop_id; /* the loop to compact (default: the last with messages or a block) */
    uint32_t flags;  /* PHI_SESSION_ROOTS_GO_ON or 0 */
    const phi_compaction_config *config;
    const phi_token_counter *counter; /* (default: an estimate) */
    int64_t at_ms;                    /* creation time of the blocks (default 0) */
    /* Changes the blocks (default: phi's own blocks). Called once for each loop that gets a block,
       the current loop first. *block is phi's block, and the function may change its sections,
       turns and messages. Any status but PHI_OK ends the compaction. The function may block. It
       must not change or free the session. */
    phi_status (*block_fn)(void *user_data, const phi_block_request *request,
                           phi_compaction_block *block);
    void *user_data;
    /* Makes the blocks from the compactions of this thread, and ignores all fields above. Use it
       for a session that was recorded from this thread's events (phi_session_of_thread already does
       this). Blocks describe the active lane's view. The last loop with messages gets up to three
       sections. An earlier loop gets keep_compacted with all its messages in view. All loops before
       a loop with a block get one too, because the Rust original expects this. Other loops that no
       compaction changed get no block. Loops of other lanes do not change, nor do loops whose
       message counts differ between session and log. phi_session_compact then sets *made to 0. It
       fails with the store's status if evicted entries cannot be recalled (default: none) */
    const phi_thread *thread;
} phi_session_compact_desc;

/* Makes blocks for a loop and for the earlier loops in scope (see phi_session_to_thread). The loop
   gets a new block, which replaces its old one. An earlier loop without a block gets a
   keep_compacted of all its turns. Messages do not change. desc NULL: the defaults.

   keep_first has the first keep_first_turns turns, unchanged. keep_recent has the last
   keep_recent_turns of the other turns, with long results shortened. keep_compacted has the turns
   between them, as one summary (log/compact.h) after the focus message, or unchanged if a summary
   would not be smaller. keep_compacted is absent if there are no such turns. No section separates a
   call from its result. *made (may be NULL) receives the number of loops that got a block.

   PHI_NOT_FOUND: no such loop. PHI_REFUSED: the host's block shows nothing of the current loop, has
   turns out of order, or has a message that a thread does not accept. If block_fn fails, returns
   its status. After PHI_REFUSED and a failure of block_fn, `message` (may be NULL) names the loop
   and the reason. PHI_BAD_ARG: session is NULL. Also PHI_NO_MEMORY. After any error nothing has
   changed. */
PHI_API phi_status phi_session_compact(phi_session *session, const phi_session_compact_desc *desc,
                                       size_t *made, char *message, size_t message_size);

#ifdef __cplusplus
}
#endif
#endif
