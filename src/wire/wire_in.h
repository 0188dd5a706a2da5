/* wire_in.h - the functions and types that wire/ offers to other rooms. */
#ifndef PHI_WIRE_WIRE_IN_H
#define PHI_WIRE_WIRE_IN_H

#include "base/base_in.h"
#include "io/io_in.h"
#include "model/failure.h"
#include "model/message.h"
#include "model/model.h"
#include "model/model_in.h"
#include "text/text_in.h"
#include "wire/writer.h"

struct phi__encoder;

struct phi__adapted;

struct phi__prefix;

struct phi__framing;

typedef struct phi__codec phi__codec;

typedef struct phi__assembly phi__assembly;

/* Most blocks of an answer. Real answers have a few dozen. The search for duplicates compares all
   pairs. */
enum {
    PHI__ASSEMBLY_BLOCKS_MOST = 1024,
    /* Most changes of an opaque block's JSON. Real blocks have a few. Each change copies the
       JSON. */
    PHI__ASSEMBLY_EDITS_MOST = 256,
    PHI__ASSEMBLY_PROOF_MOST =
        1 << 20 /* bytes of JSON that are parsed to prove them valid; longer JSON is only scanned */
};

typedef struct phi__draft {
    phi_content_kind kind;
    bool open; /* more may come; a tool call still open at the end is incomplete */
    bool redacted;
    /* Tool call: it was cut off; phi__assembly_finish sets this. Opaque block: it was cut off or
       its JSON is broken, so it is not sent back. */
    bool incomplete;
    bool replay_open;  /* replay is still being written: hidden from the view */
    uint8_t held_len;  /* bytes in `held` */
    char held[4];      /* the start of a UTF-8 sequence that a delta cut */
    uint32_t edits;    /* number of changes of an opaque block's JSON */
    uint32_t rewrites; /* number of times that received bytes were replaced */
    uint32_t high;     /* the first half of a surrogate pair that a delta cut, or 0 */
    int64_t key;       /* the protocol's index of the block; negative if it has none */
    uint64_t item;     /* hash of the protocol's id of the block; 0 if it has none */
    uint64_t kept;     /* hash by which a later item finds this block; 0 if unused */
    /* Text, thinking or arguments. In an open opaque block: JSON, not reported to the sink. */
    phi__buf bytes;
    phi__buf signature, replay;
    phi__buf citations; /* text: JSON array; open call: the future value of `replay` */
    phi__buf id, name;
    phi__buf note; /* tool call: description of its repairs, for people; "" if there were none */
    size_t hidden; /* bytes of the id from which secrets are already removed */
} phi__draft;

/* The changes of an answer that are reported to the sink, at once. */
typedef enum phi__part {
    PHI__PART_START,     /* the answer began; model and id are set if the wire sent them */
    PHI__PART_BLOCK,     /* a block began */
    PHI__PART_DELTA,     /* bytes [from, draft->bytes.len) of the block are new */
    PHI__PART_BLOCK_END, /* a block is complete */
    PHI__PART_AGAIN      /* a block changed its kind: earlier deltas are void and are sent again */
} phi__part;

struct phi__assembly {
    phi_memory *memory;
    phi_arena scratch; /* memory for a decoder during one event; reset after the event */
    phi__draft *drafts;
    size_t count, cap;
    phi_usage usage;
    phi_stop_reason stop_reason; /* NONE until known */
    phi__buf raw_stop_reason, model, response_id;
    phi__buf details; /* JSON for the host: phi_message.details */
    size_t hidden;    /* bytes of the four buffers above from which secrets are already removed */
    uint64_t id_salt; /* set by the caller: makes invented call ids unique in a session */
    phi_str
        protocol; /* set by the caller: a static PHI_PROTOCOL_ string, copied into opaque blocks */
    bool respond; /* set by the caller: the first call of PHI_RESPOND_TOOL is the answer */
    bool started;
    bool terminal;       /* the protocol's end was seen: later errors change nothing */
    bool last;           /* the protocol's last event was seen: nothing after it is read */
    bool awaits_usage;   /* the answer failed, but its usage may follow: reading continues */
    bool unknown_stop;   /* the decoder does not know the word in raw_stop_reason */
    bool no_memory;      /* memory ran out; never reset */
    phi_failure failure; /* kind NONE: no failure. The strings are in failure_words */
    phi_status status;   /* status of a run that ends in this failure; PHI_OK: the kind decides */
    phi__buf failure_words;
    /* Set by the caller for decoders that look for calls and thinking in text: the model's quirks
       and the request's tools (borrowed). */
    uint64_t quirks;
    const struct phi__tool_view *tools; /* defined below */
    size_t tool_count;
    phi__draft held; /* received text that is in no block yet */
    void (*sink)(void *ctx, phi__assembly *assembly, phi__part part, size_t block, size_t from);
    void *ctx;
};

