/* model.h - a model: its name, its endpoint, and the quirks of its protocol; data only. */
#ifndef PHI_MODEL_MODEL_H
#define PHI_MODEL_MODEL_H

#include "base/base.h"
#include "model/message.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The protocols, by the names configuration files use. */
#define PHI_PROTOCOL_ANTHROPIC "anthropic_messages"
#define PHI_PROTOCOL_OPENAI_CHAT "openai_completions"
#define PHI_PROTOCOL_OPENAI_RESPONSES "openai_responses"
#define PHI_PROTOCOL_AZURE_RESPONSES "azure_openai_responses"
#define PHI_PROTOCOL_GOOGLE "google_generative_ai"
#define PHI_PROTOCOL_VERTEX "google_vertex"
#define PHI_PROTOCOL_INTERACTIONS "google_interactions"
#define PHI_PROTOCOL_BEDROCK "bedrock_converse_stream"

typedef enum phi_thinking {
    PHI_THINKING_OFF = 0,
    PHI_THINKING_MINIMAL,
    PHI_THINKING_LOW,
    PHI_THINKING_MEDIUM,
    PHI_THINKING_HIGH,
    PHI_THINKING_XHIGH, /* a model that has no such level gets the highest that it has */
    PHI_THINKING_MAX    /* the same */
} phi_thinking;

typedef enum phi_tool_choice {
    PHI_TOOL_CHOICE_AUTO = 0,
    PHI_TOOL_CHOICE_NONE,
    PHI_TOOL_CHOICE_REQUIRED
} phi_tool_choice;

/* The format of an answer: text, any JSON object, or JSON that a schema describes. Sent in the
   provider's own form where it has one; else the model must call a tool PHI_RESPOND_TOOL, whose
   arguments become the answer's text: a host reads JSON text in either case (phi_message_json).
   JSON needs phi_feature_formats in phi_runtime_desc.features.
   docs/structured.md has the table. */
typedef enum phi_format_kind {
    PHI_FORMAT_TEXT = 0,
    PHI_FORMAT_JSON_OBJECT,
    PHI_FORMAT_JSON_SCHEMA
} phi_format_kind;

typedef struct phi_format {
    phi_format_kind kind;
    const char *schema; /* JSON_SCHEMA: a JSON Schema of an object; copied where a desc takes it */
    const char *name;   /* of the schema, [a-zA-Z0-9_-]{1,64} (default "response"); copied too */
    /* The schema is adapted so that the provider can enforce it, where it can: an optional property
       may be null there (phi_message_json removes it). A schema that cannot be adapted fails the
       model call before it is sent, with a message. */
    bool strict;
} phi_format;

#define PHI_RESPOND_TOOL "respond_json"

/* Which marks of prompt caching are sent, where a provider wants marks. Providers that cache by
   themselves do so in any case. */
typedef enum phi_cache_mode {
    PHI_CACHE_AUTO = 0, /* all three */
    PHI_CACHE_DISABLED,
    PHI_CACHE_MANUAL /* the parameters that are set */
} phi_cache_mode;

typedef struct phi_cache {
    phi_cache_mode mode;
    /* MANUAL: behind the system prompt, the last tool, the last user block */
    bool system, tools, messages;
    /* The marks last an hour, not five minutes, where the provider has such marks (Claude); writing
       costs more then, and phi_cost has one rate: set cache_write to that. */
    bool one_hour;
} phi_cache;

/* Settings of a request besides its messages, tools and thinking level. Zero: not sent. A setting
   that the protocol or the model does not take is left out of the request, as docs/providers.md has
   it; phi_preflight names each. */
typedef struct phi_request_options {
    bool has_temperature; /* send `temperature` */
    double temperature;
    double top_p;            /* above 0, to 1 */
    uint32_t top_k;          /* tokens to choose from */
    const char *const *stop; /* texts that end the answer, none empty; copied */
    size_t stop_count;       /* 16 at most; some providers take 4 */
    bool has_seed;           /* send `seed` */
    bool serial_calls;       /* one tool call in an answer at most */
    int64_t seed;
    const char *service_tier; /* in the provider's words: "flex", "priority"; copied */
    /* JSON text of an object, merged into the body of each request over the model's `extra`:
       objects deeply, everything else replaces. A member that phi writes itself is refused by its
       path: when it is set if phi always writes it, else by the request, before anything is sent.
       Copied */
    const char *extra;
    bool disable_facts; /* the requests show no facts (features/facts.h) */
    /* emit the request of each turn, before its first attempt: PHI_EV_TURN_REQUEST */
    bool capture_requests;
} phi_request_options;

