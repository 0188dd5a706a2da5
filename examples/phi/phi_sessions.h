/* phi_sessions.h - conversations that the command keeps by itself: a file each, and an index for each directory in which
   the command was started. Copy what you need of it. */
#ifndef PHI_SESSIONS_H
#define PHI_SESSIONS_H

#include "phi_files.h"
#include "phi_hash.h"
#include "phi_rows.h"

#include <time.h>

enum { SESSIONS_INDEX_BYTES = 16 << 20, SESSIONS_SHOWN = 30 };

/* Zero to begin with. */
typedef struct sessions {
    text directory; /* of the working directory's sessions; empty: nothing is kept */
    text path;      /* this conversation's file */
    bool listed;    /* it is in the index */
} sessions;

/* False: there is no place for the conversations of that directory. */
static inline bool sessions_open_in(sessions *s, const char *here) {
    char hash[65], name[61];
    size_t n = sizeof name - 1;
    hash_text(phi_str_of(here), hash);
    (void)snprintf(name, sizeof name, "%s", places_name(here));
    if (strlen(name) == n) /* it may be cut inside a character */
        while (n > 0 && ((unsigned char)name[n - 1] & 0x80) != 0) name[--n] = '\0';
    if (!places_state(&s->directory, name, hash)) s->directory.len = 0;
    return s->directory.len > 0;
}

/* The same for the working directory. */
static inline bool sessions_open(sessions *s) {
    char here[PLACES_PATH];
    return places_here(here, sizeof here) && sessions_open_in(s, here);
}

/* A new conversation, whose name sorts after those before it. */
static inline void sessions_new(sessions *s) {
    time_t now = time(NULL);
    const struct tm *t = localtime(&now);
    char stamp[40] = "";
    if (t != NULL) (void)strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", t);
    s->path.len = 0;
    text_print(&s->path, "%s/%s-%lu.jsonl", s->directory.at, stamp, places_process());
}

/* Puts the conversation into the index, by its first words, when they are sent. */
static inline void sessions_note(sessions *s, const char *words) {
    text line = {NULL, 0, 0}, path = {NULL, 0, 0};
    const char *name = s->path.len > 0 ? strrchr(s->path.at, '/') + 1 : "";
    if (s->listed || name[0] == '\0') return;
    s->listed = true;
    text_print(&line, "%s\t", name);
    text_fit(&line, phi_str_of(words), 80); /* one row, without control characters */
    text_say(&line, "\n");
    text_print(&path, "%s/index", s->directory.at);
    (void)places_append(path.at, &line);
    free(line.at);
    free(path.at);
}

/* Reads the index. Each line: a file's name, a tab, the first words. */
static inline void sessions_index(const sessions *s, text *out) {
    text path = {NULL, 0, 0};
    if (s->directory.len == 0) return;
    text_print(&path, "%s/index", s->directory.at);
    if (!places_read(path.at, true, SESSIONS_INDEX_BYTES, out)) out->len = 0;
    free(path.at);
}

/* The newest conversation of the index. False: there is none. */
static inline bool sessions_newest(sessions *s) {
    text all = {NULL, 0, 0};
    size_t from, tab;
    FILE *file = NULL;
    sessions_index(s, &all);
    while (file == NULL && all.len > 0) {
        from = --all.len; /* the line break */
        while (from > 0 && all.at[from - 1] != '\n') from--;
        for (tab = from; tab < all.len && all.at[tab] != '\t';) tab++;
        s->path.len = 0;
        text_print(&s->path, "%s/%.*s", s->directory.at, (int)(tab - from), all.at + from);
        file = places_open(s->path.at);
        all.len = from;
    }
    if (file != NULL) (void)fclose(file);
    free(all.at);
    s->listed = file != NULL;
    if (!s->listed) s->path.len = 0;
    return s->listed;
}

/* The newest conversations, oldest first, in lines: when each began, and its first words. */
static inline void sessions_list(const sessions *s, text *out) {
    text all = {NULL, 0, 0};
    size_t from, at, n = 0;
    sessions_index(s, &all);
    for (from = all.len; from > 0 && n < SESSIONS_SHOWN; n++)
        for (from--; from > 0 && all.at[from - 1] != '\n';) from--;
    for (at = from; at < all.len; at++)
        text_add(out, all.at[at] == '\t' ? "  " : all.at + at, all.at[at] == '\t' ? 2 : 1);
    if (out->len == 0) text_say(out, "no conversation was kept here\n");
    free(all.at);
}

static inline void sessions_free(sessions *s) {
    free(s->directory.at);
    free(s->path.at);
}

#endif
