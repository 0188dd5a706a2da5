/* tool.h - a tool that a model may call: a name, a schema, and functions that may span frames.

       static phi_flow look_start(void *user_data, phi_call call, phi_str arguments) {
           phi_call_replyf(call, "It rains in %s.", phi_call_arg_str(call, "place", "the village"));
           return PHI_DONE;
       }

   start(call) gives its result with phi_call_reply or phi_call_fail and returns PHI_DONE, or
   returns PHI_PENDING. A pending call is finished by its own step(call), which is called once in
   every phi_step, or from anywhere, hundreds of frames later. Each call gets exactly one result:
   the first one given. A call whose tool returns PHI_DONE without a result gets an error that says
   so. */
#ifndef PHI_LOOP_TOOL_H
#define PHI_LOOP_TOOL_H

#include "model/event.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum phi_flow { PHI_DONE, PHI_PENDING } phi_flow;

/* A complete leaf value of a call's arguments, while the rest is still being written. The fields of
   a call are reported in the order of its text, each once, whatever pieces it comes in. A duplicate
   key is reported twice; after a value nested more than 64 deep, or a path of more than 1024 bytes,
   no more fields are reported. The arguments that `start` gets are the ones that count: a hook may
   have changed them. */
typedef struct phi_field {
    phi_agent agent;
    /* of the call in the answer: which call it is; see phi_call_info */
    uint32_t block_index;
    phi_str tool_call_id; /* empty: not known yet; an id that was used before is replaced later */
    phi_str path;         /* a JSON Pointer (RFC 6901): "/actions/0/name" */
    phi_str value; /* its JSON text, whole: a string, a number, true, false, null, [] or {} */
    /* the fields reported so far are void: the answer broke off, with or without another try, or
       was aborted, the arguments are no good, a hook denied the call, it was skipped, finished from
       outside or repeated too often, or memory ended. path and value are empty. Reported once, and
       only after a field was reported; else `start` of the call follows. (A provider that ends with
       other arguments than it streamed: dropped, the fields again, `start`.) Not reported when the
       agent is freed */
    bool dropped;
} phi_field;

/* Threads: the functions run on the pumping thread, inside phi_step. They may call every phi_
   function but phi_step, phi_runtime_close and phi_runtime_free. */
