/* deferral_tools.c - search_tools and load_tools, for models whose provider has no tool search.

   A search counts words: those in a name more than those in a description. It looks at so many
   tools in a step, and continues in the next one. */
#include "base/utf8_in.h"
#include "loop/deferral_in.h"
#include "loop/loop_in.h"

enum {
    PHI__DEFERRAL_WORDS = 8,       /* of a query; more are not looked at */
    PHI__DEFERRAL_WORD = 32,       /* bytes of one */
    PHI__DEFERRAL_FOUND = 10,      /* tools in an answer */
    PHI__DEFERRAL_SLICE = 256,     /* tools in a step */
    PHI__DEFERRAL_LOOKED = 1024,   /* bytes of a description that are searched */
    PHI__DEFERRAL_SHOWN = 200,     /* ... and that are shown */
    PHI__DEFERRAL_LOADS = 32,      /* names in a call of load_tools */
    PHI__DEFERRAL_NAME = 10,       /* points of a word in a name */
    PHI__DEFERRAL_DESCRIPTION = 1, /* ... in a description */
    PHI__DEFERRAL_ALL = 5          /* of a tool that has all words */
};

typedef struct phi__deferral_search {
    char words[PHI__DEFERRAL_WORDS][PHI__DEFERRAL_WORD];
    size_t word_count, at, found_count;
    size_t found[PHI__DEFERRAL_FOUND]; /* the best first */
    uint32_t points[PHI__DEFERRAL_FOUND];
} phi__deferral_search;

static phi_flow phi__deferral_tools_say(phi_call call, phi_str text, phi_str details,
                                        bool is_error) {
    phi_content content;
    phi_tool_result result;
    memset(&content, 0, sizeof content);
    memset(&result, 0, sizeof result);
    content.kind = PHI_CONTENT_TEXT;
    content.text = text;
    result.content = &content;
    result.content_count = 1;
    result.details = details.at;
    result.is_error = is_error;
    (void)phi_call_result(call, &result);
    return PHI_DONE;
}

static phi_flow phi__deferral_tools_fail(phi_call call, const char *words) {
    return phi__deferral_tools_say(call, phi_str_of(words), phi__str(NULL, 0), true);
}

/* ---- search_tools ---- */

static bool phi__deferral_tools_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (unsigned char)c >= 0x80;
}

static void phi__deferral_tools_split(phi__deferral_search *s, phi_str query) {
    size_t i = 0, n;
    while (i < query.len && s->word_count < PHI__DEFERRAL_WORDS) {
        char *word = s->words[s->word_count];
        for (n = 0; i < query.len && phi__deferral_tools_letter(query.at[i]); i++)
            if (n + 1 < PHI__DEFERRAL_WORD) word[n++] = query.at[i];
        word[n] = '\0';
        if (n > 0)
            s->word_count++;
        else
            i++;
    }
}

static uint32_t phi__deferral_tools_points(const phi__deferral_search *s,
                                           const phi__tool_view *view) {
    phi_str description = view->description;
    uint32_t points = 0;
    size_t i, had = 0;
    description.len = phi__min(description.len, PHI__DEFERRAL_LOOKED);
    for (i = 0; i < s->word_count; i++) {
        bool in_name = phi__str_find_nocase(view->name, 0, s->words[i]) != SIZE_MAX;
        bool in_words = phi__str_find_nocase(description, 0, s->words[i]) != SIZE_MAX;
        points += (in_name ? (uint32_t)PHI__DEFERRAL_NAME : 0u) +
                  (in_words ? (uint32_t)PHI__DEFERRAL_DESCRIPTION : 0u);
        had += in_name || in_words;
    }
    return points + (had == s->word_count ? (uint32_t)PHI__DEFERRAL_ALL : 0u);
}

/* Among the best, behind those that are as good. */
static void phi__deferral_tools_rank(phi__deferral_search *s, size_t tool, uint32_t points) {
    size_t at = s->found_count;
    while (at > 0 && s->points[at - 1] < points) at--;
    if (at >= PHI__DEFERRAL_FOUND) return;
    if (s->found_count < PHI__DEFERRAL_FOUND) s->found_count++;
    memmove(&s->found[at + 1], &s->found[at], (s->found_count - at - 1) * sizeof s->found[0]);
    memmove(&s->points[at + 1], &s->points[at], (s->found_count - at - 1) * sizeof s->points[0]);
    s->found[at] = tool;
    s->points[at] = points;
}

