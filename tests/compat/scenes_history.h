/* scenes_history.h - scenes of histories: facts, tool state, rewrites, lanes, policies, memory. */
#ifndef PHI_TESTS_COMPAT_SCENES_HISTORY_H
#define PHI_TESTS_COMPAT_SCENES_HISTORY_H

#include "support/context_tools.h"
#include "compat/scenes_host.h"
#include "agent/agent_history.h"
#include "support/set.h"
#include "log/log_in.h"
#include "loop/loop_in.h"

static inline phi_thread *scene_thread(scene *s) { return phi_agent_thread(s->agent); }

/* ---- world facts ---- */

static inline void fact(phi_fact_scope scope, const char *key, const char *value) {
    CHECK_EQ_INT(phi_fact_set(scope, key, phi_str_of(value), NULL), PHI_OK);
}

static inline void facts_act(scene *s) {
    phi_runtime *rt = rig_runtime(s->r);
    fact(phi_fact_all(rt), "weather", "rain");
    fact(phi_fact_all(rt), "king", "is well");
    fact(phi_fact_group(rt, "guards"), "password", "swan\nor goose");
    CHECK_EQ_INT(phi_fact_join(s->agent, "guards", true), PHI_OK);
    fact(phi_fact_agent(s->agent), "mood", "\"good\"");
    scene_talk(s, "Who goes there?", "The guard.");
    fact(phi_fact_all(rt), "king", "is ill");
    CHECK_EQ_INT(phi_fact_set(phi_fact_agent(s->agent), "mood", phi_str_of(NULL), NULL), PHI_OK);
    fact(phi_fact_agent(s->agent), "purse", "3 coins");
    scene_talk(s, "What news?", "The king is ill.");
    fact(phi_fact_agent(s->agent), "purse", "2 coins");
}

static inline void facts_rest(scene *s) {
    fact(phi_fact_agent(s->agent), "horse", "lame");
    scene_talk(s, "And now?", "Now I walk.");
    CHECK_EQ_INT(phi_fact_join(s->agent, "guards", false), PHI_OK);
    scene_talk(s, "The password?", "I forget.");
}

/* The same, told to a model that takes system messages and checks prefixes. */
static inline void facts_of_claude_make(scene *s) {
    scene_plain_make(s);
    s->desc.model.id = "claude-opus-5-5";
    s->desc.model.reasoning = true;
    s->desc.thinking = PHI_THINKING_MEDIUM;
}

/* ---- a system prompt and tools that change in mid-conversation ---- */

static inline uint64_t door_version(void *user_data) {
    return ((scene *)user_data)->source_version;
}

static inline phi_status door_take(void *user_data, const phi_tool **tools, size_t *count) {
    scene *s = (scene *)user_data;
    s->own_tool = rig_echo();
    s->own_tool.name = s->source_version % 2 == 1 ? "open" : "close";
    s->own_tool.description = "The door";
    s->own_tool.schema = SCENE_FREE;
    *tools = &s->own_tool;
    *count = 1;
    return PHI_OK;
}

static inline void head_make(scene *s) {
    facts_of_claude_make(s);
    (void)scene_has(s, rig_echo());
    s->source.user_data = s;
    s->source.version = door_version;
    s->source.take = door_take;
    s->source_version = 1;
    s->sources[0] = &s->source;
    s->desc.tool_options.sources = s->sources;
    s->desc.tool_options.source_count = 1;
}

static inline void head_act(scene *s) {
    scene_thinks(s, "A door.", "Hello.");
    scene_prompt(s, "Hello.");
    scene_end(s);
    CHECK_EQ_INT(set_system_prompt(s->agent, "Be long."), PHI_OK);
    scene_thinks(s, "Longer.", "Hello and good day.");
    scene_prompt(s, "Again.");
    scene_end(s);
    s->source_version = 2;
    scene_thinks(s, "Another door.", "It is open.");
    scene_prompt(s, "The door?");
    scene_end(s);
}

static inline void head_rest(scene *s) {
    s->source_version = 3;
    rig_call(s->r, "c1", "open", "{}");
    scene_thinks(s, "Opened.", "Open.");
    scene_prompt(s, "Open it.");
    scene_end(s);
}

/* ---- deferred tools, found and loaded ---- */

