/* model_call.c - one call of the model as it is asked: the request is rendered in slices, once a
   turn, and gets its key and its signature with each attempt (attempt.c). */
#include "base/sha256_in.h"
#include "loop/loop_in.h"
#include "loop/provider_in.h"
#include "wire/format_in.h"
#include "wire/strict_in.h"

#include <stdio.h>

enum {
    PHI__MODEL_CALL_SLICE = 4096, /* bytes hashed between two looks at the clock */
    /* messages, or KiB of them, rendered between two looks at the clock */
    PHI__MODEL_CALL_UNITS = 8
};

/* ---- the request ---- */

/* PHI_BAD_ARG with words: the answer cannot be what it is to be. */
static phi_status phi__model_call_ask(phi__run *run, char *words, size_t words_size) {
    phi__agent *agent = run->agent;
    phi__toolset *set = phi__agent_tools(agent);
    phi__ask *ask = &run->attempt.ask;
    phi_status status;
    memset(ask, 0, sizeof *ask);
    ask->model = &agent->desc.model;
    ask->system_prompt = agent->system_prompt;
    ask->tools = set->views;
    ask->tool_count = set->count;
    ask->tool_choice = agent->desc.tool_choice;
    ask->thinking = agent->desc.thinking;
    ask->max_tokens = agent->desc.max_tokens;
    ask->temperature = agent->desc.has_temperature ? agent->desc.temperature : -1.0;
    ask->cache = agent->desc.cache;
    ask->format = agent->desc.format;
    ask->session_id = agent->line.session->id;
    words[0] = '\0';
    if (!phi__strict_adapt(set->views, set->count, agent->codec, &agent->desc.model, &set->arena))
        return PHI_NO_MEMORY;
    status = phi__run_items(run, &ask->items, &ask->item_count);
    if (status == PHI_OK && agent->provider == NULL) /* a host's own is told the format as it is */
        status = phi__format_apply(agent->codec, ask, &run->arena, words, words_size);
    if (status == PHI_OK)
        status = phi__strict_refused(agent->codec, ask, &agent->memory, words, words_size);
    return status;
}

/* Before anything was sent. */
static phi__state phi__model_call_refuse_words(phi__run *run, const char *words,
                                               phi_status status) {
    phi_failure failure = phi__failure_of(PHI_FAILURE_INVALID_REQUEST, false, words);
    return status == PHI_NO_MEMORY ? PHI__RUN_LOST : phi__attempt_failed(run, &failure, status);
}

static phi__state phi__model_call_refuse(phi__run *run, const char *what, phi_status status) {
    char words[120];
    (void)snprintf(words, sizeof words, "%s: %s", what, phi_status_text(status));
    return phi__model_call_refuse_words(run, words, status);
}

/* Of a host's own model: the request of a first attempt, over HTTP. */
static phi__state phi__model_call_ask_provider(phi__run *run) {
    phi_status status = phi__provider_ask(run);
    if (status == PHI_OK && !phi__provider_in_process(run->agent))
        status = phi__provider_encode(run);
    return status == PHI_OK
               ? PHI__RUN_CREDENTIAL
               : phi__model_call_refuse(run, "the provider has refused the request", status);
}

PHI__FN phi__state phi__model_call_request(phi__run *run, bool *wait) {
    char words[400];
    phi__state outcome;
    phi_status status;
    (void)wait;
    if (run->end.cancelled) return PHI__RUN_TURN_END;
    if (!run->attempt.encoding) {
        if (!phi__run_has_items(run)) {
            phi_failure failure = phi__failure_of(PHI_FAILURE_INVALID_REQUEST, false,
                                                  phi__context_listed(run)
                                                      ? "the hooks have left nothing to be sent"
                                                      : "the policy has left nothing to be sent");
            return phi__attempt_failed(run, &failure, PHI_BAD_ARG);
        }
        status = phi__model_call_ask(run, words, sizeof words);
        if (words[0] != '\0') return phi__model_call_refuse_words(run, words, status);
        if (status != PHI_OK)
            return phi__model_call_refuse(run, "the translation has failed", status);
        run->slices = false;
        outcome = phi__feature_run(run, PHI__POINT_REQUEST);
        if (outcome != PHI__RUN_ON) return outcome;
        run->attempt.hash = NULL;
        run->attempt.keyed = NULL;
        run->attempt.decoder = NULL; /* it went with the last turn's memory */
        if (run->agent->provider != NULL) return phi__model_call_ask_provider(run);
        phi__encoder_begin(&run->attempt.encoder, run->agent->codec, &run->attempt.ask,
                           &run->arena);
        run->attempt.encoding = true;
    }
    status = phi__encoder_advance(&run->attempt.encoder, PHI__MODEL_CALL_UNITS);
    if (status == PHI_BUSY) return PHI__RUN_REQUEST;
    phi__encoder_free(&run->attempt.encoder);
    run->attempt.encoding = false;
    return status == PHI_OK ? PHI__RUN_CREDENTIAL : PHI__RUN_LOST;
}

