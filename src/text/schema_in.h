/* schema_in.h - shared by the checks of values and of schemas: paths, messages, work limit. */
#ifndef PHI_TEXT_SCHEMA_IN_H
#define PHI_TEXT_SCHEMA_IN_H

#include "text/json_in.h"
#include "text/schema.h"

#ifndef PHI_NO_SCHEMA

#define PHI__SCHEMA_DEPTH 256u     /* schemas within schemas, references followed */
#define PHI__SCHEMA_WORK 16000000u /* members visited; some tenths of a second */

typedef struct phi__schema {
    const phi_json *root;
    phi_schema_error *error; /* NULL: no words wanted */
    size_t len;              /* of the message */
    char place[128];         /* arguments.list[2].name, cut where it is longer */
    size_t place_len;
    uint32_t depth, quiet, work;
    phi_status status; /* of faults that are no mismatch */
} phi__schema;

PHI__FN void phi__schema_words_put(phi__schema *c, phi_str text);
PHI__FN void phi__schema_words_text(phi__schema *c, const char *text);
/* Begins a message; false: no message is needed. */
PHI__FN bool phi__schema_words_say(phi__schema *c, const char *text);
PHI__FN void phi__schema_words_quote(phi__schema *c, phi_str text);
PHI__FN void phi__schema_words_number(phi__schema *c, const phi_json *node);
PHI__FN void phi__schema_words_value(phi__schema *c, const phi_json *node);
/* "a, b or c", or "a, b, c" */
PHI__FN void phi__schema_words_list(phi__schema *c, const phi_json *list, bool quoted);
PHI__FN size_t phi__schema_words_into(phi__schema *c, const char *before, phi_str name,
                                      const char *after);
PHI__FN size_t phi__schema_words_into_item(phi__schema *c, size_t index);
PHI__FN bool phi__schema_words_spend(phi__schema *c, size_t work);
PHI__FN bool phi__schema_words_enter(phi__schema *c, const phi_json *schema);
/* What "#" or "#/a/b" names in this schema; NULL: nothing, or it is elsewhere. */
PHI__FN const phi_json *phi__schema_words_target(phi__schema *c, phi_str ref);

#endif
#endif
