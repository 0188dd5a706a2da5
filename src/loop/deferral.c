/* deferral.c - which tools a request names instead of defining them, and which were loaded. */
#include "loop/deferral_in.h"

#include "loop/loop_in.h"
#include "model/tokens.h"
#include "text/records_in.h"
#include "wire/takes_in.h"

enum {
    PHI__DEFERRAL_WINDOW = 128000, /* phi_model.context_window's default */
    PHI__DEFERRAL_INDEX = 8192,    /* bytes of names in the system prompt */
    PHI__DEFERRAL_HITS = 1024      /* tools that a provider's search has found, of one view */
};

/* ---- which tools ---- */

PHI__FN bool phi__deferral_is_own(phi_str name) {
    return phi__str_is(name, PHI__DEFERRAL_SEARCH) || phi__str_is(name, PHI__DEFERRAL_LOAD);
}

PHI__FN bool phi__deferral_defers(phi__deferral_plan plan, const phi_tool *tool) {
    return plan.way != PHI__DEFERRAL_NONE && tool->raw == NULL &&
           (tool->deferred || (plan.above && tool->may_defer));
}

static uint64_t phi__deferral_tokens(const phi__agent *agent, const phi__tool_view *view) {
    const phi_token_counter *counter = agent->projected != NULL ? &agent->projected->counter : NULL;
    return (uint64_t)phi_tokens_of_text(counter, view->name) +
           phi_tokens_of_text(counter, view->description) +
           phi_tokens_of_text(counter, view->schema);
}

static bool phi__deferral_native(const phi__agent *agent) {
    return agent->provider == NULL && agent->codec->rules->defers != NULL &&
           agent->codec->rules->defers(&agent->desc.model);
}

/* The tokens of the tools that may be deferred; counted once, and again for another counter. */
static uint64_t phi__deferral_sum(const phi__agent *agent) {
    phi__toolset *set = agent->tools;
    phi_token_counter none = PHI_ZERO;
    const phi_token_counter *by = agent->projected != NULL ? &agent->projected->counter : &none;
    size_t i;
    if (set->deferrable > 0 && set->counted_by.count_text == by->count_text &&
        set->counted_by.user_data == by->user_data)
        return set->deferrable;
    set->counted_by = *by;
    set->deferrable = 1; /* a set that was counted is not zero */
    for (i = 0; i < set->count; i++)
        if (set->tools[i].may_defer && set->tools[i].raw == NULL)
            set->deferrable += phi__deferral_tokens(agent, &set->views[i]);
    return set->deferrable;
}

/* The tools that may be deferred are more than their part of the window. */
static bool phi__deferral_above(const phi__agent *agent) {
    uint64_t window = agent->desc.model.context_window,
             percent = agent->desc.tool_options.defer_percent;
    if (percent == PHI_UNLIMITED) return false;
    if (window == 0) window = PHI__DEFERRAL_WINDOW;
    return phi__deferral_sum(agent) - 1 > window * percent / 100;
}

PHI__FN phi__deferral_plan phi__deferral_plan_of(const phi__agent *agent) {
    const phi__toolset *set = agent->tools;
    phi__deferral_plan plan = {PHI__DEFERRAL_NONE, false};
    bool any = false;
    size_t i;
    if (!set->may_defer) return plan;
    plan.above = phi__deferral_above(agent);
    for (i = 0; i < set->count && !any; i++)
        any = set->tools[i].raw == NULL &&
              (set->tools[i].deferred || (plan.above && set->tools[i].may_defer));
    if (any) plan.way = phi__deferral_native(agent) ? PHI__DEFERRAL_NATIVE : PHI__DEFERRAL_OWN;
    for (i = 0; i < set->count && plan.way == PHI__DEFERRAL_OWN; i++)
        if (phi__deferral_is_own(set->views[i].name)) plan.way = PHI__DEFERRAL_NONE;
    return plan;
}

PHI__FN const char *phi__deferral_refuses(const phi_tool *tools, size_t count) {
    bool any = false;
    size_t i;
    for (i = 0; i < count; i++) any = any || (tools[i].deferred && tools[i].raw == NULL);
    for (i = 0; i < count && any; i++)
        if (phi__deferral_is_own(phi_str_of(tools[i].name))) return tools[i].name;
    return NULL;
}

/* ---- loaded tools ---- */

