/* entry_get_in.h - reads the members of an entry. */
#ifndef PHI_PERSIST_ENTRY_GET_IN_H
#define PHI_PERSIST_ENTRY_GET_IN_H

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

/* Puts words into the reader; PHI_PARSE. */
PHI__FN phi_status phi__entry_get_bad(phi__entry_reader *r, const char *format, ...)
    PHI_PRINTF(2, 3);
PHI__FN void phi__entry_get_pick(const phi_json *root, const phi_json *in[PHI__ENTRY_IN_COUNT]);

/* The members of entries that are neither messages nor of lanes; entry_parts.c. */
PHI__FN void phi__entry_parts_put(phi__buf *out, const phi__entry *entry);
PHI__FN phi_status phi__entry_parts_read(phi__entry_reader *r, const phi_json *root,
                                         phi__entry *entry);
/* The number of a word in a list that ends with NULL; -1: it is none of them. */
PHI__FN int phi__entry_parts_number(phi_str text, const char *(*word)(int));

/* A message, of the members "message" and "more"; and a rewrite, of those of its entry. In the
   scratch arena. */
PHI__FN phi_status phi__entry_get_whole(phi__entry_reader *r, const phi_json *node,
                                        const phi_json *more, phi_message *out);
PHI__FN phi_status phi__entry_get_members(phi__entry_reader *r, const phi_json *const *in,
                                          phi_rewrite *rewrite);

#endif
