/* trace_in.h - a trace during its writing, for the files of this room.

   trace.c walks the entries of the threads, one after the other. Each entry becomes JSON in `text`:
   data of the page in trace.c, or spans in trace_spans.c. Then the text goes to the sink. Pointers
   to entries are not kept between two slices, since entries of a log in a store may be evicted. */
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

/* The view of the current lane, and the view that was written last. */
typedef struct phi__trace_view {
    phi__fold fold; /* allocated from the thread's memory */
    bool valid;     /* `fold` is the view of `lane` before the current entry */
    uint32_t lane;
    size_t same; /* number of items at the start that are equal in fold and `seen` */
    phi__trace_seen *seen;
    size_t seen_count, seen_cap;
    size_t work;    /* items that the current unit has visited */
    bool requested; /* a turn has begun, and its request is not written yet */
    uint32_t turn_lane;
} phi__trace_view;

/* The state of trace_spans.c. */
typedef struct phi__trace_spans {
    struct phi__trace_run *run; /* the innermost open run */
    phi__map links;             /* links by the loop id of the child run */
    phi__map twins;             /* runs counted so far, by session id and loop id */
    bool linking;               /* the first walk, which only looks for links */
    bool any;                   /* a span was already written */
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
    phi_memory *memory; /* the runtime's memory */
    phi_trace_kind kind;
    phi_trace_desc desc;
    phi_trace_sink sink;
    phi_policy policy; /* a copy of desc.policy with defaults filled in, if there is a policy */
    phi_status status; /* PHI_BUSY: there is more to write */
    phi__trace_stage stage;
    const phi_thread *main, *thread; /* the main thread; the current one */
    /* for each thread the number of its entries when the trace began */
    uint64_t *ends;
    size_t thread_count, at; /* number of threads; index of `thread` */
    uint64_t seq, base;      /* the next entry; the log's first entry */
    /* seq plus 1 of the last LOOP_START with a system prompt; 0: none */
    uint64_t prompt;
    size_t session, loop, turn; /* indexes of the session's turn to write next */
    phi__buf loop_buf;          /* loop id of the previous entry */
    uint32_t lane;
    phi_arena arena;   /* lives as long as the trace */
    phi_arena scratch; /* lives as long as the current entry */
    phi__secrets secrets;
    phi__buf text, out; /* JSON of the current entry; bytes that wait for the sink */
    phi__trace_view view;
    phi__trace_spans spans;
};

/* ---- trace_out.c ---- */

/* Returns the seq plus 1 of the LOOP_START that has the system prompt of the entry's run. A run
   with an unchanged prompt uses the LOOP_START of an earlier run. 0: not known, as for runs copied
   from another log. */
PHI__FN uint64_t phi__trace_prompt_at(const phi_trace *t, const phi__entry *entry);
PHI__FN bool phi__trace_prompt_is_in(const phi__entry *entry);
PHI__FN phi_str phi__trace_prompt(const phi_trace *t, uint64_t at); /* empty if at is 0 */

/* Writes a member with a text, without secrets. A longer text than the limit is cut, and a second
   member "KEY of" has the length of the whole text. */
PHI__FN void phi__tout_str(phi_trace *t, const char *key, phi_str text);

/* Write a text without secrets and without a limit; phi__tout_value writes no key. */
PHI__FN void phi__tout_whole(phi_trace *t, const char *key, phi_str text);
/* writes nothing if text is empty */
PHI__FN void phi__tout_some(phi_trace *t, const char *key, phi_str text);
PHI__FN void phi__tout_value(phi_trace *t, phi_str text);

/* Returns a text without secrets. A longer text than the limit is cut, and a note at its end has
   the length of the whole text. Valid until phi__tout_move. */
PHI__FN phi_str phi__tout_noted(phi_trace *t, phi_str text);

/* Moves `text` to the bytes for the sink, escaped for a script in the page. Writes these bytes to
   the sink if they are many, or if `all` is true. */
PHI__FN phi_status phi__tout_move(phi_trace *t, bool all);
PHI__FN phi_status phi__tout_raw(phi_trace *t, const char *text); /* writes a text as it is */

/* ---- trace_page.c ---- */

/* Return part i of the page before its data, or after its data. NULL past the last part. Static. */
PHI__FN const char *phi__trace_page_head(size_t i);
PHI__FN const char *phi__trace_page_tail(size_t i);

/* ---- trace_spans.c ---- */

PHI__FN void phi__span_head(phi_trace *t); /* begins the document, up to the first span */
PHI__FN void phi__spans_entry(phi_trace *t, const phi__entry *entry);
PHI__FN void phi__spans_thread_end(phi_trace *t); /* ends the spans of open runs */
PHI__FN void phi__spans_free(phi_trace *t);

#endif
