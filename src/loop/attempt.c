/* attempt.c - an attempt: a model call, tried once. It is sent, and its answer decoded, a slice at
   a time, into an assembly whose parts become events; attempt_end.c handles its end. A retry waits
   here, and sends the same bytes.

   The transport's bytes wait in the transfer's buffer; a slice is decoded to its end before the
   buffer may move. When the host does not drain its events, no slice is taken, the buffer fills,
   and the transport stops reading. */
#include "loop/attempt_in.h"

#include "base/words_in.h"
#include "loop/loop_in.h"
#include "loop/provider_in.h"
#include "wire/classify_in.h"
#include "wire/headers_in.h"
#include "wire/repair_in.h"

#include <stdio.h>

enum {
    PHI__ATTEMPT_SLICE = 4096,       /* bytes decoded between two clock readings */
    PHI__ATTEMPT_ERROR_MOST = 65536, /* bytes kept of an error's body; wire.md 1.10 */
    PHI__ATTEMPT_URL = 400,          /* bytes of a URL in an error's message */
    PHI__ATTEMPT_LINGER_MS = 1000    /* for the usage behind an answer's end, or its failure */
};

/* ---- an attempt, as far as its end does not matter ---- */

PHI__FN void phi__attempt_init(phi__run *run) {
    phi__secret_init(&run->attempt.secrets, &run->arena);
}

PHI__FN void phi__attempt_clear(phi__run *run) {
    phi__attempt_rewind(run);
    run->attempt.refused = run->attempt.fresh = false;
    run->attempt.retries = 0;
}

PHI__FN const phi__request_spec *phi__attempt_spec(const phi__run *run) {
    return &run->attempt.spec;
}

PHI__FN phi__answer *phi__attempt_answer(const phi__run *run) { return run->attempt.answer; }

PHI__FN void phi__attempt_lose(phi__run *run) { run->attempt.lost = true; }

PHI__FN bool phi__attempt_lost(const phi__run *run) { return run->attempt.lost; }

PHI__FN void phi__attempt_none(phi__run *run) { run->attempt.emitted = false; }

PHI__FN void phi__attempt_detach(phi__run *run) {
    phi__provider_close(run);
    phi__transfer_close(run->attempt.transfer);
    run->attempt.transfer = NULL;
}

PHI__FN void phi__attempt_charge(phi__run *run) {
    phi_usage usage;
    if (run->attempt.answer == NULL || !run->attempt.answer->live) return;
    usage = run->attempt.answer->assembly.usage;
    if (usage.total_tokens == 0) usage.total_tokens = phi__limits_charge_tokens(&usage);
    phi__limits_charge(run, &usage);
}

PHI__FN void phi__attempt_rewind(phi__run *run) {
    phi__arena_rewind(&run->arena);
    phi__secret_init(&run->attempt.secrets, &run->arena);
}

PHI__FN bool phi__attempt_emit_start(phi__run *run) {
    phi_event event;
    if (run->attempt.emitted) return true;
    run->attempt.emitted = true;
    memset(&event, 0, sizeof event);
    event.kind = PHI_EV_MESSAGE_START; /* which shows nothing of it: there need be no room yet */
    return phi__events_emit(run->agent, &event, run->attempt.answer, 0);
}

PHI__FN bool phi__attempt_retract(phi__run *run) {
    phi_event event;
    if (!run->attempt.emitted) return true;
    memset(&event, 0, sizeof event);
    event.kind = PHI_EV_RETRACT;
    return phi__events_answer_room(run->attempt.answer) &&
           phi__events_emit(run->agent, &event, run->attempt.answer, 0);
}

static void phi__attempt_close(phi__run *run) {
    phi__attempt_detach(run);
    phi__reader_free(&run->attempt.reader);
    phi__buf_free(&run->attempt.collected);
}