static phi_flow phi__deferral_tools_found(phi__toolcall *call, const phi__deferral_search *s) {
    phi__agent *agent = call->run->agent;
    const phi__toolset *set = agent->tools;
    phi_call handle = phi__call_handle(call);
    phi__buf text;
    size_t i;
    if (s->found_count == 0)
        return phi__deferral_tools_say(handle, PHI__LIT("No tool has any of these words."),
                                       phi__str(NULL, 0), false);
    phi__buf_init(&text, &agent->memory);
    for (i = 0; i < s->found_count; i++) {
        const phi__tool_view *view = &set->views[s->found[i]];
        size_t n = phi__utf8_cut(view->description, PHI__DEFERRAL_SHOWN);
        if (i > 0) phi__buf_char(&text, '\n');
        phi__buf_add_str(&text, view->name);
        if (phi__deferral_is_loaded(agent, view->name)) phi__buf_text(&text, " (loaded)");
        if (n > 0) phi__buf_text(&text, ": ");
        phi__buf_add(&text, view->description.at, n);
        if (n < view->description.len) phi__buf_text(&text, "...");
    }
    if (text.failed)
        (void)phi__deferral_tools_fail(handle, "no memory");
    else
        (void)phi__deferral_tools_say(handle, phi__buf_str(&text), phi__str(NULL, 0), false);
    phi__buf_free(&text);
    return PHI_DONE;
}

static phi_flow phi__deferral_tools_search_step(void *user_data, phi_call handle) {
    phi__toolcall *call = phi__call_find(handle);
    phi__deferral_search *s = (phi__deferral_search *)phi_call_state(handle, sizeof *s);
    const phi__agent *agent;
    phi__deferral_plan plan;
    size_t to;
    (void)user_data;
    if (call == NULL || s == NULL) return phi__deferral_tools_fail(handle, "no memory");
    agent = call->run->agent;
    plan = phi__deferral_plan_of(agent);
    to = phi__min(phi__add(s->at, PHI__DEFERRAL_SLICE), agent->tools->count);
    for (; s->at < to; s->at++) {
        uint32_t points;
        if (!phi__deferral_defers(plan, &agent->tools->tools[s->at])) continue;
        points = phi__deferral_tools_points(s, &agent->tools->views[s->at]);
        if (points > 0) phi__deferral_tools_rank(s, s->at, points);
    }
    if (s->at >= agent->tools->count) return phi__deferral_tools_found(call, s);
    phi__call_has_work(call->rt);
    return PHI_PENDING;
}

/* The arguments are an object. False: it has a result. */
static bool phi__deferral_tools_parse(phi_call call, phi_arena *arena, phi_str arguments,
                                      phi_json **root) {
    phi_status status = phi_json_parse(arena, arguments, PHI_JSON_BORROW, root, NULL);
    if (status == PHI_OK) return true;
    (void)phi__deferral_tools_fail(call, status == PHI_NO_MEMORY ? "no memory"
                                                                 : "Invalid arguments: not JSON");
    return false;
}

static phi_flow phi__deferral_tools_search_start(void *user_data, phi_call call,
                                                 phi_str arguments) {
    phi__deferral_search *s = (phi__deferral_search *)phi_call_state(call, sizeof *s);
    phi__toolcall *found = phi__call_find(call);
    phi_arena scratch;
    phi_json *root = NULL;
    bool parsed;
    if (s == NULL || found == NULL) return phi__deferral_tools_fail(call, "no memory");
    phi_arena_init(&scratch, &found->run->agent->memory, 0);
    parsed = phi__deferral_tools_parse(call, &scratch, arguments, &root);
    if (parsed) phi__deferral_tools_split(s, phi_json_str(phi_json_get(root, "query"), ""));
    phi_arena_free(&scratch);
    if (!parsed) return PHI_DONE;
    if (s->word_count == 0)
        return phi__deferral_tools_fail(call, "Invalid arguments: query: expected words");
    return phi__deferral_tools_search_step(user_data, call);
}

/* ---- load_tools ---- */

typedef struct phi__deferral_answer {
    phi__agent *agent;
    phi__buf loaded, missing; /* words for the model */
    phi__buf details;
    bool failed, full;
} phi__deferral_answer;

static void phi__deferral_tools_add(phi__buf *out, phi_str name) {
    if (out->len > 0) phi__buf_text(out, ", ");
    phi__buf_add(out, name.at, phi__utf8_cut(name, 128));
}

