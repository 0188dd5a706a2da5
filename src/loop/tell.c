/* tell.c - puts an update into the log and into the request that is being made. */
#include "loop/tell_in.h"

#include "loop/loop_in.h"

/* One more item, that of the log's last message. The list is the turn's own, or that of the view,
   which may have moved as it grew. */
static bool phi__tell_item(phi__run *run, bool of_view) {
    const phi__fold *fold = &run->agent->thread->fold;
    phi__request_spec *spec = &run->attempt.spec;
    phi__item *items;
    if (of_view) {
        spec->items = fold->items;
        spec->item_count = fold->count;
        return true;
    }
    items = (phi__item *)phi_arena_alloc(&run->arena,
                                         phi__mul(phi__add(spec->item_count, 1), sizeof *items));
    if (items == NULL) return false;
    if (spec->item_count > 0) memcpy(items, spec->items, spec->item_count * sizeof *items);
    items[spec->item_count] = fold->items[fold->count - 1];
    spec->items = items;
    spec->item_count++;
    return true;
}

PHI__FN bool phi__tell(phi__run *run, const phi_message *message) {
    phi_thread *thread = run->agent->thread;
    bool of_view = run->attempt.spec.items == thread->fold.items;
    phi_message update = *message, *kept;
    if (phi__codec_paused(&run->attempt.spec)) return true;
    update.role = PHI_ROLE_USER;
    update.is_update = true;
    phi__events_stamp(run, &update);
    kept = phi__append_keep(thread, &update);
    return kept != NULL && phi__events_log(run, kept) && phi__tell_item(run, of_view);
}
