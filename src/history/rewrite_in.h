/* rewrite_in.h - rewrites, the only way to change a view: checked, then appended.

   Nothing here reads a store: the entries that a rewrite needs are in memory
   (phi__rewrite_needs). */
#ifndef PHI_HISTORY_REWRITE_IN_H
#define PHI_HISTORY_REWRITE_IN_H

#include "history/fold_in.h"
#include "history/ops_in.h"

/* The rewrite to check, and the buffer for the message. */
typedef struct phi__rewriting {
    phi_thread *thread;
    const phi_rewrite *given;
    uint32_t lane;
    uint64_t base;
    phi__fold *fold;     /* of the lane as it is */
    phi__fold made;      /* where the lane is not the active one */
    bool moves;          /* another lane is the active one afterwards: */
    uint32_t next;       /* ... this one; PHI__LANE_NONE: it is to begin */
    phi__fold projected; /* ... whose view is this, without the rewrite */
    char *words;
    size_t words_size;
} phi__rewriting;

/* Of the active lane, until another is set. */
PHI__FN phi__rewriting phi__rewrite_check_begin(phi_thread *thread, const phi_rewrite *rewrite,
                                                char *words, size_t words_size);
/* Puts words where they go; PHI_BAD_ARG. */
PHI__FN phi_status phi__rewrite_check_refuse(phi__rewriting *w, const char *format, ...)
    PHI_PRINTF(2, 3);
PHI__FN phi_status phi__rewrite_check(phi__rewriting *w);
PHI__FN bool phi__rewrite_check_named(const phi_rewrite *rewrite); /* it has an id of its own */
/* Whether spans would be taken now, in the active lane; else what phi_thread_rewrite says. Nothing
   changes. */
PHI__FN phi_status phi__rewrite_check_full(phi_thread *thread, const phi_rewrite *rewrite,
                                           char *words, size_t words_size);

/* Checks a rewrite without a log: whether it could ever be valid. As phi__rewrite_check_full. */
PHI__FN phi_status phi__rewrite_check_form_of(phi_thread *thread, const phi_rewrite *rewrite,
                                              char *words, size_t words_size);
/* Refuses an op_id of the form that phi makes, which a log may hold and a host may not give. As
   phi__rewrite_check_full. */
PHI__FN phi_status phi__rewrite_check_given(phi_thread *thread, const phi_rewrite *rewrite,
                                            char *words, size_t words_size);

/* ---- rewrite.c ---- */

/* As phi_thread_rewrite, without the check for an active run; the entries that it needs are in
   memory. loop_id, turn_index: who makes it. */
PHI__FN phi_status phi__rewrite_make(phi_thread *thread, const phi_rewrite *rewrite,
                                     phi_str loop_id, uint32_t turn_index, bool *duplicate,
                                     char *words, size_t words_size);
/* Whether the log must be whole for it. */
PHI__FN bool phi__rewrite_needs(const phi_thread *thread, const phi_rewrite *rewrite);
/* A deep copy in an arena, of one whose form is right. False: no memory. */
PHI__FN bool phi__rewrite_copy(phi_arena *arena, const phi_rewrite *given, phi_rewrite *out);
/* The id of a rewrite that has none of its host's: its place in the log, mostly. */
#define PHI__OP_MADE "op-%llu"
enum { PHI__OP_MADE_SIZE = 32 }; /* bytes, its end included */
PHI__FN void phi__rewrite_name(const phi_thread *thread, char out[PHI__OP_MADE_SIZE]);

#endif
