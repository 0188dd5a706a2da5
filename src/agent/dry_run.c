/* dry_run.c - checks a transcript, settings or an agent before a request, and explains a view. */
#include "agent/agent_history.h"
#include "agent/agent_in.h"
#include "agent/dry_run.h"

#include <stdarg.h>
#include <stdio.h>

/* ---- the thinking that an agent's next request would leave out; the agent does not change ---- */

typedef struct phi__foreseen {
    phi__agent *agent;
    phi_arena *arena;
    phi__fold fold; /* the view and a prompt; the items are in the arena */
    phi_content text;
    phi_message prompt;
    phi__request_spec spec;
    bool left; /* the policy leaves messages out */
    bool said;
} phi__foreseen;

/* True if a prompt will precede the next request: no run is active, or the run has its final
   answer. */
static bool phi__ahead_prompted(const phi__agent *agent, const phi_message *last) {
    if (agent->run == NULL || last == NULL) return true;
    if (last->role != PHI_ROLE_ASSISTANT) return false;
    if (last->stop_reason == PHI_STOP_REASON_PAUSED) return false;
    for (size_t i = 0; i < last->content_count; i++)
        if (last->content[i].kind == PHI_CONTENT_TOOL_CALL && !last->content[i].incomplete)
            return false;
    return true;
}

/* Finds the places of the items that the policy sends. Without a policy made->places stays NULL. */
static phi_status phi__ahead_project(phi__foreseen *f, phi__projection *made) {
    phi__proj_order order;
    memset(made, 0, sizeof *made);
    made->count = f->fold.count;
    if (!phi__projection_order_of(f->agent, &order)) return PHI_OK;
    phi__fold_link(&f->fold);
    order.fold = &f->fold;
    order.count = f->fold.count;
    phi_status status = phi__project(&order, f->arena, made);
    f->left = made->meta.messages_included < made->meta.messages_total;
    return status;
}

/* Fills the spec as a model call does (loop/model_call.c). */
static phi_status phi__ahead_spec(phi__foreseen *f, char *words, size_t words_size) {
    phi__agent *agent = f->agent;
    phi__request_spec *spec = &f->spec;
    if (!phi__ask_spec(agent, f->arena, spec)) return PHI_NO_MEMORY;
    const phi__fold *view = &f->agent->thread->fold;
    bool prompted = phi__ahead_prompted(f->agent, phi__history_last(f->agent->thread));
    f->text.kind = PHI_CONTENT_TEXT;
    f->text.text = PHI__LIT("-");
    f->prompt.role = PHI_ROLE_USER;
    f->prompt.content = &f->text;
    f->prompt.content_count = 1;
    if (!phi__fold_foresee(f->arena, view, prompted ? &f->prompt : NULL,
                           phi_thread_count(f->agent->thread), &f->fold))
        return PHI_NO_MEMORY;
    phi__projection made;
    phi_status status = phi__ahead_project(f, &made);
    if (status != PHI_OK) return status;
    spec->items = phi__projection_items(f->arena, &f->fold, &made, false);
    if (spec->items == NULL) return PHI_NO_MEMORY;
    spec->item_count = made.count;
    spec->rewritten = spec->rewritten || f->left;
    if (!phi__head_foresee(agent, spec, f->arena)) return PHI_NO_MEMORY;
    return phi__format_apply(agent->codec, spec, f->arena, words, words_size);
}

static bool phi__ahead_thinks(const phi_message *m) {
    for (size_t i = 0; i < m->content_count; i++)
        if (m->content[i].kind == PHI_CONTENT_THINKING && !m->content[i].incomplete &&
            (m->content[i].signature.len > 0 || m->content[i].replay.len > 0))
            return true;
    return false;
}

static void phi__ahead_say(phi__foreseen *f, char *words, size_t words_size, size_t answers,
                           uint64_t from, const char *cause) {
    size_t n = strlen(words);
    f->said = true;
    (void)snprintf(words + n, words_size - n,
                   "%sthe thinking of %llu answer%s, from entry %llu on, will be left out: %s",
                   n > 0 ? "; " : "", (unsigned long long)answers, answers == 1 ? "" : "s",
                   (unsigned long long)from, cause);
}

/* Reports the thinking that the request would leave out. False: no memory. */
static bool phi__ahead_look(phi__foreseen *f, char *words, size_t words_size) {
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
        phi__ahead_say(f, words, words_size, p->dropped, f->spec.items[p->first].from,
                       phi__thinking_cause(f->agent, p->cause, false, f->left));
    if (done) {
        /* Thinking that another model signed is never sent to this model. */
        size_t n = 0, first = 0;
        for (size_t i = 0; i < f->spec.item_count; i++) {
            const phi_message *m = f->spec.items[i].message;
            if (m->role != PHI_ROLE_ASSISTANT || !phi__ahead_thinks(m)) continue;
            if (phi__render_same_origin(&e, i)) continue;
            if (n++ == 0) first = i;
        }
        if (n > 0)
            phi__ahead_say(f, words, words_size, n, f->spec.items[first].from,
                           "another model has made it");
    }
    phi__encoder_free(&e);
    return done;
}

