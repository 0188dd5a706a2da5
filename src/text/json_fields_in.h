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

#include "text/text_in.h"
#include "text/json_in.h"

enum {
    /* arrays and objects inside of one another; deeper is PHI_TOO_BIG */
    PHI__JSON_FIELDS_DEPTH = 64,
    PHI__JSON_FIELDS_PATH = 1024,   /* bytes of a path; a longer one is PHI_TOO_BIG */
    PHI__JSON_FIELDS_NUMBER = 65536 /* bytes of a number, as for the reader */
};

#endif
