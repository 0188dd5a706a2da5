/* writer.c - writes the answer of a host's model into the assembly. */
#include "wire/writer_in.h"

static phi__assembly *phi__writer_open(phi_answer *answer) {
    phi__assembly *a = (phi__assembly *)answer;
    if (a == NULL || a->terminal || a->failure.kind != PHI_FAILURE_NONE) return NULL;
    phi__assembly_start(a);
    return a;
}

/* The call that is open, or SIZE_MAX. */
static size_t phi__writer_call(const phi__assembly *a) {
    size_t last = a->count - 1;
    if (a->count == 0 || a->drafts[last].kind != PHI_CONTENT_TOOL_CALL || !a->drafts[last].open)
        return SIZE_MAX;
    return last;
}

static void phi__writer_close_last(phi__assembly *a) {
    if (a->count > 0 && a->drafts[a->count - 1].open) phi__assembly_close(a, a->count - 1);
}

static void phi__writer_add(phi_answer *answer, phi_content_kind kind, phi_str bytes) {
    phi__assembly *a = phi__writer_open(answer);
    if (a == NULL || bytes.len == 0) return;
    if (phi__writer_call(a) != SIZE_MAX) phi__writer_close_last(a);
    phi__assembly_add(a, phi__assembly_current(a, kind), bytes);
}

/* ---- public ---- */

PHI_API void phi_answer_text(phi_answer *answer, phi_str bytes) {
    phi__writer_add(answer, PHI_CONTENT_TEXT, bytes);
}

PHI_API void phi_answer_thinking(phi_answer *answer, phi_str bytes, phi_str signature) {
    phi__assembly *a;
    size_t block;
    phi__writer_add(answer, PHI_CONTENT_THINKING, bytes);
    if (signature.len == 0 || (a = phi__writer_open(answer)) == NULL) return;
    block = phi__assembly_current(a, PHI_CONTENT_THINKING);
    if (block == SIZE_MAX) return;
    phi__assembly_set(a, &a->drafts[block].signature, signature);
    phi__writer_close_last(a);
}

PHI_API void phi_answer_call(phi_answer *answer, phi_str id, phi_str name) {
    phi__assembly *a = phi__writer_open(answer);
    size_t block;
    if (a == NULL) return;
    phi__writer_close_last(a);
    block = phi__assembly_open(a, PHI_CONTENT_TOOL_CALL, (int64_t)a->count);
    if (block == SIZE_MAX) return;
    phi__assembly_set(a, &a->drafts[block].id, id);
    phi__assembly_set(a, &a->drafts[block].name, name);
}

PHI_API void phi_answer_arguments(phi_answer *answer, phi_str bytes, bool last) {
    phi__assembly *a = phi__writer_open(answer);
    if (a != NULL && bytes.len > 0) phi__assembly_add(a, phi__writer_call(a), bytes);
    if (last && phi__writer_open(answer) != NULL && phi__writer_call(a) != SIZE_MAX)
        phi__writer_close_last(a);
}

PHI_API void phi_answer_usage(phi_answer *answer, const phi_usage *usage) {
    phi__assembly *a = phi__writer_open(answer);
    if (a != NULL && usage != NULL) a->usage = *usage;
}

PHI_API void phi_answer_stop(phi_answer *answer, phi_stop_reason reason) {
    phi__assembly *a = phi__writer_open(answer);
    bool known = reason == PHI_STOP_REASON_LENGTH || reason == PHI_STOP_REASON_TOOL_USE ||
                 reason == PHI_STOP_REASON_GUARD_RAIL;
    if (a == NULL) return;
    if (reason != PHI_STOP_REASON_LENGTH) phi__writer_close_last(a); /* a cut call stays open */
    a->stop_reason = known ? reason : PHI_STOP_REASON_STOP;
    a->terminal = a->last = true;
}

PHI_API void phi_answer_fail(phi_answer *answer, phi_failure_kind kind, bool retryable,
                             const char *words) {
    phi__assembly *a = phi__writer_open(answer);
    if (a == NULL) return;
    if ((unsigned)kind <= (unsigned)PHI_FAILURE_NONE ||
        (unsigned)kind > (unsigned)PHI_FAILURE_NO_MEMORY)
        kind = PHI_FAILURE_SERVER;
    phi__assembly_fail(a, kind, retryable, phi__str(NULL, 0),
                       words != NULL ? phi_str_of(words) : PHI__LIT("the model has failed"));
}
