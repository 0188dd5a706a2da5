/* rig.c - the scripted transport and the story teller. */
#include "support/rig.h"

#include "wire/codec_in.h"

#include <stdarg.h>

enum { RIG_MOST = 2048 }; /* answers of a script, requests kept */

typedef struct answer {
    int status;
    char *headers, *body;
    size_t len;
    phi_status end;
    char *words;
    bool hangs, refuses;
} answer;

typedef struct going {
    phi_xfer xfer;
    const answer *says;
    size_t at;
    bool live, headed, full;
} going;

struct rig {
    phi_runtime *rt;
    uint64_t now_us, pumped_us;
    uint32_t seed;
    phi_transport transport;
    answer script[RIG_MOST];
    size_t answers, next;
    char *requests[RIG_MOST];
    size_t request_count;
    going goings[64];
    size_t chunk;
    bool silent;
    char *story;
    size_t story_len, story_cap;
};

static char *rig_copy(const char *text) {
    size_t n = text != NULL ? strlen(text) : 0;
    char *out = (char *)malloc(n + 1);
    if (out == NULL) abort();
    if (n > 0) memcpy(out, text, n);
    out[n] = '\0';
    return out;
}

/* ---- the story ---- */

static void rig_add(rig *r, const char *format, ...) {
    va_list args;
    int n;
    va_start(args, format);
    n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n < 0) abort();
    if (r->story_len + (size_t)n + 1 > r->story_cap) {
        r->story_cap = (r->story_len + (size_t)n + 1) * 2;
        r->story = (char *)realloc(r->story, r->story_cap);
        if (r->story == NULL) abort();
    }
    va_start(args, format);
    (void)vsnprintf(r->story + r->story_len, (size_t)n + 1, format, args);
    va_end(args);
    r->story_len += (size_t)n;
}

static void rig_tell_str(rig *r, const char *label, phi_str s) {
    rig_add(r, "%s\"%.*s\"", label, (int)s.len, s.len > 0 ? s.at : "");
}

static void rig_tell_message(rig *r, const phi_message *m) {
    static const char *const roles[] = {"?", "user", "assistant", "toolResult", "extension"};
    size_t i;
    if (m == NULL) {
        rig_add(r, " -");
        return;
    }
    rig_add(r, " %s", roles[m->role]);
    if (m->role == PHI_ROLE_TOOL_RESULT)
        rig_add(r, " %.*s%s", (int)m->tool_call_id.len, m->tool_call_id.at,
                m->is_error ? " error" : "");
    for (i = 0; i < m->content_count; i++) {
        const phi_content *c = &m->content[i];
        if (c->kind == PHI_CONTENT_TOOL_CALL)
            rig_add(r, " %.*s(%.*s)", (int)c->name.len, c->name.at, (int)c->arguments.len,
                    c->arguments.at);
        else if (c->kind == PHI_CONTENT_IMAGE)
            rig_add(r, " image");
        else
            rig_tell_str(r, c->kind == PHI_CONTENT_THINKING ? " thinking " : " ", c->text);
    }
    if (m->stop_reason != PHI_STOP_REASON_NONE)
        rig_add(r, " %s", phi_stop_reason_text(m->stop_reason));
    if (m->error_message.len > 0) rig_tell_str(r, " error ", m->error_message);
}

