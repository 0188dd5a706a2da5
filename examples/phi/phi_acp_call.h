/* phi_acp_call.h - tool calls as the editor shows them: a title, a kind, the files, what changes in them. */
#ifndef PHI_ACP_CALL_H
#define PHI_ACP_CALL_H

#include "phi_acp_session.h"

enum { ACP_TITLE = 200, ACP_OLD_BYTES = 1 << 20 };

static inline const char *acp_kind(phi_str tool, phi_str source) {
    static const char *const kinds[][2] = {{"bash", "execute"},      {"read_file", "read"},
                                           {"write_file", "edit"},   {"edit_file", "edit"},
                                           {"list_files", "search"}, {"search", "search"},
                                           {"read_skill", "read"},   {"todo_write", "think"}};
    size_t i;
    for (i = 0; i < sizeof kinds / sizeof *kinds && source.len == 0; i++)
        if (phi_str_is(tool, kinds[i][0])) return kinds[i][1];
    return "other";
}

/* The path of a call's file, which is absolute afterwards; empty: it has none. */
static inline phi_str acp_path(acp_wire *w, const acp_session *s, const phi_json *arguments) {
    phi_str path = phi_json_str(phi_json_get(arguments, "path"), ""), whole = PHI_ZERO;
    text words = {NULL, 0, 0};
    if (path.len == 0 || strlen(path.at) != path.len) return whole;
    if (!places_is_absolute(path.at)) text_print(&words, "%s/", s->a.place.at);
    text_add(&words, path.at, path.len);
    whole = phi_json_str(phi_json_new_str(&w->arena, text_str(&words)), "");
    free(words.at);
    return whole;
}

/* What a call of edit_file or write_file changes, or NULL. past: the call is over, and what was in the file is not known. */
static inline phi_json *acp_diff(acp_wire *w, phi_str tool, phi_str source, phi_str path,
                                 const phi_json *args, bool past) {
    bool edits = phi_str_is(tool, "edit_file");
    const phi_json *after = phi_json_get(args, edits ? "new_text" : "content");
    text old = {NULL, 0, 0};
    phi_json *diff = NULL;
    bool good = path.len > 0 && change_is(tool, source, args);
    bool is_new = good && !edits && (past || !places_is_file(path.at, false));
    if (good && edits) {
        phi_str before = phi_json_str(phi_json_get(args, "old_text"), "");
        text_add(&old, before.at, before.len);
    } else if (good && !is_new)
        good = places_read(path.at, false, ACP_OLD_BYTES, &old) && attach_is_text(&old);
    if (good && (diff = acp_object(w)) != NULL) {
        acp_say(w, diff, "type", "diff");
        acp_str(w, diff, "path", path);
        if (!is_new) acp_str(w, diff, "oldText", text_str(&old));
        acp_str(w, diff, "newText", phi_json_str(after, ""));
    }
    free(old.at);
    return diff;
}

static inline void acp_text(acp_wire *w, phi_json *content, phi_str words) {
    phi_json *block = acp_add(w, content), *inner = acp_in(w, block, "content", false);
    acp_say(w, block, "type", "content");
    acp_say(w, inner, "type", "text");
    acp_str(w, inner, "text", words);
}

/* Fills an object with the facts about a call before it runs: for a tool_call, and for a question. Returns its diff. */
static inline phi_json *acp_describe(acp_wire *w, const acp_session *s, phi_json *to, phi_str tool,
                                     phi_str source, phi_str arguments, bool nested) {
    phi_json *json = NULL, *diff, *place;
    phi_str path, about = calls_argument(&w->arena, arguments);
    const char *kind = acp_kind(tool, source);
    text title = {NULL, 0, 0};
    if (phi_json_parse(&w->arena, arguments, PHI_JSON_REPLACE_BAD_UTF8, &json, NULL) != PHI_OK)
        json = NULL;
    path = acp_path(w, s, json);
    if (nested) text_say(&title, "A sub-agent: ");
    if (strcmp(kind, "execute") != 0) {
        text_fit(&title, tool, 64);
        text_say(&title, source.len > 0 ? " of " : "");
        text_fit(&title, source, 64);
        text_say(&title, " ");
    }
    text_fit(&title, about, ACP_TITLE);
    acp_str(w, to, "title", text_str(&title));
    acp_say(w, to, "kind", kind);
    free(title.at);
    diff = acp_diff(w, tool, source, path, json, s->state == ACP_REPLAYING);
    if (path.len > 0) {
        place = acp_add(w, acp_in(w, to, "locations", true));
        acp_str(w, place, "path", path);
    }
    if (diff != NULL) (void)phi_json_add(acp_in(w, to, "content", true), diff);
    if (phi_json_is(json, PHI_JSON_OBJECT))
        acp_put(w, to, "rawInput", phi_json_copy(&w->arena, json));
    return diff;
}

