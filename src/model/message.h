/* message.h - messages, content blocks and usage, and their JSON.

   A phi_message does not own the structs and strings that it points to. The function or event that
   gives a message out says who owns them and how long they are valid. phi_message_to_json writes a
   message in the format of the session files. */
#ifndef PHI_MODEL_MESSAGE_H
#define PHI_MODEL_MESSAGE_H

#include "base/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum phi_role {
    PHI_ROLE_USER = 1,
    PHI_ROLE_ASSISTANT,
    PHI_ROLE_TOOL_RESULT,
    PHI_ROLE_EXTENSION /* for the host's own use; never sent to a model */
} phi_role;

typedef enum phi_content_kind {
    PHI_CONTENT_TEXT = 1,
    PHI_CONTENT_IMAGE,
    PHI_CONTENT_THINKING,
    PHI_CONTENT_TOOL_CALL,
    /* A block that only the protocol it came from understands (a hosted tool's call or result, a
       compaction). It is sent back byte for byte to that protocol, and left out for others. */
    PHI_CONTENT_OPAQUE,
    PHI_CONTENT_DOCUMENT, /* a PDF or a text, in data, text or url; name is the title */
    PHI_CONTENT_AUDIO     /* in data and mime_type */
} phi_content_kind;

/* One content block. Fields that a kind does not use are empty. */
typedef struct phi_content {
    phi_content_kind kind;
    bool redacted; /* thinking that the provider hides; `signature` holds its data */
    /* The stream broke off inside this block. An incomplete tool call is never run; an incomplete
       opaque block is never sent. */
    bool incomplete;
    phi_str text; /* text, thinking: the text; document: plain text, instead of data */
    phi_str data; /* image, document, audio: base64 */
    /* the type of `data`: "image/png", "application/pdf", "audio/wav", "audio/mp3"... */
    phi_str mime_type;
    phi_str url; /* document: its address, instead of data */
    phi_str id;  /* id of a tool call */
    /* tool call: the tool's name; document: the title; opaque: the block's type on the wire
       ("server_tool_use"). text: PHI_RESPOND_TOOL if the text was made from this tool's
       arguments */
    phi_str name;
    phi_str arguments; /* tool call: JSON text of an object, unless the model sent something else */
    phi_str signature; /* text, thinking, tool call: the provider's token, sent back unchanged */
    /* JSON text that the block's provider wants back unchanged; opaque: the block itself */
    phi_str replay;
    phi_str protocol;  /* opaque: the block's protocol, PHI_PROTOCOL_... */
    phi_str citations; /* text: JSON array of the provider's citations, for phi_citations */
} phi_content;

#define PHI_STOP_REASON_LIST(X)                                                                    \
    X(STOP, 1, "stop")                                                                             \
    X(LENGTH, 2, "length")                                                                         \
    X(TOOL_USE, 3, "toolUse")                                                                      \
    X(ERROR, 4, "error")                                                                           \
    X(ABORTED, 5, "aborted")                                                                       \
    X(MAX_TURNS, 6, "maxTurns")                                                                    \
    X(USER_STOP, 7, "userStop")                                                                    \
    X(HANDOFF, 8, "handoff")                                                                       \
    X(GUARD_RAIL, 9, "guardRail")                                                                  \
    X(CONTEXT_COMPACTED, 10, "contextCompacted")                                                   \
    X(PAUSED, 11, "paused")

#define PHI_X(name, value, text) PHI_STOP_REASON_##name = value,
typedef enum phi_stop_reason {
    PHI_STOP_REASON_NONE = 0, /* not an assistant message, or still streaming */
    PHI_STOP_REASON_LIST(PHI_X)
} phi_stop_reason;
#undef PHI_X

/* Numbers of tokens. input does not include tokens that were read from or written to a cache;
   output includes reasoning. The hit rate of the cache is cache_read / (input + cache_read +
   cache_write). */
typedef struct phi_usage {
    uint64_t input, output, reasoning, cache_read, cache_write;
    uint64_t total_tokens; /* input + output + cache_read + cache_write */
} phi_usage;

