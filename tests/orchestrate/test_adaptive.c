/* test_adaptive.c - Adaptive: how it chooses, and the machine that hands on. */
#include "orchestrate/machine_in.h"

#include "machine_support.h"
#include "think.h"
#include "agent/agent_history.h"
#include "log/thread.h"

#include <float.h>

static phi__adaptive_choice choose(const phi_adaptive_options *options, const char *prompt) {
    phi_adaptive_options none;
    memset(&none, 0, sizeof none);
    return phi__adaptive_choose(options != NULL ? options : &none, phi_str_of(prompt), false);
}

static const char hard[] =
    "Design and assess an architecture for a system that must never lose a message. Explain why "
    "each part is needed? It should recover within a second. It must be optimal, and it cannot "
    "drop work. Prove it. Why would two machines disagree? At most three may fail. Derive the "
    "bound, then plan how to implement it step by step, with a model of the cables that every "
    "engineer in the room can follow from the first line to the last one, without a book at hand "
    "and without asking somebody who has done it before, because all of them left long ago and "
    "took what they knew with them to other places where nobody will ever hear of it again at all.";

TEST(words_choose_first_and_complexity_then) {
    static const struct {
        const char *prompt, *name, *reason;
    } rows[] = {{"Solve this puzzle", "trm", "puzzle"},
                {"A RIDDLE: what walks on four legs?", "trm", "puzzle"},
                {"Play the Game of 24 with 4, 4 and 10", "trm", "puzzle"},
                {"Combine these notes", "got", "synthesis"},
                {"Draw the graph of it", "got", "synthesis"},
                {"Search for the weather in Graz", "react", "tools"},
                {"Please look up the word", "react", "tools"},
                {"use it", "react", "tools"},
                {"Combine what you find in the puzzle", "trm", "puzzle"}, /* the first kind */
                {"Search and combine", "got", "synthesis"},
                {"Compare alternatives", "tot", "exploration"}, /* aot is opt-in */
                {"the pros and cons of tea", "tot", "exploration"},
                /* whole words alone */
                {"because", "cod", "complexity"},
                {"a paragraph on research, recall and overuse", "cod", "complexity"},
                {"findings", "cod", "complexity"},
                {"look  up", "cod", "complexity"},
                {"hello", "cod", "complexity"},
                {"", "cod", "complexity"},
                {hard, "tot", "complexity"}};
    size_t i;
    for (i = 0; i < PHI__COUNT(rows); i++) {
        phi__adaptive_choice choice = choose(NULL, rows[i].prompt);
        if (!CHECK_EQ_STR(choice.name, rows[i].name) ||
            !CHECK_EQ_STR(choice.reason, rows[i].reason))
            printf("  of: %s\n", rows[i].prompt);
    }
}

TEST(complexity_is_the_sum_of_its_parts) {
    static const struct {
        const char *prompt;
        int thousandths;
    } rows[] = {{"", 0},
                {"one", 43},                         /* a word, a sentence */
                {"One two. Three four! 3.5 e", 141}, /* seven words, three sentences */
                {"why", 143},                        /* and a keyword */
                {"why plan design prove", 352},      /* no more than three count */
                {"must?", 123},                      /* a question and a constraint */
                {"? ? ? ? ? ? ?", 200},
                {hard, 1000}};
    phi_adaptive_options none;
    size_t i;
    memset(&none, 0, sizeof none);
    for (i = 0; i < PHI__COUNT(rows); i++)
        CHECK_EQ_INT((int)(phi__choose_complexity(&none, phi_str_of(rows[i].prompt)) * 1000 + 0.5),
                     rows[i].thousandths);
}

/* 0.3 to 0.7 */
static const char middling[] = "Explain why this plan is good. Must it be so? Only then.";

