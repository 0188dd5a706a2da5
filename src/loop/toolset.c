/* toolset.c - the tools of an agent or of one request, and the tool sources of an agent. */
#include "loop/inner_in.h"

#include "wire/structured.h"

#include <stdio.h>

/* ---- checks of tools ----

   A failed check describes the fault in phi_last_error, and changes nothing. */

PHI__FN bool phi__tool_check_schema_fault(const phi_json *schema, char *out, size_t size) {
    const phi_json *properties = phi_json_get(schema, "properties");
    phi_json_iter it = phi_json_each(properties);
    out[0] = '\0';
    if (!phi__str_is(phi_json_str(phi_json_get(schema, "type"), ""), "object"))
        (void)snprintf(out, size, ": expected an object with \"type\":\"object\"");
    else if (properties != NULL && !phi_json_is(properties, PHI_JSON_OBJECT))
        (void)snprintf(out, size, ".properties: expected an object, got %s",
                       phi__json_get_type_name(properties));
    else
        while (phi_json_next(&it) != NULL && out[0] == '\0')
            if (!phi_json_is(it.at, PHI_JSON_OBJECT) && !phi_json_is(it.at, PHI_JSON_BOOL))
                (void)snprintf(out, size, ".properties.%.*s: expected a schema, got %s",
                               (int)phi__min(it.key.len, 80), it.key.at,
                               phi__json_get_type_name(it.at));
    return out[0] != '\0';
}

PHI__FN phi_status phi__tool_check_raw(phi_runtime *rt, const char *what, const char *json) {
    phi_arena arena;
    phi_json *root = NULL;
    phi_parse_error parse;
    if (json == NULL || json[0] == '\0') return phi__error(rt, PHI_BAD_ARG, "%s is missing", what);
    phi_arena_init(&arena, &rt->memory, 512);
    phi_status status = phi_json_parse(&arena, phi_str_of(json), PHI_JSON_BORROW, &root, &parse);
    if (status == PHI_PARSE || status == PHI_TOO_BIG)
        status = phi__error(rt, PHI_BAD_ARG, "%s:%u:%u: %s", what, (unsigned)parse.line,
                            (unsigned)parse.column, parse.message);
    else if (status != PHI_OK)
        (void)phi__error(rt, status, "%s: %s", what, phi_status_text(status));
    else if (!phi_json_is(root, PHI_JSON_OBJECT))
        status = phi__error(rt, PHI_BAD_ARG, "%s: expected a JSON object, got %s", what,
                            phi__json_get_type_name(root));
    else if (phi__utf8_valid(phi_str_of(json)) != strlen(json))
        status = phi__error(rt, PHI_BAD_ARG, "%s: expected UTF-8", what);
    phi_arena_free(&arena);
    return status;
}

static phi_status phi__tool_check_schema(phi_runtime *rt, const phi_tool *tool) {
    phi_arena arena;
    phi_json *schema = NULL;
    phi_parse_error parse;
    phi_schema_error error;
    char fault[200];
    if (tool->schema == NULL) return PHI_OK;
    phi_arena_init(&arena, &rt->memory, 1024);
    phi_status status =
        phi_json_parse(&arena, phi_str_of(tool->schema), PHI_JSON_BORROW, &schema, &parse);
    if (status == PHI_PARSE)
        (void)phi__error(rt, status, "tool \"%s\": schema:%u:%u: %s", tool->name,
                         (unsigned)parse.line, (unsigned)parse.column, parse.message);
    else if (status != PHI_OK)
        (void)phi__error(rt, status, "tool \"%s\": schema: %s", tool->name,
                         phi_status_text(status));
    else if (phi__tool_check_schema_fault(schema, fault, sizeof fault))
        status = phi__error(rt, PHI_BAD_ARG, "tool \"%s\": schema%s", tool->name, fault);
    else if (!tool->checks_arguments && (status = phi__schema_valid(schema, &error)) != PHI_OK)
        (void)phi__error(rt, status, "tool \"%s\": %s", tool->name, error.message);
    phi_arena_free(&arena);
    return status;
}

