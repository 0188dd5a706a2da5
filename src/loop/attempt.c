/* attempt.c - an attempt, as far as its end does not matter: told, retracted, dropped; and how it
   ended. */
#include "loop/attempt_in.h"

#include "base/words_in.h"
#include "loop/loop_in.h"
#include "loop/provider_in.h"

PHI__FN void phi__attempt_init(phi__run *run) {
    phi__secret_init(&run->attempt.secrets, &run->arena);
}

PHI__FN void phi__attempt_clear(phi__run *run) {
    run->attempt.refused = run->attempt.fresh = false;
    run->attempt.retries = 0;
}

PHI__FN const phi__ask *phi__attempt_ask(const phi__run *run) { return &run->attempt.ask; }

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

PHI__FN void phi__run_rewind(phi__run *run) {
    phi__arena_rewind(&run->arena);
    phi__secret_init(&run->attempt.secrets, &run->arena);
}

PHI__FN bool phi__attempt_emit_start(phi__run *run) {
    phi_event event;
    if (run->attempt.emitted) return true;
    run->attempt.emitted = true;
    memset(&event, 0, sizeof event);
    event.kind = PHI_EV_MESSAGE_START;
    return phi__answer_room(run->attempt.answer) &&
           phi__emit(run->agent, &event, run->attempt.answer, 0);
}

PHI__FN bool phi__attempt_retract(phi__run *run) {
    phi_event event;
    if (!run->attempt.emitted) return true;
    memset(&event, 0, sizeof event);
    event.kind = PHI_EV_RETRACT;
    return phi__answer_room(run->attempt.answer) &&
           phi__emit(run->agent, &event, run->attempt.answer, 0);
}

PHI__FN void phi__attempt_drop(phi__run *run) {
    if (run->attempt.encoding) phi__encoder_free(&run->attempt.encoder);
    run->attempt.encoding = false;
    if (run->attempt.answer == NULL) return; /* nothing was opened */
    phi__provider_close(run);
    phi__transfer_close(run->attempt.transfer);
    run->attempt.transfer = NULL;
    phi__reader_free(&run->attempt.reader);
    phi__buf_free(&run->attempt.collected);
    phi__answer_settle(run->attempt.answer, run->reply);
    phi__answer_drop(run->attempt.answer);
    run->attempt.answer = NULL;
}

/* Lets go of an attempt whose answer is not wanted. What was told of it stays as it was told. */
PHI__FN void phi__attempt_abandon(phi__run *run) {
    phi__attempt_charge(run);
    phi__provider_close(run);
    phi__transfer_close(run->attempt.transfer);
    run->attempt.transfer = NULL;
    phi__reader_free(&run->attempt.reader);
    phi__buf_free(&run->attempt.collected);
    /* not settled: events that were not popped still show it */
    phi__answer_drop(run->attempt.answer);
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
