/* deferral.c - chooses the tools that requests name but do not define, and keeps the names of
   loaded tools. */
#include "loop/inner_in.h"

#define PHI__DEFERRAL_SEARCH "search_tools"
#define PHI__DEFERRAL_LOAD "load_tools"

/* The start of the details in a result of load_tools. */
#define PHI__DEFERRAL_DETAILS "{\"loaded\":["

enum { PHI__DEFERRAL_LOADED = 1024 }; /* maximum of loaded tools for an agent; more are not kept */

enum {
    PHI__DEFERRAL_WINDOW = 128000, /* default of phi_model.context_window */
    PHI__DEFERRAL_INDEX = 8192,    /* maximum of bytes for names in the system prompt */
    PHI__DEFERRAL_HITS = 1024      /* maximum of found tools for a view */
};

/* ---- choosing the deferred tools ---- */

/* True if the name is that of one of phi's two tools. */
static bool phi__defer_is_own(phi_str name) {
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

/* Returns 1 + the tokens of the tools that may be deferred. Counts again only if the token counter
   has changed. */
static uint64_t phi__defer_sum(const phi__agent *agent) {
    phi__toolset *set = agent->tools;
    phi_token_counter none = PHI_ZERO;
    const phi_token_counter *own = agent->projected != NULL ? &agent->projected->counter : NULL;
    const phi_token_counter *by = own != NULL ? own : &none;
    if (set->deferrable > 0 && set->counted_by.count_text == by->count_text &&
        set->counted_by.user_data == by->user_data)
        return set->deferrable;
    set->counted_by = *by;
    set->deferrable = 1; /* 0 means that the set was not counted */
    for (size_t i = 0; i < set->count; i++) {
        const phi__tool_view *view = &set->views[i];
        if (!set->tools[i].may_defer || set->tools[i].raw != NULL) continue;
        set->deferrable += (uint64_t)phi_tokens_of_text(own, view->name) +
                           phi_tokens_of_text(own, view->description) +
                           phi_tokens_of_text(own, view->schema);
    }
    return set->deferrable;
}

static phi__defer_plan phi__defer_plan_of(const phi__agent *agent) {
    const phi__toolset *set = agent->tools;
    phi__defer_plan plan = {PHI__DEFERRAL_NONE, false};
    bool any = false;
    if (!set->may_defer) return plan;
    plan.way = phi__defer_native(agent) ? PHI__DEFERRAL_NATIVE : PHI__DEFERRAL_OWN;
    uint64_t window = agent->desc.model.context_window,
             percent = agent->desc.tool_options.defer_percent;
    if (window == 0) window = PHI__DEFERRAL_WINDOW;
    plan.above = percent != PHI_UNLIMITED && phi__defer_sum(agent) - 1 > window * percent / 100;
    for (size_t i = 0; i < set->count && !any; i++) any = phi__defer_defers(plan, &set->tools[i]);
    if (!any) plan.way = PHI__DEFERRAL_NONE;
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

/* Records a tool as loaded if there is room. False: no memory. */
static bool phi__defer_keep(phi__agent *agent, phi_str name) {
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

/* Records the tools that results in the view have loaded. False: no memory. */
static bool phi__defer_look(phi__agent *agent, phi_arena *arena) {
    const phi__fold *fold = &agent->thread->fold;
    for (size_t i = 0; i < fold->count; i++) {
        const phi_message *m = fold->items[i].message;
        if (m->role != PHI_ROLE_TOOL_RESULT || !phi__str_is(m->tool_name, PHI__DEFERRAL_LOAD) ||
            !phi__str_starts(m->details, PHI__DEFERRAL_DETAILS))
            continue;
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

/* Describes phi's two tools for a model, the search first. */
static void phi__defer_describe(phi__tool_view out[2]) {
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

/* Adds phi's tools and the loaded tools, in the order of loading. False: no memory. */
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

/* Appends the names of all deferred tools, loaded or not, to the system prompt, so that the prompt
   does not change when a tool is loaded. False: no memory. */
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
    phi_str names[PHI__DEFERRAL_HITS]; /* each name once */
    size_t count;
} phi__defer_hits;

/* Finds the names that the provider's searches in the view have found. A tool's name contains no
   escape sequence, so a name with an escape sequence is skipped. False: no memory. */
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

/* Claude refuses a history whose search found a tool that no longer exists. So each missing tool
   gets a definition without parameters, and calls of it fail. If there are raw tools, does nothing,
   because the name may be that of a raw tool. False: no memory. */
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

/* Defers all tools that searches in the view have found, even loaded ones, because the model gave
   its later answers while these tools were deferred. False: no memory. */
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

/* Computes the changes of a request's tools and system prompt, in the arena. False: no memory. */
static bool phi__defer_change(phi__agent *agent, phi_arena *arena, phi__toolset_change *change,
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
                marks[i] = PHI__TOOLSET_HIDDEN; /* if the tool is loaded, `more` has it */
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

   A search ranks tools by the words they contain; a word in a name counts more than one in a
   description. Each step searches a limited number of tools. */

/* Returns the name of a tool that must not exist together with deferred tools. NULL: none. */
static const char *phi__defer_refuses(const phi_tool *tools, size_t count) {
    bool any = false;
    for (size_t i = 0; i < count; i++) any = any || (tools[i].deferred && tools[i].raw == NULL);
    for (size_t i = 0; i < count && any; i++)
        if (phi__defer_is_own(phi_str_of(tools[i].name))) return tools[i].name;
    return NULL;
}

static void phi__defer_free(phi__agent *agent) {
    phi__deferral *d = agent->prior.deferral;
    phi_arena_free(&d->arena);
    phi__free(&agent->memory, d->names, d->cap * sizeof *d->names);
    phi__free(&agent->memory, d, sizeof *d);
    agent->prior.deferral = NULL;
}

static void phi__defer_save(phi__buf *out, const phi__agent *agent) {
    const phi__deferral *d = agent->prior.deferral;
    phi__records_strs(out, "loaded_tools", d->names, d->count);
}

/* Loads the names from a snapshot. False: no memory. */
static bool phi__defer_load(phi__agent *agent, const phi_json *names) {
    phi_json_iter it = phi_json_each(names);
    const phi_json *name;
    while ((name = phi_json_next(&it)) != NULL)
        if (!phi__defer_keep(agent, phi_json_str(name, ""))) return false;
    return true;
}

enum {
    PHI__DEFERRAL_WORDS = 8,       /* words of a query; more are ignored */
    PHI__DEFERRAL_WORD = 32,       /* bytes of a word */
    PHI__DEFERRAL_FOUND = 10,      /* tools in an answer */
    PHI__DEFERRAL_SLICE = 256,     /* tools searched in a step */
    PHI__DEFERRAL_LOOKED = 1024,   /* bytes of a description that are searched */
    PHI__DEFERRAL_SHOWN = 200,     /* bytes of a description that are shown */
    PHI__DEFERRAL_LOADS = 32,      /* names in a call of load_tools */
    PHI__DEFERRAL_NAME = 10,       /* points for a word in the name */
    PHI__DEFERRAL_DESCRIPTION = 1, /* points for a word in the description */
    PHI__DEFERRAL_ALL = 5          /* points for a tool that contains all words */
};

typedef struct phi__defer_search {
    char words[PHI__DEFERRAL_WORDS][PHI__DEFERRAL_WORD];
    size_t word_count, at, found_count;
    size_t found[PHI__DEFERRAL_FOUND]; /* best first */
    uint32_t points[PHI__DEFERRAL_FOUND];
} phi__defer_search;

static phi_flow phi__defer_say(phi_call call, phi_str text, phi_str details, bool is_error) {
    phi_content content;
    phi_tool_result result = phi__call_text(&content, text, is_error);
    result.details = details.at;
    (void)phi_call_result(call, &result);
    return PHI_DONE;
}

static phi_flow phi__defer_fail(phi_call call, const char *words) {
    return phi__defer_say(call, phi_str_of(words), phi__str(NULL, 0), true);
}

static uint32_t phi__defer_points(const phi__defer_search *s, const phi__tool_view *view) {
    phi_str description = view->description;
    uint32_t points = 0;
    size_t had = 0;
    description.len = phi__min(description.len, PHI__DEFERRAL_LOOKED);
    for (size_t i = 0; i < s->word_count; i++) {
        bool in_name = phi__str_find_nocase(view->name, 0, s->words[i]) != SIZE_MAX;
        bool in_words = phi__str_find_nocase(description, 0, s->words[i]) != SIZE_MAX;
        points += (in_name ? (uint32_t)PHI__DEFERRAL_NAME : 0u) +
                  (in_words ? (uint32_t)PHI__DEFERRAL_DESCRIPTION : 0u);
        had += in_name || in_words;
    }
    return points + (had == s->word_count ? (uint32_t)PHI__DEFERRAL_ALL : 0u);
}

/* Inserts a tool into the list of the best tools, after tools with equal points. */
static void phi__defer_rank(phi__defer_search *s, size_t tool, uint32_t points) {
    size_t at = s->found_count;
    while (at > 0 && s->points[at - 1] < points) at--;
    if (at >= PHI__DEFERRAL_FOUND) return;
    if (s->found_count < PHI__DEFERRAL_FOUND) s->found_count++;
    memmove(&s->found[at + 1], &s->found[at], (s->found_count - at - 1) * sizeof s->found[0]);
    memmove(&s->points[at + 1], &s->points[at], (s->found_count - at - 1) * sizeof s->points[0]);
    s->found[at] = tool;
    s->points[at] = points;
}

static phi_flow phi__deferral_tools_found(phi__toolcall *call, const phi__defer_search *s) {
    phi__agent *agent = call->run->agent;
    const phi__toolset *set = agent->tools;
    phi_call handle = phi__call_handle(call);
    phi__buf text;
    if (s->found_count == 0)
        return phi__defer_say(handle, PHI__LIT("No tool has any of these words."),
                              phi__str(NULL, 0), false);
    phi__buf_init(&text, &agent->memory);
    for (size_t i = 0; i < s->found_count; i++) {
        const phi__tool_view *view = &set->views[s->found[i]];
        size_t n = phi__utf8_cut(view->description, PHI__DEFERRAL_SHOWN);
        if (i > 0) phi__buf_char(&text, '\n');
        phi__buf_add_str(&text, view->name);
        if (phi__defer_is_loaded(agent, view->name)) phi__buf_text(&text, " (loaded)");
        if (n > 0) phi__buf_text(&text, ": ");
        phi__buf_add(&text, view->description.at, n);
        if (n < view->description.len) phi__buf_text(&text, "...");
    }
    if (text.failed)
        (void)phi__defer_fail(handle, "no memory");
    else
        (void)phi__defer_say(handle, phi__buf_str(&text), phi__str(NULL, 0), false);
    phi__buf_free(&text);
    return PHI_DONE;
}

static phi_flow phi__defer_search_step(void *user_data, phi_call handle) {
    phi__toolcall *call = phi__call_find(handle);
    phi__defer_search *s = (phi__defer_search *)phi_call_state(handle, sizeof *s);
    (void)user_data;
    if (call == NULL || s == NULL) return phi__defer_fail(handle, "no memory");
    const phi__agent *agent = call->run->agent;
    phi__defer_plan plan = phi__defer_plan_of(agent);
    size_t to = phi__min(phi__add(s->at, PHI__DEFERRAL_SLICE), agent->tools->count);
    for (; s->at < to; s->at++) {
        if (!phi__defer_defers(plan, &agent->tools->tools[s->at])) continue;
        uint32_t points = phi__defer_points(s, &agent->tools->views[s->at]);
        if (points > 0) phi__defer_rank(s, s->at, points);
    }
    if (s->at >= agent->tools->count) return phi__deferral_tools_found(call, s);
    call->rt->polls.busy = true;
    return PHI_PENDING;
}

/* Parses the arguments. False: there is no memory, or the arguments are not JSON. The call then has
   an error as its result. */
static bool phi__defer_parse(phi_call call, phi_arena *arena, phi_str arguments, phi_json **root) {
    phi_status status = phi_json_parse(arena, arguments, PHI_JSON_BORROW, root, NULL);
    if (status == PHI_OK) return true;
    (void)phi__defer_fail(call,
                          status == PHI_NO_MEMORY ? "no memory" : "Invalid arguments: not JSON");
    return false;
}

static phi_flow phi__defer_search_start(void *user_data, phi_call call, phi_str arguments) {
    phi__defer_search *s = (phi__defer_search *)phi_call_state(call, sizeof *s);
    phi__toolcall *found = phi__call_find(call);
    phi_arena scratch;
    phi_json *root = NULL;
    if (s == NULL || found == NULL) return phi__defer_fail(call, "no memory");
    phi_arena_init(&scratch, &found->run->agent->memory, 0);
    bool parsed = phi__defer_parse(call, &scratch, arguments, &root);
    if (parsed) {
        phi_str query = phi_json_str(phi_json_get(root, "query"), "");
        size_t i = 0, n;
        while (i < query.len && s->word_count < PHI__DEFERRAL_WORDS) {
            char *word = s->words[s->word_count];
            for (n = 0; i < query.len; i++) {
                char c = query.at[i];
                if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      (unsigned char)c >= 0x80))
                    break;
                if (n + 1 < PHI__DEFERRAL_WORD) word[n++] = c;
            }
            word[n] = '\0';
            if (n > 0)
                s->word_count++;
            else
                i++;
        }
    }
    phi_arena_free(&scratch);
    if (!parsed) return PHI_DONE;
    if (s->word_count == 0)
        return phi__defer_fail(call, "Invalid arguments: query: expected words");
    return phi__defer_search_step(user_data, call);
}

typedef struct phi__defer_answer {
    phi__agent *agent;
    phi__buf loaded, missing; /* texts for the model */
    phi__buf details;
    bool failed, full;
} phi__defer_answer;

static void phi__defer_add(phi__buf *out, phi_str name) {
    if (out->len > 0) phi__buf_text(out, ", ");
    phi__buf_add(out, name.at, phi__utf8_cut(name, 128));
}

/* Loads a tool. Reports a tool that is not deferred as loaded, because it can be called, too. */
static void phi__defer_load_one(phi__defer_answer *a, phi__defer_plan plan, phi_str name) {
    const phi_tool *tool = phi__toolset_find(a->agent->tools, name);
    if (tool == NULL) {
        phi__defer_add(&a->missing, name);
        return;
    }
    if (!phi__defer_defers(plan, tool)) {
        phi__defer_add(&a->loaded, name);
        return;
    }
    if (!phi__defer_keep(a->agent, name)) a->failed = true;
    if (!phi__defer_is_loaded(a->agent, name)) {
        a->full = true;
        return;
    }
    phi__defer_add(&a->loaded, name);
    if (a->details.len == 0) phi__buf_text(&a->details, PHI__DEFERRAL_DETAILS);
    phi__json_write_comma(&a->details);
    phi__json_write_str(&a->details, name);
}

static phi_flow phi__defer_loaded(phi_call call, phi__defer_answer *a) {
    phi__buf *text = &a->loaded;
    bool any = text->len > 0;
    if (any) phi__buf_text(text, ": loaded.");
    if (a->missing.len > 0) {
        phi__buf_text(text, any ? " Not found: " : "Not found: ");
        phi__buf_add_str(text, phi__buf_str(&a->missing));
        phi__buf_text(text, ". Find names with " PHI__DEFERRAL_SEARCH ".");
    }
    if (a->full) phi__buf_text(text, any || a->missing.len > 0 ? " " : "");
    if (a->full)
        phi__buf_printf(text, "No more than %d tools can be loaded.", PHI__DEFERRAL_LOADED);
    if (a->details.len > 0) phi__buf_text(&a->details, "]}");
    phi__buf_char(&a->details, '\0');
    if (a->failed || text->failed || a->missing.failed || a->details.failed)
        return phi__defer_fail(call, "no memory");
    return phi__defer_say(call, phi__buf_str(text),
                          a->details.len > 1 ? phi__buf_str(&a->details) : phi__str(NULL, 0), !any);
}

static phi_flow phi__defer_load_start(void *user_data, phi_call call, phi_str arguments) {
    phi__toolcall *found = phi__call_find(call);
    phi_arena scratch;
    phi_json *root = NULL;
    phi_json_iter it;
    (void)user_data;
    if (found == NULL) return PHI_DONE;
    phi__defer_answer a = PHI_ZERO;
    a.agent = found->run->agent;
    phi__defer_plan plan = phi__defer_plan_of(a.agent);
    phi_arena_init(&scratch, &a.agent->memory, 0);
    phi__buf_init(&a.loaded, &a.agent->memory);
    phi__buf_init(&a.missing, &a.agent->memory);
    phi__buf_init(&a.details, &a.agent->memory);
    if (phi__defer_parse(call, &scratch, arguments, &root)) {
        const phi_json *names = phi_json_get(root, "names");
        size_t n = phi_json_is(names, PHI_JSON_ARRAY) ? phi_json_count(names) : 0;
        it = phi_json_each(names);
        if (n == 0 || n > PHI__DEFERRAL_LOADS)
            (void)phi__defer_fail(call, "Invalid arguments: names: expected 1 to 32 names");
        else {
            while (n-- > 0) phi__defer_load_one(&a, plan, phi_json_str(phi_json_next(&it), ""));
            (void)phi__defer_loaded(call, &a);
        }
    }
    phi__buf_free(&a.loaded);
    phi__buf_free(&a.missing);
    phi__buf_free(&a.details);
    phi_arena_free(&scratch);
    return PHI_DONE;
}

/* Returns the tool that a call of this name starts. NULL: there is no such tool, or the tool is not
   loaded. */
static const phi_tool *phi__defer_find(phi__agent *agent, phi_str name) {
    phi__toolset *set = agent->tools;
    const phi_tool *tool = phi__toolset_find(set, name);
    /* avoids computing the plan, which is slow */
    if (tool == NULL && !phi__defer_is_own(name)) return NULL;
    phi__defer_plan plan = phi__defer_plan_of(agent);
    if (tool != NULL) {
        if (plan.way != PHI__DEFERRAL_OWN || !phi__defer_defers(plan, tool)) return tool;
        if (!phi__defer_is_loaded(agent, name)) {
            /* Without memory for this search, only tools that were recorded earlier count as
               loaded. */
            phi_arena scratch;
            phi_arena_init(&scratch, &agent->memory, 0);
            (void)phi__defer_look(agent, &scratch);
            phi_arena_free(&scratch);
        }
        return phi__defer_is_loaded(agent, name) ? tool : NULL;
    }
    if (plan.way != PHI__DEFERRAL_OWN) return NULL;
    phi__tool_view views[2];
    /* the set has room for these two tools; their timeouts are set already */
    phi_tool *out = set->finders;
    phi__defer_describe(views);
    for (size_t i = 0; i < 2; i++) {
        out[i].name = views[i].name.at;
        out[i].description = views[i].description.at;
        out[i].schema = views[i].schema.at;
        out[i].checks_arguments = out[i].deterministic = out[i].unlisted = true;
    }
    out[0].start = phi__defer_search_start;
    out[0].step = phi__defer_search_step;
    out[1].start = phi__defer_load_start;
    return out + phi__str_is(name, PHI__DEFERRAL_LOAD);
}

PHI__FN const phi__deferral_ops *phi__deferral_tools_ops(void) {
    static const phi__deferral_ops all = {phi__defer_plan_of, phi__defer_change, phi__defer_find,
                                          phi__defer_refuses, phi__defer_free,   phi__defer_save,
                                          phi__defer_load};
    return &all;
}
