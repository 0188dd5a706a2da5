/* attempt_end.c - the end of an attempt: its answer is logged and counted, or it is discarded and
   tried again, or the view is compacted first.

   A failed attempt without emitted events leaves no trace but PHI_EV_RETRY; an attempt whose
   beginning was emitted is retracted first. */
#include "loop/loop_in.h"
#include "base/utf8_in.h"
#include "base/words_in.h"
#include "wire/hash_in.h"

#include <stdio.h>

/* ---- whether once more ---- */

/* base^n by squaring: n may be anything, and pow would need another library. */
static double phi__attempt_end_retry_power(double base, uint32_t n) {
    double out = 1;
    for (; n > 0; n >>= 1, base *= base)
        if (n & 1) out *= base;
    return out;
}

PHI__FN uint32_t phi__attempt_end_retry_delay_ms(const phi_retry *retry, uint32_t attempt,
                                                 double random) {
    double base = retry->backoff_multiplier, most = (double)retry->max_delay_ms, delay;
    if (retry->initial_delay_ms == 0) return 0; /* nothing times infinity is no number */
    if (!(base >= 0)) base = 1;                 /* negative, or no number */
    delay = (double)retry->initial_delay_ms *
            phi__attempt_end_retry_power(base, attempt > 0 ? attempt - 1 : 0);
    if (!(delay < most)) delay = most;
    delay *= 0.8 + 0.4 * random;
    return delay < (double)UINT32_MAX ? (uint32_t)delay : UINT32_MAX;
}

PHI__FN bool phi__attempt_end_retry_wanted(const phi_retry *retry, const phi_failure *failure,
                                           uint32_t attempt, double random, uint32_t *delay_ms) {
    if (retry->disable || attempt > retry->max_retries) return false;
    /* A prompt that is too long stays too long until it is made shorter. */
    if (!failure->retryable || failure->kind == PHI_FAILURE_OVERFLOW) return false;
    if (!failure->has_retry_after) {
        *delay_ms = phi__attempt_end_retry_delay_ms(retry, attempt, random);
        return true;
    }
    if (failure->retry_after_ms > retry->max_server_delay_ms) return false;
    *delay_ms = (uint32_t)failure->retry_after_ms;
    return true;
}

/* ---- retry, error or answer ---- */

