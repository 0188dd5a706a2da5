/* test_subagents.c - a model delegates to children: results, events, links, limits, ends. */
#include "support/recorded.h"
#include "orchestrate/subagents.h"
#include "record/event_json.h"

#include "agent/snapshot.h"
#include "log/thread.h"
#include "record/recorder.h"
#include "orchestrate/family.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "loop/hook.h"
#include "loop/provider.h"
#include "model/event.h"
#include "wire/writer.h"

typedef struct stage {
    rig *r;
    family f;
    phi_agent_desc worker_desc, lead_desc;
    phi_subagent_desc worker;
    phi_tool echo, tool;
    phi_agent lead;
    /* heard */
    char updates[2000], result[300], stop[200], details[300], progress[200];
    char child_loop[160], parent_loop[160], lead_loop[160], error_source[60];
    int tool_ends, errors, ends, starts, shown, sub_ends;
    phi_status status;
    phi_agent child;        /* of the last run that another began */
    phi_recorder *recorder; /* NULL: nothing is recorded */
} stage;

/* The end of a spawned child, there and back. */
static void json_holds(const phi_event *e) {
    phi_memory memory;
    phi_arena arena;
    phi_event back;
    phi_str json = {"", 0};
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_event_to_json(e, &arena, &json), PHI_OK);
    CHECK_EQ_INT(phi_event_from_json(json, &arena, &back, NULL), PHI_OK);
    CHECK(back.kind == e->kind && back.status == e->status && back.is_error == e->is_error);
    CHECK(phi_str_equal(back.text, e->text) && phi_str_equal(back.tool_name, e->tool_name));
    CHECK(phi_str_equal(back.child_loop_id, e->child_loop_id));
    CHECK(phi_str_equal(back.source, e->source));
    CHECK_EQ_INT(back.usage != NULL ? back.usage->output : 0,
                 e->usage != NULL ? e->usage->output : 0);
    phi_arena_free(&arena);
}

static void hear(void *user_data, const phi_event *e) {
    stage *s = (stage *)user_data;
    size_t n = strlen(s->updates);
    if (s->recorder != NULL) CHECK_EQ_INT(phi_recorder_add(s->recorder, e), PHI_OK);
    switch ((int)e->kind) {
    case PHI_EV_AGENT_START:
        s->starts++;
        if (e->loop->parent_loop_id.len > 0) {
            s->shown++;
            s->child = e->agent;
            heard_copy(s->parent_loop, sizeof s->parent_loop, e->loop->parent_loop_id);
        } else
            heard_copy(s->lead_loop, sizeof s->lead_loop, e->loop_id);
        break;
    case PHI_EV_TOOL_UPDATE:
        (void)snprintf(s->updates + n, sizeof s->updates - n, "%.*s|", (int)e->text.len,
                       e->text.at);
        if (CHECK(e->message != NULL)) CHECK_STR(e->message->details, "{\"sub_agent\":\"worker\"}");
        CHECK(e->child_loop_id.len > 0);
        break;
    case PHI_EV_TOOL_PROGRESS: heard_copy(s->progress, sizeof s->progress, e->text); break;
    case PHI_EV_TOOL_END:
        if (!phi__str_is(e->tool_name, "worker")) break;
        s->tool_ends++;
        s->errors += e->is_error;
        heard_copy(s->result, sizeof s->result, e->message->content[0].text);
        if (e->message->content_count > 1)
            heard_copy(s->stop, sizeof s->stop, e->message->content[1].text);
        heard_copy(s->details, sizeof s->details, e->message->details);
        heard_copy(s->child_loop, sizeof s->child_loop, e->child_loop_id);
        break;
    case PHI_EV_SUBAGENT_END:
        json_holds(e);
        s->sub_ends++;
        s->status = e->status;
        heard_copy(s->result, sizeof s->result, e->text);
        heard_copy(s->child_loop, sizeof s->child_loop, e->child_loop_id);
        heard_copy(s->error_source, sizeof s->error_source, e->source);
        break;
    case PHI_EV_AGENT_END:
        s->ends++;
        s->status = e->status;
        break;
    default: break;
    }
}

