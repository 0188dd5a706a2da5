/* assembly_in.h - the assembly: builds a message while it arrives; every decoder writes into it.

   Text and argument bytes land in one growing buffer per block, unescaped on the way; the sink gets
   the new bytes. The sink and the view get valid UTF-8 always: garbage becomes U+FFFD, and half a
   surrogate pair or UTF-8 sequence at the end of a delta waits for the next one. Nothing here knows
   a protocol or does I/O.
   Ownership: buffers come from `memory` and are freed with phi__assembly_free. Pointers of the
   views are valid until the next call that appends. */
#ifndef PHI_WIRE_ASSEMBLY_IN_H
#define PHI_WIRE_ASSEMBLY_IN_H

#include "base/arena_in.h"
#include "io/secret_in.h"
#include "model/failure.h"
#include "model/message.h"
#include "text/json_cursor_in.h"

typedef struct phi__assembly phi__assembly;

/* The value of a member of an object, as a view of its text; the last one of equal names counts.
   False: there is none, or the object is not whole. */
PHI__FN bool phi__opaque_find(phi_str object, phi_str key, phi_str *value);

/* Appends an item to the array that the buffer holds; an empty buffer becomes an array. */
PHI__FN void phi__opaque_push(phi__buf *array, phi_str item);

/* Appends each member of an object whose name is not among `known` (NULL ends it) and whose value
   is not null, verbatim, with commas between. */
PHI__FN void phi__opaque_members(phi__buf *out, phi_str object, const char *const *known);

/* The same as an object; nothing, if there are none. */
PHI__FN void phi__opaque_rest(phi__buf *out, phi_str object, const char *const *known);

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
    size_t hidden; /* bytes of the id in which no secret stands any more */
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
    size_t hidden;    /* bytes of these four in which no secret stands any more */
    uint64_t id_salt; /* set by the caller: makes invented call ids unique in a session */
    phi_str protocol; /* set by the caller: PHI_PROTOCOL_..., static; of opaque blocks */
    bool respond; /* set by the caller: the first call of PHI_RESPOND_TOOL is the answer's text */
    bool started;
    bool terminal;       /* the protocol's own end was seen: trouble behind it changes nothing */
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
PHI__FN void phi__assembly_free(phi__assembly *a);  /* twice is harmless */
PHI__FN void phi__assembly_start(phi__assembly *a); /* once; later calls do nothing */

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

/* assembly.c */
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

/* True if a text is one JSON value; beyond a size only strings and brackets are looked at. Where
   memory ends, no_memory is set. */
PHI__FN bool phi__assembly_is_json(phi__assembly *a, phi_str text);

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

/* The same of a text as it stands in JSON. */
PHI__FN void phi__assembly_put(phi__assembly *a, phi__buf *buf, phi__json_text text);

/* Appends to a block's signature. */
PHI__FN void phi__assembly_sign(phi__assembly *a, size_t block, phi__json_text text);

/* Sets the failure and the stop reason: GUARD_RAIL for CONTENT_FILTER, else ERROR. The first
   failure stays. Words are copied, without control characters. */
PHI__FN void phi__assembly_fail(phi__assembly *a, phi_failure_kind kind, bool retryable,
                                phi_str code, phi_str message);

/* The same, of all that a failure holds. */
PHI__FN void phi__assembly_fail_with(phi__assembly *a, const phi_failure *failure);

/* A stop word that the codec does not know: the answer ends with what came, and a warning names the
   word. */
static inline void phi__assembly_unknown_stop(phi__assembly *a) {
    a->stop_reason = PHI_STOP_REASON_STOP;
    a->unknown_stop = true;
}

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

#endif