PHI__FN void phi__attempt_drop(phi__run *run) {
    if (run->attempt.encoding) phi__encoder_free(&run->attempt.encoder);
    run->attempt.encoding = false;
    if (run->attempt.answer == NULL) return; /* nothing was opened */
    phi__attempt_close(run);
    phi__events_answer_settle(run->attempt.answer, run->reply);
    phi__events_answer_drop(run->attempt.answer);
    run->attempt.answer = NULL;
}

/* Frees an attempt whose answer is not needed. Its emitted events stay valid. */
PHI__FN void phi__attempt_abandon(phi__run *run) {
    phi__attempt_charge(run);
    phi__attempt_close(run);
    /* not settled: events in the queue still show it */
    phi__events_answer_drop(run->attempt.answer);
    run->attempt.answer = NULL;
}

/* Copied, without control characters and without the secrets that the requests carried. */
static bool phi__attempt_keep_words(phi__run *run, phi_arena *arena, phi_str words, phi_str *out) {
    char *at;
    if (!phi__arena_str(arena, words, out)) return false;
    at = (char *)(uintptr_t)out->at;
    out->len = phi__words_clean(at, out->len);
    (void)phi__secret_hide(&run->attempt.secrets, at, out->len, PHI__SECRET_WORDS);
    at[out->len] = '\0';
    return true;
}

/* A failure that outlives the call: in the thread; the static one when there is no memory. */
static const phi_failure *phi__attempt_keep_failure(phi__run *run, const phi_failure *failure) {
    phi_arena *arena = phi__thread_room(run->agent->thread);
    phi_failure *kept = (phi_failure *)phi_arena_alloc(arena, sizeof *kept);
    if (kept == NULL) return NULL;
    *kept = *failure;
    if (!phi__attempt_keep_words(run, arena, failure->code, &kept->code) ||
        !phi__attempt_keep_words(run, arena, failure->message, &kept->message) ||
        !phi__attempt_keep_words(run, arena, failure->request_id, &kept->request_id))
        return NULL;
    return kept;
}

PHI__FN phi__state phi__attempt_failed(phi__run *run, const phi_failure *failure,
                                       phi_status status) {
    run->attempt.fault = phi__attempt_keep_failure(run, failure);
    run->attempt.fault_status = status;
    return run->attempt.fault != NULL ? PHI__RUN_ENDED : PHI__RUN_LOST;
}

PHI__FN phi__state phi__attempt_whole(phi__run *run) {
    run->attempt.fault = NULL;
    return PHI__RUN_ENDED;
}

PHI__FN phi__state phi__attempt_refuse(phi__run *run, const phi_failure *failure) {
    run->attempt.fault = failure;
    run->attempt.fault_status = phi__failure_status(failure);
    return PHI__RUN_GIVE_UP;
}

/* ---- sending ---- */

/* The decoder has read an event. */
static void phi__attempt_seen(void *ctx) {
    phi__run *run = (phi__run *)ctx;
    phi__assembly_hide(&run->attempt.answer->assembly, &run->attempt.secrets);
    run->attempt.answer->viewed = false;
}

/* Room for decoding: an attempt's own, but for the decoder's state, which is zeroed for the next
   one. */
