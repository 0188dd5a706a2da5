/* How long to wait before a failed model call is tried again: behaviours C 40. */
#include "support/test.h"

#include "loop/loop_in.h"
#include "loop/inner_in.h"

static phi_retry defaults(void) {
    phi_retry r = PHI_ZERO;
    r.max_retries = 3;
    r.initial_delay_ms = 1000;
    r.backoff_multiplier = 2;
    r.max_delay_ms = 30000;
    r.max_server_delay_ms = 60000;
    return r;
}

static phi_failure passing(phi_failure_kind kind) {
    phi_failure f = PHI_ZERO;
    f.kind = kind;
    f.retryable = true;
    return f;
}

TEST(the_delay_doubles_up_to_the_greatest) {
    phi_retry r = defaults();
    CHECK_EQ_INT(phi__retry_delay_ms(&r, 1, 0.5), 1000);
    CHECK_EQ_INT(phi__retry_delay_ms(&r, 2, 0.5), 2000);
    CHECK_EQ_INT(phi__retry_delay_ms(&r, 3, 0.5), 4000);
    CHECK_EQ_INT(phi__retry_delay_ms(&r, 5, 0.5), 16000);
    CHECK_EQ_INT(phi__retry_delay_ms(&r, 6, 0.5), 30000);
    CHECK_EQ_INT(phi__retry_delay_ms(&r, 7, 0.5), 30000);
}

TEST(chance_gives_or_takes_a_fifth_and_the_rest_is_cut_off) {
    phi_retry r = defaults();
    CHECK_EQ_INT(phi__retry_delay_ms(&r, 1, 0), 800);
    CHECK_EQ_INT(phi__retry_delay_ms(&r, 1, 0.25), 900);
    CHECK_EQ_INT(phi__retry_delay_ms(&r, 1, 0.999999), 1199);
    CHECK_EQ_INT(phi__retry_delay_ms(&r, 9, 0), 24000);
    CHECK_EQ_INT(phi__retry_delay_ms(&r, 9, 0.999999), 35999);
    r.initial_delay_ms = 3;
    CHECK_EQ_INT(phi__retry_delay_ms(&r, 1, 0), 2);
    r.initial_delay_ms = 1;
    CHECK_EQ_INT(phi__retry_delay_ms(&r, 1, 0), 0);
}

TEST(ten_thousand_delays_are_within_a_fifth_and_use_all_of_it) {
    static const double exact[] = {1000, 2000, 4000, 8000, 16000, 30000, 30000, 30000};
    phi_retry r = defaults();
    uint32_t state = 11, i;
    double least = 2, most = 0;
    for (i = 0; i < 10000; i++) {
        uint32_t attempt = 1 + i % 8;
        double chance = test_random(&state) / 4294967296.0;
        double part = (double)phi__retry_delay_ms(&r, attempt, chance) / exact[attempt - 1];
        if (part < least) least = part;
        if (part > most) most = part;
        if (!CHECK(part >= 0.8 - 0.001 && part <= 1.2)) return;
    }
    CHECK(least < 0.801);
    CHECK(most > 1.199);
}

TEST(a_multiplier_may_be_a_fraction_or_shrink_the_delay) {
    phi_retry r = defaults();
    r.backoff_multiplier = 1.5;
    CHECK_EQ_INT(phi__retry_delay_ms(&r, 3, 0.5), 2250);
    r.backoff_multiplier = 1;
    CHECK_EQ_INT(phi__retry_delay_ms(&r, UINT32_MAX, 0.5), 1000);
    r.backoff_multiplier = 0.5;
    CHECK_EQ_INT(phi__retry_delay_ms(&r, 3, 0.5), 250);
    CHECK_EQ_INT(phi__retry_delay_ms(&r, UINT32_MAX, 0.5), 0);
    r.backoff_multiplier = 0;
    CHECK_EQ_INT(phi__retry_delay_ms(&r, 1, 0.5), 1000);
    CHECK_EQ_INT(phi__retry_delay_ms(&r, 2, 0.5), 0);
}

TEST(a_huge_attempt_is_the_greatest_delay) {
    phi_retry r = defaults();
    CHECK_EQ_INT(phi__retry_delay_ms(&r, UINT32_MAX, 0.5), 30000);
    CHECK_EQ_INT(phi__retry_delay_ms(&r, 1025, 0.5), 30000);
    r.backoff_multiplier = 1e300;
    CHECK_EQ_INT(phi__retry_delay_ms(&r, 3, 0.5), 30000);
    r.max_delay_ms = UINT32_MAX;
    CHECK(phi__retry_delay_ms(&r, 3, 0.999999) == UINT32_MAX);
    CHECK(phi__retry_delay_ms(&r, 3, 0) == 3435973836u);
}

TEST(a_multiplier_that_is_no_number_leaves_the_delay_as_it_began) {
    phi_retry r = defaults();
    double zero = 0;
    r.backoff_multiplier = zero / zero;
    CHECK_EQ_INT(phi__retry_delay_ms(&r, 3, 0.5), 1000);
    r.backoff_multiplier = -3;
    CHECK_EQ_INT(phi__retry_delay_ms(&r, 3, 0.5), 1000);
    r.backoff_multiplier = 1 / zero;
    CHECK_EQ_INT(phi__retry_delay_ms(&r, 1, 0.5), 1000);
    CHECK_EQ_INT(phi__retry_delay_ms(&r, 2, 0.5), 30000);
    r.backoff_multiplier = -1 / zero;
    CHECK_EQ_INT(phi__retry_delay_ms(&r, 3, 0.5), 1000);
}

