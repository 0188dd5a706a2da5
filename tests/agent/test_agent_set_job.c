/* test_agent_set_job.c - a new compaction for an agent whose compactor is at work: the old job ends once the new one is taken. */
#include "support/heard.h"
#include "log/thread.h"
#include "model/texts.h"

#define LONG "A long answer, of which not every word is needed for ever and a day. "

#define FOCUS "Keep the names of places."

typedef struct worker {
    int starts, ends;
    const phi_compaction_request *request;
    phi_agent frees; /* by `end` */
} worker;

static phi_status work_start(void *user_data, const phi_compaction_request *request, void **job) {
    *job = user_data;
    ((worker *)user_data)->starts++;
    ((worker *)user_data)->request = request;
    return PHI_OK;
}

static phi_status work_poll(void *user_data, void *job, phi_rewrite *out) {
    (void)user_data, (void)job, (void)out;
    return PHI_BUSY;
}

static void work_end(void *user_data, void *job) {
    worker *w = (worker *)user_data;
    CHECK(job == w);
    CHECK_EQ_STR(w->request->config.focus_message, FOCUS);
    w->ends++;
    if (w->frees.rt != NULL) phi_agent_free(w->frees);
}

/* An idle agent whose compactor is at work. */
static phi_agent agent_compacting(rig *r, worker *w) {
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    memset(w, 0, sizeof *w);
    desc.compaction.max_context_tokens = 4000;
    desc.compaction.budget_threshold_pct = 0.9; /* it begins at a tenth */
    desc.compaction.focus_message = FOCUS;
    desc.compactor.start = work_start;
    desc.compactor.poll = work_poll;
    desc.compactor.end = work_end;
    desc.compactor.user_data = w;
    rig_mock(r);
    agent = rig_agent(r, &desc);
    while (w->starts == 0 && rig_requests(r) < 40) {
        rig_says(r, LONG LONG LONG LONG LONG LONG);
        CHECK_EQ_INT(phi_prompt(agent, "Hi"), PHI_OK);
        CHECK_EQ_INT(rig_run_until(r, 6000000), 0);
    }
    CHECK(w->starts == 1 && w->ends == 0);
    return agent;
}

TEST(the_compactors_job_ends_where_the_new_one_was_taken_and_not_before) {
    bool tripped = true;
    int n;
    for (n = 0; tripped && n < 100; n++) {
        rig *r = rig_new();
        worker w;
        phi_agent agent = agent_compacting(r, &w);
        phi_agent_desc to = PHI_ZERO, now;
        to.compaction.compact_at_pct = 2;
        CHECK_EQ_INT(phi_agent_set(agent, &to, PHI_SET_COMPACTION), PHI_BAD_ARG);
        CHECK_EQ_INT(w.ends, 0);
        memset(&to, 0, sizeof to);
        to.compaction.focus_message = "Mind the river.";
        to.thinking = PHI_THINKING_LOW;
        test_alloc_fail_at(n);
        (void)phi_agent_set(agent, &to, PHI_SET_COMPACTION | PHI_SET_THINKING);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK_EQ_INT(w.ends, tripped ? 0 : 1);
        CHECK_EQ_INT(phi_agent_get_desc(agent, &now), PHI_OK);
        CHECK((now.compactor.end != NULL) == tripped);
        rig_free(r);
        CHECK_EQ_INT(w.ends, 1);
    }
    CHECK(n > 2 && !tripped);
}

TEST(a_compactor_that_frees_the_agent_whose_settings_change_is_survived) {
    rig *r = rig_new();
    worker w;
    phi_agent agent = agent_compacting(r, &w);
    phi_agent_desc to = PHI_ZERO;
    w.frees = agent;
    CHECK_EQ_INT(phi_agent_set(agent, &to, PHI_SET_COMPACTION), PHI_STALE);
    CHECK_EQ_INT(w.ends, 1);
    CHECK(!phi_agent_alive(agent));
    rig_free(r);
}

TEST(a_job_has_its_own_copies_of_the_texts_and_goes_on_when_they_change) {
    rig *r = rig_new();
    worker w;
    phi_agent agent = agent_compacting(r, &w);
    phi_agent_desc to;
    phi_texts texts;
    char facts[] = "[Jetzt]";
    memset(&to, 0, sizeof to);
    memset(&texts, 0, sizeof texts);
    texts.at[PHI_TEXT_FACTS] = facts;
    to.texts = &texts;
    CHECK_EQ_INT(phi_agent_set(agent, &to, PHI_SET_TEXTS), PHI_OK);
    CHECK_EQ_INT(w.ends, 0);
    CHECK_EQ_INT(phi_agent_set(agent, &to, PHI_SET_TEXTS | PHI_SET_OPTIONS), PHI_OK);
    CHECK_EQ_INT(w.ends, 0);
    CHECK(w.request->config.texts == NULL); /* it began with phi's own */
    rig_free(r);
    CHECK_EQ_INT(w.ends, 1);
}

TEST_MAIN(TEST_ENTRY(a_job_has_its_own_copies_of_the_texts_and_goes_on_when_they_change),
          TEST_ENTRY(the_compactors_job_ends_where_the_new_one_was_taken_and_not_before),
          TEST_ENTRY(a_compactor_that_frees_the_agent_whose_settings_change_is_survived))