TEST(options_of_the_choice_are_honoured) {
    static const char *const some[] = {"aot", "cot"};
    static const char *const strange[] = {"magic"};
    phi_adaptive_options o;
    memset(&o, 0, sizeof o);
    CHECK_EQ_STR(choose(&o, middling).name, "react");
    CHECK_EQ_STR(choose(&o, middling).reason, "default");
    o.default_strategy = "tot";
    CHECK_EQ_STR(choose(&o, middling).name, "tot");
    CHECK_EQ_STR(choose(&o, "use it").name, "react"); /* a word is stronger */
    o.available = some;
    o.available_count = 2;
    CHECK_EQ_STR(choose(&o, "compare").name, "aot");
    CHECK_EQ_STR(choose(&o, "hello").name, "cot");
    CHECK_EQ_STR(choose(&o, "use it").name, "tot"); /* react is not available */
    CHECK_EQ_STR(choose(&o, "use it").reason, "default");
    CHECK(phi__choose_may(&o, "tot") && phi__choose_may(&o, "aot"));
    CHECK(!phi__choose_may(&o, "got"));
    CHECK(phi__choose_may(&o, "react")); /* in a run with tools */
    o.available = strange;
    o.available_count = 1;
    o.default_strategy = "magic";
    CHECK_EQ_STR(choose(&o, "hello").name, "react");
    o.strategy = "got";
    CHECK_EQ_STR(choose(&o, "hello").name, "got");
    CHECK_EQ_STR(choose(&o, "hello").reason, "option");
    CHECK(phi__choose_may(&o, "got") && !phi__choose_may(&o, "react"));
    o.strategy = "magic";
    CHECK_EQ_STR(choose(&o, "hello").name, "react");
}

/* The lists of the study, each word in a sentence of its own. */
TEST(every_word_of_the_study_chooses) {
    static const struct {
        const char *words, *reason;
    } rows[] = {
        {"puzzle iterate improve refine recursive riddle", "puzzle"},
        {"synthesize combine merge integrate aggregate unify consolidate relationships "
         "connections network graph linked interdependent perspectives viewpoints",
         "synthesis"},
        {"search find lookup fetch get calculate compute call execute run use tool", "tools"},
        {"analyze explore consider multiple options alternatives compare contrast evaluate",
         "exploration"}};
    size_t i, words = 0;
    for (i = 0; i < PHI__COUNT(rows); i++) {
        const char *at = rows[i].words;
        while (*at != '\0') {
            size_t len = strcspn(at, " ");
            char prompt[60];
            (void)snprintf(prompt, sizeof prompt, "Please %.*s it.", (int)len, at);
            if (!CHECK_EQ_STR(choose(NULL, prompt).reason, rows[i].reason)) printf("%s\n", prompt);
            words++;
            at += len + (at[len] == ' ');
        }
    }
    CHECK_EQ_INT(words, 6 + 15 + 12 + 9);
}

TEST(thresholds_and_words_can_be_set) {
    phi_adaptive_options o;
    memset(&o, 0, sizeof o);
    o.puzzle_words = "Rebus|number game|";
    CHECK_EQ_STR(choose(&o, "a rebus").reason, "puzzle");
    CHECK_EQ_STR(choose(&o, "a Number Game, please").reason, "puzzle");
    CHECK_EQ_STR(choose(&o, "a riddle").reason, "complexity");
    o.puzzle_words = "";
    o.tool_words = "||dig|";
    CHECK_EQ_STR(choose(&o, "a riddle to use").reason, "complexity");
    CHECK_EQ_STR(choose(&o, "dig here").reason, "tools");
    o.synthesis_words = "mix";
    o.exploration_words = "roam";
    CHECK_EQ_STR(choose(&o, "mix").reason, "synthesis");
    CHECK_EQ_STR(choose(&o, "roam").reason, "exploration");
    CHECK_EQ_STR(choose(&o, "combine, compare").reason, "complexity");
    memset(&o, 0, sizeof o);
    CHECK_EQ_STR(choose(&o, "hello").name, "cod");
    o.simple_below = -1;
    CHECK_EQ_STR(choose(&o, "hello").name, "react");
    o.complex_above = 0.04;
    CHECK_EQ_STR(choose(&o, "hello").name, "tot"); /* 0.043 */
    memset(&o, 0, sizeof o);
    CHECK_EQ_STR(choose(&o, hard).name, "tot");
    o.complex_above = 1.0;
    CHECK_EQ_STR(choose(&o, hard).name, "react");
    o.complex_words = "hello|";
    CHECK(choose(&o, "hello").complexity > choose(&o, "holla").complexity + 0.09);
}