PHI__FN void phi__assembly_init(phi__assembly *a, phi_memory *memory);
PHI__FN void phi__assembly_free(phi__assembly *a); /* may be called twice */

/* Sets the failure and the stop reason: GUARD_RAIL if kind is CONTENT_FILTER, else ERROR. Does
   nothing if there is a failure already. Strings are copied without control characters. */
PHI__FN void phi__assembly_fail(phi__assembly *a, phi_failure_kind kind, bool retryable,
                                phi_str code, phi_str message);

/* Returns the block's kind as readers of the message see it. If `respond` is set, they see the call
   that is the answer as a TEXT. Decoders use draft->kind, which remains TOOL_CALL. */
PHI__FN phi_content_kind phi__assembly_kind(const phi__assembly *a, size_t block);

/* Completes a message after the end of the answer. Empty arguments become {}. An open call becomes
   incomplete, and so does a call with broken arguments after a length limit or with `unknown_stop`.
   A call without an id, or with the id of an earlier call of the message, gets a new id. A normal
   stop reason becomes TOOL_USE if the message has complete calls and none of them is the answer,
   else STOP. A missing stop reason counts as normal if `terminal` is set, else it becomes ERROR.
   Computes total_tokens. Sets the failure NO_MEMORY if memory ran out, unless there is a failure
   already. */
PHI__FN void phi__assembly_finish(phi__assembly *a);

/* Removes secrets from ids, stop word, model, details and failure. Call it after writing any of
   these. */
PHI__FN void phi__assembly_hide(phi__assembly *a, const phi__secrets *secrets);

/* Fills *out with the message so far, as views into the buffers. `content` must have room for
   a->count blocks. out->model is the name that the provider sent. The caller replaces it by the
   requested name and sets provider and protocol, which later decide if signatures may be sent
   back. */
PHI__FN void phi__assembly_view(const phi__assembly *a, phi_content *content, phi_message *out);

/* Returns the value of a header, or an empty string. Ignores the case of the name. */
PHI__FN phi_str phi__headers_value(phi_str headers, const char *name);

/* Fails an answer whose stream ended without the protocol's end. `heard` is true if at least one
   event came. */
PHI__FN void phi__classify_truncated(phi__assembly *a, bool heard);

enum {
    PHI__FILL_LONG = 8192,  /* a text longer than this many bytes leaves a hole */
    PHI__FILL_SLICE = 4096, /* bytes of a hole's source that are handled at a time */
    PHI__FILL_HOLES = 8     /* max. holes of a message; further long texts are rendered at once */
};

typedef struct phi__hole {
    size_t offset; /* position in the scratch buffer */
    phi_str source;
    bool base64; /* false: the inside of a JSON string */
} phi__hole;

typedef struct phi__fill {
    phi__hole holes[PHI__FILL_HOLES];
    size_t count;
    bool refuses; /* no holes are allowed now: the rendering must be complete at once */
    bool going;   /* a rendering with holes is being filled */
    bool measured;
    size_t item;
    uint32_t form;
    size_t hole, done; /* the next slice: its hole, and the bytes already done in the hole */
    size_t total;      /* bytes of the whole rendering */
    phi_arena *arena;  /* arena of the whole rendering */
    phi_arena_mark mark;
    char *out;
    size_t len;
    phi__buf slice;
} phi__fill;

/* The rendered form of a message, kept with the message. */
typedef struct phi__rendered {
    struct phi__rendered *next;
    /* The codec and variant that rendered it. The top four bits are listed in codecs/names_in.h. */
    uint32_t form;
    phi_str json;
} phi__rendered;

/* A message and the place where its renderings are kept. It lives as long as the message. */
typedef struct phi__item {
    const phi_message *message;
    phi__rendered **rendered; /* list head; NULL: not kept, but rendered into the request's arena */
    phi_arena *arena;         /* arena of kept renderings */
    uint64_t origin;          /* phi__codec_origin_of an assistant message; 0 if unknown */
    uint64_t from, to;        /* the range of thread entries that the item covers */
    uint32_t flags;           /* PHI_ITEM_ bits, log/thread.h */
    uint32_t summary;         /* the newest summary up to here; set by phi__fold_link */
} phi__item;

typedef struct phi__tool_view {
    phi_str name, description, schema; /* schema: JSON text of an object */
    /* Functions that make the strict form. NULL if phi_tool.strict is not set. */
    const struct phi__formats *strict;
    struct phi__adapted *adapted; /* adapted schemas, indexed by phi__strict_form; NULL: not kept */
    bool is_raw;                  /* `raw` replaces name, description and schema */
    phi_str raw;                  /* JSON text of an array element */
    bool deferred;                /* the target defers this tool: the model must search for it */
} phi__tool_view;

