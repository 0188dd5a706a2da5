/* scenes.h - what agents live through, for programs that store it in different forms: as snapshots,
   threads, sessions, tapes, events, requests.

   A scene makes an agent (make), talks until something is under way (act), and ends it (rest). rest
   also follows a snapshot of that moment, in another rig: so it finds pending calls and decisions by
   phi_pending, and its answers are the script's only ones. */
#ifndef PHI_TESTS_COMPAT_SCENES_H
#define PHI_TESTS_COMPAT_SCENES_H

#include "support/update.h"
#include "agent/response.h"
#include "agent/snapshot.h"
#include "agent/summary.h"
#include "compat/compat.h"
#include "orchestrate/evaluate.h"
#include "features/effects.h"
#include "features/facts.h"
#include "orchestrate/adaptive.h"
#include "orchestrate/strategy.h"
#include "orchestrate/subagents.h"
#include "support/rig.h"
#include "tools/context_tools.h"
#include "loop/tool_source.h"
#include "features/failover.h"
#include "loop/hook.h"
#include "model/event.h"
#include "model/texts.h"
#include "text/json_in.h"

enum {
    SCENE_TOOLS = 8,
    SCENE_FORGETS = 1 << 0,  /* its log forgets entries */
    SCENE_UNSTORED = 1 << 1, /* it begins logs anew */
    SCENE_COMMON = 1 << 2    /* its thread has nothing that those of others have not */
};

typedef struct scene {
    rig *r;
    const struct scene_kind *kind;
    bool loaded; /* out of a snapshot */
    phi_agent agent, second;
    phi_agent_desc desc, second_desc;
    phi_tool tools[SCENE_TOOLS];
    phi_tool own_tool; /* of one request */
    phi_model_header header;
    phi_filter filter;
    phi_texts texts;
    char text_at[PHI_TEXT_COUNT][1200];
    phi_summary_desc summary;
    phi_failover failover;
    phi_failover_model backups[2];
    phi_policy policy;
    phi_tool_source source;
    const phi_tool_source *sources[1];
    uint64_t source_version;
    phi_subagent_desc workers[2];
    phi_agent_desc worker_desc;
    phi_agent_desc configs[3];
    phi_evaluate_desc evaluation;
    phi_strategy_desc strategy;
    phi_provider provider;
    phi_memory memory;
    phi_arena arena;
} scene;

typedef struct scene_kind {
    const char *name;
    void (*make)(scene *s);
    void (*act)(scene *s);
    void (*rest)(scene *s);
    uint32_t flags;
} scene_kind;

/* ---- tools ---- */

static inline phi_tool scene_tool(const char *name, const char *description, const char *schema,
                                  phi_flow (*start)(void *user_data, phi_call call,
                                                    phi_str arguments)) {
    phi_tool tool = PHI_ZERO;
    tool.name = name;
    tool.description = description;
    tool.schema = schema;
    tool.start = start;
    return tool;
}

/* "count": gives a part of its result in each step, and is done after twelve; its state is
   kept. */
static inline phi_flow scene_count_step(void *user_data, phi_call call) {
    uint32_t *n = (uint32_t *)phi_call_state(call, sizeof *n);
    char text[40];
    (void)user_data;
    if (n == NULL) return PHI_PENDING;
    ++*n;
    (void)snprintf(text, sizeof text, "%u", (unsigned)*n);
    (void)call_update(call, text);
    if (*n < 12) return PHI_PENDING;
    (void)phi_call_reply(call, "counted");
    return PHI_DONE;
}

static inline phi_flow scene_count_start(void *user_data, phi_call call, phi_str arguments) {
    (void)arguments;
    (void)phi_call_state(call, sizeof(uint32_t));
    (void)phi_call_progress(call, "counting");
    return scene_count_step(user_data, call);
}

static inline phi_flow scene_count_resume(void *user_data, phi_call call, phi_str arguments) {
    (void)arguments;
    return scene_count_step(user_data, call);
}

static inline phi_tool scene_count(void) {
    phi_tool tool = scene_tool("count", "Counts", NULL, scene_count_start);
    tool.step = scene_count_step;
    tool.resume = scene_count_resume;
    tool.keeps_state = true;
    tool.timeout_ms = 60000;
    return tool;
}

