/* put_off.c - rewrites that the host asks for: done at once, or when the run that goes on has ended.

   One slot: a newer one takes the place of what waits. What became of each is told. */
#include "loop/freeze_in.h"

#include "thread/entry_in.h"

#include <stdio.h>

typedef struct phi__put_off {
    phi_arena arena;
    phi_rewrite rewrite;
    bool must_gain; /* it is a summary */
} phi__put_off;

PHI__FN void phi__put_off_forget(phi__agent *agent) {
    phi__put_off *slot = agent->put_off;
    agent->put_off = NULL;
    if (slot == NULL) return;
    phi_arena_free(&slot->arena);
    phi__free(&agent->memory, slot, sizeof *slot);
}

/* words: static, or in the thread. */
static bool phi__put_off_tell(phi__agent *agent, const phi_rewrite *rewrite, phi_status status,
                              phi_str words) {
    phi_event event;
    memset(&event, 0, sizeof event);
    event.kind = PHI_EV_REWRITE;
    event.status = status;
    event.text = phi_str_of(rewrite->op_id);
    event.source = words;
    return phi__emit(agent, &event, NULL, 0);
}

static phi_status phi__put_off_over(phi__agent *agent, const phi_rewrite *rewrite,
                                    phi_status status, const char *words) {
    phi_str kept = {"", 0};
    phi_rewrite told = *rewrite;
    bool named = told.op_id != NULL && told.op_id[0] != '\0';
    if (status == PHI_OK && !named) told.op_id = agent->thread->ops->rewrite.op_id;
    if (words[0] != '\0' &&
        !phi__arena_str(phi__thread_room(agent->thread), phi_str_of(words), &kept))
        status = status == PHI_OK ? PHI_OK : PHI_NO_MEMORY;
    (void)phi__put_off_tell(agent, &told, status, kept); /* done is done, told or not */
    return status;
}

static phi_status phi__put_off_do(phi__agent *agent, const phi_rewrite *rewrite, bool must_gain) {
    char words[200];
    bool duplicate = false;
    phi_status status;
    if (must_gain && !phi__compactor_gains(agent, rewrite))
        return phi__put_off_over(agent, rewrite, PHI_REFUSED,
                                 "the summary is no shorter than what it would replace");
    status = phi__thread_rewrite(agent->thread, rewrite, phi__str("", 0), 0, &duplicate, words,
                                 sizeof words);
    if (duplicate)
        (void)snprintf(words, sizeof words, "nothing was done: a rewrite of this op_id is there");
    return phi__put_off_over(agent, rewrite, status, words);
}

PHI__FN void phi__put_off_due(phi__agent *agent) {
    phi__put_off *slot = agent->put_off;
    if (slot == NULL) return;
    (void)phi__put_off_do(agent, &slot->rewrite, slot->must_gain);
    phi__put_off_forget(agent);
}

PHI__FN phi_status phi__put_off_rewrite(phi__agent *agent, const phi_rewrite *rewrite,
                                        bool must_gain) {
    phi__put_off *slot;
    char words[200];
    phi_status status;
    if (agent->run == NULL && agent->thread->user != NULL) return PHI_BUSY;
    status = phi__rewrite_given(agent->thread, rewrite, words, sizeof words);
    if (status == PHI_OK && agent->run == NULL) return phi__put_off_do(agent, rewrite, must_gain);
    if (status == PHI_OK) status = phi__rewrite_form(agent->thread, rewrite, words, sizeof words);
    if (status != PHI_OK) return phi__put_off_over(agent, rewrite, status, words);
    slot = (phi__put_off *)phi__alloc(&agent->memory, sizeof *slot);
    if (slot == NULL) return PHI_NO_MEMORY;
    phi_arena_init(&slot->arena, &agent->memory, 0);
    if (!phi__rewrite_copy(&slot->arena, rewrite, &slot->rewrite) ||
        (agent->put_off != NULL &&
         !phi__put_off_tell(agent, &agent->put_off->rewrite, PHI_CANCELLED,
                            PHI__LIT("a newer rewrite took its place")))) {
        phi_arena_free(&slot->arena);
        phi__free(&agent->memory, slot, sizeof *slot);
        return PHI_NO_MEMORY;
    }
    phi__put_off_forget(agent);
    slot->must_gain = must_gain;
    agent->put_off = slot;
    return PHI_OK;
}

/* ---- in a snapshot ---- */

PHI__FN void phi__put_off_freeze(phi__buf *out, const phi__agent *agent, phi_arena *scratch) {
    const phi_rewrite *rewrite;
    if (agent->put_off == NULL) return;
    rewrite = &agent->put_off->rewrite;
    phi__json_put_key(out, PHI__LIT("put_off"));
    phi__buf_char(out, '{');
    if (rewrite->lane != NULL) {
        phi__json_put_key(out, PHI__LIT("lane"));
        phi__json_put_str(out, phi_str_of(rewrite->lane));
    }
    phi__entry_put_rewrite(out, rewrite, scratch);
    if (agent->put_off->must_gain) {
        phi__json_put_key(out, PHI__LIT("must_gain"));
        phi__buf_text(out, "true");
    }
    phi__buf_char(out, '}');
}

/* Where no run goes on any more it is done, and told of. */
PHI__FN phi_status phi__put_off_thaw(phi__agent *agent, const phi_json *node) {
    phi__entry_reader reader;
    phi_rewrite rewrite;
    phi_status status;
    if (node == NULL) return PHI_OK;
    phi__entry_reader_init(&reader, agent->thread);
    status = phi__entry_get_rewrite(&reader, node, &rewrite);
    if (status == PHI_OK) {
        status = phi__put_off_rewrite(agent, &rewrite,
                                      phi_json_bool(phi_json_get(node, "must_gain"), false));
        if (status != PHI_NO_MEMORY) status = PHI_OK;
    }
    phi__entry_reader_free(&reader);
    return status;
}