/* A tool that is not deferred can be called as well. */
static void phi__deferral_tools_load_one(phi__deferral_answer *a, phi__deferral_plan plan,
                                         phi_str name) {
    const phi_tool *tool = phi__toolset_find(a->agent->tools, name);
    if (tool == NULL) {
        phi__deferral_tools_add(&a->missing, name);
        return;
    }
    if (!phi__deferral_defers(plan, tool)) {
        phi__deferral_tools_add(&a->loaded, name);
        return;
    }
    if (!phi__deferral_keep(a->agent, name)) a->failed = true;
    if (!phi__deferral_is_loaded(a->agent, name)) {
        a->full = true;
        return;
    }
    phi__deferral_tools_add(&a->loaded, name);
    if (a->details.len == 0) phi__buf_text(&a->details, PHI__DEFERRAL_DETAILS);
    phi__json_write_comma(&a->details);
    phi__json_write_str(&a->details, name);
}

static phi_flow phi__deferral_tools_loaded(phi_call call, phi__deferral_answer *a) {
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
        return phi__deferral_tools_fail(call, "no memory");
    return phi__deferral_tools_say(
        call, phi__buf_str(text),
        a->details.len > 1 ? phi__buf_str(&a->details) : phi__str(NULL, 0), !any);
}

static phi_flow phi__deferral_tools_load_start(void *user_data, phi_call call, phi_str arguments) {
    phi__toolcall *found = phi__call_find(call);
    phi__deferral_answer a;
    phi__deferral_plan plan;
    phi_arena scratch;
    phi_json *root = NULL;
    const phi_json *names;
    phi_json_iter it;
    size_t n;
    (void)user_data;
    if (found == NULL) return PHI_DONE;
    memset(&a, 0, sizeof a);
    a.agent = found->run->agent;
    plan = phi__deferral_plan_of(a.agent);
    phi_arena_init(&scratch, &a.agent->memory, 0);
    phi__buf_init(&a.loaded, &a.agent->memory);
    phi__buf_init(&a.missing, &a.agent->memory);
    phi__buf_init(&a.details, &a.agent->memory);
    if (phi__deferral_tools_parse(call, &scratch, arguments, &root)) {
        names = phi_json_get(root, "names");
        n = phi_json_is(names, PHI_JSON_ARRAY) ? phi_json_count(names) : 0;
        it = phi_json_each(names);
        if (n == 0 || n > PHI__DEFERRAL_LOADS)
            (void)phi__deferral_tools_fail(call,
                                           "Invalid arguments: names: expected 1 to 32 names");
        else {
            while (n-- > 0)
                phi__deferral_tools_load_one(&a, plan, phi_json_str(phi_json_next(&it), ""));
            (void)phi__deferral_tools_loaded(call, &a);
        }
    }
    phi__buf_free(&a.loaded);
    phi__buf_free(&a.missing);
    phi__buf_free(&a.details);
    phi_arena_free(&scratch);
    return PHI_DONE;
}

/* ---- both ---- */

/* The two as tools that can be called; their set has room for them, and their deadline. */
static const phi_tool *phi__deferral_tools_make(phi_tool out[2]) {
    phi__tool_view views[2];
    size_t i;
    phi__deferral_describe(views);
    for (i = 0; i < 2; i++) {
        out[i].name = views[i].name.at;
        out[i].description = views[i].description.at;
        out[i].schema = views[i].schema.at;
        out[i].checks_arguments = out[i].deterministic = out[i].unlisted = true;
    }
    out[0].start = phi__deferral_tools_search_start;
    out[0].step = phi__deferral_tools_search_step;
    out[1].start = phi__deferral_tools_load_start;
    return out;
}

PHI__FN const phi_tool *phi__deferral_tools_find(phi__agent *agent, phi_str name) {
    phi__toolset *set = agent->tools;
    const phi_tool *tool = phi__toolset_find(set, name);
    if (tool != NULL) return phi__deferral_hides(agent, name) ? NULL : tool;
    if (!phi__deferral_is_own(name) || phi__deferral_plan_of(agent).way != PHI__DEFERRAL_OWN)
        return NULL;
    return phi__deferral_tools_make(set->finders) + phi__str_is(name, PHI__DEFERRAL_LOAD);
}

PHI__FN const phi__deferral_ops *phi__deferral_tools_ops(void) {
    static const phi__deferral_ops all = {phi__deferral_plan_of,    phi__deferral_change,
                                          phi__deferral_tools_find, phi__deferral_refuses,
                                          phi__deferral_free,       phi__deferral_save,
                                          phi__deferral_load};
    return &all;
}