TEST(no_first_delay_or_no_greatest_is_no_delay) {
    phi_retry r = defaults();
    r.initial_delay_ms = 0;
    r.backoff_multiplier = 1e300;
    CHECK_EQ_INT(phi__retry_delay_ms(&r, 9, 0.5), 0);
    r = defaults();
    r.max_delay_ms = 0;
    CHECK_EQ_INT(phi__retry_delay_ms(&r, 1, 0.5), 0);
    CHECK_EQ_INT(phi__retry_delay_ms(&r, 0, 0.5), 0);
}

TEST(a_failure_that_may_pass_is_tried_as_often_as_wanted) {
    phi_retry r = defaults();
    phi_failure f = passing(PHI_FAILURE_NETWORK);
    uint32_t delay = 7;
    CHECK(phi__retry_wanted(&r, &f, 1, 0.5, &delay));
    CHECK_EQ_INT(delay, 1000);
    CHECK(phi__retry_wanted(&r, &f, 3, 0.5, &delay));
    CHECK_EQ_INT(delay, 4000);
    delay = 7;
    CHECK(!phi__retry_wanted(&r, &f, 4, 0.5, &delay));
    CHECK_EQ_INT(delay, 7);
    r.max_retries = 0;
    CHECK(!phi__retry_wanted(&r, &f, 1, 0.5, &delay));
    r.max_retries = PHI_UNLIMITED;
    CHECK(phi__retry_wanted(&r, &f, UINT32_MAX, 0.5, &delay));
    CHECK_EQ_INT(delay, 30000);
}

TEST(a_failure_that_stays_or_a_policy_that_is_off_is_not_tried_again) {
    phi_retry r = defaults();
    phi_failure f = passing(PHI_FAILURE_RATE_LIMITED);
    uint32_t delay = 7;
    f.retryable = false;
    CHECK(!phi__retry_wanted(&r, &f, 1, 0.5, &delay));
    f.retryable = true;
    r.disable = true;
    CHECK(!phi__retry_wanted(&r, &f, 1, 0.5, &delay));
    CHECK_EQ_INT(delay, 7);
}

TEST(an_overflow_is_never_tried_again_as_it_is) {
    phi_retry r = defaults();
    phi_failure f = passing(PHI_FAILURE_OVERFLOW);
    uint32_t delay = 7;
    f.has_retry_after = true;
    CHECK(!phi__retry_wanted(&r, &f, 1, 0.5, &delay));
    CHECK_EQ_INT(delay, 7);
}

TEST(a_servers_delay_is_kept_as_it_is) {
    phi_retry r = defaults();
    phi_failure f = passing(PHI_FAILURE_RATE_LIMITED);
    uint32_t delay = 7;
    f.has_retry_after = true;
    f.retry_after_ms = 5000;
    CHECK(phi__retry_wanted(&r, &f, 3, 0.9, &delay));
    CHECK_EQ_INT(delay, 5000);
    f.retry_after_ms = 0;
    CHECK(phi__retry_wanted(&r, &f, 3, 0.9, &delay));
    CHECK_EQ_INT(delay, 0);
    f.retry_after_ms = 45000; /* more than a delay of ours may be */
    CHECK(phi__retry_wanted(&r, &f, 1, 0.9, &delay));
    CHECK_EQ_INT(delay, 45000);
    CHECK(!phi__retry_wanted(&r, &f, 4, 0.9, &delay));
}

TEST(a_servers_delay_beyond_the_limit_is_not_waited_for) {
    phi_retry r = defaults();
    phi_failure f = passing(PHI_FAILURE_RATE_LIMITED);
    uint32_t delay = 7;
    f.has_retry_after = true;
    f.retry_after_ms = 60000;
    CHECK(phi__retry_wanted(&r, &f, 1, 0.5, &delay));
    CHECK_EQ_INT(delay, 60000);
    f.retry_after_ms = 60001;
    delay = 7;
    CHECK(!phi__retry_wanted(&r, &f, 1, 0.5, &delay));
    f.retry_after_ms = UINT64_MAX;
    CHECK(!phi__retry_wanted(&r, &f, 1, 0.5, &delay));
    r.max_server_delay_ms = PHI_UNLIMITED;
    CHECK(!phi__retry_wanted(&r, &f, 1, 0.5, &delay));
    CHECK_EQ_INT(delay, 7);
    f.retry_after_ms = UINT32_MAX;
    CHECK(phi__retry_wanted(&r, &f, 1, 0.5, &delay));
    CHECK(delay == UINT32_MAX);
}

TEST_MAIN(TEST_ENTRY(the_delay_doubles_up_to_the_greatest),
          TEST_ENTRY(chance_gives_or_takes_a_fifth_and_the_rest_is_cut_off),
          TEST_ENTRY(ten_thousand_delays_are_within_a_fifth_and_use_all_of_it),
          TEST_ENTRY(a_multiplier_may_be_a_fraction_or_shrink_the_delay),
          TEST_ENTRY(a_huge_attempt_is_the_greatest_delay),
          TEST_ENTRY(a_multiplier_that_is_no_number_leaves_the_delay_as_it_began),
          TEST_ENTRY(no_first_delay_or_no_greatest_is_no_delay),
          TEST_ENTRY(a_failure_that_may_pass_is_tried_as_often_as_wanted),
          TEST_ENTRY(a_failure_that_stays_or_a_policy_that_is_off_is_not_tried_again),
          TEST_ENTRY(an_overflow_is_never_tried_again_as_it_is),
          TEST_ENTRY(a_servers_delay_is_kept_as_it_is),
          TEST_ENTRY(a_servers_delay_beyond_the_limit_is_not_waited_for))
