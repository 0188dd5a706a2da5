/* info.c - a thread's info, title and metadata for the host. The id is the store's, while it is in
   one. */
#include "persist/info_in.h"

#include "base/id_in.h"
#include "text/json_in.h"
#include "history/about_in.h"
#include "persist/journal_in.h"
#include "model/event_parts.h"

static phi_str phi__info_known_id(const phi_thread *thread) {
    return thread->journal != NULL ? phi__str(thread->journal->id, thread->journal->id_len)
                                   : thread->id;
}

PHI__FN phi_str phi__info_id(phi_thread *thread) {
    unsigned char random[16] = {0};
    char made[PHI__UUID_SIZE];
    if (phi__info_known_id(thread).len > 0) return phi__info_known_id(thread);
    if (thread->log.io != NULL) phi__io_random(thread->log.io, random, sizeof random);
    phi__id_uuid(random, made);
    return phi__about_set_id(thread, phi_str_of(made)) ? thread->id : phi__str("", 0);
}

PHI__FN void phi__info_put_head(phi__buf *out, const phi_thread *thread) {
    if (thread->journal != NULL || thread->id.len == 0) return;
    phi__json_write_key(out, PHI__LIT("id"));
    phi__json_write_str(out, thread->id);
}

PHI__FN phi_status phi__info_get_head(phi_thread *thread, const phi_json *head) {
    phi_str id = phi_json_str(phi_json_get(head, "id"), "");
    return id.len == 0 || phi__about_set_id(thread, id) ? PHI_OK : PHI_NO_MEMORY;
}

/* ---- public ---- */

PHI_API phi_thread_info phi_thread_get_info(const phi_thread *thread) {
    phi_thread_info info;
    memset(&info, 0, sizeof info);
    info.lane = info.title = info.metadata = info.forked_from = phi__str("", 0);
    if (thread == NULL) return info;
    info = phi__about_info(thread);
    info.first = thread->log.base;
    info.stored = thread->journal != NULL ? thread->journal->stored : 0;
    info.lane = phi__lane_name(thread, thread->lanes.active);
    info.lane_count = phi__thread_lanes(thread);
    info.usage = thread->counted.usage;
    info.made_ms = thread->log.made_ms;
    info.changed_ms = thread->log.changed_ms;
    return info;
}

PHI_API phi_str phi_thread_id(phi_thread *thread) {
    return thread != NULL ? phi__info_id(thread) : phi__str("", 0);
}

PHI_API phi_status phi_thread_set_info(phi_thread *thread, const char *title,
                                       const char *metadata) {
    phi_thread_info info, before;
    phi_status status = PHI_OK;
    if (thread == NULL || !phi__check_id_fits(phi_str_of(title))) return PHI_BAD_ARG;
    if (metadata != NULL) status = phi__about_is_object(thread, phi_str_of(metadata));
    if (status != PHI_OK) return status;
    before = info = phi__about_info(thread);
    if (title != NULL) info.title = phi_str_of(title);
    if (metadata != NULL) info.metadata = phi_str_of(metadata);
    if (phi_str_equal(info.title, before.title) && phi_str_equal(info.metadata, before.metadata))
        return PHI_OK;
    return phi__about_set(thread, &info);
}
