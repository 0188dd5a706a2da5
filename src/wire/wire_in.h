/* wire_in.h - what wire/ offers to other rooms. */
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

/* Blocks of an answer at most: real ones have a few dozen, and looking for doubles goes by
   pairs. */
enum {
    PHI__ASSEMBLY_BLOCKS_MOST = 1024,
    /* Changes of an opaque block's JSON, each of which copies it: real ones have a few. */
    PHI__ASSEMBLY_EDITS_MOST = 256,
    PHI__ASSEMBLY_PROOF_MOST = 1 << 20 /* bytes of JSON that are parsed as a proof that they are */
};

typedef struct phi__draft {
    phi_content_kind kind;
    bool open; /* more may come; a tool call still open at the end is incomplete */
    bool redacted;
    /* tool call: broke off; set by phi__assembly_finish. Opaque block: the same, or its JSON is
       broken: it is not sent back. */
    bool incomplete;
    bool replay_open;  /* replay is still being written: not in the view */
    uint8_t held_len;  /* bytes in `held` */
    char held[4];      /* the start of a UTF-8 sequence that a delta cut */
    uint32_t edits;    /* of an opaque block's JSON */
    uint32_t rewrites; /* how often other bytes replaced received ones */
    uint32_t high;     /* the first half of a surrogate pair that a delta cut, or 0 */
    int64_t key;       /* the protocol's own index; negative: none */
    uint64_t item;     /* hash of the protocol's own id, where that identifies blocks; 0: none */
    uint64_t kept;     /* hash by which a later item finds what the block keeps; 0: none */
    /* text, thinking, or arguments; of an open opaque block JSON that waits, which the sink does
       not hear of */
    phi__buf bytes;
    phi__buf signature, replay;
    phi__buf citations; /* text: JSON array; an open call: what `replay` will hold */
    phi__buf id, name;
    phi__buf note; /* tool call: how it was repaired, for people; "": it was not */
    size_t hidden; /* bytes of the id already without secrets */
} phi__draft;

/* The sink's functions, called at once. */
typedef enum phi__part {
    PHI__PART_START,     /* the answer began: model and id are known, as far as the wire says */
    PHI__PART_BLOCK,     /* a block began */
    PHI__PART_DELTA,     /* bytes [from, draft->bytes.len) of the block are new */
    PHI__PART_BLOCK_END, /* a block is whole */
    PHI__PART_AGAIN      /* a block changed its kind: all deltas are void, and come once more */
} phi__part;

struct phi__assembly {
    phi_memory *memory;
    phi_arena scratch; /* for what a decoder needs during one event; reset after it */
    phi__draft *drafts;
    size_t count, cap;
    phi_usage usage;
    phi_stop_reason stop_reason; /* NONE until known */
    phi__buf raw_stop_reason, model, response_id;
    phi__buf details; /* JSON for the host: phi_message.details */
    size_t hidden;    /* bytes of these four already without secrets */
    uint64_t id_salt; /* set by the caller: makes invented call ids unique in a session */
    phi_str protocol; /* set by the caller: PHI_PROTOCOL_..., static; of opaque blocks */
    bool respond; /* set by the caller: the first call of PHI_RESPOND_TOOL is the answer's text */
    bool started;
    bool terminal;       /* the protocol's own end was seen: trouble after it changes nothing */
    bool last;           /* so was its last event: nothing that follows is read */
    bool awaits_usage;   /* of a failed answer: its usage may follow, so reading goes on */
    bool unknown_stop;   /* raw_stop_reason is a word that the decoder does not know */
    bool no_memory;      /* sticks */
    phi_failure failure; /* kind NONE: none. Its strings live in failure_words */
    phi_status status;   /* of the run that fails by it (PHI_OK: that of the failure's kind) */
    phi__buf failure_words;
    /* Set by the caller, for decoders that look for calls and thinking in text: the model's quirks
       and the request's tools, which are borrowed. */
    uint64_t quirks;
    const struct phi__tool_view *tools; /* codec_in.h */
    size_t tool_count;
    phi__draft held; /* text that has come and is in no block yet */
    void (*sink)(void *ctx, phi__assembly *assembly, phi__part part, size_t block, size_t from);
    void *ctx;
};

PHI__FN void phi__assembly_init(phi__assembly *a, phi_memory *memory);
PHI__FN void phi__assembly_free(phi__assembly *a); /* twice is harmless */

