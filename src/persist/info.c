/* info.c - a thread's info, title and metadata for the host. The id is the store's, while it is in
   one. */
#include "persist/info_in.h"

#include "base/id_in.h"
#include "text/json_in.h"
#include "history/about_in.h"
#include "persist/journal_in.h"
#include "persist/recall_in.h"
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

PHI_API phi_status phi_thread_get_info(phi_thread *thread, phi_thread_info *out) {
    phi_str id;
    if (thread == NULL || out == NULL) return PHI_BAD_ARG;
    id = phi__info_id(thread);
    if (id.len == 0) return PHI_NO_MEMORY;
    *out = phi__about_info(thread);
    out->id = id;
    out->made_ms = thread->log.made_ms;
    out->changed_ms = thread->log.changed_ms;
    return PHI_OK;
}

PHI_API phi_status phi_thread_set_title(phi_thread *thread, const char *title) {
    phi_thread_info info;
    phi_str text = phi_str_of(title);
    if (thread == NULL || !phi__check_id_fits(text)) return PHI_BAD_ARG;
    info = phi__about_info(thread);
    if (phi_str_equal(info.title, text)) return PHI_OK;
    info.title = text;
    return phi__about_set(thread, &info);
}

PHI_API phi_status phi_thread_set_metadata(phi_thread *thread, phi_str json) {
    phi_thread_info info;
    phi_status status;
    if (thread == NULL || (json.at == NULL && json.len > 0)) return PHI_BAD_ARG;
    status = phi__about_is_object(thread, json);
    if (status != PHI_OK) return status;
    info = phi__about_info(thread);
    if (phi_str_equal(info.metadata, json)) return PHI_OK;
    info.metadata = json;
    return phi__about_set(thread, &info);
}

PHI_API phi_status phi_thread_system_prompt(const phi_thread *thread, uint64_t seq, phi_str *out) {
    phi_status status;
    uint64_t i;
    if (thread == NULL || out == NULL) return PHI_BAD_ARG;
    status = phi__recall(thread);
    if (status != PHI_OK) return status;
    for (i = seq < thread->log.count ? seq + 1 : thread->log.count; i > thread->log.base; i--) {
        const phi__entry *entry = phi__thread_at(thread, i - 1);
        if (entry->kind != PHI_ENTRY_LOOP_START || entry->of.loop == NULL ||
            !entry->of.loop->has_system_prompt)
            continue;
        *out = entry->of.loop->system_prompt;
        return PHI_OK;
    }
    return PHI_NOT_FOUND;
}
