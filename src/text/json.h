/* json.h - JSON: a document, a tree to look at and change, and a writer.

       phi_parse_error error;
       phi_json *game = phi_json_load_file("game.json", PHI_JSON_RELAXED, NULL, &error);
       if (game == NULL) return complain(error.line, error.column, error.message);
       use(phi_json_int(phi_json_path(game, "hero.gold"), 0));
       phi_json_unload(game);

   phi_json_load makes a tree that owns its memory; phi_json_parse makes one in an arena of yours.
   One node type serves reading and building. Nodes and strings live in the arena they were made in
   (phi_json_arena is that of a document) and are freed with it. A function that takes a node takes
   NULL as well: NULL is "not there", has no type and no children, and every getter then gives its
   fallback.
   Numbers keep their form: integers that fit are kept as 64-bit integers, all else as the nearest
   double; -0 is the double -0.0. A number too large for a double is an error.
   Duplicate keys are kept in the tree; phi_json_get finds the last of them, phi_json_set replaces
   it, phi_json_remove removes them all.
   Text must be shorter than 4 GiB - 1 bytes, a key than 16 MiB, a number than 64 KiB, and nesting
   is at most PHI_JSON_MAX_DEPTH: more is PHI_TOO_BIG.
   Threads: a tree is only read by many at once, or used by one. */
#ifndef PHI_TEXT_JSON_H
#define PHI_TEXT_JSON_H

#include "base/arena.h"

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
    PHI_JSON_OBJECT,
    PHI_JSON_INTEGER /* for phi_json_is alone: phi_json_type_of says PHI_JSON_NUMBER */
} phi_json_type;

#define PHI_JSON_MAX_DEPTH 1024u /* nested arrays and objects at most, whatever the limit */

/* ---- reading ---- */

/* Strings without escapes point into the text, which must then outlive the tree, and are not
   terminated. Without this flag the arena holds a copy of the text, and strings are terminated. */
#define PHI_JSON_BORROW 1u
/* Bytes that are not UTF-8 and lone surrogates become U+FFFD, one for each maximal subpart of a
   sequence (as in browsers); without this flag they are errors. */
#define PHI_JSON_REPLACE_BAD_UTF8 2u
/* Also reads what people write in files: comments (two slashes to the end of the line, or as in C),
   a comma after the last member or item, a byte order mark. Without this flag they are errors. */
#define PHI_JSON_RELAXED 4u

#define PHI_JSON_MAX_FILE_BYTES 67108864u /* of a file for phi_json_load_file: 64 MiB */

/* Reads one JSON text (RFC 8259, nothing more) into a document. Returns its root, which is used as
   any node; NULL: *error (which may be NULL) has message, line, column and status.
   Ownership: the document owns its memory; free it with phi_json_unload. `text` is copied (with
   PHI_JSON_BORROW borrowed until then). `memory` is where its memory comes from, borrowed until
   then; NULL: the C library's. flags: PHI_JSON_RELAXED, PHI_JSON_REPLACE_BAD_UTF8,
   PHI_JSON_BORROW, or 0. */
PHI_API phi_json *phi_json_load(phi_str text, uint32_t flags, phi_memory *memory,
                                phi_parse_error *error);
/* The same with the text of a file. error->status is PHI_NOT_FOUND if there is no such file, PHI_IO
   if it cannot be read, PHI_TOO_BIG beyond PHI_JSON_MAX_FILE_BYTES, PHI_UNSUPPORTED with
   PHI_NO_FILES; line and column are then 0. */
PHI_API phi_json *phi_json_load_file(const char *path, uint32_t flags, phi_memory *memory,
                                     phi_parse_error *error);
/* Frees a document and all that is in its arena. NULL, and a node that is not the root of a
   document, change nothing. */
PHI_API void phi_json_unload(phi_json *root);
/* The arena of a document, to change and to write it:
       phi_arena *arena = phi_json_arena(game);
       phi_json_set(arena, game, "level", phi_json_new_int(arena, 7));
   NULL: not the root of a document. */
