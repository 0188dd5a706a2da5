/* tape_request.c - playing: the run's requests, which are compared with the tape's, and their
   answers. */
#include "base/utf8_in.h"
#include "record/replay_in.h"
#include "text/json_in.h"

static phi__tape_flow *phi__tape_request_flow(phi__tape *tape, uint64_t x) {
    size_t i;
    for (i = 0; i < tape->flows.count; i++)
        if (tape->flows.at[i].live && tape->flows.at[i].x == x) return &tape->flows.at[i];
    return NULL;
}

static phi__played phi__tape_request_bytes(phi__tape *tape, phi__tape_flow *flow,
                                           const phi_json *root) {
    if (!phi__tape_read_bytes(tape, root)) {
        phi__tape_match_no_memory(tape);
        return PHI__TAPE_PLAY_STOP;
    }
    return phi__transfer_push_now(flow->transfer, tape->bytes.at, tape->bytes.len) == PHI_FULL
               ? PHI__TAPE_PLAY_LATER
               : PHI__PLAYED;
}

PHI__FN phi__played phi__tape_request_answer(phi__tape *tape, const phi__tape_line *line,
                                             const phi_json *root) {
    phi__tape_flow *flow = phi__tape_request_flow(tape, line->x);
    phi_str text;
    if (flow == NULL) {
        phi__tape_match_diverge(
            tape, (size_t)(line - tape->index.lines), "the answer to a request",
            phi__str(line->text.at, phi__utf8_cut(line->text, PHI__TAPE_PLAY_WORDS)),
            phi_str_of("that request is not waiting for an answer"));
        return PHI__TAPE_PLAY_STOP;
    }
    if (line->kind == PHI__TAPE_BYTES) return phi__tape_request_bytes(tape, flow, root);
    if (line->kind == PHI__TAPE_STAGE) {
        int64_t stage = phi_json_int(phi_json_get(root, "stage"), 1);
        (void)phi__transfer_stage_now(flow->transfer,
                                      stage == 1 ? PHI_TRANSFER_STARTED : PHI_TRANSFER_CONNECTED);
    } else if (line->kind == PHI__TAPE_ANSWER) {
        text = phi_json_str(phi_json_get(root, "headers"), "");
        (void)phi__transfer_head_now(
            flow->transfer, (int)(phi__json_get_uint(phi_json_get(root, "status"), 0) % 1000),
            text.at, text.len);
    } else {
        int64_t status = phi_json_int(phi_json_get(root, "status"), 0);
        flow->live = false;
        text = phi_json_str(phi_json_get(root, "words"), "");
        (void)phi__transfer_end_now(
            flow->transfer,
            (phi_status)(status > -1000 && status <= 0 ? status : (int64_t)PHI_NETWORK), text.at);
    }
    return PHI__PLAYED;
}

/* ---- requests of the run ---- */

static phi_status phi__tape_request_open(void *user_data, phi_transfer transfer,
                                         const phi_request *request) {
    phi__tape *tape = (phi__tape *)user_data;
    phi__tape_line *line = NULL;
    const phi_json *now;
    phi_arena arena;
    int64_t status = PHI_OK;
    if (tape->off) return PHI_REFUSED;
    phi_arena_init(&arena, &tape->memory, 0);
    now = phi__tape_match_request(tape, &arena, request);
    if (now == NULL)
        phi__tape_match_no_memory(tape);
    else
        line = phi__tape_match_find(tape, now);
    phi_arena_free(&arena);
    if (line == NULL) return tape->parted.yes ? PHI_REFUSED : PHI_NO_MEMORY;
    line->used = true;
    now = phi__tape_read_tree(tape, line);
    if (now != NULL) status = phi_json_int(phi_json_get(now, "status"), PHI_OK);
    if (now == NULL || (status == PHI_OK && phi__tape_flow_new(tape, transfer, line->x) == NULL)) {
        phi__tape_match_no_memory(tape);
        return PHI_NO_MEMORY;
    }
    return (phi_status)(status > -1000 && status <= 0 ? status : (int64_t)PHI_REFUSED);
}

static void phi__tape_request_resume(void *user_data, phi_transfer transfer) {
    (void)user_data; /* the line that found no room is tried again in every step */
    (void)transfer;
}

static void phi__tape_request_cancel(void *user_data, phi_transfer transfer) {
    phi__tape_flow *flow = phi__tape_flow_of((phi__tape *)user_data, transfer);
    if (flow != NULL) flow->live = false;
}

PHI__FN void phi__tape_request_init(phi__tape *tape) {
    tape->base.transport.open = phi__tape_request_open;
    tape->base.transport.resume = phi__tape_request_resume;
    tape->base.transport.cancel = phi__tape_request_cancel;
    tape->base.transport.user_data = tape;
}
