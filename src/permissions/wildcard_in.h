/* wildcard_in.h - patterns of rules: *, ?, sets, and alternatives. Time is bounded by the pattern
   times the text, for paths times the text once more. */
#ifndef PHI_PERMISSIONS_WILDCARD_IN_H
#define PHI_PERMISSIONS_WILDCARD_IN_H

#include "permissions/permissions_in.h"
#include "base/base_in.h"

/* What ** of a glob does about hidden files. */
typedef enum phi__wild_hidden {
    PHI__WILD_SEEN = 0, /* it matches their names, but enters few hidden directories */
    PHI__WILD_LEFT_OUT, /* it matches no leading dot */
    PHI__WILD_ENTERED   /* it matches files in hidden directories, too */
} phi__wild_hidden;

/* True if one of the alternatives matches all of the text. path: * and ? do not match a slash, **
   does, and a pattern that ends in a slash and ** matches the directory itself, too. */
PHI__FN bool phi__wild_any(phi_str pattern, phi_str text, bool path);

/* True if a text is one of these names; they are a pattern without paths. */
PHI__FN bool phi__among(phi_str text, const char *names);

/* True if a file that the shell's pattern `glob` finds may match `pattern`, as a path. In doubt it
   may. A * of the glob matches neither a slash nor a leading dot; ** matches both, but goes into no
   hidden directory if the pattern begins with **, unless these are entered and the pattern does not
   end in a star. */
PHI__FN bool phi__wild_meets(phi_str pattern, phi_str glob, phi__wild_hidden hidden);

/* The alternatives, one after the other: takes one off `rest`. False: there is none left. */
PHI__FN bool phi__wild_next(phi_str *rest, phi_str *alternative);

/* The words of a pattern, likewise. */
PHI__FN bool phi__wild_word(phi_str *rest, phi_str *word);

/* True if it matches one text alone: it has no wildcards, or comes from phi__wild_quote. */
PHI__FN bool phi__wild_literal(phi_str pattern);

/* The pattern that matches this text alone. */
PHI__FN void phi__wild_quote(phi__buf *out, phi_str text);

#endif
