/* model.h - models: name, endpoint, settings of requests, and quirks of protocols, as data. */
#ifndef PHI_MODEL_MODEL_H
#define PHI_MODEL_MODEL_H

#include "base/base.h"
#include "model/message.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The protocols, with the names that configuration files use. */
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
    PHI_THINKING_XHIGH, /* a model without this level gets its highest level */
    PHI_THINKING_MAX    /* like XHIGH */
} phi_thinking;

typedef enum phi_tool_choice {
    PHI_TOOL_CHOICE_AUTO = 0,
    PHI_TOOL_CHOICE_NONE,
    PHI_TOOL_CHOICE_REQUIRED
} phi_tool_choice;

/* The format of an answer: text, any JSON object, or JSON that a schema describes. If the provider
   has a setting for this, phi sends that setting. Otherwise the model must call a tool
   PHI_RESPOND_TOOL, and the arguments of the call become the answer's text. A host reads JSON text
   in both cases (phi_message_json). JSON needs phi_feature_formats in phi_runtime_desc.features.
   docs/structured.md has the table. */
typedef enum phi_format_kind {
    PHI_FORMAT_TEXT = 0,
    PHI_FORMAT_JSON_OBJECT,
    PHI_FORMAT_JSON_SCHEMA
} phi_format_kind;

typedef struct phi_format {
    phi_format_kind kind;
    const char *schema; /* JSON_SCHEMA: a JSON Schema of an object; a desc copies it */
    /* the schema's name, [a-zA-Z0-9_-]{1,64} (default "response"); a desc copies it */
    const char *name;
    /* Makes the provider enforce the schema, if the provider can. For this phi adapts the schema:
       optional properties may be null in the answer (phi_message_json removes these). If the schema
       cannot be adapted, the model call fails with a message before anything is sent. */
    bool strict;
} phi_format;

#define PHI_RESPOND_TOOL "respond_json"

/* Which cache marks are sent to providers that need marks for prompt caching. Providers that cache
   without marks always do so. */
typedef enum phi_cache_mode {
    PHI_CACHE_AUTO = 0, /* all three marks of phi_cache */
    PHI_CACHE_DISABLED,
    PHI_CACHE_MANUAL /* the marks of phi_cache that are true */
} phi_cache_mode;

typedef struct phi_cache {
    phi_cache_mode mode;
    /* MANUAL: marks after the system prompt, after the last tool, and after the last user block */
    bool system, tools, messages;
    /* The marks last one hour instead of five minutes, if the provider has such marks (Claude).
       Writing then costs more; phi_cost has only one rate for writes, so set cache_write to the
       higher rate. */
    bool one_hour;
} phi_cache;

/* Settings of a request other than messages, tools and thinking level. A setting that is zero is
   not sent. A setting that the protocol or the model does not take is left out of the request
   (docs/providers.md); phi_preflight names each of these. */
typedef struct phi_request_options {
    bool has_temperature; /* send `temperature` */
    double temperature;
    double top_p;            /* above 0, at most 1 */
    uint32_t top_k;          /* the number of tokens to choose from */
    const char *const *stop; /* texts that end the answer; none may be empty; copied */
    size_t stop_count;       /* at most 16; some providers take only 4 */
    bool has_seed;           /* send `seed` */
    bool serial_calls;       /* at most one tool call in an answer */
    int64_t seed;
    const char *service_tier; /* a name that the provider defines: "flex", "priority"; copied */
    /* JSON text of an object, merged into the body of each request over the model's `extra`.
       Objects are merged deeply; other values replace earlier ones. A member that phi itself writes
       is refused, and the error names its path. Members that phi always writes are refused when
       `extra` is set, others before the request is sent. Copied */
    const char *extra;
    bool disable_facts; /* requests contain no facts (features/facts.h) */
    /* emit PHI_EV_TURN_REQUEST with the request of each turn, before the turn's first attempt */
    bool capture_requests;
} phi_request_options;

