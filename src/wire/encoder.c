/* encoder.c - drives a codec over a transcript, a message a unit, and keeps what it rendered.

   Faults that a provider would refuse are repaired here, in the request and not in the log: a
   result without its call, or a second one, is left out; a call without a result gets one before
   the next message. */
#include "wire/prefix_in.h"

#include "wire/extra_in.h"
#include "wire/render_in.h"

enum {
    PHI__ENCODER_PREFIX,
    PHI__ENCODER_HEAD,
    PHI__ENCODER_ITEMS,
    PHI__ENCODER_TAIL,
    PHI__ENCODER_DONE
};

/* ---- calls and their results ---- */

static bool phi__encoder_is_call(const phi_content *c) {
    return c->kind == PHI_CONTENT_TOOL_CALL && !c->incomplete;
}

static void phi__encoder_open_calls(phi__encoder *e, size_t at) {
    const phi_message *message = e->spec->items[at].message;
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
    calls = e->spec->items[e->calls_item].message;
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
    message = e->spec->items[item].message;
    e->fill.refuses = true; /* no holes: a second pass would add these pieces again */
    for (i = 0; i < message->content_count; i++)
        if (phi__encoder_is_call(&message->content[i]) && !e->answered[i])
            e->codec->missing(e, item, i);
    e->codec->after_results(e, e->results_from, e->at);
    e->fill.refuses = false;
    e->calls_item = SIZE_MAX;
}

/* Calls the codec for an item; again, when its long texts have been filled in. */
static void phi__encoder_put(phi__encoder *e) {
    e->codec->item(e, e->at);
    if (e->fill.going || e->failed) return;
    if (e->spec->items[e->at].message->role == PHI_ROLE_ASSISTANT)
        phi__encoder_open_calls(e, e->at);
    e->at++;
}

static void phi__encoder_item(phi__encoder *e) {
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

/* Room for the pieces of a usual transcript, so that the list is not copied as it grows. */
static void phi__encoder_room(phi__encoder *e) {
    e->cap = phi__add(16, phi__mul(e->spec->item_count, 2));
    e->pieces = (phi__piece *)phi_arena_alloc(e->arena, phi__mul(e->cap, sizeof *e->pieces));
    if (e->pieces == NULL) e->failed = true;
}

/* A rendering with holes, as far as the units go; kept once it is whole. False: they are used
   up. */
static bool phi__encoder_fill(phi__encoder *e, size_t *units) {
    const phi__fill *f = &e->fill;
    phi_str json;
    if (!phi__fill_advance(e, units, &json)) return false;
    if (!e->failed) phi__encode_store(e, f->item, f->block, f->form, json);
    return true;
}

/* Items, as far as the units go; false: they are used up. */
static bool phi__encoder_items(phi__encoder *e, size_t units) {
    while (!e->failed) {
        if (e->fill.going) {
            if (!phi__encoder_fill(e, &units)) return false;
            if (!e->failed) phi__encoder_put(e);
            continue;
        }
        if (e->at == e->spec->item_count) {
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

/* Which thinking goes back, where the target binds it. False: the units are used up. */
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
        phi__encoder_room(e);
        e->codec->address(e);
        e->codec->head(e);
        if (e->spec->extra.len > 0) phi__extra_apply(e);
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
