/* codec_in.h - the functions that codecs use: assembly, encoder and rendering; then the functions
   that only the files of wire/ share. Other rooms see wire_in.h only. */
#ifndef PHI_WIRE_CODEC_IN_H
#define PHI_WIRE_CODEC_IN_H

#include "wire/wire_in.h"

/* ---- for codecs ---- */

/* True if a JSON text equals a literal. */
#define PHI__TEXT_IS(text, literal) phi__json_cursor_text_is((text), PHI__LIT(literal))

/* True if a text equals a word of the list, which NULL ends. */
PHI__FN bool phi__codec_among(phi_str text, const char *const *words);

/* As phi__codec_among, for a JSON text. */
PHI__FN bool phi__opaque_knows(const char *const *known, phi__json_text key);

PHI__FN bool phi__render_blank(phi_str text); /* true if the text is only white space */

/* True for a text block that is sent. Blank texts are not sent. */
static inline bool phi__codec_is_text(const phi_content *c) {
    return c->kind == PHI_CONTENT_TEXT && !phi__render_blank(c->text);
}

/* Finds the value of an object's member, as a view of its text. If a name occurs twice, its last
   value counts. False if the object has no such member or is broken. */
PHI__FN bool phi__opaque_find(phi_str object, phi_str key, phi_str *value);

/* Appends an item to the JSON array in the buffer. An empty buffer becomes an array. */
PHI__FN void phi__opaque_push(phi__buf *array, phi_str item);

/* Appends the members of an object unchanged, separated by commas. Skips members that are null or
   whose name is in `known`, a list that NULL ends. */
PHI__FN void phi__opaque_members(phi__buf *out, phi_str object, const char *const *known);
PHI__FN void
phi__assembly_start(phi__assembly *a); /* reports the answer's start to the sink, once */

/* As phi__assembly_start, and sets the answer's id and model if they are not set yet. */
PHI__FN void phi__assembly_begin(phi__assembly *a, phi__json_text id, phi__json_text model);

/* Opens a new block of a kind with the protocol's key. Returns its index, or SIZE_MAX if there is
   no memory or the answer has too many blocks. */
PHI__FN size_t phi__assembly_open(phi__assembly *a, phi_content_kind kind, int64_t key);

/* Returns a hash of a JSON text after unescaping; 0 for an empty text. */
PHI__FN uint64_t phi__assembly_hash(phi__assembly *a, phi__json_text text);

/* Call it before each element of a list of calls or items in one event. *n counts the elements and
   starts at 0. False if the answer has failed. A list that is too long fails the answer. */
PHI__FN bool phi__assembly_takes_more(phi__assembly *a, size_t *n);
PHI__FN size_t phi__assembly_find(const phi__assembly *a,
                                  int64_t key); /* the latest block; SIZE_MAX if none */

/* Returns the last block if it is open and of this kind. Otherwise opens a new block, and closes
   the block before it unless that is a call. For protocols that do not announce the start of a
   block. */
PHI__FN size_t phi__assembly_current(phi__assembly *a, phi_content_kind kind);

/* Append to a block's bytes and call the sink. _add takes plain bytes. _add_json takes the inside
   of a JSON string and unescapes it. They do nothing if block is SIZE_MAX. */
PHI__FN void phi__assembly_add(phi__assembly *a, size_t block, phi_str bytes);
PHI__FN void phi__assembly_add_json(phi__assembly *a, size_t block, phi_str raw, bool has_escapes);

static inline void phi__assembly_add_text(phi__assembly *a, size_t block, phi__json_text text) {
    phi__assembly_add_json(a, block, phi__str(text.at, text.len), text.escaped);
}

PHI__FN void phi__assembly_close(phi__assembly *a, size_t block);

/* Appends a JSON text to a->held.bytes, unescaped, as phi__assembly_add_text does for a block. */
PHI__FN void phi__assembly_hold_text(phi__assembly *a, phi__json_text text);