PHI_API phi_arena *phi_json_arena(phi_json *root);

/* Reads one JSON text into an arena; flags as phi_json_load. PHI_OK sets *out. PHI_PARSE,
   PHI_TOO_BIG and PHI_NO_MEMORY fill *error (which may be NULL); memory taken from the arena until
   then is freed with it. `text` is borrowed until return. */
PHI_API phi_status phi_json_parse(phi_arena *arena, phi_str text, uint32_t flags, phi_json **out,
                                  phi_parse_error *error);

/* ---- looking ---- */

PHI_API phi_json_type phi_json_type_of(const phi_json *node);
/* True if the node is of that type; PHI_JSON_INTEGER is a number without a fraction (1, 1.0). NULL
   is PHI_JSON_NONE, and not PHI_JSON_NULL, which is JSON's null. */
PHI_API bool phi_json_is(const phi_json *node, phi_json_type type);

/* The value, or the fallback when the node is something else or does not fit. */
PHI_API bool phi_json_bool(const phi_json *node, bool fallback);
PHI_API int64_t phi_json_int(const phi_json *node, int64_t fallback);
PHI_API double phi_json_num(const phi_json *node, double fallback);
/* Borrowed from the tree, or from `fallback` (NULL: an empty string). */
PHI_API phi_str phi_json_str(const phi_json *node, const char *fallback);

/* Members or items. */
PHI_API size_t phi_json_count(const phi_json *node);
/* The member of that name, the last of several; NULL: none, or no object. */
PHI_API phi_json *phi_json_get(const phi_json *object, const char *key);
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

/* ---- building ---- */

/* New nodes; NULL: no memory, or no arena. Strings are copied; bytes that are not UTF-8 are kept,
   and replaced when written. A double that is not finite is kept, and written as null. */
PHI_API phi_json *phi_json_new_bool(phi_arena *arena, bool value);
PHI_API phi_json *phi_json_new_int(phi_arena *arena, int64_t value);
PHI_API phi_json *phi_json_new_num(phi_arena *arena, double value);
PHI_API phi_json *phi_json_new_str(phi_arena *arena, phi_str value);
PHI_API phi_json *phi_json_new_array(phi_arena *arena);
PHI_API phi_json *phi_json_new_object(phi_arena *arena);
/* A deep copy, strings and keys too. NULL: no memory, or nested too deeply. */
PHI_API phi_json *phi_json_copy(phi_arena *arena, const phi_json *node);

/* Puts `value` under `key` (copied into the arena) in place of an earlier value, or at the end. A
   NULL value is PHI_NO_MEMORY, so that calls nest:
       phi_json_set(a, object, "name", phi_json_new_str(a, phi_str_of("ada")))
   A value that already is in a container, is the container, or is the root of a document, is
   PHI_MISUSE. It must not hold the container. Both must live equally long. */
PHI_API phi_status phi_json_set(phi_arena *arena, phi_json *object, const char *key,
                                phi_json *value);
/* Appends to an array; as above. */
PHI_API phi_status phi_json_add(phi_json *array, phi_json *value);
/* Removes all members of that name, and returns the last of them, which can be put elsewhere. NULL:
   there was none. */
PHI_API phi_json *phi_json_remove(phi_json *object, const char *key);

/* ---- writing ---- */

#define PHI_JSON_PRETTY 1u /* two spaces a level */
#define PHI_JSON_ASCII 2u  /* \uXXXX for everything else */

/* Writes into the arena; *out is terminated, the terminator not counted. Doubles are the shortest
   that read back; NaN and infinities are written as null; bytes that are not UTF-8 as U+FFFD.
   PHI_NO_MEMORY, or PHI_TOO_BIG when nested beyond PHI_JSON_MAX_DEPTH. */
PHI_API phi_status phi_json_write(phi_arena *arena, const phi_json *node, uint32_t flags,
                                  phi_str *out);

#ifdef __cplusplus
}
#endif
#endif
