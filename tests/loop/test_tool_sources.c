/* test_tool_sources.c - tools that come and go while an agent lives: between the turns of a run, with
   clashes, with tools that no agent may have, without memory; and each list is given back once. */
#include "agent/agent_in.h"
#include "agent/one_shot_run.h"
#include "agent/response.h"
#include "agent/snapshot.h"
#include "base/base_in.h"
#include "orchestrate/evaluate.h"
#include "record/replay.h"
#include "orchestrate/subagents.h"
#include "support/heard.h"
#include "agent/agent_info.h"
#include "support/set.h"

enum { LISTS = 8, TOOLS = 4 };

/* A source whose list is exchanged by a test. Each list that it gives is a copy of its own, which is
   poisoned when it is given back: who still uses it reads garbage. */
typedef struct shelf {
    phi_tool_source source;
    uint64_t version;
    phi_tool tools[TOOLS];
    size_t count;
    phi_status fails;      /* instead of a list */
    int asked, taken, out; /* out: lists not given back */
    int ran;
    char last[20]; /* the arguments of the last call */
} shelf;

typedef struct copy {
    phi_tool tools[TOOLS];
    char names[TOOLS][32], descriptions[TOOLS][32];
} copy;

static uint64_t shelf_version(void *user_data) {
    shelf *s = (shelf *)user_data;
    s->asked++;
    return s->version;
}

static phi_status shelf_take(void *user_data, const phi_tool **tools, size_t *count) {
    shelf *s = (shelf *)user_data;
    copy *c;
    size_t i;
    if (s->fails != PHI_OK) return s->fails;
    c = (copy *)malloc(sizeof *c);
    if (c == NULL) abort();
    for (i = 0; i < s->count; i++) {
        c->tools[i] = s->tools[i];
        if (s->tools[i].name != NULL) {
            (void)snprintf(c->names[i], sizeof c->names[i], "%s", s->tools[i].name);
            c->tools[i].name = c->names[i];
        }
        (void)snprintf(c->descriptions[i], sizeof c->descriptions[i], "%s",
                       s->tools[i].description);
        c->tools[i].description = c->descriptions[i];
    }
    s->taken++;
    s->out++;
    *tools = c->tools;
    *count = s->count;
    return PHI_OK;
}

static void shelf_release(void *user_data, const phi_tool *tools) {
    shelf *s = (shelf *)user_data;
    copy *c = (copy *)(uintptr_t)tools;
    s->out--;
    memset(c, 0x5a, sizeof *c);
    free(c);
}

static phi_flow shelf_start(void *user_data, phi_call call, phi_str arguments) {
    shelf *s = (shelf *)user_data;
    s->ran++;
    heard_copy(s->last, sizeof s->last, phi_call_get_info(call).tool_name);
    (void)arguments;
    (void)phi_call_reply(call, "ran");
    return PHI_PENDING;
}

static void shelf_init(shelf *s) {
    memset(s, 0, sizeof *s);
    s->source.user_data = s;
    s->source.version = shelf_version;
    s->source.take = shelf_take;
    s->source.release = shelf_release;
    s->version = 1;
}

static phi_tool *shelf_put(shelf *s, const char *name) {
    phi_tool *tool = &s->tools[s->count++];
    memset(tool, 0, sizeof *tool);
    tool->name = name;
    tool->description = name != NULL ? name : "nameless";
    tool->start = shelf_start;
    tool->user_data = s;
    tool->may_repeat = true;
    s->version++;
    return tool;
}

static void shelf_clear(shelf *s) {
    s->count = 0;
    s->version++;
}

static phi_agent shelf_agent(rig *r, shelf *s, phi_agent_desc *desc) {
    const phi_tool_source *sources[1];
    sources[0] = &s->source;
    desc->tool_options.sources = sources;
    desc->tool_options.source_count = 1;
    return rig_agent(r, desc); /* the array is copied */
}

static bool sent(rig *r, size_t request, const char *name) {
    char key[60];
    const char *body = rig_request(r, request);
    (void)snprintf(key, sizeof key, "\"name\":\"%s\"", name);
    return body != NULL && strstr(body, key) != NULL;
}