static inline void deferred_make(scene *s) {
    scene_plain_make(s);
    (void)scene_has(s, rig_echo());
    scene_has(s, scene_tool("sum", "Adds numbers", SCENE_FREE, scene_fail_start))->deferred = true;
    scene_has(s, rig_wait(s->r))->deferred = true;
}

static inline void deferred_act(scene *s) {
    rig_call(s->r, "c1", "search_tools", "{\"query\":\"adds numbers\"}");
    rig_call(s->r, "c2", "load_tools", "{\"names\":[\"sum\",\"wait\"]}");
    rig_call(s->r, "c3", "wait", "{}");
    scene_prompt(s, "Add.");
    (void)rig_run(s->r, 20);
}

static inline void deferred_rest(scene *s) {
    (void)rig_run(s->r, 2);
    rig_call(s->r, "c4", "sum", "{}");
    rig_says(s->r, "It is broken.");
    scene_finish(s, "waited");
    scene_end(s);
}

/* ---- tool state and effects ---- */

static inline void state_make(scene *s) {
    scene_plain_make(s);
    (void)scene_has(s, scene_tool("change", "Changes", SCENE_FREE, scene_change_start));
    (void)scene_has(s, rig_wait(s->r));
    s->desc.tool_options.effects.deny = PHI_EFFECT_REPLACE;
}

static inline void state_act(scene *s) {
    static const char *const calls[] = {
        "c1 change {\"effects\":[{\"op\":\"merge\",\"value\":{\"gold\":5,\"bag\":{\"a\":1}}},"
        "{\"op\":\"set_path\",\"path\":\"/list/0\",\"value\":\"x\"}]}",
        "c2 change {\"effects\":[{\"op\":\"emit\",\"name\":\"sound\",\"value\":\"clink\"},"
        "{\"op\":\"replace\",\"value\":{}},{\"op\":\"delete_path\",\"path\":\"/bag/a\"}]}",
        "c3 change {\"effects\":[{\"op\":\"set_path\",\"path\":\"/list/-\",\"value\":1.5},"
        "{\"op\":\"delete_keys\",\"keys\":[\"none\"]}]}",
        "c4 wait {}"};
    CHECK_EQ_INT(phi_agent_set_tool_state(s->agent, phi_str_of("{\"gold\":1,\"hp\":9}")), PHI_OK);
    rig_calls(s->r, calls, 3);
    rig_says(s->r, "Changed.");
    scene_prompt(s, "Change it.");
    scene_end(s);
    rig_calls(s->r, calls + 2, 2);
    scene_prompt(s, "And wait.");
    (void)rig_run(s->r, 6);
}

static inline void state_rest(scene *s) {
    (void)rig_run(s->r, 2);
    rig_says(s->r, "Waited.");
    scene_finish(s, "done");
    scene_end(s);
    CHECK_EQ_INT(phi_agent_set_tool_state(s->agent, phi_str_of("{\"over\":true}")), PHI_OK);
    scene_talk(s, "Over?", "Over.");
}

/* ---- compactions ---- */

static inline void some_talks(scene *s, int count) {
    static const char *const words[] = {"a sword", "a shield", "a horse", "bread", "wine"};
    char question[160], answer[200];
    int i;
    for (i = 0; i < count; i++) {
        (void)snprintf(question, sizeof question,
                       "What does %s cost here, and who is it that sells it, and where? %d",
                       words[i % 5], i);
        (void)snprintf(answer, sizeof answer,
                       "%s costs %d coins at the market, from the old merchant by the well, who "
                       "is there until noon.",
                       words[i % 5], i + 3);
        scene_talk(s, question, answer);
    }
}

static inline void compacted_make(scene *s) {
    scene_plain_make(s);
    (void)scene_has(s, scene_tool("long", "A long text", NULL, scene_long_start));
    s->desc.compaction.focus_message = "Prices matter.";
    s->desc.compaction.scope_runs = 2;
    s->desc.compaction.max_summary_tokens = 120;
    s->desc.compaction.tool_output_max_lines = 6;
    s->desc.compaction.keep_first_turns = 1;
    s->desc.compaction.keep_recent_turns = 2;
    s->desc.tool_options.max_result_bytes = 1200;
}