/* "fail": an error each time. */
static inline phi_flow scene_fail_start(void *user_data, phi_call call, phi_str arguments) {
    (void)user_data;
    (void)arguments;
    (void)phi_call_fail(call, "it is broken");
    return PHI_DONE;
}

/* "change": its argument "effects" are its effects on the tool state. */
static inline phi_flow scene_change_start(void *user_data, phi_call call, phi_str arguments) {
    phi_content content = PHI_ZERO;
    phi_tool_result result = PHI_ZERO;
    char effects[600];
    phi__json_found found;
    (void)user_data;
    if (phi__json_cursor_find(arguments, "effects", &found) != PHI_OK ||
        found.raw.len >= sizeof effects)
        abort();
    memcpy(effects, found.raw.at, found.raw.len);
    effects[found.raw.len] = '\0';
    content.kind = PHI_CONTENT_TEXT;
    content.text = phi_str_of("changed");
    result.content = &content;
    result.content_count = 1;
    result.effects = effects;
    result.details = "{\"by\":\"change\"}";
    if (!CHECK(phi_call_result(call, &result) == PHI_OK)) (void)phi_call_fail(call, "no effects");
    return PHI_DONE;
}

/* "long": a result of many lines and an image. */
static inline phi_flow scene_long_start(void *user_data, phi_call call, phi_str arguments) {
    static char text[4000];
    phi_content content[2];
    phi_tool_result result = PHI_ZERO;
    size_t n = 0;
    int i;
    (void)user_data;
    (void)arguments;
    memset(content, 0, sizeof content);
    for (i = 0; i < 60; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "line %d of the file, with words\n", i);
    content[0].kind = PHI_CONTENT_TEXT;
    content[0].text = phi_str_of(text);
    content[1].kind = PHI_CONTENT_IMAGE;
    content[1].mime_type = phi_str_of("image/png");
    content[1].data = phi_str_of("iVBORw0KGgo=");
    result.content = content;
    result.content_count = 2;
    CHECK_EQ_INT(phi_call_result(call, &result), PHI_OK);
    return PHI_DONE;
}

/* Adds a tool to the desc. */
static inline phi_tool *scene_has(scene *s, phi_tool tool) {
    phi_tool *at = &s->tools[s->desc.tool_count];
    if (s->desc.tool_count == SCENE_TOOLS) abort();
    *at = tool;
    s->desc.tool_count++;
    s->desc.tools = s->tools;
    return at;
}

/* ---- what the host does ---- */

/* The first thing that waits of that kind; false: nothing does. */
static inline bool scene_waiting(scene *s, phi_waiting kind, phi_pending_item *out) {
    phi_pending_item items[16];
    size_t n = phi_pending(rig_runtime(s->r), items, 16), i;
    for (i = 0; i < n && i < 16; i++) {
        if (items[i].kind != kind) continue;
        *out = items[i];
        return true;
    }
    return false;
}

/* Finishes the call that waits. */
static inline void scene_finish(scene *s, const char *text) {
    phi_pending_item item;
    if (!CHECK(scene_waiting(s, PHI_WAITING_CALL, &item))) return;
    CHECK_EQ_INT(phi_call_reply(item.call, text), PHI_OK);
}

static inline void scene_decide(scene *s, phi_verdict verdict, const char *reply) {
    phi_pending_item item;
    if (!CHECK(scene_waiting(s, PHI_WAITING_DECISION, &item))) return;
    CHECK_EQ_INT(phi_decide(item.ticket, verdict, reply), PHI_OK);
}

static inline void scene_prompt(scene *s, const char *text) {
    CHECK_EQ_INT(phi_prompt(s->agent, text), PHI_OK);
}

/* Steps until no run is active, delays included. */
static inline void scene_end(scene *s) {
    CHECK_EQ_INT(rig_run_until(s->r, 900000), 0);
    (void)rig_step(s->r); /* the last events, and agents of one run are freed */
}

/* A prompt and its answer. */
static inline void scene_talk(scene *s, const char *text, const char *answer) {
    rig_says(s->r, answer);
    scene_prompt(s, text);
    scene_end(s);
}

