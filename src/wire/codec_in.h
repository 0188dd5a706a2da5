/* codec_in.h - a provider as a pure codec: messages to request pieces, stream events to a message.

   This folder holds what all protocols share. It knows no codec by name: the differences between
   protocols are fields of phi__codec. The codecs are in src/codecs, one pair of files a protocol;
   tools.c there lists them. No I/O, no clock, no state outside of the arguments: the same input
   gives the same bytes. A block of a message is rendered once per wire form and kept with the
   message (phi__item.rendered), so that a turn costs the new blocks and a list of pieces, not the
   history.

   Encoding is resumable: begin, advance(units) until it is not PHI_BUSY, and the request is there.
   A unit is one message, or a KiB of it that was not rendered before. */
#ifndef PHI_WIRE_CODEC_IN_H
#define PHI_WIRE_CODEC_IN_H

#include "io/request_in.h"
#include "model/model.h"
#include "model/texts_in.h"
#include "wire/assembly_in.h"
#include "wire/fill_in.h"

/* The rendered form of one block (or of a whole message where a wire wants that), kept with it. */
typedef struct phi__rendered {
    struct phi__rendered *next;
    /* which codec and variant rendered it; the top four bits: codecs/names_in.h */
    uint32_t form;
    uint32_t block; /* index in the message; UINT32_MAX: the message as a whole */
    phi_str json;
} phi__rendered;

/* A message and where its rendered blocks are kept; lives as long as the message. */
typedef struct phi__item {
    const phi_message *message;
    phi__rendered **rendered; /* list head; NULL: not kept, rendered into the request's arena */
    phi_arena *arena;         /* where kept pieces go */
    uint64_t origin;          /* phi__codec_origin_of an assistant message; 0: not known */
    uint64_t from, to;        /* the entries of a thread that it stands for */
    uint32_t flags;           /* log/thread.h: PHI_ITEM_ bits */
    uint32_t summary;         /* history/project_in.h: the newest one up to here */
} phi__item;

struct phi__adapted;

typedef struct phi__tool_view {
    phi_str name, description, schema; /* schema: JSON text of an object */
    /* phi_tool.strict: what makes its strict form (strict_in.h); NULL: it is not strict */
    const struct phi__formats *strict;
    struct phi__adapted *adapted; /* by form (strict_in.h); NULL: not kept */
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

struct phi__prefix;
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

typedef struct phi__codec phi__codec;

enum { PHI__CODEC_NAMES = 3 }; /* of a protocol, at most */

/* The inputs of a signature beside the request itself. */
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
    size_t results_from; /* the first item behind it */
    uint8_t *answered;   /* by block of that message; one array for all of them */
    size_t answered_cap;
    size_t next_call; /* where the search for a result's call begins */
    bool had_calls;
    /* for the codecs' own bookkeeping across items */
    struct phi__prefix *prefix; /* encoder_in.h; NULL: the target binds no thinking */
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

/* The form in which a model takes the schemas of tools; strict_in.h. */
typedef enum phi__strict_form {
    PHI__STRICT_NONE = 0,
    PHI__STRICT_OPENAI,    /* api.openai.com */
    PHI__STRICT_PLAIN,     /* the same without any keyword that narrows; what every server takes */
    PHI__STRICT_ANTHROPIC, /* Claude, at Bedrock too */
    PHI__STRICT_BY_CODEC,  /* nothing is promised; phi__codec_rules.adapt makes it, of every tool */
    PHI__STRICT_FORMS
} phi__strict_form;

/* How a target gives JSON. */
typedef enum phi__format_way {
    PHI__FORMAT_NATIVE,
    PHI__FORMAT_BY_TOOL, /* the answer is the call of a tool */
    PHI__FORMAT_REFUSED
} phi__format_way;

/* The schema of an answer, where the target has a way of its own. */
typedef enum phi__format_schema_rule {
    PHI__SCHEMA_IF_STRICT = 0, /* strict where the request wants that, else as it is */
    PHI__SCHEMA_STRICT,        /* strict always: the target takes no other */
    PHI__SCHEMA_AS_IS          /* never: it holds to any */
} phi__format_schema_rule;

enum {
    PHI__RULE_HEIF = 1,         /* takes HEIC and HEIF, and no GIF; else the other way round */
    PHI__RULE_LETTER_FIRST = 2, /* the name of a tool begins with a letter or '_' */
    PHI__RULE_USER_FIRST = 4,   /* the first message must be the user's */
    PHI__RULE_USER_LAST = 8,    /* the last one may not be the assistant's */
    PHI__RULE_GIF = 256         /* with HEIF: takes GIF all the same */
};

/* How far thinking is bound to the request that it was made under (encoder_in.h). */
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
       in an extra (extra_in.h). */
    const char *const *owned;
    /* Paths of arrays to which an extra's elements are added; ended by NULL. */
    const char *const *lists;
} phi__codec_settings;

