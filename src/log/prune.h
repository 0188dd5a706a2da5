/* prune.h - plans a prune, which takes the model's oldest answers out of the view.

   A prune takes whole groups: an answer with the results of its calls. The messages stay in the
   log. A prune never takes a user message, a durable entry, a message that a rewrite made, or (by
   default) a message that the last compaction kept. */
#ifndef PHI_LOG_PRUNE_H
#define PHI_LOG_PRUNE_H

#include "model/texts.h"
#include "model/tokens.h"
#include "log/thread.h"
#include "model/event_parts.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Zero means default for every field but tokens. */
typedef struct phi_prune {
    uint64_t tokens; /* the least number of tokens to remove; whole groups may make it more */
    phi_str memo;    /* a message that replaces the removed messages (default: none) */
    /* entries before this one stay (default: the entries up to the last compaction stay) */
    uint64_t from_seq;
    /* entries from this one on stay, for example those of the current turn (default: none stay) */
    uint64_t end_seq;
    const phi_texts *texts; /* PHI_TEXT_PRUNED (default: phi's) */
} phi_prune;

#ifdef __cplusplus
}
#endif
#endif
