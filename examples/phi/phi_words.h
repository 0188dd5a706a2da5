/* phi_words.h - the words of a line that may name files: with quotes, with escaped blanks, as a file:// address, as a
   terminal writes a path that is dragged into it. Copy what you need of it. */
#ifndef PHI_WORDS_H
#define PHI_WORDS_H

#include "phi_places.h"

typedef struct words_word {
    size_t from, to; /* in the line; `to`: after it */
    bool at;         /* it begins with '@' */
    char quote;      /* or 0 */
} words_word;

/* The next word from w->to on. False: there is none. A quote that is not closed is a letter. */
static inline bool words_next(const char *line, words_word *w) {
    size_t i = w->to + strspn(line + w->to, " \t\n"), body;
    const char *end;
    w->from = i;
    if (line[i] == '\0') return false;
    w->at = line[i] == '@';
    body = i + (w->at ? 1 : 0);
    w->quote = line[body] == '"' || line[body] == '\'' ? line[body] : '\0';
    end = w->quote != '\0' ? strchr(line + body + 1, w->quote) : NULL;
    if (end != NULL) {
        w->to = (size_t)(end - line) + 1;
        return true;
    }
    w->quote = '\0';
    for (i = body; line[i] != '\0' && strchr(" \t\n", line[i]) == NULL; i++)
        if (line[i] == '\\' && line[i + 1] == ' ') i++;
    w->to = i;
    return true;
}

static inline int words_hex(char c) {
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    const char *at = c != '\0' ? strchr(digits, c) : NULL;
    return at != NULL ? (int)(at - digits) % 16 : -1;
}

/* A file:// address of this machine as a path. False: it is none. */
static inline bool words_address(const char *word, text *path) {
    static const char *const begins[] = {"file://localhost/", "file:///"};
    size_t i, n;
    for (i = 0; i < 2; i++)
        if (strncmp(word, begins[i], n = strlen(begins[i])) == 0) break;
    if (i == 2) return false;
    word += n - (word[n] != '\0' && word[n + 1] == ':' ? 0 : 1); /* file:///C:/a is C:/a */
    path->len = 0;
    for (; *word != '\0'; word++) {
        int high = word[0] == '%' ? words_hex(word[1]) : -1;
        int low = high >= 0 ? words_hex(word[2]) : -1;
        char c = low >= 0 ? (char)(16 * high + low) : *word;
        if (c == '\0') return false;
        text_add(path, &c, 1);
        if (low >= 0) word += 2;
    }
    return true;
}

/* True if a word without '@' may be meant as a path: it says from where it leads. */
static inline bool words_leads(const char *word) {
    bool drive = word[0] != '\0' && word[1] == ':' && (word[2] == '\\' || word[2] == '/');
    return word[0] == '/' || drive || strncmp(word, "~/", 2) == 0 || strncmp(word, "./", 2) == 0 ||
           strncmp(word, "../", 3) == 0 || strncmp(word, "file://", 7) == 0;
}

/* The word without '@' and quotes; with `escaped`: without backslashes before blanks and the like. */
static inline void words_plain(const char *line, const words_word *w, bool escaped, text *out) {
    size_t i = w->from + (w->at ? 1 : 0) + (w->quote != '\0' ? 1 : 0);
    size_t end = w->to - (w->quote != '\0' ? 1 : 0);
    out->len = 0;
    text_say(out, "");
    for (; i < end; i++) {
        bool skips = escaped && w->quote == '\0' && line[i] == '\\' && i + 1 < end &&
                     strchr(" '\"()&\\[]", line[i + 1]) != NULL;
        text_add(out, line + i + (skips ? 1 : 0), 1);
        if (skips) i++;
    }
}

static inline bool words_is_file(text *path) {
    text whole = {NULL, 0, 0};
    bool is;
    if (path->len > 7 && words_address(path->at, &whole)) {
        path->len = 0;
        text_add(path, whole.at, whole.len);
    } else if (path->len > 2 && strncmp(path->at, "~/", 2) == 0 && places_home() != NULL) {
        text_print(&whole, "%s%s", places_home(), path->at + 1);
        path->len = 0;
        text_add(path, whole.at, whole.len);
    }
    is = path->len > 0 && places_is_file(path->at, false);
    free(whole.at);
    return is;
}

/* The file that the word names, if there is one: as it is, without escapes, or without what ends a sentence. */
static inline bool words_file(const char *line, const words_word *w, text *path) {
    int escaped;
    words_plain(line, w, false, path);
    if (path->len == 0 || (!w->at && !words_leads(path->at))) return false;
    for (escaped = 0; escaped < 2; escaped++) {
        words_plain(line, w, escaped == 1, path);
        if (words_is_file(path)) return true;
        while (w->quote == '\0' && path->len > 1 && strchr(",.;:?!)", path->at[path->len - 1])) {
            text_remove(path, path->len - 1, 1);
            if (words_is_file(path)) return true;
        }
    }
    return false;
}

#endif
