/* test_questions.c - questions of rooms above the loop to the host of an agent: answered at once, later,
   from another thread, too late, or never; many at once; withdrawn, and freed in their midst. */
#include "loop/loop_in.h"
#include "record/replay.h"
#include "support/heard.h"
#include "record/event_json.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "loop/inner_in.h"
#include "loop/inner_in.h"

#include <pthread.h>

enum { ASKED_MOST = 70 };

/* Who asks: a tool whose call waits for the answer, or a test by hand. */
typedef struct asker {
    phi__question *open[ASKED_MOST];
    phi_call call;
    phi_status status;   /* of the last open */
    size_t count;        /* opened */
    int decided, inside; /* inside: of open */
    bool opening, keeps; /* keeps: the answer does not finish the call */
    phi_verdict verdict;
    char reply[200];
    phi_agent frees; /* in `decided` */
    bool reopens;
    uint32_t timeout_ms;
    int cancelled;
} asker;

static void ask(asker *a, phi_agent agent, phi_call call, const char *kind);

static void asker_decided(void *ctx, phi_verdict verdict, phi_str reply) {
    asker *a = (asker *)ctx;
    a->decided++;
    if (a->opening) a->inside++;
    a->verdict = verdict;
    heard_copy(a->reply, sizeof a->reply, reply);
    if (a->frees.rt != NULL) phi_agent_free(a->frees);
    if (a->reopens) {
        a->reopens = false;
        ask(a, phi_call_get_info(a->call).agent, a->call, "again");
        return;
    }
    if (a->call.rt != NULL && !a->keeps) {
        phi_content content;
        phi_tool_result result;
        memset(&content, 0, sizeof content);
        memset(&result, 0, sizeof result);
        content.kind = PHI_CONTENT_TEXT;
        content.text = verdict == PHI_ALLOW ? reply : phi_str_of("declined");
        result.content = &content;
        result.content_count = 1;
        (void)phi_call_result(a->call, &result);
    }
}

static void ask(asker *a, phi_agent agent, phi_call call, const char *kind) {
    phi__question_desc desc;
    phi__question *q = NULL;
    memset(&desc, 0, sizeof desc);
    desc.call = call;
    desc.source = phi_str_of("forge");
    desc.kind = phi_str_of(kind);
    desc.text = phi_str_of("Which metal?");
    desc.arguments = phi_str_of("{\"of\":[\"iron\"]}");
    desc.timeout_ms = a->timeout_ms;
    desc.decided = asker_decided;
    desc.ctx = a;
    a->opening = true;
    a->status = phi__question_open(agent, &desc, &q);
    a->opening = false;
    if (a->status == PHI_OK && a->count < ASKED_MOST) a->open[a->count++] = q;
}

static phi_flow ask_start(void *user_data, phi_call call, phi_str arguments) {
    asker *a = (asker *)user_data;
    (void)arguments;
    a->call = call;
    ask(a, phi_call_get_info(call).agent, call, "elicitation");
    return PHI_PENDING;
}

static void ask_cancel(void *user_data, phi_call call) {
    asker *a = (asker *)user_data;
    (void)call;
    a->cancelled++;
    a->call.rt = NULL;
}

static phi_tool ask_tool(asker *a) {
    phi_tool tool;
    memset(&tool, 0, sizeof tool);
    memset(a, 0, sizeof *a);
    tool.name = "ask";
    tool.description = "Asks";
    tool.start = ask_start;
    tool.cancel = ask_cancel;
    tool.user_data = a;
    tool.timeout_ms = 1000;
    return tool;
}

static phi_agent asking(rig *r, asker *a, uint32_t points) {
    static phi_tool tool; /* borrowed until the agent is freed */
    phi_agent_desc desc = rig_desc();
    tool = ask_tool(a);
    desc.tools = &tool;
    desc.tool_count = 1;
    desc.deadlines.decision_ms = 400;
    if (points != 0) rig_hooks(r, &desc, points);
    rig_call(r, "c1", "ask", "{}");
    rig_says(r, "done");
    return rig_agent(r, &desc);
}