/* Everything that a request depends on. Borrowed until the request is no longer used. */
typedef struct phi__request_spec {
    const phi_model *model; /* resolved: only api_key can be NULL */
    phi_str system_prompt;
    const phi__item *items;
    size_t item_count;
    const phi__tool_view *tools;
    size_t tool_count;
    bool searches; /* send the target's tool search even if no tool is deferred */
    phi_tool_choice tool_choice;
    phi_thinking thinking;
    uint32_t max_tokens; /* 0: the model's limit */
    double temperature;  /* negative: not sent */
    phi_cache cache;
    /* Kind TEXT means no format. phi__format_apply adapts the format to the target. */
    phi_format format;
    bool respond;       /* PHI_RESPOND_TOOL is the last of `tools`, and its call is the answer */
    bool respond_only;  /* with `respond`: tool_choice REQUIRED means PHI_RESPOND_TOOL */
    bool rewritten;     /* the items differ from the messages as they were sent and received */
    bool plain;         /* no item holds an opaque block; false: some item may */
    phi_str session_id; /* for prompt_cache_key; may be empty */
    uint64_t
        thinking_from; /* the server refused thinking before this entry: do not send it again */
    phi_request_options options;
    phi_str extra;          /* checked JSON text of an object, merged into the head; empty: none */
    const phi_texts *texts; /* NULL: phi's own texts */
} phi__request_spec;

/* True if the last message is an answer that the provider paused. Such an answer is sent back
   unchanged, and nothing may follow it. */
PHI__FN bool phi__codec_paused(const phi__request_spec *spec);

/* The places of cache marks. */
typedef enum phi__mark { PHI__MARK_SYSTEM, PHI__MARK_TOOLS, PHI__MARK_MESSAGES } phi__mark;

/* True for a complete call. Incomplete calls are never sent. */
static inline bool phi__codec_is_call(const phi_content *c) {
    return c->kind == PHI_CONTENT_TOOL_CALL && !c->incomplete;
}

static inline bool phi__codec_marks(const phi__request_spec *spec, phi__mark mark) {
    const phi_cache *c = &spec->cache;
    if (c->mode != PHI_CACHE_MANUAL) return c->mode == PHI_CACHE_AUTO;
    return mark == PHI__MARK_SYSTEM ? c->system : mark == PHI__MARK_TOOLS ? c->tools : c->messages;
}

enum { PHI__CODEC_NAMES = 3 }; /* max. names of a protocol */

/* The inputs of a signature, besides the request. */
typedef struct phi__signing {
    int64_t wall_ms; /* Unix time */
    unsigned char body_sha256[32];
} phi__signing;

/* A value of phi__encoder.open_role: a system message in mid-conversation. It reuses the role of
   extensions, which are never sent. */
#define PHI__ROLE_SYSTEM PHI_ROLE_EXTENSION

/* The request, built step by step. All of it lives in `arena`, except the scratch buffer. */
typedef struct phi__encoder {
    const phi__codec *codec;
    const phi__request_spec *spec;
    phi_arena *arena; /* the turn's arena: literals, piece list, headers, url */
    /* The origins of this model's answers, one for each name of its protocol. */
    uint64_t origins[PHI__CODEC_NAMES];
    uint32_t media;   /* phi__render_media: the media that this model accepts */
    phi__buf scratch; /* freed at the end */
    phi__piece *pieces;
    size_t count, cap;
    phi__header *headers;
    size_t header_count, header_cap;
    size_t at;    /* the next item to append */
    size_t fresh; /* bytes of the current item that were rendered now */
    int stage;
    bool failed;         /* memory ran out */
    const char *refused; /* message if the request cannot be made, in `arena`; else NULL */
    /* For repairing a transcript: calls of the last answer, and which of them have a result. */
    size_t calls_item;   /* SIZE_MAX: no calls wait for results */
    size_t results_from; /* the first item after calls_item */
    uint8_t *answered;   /* by block of calls_item, array is reused; 1: the call has a result */
    size_t answered_cap;
    size_t next_call; /* the search for a result's call starts here */
    bool had_calls;
    struct phi__prefix *prefix; /* NULL: the target binds no thinking (encoder.c) */
    phi__fill fill;
    phi__rendered last; /* last rendering of an item that keeps none; form 0 if empty */
    size_t last_item;
    phi_role open_role; /* role of the message under construction; 0 if none is open */
    phi_role last_role; /* role of the previous message; 0 if there is none */
    size_t mark_piece;  /* the piece whose end closes the last user block; SIZE_MAX if none */
    phi_request request;
} phi__encoder;

