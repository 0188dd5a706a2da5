/* scenes_threads.h - scenes of threads: lanes, sessions, messages of every kind, policies, texts of the
   host's own, memory that is given back. */
#ifndef PHI_TESTS_COMPAT_SCENES_THREADS_H
#define PHI_TESTS_COMPAT_SCENES_THREADS_H

#include "support/text_name.h"
#include "compat/scenes_history.h"
#include "support/append.h"
#include "agent/agent_history.h"
#include "agent/runtime.h"
#include "model/texts.h"
#include "support/set.h"

/* ---- lanes and continuations ---- */

static inline void lanes_act(scene *s) {
    phi_thread *thread = scene_thread(s);
    scene_talk(s, "Left or right?", "Left.");
    scene_talk(s, "And then?", "Straight on.");
    CHECK_EQ_INT(phi_thread_fork_lane(thread, "right \"way\"", NULL, 4), PHI_OK);
    CHECK_EQ_INT(phi_thread_switch(thread, "right \"way\""), PHI_OK);
    scene_talk(s, "To the right, rather.", "As you like.");
    CHECK_EQ_INT(phi_thread_switch(thread, NULL), PHI_OK);
    scene_talk(s, "Somewhere else.", "A new place.");
    rig_replies(s->r, 500, SCENE_JSON, SCENE_ERROR("api_error"));
    scene_prompt(s, "It fails.");
    scene_end(s);
    rig_says(s->r, "It works.");
    CHECK_EQ_INT(phi_continue(s->agent, PHI_CONTINUATION_BRANCH), PHI_OK);
    (void)rig_run(s->r, 1);
}

static inline void lanes_rest(scene *s) {
    if (s->loaded) rig_says(s->r, "It works, once loaded.");
    scene_end(s);
    CHECK_EQ_INT(phi_thread_switch(scene_thread(s), PHI_LANE_DEFAULT), PHI_OK);
    scene_talk(s, "Back at the crossing.", "Yes.");
}

/* ---- sessions ---- */

static inline void sessions_act(scene *s) {
    bool rotated = false;
    scene_talk(s, "Good morning.", "Good morning.");
    CHECK_EQ_INT(phi_agent_new_session(s->agent, false), PHI_OK);
    scene_talk(s, "Good day.", "Good day.");
    rig_pass_stepping_ms(s->r, 5000);
    CHECK_EQ_INT(phi_agent_rotate(s->agent, 1000, &rotated), PHI_OK);
    CHECK(rotated);
}

static inline void sessions_rest(scene *s) {
    scene_talk(s, "Good evening.", "Good evening.");
    CHECK_EQ_INT(phi_agent_reset(s->agent), PHI_OK);
    scene_talk(s, "Good night.", "Good night.");
}

/* ---- messages of every kind, from outside ---- */

enum { KINDS_MESSAGES = 7, KINDS_BLOCKS = 24 };

typedef struct every_kind {
    phi_message messages[KINDS_MESSAGES];
    phi_content blocks[KINDS_BLOCKS];
    phi_message_extra extra;
    size_t count, used;
} every_kind;

static inline phi_message *kinds_message(every_kind *k, phi_role role) {
    phi_message *m = &k->messages[k->count++];
    if (k->count > KINDS_MESSAGES) abort();
    m->role = role;
    m->content = k->blocks + k->used;
    m->timestamp_ms = 1000 + (int64_t)k->count;
    return m;
}

static inline phi_content *kinds_block(every_kind *k, phi_content_kind kind, const char *text) {
    phi_content *c = &k->blocks[k->used++];
    if (k->used > KINDS_BLOCKS) abort();
    k->messages[k->count - 1].content_count++;
    c->kind = kind;
    if (text != NULL) c->text = phi_str_of(text);
    return c;
}

