/* crowd.h - a thousand agents on one thread, each of which asks for ten tools at once that all stay pending.
   The transport answers a request without results with ten calls, and one with results with a text; it
   keeps nothing. Memory is test_allocator()'s. */
#ifndef PHI_TESTS_LOOP_CROWD_H
#define PHI_TESTS_LOOP_CROWD_H

#include "agent/agent.h"
#include "support/test.h"
#include "log/revert.h"
#include "io/transport.h"
#include "loop/events.h"
#include "codecs/presets.h"
#include "model/model.h"
#include "agent/agent_history.h"
#include "loop/hook.h"
#include "io/io_in.h"
#include "loop/loop_in.h"

enum { CROWD_MOST = 1000, CROWD_CALLS = 10, CROWD_TEXT = 32 };

struct crowd;

typedef struct member {
    struct crowd *crowd;
    uint32_t number;
    phi_agent agent;
    phi_call calls[CROWD_CALLS];
    uint32_t started, cancelled, ends;
    phi_status status; /* of the last end */
} member;

typedef struct crowd {
    phi_runtime *rt;
    phi_transport transport;
    uint32_t size, started, ends;
    member members[CROWD_MOST];
    phi_transfer open[CROWD_MOST]; /* to be answered, in order */
    bool with_results[CROWD_MOST];
    uint32_t open_count;
    /* Told of each call, on the pumping thread; NULL: nobody. */
    void (*on_call)(void *user_data, member *m, uint32_t call);
    void *user_data;
} crowd;

/* ---- the transport ---- */

#define CROWD_HEAD                                                                                 \
    "data: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":9}}}\n\n"
#define CROWD_TAIL(reason)                                                                         \
    "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"" reason "\"}}\n\n"            \
    "data: {\"type\":\"message_stop\"}\n\n"

static const char crowd_says[] =
    CROWD_HEAD "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":"
               "\"text\",\"text\":\"thanks to all\"}}\n\n"
               "data: {\"type\":\"content_block_stop\",\"index\":0}\n\n" CROWD_TAIL("end_turn");

static const char *crowd_calls(void) {
    static char out[4096];
    size_t at = 0;
    int i;
    if (out[0] != '\0') return out;
    at += (size_t)snprintf(out, sizeof out, CROWD_HEAD);
    for (i = 0; i < CROWD_CALLS; i++)
        at += (size_t)snprintf(
            out + at, sizeof out - at,
            "data: {\"type\":\"content_block_start\",\"index\":%d,\"content_block\":{\"type\":"
            "\"tool_use\",\"id\":\"c%d\",\"name\":\"work\",\"input\":{}}}\n\n"
            "data: {\"type\":\"content_block_stop\",\"index\":%d}\n\n",
            i, i, i);
    (void)snprintf(out + at, sizeof out - at, CROWD_TAIL("tool_use"));
    return out;
}

static phi_status crowd_open(void *user_data, phi_transfer transfer, const phi_request *request) {
    crowd *c = (crowd *)user_data;
    size_t len = (size_t)phi_request_get_info(request).length;
    char *body = (char *)malloc(len + 1);
    if (body == NULL || c->open_count == CROWD_MOST) abort();
    (void)phi_request_read(request, 0, body, len);
    body[len] = '\0';
    c->with_results[c->open_count] = strstr(body, "tool_result") != NULL;
    c->open[c->open_count++] = transfer;
    free(body);
    return PHI_OK;
}

static void crowd_resume(void *user_data, phi_transfer transfer) {
    (void)user_data;
    (void)transfer;
}

static void crowd_cancel(void *user_data, phi_transfer transfer) {
    crowd *c = (crowd *)user_data;
    uint32_t i, kept = 0;
    for (i = 0; i < c->open_count; i++) {
        if (c->open[i].index == transfer.index && c->open[i].gen == transfer.gen) continue;
        c->open[kept] = c->open[i];
        c->with_results[kept++] = c->with_results[i];
    }
    c->open_count = kept;
}

static void crowd_pump(void *user_data) {
    static const char headers[] = "Content-Type: text/event-stream\r\n";
    crowd *c = (crowd *)user_data;
    uint32_t i, n = c->open_count;
    for (i = 0; i < n; i++) {
        const char *says = c->with_results[i] ? crowd_says : crowd_calls();
        (void)phi_transfer_head(c->open[i], 200, headers, sizeof headers - 1);
        CHECK_EQ_INT(phi_transfer_push(c->open[i], says, strlen(says)), PHI_OK);
        (void)phi_transfer_end(c->open[i], PHI_OK, NULL);
    }
    c->open_count = 0;
}