/* Ends the text in a->held: half a character at its end becomes U+FFFD. */
PHI__FN void phi__assembly_hold_end(phi__assembly *a);

/* Changes the kind of an existing block. The sink gets PHI__PART_AGAIN and all deltas again. */
PHI__FN void phi__assembly_turn(phi__assembly *a, size_t block, phi_content_kind kind);

/* Opens a block that phi does not interpret. draft->name gets the type, draft->replay gets the JSON
   unchanged. If `open` is true, more of the JSON follows, and phi__assembly_close will end the
   block. Returns the index; SIZE_MAX in the cases of phi__assembly_open. */
PHI__FN size_t phi__assembly_opaque(phi__assembly *a, phi_str type, phi_str json, int64_t key,
                                    bool open);

/* Sets a member of an opaque block's JSON. All other bytes stay unchanged. If `outer` is not empty,
   it names an object inside the JSON, and the member is set in this object. Too many changes make
   the block incomplete. */
PHI__FN void phi__assembly_opaque_set(phi__assembly *a, size_t block, phi_str outer, phi_str key,
                                      phi_str value);

/* Closes an opaque block. The bytes added to the block become the value of a member: a string if
   `text` is true, else JSON. If this JSON is broken, the block becomes incomplete. */
PHI__FN void phi__assembly_opaque_close(phi__assembly *a, size_t block, phi_str outer, phi_str key,
                                        bool text);

/* Keeps the members of a call whose names are not in `known`, as an object in draft->citations.
   phi__assembly_close_call moves the object to draft->replay. */
PHI__FN void phi__assembly_rest(phi__assembly *a, size_t block, phi_str call,
                                const char *const *known);

/* Appends a citation, which is JSON text, to a text block's array. Ignores broken JSON. U+FFFD
   replaces bytes that are not UTF-8. Does nothing if block is SIZE_MAX. */
PHI__FN void phi__assembly_cite(phi__assembly *a, size_t block, phi_str citation);

/* Appends the arguments that came with a call's start to draft->replay. They are used only if no
   deltas follow. */
PHI__FN void phi__assembly_wait(phi__assembly *a, size_t block, phi_str arguments);

/* Closes a call. `arguments` are used if there were no deltas. */
PHI__FN void phi__assembly_close_call(phi__assembly *a, size_t block, phi_str arguments);

/* Replaces the text of a buffer. */
PHI__FN void phi__assembly_set(phi__assembly *a, phi__buf *buf, phi_str text);

/* As phi__assembly_set, for a JSON text. */
PHI__FN void phi__assembly_put(phi__assembly *a, phi__buf *buf, phi__json_text text);

/* Appends a JSON text to a block's signature. */
PHI__FN void phi__assembly_sign(phi__assembly *a, size_t block, phi__json_text text);

/* As phi__assembly_fail, with all fields of a failure. */
PHI__FN void phi__assembly_fail_with(phi__assembly *a, const phi_failure *failure);

/* Fails the assembly with the JSON of an error event, or of a body that came with status 200. If
   the text names no known error, the failure is SERVER. */
PHI__FN void phi__classify_event(phi__assembly *a, phi_str json);

/* Fails the assembly with a 200 body that is no answer: a proxy's page, an error, or garbage. */
PHI__FN void phi__classify_body(phi__assembly *a, phi_str body);

/* Reads the value of a member "error". True if it is an error; *raw is its JSON. null, false and
   empty values are no errors. */
PHI__FN bool phi__classify_take_error(phi__json_cursor *c, phi_str *raw);

/* As phi__classify_take_error, for a row of a member table: sets the bool *is_error. */
PHI__FN void phi__classify_take_flag(phi__json_cursor *c, void *is_error);

/* Fails the assembly because an event before the last one is not JSON. */
PHI__FN void phi__classify_bad_event(phi__assembly *a);