static void rig_tell(rig *r, const phi_event *e) {
    rig_add(r, "%s", phi_event_name(e->kind));
    switch (e->kind) {
    case PHI_EV_AGENT_START: break;
    case PHI_EV_AGENT_END:
        rig_add(r, " %s, %u messages", phi_status_text(e->status), (unsigned)e->message_count);
        break;
    case PHI_EV_TURN_START: rig_add(r, " %u", (unsigned)e->turn_index); break;
    case PHI_EV_TURN_END:
    case PHI_EV_MESSAGE_START:
    case PHI_EV_MESSAGE_END: rig_tell_message(r, e->message); break;
    case PHI_EV_TEXT:
    case PHI_EV_THINKING:
    case PHI_EV_TOOL_ARGUMENTS:
        rig_tell_str(r, " ", e->text);
        rig_tell_str(r, " of ", e->partial);
        break;
    case PHI_EV_TOOL_START:
        rig_add(r, " %.*s %.*s(%.*s)", (int)e->tool_call_id.len, e->tool_call_id.at,
                (int)e->tool_name.len, e->tool_name.at, (int)e->arguments.len, e->arguments.at);
        break;
    case PHI_EV_TOOL_UPDATE:
    case PHI_EV_TOOL_PROGRESS:
        rig_add(r, " %.*s", (int)e->tool_call_id.len, e->tool_call_id.at);
        rig_tell_str(r, " ", e->text);
        break;
    case PHI_EV_TOOL_END: rig_tell_message(r, e->message); break;
    case PHI_EV_ERROR:
        rig_add(r, " %s", phi_failure_kind_text(e->failure->kind));
        rig_tell_str(r, " ", e->failure->message);
        if (e->failure->http_status != 0) rig_add(r, " %d", e->failure->http_status);
        if (e->failure->has_retry_after)
            rig_add(r, " after %llu ms", (unsigned long long)e->failure->retry_after_ms);
        break;
    }
    rig_add(r, "\n");
}

/* ---- the transport ---- */

/* What is about to be sent must be what the provider accepts: the request lies in its encoder. */
static void rig_preflight(const phi_request *request) {
    const phi__encoder *encoder = PHI__OWNER((uintptr_t)request, phi__encoder, request);
    char words[300];
    if (!CHECK(phi__preflight(encoder->codec, encoder->ask, words, sizeof words) == PHI_OK))
        printf("  %s\n", words);
}

static phi_status rig_open(void *user_data, phi_xfer xfer, const phi_request *request) {
    rig *r = (rig *)user_data;
    size_t len = (size_t)phi_request_length(request), i;
    char *body = (char *)malloc(len + 1);
    const answer *says = r->next < r->answers ? &r->script[r->next++] : NULL;
    if (body == NULL || r->request_count == RIG_MOST) abort();
    if (phi_request_read(request, 0, body, len) != len) abort();
    body[len] = '\0';
    if (!test_alloc_tripped()) rig_preflight(request);
    r->requests[r->request_count++] = body;
    if (says == NULL) return PHI_REFUSED;
    if (says->refuses) return says->end;
    for (i = 0; i < 64 && r->goings[i].live; i++) {}
    if (i == 64) return PHI_FULL;
    memset(&r->goings[i], 0, sizeof r->goings[i]);
    r->goings[i].live = true;
    r->goings[i].xfer = xfer;
    r->goings[i].says = says;
    return PHI_OK;
}

static void rig_resume(void *user_data, phi_xfer xfer) {
    rig *r = (rig *)user_data;
    size_t i;
    for (i = 0; i < 64; i++)
        if (r->goings[i].live && r->goings[i].xfer.index == xfer.index) r->goings[i].full = false;
}

static void rig_cancel(void *user_data, phi_xfer xfer) {
    rig *r = (rig *)user_data;
    size_t i;
    for (i = 0; i < 64; i++)
        if (r->goings[i].live && r->goings[i].xfer.index == xfer.index &&
            r->goings[i].xfer.gen == xfer.gen)
            r->goings[i].live = false;
}

static void rig_push(rig *r, going *g) {
    const answer *says = g->says;
    size_t n = says->len - g->at;
    phi_status status = PHI_OK;
    if (!g->headed) {
        g->headed = true;
        (void)phi_xfer_head(g->xfer, says->status, says->headers, strlen(says->headers));
    }
    if (r->chunk != 0 && n > r->chunk) n = r->chunk;
    if (n > 0) status = phi_xfer_push(g->xfer, says->body + g->at, n);
    if (status == PHI_FULL) {
        g->full = true;
        return;
    }
    if (status != PHI_OK) {
        g->live = false;
        return;
    }
    g->at += n;
    if (g->at == says->len && !says->hangs) {
        g->live = false;
        (void)phi_xfer_end(g->xfer, says->end, says->words);
    }
}