/* A tool that the provider hosts, as JSON: web search, code execution, file search, an MCP
   connector. One element of the request's `tools`, sent as it is, after the agent's tools, if the
   model has that protocol; left out of all other requests. The beta headers it needs are the host's
   to set (phi_model.headers). The blocks of its use come back as PHI_CONTENT_OPAQUE. For a hosted
   tool that the host itself answers, see phi_tool.raw. docs/hosted_tools.md */
typedef struct phi_raw_tool {
    const char *protocol; /* PHI_PROTOCOL_..., or another name that files have for it; copied */
    const char *json;     /* JSON text of an object; copied */
} phi_raw_tool;

/* Differences of OpenAI-compatible servers: bits of phi_model.quirks. The presets set them; each
   has its effect next to it. */
enum {
    PHI_QUIRK_MAX_COMPLETION_TOKENS = 1 << 0, /* field max_completion_tokens, not max_tokens */
    /* system prompt as role developer, where the model reasons; with an effort: no temperature */
    PHI_QUIRK_DEVELOPER_ROLE = 1 << 1,
    PHI_QUIRK_STORE_FALSE = 1 << 2,           /* send store:false */
    PHI_QUIRK_REASONING_EFFORT = 1 << 3,      /* thinking level as reasoning_effort */
    PHI_QUIRK_REASONING_OBJECT = 1 << 4,      /* thinking level as reasoning:{effort} */
    PHI_QUIRK_THINKING_TYPE = 1 << 5,         /* thinking:{type:enabled|disabled} */
    PHI_QUIRK_ENABLE_THINKING = 1 << 6,       /* enable_thinking:true|false */
    PHI_QUIRK_NO_STREAM_USAGE = 1 << 7,       /* no stream_options */
    PHI_QUIRK_TOOL_NAME_IN_RESULT = 1 << 8,   /* name on tool messages */
    PHI_QUIRK_REPLAY_REASONING = 1 << 9,      /* send reasoning text back in its field */
    PHI_QUIRK_REASONING_REQUIRED = 1 << 10,   /* every assistant message carries it, "" if none */
    PHI_QUIRK_EMPTY_CONTENT = 1 << 11,        /* content "" rather than null with calls */
    PHI_QUIRK_ID_9 = 1 << 12,                 /* tool ids are exactly 9 alphanumerics */
    PHI_QUIRK_THINKING_PARTS = 1 << 13,       /* thinking as content parts (Mistral) */
    PHI_QUIRK_CACHE_KEY = 1 << 14,            /* send prompt_cache_key; Responses too */
    PHI_QUIRK_OPEN_KEY = 1 << 15,             /* a key is optional */
    PHI_QUIRK_TOOL_STREAM = 1 << 16,          /* send tool_stream:true (z.ai) */
    PHI_QUIRK_EMPTY_IS_OVERFLOW = 1 << 17,    /* a 400 with an empty body (Cerebras) */
    PHI_QUIRK_ADAPTIVE_THINKING = 1 << 18,    /* Anthropic >= 4.6: adaptive and effort, no budget */
    PHI_QUIRK_CACHE_CONTROL = 1 << 19,        /* Anthropic-style marks on parts (OpenRouter) */
    PHI_QUIRK_NO_IMAGES = 1 << 20,            /* takes no images: they become a line of text */
    PHI_QUIRK_ASSISTANT_AFTER_TOOL = 1 << 21, /* no user message directly after a tool message */
    PHI_QUIRK_REASONING_ENABLED = 1 << 22,    /* reasoning:{enabled} (Together) */
    /* reasoning_format:"parsed"; with an effort: none or default (Groq) */
    PHI_QUIRK_REASONING_FORMAT = 1 << 23,
    PHI_QUIRK_TOOL_CHOICE_ANY = 1 << 24,   /* "any" where others say "required" (Mistral) */
    PHI_QUIRK_PROMPT_MODE = 1 << 25,       /* prompt_mode:"reasoning" (Mistral's Magistral) */
    PHI_QUIRK_TEMPLATE_THINKING = 1 << 26, /* chat_template_kwargs:{enable_thinking} (vLLM) */
    PHI_QUIRK_KEEP_THINKING = 1 << 27,     /* with THINKING_TYPE: clear_thinking:false (z.ai) */
    PHI_QUIRK_EMPTY_TOOLS = 1 << 28,       /* tools:[] if the history has calls (LiteLLM) */
    PHI_QUIRK_NO_JSON_SCHEMA = 1 << 29,    /* no response_format json_schema, or not for streams */
    PHI_QUIRK_FORMAT_ALONE = 1 << 30       /* response_format only where there are no tools */
};
/* Bits that no int has, so no enumerators. */
#define PHI_QUIRK_STRICT_TOOLS ((uint64_t)1 << 31) /* takes strict:true on tools */
/* Chat Completions of local servers; docs/local_models.md has the rules. */
#define PHI_QUIRK_THINK_TAGS ((uint64_t)1 << 32) /* <think>...</think> in content is thinking */
/* with THINK_TAGS: the model's template opens the tag, so an answer begins with thinking */
#define PHI_QUIRK_THINK_OPEN ((uint64_t)1 << 33)
#define PHI_QUIRK_TEXT_CALLS ((uint64_t)1 << 34) /* tool calls written as text are calls */
/* names and arguments of calls that are nearly right are put right; any protocol */
#define PHI_QUIRK_REPAIR_CALLS ((uint64_t)1 << 35)