/* Does phi_preflight for an agent. The caller resets the scratch arena. */
static phi_status phi__ahead_thinking(phi_agent handle, phi_arena *scratch, char *words,
                                      size_t words_size) {
    phi__agent *agent = phi__find_agent(handle);
    if (agent == NULL) return PHI_STALE;
    if (agent->provider != NULL) return PHI_OK;
    phi__foreseen f = PHI_ZERO;
    f.agent = agent;
    f.arena = scratch;
    phi_status status = phi__ahead_spec(&f, words, words_size);
    if (status == PHI_OK && !phi__ahead_look(&f, words, words_size)) status = PHI_NO_MEMORY;
    if (status != PHI_OK) return status;
    return f.said ? PHI_UNSUPPORTED : PHI_OK;
}

/* ---- checks of a transcript ---- */

static bool phi__dry_items(phi__request_spec *spec, const phi_message *messages, size_t count,
                           phi_arena *scratch) {
    phi__item *items =
        (phi__item *)phi__arena_zero(scratch, phi__mul(phi__max(count, 1), sizeof *items));
    if (items == NULL) return false;
    for (size_t i = 0; i < count; i++) items[i].message = &messages[i];
    spec->items = items;
    spec->item_count = count;
    return true;
}

static bool phi__dry_tools(phi__request_spec *spec, const phi_tool *tools, size_t count,
                           phi_arena *scratch) {
    phi__tool_view *views =
        (phi__tool_view *)phi__arena_zero(scratch, phi__mul(phi__max(count, 1), sizeof *views));
    if (views == NULL) return false;
    for (size_t i = 0; i < count; i++) {
        views[i].name = phi_str_of(tools[i].name);
        views[i].description = phi_str_of(tools[i].description);
        views[i].schema = tools[i].schema != NULL ? phi_str_of(tools[i].schema)
                                                  : PHI__LIT("{\"type\":\"object\"}");
        views[i].strict = tools[i].strict ? phi__format_ops() : NULL;
        views[i].is_raw = tools[i].raw != NULL && tools[i].schema == NULL;
    }
    spec->tools = views;
    spec->tool_count = count;
    return true;
}

/* Fills in all strings of a model that codecs expect, except the key. */
static phi_model phi__dry_model(const phi_model *model) {
    phi_model filled = *model;
    if (filled.id == NULL) filled.id = "";
    if (filled.name == NULL) filled.name = filled.id;
    if (filled.provider == NULL) filled.provider = filled.protocol;
    filled.provider =
        phi__message_read_provider(phi_str_of(filled.provider), phi_str_of(filled.protocol)).at;
    if (filled.base_url == NULL) filled.base_url = "";
    return filled;
}

/* Finds the codec of a model. NULL: there is no such protocol, and `words` has a message. */
static const phi__codec *phi__dry_codec(const phi_model *model, char *words, size_t words_size) {
    const phi__codec *codec = phi__codec_of(NULL, model);
    if (codec == NULL)
        (void)snprintf(words, words_size, "No provider registered for protocol: %s",
                       model->protocol);
    return codec;
}

/* Appends to the terminated text in words. */
static void phi__dry_say(char *words, size_t words_size, const char *format, ...) PHI_PRINTF(3, 4);

static void phi__dry_say(char *words, size_t words_size, const char *format, ...) {
    size_t n = strlen(words);
    va_list args;
    if (n > 0 && n + 2 < words_size) {
        memcpy(words + n, "; ", 3);
        n += 2;
    }
    va_start(args, format);
    (void)vsnprintf(words + n, words_size - n, format, args);
    va_end(args);
}