/* Returns the rules for an agent with this provider (or NULL) and model. */
static phi__tool_rules phi__tool_rules_of(const phi_runtime *rt, const phi_provider *own,
                                          const phi_model *model, bool can_approve) {
    phi__tool_rules rules;
    if (own == NULL) own = phi__provider_find(rt, phi_str_of(model->protocol));
    rules.codec = own == NULL ? phi__codec_of(rt->codecs, model) : NULL;
    rules.can_approve = can_approve;
    return rules;
}

static phi_status phi__tool_check_by(phi_runtime *rt, const char *what, const phi__codec *codec,
                                     const phi_tool *tools, size_t count) {
    for (size_t i = 0; codec != NULL && i < count; i++) {
        const char *why = phi__preflight_name(codec, phi_str_of(tools[i].name));
        if (why != NULL)
            return phi__error(rt, PHI_BAD_ARG, "%stools[%u].name \"%.80s\": %s", what, (unsigned)i,
                              tools[i].name, why);
    }
    return PHI_OK;
}

PHI__FN phi_status phi__tool_check_names(phi_runtime *rt, const char *what, const phi_provider *own,
                                         const phi_model *model, const phi_tool *tools,
                                         size_t count) {
    return phi__tool_check_by(rt, what, phi__tool_rules_of(rt, own, model, true).codec, tools,
                              count);
}

PHI__FN phi_status phi__tool_check_one(phi_runtime *rt, const phi__tool_rules *rules,
                                       const phi_tool *tool) {
    if (tool->start == NULL)
        return phi__error(rt, PHI_BAD_ARG, "tool \"%s\": start is missing", tool->name);
    if (tool->needs_approval && !rules->can_approve)
        return phi__error(rt, PHI_BAD_ARG,
                          "tool \"%s\": needs_approval, and nothing can approve: set hook_fn, and "
                          "PHI_HOOK_BEFORE_TOOL in hook_points",
                          tool->name);
    if (tool->on_field != NULL && (rt->features.wanted & (uint32_t)PHI__POINT_SLICE) == 0)
        return phi__feature_missing(rt, "on_field", "phi_feature_argument_stream");
    if (tool->strict && rt->features.formats == NULL)
        return phi__feature_missing(rt, "strict", "phi_feature_formats");
    if (tool->deferred && rt->features.deferral == NULL)
        return phi__feature_missing(rt, "deferred", "phi_feature_deferral");
    if (tool->raw != NULL) {
        if (tool->raw_protocol == NULL || tool->raw_protocol[0] == '\0')
            return phi__error(rt, PHI_BAD_ARG, "tool \"%s\": raw_protocol is missing", tool->name);
        char what[120];
        (void)snprintf(what, sizeof what, "tool \"%.64s\": raw", tool->name);
        /* an empty raw is valid: another element of the list contains the tool */
        phi_status status =
            tool->raw[0] != '\0' ? phi__tool_check_raw(rt, what, tool->raw) : PHI_OK;
        if (status != PHI_OK) return status;
    }
    return phi__tool_check_schema(rt, tool);
}

PHI__FN phi_status phi__tool_check_all(phi_runtime *rt, const phi_agent_desc *desc,
                                       const phi_tool *tools, size_t count) {
    bool can_approve = (desc->hook_points & (uint32_t)PHI_HOOK_BEFORE_TOOL) != 0;
    phi__tool_rules rules = phi__tool_rules_of(rt, desc->provider, &desc->model, can_approve);
    const char *taken = NULL;
    size_t j;
    if (count > 0 && tools == NULL)
        return phi__error(rt, PHI_BAD_ARG, "tools is missing, tool_count is %u", (unsigned)count);
    for (size_t i = 0; i < count; i++) {
        const phi_tool *tool = &tools[i];
        if (tool->name == NULL || tool->name[0] == '\0')
            return phi__error(rt, PHI_BAD_ARG, "tools[%u].name is missing", (unsigned)i);
        for (j = 0; j < i; j++)
            if (strcmp(tools[j].name, tool->name) == 0)
                return phi__error(rt, PHI_BAD_ARG, "tool \"%s\" is there twice", tool->name);
        phi_status status = phi__tool_check_one(rt, &rules, tool);
        if (status != PHI_OK) return status;
    }
    if (rt->features.deferral != NULL) taken = rt->features.deferral->refuses(tools, count);
    if (taken != NULL)
        return phi__error(
            rt, PHI_BAD_ARG,
            "tool \"%s\": the name is that of a tool of phi, which loads the deferred ones", taken);
    return phi__tool_check_by(rt, "", rules.codec, tools, count);
}