/* Sets the failure and the stop reason: GUARD_RAIL for CONTENT_FILTER, else ERROR. The first
   failure stays. Words are copied, without control characters. */
PHI__FN void phi__assembly_fail(phi__assembly *a, phi_failure_kind kind, bool retryable,
                                phi_str code, phi_str message);

/* The kind that readers of the message see: with `respond`, the call that is the answer is a TEXT.
   Decoders use draft->kind, which stays a call's. */
PHI__FN phi_content_kind phi__assembly_kind(const phi__assembly *a, size_t block);

/* After the end: arguments "" become {}; stop reason toolUse where finished calls exist and the raw
   reason was a normal stop, or the end came without a reason; calls still open, and calls that a
   length limit cut, become incomplete; calls without an id, or with the id of an earlier call of
   the message, get a new one; where the answer came by a call, the reason is STOP; total_tokens is
   computed. With `unknown_stop`, calls with broken arguments are incomplete as well. If memory ran
   out, that becomes the failure, unless there is another. */
PHI__FN void phi__assembly_finish(phi__assembly *a);

/* Takes secrets out of the fields that are no content: ids, the stop word, the failure. Call it
   after writing them. */
PHI__FN void phi__assembly_hide(phi__assembly *a, const phi__secrets *secrets);

/* The message so far, as views into the buffers; `content` must have room for a->count blocks.
   model is the wire's name: the caller replaces it by the requested name, with provider and
   protocol, which later decide whether signatures may go back. */
PHI__FN void phi__assembly_view(const phi__assembly *a, phi_content *content, phi_message *out);

/* The value of a header, case-insensitively; empty when absent. */
PHI__FN phi_str phi__headers_value(phi_str headers, const char *name);

/* The end of a stream that did not end as its protocol says. */
PHI__FN void phi__classify_truncated(phi__assembly *a, bool heard);

enum {
    PHI__FILL_LONG = 8192,  /* bytes of a text that leaves a hole */
    PHI__FILL_SLICE = 4096, /* bytes of its source handled at a time */
    PHI__FILL_HOLES = 8     /* of a message; further texts are rendered at once */
};

typedef struct phi__hole {
    size_t offset; /* in the scratch buffer */
    phi_str source;
    bool base64; /* else the inside of a JSON string */
} phi__hole;

typedef struct phi__fill {
    phi__hole holes[PHI__FILL_HOLES];
    size_t count;
    bool refuses; /* no holes now: the rendering must be complete at once */
    bool going;   /* a rendering with holes waits to be filled */
    bool measured;
    size_t item;
    uint32_t form;
    size_t hole, done; /* the slice that comes next */
    size_t total;      /* bytes of the whole rendering */
    phi_arena *arena;  /* where it will be */
    phi_arena_mark mark;
    char *out;
    size_t len;
    phi__buf slice;
} phi__fill;

/* The rendered form of a message, kept with it. */
typedef struct phi__rendered {
    struct phi__rendered *next;
    /* which codec and variant rendered it; the top four bits: codecs/names_in.h */
    uint32_t form;
    phi_str json;
} phi__rendered;

/* A message and where its rendered blocks are kept; lives as long as the message. */
typedef struct phi__item {
    const phi_message *message;
    phi__rendered **rendered; /* list head; NULL: not kept, rendered into the request's arena */
    phi_arena *arena;         /* where kept pieces go */
    uint64_t origin;          /* phi__codec_origin_of an assistant message; 0: not known */
    uint64_t from, to;        /* the entries of a thread that it covers */
    uint32_t flags;           /* log/thread.h: PHI_ITEM_ bits */
    uint32_t summary;         /* phi__fold_link: the newest one up to here */
} phi__item;

typedef struct phi__tool_view {
    phi_str name, description, schema; /* schema: JSON text of an object */
    /* phi_tool.strict: what makes its strict form (codec_in.h); NULL: it is not strict */
    const struct phi__formats *strict;
    struct phi__adapted *adapted; /* by form (codec_in.h); NULL: not kept */
    bool is_raw;                  /* `raw` replaces name, description and schema */
    phi_str raw;                  /* JSON text of an element */
    bool deferred;                /* for a target that defers: the model has to search it */
} phi__tool_view;

