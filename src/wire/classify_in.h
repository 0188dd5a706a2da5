/* classify_in.h - classifies errors that arrive inside of an answer, as HTTP errors are. */
#ifndef PHI_WIRE_CLASSIFY_IN_H
#define PHI_WIRE_CLASSIFY_IN_H

#include "base/base_in.h"
#include "wire/assembly_in.h"

/* The value of a header, case-insensitively; empty when absent. */
PHI__FN phi_str phi__headers_value(phi_str headers, const char *name);

/* Fails the assembly by the JSON of an error event, or of a body that came with 200. What its words
   do not say is a failure of the server. */
PHI__FN void phi__classify_event(phi__assembly *a, phi_str json);

/* The same of a body that came with 200 and is no answer: a proxy's page, an error, or garbage. */
PHI__FN void phi__classify_body(phi__assembly *a, phi_str body);

/* Takes the value of a member "error"; true, and *raw its JSON: it is an error. null, false and
   empty values are none. */
PHI__FN bool phi__classify_take_error(phi__json_cursor *c, phi_str *raw);

/* The same for a table of members: a bool, whether it is an error. */
PHI__FN void phi__classify_take_flag(phi__json_cursor *c, void *is_error);

/* An event that is no JSON, and not the last one. */
PHI__FN void phi__classify_bad_event(phi__assembly *a);

/* A stop word that means an error. */
PHI__FN void phi__classify_stop(phi__assembly *a, phi_failure_kind kind, bool retryable,
                                phi_str word);

/* The end of a stream that did not end as its protocol says. */
PHI__FN void phi__classify_truncated(phi__assembly *a, bool heard);

#endif
