/* codec_in.h - what a codec is written with: assembly, encoder and rendering; then what the files
   of wire/ share. Rooms that use codecs see wire_in.h alone. */
#ifndef PHI_WIRE_CODEC_IN_H
#define PHI_WIRE_CODEC_IN_H

#include "wire/wire_in.h"

/* ---- for codecs ---- */

/* Compares a text in JSON form with a literal. */
#define PHI__TEXT_IS(text, literal) phi__json_cursor_text_is((text), PHI__LIT(literal))

/* True if a text is one of the words; NULL ends them. */
PHI__FN bool phi__codec_among(phi_str text, const char *const *words);

/* The same of a text in JSON form. */
PHI__FN bool phi__opaque_knows(const char *const *known, phi__json_text key);

/* True for a call that is whole: others are never sent. */
static inline bool phi__codec_is_call(const phi_content *c) {
    return c->kind == PHI_CONTENT_TOOL_CALL && !c->incomplete;
}

/* The value of a member of an object, as a view of its text; the last one of equal names counts.
   False: there is none, or the object is not whole. */
PHI__FN bool phi__opaque_find(phi_str object, phi_str key, phi_str *value);

/* Appends an item to the array that the buffer holds; an empty buffer becomes an array. */
PHI__FN void phi__opaque_push(phi__buf *array, phi_str item);

/* Appends each member of an object whose name is not among `known` (NULL ends it) and whose value
   is not null, verbatim, with commas between. */
PHI__FN void phi__opaque_members(phi__buf *out, phi_str object, const char *const *known);
PHI__FN void phi__assembly_start(phi__assembly *a); /* once; later calls do nothing */

/* The same, with the answer's id and model, if they are not known yet. */
PHI__FN void phi__assembly_begin(phi__assembly *a, phi__json_text id, phi__json_text model);

/* A new block of a kind, open, with the protocol's key; its place, or SIZE_MAX: no memory. */
PHI__FN size_t phi__assembly_open(phi__assembly *a, phi_content_kind kind, int64_t key);

/* A hash of a text without its escapes; 0: it is empty. */
PHI__FN uint64_t phi__assembly_hash(phi__assembly *a, phi__json_text text);

/* For each element of a list of calls or items in one event; *n counts them and begins with 0.
   False: the answer failed, or the list is longer than an answer may be, and the answer fails. */
PHI__FN bool phi__assembly_takes_more(phi__assembly *a, size_t *n);
PHI__FN size_t phi__assembly_find(const phi__assembly *a, int64_t key); /* latest, or SIZE_MAX */

/* The last block if it is of this kind and open, else a new one (protocols without block starts);
   a text or thinking block before it is then whole. */
PHI__FN size_t phi__assembly_current(phi__assembly *a, phi_content_kind kind);

/* Appends to a block's bytes and calls the sink: plain bytes, or the inside of a JSON string that
   is unescaped on the way. A block of SIZE_MAX takes nothing. */
PHI__FN void phi__assembly_add(phi__assembly *a, size_t block, phi_str bytes);
PHI__FN void phi__assembly_add_json(phi__assembly *a, size_t block, phi_str raw, bool has_escapes);

static inline void phi__assembly_add_text(phi__assembly *a, size_t block, phi__json_text text) {
    phi__assembly_add_json(a, block, phi__str(text.at, text.len), text.escaped);
}

PHI__FN void phi__assembly_close(phi__assembly *a, size_t block);

/* Appends a text to a->held.bytes, unescaped, as phi__assembly_add_text does to a block's. */
PHI__FN void phi__assembly_hold_text(phi__assembly *a, phi__json_text text);

/* No more text comes to a->held: half a character in it becomes U+FFFD. */
PHI__FN void phi__assembly_hold_end(phi__assembly *a);

/* Changes the kind of a block whose deltas the sink had already; the sink gets all of them again,
   after PHI__PART_AGAIN. */
PHI__FN void phi__assembly_turn(phi__assembly *a, size_t block, phi_content_kind kind);

/* A block that phi does not interpret: its type and its JSON, byte for byte, in draft->name and
   draft->replay. `open`: more of its JSON follows, so the sink hears of its end later, from
   phi__assembly_close. Its place, or SIZE_MAX: no memory. */
