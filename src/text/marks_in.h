/* marks_in.h - where the nodes of a tree stand in the text that they were read from.

       phi__marks_init(&marks, &arena);
       phi__json_read_begin(&reader, &arena, text, 0, 0);
       reader.marks = &marks;           // the readers of YAML and TOML have the same field
       ...
       if (phi__marks_find(&marks, node, &line, &column)) complain(line, column);

   A table from a node's address to the places of its value and of its key. Copies that YAML's
   aliases make stand where the alias stands. Where memory runs out, `failed` is set and the reading
   goes on: nodes that come later then have no place.
   Lifetime: the places are valid as long as the tree; the arena is borrowed. */
#ifndef PHI_TEXT_MARKS_IN_H
#define PHI_TEXT_MARKS_IN_H

#include "base/arena_in.h"
#include "text/json.h"

/* Lines and columns count from 1, columns in bytes; 0: there is none. */
typedef struct phi__marks_entry {
    const phi_json *node; /* NULL: a free slot */
    uint32_t line, column;
    uint32_t key_line, key_column;
    /* Offsets, of TOML alone: the value, and where its line's key is; of a header: where the
       value or header before it ends. */
    uint32_t from, to, key_from;
} phi__marks_entry;

typedef struct phi__marks {
    phi_arena *arena;
    phi__marks_entry *slots;
    size_t cap, count; /* cap: a power of two, or 0 */
    bool failed;       /* a place found no memory */
} phi__marks;

/* Whether a reader keeps places. Where no part of phi asks for them, none does. */
#define PHI__MARKED(reader) ((reader)->marks != NULL)

/* Takes no memory yet. */
PHI__FN void phi__marks_init(phi__marks *marks, phi_arena *arena);
/* The place of a node's value, and that of its key, in any order. */
PHI__FN void phi__marks_add(phi__marks *marks, const phi_json *node, uint32_t line,
                            uint32_t column);
PHI__FN void phi__marks_add_key(phi__marks *marks, const phi_json *node, uint32_t line,
                                uint32_t column);
/* False: the node has no place, and *line and *column are 0. */
PHI__FN bool phi__marks_find(const phi__marks *marks, const phi_json *node, uint32_t *line,
                             uint32_t *column);
/* All of it, to read and to change until the next add; NULL: the node has no place. */
PHI__FN phi__marks_entry *phi__marks_at(const phi__marks *marks, const phi_json *node);
/* The same of a member's key. */
PHI__FN bool phi__marks_key(const phi__marks *marks, const phi_json *node, uint32_t *line,
                            uint32_t *column);

#endif