static const phi_call no_call = {NULL, 0, 0};

TEST(a_hook_answers_a_question_at_once) {
    rig *r = rig_new();
    asker a;
    phi_agent agent = asking(r, &a, PHI_HOOK_QUESTION);
    rig_answers(r, PHI_HOOK_QUESTION, PHI_ALLOW, "{\"metal\":\"iron\"}");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 300), 0);
    CHECK(strstr(rig_story(r),
                 "-> question elicitation of forge: Which metal? {\"of\":[\"iron\"]} "
                 "(ask)\nToolExecutionEnd toolResult c1 \"{\"metal\":\"iron\"}\"\n") != NULL);
    CHECK_EQ_INT(a.decided, 1);
    CHECK_EQ_INT(a.inside, 0);
    rig_free(r);
}

TEST(an_agent_whose_hook_does_not_want_questions_denies_them) {
    uint32_t points;
    for (points = 0; points <= (uint32_t)PHI_HOOK_BEFORE_TOOL; points += PHI_HOOK_BEFORE_TOOL) {
        rig *r = rig_new();
        asker a;
        phi_agent agent = asking(r, &a, points);
        CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 300), 0);
        CHECK(strstr(rig_story(r), "\"declined\"") != NULL);
        CHECK_EQ_INT(a.verdict, PHI_DENY);
        CHECK_EQ_STR(a.reply, "");
        CHECK_EQ_INT(a.inside, 0);
        rig_free(r);
    }
}

TEST(a_question_waits_for_a_decision_that_phi_pending_lists) {
    rig *r = rig_new();
    asker a;
    phi_pending_item items[4], item;
    phi_agent agent = asking(r, &a, PHI_HOOK_QUESTION);
    rig_answers(r, PHI_HOOK_QUESTION, PHI_WAIT, NULL);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 1);
    CHECK(strstr(rig_story(r), "Decision question c1 ask elicitation of forge: Which metal? "
                               "{\"of\":[\"iron\"]}\n") != NULL);
    CHECK_EQ_INT(phi_pending(rig_runtime(r), items, 4), 2);
    CHECK_EQ_INT(items[0].kind, PHI_WAITING_DECISION);
    CHECK_EQ_INT(items[0].point, PHI_HOOK_QUESTION);
    CHECK_STR(items[0].source, "forge");
    CHECK_STR(items[0].question_kind, "elicitation");
    CHECK_STR(items[0].text, "Which metal?");
    CHECK_STR(items[0].arguments, "{\"of\":[\"iron\"]}");
    CHECK_STR(items[0].tool_name, "ask");
    CHECK(items[0].has_deadline && items[0].left_ms <= 400 && items[0].left_ms > 200);
    CHECK_EQ_INT(items[1].kind, PHI_WAITING_CALL);
    CHECK_EQ_INT((item = phi_agent_get_info(agent).waiting).kind, PHI_WAITING_DECISION);
    CHECK_EQ_INT(item.ticket.gen, rig_ticket(r, 0).gen);
    CHECK_EQ_INT(phi_decide(item.ticket, PHI_ALLOW, "gold"), PHI_OK);
    CHECK_EQ_INT(phi_decide(item.ticket, PHI_DENY, NULL), PHI_STALE);
    CHECK_EQ_INT(rig_run(r, 50), 0);
    CHECK_EQ_INT(a.decided, 1);
    CHECK_EQ_STR(a.reply, "gold");
    CHECK_EQ_INT(phi_decide(rig_ticket(r, 0), PHI_ALLOW, NULL), PHI_STALE);
    CHECK_EQ_INT(phi_pending(rig_runtime(r), items, 4), 0);
    rig_free(r);
}

