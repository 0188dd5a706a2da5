/* repair_in.h - calls of small models that are nearly right: their tool's name, their arguments.

   With PHI_QUIRK_REPAIR_CALLS, once an answer is whole: a name that fits one tool of the request
   becomes that tool's, and arguments that can be read in one way only become JSON. Anything else
   stays as it came, and the model gets an error. docs/local_models.md lists the
   faults. */
#ifndef PHI_WIRE_REPAIR_IN_H
#define PHI_WIRE_REPAIR_IN_H

#include "wire/codec_in.h"

/* The faults of a text that was to be a JSON object. */
enum {
    PHI__REPAIR_STRING = 1 << 0,  /* the object was inside a string */
    PHI__REPAIR_COMMA = 1 << 1,   /* a comma before a closing bracket */
    PHI__REPAIR_QUOTES = 1 << 2,  /* single quotes */
    PHI__REPAIR_PYTHON = 1 << 3,  /* True, False, None */
    PHI__REPAIR_KEYS = 1 << 4,    /* keys without quotes */
    PHI__REPAIR_OPEN = 1 << 5,    /* closing brackets were missing, at the end */
    PHI__REPAIR_CLOSED = 1 << 6,  /* there were too many, at the end */
    PHI__REPAIR_CONTROL = 1 << 7, /* a string had a raw line feed or another control character */
    PHI__REPAIR_ESCAPE = 1 << 8,  /* a string had an escape that JSON does not have */
    PHI__REPAIR_FENCE = 1 << 9,   /* a code fence around it */
    PHI__REPAIR_TWICE = 1 << 10,  /* it came twice, or after an empty one */
    PHI__REPAIR_WORDS = 1 << 11,  /* words came after it */
    PHI__REPAIR_NULL = 1 << 12,   /* null instead of it */
    PHI__REPAIR_BITS = 13
};

/* The place of the tool that a name means: the tool of that name, else the only one that it fits
   when case, '-' and '_' do not count, without a prefix ("functions.", "tools/", "default_api:")
   and without ":0" or "<|...|>" at its end. SIZE_MAX: none, or more than one. */
PHI__FN size_t phi__repair_tool(const phi__tool_view *tools, size_t count, phi_str name);
/* The tool of exactly that name, or SIZE_MAX. */
PHI__FN size_t phi__repair_tool_of(const phi__tool_view *tools, size_t count, phi_str name);

/* Appends the value at *at as JSON, and advances *at past it. False: it cannot be read in one way
   only, or memory ended (out->failed). *faults: bits are added. */
PHI__FN bool phi__repair_value(phi__buf *out, const char **at, const char *end, uint32_t *faults);
/* Appends the object that a text means, as JSON. False as above. *faults 0: it was JSON. */
PHI__FN bool phi__repair_object(phi__buf *out, phi_str text, uint32_t *faults);

/* Repairs the calls of an answer after phi__assembly_finish; draft->note lists the repairs. */
PHI__FN void phi__repair_calls(phi__assembly *a);

#endif