PHI__FN size_t phi__assembly_opaque(phi__assembly *a, phi_str type, phi_str json, int64_t key,
                                    bool open);

/* Puts a member into an opaque block's JSON, or replaces its value; `outer`: the member whose
   object holds it, or empty. All other bytes stay. Too many changes make the block incomplete. */
PHI__FN void phi__assembly_opaque_set(phi__assembly *a, size_t block, phi_str outer, phi_str key,
                                      phi_str value);

/* Closes an opaque block: the bytes added to it become a member's value; `text`: as a string, else
   they are JSON, and the block is incomplete where they are not. */
PHI__FN void phi__assembly_opaque_close(phi__assembly *a, size_t block, phi_str outer, phi_str key,
                                        bool text);

/* Keeps members of a call that are not among `known` (NULL ends it), as an object in
   draft->citations, until phi__assembly_close_call makes it what goes back with the call. */
PHI__FN void phi__assembly_rest(phi__assembly *a, size_t block, phi_str call,
                                const char *const *known);

/* Appends a citation, JSON text, to a text block's array. Broken JSON is left out. Text that is not
   UTF-8 gets U+FFFD. A block of SIZE_MAX takes nothing. */
PHI__FN void phi__assembly_cite(phi__assembly *a, size_t block, phi_str citation);

/* Arguments that come whole with a call's start, where deltas may take their place: they wait where
   a call keeps nothing else, in `replay`. Appends to the bytes that wait. */
PHI__FN void phi__assembly_wait(phi__assembly *a, size_t block, phi_str arguments);

/* Closes a call some of whose arguments wait. They count where there were no deltas. */
PHI__FN void phi__assembly_close_call(phi__assembly *a, size_t block, phi_str arguments);

/* Replaces the text of one of the buffers. */
PHI__FN void phi__assembly_set(phi__assembly *a, phi__buf *buf, phi_str text);

/* The same of a text in JSON form. */
PHI__FN void phi__assembly_put(phi__assembly *a, phi__buf *buf, phi__json_text text);

/* Appends to a block's signature. */
PHI__FN void phi__assembly_sign(phi__assembly *a, size_t block, phi__json_text text);

/* The same, of all that a failure holds. */
PHI__FN void phi__assembly_fail_with(phi__assembly *a, const phi_failure *failure);

/* Fails the assembly by the JSON of an error event, or of a body that came with 200. What its words
   do not say is a failure of the server. */
PHI__FN void phi__classify_event(phi__assembly *a, phi_str json);

/* The same of a body that came with 200 and is no answer: a proxy's page, an error, or garbage. */
PHI__FN void phi__classify_body(phi__assembly *a, phi_str body);

/* Takes the value of a member "error"; true, and *raw its JSON: it is an error. null, false and
   empty values are none. */
PHI__FN bool phi__classify_take_error(phi__json_cursor *c, phi_str *raw);

/* The same for a table of members: a bool, whether it is an error. */
PHI__FN void phi__classify_take_flag(phi__json_cursor *c, void *is_error);

/* An event that is no JSON, and not the last one. */
PHI__FN void phi__classify_bad_event(phi__assembly *a);

/* Words by which a protocol ends an answer, and what they mean. */
typedef struct phi__stop_word {
    /* Each ends with a NUL, and one more NUL ends the list; "abc*": all that begin with abc. */
    const char *words;
    phi_stop_reason reason;
    phi_failure_kind failure; /* NONE: it is no failure */
    bool retryable;
} phi__stop_word;

/* Sets the stop reason by the word in a->raw_stop_reason, and returns its row. NULL: no row of the
   `count` has the word; the answer then ends with what came, and a warning names the word. */
PHI__FN const phi__stop_word *phi__classify_reason(phi__assembly *a, const phi__stop_word *table,
                                                   size_t count);

/* The same, and fails the assembly if the word means a failure: in the provider's words, `said`, or
   in words for the reason. Does nothing if the assembly has failed already. */
PHI__FN void phi__classify_stop(phi__assembly *a, const phi__stop_word *table, size_t count,
                                phi__json_text said);

/* True if an update is sent as a system message here: the target takes one, it follows the user's
   message, and an answer or the end follows it. */
