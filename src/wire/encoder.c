/* encoder.c - runs a codec over a transcript, about one message per unit of work, and keeps the
   renderings.

   The encoder repairs some faults that a provider would refuse, in the request and not in the log.
   A result without a call, or a second one, is left out. A missing result is added, and so is a
   user's message before an answer that would be the first message, if the target refuses that. */

#include "wire/codec_in.h"

/* Bits of phi__prefix.thinks, for each item. */
enum {
    PHI__PREFIX_VALID = 1, /* the answer was made under the same prefix */
    PHI__PREFIX_SENT = 2
};

/* ---- which thinking of earlier answers a request may still send ---- */

/* Part of each prefix hash. Increase it if a codec for a checking target changes its renderings. */
enum { PHI__PREFIX_VERSION = 1 };

/* The form under which the hash of a message is kept, in the same way as a rendering. For other
   forms see names_in.h. */
#define PHI__PREFIX_FORM (UINT32_C(15) << 28)

typedef struct phi__prefix_kept {
    uint64_t hash;     /* hash of the message without its thinking */
    uint32_t thinking; /* result of phi__prefix_thinking */
} phi__prefix_kept;

/* Hashes eight bytes per step. The result is the same on every machine. */
static uint64_t phi__prefix_hash(phi_str s, uint64_t seed) {
    const unsigned char *at = (const unsigned char *)s.at;
    uint64_t n = phi__hash_mix(seed ^ s.len ^ UINT64_C(0x9e3779b97f4a7c15)), word;
    size_t left = s.len, i;
    for (; left >= 8; left -= 8, at += 8) {
        word = (uint64_t)at[0] | (uint64_t)at[1] << 8 | (uint64_t)at[2] << 16 |
               (uint64_t)at[3] << 24 | (uint64_t)at[4] << 32 | (uint64_t)at[5] << 40 |
               (uint64_t)at[6] << 48 | (uint64_t)at[7] << 56;
        n = (n ^ word) * UINT64_C(0xff51afd7ed558ccd);
        n ^= n >> 29;
    }
    for (i = 0, word = 0; i < left; i++) word |= (uint64_t)at[i] << (8 * i);
    return phi__hash_mix(n ^ word);
}

static uint64_t phi__prefix_tool(const phi__tool_view *tool, uint64_t n) {
    n = phi__prefix_hash(tool->raw, n);
    n = phi__prefix_hash(tool->name, n);
    n = phi__prefix_hash(tool->description, n);
    return phi__prefix_hash(tool->schema, n + (tool->strict != NULL ? 1 : 0));
}

static uint64_t phi__prefix_use(const phi__request_spec *spec, phi_str name, uint64_t n) {
    for (size_t i = 0; i < spec->tool_count; i++)
        if (spec->tools[i].deferred && phi_str_equal(spec->tools[i].name, name))
            return phi__prefix_tool(&spec->tools[i], n);
    return n;
}

/* Hashes the current definitions of the deferred tools that an answer found or called. */
static uint64_t phi__prefix_uses(const phi__encoder *e, const phi_message *m, uint64_t n,
                                 size_t *cost) {
    phi_str name;
    size_t at, found = 0;
    for (size_t i = 0; i < m->content_count; i++) {
        const phi_content *c = &m->content[i];
        if (phi__codec_is_call(c)) n = phi__prefix_use(e->spec, c->name, n);
        for (at = 0; phi__takes_reference(c, &at, &name); found++)
            n = phi__prefix_use(e->spec, name, n);
    }
    *cost += 1 + found / 8;
    return n;
}

/* Hashes the values of arguments, not their text: targets compare only the values, and saving may
   change the text. */
static uint64_t phi__prefix_arguments(phi__encoder *e, phi_str arguments, uint64_t n) {
    phi_arena_mark mark = phi_arena_save(e->arena);
    phi_str written = PHI__LIT("{}");
    phi_json *root = NULL;
    phi_status status = PHI_PARSE;
    if (arguments.len > 2)
        status = phi_json_parse(e->arena, arguments, PHI_JSON_BORROW, &root, NULL);
    if (status == PHI_OK && phi_json_is(root, PHI_JSON_OBJECT))
        status = phi_json_write(e->arena, root, 0, &written);
    if (status == PHI_NO_MEMORY) e->failed = true;
    n = phi__prefix_hash(written, n);
    phi_arena_reset(e->arena, mark);
    return n;
}

