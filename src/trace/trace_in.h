/* trace_in.h - a trace that is being written, for the files of this room.

   trace.c walks the entries of the threads, one after the other, and hands each to trace.c
   (the page) or trace_spans.c (spans), which append JSON to `text`. trace_out.c gives it to the
   sink. Pointers to entries are not kept between two slices: a log in a store may leave memory. */
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

/* trace_view.c: the view of the lane that the walk is in, and the one that was written last. */
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

/* A run as spans name it. */
typedef struct phi__trace_name {
    phi_str session, loop;
    uint32_t twin; /* so many runs before it have the same ids */
} phi__trace_name;

/* A run that was begun by a tool call of another, or inside of another. */
typedef struct phi__trace_link {
    phi_str child; /* loop id */
    phi__trace_name above;
    phi_str call; /* the call's name within the run above; empty: none */
    phi_str tool; /* its tool's name */
} phi__trace_link;

typedef struct phi__trace_call {
    uint64_t answer; /* entry */
    uint32_t block;
    bool done, spawned; /* it has its result; it began a run */
} phi__trace_call;

/* A run whose end was not reached. */
typedef struct phi__trace_run {
    struct phi__trace_run *outer; /* that it is inside of, as copies of other logs are */
    uint64_t start;               /* its LOOP_START */
    uint64_t input;               /* the first entry that the next request has as new */
    uint64_t turn;                /* the turn's TURN_START */
    uint64_t prompt;              /* the place of its system prompt, as phi__trace_prompt_at */
    int64_t start_ms, turn_ms;
    uint32_t turn_index;
    uint32_t chats; /* answers of this turn so far */
    uint32_t twin;
    bool in_turn;
    phi__trace_call *calls; /* of its last answer */
    size_t call_count, call_cap;
} phi__trace_run;

/* trace_spans.c */
typedef struct phi__trace_spans {
    phi__trace_run *run; /* the innermost */
    phi__map links;      /* by child */
    phi__map twins;      /* runs so far, by session and loop id */
    bool linking;        /* the first walk: it looks for links alone */
    bool any;            /* a span was written */
    int64_t last_ms;     /* the time of the latest entry */
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

/* The walk has come to this entry. */
PHI__FN void phi__trace_prompt_note(phi_trace *t, const phi__entry *entry);

/* The place of the system prompt of the entry's run: LOOP_START has it only if it differs from the
   run before. The entry + 1; 0: it is not known, as for runs from another log. */
PHI__FN uint64_t phi__trace_prompt_at(const phi_trace *t, const phi__entry *entry);
PHI__FN phi_str phi__trace_prompt(const phi_trace *t, uint64_t at); /* at 0: empty */

/* "key": and a text, its secrets hidden, cut at the limit: then "key of" has its length. */
PHI__FN void phi__tout_str(phi_trace *t, const char *key, phi_str text);

/* The same, whole. */
PHI__FN void phi__tout_whole(phi_trace *t, const char *key, phi_str text);
PHI__FN void phi__tout_some(phi_trace *t, const char *key, phi_str text); /* empty: nothing */

/* A text, whole, as a JSON string without a key. */
PHI__FN void phi__tout_value(phi_trace *t, phi_str text);

/* The text, its secrets hidden, cut at the limit: then a note after it has its length. Valid until
   the text is moved. */
PHI__FN phi_str phi__tout_noted(phi_trace *t, phi_str text);
PHI__FN void phi__tout_usage(phi_trace *t, const phi_usage *usage);

/* The key and what a model's rates say; nothing where they are not known. */
PHI__FN void phi__tout_cost(phi_trace *t, phi_str model, const phi_usage *usage);

/* Moves `text` to the sink's bytes, escaped for a page's script; and writes these if they are many,
   or `all`. */
PHI__FN phi_status phi__tout_move(phi_trace *t, bool all);

/* Text as it is. */
PHI__FN phi_status phi__tout_raw(phi_trace *t, const char *text);

/* Part i of the page before and behind its data; NULL past the end. Static. */
PHI__FN const char *phi__trace_page_head(size_t i);
PHI__FN const char *phi__trace_page_tail(size_t i);

/* The walk is about to write this entry: whether it has the request of a turn. */
PHI__FN bool phi__trace_view_has_request(phi_trace *t, const phi__entry *entry);

/* The view as a change of the one before, and what the policy left out with that prompt. */
PHI__FN void phi__trace_view_put(phi_trace *t, uint32_t lane, phi_str prompt);

/* The entry was written. */
PHI__FN void phi__trace_view_after(phi_trace *t, phi__entry *entry);
PHI__FN void phi__trace_view_drop(phi_trace *t); /* the fold; a new one is made when needed */
PHI__FN void phi__trace_view_free(phi_trace *t);

/* ---- trace_spans.c ---- */
PHI__FN void phi__spans_entry(phi_trace *t, const phi__entry *entry);
PHI__FN void phi__spans_thread_end(phi_trace *t); /* runs that never ended */
PHI__FN void phi__spans_free(phi_trace *t);

/* NULL: the run is below no other. */
PHI__FN const phi__trace_link *phi__trace_link_find(const phi_trace *t, phi_str loop_id);

/* The first link of a run counts, and one that makes no circle. Without memory the text has
   failed. */
PHI__FN void phi__trace_link_join(phi_trace *t, phi_str child, const phi__trace_name *above,
                                  phi_str call, phi_str tool);

/* How many runs with these ids this walk has counted before; it counts one more. */
PHI__FN uint32_t phi__trace_link_twin(phi_trace *t, phi_str session, phi_str loop);

/* Valid while the run's first entry stays in place. */
PHI__FN phi__trace_name phi__span_run(const phi_trace *t, const phi__trace_run *run);

enum { PHI__TRACE_SPAN_CALL = 48 };

/* The name of a call within its run: the place of its answer in it, and its block. */
PHI__FN phi_str phi__span_call(const phi__trace_run *run, const phi__trace_call *call,
                               char out[PHI__TRACE_SPAN_CALL]);
PHI__FN void phi__span_head(phi_trace *t); /* the document, up to the spans */
PHI__FN void phi__span_of_run(phi_trace *t, const phi__trace_run *run, const phi__entry *end);

/* end: the answer, or the end of a turn or run that has none. */
PHI__FN void phi__span_of_chat(phi_trace *t, const phi__trace_run *run, const phi__entry *end);

/* end: the result; NULL: there is none. */
PHI__FN void phi__span_of_call(phi_trace *t, const phi__trace_run *run, const phi__trace_call *call,
                               const phi__entry *end);
PHI__FN void phi__span_of_rewrite(phi_trace *t, const phi__trace_run *run, const phi__entry *entry);

#endif