/* The tool call ids that a target accepts. Its hash replaces any other id. */
typedef enum phi__id_rule {
    PHI__ID_ANY = 0,       /* a host's own protocol: any id */
    PHI__ID_ANTHROPIC = 1, /* [a-zA-Z0-9_-]{1,64} */
    PHI__ID_40,            /* at most 40 bytes */
    PHI__ID_9,             /* exactly 9 of [a-zA-Z0-9] */
    PHI__ID_RESPONSES      /* as PHI__ID_ANTHROPIC, but the last character is not '_' */
} phi__id_rule;

/* The form in which a model accepts the schemas of tools. */
typedef enum phi__strict_form {
    PHI__STRICT_NONE = 0,
    PHI__STRICT_OPENAI,    /* api.openai.com */
    PHI__STRICT_PLAIN,     /* as OPENAI without narrowing keywords: accepted by every server */
    PHI__STRICT_ANTHROPIC, /* Claude, also at Bedrock */
    PHI__STRICT_GEMINI,    /* for all tools: not strict, but Google then refuses fewer schemas */
    PHI__STRICT_FORMS
} phi__strict_form;

/* How a target produces JSON. */
typedef enum phi__format_way {
    PHI__FORMAT_NATIVE,
    PHI__FORMAT_BY_TOOL, /* the answer is the call of a tool */
    PHI__FORMAT_REFUSED
} phi__format_way;

/* The schema that is sent to a target with structured output. */
typedef enum phi__format_schema_rule {
    PHI__SCHEMA_IF_STRICT = 0, /* strict form if the request wants it, else the schema unchanged */
    PHI__SCHEMA_STRICT,        /* always the strict form: the target accepts no other */
    PHI__SCHEMA_TRIED          /* the target's form if there is one, else the schema unchanged */
} phi__format_schema_rule;

enum {
    PHI__RULE_HEIF = 1, /* accepts HEIC and HEIF, but no GIF; without this bit it is the reverse */
    PHI__RULE_LETTER_FIRST = 2, /* a tool's name must begin with a letter or '_' */
    PHI__RULE_USER_FIRST = 4,   /* the first message must come from the user */
    PHI__RULE_USER_LAST = 8,    /* the last message must not come from the assistant */
    PHI__RULE_GIF = 256         /* with PHI__RULE_HEIF: accepts GIF as well */
};

/* How strictly thinking is bound to the request that produced it (encoder.c). */
typedef enum phi__binding {
    PHI__BINDS_NOT = 0,
    PHI__BINDS_COUNTED, /* the target does not check, but its answers still store their prefix */
    PHI__BINDS_CHECKED
} phi__binding;

/* The media that a target accepts besides text and images. */
enum {
    PHI__MEDIA_PDF = 1,       /* PDF as bytes */
    PHI__MEDIA_URL = 2,       /* a document by its URL */
    PHI__MEDIA_TEXT = 4,      /* text documents; without this bit they become text after a title */
    PHI__MEDIA_TEXT_FILE = 8, /* text/plain, text/csv, text/html, text/markdown as bytes */
    PHI__MEDIA_OFFICE = 16,   /* doc, docx, xls, xlsx */
    PHI__MEDIA_SOUND = 32,    /* wav and mp3 */
    PHI__MEDIA_MORE_SOUND = 64, /* aac, flac and ogg */
    PHI__MEDIA_ALL = 127
};

/* Settings of a request that some targets do not accept. */
enum {
    PHI__TAKES_TEMPERATURE = 1,
    PHI__TAKES_TOP_P = 2,
    PHI__TAKES_TOP_K = 4,
    PHI__TAKES_STOP = 8,
    PHI__TAKES_SEED = 16,
    PHI__TAKES_TIER = 32,
    PHI__TAKES_SERIAL = 64
};

/* A target's rules for settings. The codec also uses these functions to write a request. */
typedef struct phi__codec_settings {
    uint32_t (*takes)(const phi__request_spec *spec); /* PHI__TAKES_ bits */
    /* Returns the thinking level to send if `wanted` is requested. */
    phi_thinking (*level)(const phi_model *model, phi_thinking wanted);
    /* Paths ("a.b") that phi writes itself, ended by NULL. No extra (below) may contain them. */
    const char *const *owned;
    /* Paths of arrays to which an extra's elements are appended; NULL ends the list. */
    const char *const *lists;
} phi__codec_settings;