/* A whole Anthropic stream: thinking with a signature, then a text. input: tokens of the request. */
static inline void scene_thinks_of(scene *s, unsigned input, const char *thought,
                                   const char *text) {
    char body[3000];
    int n = snprintf(
        body, sizeof body,
        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_t\","
        "\"model\":\"m\",\"content\":[],\"usage\":{\"input_tokens\":%u,\"output_tokens\":1,"
        "\"cache_read_input_tokens\":7,\"cache_creation_input_tokens\":9}}}\n\n"
        "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,"
        "\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\"}}\n\n"
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,"
        "\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"%s\"}}\n\n"
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,"
        "\"delta\":{\"type\":\"signature_delta\",\"signature\":\"c2lnbmVk\"}}\n\n"
        "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n"
        "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":1,"
        "\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n"
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,"
        "\"delta\":{\"type\":\"text_delta\",\"text\":\"%s\"}}\n\n"
        "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":1}\n\n"
        "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":"
        "\"end_turn\"},\"usage\":{\"output_tokens\":12}}\n\n"
        "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
        input, thought, text);
    if (n < 0 || (size_t)n >= sizeof body) abort();
    rig_replies(s->r, 200, "Content-Type: text/event-stream\r\nrequest-id: req_1\r\n", body);
}

static inline void scene_thinks(scene *s, const char *thought, const char *text) {
    scene_thinks_of(s, 20, thought, text);
}

/* A stream that stops in the midst of its text. */
#define SCENE_HALF                                                                                 \
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_h\","       \
    "\"model\":\"m\",\"content\":[],\"usage\":{\"input_tokens\":3,\"output_tokens\":1}}}\n\n"      \
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,"             \
    "\"content_block\":{\"type\":\"text\",\"text\":\"Half an ans\"}}\n\n"

#define SCENE_JSON "Content-Type: application/json\r\n"
#define SCENE_ERROR(type)                                                                          \
    "{\"type\":\"error\",\"error\":{\"type\":\"" type "\",\"message\":\"boom\"}}"

/* ---- driving ---- */

/* A scene before its agent is made. runtime: further fields, or NULL. */
static inline void scene_begin(scene *s, const scene_kind *kind, const phi_runtime_desc *runtime) {
    memset(s, 0, sizeof *s);
    s->kind = kind;
    s->r = rig_new_with(runtime);
    if (s->r == NULL) abort();
    phi_memory_init(&s->memory, NULL, 0);
    phi_arena_init(&s->arena, &s->memory, 0);
    s->desc = rig_desc();
    s->desc.model.max_tokens = 1000;
    kind->make(s);
}

/* The agent, after a program has added to the desc. */
static inline bool scene_open(scene *s) {
    const char *words = "";
    s->agent = phi_agent_new(rig_runtime(s->r), &s->desc);
    if (s->agent.rt == NULL) words = phi_last_error(rig_runtime(s->r)).message;
    if (!CHECK(s->agent.rt != NULL)) printf("  %s: %s\n", s->kind->name, words);
    return s->agent.rt != NULL;
}

/* The agent out of a snapshot. */
static inline bool scene_load(scene *s, phi_str snapshot) {
    const char *words = "";
    s->loaded = true;
    s->agent = phi_agent_restore(rig_runtime(s->r), &s->desc, snapshot, PHI_RESTORE_RESUME);
    if (s->agent.rt == NULL) words = phi_last_error(rig_runtime(s->r)).message;
    if (!CHECK(s->agent.rt != NULL)) printf("  %s: %s\n", s->kind->name, words);
    return s->agent.rt != NULL;
}

static inline void scene_close(scene *s) {
    phi_arena_free(&s->arena);
    rig_free(s->r);
}

/* The bodies of all requests so far. */
static inline void scene_requests(scene *s, compat_text *out) {
    size_t i;
    for (i = 0; i < rig_requests(s->r); i++) {
        compat_print(out, "=== request %u\n", (unsigned)i + 1);
        compat_str(out, phi_str_of(rig_request(s->r, i)));
        compat_add(out, "\n", 1);
    }
}

/* A check that failed names its scene. */
static inline void scene_failed(const scene_kind *kind, int failures) {
    if (test_failures() > failures) printf("  in the scene %s\n", kind->name);
}

#endif
