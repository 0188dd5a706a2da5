/* phi_back.h - earlier prompts: a list of them, of which one is chosen to go on from; and an answer that was stopped, which
   stays in the conversation. */
#ifndef PHI_BACK_H
#define PHI_BACK_H

#include "phi_undo.h"

enum { BACK_LOOKS = 16 }; /* a run's last message is among so many entries at its end */

/* No model sees an answer that was stopped. If the newest message is one, puts its text into the view, as it was shown. */
static inline void back_keep_stopped(app *a) {
    phi_thread *thread = phi_agent_thread(a->agent);
    phi_thread_info info = phi_thread_get_info(thread);
    uint64_t seq = phi_thread_count(thread), first = seq > BACK_LOOKS ? seq - BACK_LOOKS : 0;
    phi_arena_mark mark = phi_arena_save(&a->arena);
    phi_content said = PHI_ZERO;
    phi_message message = PHI_ZERO;
    phi_rewrite rewrite = PHI_ZERO;
    phi_span span = PHI_ZERO;
    phi_entry entry = PHI_ZERO;
    char id[40];
    a->stopped = false;
    while (seq > first && phi_thread_entry(thread, --seq, &entry) == PHI_OK &&
           (entry.kind != PHI_ENTRY_MESSAGE || !phi_str_equal(entry.lane, info.lane))) {}
    if (entry.kind == PHI_ENTRY_MESSAGE && phi_str_equal(entry.lane, info.lane) &&
        entry.message->stop_reason == PHI_STOP_REASON_ABORTED) {
        message = *entry.message;
        said.kind = PHI_CONTENT_TEXT;
        said.text = phi_message_text(entry.message, "\n", &a->arena, NULL);
        message.content = &said, message.content_count = 1;
        message.stop_reason = PHI_STOP_REASON_STOP;
        message.raw_stop_reason = message.error_message = phi_str_of("");
        span.from = span.to = seq;
        span.messages = &message, span.message_count = 1;
        (void)snprintf(id, sizeof id, "stopped %llu", (unsigned long long)seq);
        rewrite.op_id = id; /* a second time nothing changes */
        rewrite.spans = &span, rewrite.span_count = 1;
        if (said.text.len > 0) (void)phi_thread_rewrite(thread, &rewrite, NULL, NULL, 0);
    }
    phi_arena_reset(&a->arena, mark);
}

/* The prompts of the model's view, the newest MENU_MOST of them, oldest first. How many. */
static inline size_t back_prompts(app *a, const phi_view_item **items,
                                  const phi_view_item *prompts[MENU_MOST]) {
    const phi_thread *thread = phi_agent_thread(a->agent);
    size_t count, i, n = 0;
    if (phi_thread_view(thread, NULL, UINT64_MAX, &a->arena, items, &count) != PHI_OK) return 0;
    for (i = 0; i < count; i++) {
        if (!undo_is_prompt(&(*items)[i])) continue;
        if (n == MENU_MOST) memmove(prompts, prompts + 1, (--n) * sizeof *prompts);
        prompts[n++] = &(*items)[i];
    }
    return n;
}

/* Ctrl+B: shows the prompts. */
static inline void back_branches(app *a) {
    const phi_view_item *items, *prompts[MENU_MOST];
    phi_arena_mark mark = phi_arena_save(&a->arena);
    size_t i, n = phi_agent_get_info(a->agent).running ? 0 : back_prompts(a, &items, prompts);
    menu_clear(&a->typing.menu);
    for (i = 0; i < n; i++)
        menu_add(&a->typing.menu, phi_message_text(prompts[i]->message, " ", &a->arena, NULL));
    a->typing.menu.chooses = n > 0;
    a->typing.menu.chosen = (int)n - 1;
    if (n == 0)
        note(a, STYLE_DIM,
             phi_agent_get_info(a->agent).running ? "(stop the run first)"
                                                  : "(there is no prompt yet)");
    phi_arena_reset(&a->arena, mark);
}

/* Enter: a new lane before the chosen prompt, whose words are in the line; the line's own are in the history. */
static inline void back_choose(app *a) {
    const phi_view_item *items, *prompts[MENU_MOST];
    phi_arena_mark mark = phi_arena_save(&a->arena);
    size_t n = back_prompts(a, &items, prompts), at = (size_t)a->typing.menu.chosen;
    text words = {NULL, 0, 0};
    phi_status status = PHI_NOT_FOUND;
    if (at < n) status = undo_before(a, items, prompts[at], &words);
    if (status == PHI_OK) {
        if (a->line.text.len > 0) line_done(&a->line);
        line_set(&a->line, words.at);
    }
    slash_said(a, status, "(a new lane before that prompt; /branch lists the others)");
    free(words.at);
    phi_arena_reset(&a->arena, mark);
    menu_clear(&a->typing.menu);
}

#endif