TEST(in_a_run_with_tools_no_strategy_without_them_is_chosen) {
    static const char *const prompts[] = {"a riddle",
                                          "Combine these notes",
                                          "compare",
                                          "hello",
                                          "Explain why this plan is good. Must it be so?",
                                          hard};
    static const char *const some[] = {"cot", "trm"};
    phi_tot_options tot;
    phi_adaptive_options o;
    size_t i;
    memset(&o, 0, sizeof o);
    memset(&tot, 0, sizeof tot);
    for (i = 0; i < PHI__COUNT(prompts); i++)
        CHECK_EQ_STR(phi__adaptive_choose(&o, phi_str_of(prompts[i]), true).name, "react");
    o.available = some;
    o.available_count = 2;
    o.default_strategy = "cot";
    for (i = 0; i < PHI__COUNT(prompts); i++)
        CHECK_EQ_STR(phi__adaptive_choose(&o, phi_str_of(prompts[i]), true).name, "react");
    memset(&o, 0, sizeof o);
    o.tot = &tot;
    tot.tools = true;
    CHECK_EQ_STR(phi__adaptive_choose(&o, phi_str_of("a riddle"), true).name, "tot");
    CHECK_EQ_STR(phi__adaptive_choose(&o, phi_str_of("hello"), true).name, "react");
    o.strategy = "trm"; /* the host's own choice */
    CHECK_EQ_STR(phi__adaptive_choose(&o, phi_str_of("hello"), true).name, "trm");
}

TEST(a_long_prompt_is_looked_at_up_to_a_bound) {
    static char text[20000];
    phi_adaptive_options o;
    memset(&o, 0, sizeof o);
    memset(text, ' ', sizeof text - 1);
    memcpy(text + 9000, "puzzle", 6);
    CHECK_EQ_STR(choose(&o, text).reason, "complexity");
    memcpy(text + 8000, "puzzle", 6);
    CHECK_EQ_STR(choose(&o, text).reason, "puzzle");
}

/* ---- the machine ---- */

TEST(the_bill_is_the_largest_of_those_that_may_be_chosen) {
    phi_adaptive_options o;
    phi_strategy_bill bill, tot;
    memset(&o, 0, sizeof o);
    phi_strategy_tot()->bill(NULL, 100, 50, &tot);
    phi_strategy_adaptive()->bill(NULL, 100, 50, &bill);
    CHECK(bill.calls == tot.calls && bill.input_tokens == tot.input_tokens);
    CHECK_EQ_INT(bill.output_tokens, tot.calls * 50);
    CHECK_EQ_INT(bill.in_conversation, 10);
    o.strategy = "cot";
    phi_strategy_adaptive()->bill(&o, 100, 50, &bill);
    CHECK(bill.calls == 1 && bill.in_conversation == 1 && bill.output_tokens == 50);
}

TEST(the_chosen_strategy_works_with_its_options_and_its_result_is_inside) {
    phi_adaptive_options o;
    phi_trm_options trm;
    int reload;
    memset(&o, 0, sizeof o);
    memset(&trm, 0, sizeof trm);
    trm.reason_prompt = "R";
    o.trm = &trm;
    for (reload = 0; reload < 2; reload++) {
        machine m;
        machine_new(&m, phi_strategy_adaptive(), &o, reload == 1);
        machine_answer_str(&m, 1, PHI__LIT("before the beginning"));
        machine_begin(&m, "a riddle");
        CHECK_EQ_STR(machine_text(&m.ask), "R\n\nProblem: a riddle");
        machine_answer(&m, "Answer: a cat");
        machine_answer(&m, "SCORE: 1.0");
        CHECK_EQ_STR(machine_text(&m.log),
                     "emit trm\nemit reasoning\nask 1: Problem: a riddle\n"
                     "emit supervising\nask 2: Problem: a riddle||The answer:|Answer: a cat\n"
                     "done: a cat\n");
        CHECK_EQ_STR(machine_result(&m, "strategy"), "trm");
        CHECK_EQ_STR(machine_result(&m, "reason"), "puzzle");
        CHECK_EQ_STR(machine_result(&m, "complexity"),
                     FLT_EVAL_METHOD == 2 /* sums of 80 bits */ ? "0.046" : "0.046000000000000006");
        CHECK_EQ_STR(machine_result(&m, "result.score"), "1.0");
        machine_free(&m);
    }
}

