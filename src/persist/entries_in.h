/* entries_in.h - reads the members of an entry. */
#ifndef PHI_PERSIST_ENTRIES_IN_H
#define PHI_PERSIST_ENTRIES_IN_H

#include "persist/entry_in.h"

/* The members of any entry, of a message, and of a rewrite, in the order in which they are
   written. */
#define PHI__ENTRY_LIST(X)                                                                         \
    X(SEQ, "seq")                                                                                  \
    X(KIND, "kind")                                                                                \
    X(AT, "at")                                                                                    \
    X(LANE, "lane")                                                                                \
    X(LOOP, "loop")                                                                                \
    X(TURN, "turn")                                                                                \
    X(IS_DURABLE, "durable")                                                                       \
    X(IS_SYNTHETIC, "synthetic")                                                                   \
    X(IS_SUMMARY, "summary")                                                                       \
    X(IS_LINES, "lines")                                                                           \
    X(IS_UNMEASURED, "unmeasured")                                                                 \
    X(IS_GRAFTED, "grafted")                                                                       \
    X(MESSAGE, "message")                                                                          \
    X(MORE, "more")                                                                                \
    X(OP_ID, "op_id")                                                                              \
    X(REASON, "reason")                                                                            \
    X(BASE_SEQ, "base_seq")                                                                        \
    X(REVOKE, "revoke")                                                                            \
    X(SWITCH_TO, "switch_to")                                                                      \
    X(META, "meta")                                                                                \
    X(WRITTEN, "written")                                                                          \
    X(SPANS, "spans")

#define PHI_X(name, text) PHI__ENTRY_IN_##name,
enum { PHI__ENTRY_LIST(PHI_X) PHI__ENTRY_IN_COUNT };
#undef PHI_X

#endif
