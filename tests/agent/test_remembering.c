/* test_remembering.c - a summary that a model wrote outlives phi's own plans, cuts and the memory limit. */
#include "agent/summary.h"

#include "loop/provider.h"
#include "persist/introspect.h"
#include "support/talk.h"

/* The model that sums up. It passes on what it reads of Ada, and nothing else of what it reads. */
typedef struct scribe {
    int opens, fails_from; /* fails_from: answers from this one on are failures; 0: none */
    bool knows, hangs;
    char system[2000];
    char asked[4000]; /* the last prompt */
} scribe;

static phi_status scribe_open(void *user_data, const phi_model_request *request, void **call) {
    scribe *s = (scribe *)user_data;
    phi_str text = request->messages[0]->content[0].text;
    s->opens++;
    s->knows = false;
    (void)snprintf(s->asked, sizeof s->asked, "%.*s", (int)text.len, text.at);
    (void)snprintf(s->system, sizeof s->system, "%s", request->system_prompt.at);
    while (text.len >= 3 && !s->knows) {
        s->knows = memcmp(text.at, "Ada", 3) == 0;
        text.at++, text.len--;
    }
    *call = s;
    return PHI_OK;
}

static phi_poll scribe_poll(void *user_data, void *call, phi_answer *answer_of) {
    scribe *s = (scribe *)user_data;
    CHECK(call == s);
    if (s->hangs) return PHI_POLL_AGAIN;
    if (s->fails_from > 0 && s->opens >= s->fails_from) {
        phi_answer_fail(answer_of, PHI_FAILURE_INVALID_REQUEST, false, "the ink is dry");
        return PHI_POLL_DONE;
    }
    phi_answer_text(answer_of, phi_str_of(s->knows ? "The player is called Ada." : "They talked."));
    phi_answer_stop(answer_of, PHI_STOP_REASON_STOP);
    return PHI_POLL_DONE;
}

static void scribe_close(void *user_data, void *call) { CHECK(call == user_data); }

static phi_model quill;
static const phi_summary_desc plain = {&quill, NULL, 0, 0};

static void scribe_register(rig *r, scribe *s) {
    phi_provider provider;
    memset(s, 0, sizeof *s);
    memset(&provider, 0, sizeof provider);
    quill.protocol = "scribe";
    quill.id = "quill";
    provider.protocol = "scribe";
    provider.user_data = s;
    provider.open = scribe_open;
    provider.poll = scribe_poll;
    provider.close = scribe_close;
    CHECK_EQ_INT(phi_register_provider(rig_runtime(r), &provider), PHI_OK);
}

static phi_agent_desc desc_of(size_t limit) {
    phi_agent_desc desc = limited(limit, PHI_AT_MEMORY_LIMIT_COMPACT);
    desc.compactor = phi_compactor_model(&plain);
    return desc;
}

/* What the last request of the talk holds. */
static bool shown(talk *t, const char *what) {
    const char *request = rig_request(t->r, 0);
    return request != NULL && strstr(request, what) != NULL;
}

/* An agent whose history is the answer about Ada, summed up by the model. */
static void sum_up_ada(talk *t, rig *r, const phi_agent_desc *desc) {
    uint64_t count;
    rig_mock(r); /* its answers report no usage: the window is filled by estimate */
    talk_begin(t, r, desc);
    CHECK_EQ_INT(talk_say(t, "I am Ada, and I come from over the hills, far away.", answer), PHI_OK);
    count = phi_thread_count(phi_agent_thread(t->agent));
    CHECK_EQ_INT(phi_summarize(t->agent, 0, count - 1), PHI_OK);
    (void)rig_run(r, 50);
    CHECK_EQ_INT(exchange(t), PHI_OK);
    CHECK(shown(t, "[Summary] The player is called Ada."));
}

