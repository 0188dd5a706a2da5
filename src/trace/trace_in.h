/* trace_in.h - a trace that is being written, for the files of this room.

   trace.c walks the entries of the threads, one after the other. Each becomes JSON in `text`: the
   page's in trace.c, spans in trace_spans.c. The text then goes to the sink. Pointers to entries
   are not kept between two slices: a log in a store may leave memory. */
#ifndef PHI_TRACE_TRACE_IN_H
#define PHI_TRACE_TRACE_IN_H

#include "base/base_in.h"
#include "io/io_in.h"
#include "log/log_in.h"
#include "persist/persist_in.h"
#include "trace/trace.h"

/* An item of the view that was written last. */
typedef struct phi__trace_seen {
    uint64_t from, to;
    uint32_t flags;
} phi__trace_seen;

/* The view of the lane that the walk is in, and the one that was written last. */
typedef struct phi__trace_view {
    phi__fold fold; /* in memory of the thread's */
    bool valid;     /* fold is the view of `lane` before the walk's entry */
    uint32_t lane;
    size_t same; /* so many items of the fold are at the same place in `seen` */
    phi__trace_seen *seen;
    size_t seen_count, seen_cap;
    size_t work;    /* items looked at since the walk last asked */
    bool requested; /* a turn began whose request was not written */
    uint32_t turn_lane;
} phi__trace_view;

/* The state of trace_spans.c. */
typedef struct phi__trace_spans {
    struct phi__trace_run *run; /* the innermost */
    phi__map links;             /* by child */
    phi__map twins;             /* runs so far, by session and loop id */
    bool linking;               /* the first walk: it looks for links alone */
    bool any;                   /* a span was written */
    int64_t last_ms;            /* the time of the latest entry */
} phi__trace_spans;

typedef enum phi__trace_stage {
    PHI__TRACE_STAGE_HEAD = 0,
    PHI__TRACE_STAGE_THREAD,
    PHI__TRACE_STAGE_ENTRIES,
    PHI__TRACE_STAGE_THREAD_END,
    PHI__TRACE_STAGE_REQUESTS,
    PHI__TRACE_STAGE_TAIL,
    PHI__TRACE_STAGE_DONE
} phi__trace_stage;

struct phi_trace {
    phi_memory *memory; /* the runtime's */
    phi_trace_kind kind;
    phi_trace_desc desc;
    phi_trace_sink sink;
    phi_policy policy; /* filled in, where desc has one */
    phi_status status; /* PHI_BUSY: there is more */
    phi__trace_stage stage;
    const phi_thread *main, *thread; /* the first; that of the walk */
    uint64_t *ends;                  /* of each thread: its count at the beginning */
    size_t thread_count, at;         /* at: number of `thread` */
    uint64_t seq, base;              /* the walk's next entry; the log's first one */
    uint64_t prompt;                 /* the latest LOOP_START with a system prompt, + 1; 0: none */
    size_t session, loop, turn;      /* the next of the sessions' turns */
    phi__buf loop_buf;               /* the loop id of the entry before */
    uint32_t lane;
    phi_arena arena;   /* for as long as the trace */
    phi_arena scratch; /* for an entry */
    phi__secrets secrets;
    phi__buf text, out; /* JSON of an entry; what the sink lacks */
    phi__trace_view view;
    phi__trace_spans spans;
};

/* ---- trace_out.c ---- */

/* The place of the system prompt of the entry's run: LOOP_START has it only if it differs from the
   run before. The entry + 1; 0: it is not known, as for runs from another log. */
PHI__FN uint64_t phi__trace_prompt_at(const phi_trace *t, const phi__entry *entry);
PHI__FN bool phi__trace_prompt_is_in(const phi__entry *entry);
PHI__FN phi_str phi__trace_prompt(const phi_trace *t, uint64_t at); /* at 0: empty */

/* "key": and a text, its secrets hidden, cut at the limit: then "key of" has its length. */
PHI__FN void phi__tout_str(phi_trace *t, const char *key, phi_str text);

/* The same, whole; and without a key. */
PHI__FN void phi__tout_whole(phi_trace *t, const char *key, phi_str text);
PHI__FN void phi__tout_some(phi_trace *t, const char *key, phi_str text); /* empty: nothing */
PHI__FN void phi__tout_value(phi_trace *t, phi_str text);

/* The text, its secrets hidden, cut at the limit: then a note after it has its length. Valid until
   the text is moved. */
PHI__FN phi_str phi__tout_noted(phi_trace *t, phi_str text);

/* Moves `text` to the sink's bytes, escaped for a page's script; and writes these if they are many,
   or `all`. */
PHI__FN phi_status phi__tout_move(phi_trace *t, bool all);
PHI__FN phi_status phi__tout_raw(phi_trace *t, const char *text); /* text as it is */

/* ---- trace_page.c ---- */

/* Part i of the page before and after its data; NULL past the end. Static. */
PHI__FN const char *phi__trace_page_head(size_t i);
PHI__FN const char *phi__trace_page_tail(size_t i);

/* ---- trace_spans.c ---- */

PHI__FN void phi__span_head(phi_trace *t); /* the document, up to the spans */
PHI__FN void phi__spans_entry(phi_trace *t, const phi__entry *entry);
PHI__FN void phi__spans_thread_end(phi_trace *t); /* runs that never ended */
PHI__FN void phi__spans_free(phi_trace *t);

#endif