static void rig_pump(void *user_data) {
    rig *r = (rig *)user_data;
    size_t i;
    if (r->chunk != 0 && r->pumped_us == r->now_us) return; /* a step pumps more than once */
    r->pumped_us = r->now_us;
    for (i = 0; i < 64; i++)
        if (r->goings[i].live && !r->goings[i].full) rig_push(r, &r->goings[i]);
}

size_t rig_open_transfers(rig *r) {
    size_t i, n = 0;
    for (i = 0; i < 64; i++) n += r->goings[i].live ? 1 : 0;
    return n;
}

/* ---- the script ---- */

static answer *rig_answer(rig *r, int status, const char *headers, const char *body) {
    answer *a = &r->script[r->answers];
    if (r->answers == RIG_MOST) abort();
    r->answers++;
    memset(a, 0, sizeof *a);
    a->status = status;
    a->headers = rig_copy(headers);
    a->body = rig_copy(body);
    a->len = strlen(a->body);
    a->words = rig_copy("");
    return a;
}

#define RIG_HEADERS "Content-Type: text/event-stream\r\n"
#define RIG_START                                                                                  \
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\","       \
    "\"model\":\"m\",\"content\":[],\"usage\":{\"input_tokens\":10,\"output_tokens\":1}}}\n\n"
#define RIG_STOP "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"

static void rig_append(char *out, size_t size, const char *format, ...) PHI_PRINTF(3, 4);
static void rig_append(char *out, size_t size, const char *format, ...) {
    size_t at = strlen(out);
    va_list args;
    int n;
    va_start(args, format);
    n = vsnprintf(out + at, size - at, format, args);
    va_end(args);
    if (n < 0 || (size_t)n >= size - at) abort();
}

static void rig_escape(const char *text, char *out, size_t size) {
    size_t at = 0;
    for (; *text != '\0'; text++) {
        if (at + 3 > size) abort();
        if (*text == '"' || *text == '\\') out[at++] = '\\';
        out[at++] = *text;
    }
    out[at] = '\0';
}

static void rig_delta(char *out, size_t size, const char *reason) {
    rig_append(out, size,
               "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":"
               "\"%s\"},\"usage\":{\"output_tokens\":5}}\n\n" RIG_STOP,
               reason);
}

const char *rig_stream_of(const char *text) {
    static char out[1 << 16];
    char escaped[1 << 15];
    rig_escape(text, escaped, sizeof escaped);
    out[0] = '\0';
    rig_append(out, sizeof out,
               RIG_START "event: content_block_start\ndata: {\"type\":\"content_block_start\","
                         "\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n"
                         "event: content_block_delta\ndata: {\"type\":\"content_block_delta\","
                         "\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"%s\"}}\n\n"
                         "event: content_block_stop\ndata: {\"type\":\"content_block_stop\","
                         "\"index\":0}\n\n",
               escaped);
    rig_delta(out, sizeof out, "end_turn");
    return out;
}

void rig_says(rig *r, const char *text) {
    (void)rig_answer(r, 200, RIG_HEADERS, rig_stream_of(text));
}

void rig_calls(rig *r, const char *const *calls, size_t n) {
    static char out[1 << 17];
    size_t i;
    out[0] = '\0';
    rig_append(out, sizeof out, RIG_START);
    for (i = 0; i < n; i++) {
        char id[64], name[128], escaped[4096];
        int skip = 0;
        if (sscanf(calls[i], "%63s %127s %n", id, name, &skip) != 2) abort();
        rig_escape(calls[i] + skip, escaped, sizeof escaped);
        rig_append(
            out, sizeof out,
            "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":%u,"
            "\"content_block\":{\"type\":\"tool_use\",\"id\":\"%s\",\"name\":\"%s\","
            "\"input\":{}}}\n\n"
            "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":%u,"
            "\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"%s\"}}\n\n"
            "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":%u}"
            "\n\n",
            (unsigned)i, id, name, (unsigned)i, escaped, (unsigned)i);
    }
    rig_delta(out, sizeof out, "tool_use");
    (void)rig_answer(r, 200, RIG_HEADERS, out);
}

