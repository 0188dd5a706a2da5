/* foreseen.c - prepares an agent's next request as far as its thinking goes, and names the thinking
   that it would leave out. The agent stays as it is: the items are copies without kept renderings,
   and the head is foreseen. */
#include "agent/agent_in.h"
#include "loop/deferral_in.h"
#include "loop/head_in.h"
#include "loop/toolset_in.h"
#include "wire/format_in.h"
#include "wire/prefix_in.h"
#include "wire/render_in.h"

#include <stdio.h>

typedef struct phi__foreseen {
    phi__agent *agent;
    phi_arena *arena;
    phi__fold fold; /* the view, and the prompt to come; its items are in the arena */
    phi_content text;
    phi_message prompt;
    phi__request_spec spec;
    bool left; /* the policy leaves messages out */
    bool said;
} phi__foreseen;

/* ---- the messages ---- */

static const phi_message *phi__foreseen_last(const phi__fold *fold) {
    size_t i;
    for (i = fold->count; i > 0; i--)
        if (fold->items[i - 1].message->role != PHI_ROLE_EXTENSION)
            return fold->items[i - 1].message;
    return NULL;
}

/* True if a prompt comes before the next request: no run is active, or it has its answer. */
static bool phi__foreseen_prompted(const phi__agent *agent, const phi_message *last) {
    size_t i;
    if (agent->run == NULL || last == NULL) return true;
    if (last->role != PHI_ROLE_ASSISTANT) return false;
    if (last->stop_reason == PHI_STOP_REASON_PAUSED) return false;
    for (i = 0; i < last->content_count; i++)
        if (last->content[i].kind == PHI_CONTENT_TOOL_CALL && !last->content[i].incomplete)
            return false;
    return true;
}

/* The view, and a short prompt behind it where one comes. False: no memory. */
static bool phi__foreseen_view(phi__foreseen *f) {
    const phi__fold *view = &f->agent->thread->fold;
    bool prompted = phi__foreseen_prompted(f->agent, phi__foreseen_last(view));
    f->text.kind = PHI_CONTENT_TEXT;
    f->text.text = PHI__LIT("-");
    f->prompt.role = PHI_ROLE_USER;
    f->prompt.content = &f->text;
    f->prompt.content_count = 1;
    return phi__fold_foresee(f->arena, view, prompted ? &f->prompt : NULL,
                             phi_thread_count(f->agent->thread), &f->fold);
}

/* The places of the items that the policy sends, in `made`; no policy: places is NULL. */
static phi_status phi__foreseen_project(phi__foreseen *f, phi__projection *made) {
    phi__project_order order;
    phi_status status;
    memset(made, 0, sizeof *made);
    made->count = f->fold.count;
    if (!phi__projection_order_of(f->agent, &order)) return PHI_OK;
    phi__fold_link(&f->fold);
    order.fold = &f->fold;
    order.count = f->fold.count;
    status = phi__project(&order, f->arena, made);
    f->left = made->meta.messages_included < made->meta.messages_total;
    return status;
}

/* Without the renderings that the agent keeps: they belong to its runs. */
static phi_status phi__foreseen_items(phi__foreseen *f) {
    phi__projection made;
    phi_status status = phi__foreseen_project(f, &made);
    phi__item *items;
    size_t i;
    if (status != PHI_OK) return status;
    items =
        (phi__item *)phi__arena_zero(f->arena, phi__mul(phi__max(made.count, 1), sizeof *items));
    if (items == NULL) return PHI_NO_MEMORY;
    for (i = 0; i < made.count; i++) {
        size_t place = made.places != NULL ? made.places[i] : i;
        const phi_message *m = place == SIZE_MAX ? made.messages[i] : f->fold.items[place].message;
        if (place != SIZE_MAX)
            items[i] = f->fold.items[place];
        else if (m->role == PHI_ROLE_ASSISTANT)
            items[i].origin = phi__codec_origin_of(m->model, m->provider, m->protocol);
        items[i].message = m;
        items[i].rendered = NULL;
        items[i].arena = NULL;
    }
    f->spec.items = items;
    f->spec.item_count = made.count;
    return PHI_OK;
}

/* ---- the request ---- */

/* As a model call's (loop/model_call.c). */
static phi_status phi__foreseen_spec(phi__foreseen *f, char *words, size_t words_size) {
    phi__agent *agent = f->agent;
    phi__request_spec *spec = &f->spec;
    bool raws = agent->run == NULL || agent->run->own.toolset == NULL;
    phi__toolset_change change;
    phi_status status;
    spec->model = &agent->desc.model;
    spec->system_prompt = agent->system_prompt;
    spec->tool_choice = agent->desc.tool_options.choice;
    spec->thinking = agent->desc.thinking;
    spec->max_tokens = agent->desc.max_tokens;
    spec->temperature = -1.0;
    spec->cache = agent->desc.cache;
    spec->format = agent->desc.format;
    spec->options = agent->desc.options;
    spec->texts = agent->desc.texts;
    spec->thinking_from = agent->prior.thinking.barred;
    if (!phi__deferral_change(agent, f->arena, &change, &spec->system_prompt) ||
        !phi__toolset_offer(agent->tools, &change, agent->desc.tool_options.raw_tools,
                            raws ? agent->desc.tool_options.raw_tool_count : 0, agent->codec->names,
                            f->arena, &spec->tools, &spec->tool_count) ||
        !phi__foreseen_view(f))
        return PHI_NO_MEMORY;
    status = phi__foreseen_items(f);
    if (status != PHI_OK) return status;
    spec->rewritten = agent->thread->ops.last != NULL || f->left;
    if (!phi__head_foresee(agent, spec, f->arena)) return PHI_NO_MEMORY;
    return phi__format_apply(agent->codec, spec, f->arena, words, words_size);
}