PHI__FN bool phi__encode_is_system(const phi__encoder *e, size_t item);
PHI__FN void phi__encode_piece(phi__encoder *e, phi_str json);       /* borrowed */
PHI__FN void phi__encode_glue(phi__encoder *e, const char *literal); /* static text, borrowed */
PHI__FN void phi__encode_scratch(phi__encoder *e); /* e->scratch as a piece; clears it */

/* A copy of e->scratch in the arena; clears it. False: the encoder failed. */
PHI__FN bool phi__encode_copy(phi__encoder *e, phi_str *out);

/* Appends to the message of a role, as which `begin` is known: "]},{", which ends the message that
   is open, and the beginning of a message of this role. */
PHI__FN void phi__encode_role(phi__encoder *e, phi_role role, phi_str begin, phi_str json);

/* Puts `text` `back` bytes before the end of the marked piece; once, after all pieces. */
PHI__FN void phi__encode_mark(phi__encoder *e, size_t back, const char *literal);

/* Adds the headers content-type (JSON) and accept. */
PHI__FN void phi__encode_accept(phi__encoder *e, const char *accept);

/* The model's key in a header (NULL: as a bearer's token), then the model's headers. */
PHI__FN void phi__encode_key(phi__encoder *e, const char *header);

/* The url: the model's base, `version` ("/v1") where the base does not end in it (only_bare: only
   where the base has no path at all), and `path`, which the base may have too. */
PHI__FN void phi__encode_url(phi__encoder *e, const char *version, bool only_bare,
                             const char *path);

/* The keys of a protocol; NULL: the protocol has none, or writes it elsewhere. */
typedef struct phi__takes_keys {
    const char *temperature, *top_p, *top_k, *stop, *seed, *tier;
} phi__takes_keys;

/* Writes the settings that are set and that `takes` has, each as ,"key":value, into the scratch
   buffer. */
PHI__FN void phi__takes_put(phi__encoder *e, const phi__takes_keys *keys, uint32_t takes);

/* True when the request asks for one call at a time, has tools to call, and the target can. */
PHI__FN bool phi__takes_serial(const phi__request_spec *spec, uint32_t takes);

/* The comma before a tool by its index. True: it is a raw one, which is a piece now, as it is. */
PHI__FN bool phi__takes_raw(phi__encoder *e, size_t tool);

/* A tool of the request is deferred, or was: the target's tool search has to be among them. */
PHI__FN bool phi__takes_deferred(const phi__request_spec *spec);

/* The level of thinking that is sent for the wanted one. */
PHI__FN phi_thinking phi__takes_level(const phi__codec *codec, const phi__request_spec *spec);

/* True if the thinking of an answer goes back: this target made it, and it is still valid. */
PHI__FN bool phi__prefix_sends(const phi__encoder *e, size_t item);

/* For codecs: a line more of the system prompt. False: no memory. */
PHI__FN bool phi__format_say(phi__request_spec *spec, phi_arena *arena, const char *line);

PHI__FN void phi__frames_init(phi__frames *frames, phi_memory *memory, size_t max_bytes);
PHI__FN void phi__frames_free(phi__frames *frames); /* twice is harmless */
PHI__FN void phi__frames_feed(phi__frames *frames, const char *bytes, size_t len);

/* 1: a frame; 0: needs more bytes; PHI_PARSE: a check or a length is wrong; PHI_TOO_BIG,
   PHI_NO_MEMORY. */
PHI__FN int phi__frames_next(phi__frames *frames, phi__frame *out);
PHI__FN const phi__framing *phi__frames_framing(void);

enum { PHI__DELTA_CACHE_MOST = 384 }; /* bytes around the text: chunks of OpenAI's have about 250 */

typedef struct phi__delta_cache {
    uint16_t head;       /* bytes before the string's text; 0: empty */
    uint16_t tail;       /* and after it, with its quote */
    size_t block, count; /* where the text goes, and how many blocks there were */
    char around[PHI__DELTA_CACHE_MOST];
} phi__delta_cache;

/* Keeps an event that is nothing but `text`, which lies in `data`, for a block. */
PHI__FN void phi__delta_cache_learn(phi__delta_cache *r, const phi__assembly *a, phi_str data,
                                    phi__json_text text, size_t block);

static inline void phi__delta_cache_forget(phi__delta_cache *r) { r->head = 0; }