TEST(a_source_gives_an_agent_its_tools) {
    rig *r = rig_new();
    shelf s;
    phi_agent_desc desc = rig_desc(), got;
    phi_tool echo = rig_echo();
    phi_agent agent;
    shelf_init(&s);
    shelf_put(&s, "door");
    desc.tools = &echo;
    desc.tool_count = 1;
    agent = shelf_agent(r, &s, &desc);
    CHECK_EQ_INT(s.taken, 1);
    rig_call(r, "c1", "door", "{}");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    CHECK_EQ_INT(s.ran, 1);
    CHECK_EQ_STR(s.last, "door");
    CHECK_EQ_INT(s.taken, 1);
    CHECK_EQ_INT(s.asked, 3); /* when it was made, and in two turns */
    CHECK(sent(r, 0, "door") && sent(r, 0, "echo"));
    CHECK(strstr(rig_story(r), "ToolsChanged") == NULL);
    CHECK_EQ_INT(phi_agent_get_desc(agent, &got), PHI_OK);
    CHECK_EQ_INT(got.tool_count, 1);
    CHECK_EQ_INT(got.tool_options.source_count, 1);
    CHECK(got.tool_options.sources[0] == &s.source);
    phi_agent_free(agent);
    CHECK_EQ_INT(s.out, 0);
    rig_free(r);
}

static void change_at_tool_end(void *user_data, const phi_event *e) {
    shelf *s = (shelf *)user_data;
    if (e->kind != PHI_EV_TOOL_START) return;
    shelf_clear(s);
    shelf_put(s, "window");
    shelf_put(s, "wall")->description = "other";
}

TEST(a_list_changes_between_two_turns_of_a_run) {
    rig *r = rig_new();
    shelf s;
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    shelf_init(&s);
    shelf_put(&s, "door");
    shelf_put(&s, "wall");
    agent = shelf_agent(r, &s, &desc);
    rig_watch(r, change_at_tool_end, &s);
    rig_call(r, "c1", "door", "{}");
    rig_call(r, "c2", "window", "{}");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    CHECK(strstr(rig_story(r), "ToolsChanged \"+window -door ~wall\"\nTurnStart") != NULL);
    CHECK(sent(r, 0, "door") && !sent(r, 0, "window"));
    CHECK(!sent(r, 1, "door\",\"desc") && sent(r, 1, "window"));
    CHECK_EQ_INT(s.ran, 2);
    CHECK_EQ_STR(s.last, "window");
    CHECK_EQ_INT(s.out, 1);
    rig_free(r);
    CHECK_EQ_INT(s.out, 0);
}

/* Hypothesis: a pending call's tool is given back below it. */
static void change_while_pending(void *user_data, const phi_event *e) {
    shelf *s = (shelf *)user_data;
    if (e->kind != PHI_EV_TOOL_START) return;
    shelf_clear(s);
}

TEST(no_list_is_given_back_below_a_pending_call) {
    rig *r = rig_new();
    shelf s;
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    phi_tool *tool;
    shelf_init(&s);
    tool = shelf_put(&s, "wait");
    *tool = rig_wait(r);
    tool->name = "wait";
    agent = shelf_agent(r, &s, &desc);
    rig_watch(r, change_while_pending, &s);
    rig_call(r, "c1", "wait", "{}");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 1);
    CHECK_EQ_INT(s.out, 1);
    CHECK_EQ_INT(s.taken, 1);
    CHECK_STR(phi_call_get_info(rig_call_at(r, 0)).tool_name, "wait");
    rig_finish(r, 0, "over");
    CHECK_EQ_INT(rig_run(r, 100), 0);
    CHECK_EQ_INT(s.taken, 2);
    CHECK_EQ_INT(s.out, 1);
    CHECK(strstr(rig_story(r), "ToolsChanged \"-wait\"") != NULL);
    rig_free(r);
    CHECK_EQ_INT(s.out, 0);
}