/* A tool that the provider hosts, as JSON: web search, code execution, file search, an MCP
   connector. `json` is one element of the request's `tools`. It is sent unchanged after the agent's
   tools if the model has this protocol, and left out of all other requests. If the tool needs beta
   headers, the host sets them (phi_model.headers). When the model uses the tool, the answer has
   PHI_CONTENT_OPAQUE blocks. For a hosted tool whose calls the host answers, see phi_tool.raw.
   docs/hosted_tools.md */
typedef struct phi_raw_tool {
    /* PHI_PROTOCOL_..., or another name that configuration files allow for the protocol; copied */
    const char *protocol;
    const char *json; /* JSON text of an object; copied */
} phi_raw_tool;

/* Differences between OpenAI-compatible servers: bits of phi_model.quirks. The presets set them.
   The comment of each bit says what it changes. */
enum {
    PHI_QUIRK_MAX_COMPLETION_TOKENS = 1 << 0, /* send max_completion_tokens instead of max_tokens */
    /* the system prompt has the role developer if the model reasons; if an effort is sent, no
       temperature is sent */
    PHI_QUIRK_DEVELOPER_ROLE = 1 << 1,
    PHI_QUIRK_STORE_FALSE = 1 << 2,         /* send store:false */
    PHI_QUIRK_REASONING_EFFORT = 1 << 3,    /* send the thinking level as reasoning_effort */
    PHI_QUIRK_REASONING_OBJECT = 1 << 4,    /* send the thinking level as reasoning:{effort} */
    PHI_QUIRK_THINKING_TYPE = 1 << 5,       /* send thinking:{type:enabled|disabled} */
    PHI_QUIRK_ENABLE_THINKING = 1 << 6,     /* send enable_thinking:true|false */
    PHI_QUIRK_NO_STREAM_USAGE = 1 << 7,     /* send no stream_options */
    PHI_QUIRK_TOOL_NAME_IN_RESULT = 1 << 8, /* send name in tool messages */
    /* send reasoning text back in the same field in which it came */
    PHI_QUIRK_REPLAY_REASONING = 1 << 9,
    /* send the reasoning field in every assistant message, "" if empty */
    PHI_QUIRK_REASONING_REQUIRED = 1 << 10,
    PHI_QUIRK_EMPTY_CONTENT = 1 << 11,  /* if there are calls, send content "" instead of null */
    PHI_QUIRK_ID_9 = 1 << 12,           /* tool call ids have exactly 9 alphanumerics */
    PHI_QUIRK_THINKING_PARTS = 1 << 13, /* thinking arrives as content parts (Mistral) */
    PHI_QUIRK_CACHE_KEY = 1 << 14,      /* send prompt_cache_key; for Responses, too */
    PHI_QUIRK_OPEN_KEY = 1 << 15,       /* an API key is optional */
    PHI_QUIRK_TOOL_STREAM = 1 << 16,    /* send tool_stream:true (z.ai) */
    /* HTTP status 400 with an empty body means a context overflow (Cerebras) */
    PHI_QUIRK_EMPTY_IS_OVERFLOW = 1 << 17,
    /* send adaptive thinking with an effort instead of a budget (Claude 4.6 and later) */
    PHI_QUIRK_ADAPTIVE_THINKING = 1 << 18,
    /* send Anthropic's cache marks in content parts (OpenRouter) */
    PHI_QUIRK_CACHE_CONTROL = 1 << 19,
    /* the server takes no images; an image becomes a line of text */
    PHI_QUIRK_NO_IMAGES = 1 << 20,
    PHI_QUIRK_ASSISTANT_AFTER_TOOL = 1 << 21, /* no user message directly after a tool message */
    PHI_QUIRK_REASONING_ENABLED = 1 << 22,    /* send reasoning:{enabled} (Together) */
    /* send reasoning_format:"parsed"; an effort is "none" or "default" (Groq) */
    PHI_QUIRK_REASONING_FORMAT = 1 << 23,
    PHI_QUIRK_TOOL_CHOICE_ANY = 1 << 24,   /* send "any" instead of "required" (Mistral) */
    PHI_QUIRK_PROMPT_MODE = 1 << 25,       /* send prompt_mode:"reasoning" (Mistral's Magistral) */
    PHI_QUIRK_TEMPLATE_THINKING = 1 << 26, /* send chat_template_kwargs:{enable_thinking} (vLLM) */
    /* with THINKING_TYPE: send clear_thinking:false (z.ai) */
    PHI_QUIRK_KEEP_THINKING = 1 << 27,
    PHI_QUIRK_EMPTY_TOOLS = 1 << 28, /* send tools:[] if the history has calls (LiteLLM) */
    /* the server refuses response_format json_schema, always or in streams */
    PHI_QUIRK_NO_JSON_SCHEMA = 1 << 29,
    PHI_QUIRK_FORMAT_ALONE = 1 << 30 /* send response_format only without tools */
};
/* These bits do not fit an int, so they cannot be enumerators. */
#define PHI_QUIRK_STRICT_TOOLS ((uint64_t)1 << 31) /* the server takes strict:true on tools */
/* For Chat Completions of local servers; docs/local_models.md has the rules. */
#define PHI_QUIRK_THINK_TAGS ((uint64_t)1 << 32) /* <think>...</think> in the content is thinking */
/* with THINK_TAGS: the model's template already opens the tag, so an answer begins with thinking */
#define PHI_QUIRK_THINK_OPEN ((uint64_t)1 << 33)
#define PHI_QUIRK_TEXT_CALLS ((uint64_t)1 << 34) /* tool calls in the text become calls */
/* repair calls whose names or arguments are nearly right; for any protocol */
#define PHI_QUIRK_REPAIR_CALLS ((uint64_t)1 << 35)