/* Adds the event's text to its block, if the event is the kept one with another text; else
   false. */
PHI__FN bool phi__delta_cache_add(const phi__delta_cache *r, phi__assembly *a, phi_str data);

/* What every decoder of a stream of JSON events keeps. */
typedef struct phi__decoding {
    bool broken; /* the last event was no JSON: an error, unless the stream ends with it */
    bool heard;  /* an event came */
    phi__delta_cache repeat;
} phi__decoding;

/* True if an event is to be read: its data are an object (`lists`: or a list), as the words of
   a gateway are not, and it is no error by its name and no repeat of the kept one. */
PHI__FN bool phi__decoding_takes(phi__decoding *d, phi__assembly *a, phi_str name, phi_str data,
                                 bool lists);

/* A call's id with its quotes; `before`: text that goes first. */
PHI__FN void phi__render_id(phi__buf *out, const char *before, phi_str id, phi__id_rule rule);

/* A tool's name from history, which another provider may have allowed: [a-zA-Z0-9_-], cut. */
PHI__FN void phi__render_name(phi__buf *out, const char *before, phi_str name, size_t most);
PHI__FN bool phi__render_blank(phi_str text); /* nothing but white space */
PHI__FN phi_str phi__render_trim_end(phi_str text);

/* As phi__records_str into the scratch buffer, and the inside of a string alone: for texts of a
   message, which may be long and are then filled in later. */
PHI__FN void phi__render_text_member(phi__encoder *e, const char *key, phi_str text);
PHI__FN void phi__render_text(phi__encoder *e, phi_str text);

/* Arguments as the JSON text of an object: anything else becomes {}. Uses and resets e->arena. */
PHI__FN phi_str phi__render_arguments(phi__encoder *e, phi_str arguments);

/* True if any model of this target's protocol made the message. */
PHI__FN bool phi__render_same_protocol(const phi__encoder *e, size_t item);
PHI__FN bool phi__render_any_opaque(const phi__encoder *e, const phi_message *message);

/* True if a request may hold a text as a value: JSON without half of a surrogate pair, which
   servers refuse. Answers are checked when they come, but transcripts come from files and hosts as
   well, and one broken value makes every later request fail. Beyond a size only strings and
   brackets are looked at. Uses and resets e->arena. */
PHI__FN bool phi__render_goes(phi__encoder *e, phi_str json);

/* The block's JSON as it is, with a comma before it where one is needed; nothing if it is no
   object. */
PHI__FN void phi__render_opaque(phi__encoder *e, const phi_content *c);

/* Appends the members of an object to the object that is being written. */
PHI__FN void phi__render_rest(phi__encoder *e, phi_str object);

/* True if the next message after an answer and its results is the user's. */
PHI__FN bool phi__render_user_follows(const phi__encoder *e, size_t item);

/* True if an answer's server-side calls without a result can get none any more, because the user
   has spoken since. Providers refuse such a call. is_call: true for the name of an opaque block
   that is a call. */
PHI__FN bool phi__render_abandons(const phi__encoder *e, size_t item,
                                  bool (*is_call)(phi_str name));

/* True if a later opaque block of the message names this call's id: `id` and `refs` are the paths
   of the ids in a call and in results. */
PHI__FN bool phi__render_is_answered(const phi_message *message, size_t block, const char *id,
                                     const char *const *refs);
PHI__FN bool phi__render_is_image(const phi_content *c);

/* True if a target takes images of a type, "image/png". */
PHI__FN bool phi__render_takes(const phi__codec *codec, const phi_model *model, phi_str type);
PHI__FN phi__render_way phi__render_way_to(const phi__encoder *e, const phi_content *c);

/* True if any block of a message goes that way. */
PHI__FN bool phi__render_any(const phi__encoder *e, const phi_message *message,
                             phi__render_way way);

/* "image", "document", "audio" for the blocks that go as PHI__RENDER_BLOCK; of several kinds:
   "files". */
PHI__FN const char *phi__render_media_word(const phi__encoder *e, const phi_message *message);

/* The line in place of block i: only for the first of several of one kind in a row. Else empty. */
PHI__FN phi_str phi__render_stand_in(const phi__encoder *e, const phi_message *message, size_t i);

