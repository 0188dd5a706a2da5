/* test_strategy.c - strategies as an agent's provider: the whole path through phi_step. */
#include "think.h"
#include "record/event_json.h"

#include "agent/snapshot.h"
#include "record/replay.h"
#include "support/outcome.h"
#include "support/store_mem.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "loop/hook.h"
#include "loop/input.h"
#include "text/json_in.h"

#include <stdlib.h>

/* ---- the order of events ---- */

enum { STORY_MOST = 1 << 16 };

static const char story_path[] = "tests/orchestrate/stories.txt";

typedef struct book {
    char text[STORY_MOST];
    size_t len;
} book;

static void book_add(book *b, const char *text) {
    size_t n = strlen(text);
    if (n >= sizeof b->text - b->len) abort();
    memcpy(b->text + b->len, text, n + 1);
    b->len += n;
}

static void book_tell(book *b, const phi_strategy *strategy, const void *options,
                      void (*script)(rig *r), const char *title) {
    think t;
    phi_agent agent;
    think_begin(&t, rig_new(), strategy, options);
    script(t.r);
    agent = think_agent(&t);
    CHECK_EQ_INT(phi_prompt(agent, "Make 24 of 4, 4 and 10."), PHI_OK);
    CHECK_EQ_INT(rig_run(t.r, 300), 0);
    book_add(b, "== ");
    book_add(b, title);
    book_add(b, "\n");
    book_add(b, rig_story(t.r));
    think_end(&t);
}

static void says_steps(rig *r) { rig_says(r, "Step 1: 10 - 4 is 6\nConclusion: (10 - 4) * 4"); }
static void says_draft(rig *r) { rig_says(r, "10 - 4: 6\n6 * 4: 24\n#### (10 - 4) * 4"); }
static void says_search(rig *r) {
    rig_says(r, "Trying promising first operation:\nStep 1: 10 - 4\nanswer: (10 - 4) * 4");
}
static void says_nothing(rig *r) { rig_says(r, "No idea."); }
static void says_tree(rig *r) { think_script_tree(r); }
static void says_prose(rig *r) {
    rig_says(r, "Let me think.");
    rig_says(r, "{\"thoughts\":[\"10 - 4\"]}");
    rig_says(r, "{\"scores\":{\"t1\":0.5}}");
    rig_says(r, "Hm.");
    rig_says(r, "Hm!");
}
static void breaks(rig *r) {
    rig_says(r, "{\"thoughts\":[\"10 - 4\"]}");
    rig_replies(r, 401, HEARD_JSON, HEARD_BOOM);
}
static void says_graph(rig *r) {
    rig_says(r, "1. 10 - 4 = 6\n2. 4 * 4 = 16");
    rig_says(r, "CONNECTION: [1] -> [2] : both use a 4");
    rig_says(r, "1. (10 - 4) * 4");
    rig_says(r, "NONE");
    rig_says(r, "(10 - 4) * 4");
}
static void says_votes(rig *r) {
    rig_says(r, "1. 4 * 4 + 10\n2. (10 - 4) * 4");
    rig_says(r, "NONE");
    rig_says(r, "VOTE: [2]");
    rig_says(r, "VOTE: [2]");
}
static void says_better(rig *r) {
    rig_says(r, "Answer: 4 * 4 + 10");
    rig_says(r, "ISSUE: that is 26\nSCORE: 0.2");
    rig_says(r, "10 - 4 first.");
    rig_says(r, "Answer: (10 - 4) * 4");
    rig_says(r, "STRENGTH: 24\nSCORE: 1.0");
}

TEST(the_order_of_events_of_each_strategy_is_as_written) {
    static book b;
    phi_got_options voting;
    const char *write = getenv("PHI_WRITE_STORY");
    char *want;
    memset(&b, 0, sizeof b);
    book_tell(&b, phi_strategy_cot(PHI_COT_STEPS), NULL, says_steps, "Chain-of-Thought");
    book_tell(&b, phi_strategy_cot(PHI_COT_DRAFTS), NULL, says_draft, "Chain-of-Draft");
    book_tell(&b, phi_strategy_aot(), NULL, says_search, "Algorithm-of-Thoughts");
    book_tell(&b, phi_strategy_aot(), NULL, says_nothing, "Algorithm-of-Thoughts, no answer");
    book_tell(&b, phi_strategy_tot(), think_tot(), says_tree, "Tree-of-Thoughts");
    book_tell(&b, phi_strategy_tot(), think_tot(), says_prose,
              "Tree-of-Thoughts, repaired, then not");
    book_tell(&b, phi_strategy_tot(), think_tot(), breaks, "Tree-of-Thoughts, the provider fails");
    memset(&voting, 0, sizeof voting);
    voting.aggregation = PHI_GOT_VOTING;
    voting.generations = 1;
    book_tell(&b, phi_strategy_got(), NULL, says_graph, "Graph-of-Thoughts");
    book_tell(&b, phi_strategy_got(), &voting, says_votes, "Graph-of-Thoughts, voting");
    book_tell(&b, phi_strategy_trm(), NULL, says_better, "TRM");
    book_tell(&b, phi_strategy_adaptive(), NULL, says_draft, "Adaptive, which chooses a draft");
    if (write != NULL && write[0] == '1') {
        FILE *file = fopen(story_path, "wb");
        if (CHECK(file != NULL)) {
            CHECK(fwrite(b.text, 1, b.len, file) == b.len);
            CHECK(fclose(file) == 0);
        }
    }
    want = test_read_file(story_path, NULL);
    if (want != NULL && !CHECK_EQ_STR(b.text, want))
        printf("  If the new order is right: PHI_WRITE_STORY=1 writes %s.\n", story_path);
    free(want);
}

/* ---- the log ---- */