/* Hypothesis: one of the ends of a waiting question is reported twice, or not at all, or leaves a ticket. */
TEST(every_end_of_a_waiting_question_is_reported_once) {
    enum { ABORT, FREE, LATE, FINISH, CALL_LATE, CLOSE, DENY, CLOSE_RUNTIME, ENDS };
    static const char *const replies[ENDS] = {"The tool call that led to the question is over.",
                                              "The agent was freed.",
                                              "Nobody decided within 400 ms.",
                                              "The tool call that led to the question is over.",
                                              "The tool call that led to the question is over.",
                                              "",
                                              "not now",
                                              "The tool call that led to the question is over."};
    int how;
    for (how = 0; how < ENDS; how++) {
        rig *r = rig_new();
        asker a;
        phi_agent agent = asking(r, &a, PHI_HOOK_QUESTION);
        if (how == CALL_LATE) a.timeout_ms = PHI_UNLIMITED;
        rig_answers(r, PHI_HOOK_QUESTION, PHI_WAIT, NULL);
        CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 100), 1);
        CHECK_EQ_INT(a.count, 1);
        if (how == ABORT) CHECK_EQ_INT(phi_abort(agent), PHI_OK);
        if (how == FREE) phi_agent_free(agent);
        if (how == LATE) rig_pass_ms(r, 401);
        if (how == FINISH) CHECK_EQ_INT(phi_call_reply(a.call, "x"), PHI_OK);
        if (how == CALL_LATE) rig_pass_ms(r, 1001);
        if (how == DENY) CHECK_EQ_INT(phi_decide(rig_ticket(r, 0), PHI_DENY, "not now"), PHI_OK);
        if (how == CLOSE_RUNTIME) CHECK_EQ_INT(phi_runtime_close(rig_runtime(r)), PHI_BUSY);
        if (how == CLOSE) {
            phi__question_close(a.open[0]);
            CHECK_EQ_INT(phi_call_reply(a.call, "x"), PHI_OK);
        }
        CHECK_EQ_INT(rig_run(r, 100), 0);
        CHECK_EQ_INT(phi_step(rig_runtime(r), 0), 0);
        CHECK_EQ_INT(a.decided, how == CLOSE ? 0 : 1);
        if (!CHECK_EQ_STR(a.reply, replies[how])) printf("  end %d\n", how);
        if (how != CLOSE) CHECK_EQ_INT(a.verdict, how == DENY ? PHI_DENY : PHI_WAIT);
        CHECK_EQ_INT(phi_decide(rig_ticket(r, 0), PHI_ALLOW, NULL), PHI_STALE);
        CHECK_EQ_INT(phi_pending(rig_runtime(r), NULL, 0), 0);
        rig_free(r);
    }
}

/* ---- without a call, without a run ---- */

TEST(an_agent_is_asked_between_its_runs) {
    rig *r = rig_new();
    asker a;
    phi_pending_item item;
    phi_agent agent = asking(r, &a, PHI_HOOK_QUESTION);
    rig_answers(r, PHI_HOOK_QUESTION, PHI_WAIT, NULL);
    ask(&a, agent, no_call, "sampling");
    CHECK_EQ_INT(a.status, PHI_OK);
    CHECK_EQ_INT((item = phi_agent_get_info(agent).waiting).kind, PHI_WAITING_NOTHING);
    CHECK_EQ_INT(rig_run(r, 3), 0);
    CHECK_EQ_STR(rig_story(r), "-> question sampling of forge: Which metal? {\"of\":[\"iron\"]}\n"
                               "Decision question sampling of forge: Which metal? "
                               "{\"of\":[\"iron\"]}\n");
    CHECK_EQ_INT((item = phi_agent_get_info(agent).waiting).kind, PHI_WAITING_DECISION);
    CHECK_EQ_INT(item.call.gen, 0);
    CHECK_EQ_INT(item.agent.index, agent.index);
    CHECK_EQ_INT(phi_decide(item.ticket, PHI_ALLOW, NULL), PHI_OK);
    rig_step(r);
    rig_step(r);
    CHECK_EQ_INT(a.decided, 1);
    CHECK_EQ_INT(a.verdict, PHI_ALLOW);
    CHECK_EQ_STR(a.reply, "");
    rig_free(r);
}

