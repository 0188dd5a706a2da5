/* wildcard_in.h - patterns of rules: *, ?, sets, and alternatives. Time is bounded by the pattern
   times the text, for paths times the text once more. */
#ifndef PHI_PERMISSIONS_WILDCARD_IN_H
#define PHI_PERMISSIONS_WILDCARD_IN_H

#include "permissions/permissions_in.h"
#include "base/base_in.h"

/* What ** of a glob does about hidden files. */
typedef enum phi__wildcard_hidden {
    PHI__WILDCARD_SEEN = 0, /* it matches their names, but enters few hidden directories */
    PHI__WILDCARD_LEFT_OUT, /* it matches no leading dot */
    PHI__WILDCARD_ENTERED   /* it matches files in hidden directories, too */
} phi__wildcard_hidden;

/* Whether one of the alternatives matches all of the text. path: * and ? do not match a slash, **
   does, and a pattern that ends in a slash and ** matches the directory itself, too. */
PHI__FN bool phi__wildcard_any(phi_str pattern, phi_str text, bool path);

/* Whether a file that the shell's pattern `glob` finds may match `pattern`, as a path. In doubt it
   may. A * of the glob matches neither a slash nor a leading dot; ** matches both, but goes into no
   hidden directory if the pattern begins with **, unless these are entered and the pattern does not
   end in a star. */
PHI__FN bool phi__wildcard_meets(phi_str pattern, phi_str glob, phi__wildcard_hidden hidden);

/* The alternatives, one after the other: takes one off `rest`. False: there is none left. */
PHI__FN bool phi__wildcard_next(phi_str *rest, phi_str *alternative);

/* The words of a pattern, likewise. */
PHI__FN bool phi__wildcard_word(phi_str *rest, phi_str *word);

/* Whether it matches one text alone: it has no wildcards, or comes from phi__wildcard_quote. */
PHI__FN bool phi__wildcard_literal(phi_str pattern);

/* The pattern that matches this text alone. */
PHI__FN void phi__wildcard_quote(phi__buf *out, phi_str text);

#endif
