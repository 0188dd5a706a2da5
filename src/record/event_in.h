/* event_in.h - JSON of members that events and sessions share. */
#ifndef PHI_RECORD_EVENT_IN_H
#define PHI_RECORD_EVENT_IN_H

#include "base/base_in.h"
#include "model/event.h"
#include "text/json.h"

/* The state of reading a JSON tree into an arena. */
typedef struct phi__intake {
    phi_arena *arena;
    phi_parse_error *error;
    bool no_memory;
} phi__intake;

/* Allocates zeroed memory. If there is none, sets no_memory and returns NULL. */
PHI__FN void *phi__intake_alloc(phi__intake *r, size_t count, size_t bytes);

/* Allocates zeroed room for the items of a JSON array, and sets *count to their number. NULL if the
   array has no items, or there is no memory. */
PHI__FN void *phi__intake_list(phi__intake *r, const phi_json *array, size_t size, size_t *count);

/* Reads an array of strings. An item that is not a string becomes "". */
PHI__FN phi_str *phi__intake_ids(phi__intake *r, const phi_json *array, size_t *count);

/* Reads the object's array of messages under this key. PHI_PARSE: a message is invalid. */
PHI__FN phi_status phi__intake_messages(phi__intake *r, const phi_json *object, const char *key,
                                        const phi_message **out, size_t *count);

/* Returns the JSON text of a value. Empty for null. */
PHI__FN phi_str phi__intake_json(phi__intake *r, const phi_json *node);

/* phi__intake_bad sets the error and returns `status`. phi__intake_within puts `where` and the
   index (SIZE_MAX: no index) before the error's message if the status is PHI_PARSE. */
PHI__FN phi_status phi__intake_bad(phi__intake *r, phi_status status, const char *message);
PHI__FN phi_status phi__intake_within(phi__intake *r, phi_status status, const char *where,
                                      size_t index);

/* Returns the trigger's static name in JSON. "User" if the trigger is unknown. */
PHI__FN const char *phi__event_trigger(phi_trigger trigger);

/* Reads "triggered_by". PHI_TRIGGER_USER if it is missing or unknown. */
PHI__FN phi_trigger phi__event_get_trigger(const phi_json *node);

/* Write or read "continuation_kind", such as "Default" or {"Rerun":{"tag":".."}}. A missing or
   unknown kind is read as INITIAL. */
PHI__FN void phi__event_put_continuation(phi__buf *out, phi_continuation kind, phi_str tag);
PHI__FN phi_continuation phi__event_get_continuation(const phi_json *node, phi_str *tag);

#endif