TEST(scratch_work_is_on_a_lane_of_its_own_and_the_answer_in_the_conversation) {
    think t;
    phi_agent agent;
    const phi_thread *thread;
    const phi_view_item *items = NULL;
    size_t count = 0;
    char lane[200];
    think_begin(&t, rig_new(), phi_strategy_tot(), think_tot());
    think_script_tree(t.r);
    agent = think_agent(&t);
    CHECK_EQ_INT(phi_prompt(agent, "24?"), PHI_OK);
    CHECK_EQ_INT(rig_run(t.r, 200), 0);
    thread = phi_agent_thread(agent);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 2);
    CHECK_EQ_STR(text_at(agent, 0, 0), "24?");
    CHECK_EQ_STR(think_answer(agent), "(10 - 4) * 4");
    CHECK_EQ_INT(phi_thread_get_info(thread).lane_count, 2);
    (void)snprintf(lane, sizeof lane, "~tot/%s", t.h.loop_id);
    CHECK_STR(phi_str_of(phi_thread_lane_at(thread, 1)), lane);
    CHECK_EQ_INT(phi_thread_view(thread, lane, UINT64_MAX, &t.arena, &items, &count), PHI_OK);
    CHECK_EQ_INT(count, 8); /* four calls */
    CHECK_EQ_STR(think_result(&t, agent, "termination.reason"), "threshold");
    CHECK_EQ_STR(think_result(&t, agent, "best.path_text"), "[\"10 - 4\",\"(10 - 4) * 4\"]");
    think_end(&t);
}

TEST(usage_of_all_calls_is_the_runs) {
    think t;
    phi_agent agent;
    phi_usage usage;
    think_begin(&t, rig_new(), phi_strategy_tot(), think_tot());
    think_script_tree(t.r);
    agent = think_agent(&t);
    CHECK_EQ_INT(phi_prompt(agent, "24?"), PHI_OK);
    CHECK_EQ_INT(rig_run(t.r, 200), 0);
    usage = phi_agent_get_info(agent).usage;
    CHECK(usage.output > 0 && t.h.usage.output == usage.output);
    CHECK_EQ_INT(atoi(think_result(&t, agent, "usage.output")), usage.output);
    usage = phi_thread_get_info(phi_agent_thread(agent)).usage;
    CHECK_EQ_INT(usage.output, t.h.usage.output);
    think_end(&t);
}

TEST(a_conversation_goes_on_and_the_provider_can_be_swapped) {
    think t;
    phi_agent agent;
    think_begin(&t, rig_new(), phi_strategy_cot(PHI_COT_STEPS), NULL);
    t.agent_desc.system_prompt = "You are the miller.";
    rig_says(t.r, "Conclusion: four");
    rig_says(t.r, "Conclusion: five");
    agent = think_agent(&t);
    CHECK_EQ_INT(phi_prompt(agent, "2 + 2?"), PHI_OK);
    CHECK_EQ_INT(rig_run(t.r, 100), 0);
    CHECK_EQ_INT(phi_prompt(agent, "And one more?"), PHI_OK);
    CHECK_EQ_INT(rig_run(t.r, 100), 0);
    CHECK_EQ_STR(think_answer(agent), "five");
    CHECK_EQ_STR(think_result(&t, agent, "answer"), "five");
    /* the second call saw the first exchange, and who the agent is */
    CHECK(strstr(rig_request(t.r, 1), "2 + 2?") != NULL);
    CHECK(strstr(rig_request(t.r, 1), "\"four\"") != NULL);
    CHECK(strstr(rig_request(t.r, 1), "You are the miller.\\n\\nWork") != NULL);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 4);
    think_end(&t);
}

TEST(calls_of_a_strategy_say_what_the_agent_says_in_requests) {
    think t;
    phi_agent agent;
    think_begin(&t, rig_new(), phi_strategy_cot(PHI_COT_STEPS), NULL);
    t.agent_desc.options.extra = "{\"metadata\":{\"user_id\":\"u\"}}";
    t.agent_desc.options.top_p = 0.5;
    agent = think_agent(&t);
    rig_says(t.r, "Answer: 1");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(t.r, 100), 0);
    CHECK(strstr(rig_request(t.r, 0), "\"top_p\":0.5") != NULL);
    CHECK(strstr(rig_request(t.r, 0), "\"metadata\":{\"user_id\":\"u\"}") != NULL);
    think_end(&t);
}

TEST(a_search_gets_the_prompt_alone) {
    think t;
    phi_agent agent;
    think_begin(&t, rig_new(), phi_strategy_aot(), NULL);
    t.agent_desc.system_prompt = "You are the miller.";
    rig_says(t.r, "answer: 1");
    rig_says(t.r, "answer: 2");
    agent = think_agent(&t);
    CHECK_EQ_INT(phi_prompt(agent, "First"), PHI_OK);
    CHECK_EQ_INT(rig_run(t.r, 100), 0);
    CHECK_EQ_INT(phi_prompt(agent, "Second"), PHI_OK);
    CHECK_EQ_INT(rig_run(t.r, 100), 0);
    CHECK(strstr(rig_request(t.r, 1), "First") == NULL);
    CHECK(strstr(rig_request(t.r, 1), "Problem: Second") != NULL);
    CHECK(strstr(rig_request(t.r, 1), "\"max_tokens\":2048") != NULL);
    CHECK_EQ_STR(think_answer(agent), "2");
    think_end(&t);
}

TEST(every_call_of_a_strategy_begins_with_the_agents_system_prompt) {
    static const struct {
        const phi_strategy *(*strategy)(void);
        const char *says[3];
        const char *then[3]; /* how the strategy's own prompt begins */
    } cases[] = {
        {strategy_drafts, {"#### 4"}, {"Work the task out in drafts"}},
        {phi_strategy_aot, {"answer: 4"}, {"You solve problems"}},
        {phi_strategy_tot,
         {"{\"thoughts\":[\"4\"]}", "{\"scores\":{\"t1\":1.0}}", "{\"scores\":{\"t1\":1.0}}"},
         {"You propose thoughts", "You score thoughts", "You score thoughts"}},
        {phi_strategy_got,
         {"1. four\n2. 2 + 2", "NONE", "1. 4"},
         {"You propose thoughts", "You look for connections"}},
        {phi_strategy_trm, {"Answer: 4", "SCORE: 1.0"}, {"Solve the problem", "You review"}},
    };
    size_t i, j;
    for (i = 0; i < sizeof cases / sizeof *cases; i++) {
        think t;
        phi_agent agent;
        think_begin(&t, rig_new(), cases[i].strategy(), NULL);
        t.agent_desc.system_prompt = "You are the miller.";
        t.desc.max_calls = 3;
        for (j = 0; j < 3 && cases[i].says[j] != NULL; j++) rig_says(t.r, cases[i].says[j]);
        agent = think_agent(&t);
        CHECK_EQ_INT(phi_prompt(agent, "2 + 2?"), PHI_OK);
        CHECK_EQ_INT(rig_run(t.r, 200), 0);
        for (j = 0; j < 3 && cases[i].then[j] != NULL; j++) {
            char begins[80];
            (void)snprintf(begins, sizeof begins, "You are the miller.\\n\\n%s", cases[i].then[j]);
            CHECK(strstr(rig_request(t.r, j), begins) != NULL);
        }
        think_end(&t);
    }
}