/* All a request depends on. Borrowed until the request is done with. */
typedef struct phi__request_spec {
    const phi_model *model; /* resolved: no NULL strings but api_key */
    phi_str system_prompt;
    const phi__item *items;
    size_t item_count;
    const phi__tool_view *tools;
    size_t tool_count;
    bool searches; /* for a target that defers: its tool search is there, for no tool as well */
    phi_tool_choice tool_choice;
    phi_thinking thinking;
    uint32_t max_tokens; /* 0: the model's */
    double temperature;  /* negative: not sent */
    phi_cache cache;
    /* kind TEXT: no format; phi__format_apply adapts it to the target */
    phi_format format;
    bool respond;           /* PHI_RESPOND_TOOL is the last of `tools`: its call is the answer */
    bool respond_only;      /* ... and REQUIRED means that one */
    bool rewritten;         /* the items are not all that was said so far, word for word */
    bool plain;             /* no item holds an opaque block; false: one may */
    phi_str session_id;     /* for prompt_cache_key; may be empty */
    uint64_t thinking_from; /* thinking of entries before it does not go back: it was refused */
    phi_request_options options;
    phi_str extra;          /* checked JSON text of an object, merged into the head; empty: none */
    const phi_texts *texts; /* NULL: phi's */
} phi__request_spec;

/* True if the last message is an answer that the provider paused: it is sent back unchanged, and
   nothing may follow it. */
PHI__FN bool phi__codec_paused(const phi__request_spec *spec);

/* Which cache marks are wanted. */
typedef enum phi__mark { PHI__MARK_SYSTEM, PHI__MARK_TOOLS, PHI__MARK_MESSAGES } phi__mark;

static inline bool phi__codec_marks(const phi__request_spec *spec, phi__mark mark) {
    const phi_cache *c = &spec->cache;
    if (c->mode != PHI_CACHE_MANUAL) return c->mode == PHI_CACHE_AUTO;
    return mark == PHI__MARK_SYSTEM ? c->system : mark == PHI__MARK_TOOLS ? c->tools : c->messages;
}

enum { PHI__CODEC_NAMES = 3 }; /* of a protocol, at most */

/* The inputs of a signature besides the request. */
typedef struct phi__signing {
    int64_t wall_ms; /* Unix time */
    unsigned char body_sha256[32];
} phi__signing;

/* As phi__encoder.open_role: a system message in mid-conversation. The role of an extension, which
   no target is sent. */
#define PHI__ROLE_SYSTEM PHI_ROLE_EXTENSION

/* What to send, built step by step. All of it lives in `arena`, but the scratch buffer. */
typedef struct phi__encoder {
    const phi__codec *codec;
    const phi__request_spec *spec;
    phi_arena *arena; /* the turn's: glue, the piece list, headers, url */
    /* of what this model will say, by each name of its protocol */
    uint64_t origins[PHI__CODEC_NAMES];
    uint32_t media;   /* phi__render_media: what this model takes */
    phi__buf scratch; /* freed at the end */
    phi__piece *pieces;
    size_t count, cap;
    phi__header *headers;
    size_t header_count, header_cap;
    size_t at;    /* next item; progress of advance */
    size_t fresh; /* bytes of an item that were not rendered before */
    int stage;
    bool failed;         /* no memory */
    const char *refused; /* in `arena`: why the request cannot be made; NULL: it can */
    /* For repairing a transcript: calls of the last assistant message and which of them have their
       result. */
    size_t calls_item;   /* SIZE_MAX: none waits */
    size_t results_from; /* the first item after it */
    uint8_t *answered;   /* by block of that message; one array for all of them */
    size_t answered_cap;
    size_t next_call; /* where the search for a result's call begins */
    bool had_calls;
    /* for the codecs' own bookkeeping across items */
    struct phi__prefix *prefix; /* encoder.c; NULL: the target binds no thinking */
    phi__fill fill;
    phi__rendered last; /* of an item that keeps none; form 0: none */
    size_t last_item;
    phi_role open_role; /* role of the message under construction; 0: none */
    phi_role last_role; /* of the message before; 0: none yet */
    size_t mark_piece;  /* the piece whose end closes the last user block; SIZE_MAX: none */
    phi_request request;
} phi__encoder;

/* Which tool call ids a target takes; others are replaced by a hash of theirs. */
typedef enum phi__id_rule {
    PHI__ID_ANY = 0,       /* a host's own protocol: as they are */
    PHI__ID_ANTHROPIC = 1, /* [a-zA-Z0-9_-]{1,64} */
    PHI__ID_40,            /* at most 40 bytes */
    PHI__ID_9,             /* exactly 9 of [a-zA-Z0-9] */
    PHI__ID_RESPONSES      /* as Anthropic's, but the last is no '_' */
} phi__id_rule;