TEST(the_first_of_two_tools_with_a_name_counts) {
    rig *r = rig_new();
    shelf a, b;
    const phi_tool_source *sources[2];
    phi_agent_desc desc = rig_desc();
    phi_tool echo = rig_echo();
    phi_agent agent;
    shelf_init(&a);
    shelf_init(&b);
    shelf_put(&a, "echo"); /* the agent has one */
    shelf_put(&a, "door");
    shelf_put(&b, "door");
    shelf_put(&b, "roof");
    sources[0] = &a.source;
    sources[1] = &b.source;
    desc.tools = &echo;
    desc.tool_count = 1;
    desc.tool_options.sources = sources;
    desc.tool_options.source_count = 2;
    agent = rig_agent(r, &desc);
    rig_call(r, "c1", "door", "{}");
    rig_call(r, "c2", "echo", "{}");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    CHECK(begins(rig_story(r),
                 "Warning \"A tool was left out: there is another one named \"echo\"\"\n"
                 "Warning \"A tool was left out: there is another one named \"door\"\"\n"));
    CHECK_EQ_INT(a.ran, 1);
    CHECK_EQ_INT(b.ran, 0);
    CHECK_EQ_INT(count_of(rig_story(r), "Warning"), 2);
    /* without a tool of that name of its own, the agent has the source's */
    rig_forget(r);
    CHECK_EQ_INT(set_tools(agent, NULL, 0), PHI_OK);
    rig_step(r);
    CHECK_EQ_STR(rig_story(r), "ToolsChanged \"+echo\"\n");
    rig_call(r, "c3", "echo", "{}");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    CHECK_EQ_INT(a.ran, 2);
    rig_free(r);
    CHECK_EQ_INT(a.out + b.out, 0);
}

TEST(a_tool_that_an_agent_cannot_have_is_left_out) {
    rig *r = rig_new();
    shelf s;
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    shelf_init(&s);
    shelf_put(&s, NULL);
    shelf_put(&s, "two words");
    shelf_put(&s, "odd")->schema = "{\"type\":\"string\"}";
    shelf_put(&s, "good");
    agent = shelf_agent(r, &s, &desc);
    CHECK_EQ_INT(phi_last_error(rig_runtime(r)).status, PHI_OK);
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    CHECK_EQ_INT(count_of(rig_story(r), "Warning \"A tool was left out: "), 3);
    CHECK(strstr(rig_story(r), "A tool was left out: tool \"odd\": schema: expected an object") !=
          NULL);
    CHECK(sent(r, 0, "good") && !sent(r, 0, "odd"));
    shelf_clear(&s);
    shelf_put(&s, "risky")->needs_approval = true; /* there is no hook */
    shelf_put(&s, "nothing")->start = NULL;
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    CHECK_EQ_INT(count_of(rig_story(r), "Warning \"A tool was left out: "), 5);
    CHECK(strstr(rig_story(r), "ToolsChanged \"-good\"") != NULL);
    rig_free(r);
    CHECK_EQ_INT(s.out, 0);
}

TEST(a_source_that_fails_keeps_the_list_that_was_taken) {
    rig *r = rig_new();
    shelf s;
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    shelf_init(&s);
    shelf_put(&s, "door");
    agent = shelf_agent(r, &s, &desc);
    s.fails = PHI_TIMEOUT;
    s.version++;
    rig_call(r, "c1", "door", "{}");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    CHECK_EQ_INT(s.ran, 1);
    CHECK_EQ_INT(count_of(rig_story(r), "Warning \"A tool source gave no list: "), 1);
    s.fails = PHI_NO_MEMORY;
    s.version++;
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    CHECK(strstr(rig_story(r), "Out of memory") != NULL);
    s.fails = PHI_OK;
    shelf_put(&s, "gate");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    CHECK(strstr(rig_story(r), "ToolsChanged \"+gate\"") != NULL);
    rig_free(r);
    CHECK_EQ_INT(s.out, 0);
}

TEST(a_source_is_checked_when_an_agent_is_made) {
    rig *r = rig_new();
    shelf s;
    phi_agent_desc desc = rig_desc();
    const phi_tool_source *sources[2] = {NULL, NULL};
    int how;
    shelf_init(&s);
    sources[0] = &s.source;
    for (how = 0; how < 4; how++) {
        desc.tool_options.sources = how == 0 ? NULL : sources;
        desc.tool_options.source_count = how == 1 ? 2 : 1;
        s.source.version = how == 2 ? NULL : shelf_version;
        s.source.take = how == 3 ? NULL : shelf_take;
        CHECK(phi_agent_new(rig_runtime(r), &desc).rt == NULL);
        CHECK_EQ_STR(words_of(r),
                     how == 1 ? "tool_options.sources[1]: expected a source with version and take"
                              : "tool_options.sources[0]: expected a source with version and take");
    }
    rig_free(r);
}

