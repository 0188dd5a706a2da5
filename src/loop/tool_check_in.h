/* tool_check_in.h - what the tools of an agent must fit. */
#ifndef PHI_LOOP_TOOL_CHECK_IN_H
#define PHI_LOOP_TOOL_CHECK_IN_H

#include "loop/provider.h"
#include "loop/tool.h"
#include "text/json.h"
#include "wire/codec_in.h"

/* Who is sent their names, and whether a hook can allow a call. */
typedef struct phi__tool_rules {
    const phi__codec *codec; /* NULL: a provider of the host's, which takes any name */
    bool can_approve;
} phi__tool_rules;

/* The rules of an agent with that provider of its own (or NULL) and model. */
PHI__FN phi__tool_rules phi__tool_check_rules(const phi_runtime *rt, const phi_provider *own,
                                              const phi_model *model, bool can_approve);
/* PHI_OK, or phi_last_error says which tool is at fault, and why: one that has a name, but for the
   rules about it; names alone, which another model may not take; all of a list. */
PHI__FN phi_status phi__tool_check_one(phi_runtime *rt, const phi__tool_rules *rules,
                                       const phi_tool *tool);
PHI__FN phi_status phi__tool_check_names(phi_runtime *rt, const phi__tool_rules *rules,
                                         const phi_tool *tools, size_t count);
PHI__FN phi_status phi__tool_check_all(phi_runtime *rt, const phi__tool_rules *rules,
                                       const phi_tool *tools, size_t count);
/* JSON text of an object, for the list of tools; `what` names the field. */
PHI__FN phi_status phi__tool_check_raw(phi_runtime *rt, const char *what, const char *json);
/* Every provider wants a schema to describe an object, by properties that are schemas. True when
   this one does not: `out` then has the place and the words. */
PHI__FN bool phi__tool_check_schema_fault(const phi_json *schema, char *out, size_t size);

#endif
