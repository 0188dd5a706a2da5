/* config_store.c - where the threads of persistent agents are kept. */
#include "config/config_agents_in.h"

#include "persist/file_store.h"

enum { PHI__CONFIG_STORE_ID = 128 }; /* bytes; persist/store.h */

/* An id of the letters that a store takes. */
static const char *phi__config_store_id(phi_arena *arena, phi_str a, phi_str b) {
    size_t n = 0, i;
    char *id = phi__arena_bytes(arena, phi__add(phi__add(a.len, b.len), 3));
    if (id == NULL) return NULL;
    for (i = 0; i < a.len && n < PHI__CONFIG_STORE_ID; i++) id[n++] = a.at[i];
    if (b.len > 0 && a.len > 0 && n < PHI__CONFIG_STORE_ID) id[n++] = '-';
    for (i = 0; i < b.len && n < PHI__CONFIG_STORE_ID; i++) id[n++] = b.at[i];
    for (i = 0; i < n; i++) {
        char c = id[i];
        bool fits = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                    c == '_' || c == '-' || (c == '.' && i > 0);
        if (!fits) id[i] = '_';
    }
    id[n] = '\0';
    return id;
}

/* *fits: a store takes the id as it is. */
static phi_status phi__config_store_check(phi_arena *arena, phi_str id, bool *fits) {
    const char *folded = phi__config_store_id(arena, id, PHI__LIT(""));
    if (folded == NULL) return PHI_NO_MEMORY;
    *fits = id.len > 0 && phi__str_is(id, folded);
    return PHI_OK;
}

/* "dir/name.jsonl" as a directory and a name; an empty name: it has not that ending. */
static void phi__config_store_split(phi_str path, phi_str *directory, phi_str *name) {
    size_t at = path.len;
    while (at > 0 && path.at[at - 1] != '/') at--;
    *directory = at > 1 ? phi__str(path.at, at - 1) : at == 1 ? PHI__LIT("/") : PHI__LIT(".");
    *name = phi__str(path.at + at, path.len - at);
    if (name->len > 6 && memcmp(name->at + name->len - 6, ".jsonl", 6) == 0)
        name->len -= 6;
    else
        name->len = 0;
}

static phi_status phi__config_store_open(phi__config_maker *maker, const phi_json *node,
                                         const char *field, const char *directory) {
    phi_file_store_desc desc;
    phi_status status;
    maker->is_kept = true;
    if (maker->ground.check_only) return PHI_OK;
    memset(&desc, 0, sizeof desc);
    desc.directory = directory;
    desc.allocator = maker->ground.memory->allocator;
    desc.sync = maker->whole.session.sync;
    status = phi_file_store_open(&desc, &maker->store);
    if (status == PHI_OK || status == PHI_NO_MEMORY) return status;
    phi__config_words_error(
        &maker->ground, node, status, field, "%s: the directory \"%s\" %s", field, directory,
        status == PHI_UNSUPPORTED ? "cannot be used: files are left out of this program"
                                  : "is empty or too long");
    return PHI_OK;
}

/* The thread of the host's session_file. */
static phi_status phi__config_store_file(phi__config_maker *maker) {
    phi__config_ground *ground = &maker->ground;
    const char *file = ground->desc.session_file;
    phi_str directory, name;
    bool fits = false;
    phi_status status;
    phi__config_store_split(phi_str_of(file), &directory, &name);
    if (!phi__arena_str(ground->arena, name, &name) ||
        !phi__arena_str(ground->arena, directory, &directory))
        return PHI_NO_MEMORY;
    status = phi__config_store_check(ground->arena, name, &fits);
    maker->thread = name.at;
    if (status != PHI_OK || fits)
        return status == PHI_OK ? phi__config_store_open(maker, NULL, "session_file", directory.at)
                                : status;
    phi__config_words_error(ground, NULL, PHI_BAD_ARG, "session_file",
                            "session_file \"%s\": expected a name of letters, digits, \"-\", \"_\" "
                            "and \".\" that ends in \".jsonl\", as \"monday.jsonl\"",
                            file);
    return PHI_OK;
}

/* The thread of [session], or with node NULL of the host's desc. */
static phi_status phi__config_store_thread(phi__config_maker *maker, const phi_json *node,
                                           const char *field, const char *thread) {
    phi__config_ground *ground = &maker->ground;
    bool fits = false;
    phi_status status;
    maker->thread = thread;
    status = phi__config_store_check(ground->arena, phi_str_of(maker->thread), &fits);
    if (status == PHI_OK && !fits)
        phi__config_words_error(ground, node, PHI_BAD_ARG, field,
                                "%s \"%s\": expected at most %d letters, digits, "
                                "\"-\", \"_\" and \".\", and no \".\" first",
                                field, thread, PHI__CONFIG_STORE_ID);
    return status;
}