/* The form in which a model takes the schemas of tools; wire_in.h. */
typedef enum phi__strict_form {
    PHI__STRICT_NONE = 0,
    PHI__STRICT_OPENAI,    /* api.openai.com */
    PHI__STRICT_PLAIN,     /* the same without any keyword that narrows; what every server takes */
    PHI__STRICT_ANTHROPIC, /* Claude, at Bedrock too */
    PHI__STRICT_GEMINI,    /* of every tool: nothing is promised, but Google refuses less */
    PHI__STRICT_FORMS
} phi__strict_form;

/* How a target gives JSON. */
typedef enum phi__format_way {
    PHI__FORMAT_NATIVE,
    PHI__FORMAT_BY_TOOL, /* the answer is the call of a tool */
    PHI__FORMAT_REFUSED
} phi__format_way;

/* The schema of an answer, if the target has its own way for it. */
typedef enum phi__format_schema_rule {
    PHI__SCHEMA_IF_STRICT = 0, /* strict where the request wants that, else as it is */
    PHI__SCHEMA_STRICT,        /* strict always: the target takes no other */
    PHI__SCHEMA_TRIED          /* in the target's form, or as it is: the target holds to any */
} phi__format_schema_rule;

enum {
    PHI__RULE_HEIF = 1,         /* takes HEIC and HEIF, and no GIF; else the other way round */
    PHI__RULE_LETTER_FIRST = 2, /* the name of a tool begins with a letter or '_' */
    PHI__RULE_USER_FIRST = 4,   /* the first message must be the user's */
    PHI__RULE_USER_LAST = 8,    /* the last one may not be the assistant's */
    PHI__RULE_GIF = 256         /* with HEIF: takes GIF all the same */
};

/* How far thinking is bound to the request that it was made under (encoder.c). */
typedef enum phi__binding {
    PHI__BINDS_NOT = 0,
    PHI__BINDS_COUNTED, /* the target does not check; its answers get their prefix all the same */
    PHI__BINDS_CHECKED
} phi__binding;

/* The media that a target takes besides text and images. */
enum {
    PHI__MEDIA_PDF = 1,         /* a PDF, by its bytes */
    PHI__MEDIA_URL = 2,         /* a document by its address */
    PHI__MEDIA_TEXT = 4,        /* a text as a document; else it goes as text, after its title */
    PHI__MEDIA_TEXT_FILE = 8,   /* text/plain, text/csv, text/html, text/markdown by their bytes */
    PHI__MEDIA_OFFICE = 16,     /* doc, docx, xls, xlsx */
    PHI__MEDIA_SOUND = 32,      /* wav and mp3 */
    PHI__MEDIA_MORE_SOUND = 64, /* aac, flac and ogg */
    PHI__MEDIA_ALL = 127
};

/* Settings of a request that some targets do not take. */
enum {
    PHI__TAKES_TEMPERATURE = 1,
    PHI__TAKES_TOP_P = 2,
    PHI__TAKES_TOP_K = 4,
    PHI__TAKES_STOP = 8,
    PHI__TAKES_SEED = 16,
    PHI__TAKES_TIER = 32,
    PHI__TAKES_SERIAL = 64
};

/* A target's side of the settings. The codec writes a request by these functions itself. */
typedef struct phi__codec_settings {
    uint32_t (*takes)(const phi__request_spec *spec); /* PHI__TAKES_ bits */
    /* the level of thinking that is sent for the wanted one */
    phi_thinking (*level)(const phi_model *model, phi_thinking wanted);
    /* Paths that phi writes into every request, or would; "a.b", ended by NULL: none of them may be
       in an extra (below). */
    const char *const *owned;
    /* Paths of arrays to which an extra's elements are added; ended by NULL. */
    const char *const *lists;
} phi__codec_settings;

