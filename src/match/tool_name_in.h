/* tool_name_in.h - names of tools within the rules of every provider: a-z A-Z 0-9 _ - and at most
   64 bytes, the first of them a letter or "_".

   All tools of a set are counted first, then each claims its name. Characters that are not allowed
   become "_". A name that is cut, and a name that several tools would have, ends in eight hex
   digits of a hash; of several the one keeps it whose own name it is. So a name depends on the set
   of tools, not on their order. */
#ifndef PHI_MATCH_TOOL_NAME_IN_H
#define PHI_MATCH_TOOL_NAME_IN_H

#include "base/arena_in.h"
#include "base/map_in.h"

enum { PHI__TOOL_NAME_MOST = 64 };

typedef struct phi__tool_name {
    char at[PHI__TOOL_NAME_MOST]; /* not terminated */
    size_t len;
    bool cut, exact; /* exact: no character was changed */
} phi__tool_name;

/* Begins with "{prefix}__", where there is one (NULL: none). first: the first character
   that will be put. */
PHI__FN void phi__tool_name_begin(phi__tool_name *name, const char *prefix, char first);
PHI__FN void phi__tool_name_put(phi__tool_name *name, char c);
PHI__FN void phi__tool_name_text(phi__tool_name *name, phi_str text);
PHI__FN bool phi__tool_name_plain(char c); /* allowed in names */

/* The names of a set. */
typedef struct phi__tool_names {
    phi_arena scratch;
    phi__map map;
} phi__tool_names;

PHI__FN void phi__tool_name_init(phi__tool_names *names, phi_memory *memory);
PHI__FN void phi__tool_name_free(phi__tool_names *names); /* twice is harmless */
PHI__FN bool phi__tool_name_reserve(phi__tool_names *names, size_t count);
/* False: no memory. */
PHI__FN bool phi__tool_name_count(phi__tool_names *names, const phi__tool_name *name);
/* Changes the name to the one it gets, once all were counted. hash: of what sets the tool apart.
   PHI_FULL: all that it could have are taken; PHI_NO_MEMORY. */
PHI__FN phi_status phi__tool_name_claim(phi__tool_names *names, phi__tool_name *name,
                                        const unsigned char hash[32]);

#endif