/* The words with which a protocol ends an answer, and their meaning. */
typedef struct phi__stop_word {
    /* Each word ends with a NUL, and one more NUL ends the list. "abc*" matches every word that
       begins with abc. */
    const char *words;
    phi_stop_reason reason;
    phi_failure_kind failure; /* NONE: no failure */
    bool retryable;
} phi__stop_word;

/* Finds the row of the table with the word in a->raw_stop_reason, sets the stop reason and returns
   the row. If no row has the word, sets STOP and a->unknown_stop and returns NULL. */
PHI__FN const phi__stop_word *phi__classify_reason(phi__assembly *a, const phi__stop_word *table,
                                                   size_t count);

/* As phi__classify_reason. If the word means a failure, fails the assembly with the message `said`,
   which comes from the provider and may be empty. Does nothing after a failure. */
PHI__FN void phi__classify_stop(phi__assembly *a, const phi__stop_word *table, size_t count,
                                phi__json_text said);

/* True if an update is sent as a system message: the target accepts one, the update comes after the
   user's turn, and an answer or the end of the transcript follows it. */
PHI__FN bool phi__encode_is_system(const phi__encoder *e, size_t item);
PHI__FN void phi__encode_piece(phi__encoder *e, phi_str json);       /* `json` is borrowed */
PHI__FN void phi__encode_insert(phi__encoder *e, phi_str json);      /* e->scratch, then `json` */
PHI__FN void phi__encode_glue(phi__encoder *e, const char *literal); /* `literal` is static */
PHI__FN void phi__encode_scratch(phi__encoder *e); /* appends e->scratch as a piece and clears it */

/* Copies e->scratch into the arena and clears e->scratch. False: the encoder failed. */
PHI__FN bool phi__encode_copy(phi__encoder *e, phi_str *out);

/* Appends JSON to the message of a role. If the open message has another role, first appends
   `begin`, which ends that message and starts a new one ("]},{..."). If no message is open, leaves
   out the "]}," of `begin`. */
PHI__FN void phi__encode_role(phi__encoder *e, phi_role role, phi_str begin, phi_str json);

/* As phi__codec.append, for protocols whose messages are items of one list. */
PHI__FN void phi__encode_append(phi__encoder *e, const phi_message *m, size_t at, uint32_t form,
                                phi_str items);

/* Inserts `literal` into the piece e->mark_piece, `back` bytes before its end. Call it once,
   last. */
PHI__FN void phi__encode_mark(phi__encoder *e, size_t back, const char *literal);

/* Adds the headers content-type (JSON) and accept. */
PHI__FN void phi__encode_accept(phi__encoder *e, const char *accept);

/* Adds the model's key in a header (NULL: as a bearer token), then the model's headers. */
PHI__FN void phi__encode_key(phi__encoder *e, const char *header);

/* Sets the url to the model's base, `version` ("/v1") and `path`. A part with which the base
   already ends is not added again. If only_bare is true, adds `version` only if the base has no
   path. */
PHI__FN void phi__encode_url(phi__encoder *e, const char *version, bool only_bare,
                             const char *path);

/* A protocol's names for the settings. A name is NULL if the protocol has no such setting, or if
   the codec writes the setting itself. */
typedef struct phi__takes_keys {
    const char *temperature, *top_p, *top_k, *stop, *seed, *tier;
} phi__takes_keys;

#define PHI__TAKES_TOKENS 8192u /* max. tokens of an answer if no limit is set */

/* Returns the most tokens of an answer: from the request, else from the model; 0 if unknown. */
static inline uint32_t phi__takes_tokens(const phi__request_spec *spec) {
    return spec->max_tokens != 0 ? spec->max_tokens : spec->model->max_tokens;
}

/* Writes the settings of the request to the scratch buffer, each as ,"key":value. Leaves out
   settings that are not set or not allowed by `takes`. */
PHI__FN void phi__takes_put(phi__encoder *e, const phi__takes_keys *keys, uint32_t takes);

/* True if the request asks for one call at a time, has tools, and the target supports that. */
PHI__FN bool phi__takes_serial(const phi__request_spec *spec, uint32_t takes);

