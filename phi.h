/* phi.h - v0.1.0 - embeddable LLM agent loop for C - MIT, text at end of file

   In exactly ONE C or C++ file, which holds just these two lines, then link with -lcurl:
       #define PHI_IMPLEMENTATION
       #include "phi.h"
   Elsewhere only the #include.

   Flow:      phi_runtime_new, phi_agent_new, phi_prompt, phi_step until idle, phi_runtime_free
   Contents:  OPTIONS / MEMORY / THREADS / ERRORS / EVENTS / API / LICENSE

       #include "phi.h"
       #include <stdio.h>
       #include <stdlib.h>

       int main(void) {
           phi_runtime *rt = phi_runtime_new(NULL);
           phi_agent_desc desc = PHI_ZERO;
           phi_event ev;
           int runs;
           desc.model = phi_model_anthropic("claude-sonnet-4-5", getenv("ANTHROPIC_API_KEY"));
           desc.system_prompt = "You are the blacksmith.";
           if (phi_prompt(phi_agent_new(rt, &desc), "Can you mend this sword?") != PHI_OK)
               return 1;
           do {
               runs = phi_step(rt, -1);
               while (phi_next_event(rt, &ev))
                   if (ev.kind == PHI_EV_TEXT || ev.kind == PHI_EV_ERROR)
                       fwrite(ev.text.at, 1, ev.text.len, stdout);
           } while (runs > 0);
           phi_runtime_free(rt);
           return 0;
       }

   A game calls phi_step(rt, 0) once a frame instead: it never waits.

   OPTIONS  Defined before the #include, the same in every file of a program.
     PHI_IMPLEMENTATION  emits the functions; in one file of the program, with the implementations
                         of phi_tools.h and phi_json.h where those are used
     PHI_STATIC          makes every function static: the whole library inside one file
     PHI_API             linkage of the public functions, where PHI_STATIC is not what you want
     PHI_ASSERT(x)       for our own invariants (default: assert)
     PHI_NO_CURL         without HTTP of our own: give the runtime a transport
     PHI_NO_PROCESS      without child processes
     PHI_NO_FILES        without reading and writing files
   The implementation needs _GNU_SOURCE (and its like elsewhere) before the first system header: it
   defines it itself when it comes first in its file.

   MEMORY   All of ours comes from the allocator of phi_runtime_desc, through arenas that are freed
            whole; a limit can be set for the runtime and for each agent. Running out in a
            run is an error event and a usable agent. libcurl and its TLS library keep their own memory.
   THREADS  One thread pumps a runtime and calls its functions: the pumping thread. phi_abort,
            phi_call_finish, phi_wake, phi_agent_alive and phi_call_pending may be called from any
            thread. phi starts no thread; libcurl's name lookup may.
   ERRORS   Functions return a phi_status (0 is good, negative numbers never change their meaning),
            NULL, or a handle whose rt is NULL; phi_last_error(rt) has the words. Trouble with a
            model, a tool or the network is not a return code: it is an event.
   EVENTS   One queue a runtime, in order, each with its agent. A field that a kind does not use is
            zero. What an event points to is owned by the runtime, valid until the first
            phi_step() after it was popped, or its agent is freed or reset.
   LICENSE  MIT, at the end of this file. */
#ifdef PHI_IMPLEMENTATION
#if defined(__GLIBC__) && !defined(__USE_GNU)
#define PHI__LATE 1
#elif defined(_FEATURES_H) && !defined(_GNU_SOURCE)
#define PHI__LATE 1
#endif
#ifdef PHI__LATE
#undef PHI__LATE
#error "phi: a system header was included before PHI_IMPLEMENTATION and phi.h: put these two lines first, or alone into a file, or compile with -D_GNU_SOURCE"
#else
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#endif
#if defined(__APPLE__) && !defined(_DARWIN_C_SOURCE)
#define _DARWIN_C_SOURCE 1
#endif
#if defined(__NetBSD__) && !defined(_NETBSD_SOURCE)
#define _NETBSD_SOURCE 1
#endif
#endif

#ifdef PHI__PUB_BASE
#if PHI__PUB_BASE != 0x2ed381a2
#error "phi: two versions of src/base in one file"
#endif
#else
#define PHI__PUB_BASE 0x2ed381a2

/* ---- src/base/base.h ---- */

/* base.h - what every part of phi shares: linkage, strings, statuses, the allocator.

   Nothing here allocates and nothing here has state. */
#ifndef PHI_BASE_BASE_H
#define PHI_BASE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PHI_VERSION "0.1.0"
#define PHI_VERSION_NUMBER 100 /* major * 10000 + minor * 100 + patch */

/* Linkage of the public functions: extern, or static with PHI_STATIC, or what you define. */
#ifndef PHI_API
#if defined(PHI_STATIC)
#if defined(__GNUC__)
#define PHI_API static __attribute__((unused))
#else
#define PHI_API static
#endif
#else
#define PHI_API extern
#endif
#endif

/* Zeroes any struct, in C and in C++: phi_agent_desc desc = PHI_ZERO; */
/* clang-format off */
#ifdef __cplusplus
#define PHI_ZERO {}
#else
#define PHI_ZERO {0}
#endif
/* clang-format on */

#if defined(__GNUC__)
#define PHI_PRINTF(format_index, first) __attribute__((format(printf, format_index, first)))
#else
#define PHI_PRINTF(format_index, first)
#endif

/* "No limit" where 0 means "the default". */
#define PHI_UNLIMITED UINT32_MAX

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes with a length; not terminated. Who owns them is said where one is handed over. */
typedef struct phi_str {
    const char *at;
    size_t len;
} phi_str;

#define PHI_STATUS_LIST(X) /* numbers never change */                                              \
    X(OK, 0, "ok")                                                                                 \
    X(BAD_ARG, -1, "an argument is missing or out of range")                                       \
    X(NO_MEMORY, -2, "the allocator or a memory limit said no")                                    \
    X(MISUSE, -3, "not allowed here or now")                                                       \
    X(BUSY, -4, "still going on")                                                                  \
    X(STALE, -5, "the handle's object is gone")                                                    \
    X(FULL, -6, "a bounded queue is full")                                                         \
    X(CANCELLED, -7, "cancelled")                                                                  \
    X(TIMEOUT, -8, "a deadline passed")                                                            \
    X(NETWORK, -9, "the network failed")                                                           \
    X(TLS, -10, "the secure connection failed")                                                    \
    X(PARSE, -11, "the text is not what its format allows")                                        \
    X(TOO_BIG, -12, "larger than a limit allows")                                                  \
    X(NOT_FOUND, -13, "no such thing")                                                             \
    X(IO, -14, "the operating system said no")                                                     \
    X(UNSUPPORTED, -15, "not built in, or not supported here")                                     \
    X(REFUSED, -16, "the other side refused")                                                      \
    X(LIMIT, -17, "a limit of the run was reached")

#define PHI_X(name, value, text) PHI_##name = value,
typedef enum phi_status { PHI_STATUS_LIST(PHI_X) PHI_STATUS_END = -1000 } phi_status;
#undef PHI_X

/* A sentence for a status; "unknown status" for a number that is none. Never NULL, static. */
PHI_API const char *phi_status_text(int status);

/* The only way phi gets memory. Works as realloc: ptr NULL allocates, new_bytes 0 frees (and
   returns NULL). old_bytes is always what was asked for before. Returned memory is aligned for any
   type. NULL means no memory, and leaves ptr as it was.
   Threads: called on the pumping thread only. */
typedef struct phi_allocator {
    void *(*realloc_fn)(void *user_data, void *ptr, size_t old_bytes, size_t new_bytes);
    void *user_data;
} phi_allocator;

/* The allocator of a desc whose realloc_fn is NULL: the C library's. */
PHI_API phi_allocator phi_allocator_default(void);

/* A budget: an allocator with a limit and counters. Budgets form a tree: what is taken from one is
   counted in its parent as well, and either limit refuses. */
typedef struct phi_memory {
    phi_allocator allocator;
    struct phi_memory *parent; /* borrowed; NULL for a root */
    size_t limit_bytes;        /* 0: none */
    size_t used_bytes, peak_bytes;
} phi_memory;

/* A root budget. `allocator` is copied; NULL, or a NULL realloc_fn, means the C library's. */
PHI_API void phi_memory_init(phi_memory *memory, const phi_allocator *allocator,
                             size_t limit_bytes);

/* Where a parser stopped and why. */
typedef struct phi_parse_error {
    uint32_t line, column; /* from 1; column counts bytes */
    size_t offset;         /* bytes before it */
    char message[160];     /* what was found and what was expected; terminated */
} phi_parse_error;

/* A phi_str of a terminated string; NULL gives an empty one. Borrows it. */
PHI_API phi_str phi_str_of(const char *text);
PHI_API bool phi_str_equal(phi_str a, phi_str b);

#ifdef __cplusplus
}
#endif
#endif

/* ---- src/base/arena.h ---- */

/* arena.h - memory that is taken piece by piece and freed whole.

   Blocks are chained and never move, so what was handed out stays where it is until the arena is
   reset past it or freed. Small requests share blocks that grow from first_block_bytes to 64 KiB;
   a request that would fill more than half of such a block gets one of its own, of its exact size.
   Under AddressSanitizer, what was not handed out is poisoned.
   Threads: one at a time. */
#ifndef PHI_BASE_ARENA_H
#define PHI_BASE_ARENA_H


#ifdef __cplusplus
extern "C" {
#endif

struct phi__block;

typedef struct phi_arena {
    phi_memory *memory; /* borrowed until phi_arena_free */
    struct phi__block *shared, *own;
    struct phi__block *spare; /* taken before the last rewind and not used since */
    char *at, *end;           /* room left in the newest shared block */
    size_t first_block_bytes, next_block_bytes;
    bool rewound; /* blocks are kept for what comes next, and rounded up to serve it */
} phi_arena;

/* A place to go back to. Valid until the arena is reset to an earlier mark or freed. */
typedef struct phi_arena_mark {
    struct phi__block *shared, *own;
    char *at;
} phi_arena_mark;

/* Takes no memory yet. `memory` is borrowed until phi_arena_free. first_block_bytes: default 2048. */
PHI_API void phi_arena_init(phi_arena *arena, phi_memory *memory, size_t first_block_bytes);

/* Memory aligned for any type, not zeroed; NULL when the budget or the allocator says no, which
   changes nothing. Zero bytes give a valid pointer. */
PHI_API void *phi_arena_alloc(phi_arena *arena, size_t bytes);

PHI_API phi_arena_mark phi_arena_save(const phi_arena *arena);

/* Frees all that was handed out since the mark. */
PHI_API void phi_arena_reset(phi_arena *arena, phi_arena_mark mark);

/* Frees all; the arena is then as after init. Twice is harmless. */
PHI_API void phi_arena_free(phi_arena *arena);

#ifdef __cplusplus
}
#endif
#endif

#endif /* PHI__PUB_BASE */

#ifdef PHI__PUB_TEXT
#if PHI__PUB_TEXT != 0x4ad83af5
#error "phi: two versions of src/text in one file"
#endif
#else
#define PHI__PUB_TEXT 0x4ad83af5

/* ---- src/text/json.h ---- */

/* json.h - JSON: a reader, a tree to look at and change, a writer, and a search without a tree.

       phi_arena arena;                       // memory: see arena.h
       phi_json *root;
       phi_parse_error error;
       if (phi_json_parse(&arena, phi_str_of(text), 0, &root, &error) == PHI_OK)
           use(phi_json_int(phi_json_path(root, "choices[0].index"), -1));

   One node type serves reading and building. Nodes and strings live in the arena they were made
   in and are freed with it. A function that takes a node takes NULL as well: NULL is "not there",
   has no type and no children, and every getter then gives its fallback.
   Numbers keep their form: integers that fit are kept as 64-bit integers, all else as the nearest
   double; -0 is the double -0.0. A number too large for a double is an error.
   Duplicate keys are kept in the tree; phi_json_get finds the last of them, phi_json_set replaces
   it, phi_json_remove removes them all.
   Text must be shorter than 4 GiB - 1 bytes, a key than 16 MiB, a number than 64 KiB, and nesting
   ends at PHI_JSON_MAX_DEPTH: beyond that is PHI_TOO_BIG.
   Threads: a tree is only read by many at once, or used by one. */
#ifndef PHI_TEXT_JSON_H
#define PHI_TEXT_JSON_H


#ifdef __cplusplus
extern "C" {
#endif

typedef struct phi_json phi_json;

typedef enum phi_json_type {
    PHI_JSON_NONE, /* of NULL */
    PHI_JSON_NULL,
    PHI_JSON_BOOL,
    PHI_JSON_NUMBER,
    PHI_JSON_STRING,
    PHI_JSON_ARRAY,
    PHI_JSON_OBJECT
} phi_json_type;

#define PHI_JSON_MAX_DEPTH 1024u /* nested arrays and objects at most, whatever is asked for */

/* ---- reading ---- */

/* Strings without escapes point into the text, which must then outlive the tree, and are not
   terminated. Without this flag the arena holds a copy of the text, and strings are terminated. */
#define PHI_JSON_BORROW 1u
/* Bytes that are not UTF-8 and lone surrogates become U+FFFD; without this flag they are errors. */
#define PHI_JSON_REPLACE_BAD_UTF8 2u

/* Reads one JSON text (RFC 8259, nothing more). flags: PHI_JSON_BORROW, PHI_JSON_REPLACE_BAD_UTF8.
   PHI_OK sets *out. PHI_PARSE, PHI_TOO_BIG and PHI_NO_MEMORY fill *error (which may be NULL); what
   was taken from the arena until then is freed with it. `text` is borrowed until return. */
PHI_API phi_status phi_json_parse(phi_arena *arena, phi_str text, uint32_t flags, phi_json **out,
                                  phi_parse_error *error);

/* The same in slices: begin, advance until it is not PHI_BUSY, result. It can be dropped at any
   time. The fields are phi's. */
typedef struct phi_json_reader {
    phi_arena *arena;
    const char *text; /* as given */
    char *copy;       /* of it; NULL with PHI_JSON_BORROW */
    size_t len;
    const char *base, *at, *end;    /* what is read: the copy, or the text */
    const char *line_at;            /* where the line begins */
    const char *mark, *odd, *quote; /* a string under way: first byte, first escape, end */
    char *string, *to;              /* its first byte unescaped, and where that is going on */
    const char *key;                /* of the value to come */
    phi_json *root, *open;
    phi_json *spare, *spare_end; /* room for nodes */
    uint32_t key_len, bad, line, flags, depth, max_depth;
    uint8_t state;
    bool is_key;
    phi_status status;
    phi_parse_error error;
} phi_json_reader;

/* max_depth: nested arrays and objects at most (default 512, at most PHI_JSON_MAX_DEPTH).
   `text` is borrowed until the result, with PHI_JSON_BORROW as long as the tree. */
PHI_API void phi_json_reader_begin(phi_json_reader *reader, phi_arena *arena, phi_str text,
                                   uint32_t flags, uint32_t max_depth);
/* Reads about `units` bytes, at least one. PHI_BUSY: there is more. */
PHI_API phi_status phi_json_reader_advance(phi_json_reader *reader, size_t units);
/* What advance said last, with the tree or the error (either may be NULL). */
PHI_API phi_status phi_json_reader_result(const phi_json_reader *reader, phi_json **out,
                                          phi_parse_error *error);

/* ---- looking ---- */

PHI_API phi_json_type phi_json_type_of(const phi_json *node);
PHI_API const char *phi_json_type_name(const phi_json *node); /* "null", "number", ...; static */
PHI_API bool phi_json_is_null(const phi_json *node);          /* JSON's null; not NULL */
PHI_API bool phi_json_is_bool(const phi_json *node);
PHI_API bool phi_json_is_number(const phi_json *node);
PHI_API bool phi_json_is_integer(const phi_json *node); /* a number without a fraction: 1, 1.0 */
PHI_API bool phi_json_is_string(const phi_json *node);
PHI_API bool phi_json_is_array(const phi_json *node);
PHI_API bool phi_json_is_object(const phi_json *node);

/* The value, or the fallback when the node is something else or does not fit. */
PHI_API bool phi_json_bool(const phi_json *node, bool fallback);
PHI_API int64_t phi_json_int(const phi_json *node, int64_t fallback);
PHI_API uint64_t phi_json_uint(const phi_json *node, uint64_t fallback);
PHI_API double phi_json_num(const phi_json *node, double fallback);
/* Borrowed from the tree, or from `fallback` (NULL: an empty string). */
PHI_API phi_str phi_json_str(const phi_json *node, const char *fallback);

/* Members or items. */
PHI_API size_t phi_json_count(const phi_json *node);
/* The member of that name, the last of several; NULL: none, or no object. */
PHI_API phi_json *phi_json_get(const phi_json *object, const char *key);
PHI_API phi_json *phi_json_get_n(const phi_json *object, phi_str key);
/* An item by index, from 0. Walks the list: iterate instead of calling it in a loop. */
PHI_API phi_json *phi_json_at(const phi_json *array, size_t index);
/* "choices[0].delta.content". A key that holds one of ". [ ]" needs phi_json_get. */
PHI_API phi_json *phi_json_path(const phi_json *node, const char *path);

/* phi_json_iter it = phi_json_each(node); while ((child = phi_json_next(&it)) != NULL) ...
   it.key is the child's name (empty in an array). The container must not change meanwhile. */
typedef struct phi_json_iter {
    phi_json *at;
    size_t left;
    phi_str key;
} phi_json_iter;
PHI_API phi_json_iter phi_json_each(const phi_json *container);
PHI_API phi_json *phi_json_next(phi_json_iter *it);

/* Same value: numbers by their value (1 equals 1.0), objects in any order. */
PHI_API bool phi_json_equal(const phi_json *a, const phi_json *b);

/* ---- building ---- */

/* New nodes; NULL: no memory. Strings are copied; bytes that are not UTF-8 are kept, and replaced
   when written. A double that is not finite is kept, and written as null. */
PHI_API phi_json *phi_json_new_null(phi_arena *arena);
PHI_API phi_json *phi_json_new_bool(phi_arena *arena, bool value);
PHI_API phi_json *phi_json_new_int(phi_arena *arena, int64_t value);
PHI_API phi_json *phi_json_new_uint(phi_arena *arena, uint64_t value);
PHI_API phi_json *phi_json_new_num(phi_arena *arena, double value);
PHI_API phi_json *phi_json_new_str(phi_arena *arena, phi_str value);
PHI_API phi_json *phi_json_new_text(phi_arena *arena, const char *value); /* NULL: empty */
PHI_API phi_json *phi_json_new_array(phi_arena *arena);
PHI_API phi_json *phi_json_new_object(phi_arena *arena);
/* A deep copy, strings and keys too. NULL: no memory, or nested too deeply. */
PHI_API phi_json *phi_json_copy(phi_arena *arena, const phi_json *node);

/* Puts `value` under `key` (copied into the arena) in place of what was there, or at the end.
   A value that is NULL is PHI_NO_MEMORY, so that calls nest:
       phi_json_set(a, object, "name", phi_json_new_text(a, "ada"))
   A value that already is in a container, or is the container, is PHI_MISUSE. It must not hold the
   container. Both must live equally long. */
PHI_API phi_status phi_json_set(phi_arena *arena, phi_json *object, const char *key,
                                phi_json *value);
PHI_API phi_status phi_json_set_n(phi_arena *arena, phi_json *object, phi_str key, phi_json *value);
/* Appends to an array; as above. */
PHI_API phi_status phi_json_add(phi_json *array, phi_json *value);
/* Takes a member (the last of that name, which is returned, and all others) or an item out; it can
   be put elsewhere. NULL: it was not there. */
PHI_API phi_json *phi_json_remove(phi_json *object, const char *key);
PHI_API phi_json *phi_json_remove_at(phi_json *array, size_t index);

/* ---- writing ---- */

#define PHI_JSON_PRETTY 1u /* two spaces a level */
#define PHI_JSON_ASCII 2u  /* \uXXXX for everything else */

/* Writes into the arena; *out is terminated, the terminator not counted. Doubles are the shortest
   that read back; NaN and infinities are written as null; bytes that are not UTF-8 as U+FFFD.
   PHI_NO_MEMORY, or PHI_TOO_BIG when nested beyond PHI_JSON_MAX_DEPTH. */
PHI_API phi_status phi_json_write(phi_arena *arena, const phi_json *node, uint32_t flags,
                                  phi_str *out);

/* ---- searching without a tree ---- */

/* A value in a text, not yet read. */
typedef struct phi_json_found {
    phi_json_type type;
    phi_str raw;  /* borrowed from the text: all of it; of a string what is between the quotes */
    bool escaped; /* a string with escapes in it */
} phi_json_found;

/* Finds the value at a path (as phi_json_path) by scanning the text up to there: PHI_OK,
   PHI_NOT_FOUND, or PHI_PARSE when the text is broken before that. What is skipped is only checked
   for brackets and strings that close. Of duplicate keys it finds the first. */
PHI_API phi_status phi_json_find(phi_str text, const char *path, phi_json_found *out);
/* What was found, as text (borrowed from the text, or unescaped into the arena; bad UTF-8 and lone
   surrogates become U+FFFD) or as a number. False: no memory, not a string, not a number that
   fits. */
PHI_API bool phi_json_found_str(phi_arena *arena, const phi_json_found *found, phi_str *out);
PHI_API bool phi_json_found_int(const phi_json_found *found, int64_t *out);
PHI_API bool phi_json_found_num(const phi_json_found *found, double *out);

#ifdef __cplusplus
}
#endif
#endif

/* ---- src/text/schema.h ---- */

/* schema.h - checks a value against a JSON Schema: the arguments of a tool call.

   Understood: type (also several), enum, const, properties, required, additionalProperties, items
   (one schema for all items), minItems, maxItems, minLength, maxLength (in characters), minimum,
   maximum, exclusiveMinimum, exclusiveMaximum (numbers; the old booleans too), anyOf, oneOf, allOf,
   $ref to "#" or "#/a/b"; true and false as schemas; nullable. Keywords that only describe (title,
   description, default, examples, format, ...) are read over. Keywords that would restrict but
   are not understood (pattern, not, if, uniqueItems, ...) are named by phi_schema_valid.
   In a check, what is malformed or not understood restricts nothing.
   Nothing is allocated. Nesting, references and work are bounded: a schema that goes beyond is
   PHI_TOO_BIG, never a hang or a crash. */
#ifndef PHI_TEXT_SCHEMA_H
#define PHI_TEXT_SCHEMA_H


#ifdef __cplusplus
extern "C" {
#endif

/* Why not, in words that a model can act on: arguments.path: expected string, got number */
typedef struct phi_schema_error {
    char message[256]; /* terminated; cut at a character where it is too long */
} phi_schema_error;

/* Checks `value`. `name` is what messages call it (NULL: "arguments"); `error` may be NULL.
   PHI_OK; PHI_PARSE: it does not fit; PHI_TOO_BIG: too deep or too much work. */
PHI_API phi_status phi_schema_check(const phi_json *schema, const phi_json *value, const char *name,
                                    phi_schema_error *error);

/* Whether the schema is well formed and all of it is understood. PHI_OK; PHI_UNSUPPORTED: a keyword
   that restricts and is not understood, as in schema.properties.path: "pattern" is not supported;
   PHI_PARSE: malformed; PHI_TOO_BIG: nested too deeply. Call it once, where a tool is added. */
PHI_API phi_status phi_schema_valid(const phi_json *schema, phi_schema_error *error);

#ifdef __cplusplus
}
#endif
#endif

#endif /* PHI__PUB_TEXT */

#ifdef PHI__PUB_IO
#if PHI__PUB_IO != 0xd83dc6b4
#error "phi: two versions of src/io in one file"
#endif
#else
#define PHI__PUB_IO 0xd83dc6b4

/* ---- src/io/transport.h ---- */

/* transport.h - how a request leaves and its answer arrives.

   A transport carries a request whose body can be read again from any offset, and pushes what
   comes back: the head once, then body bytes, then the end once. phi has one over libcurl; a host
   may give its own (a browser's fetch, a console's HTTP library), and tests use a scripted one. */
#ifndef PHI_IO_TRANSPORT_H
#define PHI_IO_TRANSPORT_H


#ifdef __cplusplus
extern "C" {
#endif

typedef struct phi_runtime phi_runtime;

/* One request under way. A value; stale after its end or cancel. */
typedef struct phi_xfer {
    phi_runtime *rt;
    uint32_t index, gen;
} phi_xfer;

/* What to send. Owned by the runtime, valid from open until phi_xfer_end or cancel returns. */
typedef struct phi_request phi_request;

PHI_API phi_str phi_request_method(const phi_request *request);
PHI_API phi_str phi_request_url(const phi_request *request);

/* Header i, from 0; false past the last one. Values may hold keys: do not log them. */
PHI_API bool phi_request_header(const phi_request *request, size_t i, phi_str *name,
                                phi_str *value);
PHI_API uint64_t phi_request_length(const phi_request *request); /* bytes of the body */

/* Copies up to n bytes of the body from `offset`; 0 at or past the end. */
PHI_API size_t phi_request_read(const phi_request *request, uint64_t offset, char *out, size_t n);

/* How far a transfer has come; each starts the deadline that fits. */
typedef enum phi_xfer_stage {
    PHI_XFER_STARTED = 1, /* left the transport's own queue: the connect deadline runs */
    PHI_XFER_CONNECTED    /* the request is being sent: the first-event deadline runs */
} phi_xfer_stage;

/* Threads: all four, and all of the phi_xfer_ functions, on the pumping thread only.
   Callbacks: inside these four, of phi's functions only phi_xfer_ and phi_request_ ones. */
typedef struct phi_transport {
    /* Starts a request; may push at once or later. Not PHI_OK: nothing was started, and no
       phi_xfer_end follows. */
    phi_status (*open)(void *user_data, phi_xfer xfer, const phi_request *request);
    void (*resume)(void *user_data, phi_xfer xfer); /* after a push answered PHI_FULL */
    void (*cancel)(void *user_data, phi_xfer xfer); /* no push after it returns */
    /* Called once in each phi_step, for transports that need pumping; NULL: not needed. */
    void (*pump)(void *user_data);
    void *user_data;
} phi_transport;

/* Tells a stage. Optional: a transport that never says counts as connected from open on. */
PHI_API phi_status phi_xfer_stage_reached(phi_xfer xfer, phi_xfer_stage stage);

/* The final answer's status and its header lines ("Name: value\r\n" each; copied, what is beyond
   16 KiB is dropped). Once, before the first push: else PHI_MISUSE. */
PHI_API phi_status phi_xfer_head(phi_xfer xfer, int http_status, const char *headers, size_t len);

/* Body bytes; copied. PHI_FULL: none was taken, wait for resume. PHI_STALE: stop. PHI_MISUSE: no head
   was told. */
PHI_API phi_status phi_xfer_push(phi_xfer xfer, const char *bytes, size_t len);

/* The end: PHI_OK for a whole answer of any HTTP status, else what went wrong (PHI_NETWORK,
   PHI_TLS, PHI_TIMEOUT...) with words; words are copied, NULL for none. */
PHI_API phi_status phi_xfer_end(phi_xfer xfer, phi_status status, const char *words);

#ifdef __cplusplus
}
#endif
#endif

#endif /* PHI__PUB_IO */

#ifdef PHI__PUB_MODEL
#if PHI__PUB_MODEL != 0xd75181da
#error "phi: two versions of src/model in one file"
#endif
#else
#define PHI__PUB_MODEL 0xd75181da

/* ---- src/model/failure.h ---- */

/* failure.h - why a model call failed, in one shape for every provider. */
#ifndef PHI_MODEL_FAILURE_H
#define PHI_MODEL_FAILURE_H


#ifdef __cplusplus
extern "C" {
#endif

#define PHI_FAILURE_LIST(X)                                                                        \
    X(AUTH, 1, "auth")                                                                             \
    X(QUOTA, 2, "quota")                                                                           \
    X(RATE_LIMITED, 3, "rate_limited")                                                             \
    X(OVERFLOW, 4, "overflow")                                                                     \
    X(CONTENT_FILTER, 5, "content_filter")                                                         \
    X(SERVER, 6, "server")                                                                         \
    X(NETWORK, 7, "network")                                                                       \
    X(INVALID_REQUEST, 8, "invalid_request")                                                       \
    X(TIMEOUT, 9, "timeout")                                                                       \
    X(CANCELLED, 10, "cancelled")                                                                  \
    X(NO_MEMORY, 11, "no_memory")

#define PHI_X(name, value, text) PHI_FAILURE_##name = value,
typedef enum phi_failure_kind { PHI_FAILURE_NONE = 0, PHI_FAILURE_LIST(PHI_X) } phi_failure_kind;
#undef PHI_X

/* "rate_limited"...; "" for none. Static. */
PHI_API const char *phi_failure_kind_text(phi_failure_kind kind);

/* Strings belong to whoever handed it out. */
typedef struct phi_failure {
    phi_failure_kind kind;
    int http_status;         /* 0: there was no answer */
    bool retryable;          /* the same request may succeed later */
    bool has_retry_after;    /* the server asked for a delay */
    uint64_t retry_after_ms; /* as asked, not capped */
    phi_str code;            /* the provider's own word, or empty */
    phi_str message;         /* for people */
    phi_str request_id;      /* for the provider's support, or empty */
} phi_failure;

#ifdef __cplusplus
}
#endif
#endif

/* ---- src/model/message.h ---- */

/* message.h - messages, content blocks and usage: data, and its JSON.

   A message here is a view: the structs and every phi_str are owned by whoever handed it out, and
   who that is and for how long is said there. The JSON is the interchange format of the session
   files (phi_message_to_json). */
#ifndef PHI_MODEL_MESSAGE_H
#define PHI_MODEL_MESSAGE_H


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
    PHI_CONTENT_TOOL_CALL
} phi_content_kind;

/* One block. A field that a kind does not use is empty. */
typedef struct phi_content {
    phi_content_kind kind;
    bool redacted;     /* thinking: hidden by the provider, `signature` holds its data */
    bool incomplete;   /* tool call: the stream broke off inside it; it is never run */
    phi_str text;      /* text, thinking */
    phi_str data;      /* image: base64 */
    phi_str mime_type; /* image: "image/png"... */
    phi_str id, name;  /* tool call */
    phi_str arguments; /* tool call: JSON text; an object, unless the model sent something else */
    phi_str signature; /* thinking, tool call: the provider's token, sent back unchanged */
    phi_str replay;    /* JSON text that the minting provider wants back verbatim */
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

/* The text of the JSON; "" for none. Static. */
PHI_API const char *phi_stop_reason_text(phi_stop_reason reason);

/* Tokens. input excludes what was read from or written to a cache; reasoning is part of output. */
typedef struct phi_usage {
    uint64_t input, output, reasoning, cache_read, cache_write;
    uint64_t total_tokens; /* input + output + cache_read + cache_write */
} phi_usage;

/* Adds each field. */
PHI_API void phi_usage_add(phi_usage *to, const phi_usage *more);

typedef struct phi_message {
    phi_role role;
    const phi_content *content;
    size_t content_count;
    int64_t timestamp_ms; /* Unix time; for display, never for order */
    phi_str loop_id;      /* the turn that made it; empty: none */
    uint32_t turn_index;
    /* assistant */
    phi_stop_reason stop_reason;
    phi_str raw_stop_reason;           /* as the wire said it; not in the JSON */
    phi_str model, provider, protocol; /* as asked for: PHI_PROTOCOL_..., or empty when unknown */
    phi_usage usage;
    phi_str error_message;
    /* tool result */
    phi_str tool_call_id, tool_name;
    bool is_error;
    phi_str details; /* JSON text for the host, or empty; not in the JSON, never sent to a model */
    /* extension */
    phi_str extension_kind, extension_data; /* data: JSON text */
} phi_message;

/* All text blocks of a message joined by `separator`, in the arena; empty when there are none or no
   memory (then `*failed` is set, where given). */
PHI_API phi_str phi_message_text(const phi_message *message, const char *separator,
                                 phi_arena *arena, bool *failed);

/* Deep copy into the arena; NULL: no memory. */
PHI_API phi_message *phi_message_copy(const phi_message *message, phi_arena *arena);

/* The interchange JSON, in the arena. Beyond what others write it holds, where they are set:
   "redacted" and "replay" of thinking, "incomplete", "signature" and "replay" of a tool call, and
   the assistant's "api" (protocol). Arguments that are no JSON value are written as a string.
   PHI_NO_MEMORY. */
PHI_API phi_status phi_message_to_json(const phi_message *message, phi_arena *arena, phi_str *out);
/* Reads it, copying into the arena. What is missing or malformed beyond role and content counts as
   absent; unknown keys are ignored; any role with kind and data is an extension.
   PHI_PARSE: no JSON, or no message: *error says why. PHI_NO_MEMORY. */
PHI_API phi_status phi_message_from_json(phi_str json, phi_arena *arena, phi_message *out,
                                         phi_parse_error *error);

#ifdef __cplusplus
}
#endif
#endif

/* ---- src/model/event.h ---- */

/* event.h - what happened: one flat struct, a field that a kind does not use is zero. */
#ifndef PHI_MODEL_EVENT_H
#define PHI_MODEL_EVENT_H


#ifdef __cplusplus
extern "C" {
#endif

/* Value handles. A stale one gives PHI_STALE, from any thread, until phi_runtime_free. */
typedef struct phi_agent {
    phi_runtime *rt;
    uint32_t index, gen;
} phi_agent;

typedef struct phi_call {
    phi_runtime *rt;
    uint32_t index, gen;
} phi_call;

typedef enum phi_event_kind {
    PHI_EV_AGENT_START = 1, /* a run began */
    PHI_EV_AGENT_END,       /* it ended: status, usage; failure where it failed */
    PHI_EV_TURN_START,      /* one model call and its tools */
    PHI_EV_TURN_END,
    PHI_EV_MESSAGE_START,  /* message: a user prompt, a tool result, or the answer still empty */
    PHI_EV_TEXT,           /* text: new bytes of the answer; partial: the block so far */
    PHI_EV_THINKING,       /* the same of the model's thinking */
    PHI_EV_TOOL_ARGUMENTS, /* the same of a tool call's arguments: JSON text, cut anywhere */
    PHI_EV_MESSAGE_END,    /* message: whole, as it stands in the log */
    PHI_EV_TOOL_START,     /* call, tool_call_id, tool_name, arguments */
    PHI_EV_TOOL_UPDATE,    /* text: a part of the result while the tool runs */
    PHI_EV_TOOL_PROGRESS,  /* text: words for the person who waits */
    PHI_EV_TOOL_END,       /* message: the result; is_error */
    PHI_EV_ERROR           /* failure: what went wrong; status. The run ends after it */
} phi_event_kind;

/* What made a turn begin. */
typedef enum phi_trigger {
    PHI_TRIGGER_USER = 1,
    PHI_TRIGGER_SUB_AGENT,
    PHI_TRIGGER_CONTINUATION,
    PHI_TRIGGER_BRANCH
} phi_trigger;

/* Everything it points to is owned by the runtime and valid until the first phi_step after the event
   was popped. Events that were not popped keep their memory. */
typedef struct phi_event {
    phi_event_kind kind;
    phi_agent agent;
    void *user_data; /* the agent's */
    uint64_t seq;    /* from 1, over the runtime; gaps only where an agent was freed or reset */
    int64_t timestamp_ms; /* Unix time */
    phi_str loop_id;
    uint32_t turn_index, block_index;
    phi_trigger trigger; /* TURN_START */
    phi_call call;       /* TOOL_... */
    phi_str tool_call_id, tool_name, arguments;
    bool is_error;     /* TOOL_END */
    phi_status status; /* ERROR, AGENT_END */
    phi_str text, partial;
    const phi_message
        *message;           /* MESSAGE_..., TURN_END, TOOL_END. With deltas: the answer as far as it
                                    had come when the event was popped; `partial` is exact */
    const phi_usage *usage; /* TURN_END, AGENT_END */
    const phi_failure *failure;          /* ERROR; AGENT_END after one */
    size_t first_message, message_count; /* AGENT_END: the run's, for phi_message_at */
} phi_event;

/* "TextDelta"-like name for logs and tests. Static. */
PHI_API const char *phi_event_name(phi_event_kind kind);

#ifdef __cplusplus
}
#endif
#endif

/* ---- src/model/model.h ---- */

/* model.h - which model, where, and how it wants to be spoken to: data only. */
#ifndef PHI_MODEL_MODEL_H
#define PHI_MODEL_MODEL_H


#ifdef __cplusplus
extern "C" {
#endif

/* The protocols, by the names configuration files use. */
#define PHI_PROTOCOL_ANTHROPIC "anthropic_messages"
#define PHI_PROTOCOL_OPENAI_CHAT "openai_completions"

typedef enum phi_thinking {
    PHI_THINKING_OFF = 0,
    PHI_THINKING_MINIMAL,
    PHI_THINKING_LOW,
    PHI_THINKING_MEDIUM,
    PHI_THINKING_HIGH
} phi_thinking;

typedef enum phi_tool_choice {
    PHI_TOOL_CHOICE_AUTO = 0,
    PHI_TOOL_CHOICE_NONE,
    PHI_TOOL_CHOICE_REQUIRED
} phi_tool_choice;

/* What OpenAI-compatible servers do differently: bits of phi_model.quirks. The presets set them;
   what each does is said beside it. */
enum {
    PHI_QUIRK_MAX_COMPLETION_TOKENS = 1 << 0, /* field max_completion_tokens, not max_tokens */
    PHI_QUIRK_DEVELOPER_ROLE = 1 << 1,        /* system prompt as role developer */
    PHI_QUIRK_STORE_FALSE = 1 << 2,           /* send store:false */
    PHI_QUIRK_REASONING_EFFORT = 1 << 3,      /* thinking level as reasoning_effort */
    PHI_QUIRK_REASONING_OBJECT = 1 << 4,      /* thinking level as reasoning:{effort} */
    PHI_QUIRK_THINKING_TYPE = 1 << 5,         /* thinking:{type:enabled|disabled} */
    PHI_QUIRK_ENABLE_THINKING = 1 << 6,       /* enable_thinking:true|false */
    PHI_QUIRK_NO_STREAM_USAGE = 1 << 7,       /* no stream_options */
    PHI_QUIRK_TOOL_NAME_IN_RESULT = 1 << 8,   /* name on tool messages */
    PHI_QUIRK_REPLAY_REASONING = 1 << 9,      /* send reasoning text back in its field */
    PHI_QUIRK_REASONING_REQUIRED = 1 << 10,   /* every assistant message carries it, "" if none */
    PHI_QUIRK_EMPTY_CONTENT = 1 << 11,        /* content "" rather than null beside calls */
    PHI_QUIRK_ID_9 = 1 << 12,                 /* tool ids are exactly 9 alphanumerics */
    PHI_QUIRK_THINKING_PARTS = 1 << 13,       /* thinking as content parts (Mistral) */
    PHI_QUIRK_CACHE_KEY = 1 << 14,            /* send prompt_cache_key */
    PHI_QUIRK_OPEN_KEY = 1 << 15,             /* a key is optional */
    PHI_QUIRK_TOOL_STREAM = 1 << 16,          /* send tool_stream:true (z.ai) */
    PHI_QUIRK_EMPTY_IS_OVERFLOW = 1 << 17,    /* a 400 with an empty body (Cerebras) */
    PHI_QUIRK_ADAPTIVE_THINKING = 1 << 18,    /* Anthropic >= 4.6: adaptive and effort, no budget */
    PHI_QUIRK_CACHE_CONTROL = 1 << 19,        /* Anthropic-style marks on parts (OpenRouter) */
    PHI_QUIRK_NO_IMAGES = 1 << 20,            /* takes no images: they become a line of text */
    PHI_QUIRK_ASSISTANT_AFTER_TOOL = 1 << 21, /* no user message directly after a tool message */
    PHI_QUIRK_REASONING_ENABLED = 1 << 22,    /* reasoning:{enabled} (Together) */
    PHI_QUIRK_REASONING_FORMAT = 1 << 23,     /* reasoning_format:"parsed" (Groq) */
    PHI_QUIRK_TOOL_CHOICE_ANY = 1 << 24,      /* "any" where others say "required" (Mistral) */
    PHI_QUIRK_PROMPT_MODE = 1 << 25,          /* prompt_mode:"reasoning" (Mistral's Magistral) */
    PHI_QUIRK_TEMPLATE_THINKING = 1 << 26,    /* chat_template_kwargs:{enable_thinking} (vLLM) */
    PHI_QUIRK_KEEP_THINKING = 1 << 27,        /* with THINKING_TYPE: clear_thinking:false (z.ai) */
    PHI_QUIRK_EMPTY_TOOLS = 1 << 28           /* tools:[] beside calls in the history (LiteLLM) */
};

typedef struct phi_model_header {
    const char *name, *value;
} phi_model_header;

/* Dollars per million tokens; all zero: unknown, no cost is counted. */
typedef struct phi_cost {
    double input, output, cache_read, cache_write;
} phi_cost;

/* A provider connection, whole. Strings are copied where a desc takes it. */
typedef struct phi_model {
    const char *protocol;    /* PHI_PROTOCOL_... */
    const char *id;          /* the name the API knows */
    const char *name;        /* for people (default: id) */
    const char *provider;    /* for logs and ids, "anthropic" (default: the protocol) */
    const char *base_url;    /* with or without a trailing slash (default: the provider's) */
    const char *api_key;     /* NULL or "": none is sent */
    uint32_t quirks;         /* PHI_QUIRK_ bits */
    uint32_t context_window; /* tokens (default 128,000) */
    uint32_t max_tokens;     /* output tokens a call (default 8,192) */
    bool reasoning;          /* can think; else thinking levels are not sent */
    phi_cost cost;
    const phi_model_header *headers; /* sent as well */
    size_t header_count;
} phi_model;

/* Presets: where the provider lives, its quirks, and what is known of the model by its name
   (whether it can think; limits). All else is default, and any field may be changed afterwards.
   They borrow their arguments. */
PHI_API phi_model phi_model_anthropic(const char *id, const char *api_key);
PHI_API phi_model phi_model_openai(const char *id, const char *api_key);
PHI_API phi_model phi_model_openrouter(const char *id, const char *api_key);
PHI_API phi_model phi_model_xai(const char *id, const char *api_key);
PHI_API phi_model phi_model_groq(const char *id, const char *api_key);
PHI_API phi_model phi_model_cerebras(const char *id, const char *api_key);
PHI_API phi_model phi_model_mistral(const char *id, const char *api_key);
PHI_API phi_model phi_model_deepseek(const char *id, const char *api_key);
PHI_API phi_model phi_model_together(const char *id, const char *api_key);
PHI_API phi_model phi_model_qwen(const char *id, const char *api_key);
PHI_API phi_model phi_model_moonshot(const char *id, const char *api_key);
PHI_API phi_model phi_model_zai(const char *id, const char *api_key);
/* Any OpenAI-compatible server: Ollama, llama.cpp, vLLM, LM Studio... base_url as
   "http://localhost:11434/v1"; api_key NULL for none. */
PHI_API phi_model phi_model_local(const char *base_url, const char *id, const char *api_key);

/* Dollars for a usage by the model's rates; reasoning is not charged again. */
PHI_API double phi_cost_of(const phi_cost *rates, const phi_usage *usage);

#ifdef __cplusplus
}
#endif
#endif

#endif /* PHI__PUB_MODEL */

#ifdef PHI__PUB_LOOP
#if PHI__PUB_LOOP != 0x3412e7d3
#error "phi: two versions of src/loop in one file"
#endif
#else
#define PHI__PUB_LOOP 0x3412e7d3

/* ---- src/loop/run.h ---- */

/* run.h - what bounds a run: limits, deadlines, and how tools are run. Zero means default. */
#ifndef PHI_LOOP_RUN_H
#define PHI_LOOP_RUN_H


#ifdef __cplusplus
extern "C" {
#endif

/* Looked at before each turn; the first one reached ends the run with a user message
   "[Agent stopped: ...]". */
typedef struct phi_limits {
    uint32_t max_turns;  /* model calls a run (default 50; PHI_UNLIMITED) */
    uint64_t max_tokens; /* input + output over the run (default 1,000,000; UINT64_MAX: none) */
    uint32_t max_duration_ms; /* wall clock (default 600,000; PHI_UNLIMITED) */
    double max_cost;          /* dollars, needs the model's cost rates (default: none) */
} phi_limits;

/* How long the network may be silent. PHI_UNLIMITED for none. */
typedef struct phi_deadlines {
    uint32_t connect_ms;     /* from the start of a transfer to its connection (default 15,000) */
    uint32_t first_event_ms; /* from there to the first event of the answer (default 300,000) */
    uint32_t idle_ms;  /* between events that mean something; pings do not (default 120,000) */
    uint32_t total_ms; /* a whole model call (default: none; the run's own limit holds) */
} phi_deadlines;

typedef enum phi_tool_mode {
    PHI_TOOLS_PARALLEL = 0, /* all calls of a turn at once */
    PHI_TOOLS_SEQUENTIAL,   /* one after another */
    PHI_TOOLS_BATCHED       /* phi_agent_desc.tool_batch at a time (default 4) */
} phi_tool_mode;

#ifdef __cplusplus
}
#endif
#endif

/* ---- src/loop/tool.h ---- */

/* tool.h - what a model may call: a name, a schema, and functions that may span frames.

   start(call) hands over its result with phi_call_result and returns PHI_DONE, or returns
   PHI_PENDING. A pending call is finished by its own step(call), which is called once in every
   phi_step, or by phi_call_finish from anywhere, hundreds of frames later. Each call gets exactly
   one result: the first one given; after phi_call_finish a function may return either. A call whose tool returns PHI_DONE without a result gets an
   empty text. */
#ifndef PHI_LOOP_TOOL_H
#define PHI_LOOP_TOOL_H


#ifdef __cplusplus
extern "C" {
#endif

typedef enum phi_flow { PHI_DONE, PHI_PENDING } phi_flow;

/* Threads: the functions run on the pumping thread, inside phi_step. They may call every phi_
   function but phi_step, phi_runtime_close and phi_runtime_free. */
typedef struct phi_tool {
    const char *name, *description; /* borrowed until the agent is freed */
    const char *
        schema; /* JSON Schema of the arguments, borrowed likewise; NULL: none are announced, and what
                           the model sends all the same is not checked */
    const char *label; /* for people (default: name) */
    phi_flow (*start)(void *user_data, phi_call call, phi_str arguments); /* arguments: JSON object,
                           borrowed until the call is finished */
    phi_flow (*step)(void *user_data, phi_call call); /* NULL: only finished from outside */
    /* The call was cancelled or timed out and its result is settled: let go of what it holds. Not
       called for a call that was finished (phi_call_finish, phi_call_result said PHI_OK). */
    void (*cancel)(void *user_data, phi_call call);
    void *user_data;
    uint32_t timeout_ms;   /* default 120,000; PHI_UNLIMITED */
    bool not_concurrent;   /* runs alone, also in parallel mode */
    bool checks_arguments; /* words its own argument errors; default: the schema is checked */
} phi_tool;

/* A result of any shape; phi_call_finish is the short form for one text. */
typedef struct phi_tool_result {
    const phi_content *content; /* text and images; copied */
    size_t content_count;
    const char *details; /* JSON text for the host; copied; NULL: none */
    bool is_error;
} phi_tool_result;

/* Hands over a call's result. Pumping thread only. PHI_STALE: the call is finished, nothing
   changes. PHI_NO_MEMORY: nothing changes; the call then fails with those words by itself. */
PHI_API phi_status phi_call_result(phi_call call, const phi_tool_result *result);

/* Finishes a call with one text.

   Ownership: `text` is copied before return.
   Lifetime:  `call` dies when its result is in the thread; a dead one gives PHI_STALE and changes
              nothing.
   Threads:   any. PHI_OK means posted; PHI_FULL: the inbox is full now, try again; PHI_BAD_ARG:
              larger than the inbox can ever hold (use phi_call_result on the pumping thread).
   Callbacks: safe inside one. */
PHI_API phi_status phi_call_finish(phi_call call, const char *text, size_t len, bool is_error);

/* A part of the result while the tool runs (PHI_EV_TOOL_UPDATE), and words for the person who waits
   (PHI_EV_TOOL_PROGRESS). Copied; not sent to the model. PHI_FULL: the host does not pop its events, and
   this one is not queued. PHI_STALE, PHI_NO_MEMORY. Pumping thread only. */
PHI_API phi_status phi_call_update(phi_call call, const char *text, size_t len);
PHI_API phi_status phi_call_progress(phi_call call, const char *text, size_t len);

/* The call's own memory: zeroed, from the agent's budget, freed when the call is over (after
   `cancel`, if that is called). One block a call; a second call gives the same block and ignores
   `bytes`. NULL: stale, or no memory. Pumping thread only. */
PHI_API void *phi_call_state(phi_call call, size_t bytes);

/* What the call is: valid while it is pending, on the pumping thread; empty when stale. */
PHI_API phi_str phi_call_id(phi_call call);
PHI_API phi_str phi_call_tool_name(phi_call call);
PHI_API phi_agent phi_call_agent(phi_call call);
PHI_API bool phi_call_pending(phi_call call); /* any thread */

#ifdef __cplusplus
}
#endif
#endif

#endif /* PHI__PUB_LOOP */

#ifdef PHI__PUB_AGENT
#if PHI__PUB_AGENT != 0x024ed887
#error "phi: two versions of src/agent in one file"
#endif
#else
#define PHI__PUB_AGENT 0x024ed887

/* ---- src/agent/runtime.h ---- */

/* runtime.h - the runtime: memory, clock, network, timers and all agents; what phi_step pumps. */
#ifndef PHI_AGENT_RUNTIME_H
#define PHI_AGENT_RUNTIME_H


#ifdef __cplusplus
extern "C" {
#endif

enum { PHI_WATCH_READ = 1, PHI_WATCH_WRITE = 2 };

/* Zero means default for every field. */
typedef struct phi_runtime_desc {
    phi_allocator allocator;      /* copied (default: the C library's) */
    size_t memory_limit_bytes;    /* of everything of ours (default: none) */
    size_t inbox_bytes;           /* for other threads' calls; taken at start (default 64 KiB) */
    uint32_t step_budget_us;      /* work a phi_step, in clock time (default 250) */
    uint32_t step_budget_bytes;   /* and in bytes of answers decoded (default 65,536) */
    uint32_t max_connections;     /* more wait their turn (default 64) */
    uint32_t max_starts_per_step; /* transfers and processes (default 4) */
    bool enable_http2;            /* at most 10 streams a connection (default: HTTP/1.1) */
    bool use_environment;         /* proxy variables (default: none is read) */
    const char *proxy;            /* "http://host:port"; copied (default: none) */
    const char *ca_file;          /* PEM; copied (default: the system's) */
    const char *const *resolve;   /* "HOST:PORT:ADDRESS" pins, NULL-ended; copied (default: none) */
    const phi_transport *transport; /* borrowed until free (default: libcurl) */
    /* The host's event loop instead of our poller: it watches fd for `want` (PHI_WATCH_ bits; 0:
       forget it) and calls phi_ready. */
    void (*watch_fn)(void *user_data, intptr_t fd, int want);
    uint64_t (*clock_us_fn)(void *user_data); /* never goes back (default: the system's) */
    void (*random_fn)(void *user_data, void *out, size_t len); /* (default: the system's) */
    void *user_data;                                           /* of the three functions above */
} phi_runtime_desc;

/* Makes a runtime; desc NULL means defaults for all. NULL: no memory, or no libcurl to work with;
   `why`, where given, says so (static).
   The first one in a process calls curl_global_init. */
PHI_API phi_runtime *phi_runtime_new_why(const phi_runtime_desc *desc, const char **why);
PHI_API phi_runtime *phi_runtime_new(const phi_runtime_desc *desc);

/* Ends what goes on, without waiting: cancels every run, then says PHI_BUSY until nothing is left,
   then PHI_OK. Call it, and phi_step between, until PHI_OK; agents stay until they are freed. */
PHI_API phi_status phi_runtime_close(phi_runtime *rt);

/* Frees the runtime and all its agents at once. Without a close that said PHI_OK it may wait for a
   name that libcurl is still looking up. Every handle is then dangling: threads that post must have
   stopped. NULL is harmless. Inside a callback it frees nothing, and phi_last_error says so. */
PHI_API void phi_runtime_free(phi_runtime *rt);

/* Does a bounded amount of what there is to do. timeout_ms 0: never waits; > 0: waits at most that
   long for something to do; < 0: until there is something; with no run going on that is phi_wake.
   Events in the queue end a wait at once.
   Returns the number of runs going on (0: idle; pop the last events then), or PHI_MISUSE inside a
   callback.
   What the events popped before it point to is gone after it. */
PHI_API int phi_step(phi_runtime *rt, int timeout_ms);

/* Pops the oldest event; false: none. What an event popped inside a callback points to is valid until
   that returns. */
PHI_API bool phi_next_event(phi_runtime *rt, phi_event *out);

/* For a host's own loop: sleep on phi_runtime_fd for reading (-1 where there is none: poll backend or
   watch_fn), at most phi_next_timeout ms (-1: for ever, 0: step now), then phi_step. */
PHI_API intptr_t phi_runtime_fd(const phi_runtime *rt);
PHI_API int phi_next_timeout(const phi_runtime *rt);
PHI_API void phi_ready(phi_runtime *rt, intptr_t fd, int have); /* with watch_fn */

/* Ends a phi_step that waits. Any thread. */
PHI_API void phi_wake(phi_runtime *rt);

/* Does on a loading screen what cannot be sliced: loads the CA store (up to 50 ms) and starts a
   connection to the model's host that later steps finish and runs reuse. */
PHI_API phi_status phi_warm(phi_runtime *rt, const phi_model *model);

/* The last call that failed (success does not clear it: ask after a failure; pumping thread only): its
   status, words (owned by the runtime, valid until the next failure)
   and HTTP status (0: none). */
PHI_API phi_status phi_last_error(const phi_runtime *rt, const char **words, int *http_status);

/* Bytes in use and at most so far, of everything that came from the allocator. */
PHI_API size_t phi_memory_used(const phi_runtime *rt, size_t *peak);

#ifdef __cplusplus
}
inline phi_runtime *phi_runtime_new(const phi_runtime_desc &desc) { return phi_runtime_new(&desc); }
#endif
#endif

/* ---- src/agent/agent.h ---- */

/* agent.h - an agent: a model, a prompt, tools and a history; who. */
#ifndef PHI_AGENT_AGENT_H
#define PHI_AGENT_AGENT_H


#ifdef __cplusplus
extern "C" {
#endif

/* Zero means default for every field but model.protocol and model.id. */
typedef struct phi_agent_desc {
    phi_model model;           /* copied, strings too */
    const char *system_prompt; /* copied (default: none) */
    const phi_tool *tools;     /* the array is copied; what it points to, see phi_tool */
    size_t tool_count;
    phi_tool_mode tool_mode; /* (default: all calls of a turn at once) */
    uint32_t tool_batch;     /* calls at a time in PHI_TOOLS_BATCHED (default 4) */
    phi_tool_choice tool_choice;
    phi_thinking thinking;
    uint32_t max_tokens;  /* output tokens a call (default: the model's) */
    bool has_temperature; /* send `temperature` */
    double temperature;
    bool disable_cache; /* send no prompt cache marks */
    phi_limits limits;
    phi_deadlines deadlines;
    const char *agent_id, *session_id, *config_id; /* copied (default: random; config_id: from the
                                                      model). loop ids are session.config.N */
    size_t memory_limit_bytes;   /* of this agent, its history included (default: none) */
    size_t event_queue_bytes;    /* waiting for the host, then reading stops (default 256 KiB) */
    size_t max_event_bytes;      /* one event of an answer's stream (default 16 MiB) */
    uint64_t max_response_bytes; /* one answer (default 256 MiB) */
    void *user_data;             /* comes back in every event */
} phi_agent_desc;

/* Makes an agent. A handle whose rt is NULL: phi_last_error says which field to fix, or PHI_NO_MEMORY,
   or PHI_MISUSE: the runtime is closing. */
PHI_API phi_agent phi_agent_new(phi_runtime *rt, const phi_agent_desc *desc);

/* Frees it with its history, in whatever it is doing: pending calls are cancelled (their tool's
   `cancel` is called), queued events are purged, no AGENT_END follows. Safe in callbacks, also of the
   agent's own tools. PHI_STALE: it is gone already. What popped events of it point to is gone too. */
PHI_API phi_status phi_agent_free(phi_agent agent);

PHI_API bool phi_agent_alive(phi_agent agent);   /* any thread */
PHI_API bool phi_agent_running(phi_agent agent); /* from phi_prompt until AGENT_END is queued */

/* Starts a run with a prompt. The text is copied. PHI_BUSY: a run is going on, or the events of the
   last one, which ended without memory, were not popped. On any failure nothing changed. */
PHI_API phi_status phi_prompt(phi_agent agent, const char *text);
PHI_API phi_status phi_prompt_content(phi_agent agent, const phi_content *content, size_t count);

/* Ends the run as soon as the pump sees it: what has arrived is kept, calls get the result
   `Cancelled` (unless their own is on its way), and the agent can be prompted again. A later run is
   not meant. Any thread. PHI_OK means posted; PHI_FULL: the inbox is full now, try again; PHI_STALE. */
PHI_API phi_status phi_abort(phi_agent agent);

/* Replaces the model from the next run on, in mid-conversation. Copied; a config_id that was given
   stays. PHI_BUSY while running; as phi_agent_new when the model is no good: then nothing changed. */
PHI_API phi_status phi_agent_set_model(phi_agent agent, const phi_model *model);

/* Forgets the history and starts a new session id; needs no memory. Queued events are purged, and what
   popped ones of it point to is gone. PHI_BUSY while running. */
PHI_API phi_status phi_agent_reset(phi_agent agent);

/* Identity; owned by the agent, valid until it is freed, and the session id until phi_agent_reset, the
   model id until phi_agent_set_model. Empty for a stale one. */
PHI_API phi_str phi_agent_id(phi_agent agent);
PHI_API phi_str phi_agent_session_id(phi_agent agent);
PHI_API phi_str phi_agent_model_id(phi_agent agent);

/* Tokens of all runs, and dollars by the model's rates. */
PHI_API phi_usage phi_agent_usage(phi_agent agent);
PHI_API double phi_agent_cost(phi_agent agent);

/* The history: how many messages (0 for a stale agent), and message i, from 0, oldest first; NULL past
   the end. Owned by the agent, valid until it is freed or reset. */
PHI_API size_t phi_message_count(phi_agent agent);
PHI_API const phi_message *phi_message_at(phi_agent agent, size_t i);

/* An event as the interchange JSON of session files and logs, in the arena: {"type":"TurnStart",...}.
   Deltas become MessageUpdate with the answer as far as it had come. Error is a type of our own.
   While the event is valid, on the pumping thread. PHI_STALE: its agent is gone. */
PHI_API phi_status phi_event_to_json(const phi_event *event, phi_arena *arena, phi_str *out);

/* Bytes of this agent in use and at most so far. */
PHI_API size_t phi_agent_memory_used(phi_agent agent, size_t *peak);

#ifdef __cplusplus
}
inline phi_agent phi_agent_new(phi_runtime *rt, const phi_agent_desc &desc) {
    return phi_agent_new(rt, &desc);
}
#endif
#endif

#endif /* PHI__PUB_AGENT */

#ifdef PHI_IMPLEMENTATION
#ifndef PHI__FN
#ifdef __GNUC__
#define PHI__FN static __attribute__((unused))
#else
#define PHI__FN static
#endif
#endif

#ifdef PHI__IMP_BASE
#if PHI__IMP_BASE != 0xd8b1bf45
#error "phi: two versions of src/base in one file"
#endif
#else
#define PHI__IMP_BASE 0xd8b1bf45

/* ---- src/base/base_in.h ---- */

/* base_in.h - the ground for our own modules: internal linkage, assertions, atomics, small helpers.

   PHI__FN marks a function that crosses files: hidden in the per-file build, static when
   amalgamated. */
#ifndef PHI_BASE_BASE_IN_H
#define PHI_BASE_BASE_IN_H


#include <string.h>

#ifndef PHI__FN
#define PHI__FN __attribute__((visibility("hidden")))
#endif

/* For our own invariants only; a caller's mistake is a status. */
#ifndef PHI_ASSERT
#include <assert.h>
#define PHI_ASSERT(condition) assert(condition)
#endif

/* Atomics: a load, a store, a compare-and-swap and an addition; acquire and release. */
#define PHI__LOAD(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define PHI__STORE(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)
#define PHI__CAS(p, expected, desired)                                                             \
    __atomic_compare_exchange_n((p), (expected), (desired), false, __ATOMIC_ACQ_REL,               \
                                __ATOMIC_ACQUIRE)
#define PHI__ADD(p, v) __atomic_fetch_add((p), (v), __ATOMIC_ACQ_REL)

#define PHI__COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A phi_str of a literal, without strlen. */
#define PHI__LIT(literal) phi__str((literal), sizeof(literal) - 1)

/* The struct that holds `member`; for intrusive lists and heaps. */
#define PHI__OWNER(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

static inline phi_str phi__str(const char *at, size_t len) {
    phi_str s;
    s.at = at;
    s.len = len;
    return s;
}

static inline size_t phi__min(size_t a, size_t b) { return a < b ? a : b; }
static inline size_t phi__max(size_t a, size_t b) { return a > b ? a : b; }

/* Takes, grows, shrinks or frees memory of a budget, with realloc_fn's contract. */
PHI__FN void *phi__realloc(phi_memory *memory, void *ptr, size_t old_bytes, size_t new_bytes);

/* Zeroed memory, or NULL. */
PHI__FN void *phi__alloc(phi_memory *memory, size_t bytes);
PHI__FN void phi__free(phi_memory *memory, void *ptr, size_t bytes);

/* Makes room for `need` elements in the array `ptr` of `*cap` elements of `size` bytes, at least
   doubling. Returns the array, or NULL with ptr and *cap untouched. */
PHI__FN void *phi__grow(phi_memory *memory, void *ptr, size_t *cap, size_t need, size_t size);

/* a + b and a * b, or SIZE_MAX where they do not fit. */
PHI__FN size_t phi__add(size_t a, size_t b);
PHI__FN size_t phi__mul(size_t a, size_t b);

PHI__FN bool phi__str_is(phi_str s, const char *text);
PHI__FN bool phi__str_starts(phi_str s, const char *prefix);
/* ASCII only, as header names and error phrases are. */
PHI__FN bool phi__str_is_nocase(phi_str s, const char *text);
/* Offset of `needle` in `s` from `from`, or SIZE_MAX. */
PHI__FN size_t phi__str_find(phi_str s, size_t from, const char *needle);
PHI__FN size_t phi__str_find_nocase(phi_str s, size_t from, const char *needle);
PHI__FN phi_str phi__str_trim(phi_str s);
/* A whole decimal number, or false: empty, trailing bytes, overflow. */
PHI__FN bool phi__str_to_u64(phi_str s, uint64_t *out);

#endif

/* ---- src/base/arena_in.h ---- */

/* arena_in.h - for our own modules: typed and copying forms of phi_arena_alloc. */
#ifndef PHI_BASE_ARENA_IN_H
#define PHI_BASE_ARENA_IN_H


/* As phi_arena_alloc, zeroed. */
PHI__FN void *phi__arena_zero(phi_arena *arena, size_t bytes);

/* As phi_arena_alloc, but of any alignment: for bytes. */
PHI__FN char *phi__arena_bytes(phi_arena *arena, size_t bytes);

/* Forgets all that was handed out and keeps the blocks for what comes next; blocks that were kept
   before and not needed since are freed. For work that begins anew and is about as large as before: a
   turn after a turn. */
PHI__FN void phi__arena_rewind(phi_arena *arena);

/* Copies `s`, with a terminator that is not counted. False: no memory, *out untouched. */
PHI__FN bool phi__arena_str(phi_arena *arena, phi_str s, phi_str *out);

#endif

/* ---- src/base/buf_in.h ---- */

/* buf_in.h - a growing run of bytes, with a failure that sticks.

   Appending to a failed buffer does nothing, so a writer checks `failed` once, at its end.
   What phi__buf_str returns is valid until the next append, take or free. */
#ifndef PHI_BASE_BUF_IN_H
#define PHI_BASE_BUF_IN_H


typedef struct phi__buf {
    phi_memory *memory; /* borrowed */
    char *at;
    size_t len, cap;
    bool failed; /* an append found no memory */
} phi__buf;

PHI__FN void phi__buf_init(phi__buf *buf, phi_memory *memory);
PHI__FN void phi__buf_free(phi__buf *buf);  /* as after init; twice is harmless */
PHI__FN void phi__buf_clear(phi__buf *buf); /* keeps its memory, forgets a failure */

/* Room for `more` bytes behind the end, or NULL and failed. The bytes count once phi__buf_add_len
   says how many were written. */
PHI__FN char *phi__buf_reserve(phi__buf *buf, size_t more);
static inline void phi__buf_add_len(phi__buf *buf, size_t len) { buf->len += len; }

PHI__FN void phi__buf_add(phi__buf *buf, const char *at, size_t len);
PHI__FN void phi__buf_text(phi__buf *buf, const char *text);
PHI__FN void phi__buf_char(phi__buf *buf, char c);
PHI__FN void phi__buf_u64(phi__buf *buf, uint64_t n);
PHI__FN void phi__buf_printf(phi__buf *buf, const char *format, ...) PHI_PRINTF(2, 3);

/* Forgets the first n bytes. */
PHI__FN void phi__buf_drop(phi__buf *buf, size_t n);

static inline void phi__buf_add_str(phi__buf *buf, phi_str s) { phi__buf_add(buf, s.at, s.len); }
static inline phi_str phi__buf_str(const phi__buf *buf) { return phi__str(buf->at, buf->len); }

#endif

/* ---- src/base/base64_in.h ---- */

/* base64_in.h - RFC 4648 base64 with padding, whole or in slices. */
#ifndef PHI_BASE_BASE64_IN_H
#define PHI_BASE_BASE64_IN_H


/* Appends the encoding of n bytes. In slices: every n but the last a multiple of 3. */
PHI__FN void phi__base64_encode(phi__buf *out, const char *bytes, size_t n);

/* Appends what `text` encodes; false (and out as it was) when it is not strict base64. */
PHI__FN bool phi__base64_decode(phi__buf *out, phi_str text);

#endif

/* ---- src/base/id_in.h ---- */

/* id_in.h - ids of agents, sessions and messages. */
#ifndef PHI_BASE_ID_IN_H
#define PHI_BASE_ID_IN_H


enum { PHI__UUID_SIZE = 37 }; /* with the terminator */

/* Writes sixteen random bytes as a UUID version 4. */
PHI__FN void phi__uuid(const unsigned char random[16], char out[PHI__UUID_SIZE]);

#endif

/* ---- src/base/slots_in.h ---- */

/* slots_in.h - tables behind the value handles: slots never move, and each has one atomic word.

   The word is {generation, state}. A handle is {index, generation}; it is stale when the slot's
   generation differs. State 0 is free; what the other states mean is the owner's affair. Changing a
   state is a compare-and-swap, so of two who want the same change one loses, exactly.
   Memory: pages of 64, 128, 256... slots, kept until the table is freed, so a stale handle is
   answered until then.
   Threads: phi__slots_word and the word's changes from any thread that was given a handle; taking,
   releasing and `object` on the pumping thread only. */
#ifndef PHI_BASE_SLOTS_IN_H
#define PHI_BASE_SLOTS_IN_H


typedef struct phi__slot {
#if defined(__GNUC__)
    uint64_t word __attribute__((aligned(8)));
#else
    uint64_t word;
#endif
    void *object;
    uint32_t index, next_free; /* next_free: index + 1 of the next free slot, 0: none */
} phi__slot;

enum { PHI__SLOT_PAGES = 22, PHI__SLOT_FIRST_PAGE = 64 };

typedef struct phi__slots {
    phi_memory *memory;
    phi__slot *pages[PHI__SLOT_PAGES];
    uint32_t count;      /* slots that exist; atomic */
    uint32_t first_free; /* index + 1 */
    uint32_t in_use;
} phi__slots;

PHI__FN void phi__slots_init(phi__slots *slots, phi_memory *memory);
PHI__FN void phi__slots_free(phi__slots *slots);

/* A free slot, now in `state` (not 0) with a new generation; NULL: no memory. */
PHI__FN phi__slot *phi__slots_take(phi__slots *slots, uint32_t state, void *object);
PHI__FN void phi__slots_release(phi__slots *slots, phi__slot *slot);

/* The slot at an index, or NULL where none was ever made. */
PHI__FN phi__slot *phi__slots_at(const phi__slots *slots, uint32_t index);

/* The live slot of a handle, or NULL. Pumping thread. */
PHI__FN phi__slot *phi__slots_find(const phi__slots *slots, uint32_t index, uint32_t gen);

static inline uint32_t phi__slot_gen(uint64_t word) { return (uint32_t)(word >> 32); }
static inline uint32_t phi__slot_state(uint64_t word) { return (uint32_t)word; }
static inline uint64_t phi__slot_word(uint32_t gen, uint32_t state) {
    return (uint64_t)gen << 32 | state;
}

/* Moves a handle's slot from one state to another; false: stale, or in some other state. */
PHI__FN bool phi__slots_move(const phi__slots *slots, uint32_t index, uint32_t gen, uint32_t from,
                             uint32_t to);

/* The state of a handle's slot, 0 when stale. */
PHI__FN uint32_t phi__slots_state(const phi__slots *slots, uint32_t index, uint32_t gen);

#endif

/* ---- src/base/utf8_in.h ---- */

/* utf8_in.h - checking, cutting and repairing UTF-8. */
#ifndef PHI_BASE_UTF8_IN_H
#define PHI_BASE_UTF8_IN_H


/* Bytes of the longest valid prefix; s.len when all of it is valid. */
PHI__FN size_t phi__utf8_valid(phi_str s);

/* The greatest length up to `most` that does not end inside a sequence of valid text. */
PHI__FN size_t phi__utf8_cut(phi_str s, size_t most);

/* Appends s, each byte that is not part of valid UTF-8 as U+FFFD. */
PHI__FN void phi__utf8_repair(phi__buf *out, phi_str s);

/* Writes a code point (a surrogate or one past U+10FFFF becomes U+FFFD); 1 to 4 bytes. */
PHI__FN size_t phi__utf8_put(char out[4], uint32_t code);

#endif

/* ---- src/base/arena.c ---- */

/* arena.c - chained blocks, newest first. */

#if defined(__SANITIZE_ADDRESS__)
#define PHI__ARENA_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PHI__ARENA_ASAN 1
#endif
#endif

#ifdef PHI__ARENA_ASAN
#ifdef __cplusplus
extern "C" {
#endif
void __asan_poison_memory_region(void const volatile *at, size_t size);
void __asan_unpoison_memory_region(void const volatile *at, size_t size);
#ifdef __cplusplus
}
#endif
#define PHI__POISON(at, size) __asan_poison_memory_region((at), (size))
#define PHI__UNPOISON(at, size) __asan_unpoison_memory_region((at), (size))
#else
#define PHI__POISON(at, size) ((void)(at), (void)(size))
#define PHI__UNPOISON(at, size) ((void)(at), (void)(size))
#endif

#define PHI__ARENA_ALIGN 16u
#define PHI__ARENA_DEFAULT 2048u /* bytes of the first block; DESIGN part 6 */
#define PHI__ARENA_MOST 65536u   /* bytes of the largest shared block; DESIGN part 6 */

/* Sixteen bytes on every platform we build for, so that what follows is aligned. */
struct phi__block {
    struct phi__block *older;
    size_t bytes; /* with this header */
#if UINTPTR_MAX == 0xffffffffu
    uint32_t pad[2];
#endif
};

/* A spare block that is large enough and not wastefully so. */
static struct phi__block *phi__arena_reuse(phi_arena *arena, size_t bytes) {
    struct phi__block **at;
    for (at = &arena->spare; *at != NULL; at = &(*at)->older) {
        struct phi__block *block = *at;
        if (block->bytes < bytes || block->bytes / 2 > bytes) continue;
        *at = block->older;
        PHI__UNPOISON(block, block->bytes);
        return block;
    }
    return NULL;
}

static struct phi__block *phi__arena_take(phi_arena *arena, size_t payload) {
    size_t bytes = phi__add(payload, sizeof(struct phi__block));
    struct phi__block *block;
    if (bytes == SIZE_MAX) return NULL;
    block = phi__arena_reuse(arena, bytes);
    if (block != NULL) return block;
    block = (struct phi__block *)phi__realloc(arena->memory, NULL, 0, bytes);
    if (block == NULL) return NULL;
    block->bytes = bytes;
    return block;
}

static void phi__arena_drop(phi_arena *arena, struct phi__block **list, struct phi__block *until) {
    while (*list != until) {
        struct phi__block *block = *list;
        *list = block->older;
        PHI__UNPOISON(block, block->bytes);
        phi__free(arena->memory, block, block->bytes);
    }
}

/* In an arena that is rewound, up to an eighth more for large ones: a block then serves again when a
   little more is wanted. */
static size_t phi__arena_round(const phi_arena *arena, size_t bytes) {
    size_t step = 512;
    if (!arena->rewound || bytes < 8 * step || bytes > SIZE_MAX / 4) return bytes;
    while (step * 16 <= bytes) step *= 2;
    return (bytes + step - 1) / step * step;
}

static void *phi__arena_own(phi_arena *arena, size_t bytes) {
    struct phi__block *block = phi__arena_take(arena, phi__arena_round(arena, bytes));
    if (block == NULL) return NULL;
    block->older = arena->own;
    arena->own = block;
    return block + 1;
}

static bool phi__arena_more(phi_arena *arena) {
    struct phi__block *block =
        phi__arena_take(arena, arena->next_block_bytes - sizeof(struct phi__block));
    if (block == NULL) return false;
    block->older = arena->shared;
    arena->shared = block;
    arena->at = (char *)(block + 1);
    arena->end = (char *)block + block->bytes;
    PHI__POISON(arena->at, (size_t)(arena->end - arena->at));
    arena->next_block_bytes = phi__min(arena->next_block_bytes * 2, PHI__ARENA_MOST);
    return true;
}

static void *phi__arena_take_aligned(phi_arena *arena, size_t bytes, size_t align) {
    size_t pad = (size_t)(0u - (uintptr_t)arena->at) & (align - 1);
    char *out;
    if ((size_t)(arena->end - arena->at) < pad || /* also when there is no block yet: 0 < 0 is no */
        (size_t)(arena->end - arena->at) - pad < bytes || arena->shared == NULL) {
        if (bytes > (arena->next_block_bytes - sizeof(struct phi__block)) / 2)
            return phi__arena_own(arena, bytes);
        if (!phi__arena_more(arena)) return NULL;
        pad = 0;
    }
    out = arena->at + pad;
    PHI__UNPOISON(out, bytes);
    arena->at = out + bytes;
    return out;
}

PHI__FN void *phi__arena_zero(phi_arena *arena, size_t bytes) {
    void *out = phi_arena_alloc(arena, bytes);
    if (out != NULL) memset(out, 0, bytes);
    return out;
}

PHI__FN char *phi__arena_bytes(phi_arena *arena, size_t bytes) {
    return (char *)phi__arena_take_aligned(arena, bytes, 1);
}

PHI__FN bool phi__arena_str(phi_arena *arena, phi_str s, phi_str *out) {
    char *copy;
    if (s.len == SIZE_MAX) return false;
    copy = phi__arena_bytes(arena, s.len + 1);
    if (copy == NULL) return false;
    if (s.len > 0) memcpy(copy, s.at, s.len);
    copy[s.len] = '\0';
    *out = phi__str(copy, s.len);
    return true;
}

static void phi__arena_spare(phi_arena *arena, struct phi__block *list) {
    while (list != NULL) {
        struct phi__block *block = list;
        list = block->older;
        block->older = arena->spare;
        arena->spare = block;
        PHI__POISON(block + 1, block->bytes - sizeof *block);
    }
}

PHI__FN void phi__arena_rewind(phi_arena *arena) {
    arena->rewound = true;
    phi__arena_drop(arena, &arena->spare, NULL);
    phi__arena_spare(arena, arena->shared);
    phi__arena_spare(arena, arena->own);
    arena->shared = arena->own = NULL;
    arena->at = arena->end = NULL;
    arena->next_block_bytes = arena->first_block_bytes;
}

/* ---- public ---- */

PHI_API void phi_arena_init(phi_arena *arena, phi_memory *memory, size_t first_block_bytes) {
    memset(arena, 0, sizeof *arena);
    arena->memory = memory;
    arena->first_block_bytes = first_block_bytes == 0
                                   ? PHI__ARENA_DEFAULT
                                   : phi__min(phi__max(first_block_bytes, 64), PHI__ARENA_MOST);
    arena->next_block_bytes = arena->first_block_bytes;
}

PHI_API void *phi_arena_alloc(phi_arena *arena, size_t bytes) {
    return phi__arena_take_aligned(arena, bytes, PHI__ARENA_ALIGN);
}

PHI_API phi_arena_mark phi_arena_save(const phi_arena *arena) {
    phi_arena_mark mark;
    mark.shared = arena->shared;
    mark.own = arena->own;
    mark.at = arena->at;
    return mark;
}

PHI_API void phi_arena_reset(phi_arena *arena, phi_arena_mark mark) {
    phi__arena_drop(arena, &arena->own, mark.own);
    phi__arena_drop(arena, &arena->shared, mark.shared);
    arena->at = mark.at;
    arena->end = mark.shared != NULL ? (char *)mark.shared + mark.shared->bytes : NULL;
    if (mark.shared != NULL) PHI__POISON(arena->at, (size_t)(arena->end - arena->at));
}

PHI_API void phi_arena_free(phi_arena *arena) {
    phi__arena_drop(arena, &arena->own, NULL);
    phi__arena_drop(arena, &arena->shared, NULL);
    phi__arena_drop(arena, &arena->spare, NULL);
    arena->at = arena->end = NULL;
}
#undef PHI__ARENA_ASAN
#undef PHI__POISON
#undef PHI__UNPOISON
#undef PHI__ARENA_ALIGN
#undef PHI__ARENA_DEFAULT
#undef PHI__ARENA_MOST

/* ---- src/base/base.c ---- */

/* base.c - statuses, budgets, string views. */

#include <stdlib.h>

PHI__FN void *phi__realloc(phi_memory *memory, void *ptr, size_t old_bytes, size_t new_bytes) {
    phi_memory *m;
    void *out;
    if (new_bytes > old_bytes) {
        size_t more = new_bytes - old_bytes;
        for (m = memory; m != NULL; m = m->parent)
            if (m->limit_bytes != 0 &&
                (m->used_bytes > m->limit_bytes || more > m->limit_bytes - m->used_bytes))
                return NULL;
    }
    out = memory->allocator.realloc_fn(memory->allocator.user_data, ptr, old_bytes, new_bytes);
    if (out == NULL && new_bytes != 0) return NULL;
    for (m = memory; m != NULL; m = m->parent) {
        PHI_ASSERT(m->used_bytes >= old_bytes);
        m->used_bytes = m->used_bytes - old_bytes + new_bytes;
        if (m->used_bytes > m->peak_bytes) m->peak_bytes = m->used_bytes;
    }
    return out;
}

PHI__FN void *phi__alloc(phi_memory *memory, size_t bytes) {
    void *out = phi__realloc(memory, NULL, 0, bytes);
    if (out != NULL) memset(out, 0, bytes);
    return out;
}

PHI__FN void phi__free(phi_memory *memory, void *ptr, size_t bytes) {
    if (ptr != NULL) (void)phi__realloc(memory, ptr, bytes, 0);
}

PHI__FN size_t phi__add(size_t a, size_t b) { return a > SIZE_MAX - b ? SIZE_MAX : a + b; }

PHI__FN size_t phi__mul(size_t a, size_t b) {
    return b != 0 && a > SIZE_MAX / b ? SIZE_MAX : a * b;
}

PHI__FN void *phi__grow(phi_memory *memory, void *ptr, size_t *cap, size_t need, size_t size) {
    size_t now = *cap, bytes;
    void *out;
    if (need <= now) return ptr;
    now = now > SIZE_MAX / 2 ? need : phi__max(phi__max(now * 2, need), 4);
    bytes = phi__mul(now, size);
    if (bytes == SIZE_MAX) return NULL;
    out = phi__realloc(memory, ptr, *cap * size, bytes);
    if (out != NULL) *cap = now;
    return out;
}

PHI__FN bool phi__str_is(phi_str s, const char *text) {
    size_t n = strlen(text);
    return s.len == n && (n == 0 || memcmp(s.at, text, n) == 0);
}

PHI__FN bool phi__str_starts(phi_str s, const char *prefix) {
    size_t n = strlen(prefix);
    return s.len >= n && (n == 0 || memcmp(s.at, prefix, n) == 0);
}

static char phi__base_lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }

static bool phi__base_same_nocase(const char *a, const char *b, size_t n) {
    size_t i;
    for (i = 0; i < n; i++)
        if (phi__base_lower(a[i]) != phi__base_lower(b[i])) return false;
    return true;
}

PHI__FN bool phi__str_is_nocase(phi_str s, const char *text) {
    return s.len == strlen(text) && phi__base_same_nocase(s.at, text, s.len);
}

PHI__FN size_t phi__str_find(phi_str s, size_t from, const char *needle) {
    size_t n = strlen(needle), i;
    for (i = from; n <= s.len && i <= s.len - n; i++)
        if (memcmp(s.at + i, needle, n) == 0) return i;
    return SIZE_MAX;
}

PHI__FN size_t phi__str_find_nocase(phi_str s, size_t from, const char *needle) {
    size_t n = strlen(needle), i;
    for (i = from; n <= s.len && i <= s.len - n; i++)
        if (phi__base_same_nocase(s.at + i, needle, n)) return i;
    return SIZE_MAX;
}

static bool phi__base_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

PHI__FN phi_str phi__str_trim(phi_str s) {
    while (s.len > 0 && phi__base_space(s.at[0])) s = phi__str(s.at + 1, s.len - 1);
    while (s.len > 0 && phi__base_space(s.at[s.len - 1])) s.len--;
    return s;
}

PHI__FN bool phi__str_to_u64(phi_str s, uint64_t *out) {
    uint64_t n = 0;
    size_t i;
    if (s.len == 0) return false;
    for (i = 0; i < s.len; i++) {
        unsigned digit = (unsigned)(unsigned char)s.at[i] - '0';
        if (digit > 9 || n > (UINT64_MAX - digit) / 10) return false;
        n = n * 10 + digit;
    }
    *out = n;
    return true;
}

static void *phi__base_libc_realloc(void *user_data, void *ptr, size_t old_bytes,
                                    size_t new_bytes) {
    (void)user_data;
    (void)old_bytes;
    if (new_bytes == 0) {
        free(ptr);
        return NULL;
    }
    return realloc(ptr, new_bytes);
}

/* ---- public ---- */

PHI_API const char *phi_status_text(int status) {
    switch (status) {
#define PHI_X(name, value, text)                                                                   \
    case value: return text;
        PHI_STATUS_LIST(PHI_X)
#undef PHI_X
    default: return "unknown status";
    }
}

PHI_API phi_allocator phi_allocator_default(void) {
    phi_allocator a;
    a.realloc_fn = phi__base_libc_realloc;
    a.user_data = NULL;
    return a;
}

PHI_API void phi_memory_init(phi_memory *memory, const phi_allocator *allocator,
                             size_t limit_bytes) {
    memset(memory, 0, sizeof *memory);
    memory->allocator =
        allocator != NULL && allocator->realloc_fn != NULL ? *allocator : phi_allocator_default();
    memory->limit_bytes = limit_bytes;
}

PHI_API phi_str phi_str_of(const char *text) { return phi__str(text, text ? strlen(text) : 0); }

PHI_API bool phi_str_equal(phi_str a, phi_str b) {
    return a.len == b.len && (a.len == 0 || memcmp(a.at, b.at, a.len) == 0);
}

/* ---- src/base/base64.c ---- */

/* base64.c - the encoder works three bytes at a time, the decoder four letters. */

static const char phi__base64_letters[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void phi__base64_group(char *to, const unsigned char *p, size_t n) {
    uint32_t bits =
        (uint32_t)p[0] << 16 | (n > 1 ? (uint32_t)p[1] << 8 : 0) | (n > 2 ? (uint32_t)p[2] : 0);
    to[0] = phi__base64_letters[bits >> 18];
    to[1] = phi__base64_letters[bits >> 12 & 63];
    to[2] = n > 1 ? phi__base64_letters[bits >> 6 & 63] : '=';
    to[3] = n > 2 ? phi__base64_letters[bits & 63] : '=';
}

PHI__FN void phi__base64_encode(phi__buf *out, const char *bytes, size_t n) {
    const unsigned char *p = (const unsigned char *)bytes;
    char *to = n > SIZE_MAX / 4 * 3 - 3 ? NULL : phi__buf_reserve(out, (n + 2) / 3 * 4);
    if (to == NULL) {
        out->failed = true;
        return;
    }
    for (; n > 0; p += 3, to += 4, out->len += 4) {
        phi__base64_group(to, p, n);
        n -= phi__min(n, 3);
    }
}

static int phi__base64_value(char c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Decodes four letters into up to three bytes; how many, or 0 for a bad group. */
static size_t phi__base64_ungroup(const char *four, bool last, char out[3]) {
    size_t pads = last ? (size_t)(four[3] == '=') + (size_t)(four[2] == '=' && four[3] == '=') : 0;
    uint32_t bits = 0;
    size_t i;
    for (i = 0; i < 4; i++) {
        int value = i >= 4 - pads ? 0 : phi__base64_value(four[i]);
        if (value < 0) return 0;
        bits = bits << 6 | (uint32_t)value;
    }
    if ((pads == 1 && (bits & 0xFF) != 0) || (pads == 2 && (bits & 0xFFFF) != 0)) return 0;
    out[0] = (char)(bits >> 16);
    out[1] = (char)(bits >> 8 & 0xFF);
    out[2] = (char)(bits & 0xFF);
    return 3 - pads;
}

PHI__FN bool phi__base64_decode(phi__buf *out, phi_str text) {
    size_t before = out->len, i;
    for (i = 0; i < text.len; i += 4) {
        char bytes[3];
        size_t n =
            text.len - i < 4 ? 0 : phi__base64_ungroup(text.at + i, i + 4 == text.len, bytes);
        if (n == 0) {
            out->len = before;
            return false;
        }
        phi__buf_add(out, bytes, n);
    }
    return !out->failed;
}

/* ---- src/base/buf.c ---- */

/* buf.c - the growing buffer. */

#include <stdarg.h>
#include <stdio.h>

PHI__FN void phi__buf_init(phi__buf *buf, phi_memory *memory) {
    memset(buf, 0, sizeof *buf);
    buf->memory = memory;
}

PHI__FN void phi__buf_free(phi__buf *buf) {
    phi__free(buf->memory, buf->at, buf->cap);
    phi__buf_init(buf, buf->memory);
}

PHI__FN void phi__buf_clear(phi__buf *buf) {
    buf->len = 0;
    buf->failed = false;
}

PHI__FN char *phi__buf_reserve(phi__buf *buf, size_t more) {
    if (buf->failed) return NULL;
    if (buf->at == NULL || more > buf->cap - buf->len) {
        size_t need = phi__add(buf->len, more);
        char *at = NULL;
        if (need != SIZE_MAX)
            at = (char *)phi__grow(buf->memory, buf->at, &buf->cap, phi__max(need, 64), 1);
        if (at == NULL) {
            buf->failed = true;
            return NULL;
        }
        buf->at = at;
    }
    return buf->at + buf->len;
}

PHI__FN void phi__buf_add(phi__buf *buf, const char *at, size_t len) {
    char *to = len > 0 ? phi__buf_reserve(buf, len) : NULL;
    if (to == NULL) return;
    memcpy(to, at, len);
    buf->len += len;
}

PHI__FN void phi__buf_text(phi__buf *buf, const char *text) {
    phi__buf_add(buf, text, strlen(text));
}

PHI__FN void phi__buf_char(phi__buf *buf, char c) { phi__buf_add(buf, &c, 1); }

PHI__FN void phi__buf_u64(phi__buf *buf, uint64_t n) {
    char digits[20];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + n % 10);
        n /= 10;
    } while (n != 0);
    phi__buf_add(buf, digits + at, sizeof digits - at);
}

PHI__FN void phi__buf_printf(phi__buf *buf, const char *format, ...) {
    va_list args;
    int n;
    char *to;
    va_start(args, format);
    n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    to = n < 0 ? NULL : phi__buf_reserve(buf, (size_t)n + 1);
    if (to == NULL) {
        buf->failed = true;
        return;
    }
    va_start(args, format);
    (void)vsnprintf(to, (size_t)n + 1, format, args);
    va_end(args);
    buf->len += (size_t)n;
}

PHI__FN void phi__buf_drop(phi__buf *buf, size_t n) {
    PHI_ASSERT(n <= buf->len);
    buf->len -= n;
    if (n > 0 && buf->len > 0) memmove(buf->at, buf->at + n, buf->len);
}

/* ---- src/base/id.c ---- */

/* id.c - UUID version 4, RFC 9562. */

PHI__FN void phi__uuid(const unsigned char random[16], char out[PHI__UUID_SIZE]) {
    static const char hex[] = "0123456789abcdef";
    size_t i, at = 0;
    for (i = 0; i < 16; i++) {
        unsigned byte = random[i];
        if (i == 6) byte = (byte & 0x0Fu) | 0x40u;
        if (i == 8) byte = (byte & 0x3Fu) | 0x80u;
        if (i == 4 || i == 6 || i == 8 || i == 10) out[at++] = '-';
        out[at++] = hex[byte >> 4];
        out[at++] = hex[byte & 15u];
    }
    out[at] = '\0';
}

/* ---- src/base/slots.c ---- */

/* slots.c - pages that double, so that 22 of them hold more slots than memory has room for. */

PHI__FN void phi__slots_init(phi__slots *slots, phi_memory *memory) {
    memset(slots, 0, sizeof *slots);
    slots->memory = memory;
}

static size_t phi__slots_page_len(uint32_t page) { return (size_t)PHI__SLOT_FIRST_PAGE << page; }

PHI__FN void phi__slots_free(phi__slots *slots) {
    uint32_t page;
    for (page = 0; page < PHI__SLOT_PAGES; page++)
        phi__free(slots->memory, slots->pages[page], phi__slots_page_len(page) * sizeof(phi__slot));
    phi__slots_init(slots, slots->memory);
}

PHI__FN phi__slot *phi__slots_at(const phi__slots *slots, uint32_t index) {
    uint32_t page = 0, rest = index;
    if (index >= PHI__LOAD(&slots->count)) return NULL;
    while (rest >= phi__slots_page_len(page)) rest -= (uint32_t)phi__slots_page_len(page++);
    return &slots->pages[page][rest];
}

static bool phi__slots_more(phi__slots *slots) {
    uint32_t page = 0, base = 0, i;
    uint32_t n;
    phi__slot *made;
    while (page < PHI__SLOT_PAGES && slots->pages[page] != NULL)
        base += (uint32_t)phi__slots_page_len(page++);
    if (page == PHI__SLOT_PAGES) return false;
    n = (uint32_t)phi__slots_page_len(page);
    made = (phi__slot *)phi__alloc(slots->memory, n * sizeof(phi__slot));
    if (made == NULL) return false;
    for (i = 0; i < n; i++) {
        made[i].index = base + i;
        made[i].next_free = i + 1 < n ? base + i + 2 : 0;
    }
    slots->pages[page] = made;
    slots->first_free = base + 1;
    PHI__STORE(&slots->count, base + n); /* publishes the page */
    return true;
}

PHI__FN phi__slot *phi__slots_take(phi__slots *slots, uint32_t state, void *object) {
    phi__slot *slot;
    uint32_t gen;
    PHI_ASSERT(state != 0);
    if (slots->first_free == 0 && !phi__slots_more(slots)) return NULL;
    slot = phi__slots_at(slots, slots->first_free - 1);
    slots->first_free = slot->next_free;
    slots->in_use++;
    slot->object = object;
    gen = phi__slot_gen(PHI__LOAD(&slot->word)) + 1;
    if (gen == 0) gen = 1; /* 0 is never live, so that a zeroed handle is stale */
    PHI__STORE(&slot->word, phi__slot_word(gen, state));
    return slot;
}

PHI__FN void phi__slots_release(phi__slots *slots, phi__slot *slot) {
    PHI__STORE(&slot->word, phi__slot_word(phi__slot_gen(PHI__LOAD(&slot->word)), 0));
    slot->object = NULL;
    slot->next_free = slots->first_free;
    slots->first_free = slot->index + 1;
    slots->in_use--;
}

PHI__FN uint32_t phi__slots_state(const phi__slots *slots, uint32_t index, uint32_t gen) {
    phi__slot *slot = phi__slots_at(slots, index);
    uint64_t word = slot != NULL ? PHI__LOAD(&slot->word) : 0;
    return phi__slot_gen(word) == gen ? phi__slot_state(word) : 0;
}

PHI__FN phi__slot *phi__slots_find(const phi__slots *slots, uint32_t index, uint32_t gen) {
    return phi__slots_state(slots, index, gen) != 0 ? phi__slots_at(slots, index) : NULL;
}

PHI__FN bool phi__slots_move(const phi__slots *slots, uint32_t index, uint32_t gen, uint32_t from,
                             uint32_t to) {
    phi__slot *slot = phi__slots_at(slots, index);
    uint64_t expected = phi__slot_word(gen, from);
    if (slot == NULL) return false;
    return PHI__CAS(&slot->word, &expected, phi__slot_word(gen, to));
}

/* ---- src/base/utf8.c ---- */

/* utf8.c - RFC 3629: no overlong forms, no surrogates, nothing past U+10FFFF. */

/* Length of the valid sequence at p, or 0. */
static size_t phi__utf8_sequence(const unsigned char *p, size_t left) {
    unsigned char a = p[0], low = 0x80, high = 0xBF;
    size_t n, i;
    if (a < 0x80) return 1;
    if (a < 0xC2 || a > 0xF4) return 0;
    n = a < 0xE0 ? 2 : a < 0xF0 ? 3 : 4;
    if (n > left) return 0;
    if (a == 0xE0) low = 0xA0;
    if (a == 0xED) high = 0x9F;
    if (a == 0xF0) low = 0x90;
    if (a == 0xF4) high = 0x8F;
    if (p[1] < low || p[1] > high) return 0;
    for (i = 2; i < n; i++)
        if ((p[i] & 0xC0) != 0x80) return 0;
    return n;
}

static size_t phi__utf8_ascii(const unsigned char *p, size_t left) {
    size_t n = 0;
    while (left - n >= 8) {
        uint64_t word;
        memcpy(&word, p + n, 8);
        if ((word & UINT64_C(0x8080808080808080)) != 0) break;
        n += 8;
    }
    while (n < left && p[n] < 0x80) n++;
    return n;
}

PHI__FN size_t phi__utf8_valid(phi_str s) {
    const unsigned char *p = (const unsigned char *)s.at;
    size_t i = 0;
    while (i < s.len) {
        size_t n;
        i += phi__utf8_ascii(p + i, s.len - i);
        if (i == s.len) break;
        n = phi__utf8_sequence(p + i, s.len - i);
        if (n == 0) return i;
        i += n;
    }
    return i;
}

PHI__FN size_t phi__utf8_cut(phi_str s, size_t most) {
    size_t back;
    if (most >= s.len) return s.len;
    for (back = 0; back < 4 && back <= most; back++)
        if (((unsigned char)s.at[most - back] & 0xC0) != 0x80) return most - back;
    return most; /* not UTF-8 here: any place is as good */
}

PHI__FN void phi__utf8_repair(phi__buf *out, phi_str s) {
    while (s.len > 0) {
        size_t good = phi__utf8_valid(s);
        phi__buf_add(out, s.at, good);
        if (good == s.len) return;
        phi__buf_add(out, "\xEF\xBF\xBD", 3);
        s = phi__str(s.at + good + 1, s.len - good - 1);
    }
}

PHI__FN size_t phi__utf8_put(char out[4], uint32_t code) {
    if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) code = 0xFFFD;
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xC0 | (code >> 6));
        out[1] = (char)(0x80 | (code & 0x3F));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xE0 | (code >> 12));
        out[1] = (char)(0x80 | ((code >> 6) & 0x3F));
        out[2] = (char)(0x80 | (code & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | (code >> 18));
    out[1] = (char)(0x80 | ((code >> 12) & 0x3F));
    out[2] = (char)(0x80 | ((code >> 6) & 0x3F));
    out[3] = (char)(0x80 | (code & 0x3F));
    return 4;
}

#endif /* PHI__IMP_BASE */

#ifdef PHI__IMP_TEXT
#if PHI__IMP_TEXT != 0xbf3fed7e
#error "phi: two versions of src/text in one file"
#endif
#else
#define PHI__IMP_TEXT 0xbf3fed7e

/* ---- src/text/json_in.h ---- */

/* json_in.h - JSON for our own modules: the node, writing without a tree, numbers, string pieces.

   The children of a container form a ring: the container points at its last child, whose next is
   the first, so appending needs no walk. A node outside of every container has no next. While a
   container is being read, its next is its parent. */
#ifndef PHI_TEXT_JSON_IN_H
#define PHI_TEXT_JSON_IN_H


#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum phi__json_kind {
    PHI__JSON_NULL = 1,
    PHI__JSON_FALSE,
    PHI__JSON_TRUE,
    PHI__JSON_INT,  /* v.i */
    PHI__JSON_UINT, /* v.u, above INT64_MAX only */
    PHI__JSON_DOUBLE,
    PHI__JSON_STRING,
    PHI__JSON_ARRAY,
    PHI__JSON_OBJECT
};

typedef union phi__json_value {
    const char *str;
    phi_json *last;
    int64_t i;
    uint64_t u;
    double d;
} phi__json_value;

/* 32 bytes (24 with 32-bit pointers). */
struct phi_json {
    phi_json *next;
    const char *key;
    phi__json_value v;
    uint32_t len;  /* bytes of a string, children of a container */
    uint32_t meta; /* key length << 8 | kind */
};

static inline uint32_t phi__json_kind_of(const phi_json *node) { return node->meta & 0xffu; }
static inline uint32_t phi__json_key_len(const phi_json *node) { return node->meta >> 8; }

/* Appends without any check: for readers. */
static inline void phi__json_append(phi_json *container, phi_json *child) {
    phi_json *last = container->v.last;
    if (last != NULL) {
        child->next = last->next;
        last->next = child;
    } else
        child->next = child;
    container->v.last = child;
    container->len++;
}

/* ---- writing into a buffer; a failure shows in buf->failed ---- */

/* "text" with quotes and escapes. Bytes that are not UTF-8 become U+FFFD: what we write is always
   valid JSON. */
PHI__FN void phi__json_put_str(phi__buf *buf, phi_str text);
/* The same without the quotes, to write a string piece by piece; a piece must not end inside of a
   UTF-8 sequence. */
PHI__FN void phi__json_put_part(phi__buf *buf, phi_str text);
PHI__FN void phi__json_put_u64(phi__buf *buf, uint64_t n);
PHI__FN void phi__json_put_i64(phi__buf *buf, int64_t n);
/* Shortest digits that read back, with ".0" where an integer would come out; null unless finite. */
PHI__FN void phi__json_put_double(phi__buf *buf, double d);
PHI__FN void phi__json_put_bool(phi__buf *buf, bool b);
/* A comma, unless the buffer is empty or ends in one of "{[:,". */
PHI__FN void phi__json_put_comma(phi__buf *buf);
/* The comma if needed, then "key": */
PHI__FN void phi__json_put_key(phi__buf *buf, phi_str key);
/* A tree in one go; flags as phi_json_write. NULL writes null. */
PHI__FN phi_status phi__json_write(phi__buf *buf, const phi_json *node, uint32_t flags);

/* A tree in slices: begin, advance until it is not PHI_BUSY, end. The tree must not change
   meanwhile. `out` is borrowed until the end, and may be emptied between calls. */
#define PHI__JSON_STACK 24
typedef struct phi__json_writer {
    phi__buf *out;
    const phi_json *node;   /* to be written next; NULL: the end */
    const phi_json **stack; /* open containers: `few` or taken memory */
    const phi_json *few[PHI__JSON_STACK];
    size_t depth, cap;
    phi_str rest;                    /* of a string under way */
    bool in_string, in_key, written; /* written: node is, and what comes after it is not */
    uint32_t flags;
    phi_status status;
} phi__json_writer;
PHI__FN void phi__json_writer_begin(phi__json_writer *writer, phi__buf *out, const phi_json *node,
                                    uint32_t flags);
/* Writes about `units` bytes, at least one. */
PHI__FN phi_status phi__json_writer_advance(phi__json_writer *writer, size_t units);
PHI__FN void phi__json_writer_end(phi__json_writer *writer); /* at any time; twice is harmless */

/* ---- numbers ---- */

typedef struct phi__json_number {
    uint32_t kind; /* PHI__JSON_INT, PHI__JSON_UINT or PHI__JSON_DOUBLE; 0: see phi__json_number */
    phi__json_value v;
} phi__json_number;

/* Reads a number of JSON's grammar at the start of [at, end). Returns where it ends, or NULL:
   *bad then is where it went wrong (a value that no double can hold: its start). */
PHI__FN const char *phi__json_number_read(const char *at, const char *end, phi__json_number *out,
                                          const char **bad);
/* Its value where it fits: an integer also of a double without a fraction. */
PHI__FN bool phi__json_number_i64(const phi__json_number *n, int64_t *out);
PHI__FN bool phi__json_number_u64(const phi__json_number *n, uint64_t *out);
PHI__FN double phi__json_number_double(const phi__json_number *n);
/* The shortest text of a finite double; `out` has room for 32 bytes. Returns the length. */
PHI__FN size_t phi__json_double_text(double d, char *out);

/* ---- paths ---- */

typedef struct phi__json_step {
    phi_str key; /* points into the path */
    size_t index;
    bool is_index;
} phi__json_step;

/* The next step of "a.b[0].c", *path moving behind it. False: the end (then **path is 0), or the
   path is malformed from there. */
PHI__FN bool phi__json_path_step(const char **path, phi__json_step *step);

/* ---- strings ---- */

#if defined(__SSE2__)
/* A bit for each byte that is not plain; signed, so that bytes from 0x80 are below the space. */
static inline int phi__json_special(__m128i block) {
    return _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(block, _mm_set1_epi8('"')),
                                                       _mm_cmpeq_epi8(block, _mm_set1_epi8('\\'))),
                                          _mm_cmplt_epi8(block, _mm_set1_epi8(' '))));
}
#endif

#define PHI__JSON_ONES UINT64_C(0x0101010101010101)

/* The highest bit of each byte that is zero, and of none before the first of those. */
static inline uint64_t phi__json_zero_bytes(uint64_t word) {
    return (word - PHI__JSON_ONES) & ~word & PHI__JSON_ONES << 7;
}

static inline bool phi__json_is_plain(char c) {
    unsigned char u = (unsigned char)c;
    return u >= 0x20 && u < 0x80 && u != '"' && u != '\\';
}

/* Whether one of eight bytes is not plain. */
static inline bool phi__json_special_word(const char *at) {
    uint64_t word;
    memcpy(&word, at, 8);
    return ((word | phi__json_zero_bytes(word ^ PHI__JSON_ONES * '"') |
             phi__json_zero_bytes(word ^ PHI__JSON_ONES * '\\') |
             ((word - PHI__JSON_ONES * ' ') & ~word)) &
            PHI__JSON_ONES << 7) != 0;
}

/* Where in [at, end) the first byte is that is not plain ASCII text (a quote, a backslash, a
   control character, a byte from 0x80), or end. */
PHI__FN const char *phi__json_plain_end(const char *at, const char *end);
/* The same where the way is mostly short: the first bytes are looked at in line. */
static inline const char *phi__json_plain_short(const char *at, const char *end) {
#if defined(__SSE2__)
    if (end - at >= 16) {
        __m128i block = _mm_loadu_si128((const __m128i *)(const void *)at);
        int mask = phi__json_special(block);
        if (mask != 0) return at + __builtin_ctz((unsigned)mask);
        at += 16;
    }
#endif
    return phi__json_plain_end(at, end);
}
/* Of a string whose opening quote is before `at`: where its closing quote is, or NULL. *escaped
   says whether there is a backslash; nothing else is looked at. */
PHI__FN const char *phi__json_quote(const char *at, const char *end, bool *escaped);
/* The same where the way is mostly short. */
static inline const char *phi__json_quote_short(const char *at, const char *end, bool *escaped) {
#if defined(__SSE2__)
    if (end - at >= 16) {
        __m128i block = _mm_loadu_si128((const __m128i *)(const void *)at);
        int quote = _mm_movemask_epi8(_mm_cmpeq_epi8(block, _mm_set1_epi8('"')));
        int escape = _mm_movemask_epi8(_mm_cmpeq_epi8(block, _mm_set1_epi8('\\')));
        *escaped = false;
        if (quote != 0 &&
            (escape & (quote - 1) & ~quote) == 0) /* no escape below the first quote */
            return at + __builtin_ctz((unsigned)quote);
        if (escape == 0) at += 16;
    }
#endif
    return phi__json_quote(at, end, escaped);
}
/* Length of the UTF-8 sequence at `at` (before end); 0: that byte is not part of any. */
PHI__FN size_t phi__json_utf8(const char *at, const char *end);
/* Length of the escape at the backslash `at`, its code point in *code: 2, 6, or 12 for a pair of
   surrogates. A lone surrogate is 6, and the code says what it is. 0: no escape, or cut. */
PHI__FN size_t phi__json_escape(const char *at, const char *end, uint32_t *code);
/* Unescapes about `most` bytes of [at, end), at least one byte and no sequence in part, to *to,
   which moves on. Whatever is bad becomes U+FFFD. Takes at most `most` + PHI__JSON_RUN_MORE bytes,
   writes at most three times what it takes, and never more than that when there is nothing bad:
   then it may work in place. Returns where it stopped. */
#define PHI__JSON_RUN_MORE 12
PHI__FN const char *phi__json_unescape_run(const char *at, const char *end, size_t most, char **to);

#endif

/* ---- src/text/json_cursor_in.h ---- */

/* json_cursor_in.h - a pull scan over JSON text without a tree: how stream decoders read deltas.

       phi__json_cursor c;
       phi__json_text key, type;
       phi__json_cursor_init(&c, text);
       if (phi__json_enter_object(&c))
           while (phi__json_next_key(&c, &key)) {
               if (phi__json_text_is(key, PHI__LIT("type"))) phi__json_take_text(&c, &type);
               else phi__json_skip(&c);
           }
       if (c.bad) ...                       // broken text: said once, at the end

   Every value is consumed by exactly one take, enter or skip. A take or enter of another type than
   the value has skips the value and returns false: null and surprises need no code. After broken
   text `bad` is set and every call returns false. What is skipped is checked for closing strings
   and brackets, not for its grammar. Nothing is allocated and nothing is copied. */
#ifndef PHI_TEXT_JSON_CURSOR_IN_H
#define PHI_TEXT_JSON_CURSOR_IN_H


typedef struct phi__json_cursor {
    const char *at, *end; /* borrowed text */
    bool first;           /* a container was just entered: no comma yet */
    bool bad;
} phi__json_cursor;

/* What is between two quotes, as it stands there. */
typedef struct phi__json_text {
    const char *at;
    size_t len;
    bool escaped;
} phi__json_text;

PHI__FN void phi__json_cursor_init(phi__json_cursor *c, phi_str text);
/* The type of the value to come; PHI_JSON_NONE: there is none. */
PHI__FN phi_json_type phi__json_peek(phi__json_cursor *c);
/* Consume the value and return true: it is entered, and its keys or items are to be pulled until
   false. */
PHI__FN bool phi__json_enter_object(phi__json_cursor *c);
PHI__FN bool phi__json_enter_array(phi__json_cursor *c);
/* The next key, its value to be consumed next; false: the object ended (and is consumed) or bad. */
PHI__FN bool phi__json_next_key(phi__json_cursor *c, phi__json_text *key);
/* True: an item is to be consumed next. */
PHI__FN bool phi__json_next_item(phi__json_cursor *c);
PHI__FN bool phi__json_skip(phi__json_cursor *c);
/* Skips the value and returns all of it, as it stands there. */
PHI__FN bool phi__json_take_raw(phi__json_cursor *c, phi_str *out);
/* Leave *out as it was unless they return true. */
PHI__FN bool phi__json_take_text(phi__json_cursor *c, phi__json_text *out);
PHI__FN bool phi__json_take_i64(phi__json_cursor *c, int64_t *out); /* also 3.0 */
PHI__FN bool phi__json_take_u64(phi__json_cursor *c, uint64_t *out);
PHI__FN bool phi__json_take_num(phi__json_cursor *c, double *out);
PHI__FN bool phi__json_take_bool(phi__json_cursor *c, bool *out);
/* All of the text was consumed and none of it was bad. */
PHI__FN bool phi__json_cursor_done(phi__json_cursor *c);

/* Appends the text, unescaped; lone surrogates, wrong escapes and bytes that are not UTF-8 become
   U+FFFD. */
PHI__FN void phi__json_unescape(phi__buf *out, phi__json_text text);
/* The same into the arena, terminated; a text that needs no change is copied too. */
PHI__FN bool phi__json_unescape_arena(phi_arena *arena, phi__json_text text, phi_str *out);

/* Compares with a text that has no escapes; an escaped spelling of it is equal too. */
PHI__FN bool phi__json_text_same(phi__json_text text, phi_str plain);
static inline bool phi__json_text_is(phi__json_text text, phi_str plain) {
    if (!text.escaped) return text.len == plain.len && memcmp(text.at, plain.at, plain.len) == 0;
    return phi__json_text_same(text, plain);
}

#endif

/* ---- src/text/sse_in.h ---- */

/* sse_in.h - server-sent events out of bytes that arrive in any pieces.

       phi__sse_feed(&sse, bytes, len);
       while ((got = phi__sse_next(&sse, &event)) > 0) use(event);
       if (got < 0) ...                       // a phi_status; dead until phi__sse_reset

   Lines end in LF, CR or CRLF; a byte order mark, comments, ids, retries and unknown fields are
   read over. Data lines are joined by LF. An event without data is not handed out (as the standard
   says), but its name line is forgotten with it.
   What is handed out is valid until the next call of next, feed, finish or reset, and may point
   into the bytes fed, which must therefore live until next has returned 0. */
#ifndef PHI_TEXT_SSE_IN_H
#define PHI_TEXT_SSE_IN_H


#define PHI__SSE_EVENT_MOST (16u << 20) /* bytes of an event, by default */

typedef struct phi__sse_event {
    phi_str name; /* of the event: line; empty: none */
    phi_str data;
} phi__sse_event;

typedef struct phi__sse {
    phi__buf line; /* a line that was cut */
    phi__buf data; /* data lines before the one under way */
    phi__buf name;
    phi_str view;         /* a single data line that lies in the bytes fed */
    const char *at, *end; /* of the bytes fed, what is not read */
    size_t max_event_bytes;
    uint64_t comments; /* comment lines so far: keep-alives */
    uint64_t events;   /* handed out so far */
    uint32_t bom;      /* bytes of a byte order mark seen; 3: that is behind us */
    bool has_data, viewed, skip_lf, handed;
    phi_status status;
} phi__sse;

/* max_event_bytes: data and name of one event, or one line, at most (default 16 MiB). Takes no
   memory yet. */
PHI__FN void phi__sse_init(phi__sse *sse, phi_memory *memory, size_t max_event_bytes);
PHI__FN void phi__sse_free(phi__sse *sse); /* twice is harmless */
/* Forgets what it read, as after init; keeps memory that is small. */
PHI__FN void phi__sse_reset(phi__sse *sse);
/* The next bytes of the stream, borrowed. The bytes fed before must be read: next returned 0. */
PHI__FN void phi__sse_feed(phi__sse *sse, const char *bytes, size_t len);
/* 1: an event; 0: needs more bytes; PHI_TOO_BIG or PHI_NO_MEMORY: dead until reset. */
PHI__FN int phi__sse_next(phi__sse *sse, phi__sse_event *out);
/* After the last byte, when next has returned 0: hands out an event that no blank line ended. As
   next; afterwards 0. */
PHI__FN int phi__sse_finish(phi__sse *sse, phi__sse_event *out);

#endif

/* ---- src/text/json_cursor.c ---- */

/* json_cursor.c - the pull scan, and the public search by path on top of it. */


static inline bool phi__json_cursor_white(char c) {
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* The next byte that is not white space, or 0: the end, or a text that was bad before. */
static inline char phi__json_cursor_next(phi__json_cursor *c) {
    while (c->at < c->end && phi__json_cursor_white(*c->at)) c->at++;
    return c->at < c->end ? *c->at : '\0';
}

static bool phi__json_cursor_bad(phi__json_cursor *c) {
    c->bad = true;
    c->at = c->end;
    return false;
}

PHI__FN void phi__json_cursor_init(phi__json_cursor *c, phi_str text) {
    c->at = text.at;
    c->end = text.at + text.len;
    c->first = false;
    c->bad = false;
}

static phi_json_type phi__json_cursor_type(char first) {
    switch (first) {
    case '"': return PHI_JSON_STRING;
    case '{': return PHI_JSON_OBJECT;
    case '[': return PHI_JSON_ARRAY;
    case 't':
    case 'f': return PHI_JSON_BOOL;
    case 'n': return PHI_JSON_NULL;
    default:
        return first == '-' || (first >= '0' && first <= '9') ? PHI_JSON_NUMBER : PHI_JSON_NONE;
    }
}

PHI__FN phi_json_type phi__json_peek(phi__json_cursor *c) {
    return phi__json_cursor_type(phi__json_cursor_next(c));
}

/* ---- skipping ---- */

/* Past a number, or what looks like one. */
static const char *phi__json_cursor_number(const char *at, const char *end) {
    while (at < end && ((unsigned)((unsigned char)*at - '0') < 10 || *at == '.' || *at == '-' ||
                        *at == '+' || *at == 'e' || *at == 'E'))
        at++;
    return at;
}

/* A number or a literal, and what ends such a thing after it. */
static bool phi__json_skip_word(phi__json_cursor *c) {
    const char *at = c->at;
    size_t left = (size_t)(c->end - at);
    if (left >= 4 && (memcmp(at, "null", 4) == 0 || memcmp(at, "true", 4) == 0))
        at += 4;
    else if (left >= 5 && memcmp(at, "false", 5) == 0)
        at += 5;
    else if (*at == '-' || (*at >= '0' && *at <= '9'))
        at = phi__json_cursor_number(at, c->end);
    else
        return phi__json_cursor_bad(c);
    if (at < c->end && *at != ',' && *at != '}' && *at != ']' && !phi__json_cursor_white(*at))
        return phi__json_cursor_bad(c);
    c->at = at;
    return true;
}

static inline bool phi__json_skip_string(phi__json_cursor *c) {
    bool escaped;
    const char *quote = phi__json_quote_short(c->at + 1, c->end, &escaped);
    if (quote == NULL) return phi__json_cursor_bad(c);
    c->at = quote + 1;
    return true;
}

/* From an opening bracket to the one that closes it; a bit a level says which kind is open. */
static bool phi__json_skip_nested(phi__json_cursor *c) {
    uint32_t kinds[PHI_JSON_MAX_DEPTH / 32], depth = 0;
    while (c->at < c->end) {
        char b = *c->at;
        if (b == '"') {
            if (!phi__json_skip_string(c)) return false;
            continue;
        }
        c->at++;
        if (b == '{' || b == '[') {
            uint32_t bit = 1u << depth % 32;
            if (depth == PHI_JSON_MAX_DEPTH) break;
            if (depth % 32 == 0) kinds[depth / 32] = 0;
            kinds[depth / 32] = b == '{' ? kinds[depth / 32] | bit : kinds[depth / 32] & ~bit;
            depth++;
        } else if (b == '}' || b == ']') {
            depth--;
            if ((kinds[depth / 32] >> depth % 32 & 1u) != (b == '}' ? 1u : 0u)) break;
            if (depth == 0) return true;
        }
    }
    return phi__json_cursor_bad(c);
}

PHI__FN bool phi__json_skip(phi__json_cursor *c) {
    char b = phi__json_cursor_next(c);
    c->first = false;
    if (b == '"') return phi__json_skip_string(c);
    if (b == '{' || b == '[') return phi__json_skip_nested(c);
    return c->at < c->end ? phi__json_skip_word(c) : phi__json_cursor_bad(c);
}

/* The value is of another type than what was asked for. */
static bool phi__json_cursor_other(phi__json_cursor *c) {
    (void)phi__json_skip(c);
    return false;
}

/* ---- pulling ---- */

PHI__FN bool phi__json_enter_object(phi__json_cursor *c) {
    if (phi__json_cursor_next(c) != '{') return phi__json_cursor_other(c);
    c->at++;
    c->first = true;
    return true;
}

PHI__FN bool phi__json_enter_array(phi__json_cursor *c) {
    if (phi__json_cursor_next(c) != '[') return phi__json_cursor_other(c);
    c->at++;
    c->first = true;
    return true;
}

/* At the start of the next member or item; false: at the end of the container, or bad. */
static inline bool phi__json_cursor_step(phi__json_cursor *c, char closing) {
    char b = phi__json_cursor_next(c);
    if (b == closing) {
        c->at++;
        c->first = false;
        return false;
    }
    if (!c->first) {
        if (b != ',') return phi__json_cursor_bad(c);
        c->at++;
        (void)phi__json_cursor_next(c);
    }
    c->first = false;
    return true;
}

PHI__FN bool phi__json_next_key(phi__json_cursor *c, phi__json_text *key) {
    const char *quote;
    if (!phi__json_cursor_step(c, '}')) return false;
    if (c->at == c->end || *c->at != '"') return phi__json_cursor_bad(c);
    quote = phi__json_quote_short(c->at + 1, c->end, &key->escaped);
    if (quote == NULL) return phi__json_cursor_bad(c);
    key->at = c->at + 1;
    key->len = (size_t)(quote - key->at);
    c->at = quote + 1;
    if (phi__json_cursor_next(c) != ':') return phi__json_cursor_bad(c);
    c->at++;
    return true;
}

PHI__FN bool phi__json_next_item(phi__json_cursor *c) {
    if (!phi__json_cursor_step(c, ']')) return false;
    if (c->at == c->end || *c->at == ']') return phi__json_cursor_bad(c);
    return true;
}

PHI__FN bool phi__json_take_raw(phi__json_cursor *c, phi_str *out) {
    const char *start;
    (void)phi__json_cursor_next(c);
    start = c->at;
    if (!phi__json_skip(c)) return false;
    *out = phi__str(start, (size_t)(c->at - start));
    return true;
}

PHI__FN bool phi__json_take_text(phi__json_cursor *c, phi__json_text *out) {
    const char *quote;
    bool escaped;
    if (phi__json_cursor_next(c) != '"') return phi__json_cursor_other(c);
    quote = phi__json_quote_short(c->at + 1, c->end, &escaped);
    if (quote == NULL) return phi__json_cursor_bad(c);
    out->at = c->at + 1;
    out->len = (size_t)(quote - out->at);
    out->escaped = escaped;
    c->at = quote + 1;
    c->first = false;
    return true;
}

static bool phi__json_take_number(phi__json_cursor *c, phi__json_number *out) {
    const char *end, *bad;
    if (phi__json_peek(c) != PHI_JSON_NUMBER) return phi__json_cursor_other(c);
    end = phi__json_number_read(c->at, c->end, out, &bad);
    if (end == NULL) return phi__json_cursor_other(c); /* as long as it has an end */
    c->at = end;
    c->first = false;
    return true;
}

PHI__FN bool phi__json_take_i64(phi__json_cursor *c, int64_t *out) {
    phi__json_number n;
    return phi__json_take_number(c, &n) && phi__json_number_i64(&n, out);
}

PHI__FN bool phi__json_take_u64(phi__json_cursor *c, uint64_t *out) {
    phi__json_number n;
    return phi__json_take_number(c, &n) && phi__json_number_u64(&n, out);
}

PHI__FN bool phi__json_take_num(phi__json_cursor *c, double *out) {
    phi__json_number n;
    if (!phi__json_take_number(c, &n)) return false;
    *out = phi__json_number_double(&n);
    return true;
}

PHI__FN bool phi__json_take_bool(phi__json_cursor *c, bool *out) {
    char b = phi__json_cursor_next(c);
    if (!phi__json_skip(c)) return false;
    if (b != 't' && b != 'f') return false;
    *out = b == 't';
    return true;
}

PHI__FN bool phi__json_cursor_done(phi__json_cursor *c) {
    (void)phi__json_cursor_next(c);
    return !c->bad && c->at == c->end;
}

/* ---- strings ---- */

#define PHI__JSON_UNESCAPE_SLICE 256u /* bytes; room is made for thrice that */

PHI__FN void phi__json_unescape(phi__buf *out, phi__json_text text) {
    const char *at = text.at, *end = text.at + text.len;
    while (at < end) {
        const char *plain = phi__json_plain_end(at, end);
        size_t slice;
        char *to, *start;
        phi__buf_add(out, at, (size_t)(plain - at));
        slice = phi__min((size_t)(end - plain), PHI__JSON_UNESCAPE_SLICE);
        if (slice == 0) return;
        start = to = phi__buf_reserve(out, 3 * (slice + PHI__JSON_RUN_MORE));
        if (to == NULL) return;
        at = phi__json_unescape_run(plain, end, slice, &to);
        phi__buf_add_len(out, (size_t)(to - start));
    }
}

/* How long the text is, unescaped. */
static size_t phi__json_unescaped_len(phi__json_text text) {
    const char *at = text.at, *end = text.at + text.len;
    size_t len = 0;
    while (at < end) {
        char few[3 * (64 + PHI__JSON_RUN_MORE)], *to = few;
        const char *plain = phi__json_plain_end(at, end);
        len += (size_t)(plain - at);
        at = plain < end ? phi__json_unescape_run(plain, end, 64, &to) : end;
        len += (size_t)(to - few);
    }
    return len;
}

PHI__FN bool phi__json_unescape_arena(phi_arena *arena, phi__json_text text, phi_str *out) {
    size_t len = phi__json_unescaped_len(text);
    char *copy = len == SIZE_MAX ? NULL : phi__arena_bytes(arena, len + 1), *to = copy;
    const char *end = text.at + text.len;
    if (copy == NULL) return false;
    if (text.len > 0) (void)phi__json_unescape_run(text.at, end, text.len, &to);
    *to = '\0';
    *out = phi__str(copy, len);
    return true;
}

PHI__FN bool phi__json_text_same(phi__json_text text, phi_str plain) {
    const char *at = text.at, *end = text.at + text.len;
    while (at < end) {
        char few[3 * (1 + PHI__JSON_RUN_MORE)], *to = few;
        size_t len;
        at = phi__json_unescape_run(at, end, 1, &to);
        len = (size_t)(to - few);
        if (len > plain.len || memcmp(few, plain.at, len) != 0) return false;
        plain = phi__str(plain.at + len, plain.len - len);
    }
    return plain.len == 0;
}

/* ---- public ---- */

/* Goes to the member or item that one step of the path names. */
static bool phi__json_find_step(phi__json_cursor *c, const phi__json_step *step) {
    size_t left = step->index;
    phi__json_text key;
    if (!step->is_index) {
        if (!phi__json_enter_object(c)) return false;
        while (phi__json_next_key(c, &key)) {
            if (phi__json_text_is(key, step->key)) return true;
            if (!phi__json_skip(c)) return false;
        }
        return false;
    }
    if (!phi__json_enter_array(c)) return false;
    while (phi__json_next_item(c)) {
        if (left-- == 0) return true;
        if (!phi__json_skip(c)) return false;
    }
    return false;
}

PHI_API phi_status phi_json_find(phi_str text, const char *path, phi_json_found *out) {
    phi__json_cursor c;
    phi__json_step step;
    phi__json_text string;
    if (text.at == NULL || path == NULL || out == NULL) return PHI_BAD_ARG;
    phi__json_cursor_init(&c, text);
    while (phi__json_path_step(&path, &step))
        if (!phi__json_find_step(&c, &step)) return c.bad ? PHI_PARSE : PHI_NOT_FOUND;
    if (*path != '\0') return PHI_BAD_ARG;
    out->type = phi__json_peek(&c);
    out->escaped = false;
    if (out->type == PHI_JSON_STRING) {
        if (!phi__json_take_text(&c, &string)) return PHI_PARSE;
        out->raw = phi__str(string.at, string.len);
        out->escaped = string.escaped;
        return PHI_OK;
    }
    return phi__json_take_raw(&c, &out->raw) ? PHI_OK : PHI_PARSE;
}

PHI_API bool phi_json_found_str(phi_arena *arena, const phi_json_found *found, phi_str *out) {
    phi__json_text text;
    if (found == NULL || found->type != PHI_JSON_STRING) return false;
    text.at = found->raw.at;
    text.len = found->raw.len;
    text.escaped = found->escaped;
    if (phi__utf8_valid(found->raw) == found->raw.len && !found->escaped) {
        *out = found->raw;
        return true;
    }
    return phi__json_unescape_arena(arena, text, out);
}

PHI_API bool phi_json_found_int(const phi_json_found *found, int64_t *out) {
    phi__json_cursor c;
    if (found == NULL || found->type != PHI_JSON_NUMBER) return false;
    phi__json_cursor_init(&c, found->raw);
    return phi__json_take_i64(&c, out) && phi__json_cursor_done(&c);
}

PHI_API bool phi_json_found_num(const phi_json_found *found, double *out) {
    phi__json_cursor c;
    if (found == NULL || found->type != PHI_JSON_NUMBER) return false;
    phi__json_cursor_init(&c, found->raw);
    return phi__json_take_num(&c, out) && phi__json_cursor_done(&c);
}
#undef PHI__JSON_UNESCAPE_SLICE

/* ---- src/text/json_edit.c ---- */

/* json_edit.c - building and changing a tree. */

static phi_json *phi__json_make(phi_arena *arena, uint32_t kind) {
    phi_json *node = (phi_json *)phi_arena_alloc(arena, sizeof *node);
    if (node == NULL) return NULL;
    memset(node, 0, sizeof *node);
    node->meta = kind;
    return node;
}

/* A value may be put into a container: PHI_OK, or what to answer. */
static phi_status phi__json_may_hold(const phi_json *container, uint32_t kind,
                                     const phi_json *value) {
    if (container == NULL || phi__json_kind_of(container) != kind) return PHI_BAD_ARG;
    if (value == NULL) return PHI_NO_MEMORY;
    if (value == container || value->next != NULL) return PHI_MISUSE;
    if (container->len == UINT32_MAX) return PHI_TOO_BIG;
    return PHI_OK;
}

/* Takes `child`, which follows `before`, out of the ring. */
static void phi__json_unlink(phi_json *container, phi_json *before, phi_json *child) {
    before->next = child->next;
    if (container->v.last == child) container->v.last = container->len == 1 ? NULL : before;
    container->len--;
    child->next = NULL;
}

static bool phi__json_named(const phi_json *child, phi_str key) {
    return phi__json_key_len(child) == key.len &&
           (key.len == 0 || memcmp(child->key, key.at, key.len) == 0);
}

/* Unlinks all members of that name but `keep`; returns the last of them, `keep` included. */
static phi_json *phi__json_unlink_named(phi_json *object, phi_str key, const phi_json *keep) {
    phi_json *before = object->v.last, *found = NULL;
    uint32_t left = object->len;
    for (; left > 0; left--) {
        phi_json *child = before->next;
        if (phi__json_named(child, key)) {
            found = child;
            if (child != keep) {
                phi__json_unlink(object, before, child);
                continue;
            }
        }
        before = child;
    }
    return found;
}

/* ---- public: new nodes ---- */

PHI_API phi_json *phi_json_new_null(phi_arena *arena) {
    return phi__json_make(arena, PHI__JSON_NULL);
}

PHI_API phi_json *phi_json_new_bool(phi_arena *arena, bool value) {
    return phi__json_make(arena, value ? PHI__JSON_TRUE : PHI__JSON_FALSE);
}

PHI_API phi_json *phi_json_new_int(phi_arena *arena, int64_t value) {
    phi_json *node = phi__json_make(arena, PHI__JSON_INT);
    if (node != NULL) node->v.i = value;
    return node;
}

PHI_API phi_json *phi_json_new_uint(phi_arena *arena, uint64_t value) {
    phi_json *node =
        phi__json_make(arena, value > (uint64_t)INT64_MAX ? PHI__JSON_UINT : PHI__JSON_INT);
    if (node != NULL) node->v.u = value;
    return node;
}

PHI_API phi_json *phi_json_new_num(phi_arena *arena, double value) {
    phi_json *node = phi__json_make(arena, PHI__JSON_DOUBLE);
    if (node != NULL) node->v.d = value;
    return node;
}

PHI_API phi_json *phi_json_new_str(phi_arena *arena, phi_str value) {
    phi_json *node;
    phi_str copy;
    if (value.len > UINT32_MAX - 1) return NULL;
    node = phi__json_make(arena, PHI__JSON_STRING);
    if (node == NULL || !phi__arena_str(arena, value, &copy)) return NULL;
    node->v.str = copy.at;
    node->len = (uint32_t)copy.len;
    return node;
}

PHI_API phi_json *phi_json_new_text(phi_arena *arena, const char *value) {
    return phi_json_new_str(arena, phi_str_of(value));
}

PHI_API phi_json *phi_json_new_array(phi_arena *arena) {
    return phi__json_make(arena, PHI__JSON_ARRAY);
}

PHI_API phi_json *phi_json_new_object(phi_arena *arena) {
    return phi__json_make(arena, PHI__JSON_OBJECT);
}

/* ---- public: copying ---- */

static bool phi__json_copy_key(phi_arena *arena, const phi_json *from, phi_json *to) {
    phi_str key = phi__str(from->key, phi__json_key_len(from));
    if (from->key == NULL) {
        to->key = NULL;
        return true;
    }
    if (!phi__arena_str(arena, key, &key)) return false;
    to->key = key.at;
    to->meta = from->meta;
    return true;
}

static phi_json *phi__json_copy_at(phi_arena *arena, const phi_json *from, unsigned depth) {
    phi_json *to = phi__json_make(arena, phi__json_kind_of(from)), *child;
    phi_json_iter it;
    phi_str text;
    if (to == NULL) return NULL;
    switch (phi__json_kind_of(from)) {
    case PHI__JSON_STRING:
        if (!phi__arena_str(arena, phi__str(from->v.str, from->len), &text)) return NULL;
        to->v.str = text.at;
        to->len = from->len;
        return to;
    case PHI__JSON_ARRAY:
    case PHI__JSON_OBJECT:
        if (depth == 0) return NULL;
        it = phi_json_each(from);
        while (phi_json_next(&it) != NULL) {
            child = phi__json_copy_at(arena, it.at, depth - 1);
            if (child == NULL || !phi__json_copy_key(arena, it.at, child)) return NULL;
            phi__json_append(to, child);
        }
        return to;
    default: to->v = from->v; return to;
    }
}

PHI_API phi_json *phi_json_copy(phi_arena *arena, const phi_json *node) {
    return node == NULL ? NULL : phi__json_copy_at(arena, node, PHI_JSON_MAX_DEPTH);
}

/* ---- public: changing ---- */

PHI_API phi_status phi_json_set_n(phi_arena *arena, phi_json *object, phi_str key,
                                  phi_json *value) {
    phi_status status = phi__json_may_hold(object, PHI__JSON_OBJECT, value);
    phi_json *old, *before;
    phi_str copy;
    if (status != PHI_OK) return status;
    if (key.len > 0xffffffu) return PHI_TOO_BIG;
    if (!phi__arena_str(arena, key, &copy)) return PHI_NO_MEMORY;
    value->key = copy.at;
    value->meta = (uint32_t)key.len << 8 | phi__json_kind_of(value);
    old = phi_json_get_n(object, copy);
    if (old == NULL) {
        phi__json_append(object, value);
        return PHI_OK;
    }
    (void)phi__json_unlink_named(object, copy, old);
    before = old;
    while (before->next != old) before = before->next;
    value->next = before == old ? value : old->next; /* alone in the ring, or not */
    if (before != old) before->next = value;
    if (object->v.last == old) object->v.last = value;
    old->next = NULL;
    return PHI_OK;
}

PHI_API phi_status phi_json_set(phi_arena *arena, phi_json *object, const char *key,
                                phi_json *value) {
    if (key == NULL) return PHI_BAD_ARG;
    return phi_json_set_n(arena, object, phi_str_of(key), value);
}

PHI_API phi_status phi_json_add(phi_json *array, phi_json *value) {
    phi_status status = phi__json_may_hold(array, PHI__JSON_ARRAY, value);
    if (status != PHI_OK) return status;
    value->key = NULL;
    value->meta = phi__json_kind_of(value);
    phi__json_append(array, value);
    return PHI_OK;
}

PHI_API phi_json *phi_json_remove(phi_json *object, const char *key) {
    if (key == NULL || !phi_json_is_object(object) || object->len == 0) return NULL;
    return phi__json_unlink_named(object, phi_str_of(key), NULL);
}

PHI_API phi_json *phi_json_remove_at(phi_json *array, size_t index) {
    phi_json *before, *child;
    if (!phi_json_is_array(array) || index >= array->len) return NULL;
    before = array->v.last;
    for (; index > 0; index--) before = before->next;
    child = before->next;
    phi__json_unlink(array, before, child);
    return child;
}

/* ---- src/text/json_get.c ---- */

/* json_get.c - looking at a tree: types, values, members, paths, equality. */

PHI__FN bool phi__json_number_i64(const phi__json_number *n, int64_t *out) {
    if (n->kind == PHI__JSON_INT) {
        *out = n->v.i;
        return true;
    }
    if (n->kind != PHI__JSON_DOUBLE || !(n->v.d >= -9223372036854775808.0) ||
        !(n->v.d < 9223372036854775808.0) || (double)(int64_t)n->v.d != n->v.d)
        return false;
    *out = (int64_t)n->v.d;
    return true;
}

PHI__FN bool phi__json_number_u64(const phi__json_number *n, uint64_t *out) {
    if (n->kind == PHI__JSON_DOUBLE) {
        if (!(n->v.d >= 0) || !(n->v.d < 18446744073709551616.0) ||
            (double)(uint64_t)n->v.d != n->v.d)
            return false;
        *out = (uint64_t)n->v.d;
        return true;
    }
    if (n->kind == PHI__JSON_INT && n->v.i < 0) return false;
    *out = n->v.u;
    return true;
}

PHI__FN double phi__json_number_double(const phi__json_number *n) {
    if (n->kind == PHI__JSON_INT) return (double)n->v.i;
    return n->kind == PHI__JSON_UINT ? (double)n->v.u : n->v.d;
}

static phi__json_number phi__json_number_of(const phi_json *node) {
    phi__json_number n;
    n.kind = phi__json_kind_of(node);
    n.v = node->v;
    return n;
}

PHI__FN bool phi__json_path_step(const char **path, phi__json_step *step) {
    const char *at = *path;
    step->is_index = *at == '[';
    step->index = 0;
    if (step->is_index) {
        const char *digits = ++at;
        for (; *at >= '0' && *at <= '9'; at++) {
            size_t digit = (size_t)(*at - '0');
            step->index =
                step->index > (SIZE_MAX - digit) / 10 ? SIZE_MAX : step->index * 10 + digit;
        }
        if (at == digits || at[0] != ']') return false;
        at++;
        if (*at != '.' && *at != '[' && *at != '\0') return false;
        *path = at;
        return true;
    }
    if (*at == '.') at++;
    step->key = phi__str(at, strcspn(at, ".[]"));
    if (step->key.len == 0 || at[step->key.len] == ']') return false;
    *path = at + step->key.len;
    return true;
}

/* ---- public: types ---- */

PHI_API phi_json_type phi_json_type_of(const phi_json *node) {
    if (node == NULL) return PHI_JSON_NONE;
    switch (phi__json_kind_of(node)) {
    case PHI__JSON_NULL: return PHI_JSON_NULL;
    case PHI__JSON_FALSE:
    case PHI__JSON_TRUE: return PHI_JSON_BOOL;
    case PHI__JSON_STRING: return PHI_JSON_STRING;
    case PHI__JSON_ARRAY: return PHI_JSON_ARRAY;
    case PHI__JSON_OBJECT: return PHI_JSON_OBJECT;
    default: return PHI_JSON_NUMBER;
    }
}

PHI_API const char *phi_json_type_name(const phi_json *node) {
    switch (phi_json_type_of(node)) {
    case PHI_JSON_NULL: return "null";
    case PHI_JSON_BOOL: return "boolean";
    case PHI_JSON_NUMBER: return "number";
    case PHI_JSON_STRING: return "string";
    case PHI_JSON_ARRAY: return "array";
    case PHI_JSON_OBJECT: return "object";
    default: return "nothing";
    }
}

PHI_API bool phi_json_is_null(const phi_json *node) {
    return phi_json_type_of(node) == PHI_JSON_NULL;
}

PHI_API bool phi_json_is_bool(const phi_json *node) {
    return phi_json_type_of(node) == PHI_JSON_BOOL;
}

PHI_API bool phi_json_is_number(const phi_json *node) {
    return phi_json_type_of(node) == PHI_JSON_NUMBER;
}

PHI_API bool phi_json_is_integer(const phi_json *node) {
    double d;
    if (!phi_json_is_number(node)) return false;
    if (phi__json_kind_of(node) != PHI__JSON_DOUBLE) return true;
    d = node->v.d;
    if (!(d > -9007199254740992.0 && d < 9007199254740992.0)) /* no fraction fits in there */
        return d - d == 0;                                    /* not of infinities and NaN */
    return (double)(int64_t)d == d;
}

PHI_API bool phi_json_is_string(const phi_json *node) {
    return phi_json_type_of(node) == PHI_JSON_STRING;
}

PHI_API bool phi_json_is_array(const phi_json *node) {
    return phi_json_type_of(node) == PHI_JSON_ARRAY;
}

PHI_API bool phi_json_is_object(const phi_json *node) {
    return phi_json_type_of(node) == PHI_JSON_OBJECT;
}

/* ---- public: values ---- */

PHI_API bool phi_json_bool(const phi_json *node, bool fallback) {
    if (!phi_json_is_bool(node)) return fallback;
    return phi__json_kind_of(node) == PHI__JSON_TRUE;
}

PHI_API int64_t phi_json_int(const phi_json *node, int64_t fallback) {
    phi__json_number n;
    int64_t out;
    if (!phi_json_is_number(node)) return fallback;
    n = phi__json_number_of(node);
    return phi__json_number_i64(&n, &out) ? out : fallback;
}

PHI_API uint64_t phi_json_uint(const phi_json *node, uint64_t fallback) {
    phi__json_number n;
    uint64_t out;
    if (!phi_json_is_number(node)) return fallback;
    n = phi__json_number_of(node);
    return phi__json_number_u64(&n, &out) ? out : fallback;
}

PHI_API double phi_json_num(const phi_json *node, double fallback) {
    phi__json_number n;
    if (!phi_json_is_number(node)) return fallback;
    n = phi__json_number_of(node);
    return phi__json_number_double(&n);
}

PHI_API phi_str phi_json_str(const phi_json *node, const char *fallback) {
    if (!phi_json_is_string(node)) return phi_str_of(fallback);
    return phi__str(node->v.str, node->len);
}

/* ---- public: children ---- */

PHI_API size_t phi_json_count(const phi_json *node) {
    return phi_json_is_array(node) || phi_json_is_object(node) ? node->len : 0;
}

PHI_API phi_json *phi_json_get_n(const phi_json *object, phi_str key) {
    phi_json *child, *found = NULL;
    uint32_t left;
    if (!phi_json_is_object(object) || object->len == 0) return NULL;
    child = object->v.last;
    for (left = object->len; left > 0; left--) {
        child = child->next;
        if (phi__json_key_len(child) == key.len &&
            (key.len == 0 || memcmp(child->key, key.at, key.len) == 0))
            found = child;
    }
    return found;
}

PHI_API phi_json *phi_json_get(const phi_json *object, const char *key) {
    return key == NULL ? NULL : phi_json_get_n(object, phi_str_of(key));
}

PHI_API phi_json *phi_json_at(const phi_json *array, size_t index) {
    phi_json *child;
    if (!phi_json_is_array(array) || index >= array->len) return NULL;
    child = array->v.last;
    if (index == (size_t)array->len - 1) return child;
    for (child = child->next; index > 0; index--) child = child->next;
    return child;
}

PHI_API phi_json *phi_json_path(const phi_json *node, const char *path) {
    const phi_json *at = node;
    phi__json_step step;
    if (path == NULL) return NULL;
    while (at != NULL && phi__json_path_step(&path, &step))
        at = step.is_index ? phi_json_at(at, step.index) : phi_json_get_n(at, step.key);
    return at == NULL || *path != '\0' ? NULL : (phi_json *)(uintptr_t)at;
}

PHI_API phi_json_iter phi_json_each(const phi_json *container) {
    phi_json_iter it;
    it.left = phi_json_count(container);
    it.at = it.left > 0 ? container->v.last : NULL;
    it.key = phi__str(NULL, 0);
    return it;
}

PHI_API phi_json *phi_json_next(phi_json_iter *it) {
    if (it->left == 0) return NULL;
    it->left--;
    it->at = it->at->next;
    it->key = phi__str(it->at->key, phi__json_key_len(it->at));
    return it->at;
}

/* ---- public: equality ---- */

static bool phi__json_same(const phi_json *a, const phi_json *b, unsigned depth);

static bool phi__json_same_number(const phi_json *a, const phi_json *b) {
    uint32_t kind = phi__json_kind_of(a);
    phi__json_number n;
    int64_t i;
    uint64_t u;
    if (kind == phi__json_kind_of(b))
        return kind == PHI__JSON_DOUBLE ? a->v.d == b->v.d : a->v.u == b->v.u;
    if (kind != PHI__JSON_DOUBLE) { /* an integer kind: compare that with what the other holds */
        const phi_json *other = a;
        a = b;
        b = other;
        if (phi__json_kind_of(a) != PHI__JSON_DOUBLE) return false;
    }
    n = phi__json_number_of(a);
    if (phi__json_kind_of(b) == PHI__JSON_INT) return phi__json_number_i64(&n, &i) && i == b->v.i;
    return phi__json_number_u64(&n, &u) && u == b->v.u;
}

static bool phi__json_same_keys(const phi_json *a, const phi_json *b) {
    phi_json_iter ia = phi_json_each(a), ib = phi_json_each(b);
    if (a->len != b->len) return false;
    while (phi_json_next(&ia) != NULL) {
        (void)phi_json_next(&ib);
        if (!phi_str_equal(ia.key, ib.key)) return false;
    }
    return true;
}

/* Members count as get finds them: the last of a name. No pair is compared twice, so that nesting
   does not multiply the work. */
static bool phi__json_same_object(const phi_json *a, const phi_json *b, unsigned depth) {
    phi_json_iter ia = phi_json_each(a), ib = phi_json_each(b);
    bool in_step = phi__json_same_keys(a, b);
    const phi_json *x, *y;
    while ((x = phi_json_next(&ia)) != NULL) {
        if (in_step) {
            if (!phi__json_same(x, phi_json_next(&ib), depth) && phi_json_get_n(a, ia.key) == x)
                return false;
        } else if (phi_json_get_n(a, ia.key) == x) {
            y = phi_json_get_n(b, ia.key);
            if (y == NULL || !phi__json_same(x, y, depth)) return false;
        }
    }
    if (in_step) return true;
    while (phi_json_next(&ib) != NULL)
        if (phi_json_get_n(a, ib.key) == NULL) return false;
    return true;
}

static bool phi__json_same(const phi_json *a, const phi_json *b, unsigned depth) {
    phi_json_iter ia, ib;
    const phi_json *x;
    phi_json_type type = phi_json_type_of(a);
    if (a == b) return true;
    if (depth == 0 || type != phi_json_type_of(b)) return false;
    switch (type) {
    case PHI_JSON_BOOL: return phi__json_kind_of(a) == phi__json_kind_of(b);
    case PHI_JSON_NUMBER: return phi__json_same_number(a, b);
    case PHI_JSON_STRING:
        return phi_str_equal(phi__str(a->v.str, a->len), phi__str(b->v.str, b->len));
    case PHI_JSON_ARRAY:
        if (a->len != b->len) return false;
        ia = phi_json_each(a);
        ib = phi_json_each(b);
        while ((x = phi_json_next(&ia)) != NULL)
            if (!phi__json_same(x, phi_json_next(&ib), depth - 1)) return false;
        return true;
    case PHI_JSON_OBJECT: return phi__json_same_object(a, b, depth - 1);
    default: return true;
    }
}

PHI_API bool phi_json_equal(const phi_json *a, const phi_json *b) {
    return phi__json_same(a, b, PHI_JSON_MAX_DEPTH + 1);
}

/* ---- src/text/json_number.c ---- */

/* json_number.c - numbers to text and back, exactly.

   Reading: the decimal is multiplied with a 128-bit power of ten (Eisel and Lemire's way); where
   that cannot decide the last bit, big integers do. Writing: the shortest decimal inside of the
   double's rounding interval (Giulietti's Schubfach). Both use one table of powers, which is kept
   small: 10^k is 10^(27 b) * 5^j * 2^j, cut to 128 bits, with a stored correction of its last bits.
   Only integers are computed with, so that x87 arithmetic cannot round twice. */

#define PHI__JSON_POW_LEAST (-342) /* smaller: below half of the least double, for 19 digits */
#define PHI__JSON_POW_MOST 324     /* the most that writing the least double takes */
#define PHI__JSON_POW_FIRST (-351) /* of the first base; a multiple of 27 */

/* The upper 128 bits of 10^-351, 10^-324, ..., 10^324: two words each. */
static const uint64_t phi__json_pow_base[52] = {
    UINT64_C(0x8049a4ac0c5811ae), UINT64_C(0x205b896d777d6278), UINT64_C(0xcf42894a5dce35ea),
    UINT64_C(0x52064cac828675b9), UINT64_C(0xa76c582338ed2621), UINT64_C(0xaf2af2b80af6f24e),
    UINT64_C(0x873e4f75e2224e68), UINT64_C(0x5a7744a6e804a291), UINT64_C(0xda7f5bf590966848),
    UINT64_C(0xaf39a475506a899e), UINT64_C(0xb080392cc4349dec), UINT64_C(0xbd8d794d96aacfb3),
    UINT64_C(0x8e938662882af53e), UINT64_C(0x547eb47b7282ee9c), UINT64_C(0xe65829b3046b0afa),
    UINT64_C(0x0cb4a5a3112a5112), UINT64_C(0xba121a4650e4ddeb), UINT64_C(0x92f34d62616ce413),
    UINT64_C(0x964e858c91ba2655), UINT64_C(0x3a6a07f8d510f86f), UINT64_C(0xf2d56790ab41c2a2),
    UINT64_C(0xfae27299423fb9c3), UINT64_C(0xc428d05aa4751e4c), UINT64_C(0xaa97e14c3c26b886),
    UINT64_C(0x9e74d1b791e07e48), UINT64_C(0x775ea264cf55347d), UINT64_C(0x8000000000000000),
    UINT64_C(0x0000000000000000), UINT64_C(0xcecb8f27f4200f3a), UINT64_C(0x0000000000000000),
    UINT64_C(0xa70c3c40a64e6c51), UINT64_C(0x999090b65f67d924), UINT64_C(0x86f0ac99b4e8dafd),
    UINT64_C(0x69a028bb3ded71a3), UINT64_C(0xda01ee641a708de9), UINT64_C(0xe80e6f4820cc9495),
    UINT64_C(0xb01ae745b101e9e4), UINT64_C(0x5ec05dcff72e7f8f), UINT64_C(0x8e41ade9fbebc27d),
    UINT64_C(0x14588f13be847307), UINT64_C(0xe5d3ef282a242e81), UINT64_C(0x8f1668c8a86da5fa),
    UINT64_C(0xb9a74a0637ce2ee1), UINT64_C(0x6d953e2bd7173692), UINT64_C(0x95f83d0a1fb69cd9),
    UINT64_C(0x4abdaf101564f98e), UINT64_C(0xf24a01a73cf2dccf), UINT64_C(0xbc633b39673c8cec),
    UINT64_C(0xc3b8358109e84f07), UINT64_C(0x0a862f80ec4700c8), UINT64_C(0x9e19db92b4e31ba9),
    UINT64_C(0x6c07a2c26a8346d1)};
/* 5^0 to 5^26, shifted so that their highest bit is set. */
static const uint64_t phi__json_pow_five[27] = {
    UINT64_C(0x8000000000000000), UINT64_C(0xa000000000000000), UINT64_C(0xc800000000000000),
    UINT64_C(0xfa00000000000000), UINT64_C(0x9c40000000000000), UINT64_C(0xc350000000000000),
    UINT64_C(0xf424000000000000), UINT64_C(0x9896800000000000), UINT64_C(0xbebc200000000000),
    UINT64_C(0xee6b280000000000), UINT64_C(0x9502f90000000000), UINT64_C(0xba43b74000000000),
    UINT64_C(0xe8d4a51000000000), UINT64_C(0x9184e72a00000000), UINT64_C(0xb5e620f480000000),
    UINT64_C(0xe35fa931a0000000), UINT64_C(0x8e1bc9bf04000000), UINT64_C(0xb1a2bc2ec5000000),
    UINT64_C(0xde0b6b3a76400000), UINT64_C(0x8ac7230489e80000), UINT64_C(0xad78ebc5ac620000),
    UINT64_C(0xd8d726b7177a8000), UINT64_C(0x878678326eac9000), UINT64_C(0xa968163f0a57b400),
    UINT64_C(0xd3c21bcecceda100), UINT64_C(0x84595161401484a0), UINT64_C(0xa56fa5b99019a5c8)};
/* What the product of the two lacks: two bits a power, from 10^-342. */
static const uint32_t phi__json_pow_more[42] = {
    0x55555551u, 0x15010004u, 0x41450500u, 0x00014000u, 0x44541005u, 0x95655559u, 0x44544116u,
    0x41055405u, 0x96525555u, 0x10415515u, 0x41054005u, 0x40104044u, 0x10040015u, 0x00000000u,
    0x55400000u, 0x95515569u, 0x50401165u, 0x00100000u, 0x15051554u, 0x45155441u, 0x51055195u,
    0x00000454u, 0x00000000u, 0x00000000u, 0x00000000u, 0x00000000u, 0x55590000u, 0x969965a5u,
    0x55455505u, 0x50501555u, 0x14545511u, 0x00105555u, 0x00110100u, 0x55155410u, 0x45545455u,
    0x44150504u, 0x00015414u, 0x00100000u, 0x00400000u, 0x00000004u, 0x00000000u, 0x00000000u};

#if defined(__SIZEOF_INT128__)
__extension__ typedef unsigned __int128 phi__json_u128;
#endif

/* a * b: returns the upper half. */
static inline uint64_t phi__json_mul(uint64_t a, uint64_t b, uint64_t *low) {
#if defined(__SIZEOF_INT128__)
    phi__json_u128 product = (phi__json_u128)a * b;
    *low = (uint64_t)product;
    return (uint64_t)(product >> 64);
#else
    uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t p00 = a0 * b0, p01 = a0 * b1, p10 = a1 * b0;
    uint64_t middle = (p00 >> 32) + (uint32_t)p01 + (uint32_t)p10;
    *low = (middle << 32) | (uint32_t)p00;
    return a1 * b1 + (p01 >> 32) + (p10 >> 32) + (middle >> 32);
#endif
}

static inline int phi__json_leading_zeros(uint64_t n) { return __builtin_clzll(n); }

/* floor(log2(10^k)), for |k| <= 1233 */
static inline int phi__json_log2_pow10(int k) {
    return (int)(((int64_t)k * 1741647 + ((int64_t)1 << 40)) >> 19) - (1 << 21);
}

typedef struct phi__json_pow {
    uint64_t high, low;
} phi__json_pow;

/* The upper 128 bits of 10^k, cut. */
static phi__json_pow phi__json_pow10(int k) {
    unsigned from = (unsigned)(k - PHI__JSON_POW_FIRST), at = (unsigned)(k - PHI__JSON_POW_LEAST);
    const uint64_t *base = phi__json_pow_base + from / 27 * 2;
    uint64_t five = phi__json_pow_five[from % 27], middle, lowest, more;
    phi__json_pow out;
    out.high = phi__json_mul(base[0], five, &out.low);
    middle = phi__json_mul(base[1], five, &lowest);
    out.low += middle;
    out.high += out.low < middle;
    if (out.high >> 63 == 0) {
        out.high = out.high << 1 | out.low >> 63;
        out.low = out.low << 1 | lowest >> 63;
    }
    more = phi__json_pow_more[at / 16] >> at % 16 * 2 & 3u;
    out.low += more;
    out.high += out.low < more;
    return out;
}

/* ---- reading ---- */

typedef struct phi__json_decimal {
    const char *digits, *end; /* from the first digit to the last, a point among them */
    uint64_t w;               /* the first 19 that count */
    int k;                    /* the value is about w * 10^k */
    bool cut, negative;       /* more digits than w has */
} phi__json_decimal;

/* w * 10^k when that can be told for sure. Infinite and tiny values cannot. */
static bool phi__json_fast(uint64_t w, int k, uint64_t *bits) {
    int shift = phi__json_leading_zeros(w), top;
    phi__json_pow p = phi__json_pow10(k);
    uint64_t low, high, low2, high2, m;
    int64_t exponent;
    w <<= shift;
    high = phi__json_mul(w, p.high, &low);
    if ((high & 0x1ff) == 0x1ff && low + w < w) {
        high2 = phi__json_mul(w, p.low, &low2);
        low += high2;
        if (low < high2) high++;
        if ((high & 0x1ff) == 0x1ff && low + 1 == 0 && low2 + w < w) return false;
    }
    top = (int)(high >> 63);
    m = high >> (top + 9);
    exponent = phi__json_log2_pow10(k) - shift + top + 11 + 1075;
    if (low == 0 && (high & 0x1ff) == 0 && (m & 3) == 1) return false;
    m = (m + (m & 1)) >> 1;
    if (m >> 53 != 0) {
        m >>= 1;
        exponent++;
    }
    if (exponent < 1 || exponent > 2046) return false;
    *bits = (uint64_t)exponent << 52 | (m & ((UINT64_C(1) << 52) - 1));
    return true;
}

#define PHI__JSON_LIMBS 128  /* of 32 bits: 1112 digits and 54 bits, shifted, take 86 */
#define PHI__JSON_DIGITS 772 /* no midpoint of two doubles has more than 767 */

typedef struct phi__json_big {
    uint32_t limb[PHI__JSON_LIMBS]; /* least first */
    unsigned count;
} phi__json_big;

static void phi__json_big_mul(phi__json_big *big, uint32_t by, uint32_t add) {
    uint64_t carry = add;
    unsigned i;
    for (i = 0; i < big->count; i++) {
        carry += (uint64_t)big->limb[i] * by;
        big->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry != 0) {
        PHI_ASSERT(big->count < PHI__JSON_LIMBS);
        big->limb[big->count++] = (uint32_t)carry;
    }
}

static void phi__json_big_pow5(phi__json_big *big, int n) {
    for (; n >= 13; n -= 13) phi__json_big_mul(big, 1220703125u, 0);
    for (; n > 0; n--) phi__json_big_mul(big, 5, 0);
}

static void phi__json_big_shift(phi__json_big *big, unsigned bits) {
    unsigned limbs = bits / 32, i;
    phi__json_big_mul(big, 1u << bits % 32, 0);
    if (limbs == 0 || big->count == 0) return;
    PHI_ASSERT(big->count + limbs <= PHI__JSON_LIMBS);
    memmove(big->limb + limbs, big->limb, big->count * sizeof big->limb[0]);
    for (i = 0; i < limbs; i++) big->limb[i] = 0;
    big->count += limbs;
}

static int phi__json_big_compare(const phi__json_big *a, const phi__json_big *b) {
    unsigned i;
    if (a->count != b->count) return a->count < b->count ? -1 : 1;
    for (i = a->count; i-- > 0;)
        if (a->limb[i] != b->limb[i]) return a->limb[i] < b->limb[i] ? -1 : 1;
    return 0;
}

/* All digits, or the first PHI__JSON_DIGITS and a 1 for the rest. Returns the power of ten. */
static int phi__json_big_digits(phi__json_big *big, const phi__json_decimal *d) {
    const char *at = d->digits;
    int power = d->k, seen = 0;
    bool more = false;
    big->count = 0;
    for (; at < d->end; at++) {
        uint32_t digit = (uint32_t)((unsigned char)*at - '0');
        if (*at == '.' || (seen == 0 && digit == 0)) continue;
        seen++;
        if (seen > 19) power--;
        if (seen <= PHI__JSON_DIGITS)
            phi__json_big_mul(big, 10, digit);
        else {
            more = more || digit != 0;
            power++;
        }
    }
    if (more) {
        phi__json_big_mul(big, 10, 1);
        power--;
    }
    return power;
}

/* Compares the decimal with (2 m + 1) * 2^(e - 1), the middle between two doubles. */
static int phi__json_against_middle(const phi__json_decimal *d, uint64_t m, int e) {
    phi__json_big decimal, middle;
    int power = phi__json_big_digits(&decimal, d), shift = power - (e - 1);
    m = 2 * m + 1;
    middle.limb[0] = (uint32_t)m;
    middle.limb[1] = (uint32_t)(m >> 32);
    middle.count = middle.limb[1] != 0 ? 2 : 1;
    phi__json_big_pow5(power >= 0 ? &decimal : &middle, power >= 0 ? power : -power);
    phi__json_big_shift(shift >= 0 ? &decimal : &middle, (unsigned)(shift >= 0 ? shift : -shift));
    return phi__json_big_compare(&decimal, &middle);
}

/* The double below the value is found by cutting; then the exact comparison rounds. */
static uint64_t phi__json_slow(const phi__json_decimal *d) {
    int shift = phi__json_leading_zeros(d->w), top, order;
    uint64_t low, high = phi__json_mul(d->w << shift, phi__json_pow10(d->k).high, &low), m;
    int exponent;
    top = (int)(high >> 63);
    m = high >> (top + 10);
    exponent = phi__json_log2_pow10(d->k) - shift + top + 11;
    if (exponent > 971) return UINT64_C(0x7ff) << 52;
    if (exponent < -1074) {
        m = -1074 - exponent < 64 ? m >> (-1074 - exponent) : 0;
        exponent = -1074;
    }
    order = phi__json_against_middle(d, m, exponent);
    if (order > 0 || (order == 0 && (m & 1) != 0)) m++;
    if (m >> 53 != 0) {
        m >>= 1;
        exponent++;
    }
    if (m >> 52 == 0) return m;
    if (exponent > 971) return UINT64_C(0x7ff) << 52;
    return (uint64_t)(exponent + 1075) << 52 | (m & ((UINT64_C(1) << 52) - 1));
}

/* The bits of the nearest double; those of an infinity when there is none. */
static uint64_t phi__json_nearest(const phi__json_decimal *d) {
    uint64_t bits, above;
    if (d->w == 0 || d->k < PHI__JSON_POW_LEAST) return 0;
    if (d->k > 308) return UINT64_C(0x7ff) << 52;
    if (phi__json_fast(d->w, d->k, &bits) &&
        (!d->cut || (phi__json_fast(d->w + 1, d->k, &above) && above == bits)))
        return bits;
    return phi__json_slow(d);
}

static inline bool phi__json_digit(const char *at, const char *end) {
    return at < end && (unsigned)((unsigned char)*at - '0') < 10;
}

/* More than 19 digits, or a point or an exponent: takes the decimal from its first digit on. */
static const char *phi__json_decimal_read(const char *at, const char *end, phi__json_decimal *d,
                                          const char **bad) {
    const char *point = NULL;
    int count = 0, k = 0, exponent = 0;
    d->digits = at;
    d->w = 0;
    d->cut = false;
    for (;; at++) {
        if (point == NULL && at < end && *at == '.') {
            point = at;
            if (!phi__json_digit(at + 1, end)) return *bad = at + 1, (const char *)NULL;
            continue;
        }
        if (!phi__json_digit(at, end)) break;
        if (count < 19) {
            d->w = d->w * 10 + (uint64_t)(*at - '0');
            count += d->w != 0;
            k -= point != NULL;
        } else {
            d->cut = d->cut || *at != '0';
            k += point == NULL;
        }
    }
    d->end = at;
    if (at < end && (*at == 'e' || *at == 'E')) {
        bool negative = at + 1 < end && at[1] == '-';
        at += at + 1 < end && (at[1] == '-' || at[1] == '+') ? 2 : 1;
        if (!phi__json_digit(at, end)) return *bad = at, (const char *)NULL;
        for (; phi__json_digit(at, end); at++)
            if (exponent < 100000000) exponent = exponent * 10 + (*at - '0');
        if (negative) exponent = -exponent;
    }
    d->k = k + exponent;
    return at;
}

static const char *phi__json_double_read(const char *start, const char *digits, const char *end,
                                         phi__json_number *out, const char **bad) {
    phi__json_decimal d;
    const char *at = phi__json_decimal_read(digits, end, &d, bad);
    if (at == NULL) return NULL;
    out->kind = PHI__JSON_DOUBLE;
    out->v.u = phi__json_nearest(&d);
    if (out->v.u >> 52 == 0x7ff) return *bad = start, (const char *)NULL;
    if (start != digits) out->v.u |= UINT64_C(1) << 63;
    return at;
}

PHI__FN const char *phi__json_number_read(const char *at, const char *end, phi__json_number *out,
                                          const char **bad) {
    const char *start = at, *digits;
    uint64_t n = 0;
    bool negative = at < end && *at == '-';
    if (negative) at++;
    digits = at;
    if (!phi__json_digit(at, end)) return *bad = at, (const char *)NULL;
    if (*at == '0')
        at++;
    else
        for (; phi__json_digit(at, end) && at - digits < 19; at++)
            n = n * 10 + (uint64_t)(*at - '0');
    if (at - digits == 19 && phi__json_digit(at, end)) { /* a twentieth may still fit */
        unsigned digit = (unsigned)(*at - '0');
        if (n > (UINT64_MAX - digit) / 10 || phi__json_digit(at + 1, end))
            return phi__json_double_read(start, digits, end, out, bad);
        n = n * 10 + digit;
        at++;
    }
    if ((at < end && (*at == '.' || *at == 'e' || *at == 'E')) ||
        (negative && n > (uint64_t)INT64_MAX + 1))
        return phi__json_double_read(start, digits, end, out, bad);
    if (negative && n == 0) {
        out->kind = PHI__JSON_DOUBLE;
        out->v.u = UINT64_C(1) << 63; /* -0.0 */
        return at;
    }
    out->kind = n > (uint64_t)INT64_MAX && !negative ? PHI__JSON_UINT : PHI__JSON_INT;
    out->v.u = negative ? 0 - n : n;
    return at;
}

/* ---- writing ---- */

/* g * c / 2^128, its last bit set when anything was cut off. */
static inline uint64_t phi__json_round_to_odd(phi__json_pow g, uint64_t c) {
    uint64_t low, lowest, high = phi__json_mul(g.high, c, &low);
    uint64_t carry = phi__json_mul(g.low, c, &lowest);
    low += carry;
    high += low < carry;
    return high | (low > 1);
}

/* The shortest, and of those the nearest, digits * 10^*power of a positive double. */
static uint64_t phi__json_shortest(uint64_t bits, int *power) {
    uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1), c = fraction;
    int biased = (int)(bits >> 52 & 0x7ff), q = biased == 0 ? -1074 : biased - 1075, k, h;
    bool closer = fraction == 0 && biased > 1, in, in2;
    uint64_t lower, middle, upper, s, odd;
    phi__json_pow g;
    if (biased != 0) c |= UINT64_C(1) << 52;
    if (biased != 0 && q <= 0 && q > -53 && (c & ((UINT64_C(1) << -q) - 1)) == 0) {
        *power = 0;
        return c >> -q;
    }
    odd = c & 1;
    k = (int)(((int64_t)q * 1262611 - (closer ? 524031 : 0) + ((int64_t)1 << 40)) >> 22) -
        (1 << 18);
    h = q + phi__json_log2_pow10(-k) + 1;
    g = phi__json_pow10(-k);
    if (-k < 0 || -k > 55) { /* the method wants it rounded up */
        g.low++;
        g.high += g.low == 0;
    }
    lower = phi__json_round_to_odd(g, (4 * c - 2 + closer) << h) + odd;
    middle = phi__json_round_to_odd(g, (4 * c) << h);
    upper = phi__json_round_to_odd(g, (4 * c + 2) << h) - odd;
    s = middle / 4;
    if (s >= 10) {
        uint64_t tens = s / 10;
        in = lower <= 40 * tens;
        in2 = 40 * tens + 40 <= upper;
        if (in != in2) {
            *power = k + 1;
            return tens + in2;
        }
    }
    *power = k;
    in = lower <= 4 * s;
    in2 = 4 * s + 4 <= upper;
    if (in != in2) return s + in2;
    return s + (middle > 4 * s + 2 || (middle == 4 * s + 2 && (s & 1) != 0));
}

static const char phi__json_pairs[] = "000102030405060708091011121314151617181920212223242526272829"
                                      "30313233343536373839404142434445464"
                                      "748495051525354555657585960616263646566676869707172737475767"
                                      "77879808182838485868788899091929394"
                                      "9596979899";

/* Writes the digits so that they end at `end`; returns where they start. */
static char *phi__json_digits_before(char *end, uint64_t n) {
    while (n >= 100) {
        unsigned pair = (unsigned)(n % 100) * 2;
        n /= 100;
        *--end = phi__json_pairs[pair + 1];
        *--end = phi__json_pairs[pair];
    }
    if (n >= 10) {
        *--end = phi__json_pairs[n * 2 + 1];
        *--end = phi__json_pairs[n * 2];
    } else
        *--end = (char)('0' + n);
    return end;
}

/* `count` digits with the decimal point `point` digits behind their start. */
static char *phi__json_place(const char *digits, int count, int point, char *to) {
    int i;
    if (point >= count && point <= 16) { /* 1200.0 */
        memcpy(to, digits, (size_t)count);
        for (i = count; i < point; i++) to[i] = '0';
        memcpy(to + point, ".0", 2);
        return to + point + 2;
    }
    if (point > 0 && point <= 16) { /* 12.34 */
        memcpy(to, digits, (size_t)point);
        to[point] = '.';
        memcpy(to + point + 1, digits + point, (size_t)(count - point));
        return to + count + 1;
    }
    if (point > -5 && point <= 0) { /* 0.0012 */
        memcpy(to, "0.0000", 6);
        memcpy(to + 2 - point, digits, (size_t)count);
        return to + 2 - point + count;
    }
    *to++ = digits[0];
    if (count > 1) {
        *to++ = '.';
        memcpy(to, digits + 1, (size_t)(count - 1));
        to += count - 1;
    }
    *to++ = 'e';
    if (point - 1 < 0) *to++ = '-';
    i = point - 1 < 0 ? 1 - point : point - 1;
    if (i >= 100) *to++ = (char)('0' + i / 100);
    if (i >= 10) *to++ = (char)('0' + i / 10 % 10);
    *to++ = (char)('0' + i % 10);
    return to;
}

PHI__FN size_t phi__json_double_text(double d, char *out) {
    char digits[20], *at, *to = out;
    int power;
    uint64_t bits, n;
    memcpy(&bits, &d, sizeof bits);
    if (bits >> 63 != 0) *to++ = '-';
    bits &= UINT64_MAX >> 1;
    if (bits == 0) {
        memcpy(to, "0.0", 3);
        return (size_t)(to + 3 - out);
    }
    n = phi__json_shortest(bits, &power);
    while (n % 10 == 0) {
        n /= 10;
        power++;
    }
    at = phi__json_digits_before(digits + sizeof digits, n);
    power += (int)(digits + sizeof digits - at);
    to = phi__json_place(at, (int)(digits + sizeof digits - at), power, to);
    return (size_t)(to - out);
}

PHI__FN void phi__json_put_u64(phi__buf *buf, uint64_t n) {
    char digits[20], *at = phi__json_digits_before(digits + sizeof digits, n);
    phi__buf_add(buf, at, (size_t)(digits + sizeof digits - at));
}

PHI__FN void phi__json_put_i64(phi__buf *buf, int64_t n) {
    char digits[21], *end = digits + sizeof digits;
    char *at = phi__json_digits_before(end, n < 0 ? 0 - (uint64_t)n : (uint64_t)n);
    if (n < 0) *--at = '-';
    phi__buf_add(buf, at, (size_t)(end - at));
}

PHI__FN void phi__json_put_double(phi__buf *buf, double d) {
    uint64_t bits;
    char *to;
    memcpy(&bits, &d, sizeof bits);
    if ((bits >> 52 & 0x7ff) == 0x7ff) {
        phi__buf_add(buf, "null", 4);
        return;
    }
    to = phi__buf_reserve(buf, 32);
    if (to != NULL) phi__buf_add_len(buf, phi__json_double_text(d, to));
}
#undef PHI__JSON_POW_LEAST
#undef PHI__JSON_POW_MOST
#undef PHI__JSON_POW_FIRST
#undef PHI__JSON_LIMBS
#undef PHI__JSON_DIGITS

/* ---- src/text/json_read.c ---- */

/* json_read.c - text to tree, in slices.

   Unless strings are borrowed, the text is copied into the arena first and the tree points into
   that copy: strings are unescaped where they lie, and their closing quotes become terminators.
   No stack is needed: a container that is open holds its parent in `next`, and joins the parent's
   ring when it closes. */

#include <ctype.h>
#include <stdio.h>

enum phi__json_state {
    PHI__JSON_COPYING,
    PHI__JSON_FIRST_KEY, /* or the closing bracket */
    PHI__JSON_KEY,
    PHI__JSON_COLON,
    PHI__JSON_FIRST_ITEM, /* or the closing bracket */
    PHI__JSON_VALUE,
    PHI__JSON_AFTER, /* a comma or a closing bracket */
    PHI__JSON_END,
    PHI__JSON_TEXT,   /* in a string: looking for its end */
    PHI__JSON_REWRITE /* its end is at quote: unescaping it */
};

#define PHI__JSON_NUMBER_MOST 65536u /* bytes; keeps the work of one step bounded */
#define PHI__JSON_KEY_MOST 0xffffffu
#define PHI__JSON_DEPTH 512u /* by default */

/* ---- errors ---- */

static void phi__json_read_found_words(const phi_json_reader *r, const char *at, char *out,
                                       size_t cap) {
    unsigned char c;
    if (at >= r->end) {
        (void)snprintf(out, cap, "the end of the text");
        return;
    }
    c = (unsigned char)r->text[at - r->base];
    if (c >= 0x20 && c < 0x7f)
        (void)snprintf(out, cap, "'%c'", c);
    else
        (void)snprintf(out, cap, "byte 0x%02x", c);
}

/* "expected <what>, found <what is there>", or only `what` when it says all. */
static const char *phi__json_read_fail(phi_json_reader *r, const char *at, phi_status status,
                                       const char *what, bool expected) {
    char found[32];
    r->status = status;
    r->error.line = r->line;
    r->error.column = (uint32_t)(at - r->line_at) + 1;
    r->error.offset = (size_t)(at - r->base);
    phi__json_read_found_words(r, at, found, sizeof found);
    if (expected)
        (void)snprintf(r->error.message, sizeof r->error.message, "expected %s, found %s", what,
                       found);
    else
        (void)snprintf(r->error.message, sizeof r->error.message, "%s", what);
    return at;
}

static const char *phi__json_read_expected(phi_json_reader *r, const char *at, const char *what) {
    return phi__json_read_fail(r, at, PHI_PARSE, what, true);
}

static const char *phi__json_read_wrong(phi_json_reader *r, const char *at, const char *what) {
    return phi__json_read_fail(r, at, PHI_PARSE, what, false);
}

static const char *phi__json_read_too_big(phi_json_reader *r, const char *at, const char *what) {
    return phi__json_read_fail(r, at, PHI_TOO_BIG, what, false);
}

static const char *phi__json_read_no_memory(phi_json_reader *r, const char *at) {
    return phi__json_read_fail(r, at, PHI_NO_MEMORY, "no memory for the tree", false);
}

/* ---- nodes ---- */

#define PHI__JSON_SLAB 16u /* nodes taken at once, at most */

/* Takes room for some nodes, fewer where little text is left. */
static bool phi__json_read_slab(phi_json_reader *r, const char *at) {
    size_t count = phi__min(1 + (size_t)(r->end - at) / 24, PHI__JSON_SLAB);
    phi_json *slab = (phi_json *)phi_arena_alloc(r->arena, count * sizeof *slab);
    if (slab == NULL) return false;
    r->spare = slab;
    r->spare_end = slab + count;
    return true;
}

/* Gives room back that no node took, if nothing was taken from the arena after it. */
static void phi__json_read_slack(phi_json_reader *r) {
    if (r->spare != r->spare_end && (char *)r->spare_end == r->arena->at)
        r->arena->at = (char *)r->spare;
    r->spare = r->spare_end = NULL;
}

static inline phi_json *phi__json_read_node(phi_json_reader *r, const char *at, uint32_t kind) {
    phi_json *node;
    if (r->spare == r->spare_end && !phi__json_read_slab(r, at)) return NULL;
    node = r->spare++;
    node->next = NULL;
    node->key = r->key;
    node->v.u = 0;
    node->len = 0;
    node->meta = r->key_len << 8 | kind;
    return node;
}

/* A value is complete: into the container that is open, or it was all. */
static inline void phi__json_read_join(phi_json_reader *r, phi_json *node) {
    if (r->open != NULL) {
        phi__json_append(r->open, node);
        r->key = NULL;
        r->key_len = 0;
        r->state = PHI__JSON_AFTER;
    } else {
        r->root = node;
        r->state = PHI__JSON_END;
    }
}

static const char *phi__json_read_open(phi_json_reader *r, const char *at) {
    bool object = *at == '{';
    phi_json *node;
    if (r->depth == r->max_depth)
        return phi__json_read_too_big(r, at, "arrays and objects are nested too deeply");
    node = phi__json_read_node(r, at, object ? PHI__JSON_OBJECT : PHI__JSON_ARRAY);
    if (node == NULL) return phi__json_read_no_memory(r, at);
    node->next = r->open;
    r->open = node;
    r->key = NULL;
    r->key_len = 0;
    r->depth++;
    r->state = object ? PHI__JSON_FIRST_KEY : PHI__JSON_FIRST_ITEM;
    return at + 1;
}

static inline const char *phi__json_read_close(phi_json_reader *r, const char *at) {
    phi_json *node = r->open;
    r->open = node->next;
    node->next = NULL;
    r->depth--;
    phi__json_read_join(r, node);
    return at + 1;
}

/* ---- scalars ---- */

static const char *phi__json_read_misspelt(phi_json_reader *r, const char *at, const char *word) {
    char what[16];
    (void)snprintf(what, sizeof what, "'%s'", word);
    for (; at < r->end && *at == *word; at++) word++;
    return phi__json_read_expected(r, at, what);
}

static inline const char *phi__json_read_scalar(phi_json_reader *r, const char *at, size_t len,
                                                uint32_t kind) {
    phi_json *node = phi__json_read_node(r, at, kind);
    if (node == NULL) return phi__json_read_no_memory(r, at);
    phi__json_read_join(r, node);
    return at + len;
}

static const char *phi__json_read_literal(phi_json_reader *r, const char *at) {
    size_t left = (size_t)(r->end - at);
    if (*at == 'n') {
        if (left < 4 || memcmp(at, "null", 4) != 0) return phi__json_read_misspelt(r, at, "null");
        return phi__json_read_scalar(r, at, 4, PHI__JSON_NULL);
    }
    if (*at == 't') {
        if (left < 4 || memcmp(at, "true", 4) != 0) return phi__json_read_misspelt(r, at, "true");
        return phi__json_read_scalar(r, at, 4, PHI__JSON_TRUE);
    }
    if (left < 5 || memcmp(at, "false", 5) != 0) return phi__json_read_misspelt(r, at, "false");
    return phi__json_read_scalar(r, at, 5, PHI__JSON_FALSE);
}

/* Past all bytes that numbers are made of. */
static const char *phi__json_read_digits(const char *at, const char *limit) {
    while (at < limit && ((*at >= '0' && *at <= '9') || *at == '.' || *at == 'e' || *at == 'E' ||
                          *at == '+' || *at == '-'))
        at++;
    return at;
}

static const char *phi__json_read_number(phi_json_reader *r, const char *at) {
    bool cut = (size_t)(r->end - at) > PHI__JSON_NUMBER_MOST;
    const char *limit = cut ? at + PHI__JSON_NUMBER_MOST : r->end, *bad, *after;
    phi__json_number number;
    phi_json *node;
    after = phi__json_number_read(at, limit, &number, &bad);
    if (cut && (after == limit || (after == NULL && phi__json_read_digits(at, limit) == limit)))
        return phi__json_read_too_big(r, at, "a number of 64 KiB or more");
    if (after == NULL && bad == at)
        return phi__json_read_wrong(r, at, "the number is too large for a double");
    if (after == NULL) return phi__json_read_expected(r, bad, "a digit");
    node = phi__json_read_node(r, at, number.kind);
    if (node == NULL) return phi__json_read_no_memory(r, at);
    node->v = number.v;
    phi__json_read_join(r, node);
    return after;
}

/* ---- strings ---- */

/* A string is complete; `quote` is where it closed. */
static inline const char *phi__json_read_text_done(phi_json_reader *r, const char *string,
                                                   size_t len, const char *quote) {
    phi_json *node;
    if (r->is_key) {
        if (len > PHI__JSON_KEY_MOST)
            return phi__json_read_too_big(r, quote, "a key of more than 16 MiB");
        r->key = string;
        r->key_len = (uint32_t)len;
        r->state = PHI__JSON_COLON;
    } else {
        node = phi__json_read_node(r, quote, PHI__JSON_STRING);
        if (node == NULL) return phi__json_read_no_memory(r, quote);
        node->v.str = string;
        node->len = (uint32_t)len;
        phi__json_read_join(r, node);
    }
    return quote + 1;
}

/* The closing quote was found. */
static inline const char *phi__json_read_text_closed(phi_json_reader *r, const char *quote) {
    size_t len = (size_t)(quote - r->mark);
    const char *from = r->mark;
    if (r->odd == NULL) {
        if (r->copy != NULL) r->copy[quote - r->base] = '\0';
        return phi__json_read_text_done(r, r->mark, len, quote);
    }
    if (r->copy != NULL && r->bad == 0) { /* in place, and only from the first escape on */
        r->string = r->copy + (r->mark - r->base);
        r->to = r->copy + (r->odd - r->base);
        from = r->odd;
    } else { /* a bad byte takes three */
        size_t bytes = phi__add(len + 1, phi__mul(r->bad, 2));
        r->to = bytes == SIZE_MAX ? NULL : phi__arena_bytes(r->arena, bytes);
        if (r->to == NULL) return phi__json_read_no_memory(r, quote);
        r->string = r->to;
    }
    r->quote = quote;
    r->state = PHI__JSON_REWRITE;
    return from;
}

static const char *phi__json_read_rewrite(phi_json_reader *r, const char *at, const char *stop) {
    const char *quote = r->quote;
    at = phi__json_unescape_run(at, quote, (size_t)(stop - at), &r->to);
    if (at < quote) return at;
    *r->to = '\0';
    return phi__json_read_text_done(r, r->string, (size_t)(r->to - r->string), quote);
}

static const char *phi__json_read_text_escape(phi_json_reader *r, const char *at) {
    uint32_t code;
    size_t n = phi__json_escape(at, r->end, &code);
    if (r->odd == NULL) r->odd = at;
    if (n == 0) {
        if (at + 1 < r->end && at[1] == 'u') {
            for (at += 2; at < r->end && isxdigit((unsigned char)*at); at++) continue;
            return phi__json_read_expected(r, at, "four hexadecimal digits");
        }
        return phi__json_read_expected(r, at + 1, "one of \"\\/bfnrtu after the backslash");
    }
    if (n == 6 && code >= 0xd800 && code <= 0xdfff && (r->flags & PHI_JSON_REPLACE_BAD_UTF8) == 0)
        return phi__json_read_wrong(r, at, "half of a surrogate pair");
    return at + n;
}

/* Looks for the end of a string, checking all on the way. */
static const char *phi__json_read_text(phi_json_reader *r, const char *at, const char *stop) {
    while (at < stop) {
        unsigned char c;
        size_t n;
        at = phi__json_plain_end(at, stop);
        if (at == stop) break;
        c = (unsigned char)*at;
        if (c == '"') return phi__json_read_text_closed(r, at);
        if (c < 0x20)
            return phi__json_read_wrong(r, at, "a control character in a string must be escaped");
        if (c == '\\') {
            at = phi__json_read_text_escape(r, at);
            if (r->status != PHI_BUSY) return at;
            continue;
        }
        n = phi__json_utf8(at, r->end);
        if (n == 0) {
            if ((r->flags & PHI_JSON_REPLACE_BAD_UTF8) == 0)
                return phi__json_read_wrong(r, at, "a byte that is not UTF-8");
            if (r->odd == NULL) r->odd = at;
            r->bad++;
            n = 1;
        }
        at += n;
    }
    return at;
}

static inline const char *phi__json_read_text_begin(phi_json_reader *r, const char *at,
                                                    const char *stop, bool is_key) {
    r->mark = at + 1;
    r->is_key = is_key;
    r->odd = NULL;
    r->bad = 0;
    r->state = PHI__JSON_TEXT;
    at = phi__json_plain_short(at + 1, stop);
    if (at < stop && *at == '"') return phi__json_read_text_closed(r, at);
    return phi__json_read_text(r, at, stop);
}

/* ---- the machine ---- */

static const char *phi__json_read_begin(phi_json_reader *r, const char *at, const char *stop) {
    switch (*at) {
    case '"': return phi__json_read_text_begin(r, at, stop, false);
    case '{':
    case '[': return phi__json_read_open(r, at);
    case 't':
    case 'f':
    case 'n': return phi__json_read_literal(r, at);
    case '-':
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9': return phi__json_read_number(r, at);
    default:
        return phi__json_read_expected(
            r, at, r->state == PHI__JSON_FIRST_ITEM ? "a value or ']'" : "a value");
    }
}

static inline const char *phi__json_read_after(phi_json_reader *r, const char *at) {
    bool object = phi__json_kind_of(r->open) == PHI__JSON_OBJECT;
    if (*at == ',') {
        r->state = object ? PHI__JSON_KEY : PHI__JSON_VALUE;
        return at + 1;
    }
    if (*at == (object ? '}' : ']')) return phi__json_read_close(r, at);
    return phi__json_read_expected(r, at, object ? "',' or '}'" : "',' or ']'");
}

static inline const char *phi__json_read_white(phi_json_reader *r, const char *at,
                                               const char *stop) {
    for (; at < stop && (unsigned char)*at <= ' '; at++) {
        if (*at == '\n') {
            r->line++;
            r->line_at = at + 1;
        } else if (*at != ' ' && *at != '\t' && *at != '\r')
            break;
    }
    return at;
}

static inline const char *phi__json_read_key(phi_json_reader *r, const char *at, const char *stop) {
    if (*at == '"') {
        at = phi__json_read_text_begin(r, at, stop, true);
        if (r->state != PHI__JSON_COLON || at >= stop || *at != ':') return at;
        r->state = PHI__JSON_VALUE;
        return at + 1;
    }
    if (r->state == PHI__JSON_KEY) return phi__json_read_expected(r, at, "a key in quotes");
    if (*at == '}') return phi__json_read_close(r, at);
    return phi__json_read_expected(r, at, "a key in quotes or '}'");
}

static inline const char *phi__json_read_value(phi_json_reader *r, const char *at,
                                               const char *stop) {
    if (*at == ']' && r->state == PHI__JSON_FIRST_ITEM) return phi__json_read_close(r, at);
    at = phi__json_read_begin(r, at, stop);
    if (r->state != PHI__JSON_AFTER || at >= stop || *at != ',') return at;
    return phi__json_read_after(r, at);
}

/* Tokens and pieces of them, up to `stop` or an error. */
static const char *phi__json_read_tokens(phi_json_reader *r, const char *at, const char *stop) {
    while (at < stop && r->status == PHI_BUSY) {
        if ((unsigned char)*at <= ' ' && r->state < PHI__JSON_TEXT) {
            at = phi__json_read_white(r, at, stop);
            if (at == stop) break;
        }
        switch (r->state) {
        case PHI__JSON_FIRST_KEY:
        case PHI__JSON_KEY: at = phi__json_read_key(r, at, stop); break;
        case PHI__JSON_COLON:
            if (*at != ':') return phi__json_read_expected(r, at, "':'");
            r->state = PHI__JSON_VALUE;
            at++;
            break;
        case PHI__JSON_FIRST_ITEM:
        case PHI__JSON_VALUE: at = phi__json_read_value(r, at, stop); break;
        case PHI__JSON_AFTER: at = phi__json_read_after(r, at); break;
        case PHI__JSON_END: return phi__json_read_expected(r, at, "the end of the text");
        default: return at;
        }
    }
    return at;
}

static void phi__json_read_cut(phi_json_reader *r) {
    switch (r->state) {
    case PHI__JSON_END: r->status = PHI_OK; return;
    case PHI__JSON_FIRST_KEY:
        (void)phi__json_read_expected(r, r->end, "a key in quotes or '}'");
        return;
    case PHI__JSON_KEY: (void)phi__json_read_expected(r, r->end, "a key in quotes"); return;
    case PHI__JSON_COLON: (void)phi__json_read_expected(r, r->end, "':'"); return;
    case PHI__JSON_FIRST_ITEM: (void)phi__json_read_expected(r, r->end, "a value or ']'"); return;
    case PHI__JSON_TEXT:
        (void)phi__json_read_expected(r, r->end, "the closing '\"' of a string");
        return;
    case PHI__JSON_AFTER:
        (void)phi__json_read_expected(
            r, r->end,
            phi__json_kind_of(r->open) == PHI__JSON_OBJECT ? "',' or '}'" : "',' or ']'");
        return;
    default: (void)phi__json_read_expected(r, r->end, "a value"); return;
    }
}

/* Copies another slice of the text; at the end the reading of the copy begins. */
static void phi__json_read_copying(phi_json_reader *r, size_t units) {
    size_t done = (size_t)(r->at - r->text), n = phi__min(units, r->len - done);
    if (r->copy == NULL) {
        r->copy = phi__arena_bytes(r->arena, r->len + 1);
        if (r->copy == NULL) {
            (void)phi__json_read_no_memory(r, r->text);
            return;
        }
    }
    memcpy(r->copy + done, r->text + done, n);
    r->at += n;
    if (done + n < r->len) return;
    r->copy[r->len] = '\0';
    r->base = r->at = r->line_at = r->copy;
    r->end = r->copy + r->len;
    r->state = PHI__JSON_VALUE;
}

/* ---- public ---- */

PHI_API void phi_json_reader_begin(phi_json_reader *r, phi_arena *arena, phi_str text,
                                   uint32_t flags, uint32_t max_depth) {
    if (text.at == NULL) text = phi__str("", 0);
    r->arena = arena;
    r->copy = r->string = r->to = NULL; /* one by one: a memset costs more than half of these */
    r->mark = r->odd = r->quote = r->key = NULL;
    r->root = r->open = r->spare = r->spare_end = NULL;
    r->key_len = r->bad = r->depth = 0;
    r->is_key = false;
    r->error.line = r->error.column = 0;
    r->error.offset = 0;
    r->error.message[0] = '\0';
    r->text = r->base = r->at = r->line_at = text.at;
    r->len = text.len;
    r->end = r->text + text.len;
    r->line = 1;
    r->flags = flags;
    r->max_depth =
        max_depth == 0 ? PHI__JSON_DEPTH : (uint32_t)phi__min(max_depth, PHI_JSON_MAX_DEPTH);
    r->state = (flags & PHI_JSON_BORROW) != 0 ? PHI__JSON_VALUE : PHI__JSON_COPYING;
    r->status = PHI_BUSY;
    if (text.len >= UINT32_MAX)
        (void)phi__json_read_too_big(r, r->text, "a text of 4 GiB or more");
    else if (text.len >= 3 && memcmp(text.at, "\xEF\xBB\xBF", 3) == 0)
        (void)phi__json_read_wrong(r, r->text, "a byte order mark is not JSON");
}

PHI_API phi_status phi_json_reader_advance(phi_json_reader *r, size_t units) {
    const char *at, *stop;
    if (r->status != PHI_BUSY) return r->status;
    if (units == 0) units = 1;
    if (r->state == PHI__JSON_COPYING) {
        phi__json_read_copying(r, units);
        if (r->state == PHI__JSON_COPYING || units < r->len) return r->status;
    }
    at = r->at;
    stop = (size_t)(r->end - at) > units ? at + units : r->end;
    while (r->status == PHI_BUSY && at < stop) {
        if (r->state == PHI__JSON_TEXT)
            at = phi__json_read_text(r, at, stop);
        else if (r->state == PHI__JSON_REWRITE)
            at = phi__json_read_rewrite(r, at, stop);
        else
            at = phi__json_read_tokens(r, at, stop);
        if (r->state == PHI__JSON_REWRITE && at < stop && (size_t)(stop - at) > units)
            stop = at + units; /* it went back, to the first escape */
    }
    r->at = at;
    if (r->status == PHI_BUSY && at == r->end) phi__json_read_cut(r);
    if (r->status != PHI_BUSY) phi__json_read_slack(r);
    return r->status;
}

PHI_API phi_status phi_json_reader_result(const phi_json_reader *r, phi_json **out,
                                          phi_parse_error *error) {
    if (out != NULL) *out = r->status == PHI_OK ? r->root : NULL;
    if (error != NULL) *error = r->error;
    return r->status;
}

PHI_API phi_status phi_json_parse(phi_arena *arena, phi_str text, uint32_t flags, phi_json **out,
                                  phi_parse_error *error) {
    phi_json_reader reader;
    phi_arena_mark mark;
    phi_status status;
    if (arena == NULL || out == NULL) return PHI_BAD_ARG;
    mark = phi_arena_save(arena);
    phi_json_reader_begin(&reader, arena, text, flags, 0);
    while ((status = phi_json_reader_advance(&reader, SIZE_MAX)) == PHI_BUSY) continue;
    (void)phi_json_reader_result(&reader, out, error);
    if (status != PHI_OK) phi_arena_reset(arena, mark);
    return status;
}
#undef PHI__JSON_NUMBER_MOST
#undef PHI__JSON_KEY_MOST
#undef PHI__JSON_DEPTH
#undef PHI__JSON_SLAB

/* ---- src/text/json_text.c ---- */

/* json_text.c - what readers of JSON strings share: finding the end, UTF-8, escapes. */

PHI__FN const char *phi__json_plain_end(const char *at, const char *end) {
#if defined(__SSE2__)
    for (; end - at >= 16; at += 16) {
        int mask = phi__json_special(_mm_loadu_si128((const __m128i *)(const void *)at));
        if (mask != 0) return at + __builtin_ctz((unsigned)mask);
    }
#endif
    while (end - at >= 8 && !phi__json_special_word(at)) at += 8;
    while (at < end && phi__json_is_plain(*at)) at++;
    return at;
}

/* The first quote or backslash. */
static const char *phi__json_quote_or_escape(const char *at, const char *end) {
#if defined(__SSE2__)
    const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\');
    for (; end - at >= 16; at += 16) {
        __m128i block = _mm_loadu_si128((const __m128i *)(const void *)at);
        int mask = _mm_movemask_epi8(
            _mm_or_si128(_mm_cmpeq_epi8(block, quote), _mm_cmpeq_epi8(block, backslash)));
        if (mask != 0) return at + __builtin_ctz((unsigned)mask);
    }
#endif
    for (; end - at >= 8; at += 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        if ((phi__json_zero_bytes(word ^ PHI__JSON_ONES * '"') |
             phi__json_zero_bytes(word ^ PHI__JSON_ONES * '\\')) != 0)
            break;
    }
    while (at < end && *at != '"' && *at != '\\') at++;
    return at;
}

PHI__FN const char *phi__json_quote(const char *at, const char *end, bool *escaped) {
    *escaped = false;
    for (;;) {
        at = phi__json_quote_or_escape(at, end);
        if (at == end) return NULL;
        if (*at == '"') return at;
        *escaped = true;
        if (end - at < 2) return NULL;
        at += 2;
    }
}

PHI__FN size_t phi__json_utf8(const char *at, const char *end) {
    const unsigned char *p = (const unsigned char *)at;
    unsigned char low = 0x80, high = 0xbf;
    size_t n, left = (size_t)(end - at);
    if (p[0] < 0x80) return 1;
    if (p[0] < 0xc2 || p[0] > 0xf4) return 0;
    n = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
    if (n > left) return 0;
    if (p[0] == 0xe0) low = 0xa0;
    if (p[0] == 0xed) high = 0x9f;
    if (p[0] == 0xf0) low = 0x90;
    if (p[0] == 0xf4) high = 0x8f;
    if (p[1] < low || p[1] > high) return 0;
    if (n > 2 && (p[2] & 0xc0) != 0x80) return 0;
    if (n > 3 && (p[3] & 0xc0) != 0x80) return 0;
    return n;
}

static int phi__json_hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/* The code unit of \uXXXX at a backslash, or -1. */
static int32_t phi__json_unit(const char *at, const char *end) {
    int32_t unit = 0;
    int i;
    if (end - at < 6 || at[0] != '\\' || at[1] != 'u') return -1;
    for (i = 2; i < 6; i++) {
        int digit = phi__json_hex_digit(at[i]);
        if (digit < 0) return -1;
        unit = unit * 16 + digit;
    }
    return unit;
}

/* What the letter of an escape stands for; 0: it is none of those. */
static const char phi__json_stands_for[128] = "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
                                              "\0\0\0\0\0\0\0\0\"\0\0\0\0\0\0\0\0\0\0\0\0/"
                                              "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
                                              "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\\\0\0\0"
                                              "\0\0\b\0\0\0\f\0\0\0\0\0\0\0\n\0\0\0\r\0\t";

/* That of the escape at a backslash, or 0. */
static inline char phi__json_short_escape(const char *at, const char *end) {
    return end - at >= 2 && (unsigned char)at[1] < 0x80 ? phi__json_stands_for[(unsigned char)at[1]]
                                                        : '\0';
}

PHI__FN size_t phi__json_escape(const char *at, const char *end, uint32_t *code) {
    char letter = phi__json_short_escape(at, end);
    int32_t unit, low;
    if (letter != '\0') {
        *code = (unsigned char)letter;
        return 2;
    }
    unit = phi__json_unit(at, end);
    if (unit < 0) return 0;
    *code = (uint32_t)unit;
    if (unit < 0xd800 || unit > 0xdbff) return 6;
    low = phi__json_unit(at + 6, end);
    if (low < 0xdc00 || low > 0xdfff) return 6;
    *code = 0x10000u + (((uint32_t)unit - 0xd800u) << 10) + ((uint32_t)low - 0xdc00u);
    return 12;
}

/* An escape, a sequence, or a byte that is bad. */
static const char *phi__json_unescape_one(const char *at, const char *end, char **to) {
    size_t n;
    if (*at == '\\') {
        uint32_t code = 0xfffd;
        n = phi__json_escape(at, end, &code);
        if (n == 0) n = end - at < 2 || (unsigned char)at[1] >= 0x80 ? 1 : 2;
        *to += phi__utf8_put(*to, code);
        return at + n;
    }
    n = phi__json_utf8(at, end);
    if (n == 0) {
        *to += phi__utf8_put(*to, 0xfffd);
        return at + 1;
    }
    memmove(*to, at, n);
    *to += n;
    return at + n;
}

PHI__FN const char *phi__json_unescape_run(const char *at, const char *end, size_t most,
                                           char **to) {
    const char *stop = (size_t)(end - at) > most ? at + most : end;
    while (at < stop) {
        const char *plain = phi__json_plain_short(at, stop);
        char letter;
        if (plain != at) memmove(*to, at, (size_t)(plain - at));
        *to += plain - at;
        at = plain;
        if (at == stop) break;
        letter = *at == '\\' ? phi__json_short_escape(at, end) : '\0';
        if (letter != '\0') {
            *(*to)++ = letter;
            at += 2;
        } else
            at = phi__json_unescape_one(at, end, to);
    }
    return at;
}

/* ---- src/text/json_write.c ---- */

/* json_write.c - tree to text in slices, and writing without a tree. */


/* ---- strings ---- */

/* What follows the backslash: a letter, or u; 0: nothing is escaped. */
static const char phi__json_letter[128] =
    "uuuuuuuubtnufruuuuuuuuuuuuuuuuuu\0\0\"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
    "\0"
    "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\\";

static char *phi__json_put_unit(char *to, uint32_t unit) {
    static const char hex[] = "0123456789abcdef";
    *to++ = '\\';
    *to++ = 'u';
    *to++ = hex[unit >> 12 & 15];
    *to++ = hex[unit >> 8 & 15];
    *to++ = hex[unit >> 4 & 15];
    *to++ = hex[unit & 15];
    return to;
}

static uint32_t phi__json_decode(const char *at, size_t n) {
    const unsigned char *p = (const unsigned char *)at;
    if (n == 2) return (p[0] & 0x1fu) << 6 | (p[1] & 0x3fu);
    if (n == 3) return (p[0] & 0x0fu) << 12 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu);
    return (p[0] & 0x07u) << 18 | (p[1] & 0x3fu) << 12 | (p[2] & 0x3fu) << 6 | (p[3] & 0x3fu);
}

/* What is not plain: at most 12 bytes for one character. */
static const char *phi__json_put_special(const char *at, const char *end, bool ascii, char **to) {
    unsigned char c = (unsigned char)*at;
    size_t n;
    uint32_t code = 0xfffd;
    if (c < 0x80) {
        char letter = phi__json_letter[c];
        if (letter == 'u') {
            *to = phi__json_put_unit(*to, c);
            return at + 1;
        }
        *(*to)++ = '\\';
        *(*to)++ = letter;
        return at + 1;
    }
    n = phi__json_utf8(at, end);
    if (n != 0 && !ascii) {
        memcpy(*to, at, n);
        *to += n;
        return at + n;
    }
    if (n != 0) code = phi__json_decode(at, n);
    if (!ascii)
        *to += phi__utf8_put(*to, code);
    else if (code < 0x10000)
        *to = phi__json_put_unit(*to, code);
    else {
        *to = phi__json_put_unit(*to, 0xd800 + ((code - 0x10000) >> 10));
        *to = phi__json_put_unit(*to, 0xdc00 + (code & 0x3ff));
    }
    return at + (n == 0 ? 1 : n);
}

#define PHI__JSON_ESCAPE_SLICE 256u /* bytes of text; room is made for what they may become */
#define PHI__JSON_OVER 16u          /* bytes that may be written past what counts */

/* Copies bytes as long as they are plain; may write up to PHI__JSON_OVER bytes too many. */
static inline const char *phi__json_copy_plain(const char *at, const char *end, char **to) {
    char *out = *to;
#if defined(__SSE2__)
    while (end - at >= 16) {
        __m128i block = _mm_loadu_si128((const __m128i *)(const void *)at);
        int mask = phi__json_special(block);
        _mm_storeu_si128((__m128i *)(void *)out, block);
        if (mask != 0) {
            *to = out + __builtin_ctz((unsigned)mask);
            return at + __builtin_ctz((unsigned)mask);
        }
        at += 16;
        out += 16;
    }
#endif
    while (end - at >= 8 && !phi__json_special_word(at)) {
        memcpy(out, at, 8);
        at += 8;
        out += 8;
    }
    while (at < end && phi__json_is_plain(*at)) *out++ = *at++;
    *to = out;
    return at;
}

/* Escapes about `most` bytes of [at, end), at least one character; returns where it stopped. */
static const char *phi__json_put_run(phi__buf *buf, const char *at, const char *end, size_t most,
                                     bool ascii) {
    const char *stop = (size_t)(end - at) > most ? at + most : end;
    while (at < stop) {
        size_t n = phi__min((size_t)(stop - at), PHI__JSON_ESCAPE_SLICE);
        const char *slice = at + n;
        char *start = phi__buf_reserve(buf, 6 * n + 12 + PHI__JSON_OVER), *to = start;
        if (to == NULL) return end;
        while (at < slice) {
            at = phi__json_copy_plain(at, slice, &to);
            if (at < slice) at = phi__json_put_special(at, end, ascii, &to);
        }
        phi__buf_add_len(buf, (size_t)(to - start));
    }
    return at;
}

PHI__FN void phi__json_put_part(phi__buf *buf, phi_str text) {
    if (text.len > 0) (void)phi__json_put_run(buf, text.at, text.at + text.len, text.len, false);
}

PHI__FN void phi__json_put_str(phi__buf *buf, phi_str text) {
    phi__buf_char(buf, '"');
    phi__json_put_part(buf, text);
    phi__buf_char(buf, '"');
}

PHI__FN void phi__json_put_bool(phi__buf *buf, bool b) {
    phi__buf_add(buf, b ? "true" : "false", b ? 4 : 5);
}

PHI__FN void phi__json_put_comma(phi__buf *buf) {
    char last = buf->len > 0 ? buf->at[buf->len - 1] : '{';
    if (last != '{' && last != '[' && last != ':' && last != ',') phi__buf_char(buf, ',');
}

PHI__FN void phi__json_put_key(phi__buf *buf, phi_str key) {
    phi__json_put_comma(buf);
    phi__json_put_str(buf, key);
    phi__buf_char(buf, ':');
}

/* ---- trees ---- */

/* A new line, as deep as the writer is. */
static void phi__json_put_line(phi__json_writer *w) {
    size_t n = 2 * w->depth;
    char *to;
    if ((w->flags & PHI_JSON_PRETTY) == 0) return;
    to = phi__buf_reserve(w->out, n + 1);
    if (to == NULL) return;
    to[0] = '\n';
    memset(to + 1, ' ', n);
    phi__buf_add_len(w->out, n + 1);
}

static void phi__json_put_begin(phi__json_writer *w, phi_str text, bool is_key) {
    phi__buf_char(w->out, '"');
    w->rest = text;
    w->in_string = true;
    w->in_key = is_key;
}

/* To `child`, which its container (on top of the stack) holds. */
static void phi__json_put_child(phi__json_writer *w, const phi_json *child) {
    phi__json_put_line(w);
    w->node = child;
    if (phi__json_kind_of(w->stack[w->depth - 1]) == PHI__JSON_OBJECT)
        phi__json_put_begin(w, phi__str(child->key, phi__json_key_len(child)), true);
}

/* `node` is written: on to its next sibling, or its container ends with it. */
static void phi__json_put_next(phi__json_writer *w) {
    const phi_json *container;
    w->written = false;
    if (w->depth == 0) {
        w->node = NULL;
        return;
    }
    container = w->stack[w->depth - 1];
    if (container->v.last != w->node) {
        phi__buf_char(w->out, ',');
        phi__json_put_child(w, w->node->next);
        return;
    }
    w->depth--;
    w->node = container;
    w->written = true;
    phi__json_put_line(w);
    phi__buf_char(w->out, phi__json_kind_of(container) == PHI__JSON_OBJECT ? '}' : ']');
}

static bool phi__json_push(phi__json_writer *w, const phi_json *container) {
    if (w->depth == PHI_JSON_MAX_DEPTH) {
        w->status = PHI_TOO_BIG;
        return false;
    }
    if (w->depth == w->cap) { /* the inline room first, then twice as much each time */
        size_t cap = w->stack == w->few ? 0 : w->cap;
        const phi_json **stack = (const phi_json **)phi__grow(
            w->out->memory, w->stack == w->few ? NULL : (void *)w->stack, &cap, w->cap * 2,
            sizeof *stack);
        if (stack == NULL) {
            w->status = PHI_NO_MEMORY;
            return false;
        }
        if (w->stack == w->few) memcpy(stack, w->few, sizeof w->few);
        w->stack = stack;
        w->cap = cap;
    }
    w->stack[w->depth++] = container;
    return true;
}

static void phi__json_put_open(phi__json_writer *w, const phi_json *node) {
    bool object = phi__json_kind_of(node) == PHI__JSON_OBJECT;
    if (node->len == 0) {
        phi__buf_add(w->out, object ? "{}" : "[]", 2);
        w->written = true;
        return;
    }
    if (!phi__json_push(w, node)) return;
    phi__buf_char(w->out, object ? '{' : '[');
    phi__json_put_child(w, node->v.last->next);
}

static void phi__json_put_node(phi__json_writer *w) {
    const phi_json *node = w->node;
    switch (phi__json_kind_of(node)) {
    case PHI__JSON_FALSE:
    case PHI__JSON_TRUE:
        phi__json_put_bool(w->out, phi__json_kind_of(node) == PHI__JSON_TRUE);
        break;
    case PHI__JSON_INT: phi__json_put_i64(w->out, node->v.i); break;
    case PHI__JSON_UINT: phi__json_put_u64(w->out, node->v.u); break;
    case PHI__JSON_DOUBLE: phi__json_put_double(w->out, node->v.d); break;
    case PHI__JSON_STRING: phi__json_put_begin(w, phi__str(node->v.str, node->len), false); return;
    case PHI__JSON_ARRAY:
    case PHI__JSON_OBJECT: phi__json_put_open(w, node); return;
    default: phi__buf_add(w->out, "null", 4); break;
    }
    w->written = true;
}

/* Another piece of the string under way, of about `units` bytes. */
static void phi__json_put_rest(phi__json_writer *w, size_t units) {
    const char *end = w->rest.at + w->rest.len, *at = w->rest.at;
    if (w->rest.len > 0)
        at = phi__json_put_run(w->out, at, end, units, (w->flags & PHI_JSON_ASCII) != 0);
    w->rest = phi__str(at, (size_t)(end - at));
    if (w->rest.len > 0) return;
    w->in_string = false;
    phi__buf_char(w->out, '"');
    if (!w->in_key) {
        w->written = true;
        return;
    }
    w->in_key = false;
    phi__buf_char(w->out, ':');
    if ((w->flags & PHI_JSON_PRETTY) != 0) phi__buf_char(w->out, ' ');
}

PHI__FN void phi__json_writer_begin(phi__json_writer *w, phi__buf *out, const phi_json *node,
                                    uint32_t flags) {
    memset(w, 0, sizeof *w);
    w->out = out;
    w->node = node;
    w->stack = w->few;
    w->cap = PHI__JSON_STACK;
    w->flags = flags;
    w->status = PHI_BUSY;
    if (node == NULL) phi__buf_add(out, "null", 4);
}

PHI__FN phi_status phi__json_writer_advance(phi__json_writer *w, size_t units) {
    size_t from = w->out->len, done = 0;
    if (units == 0) units = 1;
    while (w->status == PHI_BUSY) {
        if (w->out->failed)
            w->status = PHI_NO_MEMORY;
        else if (w->in_string)
            phi__json_put_rest(w, units - done);
        else if (w->written)
            phi__json_put_next(w);
        else if (w->node == NULL)
            w->status = PHI_OK;
        else
            phi__json_put_node(w);
        done = w->out->len - from;
        if (done >= units && w->status == PHI_BUSY) break;
    }
    return w->status;
}

PHI__FN void phi__json_writer_end(phi__json_writer *w) {
    if (w->stack != w->few) phi__free(w->out->memory, (void *)w->stack, w->cap * sizeof *w->stack);
    w->stack = w->few;
    w->cap = PHI__JSON_STACK;
    w->depth = 0;
    w->node = NULL;
}

PHI__FN phi_status phi__json_write(phi__buf *buf, const phi_json *node, uint32_t flags) {
    phi__json_writer w;
    phi_status status;
    phi__json_writer_begin(&w, buf, node, flags);
    while ((status = phi__json_writer_advance(&w, SIZE_MAX)) == PHI_BUSY) continue;
    phi__json_writer_end(&w);
    return status;
}

/* ---- public ---- */

PHI_API phi_status phi_json_write(phi_arena *arena, const phi_json *node, uint32_t flags,
                                  phi_str *out) {
    phi__buf buf;
    phi_status status;
    if (arena == NULL || out == NULL) return PHI_BAD_ARG;
    phi__buf_init(&buf, arena->memory);
    status = phi__json_write(&buf, node, flags);
    if (status == PHI_OK && !phi__arena_str(arena, phi__buf_str(&buf), out)) status = PHI_NO_MEMORY;
    phi__buf_free(&buf);
    return status;
}
#undef PHI__JSON_ESCAPE_SLICE
#undef PHI__JSON_OVER

/* ---- src/text/schema.c ---- */

/* schema.c - JSON Schema, as far as tool arguments need it. */


#define PHI__SCHEMA_DEPTH 256u     /* schemas within schemas, references followed */
#define PHI__SCHEMA_WORK 16000000u /* members looked at; some tenths of a second */

typedef struct phi__schema {
    const phi_json *root;
    phi_schema_error *error; /* NULL: no words wanted */
    size_t len;              /* of the message */
    char place[128];         /* arguments.list[2].name, cut where it is longer */
    size_t place_len;
    uint32_t depth, quiet, work;
    phi_status status; /* of what is no matter of fit */
} phi__schema;

/* ---- words ---- */

static void phi__schema_put(phi__schema *c, phi_str text) {
    size_t room;
    if (c->error == NULL) return;
    room = sizeof c->error->message - 1 - c->len;
    if (text.len > room) text.len = phi__utf8_cut(text, room);
    if (text.len > 0) memcpy(c->error->message + c->len, text.at, text.len);
    c->len += text.len;
    c->error->message[c->len] = '\0';
}

static void phi__schema_text(phi__schema *c, const char *text) {
    phi__schema_put(c, phi_str_of(text));
}

/* Begins a message; false: nobody wants one now. */
static bool phi__schema_say(phi__schema *c, const char *text) {
    if (c->quiet > 0 || c->status != PHI_OK || c->error == NULL) return false;
    c->len = 0;
    phi__schema_put(c, phi__str(c->place, c->place_len));
    phi__schema_text(c, ": ");
    phi__schema_text(c, text);
    return true;
}

#define PHI__SCHEMA_QUOTE 60u /* bytes of a string that a message shows */

static void phi__schema_quote(phi__schema *c, phi_str text) {
    phi__schema_text(c, "\"");
    phi__schema_put(c, phi__str(text.at, phi__utf8_cut(text, PHI__SCHEMA_QUOTE)));
    phi__schema_text(c, text.len > PHI__SCHEMA_QUOTE ? "...\"" : "\"");
}

static void phi__schema_number(phi__schema *c, const phi_json *node) {
    char digits[32];
    phi__buf buf;
    memset(&buf, 0, sizeof buf); /* room enough, so that it never looks for memory */
    buf.at = digits;
    buf.cap = sizeof digits;
    if (phi__json_kind_of(node) == PHI__JSON_INT)
        phi__json_put_i64(&buf, node->v.i);
    else if (phi__json_kind_of(node) == PHI__JSON_UINT)
        phi__json_put_u64(&buf, node->v.u);
    else
        phi__json_put_double(&buf, node->v.d);
    phi__schema_put(c, phi__buf_str(&buf));
}

static void phi__schema_value(phi__schema *c, const phi_json *node) {
    switch (phi_json_type_of(node)) {
    case PHI_JSON_STRING: phi__schema_quote(c, phi_json_str(node, NULL)); break;
    case PHI_JSON_NUMBER: phi__schema_number(c, node); break;
    case PHI_JSON_BOOL: phi__schema_text(c, phi_json_bool(node, false) ? "true" : "false"); break;
    case PHI_JSON_NULL: phi__schema_text(c, "null"); break;
    case PHI_JSON_ARRAY: phi__schema_text(c, "an array"); break;
    default: phi__schema_text(c, "an object"); break;
    }
}

/* "a, b or c", or "a, b, c" */
static void phi__schema_list(phi__schema *c, const phi_json *list, bool quoted) {
    phi_json_iter it = phi_json_each(list);
    bool first = true;
    while (phi_json_next(&it) != NULL) {
        if (!first) phi__schema_text(c, quoted || it.left > 0 ? ", " : " or ");
        first = false;
        if (quoted)
            phi__schema_value(c, it.at);
        else
            phi__schema_put(c, phi_json_str(it.at, "?"));
    }
}

static size_t phi__schema_into(phi__schema *c, const char *before, phi_str name,
                               const char *after) {
    size_t was = c->place_len, room, i;
    phi_str part[3];
    part[0] = phi_str_of(before);
    part[1] = name;
    part[2] = phi_str_of(after);
    for (i = 0; i < 3; i++) {
        room = sizeof c->place - c->place_len;
        if (part[i].len > room) part[i].len = phi__utf8_cut(part[i], room);
        if (part[i].len > 0) memcpy(c->place + c->place_len, part[i].at, part[i].len);
        c->place_len += part[i].len;
    }
    return was;
}

static size_t phi__schema_into_item(phi__schema *c, size_t index) {
    char digits[24], *at = digits + sizeof digits;
    do {
        *--at = (char)('0' + index % 10);
        index /= 10;
    } while (index > 0);
    return phi__schema_into(c, "[", phi__str(at, (size_t)(digits + sizeof digits - at)), "]");
}

/* ---- bounds ---- */

static bool phi__schema_spend(phi__schema *c, size_t work) {
    if (c->status != PHI_OK) return false;
    if (work <= PHI__SCHEMA_WORK && c->work <= PHI__SCHEMA_WORK - work) {
        c->work += (uint32_t)work;
        return true;
    }
    c->quiet = 0;
    (void)phi__schema_say(c, "checking this takes too much work");
    c->status = PHI_TOO_BIG;
    return false;
}

static bool phi__schema_enter(phi__schema *c, const phi_json *schema) {
    if (!phi__schema_spend(c, 1 + phi_json_count(schema))) return false;
    if (c->depth == PHI__SCHEMA_DEPTH) {
        c->quiet = 0;
        (void)phi__schema_say(c, "nested too deeply to be checked");
        c->status = PHI_TOO_BIG;
        return false;
    }
    c->depth++;
    return true;
}

/* ---- references ---- */

/* Compares a key with a step of a JSON pointer, in which ~1 is a slash and ~0 a tilde. */
static bool phi__schema_same_step(phi_str key, phi_str step) {
    size_t k = 0, s = 0;
    while (k < key.len && s < step.len) {
        char want = step.at[s++];
        if (want == '~' && s < step.len) want = step.at[s++] == '1' ? '/' : '~';
        if (key.at[k++] != want) return false;
    }
    return k == key.len && s == step.len;
}

static const phi_json *phi__schema_step(phi__schema *c, const phi_json *from, phi_str step) {
    const phi_json *found = NULL;
    phi_json_iter it = phi_json_each(from);
    uint64_t index;
    if (!phi__schema_spend(c, 1 + it.left)) return NULL;
    if (phi_json_is_array(from))
        return phi__str_to_u64(step, &index) && index < it.left ? phi_json_at(from, (size_t)index)
                                                                : NULL;
    while (phi_json_next(&it) != NULL)
        if (phi__schema_same_step(it.key, step)) found = it.at;
    return found;
}

/* What "#" or "#/a/b" names in this schema; NULL: nothing, or it is elsewhere. */
static const phi_json *phi__schema_target(phi__schema *c, phi_str ref) {
    const phi_json *at = c->root;
    if (ref.len == 0 || ref.at[0] != '#') return NULL;
    ref = phi__str(ref.at + 1, ref.len - 1);
    while (ref.len > 0 && at != NULL) {
        size_t end = phi__str_find(ref, 1, "/");
        if (ref.at[0] != '/') return NULL;
        if (end == SIZE_MAX) end = ref.len;
        at = phi__schema_step(c, at, phi__str(ref.at + 1, end - 1));
        ref = phi__str(ref.at + end, ref.len - end);
    }
    return at;
}

/* ---- the check ---- */

static bool phi__schema_fits(phi__schema *c, const phi_json *schema, const phi_json *value);

static bool phi__schema_is(const phi_json *value, phi_str type) {
    if (phi__str_is(type, "integer")) return phi_json_is_integer(value);
    return phi__str_is(type, phi_json_type_name(value));
}

static bool phi__schema_type(phi__schema *c, const phi_json *schema, const phi_json *value) {
    const phi_json *type = phi_json_get(schema, "type");
    phi_json_iter it = phi_json_each(type);
    if (phi_json_is_null(value) && phi_json_bool(phi_json_get(schema, "nullable"), false))
        return true;
    if (phi_json_is_string(type)) {
        if (phi__schema_is(value, phi_json_str(type, NULL))) return true;
    } else {
        if (!phi_json_is_array(type)) return true;
        while (phi_json_next(&it) != NULL)
            if (phi__schema_is(value, phi_json_str(it.at, NULL))) return true;
    }
    if (!phi__schema_say(c, "expected ")) return false;
    if (phi_json_is_string(type))
        phi__schema_put(c, phi_json_str(type, NULL));
    else
        phi__schema_list(c, type, false);
    phi__schema_text(c, ", got ");
    phi__schema_text(c, phi_json_type_name(value));
    return false;
}

static bool phi__schema_enum(phi__schema *c, const phi_json *schema, const phi_json *value) {
    const phi_json *list = phi_json_get(schema, "enum"), *only = phi_json_get(schema, "const");
    phi_json_iter it = phi_json_each(list);
    if (only != NULL && !phi_json_equal(only, value)) {
        if (!phi__schema_say(c, "expected ")) return false;
        phi__schema_value(c, only);
        phi__schema_text(c, ", got ");
        phi__schema_value(c, value);
        return false;
    }
    if (!phi_json_is_array(list)) return true;
    if (!phi__schema_spend(c, it.left)) return false;
    while (phi_json_next(&it) != NULL)
        if (phi_json_equal(it.at, value)) return true;
    if (!phi__schema_say(c, "got ")) return false;
    phi__schema_value(c, value);
    phi__schema_text(c, ", expected one of ");
    phi__schema_list(c, list, true);
    return false;
}

static bool phi__schema_bound(phi__schema *c, const phi_json *limit, const phi_json *value,
                              bool held, const char *words) {
    if (held || !phi__schema_say(c, words)) return held;
    phi__schema_number(c, limit);
    phi__schema_text(c, ", got ");
    phi__schema_number(c, value);
    return false;
}

/* Negative, 0 or positive as a is less than, equal to or greater than b. */
static int phi__schema_order(const phi_json *a, const phi_json *b) {
    double x = phi_json_num(a, 0), y = phi_json_num(b, 0);
    if (x != y) return x < y ? -1 : 1;
    if (phi__json_kind_of(a) == PHI__JSON_INT && phi__json_kind_of(b) == PHI__JSON_INT &&
        a->v.i != b->v.i)
        return a->v.i < b->v.i ? -1 : 1;
    return 0;
}

static bool phi__schema_range(phi__schema *c, const phi_json *schema, const phi_json *value) {
    const phi_json *least = phi_json_get(schema, "minimum"),
                   *most = phi_json_get(schema, "maximum");
    const phi_json *above = phi_json_get(schema, "exclusiveMinimum");
    const phi_json *below = phi_json_get(schema, "exclusiveMaximum");
    if (phi_json_bool(above, false)) above = least; /* as draft 4 said it */
    if (phi_json_bool(below, false)) below = most;
    if (phi_json_is_number(above) &&
        !phi__schema_bound(c, above, value, phi__schema_order(value, above) > 0,
                           "expected a number above "))
        return false;
    if (phi_json_is_number(below) &&
        !phi__schema_bound(c, below, value, phi__schema_order(value, below) < 0,
                           "expected a number below "))
        return false;
    if (phi_json_is_number(least) &&
        !phi__schema_bound(c, least, value, phi__schema_order(value, least) >= 0,
                           "expected at least "))
        return false;
    return !phi_json_is_number(most) ||
           phi__schema_bound(c, most, value, phi__schema_order(value, most) <= 0,
                             "expected at most ");
}

/* `count` against the limits named so; `noun` is what is counted. */
static bool phi__schema_count(phi__schema *c, const phi_json *schema, const char *least_key,
                              const char *most_key, size_t count, const char *noun) {
    const phi_json *least = phi_json_get(schema, least_key), *most = phi_json_get(schema, most_key);
    phi_json got;
    memset(&got, 0, sizeof got);
    got.meta = PHI__JSON_INT;
    got.v.u = count;
    if (phi_json_is_number(least) && phi__schema_order(&got, least) < 0) {
        if (!phi__schema_say(c, "expected at least ")) return false;
        phi__schema_number(c, least);
    } else if (phi_json_is_number(most) && phi__schema_order(&got, most) > 0) {
        if (!phi__schema_say(c, "expected at most ")) return false;
        phi__schema_number(c, most);
    } else
        return true;
    phi__schema_text(c, " ");
    phi__schema_text(c, noun);
    phi__schema_text(c, ", got ");
    phi__schema_number(c, &got);
    return false;
}

static size_t phi__schema_characters(phi_str text) {
    size_t n = 0, i;
    for (i = 0; i < text.len; i++) n += ((unsigned char)text.at[i] & 0xc0) != 0x80;
    return n;
}

static bool phi__schema_items(phi__schema *c, const phi_json *schema, const phi_json *value) {
    const phi_json *items = phi_json_get(schema, "items");
    phi_json_iter it = phi_json_each(value);
    size_t index = 0, was;
    bool fits = true;
    if (!phi__schema_count(c, schema, "minItems", "maxItems", phi_json_count(value), "items"))
        return false;
    if (items == NULL || phi_json_is_array(items)) return true;
    while (fits && phi_json_next(&it) != NULL) {
        was = phi__schema_into_item(c, index++);
        fits = phi__schema_fits(c, items, it.at);
        c->place_len = was;
    }
    return fits;
}

static bool phi__schema_required(phi__schema *c, const phi_json *schema, const phi_json *value) {
    phi_json_iter it = phi_json_each(phi_json_get(schema, "required"));
    while (phi_json_next(&it) != NULL) {
        if (!phi_json_is_string(it.at)) continue;
        if (!phi__schema_spend(c, 1 + phi_json_count(value))) return false;
        if (phi_json_get_n(value, phi_json_str(it.at, NULL)) != NULL) continue;
        if (!phi__schema_say(c, "missing required property ")) return false;
        phi__schema_quote(c, phi_json_str(it.at, NULL));
        return false;
    }
    return true;
}

static bool phi__schema_unknown(phi__schema *c, phi_str key, const phi_json *known) {
    phi_json_iter it = phi_json_each(known);
    if (!phi__schema_say(c, "unknown property ")) return false;
    phi__schema_quote(c, key);
    if (it.left > 0) phi__schema_text(c, "; there are ");
    while (phi_json_next(&it) != NULL) {
        phi__schema_quote(c, it.key);
        if (it.left > 0) phi__schema_text(c, ", ");
    }
    return false;
}

static bool phi__schema_members(phi__schema *c, const phi_json *schema, const phi_json *value) {
    const phi_json *known = phi_json_get(schema, "properties");
    const phi_json *more = phi_json_get(schema, "additionalProperties");
    phi_json_iter it = phi_json_each(value);
    bool fits = phi__schema_required(c, schema, value);
    if (phi_json_get(schema, "patternProperties") != NULL) more = NULL; /* which are more? */
    while (fits && phi_json_next(&it) != NULL) {
        const phi_json *member;
        size_t was;
        if (!phi__schema_spend(c, 1 + phi_json_count(known))) return false;
        member = phi_json_get_n(known, it.key);
        if (member == NULL) member = more;
        if (member == NULL) continue;
        if (member == more && !phi_json_bool(more, true))
            return phi__schema_unknown(c, it.key, known);
        was = phi__schema_into(c, ".", it.key, "");
        fits = phi__schema_fits(c, member, it.at);
        c->place_len = was;
    }
    return fits;
}

/* How many of the schemas fit, at most two: that is all anyone asks. */
static unsigned phi__schema_fitting(phi__schema *c, const phi_json *list, const phi_json *value) {
    phi_json_iter it = phi_json_each(list);
    unsigned fit = 0;
    c->quiet++;
    while (fit < 2 && c->status == PHI_OK && phi_json_next(&it) != NULL)
        fit += phi__schema_fits(c, it.at, value);
    if (c->quiet > 0) c->quiet--; /* 0: a bound was hit, and said so */
    return fit;
}

/* Of choices that only name types, the types are the better words. */
static void phi__schema_say_none(phi__schema *c, const phi_json *list, const char *word,
                                 const phi_json *value) {
    phi_json_iter it = phi_json_each(list);
    while (phi_json_next(&it) != NULL)
        if (!phi_json_is_string(phi_json_get(it.at, "type"))) break;
    if (it.at != NULL && phi_json_is_string(phi_json_get(it.at, "type")) && it.left == 0) {
        bool first = true;
        if (!phi__schema_say(c, "expected ")) return;
        it = phi_json_each(list);
        while (phi_json_next(&it) != NULL) {
            if (!first) phi__schema_text(c, it.left > 0 ? ", " : " or ");
            first = false;
            phi__schema_put(c, phi_json_str(phi_json_get(it.at, "type"), NULL));
        }
        phi__schema_text(c, " that fits its schema, got ");
        phi__schema_value(c, value);
        return;
    }
    if (!phi__schema_say(c, "fits none of the schemas in ")) return;
    phi__schema_text(c, word);
}

static bool phi__schema_combined(phi__schema *c, const phi_json *schema, const phi_json *value) {
    const phi_json *any = phi_json_get(schema, "anyOf"), *one = phi_json_get(schema, "oneOf");
    phi_json_iter it = phi_json_each(phi_json_get(schema, "allOf"));
    while (phi_json_next(&it) != NULL)
        if (!phi__schema_fits(c, it.at, value)) return false;
    if (phi_json_is_array(any) && phi__schema_fitting(c, any, value) == 0) {
        phi__schema_say_none(c, any, "anyOf", value);
        return false;
    }
    if (phi_json_is_array(one)) {
        unsigned fit = phi__schema_fitting(c, one, value);
        if (fit == 0) phi__schema_say_none(c, one, "oneOf", value);
        if (fit > 1) (void)phi__schema_say(c, "fits more than one of the schemas in oneOf");
        return fit == 1;
    }
    return true;
}

static bool phi__schema_by_type(phi__schema *c, const phi_json *schema, const phi_json *value) {
    switch (phi_json_type_of(value)) {
    case PHI_JSON_NUMBER: return phi__schema_range(c, schema, value);
    case PHI_JSON_STRING:
        if (phi_json_get(schema, "minLength") == NULL && phi_json_get(schema, "maxLength") == NULL)
            return true;
        return phi__schema_count(c, schema, "minLength", "maxLength",
                                 phi__schema_characters(phi_json_str(value, NULL)), "characters");
    case PHI_JSON_ARRAY: return phi__schema_items(c, schema, value);
    case PHI_JSON_OBJECT: return phi__schema_members(c, schema, value);
    default: return true;
    }
}

/* What is malformed or not understood restricts nothing. */
static bool phi__schema_fits(phi__schema *c, const phi_json *schema, const phi_json *value) {
    const phi_json *ref, *target;
    bool fits = true;
    if (phi_json_is_bool(schema)) {
        if (!phi_json_bool(schema, true)) (void)phi__schema_say(c, "nothing is allowed here");
        return phi_json_bool(schema, true);
    }
    if (!phi_json_is_object(schema)) return true;
    if (!phi__schema_enter(c, schema)) return false;
    ref = phi_json_get(schema, "$ref");
    if (phi_json_is_string(ref)) {
        target = phi__schema_target(c, phi_json_str(ref, NULL));
        fits = target == NULL || phi__schema_fits(c, target, value);
    }
    fits = fits && phi__schema_type(c, schema, value) && phi__schema_enum(c, schema, value) &&
           phi__schema_by_type(c, schema, value) && phi__schema_combined(c, schema, value);
    c->depth--;
    return fits && c->status == PHI_OK;
}

/* ---- the schema itself ---- */

enum phi__schema_shape {
    PHI__SCHEMA_TYPE,
    PHI__SCHEMA_ANY,
    PHI__SCHEMA_LIST,    /* of values, not empty */
    PHI__SCHEMA_NAMES,   /* of strings */
    PHI__SCHEMA_SUB,     /* one schema */
    PHI__SCHEMA_SUBS,    /* schemas by name */
    PHI__SCHEMA_CHOICES, /* a list of schemas, not empty */
    PHI__SCHEMA_NUMBER,
    PHI__SCHEMA_BOUND, /* a number, or draft 4's boolean */
    PHI__SCHEMA_COUNT,
    PHI__SCHEMA_BOOL,
    PHI__SCHEMA_REF,
    PHI__SCHEMA_REFUSED /* restricts, and is not understood */
};

static const struct {
    const char *name;
    uint8_t shape;
} phi__schema_words[] = {
    {"type", PHI__SCHEMA_TYPE},
    {"const", PHI__SCHEMA_ANY},
    {"enum", PHI__SCHEMA_LIST},
    {"required", PHI__SCHEMA_NAMES},
    {"items", PHI__SCHEMA_SUB},
    {"additionalProperties", PHI__SCHEMA_SUB},
    {"properties", PHI__SCHEMA_SUBS},
    {"$defs", PHI__SCHEMA_SUBS},
    {"definitions", PHI__SCHEMA_SUBS},
    {"anyOf", PHI__SCHEMA_CHOICES},
    {"oneOf", PHI__SCHEMA_CHOICES},
    {"allOf", PHI__SCHEMA_CHOICES},
    {"minimum", PHI__SCHEMA_NUMBER},
    {"maximum", PHI__SCHEMA_NUMBER},
    {"exclusiveMinimum", PHI__SCHEMA_BOUND},
    {"exclusiveMaximum", PHI__SCHEMA_BOUND},
    {"minLength", PHI__SCHEMA_COUNT},
    {"maxLength", PHI__SCHEMA_COUNT},
    {"minItems", PHI__SCHEMA_COUNT},
    {"maxItems", PHI__SCHEMA_COUNT},
    {"nullable", PHI__SCHEMA_BOOL},
    {"$ref", PHI__SCHEMA_REF},
    {"pattern", PHI__SCHEMA_REFUSED},
    {"patternProperties", PHI__SCHEMA_REFUSED},
    {"propertyNames", PHI__SCHEMA_REFUSED},
    {"minProperties", PHI__SCHEMA_REFUSED},
    {"maxProperties", PHI__SCHEMA_REFUSED},
    {"dependencies", PHI__SCHEMA_REFUSED},
    {"dependentRequired", PHI__SCHEMA_REFUSED},
    {"dependentSchemas", PHI__SCHEMA_REFUSED},
    {"unevaluatedProperties", PHI__SCHEMA_REFUSED},
    {"unevaluatedItems", PHI__SCHEMA_REFUSED},
    {"additionalItems", PHI__SCHEMA_REFUSED},
    {"prefixItems", PHI__SCHEMA_REFUSED},
    {"contains", PHI__SCHEMA_REFUSED},
    {"minContains", PHI__SCHEMA_REFUSED},
    {"maxContains", PHI__SCHEMA_REFUSED},
    {"uniqueItems", PHI__SCHEMA_REFUSED},
    {"multipleOf", PHI__SCHEMA_REFUSED},
    {"not", PHI__SCHEMA_REFUSED},
    {"if", PHI__SCHEMA_REFUSED},
    {"$dynamicRef", PHI__SCHEMA_REFUSED},
    {"$recursiveRef", PHI__SCHEMA_REFUSED},
};

static bool phi__schema_sound(phi__schema *c, const phi_json *schema);

static bool phi__schema_bad(phi__schema *c, phi_status status, phi_str word, const char *text) {
    if (phi__schema_say(c, "")) {
        phi__schema_quote(c, word);
        phi__schema_text(c, text);
    }
    if (c->status == PHI_OK) c->status = status;
    return false;
}

static bool phi__schema_sub(phi__schema *c, const char *before, phi_str name,
                            const phi_json *schema) {
    size_t was = phi__schema_into(c, before, name, "");
    bool sound = phi__schema_sound(c, schema);
    c->place_len = was;
    return sound;
}

static bool phi__schema_subs(phi__schema *c, phi_str word, const phi_json *subs) {
    size_t was = phi__schema_into(c, ".", word, ""), index = 0, inner;
    phi_json_iter it = phi_json_each(subs);
    bool sound = true;
    while (sound && phi_json_next(&it) != NULL) {
        if (phi_json_is_object(subs)) {
            sound = phi__schema_sub(c, ".", it.key, it.at);
            continue;
        }
        inner = phi__schema_into_item(c, index++);
        sound = phi__schema_sound(c, it.at);
        c->place_len = inner;
    }
    c->place_len = was;
    return sound;
}

static bool phi__schema_known_type(const phi_json *type) {
    static const char *const names[] = {"string", "number", "integer", "boolean",
                                        "object", "array",  "null"};
    size_t i;
    for (i = 0; i < PHI__COUNT(names); i++)
        if (phi__str_is(phi_json_str(type, NULL), names[i])) return true;
    return false;
}

static bool phi__schema_sound_type(const phi_json *type) {
    phi_json_iter it = phi_json_each(type);
    if (!phi_json_is_array(type) || it.left == 0) return phi__schema_known_type(type);
    while (phi_json_next(&it) != NULL)
        if (!phi__schema_known_type(it.at)) return false;
    return true;
}

static bool phi__schema_sound_names(const phi_json *names) {
    phi_json_iter it = phi_json_each(names);
    if (!phi_json_is_array(names)) return false;
    while (phi_json_next(&it) != NULL)
        if (!phi_json_is_string(it.at)) return false;
    return true;
}

/* What a keyword of that shape must be, where `node` is not; NULL: it is. */
static const char *phi__schema_wrong(unsigned shape, const phi_json *node) {
    bool list = phi_json_is_array(node) && phi_json_count(node) > 0;
    switch (shape) {
    case PHI__SCHEMA_TYPE:
        return phi__schema_sound_type(node) ? NULL : " must name a type, or several";
    case PHI__SCHEMA_LIST:
    case PHI__SCHEMA_CHOICES: return list ? NULL : " must be an array that is not empty";
    case PHI__SCHEMA_NAMES:
        return phi__schema_sound_names(node) ? NULL : " must be an array of strings";
    case PHI__SCHEMA_SUBS: return phi_json_is_object(node) ? NULL : " must be an object";
    case PHI__SCHEMA_NUMBER: return phi_json_is_number(node) ? NULL : " must be a number";
    case PHI__SCHEMA_BOUND:
        return phi_json_is_number(node) || phi_json_is_bool(node) ? NULL : " must be a number";
    case PHI__SCHEMA_COUNT:
        return phi_json_is_integer(node) && phi_json_num(node, -1) >= 0
                   ? NULL
                   : " must be an integer that is not negative";
    case PHI__SCHEMA_BOOL: return phi_json_is_bool(node) ? NULL : " must be true or false";
    case PHI__SCHEMA_REF: return phi_json_is_string(node) ? NULL : " must be a string";
    default: return NULL;
    }
}

static bool phi__schema_word(phi__schema *c, unsigned shape, phi_str word, const phi_json *node) {
    const char *wrong = phi__schema_wrong(shape, node);
    if (wrong != NULL) return phi__schema_bad(c, PHI_PARSE, word, wrong);
    switch (shape) {
    case PHI__SCHEMA_SUB:
        if (phi_json_is_array(node))
            return phi__schema_bad(c, PHI_UNSUPPORTED, word, " as an array is not supported");
        return phi__schema_sub(c, ".", word, node);
    case PHI__SCHEMA_SUBS:
    case PHI__SCHEMA_CHOICES: return phi__schema_subs(c, word, node);
    case PHI__SCHEMA_REF:
        if (!phi__str_starts(phi_json_str(node, NULL), "#"))
            return phi__schema_bad(c, PHI_UNSUPPORTED, word,
                                   " to another document is not supported");
        if (phi__schema_target(c, phi_json_str(node, NULL)) == NULL && c->status == PHI_OK)
            return phi__schema_bad(c, PHI_PARSE, word, " leads nowhere");
        return c->status == PHI_OK;
    case PHI__SCHEMA_REFUSED: return phi__schema_bad(c, PHI_UNSUPPORTED, word, " is not supported");
    default: return true;
    }
}

static bool phi__schema_sound(phi__schema *c, const phi_json *schema) {
    phi_json_iter it = phi_json_each(schema);
    bool sound = true;
    size_t i;
    if (phi_json_is_bool(schema)) return true;
    if (!phi_json_is_object(schema)) {
        (void)phi__schema_say(c, "a schema must be an object, true or false");
        if (c->status == PHI_OK) c->status = PHI_PARSE;
        return false;
    }
    if (!phi__schema_enter(c, schema)) return false;
    while (sound && phi_json_next(&it) != NULL)
        for (i = 0; sound && i < PHI__COUNT(phi__schema_words); i++)
            if (phi__str_is(it.key, phi__schema_words[i].name))
                sound = phi__schema_word(c, phi__schema_words[i].shape, it.key, it.at);
    c->depth--;
    return sound;
}

static void phi__schema_begin(phi__schema *c, const phi_json *schema, const char *name,
                              phi_schema_error *error) {
    memset(c, 0, sizeof *c);
    c->root = schema;
    c->error = error;
    if (error != NULL) error->message[0] = '\0';
    (void)phi__schema_into(c, name, phi__str(NULL, 0), "");
}

/* ---- public ---- */

PHI_API phi_status phi_schema_check(const phi_json *schema, const phi_json *value, const char *name,
                                    phi_schema_error *error) {
    phi__schema c;
    bool fits;
    if (schema == NULL || value == NULL) return PHI_BAD_ARG;
    phi__schema_begin(&c, schema, name != NULL ? name : "arguments", error);
    fits = phi__schema_fits(&c, schema, value);
    if (c.status != PHI_OK) return c.status;
    return fits ? PHI_OK : PHI_PARSE;
}

PHI_API phi_status phi_schema_valid(const phi_json *schema, phi_schema_error *error) {
    phi__schema c;
    if (schema == NULL) return PHI_BAD_ARG;
    phi__schema_begin(&c, schema, "schema", error);
    (void)phi__schema_sound(&c, schema);
    return c.status;
}
#undef PHI__SCHEMA_DEPTH
#undef PHI__SCHEMA_WORK
#undef PHI__SCHEMA_QUOTE

/* ---- src/text/sse.c ---- */

/* sse.c - server-sent events, incrementally. */

#define PHI__SSE_KEEP 4096u /* bytes of a buffer that are kept between events */

static void phi__sse_slim(phi__buf *buf) {
    if (buf->cap > PHI__SSE_KEEP)
        phi__buf_free(buf);
    else
        phi__buf_clear(buf);
}

/* Forgets the event under way, or the one handed out. */
static void phi__sse_forget(phi__sse *sse) {
    phi__sse_slim(&sse->data);
    phi__sse_slim(&sse->name);
    sse->view = phi__str(NULL, 0);
    sse->has_data = sse->viewed = false;
}

static int phi__sse_fail(phi__sse *sse, phi_status status) {
    sse->status = status;
    phi__buf_free(&sse->line);
    phi__buf_free(&sse->data);
    phi__buf_free(&sse->name);
    sse->at = sse->end;
    return status;
}

/* A view of fed bytes that is to outlive them becomes a copy. */
static bool phi__sse_keep_view(phi__sse *sse) {
    if (sse->viewed) phi__buf_add_str(&sse->data, sse->view);
    sse->viewed = false;
    return !sse->data.failed;
}

/* `stays`: the line lies in the bytes fed, not in sse->line. */
static phi_status phi__sse_data(phi__sse *sse, phi_str value, bool stays) {
    size_t had = sse->viewed ? sse->view.len : sse->data.len;
    if (had + sse->name.len + value.len + (sse->has_data ? 1 : 0) > sse->max_event_bytes)
        return PHI_TOO_BIG;
    if (!sse->has_data && stays) {
        sse->view = value;
        sse->has_data = sse->viewed = true;
        return PHI_OK;
    }
    if (!sse->has_data) { /* the line's buffer becomes the data's */
        phi__buf line = sse->line;
        sse->line = sse->data;
        sse->data = line;
        phi__buf_drop(&sse->data, (size_t)(value.at - line.at));
        sse->has_data = true;
        return PHI_OK;
    }
    if (!phi__sse_keep_view(sse)) return PHI_NO_MEMORY;
    phi__buf_char(&sse->data, '\n');
    phi__buf_add_str(&sse->data, value);
    return sse->data.failed ? PHI_NO_MEMORY : PHI_OK;
}

static phi_status phi__sse_name(phi__sse *sse, phi_str value) {
    size_t had = sse->viewed ? sse->view.len : sse->data.len;
    if (had + value.len > sse->max_event_bytes) return PHI_TOO_BIG;
    phi__buf_clear(&sse->name);
    phi__buf_add_str(&sse->name, value);
    return sse->name.failed ? PHI_NO_MEMORY : PHI_OK;
}

static phi_status phi__sse_line(phi__sse *sse, phi_str line, bool stays) {
    const char *colon = (const char *)memchr(line.at, ':', line.len);
    phi_str field = line, value = phi__str(line.at + line.len, 0);
    if (colon == line.at) {
        sse->comments++;
        return PHI_OK;
    }
    if (colon != NULL) {
        size_t skip = 1;
        field.len = (size_t)(colon - line.at);
        if (field.len + 1 < line.len && colon[1] == ' ') skip = 2;
        value = phi__str(colon + skip, line.len - field.len - skip);
    }
    if (field.len == 4 && memcmp(field.at, "data", 4) == 0) return phi__sse_data(sse, value, stays);
    if (field.len == 5 && memcmp(field.at, "event", 5) == 0) return phi__sse_name(sse, value);
    if (field.len == 5 && memcmp(field.at, "error", 5) == 0) { /* old llama.cpp: "error: {...}" */
        phi_status status = phi__sse_name(sse, field);
        return status == PHI_OK ? phi__sse_data(sse, value, stays) : status;
    }
    return PHI_OK;
}

/* The event that a blank line, or the end, completes; false: there is none. */
static bool phi__sse_complete(phi__sse *sse, phi__sse_event *out) {
    if (!sse->has_data) {
        phi__sse_forget(sse);
        return false;
    }
    out->name = phi__buf_str(&sse->name);
    out->data = sse->viewed ? sse->view : phi__buf_str(&sse->data);
    sse->handed = true;
    sse->events++;
    return true;
}

/* Reads over a byte order mark, which may come in pieces. Bytes that only began like one are put
   in front of the first line. */
static bool phi__sse_mark(phi__sse *sse) {
    static const char mark[] = "\xEF\xBB\xBF";
    while (sse->bom < 3 && sse->at < sse->end) {
        if (*sse->at != mark[sse->bom]) {
            phi__buf_add(&sse->line, mark, sse->bom);
            sse->bom = 3;
            return !sse->line.failed;
        }
        sse->at++;
        sse->bom++;
    }
    return true;
}

static const char *phi__sse_line_end(const char *at, const char *end) {
    const char *lf = (const char *)memchr(at, '\n', (size_t)(end - at));
    const char *cr = (const char *)memchr(at, '\r', (size_t)((lf != NULL ? lf : end) - at));
    return cr != NULL ? cr : lf;
}

/* Takes what was fed into the line that goes on in the next piece. */
static int phi__sse_cut(phi__sse *sse) {
    size_t left = (size_t)(sse->end - sse->at);
    if (phi__add(sse->line.len, left) >
        phi__add(sse->max_event_bytes, 64)) /* the field's name, at least */
        return phi__sse_fail(sse, PHI_TOO_BIG);
    phi__buf_add(&sse->line, sse->at, left);
    sse->at = sse->end;
    if (sse->line.failed || !phi__sse_keep_view(sse)) return phi__sse_fail(sse, PHI_NO_MEMORY);
    return 0;
}

/* Past a line's end at `stop`, of which an LF after a CR may come later. */
static void phi__sse_past(phi__sse *sse, const char *stop) {
    sse->skip_lf = *stop == '\r';
    sse->at = stop + 1;
}

static int phi__sse_step(phi__sse *sse, phi__sse_event *out) {
    while (sse->at < sse->end) {
        const char *stop;
        phi_str line;
        bool stays = sse->line.len == 0;
        phi_status status;
        if (sse->skip_lf) {
            sse->skip_lf = false;
            if (*sse->at == '\n') {
                sse->at++;
                continue;
            }
        }
        stop = phi__sse_line_end(sse->at, sse->end);
        if (stop == NULL) return phi__sse_cut(sse);
        line = phi__str(sse->at, (size_t)(stop - sse->at));
        if (!stays) {
            phi__buf_add_str(&sse->line, line);
            if (sse->line.failed) return phi__sse_fail(sse, PHI_NO_MEMORY);
            line = phi__buf_str(&sse->line);
        }
        phi__sse_past(sse, stop);
        if (line.len == 0) {
            if (phi__sse_complete(sse, out)) return 1;
            continue;
        }
        status = phi__sse_line(sse, line, stays);
        if (status != PHI_OK) return phi__sse_fail(sse, status);
        if (!stays) phi__sse_slim(&sse->line);
    }
    return phi__sse_keep_view(sse) ? 0 : phi__sse_fail(sse, PHI_NO_MEMORY);
}

PHI__FN void phi__sse_init(phi__sse *sse, phi_memory *memory, size_t max_event_bytes) {
    memset(sse, 0, sizeof *sse);
    phi__buf_init(&sse->line, memory);
    phi__buf_init(&sse->data, memory);
    phi__buf_init(&sse->name, memory);
    sse->max_event_bytes = max_event_bytes == 0 ? PHI__SSE_EVENT_MOST : max_event_bytes;
}

PHI__FN void phi__sse_free(phi__sse *sse) {
    phi__buf_free(&sse->line);
    phi__buf_free(&sse->data);
    phi__buf_free(&sse->name);
    phi__sse_init(sse, sse->line.memory, sse->max_event_bytes);
}

PHI__FN void phi__sse_reset(phi__sse *sse) {
    phi__sse_forget(sse);
    phi__sse_slim(&sse->line);
    sse->at = sse->end = NULL;
    sse->comments = sse->events = 0;
    sse->bom = 0;
    sse->skip_lf = sse->handed = false;
    sse->status = PHI_OK;
}

PHI__FN void phi__sse_feed(phi__sse *sse, const char *bytes, size_t len) {
    PHI_ASSERT(sse->at == sse->end);
    if (sse->handed) {
        phi__sse_forget(sse);
        sse->handed = false;
    }
    sse->at = bytes;
    sse->end = bytes + len;
    if (sse->status != PHI_OK) sse->at = sse->end;
}

PHI__FN int phi__sse_next(phi__sse *sse, phi__sse_event *out) {
    if (sse->status != PHI_OK) return sse->status;
    if (sse->handed) {
        phi__sse_forget(sse);
        sse->handed = false;
    }
    if (sse->bom < 3 && !phi__sse_mark(sse)) return phi__sse_fail(sse, PHI_NO_MEMORY);
    return phi__sse_step(sse, out);
}

PHI__FN int phi__sse_finish(phi__sse *sse, phi__sse_event *out) {
    if (sse->status != PHI_OK) return sse->status;
    if (sse->handed) phi__sse_forget(sse);
    sse->handed = false;
    if (sse->bom == 1 || sse->bom == 2) phi__buf_add(&sse->line, "\xEF\xBB\xBF", sse->bom);
    sse->bom = 3;
    if (sse->line.len > 0) {
        phi_status status = phi__sse_line(sse, phi__buf_str(&sse->line), false);
        phi__sse_slim(&sse->line);
        if (status != PHI_OK) return phi__sse_fail(sse, status);
    }
    return phi__sse_complete(sse, out) ? 1 : 0;
}
#undef PHI__SSE_KEEP

#endif /* PHI__IMP_TEXT */

#ifdef PHI__IMP_IO
#if PHI__IMP_IO != 0xab47285b
#error "phi: two versions of src/io in one file"
#endif
#else
#define PHI__IMP_IO 0xab47285b

/* ---- src/io/clock_in.h ---- */

/* clock_in.h - the system's clocks and random source. */
#ifndef PHI_IO_CLOCK_IN_H
#define PHI_IO_CLOCK_IN_H


PHI__FN uint64_t phi__clock_us(void);     /* monotonic, from any start */
PHI__FN int64_t phi__clock_wall_ms(void); /* Unix time */

/* Fills `out` from the kernel. Where no kernel source can be reached (no file descriptor left on a
   system without a call for it), from clocks and addresses: unique enough for ids, not secret. */
PHI__FN void phi__clock_random(void *out, size_t len);

#endif

/* ---- src/io/files_in.h ---- */

/* files_in.h - files, in slices: what a step may spend on a disk is bounded by the caller's size.

   Words for a failure are the system's own ("No such file or directory"), copied into the caller's
   buffer; `words` may be NULL. Paths are terminated strings in the system's encoding (UTF-8), at
   most 4,095 bytes. PHI_NOT_FOUND is ENOENT, PHI_IO every other refusal. No descriptor is inherited
   by a child, no signal is raised (SIGXFSZ at a file size limit), and nothing here calls fsync.

   Memory is the budget's, but for what the C library's opendir takes while a directory is read.
   Threads: one at a time. Two processes that use the same paths at once can defeat any check made
   here before a use: a resolved path is what it was when it was looked at. */
#ifndef PHI_IO_FILES_IN_H
#define PHI_IO_FILES_IN_H


#ifndef PHI_NO_FILES

enum { PHI__PATH_BYTES = 4096 }; /* with the terminator */

typedef struct phi__file phi__file;
typedef struct phi__walk phi__walk;

typedef enum phi__file_kind {
    PHI__FILE_NONE,
    PHI__FILE_REGULAR,
    PHI__FILE_DIRECTORY,
    PHI__FILE_LINK,
    PHI__FILE_OTHER
} phi__file_kind;

typedef struct phi__file_info {
    phi__file_kind kind;
    uint64_t bytes;
} phi__file_info;

typedef struct phi__words {
    char text[160]; /* terminated */
} phi__words;

/* follow: a link's target is looked at. */
PHI__FN phi_status phi__file_stat(const char *path, bool follow, phi__file_info *out,
                                  phi__words *words);

/* A regular file; anything else is refused, without waiting for a pipe's other end. */
PHI__FN phi_status phi__file_open_read(phi_memory *memory, const char *path, phi__file **out,
                                       phi__words *words);

/* Writes beside `path` and renames over it at commit: a torn write leaves the old file, with the old
   mode (and owner, where allowed). A link is followed, so that its target is replaced; other names
   of the same file (hard links) keep the old content. A device is written in place. */
PHI__FN phi_status phi__file_open_replace(phi_memory *memory, const char *path, phi__file **out,
                                          phi__words *words);

/* Up to n bytes; *got 0 at the end. */
PHI__FN phi_status phi__file_read(phi__file *file, char *out, size_t n, size_t *got,
                                  phi__words *words);
PHI__FN phi_status phi__file_write(phi__file *file, const char *bytes, size_t n,
                                   phi__words *words); /* all n, or an error that stays */
PHI__FN phi_status phi__file_commit(phi__file *file, phi__words *words); /* replace: renames */
/* An uncommitted replacement is removed. NULL is harmless. */
PHI__FN void phi__file_close(phi__file *file);

PHI__FN phi_status phi__make_directories(const char *path, phi__words *words); /* mkdir -p */

/* Resolves `path` against `base` (NULL: the working directory) to an absolute one without "..", "."
   or links, at every level, dangling ones too; last parts that do not exist are allowed, and ".."
   takes such a part back. Into out (terminated), of at most PHI__PATH_BYTES. */
PHI__FN phi_status phi__path_resolve(const char *base, const char *path, char *out, size_t size,
                                     phi__words *words);

/* Whether a resolved path is `directory` (resolved too) or lies in it. */
PHI__FN bool phi__path_inside(const char *directory, const char *path);

/* A directory walk, a few entries at a time, depth first, so that the paths of all but directories
   come in the order of their bytes; within a directory of more than 65,536 entries only nearly so.
   Directories that cannot be read, or lie more than 64 deep, are returned and not entered. Holds
   one descriptor for the root, one for the directory being read, and one for each directory above
   that has more than 65,536 entries. */
typedef struct phi__walk_entry {
    phi_str path;        /* relative to the walk's root; borrowed until the next call */
    phi__file_kind kind; /* links are not followed */
    uint32_t depth;      /* 1: in the root itself */
} phi__walk_entry;
PHI__FN phi_status phi__walk_new(phi_memory *memory, const char *root, phi__walk **out,
                                 phi__words *words);
/* PHI_OK: an entry; PHI_BUSY: worked, come again; PHI_NOT_FOUND: the end. */
PHI__FN phi_status phi__walk_next(phi__walk *walk, phi__walk_entry *out);
PHI__FN void phi__walk_skip(phi__walk *walk); /* do not enter the directory just returned */
PHI__FN void phi__walk_free(phi__walk *walk); /* NULL is harmless */

#endif
#endif

/* ---- src/io/io_in.h ---- */

/* io_in.h - the pump's hands: clock, random, timers, watched descriptors, and what a step may do.

   One phi__io belongs to one runtime. Nothing in it waits, except phi__io_wait when asked to.
   Threads: the pumping thread only, but for phi__io_wake. */
#ifndef PHI_IO_IO_IN_H
#define PHI_IO_IO_IN_H


typedef struct phi__io phi__io;

/* Replaceable sources; a NULL function means the system's (monotonic clock, kernel random). */
typedef struct phi__io_desc {
    uint64_t (*clock_us_fn)(void *user_data);
    void (*random_fn)(void *user_data, void *out, size_t len);
    /* The host's loop instead of a poller of ours; want 0 forgets fd. NULL: our own poller. */
    void (*watch_fn)(void *user_data, intptr_t fd, int want);
    void *user_data;
    uint32_t max_starts_per_step; /* default 4 */
    uint32_t step_budget_us;      /* spent: no further start in the step but the first (0: none) */
} phi__io_desc;

/* A timer; lives in its owner, zeroed at first. Fires once, in phi__io_timers, with place 0. */
typedef struct phi__timer {
    uint64_t at_us;
    size_t place; /* in the heap, from 1; 0: not set */
    void (*fire)(struct phi__timer *timer);
} phi__timer;

enum { PHI__READ = 1, PHI__WRITE = 2 }; /* equal to PHI_WATCH_READ and PHI_WATCH_WRITE */

/* A watched descriptor; lives in its owner, zeroed at first. `ready` may change, forget or free any
   watch, this one too. Level-triggered, and now and then without cause: descriptors are to be
   non-blocking. Forget it before its descriptor is closed. */
typedef struct phi__watch {
    intptr_t fd;
    int want;      /* 0: not watched */
    uint32_t slot; /* the poller's */
    void (*ready)(struct phi__watch *watch, int have);
} phi__watch;

PHI__FN phi_status phi__io_new(phi_memory *memory, const phi__io_desc *desc, phi__io **out);
PHI__FN void phi__io_free(phi__io *io); /* NULL is harmless; timers and watches need not be gone */

PHI__FN uint64_t phi__io_now_us(const phi__io *io); /* from the replaceable clock, always asked */
PHI__FN int64_t phi__io_wall_ms(const phi__io *io); /* Unix time for timestamps: wall clock, or
                                                         clock_us_fn / 1000 when that is given */
PHI__FN void phi__io_random(phi__io *io, void *out, size_t len);

/* Sets or moves a timer (absolute; UINT64_MAX: never, but its place is kept); NO_MEMORY only when
   not set before. */
PHI__FN phi_status phi__io_timer_set(phi__io *io, phi__timer *timer, uint64_t at_us);
PHI__FN void phi__io_timer_clear(phi__io *io, phi__timer *timer); /* unset is harmless */
PHI__FN uint64_t phi__io_next_timer_us(const phi__io *io);        /* UINT64_MAX: none */

/* Watches fd for `want` (0 forgets it; always safe to forget). */
PHI__FN phi_status phi__io_watch(phi__io *io, phi__watch *watch, intptr_t fd, int want);

/* One turn of the pump: waits up to timeout_ms (0: not at all, <0: until woken) for a descriptor,
   the wake-up or the next timer, then calls at most `most` ready functions, going on next time
   where it stopped. Returns how many were called. A signal ends the wait early; with a host's loop
   there is none, nor when phi__io_timers has fired one since the last call: what that timer did may
   be what the caller sleeps for. What was posted before a wake that this swallowed is visible when
   it returns: look at the inbox again before sleeping on phi__io_fd. */
PHI__FN int phi__io_wait(phi__io *io, int timeout_ms, int most);
PHI__FN int phi__io_timers(phi__io *io, int most); /* fires what is due; returns how many */

/* The host's loop says fd is ready (watch_fn); unknown descriptors are ignored. */
PHI__FN void phi__io_ready(phi__io *io, intptr_t fd, int have);

PHI__FN intptr_t phi__io_fd(const phi__io *io);     /* what a host may sleep on, or -1 */
PHI__FN intptr_t phi__io_any_fd(const phi__io *io); /* an open one, to try a dup of */
PHI__FN void phi__io_wake(phi__io *io);             /* ends a wait; any thread, async-signal-safe */

/* Something phi__io_free must end: it calls `end` once for each that is still in the list, newest
   first, before anything of the io's own is gone. Lives in its owner, zeroed at first. (Children
   that were killed and forgotten but not yet reaped.) */
typedef struct phi__ending {
    struct phi__ending *next, *prev;         /* a ring through the io's own; NULL: not in it */
    void (*end)(struct phi__ending *ending); /* it is out of the list by then */
} phi__ending;
PHI__FN void phi__io_ending_add(phi__io *io, phi__ending *ending);
PHI__FN void phi__io_ending_remove(phi__io *io, phi__ending *ending); /* not in it: harmless */
PHI__FN bool phi__io_pending(const phi__io *io); /* any is in it; a few more turns may end it */

/* Admission: starting a transfer or a process is work. True takes one of this step's starts. */
PHI__FN void phi__io_step_begin(phi__io *io);
PHI__FN bool phi__io_may_start(phi__io *io);
PHI__FN phi_memory *phi__io_memory(phi__io *io);

#endif

/* ---- src/io/request_in.h ---- */

/* request_in.h - a request as pieces: immutable bytes that live elsewhere, and glue between them.

   The body is never joined: it is read from any offset by a binary search over the pieces. All
   memory belongs to whoever built it and outlives the transfer. */
#ifndef PHI_IO_REQUEST_IN_H
#define PHI_IO_REQUEST_IN_H


typedef struct phi__piece {
    const char *at;
    size_t len;
    uint64_t start; /* offset in the body; filled by phi__request_seal */
} phi__piece;

typedef struct phi__header {
    phi_str name, value; /* both terminated behind their length */
} phi__header;

struct phi_request {
    phi_str method, url; /* terminated behind their length */
    phi__header *headers;
    size_t header_count;
    phi__piece *pieces;
    size_t piece_count;
    uint64_t length;
};

/* Fills starts and length. */
PHI__FN void phi__request_seal(phi_request *request);

#endif

/* ---- src/io/http_in.h ---- */

/* http_in.h - the transport over libcurl, pumped by phi__io.

   curl's callbacks only copy: the write callback pushes into the transfer's bounded buffer and
   pauses the transfer when that is full. Removal is deferred, so that no lookup is waited for.
   Callbacks: stage, head and push may come inside a call of curl's, and a push inside resume; from
   there open, resume and cancel are allowed. end comes from the pump alone, or a timer of it. */
#ifndef PHI_IO_HTTP_IN_H
#define PHI_IO_HTTP_IN_H


typedef struct phi__http phi__http;

/* Where a transport's findings go; the runtime fills it with the phi_xfer_ functions' bodies. */
typedef struct phi__xfer_port {
    phi_status (*stage)(phi_xfer xfer, phi_xfer_stage stage);
    phi_status (*head)(phi_xfer xfer, int http_status, const char *headers, size_t len);
    phi_status (*push)(phi_xfer xfer, const char *bytes, size_t len);
    phi_status (*end)(phi_xfer xfer, phi_status status, const char *words);
} phi__xfer_port;

typedef struct phi__http_desc {
    uint32_t max_connections;   /* more wait their turn */
    bool enable_http2;          /* at most 10 streams a connection */
    bool use_environment;       /* proxy variables */
    const char *proxy;          /* copied; NULL: none */
    const char *ca_file;        /* copied; NULL: the system's */
    const char *const *resolve; /* "HOST:PORT:ADDRESS" entries, copied; NULL-ended; NULL: none */
} phi__http_desc;

/* Fails with PHI_UNSUPPORTED and words when libcurl is too old or lacks SSL. One-time
   curl_global_init happens here. */
PHI__FN phi_status phi__http_new(phi__io *io, const phi__http_desc *desc,
                                 const phi__xfer_port *port, phi__http **out, const char **words);

/* Its transport; valid until free. An xfer's index is to be small: it is a place in a table. A name
   that would be looked up without AsynchDNS ends with PHI_UNSUPPORTED. When no descriptor is left
   while others are under way, a transfer goes back to the queue: STARTED may then be told twice. */
PHI__FN const phi_transport *phi__http_transport(phi__http *http);

/* Loads the CA store (20 ms and more, in this call; a libcurl before 7.87 cannot keep it) and
   starts a connection to url's host that later steps finish: a HEAD of / without any key, after
   which the connection is kept for the first request. PHI_BUSY: max_connections are in use. */
PHI__FN phi_status phi__http_warm(phi__http *http, phi_str url);

/* What is still going: transfers, removals. Zero means free costs nothing. */
PHI__FN size_t phi__http_pending(const phi__http *http);

/* Cancels what is left. May wait for a resolver thread where libcurl cannot quit one (pending says
   so beforehand). NULL is harmless. */
PHI__FN void phi__http_free(phi__http *http);

#endif

/* ---- src/io/http_curl_in.h ---- */

/* http_curl_in.h - what the files of the libcurl transport share.

   A request is a place in the table of its phi_xfer's index: waiting there costs no more than the
   place. When it starts it becomes a phi__transfer with an easy handle. A transfer is in exactly
   one list: active (curl works on it), done (curl has finished, its end is to be told), dying
   (cancelled; nothing of its request is touched any more, it waits for its removal).
   Nothing in here is freed inside a callback of curl: only the pump removes. */
#ifndef PHI_IO_HTTP_CURL_IN_H
#define PHI_IO_HTTP_CURL_IN_H


#if !defined(PHI_NO_CURL)

#include <curl/curl.h>

#define PHI__HTTP_HEAD_BYTES 16384       /* of header lines; transport.h */
#define PHI__HTTP_JOIN_BYTES 16384       /* bodies up to this are sent from one block */
#define PHI__HTTP_OVERFLOW_BYTES 1048576 /* of an HTTP/2 stream that is not taken */
#define PHI__HTTP_WORDS_BYTES 512

typedef struct phi__transfer {
    struct phi__transfer *next, *prev;
    struct phi__transfer_list *list;
    phi__http *http;
    CURL *easy;
    struct curl_slist *headers;
    phi_xfer xfer;
    const phi_request *request; /* NULL: a warm-up, or cancelled */
    char *url;                  /* a warm-up's own, terminated; else NULL */
    size_t url_bytes;
    char *body; /* a small body, joined; NULL once sent */
    size_t body_bytes;
    curl_socket_t fd;  /* the newest it has opened, or CURL_SOCKET_BAD */
    uint64_t body_at;  /* how far the read callback has come */
    phi__buf head;     /* header lines of the answer that is coming */
    phi__buf overflow; /* HTTP/2: bytes that a push refused, from overflow_at on */
    size_t overflow_at;
    int http_status;
    CURLcode result;   /* when done */
    phi_status failed; /* our own reason to stop; PHI_OK: none */
    bool added;        /* in the multi handle */
    bool finished;     /* curl has said so */
    bool resolving;    /* a name is being looked up */
    bool no_descriptor, connected, head_told, http2, paused, resume_wanted;
    char error[CURL_ERROR_SIZE];
} phi__transfer;

typedef struct phi__transfer_list {
    phi__transfer *first, *last;
    size_t count;
} phi__transfer_list;

typedef enum phi__http_state {
    PHI__HTTP_FREE = 0,
    PHI__HTTP_QUEUED,
    PHI__HTTP_STARTED
} phi__http_state;

typedef struct phi__http_slot {
    phi_xfer xfer;
    phi__http_state state;
    const phi_request *request;
    phi__transfer *transfer; /* when started */
    uint32_t next, prev;     /* in the queue, when queued; index + 1, 0: none */
} phi__http_slot;

struct phi__http {
    phi__io *io;
    phi_memory *memory;
    phi__xfer_port port;
    phi_transport transport;
    phi_arena strings; /* copies from the desc */
    CURLM *multi;
    struct curl_slist *resolve;
    const char *proxy, *ca_file;
    uint32_t max_connections;
    bool http2, use_environment, drop_ca_path;
    bool async_dns, quick_exit, prereq, mask_sigpipe, ca_cache; /* of the libcurl at hand */
    bool ca_loaded;
    phi__http_slot *slots;
    size_t slot_count;
    uint32_t queue_first, queue_last; /* index + 1, 0: none */
    size_t queue_count;
    phi__transfer_list active, done, dying;
    size_t live;            /* in the multi handle, and not yet finished */
    phi__timer curl_timer;  /* curl's one timeout */
    phi__timer kick;        /* the pump has work left: do not sleep */
    uint64_t hold_until_us; /* out of descriptors: start none before */
    int inside;             /* calls into libcurl that are going on */
    bool signal_held, pumping, resumes_wanted, starved;
};

/* ---- http_transfer.c: one easy handle ---- */

/* A new one in the active list, or NULL. */
PHI__FN phi__transfer *phi__transfer_new(phi__http *http);

/* Makes the easy handle for t's request (or warm-up) and adds it. Not PHI_OK: words is a static
   text, nothing was added, and t is still to be freed. */
PHI__FN phi_status phi__transfer_begin(phi__transfer *t, const char **words);

/* Removes it from the multi handle and frees it. Outside of curl's callbacks only. */
PHI__FN void phi__transfer_free(phi__transfer *t);
PHI__FN void phi__transfer_resume(phi__transfer *t); /* outside of curl's callbacks only */
PHI__FN void phi__transfer_move(phi__transfer *t, phi__transfer_list *list); /* NULL: to none */

/* ---- http_drive.c: libcurl's sockets and timeout over phi__io ---- */

PHI__FN bool phi__http_drive_init(phi__http *http); /* false: no memory, or too old */
PHI__FN void phi__http_drive_due(phi__http *http);  /* runs curl's timeout if it is due */
PHI__FN void phi__http_act(phi__http *http, curl_socket_t fd, int have); /* lets curl work on fd */
PHI__FN void phi__http_enter(phi__http *http); /* around every call that may call back */
PHI__FN void phi__http_leave(phi__http *http);
PHI__FN void phi__http_kick(phi__http *http, uint64_t at_us); /* 0: now */

/* ---- http_warm.c: the certificate store ---- */

PHI__FN void phi__http_load_ca(phi__http *http);

/* ---- http_words.c: what went wrong ---- */

PHI__FN phi_str phi__http_host(phi_str url);     /* without user, port and brackets; may be empty */
PHI__FN phi_str phi__http_port(phi_str url);     /* "443" or "80" where it gives none */
PHI__FN bool phi__http_is_address(phi_str host); /* numeric: needs no lookup */
PHI__FN phi_status phi__http_words(const phi__transfer *t, char *out, size_t size);

/* ---- http_posix.c: the system ---- */

/* As socket(), close-on-exec; CURL_SOCKET_BAD, and *none_left when descriptors or buffers are. */
PHI__FN curl_socket_t phi__http_open_socket(int family, int type, int protocol, bool *none_left);
/* A socket that listens on a loopback port of the system's choosing, or CURL_SOCKET_BAD. */
PHI__FN curl_socket_t phi__http_listen(int *port);
/* Whether the peer that connected to it, kept in *peer, has sent bytes. */
PHI__FN bool phi__http_heard(curl_socket_t listener, curl_socket_t *peer);
PHI__FN void phi__http_close(curl_socket_t fd); /* CURL_SOCKET_BAD is harmless */
PHI__FN bool phi__http_descriptors_left(intptr_t any_fd, int count);
PHI__FN phi_status phi__http_connect_status(long os_error); /* REFUSED, TIMEOUT or NETWORK */
PHI__FN bool phi__http_can_read(const char *path);
PHI__FN void phi__http_yield(void);

/* Keeps SIGPIPE from the host while older libcurls write to TLS: blocks it on this thread, and
   takes away what came. True: blocked, and to be released. */
PHI__FN bool phi__http_signal_hold(void);
PHI__FN void phi__http_signal_release(void);

#endif
#endif

/* ---- src/io/inbox_in.h ---- */

/* inbox_in.h - what other threads say to the pumping thread: a lock-free ring of fixed size.

   Producers reserve room with a compare-and-swap and publish a record by its first word; the one
   consumer reads published records in order and zeroes the room behind them. A producer that was
   stopped between the two holds up the records behind its own, never the producers.
   Ownership: the memory is taken at start; a posted text is copied into it.
   Threads: phi__inbox_post from any; the rest on the pumping thread. Posters must have stopped before
   phi__inbox_free. */
#ifndef PHI_IO_INBOX_IN_H
#define PHI_IO_INBOX_IN_H


typedef struct phi__inbox {
    phi_memory *memory;
    char *ring;
    uint32_t size;       /* bytes, a power of two */
    uint32_t head, tail; /* running counts of bytes; atomic */
} phi__inbox;

/* One message: what, about whom, and up to a bounded text. */
typedef struct phi__post {
    uint32_t kind;       /* the owner's numbering, not 0 */
    uint32_t index, gen; /* a handle */
    uint32_t flag;
    phi_str text;
} phi__post;

PHI__FN phi_status phi__inbox_init(phi__inbox *inbox, phi_memory *memory, size_t bytes);
PHI__FN void phi__inbox_free(phi__inbox *inbox); /* zeroed or freed before is harmless */

/* PHI_FULL: no room now. PHI_BAD_ARG: longer than half the ring, it can never be sure to fit. */
PHI__FN phi_status phi__inbox_post(phi__inbox *inbox, const phi__post *post);

/* The same in two halves, for what must be sure of its room before it is true: after PHI_OK,
   phi__inbox_publish must follow soon; nothing behind it is seen before. `keep` false: the message is
   as if never posted. */
struct phi__inbox_record;
PHI__FN phi_status phi__inbox_prepare(phi__inbox *inbox, const phi__post *post,
                                      struct phi__inbox_record **out);
PHI__FN void phi__inbox_publish(struct phi__inbox_record *record, bool keep);

/* The oldest message; false: none. `out->text` is valid until phi__inbox_drop, which must follow. */
PHI__FN bool phi__inbox_peek(phi__inbox *inbox, phi__post *out);
PHI__FN void phi__inbox_drop(phi__inbox *inbox);

#endif

/* ---- src/io/os_in.h ---- */

/* os_in.h - which system this is built for, decided once.

   PHI__OS_POSIX or PHI__OS_WINDOWS chooses the half of a concern that is compiled; the finer names
   choose calls within the POSIX half. Exactly one PHI__POLLER_ name is defined. */
#ifndef PHI_IO_OS_IN_H
#define PHI_IO_OS_IN_H

#if defined(_WIN32)
#define PHI__OS_WINDOWS 1
#else
#define PHI__OS_POSIX 1
#if defined(__linux__)
#define PHI__OS_LINUX 1
#elif defined(__APPLE__)
#define PHI__OS_MACOS 1
#define PHI__OS_BSD 1
#elif defined(__FreeBSD__) || defined(__NetBSD__) || defined(__OpenBSD__) || defined(__DragonFly__)
#define PHI__OS_BSD 1
#endif
#endif

#if defined(PHI__OS_POSIX)
#if defined(PHI_USE_POLL)
#define PHI__POLLER_POLL 1
#elif defined(PHI__OS_LINUX)
#define PHI__POLLER_EPOLL 1
#elif defined(PHI__OS_BSD)
#define PHI__POLLER_KQUEUE 1
#else
#define PHI__POLLER_POLL 1
#endif
#endif

#endif

/* ---- src/io/poller_in.h ---- */

/* poller_in.h - which descriptors are ready, asked of the system: epoll, kqueue or poll, chosen at
   build time; and the host's loop, which tells us by descriptor.

   A descriptor is known by the key its owner gave it. Level-triggered. An error or a hang-up counts
   as ready for both reading and writing. */
#ifndef PHI_IO_POLLER_IN_H
#define PHI_IO_POLLER_IN_H


typedef struct phi__poller phi__poller;

typedef struct phi__poller_event {
    uint32_t key;
    int have; /* PHI__READ, PHI__WRITE */
} phi__poller_event;

PHI__FN phi_status phi__poller_new(phi_memory *memory, phi__poller **out);
PHI__FN void phi__poller_free(phi__poller *poller); /* NULL is harmless */

/* From watching fd for `was` to watching it for `want` (0: not at all) under `key`, which is small
   and unique. Forgetting never fails. */
PHI__FN phi_status phi__poller_change(phi__poller *poller, intptr_t fd, int was, int want,
                                      uint32_t key);

/* Waits up to timeout_ms (<0: without end) and reports up to `cap` descriptors; a signal ends the
   wait with 0. One descriptor may be reported twice, for reading and for writing. */
PHI__FN int phi__poller_wait(phi__poller *poller, int timeout_ms, phi__poller_event *out, int cap);

PHI__FN intptr_t phi__poller_fd(const phi__poller *poller); /* readable when one is ready, or -1 */

/* With a host's loop: a hash table from descriptor to key. */
typedef struct phi__fd_entry {
    intptr_t fd;
    uint32_t key; /* 0: empty */
} phi__fd_entry;

typedef struct phi__fd_map {
    phi_memory *memory; /* borrowed */
    phi__fd_entry *entries;
    size_t count, cap; /* cap: a power of two, or 0 */
} phi__fd_map;

PHI__FN void phi__fd_map_init(phi__fd_map *map, phi_memory *memory);
PHI__FN void phi__fd_map_free(phi__fd_map *map);
PHI__FN bool phi__fd_map_put(phi__fd_map *map, intptr_t fd, uint32_t key); /* false: no memory */
PHI__FN uint32_t phi__fd_map_get(const phi__fd_map *map, intptr_t fd);     /* 0: unknown */
PHI__FN void phi__fd_map_remove(phi__fd_map *map, intptr_t fd);

#endif

/* ---- src/io/posix_in.h ---- */

/* posix_in.h - what files and processes share: the system's words for an error, and a write that
   cannot kill the host by a signal. */
#ifndef PHI_IO_POSIX_IN_H
#define PHI_IO_POSIX_IN_H


#if !defined(PHI_NO_PROCESS) || !defined(PHI_NO_FILES)

/* The system's words for an errno value, terminated; safe with other threads about. */
PHI__FN void phi__posix_words(int error, char *out, size_t size);

/* Writes what fits at once, up to n bytes, with SIGPIPE and SIGXFSZ held back on this thread and
   taken out of its queue if the write caused one; no disposition is touched. Returns 0 or an errno
   value (EAGAIN: no room now). */
PHI__FN int phi__posix_write(int fd, const char *bytes, size_t n, size_t *wrote);

#endif
#endif

/* ---- src/io/process_in.h ---- */

/* process_in.h - child processes as streams: spawned without waiting, read as bytes arrive, killed
   as a group, reaped without blocking.

   A child leads a process group of its own, starts with default signals and an empty signal mask,
   in the host's environment and what the desc adds, and holds no descriptor but its three streams
   (where the system cannot close the rest: none of phi's). When it has exited, what is left of
   its group is killed: nothing it started in the background outlives it, unless it left the group.

   A host that ignores SIGCHLD, or waits for any child itself, takes the exit status from us: such
   a child is reported as exited with code -1 and signal 0, and its group is left alone, since its
   number may belong to others by then.

   Ownership: a phi__process belongs to its caller until phi__process_free, which kills and forgets
   it; reaping goes on in the pump, and phi__io_pending says whether there is some to do. All must be
   freed before the phi__io; phi__io_free waits at most 50 ms for each that was killed but is not
   dead yet, and leaves it to the system then.
   Callbacks: every function here may be called inside `output` and `exited`. */
#ifndef PHI_IO_PROCESS_IN_H
#define PHI_IO_PROCESS_IN_H


#ifndef PHI_NO_PROCESS

typedef struct phi__process phi__process;

typedef struct phi__process_desc {
    const char *const *argv; /* NULL-ended; copied; argv[0] is looked up in PATH */
    const char *cwd;         /* NULL: the host's */
    const char *const
        *env;        /* "NAME=value", NULL-ended, added to or replacing the host's; NULL: none */
    phi_str input;   /* written to the child's stdin, then closed; copied */
    bool keep_stdin; /* stdin stays open for phi__process_write; else, with no input, it is
                                /dev/null */
    /* Bytes of stdout (1) or stderr (2), on the pumping thread, at most 16 KiB a stream and turn;
       borrowed until it returns. False stops the reading of that stream until
       phi__process_resume. */
    bool (*output)(void *ctx, int stream, const char *bytes, size_t len);
    /* Once: exited with `code`, or -1 with `signal_number` not 0. Both streams were read to their
       end before it, or for at most 100 ms of the io's clock after the exit (and then 1 MiB) when a
       grandchild holds them open. A stopped stream is waited for. */
    void (*exited)(void *ctx, int code, int signal_number);
    void *ctx;
} phi__process_desc;

/* PHI_BUSY: no start was free this step, or the system is out of descriptors or processes: try
   again; PHI_NOT_FOUND: no such program; PHI_IO: the system refused; PHI_UNSUPPORTED: no cwd here.
   Words of the system's go to `words`, terminated; may be NULL with size 0. */
PHI__FN phi_status phi__process_new(phi__io *io, const phi__process_desc *desc, phi__process **out,
                                    char *words, size_t words_size);

/* Queues bytes for stdin, at most 1 MiB in all: PHI_FULL, and none was taken. PHI_STALE: stdin is
   closed, by us or by the child. */
PHI__FN phi_status phi__process_write(phi__process *process, phi_str bytes);
PHI__FN void phi__process_close_input(phi__process *process); /* once what is queued is written */
PHI__FN void phi__process_resume(phi__process *process);
PHI__FN void phi__process_kill(phi__process *process); /* the whole group; exited still comes */
/* Kills if alive; no callback after it. NULL is harmless. */
PHI__FN void phi__process_free(phi__process *process);

#endif
#endif

/* ---- src/io/process_spawn_in.h ---- */

/* process_spawn_in.h - starting a program with three given descriptors, by posix_spawn only: fork
   copies the page tables of the host, tens of milliseconds when it is large. */
#ifndef PHI_IO_PROCESS_SPAWN_IN_H
#define PHI_IO_PROCESS_SPAWN_IN_H


#ifndef PHI_NO_PROCESS

typedef struct phi__spawn {
    const char *const *argv, *const *env; /* as in phi__process_desc */
    const char *cwd;
    int fds[3]; /* become 0, 1 and 2; each is 3 or more; -1: /dev/null */
} phi__spawn;

/* 0 and *pid, or an errno value. `memory` holds the environment until it returns. */
PHI__FN int phi__spawn_start(phi_memory *memory, const phi__spawn *spawn, int *pid);

#endif
#endif

/* ---- src/io/wake_in.h ---- */

/* wake_in.h - a descriptor that another thread or a signal handler makes readable.

   Wakes are merged: between two drains at most one reaches the kernel. What a thread wrote before a
   wake is visible to the pumping thread once the drain that swallowed the wake has returned. */
#ifndef PHI_IO_WAKE_IN_H
#define PHI_IO_WAKE_IN_H


typedef struct phi__wake {
    intptr_t read_fd, write_fd; /* one eventfd, or the ends of a pipe; -1 when not open */
    int signalled;              /* atomic */
} phi__wake;

PHI__FN phi_status phi__wake_open(phi__wake *wake);
PHI__FN void phi__wake_close(phi__wake *wake);  /* an unopened one holds -1, and is harmless */
PHI__FN void phi__wake_signal(phi__wake *wake); /* any thread, async-signal-safe, keeps errno */
PHI__FN void phi__wake_drain(phi__wake *wake);

#endif

/* ---- src/io/clock_posix.c ---- */

/* clock_posix.c - clocks and random bytes on POSIX systems. */

#if defined(PHI__OS_POSIX)

#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>
#if defined(PHI__OS_LINUX) || defined(PHI__OS_MACOS)
#include <sys/random.h>
#endif

PHI__FN uint64_t phi__clock_us(void) {
    struct timespec now;
    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0) return 0;
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

PHI__FN int64_t phi__clock_wall_ms(void) {
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0) return 0;
    return (int64_t)now.tv_sec * 1000 + (int64_t)(now.tv_nsec / 1000000);
}

/* One call of the kernel's; how many bytes it gave, 0 for none. */
static size_t phi__clock_kernel_random(char *out, size_t len) {
#if defined(PHI__OS_LINUX)
    ssize_t n = getrandom(out, len, 0);
    while (n < 0 && errno == EINTR) n = getrandom(out, len, 0);
    return n > 0 ? (size_t)n : 0;
#elif defined(PHI__OS_BSD)
    size_t n = phi__min(len, 256); /* the most getentropy gives */
    return getentropy(out, n) == 0 ? n : 0;
#else
    (void)out;
    (void)len;
    return 0;
#endif
}

#if defined(PHI_NO_FILES)
static size_t phi__clock_device_random(char *out, size_t len) {
    (void)out;
    (void)len;
    return 0;
}
#else
static size_t phi__clock_device_random(char *out, size_t len) {
    int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    size_t done = 0;
    if (fd < 0) return 0;
    while (done < len) {
        ssize_t n = read(fd, out + done, len - done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        done += (size_t)n;
    }
    (void)close(fd);
    return done;
}
#endif

static void phi__clock_weak_random(char *out, size_t len) {
    uint64_t x = phi__clock_us() ^ ((uint64_t)getpid() << 40) ^ (uint64_t)(uintptr_t)out ^
                 (uint64_t)phi__clock_wall_ms() * 0x9E3779B97F4A7C15u;
    size_t i;
    for (i = 0; i < len; i++) { /* splitmix64 */
        uint64_t z = (x += 0x9E3779B97F4A7C15u);
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        out[i] = (char)(unsigned char)((z ^ (z >> 31)) & 0xFF);
    }
}

PHI__FN void phi__clock_random(void *out, size_t len) {
    char *at = (char *)out;
    while (len > 0) {
        size_t n = phi__clock_kernel_random(at, len);
        if (n == 0) n = phi__clock_device_random(at, len);
        if (n == 0) {
            phi__clock_weak_random(at, len);
            n = len;
        }
        at += n;
        len -= n;
    }
}

#endif

/* ---- src/io/files.c ---- */

/* files.c - reading and replacing files, and making directories. */

#ifndef PHI_NO_FILES


#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PHI__FILE_TEMP_TRIES = 100, PHI__FILE_TEMP_BYTES = 40 /* "/.phi-" two numbers ".tmp" */ };

struct phi__file {
    phi_memory *memory;
    int fd;
    bool failed;       /* a write did: not to be committed */
    bool has_temp;     /* to be renamed or removed */
    char *path, *temp; /* of a replacement; two texts in one block */
    size_t bytes;      /* of that block */
};

static phi_status phi__file_refused(int error, phi__words *words) {
    if (words != NULL) phi__posix_words(error, words->text, sizeof words->text);
    return error == ENOENT ? PHI_NOT_FOUND : error == ENOMEM ? PHI_NO_MEMORY : PHI_IO;
}

static phi_status phi__file_refused_as(const char *text, phi__words *words) {
    if (words != NULL) (void)snprintf(words->text, sizeof words->text, "%s", text);
    return PHI_IO;
}

static phi__file_kind phi__file_kind_of(mode_t mode) {
    if (S_ISREG(mode)) return PHI__FILE_REGULAR;
    if (S_ISDIR(mode)) return PHI__FILE_DIRECTORY;
    return S_ISLNK(mode) ? PHI__FILE_LINK : PHI__FILE_OTHER;
}

static int phi__file_open(const char *path, int flags, mode_t mode) {
    int fd;
    do fd = open(path, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, mode);
    while (fd < 0 && errno == EINTR);
    return fd;
}

static phi__file *phi__file_new(phi_memory *memory) {
    phi__file *file = (phi__file *)phi__alloc(memory, sizeof *file);
    if (file == NULL) return NULL;
    file->memory = memory;
    file->fd = -1;
    return file;
}

/* A new file beside file->path. A short name of its own, so that a long name has room too. Returns
   an errno value. */
static int phi__file_open_temp(phi__file *file, mode_t mode) {
    size_t dir = strlen(file->path);
    struct timespec now;
    int i;
    while (dir > 0 && file->path[dir - 1] != '/') dir--;
    memcpy(file->temp, file->path, dir);
    for (i = 0; i < PHI__FILE_TEMP_TRIES; i++) {
        (void)clock_gettime(CLOCK_MONOTONIC, &now);
        (void)snprintf(file->temp + dir, PHI__FILE_TEMP_BYTES, ".phi-%08x%08x.tmp",
                       (unsigned)getpid(), (unsigned)now.tv_nsec + (unsigned)i);
        file->fd = phi__file_open(file->temp, O_WRONLY | O_CREAT | O_EXCL, mode);
        if (file->fd >= 0) {
            file->has_temp = true;
            return 0;
        }
        if (errno != EEXIST) return errno;
    }
    return EEXIST;
}

/* The temporary file becomes like the one it will replace: readable to no one else meanwhile. */
static int phi__file_take_after(phi__file *file, const struct stat *old) {
    struct stat now;
    if (fstat(file->fd, &now) != 0) return errno;
    if (now.st_uid != old->st_uid || now.st_gid != old->st_gid)
        if (fchown(file->fd, old->st_uid, old->st_gid) != 0 && errno != EPERM) return errno;
    return fchmod(file->fd, old->st_mode & 07777) != 0 ? errno : 0;
}

static phi_status phi__file_begin_replace(phi__file *file, phi__words *words) {
    struct stat old;
    bool exists = stat(file->path, &old) == 0;
    int error = exists || errno == ENOENT ? 0 : errno;
    if (error == 0 && exists && S_ISDIR(old.st_mode)) error = EISDIR;
    if (error == 0 && exists && faccessat(AT_FDCWD, file->path, W_OK, AT_EACCESS) != 0)
        error = errno;
    if (error == 0 && exists && S_ISCHR(old.st_mode)) {
        file->fd = phi__file_open(file->path, O_WRONLY, 0);
        if (file->fd < 0) error = errno;
    } else if (error == 0 && exists && !S_ISREG(old.st_mode)) {
        return phi__file_refused_as("Not a regular file", words);
    } else if (error == 0) {
        error = phi__file_open_temp(file, exists ? 0600 : 0666);
        if (error == 0 && exists) error = phi__file_take_after(file, &old);
    }
    return error == 0 ? PHI_OK : phi__file_refused(error, words);
}

/* ---- for other modules ---- */

PHI__FN phi_status phi__file_stat(const char *path, bool follow, phi__file_info *out,
                                  phi__words *words) {
    struct stat info;
    out->kind = PHI__FILE_NONE;
    out->bytes = 0;
    if ((follow ? stat(path, &info) : lstat(path, &info)) != 0)
        return phi__file_refused(errno, words);
    out->kind = phi__file_kind_of(info.st_mode);
    out->bytes = info.st_size > 0 ? (uint64_t)info.st_size : 0;
    return PHI_OK;
}

PHI__FN phi_status phi__file_open_read(phi_memory *memory, const char *path, phi__file **out,
                                       phi__words *words) {
    phi__file *file = phi__file_new(memory);
    phi_status status = PHI_OK;
    struct stat info;
    *out = NULL;
    if (file == NULL) return phi__file_refused(ENOMEM, words);
    file->fd = phi__file_open(path, O_RDONLY, 0);
    if (file->fd < 0 || fstat(file->fd, &info) != 0)
        status = phi__file_refused(errno, words);
    else if (S_ISDIR(info.st_mode))
        status = phi__file_refused(EISDIR, words);
    else if (!S_ISREG(info.st_mode))
        status = phi__file_refused_as("Not a regular file", words);
    if (status == PHI_OK)
        *out = file;
    else
        phi__file_close(file);
    return status;
}

PHI__FN phi_status phi__file_open_replace(phi_memory *memory, const char *path, phi__file **out,
                                          phi__words *words) {
    char real[PHI__PATH_BYTES];
    phi__file *file;
    phi_status status = phi__path_resolve(NULL, path, real, sizeof real, words);
    size_t n;
    *out = NULL;
    if (status != PHI_OK) return status;
    file = phi__file_new(memory);
    if (file == NULL) return phi__file_refused(ENOMEM, words);
    n = strlen(real);
    file->bytes = 2 * (n + 1) + PHI__FILE_TEMP_BYTES;
    file->path = (char *)phi__alloc(memory, file->bytes);
    if (file->path == NULL) {
        phi__file_close(file);
        return phi__file_refused(ENOMEM, words);
    }
    memcpy(file->path, real, n + 1);
    file->temp = file->path + n + 1;
    status = phi__file_begin_replace(file, words);
    if (status == PHI_OK)
        *out = file;
    else
        phi__file_close(file);
    return status;
}

PHI__FN phi_status phi__file_read(phi__file *file, char *out, size_t n, size_t *got,
                                  phi__words *words) {
    ssize_t result;
    *got = 0;
    do result = read(file->fd, out, n);
    while (result < 0 && errno == EINTR);
    if (result < 0) return phi__file_refused(errno, words);
    *got = (size_t)result;
    return PHI_OK;
}

PHI__FN phi_status phi__file_write(phi__file *file, const char *bytes, size_t n,
                                   phi__words *words) {
    size_t at = 0, wrote;
    int error = file->failed ? EIO : 0;
    while (error == 0 && at < n) {
        error = phi__posix_write(file->fd, bytes + at, n - at, &wrote);
        at += wrote;
        if (error == 0 && wrote == 0) error = ENOSPC;
    }
    if (error == 0) return PHI_OK;
    file->failed = true;
    return phi__file_refused(error, words);
}

PHI__FN phi_status phi__file_commit(phi__file *file, phi__words *words) {
    int fd = file->fd;
    if (file->failed) return phi__file_refused(EIO, words);
    file->fd = -1;
    if (fd >= 0 && close(fd) != 0 && errno != EINTR) {
        file->failed = true; /* some file systems tell of a full disk only here */
        return phi__file_refused(errno, words);
    }
    if (file->has_temp) {
        if (rename(file->temp, file->path) != 0) return phi__file_refused(errno, words);
        file->has_temp = false;
    }
    return PHI_OK;
}

PHI__FN void phi__file_close(phi__file *file) {
    if (file == NULL) return;
    if (file->fd >= 0) (void)close(file->fd);
    if (file->has_temp) (void)unlink(file->temp);
    phi__free(file->memory, file->path, file->bytes);
    phi__free(file->memory, file, sizeof *file);
}

PHI__FN phi_status phi__make_directories(const char *path, phi__words *words) {
    char part[PHI__PATH_BYTES];
    struct stat info;
    size_t n = strlen(path), i;
    int error = 0;
    if (n == 0) return phi__file_refused(ENOENT, words);
    if (n >= sizeof part) return phi__file_refused(ENAMETOOLONG, words);
    memcpy(part, path, n + 1);
    for (i = 1; i <= n; i++) {
        if (i < n && part[i] != '/') continue;
        part[i] = '\0';
        error = mkdir(part, 0777) == 0 ? 0 : errno;
        /* Other refusals than EEXIST come first for a root that is read-only, or not ours. */
        if (error != 0 && stat(part, &info) == 0) error = S_ISDIR(info.st_mode) ? 0 : ENOTDIR;
        if (error != 0) return phi__file_refused(error, words);
        if (i < n) part[i] = '/';
    }
    return PHI_OK;
}

#endif

/* ---- src/io/files_path.c ---- */

/* files_path.c - resolving paths, by looking at every part of them.

   realpath refuses a path whose end does not exist yet, which is what a file about to be written
   has, and a check of the text alone is fooled by links. */

#ifndef PHI_NO_FILES


#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PHI__PATH_LINKS = 40 }; /* followed in one path; as Linux */

/* `rest` is what is still to be looked at, at its right end, so that a link's target can be put
   before it. `out` is what was resolved; its root is the empty text. */
typedef struct phi__path {
    char *out;
    size_t len, size;
    char rest[PHI__PATH_BYTES];
    size_t at;
    int links;
} phi__path;

static int phi__path_prepend(phi__path *p, const char *text, size_t n) {
    if (n > p->at) return ENAMETOOLONG;
    p->at -= n;
    memcpy(p->rest + p->at, text, n);
    return 0;
}

static void phi__path_up(phi__path *p) {
    while (p->len > 0 && p->out[--p->len] != '/') continue;
    p->out[p->len] = '\0';
}

static int phi__path_link(phi__path *p) {
    char target[PHI__PATH_BYTES];
    ssize_t n = readlink(p->out, target, sizeof target);
    int error;
    if (n < 0) return errno;
    if (n == 0) return ENOENT;
    if ((size_t)n == sizeof target) return ENAMETOOLONG;
    if (++p->links > PHI__PATH_LINKS) return ELOOP;
    if (target[0] == '/')
        p->len = 0;
    else
        phi__path_up(p);
    error = phi__path_prepend(p, "/", 1);
    return error != 0 ? error : phi__path_prepend(p, target, (size_t)n);
}

static bool phi__path_more(const phi__path *p) {
    size_t i;
    for (i = p->at; i < sizeof p->rest; i++)
        if (p->rest[i] != '/') return true;
    return false;
}

/* One part of n bytes, at p->at. */
static int phi__path_part(phi__path *p, size_t n) {
    const char *part = p->rest + p->at;
    struct stat info;
    p->at += n;
    if (n == 1 && part[0] == '.') return 0;
    if (n == 2 && part[0] == '.' && part[1] == '.') {
        phi__path_up(p);
        return 0;
    }
    if (p->len + n + 2 > p->size) return ENAMETOOLONG;
    p->out[p->len] = '/';
    memcpy(p->out + p->len + 1, part, n);
    p->len += n + 1;
    p->out[p->len] = '\0';
    if (lstat(p->out, &info) != 0) return errno == ENOENT ? 0 : errno;
    if (S_ISLNK(info.st_mode)) return phi__path_link(p);
    return !S_ISDIR(info.st_mode) && phi__path_more(p) ? ENOTDIR : 0;
}

static int phi__path_begin(phi__path *p, const char *base, const char *path) {
    char here[PHI__PATH_BYTES];
    int error;
    p->at = sizeof p->rest;
    if (path[0] == '\0') return ENOENT;
    error = phi__path_prepend(p, path, strlen(path));
    if (error == 0 && path[0] != '/' && base != NULL) {
        error = phi__path_prepend(p, "/", 1);
        if (error == 0) error = phi__path_prepend(p, base, strlen(base));
    }
    if (error == 0 && p->rest[p->at] != '/') {
        if (getcwd(here, sizeof here) == NULL) return errno;
        error = phi__path_prepend(p, "/", 1);
        if (error == 0) error = phi__path_prepend(p, here, strlen(here));
    }
    return error;
}

/* ---- for other modules ---- */

PHI__FN phi_status phi__path_resolve(const char *base, const char *path, char *out, size_t size,
                                     phi__words *words) {
    phi__path p;
    int error;
    if (size < 2) return PHI_BAD_ARG;
    p.out = out;
    p.size = size;
    p.len = 0;
    p.links = 0;
    out[0] = '\0';
    error = phi__path_begin(&p, base, path);
    while (error == 0 && p.at < sizeof p.rest) {
        size_t n = 0;
        while (p.at + n < sizeof p.rest && p.rest[p.at + n] != '/') n++;
        if (n == 0)
            p.at++;
        else
            error = phi__path_part(&p, n);
    }
    if (error != 0) {
        if (words != NULL) phi__posix_words(error, words->text, sizeof words->text);
        return error == ENOENT ? PHI_NOT_FOUND : PHI_IO;
    }
    if (p.len == 0) memcpy(out, "/", 2);
    return PHI_OK;
}

PHI__FN bool phi__path_inside(const char *directory, const char *path) {
    size_t n = strlen(directory);
    if (n == 1) return true; /* the root */
    return strncmp(directory, path, n) == 0 && (path[n] == '\0' || path[n] == '/');
}

#endif

/* ---- src/io/files_walk.c ---- */

/* files_walk.c - a directory tree, a few entries at a time.

   Each directory being walked is a level. Its names go into a heap as they are read, and leave it in
   order, so that neither reading nor sorting a large directory is one long piece of work. A
   directory is opened from the root, part by part, and never through a link. */

#ifndef PHI_NO_FILES


#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PHI__WALK_SLICE = 128,    /* entries read in one call */
    PHI__WALK_SORTED = 65536, /* names of one directory in memory */
    PHI__WALK_DEPTH = 64
};

/* A name in the heap: its kind in the first byte, then the name, terminated. */
typedef char *phi__walk_name;

typedef struct phi__walk_level {
    DIR *dir; /* NULL: read to its end */
    phi__walk_name *heap;
    size_t count, cap;
    size_t path_len; /* of the path before a name, its slash included */
} phi__walk_level;

struct phi__walk {
    phi_memory *memory;
    int root;
    phi__buf path; /* of the entry returned last */
    phi__walk_level *levels;
    size_t count, cap;
    bool enter; /* the directory at `path`, next */
};

/* A directory's name sorts as if its slash were part of it: then whole paths are in order. */
static bool phi__walk_before(const char *a, const char *b) {
    size_t i = 1;
    int x, y;
    while (a[i] != '\0' && a[i] == b[i]) i++;
    x = a[i] != '\0' ? (unsigned char)a[i] : a[0] == (char)PHI__FILE_DIRECTORY ? '/' : 0;
    y = b[i] != '\0' ? (unsigned char)b[i] : b[0] == (char)PHI__FILE_DIRECTORY ? '/' : 0;
    return x < y;
}

static phi_status phi__walk_push(phi__walk *walk, phi__walk_level *level, const char *name,
                                 phi__file_kind kind) {
    size_t n = strlen(name) + 2, at;
    void *heap = phi__grow(walk->memory, (void *)level->heap, &level->cap, level->count + 1,
                           sizeof *level->heap);
    phi__walk_name entry;
    if (heap == NULL) return PHI_NO_MEMORY;
    level->heap = (phi__walk_name *)heap;
    entry = (phi__walk_name)phi__alloc(walk->memory, n);
    if (entry == NULL) return PHI_NO_MEMORY;
    entry[0] = (char)kind;
    memcpy(entry + 1, name, n - 1);
    for (at = level->count++; at > 0 && phi__walk_before(entry, level->heap[(at - 1) / 2]);
         at = (at - 1) / 2)
        level->heap[at] = level->heap[(at - 1) / 2];
    level->heap[at] = entry;
    return PHI_OK;
}

static phi__walk_name phi__walk_pop(phi__walk_level *level) {
    phi__walk_name first = level->heap[0], last = level->heap[--level->count];
    size_t at = 0, child;
    while ((child = 2 * at + 1) < level->count) {
        if (child + 1 < level->count &&
            phi__walk_before(level->heap[child + 1], level->heap[child]))
            child++;
        if (!phi__walk_before(level->heap[child], last)) break;
        level->heap[at] = level->heap[child];
        at = child;
    }
    level->heap[at] = last;
    return first;
}

static void phi__walk_forget(phi__walk *walk, phi__walk_name name) {
    phi__free(walk->memory, name, strlen(name + 1) + 2);
}

static phi__file_kind phi__walk_kind(DIR *dir, const struct dirent *entry) {
    struct stat info;
    switch (entry->d_type) {
    case DT_REG: return PHI__FILE_REGULAR;
    case DT_DIR: return PHI__FILE_DIRECTORY;
    case DT_LNK: return PHI__FILE_LINK;
    case DT_UNKNOWN: break; /* some file systems do not say */
    default: return PHI__FILE_OTHER;
    }
    if (fstatat(dirfd(dir), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) return PHI__FILE_OTHER;
    if (S_ISREG(info.st_mode)) return PHI__FILE_REGULAR;
    if (S_ISDIR(info.st_mode)) return PHI__FILE_DIRECTORY;
    return S_ISLNK(info.st_mode) ? PHI__FILE_LINK : PHI__FILE_OTHER;
}

/* Reads names until the slice is done, the heap is full or the directory ends. */
static phi_status phi__walk_read(phi__walk *walk, phi__walk_level *level) {
    int i;
    for (i = 0; i < PHI__WALK_SLICE && level->count < PHI__WALK_SORTED; i++) {
        const struct dirent *entry = readdir(level->dir);
        phi_status status;
        if (entry == NULL) {
            (void)closedir(level->dir);
            level->dir = NULL;
            break;
        }
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        status = phi__walk_push(walk, level, entry->d_name, phi__walk_kind(level->dir, entry));
        if (status != PHI_OK) return status;
    }
    return PHI_BUSY;
}

/* Opens the directory at walk->path, from the root on; -1: it cannot be read. */
static int phi__walk_open(const phi__walk *walk) {
    phi_str path = phi__buf_str(&walk->path);
    int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int fd = openat(walk->root, ".", flags);
    size_t at = 0;
    while (fd >= 0 && at < path.len) {
        char part[256];
        size_t n = 0;
        int next = -1;
        while (at + n < path.len && path.at[at + n] != '/') n++;
        if (n < sizeof part) {
            memcpy(part, path.at + at, n);
            part[n] = '\0';
            next = openat(fd, part, flags);
        }
        (void)close(fd);
        fd = next;
        at += n + 1;
    }
    return fd;
}

/* Makes the directory at walk->path the deepest level. */
static phi_status phi__walk_enter(phi__walk *walk) {
    void *levels =
        phi__grow(walk->memory, walk->levels, &walk->cap, walk->count + 1, sizeof *walk->levels);
    phi__walk_level *level;
    int fd;
    if (levels == NULL) return PHI_NO_MEMORY;
    walk->levels = (phi__walk_level *)levels;
    fd = phi__walk_open(walk);
    if (fd < 0) return PHI_BUSY;
    if (walk->path.len > 0) phi__buf_char(&walk->path, '/');
    level = &walk->levels[walk->count];
    memset(level, 0, sizeof *level);
    level->path_len = walk->path.len;
    level->dir = walk->path.failed ? NULL : fdopendir(fd);
    if (level->dir == NULL) {
        (void)close(fd);
        return PHI_NO_MEMORY;
    }
    walk->count++;
    return PHI_BUSY;
}

static void phi__walk_leave(phi__walk *walk) {
    phi__walk_level *level = &walk->levels[--walk->count];
    size_t i;
    if (level->dir != NULL) (void)closedir(level->dir);
    for (i = 0; i < level->count; i++) phi__walk_forget(walk, level->heap[i]);
    phi__free(walk->memory, (void *)level->heap, level->cap * sizeof *level->heap);
}

/* ---- for other modules ---- */

PHI__FN phi_status phi__walk_new(phi_memory *memory, const char *root, phi__walk **out,
                                 phi__words *words) {
    phi__walk *walk = (phi__walk *)phi__alloc(memory, sizeof *walk);
    *out = NULL;
    if (walk == NULL) {
        if (words != NULL) phi__posix_words(ENOMEM, words->text, sizeof words->text);
        return PHI_NO_MEMORY;
    }
    walk->memory = memory;
    walk->enter = true;
    phi__buf_init(&walk->path, memory);
    walk->root = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (walk->root < 0) {
        int error = errno;
        if (words != NULL) phi__posix_words(error, words->text, sizeof words->text);
        phi__free(memory, walk, sizeof *walk);
        return error == ENOENT ? PHI_NOT_FOUND : PHI_IO;
    }
    *out = walk;
    return PHI_OK;
}

PHI__FN phi_status phi__walk_next(phi__walk *walk, phi__walk_entry *out) {
    phi__walk_level *level;
    phi__walk_name name;
    if (walk->enter) {
        walk->enter = false;
        return phi__walk_enter(walk);
    }
    if (walk->count == 0) return PHI_NOT_FOUND;
    level = &walk->levels[walk->count - 1];
    if (level->dir != NULL && level->count < PHI__WALK_SORTED) return phi__walk_read(walk, level);
    if (level->count == 0) {
        phi__walk_leave(walk);
        return PHI_BUSY;
    }
    name = phi__walk_pop(level);
    walk->path.len = level->path_len;
    phi__buf_text(&walk->path, name + 1);
    out->kind = (phi__file_kind)name[0];
    phi__walk_forget(walk, name);
    if (walk->path.failed) return PHI_NO_MEMORY;
    out->path = phi__buf_str(&walk->path);
    out->depth = (uint32_t)walk->count;
    walk->enter = out->kind == PHI__FILE_DIRECTORY && walk->count < PHI__WALK_DEPTH;
    return PHI_OK;
}

PHI__FN void phi__walk_skip(phi__walk *walk) { walk->enter = false; }

PHI__FN void phi__walk_free(phi__walk *walk) {
    if (walk == NULL) return;
    while (walk->count > 0) phi__walk_leave(walk);
    phi__free(walk->memory, walk->levels, walk->cap * sizeof *walk->levels);
    phi__buf_free(&walk->path);
    (void)close(walk->root);
    phi__free(walk->memory, walk, sizeof *walk);
}

#endif

/* ---- src/io/http.c ---- */

/* http.c - the transport over libcurl: requests wait in a queue, start a few a step, and end in the
   pump.

   The queue is threaded through the table of requests, so that waiting costs no allocation. All
   that takes time or calls out is done by the pump, outside of curl's callbacks: starting, ending,
   removing. What it cannot do at once it leaves for the next step, and a timer keeps the host from
   sleeping meanwhile. */

#if !defined(PHI_NO_CURL)

#include <stdio.h>

#define PHI__HTTP_CURL_FLOOR 0x074400u /* 7.68 */
#define PHI__HTTP_CONNECTIONS 64       /* the default; DESIGN part 4 */
#define PHI__HTTP_ENDS 16              /* of transfers told, and as many removed, in a pump */
#define PHI__HTTP_HOLD_US 50000        /* before another look for free descriptors */
#define PHI__HTTP_SPARE_DESCRIPTORS 6  /* a start may need: two sockets, a lookup's */

/* ---- the table and its queue ---- */

static phi__http_slot *phi__http_slot_of(phi__http *http, phi_xfer xfer) {
    phi__http_slot *slot;
    if (xfer.index >= http->slot_count) return NULL;
    slot = &http->slots[xfer.index];
    return slot->state != PHI__HTTP_FREE && slot->xfer.gen == xfer.gen ? slot : NULL;
}

static bool phi__http_slots_reach(phi__http *http, uint32_t index) {
    size_t cap = http->slot_count;
    phi__http_slot *slots;
    if (index < cap) return true;
    if (index >= UINT32_MAX - 1) return false;
    slots = (phi__http_slot *)phi__grow(http->memory, http->slots, &cap, (size_t)index + 1,
                                        sizeof *slots);
    if (slots == NULL) return false;
    memset(slots + http->slot_count, 0, (cap - http->slot_count) * sizeof *slots);
    http->slots = slots;
    http->slot_count = cap;
    return true;
}

static void phi__http_enqueue(phi__http *http, uint32_t index, bool first) {
    phi__http_slot *slot = &http->slots[index];
    uint32_t at = index + 1;
    slot->state = PHI__HTTP_QUEUED;
    slot->transfer = NULL;
    slot->next = first ? http->queue_first : 0;
    slot->prev = first ? 0 : http->queue_last;
    if (slot->next != 0) http->slots[slot->next - 1].prev = at;
    if (slot->prev != 0) http->slots[slot->prev - 1].next = at;
    if (slot->next == 0) http->queue_last = at;
    if (slot->prev == 0) http->queue_first = at;
    http->queue_count++;
}

static void phi__http_dequeue(phi__http *http, phi__http_slot *slot) {
    if (slot->prev != 0)
        http->slots[slot->prev - 1].next = slot->next;
    else
        http->queue_first = slot->next;
    if (slot->next != 0)
        http->slots[slot->next - 1].prev = slot->prev;
    else
        http->queue_last = slot->prev;
    slot->next = slot->prev = 0;
    http->queue_count--;
}

static void phi__http_slot_clear(phi__http_slot *slot) {
    slot->state = PHI__HTTP_FREE;
    slot->transfer = NULL;
    slot->request = NULL;
}

static size_t phi__http_busy(const phi__http *http) {
    return http->active.count + http->done.count + http->dying.count;
}

/* ---- starting ---- */

static bool phi__http_starts_nocase(phi_str s, phi_str with) {
    size_t i;
    if (s.len < with.len) return false;
    for (i = 0; i < with.len; i++)
        if (s.at[i] != with.at[i] && ((s.at[i] ^ with.at[i]) != 32 || (s.at[i] | 32) < 'a'))
            return false;
    return true;
}

/* Whether "HOST:PORT:ADDRESS" is among the resolve entries; a leading + or - is left aside. */
static bool phi__http_pinned(const phi__http *http, phi_str url) {
    phi_str host = phi__http_host(url), port = phi__http_port(url);
    const struct curl_slist *entry;
    for (entry = http->resolve; entry != NULL; entry = entry->next) {
        phi_str s = phi_str_of(entry->data);
        if (s.len > 0 && (s.at[0] == '+' || s.at[0] == '-')) s = phi__str(s.at + 1, s.len - 1);
        if (!phi__http_starts_nocase(s, host)) continue;
        s = phi__str(s.at + host.len, s.len - host.len);
        if (s.len > port.len + 2 && s.at[0] == ':' && s.at[port.len + 1] == ':' &&
            memcmp(s.at + 1, port.at, port.len) == 0)
            return true;
    }
    return false;
}

/* A libcurl that looks names up on this thread would stop the pump. */
static bool phi__http_would_block(const phi__http *http, phi_str url) {
    return !http->async_dns && http->proxy == NULL && !phi__http_is_address(phi__http_host(url)) &&
           !phi__http_pinned(http, url);
}

static void phi__http_start(phi__http *http, phi__http_slot *slot) {
    phi__transfer *t = phi__transfer_new(http);
    const char *words = "no memory for a transfer";
    phi_status status = PHI_NO_MEMORY;
    phi_xfer xfer = slot->xfer;
    phi__http_dequeue(http, slot);
    if (phi__http_would_block(http, slot->request->url)) {
        status = PHI_UNSUPPORTED;
        words = "this libcurl looks names up without AsynchDNS, which would stop the pump: give an "
                "address, or pin the name with resolve";
    } else if (t != NULL) {
        t->xfer = xfer;
        t->request = slot->request;
        status = phi__transfer_begin(t, &words);
    }
    if (status == PHI_OK) {
        slot->state = PHI__HTTP_STARTED;
        slot->transfer = t;
        (void)http->port.stage(xfer, PHI_XFER_STARTED);
    } else {
        if (t != NULL) phi__transfer_free(t);
        phi__http_slot_clear(slot);
        (void)http->port.end(xfer, status, words);
    }
}

/* Whether the next in the queue may start now; if not, something else will call the pump. */
static bool phi__http_may_start(phi__http *http) {
    uint64_t now;
    if (http->queue_first == 0 || phi__http_busy(http) >= http->max_connections) return false;
    if (phi__http_busy(http) > 0) { /* else none will be given back: try, and see */
        now = phi__io_now_us(http->io);
        if (now < http->hold_until_us) {
            phi__http_kick(http, http->hold_until_us);
            return false;
        }
        if (!phi__http_descriptors_left(phi__io_any_fd(http->io), PHI__HTTP_SPARE_DESCRIPTORS)) {
            http->hold_until_us = now + PHI__HTTP_HOLD_US;
            phi__http_kick(http, http->hold_until_us);
            return false;
        }
    }
    if (phi__io_may_start(http->io)) return true;
    phi__http_kick(http, 0);
    return false;
}

/* ---- ending ---- */

static void phi__http_read_messages(phi__http *http) {
    CURLMsg *message;
    int left;
    while ((message = curl_multi_info_read(http->multi, &left)) != NULL) {
        char *owner = NULL;
        phi__transfer *t;
        if (message->msg != CURLMSG_DONE) continue;
        (void)curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &owner);
        t = (phi__transfer *)(void *)owner;
        t->finished = true;
        t->result = message->data.result;
        http->live--;
        if (t->list == &http->active) phi__transfer_move(t, &http->done);
    }
}

/* Transfers that we ended ourselves, outside of a callback that could have told curl. */
static void phi__http_read_failed(phi__http *http) {
    phi__transfer *t, *next;
    if (!http->starved) return;
    http->starved = false;
    for (t = http->active.first; t != NULL; t = next) {
        next = t->next;
        if (t->failed != PHI_OK) phi__transfer_move(t, &http->done);
    }
}

/* The name of a host may not have been found for want of a descriptor. */
static bool phi__http_wants_descriptor(phi__http *http, const phi__transfer *t) {
    if (t->failed != PHI_OK || t->connected || t->request == NULL) return false;
    if (t->result == CURLE_COULDNT_CONNECT) return t->no_descriptor;
    if (t->result != CURLE_COULDNT_RESOLVE_HOST && t->result != CURLE_OUT_OF_MEMORY) return false;
    return !phi__http_descriptors_left(phi__io_any_fd(http->io), 1);
}

static void phi__http_end(phi__http *http, phi__transfer *t) {
    char words[PHI__HTTP_WORDS_BYTES];
    phi_xfer xfer = t->xfer;
    phi__http_slot *slot = t->request != NULL ? phi__http_slot_of(http, xfer) : NULL;
    phi_status status = phi__http_words(t, words, sizeof words);
    bool again = phi__http_busy(http) > 1 && phi__http_wants_descriptor(http, t);
    phi__transfer_free(t);
    if (slot == NULL) return;
    if (again) {
        phi__http_enqueue(http, xfer.index, true);
        http->hold_until_us = phi__io_now_us(http->io) + PHI__HTTP_HOLD_US;
        return;
    }
    phi__http_slot_clear(slot);
    (void)http->port.end(xfer, status, words[0] != '\0' ? words : NULL);
}

/* The first whose bytes were all taken; NULL: none. */
static phi__transfer *phi__http_next_end(phi__http *http) {
    phi__transfer *t = http->done.first;
    while (t != NULL && t->failed == PHI_OK && t->overflow.len > t->overflow_at) t = t->next;
    return t;
}

/* Without QUICK_EXIT, removing one that looks up a name would wait for the lookup. */
static phi__transfer *phi__http_next_removal(phi__http *http) {
    phi__transfer *t = http->dying.first;
    while (t != NULL && t->resolving && !t->finished && !http->quick_exit) t = t->next;
    return t;
}

static void phi__http_bury(phi__http *http, phi__http_slot *slot) {
    phi__transfer *t = slot->transfer;
    if (slot->state == PHI__HTTP_QUEUED) phi__http_dequeue(http, slot);
    phi__http_slot_clear(slot);
    if (t == NULL) return;
    phi__transfer_move(t, &http->dying);
    t->request = NULL;
    phi__http_kick(http, 0);
}

/* ---- the pump ---- */

/* From the front each time: a push may have cancelled any other. */
static phi__transfer *phi__http_next_resume(phi__http *http) {
    phi__transfer *t;
    if (!http->resumes_wanted) return NULL;
    for (t = http->active.first; t != NULL; t = t->next)
        if (t->resume_wanted) return t;
    for (t = http->done.first; t != NULL; t = t->next)
        if (t->resume_wanted) return t;
    http->resumes_wanted = false;
    return NULL;
}

static void phi__http_pump(void *user_data) {
    phi__http *http = (phi__http *)user_data;
    phi__transfer *t;
    int n;
    bool started = false;
    if (http->pumping || http->inside > 0) return;
    http->pumping = true;
    (void)phi__io_timer_set(http->io, &http->kick, UINT64_MAX); /* has its place since new */
    for (n = 0; n < PHI__HTTP_ENDS && (t = phi__http_next_resume(http)) != NULL; n++)
        phi__transfer_resume(t);
    phi__http_read_messages(http);
    phi__http_read_failed(http);
    for (n = 0; n < PHI__HTTP_ENDS && (t = phi__http_next_removal(http)) != NULL; n++)
        phi__transfer_free(t);
    for (n = 0; n < PHI__HTTP_ENDS && (t = phi__http_next_end(http)) != NULL; n++)
        phi__http_end(http, t);
    while (phi__http_may_start(http)) {
        phi__http_start(http, &http->slots[http->queue_first - 1]);
        started = true;
    }
    if (started) phi__http_drive_due(http); /* the request leaves in this step, not the next */
    if (http->resumes_wanted || phi__http_next_removal(http) != NULL ||
        phi__http_next_end(http) != NULL)
        phi__http_kick(http, 0);
    http->pumping = false;
}

static void phi__http_on_kick(phi__timer *timer) {
    phi__http *http = PHI__OWNER(timer, phi__http, kick);
    (void)phi__io_timer_set(http->io, timer, UINT64_MAX);
    phi__http_pump(http);
}

/* ---- the transport ---- */

static bool phi__http_clean(phi_str s) {
    size_t i;
    for (i = 0; i < s.len; i++)
        if (s.at[i] == '\r' || s.at[i] == '\n' || s.at[i] == '\0') return false;
    return true;
}

static bool phi__http_good_url(phi_str url) {
    size_t colon = phi__str_find(url, 0, "://");
    phi_str scheme = phi__str(url.at, colon == SIZE_MAX ? 0 : colon);
    if (!phi__str_is_nocase(scheme, "http") && !phi__str_is_nocase(scheme, "https")) return false;
    return phi__http_clean(url) && phi__http_host(url).len > 0;
}

static bool phi__http_good_request(const phi_request *request) {
    size_t i;
    if (request == NULL || !phi__http_good_url(request->url)) return false;
    if (request->method.len == 0 || !phi__http_clean(request->method)) return false;
    for (i = 0; i < request->header_count; i++)
        if (request->headers[i].name.len == 0 || !phi__http_clean(request->headers[i].name) ||
            !phi__http_clean(request->headers[i].value))
            return false;
    return true;
}

static phi_status phi__http_open(void *user_data, phi_xfer xfer, const phi_request *request) {
    phi__http *http = (phi__http *)user_data;
    phi__http_slot *slot;
    if (!phi__http_good_request(request)) return PHI_BAD_ARG;
    if (!phi__http_slots_reach(http, xfer.index)) return PHI_NO_MEMORY;
    slot = &http->slots[xfer.index];
    if (slot->state != PHI__HTTP_FREE) return PHI_BUSY;
    slot->xfer = xfer;
    slot->request = request;
    phi__http_enqueue(http, xfer.index, false);
    phi__http_kick(http, 0);
    return PHI_OK;
}

static void phi__http_resume(void *user_data, phi_xfer xfer) {
    phi__http *http = (phi__http *)user_data;
    phi__http_slot *slot = phi__http_slot_of(http, xfer);
    if (slot == NULL || slot->transfer == NULL) return;
    if (http->inside == 0) {
        phi__transfer_resume(slot->transfer);
        return;
    }
    slot->transfer->resume_wanted = true;
    http->resumes_wanted = true;
    phi__http_kick(http, 0);
}

static void phi__http_cancel(void *user_data, phi_xfer xfer) {
    phi__http *http = (phi__http *)user_data;
    phi__http_slot *slot = phi__http_slot_of(http, xfer);
    if (slot != NULL) phi__http_bury(http, slot);
}

/* ---- new and free ---- */

/* libcurl's set-up is once for a process, and old ones do not guard it against other threads. */
static bool phi__http_global_init(void) {
    static int state; /* 0: not yet, 1: being done, 2: done; the one global of ours */
    for (;;) {
        int none = 0;
        if (PHI__LOAD(&state) == 2) return true;
        if (PHI__CAS(&state, &none, 1)) {
            bool ok = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
            PHI__STORE(&state, ok ? 2 : 0);
            return ok;
        }
        phi__http_yield();
    }
}

/* What this libcurl can do; the words of what it lacks, or NULL. */
static const char *phi__http_look(phi__http *http, const phi__http_desc *desc) {
    const curl_version_info_data *info = curl_version_info(CURLVERSION_NOW);
    if (info->version_num < PHI__HTTP_CURL_FLOOR) return "libcurl 7.68 or newer is needed";
    if ((info->features & CURL_VERSION_SSL) == 0) return "this libcurl was built without TLS";
    if (desc->enable_http2 && (info->features & CURL_VERSION_HTTP2) == 0)
        return "this libcurl was built without HTTP/2";
    http->async_dns = (info->features & CURL_VERSION_ASYNCHDNS) != 0;
    http->prereq = info->version_num >= 0x075000u;      /* 7.80 */
    http->quick_exit = info->version_num >= 0x075700u;  /* 7.87 */
    http->mask_sigpipe = info->version_num < 0x075800u; /* 7.88: TLS is written with send() */
#if LIBCURL_VERSION_NUM >= 0x075400
    if (info->age >= CURLVERSION_TENTH && info->cainfo != NULL)
        http->drop_ca_path = phi__http_can_read(info->cainfo);
#endif
    http->ca_cache = info->version_num >= 0x075700u && /* 7.87 */
                     (desc->ca_file != NULL || http->drop_ca_path);
    return NULL;
}

static const char *phi__http_copy(phi__http *http, const char *text, bool *ok) {
    phi_str copy;
    if (text == NULL) return NULL;
    if (phi__arena_str(&http->strings, phi_str_of(text), &copy)) return copy.at;
    *ok = false;
    return NULL;
}

static bool phi__http_configure(phi__http *http, const phi__http_desc *desc) {
    bool ok = true;
    size_t i;
    http->max_connections =
        desc->max_connections == 0 ? PHI__HTTP_CONNECTIONS : desc->max_connections;
    http->http2 = desc->enable_http2;
    http->use_environment = desc->use_environment;
    http->proxy = phi__http_copy(http, desc->proxy, &ok);
    http->ca_file = phi__http_copy(http, desc->ca_file, &ok);
    for (i = 0; ok && desc->resolve != NULL && desc->resolve[i] != NULL; i++) {
        struct curl_slist *list = curl_slist_append(http->resolve, desc->resolve[i]);
        ok = list != NULL;
        if (ok) http->resolve = list;
    }
    if (!ok) return false;
    http->multi = curl_multi_init();
    http->kick.fire = phi__http_on_kick;
    return http->multi != NULL && phi__http_drive_init(http) &&
           phi__io_timer_set(http->io, &http->kick, UINT64_MAX) == PHI_OK;
}

PHI__FN phi_status phi__http_new(phi__io *io, const phi__http_desc *desc,
                                 const phi__xfer_port *port, phi__http **out, const char **words) {
    phi__http *http;
    *out = NULL;
    *words = "no memory for the HTTP transport";
    if (!phi__http_global_init()) {
        *words = "libcurl could not be set up";
        return PHI_UNSUPPORTED;
    }
    http = (phi__http *)phi__alloc(phi__io_memory(io), sizeof *http);
    if (http == NULL) return PHI_NO_MEMORY;
    http->io = io;
    http->memory = phi__io_memory(io);
    http->port = *port;
    http->transport.open = phi__http_open;
    http->transport.resume = phi__http_resume;
    http->transport.cancel = phi__http_cancel;
    http->transport.pump = phi__http_pump;
    http->transport.user_data = http;
    phi_arena_init(&http->strings, http->memory, 512);
    {
        const char *lacks = phi__http_look(http, desc);
        if (lacks != NULL) {
            phi__http_free(http);
            *words = lacks;
            return PHI_UNSUPPORTED;
        }
    }
    if (!phi__http_configure(http, desc)) {
        phi__http_free(http);
        return PHI_NO_MEMORY;
    }
    *words = NULL;
    *out = http;
    return PHI_OK;
}

PHI__FN const phi_transport *phi__http_transport(phi__http *http) { return &http->transport; }

PHI__FN phi_status phi__http_warm(phi__http *http, phi_str url) {
    phi__transfer *t;
    phi_status status;
    phi_str host = phi__http_host(url);
    const char *words;
    size_t len;
    if (!phi__http_good_url(url)) return PHI_BAD_ARG;
    if (phi__http_would_block(http, url)) return PHI_UNSUPPORTED;
    if (phi__http_busy(http) >= http->max_connections) return PHI_BUSY;
    if (phi__str_starts(url, "https:") || phi__str_starts(url, "HTTPS:")) phi__http_load_ca(http);
    t = phi__transfer_new(http);
    if (t == NULL) return PHI_NO_MEMORY;
    len = (size_t)(host.at - url.at) + host.len; /* up to the path */
    while (len < url.len && url.at[len] != '/' && url.at[len] != '?' && url.at[len] != '#') len++;
    t->url = (char *)phi__alloc(http->memory, len + 2);
    status = t->url != NULL ? PHI_OK : PHI_NO_MEMORY;
    if (t->url != NULL) {
        t->url_bytes = len + 2;
        memcpy(t->url, url.at, len);
        t->url[len] = '/';
        status = phi__transfer_begin(t, &words);
    }
    if (status != PHI_OK) {
        phi__transfer_free(t);
        return status;
    }
    phi__http_drive_due(http);
    return PHI_OK;
}

PHI__FN size_t phi__http_pending(const phi__http *http) {
    return http->queue_count + phi__http_busy(http);
}

PHI__FN void phi__http_free(phi__http *http) {
    if (http == NULL) return;
    while (http->active.first != NULL) phi__transfer_move(http->active.first, &http->dying);
    while (http->done.first != NULL) phi__transfer_move(http->done.first, &http->dying);
    while (http->dying.first != NULL) phi__transfer_free(http->dying.first);
    phi__http_enter(http);
    if (http->multi != NULL) (void)curl_multi_cleanup(http->multi);
    phi__http_leave(http);
    phi__io_timer_clear(http->io, &http->curl_timer);
    phi__io_timer_clear(http->io, &http->kick);
    curl_slist_free_all(http->resolve);
    phi_arena_free(&http->strings);
    phi__free(http->memory, http->slots, http->slot_count * sizeof *http->slots);
    phi__free(http->memory, http, sizeof *http);
}

#endif
#undef PHI__HTTP_CURL_FLOOR
#undef PHI__HTTP_CONNECTIONS
#undef PHI__HTTP_ENDS
#undef PHI__HTTP_HOLD_US
#undef PHI__HTTP_SPARE_DESCRIPTORS

/* ---- src/io/http_drive.c ---- */

/* http_drive.c - libcurl's sockets and its one timeout, over phi__io.

   curl says which sockets it wants watched and when it wants to be called; phi__io calls back, and
   curl_multi_socket_action works on that socket alone. So a step costs what is ready. */

#if !defined(PHI_NO_CURL)

typedef struct phi__http_socket {
    phi__watch watch;
    phi__http *http;
} phi__http_socket;

PHI__FN void phi__http_kick(phi__http *http, uint64_t at_us) {
    if (at_us < http->kick.at_us) (void)phi__io_timer_set(http->io, &http->kick, at_us);
}

PHI__FN void phi__http_enter(phi__http *http) {
    if (http->inside++ == 0 && http->mask_sigpipe) http->signal_held = phi__http_signal_hold();
}

PHI__FN void phi__http_leave(phi__http *http) {
    if (--http->inside > 0 || !http->signal_held) return;
    http->signal_held = false;
    phi__http_signal_release();
}

PHI__FN void phi__http_act(phi__http *http, curl_socket_t fd, int have) {
    int running = 0;
    phi__http_enter(http);
    (void)curl_multi_socket_action(http->multi, fd, have, &running);
    phi__http_leave(http);
    /* Fewer than we know of: some have finished, and the pump is to be told. */
    if ((size_t)running < http->live || http->starved) phi__http_kick(http, 0);
}

static void phi__http_on_ready(phi__watch *watch, int have) {
    phi__http_socket *s = PHI__OWNER(watch, phi__http_socket, watch);
    phi__http_act(s->http, (curl_socket_t)watch->fd,
                  ((have & PHI__READ) != 0 ? CURL_CSELECT_IN : 0) |
                      ((have & PHI__WRITE) != 0 ? CURL_CSELECT_OUT : 0));
}

static void phi__http_forget_socket(phi__http *http, phi__http_socket *s) {
    if (s == NULL) return;
    (void)phi__io_watch(http->io, &s->watch, s->watch.fd, 0);
    phi__free(http->memory, s, sizeof *s);
}

/* A socket that cannot be watched ends its transfer, not the multi handle, as a -1 would. On
   HTTP/2 others may share the socket: then all end. */
static int phi__http_starve(phi__http *http, CURL *easy) {
    char *owner = NULL;
    phi__transfer *t;
    (void)curl_easy_getinfo(easy, CURLINFO_PRIVATE, &owner);
    for (t = http->active.first; t != NULL; t = t->next)
        if (http->http2 || (char *)t == owner) t->failed = PHI_NO_MEMORY;
    http->starved = true;
    phi__http_kick(http, 0);
    return 0;
}

static int phi__http_on_socket(CURL *easy, curl_socket_t fd, int what, void *user_data,
                               void *socket_data) {
    phi__http *http = (phi__http *)user_data;
    phi__http_socket *s = (phi__http_socket *)socket_data;
    int want = (what & CURL_POLL_IN) != 0 ? PHI__READ : 0;
    if ((what & CURL_POLL_OUT) != 0) want |= PHI__WRITE;
    if (what == CURL_POLL_REMOVE) {
        (void)curl_multi_assign(http->multi, fd, NULL);
        phi__http_forget_socket(http, s);
        return 0;
    }
    if (s == NULL) {
        s = (phi__http_socket *)phi__alloc(http->memory, sizeof *s);
        if (s == NULL) return phi__http_starve(http, easy);
        s->http = http;
        s->watch.ready = phi__http_on_ready;
        (void)curl_multi_assign(http->multi, fd, s);
    }
    if (phi__io_watch(http->io, &s->watch, (intptr_t)fd, want) != PHI_OK)
        return phi__http_starve(http, easy);
    return 0;
}

static int phi__http_on_timeout(CURLM *multi, long timeout_ms, void *user_data) {
    phi__http *http = (phi__http *)user_data;
    uint64_t at = UINT64_MAX;
    (void)multi;
    if (timeout_ms >= 0) at = phi__io_now_us(http->io) + (uint64_t)timeout_ms * 1000;
    (void)phi__io_timer_set(http->io, &http->curl_timer, at); /* has its place since init */
    return 0;
}

static void phi__http_on_timer(phi__timer *timer) {
    phi__http *http = PHI__OWNER(timer, phi__http, curl_timer);
    (void)phi__io_timer_set(http->io, timer, UINT64_MAX);
    phi__http_act(http, CURL_SOCKET_TIMEOUT, 0);
}

PHI__FN void phi__http_drive_due(phi__http *http) {
    uint64_t at = http->curl_timer.at_us;
    if (at == UINT64_MAX || at > phi__io_now_us(http->io)) return;
    phi__http_on_timer(&http->curl_timer);
}

PHI__FN bool phi__http_drive_init(phi__http *http) {
    CURLM *m = http->multi;
    int bad = 0;
    http->curl_timer.fire = phi__http_on_timer;
    if (phi__io_timer_set(http->io, &http->curl_timer, UINT64_MAX) != PHI_OK) return false;
    bad |= curl_multi_setopt(m, CURLMOPT_SOCKETFUNCTION, phi__http_on_socket) != CURLM_OK;
    bad |= curl_multi_setopt(m, CURLMOPT_SOCKETDATA, http) != CURLM_OK;
    bad |= curl_multi_setopt(m, CURLMOPT_TIMERFUNCTION, phi__http_on_timeout) != CURLM_OK;
    bad |= curl_multi_setopt(m, CURLMOPT_TIMERDATA, http) != CURLM_OK;
    bad |= curl_multi_setopt(m, CURLMOPT_MAXCONNECTS, (long)http->max_connections) != CURLM_OK;
    if (http->http2) bad |= curl_multi_setopt(m, CURLMOPT_MAX_CONCURRENT_STREAMS, 10L) != CURLM_OK;
    return bad == 0;
}

#endif

/* ---- src/io/http_none.c ---- */

/* http_none.c - the transport of a build without libcurl: none, and words that say so. */

#if defined(PHI_NO_CURL)

PHI__FN phi_status phi__http_new(phi__io *io, const phi__http_desc *desc,
                                 const phi__xfer_port *port, phi__http **out, const char **words) {
    (void)io;
    (void)desc;
    (void)port;
    *out = NULL;
    *words = "built with PHI_NO_CURL: give the runtime a transport of your own";
    return PHI_UNSUPPORTED;
}

PHI__FN const phi_transport *phi__http_transport(phi__http *http) {
    (void)http;
    return NULL;
}

PHI__FN phi_status phi__http_warm(phi__http *http, phi_str url) {
    (void)http;
    (void)url;
    return PHI_UNSUPPORTED;
}

PHI__FN size_t phi__http_pending(const phi__http *http) {
    (void)http;
    return 0;
}

PHI__FN void phi__http_free(phi__http *http) { (void)http; }

#endif

/* ---- src/io/http_posix.c ---- */

/* http_posix.c - what the libcurl transport asks of a POSIX system. */

#if defined(PHI__OS_POSIX) && !defined(PHI_NO_CURL)

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* libcurl's own sockets are not close-on-exec: a background child would keep connections open. */
PHI__FN curl_socket_t phi__http_open_socket(int family, int type, int protocol, bool *none_left) {
    int fd;
#if defined(SOCK_CLOEXEC)
    fd = socket(family, type | SOCK_CLOEXEC, protocol);
#else
    fd = socket(family, type, protocol);
    if (fd >= 0) (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
#endif
    if (fd < 0)
        *none_left = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
    return fd;
}

PHI__FN void phi__http_close(curl_socket_t fd) {
    if (fd != CURL_SOCKET_BAD) (void)close(fd);
}

PHI__FN curl_socket_t phi__http_listen(int *port) {
    struct sockaddr_in address;
    socklen_t len = sizeof address;
    bool none_left;
    curl_socket_t fd = phi__http_open_socket(AF_INET, SOCK_STREAM, 0, &none_left);
    if (fd == CURL_SOCKET_BAD) return fd;
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fcntl(fd, F_SETFL, O_NONBLOCK) == 0 &&
        bind(fd, (struct sockaddr *)&address, sizeof address) == 0 && listen(fd, 1) == 0 &&
        getsockname(fd, (struct sockaddr *)&address, &len) == 0) {
        *port = (int)ntohs(address.sin_port);
        return fd;
    }
    phi__http_close(fd);
    return CURL_SOCKET_BAD;
}

PHI__FN bool phi__http_heard(curl_socket_t listener, curl_socket_t *peer) {
    char byte;
    if (*peer == CURL_SOCKET_BAD) *peer = accept(listener, NULL, NULL);
    if (*peer == CURL_SOCKET_BAD) return false;
    return recv(*peer, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

PHI__FN bool phi__http_descriptors_left(intptr_t any_fd, int count) {
    int fd;
    bool left = true;
    if (count <= 0) return true;
    fd = fcntl((int)any_fd, F_DUPFD_CLOEXEC, 0);
    if (fd < 0) return errno != EMFILE && errno != ENFILE;
    left = phi__http_descriptors_left(any_fd, count - 1);
    (void)close(fd);
    return left;
}

PHI__FN phi_status phi__http_connect_status(long os_error) {
    if (os_error == ECONNREFUSED) return PHI_REFUSED;
    return os_error == ETIMEDOUT ? PHI_TIMEOUT : PHI_NETWORK;
}

PHI__FN bool phi__http_can_read(const char *path) {
#if defined(PHI_NO_FILES)
    (void)path;
    return true; /* libcurl will say if it cannot */
#else
    return access(path, R_OK) == 0;
#endif
}

PHI__FN void phi__http_yield(void) { (void)sched_yield(); }

#if defined(PHI__OS_LINUX) || defined(__FreeBSD__) || defined(__NetBSD__)

/* One that was pending before, or is blocked by the host, is the host's: leave it. */
PHI__FN bool phi__http_signal_hold(void) {
    sigset_t pipe_set, before, pending;
    (void)sigemptyset(&pipe_set);
    (void)sigaddset(&pipe_set, SIGPIPE);
    if (sigpending(&pending) != 0 || sigismember(&pending, SIGPIPE) == 1) return false;
    if (pthread_sigmask(SIG_BLOCK, &pipe_set, &before) != 0) return false;
    return sigismember(&before, SIGPIPE) == 0;
}

PHI__FN void phi__http_signal_release(void) {
    struct timespec none;
    sigset_t pipe_set;
    memset(&none, 0, sizeof none);
    (void)sigemptyset(&pipe_set);
    (void)sigaddset(&pipe_set, SIGPIPE);
    while (sigtimedwait(&pipe_set, NULL, &none) < 0 && errno == EINTR) continue;
    (void)pthread_sigmask(SIG_UNBLOCK, &pipe_set, NULL);
}

#else /* libcurl sets SO_NOSIGPIPE where there is one */

PHI__FN bool phi__http_signal_hold(void) { return false; }
PHI__FN void phi__http_signal_release(void) {}

#endif

#endif

/* ---- src/io/http_transfer.c ---- */

/* http_transfer.c - one request as an easy handle: its options, and callbacks that only copy.

   Every callback first asks whether the transfer was cancelled: then its request is gone, and the
   only right answer is the one that makes curl stop. */

#if !defined(PHI_NO_CURL)

#include <stdio.h>

/* libcurl's read buffer, held while streaming: with 8192 it takes 8 KB less, and a delta costs a tenth
   more CPU when many come at once (bench/bench_http.c). */
#define PHI__HTTP_BUFFER_BYTES 16384L
#define PHI__HTTP_UPLOAD_LEAST 16384u /* libcurl's own bound */
#define PHI__HTTP_UPLOAD_MOST 131072u
#define PHI__HTTP_CONNECT_MS 86400000L /* never: the deadlines are the runtime's */
#define PHI__HTTP_KEEPALIVE_S 60L

static bool phi__transfer_dead(const phi__transfer *t) { return t->list == &t->http->dying; }

/* ---- callbacks ---- */

static void phi__transfer_connected(phi__transfer *t) {
    if (t->connected) return;
    t->connected = true;
    t->resolving = false;
    if (t->request != NULL) (void)t->http->port.stage(t->xfer, PHI_XFER_CONNECTED);
}

static int phi__transfer_on_resolve(void *resolver, void *reserved, void *user_data) {
    phi__transfer *t = (phi__transfer *)user_data;
    (void)resolver;
    (void)reserved;
    t->resolving = true;
    return phi__transfer_dead(t) ? 1 : 0;
}

static curl_socket_t phi__transfer_on_open_socket(void *user_data, curlsocktype purpose,
                                                  struct curl_sockaddr *address) {
    phi__transfer *t = (phi__transfer *)user_data;
    (void)purpose;
    t->resolving = false;
    if (phi__transfer_dead(t)) return CURL_SOCKET_BAD;
    t->fd = phi__http_open_socket(address->family, address->socktype, address->protocol,
                                  &t->no_descriptor);
    return t->fd;
}

#if LIBCURL_VERSION_NUM >= 0x075000
static int phi__transfer_on_request(void *user_data, char *remote_ip, char *local_ip,
                                    int remote_port, int local_port) {
    phi__transfer *t = (phi__transfer *)user_data;
    (void)remote_ip;
    (void)local_ip;
    (void)remote_port;
    (void)local_port;
    if (!phi__transfer_dead(t)) phi__transfer_connected(t);
    return phi__transfer_dead(t) ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}
#endif

static size_t phi__transfer_on_read(char *out, size_t size, size_t n, void *user_data) {
    phi__transfer *t = (phi__transfer *)user_data;
    size_t got;
    if (!phi__transfer_dead(t)) phi__transfer_connected(t);
    if (phi__transfer_dead(t)) return CURL_READFUNC_ABORT;
    got = phi_request_read(t->request, t->body_at, out, size * n);
    t->body_at += got;
    return got;
}

/* curl goes back to the start when a kept connection turns out to be dead. */
static int phi__transfer_on_seek(void *user_data, curl_off_t offset, int origin) {
    phi__transfer *t = (phi__transfer *)user_data;
    if (phi__transfer_dead(t)) return CURL_SEEKFUNC_FAIL;
    if (origin != SEEK_SET || offset < 0) return CURL_SEEKFUNC_CANTSEEK;
    t->body_at = (uint64_t)offset;
    return CURL_SEEKFUNC_OK;
}

/* A joined body is of no more use once all of it was sent and answered. */
static void phi__transfer_drop_body(phi__transfer *t) {
    curl_off_t sent = 0;
    if (t->body == NULL) return;
    if (curl_easy_getinfo(t->easy, CURLINFO_SIZE_UPLOAD_T, &sent) != CURLE_OK) return;
    if ((uint64_t)sent < (uint64_t)t->body_bytes) return;
    phi__free(t->http->memory, t->body, t->body_bytes);
    t->body = NULL;
}

/* The end of a head: told, unless it is an interim answer. */
static bool phi__transfer_head_end(phi__transfer *t) {
    phi_status status;
    if (t->http_status < 200) {
        phi__buf_clear(&t->head);
        return true;
    }
    if (t->head.failed) {
        t->failed = PHI_NO_MEMORY;
        return false;
    }
    t->head_told = true;
    phi__transfer_drop_body(t);
    if (t->request != NULL) {
        status = t->http->port.head(t->xfer, t->http_status, t->head.at, t->head.len);
        if (phi__transfer_dead(t)) return false;
        if (status != PHI_OK) t->failed = status;
    }
    phi__buf_free(&t->head);
    return t->failed == PHI_OK;
}

static void phi__transfer_status_line(phi__transfer *t, phi_str line) {
    size_t at = phi__str_find(line, 0, " ");
    uint64_t status = 0;
    phi__buf_clear(&t->head);
    t->http_status = 0;
    t->http2 = phi__str_starts(line, "HTTP/2");
    if (at != SIZE_MAX && line.len >= at + 4 &&
        phi__str_to_u64(phi__str(line.at + at + 1, 3), &status))
        t->http_status = (int)status;
}

static size_t phi__transfer_on_header(char *at, size_t size, size_t n, void *user_data) {
    phi__transfer *t = (phi__transfer *)user_data;
    size_t len = size * n;
    phi_str line = phi__str(at, len);
    if (!phi__transfer_dead(t)) phi__transfer_connected(t);
    if (phi__transfer_dead(t)) return 0;
    if (t->head_told) return len; /* trailers of a chunked body */
    while (line.len > 0 && (line.at[line.len - 1] == '\n' || line.at[line.len - 1] == '\r'))
        line.len--;
    if (line.len == 0) return phi__transfer_head_end(t) ? len : 0;
    if (phi__str_starts(line, "HTTP/")) {
        phi__transfer_status_line(t, line);
    } else if (line.len + 2 <= PHI__HTTP_HEAD_BYTES - t->head.len) {
        phi__buf_add_str(&t->head, line);
        phi__buf_add(&t->head, "\r\n", 2);
    }
    return len;
}

static size_t phi__transfer_overflow(phi__transfer *t, const char *at, size_t len) {
    if (t->overflow_at > 0) {
        phi__buf_drop(&t->overflow, t->overflow_at);
        t->overflow_at = 0;
    }
    if (len > PHI__HTTP_OVERFLOW_BYTES - t->overflow.len)
        t->failed = PHI_TOO_BIG;
    else
        phi__buf_add(&t->overflow, at, len);
    if (t->overflow.failed) t->failed = PHI_NO_MEMORY;
    return t->failed == PHI_OK ? len : 0;
}

static size_t phi__transfer_on_body(char *at, size_t size, size_t n, void *user_data) {
    phi__transfer *t = (phi__transfer *)user_data;
    size_t len = size * n;
    phi_status status;
    if (phi__transfer_dead(t)) return 0;
    if (t->request == NULL) return len;
    if (t->overflow.len > t->overflow_at) return phi__transfer_overflow(t, at, len);
    status = t->http->port.push(t->xfer, at, len);
    if (phi__transfer_dead(t)) return 0;
    if (status == PHI_OK) return len;
    if (status == PHI_FULL) {
        /* A paused HTTP/2 stream piles up inside curl, uncounted, while its siblings are read. */
        if (t->http2) return phi__transfer_overflow(t, at, len);
        t->paused = true;
        return CURL_WRITEFUNC_PAUSE;
    }
    t->failed = status;
    return 0;
}

/* ---- options ---- */

static bool phi__transfer_set_callbacks(phi__transfer *t) {
    CURL *e = t->easy;
    int bad = 0;
    bad |= curl_easy_setopt(e, CURLOPT_PRIVATE, (char *)t) != CURLE_OK;
    bad |= curl_easy_setopt(e, CURLOPT_ERRORBUFFER, t->error) != CURLE_OK;
    bad |= curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, phi__transfer_on_body) != CURLE_OK;
    bad |= curl_easy_setopt(e, CURLOPT_WRITEDATA, t) != CURLE_OK;
    bad |= curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, phi__transfer_on_header) != CURLE_OK;
    bad |= curl_easy_setopt(e, CURLOPT_HEADERDATA, t) != CURLE_OK;
    bad |=
        curl_easy_setopt(e, CURLOPT_OPENSOCKETFUNCTION, phi__transfer_on_open_socket) != CURLE_OK;
    bad |= curl_easy_setopt(e, CURLOPT_OPENSOCKETDATA, t) != CURLE_OK;
    bad |=
        curl_easy_setopt(e, CURLOPT_RESOLVER_START_FUNCTION, phi__transfer_on_resolve) != CURLE_OK;
    bad |= curl_easy_setopt(e, CURLOPT_RESOLVER_START_DATA, t) != CURLE_OK;
#if LIBCURL_VERSION_NUM >= 0x075000
    if (t->http->prereq) {
        bad |= curl_easy_setopt(e, CURLOPT_PREREQFUNCTION, phi__transfer_on_request) != CURLE_OK;
        bad |= curl_easy_setopt(e, CURLOPT_PREREQDATA, t) != CURLE_OK;
    }
#endif
    return bad == 0;
}

static bool phi__transfer_set_connection(phi__transfer *t) {
    const phi__http *http = t->http;
    CURL *e = t->easy;
    int bad = 0;
    bad |= curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L) != CURLE_OK;
#if LIBCURL_VERSION_NUM >= 0x075700
    if (http->quick_exit) bad |= curl_easy_setopt(e, CURLOPT_QUICK_EXIT, 1L) != CURLE_OK;
#endif
    bad |= curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS, PHI__HTTP_CONNECT_MS) != CURLE_OK;
    bad |= curl_easy_setopt(e, CURLOPT_TCP_KEEPALIVE, 1L) != CURLE_OK;
    bad |= curl_easy_setopt(e, CURLOPT_TCP_KEEPIDLE, PHI__HTTP_KEEPALIVE_S) != CURLE_OK;
    bad |= curl_easy_setopt(e, CURLOPT_TCP_KEEPINTVL, PHI__HTTP_KEEPALIVE_S) != CURLE_OK;
    bad |= curl_easy_setopt(e, CURLOPT_BUFFERSIZE, PHI__HTTP_BUFFER_BYTES) != CURLE_OK;
    bad |= curl_easy_setopt(e, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L) != CURLE_OK;
    if (http->http2) {
        bad |= curl_easy_setopt(e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS) != CURLE_OK;
        bad |= curl_easy_setopt(e, CURLOPT_PIPEWAIT, 1L) != CURLE_OK;
    } else {
        bad |= curl_easy_setopt(e, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1) != CURLE_OK;
    }
    if (http->proxy != NULL) {
        bad |= curl_easy_setopt(e, CURLOPT_PROXY, http->proxy) != CURLE_OK;
    } else if (!http->use_environment) {
        bad |= curl_easy_setopt(e, CURLOPT_PROXY, "") != CURLE_OK;
    }
    if (!http->use_environment) bad |= curl_easy_setopt(e, CURLOPT_NOPROXY, "") != CURLE_OK;
    if (http->resolve != NULL)
        bad |= curl_easy_setopt(e, CURLOPT_RESOLVE, http->resolve) != CURLE_OK;
    return bad == 0;
}

/* curl keeps a loaded CA store only while no CA directory is set (engineering 1.2). */
static bool phi__transfer_set_tls(phi__transfer *t) {
    const phi__http *http = t->http;
    CURL *e = t->easy;
    int bad = 0;
    bad |= curl_easy_setopt(e, CURLOPT_SSL_VERIFYPEER, 1L) != CURLE_OK;
    bad |= curl_easy_setopt(e, CURLOPT_SSL_VERIFYHOST, 2L) != CURLE_OK;
    if (http->ca_file != NULL)
        bad |= curl_easy_setopt(e, CURLOPT_CAINFO, http->ca_file) != CURLE_OK;
    if (http->ca_file != NULL || http->drop_ca_path)
        bad |= curl_easy_setopt(e, CURLOPT_CAPATH, (char *)NULL) != CURLE_OK;
    return bad == 0;
}

static bool phi__transfer_add_header(phi__transfer *t, const char *line) {
    struct curl_slist *list = curl_slist_append(t->headers, line);
    if (list == NULL) return false;
    t->headers = list;
    return true;
}

/* The request's own, and an end to two that libcurl would add: Expect waits a second for nothing,
   and a form's content type is never right. */
static bool phi__transfer_set_headers(phi__transfer *t) {
    const phi_request *rq = t->request;
    bool typed = false, ok = true;
    phi__buf line;
    size_t i;
    phi__buf_init(&line, t->http->memory);
    for (i = 0; rq != NULL && i < rq->header_count && ok; i++) {
        const phi__header *h = &rq->headers[i];
        phi__buf_clear(&line);
        phi__buf_add_str(&line, h->name);
        phi__buf_text(&line, h->value.len > 0 ? ": " : ";");
        phi__buf_add_str(&line, h->value);
        phi__buf_char(&line, '\0');
        ok = !line.failed && phi__transfer_add_header(t, line.at);
        if (phi__str_is_nocase(h->name, "content-type")) typed = true;
    }
    if (line.at != NULL) memset(line.at, 0, line.cap); /* it may have held a key */
    phi__buf_free(&line);
    if (ok) ok = phi__transfer_add_header(t, "Expect:");
    if (ok && !typed) ok = phi__transfer_add_header(t, "Content-Type:");
    return ok && curl_easy_setopt(t->easy, CURLOPT_HTTPHEADER, t->headers) == CURLE_OK;
}

/* libcurl sends one such buffer a call and holds it while the answer streams: a twentieth of the body
   is few calls, and little beside what it sends. */
static long phi__transfer_upload_bytes(uint64_t body) {
    uint64_t part = body / 20;
    if (part < PHI__HTTP_UPLOAD_LEAST) part = PHI__HTTP_UPLOAD_LEAST;
    return (long)(part > PHI__HTTP_UPLOAD_MOST ? PHI__HTTP_UPLOAD_MOST : part);
}

static bool phi__transfer_set_body(phi__transfer *t) {
    const phi_request *rq = t->request;
    CURL *e = t->easy;
    int bad = curl_easy_setopt(e, CURLOPT_POST, 1L) != CURLE_OK;
    bad |= curl_easy_setopt(e, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)rq->length) != CURLE_OK;
    if (rq->length == 0) {
        bad |= curl_easy_setopt(e, CURLOPT_POSTFIELDS, "") != CURLE_OK;
    } else if (rq->length <= PHI__HTTP_JOIN_BYTES) {
        t->body_bytes = (size_t)rq->length;
        t->body = (char *)phi__realloc(t->http->memory, NULL, 0, t->body_bytes);
        if (t->body == NULL) return false;
        (void)phi_request_read(rq, 0, t->body, t->body_bytes);
        bad |= curl_easy_setopt(e, CURLOPT_POSTFIELDS, t->body) != CURLE_OK;
    } else {
        bad |= curl_easy_setopt(e, CURLOPT_READFUNCTION, phi__transfer_on_read) != CURLE_OK;
        bad |= curl_easy_setopt(e, CURLOPT_READDATA, t) != CURLE_OK;
        bad |= curl_easy_setopt(e, CURLOPT_SEEKFUNCTION, phi__transfer_on_seek) != CURLE_OK;
        bad |= curl_easy_setopt(e, CURLOPT_SEEKDATA, t) != CURLE_OK;
        bad |= curl_easy_setopt(e, CURLOPT_UPLOAD_BUFFERSIZE,
                                phi__transfer_upload_bytes(rq->length)) != CURLE_OK;
    }
    return bad == 0;
}

static bool phi__transfer_set_request(phi__transfer *t) {
    const phi_request *rq = t->request;
    CURL *e = t->easy;
    int bad = 0;
    if (rq == NULL)
        return curl_easy_setopt(e, CURLOPT_URL, t->url) == CURLE_OK &&
               curl_easy_setopt(e, CURLOPT_NOBODY, 1L) == CURLE_OK;
    bad |= curl_easy_setopt(e, CURLOPT_URL, rq->url.at) != CURLE_OK;
    if (phi__str_is(rq->method, "GET"))
        bad |= curl_easy_setopt(e, CURLOPT_HTTPGET, 1L) != CURLE_OK;
    else if (phi__str_is(rq->method, "HEAD"))
        bad |= curl_easy_setopt(e, CURLOPT_NOBODY, 1L) != CURLE_OK;
    else
        bad |= !phi__transfer_set_body(t);
    if (!phi__str_is(rq->method, "GET") && !phi__str_is(rq->method, "HEAD") &&
        !phi__str_is(rq->method, "POST"))
        bad |= curl_easy_setopt(e, CURLOPT_CUSTOMREQUEST, rq->method.at) != CURLE_OK;
    return bad == 0;
}

/* ---- for http.c ---- */

PHI__FN phi__transfer *phi__transfer_new(phi__http *http) {
    phi__transfer *t = (phi__transfer *)phi__alloc(http->memory, sizeof *t);
    if (t == NULL) return NULL;
    t->http = http;
    t->fd = CURL_SOCKET_BAD;
    phi__transfer_move(t, &http->active);
    return t;
}

PHI__FN phi_status phi__transfer_begin(phi__transfer *t, const char **words) {
    CURLMcode added;
    phi__buf_init(&t->head, t->http->memory);
    phi__buf_init(&t->overflow, t->http->memory);
    *words = "no memory for a transfer";
    t->easy = curl_easy_init();
    if (t->easy == NULL) return PHI_NO_MEMORY;
    if (!phi__transfer_set_callbacks(t) || !phi__transfer_set_connection(t) ||
        !phi__transfer_set_tls(t) || !phi__transfer_set_headers(t) || !phi__transfer_set_request(t))
        return PHI_NO_MEMORY; /* the options are known to this libcurl: what is left is memory */
    phi__http_enter(t->http);
    added = curl_multi_add_handle(t->http->multi, t->easy);
    phi__http_leave(t->http);
    if (added != CURLM_OK) return PHI_NO_MEMORY;
    t->added = true;
    t->http->live++;
    return PHI_OK;
}

PHI__FN void phi__transfer_move(phi__transfer *t, phi__transfer_list *list) {
    phi__transfer_list *from = t->list;
    if (from != NULL) {
        if (t->prev != NULL)
            t->prev->next = t->next;
        else
            from->first = t->next;
        if (t->next != NULL)
            t->next->prev = t->prev;
        else
            from->last = t->prev;
        from->count--;
    }
    t->next = t->prev = NULL;
    t->list = list;
    if (list == NULL) return;
    t->prev = list->last;
    if (list->last != NULL)
        list->last->next = t;
    else
        list->first = t;
    list->last = t;
    list->count++;
}

PHI__FN void phi__transfer_free(phi__transfer *t) {
    phi__http *http = t->http;
    phi__transfer_move(t, &http->dying); /* no callback touches its request now */
    phi__http_enter(http);
    if (t->added) (void)curl_multi_remove_handle(http->multi, t->easy);
    curl_easy_cleanup(t->easy);
    phi__http_leave(http);
    if (t->added && !t->finished) http->live--;
    phi__transfer_move(t, NULL);
    curl_slist_free_all(t->headers);
    phi__free(http->memory, t->body, t->body_bytes);
    phi__free(http->memory, t->url, t->url_bytes);
    phi__buf_free(&t->head);
    phi__buf_free(&t->overflow);
    phi__free(http->memory, t, sizeof *t);
}

/* Pieces of at most what one write callback brings, so that whatever takes those takes these. */
static void phi__transfer_drain(phi__transfer *t) {
    phi_status status = PHI_OK;
    phi__http_enter(t->http); /* a resume from within a push waits for the pump */
    while (t->overflow.len > t->overflow_at && status == PHI_OK && !phi__transfer_dead(t)) {
        size_t n = phi__min(t->overflow.len - t->overflow_at, PHI__HTTP_BUFFER_BYTES);
        status = t->http->port.push(t->xfer, t->overflow.at + t->overflow_at, n);
        if (status == PHI_OK) t->overflow_at += n;
    }
    phi__http_leave(t->http);
    if (phi__transfer_dead(t)) return;
    if (status != PHI_OK && status != PHI_FULL) t->failed = status;
    if (t->overflow.len == t->overflow_at) {
        phi__buf_free(&t->overflow);
        t->overflow_at = 0;
    }
    if (t->finished || t->failed != PHI_OK) phi__http_kick(t->http, 0);
}

PHI__FN void phi__transfer_resume(phi__transfer *t) {
    CURLcode result;
    t->resume_wanted = false;
    phi__transfer_drain(t);
    if (!t->paused || phi__transfer_dead(t)) return;
    t->paused = false;
    phi__http_enter(t->http);
    result = curl_easy_pause(t->easy, CURLPAUSE_CONT); /* pushes what curl held back */
    phi__http_leave(t->http);
    if (result == CURLE_OK || phi__transfer_dead(t)) return;
    if (t->failed == PHI_OK)
        t->failed = result == CURLE_OUT_OF_MEMORY ? PHI_NO_MEMORY : PHI_NETWORK;
    t->http->starved = true; /* curl will not say that it is over: the pump looks for it */
    phi__http_kick(t->http, 0);
}

#endif
#undef PHI__HTTP_BUFFER_BYTES
#undef PHI__HTTP_UPLOAD_LEAST
#undef PHI__HTTP_UPLOAD_MOST
#undef PHI__HTTP_CONNECT_MS
#undef PHI__HTTP_KEEPALIVE_S

/* ---- src/io/http_warm.c ---- */

/* http_warm.c - loads the certificate store at a time of the caller's choosing.

   libcurl loads it in the first TLS handshake, 20 ms and more in one piece, and then keeps it with
   the multi handle. So a handshake is begun here with a loopback port of our own that never
   answers: the store is loaded before the first bytes leave, and the transfer is thrown away. */

#if !defined(PHI_NO_CURL)

#include <stdio.h>

#define PHI__HTTP_WARM_TURNS 8 /* of curl's state machine; three are enough with 7.88 */

/* curl connects, and then says hello. */
static bool phi__http_say_hello(phi__http *http, phi__transfer *t, curl_socket_t listener) {
    curl_socket_t peer = CURL_SOCKET_BAD;
    bool heard = false;
    int turn;
    for (turn = 0; turn < PHI__HTTP_WARM_TURNS && !heard; turn++) {
        if (t->fd == CURL_SOCKET_BAD)
            phi__http_act(http, CURL_SOCKET_TIMEOUT, 0);
        else
            phi__http_act(http, t->fd, CURL_CSELECT_OUT);
        heard = phi__http_heard(listener, &peer);
    }
    phi__http_close(peer);
    return heard;
}

PHI__FN void phi__http_load_ca(phi__http *http) {
    char url[48];
    const char *words;
    phi__transfer *t;
    int port = 0;
    curl_socket_t listener;
    if (!http->ca_cache || http->ca_loaded) return;
    listener = phi__http_listen(&port);
    if (listener == CURL_SOCKET_BAD) return; /* then the first handshake loads it */
    (void)snprintf(url, sizeof url, "https://127.0.0.1:%d/", port);
    t = phi__transfer_new(http);
    if (t != NULL) {
        t->url = (char *)phi__alloc(http->memory, sizeof url);
        if (t->url != NULL) {
            t->url_bytes = sizeof url;
            memcpy(t->url, url, sizeof url);
            if (phi__transfer_begin(t, &words) == PHI_OK &&
                curl_easy_setopt(t->easy, CURLOPT_NOPROXY, "*") == CURLE_OK)
                http->ca_loaded = phi__http_say_hello(http, t, listener);
        }
        phi__transfer_free(t);
    }
    phi__http_close(listener);
}

#endif
#undef PHI__HTTP_WARM_TURNS

/* ---- src/io/http_words.c ---- */

/* http_words.c - from libcurl's results to our statuses and words for a person.

   Words name the host, never a header, a query or a user, for those may hold keys. */

#if !defined(PHI_NO_CURL)

#include <stdio.h>

/* "user:key@host:port" of an URL; empty where there is none. */
static phi_str phi__http_authority(phi_str url) {
    size_t at = phi__str_find(url, 0, "://"), end, i;
    if (at == SIZE_MAX) return phi__str(url.at, 0);
    at += 3;
    end = at;
    while (end < url.len && url.at[end] != '/' && url.at[end] != '?' && url.at[end] != '#') end++;
    for (i = end; i > at; i--)
        if (url.at[i - 1] == '@') break;
    return phi__str(url.at + i, end - i);
}

PHI__FN phi_str phi__http_host(phi_str url) {
    phi_str a = phi__http_authority(url);
    size_t i;
    if (a.len > 0 && a.at[0] == '[') {
        i = phi__str_find(a, 0, "]");
        return i == SIZE_MAX ? phi__str(a.at, 0) : phi__str(a.at + 1, i - 1);
    }
    i = phi__str_find(a, 0, ":");
    return i == SIZE_MAX ? a : phi__str(a.at, i);
}

PHI__FN phi_str phi__http_port(phi_str url) {
    phi_str a = phi__http_authority(url);
    size_t i = phi__str_find(a, 0, "]");
    i = phi__str_find(a, i == SIZE_MAX ? 0 : i, ":");
    if (i != SIZE_MAX && i + 1 < a.len) return phi__str(a.at + i + 1, a.len - i - 1);
    if (url.len >= 6 && phi__str_is_nocase(phi__str(url.at, 6), "https:")) return PHI__LIT("443");
    return PHI__LIT("80");
}

PHI__FN bool phi__http_is_address(phi_str host) {
    size_t i, dots = 0;
    if (phi__str_find(host, 0, ":") != SIZE_MAX) return true;
    for (i = 0; i < host.len; i++) {
        if (host.at[i] == '.')
            dots++;
        else if (host.at[i] < '0' || host.at[i] > '9')
            return false;
    }
    return dots == 3;
}

/* The words before the host, by what kind of failure it is. */
typedef struct phi__http_kind {
    phi_status status;
    const char *words;
} phi__http_kind;

static phi__http_kind phi__http_kind_of(phi_status status, const char *words) {
    phi__http_kind kind;
    kind.status = status;
    kind.words = words;
    return kind;
}

static phi__http_kind phi__http_connect_kind(const phi__transfer *t) {
    long os_error = 0;
    phi_status status;
    (void)curl_easy_getinfo(t->easy, CURLINFO_OS_ERRNO, &os_error);
    status = phi__http_connect_status(os_error);
    if (status == PHI_REFUSED) return phi__http_kind_of(status, "connection refused by");
    if (t->no_descriptor)
        return phi__http_kind_of(PHI_IO, "no file descriptor was left for a connection to");
    return phi__http_kind_of(status, "cannot connect to");
}

static phi__http_kind phi__http_classify(const phi__transfer *t) {
    switch (t->result) {
    case CURLE_COULDNT_RESOLVE_HOST: return phi__http_kind_of(PHI_NOT_FOUND, "no such host:");
    case CURLE_COULDNT_RESOLVE_PROXY:
        return phi__http_kind_of(PHI_NOT_FOUND, "no such proxy host, on the way to");
    case CURLE_COULDNT_CONNECT: return phi__http_connect_kind(t);
    case CURLE_OPERATION_TIMEDOUT: return phi__http_kind_of(PHI_TIMEOUT, "no answer in time from");
    case CURLE_OUT_OF_MEMORY: return phi__http_kind_of(PHI_NO_MEMORY, "no memory for");
    case CURLE_URL_MALFORMAT: return phi__http_kind_of(PHI_BAD_ARG, "the URL is not valid, for");
    case CURLE_UNSUPPORTED_PROTOCOL: /* also: an answer without a status line */
        return phi__http_kind_of(PHI_NETWORK, "what answers is not HTTP, at");
    case CURLE_GOT_NOTHING:
        return phi__http_kind_of(PHI_NETWORK, "the connection was closed without an answer by");
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_CRL_BADFILE:
    case CURLE_SSL_ENGINE_NOTFOUND:
    case CURLE_SSL_ENGINE_SETFAILED:
    case CURLE_SSL_ENGINE_INITFAILED:
    case CURLE_SSL_INVALIDCERTSTATUS:
    case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
    case CURLE_USE_SSL_FAILED: return phi__http_kind_of(PHI_TLS, "no secure connection with");
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_SEND_FAIL_REWIND:
    case CURLE_SSL_SHUTDOWN_FAILED:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM: return phi__http_kind_of(PHI_NETWORK, "the connection was cut, to");
    default: return phi__http_kind_of(PHI_NETWORK, "the transfer failed, with");
    }
}

static phi_status phi__http_own_words(const phi__transfer *t, phi_str host, char *out,
                                      size_t size) {
    if (t->failed == PHI_TOO_BIG)
        (void)snprintf(out, size,
                       "%.*s answers faster than is read: %d bytes wait (an HTTP/2 stream is "
                       "not paused)",
                       (int)phi__min(host.len, 128), host.at, PHI__HTTP_OVERFLOW_BYTES);
    else
        (void)snprintf(out, size, "the answer of %.*s could not be taken: %s",
                       (int)phi__min(host.len, 128), host.at, phi_status_text((int)t->failed));
    return t->failed;
}

PHI__FN phi_status phi__http_words(const phi__transfer *t, char *out, size_t size) {
    phi_str host = phi__http_host(t->request != NULL ? t->request->url : phi_str_of(t->url));
    const char *detail;
    phi__http_kind kind;
    out[0] = '\0';
    if (t->failed != PHI_OK) return phi__http_own_words(t, host, out, size);
    if (t->result == CURLE_OK) return PHI_OK;
    kind = phi__http_classify(t);
    detail = t->error[0] != '\0' ? t->error : curl_easy_strerror(t->result);
    (void)snprintf(out, size, "%s %.*s (%s)", kind.words, (int)phi__min(host.len, 128), host.at,
                   detail);
    return kind.status;
}

#endif

/* ---- src/io/inbox.c ---- */

/* inbox.c - records are 8-byte aligned and never wrap: what does not fit before the end of the ring
   is preceded by a record of kind 0 that fills the rest. */

/* First word: the record's bytes, 0 while it is not published. */
typedef struct phi__inbox_record {
    uint32_t bytes;
    uint32_t kind; /* 0: padding */
    uint32_t index, gen;
    uint32_t flag, text_len;
} phi__inbox_record;

enum { PHI__INBOX_LEAST = 1024 };

PHI__FN phi_status phi__inbox_init(phi__inbox *inbox, phi_memory *memory, size_t bytes) {
    uint32_t size = PHI__INBOX_LEAST;
    memset(inbox, 0, sizeof *inbox);
    inbox->memory = memory;
    if (bytes > UINT32_C(1) << 30) return PHI_BAD_ARG;
    while (size < bytes) size *= 2;
    inbox->ring = (char *)phi__alloc(memory, size);
    if (inbox->ring == NULL) return PHI_NO_MEMORY;
    inbox->size = size;
    return PHI_OK;
}

PHI__FN void phi__inbox_free(phi__inbox *inbox) {
    if (inbox->ring != NULL) phi__free(inbox->memory, inbox->ring, inbox->size);
    memset(inbox, 0, sizeof *inbox);
}

static phi__inbox_record *phi__inbox_at(const phi__inbox *inbox, uint32_t count) {
    return (phi__inbox_record *)(void *)(inbox->ring + (count & (inbox->size - 1)));
}

/* Reserves `need` bytes that do not wrap; *at is where they start. */
static bool phi__inbox_reserve(phi__inbox *inbox, uint32_t need, uint32_t *at) {
    uint32_t tail = PHI__LOAD(&inbox->tail);
    for (;;) {
        uint32_t to_end = inbox->size - (tail & (inbox->size - 1));
        uint32_t pad = need > to_end ? to_end : 0;
        uint32_t used = tail - PHI__LOAD(&inbox->head);
        /* A tail read before other threads moved on may lie behind head: try again with a new one. */
        if (used > inbox->size) {
            tail = PHI__LOAD(&inbox->tail);
            continue;
        }
        if (inbox->size - used < pad + need) return false;
        if (!PHI__CAS(&inbox->tail, &tail, tail + pad + need)) continue;
        if (pad != 0) {
            phi__inbox_record *filler = phi__inbox_at(inbox, tail);
            PHI__STORE(&filler->bytes, pad); /* its kind is 0 already */
        }
        *at = tail + pad;
        return true;
    }
}

static size_t phi__inbox_bytes(size_t text_len) {
    size_t bytes = phi__add(sizeof(phi__inbox_record) + 7, text_len);
    return bytes & ~(size_t)7;
}

PHI__FN phi_status phi__inbox_prepare(phi__inbox *inbox, const phi__post *post,
                                      phi__inbox_record **out) {
    size_t bytes = phi__inbox_bytes(post->text.len);
    uint32_t at = 0;
    phi__inbox_record *record;
    if (post->text.len > inbox->size || bytes > inbox->size / 2) return PHI_BAD_ARG;
    if (!phi__inbox_reserve(inbox, (uint32_t)bytes, &at)) return PHI_FULL;
    record = phi__inbox_at(inbox, at);
    record->kind = post->kind;
    record->index = post->index;
    record->gen = post->gen;
    record->flag = post->flag;
    record->text_len = (uint32_t)post->text.len;
    if (post->text.len > 0) memcpy(record + 1, post->text.at, post->text.len);
    *out = record;
    return PHI_OK;
}

PHI__FN void phi__inbox_publish(phi__inbox_record *record, bool keep) {
    if (!keep) record->kind = 0;
    PHI__STORE(&record->bytes, (uint32_t)phi__inbox_bytes(record->text_len));
}

PHI__FN phi_status phi__inbox_post(phi__inbox *inbox, const phi__post *post) {
    phi__inbox_record *record = NULL;
    phi_status status = phi__inbox_prepare(inbox, post, &record);
    if (status == PHI_OK) phi__inbox_publish(record, true);
    return status;
}

PHI__FN bool phi__inbox_peek(phi__inbox *inbox, phi__post *out) {
    for (;;) {
        phi__inbox_record *record = phi__inbox_at(inbox, inbox->head);
        if (inbox->head == PHI__LOAD(&inbox->tail) || PHI__LOAD(&record->bytes) == 0) return false;
        if (record->kind != 0) {
            out->kind = record->kind;
            out->index = record->index;
            out->gen = record->gen;
            out->flag = record->flag;
            out->text = phi__str((const char *)(record + 1), record->text_len);
            return true;
        }
        phi__inbox_drop(inbox);
    }
}

PHI__FN void phi__inbox_drop(phi__inbox *inbox) {
    phi__inbox_record *record = phi__inbox_at(inbox, inbox->head);
    uint32_t bytes = record->bytes;
    /* The room must be zero before a producer may reserve it: any record may start anywhere in it.
       A filler of less than a record's size is cleared by its own length. */
    memset((void *)record, 0, bytes);
    PHI__STORE(&inbox->head, inbox->head + bytes);
}

/* ---- src/io/io.c ---- */

/* io.c - the pump's hands: a heap of timers, a table of watches and a queue of the ready ones.

   Whatever says a descriptor is ready, a poller of ours or the host's loop, only marks its place in
   the table and links it into the queue; phi__io_wait takes from the front. So what a call leaves
   over is first next time, and forgetting a watch takes it out of the queue. */


#include <limits.h>

#define PHI__IO_BATCH 64         /* descriptors asked of the poller at once */
#define PHI__IO_STARTS_DEFAULT 4 /* DESIGN part 4 */

typedef struct phi__io_slot {
    phi__watch *watch;
    int have;            /* not 0: in the ready queue */
    uint32_t next, prev; /* in the ready queue; next also links free places */
} phi__io_slot;

struct phi__io {
    phi_memory *memory;
    phi__io_desc desc;
    phi__timer **timers; /* a binary heap, earliest first */
    size_t timer_count, timer_cap;
    phi__io_slot *slots; /* place 0 is the head of the ready queue */
    size_t slot_count, slot_cap;
    uint32_t free_slot;  /* 0: none */
    phi__poller *poller; /* NULL with a host's loop */
    phi__fd_map fds;     /* with a host's loop */
    phi__wake wake;
    phi__watch wake_watch;
    phi__ending endings; /* the ring's head */
    uint32_t starts;
    uint64_t step_began_us;
    bool fired; /* a timer has, since the last wait */
};

/* ---- timers ---- */

static void phi__io_heap_put(phi__io *io, size_t i, phi__timer *timer) {
    io->timers[i] = timer;
    timer->place = i + 1;
}

static void phi__io_heap_up(phi__io *io, size_t i, phi__timer *timer) {
    while (i > 0 && io->timers[(i - 1) / 2]->at_us > timer->at_us) {
        phi__io_heap_put(io, i, io->timers[(i - 1) / 2]);
        i = (i - 1) / 2;
    }
    phi__io_heap_put(io, i, timer);
}

static void phi__io_heap_down(phi__io *io, size_t i, phi__timer *timer) {
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= io->timer_count) break;
        if (child + 1 < io->timer_count && io->timers[child + 1]->at_us < io->timers[child]->at_us)
            child++;
        if (io->timers[child]->at_us >= timer->at_us) break;
        phi__io_heap_put(io, i, io->timers[child]);
        i = child;
    }
    phi__io_heap_put(io, i, timer);
}

PHI__FN phi_status phi__io_timer_set(phi__io *io, phi__timer *timer, uint64_t at_us) {
    if (timer->place == 0) {
        phi__timer **timers = (phi__timer **)phi__grow(io->memory, io->timers, &io->timer_cap,
                                                       io->timer_count + 1, sizeof *timers);
        if (timers == NULL) return PHI_NO_MEMORY;
        io->timers = timers;
        timer->at_us = at_us;
        phi__io_heap_up(io, io->timer_count++, timer);
    } else if (at_us < timer->at_us) {
        timer->at_us = at_us;
        phi__io_heap_up(io, timer->place - 1, timer);
    } else {
        timer->at_us = at_us;
        phi__io_heap_down(io, timer->place - 1, timer);
    }
    return PHI_OK;
}

PHI__FN void phi__io_timer_clear(phi__io *io, phi__timer *timer) {
    size_t i = timer->place;
    phi__timer *last;
    if (i == 0) return;
    i--;
    PHI_ASSERT(i < io->timer_count && io->timers[i] == timer);
    timer->place = 0;
    last = io->timers[--io->timer_count];
    if (last == timer) return;
    if (last->at_us < timer->at_us)
        phi__io_heap_up(io, i, last);
    else
        phi__io_heap_down(io, i, last);
}

PHI__FN uint64_t phi__io_next_timer_us(const phi__io *io) {
    return io->timer_count == 0 ? UINT64_MAX : io->timers[0]->at_us;
}

PHI__FN int phi__io_timers(phi__io *io, int most) {
    uint64_t now;
    int fired = 0;
    if (phi__io_next_timer_us(io) == UINT64_MAX) return 0;
    now = phi__io_now_us(io);
    while (fired < most && io->timer_count > 0 && io->timers[0]->at_us <= now) {
        phi__timer *timer = io->timers[0];
        phi__io_timer_clear(io, timer);
        fired++;
        timer->fire(timer);
    }
    if (fired > 0) io->fired = true;
    return fired;
}

/* ---- watches ---- */

static uint32_t phi__io_slot_take(phi__io *io) {
    uint32_t i = io->free_slot;
    phi__io_slot *slots;
    if (i != 0) {
        io->free_slot = io->slots[i].next;
    } else {
        if (io->slot_count >= UINT32_MAX) return 0;
        slots = (phi__io_slot *)phi__grow(io->memory, io->slots, &io->slot_cap, io->slot_count + 1,
                                          sizeof *slots);
        if (slots == NULL) return 0;
        io->slots = slots;
        i = (uint32_t)io->slot_count++;
    }
    memset(&io->slots[i], 0, sizeof io->slots[i]);
    return i;
}

static void phi__io_queue_remove(phi__io *io, uint32_t i) {
    phi__io_slot *slot = &io->slots[i];
    if (slot->have == 0) return;
    slot->have = 0;
    io->slots[slot->prev].next = slot->next;
    io->slots[slot->next].prev = slot->prev;
}

static void phi__io_queue_add(phi__io *io, uint32_t i, int have) {
    phi__io_slot *slot = &io->slots[i];
    if (have == 0) return;
    if (slot->have == 0) {
        slot->prev = io->slots[0].prev;
        slot->next = 0;
        io->slots[slot->prev].next = i;
        io->slots[0].prev = i;
    }
    slot->have |= have;
}

static void phi__io_slot_give(phi__io *io, uint32_t i) {
    phi__io_queue_remove(io, i);
    io->slots[i].watch = NULL;
    io->slots[i].next = io->free_slot;
    io->free_slot = i;
}

/* Tells the poller or the host that fd's watching changes. */
static phi_status phi__io_attach(phi__io *io, intptr_t fd, int was, int want, uint32_t slot) {
    if (io->poller != NULL) return phi__poller_change(io->poller, fd, was, want, slot);
    if (want == 0)
        phi__fd_map_remove(&io->fds, fd);
    else if (was == 0 && !phi__fd_map_put(&io->fds, fd, slot))
        return PHI_NO_MEMORY;
    io->desc.watch_fn(io->desc.user_data, fd, want);
    return PHI_OK;
}

static void phi__io_forget(phi__io *io, phi__watch *watch) {
    if (watch->want == 0) return;
    (void)phi__io_attach(io, watch->fd, watch->want, 0, watch->slot);
    phi__io_slot_give(io, watch->slot);
    watch->want = 0;
    watch->slot = 0;
}

PHI__FN phi_status phi__io_watch(phi__io *io, phi__watch *watch, intptr_t fd, int want) {
    phi_status status;
    uint32_t slot;
    if (want == 0 || watch->fd != fd) phi__io_forget(io, watch);
    if (want == watch->want) return PHI_OK;
    slot = watch->want != 0 ? watch->slot : phi__io_slot_take(io);
    if (slot == 0) return PHI_NO_MEMORY;
    status = phi__io_attach(io, fd, watch->want, want, slot);
    if (status != PHI_OK) {
        if (watch->want == 0) phi__io_slot_give(io, slot);
        return status;
    }
    io->slots[slot].watch = watch;
    watch->fd = fd;
    watch->want = want;
    watch->slot = slot;
    return PHI_OK;
}

PHI__FN void phi__io_ready(phi__io *io, intptr_t fd, int have) {
    uint32_t slot = phi__fd_map_get(&io->fds, fd);
    if (slot != 0) phi__io_queue_add(io, slot, have & (PHI__READ | PHI__WRITE));
}

/* Asks the poller once; true when there may be more to ask for. */
static bool phi__io_collect(phi__io *io, int timeout_ms) {
    phi__poller_event events[PHI__IO_BATCH];
    int i, n;
    if (io->poller == NULL) return false;
    n = phi__poller_wait(io->poller, timeout_ms, events, PHI__IO_BATCH);
    for (i = 0; i < n; i++) phi__io_queue_add(io, events[i].key, events[i].have);
    return n == PHI__IO_BATCH;
}

/* A callback may forget, change or free any watch: nothing of it is touched after its call. */
static int phi__io_dispatch(phi__io *io, int most) {
    int called = 0;
    while (called < most && io->slots[0].next != 0) {
        uint32_t i = io->slots[0].next;
        phi__watch *watch = io->slots[i].watch;
        int have = io->slots[i].have & watch->want;
        phi__io_queue_remove(io, i);
        if (have == 0) continue;
        if (watch == &io->wake_watch) {
            phi__wake_drain(&io->wake);
            continue;
        }
        called++;
        watch->ready(watch, have);
    }
    return called;
}

/* How long the poller may sleep: rounded up, so that a timer is due when it returns. */
static int phi__io_sleep_ms(const phi__io *io, int timeout_ms) {
    uint64_t next, now, ms;
    if (timeout_ms == 0 || io->fired || io->slots[0].next != 0) return 0;
    next = phi__io_next_timer_us(io);
    if (next == UINT64_MAX) return timeout_ms;
    now = phi__io_now_us(io);
    if (next <= now) return 0;
    ms = (next - now) / 1000 + ((next - now) % 1000 != 0);
    if (timeout_ms > 0 && ms > (uint64_t)timeout_ms) return timeout_ms;
    return ms > INT_MAX ? INT_MAX : (int)ms;
}

PHI__FN int phi__io_wait(phi__io *io, int timeout_ms, int most) {
    bool more = phi__io_collect(io, phi__io_sleep_ms(io, timeout_ms));
    int called = phi__io_dispatch(io, most);
    io->fired = false;
    while (more && called < most) {
        more = phi__io_collect(io, 0);
        called += phi__io_dispatch(io, most - called);
    }
    return called;
}

/* ---- the rest ---- */

PHI__FN phi_status phi__io_new(phi_memory *memory, const phi__io_desc *desc, phi__io **out) {
    phi__io *io = (phi__io *)phi__alloc(memory, sizeof *io);
    phi_status status = PHI_OK;
    if (io == NULL) return PHI_NO_MEMORY;
    io->memory = memory;
    io->endings.next = io->endings.prev = &io->endings;
    if (desc != NULL) io->desc = *desc;
    if (io->desc.max_starts_per_step == 0) io->desc.max_starts_per_step = PHI__IO_STARTS_DEFAULT;
    io->wake.read_fd = io->wake.write_fd = -1;
    phi__fd_map_init(&io->fds, memory);
    (void)phi__io_slot_take(io); /* the queue's head: place 0 */
    if (io->slot_count == 0) status = PHI_NO_MEMORY;
    if (status == PHI_OK && io->desc.watch_fn == NULL)
        status = phi__poller_new(memory, &io->poller);
    if (status == PHI_OK) status = phi__wake_open(&io->wake);
    if (status == PHI_OK) status = phi__io_watch(io, &io->wake_watch, io->wake.read_fd, PHI__READ);
    if (status != PHI_OK) {
        phi__io_free(io);
        return status;
    }
    phi__io_step_begin(io);
    *out = io;
    return PHI_OK;
}

PHI__FN void phi__io_ending_add(phi__io *io, phi__ending *ending) {
    ending->prev = &io->endings;
    ending->next = io->endings.next;
    ending->next->prev = ending;
    io->endings.next = ending;
}

PHI__FN void phi__io_ending_remove(phi__io *io, phi__ending *ending) {
    (void)io;
    if (ending->next == NULL) return;
    ending->prev->next = ending->next;
    ending->next->prev = ending->prev;
    ending->next = ending->prev = NULL;
}

PHI__FN bool phi__io_pending(const phi__io *io) { return io->endings.next != &io->endings; }

PHI__FN void phi__io_free(phi__io *io) {
    if (io == NULL) return;
    while (io->endings.next != &io->endings) {
        phi__ending *ending = io->endings.next;
        phi__io_ending_remove(io, ending);
        ending->end(ending);
    }
    phi__io_forget(io, &io->wake_watch);
    phi__wake_close(&io->wake);
    phi__poller_free(io->poller);
    phi__fd_map_free(&io->fds);
    phi__free(io->memory, io->timers, io->timer_cap * sizeof(phi__timer *));
    phi__free(io->memory, io->slots, io->slot_cap * sizeof *io->slots);
    phi__free(io->memory, io, sizeof *io);
}

PHI__FN uint64_t phi__io_now_us(const phi__io *io) {
    return io->desc.clock_us_fn != NULL ? io->desc.clock_us_fn(io->desc.user_data)
                                        : phi__clock_us();
}

PHI__FN int64_t phi__io_wall_ms(const phi__io *io) {
    return io->desc.clock_us_fn != NULL ? (int64_t)(io->desc.clock_us_fn(io->desc.user_data) / 1000)
                                        : phi__clock_wall_ms();
}

PHI__FN void phi__io_random(phi__io *io, void *out, size_t len) {
    if (io->desc.random_fn != NULL)
        io->desc.random_fn(io->desc.user_data, out, len);
    else
        phi__clock_random(out, len);
}

PHI__FN intptr_t phi__io_fd(const phi__io *io) {
    return io->poller != NULL ? phi__poller_fd(io->poller) : -1;
}

PHI__FN intptr_t phi__io_any_fd(const phi__io *io) { return io->wake.read_fd; }

PHI__FN void phi__io_wake(phi__io *io) { phi__wake_signal(&io->wake); }

PHI__FN void phi__io_step_begin(phi__io *io) {
    io->starts = 0;
    if (io->desc.step_budget_us != 0) io->step_began_us = phi__io_now_us(io);
}

/* The first start of a step is always allowed, or a busy host would never start any. */
PHI__FN bool phi__io_may_start(phi__io *io) {
    if (io->starts >= io->desc.max_starts_per_step) return false;
    if (io->starts > 0 && io->desc.step_budget_us != 0 &&
        phi__io_now_us(io) - io->step_began_us >= io->desc.step_budget_us)
        return false;
    io->starts++;
    return true;
}

PHI__FN phi_memory *phi__io_memory(phi__io *io) { return io->memory; }
#undef PHI__IO_BATCH
#undef PHI__IO_STARTS_DEFAULT

/* ---- src/io/poller_epoll.c ---- */

/* poller_epoll.c - the poller on Linux. */

#if defined(PHI__POLLER_EPOLL)

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

#define PHI__EPOLL_BATCH 64

struct phi__poller {
    phi_memory *memory;
    int fd;
};

PHI__FN phi_status phi__poller_new(phi_memory *memory, phi__poller **out) {
    phi__poller *poller = (phi__poller *)phi__alloc(memory, sizeof *poller);
    if (poller == NULL) return PHI_NO_MEMORY;
    poller->memory = memory;
    poller->fd = epoll_create1(EPOLL_CLOEXEC);
    if (poller->fd < 0) {
        phi__free(memory, poller, sizeof *poller);
        return PHI_IO;
    }
    *out = poller;
    return PHI_OK;
}

PHI__FN void phi__poller_free(phi__poller *poller) {
    if (poller == NULL) return;
    (void)close(poller->fd);
    phi__free(poller->memory, poller, sizeof *poller);
}

static phi_status phi__epoll_status(void) {
    switch (errno) {
    case ENOMEM:
    case ENOSPC: return PHI_NO_MEMORY;
    case EBADF: return PHI_BAD_ARG;
    default: return PHI_IO;
    }
}

/* A descriptor that was closed and opened again behind our back has left the set, or has come in
   by another road: then the other operation is the right one. */
PHI__FN phi_status phi__poller_change(phi__poller *poller, intptr_t fd, int was, int want,
                                      uint32_t key) {
    struct epoll_event event;
    int op = was != 0 ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    memset(&event, 0, sizeof event);
    event.events = ((want & PHI__READ) != 0 ? (uint32_t)EPOLLIN : 0u) |
                   ((want & PHI__WRITE) != 0 ? (uint32_t)EPOLLOUT : 0u);
    event.data.u32 = key;
    if (want == 0) {
        if (was != 0) (void)epoll_ctl(poller->fd, EPOLL_CTL_DEL, (int)fd, &event);
        return PHI_OK;
    }
    if (epoll_ctl(poller->fd, op, (int)fd, &event) == 0) return PHI_OK;
    if (errno == ENOENT && op == EPOLL_CTL_MOD)
        op = EPOLL_CTL_ADD;
    else if (errno == EEXIST && op == EPOLL_CTL_ADD)
        op = EPOLL_CTL_MOD;
    else
        return phi__epoll_status();
    return epoll_ctl(poller->fd, op, (int)fd, &event) == 0 ? PHI_OK : phi__epoll_status();
}

PHI__FN int phi__poller_wait(phi__poller *poller, int timeout_ms, phi__poller_event *out, int cap) {
    struct epoll_event events[PHI__EPOLL_BATCH];
    int i, n;
    if (cap > PHI__EPOLL_BATCH) cap = PHI__EPOLL_BATCH;
    n = epoll_wait(poller->fd, events, cap, timeout_ms);
    for (i = 0; i < n; i++) {
        uint32_t e = events[i].events;
        bool broken = (e & ((uint32_t)EPOLLHUP | (uint32_t)EPOLLERR)) != 0;
        out[i].key = events[i].data.u32;
        out[i].have = ((e & (uint32_t)EPOLLIN) != 0 || broken ? PHI__READ : 0) |
                      ((e & (uint32_t)EPOLLOUT) != 0 || broken ? PHI__WRITE : 0);
    }
    return n < 0 ? 0 : n;
}

PHI__FN intptr_t phi__poller_fd(const phi__poller *poller) { return poller->fd; }

#endif
#undef PHI__EPOLL_BATCH

/* ---- src/io/poller_host.c ---- */

/* poller_host.c - from the host's descriptors to our keys: open addressing with linear probing,
   at most half full, and removal that shifts followers back so that no tombstones gather. */

static size_t phi__fd_map_home(const phi__fd_map *map, intptr_t fd) {
    return ((size_t)fd * 0x9E3779B1u >> 7) & (map->cap - 1);
}

/* The place of fd, or the empty place where it would go. */
static size_t phi__fd_map_find(const phi__fd_map *map, intptr_t fd) {
    size_t i = phi__fd_map_home(map, fd);
    while (map->entries[i].key != 0 && map->entries[i].fd != fd) i = (i + 1) & (map->cap - 1);
    return i;
}

static bool phi__fd_map_grow(phi__fd_map *map) {
    phi__fd_map old = *map;
    size_t i, cap = old.cap == 0 ? 16 : old.cap * 2;
    size_t bytes = phi__mul(cap, sizeof *map->entries);
    phi__fd_entry *entries = NULL;
    if (bytes != SIZE_MAX) entries = (phi__fd_entry *)phi__alloc(map->memory, bytes);
    if (entries == NULL) return false;
    map->entries = entries;
    map->cap = cap;
    for (i = 0; i < old.cap; i++)
        if (old.entries[i].key != 0)
            map->entries[phi__fd_map_find(map, old.entries[i].fd)] = old.entries[i];
    phi__free(old.memory, old.entries, old.cap * sizeof *old.entries);
    return true;
}

PHI__FN void phi__fd_map_init(phi__fd_map *map, phi_memory *memory) {
    memset(map, 0, sizeof *map);
    map->memory = memory;
}

PHI__FN void phi__fd_map_free(phi__fd_map *map) {
    phi__free(map->memory, map->entries, map->cap * sizeof *map->entries);
    phi__fd_map_init(map, map->memory);
}

PHI__FN bool phi__fd_map_put(phi__fd_map *map, intptr_t fd, uint32_t key) {
    size_t i;
    if (map->count >= map->cap / 2 && !phi__fd_map_grow(map)) return false;
    i = phi__fd_map_find(map, fd);
    if (map->entries[i].key == 0) map->count++;
    map->entries[i].fd = fd;
    map->entries[i].key = key;
    return true;
}

PHI__FN uint32_t phi__fd_map_get(const phi__fd_map *map, intptr_t fd) {
    return map->cap == 0 ? 0 : map->entries[phi__fd_map_find(map, fd)].key;
}

PHI__FN void phi__fd_map_remove(phi__fd_map *map, intptr_t fd) {
    size_t hole, i, mask = map->cap - 1;
    if (map->cap == 0) return;
    hole = phi__fd_map_find(map, fd);
    if (map->entries[hole].key == 0) return;
    map->count--;
    for (i = (hole + 1) & mask; map->entries[i].key != 0; i = (i + 1) & mask) {
        size_t home = phi__fd_map_home(map, map->entries[i].fd);
        if (((i - home) & mask) >= ((i - hole) & mask)) { /* its probe path crosses the hole */
            map->entries[hole] = map->entries[i];
            hole = i;
        }
    }
    map->entries[hole].key = 0;
}

/* ---- src/io/poller_kqueue.c ---- */

/* poller_kqueue.c - the poller on the BSDs and macOS. */

#if defined(PHI__POLLER_KQUEUE)

#include <sys/types.h>

#include <errno.h>
#include <fcntl.h>
#include <sys/event.h>
#include <sys/time.h>
#include <unistd.h>

#define PHI__KQUEUE_BATCH 64

#if defined(__NetBSD__) && __NetBSD_Version__ < 1000000000
#define PHI__KQUEUE_UDATA(key) ((intptr_t)(key))
#else
#define PHI__KQUEUE_UDATA(key) ((void *)(uintptr_t)(key))
#endif

struct phi__poller {
    phi_memory *memory;
    int fd;
};

PHI__FN phi_status phi__poller_new(phi_memory *memory, phi__poller **out) {
    phi__poller *poller = (phi__poller *)phi__alloc(memory, sizeof *poller);
    if (poller == NULL) return PHI_NO_MEMORY;
    poller->memory = memory;
    poller->fd = kqueue();
    if (poller->fd < 0) {
        phi__free(memory, poller, sizeof *poller);
        return PHI_IO;
    }
    (void)fcntl(poller->fd, F_SETFD, FD_CLOEXEC);
    *out = poller;
    return PHI_OK;
}

PHI__FN void phi__poller_free(phi__poller *poller) {
    if (poller == NULL) return;
    (void)close(poller->fd);
    phi__free(poller->memory, poller, sizeof *poller);
}

/* One filter added or deleted; deleting what is not there is no error. */
static bool phi__kqueue_filter(phi__poller *poller, intptr_t fd, int filter, bool add,
                               uint32_t key) {
    struct kevent change;
    EV_SET(&change, (uintptr_t)fd, (short)filter, add ? EV_ADD : EV_DELETE, 0, 0,
           PHI__KQUEUE_UDATA(key));
    return kevent(poller->fd, &change, 1, NULL, 0, NULL) == 0 || !add;
}

PHI__FN phi_status phi__poller_change(phi__poller *poller, intptr_t fd, int was, int want,
                                      uint32_t key) {
    int added = want & ~was, gone = was & ~want;
    bool ok = true;
    if ((gone & PHI__READ) != 0) (void)phi__kqueue_filter(poller, fd, EVFILT_READ, false, key);
    if ((gone & PHI__WRITE) != 0) (void)phi__kqueue_filter(poller, fd, EVFILT_WRITE, false, key);
    if ((added & PHI__READ) != 0) ok = phi__kqueue_filter(poller, fd, EVFILT_READ, true, key);
    if (ok && (added & PHI__WRITE) != 0) {
        ok = phi__kqueue_filter(poller, fd, EVFILT_WRITE, true, key);
        if (!ok && (added & PHI__READ) != 0)
            (void)phi__kqueue_filter(poller, fd, EVFILT_READ, false, key);
    }
    if (ok) return PHI_OK;
    return errno == ENOMEM ? PHI_NO_MEMORY : errno == EBADF ? PHI_BAD_ARG : PHI_IO;
}

PHI__FN int phi__poller_wait(phi__poller *poller, int timeout_ms, phi__poller_event *out, int cap) {
    struct kevent events[PHI__KQUEUE_BATCH];
    struct timespec limit;
    int i, n;
    if (cap > PHI__KQUEUE_BATCH) cap = PHI__KQUEUE_BATCH;
    limit.tv_sec = timeout_ms < 0 ? 0 : timeout_ms / 1000;
    limit.tv_nsec = timeout_ms < 0 ? 0 : (long)(timeout_ms % 1000) * 1000000;
    n = kevent(poller->fd, NULL, 0, events, cap, timeout_ms < 0 ? NULL : &limit);
    for (i = 0; i < n; i++) {
        out[i].key = (uint32_t)(uintptr_t)events[i].udata;
        out[i].have = (int)events[i].filter == (int)EVFILT_WRITE ? PHI__WRITE : PHI__READ;
    }
    return n < 0 ? 0 : n;
}

PHI__FN intptr_t phi__poller_fd(const phi__poller *poller) { return poller->fd; }

#endif
#undef PHI__KQUEUE_BATCH
#undef PHI__KQUEUE_UDATA

/* ---- src/io/poller_poll.c ---- */

/* poller_poll.c - the poller where there is only poll(): an array indexed by key, with -1 in unused
   places, which poll() skips. Costs what is watched, not what is ready. */

#if defined(PHI__POLLER_POLL)

#include <poll.h>

struct phi__poller {
    phi_memory *memory;
    struct pollfd *fds;
    size_t len, cap;
    size_t cursor; /* where the next report begins, so that none starves */
};

PHI__FN phi_status phi__poller_new(phi_memory *memory, phi__poller **out) {
    phi__poller *poller = (phi__poller *)phi__alloc(memory, sizeof *poller);
    if (poller == NULL) return PHI_NO_MEMORY;
    poller->memory = memory;
    *out = poller;
    return PHI_OK;
}

PHI__FN void phi__poller_free(phi__poller *poller) {
    if (poller == NULL) return;
    phi__free(poller->memory, poller->fds, poller->cap * sizeof *poller->fds);
    phi__free(poller->memory, poller, sizeof *poller);
}

PHI__FN phi_status phi__poller_change(phi__poller *poller, intptr_t fd, int was, int want,
                                      uint32_t key) {
    struct pollfd *fds;
    (void)was;
    if (want == 0) {
        if (key < poller->len) poller->fds[key].fd = -1;
        while (poller->len > 0 && poller->fds[poller->len - 1].fd < 0) poller->len--;
        return PHI_OK;
    }
    fds = (struct pollfd *)phi__grow(poller->memory, poller->fds, &poller->cap, (size_t)key + 1,
                                     sizeof *fds);
    if (fds == NULL) return PHI_NO_MEMORY;
    poller->fds = fds;
    while (poller->len <= key) {
        fds[poller->len].fd = -1;
        fds[poller->len].events = 0;
        fds[poller->len++].revents = 0;
    }
    fds[key].fd = (int)fd;
    fds[key].events =
        (short)(((want & PHI__READ) != 0 ? POLLIN : 0) | ((want & PHI__WRITE) != 0 ? POLLOUT : 0));
    fds[key].revents = 0;
    return PHI_OK;
}

PHI__FN int phi__poller_wait(phi__poller *poller, int timeout_ms, phi__poller_event *out, int cap) {
    int n = 0, left = poll(poller->fds, (nfds_t)poller->len, timeout_ms);
    size_t i;
    for (i = 0; i < poller->len && left > 0 && n < cap; i++) {
        size_t at = (poller->cursor + i) % poller->len;
        int got = poller->fds[at].fd < 0 ? 0 : poller->fds[at].revents;
        bool broken = (got & (POLLHUP | POLLERR | POLLNVAL)) != 0;
        if (got == 0) continue;
        left--;
        out[n].key = (uint32_t)at;
        out[n++].have = ((got & POLLIN) != 0 || broken ? PHI__READ : 0) |
                        ((got & POLLOUT) != 0 || broken ? PHI__WRITE : 0);
    }
    if (poller->len > 0) poller->cursor = (poller->cursor + i) % poller->len;
    return n;
}

PHI__FN intptr_t phi__poller_fd(const phi__poller *poller) {
    (void)poller;
    return -1;
}

#endif

/* ---- src/io/posix.c ---- */

/* posix.c - the system's words, and writes without a signal.

   A write to a pipe nobody reads raises SIGPIPE, one past RLIMIT_FSIZE raises SIGXFSZ, and either
   ends a host that did not think of it. Both are sent to the writing thread, so that blocking them
   there and taking a new one out of the queue leaves no trace. */

#if !defined(PHI_NO_PROCESS) || !defined(PHI_NO_FILES)

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

PHI__FN void phi__posix_words(int error, char *out, size_t size) {
#if defined(__GLIBC__) && defined(_GNU_SOURCE)
    char room[128];
    const char *words = strerror_r(error, room, sizeof room); /* GNU: may not use room */
    (void)snprintf(out, size, "%s", words);
#else
    if (strerror_r(error, out, size) != 0) (void)snprintf(out, size, "system error %d", error);
#endif
}

/* Takes a signal that the write made pending; one that was pending before stays. */
static void phi__posix_take(const sigset_t *before, int signal_number) {
    sigset_t one, now;
    if (sigismember(before, signal_number) == 1) return;
    if (sigpending(&now) != 0 || sigismember(&now, signal_number) != 1) return;
    (void)sigemptyset(&one);
    (void)sigaddset(&one, signal_number);
#if defined(__APPLE__)
    {
        int got;
        (void)sigwait(&one, &got);
    }
#else
    {
        struct timespec zero;
        memset(&zero, 0, sizeof zero);
        while (sigtimedwait(&one, NULL, &zero) < 0 && errno == EINTR) continue;
    }
#endif
}

/* sigprocmask and not pthread_sigmask: it sets the calling thread's mask on every system we know,
   and needs no thread library. */
PHI__FN int phi__posix_write(int fd, const char *bytes, size_t n, size_t *wrote) {
    sigset_t hold, mask, before;
    ssize_t got;
    int error = 0;
    *wrote = 0;
    (void)sigemptyset(&hold);
    (void)sigaddset(&hold, SIGPIPE);
    (void)sigaddset(&hold, SIGXFSZ);
    (void)sigemptyset(&before);
    (void)sigprocmask(SIG_BLOCK, &hold, &mask);
    (void)sigpending(&before);
    do got = write(fd, bytes, n);
    while (got < 0 && errno == EINTR);
    if (got < 0) error = errno;
    if (error == EPIPE) phi__posix_take(&before, SIGPIPE);
    if (error == EFBIG) phi__posix_take(&before, SIGXFSZ);
    (void)sigprocmask(SIG_SETMASK, &mask, NULL);
    if (got > 0) *wrote = (size_t)got;
    return error;
}

#endif

/* ---- src/io/process.c ---- */

/* process.c - one child process: its streams, its exit, its end.

   A child is RUNNING; then EXITED, a zombie that is kept so that its number, which is its group's
   number too, cannot be given to others; then REAPED, after its group was killed, while what is left
   in its pipes is read. A process freed while it runs lives on, without streams and callbacks, until
   it is reaped: an orphan. */

#ifndef PHI_NO_PROCESS


#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

/* PHI__PROCESS_POLL forces the timer that asks for the exit, for the tests. */
#if defined(__linux__) && !defined(PHI__PROCESS_POLL)
#include <sys/syscall.h>
#if defined(SYS_pidfd_open)
#define PHI__PROCESS_PIDFD
#endif
#endif

enum {
    PHI__PROCESS_TURN_BYTES = 16384,    /* read from a stream in one turn */
    PHI__PROCESS_WRITE_BYTES = 65536,   /* written in one turn; a pipe holds no more by default */
    PHI__PROCESS_QUEUE_BYTES = 1048576, /* of stdin, waiting */
    PHI__PROCESS_REST_BYTES = 1048576,  /* read after the grace; a pipe can hold this much */
    PHI__PROCESS_GRACE_US = 100000,     /* from the exit, for streams held by a grandchild */
    PHI__PROCESS_POLL_FIRST_US = 1000,  /* between two questions for the exit, doubling */
    PHI__PROCESS_POLL_LAST_US = 20000,
    PHI__PROCESS_RETRY_US = 10000, /* a watch found no memory */
    PHI__PROCESS_LAST_MS = 50      /* waited at most for a killed child when the io ends */
};

/* Where a pidfd tells of the exit the timer has nothing to do, but stays set: what is set once can
   be moved without memory. */
#define PHI__PROCESS_HOUR_US 3600000000u

typedef enum phi__process_state {
    PHI__PROCESS_RUNNING,
    PHI__PROCESS_EXITED,
    PHI__PROCESS_REAPED
} phi__process_state;

struct phi__process {
    phi__io *io;
    bool (*output)(void *ctx, int stream, const char *bytes, size_t len);
    void (*exited)(void *ctx, int code, int signal_number);
    void *ctx;
    int pid;
    phi__process_state state;
    int code, signal_number;
    bool lost;         /* the status went to the host */
    bool input_ending; /* stdin is closed when the queue is empty */
    bool stopped[3];   /* output said no */
    bool in_callback, freed;
    int fds[3];                        /* our ends; -1: closed */
    phi__watch watches[3], exit_watch; /* exit_watch.fd: the pidfd, or -1 */
    phi__timer timer;
    uint64_t grace_end_us;
    uint32_t poll_us;
    size_t rest_bytes;
    phi__buf input;
    size_t input_at; /* written so far */
    phi__ending ending;
};

/* ---- the timer and what is watched ---- */

/* Cannot fail: the timer is always set. */
static void phi__process_in(phi__process *p, uint64_t us) {
    (void)phi__io_timer_set(p->io, &p->timer, phi__io_now_us(p->io) + us);
}

static void phi__process_poll_again(phi__process *p) {
    if (p->exit_watch.fd >= 0) {
        phi__process_in(p, PHI__PROCESS_HOUR_US);
        return;
    }
    phi__process_in(p, p->poll_us);
    if (p->poll_us < PHI__PROCESS_POLL_LAST_US) p->poll_us *= 2;
}

static bool phi__process_ended(const phi__process *p) { return p->fds[1] < 0 && p->fds[2] < 0; }

static void phi__process_shut(phi__process *p, int stream) {
    if (p->fds[stream] < 0) return;
    (void)phi__io_watch(p->io, &p->watches[stream], p->fds[stream], 0);
    (void)close(p->fds[stream]);
    p->fds[stream] = -1;
    if (stream == 0) phi__buf_free(&p->input);
    /* Both streams ended: the exit is near. */
    if (phi__process_ended(p) && p->state == PHI__PROCESS_RUNNING) {
        p->poll_us = PHI__PROCESS_POLL_FIRST_US;
        phi__process_poll_again(p);
    }
}

/* Watches as it should be; without memory the timer tries again. */
static void phi__process_watch(phi__process *p, int stream, bool on) {
    int want = !on ? 0 : stream == 0 ? PHI__WRITE : PHI__READ;
    if (p->fds[stream] < 0 || p->watches[stream].want == want) return;
    if (phi__io_watch(p->io, &p->watches[stream], p->fds[stream], want) != PHI_OK)
        phi__process_in(p, PHI__PROCESS_RETRY_US);
}

static void phi__process_watch_all(phi__process *p) {
    phi__process_watch(p, 0, p->input.len > p->input_at);
    phi__process_watch(p, 1, !p->stopped[1]);
    phi__process_watch(p, 2, !p->stopped[2]);
}

/* ---- exit ---- */

static void phi__process_exit_forget(phi__process *p) {
    int fd = (int)p->exit_watch.fd;
    if (fd < 0) return;
    (void)phi__io_watch(p->io, &p->exit_watch, fd, 0);
    (void)close(fd);
    p->exit_watch.fd = -1;
}

/* Looks whether the child has exited, and leaves it a zombie; the grace of its streams begins. */
static bool phi__process_look(phi__process *p) {
    siginfo_t info;
    int result;
    if (p->state != PHI__PROCESS_RUNNING) return true;
    memset(&info, 0, sizeof info);
    do result = waitid(P_PID, (id_t)p->pid, &info, WEXITED | WNOHANG | WNOWAIT);
    while (result < 0 && errno == EINTR);
    if (result == 0 && info.si_pid == 0) return false;
    p->state = PHI__PROCESS_EXITED;
    p->lost = result < 0;
    p->code = !p->lost && info.si_code == CLD_EXITED ? info.si_status : -1;
    p->signal_number = !p->lost && info.si_code != CLD_EXITED ? info.si_status : 0;
    phi__process_exit_forget(p);
    phi__process_shut(p, 0);
    p->grace_end_us = phi__io_now_us(p->io) + PHI__PROCESS_GRACE_US;
    phi__process_in(p, phi__process_ended(p) ? 0 : PHI__PROCESS_GRACE_US);
    return true;
}

/* Only while the child runs or is a zombie is its group's number certainly its own. */
static void phi__process_kill_group(const phi__process *p) {
    if (p->state != PHI__PROCESS_REAPED && !p->lost) (void)kill(-(pid_t)p->pid, SIGKILL);
}

static void phi__process_reap(phi__process *p) {
    siginfo_t info;
    PHI_ASSERT(p->state == PHI__PROCESS_EXITED);
    phi__process_kill_group(p);
    if (!p->lost)
        while (waitid(P_PID, (id_t)p->pid, &info, WEXITED | WNOHANG) < 0 && errno == EINTR)
            continue;
    p->state = PHI__PROCESS_REAPED;
}

/* Closes and forgets; a running child becomes an orphan of the io. */
static void phi__process_release(phi__process *p) {
    phi__io *io = p->io;
    int i;
    p->output = NULL;
    p->exited = NULL;
    for (i = 0; i < 3; i++) phi__process_shut(p, i);
    if (!phi__process_look(p)) {
        if (p->ending.next == NULL) {
            phi__process_kill_group(p);
            phi__io_ending_add(io, &p->ending);
            p->poll_us = PHI__PROCESS_POLL_FIRST_US;
        }
        phi__process_poll_again(p);
        return;
    }
    if (p->state == PHI__PROCESS_EXITED) phi__process_reap(p);
    phi__io_ending_remove(io, &p->ending);
    phi__io_timer_clear(io, &p->timer);
    phi__free(phi__io_memory(io), p, sizeof *p);
}

/* After a callback: false when the process was freed in it, and is gone now. */
static bool phi__process_returned(phi__process *p) {
    p->in_callback = false;
    if (!p->freed) return true;
    phi__process_release(p);
    return false;
}

/* One turn of a stream. False: the process is gone. */
static bool phi__process_read(phi__process *p, int stream, bool *emptied) {
    char bytes[PHI__PROCESS_TURN_BYTES];
    ssize_t n;
    bool more;
    *emptied = false;
    do n = read(p->fds[stream], bytes, sizeof bytes);
    while (n < 0 && errno == EINTR);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        *emptied = true;
        return true;
    }
    if (n <= 0) {
        phi__process_shut(p, stream);
        return true;
    }
    p->rest_bytes += (size_t)n;
    if (p->output == NULL) return true;
    p->in_callback = true;
    more = p->output(p->ctx, stream, bytes, (size_t)n);
    if (!phi__process_returned(p)) return false;
    if (!more) p->stopped[stream] = true;
    phi__process_watch(p, stream, more && p->state != PHI__PROCESS_REAPED);
    return true;
}

/* Once the group is dead: what its pipes still hold, a piece of each a turn, by timer. An escaped
   grandchild may go on writing, so it ends at an empty pipe or a limit. False: gone. */
static bool phi__process_rest(phi__process *p) {
    int i;
    bool again = false, emptied;
    for (i = 1; i < 3; i++) {
        phi__process_watch(p, i, false);
        if (p->fds[i] < 0 || p->stopped[i]) continue;
        if (!phi__process_read(p, i, &emptied)) return false;
        if (emptied || p->rest_bytes >= PHI__PROCESS_REST_BYTES) phi__process_shut(p, i);
        again = again || (p->fds[i] >= 0 && !p->stopped[i]);
    }
    phi__process_in(p, again ? 0 : PHI__PROCESS_HOUR_US);
    return true;
}

/* Goes as far as it can: the exit, the grace, the end. The process may be gone after it. */
static void phi__process_settle(phi__process *p) {
    if (!phi__process_look(p)) return;
    if (p->state == PHI__PROCESS_EXITED) {
        if (!phi__process_ended(p) && phi__io_now_us(p->io) < p->grace_end_us) return;
        phi__process_reap(p);
        p->rest_bytes = 0;
        if (!phi__process_rest(p)) return;
    }
    if (phi__process_ended(p) && p->exited != NULL) {
        void (*exited)(void *, int, int) = p->exited;
        p->exited = NULL;
        p->in_callback = true;
        exited(p->ctx, p->code, p->signal_number);
        (void)phi__process_returned(p);
    }
}

static void phi__process_on_stream(phi__process *p, int stream) {
    bool emptied;
    if (p->fds[stream] < 0 || p->stopped[stream]) return;
    if (phi__process_read(p, stream, &emptied) && p->fds[stream] < 0) phi__process_settle(p);
}

static void phi__process_on_out(phi__watch *watch, int have) {
    (void)have;
    phi__process_on_stream(PHI__OWNER(watch, phi__process, watches[1]), 1);
}

static void phi__process_on_err(phi__watch *watch, int have) {
    (void)have;
    phi__process_on_stream(PHI__OWNER(watch, phi__process, watches[2]), 2);
}

static void phi__process_on_in(phi__watch *watch, int have) {
    phi__process *p = PHI__OWNER(watch, phi__process, watches[0]);
    size_t left = p->input.len - p->input_at, wrote;
    int error;
    (void)have;
    if (p->fds[0] < 0) return;
    error = phi__posix_write(p->fds[0], p->input.at + p->input_at,
                             phi__min(left, PHI__PROCESS_WRITE_BYTES), &wrote);
    p->input_at += wrote;
    if (error != 0 && error != EAGAIN && error != EWOULDBLOCK) {
        phi__process_shut(p, 0); /* the child reads no more; its exit tells the rest */
        return;
    }
    if (p->input_at < p->input.len) return;
    phi__buf_clear(&p->input);
    p->input_at = 0;
    if (p->input_ending)
        phi__process_shut(p, 0);
    else
        phi__process_watch(p, 0, false);
}

static void phi__process_on_exit(phi__watch *watch, int have) {
    phi__process *p = PHI__OWNER(watch, phi__process, exit_watch);
    (void)have;
    if (p->freed)
        phi__process_release(p);
    else
        phi__process_settle(p);
}

static void phi__process_on_timer(phi__timer *timer) {
    phi__process *p = PHI__OWNER(timer, phi__process, timer);
    if (p->freed) {
        phi__process_release(p);
        return;
    }
    phi__process_poll_again(p); /* set again, before anything else asks for memory */
    if (p->state != PHI__PROCESS_REAPED) phi__process_watch_all(p);
    if (p->state == PHI__PROCESS_REAPED && !phi__process_rest(p)) return;
    phi__process_settle(p);
}

/* The io ends, and nobody will look any more: what was killed is dead within a millisecond or so, and
   a short wait is better than a zombie for as long as the host lives. */
static void phi__process_on_end(phi__ending *ending) {
    phi__process *p = PHI__OWNER(ending, phi__process, ending);
    phi__io *io = p->io;
    int i;
    for (i = 0; i < PHI__PROCESS_LAST_MS && !phi__process_look(p); i++) (void)poll(NULL, 0, 1);
    if (p->state == PHI__PROCESS_EXITED) phi__process_reap(p);
    phi__process_exit_forget(p);
    phi__io_ending_remove(io, ending);
    phi__io_timer_clear(io, &p->timer);
    phi__free(phi__io_memory(io), p, sizeof *p);
}

/* ---- starting ---- */

/* Both ends close-on-exec and 3 or more, so that they can become 0, 1 and 2 in any order; ours does
   not block. `ours` is 0 for reading, 1 for writing. Returns an errno value. */
static int phi__process_pipe(int *our_end, int *child_end, int ours) {
    int ends[2], i, error = 0;
#if defined(__APPLE__)
    if (pipe(ends) != 0) return errno;
    (void)fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    (void)fcntl(ends[1], F_SETFD, FD_CLOEXEC);
#else
    if (pipe2(ends, O_CLOEXEC) != 0) return errno;
#endif
    for (i = 0; i < 2; i++) {
        int moved;
        if (ends[i] > 2) continue;
        moved = fcntl(ends[i], F_DUPFD_CLOEXEC, 3);
        if (moved < 0) error = errno;
        (void)close(ends[i]);
        ends[i] = moved;
    }
    if (error == 0 && fcntl(ends[ours], F_SETFL, O_NONBLOCK) != 0) error = errno;
    *our_end = ends[ours];
    *child_end = ends[1 - ours];
    return error;
}

/* The pipes, their watches and the timer: all that may find no memory, before there is a child. */
static phi_status phi__process_prepare(phi__process *p, bool with_input, int *child, int *error) {
    int i;
    phi_status status =
        phi__io_timer_set(p->io, &p->timer, phi__io_now_us(p->io) + PHI__PROCESS_HOUR_US);
    p->timer.fire = phi__process_on_timer;
    p->watches[0].ready = phi__process_on_in;
    p->watches[1].ready = phi__process_on_out;
    p->watches[2].ready = phi__process_on_err;
    p->exit_watch.ready = phi__process_on_exit;
    p->ending.end = phi__process_on_end;
    for (i = with_input ? 0 : 1; i < 3 && status == PHI_OK; i++) {
        *error = phi__process_pipe(&p->fds[i], &child[i], i == 0 ? 1 : 0);
        if (*error != 0) return PHI_IO;
        if (i > 0 || p->input.len > 0)
            status =
                phi__io_watch(p->io, &p->watches[i], p->fds[i], i == 0 ? PHI__WRITE : PHI__READ);
    }
    return status;
}

/* A pidfd becomes readable at the exit, also of a child whose status is lost. */
static void phi__process_watch_exit(phi__process *p) {
#if defined(PHI__PROCESS_PIDFD)
    int fd = (int)syscall(SYS_pidfd_open, (long)p->pid, 0L);
    if (fd >= 0) {
        p->exit_watch.fd = fd;
        if (phi__io_watch(p->io, &p->exit_watch, fd, PHI__READ) != PHI_OK) {
            (void)close(fd);
            p->exit_watch.fd = -1;
        }
    }
#endif
    phi__process_poll_again(p);
}

static bool phi__process_has_cwd(const phi__process_desc *desc) {
#if defined(PHI_NO_FILES)
    return desc->cwd == NULL;
#else
    struct stat info;
    return desc->cwd == NULL || stat(desc->cwd, &info) == 0;
#endif
}

/* What a refusal means: a missing program and a missing directory have the same number. */
static phi_status phi__process_refusal(int error, const phi__process_desc *desc) {
    if (error == EMFILE || error == ENFILE || error == EAGAIN) return PHI_BUSY;
    if (error == ENOMEM) return PHI_NO_MEMORY;
    return error == ENOENT && phi__process_has_cwd(desc) ? PHI_NOT_FOUND : PHI_IO;
}

/* Before there is a child. */
static void phi__process_undo(phi__process *p) {
    int i;
    p->state = PHI__PROCESS_REAPED;
    for (i = 0; i < 3; i++) phi__process_shut(p, i);
    phi__buf_free(&p->input);
    phi__io_timer_clear(p->io, &p->timer);
    phi__free(phi__io_memory(p->io), p, sizeof *p);
}

/* ---- for other modules ---- */

PHI__FN phi_status phi__process_new(phi__io *io, const phi__process_desc *desc, phi__process **out,
                                    char *words, size_t words_size) {
    phi__process *p;
    phi__spawn spawn;
    phi_status status;
    int error = 0, i;
    *out = NULL;
    if (words_size > 0) words[0] = '\0';
    if (desc->argv == NULL || desc->argv[0] == NULL) return PHI_BAD_ARG;
    if (!phi__io_may_start(io)) return PHI_BUSY;
    p = (phi__process *)phi__alloc(phi__io_memory(io), sizeof *p);
    if (p == NULL) return PHI_NO_MEMORY;
    p->io = io;
    p->output = desc->output;
    p->exited = desc->exited;
    p->ctx = desc->ctx;
    p->input_ending = !desc->keep_stdin;
    p->poll_us = PHI__PROCESS_POLL_FIRST_US;
    p->exit_watch.fd = -1;
    for (i = 0; i < 3; i++) p->fds[i] = spawn.fds[i] = -1;
    phi__buf_init(&p->input, phi__io_memory(io));
    phi__buf_add(&p->input, desc->input.at, desc->input.len);
    status = p->input.failed ? PHI_NO_MEMORY
                             : phi__process_prepare(p, desc->input.len > 0 || desc->keep_stdin,
                                                    spawn.fds, &error);
    if (status == PHI_OK) {
        spawn.argv = desc->argv;
        spawn.env = desc->env;
        spawn.cwd = desc->cwd;
        error = phi__spawn_start(phi__io_memory(io), &spawn, &p->pid);
    }
    for (i = 0; i < 3; i++)
        if (spawn.fds[i] >= 0) (void)close(spawn.fds[i]);
    if (error != 0) {
        status = phi__process_refusal(error, desc);
        if (words_size > 0) phi__posix_words(error, words, words_size);
    }
    if (status != PHI_OK) {
        phi__process_undo(p);
        return status;
    }
    phi__process_watch_exit(p);
    *out = p;
    return PHI_OK;
}

PHI__FN phi_status phi__process_write(phi__process *process, phi_str bytes) {
    phi__process *p = process;
    if (p->fds[0] < 0 || p->input_ending) return PHI_STALE;
    if (bytes.len >
        PHI__PROCESS_QUEUE_BYTES - phi__min(p->input.len - p->input_at, PHI__PROCESS_QUEUE_BYTES))
        return PHI_FULL;
    if (p->input_at > p->input.len / 2) {
        phi__buf_drop(&p->input, p->input_at);
        p->input_at = 0;
    }
    phi__buf_add(&p->input, bytes.at, bytes.len);
    if (p->input.failed) {
        p->input.failed = false; /* what was queued before is still whole */
        return PHI_NO_MEMORY;
    }
    phi__process_watch(p, 0, p->input.len > p->input_at);
    return PHI_OK;
}

PHI__FN void phi__process_close_input(phi__process *process) {
    process->input_ending = true;
    if (process->input.len == process->input_at) phi__process_shut(process, 0);
}

PHI__FN void phi__process_resume(phi__process *process) {
    process->stopped[1] = process->stopped[2] = false;
    if (process->state == PHI__PROCESS_REAPED)
        phi__process_in(process, 0);
    else
        phi__process_watch_all(process);
}

PHI__FN void phi__process_kill(phi__process *process) {
    (void)phi__process_look(process); /* the number is ours as long as nobody has reaped it */
    phi__process_kill_group(process);
}

PHI__FN void phi__process_free(phi__process *process) {
    if (process == NULL || process->freed) return;
    process->freed = true;
    process->output = NULL;
    process->exited = NULL;
    if (!process->in_callback) phi__process_release(process);
}

#endif
#undef PHI__PROCESS_PIDFD
#undef PHI__PROCESS_HOUR_US

/* ---- src/io/process_spawn.c ---- */

/* process_spawn.c - posix_spawn, and what differs between systems about it. */

#ifndef PHI_NO_PROCESS

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/types.h>
#include <unistd.h>

/* What this system's posix_spawn can do. PHI__SPAWN_PLAIN forces the least of it, for the tests. */
#if defined(__GLIBC__) && !defined(PHI__SPAWN_PLAIN)
#if __GLIBC_PREREQ(2, 29)
#define PHI__SPAWN_CHDIR
#endif
#if __GLIBC_PREREQ(2, 34)
#define PHI__SPAWN_CLOSE
#endif
#elif defined(__APPLE__) && !defined(PHI__SPAWN_PLAIN)
#define PHI__SPAWN_CHDIR
#endif

#if defined(__APPLE__)
#include <crt_externs.h>
static char **phi__spawn_host_environment(void) { return *_NSGetEnviron(); }
#else
static char **phi__spawn_host_environment(void) { return environ; }
#endif

static bool phi__spawn_same_name(const char *a, const char *b) {
    while (*a != '\0' && *a != '=' && *a == *b) {
        a++;
        b++;
    }
    return *a == '=' && *b == '=';
}

/* The host's environment without the names in `env`, and `env`. NULL: no memory. */
static char **phi__spawn_environment(phi_memory *memory, const char *const *env, size_t *bytes) {
    char **host = phi__spawn_host_environment(), **out;
    size_t hosts = 0, added = 0, n = 0, i, k;
    while (host != NULL && host[hosts] != NULL) hosts++;
    while (env != NULL && env[added] != NULL) added++;
    *bytes = (hosts + added + 1) * sizeof(char *);
    out = (char **)phi__alloc(memory, *bytes);
    if (out == NULL) return NULL;
    for (i = 0; i < hosts; i++) {
        for (k = 0; k < added && !phi__spawn_same_name(env[k], host[i]); k++) continue;
        if (k == added) out[n++] = host[i];
    }
    for (k = 0; k < added; k++) out[n++] = (char *)(uintptr_t)env[k]; /* posix_spawn's signature */
    return out;
}

static int phi__spawn_actions(posix_spawn_file_actions_t *actions, const phi__spawn *spawn) {
    int i, error = 0;
    for (i = 0; i < 3 && error == 0; i++)
        error = spawn->fds[i] < 0 ? posix_spawn_file_actions_addopen(
                                        actions, i, "/dev/null", i == 0 ? O_RDONLY : O_WRONLY, 0)
                                  : posix_spawn_file_actions_adddup2(actions, spawn->fds[i], i);
#if defined(PHI__SPAWN_CLOSE)
    if (error == 0) error = posix_spawn_file_actions_addclosefrom_np(actions, 3);
#endif
#if defined(PHI__SPAWN_CHDIR)
    if (error == 0 && spawn->cwd != NULL)
        error = posix_spawn_file_actions_addchdir_np(actions, spawn->cwd);
#endif
    return error;
}

/* A group of its own, no blocked signal, every disposition the default. */
static int phi__spawn_attributes(posix_spawnattr_t *attributes) {
    sigset_t all, none;
    int flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF, error;
#if defined(__APPLE__)
    flags |= POSIX_SPAWN_CLOEXEC_DEFAULT;
#endif
    (void)sigemptyset(&none);
    (void)sigfillset(&all);
    (void)sigdelset(&all, SIGKILL);
    (void)sigdelset(&all, SIGSTOP);
    error = posix_spawnattr_setflags(attributes, (short)flags);
    if (error == 0) error = posix_spawnattr_setpgroup(attributes, 0);
    if (error == 0) error = posix_spawnattr_setsigmask(attributes, &none);
    if (error == 0) error = posix_spawnattr_setsigdefault(attributes, &all);
    return error;
}

static int phi__spawn_call(const phi__spawn *spawn, char **environment, pid_t *pid) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0) return error;
    error = posix_spawnattr_init(&attributes);
    if (error == 0) {
        error = phi__spawn_actions(&actions, spawn);
        if (error == 0) error = phi__spawn_attributes(&attributes);
        if (error == 0)
            error = posix_spawnp(pid, spawn->argv[0], &actions, &attributes,
                                 (char *const *)(uintptr_t)spawn->argv, environment);
        (void)posix_spawnattr_destroy(&attributes);
    }
    (void)posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* Where posix_spawn cannot change the directory, a shell does: it replaces itself by the program,
   so that the process is the same; only "no such program" becomes its exit code 127. */
#if !defined(PHI__SPAWN_CHDIR)
static int phi__spawn_by_shell(phi_memory *memory, const phi__spawn *spawn, char **environment,
                               pid_t *pid) {
    static const char *const head[] = {"sh", "-c", "cd -- \"$0\" && exec \"$@\""};
    phi__spawn shell = *spawn;
    size_t n = 0, bytes, i;
    const char **argv;
    int error;
    while (spawn->argv[n] != NULL) n++;
    bytes = (n + 5) * sizeof *argv;
    argv = (const char **)phi__alloc(memory, bytes);
    if (argv == NULL) return ENOMEM;
    for (i = 0; i < 3; i++) argv[i] = head[i];
    argv[3] = spawn->cwd;
    for (i = 0; i < n; i++) argv[4 + i] = spawn->argv[i];
    shell.argv = argv;
    error = phi__spawn_call(&shell, environment, pid);
    phi__free(memory, (void *)argv, bytes);
    return error;
}
#endif

PHI__FN int phi__spawn_start(phi_memory *memory, const phi__spawn *spawn, int *pid) {
    size_t bytes;
    char **environment = phi__spawn_environment(memory, spawn->env, &bytes);
    pid_t child = 0;
    int error;
    if (environment == NULL) return ENOMEM;
#if defined(PHI__SPAWN_CHDIR)
    error = phi__spawn_call(spawn, environment, &child);
#else
    error = spawn->cwd == NULL ? phi__spawn_call(spawn, environment, &child)
                               : phi__spawn_by_shell(memory, spawn, environment, &child);
#endif
    phi__free(memory, (void *)environment, bytes);
    *pid = (int)child;
    return error;
}

#endif
#undef PHI__SPAWN_CHDIR
#undef PHI__SPAWN_CLOSE

/* ---- src/io/request.c ---- */

/* request.c - reading a body of pieces from any offset. */

PHI__FN void phi__request_seal(phi_request *request) {
    size_t i;
    uint64_t at = 0;
    for (i = 0; i < request->piece_count; i++) {
        request->pieces[i].start = at;
        at += request->pieces[i].len;
    }
    request->length = at;
}

/* The piece that holds `offset`, which is below the length: the last one that starts there or
   before and is not empty. */
static size_t phi__request_piece_at(const phi_request *request, uint64_t offset) {
    size_t low = 0, high = request->piece_count;
    while (high - low > 1) {
        size_t mid = low + (high - low) / 2;
        if (request->pieces[mid].start <= offset)
            low = mid;
        else
            high = mid;
    }
    return low;
}

/* ---- public ---- */

PHI_API phi_str phi_request_method(const phi_request *request) { return request->method; }
PHI_API phi_str phi_request_url(const phi_request *request) { return request->url; }

PHI_API bool phi_request_header(const phi_request *request, size_t i, phi_str *name,
                                phi_str *value) {
    if (i >= request->header_count) return false;
    *name = request->headers[i].name;
    *value = request->headers[i].value;
    return true;
}

PHI_API uint64_t phi_request_length(const phi_request *request) { return request->length; }

PHI_API size_t phi_request_read(const phi_request *request, uint64_t offset, char *out, size_t n) {
    size_t done = 0, i;
    if (offset >= request->length) return 0;
    for (i = phi__request_piece_at(request, offset); i < request->piece_count && done < n; i++) {
        const phi__piece *piece = &request->pieces[i];
        size_t skip = (size_t)(offset + done - piece->start);
        size_t take = phi__min(piece->len - skip, n - done);
        if (take > 0) memcpy(out + done, piece->at + skip, take);
        done += take;
    }
    return done;
}

/* ---- src/io/wake_posix.c ---- */

/* wake_posix.c - the wake-up as an eventfd on Linux, a pipe elsewhere. */

#if defined(PHI__OS_POSIX)

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#if defined(PHI__OS_LINUX)
#include <sys/eventfd.h>

static bool phi__wake_make(int fds[2]) {
    fds[0] = fds[1] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return fds[0] >= 0;
}

#else

static bool phi__wake_set(int fd) {
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0 &&
           fcntl(fd, F_SETFD, FD_CLOEXEC) == 0;
}

static bool phi__wake_make(int fds[2]) {
    if (pipe(fds) != 0) return false;
    if (phi__wake_set(fds[0]) && phi__wake_set(fds[1])) return true;
    (void)close(fds[0]);
    (void)close(fds[1]);
    return false;
}

#endif

PHI__FN phi_status phi__wake_open(phi__wake *wake) {
    int fds[2];
    wake->read_fd = wake->write_fd = -1;
    wake->signalled = 0;
    if (!phi__wake_make(fds)) return PHI_IO;
    wake->read_fd = fds[0];
    wake->write_fd = fds[1];
    return PHI_OK;
}

PHI__FN void phi__wake_close(phi__wake *wake) {
    if (wake->read_fd >= 0) (void)close((int)wake->read_fd);
    if (wake->write_fd >= 0 && wake->write_fd != wake->read_fd) (void)close((int)wake->write_fd);
    wake->read_fd = wake->write_fd = -1;
}

PHI__FN void phi__wake_signal(phi__wake *wake) {
    static const uint64_t one = 1; /* eventfd wants 8 bytes; a pipe does not mind */
    int kept = errno, idle = 0;
    if (PHI__CAS(&wake->signalled, &idle, 1))
        while (write((int)wake->write_fd, &one, sizeof one) < 0 && errno == EINTR) continue;
    errno = kept;
}

/* Emptied first and re-armed after: a wake in between is swallowed, but its poster's writes are
   then seen by whoever looks after the drain. The other order could leave it armed and empty. */
PHI__FN void phi__wake_drain(phi__wake *wake) {
    char bytes[64];
    ssize_t n;
    int signalled = 1;
    do n = read((int)wake->read_fd, bytes, sizeof bytes);
    while (n == (ssize_t)sizeof bytes || (n < 0 && errno == EINTR));
    (void)PHI__CAS(&wake->signalled, &signalled, 0);
}

#endif

#endif /* PHI__IMP_IO */

#ifdef PHI__IMP_MODEL
#if PHI__IMP_MODEL != 0xd7005d74
#error "phi: two versions of src/model in one file"
#endif
#else
#define PHI__IMP_MODEL 0xd7005d74

/* ---- src/model/message_in.h ---- */

/* message_in.h - for our own writers of JSON: messages and their parts, appended to a buffer.

   `scratch` is for checking text that should be JSON; what they take from it is given back. */
#ifndef PHI_MODEL_MESSAGE_IN_H
#define PHI_MODEL_MESSAGE_IN_H


PHI__FN void phi__message_put(phi__buf *out, const phi_message *message, phi_arena *scratch);
/* The members "usage" and "content", with the comma before them where one is needed. */
PHI__FN void phi__message_put_usage(phi__buf *out, const phi_usage *usage);
PHI__FN void phi__message_put_blocks(phi__buf *out, const phi_message *message, phi_arena *scratch);
/* JSON text as it is; what is none as a string. */
PHI__FN void phi__message_put_value(phi__buf *out, phi_str text, phi_arena *scratch);

#endif

/* ---- src/model/event.c ---- */

/* event.c - the names of events, as session files and logs write them. */

/* ---- public ---- */

PHI_API const char *phi_event_name(phi_event_kind kind) {
    switch (kind) {
    case PHI_EV_AGENT_START: return "AgentStart";
    case PHI_EV_AGENT_END: return "AgentEnd";
    case PHI_EV_TURN_START: return "TurnStart";
    case PHI_EV_TURN_END: return "TurnEnd";
    case PHI_EV_MESSAGE_START: return "MessageStart";
    case PHI_EV_TEXT: return "TextDelta";
    case PHI_EV_THINKING: return "ThinkingDelta";
    case PHI_EV_TOOL_ARGUMENTS: return "ToolCallDelta";
    case PHI_EV_MESSAGE_END: return "MessageEnd";
    case PHI_EV_TOOL_START: return "ToolExecutionStart";
    case PHI_EV_TOOL_UPDATE: return "ToolExecutionUpdate";
    case PHI_EV_TOOL_PROGRESS: return "ProgressMessage";
    case PHI_EV_TOOL_END: return "ToolExecutionEnd";
    case PHI_EV_ERROR: return "Error";
    }
    return "";
}

/* ---- src/model/failure.c ---- */

/* failure.c - the words of failure kinds. */

/* ---- public ---- */

PHI_API const char *phi_failure_kind_text(phi_failure_kind kind) {
    switch (kind) {
#define PHI_X(name, value, text)                                                                   \
    case PHI_FAILURE_##name: return text;
        PHI_FAILURE_LIST(PHI_X)
#undef PHI_X
    case PHI_FAILURE_NONE: break;
    }
    return "";
}

/* ---- src/model/message.c ---- */

/* message.c - messages as data: copying, joining text, and the interchange JSON. */


static const char *const phi__message_roles[] = {"", "user", "assistant", "toolResult",
                                                 "extension"};

/* ---- copying ---- */

static bool phi__message_copy_content(const phi_content *from, phi_content *to, phi_arena *arena) {
    *to = *from;
    return phi__arena_str(arena, from->text, &to->text) &&
           phi__arena_str(arena, from->data, &to->data) &&
           phi__arena_str(arena, from->mime_type, &to->mime_type) &&
           phi__arena_str(arena, from->id, &to->id) &&
           phi__arena_str(arena, from->name, &to->name) &&
           phi__arena_str(arena, from->arguments, &to->arguments) &&
           phi__arena_str(arena, from->signature, &to->signature) &&
           phi__arena_str(arena, from->replay, &to->replay);
}

static bool phi__message_copy_strings(const phi_message *from, phi_message *to, phi_arena *arena) {
    return phi__arena_str(arena, from->loop_id, &to->loop_id) &&
           phi__arena_str(arena, from->raw_stop_reason, &to->raw_stop_reason) &&
           phi__arena_str(arena, from->model, &to->model) &&
           phi__arena_str(arena, from->provider, &to->provider) &&
           phi__arena_str(arena, from->protocol, &to->protocol) &&
           phi__arena_str(arena, from->error_message, &to->error_message) &&
           phi__arena_str(arena, from->tool_call_id, &to->tool_call_id) &&
           phi__arena_str(arena, from->tool_name, &to->tool_name) &&
           phi__arena_str(arena, from->details, &to->details) &&
           phi__arena_str(arena, from->extension_kind, &to->extension_kind) &&
           phi__arena_str(arena, from->extension_data, &to->extension_data);
}

/* ---- writing ---- */

/* Whether it is one whole JSON value. Not to know, for want of memory, fails what is written. */
static bool phi__message_is_json(phi__buf *out, phi_str text, phi_arena *scratch,
                                 bool strings_too) {
    phi_arena_mark mark = phi_arena_save(scratch);
    phi_json *root = NULL;
    phi_status status = phi_json_parse(scratch, text, PHI_JSON_BORROW, &root, NULL);
    bool is = status == PHI_OK && (strings_too || !phi_json_is_string(root));
    if (status == PHI_NO_MEMORY) out->failed = true;
    phi_arena_reset(scratch, mark);
    return is;
}

/* A JSON text as a value; what is none as a string, so that nothing is lost. A text that is a JSON
   string is quoted once more: reading takes one layer off again. */
PHI__FN void phi__message_put_value(phi__buf *out, phi_str text, phi_arena *scratch) {
    if (text.len == 0)
        phi__buf_text(out, "{}");
    else if (phi__message_is_json(out, text, scratch, false))
        phi__buf_add_str(out, text);
    else
        phi__json_put_str(out, text);
}

static void phi__message_put_member(phi__buf *out, const char *key, phi_str value) {
    phi__json_put_key(out, phi_str_of(key));
    phi__json_put_str(out, value);
}

static void phi__message_put_optional(phi__buf *out, const char *key, phi_str value) {
    if (value.len > 0) phi__message_put_member(out, key, value);
}

static void phi__message_put_replay(phi__buf *out, phi_str replay, phi_arena *scratch) {
    if (replay.len == 0 || !phi__message_is_json(out, replay, scratch, true)) return;
    phi__json_put_key(out, PHI__LIT("replay"));
    phi__buf_add_str(out, replay);
}

static void phi__message_put_content(phi__buf *out, const phi_content *c, phi_arena *scratch) {
    phi__json_put_comma(out);
    switch (c->kind) {
    case PHI_CONTENT_TEXT:
        phi__buf_text(out, "{\"type\":\"text\"");
        phi__message_put_member(out, "text", c->text);
        break;
    case PHI_CONTENT_IMAGE:
        phi__buf_text(out, "{\"type\":\"image\"");
        phi__message_put_member(out, "data", c->data);
        phi__message_put_member(out, "mimeType", c->mime_type);
        break;
    case PHI_CONTENT_THINKING:
        phi__buf_text(out, "{\"type\":\"thinking\"");
        phi__message_put_member(out, "thinking", c->text);
        phi__message_put_optional(out, "signature", c->signature);
        if (c->redacted) phi__buf_text(out, ",\"redacted\":true");
        phi__message_put_replay(out, c->replay, scratch);
        break;
    case PHI_CONTENT_TOOL_CALL:
        phi__buf_text(out, "{\"type\":\"toolCall\"");
        phi__message_put_member(out, "id", c->id);
        phi__message_put_member(out, "name", c->name);
        phi__json_put_key(out, PHI__LIT("arguments"));
        phi__message_put_value(out, c->arguments, scratch);
        phi__message_put_optional(out, "signature", c->signature);
        if (c->incomplete) phi__buf_text(out, ",\"incomplete\":true");
        phi__message_put_replay(out, c->replay, scratch);
        break;
    }
    phi__buf_char(out, '}');
}

static void phi__message_put_count(phi__buf *out, const char *key, uint64_t n) {
    phi__json_put_key(out, phi_str_of(key));
    phi__json_put_u64(out, n);
}

PHI__FN void phi__message_put_usage(phi__buf *out, const phi_usage *usage) {
    phi__json_put_key(out, PHI__LIT("usage"));
    phi__buf_char(out, '{');
    phi__message_put_count(out, "input", usage->input);
    phi__message_put_count(out, "output", usage->output);
    phi__message_put_count(out, "reasoning", usage->reasoning);
    phi__message_put_count(out, "cache_read", usage->cache_read);
    phi__message_put_count(out, "cache_write", usage->cache_write);
    phi__message_put_count(out, "total_tokens", usage->total_tokens);
    phi__buf_char(out, '}');
}

PHI__FN void phi__message_put_blocks(phi__buf *out, const phi_message *message,
                                     phi_arena *scratch) {
    size_t i;
    phi__json_put_key(out, PHI__LIT("content"));
    phi__buf_char(out, '[');
    for (i = 0; i < message->content_count; i++)
        phi__message_put_content(out, &message->content[i], scratch);
    phi__buf_char(out, ']');
}

static void phi__message_put_assistant(phi__buf *out, const phi_message *message) {
    phi_stop_reason reason = message->stop_reason;
    if (reason == PHI_STOP_REASON_NONE) reason = PHI_STOP_REASON_STOP;
    phi__message_put_member(out, "stopReason", phi_str_of(phi_stop_reason_text(reason)));
    phi__message_put_member(out, "model", message->model);
    phi__message_put_member(out, "provider", message->provider);
    phi__message_put_optional(out, "api", message->protocol);
    phi__message_put_usage(out, &message->usage);
    phi__message_put_optional(out, "error_message", message->error_message);
}

PHI__FN void phi__message_put(phi__buf *out, const phi_message *message, phi_arena *scratch) {
    phi__buf_char(out, '{');
    phi__message_put_member(out, "role", phi_str_of(phi__message_roles[message->role]));
    if (message->role == PHI_ROLE_EXTENSION) {
        phi__message_put_member(out, "kind", message->extension_kind);
        phi__json_put_key(out, PHI__LIT("data"));
        if (message->extension_data.len > 0 &&
            phi__message_is_json(out, message->extension_data, scratch, true))
            phi__buf_add_str(out, message->extension_data);
        else
            phi__buf_text(out, "null");
        phi__buf_char(out, '}');
        return;
    }
    if (message->role == PHI_ROLE_TOOL_RESULT) {
        phi__message_put_member(out, "toolCallId", message->tool_call_id);
        phi__message_put_member(out, "toolName", message->tool_name);
    }
    phi__message_put_blocks(out, message, scratch);
    if (message->role == PHI_ROLE_ASSISTANT) phi__message_put_assistant(out, message);
    if (message->role == PHI_ROLE_TOOL_RESULT) {
        phi__json_put_key(out, PHI__LIT("isError"));
        phi__json_put_bool(out, message->is_error);
    }
    phi__json_put_key(out, PHI__LIT("timestamp"));
    phi__json_put_i64(out, message->timestamp_ms);
    if (message->loop_id.len > 0) {
        phi__json_put_key(out, PHI__LIT("turnId"));
        phi__buf_char(out, '{');
        phi__message_put_member(out, "loopId", message->loop_id);
        phi__message_put_count(out, "turnIndex", message->turn_index);
        phi__buf_char(out, '}');
    }
    phi__buf_char(out, '}');
}

/* ---- reading ---- */

typedef struct phi__message_reader {
    phi_arena *arena;
    phi_parse_error *error;
    bool no_memory;
} phi__message_reader;

static phi_status phi__message_bad(phi__message_reader *r, const char *words) {
    if (r->error != NULL) {
        memset(r->error, 0, sizeof *r->error);
        memcpy(r->error->message, words, phi__min(strlen(words), sizeof r->error->message - 1));
        r->error->line = r->error->column = 1;
    }
    return PHI_PARSE;
}

/* The tree's strings live as long as the arena: nothing to copy. */
static phi_str phi__message_str(const phi_json *object, const char *key) {
    return phi_json_str(phi_json_get(object, key), "");
}

static phi_str phi__message_value(phi__message_reader *r, const phi_json *node, const char *none) {
    phi_str out = phi_str_of(none);
    if (phi_json_is_string(node)) return phi_json_str(node, "");
    if (node != NULL && phi_json_write(r->arena, node, 0, &out) == PHI_NO_MEMORY)
        r->no_memory = true;
    return out;
}

static bool phi__message_get_content(phi__message_reader *r, const phi_json *node,
                                     phi_content *out) {
    phi_str type = phi__message_str(node, "type");
    memset(out, 0, sizeof *out);
    if (phi__str_is(type, "text")) {
        out->kind = PHI_CONTENT_TEXT;
        out->text = phi__message_str(node, "text");
    } else if (phi__str_is(type, "image")) {
        out->kind = PHI_CONTENT_IMAGE;
        out->data = phi__message_str(node, "data");
        out->mime_type = phi__message_str(node, "mimeType");
    } else if (phi__str_is(type, "thinking")) {
        out->kind = PHI_CONTENT_THINKING;
        out->text = phi__message_str(node, "thinking");
        out->redacted = phi_json_bool(phi_json_get(node, "redacted"), false);
    } else if (phi__str_is(type, "toolCall")) {
        out->kind = PHI_CONTENT_TOOL_CALL;
        out->id = phi__message_str(node, "id");
        out->name = phi__message_str(node, "name");
        out->arguments = phi__message_value(r, phi_json_get(node, "arguments"), "{}");
        out->incomplete = phi_json_bool(phi_json_get(node, "incomplete"), false);
    } else
        return false;
    out->signature = phi__message_str(node, "signature");
    if (phi_json_get(node, "replay") != NULL)
        out->replay = phi__message_value(r, phi_json_get(node, "replay"), "");
    return true;
}

static bool phi__message_get_blocks(phi__message_reader *r, const phi_json *array,
                                    phi_message *out) {
    size_t n = phi_json_count(array);
    phi_content *content;
    phi_json_iter it = phi_json_each(array);
    phi_json *node;
    if (n == 0) return true;
    content = (phi_content *)phi_arena_alloc(r->arena, phi__mul(n, sizeof *content));
    if (content == NULL) {
        r->no_memory = true;
        return true;
    }
    out->content = content;
    while ((node = phi_json_next(&it)) != NULL)
        if (!phi__message_get_content(r, node, &content[out->content_count++])) return false;
    return true;
}

static phi_usage phi__message_get_usage(const phi_json *node) {
    phi_usage usage;
    usage.input = phi_json_uint(phi_json_get(node, "input"), 0);
    usage.output = phi_json_uint(phi_json_get(node, "output"), 0);
    usage.reasoning = phi_json_uint(phi_json_get(node, "reasoning"), 0);
    usage.cache_read = phi_json_uint(phi_json_get(node, "cache_read"), 0);
    usage.cache_write = phi_json_uint(phi_json_get(node, "cache_write"), 0);
    usage.total_tokens = phi_json_uint(phi_json_get(node, "total_tokens"), 0);
    return usage;
}

static phi_stop_reason phi__message_get_stop(phi_str text) {
#define PHI_X(name, value, words)                                                                  \
    if (phi__str_is(text, words)) return PHI_STOP_REASON_##name;
    PHI_STOP_REASON_LIST(PHI_X)
#undef PHI_X
    return PHI_STOP_REASON_STOP;
}

static phi_role phi__message_get_role(phi_str text) {
    size_t i;
    for (i = 1; i < PHI_ROLE_EXTENSION; i++)
        if (phi__str_is(text, phi__message_roles[i])) return (phi_role)i;
    return PHI_ROLE_EXTENSION;
}

static phi_status phi__message_get(phi__message_reader *r, const phi_json *root, phi_message *out) {
    const phi_json *turn = phi_json_get(root, "turnId"), *data = phi_json_get(root, "data");
    memset(out, 0, sizeof *out);
    if (!phi_json_is_object(root)) return phi__message_bad(r, "expected an object: a message");
    if (!phi_json_is_string(phi_json_get(root, "role")))
        return phi__message_bad(r, "role: expected a string, such as \"user\"");
    out->role = phi__message_get_role(phi__message_str(root, "role"));
    out->timestamp_ms = phi_json_int(phi_json_get(root, "timestamp"), 0);
    if (phi_json_is_string(phi_json_get(turn, "loopId"))) {
        out->loop_id = phi__message_str(turn, "loopId");
        out->turn_index = (uint32_t)phi_json_uint(phi_json_get(turn, "turnIndex"), 0);
    }
    if (out->role == PHI_ROLE_EXTENSION) {
        if (!phi_json_is_string(phi_json_get(root, "kind")) || data == NULL)
            return phi__message_bad(r, "role: expected user, assistant, toolResult, or a kind and "
                                       "data of an extension");
        out->extension_kind = phi__message_str(root, "kind");
        if (phi_json_write(r->arena, data, 0, &out->extension_data) == PHI_NO_MEMORY)
            return PHI_NO_MEMORY;
        return PHI_OK;
    }
    if (!phi_json_is_array(phi_json_get(root, "content")))
        return phi__message_bad(r, "content: expected an array of blocks");
    if (!phi__message_get_blocks(r, phi_json_get(root, "content"), out))
        return phi__message_bad(r, "content: expected blocks of type text, image, thinking or "
                                   "toolCall");
    if (out->role == PHI_ROLE_ASSISTANT) {
        out->stop_reason = phi__message_get_stop(phi__message_str(root, "stopReason"));
        out->model = phi__message_str(root, "model");
        out->provider = phi__message_str(root, "provider");
        out->protocol = phi__message_str(root, "api");
        out->usage = phi__message_get_usage(phi_json_get(root, "usage"));
        out->error_message = phi__message_str(root, "error_message");
    }
    if (out->role == PHI_ROLE_TOOL_RESULT) {
        out->tool_call_id = phi__message_str(root, "toolCallId");
        out->tool_name = phi__message_str(root, "toolName");
        out->is_error = phi_json_bool(phi_json_get(root, "isError"), false);
    }
    return r->no_memory ? PHI_NO_MEMORY : PHI_OK;
}

/* ---- public ---- */

PHI_API const char *phi_stop_reason_text(phi_stop_reason reason) {
    switch (reason) {
#define PHI_X(name, value, text)                                                                   \
    case PHI_STOP_REASON_##name: return text;
        PHI_STOP_REASON_LIST(PHI_X)
#undef PHI_X
    case PHI_STOP_REASON_NONE: break;
    }
    return "";
}

PHI_API void phi_usage_add(phi_usage *to, const phi_usage *more) {
    to->input += more->input;
    to->output += more->output;
    to->reasoning += more->reasoning;
    to->cache_read += more->cache_read;
    to->cache_write += more->cache_write;
    to->total_tokens += more->total_tokens;
}

PHI_API phi_str phi_message_text(const phi_message *message, const char *separator,
                                 phi_arena *arena, bool *failed) {
    phi_str gap = phi_str_of(separator), none = {NULL, 0};
    size_t i, len = 0, texts = 0;
    const phi_content *only = NULL;
    char *at, *out;
    for (i = 0; i < message->content_count; i++) {
        if (message->content[i].kind != PHI_CONTENT_TEXT) continue;
        only = &message->content[i];
        len = phi__add(len, only->text.len);
        if (texts++ > 0) len = phi__add(len, gap.len);
    }
    if (texts == 0) return none;
    out = at = len == SIZE_MAX ? NULL : phi__arena_bytes(arena, len + 1);
    if (out == NULL) {
        if (failed != NULL) *failed = true;
        return none;
    }
    for (i = 0, texts = 0; i < message->content_count; i++) {
        phi_str text = message->content[i].text;
        if (message->content[i].kind != PHI_CONTENT_TEXT) continue;
        if (texts++ > 0 && gap.len > 0) {
            memcpy(at, gap.at, gap.len);
            at += gap.len;
        }
        if (text.len > 0) memcpy(at, text.at, text.len);
        at += text.len;
    }
    *at = '\0';
    return phi__str(out, len);
}

PHI_API phi_message *phi_message_copy(const phi_message *message, phi_arena *arena) {
    phi_message *out = (phi_message *)phi_arena_alloc(arena, sizeof *out);
    phi_content *content = NULL;
    size_t i;
    if (out == NULL) return NULL;
    *out = *message;
    if (message->content_count > 0) {
        content = (phi_content *)phi_arena_alloc(arena,
                                                 phi__mul(message->content_count, sizeof *content));
        if (content == NULL) return NULL;
    }
    out->content = content;
    for (i = 0; i < message->content_count; i++)
        if (!phi__message_copy_content(&message->content[i], &content[i], arena)) return NULL;
    return phi__message_copy_strings(message, out, arena) ? out : NULL;
}

PHI_API phi_status phi_message_to_json(const phi_message *message, phi_arena *arena, phi_str *out) {
    phi__buf buf;
    phi_arena scratch;
    phi_status status;
    phi__buf_init(&buf, arena->memory);
    phi_arena_init(&scratch, arena->memory, 0);
    phi__message_put(&buf, message, &scratch);
    phi_arena_free(&scratch);
    status = !buf.failed && phi__arena_str(arena, phi__buf_str(&buf), out) ? PHI_OK : PHI_NO_MEMORY;
    phi__buf_free(&buf);
    return status;
}

PHI_API phi_status phi_message_from_json(phi_str json, phi_arena *arena, phi_message *out,
                                         phi_parse_error *error) {
    phi__message_reader r;
    phi_json *root = NULL;
    phi_status status;
    r.arena = arena;
    r.error = error;
    r.no_memory = false;
    status = phi_json_parse(arena, json, PHI_JSON_REPLACE_BAD_UTF8, &root, error);
    if (status == PHI_TOO_BIG) status = PHI_PARSE;
    return status == PHI_OK ? phi__message_get(&r, root, out) : status;
}

/* ---- src/model/model.c ---- */

/* model.c - presets as a table: what is known of each provider and, by the model's name, of the
   model. A row that is wrong for a new model is no obstacle: every field of a phi_model can be set.
   Where servers and quirks come from: the providers' documentation, as of November 2026. */


typedef struct phi__preset {
    const char *protocol, *provider, *base_url;
    uint32_t quirks, context_window, max_tokens;
    bool reasoning; /* of a model that no row below names */
} phi__preset;

/* By the start of the model's name; the first row that fits decides. */
typedef struct phi__preset_model {
    const char *provider, *prefix;
    uint32_t add, remove; /* quirks */
    bool reasoning;
} phi__preset_model;

static const phi__preset_model phi__preset_models[] = {
    {"anthropic", "claude-2", 0, 0, false},
    {"anthropic", "claude-3-7", 0, 0, true},
    {"anthropic", "claude-3", 0, 0, false},
    {"anthropic", "claude-instant", 0, 0, false},
    {"anthropic", "claude-", 0, 0, true},
    {"openai", "gpt-5-chat", 0, 0, false},
    {"openai", "gpt-3", 0, 0, false},
    {"openai", "gpt-4", 0, 0, false},
    {"openai", "chatgpt-", 0, 0, false},
    {"openrouter", "anthropic/", PHI_QUIRK_DEVELOPER_ROLE | PHI_QUIRK_CACHE_CONTROL, 0, true},
    {"openrouter", "openai/gpt-4", PHI_QUIRK_DEVELOPER_ROLE, 0, false},
    {"openrouter", "openai/", PHI_QUIRK_DEVELOPER_ROLE, 0, true},
    {"groq", "openai/gpt-oss", PHI_QUIRK_REASONING_EFFORT, 0, true},
    {"groq", "qwen", PHI_QUIRK_REASONING_FORMAT, 0, true},
    {"groq", "deepseek-r1", PHI_QUIRK_REASONING_FORMAT, 0, true},
    {"cerebras", "gpt-oss", PHI_QUIRK_REASONING_EFFORT, 0, true},
    {"xai", "grok-3-mini", PHI_QUIRK_REASONING_EFFORT, 0, true},
    {"mistral", "magistral", PHI_QUIRK_PROMPT_MODE, 0, true},
    {"deepseek", "deepseek-r1", 0, PHI_QUIRK_REPLAY_REASONING | PHI_QUIRK_REASONING_REQUIRED, true},
};

static bool phi__preset_is(const char *a, const char *b) { return strcmp(a, b) == 0; }

static phi_model phi__preset_make(const phi__preset *preset, const char *id, const char *api_key) {
    phi_model model;
    size_t i;
    memset(&model, 0, sizeof model);
    model.protocol = preset->protocol;
    model.id = id;
    model.provider = preset->provider;
    model.base_url = preset->base_url;
    model.api_key = api_key;
    model.quirks = preset->quirks;
    model.context_window = preset->context_window;
    model.max_tokens = preset->max_tokens;
    model.reasoning = preset->reasoning;
    for (i = 0; id != NULL && i < PHI__COUNT(phi__preset_models); i++) {
        const phi__preset_model *row = &phi__preset_models[i];
        if (!phi__preset_is(row->provider, preset->provider)) continue;
        if (strncmp(id, row->prefix, strlen(row->prefix)) != 0) continue;
        model.quirks = (model.quirks | row->add) & ~row->remove;
        model.reasoning = row->reasoning;
        break;
    }
    return model;
}

/* ---- public ---- */

PHI_API phi_model phi_model_anthropic(const char *id, const char *api_key) {
    static const phi__preset preset = {
        PHI_PROTOCOL_ANTHROPIC, "anthropic", "https://api.anthropic.com", 0, 200000, 8192, false};
    return phi__preset_make(&preset, id, api_key);
}

PHI_API phi_model phi_model_openai(const char *id, const char *api_key) {
    static const phi__preset preset = {PHI_PROTOCOL_OPENAI_CHAT,
                                       "openai",
                                       "https://api.openai.com/v1",
                                       PHI_QUIRK_MAX_COMPLETION_TOKENS | PHI_QUIRK_DEVELOPER_ROLE |
                                           PHI_QUIRK_STORE_FALSE | PHI_QUIRK_REASONING_EFFORT |
                                           PHI_QUIRK_CACHE_KEY,
                                       128000,
                                       4096,
                                       true};
    return phi__preset_make(&preset, id, api_key);
}

PHI_API phi_model phi_model_openrouter(const char *id, const char *api_key) {
    static const phi__preset preset = {PHI_PROTOCOL_OPENAI_CHAT,
                                       "openrouter",
                                       "https://openrouter.ai/api/v1",
                                       PHI_QUIRK_MAX_COMPLETION_TOKENS |
                                           PHI_QUIRK_REASONING_OBJECT | PHI_QUIRK_REPLAY_REASONING,
                                       200000,
                                       4096,
                                       false};
    return phi__preset_make(&preset, id, api_key);
}

PHI_API phi_model phi_model_xai(const char *id, const char *api_key) {
    static const phi__preset preset = {PHI_PROTOCOL_OPENAI_CHAT,
                                       "xai",
                                       "https://api.x.ai/v1",
                                       PHI_QUIRK_MAX_COMPLETION_TOKENS,
                                       128000,
                                       8192,
                                       false};
    return phi__preset_make(&preset, id, api_key);
}

PHI_API phi_model phi_model_groq(const char *id, const char *api_key) {
    static const phi__preset preset = {PHI_PROTOCOL_OPENAI_CHAT,
                                       "groq",
                                       "https://api.groq.com/openai/v1",
                                       PHI_QUIRK_MAX_COMPLETION_TOKENS,
                                       128000,
                                       8192,
                                       false};
    return phi__preset_make(&preset, id, api_key);
}

PHI_API phi_model phi_model_cerebras(const char *id, const char *api_key) {
    static const phi__preset preset = {PHI_PROTOCOL_OPENAI_CHAT,
                                       "cerebras",
                                       "https://api.cerebras.ai/v1",
                                       PHI_QUIRK_MAX_COMPLETION_TOKENS |
                                           PHI_QUIRK_EMPTY_IS_OVERFLOW,
                                       128000,
                                       8192,
                                       false};
    return phi__preset_make(&preset, id, api_key);
}

PHI_API phi_model phi_model_mistral(const char *id, const char *api_key) {
    static const phi__preset preset = {PHI_PROTOCOL_OPENAI_CHAT,
                                       "mistral",
                                       "https://api.mistral.ai/v1",
                                       PHI_QUIRK_NO_STREAM_USAGE | PHI_QUIRK_TOOL_NAME_IN_RESULT |
                                           PHI_QUIRK_EMPTY_CONTENT | PHI_QUIRK_ID_9 |
                                           PHI_QUIRK_THINKING_PARTS | PHI_QUIRK_CACHE_KEY |
                                           PHI_QUIRK_TOOL_CHOICE_ANY,
                                       128000,
                                       8192,
                                       false};
    return phi__preset_make(&preset, id, api_key);
}

PHI_API phi_model phi_model_deepseek(const char *id, const char *api_key) {
    static const phi__preset preset = {PHI_PROTOCOL_OPENAI_CHAT,
                                       "deepseek",
                                       "https://api.deepseek.com",
                                       PHI_QUIRK_THINKING_TYPE | PHI_QUIRK_REPLAY_REASONING |
                                           PHI_QUIRK_REASONING_REQUIRED | PHI_QUIRK_EMPTY_CONTENT,
                                       128000,
                                       8192,
                                       true};
    return phi__preset_make(&preset, id, api_key);
}

PHI_API phi_model phi_model_together(const char *id, const char *api_key) {
    static const phi__preset preset = {PHI_PROTOCOL_OPENAI_CHAT,
                                       "together",
                                       "https://api.together.ai/v1",
                                       PHI_QUIRK_REASONING_ENABLED | PHI_QUIRK_EMPTY_CONTENT,
                                       128000,
                                       8192,
                                       false};
    return phi__preset_make(&preset, id, api_key);
}

PHI_API phi_model phi_model_qwen(const char *id, const char *api_key) {
    static const phi__preset preset = {PHI_PROTOCOL_OPENAI_CHAT,
                                       "qwen",
                                       "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
                                       PHI_QUIRK_ENABLE_THINKING | PHI_QUIRK_EMPTY_CONTENT,
                                       128000,
                                       8192,
                                       false};
    return phi__preset_make(&preset, id, api_key);
}

PHI_API phi_model phi_model_moonshot(const char *id, const char *api_key) {
    static const phi__preset preset = {PHI_PROTOCOL_OPENAI_CHAT,
                                       "moonshot",
                                       "https://api.moonshot.ai/v1",
                                       PHI_QUIRK_THINKING_TYPE | PHI_QUIRK_REPLAY_REASONING |
                                           PHI_QUIRK_EMPTY_CONTENT,
                                       128000,
                                       8192,
                                       false};
    return phi__preset_make(&preset, id, api_key);
}

PHI_API phi_model phi_model_zai(const char *id, const char *api_key) {
    static const phi__preset preset = {PHI_PROTOCOL_OPENAI_CHAT,
                                       "zai",
                                       "https://api.z.ai/api/paas/v4",
                                       PHI_QUIRK_THINKING_TYPE | PHI_QUIRK_KEEP_THINKING |
                                           PHI_QUIRK_REPLAY_REASONING | PHI_QUIRK_TOOL_STREAM |
                                           PHI_QUIRK_EMPTY_CONTENT,
                                       128000,
                                       8192,
                                       false};
    return phi__preset_make(&preset, id, api_key);
}

PHI_API phi_model phi_model_local(const char *base_url, const char *id, const char *api_key) {
    static const phi__preset preset = {PHI_PROTOCOL_OPENAI_CHAT,
                                       "local",
                                       NULL,
                                       PHI_QUIRK_EMPTY_CONTENT | PHI_QUIRK_OPEN_KEY,
                                       128000,
                                       4096,
                                       false};
    phi_model model = phi__preset_make(&preset, id, api_key);
    model.name = "Local Model";
    model.base_url = base_url;
    return model;
}

PHI_API double phi_cost_of(const phi_cost *rates, const phi_usage *usage) {
    return ((double)usage->input * rates->input + (double)usage->output * rates->output +
            (double)usage->cache_read * rates->cache_read +
            (double)usage->cache_write * rates->cache_write) /
           1e6;
}

#endif /* PHI__IMP_MODEL */

#ifdef PHI__IMP_WIRE
#if PHI__IMP_WIRE != 0x7a615da3
#error "phi: two versions of src/wire in one file"
#endif
#else
#define PHI__IMP_WIRE 0x7a615da3

/* ---- src/wire/assembly_in.h ---- */

/* assembly_in.h - a message as it arrives: what every decoder writes into.

   Text and argument bytes land in one growing buffer per block, unescaped on the way; the sink is
   told which bytes are new. What it and the view show is always valid UTF-8: garbage becomes
   U+FFFD, and half a surrogate pair or UTF-8 sequence at the end of a delta waits for the next one.
   Nothing here knows a protocol or does I/O.
   Ownership: buffers come from `memory` and go with phi__assembly_free. What the views point to is
   valid until the next call that appends. */
#ifndef PHI_WIRE_ASSEMBLY_IN_H
#define PHI_WIRE_ASSEMBLY_IN_H


/* Blocks of an answer at most: real ones have a few dozen, and looking for doubles goes by pairs. */
enum { PHI__ASSEMBLY_BLOCKS_MOST = 1024 };

typedef struct phi__draft {
    phi_content_kind kind;
    bool open; /* more may come; a tool call still open at the end is incomplete */
    bool redacted;
    bool incomplete;  /* tool call: broke off; set by phi__assembly_finish */
    bool replay_open; /* replay is still being written: not shown */
    uint8_t held_len; /* bytes in `held` */
    char held[4];     /* the start of a UTF-8 sequence that a delta cut */
    uint32_t high;    /* the first half of a surrogate pair that a delta cut, or 0 */
    int64_t key;      /* the protocol's own index */
    phi__buf bytes;   /* text, thinking, or arguments */
    phi__buf signature, replay;
    phi__buf id, name;
} phi__draft;

typedef struct phi__assembly phi__assembly;

/* What the sink hears, right when it is so. */
typedef enum phi__part {
    PHI__PART_START,    /* the answer began: model and id are known, as far as the wire says */
    PHI__PART_BLOCK,    /* a block began */
    PHI__PART_DELTA,    /* bytes [from, draft->bytes.len) of the block are new */
    PHI__PART_BLOCK_END /* a block is whole */
} phi__part;

struct phi__assembly {
    phi_memory *memory;
    phi_arena scratch; /* for what a decoder needs during one event; reset after it */
    phi__draft *drafts;
    size_t count, cap;
    phi_usage usage;
    phi_stop_reason stop_reason; /* NONE until known */
    phi__buf raw_stop_reason, model, response_id;
    uint64_t id_salt; /* set by the caller: makes invented call ids unique in a session */
    bool started;
    bool terminal;       /* the protocol's own end was seen */
    bool no_memory;      /* sticks */
    phi_failure failure; /* kind NONE: none. Its strings live in failure_words */
    phi__buf failure_words;
    void (*sink)(void *ctx, phi__assembly *assembly, phi__part part, size_t block, size_t from);
    void *ctx;
};

PHI__FN void phi__assembly_init(phi__assembly *a, phi_memory *memory);
PHI__FN void phi__assembly_free(phi__assembly *a); /* twice is harmless */

PHI__FN void phi__assembly_start(phi__assembly *a); /* once; later calls do nothing */

/* A new block of a kind, open, with the protocol's key; its place, or SIZE_MAX: no memory. */
PHI__FN size_t phi__assembly_open(phi__assembly *a, phi_content_kind kind, int64_t key);
PHI__FN size_t phi__assembly_find(const phi__assembly *a, int64_t key); /* latest, or SIZE_MAX */
/* The last block if it is of this kind and open, else a new one (protocols without block starts);
   a text or thinking block before it is then whole. */
PHI__FN size_t phi__assembly_current(phi__assembly *a, phi_content_kind kind);

/* Appends to a block's bytes and tells the sink: plain bytes, or the inside of a JSON string that
   is unescaped on the way. A block of SIZE_MAX takes nothing. */
PHI__FN void phi__assembly_add(phi__assembly *a, size_t block, phi_str bytes);
PHI__FN void phi__assembly_add_json(phi__assembly *a, size_t block, phi_str raw, bool has_escapes);
PHI__FN void phi__assembly_close(phi__assembly *a, size_t block);

/* Puts a text into one of the buffers, in place of what was there. */
PHI__FN void phi__assembly_set(phi__assembly *a, phi__buf *buf, phi_str text);

/* Sets the failure and the stop reason: GUARD_RAIL for CONTENT_FILTER, else ERROR. The first
   failure stays. Words are copied. */
PHI__FN void phi__assembly_fail(phi__assembly *a, phi_failure_kind kind, bool retryable,
                                phi_str code, phi_str message);
/* The same, of all that a failure holds. */
PHI__FN void phi__assembly_fail_with(phi__assembly *a, const phi_failure *failure);

/* After the end: arguments "" become {}; stop reason toolUse where finished calls exist and the raw
   reason was a normal stop, or the end came without a reason; calls still open, and calls that a
   length limit cut, become incomplete; calls without an id, or with one that an earlier call of the
   message has, get a new one; total_tokens is computed. Want of memory becomes a failure, where
   there is no other. */
PHI__FN void phi__assembly_finish(phi__assembly *a);

/* The message so far, as views into the buffers; `content` must have room for a->count blocks.
   model is what the wire said: the caller puts the name it asked for, the provider and the protocol
   in its place, which is what later decides whether signatures may go back. */
PHI__FN void phi__assembly_view(const phi__assembly *a, phi_content *content, phi_message *out);

#endif

/* ---- src/wire/fill_in.h ---- */

/* fill_in.h - long texts and images go into a rendering in slices.

   A codec renders a message into the scratch buffer; where a text is long, it leaves a hole there. The
   encoder then measures the holes' contents, takes the memory once, and writes, a few KiB at a time;
   afterwards it asks the codec for the message again, which now finds its rendering. */
#ifndef PHI_WIRE_FILL_IN_H
#define PHI_WIRE_FILL_IN_H


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
    bool refuses; /* no holes now: what is rendered must be there at once */
    bool going;   /* a rendering with holes waits to be filled */
    bool measured;
    size_t item;
    uint32_t block, form;
    size_t hole, done; /* the slice that comes next */
    size_t total;      /* bytes of the whole rendering */
    phi_arena *arena;  /* where it will be */
    phi_arena_mark mark;
    char *out;
    size_t len;
    phi__buf slice;
} phi__fill;

struct phi__encoder;

PHI__FN void phi__fill_begin(struct phi__encoder *e, size_t item, uint32_t block, uint32_t form);
/* True: the rendering is kept (or memory ended: e->failed). False: the units are used up. */
PHI__FN bool phi__fill_advance(struct phi__encoder *e, size_t *units);
PHI__FN void phi__fill_drop(struct phi__encoder *e); /* at any time */

#endif

/* ---- src/wire/codec_in.h ---- */

/* codec_in.h - a provider as a pure codec: messages to request pieces, stream events to a message.

   No I/O, no clock, no state outside what is passed in: the same input gives the same bytes. A
   block of a message is rendered once per wire form and kept with the message (phi__item.rendered),
   so that a turn costs the new blocks and a list of pieces, not the history.

   Encoding is resumable: begin, advance(units) until it is not PHI_BUSY, and the request is there.
   A unit is one message, or a KiB of it that was not rendered before. */
#ifndef PHI_WIRE_CODEC_IN_H
#define PHI_WIRE_CODEC_IN_H


/* The rendered form of one block (or of a whole message where a wire wants that), kept with it. */
typedef struct phi__rendered {
    struct phi__rendered *next;
    uint32_t form;  /* which codec and variant rendered it */
    uint32_t block; /* index in the message; UINT32_MAX: the message as a whole */
    phi_str json;
} phi__rendered;

/* A message and where its rendered blocks are kept; lives as long as the message. */
typedef struct phi__item {
    const phi_message *message;
    phi__rendered **rendered; /* list head; NULL: not kept, rendered into the request's arena */
    phi_arena *arena;         /* where kept pieces go */
    uint64_t origin;          /* phi__origin_of an assistant message; 0: not known */
} phi__item;

/* Who minted a message, as one number: model, provider and protocol. 0 where one of them is not said. */
PHI__FN uint64_t phi__origin_of(phi_str model, phi_str provider, phi_str protocol);

typedef struct phi__tool_view {
    phi_str name, description, schema; /* schema: JSON text of an object */
} phi__tool_view;

/* All a request depends on. Borrowed until the request is done with. */
typedef struct phi__ask {
    const phi_model *model; /* resolved: no NULL strings but api_key */
    phi_str system_prompt;
    const phi__item *items;
    size_t item_count;
    const phi__tool_view *tools;
    size_t tool_count;
    phi_tool_choice tool_choice;
    phi_thinking thinking;
    uint32_t max_tokens; /* 0: the model's */
    double temperature;  /* negative: not sent */
    bool disable_cache;
    phi_str session_id; /* for prompt_cache_key; may be empty */
} phi__ask;

typedef struct phi__codec phi__codec;

/* What to send, built step by step. All of it lives in `arena`, but the scratch buffer. */
typedef struct phi__encoder {
    const phi__codec *codec;
    const phi__ask *ask;
    phi_arena *arena; /* the turn's: glue, the piece list, headers, url */
    uint64_t origin;  /* of what this model will say */
    phi__buf scratch; /* freed at the end */
    phi__piece *pieces;
    size_t count, cap;
    phi__header *headers;
    size_t header_count, header_cap;
    size_t at;    /* next item; progress of advance */
    size_t fresh; /* bytes of an item that were not rendered before */
    int stage;
    bool failed; /* no memory */
    /* The repair of what a transcript may lack: calls of the last assistant message and which of
       them have their result. */
    size_t calls_item;   /* SIZE_MAX: none waits */
    size_t results_from; /* the first item behind it */
    uint8_t *answered;   /* by block of that message; one array for all of them */
    size_t answered_cap;
    size_t next_call; /* where the search for a result's call begins */
    bool had_calls;
    /* for the codecs' own bookkeeping across items */
    phi__fill fill;
    phi__rendered last; /* of an item that keeps none; form 0: none */
    size_t last_item;
    phi_role open_role; /* role of the message under construction; 0: none */
    phi_role last_role; /* of the message before; 0: none yet */
    size_t mark_piece;  /* the piece whose end closes the last user block; SIZE_MAX: none */
    phi_request request;
} phi__encoder;

struct phi__codec {
    const char *protocol;
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
};

/* The codec of a protocol name (aliases of behaviours A too), or NULL. */
PHI__FN const phi__codec *phi__codec_find(phi_str protocol);

/* `ask`, and all it points to, is borrowed until the request is done with; kept renderings go to
   the items' arenas, everything else to `arena`, which must stay as long. */
PHI__FN void phi__encoder_begin(phi__encoder *e, const phi__codec *codec, const phi__ask *ask,
                                phi_arena *arena);
/* PHI_BUSY: come again; PHI_OK: e->request is sealed; PHI_NO_MEMORY. */
PHI__FN phi_status phi__encoder_advance(phi__encoder *e, size_t units);
PHI__FN void phi__encoder_free(phi__encoder *e); /* scratch; the request lives in the arena */

/* For codecs. */
PHI__FN void phi__encode_piece(phi__encoder *e, phi_str json);       /* borrowed */
PHI__FN void phi__encode_glue(phi__encoder *e, const char *literal); /* static text, borrowed */
PHI__FN void phi__encode_scratch(phi__encoder *e); /* e->scratch as a piece; clears it */
/* The kept rendering for a form. False: the codec renders into e->scratch, which was cleared, and
   calls phi__encode_keep, which keeps and returns it. Neither appends a piece.
   False from phi__encode_keep: memory ended, or a long text has still to be filled in; the codec adds
   nothing and returns, and is asked for the same item again. */
PHI__FN bool phi__encode_kept(phi__encoder *e, size_t item, uint32_t block, uint32_t form,
                              phi_str *json);
PHI__FN bool phi__encode_keep(phi__encoder *e, size_t item, uint32_t block, uint32_t form,
                              phi_str *json);
/* Leaves a hole in the scratch buffer for a long text; false: render it now. */
PHI__FN bool phi__encode_hole(phi__encoder *e, phi_str source, bool base64);
PHI__FN void phi__encode_store(phi__encoder *e, size_t item, uint32_t block, uint32_t form,
                               phi_str json);
/* Puts `text` `back` bytes before the end of the marked piece; once, after all pieces. */
PHI__FN void phi__encode_mark(phi__encoder *e, size_t back, const char *literal);
/* Copied, without control characters. A later header of the same name replaces an earlier one. */
PHI__FN void phi__encode_header(phi__encoder *e, const char *name, phi_str value);
PHI__FN void phi__encode_model_headers(phi__encoder *e);
/* The url: the model's base, `version` ("/v1") where the base does not end in it (only_bare: only
   where the base has no path at all), and `path`, which the base may have too. */
PHI__FN void phi__encode_url(phi__encoder *e, const char *version, bool only_bare,
                             const char *path);

/* An HTTP answer that is an error: class, retryable, delay, words. Strings point into `arena`.
   `now` is not needed: an HTTP date is compared with the answer's own Date header.
   headers: lines "Name: value\r\n". */
PHI__FN void phi__classify(const phi_model *model, int http_status, phi_str headers, phi_str body,
                           phi_arena *arena, phi_failure *out);
/* The value of a header in such lines, case-insensitively; empty when absent. */
PHI__FN phi_str phi__header_value(phi_str headers, const char *name);
PHI__FN bool phi__is_overflow_text(phi_str text);

/* What a target would refuse, before a byte is sent: PHI_OK, or PHI_BAD_ARG with words that name
   the place ("messages[3]: tool call \"x\" has no result"). For tests and for whoever makes
   transcripts: it costs time by the square of the calls, and the encoder repairs lost results by
   itself. */
PHI__FN phi_status phi__preflight(const phi__codec *codec, const phi__ask *ask, char *words,
                                  size_t words_size);

#endif

/* ---- src/wire/repeat_in.h ---- */

/* repeat_in.h - the events of a stream that differ in nothing but one string.

   Nearly every event of an answer is the one before it with other text in the same place. A decoder
   that has found an event to be nothing but a piece of one block keeps what stands around the text; an
   event whose bytes around a string are those very bytes means the same, and needs no parser.
   Zeroed memory is empty. What is too long to keep is parsed each time. */
#ifndef PHI_WIRE_REPEAT_IN_H
#define PHI_WIRE_REPEAT_IN_H


enum { PHI__REPEAT_MOST = 384 }; /* bytes around the text: chunks of OpenAI's have about 250 */

typedef struct phi__repeat {
    uint16_t head;       /* bytes before the string's text; 0: empty */
    uint16_t tail;       /* and behind it, with its quote */
    size_t block, count; /* where the text goes, and how many blocks there were */
    char around[PHI__REPEAT_MOST];
} phi__repeat;

/* Keeps an event that is nothing but `text`, which lies in `data`, for a block. */
PHI__FN void phi__repeat_learn(phi__repeat *r, const phi__assembly *a, phi_str data,
                               phi__json_text text, size_t block);
static inline void phi__repeat_forget(phi__repeat *r) { r->head = 0; }

/* Adds the event's text to its block, if the event is the kept one with another text; else false. */
PHI__FN bool phi__repeat_add(const phi__repeat *r, phi__assembly *a, phi_str data);

#endif

/* ---- src/wire/anthropic_in.h ---- */

/* anthropic_in.h - the Anthropic Messages codec and its two halves. */
#ifndef PHI_WIRE_ANTHROPIC_IN_H
#define PHI_WIRE_ANTHROPIC_IN_H


PHI__FN const phi__codec *phi__anthropic_codec(void);

/* The stream half; the state is zeroed memory. */
typedef struct phi__anthropic_state {
    bool got_stop; /* a message_delta brought a stop reason */
    bool broken;   /* the last event was no JSON: an error, unless the stream ends with it */
    bool heard;    /* an event came */
    phi__repeat repeat;
} phi__anthropic_state;

PHI__FN void phi__anthropic_event(void *state, phi__assembly *a, phi_str name, phi_str data);
PHI__FN void phi__anthropic_end(void *state, phi__assembly *a);
PHI__FN void phi__anthropic_whole(void *state, phi__assembly *a, phi_str body);

#endif

/* ---- src/wire/classify_in.h ---- */

/* classify_in.h - errors that arrive inside of an answer, classified like those of HTTP. */
#ifndef PHI_WIRE_CLASSIFY_IN_H
#define PHI_WIRE_CLASSIFY_IN_H


/* Fails the assembly by the JSON of an error event, or of a body that came with 200. What its words
   do not say is a failure of the server. */
PHI__FN void phi__classify_event(phi__assembly *a, phi_str json);

/* The same of a body that came with 200 and is no answer: a proxy's page, an error, or garbage. */
PHI__FN void phi__classify_body(phi__assembly *a, phi_str body);

/* A stop word that means an error. */
PHI__FN void phi__classify_stop(phi__assembly *a, phi_failure_kind kind, bool retryable,
                                phi_str word);

/* The end of a stream that did not end as its protocol says. */
PHI__FN void phi__classify_truncated(phi__assembly *a, bool heard);

#endif

/* ---- src/wire/claude_in.h ---- */

/* claude_in.h - what differs between Claude models, as data: the Anthropic codec asks here. */
#ifndef PHI_WIRE_CLAUDE_IN_H
#define PHI_WIRE_CLAUDE_IN_H


/* How thinking is kept away where it is not wanted. */
typedef enum phi__claude_off {
    PHI__CLAUDE_OFF_OMIT = 0, /* it does not think unless asked */
    PHI__CLAUDE_OFF_DISABLED, /* thinking:{type:disabled} */
    PHI__CLAUDE_OFF_BETWEEN,  /* thinking:{type:between_tools} is the least */
    PHI__CLAUDE_OFF_CANNOT    /* always thinks: the lowest effort is all there is */
} phi__claude_off;

typedef struct phi__claude {
    uint32_t version;    /* major * 100 + minor; 0: no Claude, or no known name */
    bool adaptive;       /* thinking:{type:adaptive} and effort, not a budget */
    bool no_temperature; /* refuses any but 1 */
    bool no_forced_tool; /* refuses a tool_choice that forces a call */
    phi__claude_off off;
    uint32_t most_output; /* tokens that max_tokens may be raised to; 0: unknown */
} phi__claude;

/* By name, as Anthropic and those who resell it write them: "claude-opus-4-6",
   "claude-3-7-sonnet-20250219", "anthropic/claude-sonnet-4.5". */
PHI__FN phi__claude phi__claude_of(phi_str id);

#endif

/* ---- src/wire/hash_in.h ---- */

/* hash_in.h - a small fixed hash: ids that are invented or mapped are the same on every machine and
   in every run. Not for secrets. */
#ifndef PHI_WIRE_HASH_IN_H
#define PHI_WIRE_HASH_IN_H


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

/* Sixteen hex digits and a terminator. */
static inline void phi__hash_hex(uint64_t n, char out[17]) {
    int i;
    for (i = 15; i >= 0; i--, n >>= 4) out[i] = "0123456789abcdef"[n & 15];
    out[16] = '\0';
}

#endif

/* ---- src/wire/openai_chat_in.h ---- */

/* openai_chat_in.h - the OpenAI Chat Completions codec and its two halves. */
#ifndef PHI_WIRE_OPENAI_CHAT_IN_H
#define PHI_WIRE_OPENAI_CHAT_IN_H


PHI__FN const phi__codec *phi__openai_chat_codec(void);

/* How far an item of reasoning_details is written: fragments of one item are joined. */
typedef enum phi__chat_detail {
    PHI__CHAT_DETAIL_NONE = 0, /* none, or the last is whole */
    PHI__CHAT_DETAIL_TEXT,     /* inside of its text */
    PHI__CHAT_DETAIL_OPEN      /* behind it: only the brace is missing */
} phi__chat_detail;

/* The stream half; the state is zeroed memory. */
typedef struct phi__chat_state {
    bool finished;     /* a finish_reason came */
    bool finish_empty; /* it was "": good with [DONE] */
    bool done;         /* [DONE] came */
    bool broken;       /* the last event was no JSON: an error, unless the stream ends with it */
    bool heard;        /* an event came */
    phi__chat_detail detail;
    size_t detail_block;
    uint64_t detail_key; /* hash of the open item's type and index */
    phi__repeat repeat;
} phi__chat_state;

PHI__FN void phi__chat_event(void *state, phi__assembly *a, phi_str name, phi_str data);
PHI__FN void phi__chat_end(void *state, phi__assembly *a);
PHI__FN void phi__chat_whole(void *state, phi__assembly *a, phi_str body);

#endif

/* ---- src/wire/render_in.h ---- */

/* render_in.h - what both request formats share: text, ids and names that a target takes. */
#ifndef PHI_WIRE_RENDER_IN_H
#define PHI_WIRE_RENDER_IN_H


/* Which tool call ids a target takes; others are replaced by a hash of theirs. */
typedef enum phi__id_rule {
    PHI__ID_ANTHROPIC = 1, /* [a-zA-Z0-9_-]{1,64} */
    PHI__ID_40,            /* at most 40 bytes */
    PHI__ID_9              /* exactly 9 of [a-zA-Z0-9] */
} phi__id_rule;

PHI__FN void phi__render_id(phi__buf *out, phi_str id, phi__id_rule rule); /* with its quotes */

/* A tool's name out of history, which another provider may have allowed: [a-zA-Z0-9_-], cut. */
PHI__FN void phi__render_name(phi__buf *out, phi_str name, size_t most);

PHI__FN bool phi__render_blank(phi_str text); /* nothing but white space */
PHI__FN phi_str phi__render_trim_end(phi_str text);

/* "key":"text" with a comma before it where one is needed. */
PHI__FN void phi__render_member(phi__buf *out, const char *key, phi_str text);

/* The same into the scratch buffer, and the inside of a string alone: for texts of a message, which may
   be long and are then filled in later. */
PHI__FN void phi__render_text_member(phi__encoder *e, const char *key, phi_str text);
PHI__FN void phi__render_text(phi__encoder *e, phi_str text);

/* Arguments as the JSON text of an object: what is none becomes {}. Uses and resets e->arena. */
PHI__FN phi_str phi__render_arguments(phi__encoder *e, phi_str arguments);

/* Whether this target minted the message, so that its signatures may go back. */
PHI__FN bool phi__render_same_origin(const phi__encoder *e, size_t item);

PHI__FN bool phi__render_is_image(const phi_content *c);
/* An image that this target does not take: none at all, or not of its type. Words stand for it. */
PHI__FN bool phi__render_omits(const phi__encoder *e, const phi_content *c);
PHI__FN bool phi__render_omits_any(const phi__encoder *e, const phi_message *message);
PHI__FN bool phi__render_sends_image(const phi__encoder *e, const phi_message *message);
/* Base64 as it is; a byte that is none would break the JSON and is left out. */
PHI__FN void phi__render_base64(phi__encoder *e, phi_str data);
PHI__FN void phi__render_base64_now(phi__buf *out, phi_str data);

/* Text that stands for images where a model takes none. */
#define PHI__RENDER_NO_IMAGE "(image omitted: this model does not take it)"

/* Tokens to think with at a level; 0: off. */
PHI__FN uint32_t phi__render_budget(phi_thinking level);

#endif

/* ---- src/wire/anthropic.c ---- */

/* anthropic.c - requests of the Anthropic Messages API.

   A message's content is rendered whole, blocks joined by commas, and kept; roles are opened and
   closed by glue around it, so that tool results and the user's words after them share one message.
   The cache mark moves from turn to turn: it is put inside of the last brace of the last user
   block, which is why no rendering holds one. wire.md parts 2 and 9. */


/* What a rendering depends on beside its block: bits of phi__rendered.form. */
enum {
    PHI__ANTHROPIC_FORM = 1 << 28,
    PHI__ANTHROPIC_ORIGIN = 1, /* minted by the same model: thinking goes back */
    PHI__ANTHROPIC_NO_IMAGES = 2,
    PHI__ANTHROPIC_IMAGES = 4 /* the images of an error result */
};

#define PHI__ANTHROPIC_MARK_OPEN ",\"cache_control\":{\"type\":\"ephemeral\"}"
#define PHI__ANTHROPIC_MARK PHI__ANTHROPIC_MARK_OPEN "}"
#define PHI__ANTHROPIC_LEAST_ANSWER 1024u /* tokens left beside a thinking budget; wire.md part 2 */

static bool phi__anthropic_no_images(const phi__encoder *e) {
    return (e->ask->model->quirks & PHI_QUIRK_NO_IMAGES) != 0;
}

/* ---- blocks ---- */

static void phi__anthropic_text(phi__encoder *e, phi_str text) {
    phi__buf *out = &e->scratch;
    phi__json_put_comma(out);
    phi__buf_text(out, "{\"type\":\"text\"");
    phi__render_text_member(e, "text", text);
    phi__buf_char(out, '}');
}

static void phi__anthropic_image(phi__encoder *e, const phi_content *c) {
    phi__buf *out = &e->scratch;
    phi__json_put_comma(out);
    phi__buf_text(out, "{\"type\":\"image\",\"source\":{\"type\":\"base64\"");
    phi__render_member(out, "media_type", c->mime_type);
    phi__buf_text(out, ",\"data\":\"");
    phi__render_base64(e, c->data);
    phi__buf_text(out, "\"}}");
}

/* Text and images of a message; what is blank is left out, and so are images where `images` is
   false. Where the model takes none, one line of text stands for those in a row. */
static void phi__anthropic_parts(phi__encoder *e, const phi_message *m, bool images) {
    bool omitted = false;
    size_t i;
    for (i = 0; i < m->content_count; i++) {
        const phi_content *c = &m->content[i];
        bool is_image = phi__render_is_image(c);
        if (phi__render_omits(e, c)) {
            if (!omitted) phi__anthropic_text(e, PHI__LIT(PHI__RENDER_NO_IMAGE));
        } else if (is_image && images)
            phi__anthropic_image(e, c);
        else if (c->kind == PHI_CONTENT_TEXT && !phi__render_blank(c->text))
            phi__anthropic_text(e, c->text);
        omitted = is_image;
    }
}

static void phi__anthropic_thinking(phi__encoder *e, const phi_content *c) {
    phi__buf *out = &e->scratch;
    if (c->signature.len == 0) return; /* of a turn that was cut: the API would refuse it */
    phi__json_put_comma(out);
    if (c->redacted) {
        phi__buf_text(out, "{\"type\":\"redacted_thinking\"");
        phi__render_member(out, "data", c->signature);
    } else {
        phi__buf_text(out, "{\"type\":\"thinking\"");
        phi__render_text_member(e, "thinking", c->text);
        phi__render_member(out, "signature", c->signature);
    }
    phi__buf_char(out, '}');
}

static void phi__anthropic_call(phi__encoder *e, phi__buf *out, const phi_content *c) {
    phi__json_put_comma(out);
    phi__buf_text(out, "{\"type\":\"tool_use\",\"id\":");
    phi__render_id(out, c->id, PHI__ID_ANTHROPIC);
    phi__buf_text(out, ",\"name\":");
    phi__render_name(out, c->name, 128);
    phi__buf_text(out, ",\"input\":");
    phi__buf_add_str(out, phi__render_arguments(e, c->arguments));
    phi__buf_char(out, '}');
}

/* The last block that is sent; thinking may not end a message. SIZE_MAX: none. */
static size_t phi__anthropic_last(const phi_message *m) {
    size_t i;
    for (i = m->content_count; i > 0; i--) {
        const phi_content *c = &m->content[i - 1];
        if (c->kind == PHI_CONTENT_TEXT && !phi__render_blank(c->text)) return i - 1;
        if (c->kind == PHI_CONTENT_TOOL_CALL && !c->incomplete) return i - 1;
    }
    return SIZE_MAX;
}

static void phi__anthropic_assistant(phi__encoder *e, const phi_message *m, bool same) {
    size_t last = phi__anthropic_last(m), i;
    for (i = 0; last != SIZE_MAX && i <= last; i++) {
        const phi_content *c = &m->content[i];
        if (c->kind == PHI_CONTENT_TEXT && !phi__render_blank(c->text))
            phi__anthropic_text(e, i == last ? phi__render_trim_end(c->text) : c->text);
        else if (c->kind == PHI_CONTENT_THINKING && same)
            phi__anthropic_thinking(e, c);
        else if (c->kind == PHI_CONTENT_TOOL_CALL && !c->incomplete)
            phi__anthropic_call(e, &e->scratch, c);
    }
}

/* One text as a string, anything else as blocks. A result that is an error holds text only, and at
   least some. */
static void phi__anthropic_result(phi__encoder *e, const phi_message *m) {
    phi__buf *out = &e->scratch;
    bool images = !m->is_error && phi__render_sends_image(e, m);
    size_t i, texts = 0;
    const phi_content *text = NULL;
    phi__buf_text(out, "{\"type\":\"tool_result\",\"tool_use_id\":");
    phi__render_id(out, m->tool_call_id, PHI__ID_ANTHROPIC);
    if (m->is_error) phi__buf_text(out, ",\"is_error\":true");
    for (i = 0; i < m->content_count; i++)
        if (m->content[i].kind == PHI_CONTENT_TEXT && !phi__render_blank(m->content[i].text)) {
            text = &m->content[i];
            texts++;
        }
    if (images || texts > 1 || phi__render_omits_any(e, m)) {
        phi__buf_text(out, ",\"content\":[");
        phi__anthropic_parts(e, m, images);
        phi__buf_char(out, ']');
    } else if (texts == 1)
        phi__render_text_member(e, "content", text->text);
    else if (m->is_error)
        phi__buf_text(out, ",\"content\":\"(no output)\"");
    phi__buf_char(out, '}');
}

/* ---- roles ---- */

static void phi__anthropic_close_role(phi__encoder *e) {
    if (e->open_role == (phi_role)0) return;
    phi__encode_glue(e, "]}");
    e->last_role = e->open_role;
    e->open_role = (phi_role)0;
}

/* Ends the message before, where one is open, and begins one of a role. */
static void phi__anthropic_open_role(phi__encoder *e, phi_role role) {
    static const char *const user[] = {"{\"role\":\"user\",\"content\":[",
                                       ",{\"role\":\"user\",\"content\":[",
                                       "]},{\"role\":\"user\",\"content\":["};
    static const char *const assistant[] = {"{\"role\":\"assistant\",\"content\":[",
                                            ",{\"role\":\"assistant\",\"content\":[",
                                            "]},{\"role\":\"assistant\",\"content\":["};
    size_t before = e->open_role != (phi_role)0 ? 2 : e->last_role != (phi_role)0 ? 1 : 0;
    phi__encode_glue(e, role == PHI_ROLE_USER ? user[before] : assistant[before]);
    if (before == 2) e->last_role = e->open_role;
    e->open_role = role;
}

static void phi__anthropic_append(phi__encoder *e, phi_role role, phi_str blocks) {
    if (blocks.len == 0) return;
    if (e->open_role == role)
        phi__encode_glue(e, ",");
    else
        phi__anthropic_open_role(e, role);
    phi__encode_piece(e, blocks);
    if (role == PHI_ROLE_USER && e->count > 0) e->mark_piece = e->count - 1;
}

static void phi__anthropic_item(phi__encoder *e, size_t at) {
    const phi_message *m = e->ask->items[at].message;
    bool same = m->role == PHI_ROLE_ASSISTANT && phi__render_same_origin(e, at);
    uint32_t form = PHI__ANTHROPIC_FORM;
    phi_str blocks;
    if (same) form |= PHI__ANTHROPIC_ORIGIN;
    if (m->role != PHI_ROLE_ASSISTANT && phi__anthropic_no_images(e))
        form |= PHI__ANTHROPIC_NO_IMAGES;
    if (!phi__encode_kept(e, at, UINT32_MAX, form, &blocks)) {
        if (m->role == PHI_ROLE_USER)
            phi__anthropic_parts(e, m, true);
        else if (m->role == PHI_ROLE_TOOL_RESULT)
            phi__anthropic_result(e, m);
        else
            phi__anthropic_assistant(e, m, same);
        if (!phi__encode_keep(e, at, UINT32_MAX, form, &blocks)) return;
    }
    phi__anthropic_append(e, m->role == PHI_ROLE_ASSISTANT ? PHI_ROLE_ASSISTANT : PHI_ROLE_USER,
                          blocks);
}

static void phi__anthropic_missing(phi__encoder *e, size_t item, size_t block) {
    const phi_content *call = &e->ask->items[item].message->content[block];
    phi_str json;
    phi__buf_clear(&e->scratch);
    phi__buf_text(&e->scratch, "{\"type\":\"tool_result\",\"tool_use_id\":");
    phi__render_id(&e->scratch, call->id, PHI__ID_ANTHROPIC);
    phi__buf_text(&e->scratch, ",\"is_error\":true,\"content\":\"No result provided\"}");
    if (e->scratch.failed || !phi__arena_str(e->arena, phi__buf_str(&e->scratch), &json))
        e->failed = true;
    else
        phi__anthropic_append(e, PHI_ROLE_USER, json);
    phi__buf_clear(&e->scratch);
}

/* Images of results that are errors: the API takes them only behind all results. */
static void phi__anthropic_after_results(phi__encoder *e, size_t from, size_t to) {
    size_t i;
    if (phi__anthropic_no_images(e)) return;
    for (i = from; i < to; i++) {
        const phi_message *m = e->ask->items[i].message;
        uint32_t form = PHI__ANTHROPIC_FORM | PHI__ANTHROPIC_IMAGES;
        phi_str blocks;
        size_t j;
        if (m->role != PHI_ROLE_TOOL_RESULT || !m->is_error || !phi__render_sends_image(e, m))
            continue;
        if (!phi__encode_kept(e, i, UINT32_MAX, form, &blocks)) {
            for (j = 0; j < m->content_count; j++)
                if (phi__render_is_image(&m->content[j]) && !phi__render_omits(e, &m->content[j]))
                    phi__anthropic_image(e, &m->content[j]);
            if (!phi__encode_keep(e, i, UINT32_MAX, form, &blocks)) return;
        }
        phi__anthropic_append(e, PHI_ROLE_USER, blocks);
    }
}

/* ---- around the messages ---- */

static const char *phi__anthropic_effort(phi_thinking level) {
    if (level == PHI_THINKING_HIGH) return "high";
    return level == PHI_THINKING_MEDIUM ? "medium" : "low";
}

/* What is asked of the model, resolved once. */
typedef struct phi__anthropic_plan {
    phi__claude claude;
    bool adaptive, thinks;
    uint32_t max_tokens, budget;
} phi__anthropic_plan;

static phi__anthropic_plan phi__anthropic_plan_of(const phi__ask *ask) {
    phi__anthropic_plan p;
    uint32_t most;
    memset(&p, 0, sizeof p);
    p.claude = phi__claude_of(phi_str_of(ask->model->id));
    p.adaptive = p.claude.adaptive || (ask->model->quirks & PHI_QUIRK_ADAPTIVE_THINKING) != 0;
    p.max_tokens = ask->max_tokens != 0 ? ask->max_tokens : ask->model->max_tokens;
    if (p.max_tokens == 0) p.max_tokens = 8192;
    if (ask->model->reasoning) {
        p.thinks = ask->thinking != PHI_THINKING_OFF || p.claude.off == PHI__CLAUDE_OFF_BETWEEN ||
                   p.claude.off == PHI__CLAUDE_OFF_CANNOT;
        if (!p.adaptive) p.budget = phi__render_budget(ask->thinking);
    }
    if (p.budget == 0) return p;
    most = p.max_tokens > UINT32_MAX - p.budget ? UINT32_MAX : p.max_tokens + p.budget;
    if (p.claude.most_output != 0 && most > p.claude.most_output)
        most = p.claude.most_output > p.max_tokens ? p.claude.most_output : p.max_tokens;
    p.max_tokens = most;
    if (p.budget + PHI__ANTHROPIC_LEAST_ANSWER > most)
        p.budget = most > PHI__ANTHROPIC_LEAST_ANSWER ? most - PHI__ANTHROPIC_LEAST_ANSWER : 0;
    if (p.budget < 1024) { /* the least the API takes: then rather an answer */
        p.budget = 0;
        p.thinks = false;
    }
    return p;
}

static void phi__anthropic_put_thinking(phi__encoder *e, const phi__anthropic_plan *p) {
    phi__buf *out = &e->scratch;
    phi_thinking level = e->ask->thinking;
    if (!e->ask->model->reasoning) return;
    if (!p->adaptive) {
        if (p->budget == 0) return;
        phi__buf_text(out, ",\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":");
        phi__buf_u64(out, p->budget);
        phi__buf_char(out, '}');
        return;
    }
    if (level != PHI_THINKING_OFF)
        phi__buf_text(out, ",\"thinking\":{\"type\":\"adaptive\",\"display\":\"summarized\"}");
    else if (p->claude.off == PHI__CLAUDE_OFF_DISABLED)
        phi__buf_text(out, ",\"thinking\":{\"type\":\"disabled\"}");
    else if (p->claude.off == PHI__CLAUDE_OFF_BETWEEN)
        phi__buf_text(out, ",\"thinking\":{\"type\":\"between_tools\"}");
    if (level != PHI_THINKING_OFF || p->claude.off == PHI__CLAUDE_OFF_CANNOT) {
        phi__buf_text(out, ",\"output_config\":{\"effort\":\"");
        phi__buf_text(out, phi__anthropic_effort(level));
        phi__buf_text(out, "\"}");
    }
}

static void phi__anthropic_put_choice(phi__encoder *e, const phi__anthropic_plan *p) {
    phi_tool_choice choice = e->ask->tool_choice;
    if (choice == PHI_TOOL_CHOICE_REQUIRED && (p->thinks || p->claude.no_forced_tool))
        choice = PHI_TOOL_CHOICE_AUTO; /* the API refuses to force a call then */
    phi__buf_text(&e->scratch, ",\"tool_choice\":{\"type\":\"");
    phi__buf_text(&e->scratch, choice == PHI_TOOL_CHOICE_NONE       ? "none"
                               : choice == PHI_TOOL_CHOICE_REQUIRED ? "any"
                                                                    : "auto");
    phi__buf_text(&e->scratch, "\"}");
}

static void phi__anthropic_put_tools(phi__encoder *e) {
    phi__buf *out = &e->scratch;
    size_t i;
    phi__buf_text(out, ",\"tools\":[");
    for (i = 0; i < e->ask->tool_count; i++) {
        const phi__tool_view *tool = &e->ask->tools[i];
        if (i > 0) phi__buf_char(out, ',');
        phi__buf_text(out, "{\"name\":");
        phi__json_put_str(out, tool->name);
        if (!phi__render_blank(tool->description))
            phi__render_member(out, "description", tool->description);
        phi__buf_text(out, ",\"input_schema\":");
        phi__encode_scratch(e);
        phi__encode_piece(e, phi__render_blank(tool->schema)
                                 ? PHI__LIT("{\"type\":\"object\",\"properties\":{}}")
                                 : tool->schema);
        phi__buf_text(
            out, i + 1 == e->ask->tool_count && !e->ask->disable_cache ? PHI__ANTHROPIC_MARK : "}");
    }
    phi__buf_char(out, ']');
}

static void phi__anthropic_head(phi__encoder *e) {
    const phi__ask *ask = e->ask;
    phi__anthropic_plan plan = phi__anthropic_plan_of(ask);
    phi__buf *out = &e->scratch;
    phi__buf_clear(out);
    phi__buf_char(out, '{');
    phi__render_member(out, "model", phi_str_of(ask->model->id));
    phi__buf_text(out, ",\"max_tokens\":");
    phi__buf_u64(out, plan.max_tokens);
    phi__buf_text(out, ",\"stream\":true");
    if (!phi__render_blank(ask->system_prompt)) {
        phi__buf_text(out, ",\"system\":[{\"type\":\"text\"");
        phi__render_member(out, "text", ask->system_prompt);
        phi__buf_text(out, ask->disable_cache ? "}" : PHI__ANTHROPIC_MARK);
        phi__buf_char(out, ']');
    }
    phi__anthropic_put_thinking(e, &plan);
    if (ask->temperature >= 0 && !plan.thinks && !plan.claude.no_temperature) {
        phi__buf_text(out, ",\"temperature\":");
        phi__json_put_double(out, ask->temperature);
    }
    if (ask->tool_count > 0) {
        phi__anthropic_put_choice(e, &plan);
        phi__anthropic_put_tools(e);
    }
    phi__buf_text(out, ",\"messages\":[");
    phi__encode_scratch(e);
}

static void phi__anthropic_tail(phi__encoder *e) {
    phi__anthropic_close_role(e);
    phi__encode_glue(e, "]}");
    if (!e->ask->disable_cache) phi__encode_mark(e, 1, PHI__ANTHROPIC_MARK_OPEN);
}

static void phi__anthropic_address(phi__encoder *e) {
    const phi_model *model = e->ask->model;
    phi_str key = phi__str_trim(phi_str_of(model->api_key));
    phi__encode_url(e, "/v1", false, "/messages");
    phi__encode_header(e, "content-type", PHI__LIT("application/json"));
    phi__encode_header(e, "accept", PHI__LIT("text/event-stream, application/json"));
    phi__encode_header(e, "anthropic-version", PHI__LIT("2023-06-01"));
    if (phi__str_find(key, 0, "sk-ant-oat") != SIZE_MAX) { /* an OAuth token */
        phi__buf_clear(&e->scratch);
        phi__buf_text(&e->scratch, "Bearer ");
        phi__buf_add_str(&e->scratch, key);
        phi__encode_header(e, "authorization", phi__buf_str(&e->scratch));
    } else if (key.len > 0)
        phi__encode_header(e, "x-api-key", key);
    phi__encode_model_headers(e);
}

/* ---- the codec ---- */

PHI__FN const phi__codec *phi__anthropic_codec(void) {
    static const phi__codec codec = {
        PHI_PROTOCOL_ANTHROPIC, sizeof(phi__anthropic_state), phi__anthropic_head,
        phi__anthropic_item,    phi__anthropic_tail,          phi__anthropic_address,
        phi__anthropic_missing, phi__anthropic_after_results, phi__anthropic_event,
        phi__anthropic_end,     phi__anthropic_whole};
    return &codec;
}
#undef PHI__ANTHROPIC_MARK_OPEN
#undef PHI__ANTHROPIC_MARK
#undef PHI__ANTHROPIC_LEAST_ANSWER

/* ---- src/wire/anthropic_stream.c ---- */

/* anthropic_stream.c - answers of the Anthropic Messages API: events to a message.

   Every event is read in one pass without a tree; nearly all of them are deltas. Blocks are found
   by the index the wire gives them; blocks of kinds that are not known are read over, with all of
   their deltas. wire.md parts 1.3, 1.9 and 2. */


#define PHI__ANT_IS(text, literal) phi__json_text_is((text), PHI__LIT(literal))

/* What any event may hold, as it stands in its text. */
typedef struct phi__ant_event {
    phi__json_text type;
    int64_t index;
    phi__json_text delta_type, text, thinking, partial_json, signature; /* of a delta */
    phi__json_text stop_reason;
    phi_str stop_details; /* raw JSON, as the next three */
    phi_str block, message, usage;
    bool has_error;
} phi__ant_event;

static const phi__json_text phi__ant_none = {"", 0, false};

static void phi__ant_put(phi__assembly *a, phi__buf *buf, phi__json_text text) {
    phi__buf_clear(buf);
    if (text.len > 0) phi__json_unescape(buf, text);
    if (buf->failed) a->no_memory = true;
}

static void phi__ant_raw(phi__json_cursor *c, phi_str *out) {
    if (!phi__json_take_raw(c, out)) out->len = 0;
}

/* ---- reading an event ---- */

static void phi__ant_read_delta(phi__json_cursor *c, phi__ant_event *ev) {
    phi__json_text key;
    if (!phi__json_enter_object(c)) return;
    while (phi__json_next_key(c, &key)) {
        if (PHI__ANT_IS(key, "type"))
            phi__json_take_text(c, &ev->delta_type);
        else if (PHI__ANT_IS(key, "text"))
            phi__json_take_text(c, &ev->text);
        else if (PHI__ANT_IS(key, "partial_json"))
            phi__json_take_text(c, &ev->partial_json);
        else if (PHI__ANT_IS(key, "thinking"))
            phi__json_take_text(c, &ev->thinking);
        else if (PHI__ANT_IS(key, "signature"))
            phi__json_take_text(c, &ev->signature);
        else if (PHI__ANT_IS(key, "stop_reason"))
            phi__json_take_text(c, &ev->stop_reason);
        else if (PHI__ANT_IS(key, "stop_details"))
            phi__ant_raw(c, &ev->stop_details);
        else
            phi__json_skip(c);
    }
}

static bool phi__ant_read(phi__ant_event *ev, phi_str data) {
    phi__json_cursor c;
    phi__json_text key;
    memset(ev, 0, sizeof *ev);
    ev->type = ev->delta_type = phi__ant_none;
    phi__json_cursor_init(&c, data);
    if (!phi__json_enter_object(&c)) return false;
    while (phi__json_next_key(&c, &key)) {
        if (PHI__ANT_IS(key, "type"))
            phi__json_take_text(&c, &ev->type);
        else if (PHI__ANT_IS(key, "index"))
            phi__json_take_i64(&c, &ev->index);
        else if (PHI__ANT_IS(key, "delta"))
            phi__ant_read_delta(&c, ev);
        else if (PHI__ANT_IS(key, "content_block"))
            phi__ant_raw(&c, &ev->block);
        else if (PHI__ANT_IS(key, "message"))
            phi__ant_raw(&c, &ev->message);
        else if (PHI__ANT_IS(key, "usage"))
            phi__ant_raw(&c, &ev->usage);
        else if (PHI__ANT_IS(key, "error"))
            ev->has_error = phi__json_peek(&c) != PHI_JSON_NULL && phi__json_skip(&c);
        else
            phi__json_skip(&c);
    }
    return phi__json_cursor_done(&c);
}

/* ---- parts ---- */

static void phi__ant_details(phi__json_cursor *c, phi_usage *usage) {
    phi__json_text key;
    if (!phi__json_enter_object(c)) return;
    while (phi__json_next_key(c, &key)) {
        if (PHI__ANT_IS(key, "thinking_tokens"))
            phi__json_take_u64(c, &usage->reasoning);
        else
            phi__json_skip(c);
    }
}

/* Counts are cumulative; what is null or absent leaves what was said before. */
static void phi__ant_usage(phi__assembly *a, phi_str raw) {
    phi__json_cursor c;
    phi__json_text key;
    if (raw.len == 0) return;
    phi__json_cursor_init(&c, raw);
    if (!phi__json_enter_object(&c)) return;
    while (phi__json_next_key(&c, &key)) {
        if (PHI__ANT_IS(key, "input_tokens"))
            phi__json_take_u64(&c, &a->usage.input);
        else if (PHI__ANT_IS(key, "output_tokens"))
            phi__json_take_u64(&c, &a->usage.output);
        else if (PHI__ANT_IS(key, "cache_read_input_tokens"))
            phi__json_take_u64(&c, &a->usage.cache_read);
        else if (PHI__ANT_IS(key, "cache_creation_input_tokens"))
            phi__json_take_u64(&c, &a->usage.cache_write);
        else if (PHI__ANT_IS(key, "output_tokens_details"))
            phi__ant_details(&c, &a->usage);
        else
            phi__json_skip(&c);
    }
}

static phi_stop_reason phi__ant_stop_of(phi_str word) {
    if (phi__str_is(word, "end_turn") || phi__str_is(word, "stop_sequence"))
        return PHI_STOP_REASON_STOP;
    if (phi__str_is(word, "tool_use")) return PHI_STOP_REASON_TOOL_USE;
    if (phi__str_is(word, "max_tokens") || phi__str_is(word, "model_context_window_exceeded"))
        return PHI_STOP_REASON_LENGTH;
    if (phi__str_is(word, "pause_turn")) return PHI_STOP_REASON_PAUSED;
    if (phi__str_is(word, "refusal") || phi__str_is(word, "sensitive"))
        return PHI_STOP_REASON_GUARD_RAIL;
    return PHI_STOP_REASON_ERROR;
}

/* A refusal with the provider's own explanation, where it gives one. */
static void phi__ant_refused(phi__assembly *a, phi_str word, phi_str details) {
    phi_json_found found;
    phi_str words = {NULL, 0};
    if (details.len > 0 && phi_json_find(details, "explanation", &found) == PHI_OK)
        (void)phi_json_found_str(&a->scratch, &found, &words);
    if (words.len > 0)
        phi__assembly_fail(a, PHI_FAILURE_CONTENT_FILTER, false, word, words);
    else
        phi__classify_stop(a, PHI_FAILURE_CONTENT_FILTER, false, word);
}

static void phi__ant_stop(phi__anthropic_state *st, phi__assembly *a, phi__json_text reason,
                          phi_str details) {
    phi_str word;
    if (reason.at == NULL) return;
    phi__ant_put(a, &a->raw_stop_reason, reason);
    word = phi__buf_str(&a->raw_stop_reason);
    st->got_stop = true;
    if (a->failure.kind != PHI_FAILURE_NONE) return;
    a->stop_reason = phi__ant_stop_of(word);
    if (a->stop_reason == PHI_STOP_REASON_GUARD_RAIL)
        phi__ant_refused(a, word, details);
    else if (a->stop_reason == PHI_STOP_REASON_ERROR)
        phi__classify_stop(a, PHI_FAILURE_SERVER, false, word);
}

/* ---- blocks ---- */

typedef struct phi__ant_block {
    phi__json_text type, text, thinking, signature, data, id, name;
    phi_str input;
} phi__ant_block;

static void phi__ant_read_block(phi__ant_block *b, phi__json_cursor *c) {
    phi__json_text key;
    memset(b, 0, sizeof *b);
    b->type = phi__ant_none;
    if (!phi__json_enter_object(c)) return;
    while (phi__json_next_key(c, &key)) {
        if (PHI__ANT_IS(key, "type"))
            phi__json_take_text(c, &b->type);
        else if (PHI__ANT_IS(key, "text"))
            phi__json_take_text(c, &b->text);
        else if (PHI__ANT_IS(key, "thinking"))
            phi__json_take_text(c, &b->thinking);
        else if (PHI__ANT_IS(key, "signature"))
            phi__json_take_text(c, &b->signature);
        else if (PHI__ANT_IS(key, "data"))
            phi__json_take_text(c, &b->data);
        else if (PHI__ANT_IS(key, "id"))
            phi__json_take_text(c, &b->id);
        else if (PHI__ANT_IS(key, "name"))
            phi__json_take_text(c, &b->name);
        else if (PHI__ANT_IS(key, "input"))
            phi__ant_raw(c, &b->input);
        else
            phi__json_skip(c);
    }
}

static void phi__ant_add(phi__assembly *a, size_t block, phi__json_text text) {
    phi__assembly_add_json(a, block, phi__str(text.at, text.len), text.escaped);
}

/* Opens a block; SIZE_MAX where it is of a kind that is not known. */
static size_t phi__ant_open(phi__assembly *a, const phi__ant_block *b, int64_t index) {
    phi_content_kind kind;
    phi__draft *d;
    size_t block;
    if (PHI__ANT_IS(b->type, "text"))
        kind = PHI_CONTENT_TEXT;
    else if (PHI__ANT_IS(b->type, "thinking") || PHI__ANT_IS(b->type, "redacted_thinking"))
        kind = PHI_CONTENT_THINKING;
    else if (PHI__ANT_IS(b->type, "tool_use"))
        kind = PHI_CONTENT_TOOL_CALL;
    else
        return SIZE_MAX;
    block = phi__assembly_open(a, kind, index);
    if (block == SIZE_MAX) return block;
    d = &a->drafts[block];
    if (kind == PHI_CONTENT_TEXT) phi__ant_add(a, block, b->text);
    if (kind == PHI_CONTENT_TOOL_CALL) {
        phi__ant_put(a, &d->id, b->id);
        phi__ant_put(a, &d->name, b->name);
    }
    if (kind == PHI_CONTENT_THINKING) {
        d->redacted = PHI__ANT_IS(b->type, "redacted_thinking");
        phi__ant_put(a, &d->signature, d->redacted ? b->data : b->signature);
        phi__ant_add(a, block, b->thinking);
    }
    return block;
}

/* Arguments may come whole with the start of the block; deltas, if any follow, take their place.
   They wait where a call keeps nothing else. */
static void phi__ant_block_start(phi__assembly *a, const phi__ant_event *ev) {
    phi__ant_block b;
    phi__json_cursor c;
    size_t block;
    if (ev->block.len == 0) return;
    phi__json_cursor_init(&c, ev->block);
    phi__ant_read_block(&b, &c);
    block = phi__ant_open(a, &b, ev->index);
    if (block == SIZE_MAX || a->drafts[block].kind != PHI_CONTENT_TOOL_CALL) return;
    if (b.input.len <= 2 || b.input.at[0] != '{') return;
    a->drafts[block].replay_open = true;
    phi__buf_add_str(&a->drafts[block].replay, b.input);
    if (a->drafts[block].replay.failed) a->no_memory = true;
}

static void phi__ant_block_stop(phi__assembly *a, size_t block) {
    phi__draft *d;
    if (block == SIZE_MAX) return;
    d = &a->drafts[block];
    if (d->kind == PHI_CONTENT_TOOL_CALL && d->replay_open) {
        if (d->bytes.len == 0) phi__assembly_add(a, block, phi__buf_str(&d->replay));
        phi__buf_free(&a->drafts[block].replay);
        a->drafts[block].replay_open = false;
    }
    phi__assembly_close(a, block);
}

static size_t phi__ant_find(const phi__assembly *a, int64_t index) {
    if (a->count > 0 && a->drafts[a->count - 1].key == index) return a->count - 1;
    return phi__assembly_find(a, index);
}

/* A block that some gateways forget to start. */
static size_t phi__ant_find_or_open(phi__assembly *a, int64_t index, phi_content_kind kind) {
    size_t block = phi__ant_find(a, index);
    return block != SIZE_MAX ? block : phi__assembly_open(a, kind, index);
}

static void phi__ant_sign(phi__assembly *a, const phi__ant_event *ev) {
    size_t block = phi__ant_find(a, ev->index);
    if (block == SIZE_MAX || a->drafts[block].kind != PHI_CONTENT_THINKING) return;
    if (ev->signature.len > 0) phi__json_unescape(&a->drafts[block].signature, ev->signature);
    if (a->drafts[block].signature.failed) a->no_memory = true;
}

static void phi__ant_delta(phi__anthropic_state *st, phi__assembly *a, const phi__ant_event *ev,
                           phi_str data) {
    size_t block;
    phi__json_text text;
    if (PHI__ANT_IS(ev->delta_type, "text_delta")) {
        text = ev->text;
        block = phi__ant_find_or_open(a, ev->index, PHI_CONTENT_TEXT);
    } else if (PHI__ANT_IS(ev->delta_type, "input_json_delta")) {
        text = ev->partial_json;
        block = phi__ant_find(a, ev->index);
    } else if (PHI__ANT_IS(ev->delta_type, "thinking_delta")) {
        text = ev->thinking;
        block = phi__ant_find_or_open(a, ev->index, PHI_CONTENT_THINKING);
    } else {
        if (PHI__ANT_IS(ev->delta_type, "signature_delta")) phi__ant_sign(a, ev);
        return;
    }
    phi__ant_add(a, block, text);
    phi__repeat_learn(&st->repeat, a, data, text, block);
}

/* ---- the message ---- */

/* The message of message_start, or a whole answer; `whole` reads its blocks and its end too. */
static void phi__ant_message(phi__anthropic_state *st, phi__assembly *a, phi_str raw, bool whole) {
    phi__json_cursor c;
    phi__json_text key, text, stop = {NULL, 0, false};
    phi_str usage = {NULL, 0}, details = {NULL, 0}, content = {NULL, 0};
    phi__ant_block b;
    if (raw.len == 0) return;
    phi__json_cursor_init(&c, raw);
    if (!phi__json_enter_object(&c)) return;
    while (phi__json_next_key(&c, &key)) {
        if (PHI__ANT_IS(key, "id") && phi__json_peek(&c) == PHI_JSON_STRING) {
            phi__json_take_text(&c, &text);
            phi__ant_put(a, &a->response_id, text);
        } else if (PHI__ANT_IS(key, "model") && phi__json_peek(&c) == PHI_JSON_STRING) {
            phi__json_take_text(&c, &text);
            phi__ant_put(a, &a->model, text);
        } else if (PHI__ANT_IS(key, "usage"))
            phi__ant_raw(&c, &usage);
        else if (PHI__ANT_IS(key, "stop_reason"))
            phi__json_take_text(&c, &stop);
        else if (PHI__ANT_IS(key, "stop_details"))
            phi__ant_raw(&c, &details);
        else if (PHI__ANT_IS(key, "content"))
            phi__ant_raw(&c, &content);
        else
            phi__json_skip(&c);
    }
    phi__assembly_start(a);
    phi__ant_usage(a, usage);
    if (!whole) return;
    phi__json_cursor_init(&c, content.len > 0 ? content : PHI__LIT("[]"));
    if (phi__json_enter_array(&c))
        while (phi__json_next_item(&c)) {
            size_t block;
            phi__ant_read_block(&b, &c);
            block = phi__ant_open(a, &b, (int64_t)a->count);
            if (block != SIZE_MAX && a->drafts[block].kind == PHI_CONTENT_TOOL_CALL)
                phi__assembly_add(a, block, b.input);
            phi__assembly_close(a, block);
        }
    phi__ant_stop(st, a, stop, details);
}

static void phi__ant_take(phi__anthropic_state *st, phi__assembly *a, const phi__ant_event *ev,
                          phi_str data) {
    if (PHI__ANT_IS(ev->type, "content_block_delta"))
        phi__ant_delta(st, a, ev, data);
    else if (PHI__ANT_IS(ev->type, "content_block_start"))
        phi__ant_block_start(a, ev);
    else if (PHI__ANT_IS(ev->type, "content_block_stop"))
        phi__ant_block_stop(a, phi__ant_find(a, ev->index));
    else if (PHI__ANT_IS(ev->type, "message_start"))
        phi__ant_message(st, a, ev->message, false);
    else if (PHI__ANT_IS(ev->type, "message_delta")) {
        phi__ant_usage(a, ev->usage);
        phi__ant_stop(st, a, ev->stop_reason, ev->stop_details);
    } else if (PHI__ANT_IS(ev->type, "message_stop"))
        a->terminal = true;
    else if (PHI__ANT_IS(ev->type, "error") || (ev->type.len == 0 && ev->has_error))
        phi__classify_event(a, data);
}

/* ---- for the codec ---- */

PHI__FN void phi__anthropic_event(void *state, phi__assembly *a, phi_str name, phi_str data) {
    phi__anthropic_state *st = (phi__anthropic_state *)state;
    phi_arena_mark mark;
    phi__ant_event ev;
    if (phi__str_is(name, "ping") || data.len == 0 || a->no_memory) return;
    if (st->broken) {
        phi__assembly_fail(a, PHI_FAILURE_SERVER, true, PHI__LIT("bad_event"),
                           PHI__LIT("the server sent an event that is not JSON"));
        return;
    }
    if (phi__str_is(name, "error")) {
        phi__classify_event(a, data);
        return;
    }
    if (phi__repeat_add(&st->repeat, a, data)) return;
    if (data.at[0] != '{') return; /* words of a gateway: nothing of ours */
    st->heard = true;
    phi__repeat_forget(&st->repeat);
    if (!phi__ant_read(&ev, data)) {
        st->broken = true;
        return;
    }
    mark = phi_arena_save(&a->scratch);
    phi__ant_take(st, a, &ev, data);
    phi_arena_reset(&a->scratch, mark);
}

PHI__FN void phi__anthropic_end(void *state, phi__assembly *a) {
    phi__anthropic_state *st = (phi__anthropic_state *)state;
    size_t i;
    bool open = false;
    if (a->terminal || a->failure.kind != PHI_FAILURE_NONE) return;
    for (i = 0; i < a->count; i++) open = open || a->drafts[i].open;
    if (st->got_stop && !open)
        a->terminal = true; /* only the marker is missing */
    else
        phi__classify_truncated(a, st->heard);
}

PHI__FN void phi__anthropic_whole(void *state, phi__assembly *a, phi_str body) {
    phi__anthropic_state *st = (phi__anthropic_state *)state;
    phi_arena_mark mark = phi_arena_save(&a->scratch);
    phi__ant_event ev;
    if (phi__ant_read(&ev, body) && PHI__ANT_IS(ev.type, "message") && !ev.has_error) {
        st->heard = true;
        phi__ant_message(st, a, body, true);
        if (st->got_stop)
            a->terminal = true;
        else
            phi__classify_truncated(a, true);
    } else
        phi__classify_body(a, body);
    phi_arena_reset(&a->scratch, mark);
}
#undef PHI__ANT_IS

/* ---- src/wire/assembly.c ---- */

/* assembly.c - blocks that grow, and what is true of them at the end. */


#define PHI__ASSEMBLY_NORMAL_STOP(reason)                                                          \
    ((reason) == PHI_STOP_REASON_STOP || (reason) == PHI_STOP_REASON_TOOL_USE)

static void phi__assembly_tell(phi__assembly *a, phi__part part, size_t block, size_t from) {
    if (a->sink != NULL) a->sink(a->ctx, a, part, block, from);
}

static void phi__assembly_free_draft(phi__draft *d) {
    phi__buf_free(&d->bytes);
    phi__buf_free(&d->signature);
    phi__buf_free(&d->replay);
    phi__buf_free(&d->id);
    phi__buf_free(&d->name);
}

/* ---- bytes ---- */

/* Bytes at the end of `s` that begin a UTF-8 sequence which they do not finish; 0 to 3. */
static size_t phi__assembly_cut_tail(phi_str s) {
    size_t n;
    for (n = 1; n <= 3 && n <= s.len; n++) {
        unsigned char c = (unsigned char)s.at[s.len - n];
        if (c < 0x80) return 0;
        if (c < 0xc0) continue; /* a continuation: look before it */
        if (c >= 0xf0) return c <= 0xf4 && n < 4 ? n : 0;
        if (c >= 0xe0) return n < 3 ? n : 0;
        return c >= 0xc2 && n < 2 ? n : 0;
    }
    return 0;
}

/* Completes a sequence that the last delta cut with the first bytes of this one; returns how many
   of them it took. */
static size_t phi__assembly_join(phi__draft *d, phi_str s) {
    unsigned char lead = (unsigned char)d->held[0];
    size_t want = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2, taken = 0;
    while (d->held_len < want && taken < s.len && ((unsigned char)s.at[taken] & 0xc0u) == 0x80u)
        d->held[d->held_len++] = s.at[taken++];
    if (d->held_len < want && taken == s.len) return taken; /* still cut */
    phi__utf8_repair(&d->bytes, phi__str(d->held, d->held_len));
    d->held_len = 0;
    return taken;
}

/* What was held back has no other half. */
static void phi__assembly_flush(phi__draft *d) {
    if (d->high != 0 || d->held_len != 0) phi__buf_text(&d->bytes, "\xef\xbf\xbd");
    d->high = 0;
    d->held_len = 0;
}

static void phi__assembly_hold(phi__draft *d, phi_str *s) {
    size_t tail = phi__assembly_cut_tail(*s);
    if (tail == 0) return;
    s->len -= tail;
    memcpy(d->held, s->at + s->len, tail);
    d->held_len = (uint8_t)tail;
}

/* The unit of a \uXXXX escape at `at`, or -1. */
static int32_t phi__assembly_escape(const char *at, const char *end) {
    int32_t unit = 0;
    int i;
    if (end - at < 6 || at[0] != '\\' || at[1] != 'u') return -1;
    for (i = 2; i < 6; i++) {
        int32_t c = at[i], digit;
        if (c >= '0' && c <= '9')
            digit = c - '0';
        else if ((c | 32) >= 'a' && (c | 32) <= 'f')
            digit = (c | 32) - 'a' + 10;
        else
            return -1;
        unit = unit * 16 + digit;
    }
    return unit;
}

/* If the last delta ended in the first half of a pair: joins it with the second, if it is here. */
static void phi__assembly_pair(phi__draft *d, phi_str *raw) {
    int32_t low = phi__assembly_escape(raw->at, raw->at + raw->len);
    char utf8[4];
    size_t n;
    if (low < 0xdc00 || low > 0xdfff) {
        phi__assembly_flush(d);
        return;
    }
    n = phi__utf8_put(utf8, 0x10000u + ((d->high - 0xd800u) << 10) + ((uint32_t)low - 0xdc00u));
    phi__buf_add(&d->bytes, utf8, n);
    d->high = 0;
    *raw = phi__str(raw->at + 6, raw->len - 6);
}

/* If the text ends in the first half of a pair: keeps it for the next delta. */
static void phi__assembly_hold_high(phi__draft *d, phi_str *raw) {
    const char *at, *end = raw->at + raw->len;
    int32_t unit;
    size_t slashes = 0;
    if (raw->len < 6) return;
    at = end - 6;
    unit = phi__assembly_escape(at, end);
    if (unit < 0xd800 || unit > 0xdbff) return;
    while (at - slashes > raw->at && *(at - slashes - 1) == '\\') slashes++;
    if (slashes % 2 != 0) return; /* the backslash is itself escaped */
    d->high = (uint32_t)unit;
    raw->len -= 6;
}

static void phi__assembly_added(phi__assembly *a, size_t block, size_t from) {
    phi__draft *d = &a->drafts[block];
    if (d->bytes.failed) a->no_memory = true;
    if (d->bytes.len > from) phi__assembly_tell(a, PHI__PART_DELTA, block, from);
}

/* ---- the end ---- */

static bool phi__assembly_is_json(phi__assembly *a, phi_str text) {
    phi_arena_mark mark = phi_arena_save(&a->scratch);
    phi_json *root = NULL;
    phi_status status = phi_json_parse(&a->scratch, text, PHI_JSON_BORROW, &root, NULL);
    if (status == PHI_NO_MEMORY) a->no_memory = true;
    phi_arena_reset(&a->scratch, mark);
    return status == PHI_OK;
}

/* A provider may send no id, or the same one twice; results would then be ambiguous. */
static void phi__assembly_unique_id(phi__assembly *a, size_t block) {
    phi__draft *d = &a->drafts[block];
    bool taken = d->id.len == 0 || phi__str_is(phi__buf_str(&d->id), "null");
    char id[5 + 16 + 1];
    size_t i;
    for (i = 0; !taken && i < block; i++)
        taken = a->drafts[i].kind == PHI_CONTENT_TOOL_CALL &&
                phi_str_equal(phi__buf_str(&a->drafts[i].id), phi__buf_str(&d->id));
    if (!taken) return;
    memcpy(id, "call_", 5);
    phi__hash_hex(phi__hash(phi__buf_str(&a->response_id),
                            phi__hash_mix(a->id_salt + phi__hash_mix(block + 1))),
                  id + 5);
    phi__assembly_set(a, &d->id, phi__str(id, sizeof id - 1));
}

static void phi__assembly_finish_call(phi__assembly *a, size_t block) {
    phi__draft *d = &a->drafts[block];
    phi__assembly_unique_id(a, block);
    if (d->open)
        d->incomplete = true;
    else if (d->bytes.len == 0) {
        phi__buf_text(&d->bytes, "{}");
        if (d->bytes.failed) a->no_memory = true;
    } else if (a->stop_reason == PHI_STOP_REASON_LENGTH)
        d->incomplete = !phi__assembly_is_json(a, phi__buf_str(&d->bytes));
    d->open = false;
}

static phi_content phi__assembly_view_draft(const phi__draft *d) {
    phi_content c;
    memset(&c, 0, sizeof c);
    c.kind = d->kind;
    c.redacted = d->redacted;
    c.incomplete = d->incomplete;
    if (d->kind == PHI_CONTENT_TOOL_CALL)
        c.arguments = phi__buf_str(&d->bytes);
    else
        c.text = phi__buf_str(&d->bytes);
    c.id = phi__buf_str(&d->id);
    c.name = phi__buf_str(&d->name);
    c.signature = phi__buf_str(&d->signature);
    if (!d->replay_open) c.replay = phi__buf_str(&d->replay);
    return c;
}

/* ---- for decoders and the loop ---- */

PHI__FN void phi__assembly_init(phi__assembly *a, phi_memory *memory) {
    memset(a, 0, sizeof *a);
    a->memory = memory;
    phi_arena_init(&a->scratch, memory, 0);
    phi__buf_init(&a->raw_stop_reason, memory);
    phi__buf_init(&a->model, memory);
    phi__buf_init(&a->response_id, memory);
    phi__buf_init(&a->failure_words, memory);
}

PHI__FN void phi__assembly_free(phi__assembly *a) {
    size_t i;
    for (i = 0; i < a->count; i++) phi__assembly_free_draft(&a->drafts[i]);
    phi__free(a->memory, a->drafts, a->cap * sizeof *a->drafts);
    phi__buf_free(&a->raw_stop_reason);
    phi__buf_free(&a->model);
    phi__buf_free(&a->response_id);
    phi__buf_free(&a->failure_words);
    phi_arena_free(&a->scratch);
    phi__assembly_init(a, a->memory);
}

PHI__FN void phi__assembly_start(phi__assembly *a) {
    if (a->started) return;
    a->started = true;
    phi__assembly_tell(a, PHI__PART_START, 0, 0);
}

PHI__FN size_t phi__assembly_open(phi__assembly *a, phi_content_kind kind, int64_t key) {
    phi__draft *drafts, *d;
    if (a->no_memory) return SIZE_MAX;
    if (a->count == PHI__ASSEMBLY_BLOCKS_MOST) {
        phi__assembly_fail(a, PHI_FAILURE_SERVER, false, PHI__LIT("too_many_blocks"),
                           PHI__LIT("the answer has more than 1024 blocks"));
        return SIZE_MAX;
    }
    drafts = (phi__draft *)phi__grow(a->memory, a->drafts, &a->cap, a->count + 1, sizeof *d);
    if (drafts == NULL) {
        a->no_memory = true;
        return SIZE_MAX;
    }
    a->drafts = drafts;
    d = &drafts[a->count];
    memset(d, 0, sizeof *d);
    d->kind = kind;
    d->open = true;
    d->key = key;
    phi__buf_init(&d->bytes, a->memory);
    phi__buf_init(&d->signature, a->memory);
    phi__buf_init(&d->replay, a->memory);
    phi__buf_init(&d->id, a->memory);
    phi__buf_init(&d->name, a->memory);
    phi__assembly_start(a);
    a->count++;
    phi__assembly_tell(a, PHI__PART_BLOCK, a->count - 1, 0);
    return a->count - 1;
}

PHI__FN size_t phi__assembly_find(const phi__assembly *a, int64_t key) {
    size_t i;
    for (i = a->count; i > 0; i--)
        if (a->drafts[i - 1].key == key) return i - 1;
    return SIZE_MAX;
}

PHI__FN size_t phi__assembly_current(phi__assembly *a, phi_content_kind kind) {
    if (a->count > 0) {
        const phi__draft *last = &a->drafts[a->count - 1];
        if (last->kind == kind && last->open) return a->count - 1;
        if (last->kind != PHI_CONTENT_TOOL_CALL) phi__assembly_close(a, a->count - 1);
    }
    return phi__assembly_open(a, kind, -1);
}

PHI__FN void phi__assembly_add(phi__assembly *a, size_t block, phi_str bytes) {
    phi__draft *d;
    size_t from;
    if (block == SIZE_MAX || bytes.len == 0) return;
    d = &a->drafts[block];
    from = d->bytes.len;
    if (d->high != 0) phi__assembly_flush(d);
    if (d->held_len != 0) {
        size_t taken = phi__assembly_join(d, bytes);
        bytes = phi__str(bytes.at + taken, bytes.len - taken);
    }
    if (d->held_len == 0) phi__assembly_hold(d, &bytes);
    phi__utf8_repair(&d->bytes, bytes);
    phi__assembly_added(a, block, from);
}

PHI__FN void phi__assembly_add_json(phi__assembly *a, size_t block, phi_str raw, bool has_escapes) {
    phi__draft *d;
    phi__json_text text;
    size_t from;
    if (block == SIZE_MAX || raw.len == 0) return;
    d = &a->drafts[block];
    from = d->bytes.len;
    if (d->high != 0) phi__assembly_pair(d, &raw);
    if (d->held_len != 0) {
        size_t taken = phi__assembly_join(d, raw);
        raw = phi__str(raw.at + taken, raw.len - taken);
    }
    if (has_escapes) phi__assembly_hold_high(d, &raw);
    if (d->high == 0 && d->held_len == 0) phi__assembly_hold(d, &raw);
    if (raw.len > 0) {
        text.at = raw.at;
        text.len = raw.len;
        text.escaped = has_escapes;
        phi__json_unescape(&d->bytes, text);
    }
    phi__assembly_added(a, block, from);
}

PHI__FN void phi__assembly_close(phi__assembly *a, size_t block) {
    phi__draft *d;
    size_t from;
    if (block == SIZE_MAX || !a->drafts[block].open) return;
    d = &a->drafts[block];
    from = d->bytes.len;
    phi__assembly_flush(d);
    phi__assembly_added(a, block, from);
    a->drafts[block].open = false;
    phi__assembly_tell(a, PHI__PART_BLOCK_END, block, 0);
}

PHI__FN void phi__assembly_set(phi__assembly *a, phi__buf *buf, phi_str text) {
    phi__buf_clear(buf);
    phi__utf8_repair(buf, text);
    if (buf->failed) a->no_memory = true;
}

PHI__FN void phi__assembly_fail_with(phi__assembly *a, const phi_failure *failure) {
    phi__buf *words = &a->failure_words;
    phi_str *to[3];
    phi_str from[3];
    size_t at[4], i;
    if (a->failure.kind != PHI_FAILURE_NONE) return;
    a->failure = *failure;
    a->stop_reason = failure->kind == PHI_FAILURE_CONTENT_FILTER ? PHI_STOP_REASON_GUARD_RAIL
                                                                 : PHI_STOP_REASON_ERROR;
    to[0] = &a->failure.code;
    from[0] = failure->code;
    to[1] = &a->failure.message;
    from[1] = failure->message;
    to[2] = &a->failure.request_id;
    from[2] = failure->request_id;
    phi__buf_clear(words);
    at[0] = 0;
    for (i = 0; i < 3; i++) {
        phi__utf8_repair(words, from[i]);
        at[i + 1] = words->len;
    }
    if (words->failed) a->no_memory = true;
    for (i = 0; i < 3; i++) /* only now do the bytes stay where they are */
        *to[i] = words->failed ? phi__str("", 0) : phi__str(words->at + at[i], at[i + 1] - at[i]);
}

PHI__FN void phi__assembly_fail(phi__assembly *a, phi_failure_kind kind, bool retryable,
                                phi_str code, phi_str message) {
    phi_failure failure;
    memset(&failure, 0, sizeof failure);
    failure.kind = kind;
    failure.retryable = retryable;
    failure.code = code;
    failure.message = message;
    phi__assembly_fail_with(a, &failure);
}

PHI__FN void phi__assembly_finish(phi__assembly *a) {
    phi_usage *u = &a->usage;
    bool calls = false;
    size_t i;
    for (i = 0; i < a->count; i++) {
        phi__draft *d = &a->drafts[i];
        phi__assembly_flush(d);
        if (d->kind == PHI_CONTENT_TOOL_CALL) {
            phi__assembly_finish_call(a, i);
            calls = calls || !d->incomplete;
        }
        d->open = false;
    }
    if (a->stop_reason == PHI_STOP_REASON_NONE)
        a->stop_reason = a->terminal ? PHI_STOP_REASON_STOP : PHI_STOP_REASON_ERROR;
    if (PHI__ASSEMBLY_NORMAL_STOP(a->stop_reason))
        a->stop_reason = calls ? PHI_STOP_REASON_TOOL_USE : PHI_STOP_REASON_STOP;
    u->total_tokens = u->input + u->output + u->cache_read + u->cache_write;
    if (a->no_memory)
        phi__assembly_fail(a, PHI_FAILURE_NO_MEMORY, false, PHI__LIT(""), PHI__LIT(""));
    if (a->failure.kind == PHI_FAILURE_NO_MEMORY)
        a->failure.message = PHI__LIT("the answer does not fit into the memory allowed");
}

PHI__FN void phi__assembly_view(const phi__assembly *a, phi_content *content, phi_message *out) {
    size_t i;
    memset(out, 0, sizeof *out);
    out->role = PHI_ROLE_ASSISTANT;
    for (i = 0; i < a->count; i++) content[i] = phi__assembly_view_draft(&a->drafts[i]);
    out->content = content;
    out->content_count = a->count;
    out->stop_reason = a->stop_reason;
    out->raw_stop_reason = phi__buf_str(&a->raw_stop_reason);
    out->model = phi__buf_str(&a->model);
    out->usage = a->usage;
    out->usage.total_tokens =
        a->usage.input + a->usage.output + a->usage.cache_read + a->usage.cache_write;
    if (a->failure.kind != PHI_FAILURE_NONE) out->error_message = a->failure.message;
}
#undef PHI__ASSEMBLY_NORMAL_STOP

/* ---- src/wire/classify.c ---- */

/* classify.c - what an error is, whatever its shape: wire.md 1.4, 1.6 and 10.

   The status decides before any text does, because texts collide: "too many tokens" is a full
   context for some and throttling for others. */


#define PHI__FAULT_BODY_MOST 65536u  /* bytes of a body that are read; wire.md 1.10 */
#define PHI__FAULT_WORDS_MOST 4096u  /* bytes of a message that are kept */
#define PHI__FAULT_SNIPPET_MOST 500u /* bytes of a body shown where it holds no message */

/* An error, taken apart. Strings live in the arena or are static. */
typedef struct phi__fault {
    int status; /* of HTTP, or guessed from words; 0: unknown */
    bool empty; /* the body was blank */
    phi_str code, type, message, detail, request_id;
    phi_str delay; /* Google's retryDelay, "46s" */
    bool bad_key;  /* Google's API_KEY_INVALID */
} phi__fault;

/* ---- phrases ---- */

static char phi__fault_lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }

static bool phi__fault_is_digit(char c) { return c >= '0' && c <= '9'; }

/* Whether `pattern` (lower case) stands at `at`: '#' is a number, '*' up to 80 bytes of any. */
static bool phi__fault_at(phi_str s, size_t at, const char *pattern) {
    for (; *pattern != '\0'; pattern++) {
        if (*pattern == '*') {
            size_t last = phi__min(s.len, at + 80);
            for (; at <= last; at++)
                if (phi__fault_at(s, at, pattern + 1)) return true;
            return false;
        }
        if (at >= s.len) return false;
        if (*pattern == '#') {
            if (!phi__fault_is_digit(s.at[at])) return false;
            while (at < s.len && (phi__fault_is_digit(s.at[at]) || s.at[at] == ',')) at++;
        } else if (phi__fault_lower(s.at[at++]) != *pattern)
            return false;
    }
    return true;
}

static bool phi__fault_says(phi_str s, const char *pattern) {
    size_t i;
    for (i = 0; i < s.len; i++)
        if (phi__fault_at(s, i, pattern)) return true;
    return false;
}

static bool phi__fault_says_any(phi_str s, const char *const *patterns, size_t count) {
    size_t i;
    for (i = 0; i < count; i++)
        if (phi__fault_says(s, patterns[i])) return true;
    return false;
}

/* wire.md part 10 */
static const char *const phi__fault_overflows[] = {
    "prompt is too long",
    "request_too_large",
    "input is too long for requested model",
    "exceeds the context window",
    "maximum context length is #",
    "context_length_exceeded",
    "context length exceeded",
    "exceeds the model's maximum context length",
    "context window exceeded",
    "context_window_exceeded",
    "exceeds maximum allowed input length",
    "input token count*exceeds the maximum",
    "maximum prompt length is #",
    "reduce the length of the messages",
    "longer than the model's context length",
    "token*exceeds the limit of #",
    "exceeds the available context size",
    "exceed_context_size_error",
    "greater than the context length",
    "exceeded max context length",
    "configured context size is #",
    "too large for model with #",
    "context window exceeds limit",
    "exceeded model token limit",
    "range of input length should be",
    "prompt exceeds max length",
};

/* Money, not pace: waiting does not help. wire.md 1.4 */
static const char *const phi__fault_quotas[] = {
    "insufficient_quota",
    "insufficient quota",
    "insufficient balance",
    "insufficient credits",
    "insufficient funds",
    "credit balance is too low",
    "enforced_spend_limit_reached",
    "contract_spend_limit_reached",
    "billing_hard_limit_reached",
    "billing_not_active",
    "account is not active, please check your billing",
};

static const char *const phi__fault_filters[] = {
    "content_filter",
    "content_policy_violation",
    "content management policy",
    "responsibleaipolicyviolation",
};

static bool phi__fault_any(const phi__fault *f, const char *const *patterns, size_t count) {
    return phi__fault_says_any(f->code, patterns, count) ||
           phi__fault_says_any(f->type, patterns, count) ||
           phi__fault_says_any(f->message, patterns, count) ||
           phi__fault_says_any(f->detail, patterns, count);
}

static bool phi__fault_word(const phi__fault *f, const char *pattern) {
    return phi__fault_any(f, &pattern, 1);
}

/* ---- delays ---- */

/* A decimal number at *at, which moves behind it, in thousandths. False: none. */
static bool phi__fault_number(phi_str s, size_t *at, uint64_t *thousandths) {
    uint64_t n = 0, scale = 1000;
    size_t i = *at;
    if (i >= s.len || !phi__fault_is_digit(s.at[i])) return false;
    for (; i < s.len && phi__fault_is_digit(s.at[i]); i++)
        if (n < UINT64_C(1000000000000)) n = n * 10 + (uint64_t)(s.at[i] - '0');
    n *= 1000;
    if (i + 1 < s.len && s.at[i] == '.' && phi__fault_is_digit(s.at[i + 1]))
        for (i++; i < s.len && phi__fault_is_digit(s.at[i]); i++) {
            scale /= 10;
            n += (uint64_t)(s.at[i] - '0') * scale;
        }
    *at = i;
    *thousandths = n;
    return true;
}

/* Milliseconds of a unit at *at, which moves behind it; 0: none. */
static uint64_t phi__fault_unit(phi_str s, size_t *at) {
    static const struct phi__fault_units {
        const char *name;
        uint64_t ms;
    } units[] = {{"milliseconds", 1}, {"ms", 1},    {"seconds", 1000},  {"second", 1000},
                 {"sec", 1000},       {"s", 1000},  {"minutes", 60000}, {"minute", 60000},
                 {"min", 60000},      {"m", 60000}, {"hours", 3600000}, {"hour", 3600000},
                 {"h", 3600000}};
    size_t i, from = *at;
    while (from < s.len && s.at[from] == ' ') from++;
    for (i = 0; i < PHI__COUNT(units); i++)
        if (phi__fault_at(s, from, units[i].name)) {
            *at = from + strlen(units[i].name);
            return units[i].ms;
        }
    return 0;
}

/* "46s", "1m2s", "5.289s", "7 seconds", "7" (seconds) at `at`; false: none, or zero. */
static bool phi__fault_duration(phi_str s, size_t at, uint64_t *ms) {
    uint64_t n, unit, total = 0;
    bool any = false;
    while (phi__fault_number(s, &at, &n)) {
        unit = phi__fault_unit(s, &at);
        if (unit == 0 && any) break;
        total += (n * (unit == 0 ? 1000 : unit) + 999) / 1000;
        any = true;
        if (unit == 0) break;
    }
    *ms = total;
    return any && total > 0;
}

static bool phi__fault_text_delay(phi_str text, uint64_t *ms) {
    static const char *const starts[] = {"try again in ", "retry after ", "retry in "};
    size_t i, at;
    for (i = 0; i < PHI__COUNT(starts); i++) {
        at = phi__str_find_nocase(text, 0, starts[i]);
        if (at != SIZE_MAX && phi__fault_duration(text, at + strlen(starts[i]), ms)) return true;
    }
    return false;
}

/* Days from 1970 of a date of the Gregorian calendar (the usual counting from March). */
static int64_t phi__fault_days(int64_t y, int64_t m, int64_t d) {
    int64_t era, of_era, of_year;
    y -= m <= 2;
    era = y / 400;
    of_era = y - era * 400;
    of_year = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static bool phi__fault_digits(phi_str s, size_t at, size_t n, int64_t *out) {
    uint64_t value;
    if (!phi__str_to_u64(phi__str(s.at + at, n), &value)) return false;
    *out = (int64_t)value;
    return true;
}

/* Seconds of "Fri, 20 Nov 2026 10:00:30 GMT"; the forms that HTTP has given up are not read. */
static bool phi__fault_date(phi_str s, int64_t *seconds) {
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    int64_t d, y, h, mi, sec, m;
    if (s.len != 29 || s.at[3] != ',' || s.at[19] != ':' || s.at[22] != ':') return false;
    for (m = 0; m < 12; m++)
        if (memcmp(months + m * 3, s.at + 8, 3) == 0) break;
    if (m == 12) return false;
    if (!phi__fault_digits(s, 5, 2, &d) || !phi__fault_digits(s, 12, 4, &y) ||
        !phi__fault_digits(s, 17, 2, &h) || !phi__fault_digits(s, 20, 2, &mi) ||
        !phi__fault_digits(s, 23, 2, &sec))
        return false;
    *seconds = phi__fault_days(y, m + 1, d) * 86400 + h * 3600 + mi * 60 + sec;
    return true;
}

/* A whole header value: seconds, thousandths of them where ms. */
static bool phi__fault_header_number(phi_str s, bool ms, uint64_t *out) {
    size_t at = 0;
    uint64_t n;
    if (!phi__fault_number(s, &at, &n) || at != s.len) return false;
    *out = ms ? (n + 999) / 1000 : n;
    return n > 0;
}

static bool phi__fault_delay(const phi__fault *f, phi_str headers, uint64_t *ms) {
    phi_str after = phi__header_value(headers, "retry-after");
    int64_t until, now;
    if (phi__fault_header_number(phi__header_value(headers, "retry-after-ms"), true, ms))
        return true;
    if (phi__fault_header_number(after, false, ms)) return true;
    if (phi__fault_date(after, &until) &&
        phi__fault_date(phi__header_value(headers, "date"), &now) && until > now) {
        *ms = (uint64_t)(until - now) * 1000;
        return true;
    }
    return phi__fault_duration(f->delay, 0, ms) || phi__fault_text_delay(f->message, ms);
}

/* ---- taking a body apart ---- */

static phi_str phi__fault_text(const phi_json *node) { return phi_json_str(node, ""); }

/* FastAPI's detail: a text, or a list of {msg}. */
static phi_str phi__fault_detail(const phi_json *node) {
    if (phi_json_is_array(node)) node = phi_json_get(phi_json_at(node, 0), "msg");
    return phi__fault_text(node);
}

/* Which of an error's words is its code: a text wins over a number, but a number over a type that
   is only its name ("InternalServerError"); a code that is null says there is none. */
static void phi__fault_code(phi__fault *f, phi_arena *arena, const phi_json *error) {
    const phi_json *code = phi_json_get(error, "code");
    const phi_json *status = phi_json_get(error, "status");
    bool telling = f->type.len > 6 && memcmp(f->type.at + f->type.len - 6, "_error", 6) == 0;
    if (phi_json_is_string(code))
        f->code = phi__fault_text(code);
    else if (phi_json_is_string(status))
        f->code = phi__fault_text(status);
    else if (phi_json_is_number(code) && telling)
        f->code = f->type;
    else if (phi_json_is_number(code))
        (void)phi_json_write(arena, code, 0, &f->code);
    else if (code == NULL)
        f->code = f->type;
}

static void phi__fault_google(phi__fault *f, const phi_json *error) {
    phi_json_iter it = phi_json_each(phi_json_get(error, "details"));
    const phi_json *entry;
    if (!phi_json_is_array(phi_json_get(error, "details"))) return;
    while ((entry = phi_json_next(&it)) != NULL) {
        if (f->delay.len == 0) f->delay = phi__fault_text(phi_json_get(entry, "retryDelay"));
        if (phi__str_is(phi__fault_text(phi_json_get(entry, "reason")), "API_KEY_INVALID"))
            f->bad_key = true;
    }
}

/* Statuses that words stand for, where an error came without one. */
static int phi__fault_status_of(phi_str word) {
    static const struct phi__fault_status {
        const char *word;
        int status;
    } table[] = {{"overloaded_error", 529},
                 {"rate_limit_error", 429},
                 {"rate_limit_exceeded", 429},
                 {"insufficient_quota", 429},
                 {"api_error", 500},
                 {"server_error", 500},
                 {"internal_server_error", 500},
                 {"InternalServerError", 500},
                 {"internal_error", 500},
                 {"server_is_overloaded", 503},
                 {"slow_down", 503},
                 {"overloaded", 503},
                 {"service_unavailable", 503},
                 {"timeout_error", 504},
                 {"invalid_request_error", 400},
                 {"BadRequestError", 400},
                 {"context_length_exceeded", 400},
                 {"exceed_context_size_error", 400},
                 {"authentication_error", 401},
                 {"billing_error", 402},
                 {"permission_error", 403},
                 {"not_found_error", 404},
                 {"conflict_error", 409},
                 {"request_too_large", 413}};
    uint64_t n;
    size_t i;
    if (phi__str_to_u64(word, &n) && n >= 400 && n < 600) return (int)n;
    for (i = 0; i < PHI__COUNT(table); i++)
        if (phi__str_is(word, table[i].word)) return table[i].status;
    return 0;
}

static int phi__fault_number_of(const phi_json *node) {
    int64_t n = phi_json_int(node, 0);
    return n >= 400 && n < 600 ? (int)n : 0;
}

static void phi__fault_guess(phi__fault *f, const phi_json *root, const phi_json *error) {
    if (f->status == 0) f->status = phi__fault_number_of(phi_json_get(root, "status_code"));
    if (f->status == 0) f->status = phi__fault_number_of(phi_json_get(error, "status_code"));
    if (f->status == 0) f->status = phi__fault_number_of(phi_json_get(error, "code"));
    if (f->status == 0) f->status = phi__fault_status_of(f->code);
    if (f->status == 0) f->status = phi__fault_status_of(f->type);
    if (f->status == 0 && (phi__fault_word(f, "rate limit") || phi__fault_word(f, "too many req")))
        f->status = 429;
}

static void phi__fault_read_json(phi__fault *f, phi_arena *arena, const phi_json *root) {
    const phi_json *error, *metadata;
    if (phi_json_is_array(root)) root = phi_json_at(root, 0);
    error = phi_json_get(root, "error");
    if (phi_json_is_string(error)) {
        f->message = phi__fault_text(error);
        error = root;
    }
    if (!phi_json_is_object(error)) error = root;
    metadata = phi_json_get(error, "metadata");
    if (!phi__str_is(phi__fault_text(phi_json_get(error, "type")), "error"))
        f->type = phi__fault_text(phi_json_get(error, "type"));
    if (f->message.len == 0) f->message = phi__fault_text(phi_json_get(error, "message"));
    if (f->message.len == 0) f->message = phi__fault_text(phi_json_get(error, "Message"));
    if (f->message.len == 0) f->message = phi__fault_text(phi_json_get(root, "message"));
    if (f->message.len == 0) f->message = phi__fault_detail(phi_json_get(root, "detail"));
    f->detail = phi__fault_text(phi_json_get(metadata, "raw"));
    if (f->detail.len == 0) f->detail = phi__fault_text(phi_json_path(error, "details.error_code"));
    f->request_id = phi__fault_text(phi_json_get(root, "request_id"));
    phi__fault_code(f, arena, error);
    phi__fault_google(f, error);
    phi__fault_guess(f, root, error);
}

/* What a page of a proxy says in its title. */
static phi_str phi__fault_title(phi_str html) {
    size_t at = phi__str_find_nocase(html, 0, "<title"), end;
    if (at == SIZE_MAX || (at = phi__str_find(html, at, ">")) == SIZE_MAX) return PHI__LIT("");
    end = phi__str_find_nocase(html, at, "</title");
    if (end == SIZE_MAX) return PHI__LIT("");
    return phi__str_trim(phi__str(html.at + at + 1, end - at - 1));
}

/* Words for a body without any. */
static void phi__fault_snippet(phi__fault *f, phi_arena *arena, phi_str body) {
    phi__buf words;
    bool page = body.len > 0 && body.at[0] == '<';
    phi_str show = page ? phi__fault_title(body) : body;
    phi__buf_init(&words, arena->memory);
    if (f->status != 0) phi__buf_printf(&words, "HTTP %d", f->status);
    phi__buf_text(&words, f->empty ? " without a body" : page ? " with a web page" : "");
    if (words.len == 0) phi__buf_text(&words, "the answer is not what was asked for");
    phi__buf_text(&words, show.len > 0 ? ": " : "");
    show.len = phi__utf8_cut(show, PHI__FAULT_SNIPPET_MOST);
    phi__utf8_repair(&words, show);
    if (words.failed || !phi__arena_str(arena, phi__str_trim(phi__buf_str(&words)), &f->message))
        f->message = PHI__LIT("an error without words");
    phi__buf_free(&words);
}

static void phi__fault_read(phi__fault *f, phi_arena *arena, phi_str body) {
    phi_json *root = NULL;
    body.len = phi__min(body.len, PHI__FAULT_BODY_MOST);
    body = phi__str_trim(body);
    f->empty = body.len == 0;
    if (!f->empty && phi_json_parse(arena, body, PHI_JSON_REPLACE_BAD_UTF8, &root, NULL) == PHI_OK)
        phi__fault_read_json(f, arena, root);
    if (phi__str_trim(f->message).len == 0) phi__fault_snippet(f, arena, body);
    f->message.len = phi__utf8_cut(f->message, PHI__FAULT_WORDS_MOST);
}

/* ---- deciding ---- */

static phi_failure_kind phi__fault_kind(const phi__fault *f, const phi_model *model) {
    bool client = f->status == 0 || (f->status >= 400 && f->status < 500);
    if (f->status == 401 || f->status == 403 || f->bad_key) return PHI_FAILURE_AUTH;
    if (f->status == 402) return PHI_FAILURE_QUOTA;
    if (client && phi__fault_any(f, phi__fault_quotas, PHI__COUNT(phi__fault_quotas)))
        return PHI_FAILURE_QUOTA;
    if (f->status == 429 && phi__str_is(f->code, "1308")) return PHI_FAILURE_QUOTA; /* z.ai */
    if (f->status == 413) return PHI_FAILURE_OVERFLOW;
    if (f->status == 429 || phi__fault_word(f, "throttl")) return PHI_FAILURE_RATE_LIMITED;
    if (f->status == 400 && f->empty && model != NULL &&
        (model->quirks & PHI_QUIRK_EMPTY_IS_OVERFLOW) != 0)
        return PHI_FAILURE_OVERFLOW;
    if (client && phi__fault_any(f, phi__fault_overflows, PHI__COUNT(phi__fault_overflows)))
        return PHI_FAILURE_OVERFLOW;
    if (f->status == 400 &&
        (phi__fault_word(f, "too many tokens") || phi__fault_word(f, "token limit exceeded")))
        return PHI_FAILURE_OVERFLOW;
    if (client && phi__fault_any(f, phi__fault_filters, PHI__COUNT(phi__fault_filters)))
        return PHI_FAILURE_CONTENT_FILTER;
    if (f->status == 408 || f->status == 409 || f->status == 424 || f->status >= 500)
        return PHI_FAILURE_SERVER;
    return f->status == 0 ? PHI_FAILURE_SERVER : PHI_FAILURE_INVALID_REQUEST;
}

static void phi__fault_decide(const phi__fault *f, const phi_model *model, phi_str headers,
                              phi_failure *out) {
    phi_str wish = phi__header_value(headers, "x-should-retry");
    out->kind = phi__fault_kind(f, model);
    out->retryable = out->kind == PHI_FAILURE_RATE_LIMITED || out->kind == PHI_FAILURE_SERVER;
    if (phi__str_is_nocase(wish, "true")) out->retryable = true;
    if (phi__str_is_nocase(wish, "false")) out->retryable = false;
    out->has_retry_after = phi__fault_delay(f, headers, &out->retry_after_ms);
    if (!out->has_retry_after) out->retry_after_ms = 0;
    out->code = f->code;
    out->message = f->message;
    out->request_id = f->request_id;
}

/* The type of AWS errors is in a header, with a namespace behind a colon. */
static void phi__fault_read_headers(phi__fault *f, phi_str headers) {
    static const char *const ids[] = {"request-id", "x-request-id", "x-amzn-requestid"};
    phi_str type = phi__header_value(headers, "x-amzn-errortype");
    size_t i, colon = phi__str_find(type, 0, ":");
    if (type.len > 0) f->code = phi__str(type.at, colon == SIZE_MAX ? type.len : colon);
    for (i = 0; i < PHI__COUNT(ids); i++) {
        phi_str id = phi__header_value(headers, ids[i]);
        if (id.len > 0) {
            f->request_id = id;
            return;
        }
    }
}

static void phi__fault_keep(phi_arena *arena, phi_str *s) {
    if (!phi__arena_str(arena, *s, s)) *s = PHI__LIT("");
}

/* ---- for the loop ---- */

PHI__FN phi_str phi__header_value(phi_str headers, const char *name) {
    size_t at = 0;
    while (at < headers.len) {
        size_t end = phi__str_find(headers, at, "\n"), colon;
        phi_str line = phi__str(headers.at + at, (end == SIZE_MAX ? headers.len : end) - at);
        colon = phi__str_find(line, 0, ":");
        if (colon != SIZE_MAX && phi__str_is_nocase(phi__str(line.at, colon), name))
            return phi__str_trim(phi__str(line.at + colon + 1, line.len - colon - 1));
        if (end == SIZE_MAX) break;
        at = end + 1;
    }
    return PHI__LIT("");
}

PHI__FN bool phi__is_overflow_text(phi_str text) {
    return !phi__fault_says(text, "rate limit") && !phi__fault_says(text, "throttl") &&
           phi__fault_says_any(text, phi__fault_overflows, PHI__COUNT(phi__fault_overflows));
}

PHI__FN void phi__classify(const phi_model *model, int http_status, phi_str headers, phi_str body,
                           phi_arena *arena, phi_failure *out) {
    phi__fault f;
    memset(&f, 0, sizeof f);
    memset(out, 0, sizeof *out);
    f.status = http_status;
    phi__fault_read(&f, arena, body);
    phi__fault_read_headers(&f, headers);
    phi__fault_decide(&f, model, headers, out);
    out->http_status = http_status;
    phi__fault_keep(arena, &out->code); /* headers are borrowed only until now */
    phi__fault_keep(arena, &out->message);
    phi__fault_keep(arena, &out->request_id);
}

/* ---- for decoders ---- */

PHI__FN void phi__classify_event(phi__assembly *a, phi_str json) {
    phi_arena_mark mark = phi_arena_save(&a->scratch);
    phi__fault f;
    phi_failure failure;
    memset(&f, 0, sizeof f);
    memset(&failure, 0, sizeof failure);
    phi__fault_read(&f, &a->scratch, json);
    phi__fault_decide(&f, NULL, PHI__LIT(""), &failure);
    phi__assembly_fail_with(a, &failure);
    phi_arena_reset(&a->scratch, mark);
}

PHI__FN void phi__classify_body(phi__assembly *a, phi_str body) {
    phi_str text = phi__str_trim(body);
    if (text.len > 0 && text.at[0] == '<') {
        phi_str title = phi__fault_title(phi__str(text.at, phi__min(text.len, 65536)));
        phi__buf words;
        phi__buf_init(&words, a->memory);
        phi__buf_text(&words, "the server sent a web page instead of an answer");
        if (title.len > 0) phi__buf_text(&words, ": ");
        title.len = phi__utf8_cut(title, PHI__FAULT_SNIPPET_MOST);
        phi__utf8_repair(&words, title);
        phi__buf_text(&words, ". Is the base URL right?");
        phi__assembly_fail(a, PHI_FAILURE_INVALID_REQUEST, false, PHI__LIT("web_page"),
                           phi__buf_str(&words));
        phi__buf_free(&words);
    } else if (text.len == 0)
        phi__assembly_fail(a, PHI_FAILURE_NETWORK, true, PHI__LIT("truncated"),
                           PHI__LIT("the server sent an empty answer"));
    else
        phi__classify_event(a, text);
}

PHI__FN void phi__classify_stop(phi__assembly *a, phi_failure_kind kind, bool retryable,
                                phi_str word) {
    char words[200];
    size_t len = phi__utf8_cut(word, 80), at = sizeof "the model stopped with the reason \"" - 1;
    if (kind == PHI_FAILURE_CONTENT_FILTER) {
        phi__assembly_fail(a, kind, retryable, word,
                           PHI__LIT("the answer was stopped by the provider's content filter"));
        return;
    }
    memcpy(words, "the model stopped with the reason \"", at);
    if (len > 0) memcpy(words + at, word.at, len);
    words[at + len] = '"';
    phi__assembly_fail(a, kind, retryable, word, phi__str(words, at + len + 1));
}

PHI__FN void phi__classify_truncated(phi__assembly *a, bool heard) {
    phi__assembly_fail(a, PHI_FAILURE_NETWORK, true, PHI__LIT("truncated"),
                       heard ? PHI__LIT("the answer broke off: the stream ended without its end "
                                        "marker")
                             : PHI__LIT("the server ended the stream without an answer"));
}
#undef PHI__FAULT_BODY_MOST
#undef PHI__FAULT_WORDS_MOST
#undef PHI__FAULT_SNIPPET_MOST

/* ---- src/wire/claude.c ---- */

/* claude.c - the table of Claude models; wire.md part 2, as of November 2026. */

typedef struct phi__claude_row {
    const char *family; /* "" for all */
    uint32_t from, to;  /* versions, both included */
    phi__claude is;     /* version is filled in */
} phi__claude_row;

/* The first row that fits decides. */
static const phi__claude_row phi__claude_rows[] = {
    {"fable", 500, 999, {0, true, true, true, PHI__CLAUDE_OFF_CANNOT, 128000}},
    {"opus", 505, 505, {0, true, true, true, PHI__CLAUDE_OFF_CANNOT, 128000}},
    {"sonnet", 505, 505, {0, true, true, false, PHI__CLAUDE_OFF_BETWEEN, 128000}},
    {"", 500, 9999, {0, true, true, false, PHI__CLAUDE_OFF_DISABLED, 128000}},
    {"", 407, 499, {0, true, true, false, PHI__CLAUDE_OFF_OMIT, 128000}},
    {"", 406, 406, {0, true, false, false, PHI__CLAUDE_OFF_OMIT, 128000}},
    {"opus", 400, 401, {0, false, false, false, PHI__CLAUDE_OFF_OMIT, 32000}},
    {"", 307, 405, {0, false, false, false, PHI__CLAUDE_OFF_OMIT, 64000}},
    {"", 305, 306, {0, false, false, false, PHI__CLAUDE_OFF_OMIT, 8192}},
    {"", 1, 304, {0, false, false, false, PHI__CLAUDE_OFF_OMIT, 4096}},
};

static bool phi__claude_digit(phi_str s, size_t at) {
    return at < s.len && s.at[at] >= '0' && s.at[at] <= '9';
}

/* A number of one or two digits at *at, which moves on; a longer one is a date and no version. */
static bool phi__claude_number(phi_str s, size_t *at, uint32_t *out) {
    size_t i = *at;
    uint32_t n = 0;
    while (phi__claude_digit(s, i) && i - *at < 3) n = n * 10 + (uint32_t)(s.at[i++] - '0');
    if (i == *at || i - *at > 2) return false;
    *at = i;
    *out = n;
    return true;
}

/* The version in "4-6-20260101", "3-7-sonnet", "4.5" or "4". */
static uint32_t phi__claude_version(phi_str s) {
    uint32_t major = 0, minor = 0;
    size_t at = 0;
    if (!phi__claude_number(s, &at, &major)) return 0;
    if (at < s.len && (s.at[at] == '-' || s.at[at] == '.')) {
        at++;
        if (!phi__claude_number(s, &at, &minor)) minor = 0;
    }
    return major * 100 + minor;
}

PHI__FN phi__claude phi__claude_of(phi_str id) {
    phi__claude out;
    phi_str rest, family;
    size_t at = phi__str_find(id, 0, "claude-"), i;
    uint32_t version;
    memset(&out, 0, sizeof out);
    if (at == SIZE_MAX) return out;
    rest = phi__str(id.at + at + 7, id.len - at - 7);
    family = rest;
    if (phi__claude_digit(rest, 0)) { /* the old order: claude-3-7-sonnet */
        version = phi__claude_version(rest);
        family.len = 0;
    } else {
        size_t dash = phi__str_find(rest, 0, "-");
        if (dash == SIZE_MAX) return out;
        family.len = dash;
        version = phi__claude_version(phi__str(rest.at + dash + 1, rest.len - dash - 1));
    }
    for (i = 0; version != 0 && i < PHI__COUNT(phi__claude_rows); i++) {
        const phi__claude_row *row = &phi__claude_rows[i];
        if (row->family[0] != '\0' && !phi__str_is(family, row->family)) continue;
        if (version < row->from || version > row->to) continue;
        out = row->is;
        out.version = version;
        return out;
    }
    return out;
}

/* ---- src/wire/encoder.c ---- */

/* encoder.c - drives a codec over a transcript, a message a unit, and keeps what it rendered.

   What a provider would refuse is repaired here, in what is sent and not in the log: a result
   without its call, or a second one, is left out; a call without a result gets one before the next
   message. */


enum { PHI__ENCODER_HEAD, PHI__ENCODER_ITEMS, PHI__ENCODER_TAIL, PHI__ENCODER_DONE };

/* A bigger array of the same elements in the arena; the old one stays until the arena is reset. */
static void *phi__encoder_grow(phi__encoder *e, void *old, size_t count, size_t *cap, size_t size) {
    size_t now = *cap == 0 ? 32 : *cap * 2;
    void *out;
    if (count < *cap) return old;
    out = e->failed ? NULL : phi_arena_alloc(e->arena, phi__mul(now, size));
    if (out == NULL) {
        e->failed = true;
        return NULL;
    }
    if (count > 0) memcpy(out, old, count * size);
    *cap = now;
    return out;
}

/* ---- calls and their results ---- */

static bool phi__encoder_is_call(const phi_content *c) {
    return c->kind == PHI_CONTENT_TOOL_CALL && !c->incomplete;
}

static void phi__encoder_open_calls(phi__encoder *e, size_t at) {
    const phi_message *message = e->ask->items[at].message;
    size_t i = 0;
    while (i < message->content_count && !phi__encoder_is_call(&message->content[i])) i++;
    if (i == message->content_count) return;
    e->had_calls = true;
    if (e->answered_cap < message->content_count) {
        e->answered_cap = phi__max(message->content_count, 16);
        e->answered = (uint8_t *)phi_arena_alloc(e->arena, e->answered_cap);
        if (e->answered == NULL) {
            e->failed = true;
            return;
        }
    }
    memset(e->answered, 0, message->content_count);
    e->calls_item = at;
    e->results_from = at + 1;
    e->next_call = i;
}

/* Results mostly come in the order of their calls, so the search goes round from the last one. */
static bool phi__encoder_answers(phi__encoder *e, const phi_message *result) {
    const phi_message *calls;
    size_t n, i;
    if (e->calls_item == SIZE_MAX) return false;
    calls = e->ask->items[e->calls_item].message;
    for (n = 0; n < calls->content_count; n++) {
        i = (e->next_call + n) % calls->content_count;
        if (e->answered[i] || !phi__encoder_is_call(&calls->content[i])) continue;
        if (!phi_str_equal(calls->content[i].id, result->tool_call_id)) continue;
        e->answered[i] = 1;
        e->next_call = (i + 1) % calls->content_count;
        return true;
    }
    return false;
}

static void phi__encoder_close_calls(phi__encoder *e) {
    size_t item = e->calls_item, i;
    const phi_message *message;
    if (item == SIZE_MAX) return;
    message = e->ask->items[item].message;
    e->fill.refuses = true; /* what was added cannot be added again */
    for (i = 0; i < message->content_count; i++)
        if (phi__encoder_is_call(&message->content[i]) && !e->answered[i])
            e->codec->missing(e, item, i);
    e->codec->after_results(e, e->results_from, e->at);
    e->fill.refuses = false;
    e->calls_item = SIZE_MAX;
}

/* Asks the codec for an item; again, when its long texts have been filled in. */
static void phi__encoder_put(phi__encoder *e) {
    e->codec->item(e, e->at);
    if (e->fill.going || e->failed) return;
    if (e->ask->items[e->at].message->role == PHI_ROLE_ASSISTANT) phi__encoder_open_calls(e, e->at);
    e->at++;
}

static void phi__encoder_item(phi__encoder *e) {
    const phi_message *message = e->ask->items[e->at].message;
    bool sent = message->role != PHI_ROLE_EXTENSION;
    if (message->role == PHI_ROLE_TOOL_RESULT)
        sent = phi__encoder_answers(e, message);
    else if (sent)
        phi__encoder_close_calls(e);
    if (sent)
        phi__encoder_put(e);
    else
        e->at++;
}

/* ---- addresses ---- */

/* Without control characters and blanks at the ends: a line break would end a header. */
static bool phi__encoder_clean(phi__encoder *e, phi_str from, phi_str *out) {
    char *to = phi__arena_bytes(e->arena, phi__add(from.len, 1));
    size_t i, n = 0;
    if (to == NULL) return false;
    from = phi__str_trim(from);
    for (i = 0; i < from.len; i++)
        if ((unsigned char)from.at[i] >= 0x20 && from.at[i] != 0x7f) to[n++] = from.at[i];
    to[n] = '\0';
    *out = phi__str(to, n);
    return true;
}

static bool phi__encoder_ends(phi_str s, const char *end) {
    size_t n = strlen(end);
    return s.len >= n && memcmp(s.at + s.len - n, end, n) == 0;
}

/* Whether a url is scheme and host only. */
static bool phi__encoder_bare(phi_str url) {
    size_t at = phi__str_find(url, 0, "://");
    return phi__str_find(url, at == SIZE_MAX ? 0 : at + 3, "/") == SIZE_MAX;
}

static void phi__encoder_seal(phi__encoder *e) {
    e->request.method = PHI__LIT("POST");
    e->request.headers = e->headers;
    e->request.header_count = e->header_count;
    e->request.pieces = e->pieces;
    e->request.piece_count = e->count;
    phi__request_seal(&e->request);
}

/* ---- for codecs ---- */

PHI__FN void phi__encode_piece(phi__encoder *e, phi_str json) {
    phi__piece *pieces;
    if (json.len == 0 || e->failed) return;
    pieces = (phi__piece *)phi__encoder_grow(e, e->pieces, e->count, &e->cap, sizeof *pieces);
    if (pieces == NULL) return;
    e->pieces = pieces;
    pieces[e->count].at = json.at;
    pieces[e->count].len = json.len;
    pieces[e->count].start = 0;
    e->count++;
}

PHI__FN void phi__encode_glue(phi__encoder *e, const char *literal) {
    phi__encode_piece(e, phi_str_of(literal));
}

PHI__FN void phi__encode_scratch(phi__encoder *e) {
    phi_str copy;
    if (e->scratch.failed || !phi__arena_str(e->arena, phi__buf_str(&e->scratch), &copy))
        e->failed = true;
    else
        phi__encode_piece(e, copy);
    phi__buf_clear(&e->scratch);
}

PHI__FN bool phi__encode_kept(phi__encoder *e, size_t item, uint32_t block, uint32_t form,
                              phi_str *json) {
    phi__rendered **list = e->ask->items[item].rendered;
    const phi__rendered *r = list != NULL ? *list : e->last_item == item ? &e->last : NULL;
    for (; r != NULL; r = r->next) {
        if (r->form != form || r->block != block) continue;
        *json = r->json;
        return true;
    }
    phi__buf_clear(&e->scratch);
    e->fill.count = 0;
    return false;
}

PHI__FN bool phi__encode_hole(phi__encoder *e, phi_str source, bool base64) {
    phi__fill *f = &e->fill;
    if (f->refuses || source.len <= PHI__FILL_LONG || f->count == PHI__FILL_HOLES) return false;
    f->holes[f->count].offset = e->scratch.len;
    f->holes[f->count].source = source;
    f->holes[f->count].base64 = base64;
    f->count++;
    return true;
}

/* Beside its message, or, where that keeps none, until the next one. */
PHI__FN void phi__encode_store(phi__encoder *e, size_t item, uint32_t block, uint32_t form,
                               phi_str json) {
    const phi__item *kept = &e->ask->items[item];
    phi__rendered *r = &e->last;
    if (kept->rendered != NULL) {
        r = (phi__rendered *)phi_arena_alloc(kept->arena, sizeof *r);
        if (r == NULL) {
            e->failed = true;
            return;
        }
    }
    r->form = form;
    r->block = block;
    r->json = json;
    r->next = NULL;
    e->last_item = item;
    if (kept->rendered == NULL) return;
    r->next = *kept->rendered;
    *kept->rendered = r;
}

PHI__FN bool phi__encode_keep(phi__encoder *e, size_t item, uint32_t block, uint32_t form,
                              phi_str *json) {
    const phi__item *kept = &e->ask->items[item];
    phi_arena *arena = kept->rendered != NULL ? kept->arena : e->arena;
    phi_arena_mark mark = phi_arena_save(arena);
    if (e->scratch.failed) e->failed = true;
    if (!e->failed && e->fill.count > 0) {
        phi__fill_begin(e, item, block, form);
        return false;
    }
    if (!e->failed && !phi__arena_str(arena, phi__buf_str(&e->scratch), json)) e->failed = true;
    phi__buf_clear(&e->scratch);
    if (!e->failed) phi__encode_store(e, item, block, form, *json);
    if (e->failed)
        phi_arena_reset(arena, mark);
    else
        e->fresh += json->len;
    return !e->failed;
}

PHI__FN void phi__encode_mark(phi__encoder *e, size_t back, const char *literal) {
    size_t at = e->mark_piece, i;
    phi__piece *pieces;
    phi_str end;
    if (at == SIZE_MAX || e->failed) return;
    end = phi__str(e->pieces[at].at + e->pieces[at].len - back, back);
    phi__encode_glue(e, literal);
    phi__encode_piece(e, end);
    if (e->failed) return;
    pieces = e->pieces;
    pieces[at].len -= back;
    for (i = e->count - 1; i > at + 2; i--) pieces[i] = pieces[i - 2];
    pieces[at + 1].at = literal;
    pieces[at + 1].len = strlen(literal);
    pieces[at + 2].at = end.at;
    pieces[at + 2].len = end.len;
}

PHI__FN void phi__encode_header(phi__encoder *e, const char *name, phi_str value) {
    phi__header header, *headers;
    size_t i;
    if (e->failed) return;
    if (!phi__encoder_clean(e, phi_str_of(name), &header.name) ||
        !phi__encoder_clean(e, value, &header.value)) {
        e->failed = true;
        return;
    }
    if (header.name.len == 0) return;
    for (i = 0; i < e->header_count; i++)
        if (phi__str_is_nocase(e->headers[i].name, header.name.at)) {
            e->headers[i] = header;
            return;
        }
    headers = (phi__header *)phi__encoder_grow(e, e->headers, e->header_count, &e->header_cap,
                                               sizeof *headers);
    if (headers == NULL) return;
    e->headers = headers;
    headers[e->header_count++] = header;
}

PHI__FN void phi__encode_model_headers(phi__encoder *e) {
    const phi_model *model = e->ask->model;
    size_t i;
    for (i = 0; i < model->header_count; i++)
        if (model->headers[i].name != NULL)
            phi__encode_header(e, model->headers[i].name, phi_str_of(model->headers[i].value));
}

PHI__FN void phi__encode_url(phi__encoder *e, const char *version, bool only_bare,
                             const char *path) {
    phi_str base = phi__str_trim(phi_str_of(e->ask->model->base_url)), query = {NULL, 0};
    size_t at = phi__str_find(base, 0, "?");
    phi__buf *out = &e->scratch;
    if (at != SIZE_MAX) {
        query = phi__str(base.at + at, base.len - at);
        base.len = at;
    }
    while (base.len > 0 && base.at[base.len - 1] == '/') base.len--;
    phi__buf_clear(out);
    phi__buf_add_str(out, base);
    if (!phi__encoder_ends(base, path)) {
        if (only_bare ? phi__encoder_bare(base) : !phi__encoder_ends(base, version))
            phi__buf_text(out, version);
        phi__buf_text(out, path);
    }
    phi__buf_add_str(out, query);
    if (out->failed || !phi__encoder_clean(e, phi__buf_str(out), &e->request.url)) e->failed = true;
    phi__buf_clear(out);
}

/* ---- for the loop ---- */

PHI__FN const phi__codec *phi__codec_find(phi_str protocol) {
    static const struct phi__codec_alias {
        const char *name;
        const phi__codec *(*codec)(void);
    } aliases[] = {{PHI_PROTOCOL_ANTHROPIC, phi__anthropic_codec},
                   {"anthropic", phi__anthropic_codec},
                   {PHI_PROTOCOL_OPENAI_CHAT, phi__openai_chat_codec},
                   {"open_ai_completions", phi__openai_chat_codec},
                   {"openai", phi__openai_chat_codec}};
    size_t i;
    for (i = 0; i < PHI__COUNT(aliases); i++)
        if (phi__str_is_nocase(protocol, aliases[i].name)) return aliases[i].codec();
    return NULL;
}

PHI__FN uint64_t phi__origin_of(phi_str model, phi_str provider, phi_str protocol) {
    const phi__codec *codec = phi__codec_find(protocol);
    uint64_t hash;
    if (model.len == 0 || provider.len == 0 || codec == NULL) return 0;
    hash = phi__hash(phi_str_of(codec->protocol), 0);
    hash = phi__hash(provider, hash);
    hash = phi__hash(model, hash);
    return hash != 0 ? hash : 1;
}

PHI__FN void phi__encoder_begin(phi__encoder *e, const phi__codec *codec, const phi__ask *ask,
                                phi_arena *arena) {
    memset(e, 0, sizeof *e);
    e->codec = codec;
    e->ask = ask;
    e->arena = arena;
    e->calls_item = SIZE_MAX;
    e->mark_piece = SIZE_MAX;
    e->last_item = SIZE_MAX;
    e->origin = phi__origin_of(phi_str_of(ask->model->id), phi_str_of(ask->model->provider),
                               phi_str_of(ask->model->protocol));
    phi__buf_init(&e->scratch, arena->memory);
    phi__buf_init(&e->fill.slice, arena->memory);
}

/* Room for the pieces of a usual transcript, so that the list is not copied as it grows. */
static void phi__encoder_room(phi__encoder *e) {
    e->cap = phi__add(16, phi__mul(e->ask->item_count, 2));
    e->pieces = (phi__piece *)phi_arena_alloc(e->arena, phi__mul(e->cap, sizeof *e->pieces));
    if (e->pieces == NULL) e->failed = true;
}

/* Items, as far as the units go; false: they are used up. */
static bool phi__encoder_items(phi__encoder *e, size_t units) {
    while (!e->failed) {
        if (e->fill.going) {
            if (!phi__fill_advance(e, &units)) return false;
            if (!e->failed) phi__encoder_put(e);
            continue;
        }
        if (e->at == e->ask->item_count) {
            e->stage = PHI__ENCODER_TAIL;
            return true;
        }
        if (units == 0) return false;
        e->fresh = 0;
        phi__encoder_item(e);
        units -= phi__min(units, 1 + e->fresh / 1024);
    }
    return true;
}

PHI__FN phi_status phi__encoder_advance(phi__encoder *e, size_t units) {
    if (e->stage == PHI__ENCODER_HEAD) {
        e->fill.refuses = true;
        phi__encoder_room(e);
        e->codec->address(e);
        e->codec->head(e);
        e->fill.refuses = false;
        e->stage = PHI__ENCODER_ITEMS;
    }
    if (e->stage == PHI__ENCODER_ITEMS && !phi__encoder_items(e, units)) return PHI_BUSY;
    if (e->stage == PHI__ENCODER_TAIL && !e->failed) {
        phi__encoder_close_calls(e);
        e->codec->tail(e);
        if (!e->failed) phi__encoder_seal(e);
        e->stage = PHI__ENCODER_DONE;
    }
    if (e->scratch.failed) e->failed = true;
    return e->failed ? PHI_NO_MEMORY : PHI_OK;
}

PHI__FN void phi__encoder_free(phi__encoder *e) {
    if (e->scratch.memory == NULL) return;
    phi__buf_free(&e->scratch);
    phi__fill_drop(e);
}

/* ---- src/wire/fill.c ---- */

/* fill.c - first the length of what the holes will hold, then the bytes. */


PHI__FN void phi__fill_begin(phi__encoder *e, size_t item, uint32_t block, uint32_t form) {
    phi__fill *f = &e->fill;
    const phi__item *kept = &e->ask->items[item];
    f->going = true;
    f->measured = false;
    f->item = item;
    f->block = block;
    f->form = form;
    f->hole = f->done = f->len = 0;
    f->total = e->scratch.len;
    f->out = NULL;
    f->arena = kept->rendered != NULL ? kept->arena : e->arena;
}

/* The next slice as it will stand in the rendering; in f->slice. */
static bool phi__fill_slice(phi__encoder *e) {
    phi__fill *f = &e->fill;
    const phi__hole *hole = &f->holes[f->hole];
    phi_str rest = phi__str(hole->source.at + f->done, hole->source.len - f->done);
    size_t n =
        hole->base64 ? phi__min(rest.len, PHI__FILL_SLICE) : phi__utf8_cut(rest, PHI__FILL_SLICE);
    phi__buf_clear(&f->slice);
    if (hole->base64)
        phi__render_base64_now(&f->slice, phi__str(rest.at, n));
    else
        phi__json_put_part(&f->slice, phi__str(rest.at, n));
    f->done += n;
    if (f->slice.failed) e->failed = true;
    return !e->failed;
}

/* Past the end of a hole: the next one. */
static void phi__fill_next(phi__fill *f) {
    if (f->done < f->holes[f->hole].source.len) return;
    f->hole++;
    f->done = 0;
}

/* The memory for all of it, now that its length is known. */
static bool phi__fill_take(phi__encoder *e) {
    phi__fill *f = &e->fill;
    f->measured = true;
    f->hole = f->done = 0;
    f->mark = phi_arena_save(f->arena);
    f->out = phi__arena_bytes(f->arena, f->total);
    if (f->out == NULL) e->failed = true;
    return f->out != NULL;
}

static void phi__fill_write(phi__fill *f, const char *at, size_t len) {
    if (len > 0) memcpy(f->out + f->len, at, len);
    f->len += len;
}

/* What the codec wrote between the hole before and this one. */
static void phi__fill_write_scratch(phi__encoder *e) {
    phi__fill *f = &e->fill;
    size_t from = f->hole > 0 ? f->holes[f->hole - 1].offset : 0;
    size_t to = f->hole < f->count ? f->holes[f->hole].offset : e->scratch.len;
    phi__fill_write(f, e->scratch.at + from, to - from);
}

static void phi__fill_end(phi__encoder *e) {
    phi__fill *f = &e->fill;
    phi_str json = phi__str(f->out, f->len);
    PHI_ASSERT(f->len == f->total);
    f->out = NULL; /* it is the message's now */
    f->going = false;
    f->count = 0;
    phi__buf_clear(&e->scratch);
    phi__encode_store(e, f->item, f->block, f->form, json);
}

PHI__FN bool phi__fill_advance(phi__encoder *e, size_t *units) {
    phi__fill *f = &e->fill;
    while (!e->failed) {
        if (f->hole == f->count && !f->measured && !phi__fill_take(e)) break;
        if (f->measured && f->done == 0) phi__fill_write_scratch(e);
        if (f->hole == f->count) {
            phi__fill_end(e);
            break;
        }
        if (!phi__fill_slice(e)) break;
        if (f->measured)
            phi__fill_write(f, f->slice.at, f->slice.len);
        else
            f->total = phi__add(f->total, f->slice.len);
        phi__fill_next(f);
        *units -= phi__min(*units, PHI__FILL_SLICE / 1024);
        if (*units == 0) return false;
    }
    return true;
}

PHI__FN void phi__fill_drop(phi__encoder *e) {
    phi__fill *f = &e->fill;
    if (f->out != NULL) phi_arena_reset(f->arena, f->mark);
    phi__buf_free(&f->slice);
    f->out = NULL;
    f->going = false;
    f->count = 0;
}

/* ---- src/wire/openai_chat.c ---- */

/* openai_chat.c - requests of the OpenAI Chat Completions API, and of all who speak it.

   Each message is rendered whole and kept; what servers do differently are bits of the model's
   quirks, and those bits that change a message are part of the form it is kept under.
   wire.md parts 3 and 9. */


/* What a rendering depends on beside its message: bits of phi__rendered.form, above the quirks. */
enum {
    PHI__CHAT_FORM = 1 << 30,
    PHI__CHAT_ORIGIN = 1 << 29,   /* minted by the same model: reasoning goes back */
    PHI__CHAT_THINKING = 1 << 28, /* this request thinks */
    PHI__CHAT_IMAGES = 1 << 27    /* the images of a tool result */
};

/* The quirks that change how a message is rendered. */
#define PHI__CHAT_FORM_QUIRKS                                                                      \
    (PHI_QUIRK_TOOL_NAME_IN_RESULT | PHI_QUIRK_REPLAY_REASONING | PHI_QUIRK_REASONING_REQUIRED |   \
     PHI_QUIRK_EMPTY_CONTENT | PHI_QUIRK_ID_9 | PHI_QUIRK_THINKING_PARTS |                         \
     PHI_QUIRK_CACHE_CONTROL | PHI_QUIRK_NO_IMAGES)

#define PHI__CHAT_MARK ",\"cache_control\":{\"type\":\"ephemeral\"}"
#define PHI__CHAT_KEY_MOST 64 /* bytes of prompt_cache_key; wire.md part 3 */

static bool phi__chat_quirk(const phi__encoder *e, uint32_t quirk) {
    return (e->ask->model->quirks & quirk) != 0;
}

static phi__id_rule phi__chat_id_rule(const phi__encoder *e) {
    return phi__chat_quirk(e, PHI_QUIRK_ID_9) ? PHI__ID_9 : PHI__ID_40;
}

static bool phi__chat_thinks(const phi__encoder *e) {
    return e->ask->model->reasoning && e->ask->thinking != PHI_THINKING_OFF;
}

/* ---- content ---- */

static void phi__chat_text_part(phi__encoder *e, phi_str text) {
    phi__buf *out = &e->scratch;
    phi__json_put_comma(out);
    phi__buf_text(out, "{\"type\":\"text\"");
    phi__render_text_member(e, "text", text);
    phi__buf_char(out, '}');
}

static void phi__chat_image_part(phi__encoder *e, const phi_content *c) {
    phi__buf *out = &e->scratch;
    phi__json_put_comma(out);
    phi__buf_text(out, "{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:");
    phi__json_put_part(out, c->mime_type);
    phi__buf_text(out, ";base64,");
    phi__render_base64(e, c->data);
    phi__buf_text(out, "\"}}");
}

static bool phi__chat_is_text(const phi_content *c) {
    return c->kind == PHI_CONTENT_TEXT && !phi__render_blank(c->text);
}

/* The texts of a message as the inside of one JSON string, joined by line feeds; whether there was
   any. Images that the model does not take are a line as well. */
static bool phi__chat_join_text(phi__encoder *e, const phi_message *m) {
    bool any = false, omitted = false;
    size_t i;
    for (i = 0; i < m->content_count; i++) {
        const phi_content *c = &m->content[i];
        bool stand_in = phi__render_omits(e, c);
        if (phi__chat_is_text(c) || (stand_in && !omitted)) {
            if (any) phi__buf_text(&e->scratch, "\\n");
            phi__render_text(e, stand_in ? PHI__LIT(PHI__RENDER_NO_IMAGE) : c->text);
            any = true;
        }
        omitted = stand_in;
    }
    return any;
}

static void phi__chat_parts(phi__encoder *e, const phi_message *m) {
    bool omitted = false;
    size_t i;
    phi__buf_char(&e->scratch, '[');
    for (i = 0; i < m->content_count; i++) {
        const phi_content *c = &m->content[i];
        bool is_image = phi__render_is_image(c);
        if (phi__chat_is_text(c))
            phi__chat_text_part(e, c->text);
        else if (is_image && !phi__render_omits(e, c))
            phi__chat_image_part(e, c);
        else if (is_image && !omitted)
            phi__chat_text_part(e, PHI__LIT(PHI__RENDER_NO_IMAGE));
        omitted = is_image;
    }
    phi__buf_char(&e->scratch, ']');
}

/* Nothing at all where nothing of it may be sent. */
static void phi__chat_user(phi__encoder *e, const phi_message *m) {
    bool image = phi__render_sends_image(e, m), text = image || phi__render_omits_any(e, m);
    size_t i;
    for (i = 0; i < m->content_count && !text; i++) text = phi__chat_is_text(&m->content[i]);
    if (!text) return;
    phi__buf_text(&e->scratch, "{\"role\":\"user\",\"content\":");
    if (phi__chat_quirk(e, PHI_QUIRK_CACHE_CONTROL) || image)
        phi__chat_parts(e, m);
    else {
        phi__buf_char(&e->scratch, '"');
        (void)phi__chat_join_text(e, m);
        phi__buf_char(&e->scratch, '"');
    }
    phi__buf_char(&e->scratch, '}');
}

/* ---- the assistant ---- */

static bool phi__chat_is_call(const phi_content *c) {
    return c->kind == PHI_CONTENT_TOOL_CALL && !c->incomplete;
}

static bool phi__chat_is_thinking(const phi_content *c) {
    return c->kind == PHI_CONTENT_THINKING && !c->redacted && !phi__render_blank(c->text);
}

/* Thinking as a part before the text, as Mistral wants it back. */
static bool phi__chat_thinking_parts(phi__encoder *e, const phi_message *m) {
    phi__buf *out = &e->scratch;
    bool any = false;
    size_t i;
    for (i = 0; i < m->content_count; i++) any = any || phi__chat_is_thinking(&m->content[i]);
    if (!any) return false;
    phi__buf_char(out, '[');
    for (i = 0; i < m->content_count; i++) {
        const phi_content *c = &m->content[i];
        if (phi__chat_is_thinking(c)) {
            phi__json_put_comma(out);
            phi__buf_text(out, "{\"type\":\"thinking\",\"thinking\":[");
            phi__chat_text_part(e, c->text);
            phi__buf_text(out, "]}");
        } else if (phi__chat_is_text(c))
            phi__chat_text_part(e, c->text);
    }
    phi__buf_char(out, ']');
    return true;
}

static void phi__chat_calls(phi__encoder *e, const phi_message *m) {
    phi__buf *out = &e->scratch;
    bool open = false;
    size_t i;
    for (i = 0; i < m->content_count; i++) {
        const phi_content *c = &m->content[i];
        if (!phi__chat_is_call(c)) continue;
        phi__buf_text(out, open ? ",{\"id\":" : ",\"tool_calls\":[{\"id\":");
        open = true;
        phi__render_id(out, c->id, phi__chat_id_rule(e));
        phi__buf_text(out, ",\"type\":\"function\",\"function\":{\"name\":");
        phi__render_name(out, c->name, 64);
        phi__render_text_member(e, "arguments", phi__render_arguments(e, c->arguments));
        phi__buf_text(out, "}}");
    }
    if (open) phi__buf_char(out, ']');
}

/* What reasoning_details were minted with goes back verbatim, in place of the text. */
static bool phi__chat_put_details(phi__buf *out, const phi_message *m) {
    static const char start[] = "{\"reasoning_details\":[";
    bool any = false;
    size_t i;
    for (i = 0; i < m->content_count; i++) {
        phi_str replay = m->content[i].replay;
        if (m->content[i].kind != PHI_CONTENT_THINKING || !phi__str_starts(replay, start)) continue;
        if (replay.len < sizeof start + 2 || replay.at[replay.len - 1] != '}') continue;
        phi__buf_text(out, any ? "," : ",\"reasoning_details\":[");
        phi__buf_add(out, replay.at + sizeof start - 1, replay.len - (sizeof start - 1) - 2);
        any = true;
    }
    if (any) phi__buf_char(out, ']');
    return any;
}

/* The reasoning text, in the field it came in. */
static void phi__chat_put_reasoning(phi__encoder *e, const phi_message *m, bool same) {
    static const char *const fields[] = {"reasoning_content", "reasoning", "reasoning_text"};
    phi__buf *out = &e->scratch;
    bool required = phi__chat_quirk(e, PHI_QUIRK_REASONING_REQUIRED) && phi__chat_thinks(e);
    bool any = false;
    size_t i, field = 0;
    if (same && phi__chat_quirk(e, PHI_QUIRK_REPLAY_REASONING)) {
        if (phi__chat_put_details(out, m)) return;
        for (i = 0; i < m->content_count; i++) {
            const phi_content *c = &m->content[i];
            if (!phi__chat_is_thinking(c)) continue;
            if (any)
                phi__buf_text(out, "\\n");
            else {
                for (field = PHI__COUNT(fields) - 1; field > 0; field--)
                    if (phi__str_is(c->signature, fields[field])) break;
                phi__json_put_key(out, phi_str_of(fields[field]));
                phi__buf_char(out, '"');
            }
            phi__render_text(e, c->text);
            any = true;
        }
        if (any) phi__buf_char(out, '"');
    }
    if (required && !any) phi__buf_text(out, ",\"reasoning_content\":\"\"");
}

static void phi__chat_assistant(phi__encoder *e, const phi_message *m, bool same) {
    phi__buf *out = &e->scratch;
    bool text = false, calls = false;
    size_t i;
    for (i = 0; i < m->content_count; i++) {
        text = text || phi__chat_is_text(&m->content[i]);
        calls = calls || phi__chat_is_call(&m->content[i]);
    }
    if (!text && !calls) return;
    phi__buf_text(out, "{\"role\":\"assistant\",\"content\":");
    if (same && phi__chat_quirk(e, PHI_QUIRK_THINKING_PARTS) && phi__chat_thinking_parts(e, m)) {
        /* written */
    } else if (text) {
        phi__buf_char(out, '"');
        (void)phi__chat_join_text(e, m);
        phi__buf_char(out, '"');
    } else
        phi__buf_text(out, phi__chat_quirk(e, PHI_QUIRK_EMPTY_CONTENT) ? "\"\"" : "null");
    phi__chat_put_reasoning(e, m, same);
    phi__chat_calls(e, m);
    phi__buf_char(out, '}');
}

/* ---- tool results ---- */

static void phi__chat_result(phi__encoder *e, const phi_message *m) {
    phi__buf *out = &e->scratch;
    phi__buf_text(out, "{\"role\":\"tool\",\"tool_call_id\":");
    phi__render_id(out, m->tool_call_id, phi__chat_id_rule(e));
    if (phi__chat_quirk(e, PHI_QUIRK_TOOL_NAME_IN_RESULT)) {
        phi__buf_text(out, ",\"name\":");
        phi__render_name(out, m->tool_name, 64);
    }
    phi__buf_text(out, ",\"content\":\"");
    if (m->is_error) phi__buf_text(out, "Error: ");
    if (!phi__chat_join_text(e, m))
        phi__buf_text(out, phi__render_sends_image(e, m) ? "(see the image below)" : "(no output)");
    phi__buf_text(out, "\"}");
}

static void phi__chat_result_images(phi__encoder *e, const phi_message *m) {
    phi__buf *out = &e->scratch;
    size_t i;
    phi__buf_text(out, "{\"type\":\"text\",\"text\":\"Image returned by tool ");
    phi__json_put_part(out, m->tool_name);
    phi__buf_text(out, ":\"}");
    for (i = 0; i < m->content_count; i++)
        if (phi__render_is_image(&m->content[i]) && !phi__render_omits(e, &m->content[i]))
            phi__chat_image_part(e, &m->content[i]);
}

/* ---- messages ---- */

/* Before a message: the comma, and what some servers want between a tool and a user. */
static void phi__chat_before(phi__encoder *e, phi_role role) {
    if (role == PHI_ROLE_USER && e->last_role == PHI_ROLE_TOOL_RESULT &&
        phi__chat_quirk(e, PHI_QUIRK_ASSISTANT_AFTER_TOOL))
        phi__encode_glue(e, ",{\"role\":\"assistant\",\"content\":\"I have the results.\"}");
    if (e->last_role != (phi_role)0) phi__encode_glue(e, ",");
    e->last_role = role;
}

/* The images of a result follow all results, when nothing can be put off any more: they are rendered
   with their result. False: not yet. */
static bool phi__chat_images_ready(phi__encoder *e, size_t at) {
    const phi_message *m = e->ask->items[at].message;
    uint32_t form = PHI__CHAT_FORM | PHI__CHAT_IMAGES;
    phi_str parts;
    if (m->role != PHI_ROLE_TOOL_RESULT || e->ask->items[at].rendered == NULL ||
        !phi__render_sends_image(e, m) || phi__encode_kept(e, at, UINT32_MAX, form, &parts))
        return true;
    phi__chat_result_images(e, m);
    return phi__encode_keep(e, at, UINT32_MAX, form, &parts);
}

static void phi__chat_item(phi__encoder *e, size_t at) {
    const phi_message *m = e->ask->items[at].message;
    bool same = m->role == PHI_ROLE_ASSISTANT && phi__render_same_origin(e, at);
    uint32_t form = PHI__CHAT_FORM | (e->ask->model->quirks & PHI__CHAT_FORM_QUIRKS);
    phi_str json;
    if (same) form |= PHI__CHAT_ORIGIN;
    if (m->role == PHI_ROLE_ASSISTANT && phi__chat_thinks(e)) form |= PHI__CHAT_THINKING;
    if (!phi__chat_images_ready(e, at)) return;
    if (!phi__encode_kept(e, at, UINT32_MAX, form, &json)) {
        if (m->role == PHI_ROLE_USER)
            phi__chat_user(e, m);
        else if (m->role == PHI_ROLE_TOOL_RESULT)
            phi__chat_result(e, m);
        else
            phi__chat_assistant(e, m, same);
        if (!phi__encode_keep(e, at, UINT32_MAX, form, &json)) return;
    }
    if (json.len == 0) return;
    phi__chat_before(e, m->role);
    phi__encode_piece(e, json);
    if (m->role == PHI_ROLE_USER && e->count > 0) e->mark_piece = e->count - 1;
}

static void phi__chat_missing(phi__encoder *e, size_t item, size_t block) {
    const phi_content *call = &e->ask->items[item].message->content[block];
    phi__buf *out = &e->scratch;
    phi__chat_before(e, PHI_ROLE_TOOL_RESULT);
    phi__buf_clear(out);
    phi__buf_text(out, "{\"role\":\"tool\",\"tool_call_id\":");
    phi__render_id(out, call->id, phi__chat_id_rule(e));
    if (phi__chat_quirk(e, PHI_QUIRK_TOOL_NAME_IN_RESULT)) {
        phi__buf_text(out, ",\"name\":");
        phi__render_name(out, call->name, 64);
    }
    phi__buf_text(out, ",\"content\":\"Error: No result provided\"}");
    phi__encode_scratch(e);
}

/* Tool messages hold no images: those of all results follow in one user message. */
static void phi__chat_after_results(phi__encoder *e, size_t from, size_t to) {
    bool open = false;
    size_t i;
    if (phi__chat_quirk(e, PHI_QUIRK_NO_IMAGES)) return;
    for (i = from; i < to; i++) {
        const phi_message *m = e->ask->items[i].message;
        uint32_t form = PHI__CHAT_FORM | PHI__CHAT_IMAGES;
        phi_str parts;
        if (m->role != PHI_ROLE_TOOL_RESULT || !phi__render_sends_image(e, m)) continue;
        if (!phi__encode_kept(e, i, UINT32_MAX, form, &parts)) {
            phi__chat_result_images(e, m);
            if (!phi__encode_keep(e, i, UINT32_MAX, form, &parts)) return;
        }
        if (open)
            phi__encode_glue(e, ",");
        else {
            phi__chat_before(e, PHI_ROLE_USER);
            phi__encode_glue(e, "{\"role\":\"user\",\"content\":[");
        }
        open = true;
        phi__encode_piece(e, parts);
    }
    if (open) phi__encode_glue(e, "]}");
}

/* ---- around the messages ---- */

/* What OpenAI's models call their levels; the first prefix that fits decides. wire.md part 3. */
static const struct phi__chat_effort {
    const char *prefix, *off, *minimal;
} phi__chat_efforts[] = {
    {"gpt-5-pro", "high", "high"}, {"gpt-5.", "none", "low"}, {"gpt-5", "minimal", "minimal"},
    {"gpt-", "none", "low"},       {"", "low", "low"},
};

static const char *phi__chat_effort_name(const phi__encoder *e) {
    const phi_model *model = e->ask->model;
    bool openai = phi__str_is(phi_str_of(model->provider), "openai");
    size_t i = 0;
    switch (e->ask->thinking) {
    case PHI_THINKING_HIGH: return "high";
    case PHI_THINKING_MEDIUM:
        return openai && phi__str_starts(phi_str_of(model->id), "gpt-5-pro") ? "high" : "medium";
    case PHI_THINKING_LOW:
        return openai && phi__str_starts(phi_str_of(model->id), "gpt-5-pro") ? "high" : "low";
    case PHI_THINKING_OFF:
    case PHI_THINKING_MINIMAL: break;
    }
    if (!openai) return e->ask->thinking == PHI_THINKING_OFF ? NULL : "low";
    while (!phi__str_starts(phi_str_of(model->id), phi__chat_efforts[i].prefix)) i++;
    return e->ask->thinking == PHI_THINKING_OFF ? phi__chat_efforts[i].off
                                                : phi__chat_efforts[i].minimal;
}

static void phi__chat_put_switch(phi__encoder *e, const char *before, const char *on,
                                 const char *off, const char *after) {
    phi__buf_text(&e->scratch, before);
    phi__buf_text(&e->scratch, phi__chat_thinks(e) ? on : off);
    phi__buf_text(&e->scratch, after);
}

static void phi__chat_put_thinking(phi__encoder *e) {
    phi__buf *out = &e->scratch;
    const char *effort = phi__chat_effort_name(e);
    if (!e->ask->model->reasoning) return;
    if (effort != NULL && phi__chat_quirk(e, PHI_QUIRK_REASONING_EFFORT))
        phi__render_member(out, "reasoning_effort", phi_str_of(effort));
    if (phi__chat_thinks(e) && phi__chat_quirk(e, PHI_QUIRK_REASONING_OBJECT)) {
        phi__buf_text(out, ",\"reasoning\":{\"effort\":\"");
        phi__buf_text(out, effort);
        phi__buf_text(out, "\"}");
    }
    if (phi__chat_quirk(e, PHI_QUIRK_REASONING_ENABLED))
        phi__chat_put_switch(e, ",\"reasoning\":{\"enabled\":", "true", "false", "}");
    if (phi__chat_quirk(e, PHI_QUIRK_THINKING_TYPE))
        phi__chat_put_switch(
            e, ",\"thinking\":{\"type\":\"", "enabled", "disabled",
            phi__chat_quirk(e, PHI_QUIRK_KEEP_THINKING) ? "\",\"clear_thinking\":false}" : "\"}");
    if (phi__chat_quirk(e, PHI_QUIRK_ENABLE_THINKING)) {
        phi__chat_put_switch(e, ",\"enable_thinking\":", "true", "false", "");
        if (phi__chat_thinks(e)) {
            phi__buf_text(out, ",\"thinking_budget\":");
            phi__buf_u64(out, phi__render_budget(e->ask->thinking));
        }
    }
    if (phi__chat_quirk(e, PHI_QUIRK_TEMPLATE_THINKING))
        phi__chat_put_switch(e, ",\"chat_template_kwargs\":{\"enable_thinking\":", "true", "false",
                             "}");
    if (phi__chat_thinks(e) && phi__chat_quirk(e, PHI_QUIRK_PROMPT_MODE))
        phi__buf_text(out, ",\"prompt_mode\":\"reasoning\"");
    if (phi__chat_quirk(e, PHI_QUIRK_REASONING_FORMAT))
        phi__buf_text(out, ",\"reasoning_format\":\"parsed\"");
}

/* Servers take at most 64 bytes: a longer id is replaced by a hash of it. */
static void phi__chat_put_cache_key(phi__encoder *e) {
    phi_str id = e->ask->session_id;
    char hash[17];
    if (id.len == 0 || e->ask->disable_cache || !phi__chat_quirk(e, PHI_QUIRK_CACHE_KEY)) return;
    if (id.len > PHI__CHAT_KEY_MOST) {
        phi__hash_hex(phi__hash(id, 3), hash);
        id = phi__str(hash, 16);
    }
    phi__render_member(&e->scratch, "prompt_cache_key", id);
}

static void phi__chat_put_tools(phi__encoder *e) {
    phi__buf *out = &e->scratch;
    phi_tool_choice choice = e->ask->tool_choice;
    size_t i;
    if (e->ask->tool_count == 0) return;
    phi__buf_text(out, choice == PHI_TOOL_CHOICE_NONE   ? ",\"tool_choice\":\"none\""
                       : choice == PHI_TOOL_CHOICE_AUTO ? ",\"tool_choice\":\"auto\""
                       : phi__chat_quirk(e, PHI_QUIRK_TOOL_CHOICE_ANY)
                           ? ",\"tool_choice\":\"any\""
                           : ",\"tool_choice\":\"required\"");
    if (phi__chat_quirk(e, PHI_QUIRK_TOOL_STREAM)) phi__buf_text(out, ",\"tool_stream\":true");
    phi__buf_text(out, ",\"tools\":[");
    for (i = 0; i < e->ask->tool_count; i++) {
        const phi__tool_view *tool = &e->ask->tools[i];
        if (i > 0) phi__buf_char(out, ',');
        phi__buf_text(out, "{\"type\":\"function\",\"function\":{\"name\":");
        phi__json_put_str(out, tool->name);
        if (!phi__render_blank(tool->description))
            phi__render_member(out, "description", tool->description);
        phi__buf_text(out, ",\"parameters\":");
        phi__encode_scratch(e);
        phi__encode_piece(e, phi__render_blank(tool->schema)
                                 ? PHI__LIT("{\"type\":\"object\",\"properties\":{}}")
                                 : tool->schema);
        phi__buf_text(out, "}}");
    }
    phi__buf_char(out, ']');
}

static void phi__chat_put_system(phi__encoder *e) {
    phi__buf *out = &e->scratch;
    if (phi__render_blank(e->ask->system_prompt)) return;
    phi__buf_text(out, phi__chat_quirk(e, PHI_QUIRK_DEVELOPER_ROLE) && e->ask->model->reasoning
                           ? "{\"role\":\"developer\",\"content\":"
                           : "{\"role\":\"system\",\"content\":");
    if (phi__chat_quirk(e, PHI_QUIRK_CACHE_CONTROL) && !e->ask->disable_cache) {
        phi__buf_text(out, "[{\"type\":\"text\"");
        phi__render_member(out, "text", e->ask->system_prompt);
        phi__buf_text(out, PHI__CHAT_MARK "}]}");
    } else {
        phi__json_put_str(out, e->ask->system_prompt);
        phi__buf_char(out, '}');
    }
    e->last_role = PHI_ROLE_ASSISTANT; /* any: a comma comes next */
}

/* Reasoning models refuse a temperature (OpenAI's do). */
static bool phi__chat_takes_temperature(const phi__encoder *e) {
    if (e->ask->temperature < 0) return false;
    return !(e->ask->model->reasoning && phi__chat_quirk(e, PHI_QUIRK_REASONING_EFFORT));
}

static void phi__chat_head(phi__encoder *e) {
    const phi__ask *ask = e->ask;
    phi__buf *out = &e->scratch;
    uint32_t most = ask->max_tokens != 0 ? ask->max_tokens : ask->model->max_tokens;
    phi__buf_clear(out);
    phi__buf_char(out, '{');
    phi__render_member(out, "model", phi_str_of(ask->model->id));
    phi__buf_text(out, ",\"stream\":true");
    if (!phi__chat_quirk(e, PHI_QUIRK_NO_STREAM_USAGE))
        phi__buf_text(out, ",\"stream_options\":{\"include_usage\":true}");
    if (phi__chat_quirk(e, PHI_QUIRK_STORE_FALSE)) phi__buf_text(out, ",\"store\":false");
    if (most != 0) {
        phi__buf_text(out, phi__chat_quirk(e, PHI_QUIRK_MAX_COMPLETION_TOKENS)
                               ? ",\"max_completion_tokens\":"
                               : ",\"max_tokens\":");
        phi__buf_u64(out, most);
    }
    if (phi__chat_takes_temperature(e)) {
        phi__buf_text(out, ",\"temperature\":");
        phi__json_put_double(out, ask->temperature);
    }
    phi__chat_put_thinking(e);
    phi__chat_put_cache_key(e);
    phi__chat_put_tools(e);
    phi__buf_text(out, ",\"messages\":[");
    phi__chat_put_system(e);
    phi__encode_scratch(e);
}

static void phi__chat_tail(phi__encoder *e) {
    if (phi__chat_quirk(e, PHI_QUIRK_EMPTY_TOOLS) && e->ask->tool_count == 0 && e->had_calls)
        phi__encode_glue(e, "],\"tools\":[]}");
    else
        phi__encode_glue(e, "]}");
    if (phi__chat_quirk(e, PHI_QUIRK_CACHE_CONTROL) && !e->ask->disable_cache)
        phi__encode_mark(e, 3, PHI__CHAT_MARK); /* inside of the "}]}" of its last part */
}

static void phi__chat_address(phi__encoder *e) {
    phi_str key = phi__str_trim(phi_str_of(e->ask->model->api_key));
    phi__encode_url(e, "/v1", true, "/chat/completions");
    phi__encode_header(e, "content-type", PHI__LIT("application/json"));
    phi__encode_header(e, "accept", PHI__LIT("text/event-stream"));
    if (key.len > 0) {
        phi__buf_clear(&e->scratch);
        phi__buf_text(&e->scratch, "Bearer ");
        phi__buf_add_str(&e->scratch, key);
        phi__encode_header(e, "authorization", phi__buf_str(&e->scratch));
    }
    phi__encode_model_headers(e);
}

/* ---- the codec ---- */

PHI__FN const phi__codec *phi__openai_chat_codec(void) {
    static const phi__codec codec = {PHI_PROTOCOL_OPENAI_CHAT, sizeof(phi__chat_state),
                                     phi__chat_head,           phi__chat_item,
                                     phi__chat_tail,           phi__chat_address,
                                     phi__chat_missing,        phi__chat_after_results,
                                     phi__chat_event,          phi__chat_end,
                                     phi__chat_whole};
    return &codec;
}
#undef PHI__CHAT_FORM_QUIRKS
#undef PHI__CHAT_MARK
#undef PHI__CHAT_KEY_MOST

/* ---- src/wire/openai_chat_stream.c ---- */

/* openai_chat_stream.c - answers of the OpenAI Chat Completions API: chunks to a message.

   A chunk is read in one pass without a tree into views of what matters, and then applied:
   reasoning before text, text before calls. Servers differ in all that the standard does not force,
   so what is null, missing, repeated or of another type is taken as it must have been meant.
   wire.md part 3. */


#define PHI__CHAT_IS(text, literal) phi__json_text_is((text), PHI__LIT(literal))

/* The fields in which servers send reasoning, by preference; names as the message keeps them. */
static const char *const phi__chat_reasoning_fields[] = {"reasoning_content", "reasoning",
                                                         "reasoning_text"};

/* What a chunk holds, as it stands in its text; `at` NULL and length 0: absent, null or odd. */
typedef struct phi__chat_chunk {
    phi__json_text id, model, finish;
    phi__json_text content, refusal, reasoning[3];
    phi_str parts; /* content as an array: raw JSON, as all that follow */
    phi_str details, calls, usage, error;
} phi__chat_chunk;

static void phi__chat_put(phi__assembly *a, phi__buf *buf, phi__json_text text) {
    phi__buf_clear(buf);
    if (text.len > 0) phi__json_unescape(buf, text);
    if (buf->failed) a->no_memory = true;
}

static void phi__chat_add(phi__assembly *a, size_t block, phi__json_text text) {
    phi__assembly_add_json(a, block, phi__str(text.at, text.len), text.escaped);
}

/* Raw JSON, unless it is null. */
static void phi__chat_raw(phi__json_cursor *c, phi_str *out) {
    if (phi__json_peek(c) == PHI_JSON_NULL)
        phi__json_skip(c);
    else
        phi__json_take_raw(c, out);
}

/* ---- reading a chunk ---- */

static void phi__chat_read_delta(phi__json_cursor *c, phi__chat_chunk *k) {
    phi__json_text key;
    if (!phi__json_enter_object(c)) return;
    while (phi__json_next_key(c, &key)) {
        if (PHI__CHAT_IS(key, "content")) {
            if (phi__json_peek(c) == PHI_JSON_ARRAY)
                phi__json_take_raw(c, &k->parts);
            else
                phi__json_take_text(c, &k->content);
        } else if (PHI__CHAT_IS(key, "tool_calls"))
            phi__chat_raw(c, &k->calls);
        else if (PHI__CHAT_IS(key, "reasoning_content"))
            phi__json_take_text(c, &k->reasoning[0]);
        else if (PHI__CHAT_IS(key, "reasoning"))
            phi__json_take_text(c, &k->reasoning[1]);
        else if (PHI__CHAT_IS(key, "reasoning_text"))
            phi__json_take_text(c, &k->reasoning[2]);
        else if (PHI__CHAT_IS(key, "reasoning_details"))
            phi__chat_raw(c, &k->details);
        else if (PHI__CHAT_IS(key, "refusal"))
            phi__json_take_text(c, &k->refusal);
        else
            phi__json_skip(c);
    }
}

/* A choice of a chunk, or of a whole answer, where `message` is what else is `delta`. */
static void phi__chat_read_choice(phi__json_cursor *c, phi__chat_chunk *k) {
    phi__json_text key;
    if (!phi__json_enter_object(c)) return;
    while (phi__json_next_key(c, &key)) {
        if (PHI__CHAT_IS(key, "delta") || PHI__CHAT_IS(key, "message"))
            phi__chat_read_delta(c, k);
        else if (PHI__CHAT_IS(key, "finish_reason"))
            phi__json_take_text(c, &k->finish);
        else if (PHI__CHAT_IS(key, "usage"))
            phi__chat_raw(c, &k->usage);
        else
            phi__json_skip(c);
    }
}

/* Only the first choice: more are never asked for. */
static void phi__chat_read_choices(phi__json_cursor *c, phi__chat_chunk *k) {
    bool first = true;
    if (!phi__json_enter_array(c)) return;
    while (phi__json_next_item(c)) {
        if (first)
            phi__chat_read_choice(c, k);
        else
            phi__json_skip(c);
        first = false;
    }
}

static void phi__chat_read_groq(phi__json_cursor *c, phi__chat_chunk *k) {
    phi__json_text key;
    if (!phi__json_enter_object(c)) return;
    while (phi__json_next_key(c, &key)) {
        if (PHI__CHAT_IS(key, "usage"))
            phi__chat_raw(c, &k->usage);
        else if (PHI__CHAT_IS(key, "error"))
            phi__chat_raw(c, &k->error);
        else
            phi__json_skip(c);
    }
}

static bool phi__chat_read(phi__chat_chunk *k, phi_str data) {
    phi__json_cursor c;
    phi__json_text key;
    memset(k, 0, sizeof *k);
    phi__json_cursor_init(&c, data);
    if (!phi__json_enter_object(&c)) return false;
    while (phi__json_next_key(&c, &key)) {
        if (PHI__CHAT_IS(key, "choices"))
            phi__chat_read_choices(&c, k);
        else if (PHI__CHAT_IS(key, "id"))
            phi__json_take_text(&c, &k->id);
        else if (PHI__CHAT_IS(key, "model"))
            phi__json_take_text(&c, &k->model);
        else if (PHI__CHAT_IS(key, "usage"))
            phi__chat_raw(&c, &k->usage);
        else if (PHI__CHAT_IS(key, "error"))
            phi__chat_raw(&c, &k->error);
        else if (PHI__CHAT_IS(key, "x_groq"))
            phi__chat_read_groq(&c, k);
        else
            phi__json_skip(&c);
    }
    return phi__json_cursor_done(&c);
}

/* ---- usage ---- */

static void phi__chat_read_counts(phi__json_cursor *c, const char *name, uint64_t *out,
                                  const char *other, uint64_t *other_out) {
    phi__json_text key;
    if (!phi__json_enter_object(c)) return;
    while (phi__json_next_key(c, &key)) {
        if (phi__json_text_is(key, phi_str_of(name)))
            phi__json_take_u64(c, out);
        else if (phi__json_text_is(key, phi_str_of(other)))
            phi__json_take_u64(c, other_out);
        else
            phi__json_skip(c);
    }
}

/* The last usage counts. Servers put what was read from a cache into one of three places. */
static void phi__chat_usage(phi__assembly *a, phi_str raw) {
    phi__json_cursor c;
    phi__json_text key;
    uint64_t prompt = 0, output = 0, read = 0, hit = 0, top = 0, written = 0, reasoning = 0, none;
    if (raw.len == 0) return;
    phi__json_cursor_init(&c, raw);
    if (!phi__json_enter_object(&c)) return;
    while (phi__json_next_key(&c, &key)) {
        if (PHI__CHAT_IS(key, "prompt_tokens"))
            phi__json_take_u64(&c, &prompt);
        else if (PHI__CHAT_IS(key, "completion_tokens"))
            phi__json_take_u64(&c, &output);
        else if (PHI__CHAT_IS(key, "prompt_tokens_details"))
            phi__chat_read_counts(&c, "cached_tokens", &read, "cache_write_tokens", &written);
        else if (PHI__CHAT_IS(key, "completion_tokens_details"))
            phi__chat_read_counts(&c, "reasoning_tokens", &reasoning, "", &none);
        else if (PHI__CHAT_IS(key, "prompt_cache_hit_tokens"))
            phi__json_take_u64(&c, &hit); /* DeepSeek */
        else if (PHI__CHAT_IS(key, "cached_tokens"))
            phi__json_take_u64(&c, &top); /* Moonshot */
        else
            phi__json_skip(&c);
    }
    if (read == 0) read = hit != 0 ? hit : top;
    a->usage.cache_read = read;
    a->usage.cache_write = written;
    a->usage.input = prompt - (read < prompt ? read : prompt);
    a->usage.input -= written < a->usage.input ? written : a->usage.input;
    a->usage.output = output;
    a->usage.reasoning = reasoning;
}

/* ---- thinking and text ---- */

static void phi__chat_think(phi__assembly *a, phi__json_text text, const char *field) {
    size_t block;
    if (text.len == 0) return;
    block = phi__assembly_current(a, PHI_CONTENT_THINKING);
    if (block == SIZE_MAX) return;
    if (a->drafts[block].signature.len == 0 && field[0] != '\0')
        phi__assembly_set(a, &a->drafts[block].signature, phi_str_of(field));
    phi__chat_add(a, block, text);
}

static void phi__chat_say(phi__assembly *a, phi__json_text text) {
    if (text.len > 0) phi__chat_add(a, phi__assembly_current(a, PHI_CONTENT_TEXT), text);
}

/* Thinking as a list of text parts, or as a text. */
static void phi__chat_think_parts(phi__assembly *a, phi__json_cursor *c) {
    phi__json_text key, text = {NULL, 0, false};
    if (phi__json_peek(c) == PHI_JSON_STRING) {
        if (phi__json_take_text(c, &text)) phi__chat_think(a, text, "content");
        return;
    }
    if (!phi__json_enter_array(c)) return;
    while (phi__json_next_item(c)) {
        if (!phi__json_enter_object(c)) continue;
        while (phi__json_next_key(c, &key)) {
            if (!PHI__CHAT_IS(key, "text"))
                phi__json_skip(c);
            else if (phi__json_take_text(c, &text))
                phi__chat_think(a, text, "content");
        }
    }
}

/* Content as parts, as Mistral's reasoning models send it. */
static void phi__chat_parts_of(phi__assembly *a, phi_str raw) {
    phi__json_cursor c;
    phi__json_text key, text;
    if (raw.len == 0) return;
    phi__json_cursor_init(&c, raw);
    if (!phi__json_enter_array(&c)) return;
    while (phi__json_next_item(&c)) {
        if (!phi__json_enter_object(&c)) continue;
        while (phi__json_next_key(&c, &key)) {
            if (PHI__CHAT_IS(key, "thinking"))
                phi__chat_think_parts(a, &c);
            else if (!PHI__CHAT_IS(key, "text"))
                phi__json_skip(&c);
            else if (phi__json_take_text(&c, &text))
                phi__chat_say(a, text);
        }
    }
}

/* ---- reasoning_details ---- */

/* One fragment. Its text, summary or data is told apart because it may continue in the next. */
typedef struct phi__chat_fragment {
    phi__json_text type, text, summary, signature;
    phi_str raw, index;
} phi__chat_fragment;

static void phi__chat_read_fragment(phi__chat_fragment *f) {
    phi__json_cursor c;
    phi__json_text key;
    phi__json_cursor_init(&c, f->raw);
    if (!phi__json_enter_object(&c)) return;
    while (phi__json_next_key(&c, &key)) {
        if (PHI__CHAT_IS(key, "type"))
            phi__json_take_text(&c, &f->type);
        else if (PHI__CHAT_IS(key, "text"))
            phi__json_take_text(&c, &f->text);
        else if (PHI__CHAT_IS(key, "summary"))
            phi__json_take_text(&c, &f->summary);
        else if (PHI__CHAT_IS(key, "signature"))
            phi__json_take_text(&c, &f->signature);
        else if (PHI__CHAT_IS(key, "index"))
            phi__json_take_raw(&c, &f->index);
        else
            phi__json_skip(&c);
    }
}

static void phi__chat_quote(phi__buf *out, const char *before, phi__json_text text) {
    phi__buf_text(out, before);
    phi__buf_add(out, text.at, text.len);
}

static void phi__chat_close_detail(phi__chat_state *st, phi__assembly *a) {
    phi__buf *out;
    if (st->detail == PHI__CHAT_DETAIL_NONE) return;
    out = &a->drafts[st->detail_block].replay;
    phi__buf_text(out, st->detail == PHI__CHAT_DETAIL_TEXT ? "\"}" : "}");
    st->detail = PHI__CHAT_DETAIL_NONE;
}

/* All of the item but what is written last: its text, which is left open, and its signature. */
static void phi__chat_open_detail(phi__chat_state *st, phi__buf *out, const phi__chat_fragment *f,
                                  bool is_text) {
    phi__json_cursor c;
    phi__json_text key;
    phi_str value = {NULL, 0};
    const char *name = is_text ? "text" : "summary";
    phi__json_cursor_init(&c, f->raw);
    if (!phi__json_enter_object(&c)) return;
    phi__buf_char(out, '{');
    while (phi__json_next_key(&c, &key)) {
        bool later = phi__json_text_is(key, phi_str_of(name)) || PHI__CHAT_IS(key, "signature");
        if (later) {
            phi__json_skip(&c);
            continue;
        }
        if (!phi__json_take_raw(&c, &value)) continue;
        phi__chat_quote(out, "\"", key);
        phi__buf_text(out, "\":");
        phi__buf_add_str(out, value);
        phi__buf_char(out, ',');
    }
    phi__chat_quote(out, is_text ? "\"text\":\"" : "\"summary\":\"",
                    is_text ? f->text : f->summary);
    st->detail = PHI__CHAT_DETAIL_TEXT;
}

/* The newest thinking block keeps the items for replay, as JSON that is written as they come. */
static size_t phi__chat_detail_block(phi__chat_state *st, phi__assembly *a) {
    size_t i;
    phi__draft *d;
    for (i = a->count; i > 0; i--)
        if (a->drafts[i - 1].kind == PHI_CONTENT_THINKING) break;
    i = i > 0 ? i - 1 : phi__assembly_current(a, PHI_CONTENT_THINKING);
    if (i == SIZE_MAX) return i;
    if (st->detail != PHI__CHAT_DETAIL_NONE && st->detail_block != i) phi__chat_close_detail(st, a);
    st->detail_block = i;
    d = &a->drafts[i];
    if (d->replay.len == 0) {
        d->replay_open = true;
        phi__buf_text(&d->replay, "{\"reasoning_details\":[");
    }
    return i;
}

static void phi__chat_detail_item(phi__chat_state *st, phi__assembly *a, phi_str raw, bool spoken) {
    phi__chat_fragment f;
    bool is_text, joins;
    uint64_t key;
    size_t block;
    phi__buf *out;
    memset(&f, 0, sizeof f);
    f.raw = raw;
    phi__chat_read_fragment(&f);
    is_text = f.text.at != NULL;
    joins = is_text || f.summary.at != NULL;
    if (joins && !spoken) phi__chat_think(a, is_text ? f.text : f.summary, "");
    block = phi__chat_detail_block(st, a);
    if (block == SIZE_MAX) return;
    out = &a->drafts[block].replay;
    key = phi__hash(f.index, phi__hash(phi__str(f.type.at, f.type.len), 4));
    if (joins && st->detail == PHI__CHAT_DETAIL_TEXT && key == st->detail_key)
        phi__chat_quote(out, "", is_text ? f.text : f.summary);
    else {
        phi__chat_close_detail(st, a);
        phi__json_put_comma(out);
        if (joins)
            phi__chat_open_detail(st, out, &f, is_text);
        else
            phi__buf_add_str(out, raw);
        st->detail_key = key;
    }
    if (joins && f.signature.len > 0 && st->detail == PHI__CHAT_DETAIL_TEXT) {
        phi__chat_quote(out, "\",\"signature\":\"", f.signature);
        phi__buf_char(out, '"');
        st->detail = PHI__CHAT_DETAIL_OPEN;
    }
    if (out->failed) a->no_memory = true;
}

static void phi__chat_details(phi__chat_state *st, phi__assembly *a, phi_str raw, bool spoken) {
    phi__json_cursor c;
    phi_str item;
    if (raw.len == 0) return;
    phi__json_cursor_init(&c, raw);
    if (!phi__json_enter_array(&c)) return;
    while (phi__json_next_item(&c)) {
        bool object = phi__json_peek(&c) == PHI_JSON_OBJECT;
        if (phi__json_take_raw(&c, &item) && object) phi__chat_detail_item(st, a, item, spoken);
    }
}

static void phi__chat_end_details(phi__chat_state *st, phi__assembly *a) {
    size_t i;
    phi__chat_close_detail(st, a);
    for (i = 0; i < a->count; i++) {
        phi__draft *d = &a->drafts[i];
        if (!d->replay_open) continue;
        phi__buf_text(&d->replay, "]}");
        if (d->replay.failed) a->no_memory = true;
        d->replay_open = d->replay.failed;
    }
}

/* ---- calls ---- */

typedef struct phi__chat_call {
    phi__json_text id, name, arguments;
    phi_str object; /* arguments that are no text, as some servers send them */
    int64_t index;
    bool has_index;
} phi__chat_call;

static void phi__chat_read_function(phi__json_cursor *c, phi__chat_call *call) {
    phi__json_text key;
    if (!phi__json_enter_object(c)) return;
    while (phi__json_next_key(c, &key)) {
        if (PHI__CHAT_IS(key, "name"))
            phi__json_take_text(c, &call->name);
        else if (!PHI__CHAT_IS(key, "arguments"))
            phi__json_skip(c);
        else if (phi__json_peek(c) == PHI_JSON_OBJECT)
            phi__json_take_raw(c, &call->object);
        else
            phi__json_take_text(c, &call->arguments);
    }
}

static void phi__chat_read_call(phi__json_cursor *c, phi__chat_call *call) {
    phi__json_text key;
    memset(call, 0, sizeof *call);
    if (!phi__json_enter_object(c)) return;
    while (phi__json_next_key(c, &key)) {
        if (PHI__CHAT_IS(key, "index"))
            call->has_index = phi__json_take_i64(c, &call->index);
        else if (PHI__CHAT_IS(key, "id"))
            phi__json_take_text(c, &call->id);
        else if (PHI__CHAT_IS(key, "function"))
            phi__chat_read_function(c, call);
        else
            phi__json_skip(c);
    }
    if (PHI__CHAT_IS(call->id, "null")) call->id.len = 0;
}

static bool phi__chat_same_id(const phi__draft *d, phi__json_text id) {
    return d->id.len == 0 || phi__json_text_is(id, phi__buf_str(&d->id));
}

/* The call a delta belongs to: by its index, else by its id, else the last. Another id at a known
   index is another call. SIZE_MAX: a new one. */
static size_t phi__chat_find_call(const phi__assembly *a, const phi__chat_call *call) {
    size_t i;
    for (i = a->count; i > 0; i--) {
        const phi__draft *d = &a->drafts[i - 1];
        if (d->kind != PHI_CONTENT_TOOL_CALL) continue;
        if (call->has_index) {
            if (d->key != call->index) continue;
            return call->id.len == 0 || phi__chat_same_id(d, call->id) ? i - 1 : SIZE_MAX;
        }
        if (call->id.len == 0 || phi__json_text_is(call->id, phi__buf_str(&d->id))) return i - 1;
    }
    return SIZE_MAX;
}

static void phi__chat_call_delta(phi__assembly *a, const phi__chat_call *call) {
    size_t block = phi__chat_find_call(a, call);
    phi__draft *d;
    if (block == SIZE_MAX) {
        if (a->count > 0 && a->drafts[a->count - 1].kind != PHI_CONTENT_TOOL_CALL)
            phi__assembly_close(a, a->count - 1);
        block = phi__assembly_open(a, PHI_CONTENT_TOOL_CALL, call->has_index ? call->index : -1);
    }
    if (block == SIZE_MAX) return;
    d = &a->drafts[block];
    if (d->id.len == 0 && call->id.len > 0) phi__chat_put(a, &d->id, call->id);
    if (d->name.len == 0 && call->name.len > 0) phi__chat_put(a, &d->name, call->name);
    if (call->object.len > 0)
        phi__assembly_add(a, block, call->object);
    else
        phi__chat_add(a, block, call->arguments);
}

static void phi__chat_calls_of(phi__assembly *a, phi_str raw) {
    phi__json_cursor c;
    phi__chat_call call;
    if (raw.len == 0) return;
    phi__json_cursor_init(&c, raw);
    if (!phi__json_enter_array(&c)) return;
    while (phi__json_next_item(&c)) {
        if (phi__json_peek(&c) != PHI_JSON_OBJECT) {
            phi__json_skip(&c);
            continue;
        }
        phi__chat_read_call(&c, &call);
        phi__chat_call_delta(a, &call);
    }
}

/* ---- the end ---- */

static void phi__chat_stop_word(phi__assembly *a, phi_str word) {
    static const struct phi__chat_stop {
        const char *word;
        phi_stop_reason reason;
    } table[] = {{"stop", PHI_STOP_REASON_STOP},
                 {"end", PHI_STOP_REASON_STOP},
                 {"eos", PHI_STOP_REASON_STOP},
                 {"end_turn", PHI_STOP_REASON_STOP},
                 {"tool_calls", PHI_STOP_REASON_TOOL_USE},
                 {"function_call", PHI_STOP_REASON_TOOL_USE},
                 {"length", PHI_STOP_REASON_LENGTH},
                 {"model_length", PHI_STOP_REASON_LENGTH},
                 {"max_tokens", PHI_STOP_REASON_LENGTH}};
    size_t i;
    if (a->failure.kind != PHI_FAILURE_NONE) return;
    for (i = 0; i < PHI__COUNT(table); i++)
        if (phi__str_is(word, table[i].word)) {
            a->stop_reason = table[i].reason;
            return;
        }
    if (phi__str_is(word, "content_filter") || phi__str_is(word, "sensitive"))
        phi__classify_stop(a, PHI_FAILURE_CONTENT_FILTER, false, word);
    else if (phi__str_is(word, "model_context_window_exceeded"))
        phi__classify_stop(a, PHI_FAILURE_OVERFLOW, false, word);
    else
        phi__classify_stop(a, PHI_FAILURE_SERVER,
                           phi__str_is(word, "error") || phi__str_is(word, "network_error") ||
                               phi__str_is(word, "insufficient_system_resource"),
                           word);
}

static void phi__chat_close_all(phi__assembly *a) {
    size_t i;
    for (i = 0; i < a->count; i++) phi__assembly_close(a, i);
}

static void phi__chat_finish(phi__chat_state *st, phi__assembly *a, phi__json_text finish) {
    if (finish.at == NULL || st->finished) return;
    if (finish.len == 0) {
        st->finish_empty = true;
        return;
    }
    st->finished = a->terminal = true;
    phi__chat_put(a, &a->raw_stop_reason, finish);
    phi__chat_stop_word(a, phi__buf_str(&a->raw_stop_reason));
    if (a->failure.kind == PHI_FAILURE_NONE) phi__chat_close_all(a); /* else calls were cut */
}

static void phi__chat_apply(phi__chat_state *st, phi__assembly *a, const phi__chat_chunk *k) {
    size_t i;
    bool spoken = false;
    if (a->response_id.len == 0 && k->id.len > 0) phi__chat_put(a, &a->response_id, k->id);
    if (a->model.len == 0 && k->model.len > 0) phi__chat_put(a, &a->model, k->model);
    if (!a->started) phi__assembly_start(a);
    for (i = 0; i < PHI__COUNT(phi__chat_reasoning_fields) && !spoken; i++) {
        spoken = k->reasoning[i].len > 0; /* some send the same text in two fields */
        phi__chat_think(a, k->reasoning[i], phi__chat_reasoning_fields[i]);
    }
    if (k->details.len > 0) phi__chat_details(st, a, k->details, spoken);
    if (k->parts.len > 0) phi__chat_parts_of(a, k->parts);
    phi__chat_say(a, k->content);
    phi__chat_say(a, k->refusal);
    if (k->calls.len > 0) phi__chat_calls_of(a, k->calls);
    if (k->usage.len > 0) phi__chat_usage(a, k->usage);
    phi__chat_finish(st, a, k->finish);
}

/* Remembers a chunk that was text and nothing else. */
static void phi__chat_learn(phi__chat_state *st, const phi__assembly *a, const phi__chat_chunk *k,
                            phi_str data) {
    const phi__json_text *said = &k->content;
    size_t i, spoken = 0;
    for (i = 0; i < PHI__COUNT(phi__chat_reasoning_fields); i++)
        if (k->reasoning[i].len > 0) {
            spoken++;
            said = &k->reasoning[i];
        }
    phi__repeat_forget(&st->repeat);
    if (spoken + (k->content.len > 0 ? 1u : 0u) != 1 || k->details.len > 0 || k->parts.len > 0 ||
        k->refusal.len > 0 || k->calls.len > 0 || k->usage.len > 0 || k->finish.at != NULL ||
        k->error.len > 2 || a->count == 0)
        return;
    phi__repeat_learn(&st->repeat, a, data, *said, a->count - 1);
}

/* An error may stand at the top or in x_groq; beside it there may be a status. */
static void phi__chat_error(phi__assembly *a, const phi__chat_chunk *k, phi_str data) {
    bool top = phi__str_find(data, 0, "\"x_groq\"") == SIZE_MAX;
    if (top || k->error.at[0] != '{')
        phi__classify_event(a, data);
    else
        phi__classify_event(a, k->error);
}

/* ---- for the codec ---- */

PHI__FN void phi__chat_event(void *state, phi__assembly *a, phi_str name, phi_str data) {
    phi__chat_state *st = (phi__chat_state *)state;
    phi__chat_chunk k;
    if (data.len == 0 || a->no_memory) return;
    if (phi__str_is(name, "error")) {
        phi__classify_event(a, data);
        return;
    }
    if (phi__str_is(data, "[DONE]")) {
        st->done = true;
        return;
    }
    if (st->broken) {
        phi__assembly_fail(a, PHI_FAILURE_SERVER, true, PHI__LIT("bad_event"),
                           PHI__LIT("the server sent an event that is not JSON"));
        return;
    }
    if (phi__repeat_add(&st->repeat, a, data)) return;
    if (data.at[0] != '{') return; /* words of a gateway: nothing of ours */
    st->heard = true;
    if (!phi__chat_read(&k, data)) {
        st->broken = true;
        return;
    }
    if (k.error.len > 2) phi__chat_error(a, &k, data);
    phi__chat_apply(st, a, &k);
    phi__chat_learn(st, a, &k, data);
}

PHI__FN void phi__chat_end(void *state, phi__assembly *a) {
    phi__chat_state *st = (phi__chat_state *)state;
    phi__chat_end_details(st, a);
    if (st->finished || a->failure.kind != PHI_FAILURE_NONE) return;
    if (st->finish_empty && st->done && !st->broken) {
        a->terminal = true;
        a->stop_reason = PHI_STOP_REASON_STOP;
        phi__chat_close_all(a);
    } else
        phi__classify_truncated(a, st->heard);
}

PHI__FN void phi__chat_whole(void *state, phi__assembly *a, phi_str body) {
    phi__chat_state *st = (phi__chat_state *)state;
    phi__chat_chunk k;
    phi_json_found choices;
    body = phi__str_trim(body);
    if (!phi__chat_read(&k, body) || k.error.len > 0 ||
        phi_json_find(body, "choices[0]", &choices) != PHI_OK) {
        phi__classify_body(a, body);
        return;
    }
    st->heard = true;
    phi__chat_apply(st, a, &k);
    if (k.finish.at != NULL && k.finish.len == 0) st->done = true;
    phi__chat_end(state, a);
}
#undef PHI__CHAT_IS

/* ---- src/wire/preflight.c ---- */

/* preflight.c - what a provider would refuse, found before a byte is sent, in words that name the
   place. It looks at the transcript as it is given; the encoder repairs some of this in what it
   sends, so a complaint here means that whoever made the transcript should look. */


#include <stdarg.h>
#include <stdio.h>

typedef struct phi__preflight_check {
    const phi__ask *ask;
    bool anthropic;
    char *words;
    size_t words_size;
} phi__preflight_check;

static phi_status phi__preflight_no(phi__preflight_check *p, const char *format, ...)
    PHI_PRINTF(2, 3);

static phi_status phi__preflight_no(phi__preflight_check *p, const char *format, ...) {
    va_list args;
    va_start(args, format);
    if (p->words_size > 0) (void)vsnprintf(p->words, p->words_size, format, args);
    va_end(args);
    return PHI_BAD_ARG;
}

/* For "%.*s". */
static int phi__preflight_len(phi_str s) { return s.len > 80 ? 80 : (int)s.len; }

/* ---- tools ---- */

static bool phi__preflight_name(phi_str name, size_t most) {
    size_t i;
    if (name.len == 0 || name.len > most) return false;
    for (i = 0; i < name.len; i++) {
        char c = name.at[i];
        if (!((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
              c == '_' || c == '-'))
            return false;
    }
    return true;
}

/* Whether a schema says type:object, and nothing at its root that providers refuse there. */
static bool phi__preflight_schema(phi_str schema, const char **why) {
    static const char *const roots[] = {"anyOf", "oneOf", "allOf"};
    phi_json_found found;
    size_t i;
    *why = "must be a JSON object with type \"object\"";
    if (phi_json_find(schema, "type", &found) != PHI_OK || found.type != PHI_JSON_STRING ||
        !phi__str_is(found.raw, "object"))
        return false;
    for (i = 0; i < PHI__COUNT(roots); i++) {
        *why = "may not have anyOf, oneOf or allOf at its root";
        if (phi_json_find(schema, roots[i], &found) == PHI_OK) return false;
    }
    return true;
}

static phi_status phi__preflight_tools(phi__preflight_check *p) {
    const phi__ask *ask = p->ask;
    const char *why;
    size_t i, j;
    for (i = 0; i < ask->tool_count; i++) {
        phi_str name = ask->tools[i].name;
        if (!phi__preflight_name(name, 64))
            return phi__preflight_no(p,
                                     "tools[%zu]: name \"%.*s\": expected 1 to 64 of a-z A-Z "
                                     "0-9 _ -",
                                     i, phi__preflight_len(name), name.at);
        for (j = 0; j < i; j++)
            if (phi_str_equal(ask->tools[j].name, name))
                return phi__preflight_no(p, "tools[%zu]: name \"%.*s\" is taken by tools[%zu]", i,
                                         phi__preflight_len(name), name.at, j);
        if (!phi__render_blank(ask->tools[i].schema) &&
            !phi__preflight_schema(ask->tools[i].schema, &why))
            return phi__preflight_no(p, "tools[%zu]: schema of \"%.*s\" %s", i,
                                     phi__preflight_len(name), name.at, why);
    }
    return PHI_OK;
}

/* ---- messages ---- */

/* Of any type: words stand for one that the target does not take. */
static phi_status phi__preflight_image(phi__preflight_check *p, size_t at, const phi_content *c) {
    if (c->data.len == 0) return phi__preflight_no(p, "messages[%zu]: an image has no data", at);
    return PHI_OK;
}

static bool phi__preflight_is_call(const phi_content *c) {
    return c->kind == PHI_CONTENT_TOOL_CALL && !c->incomplete;
}

/* The result of a call among those that follow its message; SIZE_MAX: none. */
static size_t phi__preflight_result(const phi__ask *ask, size_t from, phi_str id) {
    size_t i;
    for (i = from; i < ask->item_count; i++) {
        const phi_message *m = ask->items[i].message;
        if (m->role == PHI_ROLE_EXTENSION) continue;
        if (m->role != PHI_ROLE_TOOL_RESULT) return SIZE_MAX;
        if (phi_str_equal(m->tool_call_id, id)) return i;
    }
    return SIZE_MAX;
}

/* Whether an earlier message has a call of this id. */
static size_t phi__preflight_id_taken(const phi__ask *ask, size_t before, phi_str id) {
    size_t i, j;
    for (i = 0; i < before; i++) {
        const phi_message *m = ask->items[i].message;
        if (m->role != PHI_ROLE_ASSISTANT) continue;
        for (j = 0; j < m->content_count; j++)
            if (phi__preflight_is_call(&m->content[j]) && phi_str_equal(m->content[j].id, id))
                return i;
    }
    return SIZE_MAX;
}

static phi_status phi__preflight_calls(phi__preflight_check *p, size_t at) {
    const phi_message *m = p->ask->items[at].message;
    size_t i, j, other;
    for (i = 0; i < m->content_count; i++) {
        const phi_content *c = &m->content[i];
        phi_str id = c->id;
        if (!phi__preflight_is_call(c)) continue;
        if (id.len == 0) return phi__preflight_no(p, "messages[%zu]: a tool call has no id", at);
        for (j = 0; j < i; j++)
            if (phi__preflight_is_call(&m->content[j]) && phi_str_equal(m->content[j].id, id))
                return phi__preflight_no(p, "messages[%zu]: two tool calls have the id \"%.*s\"",
                                         at, phi__preflight_len(id), id.at);
        other = phi__preflight_id_taken(p->ask, at, id);
        if (other != SIZE_MAX)
            return phi__preflight_no(
                p, "messages[%zu]: the id \"%.*s\" of a tool call is used in messages[%zu] too", at,
                phi__preflight_len(id), id.at, other);
        if (phi__preflight_result(p->ask, at + 1, id) == SIZE_MAX)
            return phi__preflight_no(p, "messages[%zu]: tool call \"%.*s\" has no result", at,
                                     phi__preflight_len(id), id.at);
    }
    return PHI_OK;
}

/* A result belongs to a call of the last assistant message, with only results between, and is the
   only one. */
static phi_status phi__preflight_pair(phi__preflight_check *p, size_t at) {
    const phi_message *m = p->ask->items[at].message;
    phi_str id = m->tool_call_id;
    size_t i, j;
    for (i = at; i > 0; i--) {
        const phi_message *before = p->ask->items[i - 1].message;
        if (before->role == PHI_ROLE_EXTENSION) continue;
        if (before->role == PHI_ROLE_USER) break;
        if (before->role == PHI_ROLE_TOOL_RESULT) {
            if (phi_str_equal(before->tool_call_id, id))
                return phi__preflight_no(p, "messages[%zu]: a second result of tool call \"%.*s\"",
                                         at, phi__preflight_len(id), id.at);
            continue;
        }
        for (j = 0; j < before->content_count; j++)
            if (phi__preflight_is_call(&before->content[j]) &&
                phi_str_equal(before->content[j].id, id))
                return PHI_OK;
        break;
    }
    return phi__preflight_no(p,
                             "messages[%zu]: a result of tool call \"%.*s\", which the message "
                             "before it did not make",
                             at, phi__preflight_len(id), id.at);
}

static bool phi__preflight_says(const phi_message *m) {
    size_t i;
    for (i = 0; i < m->content_count; i++) {
        const phi_content *c = &m->content[i];
        if (c->kind == PHI_CONTENT_TEXT && !phi__render_blank(c->text)) return true;
        if (phi__render_is_image(c) || phi__preflight_is_call(c)) return true;
    }
    return false;
}

static phi_status phi__preflight_message(phi__preflight_check *p, size_t at) {
    const phi_message *m = p->ask->items[at].message;
    phi_status status;
    size_t i;
    for (i = 0; i < m->content_count; i++) {
        if (m->content[i].kind != PHI_CONTENT_IMAGE) continue;
        if (m->role == PHI_ROLE_ASSISTANT)
            return phi__preflight_no(p, "messages[%zu]: an assistant message may not hold images",
                                     at);
        status = phi__preflight_image(p, at, &m->content[i]);
        if (status != PHI_OK) return status;
    }
    if (m->role == PHI_ROLE_TOOL_RESULT) return phi__preflight_pair(p, at);
    if (m->role == PHI_ROLE_USER && !phi__preflight_says(m))
        return phi__preflight_no(p, "messages[%zu]: a user message with nothing in it", at);
    return m->role == PHI_ROLE_ASSISTANT ? phi__preflight_calls(p, at) : PHI_OK;
}

/* ---- for the loop and the tests ---- */

PHI__FN phi_status phi__preflight(const phi__codec *codec, const phi__ask *ask, char *words,
                                  size_t words_size) {
    phi__preflight_check p;
    const phi_message *first = NULL, *last = NULL;
    phi_status status;
    size_t i;
    p.ask = ask;
    p.anthropic = codec == phi__anthropic_codec();
    p.words = words;
    p.words_size = words_size;
    if (words_size > 0) words[0] = '\0';
    status = phi__preflight_tools(&p);
    for (i = 0; i < ask->item_count && status == PHI_OK; i++) {
        const phi_message *m = ask->items[i].message;
        if (m->role == PHI_ROLE_EXTENSION) continue;
        if (first == NULL) first = m;
        last = m;
        status = phi__preflight_message(&p, i);
    }
    if (status != PHI_OK) return status;
    if (first == NULL) return phi__preflight_no(&p, "messages: there is none to send");
    if (p.anthropic && first->role != PHI_ROLE_USER)
        return phi__preflight_no(&p, "messages: the first must be the user's");
    if (p.anthropic && last->role == PHI_ROLE_ASSISTANT &&
        phi__claude_of(phi_str_of(ask->model->id)).version >= 406)
        return phi__preflight_no(&p, "messages: the last may not be the assistant's for %s",
                                 ask->model->id);
    return PHI_OK;
}

/* ---- src/wire/render.c ---- */

/* render.c - ids, names and text that a target takes. */


static bool phi__render_alnum(char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static bool phi__render_word(char c) { return phi__render_alnum(c) || c == '_' || c == '-'; }

static bool phi__render_id_fits(phi_str id, phi__id_rule rule) {
    size_t i;
    if (id.len == 0) return false;
    if (rule == PHI__ID_40) return id.len <= 40;
    if (rule == PHI__ID_9 ? id.len != 9 : id.len > 64) return false;
    for (i = 0; i < id.len; i++)
        if (!(rule == PHI__ID_9 ? phi__render_alnum(id.at[i]) : phi__render_word(id.at[i])))
            return false;
    return true;
}

PHI__FN void phi__render_id(phi__buf *out, phi_str id, phi__id_rule rule) {
    char text[5 + 16 + 16 + 1];
    uint64_t n = phi__hash(id, 1);
    size_t i;
    if (phi__render_id_fits(id, rule)) {
        phi__json_put_str(out, id);
        return;
    }
    if (rule == PHI__ID_9) {
        static const char digits[] =
            "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
        for (i = 0; i < 9; i++, n /= 62) text[i] = digits[n % 62];
        phi__json_put_str(out, phi__str(text, 9));
        return;
    }
    memcpy(text, "call_", 5);
    phi__hash_hex(n, text + 5);
    phi__hash_hex(phi__hash(id, 2), text + 21);
    phi__json_put_str(out, phi__str(text, 37));
}

PHI__FN void phi__render_name(phi__buf *out, phi_str name, size_t most) {
    char *to;
    size_t i, n = phi__min(name.len, most);
    phi__buf_char(out, '"');
    to = phi__buf_reserve(out, n);
    for (i = 0; to != NULL && i < n; i++) to[i] = phi__render_word(name.at[i]) ? name.at[i] : '_';
    if (to != NULL) phi__buf_add_len(out, n);
    if (n == 0) phi__buf_char(out, '_');
    phi__buf_char(out, '"');
}

PHI__FN bool phi__render_blank(phi_str text) { return phi__str_trim(text).len == 0; }

PHI__FN phi_str phi__render_trim_end(phi_str text) {
    phi_str trimmed = phi__str_trim(text);
    return trimmed.len == 0 ? trimmed
                            : phi__str(text.at, (size_t)(trimmed.at + trimmed.len - text.at));
}

PHI__FN void phi__render_member(phi__buf *out, const char *key, phi_str text) {
    phi__json_put_key(out, phi_str_of(key));
    phi__json_put_str(out, text);
}

PHI__FN void phi__render_text(phi__encoder *e, phi_str text) {
    if (!phi__encode_hole(e, text, false)) phi__json_put_part(&e->scratch, text);
}

PHI__FN void phi__render_text_member(phi__encoder *e, const char *key, phi_str text) {
    phi__json_put_key(&e->scratch, phi_str_of(key));
    phi__buf_char(&e->scratch, '"');
    phi__render_text(e, text);
    phi__buf_char(&e->scratch, '"');
}

PHI__FN phi_str phi__render_arguments(phi__encoder *e, phi_str arguments) {
    phi_arena_mark mark = phi_arena_save(e->arena);
    phi_json *root = NULL;
    phi_status status;
    bool is_object;
    if (arguments.len == 2 && arguments.at[0] == '{') return PHI__LIT("{}");
    status = phi_json_parse(e->arena, arguments, PHI_JSON_BORROW, &root, NULL);
    is_object = status == PHI_OK && phi_json_is_object(root);
    if (status == PHI_NO_MEMORY) e->failed = true;
    phi_arena_reset(e->arena, mark);
    return is_object ? phi__str_trim(arguments) : PHI__LIT("{}");
}

PHI__FN bool phi__render_same_origin(const phi__encoder *e, size_t item) {
    const phi_message *message = e->ask->items[item].message;
    const phi_model *model = e->ask->model;
    if (e->ask->items[item].origin != 0) return e->ask->items[item].origin == e->origin;
    return message->model.len > 0 && phi__str_is(message->model, model->id) &&
           model->provider != NULL && phi__str_is(message->provider, model->provider) &&
           (message->protocol.len == 0 || phi__codec_find(message->protocol) == e->codec);
}

PHI__FN bool phi__render_is_image(const phi_content *c) {
    return c->kind == PHI_CONTENT_IMAGE && c->data.len > 0;
}

PHI__FN bool phi__render_omits(const phi__encoder *e, const phi_content *c) {
    static const char *const types[] = {"image/png", "image/jpeg", "image/gif", "image/webp"};
    size_t i;
    if (!phi__render_is_image(c)) return false;
    if ((e->ask->model->quirks & PHI_QUIRK_NO_IMAGES) != 0) return true;
    for (i = 0; i < PHI__COUNT(types); i++)
        if (phi__str_is(c->mime_type, types[i])) return false;
    return true;
}

PHI__FN bool phi__render_omits_any(const phi__encoder *e, const phi_message *message) {
    size_t i;
    for (i = 0; i < message->content_count; i++)
        if (phi__render_omits(e, &message->content[i])) return true;
    return false;
}

PHI__FN bool phi__render_sends_image(const phi__encoder *e, const phi_message *message) {
    size_t i;
    for (i = 0; i < message->content_count; i++)
        if (phi__render_is_image(&message->content[i]) &&
            !phi__render_omits(e, &message->content[i]))
            return true;
    return false;
}

static bool phi__render_is_base64(char c) {
    return phi__render_alnum(c) || c == '+' || c == '/' || c == '=' || c == '-' || c == '_';
}

PHI__FN void phi__render_base64_now(phi__buf *out, phi_str data) {
    char *to = phi__buf_reserve(out, data.len);
    size_t i, n = 0;
    if (to == NULL) return;
    for (i = 0; i < data.len; i++)
        if (phi__render_is_base64(data.at[i])) to[n++] = data.at[i];
    phi__buf_add_len(out, n);
}

PHI__FN void phi__render_base64(phi__encoder *e, phi_str data) {
    if (!phi__encode_hole(e, data, true)) phi__render_base64_now(&e->scratch, data);
}

/* wire.md part 2: never below 1024 */
PHI__FN uint32_t phi__render_budget(phi_thinking level) {
    switch (level) {
    case PHI_THINKING_OFF: return 0;
    case PHI_THINKING_MINIMAL: return 1024;
    case PHI_THINKING_LOW: return 2048;
    case PHI_THINKING_MEDIUM: return 8192;
    case PHI_THINKING_HIGH: return 16384;
    }
    return 0;
}

/* ---- src/wire/repeat.c ---- */

/* repeat.c - comparing what stands around a text. */


PHI__FN void phi__repeat_learn(phi__repeat *r, const phi__assembly *a, phi_str data,
                               phi__json_text text, size_t block) {
    size_t head, tail;
    r->head = 0;
    if (block == SIZE_MAX || text.at == NULL || text.at <= data.at ||
        text.at + text.len >= data.at + data.len)
        return;
    head = (size_t)(text.at - data.at);
    tail = data.len - head - text.len;
    if (head + tail > PHI__REPEAT_MOST) return;
    memcpy(r->around, data.at, head);
    memcpy(r->around + head, text.at + text.len, tail);
    r->head = (uint16_t)head;
    r->tail = (uint16_t)tail;
    r->block = block;
    r->count = a->count;
}

PHI__FN bool phi__repeat_add(const phi__repeat *r, phi__assembly *a, phi_str data) {
    const char *text = data.at + r->head, *end = data.at + data.len;
    bool escaped;
    if (r->head == 0 || data.len < (size_t)r->head + r->tail || r->count != a->count ||
        !a->drafts[r->block].open || memcmp(data.at, r->around, r->head) != 0 ||
        memcmp(end - r->tail, r->around + r->head, r->tail) != 0)
        return false;
    if (phi__json_quote(text, end, &escaped) != end - r->tail) return false;
    phi__assembly_add_json(a, r->block, phi__str(text, data.len - r->head - r->tail), escaped);
    return true;
}

#endif /* PHI__IMP_WIRE */

#ifdef PHI__IMP_THREAD
#if PHI__IMP_THREAD != 0x40198e5a
#error "phi: two versions of src/thread in one file"
#endif
#else
#define PHI__IMP_THREAD 0x40198e5a

/* ---- src/thread/thread_in.h ---- */

/* thread_in.h - the log: append-only entries, and the projection of them that a model sees.

   Entries and their messages live in the thread's arena and never move. Order is seq, which is also
   the place in the log. What is projected is kept as a list that grows with the log, so that a turn
   costs its new entries.
   An assistant message that failed or was aborted stays in the log and is not projected.
   Threads: the pumping thread. */
#ifndef PHI_THREAD_THREAD_IN_H
#define PHI_THREAD_THREAD_IN_H


typedef enum phi__entry_kind {
    PHI__ENTRY_MESSAGE = 1,
    PHI__ENTRY_LOOP_START,
    PHI__ENTRY_LOOP_END,
    PHI__ENTRY_TURN_START,
    PHI__ENTRY_TURN_END
} phi__entry_kind;

typedef struct phi__entry {
    uint64_t seq;
    int64_t at_ms; /* for display, never for order */
    phi__entry_kind kind;
    phi_status status;   /* LOOP_END */
    phi_trigger trigger; /* TURN_START */
    uint32_t turn_index;
    phi_str loop_id;
    const phi_message *message; /* MESSAGE */
    const phi_usage *usage;     /* TURN_END, LOOP_END */
    const phi_failure *failure; /* LOOP_END that failed */
    phi__rendered *rendered;    /* MESSAGE: its blocks in wire formats */
} phi__entry;

typedef struct phi__thread {
    phi_memory *memory;
    phi_arena arena;
    phi__entry **entries; /* by seq */
    size_t count, cap;
    phi__entry **messages; /* the MESSAGE entries, in order */
    size_t message_count, message_cap;
    phi__item *items; /* the projection */
    size_t item_count, item_cap;
    uint64_t *ids; /* hashes of the tool call ids so far: an open table, half empty, 0 is free */
    size_t id_count, id_cap;
} phi__thread;

PHI__FN void phi__thread_init(phi__thread *thread, phi_memory *memory);
PHI__FN void phi__thread_free(phi__thread *thread);

/* Appends copies of n entries, all or none, and fills their seq; what they point to must live in the
   thread's arena. False: no memory, and nothing changed. */
PHI__FN bool phi__thread_append(phi__thread *thread, const phi__entry *entries, size_t n);

/* Takes note of a tool call id. PHI_OK: new; PHI_FULL: the thread has it already, results would be
   ambiguous; PHI_NO_MEMORY. */
PHI__FN phi_status phi__thread_claim_id(phi__thread *thread, phi_str id);

/* Copies a message into the thread's arena without appending it; NULL: no memory. */
PHI__FN phi_message *phi__thread_keep(phi__thread *thread, const phi_message *message);

#endif

/* ---- src/thread/thread.c ---- */

/* thread.c - appending, and keeping the projection up to date. */


PHI__FN void phi__thread_init(phi__thread *thread, phi_memory *memory) {
    memset(thread, 0, sizeof *thread);
    thread->memory = memory;
    phi_arena_init(&thread->arena, memory, 0);
}

PHI__FN void phi__thread_free(phi__thread *thread) {
    phi__free(thread->memory, thread->entries, thread->cap * sizeof *thread->entries);
    phi__free(thread->memory, thread->messages, thread->message_cap * sizeof *thread->messages);
    phi__free(thread->memory, thread->items, thread->item_cap * sizeof *thread->items);
    phi__free(thread->memory, thread->ids, thread->id_cap * sizeof *thread->ids);
    phi_arena_free(&thread->arena);
    phi__thread_init(thread, thread->memory);
}

/* A failed answer may hold half a thought or calls that never ran: the model does not see it. */
static bool phi__thread_projects(const phi_message *message) {
    if (message->role == PHI_ROLE_EXTENSION) return false;
    return message->role != PHI_ROLE_ASSISTANT || (message->stop_reason != PHI_STOP_REASON_ERROR &&
                                                   message->stop_reason != PHI_STOP_REASON_ABORTED);
}

/* Room for n more of each list, so that the appending itself cannot fail halfway. */
static bool phi__thread_room(phi__thread *thread, size_t n, size_t messages) {
    void *grown = phi__grow(thread->memory, thread->entries, &thread->cap, thread->count + n,
                            sizeof *thread->entries);
    if (grown == NULL) return false;
    thread->entries = (phi__entry **)grown;
    if (messages == 0) return true;
    grown = phi__grow(thread->memory, thread->messages, &thread->message_cap,
                      thread->message_count + messages, sizeof *thread->messages);
    if (grown == NULL) return false;
    thread->messages = (phi__entry **)grown;
    grown = phi__grow(thread->memory, thread->items, &thread->item_cap,
                      thread->item_count + messages, sizeof *thread->items);
    if (grown == NULL) return false;
    thread->items = (phi__item *)grown;
    return true;
}

static void phi__thread_project(phi__thread *thread, phi__entry *entry) {
    phi__item *item = &thread->items[thread->item_count];
    if (!phi__thread_projects(entry->message)) return;
    thread->item_count++;
    item->message = entry->message;
    item->rendered = &entry->rendered;
    item->arena = &thread->arena;
    item->origin = entry->message->role == PHI_ROLE_ASSISTANT
                       ? phi__origin_of(entry->message->model, entry->message->provider,
                                        entry->message->protocol)
                       : 0;
}

PHI__FN bool phi__thread_append(phi__thread *thread, const phi__entry *entries, size_t n) {
    size_t messages = 0, i;
    phi__entry *kept;
    for (i = 0; i < n; i++) messages += entries[i].kind == PHI__ENTRY_MESSAGE;
    if (!phi__thread_room(thread, n, messages)) return false;
    kept = (phi__entry *)phi_arena_alloc(&thread->arena, n * sizeof *kept);
    if (kept == NULL) return false;
    for (i = 0; i < n; i++) {
        kept[i] = entries[i];
        kept[i].seq = thread->count;
        thread->entries[thread->count++] = &kept[i];
        if (kept[i].kind != PHI__ENTRY_MESSAGE) continue;
        thread->messages[thread->message_count++] = &kept[i];
        phi__thread_project(thread, &kept[i]);
    }
    return true;
}

PHI__FN phi_message *phi__thread_keep(phi__thread *thread, const phi_message *message) {
    phi_arena_mark mark = phi_arena_save(&thread->arena);
    phi_message *kept = phi_message_copy(message, &thread->arena);
    if (kept == NULL) phi_arena_reset(&thread->arena, mark);
    return kept;
}

/* ---- ids ---- */

/* Where a hash stands, or the free place where it would. */
static size_t phi__thread_id_place(const uint64_t *ids, size_t cap, uint64_t hash) {
    size_t at = (size_t)hash & (cap - 1);
    while (ids[at] != 0 && ids[at] != hash) at = (at + 1) & (cap - 1);
    return at;
}

static bool phi__thread_id_room(phi__thread *thread) {
    size_t cap = thread->id_cap > 0 ? thread->id_cap * 2 : 16, i;
    uint64_t *ids;
    if (thread->id_count * 2 < thread->id_cap) return true;
    ids = (uint64_t *)phi__alloc(thread->memory, phi__mul(cap, sizeof *ids));
    if (ids == NULL) return false;
    for (i = 0; i < thread->id_cap; i++)
        if (thread->ids[i] != 0)
            ids[phi__thread_id_place(ids, cap, thread->ids[i])] = thread->ids[i];
    phi__free(thread->memory, thread->ids, thread->id_cap * sizeof *ids);
    thread->ids = ids;
    thread->id_cap = cap;
    return true;
}

PHI__FN phi_status phi__thread_claim_id(phi__thread *thread, phi_str id) {
    uint64_t hash = phi__hash(id, 0);
    size_t at;
    if (hash == 0) hash = 1;
    if (!phi__thread_id_room(thread)) return PHI_NO_MEMORY;
    at = phi__thread_id_place(thread->ids, thread->id_cap, hash);
    if (thread->ids[at] == hash) return PHI_FULL;
    thread->ids[at] = hash;
    thread->id_count++;
    return PHI_OK;
}

#endif /* PHI__IMP_THREAD */

#ifdef PHI__IMP_LOOP
#if PHI__IMP_LOOP != 0x61e4d739
#error "phi: two versions of src/loop in one file"
#endif
#else
#define PHI__IMP_LOOP 0x61e4d739

/* ---- src/loop/loop_in.h ---- */

/* loop_in.h - the structures of the pump: the runtime, its agents, their runs, transfers and calls.

   The runtime owns everything. An agent's run exists from prompt to AGENT_END; it is advanced a slice
   at a time from the runtime's ready list, and leaves the list when it waits. Whoever ends a wait (a
   push, a result, a timer, a cancel) puts it back with phi__run_wake.
   Callbacks into the host happen in three places only: a tool's start, step and cancel. During a step,
   an agent that is freed is taken out of every table at once and destroyed when the step ends.
   Threads: the pumping thread, but for the words of slots and the inbox. */
#ifndef PHI_LOOP_LOOP_IN_H
#define PHI_LOOP_LOOP_IN_H


typedef struct phi__agent phi__agent;
typedef struct phi__run phi__run;
typedef struct phi__toolcall phi__toolcall;

/* ---- events ---- */

/* One answer while it streams and, as `final`, in the thread; kept while events refer to it. */
typedef struct phi__answer {
    phi_memory *memory;
    uint32_t refs;
    bool live; /* the assembly is in use; else `final` has taken its place */
    phi__assembly assembly;
    const phi_message *final;
    phi_message start; /* what MESSAGE_START shows: who, and nothing said yet */
    phi_message view;  /* of the assembly, remade at a pop */
    phi_content *content;
    size_t content_cap;
    bool viewed; /* `view` shows the assembly as it is */
} phi__answer;

struct phi__event_block;

typedef struct phi__record {
    struct phi__record *next, *prev;   /* of those queued, or of those popped */
    struct phi__record *newer, *older; /* of the same agent's */
    struct phi__event_block *block;    /* NULL: one of an agent's reserve */
    phi__agent *agent;
    phi__answer *answer; /* for partial and message; NULL: none */
    size_t partial_len;
    size_t cost; /* bytes counted against the agent's queue */
    bool in_use; /* reserve: queued */
    bool popped;
    phi_event event;
} phi__record;

typedef struct phi__records {
    phi__record *head, *tail;
} phi__records;

typedef struct phi__events {
    phi_memory *memory;
    phi__records queued;
    phi__records popped; /* until the next step */
    struct phi__event_block *current, *spare;
    uint64_t seq;
} phi__events;

/* ---- transfers ---- */

enum { PHI__XFER_BODY_MOST = 65536 }; /* bytes that wait for the decoder; DESIGN part 4 */

typedef struct phi__xfer {
    phi_runtime *rt;
    phi__slot *slot;
    void (*ready)(struct phi__xfer *transfer); /* something arrived, or the end */
    void *owner;
    phi__buf body, headers;
    size_t read; /* of body */
    uint64_t received, max_bytes;
    int http_status;
    bool headed, ended, refused; /* refused: a push was answered with PHI_FULL */
    bool gone; /* the transport has let go of it: it said the end, or was told to cancel */
    phi_status status;
    char words[200];
    phi_deadlines deadlines;
    int stage;                    /* 0: queued, then phi_xfer_stage, then PHI__STAGE_EVENTS */
    uint64_t opened_us, stage_us; /* stage_us: when the stage began, or life was last seen */
    phi__timer timer;
    bool late; /* the deadline has passed, and this is the last look at the descriptors */
} phi__xfer;

enum { PHI__STAGE_QUEUED = 0, PHI__STAGE_EVENTS = 100 };

/* ---- calls ---- */

/* Slot states. CLAIMED: whoever moved it there, and nobody else, says the result: through the inbox,
   or on the pumping thread. */
enum { PHI__CALL_PENDING = 1, PHI__CALL_CLAIMED = 2 };

struct phi__toolcall {
    phi_runtime *rt;
    phi__slot *slot; /* NULL once there is a result */
    uint32_t index, gen;
    phi__run *run;
    const phi_tool *tool;     /* NULL: unknown */
    const phi_content *block; /* in the thread */
    phi_str arguments;
    phi__timer timer;
    void *state;
    size_t state_bytes;
    phi_message *result;                  /* in the thread's arena, not yet appended */
    bool started, ended;                  /* ended: TOOL_END was emitted */
    phi__toolcall *poll_next, *poll_prev; /* calls whose step is called */
    bool polled;
    uint32_t poll_round; /* in which its step was called last */
};

/* ---- runs ---- */

typedef enum phi__state {
    PHI__RUN_OPEN = 1,
    PHI__RUN_TURN,
    PHI__RUN_REQUEST,
    PHI__RUN_STREAM,
    PHI__RUN_TOOLS,
    PHI__RUN_TURN_END,
    PHI__RUN_CLOSE,
    PHI__RUN_OVER /* taken apart by the pump */
} phi__state;

typedef enum phi__body {
    PHI__BODY_UNKNOWN, /* the head has not come */
    PHI__BODY_STREAM,
    PHI__BODY_WHOLE,
    PHI__BODY_ERROR
} phi__body;

struct phi__run {
    phi__agent *agent;
    phi__state state;
    phi__run *next_ready;
    bool in_ready, cancelled, over;
    phi_arena arena;     /* the turn's: the request, tool calls */
    phi_str loop_id;     /* in the thread */
    uint32_t posts_from; /* of the inbox: an abort posted before meant an earlier run */
    uint32_t turn_index;
    bool turn_open;
    uint64_t started_us;
    size_t first_message; /* of the run, in the thread's messages */
    size_t told_messages; /* prompts whose events are out */
    phi_usage usage, turn_usage;
    double cost;
    phi_status status;
    const phi_failure *failure; /* in the thread, or static */
    /* the model call */
    phi__ask ask;
    phi__encoder encoder;
    bool encoding;
    phi__xfer *transfer;
    phi__sse sse;
    void *decoder;      /* zeroed state of the codec, in the arena */
    phi__buf collected; /* an answer that is not a stream: an error, or whole JSON */
    phi__body body;
    bool answer_told; /* MESSAGE_START is out */
    bool alive;       /* something meaningful came since this was cleared */
    bool lost;        /* an event found no memory */
    phi__answer *answer;
    const phi_message *reply; /* the answer in the thread */
    /* its tools */
    phi__toolcall *calls;
    size_t call_count, next_call, told_calls, running_calls;
};

/* ---- agents ---- */

/* A run that had to take one ends: AGENT_START or TURN_END, then ERROR, and AGENT_END. */
enum { PHI__RESERVE = 3 };

struct phi__agent {
    phi_runtime *rt;
    phi__slot *slot; /* NULL: freed, waiting for the step's end */
    uint32_t index, gen;
    phi__agent *next_doomed;
    phi_memory memory;
    phi_arena arena;       /* what the desc gave */
    phi_arena model_arena; /* the model's strings, and the segment */
    phi_model model;
    const phi__codec *codec;
    phi_str system_prompt;
    phi_str agent_id, session_id;      /* each in memory of its own */
    phi_str segment;                   /* of loop ids: provider.model[.thinking] */
    bool segment_given;                /* by the desc: it stays when the model changes */
    char session_made[PHI__UUID_SIZE]; /* session_id after a reset, which needs no memory */
    phi_tool *tools;
    phi__tool_view *tool_views;
    size_t tool_count;
    phi_tool_mode tool_mode;
    uint32_t tool_batch;
    phi_tool_choice tool_choice;
    phi_thinking thinking;
    uint32_t max_tokens;
    double temperature; /* negative: not sent */
    bool disable_cache;
    phi_limits limits;
    phi_deadlines deadlines;
    size_t event_queue_bytes, max_event_bytes;
    uint64_t max_response_bytes;
    void *user_data;
    phi__thread thread;
    phi__run *run;
    uint32_t loops; /* runs so far: N of the loop id */
    phi_usage usage;
    double cost;
    size_t queued_bytes;          /* of its events that were not popped */
    phi__record *oldest, *newest; /* of its events, those popped too */
    phi__record reserve[PHI__RESERVE];
    phi_failure no_memory; /* a failure that needs none */
};

/* ---- the runtime ---- */

enum { PHI__POST_FINISH = 1, PHI__POST_ABORT };

struct phi_runtime {
    phi_memory memory;
    phi__io *io;
    phi__http *http;
    const phi_transport *transport;
    phi__slots agents, calls, transfers;
    phi__inbox inbox;
    phi__events events;
    phi__run *ready, *ready_last;
    phi__toolcall *polled; /* a ring; where the next step begins */
    size_t polled_count;
    uint32_t poll_round;
    phi__agent *doomed;
    uint32_t active; /* runs going */
    uint32_t step_budget_us, step_budget_bytes;
    uint64_t step_began_us, step_until_us;
    int64_t step_wall_ms; /* of the step; one look at the clock serves all its events */
    size_t step_bytes_left;
    bool in_step, closing;
    phi_status error; /* the last one */
    int error_http_status;
    char error_words[256];
};

/* events.c */
PHI__FN void phi__events_init(phi__events *events, phi_memory *memory);
PHI__FN void phi__events_free(phi__events *events);
/* Queues a copy of `event` (kind, and what the kind uses; agent, seq, time are filled). Its text is
   copied; its other strings must live as long as the agent's thread. False: no memory. */
PHI__FN bool phi__emit(phi__agent *agent, const phi_event *event, phi__answer *answer,
                       size_t partial_len);
/* The same for a part of an answer, made in place: there are many of them. */
PHI__FN bool phi__emit_delta(phi__agent *agent, phi_event_kind kind, uint32_t block_index,
                             phi_str text, phi__answer *answer, size_t partial_len);
/* The same for what must not be lost: it takes one of the reserve when there is no memory, and says
   false; the run must then end. */
PHI__FN bool phi__emit_surely(phi__agent *agent, const phi_event *event);
PHI__FN bool phi__events_pop(phi_runtime *rt, phi_event *out);
PHI__FN void phi__events_release(phi_runtime *rt); /* what was popped before this step */
PHI__FN void phi__events_purge(phi_runtime *rt, phi__agent *agent); /* its events, popped or not */
PHI__FN bool phi__events_backlog(const phi__agent *agent);          /* the host does not drain */

PHI__FN phi__answer *phi__answer_new(phi_memory *memory);
PHI__FN void phi__answer_drop(phi__answer *answer); /* one reference; NULL is harmless */
PHI__FN bool phi__answer_room(phi__answer *answer); /* for a view of all its blocks */
PHI__FN const phi_message *phi__answer_message(phi__answer *answer);
PHI__FN void phi__answer_settle(phi__answer *answer, const phi_message *final);

/* xfer.c */
PHI__FN const phi__xfer_port *phi__xfer_port_get(void);
PHI__FN phi_status phi__xfer_open(phi_runtime *rt, phi_memory *memory, const phi_request *request,
                                  const phi_deadlines *deadlines, uint64_t max_bytes,
                                  void (*ready)(phi__xfer *), void *owner, phi__xfer **out);
PHI__FN phi_str phi__xfer_unread(const phi__xfer *transfer);
PHI__FN void phi__xfer_took(phi__xfer *transfer, size_t bytes);
PHI__FN void phi__xfer_alive(phi__xfer *transfer); /* a meaningful event was seen */
PHI__FN void phi__xfer_close(phi__xfer *transfer); /* cancels if it goes; NULL is harmless */

/* call.c */
PHI__FN bool phi__call_open(phi__toolcall *call); /* its handle; false: no memory */
PHI__FN void phi__call_start(phi__toolcall *call);
PHI__FN void phi__call_fail(phi__toolcall *call,
                            const char *text); /* an error result, if none yet */
PHI__FN void phi__call_cancel(phi__toolcall *call, const char *text); /* tells the tool, too */
/* Lets go of a call that will have no result: tells the tool, and its handle dies. Its own memory stays
   until dispose, for a tool that is running just now. */
PHI__FN void phi__call_detach(phi__toolcall *call);
PHI__FN void phi__call_dispose(phi__toolcall *call);
PHI__FN void phi__call_posted(phi_runtime *rt, const phi__post *post);
PHI__FN void phi__calls_poll(phi_runtime *rt);

/* run.c */
PHI__FN phi_status phi__run_new(phi__agent *agent, const phi_message *prompt);
PHI__FN void phi__run_wake(phi__run *run);
PHI__FN void phi__run_cancel(phi__run *run);
PHI__FN void phi__run_detach(phi__run *run);  /* nothing wakes it or is called by it any more */
PHI__FN void phi__run_destroy(phi__run *run); /* at once, without events: agent or runtime go */
PHI__FN void phi__runs_advance(phi_runtime *rt);
PHI__FN bool phi__step_spent(const phi_runtime *rt);
/* Appends a message to the log and tells it with MESSAGE_START and MESSAGE_END. */
PHI__FN bool phi__run_log(phi__run *run, const phi_message *kept);
PHI__FN bool phi__run_tell(phi__run *run, const phi_message *message);
PHI__FN void phi__run_stamp(const phi__run *run, phi_message *message);
/* Ends the run because memory ran out: phi__run_over_memory returns the state to go to. */
PHI__FN phi__state phi__run_no_memory(phi__run *run);
PHI__FN phi__state phi__run_fail(phi__run *run, const phi_failure *failure, phi_status status);

/* model_call.c: the states REQUEST and STREAM */
PHI__FN phi__state phi__run_request(phi__run *run, bool *wait);
PHI__FN phi__state phi__run_stream(phi__run *run, bool *wait);
PHI__FN void phi__run_drop_call(phi__run *run); /* lets go of the model call's resources */

/* run_tools.c: the state TOOLS */
PHI__FN phi__state phi__run_tools(phi__run *run, bool *wait);
PHI__FN phi__state phi__run_make_calls(phi__run *run); /* TOOLS, or TURN_END without any */
PHI__FN void phi__run_detach_tools(phi__run *run);     /* tells them; frees nothing */
PHI__FN void phi__run_drop_tools(phi__run *run);

/* limits.c */
PHI__FN bool phi__limit_reached(const phi__run *run, char *reason, size_t size);

/* The runtime's last error. */
PHI__FN phi_status phi__error(phi_runtime *rt, phi_status status, const char *format, ...)
    PHI_PRINTF(3, 4);

static inline phi_agent phi__agent_handle(const phi__agent *agent) {
    phi_agent handle;
    handle.rt = agent->rt;
    handle.index = agent->index;
    handle.gen = agent->gen;
    return handle;
}

#endif

/* ---- src/loop/call.c ---- */

/* call.c - one tool call: started, polled, finished from anywhere, or cancelled; exactly one result.

   The first result wins, by one compare-and-swap of the slot's word from PENDING to CLAIMED. Another
   thread has its room in the inbox before it claims, so what was claimed is sure to come, and neither a
   deadline nor an abort takes it back or tells a tool that has finished to cancel. A call's own memory
   is kept until its run looks at it again, so that a tool may use its state after handing over the
   result. */

#include <stdio.h>

static phi__toolcall *phi__call_find(phi_call call) {
    phi__slot *slot =
        call.rt != NULL ? phi__slots_find(&call.rt->calls, call.index, call.gen) : NULL;
    return slot != NULL ? (phi__toolcall *)slot->object : NULL;
}

static phi_call phi__call_handle(const phi__toolcall *call) {
    phi_call handle;
    handle.rt = call->rt;
    handle.index = call->index;
    handle.gen = call->gen;
    return handle;
}

static void phi__call_poll_remove(phi__toolcall *call) {
    phi_runtime *rt = call->rt;
    if (!call->polled) return;
    call->polled = false;
    rt->polled_count--;
    if (rt->polled == call) rt->polled = rt->polled_count > 0 ? call->poll_next : NULL;
    call->poll_prev->poll_next = call->poll_next;
    call->poll_next->poll_prev = call->poll_prev;
}

/* Behind the ring's last one, which is before its first. */
static void phi__call_poll_add(phi__toolcall *call) {
    phi_runtime *rt = call->rt;
    if (rt->polled == NULL) {
        call->poll_next = call->poll_prev = call;
        rt->polled = call;
    } else {
        call->poll_next = rt->polled;
        call->poll_prev = rt->polled->poll_prev;
        call->poll_prev->poll_next = call;
        rt->polled->poll_prev = call;
    }
    call->polled = true;
    rt->polled_count++;
}

static bool phi__call_claim(const phi__toolcall *call) {
    return phi__slots_move(&call->rt->calls, call->index, call->gen, PHI__CALL_PENDING,
                           PHI__CALL_CLAIMED);
}

/* The result is there, or cannot be: the handle dies now. */
static void phi__call_settle(phi__toolcall *call, phi_message *result) {
    call->result = result;
    if (call->started && call->slot != NULL) call->run->running_calls--;
    phi__io_timer_clear(call->rt->io, &call->timer);
    phi__call_poll_remove(call);
    if (call->slot != NULL) phi__slots_release(&call->rt->calls, call->slot);
    call->slot = NULL;
    phi__run_wake(call->run);
}

static phi_message *phi__call_keep(phi__toolcall *call, const phi_tool_result *result) {
    phi_message message;
    memset(&message, 0, sizeof message);
    message.role = PHI_ROLE_TOOL_RESULT;
    message.content = result->content;
    message.content_count = result->content_count;
    message.tool_call_id = call->block->id;
    message.tool_name = call->block->name;
    message.is_error = result->is_error;
    message.details = phi_str_of(result->details);
    phi__run_stamp(call->run, &message);
    return phi__thread_keep(&call->run->agent->thread, &message);
}

static phi_message *phi__call_keep_text(phi__toolcall *call, phi_str text, bool is_error) {
    phi_content content;
    phi_tool_result result;
    memset(&content, 0, sizeof content);
    memset(&result, 0, sizeof result);
    content.kind = PHI_CONTENT_TEXT;
    content.text = text;
    result.content = &content;
    result.content_count = 1;
    result.is_error = is_error;
    return phi__call_keep(call, &result);
}

PHI__FN void phi__call_fail(phi__toolcall *call, const char *text) {
    if (call->result != NULL) return;
    phi__call_settle(call, phi__call_keep_text(call, phi_str_of(text), true));
}

PHI__FN void phi__call_cancel(phi__toolcall *call, const char *text) {
    const phi_tool *tool = call->tool;
    if (call->result != NULL) return;
    if (call->slot != NULL) {
        if (!phi__call_claim(call)) return; /* its result is on the way */
        if (call->started && tool != NULL && tool->cancel != NULL)
            tool->cancel(tool->user_data, phi__call_handle(call));
    }
    phi__call_fail(call, text);
}

PHI__FN void phi__call_detach(phi__toolcall *call) {
    const phi_tool *tool = call->tool;
    /* Claimed before it is told: the tool may free the agent again from there. */
    if (call->slot != NULL && phi__call_claim(call) && call->started && tool != NULL &&
        tool->cancel != NULL)
        tool->cancel(tool->user_data, phi__call_handle(call));
    phi__io_timer_clear(call->rt->io, &call->timer);
    phi__call_poll_remove(call);
    if (call->slot != NULL) phi__slots_release(&call->rt->calls, call->slot);
    call->slot = NULL;
}

PHI__FN void phi__call_dispose(phi__toolcall *call) {
    phi__call_detach(call);
    phi__free(&call->run->agent->memory, call->state, call->state_bytes);
    call->state = NULL;
}

/* ---- starting ---- */

static void phi__call_timer(phi__timer *timer) {
    phi__toolcall *call = PHI__OWNER(timer, phi__toolcall, timer);
    char text[64];
    (void)snprintf(text, sizeof text, "Tool exceeded timeout of %ums",
                   (unsigned)call->tool->timeout_ms);
    phi__call_cancel(call, text);
}

/* Whether the arguments are what the tool's schema says; else words for the model. */
static bool phi__call_arguments_fit(phi__toolcall *call, char *words, size_t size) {
    phi_arena *arena = &call->run->arena;
    phi_arena_mark mark = phi_arena_save(arena);
    phi_json *arguments = NULL, *schema = NULL;
    phi_parse_error parse;
    phi_schema_error error;
    phi_status status = phi_json_parse(arena, call->arguments, PHI_JSON_BORROW, &arguments, &parse);
    bool fit = false;
    if (status == PHI_OK && !call->tool->checks_arguments)
        status =
            phi_json_parse(arena, phi_str_of(call->tool->schema), PHI_JSON_BORROW, &schema, &parse);
    if (status == PHI_NO_MEMORY)
        (void)snprintf(words, size, "Out of memory");
    else if (status != PHI_OK)
        (void)snprintf(words, size, "Invalid arguments: not JSON, at column %u: %s",
                       (unsigned)parse.column, parse.message);
    else if (!phi_json_is_object(arguments))
        (void)snprintf(words, size, "Invalid arguments: expected object, got %s",
                       phi_json_type_name(arguments));
    else if (schema != NULL && phi_schema_check(schema, arguments, "arguments", &error) != PHI_OK)
        (void)snprintf(words, size, "Invalid arguments: %s", error.message);
    else
        fit = true;
    phi_arena_reset(arena, mark);
    return fit;
}

static bool phi__call_arm(phi__toolcall *call) {
    phi_runtime *rt = call->rt;
    if (call->tool->timeout_ms == PHI_UNLIMITED) return true;
    call->timer.fire = phi__call_timer;
    return phi__io_timer_set(rt->io, &call->timer,
                             phi__io_now_us(rt->io) + (uint64_t)call->tool->timeout_ms * 1000) ==
           PHI_OK;
}

/* What start or step said; a tool that is done without a word gets an empty text. */
static void phi__call_flow(phi__toolcall *call, uint32_t gen, phi_flow flow) {
    if (call->slot == NULL || call->gen != gen) return;
    if (flow == PHI_DONE) {
        phi__call_poll_remove(call); /* also where its result is still in the inbox */
        if (phi__call_claim(call))
            phi__call_settle(call, phi__call_keep_text(call, phi__str("", 0), false));
    } else if (!call->polled && call->tool->step != NULL)
        phi__call_poll_add(call);
}

PHI__FN bool phi__call_open(phi__toolcall *call) {
    call->slot = phi__slots_take(&call->rt->calls, PHI__CALL_PENDING, call);
    if (call->slot == NULL) return false;
    call->index = call->slot->index;
    call->gen = phi__slot_gen(PHI__LOAD(&call->slot->word));
    return true;
}

PHI__FN void phi__call_start(phi__toolcall *call) {
    char words[400];
    phi_flow flow;
    call->started = true;
    call->run->running_calls++;
    if (call->tool == NULL) {
        (void)snprintf(words, sizeof words, "Tool %.*s not found",
                       (int)phi__utf8_cut(call->block->name, 200), call->block->name.at);
        phi__call_fail(call, words);
    } else if (call->block->incomplete) {
        phi__call_fail(call, "The answer was cut off inside this tool call; it was not run.");
    } else if (!phi__call_arguments_fit(call, words, sizeof words)) {
        words[phi__utf8_cut(phi_str_of(words), sizeof words - 1)] = '\0';
        phi__call_fail(call, words);
    } else if (!phi__call_arm(call)) {
        phi__call_fail(call, "Out of memory");
    } else {
        flow = call->tool->start(call->tool->user_data, phi__call_handle(call), call->arguments);
        phi__call_flow(call, call->gen, flow);
    }
}

/* Goes on where the last step stopped, so that none starves under a small budget. The ring may change
   under way: a round is over when it comes to a call that had its turn. */
PHI__FN void phi__calls_poll(phi_runtime *rt) {
    rt->poll_round++;
    while (rt->polled != NULL && rt->polled->poll_round != rt->poll_round) {
        phi__toolcall *call = rt->polled;
        uint32_t gen = call->gen;
        phi_flow flow;
        rt->polled = call->poll_next;
        call->poll_round = rt->poll_round;
        flow = call->tool->step(call->tool->user_data, phi__call_handle(call));
        phi__call_flow(call, gen, flow);
        if (phi__step_spent(rt)) return;
    }
}

/* ---- what comes through the inbox ---- */

PHI__FN void phi__call_posted(phi_runtime *rt, const phi__post *post) {
    phi_call handle;
    phi__toolcall *call;
    handle.rt = rt;
    handle.index = post->index;
    handle.gen = post->gen;
    call = phi__call_find(handle);
    if (call == NULL) return; /* cancelled, or its agent freed, since it was posted */
    phi__call_settle(call, phi__call_keep_text(call, post->text, post->flag != 0));
}

/* ---- public ---- */

PHI_API phi_status phi_call_result(phi_call handle, const phi_tool_result *result) {
    phi__toolcall *call = phi__call_find(handle);
    size_t i;
    phi_message *kept;
    if (handle.rt == NULL || result == NULL) return PHI_BAD_ARG;
    if (result->content == NULL && result->content_count > 0)
        return phi__error(handle.rt, PHI_BAD_ARG,
                          "phi_call_result: content is missing, content_count is %u",
                          (unsigned)result->content_count);
    for (i = 0; i < result->content_count; i++)
        if (result->content[i].kind != PHI_CONTENT_TEXT &&
            result->content[i].kind != PHI_CONTENT_IMAGE)
            return phi__error(handle.rt, PHI_BAD_ARG,
                              "phi_call_result: content[%u].kind: expected text or image",
                              (unsigned)i);
    if (call == NULL || !phi__call_claim(call)) return PHI_STALE;
    kept = phi__call_keep(call, result);
    phi__call_settle(call, kept);
    return kept != NULL ? PHI_OK : PHI_NO_MEMORY;
}

PHI_API phi_status phi_call_finish(phi_call handle, const char *text, size_t len, bool is_error) {
    phi__post post;
    phi_status status;
    struct phi__inbox_record *record = NULL;
    bool won;
    if (handle.rt == NULL || (text == NULL && len > 0)) return PHI_BAD_ARG;
    if (!phi_call_pending(handle)) return PHI_STALE;
    post.kind = PHI__POST_FINISH;
    post.index = handle.index;
    post.gen = handle.gen;
    post.flag = is_error ? 1 : 0;
    post.text = phi__str(text, len);
    status = phi__inbox_prepare(&handle.rt->inbox, &post, &record);
    if (status != PHI_OK) return status;
    won = phi__slots_move(&handle.rt->calls, handle.index, handle.gen, PHI__CALL_PENDING,
                          PHI__CALL_CLAIMED);
    phi__inbox_publish(record, won);
    phi__io_wake(handle.rt->io); /* lost, too: what was posted behind it may be seen only now */
    return won ? PHI_OK : PHI_STALE;
}

static phi_status phi__call_say(phi_call handle, phi_event_kind kind, const char *text,
                                size_t len) {
    phi__toolcall *call = phi__call_find(handle);
    phi_event event;
    if (handle.rt == NULL || (text == NULL && len > 0)) return PHI_BAD_ARG;
    if (call == NULL) return PHI_STALE;
    memset(&event, 0, sizeof event);
    event.kind = kind;
    event.call = handle;
    event.tool_call_id = call->block->id;
    event.tool_name = call->block->name;
    event.text = phi__str(text, len);
    if (phi__events_backlog(call->run->agent)) return PHI_FULL;
    return phi__emit(call->run->agent, &event, NULL, 0) ? PHI_OK : PHI_NO_MEMORY;
}

PHI_API phi_status phi_call_update(phi_call call, const char *text, size_t len) {
    return phi__call_say(call, PHI_EV_TOOL_UPDATE, text, len);
}

PHI_API phi_status phi_call_progress(phi_call call, const char *text, size_t len) {
    return phi__call_say(call, PHI_EV_TOOL_PROGRESS, text, len);
}

PHI_API void *phi_call_state(phi_call handle, size_t bytes) {
    phi__toolcall *call = phi__call_find(handle);
    if (call == NULL) return NULL;
    if (call->state == NULL && bytes > 0) {
        call->state = phi__alloc(&call->run->agent->memory, bytes);
        if (call->state != NULL) call->state_bytes = bytes;
    }
    return call->state;
}

PHI_API phi_str phi_call_id(phi_call handle) {
    phi__toolcall *call = phi__call_find(handle);
    return call != NULL ? call->block->id : phi__str(NULL, 0);
}

PHI_API phi_str phi_call_tool_name(phi_call handle) {
    phi__toolcall *call = phi__call_find(handle);
    return call != NULL ? call->block->name : phi__str(NULL, 0);
}

PHI_API phi_agent phi_call_agent(phi_call handle) {
    phi__toolcall *call = phi__call_find(handle);
    phi_agent none;
    memset(&none, 0, sizeof none);
    return call != NULL ? phi__agent_handle(call->run->agent) : none;
}

PHI_API bool phi_call_pending(phi_call handle) {
    return handle.rt != NULL && phi__slots_state(&handle.rt->calls, handle.index, handle.gen) ==
                                    (uint32_t)PHI__CALL_PENDING;
}

/* ---- src/loop/events.c ---- */

/* events.c - the queue between the pump and the host: a list of records in shared blocks.

   A block is freed when none of its records is left; one is kept as a spare, so that a steady stream
   takes no memory from the allocator. What an event calls `partial` is kept as a length into the
   answer and looked up when the event is popped, by which time the buffer may have moved. */

/* A few dozen events; more would be held by one slow reader. */
#define PHI__EVENT_BLOCK_BYTES 8192u

typedef struct phi__event_block {
    uint32_t live; /* records that were not released */
    size_t bytes, used;
} phi__event_block;

enum { PHI__EVENT_ALIGN = 16 };

static size_t phi__events_round(size_t bytes) {
    return (bytes + PHI__EVENT_ALIGN - 1) & ~(size_t)(PHI__EVENT_ALIGN - 1);
}

PHI__FN void phi__events_init(phi__events *events, phi_memory *memory) {
    memset(events, 0, sizeof *events);
    events->memory = memory;
}

/* ---- answers ---- */

PHI__FN phi__answer *phi__answer_new(phi_memory *memory) {
    phi__answer *answer = (phi__answer *)phi__alloc(memory, sizeof *answer);
    if (answer == NULL) return NULL;
    answer->memory = memory;
    answer->refs = 1;
    answer->live = true;
    answer->start.role = PHI_ROLE_ASSISTANT;
    phi__assembly_init(&answer->assembly, memory);
    return answer;
}

PHI__FN void phi__answer_settle(phi__answer *answer, const phi_message *final) {
    if (!answer->live) return;
    answer->live = false;
    answer->final = final;
    phi__assembly_free(&answer->assembly);
    phi__free(answer->memory, answer->content, answer->content_cap * sizeof *answer->content);
    answer->content = NULL;
    answer->content_cap = 0;
}

PHI__FN void phi__answer_drop(phi__answer *answer) {
    if (answer == NULL || --answer->refs > 0) return;
    phi__answer_settle(answer, NULL);
    phi__free(answer->memory, answer, sizeof *answer);
}

PHI__FN bool phi__answer_room(phi__answer *answer) {
    void *grown = phi__grow(answer->memory, answer->content, &answer->content_cap,
                            phi__max(answer->assembly.count, 1), sizeof *answer->content);
    if (grown == NULL) return false;
    if (answer->content != (phi_content *)grown) answer->viewed = false;
    answer->content = (phi_content *)grown;
    return true;
}

PHI__FN const phi_message *phi__answer_message(phi__answer *answer) {
    /* An answer that memory did not suffice for shows who spoke, and nothing said: never NULL. */
    if (!answer->live) return answer->final != NULL ? answer->final : &answer->start;
    if (answer->content_cap < answer->assembly.count) return &answer->start;
    if (!answer->viewed) phi__assembly_view(&answer->assembly, answer->content, &answer->view);
    answer->viewed = true;
    return &answer->view;
}

static phi_str phi__events_partial(const phi__record *record) {
    const phi_message *message = record->event.message;
    const phi_content *block;
    phi_str whole;
    if (message == NULL || record->event.block_index >= message->content_count)
        return phi__str(NULL, 0);
    block = &message->content[record->event.block_index];
    whole = block->kind == PHI_CONTENT_TOOL_CALL ? block->arguments : block->text;
    return phi__str(whole.at, phi__min(whole.len, record->partial_len));
}

/* ---- records ---- */

static phi__record *phi__events_take(phi__events *events, size_t text_bytes) {
    size_t need = phi__events_round(sizeof(phi__record) + text_bytes);
    size_t head = phi__events_round(sizeof(phi__event_block));
    phi__event_block *block = events->current;
    phi__record *record;
    if (need < text_bytes) return NULL;
    if (block == NULL || block->bytes - block->used < need) {
        size_t bytes = phi__max(PHI__EVENT_BLOCK_BYTES, phi__add(head, need));
        if (bytes == PHI__EVENT_BLOCK_BYTES && events->spare != NULL) {
            block = events->spare;
            events->spare = NULL;
        } else {
            block = (phi__event_block *)phi__realloc(events->memory, NULL, 0, bytes);
            if (block == NULL) return NULL;
            block->bytes = bytes;
        }
        block->live = 0;
        block->used = head;
        if (events->current != NULL && events->current->live == 0)
            phi__free(events->memory, events->current, events->current->bytes);
        events->current = block;
    }
    record = (phi__record *)(void *)((char *)block + block->used);
    block->used += need;
    block->live++;
    record->block = block;
    record->in_use = record->popped = false;
    return record; /* its links and its event are the caller's to fill */
}

static void phi__events_unblock(phi__events *events, phi__event_block *block) {
    if (--block->live > 0) return;
    if (block == events->current && block->bytes == PHI__EVENT_BLOCK_BYTES) {
        block->used = phi__events_round(sizeof(phi__event_block));
        return;
    }
    if (block == events->current) events->current = NULL; /* a large one is not kept */
    if (events->spare == NULL && block->bytes == PHI__EVENT_BLOCK_BYTES) {
        events->spare = block;
    } else {
        phi__free(events->memory, block, block->bytes);
    }
}

static void phi__events_link(phi__records *list, phi__record *record) {
    record->next = NULL;
    record->prev = list->tail;
    if (list->tail != NULL)
        list->tail->next = record;
    else
        list->head = record;
    list->tail = record;
}

static void phi__events_unlink(phi__records *list, phi__record *record) {
    if (record->prev != NULL)
        record->prev->next = record->next;
    else
        list->head = record->next;
    if (record->next != NULL)
        record->next->prev = record->prev;
    else
        list->tail = record->prev;
}

/* So that an agent's events are found without a look at all others'. */
static void phi__events_join(phi__agent *agent, phi__record *record) {
    record->agent = agent;
    record->newer = NULL;
    record->older = agent->newest;
    if (agent->newest != NULL)
        agent->newest->newer = record;
    else
        agent->oldest = record;
    agent->newest = record;
}

static void phi__events_leave(phi__record *record) {
    phi__agent *agent = record->agent;
    if (record->older != NULL)
        record->older->newer = record->newer;
    else
        agent->oldest = record->newer;
    if (record->newer != NULL)
        record->newer->older = record->older;
    else
        agent->newest = record->older;
}

static void phi__events_drop(phi__events *events, phi__record *record) {
    phi__events_unlink(record->popped ? &events->popped : &events->queued, record);
    phi__events_leave(record);
    phi__answer_drop(record->answer);
    record->answer = NULL;
    if (record->block != NULL)
        phi__events_unblock(events, record->block);
    else
        record->in_use = false;
}

static void phi__events_queue(phi__agent *agent, phi__record *record) {
    phi__events *events = &agent->rt->events;
    phi_event *event = &record->event;
    event->agent = phi__agent_handle(agent);
    event->user_data = agent->user_data;
    event->seq = ++events->seq;
    event->timestamp_ms =
        agent->rt->in_step ? agent->rt->step_wall_ms : phi__io_wall_ms(agent->rt->io);
    if (event->loop_id.at == NULL && agent->run != NULL) event->loop_id = agent->run->loop_id;
    if (agent->run != NULL) event->turn_index = agent->run->turn_index;
    phi__events_join(agent, record);
    phi__events_link(&events->queued, record);
}

/* A record with a copy of the text, its event still to be filled; NULL: no memory. */
static phi__record *phi__events_make(phi__agent *agent, phi_str text, phi__answer *answer,
                                     size_t partial_len) {
    phi__record *record = phi__events_take(&agent->rt->events, text.len);
    if (record == NULL) return NULL;
    if (text.len > 0) memcpy(record + 1, text.at, text.len);
    record->answer = answer;
    record->partial_len = partial_len;
    if (answer != NULL) answer->refs++;
    record->cost = sizeof *record + text.len;
    agent->queued_bytes += record->cost;
    return record;
}

PHI__FN bool phi__emit(phi__agent *agent, const phi_event *event, phi__answer *answer,
                       size_t partial_len) {
    phi__record *record;
    if (agent->slot == NULL) return true; /* freed: nobody listens */
    record = phi__events_make(agent, event->text, answer, partial_len);
    if (record == NULL) return false;
    record->event = *event;
    if (event->text.len > 0) record->event.text.at = (const char *)(record + 1);
    phi__events_queue(agent, record);
    return true;
}

PHI__FN bool phi__emit_delta(phi__agent *agent, phi_event_kind kind, uint32_t block_index,
                             phi_str text, phi__answer *answer, size_t partial_len) {
    phi__record *record;
    if (agent->slot == NULL) return true;
    record = phi__events_make(agent, text, answer, partial_len);
    if (record == NULL) return false;
    memset(&record->event, 0, sizeof record->event);
    record->event.kind = kind;
    record->event.block_index = block_index;
    record->event.text = phi__str((const char *)(record + 1), text.len);
    phi__events_queue(agent, record);
    return true;
}

PHI__FN bool phi__emit_surely(phi__agent *agent, const phi_event *event) {
    size_t i;
    if (phi__emit(agent, event, NULL, 0)) return true;
    for (i = 0; i < PHI__RESERVE; i++) {
        phi__record *record = &agent->reserve[i];
        if (record->in_use) continue;
        memset(record, 0, sizeof *record);
        record->in_use = true;
        record->event = *event;
        phi__events_queue(agent, record);
        return false;
    }
    PHI_ASSERT(false && "the reserve covers every event of a run that must not be lost");
    return false;
}

PHI__FN bool phi__events_backlog(const phi__agent *agent) {
    return agent->queued_bytes >= agent->event_queue_bytes;
}

static void phi__events_look_up(phi__record *record) {
    if (record->answer == NULL) return;
    if (record->event.kind == PHI_EV_MESSAGE_START) {
        record->event.message = &record->answer->start;
        return;
    }
    record->event.message = phi__answer_message(record->answer);
    record->event.partial = phi__events_partial(record);
}

/* Less waits now: a run that had stopped for the host's sake goes on. */
static void phi__events_paid(phi__record *record) {
    phi__agent *agent = record->agent;
    bool stopped = phi__events_backlog(agent);
    agent->queued_bytes -= record->cost;
    record->cost = 0;
    if (stopped && !phi__events_backlog(agent) && agent->run != NULL) phi__run_wake(agent->run);
}

PHI__FN bool phi__events_pop(phi_runtime *rt, phi_event *out) {
    phi__events *events = &rt->events;
    phi__record *record = events->queued.head;
    if (record == NULL) return false;
    phi__events_paid(record);
    phi__events_look_up(record);
    *out = record->event;
    if (record->block == NULL) { /* it holds nothing that its copy points to */
        phi__events_drop(events, record);
        return true;
    }
    phi__events_unlink(&events->queued, record);
    phi__events_link(&events->popped, record);
    record->popped = true;
    return true;
}

PHI__FN void phi__events_release(phi_runtime *rt) {
    phi__events *events = &rt->events;
    while (events->popped.head != NULL) phi__events_drop(events, events->popped.head);
}

PHI__FN void phi__events_purge(phi_runtime *rt, phi__agent *agent) {
    while (agent->oldest != NULL) phi__events_drop(&rt->events, agent->oldest);
    agent->queued_bytes = 0;
}

PHI__FN void phi__events_free(phi__events *events) {
    PHI_ASSERT(events->queued.head == NULL && events->popped.head == NULL);
    if (events->current != NULL) phi__free(events->memory, events->current, events->current->bytes);
    if (events->spare != NULL) phi__free(events->memory, events->spare, events->spare->bytes);
    phi__events_init(events, events->memory);
}
#undef PHI__EVENT_BLOCK_BYTES

/* ---- src/loop/limits.c ---- */

/* limits.c - whether a run has had enough; the texts are part of the log. */

#include <stdio.h>

PHI__FN bool phi__limit_reached(const phi__run *run, char *reason, size_t size) {
    const phi_limits *limits = &run->agent->limits;
    uint64_t tokens = run->usage.input + run->usage.output;
    uint64_t now_us = phi__io_now_us(run->agent->rt->io);
    double seconds = (double)(now_us - run->started_us) / 1e6;
    if (limits->max_turns != PHI_UNLIMITED && run->turn_index >= limits->max_turns) {
        (void)snprintf(reason, size, "Max turns reached (%u/%u)", (unsigned)run->turn_index,
                       (unsigned)limits->max_turns);
        return true;
    }
    if (limits->max_tokens != UINT64_MAX && tokens >= limits->max_tokens) {
        (void)snprintf(reason, size, "Max tokens reached (%llu/%llu)", (unsigned long long)tokens,
                       (unsigned long long)limits->max_tokens);
        return true;
    }
    if (limits->max_duration_ms != PHI_UNLIMITED &&
        seconds * 1000.0 >= (double)limits->max_duration_ms) {
        (void)snprintf(reason, size, "Max duration reached (%.0fs/%.0fs)", seconds,
                       (double)limits->max_duration_ms / 1000.0);
        return true;
    }
    if (limits->max_cost > 0 && run->cost >= limits->max_cost) {
        (void)snprintf(reason, size, "Max cost reached ($%.4f/$%.4f)", run->cost, limits->max_cost);
        return true;
    }
    return false;
}

/* ---- src/loop/model_call.c ---- */

/* model_call.c - one call of the model: the request is rendered in slices, sent, and its answer decoded
   a slice a time into an assembly whose parts become events.

   The transport's bytes wait in the transfer's buffer; a slice is decoded to its end before the buffer
   may move. When the host does not drain its events, no slice is taken, the buffer fills, and the
   transport stops reading. */

#include <stdio.h>

enum {
    PHI__CALL_SLICE = 4096, /* bytes decoded between two looks at the clock */
    PHI__CALL_ENCODE_UNITS =
        8, /* messages, or KiB of them, rendered between two looks at the clock */
    PHI__CALL_ERROR_MOST = 65536, /* bytes kept of an error's body; wire.md 1.10 */
    PHI__CALL_LINGER_MS = 1000    /* for the end of a stream whose last event was seen */
};

/* ---- the request ---- */

static void phi__call_ask(phi__run *run) {
    const phi__agent *agent = run->agent;
    phi__ask *ask = &run->ask;
    memset(ask, 0, sizeof *ask);
    ask->model = &agent->model;
    ask->system_prompt = agent->system_prompt;
    ask->items = agent->thread.items;
    ask->item_count = agent->thread.item_count;
    ask->tools = agent->tool_views;
    ask->tool_count = agent->tool_count;
    ask->tool_choice = agent->tool_choice;
    ask->thinking = agent->thinking;
    ask->max_tokens = agent->max_tokens;
    ask->temperature = agent->temperature;
    ask->disable_cache = agent->disable_cache;
    ask->session_id = agent->session_id;
}

static void phi__call_ready(phi__xfer *transfer) { phi__run_wake((phi__run *)transfer->owner); }

static phi_failure phi__call_failure(phi_failure_kind kind, bool retryable, const char *words) {
    phi_failure failure;
    memset(&failure, 0, sizeof failure);
    failure.kind = kind;
    failure.retryable = retryable;
    failure.message = phi_str_of(words);
    return failure;
}

static phi__state phi__call_finish(phi__run *run, const phi_failure *failure, phi_status status);

/* Room for decoding, then the transfer. */
static phi__state phi__call_send(phi__run *run, bool *wait) {
    phi__agent *agent = run->agent;
    phi_status status;
    run->decoder = phi__arena_zero(&run->arena, phi__max(agent->codec->state_bytes, 1));
    run->answer = phi__answer_new(&agent->memory);
    if (run->decoder == NULL || run->answer == NULL) return phi__run_no_memory(run);
    run->answer->assembly.id_salt = (uint64_t)agent->loops << 32 | run->turn_index;
    phi__sse_init(&run->sse, &agent->memory, agent->max_event_bytes);
    phi__buf_init(&run->collected, &agent->memory);
    run->body = PHI__BODY_UNKNOWN;
    run->answer_told = run->alive = run->lost = false;
    status = phi__xfer_open(agent->rt, &agent->memory, &run->encoder.request, &agent->deadlines,
                            agent->max_response_bytes, phi__call_ready, run, &run->transfer);
    if (status == PHI_NO_MEMORY) return phi__run_no_memory(run);
    if (status != PHI_OK) {
        phi_failure failure =
            phi__call_failure(PHI_FAILURE_NETWORK, false, phi_status_text(status));
        return phi__call_finish(run, &failure, status);
    }
    *wait = true;
    return PHI__RUN_STREAM;
}

PHI__FN phi__state phi__run_request(phi__run *run, bool *wait) {
    phi_status status;
    if (run->cancelled) return PHI__RUN_TURN_END;
    if (!run->encoding) {
        phi__call_ask(run);
        phi__encoder_begin(&run->encoder, run->agent->codec, &run->ask, &run->arena);
        run->encoding = true;
    }
    status = phi__encoder_advance(&run->encoder, PHI__CALL_ENCODE_UNITS);
    if (status == PHI_BUSY) return PHI__RUN_REQUEST;
    phi__encoder_free(&run->encoder);
    run->encoding = false;
    if (status != PHI_OK) return phi__run_no_memory(run);
    return phi__call_send(run, wait);
}

/* ---- parts of the answer become events ---- */

static phi_event_kind phi__call_delta_kind(phi_content_kind kind) {
    switch (kind) {
    case PHI_CONTENT_THINKING: return PHI_EV_THINKING;
    case PHI_CONTENT_TOOL_CALL: return PHI_EV_TOOL_ARGUMENTS;
    case PHI_CONTENT_TEXT:
    case PHI_CONTENT_IMAGE: break;
    }
    return PHI_EV_TEXT;
}

static bool phi__call_tell_start(phi__run *run) {
    phi_event event;
    if (run->answer_told) return true;
    run->answer_told = true;
    memset(&event, 0, sizeof event);
    event.kind = PHI_EV_MESSAGE_START;
    return phi__answer_room(run->answer) && phi__emit(run->agent, &event, run->answer, 0);
}

static void phi__call_part(void *ctx, phi__assembly *assembly, phi__part part, size_t block,
                           size_t from) {
    phi__run *run = (phi__run *)ctx;
    const phi__draft *draft;
    run->alive = true;
    if (!phi__call_tell_start(run) || !phi__answer_room(run->answer)) run->lost = true;
    if (part != PHI__PART_DELTA || run->lost) return;
    draft = &assembly->drafts[block];
    if (!phi__emit_delta(run->agent, phi__call_delta_kind(draft->kind), (uint32_t)block,
                         phi__str(draft->bytes.at + from, draft->bytes.len - from), run->answer,
                         draft->bytes.len))
        run->lost = true;
}

/* ---- the end of the answer ---- */

/* The words of the assistant message's error_message. */
static void phi__call_words(const phi_failure *failure, char *out, size_t size) {
    int n = (int)phi__min(failure->message.len, 2000);
    const char *at = failure->message.at != NULL ? failure->message.at : "";
    switch (failure->kind) {
    case PHI_FAILURE_AUTH: (void)snprintf(out, size, "Auth error: %.*s", n, at); break;
    case PHI_FAILURE_OVERFLOW: (void)snprintf(out, size, "Context overflow: %.*s", n, at); break;
    case PHI_FAILURE_NETWORK:
    case PHI_FAILURE_TIMEOUT: (void)snprintf(out, size, "Network error: %.*s", n, at); break;
    case PHI_FAILURE_CANCELLED: (void)snprintf(out, size, "Cancelled"); break;
    case PHI_FAILURE_RATE_LIMITED:
        if (failure->has_retry_after)
            (void)snprintf(out, size, "Rate limited, retry after %llums: %.*s",
                           (unsigned long long)failure->retry_after_ms, n, at);
        else
            (void)snprintf(out, size, "Rate limited: %.*s", n, at);
        break;
    case PHI_FAILURE_NONE:
    case PHI_FAILURE_QUOTA:
    case PHI_FAILURE_CONTENT_FILTER:
    case PHI_FAILURE_SERVER:
    case PHI_FAILURE_INVALID_REQUEST:
    case PHI_FAILURE_NO_MEMORY: (void)snprintf(out, size, "API error: %.*s", n, at); break;
    }
}

/* A failure that outlives the call: in the thread; the static one when there is no memory. */
static const phi_failure *phi__call_keep_failure(phi__run *run, const phi_failure *failure) {
    phi_arena *arena = &run->agent->thread.arena;
    phi_failure *kept = (phi_failure *)phi_arena_alloc(arena, sizeof *kept);
    if (kept == NULL) return NULL;
    *kept = *failure;
    if (!phi__arena_str(arena, failure->code, &kept->code) ||
        !phi__arena_str(arena, failure->message, &kept->message) ||
        !phi__arena_str(arena, failure->request_id, &kept->request_id))
        return NULL;
    return kept;
}

/* Ids that an earlier answer used already would make results ambiguous, and some providers refuse
   them: such calls get another. Servers that count their calls from 0 in each answer do that. */
static bool phi__call_unique_ids(phi__run *run) {
    phi__answer *answer = run->answer;
    size_t i;
    for (i = 0; i < answer->assembly.count; i++) {
        phi_content *block = &answer->content[i];
        char id[5 + 17];
        phi_status status = PHI_OK;
        uint64_t salt = answer->assembly.id_salt + i;
        if (block->kind != PHI_CONTENT_TOOL_CALL) continue;
        while ((status = phi__thread_claim_id(&run->agent->thread, block->id)) == PHI_FULL) {
            memcpy(id, "call_", 5);
            phi__hash_hex(phi__hash(block->id, salt), id + 5);
            if (!phi__arena_str(&run->arena, phi_str_of(id), &block->id)) return false;
        }
        if (status != PHI_OK) return false;
    }
    return true;
}

/* The answer so far as the log keeps it; failure NULL: it is whole. */
static phi_message *phi__call_keep_answer(phi__run *run, const phi_failure *failure) {
    char words[2200];
    phi_content empty;
    phi_message message;
    const phi__agent *agent = run->agent;
    if (!phi__answer_room(run->answer)) return NULL;
    run->answer->viewed = false;
    message = *phi__answer_message(run->answer);
    message.model = phi_str_of(agent->model.id);
    message.provider = phi_str_of(agent->model.provider);
    message.protocol = phi_str_of(agent->model.protocol);
    if (failure == NULL && !phi__call_unique_ids(run)) return NULL;
    if (failure != NULL) {
        phi__call_words(failure, words, sizeof words);
        message.error_message = phi_str_of(words);
        message.stop_reason = failure->kind == PHI_FAILURE_CANCELLED ? PHI_STOP_REASON_ABORTED
                                                                     : PHI_STOP_REASON_ERROR;
    }
    if (message.content_count == 0) {
        memset(&empty, 0, sizeof empty);
        empty.kind = PHI_CONTENT_TEXT;
        empty.text = phi__str("", 0);
        message.content = &empty;
        message.content_count = 1;
        if (failure != NULL && !run->answer->assembly.started)
            message.provider = phi_str_of("unknown");
    }
    phi__run_stamp(run, &message);
    return phi__thread_keep(&run->agent->thread, &message);
}

/* Puts the answer into the log; false: no memory. */
static bool phi__call_log(phi__run *run, const phi_failure *failure) {
    phi__entry entry;
    phi_event event;
    phi_message *kept;
    if (!phi__call_tell_start(run)) return false;
    kept = phi__call_keep_answer(run, failure);
    if (kept == NULL) return false;
    memset(&entry, 0, sizeof entry);
    entry.kind = PHI__ENTRY_MESSAGE;
    entry.at_ms = kept->timestamp_ms;
    entry.loop_id = run->loop_id;
    entry.turn_index = run->turn_index;
    entry.message = kept;
    if (!phi__thread_append(&run->agent->thread, &entry, 1)) return false;
    phi__answer_settle(run->answer, kept);
    run->reply = kept;
    memset(&event, 0, sizeof event);
    event.kind = PHI_EV_MESSAGE_END;
    event.message = kept;
    return phi__emit(run->agent, &event, NULL, 0);
}

static void phi__call_count(phi__run *run) {
    phi__agent *agent = run->agent;
    double cost = phi_cost_of(&agent->model.cost, &run->reply->usage);
    run->turn_usage = run->reply->usage;
    phi_usage_add(&run->usage, &run->turn_usage);
    phi_usage_add(&agent->usage, &run->turn_usage);
    run->cost += cost;
    agent->cost += cost;
}

static phi__state phi__call_finish(phi__run *run, const phi_failure *failure, phi_status status) {
    const phi_failure *kept = NULL;
    if (failure != NULL && (kept = phi__call_keep_failure(run, failure)) == NULL)
        return phi__run_no_memory(run);
    if (!phi__call_log(run, failure)) return phi__run_no_memory(run);
    phi__call_count(run);
    phi__run_drop_call(run);
    if (failure == NULL) return phi__run_make_calls(run);
    if (failure->kind == PHI_FAILURE_CANCELLED) {
        run->status = PHI_CANCELLED;
        return PHI__RUN_TURN_END;
    }
    return phi__run_fail(run, kept, status);
}

static phi_status phi__call_status(const phi_failure *failure) {
    switch (failure->kind) {
    case PHI_FAILURE_NETWORK: return PHI_NETWORK;
    case PHI_FAILURE_TIMEOUT: return PHI_TIMEOUT;
    case PHI_FAILURE_NO_MEMORY: return PHI_NO_MEMORY;
    case PHI_FAILURE_CANCELLED: return PHI_CANCELLED;
    case PHI_FAILURE_NONE:
    case PHI_FAILURE_AUTH:
    case PHI_FAILURE_QUOTA:
    case PHI_FAILURE_RATE_LIMITED:
    case PHI_FAILURE_OVERFLOW:
    case PHI_FAILURE_CONTENT_FILTER:
    case PHI_FAILURE_SERVER:
    case PHI_FAILURE_INVALID_REQUEST: break;
    }
    return PHI_REFUSED;
}

/* The transport's own trouble. */
static phi__state phi__call_broken(phi__run *run) {
    phi__xfer *transfer = run->transfer;
    phi_failure failure;
    bool late = transfer->status == PHI_TIMEOUT;
    if (transfer->status == PHI_NO_MEMORY) return phi__run_no_memory(run);
    failure = phi__call_failure(
        late ? PHI_FAILURE_TIMEOUT : PHI_FAILURE_NETWORK,
        transfer->status != PHI_TLS && transfer->status != PHI_TOO_BIG &&
            transfer->status != PHI_UNSUPPORTED && transfer->status != PHI_BAD_ARG, /* of an URL */
        transfer->words[0] != '\0' ? transfer->words : phi_status_text(transfer->status));
    failure.http_status = transfer->http_status;
    return phi__call_finish(run, &failure, transfer->status);
}

/* All bytes are decoded: what became of it? */
static phi__state phi__call_over(phi__run *run) {
    phi__assembly *assembly = &run->answer->assembly;
    phi__xfer *transfer = run->transfer;
    phi_failure failure;
    if (run->lost || assembly->no_memory || run->collected.failed) return phi__run_no_memory(run);
    if (transfer->status != PHI_OK && !assembly->terminal && run->body != PHI__BODY_ERROR)
        return phi__call_broken(run);
    if (run->body == PHI__BODY_UNKNOWN) {
        failure = phi__call_failure(PHI_FAILURE_NETWORK, true, "the transport gave no answer");
        return phi__call_finish(run, &failure, PHI_NETWORK);
    }
    if (run->body == PHI__BODY_WHOLE)
        run->agent->codec->whole(run->decoder, assembly, phi__buf_str(&run->collected));
    if (run->body == PHI__BODY_ERROR) {
        phi__classify(&run->agent->model, transfer->http_status, phi__buf_str(&transfer->headers),
                      phi__buf_str(&run->collected), &run->arena, &failure);
        return phi__call_finish(run, &failure, phi__call_status(&failure));
    }
    if (run->body == PHI__BODY_STREAM) run->agent->codec->end(run->decoder, assembly);
    phi__assembly_finish(assembly);
    if (run->lost || assembly->no_memory) return phi__run_no_memory(run);
    if (assembly->failure.kind == PHI_FAILURE_NONE) return phi__call_finish(run, NULL, PHI_OK);
    failure = assembly->failure;
    if (failure.http_status == 0) failure.http_status = transfer->http_status;
    return phi__call_finish(run, &failure, phi__call_status(&failure));
}

/* ---- the answer's bytes ---- */

static void phi__call_look_at_head(phi__run *run) {
    const phi__xfer *transfer = run->transfer;
    phi_str type = phi__header_value(phi__buf_str(&transfer->headers), "content-type");
    run->answer->assembly.sink = phi__call_part;
    run->answer->assembly.ctx = run;
    if (transfer->http_status < 200 || transfer->http_status > 299)
        run->body = PHI__BODY_ERROR;
    else if (phi__str_find_nocase(type, 0, "application/json") != SIZE_MAX)
        run->body = PHI__BODY_WHOLE;
    else if (phi__str_find_nocase(type, 0, "html") != SIZE_MAX)
        run->body = PHI__BODY_ERROR;
    else
        run->body = PHI__BODY_STREAM;
}

static void phi__call_too_big(phi__run *run, const char *what, unsigned long long most) {
    char words[120];
    (void)snprintf(words, sizeof words, "%s is larger than %llu bytes", what, most);
    phi__assembly_fail(&run->answer->assembly, PHI_FAILURE_SERVER, false, phi__str(NULL, 0),
                       phi_str_of(words));
}

static void phi__call_event(phi__run *run, const phi__sse_event *event) {
    run->alive = false;
    run->answer->viewed = false;
    run->agent->codec->event(run->decoder, &run->answer->assembly, event->name, event->data);
    if (run->alive) phi__xfer_alive(run->transfer);
}

static void phi__call_slice(phi__run *run, phi_str bytes) {
    phi__assembly *assembly = &run->answer->assembly;
    phi__sse_event event;
    int got;
    phi__sse_feed(&run->sse, bytes.at, bytes.len);
    while ((got = phi__sse_next(&run->sse, &event)) > 0) {
        if (assembly->failure.kind != PHI_FAILURE_NONE) continue; /* what follows changes nothing */
        phi__call_event(run, &event);
    }
    if (got == PHI_NO_MEMORY) run->lost = true;
    if (got == PHI_TOO_BIG)
        phi__call_too_big(run, "An event of the answer", run->agent->max_event_bytes);
}

static void phi__call_collect(phi__run *run, phi_str bytes) {
    size_t most =
        run->body == PHI__BODY_WHOLE ? run->agent->max_event_bytes : (size_t)PHI__CALL_ERROR_MOST;
    size_t room = most - phi__min(most, run->collected.len);
    phi__xfer_alive(run->transfer);
    phi__buf_add(&run->collected, bytes.at, phi__min(room, bytes.len));
    if (bytes.len > room && run->body == PHI__BODY_WHOLE)
        phi__call_too_big(run, "The answer", (unsigned long long)most);
}

/* Whether more of the answer is worth waiting for. */
static bool phi__call_settled(phi__run *run) {
    phi__assembly *assembly = &run->answer->assembly;
    if (run->lost || assembly->no_memory || run->collected.failed ||
        assembly->failure.kind != PHI_FAILURE_NONE)
        return true;
    if (run->body == PHI__BODY_ERROR && run->collected.len >= PHI__CALL_ERROR_MOST) return true;
    if (run->transfer->received > run->transfer->max_bytes) {
        phi__call_too_big(run, "The answer", (unsigned long long)run->transfer->max_bytes);
        return true;
    }
    return false;
}

/* Decodes what has arrived; true: all of it, as far as the step and the host allow. */
static bool phi__call_decode(phi__run *run, bool *wait) {
    phi_runtime *rt = run->agent->rt;
    for (;;) {
        phi_str bytes = phi__xfer_unread(run->transfer);
        if (bytes.len == 0 || phi__call_settled(run)) return true;
        if (phi__events_backlog(run->agent)) {
            *wait = true;
            return false;
        }
        bytes.len = phi__min(bytes.len, PHI__CALL_SLICE);
        if (run->body == PHI__BODY_STREAM)
            phi__call_slice(run, bytes);
        else
            phi__call_collect(run, bytes);
        rt->step_bytes_left -= phi__min(rt->step_bytes_left, bytes.len);
        phi__xfer_took(run->transfer, bytes.len);
        if (phi__step_spent(rt)) return false;
    }
}

/* The last event was seen: the end of the body follows at once, or is not worth a wait. */
static void phi__call_linger(phi__run *run) {
    phi__xfer *transfer = run->transfer;
    if (transfer->deadlines.idle_ms == PHI__CALL_LINGER_MS) return;
    transfer->deadlines.idle_ms = PHI__CALL_LINGER_MS;
    transfer->stage = PHI_XFER_CONNECTED; /* so that being alive arms the timer anew */
    phi__xfer_alive(transfer);
}

PHI__FN phi__state phi__run_stream(phi__run *run, bool *wait) {
    phi__xfer *transfer = run->transfer;
    phi__sse_event event;
    if (run->cancelled) {
        phi_failure failure = phi__call_failure(PHI_FAILURE_CANCELLED, false, "Cancelled");
        phi__assembly_finish(&run->answer->assembly);
        return phi__call_finish(run, &failure, PHI_CANCELLED);
    }
    if (transfer->headed && run->body == PHI__BODY_UNKNOWN) phi__call_look_at_head(run);
    if (transfer->headed && !phi__call_decode(run, wait)) return PHI__RUN_STREAM;
    if (phi__call_settled(run)) return phi__call_over(run);
    if (!transfer->ended) {
        if (run->answer->assembly.terminal) phi__call_linger(run);
        *wait = true;
        return PHI__RUN_STREAM;
    }
    if (run->body == PHI__BODY_STREAM) {
        int got;
        while ((got = phi__sse_finish(&run->sse, &event)) > 0) phi__call_event(run, &event);
        if (got == PHI_NO_MEMORY) run->lost = true;
    }
    return phi__call_over(run);
}

PHI__FN void phi__run_drop_call(phi__run *run) {
    if (run->encoding) phi__encoder_free(&run->encoder);
    run->encoding = false;
    if (run->answer == NULL) return; /* nothing was opened */
    phi__xfer_close(run->transfer);
    run->transfer = NULL;
    phi__sse_free(&run->sse);
    phi__buf_free(&run->collected);
    phi__answer_settle(run->answer, run->reply);
    phi__answer_drop(run->answer);
    run->answer = NULL;
}

/* ---- src/loop/run.c ---- */

/* run.c - the state machine of a run: open, turns, close.

   Each state is a function that does a bounded amount and names the next state, or says that it
   waits. Cancellation is looked at in every state. A run that cannot get memory ends with an error
   event that needs none, and leaves an agent that can be prompted again. */

#include <stdio.h>

PHI__FN bool phi__step_spent(const phi_runtime *rt) {
    return rt->step_bytes_left == 0 || phi__io_now_us(rt->io) >= rt->step_until_us;
}

PHI__FN void phi__run_wake(phi__run *run) {
    phi_runtime *rt = run->agent->rt;
    if (run->in_ready || run->over) return;
    run->in_ready = true;
    run->next_ready = NULL;
    if (rt->ready_last != NULL)
        rt->ready_last->next_ready = run;
    else
        rt->ready = run;
    rt->ready_last = run;
}

static void phi__run_unready(phi__run *run) {
    phi_runtime *rt = run->agent->rt;
    phi__run **at = &rt->ready, *last = NULL;
    if (!run->in_ready) return;
    while (*at != run) {
        last = *at;
        at = &(*at)->next_ready;
    }
    *at = run->next_ready;
    if (rt->ready_last == run) rt->ready_last = last;
    run->in_ready = false;
}

/* ---- the log and its events ---- */

PHI__FN void phi__run_stamp(const phi__run *run, phi_message *message) {
    message->timestamp_ms = phi__io_wall_ms(run->agent->rt->io);
    message->loop_id = run->loop_id;
    message->turn_index = run->turn_index;
}

static phi__entry phi__run_entry(const phi__run *run, phi__entry_kind kind) {
    phi__entry entry;
    memset(&entry, 0, sizeof entry);
    entry.kind = kind;
    entry.at_ms = phi__io_wall_ms(run->agent->rt->io);
    entry.loop_id = run->loop_id;
    entry.turn_index = run->turn_index;
    return entry;
}

static bool phi__run_note(phi__run *run, const phi__entry *entry) {
    return phi__thread_append(&run->agent->thread, entry, 1);
}

static bool phi__run_emit(phi__run *run, phi_event_kind kind, const phi_message *message) {
    phi_event event;
    memset(&event, 0, sizeof event);
    event.kind = kind;
    event.message = message;
    return phi__emit(run->agent, &event, NULL, 0);
}

PHI__FN bool phi__run_tell(phi__run *run, const phi_message *message) {
    return phi__run_emit(run, PHI_EV_MESSAGE_START, message) &&
           phi__run_emit(run, PHI_EV_MESSAGE_END, message);
}

PHI__FN bool phi__run_log(phi__run *run, const phi_message *kept) {
    phi__entry entry = phi__run_entry(run, PHI__ENTRY_MESSAGE);
    entry.message = kept;
    return phi__run_note(run, &entry) && phi__run_tell(run, kept);
}

/* Prompts whose events are not out yet: after the first TURN_START, or before a run that ends without
   one. */
static bool phi__run_tell_prompts(phi__run *run) {
    const phi__thread *thread = &run->agent->thread;
    while (run->told_messages < thread->message_count) {
        if (!phi__run_tell(run, thread->messages[run->told_messages]->message)) return false;
        run->told_messages++;
    }
    return true;
}

/* ---- failing ---- */

PHI__FN phi__state phi__run_fail(phi__run *run, const phi_failure *failure, phi_status status) {
    phi_event event;
    run->failure = failure;
    run->status = status;
    memset(&event, 0, sizeof event);
    event.kind = PHI_EV_ERROR;
    event.failure = failure;
    event.status = status;
    event.text = failure->message;
    (void)phi__emit_surely(run->agent, &event);
    return PHI__RUN_TURN_END;
}

PHI__FN phi__state phi__run_no_memory(phi__run *run) {
    phi__run_drop_call(run);
    phi__run_drop_tools(run);
    run->reply = NULL;
    run->call_count = 0;
    return phi__run_fail(run, &run->agent->no_memory, PHI_NO_MEMORY);
}

/* ---- states ---- */

static phi__state phi__run_open(phi__run *run) {
    phi_event event;
    memset(&event, 0, sizeof event);
    event.kind = PHI_EV_AGENT_START;
    return phi__emit_surely(run->agent, &event) ? PHI__RUN_TURN : phi__run_no_memory(run);
}

/* The limit's words go into the log as the user's, outside any turn. */
static phi__state phi__run_stop_at_limit(phi__run *run, const char *reason) {
    char text[160];
    phi_content content;
    phi_message message, *kept;
    (void)snprintf(text, sizeof text, "[Agent stopped: %s]", reason);
    memset(&content, 0, sizeof content);
    memset(&message, 0, sizeof message);
    content.kind = PHI_CONTENT_TEXT;
    content.text = phi_str_of(text);
    message.role = PHI_ROLE_USER;
    message.content = &content;
    message.content_count = 1;
    phi__run_stamp(run, &message);
    kept = phi__thread_keep(&run->agent->thread, &message);
    if (kept == NULL || !phi__run_tell_prompts(run) || !phi__run_log(run, kept))
        return phi__run_no_memory(run);
    run->told_messages = run->agent->thread.message_count;
    run->status = PHI_LIMIT;
    return PHI__RUN_CLOSE;
}

static phi__state phi__run_turn(phi__run *run) {
    char reason[120];
    phi_event event;
    phi__entry entry = phi__run_entry(run, PHI__ENTRY_TURN_START);
    if (run->cancelled) {
        run->status = PHI_CANCELLED;
        return phi__run_tell_prompts(run) ? PHI__RUN_CLOSE : phi__run_no_memory(run);
    }
    if (phi__limit_reached(run, reason, sizeof reason)) return phi__run_stop_at_limit(run, reason);
    memset(&event, 0, sizeof event);
    event.kind = PHI_EV_TURN_START;
    event.trigger = run->turn_index == 0 ? PHI_TRIGGER_USER : PHI_TRIGGER_CONTINUATION;
    entry.trigger = event.trigger;
    phi__arena_rewind(&run->arena);
    memset(&run->turn_usage, 0, sizeof run->turn_usage);
    run->reply = NULL;
    if (!phi__emit(run->agent, &event, NULL, 0)) return phi__run_no_memory(run);
    run->turn_open = true; /* it was told, so its end will be */
    if (!phi__run_note(run, &entry) || !phi__run_tell_prompts(run)) return phi__run_no_memory(run);
    return PHI__RUN_REQUEST;
}

static phi__state phi__run_turn_end(phi__run *run) {
    phi_event event;
    phi__entry entry = phi__run_entry(run, PHI__ENTRY_TURN_END);
    const phi_usage *usage = NULL;
    bool go_on, room;
    phi__run_drop_call(run);
    phi__run_drop_tools(run);
    if (run->turn_open) {
        run->turn_open = false;
        if (run->reply != NULL) usage = &run->reply->usage;
        memset(&event, 0, sizeof event);
        event.kind = PHI_EV_TURN_END;
        event.message = run->reply;
        event.usage = usage;
        entry.usage = usage;
        room = phi__emit_surely(run->agent, &event);
        room = phi__run_note(run, &entry) && room;
        if (!room && run->status == PHI_OK) return phi__run_no_memory(run);
    }
    go_on = run->status == PHI_OK && !run->cancelled && run->reply != NULL &&
            (run->call_count > 0 || run->reply->stop_reason == PHI_STOP_REASON_PAUSED);
    if (run->cancelled && run->status == PHI_OK) run->status = PHI_CANCELLED;
    run->turn_index++;
    run->told_messages = run->agent->thread.message_count;
    return go_on ? PHI__RUN_TURN : PHI__RUN_CLOSE;
}

static phi__state phi__run_close(phi__run *run) {
    phi__agent *agent = run->agent;
    phi__entry entry = phi__run_entry(run, PHI__ENTRY_LOOP_END);
    phi_usage *usage = (phi_usage *)phi_arena_alloc(&agent->thread.arena, sizeof *usage);
    phi_event event;
    if (usage != NULL) *usage = run->usage;
    entry.usage = usage;
    entry.status = run->status;
    entry.failure = run->failure;
    (void)phi__run_note(run, &entry); /* without memory for it, the log still tells: no reply */
    memset(&event, 0, sizeof event);
    event.kind = PHI_EV_AGENT_END;
    event.status = run->status;
    event.failure = run->failure;
    event.usage = usage;
    event.message = agent->thread.message_count > run->first_message
                        ? agent->thread.messages[agent->thread.message_count - 1]->message
                        : NULL;
    event.first_message = run->first_message;
    event.message_count = agent->thread.message_count - run->first_message;
    (void)phi__emit_surely(agent, &event);
    return PHI__RUN_OVER;
}

static phi__state phi__run_state(phi__run *run, bool *wait) {
    switch (run->state) {
    case PHI__RUN_OPEN: return phi__run_open(run);
    case PHI__RUN_TURN: return phi__run_turn(run);
    case PHI__RUN_REQUEST: return phi__run_request(run, wait);
    case PHI__RUN_STREAM: return phi__run_stream(run, wait);
    case PHI__RUN_TOOLS: return phi__run_tools(run, wait);
    case PHI__RUN_TURN_END: return phi__run_turn_end(run);
    case PHI__RUN_CLOSE: return phi__run_close(run);
    case PHI__RUN_OVER: break;
    }
    return PHI__RUN_OVER;
}

/* ---- beginning, going on, ending ---- */

/* A run that ended without memory may have left calls without a result: they get one now. */
static bool phi__run_answer_orphans(phi__run *run) {
    phi__thread *thread = &run->agent->thread;
    size_t end = thread->message_count, at = end, i;
    const phi_message *asked;
    while (at > 0 && thread->messages[at - 1]->message->role == PHI_ROLE_TOOL_RESULT) at--;
    if (at == 0) return true;
    asked = thread->messages[at - 1]->message;
    if (asked->role != PHI_ROLE_ASSISTANT || asked->stop_reason == PHI_STOP_REASON_ERROR ||
        asked->stop_reason == PHI_STOP_REASON_ABORTED)
        return true;
    for (i = 0; i < asked->content_count; i++) {
        phi__toolcall call;
        if (asked->content[i].kind != PHI_CONTENT_TOOL_CALL) continue;
        if (at++ < end) continue; /* results stand in call order */
        memset(&call, 0, sizeof call);
        call.rt = run->agent->rt;
        call.run = run;
        call.block = &asked->content[i];
        phi__call_fail(&call, "Out of memory");
        if (call.result == NULL) return false;
        {
            phi__entry entry = phi__run_entry(run, PHI__ENTRY_MESSAGE);
            entry.message = call.result;
            if (!phi__run_note(run, &entry)) return false;
        }
    }
    return true;
}

static bool phi__run_name(phi__run *run) {
    phi__agent *agent = run->agent;
    phi__buf name;
    bool done;
    phi__buf_init(&name, &agent->memory);
    phi__buf_add_str(&name, agent->session_id);
    phi__buf_char(&name, '.');
    phi__buf_add_str(&name, agent->segment);
    phi__buf_char(&name, '.');
    phi__buf_u64(&name, (uint64_t)agent->loops + 1);
    done = !name.failed && phi__arena_str(&agent->thread.arena, phi__buf_str(&name), &run->loop_id);
    phi__buf_free(&name);
    return done;
}

static bool phi__run_begin(phi__run *run, const phi_message *prompt) {
    phi__thread *thread = &run->agent->thread;
    phi_arena_mark mark = phi_arena_save(&thread->arena);
    size_t count = thread->count;
    phi__entry entries[2];
    phi_message message = *prompt, *kept;
    bool done = phi__run_name(run) && phi__run_answer_orphans(run);
    phi__run_stamp(run, &message);
    kept = done ? phi__thread_keep(thread, &message) : NULL;
    run->first_message = run->told_messages = thread->message_count;
    entries[0] = phi__run_entry(run, PHI__ENTRY_LOOP_START);
    entries[1] = phi__run_entry(run, PHI__ENTRY_MESSAGE);
    entries[1].message = kept;
    if (kept != NULL && phi__thread_append(thread, entries, 2)) return true;
    /* So that a prompt which is tried again and again takes no memory; orphans' results stay. */
    if (thread->count == count) phi_arena_reset(&thread->arena, mark);
    return false;
}

PHI__FN phi_status phi__run_new(phi__agent *agent, const phi_message *prompt) {
    phi__run *run = (phi__run *)phi__alloc(&agent->memory, sizeof *run);
    if (run == NULL) return PHI_NO_MEMORY;
    run->agent = agent;
    run->state = PHI__RUN_OPEN;
    run->posts_from = PHI__LOAD(&agent->rt->inbox.tail);
    phi_arena_init(&run->arena, &agent->memory, 1024);
    if (!phi__run_begin(run, prompt)) {
        phi__run_unready(run); /* an orphan's result has woken it */
        phi_arena_free(&run->arena);
        phi__free(&agent->memory, run, sizeof *run);
        return PHI_NO_MEMORY;
    }
    run->started_us = phi__io_now_us(agent->rt->io);
    agent->run = run;
    agent->loops++;
    agent->rt->active++;
    phi__run_wake(run);
    return PHI_OK;
}

PHI__FN void phi__run_cancel(phi__run *run) {
    run->cancelled = true;
    phi__run_wake(run);
}

PHI__FN void phi__run_detach(phi__run *run) {
    phi__run_unready(run);
    run->over = true;
    phi__run_detach_tools(run);
    phi__xfer_close(run->transfer);
    run->transfer = NULL;
}

PHI__FN void phi__run_destroy(phi__run *run) {
    phi__agent *agent = run->agent;
    phi__run_unready(run);
    run->over = true;
    phi__run_drop_call(run);
    phi__run_drop_tools(run);
    phi_arena_free(&run->arena);
    agent->run = NULL;
    agent->rt->active--;
    phi__free(&agent->memory, run, sizeof *run);
}

/* One run, until it waits, is over, or the step is spent. */
static void phi__run_advance(phi__run *run) {
    phi_runtime *rt = run->agent->rt;
    for (;;) {
        bool wait = false;
        phi__agent *agent = run->agent;
        run->state = phi__run_state(run, &wait);
        if (agent->slot == NULL) return; /* freed by a tool: gone when the step ends */
        if (run->state == PHI__RUN_OVER) {
            phi__run_destroy(run);
            return;
        }
        if (wait) return;
        if (phi__step_spent(rt)) {
            phi__run_wake(run);
            return;
        }
    }
}

PHI__FN void phi__runs_advance(phi_runtime *rt) {
    while (rt->ready != NULL) {
        phi__run *run = rt->ready;
        rt->ready = run->next_ready;
        if (rt->ready == NULL) rt->ready_last = NULL;
        run->in_ready = false;
        phi__run_advance(run);
        if (phi__step_spent(rt)) return;
    }
}

/* ---- src/loop/run_tools.c ---- */

/* run_tools.c - the tools of a turn: started as the mode says, told as they end, logged in call order.

   TOOL_END comes when a call ends; its result enters the log as soon as those of all calls before it
   have. So events follow time, and the log does not depend on it. */

static const phi_tool *phi__tools_named(const phi__agent *agent, phi_str name) {
    size_t i;
    for (i = 0; i < agent->tool_count; i++)
        if (phi__str_is(name, agent->tools[i].name)) return &agent->tools[i];
    return NULL;
}

PHI__FN phi__state phi__run_make_calls(phi__run *run) {
    const phi_message *reply = run->reply;
    size_t n = 0, i;
    for (i = 0; i < reply->content_count; i++) n += reply->content[i].kind == PHI_CONTENT_TOOL_CALL;
    run->call_count = run->next_call = run->told_calls = run->running_calls = 0;
    run->calls = NULL;
    if (n == 0) return PHI__RUN_TURN_END;
    run->calls = (phi__toolcall *)phi__arena_zero(&run->arena, phi__mul(n, sizeof *run->calls));
    if (run->calls == NULL) return phi__run_no_memory(run);
    for (i = 0; i < reply->content_count; i++) {
        phi__toolcall *call;
        if (reply->content[i].kind != PHI_CONTENT_TOOL_CALL) continue;
        call = &run->calls[run->call_count++];
        call->rt = run->agent->rt;
        call->run = run;
        call->block = &reply->content[i];
        call->arguments = call->block->arguments;
        call->tool = phi__tools_named(run->agent, call->block->name);
    }
    return PHI__RUN_TOOLS;
}

PHI__FN void phi__run_detach_tools(phi__run *run) {
    size_t i;
    for (i = 0; run->calls != NULL && i < run->call_count; i++) phi__call_detach(&run->calls[i]);
}

PHI__FN void phi__run_drop_tools(phi__run *run) {
    size_t i;
    phi__run_detach_tools(run);
    for (i = 0; run->calls != NULL && i < run->call_count; i++) phi__call_dispose(&run->calls[i]);
    run->calls = NULL;
}

/* Whether the next call may begin beside those that run. */
static bool phi__tools_may_start(const phi__run *run) {
    const phi__agent *agent = run->agent;
    const phi__toolcall *next = &run->calls[run->next_call];
    size_t i;
    if (run->running_calls == 0) return true;
    if (agent->tool_mode == PHI_TOOLS_SEQUENTIAL) return false;
    if (agent->tool_mode == PHI_TOOLS_BATCHED && run->next_call % agent->tool_batch == 0)
        return false;
    if (next->tool != NULL && next->tool->not_concurrent) return false;
    for (i = run->next_call; i > 0; i--) {
        const phi__toolcall *call = &run->calls[i - 1];
        if (call->slot != NULL) return call->tool == NULL || !call->tool->not_concurrent;
    }
    return true;
}

static phi_event phi__tools_event(const phi__toolcall *call, phi_event_kind kind) {
    phi_event event;
    memset(&event, 0, sizeof event);
    event.kind = kind;
    event.tool_call_id = call->block->id;
    event.tool_name = call->block->name;
    event.arguments = call->arguments;
    event.call.rt = call->rt;
    event.call.index = call->index;
    event.call.gen = call->gen;
    return event;
}

/* A call that is over has no result only because memory ran out: once more, then it is the run that
   ends. */
static bool phi__tools_result(phi__toolcall *call) {
    if (call->slot == NULL) phi__call_fail(call, "Out of memory");
    return call->slot != NULL || call->result != NULL;
}

static bool phi__tools_tell_end(phi__toolcall *call) {
    phi_event event = phi__tools_event(call, PHI_EV_TOOL_END);
    call->ended = true;
    event.message = call->result;
    event.is_error = call->result->is_error;
    return phi__emit(call->run->agent, &event, NULL, 0);
}

static bool phi__tools_begin(phi__run *run) {
    phi__toolcall *call = &run->calls[run->next_call++];
    phi_event event;
    if (!phi__call_open(call)) return false;
    event = phi__tools_event(call, PHI_EV_TOOL_START);
    if (!phi__emit(run->agent, &event, NULL, 0)) return false;
    if (run->cancelled)
        phi__call_fail(call, "Cancelled");
    else
        phi__call_start(call);
    return true;
}

/* Ends that were not told yet, in any order; then results at the front, in call order. */
static bool phi__tools_flush(phi__run *run) {
    size_t i;
    for (i = run->told_calls; i < run->next_call; i++) {
        phi__toolcall *call = &run->calls[i];
        if (!phi__tools_result(call)) return false;
        if (call->result != NULL && !call->ended && !phi__tools_tell_end(call)) return false;
    }
    while (run->told_calls < run->next_call && run->calls[run->told_calls].result != NULL) {
        phi__toolcall *call = &run->calls[run->told_calls];
        const phi_message *result = call->result;
        run->told_calls++;
        phi__call_dispose(call);
        if (!phi__run_log(run, result)) return false;
    }
    return true;
}

static void phi__tools_cancel(phi__run *run) {
    size_t i;
    for (i = run->told_calls; i < run->next_call; i++) {
        phi__call_cancel(&run->calls[i], "Cancelled");
        if (run->agent->slot == NULL) return;
    }
}

PHI__FN phi__state phi__run_tools(phi__run *run, bool *wait) {
    if (run->cancelled) phi__tools_cancel(run);
    while (run->agent->slot != NULL) {
        if (!phi__tools_flush(run)) return phi__run_no_memory(run);
        if (run->told_calls == run->call_count) return PHI__RUN_TURN_END;
        if (run->next_call == run->call_count || !phi__tools_may_start(run)) break;
        if (!phi__tools_begin(run)) return phi__run_no_memory(run);
        if (phi__step_spent(run->agent->rt)) return PHI__RUN_TOOLS;
    }
    *wait = true;
    return PHI__RUN_TOOLS;
}

/* ---- src/loop/xfer.c ---- */

/* xfer.c - one request under way: a bounded buffer between transport and decoder, and its four
   deadlines.

   There is one timer a transfer. Seeing life only notes the time; the timer, when it fires, looks
   whether the deadline has moved and sets itself again, so that a stream of deltas costs no heap
   work. While bytes wait because the host does not drain its events, the deadline of silence stands
   still. */

#include <stdarg.h>
#include <stdio.h>

enum {
    PHI__XFER_HEAD_MOST = 16384, /* bytes of header lines kept; transport.h says so */
    PHI__XFER_GRACE_US = 1000    /* past a deadline: one more look at the descriptors */
};

static phi__xfer *phi__xfer_find(phi_xfer xfer) {
    phi__slot *slot =
        xfer.rt != NULL ? phi__slots_find(&xfer.rt->transfers, xfer.index, xfer.gen) : NULL;
    return slot != NULL ? (phi__xfer *)slot->object : NULL;
}

static phi_xfer phi__xfer_handle(const phi__xfer *transfer) {
    phi_xfer xfer;
    xfer.rt = transfer->rt;
    xfer.index = transfer->slot->index;
    xfer.gen = phi__slot_gen(PHI__LOAD(&transfer->slot->word));
    return xfer;
}

/* ---- deadlines ---- */

static uint64_t phi__xfer_after(uint64_t from_us, uint32_t ms) {
    return ms == PHI_UNLIMITED ? UINT64_MAX : from_us + (uint64_t)ms * 1000;
}

static uint64_t phi__xfer_due(const phi__xfer *t, const char **what) {
    uint64_t total = phi__xfer_after(t->opened_us, t->deadlines.total_ms);
    uint64_t stage = UINT64_MAX;
    if (t->stage == PHI_XFER_STARTED) {
        *what = "no connection within";
        stage = phi__xfer_after(t->stage_us, t->deadlines.connect_ms);
    } else if (t->stage == PHI_XFER_CONNECTED) {
        *what = "no answer within";
        stage = phi__xfer_after(t->stage_us, t->deadlines.first_event_ms);
    } else if (t->stage == PHI__STAGE_EVENTS) {
        *what = "the answer was silent for";
        stage = phi__xfer_after(t->stage_us, t->deadlines.idle_ms);
    }
    if (total <= stage) *what = "the answer was not whole after";
    return total <= stage ? total : stage;
}

static void phi__xfer_arm(phi__xfer *t) {
    const char *what = NULL;
    uint64_t due = phi__xfer_due(t, &what);
    t->late = false;
    if (t->ended || due == UINT64_MAX)
        phi__io_timer_clear(t->rt->io, &t->timer);
    else if (phi__io_timer_set(t->rt->io, &t->timer, due) != PHI_OK) {
        t->ended = true;
        t->status = PHI_NO_MEMORY;
        t->ready(t);
    }
}

static uint32_t phi__xfer_limit_ms(const phi__xfer *t, uint64_t due) {
    if (due == phi__xfer_after(t->opened_us, t->deadlines.total_ms)) return t->deadlines.total_ms;
    return t->stage == PHI_XFER_STARTED     ? t->deadlines.connect_ms
           : t->stage == PHI_XFER_CONNECTED ? t->deadlines.first_event_ms
                                            : t->deadlines.idle_ms;
}

static void phi__xfer_cancel(phi__xfer *t) {
    if (t->gone) return;
    t->gone = true;
    t->rt->transport->cancel(t->rt->transport->user_data, phi__xfer_handle(t));
}

static void phi__xfer_timer(phi__timer *timer) {
    phi__xfer *t = PHI__OWNER(timer, phi__xfer, timer);
    const char *what = NULL;
    uint64_t due = phi__xfer_due(t, &what);
    uint64_t now = phi__io_now_us(t->rt->io);
    if (t->ended) return;
    if (due <= now && t->read < t->body.len && t->stage >= (int)PHI_XFER_CONNECTED) {
        t->stage_us = now; /* it is we who do not read */
        due = phi__xfer_due(t, &what);
    }
    if (due > now) {
        phi__xfer_arm(t);
        return;
    }
    if (!t->late) { /* what the host's own pause has held up is looked at first */
        t->late = true;
        if (phi__io_timer_set(t->rt->io, timer, now + PHI__XFER_GRACE_US) == PHI_OK) return;
    }
    phi__xfer_cancel(t);
    t->ended = true;
    t->status = PHI_TIMEOUT;
    (void)snprintf(t->words, sizeof t->words, "%s %u ms", what,
                   (unsigned)phi__xfer_limit_ms(t, due));
    t->ready(t);
}

static void phi__xfer_stage(phi__xfer *t, int stage) {
    t->stage = stage;
    t->stage_us = phi__io_now_us(t->rt->io);
    phi__xfer_arm(t);
}

PHI__FN void phi__xfer_alive(phi__xfer *t) {
    if (t->stage == PHI__STAGE_EVENTS)
        t->stage_us = t->rt->step_began_us; /* close enough for a deadline, and costs no clock */
    else if (!t->ended)
        phi__xfer_stage(t, PHI__STAGE_EVENTS);
}

/* ---- what the transport says ---- */

static phi_status phi__port_stage(phi_xfer xfer, phi_xfer_stage stage) {
    phi__xfer *t = phi__xfer_find(xfer);
    if (t == NULL || t->ended) return PHI_STALE;
    if (stage != PHI_XFER_STARTED && stage != PHI_XFER_CONNECTED) return PHI_BAD_ARG;
    /* Started again: it was put back into the queue for want of a descriptor. */
    if ((int)stage > t->stage || (stage == PHI_XFER_STARTED && t->stage == (int)PHI_XFER_STARTED))
        phi__xfer_stage(t, (int)stage);
    return PHI_OK;
}

/* The end comes from here: the transport is told when the transfer is closed. */
static phi_status phi__xfer_no_memory(phi__xfer *t) {
    t->ended = true;
    t->status = PHI_NO_MEMORY;
    t->ready(t);
    return PHI_STALE;
}

static phi_status phi__port_head(phi_xfer xfer, int http_status, const char *headers, size_t len) {
    phi__xfer *t = phi__xfer_find(xfer);
    if (t == NULL || t->ended) return PHI_STALE;
    if (headers == NULL && len > 0) return PHI_BAD_ARG;
    if (t->headed) return PHI_MISUSE;
    t->headed = true;
    t->http_status = http_status;
    phi__buf_add(&t->headers, headers, phi__min(len, PHI__XFER_HEAD_MOST));
    if (t->headers.failed) return phi__xfer_no_memory(t);
    if (t->stage < (int)PHI_XFER_CONNECTED) phi__xfer_stage(t, PHI_XFER_CONNECTED);
    t->ready(t);
    return PHI_OK;
}

static phi_status phi__port_push(phi_xfer xfer, const char *bytes, size_t len) {
    phi__xfer *t = phi__xfer_find(xfer);
    if (t == NULL || t->ended) return PHI_STALE;
    if (bytes == NULL && len > 0) return PHI_BAD_ARG;
    if (!t->headed) return PHI_MISUSE;
    if (t->body.len - t->read >= PHI__XFER_BODY_MOST) {
        t->refused = true;
        return PHI_FULL;
    }
    if (t->read > 0) {
        phi__buf_drop(&t->body, t->read);
        t->read = 0;
    }
    phi__buf_add(&t->body, bytes, len);
    if (t->body.failed) return phi__xfer_no_memory(t);
    t->received += len;
    t->ready(t);
    return PHI_OK;
}

static phi_status phi__port_end(phi_xfer xfer, phi_status status, const char *words) {
    phi__xfer *t = phi__xfer_find(xfer);
    if (t == NULL || t->ended) return PHI_STALE;
    t->ended = t->gone = true;
    t->status = status;
    if (words == NULL) words = "";
    (void)snprintf(t->words, sizeof t->words, "%.*s",
                   (int)phi__utf8_cut(phi_str_of(words), sizeof t->words - 1), words);
    phi__io_timer_clear(t->rt->io, &t->timer);
    t->ready(t);
    return PHI_OK;
}

static const phi__xfer_port phi__xfer_port_table = {phi__port_stage, phi__port_head, phi__port_push,
                                                    phi__port_end};

PHI__FN const phi__xfer_port *phi__xfer_port_get(void) { return &phi__xfer_port_table; }

/* ---- what the decoder does ---- */

static phi__xfer *phi__xfer_make(phi_runtime *rt, phi_memory *memory) {
    phi__xfer *t = (phi__xfer *)phi__alloc(memory, sizeof *t);
    if (t == NULL) return NULL;
    t->rt = rt;
    phi__buf_init(&t->body, memory);
    phi__buf_init(&t->headers, memory);
    t->timer.fire = phi__xfer_timer;
    t->slot = phi__slots_take(&rt->transfers, 1, t);
    if (t->slot == NULL) {
        phi__free(memory, t, sizeof *t);
        return NULL;
    }
    return t;
}

static void phi__xfer_unmake(phi__xfer *t) {
    phi_memory *memory = t->body.memory;
    phi__io_timer_clear(t->rt->io, &t->timer);
    phi__slots_release(&t->rt->transfers, t->slot);
    phi__buf_free(&t->body);
    phi__buf_free(&t->headers);
    phi__free(memory, t, sizeof *t);
}

PHI__FN phi_status phi__xfer_open(phi_runtime *rt, phi_memory *memory, const phi_request *request,
                                  const phi_deadlines *deadlines, uint64_t max_bytes,
                                  void (*ready)(phi__xfer *), void *owner, phi__xfer **out) {
    phi__xfer *t = phi__xfer_make(rt, memory);
    phi_status status;
    if (t == NULL) return PHI_NO_MEMORY;
    t->ready = ready;
    t->owner = owner;
    t->deadlines = *deadlines;
    t->max_bytes = max_bytes;
    t->opened_us = t->stage_us = phi__io_now_us(rt->io);
    *out = t; /* the transport may push before open returns */
    status = rt->transport->open(rt->transport->user_data, phi__xfer_handle(t), request);
    if (status != PHI_OK) {
        phi__xfer_unmake(t);
        *out = NULL;
        return status;
    }
    if (t->stage == PHI__STAGE_QUEUED && rt->http == NULL)
        phi__xfer_stage(t, PHI_XFER_CONNECTED); /* a host's transport that tells no stages */
    else
        phi__xfer_arm(t);
    return PHI_OK;
}

PHI__FN phi_str phi__xfer_unread(const phi__xfer *t) {
    return t->read < t->body.len ? phi__str(t->body.at + t->read, t->body.len - t->read)
                                 : phi__str(NULL, 0);
}

PHI__FN void phi__xfer_took(phi__xfer *t, size_t bytes) {
    t->read += bytes;
    if (t->read < t->body.len) return;
    t->read = 0;
    phi__buf_clear(&t->body);
    if (!t->refused || t->ended) return;
    t->refused = false;
    t->stage_us = phi__io_now_us(t->rt->io);
    t->rt->transport->resume(t->rt->transport->user_data, phi__xfer_handle(t));
}

PHI__FN void phi__xfer_close(phi__xfer *t) {
    if (t == NULL) return;
    phi__xfer_cancel(t);
    phi__xfer_unmake(t);
}

/* ---- public ---- */

PHI_API phi_status phi_xfer_stage_reached(phi_xfer xfer, phi_xfer_stage stage) {
    return phi__port_stage(xfer, stage);
}

PHI_API phi_status phi_xfer_head(phi_xfer xfer, int http_status, const char *headers, size_t len) {
    return phi__port_head(xfer, http_status, headers, len);
}

PHI_API phi_status phi_xfer_push(phi_xfer xfer, const char *bytes, size_t len) {
    return phi__port_push(xfer, bytes, len);
}

PHI_API phi_status phi_xfer_end(phi_xfer xfer, phi_status status, const char *words) {
    return phi__port_end(xfer, status, words);
}

#endif /* PHI__IMP_LOOP */

#ifdef PHI__IMP_AGENT
#if PHI__IMP_AGENT != 0x02b0097c
#error "phi: two versions of src/agent in one file"
#endif
#else
#define PHI__IMP_AGENT 0x02b0097c

/* ---- src/agent/agent_in.h ---- */

/* agent_in.h - for runtime.c: taking agents apart. */
#ifndef PHI_AGENT_AGENT_IN_H
#define PHI_AGENT_AGENT_IN_H


/* Takes an agent out of every table: its handle is stale, nothing calls or wakes it. Its memory goes
   with phi__agent_destroy, at the end of the step. */
PHI__FN void phi__agent_doom(phi__agent *agent);
PHI__FN void phi__agent_destroy(phi__agent *agent);
PHI__FN void phi__step_end(phi_runtime *rt);

#endif

/* ---- src/agent/agent.c ---- */

/* agent.c - making, prompting and freeing agents; all defaults of phi_agent_desc are resolved here. */

enum {
    PHI__AGENT_TURNS = 50,           /* behaviours C 17 */
    PHI__AGENT_TOKENS = 1000000,     /* the same */
    PHI__AGENT_DURATION_MS = 600000, /* the same */
    PHI__AGENT_CONNECT_MS = 15000,
    PHI__AGENT_FIRST_EVENT_MS = 300000, /* a cold local model loads for minutes */
    PHI__AGENT_IDLE_MS = 120000,
    PHI__AGENT_TOOL_MS = 120000, /* DESIGN part 5; api-sketch.h */
    PHI__AGENT_BATCH = 4,
    PHI__AGENT_QUEUE_BYTES = 262144,
    PHI__AGENT_EVENT_BYTES = 16777216,
    PHI__AGENT_RESPONSE_BYTES = 268435456,
    PHI__AGENT_WINDOW = 128000,
    PHI__AGENT_MAX_TOKENS = 8192 /* behaviours C 48 */
};

static phi__agent *phi__agent_find(phi_agent handle) {
    phi__slot *slot =
        handle.rt != NULL ? phi__slots_find(&handle.rt->agents, handle.index, handle.gen) : NULL;
    return slot != NULL ? (phi__agent *)slot->object : NULL;
}

/* ---- copying a desc ---- */

static bool phi__agent_text(phi__agent *agent, const char *text, const char **out) {
    phi_str copy;
    if (!phi__arena_str(&agent->model_arena, phi_str_of(text), &copy)) return false;
    *out = copy.at;
    return true;
}

static bool phi__agent_headers(phi__agent *agent, const phi_model *model) {
    size_t i;
    phi_model_header *headers = (phi_model_header *)phi_arena_alloc(
        &agent->model_arena, phi__mul(model->header_count, sizeof *headers));
    if (headers == NULL) return false;
    for (i = 0; i < model->header_count; i++)
        if (!phi__agent_text(agent, model->headers[i].name, &headers[i].name) ||
            !phi__agent_text(agent, model->headers[i].value, &headers[i].value))
            return false;
    agent->model.headers = headers;
    return true;
}

/* provider.slug[.thinking]: the middle of a loop id; behaviours B 29. */
static bool phi__agent_segment(phi__agent *agent, const char *config_id) {
    phi__buf segment;
    const char *p;
    bool done;
    if (config_id != NULL)
        return phi__arena_str(&agent->model_arena, phi_str_of(config_id), &agent->segment);
    phi__buf_init(&segment, &agent->memory);
    phi__buf_text(&segment, agent->model.provider);
    phi__buf_char(&segment, '.');
    for (p = agent->model.id; *p != '\0'; p++) {
        bool plain = (*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z') ||
                     (*p >= 'A' && *p <= 'Z') || *p == '-';
        phi__buf_char(&segment, plain ? *p : '-');
    }
    if (agent->thinking != PHI_THINKING_OFF) phi__buf_text(&segment, ".thinking");
    done = !segment.failed &&
           phi__arena_str(&agent->model_arena, phi__buf_str(&segment), &agent->segment);
    phi__buf_free(&segment);
    return done;
}

static bool phi__agent_model(phi__agent *agent, const phi_model *model) {
    agent->model = *model;
    agent->codec = phi__codec_find(phi_str_of(model->protocol));
    if (agent->model.context_window == 0) agent->model.context_window = PHI__AGENT_WINDOW;
    if (agent->model.max_tokens == 0) agent->model.max_tokens = PHI__AGENT_MAX_TOKENS;
    return phi__agent_text(agent, model->protocol, &agent->model.protocol) &&
           phi__agent_text(agent, model->id, &agent->model.id) &&
           phi__agent_text(agent, model->name != NULL ? model->name : model->id,
                           &agent->model.name) &&
           phi__agent_text(agent, model->provider != NULL ? model->provider : model->protocol,
                           &agent->model.provider) &&
           phi__agent_text(agent, model->base_url, &agent->model.base_url) &&
           (model->api_key == NULL || model->api_key[0] == '\0' ||
            phi__agent_text(agent, model->api_key, &agent->model.api_key)) &&
           phi__agent_headers(agent, model);
}

static bool phi__agent_tools(phi__agent *agent, const phi_agent_desc *desc) {
    size_t i;
    agent->tools = (phi_tool *)phi_arena_alloc(&agent->arena,
                                               phi__mul(desc->tool_count, sizeof *agent->tools));
    agent->tool_views = (phi__tool_view *)phi_arena_alloc(
        &agent->arena, phi__mul(desc->tool_count, sizeof *agent->tool_views));
    if (agent->tools == NULL || agent->tool_views == NULL) return false;
    agent->tool_count = desc->tool_count;
    for (i = 0; i < desc->tool_count; i++) {
        phi_tool *tool = &agent->tools[i];
        *tool = desc->tools[i];
        if (tool->timeout_ms == 0) tool->timeout_ms = PHI__AGENT_TOOL_MS;
        if (tool->schema == NULL) tool->schema = "{\"type\":\"object\",\"properties\":{}}";
        agent->tool_views[i].name = phi_str_of(tool->name);
        agent->tool_views[i].description = phi_str_of(tool->description);
        agent->tool_views[i].schema = phi_str_of(tool->schema);
    }
    return true;
}

static uint32_t phi__agent_or(uint32_t value, uint32_t fallback) {
    return value != 0 ? value : fallback;
}

static void phi__agent_limits(phi__agent *agent, const phi_agent_desc *desc) {
    phi_limits *limits = &agent->limits;
    phi_deadlines *deadlines = &agent->deadlines;
    *limits = desc->limits;
    *deadlines = desc->deadlines;
    limits->max_turns = phi__agent_or(limits->max_turns, PHI__AGENT_TURNS);
    limits->max_duration_ms = phi__agent_or(limits->max_duration_ms, PHI__AGENT_DURATION_MS);
    if (limits->max_tokens == 0) limits->max_tokens = PHI__AGENT_TOKENS;
    deadlines->connect_ms = phi__agent_or(deadlines->connect_ms, PHI__AGENT_CONNECT_MS);
    deadlines->first_event_ms = phi__agent_or(deadlines->first_event_ms, PHI__AGENT_FIRST_EVENT_MS);
    deadlines->idle_ms = phi__agent_or(deadlines->idle_ms, PHI__AGENT_IDLE_MS);
    deadlines->total_ms = phi__agent_or(deadlines->total_ms, PHI_UNLIMITED);
    agent->event_queue_bytes =
        desc->event_queue_bytes != 0 ? desc->event_queue_bytes : (size_t)PHI__AGENT_QUEUE_BYTES;
    agent->max_event_bytes =
        desc->max_event_bytes != 0 ? desc->max_event_bytes : (size_t)PHI__AGENT_EVENT_BYTES;
    agent->max_response_bytes = desc->max_response_bytes != 0 ? desc->max_response_bytes
                                                              : (uint64_t)PHI__AGENT_RESPONSE_BYTES;
}

static void phi__agent_make_id(const phi__agent *agent, char out[PHI__UUID_SIZE]) {
    unsigned char random[16];
    phi__io_random(agent->rt->io, random, sizeof random);
    phi__uuid(random, out);
}

/* Ids live apart from the thread, so that an agent without history takes none of its memory. */
static bool phi__agent_new_id(phi__agent *agent, const char *given, phi_str *out) {
    char made[PHI__UUID_SIZE], *copy;
    size_t n;
    if (given == NULL) {
        phi__agent_make_id(agent, made);
        given = made;
    }
    n = strlen(given);
    copy = (char *)phi__realloc(&agent->memory, NULL, 0, n + 1);
    if (copy == NULL) return false;
    memcpy(copy, given, n + 1);
    *out = phi__str(copy, n);
    return true;
}

static void phi__agent_drop_id(phi__agent *agent, phi_str id) {
    if (id.at != NULL && id.at != agent->session_made)
        phi__free(&agent->memory, (void *)(uintptr_t)id.at, id.len + 1);
}

static bool phi__agent_fill(phi__agent *agent, const phi_agent_desc *desc) {
    agent->thinking = desc->thinking;
    agent->tool_mode = desc->tool_mode;
    agent->tool_batch = phi__agent_or(desc->tool_batch, PHI__AGENT_BATCH);
    agent->tool_choice = desc->tool_choice;
    agent->max_tokens = desc->max_tokens;
    agent->temperature = desc->has_temperature ? desc->temperature : -1.0;
    agent->disable_cache = desc->disable_cache;
    agent->user_data = desc->user_data;
    agent->segment_given = desc->config_id != NULL;
    phi__agent_limits(agent, desc);
    agent->no_memory.kind = PHI_FAILURE_NO_MEMORY;
    agent->no_memory.message = phi_str_of("Out of memory");
    return phi__agent_model(agent, &desc->model) && phi__agent_tools(agent, desc) &&
           phi__arena_str(&agent->arena, phi_str_of(desc->system_prompt), &agent->system_prompt) &&
           phi__agent_segment(agent, desc->config_id) &&
           phi__agent_new_id(agent, desc->agent_id, &agent->agent_id) &&
           phi__agent_new_id(agent, desc->session_id, &agent->session_id);
}

/* ---- checking a desc ---- */

static phi_status phi__agent_check_model(phi_runtime *rt, const phi_model *model) {
    size_t i;
    if (model->protocol == NULL || model->protocol[0] == '\0')
        return phi__error(rt, PHI_BAD_ARG, "model.protocol is missing: use a phi_model_ preset");
    if (model->id == NULL || model->id[0] == '\0')
        return phi__error(rt, PHI_BAD_ARG, "model.id is missing");
    if (phi__codec_find(phi_str_of(model->protocol)) == NULL)
        return phi__error(rt, PHI_UNSUPPORTED, "No provider registered for protocol: %s",
                          model->protocol);
    if (model->base_url == NULL || model->base_url[0] == '\0')
        return phi__error(rt, PHI_BAD_ARG, "model.base_url is missing");
    if (model->header_count > 0 && model->headers == NULL)
        return phi__error(rt, PHI_BAD_ARG, "model.headers is missing, header_count is %u",
                          (unsigned)model->header_count);
    for (i = 0; i < model->header_count; i++)
        if (model->headers[i].name == NULL || model->headers[i].value == NULL ||
            strpbrk(model->headers[i].name, "\r\n:") != NULL ||
            strpbrk(model->headers[i].value, "\r\n") != NULL)
            return phi__error(rt, PHI_BAD_ARG, "model.headers[%u]: not a header", (unsigned)i);
    if (model->api_key != NULL && strpbrk(model->api_key, "\r\n") != NULL)
        return phi__error(rt, PHI_BAD_ARG, "model.api_key holds a line break");
    return PHI_OK;
}

static phi_status phi__agent_check_schema(phi_runtime *rt, const phi_tool *tool) {
    phi_arena arena;
    phi_json *schema = NULL;
    phi_parse_error parse;
    phi_schema_error error;
    phi_status status;
    if (tool->schema == NULL) return PHI_OK;
    phi_arena_init(&arena, &rt->memory, 1024);
    status = phi_json_parse(&arena, phi_str_of(tool->schema), PHI_JSON_BORROW, &schema, &parse);
    if (status == PHI_PARSE)
        (void)phi__error(rt, status, "tool \"%s\": schema:%u:%u: %s", tool->name,
                         (unsigned)parse.line, (unsigned)parse.column, parse.message);
    else if (status != PHI_OK)
        (void)phi__error(rt, status, "tool \"%s\": schema: %s", tool->name,
                         phi_status_text(status));
    else if (!tool->checks_arguments && (status = phi_schema_valid(schema, &error)) != PHI_OK)
        (void)phi__error(rt, status, "tool \"%s\": %s", tool->name, error.message);
    phi_arena_free(&arena);
    return status;
}

static phi_status phi__agent_check(phi_runtime *rt, const phi_agent_desc *desc) {
    size_t i, j;
    phi_status status = phi__agent_check_model(rt, &desc->model);
    if (status != PHI_OK) return status;
    if (desc->has_temperature && !(desc->temperature >= 0.0 && desc->temperature <= 100.0))
        return phi__error(rt, PHI_BAD_ARG, "temperature is %g: expected 0 or more",
                          desc->temperature);
    if ((unsigned)desc->thinking > (unsigned)PHI_THINKING_HIGH ||
        (unsigned)desc->tool_choice > (unsigned)PHI_TOOL_CHOICE_REQUIRED ||
        (unsigned)desc->tool_mode > (unsigned)PHI_TOOLS_BATCHED)
        return phi__error(rt, PHI_BAD_ARG,
                          "thinking, tool_choice or tool_mode is none of its values");
    if (desc->tool_count > 0 && desc->tools == NULL)
        return phi__error(rt, PHI_BAD_ARG, "tools is missing, tool_count is %u",
                          (unsigned)desc->tool_count);
    for (i = 0; i < desc->tool_count; i++) {
        const phi_tool *tool = &desc->tools[i];
        if (tool->name == NULL || tool->name[0] == '\0')
            return phi__error(rt, PHI_BAD_ARG, "tools[%u].name is missing", (unsigned)i);
        if (tool->start == NULL)
            return phi__error(rt, PHI_BAD_ARG, "tool \"%s\": start is missing", tool->name);
        for (j = 0; j < i; j++)
            if (strcmp(desc->tools[j].name, tool->name) == 0)
                return phi__error(rt, PHI_BAD_ARG, "tool \"%s\" is there twice", tool->name);
        status = phi__agent_check_schema(rt, tool);
        if (status != PHI_OK) return status;
    }
    return PHI_OK;
}

/* ---- the end of one ---- */

PHI__FN void phi__agent_doom(phi__agent *agent) {
    phi_runtime *rt = agent->rt;
    phi__slot *slot = agent->slot;
    if (slot == NULL) return;
    if (agent->run != NULL) phi__run_detach(agent->run);
    if (agent->slot == NULL) return; /* a tool's cancel freed it meanwhile */
    agent->slot = NULL;
    phi__slots_release(&rt->agents, slot);
    phi__events_purge(rt, agent);
    agent->next_doomed = rt->doomed;
    rt->doomed = agent;
}

PHI__FN void phi__agent_destroy(phi__agent *agent) {
    phi_runtime *rt = agent->rt;
    if (agent->run != NULL) phi__run_destroy(agent->run);
    phi__thread_free(&agent->thread);
    phi_arena_free(&agent->model_arena);
    phi_arena_free(&agent->arena);
    phi__agent_drop_id(agent, agent->agent_id);
    phi__agent_drop_id(agent, agent->session_id);
    PHI_ASSERT(agent->memory.used_bytes == 0);
    phi__free(&rt->memory, agent, sizeof *agent);
}

static phi__agent *phi__agent_make(phi_runtime *rt, const phi_agent_desc *desc) {
    phi__agent *agent = (phi__agent *)phi__alloc(&rt->memory, sizeof *agent);
    if (agent == NULL) return NULL;
    agent->rt = rt;
    phi_memory_init(&agent->memory, &rt->memory.allocator, desc->memory_limit_bytes);
    agent->memory.parent = &rt->memory;
    phi_arena_init(&agent->arena, &agent->memory, 512);
    phi_arena_init(&agent->model_arena, &agent->memory, 256);
    phi__thread_init(&agent->thread, &agent->memory);
    if (phi__agent_fill(agent, desc)) agent->slot = phi__slots_take(&rt->agents, 1, agent);
    if (agent->slot == NULL) {
        phi__agent_destroy(agent);
        return NULL;
    }
    agent->index = agent->slot->index;
    agent->gen = phi__slot_gen(PHI__LOAD(&agent->slot->word));
    return agent;
}

/* ---- prompting ---- */

static bool phi__agent_reserve_free(const phi__agent *agent) {
    size_t i;
    for (i = 0; i < PHI__RESERVE; i++)
        if (agent->reserve[i].in_use) return false;
    return true;
}

static phi_status phi__agent_check_prompt(phi_runtime *rt, const phi_content *content,
                                          size_t count) {
    size_t i;
    if (content == NULL || count == 0)
        return phi__error(rt, PHI_BAD_ARG, "phi_prompt: there is no content");
    for (i = 0; i < count; i++)
        if (content[i].kind != PHI_CONTENT_TEXT && content[i].kind != PHI_CONTENT_IMAGE)
            return phi__error(rt, PHI_BAD_ARG,
                              "phi_prompt: content[%u].kind: expected text or image", (unsigned)i);
        else if (content[i].kind == PHI_CONTENT_IMAGE &&
                 (content[i].data.len == 0 || content[i].mime_type.len == 0))
            return phi__error(rt, PHI_BAD_ARG,
                              "phi_prompt: content[%u]: an image needs data and mime_type",
                              (unsigned)i);
    return PHI_OK;
}

static phi_status phi__agent_may_run(phi__agent *agent) {
    phi_runtime *rt = agent->rt;
    if (rt->closing) return phi__error(rt, PHI_MISUSE, "phi_prompt: the runtime is closing");
    if (agent->run != NULL)
        return phi__error(rt, PHI_BUSY,
                          "Agent is already streaming. Wait for its AGENT_END, or phi_abort it.");
    if (!phi__agent_reserve_free(agent))
        return phi__error(rt, PHI_BUSY, "phi_prompt: the last run's events were not popped");
    return PHI_OK;
}

static phi_status phi__agent_idle(phi__agent *agent, const char *what) {
    return agent->run == NULL ? PHI_OK
                              : phi__error(agent->rt, PHI_BUSY, "%s: a run is going on", what);
}

/* ---- public ---- */

PHI_API phi_agent phi_agent_new(phi_runtime *rt, const phi_agent_desc *desc) {
    phi_agent none;
    phi__agent *agent;
    memset(&none, 0, sizeof none);
    if (rt == NULL) return none;
    if (rt->closing) {
        (void)phi__error(rt, PHI_MISUSE, "phi_agent_new: the runtime is closing");
        return none;
    }
    if (desc == NULL) {
        (void)phi__error(rt, PHI_BAD_ARG, "phi_agent_new: desc is NULL");
        return none;
    }
    if (phi__agent_check(rt, desc) != PHI_OK) return none;
    agent = phi__agent_make(rt, desc);
    if (agent == NULL) {
        (void)phi__error(rt, PHI_NO_MEMORY, "phi_agent_new: out of memory");
        return none;
    }
    return phi__agent_handle(agent);
}

PHI_API phi_status phi_agent_free(phi_agent handle) {
    phi__agent *agent = phi__agent_find(handle);
    bool inside;
    if (handle.rt == NULL) return PHI_BAD_ARG;
    if (agent == NULL) return PHI_STALE;
    inside = handle.rt->in_step;
    handle.rt->in_step = true; /* the tools' cancel functions must not step */
    phi__agent_doom(agent);
    if (!inside) phi__step_end(handle.rt);
    return PHI_OK;
}

PHI_API bool phi_agent_alive(phi_agent handle) {
    return handle.rt != NULL && phi__slots_state(&handle.rt->agents, handle.index, handle.gen) != 0;
}

PHI_API bool phi_agent_running(phi_agent handle) {
    phi__agent *agent = phi__agent_find(handle);
    return agent != NULL && agent->run != NULL;
}

PHI_API phi_status phi_prompt_content(phi_agent handle, const phi_content *content, size_t count) {
    phi__agent *agent = phi__agent_find(handle);
    phi_message message;
    phi_status status;
    if (handle.rt == NULL) return PHI_BAD_ARG;
    if (agent == NULL) return phi__error(handle.rt, PHI_STALE, "phi_prompt: the agent is gone");
    status = phi__agent_check_prompt(handle.rt, content, count);
    if (status == PHI_OK) status = phi__agent_may_run(agent);
    if (status != PHI_OK) return status;
    memset(&message, 0, sizeof message);
    message.role = PHI_ROLE_USER;
    message.content = content;
    message.content_count = count;
    status = phi__run_new(agent, &message);
    return status == PHI_OK ? status : phi__error(handle.rt, status, "phi_prompt: out of memory");
}

PHI_API phi_status phi_prompt(phi_agent agent, const char *text) {
    phi_content content;
    if (agent.rt == NULL) return PHI_BAD_ARG;
    if (text == NULL || text[0] == '\0')
        return phi__error(agent.rt, PHI_BAD_ARG, "phi_prompt: the text is empty");
    memset(&content, 0, sizeof content);
    content.kind = PHI_CONTENT_TEXT;
    content.text = phi_str_of(text);
    return phi_prompt_content(agent, &content, 1);
}

PHI_API phi_status phi_abort(phi_agent handle) {
    phi__post post;
    phi_status status;
    if (handle.rt == NULL) return PHI_BAD_ARG;
    if (!phi_agent_alive(handle)) return PHI_STALE;
    memset(&post, 0, sizeof post);
    post.kind = PHI__POST_ABORT;
    post.index = handle.index;
    post.gen = handle.gen;
    status = phi__inbox_post(&handle.rt->inbox, &post);
    if (status == PHI_OK) phi__io_wake(handle.rt->io);
    return status;
}

PHI_API phi_status phi_agent_set_model(phi_agent handle, const phi_model *model) {
    phi__agent *agent = phi__agent_find(handle), before;
    phi_status status;
    if (handle.rt == NULL || model == NULL) return PHI_BAD_ARG;
    if (agent == NULL) return PHI_STALE;
    status = phi__agent_idle(agent, "phi_agent_set_model");
    if (status == PHI_OK) status = phi__agent_check_model(handle.rt, model);
    if (status != PHI_OK) return status;
    before = *agent;
    phi_arena_init(&agent->model_arena, &agent->memory, 256);
    if (phi__agent_model(agent, model) &&
        phi__agent_segment(agent, agent->segment_given ? before.segment.at : NULL)) {
        phi_arena_free(&before.model_arena);
        return PHI_OK;
    }
    phi_arena_free(&agent->model_arena);
    agent->model_arena = before.model_arena;
    agent->model = before.model;
    agent->codec = before.codec;
    agent->segment = before.segment;
    return phi__error(handle.rt, PHI_NO_MEMORY, "phi_agent_set_model: out of memory");
}

PHI_API phi_status phi_agent_reset(phi_agent handle) {
    phi__agent *agent = phi__agent_find(handle);
    phi_status status;
    if (handle.rt == NULL) return PHI_BAD_ARG;
    if (agent == NULL) return PHI_STALE;
    status = phi__agent_idle(agent, "phi_agent_reset");
    if (status != PHI_OK) return status;
    phi__events_purge(handle.rt, agent);
    phi__thread_free(&agent->thread);
    phi__agent_drop_id(agent, agent->session_id);
    phi__agent_make_id(agent, agent->session_made);
    agent->session_id = phi_str_of(agent->session_made);
    agent->loops = 0;
    return PHI_OK;
}

PHI_API phi_str phi_agent_id(phi_agent handle) {
    phi__agent *agent = phi__agent_find(handle);
    return agent != NULL ? agent->agent_id : phi__str("", 0);
}

PHI_API phi_str phi_agent_session_id(phi_agent handle) {
    phi__agent *agent = phi__agent_find(handle);
    return agent != NULL ? agent->session_id : phi__str("", 0);
}

PHI_API phi_str phi_agent_model_id(phi_agent handle) {
    phi__agent *agent = phi__agent_find(handle);
    return agent != NULL ? phi_str_of(agent->model.id) : phi__str("", 0);
}

PHI_API phi_usage phi_agent_usage(phi_agent handle) {
    phi__agent *agent = phi__agent_find(handle);
    phi_usage none;
    memset(&none, 0, sizeof none);
    return agent != NULL ? agent->usage : none;
}

PHI_API double phi_agent_cost(phi_agent handle) {
    phi__agent *agent = phi__agent_find(handle);
    return agent != NULL ? agent->cost : 0.0;
}

PHI_API size_t phi_agent_memory_used(phi_agent handle, size_t *peak) {
    phi__agent *agent = phi__agent_find(handle);
    if (peak != NULL) *peak = agent != NULL ? agent->memory.peak_bytes : 0;
    return agent != NULL ? agent->memory.used_bytes : 0;
}

PHI_API size_t phi_message_count(phi_agent handle) {
    phi__agent *agent = phi__agent_find(handle);
    return agent != NULL ? agent->thread.message_count : 0;
}

PHI_API const phi_message *phi_message_at(phi_agent handle, size_t i) {
    phi__agent *agent = phi__agent_find(handle);
    return agent != NULL && i < agent->thread.message_count ? agent->thread.messages[i]->message
                                                            : NULL;
}

/* ---- src/agent/event_json.c ---- */

/* event_json.c - events in the interchange format: behaviours A, "AgentEvent".

   Only what that format knows, in its words; what it does not know (a failure's kind and HTTP status)
   stands in the type Error, which is ours. */

#include <stdio.h>

typedef struct phi__event_writer {
    const phi_event *event;
    const phi__agent *agent;
    phi__buf out;
    phi_arena *scratch;
} phi__event_writer;

static void phi__ej_str(phi__event_writer *w, const char *key, phi_str value) {
    phi__json_put_key(&w->out, phi_str_of(key));
    phi__json_put_str(&w->out, value);
}

static void phi__ej_raw(phi__event_writer *w, const char *key, const char *json) {
    phi__json_put_key(&w->out, phi_str_of(key));
    phi__buf_text(&w->out, json);
}

static void phi__ej_u64(phi__event_writer *w, const char *key, uint64_t n) {
    phi__json_put_key(&w->out, phi_str_of(key));
    phi__json_put_u64(&w->out, n);
}

static void phi__ej_bool(phi__event_writer *w, const char *key, bool b) {
    phi__json_put_key(&w->out, phi_str_of(key));
    phi__json_put_bool(&w->out, b);
}

/* Days since 1970 as a date, by the rule of 400 years. */
static void phi__ej_date(int64_t days, int *year, int *month, int *day) {
    int64_t z = days + 719468, era, of_era, y, of_year, m;
    era = (z >= 0 ? z : z - 146096) / 146097;
    of_era = z - era * 146097;
    y = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    of_year = of_era - (365 * y + y / 4 - y / 100);
    m = (5 * of_year + 2) / 153;
    *day = (int)(of_year - (153 * m + 2) / 5 + 1);
    *month = (int)(m < 10 ? m + 3 : m - 9);
    *year = (int)(y + era * 400 + (*month <= 2 ? 1 : 0));
}

/* RFC 3339, UTC, with three digits of fraction where there is one. */
static void phi__ej_time(phi__event_writer *w) {
    char text[80];
    int64_t ms = w->event->timestamp_ms, days = ms / 86400000, rest = ms % 86400000;
    int year, month, day, n, s;
    if (rest < 0) {
        rest += 86400000;
        days--;
    }
    phi__ej_date(days, &year, &month, &day);
    s = (int)(rest / 1000);
    n = snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d", year, month, day, s / 3600,
                 s / 60 % 60, s % 60);
    if (rest % 1000 != 0)
        n += snprintf(text + n, sizeof text - (size_t)n, ".%03d", (int)(rest % 1000));
    (void)snprintf(text + n, sizeof text - (size_t)n, "Z");
    phi__ej_str(w, "timestamp", phi_str_of(text));
}

static void phi__ej_message(phi__event_writer *w, const char *key, const phi_message *message,
                            bool bare) {
    phi_message copy;
    if (key != NULL)
        phi__json_put_key(&w->out, phi_str_of(key));
    else
        phi__json_put_comma(&w->out);
    if (message == NULL) {
        phi__buf_text(&w->out, "null");
        return;
    }
    copy = *message;
    if (bare) copy.loop_id = phi__str(NULL, 0);
    phi__message_put(&w->out, &copy, w->scratch);
}

static void phi__ej_usage(phi__event_writer *w) {
    phi_usage none;
    memset(&none, 0, sizeof none);
    phi__message_put_usage(&w->out, w->event->usage != NULL ? w->event->usage : &none);
}

/* ---- one function a type ---- */

static const char *phi__ej_thinking(phi_thinking level) {
    static const char *const words[] = {"off", "minimal", "low", "medium", "high"};
    return (size_t)level < PHI__COUNT(words) ? words[level] : words[0];
}

/* LoopConfigSnapshot: what the run was asked with. */
static void phi__ej_snapshot(phi__event_writer *w) {
    const phi_model *model = &w->agent->model;
    phi__json_put_key(&w->out, PHI__LIT("config_snapshot"));
    phi__buf_char(&w->out, '{');
    phi__ej_str(w, "model", phi_str_of(model->id));
    phi__ej_str(w, "provider", phi_str_of(model->provider));
    phi__ej_raw(w, "config_id", "null");
    phi__ej_str(w, "name", phi_str_of(model->name));
    phi__ej_str(w, "api", phi_str_of(model->protocol));
    phi__ej_str(w, "base_url", phi_str_of(model->base_url));
    phi__ej_bool(w, "reasoning", model->reasoning);
    phi__ej_u64(w, "context_window", model->context_window);
    phi__ej_u64(w, "max_tokens",
                w->agent->max_tokens != 0 ? w->agent->max_tokens : model->max_tokens);
    phi__ej_str(w, "thinking_level", phi_str_of(phi__ej_thinking(w->agent->thinking)));
    if (w->agent->temperature >= 0) {
        phi__json_put_key(&w->out, PHI__LIT("temperature"));
        phi__json_put_double(&w->out, w->agent->temperature);
    }
    phi__buf_char(&w->out, '}');
}

static void phi__ej_start(phi__event_writer *w) {
    phi__ej_str(w, "agent_id", w->agent->agent_id);
    phi__ej_str(w, "session_id", w->agent->session_id);
    phi__ej_str(w, "loop_id", w->event->loop_id);
    phi__ej_raw(w, "parent_loop_id", "null");
    phi__ej_str(w, "continuation_kind", PHI__LIT("Initial"));
    phi__ej_time(w);
    phi__ej_raw(w, "metadata", "null");
    phi__ej_snapshot(w);
}

static void phi__ej_end(phi__event_writer *w) {
    const phi__thread *thread = &w->agent->thread;
    size_t i, from = w->event->first_message;
    phi__ej_raw(w, "messages", "[");
    for (i = from; i < from + w->event->message_count && i < thread->message_count; i++)
        phi__ej_message(w, NULL, thread->messages[i]->message, false);
    phi__buf_char(&w->out, ']');
    phi__ej_usage(w);
    phi__ej_time(w);
    phi__ej_raw(w, "rejection", "null");
}

static void phi__ej_turn_start(phi__event_writer *w) {
    static const char *const words[] = {"", "User", "SubAgent", "Continuation", "Branch"};
    phi__ej_u64(w, "turn_index", w->event->turn_index);
    phi__ej_time(w);
    phi__ej_str(w, "triggered_by",
                phi_str_of(words[(size_t)w->event->trigger % PHI__COUNT(words)]));
}

/* Results stand behind their turn's answer; the search comes from the end, where they mostly are. */
static void phi__ej_turn_end(phi__event_writer *w) {
    const phi__thread *thread = &w->agent->thread;
    size_t at = thread->message_count;
    while (at > 0 && thread->messages[at - 1]->message != w->event->message) at--;
    phi__ej_message(w, "message", w->event->message, false);
    phi__ej_usage(w);
    phi__ej_time(w);
    phi__ej_raw(w, "tool_results", "[");
    for (; at > 0 && at < thread->message_count; at++) {
        if (thread->messages[at]->message->role != PHI_ROLE_TOOL_RESULT) break;
        phi__ej_message(w, NULL, thread->messages[at]->message, true);
    }
    phi__buf_char(&w->out, ']');
}

static void phi__ej_delta(phi__event_writer *w) {
    const char *kind = w->event->kind == PHI_EV_TEXT       ? "Text"
                       : w->event->kind == PHI_EV_THINKING ? "Thinking"
                                                           : "ToolCallDelta";
    phi__ej_message(w, "message", w->event->message, false);
    phi__json_put_key(&w->out, PHI__LIT("delta"));
    phi__buf_char(&w->out, '{');
    phi__ej_raw(w, kind, "{");
    phi__ej_str(w, "delta", w->event->text);
    phi__buf_text(&w->out, "}}");
}

static void phi__ej_tool(phi__event_writer *w) {
    phi__ej_str(w, "tool_call_id", w->event->tool_call_id);
    phi__ej_str(w, "tool_name", w->event->tool_name);
}

/* ToolResult: {"content":[..],"details":null}. */
static void phi__ej_result(phi__event_writer *w, const char *key, const phi_message *result) {
    phi__ej_raw(w, key, "{");
    phi__message_put_blocks(&w->out, result, w->scratch);
    phi__json_put_key(&w->out, PHI__LIT("details"));
    if (result->details.len > 0)
        phi__message_put_value(&w->out, result->details, w->scratch);
    else
        phi__buf_text(&w->out, "null");
    phi__buf_char(&w->out, '}');
}

static void phi__ej_update(phi__event_writer *w) {
    phi_content content;
    phi_message part;
    memset(&content, 0, sizeof content);
    memset(&part, 0, sizeof part);
    content.kind = PHI_CONTENT_TEXT;
    content.text = w->event->text;
    part.content = &content;
    part.content_count = 1;
    phi__ej_tool(w);
    phi__ej_result(w, "partial_result", &part);
}

static void phi__ej_tool_end(phi__event_writer *w) {
    phi__ej_tool(w);
    if (w->event->message != NULL) phi__ej_result(w, "result", w->event->message);
    phi__ej_bool(w, "is_error", w->event->is_error);
    phi__ej_raw(w, "child_loop_id", "null");
}

static void phi__ej_error(phi__event_writer *w) {
    const phi_failure *failure = w->event->failure;
    phi__ej_str(w, "kind", phi_str_of(phi_failure_kind_text(failure->kind)));
    phi__ej_str(w, "message", failure->message);
    phi__ej_u64(w, "http_status", (uint64_t)(failure->http_status > 0 ? failure->http_status : 0));
    phi__ej_bool(w, "retryable", failure->retryable);
    if (failure->has_retry_after) phi__ej_u64(w, "retry_after_ms", failure->retry_after_ms);
    phi__ej_time(w);
}

static const char *phi__ej_type(phi_event_kind kind) {
    if (kind == PHI_EV_TEXT || kind == PHI_EV_THINKING || kind == PHI_EV_TOOL_ARGUMENTS)
        return "MessageUpdate";
    return phi_event_name(kind);
}

static void phi__ej_body(phi__event_writer *w) {
    switch (w->event->kind) {
    case PHI_EV_AGENT_START: phi__ej_start(w); break;
    case PHI_EV_AGENT_END: phi__ej_end(w); break;
    case PHI_EV_TURN_START: phi__ej_turn_start(w); break;
    case PHI_EV_TURN_END: phi__ej_turn_end(w); break;
    case PHI_EV_MESSAGE_START:
    case PHI_EV_MESSAGE_END: phi__ej_message(w, "message", w->event->message, false); break;
    case PHI_EV_TEXT:
    case PHI_EV_THINKING:
    case PHI_EV_TOOL_ARGUMENTS: phi__ej_delta(w); break;
    case PHI_EV_TOOL_START:
        phi__ej_tool(w);
        phi__json_put_key(&w->out, PHI__LIT("args"));
        phi__message_put_value(&w->out, w->event->arguments, w->scratch);
        break;
    case PHI_EV_TOOL_UPDATE: phi__ej_update(w); break;
    case PHI_EV_TOOL_PROGRESS:
        phi__ej_tool(w);
        phi__ej_str(w, "text", w->event->text);
        break;
    case PHI_EV_TOOL_END: phi__ej_tool_end(w); break;
    case PHI_EV_ERROR: phi__ej_error(w); break;
    }
}

/* ---- public ---- */

PHI_API phi_status phi_event_to_json(const phi_event *event, phi_arena *arena, phi_str *out) {
    phi__event_writer w;
    phi__slot *slot;
    phi_status status = PHI_OK;
    if (event == NULL || arena == NULL || out == NULL || event->agent.rt == NULL)
        return PHI_BAD_ARG;
    slot = phi__slots_find(&event->agent.rt->agents, event->agent.index, event->agent.gen);
    if (slot == NULL) return PHI_STALE;
    w.event = event;
    w.agent = (const phi__agent *)slot->object;
    w.scratch = arena;
    phi__buf_init(&w.out, arena->memory);
    phi__buf_char(&w.out, '{');
    phi__ej_str(&w, "type", phi_str_of(phi__ej_type(event->kind)));
    if (event->kind != PHI_EV_AGENT_START) phi__ej_str(&w, "loop_id", event->loop_id);
    phi__ej_body(&w);
    phi__buf_char(&w.out, '}');
    if (w.out.failed || !phi__arena_str(arena, phi__buf_str(&w.out), out)) status = PHI_NO_MEMORY;
    phi__buf_free(&w.out);
    return status;
}

/* ---- src/agent/runtime.c ---- */

/* runtime.c - the pump: inbox, then cancels and timers, then I/O, then tools that poll, then runs. */

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

enum {
    PHI__RT_STEP_US = 250,      /* DESIGN part 1; engineering.md 1.9 */
    PHI__RT_STEP_BYTES = 65536, /* engineering.md 1.1 */
    PHI__RT_INBOX_BYTES = 65536,
    PHI__RT_INBOX_MOST = 1 << 30,
    PHI__RT_CONNECTIONS = 64,     /* engineering.md 1.5 */
    PHI__RT_STARTS = 4,           /* the same */
    PHI__RT_POSTS_PER_STEP = 256, /* messages of other threads handled in one step */
    PHI__RT_READY_BATCH = 16,     /* descriptors between two looks at the clock */
    PHI__RT_TIMERS_PER_STEP = 256,
    PHI__RT_POLL_MS = 10 /* a wait is cut to this while tools want to be polled */
};

PHI__FN phi_status phi__error(phi_runtime *rt, phi_status status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    (void)vsnprintf(rt->error_words, sizeof rt->error_words, format, args);
    va_end(args);
    rt->error = status;
    rt->error_http_status = 0;
    return status;
}

/* ---- making one ---- */

static phi_status phi__rt_io(phi_runtime *rt, const phi_runtime_desc *desc, const char **why) {
    phi__io_desc io;
    phi__http_desc http;
    phi_status status;
    memset(&io, 0, sizeof io);
    io.clock_us_fn = desc->clock_us_fn;
    io.random_fn = desc->random_fn;
    io.watch_fn = desc->watch_fn;
    io.user_data = desc->user_data;
    io.step_budget_us = rt->step_budget_us;
    io.max_starts_per_step =
        desc->max_starts_per_step != 0 ? desc->max_starts_per_step : (uint32_t)PHI__RT_STARTS;
    *why = "no memory, or the system has no poller for us";
    status = phi__io_new(&rt->memory, &io, &rt->io);
    if (status != PHI_OK) return status;
    rt->transport = desc->transport;
    if (rt->transport != NULL) return PHI_OK;
    memset(&http, 0, sizeof http);
    http.max_connections =
        desc->max_connections != 0 ? desc->max_connections : (uint32_t)PHI__RT_CONNECTIONS;
    http.enable_http2 = desc->enable_http2;
    http.use_environment = desc->use_environment;
    http.proxy = desc->proxy;
    http.ca_file = desc->ca_file;
    http.resolve = desc->resolve;
    status = phi__http_new(rt->io, &http, phi__xfer_port_get(), &rt->http, why);
    if (status == PHI_OK) rt->transport = phi__http_transport(rt->http);
    return status;
}

static phi_status phi__rt_inbox_init(phi_runtime *rt, const phi_runtime_desc *desc) {
    return phi__inbox_init(&rt->inbox, &rt->memory,
                           desc->inbox_bytes != 0 ? desc->inbox_bytes
                                                  : (size_t)PHI__RT_INBOX_BYTES);
}

/* What is wrong with a desc, or NULL. */
static const char *phi__rt_refuse(const phi_runtime_desc *desc) {
    const phi_transport *transport = desc->transport;
    if (desc->inbox_bytes > PHI__RT_INBOX_MOST) return "inbox_bytes: expected at most 1 GiB";
    if (transport != NULL &&
        (transport->open == NULL || transport->resume == NULL || transport->cancel == NULL))
        return "transport: open, resume or cancel is missing";
    return NULL;
}

static void phi__rt_unmake(phi_runtime *rt) {
    phi_memory memory = rt->memory;
    phi__http_free(rt->http);
    phi__events_free(&rt->events);
    phi__slots_free(&rt->agents);
    phi__slots_free(&rt->calls);
    phi__slots_free(&rt->transfers);
    phi__inbox_free(&rt->inbox);
    phi__io_free(rt->io);
    (void)memory.allocator.realloc_fn(memory.allocator.user_data, rt, sizeof *rt, 0);
}

/* The runtime's own struct is the one thing that is not counted: the counters are in it. */
static phi_runtime *phi__rt_make(const phi_runtime_desc *desc) {
    phi_allocator allocator =
        desc->allocator.realloc_fn != NULL ? desc->allocator : phi_allocator_default();
    phi_runtime *rt = (phi_runtime *)allocator.realloc_fn(allocator.user_data, NULL, 0, sizeof *rt);
    if (rt == NULL) return NULL;
    memset(rt, 0, sizeof *rt);
    phi_memory_init(&rt->memory, &allocator, desc->memory_limit_bytes);
    phi__slots_init(&rt->agents, &rt->memory);
    phi__slots_init(&rt->calls, &rt->memory);
    phi__slots_init(&rt->transfers, &rt->memory);
    phi__events_init(&rt->events, &rt->memory);
    rt->step_budget_us =
        desc->step_budget_us != 0 ? desc->step_budget_us : (uint32_t)PHI__RT_STEP_US;
    rt->step_budget_bytes =
        desc->step_budget_bytes != 0 ? desc->step_budget_bytes : (uint32_t)PHI__RT_STEP_BYTES;
    return rt;
}

/* ---- a step ---- */

/* `at`: where it stood in the inbox. */
static void phi__rt_post(phi_runtime *rt, const phi__post *post, uint32_t at) {
    phi__slot *slot;
    phi__run *run;
    if (post->kind == PHI__POST_FINISH) {
        phi__call_posted(rt, post);
        return;
    }
    slot = phi__slots_find(&rt->agents, post->index, post->gen);
    run = slot != NULL ? ((phi__agent *)slot->object)->run : NULL;
    if (run != NULL && at - run->posts_from < UINT32_MAX / 2) phi__run_cancel(run);
}

static void phi__rt_inbox(phi_runtime *rt) {
    phi__post post;
    int left = PHI__RT_POSTS_PER_STEP;
    while (left-- > 0 && phi__inbox_peek(&rt->inbox, &post)) {
        phi__rt_post(rt, &post, rt->inbox.head);
        phi__inbox_drop(&rt->inbox);
    }
}

static bool phi__rt_has_work(phi_runtime *rt) {
    phi__post post;
    return rt->ready != NULL || rt->events.queued.head != NULL ||
           phi__inbox_peek(&rt->inbox, &post);
}

/* How long this step may sleep: not at all while something is waiting already. */
static int phi__rt_timeout(phi_runtime *rt, int timeout_ms) {
    if (timeout_ms == 0 || phi__rt_has_work(rt)) return 0;
    if (rt->polled_count > 0 && (timeout_ms < 0 || timeout_ms > PHI__RT_POLL_MS))
        return PHI__RT_POLL_MS;
    return timeout_ms;
}

/* A slice that was begun is finished: a third of the budget is kept for that. */
static void phi__rt_budget(phi_runtime *rt) {
    rt->step_began_us = phi__io_now_us(rt->io);
    rt->step_wall_ms = phi__io_wall_ms(rt->io);
    rt->step_until_us = rt->step_began_us + rt->step_budget_us - rt->step_budget_us / 3;
    rt->step_bytes_left = rt->step_budget_bytes;
}

/* Descriptors, for at most half of the budget, so that the runs get their share. The poller goes on
   next time where it stopped. */
static void phi__rt_io_pump(phi_runtime *rt, int wait) {
    uint64_t until;
    int done = phi__io_wait(rt->io, wait, PHI__RT_READY_BATCH);
    if (wait != 0) { /* sleeping is not work */
        phi__rt_budget(rt);
        phi__io_step_begin(rt->io);
    }
    until = rt->step_began_us + rt->step_budget_us / 2;
    while (done >= PHI__RT_READY_BATCH && phi__io_now_us(rt->io) < until)
        done = phi__io_wait(rt->io, 0, PHI__RT_READY_BATCH);
}

static void phi__rt_transport(phi_runtime *rt) {
    if (rt->transport->pump != NULL) rt->transport->pump(rt->transport->user_data);
}

static void phi__rt_bury(phi_runtime *rt) {
    while (rt->doomed != NULL) {
        phi__agent *agent = rt->doomed;
        rt->doomed = agent->next_doomed;
        phi__agent_destroy(agent);
    }
}

PHI__FN void phi__step_end(phi_runtime *rt) {
    rt->in_step = false;
    phi__rt_bury(rt);
}

static void phi__rt_pump(phi_runtime *rt, int timeout_ms) {
    int wait = phi__rt_timeout(rt, timeout_ms);
    phi__rt_budget(rt);
    phi__io_step_begin(rt->io);
    phi__rt_inbox(rt);
    (void)phi__io_timers(rt->io, PHI__RT_TIMERS_PER_STEP);
    phi__rt_transport(rt);
    if (rt->ready != NULL) wait = 0;
    phi__rt_io_pump(rt, wait);
    if (wait != 0) { /* what ended the wait is done in the same step */
        phi__rt_inbox(rt);
        (void)phi__io_timers(rt->io, PHI__RT_TIMERS_PER_STEP);
    }
    phi__calls_poll(rt);
    phi__runs_advance(rt);
    phi__rt_transport(rt); /* what the runs have opened leaves in this step */
}

/* ---- public ---- */

PHI_API phi_runtime *phi_runtime_new_why(const phi_runtime_desc *desc, const char **why) {
    phi_runtime_desc none;
    phi_runtime *rt = NULL;
    const char *words = NULL;
    memset(&none, 0, sizeof none);
    if (desc == NULL) desc = &none;
    words = phi__rt_refuse(desc);
    if (words == NULL) {
        words = "no memory";
        rt = phi__rt_make(desc);
    }
    if (rt != NULL &&
        (phi__rt_inbox_init(rt, desc) != PHI_OK || phi__rt_io(rt, desc, &words) != PHI_OK)) {
        phi__rt_unmake(rt);
        rt = NULL;
    }
    if (why != NULL) *why = rt != NULL ? "ok" : words;
    return rt;
}

PHI_API phi_runtime *phi_runtime_new(const phi_runtime_desc *desc) {
    return phi_runtime_new_why(desc, NULL);
}

PHI_API phi_status phi_runtime_close(phi_runtime *rt) {
    uint32_t i;
    if (rt == NULL) return PHI_BAD_ARG;
    if (rt->in_step) return phi__error(rt, PHI_MISUSE, "phi_runtime_close inside a callback");
    rt->closing = true;
    for (i = 0; rt->active > 0 && i < rt->agents.count; i++) {
        phi__slot *slot = phi__slots_at(&rt->agents, i);
        phi__agent *agent = (phi__agent *)slot->object;
        if (agent != NULL && agent->run != NULL) phi__run_cancel(agent->run);
    }
    if (rt->active > 0 || phi__io_pending(rt->io)) return PHI_BUSY;
    return rt->http != NULL && phi__http_pending(rt->http) > 0 ? PHI_BUSY : PHI_OK;
}

PHI_API void phi_runtime_free(phi_runtime *rt) {
    uint32_t i;
    if (rt == NULL) return;
    if (rt->in_step) {
        (void)phi__error(rt, PHI_MISUSE, "phi_runtime_free inside a callback");
        return;
    }
    rt->in_step = rt->closing =
        true; /* the tools' cancel functions must not step, nor make agents */
    for (i = 0; i < rt->agents.count; i++) {
        phi__slot *slot = phi__slots_at(&rt->agents, i);
        if (slot->object != NULL) phi__agent_doom((phi__agent *)slot->object);
    }
    phi__step_end(rt);
    phi__rt_unmake(rt);
}

PHI_API int phi_step(phi_runtime *rt, int timeout_ms) {
    if (rt == NULL) return PHI_BAD_ARG;
    if (rt->in_step) return phi__error(rt, PHI_MISUSE, "phi_step inside a callback");
    rt->in_step = true;
    phi__events_release(rt);
    phi__rt_pump(rt, timeout_ms);
    phi__step_end(rt);
    return rt->active > (uint32_t)INT_MAX ? INT_MAX : (int)rt->active;
}

PHI_API bool phi_next_event(phi_runtime *rt, phi_event *out) {
    return rt != NULL && out != NULL && phi__events_pop(rt, out);
}

PHI_API intptr_t phi_runtime_fd(const phi_runtime *rt) {
    return rt != NULL ? phi__io_fd(rt->io) : -1;
}

PHI_API int phi_next_timeout(const phi_runtime *rt) {
    uint64_t next, now;
    uint64_t ms;
    if (rt == NULL) return -1;
    if (rt->ready != NULL || PHI__LOAD(&rt->inbox.tail) != rt->inbox.head) return 0;
    next = phi__io_next_timer_us(rt->io);
    now = phi__io_now_us(rt->io);
    if (next == UINT64_MAX) return rt->polled_count > 0 ? (int)PHI__RT_POLL_MS : -1;
    ms = next > now ? (next - now + 999) / 1000 : 0;
    if (rt->polled_count > 0 && ms > PHI__RT_POLL_MS) ms = PHI__RT_POLL_MS;
    return ms > (uint64_t)INT_MAX ? INT_MAX : (int)ms;
}

PHI_API void phi_ready(phi_runtime *rt, intptr_t fd, int have) {
    if (rt != NULL) phi__io_ready(rt->io, fd, have);
}

PHI_API void phi_wake(phi_runtime *rt) {
    if (rt != NULL) phi__io_wake(rt->io);
}

PHI_API phi_status phi_warm(phi_runtime *rt, const phi_model *model) {
    phi_status status;
    if (rt == NULL || model == NULL) return PHI_BAD_ARG;
    if (model->base_url == NULL)
        return phi__error(rt, PHI_BAD_ARG, "phi_warm: model.base_url is missing");
    if (rt->http == NULL)
        return PHI_OK; /* a host's transport has nothing to warm that we know of */
    status = phi__http_warm(rt->http, phi_str_of(model->base_url));
    return status == PHI_OK ? status
                            : phi__error(rt, status, "phi_warm: %s", phi_status_text(status));
}

PHI_API phi_status phi_last_error(const phi_runtime *rt, const char **words, int *http_status) {
    if (words != NULL) *words = rt != NULL ? rt->error_words : "";
    if (http_status != NULL) *http_status = rt != NULL ? rt->error_http_status : 0;
    return rt != NULL ? rt->error : PHI_BAD_ARG;
}

PHI_API size_t phi_memory_used(const phi_runtime *rt, size_t *peak) {
    if (peak != NULL) *peak = rt != NULL ? rt->memory.peak_bytes : 0;
    return rt != NULL ? rt->memory.used_bytes : 0;
}

#endif /* PHI__IMP_AGENT */

#endif /* PHI_IMPLEMENTATION */

/*
MIT License

Copyright (c) phi contributors

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.
*/
