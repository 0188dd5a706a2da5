/* scenes_loop.h - scenes of runs: calls, decisions, limits, retries, failover, formats. */
#ifndef PHI_TESTS_COMPAT_SCENES_LOOP_H
#define PHI_TESTS_COMPAT_SCENES_LOOP_H

#include "compat/scenes.h"
#include "codecs/presets.h"
#include "model/model.h"
#include "agent/agent.h"
#include "agent/agent_history.h"
#include "agent/query.h"
#include "orchestrate/evaluate.h"
#include "features/failover.h"
#include "loop/hook.h"
#include "loop/input.h"
#include "log/log_in.h"

#define SCENE_FREE "{\"type\":\"object\"}"

static inline void scene_nothing(scene *s) { (void)s; }
static inline void scene_plain_make(scene *s) { s->desc.system_prompt = "Be brief."; }

/* ---- an agent that never ran ---- */

static inline void fresh_act(scene *s) {
    phi_thread *thread = phi_agent_thread(s->agent);
    CHECK_EQ_INT(phi_thread_set_info(thread, "A new \"game\"", NULL), PHI_OK);
    CHECK_EQ_INT(phi_thread_set_info(thread, NULL, "{\"level\":1}"), PHI_OK);
    CHECK_EQ_INT(phi_steer(s->agent, "Steered before."), PHI_OK);
    CHECK_EQ_INT(phi_follow_up(s->agent, "And later."), PHI_OK);
    (void)rig_step(s->r);
}

static inline void fresh_rest(scene *s) {
    rig_says(s->r, "Steered.");
    scene_talk(s, "First.", "Followed.");
}

/* ---- content, thinking, requests with ids, notes, usage and cost ---- */

static inline void talks_make(scene *s) {
    scene_plain_make(s);
    s->desc.model.reasoning = true;
    s->desc.thinking = PHI_THINKING_LOW;
    s->desc.model.cost.input = 3;
    s->desc.model.cost.output = 15;
    s->desc.model.cost.cache_read = 0.3;
    s->desc.budget.max_tokens = 1000000;
    s->desc.budget.max_cost = 7.5;
    s->desc.budget.max_requests = 100;
    s->desc.options.capture_requests = true;
}

static inline void talks_ask(scene *s) {
    phi_limits limits = PHI_ZERO;
    phi_content content[4];
    phi_prompt_desc ask = PHI_ZERO;
    phi_response response;
    limits.max_turns = 3;
    limits.max_tokens = 5000;
    limits.max_duration_ms = 60000;
    limits.max_cost = 0.5;
    limits.pause = true;
    memset(content, 0, sizeof content);
    content[0].kind = PHI_CONTENT_TEXT;
    content[0].text = phi_str_of("Look: \"\xc3\xa9\" \xf0\x9f\x99\x82\n");
    content[1].kind = PHI_CONTENT_IMAGE;
    content[1].mime_type = phi_str_of("image/png");
    content[1].data = phi_str_of("iVBORw0KGgo=");
    content[2].kind = PHI_CONTENT_DOCUMENT;
    content[2].name = phi_str_of("Notes");
    content[2].text = phi_str_of("A text.");
    content[3].kind = PHI_CONTENT_DOCUMENT;
    content[3].mime_type = phi_str_of("application/pdf");
    content[3].url = phi_str_of("https://example.org/a.pdf");
    ask.content = content;
    ask.content_count = 4;
    ask.id = "request-1";
    ask.refs = "{\"ticket\":7}";
    ask.metadata = "{\"who\":\"ada\"}";
    ask.extra = "{\"metadata\":{\"user_id\":\"u\"}}";
    ask.tool_context = "{\"room\":3}";
    ask.limits = &limits;
    ask.decision_timeout_ms = 9000;
    CHECK_EQ_INT(phi_prompt_with(s->agent, &ask, &response), PHI_OK);
}

