/* schema_in.h - shared by the checks of values and of schemas: paths, messages, work limit; and a
   check that may take memory. */
#ifndef PHI_TEXT_SCHEMA_IN_H
#define PHI_TEXT_SCHEMA_IN_H

#include "base/map_in.h"
#include "text/json_in.h"
#include "text/schema.h"

/* As phi_schema_check, but linear in objects of any size: their names are looked up in a table.
   Where memory is short the work is that of phi_schema_check. */
PHI__FN phi_status phi__schema_check(phi_memory *memory, const phi_json *schema,
                                     const phi_json *value, const char *name,
                                     phi_schema_error *error);

/* PHI_OK: the schema is well formed and all of it is understood. PHI_UNSUPPORTED: a keyword that
   restricts and is not understood, as in schema.properties.path: "pattern" is not supported;
   PHI_PARSE: malformed; PHI_TOO_BIG: nested too deeply. */
PHI__FN phi_status phi__schema_valid(const phi_json *schema, phi_schema_error *error);

#define PHI__SCHEMA_DEPTH 256u     /* schemas within schemas, references followed */
#define PHI__SCHEMA_WORK 16000000u /* members looked at; docs/limits.md names it */
#define PHI__SCHEMA_VISIT 16u      /* the work of a keyword of a schema that is applied */
#define PHI__SCHEMA_MEMO 256u      /* results that are remembered; a power of two */
#define PHI__SCHEMA_REFS 32u       /* references that are; a power of two */
#define PHI__SCHEMA_SMALL 16u      /* members or units of work that are not worth remembering */

/* A value that was held against a schema. A newer one may take its place. */
typedef struct phi__schema_memo {
    const phi_json *schema, *value;
    bool fits;
} phi__schema_memo;

typedef struct phi__schema_ref {
    const char *ref;
    const phi_json *target;
} phi__schema_ref;

typedef struct phi__schema {
    const phi_json *root;
    phi_schema_error *error; /* NULL: no words wanted */
    size_t len;              /* of the message */
    char place[128];         /* arguments.list[2].name, cut where it is longer */
    size_t place_len;
    uint32_t depth, quiet, work;
    phi_status status; /* of faults that are no mismatch */
    phi__map names;    /* of members of large objects; memory NULL: there is none */
    phi__schema_memo memo[PHI__SCHEMA_MEMO];
    phi__schema_ref refs[PHI__SCHEMA_REFS];
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
/* The member of an object, as phi__json_get_n finds it; NULL: none, or too much work. */
PHI__FN const phi_json *phi__schema_words_member(phi__schema *c, const phi_json *object,
                                                 phi_str key);
/* What "#" or "#/a/b" names in this schema; NULL: nothing, or it is elsewhere. */
PHI__FN const phi_json *phi__schema_words_target(phi__schema *c, phi_str ref);

#endif