/* The abilities of a target. The comments name the default for a NULL function or the value 0. */
typedef struct phi__codec_rules {
    phi__id_rule (*id_rule)(const phi_model *model);         /* default PHI__ID_ANTHROPIC */
    phi__strict_form (*strict_form)(const phi_model *model); /* default PHI__STRICT_NONE */
    /* Set to phi__strict_gemini if the form is PHI__STRICT_GEMINI. It is a pointer, so that other
       codecs do not link the function. */
    bool (*adapt)(phi__buf *out, phi_str schema, char *words, size_t words_size);
    phi__format_way (*format_way)(const phi__request_spec *spec); /* default PHI__FORMAT_NATIVE */
    phi__format_schema_rule format_schema;
    /* Changes other parts of the request for a native format. Returns PHI_OK or PHI_NO_MEMORY. */
    phi_status (*format_fit)(phi__request_spec *spec, phi_arena *arena);
    /* True if the target refuses a tool choice that forces a call. Default false. */
    bool (*unforced)(const phi__request_spec *spec);
    bool (*user_last)(
        const phi_model
            *model); /* True if PHI__RULE_USER_LAST applies to this model; default false */
    uint32_t bits;   /* PHI__RULE_ bits */
    uint32_t (*media)(const phi_model *model); /* PHI__MEDIA_ bits; default none */
    const char *const *kin;                    /* other protocols of the same wire, ended by NULL */
    phi__binding (*binding)(const phi__request_spec *spec); /* default PHI__BINDS_NOT */
    /* True if the target accepts system messages after user messages. Default false. */
    bool (*takes_updates)(const phi_model *model);
    /* takes_tools: true if such system messages can add and remove tools; default false. put_tool
       writes the block of one tool; for a removed tool only the name is set. */
    bool (*takes_tools)(const phi_model *model);
    void (*put_tool)(phi__buf *out, const phi__tool_view *tool, bool removed);
    const phi__codec_settings *settings; /* default: accepts all settings, owns no paths */
    /* True if the target supports deferred tools by its own tool search. Default false. */
    bool (*defers)(const phi_model *model);
} phi__codec_rules;

struct phi__codec {
    /* The protocol's name, then other names for it in files; NULL ends them. */
    const char *names[PHI__CODEC_NAMES];
    const phi__codec_rules *rules;
    size_t state_bytes; /* size of a decoder's state */
    /* Encoding: `head` and `tail` write the JSON around the messages, `address` writes url and
       headers. */
    void (*head)(phi__encoder *e);
    void (*tail)(phi__encoder *e);
    void (*address)(phi__encoder *e);
    /* Encoding of a message. The message is never an extension. It is a tool result only if its
       call waits for a result. `form` returns bits that select the rendering for this target. If
       `after` is true, the bits are for the blocks of a result that follow all results of a turn;
       `form` then returns 0 if the result has no such blocks. `render` writes the rendering of a
       form into e->scratch. `append` adds a rendering, which may be empty, to the request. The
       encoder makes up a result for a call that has none, and a user's message before an answer at
       the beginning: `at` is then SIZE_MAX and the form 0. */
    uint32_t (*form)(const phi__encoder *e, size_t at, bool after);
    void (*render)(phi__encoder *e, const phi_message *m, size_t at, uint32_t form);
    void (*append)(phi__encoder *e, const phi_message *m, size_t at, uint32_t form, phi_str json);
    /* Decoding. The state starts zeroed and needs no clean-up. `event` handles one event, `end` the
       end of the body. Both write to the assembly. A bad event sets the assembly's failure. */
    void (*event)(void *state, phi__assembly *out, phi_str name, phi_str data);
    void (*end)(void *state, phi__assembly *out);
    /* Decodes a 200 response that is no event stream: a whole answer, or an error. */
    void (*whole)(void *state, phi__assembly *out, phi_str body);
    /* Set if the stream consists of frames (below); NULL: server-sent events. */
    const struct phi__framing *(*frames)(void);
    /* Sets headers that depend on time and the body's hash, before each attempt. May be NULL. */
    void (*sign)(phi__encoder *e, const phi__signing *signing);
};

/* True if a protocol has this name. Ignores case. */
PHI__FN bool phi__codec_is(const char *const names[PHI__CODEC_NAMES], phi_str protocol);

/* Returns the codec function in a list for any name of its protocol; NULL if there is none. The
   list ends with NULL. */
PHI__FN phi_codec_fn phi__codec_named(const phi_codec_fn *list, phi_str protocol);

/* Returns the model's own codec, or else the codec in the list for the model's protocol. NULL if
   there is neither. */
PHI__FN const phi__codec *phi__codec_of(const phi_codec_fn *list, const phi_model *model);

/* Returns a hash of model, provider and protocol, which identifies the writer of a message. The
   protocol's case does not matter. 0 if one of the three is empty. */
PHI__FN uint64_t phi__codec_origin_of(phi_str model, phi_str provider, phi_str protocol);

/* Starts a request. `spec` and all it points to are borrowed until the request is not used any
   more. Kept renderings go to the items' arenas. Everything else goes to `arena`, which must live
   as long as the request is used. */
