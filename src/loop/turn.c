/* turn.c - all states of a run and their outcomes. The states of opening, closing, and of a
   turn's begin and end are here; those of model calls and tools are in their own files.

   Each state is a function that does a bounded amount and names the next state, or says that it
   waits. Its other outcomes, such as memory that ran out or an attempt that ended, are handled at
   the end of the file: no state calls another.
   Order, with behaviours B ruling: before_loop, AGENT_START, filters, steering; then for each turn
   the filters of polled input, limits, before_turn, the filters of input injected meanwhile,
   TURN_START, the messages; and after it TURN_END, after_turn, steering, follow-ups; at last
   AGENT_END and after_loop. */
#include "loop/inner_in.h"

#include <stdio.h>

/* ---- an attempt: a model call, tried once ----

   It is sent, and its answer decoded, a slice at a time, into an assembly whose parts become
   events. A retry waits here, and sends the same bytes. The transport's bytes wait in the
   transfer's buffer; a slice is decoded to its end before the buffer may move. When the host does
   not drain its events, no slice is taken, the buffer fills, and the transport stops reading. */

enum {
    PHI__ATTEMPT_SLICE = 4096,       /* bytes decoded between two clock readings */
    PHI__ATTEMPT_ERROR_MOST = 65536, /* bytes kept of an error's body; wire.md 1.10 */
    PHI__ATTEMPT_URL = 400,          /* bytes of a URL in an error's message */
    PHI__ATTEMPT_LINGER_MS = 1000    /* for the usage behind an answer's end, or its failure */
};

PHI__FN void phi__attempt_clear(phi__run *run) {
    phi__attempt_rewind(run);
    run->attempt.refused = run->attempt.fresh = false;
    run->attempt.retries = 0;
}

PHI__FN phi__answer *phi__attempt_answer(const phi__run *run) { return run->attempt.answer; }

PHI__FN void phi__attempt_lose(phi__run *run) { run->attempt.lost = true; }

PHI__FN bool phi__attempt_lost(const phi__run *run) { return run->attempt.lost; }

PHI__FN void phi__attempt_rewind(phi__run *run) {
    phi__arena_rewind(&run->arena);
    phi__secret_init(&run->attempt.secrets, &run->arena);
}

/* MESSAGE_START, unless it is out; and RETRACT, where it was. False: no memory. */
static bool phi__attempt_emit_start(phi__run *run) {
    if (run->attempt.emitted) return true;
    run->attempt.emitted = true;
    phi_event event = PHI_ZERO;
    event.kind = PHI_EV_MESSAGE_START; /* which shows nothing of it: there need be no room yet */
    return phi__events_emit(run->agent, &event, run->attempt.answer, 0);
}

static bool phi__attempt_retract(phi__run *run) {
    if (!run->attempt.emitted) return true;
    phi_event event = PHI_ZERO;
    event.kind = PHI_EV_RETRACT;
    return phi__answer_room(run->attempt.answer) &&
           phi__events_emit(run->agent, &event, run->attempt.answer, 0);
}

