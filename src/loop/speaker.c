/* speaker.c - copies models, with their defaults, and puts them into an agent. */
#include "loop/speaker_in.h"

#include "loop/provider_in.h"
#include "model/message_in.h"

enum {
    PHI__SPEAKER_WINDOW = 128000,
    PHI__SPEAKER_MAX_TOKENS = 8192 /* behaviours C 48 */
};

static bool phi__speaker_text(phi_arena *arena, const char *text, const char **out) {
    phi_str copy;
    if (!phi__arena_str(arena, phi_str_of(text), &copy)) return false;
    *out = copy.at;
    return true;
}

static bool phi__speaker_headers(phi_arena *arena, const phi_model *model, phi__speaker *out) {
    size_t i;
    phi_model_header *headers =
        (phi_model_header *)phi_arena_alloc(arena, phi__mul(model->header_count, sizeof *headers));
    if (headers == NULL) return false;
    for (i = 0; i < model->header_count; i++)
        if (!phi__speaker_text(arena, model->headers[i].name, &headers[i].name) ||
            !phi__speaker_text(arena, model->headers[i].value, &headers[i].value))
            return false;
    out->model.headers = headers;
    return true;
}

static bool phi__speaker_provider(phi_arena *arena, const phi_provider *given, phi__speaker *out) {
    phi_provider *copy;
    out->own = NULL;
    if (given == NULL) return true;
    copy = (phi_provider *)phi_arena_alloc(arena, sizeof *copy);
    if (copy == NULL) return false;
    *copy = *given;
    out->own = copy;
    return phi__speaker_text(arena, given->protocol, &copy->protocol);
}

PHI__FN void phi__speaker_by(phi__speaker *seat, const phi_provider *own) {
    seat->own = seat->provider = own;
    seat->in_process = own->open != NULL;
    seat->codec = phi__provider_codec();
}

PHI__FN bool phi__speaker_take(const phi_runtime *rt, phi_arena *arena, const phi_provider *own,
                               const phi_model *model, phi__speaker *out) {
    phi_model *copy = &out->model;
    const char *named = model->provider != NULL ? model->provider : model->protocol;
    *copy = *model;
    if (!phi__speaker_provider(arena, own, out)) return false;
    named = phi__message_read_provider(phi_str_of(named), phi_str_of(model->protocol)).at;
    out->provider = out->own;
    if (out->provider == NULL) out->provider = phi__provider_find(rt, phi_str_of(model->protocol));
    out->in_process = out->provider != NULL && out->provider->open != NULL;
    out->codec = out->provider != NULL ? phi__provider_codec() : phi__codec_of(rt->codecs, model);
    if (copy->context_window == 0) copy->context_window = PHI__SPEAKER_WINDOW;
    if (copy->max_tokens == 0) copy->max_tokens = PHI__SPEAKER_MAX_TOKENS;
    return phi__speaker_text(arena, model->protocol, &copy->protocol) &&
           phi__speaker_text(arena, model->id, &copy->id) &&
           phi__speaker_text(arena, model->name != NULL ? model->name : model->id, &copy->name) &&
           phi__speaker_text(arena, named, &copy->provider) &&
           phi__speaker_text(arena, model->base_url, &copy->base_url) &&
           (model->api_key == NULL || model->api_key[0] == '\0' ||
            phi__speaker_text(arena, model->api_key, &copy->api_key)) &&
           (model->api_version == NULL ||
            phi__speaker_text(arena, model->api_version, &copy->api_version)) &&
           (model->extra == NULL || phi__speaker_text(arena, model->extra, &copy->extra)) &&
           phi__speaker_headers(arena, model, out);
}

PHI__FN phi__speaker phi__speaker_of(const phi__agent *agent) {
    phi__speaker seat;
    seat.model = agent->desc.model;
    seat.own = agent->desc.provider;
    seat.provider = agent->provider;
    seat.codec = agent->codec;
    seat.in_process = agent->in_process;
    return seat;
}

PHI__FN void phi__speaker_set(phi__agent *agent, const phi__speaker *seat) {
    agent->desc.model = seat->model;
    agent->desc.provider = seat->own;
    agent->provider = seat->provider;
    agent->codec = seat->codec;
    agent->in_process = seat->in_process;
}