static uint64_t phi__prefix_content(phi__encoder *e, const phi_content *c, uint64_t n) {
    n = phi__hash_mix(n + (uint64_t)c->kind);
    n = phi__prefix_hash(c->text, n);
    if (c->kind == PHI_CONTENT_TEXT) return phi__prefix_hash(c->citations, n);
    n = phi__prefix_hash(c->name, n);
    if (c->kind == PHI_CONTENT_TOOL_CALL)
        return phi__prefix_arguments(e, c->arguments, phi__prefix_hash(c->id, n));
    n = phi__prefix_hash(c->data, n);
    n = phi__prefix_hash(c->mime_type, n);
    n = phi__prefix_hash(c->url, n);
    return c->kind == PHI_CONTENT_OPAQUE ? phi__prefix_hash(c->replay, n) : n;
}

/* Returns a hash of an answer's last thinking that can go back; 0 if there is none. Thinking can go
   back only if it has a signature and other content follows it. */
static uint32_t phi__prefix_thinking(const phi_message *m) {
    bool ends = false;
    if (m->role != PHI_ROLE_ASSISTANT) return 0;
    for (size_t i = m->content_count; i > 0; i--) {
        const phi_content *c = &m->content[i - 1];
        if (c->kind != PHI_CONTENT_THINKING)
            ends = ends ||
                   !(c->incomplete || (c->kind == PHI_CONTENT_TEXT && phi__render_blank(c->text)));
        else if (ends && c->signature.len > 0)
            return (uint32_t)(phi__prefix_hash(c->signature, 1) >> 32 | 1);
    }
    return 0;
}

static phi__prefix_kept phi__prefix_item(phi__encoder *e, size_t at, size_t *cost) {
    const phi__item *item = &e->spec->items[at];
    const phi__rendered *r = item->rendered != NULL ? *item->rendered : NULL;
    phi__prefix_kept made, *kept;
    for (; r != NULL; r = r->next)
        if (r->form == PHI__PREFIX_FORM) return *(const phi__prefix_kept *)(const void *)r->json.at;
    /* Hash everything that is sent, except thinking. */
    const phi_message *m = item->message;
    uint64_t n = (uint64_t)m->role | (m->is_error ? 16u : 0u) | (m->is_update ? 32u : 0u);
    bool any = m->role == PHI_ROLE_TOOL_RESULT;
    if (any) n = phi__prefix_hash(m->tool_call_id, n);
    for (size_t i = 0; i < m->content_count; i++) {
        const phi_content *c = &m->content[i];
        if (c->kind == PHI_CONTENT_THINKING || c->incomplete) continue;
        if (c->kind == PHI_CONTENT_TEXT && phi__render_blank(c->text)) continue;
        n = phi__prefix_content(e, c, n);
        any = true;
    }
    made.hash = any ? n | 1 : 0;
    made.thinking = phi__prefix_thinking(item->message);
    for (size_t i = 0; i < item->message->content_count; i++) {
        const phi_content *c = &item->message->content[i];
        *cost += (c->text.len + c->data.len + c->replay.len + c->arguments.len + c->citations.len) /
                 4096;
    }
    if (item->rendered == NULL) return made;
    kept = (phi__prefix_kept *)phi_arena_alloc(item->arena, sizeof *kept);
    if (kept == NULL) {
        e->failed = true;
        return made;
    }
    *kept = made;
    phi__encode_store(e, at, PHI__PREFIX_FORM, phi__str((char *)kept, sizeof *kept));
    return made;
}

static uint64_t phi__prefix_value(const phi__prefix *p) { return p->now | 1; }

/* In prefix_parts, bits 0 to 31 are a hash of the last thinking that was sent, bits 32 to 47 a hash
   of the system prompt, and bits 48 to 63 a hash of the tools. */
PHI__FN void phi__prefix_mark(const phi__prefix *p, phi_message *answer) {
    size_t i = 0;
    while (i < answer->content_count && answer->content[i].kind != PHI_CONTENT_THINKING) i++;
    if (i == answer->content_count) return;
    answer->prefix = phi__prefix_value(p);
    answer->prefix_parts = p->last | (p->system & 0xffff) << 32 | (p->tools & 0xffff) << 48;
}

