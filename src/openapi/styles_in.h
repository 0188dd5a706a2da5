/* styles_in.h - writes the values of parameters as OpenAPI's styles and RFC 6570 have them: pure
   functions from JSON to text.

   Bytes outside of RFC 3986's unreserved set become %XX in upper case. Null values and members are
   left out; an array or object inside of another one is written as JSON text, but for deepObject.
   What a style does not define is as follows: empty arrays and objects of a query write nothing;
   deepObject writes items of arrays by their index, "name[0]". */
#ifndef PHI_OPENAPI_STYLES_IN_H
#define PHI_OPENAPI_STYLES_IN_H

#include "base/buf_in.h"
#include "openapi/operation_in.h"

/* Names that are repeated for each item could make terabytes of a few megabytes: a text that grows
   beyond this fails as if there were no memory. */
enum { PHI__STYLES_MOST = 16 << 20 };

typedef enum phi__styles_escape {
    PHI__ESCAPE_ALL,      /* all but the unreserved */
    PHI__ESCAPE_RESERVED, /* allowReserved: those stay that delimit nothing in a query */
    PHI__ESCAPE_COOKIE,   /* the octets of a cookie stay, but for "%" and the comma */
    PHI__ESCAPE_NONE      /* headers */
} phi__styles_escape;

PHI__FN void phi__styles_put_escaped(phi__buf *out, phi_str text, phi__styles_escape how);
/* A string as it is, all else as JSON text. */
PHI__FN void phi__styles_put_value(phi__buf *out, const phi_json *value, phi__styles_escape how);

/* The text that replaces "{name}" in the path. */
PHI__FN void phi__styles_put_path(phi__buf *out, const phi__operation_parameter *p,
                                  const phi_json *value);
/* The value of a header, unescaped: check it before it is sent. */
PHI__FN void phi__styles_put_header(phi__buf *out, const phi__operation_parameter *p,
                                    const phi_json *value);
/* Appends "name=value" pairs, behind `between` where `out` is not empty. */
PHI__FN void phi__styles_put_pairs(phi__buf *out, const phi__operation_parameter *p,
                                   const phi_json *value);

#endif