/* Hypothesis: an abort, or a run that ends, takes a question with it that is not its own. */
TEST(a_question_of_no_call_outlives_runs_and_aborts) {
    rig *r = rig_new();
    asker a;
    phi_agent agent = asking(r, &a, PHI_HOOK_QUESTION);
    asker own;
    memset(&own, 0, sizeof own);
    rig_answers(r, PHI_HOOK_QUESTION, PHI_WAIT, NULL);
    ask(&own, agent, no_call, "sampling");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    rig_answers(r, PHI_HOOK_QUESTION, PHI_WAIT, NULL);
    CHECK_EQ_INT(rig_run(r, 100), 1);
    CHECK_EQ_INT(phi_abort(agent), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    CHECK_EQ_INT(rig_step(r), 0);
    CHECK_EQ_INT(a.decided, 1);
    CHECK_EQ_INT(own.decided, 0);
    CHECK_EQ_INT(phi_decide(rig_ticket(r, 0), PHI_ALLOW, "yes"), PHI_OK);
    rig_run(r, 2);
    CHECK_EQ_INT(own.decided, 1);
    CHECK_EQ_STR(own.reply, "yes");
    rig_free(r);
}

/* Hypothesis: a next timeout of "never" lets a question sleep until something else happens. */
TEST(an_open_question_is_due_at_once) {
    rig *r = rig_new();
    asker a;
    phi_agent agent = asking(r, &a, PHI_HOOK_QUESTION);
    CHECK_EQ_INT(phi_next_timeout(rig_runtime(r)), -1);
    ask(&a, agent, no_call, "sampling");
    CHECK_EQ_INT(phi_next_timeout(rig_runtime(r)), 0);
    CHECK_EQ_INT(phi_step(rig_runtime(r), -1), 0);
    CHECK_EQ_INT(a.decided, 1);
    CHECK_EQ_INT(phi_next_timeout(rig_runtime(r)), -1);
    rig_free(r);
}

/* The same event after it was written as JSON and read again. */
static void through_json(void *user_data, const phi_event *e) {
    int *seen = (int *)user_data;
    phi_allocator allocator = test_allocator();
    phi_memory memory;
    phi_arena arena;
    phi_event back;
    phi_str text;
    if (e->kind != PHI_EV_DECISION) return;
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_event_to_json(e, &arena, &text), PHI_OK);
    CHECK_EQ_INT(phi_event_from_json(text, &arena, &back, NULL), PHI_OK);
    CHECK_EQ_INT(back.point, PHI_HOOK_QUESTION);
    CHECK_STR(back.source, "forge");
    CHECK_STR(back.question_kind, "sampling");
    CHECK_STR(back.text, "Which metal?");
    CHECK_STR(back.arguments, "{\"of\":[\"iron\"]}");
    phi_arena_free(&arena);
    ++*seen;
}

TEST(the_event_of_a_question_is_the_same_in_json) {
    rig *r = rig_new();
    asker a;
    int seen = 0;
    phi_agent agent = asking(r, &a, PHI_HOOK_QUESTION);
    rig_answers(r, PHI_HOOK_QUESTION, PHI_WAIT, NULL);
    rig_watch(r, through_json, &seen);
    ask(&a, agent, no_call, "sampling");
    (void)rig_run(r, 3);
    rig_step(r);
    CHECK_EQ_INT(seen, 1);
    rig_free(r);
}

/* ---- many, and bad ones ---- */

