/* provider.c - a host's own models: registered by name, and polled in this process, or called over
   HTTP with the host's encoder and decoder.

   A provider over HTTP is used as a codec. A provider in this process has no transfer: its run is
   woken in each step and polls it. */
#include "loop/inner_in.h"

struct phi__provider_node {
    struct phi__provider_node *next;
    phi_provider provider;
    size_t name_bytes;
};

PHI__FN phi_status phi__provider_check(phi_runtime *rt, const char *what,
                                       const phi_provider *provider) {
    bool process = provider->open != NULL || provider->poll != NULL || provider->close != NULL;
    bool http = provider->encode != NULL || provider->event != NULL || provider->end != NULL ||
                provider->whole != NULL;
    if (provider->protocol == NULL || provider->protocol[0] == '\0')
        return phi__error(rt, PHI_BAD_ARG, "%s: protocol is missing", what);
    if (process == http)
        return phi__error(rt, PHI_BAD_ARG,
                          "%s: expected open, poll and close, or encode, event and end", what);
    if (process && (provider->open == NULL || provider->poll == NULL || provider->close == NULL))
        return phi__error(rt, PHI_BAD_ARG, "%s: open, poll or close is missing", what);
    if (http && (provider->encode == NULL || provider->event == NULL || provider->end == NULL))
        return phi__error(rt, PHI_BAD_ARG, "%s: encode, event or end is missing", what);
    if (provider->decoder_bytes > (size_t)1 << 20)
        return phi__error(rt, PHI_BAD_ARG, "%s: decoder_bytes: expected at most 1 MiB", what);
    return PHI_OK;
}

PHI__FN const phi_provider *phi__provider_find(const phi_runtime *rt, phi_str protocol) {
    for (const struct phi__provider_node *node = rt->providers; node != NULL; node = node->next)
        if (phi__str_is_nocase(protocol, node->provider.protocol)) return &node->provider;
    return NULL;
}

PHI__FN void phi__provider_free_all(phi_runtime *rt) {
    while (rt->providers != NULL) {
        struct phi__provider_node *node = rt->providers;
        rt->providers = node->next;
        if (node->provider.release != NULL) node->provider.release(node->provider.user_data);
        phi__free(&rt->memory, node, sizeof *node + node->name_bytes);
    }
}

PHI__FN phi_status phi__provider_request(phi__run *run) {
    const phi__request_spec *spec = &run->attempt.spec;
    phi_arena *arena = &run->arena;
    phi_request_options options = spec->options;
    phi_model_request *request = (phi_model_request *)phi__arena_zero(arena, sizeof *request);
    phi_tool_spec *tools = (phi_tool_spec *)phi_arena_alloc(
        arena, phi__mul(phi__max(spec->tool_count, 1), sizeof *tools));
    const phi_message **list = (const phi_message **)phi_arena_alloc(
        arena, phi__mul(phi__max(spec->item_count, 1), sizeof *list));
    if (request == NULL || tools == NULL || list == NULL) return PHI_NO_MEMORY;
    for (size_t i = 0; i < spec->tool_count; i++) {
        tools[i].name = spec->tools[i].name;
        tools[i].description = spec->tools[i].description;
        tools[i].schema = spec->tools[i].schema;
        tools[i].strict = spec->tools[i].strict != NULL;
        tools[i].raw = spec->tools[i].raw;
    }
    for (size_t i = 0; i < spec->item_count; i++) list[i] = spec->items[i].message;
    request->tools = tools;
    request->tool_count = spec->tool_count;
    request->messages = list;
    request->message_count = spec->item_count;
    request->agent = run->agent->handle;
    request->system_prompt = spec->system_prompt;
    request->tool_choice = spec->tool_choice;
    request->thinking = spec->thinking;
    request->max_tokens = spec->max_tokens;
    request->format = spec->format;
    request->session_id = spec->session_id;
    options.temperature = spec->temperature;
    options.has_temperature = spec->temperature >= 0;
    options.extra = spec->extra.len > 0 ? spec->extra.at : NULL;
    if (!phi__takes_copy(arena, &options, &request->options)) return PHI_NO_MEMORY;
    run->hosted.request = request;
    if (run->agent->desc.translate_fn != NULL) return PHI_OK;
    return phi_translate(spec->model, list, spec->item_count, arena, &request->messages,
                         &request->message_count);
}

/* ---- decoding over HTTP ---- */

/* Precedes the host's own state, which is aligned for any type. */
typedef struct phi__provider_state {
    const phi_provider *provider;
} phi__provider_state;

enum { PHI__PROVIDER_HEAD = 16 };

