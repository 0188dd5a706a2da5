/* event_in.h - members that events and sessions share, as JSON. */
#ifndef PHI_RECORD_EVENT_IN_H
#define PHI_RECORD_EVENT_IN_H

#include "base/base_in.h"
#include "model/event.h"
#include "text/json.h"

/* A tree that is read into an arena. */
typedef struct phi__intake {
    phi_arena *arena;
    phi_parse_error *error;
    bool no_memory;
} phi__intake;

/* Zeroed; NULL: no memory, which is noted. */
PHI__FN void *phi__intake_alloc(phi__intake *r, size_t count, size_t bytes);

/* Room for the items of an array, and how many; NULL and 0: it has none, or no memory. */
PHI__FN void *phi__intake_list(phi__intake *r, const phi_json *array, size_t size, size_t *count);

/* The strings of an array; anything else among them is empty. */
PHI__FN phi_str *phi__intake_ids(phi__intake *r, const phi_json *array, size_t *count);

/* JSON text of a value; null is nothing. */
PHI__FN phi_str phi__intake_json(phi__intake *r, const phi_json *node);

/* Sets the error, and returns its status; puts the place before the message of a PHI_PARSE (index
   SIZE_MAX: of no list). */
PHI__FN phi_status phi__intake_bad(phi__intake *r, phi_status status, const char *message);
PHI__FN phi_status phi__intake_within(phi__intake *r, phi_status status, const char *where,
                                      size_t index);

/* The word in JSON, static; an unknown trigger is "User". */
PHI__FN const char *phi__event_trigger(phi_trigger trigger);

/* Reads "triggered_by" of an object; missing or unknown: a user. */
PHI__FN phi_trigger phi__event_get_trigger(const phi_json *node);

/* An array of strings. */
PHI__FN void phi__event_put_ids(phi__buf *out, const char *key, const phi_str *ids, size_t count);

/* "continuation_kind": "Default", or {"Rerun":{"tag":".."}}. Read: missing or null is INITIAL. */
PHI__FN void phi__event_put_continuation(phi__buf *out, phi_continuation kind, phi_str tag);
PHI__FN phi_continuation phi__event_get_continuation(const phi_json *node, phi_str *tag);

#endif