typedef struct phi_tool {
    /* borrowed until the agent is freed. A name of A-Z a-z 0-9 _ and -, a letter or _
       first, at most 64, fits every provider; what the agent's own cannot take is refused */
    const char *name, *description;
    /* JSON Schema of the arguments, borrowed likewise; NULL: the tool declares none, and arguments
       are not checked */
    const char *schema;
    const char *label; /* for people (default: name) */
    /* arguments: the text of a JSON object, borrowed until the call is finished; phi_call_arg_str
       and its like read it */
    phi_flow (*start)(void *user_data, phi_call call, phi_str arguments);
    phi_flow (*step)(void *user_data, phi_call call); /* NULL: only finished from outside */
    /* The call was cancelled or timed out and its result is settled: release its resources. Not
       called for a call that was finished (phi_call_reply or its like said PHI_OK), nor for a call
       out of a snapshot before the first phi_step has handed it to the tool. */
    void (*cancel)(void *user_data, phi_call call);
    /* Resumes a call that had begun when a snapshot was made (agent/snapshot.h): as `start`, with
       the same arguments, which are checked once more; its phi_call_state is empty, or, of a tool
       that keeps_state, as it was. (default: a call of a tool without `step` keeps waiting to be
       finished from outside, any other fails, with a PHI_EV_WARNING) */
    phi_flow (*resume)(void *user_data, phi_call call, phi_str arguments);
    void *user_data;       /* yours; it outlives the agent */
    uint32_t timeout_ms;   /* default: the agent's tool_options.timeout_ms; PHI_UNLIMITED */
    bool not_concurrent;   /* runs alone, also in parallel mode */
    bool checks_arguments; /* it checks its arguments itself; default: phi checks the schema */
    /* Runs only where a PHI_HOOK_BEFORE_TOOL hook allows it. phi_agent_new and phi_agent_set
       refuse it for an agent without that hook. */
    bool needs_approval;
    /* makes the provider enforce the schema, where it can: phi adapts the schema (optional
       properties may be null there; `start` gets the arguments without nulls). A schema that cannot
       be adapted fails the model call, with a message */
    bool strict;
    /* Values of the arguments as they arrive, each once, in their order, inside phi_step;
       provisional: the call may never start. `field` and its strings are valid until it returns.
       (default: none) */
    void (*on_field)(void *user_data, const phi_field *field);
    bool may_repeat; /* the same call again and again is no sign of a loop: it polls */
    /* it calls phi_call_edit with a revert: every result of an agent with this tool ends, when it
       enters the history, with a text block that names it: "[step n12]" */
    bool names_steps;
    /* the interval of PHI_EV_TOOL_HEARTBEAT while a call runs; a host that does not pop its events
       gets none (default: none) */
    uint32_t heartbeat_ms;
    /* How often, and after which delay, a call is started again whose result is an error or that
       runs into its deadline. Its handle stays, phi_call_state is empty again, PHI_EV_WARNING
       reports each retry, and the model sees only the last result. Not after an abort, nor for
       arguments that do not fit the schema. */
    uint32_t retries;        /* (default 0) */
    uint32_t retry_delay_ms; /* (default 0: in the next phi_step) */
    /* Its updates and results follow from its arguments and from runs of this runtime alone: a tape
       does not record them, and the tool is run again when the tape is played (record/replay.h). */
    bool deterministic;
    /* Other parts of an agent bring the tool (its skills, a document, sub-agents): phi_config_write
       does not name it under [tools] enabled. */
    bool unlisted;
    /* A hosted tool that the host answers (memory, bash, a text editor): JSON text of an element of
       the request's `tools`, sent as it is in place of name, description and schema where the
       model's protocol is raw_protocol. "": nothing is sent, and the model knows the tool from
       another element. `name` is the name in the model's calls. For another protocol the tool is
       sent as usual where it has a schema, else it is left out. Borrowed until the agent is freed
       (default: none) */
    const char *raw;
    const char *raw_protocol; /* PHI_PROTOCOL_...; needed with `raw`; borrowed likewise */
    /* The texts of one result, as phi_tool_options.max_result_bytes; the smaller of the two counts
       (default: the agent's alone) */
    uint32_t max_result_bytes;
    /* A request does not define the tool: the model knows its name, and loads the definition when
       it needs it, by the provider's tool search (Claude and OpenAI's newer models), else by phi's
       own tools search_tools and load_tools. A loaded tool stays loaded. Ignored with `raw`. */
    bool deferred;
    /* The same when the definitions of all such tools exceed phi_tool_options.defer_percent. Tools
       of MCP servers and of OpenAPI documents have it. */
    bool may_defer;
    /* The bytes of phi_call_state are part of a snapshot, in base64, and `resume` finds them: no
       pointers. They come out of a text: check them. */
    bool keeps_state;
    /* Who brings the tool, for rules of permissions: the name of an MCP server, "openapi" (default:
       the host itself). Borrowed until the agent is freed. */
    const char *source;
} phi_tool;

/* ---- reading its arguments ---- */

/* One argument of a pending call, or `fallback` when it is not there, has another type, the call is
   stale or memory ends. `path` is a member's name, or leads deeper: "to.x", "items[0].name", as in
   phi_json_path. The arguments are read once; asking again costs nothing. Works in a hook and a
   permission dialog, too. Pumping thread only.
   The string ends with a zero byte and is valid until the call is finished. */
PHI_API const char *phi_call_arg_str(phi_call call, const char *path, const char *fallback);
PHI_API int64_t phi_call_arg_int(phi_call call, const char *path, int64_t fallback);
PHI_API double phi_call_arg_num(phi_call call, const char *path, double fallback);
PHI_API bool phi_call_arg_bool(phi_call call, const char *path, bool fallback);
/* Copies a string into a buffer of your own, terminated. False: it is not there, and the buffer
   holds an empty string; or it was too long, and was cut between two characters. */
