/* toolset_in.h - a list of tools: an agent's, or those of one request. */
#ifndef PHI_LOOP_TOOLSET_IN_H
#define PHI_LOOP_TOOLSET_IN_H

#include "base/arena.h"
#include "loop/provider.h"
#include "loop/tool.h"
#include "loop/tool_source.h"
#include "loop/types_in.h"
#include "model/tokens.h"
#include "text/json.h"
#include "wire/codec_in.h"

typedef struct phi__tool_sources phi__tool_sources;

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

typedef struct phi__toolset {
    phi_arena arena; /* the lists, and what strict schemas were made into */
    phi_tool *tools;
    phi__tool_view *views; /* in the form that requests use */
    size_t count;
    size_t own;          /* the first so many: not from a source (loop/tool_sources_in.h) */
    bool has_lone;       /* one is not_concurrent */
    bool has_fields;     /* one has on_field */
    bool names_steps;    /* one has names_steps */
    bool has_raw;        /* one has raw */
    bool may_defer;      /* one has deferred or may_defer */
    uint64_t deferrable; /* deferral.c: the tokens of those, and one; 0: not counted */
    phi_token_counter counted_by;         /* ... by this counter */
    const struct phi__features *features; /* the runtime's */
    phi_tool *finders; /* room for deferral_in.h's two; NULL where nothing may be deferred */
} phi__toolset;

PHI__FN void phi__toolset_init(phi__toolset *set, phi_memory *memory,
                               const struct phi__features *features);
PHI__FN void phi__toolset_free(phi__toolset *set);

/* Replaces its tools by copies of these, which may be part of the old ones. timeout_ms: of tools
   that have none. False: no memory, and nothing changed. */
PHI__FN bool phi__toolset_take(phi__toolset *set, const phi_tool *tools, size_t count,
                               uint32_t timeout_ms);

/* Another default for the deadline of calls: tools that have the old one get the new one. */
PHI__FN void phi__toolset_retime(phi__toolset *set, uint32_t from_ms, uint32_t to_ms);

/* How a request differs from the set: a mark for each tool, and more tools after the set's. */
enum { PHI__TOOLSET_SHOWN = 0, PHI__TOOLSET_HIDDEN, PHI__TOOLSET_DEFERRED };

typedef struct phi__toolset_change {
    const uint8_t *marks; /* NULL: all are shown */
    const phi__tool_view *more;
    size_t more_count;
} phi__toolset_change;

/* The tools of a request to a protocol: those of the set as that protocol has them and as they are
   changed, then the raw tools that are for it. names: of its codec, else the model's own protocol
   alone. *views: in the arena. False: no memory. */
PHI__FN bool phi__toolset_offer(const phi__toolset *set, const phi__toolset_change *change,
                                const phi_raw_tool *raws, size_t raw_count,
                                const char *const names[PHI__CODEC_NAMES], phi_arena *arena,
                                const phi__tool_view **views, size_t *count);
PHI__FN const phi_tool *phi__toolset_find(const phi__toolset *set, phi_str name); /* NULL: none */

/* What tools must fit has changed: the next refresh checks all of them. */
PHI__FN void phi__tool_sources_recheck(phi__agent *agent);

/* By pointer: phi_feature_tool_sources names them. */
typedef struct phi__sources_ops {
    bool (*make)(phi__agent *agent, const phi_tool_source *const *sources, size_t count);
    phi_status (*refresh)(phi__agent *agent, bool quiet);
    phi_status (*own)(phi__agent *agent, const phi_tool *tools, size_t count);
    void (*free)(phi__agent *agent);
} phi__sources_ops;

PHI__FN const phi__sources_ops *phi__tool_sources_ops(void);

#endif
