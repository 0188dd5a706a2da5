/* thread.c - makes, empties and frees threads; sets id, title and metadata; adds notes, which no
   model sees. The last note of the kind PHI_NOTE_THREAD has title, metadata and origin. */
#include "log/thread_in.h"

/* ---- notes ---- */

/* Parses a note. Returns PHI_OK, an error of the parser, or PHI_BAD_ARG if `object` is true and the
   note is not an object. */
static phi_status phi__note_parse(const phi_thread *thread, phi_str json, bool object) {
    phi_arena scratch;
    phi_json *root = NULL;
    phi_arena_init(&scratch, thread->log.memory, 0);
    phi_status status = phi_json_parse(&scratch, json, PHI_JSON_BORROW, &root, NULL);
    if (status == PHI_OK && object && !phi_json_is(root, PHI_JSON_OBJECT)) status = PHI_BAD_ARG;
    phi_arena_free(&scratch);
    return status;
}

PHI__FN bool phi__note_is_json(const phi_thread *thread, phi_str json, phi_status *status) {
    *status = phi__note_parse(thread, json, false);
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

/* The note has its own copy of the run's id, because the start of the run may be evicted
   earlier. */
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

PHI_API phi_status phi_thread_note(phi_thread *thread, const char *kind, phi_str json,
                                   uint64_t *seq) {
    if (thread == NULL || kind == NULL || kind[0] == '\0') return PHI_BAD_ARG;
    if (phi__str_starts(phi_str_of(kind), "phi.")) return PHI_BAD_ARG;
    return phi__note_add(thread, kind, json, seq);
}

/* ---- id, title, metadata and origin ---- */

/* Returns PHI_OK if metadata is a JSON object or empty, else PHI_BAD_ARG or PHI_NO_MEMORY. */
static phi_status phi__about_is_object(const phi_thread *thread, phi_str json) {
    phi_status status = json.len > 0 ? phi__note_parse(thread, json, true) : PHI_OK;
    return status == PHI_OK || status == PHI_NO_MEMORY ? status : PHI_BAD_ARG;
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

static void phi__about_free(phi_thread *thread) {
    phi__about *about = thread->about;
    thread->about = NULL;
    phi__about_name(thread, phi__str(NULL, 0));
    phi__about_drop(thread, about);
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

static phi_status phi__about_note(phi_thread *thread, const phi_thread_info *info) {
    phi_status status = PHI_NO_MEMORY;
    phi__buf json;
    phi__buf_init(&json, thread->log.memory);
    phi__buf_char(&json, '{');
    phi__records_some(&json, "title", info->title);
    phi__records_some(&json, "metadata", info->metadata);
    phi__records_some(&json, "forked_from", info->forked_from);
    if (info->forked_from.len > 0 && info->forked_at != UINT64_MAX)
        phi__records_u64(&json, "forked_at", info->forked_at);
    if (thread->log.made_ms != 0) phi__records_i64(&json, "made", thread->log.made_ms);
    phi__buf_char(&json, '}');
    if (!json.failed) status = phi__note_add(thread, PHI_NOTE_THREAD, phi__buf_str(&json), NULL);
    phi__buf_free(&json);
    return status;
}

PHI__FN phi_status phi__about_read(phi_thread *thread, phi_str note) {
    phi_thread_info info = phi__about_info(thread);
    phi_json *root = NULL;
    phi_arena scratch;
    phi_arena_init(&scratch, thread->log.memory, 0);
    phi_status status = phi_json_parse(&scratch, note, PHI_JSON_BORROW, &root, NULL);
    info.title = phi__records_get_str(root, "title");
    info.metadata = phi__records_get_str(root, "metadata");
    info.forked_from = phi__records_get_str(root, "forked_from");
    info.forked_at = phi__json_get_uint(phi_json_get(root, "forked_at"), UINT64_MAX);
    if (info.forked_from.len == 0) info.forked_at = 0;
    thread->log.made_ms = phi_json_int(phi_json_get(root, "made"), thread->log.made_ms);
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
    thread->log.made_ms = phi__thread_now(thread);
    return phi__about_note(thread, &thread->about->info);
}

PHI__FN bool phi__about_carry(phi_thread *thread, const phi_thread *before) {
    thread->log.made_ms = before->log.made_ms;
    const phi_thread_info *info = before->about != NULL ? &before->about->info : NULL;
    if (info == NULL || info->title.len + info->metadata.len + info->forked_from.len == 0)
        return true;
    return phi__about_note(thread, info) == PHI_OK;
}

PHI__FN void phi__about_move(phi_thread *thread, phi_thread *before) {
    phi__about_free(thread);
    thread->about = before->about;
    thread->id = before->id;
    before->about = NULL;
    before->id = phi__str(NULL, 0);
}

/* Writes the note before it sets the fields. */
static phi_status phi__about_set(phi_thread *thread, const phi_thread_info *info) {
    phi__about *about = phi__about_copy(thread, info), *before = thread->about;
    if (about == NULL) return PHI_NO_MEMORY;
    phi_status status = phi__about_note(thread, info);
    phi__about_drop(thread, status == PHI_OK ? before : about);
    if (status == PHI_OK) thread->about = about;
    return status;
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

/* ---- threads ---- */

PHI__FN void phi__thread_init(phi_thread *thread, phi_memory *memory, phi__io *io) {
    memset(thread, 0, sizeof *thread);
    phi__log_init(&thread->log, memory, io);
    phi__map_init(&thread->ops.by_id, memory);
    phi__map_init(&thread->lanes.by_name, memory);
}

PHI__FN void phi__thread_belong(phi_thread *thread, struct phi_runtime *rt, phi__grown *grown,
                                struct phi__lent *lent) {
    thread->rt = rt;
    thread->lent = lent;
    thread->of_agent = lent == NULL;
    thread->log.grown = grown;
}

/* Clears the struct without freeing its parts. */
static void phi__thread_renew(phi_thread *thread) {
    phi_thread before = *thread;
    phi__thread_init(thread, before.log.memory, before.log.io);
    thread->of_agent = before.of_agent;
    thread->log.grown = before.log.grown;
    thread->rt = before.rt;
    thread->lent = before.lent;
    phi__segments_limit(&thread->log, before.log.segments.limit_bytes);
}

PHI__FN void phi__thread_move(phi_thread *to, phi_thread *from) {
    memcpy(to, from, sizeof *to); /* includes the parts that others own */
    phi__thread_renew(from);
}

PHI__FN void phi__thread_destroy(phi_thread *thread) {
    phi_memory *memory = thread->log.memory;
    PHI_ASSERT(thread->journal == NULL);
    phi__load_drop(thread);
    phi__append_free(thread);
    phi__about_free(thread);
    phi__fold_free(memory, &thread->fold);
    phi__log_free_all(&thread->log);
    phi__thread_renew(thread);
}

PHI__FN size_t phi__thread_bytes(const phi_thread *thread) {
    const phi__about *about = thread->about;
    return phi__segments_bytes(&thread->log) +
           (about != NULL ? sizeof *about + phi__arena_taken(&about->arena) : 0) +
           thread->state.now.len + thread->state.before.len +
           (thread->log.cap + thread->messages.cap) * sizeof *thread->log.entries +
           thread->fold.cap * sizeof *thread->fold.items +
           thread->counted.ids.cap * sizeof(uint64_t) +
           thread->ops.by_id.cap * sizeof *thread->ops.by_id.slots +
           thread->loops.cap * sizeof *thread->loops.at +
           thread->undo.fold.cap * sizeof *thread->undo.fold.items;
}