TEST(a_request_with_allowed_tools_keeps_its_list) {
    rig *r = rig_new();
    shelf s;
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    phi_prompt_desc ask;
    phi_response response;
    const char *allowed[1];
    shelf_init(&s);
    agent = shelf_agent(r, &s, &desc);
    shelf_put(&s, "door"); /* came since */
    memset(&ask, 0, sizeof ask);
    allowed[0] = "door";
    ask.text = "go";
    ask.allowed_tools = allowed;
    ask.allowed_count = 1;
    rig_watch(r, change_while_pending, &s);
    rig_call(r, "c1", "door", "{}");
    rig_call(r, "c2", "door", "{}");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt_with(agent, &ask, &response), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    CHECK_EQ_INT(s.ran, 2);
    CHECK_EQ_INT(count_of(rig_story(r), "ToolsChanged \"+door\""), 1);
    rig_watch(r, NULL, NULL);
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    CHECK(strstr(rig_story(r), "ToolsChanged \"-door\"") != NULL);
    rig_free(r);
    CHECK_EQ_INT(s.out, 0);
}

/* Hypothesis: tools with special wishes that come in the midst of a run do not get them. */
static int fields_seen;
static void see_field(void *user_data, const phi_field *field) {
    (void)user_data;
    (void)field;
    fields_seen++;
}

static void bring_fields(void *user_data, const phi_event *e) {
    shelf *s = (shelf *)user_data;
    phi_tool *tool;
    if (e->kind != PHI_EV_TOOL_START || s->count > 1) return;
    tool = shelf_put(s, "field");
    tool->on_field = see_field;
    tool->names_steps = true;
    tool->strict = true;
    tool->schema = "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"}}}";
}

TEST(tools_that_come_in_a_run_have_their_fields_and_steps) {
    rig *r = rig_new();
    shelf s;
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    fields_seen = 0;
    shelf_init(&s);
    shelf_put(&s, "door");
    agent = shelf_agent(r, &s, &desc);
    rig_watch(r, bring_fields, &s);
    rig_call(r, "c1", "door", "{}");
    rig_call(r, "c2", "field", "{\"a\":\"b\"}");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    CHECK_EQ_INT(fields_seen, 1);
    CHECK(strstr(rig_request(r, 2), "[step n") != NULL);
    CHECK_EQ_INT(s.ran, 2);
    rig_free(r);
    CHECK_EQ_INT(s.out, 0);
}

TEST(another_model_takes_what_it_can) {
    rig *r = rig_new();
    shelf s;
    phi_agent_desc desc = rig_desc();
    phi_model model;
    phi_agent agent;
    char name[101];
    memset(name, 'n', 100);
    name[100] = '\0';
    shelf_init(&s);
    shelf_put(&s, "n")->name = "0123456789012345678901234567890";
    agent = shelf_agent(r, &s, &desc);
    model = desc.model;
    CHECK_EQ_INT(set_model(agent, &model), PHI_OK);
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    CHECK_EQ_INT(s.taken, 1); /* checked again, and not taken again */
    CHECK(strstr(rig_story(r), "ToolsChanged") == NULL);
    CHECK(sent(r, 0, "0123456789012345678901234567890"));
    rig_free(r);
    CHECK_EQ_INT(s.out, 0);
}

/* ---- freed in mid-run, saved, inherited ---- */

static phi_flow free_start(void *user_data, phi_call call, phi_str arguments) {
    shelf *s = (shelf *)user_data;
    (void)arguments;
    phi_agent_free(phi_call_get_info(call).agent);
    CHECK_EQ_INT(s->out, 1); /* its function is still running */
    return PHI_PENDING;
}

TEST(a_tool_of_a_source_may_free_the_agent) {
    rig *r = rig_new();
    shelf s;
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    shelf_init(&s);
    shelf_put(&s, "door")->start = free_start;
    agent = shelf_agent(r, &s, &desc);
    rig_call(r, "c1", "door", "{}");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    CHECK(!phi_agent_alive(agent));
    CHECK_EQ_INT(s.out, 0);
    rig_free(r);
}

