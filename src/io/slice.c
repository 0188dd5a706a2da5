/* slice.c - what a step of the pump may take: so much time, and so many bytes. */
#include "io/slice_in.h"

static uint64_t phi__slice_now_us(const phi__slice *slice) {
    return slice->work_us_fn != NULL ? slice->work_us_fn(slice->user_data)
                                     : phi__io_now_us(slice->io);
}

PHI__FN void phi__slice_begin(phi__slice *slice) {
    slice->until_us = phi__slice_now_us(slice) + slice->budget_us - slice->budget_us / 3;
    slice->bytes_left = slice->budget_bytes;
}

PHI__FN void phi__slice_took(phi__slice *slice, size_t bytes) {
    slice->bytes_left -= phi__min(slice->bytes_left, bytes);
}

PHI__FN bool phi__slice_spent(const phi__slice *slice) {
    return slice->bytes_left == 0 || phi__slice_now_us(slice) >= slice->until_us;
}

PHI__FN bool phi__slice_io_spent(const phi__slice *slice) {
    return phi__slice_now_us(slice) >= slice->until_us - slice->budget_us / 6;
}
