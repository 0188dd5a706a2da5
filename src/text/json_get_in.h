/* json_get_in.h - the members of a tree's objects by their names: a change takes the same time
   however many members its object has.

       phi__json_index_init(&index, memory, arena);
       if (phi__json_index_get(&index, object, key, &member)) ...
       if (phi__json_index_set(&index, object, key, value)) ...
       phi__json_index_free(&index);

   The first use of an object walks its members once. From then on until the end, only this index
   may add, replace and remove members of that object; other objects are free. A name that an object
   has twice is then there once, with its last value.
   Ownership: the table from `memory`, its entries and the names of new members from the arena of
   the tree. */
#ifndef PHI_TEXT_JSON_GET_IN_H
#define PHI_TEXT_JSON_GET_IN_H

#include "base/map_in.h"
#include "text/json_in.h"

typedef struct phi__json_index {
    phi_arena *arena;
    phi__map map;
    uint64_t walked; /* members that were looked at */
    bool shed;       /* members of equal names were removed; the user clears it */
} phi__json_index;

PHI__FN void phi__json_index_init(phi__json_index *index, phi_memory *memory, phi_arena *arena);
PHI__FN void phi__json_index_free(phi__json_index *index); /* twice is harmless */

/* *found: the member; NULL: there is none. False: no memory. */
PHI__FN bool phi__json_index_get(phi__json_index *index, phi_json *object, phi_str key,
                                 phi_json **found);

/* Replaces the member in its place, or appends it. The value is in no container. False: no memory,
   which cannot happen to a value that was a member of this name and takes another's place. */
PHI__FN bool phi__json_index_set(phi__json_index *index, phi_json *object, phi_str key,
                                 phi_json *value);

/* Removes the member, which is then in no container. False: no memory, which cannot happen in an
   object that was used before. */
PHI__FN bool phi__json_index_remove(phi__json_index *index, phi_json *object, phi_str key,
                                    phi_json **removed);

#endif
