/* Parallel evaluation: branches, selections, lanes, events. */
#include "support/tool_state.h"
#include "support/resumed.h"
#include "support/recorded.h"
#include "support/set.h"
#include "orchestrate/actors.h"
#include "features/effects.h"
#include "features/facts.h"
#include "record/recorder.h"
#include "record/session.h"
#include "loop/events.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "log/log_in.h"

/* ---- selections ---- */

TEST(the_first_branch_goes_on_as_the_conversation) {
    stage s;
    phi_evaluation e;
    stage_set(&s, rig_new(), 3);
    REQUIRE(stage_open(&s));
    s.actors[1].polls = 5; /* it ends last */
    stage_evaluate(&s);
    e = stage_result(&s);
    CHECK_EQ_INT(e.status, PHI_OK);
    CHECK_EQ_INT(e.selected, 0);
    CHECK_EQ_INT(e.branch_count, 3);
    CHECK_STR(e.query, "Why?");
    CHECK_STR(e.branches[0].text, "one");
    CHECK_STR(e.branches[1].text, "two");
    CHECK_STR(e.branches[2].text, "three");
    CHECK_STR(e.branches[0].loop_id, "s.play.a.1");
    CHECK_STR(e.branches[1].loop_id, "s.play.b.2");
    CHECK_STR(e.branches[2].loop_id, "s.play.c.3");
    CHECK_STR(e.branches[1].lane, "branch/s.play.b.2");
    CHECK_EQ_INT(e.branches[1].status, PHI_OK);
    CHECK_EQ_INT(e.branches[2].usage.total_tokens, 140);
    CHECK_EQ_INT(e.total_usage.total_tokens, 120 + 130 + 140);
    CHECK_EQ_INT(e.evaluation_usage.total_tokens, 0);
    CHECK_EQ_INT(e.judge_loop_id.len, 0);
    CHECK_EQ_INT(phi_agent_get_info(s.agent).usage.total_tokens, 120 + 130 + 140);
    CHECK_EQ_INT(phi_thread_get_info(phi_agent_thread(s.agent)).usage.total_tokens,
                 120 + 130 + 140);
    CHECK_STR(phi_thread_get_info(phi_agent_thread(s.agent)).lane, "branch/s.play.a.1");
    CHECK_EQ_STR(lane_texts(s.agent, NULL), "Why?|one");
    CHECK_EQ_STR(lane_texts(s.agent, "branch/s.play.c.3"), "Why?|three");
    CHECK_EQ_STR(lane_texts(s.agent, "default"), "");
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(s.agent)), 2);
    CHECK_EQ_INT(phi_prompt(s.agent, "And?"), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 100), 0);
    CHECK_EQ_INT(s.actors[0].messages, 3);
    CHECK_EQ_STR(lane_texts(s.agent, NULL), "Why?|one|And?|own");
    CHECK_STR(phi_agent_get_info(s.agent).loop_id, "s.play.own.1");
    rig_free(s.r);
}

TEST(figures_select) {
    static const struct {
        phi_evaluate_by by;
        size_t want;
    } rows[] = {
        {PHI_EVALUATE_TOKEN_EFFICIENT, 2}, {PHI_EVALUATE_ELABORATE, 1}, {PHI_EVALUATE_FIRST, 0}};
    size_t i;
    for (i = 0; i < PHI__COUNT(rows); i++) {
        stage s;
        stage_set(&s, rig_new(), 3);
        REQUIRE(stage_open(&s));
        s.actors[2].output = 500;
        s.actors[3].output = 1;
        s.desc.by = rows[i].by;
        stage_evaluate(&s);
        CHECK_EQ_INT(stage_result(&s).selected, rows[i].want);
        rig_free(s.r);
    }
}

TEST(a_transparent_evaluation_has_one_branch) {
    stage s;
    stage_set(&s, rig_new(), 1);
    REQUIRE(stage_open(&s));
    s.desc.by = PHI_EVALUATE_TRANSPARENT;
    stage_evaluate(&s);
    CHECK_EQ_INT(stage_result(&s).branch_count, 1);
    CHECK_EQ_INT(stage_result(&s).selected, 0);
    CHECK_EQ_STR(lane_texts(s.agent, NULL), "Why?|one");
    rig_free(s.r);
}

TEST(a_judge_selects_and_has_the_next_number) {
    stage s;
    phi_evaluation e;
    stage_set(&s, rig_new(), 2);
    REQUIRE(stage_open(&s));
    CHECK_EQ_INT(phi_prompt(s.agent, "Hello"), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 100), 0);
    s.desc.by = PHI_EVALUATE_JUDGE;
    s.desc.judge = &s.configs[5];
    s.actors[5].text = "I pick 2.";
    stage_evaluate(&s);
    e = stage_result(&s);
    CHECK_EQ_INT(e.status, PHI_OK);
    CHECK_EQ_INT(e.selected, 1);
    CHECK_STR(e.judge_loop_id, "s.play.judge.3");
    CHECK_EQ_INT(e.evaluation_usage.total_tokens, 160);
    CHECK_EQ_INT(e.total_usage.total_tokens, 120 + 130 + 160);
    CHECK_EQ_INT(e.branches[0].original_count, 2);
    CHECK_EQ_STR(s.actors[5].asked,
                 "Prior conversation context:\nUser: Hello\nAssistant: own\n\nOriginal query:\n"
                 "Why?\n\nResponse 1:\none\n\nResponse 2:\ntwo\n\nWhich response is best? Reply "
                 "with ONLY the response number (e.g., \"1\" or \"2\").");
    CHECK(strstr(s.actors[5].system, "impartial judge") != NULL);
    CHECK_EQ_STR(s.actors[1].system, "Be brief.");
    CHECK_EQ_INT(s.actors[1].messages, 3);
    CHECK_EQ_STR(lane_texts(s.agent, NULL), "Hello|own|Why?|two");
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(s.agent)), 4);
    CHECK(strstr(lane_texts(s.agent, "~judge/s.play.judge.3"), "I pick 2.") != NULL);
    CHECK_EQ_STR(lane_texts(s.agent, "default"), "Hello|own");
    rig_free(s.r);
}

