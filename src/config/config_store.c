/* config_store.c - where the threads of persistent agents are kept. */
#include "config/config_agents_in.h"

#ifndef PHI_NO_CONFIG

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

/* "dir/name.jsonl" as a directory and a name. */
static void phi__config_store_split(phi_str path, phi_str *directory, phi_str *name) {
    size_t at = path.len;
    while (at > 0 && path.at[at - 1] != '/') at--;
    *directory = at > 1 ? phi__str(path.at, at - 1) : at == 1 ? PHI__LIT("/") : PHI__LIT(".");
    *name = phi__str(path.at + at, path.len - at);
    if (name->len > 6 && memcmp(name->at + name->len - 6, ".jsonl", 6) == 0) name->len -= 6;
}

static phi_status phi__config_store_open(phi__config_maker *maker, const char *directory) {
    phi_file_store_desc desc;
    phi_status status;
    memset(&desc, 0, sizeof desc);
    desc.directory = directory;
    desc.allocator = maker->ground.memory->allocator;
    desc.sync = maker->whole.session.sync;
    status = phi_file_store_open(&desc, &maker->store);
    if (status == PHI_OK || status == PHI_NO_MEMORY) return status;
    phi__config_words_error(&maker->ground, maker->whole.top.session, status, "session.directory",
                            status == PHI_UNSUPPORTED
                                ? "session.directory \"%s\": files are left out of this program"
                                : "session.directory \"%s\" is empty or too long",
                            directory);
    return PHI_OK;
}

/* ---- for other modules ---- */

PHI__FN phi_status phi__config_store_begin(phi__config_maker *maker) {
    phi__config_ground *ground = &maker->ground;
    const phi__config_session *session = &maker->whole.session;
    const char *file = ground->desc.session_file, *path;
    phi_str directory, name;
    if (file != NULL) {
        phi__config_store_split(phi_str_of(file), &directory, &name);
        if (!phi__arena_str(ground->arena, name, &name) ||
            !phi__arena_str(ground->arena, directory, &directory))
            return PHI_NO_MEMORY;
        maker->thread = name.at;
        return ground->check_only ? PHI_OK : phi__config_store_open(maker, directory.at);
    }
    if (session->scope == 0) return PHI_OK;
    maker->thread = session->thread;
    if (session->directory != NULL && session->directory[0] != '\0') {
        path = phi__config_place_join(ground->arena, ground->directory, session->directory);
        if (path == NULL) return PHI_NO_MEMORY;
        return ground->check_only ? PHI_OK : phi__config_store_open(maker, path);
    }
    if (ground->desc.store != NULL) {
        maker->store = *ground->desc.store;
        maker->lent = true;
    } else if (ground->desc.base == NULL || ground->desc.base->store == NULL) {
        phi__config_words_error(ground, maker->whole.top.session, PHI_BAD_ARG, "session.directory",
                                "session.scope \"persistent\" needs a place: write directory = "
                                "\"sessions\", or set phi_agents_desc.store");
    }
    return PHI_OK;
}

PHI__FN phi_status phi__config_store_use(phi__config_maker *maker, phi__config_job *job) {
    phi_arena *arena = maker->ground.arena;
    bool single =
        maker->first == NULL || maker->first->next == NULL || maker->first->next->depth > 0;
    phi_str thread = phi_str_of(maker->thread != NULL ? maker->thread : "");
    phi_str name = phi_str_of(job->making.name);
    bool first = maker->ground.desc.session_file != NULL && job == maker->first;
    if (maker->store.append == NULL || job->depth > 0) return PHI_OK;
    if (thread.len > 0 && (single || first)) name.len = 0;
    job->desc.store = &maker->store;
    job->desc.thread_id = phi__config_store_id(arena, thread, name);
    return job->desc.thread_id != NULL ? PHI_OK : PHI_NO_MEMORY;
}

PHI__FN void phi__config_store_end(phi__config_maker *maker) {
    if (maker->store.append != NULL && !maker->lent) phi_file_store_close(&maker->store);
    memset(&maker->store, 0, sizeof maker->store);
}

#endif
