/* json_fields_in.h - the values of a JSON text that is still growing, each as soon as it is whole.

       phi__json_fields_init(&fields, memory);
       // whenever `text` has grown at its end:
       while ((got = phi__json_fields_next(&fields, text, &path, &value)) > 0)
           use(path, value);
       if (got < 0) ... // from now on: no more values are found phi__json_fields_free(&fields);

   A value is a leaf: a string, a number, true, false, null, an empty array or object. Each is found
   once, in the text's order. The values of a complete text are the leaves of its tree, duplicate
   keys included, however the text was cut. A number is complete when a byte follows it: a number
   that is the whole text is never found. All of JSON's grammar is checked, up to the end of the
   text so far.
   Ownership: one growing buffer for the path and a stack of the open brackets, both of bounded
   size, from `memory`. The text is only read, and may move between two calls. */
#ifndef PHI_TEXT_JSON_FIELDS_IN_H
#define PHI_TEXT_JSON_FIELDS_IN_H

#include "text/json_in.h"

enum {
    /* arrays and objects inside of one another; deeper is PHI_TOO_BIG */
    PHI__JSON_FIELDS_DEPTH = 64,
    PHI__JSON_FIELDS_PATH = 1024,   /* bytes of a path; a longer one is PHI_TOO_BIG */
    PHI__JSON_FIELDS_NUMBER = 65536 /* bytes of a number, as for the reader */
};

/* An array or object that is open. */
typedef struct phi__json_frame {
    uint32_t path_len; /* of its own path */
    uint32_t count;    /* of an array: items that have begun */
    bool object;
} phi__json_frame;

typedef struct phi__json_fields {
    phi__buf path;
    phi__json_frame *open;
    size_t depth, cap;
    size_t at;    /* of the text: read so far */
    size_t token; /* where the string, number or word under way begins */
    uint8_t state;
    phi_status status; /* PHI_BUSY until something is wrong */
} phi__json_fields;

PHI__FN void phi__json_fields_init(phi__json_fields *f, phi_memory *memory);
PHI__FN void phi__json_fields_free(phi__json_fields *f); /* as after init; twice is harmless */

/* `text`: all of it so far. 1: a value; *path is its JSON Pointer (RFC 6901), valid until the next
   call, and *value its text (a string with its quotes, as it stands there). 0: the text must grow
   first.
   PHI_PARSE: it is no JSON; PHI_TOO_BIG, PHI_NO_MEMORY: this is the end of it, too. */
PHI__FN int phi__json_fields_next(phi__json_fields *f, phi_str text, phi_str *path, phi_str *value);

#endif
