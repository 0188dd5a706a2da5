/* phi_complete.h - what the beginning of a word may become: names of a directory, and where none begins so, names of files
   anywhere below it. Copy what you need of it.

   A directory may be huge, or slow: names are read in slices of a few milliseconds, so that a key is never waited for, and
   COMPLETE_NAMES of them at most. Names that begin with "." are left out unless the word does, ".git" always, and names
   that a terminal may not show. Links to directories are not entered below. */
#ifndef PHI_COMPLETE_H
#define PHI_COMPLETE_H

#include "phi_folder.h"
#include "phi_keys.h"
#include "phi_line.h"
#include "phi_menu.h"
#include "phi_words.h"

enum { COMPLETE_NAMES = 50000, COMPLETE_SLICE_MS = 5, COMPLETE_QUEUE_BYTES = 1 << 20 };

/* Zero to begin with. */
typedef struct complete {
    bool active;  /* names are still to be read */
    bool below;   /* ... anywhere below the directory */
    size_t from;  /* the word in the line; what is replaced begins there */
    text word;    /* without escapes */
    size_t place; /* how much of the word is directories */
    text queue;   /* directories that are still to be read, each with a NUL at its end */
    size_t next;  /* ... the first of them */
    text in;      /* the directory that is read, "" or with a slash at its end */
    folder folder;
    size_t read;           /* names so far */
    text found[MENU_MOST]; /* the first ones by the alphabet */
    size_t count;          /* all that were found */
    text common;           /* how all of them begin */
} complete;

static inline void complete_stop(complete *c) {
    folder_close(&c->folder);
    c->active = false;
}

/* Begins with no names found, for the word that begins at `from`. */
static inline void complete_begin(complete *c, size_t from) {
    complete_stop(c);
    c->from = from;
    c->word.len = c->queue.len = c->in.len = c->common.len = 0;
    text_say(&c->word, "");
    text_say(&c->common, "");
    c->place = c->next = c->read = c->count = 0;
    c->below = false;
}

static inline void complete_found(complete *c, const char *name) {
    size_t i, n, same = 0, last;
    text entry = {NULL, 0, 0};
    text_say(&entry, name);
    if (entry.at == NULL) return;
    while (c->count > 0 && same < c->common.len && c->common.at[same] == name[same]) same++;
    while (same > 0 && ((unsigned char)name[same] & 0xC0) == 0x80) same--;
    if (c->count == 0) text_say(&c->common, name);
    if (c->count > 0) text_remove(&c->common, same, c->common.len - same);
    n = c->count < MENU_MOST ? c->count : MENU_MOST;
    for (i = 0; i < n && strcmp(c->found[i].at, name) < 0; i++) {}
    c->count++;
    last = n < MENU_MOST ? n : MENU_MOST - 1;
    free(i < MENU_MOST ? c->found[last].at : entry.at);
    if (i == MENU_MOST) return;
    memmove(c->found + i + 1, c->found + i, (last - i) * sizeof *c->found);
    c->found[i] = entry;
}

/* Begins with the word before the cursor, if it begins with '@'. */
static inline bool complete_file(complete *c, const line_editor *l) {
    words_word w = PHI_ZERO;
    size_t slash;
    while (w.to < l->cursor && l->text.at != NULL && words_next(l->text.at, &w)) {}
    if (w.to < l->cursor || w.from >= l->cursor || !w.at || w.quote != '\0') return false;
    complete_begin(c, w.from + 1);
    w.to = l->cursor;
    words_plain(l->text.at, &w, true, &c->word);
    for (slash = 0; slash < c->word.len; slash++)
        if (c->word.at[slash] == '/') c->place = slash + 1;
    text_add(&c->queue, c->word.at, c->place);
    text_add(&c->queue, "", 1);
    return c->active = true;
}

/* ---- names ---- */

static inline bool complete_shows(const char *name, const char *begins) {
    size_t i, n, len = strlen(name);
    uint32_t c;
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strcmp(name, ".git") == 0)
        return false;
    if (name[0] == '.' && begins[0] != '.') return false;
    for (i = 0; i < len; i += n) {
        n = text_decode(name + i, len - i, &c);
        if (n == 0 || c == 0xFFFD || c == '\n' || text_hidden(c)) return false;
    }
    return len > 0;
}

