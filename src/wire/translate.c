/* translate.c - the rules of switching models, as a pure function over messages.

   Encoders apply the same rules block by block as they render, so the output of this function
   renders to the same bytes as its input. It is for hosts that inspect or change requests, and for
   hosts' own models. */

#include "wire/codec_in.h"

typedef struct phi__translation {
    const phi__codec *codec; /* NULL: a host's own protocol */
    const phi_model *target;
    phi__id_rule ids;
    const char *provider;
    uint64_t origins[PHI__CODEC_NAMES]; /* all 0: the protocol is a host's own */
    phi_arena *arena;
    const phi_message **out;
    size_t count, cap;
    /* The last answer, as given, while its calls may still get results; otherwise NULL. */
    const phi_message *calls;
    uint8_t *answered; /* indexed by block of `calls` */
    bool failed;
} phi__translation;

static void phi__translate_put(phi__translation *t, const phi_message *message) {
    if (message == NULL || PHI_NEVER(t->count == t->cap))
        t->failed = true;
    else
        t->out[t->count++] = message;
}

static bool phi__translate_id(phi__translation *t, phi_str *id) {
    char room[PHI__ID_ROOM];
    phi_str mapped = phi__render_map_id(*id, t->ids, room);
    return mapped.at == id->at || phi__arena_str(t->arena, mapped, id);
}

/* Copies a message so that its blocks can be changed. Strings are shared. */
static phi_message *phi__translate_copy(phi__translation *t, const phi_message *m,
                                        phi_content **content) {
    phi_message *copy = (phi_message *)phi_arena_alloc(t->arena, sizeof *copy);
    *content = (phi_content *)phi_arena_alloc(
        t->arena, phi__mul(phi__max(m->content_count, 1), sizeof **content));
    if (copy == NULL || *content == NULL) {
        t->failed = true;
        return NULL;
    }
    *copy = *m;
    copy->content = *content;
    return copy;
}

/* ---- results ---- */

static void phi__translate_close_calls(phi__translation *t) {
    for (size_t i = 0; t->calls != NULL && i < t->calls->content_count; i++)
        if (phi__codec_is_call(&t->calls->content[i]) && !t->answered[i]) {
            phi_content *content;
            phi_message result = PHI_ZERO;
            result.role = PHI_ROLE_TOOL_RESULT;
            result.is_error = true;
            result.content_count = 1;
            result.tool_call_id = t->calls->content[i].id;
            result.tool_name = t->calls->content[i].name;
            phi_message *copy = phi__translate_copy(t, &result, &content);
            if (copy != NULL) {
                memset(content, 0, sizeof *content);
                content->kind = PHI_CONTENT_TEXT;
                content->text = phi_str_of(phi__texts_get(NULL, PHI_TEXT_RESULT_MISSING));
                if (!phi__translate_id(t, &copy->tool_call_id)) t->failed = true;
                phi__translate_put(t, copy);
            }
        }
    t->calls = NULL;
}

static bool phi__translate_answers(phi__translation *t, const phi_message *result) {
    for (size_t i = 0; t->calls != NULL && i < t->calls->content_count; i++) {
        const phi_content *c = &t->calls->content[i];
        if (t->answered[i] || !phi__codec_is_call(c) || !phi_str_equal(c->id, result->tool_call_id))
            continue;
        t->answered[i] = 1;
        return true;
    }
    return false;
}

static bool phi__translate_is_protocol(const phi__translation *t, phi_str protocol) {
    const char *const *kin;
    if (t->codec == NULL) return phi__str_is_nocase(protocol, t->target->protocol);
    if (phi__codec_is(t->codec->names, protocol)) return true;
    for (kin = t->codec->rules->kin; kin != NULL && *kin != NULL; kin++)
        if (phi__str_is_nocase(protocol, *kin)) return true;
    return false;
}

