/* tool_sources.c - the tool sources of an agent: their lists are taken and given back, and tools
   that fit stand in its toolset behind its own.

   An exchange makes everything anew beside the old: lists, verdicts, the toolset. Only when nothing
   can fail any more does it take the place of the old, whose lists are given back last. */
#include "loop/tool_sources_in.h"

#include "base/map_in.h"
#include "base/utf8_in.h"
#include "loop/loop_in.h"
#include "loop/tool_check_in.h"
#include "wire/hash_in.h"
#include "wire/structured.h"

#include <stdio.h>

enum {
    PHI__TOOL_SOURCES_NAME = 80,    /* bytes of a name in events */
    PHI__TOOL_SOURCES_TEXT = 2048,  /* bytes of PHI_EV_TOOLS_CHANGED; then the others are counted */
    PHI__TOOL_SOURCES_WORDS = 320,  /* all that phi_last_error has */
    PHI__TOOL_SOURCES_WARNINGS = 16 /* of tools left out, an exchange; then they are counted */
};

/* A list that was taken. */
typedef struct phi__tool_list {
    const phi_tool *tools;
    size_t count;
    bool taken;
    bool fresh;    /* of an exchange under way: it is not the one that the agent has */
    char *refused; /* of each tool, whether the agent cannot have it */
} phi__tool_list;

typedef struct phi__tool_place {
    const phi_tool_source *source;
    uint64_t version, seen; /* of the list that the agent has; asked for last */
    bool known;             /* there is a version */
    phi__tool_list list, next;
} phi__tool_place;

struct phi__tool_sources {
    phi__tool_place *places;
    size_t count;
    bool recheck;
};

/* An exchange under way. */
typedef struct phi__tool_exchange {
    phi__agent *agent;
    phi__tool_rules rules;
    phi_arena arena;
    const phi_tool *own;
    size_t own_count;
    phi_tool *all; /* own, then those of the sources */
    size_t count;
    phi__map before, after; /* tools of sources by their names: phi_tool */
    phi__buf text;          /* tools added and removed */
    size_t unsaid;          /* names that the text has no room for */
    size_t left_out;        /* tools that the agent does not get, and was warned of or not */
} phi__tool_exchange;

/* ---- lists ---- */

static void phi__tool_sources_give_back(phi__agent *agent, const phi_tool_source *source,
                                        phi__tool_list *list) {
    if (list->taken && source->release != NULL) source->release(source->user_data, list->tools);
    phi__free(&agent->memory, list->refused, list->count);
    memset(list, 0, sizeof *list);
}

static void phi__tool_sources_warn(phi__agent *agent, const char *words) {
    phi_event event;
    memset(&event, 0, sizeof event);
    event.kind = PHI_EV_WARNING;
    event.text = phi_str_of(words);
    (void)phi__events_emit(agent, &event, NULL, 0);
}

static void phi__tool_sources_leave_out(phi__tool_exchange *x, const char *words) {
    if (x->left_out++ < PHI__TOOL_SOURCES_WARNINGS) phi__tool_sources_warn(x->agent, words);
}

static void phi__tool_sources_count_left(const phi__tool_exchange *x) {
    char words[60];
    if (x->left_out <= PHI__TOOL_SOURCES_WARNINGS) return;
    (void)snprintf(words, sizeof words, "%u more tools were left out",
                   (unsigned)(x->left_out - PHI__TOOL_SOURCES_WARNINGS));
    phi__tool_sources_warn(x->agent, words);
}

/* What phi_last_error says, which stays the host's. */
static phi_status phi__tool_sources_judge(phi__tool_exchange *x, const phi_tool *tool) {
    phi_runtime *rt = x->agent->rt;
    phi__last_error kept = rt->last_error;
    char words[PHI__TOOL_SOURCES_WORDS + 40];
    const char *said = "";
    phi_status status;
    if (tool->name == NULL || tool->name[0] == '\0')
        status = phi__error(rt, PHI_BAD_ARG, "a tool without a name");
    else if (strcmp(tool->name, PHI_RESPOND_TOOL) == 0)
        status = phi__error(rt, PHI_BAD_ARG, "tool \"" PHI_RESPOND_TOOL "\": the name is reserved");
    else
        status = phi__tool_check_names(rt, &x->rules, tool, 1);
    if (status == PHI_OK) status = phi__tool_check_one(rt, &x->rules, tool);
    if (status != PHI_OK && status != PHI_NO_MEMORY) {
        (void)phi__error_last(rt, &said);
        (void)snprintf(words, sizeof words, "A tool was left out: %s", said);
        phi__tool_sources_leave_out(x, words);
    }
    rt->last_error = kept;
    return status;
}