TEST(a_history_that_ends_in_results_of_tools_continues) {
    static const phi_strategy *(*const kinds[])(void) = {strategy_steps, phi_strategy_aot};
    size_t i;
    for (i = 0; i < 2; i++) {
        think t;
        phi_agent agent;
        phi_content block;
        phi_message message;
        think_begin(&t, rig_new(), kinds[i](), NULL);
        rig_says(t.r, "Answer: noon");
        agent = think_agent(&t);
        message = text_message(PHI_ROLE_USER, &block, "What time is it?");
        CHECK_EQ_INT(phi_thread_append(phi_agent_thread(agent), &message, 1, NULL), PHI_OK);
        message = text_message(PHI_ROLE_ASSISTANT, &block, "");
        block.kind = PHI_CONTENT_TOOL_CALL;
        block.id = PHI__LIT("c1");
        block.name = PHI__LIT("clock");
        block.arguments = PHI__LIT("{}");
        message.stop_reason = PHI_STOP_REASON_TOOL_USE;
        CHECK_EQ_INT(phi_thread_append(phi_agent_thread(agent), &message, 1, NULL), PHI_OK);
        message = text_message(PHI_ROLE_TOOL_RESULT, &block, "12:00");
        message.tool_call_id = PHI__LIT("c1");
        message.tool_name = PHI__LIT("clock");
        CHECK_EQ_INT(phi_thread_append(phi_agent_thread(agent), &message, 1, NULL), PHI_OK);
        CHECK_EQ_INT(phi_continue(agent, PHI_CONTINUATION_DEFAULT), PHI_OK);
        CHECK_EQ_INT(rig_run(t.r, 100), 0);
        CHECK_EQ_STR(think_answer(agent), "noon");
        CHECK((strstr(rig_request(t.r, 0), "12:00") != NULL) == (i == 0));
        CHECK(strstr(rig_request(t.r, 0), "What time is it?") != NULL);
        think_end(&t);
    }
}

TEST(steering_in_the_midst_is_answered_after_it) {
    think t;
    phi_agent agent;
    think_begin(&t, rig_new(), phi_strategy_cot(PHI_COT_STEPS), NULL);
    rig_says(t.r, "Conclusion: four");
    rig_says(t.r, "Conclusion: 4");
    agent = think_agent(&t);
    CHECK_EQ_INT(phi_prompt(agent, "2 + 2?"), PHI_OK);
    (void)rig_step(t.r);
    CHECK_EQ_INT(phi_steer(agent, "In digits."), PHI_OK);
    CHECK_EQ_INT(rig_run(t.r, 100), 0);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 4);
    CHECK_EQ_STR(think_answer(agent), "4");
    CHECK_EQ_STR(think_result(&t, agent, "answer"), "4");
    think_end(&t);
}

/* ---- ends ---- */

TEST(an_abort_ends_the_calls_and_the_next_run_has_its_own_result) {
    think t;
    phi_agent agent;
    int steps;
    for (steps = 0; steps < 20; steps++) {
        think_begin(&t, rig_new(), phi_strategy_tot(), think_tot());
        think_script_tree(t.r);
        agent = think_agent(&t);
        CHECK_EQ_INT(phi_prompt(agent, "24?"), PHI_OK);
        if (rig_run(t.r, steps) == 0) {
            CHECK(steps > 4);
            think_end(&t);
            return;
        }
        CHECK_EQ_INT(phi_prompt(agent, "Too early"), PHI_BUSY);
        CHECK_EQ_INT(phi_abort(agent), PHI_OK);
        CHECK_EQ_INT(rig_run(t.r, 50), 0);
        CHECK_EQ_INT(t.h.status, PHI_CANCELLED);
        CHECK_EQ_INT(t.h.ends, 1);
        CHECK_EQ_INT(rig_open_transfers(t.r), 0);
        CHECK_EQ_STR(think_result(&t, agent, "best"), "(none)");
        rig_drop_answers(t.r);
        think_script_tree(t.r);
        CHECK_EQ_INT(phi_prompt(agent, "Again: 24?"), PHI_OK);
        CHECK_EQ_INT(rig_run(t.r, 100), 0);
        CHECK_EQ_INT(t.h.status, PHI_OK);
        CHECK_EQ_INT(t.h.ends, 2);
        CHECK_EQ_STR(think_result(&t, agent, "best.content"), "(10 - 4) * 4");
        think_end(&t);
        if (test_failures() > 0) return;
    }
}

TEST(a_provider_error_is_the_runs_with_the_text_so_far_in_the_result) {
    think t;
    phi_agent agent;
    const char *whole = rig_stream_of("Step 1: half");
    char broken[2000];
    (void)snprintf(broken, sizeof broken, "%.*s",
                   (int)(strstr(whole, "event: content_block_stop") - whole), whole);
    think_begin(&t, rig_new(), phi_strategy_aot(), NULL);
    rig_breaks(t.r, broken, PHI_NETWORK, "the connection was cut");
    agent = think_agent(&t);
    CHECK_EQ_INT(phi_prompt(agent, "24?"), PHI_OK);
    CHECK_EQ_INT(rig_run(t.r, 100), 0);
    CHECK_EQ_INT(t.h.status, PHI_NETWORK);
    CHECK(strstr(rig_story(t.r), "Error network") != NULL);
    CHECK_EQ_STR(think_result(&t, agent, "raw_response"), "Step 1: half");
    CHECK_EQ_STR(think_result(&t, agent, "termination.status"), "error");
    /* the next one begins anew */
    rig_says(t.r, "answer: 4");
    CHECK_EQ_INT(phi_prompt(agent, "24?"), PHI_OK);
    CHECK_EQ_INT(rig_run(t.r, 100), 0);
    CHECK_EQ_STR(think_result(&t, agent, "answer"), "4");
    think_end(&t);
}