/* True for images, documents and audio that the target does not accept. */
static bool phi__translate_omits(const phi__translation *t, const phi_content *c) {
    if (c->kind == PHI_CONTENT_IMAGE)
        return phi__render_is_image(c) && (t->target->quirks & PHI_QUIRK_NO_IMAGES) != 0;
    return (c->kind == PHI_CONTENT_DOCUMENT || c->kind == PHI_CONTENT_AUDIO) &&
           phi__render_way_of(t->codec, t->target, c) == PHI__RENDER_OMIT;
}

/* True for an opaque block of another protocol. */
static bool phi__translate_is_foreign(const phi__translation *t, const phi_content *c) {
    return c->kind == PHI_CONTENT_OPAQUE && !phi__translate_is_protocol(t, c->protocol);
}

/* Adapts a user's message or a result to the target. Removes blocks of other protocols. A line of
   text replaces each row of omitted media of one kind. NULL: no memory. */
static const phi_message *phi__translate_said(phi__translation *t, const phi_message *m) {
    phi_content *content;
    phi_content_kind omitted =
        (phi_content_kind)0; /* kind of the block before this one if that block was omitted */
    size_t i = 0, n = 0;
    while (i < m->content_count && !phi__translate_is_foreign(t, &m->content[i]) &&
           !phi__translate_omits(t, &m->content[i]))
        i++;
    if (i == m->content_count) return m;
    phi_message *copy = phi__translate_copy(t, m, &content);
    if (copy == NULL) return NULL;
    for (i = 0; i < m->content_count; i++) {
        const phi_content *c = &m->content[i];
        bool omits = phi__translate_omits(t, c);
        if (phi__translate_is_foreign(t, c) || (omits && c->kind == omitted)) continue;
        omitted = omits ? c->kind : (phi_content_kind)0;
        content[n] = *c;
        if (omits) {
            memset(&content[n], 0, sizeof content[n]);
            content[n].kind = PHI_CONTENT_TEXT;
            content[n].text = phi__render_omitted(NULL, c->kind);
        }
        n++;
    }
    copy->content_count = n;
    return copy;
}

static bool phi__translate_is_own(const phi__translation *t, const phi_message *m) {
    if (t->origins[0] != 0)
        return phi__codec_origin_among(t->origins,
                                       phi__codec_origin_of(m->model, m->provider, m->protocol));
    return phi__str_is(m->model, t->target->id) && phi__str_is(m->provider, t->provider) &&
           phi__str_is(m->protocol, t->target->protocol);
}

/* True if a block's signature, replay and citations come from another wire. If only the address or
   the model differs, the codec decides. */
static bool phi__translate_strange(const phi__translation *t, const phi_message *m,
                                   const phi_content *c) {
    if (c->signature.len == 0 && c->replay.len == 0 && c->citations.len == 0) return false;
    return m->protocol.len == 0 || !phi__translate_is_protocol(t, m->protocol);
}

/* Copies a block as the target may see it. False: leave it out. */
static bool phi__translate_block(phi__translation *t, const phi_message *m, const phi_content *from,
                                 bool own, phi_content *to) {
    *to = *from;
    if (from->kind == PHI_CONTENT_OPAQUE)
        return !from->incomplete && phi__translate_is_protocol(t, from->protocol);
    if (from->kind == PHI_CONTENT_THINKING) return own;
    if (from->kind == PHI_CONTENT_TEXT && phi__render_blank(from->text))
        return own && from->signature.len > 0;
    if (from->kind == PHI_CONTENT_TOOL_CALL && from->incomplete) return false;
    if (!own && phi__translate_strange(t, m, from))
        to->signature = to->replay = to->citations = phi__str(NULL, 0);
    if (from->kind == PHI_CONTENT_TOOL_CALL && !phi__translate_id(t, &to->id)) t->failed = true;
    return true;
}

static bool phi__translate_same_block(const phi_content *a, const phi_content *b) {
    return a->id.at == b->id.at && a->signature.at == b->signature.at &&
           a->replay.at == b->replay.at && a->citations.at == b->citations.at;
}

/* True if the message has only texts that every target accepts unchanged. */
static bool phi__translate_is_plain(const phi_message *m) {
    for (size_t i = 0; i < m->content_count; i++) {
        const phi_content *c = &m->content[i];
        if (c->kind != PHI_CONTENT_TEXT ||
            c->signature.len + c->replay.len + c->citations.len > 0 || phi__render_blank(c->text))
            return false;
    }
    return m->content_count > 0;
}