/* The abilities of a target. NULL and zero: those of most targets, as the comments say. */
typedef struct phi__codec_rules {
    phi__id_rule (*id_rule)(const phi_model *model);         /* PHI__ID_ANTHROPIC */
    phi__strict_form (*strict_form)(const phi_model *model); /* PHI__STRICT_NONE */
    /* For PHI__STRICT_BY_CODEC: appends the schema as this target takes it; false: no memory
       (out->failed), or `words` say why it takes none such. */
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

struct phi__framing;

struct phi__codec {
    /* The protocol's name, and others that it has in files; NULL: no more. */
    const char *names[PHI__CODEC_NAMES];
    const phi__codec_rules *rules;
    size_t state_bytes; /* of a decoder */
    /* Encoding: everything before the messages, item `at` (never an extension, and a tool result
       only where its call waits for it), everything after; and url + headers. */
    void (*head)(phi__encoder *e);
    void (*item)(phi__encoder *e, size_t at);
    void (*tail)(phi__encoder *e);
    void (*address)(phi__encoder *e);
    /* A call (block of item) that has no result gets one; and what must follow all results of the
       items [from, to). */
    void (*missing)(phi__encoder *e, size_t item, size_t block);
    void (*after_results)(phi__encoder *e, size_t from, size_t to);
    /* Decoding: zeroed state first, which needs no clean-up. One stream event; the end of the body.
       Findings go into the assembly (its failure too); a bad event is a failure there, never a
       crash. */
    void (*event)(void *state, phi__assembly *out, phi_str name, phi_str data);
    void (*end)(void *state, phi__assembly *out);
    /* A 200 answer that is no event stream: a whole answer, or an error. */
    void (*whole)(void *state, phi__assembly *out, phi_str body);
    /* The stream is one of frames (frames_in.h); NULL: of server-sent events. */
    const struct phi__framing *(*frames)(void);
    /* Puts what depends on the moment and on the body's hash into the sealed request's headers,
       before each attempt; NULL: nothing does. */
    void (*sign)(phi__encoder *e, const phi__signing *signing);
};

/* Whether a protocol has such a name, in whatever case. */
PHI__FN bool phi__codec_is(const char *const names[PHI__CODEC_NAMES], phi_str protocol);
/* The code of a protocol by any of its names, out of a list that NULL ends, or NULL. */
PHI__FN phi_codec_fn phi__codec_named(const phi_codec_fn *list, phi_str protocol);
/* The codec that a model carries, or that of its protocol in the list, or NULL. */
PHI__FN const phi__codec *phi__codec_of(const phi_codec_fn *list, const phi_model *model);

/* Who minted a message, as one number: model, provider and protocol. 0 where one of them is
   missing. */
PHI__FN uint64_t phi__codec_origin_of(phi_str model, phi_str provider, phi_str protocol);
/* Of a model's names, by each name of its protocol; zeros where one is missing. */
PHI__FN void phi__codec_origins_of(const phi__codec *codec, phi_str model, phi_str provider,
                                   uint64_t out[PHI__CODEC_NAMES]);
PHI__FN bool phi__codec_origin_among(const uint64_t origins[PHI__CODEC_NAMES], uint64_t origin);

/* `ask`, and all it points to, is borrowed until the request is done with; kept renderings go to
   the items' arenas, everything else to `arena`, which must stay as long. */
PHI__FN void phi__encoder_begin(phi__encoder *e, const phi__codec *codec,
                                const phi__request_spec *spec, phi_arena *arena);
/* PHI_BUSY: come again; PHI_OK: e->request is sealed; PHI_NO_MEMORY; PHI_BAD_ARG: e->refused says
   why. */
PHI__FN phi_status phi__encoder_advance(phi__encoder *e, size_t units);
/* Writes url and headers of the sealed request anew, for e->ask->model as it is now. False: no
   memory. */
PHI__FN bool phi__encoder_address(phi__encoder *e);
PHI__FN void phi__encoder_free(phi__encoder *e); /* scratch; the request lives in the arena */

/* For codecs. */
/* True if any block of a message is sent: thinking alone, blank text and cut calls are not. */
PHI__FN bool phi__encode_says(const phi_message *message);
/* True if an update is sent as a system message here: the target takes one, it follows the user's
   message, and an answer or the end follows it. */
PHI__FN bool phi__encode_is_system(const phi__encoder *e, size_t item);
PHI__FN void phi__encode_piece(phi__encoder *e, phi_str json);       /* borrowed */
PHI__FN void phi__encode_glue(phi__encoder *e, const char *literal); /* static text, borrowed */
PHI__FN void phi__encode_scratch(phi__encoder *e); /* e->scratch as a piece; clears it */
/* The kept rendering for a form. False: the codec renders into e->scratch, which was cleared, and
   calls phi__encode_keep, which keeps and returns it. Neither appends a piece.
   False from phi__encode_keep: memory ended, or a long text has still to be filled in; the codec
   adds nothing and returns, and is called for the same item again. */
PHI__FN bool phi__encode_kept(phi__encoder *e, size_t item, uint32_t block, uint32_t form,
                              phi_str *json);
PHI__FN bool phi__encode_keep(phi__encoder *e, size_t item, uint32_t block, uint32_t form,
                              phi_str *json);
PHI__FN void phi__encode_store(phi__encoder *e, size_t item, uint32_t block, uint32_t form,
                               phi_str json);
/* Puts `text` `back` bytes before the end of the marked piece; once, after all pieces. */
PHI__FN void phi__encode_mark(phi__encoder *e, size_t back, const char *literal);
/* Copied, without control characters. A later header of the same name replaces an earlier one. */
PHI__FN void phi__encode_header(phi__encoder *e, const char *name, phi_str value);
PHI__FN void phi__encode_model_headers(phi__encoder *e);
/* All of a request that was rendered elsewhere; its headers are there. `body` is borrowed. */
PHI__FN void phi__encode_request(phi__encoder *e, phi_str method, phi_str url, phi_str body);
PHI__FN void phi__encode_seal(phi__encoder *e, phi_str method); /* once, after all pieces */
/* The url: the model's base, `version` ("/v1") where the base does not end in it (only_bare: only
   where the base has no path at all), and `path`, which the base may have too. */
PHI__FN void phi__encode_url(phi__encoder *e, const char *version, bool only_bare,
                             const char *path);

/* An HTTP answer that is an error: class, retryable, delay, words. Strings point into `arena`.
   `now` is not needed: an HTTP date is compared with the answer's own Date header.
   headers: lines "Name: value\r\n". */
PHI__FN void phi__classify(const phi_model *model, int http_status, phi_str headers, phi_str body,
                           phi_arena *arena, phi_failure *out);
PHI__FN bool phi__classify_is_overflow_text(phi_str text);

/* Checks whether the target would refuse a transcript, before a byte is sent: PHI_OK, or
   PHI_BAD_ARG with a message that names the place ("messages[3]: tool call \"x\" has no result").
   For tests and makers of transcripts: its time grows with the square of the calls, and the encoder
   repairs lost results by itself. */
PHI__FN phi_status phi__preflight(const phi__codec *codec, const phi__request_spec *spec,
                                  char *words, size_t words_size);
/* The target's rule for a tool's name ("expected ..."); NULL: it accepts this one. codec NULL: any
   target. */
PHI__FN const char *phi__preflight_name(const phi__codec *codec, phi_str name);

#endif