/* Fields of messages from other programs that use this format. phi keeps these fields but does not
   use them. All except `role` are JSON text; empty: absent. */
typedef struct phi_message_extra {
    phi_str node_id, parent_id; /* integers from 0 */
    phi_str tags;               /* an array */
    phi_str provenance_hint;    /* any value but null */
    phi_str role;               /* extension: the role as text, if that is not "extension" */
} phi_message_extra;

typedef struct phi_message {
    phi_role role;
    const phi_content *content;
    size_t content_count;
    int64_t timestamp_ms; /* Unix time; for display, never for order */
    phi_str loop_id;      /* the run that made the message; empty: none */
    uint32_t turn_index;
    /* The fields from here to error_message are only in assistant messages. */
    phi_stop_reason stop_reason;
    phi_str raw_stop_reason; /* as the provider sent it; not in the JSON */
    /* model, provider and protocol of the request, whatever name the server gives to the model;
       protocol: PHI_PROTOCOL_..., or empty */
    phi_str model, provider, protocol;
    phi_usage usage;
    phi_str error_message;
    /* The fields from here to details are in tool results. Two other messages may have `details`: a
       user message with the id and refs of its request (phi_prompt_desc), and an assistant message
       with Anthropic's diagnostics (docs/caching.md). */
    phi_str tool_call_id, tool_name;
    bool is_error;
    phi_str details; /* JSON text for the host, or empty; not in the JSON, never sent to a model */
    /* only in extensions */
    phi_str extension_kind, extension_data; /* data: JSON text */
    const phi_message_extra *extra;         /* in messages of any role; NULL: no extra fields */
    /* In user messages: the message comes from the program, not from a person (facts, changed
       instructions, changed tools). Sent as a system message if the model takes system messages in
       mid-conversation, or else as a user's text */
    bool is_update;
    /* In assistant messages with thinking: hashes of the request that the message answers. They
       tell phi if the thinking may be sent back (docs/providers.md); 0: not known */
    uint64_t prefix, prefix_parts;
} phi_message;

/* Returns all text blocks of a message, joined by `separator`, in the arena. Returns an empty text
   if there are no text blocks, or if there is no memory (then *failed is set to true, unless failed
   is NULL). If arena is NULL, returns only the first text block, without a copy:
   phi_message_text(ev.message, NULL, NULL, NULL). */
PHI_API phi_str phi_message_text(const phi_message *message, const char *separator,
                                 phi_arena *arena, bool *failed);

/* Copies a message and everything that it points to into the arena; NULL: no memory. */
PHI_API phi_message *phi_message_copy(const phi_message *message, phi_arena *arena);

/* Writes a message as JSON of the session files into the arena. Besides the members that other
   programs write, the JSON has these members of phi's own, if they are set: "name", "signature",
   "replay" and "citations" of text, "redacted" and "replay" of thinking, "incomplete", "signature"
   and "replay" of a tool call, "api" (the protocol) and "prefix" of an assistant message, and
   "update" of a user message. Only phi has blocks of the types "opaque", "document" and "audio".
   The JSON of an opaque block is written as a string, so it stays the same byte for byte. Arguments
   that are not a JSON value are written as a string. Arguments that are a string are quoted once
   more, unless the string is empty or contains a JSON value that would be read as the arguments. So
   all arguments read back unchanged, in phi and in other programs. Returns PHI_OK or
   PHI_NO_MEMORY. */
PHI_API phi_status phi_message_to_json(const phi_message *message, phi_arena *arena, phi_str *out);
/* Reads a message and copies it into the arena. A malformed field other than role and content
   counts as missing; unknown keys are ignored. An object with kind and data is an extension,
   whatever its role, unless it has content and the role of another kind of message. PHI_PARSE: the
   text is no JSON or no message, and *error says why. Otherwise PHI_OK or PHI_NO_MEMORY. */
PHI_API phi_status phi_message_from_json(phi_str json, phi_arena *arena, phi_message *out,
                                         phi_parse_error *error);

#ifdef __cplusplus
}
#endif
#endif
