/* session_groups.c - groups of parallel runs, out of the notes of a thread's log. */
#include "record/session_in.h"

#include "model/message_in.h"
#include "text/records_in.h"

/* The loop ids of the note, in the session's arena. False: no memory. */
static bool phi__session_groups_ids(phi__session_box *box, const phi_json *node,
                                    phi_loop_group *to) {
    phi_json_iter each = phi_json_each(node);
    size_t count = phi_json_count(node), i = 0;
    const phi_json *id;
    phi_str *ids =
        (phi_str *)phi__arena_zero(&box->arena, phi__mul(phi__max(count, 1), sizeof *ids));
    if (ids == NULL) return false;
    while ((id = phi_json_next(&each)) != NULL)
        if (!phi__session_keep(box, phi_json_str(id, ""), &ids[i++])) return false;
    to->loop_ids = ids;
    to->loop_count = count;
    return true;
}

/* Each loop has a group of its own; the ids are shared. */
static bool phi__session_groups_give(phi__session_box *box, const phi_loop_group *group) {
    size_t i;
    for (i = 0; i < group->loop_count; i++) {
        const phi_loop_record *found = phi__session_get_loop(&box->pub, group->loop_ids[i]);
        phi_loop_record *loop = (phi_loop_record *)(uintptr_t)found;
        phi_loop_group *own;
        if (loop == NULL) continue;
        own = (phi_loop_group *)phi__arena_zero(&box->arena, sizeof *own);
        if (own == NULL) return false;
        *own = *group;
        own->is_selected = phi_str_equal(loop->loop_id, group->selected_loop_id);
        loop->group = own;
    }
    return true;
}

PHI__FN bool phi__session_groups_note(phi__session_box *box, phi_str note) {
    phi_loop_group group;
    phi_arena scratch;
    phi_json *root = NULL;
    phi_str selected;
    bool done;
    memset(&group, 0, sizeof group);
    phi_arena_init(&scratch, &box->memory, 0);
    done = phi_json_parse(&scratch, note, 0, &root, NULL) != PHI_NO_MEMORY;
    selected = phi__records_get_str(root, "selected_loop_id");
    if (done && phi_json_is(phi_json_get(root, "loop_ids"), PHI_JSON_ARRAY)) {
        group.selected_index = phi__records_get_size(root, "selected_index");
        group.evaluation_usage =
            phi__message_read_get_usage(phi_json_get(root, "evaluation_usage"));
        done = phi__session_groups_ids(box, phi_json_get(root, "loop_ids"), &group) &&
               phi__session_keep(box, selected, &group.selected_loop_id) &&
               phi__session_groups_give(box, &group);
    }
    phi_arena_free(&scratch);
    return done;
}