PHI_API bool phi_call_arg_copy(phi_call call, const char *path, char *buffer, size_t size);

/* ---- finishing it ---- */

/* Finishes a call with one text: what the model reads as the result, or as an error. The forms
   with an f take a format, as printf does: text of a user belongs in an argument, never in the
   format.

   Ownership: the text is copied before return.
   Lifetime: `call` dies when its result is in the thread; a dead handle returns PHI_STALE and
   changes nothing.
   Threads:   any. PHI_OK means posted. On the thread of the last phi_step no room is needed: there
              it never returns PHI_FULL. On any other, PHI_FULL: the inbox is full now, try again;
              PHI_BAD_ARG: larger than the inbox can ever hold.
   Callbacks: safe inside one. */
PHI_API phi_status phi_call_reply(phi_call call, const char *text);
PHI_API phi_status phi_call_replyf(phi_call call, const char *format, ...) PHI_PRINTF(2, 3);
PHI_API phi_status phi_call_fail(phi_call call, const char *text);
PHI_API phi_status phi_call_failf(phi_call call, const char *format, ...) PHI_PRINTF(2, 3);

/* A result of any shape: more than one text, images, details, effects. */
typedef struct phi_tool_result {
    const char *text;           /* the result as one text; only without `content`; copied */
    const phi_content *content; /* text, images, documents, audio; copied */
    size_t content_count;
    const char *details; /* JSON text for the host; copied; NULL: none */
    bool is_error;
    const char *child_loop_id; /* the run that made it, where that was another agent's; copied */
    /* on the tool state, a JSON array (log/tool_state.h), also of a result that is an error;
       applied when the result enters the log, in call order; copied (default: none) */
    const char *effects;
} phi_tool_result;

/* Hands over a call's result. Pumping thread only. PHI_STALE: the call is finished, nothing
   changes. PHI_BAD_ARG: a block of another kind or without its data, or no effects; phi_last_error
   names the fault, and the call waits on. PHI_NO_MEMORY: nothing changes; the call then fails by
   itself with that message. */
PHI_API phi_status phi_call_result(phi_call call, const phi_tool_result *result);

/* A part of the result while the tool runs (PHI_EV_TOOL_UPDATE), and a message for the person who
   waits (PHI_EV_TOOL_PROGRESS). Copied; not sent to the model. A part that is a text alone is the
   event's text; of any other the event's message holds the blocks and the details, its text the
   text blocks, joined by line breaks. PHI_BAD_ARG: a block as of phi_call_result. PHI_FULL: the
   host does not pop its events, and this one is not queued. PHI_STALE, PHI_NO_MEMORY. Pumping
   thread only. */
PHI_API phi_status phi_call_update(phi_call call, const phi_tool_result *partial);
PHI_API phi_status phi_call_progress(phi_call call, const char *text);

/* The call's own memory: zeroed, from the agent's budget, freed when the call is over (after
   `cancel`, if that is called). One block for each call: every request returns the same block,
   which never moves nor grows. NULL: stale, no memory, or more bytes than the block got at first.
   Pumping thread only. */
PHI_API void *phi_call_state(phi_call call, size_t bytes);

/* What a call is. All zero when it is stale; strings are valid until it is finished. */
typedef struct phi_call_info {
    bool pending; /* it waits for its result */
    phi_agent agent;
    phi_str id, tool_name, arguments;
    /* phi_prompt_desc.tool_context of its run, or of the run for which a hidden agent makes it (a
       strategy's call, a sub-agent); empty: none */
    phi_str context;
    uint32_t block_index; /* of the call in its answer, as of phi_field */
    uint32_t timeout_ms;  /* its deadline from its start */
} phi_call_info;
/* Threads: any; on another than that of the last phi_step it fills in `pending` alone (also on a
   new pumping thread before its first step). */
PHI_API phi_call_info phi_call_get_info(phi_call call);

#ifdef __cplusplus
}
#endif
#endif