static void stage_begin(stage *s, rig *r) {
    memset(s, 0, sizeof *s);
    s->r = r;
    family_begin(&s->f, r);
    s->worker_desc = family_desc(&s->f, "worker");
    s->worker.name = "worker";
    s->worker.agent = &s->worker_desc;
    s->lead_desc = family_desc(&s->f, "lead 1");
    s->lead_desc.tools = &s->tool;
    s->lead_desc.tool_count = 1;
    rig_watch(r, hear, s);
}

static phi_agent lead_of(stage *s) {
    s->tool = phi_subagent_tool(&s->worker);
    s->lead = rig_agent(s->r, &s->lead_desc);
    return s->lead;
}

static void ask_lead(stage *s, const char *task) {
    CHECK_EQ_INT(phi_prompt(lead_of(s), task), PHI_OK);
    CHECK_EQ_INT(rig_run(s->r, 300), 0);
}

/* ---- results ---- */

TEST(a_child_does_the_task_and_its_last_words_are_the_result) {
    stage s;
    phi_session *session = NULL;
    phi_allocator allocator = test_allocator();
    stage_begin(&s, rig_new());
    ask_lead(&s, "sum");
    CHECK_EQ_STR(s.tool.description, "Delegate a task to the 'worker' sub-agent");
    CHECK_EQ_STR(s.result, "Done: sum 0.");
    CHECK_EQ_STR(s.details, "{\"sub_agent\":\"worker\",\"turns\":2}");
    CHECK_EQ_STR(s.updates, "Done: sum 0.|");
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(s.lead)), 4);
    CHECK_EQ_STR(text_at(s.lead, 3, 0), "All 1 are done.");
    CHECK_EQ_INT(s.starts, 1); /* the child is not heard by itself */
    CHECK_EQ_INT(s.errors, 0);
    CHECK(strstr(s.child_loop, ".sub.1") != NULL);
    CHECK_EQ_INT(s.f.opens, 3);
    CHECK_EQ_INT(s.f.closes, 3);
    CHECK_EQ_INT(phi_session_of_thread(phi_agent_thread(s.lead), &allocator, &session), PHI_OK);
    if (CHECK(session != NULL)) {
        CHECK_EQ_INT(session->loops[0]->spawned_count, 1);
        CHECK_STR(session->loops[0]->spawned[0].child_loop_id, s.child_loop);
        CHECK_STR(session->loops[0]->spawned[0].tool_call_id, "worker-0");
        phi_session_free(session);
    }
    rig_free(s.r);
}

TEST(the_tools_and_the_progress_of_a_child_are_forwarded) {
    stage s;
    stage_begin(&s, rig_new());
    s.echo = rig_echo();
    s.worker_desc.tools = &s.echo;
    s.worker_desc.tool_count = 1;
    ask_lead(&s, "tool");
    CHECK_EQ_STR(s.tool.label, "worker");
    CHECK_EQ_STR(s.updates, "[sub-agent calling tool: echo]|Done: the tool.|");
    CHECK_EQ_STR(s.details, "{\"sub_agent\":\"worker\",\"turns\":4}");
    rig_free(s.r);
}

TEST(words_of_a_child_are_updates_while_it_still_speaks) {
    stage s;
    stage_begin(&s, rig_new());
    CHECK_EQ_INT(phi_prompt(lead_of(&s), "talk"), PHI_OK);
    while (s.updates[0] == '\0' && rig_step(s.r) > 0) continue;
    CHECK_EQ_STR(s.updates, "One. |");
    CHECK_EQ_INT(s.tool_ends, 0); /* the child has not ended */
    CHECK_EQ_INT(s.f.open, 1);
    CHECK_EQ_INT(rig_run(s.r, 300), 0);
    CHECK_EQ_STR(s.updates, "One. |Done: talk 0.|");
    CHECK_EQ_STR(s.result, "One. Done: talk 0.");
    rig_free(s.r);
}

TEST(progress_of_a_childs_tool_reaches_the_host_while_it_waits) {
    stage s;
    phi_call call;
    stage_begin(&s, rig_new());
    s.echo = rig_wait(s.r);
    s.echo.name = "echo";
    s.worker_desc.tools = &s.echo;
    s.worker_desc.tool_count = 1;
    CHECK_EQ_INT(phi_prompt(lead_of(&s), "tool"), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 50), 2);
    call = rig_call_at(s.r, 0);
    CHECK_EQ_INT(phi_call_progress(call, "half"), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 3), 2);
    CHECK_EQ_STR(s.progress, "half");
    rig_finish(s.r, 0, "ok");
    CHECK_EQ_INT(rig_run(s.r, 50), 0);
    CHECK_EQ_STR(s.result, "Done: the tool.");
    rig_free(s.r);
}

