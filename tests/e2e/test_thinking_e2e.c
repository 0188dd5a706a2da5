/* test_thinking_e2e.c - conversations with models that check the prefix of thinking, at Anthropic and at
   Bedrock, against the mock's check (tests/mock/binding.py): whatever is changed on the way, no
   request is refused, and none has thinking that would be dropped without a word. Each story says
   how many thinking blocks went, beside those of a client by hand that only ever appends. */
#include "log/log_in.h"
#include "support/preflight.h"
#include "agent/snapshot.h"
#include "e2e/e2e.h"
#include "orchestrate/evaluate.h"
#include "features/failover.h"
#include "features/facts.h"
#include "codecs/presets.h"
#include "loop/tool_source.h"
#include "model/model.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "log/policy.h"
#include "support/set.h"

enum { MESSAGES, BEDROCK, WIRES };
static const char *const ids[WIRES] = {"claude-opus-5-5", "us.anthropic.claude-opus-5-5-v1:0"};
static const char *const smaller[WIRES] = {"claude-haiku-5-5", "us.anthropic.claude-haiku-5-5-v1"};

typedef struct life {
    crowd *c;
    seen *s;
    phi_agent_desc desc;
    phi_tool tools[3];
    char url[400];
    int wire, requests;
    int by_hand; /* thinking blocks that a client by hand had sent: those of all answers before */
    const char *words;
    /* a source of tools, such as an MCP server, whose list a call of "double" may change */
    phi_tool_source source;
    const phi_tool_source *sources[1];
    uint64_t version;
    bool changes;
    phi_tool late;
} life;

static uint64_t source_version(void *user_data) { return ((life *)user_data)->version; }

static phi_status source_take(void *user_data, const phi_tool **tools, size_t *count) {
    life *l = (life *)user_data;
    *tools = &l->late;
    *count = l->version % 2 == 0 ? 0 : 1;
    return PHI_OK;
}

static void source_release(void *user_data, const phi_tool *tools) {
    (void)user_data;
    (void)tools;
}

static phi_flow double_changes(void *user_data, phi_call call, phi_str arguments) {
    life *l = (life *)user_data;
    if (l->changes) l->version++;
    return e2e_double(NULL, call, arguments);
}

static phi_model model_at(life *l, const char *id, const char *path) {
    phi_model model = l->wire == BEDROCK ? phi_model_bedrock(mock_url(path), id, "a-key")
                                         : phi_model_anthropic(id, "a-key");
    (void)snprintf(l->url, sizeof l->url, "%s", mock_url(path));
    model.base_url = l->url;
    return model;
}

static bool life_begin(life *l, int wire, const char *path) {
    memset(l, 0, sizeof *l);
    e2e_forget();
    l->wire = wire;
    l->words = "Well?";
    l->c = crowd_new(NULL);
    if (l->c == NULL) return false;
    l->desc = e2e_desc(E2E_ANTHROPIC, path);
    l->desc.model = model_at(l, ids[wire], path);
    l->desc.thinking = PHI_THINKING_LOW;
    l->tools[0] = e2e_tools()[0];
    l->tools[0].start = double_changes;
    l->tools[0].user_data = l;
    l->tools[1] = e2e_tools()[1];
    l->tools[2] = e2e_tools()[1];
    l->tools[2].name = "other";
    l->desc.tools = l->tools;
    l->desc.tool_count = 2;
    l->late = e2e_tools()[0];
    l->late.name = "late";
    l->source.version = source_version;
    l->source.take = source_take;
    l->source.release = source_release;
    l->source.user_data = l;
    l->sources[0] = &l->source;
    l->desc.tool_options.sources = l->sources;
    l->desc.tool_options.source_count = 1;
    l->s = crowd_add(l->c, &l->desc, ids[wire]);
    return l->s != NULL;
}

static void told(life *l, const char *what) {
    char *log = mock_ask("GET", "/_log?last=1");
    printf("  %s: %s: %s\n%.900s\n", ids[l->wire], what, l->s->failure_text,
           log != NULL ? log : "");
    free(log);
}

/* Prompts; each request of the run has an answer that thinks. */
static bool ask(life *l) {
    int i, before = test_failures();
    if (!crowd_ask(l->s, l->words)) return false;
    CHECK_EQ_INT(l->s->status, PHI_OK);
    CHECK(l->s->events[PHI_EV_TURN_START] > 0);
    for (i = 0; i < l->s->events[PHI_EV_TURN_START]; i++) l->by_hand += l->requests++;
    if (test_failures() != before) told(l, "a prompt fails");
    return test_failures() == before;
}

