/* about.c - a thread's id, title and metadata; notes, which no model sees. */
#include "log/thread_in.h"

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
    phi_status status;
    if (!phi__note_is_json(thread, json, &status))
        return status == PHI_NO_MEMORY ? PHI_NO_MEMORY : PHI_BAD_ARG;
    if (thread->user == NULL && !phi__thread_roll(thread, NULL)) return PHI_NO_MEMORY;
    phi_arena *room = phi__thread_room(thread);
    phi_arena_mark mark = phi_arena_save(room);
    phi__entry *entry = (phi__entry *)phi__arena_zero(room, sizeof *entry);
    phi__note *note = (phi__note *)phi__arena_zero(room, sizeof *note);
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
    if (run != NULL && !phi__arena_str(phi__thread_room(thread), run->loop_id, &loop_id))
        return PHI_NO_MEMORY;
    phi_status status = phi__note_add(thread, kind, json, NULL);
    if (status == PHI_OK && run != NULL)
        thread->log.entries[thread->log.held - 1]->loop_id = loop_id;
    return status;
}

PHI__FN void phi__about_name(phi_thread *thread, phi_str id) {
    if (thread->id.at != NULL)
        phi__free(thread->log.memory, (void *)(uintptr_t)thread->id.at, thread->id.len + 1);
    thread->id = id;
}

static void phi__about_drop(phi_thread *thread, phi__about *about) {
    if (about == NULL) return;
    phi_arena_free(&about->arena);
    phi__free(thread->log.memory, about, sizeof *about);
}

PHI__FN void phi__about_free(phi_thread *thread) {
    phi__about *about = thread->about;
    thread->about = NULL;
    phi__about_name(thread, phi__str(NULL, 0));
    phi__about_drop(thread, about);
}

PHI__FN size_t phi__about_bytes(const phi_thread *thread) {
    const phi__about *about = thread->about;
    return about != NULL ? sizeof *about + phi__arena_taken(&about->arena) : 0;
}

PHI__FN phi_thread_info phi__about_info(const phi_thread *thread) {
    phi_thread_info none = PHI_ZERO;
    return thread->about != NULL ? thread->about->info : none;
}

static phi__about *phi__about_copy(phi_thread *thread, const phi_thread_info *info) {
    phi__about *about = (phi__about *)phi__alloc(thread->log.memory, sizeof *about);
    if (about == NULL) return NULL;
    phi_arena_init(&about->arena, thread->log.memory, 0);
    about->info = *info;
    if (phi__arena_str(&about->arena, info->title, &about->info.title) &&
        phi__arena_str(&about->arena, info->metadata, &about->info.metadata) &&
        phi__arena_str(&about->arena, info->forked_from, &about->info.forked_from))
        return about;
    phi__about_drop(thread, about);
    return NULL;
}

static bool phi__about_take(phi_thread *thread, const phi_thread_info *info) {
    phi__about *about = phi__about_copy(thread, info);
    if (about == NULL) return false;
    phi__about_drop(thread, thread->about);
    thread->about = about;
    return true;
}

PHI__FN bool phi__about_set_id(phi_thread *thread, phi_str id) {
    char *copy = (char *)phi__alloc(thread->log.memory, phi__add(id.len, 1));
    if (copy == NULL) return false;
    memcpy(copy, id.at, id.len);
    phi__about_name(thread, phi__str(copy, id.len));
    return true;
}

static void phi__about_put_str(phi__buf *out, const char *key, phi_str value) {
    if (value.len == 0) return;
    phi__json_write_key(out, phi_str_of(key));
    phi__json_write_str(out, value);
}