/* Writes the comma before a tool. For a raw tool also appends its JSON and returns true. */
PHI__FN bool phi__takes_raw(phi__encoder *e, size_t tool);

/* True if the target's tool search must be sent: a tool is deferred, or spec->searches is set. */
PHI__FN bool phi__takes_deferred(const phi__request_spec *spec);

/* Returns the thinking level to send for the level that the request wants. */
PHI__FN phi_thinking phi__takes_level(const phi__codec *codec, const phi__request_spec *spec);

/* True if the thinking of an answer is sent back: this target made the answer, and the thinking is
   still valid. */
PHI__FN bool phi__prefix_sends(const phi__encoder *e, size_t item);

/* Appends a line to the system prompt. False: no memory. */
PHI__FN bool phi__format_say(phi__request_spec *spec, phi_arena *arena, const char *line);

/* Returns the functions that read AWS's frames. For phi__codec.frames. */
PHI__FN const phi__framing *phi__frames_framing(void);

enum {
    PHI__DELTA_CACHE_MOST = 384
}; /* max. bytes around the text; OpenAI's chunks have about 250 */

typedef struct phi__delta_cache {
    uint16_t head;       /* bytes before the string's text; 0: the cache is empty */
    uint16_t tail;       /* bytes after the text, with its closing quote */
    size_t block, count; /* block of the text, and number of blocks at that time */
    char around[PHI__DELTA_CACHE_MOST];
} phi__delta_cache;

/* Stores an event that only adds a text to a block. `text` is a part of `data`. */
PHI__FN void phi__delta_cache_learn(phi__delta_cache *r, const phi__assembly *a, phi_str data,
                                    phi__json_text text, size_t block);

static inline void phi__delta_cache_forget(phi__delta_cache *r) { r->head = 0; }

/* If the event differs from the stored one only in its text, adds the text and returns true. */
PHI__FN bool phi__delta_cache_add(const phi__delta_cache *r, phi__assembly *a, phi_str data);

/* State that every decoder of a stream of JSON events keeps. */
typedef struct phi__decoding {
    bool broken; /* the last event was not JSON: an error, unless the stream ends here */
    bool heard;  /* an event came */
    phi__delta_cache repeat;
} phi__decoding;

/* True if the decoder must read an event: its data begin with '{', or, if `lists` is true, with
   '['. Other data are a gateway's text. Handles two kinds of events itself: an "error" event fails
   the answer, and the text of a repeated event is added. */
PHI__FN bool phi__decoding_takes(phi__decoding *d, phi__assembly *a, phi_str name, phi_str data,
                                 bool lists);

/* True for the characters of names and ids that every provider accepts. */
static inline bool phi__render_word(char c) { return phi__is_alnum(c) || c == '_' || c == '-'; }

/* Writes `before`, then a call's id in quotes. */
PHI__FN void phi__render_id(phi__buf *out, const char *before, phi_str id, phi__id_rule rule);

/* Writes `before`, then a tool's name in quotes, at most `most` bytes of it. Characters other than
   [a-zA-Z0-9_-], which another provider may have allowed, become '_'. */
PHI__FN void phi__render_name(phi__buf *out, const char *before, phi_str name, size_t most);
PHI__FN phi_str phi__render_trim_end(phi_str text);

/* Write a text to the scratch buffer, as a member or as the inside of a string. A long text may
   leave a hole (phi__fill_hole). */
PHI__FN void phi__render_text_member(phi__encoder *e, const char *key, phi_str text);
PHI__FN void phi__render_text(phi__encoder *e, phi_str text);

/* Returns arguments if they are the JSON text of an object, else {}. Uses and resets e->arena. */
PHI__FN phi_str phi__render_arguments(phi__encoder *e, phi_str arguments);

/* True if any model of this target's protocol wrote the message. */
PHI__FN bool phi__render_same_protocol(const phi__encoder *e, size_t item);

