/* test_credential.c - keys that the host gives for each attempt, and a fresh one where the last was
   refused: tokens that expire in mid-run. */
#include "support/rig.h"
#include "agent/agent_history.h"
#include "loop/hook.h"
#include "loop/run.h"

enum { MOST = 8 };

typedef struct vault {
    int asked, renewed;
    const char *keys[MOST];
    phi_verdict verdict;
} vault;

static phi_verdict give(void *user_data, phi_hook *hook) {
    vault *v = (vault *)user_data;
    if (hook->is_error) v->renewed++;
    if (CHECK(hook->model != NULL)) CHECK_EQ_STR(hook->model->id, "test-model");
    hook->reply = phi_str_of(v->keys[v->asked++ % MOST]);
    return v->verdict;
}

static phi_agent keyed(rig *r, vault *v, bool retries) {
    phi_agent_desc desc = rig_desc();
    desc.hook_fn = give;
    desc.hook_points = PHI_HOOK_CREDENTIAL;
    desc.user_data = v;
    desc.retry.disable = !retries;
    return rig_agent(r, &desc);
}

static size_t errors(rig *r) {
    size_t n = 0;
    const char *at = rig_story(r);
    while ((at = strstr(at, "\nError ")) != NULL) n++, at++;
    return n;
}

#define REFUSED                                                                                    \
    "{\"type\":\"error\",\"error\":{\"type\":\"authentication_error\",\"message\":\"expired\"}}"

TEST(each_attempt_has_the_key_that_the_host_gives_for_it) {
    rig *r = rig_new();
    vault v = {0, 0, {"first", "second", NULL}, PHI_ALLOW};
    phi_agent agent = keyed(r, &v, true);
    rig_replies(r, 529, "", "{\"error\":{\"message\":\"Overloaded\"}}");
    rig_says(r, "one");
    rig_says(r, "two");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run_until(r, 10000), 0);
    CHECK_EQ_STR(rig_key(r, 0), "first");
    CHECK_EQ_STR(rig_key(r, 1), "second");
    CHECK_EQ_STR(rig_request(r, 0), rig_request(r, 1));
    CHECK_EQ_INT(phi_prompt(agent, "on"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_STR(rig_key(r, 2), "test-key"); /* none was given: the model's own */
    CHECK_EQ_INT(v.renewed, 0);
    rig_free(r);
}

TEST(an_attempt_without_a_key_has_the_models_own_also_after_one_with) {
    rig *r = rig_new();
    vault v = {0, 0, {"first", NULL}, PHI_ALLOW};
    phi_agent agent = keyed(r, &v, true);
    rig_replies(r, 529, "", "{\"error\":{\"message\":\"Overloaded\"}}");
    rig_says(r, "one");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run_until(r, 10000), 0);
    CHECK_EQ_STR(rig_key(r, 0), "first");
    CHECK_EQ_STR(rig_key(r, 1), "test-key");
    rig_free(r);
}

static phi_verdict leave(void *user_data, phi_hook *hook) {
    (void)user_data;
    phi_agent_free(hook->agent);
    return PHI_ALLOW;
}

TEST(the_hook_may_free_its_agent) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    desc.hook_fn = leave;
    desc.hook_points = PHI_HOOK_CREDENTIAL;
    agent = rig_agent(r, &desc);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK(!phi_agent_alive(agent));
    CHECK_EQ_INT(rig_requests(r), 0);
    rig_free(r);
}

TEST(a_refused_key_is_asked_for_anew_once_and_that_is_no_retry) {
    rig *r = rig_new();
    vault v = {0, 0, {"old", "new"}, PHI_ALLOW};
    phi_agent agent = keyed(r, &v, false);
    rig_replies(r, 401, "", REFUSED);
    rig_says(r, "welcome");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(v.asked, 2);
    CHECK_EQ_INT(v.renewed, 1);
    CHECK_EQ_STR(rig_key(r, 1), "new");
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 2);
    CHECK(strstr(rig_story(r), "Retry") == NULL);
    CHECK_EQ_INT(errors(r), 0);
    rig_free(r);
}

