/* freed.h - phi_thread_free, and whether it was refused. */
#ifndef PHI_TESTS_SUPPORT_FREED_H
#define PHI_TESTS_SUPPORT_FREED_H

#include "agent/one_shot_run.h"
#include "log/thread_in.h"
#include "support/test.h"
#include "loop/loop_in.h"

/* PHI_OK, or the status that the runtime has of the refusal. */
static inline phi_status thread_freed(phi_thread *thread) {
    phi_status why = PHI_OK;
    phi_runtime *rt;
    if (thread == NULL) return PHI_OK;
    rt = thread->rt;
    if (thread->user != NULL) why = PHI_BUSY;
    if (thread->of_agent) why = PHI_MISUSE;
    phi_thread_free(thread);
    if (why != PHI_OK) CHECK_EQ_INT(phi_last_error(rt).status, why);
    return why;
}

#endif