/* True if the message has an opaque block of this target's protocol whose name passes `is`. If `is`
   is NULL, every name passes. */
PHI__FN bool phi__render_any_opaque(const phi__encoder *e, const phi_message *message,
                                    bool (*is)(phi_str name));

/* True if a request may hold a JSON text: the text is valid and has no half of a surrogate pair,
   which servers refuse. Transcripts also come from files and hosts, and one broken value would make
   every later request fail. For a very long text only strings and brackets are checked. Uses
   e->arena. */
PHI__FN bool phi__render_goes(phi__encoder *e, phi_str json);

/* True if citations are an array that a request may hold. */
static inline bool phi__render_cites(phi__encoder *e, phi_str citations) {
    return citations.len > 0 && citations.at[0] == '[' && phi__render_goes(e, citations);
}

/* Writes the block's JSON unchanged, after a comma if needed. Writes nothing if the JSON is broken
   or no object. */
PHI__FN void phi__render_opaque(phi__encoder *e, const phi_content *c);

/* Appends the members of an object to the object that is being written. */
PHI__FN void phi__render_rest(phi__encoder *e, phi_str object);

/* True if a user's message comes after an answer and its results, and before the next answer. */
PHI__FN bool phi__render_user_follows(const phi__encoder *e, size_t item);

/* True if a later opaque block of the message holds the result of the call in `block`. `id` is the
   path of the id in a call, and `refs` are the paths of this id in results. */
PHI__FN bool phi__render_is_answered(const phi_message *message, size_t block, const char *id,
                                     const char *const *refs);
PHI__FN bool phi__render_is_image(const phi_content *c);

/* True if a target accepts images of a type such as "image/png". */
PHI__FN bool phi__render_takes(const phi__codec *codec, const phi_model *model, phi_str type);
PHI__FN phi__render_way phi__render_way_to(const phi__encoder *e, const phi_content *c);

/* True if any block of a message is sent in the given way. */
PHI__FN bool phi__render_any(const phi__encoder *e, const phi_message *message,
                             phi__render_way way);

/* Returns "image", "document" or "audio" if all blocks sent as media are of one kind, else
   "files". */
PHI__FN const char *phi__render_media_word(const phi__encoder *e, const phi_message *message);

/* Returns the line of text that replaces block i, or an empty string. In a row of omitted blocks of
   one kind, the line replaces the first block, and the others get none. */
PHI__FN phi_str phi__render_stand_in(const phi__encoder *e, const phi_message *message, size_t i);

/* Writes a text as the inside of a string to the scratch buffer. A document's text comes after a
   line with "Document: " and its title, if it has a title. */
PHI__FN void phi__render_said(phi__encoder *e, const phi_content *c);

/* Write {"type":"text","text":...}, after a comma if one is needed. phi__render_said_part writes a
   block as phi__render_said does. phi__render_text_part writes a text. */
PHI__FN void phi__render_said_part(phi__encoder *e, const phi_content *c);
PHI__FN void phi__render_text_part(phi__encoder *e, phi_str text);

/* Passes the blocks of a message to the codec's functions: texts to `said`, media to `block`,
   opaque blocks to `opaque` (may be NULL). Skips blank texts. If `media` is false, passes only
   texts. */
PHI__FN void phi__render_parts(phi__encoder *e, const phi_message *message, bool media,
                               void (*said)(phi__encoder *e, const phi_content *c),
                               void (*block)(phi__encoder *e, const phi_content *c),
                               void (*opaque)(phi__encoder *e, const phi_content *c));

/* Passes the images, documents and audio of a message that are sent as media to `block`. */
PHI__FN void phi__render_blocks(phi__encoder *e, const phi_message *message,
                                void (*block)(phi__encoder *e, const phi_content *c));
PHI__FN void phi__render_base64(phi__encoder *e, const char *before, phi_str data,
                                const char *after);

/* Returns a type's usual file name ending ("pdf", "csv", "wav"); NULL if no PHI__MEDIA_ bit has the
   type. */