PHI__FN void phi__deferral_free(phi__agent *agent) {
    phi__deferral *d = agent->prior.deferral;
    if (d == NULL) return;
    phi_arena_free(&d->arena);
    phi__free(&agent->memory, d->names, d->cap * sizeof *d->names);
    phi__free(&agent->memory, d, sizeof *d);
    agent->prior.deferral = NULL;
}

PHI__FN bool phi__deferral_is_loaded(const phi__agent *agent, phi_str name) {
    const phi__deferral *d = agent->prior.deferral;
    size_t i;
    for (i = 0; d != NULL && i < d->count; i++)
        if (phi_str_equal(d->names[i], name)) return true;
    return false;
}

PHI__FN bool phi__deferral_keep(phi__agent *agent, phi_str name) {
    phi__deferral *d = agent->prior.deferral;
    if (phi__deferral_is_loaded(agent, name)) return true;
    if (d != NULL && d->count == PHI__DEFERRAL_LOADED) return true;
    if (d == NULL) {
        d = (phi__deferral *)phi__alloc(&agent->memory, sizeof *d);
        if (d == NULL) return false;
        phi_arena_init(&d->arena, &agent->memory, 512);
        agent->prior.deferral = d;
    }
    if (d->count == d->cap) {
        void *grown = phi__grow(&agent->memory, d->names, &d->cap, d->count + 1, sizeof *d->names);
        if (grown == NULL) return false;
        d->names = (phi_str *)grown;
    }
    if (!phi__arena_str(&d->arena, name, &d->names[d->count])) return false;
    d->count++;
    return true;
}

/* Keeps the names in the details of one result. */
static bool phi__deferral_read(phi__agent *agent, phi_str details, phi_arena *arena) {
    phi_arena_mark mark = phi_arena_save(arena);
    phi_json *root = NULL;
    phi_status status = phi_json_parse(arena, details, PHI_JSON_BORROW, &root, NULL);
    phi_json_iter it = phi_json_each(phi_json_get(root, "loaded"));
    const phi_json *name;
    bool done = status != PHI_NO_MEMORY;
    while (status == PHI_OK && done && (name = phi_json_next(&it)) != NULL)
        done = phi__deferral_keep(agent, phi_json_str(name, ""));
    phi_arena_reset(arena, mark);
    return done;
}

/* Keeps what the view says was loaded. False: no memory. */
static bool phi__deferral_look(phi__agent *agent, phi_arena *arena) {
    const phi__fold *fold = &agent->thread->fold;
    size_t i;
    for (i = 0; i < fold->count; i++) {
        const phi_message *m = fold->items[i].message;
        if (m->role != PHI_ROLE_TOOL_RESULT || !phi__str_is(m->tool_name, PHI__DEFERRAL_LOAD) ||
            !phi__str_starts(m->details, PHI__DEFERRAL_DETAILS))
            continue;
        if (!phi__deferral_read(agent, m->details, arena)) return false;
    }
    return true;
}

PHI__FN void phi__deferral_save(phi__buf *out, const phi__agent *agent) {
    const phi__deferral *d = agent->prior.deferral;
    size_t i;
    if (d == NULL) return;
    phi__records_raw(out, "loaded_tools", "[");
    for (i = 0; i < d->count; i++) {
        phi__json_write_comma(out);
        phi__json_write_str(out, d->names[i]);
    }
    phi__buf_char(out, ']');
}

PHI__FN bool phi__deferral_load(phi__agent *agent, const phi_json *names) {
    phi_json_iter it = phi_json_each(names);
    const phi_json *name;
    while ((name = phi_json_next(&it)) != NULL)
        if (!phi__deferral_keep(agent, phi_json_str(name, ""))) return false;
    return true;
}

/* ---- calls ---- */

/* Its own memory ended: then the names of before count. */
static void phi__deferral_look_now(phi__agent *agent) {
    phi_arena scratch;
    phi_arena_init(&scratch, &agent->memory, 0);
    (void)phi__deferral_look(agent, &scratch);
    phi_arena_free(&scratch);
}

PHI__FN bool phi__deferral_hides(phi__agent *agent, phi_str name) {
    phi__deferral_plan plan = phi__deferral_plan_of(agent);
    const phi_tool *tool = phi__toolset_find(agent->tools, name);
    if (plan.way != PHI__DEFERRAL_OWN || tool == NULL || !phi__deferral_defers(plan, tool))
        return false;
    if (!phi__deferral_is_loaded(agent, name)) phi__deferral_look_now(agent);
    return !phi__deferral_is_loaded(agent, name);
}

/* ---- requests ---- */