TEST(when_the_calls_are_used_up_the_best_so_far_is_the_answer) {
    think t;
    phi_agent agent;
    phi_strategy_bill bill;
    think_begin(&t, rig_new(), phi_strategy_tot(), think_tot());
    t.desc.max_calls = 3;
    think_script_tree(t.r);
    CHECK_EQ_INT(strategy_worst(&t.desc, 10, 100, &bill), PHI_OK);
    CHECK_EQ_INT(bill.calls, 3);
    agent = think_agent(&t);
    CHECK_EQ_INT(phi_prompt(agent, "24?"), PHI_OK);
    CHECK_EQ_INT(rig_run(t.r, 100), 0);
    CHECK_EQ_INT(rig_requests(t.r), 3);
    CHECK_EQ_INT(t.h.status, PHI_OK);
    CHECK_EQ_STR(think_answer(agent), "10 - 4");
    CHECK_EQ_STR(think_result(&t, agent, "termination.reason"), "max_calls");
    think_end(&t);
}

TEST(the_best_so_far_can_be_seen_and_settled_for) {
    think t;
    phi_agent agent;
    phi_strategy_best best;
    phi_memory little;
    phi_arena full;
    think_begin(&t, rig_new(), phi_strategy_tot(), think_tot());
    rig_says(t.r, "{\"thoughts\":[\"10 - 4\"]}");
    rig_says(t.r, "{\"scores\":{\"t1\":0.5}}");
    rig_hangs(t.r, "");
    agent = think_agent(&t);
    CHECK_EQ_INT(strategy_best(agent, &t.arena, &best), PHI_NOT_FOUND);
    CHECK_EQ_INT(phi_strategy_settle(agent), PHI_NOT_FOUND);
    CHECK_EQ_INT(phi_prompt(agent, "24?"), PHI_OK);
    CHECK(rig_run(t.r, 50) > 0);
    CHECK_EQ_INT(strategy_best(agent, &t.arena, &best), PHI_OK);
    CHECK_STR(best.text, "10 - 4");
    CHECK(best.has_score && best.score >= 0.5 && best.nodes == 1);
    phi_memory_init(&little, NULL, 1);
    phi_arena_init(&full, &little, 0);
    CHECK_EQ_INT(strategy_best(agent, &full, &best), PHI_NO_MEMORY);
    CHECK_EQ_INT(best.text.len, 0); /* nothing of the strategy's own */
    CHECK_EQ_STR(think_result(&t, agent, "best"), "(none)");
    CHECK_EQ_INT(phi_strategy_settle(agent), PHI_OK);
    CHECK_EQ_INT(rig_run(t.r, 20), 0);
    CHECK_EQ_STR(think_answer(agent), "10 - 4");
    CHECK_EQ_STR(think_result(&t, agent, "termination.reason"), "stopped");
    CHECK_EQ_INT(rig_open_transfers(t.r), 0);
    think_end(&t);
}

/* ---- budgets ---- */

TEST(the_worst_case_is_reserved_before_the_first_call_or_refused_with_words) {
    think t;
    phi_agent agent;
    think_begin(&t, rig_new(), phi_strategy_tot(), think_tot());
    t.agent_desc.budget.max_requests = 10;
    think_script_tree(t.r);
    agent = think_agent(&t);
    CHECK_EQ_INT(phi_prompt(agent, "24?"), PHI_OK);
    CHECK_EQ_INT(rig_run(t.r, 100), 0);
    CHECK_EQ_INT(rig_requests(t.r), 0);
    CHECK(t.h.status != PHI_OK);
    CHECK(strstr(rig_story(t.r), "strategy tot: up to 52 model calls: Request budget reached") !=
          NULL);
    think_end(&t);
    think_begin(&t, rig_new(), phi_strategy_tot(), think_tot());
    t.agent_desc.budget.max_requests = 10;
    t.desc.max_calls = 8;
    think_script_tree(t.r);
    agent = think_agent(&t);
    CHECK_EQ_INT(phi_prompt(agent, "24?"), PHI_OK);
    CHECK_EQ_INT(rig_run(t.r, 100), 0);
    CHECK_EQ_STR(think_answer(agent), "(10 - 4) * 4");
    CHECK_EQ_INT(phi_agent_get_info(agent).spending.reserved_tokens, 0);
    think_end(&t);
}

TEST(a_limit_that_is_reached_in_the_midst_ends_with_the_best) {
    int which;
    for (which = 0; which < 4; which++) {
        think t;
        phi_agent agent;
        think_begin(&t, rig_new(), phi_strategy_tot(), think_tot());
        t.agent_desc.model.cost.output = 1000.0;
        /* a call of the script takes 15 tokens, 5 of them output: half a cent */
        if (which == 0) t.agent_desc.limits.max_tokens = 31;
        if (which == 1) t.agent_desc.limits.max_cost = 0.011;
        if (which == 2) t.agent_desc.limits.max_duration_ms = 200;
        if (which == 3) {
            t.agent_desc.limits.max_tokens = 31;
            t.agent_desc.limits.pause = true; /* it would pause before the next turn */
        }
        think_script_tree(t.r);
        if (which == 2) {
            rig_drop_answers(t.r);
            rig_says(t.r, "1. 10 - 4");
            rig_says(t.r, "1. 0.5");
            rig_hangs(t.r, "");
        }
        agent = think_agent(&t);
        CHECK_EQ_INT(phi_prompt(agent, "24?"), PHI_OK);
        CHECK_EQ_INT(rig_run_until(t.r, 1000), 0);
        CHECK_EQ_INT(t.h.status, PHI_OK);
        CHECK_EQ_INT(rig_requests(t.r), which == 3 ? 4 : 3);
        CHECK_EQ_STR(think_answer(agent), which == 3 ? "(10 - 4) * 4" : "10 - 4");
        if (which < 3) CHECK_EQ_STR(think_result(&t, agent, "termination.reason"), "stopped");
        think_end(&t);
    }
}

