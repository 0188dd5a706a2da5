/* about.c - a thread's id, title, metadata, and where it was forked from.

   A note of kind PHI_NOTE_THREAD holds title, metadata and origin; a later one takes its place. */
#include "history/about_in.h"

#include "text/json_in.h"

/* ---- keeping ---- */

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
    phi_thread_info none;
    memset(&none, 0, sizeof none);
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

/* ---- as JSON ---- */

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
    phi_status status;
    if (json.len == 0) return PHI_OK;
    phi_arena_init(&scratch, thread->log.memory, 0);
    status = phi_json_parse(&scratch, json, PHI_JSON_BORROW, &root, NULL);
    if (status == PHI_OK && phi_json_type_of(root) != PHI_JSON_OBJECT) status = PHI_BAD_ARG;
    phi_arena_free(&scratch);
    return status == PHI_OK || status == PHI_NO_MEMORY ? status : PHI_BAD_ARG;
}

PHI__FN phi_status phi__about_read(phi_thread *thread, phi_str note) {
    phi_thread_info info = phi__about_info(thread);
    phi_json *root = NULL;
    phi_arena scratch;
    phi_status status;
    phi_arena_init(&scratch, thread->log.memory, 0);
    status = phi_json_parse(&scratch, note, PHI_JSON_BORROW, &root, NULL);
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

/* ---- one thread from another ---- */

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
    phi_status status;
    if (about == NULL) return PHI_NO_MEMORY;
    status = phi__about_note(thread, info);
    phi__about_drop(thread, status == PHI_OK ? before : about);
    if (status == PHI_OK) thread->about = about;
    return status;
}
