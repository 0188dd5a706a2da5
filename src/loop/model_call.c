/* model_call.c - one call of the model: the request is rendered in slices, sent, and its answer
   decoded a slice a time into an assembly whose parts become events. What becomes of the answer is
   in attempt_end.c; a call that is tried again waits here, and sends the same bytes.

   The transport's bytes wait in the transfer's buffer; a slice is decoded to its end before the
   buffer may move. When the host does not drain its events, no slice is taken, the buffer fills,
   and the transport stops reading. */
#include "base/sha256_in.h"
#include "loop/loop_in.h"
#include "loop/provider_in.h"
#include "wire/classify_in.h"
#include "wire/format_in.h"
#include "wire/headers_in.h"
#include "wire/strict_in.h"

#include <stdio.h>

enum {
    PHI__CALL_SLICE = 4096, /* bytes decoded between two looks at the clock */
    /* messages, or KiB of them, rendered between two looks at the clock */
    PHI__CALL_ENCODE_UNITS = 8,
    PHI__CALL_ERROR_MOST = 65536, /* bytes kept of an error's body; wire.md 1.10 */
    PHI__CALL_URL = 400,          /* bytes of a URL that an error's words show */
    PHI__CALL_LINGER_MS = 1000    /* for the usage behind an answer's end, or behind its failure */
};

/* ---- the request ---- */

