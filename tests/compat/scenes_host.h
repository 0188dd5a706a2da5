/* scenes_host.h - scenes in which the host has its say: hooks, filters, own settings, an own model. */
#ifndef PHI_TESTS_COMPAT_SCENES_HOST_H
#define PHI_TESTS_COMPAT_SCENES_HOST_H

#include "compat/scenes_loop.h"
#include "agent/agent_history.h"
#include "agent/profile.h"
#include "loop/hook.h"
#include "loop/input.h"
#include "loop/run.h"

/* ---- a request with its own tools, policy, format, temperature ---- */

static inline void own_make(scene *s) {
    scene_plain_make(s);
    (void)scene_has(s, rig_echo());
    s->own_tool = rig_wait(s->r);
    s->own_tool.schema = SCENE_FREE;
    (void)scene_has(s, s->own_tool);
    s->desc.format.kind = PHI_FORMAT_JSON_OBJECT;
}

static inline void own_act(scene *s) {
    static const char *const allowed[] = {"wait"};
    phi_prompt_desc ask = PHI_ZERO;
    phi_policy policy = phi_policy_of(PHI_POLICY_SHORT_CONTEXT, NULL);
    phi_format format = PHI_ZERO;
    phi_response response;
    rig_call(s->r, "c1", "respond_json", "{\"a\":1}");
    scene_prompt(s, "Any object.");
    scene_end(s);
    policy.max_messages = 4;
    policy.keep_last_turns = 1;
    format.kind = PHI_FORMAT_JSON_SCHEMA;
    format.schema = "{\"type\":\"object\",\"properties\":{\"b\":{\"type\":\"integer\"}}}";
    format.name = "bee";
    ask.text = "With a schema.";
    ask.policy = &policy;
    ask.format = &format;
    ask.allowed_tools = allowed;
    ask.allowed_count = 1;
    ask.has_temperature = true;
    ask.temperature = 0.75;
    CHECK_EQ_INT(phi_prompt_with(s->agent, &ask, &response), PHI_OK);
    rig_call(s->r, "c2", "wait", "{}");
    (void)rig_run(s->r, 6);
}

static inline void own_rest(scene *s) {
    (void)rig_run(s->r, 2);
    rig_call(s->r, "c3", "respond_json", "{\"b\":2}");
    scene_finish(s, "waited");
    scene_end(s);
}

/* ---- hooks that change what is sent, and what comes in ---- */

static inline phi_verdict changing_hook(void *user_data, phi_hook *hook) {
    static phi_content block;
    static phi_message first;
    static const phi_message *list[16];
    size_t i;
    (void)user_data;
    switch (hook->point) {
    case PHI_HOOK_TRANSFORM_CONTEXT:
        block.kind = PHI_CONTENT_TEXT;
        block.text = phi_str_of("Said by the hook.");
        first.role = PHI_ROLE_USER;
        first.content = &block;
        first.content_count = 1;
        list[0] = &first;
        for (i = 0; i < hook->message_count && i < 15; i++) list[i + 1] = hook->messages[i];
        hook->messages = list;
        hook->message_count = i + 1;
        return PHI_ALLOW;
    case PHI_HOOK_CREDENTIAL: hook->reply = phi_str_of("test-key-of-hook"); return PHI_ALLOW;
    case PHI_HOOK_STEERING:
        if (hook->turn_index == 1) hook->reply = phi_str_of("Steered by the hook.");
        return PHI_ALLOW;
    case PHI_HOOK_BEFORE_TOOL_UPDATE: return phi__str_is(hook->text, "5") ? PHI_DENY : PHI_ALLOW;
    case PHI_HOOK_BEFORE_TURN:
        if (hook->turn_index < 3) return PHI_ALLOW;
        hook->reply = phi_str_of("No more turns.");
        return PHI_DENY;
    case PHI_HOOK_AFTER_TURN: return hook->turn_index == 0 ? PHI_WAIT : PHI_ALLOW;
    default: return PHI_ALLOW;
    }
}