static bool phi__attempt_prepare(phi__run *run) {
    phi__agent *agent = run->agent;
    size_t bytes = agent->provider != NULL ? phi__provider_state_bytes(agent->provider)
                                           : phi__max(agent->codec->state_bytes, 1);
    if (run->attempt.decoder == NULL) run->attempt.decoder = phi_arena_alloc(&run->arena, bytes);
    run->attempt.answer = phi__events_answer_new(run);
    if (run->attempt.decoder == NULL || run->attempt.answer == NULL) return false;
    memset(run->attempt.decoder, 0, bytes);
    if (agent->provider != NULL) phi__provider_state_init(run->attempt.decoder, agent->provider);
    run->attempt.answer->assembly.respond = run->attempt.spec.respond;
    run->attempt.answer->assembly.quirks = run->attempt.spec.model->quirks;
    run->attempt.answer->assembly.tools = run->attempt.spec.tools;
    run->attempt.answer->assembly.tool_count = run->attempt.spec.tool_count;
    if (agent->codec != NULL)
        run->attempt.answer->assembly.protocol = phi_str_of(agent->codec->names[0]);
    phi__reader_init(&run->attempt.reader, agent->codec, run->attempt.decoder,
                     &run->attempt.answer->assembly, agent->desc.memory.max_event_bytes);
    run->attempt.reader.seen = phi__attempt_seen;
    run->attempt.reader.ctx = run;
    phi__buf_init(&run->attempt.collected, &agent->memory);
    run->attempt.body = PHI__BODY_UNKNOWN;
    run->attempt.emitted = run->attempt.alive = run->attempt.lost = false;
    return true;
}

/* What must not come back in an error. False: no memory. */
static bool phi__attempt_note_secrets(phi__run *run) {
    const phi__agent *agent = run->agent;
    phi__secrets *secrets = &run->attempt.secrets;
    if (!agent->in_process) phi__secret_add_request(secrets, &run->attempt.encoder.request);
    phi__secret_add_key(secrets, phi_str_of(run->attempt.spec.model->api_key));
    phi__secret_add_key(secrets, phi_str_of(agent->desc.model.api_key));
    phi__http_words_proxy(agent->rt->http, secrets);
    return !secrets->failed;
}

static void phi__attempt_hide_text(phi__run *run, phi_str text, phi__secret_text kind) {
    char *at = (char *)(uintptr_t)text.at; /* the thread's own copy */
    if (text.len > 0) (void)phi__secret_hide(&run->attempt.secrets, at, text.len, kind);
}

PHI__FN phi_message *phi__attempt_hide(phi__run *run, phi_message *result) {
    size_t i;
    if (result == NULL) return NULL;
    phi__secret_add_key(&run->attempt.secrets, phi_str_of(run->agent->desc.model.api_key));
    if (run->attempt.secrets.failed) return NULL;
    for (i = 0; i < result->content_count; i++)
        phi__attempt_hide_text(run, result->content[i].text, PHI__SECRET_BYTES);
    phi__attempt_hide_text(run, result->details, PHI__SECRET_JSON);
    return result;
}

static phi__state phi__attempt_open_provider(phi__run *run) {
    phi_failure failure;
    phi_status status;
    run->reserved.requests = 0; /* it was made */
    status = phi__provider_open(run);
    if (run->agent->slot == NULL) return PHI__RUN_OVER;
    if (status == PHI_OK) return PHI__RUN_STREAM;
    if (status == PHI_NO_MEMORY) return PHI__RUN_LOST;
    status = status == PHI_BUSY ? PHI_FULL : phi__transfer_status(status);
    failure =
        phi__failure_of(phi__failure_kind_of(status), status == PHI_FULL, phi_status_text(status));
    return phi__attempt_failed(run, &failure, status);
}

PHI__FN phi__state phi__attempt_send(phi__run *run, bool *wait) {
    phi__agent *agent = run->agent;
    phi__transfer_owner owner;
    phi_status status;
    if (run->end.cancelled) return PHI__RUN_TURN_END;
    if (!phi__attempt_prepare(run) || !phi__attempt_note_secrets(run)) return PHI__RUN_LOST;
    if (agent->in_process) return phi__attempt_open_provider(run);
    memset(&owner, 0, sizeof owner);
    owner.run = run;
    status = phi__transfer_open(agent->rt, &agent->memory, &run->attempt.encoder.request,
                                &agent->desc.deadlines, agent->desc.memory.max_response_bytes,
                                &owner, &run->attempt.transfer);
    if (status == PHI_NO_MEMORY) return PHI__RUN_LOST;
    run->reserved.requests = 0; /* it was made */
    if (status != PHI_OK) {
        bool full = status == PHI_FULL;
        phi_failure failure;
        status = phi__transfer_network_status(status);
        failure = phi__failure_of(PHI_FAILURE_NETWORK, full, phi_status_text(status));
        return phi__attempt_failed(run, &failure, status);
    }
    *wait = true;
    return PHI__RUN_STREAM;
}