/* PHI_BAD_ARG with words: the answer cannot be what it is to be. */
static phi_status phi__call_ask(phi__run *run, char *words, size_t words_size) {
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
static phi__state phi__call_refuse_words(phi__run *run, const char *words, phi_status status) {
    phi_failure failure = phi__failure_of(PHI_FAILURE_INVALID_REQUEST, false, words);
    return status == PHI_NO_MEMORY ? PHI__RUN_LOST : phi__attempt_failed(run, &failure, status);
}

static phi__state phi__call_refuse(phi__run *run, const char *what, phi_status status) {
    char words[120];
    (void)snprintf(words, sizeof words, "%s: %s", what, phi_status_text(status));
    return phi__call_refuse_words(run, words, status);
}

/* The decoder has read an event. */
static void phi__call_seen(void *ctx) {
    phi__run *run = (phi__run *)ctx;
    phi__assembly_hide(&run->attempt.answer->assembly, &run->attempt.secrets);
    if (run->attempt.alive) phi__transfer_alive(run->attempt.transfer);
    run->attempt.alive = run->attempt.answer->viewed = false; /* of the next one */
}

static void phi__call_ready(phi__transfer *transfer) { phi__run_wake((phi__run *)transfer->owner); }

/* Room for decoding: an attempt's own, but for the decoder's state, which is zeroed for the next
   one. */
static bool phi__call_prepare(phi__run *run) {
    phi__agent *agent = run->agent;
    size_t bytes = agent->provider != NULL ? phi__provider_state_bytes(agent->provider)
                                           : phi__max(agent->codec->state_bytes, 1);
    if (run->attempt.decoder == NULL) run->attempt.decoder = phi_arena_alloc(&run->arena, bytes);
    run->attempt.answer = phi__answer_new(&agent->memory, &agent->desc.model);
    if (run->attempt.decoder == NULL || run->attempt.answer == NULL) return false;
    memset(run->attempt.decoder, 0, bytes);
    if (agent->provider != NULL) phi__provider_state_init(run->attempt.decoder, agent->provider);
    run->attempt.answer->assembly.id_salt = (uint64_t)agent->line.loops << 32 | run->turn.index;
    run->attempt.answer->assembly.respond = run->attempt.ask.respond;
    phi__reader_init(&run->attempt.reader, agent->codec, run->attempt.decoder,
                     &run->attempt.answer->assembly, agent->desc.max_event_bytes);
    run->attempt.reader.seen = phi__call_seen;
    run->attempt.reader.ctx = run;
    phi__buf_init(&run->attempt.collected, &agent->memory);
    run->attempt.body = PHI__BODY_UNKNOWN;
    run->attempt.emitted = run->attempt.alive = run->attempt.lost = false;
    return true;
}

/* A status of a transport or of a provider's open counts where it is about these: BUSY or CANCELLED
   mean something else of a run. */
static phi_status phi__call_status(phi_status status) {
    switch (status) {
    case PHI_BAD_ARG:
    case PHI_NO_MEMORY:
    case PHI_FULL:
    case PHI_TIMEOUT:
    case PHI_TLS:
    case PHI_PARSE:
    case PHI_TOO_BIG:
    case PHI_NOT_FOUND:
    case PHI_IO:
    case PHI_UNSUPPORTED:
    case PHI_REFUSED: return status;
    default: return PHI_NETWORK;
    }
}

/* A transport is refused by a server that is not there, a run by a provider that has answered. */
static phi_status phi__call_transport_status(phi_status status) {
    return status == PHI_REFUSED ? PHI_UNREACHABLE : phi__call_status(status);
}

/* What must not come back in an error. False: no memory. */
static bool phi__call_note_secrets(phi__run *run) {
    const phi__agent *agent = run->agent;
    phi__secrets *secrets = &run->attempt.secrets;
    if (!phi__provider_in_process(agent))
        phi__secret_add_request(secrets, &run->attempt.encoder.request);
    phi__secret_add_key(secrets, phi_str_of(run->attempt.ask.model->api_key));
    phi__secret_add_key(secrets, phi_str_of(agent->desc.model.api_key));
    if (agent->rt->http != NULL)
        phi__secret_add_url(secrets, phi_str_of(phi__http_proxy(agent->rt->http)));
    return !secrets->failed;
}

static phi__state phi__call_open_provider(phi__run *run) {
    phi_failure failure;
    phi_status status;
    run->reserved.requests = 0; /* it was made */
    status = phi__provider_open(run);
    if (run->agent->slot == NULL) return PHI__RUN_OVER;
    if (status == PHI_OK) return PHI__RUN_STREAM;
    if (status == PHI_NO_MEMORY) return PHI__RUN_LOST;
    failure = phi__failure_of(PHI_FAILURE_SERVER, status == PHI_FULL || status == PHI_BUSY,
                              phi_status_text(status));
    return phi__attempt_failed(run, &failure, phi__call_status(status));
}

PHI__FN phi__state phi__run_send(phi__run *run, bool *wait) {
    phi__agent *agent = run->agent;
    phi_status status;
    if (run->end.cancelled) return PHI__RUN_TURN_END;
    if (!phi__call_prepare(run) || !phi__call_note_secrets(run)) return PHI__RUN_LOST;
    if (phi__provider_in_process(agent)) return phi__call_open_provider(run);
    status = phi__transfer_open(agent->rt, &agent->memory, &run->attempt.encoder.request,
                                &agent->desc.deadlines, agent->desc.max_response_bytes,
                                phi__call_ready, run, &run->attempt.transfer);
    if (status == PHI_NO_MEMORY) return PHI__RUN_LOST;
    run->reserved.requests = 0; /* it was made */
    if (status != PHI_OK) {
        bool full = status == PHI_FULL;
        phi_failure failure;
        status = phi__call_transport_status(status);
        failure = phi__failure_of(PHI_FAILURE_NETWORK, full, phi_status_text(status));
        return phi__attempt_failed(run, &failure, status);
    }
    *wait = true;
    return PHI__RUN_STREAM;
}

/* Of a host's own model: the request of a first attempt, over HTTP. */
static phi__state phi__call_ask_provider(phi__run *run) {
    phi_status status = phi__provider_ask(run);
    if (status == PHI_OK && !phi__provider_in_process(run->agent))
        status = phi__provider_encode(run);
    return status == PHI_OK ? PHI__RUN_CREDENTIAL
                            : phi__call_refuse(run, "the provider has refused the request", status);
}

PHI__FN phi__state phi__run_request(phi__run *run, bool *wait) {
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
        status = phi__call_ask(run, words, sizeof words);
        if (words[0] != '\0') return phi__call_refuse_words(run, words, status);
        if (status != PHI_OK) return phi__call_refuse(run, "the translation has failed", status);
        run->slices = false;
        outcome = phi__feature_run(run, PHI__POINT_REQUEST);
        if (outcome != PHI__RUN_ON) return outcome;
        run->attempt.hash = NULL;
        run->attempt.keyed = NULL;
        run->attempt.decoder = NULL; /* it went with the last turn's memory */
        if (run->agent->provider != NULL) return phi__call_ask_provider(run);
        phi__encoder_begin(&run->attempt.encoder, run->agent->codec, &run->attempt.ask,
                           &run->arena);
        run->attempt.encoding = true;
    }
    status = phi__encoder_advance(&run->attempt.encoder, PHI__CALL_ENCODE_UNITS);
    if (status == PHI_BUSY) return PHI__RUN_REQUEST;
    phi__encoder_free(&run->attempt.encoder);
    run->attempt.encoding = false;
    return status == PHI_OK ? PHI__RUN_CREDENTIAL : PHI__RUN_LOST;
}

