/* phi_undo.h - going back in a conversation, branching it, and files that a line names. */
#ifndef PHI_UNDO_H
#define PHI_UNDO_H

#include "phi_events.h"

enum { UNDO_BYTES = 16 << 10 }; /* a longer prompt is not put into the line again */

/* ---- going back, and branching ---- */

static inline void slash_said(app *a, phi_status status, const char *words) {
    if (status == PHI_OK)
        note(a, STYLE_DIM, "%s", words);
    else
        note(a, STYLE_BAD, "! %s",
             status == PHI_BUSY ? "stop the run first" : phi_status_text(status));
}

static inline void slash_lane(const phi_thread *thread, text *out) {
    phi_str lane = phi_thread_get_info(thread).lane;
    out->len = 0;
    text_add(out, lane.at, lane.len);
}

static inline void slash_clear(app *a, const char *rest) {
    phi_thread *thread = phi_agent_thread(a->agent);
    text before = {NULL, 0, 0};
    phi_status status;
    (void)rest;
    slash_lane(thread, &before);
    status = phi_thread_switch(thread, NULL);
    if (status == PHI_OK) {
        free(a->left.at);
        a->left = before;
        slash_lane(thread, &a->fresh);
    } else
        free(before.at);
    slash_said(a, status, "(a fresh lane: the model sees nothing of before; /undo returns to it)");
}

/* A lane without messages: back to the lane that /clear left, if it was /clear that began this one. */
static inline void slash_undo_clear(app *a, phi_thread *thread) {
    phi_str lane = phi_thread_get_info(thread).lane;
    if (a->left.len > 0 && phi_str_equal(lane, text_str(&a->fresh)))
        slash_said(a, phi_thread_switch(thread, a->left.at), "(the lane before it)");
    else
        note(a, STYLE_DIM, "(there is nothing to undo)");
}

/* Takes the last prompt and what followed it out of the model's view. The words come back into the line. */
static inline void slash_undo(app *a, const char *rest) {
    phi_thread *thread = phi_agent_thread(a->agent);
    const phi_view_item *items, *last = NULL;
    size_t count, i;
    phi_status status = phi_thread_view(thread, NULL, UINT64_MAX, &a->arena, &items, &count);
    (void)rest;
    for (i = 0; status == PHI_OK && i < count; i++)
        if (items[i].message->role == PHI_ROLE_USER && !items[i].message->is_update &&
            (items[i].flags & PHI_ITEM_SUMMARY) == 0)
            last = &items[i];
    if (status == PHI_OK && last == NULL) {
        slash_undo_clear(a, thread);
        return;
    }
    if (status == PHI_OK) {
        char lane[40];
        text words = {NULL, 0, 0}, held = {NULL, 0, 0};
        phi_str said = phi_message_text(last->message, "\n", &a->arena, NULL);
        if (said.len <= UNDO_BYTES) text_clean(&words, &held, said); /* a pipe may have said it */
        free(held.at);
        (void)snprintf(lane, sizeof lane, "undo %u", (unsigned)phi_thread_count(thread));
        if (last == items) /* the first prompt */
            status = phi_thread_switch(thread, NULL);
        else if ((status = phi_thread_fork_lane(thread, lane, NULL, last->from - 1)) == PHI_OK)
            status = phi_thread_switch(thread, lane);
        if (status == PHI_OK && a->chat && a->line.text.len == 0) line_set(&a->line, words.at);
        if (status == PHI_OK && !a->chat && words.len > 0) note_str(a, STYLE_DIM, text_str(&words));
        free(words.at);
    }
    slash_said(a, status,
               "(undone: the model sees the conversation as it was before the last prompt; "
               "the log keeps all of it)");
}

static inline void slash_branch(app *a, const char *rest) {
    phi_thread *thread = phi_agent_thread(a->agent);
    phi_thread_info info = phi_thread_get_info(thread);
    const char *name;
    size_t i;
    phi_status status = PHI_NOT_FOUND;
    if (rest[0] == '\0') {
        for (i = 0; (name = phi_thread_lane_at(thread, i)) != NULL; i++)
            note(a, STYLE_DIM, "%s %s", phi_str_is(info.lane, name) ? "*" : " ", name);
        return;
    }
    for (i = 0; status == PHI_NOT_FOUND && (name = phi_thread_lane_at(thread, i)) != NULL; i++)
        if (strcmp(name, rest) == 0) status = PHI_OK;
    if (status == PHI_NOT_FOUND) status = phi_thread_fork_lane(thread, rest, NULL, UINT64_MAX);
    if (status == PHI_OK) status = phi_thread_switch(thread, rest);
    slash_said(a, status, "(on that branch; /branch lists all)");
}

/* ---- files in a line ---- */

/* Attaches the files that words such as @src/main.c name. False: a note says why not, and none is attached. */
static inline bool slash_attach(app *a, const char *line) {
    const char *at = line;
    size_t count = a->attached.count, total = a->attached.total;
    while ((at = strchr(at, '@')) != NULL) {
        size_t n = strcspn(at + 1, " \n\t");
        text path = {NULL, 0, 0}, words = {NULL, 0, 0};
        bool begins = at == line || strchr(" \n\t", at[-1]) != NULL, taken = true;
        if (begins && n > 0) text_add(&path, at + 1, n);
        if (path.len > 0 && places_is_file(path.at, false)) {
            const char *one = path.at;
            taken = a->attached.count < ATTACH_FILES &&
                    attach_open(&a->attached, a->agent, &one, 1, &words);
            if (!taken)
                note(a, STYLE_BAD, "! %s", words.len > 0 ? words.at : "at most 16 files");
            else
                note(a, STYLE_DIM, "(with %s)", path.at);
        }
        free(path.at);
        free(words.at);
        if (!taken) {
            attach_cut(&a->attached, count, total);
            return false;
        }
        at += 1 + n;
    }
    return true;
}

#endif