PHI__FN phi__prefix *phi__prefix_begin(phi__encoder *e, bool only_counts) {
    phi__prefix *p = (phi__prefix *)phi__arena_zero(e->arena, sizeof *p);
    if (p == NULL) return NULL;
    p->thinks = (uint8_t *)phi__arena_zero(e->arena, phi__max(e->spec->item_count, 1));
    p->thinking = (uint32_t *)phi__arena_zero(
        e->arena, phi__mul(phi__max(e->spec->item_count, 1), sizeof *p->thinking));
    if (p->thinks == NULL || p->thinking == NULL) return NULL;
    p->only_counts = only_counts;
    p->first = SIZE_MAX;
    p->system = phi__prefix_hash(e->spec->system_prompt, PHI__PREFIX_VERSION);
    /* A deferred tool becomes part of the prefix when it is used (phi__prefix_uses). The tool
       search is part of the prefix from the start. */
    const phi__request_spec *spec = e->spec;
    uint64_t n = 0;
    size_t deferred = 0;
    for (size_t i = 0; i < spec->tool_count; i++) deferred += spec->tools[i].deferred;
    n = spec->tool_count - deferred;
    for (size_t i = 0; i < spec->tool_count; i++)
        if (!spec->tools[i].deferred) n = phi__prefix_tool(&spec->tools[i], n);
    p->tools = phi__takes_deferred(spec) ? phi__hash_mix(n + 1) : n;
    p->deferred = phi__takes_deferred(e->spec);
    p->now = phi__hash_mix(p->system ^ phi__hash_mix(p->tools));
    return p;
}

static bool phi__prefix_valid(const phi__encoder *e, const phi__prefix *p, const phi_message *m) {
    if (e->spec->items[p->at].from < e->spec->thinking_from) return false;
    if (p->only_counts) return true;
    return m->prefix != 0 ? m->prefix == phi__prefix_value(p) : !e->spec->rewritten;
}

static phi__prefix_cause phi__prefix_cause_of(const phi__encoder *e, const phi__prefix *p) {
    const phi_message *m = e->spec->items[p->first].message;
    if (e->spec->items[p->first].from < e->spec->thinking_from) return PHI__PREFIX_REFUSED;
    if (m->prefix == 0) return PHI__PREFIX_MESSAGES;
    if ((m->prefix_parts >> 32 & 0xffff) != (p->system & 0xffff)) return PHI__PREFIX_SYSTEM;
    if ((m->prefix_parts >> 48 & 0xffff) != (p->tools & 0xffff)) return PHI__PREFIX_TOOLS;
    return PHI__PREFIX_MESSAGES;
}

PHI__FN bool phi__prefix_advance(phi__encoder *e, phi__prefix *p, size_t *units) {
    while (p->at < e->spec->item_count && !e->failed) {
        size_t cost = 0;
        if (*units == 0) return false;
        const phi_message *m = e->spec->items[p->at].message;
        phi__prefix_kept kept = phi__prefix_item(e, p->at, &cost);
        uint64_t hash = kept.hash;
        if (kept.thinking != 0 && phi__render_same_origin(e, p->at)) {
            p->thinking[p->at] = kept.thinking;
            if (phi__prefix_valid(e, p, m)) p->thinks[p->at] = PHI__PREFIX_VALID;
        }
        if (hash != 0 && m->role != PHI_ROLE_EXTENSION) p->now = phi__hash_mix(p->now ^ hash);
        if (p->deferred && hash != 0 && m->role == PHI_ROLE_ASSISTANT)
            p->now = phi__prefix_uses(e, m, p->now, &cost);
        p->at++;
        if (p->at % 32 == 0)
            cost++; /* an item whose hash is kept costs little: 32 of them make one unit */
        *units -= phi__min(*units, cost);
    }
    if (!e->failed) {
        /* Go back from the newest valid thinking. Each one is valid only if the thinking before it
           is sent too. */
        uint64_t want = 0;
        bool any = true, broken = false, previous = false;
        for (size_t i = e->spec->item_count; i > 0; i--) {
            const phi_message *m = e->spec->items[i - 1].message;
            uint32_t id = p->thinking[i - 1];
            if (id == 0) continue;
            if ((p->thinks[i - 1] & PHI__PREFIX_VALID) != 0 &&
                (p->only_counts || (!broken && (any || previous || id == want)))) {
                p->thinks[i - 1] |= PHI__PREFIX_SENT;
                if (any) p->last = id;
                any = false;
                previous = m->prefix == 0;
                want = m->prefix_parts & UINT32_MAX;
                if (!previous && want == 0)
                    broken = true; /* this answer's request sent no thinking */
                continue;
            }
            if (!any && (previous || id == want)) broken = true;
            p->dropped++;
            p->first = i - 1;
        }
        if (p->first != SIZE_MAX) p->cause = phi__prefix_cause_of(e, p);
    }
    return true;
}