/* Checks both extras for members that phi writes itself, always or in this request. */
static phi_status phi__dry_extra(const phi__codec *codec, phi__request_spec *spec,
                                 const phi_agent_desc *desc, phi_arena *scratch, char *words,
                                 size_t words_size) {
    const char *const extras[] = {desc->model.extra, desc->options.extra};
    static const char *const names[] = {"model.extra", "options.extra"};
    char fault[240];
    phi__encoder e;
    phi_status status = PHI_OK;
    for (size_t i = 0; i < 2 && status == PHI_OK; i++) {
        if (extras[i] == NULL) continue;
        status =
            phi__extra_check(codec, scratch->memory, phi_str_of(extras[i]), fault, sizeof fault);
        if (status == PHI_BAD_ARG) (void)snprintf(words, words_size, "%s%s", names[i], fault);
    }
    if (status != PHI_OK || (extras[0] == NULL && extras[1] == NULL)) return status;
    if (!phi__extra_join(scratch, phi_str_of(extras[0]), phi_str_of(extras[1]), &spec->extra))
        return PHI_NO_MEMORY;
    phi__encoder_begin(&e, codec, spec, scratch);
    status = phi__encoder_advance(&e, 1);
    phi__encoder_free(&e);
    if (status == PHI_BAD_ARG) (void)snprintf(words, words_size, "%s", e.refused);
    return status == PHI_BUSY ? PHI_OK : status;
}

static phi_status phi__dry_settings(const phi_agent_desc *desc, phi_arena *scratch, char *words,
                                    size_t words_size) {
    if (desc->model.protocol == NULL) return PHI_BAD_ARG;
    const phi__codec *codec = phi__dry_codec(&desc->model, words, words_size);
    if (codec == NULL) return PHI_UNSUPPORTED;
    const char *fault = phi__takes_fault(&desc->options);
    if (fault != NULL) {
        (void)snprintf(words, words_size, "%s", fault);
        return PHI_BAD_ARG;
    }
    phi_model filled = phi__dry_model(&desc->model);
    phi__request_spec spec = PHI_ZERO;
    spec.model = &filled;
    spec.thinking = desc->thinking;
    spec.max_tokens = desc->max_tokens;
    spec.temperature = desc->options.has_temperature ? desc->options.temperature : -1.0;
    spec.options = desc->options;
    spec.texts = desc->texts;
    phi_status status = phi__dry_extra(codec, &spec, desc, scratch, words, words_size);
    if (status != PHI_OK) return status;
    status = phi__takes_preflight(codec, &spec, words, words_size);
    /* Raw tools for other protocols are not sent. */
    for (size_t i = 0; i < desc->tool_options.raw_tool_count; i++)
        if (!phi__codec_is(codec->names, phi_str_of(desc->tool_options.raw_tools[i].protocol)))
            phi__dry_say(words, words_size, "tool_options.raw_tools[%u] is for %s", (unsigned)i,
                         desc->tool_options.raw_tools[i].protocol != NULL
                             ? desc->tool_options.raw_tools[i].protocol
                             : "no protocol");
    for (size_t i = 0; i < desc->tool_count; i++)
        if (desc->tools[i].raw != NULL && desc->tools[i].schema == NULL &&
            !phi__codec_is(codec->names, phi_str_of(desc->tools[i].raw_protocol)))
            phi__dry_say(words, words_size, "tool \"%s\" is not sent", desc->tools[i].name);
    return words[0] == '\0' ? PHI_OK : PHI_UNSUPPORTED;
}

static phi_status phi__dry_transcript(const phi_preflight_desc *desc, phi_arena *scratch,
                                      char *words, size_t words_size) {
    phi_status status = PHI_NO_MEMORY;
    if (desc->model->protocol == NULL || (desc->messages == NULL && desc->message_count > 0) ||
        (desc->tools == NULL && desc->tool_count > 0))
        return PHI_BAD_ARG;
    const phi__codec *codec = phi__dry_codec(desc->model, words, words_size);
    if (codec == NULL) return PHI_UNSUPPORTED;
    for (size_t i = 0; i < desc->message_count; i++)
        if (desc->messages[i].content == NULL && desc->messages[i].content_count > 0) {
            (void)snprintf(words, words_size, "messages[%llu]: content is missing",
                           (unsigned long long)i);
            return PHI_BAD_ARG;
        }
    phi_model filled = phi__dry_model(desc->model);
    phi__request_spec spec = PHI_ZERO;
    spec.model = &filled;
    spec.temperature = -1.0;
    if (phi__dry_items(&spec, desc->messages, desc->message_count, scratch) &&
        phi__dry_tools(&spec, desc->tools, desc->tool_count, scratch))
        status = phi__preflight(codec, &spec, words, words_size);
    if (status == PHI_OK)
        status = phi__strict_tools_refused(codec, &spec, scratch->memory, words, words_size);
    return status;
}

/* ---- public ---- */