/* ---- events ---- */

typedef struct told {
    char ids[300];    /* of PARALLEL_START */
    char starts[300]; /* loop ids of AGENT_STARTs, in order */
    char parents[300];
    char kinds[40]; /* of continuation, a digit a run */
    char session[40], selected[80];
    size_t index, begins, ends, at_begin, at_end, events;
    uint64_t evaluation_tokens;
    phi_status status;
    phi_agent agent;
    size_t others; /* PARALLEL events of another agent */
    char progress[200];
} told;

static void told_add(char *out, size_t size, phi_str s) {
    size_t at = strlen(out);
    (void)snprintf(out + at, size - at, "%s%.*s", at > 0 ? " " : "", (int)s.len,
                   s.len > 0 ? s.at : "");
}

static void told_event(void *user_data, const phi_event *e) {
    told *t = (told *)user_data;
    size_t i;
    t->events++;
    if (e->kind == PHI_EV_AGENT_START) {
        told_add(t->starts, sizeof t->starts, e->loop->loop_id);
        told_add(t->parents, sizeof t->parents, e->loop->parent_loop_id);
        (void)snprintf(t->kinds + strlen(t->kinds), 3, "%d", (int)e->loop->continuation);
        CHECK_STR(e->loop->session_id, "s");
        CHECK_STR(e->loop->agent_id, "me");
    }
    if (e->kind == PHI_EV_TOOL_PROGRESS) {
        CHECK_STR(e->tool_call_id, "judge-compaction");
        CHECK_STR(e->tool_name, "LlmJudgeEvaluation");
        heard_copy(t->progress, sizeof t->progress, e->text);
    }
    if (e->kind != PHI_EV_PARALLEL_START && e->kind != PHI_EV_PARALLEL_END) return;
    if (e->agent.index != t->agent.index) t->others++;
    heard_copy(t->session, sizeof t->session, e->parallel->session_id);
    if (e->kind == PHI_EV_PARALLEL_START) {
        t->begins++;
        t->at_begin = t->events;
        for (i = 0; i < e->parallel->loop_count; i++)
            told_add(t->ids, sizeof t->ids, e->parallel->loop_ids[i]);
        return;
    }
    t->ends++;
    t->at_end = t->events;
    t->index = e->parallel->selected_index;
    t->status = e->status;
    t->evaluation_tokens = e->parallel->evaluation_usage.total_tokens;
    heard_copy(t->selected, sizeof t->selected, e->parallel->selected_loop_id);
}

static void tell(told *t, stage *s) {
    memset(t, 0, sizeof *t);
    t->agent = s->agent;
    rig_watch(s->r, told_event, t);
}

TEST(events_bracket_the_branches_and_name_them) {
    stage s;
    told t;
    stage_set(&s, rig_new(), 2);
    REQUIRE(stage_open(&s));
    tell(&t, &s);
    s.desc.by = PHI_EVALUATE_JUDGE;
    s.desc.judge = &s.configs[5];
    s.actors[5].text = "2";
    stage_evaluate(&s);
    CHECK_EQ_INT(t.begins, 1);
    CHECK_EQ_INT(t.ends, 1);
    CHECK_EQ_INT(t.others, 0);
    CHECK_EQ_INT(t.at_begin, 1);
    CHECK_EQ_INT(t.at_end, t.events);
    CHECK_EQ_STR(t.ids, "s.play.a.1 s.play.b.2");
    CHECK_EQ_STR(t.starts, "s.play.a.1 s.play.b.2 s.play.judge.3");
    CHECK_EQ_STR(t.parents, "");
    CHECK_EQ_STR(t.kinds, "000");
    CHECK_EQ_STR(t.session, "s");
    CHECK_EQ_STR(t.selected, "s.play.b.2");
    CHECK_EQ_INT(t.index, 1);
    CHECK_EQ_INT(t.evaluation_tokens, 160);
    CHECK_EQ_INT(t.status, PHI_OK);
    rig_free(s.r);
}

TEST(an_abort_is_told_at_the_end) {
    stage s;
    told t;
    stage_set(&s, rig_new(), 2);
    REQUIRE(stage_open(&s));
    tell(&t, &s);
    s.actors[1].hangs = true;
    CHECK_EQ_INT(phi_evaluate(s.agent, &s.desc), PHI_OK);
    CHECK(rig_run(s.r, 5) > 0);
    CHECK_EQ_INT(phi_abort(s.agent), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 50), 0);
    CHECK_EQ_INT(t.ends, 1);
    CHECK_EQ_INT(t.status, PHI_CANCELLED);
    CHECK_EQ_STR(t.selected, "");
    rig_free(s.r);
}