TEST(a_call_out_of_a_snapshot_finds_the_tool_of_its_source) {
    rig *r = rig_new();
    shelf s;
    phi_agent_desc desc = rig_desc();
    const phi_tool_source *sources[1];
    phi_agent agent;
    phi_memory memory;
    phi_arena arena;
    phi_str saved;
    phi_allocator allocator = test_allocator();
    shelf_init(&s);
    *shelf_put(&s, "wait") = rig_wait(r);
    desc.ids.agent_id = "a";
    desc.ids.session_id = "s";
    agent = shelf_agent(r, &s, &desc);
    rig_call(r, "c1", "wait", "{}");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 1);
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_agent_snapshot(agent, &arena, &saved), PHI_OK);
    phi_agent_free(agent);
    CHECK_EQ_INT(s.out, 0);
    sources[0] = &s.source;
    desc.tool_options.sources = sources;
    desc.tool_options.source_count = 1;
    agent = phi_agent_restore(rig_runtime(r), &desc, saved, PHI_RESTORE_RESUME);
    CHECK(phi_agent_alive(agent));
    CHECK_EQ_INT(rig_run(r, 20), 1);
    {
        phi_pending_item item;
        CHECK_EQ_INT((item = phi_agent_get_info(agent).waiting).kind, PHI_WAITING_CALL);
        CHECK_EQ_INT(phi_call_reply(item.call, "late"), PHI_OK);
    }
    CHECK_EQ_INT(rig_run(r, 100), 0);
    CHECK(strstr(rig_story(r), "\"late\"") != NULL);
    phi_arena_free(&arena);
    rig_free(r);
    CHECK_EQ_INT(s.out, 0);
}

static phi_status take_first(void *user_data, const phi_evaluation *evaluation, size_t *selected,
                             phi_usage *usage) {
    (void)user_data;
    (void)evaluation;
    (void)usage;
    *selected = 0;
    return PHI_OK;
}

TEST(branches_have_the_sources_of_their_agent) {
    rig *r = rig_new();
    shelf s;
    phi_agent_desc desc = rig_desc(), configs[2];
    phi_agent agent;
    phi_evaluate_desc how;
    shelf_init(&s);
    shelf_put(&s, "door");
    agent = shelf_agent(r, &s, &desc);
    configs[0] = configs[1] = rig_desc();
    memset(&how, 0, sizeof how);
    how.configs = configs;
    how.config_count = 2;
    how.prompt = "go";
    how.by = PHI_EVALUATE_CUSTOM;
    how.evaluate_fn = take_first;
    rig_says(r, "one");
    rig_says(r, "two");
    CHECK_EQ_INT(phi_evaluate(agent, &how), PHI_OK);
    CHECK_EQ_INT(s.taken, 3);
    (void)rig_run(r, 200);
    CHECK(sent(r, 0, "door") && sent(r, 1, "door"));
    CHECK_EQ_INT(phi_step(rig_runtime(r), 0), 0);
    rig_free(r);
    CHECK_EQ_INT(s.out, 0);
}

TEST(a_sub_agent_has_the_sources_of_its_desc) {
    rig *r = rig_new();
    shelf s;
    phi_agent_desc desc = rig_desc(), child = rig_desc();
    const phi_tool_source *sources[1];
    phi_subagent_desc helper;
    phi_tool tool;
    phi_agent agent;
    shelf_init(&s);
    shelf_put(&s, "door");
    sources[0] = &s.source;
    child.tool_options.sources = sources;
    child.tool_options.source_count = 1;
    memset(&helper, 0, sizeof helper);
    helper.name = "helper";
    helper.description = "Helps";
    helper.agent = &child;
    tool = phi_subagent_tool(&helper);
    desc.tools = &tool;
    desc.tool_count = 1;
    agent = rig_agent(r, &desc);
    rig_call(r, "c1", "helper", "{\"task\":\"open it\"}");
    rig_call(r, "c2", "door", "{}");
    rig_says(r, "opened");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 200), 0);
    CHECK_EQ_INT(s.taken, 1);
    CHECK_EQ_INT(s.ran, 1);
    CHECK(!sent(r, 0, "door") && sent(r, 1, "door"));
    phi_agent_free(agent);
    CHECK_EQ_INT(s.out, 0);
    rig_free(r);
}