TEST(an_agent_has_at_most_64_questions_open) {
    rig *r = rig_new();
    asker a;
    phi_agent agent = asking(r, &a, PHI_HOOK_QUESTION);
    phi_ticket tickets[PHI__QUESTION_MOST];
    int i;
    for (i = 0; i < PHI__QUESTION_MOST; i++) {
        rig_answers(r, PHI_HOOK_QUESTION, PHI_WAIT, NULL);
        ask(&a, agent, no_call, "elicitation");
        CHECK_EQ_INT(a.status, PHI_OK);
    }
    ask(&a, agent, no_call, "elicitation");
    CHECK_EQ_INT(a.status, PHI_FULL);
    CHECK_EQ_INT(rig_run(r, 3), 0);
    CHECK_EQ_INT(phi_pending(rig_runtime(r), NULL, 0), PHI__QUESTION_MOST);
    for (i = 0; i < PHI__QUESTION_MOST; i++) tickets[i] = rig_ticket(r, (size_t)i);
    for (i = PHI__QUESTION_MOST - 1; i >= 0; i--)
        if (i % 3 == 0)
            phi__question_close(a.open[i]);
        else if (i % 3 == 1)
            CHECK_EQ_INT(phi_decide(tickets[i], PHI_ALLOW, "x"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 3), 0);
    CHECK_EQ_INT(a.decided, 21);
    phi_agent_free(agent);
    CHECK_EQ_INT(a.decided, 42);
    for (i = 0; i < PHI__QUESTION_MOST; i++)
        CHECK_EQ_INT(phi_decide(tickets[i], PHI_ALLOW, NULL), PHI_STALE);
    rig_free(r);
}

TEST(questions_to_agents_and_calls_that_are_gone_are_refused) {
    rig *r = rig_new();
    asker a;
    phi_agent agent = asking(r, &a, PHI_HOOK_QUESTION), other;
    phi_agent_desc desc = rig_desc();
    rig_answers(r, PHI_HOOK_QUESTION, PHI_WAIT, NULL);
    other = rig_agent(r, &desc);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 1);
    ask(&a, other, a.call, "elicitation"); /* of another agent's call */
    CHECK_EQ_INT(a.status, PHI_STALE);
    phi_agent_free(other);
    ask(&a, other, no_call, "elicitation");
    CHECK_EQ_INT(a.status, PHI_STALE);
    {
        phi_call gone = a.call;
        CHECK_EQ_INT(phi_call_reply(a.call, "x"), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 100), 0);
        ask(&a, agent, gone, "elicitation");
        CHECK_EQ_INT(a.status, PHI_STALE);
    }
    CHECK_EQ_INT(phi_runtime_close(rig_runtime(r)), PHI_OK);
    ask(&a, agent, no_call, "elicitation");
    CHECK_EQ_INT(a.status, PHI_MISUSE);
    phi__question_close(NULL);
    rig_free(r);
}

TEST(empty_and_huge_questions_are_asked_as_they_are) {
    rig *r = rig_new();
    asker a;
    phi_agent agent = asking(r, &a, PHI_HOOK_QUESTION);
    phi__question_desc desc;
    phi__question *q = NULL;
    phi_pending_item item;
    size_t n = 3 << 20;
    char *huge = (char *)malloc(n);
    memset(huge, 'x', n);
    memset(&desc, 0, sizeof desc);
    desc.decided = asker_decided;
    desc.ctx = &a;
    rig_silent(r, true);
    rig_answers(r, PHI_HOOK_QUESTION, PHI_WAIT, NULL);
    CHECK_EQ_INT(phi__question_open(agent, &desc, &q), PHI_OK);
    rig_step(r);
    CHECK_EQ_INT((item = phi_agent_get_info(agent).waiting).kind, PHI_WAITING_DECISION);
    CHECK_STR(item.text, "");
    CHECK_STR(item.source, "");
    phi__question_close(q);
    desc.text = desc.arguments = phi__str(huge, n);
    rig_answers(r, PHI_HOOK_QUESTION, PHI_WAIT, NULL);
    CHECK_EQ_INT(phi__question_open(agent, &desc, &q), PHI_OK);
    free(huge);
    rig_step(r);
    CHECK_EQ_INT((item = phi_agent_get_info(agent).waiting).kind, PHI_WAITING_DECISION);
    CHECK_EQ_INT(item.text.len, n);
    CHECK(item.arguments.at[n - 1] == 'x');
    rig_silent(r, false);
    rig_free(r);
    CHECK_EQ_INT(a.decided, 1); /* with the agent */
}