static void phi__config_store_lend(phi__config_maker *maker, const phi_store *store) {
    maker->is_kept = true;
    maker->store = *store;
    maker->lent = true;
}

/* The thread of the file, else that of the base desc. */
static phi_status phi__config_store_which(phi__config_maker *maker, const phi_agent_desc *base) {
    const char *thread = maker->whole.session.thread;
    if (maker->whole.session.scope != 0 && thread != NULL && thread[0] != '\0')
        return phi__config_store_thread(maker, phi_json_get(maker->whole.top.session, "thread"),
                                        "session.thread", thread);
    if (base == NULL || base->thread_id == NULL) return PHI_OK;
    return phi__config_store_thread(maker, NULL, "base.thread_id", base->thread_id);
}

/* One thread cannot be that of two agents. */
static void phi__config_store_once(phi__config_maker *maker, const phi__config_job *job) {
    const phi__config_job *other;
    for (other = maker->first; other != job; other = other->next) {
        if (strcmp(other->desc.thread_id, job->desc.thread_id) != 0) continue;
        phi__config_words_error(&maker->ground, job->making.node, PHI_BAD_ARG,
                                "agent.instances.name",
                                "agents \"%s\" and \"%s\" would both keep the thread \"%s\": give "
                                "them names of letters, digits, \"-\" and \"_\" that differ",
                                other->making.name, job->making.name, job->desc.thread_id);
        return;
    }
}

/* ---- for other modules ---- */

PHI__FN phi_status phi__config_store_begin(phi__config_maker *maker) {
    phi__config_ground *ground = &maker->ground;
    const phi__config_session *session = &maker->whole.session;
    const phi_agent_desc *base = ground->desc.base;
    const phi_store *store = ground->desc.store;
    const char *path;
    phi_status status;
    if (ground->desc.session_file != NULL) return phi__config_store_file(maker);
    /* A thread of the host's is kept, whatever the file says. */
    if (session->scope == 0 && (base == NULL || base->thread_id == NULL)) return PHI_OK;
    status = phi__config_store_which(maker, base);
    if (status != PHI_OK) return status;
    if (store == NULL && base != NULL) store = base->store;
    if (session->scope != 0 && session->directory != NULL && session->directory[0] != '\0') {
        path = phi__config_place_join(ground->arena, ground->directory, session->directory);
        return path != NULL ? phi__config_store_open(maker, maker->whole.top.session,
                                                     "session.directory", path)
                            : PHI_NO_MEMORY;
    }
    if (store != NULL)
        phi__config_store_lend(maker, store);
    else if (session->scope == 0)
        phi__config_words_error(ground, NULL, PHI_BAD_ARG, "base.thread_id",
                                "base.thread_id is \"%s\", and there is no store: set "
                                "phi_agents_desc.store",
                                base->thread_id);
    else
        phi__config_words_error(ground, maker->whole.top.session, PHI_BAD_ARG, "session.directory",
                                "session.scope \"persistent\" needs a place: write directory = "
                                "\"sessions\", or set phi_agents_desc.store");
    return PHI_OK;
}

PHI__FN phi_status phi__config_store_use(phi__config_maker *maker, phi__config_job *job) {
    phi_arena *arena = maker->ground.arena;
    bool single =
        maker->first == NULL || maker->first->next == NULL || maker->first->next->depth > 0;
    phi_str thread = phi_str_of(maker->thread != NULL ? maker->thread : "");
    phi_str name = phi_str_of(job->making.name);
    bool first = maker->ground.desc.session_file != NULL && job == maker->first;
    if (!maker->is_kept || job->depth > 0) return PHI_OK;
    if (thread.len > 0 && (single || first)) name.len = 0;
    if (maker->store.append != NULL) job->desc.store = &maker->store;
    job->desc.thread_id = phi__config_store_id(arena, thread, name);
    if (job->desc.thread_id == NULL) return PHI_NO_MEMORY;
    phi__config_store_once(maker, job);
    return PHI_OK;
}

PHI__FN void phi__config_store_end(phi__config_maker *maker) {
    if (maker->store.append != NULL && !maker->lent) phi_file_store_close(&maker->store);
    memset(&maker->store, 0, sizeof maker->store);
}
