/* compact_lines_in.h - a summary in lines, one for each message of a section of a view. */
#ifndef PHI_HISTORY_COMPACT_LINES_IN_H
#define PHI_HISTORY_COMPACT_LINES_IN_H

#include "history/compact_in.h"

typedef struct phi__compact_turn {
    size_t from, to; /* its items; `to` is behind them */
    size_t run;
    bool stays; /* a summary that is not made of lines is in it */
} phi__compact_turn;

/* A compaction while it is planned. */
typedef struct phi__compacting {
    const phi_view_item *items;
    size_t count;
    phi_compaction_config config;
    const phi_token_counter *counter;
    phi_arena *arena;
    bool anew;        /* summaries are summed up like all else */
    uint8_t *durable; /* of each item: it always stays; NULL: none does */
    phi__compact_turn *turns;
    size_t turn_count, run_count;
    phi_span *spans;
    size_t span_count;
    phi__compacted *out;
} phi__compacting;

/* A stretch of turns, which becomes a span. */
typedef struct phi__compact_section {
    size_t first, end;        /* items */
    const phi_message *named; /* its summary gets the run and the turn of this one */
    phi_message messages[2];
    size_t message_count;
    uint64_t before, after; /* tokens */
    bool carries;           /* only the lines of earlier summaries; all else goes */
    bool worth;             /* it gets smaller */
} phi__compact_section;

/* The item always stays. */
PHI__FN bool phi__compact_lines_stays(const phi__compacting *c, size_t item);
PHI__FN bool phi__compact_lines_is_summary(const phi_view_item *item);
/* Makes the section's messages: the focus, where there is room for it, and the summary. PHI_OK;
   PHI_NO_MEMORY. */
PHI__FN phi_status phi__compact_lines_sum_up(const phi__compacting *c, phi__compact_section *s);

#endif
