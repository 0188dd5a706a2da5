/* phi_undo.h - going back in a conversation, and branching it. */
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

static inline void slash_clear(app *a, const char *rest) {
    phi_status status = phi_thread_switch(phi_agent_thread(a->agent), NULL);
    (void)rest;
    if (status == PHI_OK) a->typing.shell.kept.len = 0;
    slash_said(a, status, "(a fresh lane: the model sees nothing of before; /undo returns to it)");
}

/* The lane from which the thread came to its present lane, if that began empty: /clear began it, in this chat or in an
   earlier one. False: another one began it. */
static inline bool undo_lane(const phi_thread *thread, text *out) {
    phi_thread_info info = phi_thread_get_info(thread);
    uint64_t seq, end = phi_thread_count(thread);
    phi_entry entry;
    text_say(out, PHI_LANE_DEFAULT);
    if (info.lane.len > 5 && memcmp(info.lane.at, "undo ", 5) == 0) return false;
    for (seq = info.first; seq < end; seq++) {
        if (phi_thread_entry(thread, seq, &entry) != PHI_OK) continue;
        if (entry.kind == PHI_ENTRY_LANE && phi_str_equal(entry.lane, info.lane) &&
            entry.parent_lane.len > 0)
            return false;
        if (entry.kind != PHI_ENTRY_SWITCH) continue;
        if (phi_str_equal(entry.lane, info.lane)) return true;
        out->len = 0;
        text_add(out, entry.lane.at, entry.lane.len);
    }
    return false;
}

/* A lane without messages: back to the lane that /clear left, if it was /clear that began this one. */
static inline void slash_undo_clear(app *a, phi_thread *thread) {
    text lane = {NULL, 0, 0};
    if (undo_lane(thread, &lane))
        slash_said(a, phi_thread_switch(thread, lane.at), "(the lane before it)");
    else
        note(a, STYLE_DIM, "(there is nothing to undo)");
    free(lane.at);
}

static inline bool undo_is_prompt(const phi_view_item *item) {
    return item->message->role == PHI_ROLE_USER && !item->message->is_update &&
           (item->flags & PHI_ITEM_SUMMARY) == 0;
}

/* A new lane, with the view as it was before the prompt. The prompt's words, safe to show. */
static inline phi_status undo_before(app *a, const phi_view_item *items,
                                     const phi_view_item *prompt, text *words) {
    phi_thread *thread = phi_agent_thread(a->agent);
    phi_str said = phi_message_text(prompt->message, "\n", &a->arena, NULL);
    text held = {NULL, 0, 0};
    phi_status status;
    char lane[40];
    if (said.len <= UNDO_BYTES) text_clean(words, &held, said); /* a pipe may have said it */
    free(held.at);
    (void)snprintf(lane, sizeof lane, "undo %u", (unsigned)phi_thread_count(thread));
    if (prompt == items) return phi_thread_switch(thread, lane); /* it begins empty */
    status = phi_thread_fork_lane(thread, lane, NULL, prompt->from - 1);
    return status == PHI_OK ? phi_thread_switch(thread, lane) : status;
}

/* Takes the last prompt and what followed it out of the model's view. The words come back into the line. */
static inline void slash_undo(app *a, const char *rest) {
    phi_thread *thread = phi_agent_thread(a->agent);
    const phi_view_item *items, *last = NULL;
    text words = {NULL, 0, 0};
    size_t count, i;
    phi_status status = phi_thread_view(thread, NULL, UINT64_MAX, &a->arena, &items, &count);
    (void)rest;
    for (i = 0; status == PHI_OK && i < count; i++)
        if (undo_is_prompt(&items[i])) last = &items[i];
    if (status == PHI_OK && last == NULL) {
        slash_undo_clear(a, thread);
        return;
    }
    if (status == PHI_OK) status = undo_before(a, items, last, &words);
    if (status == PHI_OK && a->chat && a->line.text.len == 0) line_set(&a->line, words.at);
    if (status == PHI_OK && !a->chat && words.len > 0) note_str(a, STYLE_DIM, text_str(&words));
    free(words.at);
    slash_said(a, status,
               "(undone: the model sees the conversation as it was before the last prompt; "
               "the log keeps all of it)");
}

/* "* NAME  12 messages: the last prompt" */
static inline void undo_show_lane(app *a, const phi_thread *thread, const char *name, bool active) {
    const phi_view_item *items;
    size_t count = 0, i;
    text row = {NULL, 0, 0};
    phi_str said = phi_str_of("");
    phi_arena_mark mark = phi_arena_save(&a->arena);
    if (phi_thread_view(thread, name, UINT64_MAX, &a->arena, &items, &count) != PHI_OK) count = 0;
    for (i = 0; i < count; i++)
        if (undo_is_prompt(&items[i]))
            said = phi_message_text(items[i].message, " ", &a->arena, NULL);
    text_print(&row, "%s %s  %u message%s%s", active ? "*" : " ", name, (unsigned)count,
               count == 1 ? "" : "s", said.len > 0 ? ": " : "");
    text_fit(&row, said, 60);
    note_str(a, STYLE_DIM, text_str(&row));
    free(row.at);
    phi_arena_reset(&a->arena, mark);
}

static inline void slash_branch(app *a, const char *rest) {
    phi_thread *thread = phi_agent_thread(a->agent);
    phi_thread_info info = phi_thread_get_info(thread);
    const char *name;
    size_t i;
    phi_status status = PHI_NOT_FOUND;
    if (rest[0] == '\0') {
        for (i = 0; (name = phi_thread_lane_at(thread, i)) != NULL; i++)
            undo_show_lane(a, thread, name, phi_str_is(info.lane, name));
        return;
    }
    for (i = 0; status == PHI_NOT_FOUND && (name = phi_thread_lane_at(thread, i)) != NULL; i++)
        if (strcmp(name, rest) == 0) status = PHI_OK;
    if (status == PHI_NOT_FOUND) status = phi_thread_fork_lane(thread, rest, NULL, UINT64_MAX);
    if (status == PHI_OK) status = phi_thread_switch(thread, rest);
    slash_said(a, status, "(on that branch; /branch lists all)");
}

#endif
