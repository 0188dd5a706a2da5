/* test_compat_histories.c - the bodies of all requests of each scene, and the history at its end as it
   is sent by two other protocols; one-shot runs, and questions that are no model calls:
   tests/fixtures/compat/requests/histories. PHI_COMPAT_WRITE=1 writes missing ones (compat.h). */
#include "agent/one_shot_run.h"
#include "agent/query.h"
#include "compat/compat_wire.h"
#include "compat/scenes_crew.h"
#include "agent/agent_history.h"
#include "support/set.h"

/* The history, sent once more to a model of another protocol. Its answer is no stream of that. */
static void to_another(scene *s, const phi_model *model) {
    const phi_agent_desc plain = PHI_ZERO;
    (void)phi_agent_set(s->agent, &plain,
                        PHI_SET_RAW_TOOLS | PHI_SET_FAILOVER | PHI_SET_COMPACTION);
    CHECK_EQ_INT(set_provider(s->agent, NULL), PHI_OK);
    CHECK_EQ_INT(set_model(s->agent, model), PHI_OK);
    rig_says(s->r, "no stream of that protocol");
    if (phi_prompt(s->agent, "And you?") == PHI_OK) scene_end(s);
    rig_drop_answers(s->r);
}

/* Of many requests each third, and the last three: a later one holds the earlier ones. */
static void tell_requests(scene *s, compat_text *out) {
    size_t n = rig_requests(s->r), i;
    for (i = 0; i < n; i++) {
        if (n > 6 && i % 3 != 0 && i + 3 < n) continue;
        compat_print(out, "=== request %u\n", (unsigned)i + 1);
        compat_str(out, phi_str_of(rig_request(s->r, i)));
        compat_add(out, "\n", 1);
    }
}

static void each(const scene_kind *kinds, size_t count, bool translated) {
    phi_model chat = phi_model_openai("gpt-5-mini", "test-key");
    phi_model gemini = phi_model_google("gemini-3-pro-preview", "test-key");
    char name[160];
    size_t i;
    for (i = 0; i < count; i++) {
        compat_text out = PHI_ZERO;
        int failures = test_failures();
        scene s;
        scene_begin(&s, &kinds[i], NULL);
        (void)snprintf(name, sizeof name, "requests/histories/%s.txt", kinds[i].name);
        if ((kinds[i].flags & SCENE_FORGETS) == 0 && scene_open(&s)) {
            kinds[i].act(&s);
            kinds[i].rest(&s);
            rig_careless(s.r);
            if (translated) to_another(&s, &chat);
            if (translated) to_another(&s, &gemini);
            tell_requests(&s, &out);
            (void)compat_done(name, &out);
        }
        scene_close(&s);
        scene_failed(&kinds[i], failures);
    }
}

TEST(requests_of_runs_are_sent_as_before) {
    each(scenes_of_loops, PHI__COUNT(scenes_of_loops), false);
}
TEST(requests_of_hosts_are_sent_as_before) {
    each(scenes_of_hosts, PHI__COUNT(scenes_of_hosts), false);
}

TEST(requests_of_histories_are_sent_as_before) {
    each(scenes_of_histories, PHI__COUNT(scenes_of_histories), true);
}
TEST(requests_of_threads_are_sent_as_before) {
    each(scenes_of_threads, PHI__COUNT(scenes_of_threads), true);
}
TEST(requests_of_crews_are_sent_as_before) {
    each(scenes_of_crews, PHI__COUNT(scenes_of_crews), false);
}

/* ---- one-shot runs ---- */

static const scene_kind one_shot = {"one_shot", scene_plain_make, NULL, NULL, 0};