/* ---- tools ---- */

TEST(thoughts_may_call_the_agents_tools) {
    think t;
    phi_agent agent;
    phi_tool echo = rig_echo();
    phi_tot_options options;
    options = *think_tot();
    options.tools = true;
    think_begin(&t, rig_new(), phi_strategy_tot(), &options);
    rig_hooks(t.r, &t.agent_desc, PHI_HOOK_BEFORE_TOOL);
    t.agent_desc.tools = &echo;
    t.agent_desc.tool_count = 1;
    rig_call(t.r, "c1", "echo", "{\"n\":1}");
    think_script_tree(t.r);
    agent = think_agent(&t);
    CHECK_EQ_INT(phi_prompt(agent, "24?"), PHI_OK);
    CHECK_EQ_INT(rig_run(t.r, 200), 0);
    CHECK_EQ_STR(think_answer(agent), "(10 - 4) * 4");
    CHECK_EQ_STR(think_result(&t, agent, "diagnostics.tool_rounds"), "{\"1\":1}");
    CHECK(strstr(rig_story(t.r), "-> before_tool c1 echo({\"n\":1})\n") != NULL);
    CHECK(strstr(rig_request(t.r, 1), "tool_result") != NULL);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 2);
    think_end(&t);
}

TEST(a_round_of_tools_too_many_is_an_error) {
    think t;
    phi_agent agent;
    phi_tool echo = rig_echo();
    phi_tot_options options;
    int i;
    options = *think_tot();
    options.tools = true;
    options.max_tool_rounds = 2;
    think_begin(&t, rig_new(), phi_strategy_tot(), &options);
    t.agent_desc.tools = &echo;
    t.agent_desc.tool_count = 1;
    for (i = 0; i < 6; i++)
        rig_call(t.r, i % 2 == 0 ? "c1" : "c2", "echo", i % 2 == 0 ? "{}" : "{\"n\":2}");
    agent = think_agent(&t);
    CHECK_EQ_INT(phi_prompt(agent, "24?"), PHI_OK);
    CHECK_EQ_INT(rig_run(t.r, 200), 0);
    CHECK_EQ_INT(rig_requests(t.r), 3);
    CHECK_EQ_INT(t.h.status, PHI_LIMIT);
    CHECK_EQ_STR(think_result(&t, agent, "diagnostics.error"), "max_tool_round_trips_reached");
    think_end(&t);
}

TEST(a_decision_about_a_thoughts_tool_is_the_hosts) {
    think t;
    phi_agent agent;
    phi_tool echo = rig_echo();
    phi_tot_options options;
    options = *think_tot();
    options.tools = true;
    think_begin(&t, rig_new(), phi_strategy_tot(), &options);
    rig_hooks(t.r, &t.agent_desc, PHI_HOOK_BEFORE_TOOL);
    rig_answers(t.r, PHI_HOOK_BEFORE_TOOL, PHI_WAIT, NULL);
    t.agent_desc.tools = &echo;
    t.agent_desc.tool_count = 1;
    rig_call(t.r, "c1", "echo", "{\"n\":1}");
    think_script_tree(t.r);
    agent = think_agent(&t);
    CHECK_EQ_INT(phi_prompt(agent, "24?"), PHI_OK);
    CHECK(rig_run(t.r, 50) > 0);
    CHECK(strstr(rig_story(t.r), "Decision") != NULL);
    CHECK_EQ_INT(phi_decide(rig_ticket(t.r, 0), PHI_ALLOW, NULL), PHI_OK);
    CHECK_EQ_INT(rig_run(t.r, 100), 0);
    CHECK_EQ_STR(think_answer(agent), "(10 - 4) * 4");
    think_end(&t);
}

/* ---- a snapshot at each step ---- */

TEST(a_snapshot_in_the_midst_resumes_the_search) {
    int steps;
    for (steps = 0; steps < 14; steps++) {
        think t, u;
        phi_agent agent, other;
        phi_str text;
        size_t asked, i;
        static const char *const answers[] = {"{\"thoughts\":[\"4 * 4\",\"10 - 4\",\"10 + 4\"]}",
                                              "{\"scores\":{\"t1\":0.2,\"t2\":0.7,\"t3\":0.4}}",
                                              "{\"thoughts\":[\"(10 - 4) + 4\",\"(10 - 4) * 4\"]}",
                                              "{\"scores\":{\"t1\":0.1,\"t2\":1.0}}"};
        think_begin(&t, rig_new(), phi_strategy_tot(), think_tot());
        t.agent_desc.budget.max_requests = 60;
        think_script_tree(t.r);
        agent = think_agent(&t);
        CHECK_EQ_INT(phi_prompt(agent, "24?"), PHI_OK);
        if (rig_run(t.r, steps) == 0) {
            CHECK_EQ_INT(phi_agent_get_info(agent).spending.requests, 4);
            think_end(&t);
            CHECK(steps > 3);
            return;
        }
        CHECK_EQ_INT(phi_agent_snapshot(agent, &t.arena, &text), PHI_OK);
        think_begin(&u, rig_new(), phi_strategy_tot(), think_tot());
        u.provider = phi_strategy_provider(&u.desc);
        /* the call under way is made again */
        {
            phi__json_found made;
            asked = 0;
            if (phi__json_cursor_find(text, "attached.strategy.state.call_id", &made) == PHI_OK)
                asked = (size_t)atoi(made.raw.at) - 1;
        }
        for (i = asked; i < 4; i++) rig_says(u.r, answers[i]);
        other = phi_agent_restore(rig_runtime(u.r), &u.agent_desc, text, PHI_RESTORE_RESUME);
        CHECK(other.rt != NULL);
        CHECK_EQ_INT(rig_run(u.r, 200), 0);
        CHECK_EQ_INT(rig_requests(u.r), 4 - asked);
        CHECK_EQ_STR(think_answer(other), "(10 - 4) * 4");
        CHECK_EQ_STR(think_result(&u, other, "best.path_ids"), "[2,5]");
        CHECK_EQ_INT(phi_agent_get_info(other).spending.reserved_tokens, 0);
        CHECK(phi_agent_get_info(other).spending.requests <= 5); /* one was sent twice */
        think_end(&u);
        think_end(&t);
        if (test_failures() > 0) {
            printf("after %d steps\n", steps);
            return;
        }
    }
    CHECK(false && "the run must have ended");
}