PHI__FN bool phi__prefix_sends(const phi__encoder *e, size_t item) {
    if (e->prefix == NULL) return phi__render_same_origin(e, item);
    return (e->prefix->thinks[item] & PHI__PREFIX_SENT) != 0;
}

PHI__FN const char *phi__prefix_words(phi__prefix_cause cause) {
    switch (cause) {
    case PHI__PREFIX_SYSTEM: return "the system prompt has changed";
    case PHI__PREFIX_TOOLS: return "the tools have changed";
    case PHI__PREFIX_REFUSED: return "the server has refused it";
    case PHI__PREFIX_MESSAGES: return "the messages before it have changed";
    case PHI__PREFIX_NOTHING: break;
    }
    return "nothing has changed";
}

/* ---- the encoder ---- */

enum {
    PHI__ENCODER_PREFIX,
    PHI__ENCODER_HEAD,
    PHI__ENCODER_ITEMS,
    PHI__ENCODER_TAIL,
    PHI__ENCODER_DONE
};

/* ---- calls and their results ---- */

static void phi__encoder_open_calls(phi__encoder *e, size_t at) {
    const phi_message *message = e->spec->items[at].message;
    size_t i = 0;
    while (i < message->content_count && !phi__codec_is_call(&message->content[i])) i++;
    if (i == message->content_count) return;
    e->had_calls = true;
    if (e->answered_cap < message->content_count) {
        e->answered_cap = phi__max(message->content_count, 16);
        e->answered = (uint8_t *)phi_arena_alloc(e->arena, e->answered_cap);
        if (e->answered == NULL) {
            e->failed = true;
            return;
        }
    }
    memset(e->answered, 0, message->content_count);
    e->calls_item = at;
    e->results_from = at + 1;
    e->next_call = i;
}

/* True if a result belongs to a call that waits for one. Results usually come in the order of their
   calls, so the search starts after the last call found. */
static bool phi__encoder_answers(phi__encoder *e, const phi_message *result) {
    size_t i;
    if (e->calls_item == SIZE_MAX) return false;
    const phi_message *calls = e->spec->items[e->calls_item].message;
    for (size_t n = 0; n < calls->content_count; n++) {
        i = (e->next_call + n) % calls->content_count;
        if (e->answered[i] || !phi__codec_is_call(&calls->content[i])) continue;
        if (!phi_str_equal(calls->content[i].id, result->tool_call_id)) continue;
        e->answered[i] = 1;
        e->next_call = (i + 1) % calls->content_count;
        return true;
    }
    return false;
}

/* Finds the kept rendering of an item in a form. False if there is none. */
static bool phi__encoder_kept(const phi__encoder *e, size_t at, uint32_t form, phi_str *json) {
    phi__rendered **list = e->spec->items[at].rendered;
    const phi__rendered *r = list != NULL ? *list : e->last_item == at ? &e->last : NULL;
    while (r != NULL && r->form != form) r = r->next;
    if (r != NULL) *json = r->json;
    return r != NULL;
}

/* As phi__encoder_kept, and renders the item if no rendering is kept. False: memory ran out, or
   long texts must be filled in first; then call again. */
static bool phi__encoder_render(phi__encoder *e, size_t at, uint32_t form, phi_str *json) {
    const phi__item *item = &e->spec->items[at];
    if (phi__encoder_kept(e, at, form, json)) return true;
    phi__buf_clear(&e->scratch);
    e->fill.count = 0;
    e->codec->render(e, item->message, at, form);
    if (e->scratch.failed) e->failed = true;
    if (e->failed) return false;
    if (e->fill.count > 0) {
        phi__fill_begin(e, at, form);
        return false;
    }
    phi_arena *arena = item->rendered != NULL ? item->arena : e->arena;
    phi_arena_mark mark = phi_arena_save(arena);
    if (!phi__arena_str(arena, phi__buf_str(&e->scratch), json)) e->failed = true;
    phi__buf_clear(&e->scratch);
    if (!e->failed) phi__encode_store(e, at, form, *json);
    if (e->failed)
        phi_arena_reset(arena, mark);
    else
        e->fresh += json->len;
    return !e->failed;
}

