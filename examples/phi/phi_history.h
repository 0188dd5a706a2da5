/* phi_history.h - the lines that were typed in a directory, kept from one run of the command to the next. Copy what you
   need of it.

   A line is added to the end of a file in one write, so two runs at once lose nothing. When the file has become large it
   gets another name, and the next line begins a new one: at most two such files are there. */
#ifndef PHI_HISTORY_H
#define PHI_HISTORY_H

#include "phi_folder.h"
#include "phi_line.h"

enum {
    HISTORY_FILE_BYTES = 128 << 10, /* of each of the two files */
    HISTORY_LINE_BYTES = 8 << 10    /* a longer line is not kept */
};

/* Adds a line; a line break in it is "\n", a backslash is doubled. */
static inline void history_write(text *out, const char *line) {
    for (; *line != '\0'; line++)
        if (*line == '\n' || *line == '\\')
            text_say(out, *line == '\n' ? "\\n" : "\\\\");
        else
            text_add(out, line, 1);
    text_say(out, "\n");
}

/* Puts the lines of a file into the line's history, cleaned. */
static inline void history_read(line_editor *l, const char *path) {
    text all = {NULL, 0, 0}, line = {NULL, 0, 0};
    size_t i;
    if (!places_read(path, true, 2 * HISTORY_FILE_BYTES, &all)) all.len = 0;
    for (i = 0; i < all.len; i++) {
        bool escaped = all.at[i] == '\\' && i + 1 < all.len && all.at[i + 1] != '\n';
        if (escaped) i++;
        if (all.at[i] == '\n') { /* without it the line is cut off */
            text clean = {NULL, 0, 0}, held = {NULL, 0, 0};
            text_clean(&clean, &held, text_str(&line));
            if (clean.len > 0) line_remember(l, clean.at);
            free(clean.at);
            free(held.at);
            line.len = 0;
        } else
            text_add(&line, escaped && all.at[i] == 'n' ? "\n" : all.at + i, 1);
    }
    free(all.at);
    free(line.at);
}

/* Reads the lines that are kept in the directory. */
static inline void history_open(line_editor *l, const char *directory) {
    static const char *const names[] = {"history.old", "history"};
    size_t i;
    for (i = 0; i < 2; i++) {
        text path = {NULL, 0, 0};
        text_print(&path, "%s/%s", directory, names[i]);
        history_read(l, path.at);
        free(path.at);
    }
}

/* Keeps a line; one that begins with a blank is not kept. */
static inline void history_add(const char *directory, const char *line) {
    text path = {NULL, 0, 0}, old = {NULL, 0, 0}, words = {NULL, 0, 0};
    if (line[0] == ' ' || line[0] == '\0' || strlen(line) > HISTORY_LINE_BYTES) return;
    text_print(&path, "%s/history", directory);
    text_print(&old, "%s.old", path.at);
    history_write(&words, line);
    if (folder_size(path.at) >= HISTORY_FILE_BYTES) (void)folder_rename(path.at, old.at);
    (void)places_append(path.at, &words);
    free(path.at);
    free(old.at);
    free(words.at);
}

#endif
