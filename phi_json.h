/* phi_json.h - v0.1.0 - bounded JSON for C and C++ - MIT, text at end of file

   In exactly ONE C or C++ file:
       #define PHI_IMPLEMENTATION
       #include "phi_json.h"
   Elsewhere only the #include. A document, its memory included:
       phi_parse_error error;
       phi_json *game = phi_json_load_file("game.json", PHI_JSON_RELAXED, NULL, &error);
       if (game == NULL) printf("%u:%u: %s\n", error.line, error.column, error.message);
       printf("%d\n", (int)phi_json_int(phi_json_path(game, "hero.gold"), 100));
       phi_json_unload(game);

   phi.h is built on these parts, which are also useful alone: an arena allocator with budgets, byte
   strings, a strict JSON reader and writer with a schema check, and readers of YAML and TOML into
   the same tree. phi.h contains all of them. Both headers may be included together, in any order.

   OPTIONS  Defined before the #include, the same in every file of a program.
     PHI_IMPLEMENTATION  emits the functions, in one file of the program
     PHI_STATIC          makes every function static: the whole library inside one file
     PHI_NO_FILES        leaves out reading files: phi_json_load_file gives PHI_UNSUPPORTED
     PHI_API             linkage of the public functions, if PHI_STATIC is not what you want
     PHI_ASSERT(x)       checks phi's own invariants (default: assert)

   MEMORY   A document owns its memory. All other memory comes from a phi_memory, which has your
            allocator, a limit and counters. Things that belong together are taken from one
            phi_arena and freed as a whole. Every allocation may fail; the function then returns a
            status or NULL, and nothing has changed.
   THREADS  There are no globals and no locks. One thread at a time may use an object.
   ERRORS   Functions return a phi_status (0 is success, the meaning of a negative number never
            changes), or NULL. Parsers report line, column, the value found and the one expected.
   LICENSE  MIT, at the end of this file. */
#ifdef PHI_IMPLEMENTATION
#if defined(__GLIBC__) && !defined(__USE_GNU)
#define PHI__LATE 1
#elif defined(_FEATURES_H) && !defined(_GNU_SOURCE)
#define PHI__LATE 1
#endif
#ifdef PHI__LATE
#undef PHI__LATE
/* phi_json.h works without; a phi.h after it will say what to do. */
#else
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#endif
#if defined(__linux__) && !defined(_FEATURES_H) && !defined(_FILE_OFFSET_BITS)
#define _FILE_OFFSET_BITS 64 /* 32-bit glibc: else readdir and stat fail on large numbers */
#endif
#if defined(__APPLE__) && !defined(_DARWIN_C_SOURCE)
#define _DARWIN_C_SOURCE 1
#endif
#if defined(__NetBSD__) && !defined(_NETBSD_SOURCE)
#define _NETBSD_SOURCE 1
#endif
#if defined(_MSC_VER) && !defined(_CRT_SECURE_NO_WARNINGS)
#define _CRT_SECURE_NO_WARNINGS 1
#endif
#endif

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpadded"
#pragma clang diagnostic ignored "-Wc++98-compat-pedantic"
#if __has_warning("-Wreserved-identifier")
#pragma clang diagnostic ignored "-Wreserved-identifier"
#pragma clang diagnostic ignored "-Wreserved-macro-identifier"
#endif
#elif defined(__GNUC__) && __GNUC__ >= 5
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpadded"
#endif

#ifdef PHI__PUB_BASE_BASE
#if PHI__PUB_BASE_BASE != 0xf10f89a3
#error "phi: two versions of phi's declarations in one file"
#endif
#else
#define PHI__PUB_BASE_BASE 0xf10f89a3

/* ---- src/base/base.h ---- */

/* base.h - the basis of all parts of phi: linkage, strings, statuses, the allocator.

   No function here allocates memory or keeps state. */
#if !defined(__cplusplus) && (!defined(__STDC_VERSION__) || __STDC_VERSION__ < 199901L)
#error "phi: C99 or newer is needed: compile with -std=c99 (MSVC: /std:c11)"
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PHI_VERSION "0.1.0"
#define PHI_VERSION_NUMBER 100 /* major * 10000 + minor * 100 + patch */

/* Linkage of the public functions: extern by default, static with PHI_STATIC, or your definition of
   PHI_API. */
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

/* here "printf" is that of msvcrt; C99 programs get the standard one */
#if defined(__MINGW32__) && !defined(__clang__)
#define PHI_PRINTF(format_index, first) __attribute__((format(gnu_printf, format_index, first)))
#elif defined(__GNUC__)
#define PHI_PRINTF(format_index, first) __attribute__((format(printf, format_index, first)))
#else
#define PHI_PRINTF(format_index, first)
#endif

/* Means "no limit" in fields in which 0 means "the default". */
#define PHI_UNLIMITED UINT32_MAX

#ifdef __cplusplus
extern "C" {
#endif

/* Types that other headers describe. */
typedef struct phi_runtime phi_runtime;
typedef struct phi_arena phi_arena;
typedef struct phi_transport phi_transport;
typedef struct phi_tape phi_tape; /* described in phi_tools.h */

/* Bytes with a length; not terminated. Each function or struct that uses a phi_str says who owns
   the bytes. */
typedef struct phi_str {
    const char *at;
    size_t len;
} phi_str;

/* the numbers never change */
#define PHI_STATUS_LIST(X)                                                                         \
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
    X(LIMIT, -17, "a limit of the run was reached")                                                \
    X(REJECTED, -18, "an input filter rejected it")                                                \
    X(DENIED, -19, "a hook said no")                                                               \
    X(UNREACHABLE, -20, "no server takes connections there")

#define PHI_X(name, value, text) PHI_##name = value,
typedef enum phi_status { PHI_STATUS_LIST(PHI_X) PHI_STATUS_END = -1000 } phi_status;
#undef PHI_X

/* Returns a sentence for a status, or "unknown status". Never NULL, static. */
PHI_API const char *phi_status_text(int status);

/* An allocator. phi gets memory only through realloc_fn, which works like realloc: ptr NULL
   allocates; new_bytes 0 frees and returns NULL. old_bytes is always the size of the last request.
   Returned memory must be aligned for any type. NULL means that there is no memory; ptr is then
   unchanged.
   Threads: called on the pumping thread only. */
typedef struct phi_allocator {
    void *(*realloc_fn)(void *user_data, void *ptr, size_t old_bytes, size_t new_bytes);
    void *user_data;
} phi_allocator;

/* A memory budget: an allocator with a limit and counters. Budgets form a tree: memory taken from a
   budget is also counted in its parent, and both limits apply. */
typedef struct phi_memory {
    phi_allocator allocator;
    struct phi_memory *parent; /* borrowed; NULL for a root */
    size_t limit_bytes;        /* 0: no limit */
    size_t used_bytes, peak_bytes;
    uint64_t refusals; /* the number of times that this limit has refused memory */
} phi_memory;

/* Initializes a root budget. `allocator` is copied; if it or its realloc_fn is NULL, the C
   library's allocator is used. */
PHI_API void phi_memory_init(phi_memory *memory, const phi_allocator *allocator,
                             size_t limit_bytes);

/* Where a parser stopped and why. */
typedef struct phi_parse_error {
    uint32_t line, column; /* count from 1; column counts bytes */
    size_t offset;         /* the number of bytes before this place */
    char message[160];     /* says which value was found and which was expected; terminated */
    phi_status status;     /* PHI_PARSE, PHI_NO_MEMORY, PHI_NOT_FOUND... */
} phi_parse_error;

/* Returns a phi_str that borrows a terminated string; NULL gives an empty phi_str. For other bytes
   set `at` and `len` yourself. */
PHI_API phi_str phi_str_of(const char *text);
/* For the conversion %.*s: printf("%.*s\n", PHI_ARG(text)). */
#define PHI_ARG(s) (int)(s).len, (s).at
PHI_API bool phi_str_equal(phi_str a, phi_str b);
/* True if s equals the text: phi_str_is(name, "ada"). NULL is the empty text. */
PHI_API bool phi_str_is(phi_str s, const char *text);

#ifdef __cplusplus
}
#endif

#endif /* PHI__PUB_BASE_BASE */

#ifdef PHI__PUB_BASE_ARENA
#if PHI__PUB_BASE_ARENA != 0x678db51e
#error "phi: two versions of phi's declarations in one file"
#endif
#else
#define PHI__PUB_BASE_ARENA 0x678db51e

#ifdef __cplusplus
extern "C" {
#endif

/* ---- src/base/arena.h ---- */

/* arena.h - arenas: memory is allocated piece by piece and freed as a whole.

   Blocks are chained and never move. So allocated memory stays in place until the arena is freed or
   reset to an earlier mark. Small requests share blocks, whose sizes grow from first_block_bytes to
   64 KiB. A request that would fill more than half of such a block gets a block of its exact size.
   Under AddressSanitizer, memory of the arena that is not allocated is poisoned.
   Threads: one at a time. */

struct phi__block;

struct phi_arena {
    phi_memory *memory; /* borrowed until phi_arena_free */
    struct phi__block *shared, *own;
    struct phi__block *spare; /* allocated before the last rewind and not used since */
    char *at, *end;           /* room left in the newest shared block */
    size_t first_block_bytes, next_block_bytes, most_block_bytes;
    bool rewound; /* keep blocks for later use, and round up their sizes */
};

/* A mark for phi_arena_reset. Valid until the arena is reset to an earlier mark or freed. */
typedef struct phi_arena_mark {
    struct phi__block *shared, *own;
    char *at;
} phi_arena_mark;

/* Prepares an arena without allocating. `memory` is borrowed until phi_arena_free; NULL: the C
   library's memory, without a limit. first_block_bytes: 0 means 2048. */
PHI_API void phi_arena_init(phi_arena *arena, phi_memory *memory, size_t first_block_bytes);

/* Returns memory that is aligned for any type and not zeroed. Returns NULL if the budget or the
   allocator refuses; then nothing changed. For zero bytes the pointer is valid. */
PHI_API void *phi_arena_alloc(phi_arena *arena, size_t bytes);

/* Returns a mark of the current place, for phi_arena_reset. */
PHI_API phi_arena_mark phi_arena_save(const phi_arena *arena);

/* Frees all memory that was allocated since the mark. */
PHI_API void phi_arena_reset(phi_arena *arena, phi_arena_mark mark);

/* Frees all memory; the arena is then as after phi_arena_init. It may be called twice, and with
   NULL. */
PHI_API void phi_arena_free(phi_arena *arena);

#ifdef __cplusplus
}
#endif
#endif /* PHI__PUB_BASE_ARENA */

#ifdef PHI__PUB_TEXT_JSON
#if PHI__PUB_TEXT_JSON != 0x823f18eb
#error "phi: two versions of phi's declarations in one file"
#endif
#else
#define PHI__PUB_TEXT_JSON 0x823f18eb

#ifdef __cplusplus
extern "C" {
#endif

/* ---- src/text/json.h ---- */

/* json.h - JSON: documents, trees to read and change, and a writer.

       phi_parse_error error;
       phi_json *game = phi_json_load_file("game.json", PHI_JSON_RELAXED, NULL, &error);
       if (game == NULL) return complain(error.line, error.column, error.message);
       use(phi_json_int(phi_json_path(game, "hero.gold"), 0));
       phi_json_unload(game);

   phi_json_load makes a tree that owns its memory; phi_json_parse makes a tree in your arena. Both
   reading and building use the same type of node. Nodes and strings live in the arena in which they
   were made, and are freed with that arena; phi_json_arena returns the arena of a document. All
   functions that take a node also take NULL, which means that there is no node: NULL has no type
   and no children, and getters return their fallback for it.
   Integers that fit are kept as 64-bit integers, all other numbers as the nearest double; -0 is the
   double -0.0. A number too large for a double is an error.
   Duplicate keys are kept in the tree. phi_json_get finds the last one, phi_json_set replaces the
   last one, phi_json_remove removes all.
   A text must be shorter than 4 GiB - 1 bytes, a key shorter than 16 MiB, and a number shorter than
   64 KiB. Arrays and objects are nested at most PHI_JSON_MAX_DEPTH deep. Anything larger is
   PHI_TOO_BIG.
   Threads: many threads may read a tree at once, or one thread may change it. */

typedef struct phi_json phi_json;

typedef enum phi_json_type {
    PHI_JSON_NONE, /* the type of NULL */
    PHI_JSON_NULL,
    PHI_JSON_BOOL,
    PHI_JSON_NUMBER,
    PHI_JSON_STRING,
    PHI_JSON_ARRAY,
    PHI_JSON_OBJECT,
    PHI_JSON_INTEGER /* only for phi_json_is: phi_json_type_of returns PHI_JSON_NUMBER */
} phi_json_type;

#define PHI_JSON_MAX_DEPTH 1024u /* how deeply arrays and objects may be nested */

/* ---- reading ---- */

/* Strings without escapes point into the text and are not terminated; the text must then outlive
   the tree. Without this flag the arena has a copy of the text, and strings are terminated. */
#define PHI_JSON_BORROW 1u
/* Bytes that are not UTF-8, and lone surrogates, become U+FFFD: one for each maximal subpart of a
   sequence, as in browsers. Without this flag they are errors. */
#define PHI_JSON_REPLACE_BAD_UTF8 2u
/* Allows comments (two slashes to the end of the line, or as in C), a comma after the last member
   or item, and a byte order mark. Without this flag these are errors. */
#define PHI_JSON_RELAXED 4u

#define PHI_JSON_MAX_FILE_BYTES 67108864u /* the largest file for phi_json_load_file: 64 MiB */

/* Reads one JSON text (strictly RFC 8259 without flags) into a document. Returns the root, which
   can be used like any node. NULL: the text was not read, and *error (if error is not NULL) has
   message, line, column and status. flags: PHI_JSON_RELAXED, PHI_JSON_REPLACE_BAD_UTF8,
   PHI_JSON_BORROW, or 0.
   Ownership: the document owns its memory; free it with phi_json_unload. `text` is copied; with
   PHI_JSON_BORROW it is borrowed until phi_json_unload. The document's memory comes from `memory`,
   which is borrowed until phi_json_unload too; NULL: from the C library. */
PHI_API phi_json *phi_json_load(phi_str text, uint32_t flags, phi_memory *memory,
                                phi_parse_error *error);
/* Reads a file like phi_json_load reads a text. error->status is PHI_NOT_FOUND if there is no such
   file, PHI_IO if it cannot be read, PHI_TOO_BIG if it is larger than PHI_JSON_MAX_FILE_BYTES, and
   PHI_UNSUPPORTED with PHI_NO_FILES. Line and column are 0 for these statuses. */
PHI_API phi_json *phi_json_load_file(const char *path, uint32_t flags, phi_memory *memory,
                                     phi_parse_error *error);
/* Frees a document and everything in its arena. Ignores NULL and nodes that are no document. */
PHI_API void phi_json_unload(phi_json *root);
/* Returns the arena of a document, for changing and writing the document:
       phi_arena *arena = phi_json_arena(game);
       phi_json_set(arena, game, "level", phi_json_new_int(arena, 7));
   NULL: not the root of a document. */
PHI_API phi_arena *phi_json_arena(phi_json *root);

/* Reads one JSON text into an arena; flags are as for phi_json_load. PHI_OK: *out is the root.
   PHI_PARSE, PHI_TOO_BIG, PHI_NO_MEMORY: *error (if error is not NULL) says why, *out is NULL, and
   the arena is reset to its state before the call. `text` is borrowed until return; with
   PHI_JSON_BORROW it is borrowed as long as the tree lives. */
PHI_API phi_status phi_json_parse(phi_arena *arena, phi_str text, uint32_t flags, phi_json **out,
                                  phi_parse_error *error);

/* ---- looking ---- */

PHI_API phi_json_type phi_json_type_of(const phi_json *node);
/* True if the node has this type. PHI_JSON_INTEGER is a number without a fraction (1, 1.0). The
   pointer NULL is PHI_JSON_NONE; JSON's null is PHI_JSON_NULL. */
PHI_API bool phi_json_is(const phi_json *node, phi_json_type type);

/* Return the node's value, or the fallback if the type is another one or the value does not fit. */
PHI_API bool phi_json_bool(const phi_json *node, bool fallback);
PHI_API int64_t phi_json_int(const phi_json *node, int64_t fallback);
PHI_API double phi_json_num(const phi_json *node, double fallback);
/* The string is borrowed from the tree, or from `fallback` (NULL: an empty string). */
PHI_API phi_str phi_json_str(const phi_json *node, const char *fallback);

/* Returns the number of members or items. */
PHI_API size_t phi_json_count(const phi_json *node);
/* Returns the member with this name, or the last of several. NULL: no member, or no object. */
PHI_API phi_json *phi_json_get(const phi_json *object, const char *key);
/* Returns an item by its index, from 0, or NULL. Each call walks the list: use phi_json_each for a
   loop. */
PHI_API phi_json *phi_json_at(const phi_json *array, size_t index);
/* Returns the node at a path such as "choices[0].delta.content". NULL: there is no such node. Use
   phi_json_get for a key that contains one of ". [ ]". */
PHI_API phi_json *phi_json_path(const phi_json *node, const char *path);

/* A loop over the members or items of a container:
       phi_json_iter it = phi_json_each(node);
       while ((child = phi_json_next(&it)) != NULL) ...
   it.key is the child's name (empty in an array). The container must not change during the loop. */
typedef struct phi_json_iter {
    phi_json *at;
    size_t left;
    phi_str key;
} phi_json_iter;
PHI_API phi_json_iter phi_json_each(const phi_json *container);
PHI_API phi_json *phi_json_next(phi_json_iter *it);

/* ---- building ---- */

/* Return a new node; NULL: no memory, or arena is NULL. Strings are copied. Bytes that are not
   UTF-8 are kept, and replaced when written. A double that is not finite is kept in the tree,
   and written as null. */
PHI_API phi_json *phi_json_new_bool(phi_arena *arena, bool value);
PHI_API phi_json *phi_json_new_int(phi_arena *arena, int64_t value);
PHI_API phi_json *phi_json_new_num(phi_arena *arena, double value);
PHI_API phi_json *phi_json_new_str(phi_arena *arena, phi_str value);
PHI_API phi_json *phi_json_new_array(phi_arena *arena);
PHI_API phi_json *phi_json_new_object(phi_arena *arena);
/* Returns a copy of a node with everything in it. NULL: no memory, or nested too deeply. */
PHI_API phi_json *phi_json_copy(phi_arena *arena, const phi_json *node);

/* Sets the member `key` of an object. The key is copied into the arena. `value` replaces an earlier
   value, or is added at the end. A NULL value gives PHI_NO_MEMORY, so calls can be nested:
       phi_json_set(a, object, "name", phi_json_new_str(a, phi_str_of("ada")))
   PHI_MISUSE: the value is already in a container, is the container itself, or is the root of a
   document. The value must not contain the container, and both must live equally long. */
PHI_API phi_status phi_json_set(phi_arena *arena, phi_json *object, const char *key,
                                phi_json *value);
/* Appends a value to an array; the rules are those of phi_json_set. */
PHI_API phi_status phi_json_add(phi_json *array, phi_json *value);
/* Removes all members with this name. Returns the last one, which can be put into another
   container. NULL: there was no such member. */
PHI_API phi_json *phi_json_remove(phi_json *object, const char *key);

/* ---- writing ---- */

#define PHI_JSON_PRETTY 1u /* line breaks, and two spaces for each level */
#define PHI_JSON_ASCII 2u  /* only ASCII; other characters are written as \uXXXX */

/* Writes a tree into the arena. *out is terminated; its length does not include the terminator. A
   double is written in the shortest form that reads back as the same value. NaN and infinities are
   written as null, and bytes that are not UTF-8 as U+FFFD. PHI_TOO_BIG: nested deeper than
   PHI_JSON_MAX_DEPTH. PHI_BAD_ARG: arena or out is NULL. Otherwise PHI_OK or PHI_NO_MEMORY. */
PHI_API phi_status phi_json_write(phi_arena *arena, const phi_json *node, uint32_t flags,
                                  phi_str *out);

#ifdef __cplusplus
}
#endif
#endif /* PHI__PUB_TEXT_JSON */

#ifdef PHI__PUB_TEXT_SCHEMA
#if PHI__PUB_TEXT_SCHEMA != 0xb0e31128
#error "phi: two versions of phi's declarations in one file"
#endif
#else
#define PHI__PUB_TEXT_SCHEMA 0xb0e31128

#ifdef __cplusplus
extern "C" {
#endif

/* ---- src/text/schema.h ---- */

/* schema.h - checks a value, such as the arguments of a tool call, against a JSON Schema.

   Understood: type (also several), enum, const, properties, required, additionalProperties, items
   (one schema for all items), minItems, maxItems, minLength, maxLength (in characters), minimum,
   maximum, exclusiveMinimum, exclusiveMaximum (numbers; the old booleans too), anyOf, oneOf, allOf,
   $ref to "#" or "#/a/b"; true and false as schemas; nullable. Keywords that only describe (title,
   description, default, examples, format, ...) are ignored. Keywords that would restrict but are
   not understood (pattern, not, if, uniqueItems, ...), and malformed keywords, restrict nothing.
   phi_agent_new refuses a tool whose schema has such keywords, and names them.
   Nothing is allocated. Nesting, references and work are bounded: a schema or value beyond these
   bounds gives PHI_TOO_BIG, never a hang or a crash. A value is checked only once against a schema,
   however often the schema refers to itself. To compare the names of an object of n members with a
   schema of m properties takes n x m units of work; 16,000,000 units are allowed (docs/limits.md).
   phi's own checks of arguments, answers and results need less: they look up names in a table. */

/* Why a value does not fit, for a model: "arguments.path: expected string, got number". */
typedef struct phi_schema_error {
    char message[256]; /* terminated; cut between two characters if too long */
} phi_schema_error;

/* Checks `value`, which messages call `name` (NULL: "arguments"). PHI_OK: the value fits.
   PHI_PARSE: the value does not fit, and *error says why. PHI_TOO_BIG: nested too deeply, or too
   much work. PHI_BAD_ARG: schema or value is NULL. `error` may be NULL. */
PHI_API phi_status phi_schema_check(const phi_json *schema, const phi_json *value, const char *name,
                                    phi_schema_error *error);

#ifdef __cplusplus
}
#endif
#endif /* PHI__PUB_TEXT_SCHEMA */

#ifdef PHI__PUB_FORMATS_READER
#if PHI__PUB_FORMATS_READER != 0xb5471f61
#error "phi: two versions of phi's declarations in one file"
#endif
#else
#define PHI__PUB_FORMATS_READER 0xb5471f61

#ifdef __cplusplus
extern "C" {
#endif

/* ---- src/formats/reader.h ---- */

/* reader.h - reads a text into the tree of json.h in slices, for a program that draws frames.

       phi_reader *reader = phi_yaml_reader_new(&arena, text, NULL);
       ...
       if (phi_reader_advance(reader, 10000) != PHI_BUSY) // once a frame
           status = phi_reader_result(reader, &root, &error);

   Each format has a constructor. After it, call phi_reader_advance() until it no longer returns
   PHI_BUSY, then phi_reader_result(). The reader is in the arena, and freed with it; it can be
   abandoned at any time. A constructor returns NULL if there is no memory. The functions here
   accept this NULL, and the result is then PHI_NO_MEMORY.
   Threads: a reader belongs to one thread at a time. */

typedef struct phi_reader phi_reader;

/* Makes a reader of JSON with the flags of phi_json_parse. `text` is borrowed until
   phi_reader_result(), or with PHI_JSON_BORROW as long as the tree is used. */
PHI_API phi_reader *phi_json_reader_new(phi_arena *arena, phi_str text, uint32_t flags);

/* Reads about `units` bytes, at least one. Returns PHI_BUSY while there is more to read. */
PHI_API phi_status phi_reader_advance(phi_reader *reader, size_t units);
/* Returns the last status of phi_reader_advance, and sets *out to the tree and *error to the error.
   `out` and `error` may be NULL. */
PHI_API phi_status phi_reader_result(const phi_reader *reader, phi_json **out,
                                     phi_parse_error *error);

#ifdef __cplusplus
}
#endif
#endif /* PHI__PUB_FORMATS_READER */

#ifdef PHI__PUB_FORMATS_TOML
#if PHI__PUB_FORMATS_TOML != 0xa40c88f7
#error "phi: two versions of phi's declarations in one file"
#endif
#else
#define PHI__PUB_FORMATS_TOML 0xa40c88f7

#ifdef __cplusplus
extern "C" {
#endif

/* ---- src/formats/toml.h ---- */

/* toml.h - reads TOML 1.0 into the tree of json.h, and writes such a tree as TOML.

       phi_json *root;
       phi_parse_error error;
       if (phi_toml_parse(&arena, text, NULL, &root, &error) != PHI_OK)
           complain(error.line, error.column, error.message);

   All of TOML 1.0.0 is read. Anything that TOML forbids is an error with its place: see
   docs/toml.md. Tables become objects, integers have 64 bits, inf and nan become doubles. A date or
   a time becomes a string of RFC 3339 with "T" and "Z" in capitals and at most nine digits of
   fraction; further digits are cut. The string remembers its type: phi_toml_type_of returns it, and
   phi_toml_write writes the string without quotes. Line breaks in strings become line feeds. A byte
   order mark is skipped. A text of 4 GiB - 1 bytes or more, a key of 16 MiB or more, or a number of
   more than 64 KiB is PHI_TOO_BIG.
   Threads: one thread at a time may use a tree. */

/* ---- reading ---- */

typedef struct phi_toml_desc {
    uint32_t max_depth; /* nested tables and arrays (default 512, at most PHI_JSON_MAX_DEPTH) */
} phi_toml_desc;

/* Reads a text in UTF-8. `options` may be NULL, and is copied. PHI_OK sets *out to an object.
   PHI_PARSE, PHI_TOO_BIG and PHI_NO_MEMORY fill *error (error may be NULL), and the memory that was
   taken from the arena is given back. `text` is borrowed until return. */
PHI_API phi_status phi_toml_parse(phi_arena *arena, phi_str text, const phi_toml_desc *options,
                                  phi_json **out, phi_parse_error *error);

/* Reads a text in slices: see reader.h. `text` is borrowed until phi_reader_result(). */
PHI_API phi_reader *phi_toml_reader_new(phi_arena *arena, phi_str text,
                                        const phi_toml_desc *options);

/* ---- types and dates ---- */

typedef enum phi_toml_type {
    PHI_TOML_NONE, /* type of NULL and of JSON's null */
    PHI_TOML_STRING,
    PHI_TOML_INTEGER,
    PHI_TOML_FLOAT,
    PHI_TOML_BOOL,
    PHI_TOML_OFFSET_DATETIME,
    PHI_TOML_LOCAL_DATETIME,
    PHI_TOML_LOCAL_DATE,
    PHI_TOML_LOCAL_TIME,
    PHI_TOML_ARRAY,
    PHI_TOML_TABLE
} phi_toml_type;

/* Fields that the type does not have are 0. */
typedef struct phi_toml_date {
    phi_toml_type type;
    int32_t year, month, day;                 /* month and day from 1 */
    int32_t hour, minute, second, nanosecond; /* second: 0 to 60 */
    int32_t offset_minutes;                   /* east of UTC */
} phi_toml_date;

/* Returns the type of any tree's node. Only strings from phi_toml_parse and phi_toml_new_date are
   dates. For a date, sets the fields of *date (date may be NULL); otherwise *date is unchanged. */
PHI_API phi_toml_type phi_toml_type_of(const phi_json *node, phi_toml_date *date);
/* Makes a date from its text in TOML. NULL if the text is no date, or there is no memory. */
PHI_API phi_json *phi_toml_new_date(phi_arena *arena, phi_str text);

/* ---- writing ---- */

/* Leaves out members that are null. Without this flag, a null is PHI_UNSUPPORTED. */
#define PHI_TOML_SKIP_NULLS 1u

/* Writes an object into the arena as TOML that reads back equal. *out is NUL-terminated; its length
   does not count the terminator. Objects become tables with headers, except objects that were read
   in braces and objects in arrays of other values. Arrays of objects become arrays of tables. Text
   of several lines is written in three quotes. Bytes that are not UTF-8 become U+FFFD. Duplicate
   keys are written, but phi_toml_parse refuses a text with them. flags: PHI_TOML_SKIP_NULLS.
   PHI_BAD_ARG: the node is no object. PHI_UNSUPPORTED: the tree has a null or an integer beyond
   INT64_MAX, and TOML has neither. PHI_TOO_BIG: the tree is nested beyond PHI_JSON_MAX_DEPTH. Also
   PHI_NO_MEMORY. */
PHI_API phi_status phi_toml_write(phi_arena *arena, const phi_json *node, uint32_t flags,
                                  phi_str *out);

#ifdef __cplusplus
}
#endif
#endif /* PHI__PUB_FORMATS_TOML */

#ifdef PHI__PUB_FORMATS_YAML
#if PHI__PUB_FORMATS_YAML != 0x52a4b3a5
#error "phi: two versions of phi's declarations in one file"
#endif
#else
#define PHI__PUB_FORMATS_YAML 0x52a4b3a5

#ifdef __cplusplus
extern "C" {
#endif

/* ---- src/formats/yaml.h ---- */

/* yaml.h - reads YAML 1.2 into the tree of json.h, and writes such a tree as YAML.

       phi_json *root;
       phi_parse_error error;
       if (phi_yaml_parse(&arena, phi_str_of(text), NULL, &root, &error) != PHI_OK)
           complain(error.line, error.column, error.message);

   One document is read: block and flow collections, the five scalar styles, comments, directives,
   anchors, aliases, and the tags of the core schema. The core schema also decides the type of a
   plain scalar. JSON is read as well. Anything that the tree cannot hold is an error: a key that is
   a collection or missing, a second document, a tag of another schema. Duplicate keys are errors,
   too: see docs/yaml.md. A key becomes its text (200 becomes "200"). A text without a document is
   null. An alias becomes a copy of its node. Copies share their texts, and count against the limits
   of phi_yaml_desc. .inf and .nan become doubles. A text of 4 GiB - 1 bytes or more, or a key of 16
   MiB or more, is PHI_TOO_BIG.
   Threads: one thread at a time may use a tree. */

/* ---- reading ---- */

/* Reads a node with an unknown tag as if it had no tag. Without this flag, the tag is an error. */
#define PHI_YAML_ANY_TAG 1u
/* Keeps plain scalars as texts: 1.0, yes and ~ are strings, and a missing value is "". */
#define PHI_YAML_TEXTS 4u

typedef struct phi_yaml_desc {
    uint32_t flags;           /* PHI_YAML_ANY_TAG, PHI_YAML_TEXTS */
    uint32_t max_depth;       /* nested collections (default 512, at most PHI_JSON_MAX_DEPTH) */
    uint32_t max_alias_nodes; /* max. nodes that all aliases together copy (default 262,144) */
    size_t max_alias_bytes;   /* max. bytes of keys and strings in these nodes (default 16 MiB) */
} phi_yaml_desc;

/* Reads a text in UTF-8. `options` may be NULL, and is copied. PHI_OK sets *out. PHI_PARSE,
   PHI_TOO_BIG and PHI_NO_MEMORY fill *error (error may be NULL), and the memory that was taken from
   the arena is given back. `text` is borrowed until return. */
PHI_API phi_status phi_yaml_parse(phi_arena *arena, phi_str text, const phi_yaml_desc *options,
                                  phi_json **out, phi_parse_error *error);

/* Reads a text in slices: see reader.h. `text` is borrowed until phi_reader_result(). */
PHI_API phi_reader *phi_yaml_reader_new(phi_arena *arena, phi_str text,
                                        const phi_yaml_desc *options);

/* ---- writing ---- */

/* Writes a tree into the arena as YAML in block style that reads back equal. *out is
   NUL-terminated; its length does not count the terminator. Text of several lines becomes a literal
   block. Text that a reader could take for something else is quoted. `flags` must be 0. Bytes that
   are not UTF-8 become U+FFFD. Duplicate keys are written, but phi_yaml_parse refuses a text with
   them. PHI_TOO_BIG: the tree is nested beyond PHI_JSON_MAX_DEPTH. Also PHI_NO_MEMORY. */
PHI_API phi_status phi_yaml_write(phi_arena *arena, const phi_json *node, uint32_t flags,
                                  phi_str *out);

#ifdef __cplusplus
}
#endif
#endif /* PHI__PUB_FORMATS_YAML */

#if defined(__clang__)
#pragma clang diagnostic pop
#elif defined(__GNUC__) && __GNUC__ >= 5
#pragma GCC diagnostic pop
#endif

#ifdef PHI_IMPLEMENTATION
#ifndef PHI__FN
#ifdef __GNUC__
#define PHI__FN static __attribute__((unused))
#else
#define PHI__FN static
#endif
#endif

#ifdef PHI__IMP_BASE
#if PHI__IMP_BASE != 0xfac93750
#error "phi: two versions of src/base in one file"
#endif
#else
#define PHI__IMP_BASE 0xfac93750

/* ---- src/base/base_in.h ---- */

/* base_in.h - internal linkage, assertions, atomics and small helpers, for all rooms of phi.

   PHI__FN marks a function that is used in several files: hidden in the per-file build, static when
   amalgamated. */

#include <string.h>

#ifndef PHI__FN
#if defined(__GNUC__) && (defined(__ELF__) || defined(__MACH__))
#define PHI__FN __attribute__((visibility("hidden")))
#else
#define PHI__FN
#endif
#endif
/* MSVC lacks gcc's extensions and C11's atomics. clang for MSVC has both. */
#if defined(_MSC_VER) && !defined(__clang__)
#define PHI__MSVC 1
#include <intrin.h>
#endif
/* Only for phi's own invariants. A caller's mistake returns a status instead. */
#ifndef PHI_ASSERT
#include <assert.h>
#define PHI_ASSERT(condition) assert(condition)
#endif
/* Marks a condition that should never be true but is handled anyway. If a test makes the condition
   true, the test stops at once. `make coverage` does not count the line. */
#if defined(PHI__TESTED) && defined(PHI__MSVC)
#define PHI_NEVER(condition) ((condition) ? (__debugbreak(), true) : false)
#elif defined(PHI__TESTED)
#define PHI_NEVER(condition) ((condition) ? (__builtin_trap(), true) : false)
#else
#define PHI_NEVER(condition) (condition)
#endif

/* Atomics: a type, and operations on it with acquire and release order: load, store,
   compare-and-swap, and an addition without a result. They use the builtins of gcc and clang, the
   intrinsics of MSVC, or else C11. With PHI_NO_THREADS they are plain accesses, and only the
   pumping thread may call phi. PHI__NO_BUILTINS lets the checks compile the C11 branch with gcc and
   clang. */
#if defined(PHI_NO_THREADS)
#define PHI__ATOMIC(type) type
#define PHI__LOAD(p) (*(p))
#define PHI__STORE(p, v) ((void)(*(p) = (v)))
#define PHI__CAS(p, expected, desired)                                                             \
    (*(p) == *(expected) ? (*(p) = (desired), true) : (*(expected) = *(p), false))
#define PHI__ADD(p, v) ((void)(*(p) += (v)))
#elif defined(__ATOMIC_ACQUIRE) && !defined(PHI__NO_BUILTINS)
#define PHI__ATOMIC(type) type
#define PHI__LOAD(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define PHI__STORE(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)
#define PHI__CAS(p, expected, desired)                                                             \
    __atomic_compare_exchange_n((p), (expected), (desired), false, __ATOMIC_ACQ_REL,               \
                                __ATOMIC_ACQUIRE)
#define PHI__ADD(p, v) ((void)__atomic_fetch_add((p), (v), __ATOMIC_ACQ_REL))
#elif defined(PHI__MSVC)
#define PHI__ATOMIC(type) volatile type
/* MSVC's C has no typeof. So the operations choose by size, and a load of 4 bytes is a uint32_t in
   a uint64_t. */
#define PHI__IS_WIDE(p) (sizeof *(p) == 8)
#define PHI__LOAD(p) (PHI__IS_WIDE(p) ? phi__msvc_load64(p) : phi__msvc_load32(p))
#define PHI__STORE(p, v)                                                                           \
    (PHI__IS_WIDE(p) ? phi__msvc_store64((p), (uint64_t)(v))                                       \
                     : phi__msvc_store32((p), (uint32_t)(v)))
#define PHI__CAS(p, expected, desired)                                                             \
    (PHI__IS_WIDE(p) ? phi__msvc_cas64((p), (expected), (uint64_t)(desired))                       \
                     : phi__msvc_cas32((p), (expected), (uint32_t)(desired)))
#define PHI__ADD(p, v)                                                                             \
    (PHI__IS_WIDE(p) ? phi__msvc_add64((p), (uint64_t)(v)) : phi__msvc_add32((p), (uint32_t)(v)))

/* The intrinsics are full barriers. */
static inline bool phi__msvc_cas32(volatile void *at, void *expected, uint32_t desired) {
    long *want = (long *)expected;
    long was = _InterlockedCompareExchange((volatile long *)at, (long)desired, *want);
    if (was == *want) return true;
    *want = was;
    return false;
}

static inline bool phi__msvc_cas64(volatile void *at, void *expected, uint64_t desired) {
    long long *want = (long long *)expected;
    long long was =
        _InterlockedCompareExchange64((volatile long long *)at, (long long)desired, *want);
    if (was == *want) return true;
    *want = was;
    return false;
}

/* On x86 every load is an acquire, if the compiler keeps its place. Elsewhere, and for 8 bytes in
   32-bit programs, a swap of 0 for 0 reads the value. */
static inline uint64_t phi__msvc_load32(const volatile void *at) {
    uint32_t value = 0;
#if defined(_M_IX86) || (defined(_M_X64) && !defined(_M_ARM64EC))
    value = *(const volatile uint32_t *)at;
    _ReadWriteBarrier();
#else
    (void)phi__msvc_cas32((volatile void *)(uintptr_t)at, &value, 0);
#endif
    return value;
}

static inline uint64_t phi__msvc_load64(const volatile void *at) {
    uint64_t value = 0;
#if defined(_M_X64) && !defined(_M_ARM64EC)
    value = *(const volatile uint64_t *)at;
    _ReadWriteBarrier();
#else
    (void)phi__msvc_cas64((volatile void *)(uintptr_t)at, &value, 0);
#endif
    return value;
}

static inline void phi__msvc_store32(volatile void *at, uint32_t value) {
    (void)_InterlockedExchange((volatile long *)at, (long)value);
}

/* x86 has no exchange of 8 bytes. */
static inline void phi__msvc_store64(volatile void *at, uint64_t value) {
    uint64_t was = phi__msvc_load64(at);
    while (!phi__msvc_cas64(at, &was, value)) {}
}

static inline void phi__msvc_add32(volatile void *at, uint32_t value) {
    (void)_InterlockedExchangeAdd((volatile long *)at, (long)value);
}

static inline void phi__msvc_add64(volatile void *at, uint64_t value) {
    uint64_t was = phi__msvc_load64(at);
    while (!phi__msvc_cas64(at, &was, was + value)) {}
}
#elif !defined(__cplusplus) && __STDC_VERSION__ >= 201112L && !defined(__STDC_NO_ATOMICS__)
#include <stdatomic.h>
#define PHI__ATOMIC(type) _Atomic(type)
#define PHI__LOAD(p) atomic_load_explicit((p), memory_order_acquire)
#define PHI__STORE(p, v) atomic_store_explicit((p), (v), memory_order_release)
#define PHI__CAS(p, expected, desired)                                                             \
    atomic_compare_exchange_strong_explicit((p), (expected), (desired), memory_order_acq_rel,      \
                                            memory_order_acquire)
#define PHI__ADD(p, v) ((void)atomic_fetch_add_explicit((p), (v), memory_order_acq_rel))
#else
#error "phi: this compiler has no atomics that phi knows: try -std=c11, or define PHI_NO_THREADS \
for a build in which one thread makes every call"
#endif
#define PHI__COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Makes a phi_str of a literal, without strlen. */
#define PHI__LIT(literal) phi__str((literal), sizeof(literal) - 1)

/* Returns the struct whose `member` ptr points to; for intrusive lists and heaps. */
#define PHI__OWNER(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

static inline phi_str phi__str(const char *at, size_t len) {
    phi_str s;
    s.at = at;
    s.len = len;
    return s;
}

/* Returns s without its first n bytes. s must have at least n bytes. */
static inline phi_str phi__str_from(phi_str s, size_t n) { return phi__str(s.at + n, s.len - n); }

/* This function is inline, since the compiler knows the length of a literal. */
static inline bool phi__str_is(phi_str s, const char *text) {
    size_t n = strlen(text);
    return s.len == n && (n == 0 || memcmp(s.at, text, n) == 0);
}

/* ASCII only. */
static inline bool phi__is_digit(char c) { return c >= '0' && c <= '9'; }

static inline bool phi__is_alnum(char c) {
    return phi__is_digit(c) || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static inline char phi__lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }

static inline size_t phi__min(size_t a, size_t b) { return a < b ? a : b; }

static inline size_t phi__max(size_t a, size_t b) { return a > b ? a : b; }

/* Returns a + b, or UINT64_MAX on overflow. */
static inline uint64_t phi__sum(uint64_t a, uint64_t b) {
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Returns the C library's allocator, for a desc without realloc_fn. */
PHI__FN phi_allocator phi__allocator_default(void);

/* Allocates, grows, shrinks or frees memory of a budget, like realloc_fn. */
PHI__FN void *phi__realloc(phi_memory *memory, void *ptr, size_t old_bytes, size_t new_bytes);

/* Returns zeroed memory, or NULL. */
PHI__FN void *phi__alloc(phi_memory *memory, size_t bytes);
PHI__FN void phi__free(phi_memory *memory, void *ptr, size_t bytes);

/* Makes room for `need` elements in the array `ptr`, which has room for *cap elements of `size`
   bytes. If the array grows, its room at least doubles. Returns the array, or NULL; then ptr and
   *cap are unchanged. */
PHI__FN void *phi__grow(phi_memory *memory, void *ptr, size_t *cap, size_t need, size_t size);

/* Return a + b and a * b, or SIZE_MAX on overflow. */
PHI__FN size_t phi__add(size_t a, size_t b);
PHI__FN size_t phi__mul(size_t a, size_t b);
PHI__FN bool phi__str_starts(phi_str s, const char *prefix);
PHI__FN bool phi__str_ends(phi_str s, const char *suffix);

/* ASCII only, as in header names and error phrases. */
PHI__FN bool phi__str_is_nocase(phi_str s, const char *text);
PHI__FN bool phi__str_equal_nocase(phi_str a, phi_str b);

/* For secrets. The time taken shows only whether the lengths differ, not at which byte. */
PHI__FN bool phi__str_equal_secret(phi_str a, phi_str b);

/* Returns the offset of the first `needle` at or after `from`, or SIZE_MAX. */
PHI__FN size_t phi__str_find(phi_str s, size_t from, const char *needle);
PHI__FN size_t phi__str_find_nocase(phi_str s, size_t from, const char *needle);
PHI__FN phi_str phi__str_trim(phi_str s);

/* Writes sixteen hexadecimal digits in lower case and a terminator. */
PHI__FN void phi__hash_hex(uint64_t n, char out[17]);

/* Reads up to sixteen digits as phi__hash_hex writes them; the rest is ignored. Fewer digits give
   the number that they form. 0: there is no digit, or another character is among them. */
PHI__FN uint64_t phi__hash_of_hex(phi_str digits);

/* Reads a whole decimal number. False: the text is empty, has other bytes, or has a number that is
   too large. */
PHI__FN bool phi__str_to_u64(phi_str s, uint64_t *out);

/* Makes bytes safe for a terminal, in place. The result is valid UTF-8 without control characters
   except newline and tab. CR LF becomes LF. These become '?': all other control characters (U+0000
   to U+001F, U+007F to U+009F), the embeddings, overrides and isolates that reorder text (U+202A to
   U+202E, U+2066 to U+2069), and bytes that are not UTF-8. Marks such as U+200E stay: texts in
   Arabic and Hebrew need them, and they cannot reorder other words. Returns the length, which is
   not greater. */
PHI__FN size_t phi__words_clean(char *at, size_t len);

/* Cleans a text like phi__words_clean, but for one line: newline and tab become '?', too. */
PHI__FN size_t phi__words_clean_line(char *at, size_t len);

/* Allocates like phi_arena_alloc, and zeroes the memory. */
PHI__FN void *phi__arena_zero(phi_arena *arena, size_t bytes);

/* Allocates bytes like phi_arena_alloc, but does not align them. */
PHI__FN char *phi__arena_bytes(phi_arena *arena, size_t bytes);

/* Frees all memory that was handed out, but keeps the blocks for later use. Kept blocks that were
   not used since the last rewind are freed. For work that is repeated at about the same size, such
   as turns. */
PHI__FN void phi__arena_rewind(phi_arena *arena);

/* Returns the bytes of all blocks in use. */
PHI__FN size_t phi__arena_taken(const phi_arena *arena);

/* Makes room for one more element in the array `old` of the arena, which has `count` elements of
   `size` bytes and room for *cap elements. A full array is copied to an array with twice the room
   (at least 4, and count + 1); new elements are not zeroed, and the old array stays until the arena
   is reset. NULL: no memory, and *cap is
   unchanged. */
PHI__FN void *phi__arena_grow(phi_arena *arena, void *old, size_t count, size_t *cap, size_t size);

/* Copies `s` with a terminator, which is not counted. False: no memory, and *out is unchanged. */
PHI__FN bool phi__arena_str(phi_arena *arena, phi_str s, phi_str *out);

/* Replaces a text by a copy. NULL stays NULL. False: no memory. */
PHI__FN bool phi__keep_text(phi_arena *arena, const char **text);

typedef struct phi__buf {
    phi_memory *memory; /* borrowed */
    char *at;
    size_t len, cap;
    bool failed; /* an append got no memory */
} phi__buf;

PHI__FN void phi__buf_init(phi__buf *buf, phi_memory *memory);
PHI__FN void phi__buf_free(phi__buf *buf);  /* leaves *buf as after init */
PHI__FN void phi__buf_clear(phi__buf *buf); /* keeps the memory, clears `failed` */

/* Returns room for `more` bytes at the end. Pass the number of bytes that were written to
   phi__buf_add_len. NULL: no memory, and `failed` is set. */
PHI__FN char *phi__buf_reserve(phi__buf *buf, size_t more);

static inline void phi__buf_add_len(phi__buf *buf, size_t len) { buf->len += len; }
PHI__FN void phi__buf_add(phi__buf *buf, const char *at, size_t len);
PHI__FN void phi__buf_text(phi__buf *buf, const char *text);
PHI__FN void phi__buf_char(phi__buf *buf, char c);
PHI__FN void phi__buf_u64(phi__buf *buf, uint64_t n);
PHI__FN void phi__buf_printf(phi__buf *buf, const char *format, ...) PHI_PRINTF(2, 3);

/* Appends text for a URL: letters, digits and the bytes in `plain` unchanged, all others as %XX. */
PHI__FN void phi__buf_percent(phi__buf *buf, phi_str text, const char *plain);

/* Removes the first n bytes. */
PHI__FN void phi__buf_drop(phi__buf *buf, size_t n);

/* Appends `inside` between two other texts. */
PHI__FN void phi__buf_wrap(phi__buf *buf, const char *before, phi_str inside, const char *after);

static inline void phi__buf_add_str(phi__buf *buf, phi_str s) { phi__buf_add(buf, s.at, s.len); }

static inline phi_str phi__buf_str(const phi__buf *buf) { return phi__str(buf->at, buf->len); }

/* The parts of a URL. Each is a piece of the URL's text, except a default port. */
typedef struct phi__url {
    phi_str scheme; /* as it is in the URL */
    phi_str origin; /* "https://ada:key@host:8080": everything before the path */
    phi_str user;   /* "ada:key"; `at` is NULL if the URL has no "@" */
    phi_str site;   /* "[::1]:8080": host and port as in the URL */
    phi_str host;   /* without the brackets of "[::1]"; empty if other text follows the brackets */
    phi_str port;   /* if the URL has none: "443" for https, else "80" */
    phi_str path;   /* from the first "/" up to "?" or "#"; may be empty */
    phi_str query;  /* after "?" and before "#" */
    bool web;       /* the scheme is http or https, in any case */
    bool secure;    /* the scheme is https */
} phi__url;

/* Splits a URL into its parts. False: the URL has no "://", and is split like "host/path". */
PHI__FN bool phi__url_split(phi_str url, phi__url *out);

/* True if the URL's host is `host` or a subdomain of it, such as "eu.api.example" for
   "api.example". */
PHI__FN bool phi__url_is_at(phi_str url, const char *host);

/* Resolves the reference `to` against `base` and appends the result without its fragment (RFC 3986
   5.2, but of the dot segments only one leading "./" is removed). False: there is no memory, the
   reference is empty, or it is relative and the base is not valid. */
PHI__FN bool phi__url_resolve(phi__buf *out, phi_str base, phi_str to);

typedef struct phi__link {
    struct phi__link *next, *prev;
} phi__link;

typedef struct phi__list {
    phi__link *first, *last;
} phi__list;

/* Appends a link at the end. */
static inline void phi__list_push(phi__list *list, phi__link *link) {
    link->next = NULL;
    link->prev = list->last;
    if (list->last != NULL)
        list->last->next = link;
    else
        list->first = link;
    list->last = link;
}

static inline void phi__list_push_first(phi__list *list, phi__link *link) {
    link->prev = NULL;
    link->next = list->first;
    if (list->first != NULL)
        list->first->prev = link;
    else
        list->last = link;
    list->first = link;
}

/* Removes a link, which must be in this list. */
static inline void phi__list_take(phi__list *list, phi__link *link) {
    if (link->prev != NULL)
        link->prev->next = link->next;
    else
        list->first = link->next;
    if (link->next != NULL)
        link->next->prev = link->prev;
    else
        list->last = link->prev;
    link->next = link->prev = NULL;
}

typedef struct phi__map_slot {
    uint64_t hash;
    void *item; /* NULL: the slot is free */
} phi__map_slot;

typedef struct phi__map {
    phi_memory *memory;
    phi__map_slot *slots;
    size_t cap, count; /* cap: a power of two, or 0 */
} phi__map;

/* Returns a hash of a text. The low and the high bits of the hash are both usable. A seed that
   differs in each run (such as an address) prevents others from preparing texts that collide. */
PHI__FN uint64_t phi__map_hash(uint64_t seed, phi_str text);

/* Allocates nothing yet. */
PHI__FN void phi__map_init(phi__map *map, phi_memory *memory);
PHI__FN void phi__map_free(phi__map *map); /* leaves *map as after init */

/* Make room for one more item, or for `count` in all. False: no memory, and nothing changed. */
PHI__FN bool phi__map_room(phi__map *map);
PHI__FN bool phi__map_reserve(phi__map *map, size_t count);
PHI__FN void phi__map_clear(phi__map *map); /* keeps the memory */

/* Adds an item that is not in the map. Call phi__map_room first. */
PHI__FN void phi__map_add(phi__map *map, uint64_t hash, void *item);

/* Removes an item that is in the map under this hash. */
PHI__FN void phi__map_drop(phi__map *map, uint64_t hash, const void *item);

/* Returns the next item with this hash, or NULL after the last item. Set *probe to 0 before the
   first call. */
PHI__FN void *phi__map_each(const phi__map *map, uint64_t hash, size_t *probe);

/* The order of a heap, which is an array. Its first item is above all others. */
typedef struct phi__heap {
    size_t size; /* bytes of an item */
    bool (*above)(const void *a, const void *b, const void *ctx);
    const void *ctx; /* passed to `above` */
} phi__heap;

/* Move item `at` up or down to its place. Call them after an item was added at the end or
   replaced. */
PHI__FN void phi__heap_rise(const phi__heap *heap, void *items, size_t at);
PHI__FN void phi__heap_sink(const phi__heap *heap, void *items, size_t count, size_t at);

/* Moves the first item to the end, and makes the other count - 1 items a heap again. */
PHI__FN void phi__heap_pop(const phi__heap *heap, void *items, size_t count);

/* Sorts any array. The item that a heap would have first becomes the last. Unlike qsort, this
   function allocates nothing. */
PHI__FN void phi__heap_sort(const phi__heap *heap, void *items, size_t count);

/* 32-bit ABIs align 64-bit integers to 4 bytes. That is slow, and makes clang call libatomic. */
#if defined(__GNUC__)
typedef PHI__ATOMIC(uint64_t) phi__slot_word __attribute__((aligned(8)));
#else
typedef PHI__ATOMIC(uint64_t) phi__slot_word;
#endif

typedef struct phi__slot {
    phi__slot_word word;
    void *object;
    uint32_t index, next_free; /* next_free: index + 1 of the next free slot; 0: none */
} phi__slot;

enum { PHI__SLOT_PAGES = 22, PHI__SLOT_FIRST_PAGE = 64 };

typedef struct phi__slots {
    phi_memory *memory;
    phi__slot *pages[PHI__SLOT_PAGES];
    PHI__ATOMIC(uint32_t) count; /* slots that exist */
    uint32_t first_free;         /* index + 1 of the first free slot; 0: none */
    uint32_t in_use;
    PHI__ATOMIC(uint32_t) marks; /* marks set so far */
    uint32_t marks_seen;         /* marks already handled */
    uint32_t mark_at;            /* next group of 64 slots to check */
} phi__slots;

PHI__FN void phi__slots_init(phi__slots *slots, phi_memory *memory);
PHI__FN void phi__slots_free(phi__slots *slots);

/* Takes a free slot and gives it `state` (not 0) and a new generation. NULL: no memory. */
PHI__FN phi__slot *phi__slots_take(phi__slots *slots, uint32_t state, void *object);
PHI__FN void phi__slots_release(phi__slots *slots, phi__slot *slot);

/* Returns the slot at an index, or NULL if there is none. */
PHI__FN phi__slot *phi__slots_at(const phi__slots *slots, uint32_t index);

/* Returns the live slot of a handle, or NULL. Pumping thread. */
PHI__FN phi__slot *phi__slots_find(const phi__slots *slots, uint32_t index, uint32_t gen);

static inline uint64_t phi__slots_word_of(uint32_t gen, uint32_t state) {
    return (uint64_t)gen << 32 | state;
}

static inline uint32_t phi__slots_gen_of(uint64_t word) { return (uint32_t)(word >> 32); }

static inline uint32_t phi__slots_state_of(uint64_t word) { return (uint32_t)word; }

/* Changes the state of a handle's slot. False: the handle is stale, or the state is not `from`. */
PHI__FN bool phi__slots_move(const phi__slots *slots, uint32_t index, uint32_t gen, uint32_t from,
                             uint32_t to);

/* Returns the state of a handle's slot, or 0 if the handle is stale. */
PHI__FN uint32_t phi__slots_state(const phi__slots *slots, uint32_t index, uint32_t gen);

/* Clears and sets bits in the state of a handle's slot. The new state must not be 0. Returns the
   old state; 0: the handle is stale, and nothing was changed. */
PHI__FN uint32_t phi__slots_change(const phi__slots *slots, uint32_t index, uint32_t gen,
                                   uint32_t clear, uint32_t set);

/* Marks the slot at an index, so phi__slots_marked finds it. Change the slot's state first. */
PHI__FN void phi__slots_mark(phi__slots *slots, uint32_t index);
PHI__FN bool phi__slots_any_marked(const phi__slots *slots); /* true: maybe; false: none is */

/* Removes the marks of up to `most` slots and writes their indexes to out. `most` must be at least
   PHI__SLOTS_MARKED_LEAST. Every marked slot gets its turn. A slot may have been released and taken
   again since it was marked. */
PHI__FN size_t phi__slots_marked(phi__slots *slots, uint32_t *out, size_t most);

/* Returns the CRC-32. `before` is the CRC of the bytes that come before these; 0: none do. */
PHI__FN uint32_t phi__crc32(uint32_t before, const void *bytes, size_t len);

enum { PHI__SHA256_BYTES = 32, PHI__SHA256_HEX = 64 };

typedef struct phi__sha256 {
    uint32_t state[8];
    uint64_t bytes; /* bytes added so far */
    unsigned char block[64];
} phi__sha256;

PHI__FN void phi__sha256_begin(phi__sha256 *sha);
PHI__FN void phi__sha256_add(phi__sha256 *sha, const void *bytes, size_t len);
PHI__FN void phi__sha256_end(phi__sha256 *sha, unsigned char out[32]);
PHI__FN void phi__sha256_of(phi_str text, unsigned char out[32]);

/* `out` may overlap the key. */
PHI__FN void phi__sha256_hmac(phi_str key, phi_str text, unsigned char out[32]);

/* Writes 64 characters in lower case, not terminated. */
PHI__FN void phi__sha256_hex(const unsigned char hash[32], char out[64]);

/* Appends n bytes in base64. If a text is encoded in pieces, each n except the last must be a
   multiple of 3. */
PHI__FN void phi__base64_encode(phi__buf *out, const char *bytes, size_t n);

/* Appends the bytes that `text` encodes. False: `text` is not strict base64 (and `out` is
   unchanged), or there is no memory. */
PHI__FN bool phi__base64_decode(phi__buf *out, phi_str text);

enum { PHI__UUID_SIZE = 37 }; /* including the terminator */

/* Formats sixteen random bytes as a UUID of version 4. */
PHI__FN void phi__id_uuid(const unsigned char random[16], char out[PHI__UUID_SIZE]);

/* Returns the length of the longest valid prefix; s.len if all of s is valid. */
PHI__FN size_t phi__utf8_valid(phi_str s);

/* Returns the greatest length up to `most` that does not cut a sequence of valid UTF-8. */
PHI__FN size_t phi__utf8_cut(phi_str s, size_t most);

/* Returns how many of the bytes at `at`, which do not begin a valid sequence, become one U+FFFD.
   These bytes are the maximal subpart, as in the WHATWG's decoder: the longest prefix of a valid
   sequence, or else one byte. */
PHI__FN size_t phi__utf8_bad(const char *at, const char *end);

/* Appends s. Each maximal subpart that is not valid UTF-8 becomes U+FFFD. */
PHI__FN void phi__utf8_repair(phi__buf *out, phi_str s);

/* Writes a code point and returns its length, 1 to 4 bytes. Surrogates and codes above U+10FFFF
   become U+FFFD. */
PHI__FN size_t phi__utf8_put(char out[4], uint32_t code);

enum { PHI__DATE_BYTES = 25 }; /* longest text with its terminator */

/* Writes a Unix time in milliseconds as RFC 3339 in UTC, terminated. A fraction, if there is one,
   has three digits. Times outside of the years 0 to 9999 become the nearest time inside. Returns
   the length. */
PHI__FN size_t phi__date_put(int64_t ms, char out[PHI__DATE_BYTES]);

/* Reads a time in RFC 3339, with any fraction (cut to milliseconds) and any offset. False: the text
   is no such time, and *ms is unchanged. */
PHI__FN bool phi__date_get(phi_str text, int64_t *ms);

/* ---- src/base/arena.c ---- */

/* arena.c - arenas: chained blocks, newest first; and buffers that grow. */

#include <stdarg.h>
#include <stdio.h>

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
#define PHI__ARENA_DEFAULT 2048u /* bytes of the first block */
#define PHI__ARENA_MOST 65536u   /* bytes of the largest shared block */

/* A block's header. It has 16 bytes on every supported platform, which aligns the memory. */
struct phi__block {
    struct phi__block *older;
    size_t bytes; /* including this header */
#if UINTPTR_MAX == 0xffffffffu
    uint32_t pad[2];
#endif
};

/* Takes a spare block that is large enough, but at most twice as large as needed. */
static struct phi__block *phi__arena_reuse(phi_arena *arena, size_t bytes) {
    for (struct phi__block **at = &arena->spare; *at != NULL; at = &(*at)->older) {
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
    if (bytes == SIZE_MAX) return NULL;
    struct phi__block *block = phi__arena_reuse(arena, bytes);
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

/* Rounds up the size of a large block, by at most an eighth, if the arena is rewound. The block can
   then be used again for a slightly larger request. */
static size_t phi__arena_round(const phi_arena *arena, size_t bytes) {
    size_t step = 512;
    if (!arena->rewound || bytes < 8 * step || bytes > SIZE_MAX / 4) return bytes;
    while (step * 16 <= bytes) step *= 2;
    return (bytes + step - 1) / step * step;
}

static void *phi__arena_take_aligned(phi_arena *arena, size_t bytes, size_t align) {
    size_t pad = (size_t)(0u - (uintptr_t)arena->at) & (align - 1);
    if ((size_t)(arena->end - arena->at) < pad || /* false without a block, as both are 0 */
        (size_t)(arena->end - arena->at) - pad < bytes || arena->shared == NULL) {
        if (bytes > (arena->next_block_bytes - sizeof(struct phi__block)) / 2) {
            struct phi__block *block = phi__arena_take(arena, phi__arena_round(arena, bytes));
            if (block == NULL) return NULL;
            block->older = arena->own;
            arena->own = block;
            return block + 1;
        }
        struct phi__block *block =
            phi__arena_take(arena, arena->next_block_bytes - sizeof(struct phi__block));
        if (block == NULL) return NULL;
        block->older = arena->shared;
        arena->shared = block;
        arena->at = (char *)(block + 1);
        arena->end = (char *)block + block->bytes;
        PHI__POISON(arena->at, (size_t)(arena->end - arena->at));
        arena->next_block_bytes = phi__min(arena->next_block_bytes * 2, arena->most_block_bytes);
        pad = 0;
    }
    char *out = arena->at + pad;
    PHI__UNPOISON(out, bytes);
    arena->at = out + bytes;
    return out;
}

PHI__FN void *phi__arena_zero(phi_arena *arena, size_t bytes) {
    /* A product that overflowed gets NULL. The compiler must see that memset never gets such a
       size. */
    void *out = bytes <= SIZE_MAX / 2 ? phi_arena_alloc(arena, bytes) : NULL;
    if (out != NULL) memset(out, 0, bytes);
    return out;
}

PHI__FN char *phi__arena_bytes(phi_arena *arena, size_t bytes) {
    return (char *)phi__arena_take_aligned(arena, bytes, 1);
}

PHI__FN void *phi__arena_grow(phi_arena *arena, void *old, size_t count, size_t *cap, size_t size) {
    if (count < *cap) return old;
    size_t more = phi__max(phi__max(phi__mul(*cap, 2), phi__add(count, 1)), 4);
    void *out = phi_arena_alloc(arena, phi__mul(more, size));
    if (out == NULL) return NULL;
    if (count > 0) memcpy(out, old, count * size);
    *cap = more;
    return out;
}

PHI__FN bool phi__arena_str(phi_arena *arena, phi_str s, phi_str *out) {
    if (s.len == SIZE_MAX) return false;
    char *copy = phi__arena_bytes(arena, s.len + 1);
    if (copy == NULL) return false;
    if (s.len > 0) memcpy(copy, s.at, s.len);
    copy[s.len] = '\0';
    *out = phi__str(copy, s.len);
    return true;
}

PHI__FN bool phi__keep_text(phi_arena *arena, const char **text) {
    phi_str copy;
    if (*text == NULL) return true;
    if (!phi__arena_str(arena, phi_str_of(*text), &copy)) return false;
    *text = copy.at;
    return true;
}

PHI__FN size_t phi__arena_taken(const phi_arena *arena) {
    size_t bytes = 0;
    for (const struct phi__block *block = arena->shared; block != NULL; block = block->older)
        bytes += block->bytes;
    for (const struct phi__block *block = arena->own; block != NULL; block = block->older)
        bytes += block->bytes;
    return bytes;
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
    arena->most_block_bytes = PHI__ARENA_MOST;
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
    /* otherwise an allocation that is tried and undone would take more memory each time */
    arena->next_block_bytes = mark.shared != NULL
                                  ? phi__min(mark.shared->bytes * 2, arena->most_block_bytes)
                                  : arena->first_block_bytes;
    arena->at = mark.at;
    arena->end = mark.shared != NULL ? (char *)mark.shared + mark.shared->bytes : NULL;
    if (mark.shared != NULL) PHI__POISON(arena->at, (size_t)(arena->end - arena->at));
}

PHI_API void phi_arena_free(phi_arena *arena) {
    if (arena == NULL) return;
    phi__arena_drop(arena, &arena->own, NULL);
    phi__arena_drop(arena, &arena->shared, NULL);
    phi__arena_drop(arena, &arena->spare, NULL);
    arena->at = arena->end = NULL;
    arena->next_block_bytes = arena->first_block_bytes;
}

/* ---- a growing buffer of bytes ----

   After a failed allocation the buffer stays failed. Appending to a failed buffer does nothing, so
   a writer checks `failed` only once, at the end. The result of phi__buf_str is valid until the
   next append or free. */

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

PHI__FN void phi__buf_percent(phi__buf *buf, phi_str text, const char *plain) {
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];
        if (phi__is_alnum(c) || (c != '\0' && strchr(plain, c) != NULL))
            phi__buf_char(buf, c);
        else
            phi__buf_printf(buf, "%%%02X", (unsigned)(unsigned char)c);
    }
}

PHI__FN void phi__buf_wrap(phi__buf *buf, const char *before, phi_str inside, const char *after) {
    phi__buf_text(buf, before);
    phi__buf_add_str(buf, inside);
    phi__buf_text(buf, after);
}

PHI__FN void phi__buf_char(phi__buf *buf, char c) {
    char *to = buf->len < buf->cap && !buf->failed ? buf->at + buf->len : phi__buf_reserve(buf, 1);
    if (to == NULL) return;
    *to = c;
    buf->len++;
}

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
    va_start(args, format);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *to = n < 0 ? NULL : phi__buf_reserve(buf, (size_t)n + 1);
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
#undef PHI__ARENA_ASAN
#undef PHI__POISON
#undef PHI__UNPOISON
#undef PHI__ARENA_ALIGN
#undef PHI__ARENA_DEFAULT
#undef PHI__ARENA_MOST

/* ---- src/base/base.c ---- */

/* base.c - statuses, memory budgets, and functions on strings. */

#include <stdlib.h>
#include <string.h>

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

PHI__FN void *phi__realloc(phi_memory *memory, void *ptr, size_t old_bytes, size_t new_bytes) {
    phi_memory *m;
    if (new_bytes > old_bytes) {
        size_t more = new_bytes - old_bytes;
        for (m = memory; m != NULL; m = m->parent)
            if (m->limit_bytes != 0 &&
                (m->used_bytes > m->limit_bytes || more > m->limit_bytes - m->used_bytes)) {
                m->refusals++;
                return NULL;
            }
    }
    void *out = memory != NULL ? memory->allocator.realloc_fn(memory->allocator.user_data, ptr,
                                                              old_bytes, new_bytes)
                               : phi__base_libc_realloc(NULL, ptr, old_bytes, new_bytes);
    if (out == NULL && new_bytes != 0) return NULL;
    for (m = memory; m != NULL; m = m->parent) {
        PHI_ASSERT(m->used_bytes >= old_bytes);
        m->used_bytes = m->used_bytes - old_bytes + new_bytes;
        if (m->used_bytes > m->peak_bytes) m->peak_bytes = m->used_bytes;
    }
    return out;
}

PHI__FN void *phi__alloc(phi_memory *memory, size_t bytes) {
    if (bytes > SIZE_MAX / 2) return NULL; /* no object is so large: a product overflowed */
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
    size_t now = *cap;
    size_t least = size > 128 ? 1 : 4; /* arrays of large elements often have only one */
    if (need <= now) return ptr;
    now = now > SIZE_MAX / 2 ? need : phi__max(phi__max(now * 2, need), least);
    size_t bytes = phi__mul(now, size);
    if (bytes == SIZE_MAX) return NULL;
    void *out = phi__realloc(memory, ptr, *cap * size, bytes);
    if (out != NULL) *cap = now;
    return out;
}

PHI__FN bool phi__str_starts(phi_str s, const char *prefix) {
    size_t n = strlen(prefix);
    return s.len >= n && (n == 0 || memcmp(s.at, prefix, n) == 0);
}

PHI__FN bool phi__str_ends(phi_str s, const char *suffix) {
    size_t n = strlen(suffix);
    return s.len >= n && memcmp(s.at + s.len - n, suffix, n) == 0;
}

static bool phi__base_same_nocase(const char *a, const char *b, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (phi__lower(a[i]) != phi__lower(b[i])) return false;
    return true;
}

PHI__FN bool phi__str_is_nocase(phi_str s, const char *text) {
    return s.len == strlen(text) && phi__base_same_nocase(s.at, text, s.len);
}

PHI__FN bool phi__str_equal_nocase(phi_str a, phi_str b) {
    return a.len == b.len && phi__base_same_nocase(a.at, b.at, a.len);
}

PHI__FN bool phi__str_equal_secret(phi_str a, phi_str b) {
    unsigned char differ = 0;
    if (a.len != b.len) return false;
    for (size_t i = 0; i < a.len; i++) differ = (unsigned char)(differ | (a.at[i] ^ b.at[i]));
    return differ == 0;
}

PHI__FN size_t phi__str_find(phi_str s, size_t from, const char *needle) {
    size_t n = strlen(needle);
    for (size_t i = from; n <= s.len && i <= s.len - n; i++)
        if (memcmp(s.at + i, needle, n) == 0) return i;
    return SIZE_MAX;
}

PHI__FN size_t phi__str_find_nocase(phi_str s, size_t from, const char *needle) {
    size_t n = strlen(needle);
    for (size_t i = from; n <= s.len && i <= s.len - n; i++)
        if (phi__base_same_nocase(s.at + i, needle, n)) return i;
    return SIZE_MAX;
}

static bool phi__base_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

PHI__FN phi_str phi__str_trim(phi_str s) {
    while (s.len > 0 && phi__base_space(s.at[0])) s = phi__str_from(s, 1);
    while (s.len > 0 && phi__base_space(s.at[s.len - 1])) s.len--;
    return s;
}

PHI__FN bool phi__str_to_u64(phi_str s, uint64_t *out) {
    uint64_t n = 0;
    if (s.len == 0) return false;
    for (size_t i = 0; i < s.len; i++) {
        unsigned digit = (unsigned)(unsigned char)s.at[i] - '0';
        /* 19 digits always fit */
        if (digit > 9 || (i >= 19 && n > (UINT64_MAX - digit) / 10)) return false;
        n = n * 10 + digit;
    }
    *out = n;
    return true;
}

PHI__FN void phi__hash_hex(uint64_t n, char out[17]) {
    for (int i = 15; i >= 0; i--, n >>= 4) out[i] = "0123456789abcdef"[n & 15];
    out[16] = '\0';
}

PHI__FN uint64_t phi__hash_of_hex(phi_str digits) {
    uint64_t n = 0;
    for (size_t i = 0; i < digits.len && i < 16; i++) {
        char c = digits.at[i];
        if (!phi__is_digit(c) && (c < 'a' || c > 'f')) return 0;
        n = n << 4 | (uint64_t)(c >= 'a' ? c - 'a' + 10 : c - '0');
    }
    return n;
}

PHI__FN phi_allocator phi__allocator_default(void) {
    phi_allocator a;
    a.realloc_fn = phi__base_libc_realloc;
    a.user_data = NULL;
    return a;
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

PHI_API void phi_memory_init(phi_memory *memory, const phi_allocator *allocator,
                             size_t limit_bytes) {
    memset(memory, 0, sizeof *memory);
    memory->allocator =
        allocator != NULL && allocator->realloc_fn != NULL ? *allocator : phi__allocator_default();
    memory->limit_bytes = limit_bytes;
}

PHI_API phi_str phi_str_of(const char *text) { return phi__str(text, text ? strlen(text) : 0); }

PHI_API bool phi_str_equal(phi_str a, phi_str b) {
    return a.len == b.len && (a.len == 0 || memcmp(a.at, b.at, a.len) == 0);
}

PHI_API bool phi_str_is(phi_str s, const char *text) {
    return phi__str_is(s, text != NULL ? text : "");
}

/* ---- src/base/heap.c ---- */

/* heap.c - heaps in arrays of items of any size. */

/* True if item a belongs above item b. */
static bool phi__heap_over(const phi__heap *heap, const char *items, size_t a, size_t b) {
    return heap->above(items + a * heap->size, items + b * heap->size, heap->ctx);
}

static void phi__heap_swap(const phi__heap *heap, char *items, size_t a, size_t b) {
    char *x = items + a * heap->size, *y = items + b * heap->size;
    for (size_t i = 0; i < heap->size; i++) {
        char byte = x[i];
        x[i] = y[i];
        y[i] = byte;
    }
}

PHI__FN void phi__heap_rise(const phi__heap *heap, void *items, size_t at) {
    for (; at > 0 && phi__heap_over(heap, (char *)items, at, (at - 1) / 2); at = (at - 1) / 2)
        phi__heap_swap(heap, (char *)items, at, (at - 1) / 2);
}

PHI__FN void phi__heap_sink(const phi__heap *heap, void *items, size_t count, size_t at) {
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && phi__heap_over(heap, (char *)items, child + 1, child)) child++;
        if (!phi__heap_over(heap, (char *)items, child, at)) return;
        phi__heap_swap(heap, (char *)items, child, at);
    }
}

PHI__FN void phi__heap_pop(const phi__heap *heap, void *items, size_t count) {
    phi__heap_swap(heap, (char *)items, 0, count - 1);
    phi__heap_sink(heap, items, count - 1, 0);
}

PHI__FN void phi__heap_sort(const phi__heap *heap, void *items, size_t count) {
    for (size_t i = count / 2; i > 0; i--) phi__heap_sink(heap, items, count, i - 1);
    for (; count > 1; count--) phi__heap_pop(heap, items, count);
}

/* ---- src/base/map.c ---- */

/* map.c - hash tables with open addressing and linear probing. At most three quarters of the slots
   are in use, so searches are short. Also the tables of handles. */

enum { PHI__MAP_FIRST = 16 }; /* slots in the first table */

static inline uint64_t phi__map_mix(uint64_t hash, const char *at, size_t bytes) {
    uint64_t word = 0;
    memcpy(&word, at, bytes);
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

PHI__FN uint64_t phi__map_hash(uint64_t seed, phi_str text) {
    uint64_t hash = seed ^ (uint64_t)text.len;
    const char *at = text.at;
    size_t left = text.len;
    for (; left > 8; left -= 8, at += 8) hash = phi__map_mix(hash, at, 8);
    if (left >= 4) { /* the two words overlap if less than 8 bytes are left */
        hash = phi__map_mix(hash, at, 4);
        hash = phi__map_mix(hash, at + left - 4, 4);
    } else
        for (; left > 0; left--, at++) hash = phi__map_mix(hash, at, 1);
    hash *= UINT64_C(0xbf58476d1ce4e5b9);
    return hash ^ hash >> 32;
}

PHI__FN void phi__map_init(phi__map *map, phi_memory *memory) {
    memset(map, 0, sizeof *map);
    map->memory = memory;
}

PHI__FN void phi__map_free(phi__map *map) {
    phi__free(map->memory, map->slots, map->cap * sizeof *map->slots);
    phi__map_init(map, map->memory);
}

PHI__FN void phi__map_add(phi__map *map, uint64_t hash, void *item) {
    size_t mask = map->cap - 1, i = (size_t)hash & mask;
    while (map->slots[i].item != NULL) i = (i + 1) & mask;
    map->slots[i].hash = hash;
    map->slots[i].item = item;
    map->count++;
}

PHI__FN bool phi__map_reserve(phi__map *map, size_t count) {
    phi__map grown;
    if (count <= map->cap / 4 * 3) return true;
    phi__map_init(&grown, map->memory);
    grown.cap = phi__max(map->cap, PHI__MAP_FIRST);
    while (grown.cap / 4 * 3 < count && grown.cap < SIZE_MAX / 2) grown.cap *= 2;
    grown.slots =
        (phi__map_slot *)phi__alloc(map->memory, phi__mul(grown.cap, sizeof *grown.slots));
    if (grown.slots == NULL) return false;
    for (size_t i = 0; i < map->cap; i++)
        if (map->slots[i].item != NULL)
            phi__map_add(&grown, map->slots[i].hash, map->slots[i].item);
    phi__map_free(map);
    *map = grown;
    return true;
}

PHI__FN bool phi__map_room(phi__map *map) { return phi__map_reserve(map, map->count + 1); }

PHI__FN void phi__map_clear(phi__map *map) {
    if (map->cap > 0) memset(map->slots, 0, map->cap * sizeof *map->slots);
    map->count = 0;
}

PHI__FN void *phi__map_each(const phi__map *map, uint64_t hash, size_t *probe) {
    size_t mask = map->cap - 1;
    if (map->cap == 0) return NULL;
    for (;;) {
        const phi__map_slot *slot = &map->slots[((size_t)hash + (*probe)++) & mask];
        if (slot->item == NULL || slot->hash == hash) return slot->item;
    }
}

/* Moves each following item into the gap, unless the gap is before the item's own place. */
PHI__FN void phi__map_drop(phi__map *map, uint64_t hash, const void *item) {
    size_t mask = map->cap - 1, gap = (size_t)hash & mask;
    while (map->slots[gap].item != item) gap = (gap + 1) & mask;
    for (size_t i = (gap + 1) & mask; map->slots[i].item != NULL; i = (i + 1) & mask) {
        size_t home = (size_t)map->slots[i].hash & mask;
        if (((i - home) & mask) < ((i - gap) & mask)) continue;
        map->slots[gap] = map->slots[i];
        gap = i;
    }
    map->slots[gap].item = NULL;
    map->count--;
}

/* ---- tables of handles: slots never move, and each slot has one atomic word ----

   The word is {generation, state}. A handle is {index, generation}, and is stale if the slot's
   generation differs. State 0 means free; the owner defines the other states. A state is changed by
   a compare-and-swap, so if two threads attempt the same change, exactly one fails. Memory: pages
   of 64, 128, 256... slots, kept until the table is freed, so stale handles are recognized until
   then. A thread can change a slot's word and then mark the slot. So the pumping thread finds
   changes by other threads without checking all slots, and without a queue that could be full.
   There is one bit for each slot, and a count of all marks ever set. Threads: any thread that has a
   handle may change the word and mark the slot; the rest only on the pumping thread. */

enum { PHI__SLOTS_MARKED_LEAST = 64 };

PHI__FN void phi__slots_init(phi__slots *slots, phi_memory *memory) {
    memset(slots, 0, sizeof *slots);
    slots->memory = memory;
}

static size_t phi__slots_page_len(uint32_t page) { return (size_t)PHI__SLOT_FIRST_PAGE << page; }

/* Returns the size of a page, which has its slots and then one bit for each slot. */
static size_t phi__slots_page_bytes(uint32_t page) {
    size_t n = phi__slots_page_len(page);
    return n * sizeof(phi__slot) + n / 64 * sizeof(phi__slot_word);
}

/* Returns the mark bits of a group of 64 slots. `group` is index / 64 of an existing slot. */
static phi__slot_word *phi__slots_bits(const phi__slots *slots, uint32_t group) {
    uint32_t page = 0;
    while (group >= phi__slots_page_len(page) / 64)
        group -= (uint32_t)(phi__slots_page_len(page++) / 64);
    return (phi__slot_word *)(void *)(slots->pages[page] + phi__slots_page_len(page)) + group;
}

PHI__FN void phi__slots_free(phi__slots *slots) {
    for (uint32_t page = 0; page < PHI__SLOT_PAGES; page++)
        phi__free(slots->memory, slots->pages[page], phi__slots_page_bytes(page));
    phi__slots_init(slots, slots->memory);
}

PHI__FN phi__slot *phi__slots_at(const phi__slots *slots, uint32_t index) {
    uint32_t page = 0, rest = index;
    if (index >= PHI__LOAD(&slots->count)) return NULL;
    while (rest >= phi__slots_page_len(page)) rest -= (uint32_t)phi__slots_page_len(page++);
    return &slots->pages[page][rest];
}

static bool phi__slots_more(phi__slots *slots) {
    uint32_t page = 0, base = 0;
    while (page < PHI__SLOT_PAGES && slots->pages[page] != NULL)
        base += (uint32_t)phi__slots_page_len(page++);
    if (page == PHI__SLOT_PAGES) return false;
    uint32_t n = (uint32_t)phi__slots_page_len(page);
    phi__slot *made = (phi__slot *)phi__alloc(slots->memory, phi__slots_page_bytes(page));
    if (made == NULL) return false;
    for (uint32_t i = 0; i < n; i++) {
        made[i].index = base + i;
        made[i].next_free = i + 1 < n ? base + i + 2 : 0;
    }
    slots->pages[page] = made;
    slots->first_free = base + 1;
    PHI__STORE(&slots->count, base + n); /* publishes the page */
    return true;
}

PHI__FN phi__slot *phi__slots_take(phi__slots *slots, uint32_t state, void *object) {
    PHI_ASSERT(state != 0);
    if (slots->first_free == 0 && !phi__slots_more(slots)) return NULL;
    phi__slot *slot = phi__slots_at(slots, slots->first_free - 1);
    slots->first_free = slot->next_free;
    slots->in_use++;
    slot->object = object;
    uint32_t gen = phi__slots_gen_of(PHI__LOAD(&slot->word)) + 1;
    if (gen == 0) gen = 1; /* generation 0 is never live, so a zeroed handle is stale */
    PHI__STORE(&slot->word, phi__slots_word_of(gen, state));
    return slot;
}

PHI__FN void phi__slots_release(phi__slots *slots, phi__slot *slot) {
    PHI__STORE(&slot->word, phi__slots_word_of(phi__slots_gen_of(PHI__LOAD(&slot->word)), 0));
    slot->object = NULL;
    slot->next_free = slots->first_free;
    slots->first_free = slot->index + 1;
    slots->in_use--;
}

PHI__FN uint32_t phi__slots_state(const phi__slots *slots, uint32_t index, uint32_t gen) {
    phi__slot *slot = phi__slots_at(slots, index);
    uint64_t word = slot != NULL ? PHI__LOAD(&slot->word) : 0;
    return phi__slots_gen_of(word) == gen ? phi__slots_state_of(word) : 0;
}

PHI__FN phi__slot *phi__slots_find(const phi__slots *slots, uint32_t index, uint32_t gen) {
    return phi__slots_state(slots, index, gen) != 0 ? phi__slots_at(slots, index) : NULL;
}

PHI__FN bool phi__slots_move(const phi__slots *slots, uint32_t index, uint32_t gen, uint32_t from,
                             uint32_t to) {
    phi__slot *slot = phi__slots_at(slots, index);
    uint64_t expected = phi__slots_word_of(gen, from);
    if (slot == NULL) return false;
    return PHI__CAS(&slot->word, &expected, phi__slots_word_of(gen, to));
}

PHI__FN uint32_t phi__slots_change(const phi__slots *slots, uint32_t index, uint32_t gen,
                                   uint32_t clear, uint32_t set) {
    phi__slot *slot = phi__slots_at(slots, index);
    uint64_t word = slot != NULL ? PHI__LOAD(&slot->word) : 0;
    for (;;) {
        uint32_t state = phi__slots_gen_of(word) == gen ? phi__slots_state_of(word) : 0;
        if (state == 0) return 0;
        if (PHI__CAS(&slot->word, &word, phi__slots_word_of(gen, (state & ~clear) | set)))
            return state;
    }
}

/* ---- marks ---- */

PHI__FN void phi__slots_mark(phi__slots *slots, uint32_t index) {
    uint64_t bit = (uint64_t)1 << (index & 63);
    if (phi__slots_at(slots, index) == NULL) return;
    phi__slot_word *bits = phi__slots_bits(slots, index / 64);
    uint64_t was = PHI__LOAD(bits);
    while (!PHI__CAS(bits, &was, was | bit)) {}
    PHI__ADD(&slots->marks, 1); /* publishes the bit */
}

PHI__FN bool phi__slots_any_marked(const phi__slots *slots) {
    return PHI__LOAD(&slots->marks) != slots->marks_seen;
}

static size_t phi__slots_take_bits(phi__slots *slots, uint32_t group, uint32_t *out) {
    phi__slot_word *bits = phi__slots_bits(slots, group);
    uint64_t was = PHI__LOAD(bits);
    size_t count = 0;
    if (was == 0) return 0;
    while (!PHI__CAS(bits, &was, 0)) {}
    for (uint32_t i = 0; i < 64; i++)
        if ((was >> i & 1) != 0) out[count++] = group * 64 + i;
    return count;
}

PHI__FN size_t phi__slots_marked(phi__slots *slots, uint32_t *out, size_t most) {
    uint32_t marks = (uint32_t)PHI__LOAD(&slots->marks), groups = slots->count / 64, n;
    size_t count = 0;
    if (marks == slots->marks_seen) return 0;
    for (n = 0; n < groups && count + 64 <= most; n++) {
        if (slots->mark_at >= groups) slots->mark_at = 0;
        count += phi__slots_take_bits(slots, slots->mark_at++, out + count);
    }
    if (n == groups) slots->marks_seen = marks; /* otherwise the next call continues */
    return count;
}

/* ---- src/base/sha256.c ---- */

/* sha256.c - SHA-256, CRC-32, base64 and UUIDs. SHA-256 does not copy whole blocks of input. */

/* ---- CRC-32 (polynomial 0xedb88320) ----

   Eight bytes at a time, by half bytes: sixteen lookups in a table of 1 KiB. Half of the lookups do
   not depend on the previous bytes. */

/* For each half byte of eight bytes: the effect of its value on the CRC after the eight bytes. */
static const uint32_t phi__crc32_table[16][16] = {
    {0x00000000u, 0xccaa009eu, 0x4225077du, 0x8e8f07e3u, 0x844a0efau, 0x48e00e64u, 0xc66f0987u,
     0x0ac50919u, 0xd3e51bb5u, 0x1f4f1b2bu, 0x91c01cc8u, 0x5d6a1c56u, 0x57af154fu, 0x9b0515d1u,
     0x158a1232u, 0xd92012acu},
    {0x00000000u, 0x7cbb312bu, 0xf9766256u, 0x85cd537du, 0x299dc2edu, 0x5526f3c6u, 0xd0eba0bbu,
     0xac509190u, 0x533b85dau, 0x2f80b4f1u, 0xaa4de78cu, 0xd6f6d6a7u, 0x7aa64737u, 0x061d761cu,
     0x83d02561u, 0xff6b144au},
    {0x00000000u, 0xa6770bb4u, 0x979f1129u, 0x31e81a9du, 0xf44f2413u, 0x52382fa7u, 0x63d0353au,
     0xc5a73e8eu, 0x33ef4e67u, 0x959845d3u, 0xa4705f4eu, 0x020754fau, 0xc7a06a74u, 0x61d761c0u,
     0x503f7b5du, 0xf64870e9u},
    {0x00000000u, 0x67de9cceu, 0xcfbd399cu, 0xa863a552u, 0x440b7579u, 0x23d5e9b7u, 0x8bb64ce5u,
     0xec68d02bu, 0x8816eaf2u, 0xefc8763cu, 0x47abd36eu, 0x20754fa0u, 0xcc1d9f8bu, 0xabc30345u,
     0x03a0a617u, 0x647e3ad9u},
    {0x00000000u, 0xcb5cd3a5u, 0x4dc8a10bu, 0x869472aeu, 0x9b914216u, 0x50cd91b3u, 0xd659e31du,
     0x1d0530b8u, 0xec53826du, 0x270f51c8u, 0xa19b2366u, 0x6ac7f0c3u, 0x77c2c07bu, 0xbc9e13deu,
     0x3a0a6170u, 0xf156b2d5u},
    {0x00000000u, 0x03d6029bu, 0x07ac0536u, 0x047a07adu, 0x0f580a6cu, 0x0c8e08f7u, 0x08f40f5au,
     0x0b220dc1u, 0x1eb014d8u, 0x1d661643u, 0x191c11eeu, 0x1aca1375u, 0x11e81eb4u, 0x123e1c2fu,
     0x16441b82u, 0x15921919u},
    {0x00000000u, 0x3d6029b0u, 0x7ac05360u, 0x47a07ad0u, 0xf580a6c0u, 0xc8e08f70u, 0x8f40f5a0u,
     0xb220dc10u, 0x30704bc1u, 0x0d106271u, 0x4ab018a1u, 0x77d03111u, 0xc5f0ed01u, 0xf890c4b1u,
     0xbf30be61u, 0x825097d1u},
    {0x00000000u, 0x60e09782u, 0xc1c12f04u, 0xa121b886u, 0x58f35849u, 0x3813cfcbu, 0x9932774du,
     0xf9d2e0cfu, 0xb1e6b092u, 0xd1062710u, 0x70279f96u, 0x10c70814u, 0xe915e8dbu, 0x89f57f59u,
     0x28d4c7dfu, 0x4834505du},
    {0x00000000u, 0xb8bc6765u, 0xaa09c88bu, 0x12b5afeeu, 0x8f629757u, 0x37def032u, 0x256b5fdcu,
     0x9dd738b9u, 0xc5b428efu, 0x7d084f8au, 0x6fbde064u, 0xd7018701u, 0x4ad6bfb8u, 0xf26ad8ddu,
     0xe0df7733u, 0x58631056u},
    {0x00000000u, 0x5019579fu, 0xa032af3eu, 0xf02bf8a1u, 0x9b14583du, 0xcb0d0fa2u, 0x3b26f703u,
     0x6b3fa09cu, 0xed59b63bu, 0xbd40e1a4u, 0x4d6b1905u, 0x1d724e9au, 0x764dee06u, 0x2654b999u,
     0xd67f4138u, 0x866616a7u},
    {0x00000000u, 0x01c26a37u, 0x0384d46eu, 0x0246be59u, 0x0709a8dcu, 0x06cbc2ebu, 0x048d7cb2u,
     0x054f1685u, 0x0e1351b8u, 0x0fd13b8fu, 0x0d9785d6u, 0x0c55efe1u, 0x091af964u, 0x08d89353u,
     0x0a9e2d0au, 0x0b5c473du},
    {0x00000000u, 0x1c26a370u, 0x384d46e0u, 0x246be590u, 0x709a8dc0u, 0x6cbc2eb0u, 0x48d7cb20u,
     0x54f16850u, 0xe1351b80u, 0xfd13b8f0u, 0xd9785d60u, 0xc55efe10u, 0x91af9640u, 0x8d893530u,
     0xa9e2d0a0u, 0xb5c473d0u},
    {0x00000000u, 0x191b3141u, 0x32366282u, 0x2b2d53c3u, 0x646cc504u, 0x7d77f445u, 0x565aa786u,
     0x4f4196c7u, 0xc8d98a08u, 0xd1c2bb49u, 0xfaefe88au, 0xe3f4d9cbu, 0xacb54f0cu, 0xb5ae7e4du,
     0x9e832d8eu, 0x87981ccfu},
    {0x00000000u, 0x4ac21251u, 0x958424a2u, 0xdf4636f3u, 0xf0794f05u, 0xbabb5d54u, 0x65fd6ba7u,
     0x2f3f79f6u, 0x3b83984bu, 0x71418a1au, 0xae07bce9u, 0xe4c5aeb8u, 0xcbfad74eu, 0x8138c51fu,
     0x5e7ef3ecu, 0x14bce1bdu},
    {0x00000000u, 0x77073096u, 0xee0e612cu, 0x990951bau, 0x076dc419u, 0x706af48fu, 0xe963a535u,
     0x9e6495a3u, 0x0edb8832u, 0x79dcb8a4u, 0xe0d5e91eu, 0x97d2d988u, 0x09b64c2bu, 0x7eb17cbdu,
     0xe7b82d07u, 0x90bf1d91u},
    {0x00000000u, 0x1db71064u, 0x3b6e20c8u, 0x26d930acu, 0x76dc4190u, 0x6b6b51f4u, 0x4db26158u,
     0x5005713cu, 0xedb88320u, 0xf00f9344u, 0xd6d6a3e8u, 0xcb61b38cu, 0x9b64c2b0u, 0x86d3d2d4u,
     0xa00ae278u, 0xbdbdf21cu},
};

static inline uint32_t phi__crc32_word(const unsigned char *at) {
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* Returns the effect of a word, from the eight tables for its half bytes. */
static inline uint32_t phi__crc32_share(const uint32_t (*t)[16], uint32_t word) {
    return t[0][word & 15] ^ t[1][word >> 4 & 15] ^ t[2][word >> 8 & 15] ^ t[3][word >> 12 & 15] ^
           t[4][word >> 16 & 15] ^ t[5][word >> 20 & 15] ^ t[6][word >> 24 & 15] ^ t[7][word >> 28];
}

PHI__FN uint32_t phi__crc32(uint32_t before, const void *bytes, size_t len) {
    const uint32_t(*t)[16] = phi__crc32_table;
    const unsigned char *at = (const unsigned char *)bytes;
    uint32_t crc = ~before;
    for (; len >= 8; at += 8, len -= 8)
        crc = phi__crc32_share(t + 8, phi__crc32_word(at + 4)) ^
              phi__crc32_share(t, crc ^ phi__crc32_word(at));
    for (; len > 0; at++, len--) {
        crc ^= *at;
        crc = crc >> 8 ^ t[14][crc & 15] ^ t[15][crc >> 4 & 15];
    }
    return ~crc;
}

/* ---- SHA-256 and HMAC ---- */

static const uint32_t phi__sha256_k[64] = {
    0x428a2f98u, 0x71374491u, 0xb5c0fbcfu, 0xe9b5dba5u, 0x3956c25bu, 0x59f111f1u, 0x923f82a4u,
    0xab1c5ed5u, 0xd807aa98u, 0x12835b01u, 0x243185beu, 0x550c7dc3u, 0x72be5d74u, 0x80deb1feu,
    0x9bdc06a7u, 0xc19bf174u, 0xe49b69c1u, 0xefbe4786u, 0x0fc19dc6u, 0x240ca1ccu, 0x2de92c6fu,
    0x4a7484aau, 0x5cb0a9dcu, 0x76f988dau, 0x983e5152u, 0xa831c66du, 0xb00327c8u, 0xbf597fc7u,
    0xc6e00bf3u, 0xd5a79147u, 0x06ca6351u, 0x14292967u, 0x27b70a85u, 0x2e1b2138u, 0x4d2c6dfcu,
    0x53380d13u, 0x650a7354u, 0x766a0abbu, 0x81c2c92eu, 0x92722c85u, 0xa2bfe8a1u, 0xa81a664bu,
    0xc24b8b70u, 0xc76c51a3u, 0xd192e819u, 0xd6990624u, 0xf40e3585u, 0x106aa070u, 0x19a4c116u,
    0x1e376c08u, 0x2748774cu, 0x34b0bcb5u, 0x391c0cb3u, 0x4ed8aa4au, 0x5b9cca4fu, 0x682e6ff3u,
    0x748f82eeu, 0x78a5636fu, 0x84c87814u, 0x8cc70208u, 0x90befffau, 0xa4506cebu, 0xbef9a3f7u,
    0xc67178f2u};

static uint32_t phi__sha256_turn(uint32_t x, unsigned n) { return x >> n | x << (32 - n); }

/* Fills in the block's 16 words and the 48 derived words. */
static void phi__sha256_schedule(const unsigned char *block, uint32_t w[64]) {
    size_t i;
    for (i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
               (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (; i < 64; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];
        a = phi__sha256_turn(a, 7) ^ phi__sha256_turn(a, 18) ^ a >> 3;
        b = phi__sha256_turn(b, 17) ^ phi__sha256_turn(b, 19) ^ b >> 10;
        w[i] = w[i - 16] + a + w[i - 7] + b;
    }
}

static void phi__sha256_block(uint32_t state[8], const unsigned char *block) {
    uint32_t w[64], s[8], one, two;
    phi__sha256_schedule(block, w);
    memcpy(s, state, sizeof s);
    for (size_t i = 0; i < 64; i++) {
        one = phi__sha256_turn(s[4], 6) ^ phi__sha256_turn(s[4], 11) ^ phi__sha256_turn(s[4], 25);
        one += s[7] + (s[6] ^ (s[4] & (s[5] ^ s[6]))) + phi__sha256_k[i] + w[i];
        two = phi__sha256_turn(s[0], 2) ^ phi__sha256_turn(s[0], 13) ^ phi__sha256_turn(s[0], 22);
        two += (s[0] & s[1]) | (s[2] & (s[0] | s[1]));
        s[7] = s[6];
        s[6] = s[5];
        s[5] = s[4];
        s[4] = s[3] + one;
        s[3] = s[2];
        s[2] = s[1];
        s[1] = s[0];
        s[0] = one + two;
    }
    for (size_t i = 0; i < 8; i++) state[i] += s[i];
}

PHI__FN void phi__sha256_begin(phi__sha256 *sha) {
    static const uint32_t first[8] = {0x6a09e667u, 0xbb67ae85u, 0x3c6ef372u, 0xa54ff53au,
                                      0x510e527fu, 0x9b05688cu, 0x1f83d9abu, 0x5be0cd19u};
    memcpy(sha->state, first, sizeof first);
    sha->bytes = 0;
}

PHI__FN void phi__sha256_add(phi__sha256 *sha, const void *bytes, size_t len) {
    const unsigned char *at = (const unsigned char *)bytes;
    size_t held = (size_t)(sha->bytes % 64);
    if (len == 0) return;
    sha->bytes += len;
    if (held > 0) {
        size_t n = phi__min(64 - held, len);
        memcpy(sha->block + held, at, n);
        at += n;
        len -= n;
        if (held + n < 64) return;
        phi__sha256_block(sha->state, sha->block);
    }
    for (; len >= 64; at += 64, len -= 64) phi__sha256_block(sha->state, at);
    if (len > 0) memcpy(sha->block, at, len);
}

PHI__FN void phi__sha256_end(phi__sha256 *sha, unsigned char out[32]) {
    uint64_t bits = sha->bytes * 8;
    size_t held = (size_t)(sha->bytes % 64);
    sha->block[held++] = 0x80;
    if (held > 56) {
        memset(sha->block + held, 0, 64 - held);
        phi__sha256_block(sha->state, sha->block);
        held = 0;
    }
    memset(sha->block + held, 0, 56 - held);
    for (size_t i = 0; i < 8; i++)
        sha->block[56 + i] = (unsigned char)(bits >> (56 - 8 * i) & 0xff);
    phi__sha256_block(sha->state, sha->block);
    for (size_t i = 0; i < 32; i++)
        out[i] = (unsigned char)(sha->state[i / 4] >> (24 - 8 * (i % 4)) & 0xff);
}

PHI__FN void phi__sha256_of(phi_str text, unsigned char out[32]) {
    phi__sha256 sha;
    phi__sha256_begin(&sha);
    phi__sha256_add(&sha, text.at, text.len);
    phi__sha256_end(&sha, out);
}

PHI__FN void phi__sha256_hmac(phi_str key, phi_str text, unsigned char out[32]) {
    unsigned char inner[32];
    phi__sha256 sha;
    unsigned char pad[64] = PHI_ZERO;
    if (key.len > sizeof pad)
        phi__sha256_of(key, pad);
    else if (key.len > 0)
        memcpy(pad, key.at, key.len);
    for (size_t i = 0; i < sizeof pad; i++) pad[i] ^= 0x36;
    phi__sha256_begin(&sha);
    phi__sha256_add(&sha, pad, sizeof pad);
    phi__sha256_add(&sha, text.at, text.len);
    phi__sha256_end(&sha, inner);
    for (size_t i = 0; i < sizeof pad; i++) pad[i] ^= 0x36 ^ 0x5c;
    phi__sha256_begin(&sha);
    phi__sha256_add(&sha, pad, sizeof pad);
    phi__sha256_add(&sha, inner, sizeof inner);
    phi__sha256_end(&sha, out);
}

PHI__FN void phi__sha256_hex(const unsigned char hash[32], char out[64]) {
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < 32; i++) {
        out[2 * i] = digits[hash[i] >> 4];
        out[2 * i + 1] = digits[hash[i] & 15];
    }
}

/* ---- base64: the encoder takes three bytes at a time, the decoder four letters ---- */

static const char phi__base64_letters[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

PHI__FN void phi__base64_encode(phi__buf *out, const char *bytes, size_t n) {
    const unsigned char *p = (const unsigned char *)bytes;
    char *to = n > SIZE_MAX / 4 * 3 - 3 ? NULL : phi__buf_reserve(out, (n + 2) / 3 * 4);
    if (to == NULL) {
        out->failed = true;
        return;
    }
    for (; n > 0; p += 3, to += 4, out->len += 4) {
        uint32_t bits =
            (uint32_t)p[0] << 16 | (n > 1 ? (uint32_t)p[1] << 8 : 0) | (n > 2 ? (uint32_t)p[2] : 0);
        to[0] = phi__base64_letters[bits >> 18];
        to[1] = phi__base64_letters[bits >> 12 & 63];
        to[2] = n > 1 ? phi__base64_letters[bits >> 6 & 63] : '=';
        to[3] = n > 2 ? phi__base64_letters[bits & 63] : '=';
        n -= phi__min(n, 3);
    }
}

static int phi__base64_value(char c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Decodes four letters. Returns the number of bytes, up to three, or 0 for a bad group. */
static size_t phi__base64_ungroup(const char *four, bool last, char out[3]) {
    size_t pads = last ? (size_t)(four[3] == '=') + (size_t)(four[2] == '=' && four[3] == '=') : 0;
    uint32_t bits = 0;
    for (size_t i = 0; i < 4; i++) {
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
    size_t before = out->len;
    for (size_t i = 0; i < text.len; i += 4) {
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

PHI__FN void phi__id_uuid(const unsigned char random[16], char out[PHI__UUID_SIZE]) {
    static const char hex[] = "0123456789abcdef";
    size_t at = 0;
    for (size_t i = 0; i < 16; i++) {
        unsigned byte = random[i];
        if (i == 6) byte = (byte & 0x0Fu) | 0x40u;
        if (i == 8) byte = (byte & 0x3Fu) | 0x80u;
        if (i == 4 || i == 6 || i == 8 || i == 10) out[at++] = '-';
        out[at++] = hex[byte >> 4];
        out[at++] = hex[byte & 15u];
    }
    out[at] = '\0';
}

/* ---- src/base/url.c ---- */

/* url.c - splits URLs, and resolves references. */

/* Returns the end of the authority that begins at `at`, or, if `path` is true, of the path that
   begins there. */
static size_t phi__url_end(phi_str url, size_t at, bool path) {
    while (at < url.len && url.at[at] != '?' && url.at[at] != '#' && (path || url.at[at] != '/'))
        at++;
    return at;
}

PHI__FN bool phi__url_split(phi_str url, phi__url *out) {
    size_t at = phi__str_find(url, 0, "://"), colon;
    bool good = at != SIZE_MAX;
    memset(out, 0, sizeof *out);
    out->scheme = phi__str(url.at, good ? at : 0);
    out->secure = phi__str_is_nocase(out->scheme, "https");
    out->web = out->secure || phi__str_is_nocase(out->scheme, "http");
    size_t from = good ? at + 3 : 0, end = phi__url_end(url, from, false);
    size_t path_end = phi__url_end(url, end, true);
    out->origin = phi__str(url.at, end);
    out->path = phi__str(url.at + end, path_end - end);
    if (path_end < url.len && url.at[path_end] == '?') {
        phi_str rest = phi__str_from(url, path_end + 1);
        out->query = phi__str(rest.at, phi__min(phi__str_find(rest, 0, "#"), rest.len));
    }
    for (at = end; at > from && url.at[at - 1] != '@';) at--;
    if (at > from) out->user = phi__str(url.at + from, at - 1 - from);
    out->site = out->host = phi__str(url.at + at, end - at);
    /* The host stays empty if it is invalid: "[::1" without "]", or "[::1].example". */
    if (at < end && url.at[at] == '[') {
        size_t close = phi__str_find(out->site, 0, "]");
        colon = close == SIZE_MAX ? SIZE_MAX : phi__str_find(out->site, close, ":");
        if (close != SIZE_MAX && phi__min(colon, out->site.len) != close + 1) close = SIZE_MAX;
        out->host =
            close == SIZE_MAX ? phi__str(url.at + at, 0) : phi__str(url.at + at + 1, close - 1);
    } else if ((colon = phi__str_find(out->site, 0, ":")) != SIZE_MAX)
        out->host.len = colon;
    if (colon != SIZE_MAX) out->port = phi__str_from(out->site, colon + 1);
    if (out->port.len == 0) out->port = out->secure ? PHI__LIT("443") : PHI__LIT("80");
    return good;
}

PHI__FN bool phi__url_is_at(phi_str url, const char *host) {
    phi__url parts;
    size_t n = strlen(host);
    if (!phi__url_split(url, &parts) || parts.host.len < n) return false;
    size_t before = parts.host.len - n;
    return phi__str_is_nocase(phi__str_from(parts.host, before), host) &&
           (before == 0 || parts.host.at[before - 1] == '.');
}

PHI__FN bool phi__url_resolve(phi__buf *out, phi_str base, phi_str to) {
    phi__url parts;
    size_t keep, name = 0;
    bool whole = phi__url_split(base, &parts);
    to.len = phi__min(phi__str_find(to, 0, "#"), to.len);
    while (name < to.len && strchr(":/?", to.at[name]) == NULL) name++;
    if (name < to.len && to.at[name] == ':') { /* with its own scheme, `to` needs no base */
        phi__buf_add_str(out, to);
        return !out->failed;
    }
    if (!whole || to.len == 0) return false;
    keep = parts.origin.len;
    if (phi__str_starts(to, "//")) {
        keep = parts.scheme.len + 1;
    } else if (to.at[0] == '?') {
        keep += parts.path.len;
    } else if (to.at[0] != '/') { /* `to` replaces the last part of the path */
        for (size_t i = 0; i < parts.path.len; i++)
            if (parts.path.at[i] == '/') keep = parts.origin.len + i + 1;
        if (phi__str_starts(to, "./")) to = phi__str_from(to, 2);
    }
    phi__buf_add(out, base.at, keep);
    if (to.len > 0 && keep == parts.origin.len && to.at[0] != '/' && to.at[0] != '?')
        phi__buf_char(out, '/');
    phi__buf_add_str(out, to);
    return !out->failed;
}

/* ---- src/base/utf8.c ---- */

/* utf8.c - UTF-8 as in RFC 3629 (no overlong forms, no surrogates), text for terminals, dates. */
#include <stdlib.h>
#include <string.h>

/* Returns how many bytes at `at` are the beginning of a valid sequence; 0: none. *whole is the
   length that the whole sequence would have. */
static size_t phi__utf8_prefix(const char *at, size_t left, size_t *whole) {
    const unsigned char *p = (const unsigned char *)at;
    unsigned char a = p[0], low = 0x80, high = 0xBF;
    size_t n = 2;
    *whole = a < 0x80 ? 1 : a < 0xC2 || a > 0xF4 ? 0 : a < 0xE0 ? 2 : a < 0xF0 ? 3 : 4;
    if (*whole < 2) return *whole;
    if (a == 0xE0) low = 0xA0;
    if (a == 0xED) high = 0x9F;
    if (a == 0xF0) low = 0x90;
    if (a == 0xF4) high = 0x8F;
    if (left < 2 || p[1] < low || p[1] > high) return 1;
    while (n < *whole && n < left && (p[n] & 0xC0) == 0x80) n++;
    return n;
}

/* Returns the length of the valid sequence at `at`, or 0. */
static size_t phi__utf8_sequence(const char *at, size_t left) {
    size_t whole, n = phi__utf8_prefix(at, left, &whole);
    return n == whole ? n : 0;
}

/* True for a character that a terminal would act on: control characters of one byte, C1 (C2 80 to
   C2 9F), and U+202A to U+202E and U+2066 to U+2069 (E2 80 AA.., E2 81 A6..). */
static bool phi__words_bad(const char *at, size_t n) {
    unsigned char a = (unsigned char)at[0], b = n > 1 ? (unsigned char)at[1] : 0;
    unsigned char c = n > 2 ? (unsigned char)at[2] : 0;
    if (n == 1) return a < 0x20 || a == 0x7F;
    if (n == 2) return a == 0xC2 && b < 0xA0;
    return n == 3 && a == 0xE2 &&
           ((b == 0x80 && c >= 0xAA && c <= 0xAE) || (b == 0x81 && c >= 0xA6 && c <= 0xA9));
}

static size_t phi__words_put(char *at, size_t len, bool line) {
    size_t i = 0, out = 0;
    while (i < len) {
        bool stays = !line && (at[i] == '\n' || at[i] == '\t');
        if (!line && at[i] == '\r' && i + 1 < len && at[i + 1] == '\n') {
            i++;
            continue;
        }
        size_t n = phi__utf8_sequence(at + i, len - i);
        if (n == 0 || (!stays && phi__words_bad(at + i, n))) {
            at[out++] = '?';
            i += n > 0 ? n : 1;
            continue;
        }
        memmove(at + out, at + i, n);
        out += n;
        i += n;
    }
    return out;
}

PHI__FN size_t phi__words_clean(char *at, size_t len) { return phi__words_put(at, len, false); }

PHI__FN size_t phi__words_clean_line(char *at, size_t len) { return phi__words_put(at, len, true); }

PHI__FN size_t phi__utf8_bad(const char *at, const char *end) {
    size_t whole;
    return phi__max(phi__utf8_prefix(at, (size_t)(end - at), &whole), 1);
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
        i += phi__utf8_ascii(p + i, s.len - i);
        if (i == s.len) break;
        size_t n = phi__utf8_sequence(s.at + i, s.len - i);
        if (n == 0) return i;
        i += n;
    }
    return i;
}

PHI__FN size_t phi__utf8_cut(phi_str s, size_t most) {
    if (most >= s.len) return s.len;
    for (size_t back = 0; back < 4 && back <= most; back++)
        if (((unsigned char)s.at[most - back] & 0xC0) != 0x80) return most - back;
    return most; /* these bytes are not UTF-8, so the text may be cut anywhere */
}

PHI__FN void phi__utf8_repair(phi__buf *out, phi_str s) {
    while (s.len > 0) {
        size_t good = phi__utf8_valid(s);
        phi__buf_add(out, s.at, good);
        if (good == s.len) return;
        phi__buf_add(out, "\xEF\xBF\xBD", 3);
        good += phi__utf8_bad(s.at + good, s.at + s.len);
        s = phi__str_from(s, good);
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

/* ---- times as RFC 3339, by the Gregorian calendar's cycle of 400 years ----

   Years are counted from March, so that a leap day is the last day of a year. */

/* 0000-01-01T00:00:00Z and 9999-12-31T23:59:59.999Z */
#define PHI__DATE_FIRST_MS INT64_C(-62167219200000)
#define PHI__DATE_LAST_MS INT64_C(253402300799999)

typedef struct phi__date {
    int64_t year, month, day;
} phi__date;

/* Returns the date of a day, counted in days since 1970. */
static phi__date phi__date_of(int64_t days) {
    int64_t z = days + 719468;
    phi__date date;
    int64_t era = (z >= 0 ? z : z - 146096) / 146097;
    int64_t of_era = z - era * 146097;
    int64_t y = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * y + y / 4 - y / 100);
    int64_t m = (5 * of_year + 2) / 153;
    date.day = of_year - (153 * m + 2) / 5 + 1;
    date.month = m < 10 ? m + 3 : m - 9;
    date.year = y + era * 400 + (date.month <= 2 ? 1 : 0);
    return date;
}

static char *phi__date_digits(char *at, int64_t value, int digits, char after) {
    for (int i = digits - 1; i >= 0; i--) {
        at[i] = (char)('0' + value % 10);
        value /= 10;
    }
    at[digits] = after;
    return at + digits + 1;
}

/* True if the text has this shape. In the shape, 'd' is any digit, and 'T' also allows 't' or
   a space in the text. */
static bool phi__date_shaped(const char *at, const char *shape) {
    for (; *shape != '\0'; at++, shape++) {
        if (*shape == 'd' ? !phi__is_digit(*at)
                          : *at != *shape && !(*shape == 'T' && (*at == 't' || *at == ' ')))
            return false;
    }
    return true;
}

static int64_t phi__date_number(const char *at, int digits) {
    int64_t n = 0;
    while (digits-- > 0) n = n * 10 + (*at++ - '0');
    return n;
}

/* Reads the part after the seconds: a fraction and the offset from UTC. */
static bool phi__date_rest(phi_str s, int64_t *fraction_ms, int64_t *offset_minutes) {
    int64_t unit = 100;
    size_t at = 0;
    *fraction_ms = *offset_minutes = 0;
    if (s.len > 1 && s.at[0] == '.' && phi__date_shaped(s.at + 1, "d"))
        for (at = 1; at < s.len && phi__date_shaped(s.at + at, "d"); at++, unit /= 10)
            *fraction_ms += unit * (s.at[at] - '0');
    if (s.len - at == 1) return s.at[at] == 'Z' || s.at[at] == 'z';
    if (s.len - at != 6 || (s.at[at] != '+' && s.at[at] != '-')) return false;
    if (!phi__date_shaped(s.at + at + 1, "dd:dd")) return false;
    *offset_minutes = phi__date_number(s.at + at + 1, 2) * 60 + phi__date_number(s.at + at + 4, 2);
    if (s.at[at] == '-') *offset_minutes = -*offset_minutes;
    return s.at[at + 1] <= '2' && s.at[at + 4] <= '5';
}

PHI__FN size_t phi__date_put(int64_t ms, char out[PHI__DATE_BYTES]) {
    char *at = out;
    if (ms < PHI__DATE_FIRST_MS) ms = PHI__DATE_FIRST_MS;
    if (ms > PHI__DATE_LAST_MS) ms = PHI__DATE_LAST_MS;
    int64_t days = ms / 86400000;
    int64_t rest = ms % 86400000;
    if (rest < 0) {
        rest += 86400000;
        days--;
    }
    phi__date date = phi__date_of(days);
    at = phi__date_digits(at, date.year, 4, '-');
    at = phi__date_digits(at, date.month, 2, '-');
    at = phi__date_digits(at, date.day, 2, 'T');
    at = phi__date_digits(at, rest / 3600000, 2, ':');
    at = phi__date_digits(at, rest / 60000 % 60, 2, ':');
    at = phi__date_digits(at, rest / 1000 % 60, 2, '.');
    if (rest % 1000 != 0) at = phi__date_digits(at, rest % 1000, 3, '.');
    at[-1] = 'Z'; /* replaces the last separator */
    *at = '\0';
    return (size_t)(at - out);
}

PHI__FN bool phi__date_get(phi_str text, int64_t *ms) {
    int64_t fraction, offset;
    phi__date date;
    if (text.len < 20 || !phi__date_shaped(text.at, "dddd-dd-ddTdd:dd:dd")) return false;
    if (!phi__date_rest(phi__str_from(text, 19), &fraction, &offset)) return false;
    date.year = phi__date_number(text.at, 4);
    date.month = phi__date_number(text.at + 5, 2);
    date.day = phi__date_number(text.at + 8, 2);
    int64_t hour = phi__date_number(text.at + 11, 2);
    int64_t minute = phi__date_number(text.at + 14, 2);
    int64_t second = phi__date_number(text.at + 17, 2);
    if (date.month < 1 || date.month > 12 || hour > 23 || minute > 59 || second > 60) return false;
    int64_t y = date.year;
    int64_t m = date.month;
    int64_t d = date.day;
    if (m <= 2) y--;
    int64_t era = (y >= 0 ? y : y - 399) / 400;
    int64_t of_era = y - era * 400;
    int64_t of_year = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
    int64_t days = era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
    phi__date real = phi__date_of(days); /* another date if the month has no such day */
    if (real.month != date.month || real.day != date.day) return false;
    *ms = days * 86400000 + ((hour * 60 + minute - offset) * 60 + second) * 1000 + fraction;
    return true;
}
#undef PHI__DATE_FIRST_MS
#undef PHI__DATE_LAST_MS

#endif /* PHI__IMP_BASE */

#ifdef PHI__IMP_TEXT
#if PHI__IMP_TEXT != 0x6002531c
#error "phi: two versions of src/text in one file"
#endif
#else
#define PHI__IMP_TEXT 0x6002531c

/* ---- src/text/text_in.h ---- */

/* text_in.h - the functions and types of text/ for other rooms. */

enum phi__json_kind {
    PHI__JSON_NULL = 1,
    PHI__JSON_FALSE,
    PHI__JSON_TRUE,
    PHI__JSON_INT,  /* the value is in v.i */
    PHI__JSON_UINT, /* the value is in v.u, above INT64_MAX */
    PHI__JSON_DOUBLE,
    PHI__JSON_STRING,
    PHI__JSON_ARRAY,
    PHI__JSON_OBJECT
};

/* How a value was written in TOML, or PHI__JSON_DOCUMENT for the root of a document; 0 in all other
   trees. The functions of json.h keep this form, and treat a date as a string. */
enum phi__json_form {
    PHI__JSON_OFFSET_DATETIME = 1, /* this and the next three forms are strings */
    PHI__JSON_LOCAL_DATETIME,
    PHI__JSON_LOCAL_DATE,
    PHI__JSON_LOCAL_TIME,
    PHI__JSON_INLINE,  /* an object written in braces */
    PHI__JSON_TABLES,  /* an array written as [[headers]] */
    PHI__JSON_DOCUMENT /* the root of a document of phi_json_load; it is in no container */
};

typedef union phi__json_value {
    const char *str;
    phi_json *last;
    int64_t i;
    uint64_t u;
    double d;
} phi__json_value;

/* A node takes 32 bytes (24 with 32-bit pointers). */
struct phi_json {
    phi_json *next;
    const char *key;
    phi__json_value v;
    uint32_t len;  /* bytes of a string, children of a container */
    uint32_t meta; /* key length << 8 | form << 4 | kind */
};

static inline uint32_t phi__json_kind_of(const phi_json *node) { return node->meta & 0xfu; }

static inline uint32_t phi__json_form_of(const phi_json *node) { return node->meta >> 4 & 0xfu; }

static inline uint32_t phi__json_key_len(const phi_json *node) { return node->meta >> 8; }

/* Appends a child without any checks. For readers. */
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

/* A reader of a tree in slices: call begin, then advance until it does not return PHI_BUSY, then
   result. A reader can be dropped at any time. */
typedef struct phi__json_reader {
    phi_arena *arena;
    const char *text; /* the caller's text */
    char *copy;       /* the reader's copy of the text; NULL with PHI_JSON_BORROW */
    size_t len;
    const char *base, *at, *end;    /* the text being read: the copy or the caller's text */
    const char *line_at;            /* start of the current line */
    const char *mark, *odd, *quote; /* current string: first byte, first escape, end */
    char *string, *to;              /* unescaped string: its start, and where the next byte goes */
    const char *key;                /* key of the next value */
    phi_json *root, *open;
    phi_json *spare, *spare_end; /* allocated nodes that are not used yet */
    struct phi__marks *marks;    /* positions of the nodes; NULL: not wanted */
    uint32_t key_len, bad, line, flags, depth, max_depth;
    uint32_t key_line, key_column; /* position of the next value's key; set only with marks */
    uint8_t state, back;           /* back: the state after a comment */
    bool is_key;
    phi_status status;
    phi_parse_error error;
} phi__json_reader;

/* Begins to read a text. The text is borrowed until the result, or, with PHI_JSON_BORROW, as long
   as the tree is used. max_depth limits nesting (default 512, at most PHI_JSON_MAX_DEPTH). */
PHI__FN void phi__json_read_begin(phi__json_reader *reader, phi_arena *arena, phi_str text,
                                  uint32_t flags, uint32_t max_depth);

/* Reads about `units` bytes, at least one. Returns PHI_BUSY until the whole text is read. */
PHI__FN phi_status phi__json_read_advance(phi__json_reader *reader, size_t units);

/* Returns the last status of advance, and sets *out to the tree or *error to the error. `out` and
   `error` may be NULL. */
PHI__FN phi_status phi__json_read_result(const phi__json_reader *reader, phi_json **out,
                                         phi_parse_error *error);

/* Returns "null", "boolean", "number", "string", "array", "object" or, for NULL, "nothing". */
PHI__FN const char *phi__json_get_type_name(const phi_json *node);

/* Like phi_json_int, for unsigned values. */
PHI__FN uint64_t phi__json_get_uint(const phi_json *node, uint64_t fallback);

/* Like phi_json_get and phi_json_set, with a key that has a length. */
PHI__FN phi_json *phi__json_get_n(const phi_json *object, phi_str key);
PHI__FN phi_status phi__json_edit_set(phi_arena *arena, phi_json *object, phi_str key,
                                      phi_json *value);

/* True if values are equal: numbers by value (1 equals 1.0), objects in any order of members. */
PHI__FN bool phi__json_get_equal(const phi_json *a, const phi_json *b);

/* Return a new node, like phi_json_new_int. A text whose pointer is NULL gives an empty string. */
PHI__FN phi_json *phi__json_edit_null(phi_arena *arena);
PHI__FN phi_json *phi__json_edit_uint(phi_arena *arena, uint64_t value);
PHI__FN phi_json *phi__json_edit_text(phi_arena *arena, const char *value);

/* Removes and returns an item; it can be put into another container. NULL: no such item. */
PHI__FN phi_json *phi__json_edit_remove_at(phi_json *array, size_t index);

/* Returns the string of a node, or "" if the node is no string. */
static inline phi_str phi__json_text_of(const phi_json *node) {
    bool is = node != NULL && phi__json_kind_of(node) == PHI__JSON_STRING;
    return is ? phi__str(node->v.str, node->len) : PHI__LIT("");
}

/* Makes a name for phi__json_get_pick from a string literal. */
#define PHI__JSON_NAME(literal)                                                                    \
    { (literal), sizeof(literal) - 1 }

/* For all names in one pass, sets found[i] to the member that phi_json_get would find for names[i].
   Fast if the members come in about the order of the names. */
PHI__FN void phi__json_get_pick(const phi_json *object, const phi_str *names, size_t count,
                                const phi_json **found);

/* Writes "text" with quotes and escapes. Bytes that are not UTF-8 become U+FFFD. */
PHI__FN void phi__json_write_str(phi__buf *buf, phi_str text);

/* Writes a piece of a string, without quotes. A piece must not end inside a UTF-8 sequence. */
PHI__FN void phi__json_write_part(phi__buf *buf, phi_str text);
PHI__FN void phi__json_number_put_u64(phi__buf *buf, uint64_t n);
PHI__FN void phi__json_number_put_i64(phi__buf *buf, int64_t n);

/* Writes the shortest digits that read back as the same value, with ".0" if they look like an
   integer. Writes null if the value is not finite. */
PHI__FN void phi__json_number_put_double(phi__buf *buf, double d);
PHI__FN void phi__json_write_bool(phi__buf *buf, bool b);

/* Writes a comma, unless the buffer is empty or ends in one of "{[:,". */
PHI__FN void phi__json_write_comma(phi__buf *buf);

/* Writes a comma if one is needed, then the given JSON text. */
PHI__FN void phi__json_write_item(phi__buf *buf, const char *json);

/* Writes a comma if one is needed, then "key": */
PHI__FN void phi__json_write_key(phi__buf *buf, phi_str key);

/* Writes a whole tree at once; flags as for phi_json_write. A node of NULL is written as null. */
PHI__FN phi_status phi__json_write(phi__buf *buf, const phi_json *node, uint32_t flags);

/* A writer of a tree in slices: call begin, then advance until it does not return PHI_BUSY, then
   end. The tree must not change meanwhile. `out` is borrowed, and may be emptied between calls. */
#define PHI__JSON_STACK 24

typedef struct phi__json_writer {
    phi__buf *out;
    const phi_json *node;   /* the next node to write; NULL: no more nodes */
    const phi_json **stack; /* open containers; points to `few` or to allocated memory */
    const phi_json *few[PHI__JSON_STACK];
    size_t depth, cap;
    phi_str rest;                    /* the unwritten part of the current string */
    bool in_string, in_key, written; /* written: the node is written, but not its siblings */
    uint32_t flags;
    phi_status status;
} phi__json_writer;

PHI__FN void phi__json_write_writer_begin(phi__json_writer *writer, phi__buf *out,
                                          const phi_json *node, uint32_t flags);

/* Writes about `units` bytes, at least one. Returns PHI_BUSY until the whole tree is written. */
PHI__FN phi_status phi__json_write_writer_advance(phi__json_writer *writer, size_t units);

/* Frees the writer's memory. Allowed at any time, also twice. */
PHI__FN void phi__json_write_writer_end(phi__json_writer *writer);

typedef struct phi__json_number {
    uint32_t kind; /* PHI__JSON_INT, PHI__JSON_UINT or PHI__JSON_DOUBLE */
    phi__json_value v;
} phi__json_number;

/* Reads a number in JSON's grammar at the start of [at, end). Returns the byte after the number.
   NULL: there is no number, and *bad is the first wrong byte; or no double can hold the value, and
   *bad is `at`. */
PHI__FN const char *phi__json_number_read(const char *at, const char *end, phi__json_number *out,
                                          const char **bad);

/* Set *out to the number's value. False: it does not fit. 3.0 counts as an integer. */
PHI__FN bool phi__json_get_number_i64(const phi__json_number *n, int64_t *out);
PHI__FN bool phi__json_get_number_u64(const phi__json_number *n, uint64_t *out);
PHI__FN double phi__json_get_number_double(const phi__json_number *n);

/* Writes the shortest text of a finite double to `out` (32 bytes). Returns its length. */
PHI__FN size_t phi__json_number_double_text(double d, char *out);

typedef struct phi__json_step {
    phi_str key; /* points into the path's text */
    size_t index;
    bool is_index;
} phi__json_step;

/* Reads the next step of a path such as "a.b[0].c", and advances *path. False: the path is
   malformed, or *path is at its end and there are no more steps. */
PHI__FN bool phi__json_get_path_step(const char **path, phi__json_step *step);

/* A value in a JSON text that was not parsed yet. */
typedef struct phi__json_found {
    phi_json_type type;
    phi_str raw;  /* borrowed from the text; without the quotes if it is a string */
    bool escaped; /* the string has escapes */
} phi__json_found;

/* Finds the value at a path (see phi_json_path) by scanning the text. An array is scanned up to the
   item. An object is scanned to its end, because the last of several equal keys counts. Returns
   PHI_OK, PHI_NOT_FOUND, PHI_BAD_ARG if the path is malformed, or PHI_PARSE if the scanned text is
   broken. In skipped values only brackets and the ends of strings are checked. */
PHI__FN phi_status phi__json_cursor_find(phi_str text, const char *path, phi__json_found *out);

/* Return the found value as a number or as a text. A text is borrowed, or unescaped into the arena.
   Bad UTF-8 and lone surrogates become U+FFFD. False: there is no memory, the value has another
   type, or the number does not fit. */
PHI__FN bool phi__json_cursor_found_str(phi_arena *arena, const phi__json_found *found,
                                        phi_str *out);
PHI__FN bool phi__json_cursor_found_int(const phi__json_found *found, int64_t *out);
PHI__FN bool phi__json_cursor_found_num(const phi__json_found *found, double *out);

static inline bool phi__json_white(char c) {
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* Returns the first byte in [at, end) that is not plain ASCII text (a quote, a backslash, a control
   character or a byte from 0x80), or end. */
PHI__FN const char *phi__json_text_plain_end(const char *at, const char *end);

/* Returns the value of `digits` hexadecimal digits (at most 8). UINT32_MAX: there are fewer. */
PHI__FN uint32_t phi__json_text_hex(const char *at, const char *end, size_t digits);

/* Returns the closing quote of the string that begins at `at`, after its opening quote; NULL: no
   closing quote. Sets *escaped if there is a backslash. Nothing else is checked. */
PHI__FN const char *phi__json_text_quote(const char *at, const char *end, bool *escaped);

/* Returns the length of the UTF-8 sequence at `at`; 0: the bytes there are no valid sequence. */
PHI__FN size_t phi__json_text_utf8(const char *at, const char *end);

typedef struct phi__json_cursor {
    const char *at, *end; /* borrowed text */
    bool first;           /* a container was just entered, so no comma is expected */
    bool bad;
} phi__json_cursor;

/* The raw bytes between the quotes of a string. */
typedef struct phi__json_text {
    const char *at;
    size_t len;
    bool escaped;
} phi__json_text;

PHI__FN void phi__json_cursor_init(phi__json_cursor *c, phi_str text);

/* Returns the type of the next value; PHI_JSON_NONE: there is no value. */
PHI__FN phi_json_type phi__json_cursor_peek(phi__json_cursor *c);

/* Enter the next value if it is an object or array. Then pull its keys or items until there are no
   more. False: the value has another type and is skipped. */
PHI__FN bool phi__json_cursor_enter_object(phi__json_cursor *c);
PHI__FN bool phi__json_cursor_enter_array(phi__json_cursor *c);

/* Enter the object or array at the start of a text. */
PHI__FN bool phi__json_cursor_in_object(phi__json_cursor *c, phi_str text);
PHI__FN bool phi__json_cursor_in_array(phi__json_cursor *c, phi_str text);

/* Returns the next key. Its value must be consumed next. False: the object ended, or the text is
   bad. */
PHI__FN bool phi__json_cursor_next_key(phi__json_cursor *c, phi__json_text *key);

/* True if there is an item, which must be consumed next. False: the array ended, or the text is
   bad. */
PHI__FN bool phi__json_cursor_next_item(phi__json_cursor *c);

/* Consumes the next item and returns its whole text. */
PHI__FN bool phi__json_cursor_next_raw(phi__json_cursor *c, phi_str *out);
PHI__FN bool phi__json_cursor_skip(phi__json_cursor *c);

/* Consumes the next value and returns its whole text. */
PHI__FN bool phi__json_cursor_take_raw(phi__json_cursor *c, phi_str *out);

/* Consume the next value. False: the value is broken, too large or of another type, and *out is
   unchanged. */
PHI__FN bool phi__json_cursor_take_text(phi__json_cursor *c, phi__json_text *out);
PHI__FN bool phi__json_cursor_take_i64(phi__json_cursor *c, int64_t *out); /* accepts 3.0 too */
PHI__FN bool phi__json_cursor_take_u64(phi__json_cursor *c, uint64_t *out);
PHI__FN bool phi__json_cursor_take_bool(phi__json_cursor *c, bool *out);

/* True if the whole text was consumed and nothing in it was bad. */
PHI__FN bool phi__json_cursor_done(phi__json_cursor *c);

/* Appends the text unescaped. Bad UTF-8, wrong escapes and lone surrogates become U+FFFD. */
PHI__FN void phi__json_cursor_unescape(phi__buf *out, phi__json_text text);

/* Copies the text unescaped into the arena, with a terminator. False: no memory. */
PHI__FN bool phi__json_cursor_unescape_arena(phi_arena *arena, phi__json_text text, phi_str *out);

/* True if the text, once unescaped, equals `plain`. */
PHI__FN bool phi__json_cursor_text_same(phi__json_text text, phi_str plain);

static inline bool phi__json_cursor_text_is(phi__json_text text, phi_str plain) {
    if (!text.escaped) return text.len == plain.len && memcmp(text.at, plain.at, plain.len) == 0;
    return phi__json_cursor_text_same(text, plain);
}

typedef enum phi__json_member_kind {
    PHI__MEMBER_TEXT, /* stored as phi__json_text */
    PHI__MEMBER_I64,
    PHI__MEMBER_U64,
    PHI__MEMBER_BOOL,
    PHI__MEMBER_RAW,    /* phi_str: JSON of any type; empty if it is broken */
    PHI__MEMBER_SOME,   /* phi_str: JSON of any type but null */
    PHI__MEMBER_OBJECT, /* phi_str: JSON of an object */
    PHI__MEMBER_ARRAY,  /* phi_str: JSON of an array */
    PHI__MEMBER_IN,     /* an object; the table `inner` has its members */
    PHI__MEMBER_FIRST,  /* an array; `inner` has the members of the array's first item */
    PHI__MEMBER_BY      /* the function `take` consumes the value */
} phi__json_member_kind;

typedef struct phi__json_member {
    const char *name;
    const struct phi__json_member *inner; /* for IN and FIRST */
    void (*take)(phi__json_cursor *c, void *at);
    uint16_t offset;
    uint8_t len, kind;
} phi__json_member;

/* The last row of a table. A table has at most 32 other rows. */
#define PHI__MEMBERS_END                                                                           \
    { NULL, NULL, NULL, 0, 0, 0 }
#define PHI__MEMBER(type, field, name, kind)                                                       \
    { (name), NULL, NULL, (uint16_t)offsetof(type, field), (uint8_t)(sizeof(name) - 1), (kind) }

/* An object whose members go into the same struct. */
#define PHI__MEMBER_INSIDE(name, inner)                                                            \
    { (name), (inner), NULL, 0, (uint8_t)(sizeof(name) - 1), PHI__MEMBER_IN }
#define PHI__MEMBER_INSIDE_FIRST(name, inner)                                                      \
    { (name), (inner), NULL, 0, (uint8_t)(sizeof(name) - 1), PHI__MEMBER_FIRST }

/* A member that a function reads. The function gets the address of a field, or of the struct. */
#define PHI__MEMBER_TAKE(type, field, name, take)                                                  \
    {                                                                                              \
        (name), NULL, (take), (uint16_t)offsetof(type, field), (uint8_t)(sizeof(name) - 1),        \
            PHI__MEMBER_BY                                                                         \
    }
#define PHI__MEMBER_TAKE_ALL(name, take)                                                           \
    { (name), NULL, (take), 0, (uint8_t)(sizeof(name) - 1), PHI__MEMBER_BY }

/* Consumes an object and keeps the members that the table has. Returns a bit for each row whose
   member was in the object, whatever its type. */
PHI__FN uint32_t phi__json_members_take(phi__json_cursor *c, const phi__json_member *members,
                                        void *to);

/* Reads a text that must be one whole object. False: the text is not. If `seen` is not NULL, *seen
   gets the bits that phi__json_members_take returns. */
PHI__FN bool phi__json_members_read(phi_str text, const phi__json_member *members, void *to,
                                    uint32_t *seen);

/* An open array or object. */
typedef struct phi__json_frame {
    uint32_t path_len; /* length of the path of this array or object */
    uint32_t count;    /* items of an array that have begun */
    bool object;
} phi__json_frame;

typedef struct phi__json_fields {
    phi__buf path;
    phi__json_frame *open;
    size_t depth, cap;
    size_t at;    /* bytes of the text that are read */
    size_t token; /* start of the current string, number or word */
    uint8_t state;
    phi_status status; /* PHI_BUSY until there is an error */
} phi__json_fields;

PHI__FN void phi__json_fields_init(phi__json_fields *f, phi_memory *memory);
/* leaves *f as after init; may be called twice */
PHI__FN void phi__json_fields_free(phi__json_fields *f);

/* Returns the next value of a growing JSON text. `text` is all of the text so far. Returns 1 for a
   value: path is its JSON Pointer (RFC 6901), valid until the next call, and *value is its text
   (unchanged; a string has its quotes). Returns 0 if more text is needed, or PHI_PARSE if the text
   is no JSON. After PHI_PARSE, PHI_TOO_BIG and PHI_NO_MEMORY there are no more values. */
PHI__FN int phi__json_fields_next(phi__json_fields *f, phi_str text, phi_str *path, phi_str *value);

typedef struct phi__json_index {
    phi_arena *arena;
    phi__map map;
    uint64_t walked; /* counter of compared members, for tests */
    bool shed;       /* members with equal names were removed; the user clears this flag */
} phi__json_index;

PHI__FN void phi__json_index_init(phi__json_index *index, phi_memory *memory, phi_arena *arena);
PHI__FN void phi__json_index_free(phi__json_index *index); /* may be called twice */

/* Finds a member. *found is NULL if there is no such member. False: no memory. */
PHI__FN bool phi__json_index_get(phi__json_index *index, phi_json *object, phi_str key,
                                 phi_json **found);

/* Replaces the member in its place, or appends it. The value must be in no container. False: no
   memory. Replacing a member by a value that already has its name cannot fail. */
PHI__FN bool phi__json_index_set(phi__json_index *index, phi_json *object, phi_str key,
                                 phi_json *value);

/* Removes the member, which is then in no container. False: no memory. This cannot happen after
   another call with this object. */
PHI__FN bool phi__json_index_remove(phi__json_index *index, phi_json *object, phi_str key,
                                    phi_json **removed);

/* Lines and columns count from 1, columns in bytes. 0: there is no position. */
typedef struct phi__marks_entry {
    const phi_json *node; /* NULL: a free slot */
    uint32_t line, column;
    uint32_t key_line, key_column;
} phi__marks_entry;

typedef struct phi__marks {
    phi_arena *arena;
    phi__marks_entry *slots;
    size_t cap, count; /* cap: a power of two, or 0 */
    bool failed;       /* there was no memory for a position */
} phi__marks;

/* True if the reader keeps the positions of nodes. Only some parts of phi ask for them. */
#define PHI__MARKED(reader) ((reader)->marks != NULL)

PHI__FN void phi__marks_init(phi__marks *marks, phi_arena *arena);

/* Store the position of a node's value, or of its key. The two may be called in any order. */
PHI__FN void phi__marks_add(phi__marks *marks, const phi_json *node, uint32_t line,
                            uint32_t column);
PHI__FN void phi__marks_add_key(phi__marks *marks, const phi_json *node, uint32_t line,
                                uint32_t column);

/* Finds the position of a node's value. False: there is none, and *line and *column are 0. */
PHI__FN bool phi__marks_find(const phi__marks *marks, const phi_json *node, uint32_t *line,
                             uint32_t *column);

/* Finds the position of a member's key. False: there is none, and *line and *column are 0. */
PHI__FN bool phi__marks_key(const phi__marks *marks, const phi_json *node, uint32_t *line,
                            uint32_t *column);

typedef enum phi__field_kind {
    PHI__FIELD_STR, /* stored as phi_str */
    PHI__FIELD_BOOL,
    /* Any integer or enum that is not negative. A value that is too large becomes the largest. */
    PHI__FIELD_UINT,
    PHI__FIELD_DOUBLE,
    /* int64_t in Unix milliseconds; in JSON a date and time in UTC. */
    PHI__FIELD_TIME
} phi__field_kind;

/* How an empty string, false and zero are written. A missing member is read as empty. */
typedef enum phi__field_rule {
    PHI__FIELD_ALWAYS, /* an empty value is written as it is */
    PHI__FIELD_SET,    /* an empty value is left out */
    PHI__FIELD_OPTION  /* an empty value is written as null */
} phi__field_rule;

typedef struct phi__field {
    const char *key;
    uint16_t offset;
    uint8_t size, kind, rule;
} phi__field;

#define PHI__FIELD(type, member, key, kind, rule)                                                  \
    {                                                                                              \
        (key), (uint16_t)offsetof(type, member), (uint8_t)sizeof(((type *)0)->member), (kind),     \
            (rule)                                                                                 \
    }

/* A field whose key is its name in the struct: PHI__KEYED(phi_usage, input, UINT, ALWAYS). */
#define PHI__KEYED(type, member, kind, rule)                                                       \
    PHI__FIELD(type, member, #member, PHI__FIELD_##kind, PHI__FIELD_##rule)

/* Writes the fields of a struct as members, with commas where they are needed. */
PHI__FN void phi__records_put(phi__buf *out, const phi__field *fields, size_t count,
                              const void *from);

/* Write and read all fields of an array of phi__field. */
#define PHI__RECORDS_PUT(out, fields, from)                                                        \
    phi__records_put((out), (fields), PHI__COUNT(fields), (from))
#define PHI__RECORDS_GET(node, fields, to, arena)                                                  \
    phi__records_get((node), (fields), PHI__COUNT(fields), (to), (arena))

/* Sets every field of the table. A field whose member is missing or of another type becomes "",
   false or zero. Strings are borrowed from the tree, or copied if there is an arena. False: no
   memory. */
PHI__FN bool phi__records_get(const phi_json *node, const phi__field *fields, size_t count,
                              void *to, phi_arena *arena);

PHI__FN void phi__records_str(phi__buf *out, const char *key, phi_str value);
/* an empty value is written as null */
PHI__FN void phi__records_option(phi__buf *out, const char *key, phi_str value);
/* an empty value is left out */
PHI__FN void phi__records_some(phi__buf *out, const char *key, phi_str value);
PHI__FN void phi__records_u64(phi__buf *out, const char *key, uint64_t n);
PHI__FN void phi__records_i64(phi__buf *out, const char *key, int64_t n);
PHI__FN void phi__records_double(phi__buf *out, const char *key, double d);
PHI__FN void phi__records_bool(phi__buf *out, const char *key, bool b);
PHI__FN void phi__records_true(phi__buf *out, const char *key, bool b); /* false is left out */
PHI__FN void phi__records_time(phi__buf *out, const char *key, int64_t ms);

/* Writes the key and the strings as an array. */
PHI__FN void phi__records_strs(phi__buf *out, const char *key, const phi_str *items, size_t count);

/* Writes the key and then `json` as it is: "null", or the bracket that opens a value. */
PHI__FN void phi__records_raw(phi__buf *out, const char *key, const char *json);

/* Read one member. A member that is missing or of another type gives zero, "" or false. A number
   above the type's range gives the largest value, and one above 2^64 - 1 gives 0. */
PHI__FN uint64_t phi__records_get_u64(const phi_json *node, const char *key);
PHI__FN uint32_t phi__records_get_u32(const phi_json *node, const char *key);
PHI__FN size_t phi__records_get_size(const phi_json *node, const char *key);
PHI__FN double phi__records_get_double(const phi_json *node, const char *key);
PHI__FN bool phi__records_get_bool(const phi_json *node, const char *key);
PHI__FN phi_str phi__records_get_str(const phi_json *node, const char *key);
PHI__FN int64_t phi__records_get_time(const phi_json *node, const char *key);

/* Checks as phi_schema_check does, but in linear time for objects of any size, because names are
   looked up in a table. If there is no memory for the table, it works as phi_schema_check does. */
PHI__FN phi_status phi__schema_check(phi_memory *memory, const phi_json *schema,
                                     const phi_json *value, const char *name,
                                     phi_schema_error *error);

/* Checks a schema. PHI_OK: it is well formed and fully supported. PHI_UNSUPPORTED: a restricting
   keyword is not supported. The message is then, for example: schema.properties.path: "pattern" is
   not supported. PHI_PARSE: the schema is malformed. PHI_TOO_BIG: the schema is nested too
   deeply. */
PHI__FN phi_status phi__schema_valid(const phi_json *schema, phi_schema_error *error);

/* True if a key equals a step of a JSON Pointer, in which ~1 is a slash and ~0 a tilde. */
PHI__FN bool phi__schema_same_step(phi_str key, phi_str step);
#define PHI__SSE_EVENT_MOST (16u << 20) /* bytes of an event, by default */

typedef struct phi__sse_event {
    phi_str name; /* text of the "event:" line; empty: no such line */
    phi_str data;
} phi__sse_event;

/* Where to resume a stream: after its last complete event. The owner calls init and free. */
typedef struct phi__sse_resume {
    phi__buf id;      /* id of the last event with an id, even if it had no data; empty: none */
    phi__buf id_next; /* id of the current event */
    bool has_next;
    bool has_retry;
    uint64_t retry_ms; /* how long to wait before the stream is opened again */
} phi__sse_resume;

PHI__FN void phi__sse_resume_init(phi__sse_resume *resume, phi_memory *memory);
PHI__FN void phi__sse_resume_free(phi__sse_resume *resume); /* may be called twice */

typedef struct phi__sse {
    phi__buf line; /* the beginning of a line whose end was not fed yet */
    phi__buf data; /* earlier data lines of the current event */
    phi__buf name;
    phi_str view;         /* the only data line so far, if it is in the fed bytes */
    const char *at, *end; /* fed bytes that are not read yet */
    size_t max_event_bytes;
    uint64_t comments; /* comment lines so far; servers send them as keep-alives */
    uint64_t events;   /* events returned so far */
    /* bytes of a byte order mark seen so far; 3: the mark was skipped, or there is none */
    uint32_t bom;
    bool has_data, viewed, skip_lf, handed;
    bool strays; /* accept stray JSON lines as events; set after init */
    bool stray;  /* the current or last returned event is stray JSON */
    phi_status status;
    /* gets ids and retry times (NULL: nothing does); borrowed; set after init */
    phi__sse_resume *resume;
} phi__sse;

/* max_event_bytes limits the data and name of one event, and one line (default 16 MiB). */
PHI__FN void phi__sse_init(phi__sse *sse, phi_memory *memory, size_t max_event_bytes);
PHI__FN void phi__sse_free(phi__sse *sse); /* may be called twice */

/* Sets `resume`, which gets the ids of the stream. Call this before the first byte is fed. Drops
   the id of an event that was cut off in an earlier stream. */
PHI__FN void phi__sse_resume_with(phi__sse *sse, phi__sse_resume *resume);

/* Passes the next bytes, which are borrowed. Call this only after next has returned 0 for the
   earlier bytes. */
PHI__FN void phi__sse_feed(phi__sse *sse, const char *bytes, size_t len);

/* Returns 1 for an event, or 0 if more bytes are needed. After PHI_TOO_BIG or PHI_NO_MEMORY the
   parser can only be freed. */
PHI__FN int phi__sse_next(phi__sse *sse, phi__sse_event *out);

/* Call this after the last byte, when next has returned 0. Works like next, but also returns an
   event that no blank line ended; after that event it returns 0. */
PHI__FN int phi__sse_finish(phi__sse *sse, phi__sse_event *out);

/* ---- src/text/json_in.h ---- */

/* json_in.h - shared by the files of text/, not for other rooms. */

/* MSVC has no __SSE2__: every x64 processor has it, and 32-bit code by /arch:SSE2, the default. */
#if defined(__SSE2__) || (defined(PHI__MSVC) && defined(_M_X64) && !defined(_M_ARM64EC)) ||        \
    (defined(PHI__MSVC) && defined(_M_IX86_FP) && _M_IX86_FP >= 2)
#define PHI__JSON_SSE2 1
#include <emmintrin.h>
#endif

enum {
    PHI__SSE_ID_MOST = 1024,
    PHI__JSON_FIELDS_DEPTH = 64,    /* open arrays and objects; deeper is PHI_TOO_BIG */
    PHI__JSON_FIELDS_PATH = 1024,   /* bytes of a path; a longer one is PHI_TOO_BIG */
    PHI__JSON_FIELDS_NUMBER = 65536 /* bytes of a number, as in the reader */
};

PHI__FN bool phi__json_cursor_take_num(phi__json_cursor *c, double *out);

/* ---- numbers, and hashes of members ---- */

/* Returns the first byte in [at, end) that cannot be part of a number. */
static inline const char *phi__json_number_bytes(const char *at, const char *end) {
    while (at < end && (phi__is_digit(*at) || *at == '.' || *at == '-' || *at == '+' ||
                        *at == 'e' || *at == 'E'))
        at++;
    return at;
}

/* Returns the hash of an object's member for a table, whose address is the seed. */
static inline uint64_t phi__json_member_hash(const void *table, const phi_json *object,
                                             phi_str key) {
    uint64_t of = (uint64_t)(uintptr_t)object * UINT64_C(0x9e3779b97f4a7c15);
    return phi__map_hash((uint64_t)(uintptr_t)table ^ of ^ of >> 32, key);
}

/* ---- strings ---- */
#if defined(PHI__JSON_SSE2)
/* Returns a bit for each byte that is not plain. The comparison with a space is signed, so it also
   finds bytes from 0x80 on. */
static inline int phi__json_special(__m128i block) {
    return _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(block, _mm_set1_epi8('"')),
                                                       _mm_cmpeq_epi8(block, _mm_set1_epi8('\\'))),
                                          _mm_cmplt_epi8(block, _mm_set1_epi8(' '))));
}

/* Returns the place of the lowest bit that is set. mask must not be 0. */
static inline int phi__json_lowest_bit(int mask) {
#if defined(PHI__MSVC)
    unsigned long at;
    (void)_BitScanForward(&at, (unsigned long)mask);
    return (int)at;
#else
    return __builtin_ctz((unsigned)mask);
#endif
}

#endif
#define PHI__JSON_ONES UINT64_C(0x0101010101010101)

/* Returns a word in which the highest bit of each zero byte is set. Only the lowest set bit is
   sure. */
static inline uint64_t phi__json_zero_bytes(uint64_t word) {
    return (word - PHI__JSON_ONES) & ~word & PHI__JSON_ONES << 7;
}

static inline bool phi__json_is_plain(char c) {
    unsigned char u = (unsigned char)c;
    return u >= 0x20 && u < 0x80 && u != '"' && u != '\\';
}

/* True if one of eight bytes is not plain. */
static inline bool phi__json_special_word(const char *at) {
    uint64_t word;
    memcpy(&word, at, 8);
    return ((word | phi__json_zero_bytes(word ^ PHI__JSON_ONES * '"') |
             phi__json_zero_bytes(word ^ PHI__JSON_ONES * '\\') |
             ((word - PHI__JSON_ONES * ' ') & ~word)) &
            PHI__JSON_ONES << 7) != 0;
}

/* Returns the first byte that is not plain, or end; the first bytes are checked inline. */
static inline const char *phi__json_plain_short(const char *at, const char *end) {
#if defined(PHI__JSON_SSE2)
    if (end - at >= 16) {
        __m128i block = _mm_loadu_si128((const __m128i *)(const void *)at);
        int mask = phi__json_special(block);
        if (mask != 0) return at + phi__json_lowest_bit(mask);
        at += 16;
    }
#endif
    return phi__json_text_plain_end(at, end);
}

/* Like phi__json_text_quote; the first bytes are checked inline. */
static inline const char *phi__json_quote_short(const char *at, const char *end, bool *escaped) {
#if defined(PHI__JSON_SSE2)
    if (end - at >= 16) {
        __m128i block = _mm_loadu_si128((const __m128i *)(const void *)at);
        int quote = _mm_movemask_epi8(_mm_cmpeq_epi8(block, _mm_set1_epi8('"')));
        int escape = _mm_movemask_epi8(_mm_cmpeq_epi8(block, _mm_set1_epi8('\\')));
        *escaped = false;
        /* the first quote has no backslash before it */
        if (quote != 0 && (escape & (quote - 1) & ~quote) == 0)
            return at + phi__json_lowest_bit(quote);
        if (escape == 0) at += 16;
    }
#endif
    return phi__json_text_quote(at, end, escaped);
}

/* Returns the length of the escape at the backslash `at`: 2, 6, or 12 for a surrogate pair. Sets
   code to its code point, or to a lone surrogate. Returns 0 if the escape is wrong or cut off. */
PHI__FN size_t phi__json_text_escape(const char *at, const char *end, uint32_t *code);

/* Unescapes about `most` bytes of [at, end) to *to, and advances *to. Takes at least one byte, only
   whole sequences, and at most `most` + PHI__JSON_RUN_MORE bytes. Bad bytes become U+FFFD, so up to
   three times as many bytes are written. Without bad bytes no more bytes are written than taken, so
   the function may work in place. Returns the first byte that was not taken. */
#define PHI__JSON_RUN_MORE 12
PHI__FN const char *phi__json_text_unescape_run(const char *at, const char *end, size_t most,
                                                char **to);

/* ---- src/text/json_cursor.c ---- */

/* json_cursor.c - scans a JSON text value by value, without a tree; finds a value by its path. */

/* Skips white space and returns the next byte. 0: the text ended, or the cursor was bad before. */
static inline char phi__cursor_next(phi__json_cursor *c) {
    while (c->at < c->end && phi__json_white(*c->at)) c->at++;
    return c->at < c->end ? *c->at : '\0';
}

static bool phi__cursor_bad(phi__json_cursor *c) {
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

PHI__FN phi_json_type phi__json_cursor_peek(phi__json_cursor *c) {
    char first = phi__cursor_next(c);
    switch (first) {
    case '"': return PHI_JSON_STRING;
    case '{': return PHI_JSON_OBJECT;
    case '[': return PHI_JSON_ARRAY;
    case 't':
    case 'f': return PHI_JSON_BOOL;
    case 'n': return PHI_JSON_NULL;
    default: return first == '-' || phi__is_digit(first) ? PHI_JSON_NUMBER : PHI_JSON_NONE;
    }
}

/* ---- skipping ---- */

/* Skips a number or a literal, which must end at a bracket, a comma or white space. */
static bool phi__cursor_skip_word(phi__json_cursor *c) {
    const char *at = c->at;
    size_t left = (size_t)(c->end - at);
    if (left >= 4 && (memcmp(at, "null", 4) == 0 || memcmp(at, "true", 4) == 0))
        at += 4;
    else if (left >= 5 && memcmp(at, "false", 5) == 0)
        at += 5;
    else if (*at == '-' || phi__is_digit(*at))
        at = phi__json_number_bytes(at, c->end);
    else
        return phi__cursor_bad(c);
    if (at < c->end && *at != ',' && *at != '}' && *at != ']' && !phi__json_white(*at))
        return phi__cursor_bad(c);
    c->at = at;
    return true;
}

static inline bool phi__cursor_skip_string(phi__json_cursor *c) {
    bool escaped;
    const char *quote = phi__json_quote_short(c->at + 1, c->end, &escaped);
    if (quote == NULL) return phi__cursor_bad(c);
    c->at = quote + 1;
    return true;
}

/* Skips from an opening bracket to the matching closing one. `kinds` has a bit for each open
   bracket. */
static bool phi__cursor_skip_nested(phi__json_cursor *c) {
    uint32_t kinds[PHI_JSON_MAX_DEPTH / 32], depth = 0;
    while (c->at < c->end) {
        char b = *c->at;
        if (b == '"') {
            if (!phi__cursor_skip_string(c)) return false;
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
    return phi__cursor_bad(c);
}

PHI__FN bool phi__json_cursor_skip(phi__json_cursor *c) {
    char b = phi__cursor_next(c);
    c->first = false;
    if (b == '"') return phi__cursor_skip_string(c);
    if (b == '{' || b == '[') return phi__cursor_skip_nested(c);
    return c->at < c->end ? phi__cursor_skip_word(c) : phi__cursor_bad(c);
}

/* Skips a value of an unwanted type. Returns false. */
static bool phi__cursor_other(phi__json_cursor *c) {
    (void)phi__json_cursor_skip(c);
    return false;
}

/* ---- pulling ---- */

static inline bool phi__cursor_enter(phi__json_cursor *c, char bracket) {
    if (phi__cursor_next(c) != bracket) return phi__cursor_other(c);
    c->at++;
    c->first = true;
    return true;
}

PHI__FN bool phi__json_cursor_enter_object(phi__json_cursor *c) {
    return phi__cursor_enter(c, '{');
}

PHI__FN bool phi__json_cursor_enter_array(phi__json_cursor *c) { return phi__cursor_enter(c, '['); }

PHI__FN bool phi__json_cursor_in_object(phi__json_cursor *c, phi_str text) {
    phi__json_cursor_init(c, text);
    return text.len > 0 && phi__cursor_enter(c, '{');
}

PHI__FN bool phi__json_cursor_in_array(phi__json_cursor *c, phi_str text) {
    phi__json_cursor_init(c, text);
    return text.len > 0 && phi__cursor_enter(c, '[');
}

/* Moves to the start of the next member or item. False: the container ended, or the text is bad. */
static inline bool phi__cursor_step(phi__json_cursor *c, char closing) {
    char b = phi__cursor_next(c);
    if (b == closing) {
        c->at++;
        c->first = false;
        return false;
    }
    if (!c->first) {
        if (b != ',') return phi__cursor_bad(c);
        c->at++;
        (void)phi__cursor_next(c);
    }
    c->first = false;
    return true;
}

PHI__FN bool phi__json_cursor_next_key(phi__json_cursor *c, phi__json_text *key) {
    const char *at = c->at, *end = c->end;
    /* this path is for texts without white space */
    if (!c->first && end - at > 1 && at[0] == ',' && at[1] == '"')
        at++;
    else {
        if (!phi__cursor_step(c, '}')) return false;
        at = c->at;
        if (at == end || *at != '"') return phi__cursor_bad(c);
    }
    const char *quote = phi__json_quote_short(at + 1, end, &key->escaped);
    if (quote == NULL) return phi__cursor_bad(c);
    key->at = at + 1;
    key->len = (size_t)(quote - key->at);
    c->at = quote + 1;
    if ((c->at == end || *c->at != ':') && phi__cursor_next(c) != ':') return phi__cursor_bad(c);
    c->at++;
    return true;
}

PHI__FN bool phi__json_cursor_next_item(phi__json_cursor *c) {
    if (!phi__cursor_step(c, ']')) return false;
    if (c->at == c->end || *c->at == ']') return phi__cursor_bad(c);
    return true;
}

PHI__FN bool phi__json_cursor_take_raw(phi__json_cursor *c, phi_str *out) {
    (void)phi__cursor_next(c);
    const char *start = c->at;
    if (!phi__json_cursor_skip(c)) return false;
    *out = phi__str(start, (size_t)(c->at - start));
    return true;
}

PHI__FN bool phi__json_cursor_take_text(phi__json_cursor *c, phi__json_text *out) {
    bool escaped;
    if (phi__cursor_next(c) != '"') return phi__cursor_other(c);
    const char *quote = phi__json_quote_short(c->at + 1, c->end, &escaped);
    if (quote == NULL) return phi__cursor_bad(c);
    out->at = c->at + 1;
    out->len = (size_t)(quote - out->at);
    out->escaped = escaped;
    c->at = quote + 1;
    c->first = false;
    return true;
}

PHI__FN bool phi__json_cursor_next_raw(phi__json_cursor *c, phi_str *out) {
    return phi__json_cursor_next_item(c) && phi__json_cursor_take_raw(c, out);
}

static bool phi__cursor_take_number(phi__json_cursor *c, phi__json_number *out) {
    const char *bad;
    if (phi__json_cursor_peek(c) != PHI_JSON_NUMBER) return phi__cursor_other(c);
    const char *end = phi__json_number_read(c->at, c->end, out, &bad);
    if (end == NULL) return phi__cursor_other(c); /* not a number: skipped like a word */
    c->at = end;
    c->first = false;
    return true;
}

PHI__FN bool phi__json_cursor_take_i64(phi__json_cursor *c, int64_t *out) {
    phi__json_number n;
    return phi__cursor_take_number(c, &n) && phi__json_get_number_i64(&n, out);
}

PHI__FN bool phi__json_cursor_take_u64(phi__json_cursor *c, uint64_t *out) {
    phi__json_number n;
    return phi__cursor_take_number(c, &n) && phi__json_get_number_u64(&n, out);
}

PHI__FN bool phi__json_cursor_take_num(phi__json_cursor *c, double *out) {
    phi__json_number n;
    if (!phi__cursor_take_number(c, &n)) return false;
    *out = phi__json_get_number_double(&n);
    return true;
}

PHI__FN bool phi__json_cursor_take_bool(phi__json_cursor *c, bool *out) {
    char b = phi__cursor_next(c);
    if (!phi__json_cursor_skip(c)) return false;
    if (b != 't' && b != 'f') return false;
    *out = b == 't';
    return true;
}

PHI__FN bool phi__json_cursor_done(phi__json_cursor *c) {
    (void)phi__cursor_next(c);
    return !c->bad && c->at == c->end;
}

/* ---- strings ---- */

#define PHI__JSON_UNESCAPE_SLICE 256u /* bytes; three times as many are reserved */

PHI__FN void phi__json_cursor_unescape(phi__buf *out, phi__json_text text) {
    const char *at = text.at, *end = text.at + text.len;
    while (at < end) {
        const char *plain = phi__json_text_plain_end(at, end);
        char *to, *start;
        phi__buf_add(out, at, (size_t)(plain - at));
        size_t slice = phi__min((size_t)(end - plain), PHI__JSON_UNESCAPE_SLICE);
        if (slice == 0) return;
        start = to = phi__buf_reserve(out, 3 * (slice + PHI__JSON_RUN_MORE));
        if (to == NULL) return;
        at = phi__json_text_unescape_run(plain, end, slice, &to);
        phi__buf_add_len(out, (size_t)(to - start));
    }
}

static size_t phi__cursor_unescaped_len(phi__json_text text) {
    const char *at = text.at, *end = text.at + text.len;
    size_t len = 0;
    while (at < end) {
        char few[3 * (64 + PHI__JSON_RUN_MORE)], *to = few;
        const char *plain = phi__json_text_plain_end(at, end);
        len += (size_t)(plain - at);
        at = plain < end ? phi__json_text_unescape_run(plain, end, 64, &to) : end;
        len += (size_t)(to - few);
    }
    return len;
}

PHI__FN bool phi__json_cursor_unescape_arena(phi_arena *arena, phi__json_text text, phi_str *out) {
    if (text.len > SIZE_MAX / 4) return false; /* a byte may become three bytes */
    size_t len = phi__cursor_unescaped_len(text);
    char *copy = phi__arena_bytes(arena, len + 1), *to = copy;
    const char *end = text.at + text.len;
    if (copy == NULL) return false;
    if (text.len > 0) (void)phi__json_text_unescape_run(text.at, end, text.len, &to);
    *to = '\0';
    *out = phi__str(copy, len);
    return true;
}

PHI__FN bool phi__json_cursor_text_same(phi__json_text text, phi_str plain) {
    const char *at = text.at, *end = text.at + text.len;
    while (at < end) {
        char few[3 * (1 + PHI__JSON_RUN_MORE)], *to = few;
        at = phi__json_text_unescape_run(at, end, 1, &to);
        size_t len = (size_t)(to - few);
        if (len > plain.len || memcmp(few, plain.at, len) != 0) return false;
        plain = phi__str_from(plain, len);
    }
    return plain.len == 0;
}

/* ---- finding a value by its path ---- */

/* Moves to the member or item that one step of the path names. */
static bool phi__cursor_find_step(phi__json_cursor *c, const phi__json_step *step) {
    size_t left = step->index;
    if (!step->is_index) {
        /* Moves to the last member of that name, as phi_json_get does. */
        phi_str name = step->key;
        const char *found = NULL;
        phi__json_text key;
        if (!phi__json_cursor_enter_object(c)) return false;
        while (phi__json_cursor_next_key(c, &key)) {
            if (phi__json_cursor_text_is(key, name)) found = c->at;
            if (!phi__json_cursor_skip(c)) return false;
        }
        if (found == NULL || c->bad) return false;
        c->at = found;
        return true;
    }
    if (!phi__json_cursor_enter_array(c)) return false;
    while (phi__json_cursor_next_item(c)) {
        if (left-- == 0) return true;
        if (!phi__json_cursor_skip(c)) return false;
    }
    return false;
}

PHI__FN phi_status phi__json_cursor_find(phi_str text, const char *path, phi__json_found *out) {
    phi__json_cursor c;
    phi__json_step step;
    phi__json_text string;
    if (text.at == NULL || path == NULL || out == NULL) return PHI_BAD_ARG;
    phi__json_cursor_init(&c, text);
    while (phi__json_get_path_step(&path, &step))
        if (!phi__cursor_find_step(&c, &step)) return c.bad ? PHI_PARSE : PHI_NOT_FOUND;
    if (*path != '\0') return PHI_BAD_ARG;
    out->type = phi__json_cursor_peek(&c);
    out->escaped = false;
    if (out->type == PHI_JSON_STRING) {
        if (!phi__json_cursor_take_text(&c, &string)) return PHI_PARSE;
        out->raw = phi__str(string.at, string.len);
        out->escaped = string.escaped;
        return PHI_OK;
    }
    return phi__json_cursor_take_raw(&c, &out->raw) ? PHI_OK : PHI_PARSE;
}

PHI__FN bool phi__json_cursor_found_str(phi_arena *arena, const phi__json_found *found,
                                        phi_str *out) {
    phi__json_text text;
    if (found == NULL || found->type != PHI_JSON_STRING) return false;
    text.at = found->raw.at;
    text.len = found->raw.len;
    text.escaped = found->escaped;
    if (phi__utf8_valid(found->raw) == found->raw.len && !found->escaped) {
        *out = found->raw;
        return true;
    }
    return phi__json_cursor_unescape_arena(arena, text, out);
}

PHI__FN bool phi__json_cursor_found_int(const phi__json_found *found, int64_t *out) {
    phi__json_cursor c;
    if (found == NULL || found->type != PHI_JSON_NUMBER) return false;
    phi__json_cursor_init(&c, found->raw);
    return phi__json_cursor_take_i64(&c, out) && phi__json_cursor_done(&c);
}

PHI__FN bool phi__json_cursor_found_num(const phi__json_found *found, double *out) {
    phi__json_cursor c;
    if (found == NULL || found->type != PHI_JSON_NUMBER) return false;
    phi__json_cursor_init(&c, found->raw);
    return phi__json_cursor_take_num(&c, out) && phi__json_cursor_done(&c);
}

/* ---- tables of members ----

   A table says which members of an object are kept, and where in a struct they go:

       static const phi__json_member members[] = {
           PHI__MEMBER(struct event, type, "type", PHI__MEMBER_TEXT),
           PHI__MEMBER_INSIDE("delta", delta_members), PHI__MEMBERS_END};

       struct event event = PHI_ZERO;
       good = phi__json_members_read(data, members, &event, NULL);

   A member that is missing, null or of another type leaves its field unchanged, except for RAW and
   BY. The last of several equal names counts. All other members are skipped. A function (BY) reads
   members that a table cannot describe. */

static void phi__members_raw(phi__json_cursor *c, bool wanted, phi_str *out) {
    if (!wanted)
        (void)phi__json_cursor_skip(c);
    else if (!phi__json_cursor_take_raw(c, out))
        out->len = 0;
}

/* Names are short, so comparing them by a few loads is faster than calling memcmp. */
static inline bool phi__members_is(const phi__json_member *m, const phi__json_text *key) {
    const char *a = m->name, *b = key->at;
    size_t n = m->len;
    uint32_t x[2], y[2];
    if (n != key->len) return false;
    if (n > 8) return memcmp(a, b, n) == 0;
    if (n < 4) {
        while (n > 0 && a[n - 1] == b[n - 1]) n--;
        return n == 0;
    }
    memcpy(&x[0], a, 4);
    memcpy(&y[0], b, 4);
    memcpy(&x[1], a + n - 4, 4);
    memcpy(&y[1], b + n - 4, 4);
    return x[0] == y[0] && x[1] == y[1];
}

/* Returns the row with that name, searching from `at` to `end` or to the table's end. NULL: no such
   row. */
static const phi__json_member *phi__members_look(const phi__json_member *at,
                                                 const phi__json_member *end,
                                                 const phi__json_text *key) {
    for (; at != end && at->name != NULL; at++)
        if (key->escaped ? phi__json_cursor_text_same(*key, phi__str(at->name, at->len))
                         : phi__members_is(at, key))
            return at;
    return NULL;
}

PHI__FN uint32_t phi__json_members_take(phi__json_cursor *c, const phi__json_member *members,
                                        void *to) {
    const phi__json_member *next = members; /* members mostly come in the table's order */
    phi__json_text key;
    uint32_t seen = 0;
    if (!phi__json_cursor_enter_object(c)) return 0;
    while (phi__json_cursor_next_key(c, &key)) {
        const phi__json_member *m = next;
        if (m->name == NULL || key.escaped || !phi__members_is(m, &key)) {
            m = phi__members_look(next, NULL, &key);
            if (m == NULL) m = phi__members_look(members, next, &key);
            if (m == NULL) {
                (void)phi__json_cursor_skip(c);
                continue;
            }
        }
        next = m + 1;
        seen |= (uint32_t)1 << (m - members);
        void *at = (char *)to + m->offset;
        phi_json_type type;
        switch (m->kind) {
        case PHI__MEMBER_TEXT: (void)phi__json_cursor_take_text(c, (phi__json_text *)at); break;
        case PHI__MEMBER_I64: (void)phi__json_cursor_take_i64(c, (int64_t *)at); break;
        case PHI__MEMBER_U64: (void)phi__json_cursor_take_u64(c, (uint64_t *)at); break;
        case PHI__MEMBER_BOOL: (void)phi__json_cursor_take_bool(c, (bool *)at); break;
        case PHI__MEMBER_RAW: phi__members_raw(c, true, (phi_str *)at); break;
        case PHI__MEMBER_SOME:
        case PHI__MEMBER_OBJECT:
        case PHI__MEMBER_ARRAY:
            type = phi__json_cursor_peek(c);
            phi__members_raw(c,
                             m->kind == PHI__MEMBER_SOME     ? type != PHI_JSON_NULL
                             : m->kind == PHI__MEMBER_OBJECT ? type == PHI_JSON_OBJECT
                                                             : type == PHI_JSON_ARRAY,
                             (phi_str *)at);
            break;
        case PHI__MEMBER_IN: (void)phi__json_members_take(c, m->inner, at); break;
        case PHI__MEMBER_FIRST:
            if (!phi__json_cursor_enter_array(c)) break;
            if (phi__json_cursor_next_item(c)) (void)phi__json_members_take(c, m->inner, at);
            while (phi__json_cursor_next_item(c)) (void)phi__json_cursor_skip(c);
            break;
        default: m->take(c, at); break;
        }
    }
    return seen;
}

PHI__FN bool phi__json_members_read(phi_str text, const phi__json_member *members, void *to,
                                    uint32_t *seen) {
    phi__json_cursor c;
    if (text.len == 0) return false;
    phi__json_cursor_init(&c, text);
    if (phi__json_cursor_peek(&c) != PHI_JSON_OBJECT) return false;
    uint32_t found = phi__json_members_take(&c, members, to);
    if (seen != NULL) *seen = found;
    return phi__json_cursor_done(&c);
}
#undef PHI__JSON_UNESCAPE_SLICE

/* ---- src/text/json_fields.c ---- */

/* json_fields.c - a state machine over the bytes of a growing text: each call continues where the
   last one stopped.

   No byte is read twice, except the bytes of keys and of a cut number or escape. */

enum phi__json_field_state {
    PHI__JSON_FIELD_VALUE,
    PHI__JSON_FIELD_FIRST_ITEM, /* an item or the closing bracket is next */
    PHI__JSON_FIELD_FIRST_KEY,  /* a key or the closing bracket is next */
    PHI__JSON_FIELD_KEY,
    PHI__JSON_FIELD_COLON,
    PHI__JSON_FIELD_AFTER, /* a comma or a closing bracket is next */
    PHI__JSON_FIELD_END,
    PHI__JSON_FIELD_IN_KEY, /* in this state and the next ones, a token has begun */
    PHI__JSON_FIELD_IN_STRING,
    PHI__JSON_FIELD_IN_NUMBER,
    PHI__JSON_FIELD_IN_WORD
};

/* The result of reading the next bytes. */
typedef enum phi__json_field_got {
    PHI__JSON_FIELD_MORE, /* read on */
    PHI__JSON_FIELD_CUT,  /* more text is needed */
    PHI__JSON_FIELD_FOUND,
    PHI__JSON_FIELD_WRONG /* f->status has the error */
} phi__json_field_got;

static phi__json_field_got phi__fields_fail(phi__json_fields *f, phi_status status) {
    f->status = status;
    return PHI__JSON_FIELD_WRONG;
}

static phi__json_field_got phi__fields_found(phi__json_fields *f, phi_str in, phi_str *value) {
    *value = in;
    f->state = f->depth > 0 ? PHI__JSON_FIELD_AFTER : PHI__JSON_FIELD_END;
    return PHI__JSON_FIELD_FOUND;
}

/* ---- the path ---- */

static phi__json_field_got phi__fields_path(phi__json_fields *f) {
    if (f->path.failed) return phi__fields_fail(f, PHI_NO_MEMORY);
    if (f->path.len > PHI__JSON_FIELDS_PATH) return phi__fields_fail(f, PHI_TOO_BIG);
    return PHI__JSON_FIELD_MORE;
}

/* Sets the path for a complete key; `raw` is the text between its quotes. */
static phi__json_field_got phi__fields_key(phi__json_fields *f, phi_str raw) {
    phi__json_text text;
    if (raw.len > 6 * (size_t)PHI__JSON_FIELDS_PATH) /* too long even if all bytes are escapes */
        return phi__fields_fail(f, PHI_TOO_BIG);
    f->path.len = f->open[f->depth - 1].path_len;
    phi__buf_char(&f->path, '/');
    size_t from = f->path.len;
    text.at = raw.at;
    text.len = raw.len;
    text.escaped = raw.len > 0 && memchr(raw.at, '\\', raw.len) != NULL;
    phi__json_cursor_unescape(&f->path, text);
    /* Escapes the path in place from byte `from` on: "~" becomes "~0", and "/" becomes "~1". */
    size_t more = 0, i;
    for (i = from; i < f->path.len; i++) more += f->path.at[i] == '~' || f->path.at[i] == '/';
    if (more != 0 && phi__buf_reserve(&f->path, more) != NULL) {
        i = f->path.len;
        size_t to = i + more;
        phi__buf_add_len(&f->path, more);
        while (to > i) {
            char c = f->path.at[--i];
            if (c == '~' || c == '/') {
                f->path.at[--to] = c == '~' ? '0' : '1';
                c = '~';
            }
            f->path.at[--to] = c;
        }
    }
    f->state = PHI__JSON_FIELD_COLON;
    return phi__fields_path(f);
}

/* ---- tokens ---- */

/* Returns the length of an escape or a UTF-8 sequence in a string. 0: more text is needed, or the
   bytes are wrong (then f->status has an error). */
static size_t phi__fields_odd(phi__json_fields *f, const char *at, const char *end) {
    size_t left = (size_t)(end - at), n;
    uint32_t code = 0;
    if (*at == '\\') {
        n = phi__json_text_escape(at, end, &code);
        if (n == 0 && left < 6) return 0;
        if (n == 6 && code >= 0xd800 && code <= 0xdfff) {
            if (code <= 0xdbff && left < 12) return 0;
            n = 0; /* a lone half of a surrogate pair is wrong */
        }
    } else {
        n = (unsigned char)*at >= 0x80 ? phi__json_text_utf8(at, end) : 0;
        if (n == 0 && (unsigned char)*at >= 0x80 && left < 4) return 0;
    }
    if (n == 0) f->status = PHI_PARSE;
    return n;
}

static phi__json_field_got phi__fields_string(phi__json_fields *f, phi_str text, phi_str *value) {
    const char *at = text.at + f->at, *end = text.at + text.len;
    while ((at = phi__json_text_plain_end(at, end)) < end && *at != '"') {
        size_t n = phi__fields_odd(f, at, end);
        if (n == 0) break;
        at += n;
    }
    f->at = (size_t)(at - text.at);
    if (f->status != PHI_BUSY) return PHI__JSON_FIELD_WRONG;
    if (at == end || *at != '"') return PHI__JSON_FIELD_CUT;
    f->at++;
    phi_str all = phi__str(text.at + f->token, f->at - f->token);
    if (f->state == PHI__JSON_FIELD_IN_KEY)
        return phi__fields_key(f, phi__str(all.at + 1, all.len - 2));
    return phi__fields_found(f, all, value);
}

static phi__json_field_got phi__fields_number(phi__json_fields *f, phi_str text, phi_str *value) {
    const char *from = text.at + f->token, *bad;
    phi__json_number number;
    f->at = (size_t)(phi__json_number_bytes(text.at + f->at, text.at + text.len) - text.at);
    if (f->at - f->token >= PHI__JSON_FIELDS_NUMBER) return phi__fields_fail(f, PHI_TOO_BIG);
    if (f->at == text.len) return PHI__JSON_FIELD_CUT;
    const char *end = text.at + f->at;
    if (phi__json_number_read(from, end, &number, &bad) != end)
        return phi__fields_fail(f, PHI_PARSE);
    return phi__fields_found(f, phi__str(from, f->at - f->token), value);
}

static phi__json_field_got phi__fields_word(phi__json_fields *f, phi_str text, phi_str *value) {
    const char *from = text.at + f->token;
    phi_str word = *from == 'n'   ? PHI__LIT("null")
                   : *from == 't' ? PHI__LIT("true")
                                  : PHI__LIT("false");
    size_t have = phi__min(text.len - f->token, word.len);
    if (memcmp(from, word.at, have) != 0) return phi__fields_fail(f, PHI_PARSE);
    if (have < word.len) return PHI__JSON_FIELD_CUT;
    f->at = f->token + word.len;
    return phi__fields_found(f, phi__str(from, word.len), value);
}

/* ---- arrays and objects ---- */

static phi__json_field_got phi__fields_close(phi__json_fields *f, phi_str *value) {
    bool empty = f->state != PHI__JSON_FIELD_AFTER;
    const phi__json_frame *closed = &f->open[--f->depth];
    f->at++;
    f->path.len = closed->path_len;
    if (empty) return phi__fields_found(f, closed->object ? PHI__LIT("{}") : PHI__LIT("[]"), value);
    f->state = f->depth > 0 ? PHI__JSON_FIELD_AFTER : PHI__JSON_FIELD_END;
    return PHI__JSON_FIELD_MORE;
}

/* Sets the path for the next item, if an array is open. */
static phi__json_field_got phi__fields_item(phi__json_fields *f) {
    phi__json_frame *in = f->depth > 0 ? &f->open[f->depth - 1] : NULL;
    if (in == NULL || in->object) return PHI__JSON_FIELD_MORE;
    f->path.len = in->path_len;
    phi__buf_char(&f->path, '/');
    phi__buf_u64(&f->path, in->count++);
    return phi__fields_path(f);
}

static phi__json_field_got phi__fields_begin(phi__json_fields *f, char c) {
    phi__json_field_got got = phi__fields_item(f);
    if (got != PHI__JSON_FIELD_MORE) return got;
    if (c == '{' || c == '[') {
        bool object = c == '{';
        phi__json_frame *open = f->open;
        if (f->depth == PHI__JSON_FIELDS_DEPTH) return phi__fields_fail(f, PHI_TOO_BIG);
        open =
            (phi__json_frame *)phi__grow(f->path.memory, open, &f->cap, f->depth + 1, sizeof *open);
        if (open == NULL) return phi__fields_fail(f, PHI_NO_MEMORY);
        f->open = open;
        open[f->depth].path_len = (uint32_t)f->path.len;
        open[f->depth].count = 0;
        open[f->depth].object = object;
        f->depth++;
        f->state = object ? PHI__JSON_FIELD_FIRST_KEY : PHI__JSON_FIELD_FIRST_ITEM;
        f->at++;
        return PHI__JSON_FIELD_MORE;
    }
    f->token = f->at;
    if (c == '"') {
        f->state = PHI__JSON_FIELD_IN_STRING;
        f->at++;
    } else if (c == 't' || c == 'f' || c == 'n')
        f->state = PHI__JSON_FIELD_IN_WORD;
    else if (c == '-' || phi__is_digit(c))
        f->state = PHI__JSON_FIELD_IN_NUMBER;
    else
        return phi__fields_fail(f, PHI_PARSE);
    return PHI__JSON_FIELD_MORE;
}

static phi__json_field_got phi__fields_after(phi__json_fields *f, char c, phi_str *value) {
    bool object = f->open[f->depth - 1].object;
    if (c == (object ? '}' : ']')) return phi__fields_close(f, value);
    if (c != ',') return phi__fields_fail(f, PHI_PARSE);
    f->at++;
    f->state = object ? PHI__JSON_FIELD_KEY : PHI__JSON_FIELD_VALUE;
    return PHI__JSON_FIELD_MORE;
}

/* ---- the state machine ---- */

static phi__json_field_got phi__fields_look(phi__json_fields *f, phi_str text, phi_str *value) {
    switch (f->state) {
    case PHI__JSON_FIELD_IN_KEY:
    case PHI__JSON_FIELD_IN_STRING: return phi__fields_string(f, text, value);
    case PHI__JSON_FIELD_IN_NUMBER: return phi__fields_number(f, text, value);
    case PHI__JSON_FIELD_IN_WORD: return phi__fields_word(f, text, value);
    default: break;
    }
    if (f->at == text.len) return PHI__JSON_FIELD_CUT;
    char c = text.at[f->at];
    if (phi__json_white(c)) {
        f->at++;
        return PHI__JSON_FIELD_MORE;
    }
    switch (f->state) {
    case PHI__JSON_FIELD_FIRST_ITEM:
        return c == ']' ? phi__fields_close(f, value) : phi__fields_begin(f, c);
    case PHI__JSON_FIELD_VALUE: return phi__fields_begin(f, c);
    case PHI__JSON_FIELD_AFTER: return phi__fields_after(f, c, value);
    case PHI__JSON_FIELD_FIRST_KEY:
        if (c == '}') return phi__fields_close(f, value);
        break;
    case PHI__JSON_FIELD_COLON:
        if (c != ':') return phi__fields_fail(f, PHI_PARSE);
        f->at++;
        f->state = PHI__JSON_FIELD_VALUE;
        return PHI__JSON_FIELD_MORE;
    case PHI__JSON_FIELD_KEY: break;
    /* the value is complete, but more text follows */
    default: return phi__fields_fail(f, PHI_PARSE);
    }
    if (c != '"') return phi__fields_fail(f, PHI_PARSE);
    f->token = f->at++;
    f->state = PHI__JSON_FIELD_IN_KEY;
    return PHI__JSON_FIELD_MORE;
}

PHI__FN void phi__json_fields_init(phi__json_fields *f, phi_memory *memory) {
    memset(f, 0, sizeof *f);
    phi__buf_init(&f->path, memory);
    f->state = PHI__JSON_FIELD_VALUE;
    f->status = PHI_BUSY;
}

PHI__FN void phi__json_fields_free(phi__json_fields *f) {
    phi_memory *memory = f->path.memory;
    phi__buf_free(&f->path);
    phi__free(memory, f->open, f->cap * sizeof *f->open);
    phi__json_fields_init(f, memory);
}

PHI__FN int phi__json_fields_next(phi__json_fields *f, phi_str text, phi_str *path,
                                  phi_str *value) {
    phi__json_field_got got = PHI__JSON_FIELD_MORE;
    if (f->status != PHI_BUSY) return (int)f->status;
    while (got == PHI__JSON_FIELD_MORE) got = phi__fields_look(f, text, value);
    if (got == PHI__JSON_FIELD_WRONG) return (int)f->status;
    if (got == PHI__JSON_FIELD_CUT) return 0;
    *path = f->path.len > 0 ? phi__buf_str(&f->path) : phi__str("", 0);
    return 1;
}

/* ---- src/text/json_get.c ---- */

/* json_get.c - reads, compares, builds, changes and loads trees; looks up members by name. */

#include <errno.h>
#include <stdio.h>

PHI__FN bool phi__json_get_number_i64(const phi__json_number *n, int64_t *out) {
    if (n->kind == PHI__JSON_INT) {
        *out = n->v.i;
        return true;
    }
    /* A number that is exactly -2^63 is an integer node. The double -2^63 is refused, because it is
       mostly a smaller number that was rounded. */
    if (n->kind != PHI__JSON_DOUBLE || !(n->v.d > -9223372036854775808.0) ||
        !(n->v.d < 9223372036854775808.0) || (double)(int64_t)n->v.d != n->v.d)
        return false;
    *out = (int64_t)n->v.d;
    return true;
}

PHI__FN bool phi__json_get_number_u64(const phi__json_number *n, uint64_t *out) {
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

PHI__FN double phi__json_get_number_double(const phi__json_number *n) {
    if (n->kind == PHI__JSON_INT) return (double)n->v.i;
    return n->kind == PHI__JSON_UINT ? (double)n->v.u : n->v.d;
}

static phi__json_number phi__json_get_number_of(const phi_json *node) {
    phi__json_number n;
    n.kind = phi__json_kind_of(node);
    n.v = node->v;
    return n;
}

PHI__FN bool phi__json_get_path_step(const char **path, phi__json_step *step) {
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

/* Returns the index of the child's name in names[from..to), or `to` if the name is not there. The
   names are not empty, and most differ in their first byte. */
static inline size_t phi__json_get_name_of(const phi_json *child, const phi_str *names, size_t from,
                                           size_t to) {
    size_t len = phi__json_key_len(child), i;
    for (i = from; i < to; i++)
        if (names[i].len == len && names[i].at[0] == child->key[0] &&
            memcmp(names[i].at, child->key, len) == 0)
            break;
    return i;
}

PHI__FN void phi__json_get_pick(const phi_json *object, const phi_str *names, size_t count,
                                const phi_json **found) {
    size_t left = phi_json_is(object, PHI_JSON_OBJECT) ? object->len : 0, next = 0, i;
    const phi_json *child = left > 0 ? object->v.last : NULL;
    for (i = 0; i < count; i++) found[i] = NULL;
    for (; left > 0; left--) {
        child = child->next;
        i = phi__json_get_name_of(child, names, next, count);
        if (i == count) {
            i = phi__json_get_name_of(child, names, 0, next);
            if (i == next) continue;
        }
        found[i] = child;
        next = i + 1;
    }
}

PHI__FN const char *phi__json_get_type_name(const phi_json *node) {
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

/* ---- types ---- */

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

static bool phi__json_get_whole(const phi_json *node) {
    if (phi__json_kind_of(node) != PHI__JSON_DOUBLE) return true;
    double d = node->v.d;
    if (!(d > -9007199254740992.0 && d < 9007199254740992.0)) /* larger doubles have no fraction */
        return d - d == 0;                                    /* false for infinities and NaN */
    return (double)(int64_t)d == d;
}

PHI_API bool phi_json_is(const phi_json *node, phi_json_type type) {
    phi_json_type is = phi_json_type_of(node);
    if (type != PHI_JSON_INTEGER) return is == type;
    return is == PHI_JSON_NUMBER && phi__json_get_whole(node);
}

/* ---- values ---- */

PHI_API bool phi_json_bool(const phi_json *node, bool fallback) {
    if (!phi_json_is(node, PHI_JSON_BOOL)) return fallback;
    return phi__json_kind_of(node) == PHI__JSON_TRUE;
}

PHI_API int64_t phi_json_int(const phi_json *node, int64_t fallback) {
    int64_t out;
    if (!phi_json_is(node, PHI_JSON_NUMBER)) return fallback;
    phi__json_number n = phi__json_get_number_of(node);
    return phi__json_get_number_i64(&n, &out) ? out : fallback;
}

PHI__FN uint64_t phi__json_get_uint(const phi_json *node, uint64_t fallback) {
    uint64_t out;
    if (!phi_json_is(node, PHI_JSON_NUMBER)) return fallback;
    phi__json_number n = phi__json_get_number_of(node);
    return phi__json_get_number_u64(&n, &out) ? out : fallback;
}

PHI_API double phi_json_num(const phi_json *node, double fallback) {
    if (!phi_json_is(node, PHI_JSON_NUMBER)) return fallback;
    phi__json_number n = phi__json_get_number_of(node);
    return phi__json_get_number_double(&n);
}

PHI_API phi_str phi_json_str(const phi_json *node, const char *fallback) {
    if (!phi_json_is(node, PHI_JSON_STRING)) return phi_str_of(fallback);
    return phi__str(node->v.str, node->len);
}

/* ---- children ---- */

PHI_API size_t phi_json_count(const phi_json *node) {
    return phi_json_is(node, PHI_JSON_ARRAY) || phi_json_is(node, PHI_JSON_OBJECT) ? node->len : 0;
}

static bool phi__json_get_named(const phi_json *child, phi_str key) {
    return phi__json_key_len(child) == key.len &&
           (key.len == 0 || memcmp(child->key, key.at, key.len) == 0);
}

PHI__FN phi_json *phi__json_get_n(const phi_json *object, phi_str key) {
    phi_json *found = NULL;
    if (!phi_json_is(object, PHI_JSON_OBJECT) || object->len == 0) return NULL;
    phi_json *child = object->v.last;
    for (uint32_t left = object->len; left > 0; left--) {
        child = child->next;
        if (phi__json_get_named(child, key)) found = child;
    }
    return found;
}

PHI_API phi_json *phi_json_get(const phi_json *object, const char *key) {
    return key == NULL || object == NULL ? NULL : phi__json_get_n(object, phi_str_of(key));
}

PHI_API phi_json *phi_json_at(const phi_json *array, size_t index) {
    if (!phi_json_is(array, PHI_JSON_ARRAY) || index >= array->len) return NULL;
    phi_json *child = array->v.last;
    if (index == (size_t)array->len - 1) return child;
    for (child = child->next; index > 0; index--) child = child->next;
    return child;
}

PHI_API phi_json *phi_json_path(const phi_json *node, const char *path) {
    const phi_json *at = node;
    phi__json_step step;
    if (path == NULL) return NULL;
    while (at != NULL && phi__json_get_path_step(&path, &step))
        at = step.is_index ? phi_json_at(at, step.index) : phi__json_get_n(at, step.key);
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

/* ---- equality ---- */

static bool phi__json_get_same(const phi_json *a, const phi_json *b, unsigned depth);

static bool phi__json_get_same_number(const phi_json *a, const phi_json *b) {
    uint32_t kind = phi__json_kind_of(a);
    int64_t i;
    uint64_t u;
    if (kind == phi__json_kind_of(b))
        return kind == PHI__JSON_DOUBLE ? a->v.d == b->v.d : a->v.u == b->v.u;
    if (kind != PHI__JSON_DOUBLE) { /* swap the two, so `a` is the double */
        const phi_json *other = a;
        a = b;
        b = other;
        if (phi__json_kind_of(a) != PHI__JSON_DOUBLE) return false;
    }
    phi__json_number n = phi__json_get_number_of(a);
    if (n.v.d == -9223372036854775808.0)
        return phi__json_kind_of(b) == PHI__JSON_INT && b->v.i == INT64_MIN;
    if (phi__json_kind_of(b) == PHI__JSON_INT)
        return phi__json_get_number_i64(&n, &i) && i == b->v.i;
    return phi__json_get_number_u64(&n, &u) && u == b->v.u;
}

static bool phi__json_get_same_keys(const phi_json *a, const phi_json *b) {
    phi_json_iter ia = phi_json_each(a), ib = phi_json_each(b);
    if (a->len != b->len) return false;
    while (phi_json_next(&ia) != NULL) {
        (void)phi_json_next(&ib);
        if (!phi_str_equal(ia.key, ib.key)) return false;
    }
    return true;
}

/* As with phi_json_get, only the last member of each name counts. No pair of members is compared
   twice, so nesting does not multiply the work. */
static bool phi__json_get_same_object(const phi_json *a, const phi_json *b, unsigned depth) {
    phi_json_iter ia = phi_json_each(a), ib = phi_json_each(b);
    bool in_step = phi__json_get_same_keys(a, b);
    const phi_json *x;
    while ((x = phi_json_next(&ia)) != NULL) {
        if (in_step) {
            if (!phi__json_get_same(x, phi_json_next(&ib), depth) &&
                phi__json_get_n(a, ia.key) == x)
                return false;
        } else if (phi__json_get_n(a, ia.key) == x) {
            const phi_json *y = phi__json_get_n(b, ia.key);
            if (y == NULL || !phi__json_get_same(x, y, depth)) return false;
        }
    }
    if (in_step) return true;
    while (phi_json_next(&ib) != NULL)
        if (phi__json_get_n(a, ib.key) == NULL) return false;
    return true;
}

static bool phi__json_get_same(const phi_json *a, const phi_json *b, unsigned depth) {
    phi_json_iter ia, ib;
    const phi_json *x;
    phi_json_type type = phi_json_type_of(a);
    if (a == b) return true;
    if (depth == 0 || type != phi_json_type_of(b)) return false;
    switch (type) {
    case PHI_JSON_BOOL: return phi__json_kind_of(a) == phi__json_kind_of(b);
    case PHI_JSON_NUMBER: return phi__json_get_same_number(a, b);
    case PHI_JSON_STRING:
        return phi_str_equal(phi__str(a->v.str, a->len), phi__str(b->v.str, b->len));
    case PHI_JSON_ARRAY:
        if (a->len != b->len) return false;
        ia = phi_json_each(a);
        ib = phi_json_each(b);
        while ((x = phi_json_next(&ia)) != NULL)
            if (!phi__json_get_same(x, phi_json_next(&ib), depth - 1)) return false;
        return true;
    case PHI_JSON_OBJECT: return phi__json_get_same_object(a, b, depth - 1);
    default: return true;
    }
}

PHI__FN bool phi__json_get_equal(const phi_json *a, const phi_json *b) {
    return phi__json_get_same(a, b, PHI_JSON_MAX_DEPTH + 1);
}

/* ---- building and changing a tree ---- */

static phi_json *phi__json_edit_make(phi_arena *arena, uint32_t kind) {
    phi_json *node = arena != NULL ? (phi_json *)phi_arena_alloc(arena, sizeof *node) : NULL;
    if (node == NULL) return NULL;
    memset(node, 0, sizeof *node);
    node->meta = kind;
    return node;
}

/* Returns PHI_OK if a value may be put into a container, else the status for the caller. */
static phi_status phi__json_edit_may_hold(const phi_json *container, uint32_t kind,
                                          const phi_json *value) {
    if (container == NULL || phi__json_kind_of(container) != kind) return PHI_BAD_ARG;
    if (value == NULL) return PHI_NO_MEMORY;
    if (value == container || value->next != NULL) return PHI_MISUSE;
    if (phi__json_form_of(value) == PHI__JSON_DOCUMENT) return PHI_MISUSE;
    if (container->len == UINT32_MAX) return PHI_TOO_BIG;
    return PHI_OK;
}

/* Takes `child`, which follows `before`, out of the container's ring. */
static void phi__json_edit_unlink(phi_json *container, phi_json *before, phi_json *child) {
    before->next = child->next;
    if (container->v.last == child) container->v.last = container->len == 1 ? NULL : before;
    container->len--;
    child->next = NULL;
}

/* Unlinks all members of that name except `keep`. Returns the last member of that name, which may
   be `keep`. */
static phi_json *phi__json_edit_unlink_named(phi_json *object, phi_str key, const phi_json *keep) {
    phi_json *before = object->v.last, *found = NULL;
    uint32_t left = object->len;
    for (; left > 0; left--) {
        phi_json *child = before->next;
        if (phi__json_get_named(child, key)) {
            found = child;
            if (child != keep) {
                phi__json_edit_unlink(object, before, child);
                continue;
            }
        }
        before = child;
    }
    return found;
}

/* ---- new nodes ---- */

PHI__FN phi_json *phi__json_edit_null(phi_arena *arena) {
    return phi__json_edit_make(arena, PHI__JSON_NULL);
}

PHI_API phi_json *phi_json_new_bool(phi_arena *arena, bool value) {
    return phi__json_edit_make(arena, value ? PHI__JSON_TRUE : PHI__JSON_FALSE);
}

PHI_API phi_json *phi_json_new_int(phi_arena *arena, int64_t value) {
    phi_json *node = phi__json_edit_make(arena, PHI__JSON_INT);
    if (node != NULL) node->v.i = value;
    return node;
}

PHI__FN phi_json *phi__json_edit_uint(phi_arena *arena, uint64_t value) {
    phi_json *node =
        phi__json_edit_make(arena, value > (uint64_t)INT64_MAX ? PHI__JSON_UINT : PHI__JSON_INT);
    if (node != NULL) node->v.u = value;
    return node;
}

PHI_API phi_json *phi_json_new_num(phi_arena *arena, double value) {
    phi_json *node = phi__json_edit_make(arena, PHI__JSON_DOUBLE);
    if (node != NULL) node->v.d = value;
    return node;
}

PHI_API phi_json *phi_json_new_str(phi_arena *arena, phi_str value) {
    phi_str copy;
    if (value.len > UINT32_MAX - 1) return NULL;
    phi_json *node = phi__json_edit_make(arena, PHI__JSON_STRING);
    if (node == NULL || !phi__arena_str(arena, value, &copy)) return NULL;
    node->v.str = copy.at;
    node->len = (uint32_t)copy.len;
    return node;
}

PHI__FN phi_json *phi__json_edit_text(phi_arena *arena, const char *value) {
    return phi_json_new_str(arena, phi_str_of(value));
}

PHI_API phi_json *phi_json_new_array(phi_arena *arena) {
    return phi__json_edit_make(arena, PHI__JSON_ARRAY);
}

PHI_API phi_json *phi_json_new_object(phi_arena *arena) {
    return phi__json_edit_make(arena, PHI__JSON_OBJECT);
}

/* ---- copying ---- */

static bool phi__json_edit_copy_key(phi_arena *arena, const phi_json *from, phi_json *to) {
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

static phi_json *phi__json_edit_copy_at(phi_arena *arena, const phi_json *from, unsigned depth) {
    phi_json *to = phi__json_edit_make(arena, from->meta & 0xffu), *child;
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
            child = phi__json_edit_copy_at(arena, it.at, depth - 1);
            if (child == NULL || !phi__json_edit_copy_key(arena, it.at, child)) return NULL;
            phi__json_append(to, child);
        }
        return to;
    default: to->v = from->v; return to;
    }
}

PHI_API phi_json *phi_json_copy(phi_arena *arena, const phi_json *node) {
    if (node == NULL) return NULL;
    phi_json *copy = phi__json_edit_copy_at(arena, node, PHI_JSON_MAX_DEPTH);
    if (copy != NULL && phi__json_form_of(copy) == PHI__JSON_DOCUMENT) copy->meta &= 0xfu;
    return copy;
}

/* ---- changing ---- */

PHI__FN phi_status phi__json_edit_set(phi_arena *arena, phi_json *object, phi_str key,
                                      phi_json *value) {
    phi_status status = phi__json_edit_may_hold(object, PHI__JSON_OBJECT, value);
    phi_str copy;
    if (status != PHI_OK) return status;
    if (key.len > 0xffffffu) return PHI_TOO_BIG;
    if (!phi__arena_str(arena, key, &copy)) return PHI_NO_MEMORY;
    value->key = copy.at;
    value->meta = (uint32_t)key.len << 8 | (value->meta & 0xffu);
    phi_json *old = phi__json_get_n(object, copy);
    if (old == NULL) {
        phi__json_append(object, value);
        return PHI_OK;
    }
    (void)phi__json_edit_unlink_named(object, copy, old);
    phi_json *before = old;
    while (before->next != old) before = before->next;
    value->next = before == old ? value : old->next; /* is `old` alone in the ring? */
    if (before != old) before->next = value;
    if (object->v.last == old) object->v.last = value;
    old->next = NULL;
    return PHI_OK;
}

PHI_API phi_status phi_json_set(phi_arena *arena, phi_json *object, const char *key,
                                phi_json *value) {
    if (key == NULL) return PHI_BAD_ARG;
    return phi__json_edit_set(arena, object, phi_str_of(key), value);
}

PHI_API phi_status phi_json_add(phi_json *array, phi_json *value) {
    phi_status status = phi__json_edit_may_hold(array, PHI__JSON_ARRAY, value);
    if (status != PHI_OK) return status;
    value->key = NULL;
    value->meta &= 0xffu;
    phi__json_append(array, value);
    return PHI_OK;
}

PHI_API phi_json *phi_json_remove(phi_json *object, const char *key) {
    if (key == NULL || !phi_json_is(object, PHI_JSON_OBJECT) || object->len == 0) return NULL;
    return phi__json_edit_unlink_named(object, phi_str_of(key), NULL);
}

PHI__FN phi_json *phi__json_edit_remove_at(phi_json *array, size_t index) {
    if (!phi_json_is(array, PHI_JSON_ARRAY) || index >= array->len) return NULL;
    phi_json *before = array->v.last;
    for (; index > 0; index--) before = before->next;
    phi_json *child = before->next;
    phi__json_edit_unlink(array, before, child);
    return child;
}

/* ---- documents: JSON texts in their own arena ---- */

typedef struct phi__json_load_document {
    phi_memory own;     /* used if the caller gives no memory */
    phi_memory *memory; /* &own, or the caller's memory */
    phi_arena arena;
    phi_json root; /* the node that the caller gets */
} phi__json_load_document;

static bool phi__json_load_is(const phi_json *node) {
    return node != NULL && phi__json_form_of(node) == PHI__JSON_DOCUMENT;
}

static phi__json_load_document *phi__json_load_of(phi_json *root) {
    return PHI__OWNER(root, phi__json_load_document, root);
}

static phi_json *phi__json_load_fail(phi_parse_error *error, phi_status status, const char *what,
                                     const char *name) {
    if (error == NULL) return NULL;
    memset(error, 0, sizeof *error);
    error->status = status;
    (void)snprintf(error->message, sizeof error->message, "%s%.100s", what, name);
    return NULL;
}

/* Returns an empty document. The document must not move, since it contains a pointer to itself. */
static phi__json_load_document *phi__json_load_new(phi_memory *memory) {
    phi__json_load_document *d;
    phi_memory own;
    phi_memory_init(&own, NULL, 0);
    d = (phi__json_load_document *)phi__alloc(memory != NULL ? memory : &own, sizeof *d);
    if (d == NULL) return NULL;
    d->own = own;
    d->memory = memory != NULL ? memory : &d->own;
    phi_arena_init(&d->arena, d->memory, 0);
    return d;
}

static void phi__json_load_free(phi__json_load_document *d) {
    phi_arena_free(&d->arena);
    phi_memory own = d->own;
    phi__free(d->memory == &d->own ? &own : d->memory, d, sizeof *d);
}

#ifndef PHI_NO_FILES

/* Sets *error from the errno of a failed read. Returns NULL. */
static phi_json *phi__json_load_trouble(phi_parse_error *error, const char *path, int code) {
    if (code == ENOENT) return phi__json_load_fail(error, PHI_NOT_FOUND, "there is no file ", path);
    if (code == EISDIR) return phi__json_load_fail(error, PHI_IO, "a directory: ", path);
    if (code == EACCES) return phi__json_load_fail(error, PHI_IO, "no permission to read ", path);
    return phi__json_load_fail(error, PHI_IO, "the file cannot be read: ", path);
}

/* Reads a file to its end. False: *error says why. */
static bool phi__json_load_read(FILE *file, const char *path, phi__buf *text,
                                phi_parse_error *error) {
    for (;;) {
        size_t left = (size_t)PHI_JSON_MAX_FILE_BYTES + 1 - text->len;
        size_t room = phi__min(phi__max(text->len, 4096), left);
        char *to = phi__buf_reserve(text, room);
        if (to == NULL) {
            (void)phi__json_load_fail(error, PHI_NO_MEMORY, "no memory for the file ", path);
            return false;
        }
        errno = 0;
        size_t got = fread(to, 1, room, file);
        phi__buf_add_len(text, got);
        if (got < room && ferror(file) == 0) return true;
        if (got < room) (void)phi__json_load_trouble(error, path, errno);
        if (got == room && got < left) continue;
        if (got == room)
            (void)phi__json_load_fail(error, PHI_TOO_BIG, "a file of more than 64 MiB: ", path);
        return false;
    }
}

#endif

/* ---- public ---- */

PHI_API phi_status phi_json_parse(phi_arena *arena, phi_str text, uint32_t flags, phi_json **out,
                                  phi_parse_error *error) {
    phi__json_reader reader;
    phi_status status;
    if (arena == NULL || out == NULL) return PHI_BAD_ARG;
    phi_arena_mark mark = phi_arena_save(arena);
    phi__json_read_begin(&reader, arena, text, flags, 0);
    while ((status = phi__json_read_advance(&reader, SIZE_MAX)) == PHI_BUSY) continue;
    (void)phi__json_read_result(&reader, out, error);
    if (status != PHI_OK) phi_arena_reset(arena, mark);
    return status;
}

PHI_API phi_json *phi_json_load(phi_str text, uint32_t flags, phi_memory *memory,
                                phi_parse_error *error) {
    phi__json_load_document *d = phi__json_load_new(memory);
    phi_json *root;
    if (d == NULL) return phi__json_load_fail(error, PHI_NO_MEMORY, "no memory for the tree", "");
    if (phi_json_parse(&d->arena, text, flags, &root, error) != PHI_OK) {
        phi__json_load_free(d);
        return NULL;
    }
    d->root = *root;
    d->root.meta |= (uint32_t)PHI__JSON_DOCUMENT << 4;
    return &d->root;
}

PHI_API phi_json *phi_json_load_file(const char *path, uint32_t flags, phi_memory *memory,
                                     phi_parse_error *error) {
#ifdef PHI_NO_FILES
    (void)path;
    (void)flags;
    (void)memory;
    return phi__json_load_fail(error, PHI_UNSUPPORTED, "built with PHI_NO_FILES", "");
#else
    phi_json *root = NULL;
    phi_memory own;
    phi__buf text;
    FILE *file;
    if (path == NULL) return phi__json_load_fail(error, PHI_BAD_ARG, "the path is NULL", "");
    errno = 0;
    file = fopen(path, "rb");
    if (file == NULL) return phi__json_load_trouble(error, path, errno);
    phi_memory_init(&own, NULL, 0);
    phi__buf_init(&text, memory != NULL ? memory : &own);
    if (phi__json_load_read(file, path, &text, error))
        root =
            phi_json_load(phi__buf_str(&text), flags & ~(uint32_t)PHI_JSON_BORROW, memory, error);
    phi__buf_free(&text);
    (void)fclose(file);
    return root;
#endif
}

PHI_API void phi_json_unload(phi_json *root) {
    if (phi__json_load_is(root)) phi__json_load_free(phi__json_load_of(root));
}

PHI_API phi_arena *phi_json_arena(phi_json *root) {
    return phi__json_load_is(root) ? &phi__json_load_of(root)->arena : NULL;
}

/* ---- a table of members by object and name ---- */

typedef struct phi__index_entry {
    phi_json *object, *before, *node;
} phi__index_entry;

static phi_str phi__index_key(const phi_json *member) {
    return phi__str(member->key, phi__json_key_len(member));
}

static phi__index_entry *phi__index_look(phi__json_index *index, const phi_json *object,
                                         phi_str key, uint64_t hash) {
    phi__index_entry *entry;
    size_t probe = 0;
    while ((entry = (phi__index_entry *)phi__map_each(&index->map, hash, &probe)) != NULL) {
        index->walked++;
        if (entry->object == object && entry->node != object &&
            phi__json_get_named(entry->node, key))
            break;
    }
    return entry;
}

/* Returns the entry of a member. The member must be in the table. */
static phi__index_entry *phi__index_of(phi__json_index *index, const phi_json *object,
                                       const phi_json *member) {
    phi_str key = phi__index_key(member);
    return phi__index_look(index, object, key, phi__json_member_hash(index, object, key));
}

static bool phi__index_add(phi__json_index *index, phi_json *object, uint64_t hash,
                           phi_json *before, phi_json *node) {
    phi__index_entry *entry;
    if (!phi__map_room(&index->map)) return false;
    entry = (phi__index_entry *)phi_arena_alloc(index->arena, sizeof *entry);
    if (entry == NULL) return false;
    entry->object = object;
    entry->before = before;
    entry->node = node;
    phi__map_add(&index->map, hash, entry);
    return true;
}

/* Removes members that have a later member of the same name. Sets `before` in each entry. */
static void phi__index_link(phi__json_index *index, phi_json *object) {
    phi_json *before = object->v.last, *child;
    uint32_t left = object->len;
    for (; left > 0; left--) {
        child = before->next;
        phi__index_entry *entry = phi__index_of(index, object, child);
        if (entry->node == child) {
            entry->before = before;
            before = child;
            continue;
        }
        phi__json_edit_unlink(object, before, child);
        index->shed = true;
    }
}

/* Puts the members of an object into the table, if they are not in it yet. False: no memory. */
static bool phi__index_know(phi__json_index *index, phi_json *object) {
    uint64_t mark = phi__json_member_hash(index, object, PHI__LIT(""));
    phi__index_entry *entry;
    phi_json_iter it = phi_json_each(object);
    size_t probe = 0;
    while ((entry = (phi__index_entry *)phi__map_each(&index->map, mark, &probe)) != NULL)
        if (entry->object == object && entry->node == object) return true;
    while (phi_json_next(&it) != NULL) {
        phi_json *child = (phi_json *)(uintptr_t)it.at;
        phi_str key = phi__index_key(child);
        uint64_t hash = phi__json_member_hash(index, object, key);
        index->walked++;
        entry = phi__index_look(index, object, key, hash);
        if (entry != NULL)
            entry->node = child;
        else if (!phi__index_add(index, object, hash, NULL, child))
            return false;
    }
    phi__index_link(index, object);
    return phi__index_add(index, object, mark, NULL, object);
}

static bool phi__index_name(phi__json_index *index, phi_json *value, phi_str key) {
    if (value->key != NULL && phi__json_get_named(value, key)) return true;
    if (!phi__arena_str(index->arena, key, &key)) return false;
    value->key = key.at;
    value->meta = (uint32_t)key.len << 8 | (value->meta & 0xffu);
    return true;
}

PHI__FN void phi__json_index_init(phi__json_index *index, phi_memory *memory, phi_arena *arena) {
    memset(index, 0, sizeof *index);
    index->arena = arena;
    phi__map_init(&index->map, memory);
}

PHI__FN void phi__json_index_free(phi__json_index *index) { phi__map_free(&index->map); }

PHI__FN bool phi__json_index_get(phi__json_index *index, phi_json *object, phi_str key,
                                 phi_json **found) {
    if (!phi__index_know(index, object)) return false;
    phi__index_entry *entry =
        phi__index_look(index, object, key, phi__json_member_hash(index, object, key));
    *found = entry != NULL ? entry->node : NULL;
    return true;
}

PHI__FN bool phi__json_index_set(phi__json_index *index, phi_json *object, phi_str key,
                                 phi_json *value) {
    uint64_t hash = phi__json_member_hash(index, object, key);
    if (!phi__index_know(index, object) || !phi__index_name(index, value, key)) return false;
    phi__index_entry *entry = phi__index_look(index, object, key, hash);
    if (entry == NULL) {
        phi_json *last = object->len > 0 ? object->v.last : value;
        if (!phi__index_add(index, object, hash, last, value)) return false;
        phi__json_append(object, value);
        phi__index_of(index, object, value->next)->before = value;
        return true;
    }
    phi_json *old = entry->node;
    if (entry->before == old) entry->before = value; /* `old` is alone in the ring */
    value->next = old->next == old ? value : old->next;
    entry->before->next = value;
    entry->node = value;
    if (object->v.last == old) object->v.last = value;
    phi__index_of(index, object, value->next)->before = value;
    old->next = NULL;
    return true;
}

PHI__FN bool phi__json_index_remove(phi__json_index *index, phi_json *object, phi_str key,
                                    phi_json **removed) {
    uint64_t hash = phi__json_member_hash(index, object, key);
    *removed = NULL;
    if (!phi__index_know(index, object)) return false;
    phi__index_entry *entry = phi__index_look(index, object, key, hash);
    if (entry == NULL) return true;
    *removed = entry->node;
    phi_json *next = entry->node->next;
    phi__json_edit_unlink(object, entry->before, entry->node);
    if (object->len > 0) phi__index_of(index, object, next)->before = entry->before;
    phi__map_drop(&index->map, hash, entry);
    return true;
}

/* ---- src/text/json_number.c ---- */

/* json_number.c - converts numbers to text and back, exactly.

   Reading: the decimal is multiplied by a 128-bit power of ten (Eisel and Lemire's method). If that
   cannot decide the last bit, big integers do. Writing: the shortest decimal in the double's
   rounding interval (Giulietti's Schubfach). Both use one table of powers, which is kept small:
   10^k is 10^(27 b) * 5^j * 2^j, cut to 128 bits, with a stored correction of its last bits. All
   arithmetic uses integers, so x87 cannot round twice. */

/* for 19 digits; with a smaller power the value rounds to zero */
#define PHI__JSON_POW_LEAST (-342)
#define PHI__JSON_POW_MOST 324     /* the largest power that writing needs */
#define PHI__JSON_POW_FIRST (-351) /* power of the first base; a multiple of 27 */

/* The upper 128 bits of 10^-351, 10^-324, ..., 10^324, as two words each. */
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
/* 5^0 to 5^26, each shifted so that its highest bit is set. */
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
/* Corrections of the computed powers: two bits for each power, beginning with 10^-342. */
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

/* Returns the upper half of a * b, and sets *low to the lower half. */
static inline uint64_t phi__number_mul(uint64_t a, uint64_t b, uint64_t *low) {
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

/* n must not be 0. */
static inline int phi__number_leading_zeros(uint64_t n) {
#if defined(__GNUC__)
    return __builtin_clzll(n);
#else
    int zeros = 0, step;
    for (step = 32; step > 0; step /= 2)
        if (n >> (64 - step) == 0) {
            zeros += step;
            n <<= step;
        }
    return zeros;
#endif
}

/* Returns floor(log2(10^k)), for |k| <= 1233. */
static inline int phi__number_log2_pow10(int k) {
    return (int)(((int64_t)k * 1741647 + ((int64_t)1 << 40)) >> 19) - (1 << 21);
}

typedef struct phi__json_pow {
    uint64_t high, low;
} phi__json_pow;

/* Returns the upper 128 bits of 10^k, rounded down. */
static phi__json_pow phi__number_pow10(int k) {
    unsigned from = (unsigned)(k - PHI__JSON_POW_FIRST), at = (unsigned)(k - PHI__JSON_POW_LEAST);
    const uint64_t *base = phi__json_pow_base + from / 27 * 2;
    uint64_t five = phi__json_pow_five[from % 27], lowest;
    phi__json_pow out;
    out.high = phi__number_mul(base[0], five, &out.low);
    uint64_t middle = phi__number_mul(base[1], five, &lowest);
    out.low += middle;
    out.high += out.low < middle;
    if (out.high >> 63 == 0) {
        out.high = out.high << 1 | out.low >> 63;
        out.low = out.low << 1 | lowest >> 63;
    }
    uint64_t more = phi__json_pow_more[at / 16] >> at % 16 * 2 & 3u;
    out.low += more;
    out.high += out.low < more;
    return out;
}

/* ---- reading ---- */

typedef struct phi__json_decimal {
    const char *digits, *end; /* all digits, with a decimal point among them */
    uint64_t w;               /* the first 19 significant digits */
    int k;                    /* the value is about w * 10^k */
    bool cut, negative;       /* cut: w does not have all digits */
} phi__json_decimal;

/* Computes the double of w * 10^k. False: the result is uncertain, infinite or tiny. */
static bool phi__number_fast(uint64_t w, int k, uint64_t *bits) {
    int shift = phi__number_leading_zeros(w);
    phi__json_pow p = phi__number_pow10(k);
    uint64_t low, low2;
    w <<= shift;
    uint64_t high = phi__number_mul(w, p.high, &low);
    if ((high & 0x1ff) == 0x1ff && low + w < w) {
        uint64_t high2 = phi__number_mul(w, p.low, &low2);
        low += high2;
        if (low < high2) high++;
        if ((high & 0x1ff) == 0x1ff && low + 1 == 0 && low2 + w < w) return false;
    }
    int top = (int)(high >> 63);
    uint64_t m = high >> (top + 9);
    int64_t exponent = phi__number_log2_pow10(k) - shift + top + 11 + 1075;
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

#define PHI__JSON_LIMBS 128  /* limbs of 32 bits; at most 86 are needed */
#define PHI__JSON_DIGITS 772 /* more than the middle between two doubles can have (767) */

typedef struct phi__json_big {
    uint32_t limb[PHI__JSON_LIMBS]; /* lowest first */
    unsigned count;
} phi__json_big;

static void phi__number_big_mul(phi__json_big *big, uint32_t by, uint32_t add) {
    uint64_t carry = add;
    for (unsigned i = 0; i < big->count; i++) {
        carry += (uint64_t)big->limb[i] * by;
        big->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry != 0) {
        PHI_ASSERT(big->count < PHI__JSON_LIMBS);
        big->limb[big->count++] = (uint32_t)carry;
    }
}

static void phi__number_big_shift(phi__json_big *big, unsigned bits) {
    unsigned limbs = bits / 32;
    phi__number_big_mul(big, 1u << bits % 32, 0);
    if (limbs == 0 || big->count == 0) return;
    PHI_ASSERT(big->count + limbs <= PHI__JSON_LIMBS);
    memmove(big->limb + limbs, big->limb, big->count * sizeof big->limb[0]);
    for (unsigned i = 0; i < limbs; i++) big->limb[i] = 0;
    big->count += limbs;
}

/* Sets *big to the first PHI__JSON_DIGITS digits, and appends a 1 if a later digit is not 0.
   Returns the power of ten of the last digit. */
static int phi__number_big_digits(phi__json_big *big, const phi__json_decimal *d) {
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
            phi__number_big_mul(big, 10, digit);
        else {
            more = more || digit != 0;
            power++;
        }
    }
    if (more) {
        phi__number_big_mul(big, 10, 1);
        power--;
    }
    return power;
}

/* Compares the decimal with (2 m + 1) * 2^(e - 1), the middle between two doubles. */
static int phi__number_against_middle(const phi__json_decimal *d, uint64_t m, int e) {
    phi__json_big decimal, middle;
    int power = phi__number_big_digits(&decimal, d), shift = power - (e - 1);
    m = 2 * m + 1;
    middle.limb[0] = (uint32_t)m;
    middle.limb[1] = (uint32_t)(m >> 32);
    middle.count = middle.limb[1] != 0 ? 2 : 1;
    phi__json_big *big = power >= 0 ? &decimal : &middle;
    int n = power >= 0 ? power : -power;
    for (; n >= 13; n -= 13) phi__number_big_mul(big, 1220703125u, 0);
    for (; n > 0; n--) phi__number_big_mul(big, 5, 0);
    phi__number_big_shift(shift >= 0 ? &decimal : &middle, (unsigned)(shift >= 0 ? shift : -shift));
    if (decimal.count != middle.count) return decimal.count < middle.count ? -1 : 1;
    for (unsigned i = decimal.count; i-- > 0;)
        if (decimal.limb[i] != middle.limb[i]) return decimal.limb[i] < middle.limb[i] ? -1 : 1;
    return 0;
}

/* Returns the bits of the nearest double; if the value is too large, the bits of infinity. */
static uint64_t phi__number_nearest(const phi__json_decimal *d) {
    uint64_t bits, above;
    if (d->w == 0 || d->k < PHI__JSON_POW_LEAST) return 0;
    if (d->k > 308) return UINT64_C(0x7ff) << 52;
    if (phi__number_fast(d->w, d->k, &bits) &&
        (!d->cut || (phi__number_fast(d->w + 1, d->k, &above) && above == bits)))
        return bits;
    /* Rounding down gives the nearest double that is not larger. An exact comparison then decides
       if the next double is nearer. */
    int shift = phi__number_leading_zeros(d->w);
    uint64_t low, high = phi__number_mul(d->w << shift, phi__number_pow10(d->k).high, &low);
    int top = (int)(high >> 63);
    uint64_t m = high >> (top + 10);
    int exponent = phi__number_log2_pow10(d->k) - shift + top + 11;
    if (exponent > 971) return UINT64_C(0x7ff) << 52;
    if (exponent < -1074) {
        m = -1074 - exponent < 64 ? m >> (-1074 - exponent) : 0;
        exponent = -1074;
    }
    int order = phi__number_against_middle(d, m, exponent);
    if (order > 0 || (order == 0 && (m & 1) != 0)) m++;
    if (m >> 53 != 0) {
        m >>= 1;
        exponent++;
    }
    if (m >> 52 == 0) return m;
    if (exponent > 971) return UINT64_C(0x7ff) << 52;
    return (uint64_t)(exponent + 1075) << 52 | (m & ((UINT64_C(1) << 52) - 1));
}

static inline bool phi__number_digit(const char *at, const char *end) {
    return at < end && (unsigned)((unsigned char)*at - '0') < 10;
}

/* Reads a decimal that has more than 19 digits, a point or an exponent, from its first digit. */
static const char *phi__number_decimal_read(const char *at, const char *end, phi__json_decimal *d,
                                            const char **bad) {
    const char *point = NULL;
    int count = 0, k = 0, exponent = 0;
    d->digits = at;
    d->w = 0;
    d->cut = false;
    for (;; at++) {
        if (point == NULL && at < end && *at == '.') {
            point = at;
            if (!phi__number_digit(at + 1, end)) return *bad = at + 1, (const char *)NULL;
            continue;
        }
        if (!phi__number_digit(at, end)) break;
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
        if (!phi__number_digit(at, end)) return *bad = at, (const char *)NULL;
        for (; phi__number_digit(at, end); at++)
            if (exponent < 100000000) exponent = exponent * 10 + (*at - '0');
        if (negative) exponent = -exponent;
    }
    d->k = k + exponent;
    return at;
}

static const char *phi__number_double_read(const char *start, const char *digits, const char *end,
                                           phi__json_number *out, const char **bad) {
    phi__json_decimal d;
    const char *at = phi__number_decimal_read(digits, end, &d, bad);
    if (at == NULL) return NULL;
    out->kind = PHI__JSON_DOUBLE;
    out->v.u = phi__number_nearest(&d);
    if (out->v.u >> 52 == 0x7ff) return *bad = start, (const char *)NULL;
    if (start != digits) out->v.u |= UINT64_C(1) << 63;
    return at;
}

PHI__FN const char *phi__json_number_read(const char *at, const char *end, phi__json_number *out,
                                          const char **bad) {
    const char *start = at;
    uint64_t n = 0;
    bool negative = at < end && *at == '-';
    if (negative) at++;
    const char *digits = at;
    if (!phi__number_digit(at, end)) return *bad = at, (const char *)NULL;
    if (*at == '0')
        at++;
    else
        for (; phi__number_digit(at, end) && at - digits < 19; at++)
            n = n * 10 + (uint64_t)(*at - '0');
    if (at - digits == 19 && phi__number_digit(at, end)) { /* a number of 20 digits may still fit */
        unsigned digit = (unsigned)(*at - '0');
        if (n > (UINT64_MAX - digit) / 10 || phi__number_digit(at + 1, end))
            return phi__number_double_read(start, digits, end, out, bad);
        n = n * 10 + digit;
        at++;
    }
    if ((at < end && (*at == '.' || *at == 'e' || *at == 'E')) ||
        (negative && n > (uint64_t)INT64_MAX + 1))
        return phi__number_double_read(start, digits, end, out, bad);
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

/* Returns g * c / 2^128, with the last bit set if anything was cut off. */
static inline uint64_t phi__number_round_to_odd(phi__json_pow g, uint64_t c) {
    uint64_t low, lowest, high = phi__number_mul(g.high, c, &low);
    uint64_t carry = phi__number_mul(g.low, c, &lowest);
    low += carry;
    high += low < carry;
    return high | (low > 1);
}

/* Returns the shortest digits such that digits * 10^*power reads back as a positive double. Of
   several such numbers, returns the one nearest to the double. */
static uint64_t phi__number_shortest(uint64_t bits, int *power) {
    uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1), c = fraction;
    int biased = (int)(bits >> 52 & 0x7ff), q = biased == 0 ? -1074 : biased - 1075;
    bool closer = fraction == 0 && biased > 1, in, in2;
    if (biased != 0) c |= UINT64_C(1) << 52;
    if (biased != 0 && q <= 0 && q > -53 && (c & ((UINT64_C(1) << -q) - 1)) == 0) {
        *power = 0;
        return c >> -q;
    }
    uint64_t odd = c & 1;
    int k = (int)(((int64_t)q * 1262611 - (closer ? 524031 : 0) + ((int64_t)1 << 40)) >> 22) -
            (1 << 18);
    int h = q + phi__number_log2_pow10(-k) + 1;
    phi__json_pow g = phi__number_pow10(-k);
    if (-k < 0 || -k > 55) { /* Schubfach needs the power rounded up */
        g.low++;
        g.high += g.low == 0;
    }
    uint64_t lower = phi__number_round_to_odd(g, (4 * c - 2 + closer) << h) + odd;
    uint64_t middle = phi__number_round_to_odd(g, (4 * c) << h);
    uint64_t upper = phi__number_round_to_odd(g, (4 * c + 2) << h) - odd;
    uint64_t s = middle / 4;
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

/* Writes the digits of n so that they end at `end`. Returns their start. */
static char *phi__number_digits_before(char *end, uint64_t n) {
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

/* Writes `count` digits with a decimal point after `point` of them. Returns the end of the text. */
static char *phi__number_place(const char *digits, int count, int point, char *to) {
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

PHI__FN size_t phi__json_number_double_text(double d, char *out) {
    char digits[20], *to = out;
    int power;
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    if (bits >> 63 != 0) *to++ = '-';
    bits &= UINT64_MAX >> 1;
    if (bits == 0) {
        memcpy(to, "0.0", 3);
        return (size_t)(to + 3 - out);
    }
    uint64_t n = phi__number_shortest(bits, &power);
    while (n % 10 == 0) {
        n /= 10;
        power++;
    }
    char *at = phi__number_digits_before(digits + sizeof digits, n);
    power += (int)(digits + sizeof digits - at);
    to = phi__number_place(at, (int)(digits + sizeof digits - at), power, to);
    return (size_t)(to - out);
}

PHI__FN void phi__json_number_put_u64(phi__buf *buf, uint64_t n) {
    char digits[20], *at = phi__number_digits_before(digits + sizeof digits, n);
    phi__buf_add(buf, at, (size_t)(digits + sizeof digits - at));
}

PHI__FN void phi__json_number_put_i64(phi__buf *buf, int64_t n) {
    char digits[21], *end = digits + sizeof digits;
    char *at = phi__number_digits_before(end, n < 0 ? 0 - (uint64_t)n : (uint64_t)n);
    if (n < 0) *--at = '-';
    phi__buf_add(buf, at, (size_t)(end - at));
}

PHI__FN void phi__json_number_put_double(phi__buf *buf, double d) {
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    if ((bits >> 52 & 0x7ff) == 0x7ff) {
        phi__buf_add(buf, "null", 4);
        return;
    }
    char *to = phi__buf_reserve(buf, 32);
    if (to != NULL) phi__buf_add_len(buf, phi__json_number_double_text(d, to));
}
#undef PHI__JSON_POW_LEAST
#undef PHI__JSON_POW_MOST
#undef PHI__JSON_POW_FIRST
#undef PHI__JSON_LIMBS
#undef PHI__JSON_DIGITS

/* ---- src/text/json_read.c ---- */

/* json_read.c - reads a text into a tree, in slices.

   Unless strings are borrowed, the text is first copied into the arena, and the tree points into
   that copy: strings are unescaped in place, and their closing quotes become terminators. No stack
   is needed: an open container holds its parent in `next`, and joins the parent's ring when it
   closes. */

#include <ctype.h>
#include <stdio.h>

/* ---- for all readers of JSON strings: their end, UTF-8, escapes ---- */

PHI__FN const char *phi__json_text_plain_end(const char *at, const char *end) {
#if defined(PHI__JSON_SSE2)
    for (; end - at >= 16; at += 16) {
        int mask = phi__json_special(_mm_loadu_si128((const __m128i *)(const void *)at));
        if (mask != 0) return at + phi__json_lowest_bit(mask);
    }
#endif
    while (end - at >= 8 && !phi__json_special_word(at)) at += 8;
    while (at < end && phi__json_is_plain(*at)) at++;
    return at;
}

/* Returns the first quote or backslash in [at, end), or end. */
static const char *phi__json_text_quote_or_escape(const char *at, const char *end) {
#if defined(PHI__JSON_SSE2)
    const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\');
    for (; end - at >= 16; at += 16) {
        __m128i block = _mm_loadu_si128((const __m128i *)(const void *)at);
        int mask = _mm_movemask_epi8(
            _mm_or_si128(_mm_cmpeq_epi8(block, quote), _mm_cmpeq_epi8(block, backslash)));
        if (mask != 0) return at + phi__json_lowest_bit(mask);
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

PHI__FN const char *phi__json_text_quote(const char *at, const char *end, bool *escaped) {
    *escaped = false;
    for (;;) {
        at = phi__json_text_quote_or_escape(at, end);
        if (at == end) return NULL;
        if (*at == '"') return at;
        *escaped = true;
        if (end - at < 2) return NULL;
        at += 2;
    }
}

PHI__FN size_t phi__json_text_utf8(const char *at, const char *end) {
    const unsigned char *p = (const unsigned char *)at;
    unsigned char low = 0x80, high = 0xbf;
    size_t left = (size_t)(end - at);
    if (p[0] < 0x80) return 1;
    if (p[0] < 0xc2 || p[0] > 0xf4) return 0;
    size_t n = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
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

static uint32_t phi__json_text_hex_digit(char c) {
    if (phi__is_digit(c)) return (uint32_t)(c - '0');
    if (c >= 'a' && c <= 'f') return (uint32_t)(c - 'a') + 10;
    if (c >= 'A' && c <= 'F') return (uint32_t)(c - 'A') + 10;
    return UINT32_MAX;
}

PHI__FN uint32_t phi__json_text_hex(const char *at, const char *end, size_t digits) {
    uint32_t code = 0;
    if ((size_t)(end - at) < digits) return UINT32_MAX;
    for (; digits > 0; digits--) {
        uint32_t digit = phi__json_text_hex_digit(*at++);
        if (digit > 15) return UINT32_MAX;
        code = code << 4 | digit;
    }
    return code;
}

/* Returns the code unit of the escape \uXXXX at `at`; -1 if there is no such escape. */
static int32_t phi__json_text_unit(const char *at, const char *end) {
    if (end - at < 2 || at[0] != '\\' || at[1] != 'u') return -1;
    return (int32_t)phi__json_text_hex(at + 2, end, 4);
}

/* The character for each escape letter; 0 for an unknown letter. */
static const char phi__json_stands_for[128] = "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
                                              "\0\0\0\0\0\0\0\0\"\0\0\0\0\0\0\0\0\0\0\0\0/"
                                              "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
                                              "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\\\0\0\0"
                                              "\0\0\b\0\0\0\f\0\0\0\0\0\0\0\n\0\0\0\r\0\t";

/* Returns the character of the two-byte escape at `at`, or 0. */
static inline char phi__json_text_short_escape(const char *at, const char *end) {
    return end - at >= 2 && (unsigned char)at[1] < 0x80 ? phi__json_stands_for[(unsigned char)at[1]]
                                                        : '\0';
}

PHI__FN size_t phi__json_text_escape(const char *at, const char *end, uint32_t *code) {
    char letter = phi__json_text_short_escape(at, end);
    if (letter != '\0') {
        *code = (unsigned char)letter;
        return 2;
    }
    int32_t unit = phi__json_text_unit(at, end);
    if (unit < 0) return 0;
    *code = (uint32_t)unit;
    if (unit < 0xd800 || unit > 0xdbff) return 6;
    int32_t low = phi__json_text_unit(at + 6, end);
    if (low < 0xdc00 || low > 0xdfff) return 6;
    *code = 0x10000u + (((uint32_t)unit - 0xd800u) << 10) + ((uint32_t)low - 0xdc00u);
    return 12;
}

/* Writes the character of an escape, a UTF-8 sequence or a bad byte. Returns the byte after it. */
static const char *phi__json_text_unescape_one(const char *at, const char *end, char **to) {
    size_t n;
    if (*at == '\\') {
        uint32_t code = 0xfffd;
        n = phi__json_text_escape(at, end, &code);
        if (n == 0) n = end - at < 2 || (unsigned char)at[1] >= 0x80 ? 1 : 2;
        *to += phi__utf8_put(*to, code);
        return at + n;
    }
    n = phi__json_text_utf8(at, end);
    if (n == 0) {
        n = phi__utf8_bad(at, end); /* read before the bytes are overwritten */
        *to += phi__utf8_put(*to, 0xfffd);
        return at + n;
    }
    memmove(*to, at, n);
    *to += n;
    return at + n;
}

PHI__FN const char *phi__json_text_unescape_run(const char *at, const char *end, size_t most,
                                                char **to) {
    const char *stop = (size_t)(end - at) > most ? at + most : end;
    while (at < stop) {
        const char *plain = phi__json_plain_short(at, stop);
        if (plain != at) memmove(*to, at, (size_t)(plain - at));
        *to += plain - at;
        at = plain;
        if (at == stop) break;
        char letter = *at == '\\' ? phi__json_text_short_escape(at, end) : '\0';
        if (letter != '\0') {
            *(*to)++ = letter;
            at += 2;
        } else
            at = phi__json_text_unescape_one(at, end, to);
    }
    return at;
}

/* ---- tokens to tree ---- */

enum phi__json_state {
    PHI__JSON_COPYING,
    PHI__JSON_FIRST_KEY, /* a key or the closing bracket is next */
    PHI__JSON_KEY,
    PHI__JSON_COLON,
    PHI__JSON_FIRST_ITEM, /* an item or the closing bracket is next */
    PHI__JSON_VALUE,
    PHI__JSON_AFTER, /* a comma or a closing bracket is next */
    PHI__JSON_END,
    PHI__JSON_TEXT,    /* in a string, before its end is found */
    PHI__JSON_REWRITE, /* the end of a string is found; unescape it */
    PHI__JSON_COMMENT, /* in a block comment (PHI_JSON_RELAXED) */
    PHI__JSON_LINE_COMMENT
};

#define PHI__JSON_NUMBER_MOST 65536u /* bytes; limits the work of one step */
#define PHI__JSON_COPY_MOST 4096u    /* bytes; limits the work of one step */
#define PHI__JSON_KEY_MOST 0xffffffu
#define PHI__JSON_DEPTH 512u /* the default */

/* ---- errors ---- */

static void phi__json_read_found_words(const phi__json_reader *r, const char *at, char *out,
                                       size_t cap) {
    if (at >= r->end) {
        (void)snprintf(out, cap, "the end of the text");
        return;
    }
    unsigned char c = (unsigned char)r->text[at - r->base];
    if (c >= 0x20 && c < 0x7f)
        (void)snprintf(out, cap, "'%c'", c);
    else
        (void)snprintf(out, cap, "byte 0x%02x", c);
}

/* Sets the error "expected {what}, found {the byte}", or only `what`. Returns `at`. */
static const char *phi__json_read_fail(phi__json_reader *r, const char *at, phi_status status,
                                       const char *what, bool expected) {
    char found[32];
    r->status = r->error.status = status;
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

static const char *phi__json_read_expected(phi__json_reader *r, const char *at, const char *what) {
    return phi__json_read_fail(r, at, PHI_PARSE, what, true);
}

static const char *phi__json_read_wrong(phi__json_reader *r, const char *at, const char *what) {
    return phi__json_read_fail(r, at, PHI_PARSE, what, false);
}

static const char *phi__json_read_too_big(phi__json_reader *r, const char *at, const char *what) {
    return phi__json_read_fail(r, at, PHI_TOO_BIG, what, false);
}

static const char *phi__json_read_no_memory(phi__json_reader *r, const char *at) {
    return phi__json_read_fail(r, at, PHI_NO_MEMORY, "no memory for the tree", false);
}

/* ---- nodes ---- */

#define PHI__JSON_SLAB 16u /* nodes allocated at once, at most */

/* Allocates some nodes; fewer if little text is left. */
static bool phi__json_read_slab(phi__json_reader *r, const char *at) {
    size_t count = phi__min(1 + (size_t)(r->end - at) / 24, PHI__JSON_SLAB);
    phi_json *slab = (phi_json *)phi_arena_alloc(r->arena, count * sizeof *slab);
    if (slab == NULL) return false;
    r->spare = slab;
    r->spare_end = slab + count;
    return true;
}

static inline phi_json *phi__json_read_node(phi__json_reader *r, const char *at, uint32_t kind) {
    if (r->spare == r->spare_end && !phi__json_read_slab(r, at)) return NULL;
    phi_json *node = r->spare++;
    node->next = NULL;
    node->key = r->key;
    node->v.u = 0;
    node->len = 0;
    node->meta = r->key_len << 8 | kind;
    if (PHI__MARKED(r)) {
        /* A position is the start of the value. A string starts at its quote, one byte before
           r->mark. */
        if (kind == PHI__JSON_STRING) at = r->mark - 1;
        phi__marks_add(r->marks, node, r->line, (uint32_t)(at - r->line_at) + 1);
        if (node->key != NULL) phi__marks_add_key(r->marks, node, r->key_line, r->key_column);
    }
    return node;
}

/* Adds a complete value to the open container, or makes it the root. */
static inline void phi__json_read_join(phi__json_reader *r, phi_json *node) {
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

static const char *phi__json_read_open(phi__json_reader *r, const char *at) {
    bool object = *at == '{';
    if (r->depth == r->max_depth)
        return phi__json_read_too_big(r, at, "arrays and objects are nested too deeply");
    phi_json *node = phi__json_read_node(r, at, object ? PHI__JSON_OBJECT : PHI__JSON_ARRAY);
    if (node == NULL) return phi__json_read_no_memory(r, at);
    node->next = r->open;
    r->open = node;
    r->key = NULL;
    r->key_len = 0;
    r->depth++;
    r->state = object ? PHI__JSON_FIRST_KEY : PHI__JSON_FIRST_ITEM;
    return at + 1;
}

static inline const char *phi__json_read_close(phi__json_reader *r, const char *at) {
    phi_json *node = r->open;
    r->open = node->next;
    node->next = NULL;
    r->depth--;
    phi__json_read_join(r, node);
    return at + 1;
}

/* ---- scalars ---- */

static const char *phi__json_read_misspelt(phi__json_reader *r, const char *at, const char *word) {
    char what[16];
    (void)snprintf(what, sizeof what, "'%s'", word);
    for (; at < r->end && *at == *word; at++) word++;
    return phi__json_read_expected(r, at, what);
}

static inline const char *phi__json_read_scalar(phi__json_reader *r, const char *at, size_t len,
                                                uint32_t kind) {
    phi_json *node = phi__json_read_node(r, at, kind);
    if (node == NULL) return phi__json_read_no_memory(r, at);
    phi__json_read_join(r, node);
    return at + len;
}

static const char *phi__json_read_literal(phi__json_reader *r, const char *at) {
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

static const char *phi__json_read_number(phi__json_reader *r, const char *at) {
    bool cut = (size_t)(r->end - at) >= PHI__JSON_NUMBER_MOST;
    const char *limit = cut ? at + PHI__JSON_NUMBER_MOST : r->end, *bad;
    phi__json_number number;
    const char *after = phi__json_number_read(at, limit, &number, &bad);
    if (cut && (after == limit || (after == NULL && phi__json_number_bytes(at, limit) == limit)))
        return phi__json_read_too_big(r, at, "a number of 64 KiB or more");
    if (after == NULL && bad == at)
        return phi__json_read_wrong(r, at, "the number is too large for a double");
    if (after == NULL) return phi__json_read_expected(r, bad, "a digit");
    phi_json *node = phi__json_read_node(r, at, number.kind);
    if (node == NULL) return phi__json_read_no_memory(r, at);
    node->v = number.v;
    phi__json_read_join(r, node);
    return after;
}

/* ---- strings ---- */

/* Finishes a string; `quote` is its closing quote. */
static inline const char *phi__json_read_text_done(phi__json_reader *r, const char *string,
                                                   size_t len, const char *quote) {
    if (r->is_key) {
        if (len > PHI__JSON_KEY_MOST)
            return phi__json_read_too_big(r, quote, "a key of more than 16 MiB");
        r->key = string;
        r->key_len = (uint32_t)len;
        r->key_line = r->line;
        r->key_column = (uint32_t)(r->mark - r->line_at);
        r->state = PHI__JSON_COLON;
    } else {
        phi_json *node = phi__json_read_node(r, quote, PHI__JSON_STRING);
        if (node == NULL) return phi__json_read_no_memory(r, quote);
        node->v.str = string;
        node->len = (uint32_t)len;
        phi__json_read_join(r, node);
    }
    return quote + 1;
}

/* Called when the closing quote is found. Decides if the string must be unescaped. */
static inline const char *phi__json_read_text_closed(phi__json_reader *r, const char *quote) {
    size_t len = (size_t)(quote - r->mark);
    const char *from = r->mark;
    if (r->odd == NULL) {
        if (r->copy != NULL) r->copy[quote - r->base] = '\0';
        return phi__json_read_text_done(r, r->mark, len, quote);
    }
    if (r->copy != NULL && r->bad == 0) { /* unescape in place, beginning at the first escape */
        r->string = r->copy + (r->mark - r->base);
        r->to = r->copy + (r->odd - r->base);
        from = r->odd;
    } else { /* one bad byte may become the three bytes of U+FFFD */
        size_t bytes = phi__add(len + 1, phi__mul(r->bad, 2));
        r->to = bytes == SIZE_MAX ? NULL : phi__arena_bytes(r->arena, bytes);
        if (r->to == NULL) return phi__json_read_no_memory(r, quote);
        r->string = r->to;
        if (r->bad == 0 && (size_t)(r->odd - from) <= PHI__JSON_COPY_MOST) {
            /* copies the part before the first escape */
            memcpy(r->to, from, (size_t)(r->odd - from));
            r->to += r->odd - from;
            from = r->odd;
        }
    }
    r->quote = quote;
    r->state = PHI__JSON_REWRITE;
    return from;
}

static const char *phi__json_read_rewrite(phi__json_reader *r, const char *at, const char *stop) {
    const char *quote = r->quote;
    at = phi__json_text_unescape_run(at, quote, (size_t)(stop - at), &r->to);
    if (at < quote) return at;
    *r->to = '\0';
    return phi__json_read_text_done(r, r->string, (size_t)(r->to - r->string), quote);
}

static const char *phi__json_read_text_escape(phi__json_reader *r, const char *at) {
    uint32_t code;
    size_t n = phi__json_text_escape(at, r->end, &code);
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

/* Looks for the end of a string and checks every byte. */
static const char *phi__json_read_text(phi__json_reader *r, const char *at, const char *stop) {
    while (at < stop) {
        at = phi__json_text_plain_end(at, stop);
        if (at == stop) break;
        unsigned char c = (unsigned char)*at;
        if (c == '"') return phi__json_read_text_closed(r, at);
        if (c < 0x20)
            return phi__json_read_wrong(r, at, "a control character in a string must be escaped");
        if (c == '\\') {
            at = phi__json_read_text_escape(r, at);
            if (r->status != PHI_BUSY) return at;
            continue;
        }
        size_t n = phi__json_text_utf8(at, r->end);
        if (n == 0) {
            if ((r->flags & PHI_JSON_REPLACE_BAD_UTF8) == 0)
                return phi__json_read_wrong(r, at, "a byte that is not UTF-8");
            if (r->odd == NULL) r->odd = at;
            r->bad++;
            n = phi__utf8_bad(at, r->end);
        }
        at += n;
    }
    return at;
}

static inline const char *phi__json_read_text_begin(phi__json_reader *r, const char *at,
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

/* ---- for PHI_JSON_RELAXED ---- */

static bool phi__json_read_relaxed(const phi__json_reader *r) {
    return (r->flags & PHI_JSON_RELAXED) != 0;
}

/* True if a byte order mark is at the start of the text. */
static bool phi__json_read_order_mark(const phi__json_reader *r, const char *at) {
    return phi__json_read_relaxed(r) && at == r->base && r->end - at >= 3 &&
           memcmp(at, "\xEF\xBB\xBF", 3) == 0;
}

static const char *phi__json_read_comment(phi__json_reader *r, const char *at, const char *stop) {
    bool line = r->state == PHI__JSON_LINE_COMMENT;
    for (; at < stop; at++) {
        if (line && (*at == '\n' || *at == '\r')) {
            r->state = r->back;
            return at;
        }
        if (*at == '\n') {
            r->line++;
            r->line_at = at + 1;
        } else if (!line && *at == '*' && at + 1 < r->end && at[1] == '/') {
            r->state = r->back;
            return at + 2;
        }
    }
    return at;
}

/* ---- the state machine ---- */

static const char *phi__json_read_first(phi__json_reader *r, const char *at, const char *stop) {
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
        if (phi__json_read_order_mark(r, at)) return r->line_at = at + 3;
        return phi__json_read_expected(
            r, at, r->state == PHI__JSON_FIRST_ITEM ? "a value or ']'" : "a value");
    }
}

static inline const char *phi__json_read_after(phi__json_reader *r, const char *at) {
    bool object = phi__json_kind_of(r->open) == PHI__JSON_OBJECT;
    if (*at == ',') {
        r->state = object ? PHI__JSON_KEY : PHI__JSON_VALUE;
        return at + 1;
    }
    if (*at == (object ? '}' : ']')) return phi__json_read_close(r, at);
    return phi__json_read_expected(r, at, object ? "',' or '}'" : "',' or ']'");
}

static inline const char *phi__json_read_white(phi__json_reader *r, const char *at,
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

static inline const char *phi__json_read_key(phi__json_reader *r, const char *at,
                                             const char *stop) {
    if (*at == '"') {
        at = phi__json_read_text_begin(r, at, stop, true);
        if (r->state != PHI__JSON_COLON || at >= stop || *at != ':') return at;
        r->state = PHI__JSON_VALUE;
        return at + 1;
    }
    if (r->state == PHI__JSON_KEY && !(*at == '}' && phi__json_read_relaxed(r)))
        return phi__json_read_expected(r, at, "a key in quotes");
    if (*at == '}') return phi__json_read_close(r, at);
    return phi__json_read_expected(r, at, "a key in quotes or '}'");
}

/* True if ']' may follow a comma here: in an array, with PHI_JSON_RELAXED. */
static bool phi__json_read_last_comma(const phi__json_reader *r) {
    return phi__json_read_relaxed(r) && r->open != NULL &&
           phi__json_kind_of(r->open) == PHI__JSON_ARRAY;
}

static inline const char *phi__json_read_value(phi__json_reader *r, const char *at,
                                               const char *stop) {
    if (*at == ']' && (r->state == PHI__JSON_FIRST_ITEM || phi__json_read_last_comma(r)))
        return phi__json_read_close(r, at);
    at = phi__json_read_first(r, at, stop);
    if (r->state != PHI__JSON_AFTER || at >= stop || *at != ',') return at;
    return phi__json_read_after(r, at);
}

/* Reads tokens up to `stop`. Returns earlier at an error, or inside of a string or comment. */
static const char *phi__json_read_tokens(phi__json_reader *r, const char *at, const char *stop) {
    while (at < stop && r->status == PHI_BUSY) {
        if ((unsigned char)*at <= ' ' && r->state < PHI__JSON_TEXT) {
            at = phi__json_read_white(r, at, stop);
            if (at == stop) break;
        }
        if (*at == '/' && phi__json_read_relaxed(r) && r->state < PHI__JSON_TEXT) {
            /* A slash between tokens begins a comment. */
            bool line = at + 1 < r->end && at[1] == '/';
            if (!line && (at + 1 == r->end || at[1] != '*'))
                return phi__json_read_expected(r, at + 1,
                                               "'/' or '*' after the slash of a comment");
            r->back = r->state;
            r->state = line ? PHI__JSON_LINE_COMMENT : PHI__JSON_COMMENT;
            return at + 2;
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

static void phi__json_read_cut(phi__json_reader *r) {
    if (r->state == PHI__JSON_LINE_COMMENT) r->state = r->back;
    switch (r->state) {
    case PHI__JSON_END: r->status = PHI_OK; return;
    case PHI__JSON_FIRST_KEY:
        (void)phi__json_read_expected(r, r->end, "a key in quotes or '}'");
        return;
    case PHI__JSON_KEY: (void)phi__json_read_expected(r, r->end, "a key in quotes"); return;
    case PHI__JSON_COLON: (void)phi__json_read_expected(r, r->end, "':'"); return;
    case PHI__JSON_FIRST_ITEM: (void)phi__json_read_expected(r, r->end, "a value or ']'"); return;
    case PHI__JSON_COMMENT:
        (void)phi__json_read_expected(r, r->end, "the closing '*/' of a comment");
        return;
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

/* Copies the next slice of the text. After the last slice, sets the reader to read the copy. */
static void phi__json_read_copying(phi__json_reader *r, size_t units) {
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

/* ---- the reader ---- */

PHI__FN void phi__json_read_begin(phi__json_reader *r, phi_arena *arena, phi_str text,
                                  uint32_t flags, uint32_t max_depth) {
    if (text.at == NULL) text = phi__str("", 0);
    r->arena = arena;
    r->copy = r->string = r->to = NULL; /* fields are set one by one, since a memset takes longer */
    r->mark = r->odd = r->quote = r->key = NULL;
    r->root = r->open = r->spare = r->spare_end = NULL;
    r->marks = NULL;
    r->key_len = r->bad = r->depth = 0;
    r->is_key = false;
    r->error.line = r->error.column = 0;
    r->error.offset = 0;
    r->error.message[0] = '\0';
    r->error.status = PHI_OK;
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
    else if ((flags & PHI_JSON_RELAXED) == 0 && text.len >= 3 &&
             memcmp(text.at, "\xEF\xBB\xBF", 3) == 0)
        (void)phi__json_read_wrong(r, r->text, "a byte order mark is not JSON");
}

PHI__FN phi_status phi__json_read_advance(phi__json_reader *r, size_t units) {
    if (r->status != PHI_BUSY) return r->status;
    if (units == 0) units = 1;
    if (r->state == PHI__JSON_COPYING) {
        phi__json_read_copying(r, units);
        if (r->state == PHI__JSON_COPYING || units < r->len) return r->status;
    }
    const char *at = r->at;
    const char *stop = (size_t)(r->end - at) > units ? at + units : r->end;
    while (r->status == PHI_BUSY && at < stop) {
        if (r->state == PHI__JSON_TEXT)
            at = phi__json_read_text(r, at, stop);
        else if (r->state == PHI__JSON_REWRITE)
            at = phi__json_read_rewrite(r, at, stop);
        else if (r->state >= PHI__JSON_COMMENT)
            at = phi__json_read_comment(r, at, stop);
        else
            at = phi__json_read_tokens(r, at, stop);
        if (r->state == PHI__JSON_REWRITE && at < stop && (size_t)(stop - at) > units)
            stop = at + units; /* `at` may be back at the first escape */
    }
    r->at = at;
    if (r->status == PHI_BUSY && at == r->end) phi__json_read_cut(r);
    if (r->status != PHI_BUSY) {
        /* Returns unused nodes to the arena if nothing was allocated after them. */
        if (r->spare != r->spare_end && (char *)r->spare_end == r->arena->at)
            r->arena->at = (char *)r->spare;
        r->spare = r->spare_end = NULL;
    }
    return r->status;
}

PHI__FN phi_status phi__json_read_result(const phi__json_reader *r, phi_json **out,
                                         phi_parse_error *error) {
    if (out != NULL) *out = r->status == PHI_OK ? r->root : NULL;
    if (error != NULL) *error = r->error;
    return r->status;
}
#undef PHI__JSON_NUMBER_MOST
#undef PHI__JSON_COPY_MOST
#undef PHI__JSON_KEY_MOST
#undef PHI__JSON_DEPTH
#undef PHI__JSON_SLAB

/* ---- src/text/json_write.c ---- */

/* json_write.c - writes a tree as text in slices, and writes JSON without a tree. */

/* ---- strings ---- */

/* The character that follows the backslash: a letter, or u for \u00XX. 0: the byte is not
   escaped. */
static const char phi__json_letter[128] =
    "uuuuuuuubtnufruuuuuuuuuuuuuuuuuu\0\0\"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
    "\0"
    "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\\";

static char *phi__json_write_unit(char *to, uint32_t unit) {
    static const char hex[] = "0123456789abcdef";
    *to++ = '\\';
    *to++ = 'u';
    *to++ = hex[unit >> 12 & 15];
    *to++ = hex[unit >> 8 & 15];
    *to++ = hex[unit >> 4 & 15];
    *to++ = hex[unit & 15];
    return to;
}

static uint32_t phi__json_write_decode(const char *at, size_t n) {
    const unsigned char *p = (const unsigned char *)at;
    if (n == 2) return (p[0] & 0x1fu) << 6 | (p[1] & 0x3fu);
    if (n == 3) return (p[0] & 0x0fu) << 12 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu);
    return (p[0] & 0x07u) << 18 | (p[1] & 0x3fu) << 12 | (p[2] & 0x3fu) << 6 | (p[3] & 0x3fu);
}

/* Writes an escape or a UTF-8 sequence: at most 12 bytes for one character. */
static const char *phi__json_write_special(const char *at, const char *end, bool ascii, char **to) {
    unsigned char c = (unsigned char)*at;
    uint32_t code = 0xfffd;
    if (c < 0x80) {
        char letter = phi__json_letter[c];
        if (letter == 'u') {
            *to = phi__json_write_unit(*to, c);
            return at + 1;
        }
        *(*to)++ = '\\';
        *(*to)++ = letter;
        return at + 1;
    }
    size_t n = phi__json_text_utf8(at, end);
    if (n != 0 && !ascii) {
        memcpy(*to, at, n);
        *to += n;
        return at + n;
    }
    if (n != 0) code = phi__json_write_decode(at, n);
    if (!ascii)
        *to += phi__utf8_put(*to, code);
    else if (code < 0x10000)
        *to = phi__json_write_unit(*to, code);
    else {
        *to = phi__json_write_unit(*to, 0xd800 + ((code - 0x10000) >> 10));
        *to = phi__json_write_unit(*to, 0xdc00 + (code & 0x3ff));
    }
    return at + (n == 0 ? phi__utf8_bad(at, end) : n);
}

#define PHI__JSON_WRITE_ROOM 256u /* bytes reserved first; enough for a small text */
/* bytes of a piece of text; room is made for their escaped form */
#define PHI__JSON_ESCAPE_SLICE 256u
#define PHI__JSON_OVER 16u /* bytes that may be written past the end */

/* Copies bytes while they are plain. May write up to PHI__JSON_OVER bytes after the copied ones. */
static inline const char *phi__json_write_copy_plain(const char *at, const char *end, char **to) {
    char *out = *to;
#if defined(PHI__JSON_SSE2)
    while (end - at >= 16) {
        __m128i block = _mm_loadu_si128((const __m128i *)(const void *)at);
        int mask = phi__json_special(block);
        _mm_storeu_si128((__m128i *)(void *)out, block);
        if (mask != 0) {
            *to = out + phi__json_lowest_bit(mask);
            return at + phi__json_lowest_bit(mask);
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

/* Escapes about `most` bytes of [at, end), but at least one character. Returns the first byte that
   was not escaped. */
static const char *phi__json_write_run(phi__buf *buf, const char *at, const char *end, size_t most,
                                       bool ascii) {
    const char *stop = (size_t)(end - at) > most ? at + most : end;
    while (at < stop) {
        size_t n = phi__min((size_t)(stop - at), PHI__JSON_ESCAPE_SLICE);
        const char *slice = at + n;
        char *start = phi__buf_reserve(buf, 6 * n + 12 + PHI__JSON_OVER), *to = start;
        if (to == NULL) return end;
        while (at < slice) {
            at = phi__json_write_copy_plain(at, slice, &to);
            if (at < slice) at = phi__json_write_special(at, end, ascii, &to);
        }
        phi__buf_add_len(buf, (size_t)(to - start));
    }
    return at;
}

PHI__FN void phi__json_write_part(phi__buf *buf, phi_str text) {
    if (text.len > 0) (void)phi__json_write_run(buf, text.at, text.at + text.len, text.len, false);
}

PHI__FN void phi__json_write_str(phi__buf *buf, phi_str text) {
    phi__buf_char(buf, '"');
    phi__json_write_part(buf, text);
    phi__buf_char(buf, '"');
}

PHI__FN void phi__json_write_bool(phi__buf *buf, bool b) {
    phi__buf_add(buf, b ? "true" : "false", b ? 4 : 5);
}

PHI__FN void phi__json_write_comma(phi__buf *buf) {
    char last = buf->len > 0 ? buf->at[buf->len - 1] : '{';
    if (last != '{' && last != '[' && last != ':' && last != ',') phi__buf_char(buf, ',');
}

PHI__FN void phi__json_write_item(phi__buf *buf, const char *json) {
    phi__json_write_comma(buf);
    phi__buf_text(buf, json);
}

PHI__FN void phi__json_write_key(phi__buf *buf, phi_str key) {
    phi__json_write_comma(buf);
    phi__json_write_str(buf, key);
    phi__buf_char(buf, ':');
}

/* ---- trees ---- */

/* Begins a new line with the indentation of the current depth. */
static void phi__json_write_line(phi__json_writer *w) {
    size_t n = 2 * w->depth;
    if ((w->flags & PHI_JSON_PRETTY) == 0) return;
    char *to = phi__buf_reserve(w->out, n + 1);
    if (to == NULL) return;
    to[0] = '\n';
    memset(to + 1, ' ', n);
    phi__buf_add_len(w->out, n + 1);
}

static void phi__json_write_begin(phi__json_writer *w, phi_str text, bool is_key) {
    phi__buf_char(w->out, '"');
    w->rest = text;
    w->in_string = true;
    w->in_key = is_key;
}

/* Continues with `child`. Its container is already on top of the stack. */
static void phi__json_write_child(phi__json_writer *w, const phi_json *child) {
    phi__json_write_line(w);
    w->node = child;
    if (phi__json_kind_of(w->stack[w->depth - 1]) == PHI__JSON_OBJECT)
        phi__json_write_begin(w, phi__str(child->key, phi__json_key_len(child)), true);
}

/* Called when w->node is written. Continues with the next sibling, or closes the container. */
static void phi__json_write_next(phi__json_writer *w) {
    w->written = false;
    if (w->depth == 0) {
        w->node = NULL;
        return;
    }
    const phi_json *container = w->stack[w->depth - 1];
    if (container->v.last != w->node) {
        phi__buf_char(w->out, ',');
        phi__json_write_child(w, w->node->next);
        return;
    }
    w->depth--;
    w->node = container;
    w->written = true;
    phi__json_write_line(w);
    phi__buf_char(w->out, phi__json_kind_of(container) == PHI__JSON_OBJECT ? '}' : ']');
}

static void phi__json_write_open(phi__json_writer *w, const phi_json *node) {
    bool object = phi__json_kind_of(node) == PHI__JSON_OBJECT;
    if (node->len == 0) {
        phi__buf_add(w->out, object ? "{}" : "[]", 2);
        w->written = true;
        return;
    }
    if (w->depth == PHI_JSON_MAX_DEPTH) {
        w->status = PHI_TOO_BIG;
        return;
    }
    if (w->depth == w->cap) { /* `few` is full at first, later the allocated stack */
        size_t cap = w->stack == w->few ? 0 : w->cap;
        const phi_json **stack = (const phi_json **)phi__grow(
            w->out->memory, w->stack == w->few ? NULL : (void *)w->stack, &cap, w->cap * 2,
            sizeof *stack);
        if (stack == NULL) {
            w->status = PHI_NO_MEMORY;
            return;
        }
        if (w->stack == w->few) memcpy(stack, w->few, sizeof w->few);
        w->stack = stack;
        w->cap = cap;
    }
    w->stack[w->depth++] = node;
    phi__buf_char(w->out, object ? '{' : '[');
    phi__json_write_child(w, node->v.last->next);
}

static void phi__json_write_node(phi__json_writer *w) {
    const phi_json *node = w->node;
    switch (phi__json_kind_of(node)) {
    case PHI__JSON_FALSE:
    case PHI__JSON_TRUE:
        phi__json_write_bool(w->out, phi__json_kind_of(node) == PHI__JSON_TRUE);
        break;
    case PHI__JSON_INT: phi__json_number_put_i64(w->out, node->v.i); break;
    case PHI__JSON_UINT: phi__json_number_put_u64(w->out, node->v.u); break;
    case PHI__JSON_DOUBLE: phi__json_number_put_double(w->out, node->v.d); break;
    case PHI__JSON_STRING:
        phi__json_write_begin(w, phi__str(node->v.str, node->len), false);
        return;
    case PHI__JSON_ARRAY:
    case PHI__JSON_OBJECT: phi__json_write_open(w, node); return;
    default: phi__buf_add(w->out, "null", 4); break;
    }
    w->written = true;
}

/* Writes the next piece of the current string, about `units` bytes. */
static void phi__json_write_rest(phi__json_writer *w, size_t units) {
    const char *end = w->rest.at + w->rest.len, *at = w->rest.at;
    if (w->rest.len > 0)
        at = phi__json_write_run(w->out, at, end, units, (w->flags & PHI_JSON_ASCII) != 0);
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

PHI__FN void phi__json_write_writer_begin(phi__json_writer *w, phi__buf *out, const phi_json *node,
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

PHI__FN phi_status phi__json_write_writer_advance(phi__json_writer *w, size_t units) {
    size_t from = w->out->len, done = 0;
    if (units == 0) units = 1;
    while (w->status == PHI_BUSY) {
        if (w->out->failed)
            w->status = PHI_NO_MEMORY;
        else if (w->in_string)
            phi__json_write_rest(w, units - done);
        else if (w->written)
            phi__json_write_next(w);
        else if (w->node == NULL)
            w->status = PHI_OK;
        else
            phi__json_write_node(w);
        done = w->out->len - from;
        if (done >= units && w->status == PHI_BUSY) break;
    }
    return w->status;
}

PHI__FN void phi__json_write_writer_end(phi__json_writer *w) {
    if (w->stack != w->few) phi__free(w->out->memory, (void *)w->stack, w->cap * sizeof *w->stack);
    w->stack = w->few;
    w->cap = PHI__JSON_STACK;
    w->depth = 0;
    w->node = NULL;
}

PHI__FN phi_status phi__json_write(phi__buf *buf, const phi_json *node, uint32_t flags) {
    phi__json_writer w;
    phi_status status;
    phi__json_write_writer_begin(&w, buf, node, flags);
    while ((status = phi__json_write_writer_advance(&w, SIZE_MAX)) == PHI_BUSY) continue;
    phi__json_write_writer_end(&w);
    return status;
}

/* ---- public ---- */

PHI_API phi_status phi_json_write(phi_arena *arena, const phi_json *node, uint32_t flags,
                                  phi_str *out) {
    phi__buf buf;
    if (arena == NULL || out == NULL) return PHI_BAD_ARG;
    phi__buf_init(&buf, arena->memory);
    (void)phi__buf_reserve(&buf, PHI__JSON_WRITE_ROOM);
    phi_status status = phi__json_write(&buf, node, flags);
    if (status == PHI_OK && !phi__arena_str(arena, phi__buf_str(&buf), out)) status = PHI_NO_MEMORY;
    phi__buf_free(&buf);
    return status;
}
#undef PHI__JSON_WRITE_ROOM
#undef PHI__JSON_ESCAPE_SLICE
#undef PHI__JSON_OVER

/* ---- src/text/marks.c ---- */

/* marks.c - positions of nodes: open addressing, at most three quarters full. */

enum { PHI__MARKS_FIRST = 64 }; /* slots of the first table */

PHI__FN void phi__marks_init(phi__marks *marks, phi_arena *arena) {
    memset(marks, 0, sizeof *marks);
    marks->arena = arena;
}

/* Returns the node's slot, or the free slot for it. At least one slot is free. */
static phi__marks_entry *phi__marks_slot(const phi__marks *marks, const phi_json *node) {
    uint64_t hash = (uint64_t)(uintptr_t)node * UINT64_C(0x9e3779b97f4a7c15);
    size_t mask = marks->cap - 1, i = (size_t)(hash >> 32) & mask;
    while (marks->slots[i].node != NULL && marks->slots[i].node != node) i = (i + 1) & mask;
    return &marks->slots[i];
}

/* The old table stays in the arena, so all tables together take twice the memory of the last
   one. */
static bool phi__marks_grow(phi__marks *marks) {
    phi__marks grown = *marks;
    grown.cap = phi__max(phi__mul(marks->cap, 2), PHI__MARKS_FIRST);
    grown.slots =
        (phi__marks_entry *)phi__arena_zero(marks->arena, phi__mul(grown.cap, sizeof *grown.slots));
    if (grown.slots == NULL) return false;
    for (size_t i = 0; i < marks->cap; i++)
        if (marks->slots[i].node != NULL)
            *phi__marks_slot(&grown, marks->slots[i].node) = marks->slots[i];
    *marks = grown;
    return true;
}

/* Returns the node's slot, and adds it if it is new. NULL: no memory. */
static phi__marks_entry *phi__marks_take(phi__marks *marks, const phi_json *node) {
    if (marks->failed) return NULL;
    if (marks->count >= marks->cap / 4 * 3 && !phi__marks_grow(marks)) {
        marks->failed = true;
        return NULL;
    }
    phi__marks_entry *slot = phi__marks_slot(marks, node);
    if (slot->node == NULL) marks->count++;
    slot->node = node;
    return slot;
}

PHI__FN void phi__marks_add(phi__marks *marks, const phi_json *node, uint32_t line,
                            uint32_t column) {
    phi__marks_entry *mark = phi__marks_take(marks, node);
    if (mark == NULL) return;
    mark->line = line;
    mark->column = column;
}

PHI__FN void phi__marks_add_key(phi__marks *marks, const phi_json *node, uint32_t line,
                                uint32_t column) {
    phi__marks_entry *mark = phi__marks_take(marks, node);
    if (mark == NULL) return;
    mark->key_line = line;
    mark->key_column = column;
}

static const phi__marks_entry *phi__marks_at(const phi__marks *marks, const phi_json *node) {
    phi__marks_entry *slot = marks->cap == 0 || node == NULL ? NULL : phi__marks_slot(marks, node);
    return slot == NULL || slot->node == NULL ? NULL : slot;
}

PHI__FN bool phi__marks_find(const phi__marks *marks, const phi_json *node, uint32_t *line,
                             uint32_t *column) {
    const phi__marks_entry *mark = phi__marks_at(marks, node);
    *line = mark != NULL ? mark->line : 0;
    *column = mark != NULL ? mark->column : 0;
    return *line != 0;
}

PHI__FN bool phi__marks_key(const phi__marks *marks, const phi_json *node, uint32_t *line,
                            uint32_t *column) {
    const phi__marks_entry *mark = phi__marks_at(marks, node);
    *line = mark != NULL ? mark->key_line : 0;
    *column = mark != NULL ? mark->key_column : 0;
    return *line != 0;
}

/* ---- src/text/records.c ---- */

/* records.c - fields of a struct as members of a JSON object, by a table. */

/* ---- one member ---- */

PHI__FN void phi__records_str(phi__buf *out, const char *key, phi_str value) {
    phi__json_write_key(out, phi_str_of(key));
    phi__json_write_str(out, value);
}

PHI__FN void phi__records_raw(phi__buf *out, const char *key, const char *json) {
    phi__json_write_key(out, phi_str_of(key));
    phi__buf_text(out, json);
}

PHI__FN void phi__records_strs(phi__buf *out, const char *key, const phi_str *items, size_t count) {
    phi__records_raw(out, key, "[");
    for (size_t i = 0; i < count; i++) {
        phi__json_write_comma(out);
        phi__json_write_str(out, items[i]);
    }
    phi__buf_char(out, ']');
}

PHI__FN void phi__records_option(phi__buf *out, const char *key, phi_str value) {
    if (value.len > 0)
        phi__records_str(out, key, value);
    else
        phi__records_raw(out, key, "null");
}

PHI__FN void phi__records_some(phi__buf *out, const char *key, phi_str value) {
    if (value.len > 0) phi__records_str(out, key, value);
}

PHI__FN void phi__records_u64(phi__buf *out, const char *key, uint64_t n) {
    phi__json_write_key(out, phi_str_of(key));
    phi__json_number_put_u64(out, n);
}

PHI__FN void phi__records_i64(phi__buf *out, const char *key, int64_t n) {
    phi__json_write_key(out, phi_str_of(key));
    phi__json_number_put_i64(out, n);
}

PHI__FN void phi__records_double(phi__buf *out, const char *key, double d) {
    phi__json_write_key(out, phi_str_of(key));
    phi__json_number_put_double(out, d);
}

PHI__FN void phi__records_bool(phi__buf *out, const char *key, bool b) {
    phi__json_write_key(out, phi_str_of(key));
    phi__json_write_bool(out, b);
}

PHI__FN void phi__records_true(phi__buf *out, const char *key, bool b) {
    if (b) phi__records_raw(out, key, "true");
}

PHI__FN void phi__records_time(phi__buf *out, const char *key, int64_t ms) {
    char text[PHI__DATE_BYTES];
    phi__records_str(out, key, phi__str(text, phi__date_put(ms, text)));
}

PHI__FN uint64_t phi__records_get_u64(const phi_json *node, const char *key) {
    return phi__json_get_uint(phi_json_get(node, key), 0);
}

PHI__FN uint32_t phi__records_get_u32(const phi_json *node, const char *key) {
    uint64_t n = phi__records_get_u64(node, key);
    return n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

PHI__FN size_t phi__records_get_size(const phi_json *node, const char *key) {
    uint64_t n = phi__records_get_u64(node, key);
    return n > SIZE_MAX ? SIZE_MAX : (size_t)n;
}

PHI__FN double phi__records_get_double(const phi_json *node, const char *key) {
    return phi_json_num(phi_json_get(node, key), 0);
}

PHI__FN bool phi__records_get_bool(const phi_json *node, const char *key) {
    return phi_json_bool(phi_json_get(node, key), false);
}

PHI__FN phi_str phi__records_get_str(const phi_json *node, const char *key) {
    return phi_json_str(phi_json_get(node, key), "");
}

PHI__FN int64_t phi__records_get_time(const phi_json *node, const char *key) {
    int64_t ms = 0;
    (void)phi__date_get(phi__records_get_str(node, key), &ms);
    return ms;
}

/* ---- integers of any size ---- */

static uint64_t phi__records_load(const void *at, size_t size) {
    uint64_t n64 = 0;
    uint32_t n32;
    uint16_t n16;
    uint8_t n8;
    switch (size) {
    case 1: memcpy(&n8, at, 1); return n8;
    case 2: memcpy(&n16, at, 2); return n16;
    case 4: memcpy(&n32, at, 4); return n32;
    default: memcpy(&n64, at, 8); return n64;
    }
}

static void phi__records_store(void *at, size_t size, uint64_t n) {
    uint32_t n32 = n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
    uint16_t n16 = n > UINT16_MAX ? (uint16_t)UINT16_MAX : (uint16_t)n;
    uint8_t n8 = n > UINT8_MAX ? (uint8_t)UINT8_MAX : (uint8_t)n;
    switch (size) {
    case 1: memcpy(at, &n8, 1); break;
    case 2: memcpy(at, &n16, 2); break;
    case 4: memcpy(at, &n32, 4); break;
    default: memcpy(at, &n, 8); break;
    }
}

/* ---- tables ---- */

PHI__FN void phi__records_put(phi__buf *out, const phi__field *fields, size_t count,
                              const void *from) {
    for (size_t i = 0; i < count; i++) {
        const phi__field *field = &fields[i];
        const void *at = (const char *)from + field->offset;
        uint64_t n = 0;
        phi_str s;
        double d;
        if (field->kind == PHI__FIELD_STR) {
            memcpy(&s, at, sizeof s);
            if (s.len > 0 || field->rule == PHI__FIELD_ALWAYS)
                phi__records_str(out, field->key, s);
            else if (field->rule == PHI__FIELD_OPTION)
                phi__records_raw(out, field->key, "null");
            continue;
        }
        n = phi__records_load(at, field->size);
        if (n == 0 && field->rule != PHI__FIELD_ALWAYS) {
            if (field->rule == PHI__FIELD_OPTION) phi__records_raw(out, field->key, "null");
            continue;
        }
        switch (field->kind) {
        case PHI__FIELD_BOOL: phi__records_bool(out, field->key, n != 0); break;
        case PHI__FIELD_UINT: phi__records_u64(out, field->key, n); break;
        case PHI__FIELD_TIME: phi__records_time(out, field->key, (int64_t)n); break;
        default:
            memcpy(&d, at, sizeof d);
            phi__records_double(out, field->key, d);
            break;
        }
    }
}

PHI__FN bool phi__records_get(const phi_json *node, const phi__field *fields, size_t count,
                              void *to, phi_arena *arena) {
    bool good = true, b;
    for (size_t i = 0; i < count; i++) {
        const phi__field *field = &fields[i];
        void *at = (char *)to + field->offset;
        phi_str s;
        double d;
        switch (field->kind) {
        case PHI__FIELD_STR:
            s = phi__records_get_str(node, field->key);
            if (arena != NULL && s.len == 0) s = PHI__LIT(""); /* an empty string is not copied */
            if (arena != NULL && s.len > 0 && !phi__arena_str(arena, s, &s)) {
                s = phi__str(NULL, 0);
                good = false;
            }
            memcpy(at, &s, sizeof s);
            break;
        case PHI__FIELD_BOOL:
            b = phi__records_get_bool(node, field->key);
            memcpy(at, &b, sizeof b);
            break;
        case PHI__FIELD_UINT:
            phi__records_store(at, field->size, phi__records_get_u64(node, field->key));
            break;
        case PHI__FIELD_TIME:
            phi__records_store(at, field->size, (uint64_t)phi__records_get_time(node, field->key));
            break;
        default:
            d = phi__records_get_double(node, field->key);
            memcpy(at, &d, sizeof d);
            break;
        }
    }
    return good;
}

/* ---- src/text/schema.c ---- */

/* schema.c - checks values against a JSON Schema, as far as tool arguments need it. */

#define PHI__SCHEMA_DEPTH 256u     /* depth of nested schemas, with references */
#define PHI__SCHEMA_WORK 16000000u /* units, mostly compared members; see docs/limits.md */
#define PHI__SCHEMA_VISIT 16u      /* units of work for each keyword of an applied schema */
#define PHI__SCHEMA_MEMO 256u      /* remembered results; a power of two */
#define PHI__SCHEMA_REFS 32u       /* remembered references; a power of two */
#define PHI__SCHEMA_SMALL 16u      /* results that took less work are not remembered */

/* A remembered result of checking a value. A newer result may replace it. */
typedef struct phi__schema_memo {
    const phi_json *schema, *value;
    bool fits;
} phi__schema_memo;

typedef struct phi__schema_ref {
    const char *ref;
    const phi_json *target;
} phi__schema_ref;

typedef struct phi__schema {
    const phi_json *root;
    phi_schema_error *error; /* NULL: no message is wanted */
    size_t len;              /* length of the message */
    char place[128];         /* such as arguments.list[2].name; cut if too long */
    size_t place_len;
    uint32_t depth, quiet, work;
    phi_status status; /* PHI_OK, or an error other than a mismatch */
    /* table for the members of large objects; not used if names.memory is NULL */
    phi__map names;
    phi__schema_memo memo[PHI__SCHEMA_MEMO];
    phi__schema_ref refs[PHI__SCHEMA_REFS];
} phi__schema;

/* ---- messages ---- */

static void phi__schema_put(phi__schema *c, phi_str text) {
    if (c->error == NULL) return;
    size_t room = sizeof c->error->message - 1 - c->len;
    if (text.len > room) text.len = phi__utf8_cut(text, room);
    if (text.len > 0) memcpy(c->error->message + c->len, text.at, text.len);
    c->len += text.len;
    c->error->message[c->len] = '\0';
}

static void phi__schema_text(phi__schema *c, const char *text) {
    phi__schema_put(c, phi_str_of(text));
}

/* Begins a message with the place and `text`. False: no message is needed. */
static bool phi__schema_say(phi__schema *c, const char *text) {
    if (c->quiet > 0 || c->status != PHI_OK || c->error == NULL) return false;
    c->len = 0;
    phi__schema_put(c, phi__str(c->place, c->place_len));
    phi__schema_text(c, ": ");
    phi__schema_text(c, text);
    return true;
}

#define PHI__SCHEMA_QUOTE 60u /* bytes of a string in a message */

static void phi__schema_quote(phi__schema *c, phi_str text) {
    phi__schema_text(c, "\"");
    phi__schema_put(c, phi__str(text.at, phi__utf8_cut(text, PHI__SCHEMA_QUOTE)));
    phi__schema_text(c, text.len > PHI__SCHEMA_QUOTE ? "...\"" : "\"");
}

static void phi__schema_number(phi__schema *c, const phi_json *node) {
    char digits[32];
    phi__buf buf = PHI_ZERO; /* `room` is large enough, so buf never allocates */
    buf.at = digits;
    buf.cap = sizeof digits;
    if (phi__json_kind_of(node) == PHI__JSON_INT)
        phi__json_number_put_i64(&buf, node->v.i);
    else if (phi__json_kind_of(node) == PHI__JSON_UINT)
        phi__json_number_put_u64(&buf, node->v.u);
    else
        phi__json_number_put_double(&buf, node->v.d);
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

/* Writes "a, b or c", or "a, b, c" if `quoted`. */
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
    size_t was = c->place_len, room;
    phi_str part[3];
    part[0] = phi_str_of(before);
    part[1] = name;
    part[2] = phi_str_of(after);
    for (size_t i = 0; i < 3; i++) {
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

/* ---- limits of work and depth ---- */

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
    size_t work = phi__mul(PHI__SCHEMA_VISIT, 1 + phi_json_count(schema));
    if (!phi__schema_spend(c, work)) return false;
    if (c->depth == PHI__SCHEMA_DEPTH) {
        c->quiet = 0;
        (void)phi__schema_say(c, "nested too deeply to be checked");
        c->status = PHI_TOO_BIG;
        return false;
    }
    c->depth++;
    return true;
}

/* ---- members ---- */

static phi_json *phi__schema_look(const phi__schema *c, uint64_t hash, phi_str key) {
    phi_json *member;
    size_t probe = 0;
    while ((member = (phi_json *)phi__map_each(&c->names, hash, &probe)) != NULL)
        if (phi_str_equal(phi__str(member->key, phi__json_key_len(member)), key)) break;
    return member;
}

/* Puts the object and its members into the table; the last of several equal names counts. False:
   there is no table, no memory, or too much work. */
static bool phi__schema_know(phi__schema *c, const phi_json *object) {
    uint64_t own = ~phi__json_member_hash(c, object, phi__str(NULL, 0));
    phi_json_iter it = phi_json_each(object);
    size_t probe = 0;
    void *item;
    if (c->names.memory == NULL) return false;
    while ((item = phi__map_each(&c->names, own, &probe)) != NULL)
        if (item == (const void *)object) return true;
    if (!phi__map_reserve(&c->names, phi__add(c->names.count, 1 + it.left)) ||
        !phi__schema_spend(c, it.left))
        return false;
    while (phi_json_next(&it) != NULL) {
        uint64_t hash = phi__json_member_hash(c, object, it.key);
        item = phi__schema_look(c, hash, it.key);
        if (item != NULL) phi__map_drop(&c->names, hash, item);
        phi__map_add(&c->names, hash, (void *)(uintptr_t)it.at);
    }
    phi__map_add(&c->names, own, (void *)(uintptr_t)object);
    return true;
}

/* Returns the member that phi__json_get_n would find. NULL: there is no such member, or the search
   is too much work. */
static const phi_json *phi__schema_member(phi__schema *c, const phi_json *object, phi_str key) {
    if (phi_json_count(object) > PHI__SCHEMA_SMALL && phi_json_is(object, PHI_JSON_OBJECT) &&
        phi__schema_know(c, object)) {
        return phi__schema_spend(c, 1)
                   ? phi__schema_look(c, phi__json_member_hash(c, object, key), key)
                   : NULL;
    }
    if (!phi__schema_spend(c, 1 + phi_json_count(object))) return NULL;
    return phi__json_get_n(object, key);
}

/* ---- references ---- */

PHI__FN bool phi__schema_same_step(phi_str key, phi_str step) {
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
    uint64_t index = 0; /* without this value gcc -Os warns */
    if (!phi__schema_spend(c, 1 + it.left)) return NULL;
    if (phi_json_is(from, PHI_JSON_ARRAY))
        return phi__str_to_u64(step, &index) && index < it.left ? phi_json_at(from, (size_t)index)
                                                                : NULL;
    while (phi_json_next(&it) != NULL)
        if (phi__schema_same_step(it.key, step)) found = it.at;
    return found;
}

static const phi_json *phi__schema_follow(phi__schema *c, phi_str ref) {
    const phi_json *at = c->root;
    if (ref.len == 0 || ref.at[0] != '#') return NULL;
    ref = phi__str_from(ref, 1);
    while (ref.len > 0 && at != NULL) {
        size_t end = phi__str_find(ref, 1, "/");
        if (ref.at[0] != '/') return NULL;
        if (end == SIZE_MAX) end = ref.len;
        at = phi__schema_step(c, at, phi__str(ref.at + 1, end - 1));
        ref = phi__str_from(ref, end);
    }
    return at;
}

/* Returns the schema that "#" or "#/a/b" names. NULL: there is no such schema, or it is in another
   document. */
static const phi_json *phi__schema_target(phi__schema *c, phi_str ref) {
    phi__schema_ref *known =
        &c->refs[((uintptr_t)ref.at >> 4 ^ (uintptr_t)ref.at >> 9) & (PHI__SCHEMA_REFS - 1)];
    if (ref.at == NULL || known->ref != ref.at) {
        known->target = phi__schema_follow(c, ref);
        known->ref = ref.at;
    }
    return known->target;
}

/* ---- checking a value ---- */

static bool phi__schema_fits(phi__schema *c, const phi_json *schema, const phi_json *value);

static bool phi__schema_is(const phi_json *value, phi_str type) {
    if (phi__str_is(type, "integer")) return phi_json_is(value, PHI_JSON_INTEGER);
    return phi__str_is(type, phi__json_get_type_name(value));
}

static bool phi__schema_type(phi__schema *c, const phi_json *schema, const phi_json *value) {
    const phi_json *type = phi_json_get(schema, "type");
    phi_json_iter it = phi_json_each(type);
    if (phi_json_is(value, PHI_JSON_NULL) && phi_json_bool(phi_json_get(schema, "nullable"), false))
        return true;
    if (phi_json_is(type, PHI_JSON_STRING)) {
        if (phi__schema_is(value, phi_json_str(type, NULL))) return true;
    } else {
        if (!phi_json_is(type, PHI_JSON_ARRAY)) return true;
        while (phi_json_next(&it) != NULL)
            if (phi__schema_is(value, phi_json_str(it.at, NULL))) return true;
    }
    if (!phi__schema_say(c, "expected ")) return false;
    if (phi_json_is(type, PHI_JSON_STRING))
        phi__schema_put(c, phi_json_str(type, NULL));
    else
        phi__schema_list(c, type, false);
    phi__schema_text(c, ", got ");
    phi__schema_text(c, phi__json_get_type_name(value));
    return false;
}

static bool phi__schema_enum(phi__schema *c, const phi_json *schema, const phi_json *value) {
    const phi_json *list = phi_json_get(schema, "enum"), *only = phi_json_get(schema, "const");
    phi_json_iter it = phi_json_each(list);
    if (only != NULL && !phi__json_get_equal(only, value)) {
        if (!phi__schema_say(c, "expected ")) return false;
        phi__schema_value(c, only);
        phi__schema_text(c, ", got ");
        phi__schema_value(c, value);
        return false;
    }
    if (!phi_json_is(list, PHI_JSON_ARRAY)) return true;
    if (!phi__schema_spend(c, it.left)) return false;
    while (phi_json_next(&it) != NULL)
        if (phi__json_get_equal(it.at, value)) return true;
    if (!phi__schema_say(c, "got ")) return false;
    phi__schema_value(c, value);
    phi__schema_text(c, ", expected one of ");
    phi__schema_list(c, list, true);
    return false;
}

/* Returns a negative value, 0 or a positive value if a < b, a == b or a > b. */
static int phi__schema_order(const phi_json *a, const phi_json *b) {
    double x = phi_json_num(a, 0), y = phi_json_num(b, 0);
    if (x != y) return x < y ? -1 : 1;
    if (phi__json_kind_of(a) == PHI__JSON_INT && phi__json_kind_of(b) == PHI__JSON_INT &&
        a->v.i != b->v.i)
        return a->v.i < b->v.i ? -1 : 1;
    return 0;
}

static bool phi__schema_range(phi__schema *c, const phi_json *schema, const phi_json *value) {
    static const char *const words[] = {"expected a number above ", "expected a number below ",
                                        "expected at least ", "expected at most "};
    const phi_json *limits[4];
    limits[0] = phi_json_get(schema, "exclusiveMinimum");
    limits[1] = phi_json_get(schema, "exclusiveMaximum");
    limits[2] = phi_json_get(schema, "minimum");
    limits[3] = phi_json_get(schema, "maximum");
    for (size_t i = 0; i < 4; i++) {
        const phi_json *limit = limits[i];
        if (i < 2 && phi_json_bool(limit, false)) limit = limits[i + 2]; /* true, as in draft 4 */
        if (!phi_json_is(limit, PHI_JSON_NUMBER)) continue;
        int order = phi__schema_order(value, limit);
        if (i % 2 == 1) order = -order;
        if (order > 0 || (order == 0 && i >= 2)) continue;
        if (!phi__schema_say(c, words[i])) return false;
        phi__schema_number(c, limit);
        phi__schema_text(c, ", got ");
        phi__schema_number(c, value);
        return false;
    }
    return true;
}

/* Checks `count` against two limits of a schema. `noun` names the counted things. */
static bool phi__schema_count(phi__schema *c, const phi_json *schema, const char *least_key,
                              const char *most_key, size_t count, const char *noun) {
    const phi_json *least = phi_json_get(schema, least_key), *most = phi_json_get(schema, most_key);
    phi_json got = PHI_ZERO;
    got.meta = PHI__JSON_INT;
    got.v.u = count;
    if (phi_json_is(least, PHI_JSON_NUMBER) && phi__schema_order(&got, least) < 0) {
        if (!phi__schema_say(c, "expected at least ")) return false;
        phi__schema_number(c, least);
    } else if (phi_json_is(most, PHI_JSON_NUMBER) && phi__schema_order(&got, most) > 0) {
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
    size_t n = 0;
    for (size_t i = 0; i < text.len; i++) n += ((unsigned char)text.at[i] & 0xc0) != 0x80;
    return n;
}

static bool phi__schema_items(phi__schema *c, const phi_json *schema, const phi_json *value) {
    const phi_json *items = phi_json_get(schema, "items");
    phi_json_iter it = phi_json_each(value);
    size_t index = 0;
    bool fits = true;
    if (!phi__schema_count(c, schema, "minItems", "maxItems", phi_json_count(value), "items"))
        return false;
    if (items == NULL || phi_json_is(items, PHI_JSON_ARRAY)) return true;
    while (fits && phi_json_next(&it) != NULL) {
        size_t was = phi__schema_into_item(c, index++);
        fits = phi__schema_fits(c, items, it.at);
        c->place_len = was;
    }
    return fits;
}

static bool phi__schema_required(phi__schema *c, const phi_json *schema, const phi_json *value) {
    phi_json_iter it = phi_json_each(phi_json_get(schema, "required"));
    while (phi_json_next(&it) != NULL) {
        if (!phi_json_is(it.at, PHI_JSON_STRING)) continue;
        if (phi__schema_member(c, value, phi_json_str(it.at, NULL)) != NULL) continue;
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
    /* patternProperties are not supported */
    if (phi_json_get(schema, "patternProperties") != NULL) more = NULL;
    while (fits && phi_json_next(&it) != NULL) {
        const phi_json *member = phi__schema_member(c, known, it.key);
        if (c->status != PHI_OK) return false;
        if (member == NULL) member = more;
        if (member == NULL) continue;
        if (member == more && !phi_json_bool(more, true))
            return phi__schema_unknown(c, it.key, known);
        size_t was = phi__schema_into(c, ".", it.key, "");
        fits = phi__schema_fits(c, member, it.at);
        c->place_len = was;
    }
    return fits;
}

/* Returns how many schemas of the list fit; stops at two. */
static unsigned phi__schema_fitting(phi__schema *c, const phi_json *list, const phi_json *value) {
    phi_json_iter it = phi_json_each(list);
    unsigned fit = 0;
    c->quiet++;
    while (fit < 2 && c->status == PHI_OK && phi_json_next(&it) != NULL)
        fit += phi__schema_fits(c, it.at, value);
    if (c->quiet > 0) c->quiet--; /* quiet is 0 if a limit was reported */
    return fit;
}

/* Says that no schema of anyOf or oneOf fits. If each has a type, the message names the types. */
static void phi__schema_say_none(phi__schema *c, const phi_json *list, const char *word,
                                 const phi_json *value) {
    phi_json_iter it = phi_json_each(list);
    while (phi_json_next(&it) != NULL)
        if (!phi_json_is(phi_json_get(it.at, "type"), PHI_JSON_STRING)) break;
    if (it.at != NULL && phi_json_is(phi_json_get(it.at, "type"), PHI_JSON_STRING) &&
        it.left == 0) {
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
    if (phi_json_is(any, PHI_JSON_ARRAY) && phi__schema_fitting(c, any, value) == 0) {
        phi__schema_say_none(c, any, "anyOf", value);
        return false;
    }
    if (phi_json_is(one, PHI_JSON_ARRAY)) {
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

/* Checks a value against a schema. A malformed or unknown keyword restricts nothing. Results are
   remembered: without this, schemas that refer to themselves twice would double the work with each
   level. If a message is needed, a value whose mismatch is remembered is checked again. */
static bool phi__schema_fits(phi__schema *c, const phi_json *schema, const phi_json *value) {
    uint64_t n = (uint64_t)(uintptr_t)schema * UINT64_C(0x9e3779b97f4a7c15) +
                 (uint64_t)(uintptr_t)value * UINT64_C(0xff51afd7ed558ccd);
    phi__schema_memo *memo = &c->memo[(n ^ n >> 32) >> 8 & (PHI__SCHEMA_MEMO - 1)];
    uint32_t work = c->work;
    bool fits = true;
    if (phi_json_is(schema, PHI_JSON_BOOL)) {
        if (!phi_json_bool(schema, true)) (void)phi__schema_say(c, "nothing is allowed here");
        return phi_json_bool(schema, true);
    }
    if (!phi_json_is(schema, PHI_JSON_OBJECT)) return true;
    if (memo->schema == schema && memo->value == value && (memo->fits || c->quiet > 0))
        return phi__schema_spend(c, 1) && memo->fits;
    if (!phi__schema_enter(c, schema)) return false;
    const phi_json *ref = phi_json_get(schema, "$ref");
    if (phi_json_is(ref, PHI_JSON_STRING)) {
        const phi_json *target = phi__schema_target(c, phi_json_str(ref, NULL));
        fits = target == NULL || phi__schema_fits(c, target, value);
    }
    fits = fits && phi__schema_type(c, schema, value) && phi__schema_enum(c, schema, value) &&
           phi__schema_by_type(c, schema, value) && phi__schema_combined(c, schema, value);
    c->depth--;
    if (c->status != PHI_OK) return false;
    if (c->work - work > PHI__SCHEMA_SMALL * PHI__SCHEMA_VISIT) {
        memo->schema = schema;
        memo->value = value;
        memo->fits = fits;
    }
    return fits;
}

/* ---- checking the schema itself ---- */

enum phi__schema_shape {
    PHI__SCHEMA_TYPE,
    PHI__SCHEMA_ANY,
    PHI__SCHEMA_LIST,    /* an array of values, not empty */
    PHI__SCHEMA_NAMES,   /* an array of strings */
    PHI__SCHEMA_SUB,     /* a schema */
    PHI__SCHEMA_SUBS,    /* an object of schemas */
    PHI__SCHEMA_CHOICES, /* an array of schemas, not empty */
    PHI__SCHEMA_NUMBER,
    PHI__SCHEMA_BOUND, /* a number, or a boolean as in draft 4 */
    PHI__SCHEMA_COUNT,
    PHI__SCHEMA_BOOL,
    PHI__SCHEMA_REF,
    PHI__SCHEMA_REFUSED /* restricts, but is not supported */
};

static const struct {
    enum phi__schema_shape shape;
    const char *names[4];
} phi__schema_rows[] = {
    {PHI__SCHEMA_TYPE, {"type"}},
    {PHI__SCHEMA_ANY, {"const"}},
    {PHI__SCHEMA_LIST, {"enum"}},
    {PHI__SCHEMA_NAMES, {"required"}},
    {PHI__SCHEMA_SUB, {"items", "additionalProperties"}},
    {PHI__SCHEMA_SUBS, {"properties", "$defs", "definitions"}},
    {PHI__SCHEMA_CHOICES, {"anyOf", "oneOf", "allOf"}},
    {PHI__SCHEMA_NUMBER, {"minimum", "maximum"}},
    {PHI__SCHEMA_BOUND, {"exclusiveMinimum", "exclusiveMaximum"}},
    {PHI__SCHEMA_COUNT, {"minLength", "maxLength", "minItems", "maxItems"}},
    {PHI__SCHEMA_BOOL, {"nullable"}},
    {PHI__SCHEMA_REF, {"$ref"}},
    {PHI__SCHEMA_REFUSED, {"pattern", "patternProperties", "propertyNames", "minProperties"}},
    {PHI__SCHEMA_REFUSED, {"maxProperties", "dependencies", "dependentRequired", "not"}},
    {PHI__SCHEMA_REFUSED, {"dependentSchemas", "unevaluatedProperties", "unevaluatedItems"}},
    {PHI__SCHEMA_REFUSED, {"additionalItems", "prefixItems", "contains", "minContains"}},
    {PHI__SCHEMA_REFUSED, {"maxContains", "uniqueItems", "multipleOf", "if"}},
    {PHI__SCHEMA_REFUSED, {"$dynamicRef", "$recursiveRef"}},
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
    size_t was = phi__schema_into(c, ".", word, ""), index = 0;
    phi_json_iter it = phi_json_each(subs);
    bool sound = true;
    while (sound && phi_json_next(&it) != NULL) {
        if (phi_json_is(subs, PHI_JSON_OBJECT)) {
            sound = phi__schema_sub(c, ".", it.key, it.at);
            continue;
        }
        size_t inner = phi__schema_into_item(c, index++);
        sound = phi__schema_sound(c, it.at);
        c->place_len = inner;
    }
    c->place_len = was;
    return sound;
}

static bool phi__schema_sound_type(const phi_json *type) {
    static const char *const names[] = {"string", "number", "integer", "boolean",
                                        "object", "array",  "null"};
    phi_json_iter it = phi_json_each(type);
    if (phi_json_is(type, PHI_JSON_ARRAY)) { /* names only, no arrays inside */
        bool sound = it.left > 0;
        while (sound && phi_json_next(&it) != NULL)
            sound = phi_json_is(it.at, PHI_JSON_STRING) && phi__schema_sound_type(it.at);
        return sound;
    }
    for (size_t i = 0; i < PHI__COUNT(names); i++)
        if (phi__str_is(phi_json_str(type, NULL), names[i])) return true;
    return false;
}

/* Returns the message for a keyword with a value of a wrong type; NULL: the type is right. */
static const char *phi__schema_wrong(unsigned shape, const phi_json *node) {
    bool array = phi_json_is(node, PHI_JSON_ARRAY), number = phi_json_is(node, PHI_JSON_NUMBER);
    phi_json_iter it = phi_json_each(node);
    bool fits = true;
    switch (shape) {
    case PHI__SCHEMA_TYPE:
        return phi__schema_sound_type(node) ? NULL : " must name a type, or several";
    case PHI__SCHEMA_LIST:
    case PHI__SCHEMA_CHOICES:
        return array && it.left > 0 ? NULL : " must be an array that is not empty";
    case PHI__SCHEMA_NAMES:
        while (array && fits && phi_json_next(&it) != NULL)
            fits = phi_json_is(it.at, PHI_JSON_STRING);
        return array && fits ? NULL : " must be an array of strings";
    case PHI__SCHEMA_SUBS: return phi_json_is(node, PHI_JSON_OBJECT) ? NULL : " must be an object";
    case PHI__SCHEMA_NUMBER: return number ? NULL : " must be a number";
    case PHI__SCHEMA_BOUND:
        return number || phi_json_is(node, PHI_JSON_BOOL) ? NULL : " must be a number";
    case PHI__SCHEMA_COUNT:
        fits = phi_json_is(node, PHI_JSON_INTEGER) && phi_json_num(node, -1) >= 0;
        return fits ? NULL : " must be an integer that is not negative";
    case PHI__SCHEMA_BOOL:
        return phi_json_is(node, PHI_JSON_BOOL) ? NULL : " must be true or false";
    case PHI__SCHEMA_REF: return phi_json_is(node, PHI_JSON_STRING) ? NULL : " must be a string";
    default: return NULL;
    }
}

static bool phi__schema_word(phi__schema *c, unsigned shape, phi_str word, const phi_json *node) {
    const char *wrong = phi__schema_wrong(shape, node);
    if (wrong != NULL) return phi__schema_bad(c, PHI_PARSE, word, wrong);
    switch (shape) {
    case PHI__SCHEMA_SUB:
        if (phi_json_is(node, PHI_JSON_ARRAY))
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
    if (phi_json_is(schema, PHI_JSON_BOOL)) return true;
    if (!phi_json_is(schema, PHI_JSON_OBJECT)) {
        (void)phi__schema_say(c, "a schema must be an object, true or false");
        if (c->status == PHI_OK) c->status = PHI_PARSE;
        return false;
    }
    if (!phi__schema_enter(c, schema)) return false;
    while (sound && phi_json_next(&it) != NULL)
        for (i = 0; sound && i < PHI__COUNT(phi__schema_rows) * 4; i++) {
            const char *name = phi__schema_rows[i / 4].names[i % 4];
            if (name != NULL && phi__str_is(it.key, name))
                sound = phi__schema_word(c, phi__schema_rows[i / 4].shape, it.key, it.at);
        }
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

PHI__FN phi_status phi__schema_check(phi_memory *memory, const phi_json *schema,
                                     const phi_json *value, const char *name,
                                     phi_schema_error *error) {
    phi__schema c;
    if (schema == NULL || value == NULL) return PHI_BAD_ARG;
    phi__schema_begin(&c, schema, name != NULL ? name : "arguments", error);
    phi__map_init(&c.names, memory);
    bool fits = phi__schema_fits(&c, schema, value);
    phi__map_free(&c.names);
    if (c.status != PHI_OK) return c.status;
    return fits ? PHI_OK : PHI_PARSE;
}

PHI__FN phi_status phi__schema_valid(const phi_json *schema, phi_schema_error *error) {
    phi__schema c;
    if (schema == NULL) return PHI_BAD_ARG;
    phi__schema_begin(&c, schema, "schema", error);
    (void)phi__schema_sound(&c, schema);
    return c.status;
}

/* ---- public ---- */

PHI_API phi_status phi_schema_check(const phi_json *schema, const phi_json *value, const char *name,
                                    phi_schema_error *error) {
    return phi__schema_check(NULL, schema, value, name, error);
}
#undef PHI__SCHEMA_DEPTH
#undef PHI__SCHEMA_WORK
#undef PHI__SCHEMA_VISIT
#undef PHI__SCHEMA_MEMO
#undef PHI__SCHEMA_REFS
#undef PHI__SCHEMA_SMALL
#undef PHI__SCHEMA_QUOTE

/* ---- src/text/sse.c ---- */

/* sse.c - parses server-sent events incrementally. */

#define PHI__SSE_KEEP 4096u /* bytes; a larger buffer is freed after each event */

static void phi__sse_slim(phi__buf *buf) {
    if (buf->cap > PHI__SSE_KEEP)
        phi__buf_free(buf);
    else
        phi__buf_clear(buf);
}

/* Drops the current event, or the one that was returned. */
static void phi__sse_forget(phi__sse *sse) {
    phi__sse_slim(&sse->data);
    phi__sse_slim(&sse->name);
    sse->view = phi__str(NULL, 0);
    sse->has_data = sse->viewed = sse->stray = false;
}

static int phi__sse_fail(phi__sse *sse, phi_status status) {
    sse->status = status;
    phi__buf_free(&sse->line);
    phi__buf_free(&sse->data);
    phi__buf_free(&sse->name);
    sse->at = sse->end;
    return status;
}

/* Copies the viewed line, because the fed bytes that contain it do not stay. */
static bool phi__sse_keep_view(phi__sse *sse) {
    if (sse->viewed) phi__buf_add_str(&sse->data, sse->view);
    sse->viewed = false;
    return !sse->data.failed;
}

/* Adds a data line. `stays`: the line is in the fed bytes, not in sse->line. */
static phi_status phi__sse_data(phi__sse *sse, phi_str value, bool stays) {
    size_t had = sse->viewed ? sse->view.len : sse->data.len;
    if (had + sse->name.len + value.len + (sse->has_data ? 1 : 0) > sse->max_event_bytes)
        return PHI_TOO_BIG;
    if (!sse->has_data && stays) {
        sse->view = value;
        sse->has_data = sse->viewed = true;
        return PHI_OK;
    }
    if (!sse->has_data) { /* the line's buffer becomes the data buffer */
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

static bool phi__sse_is_bare(phi_str line) { return line.at[0] == '{' || line.at[0] == '['; }

/* True if a line ends the current event as a blank line does: stray JSON after data lines, or a
   "data" or "event" line after stray JSON. */
static bool phi__sse_breaks(const phi__sse *sse, phi_str line) {
    if (!sse->strays || !sse->has_data) return false;
    if (!sse->stray) return phi__sse_is_bare(line);
    return phi__str_starts(line, "data:") || phi__str_starts(line, "event:");
}

/* ---- ids and retries ---- */

PHI__FN void phi__sse_resume_init(phi__sse_resume *resume, phi_memory *memory) {
    memset(resume, 0, sizeof *resume);
    phi__buf_init(&resume->id, memory);
    phi__buf_init(&resume->id_next, memory);
}

PHI__FN void phi__sse_resume_free(phi__sse_resume *resume) {
    phi__buf_free(&resume->id);
    phi__buf_free(&resume->id_next);
    resume->has_next = false;
}

static phi_status phi__sse_resumes(phi__sse_resume *resume, phi_str field, phi_str value) {
    uint64_t ms;
    if (phi__str_is(field, "id")) {
        /* An id with a NUL is ignored, as the standard says. An id that is too long to be sent back
           clears the id, because an older id would repeat events. */
        if (value.len > 0 && memchr(value.at, '\0', value.len) != NULL) return PHI_OK;
        phi__buf_clear(&resume->id_next);
        if (value.len <= PHI__SSE_ID_MOST) phi__buf_add_str(&resume->id_next, value);
        resume->has_next = true;
        return resume->id_next.failed ? PHI_NO_MEMORY : PHI_OK;
    }
    if (phi__str_is(field, "retry") && phi__str_to_u64(value, &ms)) {
        resume->retry_ms = ms;
        resume->has_retry = true;
    }
    return PHI_OK;
}

/* ---- lines ---- */

static phi_status phi__sse_line(phi__sse *sse, phi_str line, bool stays) {
    const char *colon = (const char *)memchr(line.at, ':', line.len);
    phi_str field = line, value = phi__str(line.at + line.len, 0);
    if (sse->strays && phi__sse_is_bare(line)) sse->stray = true;
    if (sse->stray) return phi__sse_data(sse, line, stays);
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
    return sse->resume != NULL ? phi__sse_resumes(sse->resume, field, value) : PHI_OK;
}

/* Completes the current event at a blank line or at the end. Returns 1, or 0 if it has no data. */
static int phi__sse_complete(phi__sse *sse, phi__sse_event *out) {
    /* The id of the current event now counts. */
    phi__sse_resume *resume = sse->resume;
    if (resume != NULL && resume->has_next) {
        phi__buf id = resume->id;
        resume->id = resume->id_next;
        resume->id_next = id;
        resume->has_next = false;
    }
    if (!sse->has_data) {
        phi__sse_forget(sse);
        return 0;
    }
    out->name = phi__buf_str(&sse->name);
    out->data = sse->viewed ? sse->view : phi__buf_str(&sse->data);
    sse->handed = true;
    sse->events++;
    return 1;
}

/* Skips a byte order mark, which may come in pieces. If the mark is not complete, its bytes begin
   the first line. */
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

PHI__FN void phi__sse_resume_with(phi__sse *sse, phi__sse_resume *resume) {
    sse->resume = resume;
    resume->has_next = false;
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
    while (sse->at < sse->end) {
        bool stays = sse->line.len == 0;
        if (sse->skip_lf) {
            sse->skip_lf = false;
            if (*sse->at == '\n') {
                sse->at++;
                continue;
            }
        }
        const char *at = sse->at;
        const char *end = sse->end;
        const char *lf = (const char *)memchr(at, '\n', (size_t)(end - at));
        const char *cr = (const char *)memchr(at, '\r', (size_t)((lf != NULL ? lf : end) - at));
        const char *stop = cr != NULL ? cr : lf;
        if (stop == NULL) {
            /* Copies the rest of the fed bytes into sse->line; the next bytes continue the line. */
            size_t left = (size_t)(sse->end - sse->at);
            /* 64 bytes are more than the field's name needs */
            if (phi__add(sse->line.len, left) > phi__add(sse->max_event_bytes, 64))
                return phi__sse_fail(sse, PHI_TOO_BIG);
            phi__buf_add(&sse->line, sse->at, left);
            sse->at = sse->end;
            if (sse->line.failed || !phi__sse_keep_view(sse))
                return phi__sse_fail(sse, PHI_NO_MEMORY);
            return 0;
        }
        phi_str line = phi__str(sse->at, (size_t)(stop - sse->at));
        if (!stays) {
            phi__buf_add_str(&sse->line, line);
            if (sse->line.failed) return phi__sse_fail(sse, PHI_NO_MEMORY);
            line = phi__buf_str(&sse->line);
        }
        if (line.len > 0 && phi__sse_breaks(sse, line)) {
            if (!stays) sse->at = stop; /* the line is read again in the next call */
            return phi__sse_complete(sse, out);
        }
        /* Continues after the line break at `stop`. After a CR the next byte may be an LF. */
        sse->skip_lf = *stop == '\r';
        sse->at = stop + 1;
        if (line.len == 0) {
            if (!sse->stray && phi__sse_complete(sse, out) != 0) return 1;
            continue;
        }
        phi_status status = phi__sse_line(sse, line, stays);
        if (status != PHI_OK) return phi__sse_fail(sse, status);
        if (!stays) phi__sse_slim(&sse->line);
    }
    return phi__sse_keep_view(sse) ? 0 : phi__sse_fail(sse, PHI_NO_MEMORY);
}

PHI__FN int phi__sse_finish(phi__sse *sse, phi__sse_event *out) {
    if (sse->status != PHI_OK) return sse->status;
    if (sse->handed) phi__sse_forget(sse);
    sse->handed = false;
    if (sse->bom == 1 || sse->bom == 2) phi__buf_add(&sse->line, "\xEF\xBB\xBF", sse->bom);
    sse->bom = 3;
    if (sse->line.len > 0) {
        if (phi__sse_breaks(sse, phi__buf_str(&sse->line))) return phi__sse_complete(sse, out);
        phi_status status = phi__sse_line(sse, phi__buf_str(&sse->line), false);
        phi__sse_slim(&sse->line);
        if (status != PHI_OK) return phi__sse_fail(sse, status);
    }
    return phi__sse_complete(sse, out);
}
#undef PHI__SSE_KEEP

#endif /* PHI__IMP_TEXT */

#ifdef PHI__IMP_FORMATS
#if PHI__IMP_FORMATS != 0xedb53688
#error "phi: two versions of src/formats in one file"
#endif
#else
#define PHI__IMP_FORMATS 0xedb53688

/* ---- src/formats/formats_in.h ---- */

/* formats_in.h - what formats/ offers to other rooms: readers of TOML and YAML in slices. */

/* Memory for nodes and for text, which readers take from their arena in pieces. */
typedef struct phi__pool {
    phi_json *spare, *spare_end;
    char *text, *text_end;
} phi__pool;

/* Where the current key and the current value begin. */
typedef struct phi__toml_places {
    const char *key_at;
    uint32_t key_line, key_column, value_line, value_column;
} phi__toml_places;

/* Reads a text into a tree in slices: call begin, then advance until the status is not PHI_BUSY,
   then result. A reader can be abandoned at any time. */
typedef struct phi__toml_reader {
    phi_arena *arena;
    const char *text, *at, *end;
    const char *line_at;            /* where the current line begins */
    struct phi__toml_frame *top;    /* open arrays and inline tables */
    struct phi__toml_frame *unused; /* closed frames, to be used again */
    struct phi__toml_name *names;   /* hash table of the keys of all tables */
    struct phi__marks *marks;       /* places of nodes; NULL: not kept */
    phi_json *root;                 /* the table of the whole text */
    phi_json *section;              /* the table of the last header */
    phi_json *table;                /* the table of the current key */
    phi__pool pool;
    char *string, *to; /* copy of the current text, and its end; NULL while it is not needed */
    const char *mark;  /* start of the text not copied yet */
    phi__toml_places places;
    phi_str key; /* the part of a key that was read last */
    size_t name_cap, name_count;
    uint32_t max_depth, line, section_number;
    uint32_t section_depth, table_depth; /* depths of `section` and `table`; 1 for the root */
    uint8_t state, style, back;          /* back: the state after a comment */
    bool in_header, tables_header, is_key, joined;
    phi_status status;
    phi_parse_error error;
} phi__toml_reader;

/* `text` is borrowed until phi__toml_read_result(). `options` may be NULL, and is copied. */
PHI__FN void phi__toml_read_begin(phi__toml_reader *reader, phi_arena *arena, phi_str text,
                                  const phi_toml_desc *options);

/* Reads about `units` bytes, at least one. PHI_BUSY: there is more. */
PHI__FN phi_status phi__toml_read_advance(phi__toml_reader *reader, size_t units);

/* Returns the last status of advance, with the tree or the error. `out` and `error` may be NULL. */
PHI__FN phi_status phi__toml_read_result(const phi__toml_reader *reader, phi_json **out,
                                         phi_parse_error *error);

/* The anchor and the tag before a node, and their places. */
typedef struct phi__yaml_props {
    phi_str anchor;
    const char *at;        /* the anchor or the tag, whichever is first; NULL: none */
    const char *anchor_at; /* NULL: no anchor */
    uint32_t line, column; /* column: from 0 */
    uint8_t tag;           /* 0: no tag */
} phi__yaml_props;

/* The current scalar, or a node that may still become a key. */
typedef struct phi__yaml_scalar {
    const char *at, *line_at; /* start of the node with its properties; start of its line */
    const char *mark, *last;  /* text not copied yet: start and end */
    const char *string;       /* the value, NUL-terminated */
    char *text, *to;          /* the copy: start and end */
    phi_json *node;           /* a collection or a copied node; NULL: a scalar */
    size_t len, breaks;
    uint32_t line;
    /* for a block scalar: its indentation (-1: unknown); most spaces of a blank line before it */
    int32_t indent, blanks;
    uint8_t style, chomp; /* style 0: there is no node */
    bool more_indented, started, is_alias;
} phi__yaml_scalar;

/* A hash table of texts: the keys of open mappings, or the anchors. */
typedef struct phi__yaml_names {
    struct phi__yaml_name *at;
    uint32_t *table;
    uint32_t count, cap, table_cap;
} phi__yaml_names;

/* Reads a text into a tree in slices: call begin, then advance until the status is not PHI_BUSY,
   then result. A reader can be abandoned at any time. */
typedef struct phi__yaml_reader {
    phi_arena *arena;
    const char *text, *at, *end;
    const char *line_at; /* where the current line begins */
    struct phi__yaml_frame *top, *unused;
    struct phi__yaml_handle *handles; /* declared by %TAG */
    phi__yaml_names keys, anchors;
    phi__yaml_props outer, inner; /* properties on earlier lines, and on this line */
    phi__yaml_scalar scalar;
    phi_json *root;
    phi__pool pool;
    phi_yaml_desc options;
    struct phi__marks *marks; /* places of nodes; NULL: not kept */
    size_t alias_bytes;
    uint32_t line, depth, flow_depth, alias_nodes, handle_count;
    /* indent: spaces before the line's text; need: spaces that further lines must have */
    int32_t indent, need;
    uint8_t state, doc;
    bool tab;       /* the white space before the node has a tab */
    bool may_block; /* a block collection may begin on this line */
    bool fresh;     /* only white space was read on this line so far */
    bool has_version;
    phi_status status;
    phi_parse_error error;
} phi__yaml_reader;

/* `text` is borrowed until phi__yaml_read_result(). `options` may be NULL, and is copied. */
PHI__FN void phi__yaml_read_begin(phi__yaml_reader *reader, phi_arena *arena, phi_str text,
                                  const phi_yaml_desc *options);

/* Reads about `units` bytes, at least one. PHI_BUSY: there is more. */
PHI__FN phi_status phi__yaml_read_advance(phi__yaml_reader *reader, size_t units);

/* Returns the last status of advance, with the tree or the error. `out` and `error` may be NULL. */
PHI__FN phi_status phi__yaml_read_result(const phi__yaml_reader *reader, phi_json **out,
                                         phi_parse_error *error);

/* ---- src/formats/reader_in.h ---- */

/* reader_in.h - what the readers of TOML and YAML share. */

/* Returns the value of a hexadecimal digit; 16 if `c` is none. */
static inline unsigned phi__reader_digit(char c) {
    if (c >= '0' && c <= '9') return (unsigned)(c - '0');
    if (c >= 'a' && c <= 'f') return (unsigned)(c - 'a') + 10;
    if (c >= 'A' && c <= 'F') return (unsigned)(c - 'A') + 10;
    return 16;
}

/* Returns a zeroed node. `left` bytes of the text are still unread. NULL: no memory. */
PHI__FN phi_json *phi__pool_node(phi__pool *pool, phi_arena *arena, size_t left, uint32_t meta);

/* Makes room at *to for `more` bytes and a terminator. Moves the text that begins at *text to the
   new room. At most `left` bytes will follow. False if there is no memory. */
PHI__FN bool phi__pool_room(phi__pool *pool, phi_arena *arena, char **text, char **to, size_t more,
                            size_t left);

/* Returns unused memory for nodes to the arena, if nothing was taken from the arena since then. */
PHI__FN void phi__pool_end(phi__pool *pool, phi_arena *arena);

/* Writes a message such as "expected a value, found 'x'" about the byte at `at`. */
PHI__FN void phi__reader_found(char *message, size_t size, const char *what, const char *at,
                               const char *end, bool is_break);

/* ---- src/formats/toml_in.h ---- */

/* toml_in.h - what the reader and the writer of TOML share. */

/* True for characters of keys without quotes. */
static inline bool phi__toml_is_bare(char c) { return phi__is_alnum(c) || c == '_' || c == '-'; }

static inline phi_str phi__toml_key_of(const phi_json *node) {
    return phi__str(node->key, phi__json_key_len(node));
}

/* ---- src/formats/yaml_in.h ---- */

/* yaml_in.h - what the files of the YAML reader share.

   The reader walks the caller's text once and never changes it. A node is read before it is known
   to be a key or a value. It stays in `scalar` until the byte after it decides; then
   phi__yaml_value() or phi__yaml_key() takes it. Open collections are frames. A block collection
   closes when a line begins further left, and a flow collection closes at its bracket. Every
   function leaves its result in the reader's status, which is PHI_BUSY while there is more to
   read. */

enum phi__yaml_state {
    PHI__YAML_LINE,    /* before the text of a line of block content */
    PHI__YAML_GAP,     /* after an indicator, before a node on the same line */
    PHI__YAML_AFTER,   /* after a node that may be a key */
    PHI__YAML_REST,    /* only a comment may follow on the line */
    PHI__YAML_FLOW,    /* between the tokens of flow content */
    PHI__YAML_COMMENT, /* in a comment */
    PHI__YAML_PLAIN,
    PHI__YAML_PLAIN_BREAK,
    PHI__YAML_SINGLE,
    PHI__YAML_DOUBLE,
    PHI__YAML_QUOTED_BREAK,
    PHI__YAML_BLOCK_LINE, /* in a block scalar, before the text of a line */
    PHI__YAML_BLOCK_TEXT,
    PHI__YAML_COPY /* copies the node of an alias */
};

enum phi__yaml_doc {
    PHI__YAML_START,      /* no document yet */
    PHI__YAML_DIRECTIVES, /* directives were read, and "---" must follow */
    PHI__YAML_OPEN,
    PHI__YAML_COMPLETE,
    PHI__YAML_ENDED /* ended by "..." */
};

enum phi__yaml_style {
    PHI__YAML_NO_NODE,
    PHI__YAML_STYLE_PLAIN,
    PHI__YAML_STYLE_SINGLE,
    PHI__YAML_STYLE_DOUBLE,
    PHI__YAML_STYLE_LITERAL,
    PHI__YAML_STYLE_FOLDED,
    PHI__YAML_STYLE_NODE /* a collection, or an alias */
};

enum phi__yaml_tag {
    PHI__YAML_TAG_NONE,
    PHI__YAML_TAG_TEXT, /* "!": a plain scalar is a string */
    PHI__YAML_TAG_STR,
    PHI__YAML_TAG_INT,
    PHI__YAML_TAG_FLOAT,
    PHI__YAML_TAG_BOOL,
    PHI__YAML_TAG_NULL,
    PHI__YAML_TAG_SEQ,
    PHI__YAML_TAG_MAP
};

enum phi__yaml_kind {
    PHI__YAML_DOC,
    PHI__YAML_SEQ,
    PHI__YAML_MAP,
    PHI__YAML_FLOW_SEQ,
    PHI__YAML_FLOW_MAP,
    PHI__YAML_FLOW_PAIR, /* a mapping of one key without braces, in a flow sequence */
    PHI__YAML_ALIAS      /* the copy of an alias */
};

/* What a frame waits for. */
enum phi__yaml_want {
    PHI__YAML_WANT_KEY,          /* block: a key at its column; flow: a key or an end */
    PHI__YAML_WANT_EXPLICIT_KEY, /* the key after "?" */
    PHI__YAML_WANT_COLON,        /* a ":" after a key; without ":" the value is null */
    PHI__YAML_WANT_VALUE,        /* a value or an item */
    PHI__YAML_WANT_NEXT          /* what follows a value or an item */
};

typedef struct phi__yaml_frame {
    struct phi__yaml_frame *up;
    phi_json *node;
    const phi_json *source;        /* PHI__YAML_ALIAS: the next child to copy */
    phi_str key;                   /* key of the next value */
    uint32_t left;                 /* PHI__YAML_ALIAS: number of children left to copy */
    uint32_t line;                 /* line where the collection begins */
    uint32_t keys;                 /* number of names in the mappings around the collection */
    uint32_t key_line, key_column; /* place of the key; column: from 0 */
    int32_t indent;                /* column; for a flow collection, the column of its block */
    uint8_t kind, want;
} phi__yaml_frame;

/* ---- yaml_tree.c: errors, bytes, room ---- */

/* These functions record an error, unless there is one already. They return false. */
PHI__FN bool phi__yaml_expected(phi__yaml_reader *r, const char *at, const char *what);
PHI__FN bool phi__yaml_wrong(phi__yaml_reader *r, const char *at, const char *what);

PHI__FN bool phi__yaml_too_big(phi__yaml_reader *r, const char *what);

/* Returns the length in bytes of the printable character at `at`, which is before the end. 0: the
   character is not printable, and an error was recorded. Line breaks are not printable. */
PHI__FN size_t phi__yaml_char(phi__yaml_reader *r, const char *at, bool quoted);

/* Makes room for `more` bytes of the scalar's text and a terminator. */
PHI__FN bool phi__yaml_room(phi__yaml_reader *r, size_t more);
PHI__FN bool phi__yaml_add(phi__yaml_reader *r, const char *at, size_t len);

static inline bool phi__yaml_is_break(char c) { return c == '\n' || c == '\r'; }

static inline bool phi__yaml_is_space(char c) { return c == ' ' || c == '\t'; }

static inline bool phi__yaml_is_bracket(char c) {
    return c == ',' || c == '[' || c == ']' || c == '{' || c == '}';
}

/* True at white space, a line break, or the end of the text. */
static inline bool phi__yaml_is_blank(const phi__yaml_reader *r, const char *at) {
    return at >= r->end || phi__yaml_is_space(*at) || phi__yaml_is_break(*at);
}

/* True if an indicator may end at `at`: before a blank or, in flow content, before a bracket. */
static inline bool phi__yaml_is_over(const phi__yaml_reader *r, const char *at) {
    return phi__yaml_is_blank(r, at) || (r->flow_depth > 0 && phi__yaml_is_bracket(*at));
}

static inline uint32_t phi__yaml_column(const phi__yaml_reader *r, const char *at) {
    return (uint32_t)(at - r->line_at);
}

/* ---- yaml_tree.c: frames, values, keys, anchors, aliases ---- */
PHI__FN phi_json *phi__yaml_node(phi__yaml_reader *r, uint32_t kind);

/* Opens the outermost frame. False if there is no memory. */
PHI__FN bool phi__yaml_begin(phi__yaml_reader *r);

/* Opens a collection, which takes the properties read before it. */
PHI__FN void phi__yaml_open(phi__yaml_reader *r, uint8_t kind, int32_t indent, uint8_t want);

/* Opens a pair in a flow sequence. A pair has no properties. */
PHI__FN void phi__yaml_open_pair(phi__yaml_reader *r, uint8_t want);

/* Closes the collection on top, which becomes the scalar's node. */
PHI__FN void phi__yaml_close(phi__yaml_reader *r);

/* Takes the node just read as a value of the frame on top, or as its explicit key. */
PHI__FN void phi__yaml_value(phi__yaml_reader *r);

/* Takes the node just read as the key of the frame on top. */
PHI__FN void phi__yaml_key(phi__yaml_reader *r);

/* Copies about `units` nodes. True if the alias is complete. */
PHI__FN bool phi__yaml_copy(phi__yaml_reader *r, size_t units);

/* ---- yaml_tree.c: anchors, tags, directives ---- */

/* Reads an anchor or a tag at r->at. */
PHI__FN void phi__yaml_prop_read(phi__yaml_reader *r);

/* Keeps this line's properties for a node on a later line. */
PHI__FN void phi__yaml_prop_keep(phi__yaml_reader *r);

/* Reads "*name" at r->at. */
PHI__FN void phi__yaml_prop_alias(phi__yaml_reader *r);

/* Reads a directive at r->at. Only a comment may be left on its line. */
PHI__FN void phi__yaml_prop_directive(phi__yaml_reader *r);

/* ---- src/formats/pool.c ---- */

/* pool.c - memory and messages of the readers of TOML and YAML. */

#include <stdio.h>

enum {
    PHI__POOL_TEXT = 4096, /* bytes of text taken from the arena at once */
    PHI__POOL_NODES = 16   /* max. nodes taken from the arena at once */
};

PHI__FN phi_json *phi__pool_node(phi__pool *pool, phi_arena *arena, size_t left, uint32_t meta) {
    if (pool->spare == pool->spare_end) {
        size_t count = phi__min(1 + left / 16, PHI__POOL_NODES);
        pool->spare = (phi_json *)phi_arena_alloc(arena, count * sizeof *pool->spare);
        pool->spare_end = pool->spare == NULL ? NULL : pool->spare + count;
        if (pool->spare == NULL) return NULL;
    }
    phi_json *node = pool->spare++;
    memset(node, 0, sizeof *node);
    node->meta = meta;
    return node;
}

PHI__FN bool phi__pool_room(phi__pool *pool, phi_arena *arena, char **text, char **to, size_t more,
                            size_t left) {
    if (*text == NULL) *text = *to = pool->text;
    if ((size_t)(pool->text_end - *to) > more) return true;
    size_t have = (size_t)(*to - *text);
    size_t bytes = phi__add(phi__add(have, more), 1);
    bytes = phi__add(bytes, phi__min(phi__max(have, PHI__POOL_TEXT), left)); /* doubles the room */
    char *room = bytes == SIZE_MAX ? NULL : phi__arena_bytes(arena, bytes);
    if (room == NULL) return false;
    if (have > 0) memcpy(room, *text, have);
    pool->text = *text = room;
    pool->text_end = room + bytes;
    *to = room + have;
    return true;
}

PHI__FN void phi__pool_end(phi__pool *pool, phi_arena *arena) {
    if (pool->spare != pool->spare_end && (char *)pool->spare_end == arena->at)
        arena->at = (char *)pool->spare;
    pool->spare = pool->spare_end = NULL;
}

PHI__FN void phi__reader_found(char *message, size_t size, const char *what, const char *at,
                               const char *end, bool is_break) {
    unsigned char c = at < end ? (unsigned char)*at : 0;
    if (at >= end)
        (void)snprintf(message, size, "expected %s, found the end of the text", what);
    else if (is_break)
        (void)snprintf(message, size, "expected %s, found the end of the line", what);
    else if (c > 0x20 && c < 0x7f)
        (void)snprintf(message, size, "expected %s, found '%c'", what, c);
    else if (c == ' ' || c == '\t')
        (void)snprintf(message, size, "expected %s, found %s", what,
                       c == ' ' ? "a space" : "a tab");
    else
        (void)snprintf(message, size, "expected %s, found byte 0x%02x", what, c);
}

/* ---- src/formats/reader.c ---- */

/* reader.c - the public functions of readers of all formats. */

#include <stdio.h>

/* Each format sets its own function, so that a program that reads JSON does not link the readers of
   TOML and YAML. */
struct phi_reader {
    phi_status (*advance)(phi_reader *reader, size_t units); /* also sets root and error */
    phi_status status;
    phi_json *root;
    phi_parse_error error;
    union {
        phi__json_reader json;
        phi__toml_reader toml;
        phi__yaml_reader yaml;
    } of;
};

static phi_reader *phi__reader_new(phi_arena *arena,
                                   phi_status (*advance)(phi_reader *reader, size_t units)) {
    phi_reader *reader = (phi_reader *)phi__arena_zero(arena, sizeof *reader);
    if (reader == NULL) return NULL;
    reader->advance = advance;
    reader->status = PHI_BUSY;
    return reader;
}

static phi_status phi__reader_json(phi_reader *r, size_t units) {
    (void)phi__json_read_advance(&r->of.json, units);
    return phi__json_read_result(&r->of.json, &r->root, &r->error);
}

static phi_status phi__reader_toml(phi_reader *r, size_t units) {
    (void)phi__toml_read_advance(&r->of.toml, units);
    return phi__toml_read_result(&r->of.toml, &r->root, &r->error);
}

static phi_status phi__reader_yaml(phi_reader *r, size_t units) {
    (void)phi__yaml_read_advance(&r->of.yaml, units);
    return phi__yaml_read_result(&r->of.yaml, &r->root, &r->error);
}

/* ---- public ---- */

PHI_API phi_reader *phi_json_reader_new(phi_arena *arena, phi_str text, uint32_t flags) {
    phi_reader *reader = phi__reader_new(arena, phi__reader_json);
    if (reader != NULL) phi__json_read_begin(&reader->of.json, arena, text, flags, 0);
    return reader;
}

PHI_API phi_reader *phi_toml_reader_new(phi_arena *arena, phi_str text,
                                        const phi_toml_desc *options) {
    phi_reader *reader = phi__reader_new(arena, phi__reader_toml);
    if (reader != NULL) phi__toml_read_begin(&reader->of.toml, arena, text, options);
    return reader;
}

PHI_API phi_reader *phi_yaml_reader_new(phi_arena *arena, phi_str text,
                                        const phi_yaml_desc *options) {
    phi_reader *reader = phi__reader_new(arena, phi__reader_yaml);
    if (reader != NULL) phi__yaml_read_begin(&reader->of.yaml, arena, text, options);
    return reader;
}

PHI_API phi_status phi_reader_advance(phi_reader *reader, size_t units) {
    if (reader == NULL) return PHI_NO_MEMORY;
    return reader->status = reader->advance(reader, units);
}

PHI_API phi_status phi_reader_result(const phi_reader *reader, phi_json **out,
                                     phi_parse_error *error) {
    if (out != NULL) *out = reader != NULL ? reader->root : NULL;
    if (error != NULL && reader != NULL) *error = reader->error;
    if (error != NULL && reader == NULL) {
        memset(error, 0, sizeof *error);
        error->status = PHI_NO_MEMORY;
        (void)snprintf(error->message, sizeof error->message, "no memory for the reader");
    }
    return reader != NULL ? reader->status : PHI_NO_MEMORY;
}

/* ---- src/formats/toml_read.c ---- */

/* toml_read.c - the reader of TOML, a state machine that walks the text once. */

#include <stdio.h>

enum {
    PHI__TOML_DEPTH = 512,           /* max. levels of nesting, by default */
    PHI__TOML_NAMES_FIRST = 64,      /* slots of the first hash table */
    PHI__TOML_FRACTION = 9,          /* max. digits of a fraction that are kept */
    PHI__TOML_SECTIONS = 0x1fffffff, /* max. headers: the limit of phi__toml_name.section */
    PHI__TOML_KEY_MOST = 0xffffff,   /* max. bytes of a key: the limit of a node's meta */
    PHI__TOML_NUMBER_MOST = 65536,   /* max. bytes of a number; bounds the work of one step */
    PHI__TOML_DATE_MOST = 36         /* bytes of a canonical date with its terminator */
};

enum phi__toml_state {
    PHI__TOML_LINE,         /* before a header, a key, a comment or the end of a line */
    PHI__TOML_KEY,          /* before a part of a key */
    PHI__TOML_BARE,         /* in a bare part */
    PHI__TOML_KEY_AFTER,    /* after a part of a key */
    PHI__TOML_VALUE,        /* before a value of a key */
    PHI__TOML_ITEM,         /* before an item of an array, or its end */
    PHI__TOML_ITEM_AFTER,   /* after an item */
    PHI__TOML_MEMBER,       /* before a key in braces */
    PHI__TOML_FIRST_MEMBER, /* before a key in braces, or the closing brace */
    PHI__TOML_MEMBER_AFTER, /* after a member */
    PHI__TOML_STRING_TEXT,
    PHI__TOML_STRING_JOIN, /* after a backslash at the end of a line: skips white space */
    PHI__TOML_REST,        /* only a comment may follow on the line */
    PHI__TOML_COMMENT      /* in a comment; `back` is the state after it */
};

enum phi__toml_style {
    PHI__TOML_BASIC = 1,
    PHI__TOML_LITERAL,
    PHI__TOML_MULTI_BASIC,
    PHI__TOML_MULTI_LITERAL
};

/* How a member was defined. */
enum phi__toml_how {
    PHI__TOML_FIXED,    /* a value, which later keys cannot change */
    PHI__TOML_IMPLICIT, /* a table that a header passes through */
    PHI__TOML_EXPLICIT, /* a table with its own header */
    PHI__TOML_DOTTED,   /* a table that a dotted key passes through */
    PHI__TOML_LIST      /* an array of headers in double brackets */
};

typedef struct phi__toml_frame {
    struct phi__toml_frame *up;
    phi_json *node;
    uint32_t depth;
} phi__toml_frame;

typedef struct phi__toml_name {
    const phi_json *table; /* NULL: a free slot */
    phi_json *node;        /* the node of this key */
    uint32_t hash;
    uint32_t section : 29; /* for PHI__TOML_DOTTED: the section that may add to the table */
    uint32_t how : 3;
} phi__toml_name;

static bool phi__toml_at_break(const phi__toml_reader *r, const char *at) {
    if (at >= r->end) return false;
    return *at == '\n' || (*at == '\r' && r->end - at > 1 && at[1] == '\n');
}

/* ---- errors ---- */

static uint32_t phi__toml_column(const phi__toml_reader *r, const char *at) {
    return (uint32_t)(at - r->line_at) + 1;
}

/* Records an error, unless there is one already. Returns false, as all functions for errors do. */
static bool phi__toml_fail(phi__toml_reader *r, const char *at, phi_status status,
                           const char *message) {
    if (r->status != PHI_BUSY) return false;
    r->status = r->error.status = status;
    r->error.line = r->line;
    r->error.column = at >= r->line_at ? phi__toml_column(r, at) : 1;
    r->error.offset = (size_t)(at - r->text);
    (void)snprintf(r->error.message, sizeof r->error.message, "%s", message);
    return false;
}

static bool phi__toml_expected(phi__toml_reader *r, const char *at, const char *what) {
    char message[sizeof r->error.message];
    if (r->end - at > 2 && memcmp(at, "\xE2\x80", 2) == 0 && (at[2] & 0xF8) == 0x98)
        (void)snprintf(message, sizeof message,
                       "expected %s, found a curly quote: write a straight one, \" or '", what);
    else
        phi__reader_found(message, sizeof message, what, at, r->end, phi__toml_at_break(r, at));
    return phi__toml_fail(r, at, PHI_PARSE, message);
}

static bool phi__toml_wrong(phi__toml_reader *r, const char *at, const char *what) {
    return phi__toml_fail(r, at, PHI_PARSE, what);
}

static void phi__toml_wrong_key(phi__toml_reader *r, const char *before, const char *behind) {
    char message[sizeof r->error.message];
    size_t n = strlen(before), most = phi__utf8_cut(r->key, 48);
    if (r->status != PHI_BUSY) return;
    memcpy(message, before, n);
    for (size_t i = 0; i < most; i++) {
        unsigned char c = (unsigned char)r->key.at[i];
        message[n++] = (char)(c < 0x20 || c == 0x7f ? '?' : c);
    }
    (void)snprintf(message + n, sizeof message - n, "%s%s", most < r->key.len ? "..." : "", behind);
    phi__toml_fail(r, r->places.key_at, PHI_PARSE, message);
    r->error.line = r->places.key_line;
    r->error.column = r->places.key_column;
}

static bool phi__toml_too_big(phi__toml_reader *r, const char *at, const char *what) {
    return phi__toml_fail(r, at, PHI_TOO_BIG, what);
}

static bool phi__toml_no_memory(phi__toml_reader *r) {
    return phi__toml_fail(r, r->at, PHI_NO_MEMORY, "no memory for the tree");
}

/* ---- characters ---- */

static size_t phi__toml_char(phi__toml_reader *r, const char *at) {
    unsigned char c = (unsigned char)*at;
    if (c == '\t' || (c >= 0x20 && c < 0x7f)) return 1;
    if (c == '\r') {
        phi__toml_wrong(r, at, "a carriage return without a line feed behind it");
        return 0;
    }
    if (c < 0x80) {
        phi__toml_wrong(
            r, at, "a control character, which must be an escape in a string in double quotes");
        return 0;
    }
    size_t n = phi__json_text_utf8(at, r->end);
    if (n == 0) phi__toml_wrong(r, at, "a byte that is not UTF-8");
    return n;
}

/* ---- lines ---- */

static bool phi__toml_space(phi__toml_reader *r, const char *stop) {
    while (r->at < stop && (*r->at == ' ' || *r->at == '\t')) r->at++;
    return r->at < stop || r->at == r->end;
}

static void phi__toml_newline(phi__toml_reader *r) {
    r->at += *r->at == '\r' ? 2 : 1;
    r->line++;
    r->line_at = r->at;
}

/* ---- room ---- */

/* Adds to the text's copy, which has room for a terminator. A value is never longer than its source
   text. */
static bool phi__toml_add(phi__toml_reader *r, const char *at, size_t len) {
    if (!phi__pool_room(&r->pool, r->arena, &r->string, &r->to, len, (size_t)(r->end - r->at)))
        return phi__toml_no_memory(r);
    if (len > 0) memcpy(r->to, at, len);
    r->to += len;
    return true;
}

static phi_str phi__toml_end(phi__toml_reader *r, const char *at) {
    phi_str text = phi__str("", 0);
    if (!phi__toml_add(r, r->mark, (size_t)(at - r->mark))) return text;
    *r->to = '\0';
    text = phi__str(r->string, (size_t)(r->to - r->string));
    r->pool.text = r->to + 1;
    r->string = r->to = NULL;
    return text;
}

static void phi__toml_drop(phi__toml_reader *r, phi_str text) {
    if (text.at + text.len + 1 == r->pool.text) r->pool.text -= text.len + 1;
}

/* ======== A hash table of the members of all tables, by table and key, at most three quarters
   full. Members stay until the end of the text, because a later header may add to any table. */

static uint32_t phi__toml_name_hash(const phi_json *table, phi_str key) {
    uint64_t seed = (uint64_t)(uintptr_t)table * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)phi__map_hash(seed, key);
}

/* Returns the slot of this member, or the free slot where it belongs. At least one slot is free. */
static phi__toml_name *phi__toml_name_slot(const phi__toml_reader *r, const phi_json *table,
                                           phi_str key, uint32_t hash) {
    size_t mask = r->name_cap - 1, i = hash & mask;
    for (;; i = (i + 1) & mask) {
        phi__toml_name *name = &r->names[i];
        if (name->table == NULL) return name;
        if (name->hash == hash && name->table == table &&
            phi__json_key_len(name->node) == key.len &&
            memcmp(name->node->key, key.at, key.len) == 0)
            return name;
    }
}

static bool phi__toml_name_grow(phi__toml_reader *r) {
    phi__toml_name *old = r->names, *names;
    size_t cap = r->name_cap;
    size_t grown = phi__max(phi__mul(cap, 2), PHI__TOML_NAMES_FIRST);
    names = (phi__toml_name *)phi__arena_zero(r->arena, phi__mul(grown, sizeof *names));
    if (names == NULL) return false;
    r->names = names;
    r->name_cap = grown;
    for (size_t i = 0; i < cap; i++) {
        size_t at = old[i].hash & (grown - 1);
        if (old[i].table == NULL) continue;
        while (names[at].table != NULL) at = (at + 1) & (grown - 1);
        names[at] = old[i];
    }
    return true;
}

static phi__toml_name *phi__toml_name_find(const phi__toml_reader *r, const phi_json *table,
                                           phi_str key) {
    if (r->name_cap == 0) return NULL;
    phi__toml_name *name = phi__toml_name_slot(r, table, key, phi__toml_name_hash(table, key));
    return name->table == NULL ? NULL : name;
}

static bool phi__toml_name_add(phi__toml_reader *r, const phi_json *table, phi_json *node,
                               uint8_t how) {
    uint32_t hash = phi__toml_name_hash(table, phi__toml_key_of(node));
    if (r->name_count >= r->name_cap / 4 * 3 && !phi__toml_name_grow(r))
        return phi__toml_no_memory(r);
    phi__toml_name *name = phi__toml_name_slot(r, table, phi__toml_key_of(node), hash);
    name->table = table;
    name->node = node;
    name->hash = hash;
    name->section = r->section_number & PHI__TOML_SECTIONS;
    name->how = how & 7u;
    r->name_count++;
    return true;
}

/* ---- tables, the walk of headers and dotted keys, and values that join them ---- */

static phi_json *phi__toml_node(phi__toml_reader *r, uint32_t meta) {
    phi_json *node = phi__pool_node(&r->pool, r->arena, (size_t)(r->end - r->at), meta);
    if (node == NULL) (void)phi__toml_no_memory(r);
    return node;
}

/* Records the place of a value or of a header. */
static void phi__toml_mark(phi__toml_reader *r, const phi_json *node) {
    if (r->marks == NULL) return;
    phi__marks_add(r->marks, node, r->places.value_line, r->places.value_column);
}

/* ---- tables ---- */

static void phi__toml_key(phi__toml_reader *r) {
    r->in_header = false;
    r->table = r->top != NULL ? r->top->node : r->section;
    r->table_depth = r->top != NULL ? r->top->depth : r->section_depth;
    r->state = PHI__TOML_KEY;
}

static bool phi__toml_deeper(phi__toml_reader *r, uint32_t depth) {
    if (depth <= r->max_depth) return true;
    return phi__toml_too_big(r, r->at, "tables and arrays are nested too deeply");
}

/* Adds a member to r->table under the key in r->key. NULL if an error was recorded. */
static phi_json *phi__toml_member(phi__toml_reader *r, uint32_t meta, uint8_t how) {
    phi_json *node = phi__toml_node(r, meta);
    if (node == NULL) return NULL;
    node->key = r->key.at;
    node->meta |= (uint32_t)r->key.len << 8;
    if (!phi__toml_name_add(r, r->table, node, how)) return NULL;
    phi__json_append(r->table, node);
    if (r->marks != NULL)
        phi__marks_add_key(r->marks, node, r->places.key_line, r->places.key_column);
    return node;
}

static void phi__toml_enter(phi__toml_reader *r, phi_json *table, uint32_t deeper) {
    r->table = table;
    r->table_depth += deeper;
    (void)phi__toml_deeper(r, r->table_depth);
}

/* Follows a header into an existing member. */
static void phi__toml_pass(phi__toml_reader *r, const phi__toml_name *name) {
    if (name->how == PHI__TOML_FIXED)
        phi__toml_wrong_key(r, "the key \"",
                            phi__json_kind_of(name->node) == PHI__JSON_OBJECT
                                ? "\" is an inline table, which is complete"
                                : "\" is a value already, and no table");
    else if (name->how == PHI__TOML_LIST)
        phi__toml_enter(r, name->node->v.last, 2);
    else
        phi__toml_enter(r, name->node, 1);
}

/* Follows a dotted key into an existing member. The member must be a table made by dotted keys of
   this section, or a table without a definition. */
static void phi__toml_pass_dotted(phi__toml_reader *r, phi__toml_name *name) {
    bool own = name->how == PHI__TOML_DOTTED && name->section == r->section_number;
    if (name->how == PHI__TOML_FIXED) {
        phi__toml_pass(r, name);
        return;
    }
    if (!own && name->how != PHI__TOML_IMPLICIT) {
        phi__toml_wrong_key(r, "the table \"",
                            "\" is defined already: a dotted key cannot add to it");
        return;
    }
    name->how = PHI__TOML_DOTTED;
    name->section = r->section_number & PHI__TOML_SECTIONS;
    phi__toml_enter(r, name->node, 1);
}

static void phi__toml_descend(phi__toml_reader *r) {
    phi__toml_name *name = phi__toml_name_find(r, r->table, r->key);
    if (name == NULL) {
        phi_json *node = phi__toml_member(r, PHI__JSON_OBJECT,
                                          r->in_header ? PHI__TOML_IMPLICIT : PHI__TOML_DOTTED);
        if (node == NULL) return;
        if (!r->in_header) {
            r->places.value_line = r->places.key_line;
            r->places.value_column = r->places.key_column;
        }
        phi__toml_mark(r, node);
        phi__toml_enter(r, node, 1);
        return;
    }
    if (r->in_header)
        phi__toml_pass(r, name);
    else
        phi__toml_pass_dotted(r, name);
    if (r->status == PHI_BUSY) phi__toml_drop(r, r->key);
}

static void phi__toml_list(phi__toml_reader *r, phi__toml_name *name) {
    phi_json *list =
        name == NULL
            ? phi__toml_member(r, PHI__JSON_ARRAY | (uint32_t)PHI__JSON_TABLES << 4, PHI__TOML_LIST)
            : name->node;
    if (list == NULL) return;
    if (name == NULL)
        phi__toml_mark(r, list);
    else if (name->how == PHI__TOML_LIST)
        phi__toml_drop(r, r->key);
    else if (name->how == PHI__TOML_FIXED)
        phi__toml_wrong_key(r, "the key \"",
                            phi__json_kind_of(list) == PHI__JSON_ARRAY
                                ? "\" is an array in brackets, which is complete"
                                : "\" is a value already, and no array of tables");
    else
        phi__toml_wrong_key(r, "the key \"", "\" is a table already, and no array of tables");
    phi_json *node = r->status == PHI_BUSY ? phi__toml_node(r, PHI__JSON_OBJECT) : NULL;
    if (node == NULL) return;
    phi__json_append(list, node); /* adds a table at the end */
    phi__toml_enter(r, node, 2);
}

static void phi__toml_table(phi__toml_reader *r, phi__toml_name *name) {
    phi_json *node;
    if (name == NULL) {
        node = phi__toml_member(r, PHI__JSON_OBJECT, PHI__TOML_EXPLICIT);
    } else {
        node = name->node;
        if (name->how == PHI__TOML_LIST)
            phi__toml_wrong_key(r, "the key \"", "\" is an array of tables already");
        else if (name->how == PHI__TOML_FIXED)
            phi__toml_wrong_key(r, "the key \"", "\" has a value already");
        else if (name->how != PHI__TOML_IMPLICIT)
            phi__toml_wrong_key(r, "the table \"",
                                "\" is defined already: put all its keys under one header");
        name->how = PHI__TOML_EXPLICIT;
        if (r->status == PHI_BUSY) {
            if (r->marks != NULL)
                phi__marks_add_key(r->marks, node, r->places.key_line, r->places.key_column);
            phi__toml_drop(r, r->key);
        }
    }
    if (node != NULL && r->status == PHI_BUSY) phi__toml_enter(r, node, 1);
}

static void phi__toml_section(phi__toml_reader *r) {
    phi__toml_name *name = phi__toml_name_find(r, r->table, r->key);
    if (r->tables_header)
        phi__toml_list(r, name);
    else
        phi__toml_table(r, name);
    if (r->status != PHI_BUSY) return;
    phi__toml_mark(r, r->table);
    r->section = r->table;
    r->section_depth = r->table_depth;
    if (r->section_number == PHI__TOML_SECTIONS) phi__toml_too_big(r, r->at, "2^29 headers");
    r->section_number++;
    r->state = PHI__TOML_REST;
}

/* ---- values ---- */

static void phi__toml_value(phi__toml_reader *r) {
    r->places.value_line = r->line;
    r->places.value_column = phi__toml_column(r, r->at);
}

static bool phi__toml_in_array(const phi__toml_reader *r) {
    return r->top != NULL && phi__json_kind_of(r->top->node) == PHI__JSON_ARRAY;
}

static phi_json *phi__toml_join(phi__toml_reader *r, uint32_t meta) {
    if (!phi__toml_in_array(r)) return phi__toml_member(r, meta, PHI__TOML_FIXED);
    phi_json *node = phi__toml_node(r, meta);
    if (node != NULL) phi__json_append(r->top->node, node);
    return node;
}

static uint8_t phi__toml_after(const phi__toml_reader *r) {
    if (r->top == NULL) return PHI__TOML_REST;
    return phi__toml_in_array(r) ? PHI__TOML_ITEM_AFTER : PHI__TOML_MEMBER_AFTER;
}

static phi_json *phi__toml_scalar(phi__toml_reader *r, uint32_t meta) {
    phi_json *node = phi__toml_join(r, meta);
    if (node == NULL) return NULL;
    phi__toml_mark(r, node);
    r->state = phi__toml_after(r);
    return node;
}

static void phi__toml_open(phi__toml_reader *r, bool table) {
    uint32_t depth = 1 + (phi__toml_in_array(r) ? r->top->depth : r->table_depth);
    uint32_t meta =
        table ? PHI__JSON_OBJECT | (uint32_t)PHI__JSON_INLINE << 4 : (uint32_t)PHI__JSON_ARRAY;
    phi__toml_frame *frame = r->unused;
    if (!phi__toml_deeper(r, depth)) return;
    phi_json *node = phi__toml_join(r, meta);
    if (node == NULL) return;
    phi__toml_mark(r, node);
    if (frame != NULL)
        r->unused = frame->up;
    else
        frame = (phi__toml_frame *)phi_arena_alloc(r->arena, sizeof *frame);
    if (frame == NULL) {
        phi__toml_no_memory(r);
        return;
    }
    frame->up = r->top;
    frame->node = node;
    frame->depth = depth;
    r->top = frame;
    r->at++;
    r->state = table ? PHI__TOML_FIRST_MEMBER : PHI__TOML_ITEM;
}

static void phi__toml_close(phi__toml_reader *r) {
    phi__toml_frame *frame = r->top;
    r->at++;
    r->top = frame->up;
    frame->up = r->unused;
    r->unused = frame;
    r->state = phi__toml_after(r);
}

/* ---- values that are neither strings nor dates: booleans, integers, floats ---- */

static const char phi__toml_no_value[] = "expected a value: text must be in quotes";
static const char phi__toml_bad_number[] =
    "expected a number, a date, true or false: a number has no unit, and text must be in quotes";

/* Returns the message for a word that is no value in TOML. */
static const char *phi__toml_num_word(phi_str text) {
    static const char *const nulls[] = {"null", "nil", "none"};
    if (phi__str_is_nocase(text, "true") || phi__str_is_nocase(text, "false"))
        return "true and false are written in small letters";
    for (size_t i = 0; i < PHI__COUNT(nulls); i++)
        if (phi__str_is_nocase(text, nulls[i])) return "TOML has no null: leave the key out";
    return phi__toml_no_value;
}

/* Copies a number without its underscores. False if an underscore is not between two digits. */
static bool phi__toml_num_strip(phi_str text, bool hex, char *to, size_t *len) {
    size_t n = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];
        if (c == '_') {
            char a = i > 0 ? text.at[i - 1] : '_', b = i + 1 < text.len ? text.at[i + 1] : '_';
            bool good = a >= '0' && a <= '9' && b >= '0' && b <= '9';
            if (hex) good = a != '_' && b != '_';
            if (!good) return false;
            continue;
        }
        to[n++] = c;
    }
    to[n] = '\0';
    *len = n;
    return true;
}

/* Reads the digits after 0x, 0o or 0b. */
static uint32_t phi__toml_num_based(const char *at, size_t len, unsigned base,
                                    phi__json_value *value, const char **what) {
    uint64_t n = 0;
    if (len == 0) *what = "expected digits behind the prefix of the number";
    for (size_t i = 0; i < len && *what == NULL; i++) {
        unsigned digit = phi__reader_digit(at[i]);
        if (digit >= base)
            *what = base == 16  ? "a digit that is not hexadecimal"
                    : base == 8 ? "a digit that is not octal"
                                : "a digit that is not binary";
        else if (n > ((uint64_t)INT64_MAX - digit) / base)
            *what = "the integer is too large for 64 bits";
        else
            n = n * base + digit;
    }
    value->i = (int64_t)n;
    return *what == NULL ? (uint32_t)PHI__JSON_INT : 0;
}

static uint32_t phi__toml_num_decimal(const char *at, size_t len, phi__json_value *value,
                                      const char **what) {
    phi__json_number number;
    const char *bad, *after = phi__json_number_read(at, at + len, &number, &bad);
    bool whole = strcspn(at, ".eE") == len;
    if (after == NULL && bad == at) {
        *what = *at >= '0' && *at <= '9' ? "the number is too large for a double"
                                         : phi__toml_bad_number;
        if (*at == '-')
            *what = phi__reader_digit(at[1]) > 9 ? phi__toml_bad_number
                                                 : "the number is too large for a double";
    } else if (after == NULL)
        *what = "expected a digit in the number";
    else if (after != at + len)
        *what = *at == '0' || (*at == '-' && at[1] == '0') ? "a number must not begin with a zero"
                                                           : phi__toml_bad_number;
    else if (whole && number.kind == PHI__JSON_DOUBLE && number.v.u << 1 == 0) { /* -0 is 0 */
        number.kind = PHI__JSON_INT;
        number.v.i = 0;
    } else if (whole && number.kind != PHI__JSON_INT)
        *what = "the integer is too large for 64 bits";
    if (*what != NULL) return 0;
    *value = number.v;
    return number.kind;
}

static uint32_t phi__toml_num_read(phi_str text, char *room, phi__json_value *value,
                                   const char **what) {
    bool sign = text.len > 0 && (*text.at == '+' || *text.at == '-');
    phi_str rest = sign ? phi__str(text.at + 1, text.len - 1) : text;
    size_t len;
    *what = NULL;
    if (phi__str_is(text, "true")) return PHI__JSON_TRUE;
    if (phi__str_is(text, "false")) return PHI__JSON_FALSE;
    if (phi__str_is(rest, "inf") || phi__str_is(rest, "nan")) {
        value->u = *rest.at == 'n' ? UINT64_C(0x7ff8000000000000) : UINT64_C(0x7ff0000000000000);
        if (*text.at == '-') value->u |= UINT64_C(1) << 63;
        return PHI__JSON_DOUBLE;
    }
    if (rest.len == 0 || phi__reader_digit(*rest.at) > 9) {
        *what = sign || (rest.len > 0 && *rest.at == '.') ? "expected a digit in the number"
                                                          : phi__toml_num_word(text);
        return 0;
    }
    char base = rest.len > 1 && *rest.at == '0' ? rest.at[1] : '\0';
    bool hex = base == 'x' || base == 'o' || base == 'b';
    if (hex && sign) {
        *what = "a number with a prefix has no sign";
        return 0;
    }
    if (hex) rest = phi__str(rest.at + 2, rest.len - 2);
    if (!phi__toml_num_strip(*text.at == '-' ? text : rest, hex, room, &len)) {
        *what = "an underscore must be between two digits";
        return 0;
    }
    if (hex)
        return phi__toml_num_based(room, len, base == 'x' ? 16 : base == 'o' ? 8 : 2, value, what);
    return phi__toml_num_decimal(room, len, value, what);
}

/* ---- dates and times of RFC 3339 as TOML has them ---- */

/* True if a text begins with this shape. In "dddd-dd", each d is any digit. */
static bool phi__toml_date_shaped(phi_str s, const char *shape) {
    for (size_t i = 0; shape[i] != '\0'; i++)
        if (i == s.len || (shape[i] == 'd' ? s.at[i] < '0' || s.at[i] > '9' : s.at[i] != shape[i]))
            return false;
    return true;
}

static bool phi__toml_date_begins(phi_str text) {
    return phi__toml_date_shaped(text, "dddd-") || phi__toml_date_shaped(text, "dd:");
}

static int32_t phi__toml_date_number(const char *at, int digits) {
    int32_t n = 0;
    while (digits-- > 0) n = n * 10 + (*at++ - '0');
    return n;
}

static int32_t phi__toml_date_days(int32_t year, int32_t month) {
    static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return month == 2 && leap ? 29 : days[month - 1];
}

/* Reads the date at the start of *s, and advances *s past it. False if there is no valid date. */
static bool phi__toml_date_day(phi_str *s, phi_toml_date *out) {
    if (!phi__toml_date_shaped(*s, "dddd-dd-dd")) return false;
    out->year = phi__toml_date_number(s->at, 4);
    out->month = phi__toml_date_number(s->at + 5, 2);
    out->day = phi__toml_date_number(s->at + 8, 2);
    *s = phi__str(s->at + 10, s->len - 10);
    return out->month >= 1 && out->month <= 12 && out->day >= 1 &&
           out->day <= phi__toml_date_days(out->year, out->month);
}

static bool phi__toml_date_time(phi_str *s, phi_toml_date *out) {
    int32_t unit = 100000000;
    size_t i = 8;
    if (!phi__toml_date_shaped(*s, "dd:dd:dd")) return false;
    out->hour = phi__toml_date_number(s->at, 2);
    out->minute = phi__toml_date_number(s->at + 3, 2);
    out->second = phi__toml_date_number(s->at + 6, 2);
    if (phi__toml_date_shaped(phi__str(s->at + 8, s->len - 8), ".d"))
        for (i = 9; i < s->len && s->at[i] >= '0' && s->at[i] <= '9'; i++, unit /= 10)
            out->nanosecond += (s->at[i] - '0') * unit;
    *s = phi__str(s->at + i, s->len - i);
    return out->hour <= 23 && out->minute <= 59 && out->second <= 60;
}

/* Reads an offset. It must be all that is left of the text. */
static bool phi__toml_date_offset(phi_str s, phi_toml_date *out) {
    if (s.len == 1 && (*s.at == 'Z' || *s.at == 'z')) return true;
    if (s.len != 6 || (*s.at != '+' && *s.at != '-')) return false;
    if (!phi__toml_date_shaped(phi__str(s.at + 1, 5), "dd:dd")) return false;
    int32_t hours = phi__toml_date_number(s.at + 1, 2);
    int32_t minutes = phi__toml_date_number(s.at + 4, 2);
    out->offset_minutes = (*s.at == '-' ? -1 : 1) * (hours * 60 + minutes);
    return hours <= 23 && minutes <= 59;
}

static bool phi__toml_date_read(phi_str s, phi_toml_date *out) {
    phi_toml_date date = PHI_ZERO;
    date.type = PHI_TOML_LOCAL_TIME;
    if (phi__toml_date_shaped(s, "dddd-")) {
        if (!phi__toml_date_day(&s, &date)) return false;
        date.type = s.len == 0 ? PHI_TOML_LOCAL_DATE : PHI_TOML_LOCAL_DATETIME;
        if (s.len > 0) {
            if (*s.at != 'T' && *s.at != 't' && *s.at != ' ') return false;
            s = phi__str(s.at + 1, s.len - 1);
        }
    }
    if (date.type != PHI_TOML_LOCAL_DATE && !phi__toml_date_time(&s, &date)) return false;
    if (date.type == PHI_TOML_LOCAL_DATETIME && s.len > 0) {
        if (!phi__toml_date_offset(s, &date)) return false;
        date.type = PHI_TOML_OFFSET_DATETIME;
        s.len = 0;
    }
    if (s.len > 0) return false;
    *out = date;
    return true;
}

static size_t phi__toml_date_put(phi_str text, char out[PHI__TOML_DATE_MOST]) {
    size_t n = 0, digits = 0;
    bool fraction = false;
    for (size_t i = 0; i < text.len && n + 1 < PHI__TOML_DATE_MOST; i++) {
        char c = text.at[i];
        fraction = c == '.' || (fraction && c >= '0' && c <= '9');
        if (fraction && digits++ > PHI__TOML_FRACTION) continue;
        out[n++] = (char)(c == 't' || c == ' ' ? 'T' : c == 'z' ? 'Z' : c);
    }
    out[n] = '\0';
    return n;
}

static phi_toml_type phi__toml_date_type(const phi_json *node) {
    switch (phi_json_type_of(node)) {
    case PHI_JSON_BOOL: return PHI_TOML_BOOL;
    case PHI_JSON_NUMBER:
        return phi__json_kind_of(node) == PHI__JSON_DOUBLE ? PHI_TOML_FLOAT : PHI_TOML_INTEGER;
    case PHI_JSON_STRING: break;
    case PHI_JSON_ARRAY: return PHI_TOML_ARRAY;
    case PHI_JSON_OBJECT: return PHI_TOML_TABLE;
    default: return PHI_TOML_NONE;
    }
    switch (phi__json_form_of(node)) {
    case PHI__JSON_OFFSET_DATETIME: return PHI_TOML_OFFSET_DATETIME;
    case PHI__JSON_LOCAL_DATETIME: return PHI_TOML_LOCAL_DATETIME;
    case PHI__JSON_LOCAL_DATE: return PHI_TOML_LOCAL_DATE;
    case PHI__JSON_LOCAL_TIME: return PHI_TOML_LOCAL_TIME;
    default: return PHI_TOML_STRING;
    }
}

/* ---- public ---- */

PHI_API phi_toml_type phi_toml_type_of(const phi_json *node, phi_toml_date *date) {
    phi_toml_type type = phi__toml_date_type(node);
    if (date != NULL && type >= PHI_TOML_OFFSET_DATETIME && type <= PHI_TOML_LOCAL_TIME)
        (void)phi__toml_date_read(phi__json_text_of(node), date);
    return type;
}

PHI_API phi_json *phi_toml_new_date(phi_arena *arena, phi_str text) {
    char canonical[PHI__TOML_DATE_MOST];
    phi_toml_date date;
    if (arena == NULL || !phi__toml_date_read(text, &date)) return NULL;
    phi_json *node =
        phi_json_new_str(arena, phi__str(canonical, phi__toml_date_put(text, canonical)));
    if (node != NULL)
        node->meta |= (uint32_t)(date.type - PHI_TOML_OFFSET_DATETIME + PHI__JSON_OFFSET_DATETIME)
                      << 4;
    return node;
}

/* ======== The four styles of strings, in slices.

   The text begins at `mark`. It is not copied before an escape or a line break of two bytes. */

static bool phi__toml_str_is_multi(const phi__toml_reader *r) {
    return r->style >= PHI__TOML_MULTI_BASIC;
}

static void phi__toml_str_begin(phi__toml_reader *r, bool is_key) {
    char quote = *r->at;
    bool multi = r->end - r->at > 2 && r->at[1] == quote && r->at[2] == quote;
    if (is_key && multi) {
        phi__toml_wrong(r, r->at, "a key cannot be a string of several lines");
        return;
    }
    r->style = quote == '"' ? PHI__TOML_BASIC : PHI__TOML_LITERAL;
    if (multi) r->style = quote == '"' ? PHI__TOML_MULTI_BASIC : PHI__TOML_MULTI_LITERAL;
    r->at += multi ? 3 : 1;
    if (multi && phi__toml_at_break(r, r->at)) phi__toml_newline(r);
    r->mark = r->at;
    r->is_key = is_key;
    r->state = PHI__TOML_STRING_TEXT;
}

/* Ends a string whose text ends at `at`, and whose closing quotes end at `behind`. */
static void phi__toml_str_done(phi__toml_reader *r, const char *at, const char *behind) {
    phi_str text = phi__toml_end(r, at);
    if (r->status != PHI_BUSY) return;
    r->at = behind;
    if (r->is_key) {
        r->key = text;
        r->state = PHI__TOML_KEY_AFTER;
        if (text.len > PHI__TOML_KEY_MOST) phi__toml_too_big(r, at, "a key of more than 16 MiB");
        return;
    }
    phi_json *node = phi__toml_scalar(r, PHI__JSON_STRING);
    if (node == NULL) return;
    node->v.str = text.at;
    node->len = (uint32_t)text.len;
}

/* Reads the quotes at r->at. They end the string or belong to its text. In a string of several
   lines, up to two quotes before the closing three belong to the text. */
static void phi__toml_str_quotes(phi__toml_reader *r) {
    const char *at = r->at;
    size_t n = 0, left = (size_t)(r->end - at);
    if (!phi__toml_str_is_multi(r)) {
        phi__toml_str_done(r, at, at + 1);
        return;
    }
    while (n < 5 && n < left && at[n] == *at) n++;
    if (n >= 3)
        phi__toml_str_done(r, at + n - 3, at + n);
    else
        r->at += n;
}

static void phi__toml_str_break(phi__toml_reader *r) {
    if (!phi__toml_str_is_multi(r)) {
        phi__toml_wrong(r, r->at,
                        r->is_key ? "a key must end on its line"
                                  : "a string must end on its line, unless it is in three quotes");
        return;
    }
    if (*r->at == '\r') {
        if (!phi__toml_add(r, r->mark, (size_t)(r->at - r->mark))) return;
        r->mark = r->at + 1;
    }
    phi__toml_newline(r);
}

/* ---- escapes ---- */

/* Reads \uXXXX or \UXXXXXXXX at r->at, with this many digits. UINT32_MAX: an error was recorded. */
static uint32_t phi__toml_str_code(phi__toml_reader *r, size_t digits) {
    uint32_t code = phi__json_text_hex(r->at + 2, r->end, digits);
    if (code == UINT32_MAX)
        phi__toml_wrong(r, r->at,
                        digits == 4 ? "\\u takes four hexadecimal digits"
                                    : "\\U takes eight hexadecimal digits, at most 0010FFFF");
    else if (code > 0x10ffff)
        phi__toml_wrong(r, r->at, "\\U takes eight hexadecimal digits, at most 0010FFFF");
    else if (code >= 0xd800 && code <= 0xdfff)
        phi__toml_wrong(r, r->at, "an escape of half of a surrogate pair");
    return r->status == PHI_BUSY ? code : UINT32_MAX;
}

static void phi__toml_str_escape(phi__toml_reader *r) {
    char c = r->end - r->at > 1 ? r->at[1] : '\0', bytes[4];
    size_t digits = c == 'u' ? 4 : c == 'U' ? 8 : 0;
    if (!phi__toml_add(r, r->mark, (size_t)(r->at - r->mark))) return;
    if (phi__toml_str_is_multi(r) && (c == ' ' || c == '\t' || phi__toml_at_break(r, r->at + 1))) {
        r->at++;
        r->joined = false;
        r->state = PHI__TOML_STRING_JOIN;
        return;
    }
    static const char letters[] = "btnfr\"\\", codes[] = "\b\t\n\f\r\"\\";
    const char *found = c == '\0' ? NULL : (const char *)memchr(letters, c, sizeof letters - 1);
    uint32_t code = digits > 0      ? phi__toml_str_code(r, digits)
                    : found != NULL ? (uint32_t)(unsigned char)codes[found - letters]
                                    : UINT32_MAX;
    if (r->status != PHI_BUSY) return;
    if (code == UINT32_MAX) {
        phi__toml_expected(r, r->at + 1, "one of \"\\bfnrtuU after the backslash");
        return;
    }
    if (!phi__toml_add(r, bytes, phi__utf8_put(bytes, code))) return;
    r->at += 2 + digits;
    r->mark = r->at;
}

static void phi__toml_str_join(phi__toml_reader *r, const char *stop) {
    if (!phi__toml_space(r, stop)) return;
    if (phi__toml_at_break(r, r->at)) {
        phi__toml_newline(r);
        r->joined = true;
    } else if (!r->joined)
        phi__toml_expected(r, r->at, "the end of the line after the backslash");
    else {
        r->mark = r->at;
        r->state = PHI__TOML_STRING_TEXT;
    }
}

/* ---- text ---- */

static void phi__toml_str_text(phi__toml_reader *r, const char *stop) {
    char quote = r->style == PHI__TOML_BASIC || r->style == PHI__TOML_MULTI_BASIC ? '"' : '\'';
    while (r->status == PHI_BUSY && r->state == PHI__TOML_STRING_TEXT && r->at < stop) {
        /* Skip the characters that need no check. */
        const char *at = r->at;
        char escape = quote == '"' ? '\\' : quote;
        while (at < stop && (unsigned char)*at - 0x20u < 0x5fu && *at != quote && *at != escape)
            at++;
        r->at = at;
        if (r->at == stop) break;
        if (*r->at == quote)
            phi__toml_str_quotes(r);
        else if (*r->at == '\\' && quote == '"')
            phi__toml_str_escape(r);
        else if (phi__toml_at_break(r, r->at))
            phi__toml_str_break(r);
        else
            r->at += phi__toml_char(r, r->at);
    }
    if (r->at >= r->end && r->state == PHI__TOML_STRING_TEXT)
        phi__toml_expected(r, r->at, "the closing quote of a string");
}

/* ---- keys ---- */

static void phi__toml_read_key(phi__toml_reader *r, const char *stop) {
    if (!phi__toml_space(r, stop)) return;
    r->places.key_at = r->at;
    r->places.key_line = r->line;
    r->places.key_column = phi__toml_column(r, r->at);
    if (r->at < r->end && (*r->at == '"' || *r->at == '\''))
        phi__toml_str_begin(r, true);
    else if (r->at < r->end && phi__toml_is_bare(*r->at)) {
        r->mark = r->at;
        r->state = PHI__TOML_BARE;
    } else if (r->at < r->end && *r->at == '{')
        phi__toml_wrong(r, r->at, "expected a key, found '{': this is read as TOML, not as JSON");
    else
        phi__toml_expected(r, r->at, "a key");
}

static void phi__toml_read_bare(phi__toml_reader *r, const char *stop) {
    const char *at = r->at;
    while (at < stop && phi__toml_is_bare(*at)) at++;
    r->at = at;
    if (at == stop && at < r->end) return;
    if ((size_t)(at - r->mark) > PHI__TOML_KEY_MOST) {
        phi__toml_too_big(r, r->mark, "a key of more than 16 MiB");
        return;
    }
    r->key = phi__toml_end(r, at);
    r->state = PHI__TOML_KEY_AFTER;
}

static void phi__toml_read_key_after(phi__toml_reader *r, const char *stop) {
    if (!phi__toml_space(r, stop)) return;
    char c = r->at < r->end ? *r->at : '\0';
    if (c == '.') {
        r->at++;
        r->state = PHI__TOML_KEY;
        phi__toml_descend(r);
    } else if (c == '=' && !r->in_header) {
        r->at++;
        if (phi__toml_name_find(r, r->table, r->key) != NULL)
            phi__toml_wrong_key(r, "the key \"",
                                "\" is in this table already: keep one of the two");
        r->state = PHI__TOML_VALUE;
    } else if (c == ']' && r->in_header) {
        if (r->tables_header && (r->end - r->at < 2 || r->at[1] != ']')) {
            phi__toml_expected(r, r->at + 1, "']' right behind the first one");
            return;
        }
        r->at += r->tables_header ? 2 : 1;
        phi__toml_section(r);
    } else if (c == ':' && !r->in_header)
        phi__toml_wrong(r, r->at,
                        "expected '.' or '=', found ':': TOML has '=' behind a key, not ':' as "
                        "YAML and JSON have");
    else
        phi__toml_expected(r, r->at, r->in_header ? "'.' or ']'" : "'.' or '='");
}

/* ---- values ---- */

static bool phi__toml_read_is_token(char c) {
    return phi__toml_is_bare(c) || c == '+' || c == '.' || c == ':';
}

static void phi__toml_read_date(phi__toml_reader *r, phi_str token) {
    char canonical[PHI__TOML_DATE_MOST];
    phi_toml_date date;
    if (!phi__toml_date_read(token, &date)) {
        phi__toml_wrong(r, r->at,
                        "no date or time that exists: they are written as 1979-05-27, 07:32:00, "
                        "1979-05-27T07:32:00 or 1979-05-27T07:32:00Z");
        return;
    }
    r->mark = r->at;
    if (!phi__toml_add(r, canonical, phi__toml_date_put(token, canonical))) return;
    phi_str text = phi__toml_end(r, r->at);
    if (r->status != PHI_BUSY) return;
    uint32_t form = (uint32_t)(date.type - PHI_TOML_OFFSET_DATETIME + PHI__JSON_OFFSET_DATETIME);
    r->at += token.len;
    phi_json *node = phi__toml_scalar(r, form << 4 | PHI__JSON_STRING);
    if (node == NULL) return;
    node->v.str = text.at;
    node->len = (uint32_t)text.len;
}

/* Reads a number. A copy without underscores takes room for text only while the number is read. */
static void phi__toml_read_number(phi__toml_reader *r, phi_str token) {
    phi__json_value value;
    const char *what;
    r->mark = r->at;
    if (!phi__toml_add(r, token.at, token.len)) return;
    value.u = 0;
    uint32_t kind = phi__toml_num_read(token, r->string, &value, &what);
    r->string = r->to = NULL;
    if (kind == 0) {
        phi__toml_wrong(r, r->at, what);
        return;
    }
    r->at += token.len;
    phi_json *node = phi__toml_scalar(r, kind);
    if (node != NULL) node->v = value;
}

static void phi__toml_read_value(phi__toml_reader *r) {
    char c = r->at < r->end ? *r->at : '\0';
    phi__toml_value(r);
    if (c == '"' || c == '\'') {
        phi__toml_str_begin(r, false);
        return;
    }
    if (c == '[' || c == '{') {
        phi__toml_open(r, c == '{');
        return;
    }
    /* Find the bare value at r->at, up to one byte more than allowed. A space may separate a date
       from its time. */
    size_t most = phi__min((size_t)(r->end - r->at), PHI__TOML_NUMBER_MOST + 1), n = 0;
    while (n < most && phi__toml_read_is_token(r->at[n])) n++;
    if (n == 10 && phi__toml_date_begins(phi__str(r->at, n)) && n + 1 < most && r->at[n] == ' ' &&
        r->at[n + 1] >= '0' && r->at[n + 1] <= '9') {
        n++;
        while (n < most && phi__toml_read_is_token(r->at[n])) n++;
    }
    phi_str token = phi__str(r->at, n);
    if (token.len == 0)
        phi__toml_expected(r, r->at, r->state == PHI__TOML_ITEM ? "a value or ']'" : "a value");
    else if (token.len > PHI__TOML_NUMBER_MOST)
        phi__toml_too_big(r, r->at, "a number of more than 64 KiB");
    else if (phi__toml_date_begins(token))
        phi__toml_read_date(r, token);
    else
        phi__toml_read_number(r, token);
}

/* ---- containers ---- */

static void phi__toml_read_comment_begin(phi__toml_reader *r) {
    r->back = r->state;
    r->state = PHI__TOML_COMMENT;
}

/* Skips white space, a line break, or the start of a comment. True if anything else is at r->at. */
static bool phi__toml_read_skip(phi__toml_reader *r, const char *stop) {
    if (!phi__toml_space(r, stop)) return false;
    if (r->at == r->end)
        return phi__toml_expected(r, r->at,
                                  r->state == PHI__TOML_ITEM ? "a value or ']'" : "',' or ']'");
    if (*r->at == '#')
        phi__toml_read_comment_begin(r);
    else if (phi__toml_at_break(r, r->at))
        phi__toml_newline(r);
    else
        return true;
    return false;
}

static void phi__toml_read_item(phi__toml_reader *r, const char *stop) {
    if (!phi__toml_read_skip(r, stop)) return;
    if (*r->at == ']')
        phi__toml_close(r);
    else if (r->state == PHI__TOML_ITEM)
        phi__toml_read_value(r);
    else if (*r->at == ',') {
        r->at++;
        r->state = PHI__TOML_ITEM;
    } else
        phi__toml_expected(r, r->at, "',' or ']'");
}

static void phi__toml_read_member(phi__toml_reader *r, const char *stop) {
    bool first = r->state == PHI__TOML_FIRST_MEMBER;
    if (!phi__toml_space(r, stop)) return;
    if (phi__toml_at_break(r, r->at))
        phi__toml_wrong(r, r->at, "a table in braces must be on one line");
    else if (r->at < r->end && *r->at == '}' && first)
        phi__toml_close(r);
    else if (r->at < r->end && *r->at == '}')
        phi__toml_wrong(r, r->at, "a comma before '}', which TOML 1.0 does not allow");
    else
        phi__toml_key(r);
}

static void phi__toml_read_member_after(phi__toml_reader *r, const char *stop) {
    if (!phi__toml_space(r, stop)) return;
    char c = r->at < r->end ? *r->at : '\0';
    if (phi__toml_at_break(r, r->at))
        phi__toml_wrong(r, r->at, "a table in braces must be on one line");
    else if (c == '}')
        phi__toml_close(r);
    else if (c == ',') {
        r->at++;
        r->state = PHI__TOML_MEMBER;
    } else
        phi__toml_expected(r, r->at, "',' or '}'");
}

/* ---- lines ---- */

static void phi__toml_read_line(phi__toml_reader *r, const char *stop) {
    if (!phi__toml_space(r, stop)) return;
    if (r->at == r->end)
        r->status = PHI_OK;
    else if (phi__toml_at_break(r, r->at))
        phi__toml_newline(r);
    else if (*r->at == '#')
        phi__toml_read_comment_begin(r);
    else if (*r->at == '[') {
        phi__toml_value(r);
        r->tables_header = r->end - r->at > 1 && r->at[1] == '[';
        r->at += r->tables_header ? 2 : 1;
        r->in_header = true;
        r->table = r->root;
        r->table_depth = 1;
        r->state = PHI__TOML_KEY;
    } else
        phi__toml_key(r);
}

static void phi__toml_read_rest(phi__toml_reader *r, const char *stop) {
    if (!phi__toml_space(r, stop)) return;
    if (r->at < r->end && *r->at == '#')
        phi__toml_read_comment_begin(r);
    else if (r->at == r->end || phi__toml_at_break(r, r->at))
        r->state = PHI__TOML_LINE;
    else if (*r->at == ',')
        phi__toml_wrong(r, r->at,
                        "expected the end of the line, found ',': no comma is behind a value, and "
                        "none in a number");
    else
        phi__toml_expected(r, r->at, "the end of the line");
}

/* Skips a comment up to the end of its line, which is left for the next state. */
static void phi__toml_read_comment(phi__toml_reader *r, const char *stop) {
    while (r->at < stop && r->status == PHI_BUSY) {
        while (r->at < stop && (unsigned char)*r->at - 0x20u < 0x5fu) r->at++;
        if (r->at == stop || phi__toml_at_break(r, r->at)) break;
        r->at += phi__toml_char(r, r->at);
    }
    if (r->at == r->end || phi__toml_at_break(r, r->at)) r->state = r->back;
}

static void phi__toml_read_state(phi__toml_reader *r, const char *stop) {
    switch (r->state) {
    case PHI__TOML_LINE: phi__toml_read_line(r, stop); break;
    case PHI__TOML_KEY: phi__toml_read_key(r, stop); break;
    case PHI__TOML_BARE: phi__toml_read_bare(r, stop); break;
    case PHI__TOML_KEY_AFTER: phi__toml_read_key_after(r, stop); break;
    case PHI__TOML_VALUE:
        if (phi__toml_space(r, stop)) phi__toml_read_value(r);
        break;
    case PHI__TOML_ITEM:
    case PHI__TOML_ITEM_AFTER: phi__toml_read_item(r, stop); break;
    case PHI__TOML_MEMBER:
    case PHI__TOML_FIRST_MEMBER: phi__toml_read_member(r, stop); break;
    case PHI__TOML_MEMBER_AFTER: phi__toml_read_member_after(r, stop); break;
    case PHI__TOML_STRING_TEXT: phi__toml_str_text(r, stop); break;
    case PHI__TOML_STRING_JOIN: phi__toml_str_join(r, stop); break;
    case PHI__TOML_REST: phi__toml_read_rest(r, stop); break;
    default: phi__toml_read_comment(r, stop); break;
    }
}

/* ---- public ---- */

PHI__FN void phi__toml_read_begin(phi__toml_reader *r, phi_arena *arena, phi_str text,
                                  const phi_toml_desc *options) {
    uint32_t depth = options == NULL ? 0 : options->max_depth;
    memset(r, 0, sizeof *r);
    if (text.at == NULL) text = phi__str("", 0);
    r->arena = arena;
    r->text = r->at = r->line_at = text.at;
    r->end = text.at + text.len;
    r->max_depth =
        depth == 0 ? (uint32_t)PHI__TOML_DEPTH : (uint32_t)phi__min(depth, PHI_JSON_MAX_DEPTH);
    r->line = 1;
    r->status = PHI_BUSY;
    r->state = PHI__TOML_LINE;
    if (text.len >= UINT32_MAX)
        phi__toml_too_big(r, r->at, "a text of 4 GiB or more");
    else if (text.len >= 3 && memcmp(text.at, "\xEF\xBB\xBF", 3) == 0)
        r->at = r->line_at = text.at + 3;
}

PHI__FN phi_status phi__toml_read_advance(phi__toml_reader *r, size_t units) {
    if (r->status != PHI_BUSY) return r->status;
    if (units == 0) units = 1;
    if (r->root == NULL) {
        r->root = r->section = r->table = phi__toml_node(r, PHI__JSON_OBJECT);
        if (r->root == NULL) return r->status;
        r->section_depth = r->table_depth = 1;
        r->places.value_line = r->places.value_column = 1;
        phi__toml_mark(r, r->root);
    }
    const char *stop = (size_t)(r->end - r->at) > units ? r->at + units : r->end;
    while (r->status == PHI_BUSY && (r->at < stop || stop == r->end)) phi__toml_read_state(r, stop);
    if (r->status != PHI_BUSY) phi__pool_end(&r->pool, r->arena);
    return r->status;
}

PHI__FN phi_status phi__toml_read_result(const phi__toml_reader *r, phi_json **out,
                                         phi_parse_error *error) {
    if (out != NULL) *out = r->status == PHI_OK ? r->root : NULL;
    if (error != NULL) *error = r->error;
    return r->status;
}

PHI_API phi_status phi_toml_parse(phi_arena *arena, phi_str text, const phi_toml_desc *options,
                                  phi_json **out, phi_parse_error *error) {
    phi__toml_reader reader;
    phi_status status;
    if (arena == NULL || out == NULL) return PHI_BAD_ARG;
    phi_arena_mark mark = phi_arena_save(arena);
    phi__toml_read_begin(&reader, arena, text, options);
    while ((status = phi__toml_read_advance(&reader, SIZE_MAX)) == PHI_BUSY) continue;
    (void)phi__toml_read_result(&reader, out, error);
    if (status != PHI_OK) phi_arena_reset(arena, mark);
    return status;
}

/* ---- src/formats/toml_write.c ---- */

/* toml_write.c - writes a tree as TOML: first the values of a table, then the tables in it. */

typedef struct phi__toml_writer {
    phi__buf *out;
    phi__buf path; /* path of the table being written, as in its header */
    uint32_t flags;
    phi_status status;
} phi__toml_writer;

enum { PHI__TOML_LINE_MOST = 80 }; /* max. bytes of an array that is written in one line */

/* Returns PHI_OK, PHI_NO_MEMORY, or the status with which a value was refused. */
static phi_status phi__toml_put_status(const phi__toml_writer *w) {
    if (w->status == PHI_OK && (w->out->failed || w->path.failed)) return PHI_NO_MEMORY;
    return w->status;
}

static void phi__toml_put_refuse(phi__toml_writer *w, phi_status status) {
    if (w->status == PHI_OK) w->status = status;
}

/* ---- strings ---- */

/* Writes a text in double quotes. If `lines` is set, writes it in three double quotes. */
static void phi__toml_put_basic(phi__buf *out, phi_str s, bool lines) {
    static const char from[] = "\b\t\n\f\r\"\\", to[] = "btnfr\"\\";
    const char *at = s.at, *end = s.at + s.len;
    bool quoted = false; /* the last character is an unescaped quote */
    phi__buf_text(out, lines ? "\"\"\"\n" : "\"");
    while (at < end) {
        const char *run = at;
        while (run < end && (unsigned char)*run - 0x20u < 0x5fu && *run != '"' && *run != '\\')
            run++;
        if (run > at) {
            phi__buf_add(out, at, (size_t)(run - at));
            at = run;
            quoted = false;
            continue;
        }
        size_t n = phi__json_text_utf8(at, end);
        bool quote = lines && *at == '"' && !quoted && at + 1 < end;
        const char *found = *at == '\0' ? NULL : (const char *)memchr(from, *at, sizeof from - 1);
        if (n > 1)
            phi__buf_add(out, at, n);
        else if (n == 0) {
            n = phi__utf8_bad(at, end);
            phi__buf_text(out, "\xef\xbf\xbd");
        } else if ((lines && (*at == '\n' || *at == '\t')) || quote)
            phi__buf_char(out, *at);
        else if (found != NULL)
            phi__buf_printf(out, "\\%c", to[found - from]);
        else
            phi__buf_printf(out, "\\u%04x", (unsigned)(unsigned char)*at);
        quoted = quote;
        at += n;
    }
    phi__buf_text(out, lines ? "\"\"\"" : "\"");
}

/* Writes a text, in single quotes if that avoids escapes. */
static void phi__toml_put_text(phi__buf *out, phi_str s, bool lines) {
    bool literal = false;
    size_t i = 0;
    for (; i < s.len; i++) {
        unsigned char c = (unsigned char)s.at[i];
        if (c < 0x20 || c >= 0x7f || c == '\'') break;
        literal = literal || c == '\\' || c == '"';
    }
    if (literal && i == s.len) {
        phi__buf_char(out, '\'');
        phi__buf_add_str(out, s);
        phi__buf_char(out, '\'');
    } else
        phi__toml_put_basic(out, s, lines && s.len > 0 && memchr(s.at, '\n', s.len) != NULL);
}

static void phi__toml_put_key(phi__buf *out, phi_str key) {
    size_t i = 0;
    while (i < key.len && phi__toml_is_bare(key.at[i])) i++;
    if (i == key.len && i > 0)
        phi__buf_add_str(out, key);
    else
        phi__toml_put_text(out, key, false);
}

/* ---- values ---- */

static void phi__toml_put_value(phi__toml_writer *w, const phi_json *node, uint32_t depth,
                                bool lines);

static bool phi__toml_put_skips(const phi__toml_writer *w, const phi_json *node) {
    return (w->flags & PHI_TOML_SKIP_NULLS) != 0 && phi__json_kind_of(node) == PHI__JSON_NULL;
}

/* Writes an array or an object in one line, or, if `lines` is set, an array in several. */
static void phi__toml_put_items(phi__toml_writer *w, const phi_json *node, uint32_t depth,
                                bool lines) {
    bool object = phi__json_kind_of(node) == PHI__JSON_OBJECT, first = true;
    phi_json_iter it = phi_json_each(node);
    phi__buf_text(w->out, object ? "{" : lines ? "[\n" : "[");
    while (phi_json_next(&it) != NULL && phi__toml_put_status(w) == PHI_OK) {
        if (object && phi__toml_put_skips(w, it.at)) continue;
        phi__buf_text(w->out, lines ? "    " : !first ? ", " : object ? " " : "");
        first = false;
        if (object) {
            phi__toml_put_key(w->out, it.key);
            phi__buf_text(w->out, " = ");
        }
        phi__toml_put_value(w, it.at, depth, false);
        if (lines) phi__buf_text(w->out, ",\n");
    }
    phi__buf_text(w->out, !object ? "]" : first ? "}" : " }");
}

static void phi__toml_put_container(phi__toml_writer *w, const phi_json *node, uint32_t depth,
                                    bool lines) {
    size_t from = w->out->len;
    if (depth >= PHI_JSON_MAX_DEPTH) {
        phi__toml_put_refuse(w, PHI_TOO_BIG);
        return;
    }
    phi__toml_put_items(w, node, depth + 1, false);
    if (!lines || w->out->failed || w->out->len - from <= PHI__TOML_LINE_MOST ||
        phi__json_kind_of(node) != PHI__JSON_ARRAY)
        return;
    w->out->len = from;
    phi__toml_put_items(w, node, depth + 1, true);
}

static void phi__toml_put_value(phi__toml_writer *w, const phi_json *node, uint32_t depth,
                                bool lines) {
    uint32_t kind = node == NULL ? (uint32_t)PHI__JSON_NULL : phi__json_kind_of(node);
    switch (kind) {
    case PHI__JSON_FALSE:
    case PHI__JSON_TRUE: phi__json_write_bool(w->out, kind == PHI__JSON_TRUE); break;
    case PHI__JSON_INT: phi__json_number_put_i64(w->out, node->v.i); break;
    case PHI__JSON_DOUBLE:
        if (node->v.d - node->v.d == 0)
            phi__json_number_put_double(w->out, node->v.d);
        else
            phi__buf_text(w->out, node->v.d > 0 ? "inf" : node->v.d < 0 ? "-inf" : "nan");
        break;
    case PHI__JSON_STRING:
        if (phi__json_form_of(node) != 0)
            phi__buf_add_str(w->out, phi__json_text_of(node));
        else
            phi__toml_put_text(w->out, phi__json_text_of(node), lines);
        break;
    case PHI__JSON_ARRAY:
    case PHI__JSON_OBJECT: phi__toml_put_container(w, node, depth, lines); break;
    default: phi__toml_put_refuse(w, PHI_UNSUPPORTED); break;
    }
}

/* ---- tables ---- */

static bool phi__toml_put_is_section(const phi_json *node) {
    return phi__json_kind_of(node) == PHI__JSON_OBJECT &&
           phi__json_form_of(node) != PHI__JSON_INLINE;
}

static bool phi__toml_put_has_header(const phi_json *node) {
    phi_json_iter it = phi_json_each(node);
    if (phi__json_kind_of(node) != PHI__JSON_ARRAY) return phi__toml_put_is_section(node);
    if (it.left == 0) return false;
    while (phi_json_next(&it) != NULL)
        if (!phi__toml_put_is_section(it.at)) return false;
    return true;
}

static void phi__toml_put_header(phi__toml_writer *w, bool list) {
    if (w->out->len > 0) phi__buf_char(w->out, '\n');
    phi__buf_text(w->out, list ? "[[" : "[");
    phi__buf_add_str(w->out, phi__buf_str(&w->path));
    phi__buf_text(w->out, list ? "]]\n" : "]\n");
}

static void phi__toml_put_member(phi__toml_writer *w, const phi_json *node, uint32_t depth);

/* Writes the values of a table, then the tables in it. Refuses tables deeper than
   PHI_JSON_MAX_DEPTH. */
static void phi__toml_put_table(phi__toml_writer *w, const phi_json *table, uint32_t depth) {
    phi_json_iter it = phi_json_each(table);
    if (depth > PHI_JSON_MAX_DEPTH) {
        phi__toml_put_refuse(w, PHI_TOO_BIG);
        return;
    }
    while (phi_json_next(&it) != NULL && phi__toml_put_status(w) == PHI_OK) {
        if (phi__toml_put_has_header(it.at) || phi__toml_put_skips(w, it.at)) continue;
        phi__toml_put_key(w->out, it.key);
        phi__buf_text(w->out, " = ");
        phi__toml_put_value(w, it.at, depth, true);
        phi__buf_char(w->out, '\n');
    }
    it = phi_json_each(table);
    while (phi_json_next(&it) != NULL && phi__toml_put_status(w) == PHI_OK)
        if (phi__toml_put_has_header(it.at)) phi__toml_put_member(w, it.at, depth);
}

/* Writes a member with its header or headers. w->path is the path of the table around it. */
static void phi__toml_put_member(phi__toml_writer *w, const phi_json *node, uint32_t depth) {
    size_t before = w->path.len;
    phi_json_iter it = phi_json_each(node);
    if (before > 0) phi__buf_char(&w->path, '.');
    phi__toml_put_key(&w->path, phi__toml_key_of(node));
    if (phi__json_kind_of(node) == PHI__JSON_OBJECT) {
        /* The headers of tables in this table may make its own header unnecessary. */
        bool implied = false, plain = false;
        while (!plain && phi_json_next(&it) != NULL) {
            if (phi__toml_put_has_header(it.at))
                implied = true;
            else
                plain = !phi__toml_put_skips(w, it.at);
        }
        if (plain || !implied) phi__toml_put_header(w, false);
        phi__toml_put_table(w, node, depth + 1);
    } else
        while (phi_json_next(&it) != NULL && phi__toml_put_status(w) == PHI_OK) {
            phi__toml_put_header(w, true);
            phi__toml_put_table(w, it.at, depth + 2);
        }
    w->path.len = before;
}

/* ---- public ---- */

PHI_API phi_status phi_toml_write(phi_arena *arena, const phi_json *node, uint32_t flags,
                                  phi_str *out) {
    phi__buf buf;
    if (arena == NULL || out == NULL || !phi_json_is(node, PHI_JSON_OBJECT)) return PHI_BAD_ARG;
    if ((flags & ~PHI_TOML_SKIP_NULLS) != 0) return PHI_BAD_ARG;
    phi__buf_init(&buf, arena->memory);
    phi__toml_writer w = PHI_ZERO;
    w.out = &buf;
    w.flags = flags;
    phi__buf_init(&w.path, arena->memory);
    phi__toml_put_table(&w, node, 1);
    phi_status status = phi__toml_put_status(&w);
    if (status == PHI_OK && !phi__arena_str(arena, phi__buf_str(&buf), out)) status = PHI_NO_MEMORY;
    phi__buf_free(&w.path);
    phi__buf_free(&buf);
    return status;
}

/* ---- src/formats/yaml_read.c ---- */

/* yaml_read.c - the reader of YAML, a state machine that walks the text once. */

/* ---- lines ---- */

/* Returns where the line's characters end, `stop` at the latest. NULL: a character is wrong. */
static const char *phi__yaml_line(phi__yaml_reader *r, const char *stop) {
    const char *at = r->at;
    while (at < stop) {
        while (at < stop && ((unsigned char)*at - 0x20u < 0x5fu || *at == '\t'))
            at++; /* ASCII text needs no check */
        if (at == stop || phi__yaml_is_break(*at)) break;
        size_t n = phi__yaml_char(r, at, false);
        if (n == 0) return NULL;
        at += n;
    }
    return at;
}

/* Skips white space within the line, and updates `indent` and `tab`. True if text, a line break or
   the end of the text follows; false at `stop`. */
static bool phi__yaml_space(phi__yaml_reader *r, const char *stop) {
    const char *at = r->at;
    for (; at < stop; at++) {
        if (*at == ' ') continue;
        if (*at != '\t') break;
        if (!r->tab) r->indent = (int32_t)phi__yaml_column(r, at);
        r->tab = true;
    }
    r->at = at;
    if (!r->tab) r->indent = (int32_t)phi__yaml_column(r, at);
    return at < stop || at == r->end;
}

/* Advances past the line break at r->at. */
static void phi__yaml_newline(phi__yaml_reader *r) {
    if (*r->at == '\r' && r->at + 1 < r->end && r->at[1] == '\n') r->at++;
    r->at++;
    r->line++;
    r->line_at = r->at;
    r->tab = false;
    r->fresh = true;
}

/* True if `at`, the start of a line, is "---" or "..." before a blank. */
static bool phi__yaml_marker(const phi__yaml_reader *r, const char *at) {
    return r->end - at >= 3 && (*at == '-' || *at == '.') && at[1] == *at && at[2] == *at &&
           phi__yaml_is_blank(r, at + 3);
}

/* True if `at` begins its line, or follows white space. */
static bool phi__yaml_is_apart(const phi__yaml_reader *r, const char *at) {
    return at == r->line_at || phi__yaml_is_space(at[-1]);
}

/* ======== Plain and quoted scalars, line by line.

   The text begins at `mark`. It is not copied before its first line break or escape. */

static void phi__yaml_scalar_begin(phi__yaml_reader *r, uint8_t style) {
    phi__yaml_scalar *s = &r->scalar;
    memset(s, 0, sizeof *s);
    s->at = r->inner.at != NULL ? r->inner.at : r->at;
    s->line_at = r->line_at;
    s->line = r->inner.at != NULL ? r->inner.line : r->line;
    s->mark = s->last = r->at;
    s->style = style;
}

/* Makes an empty scalar at r->at. */
static void phi__yaml_empty(phi__yaml_reader *r) {
    phi__yaml_scalar *s = &r->scalar;
    memset(s, 0, sizeof *s);
    s->at = s->mark = s->last = r->at;
    s->line_at = r->line_at;
    s->line = r->line;
    s->style = PHI__YAML_STYLE_PLAIN;
}

/* Copies the bytes from the mark to `at`. */
static bool phi__yaml_scalar_flush(phi__yaml_reader *r, const char *at) {
    bool good = phi__yaml_add(r, r->scalar.mark, (size_t)(at - r->scalar.mark));
    r->scalar.mark = at;
    return good;
}

static void phi__yaml_scalar_put_breaks(phi__yaml_reader *r, size_t breaks) {
    if (breaks == 0 || !phi__yaml_room(r, breaks)) return;
    memset(r->scalar.to, '\n', breaks);
    r->scalar.to += breaks;
}

/* Folds the line breaks between two lines: one becomes a space, and of several one is dropped. */
static void phi__yaml_scalar_fold(phi__yaml_reader *r) {
    if (r->scalar.breaks == 1)
        (void)phi__yaml_add(r, " ", 1);
    else
        phi__yaml_scalar_put_breaks(r, r->scalar.breaks - 1);
}

/* Skips line breaks and white space, and counts the breaks. False at `stop`: more may follow. */
static bool phi__yaml_scalar_breaks(phi__yaml_reader *r, const char *stop) {
    while (r->at < stop && phi__yaml_space(r, stop)) {
        if (r->at == r->end || !phi__yaml_is_break(*r->at)) break;
        phi__yaml_newline(r);
        r->scalar.breaks++;
    }
    return r->at < stop || stop == r->end;
}

static uint8_t phi__yaml_scalar_after(const phi__yaml_reader *r) {
    return r->flow_depth > 0 ? PHI__YAML_FLOW : PHI__YAML_AFTER;
}

/* ---- plain ---- */

static void phi__yaml_plain_begin(phi__yaml_reader *r) {
    const char *at = r->at;
    static const char never[] = ",[]{}#&*!|>'\"%@`";
    bool indicator = *at == '-' || *at == '?' || *at == ':';
    if (*at == '@' || *at == '`')
        phi__yaml_wrong(r, at, "text that begins with '@' or '`' must be quoted");
    else if (*at == '%')
        phi__yaml_wrong(r, at, "text that begins with '%' must be quoted");
    else if ((indicator && phi__yaml_is_over(r, at + 1)) ||
             memchr(never, *at, sizeof never - 1) != NULL)
        phi__yaml_expected(r, at, "a value");
    phi__yaml_scalar_begin(r, PHI__YAML_STYLE_PLAIN);
    r->state = PHI__YAML_PLAIN;
    if (indicator) r->at++;
}

/* Ends the text of this line at `at`, without the white space before it. */
static void phi__yaml_plain_trim(phi__yaml_reader *r, const char *at) {
    while (at > r->scalar.mark && phi__yaml_is_space(at[-1])) at--;
    r->scalar.last = at;
    if (r->scalar.text != NULL) (void)phi__yaml_scalar_flush(r, at);
}

/* Returns the next character that may end a plain scalar or that needs a check. */
static const char *phi__yaml_plain_run(const char *at, const char *stop, bool flow) {
    for (; at < stop; at++) {
        unsigned char c = (unsigned char)*at;
        if (c == ':' || c == '#' || c < 0x20 || c >= 0x7f) {
            if (c == '\t') continue;
            break;
        }
        if (flow && (c == ',' || c == '[' || c == ']' || c == '{' || c == '}')) break;
    }
    return at;
}

static void phi__yaml_plain(phi__yaml_reader *r, const char *stop) {
    const char *at = r->at;
    bool flow = r->flow_depth > 0;
    while (at < stop) {
        size_t n = 1;
        at = phi__yaml_plain_run(at, stop, flow);
        if (at == stop) break;
        if (phi__yaml_is_break(*at)) {
            r->at = at;
            phi__yaml_plain_trim(r, at);
            r->scalar.breaks = 0;
            r->state = PHI__YAML_PLAIN_BREAK;
            return;
        }
        if ((*at == ':' && phi__yaml_is_over(r, at + 1)) ||
            (*at == '#' && phi__yaml_is_space(at[-1])) || (flow && phi__yaml_is_bracket(*at))) {
            r->at = at;
            phi__yaml_plain_trim(r, at);
            r->state = phi__yaml_scalar_after(r);
            return;
        }
        if ((unsigned char)*at >= 0x7f || (unsigned char)*at < 0x20)
            n = phi__yaml_char(r, at, false);
        if (n == 0) return;
        at += n;
    }
    r->at = at;
    if (at < r->end) return;
    phi__yaml_plain_trim(r, at);
    r->state = phi__yaml_scalar_after(r);
}

/* True if the text at r->at, which begins a line, continues the plain scalar. */
static bool phi__yaml_scalar_goes_on(const phi__yaml_reader *r) {
    const char *at = r->at;
    if (at == r->end || *at == '#' || r->indent < r->need) return false;
    if (phi__yaml_column(r, at) == 0 && phi__yaml_marker(r, at)) return false;
    if (r->flow_depth == 0) return true;
    return !phi__yaml_is_bracket(*at) && !(*at == ':' && phi__yaml_is_over(r, at + 1));
}

static void phi__yaml_plain_break(phi__yaml_reader *r, const char *stop) {
    phi__yaml_scalar *s = &r->scalar;
    bool is_key = r->top->kind == PHI__YAML_MAP && r->top->want == PHI__YAML_WANT_KEY;
    if (is_key && s->breaks == 0) { /* a key ends with its line */
        r->state = PHI__YAML_AFTER;
        return;
    }
    if (!phi__yaml_scalar_breaks(r, stop)) return;
    if (!phi__yaml_scalar_goes_on(r)) {
        r->state = r->flow_depth > 0 ? PHI__YAML_FLOW : PHI__YAML_LINE;
        if (r->flow_depth == 0) phi__yaml_value(r);
        return;
    }
    if (s->text == NULL && !phi__yaml_scalar_flush(r, s->last)) return;
    phi__yaml_scalar_fold(r);
    s->mark = r->at;
    r->fresh = false;
    r->state = PHI__YAML_PLAIN;
}

/* ---- quoted ---- */

static void phi__yaml_quoted_begin(phi__yaml_reader *r) {
    bool single = *r->at == '\'';
    phi__yaml_scalar_begin(r, single ? PHI__YAML_STYLE_SINGLE : PHI__YAML_STYLE_DOUBLE);
    r->at++;
    r->scalar.mark = r->at;
    r->state = single ? PHI__YAML_SINGLE : PHI__YAML_DOUBLE;
}

static void phi__yaml_scalar_close(phi__yaml_reader *r, const char *at) {
    r->scalar.last = at;
    r->at = at + 1;
    if (r->scalar.text != NULL) (void)phi__yaml_scalar_flush(r, at);
    r->state = phi__yaml_scalar_after(r);
}

/* Ends a line of a quoted scalar at `at`, without the white space before it. White space from
   escapes stays, because it is copied already. */
static void phi__yaml_scalar_line_end(phi__yaml_reader *r, const char *at) {
    phi__yaml_scalar *s = &r->scalar;
    const char *last = at;
    while (last > s->mark && phi__yaml_is_space(last[-1])) last--;
    if (!phi__yaml_scalar_flush(r, last)) return;
    s->breaks = 0;
    s->started = true;
    r->at = at;
    r->state = PHI__YAML_QUOTED_BREAK;
}

static void phi__yaml_single(phi__yaml_reader *r, const char *stop) {
    const char *at = r->at;
    while (at < stop && r->status == PHI_BUSY) {
        while (at < stop && *at != '\'' && (unsigned char)*at - 0x20u < 0x5fu) at++;
        if (at == stop) break;
        if (phi__yaml_is_break(*at)) {
            phi__yaml_scalar_line_end(r, at);
            return;
        }
        if (*at == '\'') {
            if (at + 1 == r->end || at[1] != '\'') {
                phi__yaml_scalar_close(r, at);
                return;
            }
            if (!phi__yaml_scalar_flush(r, at + 1)) return;
            r->scalar.mark = at + 2;
            at += 2;
        } else
            at += phi__yaml_char(r, at, true);
    }
    r->at = at;
    if (at >= r->end) phi__yaml_expected(r, at, "the closing quote of a string");
}

/* ---- escapes ---- */

/* Reads \xXX, \uXXXX or \UXXXXXXXX at a backslash, or two escapes that make a surrogate pair.
   Returns the number of bytes read; 0: an error was recorded. */
static size_t phi__yaml_scalar_code(phi__yaml_reader *r, const char *at, uint32_t *code) {
    size_t digits = at[1] == 'x' ? 2 : at[1] == 'u' ? 4 : 8;
    *code = phi__json_text_hex(at + 2, r->end, digits);
    if (*code > 0x10ffff) {
        phi__yaml_wrong(r, at,
                        digits == 2   ? "\\x takes two hexadecimal digits"
                        : digits == 4 ? "\\u takes four hexadecimal digits"
                                      : "\\U takes eight hexadecimal digits, at most 0010FFFF");
        return 0;
    }
    if (*code < 0xd800 || *code > 0xdfff) return 2 + digits;
    uint32_t low =
        digits == 4 && *code < 0xdc00 && r->end - at >= 8 && at[6] == '\\' && at[7] == 'u'
            ? phi__json_text_hex(at + 8, r->end, 4)
            : UINT32_MAX;
    if (low < 0xdc00 || low > 0xdfff) {
        phi__yaml_wrong(r, at, "half of a surrogate pair");
        return 0;
    }
    *code = 0x10000 + ((*code - 0xd800) << 10) + (low - 0xdc00);
    return 12;
}

/* Returns the character of a short escape such as \t or \e; UINT32_MAX if there is none. */
static uint32_t phi__yaml_scalar_short(char c) {
    static const char names[] = "0abtnvfre \"/\\\tN_LP";
    static const uint16_t codes[] = {0,   7,   8,   9,    10, 11,   12,   13,     27,
                                     ' ', '"', '/', '\\', 9,  0x85, 0xa0, 0x2028, 0x2029};
    const char *found = c == '\0' ? NULL : (const char *)memchr(names, c, sizeof names - 1);
    return found == NULL ? UINT32_MAX : codes[found - names];
}

/* Reads the escape at `at`. *next is the position after it. False if there is an error, or a line
   break follows. */
static bool phi__yaml_scalar_escape(phi__yaml_reader *r, const char *at, const char **next) {
    phi__yaml_scalar *s = &r->scalar;
    size_t n = 2;
    char bytes[4];
    if (!phi__yaml_scalar_flush(r, at)) return false;
    if (at + 1 == r->end) return phi__yaml_expected(r, at + 1, "an escape after the backslash");
    if (phi__yaml_is_break(at[1])) { /* joins the lines, and keeps white space before it */
        s->mark = at + 1;
        s->breaks = 0;
        s->started = false;
        r->at = at + 1;
        r->state = PHI__YAML_QUOTED_BREAK;
        return false;
    }
    uint32_t code = phi__yaml_scalar_short(at[1]);
    if (code == UINT32_MAX && (at[1] == 'x' || at[1] == 'u' || at[1] == 'U')) {
        n = phi__yaml_scalar_code(r, at, &code);
        if (n == 0) return false;
    }
    if (code == UINT32_MAX) return phi__yaml_expected(r, at + 1, "an escape after the backslash");
    if (!phi__yaml_add(r, bytes, phi__utf8_put(bytes, code))) return false;
    *next = s->mark = at + n;
    return true;
}

static void phi__yaml_double(phi__yaml_reader *r, const char *stop) {
    const char *at = r->at;
    while (at < stop && r->status == PHI_BUSY) {
        at = phi__json_text_plain_end(at, stop);
        if (at == stop) break;
        if (*at == '"') {
            phi__yaml_scalar_close(r, at);
            return;
        }
        if (*at == '\\') {
            if (!phi__yaml_scalar_escape(r, at, &at)) return;
        } else if (phi__yaml_is_break(*at)) {
            phi__yaml_scalar_line_end(r, at);
            return;
        } else
            at += phi__yaml_char(r, at, true);
    }
    r->at = at;
    if (at >= r->end) phi__yaml_expected(r, at, "the closing quote of a string");
}

/* Reads the line breaks between two lines of a quoted scalar. */
static void phi__yaml_quoted_break(phi__yaml_reader *r, const char *stop) {
    phi__yaml_scalar *s = &r->scalar;
    if (!phi__yaml_scalar_breaks(r, stop)) return;
    if (r->at == r->end)
        phi__yaml_expected(r, r->at, "the closing quote of a string");
    else if (phi__yaml_column(r, r->at) == 0 && phi__yaml_marker(r, r->at))
        phi__yaml_wrong(r, r->at, "a line that ends the document, inside of a string");
    else if (r->indent < r->need)
        phi__yaml_wrong(r, r->at,
                        "a line of a string must be indented more than the block around it");
    if (r->status != PHI_BUSY) return;
    if (s->started)
        phi__yaml_scalar_fold(r);
    else /* after an escaped break, each further break stays */
        phi__yaml_scalar_put_breaks(r, s->breaks - 1);
    s->mark = r->at;
    r->fresh = false;
    r->state = s->style == PHI__YAML_STYLE_SINGLE ? PHI__YAML_SINGLE : PHI__YAML_DOUBLE;
}

/* ---- literal and folded scalars ---- */

enum phi__yaml_chomp { PHI__YAML_CLIP, PHI__YAML_STRIP, PHI__YAML_KEEP };

/* Reads the header after "|" or ">". */
static void phi__yaml_block_header(phi__yaml_reader *r) {
    phi__yaml_scalar *s = &r->scalar;
    int32_t digit = 0;
    bool chomped = false;
    while (r->at < r->end) {
        char c = *r->at;
        if ((c == '+' || c == '-') && !chomped) {
            s->chomp = c == '+' ? PHI__YAML_KEEP : PHI__YAML_STRIP;
            chomped = true;
        } else if (c >= '1' && c <= '9' && digit == 0)
            digit = c - '0';
        else
            break;
        r->at++;
    }
    if (!phi__yaml_is_blank(r, r->at))
        phi__yaml_expected(r, r->at, "an indentation from 1 to 9, '+', '-' or the end of the line");
    s->indent = digit == 0 ? -1 : (r->need > 0 ? r->need - 1 : 0) + digit;
}

static void phi__yaml_block_begin(phi__yaml_reader *r) {
    phi__yaml_scalar_begin(r, *r->at == '|' ? PHI__YAML_STYLE_LITERAL : PHI__YAML_STYLE_FOLDED);
    r->at++;
    phi__yaml_block_header(r);
    r->scalar.text = NULL;
    (void)phi__yaml_room(r, 0);
    r->fresh = false;
    r->state = PHI__YAML_REST; /* after it, the state is PHI__YAML_BLOCK_LINE */
}

/* Ends a block scalar, and returns to the start of the line after it. */
static void phi__yaml_block_end(phi__yaml_reader *r) {
    phi__yaml_scalar *s = &r->scalar;
    if (s->chomp == PHI__YAML_KEEP)
        phi__yaml_scalar_put_breaks(r, s->breaks);
    else if (s->chomp == PHI__YAML_CLIP && s->started && s->breaks > 0)
        phi__yaml_scalar_put_breaks(r, 1);
    if (r->at < r->end) r->at = r->line_at;
    r->tab = false;
    r->state = PHI__YAML_LINE;
    phi__yaml_value(r);
}

/* Writes the line breaks before a line of text. In a folded scalar, folds the breaks if neither
   this line nor the line before begins with white space. */
static void phi__yaml_block_join(phi__yaml_reader *r) {
    phi__yaml_scalar *s = &r->scalar;
    bool more = phi__yaml_is_space(*r->at), fold = s->style == PHI__YAML_STYLE_FOLDED;
    if (!s->started || !fold || more || s->more_indented)
        phi__yaml_scalar_put_breaks(r, s->breaks);
    else
        phi__yaml_scalar_fold(r);
    s->more_indented = more;
    s->started = true;
    s->breaks = 0;
    s->mark = r->at;
    r->fresh = false;
    r->state = PHI__YAML_BLOCK_TEXT;
}

/* Takes the indentation of the scalar from its first line with text. */
static void phi__yaml_block_detect(phi__yaml_reader *r, int32_t spaces) {
    phi__yaml_scalar *s = &r->scalar;
    if (spaces < r->need) return;
    s->indent = spaces;
    if (s->blanks > spaces)
        phi__yaml_wrong(r, r->at, "a blank line before this text has more spaces than it");
}

static void phi__yaml_block_line(phi__yaml_reader *r, const char *stop) {
    phi__yaml_scalar *s = &r->scalar;
    while (r->at < stop && *r->at == ' ' &&
           (s->indent < 0 || (int32_t)phi__yaml_column(r, r->at) < s->indent))
        r->at++;
    if (r->at >= stop && stop < r->end) return;
    int32_t spaces = (int32_t)phi__yaml_column(r, r->at);
    if (r->at < r->end && phi__yaml_is_break(*r->at)) {
        if (s->indent < 0 && spaces > s->blanks) s->blanks = spaces;
        phi__yaml_newline(r);
        s->breaks++;
        return;
    }
    if (r->at == r->end) {
        if (spaces > 0 && r->fresh) s->breaks++; /* see phi__yaml_block_text() */
        phi__yaml_block_end(r);
        return;
    }
    if (*r->at == '\t' && spaces < (s->indent >= 0 ? s->indent : r->need)) {
        phi__yaml_wrong(r, r->at, "a tab where the text of this scalar is indented by spaces");
        return;
    }
    if (s->indent < 0) phi__yaml_block_detect(r, spaces);
    if (s->indent < 0 || spaces < s->indent || (spaces == 0 && phi__yaml_marker(r, r->at)))
        phi__yaml_block_end(r);
    else
        phi__yaml_block_join(r);
}

static void phi__yaml_block_text(phi__yaml_reader *r, const char *stop) {
    const char *at = phi__yaml_line(r, stop), *text = at;
    if (at == NULL) return;
    (void)phi__yaml_scalar_flush(r, at);
    r->at = at;
    if (at < r->end && !phi__yaml_is_break(*at)) return;
    /* The last line may lack a line break. If it is only white space, a break is counted
       nevertheless. */
    while (text > r->line_at && phi__yaml_is_space(text[-1])) text--;
    r->scalar.breaks = at < r->end || text == r->line_at ? 1 : 0;
    if (at < r->end) phi__yaml_newline(r);
    r->state = PHI__YAML_BLOCK_LINE;
}

/* ---- flow collections, token by token ---- */

static void phi__yaml_flow_open(phi__yaml_reader *r) {
    bool map = *r->at == '{';
    int32_t indent = r->top->indent;
    phi__yaml_open(r, map ? PHI__YAML_FLOW_MAP : PHI__YAML_FLOW_SEQ, indent,
                   map ? PHI__YAML_WANT_KEY : PHI__YAML_WANT_VALUE);
    r->at++;
    r->state = PHI__YAML_FLOW;
    r->fresh = false;
}

static void phi__yaml_flow_close(phi__yaml_reader *r) {
    r->at++;
    phi__yaml_close(r);
    r->state = phi__yaml_scalar_after(r);
}

/* Sets what the frame on top wants after the node that begins now. */
static void phi__yaml_flow_expect(phi__yaml_reader *r) {
    phi__yaml_frame *frame = r->top;
    if (frame->want == PHI__YAML_WANT_KEY || frame->want == PHI__YAML_WANT_EXPLICIT_KEY)
        frame->want = PHI__YAML_WANT_COLON;
    else
        frame->want = PHI__YAML_WANT_NEXT;
}

/* Reads a node, or the properties of one, in flow content. */
static void phi__yaml_flow_node(phi__yaml_reader *r) {
    switch (*r->at) {
    case '&':
    case '!': phi__yaml_prop_read(r); return;
    case '*':
        phi__yaml_scalar_begin(r, PHI__YAML_STYLE_NODE);
        phi__yaml_flow_expect(r);
        phi__yaml_prop_alias(r);
        if (r->top->kind == PHI__YAML_ALIAS) r->state = PHI__YAML_COPY;
        return;
    case '[':
    case '{':
        phi__yaml_flow_expect(r);
        phi__yaml_flow_open(r);
        return;
    case '"':
    case '\'':
        phi__yaml_flow_expect(r);
        phi__yaml_quoted_begin(r);
        return;
    case '|':
    case '>': phi__yaml_wrong(r, r->at, "a block scalar inside of brackets"); return;
    case '-':
        if (phi__yaml_is_over(r, r->at + 1)) {
            phi__yaml_wrong(r, r->at, "an item of a block sequence inside of brackets");
            return;
        }
        break;
    default: break;
    }
    phi__yaml_flow_expect(r);
    phi__yaml_plain_begin(r);
}

/* ---- the tokens ---- */

/* True at a colon that ends a key. After quotes and brackets, no blank need follow the colon. */
static bool phi__yaml_flow_is_colon(const phi__yaml_reader *r) {
    const phi__yaml_scalar *s = &r->scalar;
    if (*r->at != ':') return false;
    if (phi__yaml_is_over(r, r->at + 1)) return true;
    return s->style == PHI__YAML_STYLE_SINGLE || s->style == PHI__YAML_STYLE_DOUBLE ||
           (s->style == PHI__YAML_STYLE_NODE && !s->is_alias);
}

/* Reads what follows an item of a flow sequence. */
static void phi__yaml_flow_after_item(phi__yaml_reader *r) {
    if (*r->at == ',' || *r->at == ']') {
        phi__yaml_value(r);
        if (*r->at == ']') {
            phi__yaml_flow_close(r);
            return;
        }
        r->top->want = PHI__YAML_WANT_VALUE;
        r->at++;
        return;
    }
    if (!phi__yaml_flow_is_colon(r))
        phi__yaml_expected(r, r->at, "',' or ']'");
    else if (r->scalar.line != r->line)
        phi__yaml_wrong(r, r->at, "a key inside of '[' and ']' must be on one line");
    if (r->status != PHI_BUSY) return;
    phi__yaml_open_pair(r, PHI__YAML_WANT_KEY);
    phi__yaml_key(r);
    r->at++;
}

static void phi__yaml_flow_seq(phi__yaml_reader *r) {
    if (r->top->want == PHI__YAML_WANT_NEXT) {
        phi__yaml_flow_after_item(r);
        return;
    }
    if ((*r->at == ']' || *r->at == ',') && r->inner.at != NULL) { /* a tag alone is an item */
        phi__yaml_empty(r);
        phi__yaml_flow_expect(r);
    } else if (*r->at == ']')
        phi__yaml_flow_close(r);
    else if (*r->at == ',')
        phi__yaml_expected(r, r->at, "an item");
    else if ((*r->at == ':' || (*r->at == '?' && r->inner.at == NULL)) &&
             phi__yaml_is_over(r, r->at + 1)) {
        /* A "?" or ":" at the start of an item begins a pair without braces. */
        bool explicit_key = *r->at == '?';
        if (!explicit_key) phi__yaml_empty(r);
        r->top->want = PHI__YAML_WANT_NEXT;
        phi__yaml_open_pair(r, PHI__YAML_WANT_EXPLICIT_KEY);
        if (!explicit_key) phi__yaml_key(r);
        r->at++;
    } else
        phi__yaml_flow_node(r);
}

/* Ends a mapping, or a pair at the comma or bracket of its sequence. */
static void phi__yaml_flow_end(phi__yaml_reader *r) {
    if (r->top->kind == PHI__YAML_FLOW_MAP)
        phi__yaml_flow_close(r);
    else
        phi__yaml_close(r);
}

/* At ",", "}" or, in a pair, "]": ends the current key or value. */
static void phi__yaml_flow_stop(phi__yaml_reader *r) {
    phi__yaml_frame *frame = r->top;
    bool pending = r->inner.at != NULL;
    if (frame->want == PHI__YAML_WANT_KEY && !pending) {
        if (*r->at == ',')
            phi__yaml_expected(r, r->at, "a key");
        else
            phi__yaml_flow_end(r);
        return;
    }
    if (frame->want == PHI__YAML_WANT_KEY || frame->want == PHI__YAML_WANT_EXPLICIT_KEY) {
        phi__yaml_empty(r);
        frame->want = PHI__YAML_WANT_COLON;
    }
    if (frame->want == PHI__YAML_WANT_COLON) phi__yaml_key(r);
    if (frame->want == PHI__YAML_WANT_VALUE) phi__yaml_empty(r);
    phi__yaml_value(r);
    if (r->status == PHI_BUSY) {
        /* A comma continues a mapping. Anything else ends the mapping or the pair. */
        bool pair = r->top->kind == PHI__YAML_FLOW_PAIR;
        if (*r->at == ',' && !pair) {
            r->top->want = PHI__YAML_WANT_KEY;
            r->at++;
        } else
            phi__yaml_flow_end(r);
    }
}

/* Reads one token of a flow mapping or of a pair. */
static void phi__yaml_flow_map(phi__yaml_reader *r) {
    phi__yaml_frame *frame = r->top;
    bool pair = frame->kind == PHI__YAML_FLOW_PAIR;
    if (*r->at == ',' || *r->at == (pair ? ']' : '}')) {
        phi__yaml_flow_stop(r);
        return;
    }
    if (frame->want == PHI__YAML_WANT_COLON || frame->want == PHI__YAML_WANT_NEXT) {
        if (frame->want == PHI__YAML_WANT_COLON && phi__yaml_flow_is_colon(r)) {
            phi__yaml_key(r);
            r->at++;
        } else if (pair)
            phi__yaml_expected(r, r->at, "',' or ']'");
        else
            phi__yaml_expected(
                r, r->at, frame->want == PHI__YAML_WANT_NEXT ? "',' or '}'" : "':', ',' or '}'");
        return;
    }
    if (frame->want != PHI__YAML_WANT_VALUE && *r->at == ':' && phi__yaml_is_over(r, r->at + 1)) {
        phi__yaml_empty(r);
        phi__yaml_key(r);
        r->at++;
    } else if (frame->want == PHI__YAML_WANT_KEY && *r->at == '?' &&
               phi__yaml_is_over(r, r->at + 1) && r->inner.at == NULL) {
        frame->want = PHI__YAML_WANT_EXPLICIT_KEY;
        r->at++;
    } else
        phi__yaml_flow_node(r);
}

/* Reads one token of flow content. */
static void phi__yaml_flow(phi__yaml_reader *r, const char *stop) {
    if (!phi__yaml_space(r, stop)) return;
    if (r->at == r->end) {
        phi__yaml_expected(r, r->at, r->top->kind == PHI__YAML_FLOW_MAP ? "'}'" : "']'");
        return;
    }
    if (phi__yaml_is_break(*r->at)) {
        phi__yaml_newline(r);
        return;
    }
    if (*r->at == '#') {
        r->state = PHI__YAML_COMMENT;
        if (!phi__yaml_is_apart(r, r->at))
            phi__yaml_expected(r, r->at, "white space before a comment");
        return;
    }
    if (r->fresh) {
        /* This is the first text of a line. */
        r->fresh = false;
        if (phi__yaml_column(r, r->at) == 0 && phi__yaml_marker(r, r->at))
            phi__yaml_wrong(r, r->at, "a line that ends the document, inside of brackets");
        else if (r->indent < r->need)
            phi__yaml_wrong(
                r, r->at,
                "a line inside of brackets must be indented more than the block around them");
    }
    if (r->status != PHI_BUSY) return;
    if (r->top->kind == PHI__YAML_FLOW_SEQ)
        phi__yaml_flow_seq(r);
    else
        phi__yaml_flow_map(r);
}

/* ---- closing ---- */

/* Adds the value that the frame on top still waits for: null, or empty text if a tag says so. */
static void phi__yaml_line_fill(phi__yaml_reader *r) {
    phi__yaml_frame *frame = r->top;
    if (frame->want == PHI__YAML_WANT_EXPLICIT_KEY) {
        phi__yaml_empty(r);
        phi__yaml_value(r);
    }
    if (frame->want == PHI__YAML_WANT_COLON) frame->want = PHI__YAML_WANT_VALUE;
    if (frame->want == PHI__YAML_WANT_VALUE) {
        phi__yaml_empty(r);
        phi__yaml_value(r);
    }
}

static void phi__yaml_line_close(phi__yaml_reader *r) {
    phi__yaml_line_fill(r);
    if (r->status != PHI_BUSY) return;
    phi__yaml_close(r);
    phi__yaml_value(r);
}

/* Closes all collections at the end of the document. */
static void phi__yaml_line_close_all(phi__yaml_reader *r) {
    while (r->status == PHI_BUSY && r->top->kind != PHI__YAML_DOC) phi__yaml_line_close(r);
    if (r->status == PHI_BUSY && r->doc == PHI__YAML_OPEN) phi__yaml_line_fill(r);
}

static void phi__yaml_line_finish(phi__yaml_reader *r) {
    if (r->doc == PHI__YAML_DIRECTIVES) phi__yaml_expected(r, r->at, "'---' after the directives");
    phi__yaml_line_close_all(r);
    if (r->status != PHI_BUSY) return;
    if (r->root == NULL) r->root = phi__yaml_node(r, PHI__JSON_NULL);
    if (r->root != NULL) r->status = PHI_OK;
}

/* ---- documents ---- */

static void phi__yaml_line_second(phi__yaml_reader *r) {
    phi__yaml_wrong(r, r->at, "a second document: only one is read");
}

static void phi__yaml_line_marker(phi__yaml_reader *r) {
    bool start = *r->at == '-';
    if (r->doc >= PHI__YAML_OPEN) phi__yaml_line_close_all(r);
    if (r->status != PHI_BUSY) return;
    if (start && r->doc >= PHI__YAML_OPEN)
        phi__yaml_line_second(r);
    else if (!start && r->doc == PHI__YAML_DIRECTIVES)
        phi__yaml_expected(r, r->at, "'---' after the directives");
    if (r->status != PHI_BUSY) return;
    r->at += 3;
    r->tab = false;
    if (start) {
        r->doc = PHI__YAML_OPEN;
        r->may_block = false;
        r->need = 0;
        r->state = PHI__YAML_GAP;
    } else {
        if (r->doc != PHI__YAML_START) r->doc = PHI__YAML_ENDED;
        r->state = PHI__YAML_REST;
    }
}

/* Handles a line outside of all collections. True if it may begin the document's node. */
static bool phi__yaml_line_outside(phi__yaml_reader *r) {
    switch (r->doc) {
    case PHI__YAML_START:
        if (*r->at == '%' && phi__yaml_column(r, r->at) == 0) break;
        r->doc = PHI__YAML_OPEN;
        return true;
    case PHI__YAML_DIRECTIVES:
        if (*r->at == '%' && phi__yaml_column(r, r->at) == 0) break;
        return phi__yaml_expected(r, r->at, "'---' after the directives");
    case PHI__YAML_OPEN: return true;
    case PHI__YAML_COMPLETE: phi__yaml_expected(r, r->at, "the end of the document"); return false;
    default: phi__yaml_line_second(r); return false;
    }
    r->doc = PHI__YAML_DIRECTIVES;
    r->state = PHI__YAML_REST;
    phi__yaml_prop_directive(r);
    return false;
}

/* ---- collections ---- */

static void phi__yaml_line_tab(phi__yaml_reader *r) {
    phi__yaml_wrong(r, r->at, "a tab before this: block collections are indented by spaces");
}

/* Advances past a "-", "?" or ":". A block collection may follow on the same line. */
static void phi__yaml_line_indicator(phi__yaml_reader *r) {
    r->at++;
    r->tab = false;
    r->may_block = true;
    r->need = r->top->indent + 1;
    r->state = PHI__YAML_GAP;
}

/* Opens a block collection at the column of `at`. */
static void phi__yaml_line_open(phi__yaml_reader *r, uint8_t kind, const char *at, uint8_t want) {
    if (r->tab)
        phi__yaml_line_tab(r);
    else if (r->top->want == PHI__YAML_WANT_EXPLICIT_KEY)
        phi__yaml_wrong(r, r->at, "a key that is a collection is not supported");
    else
        phi__yaml_open(r, kind, (int32_t)phi__yaml_column(r, at), want);
}

static void phi__yaml_line_item(phi__yaml_reader *r) {
    phi__yaml_line_open(r, PHI__YAML_SEQ, r->at, PHI__YAML_WANT_VALUE);
    phi__yaml_line_indicator(r);
}

/* Reads a line at the column of the mapping on top. */
static void phi__yaml_line_member(phi__yaml_reader *r) {
    phi__yaml_frame *frame = r->top;
    char c = *r->at;
    bool indicator = phi__yaml_is_blank(r, r->at + 1);
    if (r->tab) {
        phi__yaml_line_tab(r);
    } else if (c == '-' && indicator && frame->want != PHI__YAML_WANT_KEY &&
               frame->want != PHI__YAML_WANT_COLON) {
        phi__yaml_line_item(r); /* a sequence may begin at the column of its key */
    } else if (c == ':' && indicator && frame->want == PHI__YAML_WANT_COLON) {
        frame->want = PHI__YAML_WANT_VALUE;
        phi__yaml_line_indicator(r);
    } else {
        phi__yaml_line_fill(r);
        if (r->status != PHI_BUSY) return;
        r->may_block = true;
        r->need = frame->indent + 1;
        r->state = PHI__YAML_GAP;
    }
}

static void phi__yaml_line_text(phi__yaml_reader *r) {
    if (r->at == r->line_at && phi__yaml_marker(r, r->at)) {
        phi__yaml_line_marker(r);
        return;
    }
    /* Close the collections that end before this line's column. */
    bool item = *r->at == '-' && phi__yaml_is_blank(r, r->at + 1);
    while (r->status == PHI_BUSY && r->top->kind != PHI__YAML_DOC) {
        phi__yaml_frame *frame = r->top;
        if (frame->indent < r->indent) break;
        if (frame->indent == r->indent && (frame->kind == PHI__YAML_MAP || item)) break;
        if (frame->indent == r->indent && frame->up->indent != r->indent) {
            phi__yaml_expected(r, r->at, "'- ' and the next item");
            break;
        }
        phi__yaml_line_close(r);
    }
    if (r->status != PHI_BUSY) return;
    phi__yaml_frame *frame = r->top;
    if (frame->kind == PHI__YAML_DOC) {
        if (!phi__yaml_line_outside(r)) return;
    } else if (frame->indent == r->indent) {
        if (frame->kind == PHI__YAML_MAP)
            phi__yaml_line_member(r);
        else {
            /* This line is at the column of the sequence on top. */
            if (r->tab)
                phi__yaml_line_tab(r);
            else
                phi__yaml_line_fill(r);
            r->top->want = PHI__YAML_WANT_VALUE;
            phi__yaml_line_indicator(r);
        }
        return;
    } else if (frame->want != PHI__YAML_WANT_VALUE && frame->want != PHI__YAML_WANT_EXPLICIT_KEY) {
        phi__yaml_wrong(r, r->at,
                        frame->kind == PHI__YAML_MAP
                            ? "the indentation of this line fits none of the keys above"
                            : "the indentation of this line fits none of the items above");
        return;
    }
    r->may_block = true;
    r->need = frame->indent + 1;
    r->state = PHI__YAML_GAP;
}

static void phi__yaml_line_line(phi__yaml_reader *r, const char *stop) {
    if (!phi__yaml_space(r, stop)) return;
    if (r->at == r->end)
        phi__yaml_line_finish(r);
    else if (phi__yaml_is_break(*r->at))
        phi__yaml_newline(r);
    else if (*r->at == '#')
        r->state = PHI__YAML_COMMENT;
    else
        phi__yaml_line_text(r);
}

/* ---- nodes ---- */

static bool phi__yaml_line_wants_key(const phi__yaml_reader *r) {
    return r->top->kind == PHI__YAML_MAP && r->top->want == PHI__YAML_WANT_KEY;
}

/* Reads a "-", "?" or ":" before a blank. */
static void phi__yaml_line_structure(phi__yaml_reader *r) {
    char c = *r->at;
    bool key = phi__yaml_line_wants_key(r);
    if (c == ':') { /* no key is before the colon: the key is empty */
        if (!r->may_block) phi__yaml_expected(r, r->at, "a value");
        phi__yaml_empty(r);
        if (r->inner.at != NULL) {
            r->scalar.at = r->inner.at;
            r->scalar.line = r->inner.line;
        }
        r->state = PHI__YAML_AFTER;
    } else if (!r->may_block || r->inner.at != NULL)
        phi__yaml_wrong(r, r->at,
                        c == '-' ? "a block sequence must begin on a line of its own"
                                 : "a block mapping must begin on a line of its own");
    else if (c == '-' && key)
        phi__yaml_expected(r, r->at, "a key");
    else if (c == '-')
        phi__yaml_line_item(r);
    else {
        if (!key) phi__yaml_line_open(r, PHI__YAML_MAP, r->at, PHI__YAML_WANT_KEY);
        if (r->status != PHI_BUSY) return;
        r->top->want = PHI__YAML_WANT_EXPLICIT_KEY;
        phi__yaml_line_indicator(r);
    }
}

static void phi__yaml_line_node(phi__yaml_reader *r) {
    char c = *r->at;
    if ((c == '-' || c == '?' || c == ':') && phi__yaml_is_blank(r, r->at + 1)) {
        phi__yaml_line_structure(r);
        return;
    }
    switch (c) {
    case '&':
    case '!': phi__yaml_prop_read(r); return;
    case '*':
        phi__yaml_scalar_begin(r, PHI__YAML_STYLE_NODE);
        r->state = PHI__YAML_AFTER;
        phi__yaml_prop_alias(r);
        if (r->top->kind == PHI__YAML_ALIAS) r->state = PHI__YAML_COPY;
        return;
    case '[':
    case '{': phi__yaml_flow_open(r); return;
    case '"':
    case '\'': phi__yaml_quoted_begin(r); return;
    case '|':
    case '>':
        if (phi__yaml_line_wants_key(r))
            phi__yaml_expected(r, r->at, "a key");
        else
            phi__yaml_block_begin(r);
        return;
    default: phi__yaml_plain_begin(r); return;
    }
}

static void phi__yaml_line_gap(phi__yaml_reader *r, const char *stop) {
    bool tab = r->tab, there = phi__yaml_space(r, stop);
    if (r->inner.at != NULL) r->tab = tab; /* a tab after properties is no indentation */
    if (!there) return;
    if (r->at == r->end || phi__yaml_is_break(*r->at) ||
        (*r->at == '#' && phi__yaml_is_apart(r, r->at))) {
        if (phi__yaml_line_wants_key(r)) {
            phi__yaml_expected(r, r->at, "a key");
            return;
        }
        phi__yaml_prop_keep(r);
        r->state = PHI__YAML_REST;
        r->scalar.style = PHI__YAML_NO_NODE;
        return;
    }
    phi__yaml_line_node(r);
}

/* ---- after a node ---- */

/* Reads the ":" after a node, which makes the node a key. */
static void phi__yaml_line_key(phi__yaml_reader *r) {
    const phi__yaml_scalar *s = &r->scalar;
    if (s->line != r->line) {
        phi__yaml_wrong(r, r->at, "a key must be on one line: is this line indented too far?");
        return;
    }
    if (!phi__yaml_line_wants_key(r)) {
        if (!r->may_block)
            phi__yaml_wrong(r, r->at,
                            "': ' inside of a value: quote the value, or begin the mapping on a "
                            "line of its own");
        else
            phi__yaml_line_open(r, PHI__YAML_MAP, s->at, PHI__YAML_WANT_KEY);
    }
    phi__yaml_key(r);
    if (r->status != PHI_BUSY) return;
    r->at++;
    r->tab = false;
    r->may_block = false;
    r->need = r->top->indent + 1;
    r->state = PHI__YAML_GAP;
}

static void phi__yaml_line_after(phi__yaml_reader *r, const char *stop) {
    bool tab = r->tab, there = phi__yaml_space(r, stop);
    r->tab = tab; /* white space after a node is no indentation */
    if (!there) return;
    if (r->at < r->end && *r->at == ':' && phi__yaml_is_blank(r, r->at + 1)) {
        phi__yaml_line_key(r);
        return;
    }
    if (phi__yaml_line_wants_key(r)) {
        phi__yaml_expected(r, r->at, "':' and a value after the key");
        return;
    }
    phi__yaml_value(r);
    r->state = PHI__YAML_REST;
}

static void phi__yaml_line_rest(phi__yaml_reader *r, const char *stop) {
    if (!phi__yaml_space(r, stop)) return;
    if (r->at < r->end && *r->at == '#' && phi__yaml_is_apart(r, r->at)) {
        r->state = PHI__YAML_COMMENT;
        return;
    }
    if (r->at < r->end && !phi__yaml_is_break(*r->at)) {
        phi__yaml_expected(r, r->at, "the end of the line");
        return;
    }
    if (r->at < r->end) phi__yaml_newline(r);
    r->state = r->scalar.style >= PHI__YAML_STYLE_LITERAL && r->scalar.style != PHI__YAML_STYLE_NODE
                   ? PHI__YAML_BLOCK_LINE
                   : PHI__YAML_LINE;
}

/* ---- the reader: its states in turn ---- */

#define PHI__YAML_DEPTH 512u          /* max. levels of nesting, by default */
#define PHI__YAML_ALIAS_NODES 262144u /* by default: 8 MiB of nodes */
#define PHI__YAML_ALIAS_BYTES 16777216u

/* Skips a comment up to the end of its line, which is left for the next state. */
static void phi__yaml_read_comment(phi__yaml_reader *r, const char *stop) {
    const char *at = phi__yaml_line(r, stop);
    bool block =
        r->scalar.style == PHI__YAML_STYLE_LITERAL || r->scalar.style == PHI__YAML_STYLE_FOLDED;
    if (at == NULL) return;
    r->at = at;
    if (at < r->end && !phi__yaml_is_break(*at)) return;
    r->state = r->flow_depth > 0 ? PHI__YAML_FLOW : block ? PHI__YAML_REST : PHI__YAML_LINE;
}

static void phi__yaml_read_state(phi__yaml_reader *r, const char *stop) {
    switch (r->state) {
    case PHI__YAML_LINE: phi__yaml_line_line(r, stop); break;
    case PHI__YAML_GAP: phi__yaml_line_gap(r, stop); break;
    case PHI__YAML_AFTER: phi__yaml_line_after(r, stop); break;
    case PHI__YAML_REST: phi__yaml_line_rest(r, stop); break;
    case PHI__YAML_FLOW: phi__yaml_flow(r, stop); break;
    case PHI__YAML_COMMENT: phi__yaml_read_comment(r, stop); break;
    case PHI__YAML_PLAIN: phi__yaml_plain(r, stop); break;
    case PHI__YAML_PLAIN_BREAK: phi__yaml_plain_break(r, stop); break;
    case PHI__YAML_SINGLE: phi__yaml_single(r, stop); break;
    case PHI__YAML_DOUBLE: phi__yaml_double(r, stop); break;
    case PHI__YAML_QUOTED_BREAK: phi__yaml_quoted_break(r, stop); break;
    case PHI__YAML_BLOCK_LINE: phi__yaml_block_line(r, stop); break;
    default: phi__yaml_block_text(r, stop); break;
    }
}

/* ---- public ---- */

PHI__FN void phi__yaml_read_begin(phi__yaml_reader *r, phi_arena *arena, phi_str text,
                                  const phi_yaml_desc *options) {
    phi_yaml_desc *o = &r->options;
    memset(r, 0, sizeof *r);
    if (text.at == NULL) text = phi__str("", 0);
    if (options != NULL) *o = *options;
    if (o->max_depth == 0) o->max_depth = PHI__YAML_DEPTH;
    if (o->max_depth > PHI_JSON_MAX_DEPTH) o->max_depth = PHI_JSON_MAX_DEPTH;
    if (o->max_alias_nodes == 0) o->max_alias_nodes = PHI__YAML_ALIAS_NODES;
    if (o->max_alias_bytes == 0) o->max_alias_bytes = PHI__YAML_ALIAS_BYTES;
    r->arena = arena;
    r->text = r->at = r->line_at = text.at;
    r->end = text.at + text.len;
    r->line = 1;
    r->status = PHI_BUSY;
    r->state = PHI__YAML_LINE;
    r->fresh = true;
    if (text.len >= UINT32_MAX)
        phi__yaml_too_big(r, "a text of 4 GiB or more");
    else {
        /* Refuses a text whose first bytes are not UTF-8, and skips a byte order mark. */
        const unsigned char *p = (const unsigned char *)r->text;
        size_t len = (size_t)(r->end - r->text);
        if (len >= 2 && ((p[0] == 0xfe && p[1] == 0xff) || (p[0] == 0xff && p[1] == 0xfe) ||
                         p[0] == 0 || p[1] == 0))
            phi__yaml_wrong(r, r->at, "a text in UTF-16 or UTF-32: only UTF-8 is read");
        else if (len >= 3 && memcmp(p, "\xEF\xBB\xBF", 3) == 0)
            r->at = r->line_at = r->text + 3;
    }
}

PHI__FN phi_status phi__yaml_read_advance(phi__yaml_reader *r, size_t units) {
    if (r->status != PHI_BUSY) return r->status;
    if (units == 0) units = 1;
    if (r->top == NULL && !phi__yaml_begin(r)) return r->status;
    const char *stop = (size_t)(r->end - r->at) > units ? r->at + units : r->end;
    while (r->status == PHI_BUSY && (r->at < stop || stop == r->end)) {
        if (r->state != PHI__YAML_COPY) {
            phi__yaml_read_state(r, stop);
            continue;
        }
        if (!phi__yaml_copy(r, units)) break;
        r->state = phi__yaml_scalar_after(r);
    }
    if (r->status != PHI_BUSY) phi__pool_end(&r->pool, r->arena);
    return r->status;
}

PHI__FN phi_status phi__yaml_read_result(const phi__yaml_reader *r, phi_json **out,
                                         phi_parse_error *error) {
    if (out != NULL) *out = r->status == PHI_OK ? r->root : NULL;
    if (error != NULL) *error = r->error;
    return r->status;
}

PHI_API phi_status phi_yaml_parse(phi_arena *arena, phi_str text, const phi_yaml_desc *options,
                                  phi_json **out, phi_parse_error *error) {
    phi__yaml_reader reader;
    phi_status status;
    if (arena == NULL || out == NULL) return PHI_BAD_ARG;
    phi_arena_mark mark = phi_arena_save(arena);
    phi__yaml_read_begin(&reader, arena, text, options);
    while ((status = phi__yaml_read_advance(&reader, SIZE_MAX)) == PHI_BUSY) continue;
    (void)phi__yaml_read_result(&reader, out, error);
    if (status != PHI_OK) phi_arena_reset(arena, mark);
    return status;
}
#undef PHI__YAML_DEPTH
#undef PHI__YAML_ALIAS_NODES
#undef PHI__YAML_ALIAS_BYTES

/* ---- src/formats/yaml_tree.c ---- */

/* yaml_tree.c - the tree of YAML: open collections, values, keys, anchors, aliases, tags. */

#include <math.h>
#include <stdio.h>

/* ---- errors ---- */

static bool phi__yaml_fail(phi__yaml_reader *r, const char *at, phi_status status,
                           const char *message) {
    if (r->status != PHI_BUSY) return false;
    r->status = r->error.status = status;
    r->error.line = r->line;
    r->error.column = at >= r->line_at ? phi__yaml_column(r, at) + 1 : 1;
    r->error.offset = (size_t)(at - r->text);
    (void)snprintf(r->error.message, sizeof r->error.message, "%s", message);
    return false;
}

PHI__FN bool phi__yaml_expected(phi__yaml_reader *r, const char *at, const char *what) {
    char message[sizeof r->error.message];
    bool is_break = at < r->end && phi__yaml_is_break(*at);
    phi__reader_found(message, sizeof message, what, at, r->end, is_break);
    return phi__yaml_fail(r, at, PHI_PARSE, message);
}

PHI__FN bool phi__yaml_wrong(phi__yaml_reader *r, const char *at, const char *what) {
    return phi__yaml_fail(r, at, PHI_PARSE, what);
}

/* Records an error at another line than the current one. `column` counts from 0. */
static bool phi__yaml_wrong_at(phi__yaml_reader *r, const char *at, uint32_t line, uint32_t column,
                               const char *what) {
    if (r->status != PHI_BUSY) return false;
    (void)phi__yaml_fail(r, at, PHI_PARSE, what);
    r->error.line = line;
    r->error.column = column + 1;
    return false;
}

PHI__FN bool phi__yaml_too_big(phi__yaml_reader *r, const char *what) {
    return phi__yaml_fail(r, r->at, PHI_TOO_BIG, what);
}

static bool phi__yaml_no_memory(phi__yaml_reader *r) {
    return phi__yaml_fail(r, r->at, PHI_NO_MEMORY, "no memory for the tree");
}

/* ---- characters ---- */

/* True for characters that are no text: the control characters from U+0080 on except U+0085, the
   byte order mark U+FEFF, and U+FFFE and U+FFFF. */
static bool phi__yaml_is_unprintable(const unsigned char *p, size_t n) {
    if (n == 2) return p[0] == 0xc2 && p[1] < 0xa0 && p[1] != 0x85;
    return n == 3 && p[0] == 0xef &&
           ((p[1] == 0xbb && p[2] == 0xbf) || (p[1] == 0xbf && p[2] >= 0xbe));
}

PHI__FN size_t phi__yaml_char(phi__yaml_reader *r, const char *at, bool quoted) {
    unsigned char c = (unsigned char)*at;
    if (c == '\t' || (c >= 0x20 && c < 0x7f) || (c == 0x7f && quoted)) return 1;
    if (c < 0x80) {
        phi__yaml_wrong(
            r, at,
            quoted ? "a control character in a string must be an escape of a double-quoted one"
                   : "a control character, which YAML does not allow");
        return 0;
    }
    size_t n = phi__json_text_utf8(at, r->end);
    if (n == 0)
        phi__yaml_wrong(r, at, "a byte that is not UTF-8");
    else if (!quoted && phi__yaml_is_unprintable((const unsigned char *)at, n)) {
        phi__yaml_wrong(r, at,
                        "a character that is not text (or a byte order mark) must be an escape of "
                        "a double-quoted string");
        return 0;
    }
    return n;
}

/* ---- room ---- */

PHI__FN bool phi__yaml_room(phi__yaml_reader *r, size_t more) {
    /* two bytes of the source can become three bytes of text */
    return phi__pool_room(&r->pool, r->arena, &r->scalar.text, &r->scalar.to, more,
                          (size_t)(r->end - r->at) * 3 / 2) ||
           phi__yaml_no_memory(r);
}

PHI__FN bool phi__yaml_add(phi__yaml_reader *r, const char *at, size_t len) {
    if (!phi__yaml_room(r, len)) return false;
    if (len > 0) memcpy(r->scalar.to, at, len);
    r->scalar.to += len;
    return true;
}

/* Ends the scalar's text, which is then in scalar.string and scalar.len. */
static void phi__yaml_end(phi__yaml_reader *r) {
    phi__yaml_scalar *s = &r->scalar;
    if (s->text == NULL && !phi__yaml_add(r, s->mark, (size_t)(s->last - s->mark))) return;
    *s->to = '\0';
    s->string = s->text;
    s->len = (size_t)(s->to - s->text);
    r->pool.text = s->to + 1;
}

/* ---- the core schema of YAML 1.2.2, chapter 10.3: the value of a scalar's text ---- */

#define PHI__YAML_TOO_LARGE UINT32_MAX /* replaces the kind if the number is too large */
#define PHI__YAML_NUMBER_MOST 1024u /* max. bytes of a number in a form that JSON does not have */

static bool phi__yaml_core_is_one_of(phi_str s, const char *lower, const char *title,
                                     const char *upper) {
    return phi__str_is(s, lower) || phi__str_is(s, title) || phi__str_is(s, upper);
}

/* Returns the index after the digits that begin at index i. */
static size_t phi__yaml_core_digits(phi_str s, size_t i) {
    while (i < s.len && s.at[i] >= '0' && s.at[i] <= '9') i++;
    return i;
}

/* The parts of a decimal number: [sign] whole [. fraction] [exponent]. */
typedef struct phi__yaml_decimal {
    size_t whole, point, fraction, exponent; /* index at which each part begins, or would begin */
} phi__yaml_decimal;

static bool phi__yaml_core_parts(phi_str s, phi__yaml_decimal *d) {
    size_t i = s.len > 0 && (s.at[0] == '+' || s.at[0] == '-') ? 1 : 0;
    d->whole = i;
    d->point = phi__yaml_core_digits(s, i);
    d->fraction = d->point;
    if (d->point < s.len && s.at[d->point] == '.') d->fraction++;
    d->exponent = phi__yaml_core_digits(s, d->fraction);
    if (d->point == d->whole && d->exponent == d->fraction) return false;
    if (d->point == d->fraction && d->exponent != d->point) return false;
    if (d->exponent == s.len) return true;
    i = d->exponent;
    if (s.at[i] != 'e' && s.at[i] != 'E') return false;
    i++;
    if (i < s.len && (s.at[i] == '+' || s.at[i] == '-')) i++;
    size_t end = phi__yaml_core_digits(s, i);
    return end > i && end == s.len;
}

/* Reads the number in JSON's form: no plus, no leading zeros, digits around the point. */
static uint32_t phi__yaml_core_rewritten(phi_str s, const phi__yaml_decimal *d,
                                         phi__json_value *value) {
    char text[PHI__YAML_NUMBER_MOST + 8];
    phi__json_number number;
    const char *bad;
    size_t n = 0, from = d->whole;
    if (s.len > PHI__YAML_NUMBER_MOST) return PHI__YAML_TOO_LARGE;
    while (from + 1 < d->point && s.at[from] == '0') from++;
    if (s.at[0] == '-') text[n++] = '-';
    if (from == d->point) text[n++] = '0';
    memcpy(text + n, s.at + from, d->point - from);
    n += d->point - from;
    if (d->fraction > d->point) {
        text[n++] = '.';
        memcpy(text + n, s.at + d->fraction, d->exponent - d->fraction);
        n += d->exponent - d->fraction;
        if (d->exponent == d->fraction) text[n++] = '0';
    }
    memcpy(text + n, s.at + d->exponent, s.len - d->exponent);
    n += s.len - d->exponent;
    if (phi__json_number_read(text, text + n, &number, &bad) != text + n)
        return PHI__YAML_TOO_LARGE;
    *value = number.v;
    return number.kind;
}

/* Returns the kind of a number; 0 if the text is no number. */
static uint32_t phi__yaml_core_number(phi_str s, phi__json_value *value) {
    phi__json_number number;
    phi__yaml_decimal d;
    const char *bad;
    if (s.at[0] >= '1' && s.at[0] <= '9') { /* most numbers look as in JSON */
        const char *end = s.at + phi__min(s.len, 65536);
        if (phi__json_number_read(s.at, end, &number, &bad) == s.at + s.len) {
            *value = number.v;
            return number.kind;
        }
    }
    if (s.len > 1 && s.at[0] == '0' && (s.at[1] == 'o' || s.at[1] == 'x')) {
        unsigned base = s.at[1] == 'x' ? 16 : 8;
        uint64_t n = 0;
        bool large = false;
        if (s.len < 3) return 0;
        for (size_t i = 2; i < s.len; i++) {
            unsigned digit = phi__reader_digit(s.at[i]);
            if (digit >= base) return 0;
            large = large || n > (UINT64_MAX - digit) / base;
            if (!large) n = n * base + digit;
        }
        if (large) return PHI__YAML_TOO_LARGE;
        value->u = n;
        return n > (uint64_t)INT64_MAX ? PHI__JSON_UINT : PHI__JSON_INT;
    }
    if (phi__yaml_core_parts(s, &d)) return phi__yaml_core_rewritten(s, &d, value);
    bool sign = s.at[0] == '-' || s.at[0] == '+';
    phi_str rest = phi__str(s.at + (sign ? 1 : 0), s.len - (sign ? 1 : 0));
    if (phi__yaml_core_is_one_of(rest, ".inf", ".Inf", ".INF")) {
        value->d = s.at[0] == '-' ? -(double)INFINITY : (double)INFINITY;
        return PHI__JSON_DOUBLE;
    }
    if (sign || !phi__yaml_core_is_one_of(s, ".nan", ".NaN", ".NAN")) return 0;
    value->d = (double)NAN;
    return PHI__JSON_DOUBLE;
}

static uint32_t phi__yaml_core_plain(phi_str s, phi__json_value *value) {
    char c = s.len > 0 ? s.at[0] : '~';
    uint32_t kind = 0;
    if (phi__is_digit(c) || c == '-' || c == '+' || c == '.')
        kind = phi__yaml_core_number(s, value);
    else if (s.len > 5) /* no keyword is longer */
        return PHI__JSON_STRING;
    else if (s.len == 0 || phi__str_is(s, "~") ||
             phi__yaml_core_is_one_of(s, "null", "Null", "NULL"))
        kind = PHI__JSON_NULL;
    else if (phi__yaml_core_is_one_of(s, "true", "True", "TRUE"))
        kind = PHI__JSON_TRUE;
    else if (phi__yaml_core_is_one_of(s, "false", "False", "FALSE"))
        kind = PHI__JSON_FALSE;
    if (kind == 0) kind = PHI__JSON_STRING;
    return kind;
}

/* Returns the kind of a text under a tag other than str; 0 if the tag does not allow the text. */
static uint32_t phi__yaml_core_tagged(phi_str s, uint8_t tag, phi__json_value *value) {
    uint32_t kind = phi__yaml_core_plain(s, value);
    bool number = kind == PHI__JSON_INT || kind == PHI__JSON_UINT || kind == PHI__JSON_DOUBLE;
    if (tag == PHI__YAML_TAG_NULL) return kind == PHI__JSON_NULL ? kind : 0;
    if (tag == PHI__YAML_TAG_BOOL)
        return kind == PHI__JSON_TRUE || kind == PHI__JSON_FALSE ? kind : 0;
    if (kind == PHI__YAML_TOO_LARGE) return kind;
    if (tag == PHI__YAML_TAG_INT) {
        phi__yaml_decimal d;
        bool based = s.len > 1 && s.at[0] == '0' && (s.at[1] == 'o' || s.at[1] == 'x');
        if (!number) return 0;
        return based || (phi__yaml_core_parts(s, &d) && d.point == s.len) ? kind : 0;
    }
    if (tag != PHI__YAML_TAG_FLOAT || !number) return 0;
    if (kind == PHI__JSON_INT) value->d = (double)value->i;
    if (kind == PHI__JSON_UINT) value->d = (double)value->u;
    return PHI__JSON_DOUBLE;
}

static uint32_t phi__yaml_core_resolve(phi_str text, bool plain, uint8_t tag,
                                       phi__json_value *value) {
    value->u = 0;
    if (tag == PHI__YAML_TAG_NONE && plain) return phi__yaml_core_plain(text, value);
    if (tag <= PHI__YAML_TAG_STR) return PHI__JSON_STRING;
    return phi__yaml_core_tagged(text, tag, value);
}

/* ======== Hash tables of texts: the keys of the open mappings, and the anchors.

   Names are a stack, with a hash table of their indices. The newest name is removed first. It is
   the last name of its probing chain, so removed names need no marks. */

typedef struct phi__yaml_name {
    const char *at;
    phi_json *node; /* for anchors */
    phi_str source; /* for anchors: a scalar's text; an alias that is a key becomes this text */
    uint32_t len, hash, scope, place;
} phi__yaml_name;

/* The address of the table's owner is a part of the hash, so the places of names differ from run to
   run. Nobody can therefore prepare a text whose names collide. */
static uint32_t phi__yaml_name_hash(const phi__yaml_names *names, phi_str text, uint32_t scope) {
    uint64_t seed = (uint64_t)(uintptr_t)names ^ (uint64_t)scope << 32;
    return (uint32_t)(phi__map_hash(seed, text) >> 32);
}

static bool phi__yaml_name_same(const phi__yaml_name *name, uint32_t hash, phi_str text,
                                uint32_t scope) {
    return name->hash == hash && name->scope == scope && name->len == text.len &&
           (text.len == 0 || memcmp(name->at, text.at, text.len) == 0);
}

/* Puts a name into the hash table. The table holds indices from 1; 0 is a free place. */
static void phi__yaml_name_place(phi__yaml_names *names, uint32_t index) {
    uint32_t mask = names->table_cap - 1, place = names->at[index].hash & mask;
    while (names->table[place] != 0) place = (place + 1) & mask;
    names->table[place] = index + 1;
    names->at[index].place = place;
}

static bool phi__yaml_name_grow(phi__yaml_names *names, phi_arena *arena) {
    uint32_t cap = names->cap == 0 ? 16 : names->cap * 2;
    phi__yaml_name *at;
    uint32_t *table;
    if (names->cap >= UINT32_MAX / 8) return false;
    at = (phi__yaml_name *)phi_arena_alloc(arena, phi__mul(cap, sizeof *at));
    table = (uint32_t *)phi_arena_alloc(arena, phi__mul(cap, 2 * sizeof *table));
    if (at == NULL || table == NULL) return false;
    if (names->count > 0) memcpy(at, names->at, names->count * sizeof *at);
    memset(table, 0, cap * 2 * sizeof *table);
    names->at = at;
    names->table = table;
    names->cap = cap;
    names->table_cap = cap * 2;
    for (uint32_t i = 0; i < names->count; i++)
        phi__yaml_name_place(names, i); /* oldest names first */
    return true;
}

/* Returns the name in this scope; NULL if there is none. */
static phi__yaml_name *phi__yaml_name_find(const phi__yaml_names *names, phi_str text,
                                           uint32_t scope, uint32_t hash) {
    if (names->count == 0) return NULL;
    uint32_t mask = names->table_cap - 1;
    for (uint32_t place = hash & mask; names->table[place] != 0; place = (place + 1) & mask) {
        phi__yaml_name *name = &names->at[names->table[place] - 1];
        if (phi__yaml_name_same(name, hash, text, scope)) return name;
    }
    return NULL;
}

/* Adds a name that is not there yet. `text` is borrowed. NULL if there is no memory. */
static phi__yaml_name *phi__yaml_name_add(phi__yaml_names *names, phi_arena *arena, phi_str text,
                                          uint32_t scope, uint32_t hash) {
    if (names->count == names->cap && !phi__yaml_name_grow(names, arena)) return NULL;
    phi__yaml_name *name = &names->at[names->count];
    memset(name, 0, sizeof *name);
    name->at = text.at;
    name->len = (uint32_t)text.len;
    name->hash = hash;
    name->scope = scope;
    phi__yaml_name_place(names, names->count++);
    return name;
}

/* ---- frames and nodes: open collections, their values and keys, anchors, aliases ---- */

#define PHI__YAML_KEY_MOST 0xffffffu
#define PHI__YAML_ANYWHERE UINT32_MAX /* the scope of anchors */

PHI__FN phi_json *phi__yaml_node(phi__yaml_reader *r, uint32_t kind) {
    phi_json *node = phi__pool_node(&r->pool, r->arena, (size_t)(r->end - r->at), kind);
    if (node == NULL) (void)phi__yaml_no_memory(r);
    return node;
}

/* Returns the column, from 0, at which the current scalar begins. */
static uint32_t phi__yaml_tree_column(const phi__yaml_reader *r) {
    const phi__yaml_scalar *s = &r->scalar;
    return s->at >= s->line_at ? (uint32_t)(s->at - s->line_at) : 0;
}

/* Records the place of a node. `column` counts from 0. */
static void phi__yaml_mark(phi__yaml_reader *r, const phi_json *node, uint32_t line,
                           uint32_t column) {
    if (PHI__MARKED(r) && node != NULL) phi__marks_add(r->marks, node, line, column + 1);
}

/* ---- properties ---- */

static void phi__yaml_clear(phi__yaml_props *props) { memset(props, 0, sizeof *props); }

/* Moves the properties of `from` to `to`. False if both have an anchor, or both have a tag. */
static bool phi__yaml_props_join(phi__yaml_props *to, phi__yaml_props *from) {
    if (from->at == NULL) return true;
    if ((to->anchor_at != NULL && from->anchor_at != NULL) || (to->tag != 0 && from->tag != 0))
        return false;
    if (to->at == NULL)
        *to = *from;
    else if (from->anchor_at != NULL) {
        to->anchor = from->anchor;
        to->anchor_at = from->anchor_at;
    } else
        to->tag = from->tag;
    phi__yaml_clear(from);
    return true;
}

/* Joins the properties of earlier lines and of this line, which belong to one node. */
static bool phi__yaml_merge(phi__yaml_reader *r) {
    phi__yaml_props *inner = &r->inner;
    if (phi__yaml_props_join(inner, &r->outer)) return true;
    return phi__yaml_wrong_at(r, inner->at, inner->line, inner->column,
                              inner->tag != 0 && r->outer.tag != 0
                                  ? "a second tag for one node"
                                  : "a second anchor for one node");
}

/* ---- anchors ---- */

static bool phi__yaml_anchor(phi__yaml_reader *r, const phi__yaml_props *props, phi_json *node,
                             phi_str source) {
    if (props->anchor_at == NULL) return true;
    uint32_t hash = phi__yaml_name_hash(&r->anchors, props->anchor, PHI__YAML_ANYWHERE);
    phi__yaml_name *name =
        phi__yaml_name_find(&r->anchors, props->anchor, PHI__YAML_ANYWHERE, hash);
    if (name == NULL)
        name = phi__yaml_name_add(&r->anchors, r->arena, props->anchor, PHI__YAML_ANYWHERE, hash);
    if (name == NULL) return phi__yaml_no_memory(r);
    name->node = node;
    name->source = source;
    return true;
}

/* ---- scalars as nodes ---- */

static bool phi__yaml_mismatch(phi__yaml_reader *r, const phi__yaml_props *props,
                               const char *what) {
    static const char *const names[] = {"",       "!",      "!!str", "!!int", "!!float",
                                        "!!bool", "!!null", "!!seq", "!!map"};
    char message[96];
    (void)snprintf(message, sizeof message, "%s%s", names[props->tag], what);
    return phi__yaml_wrong_at(r, props->at, props->line, props->column, message);
}

/* Makes a NUL-terminated copy of the scalar's text, if there is none yet. */
static bool phi__yaml_text(phi__yaml_reader *r) {
    if (r->scalar.string == NULL) phi__yaml_end(r);
    return r->status == PHI_BUSY;
}

/* Returns the kind of the current scalar, and sets *value. 0: an error was recorded. */
static uint32_t phi__yaml_resolve(phi__yaml_reader *r, phi__json_value *value) {
    phi__yaml_scalar *s = &r->scalar;
    phi_str text = s->string != NULL ? phi__str(s->string, s->len)
                                     : phi__str(s->mark, (size_t)(s->last - s->mark));
    if (s->string == NULL && s->text != NULL) {
        if (!phi__yaml_text(r)) return 0;
        text = phi__str(s->string, s->len);
    }
    uint32_t kind = phi__yaml_core_resolve(
        text, s->style == PHI__YAML_STYLE_PLAIN && (r->options.flags & PHI_YAML_TEXTS) == 0,
        r->inner.tag, value);
    if (kind == PHI__YAML_TOO_LARGE) {
        phi__yaml_wrong_at(r, s->at, s->line, (uint32_t)(s->at - s->line_at),
                           "the number is too large for 64 bits or a double");
        return 0;
    }
    if (kind == 0) phi__yaml_mismatch(r, &r->inner, " does not allow this value");
    return kind;
}

/* Makes a node of the current scalar, whose properties are in `inner`. */
static phi_json *phi__yaml_tree_scalar(phi__yaml_reader *r) {
    phi__json_value value;
    uint32_t kind = phi__yaml_resolve(r, &value);
    if (kind == 0) return NULL;
    if (kind == PHI__JSON_STRING || r->inner.anchor_at != NULL)
        if (!phi__yaml_text(r)) return NULL;
    phi_json *node = phi__yaml_node(r, kind);
    if (node == NULL) return NULL;
    node->v = value;
    phi__yaml_mark(r, node, r->scalar.line, phi__yaml_tree_column(r));
    if (kind == PHI__JSON_STRING) {
        node->v.str = r->scalar.string;
        node->len = (uint32_t)r->scalar.len;
    }
    if (!phi__yaml_anchor(r, &r->inner, node, phi__str(r->scalar.string, r->scalar.len)))
        return NULL;
    return node;
}

/* ---- frames ---- */

static bool phi__yaml_is_flow(uint8_t kind) {
    return kind >= PHI__YAML_FLOW_SEQ && kind <= PHI__YAML_FLOW_PAIR;
}

static phi__yaml_frame *phi__yaml_push(phi__yaml_reader *r, uint8_t kind) {
    phi__yaml_frame *frame = r->unused;
    if (r->depth == r->options.max_depth) {
        phi__yaml_too_big(r, "collections are nested too deeply");
        return NULL;
    }
    if (frame != NULL)
        r->unused = frame->up;
    else
        frame = (phi__yaml_frame *)phi_arena_alloc(r->arena, sizeof *frame);
    if (frame == NULL) {
        phi__yaml_no_memory(r);
        return NULL;
    }
    memset(frame, 0, sizeof *frame);
    frame->up = r->top;
    frame->kind = kind;
    frame->keys = r->keys.count;
    frame->line = r->line;
    r->top = frame;
    r->depth++;
    if (phi__yaml_is_flow(kind)) r->flow_depth++;
    return frame;
}

PHI__FN bool phi__yaml_begin(phi__yaml_reader *r) {
    phi__yaml_frame *frame = phi__yaml_push(r, PHI__YAML_DOC);
    if (frame == NULL) return false;
    r->depth = 0;
    frame->indent = -1;
    frame->want = PHI__YAML_WANT_VALUE;
    return true;
}

static phi_json *phi__yaml_pop(phi__yaml_reader *r) {
    phi__yaml_frame *frame = r->top;
    phi__yaml_names *keys = &r->keys;
    while (keys->count > frame->keys) keys->table[keys->at[--keys->count].place] = 0;
    if (phi__yaml_is_flow(frame->kind)) r->flow_depth--;
    r->top = frame->up;
    r->depth--;
    frame->up = r->unused;
    r->unused = frame;
    return frame->node;
}

PHI__FN void phi__yaml_open(phi__yaml_reader *r, uint8_t kind, int32_t indent, uint8_t want) {
    bool map = kind == PHI__YAML_MAP || kind == PHI__YAML_FLOW_MAP;
    /* The properties of a block collection are on earlier lines, because properties on this line
       belong to its first key. */
    phi__yaml_props *props = phi__yaml_is_flow(kind) ? &r->inner : &r->outer;
    if (phi__yaml_is_flow(kind) && !phi__yaml_merge(r)) return;
    phi__yaml_frame *frame = phi__yaml_push(r, kind);
    if (frame == NULL) return;
    frame->indent = indent;
    frame->want = want;
    frame->node = phi__yaml_node(r, map ? PHI__JSON_OBJECT : PHI__JSON_ARRAY);
    if (frame->node == NULL) return;
    phi__yaml_mark(r, frame->node, r->line,
                   phi__yaml_is_flow(kind) ? phi__yaml_column(r, r->at) : (uint32_t)indent);
    if (props->tag > PHI__YAML_TAG_TEXT &&
        props->tag != (map ? PHI__YAML_TAG_MAP : PHI__YAML_TAG_SEQ))
        phi__yaml_mismatch(r, props,
                           map ? " does not allow a mapping" : " does not allow a sequence");
    (void)phi__yaml_anchor(r, props, frame->node, phi__str(NULL, 0));
    phi__yaml_clear(props);
}

PHI__FN void phi__yaml_open_pair(phi__yaml_reader *r, uint8_t want) {
    phi__yaml_frame *frame = phi__yaml_push(r, PHI__YAML_FLOW_PAIR);
    if (frame == NULL) return;
    frame->want = want;
    frame->node = phi__yaml_node(r, PHI__JSON_OBJECT);
    if (want == PHI__YAML_WANT_KEY) /* the pair's key was read before */
        phi__yaml_mark(r, frame->node, r->scalar.line, phi__yaml_tree_column(r));
    else
        phi__yaml_mark(r, frame->node, r->line, phi__yaml_column(r, r->at));
}

PHI__FN void phi__yaml_close(phi__yaml_reader *r) {
    phi__yaml_scalar *s = &r->scalar;
    memset(s, 0, sizeof *s);
    s->line = r->top->line;
    s->at = r->at;
    s->line_at = r->line_at;
    s->style = PHI__YAML_STYLE_NODE;
    s->node = phi__yaml_pop(r);
}

/* ---- values ---- */

static void phi__yaml_join(phi__yaml_reader *r, phi_json *node) {
    phi__yaml_frame *frame = r->top;
    if (frame->kind == PHI__YAML_DOC) {
        r->root = node;
        r->doc = PHI__YAML_COMPLETE;
        frame->want = PHI__YAML_WANT_NEXT;
        return;
    }
    /* A text is shorter than 4 GiB, and each value takes at least two bytes of the text. */
    if (PHI_NEVER(frame->node->len == UINT32_MAX)) {
        phi__yaml_too_big(r, "a collection of 2^32 or more values");
        return;
    }
    if (phi__json_kind_of(frame->node) == PHI__JSON_OBJECT) {
        node->key = frame->key.at;
        node->meta = (uint32_t)frame->key.len << 8 | phi__json_kind_of(node);
        if (PHI__MARKED(r))
            phi__marks_add_key(r->marks, node, frame->key_line, frame->key_column + 1);
    }
    phi__json_append(frame->node, node);
    frame->want = frame->kind == PHI__YAML_MAP ? PHI__YAML_WANT_KEY : PHI__YAML_WANT_NEXT;
}

PHI__FN void phi__yaml_value(phi__yaml_reader *r) {
    if (r->status != PHI_BUSY) return;
    if (r->top->want == PHI__YAML_WANT_EXPLICIT_KEY) {
        phi__yaml_key(r);
        r->top->want = PHI__YAML_WANT_COLON;
        return;
    }
    phi_json *node = r->scalar.node;
    if (node != NULL) {
        if (r->scalar.is_alias && r->outer.at != NULL)
            phi__yaml_wrong_at(r, r->outer.at, r->outer.line, r->outer.column,
                               "an alias cannot have an anchor or a tag");
    } else if (phi__yaml_merge(r)) {
        node = phi__yaml_tree_scalar(r);
        phi__yaml_clear(&r->inner);
    }
    if (r->status == PHI_BUSY && node != NULL) phi__yaml_join(r, node);
    r->scalar.style = PHI__YAML_NO_NODE;
}

/* ---- keys ---- */

static bool phi__yaml_key_wrong(phi__yaml_reader *r, const char *what) {
    const phi__yaml_scalar *s = &r->scalar;
    return phi__yaml_wrong_at(r, s->at, s->line, phi__yaml_tree_column(r), what);
}

static bool phi__yaml_key_is_new(phi__yaml_reader *r, phi_str key) {
    static const char what[] = "the key \"";
    static const char twice[] = "\" is in this mapping already: keep one of the two";
    char message[sizeof r->error.message];
    size_t n = sizeof what - 1, most = phi__utf8_cut(key, 60);
    uint32_t scope = r->top->keys, hash = phi__yaml_name_hash(&r->keys, key, scope);
    if (phi__yaml_name_find(&r->keys, key, scope, hash) == NULL) {
        if (phi__yaml_name_add(&r->keys, r->arena, key, scope, hash) != NULL) return true;
        return phi__yaml_no_memory(r);
    }
    memcpy(message, what, n);
    for (size_t i = 0; i < most; i++)
        message[n + i] = (char)((unsigned char)key.at[i] < 0x20 ? '?' : key.at[i]);
    memcpy(message + n + most, twice, sizeof twice);
    return phi__yaml_key_wrong(r, message);
}

/* Checks a key, and sets *key to its text. False: an error was recorded. */
static bool phi__yaml_key_text(phi__yaml_reader *r, phi_str *key) {
    phi__yaml_scalar *s = &r->scalar;
    phi__json_value value;
    if (r->top->want == PHI__YAML_WANT_EXPLICIT_KEY && !phi__yaml_merge(r)) return false;
    if (!phi__yaml_text(r)) return false;
    *key = phi__str(s->string, s->len);
    if (key->len == 0 && s->style == PHI__YAML_STYLE_PLAIN && r->inner.tag != PHI__YAML_TAG_STR)
        return phi__yaml_key_wrong(r, "a key is missing, and null as a key is not supported");
    if (r->inner.anchor_at != NULL) {
        phi_json *node = phi__yaml_tree_scalar(r);
        if (node == NULL) return false;
    } else if (r->inner.tag > PHI__YAML_TAG_STR && phi__yaml_resolve(r, &value) == 0)
        return false;
    phi__yaml_clear(&r->inner);
    return true;
}

PHI__FN void phi__yaml_key(phi__yaml_reader *r) {
    phi__yaml_scalar *s = &r->scalar;
    phi_str key = PHI__LIT("");
    if (r->status != PHI_BUSY) return;
    if (s->node != NULL && (!s->is_alias || s->string == NULL))
        phi__yaml_key_wrong(r, "a key that is a collection is not supported");
    else if (s->node != NULL)
        key = phi__str(s->string, s->len);
    else
        (void)phi__yaml_key_text(r, &key);
    if (r->status == PHI_BUSY && key.len > PHI__YAML_KEY_MOST)
        phi__yaml_too_big(r, "a key of more than 16 MiB");
    if (r->status != PHI_BUSY || !phi__yaml_key_is_new(r, key)) return;
    r->top->key = key;
    r->top->key_line = s->line;
    r->top->key_column = phi__yaml_tree_column(r);
    r->top->want = PHI__YAML_WANT_VALUE;
    s->style = PHI__YAML_NO_NODE;
}

/* ---- aliases ---- */

/* Copies a node without its children. The copy shares the texts of the node. */
static phi_json *phi__yaml_twin(phi__yaml_reader *r, const phi_json *source) {
    uint32_t kind = phi__json_kind_of(source);
    size_t bytes = phi__json_key_len(source) + (kind == PHI__JSON_STRING ? source->len : 0);
    if (r->alias_nodes >= r->options.max_alias_nodes ||
        bytes > r->options.max_alias_bytes - r->alias_bytes) {
        phi__yaml_too_big(r, "aliases stand for more than the reader's limit allows");
        return NULL;
    }
    r->alias_nodes++;
    r->alias_bytes += bytes;
    phi_json *node = phi__yaml_node(r, kind);
    if (node == NULL) return NULL;
    *node = *source;
    node->next = NULL;
    phi__yaml_mark(r, node, r->scalar.line, phi__yaml_tree_column(r));
    if (kind >= PHI__JSON_ARRAY) {
        node->v.last = NULL;
        node->len = 0;
    }
    return node;
}

static void phi__yaml_copy_open(phi__yaml_reader *r, const phi_json *source, phi_json *node) {
    phi__yaml_frame *frame = phi__yaml_push(r, PHI__YAML_ALIAS);
    if (frame == NULL) return;
    frame->node = node;
    frame->left = source->len;
    frame->source = source->v.last->next;
}

static void phi__yaml_alias(phi__yaml_reader *r, phi_str name, const char *at) {
    uint32_t hash = phi__yaml_name_hash(&r->anchors, name, PHI__YAML_ANYWHERE);
    const phi__yaml_name *anchor = phi__yaml_name_find(&r->anchors, name, PHI__YAML_ANYWHERE, hash);
    phi__yaml_scalar *s = &r->scalar;
    const phi__yaml_frame *frame;
    if (anchor == NULL) {
        phi__yaml_wrong(r, at, "an alias to an anchor that is not defined before it");
        return;
    }
    if (phi__json_kind_of(anchor->node) >= PHI__JSON_ARRAY)
        for (frame = r->top; frame != NULL; frame = frame->up)
            if (frame->node == anchor->node) {
                phi__yaml_wrong(r, at, "an alias inside of the node it stands for");
                return;
            }
    s->is_alias = true;
    s->string = anchor->source.at;
    s->len = anchor->source.len;
    s->node = phi__yaml_twin(r, anchor->node);
    if (s->node == NULL) return;
    s->node->key = NULL;
    s->node->meta = phi__json_kind_of(s->node);
    if (s->node->meta >= PHI__JSON_ARRAY && anchor->node->len > 0)
        phi__yaml_copy_open(r, anchor->node, s->node);
}

PHI__FN bool phi__yaml_copy(phi__yaml_reader *r, size_t units) {
    while (r->status == PHI_BUSY && r->top->kind == PHI__YAML_ALIAS) {
        if (units-- == 0) return false;
        phi__yaml_frame *frame = r->top;
        if (frame->left == 0) {
            (void)phi__yaml_pop(r);
            continue;
        }
        const phi_json *source = frame->source;
        phi_json *node = phi__yaml_twin(r, source);
        if (node == NULL) return false;
        if (PHI__MARKED(r) && node->key != NULL)
            phi__marks_add_key(r->marks, node, r->scalar.line, phi__yaml_tree_column(r) + 1);
        phi__json_append(frame->node, node);
        frame->source = source->next;
        frame->left--;
        if (phi__json_kind_of(source) >= PHI__JSON_ARRAY && source->len > 0)
            phi__yaml_copy_open(r, source, node);
    }
    return true;
}

/* ---- properties before a node or a document: anchors, tags, directives ---- */

#define PHI__YAML_NAME_MOST 1024u /* max. bytes of an anchor's name or a tag */
#define PHI__YAML_HANDLES_MOST 64u

struct phi__yaml_handle {
    struct phi__yaml_handle *next;
    phi_str handle, prefix; /* "!e!", "tag:example.com,2000:" */
};

/* ---- names ---- */

/* Returns the end of a name: a blank, or a bracket in flow content. NULL: an error was recorded. */
static const char *phi__yaml_prop_name(phi__yaml_reader *r, const char *at, bool bracket_ends) {
    const char *start = at;
    while (!phi__yaml_is_blank(r, at) && !(bracket_ends && phi__yaml_is_bracket(*at))) {
        size_t n = phi__yaml_char(r, at, false);
        if (n == 0) return NULL;
        at += n;
        if ((size_t)(at - start) > PHI__YAML_NAME_MOST) {
            phi__yaml_too_big(r, "the name of an anchor or a tag of more than 1024 bytes");
            return NULL;
        }
    }
    return at;
}

static void phi__yaml_prop_mark(phi__yaml_reader *r, const char *at) {
    if (r->inner.at != NULL) return;
    r->inner.at = at;
    r->inner.line = r->line;
    r->inner.column = phi__yaml_column(r, at);
}

/* ---- tags ---- */

static uint8_t phi__yaml_prop_core_tag(phi_str name) {
    static const char *const names[] = {"str", "int", "float", "bool", "null", "seq", "map"};
    for (size_t i = 0; i < PHI__COUNT(names); i++)
        if (phi__str_is(name, names[i])) return (uint8_t)(PHI__YAML_TAG_STR + i);
    return PHI__YAML_TAG_NONE;
}

/* Returns the core tag that `prefix` and `rest` make together. */
static uint8_t phi__yaml_prop_whole(phi_str prefix, phi_str rest) {
    char whole[32];
    static const char core[] = "tag:yaml.org,2002:";
    size_t n = sizeof core - 1, len = prefix.len + rest.len;
    if (len <= n || len > sizeof whole) return PHI__YAML_TAG_NONE;
    memcpy(whole, prefix.at, prefix.len);
    if (rest.len > 0) memcpy(whole + prefix.len, rest.at, rest.len);
    if (memcmp(whole, core, n) != 0) return PHI__YAML_TAG_NONE;
    return phi__yaml_prop_core_tag(phi__str(whole + n, len - n));
}

static const struct phi__yaml_handle *phi__yaml_prop_handle(const phi__yaml_reader *r,
                                                            phi_str handle) {
    const struct phi__yaml_handle *at = r->handles;
    while (at != NULL && !phi_str_equal(at->handle, handle)) at = at->next;
    return at;
}

/* Returns the length of the handle at the start of a tag: "!", "!!" or "!name!". */
static size_t phi__yaml_prop_handle_len(phi_str tag) {
    for (size_t i = 1; i < tag.len; i++) {
        char c = tag.at[i];
        if (c == '!') return i + 1;
        if (c != '-' && !phi__is_alnum(c)) break;
    }
    return 1;
}

/* True if a tag may have these characters: those of a URI except "!". */
static bool phi__yaml_prop_is_uri(phi_str s, bool in_brackets) {
    static const char more[] = "-#;/?:@&=+$_.~*'()%";
    for (size_t i = 0; i < s.len; i++) {
        char c = s.at[i];
        if (c == '%' && phi__json_text_hex(s.at + i + 1, s.at + s.len, 2) == UINT32_MAX)
            return false;
        if (phi__is_alnum(c) || memchr(more, c, sizeof more - 1) != NULL) continue;
        if (in_brackets && (c == ',' || c == '[' || c == ']' || c == '!')) continue;
        return false;
    }
    return true;
}

/* Reads a tag such as "!!str" or "!e!name". False: an error was recorded. */
static bool phi__yaml_prop_short(phi__yaml_reader *r, phi_str tag, uint8_t *out) {
    size_t n = phi__yaml_prop_handle_len(tag);
    phi_str handle = phi__str(tag.at, n), rest = phi__str(tag.at + n, tag.len - n);
    const struct phi__yaml_handle *declared = phi__yaml_prop_handle(r, handle);
    if (!phi__yaml_prop_is_uri(rest, false))
        return phi__yaml_wrong(r, tag.at, "a tag with a character that tags do not have");
    if (n > 1 && rest.len == 0)
        return phi__yaml_expected(r, tag.at + n, "a tag's name after its handle");
    if (declared != NULL)
        *out = phi__yaml_prop_whole(declared->prefix, rest);
    else if (n == 2)
        *out = phi__yaml_prop_core_tag(rest);
    else if (n > 2)
        return phi__yaml_wrong(r, tag.at, "a tag whose handle no %TAG directive declares");
    if (n == 1 && rest.len == 0) *out = PHI__YAML_TAG_TEXT;
    return true;
}

/* Reads a tag such as "!<tag:yaml.org,2002:str>". False: an error was recorded. */
static bool phi__yaml_prop_verbatim(phi__yaml_reader *r, phi_str tag, uint8_t *out) {
    if (tag.len < 4 || tag.at[tag.len - 1] != '>')
        return phi__yaml_expected(r, tag.at + tag.len, "'>' at the end of a verbatim tag");
    phi_str whole = phi__str(tag.at + 2, tag.len - 3);
    if (!phi__yaml_prop_is_uri(whole, true) || phi__str_is(whole, "!"))
        return phi__yaml_wrong(r, tag.at, "a verbatim tag that is neither local nor a URI");
    *out = phi__yaml_prop_whole(whole, phi__str("", 0));
    return true;
}

static void phi__yaml_prop_tag(phi__yaml_reader *r, const char *at) {
    bool verbatim = at + 1 < r->end && at[1] == '<';
    const char *end = phi__yaml_prop_name(r, at, r->flow_depth > 0 && !verbatim);
    uint8_t tag = PHI__YAML_TAG_NONE;
    if (end == NULL) return;
    if (verbatim) {
        const char *close = (const char *)memchr(at, '>', (size_t)(end - at));
        if (close != NULL && phi__yaml_is_over(r, close + 1)) end = close + 1;
    }
    if (r->inner.tag != 0) {
        phi__yaml_wrong(r, at, "a second tag for one node");
        return;
    }
    bool good = verbatim ? phi__yaml_prop_verbatim(r, phi__str(at, (size_t)(end - at)), &tag)
                         : phi__yaml_prop_short(r, phi__str(at, (size_t)(end - at)), &tag);
    if (!good) return;
    if (tag == PHI__YAML_TAG_NONE && (r->options.flags & PHI_YAML_ANY_TAG) == 0) {
        phi__yaml_wrong(r, at,
                        "a tag that is not of the core schema (!!str, !!int, !!float, !!bool, "
                        "!!null, !!seq, !!map)");
        return;
    }
    phi__yaml_prop_mark(r, at);
    r->inner.tag = tag;
    r->at = end;
}

/* ---- anchors ---- */

static void phi__yaml_prop_anchor(phi__yaml_reader *r, const char *at) {
    const char *end = phi__yaml_prop_name(r, at + 1, r->flow_depth > 0);
    if (end == NULL) return;
    if (end == at + 1)
        phi__yaml_expected(r, end, "the name of an anchor");
    else if (r->inner.anchor_at != NULL)
        phi__yaml_wrong(r, at, "a second anchor for one node");
    if (r->status != PHI_BUSY) return;
    phi__yaml_prop_mark(r, at);
    r->inner.anchor_at = at;
    r->inner.anchor = phi__str(at + 1, (size_t)(end - at - 1));
    r->at = end;
}

PHI__FN void phi__yaml_prop_read(phi__yaml_reader *r) {
    const char *at = r->at;
    if (*at == '&')
        phi__yaml_prop_anchor(r, at);
    else
        phi__yaml_prop_tag(r, at);
    if (r->status == PHI_BUSY && !phi__yaml_is_over(r, r->at))
        phi__yaml_expected(r, r->at, "white space after an anchor or a tag");
}

PHI__FN void phi__yaml_prop_keep(phi__yaml_reader *r) {
    const phi__yaml_props *inner = &r->inner;
    if (!phi__yaml_props_join(&r->outer, &r->inner))
        phi__yaml_wrong_at(r, inner->at, inner->line, inner->column,
                           "a second anchor or tag for one node");
}

PHI__FN void phi__yaml_prop_alias(phi__yaml_reader *r) {
    const char *at = r->at, *end = phi__yaml_prop_name(r, at + 1, r->flow_depth > 0);
    if (end == NULL) return;
    if (end == at + 1)
        phi__yaml_expected(r, end, "the name of an anchor after '*'");
    else if (r->inner.at != NULL)
        phi__yaml_wrong(r, at, "an alias cannot have an anchor or a tag");
    if (r->status != PHI_BUSY) return;
    r->at = end;
    phi__yaml_alias(r, phi__str(at + 1, (size_t)(end - at - 1)), at);
}

/* ---- directives ---- */

/* Returns the next word of the line; empty at the end of the line or before a comment. */
static phi_str phi__yaml_prop_word(phi__yaml_reader *r) {
    const char *at = r->at;
    while (at < r->end && phi__yaml_is_space(*at)) at++;
    r->at = at;
    if (at < r->end && *at == '#') return phi__str(at, 0);
    const char *end = phi__yaml_prop_name(r, at, false);
    if (end != NULL) r->at = end;
    return phi__str(at, end != NULL ? (size_t)(end - at) : 0);
}

static void phi__yaml_prop_version(phi__yaml_reader *r) {
    phi_str word = phi__yaml_prop_word(r);
    size_t i, points = 0;
    if (r->status != PHI_BUSY) return;
    for (i = 0; i < word.len; i++) {
        if (word.at[i] == '.' && i > 0 && i + 1 < word.len && points == 0)
            points++;
        else if (word.at[i] < '0' || word.at[i] > '9')
            break;
    }
    if (r->has_version)
        phi__yaml_wrong(r, word.at, "a second %YAML directive");
    else if (i < word.len || points == 0)
        phi__yaml_expected(r, word.at, "a version like 1.2 after %YAML");
    else if (!phi__str_starts(word, "1."))
        phi__yaml_wrong(r, word.at, "a version of YAML other than 1");
    r->has_version = true;
}

static void phi__yaml_prop_declare(phi__yaml_reader *r) {
    phi_str handle = phi__yaml_prop_word(r), prefix = phi__yaml_prop_word(r);
    struct phi__yaml_handle *declared;
    if (r->status != PHI_BUSY) return;
    if (handle.len == 0 || handle.at[0] != '!' || phi__yaml_prop_handle_len(handle) != handle.len)
        phi__yaml_expected(r, handle.at, "a handle like !name! after %TAG");
    else if (prefix.len == 0 || !phi__yaml_prop_is_uri(prefix, true))
        phi__yaml_expected(r, prefix.at, "a prefix of tags after the handle");
    else if (phi__yaml_prop_handle(r, handle) != NULL)
        phi__yaml_wrong(r, handle.at, "a second %TAG directive of this handle");
    else if (r->handle_count++ == PHI__YAML_HANDLES_MOST)
        phi__yaml_too_big(r, "more than 64 %TAG directives");
    if (r->status != PHI_BUSY) return;
    declared = (struct phi__yaml_handle *)phi_arena_alloc(r->arena, sizeof *declared);
    if (declared == NULL) {
        phi__yaml_no_memory(r);
        return;
    }
    declared->handle = handle;
    declared->prefix = prefix;
    declared->next = r->handles;
    r->handles = declared;
}

PHI__FN void phi__yaml_prop_directive(phi__yaml_reader *r) {
    r->at++;
    phi_str name = phi__yaml_prop_word(r);
    if (r->status != PHI_BUSY) return;
    if (phi__str_is(name, "YAML"))
        phi__yaml_prop_version(r);
    else if (phi__str_is(name, "TAG"))
        phi__yaml_prop_declare(r);
    else
        r->state = PHI__YAML_COMMENT; /* reserved directives are skipped */
}
#undef PHI__YAML_TOO_LARGE
#undef PHI__YAML_NUMBER_MOST
#undef PHI__YAML_KEY_MOST
#undef PHI__YAML_ANYWHERE
#undef PHI__YAML_NAME_MOST
#undef PHI__YAML_HANDLES_MOST

/* ---- src/formats/yaml_write.c ---- */

/* yaml_write.c - writes a tree as YAML in block style.

   Readers of YAML 1.1 get the same tree. Texts that YAML 1.1 takes for booleans, dates or
   numbers are quoted, and so are all texts that do not begin like a word. */

#define PHI__YAML_SIMPLE_KEY 1000u /* bytes; YAML ends keys without "? " at 1024 characters */

/* An open collection. */
typedef struct phi__yaml_level {
    const phi_json *child; /* the child to write next */
    uint32_t left, indent;
    bool object;
} phi__yaml_level;

typedef struct phi__yaml_writer {
    phi__buf out;
    phi__yaml_level *levels;
    size_t depth, cap;
    phi_status status;
} phi__yaml_writer;

/* ---- scalars ---- */

/* The properties of a text that decide its style. */
typedef struct phi__yaml_look {
    bool breaks; /* has line feeds */
    bool odd;    /* has characters that need an escape */
    bool colon;  /* has a ":" or "#" that would end plain text, or a space at either end */
} phi__yaml_look;

/* True if readers refuse the character, or take it for a line break. */
static bool phi__yaml_write_is_odd(const char *at, size_t n) {
    const unsigned char *p = (const unsigned char *)at;
    if (n == 0) return true;
    if (n == 1) return (p[0] < 0x20 && p[0] != '\n') || p[0] == 0x7f;
    if (n == 2) return p[0] == 0xc2 && p[1] < 0xa0;
    if (n > 3) return false;
    if (p[0] == 0xe2) return p[1] == 0x80 && (p[2] == 0xa8 || p[2] == 0xa9);
    return p[0] == 0xef && ((p[1] == 0xbb && p[2] == 0xbf) || (p[1] == 0xbf && p[2] >= 0xbe));
}

static phi__yaml_look phi__yaml_write_look(phi_str s) {
    const char *at = s.at, *end = s.at + s.len;
    phi__yaml_look look = PHI_ZERO;
    if (s.len > 0) look.colon = s.at[0] == ' ' || end[-1] == ' ' || end[-1] == ':';
    while (at < end && !look.odd) {
        size_t n = phi__json_text_utf8(at, end);
        look.odd = phi__yaml_write_is_odd(at, n);
        look.breaks = look.breaks || *at == '\n';
        look.colon = look.colon || (*at == ' ' && at > s.at && at[-1] == ':') ||
                     (*at == '#' && at > s.at && at[-1] == ' ');
        at += n;
    }
    return look;
}

/* True for words that a reader may take for null or a boolean, in any case. */
static bool phi__yaml_write_is_word(phi_str s) {
    static const char *const words[] = {"null", "true", "false", "yes", "no",
                                        "on",   "off",  "y",     "n"};
    for (size_t i = 0; i < PHI__COUNT(words); i++)
        if (phi__str_is_nocase(s, words[i])) return true;
    return false;
}

static bool phi__yaml_write_is_plain(phi_str s, phi__yaml_look look) {
    char c = s.len > 0 ? s.at[0] : ' ';
    if (look.breaks || look.odd || look.colon) return false;
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80 ||
          memchr("_/$(", c, 4) != NULL))
        return false;
    return !phi__yaml_write_is_word(s);
}

static void phi__yaml_write_quoted(phi__buf *out, phi_str s) {
    const char *at = s.at, *from = at, *end = s.at + s.len;
    phi__buf_char(out, '"');
    while (at < end) {
        size_t n = phi__json_text_utf8(at, end);
        if (n == 0) { /* the writer of JSON replaces such bytes */
            at += phi__utf8_bad(at, end);
            continue;
        }
        if ((n > 1 || *at == 0x7f) && phi__yaml_write_is_odd(at, n)) {
            const unsigned char *p = (const unsigned char *)at;
            unsigned code = n == 1   ? p[0]
                            : n == 2 ? (p[0] & 0x1fu) << 6 | (p[1] & 0x3fu)
                                     : (p[0] & 0xfu) << 12 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu);
            phi__json_write_part(out, phi__str(from, (size_t)(at - from)));
            phi__buf_printf(out, "\\u%04x", code);
            from = at + n;
        }
        at += n;
    }
    phi__json_write_part(out, phi__str(from, (size_t)(at - from)));
    phi__buf_char(out, '"');
}

static void phi__yaml_write_spaces(phi__buf *out, size_t count) {
    char *to = phi__buf_reserve(out, count);
    if (to == NULL) return;
    memset(to, ' ', count);
    phi__buf_add_len(out, count);
}

static void phi__yaml_write_text(phi__buf *out, phi_str s, uint32_t indent, bool is_key) {
    phi__yaml_look look = phi__yaml_write_look(s);
    bool begins = s.len > 0 && s.at[0] != '\n' && s.at[0] != ' ';
    if (phi__yaml_write_is_plain(s, look))
        phi__buf_add_str(out, s);
    else if (look.breaks && !look.odd && begins && !is_key) {
        /* Write a literal block without its last line break. */
        size_t from = 0, to, end = s.len;
        while (end > 0 && s.at[end - 1] == '\n') end--;
        phi__buf_text(out, end == s.len ? "|-" : end + 1 == s.len ? "|" : "|+");
        while (from < end) {
            const char *at = (const char *)memchr(s.at + from, '\n', end - from);
            to = at == NULL ? end : (size_t)(at - s.at);
            phi__buf_char(out, '\n');
            if (to > from) phi__yaml_write_spaces(out, indent);
            phi__buf_add(out, s.at + from, to - from);
            from = to + 1;
        }
        for (to = end + 1; to < s.len; to++) phi__buf_char(out, '\n');
    } else
        phi__yaml_write_quoted(out, s);
}

/* Writes a number with a point and a signed exponent, which all readers take for a number. */
static void phi__yaml_write_double(phi__buf *out, double d) {
    char text[32];
    size_t e;
    if (!(d - d == 0)) { /* not finite; pcc has no isinf */
        phi__buf_text(out, d > 0 ? ".inf" : d < 0 ? "-.inf" : ".nan");
        return;
    }
    size_t n = phi__json_number_double_text(d, text);
    for (e = 0; e < n && text[e] != 'e'; e++) continue;
    phi__buf_add(out, text, e);
    if (memchr(text, '.', e) == NULL) phi__buf_text(out, ".0");
    if (e == n) return;
    phi__buf_text(out, text[e + 1] == '-' ? "e" : "e+");
    phi__buf_add(out, text + e + 1, n - e - 1);
}

static void phi__yaml_write_scalar(phi__buf *out, const phi_json *node, uint32_t indent) {
    switch (phi__json_kind_of(node)) {
    case PHI__JSON_FALSE: phi__buf_text(out, "false"); break;
    case PHI__JSON_TRUE: phi__buf_text(out, "true"); break;
    case PHI__JSON_INT: phi__json_number_put_i64(out, node->v.i); break;
    case PHI__JSON_UINT: phi__json_number_put_u64(out, node->v.u); break;
    case PHI__JSON_DOUBLE: phi__yaml_write_double(out, node->v.d); break;
    case PHI__JSON_STRING: phi__yaml_write_text(out, phi__json_text_of(node), indent, false); break;
    case PHI__JSON_ARRAY: phi__buf_text(out, "[]"); break;
    case PHI__JSON_OBJECT: phi__buf_text(out, "{}"); break;
    default: phi__buf_text(out, "null"); break;
    }
}

/* ---- collections ---- */

static bool phi__yaml_write_is_filled(const phi_json *node) {
    return node != NULL && phi__json_kind_of(node) >= PHI__JSON_ARRAY && node->len > 0;
}

static void phi__yaml_write_open(phi__yaml_writer *w, const phi_json *node, uint32_t indent) {
    phi__yaml_level *levels = w->levels;
    if (w->depth == PHI_JSON_MAX_DEPTH) {
        w->status = PHI_TOO_BIG;
        return;
    }
    if (w->depth == w->cap)
        levels = (phi__yaml_level *)phi__grow(w->out.memory, levels, &w->cap, w->depth + 1,
                                              sizeof *levels);
    if (levels == NULL) {
        w->status = PHI_NO_MEMORY;
        return;
    }
    w->levels = levels;
    levels += w->depth++;
    levels->child = node->v.last->next;
    levels->left = node->len;
    levels->indent = indent;
    levels->object = phi__json_kind_of(node) == PHI__JSON_OBJECT;
}

/* Writes a value after "key:" or "- ". After "key:", a value with items begins on a new line; after
   "- ", on the same line. */
static void phi__yaml_write_value(phi__yaml_writer *w, const phi_json *node, uint32_t indent,
                                  bool compact) {
    if (!phi__yaml_write_is_filled(node)) {
        phi__buf_char(&w->out, ' ');
        phi__yaml_write_scalar(&w->out, node, indent + 2);
        phi__buf_char(&w->out, '\n');
        return;
    }
    phi__buf_char(&w->out, compact ? ' ' : '\n');
    if (!compact) phi__yaml_write_spaces(&w->out, indent + 2);
    phi__yaml_write_open(w, node, indent + 2);
}

/* Writes the next child of the innermost collection. The first child's line is indented already. */
static void phi__yaml_write_next(phi__yaml_writer *w, bool first) {
    phi__yaml_level *level = &w->levels[w->depth - 1];
    const phi_json *node = level->child;
    uint32_t indent = level->indent;
    if (level->left == 0) {
        w->depth--;
        return;
    }
    if (!first) phi__yaml_write_spaces(&w->out, indent);
    level->left--;
    level->child = node->next;
    if (level->object) {
        phi_str key = phi__str(node->key, phi__json_key_len(node));
        bool simple = key.len <= PHI__YAML_SIMPLE_KEY;
        if (!simple) phi__buf_text(&w->out, "? ");
        phi__yaml_write_text(&w->out, key.len > 0 ? key : phi__str("", 0), indent, true);
        if (!simple) {
            phi__buf_char(&w->out, '\n');
            phi__yaml_write_spaces(&w->out, indent);
        }
        phi__buf_char(&w->out, ':');
        phi__yaml_write_value(w, node, indent, !simple);
    } else {
        phi__buf_char(&w->out, '-');
        phi__yaml_write_value(w, node, indent, true);
    }
}

static void phi__yaml_write_all(phi__yaml_writer *w, const phi_json *node) {
    size_t depth = 0;
    if (!phi__yaml_write_is_filled(node)) {
        if (node == NULL)
            phi__buf_text(&w->out, "null");
        else
            phi__yaml_write_scalar(&w->out, node, 2);
        phi__buf_char(&w->out, '\n');
        return;
    }
    phi__yaml_write_open(w, node, 0);
    while (w->depth > 0 && w->status == PHI_OK && !w->out.failed) {
        bool first = w->depth > depth;
        depth = w->depth;
        phi__yaml_write_next(w, first);
    }
}

/* ---- public ---- */

PHI_API phi_status phi_yaml_write(phi_arena *arena, const phi_json *node, uint32_t flags,
                                  phi_str *out) {
    if (arena == NULL || out == NULL || flags != 0) return PHI_BAD_ARG;
    phi__yaml_writer w = PHI_ZERO;
    phi__buf_init(&w.out, arena->memory);
    phi__yaml_write_all(&w, node);
    if (w.status == PHI_OK && w.out.failed) w.status = PHI_NO_MEMORY;
    if (w.status == PHI_OK && !phi__arena_str(arena, phi__buf_str(&w.out), out))
        w.status = PHI_NO_MEMORY;
    phi__free(arena->memory, w.levels, w.cap * sizeof *w.levels);
    phi__buf_free(&w.out);
    return w.status;
}
#undef PHI__YAML_SIMPLE_KEY

#endif /* PHI__IMP_FORMATS */

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