/* Appends a message that the transcript does not have, with one of phi's texts. */
static void phi__encoder_add(phi__encoder *e, phi_message message, phi_text text) {
    phi_content words = PHI_ZERO;
    phi_str json;
    words.kind = PHI_CONTENT_TEXT;
    words.text = phi_str_of(phi__texts_get(e->spec->texts, text));
    message.content = &words;
    message.content_count = 1;
    phi__buf_clear(&e->scratch);
    e->codec->render(e, &message, SIZE_MAX, 0);
    if (phi__encode_copy(e, &json)) e->codec->append(e, &message, SIZE_MAX, 0, json);
}

/* Adds a result for a call that has none. */
static void phi__encoder_missing(phi__encoder *e, const phi_content *call) {
    phi_message result = PHI_ZERO;
    result.role = PHI_ROLE_TOOL_RESULT;
    result.is_error = true;
    result.tool_call_id = call->id;
    result.tool_name = call->name;
    phi__encoder_add(e, result, PHI_TEXT_RESULT_MISSING);
}

/* Adds a user's message if an answer would be the first message and the target refuses that. A view
   begins with an answer after a rewrite or a revoked rewrite, and a list with a summary in the
   assistant's role. */
static void phi__encoder_user_first(phi__encoder *e) {
    if ((e->codec->rules->bits & PHI__RULE_USER_FIRST) == 0 || e->open_role != (phi_role)0 ||
        e->last_role != (phi_role)0)
        return;
    phi_message user = PHI_ZERO;
    user.role = PHI_ROLE_USER;
    e->fill.refuses = true; /* no holes: a second pass would add the message again */
    phi__encoder_add(e, user, PHI_TEXT_USER_MISSING);
    e->fill.refuses = false;
}

/* True for a message of one text, as most results are. No further blocks follow such a result. */
static bool phi__encoder_is_text(const phi_message *m) {
    return m->content_count == 1 && m->content[0].kind == PHI_CONTENT_TEXT;
}

/* After the last result, adds the missing results and then the blocks that follow all results. */
static void phi__encoder_close_calls(phi__encoder *e) {
    phi_str json;
    if (e->calls_item == SIZE_MAX) return;
    const phi_message *calls = e->spec->items[e->calls_item].message;
    e->fill.refuses = true; /* no holes: a second pass would add these pieces again */
    for (size_t i = 0; i < calls->content_count; i++)
        if (phi__codec_is_call(&calls->content[i]) && !e->answered[i])
            phi__encoder_missing(e, &calls->content[i]);
    for (size_t i = e->results_from; i < e->at && !e->failed; i++) {
        const phi_message *m = e->spec->items[i].message;
        bool looks = m->role == PHI_ROLE_TOOL_RESULT && !phi__encoder_is_text(m);
        uint32_t form = looks ? e->codec->form(e, i, true) : 0;
        if (form != 0 && phi__encoder_render(e, i, form, &json))
            e->codec->append(e, m, i, form, json);
    }
    e->fill.refuses = false;
    e->calls_item = SIZE_MAX;
}

/* Appends an item, in several calls if it has long texts. Also renders the blocks that follow all
   results, if they can be kept, because phi__encoder_close_calls cannot wait. */
static void phi__encoder_put(phi__encoder *e) {
    const phi__item *item = &e->spec->items[e->at];
    uint32_t form = e->codec->form(e, e->at, false), after = 0;
    phi_str json;
    if (!phi__encoder_kept(e, e->at, form, &json)) {
        if (item->message->role == PHI_ROLE_TOOL_RESULT && item->rendered != NULL &&
            !phi__encoder_is_text(item->message))
            after = e->codec->form(e, e->at, true);
        if (after != 0 && !phi__encoder_render(e, e->at, after, &json)) return;
        if (!phi__encoder_render(e, e->at, form, &json)) return;
    }
    if (item->message->role == PHI_ROLE_ASSISTANT && json.len > 0) phi__encoder_user_first(e);
    e->codec->append(e, item->message, e->at, form, json);
    if (item->message->role == PHI_ROLE_ASSISTANT) phi__encoder_open_calls(e, e->at);
    e->at++;
}

/* ---- for the loop ---- */