/* Which tools are not defined, or marked. NULL: no memory. */
static uint8_t *phi__deferral_marks(const phi__agent *agent, phi__deferral_plan plan,
                                    phi_arena *arena) {
    const phi__toolset *set = agent->tools;
    uint8_t *marks = (uint8_t *)phi__arena_zero(arena, phi__max(set->count, 1));
    size_t i;
    for (i = 0; marks != NULL && i < set->count; i++) {
        if (!phi__deferral_defers(plan, &set->tools[i])) continue;
        if (plan.way == PHI__DEFERRAL_OWN)
            marks[i] = PHI__TOOLSET_HIDDEN; /* a loaded one is among `more` */
        else if (!phi__deferral_is_loaded(agent, set->views[i].name))
            marks[i] = PHI__TOOLSET_DEFERRED;
    }
    return marks;
}

PHI__FN void phi__deferral_describe(phi__tool_view out[2]) {
    memset(out, 0, 2 * sizeof *out);
    out[0].name = PHI__LIT(PHI__DEFERRAL_SEARCH);
    out[0].description =
        PHI__LIT("Finds tools that are not loaded yet, by words of their names and descriptions. "
                 "Answers with up to 10 names and what those tools do.");
    out[0].schema =
        PHI__LIT("{\"type\":\"object\",\"properties\":{\"query\":{\"type\":\"string\","
                 "\"description\":\"A few words, such as: create invoice\"}},\"required\":"
                 "[\"query\"]}");
    out[1].name = PHI__LIT(PHI__DEFERRAL_LOAD);
    out[1].description = PHI__LIT("Loads tools by their names: from the next answer on they are "
                                  "defined, and can be called.");
    out[1].schema = PHI__LIT(
        "{\"type\":\"object\",\"properties\":{\"names\":{\"type\":\"array\",\"items\":"
        "{\"type\":\"string\"},\"description\":\"1 to 32 names\"}},\"required\":[\"names\"]}");
}

/* phi's tools, and those that were loaded, in the order of loading. */
static bool phi__deferral_more(const phi__agent *agent, const uint8_t *marks, phi_arena *arena,
                               phi__toolset_change *change) {
    const phi__toolset *set = agent->tools;
    const phi__deferral *d = agent->prior.deferral;
    size_t most = d != NULL ? d->count : 0, i, j;
    phi__tool_view *more =
        (phi__tool_view *)phi_arena_alloc(arena, phi__mul(phi__add(most, 2), sizeof *more));
    if (more == NULL) return false;
    phi__deferral_describe(more);
    change->more_count = 2;
    for (i = 0; i < most; i++)
        for (j = 0; j < set->count; j++)
            if (marks[j] != 0 && phi_str_equal(set->views[j].name, d->names[i]))
                more[change->more_count++] = set->views[j];
    change->more = more;
    return true;
}

/* The system prompt with the names of all deferred tools, loaded or not: it stays the same. False:
   no memory. */
static bool phi__deferral_index(const phi__agent *agent, const uint8_t *marks, phi_arena *arena,
                                phi_str *system_prompt) {
    const phi__toolset *set = agent->tools;
    size_t i, begin, unsaid = 0;
    phi__buf text;
    bool done;
    phi__buf_init(&text, arena->memory);
    phi__buf_add_str(&text, *system_prompt);
    if (text.len > 0) phi__buf_text(&text, "\n\n");
    phi__buf_text(&text, "More tools than those that are defined can be called. Find them by words "
                         "with " PHI__DEFERRAL_SEARCH ", and load one with " PHI__DEFERRAL_LOAD
                         " before you call it. Their names:");
    begin = text.len;
    for (i = 0; i < set->count; i++) {
        if (marks[i] == 0) continue;
        if (unsaid > 0 || text.len - begin + set->views[i].name.len > PHI__DEFERRAL_INDEX) {
            unsaid++;
            continue;
        }
        phi__buf_text(&text, text.len > begin ? ", " : " ");
        phi__buf_add_str(&text, set->views[i].name);
    }
    if (unsaid > 0) phi__buf_printf(&text, " and %llu more", (unsigned long long)unsaid);
    done = !text.failed && phi__arena_str(arena, phi__buf_str(&text), system_prompt);
    phi__buf_free(&text);
    return done;
}

/* ---- tools that a provider's search has found ---- */

typedef struct phi__deferral_hits {
    phi_str names[PHI__DEFERRAL_HITS]; /* each once */
    size_t count;
} phi__deferral_hits;

