/* toolset_in.h - a list of tools: an agent's, or those of one request. */
#ifndef PHI_LOOP_TOOLSET_IN_H
#define PHI_LOOP_TOOLSET_IN_H

#include "base/arena.h"
#include "loop/tool.h"
#include "model/tokens.h"
#include "wire/codec_in.h"

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
PHI__FN const char *phi__toolset_schema(const phi_tool *tool); /* or that of any object */
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

#endif
