/* strict_words_in.h - the keywords of JSON Schema, and their treatment in each strict form. */
#ifndef PHI_WIRE_STRICT_WORDS_IN_H
#define PHI_WIRE_STRICT_WORDS_IN_H

#include "text/json_in.h"
#include "wire/codec_in.h"

typedef enum phi__strict_kind {
    PHI__STRICT_OTHER = 0, /* describes, or is not known: left out */
    PHI__STRICT_KEEP,      /* has code of its own, and may be beside anyOf and $ref */
    PHI__STRICT_OWN,       /* has code of its own */
    PHI__STRICT_CHOICE,    /* anyOf and its like */
    PHI__STRICT_NOTE,      /* a word for the model: goes into the description */
    PHI__STRICT_NARROWS,   /* kept where the form has it, else into the description */
    PHI__STRICT_REFUSED
} phi__strict_kind;

PHI__FN phi__strict_kind phi__strict_words_kind(phi_str key);
/* Whether a form has a keyword that narrows, with such a value. */
PHI__FN bool phi__strict_words_keep(phi__strict_form form, phi_str key, const phi_json *value);
/* The next keyword that narrows and that a form has, in the order in which they are written; NULL:
   no more. *at is 0 at first. */
PHI__FN const char *phi__strict_words_next(phi__strict_form form, size_t *at);

#endif
