/* encoder.c - drives a codec over a transcript, a message a unit, and keeps what it rendered.

   What a provider would refuse is repaired here, in what is sent and not in the log: a result
   without its call, or a second one, is left out; a call without a result gets one before the next
   message. */
#include "wire/codec_in.h"

#include "wire/anthropic_in.h"
#include "wire/bedrock_in.h"
#include "wire/gemini_in.h"
#include "wire/hash_in.h"
#include "wire/openai_chat_in.h"
#include "wire/openai_responses_in.h"

enum { PHI__ENCODER_HEAD, PHI__ENCODER_ITEMS, PHI__ENCODER_TAIL, PHI__ENCODER_DONE };

/* A bigger array of the same elements in the arena; the old one stays until the arena is reset. */
static void *phi__encoder_grow(phi__encoder *e, void *old, size_t count, size_t *cap, size_t size) {
    size_t now = *cap == 0 ? 32 : *cap * 2;
    void *out;
    if (count < *cap) return old;
    out = e->failed ? NULL : phi_arena_alloc(e->arena, phi__mul(now, size));
    if (out == NULL) {
        e->failed = true;
        return NULL;
    }
    if (count > 0) memcpy(out, old, count * size);
    *cap = now;
    return out;
}

/* ---- calls and their results ---- */

static bool phi__encoder_is_call(const phi_content *c) {
    return c->kind == PHI_CONTENT_TOOL_CALL && !c->incomplete;
}