static inline void kinds_user(every_kind *k) {
    phi_content *c;
    (void)kinds_message(k, PHI_ROLE_USER);
    (void)kinds_block(k, PHI_CONTENT_TEXT, "A \xe2\x82\xac sign, \"quotes\" and a \x02.");
    c = kinds_block(k, PHI_CONTENT_IMAGE, NULL);
    c->data = phi_str_of("iVBORw0KGgo=");
    c->mime_type = phi_str_of("image/png");
    c = kinds_block(k, PHI_CONTENT_DOCUMENT, NULL);
    c->data = phi_str_of("JVBERi0=");
    c->mime_type = phi_str_of("application/pdf");
    c->name = phi_str_of("Plan");
    c = kinds_block(k, PHI_CONTENT_AUDIO, NULL);
    c->data = phi_str_of("UklGRg==");
    c->mime_type = phi_str_of("audio/wav");
}

static inline void kinds_answer(every_kind *k) {
    phi_message *m = kinds_message(k, PHI_ROLE_ASSISTANT);
    phi_content *c = kinds_block(k, PHI_CONTENT_THINKING, "Hm.");
    c->signature = phi_str_of("c2ln");
    c = kinds_block(k, PHI_CONTENT_THINKING, "");
    c->redacted = true;
    c->signature = phi_str_of("aGlkZGVu");
    c = kinds_block(k, PHI_CONTENT_TEXT, "See the source.");
    c->citations = phi_str_of("[{\"type\":\"web\",\"url\":\"https://example.org\"}]");
    c->signature = phi_str_of("dGV4dA==");
    c->replay = phi_str_of("{\"id\":\"msg_1\"}");
    c = kinds_block(k, PHI_CONTENT_OPAQUE, NULL);
    c->name = phi_str_of("server_tool_use");
    c->protocol = phi_str_of(PHI_PROTOCOL_ANTHROPIC);
    c->replay = phi_str_of("{\"type\":\"server_tool_use\",\"id\":\"srvtoolu_1\", \"name\":"
                           "\"web_search\",\"input\":{\"query\":\"q\"}}");
    c = kinds_block(k, PHI_CONTENT_TOOL_CALL, NULL);
    c->id = phi_str_of("k1");
    c->name = phi_str_of("echo");
    c->arguments = phi_str_of("{\"a\": [1,2.50,\"x\"]}");
    c->signature = phi_str_of("Y2FsbA==");
    c = kinds_block(k, PHI_CONTENT_TOOL_CALL, NULL);
    c->id = phi_str_of("k2");
    c->name = phi_str_of("echo");
    c->arguments = phi_str_of("{\"cut");
    c->incomplete = true;
    m->stop_reason = PHI_STOP_REASON_TOOL_USE;
    m->raw_stop_reason = phi_str_of("tool_use");
    m->model = phi_str_of("test-model");
    m->provider = phi_str_of("anthropic");
    m->protocol = phi_str_of(PHI_PROTOCOL_ANTHROPIC);
    m->usage.input = 11;
    m->usage.output = 7;
    m->usage.reasoning = 3;
    m->usage.cache_read = 2;
    m->usage.cache_write = 1;
    m->usage.total_tokens = 21;
    m->details = phi_str_of("{\"diagnostics\":true}");
    m->prefix = UINT64_C(0xfedcba9876543210);
    m->prefix_parts = UINT64_C(0x123456789abcdef);
}

static inline void kinds_rest(every_kind *k) {
    phi_message *m = kinds_message(k, PHI_ROLE_TOOL_RESULT);
    m->tool_call_id = phi_str_of("k1");
    m->tool_name = phi_str_of("echo");
    m->is_error = true;
    m->details = phi_str_of("{\"code\":7}");
    (void)kinds_block(k, PHI_CONTENT_TEXT, "no");
    m = kinds_message(k, PHI_ROLE_EXTENSION);
    m->extension_kind = phi_str_of("mood");
    m->extension_data = phi_str_of("{\"is\":\"good\"}");
    k->extra.node_id = phi_str_of("4");
    k->extra.parent_id = phi_str_of("3");
    k->extra.tags = phi_str_of("[\"a\",\"b\"]");
    k->extra.provenance_hint = phi_str_of("{\"by\":\"hand\"}");
    k->extra.role = phi_str_of("note");
    m->extra = &k->extra;
    m = kinds_message(k, PHI_ROLE_USER);
    m->is_update = true;
    (void)kinds_block(k, PHI_CONTENT_TEXT, "[What you know now]\nking: well");
    m = kinds_message(k, PHI_ROLE_ASSISTANT);
    (void)kinds_block(k, PHI_CONTENT_TEXT, "Broken o");
    m->stop_reason = PHI_STOP_REASON_ERROR;
    m->error_message = phi_str_of("API error: boom");
}

