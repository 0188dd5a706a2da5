/* compat_wire.h - agents whose requests are written down whole: address, headers, body.

   Answers are the streams of tests/fixtures. Clock, chance and all ids are fixed; every key is the
   word "test-key". */
#ifndef PHI_TESTS_COMPAT_COMPAT_WIRE_H
#define PHI_TESTS_COMPAT_COMPAT_WIRE_H

#include "agent/agent.h"
#include "compat/compat.h"
#include "support/wires.h"
#include "loop/events.h"
#include "loop/loop_in.h"

enum { COMPAT_SCRIPT = 24 };

typedef struct compat_wire {
    wires w; /* first: it is the user_data of the runtime's functions */
    phi_runtime *rt;
    phi_agent agent;
    const char *script[COMPAT_SCRIPT]; /* "FOLDER/NAME.EXT", of the next answers */
    size_t next, count;
    size_t told; /* requests that are in `out` */
    uint32_t seed;
    compat_text out;
} compat_wire;

/* ---- protocols ---- */

typedef struct compat_protocol {
    const char *protocol, *folder, *extension, *content_type;
} compat_protocol;

static inline const compat_protocol *compat_protocol_of(const char *protocol) {
    static const char events[] = "Content-Type: text/event-stream\r\n";
    static const compat_protocol all[] = {
        {PHI_PROTOCOL_ANTHROPIC, "anthropic", "sse", events},
        {PHI_PROTOCOL_OPENAI_CHAT, "openai-chat", "sse", events},
        {PHI_PROTOCOL_OPENAI_RESPONSES, "openai-responses", "sse", events},
        {PHI_PROTOCOL_AZURE_RESPONSES, "azure-responses", "sse", events},
        {PHI_PROTOCOL_GOOGLE, "gemini", "sse", events},
        {PHI_PROTOCOL_VERTEX, "vertex", "sse", events},
        {PHI_PROTOCOL_INTERACTIONS, "gemini-interactions", "sse", events},
        {PHI_PROTOCOL_BEDROCK, "bedrock", "bin",
         "Content-Type: application/vnd.amazon.eventstream\r\n"}};
    size_t i;
    for (i = 0; i < sizeof all / sizeof all[0]; i++)
        if (strcmp(all[i].protocol, protocol) == 0) return &all[i];
    abort();
}

/* ---- answers ---- */

/* The protocol of a request, by its address. */
static inline const compat_protocol *compat_asked(const char *text) {
    char line[400];
    size_t n = strcspn(text, "\n");
    if (n >= sizeof line) abort();
    memcpy(line, text, n);
    line[n] = '\0';
    if (strstr(line, "/converse-stream") != NULL) return compat_protocol_of(PHI_PROTOCOL_BEDROCK);
    if (strstr(line, "/interactions") != NULL) return compat_protocol_of(PHI_PROTOCOL_INTERACTIONS);
    if (strstr(line, ":streamGenerateContent") != NULL)
        return compat_protocol_of(PHI_PROTOCOL_GOOGLE);
    if (strstr(line, "/chat/completions") != NULL)
        return compat_protocol_of(PHI_PROTOCOL_OPENAI_CHAT);
    if (strstr(line, "/responses") != NULL)
        return compat_protocol_of(PHI_PROTOCOL_OPENAI_RESPONSES);
    return compat_protocol_of(PHI_PROTOCOL_ANTHROPIC);
}

static inline void compat_answer(wires *w, size_t i) {
    compat_wire *c = (compat_wire *)w;
    const compat_protocol *protocol = compat_asked(w->sent[i].text);
    char plain[64];
    char *body;
    size_t len;
    (void)snprintf(plain, sizeof plain, "%s/text.%s", protocol->folder, protocol->extension);
    body = test_fixture(c->next < c->count ? c->script[c->next] : plain, &len);
    c->next += c->next < c->count ? 1 : 0;
    if (body == NULL) abort();
    wires_reply_bytes(w, i, 200, protocol->content_type, body, len);
    free(body);
}

static inline void compat_says(compat_wire *c, const char *stream) {
    if (c->count == COMPAT_SCRIPT) abort();
    c->script[c->count++] = stream;
}

/* ---- the runtime ---- */

static inline void compat_chance(void *user_data, void *out, size_t len) {
    compat_wire *c = (compat_wire *)user_data;
    unsigned char *p = (unsigned char *)out;
    size_t i;
    for (i = 0; i < len; i++) p[i] = (unsigned char)(test_random(&c->seed) >> 24);
}

static inline bool compat_open(compat_wire *c) {
    phi_runtime_desc desc = PHI_ZERO;
    memset(c, 0, sizeof *c);
    wires_init(&c->w);
    c->w.now_us = UINT64_C(1700000000000000);
    c->w.answer = compat_answer;
    c->seed = 1;
    desc.random_fn = compat_chance;
    c->rt = wires_runtime(&c->w, &desc);
    return CHECK(c->rt != NULL);
}

static inline void compat_close(compat_wire *c) {
    phi_runtime_free(c->rt);
    wires_free(&c->w);
    compat_drop(&c->out);
}

/* A desc with every id fixed; each model call is tried once. */
static inline phi_agent_desc compat_desc(phi_model model) {
    phi_agent_desc desc = PHI_ZERO;
    desc.model = model;
    desc.ids.agent_id = "agent";
    desc.ids.session_id = "session";
    desc.retry.disable = true;
    return desc;
}

static inline bool compat_agent(compat_wire *c, const phi_agent_desc *desc) {
    const char *words = "";
    c->agent = phi_agent_new(c->rt, desc);
    if (c->agent.rt == NULL) words = phi_last_error(c->rt).message;
    if (!CHECK(c->agent.rt != NULL)) printf("  %s\n", words);
    return c->agent.rt != NULL;
}

/* ---- the text ---- */

/* Adds the requests since the last time, under a heading. */
static inline void compat_tell(compat_wire *c, const char *heading) {
    for (; c->told < c->w.count; c->told++) {
        const wires_sent *s = &c->w.sent[c->told];
        compat_print(&c->out, "=== %s\n", heading);
        compat_add(&c->out, s->text, s->len);
        compat_add(&c->out, "\n\n", 2);
    }
}

/* Steps until no run is active; events are dropped. */
static inline void compat_run(compat_wire *c) {
    phi_event event;
    int steps = 0;
    while (phi_step(c->rt, 0) > 0 && steps++ < 2000) {
        while (phi_next_event(c->rt, &event)) continue;
        c->w.now_us += 1000;
    }
    while (phi_next_event(c->rt, &event)) continue;
    CHECK(steps < 2000);
}

/* One prompt, run to its end, and its requests. A refusal of the prompt is a line. */
static inline void compat_prompt(compat_wire *c, const char *heading, const char *text) {
    phi_status status = phi_prompt(c->agent, text);
    if (status != PHI_OK) compat_print(&c->out, "=== %s\n%s\n\n", heading, phi_status_text(status));
    compat_run(c);
    compat_tell(c, heading);
}

static inline void compat_stored_wire(compat_wire *c, const char *name) {
    (void)compat_file(name, c->out.at, c->out.len);
    compat_close(c);
}

#endif