static void phi__encoder_open_calls(phi__encoder *e, size_t at) {
    const phi_message *message = e->ask->items[at].message;
    size_t i = 0;
    while (i < message->content_count && !phi__encoder_is_call(&message->content[i])) i++;
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

/* Results mostly come in the order of their calls, so the search goes round from the last one. */
static bool phi__encoder_answers(phi__encoder *e, const phi_message *result) {
    const phi_message *calls;
    size_t n, i;
    if (e->calls_item == SIZE_MAX) return false;
    calls = e->ask->items[e->calls_item].message;
    for (n = 0; n < calls->content_count; n++) {
        i = (e->next_call + n) % calls->content_count;
        if (e->answered[i] || !phi__encoder_is_call(&calls->content[i])) continue;
        if (!phi_str_equal(calls->content[i].id, result->tool_call_id)) continue;
        e->answered[i] = 1;
        e->next_call = (i + 1) % calls->content_count;
        return true;
    }
    return false;
}

static void phi__encoder_close_calls(phi__encoder *e) {
    size_t item = e->calls_item, i;
    const phi_message *message;
    if (item == SIZE_MAX) return;
    message = e->ask->items[item].message;
    e->fill.refuses = true; /* what was added cannot be added again */
    for (i = 0; i < message->content_count; i++)
        if (phi__encoder_is_call(&message->content[i]) && !e->answered[i])
            e->codec->missing(e, item, i);
    e->codec->after_results(e, e->results_from, e->at);
    e->fill.refuses = false;
    e->calls_item = SIZE_MAX;
}

/* Asks the codec for an item; again, when its long texts have been filled in. */
static void phi__encoder_put(phi__encoder *e) {
    e->codec->item(e, e->at);
    if (e->fill.going || e->failed) return;
    if (e->ask->items[e->at].message->role == PHI_ROLE_ASSISTANT) phi__encoder_open_calls(e, e->at);
    e->at++;
}

static void phi__encoder_item(phi__encoder *e) {
    const phi_message *message = e->ask->items[e->at].message;
    bool sent = message->role != PHI_ROLE_EXTENSION;
    if (message->role == PHI_ROLE_TOOL_RESULT)
        sent = phi__encoder_answers(e, message);
    else if (sent)
        phi__encoder_close_calls(e);
    if (sent)
        phi__encoder_put(e);
    else
        e->at++;
}

/* ---- addresses ---- */

/* Without control characters and blanks at the ends: a line break would end a header. */
static bool phi__encoder_clean(phi__encoder *e, phi_str from, phi_str *out) {
    char *to = phi__arena_bytes(e->arena, phi__add(from.len, 1));
    size_t i, n = 0;
    if (to == NULL) return false;
    from = phi__str_trim(from);
    for (i = 0; i < from.len; i++)
        if ((unsigned char)from.at[i] >= 0x20 && from.at[i] != 0x7f) to[n++] = from.at[i];
    to[n] = '\0';
    *out = phi__str(to, n);
    return true;
}

static bool phi__encoder_ends(phi_str s, const char *end) {
    size_t n = strlen(end);
    return s.len >= n && memcmp(s.at + s.len - n, end, n) == 0;
}

/* Whether a url is scheme and host only. */
static bool phi__encoder_bare(phi_str url) {
    size_t at = phi__str_find(url, 0, "://");
    return phi__str_find(url, at == SIZE_MAX ? 0 : at + 3, "/") == SIZE_MAX;
}

static void phi__encoder_seal(phi__encoder *e, phi_str method) {
    e->request.method = method;
    e->request.headers = e->headers;
    e->request.header_count = e->header_count;
    e->request.pieces = e->pieces;
    e->request.piece_count = e->count;
    phi__request_seal(&e->request);
}

/* ---- for codecs ---- */

PHI__FN void phi__encode_piece(phi__encoder *e, phi_str json) {
    phi__piece *pieces;
    if (json.len == 0 || e->failed) return;
    pieces = (phi__piece *)phi__encoder_grow(e, e->pieces, e->count, &e->cap, sizeof *pieces);
    if (pieces == NULL) return;
    e->pieces = pieces;
    pieces[e->count].at = json.at;
    pieces[e->count].len = json.len;
    pieces[e->count].start = 0;
    e->count++;
}

PHI__FN void phi__encode_glue(phi__encoder *e, const char *literal) {
    phi__encode_piece(e, phi_str_of(literal));
}

PHI__FN void phi__encode_scratch(phi__encoder *e) {
    phi_str copy;
    if (e->scratch.failed || !phi__arena_str(e->arena, phi__buf_str(&e->scratch), &copy))
        e->failed = true;
    else
        phi__encode_piece(e, copy);
    phi__buf_clear(&e->scratch);
}

PHI__FN bool phi__encode_kept(phi__encoder *e, size_t item, uint32_t block, uint32_t form,
                              phi_str *json) {
    phi__rendered **list = e->ask->items[item].rendered;
    const phi__rendered *r = list != NULL ? *list : e->last_item == item ? &e->last : NULL;
    for (; r != NULL; r = r->next) {
        if (r->form != form || r->block != block) continue;
        *json = r->json;
        return true;
    }
    phi__buf_clear(&e->scratch);
    e->fill.count = 0;
    return false;
}

PHI__FN bool phi__encode_hole(phi__encoder *e, phi_str source, bool base64) {
    phi__fill *f = &e->fill;
    if (f->refuses || source.len <= PHI__FILL_LONG || f->count == PHI__FILL_HOLES) return false;
    f->holes[f->count].offset = e->scratch.len;
    f->holes[f->count].source = source;
    f->holes[f->count].base64 = base64;
    f->count++;
    return true;
}

/* Beside its message, or, where that keeps none, until the next one. */
PHI__FN void phi__encode_store(phi__encoder *e, size_t item, uint32_t block, uint32_t form,
                               phi_str json) {
    const phi__item *kept = &e->ask->items[item];
    phi__rendered *r = &e->last;
    if (kept->rendered != NULL) {
        r = (phi__rendered *)phi_arena_alloc(kept->arena, sizeof *r);
        if (r == NULL) {
            e->failed = true;
            return;
        }
    }
    r->form = form;
    r->block = block;
    r->json = json;
    r->next = NULL;
    e->last_item = item;
    if (kept->rendered == NULL) return;
    r->next = *kept->rendered;
    *kept->rendered = r;
}

PHI__FN bool phi__encode_keep(phi__encoder *e, size_t item, uint32_t block, uint32_t form,
                              phi_str *json) {
    const phi__item *kept = &e->ask->items[item];
    phi_arena *arena = kept->rendered != NULL ? kept->arena : e->arena;
    phi_arena_mark mark = phi_arena_save(arena);
    if (e->scratch.failed) e->failed = true;
    if (!e->failed && e->fill.count > 0) {
        phi__fill_begin(e, item, block, form);
        return false;
    }
    if (!e->failed && !phi__arena_str(arena, phi__buf_str(&e->scratch), json)) e->failed = true;
    phi__buf_clear(&e->scratch);
    if (!e->failed) phi__encode_store(e, item, block, form, *json);
    if (e->failed)
        phi_arena_reset(arena, mark);
    else
        e->fresh += json->len;
    return !e->failed;
}

PHI__FN void phi__encode_mark(phi__encoder *e, size_t back, const char *literal) {
    size_t at = e->mark_piece, i;
    phi__piece *pieces;
    phi_str end;
    if (at == SIZE_MAX || e->failed) return;
    end = phi__str(e->pieces[at].at + e->pieces[at].len - back, back);
    phi__encode_glue(e, literal);
    phi__encode_piece(e, end);
    if (e->failed) return;
    pieces = e->pieces;
    pieces[at].len -= back;
    for (i = e->count - 1; i > at + 2; i--) pieces[i] = pieces[i - 2];
    pieces[at + 1].at = literal;
    pieces[at + 1].len = strlen(literal);
    pieces[at + 2].at = end.at;
    pieces[at + 2].len = end.len;
}

PHI__FN void phi__encode_header(phi__encoder *e, const char *name, phi_str value) {
    phi__header header, *headers;
    size_t i;
    if (e->failed) return;
    if (!phi__encoder_clean(e, phi_str_of(name), &header.name) ||
        !phi__encoder_clean(e, value, &header.value)) {
        e->failed = true;
        return;
    }
    if (header.name.len == 0) return;
    for (i = 0; i < e->header_count; i++)
        if (phi__str_is_nocase(e->headers[i].name, header.name.at)) {
            e->headers[i] = header;
            return;
        }
    headers = (phi__header *)phi__encoder_grow(e, e->headers, e->header_count, &e->header_cap,
                                               sizeof *headers);
    if (headers == NULL) return;
    e->headers = headers;
    headers[e->header_count++] = header;
}

PHI__FN void phi__encode_model_headers(phi__encoder *e) {
    const phi_model *model = e->ask->model;
    size_t i;
    for (i = 0; i < model->header_count; i++)
        if (model->headers[i].name != NULL)
            phi__encode_header(e, model->headers[i].name, phi_str_of(model->headers[i].value));
}

PHI__FN void phi__encode_url(phi__encoder *e, const char *version, bool only_bare,
                             const char *path) {
    phi_str base = phi__str_trim(phi_str_of(e->ask->model->base_url)), query = {NULL, 0};
    size_t at = phi__str_find(base, 0, "?");
    phi__buf *out = &e->scratch;
    if (at != SIZE_MAX) {
        query = phi__str(base.at + at, base.len - at);
        base.len = at;
    }
    while (base.len > 0 && base.at[base.len - 1] == '/') base.len--;
    phi__buf_clear(out);
    phi__buf_add_str(out, base);
    if (!phi__encoder_ends(base, path)) {
        if (only_bare ? phi__encoder_bare(base) : !phi__encoder_ends(base, version))
            phi__buf_text(out, version);
        phi__buf_text(out, path);
    }
    phi__buf_add_str(out, query);
    if (out->failed || !phi__encoder_clean(e, phi__buf_str(out), &e->request.url)) e->failed = true;
    phi__buf_clear(out);
}

PHI__FN void phi__encode_request(phi__encoder *e, phi_str method, phi_str url, phi_str body) {
    if (!phi__encoder_clean(e, url, &e->request.url) || !phi__encoder_clean(e, method, &method))
        e->failed = true;
    phi__encode_piece(e, body);
    if (!e->failed) phi__encoder_seal(e, method);
}

/* ---- for the loop ---- */

PHI__FN const phi__codec *phi__codec_find(phi_str protocol) {
    static const struct phi__codec_alias {
        const char *name;
        const phi__codec *(*codec)(void);
    } aliases[] = {{PHI_PROTOCOL_ANTHROPIC, phi__anthropic_codec},
                   {"anthropic", phi__anthropic_codec},
                   {PHI_PROTOCOL_OPENAI_CHAT, phi__openai_chat_codec},
                   {"open_ai_completions", phi__openai_chat_codec},
                   {PHI_PROTOCOL_OPENAI_RESPONSES, phi__openai_responses_codec},
                   {"open_ai_responses", phi__openai_responses_codec},
                   {PHI_PROTOCOL_AZURE_RESPONSES, phi__azure_responses_codec},
                   {"azure_open_ai_responses", phi__azure_responses_codec},
                   {"openai", phi__openai_chat_codec},
                   {PHI_PROTOCOL_GOOGLE, phi__gemini_codec},
                   {"google", phi__gemini_codec},
                   {PHI_PROTOCOL_VERTEX, phi__vertex_codec},
                   {"vertex", phi__vertex_codec},
                   {PHI_PROTOCOL_BEDROCK, phi__bedrock_codec},
                   {"bedrock", phi__bedrock_codec}};
    size_t i;
    for (i = 0; i < PHI__COUNT(aliases); i++)
        if (phi__str_is_nocase(protocol, aliases[i].name)) return aliases[i].codec();
    return NULL;
}

PHI__FN uint64_t phi__origin_of(phi_str model, phi_str provider, phi_str protocol) {
    const phi__codec *codec;
    uint64_t hash;
    if (model.len == 0 || provider.len == 0) return 0;
    codec = phi__codec_find(protocol);
    if (codec == NULL) return 0;
    hash = phi__hash(phi_str_of(codec->protocol), 0);
    hash = phi__hash(provider, hash);
    hash = phi__hash(model, hash);
    return hash != 0 ? hash : 1;
}

PHI__FN void phi__encoder_begin(phi__encoder *e, const phi__codec *codec, const phi__ask *ask,
                                phi_arena *arena) {
    memset(e, 0, sizeof *e);
    e->codec = codec;
    e->ask = ask;
    e->arena = arena;
    e->calls_item = SIZE_MAX;
    e->mark_piece = SIZE_MAX;
    e->last_item = SIZE_MAX;
    e->origin = phi__origin_of(phi_str_of(ask->model->id), phi_str_of(ask->model->provider),
                               phi_str_of(ask->model->protocol));
    phi__buf_init(&e->scratch, arena->memory);
    phi__buf_init(&e->fill.slice, arena->memory);
}

/* Room for the pieces of a usual transcript, so that the list is not copied as it grows. */
static void phi__encoder_room(phi__encoder *e) {
    e->cap = phi__add(16, phi__mul(e->ask->item_count, 2));
    e->pieces = (phi__piece *)phi_arena_alloc(e->arena, phi__mul(e->cap, sizeof *e->pieces));
    if (e->pieces == NULL) e->failed = true;
}

/* Items, as far as the units go; false: they are used up. */
static bool phi__encoder_items(phi__encoder *e, size_t units) {
    while (!e->failed) {
        if (e->fill.going) {
            if (!phi__fill_advance(e, &units)) return false;
            if (!e->failed) phi__encoder_put(e);
            continue;
        }
        if (e->at == e->ask->item_count) {
            e->stage = PHI__ENCODER_TAIL;
            return true;
        }
        if (units == 0) return false;
        e->fresh = 0;
        phi__encoder_item(e);
        units -= phi__min(units, 1 + e->fresh / 1024);
    }
    return true;
}

PHI__FN phi_status phi__encoder_advance(phi__encoder *e, size_t units) {
    if (e->stage == PHI__ENCODER_HEAD) {
        e->fill.refuses = true;
        phi__encoder_room(e);
        e->codec->address(e);
        e->codec->head(e);
        e->fill.refuses = false;
        e->stage = PHI__ENCODER_ITEMS;
    }
    if (e->stage == PHI__ENCODER_ITEMS && !phi__encoder_items(e, units)) return PHI_BUSY;
    if (e->stage == PHI__ENCODER_TAIL && !e->failed) {
        phi__encoder_close_calls(e);
        e->codec->tail(e);
        if (!e->failed) phi__encoder_seal(e, PHI__LIT("POST"));
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