static inline void talks_act(scene *s) {
    scene_thinks(s, "A picture.", "I see it.");
    talks_ask(s);
    scene_end(s);
    CHECK_EQ_INT(phi_thread_note(phi_agent_thread(s->agent), "host.mood",
                                 phi_str_of("{\"mood\":[1,2.5,null]}"), NULL),
                 PHI_OK);
    scene_talk(s, "And now?", "Nothing new.");
    rig_chunk(s->r, 60);
    rig_says(s->r, "A long answer that comes in many pieces, of which some have come.");
    talks_ask(s);
    (void)rig_run(s->r, 12); /* in the midst of its stream */
}

static inline void talks_rest(scene *s) {
    if (s->loaded) rig_says(s->r, "The same request once more.");
    scene_end(s);
    scene_talk(s, "Thanks.", "Welcome.");
}

/* ---- calls that wait, with a state that is kept; input of each kind that waits ---- */

static inline void calls_make(scene *s) {
    phi_tool *wait;
    scene_plain_make(s);
    (void)scene_has(s, rig_echo());
    wait = scene_has(s, rig_wait(s->r));
    wait->heartbeat_ms = 5;
    wait->schema = SCENE_FREE;
    (void)scene_has(s, scene_count());
    s->desc.input.follow_up_mode = PHI_QUEUE_ALL;
}

static inline void calls_act(scene *s) {
    static const char *const calls[] = {"c1 echo {\"n\":1}", "c2 wait {\"for\":\"x\"}",
                                        "c3 count {\"to\":4}", "c4 nobody {}"};
    phi_enqueue_desc later = PHI_ZERO;
    scene_talk(s, "Good day.", "Good day.");
    rig_calls(s->r, calls, 4);
    scene_prompt(s, "Do it all.");
    (void)rig_run(s->r, 5);
    CHECK_EQ_INT(phi_inject(s->agent, "Injected.", "weather"), PHI_OK);
    later.queue = PHI_INPUT_FOLLOW_UP;
    later.text = "Follow \"up\".";
    later.id = "later-1";
    later.refs = "[1]";
    later.source = "clock";
    CHECK_EQ_INT(phi_enqueue(s->agent, &later), PHI_OK);
    CHECK_EQ_INT(phi_follow_up(s->agent, "And another."), PHI_OK);
}

static inline void calls_rest(scene *s) {
    (void)rig_run(s->r, 20);
    rig_says(s->r, "All done.");
    rig_says(s->r, "Followed up.");
    scene_finish(s, "waited");
    scene_end(s);
}

/* ---- steering skips calls; sequential tools ---- */

static inline void steer_make(scene *s) {
    calls_make(s);
    s->desc.tool_options.mode = PHI_TOOLS_SEQUENTIAL;
}

static inline void steer_act(scene *s) {
    static const char *const calls[] = {"c1 wait {}", "c2 echo {\"n\":1}", "c3 echo {\"n\":2}"};
    rig_calls(s->r, calls, 3);
    scene_prompt(s, "One after another.");
    (void)rig_run(s->r, 6);
    CHECK_EQ_INT(phi_steer(s->agent, "Stop that."), PHI_OK);
    (void)rig_step(s->r);
}

static inline void steer_rest(scene *s) {
    rig_says(s->r, "Stopped.");
    scene_finish(s, "first");
    scene_end(s);
}

/* ---- decisions: approval with changed arguments, a denial, a warning of a filter ---- */

static inline phi_verdict decisions_hook(void *user_data, phi_hook *hook) {
    (void)user_data;
    if (hook->point == PHI_HOOK_FILTER) {
        hook->reply = phi_str_of("Mind the filter.");
        return PHI_WARN;
    }
    if (hook->point != PHI_HOOK_BEFORE_TOOL) return PHI_ALLOW;
    if (phi__str_is(hook->tool_call_id, "c2")) {
        hook->reply = phi_str_of("Not that one.");
        return PHI_DENY;
    }
    return PHI_WAIT;
}

