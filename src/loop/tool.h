/* tool.h - a tool that a model may call: a name, a schema, and functions that may span frames.

       static phi_flow look_start(void *user_data, phi_call call, phi_str arguments) {
           phi_call_replyf(call, "It rains in %s.", phi_call_arg_str(call, "place", "the village"));
           return PHI_DONE;
       }

   start(call) either gives the result with phi_call_reply or phi_call_fail and returns PHI_DONE, or
   it returns PHI_PENDING. A pending call is finished later, if need be hundreds of frames later: by
   the tool's step(call), which is called once in every phi_step, or by any other code of the host.
   Each call gets exactly one result: the first that is given. If a tool returns PHI_DONE without a
   result, the call gets an error that says so. */
#ifndef PHI_LOOP_TOOL_H
#define PHI_LOOP_TOOL_H

#include "model/event.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum phi_flow { PHI_DONE, PHI_PENDING } phi_flow;

/* A complete leaf value of a call's arguments, reported while the model still writes the rest. The
   fields of a call are reported in the order of the arguments' text, each once, however the text is
   cut into pieces. A duplicate key is reported twice. After a value nested more than 64 deep, or a
   path of more than 1024 bytes, no more fields are reported. Only the arguments that `start` gets
   are final: a hook may have changed them. */
typedef struct phi_field {
    phi_agent agent;
    /* the call's block in the answer, as in phi_call_info */
    uint32_t block_index;
    /* empty: not known yet. If an earlier call had this id, phi later replaces the id */
    phi_str tool_call_id;
    phi_str path; /* a JSON Pointer (RFC 6901): "/actions/0/name" */
    /* the whole JSON text of the value: a string, a number, true, false, null, [] or {} */
    phi_str value;
    /* True: the fields reported so far are void, and path and value are empty. Causes: the answer
       broke off (with or without a retry) or was aborted; the arguments are not valid; a hook
       denied the call; the call was skipped, finished from outside or repeated too often; or there
       was no memory. Reported once, and only after a field was reported. In all other cases `start`
       of the call follows the fields. (If a provider ends with other arguments than it streamed:
       `dropped`, the fields again, then `start`.) Not reported when the agent is freed. */
    bool dropped;
} phi_field;

/* Threads: the functions run on the pumping thread, inside phi_step. They may call every phi_
            function except phi_step, phi_runtime_close and phi_runtime_free. */
