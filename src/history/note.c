/* note.c - notes: entries that no model sees. */
#include "history/thread_in.h"

#include "text/json.h"

PHI__FN bool phi__note_is_json(const phi_thread *thread, phi_str json, phi_status *status) {
    phi_arena scratch;
    phi_json *root = NULL;
    phi_arena_init(&scratch, thread->log.memory, 0);
    *status = phi_json_parse(&scratch, json, PHI_JSON_BORROW, &root, NULL);
    phi_arena_free(&scratch);
    return *status == PHI_OK;
}

PHI__FN phi_status phi__note_add(phi_thread *thread, const char *kind, phi_str json,
                                 uint64_t *seq) {
    phi_arena *room;
    phi_arena_mark mark;
    phi__entry *entry;
    phi__note *note;
    phi_status status;
    if (!phi__note_is_json(thread, json, &status))
        return status == PHI_NO_MEMORY ? PHI_NO_MEMORY : PHI_BAD_ARG;
    if (thread->user == NULL && !phi__thread_roll(thread, NULL)) return PHI_NO_MEMORY;
    room = phi__thread_room(thread);
    mark = phi_arena_save(room);
    entry = (phi__entry *)phi__arena_zero(room, sizeof *entry);
    note = (phi__note *)phi__arena_zero(room, sizeof *note);
    if (entry == NULL || note == NULL || !phi__arena_str(room, phi_str_of(kind), &note->kind) ||
        !phi__arena_str(room, json, &note->json) || !phi__append_reserve(thread, 1, 0)) {
        phi_arena_reset(room, mark);
        return PHI_NO_MEMORY;
    }
    entry->kind = PHI_ENTRY_NOTE;
    entry->at_ms = phi__thread_now(thread);
    entry->of.note = note;
    if (seq != NULL) *seq = thread->log.count;
    phi__append_attach(thread, entry, 1);
    return PHI_OK;
}

/* The name of the run is the note's own, for the run's beginning may leave memory before it. */
PHI__FN phi_status phi__note_add_of_run(phi_thread *thread, const char *kind, phi_str json) {
    const phi__entry *run = thread->user != NULL ? thread->loops.started : NULL;
    phi_str loop_id = {NULL, 0};
    phi_status status;
    if (run != NULL && !phi__arena_str(phi__thread_room(thread), run->loop_id, &loop_id))
        return PHI_NO_MEMORY;
    status = phi__note_add(thread, kind, json, NULL);
    if (status == PHI_OK && run != NULL)
        thread->log.entries[thread->log.held - 1]->loop_id = loop_id;
    return status;
}
