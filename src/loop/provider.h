/* provider.h - models of the host's own: in its process, or behind a protocol that phi does not
   speak.

   A provider is a table of functions under a name; phi_model.protocol selects it by that name. It
   is one of two kinds. In process (open, poll, close): a language model on a thread or a device of
   the host's, a script, a substitute for tests. phi_step polls it; it writes the text that it has
   by then. Over HTTP (encode, event, end): it makes the request and reads the answer's stream; the
   rest (connections, deadlines, retries, cancelling) is phi's.
   Either gets messages that were translated for it (phi_translate), unless the agent has a
   translate_fn. */
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
    /* phi_tool.raw, or phi_raw_tool.json (then there is no name); empty: none for this protocol */
    phi_str raw;
} phi_tool_spec;

/* A request to a model. Valid until close, or until encode returns. */
typedef struct phi_model_request {
    phi_agent agent;
    const phi_model *model; /* api_key: of this attempt (PHI_HOOK_CREDENTIAL) */
    phi_str system_prompt;
    const phi_message *const *messages;
    size_t message_count;
    const phi_tool_spec *tools;
    size_t tool_count;
    phi_tool_choice tool_choice;
    phi_thinking thinking;
    uint32_t max_tokens; /* 0: the model's */
    phi_format format;
    phi_str session_id;
    phi_request_options options; /* extra: that of the model, the agent and the run, merged */
} phi_model_request;

/* An HTTP request; strings and arrays in encode's arena, or with a longer life. */
typedef struct phi_http_request {
    const char *method; /* (default: POST) */
    const char *url;    /* (default: the model's base_url) */
    /* besides the model's own, which win; Content-Type is sent as application/json unless given */
    const phi_model_header *headers;
    size_t header_count;
    phi_str body;
} phi_http_request;

typedef enum phi_poll { PHI_POLL_AGAIN, PHI_POLL_DONE } phi_poll;

/* Functions of a kind come together: open, poll and close, or encode, event and end.
   Threads: the pumping thread, inside phi_step. open, poll and close may call every phi_ function
   but phi_step, phi_runtime_close and phi_runtime_free; the others those of phi_answer and of
   arenas alone. */
typedef struct phi_provider {
    const char *protocol; /* copied; of a name that is phi's own, this provider replaces phi's */
    void *user_data;
    /* Begins an answer. Not PHI_OK: the call fails, PHI_BUSY and PHI_FULL so that it is tried again
       (phi_retry), PHI_NETWORK and PHI_TIMEOUT as failures of that kind; close is not called. *call
       comes back in the others. */
    phi_status (*open)(void *user_data, const phi_model_request *request, void **call);
    /* Called once in each phi_step until it says PHI_POLL_DONE: writes the next part of the answer,
       and returns at once. DONE without phi_answer_stop or phi_answer_fail: the answer is complete.
       While the host does not pop its events it is not called. phi_step sleeps 10 ms at most
       meanwhile; a host's thread calls phi_wake when it has text. */
    phi_poll (*poll)(void *user_data, void *call, phi_answer *answer);
    /* Called once for each open that returned PHI_OK: after DONE, or before it, upon an abort, a
       freed agent or a failed answer. */
    void (*close)(void *user_data, void *call);

    /* Writes the request of an attempt into *out, zeroed before. Not PHI_OK: the call fails. */
    phi_status (*encode)(void *user_data, const phi_model_request *request, phi_arena *arena,
                         phi_http_request *out);
    size_t decoder_bytes; /* zeroed for each attempt, as `decoder` */
    /* A server-sent event, or a line of JSON without `data:` in the stream (then without a name).
       Errors that come with a status of 400 and more are classified by phi. */
    void (*event)(void *user_data, void *decoder, phi_str name, phi_str data, phi_answer *answer);
    /* The stream is over. Without phi_answer_stop by now it was cut off, and is tried again. */
    void (*end)(void *user_data, void *decoder, phi_answer *answer);
    /* An answer that is no stream but one JSON text (default: it is handed to `event`, without a
       name). */
    void (*whole)(void *user_data, void *decoder, phi_str body, phi_answer *answer);

    /* Frees user_data, when the runtime with which it was registered is freed (default: none). */
    void (*release)(void *user_data);
} phi_provider;

/* Registers a provider with a runtime: agents that are made, or get a model, from then on find it
   by its protocol; the latest of a name counts. Copied. PHI_BAD_ARG: functions of neither kind, or
   of both, or no name: phi_last_error says which. PHI_NO_MEMORY. Pumping thread. An agent keeps its
   provider until it gets another model. */
PHI_API phi_status phi_register_provider(phi_runtime *rt, const phi_provider *provider);

#ifdef __cplusplus
}
#endif
#endif