/* The abilities of a target. NULL and zero: those of most targets, as the comments say. */
typedef struct phi__codec_rules {
    phi__id_rule (*id_rule)(const phi_model *model);         /* PHI__ID_ANTHROPIC */
    phi__strict_form (*strict_form)(const phi_model *model); /* PHI__STRICT_NONE */
    /* phi__strict_gemini, for PHI__STRICT_GEMINI: by pointer, so that other codecs do not link it
       */
    bool (*adapt)(phi__buf *out, phi_str schema, char *words, size_t words_size);
    phi__format_way (*format_way)(const phi__request_spec *spec); /* PHI__FORMAT_NATIVE */
    phi__format_schema_rule format_schema;
    /* What else a native format changes in the request; nothing. PHI_NO_MEMORY. */
    phi_status (*format_fit)(phi__request_spec *spec, phi_arena *arena);
    /* it refuses a choice that forces a call; never */
    bool (*unforced)(const phi__request_spec *spec);
    bool (*user_last)(const phi_model *model); /* as PHI__RULE_USER_LAST, for this model; never */
    uint32_t bits;                             /* PHI__RULE_ */
    uint32_t (*media)(const phi_model *model); /* PHI__MEDIA_ bits; none */
    const char *const *kin; /* protocols that are this wire at other addresses; NULL at their end */
    phi__binding (*binding)(const phi__request_spec *spec); /* PHI__BINDS_NOT */
    /* it takes system messages after the user's in mid-conversation; never */
    bool (*takes_updates)(const phi_model *model);
    /* ... which may add and remove tools: whether it does, and such a block (of a removed tool the
       name alone is given); never */
    bool (*takes_tools)(const phi_model *model);
    void (*put_tool)(phi__buf *out, const phi__tool_view *tool, bool removed);
    const phi__codec_settings *settings; /* takes all, and knows no paths */
    /* it takes deferred tools, by its own tool search; never */
    bool (*defers)(const phi_model *model);
} phi__codec_rules;

struct phi__codec {
    /* The protocol's name, and others that it has in files; NULL: no more. */
    const char *names[PHI__CODEC_NAMES];
    const phi__codec_rules *rules;
    size_t state_bytes; /* of a decoder */
    /* Encoding: everything before the messages, and after them; url and headers. */
    void (*head)(phi__encoder *e);
    void (*tail)(phi__encoder *e);
    void (*address)(phi__encoder *e);
    /* A message: never an extension, and a tool result only if its call waits for it. `form` says
       in bits which rendering this target gets; `after`: of the blocks that follow all results of a
       turn, and 0 means that the result has none. `render` writes that form into e->scratch, and
       `append` makes a rendering, which may be empty, part of the request. The result that a call
       without one gets is no item: `at` is SIZE_MAX, and the form 0. */
    uint32_t (*form)(const phi__encoder *e, size_t at, bool after);
    void (*render)(phi__encoder *e, const phi_message *m, size_t at, uint32_t form);
    void (*append)(phi__encoder *e, const phi_message *m, size_t at, uint32_t form, phi_str json);
    /* Decoding: zeroed state first, which needs no clean-up. One stream event; the end of the body.
       Findings go into the assembly (its failure too); a bad event is a failure there, never a
       crash. */
    void (*event)(void *state, phi__assembly *out, phi_str name, phi_str data);
    void (*end)(void *state, phi__assembly *out);
    /* A 200 answer that is no event stream: a whole answer, or an error. */
    void (*whole)(void *state, phi__assembly *out, phi_str body);
    /* The stream is one of frames (below); NULL: of server-sent events. */
    const struct phi__framing *(*frames)(void);
    /* Puts what depends on the moment and on the body's hash into the sealed request's headers,
       before each attempt; NULL: nothing does. */
    void (*sign)(phi__encoder *e, const phi__signing *signing);
};

/* True if a protocol has such a name, in any case. */
PHI__FN bool phi__codec_is(const char *const names[PHI__CODEC_NAMES], phi_str protocol);

/* The code of a protocol by any of its names, from a list that NULL ends, or NULL. */
PHI__FN phi_codec_fn phi__codec_named(const phi_codec_fn *list, phi_str protocol);

/* The codec that a model carries, or that of its protocol in the list, or NULL. */
PHI__FN const phi__codec *phi__codec_of(const phi_codec_fn *list, const phi_model *model);

/* Who minted a message, as one number: model, provider and protocol. 0 where one of them is
   missing. */
PHI__FN uint64_t phi__codec_origin_of(phi_str model, phi_str provider, phi_str protocol);

/* `ask`, and all it points to, is borrowed until the request is done with; kept renderings go to
   the items' arenas, everything else to `arena`, which must stay as long. */
PHI__FN void phi__encoder_begin(phi__encoder *e, const phi__codec *codec,
                                const phi__request_spec *spec, phi_arena *arena);

/* PHI_BUSY: come again; PHI_OK: e->request is sealed; PHI_NO_MEMORY; PHI_BAD_ARG: e->refused says
   why. */
PHI__FN phi_status phi__encoder_advance(phi__encoder *e, size_t units);

