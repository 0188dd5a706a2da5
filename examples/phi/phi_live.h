/* phi_live.h - what runs now, in a few rows below the transcript: the last lines that a tool has printed, and how far a
   strategy has come. Copy what you need of it. */
#ifndef PHI_LIVE_H
#define PHI_LIVE_H

#include "phi_tools.h"

#include "phi_text.h"

enum { LIVE_BYTES = 4096, LIVE_ROWS = 5 };

/* Zero to begin with. */
typedef struct live {
    text id;       /* of the call that printed last */
    text printed;  /* its last LIVE_BYTES */
    text strategy; /* a row */
} live;

static inline void live_print(live *l, const phi_event *ev) {
    if (!phi_str_equal(text_str(&l->id), ev->tool_call_id)) l->printed.len = 0;
    l->id.len = 0;
    text_add(&l->id, ev->tool_call_id.at, ev->tool_call_id.len);
    text_add(&l->printed, ev->text.at, ev->text.len);
    if (l->printed.len > LIVE_BYTES) text_remove(&l->printed, 0, l->printed.len - LIVE_BYTES);
}

static inline void live_progress(live *l, const phi_event *ev) {
    const phi_strategy_progress *p = ev->strategy;
    l->strategy.len = 0;
    if (p == NULL) return;
    text_fit(&l->strategy, p->name, 30);
    text_say(&l->strategy, " ");
    text_fit(&l->strategy, p->phase, 30);
    text_print(&l->strategy, " | calls: %u of %u | thoughts: %u", (unsigned)p->calls,
               (unsigned)p->most_calls, (unsigned)p->nodes);
    if (p->has_score) text_print(&l->strategy, " | best: %.2f", p->score);
    if (ev->text.len > 0) text_say(&l->strategy, " | ");
    text_fit(&l->strategy, ev->text, 400);
}

static inline void live_event(live *l, const phi_event *ev) {
    bool mine = phi_str_equal(text_str(&l->id), ev->tool_call_id);
    if (ev->kind == PHI_EV_TOOL_UPDATE || ev->kind == PHI_EV_TOOL_PROGRESS) live_print(l, ev);
    if ((ev->kind == PHI_EV_TOOL_END && mine) || ev->kind == PHI_EV_AGENT_END) l->printed.len = 0;
    if (ev->kind == PHI_EV_STRATEGY) live_progress(l, ev);
    if (ev->kind == PHI_EV_AGENT_END) l->strategy.len = 0;
}

/* A line that was printed, without its colours. */
static inline void live_plain(text *out, phi_str line) {
    size_t i = 0, end;
    while (i < line.len) {
        bool opens = i + 1 < line.len && line.at[i] == 27 && line.at[i + 1] == '[';
        for (end = i + 2; opens && end < line.len && strchr("0123456789;:", line.at[end]); end++) {}
        opens = opens && end < line.len && line.at[end] == 'm';
        if (!opens) text_add(out, line.at + i, 1);
        i = opens ? end + 1 : i + 1;
    }
}

/* The last lines, at most `most`, of which each is a row; a line that a carriage return began again shows its newest
   text. How many. */
static inline int live_rows(const live *l, int columns, int most, text *rows) {
    size_t end = l->printed.len, from[LIVE_ROWS], to[LIVE_ROWS], at;
    bool strategy = most > 0 && l->strategy.len > 0;
    int n = 0, count;
    if (strategy) text_fit(rows++, text_str(&l->strategy), columns);
    if (strategy) most--;
    if (most > LIVE_ROWS) most = LIVE_ROWS;
    while (end > 0 && strchr("\r\n", l->printed.at[end - 1]) != NULL) end--;
    while (n < most && end > 0) {
        for (at = end; at > 0 && l->printed.at[at - 1] != '\n' && l->printed.at[at - 1] != '\r';)
            at--;
        from[n] = at;
        to[n++] = end;
        while (at > 0 && l->printed.at[at - 1] != '\n') at--;
        end = at > 0 ? at - 1 : 0;
        if (end > 0 && l->printed.at[end - 1] == '\r') end--;
    }
    count = n + (strategy ? 1 : 0);
    while (n-- > 0) {
        phi_str line = {l->printed.at + from[n], to[n] - from[n]};
        text plain = {NULL, 0, 0};
        live_plain(&plain, line);
        text_say(rows, "  : ");
        text_fit(rows++, text_str(&plain), columns - 4);
        free(plain.at);
    }
    return count;
}

static inline void live_free(live *l) {
    free(l->id.at);
    free(l->printed.at);
    free(l->strategy.at);
}

#endif
