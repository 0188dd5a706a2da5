/* retry.c - whether a failed model call is tried again, and when. */
#include "loop/loop_in.h"

/* base^n by squaring: n may be anything, and pow would need another library. */
static double phi__retry_power(double base, uint32_t n) {
    double out = 1;
    for (; n > 0; n >>= 1, base *= base)
        if (n & 1) out *= base;
    return out;
}

PHI__FN uint32_t phi__retry_delay_ms(const phi_retry *retry, uint32_t attempt, double random) {
    double base = retry->backoff_multiplier, most = (double)retry->max_delay_ms, delay;
    if (retry->initial_delay_ms == 0) return 0; /* nothing times infinity is no number */
    if (!(base >= 0)) base = 1;                 /* negative, or no number */
    delay = (double)retry->initial_delay_ms * phi__retry_power(base, attempt > 0 ? attempt - 1 : 0);
    if (!(delay < most)) delay = most;
    delay *= 0.8 + 0.4 * random;
    return delay < (double)UINT32_MAX ? (uint32_t)delay : UINT32_MAX;
}

PHI__FN bool phi__retry_wanted(const phi_retry *retry, const phi_failure *failure, uint32_t attempt,
                               double random, uint32_t *delay_ms) {
    if (retry->disable || attempt > retry->max_retries) return false;
    /* What is too long stays too long until it was made shorter. */
    if (!failure->retryable || failure->kind == PHI_FAILURE_OVERFLOW) return false;
    if (!failure->has_retry_after) {
        *delay_ms = phi__retry_delay_ms(retry, attempt, random);
        return true;
    }
    if (failure->retry_after_ms > retry->max_server_delay_ms) return false;
    *delay_ms = (uint32_t)failure->retry_after_ms;
    return true;
}
