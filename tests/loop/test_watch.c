/* test_watch.c - agents that phi makes below another one: hidden or not, their events, the pauses
   between their states, the end of their runs, and who pays for them. */
#include "loop/inner_in.h"
#include "loop/state_in.h"

#include "support/heard.h"
#include "agent/agent_info.h"

/* A model in the process that has its answers from an agent below its own: a small strategy. */
typedef struct thinker {
    rig *r;
    phi_provider provider;
    phi_agent_desc child_desc;
    phi_agent child;
    bool hidden, of_run, reserves, refused, frees, over;
    uint64_t tokens, calls;
    phi_status status;
    int events, deltas, betweens, rounds, most;
    char text[200], reason[200];
} thinker;

static thinker *thinker_of(const phi__agent *child) { return (thinker *)child->tree.watched; }

static bool saw(phi__agent *child, const phi_event *event) {
    thinker *t = thinker_of(child);
    t->events++;
    if (event->kind != PHI_EV_TEXT) return false;
    t->deltas++;
    heard_copy(t->text, sizeof t->text, event->text);
    return true;
}

static void between(phi__agent *child) {
    thinker *t = thinker_of(child);
    t->betweens++;
    CHECK_EQ_INT(child->tree.due, 0);
    if (t->frees) phi_agent_free(child->handle);
    t->over = t->frees;
}

static void over(phi__agent *child, phi_status status, const phi_failure *failure, bool stopping) {
    thinker *t = thinker_of(child);
    (void)failure;
    (void)stopping;
    CHECK(child->run == NULL);
    t->status = status;
    t->rounds++;
    if (t->rounds < t->most)
        CHECK_EQ_INT(phi_prompt(child->handle, "Once more"), PHI_OK);
    else
        t->over = true;
}

static const phi__child_watch hidden_watch = {true, false, saw, between, over, NULL};
static const phi__child_watch shown_watch = {false, false, saw, NULL, over, NULL};

static phi_status think_open(void *user_data, const phi_model_request *request, void **call) {
    thinker *t = (thinker *)user_data;
    phi__agent *agent = phi__find_agent(request->agent), *child;
    *call = t;
    if (t->reserves &&
        !phi__pot_reserve(agent->run, t->tokens, 0, t->calls, t->reason, sizeof t->reason)) {
        t->refused = true;
        return PHI_LIMIT;
    }
    t->child_desc.parent = request->agent;
    t->child = rig_agent(t->r, &t->child_desc);
    child = phi__find_agent(t->child);
    child->tree.watch = t->hidden ? &hidden_watch : &shown_watch;
    child->tree.watched = t;
    child->tree.of_run = t->of_run;
    return phi_prompt(t->child, "Think");
}

static phi_poll think_poll(void *user_data, void *call, phi_answer *answer) {
    thinker *t = (thinker *)user_data;
    CHECK(call == t);
    if (!t->over) return PHI_POLL_AGAIN;
    phi_answer_text(answer, phi_str_of(t->text));
    return PHI_POLL_DONE;
}

static void think_close(void *user_data, void *call) {
    thinker *t = (thinker *)user_data;
    (void)call;
    if (t->hidden) phi_agent_free(t->child); /* its events would go with it */
}

static void thinker_begin(thinker *t, rig *r) {
    memset(t, 0, sizeof *t);
    t->r = r;
    t->provider.protocol = "think";
    t->provider.open = think_open;
    t->provider.poll = think_poll;
    t->provider.close = think_close;
    t->provider.user_data = t;
    t->child_desc = rig_desc();
    t->child_desc.max_tokens = 100;
    t->hidden = t->of_run = true;
    t->most = 1;
}

static phi_agent thinker_agent(thinker *t, const phi_budget *budget) {
    phi_agent_desc desc = rig_desc();
    desc.provider = &t->provider;
    desc.max_tokens = 100;
    if (budget != NULL) desc.budget = *budget;
    return rig_agent(t->r, &desc);
}

