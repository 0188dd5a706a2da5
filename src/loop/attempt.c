/* attempt.c - the functions of an attempt that are not states of turn.c: its memory and charge, its
   failures and retries, and hiding the secrets of its requests. */
#include "loop/inner_in.h"

#include <stdio.h>

enum { PHI__ATTEMPT_URL = 400 }; /* bytes of a URL in an error's message */

/* ---- memory ---- */

PHI__FN void phi__attempt_rewind(phi__run *run) {
    phi__arena_rewind(&run->arena);
    phi__secret_init(&run->attempt.secrets, &run->arena);
}

PHI__FN void phi__attempt_clear(phi__run *run) {
    phi__attempt_rewind(run);
    run->attempt.refused = run->attempt.fresh = false;
    run->attempt.retries = 0;
}

PHI__FN void phi__attempt_detach(phi__run *run) {
    phi__provider_close(run);
    phi__transfer_close(run->attempt.transfer);
    run->attempt.transfer = NULL;
}

PHI__FN void phi__attempt_charge(phi__run *run) {
    if (run->attempt.answer == NULL || !run->attempt.answer->live) return;
    phi_usage usage = run->attempt.answer->assembly.usage;
    if (usage.total_tokens == 0) usage.total_tokens = phi__charge_tokens(&usage);
    phi__charge(run, &usage);
}

/* Frees the attempt. settle: from now on, queued events show the run's reply instead of the
   answer. */
PHI__FN void phi__attempt_close(phi__run *run, bool settle) {
    phi__attempt_detach(run);
    phi__reader_free(&run->attempt.reader);
    phi__buf_free(&run->attempt.collected);
    if (settle) phi__answer_settle(run->attempt.answer, run->reply);
    phi__answer_drop(run->attempt.answer);
    run->attempt.answer = NULL;
}

PHI__FN void phi__attempt_drop(phi__run *run) {
    if (run->attempt.encoding) phi__encoder_free(&run->attempt.encoder);
    run->attempt.encoding = false;
    /* no answer: nothing was opened */
    if (run->attempt.answer != NULL) phi__attempt_close(run, true);
}

/* ---- failures ---- */

/* Copies the text, without control characters and without the requests' secrets. */
static bool phi__attempt_keep_words(phi__run *run, phi_arena *arena, phi_str words, phi_str *out) {
    if (!phi__arena_str(arena, words, out)) return false;
    char *at = (char *)(uintptr_t)out->at;
    out->len = phi__words_clean(at, out->len);
    (void)phi__secret_hide(&run->attempt.secrets, at, out->len, PHI__SECRET_WORDS);
    at[out->len] = '\0';
    return true;
}

/* Ends the attempt. The failure is copied into the thread, because it outlives the model call. */
PHI__FN phi__state phi__attempt_failed(phi__run *run, const phi_failure *failure,
                                       phi_status status) {
    phi_arena *arena = phi__thread_room(run->agent->thread);
    phi_failure *kept = (phi_failure *)phi_arena_alloc(arena, sizeof *kept);
    run->attempt.fault = NULL;
    run->attempt.fault_status = status;
    if (kept == NULL) return PHI__RUN_LOST;
    *kept = *failure;
    if (!phi__attempt_keep_words(run, arena, failure->code, &kept->code) ||
        !phi__attempt_keep_words(run, arena, failure->message, &kept->message) ||
        !phi__attempt_keep_words(run, arena, failure->request_id, &kept->request_id))
        return PHI__RUN_LOST;
    run->attempt.fault = kept;
    return PHI__RUN_ENDED;
}

PHI__FN phi__state phi__attempt_fault(phi__run *run, phi_failure_kind kind, bool retryable,
                                      phi_status status, const char *words) {
    phi_failure failure =
        phi__failure_of(kind, retryable, words != NULL ? words : phi_status_text(status));
    return phi__attempt_failed(run, &failure, status);
}

PHI__FN phi__state phi__attempt_refuse(phi__run *run, const phi_failure *failure) {
    run->attempt.fault = failure;
    run->attempt.fault_status = phi__failure_status(failure);
    return PHI__RUN_GIVE_UP;
}