/* ---- tools ---- */

static phi_flow crowd_start(void *user_data, phi_call call, phi_str arguments) {
    member *m = (member *)user_data;
    uint32_t at = (uint32_t)(phi_call_get_info(call).id.at[1] - '0'); /* "c0" to "c9" */
    (void)arguments;
    m->started++;
    m->calls[at] = call;
    m->crowd->started++;
    if (m->crowd->on_call != NULL) m->crowd->on_call(m->crowd->user_data, m, at);
    return PHI_PENDING;
}

static void crowd_call_cancel(void *user_data, phi_call call) {
    (void)call;
    ((member *)user_data)->cancelled++;
}

/* What call k of a member is answered with. */
static void crowd_words(const member *m, uint32_t call, char out[CROWD_TEXT]) {
    (void)snprintf(out, CROWD_TEXT, "%u did %u", (unsigned)m->number, (unsigned)call);
}

/* ---- the crowd ---- */

/* hook_fn: of PHI_HOOK_BEFORE_TOOL, called with the member; NULL: none. */
static bool crowd_new(crowd *c, uint32_t size, phi_hook_fn hook_fn) {
    phi_runtime_desc desc;
    phi_tool tool;
    uint32_t i;
    memset(c, 0, sizeof *c);
    memset(&desc, 0, sizeof desc);
    memset(&tool, 0, sizeof tool);
    c->size = size;
    c->transport.open = crowd_open;
    c->transport.resume = crowd_resume;
    c->transport.cancel = crowd_cancel;
    c->transport.pump = crowd_pump;
    c->transport.user_data = c;
    desc.allocator = test_allocator();
    desc.transport = &c->transport;
    desc.step_budget_us = 60000000; /* the clock cuts no step: rounds are compared byte for byte */
    desc.step_budget_bytes = 1 << 20;
    c->rt = phi_runtime_new(&desc);
    if (!CHECK(c->rt != NULL)) return false;
    tool.name = "work";
    tool.start = crowd_start;
    tool.cancel = crowd_call_cancel;
    tool.timeout_ms = PHI_UNLIMITED;
    for (i = 0; i < size; i++) {
        member *m = &c->members[i];
        phi_agent_desc agent;
        memset(&agent, 0, sizeof agent);
        m->crowd = c;
        m->number = i;
        tool.user_data = m;
        agent.model = phi_model_anthropic("test-model", "test-key");
        agent.tools = &tool;
        agent.tool_count = 1;
        agent.tool_options.repeat_stop_after = agent.tool_options.repeat_warn_after = PHI_UNLIMITED;
        agent.limits.max_duration_ms = PHI_UNLIMITED;
        agent.user_data = m;
        agent.hook_fn = hook_fn;
        agent.hook_points = hook_fn != NULL ? (uint32_t)PHI_HOOK_BEFORE_TOOL : 0;
        m->agent = phi_agent_new(c->rt, &agent);
        if (!CHECK(m->agent.rt != NULL)) return false;
    }
    return true;
}

static int crowd_step(crowd *c, int timeout_ms) {
    int runs = phi_step(c->rt, timeout_ms);
    phi_event event;
    while (phi_next_event(c->rt, &event)) {
        member *m = (member *)event.user_data;
        if (event.kind != PHI_EV_AGENT_END) continue;
        m->ends++;
        m->status = event.status;
        c->ends++;
    }
    return runs;
}

/* Message `at` of the member's history is the result of that call: its own, or one that says it was not run. */
static bool crowd_result_is(const member *m, size_t at, uint32_t call) {
    const phi_message *result = phi_thread_message_at(phi_agent_thread(m->agent), at);
    char words[CROWD_TEXT], id[8];
    crowd_words(m, call, words);
    (void)snprintf(id, sizeof id, "c%u", (unsigned)call);
    return result != NULL && result->role == PHI_ROLE_TOOL_RESULT &&
           phi_str_equal(result->tool_call_id, phi_str_of(id)) && result->content_count == 1 &&
           (phi_str_equal(result->content[0].text, phi_str_of(words)) ||
            phi_str_equal(result->content[0].text, PHI__LIT("Cancelled")) ||
            phi_str_equal(result->content[0].text, PHI__LIT("Denied from a thread")));
}

#endif
