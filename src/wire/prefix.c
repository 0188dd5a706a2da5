/* prefix.c - hashes what a request says before each answer, and chooses the thinking to send. */
#include "wire/prefix_in.h"

#include "wire/hash_in.h"
#include "wire/render_in.h"
#include "wire/takes_in.h"

/* Another rendering of the same messages is another prefix: raise it when a codec whose target
   checks prefixes renders differently. */
enum { PHI__PREFIX_VERSION = 1 };

/* The hash of a message is kept like a rendering, in this form; registry_in.h has the others. */
#define PHI__PREFIX_FORM (UINT32_C(15) << 28)

typedef struct phi__prefix_kept {
    uint64_t hash;     /* phi__prefix_message */
    uint32_t thinking; /* phi__prefix_thinking */
} phi__prefix_kept;

/* ---- hashes ---- */

/* Eight bytes a step, the same on every machine. */
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

/* A deferred tool becomes part of the prefix when it is used (phi__prefix_uses). The tool search,
   which is there with the first of them, is part of it from the beginning. */
static uint64_t phi__prefix_tools(const phi__request_spec *spec) {
    uint64_t n = 0;
    size_t i, deferred = 0;
    for (i = 0; i < spec->tool_count; i++) deferred += spec->tools[i].deferred;
    n = spec->tool_count - deferred;
    for (i = 0; i < spec->tool_count; i++)
        if (!spec->tools[i].deferred) n = phi__prefix_tool(&spec->tools[i], n);
    return phi__takes_deferred(spec) ? phi__hash_mix(n + 1) : n;
}

static uint64_t phi__prefix_use(const phi__request_spec *spec, phi_str name, uint64_t n) {
    size_t i;
    for (i = 0; i < spec->tool_count; i++)
        if (spec->tools[i].deferred && phi_str_equal(spec->tools[i].name, name))
            return phi__prefix_tool(&spec->tools[i], n);
    return n;
}

/* The deferred tools that an answer found or calls, as they are now. */
static uint64_t phi__prefix_uses(const phi__encoder *e, const phi_message *m, uint64_t n,
                                 size_t *cost) {
    phi_str name;
    size_t i, at, found = 0;
    for (i = 0; i < m->content_count; i++) {
        const phi_content *c = &m->content[i];
        if (c->kind == PHI_CONTENT_TOOL_CALL && !c->incomplete)
            n = phi__prefix_use(e->spec, c->name, n);
        for (at = 0; phi__takes_reference(c, &at, &name); found++)
            n = phi__prefix_use(e->spec, name, n);
    }
    *cost += 1 + found / 8;
    return n;
}

/* The hash of the values, which are all that targets compare: the text of arguments changes when a
   session's file is written. */
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
    if (c->kind == PHI_CONTENT_TOOL_CALL) {
        return phi__prefix_arguments(e, c->arguments, phi__prefix_hash(c->id, n));
    }
    n = phi__prefix_hash(c->data, n);
    n = phi__prefix_hash(c->mime_type, n);
    n = phi__prefix_hash(c->url, n);
    return c->kind == PHI_CONTENT_OPAQUE ? phi__prefix_hash(c->replay, n) : n;
}

/* The hash of all that is sent, but thinking. 0: nothing of the message is sent. */
static uint64_t phi__prefix_message(phi__encoder *e, const phi_message *m) {
    uint64_t n = (uint64_t)m->role | (m->is_error ? 16u : 0u) | (m->is_update ? 32u : 0u);
    bool any = m->role == PHI_ROLE_TOOL_RESULT;
    size_t i;
    if (any) n = phi__prefix_hash(m->tool_call_id, n);
    for (i = 0; i < m->content_count; i++) {
        const phi_content *c = &m->content[i];
        if (c->kind == PHI_CONTENT_THINKING || c->incomplete) continue;
        if (c->kind == PHI_CONTENT_TEXT && phi__render_blank(c->text)) continue;
        n = phi__prefix_content(e, c, n);
        any = true;
    }
    return any ? n | 1 : 0;
}

/* The last thinking of an answer that can go back: something else that does follows it. 0: there
   is none. */