/* ---- the list ---- */

enum { PHI__TOOLSET_BLOCK = 512 }; /* room for a few tools */

PHI__FN void phi__toolset_init(phi__toolset *set, phi_memory *memory,
                               const phi__features *features) {
    memset(set, 0, sizeof *set);
    set->features = features;
    phi_arena_init(&set->arena, memory, PHI__TOOLSET_BLOCK);
}

PHI__FN void phi__toolset_free(phi__toolset *set) { phi_arena_free(&set->arena); }

static const char phi__toolset_any[] = "{\"type\":\"object\",\"properties\":{}}";

/* Returns the tool's schema, or a schema that accepts any object. */
static const char *phi__toolset_schema(const phi_tool *tool) {
    return tool->schema != NULL ? tool->schema : phi__toolset_any;
}

/* Stores a tool with its defaults. */
static void phi__toolset_put(phi__toolset *set, size_t i, const phi_tool *given,
                             uint32_t timeout_ms) {
    phi_tool *tool = &set->tools[i];
    phi__tool_view *view = &set->views[i];
    *tool = *given;
    if (tool->timeout_ms == 0) tool->timeout_ms = timeout_ms;
    tool->schema = phi__toolset_schema(tool);
    memset(view, 0, sizeof *view);
    view->name = phi_str_of(tool->name);
    view->description = phi_str_of(tool->description);
    view->schema = phi_str_of(tool->schema);
    view->strict = tool->strict ? set->features->formats : NULL;
    set->has_lone = set->has_lone || tool->not_concurrent;
    set->has_fields = set->has_fields || tool->on_field != NULL;
    set->names_steps = set->names_steps || tool->names_steps;
    set->has_raw = set->has_raw || tool->raw != NULL;
    set->may_defer =
        set->may_defer || tool->deferred || (tool->may_defer && set->features->deferral != NULL);
}

/* Sets the raw form of a tool with `raw`. False: the protocol does not get the tool. */
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
    size_t n = 0, most = phi__add(phi__add(set->count, change->more_count), raw_count);
    *views = set->views;
    *count = set->count;
    if (!set->has_raw && most == set->count && change->marks == NULL) return true;
    made = (phi__tool_view *)phi_arena_alloc(arena, phi__mul(phi__max(most, 1), sizeof *made));
    if (made == NULL) return false;
    for (size_t i = 0; i < set->count; i++) {
        uint8_t mark = change->marks != NULL ? change->marks[i] : (uint8_t)PHI__TOOLSET_SHOWN;
        if (mark == PHI__TOOLSET_HIDDEN) continue;
        made[n] = set->views[i];
        made[n].deferred = mark == PHI__TOOLSET_DEFERRED;
        if (phi__toolset_offer_one(&set->tools[i], names, &made[n])) n++;
    }
    for (size_t i = 0; i < change->more_count; i++) made[n++] = change->more[i];
    for (size_t i = 0; i < raw_count; i++) {
        if (!phi__codec_is(names, phi_str_of(raws[i].protocol))) continue;
        memset(&made[n], 0, sizeof made[n]);
        made[n].is_raw = true;
        made[n++].raw = phi_str_of(raws[i].json);
    }
    *views = made;
    *count = n;
    return true;
}

