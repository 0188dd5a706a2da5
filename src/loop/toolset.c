/* toolset.c - a list of tools: an agent's, or those of one request. */
#include "loop/toolset_in.h"

#include "loop/loop_in.h"

enum { PHI__TOOLSET_BLOCK = 512 }; /* bytes; a handful of tools */

PHI__FN void phi__toolset_init(phi__toolset *set, phi_memory *memory,
                               const phi__features *features) {
    memset(set, 0, sizeof *set);
    set->features = features;
    phi_arena_init(&set->arena, memory, PHI__TOOLSET_BLOCK);
}

PHI__FN void phi__toolset_free(phi__toolset *set) { phi_arena_free(&set->arena); }

static const char phi__toolset_any[] = "{\"type\":\"object\",\"properties\":{}}";

PHI__FN const char *phi__toolset_schema(const phi_tool *tool) {
    return tool->schema != NULL ? tool->schema : phi__toolset_any;
}

/* One of them, with its defaults. */
static void phi__toolset_put(phi__toolset *set, size_t i, const phi_tool *given,
                             uint32_t timeout_ms) {
    phi_tool *tool = &set->tools[i];
    phi__tool_view *view = &set->views[i];
    *tool = *given;
    if (tool->timeout_ms == 0) tool->timeout_ms = timeout_ms;
    if (tool->schema == NULL) {
        tool->schema = phi__toolset_schema(tool);
    }
    view->name = phi_str_of(tool->name);
    view->description = phi_str_of(tool->description);
    view->schema = phi_str_of(tool->schema);
    view->strict = tool->strict ? set->features->formats : NULL;
    view->is_raw = false;
    view->raw = phi__str(NULL, 0);
    view->deferred = false;
    view->adapted = NULL;
    set->has_lone = set->has_lone || tool->not_concurrent;
    set->has_fields = set->has_fields || tool->on_field != NULL;
    set->names_steps = set->names_steps || tool->names_steps;
    set->has_raw = set->has_raw || tool->raw != NULL;
    set->may_defer =
        set->may_defer || tool->deferred || (tool->may_defer && set->features->deferral != NULL);
}

/* ---- raw tools ---- */

/* A tool with `raw`, as one protocol has it. False: that protocol does not get it. */
static bool phi__toolset_offer_one(const phi_tool *tool, const char *const *names,
                                   phi__tool_view *view) {
    if (tool->raw == NULL) return true;
    if (!phi__codec_is(names, phi_str_of(tool->raw_protocol)))
        return tool->schema != NULL && tool->schema != phi__toolset_any;
    view->is_raw = true;
    view->raw = phi_str_of(tool->raw);
    return view->raw.len > 0;
}

PHI__FN bool phi__toolset_offer(const phi__toolset *set, const phi__toolset_change *change,
                                const phi_raw_tool *raws, size_t raw_count,
                                const char *const names[PHI__CODEC_NAMES], phi_arena *arena,
                                const phi__tool_view **views, size_t *count) {
    phi__tool_view *made;
    size_t i, n = 0, most = phi__add(phi__add(set->count, change->more_count), raw_count);
    *views = set->views;
    *count = set->count;
    if (!set->has_raw && most == set->count && change->marks == NULL) return true;
    made = (phi__tool_view *)phi_arena_alloc(arena, phi__mul(phi__max(most, 1), sizeof *made));
    if (made == NULL) return false;
    for (i = 0; i < set->count; i++) {
        uint8_t mark = change->marks != NULL ? change->marks[i] : (uint8_t)PHI__TOOLSET_SHOWN;
        if (mark == PHI__TOOLSET_HIDDEN) continue;
        made[n] = set->views[i];
        made[n].deferred = mark == PHI__TOOLSET_DEFERRED;
        if (phi__toolset_offer_one(&set->tools[i], names, &made[n])) n++;
    }
    for (i = 0; i < change->more_count; i++) made[n++] = change->more[i];
    for (i = 0; i < raw_count; i++) {
        if (!phi__codec_is(names, phi_str_of(raws[i].protocol))) continue;
        memset(&made[n], 0, sizeof made[n]);
        made[n].is_raw = true;
        made[n++].raw = phi_str_of(raws[i].json);
    }
    *views = made;
    *count = n;
    return true;
}

PHI__FN void phi__toolset_retime(phi__toolset *set, uint32_t from_ms, uint32_t to_ms) {
    size_t i;
    for (i = 0; i < set->count; i++)
        if (set->tools[i].timeout_ms == from_ms) set->tools[i].timeout_ms = to_ms;
    for (i = 0; set->finders != NULL && i < 2; i++) set->finders[i].timeout_ms = to_ms;
}

PHI__FN bool phi__toolset_take(phi__toolset *set, const phi_tool *tools, size_t count,
                               uint32_t timeout_ms) {
    phi__toolset made;
    size_t i;
    phi__toolset_init(&made, set->arena.memory, set->features);
    if (count > 0) {
        made.tools = (phi_tool *)phi_arena_alloc(&made.arena, phi__mul(count, sizeof *made.tools));
        made.views =
            (phi__tool_view *)phi_arena_alloc(&made.arena, phi__mul(count, sizeof *made.views));
        if (made.tools == NULL || made.views == NULL) {
            phi__toolset_free(&made);
            return false;
        }
    }
    made.count = made.own = count;
    for (i = 0; i < count; i++) phi__toolset_put(&made, i, &tools[i], timeout_ms);
    if (made.may_defer) {
        made.finders = (phi_tool *)phi__arena_zero(&made.arena, 2 * sizeof *made.finders);
        if (made.finders == NULL) {
            phi__toolset_free(&made);
            return false;
        }
        for (i = 0; i < 2; i++) made.finders[i].timeout_ms = timeout_ms;
    }
    phi__toolset_free(set); /* last: `tools` may be in it */
    *set = made;
    return true;
}

PHI__FN const phi_tool *phi__toolset_find(const phi__toolset *set, phi_str name) {
    size_t i;
    for (i = 0; i < set->count; i++)
        if (phi__str_is(name, set->tools[i].name)) return &set->tools[i];
    return NULL;
}

/* ---- those of a run, else its agent's ---- */

/* Results are named also in a run that cannot go back itself: a later one may. */
PHI__FN bool phi__toolset_take_run(phi__run *run, const phi_tool *tools, size_t count) {
    phi__agent *agent = run->agent;
    phi__toolset *set = (phi__toolset *)phi__alloc(&agent->memory, sizeof *set);
    if (set == NULL) return false;
    phi__toolset_init(set, &agent->memory, &agent->rt->features);
    run->own.toolset = agent->tools = set; /* phi__toolset_free_run frees it */
    if (!phi__toolset_take(set, tools, count, agent->desc.tool_options.timeout_ms)) return false;
    set->names_steps = set->names_steps || agent->toolset.names_steps;
    return true;
}

PHI__FN void phi__toolset_free_run(phi__run *run) {
    if (run->own.toolset == NULL) return;
    phi__toolset_free(run->own.toolset);
    phi__free(&run->agent->memory, run->own.toolset, sizeof *run->own.toolset);
    run->own.toolset = NULL;
    run->agent->tools = &run->agent->toolset;
}