TEST(a_child_without_words_has_a_fixed_result) {
    stage s;
    stage_begin(&s, rig_new());
    ask_lead(&s, "silent");
    CHECK_EQ_STR(s.result, "(sub-agent produced no text output)");
    CHECK_EQ_STR(s.stop, "");
    CHECK_EQ_INT(s.errors, 0);
    rig_free(s.r);
}

TEST(a_child_that_fails_makes_an_error_result_of_its_error) {
    stage s;
    stage_begin(&s, rig_new());
    ask_lead(&s, "fail");
    CHECK_EQ_STR(s.result, "the worker is ill");
    CHECK_EQ_INT(s.errors, 1);
    CHECK_EQ_INT(s.status, PHI_OK); /* the lead's run goes on */
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(s.lead)), 4);
    rig_free(s.r);
}

TEST(a_limit_ends_a_child_and_its_last_words_count) {
    stage s;
    stage_begin(&s, rig_new());
    s.echo = rig_echo();
    s.worker_desc.tools = &s.echo;
    s.worker_desc.tool_count = 1;
    s.worker_desc.limits.max_turns = 1;
    ask_lead(&s, "tool");
    CHECK_EQ_STR(s.result, "(sub-agent produced no text output)");
    CHECK_EQ_STR(s.stop, "[Agent stopped: Max turns reached (1/1)]");
    CHECK_EQ_STR(s.details, "{\"sub_agent\":\"worker\",\"turns\":4,\"status\":\"limit\"}");
    CHECK_EQ_INT(s.errors, 0);
    CHECK_EQ_INT(s.f.opens, 3); /* one of the child's */
    rig_free(s.r);
}

TEST(a_budget_that_ends_a_child_is_named_in_its_result) {
    stage s;
    stage_begin(&s, rig_new());
    s.worker_desc.budget.max_requests = 1;
    s.echo = rig_echo();
    s.worker_desc.tools = &s.echo;
    s.worker_desc.tool_count = 1;
    ask_lead(&s, "tool");
    CHECK_EQ_STR(s.stop, "[Agent stopped: Request budget reached (1/1)]");
    CHECK_EQ_INT(s.errors, 0);
    CHECK_EQ_INT(s.status, PHI_OK);
    rig_free(s.r);
}

TEST(a_child_has_limits_of_its_own_by_default) {
    phi_agent_desc child = PHI_ZERO;
    stage s;
    stage_begin(&s, rig_new());
    s.worker.show_events = true;
    s.lead_desc.limits.max_turns = 77;
    ask_lead(&s, "sum");
    if (CHECK_EQ_INT(phi_agent_get_desc(s.child, &child), PHI_OK)) {
        CHECK_EQ_INT(child.limits.max_turns, 10);
        CHECK_EQ_INT(child.limits.max_tokens, 1000000);
        CHECK_EQ_INT(child.limits.max_duration_ms, 300000);
        CHECK(!(child.limits.max_cost > 0));
        CHECK(!child.compaction.disable); /* its history is compacted like any other */
    }
    rig_free(s.r);
}

static phi_status raw_open(void *user_data, const phi_model_request *request, void **call) {
    (void)request;
    *call = user_data;
    return PHI_OK;
}

static const char *raw_arguments;

static phi_poll raw_poll(void *user_data, void *call, phi_answer *answer) {
    int *n = (int *)user_data;
    (void)call;
    if ((*n)++ == 0) {
        phi_answer_call(answer, phi_str_of("c"), phi_str_of("worker"));
        phi_answer_arguments(answer, phi_str_of(raw_arguments), true);
        phi_answer_stop(answer, PHI_STOP_REASON_TOOL_USE);
    } else
        phi_answer_text(answer, phi_str_of("well"));
    return PHI_POLL_DONE;
}

static void raw_close(void *user_data, void *call) {
    (void)user_data;
    (void)call;
}