PHI__FN phi__state phi__attempt_backoff(phi__run *run, bool *wait) {
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

static phi_event_kind phi__attempt_delta_kind(phi_content_kind kind) {
    switch (kind) {
    case PHI_CONTENT_THINKING: return PHI_EV_THINKING;
    case PHI_CONTENT_TOOL_CALL: return PHI_EV_TOOL_ARGUMENTS;
    default: return PHI_EV_TEXT;
    }
}

/* A block that phi does not interpret has come to its end. */
static void phi__attempt_opaque(phi__run *run, size_t block) {
    const phi__draft *draft = &run->attempt.answer->assembly.drafts[block];
    if (run->attempt.lost || draft->kind != PHI_CONTENT_OPAQUE || draft->incomplete) return;
    if (run->first_delta_ms == 0) run->first_delta_ms = run->agent->rt->step.wall_ms;
    if (!phi__attempt_emit_start(run) ||
        !phi__events_emit_opaque(run->agent, (uint32_t)block, phi__buf_str(&draft->name),
                                 phi__buf_str(&draft->replay), run->attempt.answer))
        run->attempt.lost = true;
}

static void phi__attempt_part(void *ctx, phi__assembly *assembly, phi__part part, size_t block,
                              size_t from) {
    phi__run *run = (phi__run *)ctx;
    const phi__draft *draft;
    run->attempt.alive = true;
    if (part == PHI__PART_AGAIN) {
        run->attempt.answer->viewed = false;
        if (!phi__attempt_retract(run)) run->attempt.lost = true;
        run->attempt.emitted = false;
        return;
    }
    if (run->attempt.answer->content_cap < assembly->count &&
        !phi__events_answer_room(run->attempt.answer))
        run->attempt.lost = true;
    /* until then, no event shows any of it */
    if (part != PHI__PART_DELTA) {
        if (part == PHI__PART_BLOCK_END) phi__attempt_opaque(run, block);
        return;
    }
    if (run->attempt.lost) return;
    if (run->first_delta_ms == 0) run->first_delta_ms = run->agent->rt->step.wall_ms;
    if (!phi__attempt_emit_start(run)) run->attempt.lost = true;
    if (run->attempt.lost) return;
    draft = &assembly->drafts[block];
    if (!phi__events_emit_delta(
            run->agent, phi__attempt_delta_kind(phi__assembly_kind(assembly, block)),
            (uint32_t)block, phi__str(draft->bytes.at + from, draft->bytes.len - from),
            run->attempt.answer, draft->bytes.len))
        run->attempt.lost = true;
}

/* ---- the end of the answer ---- */

/* The transport's own trouble. */
static phi__state phi__attempt_broken(phi__run *run) {
    phi__transfer *transfer = run->attempt.transfer;
    phi_failure failure;
    phi_status status = phi__transfer_network_status(transfer->status);
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

/* Calls the features that want new parts of an answer. False: the agent is gone. */
static bool phi__attempt_slice(phi__run *run, bool whole) {
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
static phi__state phi__attempt_finished(phi__run *run, int http_status) {
    phi__assembly *assembly = &run->attempt.answer->assembly;
    phi_failure failure;
    if (run->attempt.lost || assembly->no_memory) return PHI__RUN_LOST;
    phi__assembly_hide(assembly, &run->attempt.secrets);
    phi__assembly_finish(assembly);
    phi__repair_calls(assembly);
    if (!phi__attempt_slice(run, true)) return PHI__RUN_OVER;
    if (run->attempt.lost || assembly->no_memory) return PHI__RUN_LOST;
    if (assembly->failure.kind == PHI_FAILURE_NONE) return phi__attempt_whole(run);
    failure = assembly->failure;
    if (failure.http_status == 0) failure.http_status = http_status;
    return phi__attempt_failed(run, &failure,
                               assembly->status != PHI_OK ? assembly->status
                                                          : phi__failure_status(&failure));
}

/* An answer of no provider at all, under a status that a wrong base URL gives: the words name the
   URL, without user and query. Without memory they stay as they are. */
static void phi__attempt_name_url(phi__run *run, phi_failure *failure) {
    phi_str url = run->attempt.encoder.request.url;
    int status = failure->http_status;
    size_t len = 0;
    phi__buf words;
    phi_str named;
    if (failure->code.len > 0 || !phi__str_starts(failure->message, "HTTP ")) return;
    if (status != 200 && status != 404 && status != 405 && (status < 300 || status > 399)) return;
    while (len < phi__min(url.len, PHI__ATTEMPT_URL) && url.at[len] != '?' && url.at[len] != '#')
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
static phi__state phi__attempt_over(phi__run *run) {
    phi__assembly *assembly = &run->attempt.answer->assembly;
    phi__transfer *transfer = run->attempt.transfer;
    phi_failure failure;
    if (run->attempt.lost || assembly->no_memory || run->attempt.collected.failed)
        return PHI__RUN_LOST;
    if (transfer->status != PHI_OK && !phi__reader_lingers(&run->attempt.reader) &&
        !phi__reader_done(&run->attempt.reader) && run->attempt.body != PHI__BODY_ERROR)
        return phi__attempt_broken(run);
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
        phi__attempt_name_url(run, &failure);
        return phi__attempt_failed(run, &failure, phi__failure_status(&failure));
    }
    if (run->attempt.body == PHI__BODY_STREAM) phi__reader_end(&run->attempt.reader);
    return phi__attempt_finished(run, transfer->http_status);
}

/* ---- the answer's bytes ---- */

static void phi__attempt_look_at_head(phi__run *run) {
    const phi__transfer *transfer = run->attempt.transfer;
    phi_str type = phi__headers_value(phi__buf_str(&transfer->headers), "content-type");
    run->attempt.answer->assembly.sink = phi__attempt_part;
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
static void phi__attempt_too_big(phi__run *run, const char *what, unsigned long long most) {
    char words[120];
    if (run->attempt.answer->assembly.terminal) return;
    (void)snprintf(words, sizeof words, "%s is larger than %llu bytes", what, most);
    phi__assembly_fail(&run->attempt.answer->assembly, PHI_FAILURE_SERVER, false, phi__str(NULL, 0),
                       phi_str_of(words));
}

static void phi__attempt_collect(phi__run *run, phi_str bytes) {
    size_t most = run->attempt.body == PHI__BODY_WHOLE ? run->agent->desc.memory.max_event_bytes
                                                       : (size_t)PHI__ATTEMPT_ERROR_MOST;
    size_t room = most - phi__min(most, run->attempt.collected.len);
    run->attempt.alive = true;
    phi__buf_add(&run->attempt.collected, bytes.at, phi__min(room, bytes.len));
    if (bytes.len > room && run->attempt.body == PHI__BODY_WHOLE)
        phi__attempt_too_big(run, "The answer", (unsigned long long)most);
}

/* Whether more of the answer is worth waiting for. */
static bool phi__attempt_settled(phi__run *run) {
    if (run->attempt.lost || run->attempt.collected.failed ||
        phi__reader_done(&run->attempt.reader))
        return true;
    if (run->attempt.body == PHI__BODY_ERROR &&
        run->attempt.collected.len >= PHI__ATTEMPT_ERROR_MOST)
        return true;
    if (run->attempt.transfer->decoded > run->attempt.transfer->max_bytes) {
        phi__attempt_too_big(run, "The answer",
                             (unsigned long long)run->attempt.transfer->max_bytes);
        return true;
    }
    return false;
}

/* Decodes the received bytes; true: all of them, as far as the step and the host allow. */
static bool phi__attempt_decode(phi__run *run, bool *wait) {
    phi_runtime *rt = run->agent->rt;
    phi__transfer *transfer = run->attempt.transfer;
    phi_str bytes = phi__transfer_unread(transfer);
    for (;;) {
        size_t len = phi__min(bytes.len, PHI__ATTEMPT_SLICE);
        if (len == 0 || phi__attempt_settled(run)) return true;
        if (phi__events_backlog(run->agent)) {
            *wait = true;
            return false;
        }
        run->attempt.answer->viewed = run->attempt.alive = false;
        if (run->attempt.body == PHI__BODY_STREAM)
            phi__reader_feed(&run->attempt.reader, phi__str(bytes.at, len));
        else
            phi__attempt_collect(run, phi__str(bytes.at, len));
        phi__slice_took(&rt->slice, len);
        bytes = phi__transfer_took(transfer, len, run->attempt.alive);
        if (!phi__attempt_slice(run, false) || run->end.cancelled) return false;
        if (run->slices) bytes = phi__transfer_unread(transfer); /* a tool may have pushed more */
        if (phi__slice_spent(&rt->slice)) return false;
    }
}

/* What may follow is the usage and the end of the body: at once, or they are not worth a wait. */
static void phi__attempt_linger(phi__run *run) {
    phi__transfer *transfer = run->attempt.transfer;
    if (transfer->deadlines.idle_ms == PHI__ATTEMPT_LINGER_MS) return;
    transfer->deadlines.idle_ms = PHI__ATTEMPT_LINGER_MS;
    transfer->stage = PHI_TRANSFER_CONNECTED; /* so that being alive arms the timer anew */
    phi__transfer_alive(transfer);
}

/* A model of the host's own, in process. */
static phi__state phi__attempt_poll(phi__run *run, bool *wait) {
    bool over;
    run->attempt.answer->assembly.sink = phi__attempt_part;
    run->attempt.answer->assembly.ctx = run;
    over = phi__provider_poll(run, wait);
    if (run->agent->slot == NULL) return PHI__RUN_OVER;
    if (!over) {
        if (!phi__attempt_slice(run, false)) return PHI__RUN_OVER;
        if (run->end.cancelled) *wait = false;
        return PHI__RUN_STREAM;
    }
    *wait = false;
    phi__provider_close(run);
    return run->agent->slot == NULL ? PHI__RUN_OVER : phi__attempt_finished(run, 0);
}

PHI__FN phi__state phi__attempt_stream(phi__run *run, bool *wait) {
    phi__transfer *transfer = run->attempt.transfer;
    if (run->end.cancelled) {
        phi_failure failure = phi__failure_of(PHI_FAILURE_CANCELLED, false, "Cancelled");
        phi__assembly_finish(&run->attempt.answer->assembly);
        return phi__attempt_failed(run, &failure, PHI_CANCELLED);
    }
    if (run->agent->in_process) return phi__attempt_poll(run, wait);
    if (transfer->headed && run->attempt.body == PHI__BODY_UNKNOWN) phi__attempt_look_at_head(run);
    if (transfer->headed && !phi__attempt_decode(run, wait)) return PHI__RUN_STREAM;
    if (phi__attempt_settled(run)) {
        transfer->answered = run->attempt.answer->assembly.last;
        return phi__attempt_over(run);
    }
    if (!transfer->ended) {
        if (phi__reader_lingers(&run->attempt.reader)) phi__attempt_linger(run);
        *wait = true;
        return PHI__RUN_STREAM;
    }
    if (run->attempt.body == PHI__BODY_STREAM)
        phi__reader_finish(&run->attempt.reader, transfer->status != PHI_OK);
    return phi__attempt_over(run);
}
