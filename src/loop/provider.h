/* provider.h - the host's own models: in its process, or over a protocol that phi does not have.

   A provider is a table of functions with a name; phi_model.protocol selects a provider by its
   name. There are two kinds. In process (open, poll, close): a language model on a thread or a
   device of the host, a script, or a substitute for tests. phi_step polls such a provider, and the
   provider writes the text that is ready. Over HTTP (encode, event, end): the provider makes the
   request and reads the answer's stream; phi does the rest (connections, deadlines, retries,
   cancelling). Both kinds get messages that are already translated for the model, by phi_translate
   or by the agent's translate_fn. */
#ifndef PHI_LOOP_PROVIDER_H
#define PHI_LOOP_PROVIDER_H

#include "model/event.h"
#include "codecs/translate.h"
#include "wire/writer.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct phi_tool_spec {
    phi_str name, description, schema; /* schema: JSON text of an object */
    bool strict;                       /* phi_tool.strict */
    /* phi_tool.raw, or phi_raw_tool.json (then `name` is empty); empty: no raw tool of this
       protocol */
    phi_str raw;
} phi_tool_spec;

/* A request to a model. Valid until `close`, or until `encode` returns. */
typedef struct phi_model_request {
    phi_agent agent;
    const phi_model *model; /* api_key: the key of this attempt (PHI_HOOK_CREDENTIAL) */
    phi_str system_prompt;
    const phi_message *const *messages;
    size_t message_count;
    const phi_tool_spec *tools;
    size_t tool_count;
    phi_tool_choice tool_choice;
    phi_thinking thinking;
    uint32_t max_tokens; /* 0: the model's own limit */
    phi_format format;
    phi_str session_id;
    phi_request_options options; /* extra: merged from the model's, the agent's and the run's */
} phi_model_request;

/* An HTTP request. Its strings and arrays are in encode's arena, or live longer. */
typedef struct phi_http_request {
    const char *method; /* (default: POST) */
    const char *url;    /* (default: the model's base_url) */
    /* Sent with the model's headers, which take precedence. Content-Type is application/json unless
       a header here sets it. */
    const phi_model_header *headers;
    size_t header_count;
    phi_str body;
} phi_http_request;

typedef enum phi_poll { PHI_POLL_AGAIN, PHI_POLL_DONE } phi_poll;

/* A provider. Set all functions of one kind: open, poll and close, or encode, event and end.
   Threads: the pumping thread, inside phi_step. open, poll and close may call every phi_ function
            except phi_step, phi_runtime_close and phi_runtime_free. The others may call only the
            functions of phi_answer and of arenas. */
typedef struct phi_provider {
    /* the provider's name; copied. If this is the name of one of phi's protocols, the provider
       replaces phi's code for the protocol */
    const char *protocol;
    void *user_data;
    /* Begins an answer; the other functions get *call. Any status but PHI_OK: the model call fails,
       and `close` is not called. After PHI_BUSY and PHI_FULL phi tries again (phi_retry).
       After PHI_NETWORK and PHI_TIMEOUT the failure has the kind NETWORK or TIMEOUT. */
    phi_status (*open)(void *user_data, const phi_model_request *request, void **call);
    /* Writes the next part of the answer and returns at once. Called once in each phi_step until it
       returns PHI_POLL_DONE, but not while the host does not pop its events. PHI_POLL_DONE without
       phi_answer_stop or phi_answer_fail: the answer is complete. During the answer phi_step sleeps
       at most 10 ms; a thread of the host calls phi_wake when it has text. */
    phi_poll (*poll)(void *user_data, void *call, phi_answer *answer);
    /* Called once for each `open` that returned PHI_OK: after PHI_POLL_DONE, or earlier if the run
       is aborted, the agent is freed or the answer fails. */
    void (*close)(void *user_data, void *call);

    /* Writes the request of an attempt into *out, which is zeroed. Any status but PHI_OK: the model
       call fails. */
    phi_status (*encode)(void *user_data, const phi_model_request *request, phi_arena *arena,
                         phi_http_request *out);
    size_t decoder_bytes; /* the size of `decoder`, memory that is zeroed for each attempt */
    /* Reads one server-sent event of the stream, or one line of JSON without `data:` (then name is
       empty). phi itself classifies errors with an HTTP status of 400 or more. */
    void (*event)(void *user_data, void *decoder, phi_str name, phi_str data, phi_answer *answer);
    /* Called at the end of the stream. If phi_answer_stop was not called by then, the stream counts
       as cut off, and phi tries again. */
    void (*end)(void *user_data, void *decoder, phi_answer *answer);
    /* Reads an answer that is not a stream but one JSON text (default: `event` gets the text,
       without a name). */
    void (*whole)(void *user_data, void *decoder, phi_str body, phi_answer *answer);

    /* Frees user_data. Called when the runtime in which the provider is registered is freed
       (default: none). */
    void (*release)(void *user_data);
} phi_provider;

/* Registers a provider with a runtime. Agents that are made later, or get a model later, find the
   provider by its name. If several providers have the same name, the last one registered is used.
   An agent keeps its provider until it gets another model. Copied. PHI_BAD_ARG: the name is
   missing, or the functions are not those of exactly one kind; phi_last_error says which. Otherwise
   PHI_OK or PHI_NO_MEMORY. Pumping thread. */
PHI_API phi_status phi_register_provider(phi_runtime *rt, const phi_provider *provider);

#ifdef __cplusplus
}
#endif
#endif
