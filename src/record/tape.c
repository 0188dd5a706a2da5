/* tape.c - makes and frees tapes, and reports divergences. */
#include "record/replay_in.h"
#include "text/records_in.h"

#include <stdio.h>

static phi__tape *phi__tape_new(const phi_tape_desc *desc) {
    phi_allocator allocator =
        desc->allocator.realloc_fn != NULL ? desc->allocator : phi__allocator_default();
    phi__tape *tape = (phi__tape *)allocator.realloc_fn(allocator.user_data, NULL, 0, sizeof *tape);
    if (tape == NULL) return NULL;
    memset(tape, 0, sizeof *tape);
    tape->desc = *desc;
    phi_memory_init(&tape->memory, &allocator, 0);
    phi__buf_init(&tape->line, &tape->memory);
    phi__buf_init(&tape->bytes, &tape->memory);
    phi_arena_init(&tape->arena, &tape->memory, 0);
    phi_arena_init(&tape->parted.words, &tape->memory, 0);
    phi_arena_init(&tape->secret_arena, &tape->memory, 0);
    phi__secret_init(&tape->secrets, &tape->secret_arena);
    tape->base.random_fn = phi__tape_sources_random;
    return tape;
}

static void phi__tape_divergence_of(const phi__tape *tape, phi_tape_divergence *out) {
    if (out == NULL) return;
    memset(out, 0, sizeof *out);
    if (tape->parted.yes) *out = tape->parted.where;
}

/* ---- public ---- */

PHI_API phi_tape *phi_tape_record(const phi_tape_desc *desc) {
    phi__tape *tape;
    if (desc == NULL || desc->write_fn == NULL) return NULL;
    tape = phi__tape_new(desc);
    if (tape == NULL) return NULL;
    phi__tape_secret_add(tape, desc->secrets);
    phi__tape_record_init(tape);
    return &tape->base;
}

PHI_API phi_tape *phi_tape_play(const phi_tape_desc *desc, phi_str text, phi_parse_error *error) {
    phi_tape_desc none;
    phi__tape *tape;
    memset(&none, 0, sizeof none);
    if (desc == NULL) desc = &none;
    if (error != NULL) {
        memset(error, 0, sizeof *error);
        error->status = PHI_NO_MEMORY;
        (void)snprintf(error->message, sizeof error->message, "no memory");
    }
    tape = phi__tape_new(desc);
    if (tape == NULL) return NULL;
    phi__tape_secret_add(tape, desc->secrets);
    if (tape->failed != PHI_OK || phi__tape_read(tape, text, error) != PHI_OK) {
        phi_tape_free(&tape->base);
        return NULL;
    }
    phi__tape_play_init(tape);
    return &tape->base;
}

PHI_API phi_status phi_tape_end(phi_tape *base, phi_tape_divergence *divergence) {
    phi__tape *tape = (phi__tape *)base;
    if (tape == NULL) return PHI_BAD_ARG;
    if (!base->plays) {
        phi__records_u64(phi__tape_line_begin(tape, "over"), "idle", tape->idle);
        phi__tape_line_end(tape);
        tape->over = true;
        phi__tape_divergence_of(tape, divergence);
        return tape->failed;
    }
    if (!tape->over) phi__tape_play_end(tape);
    tape->over = true;
    phi__tape_divergence_of(tape, divergence);
    if (tape->parted.yes) return PHI_REFUSED;
    if (tape->failed != PHI_OK) return tape->failed;
    return tape->torn ? PHI_PARSE : PHI_OK;
}

PHI_API void phi_tape_free(phi_tape *base) {
    phi__tape *tape = (phi__tape *)base;
    phi_allocator allocator;
    size_t i;
    if (tape == NULL) return;
    allocator = tape->memory.allocator;
    for (i = 0; i < tape->flows.count; i++) {
        phi__buf_free(&tape->flows.at[i].head);
        phi__buf_free(&tape->flows.at[i].carry);
    }
    phi__free(&tape->memory, tape->flows.at, tape->flows.cap * sizeof *tape->flows.at);
    phi__free(&tape->memory, tape->index.lines, tape->index.cap * sizeof *tape->index.lines);
    phi__buf_free(&tape->line);
    phi__buf_free(&tape->bytes);
    phi_arena_free(&tape->arena);
    phi_arena_free(&tape->parted.words);
    phi_arena_free(&tape->secret_arena);
    (void)allocator.realloc_fn(allocator.user_data, tape, sizeof *tape, 0);
}