static void phi__attempt_abandon(phi__run *run) {
    phi__attempt_charge(run);
    phi__attempt_close(run, false);
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
    run->attempt.answer = phi__answer_new(run);
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

/* The states SEND, STREAM and BACKOFF. */
static phi__state phi__attempt_send(phi__run *run, bool *wait) {
    phi__agent *agent = run->agent;
    if (run->end.cancelled) return PHI__RUN_TURN_END;
    if (!phi__attempt_prepare(run)) return PHI__RUN_LOST;
    /* What must not come back in an error. */
    phi__secrets *secrets = &run->attempt.secrets;
    if (!agent->in_process) phi__secret_request(secrets, &run->attempt.encoder.request);
    phi__secret_key(secrets, phi_str_of(run->attempt.spec.model->api_key));
    phi__secret_key(secrets, phi_str_of(agent->desc.model.api_key));
    phi__http_proxy(agent->rt->http, secrets);
    if (secrets->failed) return PHI__RUN_LOST;
    if (agent->in_process) {
        run->reserved.requests = 0; /* it was made */
        phi_status status = phi__provider_open(run);
        if (run->agent->slot == NULL) return PHI__RUN_OVER;
        if (status == PHI_OK) return PHI__RUN_STREAM;
        if (status == PHI_NO_MEMORY) return PHI__RUN_LOST;
        status = status == PHI_BUSY ? PHI_FULL : phi__transfer_status(status);
        phi_failure failure = phi__failure_of(phi__failure_kind_of(status), status == PHI_FULL,
                                              phi_status_text(status));
        return phi__attempt_failed(run, &failure, status);
    }
    phi__transfer_owner owner = PHI_ZERO;
    owner.run = run;
    phi_status status = phi__transfer_open(
        agent->rt, &agent->memory, &run->attempt.encoder.request, &agent->desc.deadlines,
        agent->desc.memory.max_response_bytes, &owner, &run->attempt.transfer);
    if (status == PHI_NO_MEMORY) return PHI__RUN_LOST;
    run->reserved.requests = 0; /* it was made */
    if (status != PHI_OK) {
        bool full = status == PHI_FULL;
        status = phi__network_status(status);
        phi_failure failure = phi__failure_of(PHI_FAILURE_NETWORK, full, phi_status_text(status));
        return phi__attempt_failed(run, &failure, status);
    }
    *wait = true;
    return PHI__RUN_STREAM;
}

static phi__state phi__attempt_backoff(phi__run *run, bool *wait) {
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

static void phi__attempt_part(void *ctx, phi__assembly *assembly, phi__part part, size_t block,
                              size_t from) {
    phi__run *run = (phi__run *)ctx;
    phi__attempt *attempt = &run->attempt;
    attempt->alive = true;
    if (part == PHI__PART_AGAIN) {
        attempt->answer->viewed = false;
        if (!phi__attempt_retract(run)) attempt->lost = true;
        attempt->emitted = false;
        return;
    }
    if (attempt->answer->content_cap < assembly->count && !phi__answer_room(attempt->answer))
        attempt->lost = true;
    /* A delta, or the end of a block that phi does not interpret, is an event. */
    const phi__draft *draft = &assembly->drafts[block];
    bool opaque =
        part == PHI__PART_BLOCK_END && draft->kind == PHI_CONTENT_OPAQUE && !draft->incomplete;
    if (attempt->lost || (part != PHI__PART_DELTA && !opaque)) return;
    if (run->first_delta_ms == 0) run->first_delta_ms = run->agent->rt->step.wall_ms;
    if (!phi__attempt_emit_start(run)) {
        attempt->lost = true;
    } else if (opaque) {
        if (!phi__events_emit_opaque(run->agent, (uint32_t)block, phi__buf_str(&draft->name),
                                     phi__buf_str(&draft->replay), attempt->answer))
            attempt->lost = true;
    } else {
        phi_content_kind kind = phi__assembly_kind(assembly, block);
        if (!phi__events_emit_delta(run->agent,
                                    kind == PHI_CONTENT_THINKING    ? PHI_EV_THINKING
                                    : kind == PHI_CONTENT_TOOL_CALL ? PHI_EV_TOOL_ARGUMENTS
                                                                    : PHI_EV_TEXT,
                                    (uint32_t)block,
                                    phi__str(draft->bytes.at + from, draft->bytes.len - from),
                                    attempt->answer, draft->bytes.len))
            attempt->lost = true;
    }
}

/* ---- the end of the answer ---- */

/* The transport's own trouble. */
static phi__state phi__attempt_broken(phi__run *run) {
    phi__transfer *transfer = run->attempt.transfer;
    phi_status status = phi__network_status(transfer->status);
    bool late = transfer->status == PHI_TIMEOUT;
    if (transfer->status == PHI_NO_MEMORY) return PHI__RUN_LOST;
    phi_failure failure = phi__failure_of(
        late ? PHI_FAILURE_TIMEOUT : PHI_FAILURE_NETWORK,
        transfer->status != PHI_TLS && transfer->status != PHI_TOO_BIG &&
            transfer->status != PHI_UNSUPPORTED && transfer->status != PHI_BAD_ARG, /* of an URL */
        transfer->words[0] != '\0' ? transfer->words : phi_status_text(status));
    failure.http_status = transfer->http_status;
    return phi__attempt_failed(run, &failure, status);
}

/* Calls the features that want new parts of an answer. False: the agent is gone. */
static bool phi__attempt_slice(phi__run *run, bool whole) {
    if (!run->slices) return true;
    phi__moment moment = phi__feature_moment(run->agent, run, PHI__POINT_SLICE);
    moment.whole = whole;
    return phi__feature_take(&moment) == PHI__RUN_ON;
}

/* Nothing more will be written. */
static phi__state phi__attempt_finished(phi__run *run, int http_status) {
    phi__assembly *assembly = &run->attempt.answer->assembly;
    if (run->attempt.lost || assembly->no_memory) return PHI__RUN_LOST;
    phi__assembly_hide(assembly, &run->attempt.secrets);
    phi__assembly_finish(assembly);
    phi__repair_calls(assembly);
    if (!phi__attempt_slice(run, true)) return PHI__RUN_OVER;
    if (run->attempt.lost || assembly->no_memory) return PHI__RUN_LOST;
    if (assembly->failure.kind == PHI_FAILURE_NONE) {
        run->attempt.fault = NULL;
        return PHI__RUN_ENDED;
    }
    phi_failure failure = assembly->failure;
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

/* True if no more of the answer is worth waiting for. */
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

/* A model of the host's own, in process. */
static phi__state phi__attempt_poll(phi__run *run, bool *wait) {
    run->attempt.answer->assembly.sink = phi__attempt_part;
    run->attempt.answer->assembly.ctx = run;
    bool over = phi__provider_poll(run, wait);
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

static phi__state phi__attempt_stream(phi__run *run, bool *wait) {
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
        if (phi__reader_lingers(&run->attempt.reader) &&
            transfer->deadlines.idle_ms != PHI__ATTEMPT_LINGER_MS) {
            /* What may follow is the usage and the end of the body: at once, or they are not worth
               a wait. The stage lets being alive arm the timer again. */
            transfer->deadlines.idle_ms = PHI__ATTEMPT_LINGER_MS;
            transfer->stage = PHI_TRANSFER_CONNECTED;
            phi__transfer_alive(transfer);
        }
        *wait = true;
        return PHI__RUN_STREAM;
    }
    if (run->attempt.body == PHI__BODY_STREAM)
        phi__reader_finish(&run->attempt.reader, transfer->status != PHI_OK);
    return phi__attempt_over(run);
}

PHI__FN uint32_t phi__retry_delay_ms(const phi_retry *retry, uint32_t attempt, double random) {
    double base = retry->backoff_multiplier, most = (double)retry->max_delay_ms, power = 1;
    if (retry->initial_delay_ms == 0) return 0; /* nothing times infinity is no number */
    if (!(base >= 0)) base = 1;                 /* negative, or no number */
    /* by squaring: n may be anything, and pow would need another library */
    for (uint32_t n = attempt > 0 ? attempt - 1 : 0; n > 0; n >>= 1, base *= base)
        if (n & 1) power *= base;
    double delay = (double)retry->initial_delay_ms * power;
    if (!(delay < most)) delay = most;
    delay *= 0.8 + 0.4 * random;
    return delay < (double)UINT32_MAX ? (uint32_t)delay : UINT32_MAX;
}

PHI__FN bool phi__retry_wanted(const phi_retry *retry, const phi_failure *failure, uint32_t attempt,
                               double random, uint32_t *delay_ms) {
    if (retry->disable || attempt > retry->max_retries) return false;
    /* A prompt that is too long stays too long until it is made shorter. */
    if (!failure->retryable || failure->kind == PHI_FAILURE_OVERFLOW) return false;
    if (!failure->has_retry_after) {
        *delay_ms = phi__retry_delay_ms(retry, attempt, random);
        return true;
    }
    if (failure->retry_after_ms > retry->max_server_delay_ms) return false;
    *delay_ms = (uint32_t)failure->retry_after_ms;
    return true;
}

/* The words of the assistant message's error_message. */
static void phi__end_words(const phi_failure *failure, char *out, size_t size) {
    int n = (int)phi__min(failure->message.len, 2000);
    const char *at = failure->message.at != NULL ? failure->message.at : "";
    switch (failure->kind) {
    case PHI_FAILURE_AUTH: (void)snprintf(out, size, "Auth error: %.*s", n, at); break;
    case PHI_FAILURE_OVERFLOW: (void)snprintf(out, size, "Context overflow: %.*s", n, at); break;
    case PHI_FAILURE_NETWORK:
    case PHI_FAILURE_TIMEOUT: (void)snprintf(out, size, "Network error: %.*s", n, at); break;
    case PHI_FAILURE_CANCELLED: (void)snprintf(out, size, "Cancelled"); break;
    case PHI_FAILURE_RATE_LIMITED:
        if (failure->has_retry_after)
            (void)snprintf(out, size, "Rate limited, retry after %llums: %.*s",
                           (unsigned long long)failure->retry_after_ms, n, at);
        else
            (void)snprintf(out, size, "Rate limited: %.*s", n, at);
        break;
    case PHI_FAILURE_NONE:
    case PHI_FAILURE_QUOTA:
    case PHI_FAILURE_CONTENT_FILTER:
    case PHI_FAILURE_SERVER:
    case PHI_FAILURE_INVALID_REQUEST:
    case PHI_FAILURE_NO_MEMORY: (void)snprintf(out, size, "API error: %.*s", n, at); break;
    }
}

/* Ids that an earlier answer used already would make results ambiguous, and some providers refuse
   them: such calls get another. Servers that count their calls from 0 in each answer do that. */
static bool phi__end_unique_ids(phi__run *run) {
    phi__answer *answer = run->attempt.answer;
    for (size_t i = 0; i < answer->assembly.count; i++) {
        phi_content *block = &answer->content[i];
        char id[5 + 17];
        phi_status status = PHI_OK;
        uint64_t salt = answer->assembly.id_salt + i;
        if (block->kind != PHI_CONTENT_TOOL_CALL) continue;
        while ((status = phi__append_claim_id(run->agent->thread, block->id)) == PHI_FULL) {
            memcpy(id, "call_", 5);
            phi__hash_hex(phi__hash(block->id, salt), id + 5);
            if (!phi__arena_str(&run->arena, phi_str_of(id), &block->id)) return false;
        }
        if (status != PHI_OK) return false;
    }
    return true;
}

/* The answer so far as the log keeps it; failure NULL: it is whole. */
static phi_message *phi__end_keep_answer(phi__run *run, const phi_failure *failure) {
    char words[2200];
    phi_content empty;
    const phi_message *shown = phi__answer_whole(run->attempt.answer);
    if (shown == NULL) return NULL;
    phi_message message = *shown;
    if (failure == NULL && !phi__end_unique_ids(run)) return NULL;
    if (failure != NULL) {
        phi__end_words(failure, words, sizeof words);
        message.error_message = phi_str_of(words);
        message.stop_reason = failure->kind == PHI_FAILURE_CANCELLED ? PHI_STOP_REASON_ABORTED
                                                                     : PHI_STOP_REASON_ERROR;
    }
    if (message.content_count == 0) {
        memset(&empty, 0, sizeof empty);
        empty.kind = PHI_CONTENT_TEXT;
        empty.text = phi__str("", 0);
        message.content = &empty;
        message.content_count = 1;
        if (failure != NULL && !run->attempt.answer->assembly.started)
            message.provider = phi_str_of("unknown");
    }
    if (failure == NULL) phi__thinking_mark(run, &message);
    phi__events_stamp(run, &message);
    return phi__append_keep(run->agent->thread, &message);
}

/* Puts the answer into the log; false: no memory. */
static bool phi__end_log(phi__run *run, const phi_failure *failure) {
    phi__agent *agent = run->agent;
    phi__answer *answer = run->attempt.answer;
    const phi__assembly *assembly = &answer->assembly;
    if (!phi__attempt_emit_start(run)) return false;
    phi_message *kept = phi__end_keep_answer(run, failure);
    if (kept == NULL) return false;
    phi__entry entry = PHI_ZERO;
    entry.kind = PHI_ENTRY_MESSAGE;
    entry.at_ms = kept->timestamp_ms;
    entry.loop_id = run->loop_id;
    entry.turn_index = kept->turn_index;
    entry.message = kept;
    if (!phi__append(agent->thread, &entry, 1)) return false;
    bool unknown = failure == NULL && assembly->unknown_stop, emitted = true;
    phi__buf words;
    phi__buf_init(&words, &agent->memory);
    for (size_t i = 0; emitted && i < assembly->count && i < kept->content_count; i++) {
        if (assembly->drafts[i].note.len == 0) continue; /* this call was not repaired */
        phi__buf_clear(&words);
        phi__buf_text(&words, "the call of ");
        phi__buf_add_str(&words, kept->content[i].name);
        phi__buf_text(&words, " was repaired: ");
        phi__buf_add_str(&words, phi__buf_str(&assembly->drafts[i].note));
        phi_event event = PHI_ZERO;
        event.kind = PHI_EV_WARNING;
        event.tool_call_id = kept->content[i].id;
        event.tool_name = kept->content[i].name;
        event.text = phi__buf_str(&words);
        emitted = !words.failed && phi__events_emit(agent, &event, NULL, 0);
    }
    phi__buf_free(&words);
    phi__answer_settle(answer, kept);
    run->reply = kept;
    phi_event event = PHI_ZERO;
    event.kind = PHI_EV_MESSAGE_END;
    event.message = kept;
    if (!emitted || !phi__events_emit(agent, &event, NULL, 0)) return false;
    if (!unknown) return true;
    char warning[160];
    int n = (int)phi__utf8_cut(kept->raw_stop_reason, 80);
    (void)snprintf(warning, sizeof warning,
                   "the model stopped with the reason \"%.*s\", which is not known: its answer is "
                   "taken as it is",
                   n, n > 0 ? kept->raw_stop_reason.at : "");
    return phi__events_warn(agent, phi_str_of(warning));
}

static bool phi__end_emit_retry(phi__run *run, const phi_failure *failure) {
    /* How many attempts there are in all: the first one is no retry. */
    const phi_retry *retry = &run->agent->desc.retry;
    uint32_t attempts =
        retry->max_retries == PHI_UNLIMITED ? PHI_UNLIMITED : retry->max_retries + 1;
    char words[400], line[560], most[16] = "unlimited";
    phi__end_words(failure, words, sizeof words);
    words[phi__utf8_cut(phi_str_of(words), sizeof words - 1)] = '\0';
    if (attempts != PHI_UNLIMITED) (void)snprintf(most, sizeof most, "%u", (unsigned)attempts);
    (void)snprintf(line, sizeof line, "Provider error (attempt %u/%s), retrying in %.1fs: %s",
                   (unsigned)run->attempt.retries, most, (double)run->attempt.delay_ms / 1000.0,
                   words);
    phi_event event = PHI_ZERO;
    event.kind = PHI_EV_RETRY;
    event.failure = failure;
    event.status = phi__failure_status(failure);
    event.attempt = run->attempt.retries;
    event.attempts = attempts;
    event.delay_ms = run->attempt.delay_ms;
    event.text = phi_str_of(line);
    return phi__events_emit(run->agent, &event, NULL, 0);
}

/* The next state, if a feature can handle the failure, which is too long a request's, or, `whole`,
   one for good. ON: none can. */
static phi__state phi__end_offer(phi__run *run, bool whole) {
    phi__moment moment = phi__feature_moment(run->agent, run, PHI__POINT_FAILED);
    moment.failure = run->attempt.fault;
    moment.whole = whole;
    phi__state outcome = phi__feature_take(&moment);
    run->attempt.fault = moment.failure;
    if (outcome == PHI__RUN_ON || run->attempt.answer == NULL) return outcome;
    bool emitted = phi__attempt_retract(run);
    phi__attempt_abandon(run);
    return emitted ? outcome : PHI__RUN_LOST;
}

static bool phi__end_wanted(const phi__run *run) {
    return !run->end.cancelled && !run->end.stopping;
}

/* Logs the answer, whole or not, and counts it. */
static bool phi__end_settle(phi__run *run, const phi_failure *failure) {
    bool emitted = phi__end_log(run, failure);
    if (run->reply == NULL) return false;
    phi__charge_turn(run, &run->reply->usage); /* it is in the log, so it counts */
    if (!emitted) return false;
    phi__budget_release(run); /* so that agents that its tools start find the rest */
    phi__attempt_drop(run);
    return true;
}

/* The same where the fault is for good, and there may be no attempt any more. */
static phi__state phi__end_give_up(phi__run *run) {
    phi__state next = PHI__RUN_ON;
    if (phi__end_wanted(run) && run->attempt.fault_status != PHI_DENIED) /* by the host */
        next = phi__end_offer(run, true);
    if (next != PHI__RUN_ON) return next;
    const phi_failure *failure = run->attempt.fault;
    if (run->attempt.answer == NULL) { /* the attempt was freed */
        run->attempt.answer = phi__answer_new(run);
        if (run->attempt.answer == NULL) return PHI__RUN_LOST;
        phi__reader_init(&run->attempt.reader, run->agent->codec, NULL,
                         &run->attempt.answer->assembly, run->agent->desc.memory.max_event_bytes);
        phi__buf_init(&run->attempt.collected, &run->agent->memory);
        run->attempt.emitted = false;
    }
    if (!phi__end_settle(run, failure)) return PHI__RUN_LOST;
    if (failure->kind == PHI_FAILURE_CANCELLED) {
        run->status = PHI_CANCELLED;
        return PHI__RUN_TURN_END;
    }
    return phi__run_fail(run, failure, run->attempt.fault_status);
}

/* turn.c: handles an ended attempt; returns the next state. */
static phi__state phi__attempt_end(phi__run *run) {
    const phi_failure *failure = run->attempt.fault;
    phi__state next = PHI__RUN_ON;
    if (failure == NULL) return phi__end_settle(run, NULL) ? PHI__RUN_ANSWERED : PHI__RUN_LOST;
    if (phi__feature_run(run, PHI__POINT_DROPPED) != PHI__RUN_ON) return PHI__RUN_OVER;
    if (failure->kind == PHI_FAILURE_OVERFLOW && phi__end_wanted(run))
        next = phi__end_offer(run, false);
    if (next != PHI__RUN_ON) return next;
    if (failure->kind == PHI_FAILURE_AUTH && run->attempt.fault_status != PHI_DENIED &&
        !run->attempt.fresh && phi__hooks_wanted(run->agent, PHI_HOOK_CREDENTIAL) &&
        phi__end_wanted(run)) {
        /* Another key, once a turn. */
        bool emitted = phi__attempt_retract(run);
        run->attempt.refused = run->attempt.fresh = true;
        phi__attempt_abandon(run);
        return emitted ? PHI__RUN_CREDENTIAL : PHI__RUN_LOST;
    }
    if (phi__end_wanted(run) && phi__thinking_refused(run, failure)) {
        /* The same request without its thinking: it is rendered again, and the answers that
           lose their thinking are reported. */
        bool emitted = phi__attempt_retract(run);
        phi__thinking_bar(run);
        phi__attempt_abandon(run);
        phi__attempt_clear(run);
        phi__ask_list_clear(run);
        phi__projection_clear(run);
        return emitted ? PHI__RUN_TURN : PHI__RUN_LOST;
    }
    uint32_t bits = 0;
    if (phi__end_wanted(run)) phi__io_random(run->agent->rt->io, &bits, sizeof bits);
    if (phi__end_wanted(run) &&
        phi__retry_wanted(&run->agent->desc.retry, failure, run->attempt.retries + 1,
                          (double)bits / 4294967296.0, &run->attempt.delay_ms) &&
        phi__limits_leaves(run, run->attempt.delay_ms)) {
        uint64_t now = phi__io_now_us(run->agent->rt->io);
        run->attempt.retries++;
        run->attempt.retry_at_us = now + (uint64_t)run->attempt.delay_ms * 1000;
        bool emitted = phi__attempt_retract(run) && phi__end_emit_retry(run, failure);
        phi__attempt_abandon(run);
        if (!emitted || !phi__schedule_timer_set(run, run->attempt.retry_at_us))
            return PHI__RUN_LOST;
        return PHI__RUN_BACKOFF;
    }
    return phi__end_give_up(run);
}

/* ---- the states ---- */

enum { PHI__REASON = 160 }; /* bytes of a limit's words */

static bool phi__turn_unwanted(const phi__run *run) {
    return run->end.cancelled || run->end.stopping;
}

/* True if the agent's hook function wants the point. */
static bool phi__turn_wants_hook(const phi__run *run, phi_hook_point point) {
    return (run->agent->desc.hook_points & (uint32_t)point) != 0;
}

/* Emits the prompts' events that are missing: after the first TURN_START, or before a run that ends
   without one. A message that has left memory has none. */
static bool phi__turn_emit_prompts(phi__run *run) {
    const phi_thread *thread = run->agent->thread;
    while (run->said.emitted_messages < thread->messages.count) {
        const phi__entry *entry = phi__lane_message(thread, run->said.emitted_messages);
        if (entry != NULL &&
            !phi__events_message(run, entry->message, PHI_INPUT_PROMPT, phi__str(NULL, 0)))
            return false;
        run->said.emitted_messages++;
    }
    return true;
}

/* The end of a run between two turns. */
static phi__state phi__turn_leave(phi__run *run, phi_status status) {
    phi__decision_drop(&run->decision);
    phi__filter_end(run);
    phi__input_poll_end(run);
    phi__input_return(run);
    phi__budget_release(run);
    phi__pause_end(run);
    run->status = status;
    return phi__turn_emit_prompts(run) ? PHI__RUN_CLOSE : PHI__RUN_LOST;
}

/* ---- opening ---- */

static phi__state phi__turn_before_loop(phi__run *run, bool *wait) {
    if (!phi__forget_begin(run, wait)) return PHI__RUN_LOST;
    if (run->agent->slot == NULL) return PHI__RUN_OVER;
    if (*wait) return PHI__RUN_BEFORE_LOOP;
    if (phi__turn_unwanted(run) && run->decision.state == PHI__DECISION_NONE) return PHI__RUN_OPEN;
    if (!phi__turn_wants_hook(run, PHI_HOOK_BEFORE_LOOP)) return PHI__RUN_OPEN;
    phi_hook hook = phi__hooks_make(run, PHI_HOOK_BEFORE_LOOP);
    phi__hooked hooked = phi__hooks_run(run, &hook);
    if (hooked == PHI__HOOK_WAIT && phi__turn_unwanted(run)) {
        run->status = PHI_CANCELLED;
        hooked = PHI__HOOK_DENY;
    } else if (hooked == PHI__HOOK_DENY)
        run->status = PHI_DENIED;
    if (hooked == PHI__HOOK_DENY) {
        run->said.prompts = NULL;
        phi__run_silence(run);
    }
    return phi__hooks_next(run, hooked, PHI__RUN_BEFORE_LOOP, PHI__RUN_OPEN, PHI__RUN_CLOSE, wait);
}

static phi__state phi__turn_open(phi__run *run) {
    if (!phi__run_emit_start(run)) return PHI__RUN_LOST;
    if (!run->no_turns) return PHI__RUN_FILTER;
    phi__state next = phi__feature_run(run, PHI__POINT_ERRAND);
    return next != PHI__RUN_ON ? next : PHI__RUN_CLOSE;
}

static phi__state phi__turn_filter(phi__run *run, bool *wait) {
    phi__hooked hooked = phi__filter_prompts(run);
    if (hooked == PHI__HOOK_WAIT && phi__turn_unwanted(run)) {
        /* Ended while a filter waits: input that was not passed is not stored. */
        bool emitted = true;
        for (size_t i = 0; i < run->said.prompt_count && emitted; i++) {
            bool failed = false;
            phi_event event = PHI_ZERO;
            event.kind = PHI_EV_INPUT_DROPPED;
            event.input = PHI_INPUT_PROMPT;
            event.text = phi_message_text(run->said.prompts[i].message, "\n", &run->arena, &failed);
            event.source = PHI__LIT("The run was ended before a filter had decided");
            emitted = !failed && phi__events_emit(run->agent, &event, NULL, 0);
        }
        run->said.prompts = NULL;
        if (!emitted) return PHI__RUN_LOST;
        return phi__turn_leave(run, PHI_CANCELLED);
    }
    if (hooked == PHI__HOOK_DENY) {
        run->said.prompts = NULL;
        phi__run_silence(run);
        run->status = PHI_REJECTED;
    } else if (hooked == PHI__HOOK_ALLOW && run->said.prompts != NULL) {
        /* notes of the host may have used the reserved room */
        if (!phi__append_reserve(run->agent->thread, run->said.prompt_count,
                                 run->said.prompt_count))
            return PHI__RUN_LOST;
        phi__append_attach(run->agent->thread, run->said.prompts, run->said.prompt_count);
        run->said.prompts = NULL;
    }
    if (hooked == PHI__HOOK_ALLOW) return PHI__RUN_POLL;
    return phi__hooks_next(run, hooked, PHI__RUN_FILTER, PHI__RUN_POLL, PHI__RUN_CLOSE, wait);
}

static phi__state phi__turn_poll(phi__run *run, bool *wait) {
    if (phi__turn_unwanted(run)) return phi__turn_leave(run, PHI_CANCELLED);
    phi__hooked hooked = phi__input_poll(run, PHI_INPUT_STEERING);
    if (hooked == PHI__HOOK_ALLOW) return PHI__RUN_TOP;
    return phi__hooks_next(run, hooked, PHI__RUN_POLL, PHI__RUN_TOP, PHI__RUN_TOP, wait);
}

/* The words go into the log as the user's, outside any turn. */
static phi__state phi__turn_stop(phi__run *run, const char *reason) {
    phi__texts_args args = PHI_ZERO;
    args.name = phi_str_of(reason);
    phi_content content = phi__input_text(phi__str(NULL, 0));
    phi_message message = PHI_ZERO;
    if (!phi__texts_make(&run->arena, run->agent->desc.texts, PHI_TEXT_STOPPED, &args,
                         &content.text))
        return PHI__RUN_LOST;
    message.role = PHI_ROLE_USER;
    message.content = &content;
    message.content_count = 1;
    phi__events_stamp(run, &message);
    phi_message *kept = phi__append_keep(run->agent->thread, &message);
    if (kept == NULL || !phi__turn_emit_prompts(run) || !phi__events_log(run, kept))
        return PHI__RUN_LOST;
    run->said.emitted_messages = run->agent->thread->messages.count;
    return phi__turn_leave(run, PHI_LIMIT);
}

static phi__state phi__turn_at_limit(phi__run *run, const char *reason, bool *wait) {
    phi__state next = phi__reserve_pause(run, reason, wait);
    if (next == PHI__RUN_ON) return phi__turn_stop(run, reason);
    return next == PHI__RUN_LOST ? next : PHI__RUN_TOP;
}

/* ---- a turn ---- */

/* Filters the pending input in the state `here`. RUN_ON: all of it has passed. */
static phi__state phi__turn_filter_pending(phi__run *run, phi__state here, bool *wait) {
    if (run->poll.pending.head == NULL) return PHI__RUN_ON;
    phi__hooked hooked = phi__filter_pending(run);
    if (hooked == PHI__HOOK_ALLOW) return PHI__RUN_ON;
    if (hooked == PHI__HOOK_DENY) return phi__turn_leave(run, PHI_REJECTED);
    return phi__hooks_next(run, hooked, here, here, here, wait);
}

static phi__state phi__turn_top(phi__run *run, bool *wait) {
    char reason[PHI__REASON];
    if (run->end.starved) return PHI__RUN_LOST;
    if (phi__turn_unwanted(run)) return phi__turn_leave(run, PHI_CANCELLED);
    if (run->agent->sources != NULL && run->own.toolset == NULL &&
        run->agent->rt->features.sources->refresh(run->agent, false) != PHI_OK)
        return PHI__RUN_LOST;
    if (run->agent->queues.injected.head != NULL) phi__input_take_injected(run);
    phi__state next = phi__turn_filter_pending(run, PHI__RUN_TOP, wait);
    if (next != PHI__RUN_ON) return next;
    if (phi__limits_reached(run, reason, sizeof reason) ||
        !phi__reserve_call(run, 0, reason, sizeof reason))
        return phi__turn_at_limit(run, reason, wait);
    if (!run->pause.on) return PHI__RUN_BEFORE_TURN;
    phi__pause_end(run);
    /* input that came meanwhile is sent with the model call that was paid for */
    return run->poll.pending.head == NULL ? PHI__RUN_POLL : PHI__RUN_BEFORE_TURN;
}

static phi__state phi__turn_before_turn(phi__run *run, bool *wait) {
    if (phi__turn_unwanted(run)) return phi__turn_leave(run, PHI_CANCELLED);
    if (!phi__turn_wants_hook(run, PHI_HOOK_BEFORE_TURN)) return PHI__RUN_TURN;
    phi_hook hook = phi__hooks_make(run, PHI_HOOK_BEFORE_TURN);
    phi__hooked hooked = phi__hooks_run(run, &hook);
    if (hooked == PHI__HOOK_DENY) return phi__turn_leave(run, PHI_DENIED);
    return phi__hooks_next(run, hooked, PHI__RUN_BEFORE_TURN, PHI__RUN_TURN, PHI__RUN_TURN, wait);
}

/* To the model call, unless a feature has something to do before it. */
static phi__state phi__turn_turn_call(phi__run *run) {
    phi__state next = phi__feature_run(run, PHI__POINT_TURN_BEGUN);
    return next != PHI__RUN_ON ? next : PHI__RUN_TRANSFORM;
}

static phi__state phi__turn_turn_begin(phi__run *run, bool *wait) {
    if (run->turn.open) {
        /* A turn that had begun, of a run out of a snapshot, or for another model: out of a
           snapshot it has reserved nothing yet. */
        char reason[PHI__REASON];
        phi__state next = PHI__RUN_TURN_END;
        if (!phi__turn_unwanted(run)) {
            if (!phi__limits_reached(run, reason, sizeof reason) &&
                phi__reserve_call(run, 0, reason, sizeof reason)) {
                phi__pause_end(run);
                return phi__turn_turn_call(run);
            }
            next = phi__reserve_pause(run, reason, wait);
            if (next == PHI__RUN_ON) return phi__reserve_refuse(run, reason);
        }
        if (!*wait) phi__pause_end(run);
        return next;
    }
    if (run->end.cancelled) return phi__turn_leave(run, PHI_CANCELLED);
    /* A message that was injected since the limits were checked, as while BEFORE_TURN waited,
       belongs to this turn: it is taken and filtered, and the turn's reservation covers it. */
    if (run->agent->queues.injected.head != NULL) {
        char reason[PHI__REASON];
        phi__input_take_injected(run);
        if (!phi__reserve_call(run, 0, reason, sizeof reason))
            return phi__turn_at_limit(run, reason, wait);
    }
    phi__state next = phi__turn_filter_pending(run, PHI__RUN_TURN, wait);
    if (*wait && phi__turn_unwanted(run)) {
        *wait = false;
        return phi__turn_leave(run, PHI_CANCELLED);
    }
    if (next != PHI__RUN_ON) return next;
    if (!phi__thread_roll(run->agent->thread, &run->loop_id)) return PHI__RUN_LOST;
    phi__entry entry = PHI_ZERO;
    entry.kind = PHI_ENTRY_TURN_START;
    phi_event event = PHI_ZERO;
    event.kind = PHI_EV_TURN_START;
    event.trigger = run->turn.index == 0 ? run->start.trigger : PHI_TRIGGER_CONTINUATION;
    entry.trigger = event.trigger;
    /* Resets the fields of one turn. */
    phi__attempt_clear(run);
    phi__charge_clear(run);
    run->reply = NULL;
    run->turn.steered = false;
    phi__round_clear(run);
    phi__ask_list_clear(run);
    phi__projection_clear(run);
    if (!phi__events_emit(run->agent, &event, NULL, 0)) return PHI__RUN_LOST;
    run->turn.open = true; /* its start was emitted, so its end will be */
    if (!phi__events_note(run, &entry) || !phi__turn_emit_prompts(run) ||
        (run->poll.pending.head != NULL && !phi__input_deliver(run)))
        return PHI__RUN_LOST;
    return phi__turn_turn_call(run);
}

static phi__state phi__turn_failed(phi__run *run, bool *wait) {
    phi_hook hook = phi__hooks_make(run, PHI_HOOK_ON_ERROR);
    hook.failure = run->failure;
    hook.text = run->reply != NULL ? run->reply->error_message : phi__str(NULL, 0);
    if (hook.text.len == 0) hook.text = PHI__LIT("Unknown error");
    return phi__hooks_next(run, phi__hooks_run(run, &hook), PHI__RUN_FAILED, PHI__RUN_TURN_END,
                           PHI__RUN_TURN_END, wait);
}

static phi__state phi__turn_turn_end(phi__run *run) {
    phi__attempt_drop(run);
    if (run->tools.calls != NULL) phi__tools_drop(run);
    phi__budget_release(run);
    if (!run->turn.open) return PHI__RUN_NEXT;
    run->turn.open = false;
    phi_event event = PHI_ZERO;
    phi__entry entry = PHI_ZERO;
    entry.kind = PHI_ENTRY_TURN_END;
    event.kind = PHI_EV_TURN_END;
    event.message = run->reply;
    event.usage = run->reply != NULL ? &run->reply->usage : NULL;
    bool room = (run->taking.points & (uint32_t)PHI__POINT_TURN_ENDS) == 0 ||
                phi__feature_run(run, PHI__POINT_TURN_ENDS) == PHI__RUN_ON;
    if (room && run->reply != NULL) { /* a copy: the answer may be evicted before the entry */
        phi_usage *usage =
            (phi_usage *)phi_arena_alloc(phi__thread_room(run->agent->thread), sizeof *usage);
        if (usage != NULL) *usage = run->reply->usage;
        entry.usage = usage;
        room = usage != NULL;
    }
    room = phi__events_emit_surely(run->agent, &event) && room;
    room = phi__events_note(run, &entry) && room;
    if (run->agent->thread->journal != NULL) (void)phi__stored_run(run);
    if (!room && run->status == PHI_OK) return PHI__RUN_LOST;
    return PHI__RUN_AFTER_TURN;
}

static phi__state phi__turn_after_turn(phi__run *run, bool *wait) {
    if (phi__turn_wants_hook(run, PHI_HOOK_AFTER_TURN)) {
        phi_hook hook = phi__hooks_make(run, PHI_HOOK_AFTER_TURN);
        hook.usage = &phi__charge_of(run)->turn;
        phi__state next = phi__hooks_next(run, phi__hooks_run(run, &hook), PHI__RUN_AFTER_TURN,
                                          PHI__RUN_NEXT, PHI__RUN_NEXT, wait);
        if (next != PHI__RUN_NEXT) return next;
    }
    run->turn.index++;
    run->said.emitted_messages = run->agent->thread->messages.count;
    return PHI__RUN_NEXT;
}

/* True if an answer is a pause with no block that can be sent back. */
static bool phi__turn_paused_empty(const phi_message *m) {
    if (m->role != PHI_ROLE_ASSISTANT || m->stop_reason != PHI_STOP_REASON_PAUSED) return false;
    for (size_t i = 0; i < m->content_count; i++) {
        const phi_content *c = &m->content[i];
        if (c->kind == PHI_CONTENT_TEXT ? phi__str_trim(c->text).len > 0
                                        : c->kind != PHI_CONTENT_THINKING && !c->incomplete)
            return false;
    }
    return true;
}

/* After a pause the next request has the same history and the answer so far; a second one without
   any block would make the same request again and again. */
static phi__state phi__turn_answered(phi__run *run) {
    static const char words[] = "the model paused its turn twice without a word or a block";
    static const phi_failure failure = {PHI_FAILURE_SERVER,        0,      false, false, 0, {"", 0},
                                        {words, sizeof words - 1}, {"", 0}};
    const phi_thread *thread = run->agent->thread;
    size_t count = thread->messages.count;
    const phi__entry *before = NULL;
    if (count > 1 && phi__turn_paused_empty(run->reply))
        before = phi__lane_message(thread, count - 2);
    if (before != NULL && before->message != NULL && phi__turn_paused_empty(before->message))
        return phi__run_fail(run, &failure, phi__failure_status(&failure));
    return phi__tools_make_calls(run);
}

static phi__state phi__turn_next(phi__run *run, bool *wait) {
    if (run->status != PHI_OK) return PHI__RUN_CLOSE;
    if (run->end.starved) return PHI__RUN_LOST;
    if (phi__turn_unwanted(run) || run->reply == NULL) return phi__turn_leave(run, PHI_CANCELLED);
    if (run->tools.repeated) {
        char reason[PHI__REASON];
        (void)snprintf(reason, sizeof reason, "Repeated tool call (%u/%u)",
                       (unsigned)run->agent->desc.tool_options.repeat_stop_after,
                       (unsigned)run->agent->desc.tool_options.repeat_stop_after);
        return phi__turn_stop(run, reason);
    }
    if (run->poll.on || (run->poll.pending.head == NULL && !run->turn.steered)) {
        phi__hooked hooked = phi__input_poll(run, PHI_INPUT_STEERING);
        if (hooked != PHI__HOOK_ALLOW)
            return phi__hooks_next(run, hooked, PHI__RUN_NEXT, PHI__RUN_NEXT, PHI__RUN_NEXT, wait);
    }
    run->turn.steered = true;
    if ((run->tools.count > 0 && !run->tools.answered) ||
        run->reply->stop_reason == PHI_STOP_REASON_PAUSED || run->poll.pending.head != NULL ||
        run->agent->queues.injected.head != NULL)
        return PHI__RUN_TOP;
    return PHI__RUN_FOLLOW;
}

static phi__state phi__turn_follow_up(phi__run *run, bool *wait) {
    if (phi__turn_unwanted(run)) return phi__turn_leave(run, PHI_CANCELLED);
    phi__hooked hooked = phi__input_poll(run, PHI_INPUT_FOLLOW_UP);
    if (hooked != PHI__HOOK_ALLOW)
        return phi__hooks_next(run, hooked, PHI__RUN_FOLLOW, PHI__RUN_FOLLOW, PHI__RUN_FOLLOW,
                               wait);
    if (run->poll.pending.head != NULL) return PHI__RUN_TOP;
    /* Nothing more can be injected from here on: other threads see the agent as idle. Input that
       they posted before is read once more. */
    phi__agent *agent = run->agent;
    phi__schedule_publish_state(agent, false);
    phi__posts_read_all(agent->rt);
    if (agent->queues.steering.head == NULL && agent->queues.follow_ups.head == NULL &&
        agent->queues.injected.head == NULL && !run->end.starved && !phi__turn_unwanted(run))
        return PHI__RUN_CLOSE;
    phi__schedule_publish_state(agent, true);
    run->turn.steered = false;
    return PHI__RUN_NEXT;
}

/* ---- closing ---- */

static phi_event phi__turn_end_event(const phi__run *run, const phi_usage *usage) {
    const phi_thread *thread = run->agent->thread;
    phi_event event = PHI_ZERO;
    event.kind = PHI_EV_AGENT_END;
    event.status = run->status;
    event.failure = run->failure;
    event.usage = usage;
    event.rejection = phi__filter_rejection(run);
    if (run->status == PHI_CANCELLED &&
        !phi__arena_str(phi__thread_room(run->agent->thread), run->end.reason, &event.source))
        event.source = phi__str("", 0);
    if (thread->messages.count > run->said.first_message) {
        const phi__entry *last = phi__lane_message(thread, thread->messages.count - 1);
        event.message = last != NULL ? last->message : NULL;
    }
    event.first_message = run->said.first_message;
    event.message_count = thread->messages.count - run->said.first_message;
    return event;
}

static phi__state phi__turn_close(phi__run *run) {
    phi__agent *agent = run->agent;
    phi__entry entry = phi__events_entry(run, PHI_ENTRY_LOOP_END);
    phi_usage *usage = (phi_usage *)phi_arena_alloc(phi__thread_room(agent->thread), sizeof *usage);
    phi__schedule_publish_state(agent, false);
    if (run->decision.point != 0) phi__decision_drop(&run->decision);
    phi__budget_release(run);
    if (run->poll.pending.head != NULL) phi__input_return(run);
    if (agent->queues.injected.head != NULL) phi__input_drop_injected(agent);
    if (usage != NULL) *usage = phi__charge_of(run)->usage;
    entry.usage = usage;
    entry.status = run->status;
    /* a limit ends a run, and does not fail it */
    if (run->status != PHI_OK && run->status != PHI_LIMIT) entry.keep = agent->desc.keep;
    entry.of.failure = run->failure;
    /* without memory for it, the log still shows it: no reply */
    if (phi__recall_end(agent->thread, &entry) == PHI_OK)
        (void)phi__append(agent->thread, &entry, 1);
    if (run->response != NULL) phi__responses_close(run);
    phi_event event = phi__turn_end_event(run, usage); /* the next calls may switch lanes */
    run->said.message_count = event.message_count;
    (void)phi__feature_run(run, PHI__POINT_RUN_ENDS);
    if (agent->thread->journal != NULL) phi__stored_updated(run);
    (void)phi__events_emit_surely(agent, &event);
    return run->start.silent ? PHI__RUN_OVER : PHI__RUN_AFTER_LOOP;
}

static phi__state phi__turn_after_loop(phi__run *run, bool *wait) {
    if (!phi__turn_wants_hook(run, PHI_HOOK_AFTER_LOOP)) return PHI__RUN_OVER;
    phi_hook hook = phi__hooks_make(run, PHI_HOOK_AFTER_LOOP);
    hook.message_count = run->said.message_count;
    hook.usage = &phi__charge_of(run)->usage;
    if (phi__hooks_run(run, &hook) == PHI__HOOK_WAIT && !phi__turn_unwanted(run)) {
        *wait = true;
        return PHI__RUN_AFTER_LOOP;
    }
    return PHI__RUN_OVER; /* AGENT_END was the last word, whatever the hook came to */
}

/* ---- all states ---- */

static phi__state phi__turn_enter(phi__run *run, bool *wait) {
    switch (run->state) {
    case PHI__RUN_BEFORE_LOOP: return phi__turn_before_loop(run, wait);
    case PHI__RUN_OPEN: return phi__turn_open(run);
    case PHI__RUN_FILTER: return phi__turn_filter(run, wait);
    case PHI__RUN_POLL: return phi__turn_poll(run, wait);
    case PHI__RUN_TOP: return phi__turn_top(run, wait);
    case PHI__RUN_BEFORE_TURN: return phi__turn_before_turn(run, wait);
    case PHI__RUN_TURN: return phi__turn_turn_begin(run, wait);
    case PHI__RUN_TRANSFORM: return phi__ask_transform(run, wait);
    case PHI__RUN_CONVERT: return phi__ask_convert(run, wait);
    case PHI__RUN_REQUEST: return phi__ask_request(run, wait);
    case PHI__RUN_CREDENTIAL: return phi__ask_credential(run, wait);
    case PHI__RUN_SIGN: return phi__ask_sign(run);
    case PHI__RUN_SEND: return phi__attempt_send(run, wait);
    case PHI__RUN_STREAM: return phi__attempt_stream(run, wait);
    case PHI__RUN_BACKOFF: return phi__attempt_backoff(run, wait);
    case PHI__RUN_HELD: return phi__feature_held(run, wait);
    case PHI__RUN_TOOLS: return phi__tools_run(run, wait);
    case PHI__RUN_FAILED: return phi__turn_failed(run, wait);
    case PHI__RUN_TURN_END: return phi__turn_turn_end(run);
    case PHI__RUN_AFTER_TURN: return phi__turn_after_turn(run, wait);
    case PHI__RUN_NEXT: return phi__turn_next(run, wait);
    case PHI__RUN_FOLLOW: return phi__turn_follow_up(run, wait);
    case PHI__RUN_CLOSE: return phi__turn_close(run);
    case PHI__RUN_AFTER_LOOP: return phi__turn_after_loop(run, wait);
    case PHI__RUN_ON:
    case PHI__RUN_OVER:
    case PHI__RUN_LOST:
    case PHI__RUN_ENDED:
    case PHI__RUN_GIVE_UP:
    case PHI__RUN_ANSWERED: break;
    }
    return PHI__RUN_OVER;
}

/* One run, until it waits, is over, or the step is spent. */
static void phi__turn_advance(phi__run *run) {
    phi_runtime *rt = run->agent->rt;
    for (;;) {
        bool wait = false;
        phi__agent *agent = run->agent;
        /* An outcome may lead to another. They are those of the same state: nothing comes in
           between. */
        phi__state outcome = phi__turn_enter(run, &wait);
        if (outcome == PHI__RUN_ENDED) outcome = phi__attempt_end(run);
        if (outcome == PHI__RUN_GIVE_UP) outcome = phi__end_give_up(run);
        if (outcome == PHI__RUN_ANSWERED) outcome = phi__turn_answered(run);
        run->state = outcome == PHI__RUN_LOST ? phi__run_no_memory(run) : outcome;
        if (agent->slot == NULL) return; /* freed by a tool: gone when the step ends */
        if (agent->tree.due) {           /* the watcher looks at the events so far */
            const phi__child_watch *watch = agent->tree.watch;
            agent->tree.due = false;
            if (watch != NULL && watch->between != NULL) watch->between(agent);
            if (agent->slot == NULL) return;
        }
        if (run->state == PHI__RUN_OVER) {
            phi_status status = run->status;
            const phi_failure *failure = run->failure;
            bool stopping = run->end.stopping;
            phi__forget_ran(agent, status);
            (void)phi__feature_run(run, PHI__POINT_RUN_OVER);
            phi__run_destroy(run);
            if (agent->one_shot.ended_fn != NULL) agent->one_shot.ended_fn(agent);
            if (agent->tree.watch != NULL)
                agent->tree.watch->over(agent, status, failure, stopping);
            return;
        }
        if (wait) return;
        if (run->state == PHI__RUN_AFTER_LOOP) continue; /* who pops AGENT_END may prompt at once */
        if (!phi__slice_spent(&rt->slice)) continue;
        if (rt->tape == NULL) {
            phi__schedule_wake(run);
            return;
        }
        phi__slice_begin(&rt->slice);
    }
}

/* With a tape all input is processed, a slice at a time, and each run continues until it waits:
   otherwise slices of another size would give a host that counts frames, or acts between two steps,
   another state to see, and runs that share a budget another order of turns. */
PHI__FN void phi__turn_advance_all(phi_runtime *rt) {
    phi__run *run;
    while ((run = phi__schedule_next_ready(rt)) != NULL) {
        phi__turn_advance(run);
        if (phi__slice_spent(&rt->slice) && rt->tape == NULL) return;
    }
}