/* ---- the words ---- */

/* As phi__thinking_cause of loop/thinking.c, of a request that no hook has seen. */
static const char *phi__foreseen_cause(const phi__foreseen *f, phi__prefix_cause cause) {
    const phi__op *op = f->agent->thread->ops.last;
    if (cause != PHI__PREFIX_MESSAGES) return phi__prefix_words(cause);
    if (f->left) return "the messages before it have changed (the policy)";
    if (op == NULL) return phi__prefix_words(cause);
    switch (op->rewrite.reason) {
    case PHI_REWRITE_COMPACTION: return "the messages before it have changed (a compaction)";
    case PHI_REWRITE_PRUNE: return "the messages before it have changed (a prune)";
    case PHI_REWRITE_REVERT: return "the messages before it have changed (a revert)";
    default: return "the messages before it have changed (a rewrite)";
    }
}

static bool phi__foreseen_thinks(const phi_message *m) {
    size_t i;
    for (i = 0; i < m->content_count; i++)
        if (m->content[i].kind == PHI_CONTENT_THINKING && !m->content[i].incomplete &&
            (m->content[i].signature.len > 0 || m->content[i].replay.len > 0))
            return true;
    return false;
}

static void phi__foreseen_say(phi__foreseen *f, char *words, size_t words_size, size_t answers,
                              uint64_t from, const char *cause) {
    size_t n = strlen(words);
    f->said = true;
    (void)snprintf(words + n, words_size - n,
                   "%sthe thinking of %llu answer%s, from entry %llu on, will be left out: %s",
                   n > 0 ? "; " : "", (unsigned long long)answers, answers == 1 ? "" : "s",
                   (unsigned long long)from, cause);
}

/* Signed thinking of other models goes back to none of this one. */
static void phi__foreseen_others(phi__foreseen *f, const phi__encoder *e, char *words,
                                 size_t words_size) {
    size_t i, n = 0, first = 0;
    for (i = 0; i < f->spec.item_count; i++) {
        const phi_message *m = f->spec.items[i].message;
        if (m->role != PHI_ROLE_ASSISTANT || !phi__foreseen_thinks(m)) continue;
        if (phi__render_same_origin(e, i)) continue;
        if (n++ == 0) first = i;
    }
    if (n > 0)
        phi__foreseen_say(f, words, words_size, n, f->spec.items[first].from,
                          "another model has made it");
}

/* False: no memory. */
static bool phi__foreseen_look(phi__foreseen *f, char *words, size_t words_size) {
    const phi__codec *codec = f->agent->codec;
    phi__binding binding =
        codec->rules->binding != NULL ? codec->rules->binding(&f->spec) : PHI__BINDS_NOT;
    phi__prefix *p = NULL;
    phi__encoder e;
    size_t units = SIZE_MAX;
    bool done = true;
    phi__encoder_begin(&e, codec, &f->spec, f->arena);
    if (binding != PHI__BINDS_NOT) {
        p = phi__prefix_begin(&e, binding == PHI__BINDS_COUNTED);
        done = p != NULL && phi__prefix_advance(&e, p, &units) && !e.failed;
    }
    if (done && p != NULL && p->first != SIZE_MAX)
        phi__foreseen_say(f, words, words_size, p->dropped, f->spec.items[p->first].from,
                          phi__foreseen_cause(f, p->cause));
    if (done) phi__foreseen_others(f, &e, words, words_size);
    phi__encoder_free(&e);
    return done;
}

PHI__FN phi_status phi__foreseen_thinking(phi_agent handle, phi_arena *scratch, char *words,
                                          size_t words_size) {
    phi__agent *agent = phi__find_agent(handle);
    phi__foreseen f;
    phi_status status;
    if (agent == NULL) return PHI_STALE;
    if (agent->provider != NULL) return PHI_OK;
    memset(&f, 0, sizeof f);
    f.agent = agent;
    f.arena = scratch;
    status = phi__foreseen_spec(&f, words, words_size);
    if (status == PHI_OK && !phi__foreseen_look(&f, words, words_size)) status = PHI_NO_MEMORY;
    if (status != PHI_OK) return status;
    return f.said ? PHI_UNSUPPORTED : PHI_OK;
}