static uint32_t phi__prefix_thinking(const phi_message *m) {
    bool ends = false;
    size_t i;
    if (m->role != PHI_ROLE_ASSISTANT) return 0;
    for (i = m->content_count; i > 0; i--) {
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
    size_t i;
    for (; r != NULL; r = r->next)
        if (r->form == PHI__PREFIX_FORM) return *(const phi__prefix_kept *)(const void *)r->json.at;
    made.hash = phi__prefix_message(e, item->message);
    made.thinking = phi__prefix_thinking(item->message);
    for (i = 0; i < item->message->content_count; i++) {
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
    phi__encode_store(e, at, UINT32_MAX, PHI__PREFIX_FORM, phi__str((char *)kept, sizeof *kept));
    return made;
}

/* ---- one request ---- */

/* Bits 0 to 31 are the thinking sent last, 32 to 47 the system prompt, 48 to 63 the tools. */
PHI__FN uint64_t phi__prefix_parts(const phi__prefix *p) {
    return p->last | (p->system & 0xffff) << 32 | (p->tools & 0xffff) << 48;
}

PHI__FN uint64_t phi__prefix_value(const phi__prefix *p) { return p->now | 1; }

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
    p->tools = phi__prefix_tools(e->spec);
    p->deferred = phi__takes_deferred(e->spec);
    p->now = phi__hash_mix(p->system ^ phi__hash_mix(p->tools));
    return p;
}

static bool phi__prefix_valid(const phi__encoder *e, const phi__prefix *p, const phi_message *m) {
    if (e->spec->items[p->at].from < e->spec->thinking_from) return false;
    if (p->only_counts) return true;
    return m->prefix != 0 ? m->prefix == phi__prefix_value(p) : !e->spec->rewritten;
}

static void phi__prefix_look(phi__encoder *e, phi__prefix *p, size_t *cost) {
    const phi_message *m = e->spec->items[p->at].message;
    phi__prefix_kept kept = phi__prefix_item(e, p->at, cost);
    uint64_t hash = kept.hash;
    if (kept.thinking != 0 && phi__render_same_origin(e, p->at)) {
        p->thinking[p->at] = kept.thinking;
        if (phi__prefix_valid(e, p, m)) p->thinks[p->at] = PHI__PREFIX_VALID;
    }
    if (hash != 0 && m->role != PHI_ROLE_EXTENSION) p->now = phi__hash_mix(p->now ^ hash);
    if (p->deferred && hash != 0 && m->role == PHI_ROLE_ASSISTANT)
        p->now = phi__prefix_uses(e, m, p->now, cost);
    p->at++;
}

static phi__prefix_cause phi__prefix_cause_of(const phi__encoder *e, const phi__prefix *p) {
    const phi_message *m = e->spec->items[p->first].message;
    if (e->spec->items[p->first].from < e->spec->thinking_from) return PHI__PREFIX_REFUSED;
    if (m->prefix == 0) return PHI__PREFIX_MESSAGES;
    if ((m->prefix_parts >> 32 & 0xffff) != (p->system & 0xffff)) return PHI__PREFIX_SYSTEM;
    if ((m->prefix_parts >> 48 & 0xffff) != (p->tools & 0xffff)) return PHI__PREFIX_TOOLS;
    return PHI__PREFIX_MESSAGES;
}

/* Backwards from the newest valid thinking: each block wants the one that was sent before it. */
static void phi__prefix_decide(const phi__encoder *e, phi__prefix *p) {
    uint64_t want = 0;
    bool any = true, broken = false, previous = false;
    size_t i;
    for (i = e->spec->item_count; i > 0; i--) {
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
            if (!previous && want == 0) broken = true; /* it was the first */
            continue;
        }
        if (!any && (previous || id == want)) broken = true;
        p->dropped++;
        p->first = i - 1;
    }
    if (p->first != SIZE_MAX) p->cause = phi__prefix_cause_of(e, p);
}

PHI__FN bool phi__prefix_advance(phi__encoder *e, phi__prefix *p, size_t *units) {
    while (p->at < e->spec->item_count && !e->failed) {
        size_t cost = 0;
        if (*units == 0) return false;
        phi__prefix_look(e, p, &cost);
        if (p->at % 32 == 0) cost++; /* of those whose hash is kept many go into a unit */
        *units -= phi__min(*units, cost);
    }
    if (!e->failed) phi__prefix_decide(e, p);
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