/* Opens the next directory. False: there is none. */
static inline bool complete_open(complete *c) {
    text path = {NULL, 0, 0};
    bool home;
    if (c->next >= c->queue.len) return false;
    c->in.len = 0;
    text_say(&c->in, c->queue.at + c->next);
    c->next += c->in.len + 1;
    home = strncmp(c->in.at, "~/", 2) == 0 && places_home() != NULL;
    text_print(&path, "%s%s", home ? places_home() : "", c->in.at + (home ? 1 : 0));
    (void)folder_open(&c->folder, path.at); /* one that cannot be read has no names */
    free(path.at);
    return true;
}

static inline void complete_name(complete *c, const char *name, bool is_directory) {
    const char *begins = c->word.at + c->place;
    bool fits = strncmp(name, begins, strlen(begins)) == 0;
    text path = {NULL, 0, 0};
    if (!complete_shows(name, begins)) return;
    text_print(&path, "%s%s%s", c->in.at, name, is_directory ? "/" : "");
    if (path.at != NULL && fits && (!c->below || !is_directory)) complete_found(c, path.at);
    if (path.at != NULL && c->below && is_directory && c->queue.len < COMPLETE_QUEUE_BYTES)
        text_add(&c->queue, path.at, path.len + 1);
    free(path.at);
}

/* Reads names for a while. True: all have been read now, and the word may change. */
static inline bool complete_step(complete *c) {
    uint64_t end = keys_now_ms() + COMPLETE_SLICE_MS;
    text name = {NULL, 0, 0};
    bool is_directory, more = true;
    while (c->active && more && keys_now_ms() < end) {
        if (c->read < COMPLETE_NAMES && folder_next(&c->folder, !c->below, &name, &is_directory)) {
            c->read++;
            complete_name(c, name.at, is_directory);
        } else if (c->read < COMPLETE_NAMES && complete_open(c)) {
            ;
        } else if (c->count == 0 && !c->below && c->place == 0 && c->word.len > 0) {
            c->below = true; /* no name of this directory begins so */
            c->queue.len = c->next = c->read = 0;
            text_add(&c->queue, "", 1);
        } else
            more = false;
    }
    free(name.at);
    if (c->active && !more) return complete_stop(c), true;
    return false;
}

/* ---- the end ---- */

/* Puts what is known of the word into the line, and shows the names in the menu, where there are several. */
static inline void complete_end(complete *c, line_editor *l, menu *shown) {
    const text *with = c->count == 1 ? &c->found[0] : &c->common;
    text escaped = {NULL, 0, 0}, row = {NULL, 0, 0};
    bool starts = with->len >= c->word.len && c->count > 0 &&
                  (c->count == 1 || memcmp(with->at, c->word.at, c->word.len) == 0);
    size_t i;
    for (i = 0; starts && i < with->len; i++) {
        if (with->at[i] == ' ') text_say(&escaped, "\\");
        text_add(&escaped, with->at + i, 1);
    }
    if (starts && c->count == 1 && with->at[with->len - 1] != '/') text_say(&escaped, " ");
    if (starts && l->cursor >= c->from) {
        line_cut(l, c->from, l->cursor);
        if (text_insert(&l->text, l->cursor, escaped.at, escaped.len)) l->cursor += escaped.len;
    }
    menu_clear(shown);
    for (i = 0; c->count > 1 && i < c->count && i < MENU_MOST; i++)
        menu_add(shown, text_str(&c->found[i]));
    if (c->count == 0) text_say(&row, "(nothing begins like this)");
    if (c->count > MENU_MOST) text_print(&row, "(and %u more)", (unsigned)(c->count - MENU_MOST));
    if (c->read >= COMPLETE_NAMES) {
        row.len = 0;
        text_print(&row, "(only the first %d names were read)", COMPLETE_NAMES);
    }
    if (row.len > 0) menu_add(shown, text_str(&row));
    free(escaped.at);
    free(row.at);
}

static inline void complete_free(complete *c) {
    size_t i;
    complete_stop(c);
    for (i = 0; i < MENU_MOST; i++) free(c->found[i].at);
    free(c->word.at);
    free(c->queue.at);
    free(c->in.at);
    free(c->common.at);
}

#endif