TEST(numbers_go_on_behind_those_of_every_configuration) {
    stage s;
    told t;
    stage_set(&s, rig_new(), 3);
    s.configs[2].ids.config_id = "own";
    s.configs[3].ids.config_id = "own";
    s.own.ids.config_id = "own";
    REQUIRE(stage_open(&s));
    tell(&t, &s);
    CHECK_EQ_INT(phi_prompt(s.agent, "1"), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 100), 0);
    CHECK_EQ_INT(phi_prompt(s.agent, "2"), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 100), 0);
    stage_evaluate(&s);
    CHECK_EQ_STR(t.ids, "s.play.a.3 s.own.4 s.own.5");
    CHECK_EQ_INT(phi_prompt(s.agent, "3"), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 100), 0);
    CHECK_STR(phi_agent_get_info(s.agent).loop_id, "s.own.6");
    stage_evaluate(&s);
    CHECK_EQ_STR(t.ids, "s.play.a.3 s.own.4 s.own.5 s.play.a.7 s.own.8 s.own.9");
    rig_free(s.r);
}

TEST(a_judge_whose_window_is_too_small_is_warned_about) {
    static char many[4000];
    stage s;
    told t;
    memset(many, 'x', sizeof many - 1);
    stage_set(&s, rig_new(), 2);
    REQUIRE(stage_open(&s));
    tell(&t, &s);
    s.desc.by = PHI_EVALUATE_JUDGE;
    s.desc.judge = &s.configs[5];
    s.configs[5].compaction.max_context_tokens = 60; /* 48 for two texts of at least 50 tokens */
    s.actors[1].text = s.actors[2].text = many;
    s.actors[5].text = "2";
    stage_evaluate(&s);
    CHECK_EQ_STR(t.progress, "The texts to compare are longer than the judge's context, even when "
                             "they are cut");
    CHECK_EQ_INT(stage_result(&s).selected, 1);
    CHECK_EQ_INT(stage_result(&s).branches[0].text.len, sizeof many - 1); /* the branch keeps it */
    CHECK(strlen(s.actors[5].asked) < 700);
    rig_free(s.r);
}

/* ---- without a prompt ---- */

TEST(without_a_prompt_branches_answer_the_last_message) {
    stage s;
    told t;
    phi_content blocks[2];
    phi_message message;
    stage_set(&s, rig_new(), 2);
    REQUIRE(stage_open(&s));
    CHECK_EQ_INT(phi_prompt(s.agent, "Hello"), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 100), 0);
    tell(&t, &s);
    s.desc.prompt = NULL;
    CHECK_EQ_INT(phi_evaluate(s.agent, &s.desc), PHI_MISUSE); /* the last message is an answer */
    CHECK_EQ_STR(words_of(s.r), "phi_evaluate: the last message is the model's own");
    message = text_message(PHI_ROLE_USER, blocks, "Which?");
    CHECK_EQ_INT(phi_thread_append(phi_agent_thread(s.agent), &message, 1, NULL), PHI_OK);
    s.desc.by = PHI_EVALUATE_JUDGE;
    s.desc.judge = &s.configs[5];
    stage_evaluate(&s);
    CHECK_EQ_STR(t.parents, "s.play.own.1 s.play.own.1 ");
    CHECK_EQ_STR(t.kinds, "110"); /* the judge's prompt is its own */
    CHECK_EQ_STR(s.actors[1].asked, "Which?");
    CHECK_EQ_INT(s.actors[1].messages, 3);
    CHECK_STR(stage_result(&s).query, "Which?");
    CHECK_EQ_INT(stage_result(&s).branches[0].original_count, 3);
    CHECK(begins(s.actors[5].asked, "Prior conversation context:\nUser: Hello\nAssistant: own\n\n"
                                    "Original query:\nWhich?\n\nResponse 1:\none\n"));
    CHECK_EQ_STR(lane_texts(s.agent, NULL), "Hello|own|Which?|one");
    rig_free(s.r);
}

TEST(a_prompt_may_be_content) {
    stage s;
    phi_content blocks[2];
    stage_set(&s, rig_new(), 1);
    REQUIRE(stage_open(&s));
    memset(blocks, 0, sizeof blocks);
    blocks[0].kind = PHI_CONTENT_TEXT;
    blocks[0].text = PHI__LIT("Look");
    blocks[1].kind = PHI_CONTENT_TEXT;
    blocks[1].text = PHI__LIT("here");
    s.desc.prompt = NULL;
    s.desc.content = blocks;
    s.desc.content_count = 2;
    stage_evaluate(&s);
    CHECK_STR(stage_result(&s).query, "Look\nhere");
    CHECK_EQ_STR(s.actors[1].asked, "Look");
    rig_free(s.r);
}

/* ---- what branches take from the agent ---- */

