/* phi_files.h - files of a command: a tape that is recorded or played, and a conversation that is kept. Copy what you
   need of it. */
#ifndef PHI_FILES_H
#define PHI_FILES_H

#include "phi_places.h"

#include <errno.h>

typedef struct files_tape {
    phi_tape *tape; /* for phi_runtime_desc; NULL: none */
    FILE *file;
    text played;
} files_tape;

static inline phi_status files_write(void *user_data, const char *bytes, size_t len) {
    FILE *file = (FILE *)user_data;
    return fwrite(bytes, 1, len, file) == len && fflush(file) == 0 ? PHI_OK : PHI_IO;
}

/* Both NULL: no tape. False: `words` say why not. */
static inline bool files_open_tape(files_tape *t, const char *record, const char *replay,
                                   text *words) {
    const char *path = record != NULL ? record : replay;
    phi_tape_desc desc = PHI_ZERO;
    phi_parse_error error = PHI_ZERO;
    char part[4096];
    size_t got;
    if (path == NULL) return true;
    t->file = record != NULL ? places_own(path) : places_open(path);
    text_print(words, "%s: ", path);
    if (t->file == NULL) return text_say(words, strerror(errno)), false;
    desc.write_fn = files_write;
    desc.user_data = t->file;
    if (record != NULL) return (t->tape = phi_tape_record(&desc)) != NULL;
    while ((got = fread(part, 1, sizeof part, t->file)) > 0) text_add(&t->played, part, got);
    t->tape = phi_tape_play(&desc, text_str(&t->played), &error);
    text_print(words, "line %u: %s", (unsigned)error.line, error.message);
    return t->tape != NULL;
}

/* After phi_runtime_free. False: the tape is not whole, or the run was not the recorded one; `words` say why. */
static inline bool files_close_tape(files_tape *t, text *words) {
    phi_tape_divergence split = PHI_ZERO;
    phi_status status = t->tape != NULL ? phi_tape_end(t->tape, &split) : PHI_OK;
    if (status == PHI_REFUSED)
        text_print(words, "the run differs from line %u of the tape: %.*s", (unsigned)split.line,
                   PHI_ARG(split.what));
    else if (status != PHI_OK)
        text_print(words, "the tape is not whole: %s", phi_status_text(status));
    phi_tape_free(t->tape);
    if (t->file != NULL) (void)fclose(t->file);
    free(t->played.at);
    return status == PHI_OK;
}

typedef struct files_session {
    phi_store store; /* append NULL: none */
    char directory[1024], thread[129];
} files_session;

/* DIR/NAME.jsonl is the thread NAME of a store in DIR. False: `words` say why not. */
static inline bool files_open_session(files_session *s, const char *path, text *words) {
    phi_file_store_desc desc = PHI_ZERO;
    const char *name = path != NULL ? places_name(path) : NULL;
    size_t n = name != NULL ? strlen(name) : 0, before = (size_t)(name - path);
    if (path == NULL) return true;
    if (n > 6 && strcmp(name + n - 6, ".jsonl") == 0) n -= 6;
    text_print(words, "%s: ", path);
    if (n == 0 || n >= sizeof s->thread || before >= sizeof s->directory)
        return text_say(words, "no name of a session"), false;
    memcpy(s->thread, name, n);
    memcpy(s->directory, path, before);
    desc.directory = before > 0 ? s->directory : ".";
    desc.sync = true; /* an answer was paid for: it survives a loss of power */
    if (phi_file_store_open(&desc, &s->store) == PHI_OK) return true;
    return text_say(words, "no store there"), false;
}

/* Gives an agent, made with that store, the thread of the session. False: `words` say why not. */
static inline bool files_use_session(const files_session *s, phi_agent agent, text *words) {
    phi_agent_desc desc = PHI_ZERO;
    const char *why = "the configuration keeps its own sessions: see [session]";
    if (s->store.append == NULL) return true;
    (void)phi_agent_get_desc(agent, &desc);
    if (desc.store != NULL && desc.store->user_data == s->store.user_data) {
        if (phi_agent_use_thread(agent, s->thread) == PHI_OK) return true;
        why = phi_last_error(agent.rt).message;
    }
    text_print(words, "%s: %s", s->thread, why);
    return false;
}

#endif
