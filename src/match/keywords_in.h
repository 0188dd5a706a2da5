/* keywords_in.h - the keywords of schemas, and how a tool's schema treats each. */
#ifndef PHI_MATCH_KEYWORDS_IN_H
#define PHI_MATCH_KEYWORDS_IN_H

#include "text/json_in.h"

typedef enum phi__keyword {
    PHI__KEYWORD_DROP,    /* says nothing to a model, or is treated on its own */
    PHI__KEYWORD_COPY,    /* well formed: it goes on */
    PHI__KEYWORD_SHORT,   /* the same, unless it is long */
    PHI__KEYWORD_SUB,     /* a schema */
    PHI__KEYWORD_SUBS,    /* properties */
    PHI__KEYWORD_CHOICES, /* a list of schemas */
    PHI__KEYWORD_NAMES,   /* required */
    PHI__KEYWORD_NOTE     /* moves into the description */
} phi__keyword;

/* The treatment of one member of a schema; of malformed ones: DROP. */
PHI__FN phi__keyword phi__keywords_of(phi_str key, const phi_json *value);
/* One of JSON Schema's seven types. */
PHI__FN bool phi__keywords_is_type(phi_str name);

#endif