static void *phi__provider_decoder(void *state) { return (char *)state + PHI__PROVIDER_HEAD; }

PHI__FN size_t phi__provider_state_bytes(const phi_provider *provider) {
    return phi__add(PHI__PROVIDER_HEAD, provider->decoder_bytes);
}

PHI__FN void phi__provider_state_init(void *state, const phi_provider *provider) {
    ((phi__provider_state *)state)->provider = provider;
}

static void phi__provider_event(void *state, phi__assembly *out, phi_str name, phi_str data) {
    const phi_provider *provider = ((phi__provider_state *)state)->provider;
    provider->event(provider->user_data, phi__provider_decoder(state), name, data,
                    phi__writer_of(out));
}

static void phi__provider_end(void *state, phi__assembly *out) {
    const phi_provider *provider = ((phi__provider_state *)state)->provider;
    provider->end(provider->user_data, phi__provider_decoder(state), phi__writer_of(out));
    if (!out->terminal) phi__classify_truncated(out, false);
}

static void phi__provider_whole(void *state, phi__assembly *out, phi_str body) {
    const phi_provider *provider = ((phi__provider_state *)state)->provider;
    void *decoder = phi__provider_decoder(state);
    if (provider->whole != NULL)
        provider->whole(provider->user_data, decoder, body, phi__writer_of(out));
    else
        provider->event(provider->user_data, decoder, phi__str("", 0), body, phi__writer_of(out));
    phi__provider_end(state, out);
}

/* Returns the codec that is used for every provider. */
static const phi__codec *phi__provider_codec(void) {
    static const phi__codec_rules rules = {
        NULL, NULL, NULL, NULL, PHI__SCHEMA_IF_STRICT, NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL,
        NULL, NULL, NULL, NULL};
    static const phi__codec codec = {{NULL, NULL, NULL},
                                     &rules,
                                     PHI__PROVIDER_HEAD,
                                     NULL,
                                     NULL,
                                     NULL,
                                     NULL,
                                     NULL,
                                     NULL,
                                     phi__provider_event,
                                     phi__provider_end,
                                     phi__provider_whole,
                                     NULL,
                                     NULL};
    return &codec;
}

PHI__FN phi_status phi__provider_encode(phi__run *run) {
    const phi_provider *provider = run->agent->provider;
    phi__encoder *e = &run->attempt.encoder;
    phi_http_request http = PHI_ZERO;
    run->hosted.request->model = run->attempt.spec.model;
    phi_status status =
        provider->encode(provider->user_data, run->hosted.request, &run->arena, &http);
    if (status != PHI_OK) return status;
    phi__encoder_begin(e, phi__provider_codec(), &run->attempt.spec, &run->arena);
    phi__encode_header(e, "content-type", PHI__LIT("application/json"));
    phi__encode_header(e, "accept", PHI__LIT("text/event-stream, application/json"));
    for (size_t i = 0; i < http.header_count; i++)
        if (http.headers[i].name != NULL)
            phi__encode_header(e, http.headers[i].name, phi_str_of(http.headers[i].value));
    phi__encode_model_headers(e);
    phi__encode_request(e, phi_str_of(http.method != NULL ? http.method : "POST"),
                        phi_str_of(http.url != NULL ? http.url : run->attempt.spec.model->base_url),
                        http.body);
    status = e->failed ? PHI_NO_MEMORY : PHI_OK;
    phi__encoder_free(e);
    return status;
}

/* ---- in process ---- */

PHI__FN phi_status phi__provider_open(phi__run *run) {
    phi_runtime *rt = run->agent->rt;
    const phi_provider *provider = run->agent->provider;
    run->hosted.request->model = run->attempt.spec.model;
    phi_status status = provider->open(provider->user_data, run->hosted.request, &run->hosted.call);
    if (status != PHI_OK) return status;
    run->hosted.open = true;
    if (run->agent->slot == NULL) { /* the provider has freed its agent */
        phi__provider_close(run);
        return PHI_STALE;
    }
    run->hosted.in_list = true;
    phi__list_push_first(&rt->polled, &run->hosted.link);
    return PHI_OK;
}

PHI__FN bool phi__provider_poll(phi__run *run, bool *wait) {
    const phi_provider *provider = run->agent->provider;
    phi__assembly *assembly = &run->attempt.answer->assembly;
    *wait = true;
    if (run->hosted.polled_step == run->agent->rt->step.round || phi__events_backlog(run->agent))
        return false;
    run->hosted.polled_step = run->agent->rt->step.round;
    run->attempt.answer->viewed = false;
    run->hosted.in_call = true;
    phi_poll said = provider->poll(provider->user_data, run->hosted.call, phi__writer_of(assembly));
    run->hosted.in_call = false;
    if (run->agent->slot == NULL) return false;
    if (said == PHI_POLL_DONE && assembly->failure.kind == PHI_FAILURE_NONE)
        phi_answer_stop(phi__writer_of(assembly), PHI_STOP_REASON_STOP);
    return assembly->terminal || assembly->failure.kind != PHI_FAILURE_NONE || run->attempt.lost ||
           assembly->no_memory;
}