static inline void kinds_act(scene *s) {
    every_kind *k = (every_kind *)calloc(1, sizeof *k);
    phi_message summary;
    phi_content block;
    if (k == NULL) abort();
    scene_talk(s, "Before.", "Before.");
    kinds_user(k);
    kinds_answer(k);
    kinds_rest(k);
    CHECK_EQ_INT(phi_agent_replace_messages(s->agent, k->messages, k->count), PHI_OK);
    summary = said(PHI_ROLE_USER, &block, "Never sum this up.");
    CHECK_EQ_INT(append_with(scene_thread(s), &summary, 1, PHI_ENTRY_DURABLE), PHI_OK);
    free(k);
}

static inline void kinds_make(scene *s) {
    scene_plain_make(s);
    (void)scene_has(s, rig_echo());
    rig_careless(s->r); /* the model takes no audio */
}

static inline void kinds_go_on(scene *s) {
    scene_talk(s, "After.", "After.");
    CHECK_EQ_INT(phi_agent_replace_messages(s->agent, NULL, 0), PHI_OK);
    scene_talk(s, "Anew.", "Anew.");
}

/* ---- hosted blocks of a server, and a turn that it pauses ---- */

static inline void stream_of(scene *s, const char *fixture) {
    char *body = test_fixture(fixture, NULL);
    if (body == NULL) abort();
    rig_replies(s->r, 200, "Content-Type: text/event-stream\r\n", body);
    free(body);
}

static inline void hosted_make(scene *s) {
    static phi_raw_tool search;
    search.protocol = PHI_PROTOCOL_ANTHROPIC;
    search.json = "{\"type\":\"web_search_20250305\",\"name\":\"web_search\"}";
    scene_plain_make(s);
    s->desc.model.id = "claude-sonnet-4-5";
    s->desc.model.reasoning = true;
    s->desc.thinking = PHI_THINKING_HIGH;
    s->desc.tool_options.raw_tools = &search;
    s->desc.tool_options.raw_tool_count = 1;
}

static inline void hosted_act(scene *s) {
    stream_of(s, "anthropic/search_paused.sse");
    stream_of(s, "anthropic/search_resumed.sse");
    scene_prompt(s, "Search.");
    scene_end(s);
    stream_of(s, "anthropic/redacted_omitted.sse");
    scene_prompt(s, "Think.");
    scene_end(s);
}

static inline void hosted_rest(scene *s) { scene_talk(s, "Well?", "Well."); }

/* ---- policies ---- */

static inline void policy_make(scene *s) {
    scene_plain_make(s);
    s->policy = phi_policy_of(PHI_POLICY_SHORT_CONTEXT, NULL);
    s->policy.max_input_tokens = 260;
    s->policy.reserve_output_tokens = 40;
    s->policy.keep_last_turns = 1;
    s->policy.max_turns = 9;
    s->policy.max_messages = 12;
    s->policy.summaries = PHI_SUMMARIES_REQUEST;
    s->desc.policy = &s->policy;
    s->desc.limits.disable = true;
}

static inline void policy_act(scene *s) { some_talks(s, 5); }

static inline void policy_rest(scene *s) {
    s->policy.summaries = PHI_SUMMARIES_WRITE;
    CHECK_EQ_INT(set_policy(s->agent, &s->policy), PHI_OK);
    rig_says(s->r, "Answered.");
    rig_says(s->r, "They asked for prices.");
    scene_prompt(s, "One more?");
    scene_end(s);
    scene_talk(s, "And the last?", "Yes.");
    CHECK_EQ_INT(set_policy(s->agent, NULL), PHI_OK);
    scene_talk(s, "With all?", "With all.");
}

