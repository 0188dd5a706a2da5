/* phi_sessions.h - conversations that the command keeps by itself: a file each, and an index for each directory in which
   the command was started. Copy what you need of it. */
#ifndef PHI_SESSIONS_H
#define PHI_SESSIONS_H

#include "phi_files.h"
#include "phi_hash.h"
#include "phi_rows.h"

#include <ctype.h>
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

/* Reads the index. Each line: a file's name, a tab, the first words. */
static inline void sessions_index(const sessions *s, text *out) {
    text path = {NULL, 0, 0};
    if (s->directory.len == 0) return;
    text_print(&path, "%s/index", s->directory.at);
    if (!places_read(path.at, true, SESSIONS_INDEX_BYTES, out)) out->len = 0;
    free(path.at);
}

/* Where the last line begins of those before `end`, which is after a line break. */
static inline size_t sessions_line(const text *all, size_t end) {
    if (end > 0) end--; /* the line break */
    while (end > 0 && all->at[end - 1] != '\n') end--;
    return end;
}

/* The file's name in a line of the index. */
static inline phi_str sessions_name(const text *all, size_t line) {
    phi_str name = {all->at + line, 0};
    while (line + name.len < all->len && strchr("\t\n", name.at[name.len]) == NULL) name.len++;
    return name;
}

/* A prompt is sent: the conversation's line, with its first words, goes to the end of the index, if another one is there.
   A conversation that is used again has more than one line, of which the first has the words. */
static inline void sessions_note(sessions *s, const char *words) {
    text line = {NULL, 0, 0}, path = {NULL, 0, 0}, all = {NULL, 0, 0};
    const char *name = s->path.len > 0 ? strrchr(s->path.at, '/') + 1 : "";
    sessions_index(s, &all);
    if (name[0] != '\0' && (!s->listed || all.len == 0 ||
                            !phi_str_is(sessions_name(&all, sessions_line(&all, all.len)), name))) {
        text_print(&line, "%s\t", name);
        if (!s->listed)
            text_fit(&line, phi_str_of(words), 80); /* one row, without control characters */
        text_say(&line, "\n");
        text_print(&path, "%s/index", s->directory.at);
        (void)places_append(path.at, &line);
        s->listed = true;
    }
    free(line.at);
    free(path.at);
    free(all.at);
}

/* The conversation of the index that was used last. False: there is none. */
static inline bool sessions_newest(sessions *s) {
    text all = {NULL, 0, 0};
    FILE *file = NULL;
    sessions_index(s, &all);
    while (file == NULL && all.len > 0) {
        size_t from = sessions_line(&all, all.len);
        phi_str name = sessions_name(&all, from);
        s->path.len = 0;
        text_print(&s->path, "%s/%.*s", s->directory.at, PHI_ARG(name));
        file = name.len > 0 ? places_open(s->path.at) : NULL;
        all.len = from;
    }
    if (file != NULL) (void)fclose(file);
    free(all.at);
    s->listed = file != NULL;
    if (!s->listed) s->path.len = 0;
    return s->listed;
}

/* The newest line of each of the conversations that were used last, the last one first. Returns their number. */
static inline size_t sessions_used(const text *all, size_t *lines, size_t most) {
    size_t end, n = 0, i;
    for (end = all->len; end > 0 && n < most; end = sessions_line(all, end)) {
        size_t from = sessions_line(all, end);
        phi_str name = sessions_name(all, from);
        for (i = 0; i < n && !phi_str_equal(name, sessions_name(all, lines[i])); i++) {}
        if (i == n) lines[n++] = from;
    }
    return n;
}

/* The first words of a conversation, from the first of its lines. */
static inline phi_str sessions_words(const text *all, phi_str name) {
    phi_str words = PHI_ZERO;
    size_t i;
    for (i = 0; i < all->len && words.at == NULL; i++) {
        bool begins = i == 0 || all->at[i - 1] == '\n';
        if (begins && phi_str_equal(name, sessions_name(all, i))) words.at = all->at + i + name.len;
    }
    if (words.at == NULL) return phi_str_of("");
    if (*words.at == '\t') words.at++;
    while (words.at + words.len < all->at + all->len && words.at[words.len] != '\n') words.len++;
    return words;
}

/* The conversation of the index with that name, also without its ".jsonl". False: there is none. */
static inline bool sessions_find(sessions *s, const char *wanted) {
    text all = {NULL, 0, 0}, file = {NULL, 0, 0};
    size_t n = strlen(wanted), end;
    text_print(&file, "%s%s", wanted,
               n > 6 && strcmp(wanted + n - 6, ".jsonl") == 0 ? "" : ".jsonl");
    sessions_index(s, &all);
    for (end = all.len; end > 0 && !s->listed; end = sessions_line(&all, end))
        s->listed = phi_str_equal(sessions_name(&all, sessions_line(&all, end)), text_str(&file));
    if (s->listed) text_print(&s->path, "%s/%s", s->directory.at, file.at);
    free(all.at);
    free(file.at);
    return s->listed;
}

/* Adds "2026-11-28 20:52  " of a name that begins with that time, and the name without its ".jsonl". */
static inline void sessions_when(text *out, phi_str name) {
    static const char form[] = "dddd-dd-dd dd:dd  ";
    size_t i, n = 0;
    for (i = 0; n < 8 + 1 + 6 && n < name.len && (n == 8 || isdigit((unsigned char)name.at[n]));
         n++) {}
    for (i = 0, n = n == 15 ? 0 : name.len; n < name.len && form[i] != '\0'; i++) {
        if (n == 8) n++;
        text_add(out, form[i] == 'd' ? name.at + n++ : form + i, 1);
    }
    if (name.len > 6 && memcmp(name.at + name.len - 6, ".jsonl", 6) == 0) name.len -= 6;
    text_add(out, name.at, name.len);
}

/* The conversations that were used last, the last one at the end, in lines: when each began, its name, and its first
   words. "*" marks the one that --continue takes. */
static inline void sessions_list(const sessions *s, text *out) {
    text all = {NULL, 0, 0};
    sessions last = {s->directory, {NULL, 0, 0}, false};
    const char *newest = sessions_newest(&last) ? strrchr(last.path.at, '/') + 1 : "";
    size_t lines[SESSIONS_SHOWN], n;
    sessions_index(s, &all);
    for (n = sessions_used(&all, lines, SESSIONS_SHOWN); n > 0; n--) {
        phi_str name = sessions_name(&all, lines[n - 1]), words = sessions_words(&all, name);
        text_say(out, phi_str_is(name, newest) ? "* " : "  ");
        sessions_when(out, name);
        text_print(out, "  %.*s\n", PHI_ARG(words));
    }
    if (out->len == 0) text_say(out, "no conversation was kept here\n");
    free(all.at);
    free(last.path.at);
}

static inline void sessions_free(sessions *s) {
    free(s->directory.at);
    free(s->path.at);
}

#endif
