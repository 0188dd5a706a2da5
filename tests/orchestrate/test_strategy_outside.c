/* test_strategy_outside.c - thoughts whose tools come from a source, and whose calls lead to questions:
   the host is asked, and no list is given back below a call. */
#include "think.h"

#include "loop/inner_in.h"
#include "loop/tool_source.h"
#include "loop/hook.h"
#include "loop/run.h"
#include "loop/inner_in.h"

#include <stdlib.h>

enum { NAME = 32 };

/* A source of one tool, whose list is poisoned when it is given back; its call asks the host. */
typedef struct shop {
    phi_tool_source source;
    uint64_t version;
    int out, ran, decided;
    bool asks; /* else its calls wait */
    phi_call call;
    phi_verdict verdict;
    char reply[60];
} shop;

typedef struct shelf {
    phi_tool tool;
    char name[NAME];
} shelf;

static void shop_decided(void *ctx, phi_verdict verdict, phi_str reply) {
    shop *s = (shop *)ctx;
    s->decided++;
    s->verdict = verdict;
    heard_copy(s->reply, sizeof s->reply, reply);
    (void)phi_call_reply(s->call, "sold");
}

static phi_flow shop_start(void *user_data, phi_call call, phi_str arguments) {
    shop *s = (shop *)user_data;
    phi__question_desc desc;
    phi__question *question;
    (void)arguments;
    s->ran++;
    s->call = call;
    memset(&desc, 0, sizeof desc);
    desc.call = call;
    desc.source = phi_str_of("forge");
    desc.kind = phi_str_of("elicitation");
    desc.text = phi_str_of("Which metal?");
    desc.arguments = phi_str_of("{}");
    desc.decided = shop_decided;
    desc.ctx = s;
    if (s->asks)
        CHECK_EQ_INT(phi__question_open(phi_call_get_info(call).agent, &desc, &question), PHI_OK);
    return PHI_PENDING;
}

static uint64_t shop_version(void *user_data) { return ((shop *)user_data)->version; }

static phi_status shop_take(void *user_data, const phi_tool **tools, size_t *count) {
    shop *s = (shop *)user_data;
    shelf *made = (shelf *)calloc(1, sizeof *made);
    if (made == NULL) abort();
    (void)snprintf(made->name, sizeof made->name, "buy_%u", (unsigned)s->version);
    made->tool.name = made->tool.description = made->name;
    made->tool.start = shop_start;
    made->tool.user_data = s;
    s->out++;
    *tools = &made->tool;
    *count = 1;
    return PHI_OK;
}

static void shop_release(void *user_data, const phi_tool *tools) {
    ((shop *)user_data)->out--;
    memset((void *)(uintptr_t)tools, 0x5a, sizeof(shelf));
    free((void *)(uintptr_t)tools);
}

static phi_agent shop_agent(think *t, shop *s, phi_tot_options *options) {
    static const phi_tool_source *sources[1];
    memset(s, 0, sizeof *s);
    *options = *think_tot();
    s->version = 1;
    s->source.user_data = s;
    s->source.version = shop_version;
    s->source.take = shop_take;
    s->source.release = shop_release;
    sources[0] = &s->source;
    options->tools = true;
    think_begin(t, rig_new(), phi_strategy_tot(), options);
    t->agent_desc.tool_options.sources = sources;
    t->agent_desc.tool_options.source_count = 1;
    rig_hooks(t->r, &t->agent_desc, PHI_HOOK_QUESTION);
    rig_call(t->r, "c1", "buy_1", "{}");
    think_script_tree(t->r);
    return think_agent(t);
}

TEST(a_question_of_a_thoughts_call_is_the_hosts) {
    int waits;
    for (waits = 0; waits < 2; waits++) {
        think t;
        shop s;
        phi_tot_options options;
        phi_agent agent = shop_agent(&t, &s, &options);
        s.asks = true;
        rig_answers(t.r, PHI_HOOK_QUESTION, waits != 0 ? PHI_WAIT : PHI_ALLOW, "iron");
        CHECK_EQ_INT(phi_prompt(agent, "24?"), PHI_OK);
        if (waits != 0) {
            CHECK(rig_run(t.r, 50) > 0);
            CHECK(strstr(rig_story(t.r), "Decision question c1 buy_1 elicitation of forge: "
                                         "Which metal? {}\n") != NULL);
            CHECK_EQ_INT(phi_decide(rig_ticket(t.r, 0), PHI_ALLOW, "iron"), PHI_OK);
        }
        CHECK_EQ_INT(rig_run(t.r, 200), 0);
        CHECK_EQ_INT(s.decided, 1);
        CHECK_EQ_INT(s.verdict, PHI_ALLOW);
        CHECK_EQ_STR(s.reply, "iron");
        CHECK_EQ_STR(think_answer(agent), "(10 - 4) * 4");
        think_end(&t);
        CHECK_EQ_INT(s.out, 0);
    }
}

/* Hypothesis: an end of the agent's run leaves a thought with a call of a tool that is given back. */
TEST(no_list_is_given_back_below_the_call_of_a_thought) {
    enum { FINISH, ABORT, FREE, FREE_RUNTIME, ENDS };
    int how;
    for (how = 0; how < ENDS; how++) {
        think t;
        shop s;
        phi_tot_options options;
        phi_agent agent = shop_agent(&t, &s, &options);
        CHECK_EQ_INT(phi_prompt(agent, "24?"), PHI_OK);
        CHECK(rig_run(t.r, 50) > 0);
        CHECK_EQ_INT(s.ran, 1);
        s.version++;
        (void)rig_run(t.r, 10);
        CHECK_EQ_INT(s.out, 1);
        CHECK_STR(phi_call_get_info(s.call).tool_name, "buy_1");
        if (how == FINISH) CHECK_EQ_INT(phi_call_reply(s.call, "sold"), PHI_OK);
        if (how == ABORT) CHECK_EQ_INT(phi_abort(agent), PHI_OK);
        if (how == FREE) phi_agent_free(agent);
        if (how != FREE_RUNTIME) CHECK_EQ_INT(rig_run(t.r, 200), 0);
        if (how == ABORT) {
            rig_drop_answers(t.r);
            think_script_tree(t.r);
            CHECK_EQ_INT(phi_prompt(agent, "25?"), PHI_OK);
            CHECK_EQ_INT(rig_run(t.r, 200), 0);
            CHECK(strstr(rig_story(t.r), "ToolsChanged \"+buy_2 -buy_1\"") != NULL);
        }
        if (how != FREE_RUNTIME) CHECK_EQ_INT(phi_call_reply(s.call, "x"), PHI_STALE);
        think_end(&t);
        CHECK_EQ_INT(s.out, 0);
    }
}

TEST_MAIN(TEST_ENTRY(a_question_of_a_thoughts_call_is_the_hosts),
          TEST_ENTRY(no_list_is_given_back_below_the_call_of_a_thought))
