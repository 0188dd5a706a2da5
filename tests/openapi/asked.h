/* asked.h - a scripted model calls tools of a document, and a scripted server answers them: what was
   sent, and what the model got. */
#ifndef PHI_TESTS_OPENAPI_ASKED_H
#define PHI_TESTS_OPENAPI_ASKED_H

#include "openapi/opened.h"
#include "openapi/openapi.h"
#include "support/rig.h"
#include "support/wires.h"
#include "loop/events.h"
#include "loop/loop_in.h"
#include "openapi/api_in.h"

enum { ASKED_CALLS = 8 };

typedef struct asked {
    wires w;
    phi_runtime *rt;
    phi_openapi *api;
    phi_openapi_tools tools;
    phi_agent agent;
    /* what the model calls */
    const char *name[ASKED_CALLS], *arguments[ASKED_CALLS];
    size_t call_count;
    /* what came of it, in the order of the results */
    char *text[ASKED_CALLS], *details[ASKED_CALLS], *image[ASKED_CALLS];
    phi_content_kind kind[ASKED_CALLS]; /* of the block in image */
    size_t len[ASKED_CALLS];
    bool is_error[ASKED_CALLS];
    size_t results;
    size_t sent[WIRES_MOST]; /* places in w.sent of the requests that were not the model's */
    size_t sent_count;
    void (*serve)(struct asked *a, size_t n, size_t i); /* n: of these requests, i: its place */
    void *more;
} asked;

static inline char *asked_copy(phi_str s) {
    char *out = (char *)malloc(s.len + 1);
    if (out == NULL) abort();
    if (s.len > 0) memcpy(out, s.at, s.len);
    out[s.len] = '\0';
    return out;
}

/* The text of a JSON string. */
static inline void asked_escape(char *to, const char *text) {
    static const char hex[] = "0123456789abcdef";
    for (; *text != '\0'; text++) {
        unsigned char ch = (unsigned char)*text;
        if (ch == '"' || ch == '\\') *to++ = '\\';
        if (ch < 32) {
            memcpy(to, "\\u00", 4);
            to[4] = hex[ch >> 4];
            to[5] = hex[ch & 15];
            to += 6;
        } else
            *to++ = *text;
    }
    *to = '\0';
}

static inline void asked_model(asked *a, size_t i) {
    static const char type[] = "Content-Type: text/event-stream\r\n";
    size_t k, cap = 4096;
    char *body, *at;
    /* the last message: a prompt, or results */
    for (at = a->w.sent[i].text; (body = strstr(at + 1, "\"role\":\"user\"")) != NULL;) at = body;
    if (strstr(at, "\"tool_result\"") != NULL) {
        wires_reply(&a->w, i, 200, type, rig_stream_of("done"));
        return;
    }
    for (k = 0; k < a->call_count; k++) cap += 1024 + 6 * strlen(a->arguments[k]);
    at = body = (char *)malloc(cap);
    if (body == NULL) abort();
    at += sprintf(
        at, "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\","
            "\"model\":\"m\",\"content\":[],\"usage\":{\"input_tokens\":1,"
            "\"output_tokens\":1}}}\n\n");
    for (k = 0; k < a->call_count; k++) {
        at +=
            sprintf(at,
                    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":"
                    "%u,\"content_block\":{\"type\":\"tool_use\",\"id\":\"c%u\",\"name\":\"%s\","
                    "\"input\":{}}}\n\nevent: content_block_delta\ndata: {\"type\":"
                    "\"content_block_delta\",\"index\":%u,\"delta\":{\"type\":"
                    "\"input_json_delta\",\"partial_json\":\"",
                    (unsigned)k, (unsigned)k, a->name[k], (unsigned)k);
        asked_escape(at, a->arguments[k]);
        at += strlen(at);
        at += sprintf(at,
                      "\"}}\n\nevent: content_block_stop\ndata: {\"type\":\"content_block_stop\","
                      "\"index\":%u}\n\n",
                      (unsigned)k);
    }
    (void)sprintf(at, "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{"
                      "\"stop_reason\":\"tool_use\"},\"usage\":{\"output_tokens\":1}}\n\n"
                      "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n");
    wires_reply(&a->w, i, 200, type, body);
    free(body);
}

