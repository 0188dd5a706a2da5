/* test_remembering.c - a summary that a model wrote outlives phi's own plans, cuts and the memory limit. */
#include "agent/summary.h"

#include "loop/provider.h"
#include "persist/introspect.h"
#include "support/talk.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"

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
    CHECK_EQ_INT(talk_say(t, "I am Ada, and I come from over the hills, far away.", answer),
                 PHI_OK);
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
    static const char refused[] =
        "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\","
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

/* The obvious recipe. */
static void a_thousand_talks(size_t limit, const phi_compaction_config *config, size_t opens) {
    rig *r = rig_new();
    phi_agent_desc desc = desc_of(limit);
    scribe s;
    talk t;
    size_t i, failed = 0, peak = 0;
    scribe_register(r, &s);
    if (config != NULL) {
        rig_mock(r);
        desc.compaction = *config;
    }
    talk_begin(&t, r, &desc);
    failed += talk_say(&t, "I am Ada, and I come from over the hills, far away.", answer) != PHI_OK;
    for (i = 1; i < 1000; i++) failed += exchange(&t) != PHI_OK;
    CHECK_EQ_INT((int)failed, 0);
    CHECK(t.times > 0 || config != NULL);
    CHECK(s.opens >= (int)opens);
    CHECK_EQ_INT(talk_say(&t, "What am I called?", answer), PHI_OK);
    CHECK(shown(&t, "The player is called Ada."));
    peak = phi_agent_get_info(t.agent).memory_peak;
    CHECK(peak <= limit);
    rig_free(r);
}

TEST(with_64_kb_and_a_model_that_sums_up_the_first_of_a_thousand_talks_is_remembered) {
    a_thousand_talks(65536, NULL, 10);
}

TEST(near_the_window_with_64_kb_no_answer_fails_and_the_first_of_a_thousand_is_remembered) {
    phi_compaction_config config;
    memset(&config, 0, sizeof config);
    config.max_context_tokens = 4000;
    config.budget_threshold_pct = 0.5;
    config.system_prompt_tokens = 10;
    a_thousand_talks(65536, &config, 10);
}

TEST_MAIN(
    TEST_ENTRY(a_summary_of_a_model_outlives_a_hundred_plans_of_phi_s),
    TEST_ENTRY(a_writer_that_fails_near_the_window_loses_nothing_of_the_last_summary),
    TEST_ENTRY(the_writer_takes_the_last_summary_into_the_next_one),
    TEST_ENTRY(a_cut_takes_all_but_the_newest_message_before_a_summary),
    TEST_ENTRY(with_64_kb_and_a_model_that_sums_up_the_first_of_a_thousand_talks_is_remembered),
    TEST_ENTRY(
        near_the_window_with_64_kb_no_answer_fails_and_the_first_of_a_thousand_is_remembered))