static inline void hooks_make(scene *s) {
    scene_plain_make(s);
    (void)scene_has(s, scene_count());
    s->desc.hook_fn = changing_hook;
    s->desc.hook_points = PHI_HOOK_TRANSFORM_CONTEXT | PHI_HOOK_CONVERT_TO_LLM |
                          PHI_HOOK_CREDENTIAL | PHI_HOOK_STEERING | PHI_HOOK_BEFORE_TOOL_UPDATE |
                          PHI_HOOK_BEFORE_TURN | PHI_HOOK_AFTER_TURN | PHI_HOOK_AFTER_TOOL |
                          PHI_HOOK_AFTER_TOOL_UPDATE | PHI_HOOK_BEFORE_LOOP | PHI_HOOK_AFTER_LOOP;
}

static inline void hooks_act(scene *s) {
    rig_call(s->r, "c1", "count", "{}");
    scene_prompt(s, "Count.");
    (void)rig_run(s->r, 30); /* until the hook behind the turn waits */
}

static inline void hooks_rest(scene *s) {
    (void)rig_run(s->r, 2);
    rig_call(s->r, "c2", "count", "{\"more\":1}");
    rig_call(s->r, "c3", "count", "{\"more\":2}");
    scene_decide(s, PHI_ALLOW, NULL);
    scene_end(s);
}

/* ---- input that a filter refuses, and input that is dropped ---- */

static inline phi_verdict refusing_filter(void *user_data, phi_hook *hook) {
    (void)user_data;
    if (hook->text.len > 0 && hook->text.at[0] != '!') return PHI_ALLOW;
    hook->reply = phi_str_of("No \"shouting\".");
    return PHI_DENY;
}

static inline void dropped_make(scene *s) {
    scene_plain_make(s);
    (void)scene_has(s, rig_wait(s->r));
    s->filter.fn = refusing_filter;
    s->desc.input.filters = &s->filter;
    s->desc.input.filter_count = 1;
    s->desc.input.queue_limit = 1;
}

static inline void dropped_act(scene *s) {
    scene_prompt(s, "!Go!");
    scene_end(s);
    rig_call(s->r, "c1", "wait", "{}");
    scene_prompt(s, "Go, please.");
    (void)rig_run(s->r, 4);
    CHECK_EQ_INT(phi_inject(s->agent, "Too late.", "clock"), PHI_OK);
    CHECK_EQ_INT(phi_follow_up(s->agent, "One."), PHI_OK);
    CHECK_EQ_INT(phi_follow_up(s->agent, "One too many."), PHI_OK);
    (void)rig_step(s->r);
}

static inline void dropped_rest(scene *s) {
    (void)rig_run(s->r, 2);
    CHECK_EQ_INT(phi_abort(s->agent), PHI_OK);
    scene_end(s);
    rig_says(s->r, "Once more.");
    scene_talk(s, "Again, please.", "Followed.");
}

/* ---- settings that few hosts have ---- */

static inline size_t counted(void *user_data, phi_str text) {
    (void)user_data;
    return text.len;
}

static inline phi_status without_first(void *user_data, const phi_model *target,
                                       const phi_message *const *messages, size_t count,
                                       phi_arena *arena, const phi_message *const **out,
                                       size_t *out_count) {
    size_t skip = count > 3 ? 2 : 0; /* to the second question */
    (void)user_data;
    while (skip > 0 && skip + 1 < count && messages[skip]->role != PHI_ROLE_USER) skip++;
    return phi_translate(target, messages + skip, count - skip, arena, out, out_count);
}

