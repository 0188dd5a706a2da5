/* slice_in.h - what a step of the pump may take: so much time, and so many bytes. A piece of work
   that was begun is finished, so a third of the time is kept back for that. */
#ifndef PHI_IO_SLICE_IN_H
#define PHI_IO_SLICE_IN_H

#include "io/io_in.h"

typedef struct phi__slice {
    const phi__io *io;
    uint64_t (*work_us_fn)(void *user_data); /* a clock of its own; NULL: that of io */
    void *user_data;
    uint32_t budget_us, budget_bytes;
    uint64_t until_us;
    size_t bytes_left;
} phi__slice;

PHI__FN void phi__slice_begin(phi__slice *slice); /* the budget, anew */
PHI__FN void phi__slice_took(phi__slice *slice, size_t bytes);
PHI__FN bool phi__slice_spent(const phi__slice *slice);
/* The part of the time that is for descriptors is over: the rest is for the runs. */
PHI__FN bool phi__slice_io_spent(const phi__slice *slice);

#endif