/* The inside of a string, into the scratch buffer: a text; of a document, "Document: " and its
   title on a line, where it has one, then its text. */
PHI__FN void phi__render_said(phi__encoder *e, const phi_content *c);

/* {"type":"text","text":...}, with a comma before it where one is needed: a block as
   phi__render_said writes it, and a text. */
PHI__FN void phi__render_said_part(phi__encoder *e, const phi_content *c);
PHI__FN void phi__render_text_part(phi__encoder *e, phi_str text);

/* Text, media and opaque blocks of a message, each by the codec's own function; blank text is left
   out, and so are all others where `media` is false. `said` writes phi__render_said; `opaque` NULL:
   such blocks are left out. */
PHI__FN void phi__render_parts(phi__encoder *e, const phi_message *message, bool media,
                               void (*said)(phi__encoder *e, const phi_content *c),
                               void (*block)(phi__encoder *e, const phi_content *c),
                               void (*opaque)(phi__encoder *e, const phi_content *c));
PHI__FN void phi__render_base64(phi__encoder *e, const char *before, phi_str data,
                                const char *after);

/* The usual ending of a type's files: "pdf", "csv", "wav"; NULL: not a type of PHI__MEDIA_. */
PHI__FN const char *phi__render_ending(phi_str mime_type);

/* A document's title as the name of a file with its ending, with quotes. */
PHI__FN void phi__render_file_name(phi__buf *out, const phi_content *c);

/* Tokens to think with at a level; 0: off. */
PHI__FN uint32_t phi__render_budget(phi_thinking level);

/* The faults of a text that was to be a JSON object. */
enum {
    PHI__REPAIR_STRING = 1 << 0,  /* the object was inside a string */
    PHI__REPAIR_COMMA = 1 << 1,   /* a comma before a closing bracket */
    PHI__REPAIR_QUOTES = 1 << 2,  /* single quotes */
    PHI__REPAIR_PYTHON = 1 << 3,  /* True, False, None */
    PHI__REPAIR_KEYS = 1 << 4,    /* keys without quotes */
    PHI__REPAIR_OPEN = 1 << 5,    /* closing brackets were missing, at the end */
    PHI__REPAIR_CLOSED = 1 << 6,  /* there were too many, at the end */
    PHI__REPAIR_CONTROL = 1 << 7, /* a string had a raw line feed or another control character */
    PHI__REPAIR_ESCAPE = 1 << 8,  /* a string had an escape that JSON does not have */
    PHI__REPAIR_FENCE = 1 << 9,   /* a code fence around it */
    PHI__REPAIR_TWICE = 1 << 10,  /* it came twice, or after an empty one */
    PHI__REPAIR_WORDS = 1 << 11,  /* words came after it */
    PHI__REPAIR_NULL = 1 << 12,   /* null instead of it */
    PHI__REPAIR_BITS = 13
};

/* The place of the tool that a name means: the tool of that name, else the only one that it fits
   when case, '-' and '_' do not count, without a prefix ("functions.", "tools/", "default_api:")
   and without ":0" or "<|...|>" at its end. SIZE_MAX: none, or more than one. */
PHI__FN size_t phi__repair_tool(const phi__tool_view *tools, size_t count, phi_str name);

/* The tool of exactly that name, or SIZE_MAX. */
PHI__FN size_t phi__repair_tool_of(const phi__tool_view *tools, size_t count, phi_str name);

/* Appends the value at *at as JSON, and advances *at past it. False: it cannot be read in one way
   only, or memory ended (out->failed). *faults: bits are added. */
PHI__FN bool phi__repair_value(phi__buf *out, const char **at, const char *end, uint32_t *faults);

/* Appends a schema as Gemini takes it, unchanged if it needs no change; phi__codec_rules.adapt.
   False: no memory (out->failed), or `words` say why Gemini takes none such. */
PHI__FN bool phi__strict_gemini(phi__buf *out, phi_str schema, char *words, size_t words_size);

/* For codecs: a tool's name, its description and its schema as members of an object that the codec
   opens and closes; `schema`: the schema's key, with its comma and colon. Returns whether the
   schema is a strict one. */
PHI__FN bool phi__strict_put_tool(phi__encoder *e, const phi__tool_view *tool, const char *schema);