/* Hypothesis: who asks writes on the terminal of the person whom the host shows the text. */
TEST(a_person_is_not_shown_control_characters) {
    rig *r = rig_new();
    asker a;
    phi_agent agent = asking(r, &a, PHI_HOOK_QUESTION);
    phi__question_desc desc;
    phi__question *q = NULL;
    phi_pending_item item;
    memset(&desc, 0, sizeof desc);
    desc.decided = asker_decided;
    desc.ctx = &a;
    desc.source = phi_str_of("for\x1b[2Jge");
    desc.text = phi_str_of("Which\x1b]0;metal\a of\nthese?");
    rig_silent(r, true);
    rig_answers(r, PHI_HOOK_QUESTION, PHI_WAIT, NULL);
    CHECK_EQ_INT(phi__question_open(agent, &desc, &q), PHI_OK);
    rig_step(r);
    CHECK_EQ_INT((item = phi_agent_get_info(agent).waiting).kind, PHI_WAITING_DECISION);
    CHECK(memchr(item.source.at, 0x1b, item.source.len) == NULL);
    CHECK(memchr(item.text.at, 0x1b, item.text.len) == NULL);
    CHECK(memchr(item.text.at, '\a', item.text.len) == NULL);
    CHECK(item.text.len > 10 && item.text.at[item.text.len] == '\0');
    rig_silent(r, false);
    rig_free(r);
}

/* ---- in the midst of the hook ---- */

typedef struct deed {
    asker *a;
    phi_agent agent;
    enum { FREES, CLOSES, FINISHES, ABORTS, ASKS, DECIDES } what;
    phi_verdict verdict;
    int rounds;
} deed;

static phi_verdict deed_hook(void *user_data, phi_hook *hook) {
    deed *d = (deed *)user_data;
    if (hook->point != PHI_HOOK_QUESTION) return PHI_ALLOW;
    d->rounds++;
    if (d->rounds > 1) return PHI_ALLOW;
    switch (d->what) {
    case FREES: phi_agent_free(d->agent); break;
    case CLOSES: phi__question_close(d->a->open[0]); break;
    case FINISHES: CHECK_EQ_INT(phi_call_reply(hook->call, "host"), PHI_OK); break;
    case ABORTS: CHECK_EQ_INT(phi_abort(d->agent), PHI_OK); break;
    case ASKS: ask(d->a, d->agent, d->a->call, "second"); break;
    case DECIDES: CHECK_EQ_INT(phi_decide(hook->ticket, PHI_DENY, "no"), PHI_OK); break;
    }
    return d->verdict;
}

/* Hypothesis: a question that goes away while its hook is called is used behind it. */
TEST(a_hook_may_do_anything_to_the_question_it_is_asked) {
    int what, verdict;
    for (what = FREES; what <= DECIDES; what++)
        for (verdict = PHI_ALLOW; verdict <= PHI_WAIT; verdict++) {
            rig *r = rig_new();
            asker a;
            deed d;
            int want = what == CLOSES ? 0 : what == ASKS ? 2 : 1;
            memset(&d, 0, sizeof d);
            d.a = &a;
            d.verdict = (phi_verdict)verdict;
            d.agent = asking(r, &a, PHI_HOOK_QUESTION);
            *(int *)&d.what = what;
            rig_hook_with(r, deed_hook, &d);
            CHECK_EQ_INT(phi_prompt(d.agent, "go"), PHI_OK);
            (void)rig_run_until(r, 3000);
            CHECK_EQ_INT(phi_step(rig_runtime(r), 0), 0);
            if (!CHECK_EQ_INT(a.decided, want)) printf("  deed %d, verdict %d\n", what, verdict);
            CHECK_EQ_INT(phi_pending(rig_runtime(r), NULL, 0), 0);
            CHECK_EQ_INT(phi_agent_alive(d.agent), what != FREES);
            rig_free(r);
        }
}