static void phi__deferral_hit(phi__deferral_hits *hits, phi_str name) {
    size_t i = 0;
    while (i < hits->count && !phi_str_equal(hits->names[i], name)) i++;
    if (i == hits->count && i < PHI__DEFERRAL_HITS) hits->names[hits->count++] = name;
}

/* What the view says was found. A name with an escape in it is none of a tool's. False: no
   memory. */
static bool phi__deferral_look_hits(const phi__agent *agent, phi_arena *arena,
                                    phi__deferral_hits **hits) {
    const phi__fold *fold = &agent->thread->fold;
    phi_str name;
    size_t i, j, at;
    *hits = NULL;
    if (!fold->opaque || !phi__deferral_native(agent)) return true;
    for (i = 0; i < fold->count; i++) {
        const phi_message *m = fold->items[i].message;
        for (j = 0; j < m->content_count; j++)
            for (at = 0; phi__takes_reference(&m->content[j], &at, &name);) {
                if (*hits == NULL)
                    *hits = (phi__deferral_hits *)phi__arena_zero(arena, sizeof **hits);
                if (*hits == NULL) return false;
                if (name.len > 0 && memchr(name.at, '\\', name.len) == NULL)
                    phi__deferral_hit(*hits, name);
            }
    }
    return true;
}

static bool phi__deferral_is_in(const phi__toolset *set, phi_str name) {
    size_t i = 0;
    while (i < set->count && !phi_str_equal(set->views[i].name, name)) i++;
    return i < set->count;
}

/* Claude refuses a history whose search found a tool that is not there any more: such a one stays,
   as a name, and a call of it fails. Raw tools may be those. False: no memory. */
static bool phi__deferral_gone(const phi__agent *agent, phi_arena *arena,
                               const phi__deferral_hits *hits, phi__toolset_change *change) {
    const phi__toolset *set = agent->tools;
    phi__tool_view *more;
    size_t i;
    if (set->has_raw || agent->desc.tool_options.raw_tool_count > 0) return true;
    more = (phi__tool_view *)phi__arena_zero(arena, phi__mul(hits->count, sizeof *more));
    if (more == NULL) return false;
    change->more = more;
    for (i = 0; i < hits->count; i++) {
        if (phi__deferral_is_in(set, hits->names[i])) continue;
        more[change->more_count].name = hits->names[i];
        more[change->more_count].description = PHI__LIT("This tool is gone.");
        more[change->more_count].schema = PHI__LIT("{\"type\":\"object\"}");
        more[change->more_count++].deferred = true;
    }
    return true;
}

/* A tool that was found stays deferred while the view says so, loaded or not: the answers after it
   were made with it in that place. False: no memory. */
static bool phi__deferral_found(const phi__agent *agent, phi_arena *arena,
                                const phi__deferral_hits *hits, phi__toolset_change *change) {
    const phi__toolset *set = agent->tools;
    uint8_t *marks = (uint8_t *)phi__arena_zero(arena, phi__max(set->count, 1));
    size_t i, k;
    if (marks == NULL) return false;
    if (change->marks != NULL) memcpy(marks, change->marks, set->count);
    for (i = 0; i < hits->count; i++)
        for (k = 0; k < set->count; k++)
            if (set->tools[k].raw == NULL && phi_str_equal(set->views[k].name, hits->names[i])) {
                marks[k] = PHI__TOOLSET_DEFERRED;
                change->marks = marks;
            }
    return true;
}

PHI__FN bool phi__deferral_change(phi__agent *agent, phi_arena *arena, phi__toolset_change *change,
                                  phi_str *system_prompt) {
    phi__deferral_plan plan;
    phi__deferral_hits *hits;
    memset(change, 0, sizeof *change);
    if (!agent->tools->may_defer && !agent->thread->fold.opaque) return true;
    plan = phi__deferral_plan_of(agent);
    if (!phi__deferral_look_hits(agent, arena, &hits)) return false;
    if (hits != NULL && !phi__deferral_gone(agent, arena, hits, change)) return false;
    if (plan.way != PHI__DEFERRAL_NONE) {
        if (!phi__deferral_look(agent, arena)) return false;
        change->marks = phi__deferral_marks(agent, plan, arena);
        if (change->marks == NULL) return false;
    }
    if (hits != NULL && !phi__deferral_found(agent, arena, hits, change)) return false;
    return plan.way != PHI__DEFERRAL_OWN ||
           (phi__deferral_more(agent, change->marks, arena, change) &&
            phi__deferral_index(agent, change->marks, arena, system_prompt));
}