static phi_status phi__about_note(phi_thread *thread, const phi_thread_info *info) {
    phi_status status = PHI_NO_MEMORY;
    phi__buf json;
    phi__buf_init(&json, thread->log.memory);
    phi__buf_char(&json, '{');
    phi__about_put_str(&json, "title", info->title);
    phi__about_put_str(&json, "metadata", info->metadata);
    phi__about_put_str(&json, "forked_from", info->forked_from);
    if (info->forked_from.len > 0 && info->forked_at != UINT64_MAX) {
        phi__json_write_key(&json, PHI__LIT("forked_at"));
        phi__json_number_put_u64(&json, info->forked_at);
    }
    if (thread->log.made_ms != 0) {
        phi__json_write_key(&json, PHI__LIT("made"));
        phi__json_number_put_i64(&json, thread->log.made_ms);
    }
    phi__buf_char(&json, '}');
    if (!json.failed) status = phi__note_add(thread, PHI_NOTE_THREAD, phi__buf_str(&json), NULL);
    phi__buf_free(&json);
    return status;
}

PHI__FN phi_status phi__about_is_object(const phi_thread *thread, phi_str json) {
    phi_json *root = NULL;
    phi_arena scratch;
    if (json.len == 0) return PHI_OK;
    phi_arena_init(&scratch, thread->log.memory, 0);
    phi_status status = phi_json_parse(&scratch, json, PHI_JSON_BORROW, &root, NULL);
    if (status == PHI_OK && phi_json_type_of(root) != PHI_JSON_OBJECT) status = PHI_BAD_ARG;
    phi_arena_free(&scratch);
    return status == PHI_OK || status == PHI_NO_MEMORY ? status : PHI_BAD_ARG;
}

PHI__FN phi_status phi__about_read(phi_thread *thread, phi_str note) {
    phi_thread_info info = phi__about_info(thread);
    phi_json *root = NULL;
    phi_arena scratch;
    phi_arena_init(&scratch, thread->log.memory, 0);
    phi_status status = phi_json_parse(&scratch, note, PHI_JSON_BORROW, &root, NULL);
    info.title = phi_json_str(phi_json_get(root, "title"), "");
    info.metadata = phi_json_str(phi_json_get(root, "metadata"), "");
    info.forked_from = phi_json_str(phi_json_get(root, "forked_from"), "");
    info.forked_at = phi__json_get_uint(phi_json_get(root, "forked_at"), UINT64_MAX);
    if (info.forked_from.len == 0) info.forked_at = 0;
    phi__log_set_made(&thread->log, phi_json_int(phi_json_get(root, "made"), thread->log.made_ms));
    if (status == PHI_OK) status = phi__about_is_object(thread, info.metadata);
    if (status == PHI_OK && !phi__about_take(thread, &info)) status = PHI_NO_MEMORY;
    phi_arena_free(&scratch);
    return status;
}

PHI__FN phi_status phi__about_forked(phi_thread *thread, phi_str from, uint64_t at) {
    phi_thread_info info = phi__about_info(thread);
    info.forked_from = from;
    info.forked_at = at;
    if (from.len == 0 || !phi__about_take(thread, &info)) return PHI_NO_MEMORY;
    phi__log_set_made(&thread->log, phi__thread_now(thread));
    return phi__about_note(thread, &thread->about->info);
}

static bool phi__about_says(const phi_thread_info *info) {
    return info->title.len > 0 || info->metadata.len > 0 || info->forked_from.len > 0;
}

PHI__FN bool phi__about_carry(phi_thread *thread, const phi_thread *before) {
    phi__log_set_made(&thread->log, before->log.made_ms);
    return before->about == NULL || !phi__about_says(&before->about->info) ||
           phi__about_note(thread, &before->about->info) == PHI_OK;
}

PHI__FN void phi__about_move(phi_thread *thread, phi_thread *before) {
    phi__about_free(thread);
    thread->about = before->about;
    thread->id = before->id;
    before->about = NULL;
    before->id = phi__str(NULL, 0);
}

/* The log has it first. */
PHI__FN phi_status phi__about_set(phi_thread *thread, const phi_thread_info *info) {
    phi__about *about = phi__about_copy(thread, info), *before = thread->about;
    if (about == NULL) return PHI_NO_MEMORY;
    phi_status status = phi__about_note(thread, info);
    phi__about_drop(thread, status == PHI_OK ? before : about);
    if (status == PHI_OK) thread->about = about;
    return status;
}