/* Writes url and headers of the sealed request again, for e->spec->model as it is now. False: no
   memory. */
PHI__FN bool phi__encoder_address(phi__encoder *e);
PHI__FN void phi__encoder_free(phi__encoder *e); /* scratch; the request lives in the arena */

/* True if any block of a message is sent: thinking alone, blank text and cut calls are not. */
PHI__FN bool phi__encode_says(const phi_message *message);

/* Copied, without control characters. A later header of the same name replaces an earlier one. */
PHI__FN void phi__encode_header(phi__encoder *e, const char *name, phi_str value);
PHI__FN void phi__encode_model_headers(phi__encoder *e);

/* All of a request that was rendered elsewhere; its headers are there. `body` is borrowed. */
PHI__FN void phi__encode_request(phi__encoder *e, phi_str method, phi_str url, phi_str body);

/* An HTTP answer that is an error: class, retryable, delay, words. Strings point into `arena`.
   `now` is not needed: an HTTP date is compared with the answer's own Date header.
   headers: lines "Name: value\r\n". */
PHI__FN void phi__classify(const phi_model *model, int http_status, phi_str headers, phi_str body,
                           phi_arena *arena, phi_failure *out);

/* Checks whether the target would refuse a transcript, before a byte is sent: PHI_OK, or
   PHI_BAD_ARG with a message that names the place ("messages[3]: tool call \"x\" has no result").
   For tests and makers of transcripts: its time grows with the square of the calls, and the encoder
   repairs lost results by itself. */
PHI__FN phi_status phi__preflight(const phi__codec *codec, const phi__request_spec *spec,
                                  char *words, size_t words_size);

/* The target's rule for a tool's name ("expected ..."); NULL: it accepts this one. codec NULL: any
   target. */
PHI__FN const char *phi__preflight_name(const phi__codec *codec, phi_str name);

enum {
    PHI__TAKES_SAMPLING = PHI__TAKES_TEMPERATURE | PHI__TAKES_TOP_P | PHI__TAKES_TOP_K,
    PHI__TAKES_ALL = PHI__TAKES_SAMPLING | PHI__TAKES_STOP | PHI__TAKES_SEED | PHI__TAKES_TIER |
                     PHI__TAKES_SERIAL,
    PHI__TAKES_STOP_MOST = 16
};

/* Finds the next tool that the result of Claude's tool search names, from *at on, and advances *at
   past it. False: there is none. */
PHI__FN bool phi__takes_reference(const phi_content *block, size_t *at, phi_str *name);

/* A copy in the arena. False: no memory. */
PHI__FN bool phi__takes_copy(phi_arena *arena, const phi_request_options *from,
                             phi_request_options *out);

/* A fault of options: NULL, or words ("options.top_p: expected ..."). */
PHI__FN const char *phi__takes_fault(const phi_request_options *options);

/* PHI_OK: the target takes every setting of the request. PHI_UNSUPPORTED: `words` name each that is
   left out or lowered: "top_k is not sent; seed is not sent". */
PHI__FN phi_status phi__takes_preflight(const phi__codec *codec, const phi__request_spec *spec,
                                        char *words, size_t words_size);

/* The change that made thinking invalid. */
typedef enum phi__prefix_cause {
    PHI__PREFIX_NOTHING = 0,
    PHI__PREFIX_SYSTEM,
    PHI__PREFIX_TOOLS,
    PHI__PREFIX_MESSAGES,
    PHI__PREFIX_REFUSED
} phi__prefix_cause;

typedef struct phi__prefix {
    uint64_t system, tools; /* hashes of the request's head */
    uint64_t now;           /* ... of the head and the items so far */
    uint64_t last;          /* the thinking sent last; 0: none */
    size_t at;              /* next item */
    /* By item: its last thinking that can go back to this target; 0: it has none. */
    uint32_t *thinking;
    uint8_t *thinks;
    bool deferred;    /* one of the tools is */
    bool only_counts; /* the target does not check: all thinking goes back */
    size_t dropped;   /* answers whose thinking is left out */
    size_t first;     /* the first of them; SIZE_MAX: none */
    phi__prefix_cause cause;
} phi__prefix;

/* At the beginning of a request, where the target binds thinking. NULL: no memory. */
PHI__FN phi__prefix *phi__prefix_begin(phi__encoder *e, bool only_counts);

/* Hashes items, as far as the units go, and then decides. False: the units are used up. */
PHI__FN bool phi__prefix_advance(phi__encoder *e, phi__prefix *p, size_t *units);

