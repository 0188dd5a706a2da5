/* phi_notes.h - what an event says about a run, in a line. Copy what you need of it. */
#ifndef PHI_NOTES_H
#define PHI_NOTES_H

#include "phi_rows.h"

/* Which model failed, why, and which one answers now. */
static inline void notes_failover(text *out, const phi_event *ev) {
    text_print(out, "%.*s failed", PHI_ARG(ev->source));
    if (ev->failure != NULL && ev->failure->http_status != 0)
        text_print(out, " (%d: %.*s)", ev->failure->http_status, PHI_ARG(ev->failure->message));
    else if (ev->failure != NULL)
        text_print(out, " (%.*s)", PHI_ARG(ev->failure->message));
    text_print(out, ": continues with %.*s", PHI_ARG(ev->text));
}

/* Adds the line. STYLE_END: the event has none. */
static inline style notes_add(text *out, const phi_event *ev) {
    switch (ev->kind) {
    case PHI_EV_ERROR:
        text_print(out, "! %.*s", PHI_ARG(ev->text));
        if (ev->failure != NULL && ev->failure->http_status != 0)
            text_print(out, " (HTTP %d)", ev->failure->http_status);
        return STYLE_BAD;
    case PHI_EV_INPUT_REJECTED:
    case PHI_EV_WARNING: text_add(out, ev->text.at, ev->text.len); return STYLE_BAD;
    case PHI_EV_FAILOVER: notes_failover(out, ev); return STYLE_DIM;
    case PHI_EV_RETRY:
    case PHI_EV_TOOLS_CHANGED: text_add(out, ev->text.at, ev->text.len); return STYLE_DIM;
    case PHI_EV_INPUT_DROPPED:
        text_print(out, "(not delivered: %.*s)", PHI_ARG(ev->text));
        return STYLE_BAD;
    case PHI_EV_COMPACTION_END:
        text_print(out, "(%d messages compacted to %d)", (int)ev->compaction->messages_before,
                   (int)ev->compaction->messages_after);
        return STYLE_DIM;
    default: return STYLE_END;
    }
}

#endif
