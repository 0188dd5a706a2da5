/* tape_flow.c - the transfers of a tape that is recorded or played. */
#include "record/replay_in.h"

PHI__FN phi__tape_flow *phi__tape_flow_of(phi__tape *tape, phi_transfer transfer) {
    size_t i;
    for (i = 0; i < tape->flows.count; i++) {
        phi__tape_flow *flow = &tape->flows.at[i];
        if (flow->live && flow->transfer.index == transfer.index &&
            flow->transfer.gen == transfer.gen)
            return flow;
    }
    return NULL;
}

static phi__tape_flow *phi__tape_flow_place(phi__tape *tape) {
    void *grown;
    size_t i;
    for (i = 0; i < tape->flows.count; i++)
        if (!tape->flows.at[i].live) return &tape->flows.at[i];
    grown = phi__grow(&tape->memory, tape->flows.at, &tape->flows.cap, tape->flows.count + 1,
                      sizeof *tape->flows.at);
    if (grown == NULL) return NULL;
    tape->flows.at = (phi__tape_flow *)grown;
    memset(&tape->flows.at[tape->flows.count], 0, sizeof *tape->flows.at);
    phi__buf_init(&tape->flows.at[tape->flows.count].head, &tape->memory);
    phi__buf_init(&tape->flows.at[tape->flows.count].carry, &tape->memory);
    return &tape->flows.at[tape->flows.count++];
}

PHI__FN phi__tape_flow *phi__tape_flow_new(phi__tape *tape, phi_transfer transfer, uint64_t x) {
    phi__tape_flow *flow = phi__tape_flow_place(tape);
    if (flow == NULL) return NULL;
    flow->transfer = transfer;
    flow->x = x;
    flow->live = true;
    flow->has_head = flow->held_head = flow->has_end = flow->refused = false;
    flow->stage = 0;
    phi__buf_clear(&flow->head);
    phi__buf_clear(&flow->carry);
    return flow;
}
