/* prog_calls.c - calls operations of a document's tools as a model would, for make interop->

       prog_calls DOCUMENT_URL [NAME=VALUE]...

   Each line of standard input is a tool's name, a tab, and its arguments; each is answered by a line
   of JSON with the result. "abort N" before the name: the run is aborted after N ms. The last line
   has the longest step, in CPU time, and the most memory. NAME=VALUE: bearer, user, password, client_id,
   client_secret, timeout_ms, max_bytes, uploads, responses; key.SCHEME for a key, header.NAME for a
   header. */
#include "agent/agent.h"
#include "base/base_in.h"
#include "openapi/openapi.h"
#include "text/json_in.h"
#include "loop/events.h"
#include "codecs/presets.h"
#include "model/model.h"
#include "loop/provider.h"
#include "wire/writer.h"
#include "loop/loop_in.h"
#include "openapi/api_in.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { CALLS_PAIRS = 8, CALLS_LINE = 1 << 20, CALLS_MOST_US = 60 * 1000000 };

typedef struct calls {
    phi_runtime *rt;
    phi_agent agent;
    phi_memory memory;
    phi_openapi *api;
    phi_openapi_tools tools;
    const char *name, *arguments;
    bool called; /* the model has made the call */
    phi__buf out;
    uint64_t longest_us;
} calls;