/* Hypothesis: a run without an agent to keep, which nobody frees, keeps the list. */
TEST(a_one_shot_run_gives_its_list_back) {
    rig *r = rig_new();
    shelf s;
    phi_agent_desc desc = rig_desc();
    const phi_tool_source *sources[1];
    phi_run_desc how;
    phi_message prompt;
    phi_content content;
    phi_agent agent;
    shelf_init(&s);
    shelf_put(&s, "door");
    sources[0] = &s.source;
    desc.tool_options.sources = sources;
    desc.tool_options.source_count = 1;
    memset(&how, 0, sizeof how);
    memset(&prompt, 0, sizeof prompt);
    memset(&content, 0, sizeof content);
    content.kind = PHI_CONTENT_TEXT;
    content.text = phi_str_of("go");
    prompt.role = PHI_ROLE_USER;
    prompt.content = &content;
    prompt.content_count = 1;
    how.agent = &desc;
    how.thread = phi_thread_new(rig_runtime(r), 0);
    how.prompts = &prompt;
    how.prompt_count = 1;
    how.loop_id = "one";
    rig_watch(r, change_at_tool_end, &s);
    rig_call(r, "c1", "door", "{}");
    rig_call(r, "c2", "window", "{}");
    rig_says(r, "done");
    agent = phi_run(rig_runtime(r), &how);
    CHECK(agent.rt != NULL);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    CHECK_EQ_INT(s.ran, 2);
    CHECK_EQ_INT(rig_step(r), 0);
    CHECK(!phi_agent_alive(agent));
    CHECK_EQ_INT(s.out, 0);
    CHECK(phi_run(rig_runtime(r), &how).rt == NULL); /* a run of this id is there */
    CHECK_EQ_INT(s.out, 0);
    phi_thread_free(how.thread);
    rig_free(r);
}

/* Hypothesis: a call that waits finds no tool any more, and hangs. */
TEST(a_call_out_of_a_snapshot_whose_tool_is_gone_ends_with_an_error) {
    rig *r = rig_new();
    shelf s;
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    phi_memory memory;
    phi_arena arena;
    phi_str saved;
    const phi_tool_source *sources[1];
    phi_allocator allocator = test_allocator();
    shelf_init(&s);
    *shelf_put(&s, "wait") = rig_wait(r);
    desc.ids.agent_id = "a";
    desc.ids.session_id = "s";
    agent = shelf_agent(r, &s, &desc);
    rig_call(r, "c1", "wait", "{}");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 1);
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_agent_snapshot(agent, &arena, &saved), PHI_OK);
    phi_agent_free(agent);
    shelf_clear(&s);
    shelf_put(&s, "door");
    sources[0] = &s.source;
    desc.tool_options.sources = sources;
    desc.tool_options.source_count = 1;
    rig_forget(r);
    rig_says(r, "done");
    agent = phi_agent_restore(rig_runtime(r), &desc, saved, PHI_RESTORE_RESUME);
    CHECK(phi_agent_alive(agent));
    CHECK_EQ_INT(rig_run(r, 100), 0);
    CHECK(strstr(rig_story(r), "toolResult c1 error") != NULL);
    CHECK(strstr(rig_story(r), "\"done\"") != NULL);
    phi_arena_free(&arena);
    rig_free(r);
    CHECK_EQ_INT(s.out, 0);
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

static phi_status taped(const char *from, reel *out, const char *name) {
    phi_runtime_desc desc;
    phi_agent_desc agent_desc = rig_desc();
    phi_tape_desc how;
    phi_tape_divergence d;
    phi_parse_error error;
    phi_status status;
    phi_agent agent;
    shelf s;
    rig *r;
    memset(&desc, 0, sizeof desc);
    memset(&how, 0, sizeof how);
    how.allocator = test_allocator();
    how.write_fn = reel_write;
    how.user_data = out;
    desc.tape =
        from == NULL ? phi_tape_record(&how) : phi_tape_play(&how, phi_str_of(from), &error);
    r = rig_new_with(&desc);
    shelf_init(&s);
    shelf_put(&s, name);
    agent_desc.ids.agent_id = "a";
    agent = shelf_agent(r, &s, &agent_desc);
    rig_watch(r, change_at_tool_end, &s);
    rig_call(r, "c1", "door", "{}");
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 200), 0);
    rig_free(r);
    CHECK_EQ_INT(s.out, 0);
    memset(&d, 0, sizeof d);
    status = phi_tape_end(desc.tape, &d);
    phi_tape_free(desc.tape);
    return status;
}

TEST(a_tape_is_played_with_the_same_lists_in_the_same_turns) {
    reel tape;
    memset(&tape, 0, sizeof tape);
    CHECK_EQ_INT(taped(NULL, &tape, "door"), PHI_OK);
    CHECK_EQ_INT(taped(tape.at, NULL, "door"), PHI_OK);
    CHECK_EQ_INT(taped(tape.at, NULL, "gate"), PHI_REFUSED);
    free(tape.at);
}

/* ---- memory ---- */

