/* message.h - messages, content blocks and usage: data, and its JSON.

   A message here is a view: it does not own its structs and strings. The function or event that
   hands it out says who owns them and how long they are valid. The JSON is the interchange format
   of the session files (phi_message_to_json). */
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
    /* a block that only its protocol understands (a hosted tool's call, its result, a compaction):
       sent back byte for byte to that protocol, left out for others */
    PHI_CONTENT_OPAQUE,
    PHI_CONTENT_DOCUMENT, /* a PDF or a text: data, text or url; name: its title */
    PHI_CONTENT_AUDIO     /* data and mime_type */
} phi_content_kind;

/* One block. A field that a kind does not use is empty. */
typedef struct phi_content {
    phi_content_kind kind;
    bool redacted; /* thinking: hidden by the provider, `signature` holds its data */
    /* tool call: the stream broke off inside it; it is never run. Opaque: the same; never sent */
    bool incomplete;
    phi_str text;      /* text, thinking; document: plain text, in place of data */
    phi_str data;      /* image, document, audio: base64 */
    phi_str mime_type; /* of data: "image/png", "application/pdf", "audio/wav", "audio/mp3"... */
    phi_str url;       /* document: its address, in place of data */
    phi_str id;        /* tool call */
    /* tool call; document: title; opaque: the block's type on the wire ("server_tool_use"); also of
       a text that is the arguments of PHI_RESPOND_TOOL */
    phi_str name;
    phi_str arguments; /* tool call: JSON text; an object, unless the model sent something else */
    phi_str signature; /* text, thinking, tool call: the provider's token, sent back unchanged */
    phi_str replay; /* JSON text that the minting provider wants back verbatim; opaque: the block */
    phi_str protocol;  /* opaque: PHI_PROTOCOL_..., whose block it is */
    phi_str citations; /* text: JSON array of the provider's citations; phi_citations reads it */
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

/* Tokens. input excludes tokens read from or written to a cache; reasoning is part of output. The
   cache's hit rate is cache_read / (input + cache_read + cache_write). */
typedef struct phi_usage {
    uint64_t input, output, reasoning, cache_read, cache_write;
    uint64_t total_tokens; /* input + output + cache_read + cache_write */
} phi_usage;

/* Fields that the Rust original keeps with a message. phi carries them and uses none of them. JSON
   text but for `role`; empty: absent. */
typedef struct phi_message_extra {
    phi_str node_id, parent_id; /* integers from 0 */
    phi_str tags;               /* an array */
    phi_str provenance_hint;    /* any value but null */
    phi_str role;               /* extension: its role as text, where that is not "extension" */
} phi_message_extra;

typedef struct phi_message {
    phi_role role;
    const phi_content *content;
    size_t content_count;
    int64_t timestamp_ms; /* Unix time; for display, never for order */
    phi_str loop_id;      /* the turn that made it; empty: none */
    uint32_t turn_index;
    /* assistant */
    phi_stop_reason stop_reason;
    phi_str raw_stop_reason;           /* as the provider sent it; not in the JSON */
    phi_str model, provider, protocol; /* of the request: PHI_PROTOCOL_..., or empty when unknown */
    phi_usage usage;
    phi_str error_message;
    /* tool result; `details` also of an assistant: Anthropic's diagnostics (docs/caching.md) */
    phi_str tool_call_id, tool_name;
    bool is_error;
    phi_str details; /* JSON text for the host, or empty; not in the JSON, never sent to a model */
    /* extension */
    phi_str extension_kind, extension_data; /* data: JSON text */
    const phi_message_extra *extra;         /* any role; NULL: nothing */
    /* user: said by the program, not by a person (facts, instructions, tools that changed): sent as
       a system message where the model takes one in mid-conversation, else as the user's text */
    bool is_update;
    /* assistant with thinking: hashes of the request that it answers, by which phi knows whether
       the thinking may go back (docs/providers.md); 0: not known */
    uint64_t prefix, prefix_parts;
} phi_message;

/* All text blocks of a message joined by `separator`, in the arena; empty when there are none or no
   memory (then `*failed` is set, where given). arena NULL: the first text block alone, as it is
   in the message: phi_message_text(ev.message, NULL, NULL, NULL). */
PHI_API phi_str phi_message_text(const phi_message *message, const char *separator,
                                 phi_arena *arena, bool *failed);

/* Deep copy into the arena; NULL: no memory. */
PHI_API phi_message *phi_message_copy(const phi_message *message, phi_arena *arena);

/* The interchange JSON, in the arena. Beyond the fields that others write it has, where they are
   set: "name", "signature", "replay" and "citations" of text, "redacted" and "replay" of thinking,
   "incomplete", "signature" and "replay" of a tool call, the assistant's "api" (protocol) and
   "prefix", and "update" of a user's message. Blocks of the types "opaque", "document" and "audio"
   are phi's own; an opaque block's JSON is a string, so that it stays byte for byte. Arguments that
   are no JSON value are written as a string; a string is quoted once more, unless its content is
   empty or a JSON value that would read as the arguments: so each reads back as it was, in phi and
   in the original. PHI_NO_MEMORY. */
PHI_API phi_status phi_message_to_json(const phi_message *message, phi_arena *arena, phi_str *out);
/* Reads a message, copying into the arena. A missing or malformed field other than role and content
   counts as absent; unknown keys are ignored. An object with kind and data is an extension,
   whatever its role, unless it has the role of another message and content.
   PHI_PARSE: no JSON, or no message: *error says why. PHI_NO_MEMORY. */
PHI_API phi_status phi_message_from_json(phi_str json, phi_arena *arena, phi_message *out,
                                         phi_parse_error *error);

#ifdef __cplusplus
}
#endif
#endif