typedef struct phi_tool {
    /* Borrowed until the agent is freed. Every provider takes a name of at most 64 characters from
       A-Z a-z 0-9 _ and -, the first a letter or _. A name that the agent's provider does not take
       is refused. */
    const char *name, *description;
    /* JSON Schema of the arguments, borrowed until the agent is freed; NULL: the tool has no
       schema, and its arguments are not checked */
    const char *schema;
    const char *label; /* for people (default: name) */
    /* Starts a call. arguments: the text of a JSON object, borrowed until the call is finished;
       phi_call_arg_str and the functions after it read arguments. */
    phi_flow (*start)(void *user_data, phi_call call, phi_str arguments);
    phi_flow (*step)(void *user_data, phi_call call); /* NULL: calls are finished from outside */
    /* Called when a call was cancelled or timed out, to release the call's resources. Its result is
       already settled. Not called for a call that was finished (phi_call_reply or a similar
       function returned PHI_OK), nor for a call from a snapshot before the first phi_step has
       handed that call to the tool. */
    void (*cancel)(void *user_data, phi_call call);
    /* Resumes a call that had begun when a snapshot was made (agent/snapshot.h). It works like
       `start` and gets the same arguments, which are checked once more. phi_call_state is empty, or
       as it was if the tool has `keeps_state`. (default: if the tool has no `step`, the call keeps
       waiting to be finished from outside; otherwise the call fails, with a PHI_EV_WARNING) */
    phi_flow (*resume)(void *user_data, phi_call call, phi_str arguments);
    void *user_data;     /* passed to the functions; must outlive the agent */
    uint32_t timeout_ms; /* (default: the agent's tool_options.timeout_ms; PHI_UNLIMITED) */
    bool not_concurrent; /* runs alone, even in parallel mode */
    /* the tool checks its arguments itself (default: phi checks them by the schema) */
    bool checks_arguments;
    /* The tool runs only if a PHI_HOOK_BEFORE_TOOL hook allows the call. phi_agent_new and
       phi_agent_set refuse such a tool for an agent without that hook. */
    bool needs_approval;
    /* Makes the provider enforce the schema, if the provider can. For this phi adapts the schema:
       optional properties may be null in it, and `start` gets the arguments without these nulls. A
       schema that cannot be adapted makes the model call fail with a message. */
    bool strict;
    /* Called inside phi_step once for each value of the arguments, in their order, as soon as the
       value has arrived. The values are provisional: the call may never start. `field` and its
       strings are valid until on_field returns. (default: none) */
    void (*on_field)(void *user_data, const phi_field *field);
    bool may_repeat; /* the tool polls: repeated identical calls are not counted as a loop */
    /* The tool calls phi_call_edit with a revert. When a tool result enters the history of an agent
       with such a tool, the result gets a last text block with its name: "[step n12]". */
    bool names_steps;
    /* the interval of PHI_EV_TOOL_HEARTBEAT while a call runs (default: no heartbeats). A host that
       does not pop its events gets no heartbeats. */
    uint32_t heartbeat_ms;
    /* How often, and after which delay, a call is started again if its result is an error or its
       deadline passes. The handle stays the same, phi_call_state is empty again, PHI_EV_WARNING
       reports each retry, and the model sees only the last result. There is no retry after an
       abort, nor for arguments that do not fit the schema. */
    uint32_t retries;        /* (default 0) */
    uint32_t retry_delay_ms; /* (default 0: in the next phi_step) */
    /* The tool's updates and results depend only on its arguments and on runs of this runtime. So a
       tape does not record them, and the tool runs again when the tape is played
       (record/replay.h). */
    bool deterministic;
    /* The tool comes from another part of the agent (skills, a document, sub-agents), so
       phi_config_write does not write its name under [tools] enabled. */
    bool unlisted;
    /* For a provider's hosted tool whose calls the host answers (memory, bash, a text editor): JSON
       text of an element of the request's `tools`. If the model's protocol is raw_protocol, this
       text is sent unchanged in place of name, description and schema. "": nothing is sent, because
       the model knows the tool from another element. `name` is the name in the model's calls. For
       any other protocol the tool is sent as usual if it has a schema, and left out if it has none.
       Borrowed until the agent is freed (default: none) */
    const char *raw;
    /* PHI_PROTOCOL_...; required with `raw`; borrowed until the agent is freed */
    const char *raw_protocol;
    /* The maximum size of the texts of one result, like phi_tool_options.max_result_bytes; the
       smaller of the two applies (default: only the agent's) */
    uint32_t max_result_bytes;
    /* Requests do not contain the tool's definition. The model knows the tool's name and loads the
       definition when needed, with the provider's tool search (Claude and OpenAI's newer models) or
       else with phi's own tools search_tools and load_tools. A loaded tool stays loaded. Ignored
       with `raw`. */
    bool deferred;
    /* The same as `deferred`, but only while the definitions of all tools with `may_defer` exceed
       phi_tool_options.defer_percent. Tools of MCP servers and of OpenAPI documents have this
       flag. */
    bool may_defer;
    /* A snapshot contains the bytes of phi_call_state, in base64, and `resume` finds them there. So
       these bytes must contain no pointers. Since they come from a text, `resume` should check
       them. */
    bool keeps_state;
    /* Where the tool comes from, for permission rules: the name of an MCP server, or "openapi"
       (default: the host itself). Borrowed until the agent is freed. */
    const char *source;
} phi_tool;

/* ---- reading a call's arguments ---- */

/* Return one argument of a pending call, or `fallback` if the argument is missing or has another
   type, the call is stale, or there is no memory. `path` is a member's name or a longer path as in
   phi_json_path: "to.x", "items[0].name". The arguments are parsed once; further calls cost
   nothing. Also work in a hook and in a permission dialog. Pumping thread only. The string ends
   with a zero byte and is valid until the call is finished. */
PHI_API const char *phi_call_arg_str(phi_call call, const char *path, const char *fallback);
PHI_API int64_t phi_call_arg_int(phi_call call, const char *path, int64_t fallback);
PHI_API double phi_call_arg_num(phi_call call, const char *path, double fallback);
PHI_API bool phi_call_arg_bool(phi_call call, const char *path, bool fallback);
/* Copies a string into your buffer, terminated. False: there is no such string, and the buffer
   holds an empty string; or the string was too long and was cut between two characters. */