PHI_API phi_status phi_preflight(const phi_preflight_desc *desc, phi_arena *scratch, char *words,
                                 size_t words_size) {
    phi_status status = PHI_OK;
    if (desc == NULL || scratch == NULL || words == NULL || words_size == 0) return PHI_BAD_ARG;
    words[0] = '\0';
    if (desc->model == NULL && desc->settings == NULL && desc->agent.rt == NULL) return PHI_BAD_ARG;
    phi_arena_mark mark = phi_arena_save(scratch);
    if (desc->model != NULL) status = phi__dry_transcript(desc, scratch, words, words_size);
    if (status == PHI_OK && desc->settings != NULL)
        status = phi__dry_settings(desc->settings, scratch, words, words_size);
    if (status == PHI_OK && desc->agent.rt != NULL)
        status = phi__ahead_thinking(desc->agent, scratch, words, words_size);
    phi_arena_reset(scratch, mark);
    return status;
}

/* ---- phi_agent_explain ---- */

/* Adds a line if the last request left thinking out. */
static phi_status phi__explained_thinking(const phi__agent *agent, phi_arena *arena, phi_str *out) {
    const phi__thinking *thinking = &agent->prior.thinking;
    char line[240];
    if (thinking->cause == NULL) return PHI_OK;
    int n =
        snprintf(line, sizeof line,
                 "thinking: the last request left out that of %llu answer%s, from entry %llu on: "
                 "%s\n",
                 (unsigned long long)thinking->dropped, thinking->dropped == 1 ? "" : "s",
                 (unsigned long long)thinking->first, thinking->cause);
    char *at = phi__arena_bytes(arena, phi__add(out->len, (size_t)n));
    if (at == NULL) return PHI_NO_MEMORY;
    memcpy(at, out->at, out->len);
    memcpy(at + out->len, line, (size_t)n);
    *out = phi__str(at, out->len + (size_t)n);
    return PHI_OK;
}

static phi_status phi__explained_all(const phi__agent *agent, phi_arena *arena, phi_str *out) {
    char words[120];
    (void)snprintf(words, sizeof words, "no policy: all of %llu messages, %llu tokens\n",
                   (unsigned long long)agent->thread->fold.count,
                   (unsigned long long)phi__projection_view_tokens(agent));
    return phi__arena_str(arena, phi_str_of(words), out) ? PHI_OK : PHI_NO_MEMORY;
}

/* Counts the opaque blocks that the agent's protocol does not take. *one gets the first of these
   blocks. */
static size_t phi__explained_foreign(const phi__agent *agent, const phi_message *m,
                                     const phi_content **one) {
    size_t n = 0;
    for (size_t i = 0; m != NULL && i < m->content_count; i++) {
        const phi_content *c = &m->content[i];
        if (c->kind != PHI_CONTENT_OPAQUE || phi__render_is_opaque(agent->codec, c)) continue;
        if (n++ == 0) *one = c;
    }
    return n;
}

/* Adds a line for each message with opaque blocks that are not sent. A host's provider gets all
   blocks. False: no memory. */
static bool phi__explained_opaque(const phi__agent *agent, phi_arena *arena, phi_str *out) {
    const phi__fold *fold = &agent->thread->fold;
    phi__buf text;
    if (agent->codec == NULL) return true;
    phi__buf_init(&text, arena->memory);
    for (size_t i = 0; i < fold->count; i++) {
        const phi_content *one = NULL;
        size_t n = phi__explained_foreign(agent, fold->items[i].message, &one);
        if (n == 0) continue;
        if (text.len == 0) phi__buf_add_str(&text, *out);
        phi__buf_printf(&text, "%llu, %llu opaque block%s (%.*s of %.*s): left out: ",
                        (unsigned long long)fold->items[i].from, (unsigned long long)n,
                        n == 1 ? "" : "s", (int)phi__utf8_cut(one->name, 80), one->name.at,
                        (int)phi__utf8_cut(one->protocol, 80), one->protocol.at);
        phi__buf_text(&text, one->incomplete ? "cut off\n" : "another protocol\n");
    }
    bool done = !text.failed && (text.len == 0 || phi__arena_str(arena, phi__buf_str(&text), out));
    phi__buf_free(&text);
    return done;
}

/* ---- public ---- */

PHI_API phi_status phi_agent_explain(phi_agent handle, phi_arena *arena, phi_str *out) {
    phi__agent *agent = phi__find_agent(handle);
    phi__proj_order order;
    phi_str text;
    if (handle.rt == NULL || arena == NULL || out == NULL) return PHI_BAD_ARG;
    if (agent == NULL) return PHI_STALE;
    phi_status status = phi__projection_order_of(agent, &order)
                            ? phi__explain(&order, arena, &text)
                            : phi__explained_all(agent, arena, &text);
    if (status == PHI_OK) status = phi__explained_thinking(agent, arena, &text);
    if (status != PHI_OK) return status;
    if (!phi__explained_opaque(agent, arena, &text)) return PHI_NO_MEMORY;
    *out = text;
    return PHI_OK;
}