PHI__FN void phi__provider_close(phi__run *run) {
    const phi_provider *provider = run->agent->provider;
    if (!run->hosted.open) return;
    if (run->hosted.in_list) phi__list_take(&run->agent->rt->polled, &run->hosted.link);
    run->hosted.in_list = false;
    /* called inside the provider's poll: close later */
    if (run->hosted.in_call && !run->agent->rt->abandoned) return;
    run->hosted.open = false;
    provider->close(provider->user_data, run->hosted.call);
}

PHI_API phi_status phi_register_provider(phi_runtime *rt, const phi_provider *provider) {
    struct phi__provider_node *node;
    if (rt == NULL || provider == NULL) return PHI_BAD_ARG;
    phi_status status = phi__provider_check(rt, "phi_register_provider", provider);
    if (status != PHI_OK) return status;
    size_t n = strlen(provider->protocol) + 1;
    node = (struct phi__provider_node *)phi__alloc(&rt->memory, phi__add(sizeof *node, n));
    if (node == NULL) return phi__error(rt, PHI_NO_MEMORY, "phi_register_provider: out of memory");
    node->provider = *provider;
    node->name_bytes = n;
    memcpy((char *)(node + 1), provider->protocol, n);
    node->provider.protocol = (const char *)(node + 1);
    node->next = rt->providers;
    rt->providers = node;
    return PHI_OK;
}

/* ---- a model with its provider or codec ----

   A phi__speaker holds all that an agent knows about its model. It can be made in advance, and
   exchanged without memory. */

enum {
    PHI__SPEAKER_WINDOW = 128000,
    PHI__SPEAKER_MAX_TOKENS = 8192 /* see C-48 in docs/conformance.md */
};

static bool phi__speaker_text(phi_arena *arena, const char *text, const char **out) {
    phi_str copy;
    if (!phi__arena_str(arena, phi_str_of(text), &copy)) return false;
    *out = copy.at;
    return true;
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
    out->own = NULL;
    if (own != NULL) {
        phi_provider *kept = (phi_provider *)phi_arena_alloc(arena, sizeof *kept);
        if (kept == NULL) return false;
        *kept = *own;
        out->own = kept;
        if (!phi__speaker_text(arena, own->protocol, &kept->protocol)) return false;
    }
    named = phi__message_read_provider(phi_str_of(named), phi_str_of(model->protocol)).at;
    out->provider = out->own;
    if (out->provider == NULL) out->provider = phi__provider_find(rt, phi_str_of(model->protocol));
    out->in_process = out->provider != NULL && out->provider->open != NULL;
    out->codec = out->provider != NULL ? phi__provider_codec() : phi__codec_of(rt->codecs, model);
    if (copy->context_window == 0) copy->context_window = PHI__SPEAKER_WINDOW;
    if (copy->max_tokens == 0) copy->max_tokens = PHI__SPEAKER_MAX_TOKENS;
    if (!phi__speaker_text(arena, model->protocol, &copy->protocol) ||
        !phi__speaker_text(arena, model->id, &copy->id) ||
        !phi__speaker_text(arena, model->name != NULL ? model->name : model->id, &copy->name) ||
        !phi__speaker_text(arena, named, &copy->provider) ||
        !phi__speaker_text(arena, model->base_url, &copy->base_url) ||
        (model->api_key != NULL && model->api_key[0] != '\0' &&
         !phi__speaker_text(arena, model->api_key, &copy->api_key)) ||
        (model->api_version != NULL &&
         !phi__speaker_text(arena, model->api_version, &copy->api_version)) ||
        (model->extra != NULL && !phi__speaker_text(arena, model->extra, &copy->extra)))
        return false;
    phi_model_header *headers =
        (phi_model_header *)phi_arena_alloc(arena, phi__mul(model->header_count, sizeof *headers));
    if (headers == NULL) return false;
    for (size_t i = 0; i < model->header_count; i++)
        if (!phi__speaker_text(arena, model->headers[i].name, &headers[i].name) ||
            !phi__speaker_text(arena, model->headers[i].value, &headers[i].value))
            return false;
    copy->headers = headers;
    return true;
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