/* A lead that calls the worker with these arguments. */
static void ask_raw(stage *s, const char *arguments) {
    phi_provider raw;
    int n = 0;
    memset(&raw, 0, sizeof raw);
    raw.protocol = "raw";
    raw.open = raw_open;
    raw.poll = raw_poll;
    raw.close = raw_close;
    raw.user_data = &n;
    raw_arguments = arguments;
    s->lead_desc.provider = &raw;
    ask_lead(s, "x");
    phi_agent_free(s->lead);
}

TEST(arguments_that_say_nothing_are_an_error_that_says_so) {
    static const char *const all[] = {"{}", "{\"task\":\"\"}", "{\"task\":7}", "{\"job\":\"x\"}"};
    size_t i;
    for (i = 0; i < sizeof all / sizeof all[0]; i++) {
        stage s;
        stage_begin(&s, rig_new());
        ask_raw(&s, all[i]);
        CHECK_EQ_STR(s.result, "Invalid arguments: Missing required 'task' parameter");
        CHECK_EQ_INT(s.errors, 1);
        CHECK_EQ_INT(s.f.opens, 0);
        rig_free(s.r);
    }
}

TEST(a_child_that_cannot_be_made_says_why) {
    stage s;
    stage_begin(&s, rig_new());
    s.worker_desc.model.protocol = "nobody";
    s.worker_desc.provider = NULL;
    ask_lead(&s, "sum");
    CHECK_EQ_INT(s.errors, 1);
    CHECK_EQ_STR(s.result,
                 "The sub-agent could not start: No provider registered for protocol: nobody "
                 "(presets bring theirs; or set phi_runtime_desc.codecs = PHI_ALL_PROTOCOLS)");
    rig_free(s.r);
}

/* ---- together ---- */

TEST(children_work_beside_each_other) {
    stage s;
    stage_begin(&s, rig_new());
    s.lead_desc.system_prompt = "lead 12";
    ask_lead(&s, "part");
    CHECK_EQ_INT(s.f.most, 12);
    CHECK_EQ_INT(s.tool_ends, 12);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(s.lead)), 15);
    CHECK_EQ_STR(text_at(s.lead, 2, 0), "Done: part 0.");
    CHECK_EQ_STR(text_at(s.lead, 13, 0), "Done: part 11.");
    rig_free(s.r);
}

TEST(a_child_has_no_sub_agents_unless_it_may) {
    stage s;
    int depth;
    for (depth = 0; depth < 4; depth++) {
        stage_begin(&s, rig_new());
        s.worker_desc.system_prompt = "lead 1"; /* it wants to delegate, too */
        s.worker_desc.tools = &s.tool;
        s.worker_desc.tool_count = 1;
        s.worker.max_depth = (uint32_t)depth;
        ask_lead(&s, "dig");
        /* each level asks twice; the last one finds no such tool, and ends all the same */
        CHECK_EQ_INT(s.f.opens, 2 * ((depth == 0 ? 1 : depth) + 1));
        CHECK_EQ_STR(s.result, "All 1 are done.");
        rig_free(s.r);
    }
}

TEST(what_children_spend_is_their_callers_spending) {
    stage s;
    phi_spending spent;
    stage_begin(&s, rig_new());
    s.lead_desc.system_prompt = "lead 3";
    ask_lead(&s, "part");
    spent = phi_agent_get_info(s.lead).spending;
    CHECK_EQ_INT(spent.tokens, 5 * (FAMILY_INPUT + FAMILY_OUTPUT));
    CHECK(spent.cost > 2.999 && spent.cost < 3.001); /* 5 calls of 10 cents and 50 */
    CHECK_EQ_INT(phi_agent_get_info(s.lead).usage.output, 5 * FAMILY_OUTPUT);
    CHECK_EQ_INT(phi_agent_get_info(s.lead).run_usage.output, 2 * FAMILY_OUTPUT);
    rig_free(s.r);
}

TEST(a_budget_of_the_caller_binds_its_children) {
    stage s;
    stage_begin(&s, rig_new());
    s.lead_desc.budget.max_requests = 2;
    ask_lead(&s, "part");
    CHECK_EQ_INT(s.f.opens, 2); /* the lead's first, the child's; then it is used up */
    rig_free(s.r);
}

/* ---- ends ---- */