typedef struct phi_model_header {
    const char *name, *value;
} phi_model_header;

/* Dollars per million tokens; all zero: unknown, no cost is counted. */
typedef struct phi_cost {
    double input, output, cache_read, cache_write;
} phi_cost;

/* A protocol's code. A model carries it, so that a program links the protocols that it names. */
typedef const struct phi__codec *(*phi_codec_fn)(void);

/* A provider connection, whole. Strings are copied where a desc takes it. */
typedef struct phi_model {
    const char *protocol; /* PHI_PROTOCOL_... */
    const char *id;       /* the name the API knows */
    const char *name;     /* for people (default: id) */
    /* for logs and ids, "anthropic" (default: the protocol); the old names openai-responses and
       azure are read as openai_responses and azure_openai */
    const char *provider;
    const char *base_url;    /* http:// or https://; a slash at its end is optional */
    const char *api_key;     /* NULL or "": none is sent */
    uint64_t quirks;         /* PHI_QUIRK_ bits */
    uint32_t context_window; /* tokens (default 128,000) */
    uint32_t max_tokens;     /* output tokens a call (default 8,192) */
    bool reasoning;          /* can think; else thinking levels are not sent */
    phi_cost cost;
    const phi_model_header *headers; /* sent as well */
    size_t header_count;
    /* anthropic_messages: the header anthropic-version, and its rules: from "2026-10-21" on no
       sampling parameters, and a bearer key (default "2023-06-01"); others ignore it. One in
       `headers` wins. */
    const char *api_version;
    /* JSON text of an object, merged into the body of each request: docs/providers.md, "Anything
       else". A member that phi writes itself is refused by its path. (default: none) */
    const char *extra;
    /* The code of the protocol: a preset sets it. (default: the one of phi_runtime_desc.codecs that
       has that name) */
    phi_codec_fn codec;
} phi_model;

/* Dollars for a usage by the model's rates; reasoning is not charged again. */
PHI_API double phi_cost_of(const phi_cost *rates, const phi_usage *usage);

/* A host's own translation (phi_agent_desc.translate_fn). It is called before each request and must
   be pure too. PHI_OK: the list; its messages may be the given ones, others in the arena, or the
   host's own, valid until the run ends. Anything else fails the model call. */
typedef phi_status (*phi_translate_fn)(void *user_data, const phi_model *target,
                                       const phi_message *const *messages, size_t count,
                                       phi_arena *arena, const phi_message *const **out,
                                       size_t *out_count);

#ifdef __cplusplus
}
#endif
#endif