PHI__FN void phi__encoder_begin(phi__encoder *e, const phi__codec *codec,
                                const phi__request_spec *spec, phi_arena *arena);

/* Continues for at most `units` of work. PHI_OK: e->request is sealed. PHI_BUSY: call it again.
   PHI_BAD_ARG: the request cannot be made; e->refused says why. PHI_NO_MEMORY: memory ran out. */
PHI__FN phi_status phi__encoder_advance(phi__encoder *e, size_t units);

/* Writes url and headers of the sealed request again, from the present e->spec->model. False: no
   memory. */
PHI__FN bool phi__encoder_address(phi__encoder *e);
PHI__FN void
phi__encoder_free(phi__encoder *e); /* frees the scratch buffer; the request lives in the arena */

/* True if any block is sent. Thinking, blank texts and incomplete calls do not count. */
PHI__FN bool phi__encode_says(const phi_message *message);

/* Adds a header, without control characters. Replaces an earlier header of the same name. */
PHI__FN void phi__encode_header(phi__encoder *e, const char *name, phi_str value);
PHI__FN void phi__encode_model_headers(phi__encoder *e);

/* Seals a request whose parts were rendered elsewhere. Its headers are set already. `body` is
   borrowed. */
PHI__FN void phi__encode_request(phi__encoder *e, phi_str method, phi_str url, phi_str body);

/* Classifies an HTTP error response. `headers` has lines "Name: value\r\n". Strings are copied into
   `arena`. An HTTP date is compared with the response's own Date header. */
PHI__FN void phi__classify(const phi_model *model, int http_status, phi_str headers, phi_str body,
                           phi_arena *arena, phi_failure *out);

/* Checks if the target would refuse a transcript, before it is sent. Returns PHI_OK, or PHI_BAD_ARG
   with a message that names the place ("messages[3]: tool call \"x\" has no result"). The time
   grows with the square of the number of calls, so it is for tests and makers of transcripts. */
PHI__FN phi_status phi__preflight(const phi__codec *codec, const phi__request_spec *spec,
                                  char *words, size_t words_size);

/* Returns NULL if a target accepts a tool's name, else the rule that the name breaks. If `codec` is
   NULL, the common rule is used. */
PHI__FN const char *phi__preflight_name(const phi__codec *codec, phi_str name);

enum {
    PHI__TAKES_SAMPLING = PHI__TAKES_TEMPERATURE | PHI__TAKES_TOP_P | PHI__TAKES_TOP_K,
    PHI__TAKES_ALL = PHI__TAKES_SAMPLING | PHI__TAKES_STOP | PHI__TAKES_SEED | PHI__TAKES_TIER |
                     PHI__TAKES_SERIAL,
    PHI__TAKES_STOP_MOST = 16
};

/* Finds the next tool that a result of Claude's tool search names, starting at *at, and advances
   *at past it. False if there are no more. */
PHI__FN bool phi__takes_reference(const phi_content *block, size_t *at, phi_str *name);

/* Copies options into the arena. False: no memory. */
PHI__FN bool phi__takes_copy(phi_arena *arena, const phi_request_options *from,
                             phi_request_options *out);

/* Returns NULL if the options are valid, else a message ("options.top_p: expected ..."). */
PHI__FN const char *phi__takes_fault(const phi_request_options *options);

/* PHI_OK: the target accepts all settings of the request. PHI_UNSUPPORTED: some settings are left
   out or lowered, and `words` list them ("top_k is not sent; seed is not sent"). PHI_BAD_ARG:
   words_size is 0. */
PHI__FN phi_status phi__takes_preflight(const phi__codec *codec, const phi__request_spec *spec,
                                        char *words, size_t words_size);

/* The change that invalidated thinking. */
typedef enum phi__prefix_cause {
    PHI__PREFIX_NOTHING = 0,
    PHI__PREFIX_SYSTEM,
    PHI__PREFIX_TOOLS,
    PHI__PREFIX_MESSAGES,
    PHI__PREFIX_REFUSED
} phi__prefix_cause;

typedef struct phi__prefix {
    uint64_t system, tools; /* hashes of the request's head */
    uint64_t now;           /* hash of the head and the items so far */
    uint64_t last;          /* hash of the last thinking that is sent; 0 if none */
    size_t at;              /* the item to hash next */
    /* By item: hash of its last thinking that this target may get back; 0 if it has none. */
    uint32_t *thinking;
    uint8_t *thinks;
    bool deferred;    /* some tool is deferred */
    bool only_counts; /* the target does not check: all thinking goes back */
    size_t dropped;   /* number of answers whose thinking is left out */
    size_t first;     /* the first of these answers; SIZE_MAX if none */
    phi__prefix_cause cause;
} phi__prefix;