TEST(an_abort_of_the_caller_ends_its_children) {
    stage s;
    stage_begin(&s, rig_new());
    s.lead_desc.system_prompt = "lead 3";
    CHECK_EQ_INT(phi_prompt(lead_of(&s), "wait"), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 20), 4);
    CHECK_EQ_INT(phi_abort(s.lead), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 50), 0);
    CHECK_EQ_INT(s.status, PHI_CANCELLED);
    CHECK_EQ_STR(text_at(s.lead, 2, 0), "Cancelled");
    CHECK_EQ_STR(text_at(s.lead, 4, 0), "Cancelled");
    CHECK_EQ_INT(s.f.open, 0);
    rig_free(s.r);
}

TEST(a_call_that_runs_into_its_deadline_ends_its_child) {
    stage s;
    stage_begin(&s, rig_new());
    s.worker.timeout_ms = 50;
    CHECK_EQ_INT(phi_prompt(lead_of(&s), "wait"), PHI_OK);
    CHECK_EQ_INT(rig_run_until(s.r, 200), 0);
    CHECK_EQ_INT(s.errors, 1);
    CHECK_EQ_INT(s.f.open, 0);
    CHECK_EQ_STR(text_at(s.lead, 3, 0), "All 1 are done.");
    rig_free(s.r);
}

TEST(a_caller_that_is_freed_takes_its_children_along) {
    stage s;
    stage_begin(&s, rig_new());
    s.lead_desc.system_prompt = "lead 3";
    CHECK_EQ_INT(phi_prompt(lead_of(&s), "wait"), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 20), 4);
    phi_agent_free(s.lead);
    CHECK_EQ_INT(rig_run(s.r, 20), 0);
    CHECK_EQ_INT(s.f.open, 0);
    rig_free(s.r);
}

static phi_verdict free_in_update(void *user_data, phi_hook *hook) {
    (void)user_data;
    phi_agent_free(hook->agent);
    return PHI_ALLOW;
}

TEST(a_caller_may_be_freed_in_the_hook_of_an_update) {
    stage s;
    stage_begin(&s, rig_new());
    s.lead_desc.hook_fn = free_in_update;
    s.lead_desc.hook_points = PHI_HOOK_BEFORE_TOOL_UPDATE;
    CHECK_EQ_INT(phi_prompt(lead_of(&s), "sum"), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 50), 0);
    CHECK(!phi_agent_alive(s.lead));
    CHECK_EQ_INT(s.f.open, 0);
    rig_free(s.r);
}

static phi_call worker_call;

static void remember_call(void *user_data, const phi_event *e) {
    (void)user_data;
    if (e->kind == PHI_EV_TOOL_START) worker_call = e->call;
}

TEST(a_call_that_the_host_finishes_ends_its_child) {
    stage s;
    stage_begin(&s, rig_new());
    s.echo = rig_wait(s.r);
    s.echo.name = "echo";
    s.worker_desc.tools = &s.echo;
    s.worker_desc.tool_count = 1;
    rig_watch(s.r, remember_call, NULL);
    CHECK_EQ_INT(phi_prompt(lead_of(&s), "tool"), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 50), 2);
    CHECK_EQ_INT(phi_call_reply(worker_call, "never mind"), PHI_OK);
    CHECK_EQ_INT(phi_call_progress(rig_call_at(s.r, 0), "x"), PHI_OK); /* it says something */
    CHECK_EQ_INT(rig_run(s.r, 50), 0);
    CHECK_EQ_STR(text_at(s.lead, 2, 0), "never mind");
    CHECK_EQ_INT(rig_cancelled(s.r), 1);
    CHECK_EQ_INT(s.f.open, 0);
    rig_free(s.r);
}

/* ---- continued ---- */

TEST(a_child_that_is_kept_goes_on_by_its_id) {
    stage s;
    phi_str details;
    stage_begin(&s, rig_new());
    s.worker.keep = 1;
    ask_lead(&s, "sum");
    CHECK_EQ_STR(s.details, "{\"sub_agent\":\"worker\",\"turns\":2,\"id\":\"sub-1\"}");
    details = phi_str_of(s.tool.schema);
    CHECK(phi__str_find(details, 0, "\"continue\"") != SIZE_MAX);
    /* the same caller, by another model */
    CHECK_EQ_INT(phi_prompt(s.lead, "again"), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 100), 0);
    CHECK_EQ_STR(s.details, "{\"sub_agent\":\"worker\",\"turns\":2,\"id\":\"sub-2\"}");
    rig_free(s.r);
}

