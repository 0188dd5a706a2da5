/* phi_change.h - what a call of edit_file or write_file would change, in lines. Copy what you need of it. */
#ifndef PHI_CHANGE_H
#define PHI_CHANGE_H

#include "phi_tools.h"

#include "phi_diff.h"
#include "phi_places.h"

enum {
    CHANGE_BYTES = 1 << 20,   /* of a file that is read */
    CHANGE_COMPARED = 1 << 30 /* at most, to find what is replaced: some tenths of a second */
};

typedef struct change_call {
    phi_str tool, source, arguments;
    bool reads; /* the tools work in the current directory: the file is read */
} change_call;

/* Adds each line of a text after a mark. */
static inline void change_lines(text *out, const char *mark, phi_str words) {
    size_t from = 0;
    while (from < words.len) {
        const char *end = (const char *)memchr(words.at + from, '\n', words.len - from);
        phi_str line = {words.at + from,
                        end != NULL ? (size_t)(end - words.at) - from : words.len - from};
        text_say(out, mark);
        text_strict(out, line);
        from += line.len + 1;
    }
}

/* Where the words are in the file, if they are there once; SIZE_MAX: they are not, or it would take too long to look. */
static inline size_t change_find(const text *file, phi_str words) {
    size_t i, found = SIZE_MAX, n = words.len, left = CHANGE_COMPARED;
    if (n == 0 || n > file->len) return SIZE_MAX;
    for (i = 0; i + n <= file->len; i++) {
        const char *at = file->at + i;
        if (at[0] != words.at[0] || at[n - 1] != words.at[n - 1]) continue;
        if (left < n) return SIZE_MAX;
        left -= n;
        if (memcmp(at, words.at, n) != 0) continue;
        if (found != SIZE_MAX) return SIZE_MAX;
        found = i;
    }
    return found;
}

/* Adds the lines that the call would change, with their numbers, by the file as it is now. before NULL: all of it is
   replaced. False, and nothing is added: the file is none, or too large, or does not have the words. */
static inline bool change_diff(text *out, phi_str name, const phi_str *before, phi_str after) {
    text file = {NULL, 0, 0}, now = {NULL, 0, 0}, path = {NULL, 0, 0};
    size_t length = out->len, at = 0;
    bool good = name.len > 0 && memchr(name.at, 0, name.len) == NULL &&
                text_add(&path, name.at, name.len) &&
                places_read(path.at, false, CHANGE_BYTES, &file) && file.len <= CHANGE_BYTES &&
                (file.len == 0 || memchr(file.at, 0, file.len) == NULL);
    if (good && before != NULL) {
        at = change_find(&file, *before);
        good = at != SIZE_MAX;
        if (good) {
            text_add(&now, file.at, at);
            text_add(&now, after.at, after.len);
            text_add(&now, file.at + at + before->len, file.len - at - before->len);
            after = text_str(&now);
        }
    }
    good = good && diff_add(out, text_str(&file), after);
    if (good && out->len == length) text_say(out, "\n(no change)");
    free(file.at);
    free(now.at);
    free(path.at);
    return good;
}

/* True if the call is one of edit_file or write_file, of the program's own, and says no more than a change of a file. */
static inline bool change_is(phi_str tool, phi_str source, const phi_json *json) {
    bool edits = phi_str_is(tool, "edit_file");
    return source.len == 0 && (edits || phi_str_is(tool, "write_file")) &&
           phi_json_count(json) == (edits ? 3 : 2) &&
           phi_json_is(phi_json_get(json, "path"), PHI_JSON_STRING) &&
           phi_json_is(phi_json_get(json, edits ? "new_text" : "content"), PHI_JSON_STRING) &&
           (!edits || phi_json_is(phi_json_get(json, "old_text"), PHI_JSON_STRING));
}

/* What a change of a file would do: the path, and lines after "-" and "+". False: the call is another one, or says more
   than that. */
static inline bool change_shown(text *out, const change_call *call, phi_arena *arena) {
    phi_json *json;
    phi_str old, name, after;
    bool edits = phi_str_is(call->tool, "edit_file");
    if (phi_json_parse(arena, call->arguments, PHI_JSON_REPLACE_BAD_UTF8, &json, NULL) != PHI_OK ||
        !change_is(call->tool, call->source, json))
        return false;
    name = phi_json_str(phi_json_get(json, "path"), "");
    old = phi_json_str(phi_json_get(json, "old_text"), "");
    after = phi_json_str(phi_json_get(json, edits ? "new_text" : "content"), "");
    text_strict(out, name);
    if (call->reads && change_diff(out, name, edits ? &old : NULL, after)) return true;
    if (edits) change_lines(out, "\n- ", old);
    change_lines(out, "\n+ ", after);
    return true;
}

/* The mark of a line of change_shown: '-', '+', or a blank. */
static inline char change_mark(const char *at, size_t n) {
    size_t i = 0;
    while (i < n && (at[i] == ' ' || (at[i] >= '0' && at[i] <= '9'))) i++;
    return i + 1 < n && (at[i] == '-' || at[i] == '+') && at[i + 1] == ' ' ? at[i] : ' ';
}

#endif