/* The words of the assistant message's error_message. */
static void phi__attempt_end_words(const phi_failure *failure, char *out, size_t size) {
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
static bool phi__attempt_end_unique_ids(phi__run *run) {
    phi__answer *answer = run->attempt.answer;
    size_t i;
    for (i = 0; i < answer->assembly.count; i++) {
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
static phi_message *phi__attempt_end_keep_answer(phi__run *run, const phi_failure *failure) {
    char words[2200];
    phi_content empty;
    phi_message message;
    const phi_message *shown = phi__events_answer_whole(run->attempt.answer);
    if (shown == NULL) return NULL;
    message = *shown;
    if (failure == NULL && !phi__attempt_end_unique_ids(run)) return NULL;
    if (failure != NULL) {
        phi__attempt_end_words(failure, words, sizeof words);
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

/* One warning for each call that was repaired. */
static bool phi__attempt_end_emit_repairs(phi__run *run, const phi_message *kept) {
    const phi__assembly *assembly = &run->attempt.answer->assembly;
    bool emitted = true;
    phi__buf words;
    size_t i;
    phi__buf_init(&words, &run->agent->memory);
    for (i = 0; emitted && i < assembly->count && i < kept->content_count; i++) {
        phi_event event = PHI_ZERO;
        if (assembly->drafts[i].note.len == 0) continue;
        phi__buf_clear(&words);
        phi__buf_text(&words, "the call of ");
        phi__buf_add_str(&words, kept->content[i].name);
        phi__buf_text(&words, " was repaired: ");
        phi__buf_add_str(&words, phi__buf_str(&assembly->drafts[i].note));
        event.kind = PHI_EV_WARNING;
        event.tool_call_id = kept->content[i].id;
        event.tool_name = kept->content[i].name;
        event.text = phi__buf_str(&words);
        emitted = !words.failed && phi__events_emit(run->agent, &event, NULL, 0);
    }
    phi__buf_free(&words);
    return emitted;
}

/* The answer ended with a word that the codec does not know. */
static bool phi__attempt_end_warn(phi__run *run, phi_str word) {
    char words[160];
    int n = (int)phi__utf8_cut(word, 80);
    phi_event event = PHI_ZERO;
    (void)snprintf(words, sizeof words,
                   "the model stopped with the reason \"%.*s\", which is not known: its answer is "
                   "taken as it is",
                   n, n > 0 ? word.at : "");
    event.kind = PHI_EV_WARNING;
    event.text = phi_str_of(words);
    return phi__events_emit(run->agent, &event, NULL, 0);
}

/* Puts the answer into the log; false: no memory. */
static bool phi__attempt_end_log(phi__run *run, const phi_failure *failure) {
    phi__entry entry;
    phi_event event;
    phi_message *kept;
    bool emitted, unknown = failure == NULL && run->attempt.answer->assembly.unknown_stop;
    if (!phi__attempt_emit_start(run)) return false;
    kept = phi__attempt_end_keep_answer(run, failure);
    if (kept == NULL) return false;
    memset(&entry, 0, sizeof entry);
    entry.kind = PHI_ENTRY_MESSAGE;
    entry.at_ms = kept->timestamp_ms;
    entry.loop_id = run->loop_id;
    entry.turn_index = kept->turn_index;
    entry.message = kept;
    if (!phi__append(run->agent->thread, &entry, 1)) return false;
    emitted = phi__attempt_end_emit_repairs(run, kept);
    phi__events_answer_settle(run->attempt.answer, kept);
    run->reply = kept;
    memset(&event, 0, sizeof event);
    event.kind = PHI_EV_MESSAGE_END;
    event.message = kept;
    return emitted && phi__events_emit(run->agent, &event, NULL, 0) &&
           (!unknown || phi__attempt_end_warn(run, kept->raw_stop_reason));
}

/* ---- once more ---- */

static double phi__attempt_end_random(phi__run *run) {
    uint32_t bits = 0;
    phi__io_random(run->agent->rt->io, &bits, sizeof bits);
    return (double)bits / 4294967296.0;
}

/* How many attempts there are in all: the first one is no retry. */
static uint32_t phi__attempt_end_most(const phi_retry *retry) {
    return retry->max_retries == PHI_UNLIMITED ? PHI_UNLIMITED : retry->max_retries + 1;
}

static bool phi__attempt_end_emit_retry(phi__run *run, const phi_failure *failure) {
    uint32_t attempts = phi__attempt_end_most(&run->agent->desc.retry);
    char words[400], line[560], most[16] = "unlimited";
    phi_event event;
    phi__attempt_end_words(failure, words, sizeof words);
    words[phi__utf8_cut(phi_str_of(words), sizeof words - 1)] = '\0';
    if (attempts != PHI_UNLIMITED) (void)snprintf(most, sizeof most, "%u", (unsigned)attempts);
    (void)snprintf(line, sizeof line, "Provider error (attempt %u/%s), retrying in %.1fs: %s",
                   (unsigned)run->attempt.retries, most, (double)run->attempt.delay_ms / 1000.0,
                   words);
    memset(&event, 0, sizeof event);
    event.kind = PHI_EV_RETRY;
    event.failure = failure;
    event.status = phi__failure_status(failure);
    event.attempt = run->attempt.retries;
    event.attempts = attempts;
    event.delay_ms = run->attempt.delay_ms;
    event.text = phi_str_of(line);
    return phi__events_emit(run->agent, &event, NULL, 0);
}

/* failure: in the thread. */
static phi__state phi__attempt_end_again(phi__run *run, const phi_failure *failure) {
    uint64_t now = phi__io_now_us(run->agent->rt->io);
    bool emitted;
    run->attempt.retries++;
    run->attempt.retry_at_us = now + (uint64_t)run->attempt.delay_ms * 1000;
    emitted = phi__attempt_retract(run) && phi__attempt_end_emit_retry(run, failure);
    phi__attempt_abandon(run);
    if (!emitted || !phi__schedule_timer_set(run, run->attempt.retry_at_us)) return PHI__RUN_LOST;
    return PHI__RUN_BACKOFF;
}

/* The next state, if a feature can handle the failure, which is too long a request's, or, `whole`,
   one for good. ON: none can. */
static phi__state phi__attempt_end_offer(phi__run *run, bool whole) {
    phi__moment moment;
    phi__state outcome;
    bool emitted;
    memset(&moment, 0, sizeof moment);
    moment.point = PHI__POINT_FAILED;
    moment.agent = run->agent;
    moment.run = run;
    moment.failure = run->attempt.fault;
    moment.whole = whole;
    outcome = phi__feature_take(&moment);
    run->attempt.fault = moment.failure;
    if (outcome == PHI__RUN_ON || run->attempt.answer == NULL) return outcome;
    emitted = phi__attempt_retract(run);
    phi__attempt_abandon(run);
    return emitted ? outcome : PHI__RUN_LOST;
}

/* Another key, once a turn. */
static phi__state phi__attempt_end_refused(phi__run *run) {
    bool emitted = phi__attempt_retract(run);
    run->attempt.refused = run->attempt.fresh = true;
    phi__attempt_abandon(run);
    return emitted ? PHI__RUN_CREDENTIAL : PHI__RUN_LOST;
}

/* The same request without its thinking: it is rendered again, and the answers that lose their
   thinking are reported. */
static phi__state phi__attempt_end_unthink(phi__run *run) {
    bool emitted = phi__attempt_retract(run);
    phi__thinking_bar(run);
    phi__attempt_abandon(run);
    phi__attempt_clear(run);
    phi__model_call_list_clear(run);
    phi__projection_clear(run);
    return emitted ? PHI__RUN_TURN : PHI__RUN_LOST;
}

/* ---- for good ---- */

static bool phi__attempt_end_wanted(const phi__run *run) {
    return !run->end.cancelled && !run->end.stopping;
}

/* Logs the answer, whole or not, and counts it. */
static bool phi__attempt_end_settle(phi__run *run, const phi_failure *failure) {
    bool emitted = phi__attempt_end_log(run, failure);
    if (run->reply == NULL) return false;
    phi__limits_charge_turn(run, &run->reply->usage); /* it is in the log, so it counts */
    if (!emitted) return false;
    phi__limits_budget_release(run); /* so that agents that its tools start find the rest */
    phi__attempt_drop(run);
    return true;
}

PHI__FN phi__state phi__attempt_end_give_up(phi__run *run) {
    const phi_failure *failure;
    phi__state next = PHI__RUN_ON;
    if (phi__attempt_end_wanted(run) && run->attempt.fault_status != PHI_DENIED) /* by the host */
        next = phi__attempt_end_offer(run, true);
    if (next != PHI__RUN_ON) return next;
    failure = run->attempt.fault;
    if (run->attempt.answer == NULL) { /* the attempt was freed */
        run->attempt.answer = phi__events_answer_new(run);
        if (run->attempt.answer == NULL) return PHI__RUN_LOST;
        phi__reader_init(&run->attempt.reader, run->agent->codec, NULL,
                         &run->attempt.answer->assembly, run->agent->desc.memory.max_event_bytes);
        phi__buf_init(&run->attempt.collected, &run->agent->memory);
        run->attempt.emitted = false;
    }
    if (!phi__attempt_end_settle(run, failure)) return PHI__RUN_LOST;
    if (failure->kind == PHI_FAILURE_CANCELLED) {
        run->status = PHI_CANCELLED;
        return PHI__RUN_TURN_END;
    }
    return phi__run_fail(run, failure, run->attempt.fault_status);
}

PHI__FN phi__state phi__attempt_end(phi__run *run) {
    const phi_failure *failure = run->attempt.fault;
    phi__state next = PHI__RUN_ON;
    if (failure == NULL)
        return phi__attempt_end_settle(run, NULL) ? PHI__RUN_ANSWERED : PHI__RUN_LOST;
    if (phi__feature_run(run, PHI__POINT_DROPPED) != PHI__RUN_ON) return PHI__RUN_OVER;
    if (failure->kind == PHI_FAILURE_OVERFLOW && phi__attempt_end_wanted(run))
        next = phi__attempt_end_offer(run, false);
    if (next != PHI__RUN_ON) return next;
    if (failure->kind == PHI_FAILURE_AUTH && run->attempt.fault_status != PHI_DENIED &&
        !run->attempt.fresh && phi__hooks_wanted(run->agent, PHI_HOOK_CREDENTIAL) &&
        phi__attempt_end_wanted(run))
        return phi__attempt_end_refused(run);
    if (phi__attempt_end_wanted(run) && phi__thinking_refused(run, failure))
        return phi__attempt_end_unthink(run);
    if (phi__attempt_end_wanted(run) &&
        phi__attempt_end_retry_wanted(&run->agent->desc.retry, failure, run->attempt.retries + 1,
                                      phi__attempt_end_random(run), &run->attempt.delay_ms) &&
        phi__limits_leaves(run, run->attempt.delay_ms))
        return phi__attempt_end_again(run, failure);
    return phi__attempt_end_give_up(run);
}