TEST(branches_have_the_agents_prompt_and_tools_unless_they_have_their_own) {
    stage s;
    phi_tool echo = rig_echo();
    stage_set(&s, rig_new(), 2);
    s.own.tools = &echo;
    s.own.tool_count = 1;
    s.configs[2].system_prompt = "Be long.";
    s.configs[5].tools = &echo;
    s.configs[5].tool_count = 1;
    s.configs[5].system_prompt = "Judge well.";
    REQUIRE(stage_open(&s));
    s.desc.by = PHI_EVALUATE_JUDGE;
    s.desc.judge = &s.configs[5];
    stage_evaluate(&s);
    CHECK_EQ_STR(s.actors[1].system, "Be brief.");
    CHECK_EQ_INT(s.actors[1].tools, 1);
    CHECK_EQ_STR(s.actors[2].system, "Be long.");
    CHECK_EQ_STR(s.actors[5].system, "Judge well.");
    CHECK_EQ_INT(s.actors[5].tools, 0);
    CHECK_EQ_INT(s.actors[5].messages, 1);
    rig_free(s.r);
}

TEST(a_branch_with_tools_is_a_lane_with_its_calls) {
    rig *r = rig_new();
    phi_agent_desc own = rig_desc(), config = rig_desc();
    phi_tool echo = rig_echo();
    phi_evaluate_desc desc = PHI_ZERO;
    phi_agent agent;
    own.tools = &echo;
    own.tool_count = 1;
    agent = rig_agent(r, &own);
    rig_call(r, "c1", "echo", "{\"a\":1}");
    rig_says(r, "done");
    rig_says(r, "next");
    desc.configs = &config;
    desc.config_count = 1;
    desc.prompt = "Go";
    CHECK_EQ_INT(phi_evaluate(agent, &desc), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 4);
    CHECK_EQ_STR(text_at(agent, 3, 0), "done");
    CHECK_EQ_INT(phi_prompt(agent, "On"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    CHECK(strstr(rig_request(r, 2), "tool_result") != NULL);
    CHECK(strstr(rig_request(r, 2), "tool_use") != NULL);
    CHECK_EQ_STR(text_at(agent, 5, 0), "next");
    rig_free(r);
}

/* Spends a coin of those in the state: what it read is in `user_data`. */
static phi_flow spend(void *user_data, phi_call call, phi_str arguments) {
    phi_tool_result result = PHI_ZERO;
    phi_str state = phi_call_tool_state(call);
    (void)arguments;
    (void)snprintf((char *)user_data, 60, "%.*s", (int)state.len, state.at);
    result.effects = "[{\"op\":\"set_path\",\"path\":\"/spent\",\"value\":true}]";
    CHECK_EQ_INT(phi_call_result(call, &result), PHI_OK);
    return PHI_DONE;
}

TEST(a_branch_begins_with_the_tool_state_and_what_the_selected_one_did_to_it_counts) {
    rig *r = rig_new();
    phi_agent_desc own = rig_desc(), config = rig_desc();
    phi_tool tool = rig_echo();
    phi_evaluate_desc desc = PHI_ZERO;
    phi_agent agent;
    char seen[60] = "";
    tool.start = spend;
    tool.user_data = seen;
    own.tools = &tool;
    own.tool_count = 1;
    agent = rig_agent(r, &own);
    CHECK_EQ_INT(phi_agent_set_tool_state(agent, phi_str_of("{\"gold\":9}")), PHI_OK);
    rig_call(r, "c1", "echo", "{\"a\":1}");
    rig_says(r, "done");
    desc.configs = &config;
    desc.config_count = 1;
    desc.prompt = "Go";
    CHECK_EQ_INT(phi_evaluate(agent, &desc), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    CHECK_EQ_STR(seen, "{\"gold\":9}");
    CHECK_STR(tool_state(agent), "{\"gold\":9,\"spent\":true}");
    CHECK_EQ_INT(phi_thread_switch(phi_agent_thread(agent), PHI_LANE_DEFAULT), PHI_OK);
    CHECK_STR(tool_state(agent), "{\"gold\":9}");
    rig_free(r);
}

TEST(a_branch_knows_the_facts_of_its_agent_and_a_judge_none) {
    rig *r = rig_new();
    phi_agent_desc own = rig_desc(), configs[2], judge = rig_desc();
    phi_evaluate_desc desc = PHI_ZERO;
    phi_agent agent = rig_agent(r, &own);
    configs[0] = configs[1] = rig_desc();
    CHECK_EQ_INT(phi_fact_set(phi_fact_agent(agent), "loot", phi_str_of("under the oak"), NULL),
                 PHI_OK);
    rig_says(r, "one");
    rig_says(r, "two");
    rig_says(r, "2");
    desc.configs = configs;
    desc.config_count = 2;
    desc.prompt = "Where is it?";
    desc.by = PHI_EVALUATE_JUDGE;
    desc.judge = &judge;
    CHECK_EQ_INT(phi_evaluate(agent, &desc), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    CHECK(strstr(rig_request(r, 0), "under the oak") != NULL);
    CHECK(strstr(rig_request(r, 1), "under the oak") != NULL);
    CHECK(strstr(rig_request(r, 2), "impartial judge") != NULL);
    CHECK(strstr(rig_request(r, 2), "under the oak") == NULL);
    rig_free(r);
}

/* ---- a selection of the host's ---- */

typedef struct chooser {
    int calls, busy; /* how often it is not ready */
    size_t says;
    phi_status status;
    uint64_t tokens;
    uint64_t total; /* tokens of all branches, as it was told */
    phi_agent frees;
    char texts[100];
} chooser;

static phi_status choose(void *user_data, const phi_evaluation *e, size_t *selected,
                         phi_usage *usage) {
    chooser *c = (chooser *)user_data;
    size_t i;
    c->calls++;
    CHECK_EQ_INT(e->status, PHI_BUSY);
    CHECK_EQ_INT(usage->total_tokens, 0);
    c->texts[0] = '\0';
    c->total = e->total_usage.total_tokens;
    for (i = 0; i < e->branch_count; i++) told_add(c->texts, sizeof c->texts, e->branches[i].text);
    if (c->frees.rt != NULL) phi_agent_free(c->frees);
    if (c->busy-- > 0) return PHI_BUSY;
    *selected = c->says;
    usage->total_tokens = c->tokens;
    return c->status;
}

static void custom(stage *s, chooser *c) {
    memset(c, 0, sizeof *c);
    s->desc.by = PHI_EVALUATE_CUSTOM;
    s->desc.evaluate_fn = choose;
    s->desc.user_data = c;
}

TEST(a_function_of_the_hosts_selects_when_it_is_ready) {
    stage s;
    chooser c;
    phi_evaluation e;
    stage_set(&s, rig_new(), 3);
    REQUIRE(stage_open(&s));
    custom(&s, &c);
    c.busy = 3;
    c.says = 2;
    c.tokens = 7;
    CHECK_EQ_INT(phi_evaluate(s.agent, &s.desc), PHI_OK);
    while (c.calls == 0) CHECK(rig_run(s.r, 1) > 0);
    CHECK_EQ_INT(phi_prompt(s.agent, "Now"), PHI_BUSY);
    CHECK_EQ_INT(rig_run(s.r, 3), 1); /* it counts as a run */
    CHECK_EQ_INT(rig_run(s.r, 100), 0);
    e = stage_result(&s);
    CHECK_EQ_INT(c.calls, 4);
    CHECK_EQ_STR(c.texts, "one two three");
    CHECK_EQ_INT(c.total, 120 + 130 + 140);
    CHECK_EQ_INT(e.selected, 2);
    CHECK_EQ_INT(e.evaluation_usage.total_tokens, 7);
    CHECK_EQ_INT(e.total_usage.total_tokens, 120 + 130 + 140 + 7);
    CHECK_EQ_STR(lane_texts(s.agent, NULL), "Why?|three");
    rig_free(s.r);
}

TEST(a_selection_that_is_too_large_or_fails_or_never_comes_is_some_branch) {
    static const struct {
        size_t says;
        phi_status status;
        int busy;
        size_t want;
    } rows[] = {{99, PHI_OK, 0, 2},
                {SIZE_MAX, PHI_OK, 0, 2},
                {2, PHI_REFUSED, 0, 1},
                {2, PHI_OK, 1000000, 1}};
    size_t i;
    for (i = 0; i < PHI__COUNT(rows); i++) {
        stage s;
        chooser c;
        stage_set(&s, rig_new(), 3);
        s.own.deadlines.decision_ms = 200;
        REQUIRE(stage_open(&s));
        custom(&s, &c);
        s.actors[1].text = NULL; /* the first one fails */
        c.says = rows[i].says;
        c.status = rows[i].status;
        c.busy = rows[i].busy;
        CHECK_EQ_INT(phi_evaluate(s.agent, &s.desc), PHI_OK);
        CHECK_EQ_INT(rig_run(s.r, 1000), 0);
        CHECK_EQ_INT(stage_result(&s).status, PHI_OK);
        CHECK_EQ_INT(stage_result(&s).selected, rows[i].want);
        rig_free(s.r);
    }
}

TEST(hours_of_a_pause_end_no_selection_that_waits) {
    stage s;
    chooser c;
    stage_set(&s, rig_new(), 3);
    REQUIRE(stage_open(&s));
    custom(&s, &c);
    c.busy = 5;
    c.says = 2;
    CHECK_EQ_INT(phi_evaluate(s.agent, &s.desc), PHI_OK);
    while (c.calls == 0) CHECK(rig_run(s.r, 1) > 0);
    rig_pass_ms(s.r, 7200000);
    CHECK_EQ_INT(rig_run(s.r, 1000), 0);
    CHECK_EQ_INT(stage_result(&s).selected, 2);
    rig_free(s.r);
}

TEST(a_selection_that_waits_ends_with_an_abort_and_with_its_agent) {
    int way;
    for (way = 0; way < 5; way++) {
        stage s;
        chooser c;
        stage_set(&s, rig_new(), 2);
        REQUIRE(stage_open(&s));
        custom(&s, &c);
        c.busy = way != 4 ? 1000000 : 2;
        CHECK_EQ_INT(phi_evaluate(s.agent, &s.desc), PHI_OK);
        while (c.calls < 2) CHECK(rig_run(s.r, 1) > 0);
        if (way == 0) {
            CHECK_EQ_INT(phi_abort(s.agent), PHI_OK);
            CHECK_EQ_INT(rig_run(s.r, 100), 0);
            CHECK_EQ_INT(stage_result(&s).status, PHI_CANCELLED);
            CHECK_STR(phi_thread_get_info(phi_agent_thread(s.agent)).lane, "default");
        } else if (way == 1) {
            phi_agent_free(s.agent);
            CHECK_EQ_INT(rig_run(s.r, 100), 0);
        } else if (way == 2 || way == 4) { /* and not ready; or with a selection */
            c.frees = s.agent;
            CHECK_EQ_INT(rig_run(s.r, 100), 0);
            CHECK(!phi_agent_alive(s.agent));
        } else
            while (phi_runtime_close(rig_runtime(s.r)) == PHI_BUSY) (void)rig_run(s.r, 1);
        rig_free(s.r);
    }
}

/* ---- what is refused ---- */

/* Refused with these words, and nothing changed. */
static void refused(stage *s, phi_status status, const char *words) {
    CHECK_EQ_INT(phi_evaluate(s->agent, &s->desc), status);
    CHECK_EQ_STR(words_of(s->r), words);
    CHECK_EQ_INT(phi_thread_count(phi_agent_thread(s->agent)), 0);
    CHECK_EQ_INT(rig_run(s->r, 2), 0);
    CHECK_EQ_STR(rig_story(s->r), "");
}

TEST(a_desc_that_is_no_good_is_refused_with_words_and_changes_nothing) {
    stage s;
    phi_evaluate_desc good;
    stage_set(&s, rig_new(), 2);
    REQUIRE(stage_open(&s));
    good = s.desc;
#define ROW(change, status, words)                                                                 \
    s.desc = good;                                                                                 \
    s.desc.change;                                                                                 \
    refused(&s, status, words)
    ROW(configs = NULL, PHI_BAD_ARG, "phi_evaluate: configs: expected at least one");
    ROW(config_count = 0, PHI_BAD_ARG, "phi_evaluate: configs: expected at least one");
    ROW(config_count = 65, PHI_BAD_ARG, "phi_evaluate: config_count is 65: expected at most 64");
    ROW(by = (phi_evaluate_by)77, PHI_BAD_ARG, "phi_evaluate: by is none of its values");
    ROW(by = PHI_EVALUATE_TRANSPARENT, PHI_BAD_ARG,
        "phi_evaluate: config_count is 2: PHI_EVALUATE_TRANSPARENT expects 1");
    ROW(by = PHI_EVALUATE_JUDGE, PHI_BAD_ARG, "phi_evaluate: judge is missing");
    ROW(by = PHI_EVALUATE_CUSTOM, PHI_BAD_ARG, "phi_evaluate: evaluate_fn is missing");
    ROW(prompt = "", PHI_BAD_ARG, "phi_evaluate: the prompt is empty");
    ROW(content = (const phi_content *)"x", PHI_BAD_ARG,
        "phi_evaluate: prompt and content are both given");
    ROW(prompt = NULL, PHI_MISUSE, "phi_evaluate: there are no messages to go on from");
#undef ROW
    CHECK_EQ_INT(phi_evaluate(s.agent, NULL), PHI_BAD_ARG);
    CHECK_EQ_STR(words_of(s.r), "phi_evaluate: desc is NULL");
    rig_free(s.r);
}

TEST(a_configuration_that_is_no_good_is_named) {
    stage s;
    phi_agent_desc bad;
    phi_store store;
    memset(&store, 0, sizeof store);
    stage_set(&s, rig_new(), 1);
    REQUIRE(stage_open(&s));
    bad = s.configs[1];
    s.desc.configs = &bad;
    bad.store = &store;
    refused(&s, PHI_BAD_ARG, "phi_evaluate: configs[0].store: expected NULL");
    bad.store = NULL;
    bad.thread_id = "t";
    refused(&s, PHI_BAD_ARG, "phi_evaluate: configs[0].thread_id: expected NULL");
    bad.thread_id = NULL;
    bad.model.id = NULL;
    refused(&s, PHI_BAD_ARG, "phi_evaluate: configs[0]: model.id is missing");
    s.desc.configs = &s.configs[1];
    s.desc.judge = &bad;
    s.desc.by = PHI_EVALUATE_JUDGE;
    refused(&s, PHI_BAD_ARG, "phi_evaluate: judge: model.id is missing");
    bad.store = &store;
    refused(&s, PHI_BAD_ARG, "phi_evaluate: judge.store: expected NULL");
    rig_free(s.r);
}

TEST(handles_that_are_none_are_refused) {
    stage s;
    phi_evaluation out;
    phi_agent none = PHI_ZERO;
    stage_set(&s, rig_new(), 2);
    REQUIRE(stage_open(&s));
    CHECK_EQ_INT(phi_evaluation_result(s.agent, &out), PHI_NOT_FOUND);
    CHECK_EQ_INT(phi_evaluation_result(s.agent, NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_evaluation_result(none, &out), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_evaluate(none, &s.desc), PHI_BAD_ARG);
    CHECK_EQ_INT(evaluate_resume(none, &s.desc), PHI_BAD_ARG);
    CHECK_EQ_INT(evaluate_resume(s.agent, &s.desc), PHI_NOT_FOUND);
    CHECK_EQ_STR(words_of(s.r), "phi_evaluate: no evaluation waits");
    phi_agent_free(s.agent);
    CHECK_EQ_INT(phi_evaluate(s.agent, &s.desc), PHI_STALE);
    CHECK_EQ_INT(evaluate_resume(s.agent, &s.desc), PHI_STALE);
    CHECK_EQ_INT(phi_evaluation_result(s.agent, &out), PHI_STALE);
    rig_free(s.r);
}

TEST(the_agent_is_busy_meanwhile_and_so_are_its_branches) {
    stage s;
    phi_evaluation e;
    stage_set(&s, rig_new(), 2);
    REQUIRE(stage_open(&s));
    s.actors[2].polls = 20;
    CHECK_EQ_INT(phi_evaluate(s.agent, &s.desc), PHI_OK);
    CHECK_EQ_INT(phi_evaluate(s.agent, &s.desc), PHI_BUSY);
    CHECK_EQ_STR(words_of(s.r), "phi_evaluate: an evaluation is going on");
    CHECK(rig_run(s.r, 5) > 0);
    CHECK_EQ_INT(phi_prompt(s.agent, "x"), PHI_BUSY);
    CHECK_EQ_INT(phi_agent_reset(s.agent), PHI_BUSY);
    CHECK_EQ_INT(phi_agent_replace_messages(s.agent, NULL, 0), PHI_BUSY);
    CHECK_EQ_INT(phi_agent_new_session(s.agent, false), PHI_BUSY);
    CHECK_EQ_INT(set_system_prompt(s.agent, "x"), PHI_BUSY);
    e = stage_result(&s);
    CHECK_EQ_INT(e.status, PHI_BUSY);
    CHECK_EQ_INT(e.branches[0].status, PHI_OK); /* it has ended, and waits */
    CHECK_EQ_INT(phi_prompt(e.branches[0].agent, "x"), PHI_BUSY);
    CHECK_EQ_INT(phi_agent_replace_messages(e.branches[0].agent, NULL, 0), PHI_BUSY);
    CHECK_EQ_INT(e.branches[1].status, PHI_BUSY);
    CHECK_EQ_INT(e.branches[0].lane.len, 0);
    CHECK_EQ_INT(rig_run(s.r, 100), 0);
    e = stage_result(&s);
    CHECK_EQ_INT(e.status, PHI_OK);
    (void)rig_step(s.r);
    CHECK(!phi_agent_alive(e.branches[0].agent)); /* their events were popped */
    CHECK(!phi_agent_alive(e.branches[1].agent));
    rig_free(s.r);
}

/* ---- the records ---- */

TEST(a_note_behind_the_branches_names_the_selected_one) {
    stage s;
    phi_thread *thread;
    phi_entry entry;
    uint64_t seq = 0;
    size_t notes = 0;
    stage_set(&s, rig_new(), 2);
    REQUIRE(stage_open(&s));
    s.desc.by = PHI_EVALUATE_ELABORATE;
    stage_evaluate(&s);
    thread = phi_agent_thread(s.agent);
    while (phi_thread_entry(thread, seq++, &entry) == PHI_OK) {
        if (entry.kind != PHI_ENTRY_NOTE) continue;
        notes++;
        CHECK_STR(entry.note_kind, PHI_NOTE_PARALLEL);
        CHECK_STR(entry.note,
                  "{\"session_id\":\"s\",\"loop_ids\":[\"s.play.a.1\",\"s.play.b.2\"],\"lanes\":["
                  "\"branch/s.play.a.1\",\"branch/s.play.b.2\"],\"selected_loop_id\":"
                  "\"s.play.b.2\",\"selected_index\":1,\"evaluation_usage\":{\"input\":0,"
                  "\"output\":0,\"reasoning\":0,\"cache_read\":0,\"cache_write\":0,"
                  "\"total_tokens\":0}}");
    }
    CHECK_EQ_INT(notes, 1);
    rig_free(s.r);
}

TEST(a_lane_that_has_the_name_of_a_branch_gets_its_run) {
    stage s;
    stage_set(&s, rig_new(), 2);
    REQUIRE(stage_open(&s));
    CHECK_EQ_INT(phi_prompt(s.agent, "Hello"), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 100), 0);
    CHECK_EQ_INT(
        phi_thread_fork_lane(phi_agent_thread(s.agent), "branch/s.play.a.1", NULL, UINT64_MAX),
        PHI_OK);
    stage_evaluate(&s);
    CHECK_EQ_INT(stage_result(&s).status, PHI_OK);
    CHECK_EQ_STR(lane_texts(s.agent, NULL), "Hello|own|Why?|one");
    CHECK_EQ_INT(phi_thread_get_info(phi_agent_thread(s.agent)).lane_count, 3);
    rig_free(s.r);
}

TEST(a_session_of_the_log_has_the_group) {
    stage s;
    phi_session *session = NULL;
    const phi_loop_record *siblings[4], *loop;
    stage_set(&s, rig_new(), 2);
    REQUIRE(stage_open(&s));
    s.desc.by = PHI_EVALUATE_JUDGE;
    s.desc.judge = &s.configs[5];
    s.actors[5].text = "2";
    stage_evaluate(&s);
    CHECK_EQ_INT(phi_session_of_thread(phi_agent_thread(s.agent), NULL, &session), PHI_OK);
    REQUIRE(session != NULL);
    CHECK_EQ_INT(session->loop_count, 3);
    loop = session_loop(session, PHI__LIT("s.play.b.2"));
    REQUIRE(loop != NULL && loop->group != NULL);
    CHECK(loop->group->is_selected);
    CHECK_EQ_INT(loop->group->selected_index, 1);
    CHECK_EQ_INT(loop->group->evaluation_usage.total_tokens, 160);
    CHECK_EQ_INT(loop->group->loop_count, 2);
    CHECK_STR(loop->group->selected_loop_id, "s.play.b.2");
    CHECK_EQ_INT(loop->message_count, 2);
    CHECK_EQ_INT(phi_session_loops(session, PHI_LOOP_SIBLINGS, PHI__LIT("s.play.a.1"), siblings, 4),
                 2);
    CHECK(siblings[0]->group != NULL && !siblings[0]->group->is_selected);
    CHECK(session_loop(session, PHI__LIT("s.play.judge.3"))->group == NULL);
    CHECK_EQ_INT(session_usage(session).total_tokens, 120 + 130 + 160);
    phi_session_free(session);
    rig_free(s.r);
}

static void record_event(void *user_data, const phi_event *event) {
    (void)phi_recorder_add((phi_recorder *)user_data, event);
}

TEST(a_recorder_has_pending_loops_before_they_begin_and_the_group_afterwards) {
    stage s;
    phi_recorder *recorder = phi_recorder_new(NULL);
    const phi_session *session;
    const phi_loop_record *loop;
    stage_set(&s, rig_new(), 2);
    REQUIRE(stage_open(&s) && recorder != NULL);
    rig_watch(s.r, record_event, recorder);
    CHECK_EQ_INT(phi_evaluate(s.agent, &s.desc), PHI_OK);
    {
        phi_event event; /* before any step: only the start is queued */
        REQUIRE(phi_next_event(rig_runtime(s.r), &event));
        CHECK_EQ_INT(event.kind, PHI_EV_PARALLEL_START);
        (void)phi_recorder_add(recorder, &event);
        CHECK(!phi_next_event(rig_runtime(s.r), &event));
    }
    session = recorder_find(recorder, PHI__LIT("s"));
    REQUIRE(session != NULL);
    CHECK_EQ_INT(session->loop_count, 2);
    CHECK_EQ_INT(session->loops[0]->status, PHI_LOOP_PENDING);
    CHECK_EQ_INT(rig_run(s.r, 100), 0);
    session = recorder_find(recorder, PHI__LIT("s"));
    REQUIRE(session != NULL);
    loop = session_loop(session, PHI__LIT("s.play.a.1"));
    REQUIRE(loop != NULL && loop->group != NULL);
    CHECK_EQ_INT(loop->status, PHI_LOOP_COMPLETED);
    CHECK(loop->group->is_selected);
    CHECK(!session_loop(session, PHI__LIT("s.play.b.2"))->group->is_selected);
    phi_recorder_free(recorder);
    rig_free(s.r);
}

TEST_MAIN(
    TEST_ENTRY(the_first_branch_goes_on_as_the_conversation), TEST_ENTRY(figures_select),
    TEST_ENTRY(a_transparent_evaluation_has_one_branch),
    TEST_ENTRY(a_judge_selects_and_has_the_next_number),
    TEST_ENTRY(events_bracket_the_branches_and_name_them), TEST_ENTRY(an_abort_is_told_at_the_end),
    TEST_ENTRY(numbers_go_on_behind_those_of_every_configuration),
    TEST_ENTRY(a_judge_whose_window_is_too_small_is_warned_about),
    TEST_ENTRY(without_a_prompt_branches_answer_the_last_message),
    TEST_ENTRY(a_prompt_may_be_content),
    TEST_ENTRY(branches_have_the_agents_prompt_and_tools_unless_they_have_their_own),
    TEST_ENTRY(a_branch_with_tools_is_a_lane_with_its_calls),
    TEST_ENTRY(a_branch_knows_the_facts_of_its_agent_and_a_judge_none),
    TEST_ENTRY(a_branch_begins_with_the_tool_state_and_what_the_selected_one_did_to_it_counts),
    TEST_ENTRY(a_function_of_the_hosts_selects_when_it_is_ready),
    TEST_ENTRY(hours_of_a_pause_end_no_selection_that_waits),
    TEST_ENTRY(a_selection_that_is_too_large_or_fails_or_never_comes_is_some_branch),
    TEST_ENTRY(a_selection_that_waits_ends_with_an_abort_and_with_its_agent),
    TEST_ENTRY(a_desc_that_is_no_good_is_refused_with_words_and_changes_nothing),
    TEST_ENTRY(a_configuration_that_is_no_good_is_named),
    TEST_ENTRY(handles_that_are_none_are_refused),
    TEST_ENTRY(the_agent_is_busy_meanwhile_and_so_are_its_branches),
    TEST_ENTRY(a_note_behind_the_branches_names_the_selected_one),
    TEST_ENTRY(a_lane_that_has_the_name_of_a_branch_gets_its_run),
    TEST_ENTRY(a_session_of_the_log_has_the_group),
    TEST_ENTRY(a_recorder_has_pending_loops_before_they_begin_and_the_group_afterwards))