static bool phi__tool_sources_judge_all(phi__tool_exchange *x, phi__tool_list *list) {
    size_t i;
    for (i = 0; i < list->count; i++) {
        phi_status status = phi__tool_sources_judge(x, &list->tools[i]);
        if (status == PHI_NO_MEMORY) return false;
        list->refused[i] = status != PHI_OK;
    }
    return true;
}

/* The list as it is now, beside the old one; a source that fails keeps that. False: no memory. */
static bool phi__tool_sources_take(phi__tool_exchange *x, phi__tool_place *place) {
    const phi_tool_source *source = place->source;
    phi__tool_list *next = &place->next;
    char words[120];
    phi_status status = source->take(source->user_data, &next->tools, &next->count);
    if (status == PHI_OK) {
        next->taken = next->fresh = true;
        if (next->tools == NULL) next->count = 0;
        if (next->count == 0) return true;
        next->refused = (char *)phi__alloc(&x->agent->memory, next->count);
        return next->refused != NULL && phi__tool_sources_judge_all(x, next);
    }
    memset(next, 0, sizeof *next);
    if (status == PHI_NO_MEMORY) return false;
    (void)snprintf(words, sizeof words, "A tool source gave no list: %s", phi_status_text(status));
    phi__tool_sources_warn(x->agent, words);
    return true;
}

/* ---- one toolset of all ---- */

static const phi__tool_list *phi__tool_sources_of(const phi__tool_place *place) {
    return place->next.fresh ? &place->next : &place->list;
}

static const phi_tool *phi__tool_sources_find(const phi__map *map, const char *name) {
    size_t probe = 0;
    const phi_tool *tool;
    uint64_t hash = phi__hash(phi_str_of(name), 0);
    while ((tool = (const phi_tool *)phi__map_each(map, hash, &probe)) != NULL)
        if (strcmp(tool->name, name) == 0) return tool;
    return NULL;
}

static bool phi__tool_sources_index(phi__map *map, const phi_tool *tool) {
    if (!phi__map_room(map)) return false;
    phi__map_add(map, phi__hash(phi_str_of(tool->name), 0), (void *)(uintptr_t)tool);
    return true;
}

/* False: no memory. */
static bool phi__tool_sources_add(phi__tool_exchange *x, const phi_tool *tool, bool fresh) {
    char words[200];
    if (phi__tool_sources_find(&x->after, tool->name) == NULL) {
        x->all[x->count] = *tool;
        return phi__tool_sources_index(&x->after, &x->all[x->count++]);
    }
    (void)snprintf(words, sizeof words, "A tool was left out: there is another one named \"%.*s\"",
                   (int)phi__utf8_cut(phi_str_of(tool->name), PHI__TOOL_SOURCES_NAME), tool->name);
    if (fresh) phi__tool_sources_leave_out(x, words);
    return true;
}

static bool phi__tool_sources_combine(phi__tool_exchange *x) {
    const phi__tool_sources *sources = x->agent->sources;
    size_t most = x->own_count, i, j;
    for (i = 0; i < sources->count; i++)
        most = phi__add(most, phi__tool_sources_of(&sources->places[i])->count);
    x->all = (phi_tool *)phi_arena_alloc(&x->arena, phi__mul(phi__max(most, 1), sizeof *x->all));
    if (x->all == NULL) return false;
    for (i = 0; i < x->own_count; i++)
        if (!phi__tool_sources_add(x, &x->own[i], false)) return false;
    for (i = 0; i < sources->count; i++) {
        const phi__tool_list *list = phi__tool_sources_of(&sources->places[i]);
        for (j = 0; j < list->count; j++)
            if (list->refused[j] == 0 && !phi__tool_sources_add(x, &list->tools[j], list->fresh))
                return false;
    }
    return true;
}

/* ---- tools added and removed ---- */

