/* deferral.c - which tools a request names instead of defining them, and which were loaded. */
#include "loop/inner_in.h"

enum {
    PHI__DEFERRAL_WINDOW = 128000, /* phi_model.context_window's default */
    PHI__DEFERRAL_INDEX = 8192,    /* bytes of names in the system prompt */
    PHI__DEFERRAL_HITS = 1024      /* tools that a provider's search has found, of one view */
};

/* ---- which tools ---- */

/* One of phi's two tools has this name. */
PHI__FN bool phi__defer_is_own(phi_str name) {
    return phi__str_is(name, PHI__DEFERRAL_SEARCH) || phi__str_is(name, PHI__DEFERRAL_LOAD);
}

PHI__FN bool phi__defer_defers(phi__defer_plan plan, const phi_tool *tool) {
    return plan.way != PHI__DEFERRAL_NONE && tool->raw == NULL &&
           (tool->deferred || (plan.above && tool->may_defer));
}

static bool phi__defer_native(const phi__agent *agent) {
    return agent->provider == NULL && agent->codec->rules->defers != NULL &&
           agent->codec->rules->defers(&agent->desc.model);
}

/* 1 and the tokens of the tools that may be deferred; counted once, and again for another
   counter. */
static uint64_t phi__defer_sum(const phi__agent *agent) {
    phi__toolset *set = agent->tools;
    phi_token_counter none = PHI_ZERO;
    const phi_token_counter *own = agent->projected != NULL ? &agent->projected->counter : NULL;
    const phi_token_counter *by = own != NULL ? own : &none;
    if (set->deferrable > 0 && set->counted_by.count_text == by->count_text &&
        set->counted_by.user_data == by->user_data)
        return set->deferrable;
    set->counted_by = *by;
    set->deferrable = 1; /* a set that was counted is not zero */
    for (size_t i = 0; i < set->count; i++) {
        const phi__tool_view *view = &set->views[i];
        if (!set->tools[i].may_defer || set->tools[i].raw != NULL) continue;
        set->deferrable += (uint64_t)phi_tokens_of_text(own, view->name) +
                           phi_tokens_of_text(own, view->description) +
                           phi_tokens_of_text(own, view->schema);
    }
    return set->deferrable;
}

PHI__FN phi__defer_plan phi__defer_plan_of(const phi__agent *agent) {
    const phi__toolset *set = agent->tools;
    phi__defer_plan plan = {PHI__DEFERRAL_NONE, false};
    bool any = false;
    if (!set->may_defer) return plan;
    uint64_t window = agent->desc.model.context_window,
             percent = agent->desc.tool_options.defer_percent;
    if (window == 0) window = PHI__DEFERRAL_WINDOW;
    plan.above = percent != PHI_UNLIMITED && phi__defer_sum(agent) - 1 > window * percent / 100;
    for (size_t i = 0; i < set->count && !any; i++)
        any = set->tools[i].raw == NULL &&
              (set->tools[i].deferred || (plan.above && set->tools[i].may_defer));
    if (any) plan.way = phi__defer_native(agent) ? PHI__DEFERRAL_NATIVE : PHI__DEFERRAL_OWN;
    for (size_t i = 0; i < set->count && plan.way == PHI__DEFERRAL_OWN; i++)
        if (phi__defer_is_own(set->views[i].name)) plan.way = PHI__DEFERRAL_NONE;
    return plan;
}

/* ---- loaded tools ---- */

PHI__FN bool phi__defer_is_loaded(const phi__agent *agent, phi_str name) {
    const phi__deferral *d = agent->prior.deferral;
    for (size_t i = 0; d != NULL && i < d->count; i++)
        if (phi_str_equal(d->names[i], name)) return true;
    return false;
}