PHI__FN phi__state phi__attempt_broken(phi__run *run) {
    phi__transfer *transfer = run->attempt.transfer;
    phi_status status = phi__network_status(transfer->status);
    bool late = transfer->status == PHI_TIMEOUT;
    if (transfer->status == PHI_NO_MEMORY) return PHI__RUN_LOST;
    phi_failure failure = phi__failure_of(
        late ? PHI_FAILURE_TIMEOUT : PHI_FAILURE_NETWORK,
        transfer->status != PHI_TLS && transfer->status != PHI_TOO_BIG &&
            transfer->status != PHI_UNSUPPORTED && transfer->status != PHI_BAD_ARG, /* bad URL */
        transfer->words[0] != '\0' ? transfer->words : phi_status_text(status));
    failure.http_status = transfer->http_status;
    return phi__attempt_failed(run, &failure, status);
}

/* Adds the URL, without user and query, to the failure's message if the base URL may be wrong: the
   status fits, and the answer does not look like one of a provider. Without memory the message
   stays as it is. */
static void phi__attempt_name_url(phi__run *run, phi_failure *failure) {
    phi_str url = run->attempt.encoder.request.url, named;
    int status = failure->http_status;
    size_t len = 0;
    phi__buf words;
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

PHI__FN phi__state phi__attempt_classify(phi__run *run) {
    const phi__transfer *transfer = run->attempt.transfer;
    phi_failure failure;
    phi__classify(&run->agent->desc.model, transfer->http_status, phi__buf_str(&transfer->headers),
                  phi__buf_str(&run->attempt.collected), &run->arena, &failure);
    phi__attempt_name_url(run, &failure);
    return phi__attempt_failed(run, &failure, phi__failure_status(&failure));
}

PHI__FN void phi__end_words(const phi_failure *failure, char *out, size_t size) {
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

/* ---- retries ---- */

PHI__FN uint32_t phi__retry_delay_ms(const phi_retry *retry, uint32_t attempt, double random) {
    double base = retry->backoff_multiplier, most = (double)retry->max_delay_ms, power = 1;
    if (retry->initial_delay_ms == 0) return 0; /* zero times infinity is not a number */
    if (!(base >= 0)) base = 1;                 /* negative, or not a number */
    /* by squaring: n may be large, and pow would need another library */
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
    /* A prompt that is too long stays too long until it is shortened. */
    if (!failure->retryable || failure->kind == PHI_FAILURE_OVERFLOW) return false;
    if (!failure->has_retry_after) {
        *delay_ms = phi__retry_delay_ms(retry, attempt, random);
        return true;
    }
    if (failure->retry_after_ms > retry->max_server_delay_ms) return false;
    *delay_ms = (uint32_t)failure->retry_after_ms;
    return true;
}

PHI__FN bool phi__end_emit_retry(phi__run *run, const phi_failure *failure) {
    /* The number of attempts includes the first attempt, which is not a retry. */
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
    return phi__events_emit(run->agent, &event);
}

/* ---- the answer in the log ---- */

PHI__FN bool phi__end_unique_ids(phi__run *run) {
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

static void phi__attempt_hide_text(phi__run *run, phi_str text, phi__secret_text kind) {
    char *at = (char *)(uintptr_t)text.at; /* the thread's own copy */
    if (text.len > 0) (void)phi__secret_hide(&run->attempt.secrets, at, text.len, kind);
}

PHI__FN phi_message *phi__attempt_hide(phi__run *run, phi_message *result) {
    if (result == NULL) return NULL;
    phi__secret_key(&run->attempt.secrets, phi_str_of(run->agent->desc.model.api_key));
    if (run->attempt.secrets.failed) return NULL;
    for (size_t i = 0; i < result->content_count; i++)
        phi__attempt_hide_text(run, result->content[i].text, PHI__SECRET_BYTES);
    phi__attempt_hide_text(run, result->details, PHI__SECRET_JSON);
    return result;
}