void rig_call(rig *r, const char *id, const char *name, const char *arguments) {
    char line[4400];
    const char *one = line;
    (void)snprintf(line, sizeof line, "%s %s %s", id, name, arguments);
    rig_calls(r, &one, 1);
}

void rig_replies(rig *r, int status, const char *headers, const char *body) {
    (void)rig_answer(r, status, headers, body);
}

void rig_breaks(rig *r, const char *body, phi_status status, const char *words) {
    answer *a = rig_answer(r, 200, RIG_HEADERS, body);
    a->end = status;
    free(a->words);
    a->words = rig_copy(words);
}

void rig_hangs(rig *r, const char *body) { rig_answer(r, 200, RIG_HEADERS, body)->hangs = true; }

void rig_refuses(rig *r, phi_status status) {
    answer *a = rig_answer(r, 200, RIG_HEADERS, "");
    a->refuses = true;
    a->end = status;
}

void rig_chunk(rig *r, size_t bytes) { r->chunk = bytes; }

/* ---- the runtime ---- */

static uint64_t rig_clock(void *user_data) { return ((rig *)user_data)->now_us; }

static void rig_random(void *user_data, void *out, size_t len) {
    rig *r = (rig *)user_data;
    unsigned char *p = (unsigned char *)out;
    size_t i;
    for (i = 0; i < len; i++) p[i] = (unsigned char)(test_random(&r->seed) >> 24);
}

rig *rig_new_with(const phi_runtime_desc *given) {
    rig *r = (rig *)calloc(1, sizeof *r);
    phi_runtime_desc desc;
    if (r == NULL) abort();
    memset(&desc, 0, sizeof desc);
    if (given != NULL) desc = *given;
    r->now_us = UINT64_C(1000000000);
    r->seed = 1;
    r->story = rig_copy("");
    r->transport.open = rig_open;
    r->transport.resume = rig_resume;
    r->transport.cancel = rig_cancel;
    r->transport.pump = rig_pump;
    r->transport.user_data = r;
    desc.allocator = test_allocator();
    desc.transport = &r->transport;
    desc.clock_us_fn = rig_clock;
    desc.random_fn = rig_random;
    desc.user_data = r;
    r->rt = phi_runtime_new(&desc);
    if (r->rt == NULL) {
        rig_free(r);
        return NULL;
    }
    return r;
}

rig *rig_new(void) { return rig_new_with(NULL); }

void rig_free(rig *r) {
    size_t i;
    if (r == NULL) return;
    phi_runtime_free(r->rt);
    for (i = 0; i < r->answers; i++) {
        free(r->script[i].headers);
        free(r->script[i].body);
        free(r->script[i].words);
    }
    for (i = 0; i < r->request_count; i++) free(r->requests[i]);
    free(r->story);
    free(r);
}

phi_runtime *rig_runtime(rig *r) { return r->rt; }

phi_agent_desc rig_desc(void) {
    phi_agent_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.model = phi_model_anthropic("test-model", "test-key");
    desc.agent_id = "agent";
    desc.session_id = "session";
    return desc;
}

phi_agent rig_agent(rig *r, const phi_agent_desc *desc) {
    phi_agent_desc plain = rig_desc();
    return phi_agent_new(r->rt, desc != NULL ? desc : &plain);
}

int rig_step(rig *r) {
    int runs = phi_step(r->rt, 0);
    phi_event event;
    while (!r->silent && phi_next_event(r->rt, &event)) rig_tell(r, &event);
    return runs;
}

int rig_run(rig *r, int most) {
    int runs = 1;
    while (runs > 0 && most-- > 0) {
        runs = rig_step(r);
        r->now_us += 1000;
    }
    return runs;
}

void rig_pass_ms(rig *r, uint32_t ms) { r->now_us += (uint64_t)ms * 1000; }
void rig_silent(rig *r, bool silent) { r->silent = silent; }
const char *rig_story(rig *r) { return r->story; }

void rig_forget(rig *r) {
    r->story_len = 0;
    r->story[0] = '\0';
}

const char *rig_request(rig *r, size_t i) { return i < r->request_count ? r->requests[i] : NULL; }

size_t rig_requests(rig *r) { return r->request_count; }
