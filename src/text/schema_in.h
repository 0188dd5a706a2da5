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

#endif