static inline void compacted_act(scene *s) {
    int i;
    some_talks(s, 4);
    for (i = 0; i < 5; i++) rig_call(s->r, "c", "long", "{}");
    rig_says(s->r, "I have read it all.");
    scene_prompt(s, "Read it five times.");
    scene_end(s);
    CHECK_EQ_INT(phi_compact(s->agent), PHI_OK);
    scene_end(s);
}

static inline void compacted_rest(scene *s) {
    some_talks(s, 2);
    CHECK_EQ_INT(phi_compact(s->agent), PHI_OK);
    scene_end(s);
    scene_talk(s, "What remains?", "Not much.");
}

/* By itself, after an overflow and near a small window. */
static inline void near_window_make(scene *s) {
    scene_plain_make(s);
    s->desc.model.context_window = 420;
    s->desc.model.max_tokens = 100;
    s->desc.compaction.budget_threshold_pct = 0.3;
}

static inline void near_window_act(scene *s) {
    some_talks(s, 5);
    rig_replies(s->r, 400, SCENE_JSON,
                "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":"
                "\"prompt is too long: 900 tokens > 420 maximum\"}}");
    scene_talk(s, "Too long?", "Not any more.");
}

static inline void near_window_rest(scene *s) {
    some_talks(s, 3);
    scene_thinks_of(s, 400, "", "The window is nearly full.");
    scene_prompt(s, "How full?");
    scene_end(s);
    scene_talk(s, "And now?", "There is room.");
}

/* ---- a summary that a model writes: one under way, one done ---- */

static inline void summary_make(scene *s) {
    scene_plain_make(s);
    s->summary.max_tokens = 60;
    s->summary.instructions = "Sum up, in {n} words.";
    s->desc.compactor = phi_compactor_model(&s->summary);
    s->desc.compaction.scope_runs = 1;
    s->desc.compaction.keep_first_turns = 1;
    s->desc.compaction.keep_recent_turns = 1;
}

static inline void summary_act(scene *s) {
    some_talks(s, 4);
    rig_says(s->r, "A sword, a shield.");
    CHECK_EQ_INT(phi_summarize(s->agent, 0, 9), PHI_OK);
    scene_end(s);
}

static inline void summary_rest(scene *s) {
    some_talks(s, 3);
    rig_says(s->r, "All in all, things cost coins.");
    CHECK_EQ_INT(phi_compact(s->agent), PHI_OK);
    scene_end(s);
    scene_talk(s, "Further.", "Yes.");
}

/* ---- prunes and reverts by tools ---- */

static inline void edits_make(scene *s) {
    scene_plain_make(s);
    CHECK_EQ_INT(tools_prun(s->tools), PHI_OK);
    s->desc.tool_count = 2;
    CHECK_EQ_INT(tools_revert(s->tools + 2), PHI_OK);
    s->desc.tool_count = 3;
    (void)scene_has(s, rig_echo());
    (void)scene_has(s, rig_wait(s->r));
}

static inline void edits_act(scene *s) {
    static const char *const calls[] = {
        "c5 prun {\"tokens\":20}",
        "c6 prun_with_memo {\"tokens\":20,\"memo\":\"the \\\"old\\\"\"}"};
    int i;
    some_talks(s, 2);
    for (i = 0; i < 3; i++) rig_call(s->r, "c", "echo", i == 0 ? "{\"n\":1}" : "{\"n\":2}");
    rig_calls(s->r, calls, 2);
    rig_says(s->r, "Pruned.");
    scene_prompt(s, "Prune.");
    scene_end(s);
    rig_call(s->r, "r1", "echo", "{\"step\":1}");
    rig_call(s->r, "r2", "echo", "{\"step\":2}");
    rig_call(s->r, "r3", "revert_to_state",
             "{\"category\":\"failure\",\"step\":\"n99\",\"summary\":\"none\"}");
    rig_call(s->r, "r4", "wait", "{}");
    scene_prompt(s, "Try two ways.");
    (void)rig_run(s->r, 30);
}

/* The entry of the last result of echo, which is a step. */
static inline unsigned last_step(scene *s) {
    phi_entry e;
    uint64_t seq;
    unsigned step = 0;
    for (seq = 0; phi_thread_entry(scene_thread(s), seq, &e) == PHI_OK; seq++)
        if (e.message != NULL && phi__str_is(e.message->tool_name, "echo")) step = (unsigned)seq;
    return step;
}