/* Loaded from now on, where there is room. False: no memory. */
PHI__FN bool phi__defer_keep(phi__agent *agent, phi_str name) {
    phi__deferral *d = agent->prior.deferral;
    if (phi__defer_is_loaded(agent, name)) return true;
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

/* Keeps what the view says was loaded. False: no memory. */
PHI__FN bool phi__defer_look(phi__agent *agent, phi_arena *arena) {
    const phi__fold *fold = &agent->thread->fold;
    for (size_t i = 0; i < fold->count; i++) {
        const phi_message *m = fold->items[i].message;
        if (m->role != PHI_ROLE_TOOL_RESULT || !phi__str_is(m->tool_name, PHI__DEFERRAL_LOAD) ||
            !phi__str_starts(m->details, PHI__DEFERRAL_DETAILS))
            continue;
        /* Keeps the names in the details of one result. */
        phi_str details = m->details;
        phi_arena_mark mark = phi_arena_save(arena);
        phi_json *root = NULL;
        phi_status status = phi_json_parse(arena, details, PHI_JSON_BORROW, &root, NULL);
        phi_json_iter it = phi_json_each(phi_json_get(root, "loaded"));
        const phi_json *name;
        bool done = status != PHI_NO_MEMORY;
        while (status == PHI_OK && done && (name = phi_json_next(&it)) != NULL)
            done = phi__defer_keep(agent, phi_json_str(name, ""));
        phi_arena_reset(arena, mark);
        if (!done) return false;
    }
    return true;
}

/* What a model reads of phi's two tools, the search first. */
PHI__FN void phi__defer_describe(phi__tool_view out[2]) {
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
static bool phi__defer_more(const phi__agent *agent, const uint8_t *marks, phi_arena *arena,
                            phi__toolset_change *change) {
    const phi__toolset *set = agent->tools;
    const phi__deferral *d = agent->prior.deferral;
    size_t most = d != NULL ? d->count : 0, j;
    phi__tool_view *more =
        (phi__tool_view *)phi_arena_alloc(arena, phi__mul(phi__add(most, 2), sizeof *more));
    if (more == NULL) return false;
    phi__defer_describe(more);
    change->more_count = 2;
    for (size_t i = 0; i < most; i++)
        for (j = 0; j < set->count; j++)
            if (marks[j] != 0 && phi_str_equal(set->views[j].name, d->names[i]))
                more[change->more_count++] = set->views[j];
    change->more = more;
    return true;
}

/* The system prompt with the names of all deferred tools, loaded or not: it stays the same. False:
   no memory. */
static bool phi__defer_index(const phi__agent *agent, const uint8_t *marks, phi_arena *arena,
                             phi_str *system_prompt) {
    const phi__toolset *set = agent->tools;
    size_t unsaid = 0;
    phi__buf text;
    phi__buf_init(&text, arena->memory);
    phi__buf_add_str(&text, *system_prompt);
    if (text.len > 0) phi__buf_text(&text, "\n\n");
    phi__buf_text(&text, "More tools than those that are defined can be called. Find them by words "
                         "with " PHI__DEFERRAL_SEARCH ", and load one with " PHI__DEFERRAL_LOAD
                         " before you call it. Their names:");
    size_t begin = text.len;
    for (size_t i = 0; i < set->count; i++) {
        if (marks[i] == 0) continue;
        if (unsaid > 0 || text.len - begin + set->views[i].name.len > PHI__DEFERRAL_INDEX) {
            unsaid++;
            continue;
        }
        phi__buf_text(&text, text.len > begin ? ", " : " ");
        phi__buf_add_str(&text, set->views[i].name);
    }
    if (unsaid > 0) phi__buf_printf(&text, " and %llu more", (unsigned long long)unsaid);
    bool done = !text.failed && phi__arena_str(arena, phi__buf_str(&text), system_prompt);
    phi__buf_free(&text);
    return done;
}

/* ---- tools that a provider's search has found ---- */

typedef struct phi__defer_hits {
    phi_str names[PHI__DEFERRAL_HITS]; /* each once */
    size_t count;
} phi__defer_hits;

/* What the view says was found. A name with an escape in it is none of a tool's. False: no
   memory. */
static bool phi__defer_look_hits(const phi__agent *agent, phi_arena *arena,
                                 phi__defer_hits **hits) {
    const phi__fold *fold = &agent->thread->fold;
    phi_str name;
    size_t j, at;
    *hits = NULL;
    if (!fold->opaque || !phi__defer_native(agent)) return true;
    for (size_t i = 0; i < fold->count; i++) {
        const phi_message *m = fold->items[i].message;
        for (j = 0; j < m->content_count; j++)
            for (at = 0; phi__takes_reference(&m->content[j], &at, &name);) {
                if (*hits == NULL) *hits = (phi__defer_hits *)phi__arena_zero(arena, sizeof **hits);
                if (*hits == NULL) return false;
                if (name.len == 0 || memchr(name.at, '\\', name.len) != NULL) continue;
                size_t k = 0;
                while (k < (*hits)->count && !phi_str_equal((*hits)->names[k], name)) k++;
                if (k == (*hits)->count && k < PHI__DEFERRAL_HITS)
                    (*hits)->names[(*hits)->count++] = name;
            }
    }
    return true;
}

/* Claude refuses a history whose search found a tool that is not there any more: such a one stays,
   as a name, and a call of it fails. Raw tools may be those. False: no memory. */
static bool phi__defer_gone(const phi__agent *agent, phi_arena *arena, const phi__defer_hits *hits,
                            phi__toolset_change *change) {
    const phi__toolset *set = agent->tools;
    phi__tool_view *more;
    if (set->has_raw || agent->desc.tool_options.raw_tool_count > 0) return true;
    more = (phi__tool_view *)phi__arena_zero(arena, phi__mul(hits->count, sizeof *more));
    if (more == NULL) return false;
    change->more = more;
    for (size_t i = 0; i < hits->count; i++) {
        if (phi__toolset_find(set, hits->names[i]) != NULL) continue;
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
                                const phi__defer_hits *hits, phi__toolset_change *change) {
    const phi__toolset *set = agent->tools;
    uint8_t *marks = (uint8_t *)phi__arena_zero(arena, phi__max(set->count, 1));
    size_t k;
    if (marks == NULL) return false;
    if (change->marks != NULL) memcpy(marks, change->marks, set->count);
    for (size_t i = 0; i < hits->count; i++)
        for (k = 0; k < set->count; k++)
            if (set->tools[k].raw == NULL && phi_str_equal(set->views[k].name, hits->names[i])) {
                marks[k] = PHI__TOOLSET_DEFERRED;
                change->marks = marks;
            }
    return true;
}

PHI__FN bool phi__defer_change(phi__agent *agent, phi_arena *arena, phi__toolset_change *change,
                               phi_str *system_prompt) {
    phi__defer_hits *hits;
    memset(change, 0, sizeof *change);
    if (!agent->tools->may_defer && !agent->thread->fold.opaque) return true;
    phi__defer_plan plan = phi__defer_plan_of(agent);
    if (!phi__defer_look_hits(agent, arena, &hits)) return false;
    if (hits != NULL && !phi__defer_gone(agent, arena, hits, change)) return false;
    if (plan.way != PHI__DEFERRAL_NONE) {
        if (!phi__defer_look(agent, arena)) return false;
        const phi__toolset *set = agent->tools;
        uint8_t *marks = (uint8_t *)phi__arena_zero(arena, phi__max(set->count, 1));
        if (marks == NULL) return false;
        for (size_t i = 0; i < set->count; i++) {
            if (!phi__defer_defers(plan, &set->tools[i])) continue;
            if (plan.way == PHI__DEFERRAL_OWN)
                marks[i] = PHI__TOOLSET_HIDDEN; /* a loaded one is among `more` */
            else if (!phi__defer_is_loaded(agent, set->views[i].name))
                marks[i] = PHI__TOOLSET_DEFERRED;
        }
        change->marks = marks;
    }
    if (hits != NULL && !phi__deferral_found(agent, arena, hits, change)) return false;
    return plan.way != PHI__DEFERRAL_OWN ||
           (phi__defer_more(agent, change->marks, arena, change) &&
            phi__defer_index(agent, change->marks, arena, system_prompt));
}

/* ---- search_tools and load_tools, for models whose provider has no tool search ----

   A search counts words: those in a name more than those in a description. It looks at so many
   tools in a step, and continues in the next one. */
