/* mcp_slices.c - mcp_slices_in.h. */
#include "mcp/mcp_slices_in.h"

#include "loop/state_in.h"
#include "mcp/mcp_rpc_in.h"

static void phi__mcp_slices_fire(phi__timer *timer) {
    phi__mcp_slices *slices = PHI__OWNER(timer, phi__mcp_slices, timer);
    phi_runtime *rt = slices->rt;
    phi_status status = phi__json_read_advance(&slices->reader, rt->slice.budget_bytes);
    phi_json *root = NULL;
    if (status == PHI_BUSY && phi__io_timer_set(rt->io, timer, phi__io_now_us(rt->io)) != PHI_OK)
        status = PHI_NO_MEMORY;
    if (status != PHI_BUSY) (void)phi__json_read_result(&slices->reader, &root, NULL);
    slices->sliced(slices, status, status == PHI_OK ? root : NULL);
}

PHI__FN phi_status phi__mcp_slices_begin(phi__mcp_slices *slices, phi_runtime *rt,
                                         phi_memory *memory, phi_str text, bool copy) {
    phi_str own = text;
    slices->rt = rt;
    slices->timer.fire = phi__mcp_slices_fire;
    phi_arena_init(&slices->arena, memory, 0);
    if ((copy && !phi__arena_str(&slices->arena, text, &own)) ||
        phi__io_timer_set(rt->io, &slices->timer, UINT64_MAX) != PHI_OK) { /* keeps a place */
        phi_arena_free(&slices->arena);
        return PHI_NO_MEMORY;
    }
    phi__mcp_rpc_begin_parse(&slices->reader, &slices->arena, own);
    return PHI_OK;
}

PHI__FN void phi__mcp_slices_go(phi__mcp_slices *slices) {
    phi__io *io = slices->rt->io;
    (void)phi__io_timer_set(io, &slices->timer, phi__io_now_us(io));
}

PHI__FN void phi__mcp_slices_end(phi__mcp_slices *slices) {
    phi__io_timer_clear(slices->rt->io, &slices->timer);
    phi_arena_free(&slices->arena);
}