static inline void asked_answer(wires *w, size_t i) {
    asked *a = (asked *)w->user_data;
    if (strstr(w->sent[i].text, "https://api.anthropic.com/") != NULL) {
        asked_model(a, i);
        return;
    }
    a->sent[a->sent_count] = i;
    if (a->serve != NULL)
        a->serve(a, a->sent_count++, i);
    else {
        a->sent_count++;
        wires_reply(w, i, 200, "Content-Type: application/json\r\n", "{}");
    }
}

static inline void asked_forget(asked *a) {
    size_t i;
    for (i = 0; i < a->results; i++) {
        free(a->text[i]);
        free(a->details[i]);
        free(a->image[i]);
    }
    a->results = 0;
}

static inline void asked_event(asked *a, const phi_event *event) {
    const phi_message *m = event->message;
    size_t n = a->results;
    if (event->kind != PHI_EV_TOOL_END || n == ASKED_CALLS) return;
    a->text[n] = asked_copy(m->content[0].text);
    a->len[n] = m->content[0].text.len;
    a->details[n] = asked_copy(m->details);
    a->kind[n] = m->content_count > 1 ? m->content[1].kind : (phi_content_kind)0;
    a->image[n] = asked_copy(m->content_count > 1 ? m->content[1].data : phi__str("", 0));
    a->is_error[n] = m->is_error;
    a->results++;
}

/* One step, a millisecond; the runs still going. */
static inline int asked_step(asked *a) {
    phi_event event;
    int runs = phi_step(a->rt, 0);
    a->w.now_us += 1000;
    while (phi_next_event(a->rt, &event)) asked_event(a, &event);
    return runs;
}

static inline int asked_run(asked *a, int most) {
    int runs = 1;
    while (most-- > 0 && runs > 0) runs = asked_step(a);
    return runs;
}

static inline phi_agent asked_agent(asked *a) {
    phi_agent_desc desc = rig_desc();
    desc.tools = a->tools.tools;
    desc.tool_count = a->tools.count;
    return phi_agent_new(a->rt, &desc);
}

/* A runtime, the tools of the document, and an agent. False: a check has failed. */
static inline bool asked_open(asked *a, const phi_openapi_desc *desc, const char *document) {
    memset(a, 0, sizeof *a);
    wires_init(&a->w);
    a->w.user_data = a;
    a->w.answer = asked_answer;
    a->rt = wires_runtime(&a->w, NULL);
    if (!CHECK(a->rt != NULL)) return false;
    a->api = open_text(a->rt, desc, phi_str_of(document));
    if (!CHECK(a->api != NULL)) return false;
    while (phi_openapi_step(a->api, NULL) == PHI_BUSY) continue;
    CHECK_EQ_STR(open_error(a->api)->message, "");
    while (phi_openapi_select(a->api, NULL, &a->tools) == PHI_BUSY) continue;
    if (a->tools.skip_count > 0) CHECK_EQ_STR(a->tools.skipped[0].message, "");
    a->agent = asked_agent(a);
    return CHECK(phi_agent_alive(a->agent));
}

static inline void asked_close(asked *a) {
    phi_agent_free(a->agent);
    if (a->rt != NULL) (void)phi_step(a->rt, 0);
    phi_openapi_free(a->api);
    phi_runtime_free(a->rt);
    wires_free(&a->w);
    asked_forget(a);
}

static inline void asked_begin(asked *a, const char *name, const char *arguments) {
    a->name[0] = name;
    a->arguments[0] = arguments;
    a->call_count = 1;
    asked_forget(a);
    CHECK_EQ_INT(phi_prompt(a->agent, "go"), PHI_OK);
}

/* The model calls one tool, and the run goes to its end. */
static inline bool ask(asked *a, const char *name, const char *arguments) {
    asked_begin(a, name, arguments);
    CHECK_EQ_INT(asked_run(a, 3000), 0);
    return CHECK_EQ_INT(a->results, 1);
}

/* The n-th request to the server. */
static inline const char *asked_sent(const asked *a, size_t n) {
    return n < a->sent_count ? a->w.sent[a->sent[n]].text : "(none)";
}

#endif