static void asks(life *l, int count) {
    while (count-- > 0 && ask(l)) continue;
}

/* ---- stories: two requests a prompt, and a call of "double" between them ---- */

static void calls_of_tools(life *l) { asks(l, 3); }

static void facts_each_turn(life *l) {
    char value[16];
    int i;
    for (i = 0; i < 4; i++) {
        (void)snprintf(value, sizeof value, "%d o'clock", i);
        CHECK_EQ_INT(
            phi_fact_set(phi_fact_all(crowd_runtime(l->c)), "time", phi_str_of(value), NULL),
            PHI_OK);
        asks(l, 1);
    }
    CHECK_EQ_INT(phi_fact_set(phi_fact_all(crowd_runtime(l->c)), "time", phi_str_of(NULL), NULL),
                 PHI_OK);
    asks(l, 1);
}

static void another_system_prompt(life *l) {
    asks(l, 1);
    CHECK_EQ_INT(set_system_prompt(l->s->agent, "You are a king."), PHI_OK);
    asks(l, 2);
    CHECK_EQ_INT(set_system_prompt(l->s->agent, NULL), PHI_OK);
    asks(l, 1);
}

static void other_tools(life *l) {
    phi_tool changed[2];
    asks(l, 1);
    CHECK_EQ_INT(set_tools(l->s->agent, l->tools, 3), PHI_OK);
    asks(l, 1);
    changed[0] = l->tools[0];
    changed[1] = l->tools[2];
    changed[1].description = "Another one";
    CHECK_EQ_INT(set_tools(l->s->agent, changed, 2), PHI_OK);
    asks(l, 2);
}

static void tools_that_change_in_mid_run(life *l) {
    asks(l, 1);
    l->changes = true;
    asks(l, 3);
}

static char longer[3000];

/* A compaction is a run of its own, where there is something to compact. */
static void compact(life *l) {
    memset(l->s->events, 0, sizeof l->s->events);
    CHECK_EQ_INT(phi_compact(l->s->agent), PHI_OK);
    l->s->running = phi_agent_get_info(l->s->agent).running;
    CHECK(crowd_run(l->c, 10));
}

static void compaction(life *l) {
    memset(longer, 'x', sizeof longer - 1);
    l->words = longer;
    asks(l, 4);
    compact(l);
    asks(l, 3);
}

static void policy_of_two_turns(life *l) {
    phi_policy policy = PHI_ZERO;
    policy.max_turns = 2;
    CHECK_EQ_INT(set_policy(l->s->agent, &policy), PHI_OK);
    asks(l, 4);
    CHECK_EQ_INT(set_policy(l->s->agent, NULL), PHI_OK);
    asks(l, 1);
}

/* The agent again, out of its snapshot, with that system prompt in its desc. */
static bool restored(life *l, const char *system_prompt) {
    phi_memory memory;
    phi_arena arena;
    phi_str text = {NULL, 0};
    phi_agent_desc desc = l->desc;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    if (CHECK_EQ_INT(phi_agent_snapshot(l->s->agent, &arena, &text), PHI_OK)) {
        phi_agent_free(l->s->agent);
        desc.user_data = l->s;
        desc.system_prompt = system_prompt;
        l->s->agent = phi_agent_restore(crowd_runtime(l->c), &desc, text, PHI_RESTORE_RESUME);
    }
    phi_arena_free(&arena);
    return CHECK(l->s->agent.rt != NULL);
}

static void snapshot_and_restore(life *l) {
    asks(l, 2);
    CHECK_EQ_INT(set_system_prompt(l->s->agent, "You are a king."), PHI_OK);
    asks(l, 1);
    if (restored(l, "You are a king.")) asks(l, 2);
}

static void history_saved_and_loaded(life *l) {
    phi_memory memory;
    phi_arena arena;
    phi_str text = {NULL, 0};
    phi_parse_error error;
    asks(l, 2);
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_agent_messages_to_json(l->s->agent, &arena, &text), PHI_OK);
    CHECK_EQ_INT(phi_agent_messages_from_json(l->s->agent, text, &error), PHI_OK);
    phi_arena_free(&arena);
    asks(l, 2);
}