PHI__FN const char *phi__render_ending(phi_str mime_type);

/* Writes a document's title in quotes as a file name with its ending. */
PHI__FN void phi__render_file_name(phi__buf *out, const phi_content *c);

/* Returns the budget of thinking tokens for a level; 0 if thinking is off. */
PHI__FN uint32_t phi__render_budget(phi_thinking level);

/* The faults of a text that should be a JSON object. */
enum {
    PHI__REPAIR_STRING = 1 << 0,  /* the object was inside a string */
    PHI__REPAIR_COMMA = 1 << 1,   /* a comma before a closing bracket */
    PHI__REPAIR_QUOTES = 1 << 2,  /* single quotes */
    PHI__REPAIR_PYTHON = 1 << 3,  /* True, False, None */
    PHI__REPAIR_KEYS = 1 << 4,    /* keys without quotes */
    PHI__REPAIR_OPEN = 1 << 5,    /* closing brackets were missing at the end */
    PHI__REPAIR_CLOSED = 1 << 6,  /* there were too many closing brackets at the end */
    PHI__REPAIR_CONTROL = 1 << 7, /* a string had a raw line feed or another control character */
    PHI__REPAIR_ESCAPE = 1 << 8,  /* a string had an escape that JSON does not have */
    PHI__REPAIR_FENCE = 1 << 9,   /* a code fence around the object */
    PHI__REPAIR_TWICE = 1 << 10,  /* the object came twice, or after an empty one */
    PHI__REPAIR_WORDS = 1 << 11,  /* words came after the object */
    PHI__REPAIR_NULL = 1 << 12,   /* null instead of an object */
    PHI__REPAIR_BITS = 13
};

/* Finds the tool of the request that a name means. If there is no exact match and
   PHI_QUIRK_REPAIR_CALLS is set, compares names without case, '-' and '_'. If that finds none, also
   ignores a prefix ("functions.", "tools/", "default_api:") and an end such as ":0" or "<|...|>".
   SIZE_MAX if no tool or more than one matches. */
PHI__FN size_t phi__repair_tool(const phi__assembly *a, phi_str name);

/* Repairs the value at *at, appends it as JSON and advances *at past it. False if the value is
   ambiguous or memory ran out (out->failed). Sets bits in *faults. */
PHI__FN bool phi__repair_value(phi__buf *out, const char **at, const char *end, uint32_t *faults);

/* Appends a schema in Gemini's form, which may be the given schema unchanged. For
   phi__codec_rules.adapt. False: no memory (out->failed), or `words` say why Gemini would refuse
   the schema. */
PHI__FN bool phi__strict_gemini(phi__buf *out, phi_str schema, char *words, size_t words_size);

/* For codecs: writes a tool's name, description and schema as members of an open object. `schema`
   is the key of the schema's member, with a comma before it and a colon after it. Returns true if
   the written schema is strict. */
PHI__FN bool phi__strict_put_tool(phi__encoder *e, const phi__tool_view *tool, const char *schema);

/* Applies the rules of switching models to messages (phi_translate). `codec` is NULL if the
   protocol is a host's own. The target must have a protocol and an id. */
PHI__FN phi_status phi__translate(const phi__codec *codec, const phi_model *target,
                                  const phi_message *const *messages, size_t count,
                                  phi_arena *arena, const phi_message *const **out,
                                  size_t *out_count);

/* ---- inside of wire: the codec and its encoder ---- */

/* Computes the origin of a model (phi__codec_origin_of) for each name of its protocol. */
PHI__FN void phi__codec_origins_of(const phi__codec *codec, phi_str model, phi_str provider,
                                   uint64_t out[PHI__CODEC_NAMES]);
PHI__FN bool phi__codec_origin_among(const uint64_t origins[PHI__CODEC_NAMES], uint64_t origin);
PHI__FN void phi__encode_store(phi__encoder *e, size_t item, uint32_t form, phi_str json);
PHI__FN void phi__encode_seal(phi__encoder *e, phi_str method); /* call once, after all pieces */
PHI__FN bool phi__classify_is_overflow_text(phi_str text);