static inline void odd_make(scene *s) {
    static phi_profile profile;
    profile.profile_id = "profile-1";
    profile.name = "Smith";
    profile.system_prompt = "You are the smith.";
    profile.max_tokens = 333;
    profile.config_id = "forge";
    (void)scene_has(s, scene_tool("long", "A long text", NULL, scene_long_start));
    s->tools[0].max_result_bytes = 150;
    s->desc.profile = &profile;
    s->desc.input.first_turn_trigger = PHI_TRIGGER_SUB_AGENT;
    s->desc.token_counter.count_text = counted;
    s->desc.translate_fn = without_first;
    s->desc.tool_options.max_result_image_bytes = 5;
    s->desc.deadlines.first_event_ms = 200;
    s->desc.model.cost.input = 3;
    s->desc.limits.max_cost = 100;
    s->desc.workspace = "forge";
}

static inline void odd_act(scene *s) {
    rig_call(s->r, "c1", "long", "{}");
    rig_says(s->r, "A long text.");
    scene_prompt(s, "Read.");
    scene_end(s);
    rig_hangs(s->r, "");
    scene_prompt(s, "Silence?");
    scene_end(s);
}

static inline void odd_rest(scene *s) {
    scene_talk(s, "And again?", "Again.");
    scene_talk(s, "Once more?", "Once more.");
}

/* ---- a model in the process ---- */

static inline phi_status parrot_open(void *user_data, const phi_model_request *request,
                                     void **call) {
    (void)request;
    *call = user_data;
    return PHI_OK;
}

/* In each fourth look: thinks and calls echo in its first answer, and says a text in the others. */
static inline phi_poll parrot_poll(void *user_data, void *call, phi_answer *answer) {
    scene *s = (scene *)user_data;
    phi_usage usage = PHI_ZERO;
    (void)call;
    if (++s->source_version % 4 != 0) return PHI_POLL_AGAIN;
    usage.input = 30;
    usage.output = 6;
    usage.total_tokens = 36;
    phi_answer_usage(answer, &usage);
    if (phi_thread_message_count(phi_agent_thread(s->agent)) == 1) {
        phi_answer_thinking(answer, phi_str_of("Which tool?"), phi_str_of(NULL));
        phi_answer_call(answer, phi_str_of("p1"), phi_str_of("echo"));
        phi_answer_arguments(answer, phi_str_of("{\"a\":1}"), false);
        phi_answer_stop(answer, PHI_STOP_REASON_TOOL_USE);
        return PHI_POLL_DONE;
    }
    phi_answer_text(answer, phi_str_of("A parrot's word."));
    phi_answer_stop(answer, PHI_STOP_REASON_STOP);
    return PHI_POLL_DONE;
}

static inline void parrot_close(void *user_data, void *call) {
    (void)user_data;
    (void)call;
}

static inline void parrot_make(scene *s) {
    scene_plain_make(s);
    (void)scene_has(s, rig_echo());
    memset(&s->desc.model, 0, sizeof s->desc.model);
    s->desc.model.protocol = "parrot";
    s->desc.model.id = "polly";
    s->provider.protocol = "parrot";
    s->provider.user_data = s;
    s->provider.open = parrot_open;
    s->provider.poll = parrot_poll;
    s->provider.close = parrot_close;
    s->desc.provider = &s->provider;
}

static inline void parrot_act(scene *s) {
    scene_prompt(s, "Speak.");
    scene_end(s);
    scene_prompt(s, "Speak on.");
    (void)rig_run(s->r, 1);
}

static inline void parrot_rest(scene *s) {
    scene_end(s);
    scene_prompt(s, "Enough.");
    scene_end(s);
}

static const scene_kind scenes_of_hosts[] = {
    {"input_refused_and_dropped", dropped_make, dropped_act, dropped_rest, SCENE_COMMON},
    {"hooks_that_change_requests", hooks_make, hooks_act, hooks_rest, SCENE_COMMON},
    {"settings_that_few_have", odd_make, odd_act, odd_rest, 0},
    {"a_model_in_the_process", parrot_make, parrot_act, parrot_rest, 0},
    {"own_settings_of_a_request", own_make, own_act, own_rest, SCENE_COMMON},
};

#endif
