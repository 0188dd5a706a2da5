/* trace.h - shows a thread: as a page of HTML for people, or as OpenTelemetry spans for viewers.

       phi_trace_desc desc = PHI_ZERO;
       desc.agent = agent;
       phi_trace_write(NULL, PHI_TRACE_HTML, &desc, "run.html", NULL, 0);

   The page is one file that loads nothing. It shows the tree of lanes, runs, turns and sub-agents,
   the messages of each request and why others were left out, tool calls on a time line, tokens,
   cost and cache hits, and has a search. The spans are one document of OTLP JSON, named by the
   GenAI conventions: invoke_agent for a run, chat for a turn's model call, execute_tool for a tool
   call.

   A trace is made from the thread's entries, so it can be made at any time: during a run, after a
   crash, or from a thread in a store. A request is shown as the thread's view at that moment. Times
   are those of entries, except that a tool call ends at its result's timestamp_ms, because results
   of parallel calls enter the thread together. A call begins at the time of the answer that
   contains it.
   A trace of 10,000 entries has some megabytes. phi_trace_begin writes it in slices, and needs
   memory for one view of the thread, not for the trace.
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

/* Receives the bytes of a trace, in order, at most 64 KiB in a call. The bytes are borrowed until
   `write` returns. Any status but PHI_OK ends the trace with that status. `write` must not change
   the thread. */
typedef struct phi_trace_sink {
    phi_status (*write)(void *user_data, const char *bytes, size_t len);
    void *user_data;
} phi_trace_sink;

/* Zero means default for every field. Everything is borrowed until the trace ends. */
typedef struct phi_trace_desc {
    /* An agent whose current policy, token counter, tools, model and failover models are the values
       of unset fields below. The agent must not be freed or get another model until the trace ends
       (default: none) */
    phi_agent agent;
    const char *title; /* (default: the thread's title, else its id) */
    /* Threads of sub-agents, at any depth. Each of their runs is shown below the tool call that
       began it (default: a call only names the run) */
    const phi_thread *const *children;
    size_t child_count;
    /* Models whose rates give the cost of their answers, by model id. Their keys and secret headers
       are replaced by asterisks everywhere in the trace (default: no cost) */
    const phi_model *models;
    size_t model_count;
    const char *const *secrets; /* other texts to hide, of at least 8 bytes (default: none) */
    size_t secret_count;
    /* The policy of the runs, which a thread does not record. The page then says for each request
       which messages this policy left out, and why, as phi_agent_explain does with the run's system
       prompt (default: all messages were sent) */
    const phi_policy *policy;
    phi_token_counter token_counter; /* counts tokens for the page (default: the estimate) */
    /* tokens of the tools, subtracted from the policy's budget (default: 0) */
    uint64_t tools_tokens;
    /* Sessions with captured requests (`capture_requests`), which the page shows (default: none) */
    const struct phi_session *const *sessions;
    size_t session_count;
    /* Limit for each text; a longer text is cut, with a note (default 8,000; PHI_UNLIMITED) */
    uint32_t text_bytes;
    /* Spans also get messages, instructions, arguments and results (default: they do not, as the
       conventions say). The page always has them */
    bool with_content;
} phi_trace_desc;

typedef struct phi_trace phi_trace;

/* Begins a trace in slices: call begin, then advance until it does not return PHI_BUSY, then end.
   desc NULL: the defaults. thread NULL: the thread of desc->agent. The bytes written before a
   failure are not a complete trace.
   Ownership: the caller ends *trace with phi_trace_end. The trace's memory comes from the runtime,
   except for one view, which comes from the thread's memory. *out is copied.
   Lifetime: the threads must not be freed, nor begin another log, before phi_trace_end. They may
   get entries meanwhile, which are not in the trace.
   If this fails, *trace is NULL: PHI_BAD_ARG (a wrong field or a missing pointer), PHI_STALE
   (desc->agent was freed) or PHI_NO_MEMORY. */
PHI_API phi_status phi_trace_begin(const phi_thread *thread, phi_trace_kind kind,
                                   const phi_trace_desc *desc, const phi_trace_sink *out,
                                   phi_trace **trace);
/* Writes the next part of the trace: about `units` entries, at least one. A turn with its captured
   request counts as an entry. A request whose view was rewritten counts as one unit for each 64
   messages. PHI_BUSY: there is more. PHI_OK: the trace is complete. Any other status means that the
   trace has failed, and further calls return the same status. PHI_NOT_FOUND: entries were forgotten
   meanwhile. Also PHI_NO_MEMORY, the sink's status, and the store's status if evicted entries
   cannot be recalled. */
PHI_API phi_status phi_trace_advance(phi_trace *trace, size_t units);
PHI_API void phi_trace_end(phi_trace *trace); /* allowed at any time; NULL is ignored */

/* Writes a trace to a file. An existing file is replaced once the trace is complete, and stays
   unchanged on failure. Only the owner can read the file (0600). Blocks as long as the disk does.
   message (may be NULL) gets a text, cut to message_size and terminated. PHI_NOT_FOUND: no such
   directory. PHI_IO: the system refuses. PHI_UNSUPPORTED: built with PHI_NO_FILES. Also the
   statuses of phi_trace_begin and phi_trace_advance. */
PHI_API phi_status phi_trace_write(const phi_thread *thread, phi_trace_kind kind,
                                   const phi_trace_desc *desc, const char *path, char *message,
                                   size_t message_size);

#ifdef __cplusplus
}
#endif
#endif