PHI__FN void phi__encoder_begin(phi__encoder *e, const phi__codec *codec,
                                const phi__request_spec *spec, phi_arena *arena) {
    memset(e, 0, sizeof *e);
    e->codec = codec;
    e->spec = spec;
    e->arena = arena;
    e->calls_item = SIZE_MAX;
    e->mark_piece = SIZE_MAX;
    e->last_item = SIZE_MAX;
    phi__codec_origins_of(codec, phi_str_of(spec->model->id), phi_str_of(spec->model->provider),
                          e->origins);
    e->media = phi__render_media(codec, spec->model);
    phi__buf_init(&e->scratch, arena->memory);
    phi__buf_init(&e->fill.slice, arena->memory);
}

/* Appends as many items as the units allow. False: the units are used up. */
static bool phi__encoder_items(phi__encoder *e, size_t units) {
    while (!e->failed) {
        if (e->fill.going) {
            /* Fill the holes of a rendering as far as the units allow. */
            const phi__fill *f = &e->fill;
            phi_str json;
            if (!phi__fill_advance(e, &units, &json)) return false;
            if (!e->failed) phi__encode_store(e, f->item, f->form, json);
            if (!e->failed) phi__encoder_put(e);
            continue;
        }
        if (e->at == e->spec->item_count) {
            e->stage = PHI__ENCODER_TAIL;
            return true;
        }
        if (units == 0) return false;
        e->fresh = 0;
        const phi_message *message = e->spec->items[e->at].message;
        bool sent = message->role != PHI_ROLE_EXTENSION;
        if (message->role == PHI_ROLE_TOOL_RESULT)
            sent = phi__encoder_answers(e, message);
        else if (sent)
            phi__encoder_close_calls(e);
        if (sent)
            phi__encoder_put(e);
        else
            e->at++;
        units -= phi__min(units, 1 + e->fresh / 1024);
    }
    return true;
}

/* Decides which thinking is sent, if the target binds thinking. False: the units are used up. */
static bool phi__encoder_prefix(phi__encoder *e, size_t *units) {
    const phi__codec_rules *rules = e->codec->rules;
    if (e->prefix == NULL) {
        phi__binding binding = rules->binding != NULL ? rules->binding(e->spec) : PHI__BINDS_NOT;
        if (binding == PHI__BINDS_NOT) return true;
        e->prefix = phi__prefix_begin(e, binding == PHI__BINDS_COUNTED);
        if (e->prefix == NULL) e->failed = true;
    }
    return e->failed || phi__prefix_advance(e, e->prefix, units);
}

PHI__FN phi_status phi__encoder_advance(phi__encoder *e, size_t units) {
    if (e->stage == PHI__ENCODER_PREFIX) {
        if (!phi__encoder_prefix(e, &units)) return PHI_BUSY;
        if (e->failed) return PHI_NO_MEMORY;
        e->stage = PHI__ENCODER_HEAD;
    }
    if (e->stage == PHI__ENCODER_HEAD) {
        e->fill.refuses = true;
        /* Room for the pieces of a usual transcript, so that the list does not grow. */
        e->cap = phi__add(16, phi__mul(e->spec->item_count, 2));
        e->pieces = (phi__piece *)phi_arena_alloc(e->arena, phi__mul(e->cap, sizeof *e->pieces));
        if (e->pieces == NULL) e->failed = true;
        e->codec->address(e);
        e->codec->head(e);
        phi__extra_apply(e);
        e->fill.refuses = false;
        e->stage = PHI__ENCODER_ITEMS;
    }
    if (e->refused != NULL) return PHI_BAD_ARG;
    if (e->stage == PHI__ENCODER_ITEMS && !phi__encoder_items(e, units)) return PHI_BUSY;
    if (e->stage == PHI__ENCODER_TAIL && !e->failed) {
        phi__encoder_close_calls(e);
        e->codec->tail(e);
        if (!e->failed) phi__encode_seal(e, PHI__LIT("POST"));
        e->stage = PHI__ENCODER_DONE;
    }
    if (e->scratch.failed) e->failed = true;
    return e->failed ? PHI_NO_MEMORY : PHI_OK;
}

PHI__FN bool phi__encoder_address(phi__encoder *e) {
    e->header_count = 0;
    e->codec->address(e);
    e->request.headers = e->headers;
    e->request.header_count = e->header_count;
    return !e->failed;
}

PHI__FN void phi__encoder_free(phi__encoder *e) {
    if (e->scratch.memory == NULL) return;
    phi__buf_free(&e->scratch);
    phi__fill_drop(e);
}