/* The history again, but for the words of one message. */
static void rewritten_by_the_host(life *l) {
    phi_message list[32];
    phi_content changed;
    size_t n, i;
    asks(l, 3);
    n = phi_thread_message_count(phi_agent_thread(l->s->agent));
    if (!CHECK(n > 5 && n < 32)) return;
    for (i = 0; i < n; i++) list[i] = *phi_thread_message_at(phi_agent_thread(l->s->agent), i);
    for (i = 1; i < n; i++)
        if (list[i].role == PHI_ROLE_USER) break; /* the second prompt */
    if (!CHECK(i < n)) return;
    changed = list[i].content[0];
    changed.text = phi_str_of("Otherwise.");
    list[i].content = &changed;
    CHECK_EQ_INT(phi_agent_replace_messages(l->s->agent, list, n), PHI_OK);
    asks(l, 2);
}

static void pruned(life *l) {
    phi_thread *thread = phi_agent_thread(l->s->agent);
    phi_memory memory;
    phi_arena arena;
    phi_prune prune = PHI_ZERO;
    phi_rewrite rewrite = PHI_ZERO;
    const phi_view_item *items = NULL;
    size_t count = 0;
    memset(longer, 'x', sizeof longer - 1);
    l->words = longer;
    asks(l, 3);
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    prune.tokens = 500;
    CHECK_EQ_INT(phi_thread_view(thread, NULL, UINT64_MAX, &arena, &items, &count), PHI_OK);
    CHECK_EQ_INT(phi__prune_plan(items, count, &prune, NULL, &arena, &rewrite, NULL), PHI_OK);
    CHECK(rewrite.span_count > 0);
    CHECK_EQ_INT(phi_thread_rewrite(thread, &rewrite, NULL, NULL, 0), PHI_OK);
    phi_arena_free(&arena);
    asks(l, 2);
}

static void lanes(life *l) {
    phi_thread *thread = phi_agent_thread(l->s->agent);
    uint64_t fork;
    asks(l, 1);
    fork = phi_thread_count(thread);
    asks(l, 1);
    CHECK_EQ_INT(phi_thread_fork_lane(thread, "other", NULL, fork), PHI_OK);
    CHECK_EQ_INT(phi_thread_switch(thread, "other"), PHI_OK);
    l->requests = 2; /* the answers up to the fork */
    asks(l, 1);
    CHECK_EQ_INT(phi_thread_switch(thread, PHI_LANE_DEFAULT), PHI_OK);
    l->requests = 4;
    asks(l, 1);
}

static void another_model_and_back(life *l) {
    phi_model other = l->desc.model;
    int answers;
    other.id = smaller[l->wire];
    asks(l, 2);
    answers = l->requests;
    CHECK_EQ_INT(set_model(l->s->agent, &other), PHI_OK);
    l->requests = 0; /* of this model */
    asks(l, 2);
    CHECK_EQ_INT(set_model(l->s->agent, &l->desc.model), PHI_OK);
    l->requests = answers;
    asks(l, 2);
}

/* The model always thinks, also when the host did not say so. */
static void a_model_of_which_nothing_is_said(life *l) {
    phi_model plain = l->desc.model;
    plain.reasoning = false;
    CHECK_EQ_INT(set_model(l->s->agent, &plain), PHI_OK);
    asks(l, 2);
    CHECK_EQ_INT(set_system_prompt(l->s->agent, "You are a king."), PHI_OK);
    asks(l, 1);
    compaction(l);
}

static phi_status the_second(void *user_data, const phi_evaluation *evaluation, size_t *selected,
                             phi_usage *usage) {
    (void)user_data;
    (void)evaluation;
    (void)usage;
    *selected = 1;
    return PHI_OK;
}

