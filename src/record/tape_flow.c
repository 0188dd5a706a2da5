/* tape_flow.c - the transfers of a tape that is recorded or played. */
#include "record/replay_in.h"

#ifndef PHI_NO_TAPE

PHI__FN phi__tape_flow *phi__tape_flow_of(phi__tape *tape, phi_xfer xfer) {
    size_t i;
    for (i = 0; i < tape->flow_count; i++) {
        phi__tape_flow *flow = &tape->flows[i];
        if (flow->live && flow->xfer.index == xfer.index && flow->xfer.gen == xfer.gen) return flow;
    }
    return NULL;
}

static phi__tape_flow *phi__tape_flow_place(phi__tape *tape) {
    void *grown;
    size_t i;
    for (i = 0; i < tape->flow_count; i++)
        if (!tape->flows[i].live) return &tape->flows[i];
    grown = phi__grow(&tape->memory, tape->flows, &tape->flow_cap, tape->flow_count + 1,
                      sizeof *tape->flows);
    if (grown == NULL) return NULL;
    tape->flows = (phi__tape_flow *)grown;
    memset(&tape->flows[tape->flow_count], 0, sizeof *tape->flows);
    phi__buf_init(&tape->flows[tape->flow_count].head, &tape->memory);
    phi__buf_init(&tape->flows[tape->flow_count].carry, &tape->memory);
    return &tape->flows[tape->flow_count++];
}

PHI__FN phi__tape_flow *phi__tape_flow_new(phi__tape *tape, phi_xfer xfer, uint64_t x) {
    phi__tape_flow *flow = phi__tape_flow_place(tape);
    if (flow == NULL) return NULL;
    flow->xfer = xfer;
    flow->x = x;
    flow->live = true;
    flow->has_head = flow->held_head = flow->has_end = flow->refused = false;
    flow->stage = 0;
    phi__buf_clear(&flow->head);
    phi__buf_clear(&flow->carry);
    return flow;
}

#endif