static uint64_t calls_clock_us(clockid_t clock) {
    struct timespec now;
    (void)clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

/* ---- the model ---- */

static phi_status calls_open(void *user_data, const phi_model_request *request, void **call) {
    (void)request;
    *call = user_data;
    return PHI_OK;
}

static phi_poll calls_poll(void *user_data, void *call, phi_answer *answer) {
    calls *c = (calls *)call;
    (void)user_data;
    if (c->called) {
        phi_answer_text(answer, phi_str_of("done"));
        return PHI_POLL_DONE;
    }
    c->called = true;
    phi_answer_call(answer, phi_str_of("c1"), phi_str_of(c->name));
    phi_answer_arguments(answer, phi_str_of(c->arguments), true);
    phi_answer_stop(answer, PHI_STOP_REASON_TOOL_USE);
    return PHI_POLL_DONE;
}

static void calls_close(void *user_data, void *call) {
    (void)user_data;
    (void)call;
}

/* ---- a call ---- */

static void calls_event(calls *c, const phi_event *event) {
    const phi_message *m = event->message;
    size_t i;
    if (event->kind != PHI_EV_TOOL_END) return;
    phi__buf_printf(&c->out, "{\"is_error\":%s,\"text\":", m->is_error ? "true" : "false");
    phi__json_write_str(&c->out, m->content[0].text);
    for (i = 1; i < m->content_count; i++) {
        phi__buf_text(&c->out, ",\"image\":");
        phi__json_write_str(&c->out, m->content[i].data);
    }
    phi__buf_text(&c->out, ",\"details\":");
    phi__json_write_str(&c->out, m->details);
    phi__buf_char(&c->out, '}');
}

static void calls_make(calls *c, uint64_t abort_us) {
    uint64_t began = calls_clock_us(CLOCK_MONOTONIC);
    phi_event event;
    int runs = 1;
    c->called = false;
    phi__buf_clear(&c->out);
    if (phi_prompt(c->agent, "go") != PHI_OK) exit(3);
    while (runs > 0) {
        uint64_t past = calls_clock_us(CLOCK_MONOTONIC) - began, took;
        if (past > CALLS_MOST_US) exit(3);
        if (abort_us > 0 && past > abort_us) (void)phi_abort(c->agent);
        took = calls_clock_us(CLOCK_PROCESS_CPUTIME_ID);
        runs = phi_step(c->rt, 0);
        took = calls_clock_us(CLOCK_PROCESS_CPUTIME_ID) - took;
        if (took > c->longest_us) c->longest_us = took;
        while (phi_next_event(c->rt, &event)) calls_event(c, &event);
        if (runs > 0) (void)phi_step(c->rt, 2);
        while (phi_next_event(c->rt, &event)) calls_event(c, &event);
    }
    (void)printf("%.*s\n", (int)c->out.len, c->out.at);
    (void)fflush(stdout);
}

/* ---- settings ---- */

typedef struct settings {
    phi_openapi_desc desc;
    phi_openapi_pair keys[CALLS_PAIRS], headers[CALLS_PAIRS];
    const char *uploads[2];
} settings;

static void settings_pair(phi_openapi_pair *pairs, size_t *count, const char *name,
                          const char *value) {
    if (*count == CALLS_PAIRS) exit(2);
    pairs[*count].name = name;
    pairs[(*count)++].value = value;
}

static void settings_take(settings *s, char *word) {
    char *value = strchr(word, '=');
    phi_openapi_desc *d = &s->desc;
    if (value == NULL) exit(2);
    *value++ = '\0';
    if (strcmp(word, "bearer") == 0) d->auth.bearer_token = value;
    if (strcmp(word, "user") == 0) d->auth.user = value;
    if (strcmp(word, "password") == 0) d->auth.password = value;
    if (strcmp(word, "client_id") == 0) d->auth.client_id = value;
    if (strcmp(word, "client_secret") == 0) d->auth.client_secret = value;
    if (strcmp(word, "timeout_ms") == 0) d->timeout_ms = (uint32_t)strtoul(value, NULL, 10);
    if (strcmp(word, "max_bytes") == 0) d->max_response_bytes = (uint32_t)strtoul(value, NULL, 10);
    if (strcmp(word, "uploads") == 0) s->uploads[0] = value;
    if (strcmp(word, "responses") == 0) d->response_directory = value;
    if (strncmp(word, "key.", 4) == 0) settings_pair(s->keys, &d->auth.key_count, word + 4, value);
    if (strncmp(word, "header.", 7) == 0)
        settings_pair(s->headers, &d->header_count, word + 7, value);
    d->auth.keys = s->keys;
    d->headers = s->headers;
    if (s->uploads[0] != NULL) d->upload_roots = s->uploads;
}

static void calls_begin(calls *c, const settings *s, const char *url) {
    phi_agent_desc desc;
    phi_openapi_desc of;
    phi_parse_error error;
    phi_provider model;
    phi_status status;
    memset(&desc, 0, sizeof desc);
    memset(&model, 0, sizeof model);
    model.protocol = "calls";
    model.user_data = c;
    model.open = calls_open;
    model.poll = calls_poll;
    model.close = calls_close;
    c->rt = phi_runtime_new(NULL);
    of = s->desc;
    of.url = url;
    c->api = phi_openapi_new(c->rt, &of);
    if (c->api == NULL) exit(2);
    while ((status = phi_openapi_step(c->api, &error)) == PHI_BUSY) (void)phi_step(c->rt, 5);
    if (status != PHI_OK) {
        (void)fprintf(stderr, "%s\n", error.message);
        exit(2);
    }
    while (phi_openapi_select(c->api, NULL, &c->tools) == PHI_BUSY) continue;
    desc.model = phi_model_anthropic("calls", "");
    desc.model.protocol = "calls";
    desc.provider = &model;
    desc.limits.max_turns = PHI_UNLIMITED;
    desc.tools = c->tools.tools;
    desc.tool_count = c->tools.count;
    c->agent = phi_agent_new(c->rt, &desc);
    if (!phi_agent_alive(c->agent)) exit(2);
}

int main(int argc, char **argv) {
    static char line[CALLS_LINE];
    settings s;
    calls c;
    size_t peak = 0;
    int i;
    if (argc < 2) return 2;
    memset(&s, 0, sizeof s);
    memset(&c, 0, sizeof c);
    for (i = 2; i < argc; i++) settings_take(&s, argv[i]);
    phi_memory_init(&c.memory, NULL, 0);
    phi__buf_init(&c.out, &c.memory);
    calls_begin(&c, &s, argv[1]);
    while (fgets(line, sizeof line, stdin) != NULL) {
        char *name = line, *tab = strchr(line, '\t');
        uint64_t abort_us = 0;
        if (tab == NULL) return 2;
        line[strcspn(line, "\n")] = '\0';
        *tab = '\0';
        if (strncmp(line, "abort ", 6) == 0) abort_us = strtoull(line + 6, &name, 10) * 1000u;
        c.name = name + strspn(name, " ");
        c.arguments = tab + 1;
        calls_make(&c, abort_us);
    }
    (void)phi_memory_used(c.rt, &peak);
    (void)printf("{\"longest_us\":%llu,\"peak\":%llu,\"tools\":%u,\"skips\":%u}\n",
                 (unsigned long long)c.longest_us, (unsigned long long)peak,
                 (unsigned)c.tools.count, (unsigned)c.tools.skip_count);
    phi_agent_free(c.agent);
    phi__buf_free(&c.out);
    phi_openapi_free(c.api);
    phi_runtime_free(c.rt);
    return 0;
}