/* ---- the host's own texts in every place ---- */

static inline void texts_make(scene *s) {
    int i;
    edits_make(s);
    for (i = 0; i < (int)PHI_TEXT_COUNT; i++) {
        (void)snprintf(s->text_at[i], sizeof s->text_at[i], "~%s~ %s", text_name((phi_text)i),
                       phi_text_default((phi_text)i, NULL));
        s->texts.at[i] = s->text_at[i];
    }
    s->desc.texts = &s->texts;
    s->desc.limits.max_turns = 5;
    s->desc.tool_options.repeat_warn_after = 2;
    s->desc.tool_options.repeat_stop_after = 3;
    s->tools[4].timeout_ms = 30;
    s->desc.compaction.keep_first_turns = 1;
    s->desc.compaction.keep_recent_turns = 1;
    s->desc.compaction.scope_runs = 1;
    s->desc.compaction.max_summary_tokens = 60;
}

static inline void texts_act(scene *s) {
    static const char *const calls[] = {"t1 wait {}", "t2 nobody {}",
                                        "t3 prun_with_memo {\"tokens\":9,\"memo\":\"m\"}"};
    int i;
    fact(phi_fact_agent(s->agent), "king", "is well");
    rig_calls(s->r, calls, 3);
    rig_says(s->r, "Late.");
    scene_prompt(s, "Wait.");
    scene_end(s);
    CHECK_EQ_INT(phi_fact_set(phi_fact_agent(s->agent), "king", phi_str_of(NULL), NULL), PHI_OK);
    fact(phi_fact_agent(s->agent), "queen", "is well");
    for (i = 0; i < 3; i++) rig_call(s->r, "t4", "echo", "{\"again\":1}");
    scene_prompt(s, "Repeat.");
    scene_end(s);
    CHECK_EQ_INT(set_system_prompt(s->agent, "Be long."), PHI_OK);
    some_talks(s, 3);
    CHECK_EQ_INT(phi_compact(s->agent), PHI_OK);
    scene_end(s);
    rig_call(s->r, "t5", "wait", "{}");
    scene_prompt(s, "Stop.");
    (void)rig_run(s->r, 4);
}

static inline void texts_rest(scene *s) {
    (void)rig_run(s->r, 2);
    CHECK_EQ_INT(phi_abort(s->agent), PHI_OK);
    scene_end(s);
    scene_talk(s, "The end.", "Yes.");
}

/* ---- entries that an agent at its memory limit forgot ---- */

static inline void forgets_make(scene *s) {
    scene_plain_make(s);
    s->desc.memory.limit_bytes = 60000;
    s->desc.memory.at_limit = PHI_AT_MEMORY_LIMIT_FORGET;
}

static inline void forgets_act(scene *s) {
    int i;
    for (i = 0; i < 60 && phi_thread_get_info(scene_thread(s)).first == 0; i++) some_talks(s, 2);
    CHECK(phi_thread_get_info(scene_thread(s)).first > 0);
}

static inline void forgets_rest(scene *s) { scene_talk(s, "Do you recall?", "Some of it."); }

static const scene_kind scenes_of_threads[] = {
    {"lanes_and_a_branch", scene_plain_make, lanes_act, lanes_rest, 0},
    {"sessions_begun_anew", scene_plain_make, sessions_act, sessions_rest, SCENE_UNSTORED},
    {"messages_of_every_kind", kinds_make, kinds_act, kinds_go_on, 0},
    {"hosted_blocks_and_thinking", hosted_make, hosted_act, hosted_rest, 0},
    {"a_policy_with_summaries", policy_make, policy_act, policy_rest, 0},
    {"texts_of_the_host", texts_make, texts_act, texts_rest, SCENE_COMMON},
    {"entries_forgotten", forgets_make, forgets_act, forgets_rest, SCENE_FORGETS},
};

#endif