TEST(react_is_a_call_in_the_conversation_with_tools) {
    int reload;
    for (reload = 0; reload < 2; reload++) {
        phi_strategy_event event;
        machine m;
        machine_new(&m, phi_strategy_adaptive(), NULL, reload == 1);
        machine_begin(&m, "search it");
        CHECK_EQ_STR(machine_text(&m.log), "emit react\nask 1 with tools: (the prompt)\n");
        CHECK(m.call.in_conversation && m.call.max_tool_rounds == 9);
        memset(&event, 0, sizeof event);
        event.kind = PHI_STRATEGY_ANSWER;
        event.call_id = 1;
        event.tool_rounds = 2;
        event.text = PHI__LIT(" found ");
        machine_event(&m, &event);
        CHECK(strstr(machine_text(&m.log), "done: found\n") != NULL);
        CHECK_EQ_STR(machine_result(&m, "result.tool_rounds"), "2");
        CHECK_EQ_STR(machine_result(&m, "result.termination.reason"), "final_answer");
        machine_free(&m);
    }
}

TEST(react_fails_as_its_call_does) {
    machine m;
    machine_new(&m, phi_strategy_adaptive(), NULL, true);
    machine_begin(&m, "search it");
    machine_fail(&m, PHI_NETWORK, "gone", "half");
    CHECK(strstr(machine_text(&m.log), "fail: gone\n") != NULL);
    CHECK_EQ_STR(machine_result(&m, "result.answer"), "null");
    machine_answer(&m, "late");
    machine_free(&m);
    machine_new(&m, phi_strategy_adaptive(), NULL, true);
    machine_begin(&m, "search it");
    machine_answer(&m, " ");
    CHECK(strstr(machine_text(&m.log), "fail: the model wrote no answer\n") != NULL);
    machine_free(&m);
    machine_new(&m, phi_strategy_adaptive(), NULL, true);
    machine_begin(&m, "search it");
    machine_stop(&m);
    CHECK(strstr(machine_text(&m.log), "fail: ended before there was an answer\n") != NULL);
    machine_free(&m);
}

TEST(what_is_no_saved_machine_is_refused) {
    static const char *const rows[] = {"[]", "{\"strategy\":\"magic\"}", "{\"strategy\":\"got\"}",
                                       "{\"strategy\":\"react\",\"state\":{\"phase\":3}}"};
    size_t i;
    for (i = 0; i < PHI__COUNT(rows); i++) {
        phi_strategy_commands commands;
        phi_json *json = NULL;
        machine m;
        commands.count = 0;
        machine_new(&m, phi_strategy_adaptive(), NULL, false);
        CHECK_EQ_INT(phi_json_parse(&m.scratch, phi_str_of(rows[i]), 0, &json, NULL), PHI_OK);
        CHECK_EQ_INT(m.strategy->load(m.state, json, &m.env, &commands), PHI_PARSE);
        CHECK_EQ_INT(commands.count, 0);
        machine_free(&m);
    }
}

TEST(without_memory_the_machine_says_so_and_leaves_nothing) {
    static const char *const prompts[] = {"a riddle", "combine", "search", "hello", "compare"};
    size_t i;
    int n;
    for (i = 0; i < PHI__COUNT(prompts); i++)
        for (n = 0; n < 40; n++) {
            machine m;
            machine_new(&m, phi_strategy_adaptive(), NULL, false);
            test_alloc_fail_at(n);
            machine_begin(&m, prompts[i]);
            if (m.status == PHI_OK && m.asks == 1) machine_answer(&m, "answer");
            CHECK(m.status == PHI_OK || m.status == PHI_NO_MEMORY);
            test_alloc_fail_at(-1);
            machine_free(&m);
        }
}

/* ---- with an agent ---- */