TEST(a_store_keeps_the_scratch_work_and_the_result) {
    store_mem *store = store_mem_new();
    uint64_t hash = 0;
    int round;
    for (round = 0; round < 2; round++) {
        think t;
        phi_agent agent;
        const phi_thread *thread;
        const phi_view_item *items = NULL;
        char lane[200];
        size_t count = 0;
        think_begin(&t, rig_new(), phi_strategy_tot(), think_tot());
        t.agent_desc.store = store_mem_store(store);
        t.agent_desc.thread_id = "t";
        think_script_tree(t.r);
        agent = think_agent(&t);
        thread = phi_agent_thread(agent);
        if (round == 0) {
            CHECK_EQ_INT(phi_prompt(agent, "24?"), PHI_OK);
            CHECK_EQ_INT(rig_run(t.r, 200), 0);
            hash = phi_thread_hash(thread);
        }
        CHECK(phi_thread_hash(thread) == hash);
        CHECK_EQ_STR(think_result(&t, agent, "best.content"), "(10 - 4) * 4");
        (void)snprintf(lane, sizeof lane, "%.*s",
                       (int)phi_str_of(phi_thread_lane_at(thread, 1)).len,
                       phi_thread_lane_at(thread, 1));
        CHECK(begins(lane, "~tot/"));
        CHECK_EQ_INT(phi_thread_view(thread, lane, UINT64_MAX, &t.arena, &items, &count), PHI_OK);
        CHECK_EQ_INT(count, 8);
        think_end(&t);
    }
    store_mem_free(store);
}

/* ---- memory ---- */

/* Scratch lanes would fill the memory for good. */
TEST(an_agent_at_its_memory_limit_forgets_scratch_work_first) {
    think t;
    phi_agent agent;
    int i;
    think_begin(&t, rig_new(), phi_strategy_tot(), think_tot());
    t.agent_desc.memory.limit_bytes = 200000;
    agent = think_agent(&t);
    CHECK_EQ_INT(phi_thread_fork_lane(phi_agent_thread(agent), "other", NULL, UINT64_MAX), PHI_OK);
    for (i = 0; i < 60 && test_failures() == 0; i++) {
        rig_rewind(t.r);
        think_script_tree(t.r);
        CHECK_EQ_INT(phi_prompt(agent, "24?"), PHI_OK);
        CHECK_EQ_INT(rig_run(t.r, 100), 0);
        CHECK_EQ_INT(t.h.status, PHI_OK);
        CHECK_EQ_STR(think_answer(agent), "(10 - 4) * 4");
    }
    CHECK(count_of(rig_story(t.r), "Forgotten") > 0);
    CHECK(phi_thread_get_info(phi_agent_thread(agent)).lane_count < 30);
    CHECK_STR(phi_str_of(phi_thread_lane_at(phi_agent_thread(agent), 1)), "other");
    think_end(&t);
}

static void scenario(void) {
    think t;
    phi_agent agent;
    rig *r = rig_new_with(NULL);
    phi_tool echo = rig_echo();
    phi_tot_options options;
    if (r == NULL) return;
    options = *think_tot();
    options.tools = true;
    think_begin(&t, r, phi_strategy_tot(), &options);
    t.agent_desc.tools = &echo;
    t.agent_desc.tool_count = 1;
    rig_call(t.r, "c1", "echo", "{\"n\":1}");
    think_script_tree(t.r);
    agent = think_agent(&t);
    if (agent.rt != NULL && phi_prompt(agent, "24?") == PHI_OK) {
        CHECK_EQ_INT(rig_run(t.r, 200), 0);
        CHECK_EQ_INT(t.h.ends, 1);
        if (t.h.status == PHI_OK) CHECK_EQ_STR(think_answer(agent), "(10 - 4) * 4");
    }
    think_end(&t);
}

TEST(a_search_survives_every_failed_allocation) {
    int n = 0;
    bool tripped;
    do {
        test_alloc_fail_at(n);
        scenario();
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        if (test_failures() > 0) {
            printf("allocation %d\n", n);
            return;
        }
        n++;
    } while (tripped);
    CHECK(n > 50);
}

/* A restored search with each allocation failing once: it is restored, or nothing is left. */
TEST(a_search_is_restored_or_refused_at_every_failed_allocation) {
    think t;
    phi_agent agent;
    phi_str text;
    int n;
    think_begin(&t, rig_new(), phi_strategy_tot(), think_tot());
    rig_says(t.r, "{\"thoughts\":[\"4 * 4\",\"10 - 4\",\"10 + 4\"]}");
    rig_says(t.r, "{\"scores\":{\"t1\":0.2,\"t2\":0.7,\"t3\":0.4}}");
    rig_hangs(t.r, "");
    agent = think_agent(&t);
    CHECK_EQ_INT(phi_prompt(agent, "24?"), PHI_OK);
    CHECK(rig_run(t.r, 50) > 0);
    CHECK_EQ_INT(phi_agent_snapshot(agent, &t.arena, &text), PHI_OK);
    for (n = 0; n < 400 && test_failures() == 0; n++) {
        think u;
        phi_agent other;
        bool tripped;
        think_begin(&u, rig_new(), phi_strategy_tot(), think_tot());
        u.provider = phi_strategy_provider(&u.desc);
        rig_says(u.r, "{\"thoughts\":[\"(10 - 4) * 4\"]}");
        rig_says(u.r, "{\"scores\":{\"t1\":1}}");
        test_alloc_fail_at(n);
        other = phi_agent_restore(rig_runtime(u.r), &u.agent_desc, text, PHI_RESTORE_RESUME);
        if (other.rt != NULL) {
            CHECK_EQ_INT(rig_run(u.r, 200), 0);
            CHECK_EQ_INT(u.h.ends, 1);
            if (u.h.status == PHI_OK) CHECK_EQ_STR(think_answer(other), "(10 - 4) * 4");
        }
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        think_end(&u);
        if (!tripped) break;
    }
    CHECK(n > 50 && n < 400);
    think_end(&t);
}