/* ---- keys ---- */

/* The request's address anew, with another key; its body stays. */
static phi_status phi__model_call_key(phi__run *run, phi_str key) {
    phi_str copy;
    bool done;
    if (run->attempt.keyed == NULL)
        run->attempt.keyed = (phi_model *)phi_arena_alloc(&run->arena, sizeof *run->attempt.keyed);
    if (run->attempt.keyed == NULL || !phi__arena_str(&run->arena, key, &copy))
        return PHI_NO_MEMORY;
    *run->attempt.keyed = run->agent->desc.model;
    run->attempt.keyed->api_key = copy.at;
    run->attempt.ask.model = run->attempt.keyed;
    if (run->agent->provider != NULL)
        return phi__provider_in_process(run->agent) ? PHI_OK : phi__provider_encode(run);
    done = phi__encoder_address(&run->attempt.encoder);
    phi__encoder_free(&run->attempt.encoder); /* the scratch buffer */
    return done ? PHI_OK : PHI_NO_MEMORY;
}

PHI__FN phi__state phi__model_call_credential(phi__run *run, bool *wait) {
    phi_hook hook = phi__hook_of(run, PHI_HOOK_CREDENTIAL);
    phi__hooked hooked;
    phi_status status;
    phi_str key;
    if (run->end.cancelled) {
        phi__decision_drop(&run->decision);
        return PHI__RUN_TURN_END;
    }
    hook.is_error = run->attempt.refused;
    hooked = phi__hook_run(run, &hook);
    if (hooked == PHI__HOOK_WAIT || hooked == PHI__HOOK_GONE || hooked == PHI__HOOK_LOST)
        return phi__run_hooked(run, hooked, PHI__RUN_CREDENTIAL, PHI__RUN_SIGN, PHI__RUN_TURN_END,
                               wait);
    run->attempt.refused = false;
    key = phi__str_trim(phi__buf_str(&run->decision.reply));
    if (hooked == PHI__HOOK_DENY) {
        phi_failure failure = phi__failure_of(PHI_FAILURE_AUTH, false, "there is no key");
        if (key.len > 0) failure.message = key;
        return phi__attempt_failed(run, &failure, PHI_DENIED);
    }
    if (key.len == 0 && run->attempt.keyed != NULL) /* the attempt before had one of its own */
        key = phi_str_of(run->agent->desc.model.api_key);
    else if (key.len == 0)
        return PHI__RUN_SIGN;
    status = phi__model_call_key(run, key);
    return status == PHI_OK
               ? PHI__RUN_SIGN
               : phi__model_call_refuse(run, "the provider has refused the request", status);
}

/* ---- signing ---- */

/* The body's hash, under way or done: it is the same for every attempt. */
typedef struct phi__body_hash {
    phi__sha256 sha;
    uint64_t at;
    bool done;
    phi__signing signing;
} phi__body_hash;

/* One slice; false: there is more. */
static bool phi__model_call_hash(phi__run *run, phi__body_hash *hash) {
    char bytes[PHI__MODEL_CALL_SLICE];
    size_t n = phi_request_read(&run->attempt.encoder.request, hash->at, bytes, sizeof bytes);
    phi__sha256_add(&hash->sha, bytes, n);
    hash->at += n;
    hash->done = hash->at >= phi_request_length(&run->attempt.encoder.request);
    if (hash->done) phi__sha256_end(&hash->sha, hash->signing.body_sha256);
    return hash->done;
}

PHI__FN phi__state phi__model_call_sign(phi__run *run) {
    phi_runtime *rt = run->agent->rt;
    phi__body_hash *hash = run->attempt.hash;
    if (run->end.cancelled) return PHI__RUN_TURN_END;
    if (run->agent->codec->sign == NULL) return PHI__RUN_SEND;
    if (hash == NULL) {
        run->attempt.hash = hash = (phi__body_hash *)phi__arena_zero(&run->arena, sizeof *hash);
        if (hash == NULL) return PHI__RUN_LOST;
        phi__sha256_begin(&hash->sha);
    }
    while (!hash->done && !phi__model_call_hash(run, hash))
        if (phi__step_spent(rt)) return PHI__RUN_SIGN;
    hash->signing.wall_ms = phi__io_wall_ms(rt->io);
    run->agent->codec->sign(&run->attempt.encoder, &hash->signing);
    return run->attempt.encoder.failed ? PHI__RUN_LOST : PHI__RUN_SEND;
}