/* codec NULL: the protocol is a host's own. The target has a protocol and an id. */
PHI__FN phi_status phi__translate(const phi__codec *codec, const phi_model *target,
                                  const phi_message *const *messages, size_t count,
                                  phi_arena *arena, const phi_message *const **out,
                                  size_t *out_count);

/* ---- inside of wire: the codec and its encoder ---- */

/* A number for a model's names, by each name of its protocol; zeros where one is missing. */
PHI__FN void phi__codec_origins_of(const phi__codec *codec, phi_str model, phi_str provider,
                                   uint64_t out[PHI__CODEC_NAMES]);
PHI__FN bool phi__codec_origin_among(const uint64_t origins[PHI__CODEC_NAMES], uint64_t origin);
PHI__FN void phi__encode_store(phi__encoder *e, size_t item, uint32_t form, phi_str json);
PHI__FN void phi__encode_seal(phi__encoder *e, phi_str method); /* once, after all pieces */
PHI__FN bool phi__classify_is_overflow_text(phi_str text);

/* ---- extras ---- */

enum {
    PHI__EXTRA_DEEP = 32,     /* objects inside of objects */
    PHI__EXTRA_MEMBERS = 1024 /* of an object */
};

/* Merges e->spec->extra into the pieces so far, which are the head of the body. Sets e->refused
   where the head has one of its members. */
PHI__FN void phi__extra_apply(phi__encoder *e);

/* ---- long texts and images, written in slices ---- */

/* Leaves a hole in the scratch buffer for a long text; false: render it now. */
PHI__FN bool phi__fill_hole(struct phi__encoder *e, phi_str source, bool base64);

/* Base64 as it is; a byte that is none would break the JSON and is left out. */
PHI__FN void phi__fill_base64(phi__buf *out, phi_str data);
PHI__FN void phi__fill_begin(struct phi__encoder *e, size_t item, uint32_t form);

/* True: *json is the rendering, of f->item and form (or memory ended: e->failed). False: the
   units are used up. */
PHI__FN bool phi__fill_advance(struct phi__encoder *e, size_t *units, phi_str *json);
PHI__FN void phi__fill_drop(struct phi__encoder *e); /* at any time */

/* ---- frames, rendering, repair and strict schemas ---- */

/* After the last byte: true if the stream ended inside of a frame. */
PHI__FN bool phi__frames_cut(const phi__frames *frames);

/* codec NULL: a host's own protocol. */
PHI__FN phi__id_rule phi__render_id_rule(const phi__codec *codec, const phi_model *model);

/* The id itself, where the rule allows it, or its replacement, written into `room`. */
enum { PHI__ID_ROOM = 38 };
PHI__FN phi_str phi__render_map_id(phi_str id, phi__id_rule rule, char room[PHI__ID_ROOM]);

/* PHI__MEDIA_ bits of a target. codec NULL: a host's own protocol, all of them. */
PHI__FN uint32_t phi__render_media(const phi__codec *codec, const phi_model *model);

/* A block that this target does not take, and the line that replaces it. */
PHI__FN bool phi__render_omits(const phi__encoder *e, const phi_content *c);
PHI__FN phi_str phi__render_omitted(const phi_texts *texts, phi_content_kind kind);

/* Appends the object that a text means, as JSON. False as phi__repair_value. *faults 0: it was
   JSON. */
PHI__FN bool phi__repair_object(phi__buf *out, phi_str text, uint32_t *faults);

/* Appends the schema in that form, always the same bytes for the same text. False: no memory
   (out->failed), or the schema has no such form: `words` (terminated) then say where and why: at
   /properties/a: "oneOf" has no strict form. The appended bytes are then of no use. */
PHI__FN bool phi__strict_schema(phi__buf *out, phi_str schema, phi__strict_form form, char *words,
                                size_t words_size);

/* Makes one form of one schema into `arena`: by `by`, or by the codec for PHI__STRICT_GEMINI. The
   result may be the schema itself. False: no memory. */
PHI__FN bool phi__strict_make(const phi__codec *codec, const phi__formats *by, phi_str schema,
                              phi__strict_form form, phi_arena *arena, struct phi__adapted *out);

/* The form in which a model takes strict tools. */
PHI__FN phi__strict_form phi__strict_form_of(const phi__codec *codec, const phi_model *model);

#endif