/* Two branches over the history, of which the second has another system prompt and is selected. */
static void evaluation_of_two(life *l) {
    phi_evaluate_desc desc = PHI_ZERO;
    phi_agent_desc configs[2];
    phi_evaluation was;
    int steps = 0, branch;
    asks(l, 2);
    for (branch = 0; branch < 2; branch++) {
        configs[branch] = l->desc;
        configs[branch].ids.agent_id = NULL;
    }
    configs[1].system_prompt = "You are a king.";
    desc.configs = configs;
    desc.config_count = 2;
    desc.prompt = l->words;
    desc.by = PHI_EVALUATE_CUSTOM;
    desc.evaluate_fn = the_second;
    if (!CHECK_EQ_INT(phi_evaluate(l->s->agent, &desc), PHI_OK)) return;
    do (void)crowd_step(l->c, 10);
    while (phi_evaluation_result(l->s->agent, &was) == PHI_OK && was.status == PHI_BUSY &&
           ++steps < 2000);
    CHECK_EQ_INT(was.status, PHI_OK);
    CHECK_EQ_INT(was.selected, 1);
    for (branch = 0; branch < 2; branch++) CHECK_EQ_INT(was.branches[branch].status, PHI_OK);
    l->by_hand += 2 * (l->requests + l->requests + 1);
    l->requests += 2;
    asks(l, 2);
}

static void everything_at_once(life *l) {
    facts_each_turn(l);
    another_system_prompt(l);
    other_tools(l);
    snapshot_and_restore(l);
    compaction(l);
    policy_of_two_turns(l);
    another_model_and_back(l);
    other_tools(l);
}

/* ---- each story in both protocols, with a server that refuses and one that is silent ---- */

static void tell(const char *name, void (*story)(life *l), const int lost[WIRES]) {
    static const char *const paths[] = {"/s/lookup", "/m/bind-silent/s/lookup"};
    int wire, mode;
    for (wire = 0; wire < WIRES; wire++)
        for (mode = 0; mode < 2; mode++) {
            life l;
            int sent;
            if (!life_begin(&l, wire, paths[mode])) return;
            story(&l);
            sent = e2e_stat("thinking_sent");
            CHECK_EQ_INT(e2e_stat("refused"), 0);
            CHECK_EQ_INT(e2e_stat("thinking_dropped"), 0);
            CHECK(sent > 0 && sent <= l.by_hand);
            if (lost != NULL) CHECK_EQ_INT(l.by_hand - sent, lost[wire]);
            if (mode == 0)
                printf("  %s, %s: %d thinking blocks went, %d of a client by hand\n", name,
                       wire == BEDROCK ? "Bedrock" : "Messages", sent, l.by_hand);
            crowd_free(l.c);
        }
}