TEST(requests_of_one_shot_runs_are_sent_as_before) {
    static const char text[] = "One shot.";
    compat_text out = PHI_ZERO;
    phi_content block;
    phi_message message = said(PHI_ROLE_USER, &block, text);
    phi_run_desc run = PHI_ZERO;
    phi_thread *thread;
    scene s;
    scene_begin(&s, &one_shot, NULL);
    thread = phi_thread_new(rig_runtime(s.r), 0);
    CHECK_EQ_INT(phi_thread_append(thread, &message, 1, NULL), PHI_OK);
    rig_says(s.r, "First.");
    rig_says(s.r, "Second.");
    run.agent = &s.desc;
    run.thread = thread;
    run.metadata = "{\"n\":1}";
    run.loop_id = "my-loop";
    s.agent = phi_run(rig_runtime(s.r), &run);
    CHECK(s.agent.rt != NULL);
    scene_end(&s);
    run.prompts = &message;
    run.prompt_count = 1;
    run.loop_id = NULL;
    run.parent_loop_id = "my-loop";
    s.agent = phi_run(rig_runtime(s.r), &run);
    CHECK(s.agent.rt != NULL);
    scene_end(&s);
    scene_requests(&s, &out);
    (void)compat_done("requests/histories/one_shot_runs.txt", &out);
    phi_thread_free(thread);
    scene_close(&s);
}

/* ---- lists of models, and counted tokens ---- */

static void ask_for_models(compat_text *out, phi_model model) {
    compat_wire c;
    phi_query *query;
    if (!compat_open(&c)) return;
    c.w.answer = NULL;
    query = phi_models(c.rt, &model, NULL);
    if (query != NULL) {
        (void)phi_step(c.rt, 0);
        compat_tell(&c, "models");
        compat_add(out, c.out.at, c.out.len);
    }
    phi_query_free(query);
    compat_close(&c);
}

static void count_tokens(compat_text *out, phi_model model) {
    compat_wire c;
    phi_query *query;
    phi_tool tool = rig_echo();
    phi_agent_desc desc = compat_desc(model);
    phi_content block;
    phi_message message = said(PHI_ROLE_USER, &block, "How many?");
    desc.system_prompt = "S";
    desc.tools = &tool;
    desc.tool_count = 1;
    if (!compat_open(&c)) return;
    c.w.answer = NULL;
    if (compat_agent(&c, &desc)) {
        CHECK_EQ_INT(phi_thread_append(phi_agent_thread(c.agent), &message, 1, NULL), PHI_OK);
        query = phi_count_tokens(c.agent, NULL);
        if (query != NULL) {
            (void)phi_step(c.rt, 0);
            compat_tell(&c, "tokens");
            compat_add(out, c.out.at, c.out.len);
        }
        phi_query_free(query);
    }
    compat_close(&c);
}

TEST(queries_are_sent_as_before) {
    phi_model models[7];
    compat_text out = PHI_ZERO;
    size_t i;
    models[0] = phi_model_anthropic("claude-sonnet-4-5", "test-key");
    models[1] = phi_model_openai("gpt-5-mini", "test-key");
    models[2] = phi_model_openai_responses("gpt-5.4", "test-key");
    models[3] = phi_model_google("gemini-3-pro-preview", "test-key");
    models[4] = phi_model_interactions("gemini-3-pro-preview", "test-key");
    models[5] = phi_model_bedrock(NULL, "anthropic.claude-sonnet-4-5", "test:key");
    models[6] = phi_model_vertex("https://aiplatform.googleapis.com/v1/projects/P/locations/global",
                                 "gemini-3-pro-preview", "test-key");
    for (i = 0; i < PHI__COUNT(models); i++) {
        ask_for_models(&out, models[i]);
        count_tokens(&out, models[i]);
    }
    (void)compat_done("requests/histories/queries.txt", &out);
}

TEST(the_folder_has_no_other_histories) { compat_folder("requests/histories"); }

TEST_MAIN(TEST_ENTRY(requests_of_runs_are_sent_as_before),
          TEST_ENTRY(requests_of_hosts_are_sent_as_before),
          TEST_ENTRY(requests_of_histories_are_sent_as_before),
          TEST_ENTRY(requests_of_threads_are_sent_as_before),
          TEST_ENTRY(requests_of_crews_are_sent_as_before),
          TEST_ENTRY(requests_of_one_shot_runs_are_sent_as_before),
          TEST_ENTRY(queries_are_sent_as_before), TEST_ENTRY(the_folder_has_no_other_histories))