TEST(a_hidden_child_is_heard_by_its_watcher_alone) {
    rig *r = rig_new();
    thinker t;
    heard h;
    phi_agent agent;
    phi_usage usage;
    thinker_begin(&t, r);
    t.most = 2;
    heard_begin(&h, r);
    agent = thinker_agent(&t, NULL);
    rig_says(r, "Deep thought");
    rig_says(r, "Deeper thought");
    CHECK_EQ_INT(phi_prompt(agent, "Why?"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    CHECK_EQ_INT(h.starts, 1);
    CHECK_EQ_INT(h.status, PHI_OK);
    CHECK_EQ_STR(text_at(agent, 1, 0), "Deeper thought");
    CHECK_EQ_INT(t.rounds, 2);
    CHECK_EQ_INT(t.deltas, 2);
    CHECK_EQ_INT(t.betweens, 2);
    CHECK(t.events > 10);
    /* both calls are of the run */
    usage = phi_agent_get_info(agent).usage;
    CHECK(h.usage.output > 0 && usage.output == h.usage.output);
    CHECK_EQ_INT(phi_agent_get_info(agent).run_usage.output, h.usage.output);
    rig_free(r);
}

TEST(a_child_that_is_shown_is_heard_by_the_host_too) {
    rig *r = rig_new();
    thinker t;
    heard h;
    phi_agent agent;
    thinker_begin(&t, r);
    t.hidden = t.of_run = false;
    heard_begin(&h, r);
    agent = thinker_agent(&t, NULL);
    rig_says(r, "Said aloud");
    CHECK_EQ_INT(phi_prompt(agent, "Why?"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    CHECK_EQ_INT(h.starts, 2);
    CHECK_EQ_INT(h.ends, 2);
    CHECK_EQ_INT(t.deltas, 1);
    CHECK_EQ_INT(phi_agent_get_info(agent).usage.output, 0);
    rig_free(r);
}

TEST(a_child_may_be_freed_between_two_of_its_states) {
    rig *r = rig_new();
    thinker t;
    phi_agent agent;
    thinker_begin(&t, r);
    t.frees = true;
    agent = thinker_agent(&t, NULL);
    rig_says(r, "Gone");
    CHECK_EQ_INT(phi_prompt(agent, "Why?"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    CHECK_EQ_INT(t.rounds, 0);
    CHECK(!phi_agent_alive(t.child));
    CHECK_EQ_STR(text_at(agent, 1, 0), "Gone");
    rig_free(r);
}

/* ---- pots ---- */

static phi_budget budget_of(uint64_t tokens, uint64_t requests) {
    phi_budget budget;
    memset(&budget, 0, sizeof budget);
    budget.max_tokens = tokens;
    budget.max_requests = requests;
    return budget;
}

TEST(a_pot_is_reserved_before_the_first_call_and_pays_for_all) {
    rig *r = rig_new();
    thinker t;
    phi_agent agent;
    phi_spending spent;
    phi_budget budget = budget_of(2000, 2);
    thinker_begin(&t, r);
    t.reserves = true;
    t.tokens = 1900; /* more than the budget would have left beside it */
    t.calls = 2;
    t.most = 2;
    agent = thinker_agent(&t, &budget);
    rig_hangs(r, "");
    CHECK_EQ_INT(phi_prompt(agent, "Why?"), PHI_OK);
    (void)rig_run(r, 5);
    spent = phi_agent_get_info(agent).spending;
    CHECK_EQ_INT(spent.requests, 2); /* one is made, one is in the pot */
    CHECK_EQ_INT(spent.reserved_tokens, 1900);
    CHECK_EQ_INT(phi_abort(agent), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 50), 0);
    spent = phi_agent_get_info(agent).spending;
    CHECK_EQ_INT(spent.reserved_tokens, 0);
    CHECK_EQ_INT(spent.requests, 1); /* what was not used is given back */
    rig_free(r);
}

TEST(a_pot_that_does_not_fit_is_refused_before_any_call) {
    rig *r = rig_new();
    thinker t;
    phi_agent agent;
    phi_budget budget = budget_of(2000, 0);
    thinker_begin(&t, r);
    t.reserves = true;
    t.tokens = 2001;
    t.calls = 2;
    agent = thinker_agent(&t, &budget);
    CHECK_EQ_INT(phi_prompt(agent, "Why?"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    CHECK(t.refused);
    CHECK_EQ_STR(t.reason, "Token budget reached (0/2000, the next call may take 2001)");
    CHECK_EQ_INT(rig_requests(r), 0);
    CHECK_EQ_INT(phi_agent_get_info(agent).spending.reserved_tokens, 0);
    CHECK_EQ_INT(phi_agent_get_info(agent).spending.requests, 0);
    rig_free(r);
}

TEST(what_a_pot_has_not_is_reserved_beside_it) {
    rig *r = rig_new();
    thinker t;
    phi_agent agent;
    phi_budget budget = budget_of(0, 3);
    thinker_begin(&t, r);
    t.reserves = true;
    t.calls = 1;
    t.most = 4;
    agent = thinker_agent(&t, &budget);
    rig_says(r, "1");
    rig_says(r, "2");
    rig_says(r, "3");
    CHECK_EQ_INT(phi_prompt(agent, "Why?"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    CHECK_EQ_INT(t.rounds, 4);
    CHECK_EQ_INT(t.status, PHI_LIMIT); /* the fourth */
    CHECK_EQ_INT(rig_requests(r), 3);
    CHECK_EQ_INT(phi_agent_get_info(agent).spending.requests, 3);
    rig_free(r);
}

TEST_MAIN(TEST_ENTRY(a_hidden_child_is_heard_by_its_watcher_alone),
          TEST_ENTRY(a_child_that_is_shown_is_heard_by_the_host_too),
          TEST_ENTRY(a_child_may_be_freed_between_two_of_its_states),
          TEST_ENTRY(a_pot_is_reserved_before_the_first_call_and_pays_for_all),
          TEST_ENTRY(a_pot_that_does_not_fit_is_refused_before_any_call),
          TEST_ENTRY(what_a_pot_has_not_is_reserved_beside_it))