TEST(a_407_of_a_proxy_asks_for_no_other_key) {
    rig *r = rig_new();
    vault v = {0, 0, {"old", "new"}, PHI_ALLOW};
    phi_agent agent = keyed(r, &v, false);
    rig_replies(r, 407, "", REFUSED);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(v.asked, 1);
    CHECK_EQ_INT(v.renewed, 0);
    CHECK_EQ_INT(errors(r), 1);
    rig_free(r);
}

TEST(a_second_refusal_ends_the_run) {
    rig *r = rig_new();
    vault v = {0, 0, {"old", "older"}, PHI_ALLOW};
    phi_agent agent = keyed(r, &v, true);
    rig_replies(r, 401, "", REFUSED);
    rig_replies(r, 401, "", REFUSED);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(v.asked, 2);
    CHECK_EQ_INT(errors(r), 1);
    CHECK(strstr(rig_story(r), "Auth error: expired") != NULL);
    rig_free(r);
}

TEST(without_the_hook_a_refused_key_is_not_tried_again) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    rig_replies(r, 401, "", REFUSED);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(rig_requests(r), 1);
    CHECK_EQ_INT(errors(r), 1);
    rig_free(r);
}

TEST(a_host_that_has_no_key_says_so_and_nothing_is_sent) {
    rig *r = rig_new();
    vault v = {0, 0, {"Log in first"}, PHI_DENY};
    phi_agent agent = keyed(r, &v, true);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(rig_requests(r), 0);
    CHECK_EQ_INT(v.asked, 1);
    CHECK(strstr(rig_story(r), "Error auth \"Log in first\"") != NULL);
    rig_free(r);
}

TEST(a_key_may_be_waited_for) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    rig_hooks(r, &desc, PHI_HOOK_CREDENTIAL);
    rig_answers(r, PHI_HOOK_CREDENTIAL, PHI_WAIT, NULL);
    agent = rig_agent(r, &desc);
    rig_says(r, "welcome");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 1);
    CHECK_EQ_INT(rig_requests(r), 0);
    CHECK_EQ_INT(phi_decide(rig_ticket(r, 0), PHI_ALLOW, "typed by hand"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_STR(rig_key(r, 0), "typed by hand");
    CHECK(strstr(rig_story(r), "typed by hand") == NULL); /* no event tells it */
    rig_free(r);
}

TEST(keys_survive_every_failed_allocation) {
    int n;
    bool tripped = true;
    for (n = 0; tripped && n < 400; n++) {
        rig *r = rig_new();
        vault v = {0, 0, {"old", "new"}, PHI_ALLOW};
        phi_agent agent = keyed(r, &v, false);
        rig_replies(r, 401, "", REFUSED);
        rig_says(r, "welcome");
        test_alloc_fail_at(n);
        if (phi_prompt(agent, "go") == PHI_OK) CHECK_EQ_INT(rig_run(r, 40), 0);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        rig_drop_answers(r);
        rig_says(r, "fine");
        CHECK_EQ_INT(phi_prompt(agent, "again"), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 40), 0);
        rig_free(r);
    }
    CHECK(!tripped);
}

TEST_MAIN(TEST_ENTRY(each_attempt_has_the_key_that_the_host_gives_for_it),
          TEST_ENTRY(an_attempt_without_a_key_has_the_models_own_also_after_one_with),
          TEST_ENTRY(the_hook_may_free_its_agent),
          TEST_ENTRY(a_refused_key_is_asked_for_anew_once_and_that_is_no_retry),
          TEST_ENTRY(a_407_of_a_proxy_asks_for_no_other_key),
          TEST_ENTRY(a_second_refusal_ends_the_run),
          TEST_ENTRY(without_the_hook_a_refused_key_is_not_tried_again),
          TEST_ENTRY(a_host_that_has_no_key_says_so_and_nothing_is_sent),
          TEST_ENTRY(a_key_may_be_waited_for), TEST_ENTRY(keys_survive_every_failed_allocation))