/* True if a text is one JSON value. `flags` are those of phi_json_parse. Only the strings and
   brackets of a very long text are checked. Uses and resets the arena. Sets *no_memory if memory
   ran out. */
PHI__FN bool phi__opaque_is_json(phi_arena *arena, phi_str text, uint32_t flags, bool *no_memory);

/* ---- extras ---- */

enum {
    PHI__EXTRA_DEEP = 32,     /* max. levels of nested objects */
    PHI__EXTRA_MEMBERS = 1024 /* max. members of an object */
};

/* Merges e->spec->extra, if there is one, into the pieces so far, which are the body's head. Sets
   e->refused if the head already has one of the extra's members. */
PHI__FN void phi__extra_apply(phi__encoder *e);

/* ---- long texts and images, written in slices ---- */

/* Leaves a hole in the scratch buffer for a long text. False: render the text now. */
PHI__FN bool phi__fill_hole(struct phi__encoder *e, phi_str source, bool base64);

/* Appends base64 unchanged, without bytes that are not base64: they would break the JSON. */
PHI__FN void phi__fill_base64(phi__buf *out, phi_str data);
PHI__FN void phi__fill_begin(struct phi__encoder *e, size_t item, uint32_t form);

/* True: *json is the item's complete rendering, or memory ran out (e->failed). False: the units are
   used up. */
PHI__FN bool phi__fill_advance(struct phi__encoder *e, size_t *units, phi_str *json);
PHI__FN void phi__fill_drop(struct phi__encoder *e); /* may be called at any time */

/* ---- frames, rendering, repair and strict schemas ---- */

/* Returns the rule for call ids. `codec` is NULL if the protocol is a host's own. */
PHI__FN phi__id_rule phi__render_id_rule(const phi__codec *codec, const phi_model *model);

/* Returns the id if the rule allows it. Otherwise writes a replacement to `room` and returns it. */
enum { PHI__ID_ROOM = 38 };
PHI__FN phi_str phi__render_map_id(phi_str id, phi__id_rule rule, char room[PHI__ID_ROOM]);

/* Returns the PHI__MEDIA_ bits of a target. If `codec` is NULL, the protocol is a host's own, and
   all bits are set. */
PHI__FN uint32_t phi__render_media(const phi__codec *codec, const phi_model *model);

/* phi__render_omits returns true if the target does not accept a block. phi__render_omitted returns
   the line of text that replaces such a block. */
PHI__FN bool phi__render_omits(const phi__encoder *e, const phi_content *c);
PHI__FN phi_str phi__render_omitted(const phi_texts *texts, phi_content_kind kind);

/* Appends, as JSON, the object that a text means. False in the cases of phi__repair_value. *faults
   becomes 0 for valid JSON. */
PHI__FN bool phi__repair_object(phi__buf *out, phi_str text, uint32_t *faults);

/* Appends the schema in a form. Equal texts give equal bytes. False if memory ran out
   (out->failed), or if the schema has no such form. In the second case `words` (terminated) name
   the place and the reason, for example: at /properties/a: "oneOf" has no strict form. After false
   the appended bytes are useless. */
PHI__FN bool phi__strict_schema(phi__buf *out, phi_str schema, phi__strict_form form, char *words,
                                size_t words_size);

/* Makes one form of a schema in `arena`, with by->schema, or with the codec's `adapt` for
   PHI__STRICT_GEMINI. The result may be the schema itself. False: no memory. */
PHI__FN bool phi__strict_make(const phi__codec *codec, const phi__formats *by, phi_str schema,
                              phi__strict_form form, phi_arena *arena, struct phi__adapted *out);

/* Returns the form in which a model accepts strict tools. */
PHI__FN phi__strict_form phi__strict_form_of(const phi__codec *codec, const phi_model *model);

#endif
