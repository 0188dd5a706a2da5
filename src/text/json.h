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
#ifndef PHI_TEXT_JSON_H
#define PHI_TEXT_JSON_H

#include "base/arena.h"

#ifdef __cplusplus
extern "C" {
#endif

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
#endif