#define STORY(name, story, of_messages, of_bedrock)                                                \
    TEST(name) {                                                                                   \
        static const int lost[WIRES] = {of_messages, of_bedrock};                                  \
        tell(#story, story, lost);                                                                 \
    }

STORY(all_thinking_goes_back_while_tools_are_called, calls_of_tools, 0, 0)
STORY(facts_that_change_each_turn_cost_no_thinking, facts_each_turn, 0, 0)
STORY(another_system_prompt_costs_no_thinking, another_system_prompt, 0, 0)
STORY(other_tools_cost_thinking_at_bedrock_alone, other_tools, 0, 20)
STORY(tools_that_change_in_mid_run_do_as_well, tools_that_change_in_mid_run, 0, 15)
STORY(a_compaction_costs_the_thinking_behind_it, compaction, 48, 48)
STORY(a_policy_of_two_turns_is_not_refused, policy_of_two_turns, 28, 28)
STORY(a_snapshot_keeps_the_thinking, snapshot_and_restore, 0, 0)
STORY(a_history_that_is_saved_and_loaded_keeps_the_thinking, history_saved_and_loaded, 0, 0)
STORY(a_history_that_the_host_changed_costs_the_thinking_behind_it, rewritten_by_the_host, 16, 16)
STORY(a_prune_costs_the_thinking_behind_it, pruned, 24, 24)
STORY(a_lane_has_the_thinking_up_to_its_fork, lanes, 0, 0)
STORY(each_model_is_given_its_own_thinking, another_model_and_back, 0, 0)
STORY(an_evaluation_costs_no_thinking, evaluation_of_two, 0, 0)
STORY(a_model_that_always_thinks_needs_no_word_of_it, a_model_of_which_nothing_is_said, 84, 84)

/* ---- what is foreseen ---- */

/* What phi_preflight says of the agent, in a static buffer. */
static const char *foreseen(life *l) {
    static char words[400];
    phi_memory memory;
    phi_arena arena;
    phi_status status;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    status = preflight_thinking(l->s->agent, &arena, words, sizeof words);
    CHECK_EQ_INT(status, words[0] == '\0' ? PHI_OK : PHI_UNSUPPORTED);
    phi_arena_free(&arena);
    return words;
}

/* The head is made anew at Bedrock, for other tools, and then with the system prompt of now. */
TEST(a_changed_head_is_foreseen_where_it_costs_thinking) {
    int wire;
    for (wire = MESSAGES; wire < WIRES; wire++) {
        bool costs = wire == BEDROCK;
        life l;
        if (!life_begin(&l, wire, "/s/lookup")) return;
        asks(&l, 1);
        CHECK_EQ_INT(set_system_prompt(l.s->agent, "You are a king."), PHI_OK);
        CHECK_EQ_STR(foreseen(&l), ""); /* it is appended */
        CHECK_EQ_INT(set_tools(l.s->agent, l.tools, 3), PHI_OK);
        CHECK_EQ_STR(foreseen(&l), costs ? "the thinking of 2 answers, from entry 3 on, will be "
                                           "left out: the system prompt has changed"
                                         : "");
        asks(&l, 1); /* from here on the cause is that of the first answer */
        CHECK_EQ_INT(set_tools(l.s->agent, l.tools, 2), PHI_OK);
        CHECK_EQ_STR(foreseen(&l), costs ? "the thinking of 4 answers, from entry 3 on, will be "
                                           "left out: the system prompt has changed"
                                         : "");
        crowd_free(l.c);
    }
}

TEST(one_life_has_it_all) { tell("everything_at_once", everything_at_once, NULL); }

/* ---- random lives, with answers of every shape ---- */

static uint32_t chance_state;
static uint32_t chance(uint32_t most) {
    chance_state ^= chance_state << 13;
    chance_state ^= chance_state >> 17;
    chance_state ^= chance_state << 5;
    return chance_state % most;
}

static void changed(life *l, uint32_t what) {
    static const char *const prompts[] = {"You are a smith.", "You are a king.", ""};
    phi_thread *thread = phi_agent_thread(l->s->agent);
    phi_fact_scope facts = phi_fact_all(crowd_runtime(l->c));
    phi_policy policy = PHI_ZERO;
    phi_model model = l->desc.model;
    phi_tool tools[3];
    char name[16];
    size_t i, n = 1;
    switch (what) {
    case 0:
        (void)snprintf(name, sizeof name, "k%u", (unsigned)chance(3));
        if (chance(4) == 0)
            (void)phi_fact_set(facts, name, phi_str_of(NULL), NULL);
        else
            CHECK_EQ_INT(phi_fact_set(facts, name, phi_str_of(chance(2) ? "one" : "two"), NULL),
                         PHI_OK);
        break;
    case 1: CHECK_EQ_INT(set_system_prompt(l->s->agent, prompts[chance(3)]), PHI_OK); break;
    case 2:
        tools[0] = l->tools[0];
        for (i = 1; i < 3; i++)
            if (chance(2) != 0) tools[n++] = l->tools[i];
        CHECK_EQ_INT(set_tools(l->s->agent, tools, n), PHI_OK);
        break;
    case 3: compact(l); break;
    case 4:
        policy.max_turns = 1 + chance(3);
        CHECK_EQ_INT(set_policy(l->s->agent, chance(2) == 0 ? NULL : &policy), PHI_OK);
        break;
    case 5: (void)restored(l, prompts[chance(3)]); break;
    case 6:
        if (chance(2) == 0) model.id = smaller[l->wire];
        CHECK_EQ_INT(set_model(l->s->agent, &model), PHI_OK);
        break;
    case 7:
        (void)snprintf(name, sizeof name, "l%u", (unsigned)phi_thread_count(thread));
        (void)phi_thread_fork_lane(thread, name, NULL,
                                   (uint64_t)chance((uint32_t)phi_thread_count(thread) + 1));
        (void)phi_thread_switch(thread, chance(2) == 0 ? PHI_LANE_DEFAULT : name);
        break;
    default: break;
    }
}

static void live(int wire, uint32_t seed) {
    int i, before = test_failures();
    life l;
    if (!life_begin(&l, wire, seed % 2 == 0 ? "/s/minds" : "/m/bind-silent/s/minds")) return;
    chance_state = seed * 2654435761u + 1;
    l.words = longer;
    l.tools[2].start = e2e_double;
    for (i = 0; i < 12 && test_failures() == before; i++) {
        if (chance(3) != 0) changed(&l, chance(8));
        l.changes = chance(4) == 0;
        /* No request is like another: the mock makes ids of calls out of them. */
        (void)snprintf(longer, sizeof longer, "%d%02000d", i, 0);
        asks(&l, 1);
    }
    CHECK_EQ_INT(e2e_stat("refused"), 0);
    CHECK_EQ_INT(e2e_stat("thinking_dropped"), 0);
    CHECK(e2e_stat("thinking_sent") > 0);
    if (test_failures() != before) printf("  seed %u\n", (unsigned)seed);
    crowd_free(l.c);
}

TEST(no_life_is_refused_and_none_is_dropped_without_a_word) {
    const char *lives = getenv("PHI_LIVES"), *from = getenv("PHI_LIVES_FROM");
    uint32_t most = lives != NULL ? (uint32_t)atoi(lives) : 8;
    uint32_t first = from != NULL ? (uint32_t)atoi(from) : 1, i;
    for (i = first; i < first + most && test_failures() < 3; i++) {
        live(MESSAGES, i);
        live(BEDROCK, i);
    }
}

/* Thinking without its prefix counts as valid until something was rewritten: a host that edits
   messages before it loads them meets the check, which proves that it is made; the request goes once
   more without that thinking. */
TEST(a_history_that_was_edited_on_its_way_meets_the_check) {
    static const char *const paths[] = {"/s/lookup", "/m/bind-silent/s/lookup"};
    int wire, mode;
    for (wire = 0; wire < WIRES; wire++)
        for (mode = 0; mode < 2; mode++) {
            phi_message list[8];
            phi_content changed;
            phi_agent_desc desc;
            life l;
            seen *s;
            size_t i, n;
            if (!life_begin(&l, wire, paths[mode])) return;
            asks(&l, 2);
            n = phi_thread_message_count(phi_agent_thread(l.s->agent));
            desc = l.desc;
            s = crowd_add(l.c, &desc, "edited");
            if (!CHECK_EQ_INT(n, 8) || s == NULL) return;
            for (i = 0; i < n; i++) {
                list[i] = *phi_thread_message_at(phi_agent_thread(l.s->agent), i);
                list[i].prefix = list[i].prefix_parts = 0;
            }
            changed = list[4].content[0]; /* the second prompt */
            changed.text = phi_str_of("Otherwise.");
            list[4].content = &changed;
            for (i = 0; i < n; i++)
                CHECK_EQ_INT(phi_thread_append(phi_agent_thread(s->agent), &list[i], 1, NULL),
                             PHI_OK);
            CHECK(crowd_ask(s, "Well?"));
            CHECK_EQ_INT(e2e_stat("refused"), mode == 0 ? 1 : 0);
            CHECK_EQ_INT(s->status, PHI_OK);
            /* of the prompt: two, of the results: these and the one behind them */
            if (mode == 1) CHECK_EQ_INT(e2e_stat("thinking_dropped"), 2 + 3);
            crowd_free(l.c);
        }
}

MOCK_MAIN(e2e_options, TEST_ENTRY(all_thinking_goes_back_while_tools_are_called),
          TEST_ENTRY(facts_that_change_each_turn_cost_no_thinking),
          TEST_ENTRY(another_system_prompt_costs_no_thinking),
          TEST_ENTRY(other_tools_cost_thinking_at_bedrock_alone),
          TEST_ENTRY(tools_that_change_in_mid_run_do_as_well),
          TEST_ENTRY(a_compaction_costs_the_thinking_behind_it),
          TEST_ENTRY(a_policy_of_two_turns_is_not_refused),
          TEST_ENTRY(a_snapshot_keeps_the_thinking),
          TEST_ENTRY(a_history_that_is_saved_and_loaded_keeps_the_thinking),
          TEST_ENTRY(a_history_that_the_host_changed_costs_the_thinking_behind_it),
          TEST_ENTRY(a_prune_costs_the_thinking_behind_it),
          TEST_ENTRY(a_lane_has_the_thinking_up_to_its_fork),
          TEST_ENTRY(each_model_is_given_its_own_thinking),
          TEST_ENTRY(an_evaluation_costs_no_thinking),
          TEST_ENTRY(a_model_that_always_thinks_needs_no_word_of_it),
          TEST_ENTRY(a_changed_head_is_foreseen_where_it_costs_thinking),
          TEST_ENTRY(one_life_has_it_all),
          TEST_ENTRY(no_life_is_refused_and_none_is_dropped_without_a_word),
          TEST_ENTRY(a_history_that_was_edited_on_its_way_meets_the_check))