/* ---- keys ---- */

/* The request's address anew, with another key; its body stays. */
static phi_status phi__call_key(phi__run *run, phi_str key) {
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

PHI__FN phi__state phi__run_credential(phi__run *run, bool *wait) {
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
    status = phi__call_key(run, key);
    return status == PHI_OK ? PHI__RUN_SIGN
                            : phi__call_refuse(run, "the provider has refused the request", status);
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
static bool phi__call_hash(phi__run *run, phi__body_hash *hash) {
    char bytes[PHI__CALL_SLICE];
    size_t n = phi_request_read(&run->attempt.encoder.request, hash->at, bytes, sizeof bytes);
    phi__sha256_add(&hash->sha, bytes, n);
    hash->at += n;
    hash->done = hash->at >= phi_request_length(&run->attempt.encoder.request);
    if (hash->done) phi__sha256_end(&hash->sha, hash->signing.body_sha256);
    return hash->done;
}

PHI__FN phi__state phi__run_sign(phi__run *run) {
    phi_runtime *rt = run->agent->rt;
    phi__body_hash *hash = run->attempt.hash;
    if (run->end.cancelled) return PHI__RUN_TURN_END;
    if (run->agent->codec->sign == NULL) return PHI__RUN_SEND;
    if (hash == NULL) {
        run->attempt.hash = hash = (phi__body_hash *)phi__arena_zero(&run->arena, sizeof *hash);
        if (hash == NULL) return PHI__RUN_LOST;
        phi__sha256_begin(&hash->sha);
    }
    while (!hash->done && !phi__call_hash(run, hash))
        if (phi__step_spent(rt)) return PHI__RUN_SIGN;
    hash->signing.wall_ms = phi__io_wall_ms(rt->io);
    run->agent->codec->sign(&run->attempt.encoder, &hash->signing);
    return run->attempt.encoder.failed ? PHI__RUN_LOST : PHI__RUN_SEND;
}

/* ---- sending ---- */

PHI__FN phi__state phi__run_backoff(phi__run *run, bool *wait) {
    phi__io *io = run->agent->rt->io;
    if (run->end.cancelled || run->end.stopping) {
        phi__io_timer_clear(io, &run->timer);
        return PHI__RUN_TURN_END;
    }
    if (phi__io_now_us(io) >= run->attempt.retry_at_us) {
        phi__io_timer_clear(io, &run->timer);
        return PHI__RUN_CREDENTIAL;
    }
    *wait = true;
    return PHI__RUN_BACKOFF;
}

/* ---- parts of the answer become events ---- */

static phi_event_kind phi__call_delta_kind(phi_content_kind kind) {
    switch (kind) {
    case PHI_CONTENT_THINKING: return PHI_EV_THINKING;
    case PHI_CONTENT_TOOL_CALL: return PHI_EV_TOOL_ARGUMENTS;
    case PHI_CONTENT_TEXT:
    case PHI_CONTENT_IMAGE: break;
    }
    return PHI_EV_TEXT;
}

static void phi__call_part(void *ctx, phi__assembly *assembly, phi__part part, size_t block,
                           size_t from) {
    phi__run *run = (phi__run *)ctx;
    const phi__draft *draft;
    run->attempt.alive = true;
    if (!phi__answer_room(run->attempt.answer)) run->attempt.lost = true;
    /* until then, nobody has seen anything of it */
    if (part != PHI__PART_DELTA || run->attempt.lost) return;
    if (run->first_delta_ms == 0) run->first_delta_ms = run->agent->rt->step_wall_ms;
    if (!phi__attempt_emit_start(run)) run->attempt.lost = true;
    if (run->attempt.lost) return;
    draft = &assembly->drafts[block];
    if (!phi__emit_delta(run->agent, phi__call_delta_kind(phi__assembly_kind(assembly, block)),
                         (uint32_t)block, phi__str(draft->bytes.at + from, draft->bytes.len - from),
                         run->attempt.answer, draft->bytes.len))
        run->attempt.lost = true;
}

/* ---- the end of the answer ---- */

/* The transport's own trouble. */
static phi__state phi__call_broken(phi__run *run) {
    phi__transfer *transfer = run->attempt.transfer;
    phi_failure failure;
    phi_status status = phi__call_transport_status(transfer->status);
    bool late = transfer->status == PHI_TIMEOUT;
    if (transfer->status == PHI_NO_MEMORY) return PHI__RUN_LOST;
    failure = phi__failure_of(
        late ? PHI_FAILURE_TIMEOUT : PHI_FAILURE_NETWORK,
        transfer->status != PHI_TLS && transfer->status != PHI_TOO_BIG &&
            transfer->status != PHI_UNSUPPORTED && transfer->status != PHI_BAD_ARG, /* of an URL */
        transfer->words[0] != '\0' ? transfer->words : phi_status_text(status));
    failure.http_status = transfer->http_status;
    return phi__attempt_failed(run, &failure, status);
}

/* To features that want to hear what has arrived. False: the agent is gone. */
static bool phi__call_slice(phi__run *run, bool whole) {
    phi__moment moment;
    if (!run->slices) return true;
    memset(&moment, 0, sizeof moment);
    moment.point = PHI__POINT_SLICE;
    moment.agent = run->agent;
    moment.run = run;
    moment.whole = whole;
    return phi__feature_take(&moment) == PHI__RUN_ON;
}

/* Nothing more will be written. */
static phi__state phi__call_whole(phi__run *run, int http_status) {
    phi__assembly *assembly = &run->attempt.answer->assembly;
    phi_failure failure;
    if (run->attempt.lost || assembly->no_memory) return PHI__RUN_LOST;
    phi__assembly_hide(assembly, &run->attempt.secrets);
    phi__assembly_finish(assembly);
    if (!phi__call_slice(run, true)) return PHI__RUN_OVER;
    if (run->attempt.lost || assembly->no_memory) return PHI__RUN_LOST;
    if (assembly->failure.kind == PHI_FAILURE_NONE) return phi__attempt_whole(run);
    failure = assembly->failure;
    if (failure.http_status == 0) failure.http_status = http_status;
    return phi__attempt_failed(run, &failure, phi__failure_status(&failure));
}

/* An answer of no provider at all, under a status that a wrong base URL gives: the words name the
   URL, without user and query. Without memory they stay as they are. */
static void phi__call_name_url(phi__run *run, phi_failure *failure) {
    phi_str url = run->attempt.encoder.request.url;
    int status = failure->http_status;
    size_t len = 0;
    phi__buf words;
    phi_str named;
    if (failure->code.len > 0 || !phi__str_starts(failure->message, "HTTP ")) return;
    if (status != 200 && status != 404 && status != 405 && (status < 300 || status > 399)) return;
    while (len < phi__min(url.len, PHI__CALL_URL) && url.at[len] != '?' && url.at[len] != '#')
        len++;
    phi__buf_init(&words, &run->agent->memory);
    phi__buf_add_str(&words, failure->message);
    phi__buf_text(&words, " (");
    phi__secret_put_url(&words, phi__str(url.at, len));
    phi__buf_char(&words, ')');
    if (!words.failed && phi__arena_str(&run->arena, phi__buf_str(&words), &named))
        failure->message = named;
    phi__buf_free(&words);
}

/* All bytes are decoded: what became of it? */
static phi__state phi__call_over(phi__run *run) {
    phi__assembly *assembly = &run->attempt.answer->assembly;
    phi__transfer *transfer = run->attempt.transfer;
    phi_failure failure;
    if (run->attempt.lost || assembly->no_memory || run->attempt.collected.failed)
        return PHI__RUN_LOST;
    if (transfer->status != PHI_OK && !phi__reader_lingers(&run->attempt.reader) &&
        !phi__reader_done(&run->attempt.reader) && run->attempt.body != PHI__BODY_ERROR)
        return phi__call_broken(run);
    if (run->attempt.body == PHI__BODY_UNKNOWN) {
        failure = phi__failure_of(PHI_FAILURE_NETWORK, true, "the transport gave no answer");
        return phi__attempt_failed(run, &failure, PHI_NETWORK);
    }
    if (run->attempt.body == PHI__BODY_WHOLE)
        run->agent->codec->whole(run->attempt.decoder, assembly,
                                 phi__buf_str(&run->attempt.collected));
    if (run->attempt.body == PHI__BODY_ERROR) {
        phi__classify(&run->agent->desc.model, transfer->http_status,
                      phi__buf_str(&transfer->headers), phi__buf_str(&run->attempt.collected),
                      &run->arena, &failure);
        phi__call_name_url(run, &failure);
        return phi__attempt_failed(run, &failure, phi__failure_status(&failure));
    }
    if (run->attempt.body == PHI__BODY_STREAM) phi__reader_end(&run->attempt.reader);
    return phi__call_whole(run, transfer->http_status);
}

/* ---- the answer's bytes ---- */

static void phi__call_look_at_head(phi__run *run) {
    const phi__transfer *transfer = run->attempt.transfer;
    phi_str type = phi__header_value(phi__buf_str(&transfer->headers), "content-type");
    run->attempt.answer->assembly.sink = phi__call_part;
    run->attempt.answer->assembly.ctx = run;
    if (transfer->http_status < 200 || transfer->http_status > 299)
        run->attempt.body = PHI__BODY_ERROR;
    else if (phi__str_find_nocase(type, 0, "application/json") != SIZE_MAX ||
             phi__str_find_nocase(type, 0, "+json") != SIZE_MAX) /* application/problem+json */
        run->attempt.body = PHI__BODY_WHOLE;
    else if (phi__str_find_nocase(type, 0, "html") != SIZE_MAX)
        run->attempt.body = PHI__BODY_ERROR;
    else
        run->attempt.body = PHI__BODY_STREAM;
}

/* Behind the answer's end it changes nothing. */
static void phi__call_too_big(phi__run *run, const char *what, unsigned long long most) {
    char words[120];
    if (run->attempt.answer->assembly.terminal) return;
    (void)snprintf(words, sizeof words, "%s is larger than %llu bytes", what, most);
    phi__assembly_fail(&run->attempt.answer->assembly, PHI_FAILURE_SERVER, false, phi__str(NULL, 0),
                       phi_str_of(words));
}

static void phi__call_collect(phi__run *run, phi_str bytes) {
    size_t most = run->attempt.body == PHI__BODY_WHOLE ? run->agent->desc.max_event_bytes
                                                       : (size_t)PHI__CALL_ERROR_MOST;
    size_t room = most - phi__min(most, run->attempt.collected.len);
    phi__transfer_alive(run->attempt.transfer);
    phi__buf_add(&run->attempt.collected, bytes.at, phi__min(room, bytes.len));
    if (bytes.len > room && run->attempt.body == PHI__BODY_WHOLE)
        phi__call_too_big(run, "The answer", (unsigned long long)most);
}

/* Whether more of the answer is worth waiting for. */
static bool phi__call_settled(phi__run *run) {
    if (run->attempt.lost || run->attempt.collected.failed ||
        phi__reader_done(&run->attempt.reader))
        return true;
    if (run->attempt.body == PHI__BODY_ERROR && run->attempt.collected.len >= PHI__CALL_ERROR_MOST)
        return true;
    if (phi__transfer_decoded(run->attempt.transfer) > run->attempt.transfer->max_bytes) {
        phi__call_too_big(run, "The answer", (unsigned long long)run->attempt.transfer->max_bytes);
        return true;
    }
    return false;
}

/* Decodes what has arrived; true: all of it, as far as the step and the host allow. */
static bool phi__call_decode(phi__run *run, bool *wait) {
    phi_runtime *rt = run->agent->rt;
    for (;;) {
        phi_str bytes = phi__transfer_unread(run->attempt.transfer);
        if (bytes.len == 0 || phi__call_settled(run)) return true;
        if (phi__events_backlog(run->agent)) {
            *wait = true;
            return false;
        }
        bytes.len = phi__min(bytes.len, PHI__CALL_SLICE);
        run->attempt.answer->viewed = false;
        if (run->attempt.body == PHI__BODY_STREAM)
            phi__reader_feed(&run->attempt.reader, bytes);
        else
            phi__call_collect(run, bytes);
        phi__step_took(rt, bytes.len);
        phi__transfer_took(run->attempt.transfer, bytes.len);
        if (!phi__call_slice(run, false) || run->end.cancelled) return false;
        if (phi__step_spent(rt)) return false;
    }
}

/* What may follow is the usage and the end of the body: at once, or they are not worth a wait. */
static void phi__call_linger(phi__run *run) {
    phi__transfer *transfer = run->attempt.transfer;
    if (transfer->deadlines.idle_ms == PHI__CALL_LINGER_MS) return;
    transfer->deadlines.idle_ms = PHI__CALL_LINGER_MS;
    transfer->stage = PHI_TRANSFER_CONNECTED; /* so that being alive arms the timer anew */
    phi__transfer_alive(transfer);
}

/* A model of the host's own, in process. */
static phi__state phi__call_poll(phi__run *run, bool *wait) {
    bool over;
    run->attempt.answer->assembly.sink = phi__call_part;
    run->attempt.answer->assembly.ctx = run;
    over = phi__provider_poll(run, wait);
    if (run->agent->slot == NULL) return PHI__RUN_OVER;
    if (!over) {
        if (!phi__call_slice(run, false)) return PHI__RUN_OVER;
        if (run->end.cancelled) *wait = false;
        return PHI__RUN_STREAM;
    }
    *wait = false;
    phi__provider_close(run);
    return run->agent->slot == NULL ? PHI__RUN_OVER : phi__call_whole(run, 0);
}

PHI__FN phi__state phi__run_stream(phi__run *run, bool *wait) {
    phi__transfer *transfer = run->attempt.transfer;
    if (run->end.cancelled) {
        phi_failure failure = phi__failure_of(PHI_FAILURE_CANCELLED, false, "Cancelled");
        phi__assembly_finish(&run->attempt.answer->assembly);
        return phi__attempt_failed(run, &failure, PHI_CANCELLED);
    }
    if (phi__provider_in_process(run->agent)) return phi__call_poll(run, wait);
    if (transfer->headed && run->attempt.body == PHI__BODY_UNKNOWN) phi__call_look_at_head(run);
    if (transfer->headed && !phi__call_decode(run, wait)) return PHI__RUN_STREAM;
    if (phi__call_settled(run)) {
        transfer->answered = run->attempt.answer->assembly.last;
        return phi__call_over(run);
    }
    if (!transfer->ended) {
        if (phi__reader_lingers(&run->attempt.reader)) phi__call_linger(run);
        *wait = true;
        return PHI__RUN_STREAM;
    }
    if (run->attempt.body == PHI__BODY_STREAM)
        phi__reader_finish(&run->attempt.reader, transfer->status != PHI_OK);
    return phi__call_over(run);
}
