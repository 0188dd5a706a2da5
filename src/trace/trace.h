/* trace.h - a picture of a thread: one page of HTML for people, or OpenTelemetry spans for viewers.

       phi_trace_desc desc = PHI_ZERO;
       desc.agent = agent;
       phi_trace_write(NULL, PHI_TRACE_HTML, &desc, "run.html", NULL, 0);

   The page is one file that loads nothing: the tree of lanes, runs, turns and sub-agents; what each
   request held, and why; tool calls on a time line; tokens, cost and cache hits; search. The spans
   are one document of OTLP JSON, named by the GenAI conventions: invoke_agent for a run, chat for a
   turn's model call, execute_tool for a tool call.

   A trace is made of the thread's entries, so it can be made at any time: during a run, after a
   crash, of a thread out of a store. A request is shown as the thread's view at that moment. Times
   are those of entries, but a tool call ends at its result's timestamp_ms: results of parallel
   calls enter the thread together. A call begins with the answer that has it.
   A trace of 10,000 entries takes some megabytes: phi_trace_begin writes it in slices, piece by
   piece, and needs memory for one view of the thread, not for the trace.
   Threads: the pumping thread. */
#ifndef PHI_TRACE_TRACE_H
#define PHI_TRACE_TRACE_H

#include "agent/agent.h"
#include "record/session.h"
#include "log/policy.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum phi_trace_kind {
    PHI_TRACE_HTML = 0,
    PHI_TRACE_OTEL /* an ExportTraceServiceRequest, as a file exporter writes it */
} phi_trace_kind;

/* Takes the bytes of a trace, in order, at most 64 KiB a call; they are borrowed until it returns.
   Anything but PHI_OK ends the trace with that status. It must not change the thread. */
typedef struct phi_trace_sink {
    phi_status (*write)(void *user_data, const char *bytes, size_t len);
    void *user_data;
} phi_trace_sink;

/* Zero means default for every field. Borrowed, with all it points to, until the trace ends. */
typedef struct phi_trace_desc {
    /* Its policy, token counter and tools as they are now, its model and those that it may go to
       fill the fields below that are not set. It must not be freed nor get another model until the
       trace ends (default: none) */
    phi_agent agent;
    const char *title; /* (default: the thread's title, else its id) */
    /* Threads of sub-agents, at any depth: each run is below the tool call that began it (default:
       a call names the run, and no more) */
    const phi_thread *const *children;
    size_t child_count;
    /* Cost is counted for answers of a model that is among these, by its rates and its id. Their
       keys and secret headers are replaced by asterisks wherever they occur in the trace
       (default: no cost) */
    const phi_model *models;
    size_t model_count;
    const char *const *secrets; /* further texts to hide, of 8 bytes and more (default: none) */
    size_t secret_count;
    /* The page says for each request which messages this policy left out, and why, as
       phi_agent_explain does, and the run's system prompt. It must be the run's policy: a thread
       does not keep it (default: all were sent) */
    const phi_policy *policy;
    phi_token_counter token_counter; /* counts the page's tokens (default: the estimate) */
    uint64_t tools_tokens;           /* the policy's budget is less by them (default: 0) */
    /* The page shows the requests that these sessions captured (`capture_requests`; default:
       none) */
    const struct phi_session *const *sessions;
    size_t session_count;
    /* Bytes of each text; the rest is cut, with a note (default 8,000; PHI_UNLIMITED) */
    uint32_t text_bytes;
    /* Spans have messages, instructions, arguments and results, too (default: they do not, as the
       conventions say). The page has them in any case */
    bool with_content;
} phi_trace_desc;

typedef struct phi_trace phi_trace;

/* Writes a trace in slices: begin, advance until it is not PHI_BUSY, end. desc NULL: the defaults.
   thread NULL: that of desc->agent.
   The bytes written before a failure are no whole trace.
   Ownership: the caller ends *trace with phi_trace_end. Its memory is the runtime's, but for one
   view, which the thread's memory holds. *out is copied.
   Lifetime: the threads must not be freed, nor start over, before phi_trace_end. They may grow:
   entries after phi_trace_begin are not in the trace.
   PHI_BAD_ARG, PHI_STALE (the agent), PHI_NO_MEMORY: *trace is NULL. */
PHI_API phi_status phi_trace_begin(const phi_thread *thread, phi_trace_kind kind,
                                   const phi_trace_desc *desc, const phi_trace_sink *out,
                                   phi_trace **trace);
/* Writes about `units` entries, or turns of sessions with their captured requests, at least one; a
   request whose view was rewritten counts a unit for each 64 messages. PHI_BUSY: there is more;
   PHI_OK: all is written. Else it has failed, and repeats that status: PHI_NOT_FOUND: entries were
   forgotten meanwhile; PHI_NO_MEMORY; the sink's status; the store's, where evicted entries cannot
   be recalled. */
PHI_API phi_status phi_trace_advance(phi_trace *trace, size_t units);
PHI_API void phi_trace_end(phi_trace *trace); /* at any time; NULL is harmless */

/* Into a file, which is replaced when the trace is whole, and else left as it was; a new file has
   the mode of the process's umask. Blocks as long as the disk does. message (may be NULL) gets
   a text, cut to message_size and terminated. PHI_NOT_FOUND: no such directory; PHI_IO: the system
   refuses; PHI_UNSUPPORTED: built with PHI_NO_FILES; else as phi_trace_begin and
   phi_trace_advance. */
PHI_API phi_status phi_trace_write(const phi_thread *thread, phi_trace_kind kind,
                                   const phi_trace_desc *desc, const char *path, char *message,
                                   size_t message_size);

#ifdef __cplusplus
}
#endif
#endif