/* ---- calls that have not ended ---- */

static inline acp_open **acp_open_find(acp_session *s, phi_str id) {
    acp_open **at = &s->calls;
    while (*at != NULL && !phi_str_equal(text_str(&(*at)->id), id)) at = &(*at)->next;
    return at;
}

static inline void acp_open_add(acp_session *s, phi_str id, phi_str diff) {
    acp_open *call = *acp_open_find(s, id);
    if (call == NULL && (call = (acp_open *)calloc(1, sizeof *call)) != NULL) {
        call->next = s->calls;
        s->calls = call;
    }
    if (call == NULL) return;
    acp_keep(&call->id, id);
    acp_keep(&call->diff, diff);
}

static inline void acp_open_end(acp_session *s, phi_str id) {
    acp_open **at = acp_open_find(s, id), *call = *at;
    if (call == NULL) return;
    *at = call->next;
    free(call->id.at), free(call->diff.at);
    free(call);
}

/* ---- updates ---- */

static inline phi_json *acp_update(acp_wire *w, const char *kind) {
    phi_json *update = acp_object(w);
    acp_say(w, update, "sessionUpdate", kind);
    return update;
}

static inline void acp_show(acp_wire *w, const acp_session *s, phi_json *update) {
    phi_json *params = acp_object(w);
    acp_str(w, params, "sessionId", text_str(&s->id));
    acp_put(w, params, "update", update);
    (void)acp_call(w, "session/update", params, NULL);
}

/* A call that the model wants. */
static inline void acp_call_wanted(acp_wire *w, acp_session *s, phi_str id, phi_str tool,
                                   phi_str source, phi_str arguments, bool nested) {
    phi_json *update = acp_update(w, "tool_call"), *diff;
    acp_str(w, update, "toolCallId", id);
    acp_say(w, update, "status", "pending");
    diff = acp_describe(w, s, update, tool, source, arguments, nested);
    acp_open_add(s, id, diff != NULL ? acp_json(w, diff) : phi_str_of(""));
    acp_show(w, s, update);
}

static inline void acp_call_runs(acp_wire *w, const acp_session *s, phi_str id) {
    phi_json *update = acp_update(w, "tool_call_update");
    acp_str(w, update, "toolCallId", id);
    acp_say(w, update, "status", "in_progress");
    acp_show(w, s, update);
}

/* The result of a call; good: it did well. A change that was made stays a change. */
static inline void acp_call_ended(acp_wire *w, acp_session *s, phi_str id,
                                  const phi_message *result, bool good) {
    phi_json *update = acp_update(w, "tool_call_update"), *content, *diff = NULL, *block;
    const acp_open *call = *acp_open_find(s, id);
    size_t i;
    if (call == NULL) return; /* its end was shown */
    acp_str(w, update, "toolCallId", id);
    acp_say(w, update, "status", good ? "completed" : "failed");
    content = acp_in(w, update, "content", true);
    if (call->diff.len > 0 &&
        phi_json_parse(&w->arena, text_str(&call->diff), 0, &diff, NULL) == PHI_OK && good)
        (void)phi_json_add(content, phi_json_copy(&w->arena, diff));
    for (i = 0; result != NULL && i < result->content_count && (!good || diff == NULL); i++) {
        const phi_content *c = &result->content[i];
        if (c->kind == PHI_CONTENT_TEXT || c->kind == PHI_CONTENT_DOCUMENT)
            acp_text(w, content, c->text.len > 0 ? c->text : c->name);
        if (c->kind != PHI_CONTENT_IMAGE) continue;
        block = acp_add(w, content);
        acp_say(w, block, "type", "content");
        block = acp_in(w, block, "content", false);
        acp_say(w, block, "type", "image");
        acp_str(w, block, "data", c->data);
        acp_str(w, block, "mimeType", c->mime_type);
    }
    acp_open_end(s, id);
    acp_show(w, s, update);
}

#endif