TEST(each_prompt_chooses_anew_and_has_its_own_result) {
    think t;
    phi_agent agent;
    think_begin(&t, rig_new(), phi_strategy_adaptive(), NULL);
    rig_says(t.r, "2 + 2: 4\n#### 4");
    rig_says(t.r, "Answer: a cat");
    rig_says(t.r, "SCORE: 1.0");
    agent = think_agent(&t);
    CHECK_EQ_INT(phi_prompt(agent, "2 + 2?"), PHI_OK);
    CHECK_EQ_INT(rig_run(t.r, 200), 0);
    CHECK_EQ_STR(think_answer(agent), "4");
    CHECK_EQ_STR(think_result(&t, agent, "strategy"), "cod");
    CHECK_EQ_INT(phi_prompt(agent, "And a riddle."), PHI_OK);
    CHECK_EQ_STR(think_result(&t, agent, "strategy"), "(none)"); /* not an old result */
    CHECK_EQ_INT(rig_run(t.r, 200), 0);
    CHECK_EQ_STR(think_answer(agent), "a cat");
    CHECK_EQ_STR(think_result(&t, agent, "strategy"), "trm");
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 4);
    think_end(&t);
}

TEST(a_prompt_costs_what_its_strategy_may_cost) {
    think t;
    phi_agent agent;
    think_begin(&t, rig_new(), phi_strategy_adaptive(), NULL);
    t.agent_desc.budget.max_requests = 1;
    rig_says(t.r, "#### hi");
    agent = think_agent(&t);
    CHECK_EQ_INT(phi_prompt(agent, "hello"), PHI_OK); /* a draft: one call, not TRM's fourteen */
    CHECK_EQ_INT(rig_run(t.r, 200), 0);
    CHECK_EQ_INT(t.h.status, PHI_OK);
    CHECK_EQ_STR(think_answer(agent), "hi");
    CHECK(strstr(rig_story(t.r), "calls 0 of 1,") != NULL);
    think_end(&t);
}

TEST(react_sees_the_conversation_and_calls_tools) {
    think t;
    phi_agent agent;
    phi_tool echo = rig_echo();
    think_begin(&t, rig_new(), phi_strategy_adaptive(), NULL);
    rig_says(t.r, "hello");
    rig_call(t.r, "c1", "echo", "{}");
    rig_says(t.r, "It is a cellar.");
    t.agent_desc.tools = &echo;
    t.agent_desc.tool_count = 1;
    agent = think_agent(&t);
    CHECK_EQ_INT(phi_prompt(agent, "hi"), PHI_OK);
    CHECK_EQ_INT(rig_run(t.r, 200), 0);
    CHECK_EQ_INT(phi_prompt(agent, "Search the room."), PHI_OK);
    CHECK_EQ_INT(rig_run(t.r, 300), 0);
    CHECK_EQ_STR(think_answer(agent), "It is a cellar.");
    CHECK_EQ_STR(think_result(&t, agent, "result.tool_rounds"), "1");
    CHECK(strstr(rig_request(t.r, 1), "\"hi\"") != NULL);
    CHECK(strstr(rig_request(t.r, 1), "Search the room.") != NULL);
    think_end(&t);
}

TEST_MAIN(TEST_ENTRY(words_choose_first_and_complexity_then),
          TEST_ENTRY(complexity_is_the_sum_of_its_parts),
          TEST_ENTRY(options_of_the_choice_are_honoured),
          TEST_ENTRY(every_word_of_the_study_chooses), TEST_ENTRY(thresholds_and_words_can_be_set),
          TEST_ENTRY(in_a_run_with_tools_no_strategy_without_them_is_chosen),
          TEST_ENTRY(a_prompt_costs_what_its_strategy_may_cost),
          TEST_ENTRY(a_long_prompt_is_looked_at_up_to_a_bound),
          TEST_ENTRY(the_bill_is_the_largest_of_those_that_may_be_chosen),
          TEST_ENTRY(the_chosen_strategy_works_with_its_options_and_its_result_is_inside),
          TEST_ENTRY(react_is_a_call_in_the_conversation_with_tools),
          TEST_ENTRY(react_fails_as_its_call_does), TEST_ENTRY(what_is_no_saved_machine_is_refused),
          TEST_ENTRY(without_memory_the_machine_says_so_and_leaves_nothing),
          TEST_ENTRY(each_prompt_chooses_anew_and_has_its_own_result),
          TEST_ENTRY(react_sees_the_conversation_and_calls_tools))