static bool with_failure(int at, bool in_run) {
    rig *r;
    shelf s;
    phi_agent_desc desc = rig_desc();
    const phi_tool_source *sources[1];
    phi_agent agent;
    bool tripped;
    shelf_init(&s);
    shelf_put(&s, "door");
    shelf_put(&s, "wall");
    r = rig_new();
    sources[0] = &s.source;
    desc.tool_options.sources = sources;
    desc.tool_options.source_count = 1;
    if (!in_run) test_alloc_fail_at(at);
    agent = phi_agent_new(rig_runtime(r), &desc);
    if (in_run) test_alloc_fail_at(at);
    if (agent.rt != NULL) {
        rig_watch(r, change_at_tool_end, &s);
        rig_call(r, "c1", "door", "{}");
        rig_call(r, "c2", "window", "{}");
        rig_says(r, "done");
        (void)phi_prompt(agent, "go");
        (void)rig_run(r, 200);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK(phi_agent_alive(agent));
        CHECK_EQ_INT(s.out, 1);
        rig_drop_answers(r);
        rig_says(r, "again");
        CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 200), 0);
        CHECK(strstr(rig_story(r), "\"again\"") != NULL);
    } else {
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK_EQ_INT(s.out, 0);
    }
    rig_free(r);
    CHECK_EQ_INT(s.out, 0);
    return tripped;
}

TEST(every_allocation_of_an_exchange_may_fail) {
    int n = 0, m = 0;
    while (with_failure(n, false)) n++;
    while (with_failure(m, true)) m++;
    CHECK(n > 30 && m > 20);
}

/* Hypothesis: without memory the agent has other tools, and the caller is told that it has not. */
static bool set_with_failure(int at, int before) {
    rig *r = rig_new();
    shelf s;
    phi_agent_desc desc = rig_desc(), got;
    phi_tool echo = rig_echo();
    phi_agent agent;
    phi_status status;
    bool tripped;
    int i;
    shelf_init(&s);
    shelf_put(&s, "echo"); /* hidden by the agent's own */
    desc.tools = &echo;
    desc.tool_count = 1;
    agent = shelf_agent(r, &s, &desc);
    for (i = 0; i < 2 * before; i++) /* until the events need another block */
        CHECK_EQ_INT(set_tools(agent, &echo, i % 2 == 0 ? 0 : 1), PHI_OK);
    test_alloc_fail_at(at);
    status = set_tools(agent, NULL, 0);
    tripped = test_alloc_tripped();
    test_alloc_fail_at(-1);
    CHECK_EQ_INT(status, tripped ? PHI_NO_MEMORY : PHI_OK);
    CHECK_EQ_INT(phi_agent_get_desc(agent, &got), PHI_OK);
    CHECK_EQ_INT(got.tool_count, tripped ? 1 : 0);
    rig_step(r);
    CHECK_EQ_INT(count_of(rig_story(r), "ToolsChanged \"+echo\""), before + (tripped ? 0 : 1));
    rig_free(r);
    CHECK_EQ_INT(s.out, 0);
    return tripped;
}

TEST(tools_that_there_is_no_memory_for_change_nothing) {
    int n, before, most = 0;
    for (before = 0; before < 16; before++) {
        for (n = 0; set_with_failure(n, before);) n++;
        if (n > most) most = n;
    }
    CHECK(most > 2);
}

/* ---- many ---- */

typedef struct store {
    phi_tool_source source;
    phi_tool *tools;
    size_t count;
    uint64_t version;
} store;

static uint64_t store_version(void *user_data) { return ((store *)user_data)->version; }
static phi_status store_take(void *user_data, const phi_tool **tools, size_t *count) {
    store *s = (store *)user_data;
    *tools = s->tools;
    *count = s->count;
    return PHI_OK;
}

TEST(two_thousand_tools_come_and_go_and_the_event_stays_short) {
    enum { MANY = 2000 };
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    const phi_tool_source *sources[1];
    phi_agent agent;
    store s;
    char(*names)[24] = (char(*)[24])malloc(MANY * sizeof *names);
    phi_tool *tools = (phi_tool *)calloc(MANY, sizeof *tools);
    int i;
    memset(&s, 0, sizeof s);
    s.source.user_data = &s;
    s.source.version = store_version;
    s.source.take = store_take;
    s.tools = tools;
    for (i = 0; i < MANY; i++) {
        (void)snprintf(names[i], sizeof names[i], "tool_%d", i);
        tools[i] = rig_echo();
        tools[i].name = names[i];
    }
    sources[0] = &s.source;
    desc.tool_options.sources = sources;
    desc.tool_options.source_count = 1;
    agent = rig_agent(r, &desc);
    s.count = MANY;
    s.version++;
    rig_says(r, "done");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 300), 0);
    CHECK(strstr(rig_story(r), "ToolsChanged \"+tool_0 +tool_1 ") != NULL);
    CHECK(strstr(rig_story(r), " more\"") != NULL);
    CHECK(strlen(rig_story(r)) < 6000);
    CHECK(sent(r, 0, "tool_1999"));
    rig_free(r);
    free(names);
    free(tools);
}