/* phi_message.prefix and .prefix_parts of the answer to this request. */
PHI__FN uint64_t phi__prefix_value(const phi__prefix *p);
PHI__FN uint64_t phi__prefix_parts(const phi__prefix *p);

/* "the tools have changed"... Static. */
PHI__FN const char *phi__prefix_words(phi__prefix_cause cause);

/* Checks a text: PHI_OK; PHI_BAD_ARG with words, which begin with a colon or a place: it is no JSON
   object, has a member twice, nests too deeply, or has a path that the codec always writes (codec
   NULL: none); PHI_NO_MEMORY. Uses `scratch` memory, and frees it. */
PHI__FN phi_status phi__extra_check(const phi__codec *codec, phi_memory *scratch, phi_str text,
                                    char *words, size_t words_size);

/* Both in one, in the arena; either may be empty. Both were checked. False: no memory. */
PHI__FN bool phi__extra_join(phi_arena *arena, phi_str wide, phi_str narrow, phi_str *out);

/* Adapts ask->format to this target, before the request is begun. Where the target has structured
   output, the format stays, with a name and with a schema that the target accepts. Else the format
   becomes TEXT, and PHI_RESPOND_TOOL is put behind the tools, forced as far as the target allows
   that (ask->respond). The new values live in `arena`; ask->tools and ask->system_prompt may then
   point there.
   PHI_BAD_ARG: it cannot be done, `words` say why; PHI_NO_MEMORY. */
PHI__FN phi_status phi__format_apply(const phi__codec *codec, phi__request_spec *spec,
                                     phi_arena *arena, char *words, size_t words_size);
PHI__FN const struct phi__formats *phi__format_ops(void);

typedef struct phi__frame {
    phi_str name;    /* the event's type; of an exception or an error: '!' and its type or code */
    phi_str payload; /* JSON; of an error: its message, not JSON */
} phi__frame;

typedef struct phi__frames {
    phi__buf held;        /* a frame, or a line, that was cut */
    phi__buf name;        /* '!' and a type */
    const char *at, *end; /* the fed bytes that are not read yet */
    size_t max_bytes;     /* of one frame */
    size_t drop;          /* of held: handed out, and to be forgotten */
    size_t depth;         /* of the braces that are open, in lines */
    bool in_string, escaped;
    bool lines, begun;
    phi_status status;
} phi__frames;

/* The functions below, for a codec whose stream is of frames. */
typedef struct phi__framing {
    void (*init)(phi__frames *frames, phi_memory *memory, size_t max_bytes);
    void (*free)(phi__frames *frames);
    void (*feed)(phi__frames *frames, const char *bytes, size_t len);
    int (*next)(phi__frames *frames, phi__frame *out);
    bool (*cut)(const phi__frames *frames);
} phi__framing;

/* Spreads every bit over all 64 (the finaliser of MurmurHash3, public domain). */
static inline uint64_t phi__hash_mix(uint64_t n) {
    n ^= n >> 33;
    n *= UINT64_C(0xff51afd7ed558ccd);
    n ^= n >> 33;
    n *= UINT64_C(0xc4ceb9fe1a85ec53);
    return n ^ (n >> 33);
}

/* FNV-1a from a seed, mixed. */
static inline uint64_t phi__hash(phi_str s, uint64_t seed) {
    uint64_t n = seed ^ UINT64_C(0xcbf29ce484222325);
    size_t i;
    for (i = 0; i < s.len; i++) n = (n ^ (unsigned char)s.at[i]) * UINT64_C(0x100000001b3);
    return phi__hash_mix(n ^ s.len);
}

/* The number of the first sixteen hex digits, as phi__hash_hex writes them; 0 if there are none. */
static inline uint64_t phi__hash_of_hex(phi_str digits) {
    uint64_t n = 0;
    size_t i;
    for (i = 0; i < digits.len && i < 16; i++) {
        char c = digits.at[i];
        n = n << 4 | (uint64_t)(c >= 'a' ? c - 'a' + 10 : c - '0');
    }
    return n;
}

/* Sixteen hex digits and a terminator. */
static inline void phi__hash_hex(uint64_t n, char out[17]) {
    int i;
    for (i = 15; i >= 0; i--, n >>= 4) out[i] = "0123456789abcdef"[n & 15];
    out[16] = '\0';
}

