/* attempt.c - an attempt's making, charge and end: what the other files of a run need of it. */
#include "loop/inner_in.h"

#include <stdio.h>

PHI__FN void phi__attempt_init(phi__run *run) {
    phi__secret_init(&run->attempt.secrets, &run->arena);
}

PHI__FN const phi__request_spec *phi__attempt_spec(const phi__run *run) {
    return &run->attempt.spec;
}

PHI__FN void phi__attempt_none(phi__run *run) { run->attempt.emitted = false; }

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

/* Frees the attempt. settle: the reply takes the answer's place; else its events stay valid. */
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
    if (run->attempt.answer != NULL) phi__attempt_close(run, true); /* else nothing was opened */
}

/* Copied, without control characters and without the secrets that the requests carried. */
static bool phi__attempt_keep_words(phi__run *run, phi_arena *arena, phi_str words, phi_str *out) {
    if (!phi__arena_str(arena, words, out)) return false;
    char *at = (char *)(uintptr_t)out->at;
    out->len = phi__words_clean(at, out->len);
    (void)phi__secret_hide(&run->attempt.secrets, at, out->len, PHI__SECRET_WORDS);
    at[out->len] = '\0';
    return true;
}

/* The attempt failed so; the failure is kept in the thread, since it outlives the call. */
PHI__FN phi__state phi__attempt_failed(phi__run *run, const phi_failure *failure,
                                       phi_status status) {
    phi_arena *arena = phi__thread_room(run->agent->thread);
    phi_failure *kept = (phi_failure *)phi_arena_alloc(arena, sizeof *kept);
    if (kept != NULL) *kept = *failure;
    if (kept != NULL &&
        (!phi__attempt_keep_words(run, arena, failure->code, &kept->code) ||
         !phi__attempt_keep_words(run, arena, failure->message, &kept->message) ||
         !phi__attempt_keep_words(run, arena, failure->request_id, &kept->request_id)))
        kept = NULL;
    run->attempt.fault = kept;
    run->attempt.fault_status = status;
    return kept != NULL ? PHI__RUN_ENDED : PHI__RUN_LOST;
}

PHI__FN phi__state phi__attempt_refuse(phi__run *run, const phi_failure *failure) {
    run->attempt.fault = failure;
    run->attempt.fault_status = phi__failure_status(failure);
    return PHI__RUN_GIVE_UP;
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