TEST(the_one_who_asks_may_free_the_agent_and_ask_again_in_decided) {
    int how;
    for (how = 0; how < 3; how++) {
        rig *r = rig_new();
        asker a;
        phi_agent agent = asking(r, &a, PHI_HOOK_QUESTION);
        rig_answers(r, PHI_HOOK_QUESTION, PHI_ALLOW, "one");
        rig_answers(r, PHI_HOOK_QUESTION, PHI_ALLOW, "two");
        if (how == 0) a.frees = agent;
        if (how == 1) a.reopens = true;
        CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 200), 0);
        CHECK_EQ_INT(a.decided, how == 1 ? 2 : 1);
        CHECK_EQ_STR(a.reply, how == 1 ? "two" : "one");
        CHECK_EQ_INT(phi_agent_alive(agent), how != 0);
        rig_free(r);
    }
}

static phi_verdict rounds_hook(void *user_data, phi_hook *hook) {
    phi_ticket *ticket = (phi_ticket *)user_data;
    if (hook->round == 0) {
        CHECK_STR(hook->reply, "");
        *ticket = hook->ticket;
        hook->ask_again = true;
        hook->quiet = true;
        return PHI_WAIT;
    }
    CHECK_STR(hook->reply, "first");
    CHECK_STR(hook->question_kind, "elicitation");
    hook->reply = phi_str_of("second");
    return PHI_ALLOW;
}

TEST(a_hook_that_calls_others_asks_again) {
    rig *r = rig_new();
    asker a;
    phi_ticket ticket;
    phi_agent agent = asking(r, &a, PHI_HOOK_QUESTION);
    memset(&ticket, 0, sizeof ticket);
    rig_hook_with(r, rounds_hook, &ticket);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 1);
    CHECK(strstr(rig_story(r), "Decision") == NULL);
    CHECK_EQ_INT(phi_decide(ticket, PHI_ALLOW, "first"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    CHECK_EQ_STR(a.reply, "second");
    CHECK_EQ_INT(a.decided, 1);
    rig_free(r);
}

/* ---- threads ---- */

static void *decide_there(void *arg) {
    phi_ticket *ticket = (phi_ticket *)arg;
    (void)phi_decide(*ticket, PHI_ALLOW, "from afar");
    (void)phi_decide(*ticket, PHI_DENY, NULL);
    return NULL;
}

TEST(another_thread_answers) {
    rig *r = rig_new();
    asker a;
    pthread_t thread;
    phi_ticket ticket;
    phi_agent agent = asking(r, &a, PHI_HOOK_QUESTION);
    rig_answers(r, PHI_HOOK_QUESTION, PHI_WAIT, NULL);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 1);
    ticket = rig_ticket(r, 0);
    REQUIRE(pthread_create(&thread, NULL, decide_there, &ticket) == 0);
    (void)rig_run(r, 50); /* meanwhile */
    pthread_join(thread, NULL);
    CHECK_EQ_INT(rig_run(r, 50), 0);
    CHECK_EQ_STR(a.reply, "from afar");
    CHECK_EQ_INT(a.decided, 1);
    rig_free(r);
}

/* ---- memory ---- */

static bool alone(int fail_at) {
    rig *r = rig_new();
    asker a;
    bool tripped;
    phi_agent agent = asking(r, &a, PHI_HOOK_QUESTION);
    rig_answers(r, PHI_HOOK_QUESTION, PHI_WAIT, NULL);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    test_alloc_fail_at(fail_at);
    (void)rig_run(r, 100);
    if (a.count > 0 && a.decided == 0 && rig_ticket(r, 0).rt != NULL)
        (void)phi_decide(rig_ticket(r, 0), PHI_ALLOW, "a reply that needs memory of its own, long");
    (void)rig_run_until(r, 5000);
    tripped = test_alloc_tripped();
    test_alloc_fail_at(-1);
    CHECK_EQ_INT(a.decided, a.count);
    CHECK_EQ_INT(phi_step(rig_runtime(r), 0), 0);
    CHECK(phi_agent_alive(agent));
    if (!tripped) CHECK_EQ_STR(a.reply, "a reply that needs memory of its own, long");
    rig_free(r);
    return tripped;
}

TEST(every_allocation_of_a_question_may_fail) {
    int n = 0;
    while (alone(n)) n++;
    CHECK(n > 20);
}

/* ---- tapes ---- */

typedef struct reel {
    char *at;
    size_t len;
} reel;

