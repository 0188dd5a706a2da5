/* prune.h - plans a prune: takes the model's oldest answers out of its view.

   A prune never takes a user's message, a message that a compaction left standing, nor a durable
   entry. It takes whole groups: an answer with the results of its calls. They stay in the log. */
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
    uint64_t tokens; /* to be taken, at least: the last group may have more */
    phi_str memo;    /* a message in their place (default: none) */
    /* entries before this one stay (default: those up to the last compaction, which count as the
       user's) */
    uint64_t from_seq;
    /* entries from this one on stay: those of the current turn (default: none) */
    uint64_t end_seq;
    const phi_texts *texts; /* PHI_TEXT_PRUNED (default: phi's) */
} phi_prune;

#ifdef __cplusplus
}
#endif
#endif