typedef struct phi_model_header {
    const char *name, *value;
} phi_model_header;

/* Dollars per million tokens. If all are zero, the rates are not known and no cost is computed. */
typedef struct phi_cost {
    double input, output, cache_read, cache_write;
} phi_cost;

/* Returns the codec of a protocol. Models point to such a function, so that a program links only
   the protocols that it names. */
typedef const struct phi__codec *(*phi_codec_fn)(void);

/* Everything that is needed to reach a model. A desc that takes a phi_model copies the strings. */
typedef struct phi_model {
    const char *protocol; /* PHI_PROTOCOL_... */
    const char *id;       /* the model's name in the API */
    const char *name;     /* for people (default: id) */
    /* for logs and ids, such as "anthropic" (default: the protocol). The old names openai-responses
       and azure are read as openai_responses and azure_openai */
    const char *provider;
    const char *base_url;    /* http:// or https://; a slash at its end is optional */
    const char *api_key;     /* NULL or "": no key is sent */
    uint64_t quirks;         /* PHI_QUIRK_ bits */
    uint32_t context_window; /* tokens (default 128,000) */
    uint32_t max_tokens;     /* output tokens of one call (default 8,192) */
    bool reasoning;          /* the model can think; if false, thinking levels are not sent */
    phi_cost cost;
    const phi_model_header *headers; /* more headers to send */
    size_t header_count;
    /* Only for anthropic_messages: the value of the header anthropic-version (default
       "2023-06-01"). For "2026-10-21" and later versions phi sends no sampling parameters, and
       sends the key as a bearer token. The same header in `headers` overrides this field. */
    const char *api_version;
    /* JSON text of an object, merged into the body of each request (docs/providers.md, "Anything
       else"). A member that phi itself writes is refused, and the error names its path. (default:
       none) */
    const char *extra;
    /* The code of the protocol; presets set it. (default: the codec in phi_runtime_desc.codecs with
       the protocol's name) */
    phi_codec_fn codec;
} phi_model;

/* Returns the dollars for a usage by the model's rates. Output already includes reasoning. */
PHI_API double phi_cost_of(const phi_cost *rates, const phi_usage *usage);

/* A host's own translation (phi_agent_desc.translate_fn), called before each request. It must be
   pure, like phi_translate. PHI_OK: *out is the list. The list may contain the given messages,
   messages in the arena, or messages of the host that are valid until the run ends. With any other
   status the model call fails. */
typedef phi_status (*phi_translate_fn)(void *user_data, const phi_model *target,
                                       const phi_message *const *messages, size_t count,
                                       phi_arena *arena, const phi_message *const **out,
                                       size_t *out_count);

#ifdef __cplusplus
}
#endif
#endif