static inline void decisions_make(scene *s) {
    scene_plain_make(s);
    scene_has(s, rig_echo())->needs_approval = true;
    s->tools[0].source = "openapi";
    s->desc.hook_fn = decisions_hook;
    s->desc.hook_points = PHI_HOOK_BEFORE_TOOL;
    s->filter.fn = decisions_hook;
    s->desc.input.filters = &s->filter;
    s->desc.input.filter_count = 1;
}

static inline void decisions_act(scene *s) {
    static const char *const calls[] = {"c1 echo {\"n\":1}", "c2 echo {\"n\":2}"};
    rig_calls(s->r, calls, 2);
    scene_prompt(s, "May I?");
    (void)rig_run(s->r, 6);
}

static inline void decisions_rest(scene *s) {
    (void)rig_run(s->r, 3);
    rig_says(s->r, "You may.");
    scene_decide(s, PHI_ALLOW, "{\"n\":\"changed\"}");
    scene_end(s);
}

/* ---- a run that pauses at a limit ---- */

static inline void paused_make(scene *s) {
    scene_plain_make(s);
    (void)scene_has(s, rig_echo());
    s->desc.limits.max_turns = 1;
    s->desc.limits.pause = true;
}

static inline void paused_act(scene *s) {
    rig_call(s->r, "c1", "echo", "{}");
    scene_prompt(s, "On and on.");
    (void)rig_run(s->r, 8);
}

static inline void paused_rest(scene *s) {
    phi_raise more = PHI_ZERO;
    (void)rig_run(s->r, 3);
    more.turns = 1;
    more.tokens = 500;
    CHECK_EQ_INT(phi_budget_raise(s->agent, &more), PHI_OK);
    rig_says(s->r, "Further.");
    scene_end(s);
}

/* ---- limits that end runs; a repeated call; a budget that is used up ---- */

static inline void limits_make(scene *s) {
    scene_plain_make(s);
    (void)scene_has(s, rig_echo());
    s->desc.limits.max_turns = 4;
    s->desc.tool_options.repeat_warn_after = 2;
    s->desc.tool_options.repeat_stop_after = 3;
    s->desc.budget.max_requests = 9;
}

static inline void limits_act(scene *s) {
    int i;
    for (i = 0; i < 3; i++) rig_call(s->r, "c1", "echo", "{\"again\":1}");
    scene_prompt(s, "Again and again.");
    scene_end(s);
    for (i = 0; i < 4; i++) rig_call(s->r, "c2", "echo", i % 2 == 0 ? "{\"n\":1}" : "{\"n\":2}");
    scene_prompt(s, "To the limit.");
    scene_end(s);
}

static inline void limits_rest(scene *s) {
    scene_talk(s, "Once more.", "Here.");
    scene_talk(s, "And once more.", "The last one.");
    scene_prompt(s, "No budget is left.");
    scene_end(s);
}

/* ---- retries: a delay before the next attempt; a tool that is started again ---- */

static inline void retries_make(scene *s) {
    scene_plain_make(s);
    (void)scene_has(s, scene_tool("fail", "Fails", SCENE_FREE, scene_fail_start));
    s->tools[0].retries = 2;
    s->tools[0].retry_delay_ms = 500;
    s->desc.retry.disable = false;
    s->desc.retry.max_retries = 2;
}

static inline void retries_act(scene *s) {
    rig_call(s->r, "c1", "fail", "{}");
    rig_replies(s->r, 529, SCENE_JSON "retry-after: 2\r\n", SCENE_ERROR("overloaded_error"));
    rig_says(s->r, "It failed.");
    scene_prompt(s, "Try.");
    scene_end(s);
    rig_replies(s->r, 500, SCENE_JSON, SCENE_ERROR("api_error"));
    scene_prompt(s, "Try again.");
    (void)rig_run(s->r, 20); /* in the delay */
}

static inline void retries_rest(scene *s) {
    rig_breaks(s->r, SCENE_HALF, PHI_NETWORK, "connection reset");
    rig_says(s->r, "It went well.");
    scene_end(s);
}