static void phi__translate_answer(phi__translation *t, const phi_message *m) {
    bool same = true;
    phi_arena_mark mark = phi_arena_save(t->arena);
    phi_content *content;
    size_t n = 0;
    if (phi__translate_is_plain(m)) {
        phi__translate_put(t, m);
        return;
    }
    bool own = phi__translate_is_own(t, m);
    phi_message *copy = phi__translate_copy(t, m, &content);
    for (size_t i = 0; copy != NULL && i < m->content_count; i++) {
        if (!phi__translate_block(t, m, &m->content[i], own, &content[n])) continue;
        same = same && n == i && phi__translate_same_block(&m->content[i], &content[n]);
        n++;
    }
    if (copy == NULL || t->failed) return;
    same = same && n == m->content_count;
    if (same) phi_arena_reset(t->arena, mark);
    if (!same) copy->content_count = n;
    if (n > 0) phi__translate_put(t, same ? m : copy);
    size_t i = 0;
    while (i < m->content_count && !phi__codec_is_call(&m->content[i])) i++;
    if (i == m->content_count) return;
    t->answered = (uint8_t *)phi__arena_zero(t->arena, m->content_count);
    if (t->answered == NULL) t->failed = true;
    t->calls = t->failed ? NULL : m;
}

static void phi__translate_message(phi__translation *t, const phi_message *m) {
    if (m->role == PHI_ROLE_EXTENSION) return;
    if (m->role == PHI_ROLE_TOOL_RESULT) {
        phi_str id = m->tool_call_id;
        phi_content *content;
        if (!phi__translate_answers(t, m)) return;
        m = phi__translate_said(t, m);
        if (m == NULL || !phi__translate_id(t, &id)) {
            t->failed = true;
            return;
        }
        if (id.at != m->tool_call_id.at) {
            phi_message *copy = phi__translate_copy(t, m, &content);
            if (copy == NULL) return;
            if (m->content_count > 0)
                memcpy(content, m->content, m->content_count * sizeof *content);
            copy->tool_call_id = id;
            m = copy;
        }
        phi__translate_put(t, m);
        return;
    }
    phi__translate_close_calls(t);
    if (m->role == PHI_ROLE_ASSISTANT)
        phi__translate_answer(t, m);
    else
        phi__translate_put(t, phi__translate_said(t, m));
}

PHI__FN phi_status phi__translate(const phi__codec *codec, const phi_model *target,
                                  const phi_message *const *messages, size_t count,
                                  phi_arena *arena, const phi_message *const **out,
                                  size_t *out_count) {
    phi_model filled = *target;
    phi__translation t = PHI_ZERO;
    t.codec = codec;
    t.target = &filled;
    t.arena = arena;
    t.ids = phi__render_id_rule(codec, target);
    t.provider = target->provider != NULL ? target->provider : target->protocol;
    filled.provider = t.provider;
    if (codec != NULL)
        phi__codec_origins_of(codec, phi_str_of(target->id), phi_str_of(t.provider), t.origins);
    /* Room for each message and for one result per call. */
    size_t n = count, b;
    for (size_t i = 0; i < count; i++)
        for (b = 0; messages[i]->role == PHI_ROLE_ASSISTANT && b < messages[i]->content_count; b++)
            n = phi__add(n, messages[i]->content[b].kind == PHI_CONTENT_TOOL_CALL);
    t.cap = n;
    t.out =
        (const phi_message **)phi_arena_alloc(arena, phi__mul(phi__max(t.cap, 1), sizeof *t.out));
    if (t.out == NULL) return PHI_NO_MEMORY;
    for (size_t i = 0; i < count && !t.failed; i++) phi__translate_message(&t, messages[i]);
    phi__translate_close_calls(&t);
    if (t.failed) return PHI_NO_MEMORY;
    *out = t.out;
    *out_count = t.count;
    return PHI_OK;
}