PHI_API bool phi_call_arg_copy(phi_call call, const char *path, char *buffer, size_t size);

/* ---- finishing a call ---- */

/* Finish a call with one text, which the model reads as the result or as an error. phi_call_replyf
   and phi_call_failf take a format, as printf does: put a user's text into an argument, never into
   the format.

   Ownership: the text is copied before return.
   Lifetime: `call` becomes stale when its result is in the thread. With a stale handle the
             functions return PHI_STALE and change nothing.
   Threads:   any. PHI_OK means posted. On the thread of the last phi_step no room is needed, so
              PHI_FULL is never returned there. On any other thread PHI_FULL means that the inbox is
              full now: try again; PHI_BAD_ARG: the text is larger than the inbox can ever hold.
   Callbacks: safe inside one. */
PHI_API phi_status phi_call_reply(phi_call call, const char *text);
PHI_API phi_status phi_call_replyf(phi_call call, const char *format, ...) PHI_PRINTF(2, 3);
PHI_API phi_status phi_call_fail(phi_call call, const char *text);
PHI_API phi_status phi_call_failf(phi_call call, const char *format, ...) PHI_PRINTF(2, 3);

/* A result that may have several texts, images, details and effects. */
typedef struct phi_tool_result {
    const char *text;           /* the result as one text; only without `content`; copied */
    const phi_content *content; /* text, images, documents, audio; copied */
    size_t content_count;
    const char *details; /* JSON text for the host; copied; NULL: none */
    bool is_error;
    const char *child_loop_id; /* the run of another agent that made this result; copied */
    /* Effects on the tool state, a JSON array (log/tool_state.h); an error result may have them,
       too. Applied in call order when the result enters the log; copied (default: none). */
    const char *effects;
} phi_tool_result;

/* Finishes a call with a result. Pumping thread only. PHI_STALE: the call is finished already,
   nothing changes. PHI_BAD_ARG: a block is of a kind that results cannot have, a block lacks its
   data, the effects are not valid, or text and content are both given; phi_last_error names the
   fault, and the call keeps waiting. PHI_UNSUPPORTED: there are effects, but the runtime lacks
   phi_feature_tool_state; the call keeps waiting. PHI_NO_MEMORY: the result is not used. The
   call keeps waiting, or it fails with a message about the lack of memory. */
PHI_API phi_status phi_call_result(phi_call call, const phi_tool_result *result);

/* phi_call_update reports a part of the result while the tool runs (PHI_EV_TOOL_UPDATE).
   phi_call_progress reports a message for the person who waits (PHI_EV_TOOL_PROGRESS). Both are
   copied and not sent to the model. A part that is only text becomes the event's text. For any
   other part the event's message holds the blocks and details, and the event's text is its text
   blocks, joined by line breaks. PHI_BAD_ARG: a block that phi_call_result would refuse, too.
   PHI_FULL: the host does not pop its events, and this event is not queued. PHI_MISUSE: called
   inside the hook of an update. PHI_STALE, PHI_NO_MEMORY. Pumping thread only. */
PHI_API phi_status phi_call_update(phi_call call, const phi_tool_result *partial);
PHI_API phi_status phi_call_progress(phi_call call, const char *text);

/* Returns the call's own memory: zeroed, taken from the agent's budget, freed when the call is over
   (after `cancel`, if `cancel` is called). Each call has one block, which never moves or grows:
   every request returns the same block. NULL: the call is stale, there is no memory, or `bytes`
   exceeds the size of the first request. Pumping thread only. */
PHI_API void *phi_call_state(phi_call call, size_t bytes);

/* Facts about a call; all zero if the call is stale. Strings are valid until the call is
   finished. */
typedef struct phi_call_info {
    bool pending; /* the call waits for its result */
    phi_agent agent;
    phi_str id, tool_name, arguments;
    /* phi_prompt_desc.tool_context of the call's run; if a hidden agent makes the call (for a
       strategy, as a sub-agent), the tool_context of the run that this agent works for. Empty:
       none */
    phi_str context;
    uint32_t block_index; /* the call's block in its answer, as in phi_field */
    uint32_t timeout_ms;  /* the call's deadline, counted from its start */
} phi_call_info;
/* Threads: any. On a thread other than that of the last phi_step it fills in only `pending` (also
            on a new pumping thread before its first step). */
PHI_API phi_call_info phi_call_get_info(phi_call call);

#ifdef __cplusplus
}
#endif
#endif