static void phi__tool_sources_say(phi__tool_exchange *x, char sign, const char *name) {
    size_t len = phi__utf8_cut(phi_str_of(name), PHI__TOOL_SOURCES_NAME);
    if (x->unsaid > 0 || x->text.len + len + 2 > PHI__TOOL_SOURCES_TEXT) {
        x->unsaid++;
        return;
    }
    if (x->text.len > 0) phi__buf_char(&x->text, ' ');
    phi__buf_char(&x->text, sign);
    phi__buf_add_str(&x->text, phi__str(name, len));
}

static bool phi__tool_sources_differ(const char *a, const char *b) {
    return strcmp(a != NULL ? a : "", b != NULL ? b : "") != 0;
}

static bool phi__tool_sources_compare(phi__tool_exchange *x) {
    const phi__toolset *set = &x->agent->toolset;
    const phi_tool *tool, *other;
    size_t i;
    for (i = set->own; i < set->count; i++)
        if (!phi__tool_sources_index(&x->before, &set->tools[i])) return false;
    for (i = x->own_count; i < x->count; i++)
        if (phi__tool_sources_find(&x->before, x->all[i].name) == NULL)
            phi__tool_sources_say(x, '+', x->all[i].name);
    for (i = set->own; i < set->count; i++)
        if (phi__tool_sources_find(&x->after, set->tools[i].name) == NULL)
            phi__tool_sources_say(x, '-', set->tools[i].name);
    for (i = x->own_count; i < x->count; i++) {
        tool = &x->all[i];
        other = phi__tool_sources_find(&x->before, tool->name);
        if (other != NULL && (phi__tool_sources_differ(tool->description, other->description) ||
                              phi__tool_sources_differ(phi__toolset_schema(tool), other->schema)))
            phi__tool_sources_say(x, '~', tool->name);
    }
    if (x->unsaid > 0) phi__buf_printf(&x->text, " and %u more", (unsigned)x->unsaid);
    return !x->text.failed;
}

/* ---- the exchange ---- */

static void phi__tool_sources_begin(phi__tool_exchange *x, phi__agent *agent, const phi_tool *own,
                                    size_t own_count) {
    memset(x, 0, sizeof *x);
    x->agent = agent;
    x->rules = phi__tool_check_rules(agent->rt, agent->desc.provider, &agent->desc.model,
                                     phi__hooks_wanted(agent, PHI_HOOK_BEFORE_TOOL));
    x->own = own;
    x->own_count = own_count;
    phi_arena_init(&x->arena, &agent->memory, 0);
    phi__map_init(&x->before, &agent->memory);
    phi__map_init(&x->after, &agent->memory);
    phi__buf_init(&x->text, &agent->memory);
}

static void phi__tool_sources_end(phi__tool_exchange *x) {
    phi__buf_free(&x->text);
    phi__map_free(&x->before);
    phi__map_free(&x->after);
    phi_arena_free(&x->arena);
}

static bool phi__tool_sources_prepare(phi__tool_exchange *x) {
    phi__tool_sources *sources = x->agent->sources;
    size_t i;
    for (i = 0; i < sources->count; i++) {
        phi__tool_place *place = &sources->places[i];
        if (!place->known || place->seen != place->version) {
            if (!phi__tool_sources_take(x, place)) return false;
        }
        if (sources->recheck && !place->next.fresh && place->list.count > 0 &&
            !phi__tool_sources_judge_all(x, &place->list))
            return false;
    }
    if (!phi__tool_sources_combine(x) || !phi__tool_sources_compare(x)) return false;
    phi__tool_sources_count_left(x);
    return true;
}

/* The new lists take the place of the old, or, where it came to nothing, are given back. */
static void phi__tool_sources_settle(phi__agent *agent, bool good) {
    phi__tool_sources *sources = agent->sources;
    size_t i;
    for (i = 0; i < sources->count; i++) {
        phi__tool_place *place = &sources->places[i];
        phi__tool_list old = place->list;
        if (good) {
            place->version = place->seen;
            place->known = true;
        }
        if (!place->next.fresh) continue;
        place->next.fresh = false;
        if (good)
            place->list = place->next;
        else
            old = place->next;
        memset(&place->next, 0, sizeof place->next);
        phi__tool_sources_give_back(agent, place->source, &old);
    }
    if (good) sources->recheck = false;
}

