/* deferred_note.c - notes of deferred rewrites in the log, so that they outlive the process where
   the log is in a store.

   A note of kind PHI_NOTE_DEFERRED holds the deferred rewrite. A later note of that kind replaces
   it; a null note says that none is deferred. A rewrite of the same op_id in the log says that it
   was applied. Logs in no store have these notes, too: a log does not depend on where it is
   kept. */
#include "features/deferred_in.h"

#include "loop/loop_in.h"
#include "text/json_in.h"
#include "persist/entry_in.h"

/* ---- as JSON ---- */

PHI__FN void phi__deferred_note_put(phi__buf *out, const phi_rewrite *rewrite, bool must_gain,
                                    phi_arena *scratch) {
    phi__buf_char(out, '{');
    if (rewrite->lane != NULL) {
        phi__json_write_key(out, PHI__LIT("lane"));
        phi__json_write_str(out, phi_str_of(rewrite->lane));
    }
    phi__entry_json_rewrite(out, rewrite, scratch);
    if (must_gain) {
        phi__json_write_key(out, PHI__LIT("must_gain"));
        phi__buf_text(out, "true");
    }
    phi__buf_char(out, '}');
}

PHI__FN phi_status phi__deferred_note_get(phi__agent *agent, const phi_json *node,
                                          phi_status (*take)(phi__agent *agent,
                                                             const phi_rewrite *rewrite,
                                                             bool must_gain)) {
    phi__entry_reader reader;
    phi_rewrite rewrite;
    phi_status status;
    phi__entry_get_reader_init(&reader, agent->thread);
    status = phi__entry_get_rewrite(&reader, node, &rewrite);
    if (status == PHI_OK) {
        status = take(agent, &rewrite, phi_json_bool(phi_json_get(node, "must_gain"), false));
        if (status != PHI_NO_MEMORY) status = PHI_OK; /* the host gets an event of its outcome */
    }
    phi__entry_get_reader_free(&reader);
    return status;
}

/* ---- notes ---- */

/* Of the log's entries in memory, the last note about a rewrite that waits; NULL: none, or nothing
   waits. */
PHI__FN const phi__note *phi__deferred_note_last(const phi_thread *thread) {
    size_t i = thread->log.held;
    while (i-- > 0) {
        const phi__entry *entry = thread->log.entries[i];
        if (entry->kind != PHI_ENTRY_NOTE || !phi__str_is(entry->of.note->kind, PHI_NOTE_DEFERRED))
            continue;
        return phi__str_is(entry->of.note->json, "null") ? NULL : entry->of.note;
    }
    return NULL;
}

PHI__FN phi_status phi__deferred_note(phi__agent *agent, const phi_rewrite *rewrite,
                                      bool must_gain) {
    phi__buf json;
    phi_arena scratch;
    phi_status status;
    phi__buf_init(&json, &agent->memory);
    phi_arena_init(&scratch, &agent->memory, 0);
    phi__deferred_note_put(&json, rewrite, must_gain, &scratch);
    status = json.failed
                 ? PHI_NO_MEMORY
                 : phi__note_add(agent->thread, PHI_NOTE_DEFERRED, phi__buf_str(&json), NULL);
    phi_arena_free(&scratch);
    phi__buf_free(&json);
    return status;
}

PHI__FN phi_status phi__deferred_note_over(phi__agent *agent) {
    return phi__note_add(agent->thread, PHI_NOTE_DEFERRED, PHI__LIT("null"), NULL);
}