static inline void edits_rest(scene *s) {
    char arguments[200];
    (void)rig_run(s->r, 2);
    (void)snprintf(arguments, sizeof arguments,
                   "{\"category\":\"tangent\",\"step\":\"n%u\",\"summary\":\"it led astray\"}",
                   last_step(s));
    rig_call(s->r, "r5", "revert_to_state", arguments);
    rig_says(s->r, "Back again.");
    scene_finish(s, "waited");
    scene_end(s);
    scene_talk(s, "Where are we?", "At the step.");
}

/* ---- rewrites by the host, one of which waits for the run's end ---- */

static inline void rewrites_make(scene *s) {
    scene_plain_make(s);
    (void)scene_has(s, rig_wait(s->r));
}

static inline phi_message said(phi_role role, phi_content *block, const char *text) {
    phi_message m = PHI_ZERO;
    memset(block, 0, sizeof *block);
    block->kind = PHI_CONTENT_TEXT;
    block->text = phi_str_of(text);
    m.role = role;
    m.content = block;
    m.content_count = 1;
    return m;
}

static inline void rewrites_act(scene *s) {
    phi_content block;
    phi_message message = said(PHI_ROLE_USER, &block, "[Summary] They met.");
    phi_written written = PHI_ZERO;
    phi_span span = PHI_ZERO;
    phi_rewrite rewrite = PHI_ZERO;
    some_talks(s, 3);
    written.model = "writer";
    written.usage.input = 40;
    written.usage.output = 4;
    written.usage.total_tokens = 44;
    written.cost = 0.125;
    span.from = 0;
    span.to = 5;
    span.messages = &message;
    span.message_count = 1;
    span.summary = true;
    rewrite.op_id = "sum-1";
    rewrite.reason = PHI_REWRITE_COMPACTION;
    rewrite.spans = &span;
    rewrite.span_count = 1;
    rewrite.meta = "{\"by\":\"host\"}";
    rewrite.written = &written;
    CHECK_EQ_INT(phi_agent_rewrite(s->agent, &rewrite), PHI_OK);
    memset(&rewrite, 0, sizeof rewrite);
    rewrite.revoke = "sum-1";
    CHECK_EQ_INT(phi_agent_rewrite(s->agent, &rewrite), PHI_OK);
    rig_call(s->r, "c1", "wait", "{}");
    scene_prompt(s, "Wait.");
    (void)rig_run(s->r, 5);
    memset(&rewrite, 0, sizeof rewrite);
    rewrite.op_id = "later-1";
    rewrite.spans = &span;
    rewrite.span_count = 1;
    rewrite.switch_to = "side";
    CHECK_EQ_INT(phi_agent_rewrite(s->agent, &rewrite), PHI_OK);
}

static inline void rewrites_rest(scene *s) {
    (void)rig_run(s->r, 2);
    rig_says(s->r, "Waited.");
    scene_finish(s, "done");
    scene_end(s);
    scene_talk(s, "On the side.", "Here.");
    CHECK_EQ_INT(phi_thread_switch(scene_thread(s), PHI_LANE_DEFAULT), PHI_OK);
    scene_talk(s, "And back.", "There.");
}

static const scene_kind scenes_of_histories[] = {
    {"world_facts", scene_plain_make, facts_act, facts_rest, SCENE_COMMON},
    {"world_facts_of_claude", facts_of_claude_make, facts_act, facts_rest, 0},
    {"prompt_and_tools_that_change", head_make, head_act, head_rest, 0},
    {"deferred_tools_loaded", deferred_make, deferred_act, deferred_rest, 0},
    {"tool_state_and_effects", state_make, state_act, state_rest, 0},
    {"compacted", compacted_make, compacted_act, compacted_rest, 0},
    {"compacted_near_its_window", near_window_make, near_window_act, near_window_rest, 0},
    {"summary_by_a_model", summary_make, summary_act, summary_rest, 0},
    {"pruned_and_reverted", edits_make, edits_act, edits_rest, 0},
    {"rewritten_and_a_rewrite_that_waits", rewrites_make, rewrites_act, rewrites_rest, 0},
};

#endif