static bool phi__tool_sources_emit(const phi__tool_exchange *x) {
    phi_event event;
    if (x->text.len == 0) return true;
    memset(&event, 0, sizeof event);
    event.kind = PHI_EV_TOOLS_CHANGED;
    event.text = phi__buf_str(&x->text);
    return phi__events_emit(x->agent, &event, NULL, 0);
}

/* The event comes last of all that may fail. */
static bool phi__tool_sources_install(phi__tool_exchange *x, bool quiet) {
    phi__toolset *set = &x->agent->toolset, made;
    bool stood = set->has_fields || set->names_steps;
    phi__toolset_init(&made, &x->agent->memory, set->features);
    if (!phi__toolset_take(&made, x->all, x->count, x->agent->desc.tool_options.timeout_ms))
        return false;
    if (!quiet && !phi__tool_sources_emit(x)) {
        phi__toolset_free(&made);
        return false;
    }
    phi__toolset_free(set);
    *set = made;
    set->own = x->own_count;
    phi__feature_agent(x->agent, PHI__POINT_CHANGED);
    if (x->agent->run != NULL && !stood && (set->has_fields || set->names_steps))
        phi__feature_begin(x->agent->run); /* features that had nothing to do before */
    return true;
}

static phi_status phi__tool_sources_exchange(phi__tool_exchange *x, bool quiet) {
    phi__agent *agent = x->agent;
    bool good = phi__tool_sources_prepare(x) && phi__tool_sources_install(x, quiet);
    phi__tool_sources_settle(agent, good);
    phi__tool_sources_end(x);
    return good ? PHI_OK : PHI_NO_MEMORY;
}

/* ---- for others ---- */

PHI__FN bool phi__tool_sources_make(phi__agent *agent, const phi_tool_source *const *given,
                                    size_t count) {
    phi__tool_sources *sources;
    const phi_tool_source **copy;
    size_t i;
    if (count == 0) return true;
    copy = (const phi_tool_source **)phi_arena_alloc(&agent->arena, phi__mul(count, sizeof *copy));
    sources = (phi__tool_sources *)phi__arena_zero(&agent->arena, sizeof *sources);
    if (copy == NULL || sources == NULL) return false;
    sources->places =
        (phi__tool_place *)phi__arena_zero(&agent->arena, phi__mul(count, sizeof *sources->places));
    if (sources->places == NULL) return false;
    for (i = 0; i < count; i++) sources->places[i].source = copy[i] = given[i];
    sources->count = count;
    agent->sources = sources;
    agent->desc.tool_options.sources = copy;
    agent->desc.tool_options.source_count = count;
    return true;
}

PHI__FN phi_status phi__tool_sources_refresh(phi__agent *agent, bool quiet) {
    phi__tool_sources *sources = agent->sources;
    phi__tool_exchange x;
    bool changed = sources->recheck;
    size_t i;
    for (i = 0; i < sources->count; i++) {
        phi__tool_place *place = &sources->places[i];
        place->seen = place->source->version(place->source->user_data);
        changed = changed || !place->known || place->seen != place->version;
    }
    if (!changed) return PHI_OK;
    phi__tool_sources_begin(&x, agent, agent->toolset.tools, agent->toolset.own);
    return phi__tool_sources_exchange(&x, quiet);
}

/* Lists stay as they are: no source is asked. */
PHI__FN phi_status phi__tool_sources_own(phi__agent *agent, const phi_tool *tools, size_t count) {
    phi__tool_sources *sources = agent->sources;
    phi__tool_exchange x;
    size_t i;
    for (i = 0; i < sources->count; i++) sources->places[i].seen = sources->places[i].version;
    phi__tool_sources_begin(&x, agent, tools, count);
    return phi__tool_sources_exchange(&x, false);
}

PHI__FN void phi__tool_sources_recheck(phi__agent *agent) {
    if (agent->sources != NULL) agent->sources->recheck = true;
}

PHI__FN void phi__tool_sources_free(phi__agent *agent) {
    phi__tool_sources *sources = agent->sources;
    size_t i;
    for (i = 0; sources != NULL && i < sources->count; i++)
        phi__tool_sources_give_back(agent, sources->places[i].source, &sources->places[i].list);
}

PHI__FN const phi__sources_ops *phi__tool_sources_ops(void) {
    static const phi__sources_ops all = {phi__tool_sources_make, phi__tool_sources_refresh,
                                         phi__tool_sources_own, phi__tool_sources_free};
    return &all;
}