/* ---- time ---- */

TEST(a_search_that_is_out_of_time_ends_with_the_best) {
    think t;
    phi_agent agent;
    phi_tot_options options;
    options = *think_tot();
    options.max_duration_ms = 500;
    think_begin(&t, rig_new(), phi_strategy_tot(), &options);
    rig_says(t.r, "{\"thoughts\":[\"10 - 4\"]}");
    rig_says(t.r, "{\"scores\":{\"t1\":0.5}}");
    rig_hangs(t.r, "");
    agent = think_agent(&t);
    CHECK_EQ_INT(phi_prompt(agent, "24?"), PHI_OK);
    CHECK_EQ_INT(rig_run_until(t.r, 5000), 0);
    CHECK_EQ_INT(t.h.status, PHI_OK);
    CHECK_EQ_STR(think_answer(agent), "10 - 4");
    CHECK_EQ_STR(think_result(&t, agent, "termination.reason"), "max_duration");
    think_end(&t);
}

TEST(a_call_that_takes_too_long_is_the_runs_error) {
    think t;
    phi_agent agent;
    think_begin(&t, rig_new(), phi_strategy_cot(PHI_COT_STEPS), NULL);
    t.desc.call_timeout_ms = 300;
    rig_hangs(t.r, "");
    agent = think_agent(&t);
    CHECK_EQ_INT(phi_prompt(agent, "24?"), PHI_OK);
    CHECK_EQ_INT(rig_run_until(t.r, 5000), 0);
    CHECK_EQ_INT(t.h.status, PHI_TIMEOUT);
    CHECK_EQ_STR(think_result(&t, agent, "termination.status"), "error");
    think_end(&t);
}

/* ---- a strategy inside a strategy ---- */

TEST(the_calls_of_a_search_can_be_those_of_another_strategy) {
    think t;
    phi_agent agent;
    phi_strategy_desc inner;
    phi_provider draft;
    memset(&inner, 0, sizeof inner);
    inner.strategy = phi_strategy_cot(PHI_COT_DRAFTS);
    draft = phi_strategy_provider(&inner);
    think_begin(&t, rig_new(), phi_strategy_tot(), think_tot());
    t.desc.provider = &draft;
    t.agent_desc.budget.max_requests = 60;
    rig_says(t.r, "hm\n#### {\"thoughts\":[\"4 * 4\",\"10 - 4\",\"10 + 4\"]}");
    rig_says(t.r, "hm\n#### {\"scores\":{\"t1\":0.2,\"t2\":0.7,\"t3\":0.4}}");
    rig_says(t.r, "hm\n#### {\"thoughts\":[\"(10 - 4) * 4\"]}");
    rig_says(t.r, "hm\n#### {\"scores\":{\"t1\":1}}");
    agent = think_agent(&t);
    CHECK_EQ_INT(phi_prompt(agent, "24?"), PHI_OK);
    CHECK_EQ_INT(rig_run(t.r, 300), 0);
    CHECK_EQ_STR(think_answer(agent), "(10 - 4) * 4");
    CHECK_EQ_INT(phi_agent_get_info(agent).spending.reserved_tokens, 0);
    CHECK_EQ_INT(phi_agent_get_info(agent).usage.output, t.h.usage.output);
    CHECK(t.h.usage.output > 0);
    CHECK(strstr(rig_request(t.r, 0), "in drafts before you answer") != NULL);
    think_end(&t);
}

TEST(a_strategy_that_would_make_its_own_calls_is_refused) {
    think t;
    phi_agent agent;
    phi_provider own;
    think_begin(&t, rig_new(), phi_strategy_cot(PHI_COT_STEPS), NULL);
    own = phi_strategy_provider(&t.desc);
    own.protocol = t.agent_desc.model.protocol;
    CHECK_EQ_INT(phi_register_provider(rig_runtime(t.r), &own), PHI_OK);
    t.agent_desc.provider = NULL;
    agent = rig_agent(t.r, &t.agent_desc);
    CHECK_EQ_INT(phi_prompt(agent, "24?"), PHI_OK);
    CHECK_EQ_INT(rig_run(t.r, 100), 0);
    CHECK_EQ_INT(t.h.status, PHI_REFUSED);
    CHECK(strstr(rig_story(t.r), "a strategy cannot make its own model calls: set provider") !=
          NULL);
    think_end(&t);
}

TEST(progress_that_was_not_popped_outlives_the_history) {
    think t;
    phi_agent agent;
    think_begin(&t, rig_new(), phi_strategy_tot(), think_tot());
    think_script_tree(t.r);
    agent = think_agent(&t);
    CHECK_EQ_INT(phi_prompt(agent, "24?"), PHI_OK);
    rig_silent(t.r, true);
    CHECK_EQ_INT(rig_run(t.r, 100), 0);
    CHECK_EQ_INT(phi_agent_replace_messages(agent, NULL, 0), PHI_OK);
    CHECK_EQ_STR(think_result(&t, agent, "best"), "(none)");
    rig_silent(t.r, false);
    (void)rig_run(t.r, 2); /* reads all of them, or they went with the history */
    think_script_tree(t.r);
    CHECK_EQ_INT(phi_prompt(agent, "24?"), PHI_OK);
    CHECK_EQ_INT(rig_run(t.r, 100), 0);
    CHECK_EQ_STR(think_result(&t, agent, "best.content"), "(10 - 4) * 4");
    think_end(&t);
}

