/* phi_change.h - what a call of edit_file or write_file would change, in lines. Copy what you need of it. */
#ifndef PHI_CHANGE_H
#define PHI_CHANGE_H

#include "phi_tools.h"

#include "phi_text.h"

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

/* What a change of a file would do: the path, and lines after "-" and "+". False: the call is another one, or says more
   than that. */
static inline bool change_shown(text *out, const phi_pending_item *item, phi_arena *arena) {
    phi_json *json, *path, *before, *after;
    bool edits = phi_str_is(item->tool_name, "edit_file");
    if (item->source.len > 0 || (!edits && !phi_str_is(item->tool_name, "write_file")) ||
        phi_json_parse(arena, item->arguments, PHI_JSON_REPLACE_BAD_UTF8, &json, NULL) != PHI_OK)
        return false;
    path = phi_json_get(json, "path");
    before = phi_json_get(json, "old_text");
    after = phi_json_get(json, edits ? "new_text" : "content");
    if (!phi_json_is(path, PHI_JSON_STRING) || !phi_json_is(after, PHI_JSON_STRING) ||
        phi_json_count(json) != (edits ? 3 : 2) || (edits && !phi_json_is(before, PHI_JSON_STRING)))
        return false;
    text_strict(out, phi_json_str(path, ""));
    if (edits) change_lines(out, "\n- ", phi_json_str(before, ""));
    change_lines(out, "\n+ ", phi_json_str(after, ""));
    return true;
}

#endif