/* Hypothesis: a list of faulty tools floods the host with warnings. */
TEST(many_tools_that_are_left_out_are_counted) {
    enum { MANY = 3000 };
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    const phi_tool_source *sources[1];
    store s;
    phi_tool *tools = (phi_tool *)calloc(MANY, sizeof *tools);
    int i;
    memset(&s, 0, sizeof s);
    s.source.user_data = &s;
    s.source.version = store_version;
    s.source.take = store_take;
    s.tools = tools;
    s.count = MANY;
    for (i = 0; i < MANY; i++) {
        tools[i] = rig_echo(); /* all of one name */
        if (i % 2 == 0) tools[i].schema = "[";
    }
    sources[0] = &s.source;
    desc.tool_options.sources = sources;
    desc.tool_options.source_count = 1;
    (void)rig_agent(r, &desc);
    rig_step(r);
    CHECK_EQ_INT(count_of(rig_story(r), "Warning \"A tool was left out: "), 16);
    CHECK_EQ_INT(count_of(rig_story(r), "Warning \"2983 more tools were left out\""), 1);
    rig_free(r);
    free(tools);
}

/* What finds no room is the agent, or at last the list of the source's tools. */
TEST(an_agent_whose_tools_do_not_fit_into_its_limit_says_so) {
    rig *r = rig_new();
    bool made = false;
    shelf s;
    shelf_init(&s);
    shelf_put(&s, "a");
    for (unsigned limit = 1000; !made && limit < 100000; limit += 32) {
        phi_agent_desc desc = rig_desc();
        char want[128];
        desc.memory.limit_bytes = limit;
        made = shelf_agent(r, &s, &desc).rt != NULL;
        (void)snprintf(
            want, sizeof want,
            "phi_agent_new: out of memory: the agent's memory.limit_bytes, %u, are too few", limit);
        if (!made) CHECK_EQ_STR(phi_last_error(rig_runtime(r)).message, want);
    }
    CHECK(made && s.taken > 1);
    rig_free(r);
}

TEST_MAIN(TEST_ENTRY(an_agent_whose_tools_do_not_fit_into_its_limit_says_so),
          TEST_ENTRY(a_source_gives_an_agent_its_tools),
          TEST_ENTRY(a_list_changes_between_two_turns_of_a_run),
          TEST_ENTRY(no_list_is_given_back_below_a_pending_call),
          TEST_ENTRY(the_first_of_two_tools_with_a_name_counts),
          TEST_ENTRY(a_tool_that_an_agent_cannot_have_is_left_out),
          TEST_ENTRY(a_source_that_fails_keeps_the_list_that_was_taken),
          TEST_ENTRY(a_source_is_checked_when_an_agent_is_made),
          TEST_ENTRY(a_request_with_allowed_tools_keeps_its_list),
          TEST_ENTRY(tools_that_come_in_a_run_have_their_fields_and_steps),
          TEST_ENTRY(another_model_takes_what_it_can),
          TEST_ENTRY(a_tool_of_a_source_may_free_the_agent),
          TEST_ENTRY(a_call_out_of_a_snapshot_finds_the_tool_of_its_source),
          TEST_ENTRY(branches_have_the_sources_of_their_agent),
          TEST_ENTRY(a_sub_agent_has_the_sources_of_its_desc),
          TEST_ENTRY(a_one_shot_run_gives_its_list_back),
          TEST_ENTRY(a_call_out_of_a_snapshot_whose_tool_is_gone_ends_with_an_error),
          TEST_ENTRY(a_tape_is_played_with_the_same_lists_in_the_same_turns),
          TEST_ENTRY(every_allocation_of_an_exchange_may_fail),
          TEST_ENTRY(tools_that_there_is_no_memory_for_change_nothing),
          TEST_ENTRY(two_thousand_tools_come_and_go_and_the_event_stays_short),
          TEST_ENTRY(many_tools_that_are_left_out_are_counted))