/* ---- its event as JSON ---- */

TEST(progress_reads_back_from_json) {
    think t;
    phi_event event, back;
    phi_strategy_progress progress;
    phi_parse_error error;
    phi_str json;
    think_begin(&t, rig_new(), phi_strategy_cot(PHI_COT_STEPS), NULL);
    memset(&event, 0, sizeof event);
    memset(&progress, 0, sizeof progress);
    event.kind = PHI_EV_STRATEGY;
    event.strategy = &progress;
    event.text = PHI__LIT("10 - 4");
    progress.name = PHI__LIT("tot");
    progress.phase = PHI__LIT("generating");
    progress.calls = 3;
    progress.most_calls = 52;
    progress.nodes = 7;
    progress.has_score = true;
    progress.score = 0.25;
    CHECK_EQ_INT(phi_event_to_json(&event, &t.arena, &json), PHI_OK);
    CHECK(strstr(json.at,
                 "\"strategy\":\"tot\",\"phase\":\"generating\",\"calls\":3,"
                 "\"most_calls\":52,\"nodes\":7,\"score\":0.25,\"best\":\"10 - 4\"") != NULL);
    CHECK_EQ_INT(phi_event_from_json(json, &t.arena, &back, &error), PHI_OK);
    CHECK_EQ_INT(back.kind, PHI_EV_STRATEGY);
    if (CHECK(back.strategy != NULL)) {
        CHECK_STR(back.strategy->name, "tot");
        CHECK_STR(back.strategy->phase, "generating");
        CHECK(back.strategy->calls == 3 && back.strategy->most_calls == 52);
        CHECK(back.strategy->nodes == 7 && back.strategy->has_score);
        CHECK(back.strategy->score >= 0.25 && back.strategy->score <= 0.25);
    }
    CHECK_STR(back.text, "10 - 4");
    think_end(&t);
}

/* ---- an agent that goes in the midst ---- */

static phi_flow free_start(void *user_data, phi_call call, phi_str arguments) {
    (void)call;
    (void)arguments;
    phi_agent_free(*(phi_agent *)user_data);
    return PHI_PENDING;
}

TEST(a_tool_may_free_the_agent) {
    think t;
    phi_agent agent;
    phi_tool tool = rig_echo();
    phi_tot_options options;
    options = *think_tot();
    options.tools = true;
    think_begin(&t, rig_new(), phi_strategy_tot(), &options);
    tool.start = free_start;
    tool.step = NULL;
    tool.user_data = &agent;
    t.agent_desc.tools = &tool;
    t.agent_desc.tool_count = 1;
    rig_call(t.r, "c1", "echo", "{}");
    agent = think_agent(&t);
    CHECK_EQ_INT(phi_prompt(agent, "24?"), PHI_OK);
    (void)rig_run(t.r, 50);
    CHECK(!phi_agent_alive(agent));
    think_end(&t);
}

TEST(a_runtime_that_is_closed_in_the_midst_leaves_nothing) {
    int steps;
    for (steps = 0; steps < 10; steps++) {
        think t;
        phi_agent agent;
        think_begin(&t, rig_new(), phi_strategy_tot(), think_tot());
        think_script_tree(t.r);
        agent = think_agent(&t);
        CHECK_EQ_INT(phi_prompt(agent, "24?"), PHI_OK);
        (void)rig_run(t.r, steps);
        think_end(&t);
    }
}

TEST_MAIN(TEST_ENTRY(the_order_of_events_of_each_strategy_is_as_written),
          TEST_ENTRY(scratch_work_is_on_a_lane_of_its_own_and_the_answer_in_the_conversation),
          TEST_ENTRY(usage_of_all_calls_is_the_runs),
          TEST_ENTRY(a_conversation_goes_on_and_the_provider_can_be_swapped),
          TEST_ENTRY(calls_of_a_strategy_say_what_the_agent_says_in_requests),
          TEST_ENTRY(a_search_gets_the_prompt_alone),
          TEST_ENTRY(every_call_of_a_strategy_begins_with_the_agents_system_prompt),
          TEST_ENTRY(a_history_that_ends_in_results_of_tools_continues),
          TEST_ENTRY(steering_in_the_midst_is_answered_after_it),
          TEST_ENTRY(an_abort_ends_the_calls_and_the_next_run_has_its_own_result),
          TEST_ENTRY(a_provider_error_is_the_runs_with_the_text_so_far_in_the_result),
          TEST_ENTRY(when_the_calls_are_used_up_the_best_so_far_is_the_answer),
          TEST_ENTRY(the_best_so_far_can_be_seen_and_settled_for),
          TEST_ENTRY(the_worst_case_is_reserved_before_the_first_call_or_refused_with_words),
          TEST_ENTRY(a_limit_that_is_reached_in_the_midst_ends_with_the_best),
          TEST_ENTRY(thoughts_may_call_the_agents_tools),
          TEST_ENTRY(a_round_of_tools_too_many_is_an_error),
          TEST_ENTRY(a_decision_about_a_thoughts_tool_is_the_hosts),
          TEST_ENTRY(a_snapshot_in_the_midst_resumes_the_search),
          TEST_ENTRY(a_store_keeps_the_scratch_work_and_the_result),
          TEST_ENTRY(an_agent_at_its_memory_limit_forgets_scratch_work_first),
          TEST_ENTRY(a_search_survives_every_failed_allocation),
          TEST_ENTRY(a_search_is_restored_or_refused_at_every_failed_allocation),
          TEST_ENTRY(a_search_that_is_out_of_time_ends_with_the_best),
          TEST_ENTRY(a_call_that_takes_too_long_is_the_runs_error),
          TEST_ENTRY(the_calls_of_a_search_can_be_those_of_another_strategy),
          TEST_ENTRY(a_strategy_that_would_make_its_own_calls_is_refused),
          TEST_ENTRY(progress_that_was_not_popped_outlives_the_history),
          TEST_ENTRY(progress_reads_back_from_json), TEST_ENTRY(a_tool_may_free_the_agent),
          TEST_ENTRY(a_runtime_that_is_closed_in_the_midst_leaves_nothing))