PHI__FN bool phi__toolset_take(phi__toolset *set, const phi_tool *tools, size_t count,
                               uint32_t timeout_ms) {
    phi__toolset made;
    phi__toolset_init(&made, set->arena.memory, set->features);
    bool good = true;
    if (count > 0) {
        made.tools = (phi_tool *)phi_arena_alloc(&made.arena, phi__mul(count, sizeof *made.tools));
        made.views =
            (phi__tool_view *)phi_arena_alloc(&made.arena, phi__mul(count, sizeof *made.views));
        good = made.tools != NULL && made.views != NULL;
    }
    made.count = made.own = count;
    for (size_t i = 0; good && i < count; i++) phi__toolset_put(&made, i, &tools[i], timeout_ms);
    if (good && made.may_defer) {
        made.finders = (phi_tool *)phi__arena_zero(&made.arena, 2 * sizeof *made.finders);
        good = made.finders != NULL;
        for (size_t i = 0; good && i < 2; i++) made.finders[i].timeout_ms = timeout_ms;
    }
    phi__toolset_free(good ? set : &made); /* last, because `tools` may be in the old set */
    if (good) *set = made;
    return good;
}

PHI__FN const phi_tool *phi__toolset_find(const phi__toolset *set, phi_str name) {
    for (size_t i = 0; i < set->count; i++)
        if (phi__str_is(name, set->tools[i].name)) return &set->tools[i];
    return NULL;
}

/* ---- the tools of a run ---- */