/* Call it at the start of a request if the target binds thinking. NULL: no memory. */
PHI__FN phi__prefix *phi__prefix_begin(phi__encoder *e, bool only_counts);

/* Hashes items, then decides which thinking is sent. False: the units are used up; call again. */
PHI__FN bool phi__prefix_advance(phi__encoder *e, phi__prefix *p, size_t *units);

/* Sets prefix and prefix_parts of the answer to this request if the answer has thinking. */
PHI__FN void phi__prefix_mark(const phi__prefix *p, phi_message *answer);

/* Returns a static text such as "the tools have changed". */
PHI__FN const char *phi__prefix_words(phi__prefix_cause cause);

/* Checks the text of an extra. PHI_BAD_ARG: the text has a fault, and `words` name it, after a
   colon or a place. A text has a fault if it is not UTF-8 or not a JSON object, or if it has a
   member twice, objects nested too deeply, an object with more than 1024 members, or a path that
   the codec always writes (not checked if codec is NULL). PHI_NO_MEMORY: memory ran out. Frees the
   memory that it takes from `scratch`. */
PHI__FN phi_status phi__extra_check(const phi__codec *codec, phi_memory *scratch, phi_str text,
                                    char *words, size_t words_size);

/* Merges two checked extras in the arena; `narrow` wins. Either may be empty. False: no memory. */
PHI__FN bool phi__extra_join(phi_arena *arena, phi_str wide, phi_str narrow, phi_str *out);

/* Adapts spec->format to the target, before the request begins. If the target has structured
   output, the format gets a name and a schema that the target accepts. Otherwise the format becomes
   TEXT, and the JSON comes as a tool call: PHI_RESPOND_TOOL is appended to the tools, spec->respond
   is set, and the call is forced if the target allows it. New values live in `arena`; spec->tools
   and spec->system_prompt may point there. PHI_BAD_ARG: the target cannot produce the format, and
   `words` say why. PHI_NO_MEMORY: memory ran out. */
PHI__FN phi_status phi__format_apply(const phi__codec *codec, phi__request_spec *spec,
                                     phi_arena *arena, char *words, size_t words_size);
PHI__FN const struct phi__formats *phi__format_ops(void);

typedef struct phi__frame {
    phi_str name;    /* type of the event; for an exception or error: '!' and its type or code */
    phi_str payload; /* JSON; for an error: its message, which is not JSON */
} phi__frame;

typedef struct phi__frames {
    phi__buf held;        /* the start of a frame or line that is not complete yet */
    phi__buf name;        /* '!' and a type */
    const char *at, *end; /* fed bytes that are not read yet */
    size_t max_bytes;     /* max. bytes of one frame */
    size_t drop;          /* bytes of `held` that were returned and can be dropped */
    size_t depth;         /* number of open braces, if the stream consists of lines */
    bool in_string, escaped;
    bool lines, begun;
    phi_status status;
} phi__frames;

/* The functions with which a codec's stream of frames is read. */
typedef struct phi__framing {
    /* max_bytes is the limit for the bytes of a frame. 0 means AWS's limit. */
    void (*init)(phi__frames *frames, phi_memory *memory, size_t max_bytes);
    void (*free)(phi__frames *frames); /* may be called twice */
    /* The bytes are borrowed until `next` has returned 0 or an error. */
    void (*feed)(phi__frames *frames, const char *bytes, size_t len);
    /* Returns 1 and sets *out to a frame, or returns 0 if more bytes are needed. PHI_PARSE: a
       checksum or a length is wrong. PHI_TOO_BIG: a frame is too large. PHI_NO_MEMORY: memory ran
       out. */
    int (*next)(phi__frames *frames, phi__frame *out);
    /* Call it after the last byte. True if the stream ended inside a frame. */
    bool (*cut)(const phi__frames *frames);
} phi__framing;

/* Spreads every bit over all 64 bits (the finaliser of MurmurHash3, public domain). */
static inline uint64_t phi__hash_mix(uint64_t n) {
    n ^= n >> 33;
    n *= UINT64_C(0xff51afd7ed558ccd);
    n ^= n >> 33;
    n *= UINT64_C(0xc4ceb9fe1a85ec53);
    return n ^ (n >> 33);
}

/* FNV-1a, started from a seed, then phi__hash_mix. */
static inline uint64_t phi__hash(phi_str s, uint64_t seed) {
    uint64_t n = seed ^ UINT64_C(0xcbf29ce484222325);
    size_t i;
    for (i = 0; i < s.len; i++) n = (n ^ (unsigned char)s.at[i]) * UINT64_C(0x100000001b3);
    return phi__hash_mix(n ^ s.len);
}