/* ---- failures: errors, aborts with a reason, a run that keeps nothing, a stopped run ---- */

static inline void failures_make(scene *s) {
    scene_plain_make(s);
    (void)scene_has(s, rig_wait(s->r));
    s->tools[0].timeout_ms = 40;
}

static inline void failures_act(scene *s) {
    rig_replies(s->r, 400, SCENE_JSON, SCENE_ERROR("invalid_request_error"));
    scene_prompt(s, "A bad request.");
    scene_end(s);
    rig_hangs(s->r, SCENE_HALF);
    scene_prompt(s, "Never mind.");
    (void)rig_run(s->r, 4);
    CHECK_EQ_INT(phi_abort_run(s->agent, NULL, "the player left"), PHI_OK);
    scene_end(s);
    rig_call(s->r, "c1", "wait", "{}");
    rig_says(s->r, "Too late.");
    scene_prompt(s, "Wait in vain.");
    scene_end(s);
    rig_call(s->r, "c2", "wait", "{}");
    scene_prompt(s, "Stop after this.");
    (void)rig_run(s->r, 4);
}

static inline void failures_rest(scene *s) {
    (void)rig_run(s->r, 2);
    CHECK_EQ_INT(phi_stop(s->agent), PHI_OK);
    scene_finish(s, "done");
    scene_end(s);
    rig_says(s->r, "Continued.");
    if (s->desc.keep == PHI_KEEP_NONE) /* nothing is in view */
        scene_prompt(s, "Anew.");
    else
        CHECK_EQ_INT(phi_continue(s->agent, PHI_CONTINUATION_RERUN), PHI_OK);
    scene_end(s);
}

static inline void kept_none_make(scene *s) {
    failures_make(s);
    s->desc.keep = PHI_KEEP_NONE;
}

/* ---- failover ---- */

static inline void failover_make(scene *s) {
    scene_plain_make(s);
    s->backups[0].model = phi_model_anthropic("backup-1", "test-key");
    s->backups[0].max_tokens = 300;
    s->backups[1].model = phi_model_anthropic("backup-2", "test-key");
    s->failover.models = s->backups;
    s->failover.model_count = 2;
    s->failover.stay = PHI_FAILOVER_STAY_EVER;
    s->desc.failover = &s->failover;
    (void)scene_has(s, rig_wait(s->r));
}

static inline void failover_act(scene *s) {
    rig_replies(s->r, 401, SCENE_JSON, SCENE_ERROR("authentication_error"));
    rig_breaks(s->r, SCENE_HALF, PHI_NETWORK, "connection reset");
    rig_call(s->r, "c1", "wait", "{}");
    scene_prompt(s, "Anybody?");
    (void)rig_run(s->r, 20);
}

static inline void failover_rest(scene *s) {
    (void)rig_run(s->r, 2);
    rig_says(s->r, "I am here.");
    scene_finish(s, "waited");
    scene_end(s);
    scene_talk(s, "Still you?", "Still me.");
}

static const scene_kind scenes_of_loops[] = {
    {"fresh_with_input", scene_plain_make, fresh_act, fresh_rest, SCENE_COMMON},
    {"request_in_its_stream", talks_make, talks_act, talks_rest, 0},
    {"calls_and_input_pending", calls_make, calls_act, calls_rest, 0},
    {"steered_sequential_calls", steer_make, steer_act, steer_rest, SCENE_COMMON},
    {"decision_pending", decisions_make, decisions_act, decisions_rest, SCENE_COMMON},
    {"paused_at_a_limit", paused_make, paused_act, paused_rest, SCENE_COMMON},
    {"limits_reached", limits_make, limits_act, limits_rest, SCENE_COMMON},
    {"delay_before_a_retry", retries_make, retries_act, retries_rest, 0},
    {"failures_and_a_call", failures_make, failures_act, failures_rest, 0},
    {"failures_that_keep_nothing", kept_none_make, failures_act, failures_rest, 0},
    {"failover_and_a_call", failover_make, failover_act, failover_rest, 0},
};

#endif