/* Sets names_steps even for a run that cannot revert itself, because a later run may revert. */
PHI__FN bool phi__toolset_take_run(phi__run *run, const phi_tool *tools, size_t count) {
    phi__agent *agent = run->agent;
    phi__toolset *set = (phi__toolset *)phi__alloc(&agent->memory, sizeof *set);
    if (set == NULL) return false;
    phi__toolset_init(set, &agent->memory, &agent->rt->features);
    run->own.toolset = agent->tools = set; /* from here on phi__toolset_free_run frees the set */
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

/* ---- the tool sources of an agent ----

   A source gives a list of tools, which is later given back. Tools that pass the checks follow the
   agent's own tools in its toolset. An exchange makes new lists, checks and a new toolset, and
   keeps the old ones. When nothing can fail any more, the new ones replace the old ones. The old
   lists are given back last. */

enum {
    PHI__TOOL_SOURCES_NAME = 80,    /* bytes of a tool's name in events */
    PHI__TOOL_SOURCES_TEXT = 2048,  /* bytes of a PHI_EV_TOOLS_CHANGED; more names are counted */
    PHI__TOOL_SOURCES_WORDS = 320,  /* bytes of phi_last_error's message */
    PHI__TOOL_SOURCES_WARNINGS = 16 /* warnings about omitted tools; more are only counted */
};

/* A list taken from a source. */
typedef struct phi__tool_list {
    const phi_tool *tools;
    size_t count;
    bool taken;
    bool fresh;    /* taken by the current exchange; the agent does not use it yet */
    char *refused; /* for each tool, nonzero if it failed the checks */
} phi__tool_list;

typedef struct phi__tool_place {
    const phi_tool_source *source;
    uint64_t version, seen; /* version of the used list; version seen last */
    bool known;             /* `version` is set */
    phi__tool_list list, next;
} phi__tool_place;

struct phi__tool_sources {
    phi__tool_place *places;
    size_t count;
    bool recheck;
};

typedef struct phi__tool_exchange {
    phi__agent *agent;
    phi__tool_rules rules;
    phi_arena arena;
    const phi_tool *own;
    size_t own_count;
    phi_tool *all; /* own tools, then tools of the sources */
    size_t count;
    phi__map before, after; /* phi_tool of the sources by name */
    phi__buf text;          /* lists added, removed and changed tools */
    size_t unsaid;          /* names that did not fit into `text` */
    size_t left_out;        /* tools omitted, with a warning or without */
} phi__tool_exchange;

static void phi__sources_give_back(phi__agent *agent, const phi_tool_source *source,
                                   phi__tool_list *list) {
    if (list->taken && source->release != NULL) source->release(source->user_data, list->tools);
    phi__free(&agent->memory, list->refused, list->count);
    memset(list, 0, sizeof *list);
}

static void phi__sources_leave_out(phi__tool_exchange *x, const char *words) {
    if (x->left_out++ < PHI__TOOL_SOURCES_WARNINGS)
        (void)phi__events_warn(x->agent, phi_str_of(words));
}

/* Checks a tool, and warns of a fault. Restores phi_last_error, which belongs to the host. */
static phi_status phi__sources_judge(phi__tool_exchange *x, const phi_tool *tool) {
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
        status = phi__tool_check_by(rt, "", x->rules.codec, tool, 1);
    if (status == PHI_OK) status = phi__tool_check_one(rt, &x->rules, tool);
    if (status != PHI_OK && status != PHI_NO_MEMORY) {
        (void)phi__error_last(rt, &said);
        (void)snprintf(words, sizeof words, "A tool was left out: %s", said);
        phi__sources_leave_out(x, words);
    }
    rt->last_error = kept;
    return status;
}

static bool phi__sources_judge_all(phi__tool_exchange *x, phi__tool_list *list) {
    for (size_t i = 0; i < list->count; i++) {
        phi_status status = phi__sources_judge(x, &list->tools[i]);
        if (status == PHI_NO_MEMORY) return false;
        list->refused[i] = status != PHI_OK;
    }
    return true;
}

/* Takes the source's current list in addition to the old list, which stays if the source fails.
   False: no memory. */
static bool phi__sources_take(phi__tool_exchange *x, phi__tool_place *place) {
    const phi_tool_source *source = place->source;
    phi__tool_list *next = &place->next;
    char words[120];
    phi_status status = source->take(source->user_data, &next->tools, &next->count);
    if (status == PHI_OK) {
        next->taken = next->fresh = true;
        if (next->tools == NULL) next->count = 0;
        if (next->count == 0) return true;
        next->refused = (char *)phi__alloc(&x->agent->memory, next->count);
        return next->refused != NULL && phi__sources_judge_all(x, next);
    }
    memset(next, 0, sizeof *next);
    if (status == PHI_NO_MEMORY) return false;
    (void)snprintf(words, sizeof words, "A tool source gave no list: %s", phi_status_text(status));
    (void)phi__events_warn(x->agent, phi_str_of(words));
    return true;
}

/* ---- combining all tools ---- */

static const phi__tool_list *phi__sources_of(const phi__tool_place *place) {
    return place->next.fresh ? &place->next : &place->list;
}

static const phi_tool *phi__sources_find(const phi__map *map, const char *name) {
    size_t probe = 0;
    const phi_tool *tool;
    uint64_t hash = phi__hash(phi_str_of(name), 0);
    while ((tool = (const phi_tool *)phi__map_each(map, hash, &probe)) != NULL)
        if (strcmp(tool->name, name) == 0) return tool;
    return NULL;
}

static bool phi__sources_index(phi__map *map, const phi_tool *tool) {
    if (!phi__map_room(map)) return false;
    phi__map_add(map, phi__hash(phi_str_of(tool->name), 0), (void *)(uintptr_t)tool);
    return true;
}

/* Adds a tool unless its name is taken. False: no memory. */
static bool phi__sources_add(phi__tool_exchange *x, const phi_tool *tool, bool fresh) {
    char words[200];
    if (phi__sources_find(&x->after, tool->name) == NULL) {
        x->all[x->count] = *tool;
        return phi__sources_index(&x->after, &x->all[x->count++]);
    }
    (void)snprintf(words, sizeof words, "A tool was left out: there is another one named \"%.*s\"",
                   (int)phi__utf8_cut(phi_str_of(tool->name), PHI__TOOL_SOURCES_NAME), tool->name);
    if (fresh) phi__sources_leave_out(x, words);
    return true;
}

static bool phi__sources_combine(phi__tool_exchange *x) {
    const phi__tool_sources *sources = x->agent->sources;
    size_t most = x->own_count, j;
    for (size_t i = 0; i < sources->count; i++)
        most = phi__add(most, phi__sources_of(&sources->places[i])->count);
    x->all = (phi_tool *)phi_arena_alloc(&x->arena, phi__mul(phi__max(most, 1), sizeof *x->all));
    if (x->all == NULL) return false;
    for (size_t i = 0; i < x->own_count; i++)
        if (!phi__sources_add(x, &x->own[i], false)) return false;
    for (size_t i = 0; i < sources->count; i++) {
        const phi__tool_list *list = phi__sources_of(&sources->places[i]);
        for (j = 0; j < list->count; j++)
            if (list->refused[j] == 0 && !phi__sources_add(x, &list->tools[j], list->fresh))
                return false;
    }
    return true;
}

/* ---- comparing old and new tools ---- */

static void phi__sources_say(phi__tool_exchange *x, char sign, const char *name) {
    size_t len = phi__utf8_cut(phi_str_of(name), PHI__TOOL_SOURCES_NAME);
    if (x->unsaid > 0 || x->text.len + len + 2 > PHI__TOOL_SOURCES_TEXT) {
        x->unsaid++;
        return;
    }
    if (x->text.len > 0) phi__buf_char(&x->text, ' ');
    phi__buf_char(&x->text, sign);
    phi__buf_add_str(&x->text, phi__str(name, len));
}

static bool phi__sources_differ(const char *a, const char *b) {
    return strcmp(a != NULL ? a : "", b != NULL ? b : "") != 0;
}

static bool phi__sources_compare(phi__tool_exchange *x) {
    const phi__toolset *set = &x->agent->toolset;
    const phi_tool *tool, *other;
    for (size_t i = set->own; i < set->count; i++)
        if (!phi__sources_index(&x->before, &set->tools[i])) return false;
    for (size_t i = x->own_count; i < x->count; i++)
        if (phi__sources_find(&x->before, x->all[i].name) == NULL)
            phi__sources_say(x, '+', x->all[i].name);
    for (size_t i = set->own; i < set->count; i++)
        if (phi__sources_find(&x->after, set->tools[i].name) == NULL)
            phi__sources_say(x, '-', set->tools[i].name);
    for (size_t i = x->own_count; i < x->count; i++) {
        tool = &x->all[i];
        other = phi__sources_find(&x->before, tool->name);
        if (other != NULL && (phi__sources_differ(tool->description, other->description) ||
                              phi__sources_differ(phi__toolset_schema(tool), other->schema)))
            phi__sources_say(x, '~', tool->name);
    }
    if (x->unsaid > 0) phi__buf_printf(&x->text, " and %u more", (unsigned)x->unsaid);
    return !x->text.failed;
}

static bool phi__sources_prepare(phi__tool_exchange *x) {
    phi__tool_sources *sources = x->agent->sources;
    for (size_t i = 0; i < sources->count; i++) {
        phi__tool_place *place = &sources->places[i];
        if ((!place->known || place->seen != place->version) && !phi__sources_take(x, place))
            return false;
        if (sources->recheck && !place->next.fresh && place->list.count > 0 &&
            !phi__sources_judge_all(x, &place->list))
            return false;
    }
    if (!phi__sources_combine(x) || !phi__sources_compare(x)) return false;
    if (x->left_out > PHI__TOOL_SOURCES_WARNINGS) {
        char words[60];
        (void)snprintf(words, sizeof words, "%u more tools were left out",
                       (unsigned)(x->left_out - PHI__TOOL_SOURCES_WARNINGS));
        (void)phi__events_warn(x->agent, phi_str_of(words));
    }
    return true;
}

/* Replaces the old lists by the new ones, or gives the new ones back if the exchange failed. */
static void phi__sources_settle(phi__agent *agent, bool good) {
    phi__tool_sources *sources = agent->sources;
    for (size_t i = 0; i < sources->count; i++) {
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
        phi__sources_give_back(agent, place->source, &old);
    }
    if (good) sources->recheck = false;
}

/* Installs the new toolset. Emits the event after all other steps that can fail. */
static bool phi__sources_install(phi__tool_exchange *x, bool quiet) {
    phi__agent *agent = x->agent;
    phi__toolset *set = &agent->toolset, made;
    bool had = set->has_fields || set->names_steps;
    phi__toolset_init(&made, &agent->memory, set->features);
    if (!phi__toolset_take(&made, x->all, x->count, agent->desc.tool_options.timeout_ms))
        return false;
    phi_event event = PHI_ZERO;
    event.kind = PHI_EV_TOOLS_CHANGED;
    event.text = phi__buf_str(&x->text);
    if (!quiet && event.text.len > 0 && !phi__events_emit(agent, &event)) {
        phi__toolset_free(&made);
        return false;
    }
    phi__toolset_free(set);
    *set = made;
    set->own = x->own_count;
    phi__feature_agent(agent, PHI__POINT_CHANGED);
    if (agent->run != NULL && !had && (set->has_fields || set->names_steps))
        phi__feature_begin(agent->run); /* more features may take part now */
    return true;
}

static phi_status phi__sources_exchange(phi__agent *agent, const phi_tool *own, size_t own_count,
                                        bool quiet) {
    phi__tool_exchange x = PHI_ZERO;
    x.agent = agent;
    x.rules = phi__tool_rules_of(agent->rt, agent->desc.provider, &agent->desc.model,
                                 phi__hooks_wanted(agent, PHI_HOOK_BEFORE_TOOL));
    x.own = own;
    x.own_count = own_count;
    phi_arena_init(&x.arena, &agent->memory, 0);
    phi__map_init(&x.before, &agent->memory);
    phi__map_init(&x.after, &agent->memory);
    phi__buf_init(&x.text, &agent->memory);
    bool good = phi__sources_prepare(&x) && phi__sources_install(&x, quiet);
    phi__sources_settle(agent, good);
    phi__buf_free(&x.text);
    phi__map_free(&x.before);
    phi__map_free(&x.after);
    phi_arena_free(&x.arena);
    return good ? PHI_OK : PHI_NO_MEMORY;
}

/* ---- used by other files ---- */

/* Sets the sources of a new agent; takes no list yet. The array is copied into the agent's arena.
   False: no memory. */
static bool phi__sources_make(phi__agent *agent, const phi_tool_source *const *given,
                              size_t count) {
    phi__tool_sources *sources;
    const phi_tool_source **copy;
    if (count == 0) return true;
    copy = (const phi_tool_source **)phi_arena_alloc(&agent->arena, phi__mul(count, sizeof *copy));
    sources = (phi__tool_sources *)phi__arena_zero(&agent->arena, sizeof *sources);
    if (copy == NULL || sources == NULL) return false;
    sources->places =
        (phi__tool_place *)phi__arena_zero(&agent->arena, phi__mul(count, sizeof *sources->places));
    if (sources->places == NULL) return false;
    for (size_t i = 0; i < count; i++) sources->places[i].source = copy[i] = given[i];
    sources->count = count;
    agent->sources = sources;
    agent->desc.tool_options.sources = copy;
    agent->desc.tool_options.source_count = count;
    return true;
}

/* Reads the sources' versions, and takes changed lists into agent->toolset. Must not be called
   while tool calls are open. quiet: emits no PHI_EV_TOOLS_CHANGED. PHI_NO_MEMORY: nothing
   changed. */
static phi_status phi__sources_refresh(phi__agent *agent, bool quiet) {
    phi__tool_sources *sources = agent->sources;
    bool changed = sources->recheck;
    for (size_t i = 0; i < sources->count; i++) {
        phi__tool_place *place = &sources->places[i];
        place->seen = place->source->version(place->source->user_data);
        changed = changed || !place->known || place->seen != place->version;
    }
    if (!changed) return PHI_OK;
    return phi__sources_exchange(agent, agent->toolset.tools, agent->toolset.own, quiet);
}

/* Replaces the agent's own tools by checked ones. Calls no source. PHI_NO_MEMORY: nothing
   changed. */
static phi_status phi__sources_own(phi__agent *agent, const phi_tool *tools, size_t count) {
    phi__tool_sources *sources = agent->sources;
    for (size_t i = 0; i < sources->count; i++)
        sources->places[i].seen = sources->places[i].version;
    return phi__sources_exchange(agent, tools, count, false);
}

PHI__FN void phi__sources_recheck(phi__agent *agent) {
    if (agent->sources != NULL) agent->sources->recheck = true;
}

/* Gives all lists back when the agent is freed. The agent's calls must be gone. */
static void phi__sources_free(phi__agent *agent) {
    phi__tool_sources *sources = agent->sources;
    for (size_t i = 0; i < sources->count; i++)
        phi__sources_give_back(agent, sources->places[i].source, &sources->places[i].list);
}

PHI__FN const phi__sources_ops *phi__tool_sources_ops(void) {
    static const phi__sources_ops all = {phi__sources_make, phi__sources_refresh, phi__sources_own,
                                         phi__sources_free};
    return &all;
}