TEST(a_summary_of_a_model_outlives_a_hundred_plans_of_phi_s) {
    rig *r = rig_new();
    phi_agent_desc desc = desc_of(0);
    scribe s;
    talk t;
    int i;
    scribe_register(r, &s);
    sum_up_ada(&t, r, &desc);
    for (i = 0; i < 100; i++) {
        CHECK_EQ_INT(exchange(&t), PHI_OK);
        CHECK(shown(&t, "[Summary] The player is called Ada."));
        CHECK_EQ_INT(phi_compact(t.agent), PHI_OK);
        (void)rig_run(r, 50);
    }
    CHECK_EQ_INT(s.opens, 1);
    rig_free(r);
}

TEST(a_writer_that_fails_near_the_window_loses_nothing_of_the_last_summary) {
    rig *r = rig_new();
    phi_agent_desc desc = desc_of(0);
    scribe s;
    talk t;
    int i;
    desc.compaction.max_context_tokens = 1500;
    desc.compaction.system_prompt_tokens = 10;
    scribe_register(r, &s);
    s.fails_from = 2;
    sum_up_ada(&t, r, &desc);
    for (i = 0; i < 200; i++) {
        CHECK_EQ_INT(exchange(&t), PHI_OK);
        CHECK(shown(&t, "[Summary] The player is called Ada."));
    }
    CHECK(s.opens > 5);
    rig_free(r);
}

TEST(the_writer_takes_the_last_summary_into_the_next_one) {
    rig *r = rig_new();
    phi_agent_desc desc = desc_of(0);
    scribe s;
    talk t;
    int i;
    desc.compaction.max_context_tokens = 1500;
    desc.compaction.system_prompt_tokens = 10;
    desc.compaction.budget_threshold_pct = 0.4;
    scribe_register(r, &s);
    sum_up_ada(&t, r, &desc);
    for (i = 0; i < 200; i++) CHECK_EQ_INT(exchange(&t), PHI_OK);
    CHECK(s.opens > 5);
    CHECK(strstr(s.asked, "[Earlier summary] [Summary] The player is called Ada.") != NULL);
    CHECK(shown(&t, "[Summary] The player is called Ada."));
    rig_free(r);
}

TEST(a_cut_takes_all_but_the_newest_message_before_a_summary) {
    static const char refused[] = "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\","
                                  "\"message\":\"prompt is too long: 9 tokens > 8 maximum\"}}";
    rig *r = rig_new();
    phi_agent_desc desc = desc_of(0);
    scribe s;
    talk t;
    int i;
    desc.compaction.disable = true; /* then a refusal only cuts */
    scribe_register(r, &s);
    rig_mock(r);
    talk_begin(&t, r, &desc);
    CHECK_EQ_INT(exchange(&t), PHI_OK);
    CHECK_EQ_INT(talk_say(&t, "I am Ada, and I come from over the hills, far away.", answer),
                 PHI_OK);
    CHECK_EQ_INT(phi_summarize(t.agent, 3, phi_thread_count(phi_agent_thread(t.agent)) - 1),
                 PHI_OK);
    (void)rig_run(r, 50);
    for (i = 0; i < 6; i++) CHECK_EQ_INT(exchange(&t), PHI_OK);
    rig_forget(r);
    rig_rewind(r);
    for (i = 0; i < 2; i++) rig_replies(r, 400, "", refused);
    rig_says(r, answer);
    CHECK_EQ_INT(phi_prompt(t.agent, "Who am I?"), PHI_OK);
    (void)rig_run(r, 100);
    REQUIRE(rig_requests(r) == 3);
    CHECK(strstr(rig_request(r, 2), "[Context compacted: ") != NULL);
    CHECK(strstr(rig_request(r, 2), "[Summary] The player is called Ada.") != NULL);
    CHECK(strstr(rig_request(r, 2), "Who am I?") != NULL);
    rig_free(r);
}

TEST_MAIN(TEST_ENTRY(a_summary_of_a_model_outlives_a_hundred_plans_of_phi_s),
          TEST_ENTRY(a_writer_that_fails_near_the_window_loses_nothing_of_the_last_summary),
          TEST_ENTRY(the_writer_takes_the_last_summary_into_the_next_one),
          TEST_ENTRY(a_cut_takes_all_but_the_newest_message_before_a_summary))