typedef struct phi__reader {
    const phi__codec *codec;
    void *state; /* the decoder's state */
    phi__assembly *assembly;
    phi__sse sse;
    const phi__framing *framing; /* NULL: the stream consists of server-sent events */
    phi__frames frames;          /* replaces `sse` if the stream consists of frames */
    size_t max_event_bytes;
    bool whole;              /* the body was one JSON document: the codec has handled its end */
    void (*seen)(void *ctx); /* called after each event that the codec has read; may be NULL */
    void *ctx;
} phi__reader;

/* Prepares a reader; allocates nothing yet. max_event_bytes as for phi__sse_init. */
PHI__FN void phi__reader_init(phi__reader *r, const phi__codec *codec, void *state,
                              phi__assembly *assembly, size_t max_event_bytes);
PHI__FN void phi__reader_free(phi__reader *r); /* may be called twice */

/* Reads the next bytes of the body. Broken bytes become the assembly's failure. */
PHI__FN void phi__reader_feed(phi__reader *r, phi_str bytes);

/* Call it after the last byte. Reads the last event even if no blank line ended it. `cut` is true
   if the connection broke. JSON outside of events may then be incomplete, and is dropped. */
PHI__FN void phi__reader_finish(phi__reader *r, bool cut);

/* Tells the codec that nothing follows. Call it after phi__reader_finish, or once phi__reader_done
   returns true. */
PHI__FN void phi__reader_end(phi__reader *r);

/* True if nothing more is read: the last event was seen, or the answer failed for good. */
PHI__FN bool phi__reader_done(const phi__reader *r);

/* True if the answer is complete or has failed, and only its usage may follow. */
PHI__FN bool phi__reader_lingers(const phi__reader *r);

static inline phi_answer *phi__writer_of(phi__assembly *assembly) { return (phi_answer *)assembly; }

/* True if this target wrote the message, so that its signatures may be sent back. */
PHI__FN bool phi__render_same_origin(const phi__encoder *e, size_t item);

/* True if an opaque block is sent back: it belongs to this protocol and is complete. */
PHI__FN bool phi__render_is_opaque(const phi__codec *codec, const phi_content *c);

/* The way in which a block of a user's message or of a result is sent to a target. */
typedef enum phi__render_way {
    PHI__RENDER_SKIP,  /* not sent: it is empty, or of another kind */
    PHI__RENDER_WORDS, /* sent as text by phi__render_said */
    PHI__RENDER_BLOCK, /* sent as a block of its kind */
    PHI__RENDER_OMIT   /* the target does not accept it: a line of text replaces it */
} phi__render_way;

PHI__FN phi__render_way phi__render_way_of(const phi__codec *codec, const phi_model *model,
                                           const phi_content *c);

/* Repairs the calls of an answer, after phi__assembly_finish. draft->note lists the repairs. */
PHI__FN void phi__repair_calls(phi__assembly *a);

/* Finds the schema that "#" or "#/a/b" refers to. In the names of such a path, ~1 is a slash and ~0
   a tilde. NULL if there is none. *looked grows by the number of members visited. */
PHI__FN const phi_json *phi__schema_ref_find(const phi_json *root, phi_str ref, size_t *looked);

/* A tool's schema in one form. */
struct phi__adapted {
    phi_str schema, refused; /* one of the two is set; refused: the reason, as text */
    bool done;
};

/* The functions of strict forms and structured output, which phi_feature_formats refers to. */
typedef struct phi__formats {
    bool (*schema)(phi__buf *out, phi_str schema, phi__strict_form form, char *words,
                   size_t words_size);
    size_t (*nulls)(const phi_json *schema, phi_json *value);
    /* phi__format_apply */
    phi_status (*apply)(const phi__codec *codec, phi__request_spec *spec, phi_arena *arena,
                        char *words, size_t words_size);
} phi__formats;

/* Makes the missing strict forms of the strict tools in `arena`, which lives as long as the views.
   PHI__STRICT_GEMINI is made for every tool. False: no memory. */
PHI__FN bool phi__strict_tools_adapt(phi__tool_view *tools, size_t count, const phi__codec *codec,
                                     const phi_model *model, phi_arena *arena);

/* Checks if the target refuses the schema of a tool. PHI_OK: it refuses none. PHI_BAD_ARG: it
   refuses one, and `words` name the first such tool and the place. PHI_NO_MEMORY: memory ran out.
   Adapts schemas in `scratch` if needed. */
PHI__FN phi_status phi__strict_tools_refused(const phi__codec *codec, const phi__request_spec *spec,
                                             phi_memory *scratch, char *words, size_t words_size);

/* Removes each null member of `value` that the schema neither requires nor allows to be null.
   Returns their number. The work is bounded: the rest of a huge value stays unchanged. */
PHI__FN size_t phi__strict_nulls(const phi_json *schema, phi_json *value);

#endif
