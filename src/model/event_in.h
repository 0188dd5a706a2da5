/* event_in.h - makes failures, and the statuses that go with them. */
#ifndef PHI_MODEL_EVENT_IN_H
#define PHI_MODEL_EVENT_IN_H

#include "base/base_in.h"
#include "model/failure.h"

/* words: borrowed. */
PHI__FN phi_failure phi__failure_of(phi_failure_kind kind, bool retryable, const char *words);
PHI__FN phi_status phi__failure_status(const phi_failure *failure);

/* The kind of a failure that has a status and no more. */
PHI__FN phi_failure_kind phi__failure_kind_of(phi_status status);

#endif