static phi_status reel_write(void *user_data, const char *bytes, size_t len) {
    reel *t = (reel *)user_data;
    t->at = (char *)realloc(t->at, t->len + len + 1);
    if (t->at == NULL) abort();
    memcpy(t->at + t->len, bytes, len);
    t->len += len;
    t->at[t->len] = '\0';
    return PHI_OK;
}

/* The host answers when it sees the event; a tape that is played has no such event. */
static void answer_events(void *user_data, const phi_event *e) {
    (void)user_data;
    if (e->kind == PHI_EV_DECISION) CHECK_EQ_INT(phi_decide(e->ticket, PHI_ALLOW, "taped"), PHI_OK);
}

static uint64_t taped(const char *from, reel *out, int *asked) {
    phi_runtime_desc desc;
    phi_tape_desc how;
    phi_tape_divergence d;
    phi_parse_error error;
    phi_agent agent;
    uint64_t hash;
    asker a;
    rig *r;
    memset(&desc, 0, sizeof desc);
    memset(&how, 0, sizeof how);
    how.allocator = test_allocator();
    how.write_fn = reel_write;
    how.user_data = out;
    desc.tape =
        from == NULL ? phi_tape_record(&how) : phi_tape_play(&how, phi_str_of(from), &error);
    r = rig_new_with(&desc);
    agent = asking(r, &a, PHI_HOOK_QUESTION);
    rig_answers(r, PHI_HOOK_QUESTION, PHI_WAIT, NULL);
    rig_watch(r, answer_events, NULL);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 300), 0);
    CHECK(strstr(rig_story(r), "\"taped\"") != NULL);
    *asked = a.decided;
    hash = phi_thread_hash(phi_agent_thread(agent));
    rig_free(r);
    memset(&d, 0, sizeof d);
    if (!CHECK_EQ_INT(phi_tape_end(desc.tape, &d), PHI_OK))
        printf("  line %u: %.*s\n", (unsigned)d.line, (int)d.what.len, d.what.at);
    phi_tape_free(desc.tape);
    return hash;
}

TEST(a_tape_has_the_result_of_the_call_and_no_question) {
    reel tape;
    int asked = 0;
    uint64_t recorded;
    memset(&tape, 0, sizeof tape);
    recorded = taped(NULL, &tape, &asked);
    CHECK_EQ_INT(asked, 1);
    CHECK(strstr(tape.at, "Which metal") == NULL);
    CHECK(taped(tape.at, NULL, &asked) == recorded);
    CHECK_EQ_INT(asked, 0);
    free(tape.at);
}

TEST_MAIN(TEST_ENTRY(a_hook_answers_a_question_at_once),
          TEST_ENTRY(an_agent_whose_hook_does_not_want_questions_denies_them),
          TEST_ENTRY(a_question_waits_for_a_decision_that_phi_pending_lists),
          TEST_ENTRY(every_end_of_a_waiting_question_is_reported_once),
          TEST_ENTRY(an_agent_is_asked_between_its_runs),
          TEST_ENTRY(a_question_of_no_call_outlives_runs_and_aborts),
          TEST_ENTRY(an_open_question_is_due_at_once),
          TEST_ENTRY(the_event_of_a_question_is_the_same_in_json),
          TEST_ENTRY(an_agent_has_at_most_64_questions_open),
          TEST_ENTRY(questions_to_agents_and_calls_that_are_gone_are_refused),
          TEST_ENTRY(empty_and_huge_questions_are_asked_as_they_are),
          TEST_ENTRY(a_person_is_not_shown_control_characters),
          TEST_ENTRY(a_hook_may_do_anything_to_the_question_it_is_asked),
          TEST_ENTRY(the_one_who_asks_may_free_the_agent_and_ask_again_in_decided),
          TEST_ENTRY(a_hook_that_calls_others_asks_again), TEST_ENTRY(another_thread_answers),
          TEST_ENTRY(every_allocation_of_a_question_may_fail),
          TEST_ENTRY(a_tape_has_the_result_of_the_call_and_no_question))