static phi_str last_id(const stage *s) {
    static char id[40];
    const char *at = strstr(s->details, "\"id\":\"");
    (void)snprintf(id, sizeof id, "%.*s", at != NULL ? (int)strcspn(at + 6, "\"") : 0,
                   at != NULL ? at + 6 : "");
    return phi_str_of(id);
}

TEST(continuing_shows_the_child_its_history_and_an_unknown_id_is_an_error) {
    stage s;
    phi_provider raw;
    phi_agent_desc desc;
    int n;
    stage_begin(&s, rig_new());
    memset(&raw, 0, sizeof raw);
    raw.protocol = "raw";
    raw.open = raw_open;
    raw.poll = raw_poll;
    raw.close = raw_close;
    raw.user_data = &n;
    s.worker.keep = 2;
    desc = s.lead_desc;
    s.lead_desc.provider = &raw;
    (void)desc;
    (void)lead_of(&s);
    n = 0;
    raw_arguments = "{\"task\":\"one\"}";
    CHECK_EQ_INT(phi_prompt(s.lead, "x"), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 50), 0);
    CHECK_STR(last_id(&s), "sub-1");
    CHECK(strstr(s.child_loop, ".sub.1") != NULL);
    n = 0;
    raw_arguments = "{\"task\":\"two\",\"continue\":\"sub-1\"}";
    CHECK_EQ_INT(phi_prompt(s.lead, "x"), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 50), 0);
    CHECK_EQ_STR(s.result, "Done: two.");
    CHECK_STR(last_id(&s), "sub-1");
    CHECK(strstr(s.child_loop, ".sub.2") != NULL);
    n = 0;
    raw_arguments = "{\"task\":\"three\",\"continue\":\"sub-9\"}";
    CHECK_EQ_INT(phi_prompt(s.lead, "x"), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 50), 0);
    CHECK_EQ_STR(s.result, "There is no finished sub-agent \"sub-9\" to continue");
    /* a reset forgets them */
    CHECK_EQ_INT(phi_agent_reset(s.lead), PHI_OK);
    n = 0;
    raw_arguments = "{\"task\":\"four\",\"continue\":\"sub-1\"}";
    CHECK_EQ_INT(phi_prompt(s.lead, "x"), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 50), 0);
    CHECK_EQ_STR(s.result, "There is no finished sub-agent \"sub-1\" to continue");
    rig_free(s.r);
}

/* ---- shown ---- */

TEST(a_host_may_hear_the_children_and_sessions_are_linked) {
    stage s;
    phi_recorder_desc recording;
    const phi_session *child = NULL;
    const phi_loop_record *parent = NULL;
    memset(&recording, 0, sizeof recording);
    stage_begin(&s, rig_new());
    s.recorder = phi_recorder_new(&recording);
    s.worker.show_events = true;
    ask_lead(&s, "sum");
    CHECK_EQ_INT(s.starts, 2);
    CHECK_EQ_INT(s.ends, 2);
    CHECK_EQ_STR(s.parent_loop, s.lead_loop);
    CHECK_EQ_STR(s.result, "Done: sum 0.");
    if (CHECK_EQ_INT(recorder_session_count(s.recorder), 2)) {
        parent = session_loop(recorder_find(s.recorder, phi_agent_get_info(s.lead).session_id),
                              phi_str_of(s.lead_loop));
        child = recorder_find(s.recorder, phi__str(s.child_loop, strcspn(s.child_loop, ".")));
    }
    if (CHECK(parent != NULL && parent->spawned_count == 1)) {
        CHECK_STR(parent->spawned[0].child_loop_id, s.child_loop);
        CHECK_STR(parent->spawned[0].tool_name, "worker");
    }
    if (CHECK(child != NULL && child->parent != NULL)) {
        CHECK_STR(child->parent->parent_loop_id, s.lead_loop);
        CHECK_STR(child->parent->tool_call_id, "worker-0");
        CHECK_STR(child->parent->tool_name, "worker");
        CHECK_EQ_INT(child->loops[0]->turns[0].trigger, PHI_TRIGGER_SUB_AGENT);
    }
    phi_recorder_free(s.recorder);
    s.recorder = NULL;
    /* the next one frees the last one */
    CHECK_EQ_INT(phi_prompt(s.lead, "sum"), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 100), 0);
    CHECK_EQ_INT(s.starts, 4);
    CHECK_EQ_INT(phi_prompt(s.lead, "wait"), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 20), 2);
    CHECK_EQ_INT(phi_abort(s.lead), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 20), 0);
    CHECK_EQ_INT(s.ends, 6);
    rig_free(s.r);
}

