/* about.c - what a thread knows of itself: its id, when it was made and changed, title, metadata, where it was forked
   from, and the system prompts of its runs.

   A note of kind PHI_NOTE_THREAD holds title, metadata and origin; a later one takes its place. The id is the store's, or
   stands in the first line of a text. A run's system prompt is in its LOOP_START, unless the run before had the same. */
#include "thread/about_in.h"

#include "base/id_in.h"
#include "text/json_in.h"
#include "thread/journal_in.h"

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

static phi_thread_info phi__about_info(const phi_thread *thread) {
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

static phi_str phi__about_known_id(const phi_thread *thread) {
    return thread->journal != NULL ? phi__str(thread->journal->id, thread->journal->id_len)
                                   : thread->id;
}

static bool phi__about_set_id(phi_thread *thread, phi_str id) {
    char *copy = (char *)phi__alloc(thread->log.memory, phi__add(id.len, 1));
    if (copy == NULL) return false;
    memcpy(copy, id.at, id.len);
    phi__about_name(thread, phi__str(copy, id.len));
    return true;
}

PHI__FN phi_str phi__about_id(phi_thread *thread) {
    unsigned char random[16] = {0};
    char made[PHI__UUID_SIZE];
    if (phi__about_known_id(thread).len > 0) return phi__about_known_id(thread);
    if (thread->log.io != NULL) phi__io_random(thread->log.io, random, sizeof random);
    phi__uuid(random, made);
    return phi__about_set_id(thread, phi_str_of(made)) ? thread->id : phi__str("", 0);
}

/* ---- as JSON ---- */

static void phi__about_put_str(phi__buf *out, const char *key, phi_str value) {
    if (value.len == 0) return;
    phi__json_put_key(out, phi_str_of(key));
    phi__json_put_str(out, value);
}

PHI__FN void phi__about_put_head(phi__buf *out, const phi_thread *thread) {
    if (thread->journal == NULL) phi__about_put_str(out, "id", thread->id);
}

PHI__FN phi_status phi__about_get_head(phi_thread *thread, const phi_json *head) {
    phi_str id = phi_json_str(phi_json_get(head, "id"), "");
    return id.len == 0 || phi__about_set_id(thread, id) ? PHI_OK : PHI_NO_MEMORY;
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
        phi__json_put_key(&json, PHI__LIT("forked_at"));
        phi__json_put_u64(&json, info->forked_at);
    }
    if (thread->log.made_ms != 0) {
        phi__json_put_key(&json, PHI__LIT("made"));
        phi__json_put_i64(&json, thread->log.made_ms);
    }
    phi__buf_char(&json, '}');
    if (!json.failed) status = phi__thread_note(thread, PHI_NOTE_THREAD, phi__buf_str(&json), NULL);
    phi__buf_free(&json);
    return status;
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
    info.forked_at = phi_json_uint(phi_json_get(root, "forked_at"), UINT64_MAX);
    if (info.forked_from.len == 0) info.forked_at = 0;
    thread->log.made_ms = phi_json_int(phi_json_get(root, "made"), thread->log.made_ms);
    if (status == PHI_OK && !phi__about_take(thread, &info)) status = PHI_NO_MEMORY;
    phi_arena_free(&scratch);
    return status;
}

/* ---- one thread from another ---- */

PHI__FN phi_status phi__about_forked(phi_thread *thread, phi_thread *from, uint64_t at) {
    phi_thread_info info = phi__about_info(thread);
    info.forked_from = phi__about_id(from);
    info.forked_at = at;
    if (info.forked_from.len == 0 || !phi__about_take(thread, &info)) return PHI_NO_MEMORY;
    thread->log.made_ms = phi__thread_now(thread);
    return phi__about_note(thread, &thread->about->info);
}

static bool phi__about_says(const phi_thread_info *info) {
    return info->title.len > 0 || info->metadata.len > 0 || info->forked_from.len > 0;
}

PHI__FN bool phi__about_carry(phi_thread *thread, const phi_thread *before) {
    thread->log.made_ms = before->log.made_ms;
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

/* ---- public ---- */

PHI_API phi_status phi_thread_get_info(phi_thread *thread, phi_thread_info *out) {
    phi_str id;
    if (thread == NULL || out == NULL) return PHI_BAD_ARG;
    id = phi__about_id(thread);
    if (id.len == 0) return PHI_NO_MEMORY;
    *out = phi__about_info(thread);
    out->id = id;
    out->made_ms = thread->log.made_ms;
    out->changed_ms = thread->log.changed_ms;
    return PHI_OK;
}

/* The log has it first. */
static phi_status phi__about_set(phi_thread *log, const phi_thread_info *info) {
    phi__about *about = phi__about_copy(log, info), *before = log->about;
    phi_status status;
    if (about == NULL) return PHI_NO_MEMORY;
    status = phi__about_note(log, info);
    phi__about_drop(log, status == PHI_OK ? before : about);
    if (status == PHI_OK) log->about = about;
    return status;
}

PHI_API phi_status phi_thread_set_title(phi_thread *thread, const char *title) {
    phi_thread_info info;
    phi_str text = phi_str_of(title);
    if (thread == NULL || !phi__id_fits(text)) return PHI_BAD_ARG;
    info = phi__about_info(thread);
    if (phi_str_equal(info.title, text)) return PHI_OK;
    info.title = text;
    return phi__about_set(thread, &info);
}

static phi_status phi__about_is_object(const phi_thread *log, phi_str json) {
    phi_json *root = NULL;
    phi_arena scratch;
    phi_status status;
    if (json.len == 0) return PHI_OK;
    phi_arena_init(&scratch, log->log.memory, 0);
    status = phi_json_parse(&scratch, json, PHI_JSON_BORROW, &root, NULL);
    if (status == PHI_OK && phi_json_type_of(root) != PHI_JSON_OBJECT) status = PHI_BAD_ARG;
    phi_arena_free(&scratch);
    return status == PHI_OK || status == PHI_NO_MEMORY ? status : PHI_BAD_ARG;
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
    status = phi__thread_recall(thread);
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