typedef struct phi__reader {
    const phi__codec *codec;
    void *state; /* the decoder's */
    phi__assembly *assembly;
    phi__sse sse;
    const phi__framing *framing; /* NULL: a stream of events */
    phi__frames frames;          /* instead of sse, for frames */
    size_t max_event_bytes;
    bool whole;              /* the body was one JSON document: the codec has seen its end */
    void (*seen)(void *ctx); /* after each event that the codec has read; NULL: not wanted */
    void *ctx;
} phi__reader;

/* max_event_bytes as for phi__sse_init. Takes no memory yet. */
PHI__FN void phi__reader_init(phi__reader *r, const phi__codec *codec, void *state,
                              phi__assembly *assembly, size_t max_event_bytes);
PHI__FN void phi__reader_free(phi__reader *r); /* twice is harmless */

/* The next bytes of the body. A fault in them becomes the assembly's failure. */
PHI__FN void phi__reader_feed(phi__reader *r, phi_str bytes);

/* After the last byte: reads an event that no blank line ended. cut: the connection broke, so stray
   JSON may be incomplete, and is dropped. */
PHI__FN void phi__reader_finish(phi__reader *r, bool cut);

/* After that, or after phi__reader_done: tells the codec that nothing follows. */
PHI__FN void phi__reader_end(phi__reader *r);

/* Nothing that follows is read: the last event was seen, or the answer has failed for good. */
PHI__FN bool phi__reader_done(const phi__reader *r);

/* The answer is as whole as it will be, or has failed; its usage alone may follow. */
PHI__FN bool phi__reader_lingers(const phi__reader *r);

static inline phi_answer *phi__writer_of(phi__assembly *assembly) { return (phi_answer *)assembly; }

/* True if this target minted the message, so that its signatures may go back. */
PHI__FN bool phi__render_same_origin(const phi__encoder *e, size_t item);

/* True if an opaque block goes back: it is of this protocol, and whole. */
PHI__FN bool phi__render_is_opaque(const phi__codec *codec, const phi_content *c);

/* How a block of a user's message or of a result goes to a target. */
typedef enum phi__render_way {
    PHI__RENDER_SKIP,  /* not at all: it is empty, or of another kind */
    PHI__RENDER_WORDS, /* as text: phi__render_said */
    PHI__RENDER_BLOCK, /* as a block of its kind */
    PHI__RENDER_OMIT   /* the target does not take it: a line of text replaces it */
} phi__render_way;

PHI__FN phi__render_way phi__render_way_of(const phi__codec *codec, const phi_model *model,
                                           const phi_content *c);

/* Repairs the calls of an answer after phi__assembly_finish; draft->note lists the repairs. */
PHI__FN void phi__repair_calls(phi__assembly *a);

/* The schema that "#" or "#/a/b" names, by names of members (~1 is a slash, ~0 a tilde); NULL:
   none. *looked grows by the members visited. */
PHI__FN const phi_json *phi__schema_ref_find(const phi_json *root, phi_str ref, size_t *looked);

/* A tool's schema in one form. */
struct phi__adapted {
    phi_str schema, refused; /* one of them; refused: words */
    bool done;
};

/* Strict forms and formats, by pointer: phi_feature_formats names them. */
typedef struct phi__formats {
    bool (*schema)(phi__buf *out, phi_str schema, phi__strict_form form, char *words,
                   size_t words_size);
    size_t (*nulls)(const phi_json *schema, phi_json *value);
    /* phi__format_apply */
    phi_status (*apply)(const phi__codec *codec, phi__request_spec *spec, phi_arena *arena,
                        char *words, size_t words_size);
} phi__formats;

/* Makes the form of each strict tool (PHI__STRICT_GEMINI: of each tool) that has none yet, into
   `arena`, which lives as long as the views. False: no memory. */
PHI__FN bool phi__strict_tools_adapt(phi__tool_view *tools, size_t count, const phi__codec *codec,
                                     const phi_model *model, phi_arena *arena);

/* Checks the tools up to the first that the target cannot take: PHI_BAD_ARG with a message that
   names tool and place; PHI_OK; PHI_NO_MEMORY. A schema that is not adapted yet is adapted in
   `scratch` memory and not kept. */
PHI__FN phi_status phi__strict_tools_refused(const phi__codec *codec, const phi__request_spec *spec,
                                             phi_memory *scratch, char *words, size_t words_size);

/* Takes the members out of `value` that are null and that the schema neither requires nor allows to
   be null. Returns how many. Bounded work: what would take more is left as it is. */
PHI__FN size_t phi__strict_nulls(const phi_json *schema, phi_json *value);

#endif