/* ---- by the host ---- */

TEST(the_host_spawns_and_gets_the_result_as_an_event) {
    stage s;
    phi_agent child;
    stage_begin(&s, rig_new());
    (void)lead_of(&s);
    CHECK_EQ_INT(phi_spawn(s.lead, &s.worker, "sum", &child), PHI_OK);
    CHECK(phi_agent_get_info(child).running);
    CHECK_EQ_INT(rig_run(s.r, 50), 0);
    CHECK_EQ_INT(s.sub_ends, 1);
    CHECK_EQ_STR(s.result, "Done: sum.");
    CHECK_EQ_STR(s.error_source, "sub-1");
    CHECK_EQ_INT(s.status, PHI_OK);
    CHECK(!phi_agent_alive(child));
    CHECK_EQ_INT(phi_spawn(s.lead, &s.worker, "wait", &child), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 10), 1);
    CHECK_EQ_INT(phi_abort(child), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 10), 0);
    CHECK_EQ_INT(s.sub_ends, 2);
    CHECK_EQ_INT(s.status, PHI_CANCELLED);
    /* freed by the host, the result says so */
    CHECK_EQ_INT(phi_spawn(s.lead, &s.worker, "wait", &child), PHI_OK);
    phi_agent_free(child);
    CHECK_EQ_INT(rig_run(s.r, 10), 0);
    CHECK_EQ_INT(s.sub_ends, 3);
    CHECK_EQ_STR(s.result, "The sub-agent was freed");
    CHECK_EQ_INT(phi_spawn(s.lead, NULL, "x", &child), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_spawn(s.lead, &s.worker, "", &child), PHI_BAD_ARG);
    phi_agent_free(s.lead);
    CHECK_EQ_INT(phi_spawn(s.lead, &s.worker, "x", &child), PHI_STALE);
    rig_free(s.r);
}

TEST_MAIN(TEST_ENTRY(a_child_does_the_task_and_its_last_words_are_the_result),
          TEST_ENTRY(the_tools_and_the_progress_of_a_child_are_forwarded),
          TEST_ENTRY(words_of_a_child_are_updates_while_it_still_speaks),
          TEST_ENTRY(progress_of_a_childs_tool_reaches_the_host_while_it_waits),
          TEST_ENTRY(a_child_without_words_has_a_fixed_result),
          TEST_ENTRY(a_child_that_fails_makes_an_error_result_of_its_error),
          TEST_ENTRY(a_limit_ends_a_child_and_its_last_words_count),
          TEST_ENTRY(a_budget_that_ends_a_child_is_named_in_its_result),
          TEST_ENTRY(a_child_has_limits_of_its_own_by_default),
          TEST_ENTRY(arguments_that_say_nothing_are_an_error_that_says_so),
          TEST_ENTRY(a_child_that_cannot_be_made_says_why),
          TEST_ENTRY(children_work_beside_each_other),
          TEST_ENTRY(a_child_has_no_sub_agents_unless_it_may),
          TEST_ENTRY(what_children_spend_is_their_callers_spending),
          TEST_ENTRY(a_budget_of_the_caller_binds_its_children),
          TEST_ENTRY(an_abort_of_the_caller_ends_its_children),
          TEST_ENTRY(a_call_that_runs_into_its_deadline_ends_its_child),
          TEST_ENTRY(a_caller_that_is_freed_takes_its_children_along),
          TEST_ENTRY(a_caller_may_be_freed_in_the_hook_of_an_update),
          TEST_ENTRY(a_call_that_the_host_finishes_ends_its_child),
          TEST_ENTRY(a_child_that_is_kept_goes_on_by_its_id),
          TEST_ENTRY(continuing_shows_the_child_its_history_and_an_unknown_id_is_an_error),
          TEST_ENTRY(a_host_may_hear_the_children_and_sessions_are_linked),
          TEST_ENTRY(the_host_spawns_and_gets_the_result_as_an_event))
