/* phi_compact.h - /compact: a model sums up the conversation, and its summary takes the place of the messages. */
#ifndef PHI_COMPACT_H
#define PHI_COMPACT_H

#include "phi_app.h"

/* Says how the summary ended. `ev` is the PHI_EV_REWRITE after compact_begin. */
static inline style compact_end(app *a, const phi_event *ev, text *out) {
    size_t count = a->sums;
    a->sums = 0;
    if (ev->status == PHI_OK)
        text_print(out, "(%u messages became a summary; the log keeps them)", (unsigned)count);
    else if (ev->status == PHI_CANCELLED)
        text_say(out, "(stopped: nothing was compacted)");
    else
        text_print(out, "! nothing was compacted: %.*s", PHI_ARG(ev->source));
    return ev->status == PHI_OK || ev->status == PHI_CANCELLED ? STYLE_DIM : STYLE_BAD;
}

/* Begins a summary of the messages in view. The model is told to keep what `focus` names, besides what the configuration
   names. */
static inline phi_status compact_begin(app *a, const char *focus, const phi_view_item *items,
                                       size_t count) {
    phi_agent_desc desc = PHI_ZERO;
    phi_status status = phi_agent_get_desc(a->agent, &desc);
    text before = {NULL, 0, 0}, now = {NULL, 0, 0};
    bool had = status == PHI_OK && desc.compaction.focus_message != NULL;
    if (had) text_say(&before, desc.compaction.focus_message); /* the agent's, until it is set */
    if (had) text_print(&now, "%s\n", before.at);
    text_say(&now, focus);
    if (focus[0] != '\0') desc.compaction.focus_message = now.at;
    if (status == PHI_OK && focus[0] != '\0')
        status = phi_agent_set(a->agent, &desc, PHI_SET_COMPACTION);
    if (status == PHI_OK) status = phi_summarize(a->agent, items[0].from, items[count - 1].to);
    desc.compaction.focus_message = had ? before.at : NULL;
    if (focus[0] != '\0') (void)phi_agent_set(a->agent, &desc, PHI_SET_COMPACTION);
    free(before.at);
    free(now.at);
    return status;
}

static inline void slash_compact(app *a, const char *rest) {
    const phi_view_item *items = NULL;
    size_t count = 0;
    phi_thread *thread = phi_agent_thread(a->agent);
    phi_arena_mark mark = phi_arena_save(&a->arena);
    phi_status status = PHI_BUSY;
    if (!phi_agent_get_info(a->agent).running)
        status = phi_thread_view(thread, NULL, UINT64_MAX, &a->arena, &items, &count);
    if (status == PHI_OK && count < 2) status = PHI_NOT_FOUND;
    if (status == PHI_OK) status = compact_begin(a, rest, items, count);
    if (status == PHI_OK) a->sums = count;
    phi_arena_reset(&a->arena, mark);
    if (status == PHI_OK)
        note(a, STYLE_DIM, "(the model sums up the conversation; Esc stops it)");
    else if (status == PHI_NOT_FOUND)
        note(a, STYLE_DIM, "(there is nothing to compact)");
    else
        note(a, STYLE_BAD, "! %s",
             status != PHI_BUSY ? last_error(a)
             : a->sums > 0      ? "the model sums up the conversation already"
                                : "stop the run first (Esc)");
}

#endif
