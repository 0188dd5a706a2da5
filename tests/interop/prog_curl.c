/* prog_curl.c - agents over a given libcurl, for the part `curl` of make interop (curl_checks.py).

       prog_curl [SETTING=VALUE]... -- URL...

   Each URL gets an agent of the Anthropic protocol, and all are prompted at once. Settings:
       http2=1  ca=FILE  proxy=URL  environment=1    fields of phi_runtime_desc
       retries=N         of a model call (default: 0)
       abort_ms=N        the first agent is aborted after N ms
       hold_ms=N         once the first text came, the host pops no event for N ms, and steps
   Prints a line of JSON for each agent, in order of URL, and a last one about the steps. Exit code
   3: a run has not ended after a minute. */
#include "agent/agent.h"
#include "base/base_in.h"
#include "io/io_in.h"
#include "text/json_in.h"
#include "loop/events.h"
#include "codecs/presets.h"
#include "model/event.h"
#include "model/failure.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST_AGENTS = 64, MOST_MS = 60000 };

typedef struct speaker {
    phi_agent agent;
    phi__buf text, failure;
    phi_status status;
    int retries;
    uint64_t ended_us;
} speaker;

static struct {
    phi_runtime_desc desc;
    uint32_t retries;
    uint64_t abort_us, hold_us;
    phi_memory memory;
    speaker speakers[MOST_AGENTS];
    size_t count, over;
    uint64_t begun_us, longest_us, aborted_us, held_us;
    unsigned steps;
} all;

/* ---- the command line ---- */

static bool set(const char *word) {
    const char *value = strchr(word, '=');
    phi_str name = phi__str(word, value != NULL ? (size_t)(value - word) : 0);
    if (value++ == NULL) return false;
    if (phi__str_is(name, "http2"))
        all.desc.enable_http2 = true;
    else if (phi__str_is(name, "ca"))
        all.desc.ca_file = value;
    else if (phi__str_is(name, "proxy"))
        all.desc.proxy = value;
    else if (phi__str_is(name, "environment"))
        all.desc.use_environment = true;
    else if (phi__str_is(name, "retries"))
        all.retries = (uint32_t)strtoul(value, NULL, 10);
    else if (phi__str_is(name, "abort_ms"))
        all.abort_us = strtoul(value, NULL, 10) * 1000u;
    else if (phi__str_is(name, "hold_ms"))
        all.hold_us = strtoul(value, NULL, 10) * 1000u;
    else
        return false;
    return true;
}

static bool add(phi_runtime *rt, const char *url) {
    phi_agent_desc desc = PHI_ZERO;
    speaker *s = &all.speakers[all.count];
    desc.model = phi_model_anthropic("claude-sonnet-4-5", "a-key");
    desc.model.base_url = url;
    desc.system_prompt = "You are a test.";
    desc.retry.disable = all.retries == 0;
    desc.retry.max_retries = all.retries;
    desc.retry.initial_delay_ms = 50;
    phi__buf_init(&s->text, &all.memory);
    phi__buf_init(&s->failure, &all.memory);
    s->agent = phi_agent_new(rt, &desc);
    all.count++;
    return phi_prompt(s->agent, "Say hello.") == PHI_OK;
}

/* ---- the runs ---- */

static void hear(const phi_event *event) {
    speaker *s = all.speakers;
    while (s->agent.index != event->agent.index) s++;
    if (event->kind == PHI_EV_TEXT) phi__buf_add_str(&s->text, event->text);
    if (event->kind == PHI_EV_RETRACT) phi__buf_clear(&s->text);
    if (event->kind == PHI_EV_RETRY) s->retries++;
    if (event->kind == PHI_EV_ERROR) {
        phi__buf_text(&s->failure, phi_failure_kind_text(event->failure->kind));
        phi__buf_text(&s->failure, ": ");
        phi__buf_add_str(&s->failure, event->failure->message);
    }
    if (event->kind == PHI_EV_TEXT && all.held_us == 0) all.held_us = phi__clock_us();
    if (event->kind == PHI_EV_AGENT_END) {
        s->status = event->status;
        s->ended_us = phi__clock_us();
        all.over++;
    }
}

static bool holds(uint64_t now) { return all.held_us > 0 && now < all.held_us + all.hold_us; }

static void run(phi_runtime *rt) {
    const struct timespec pause = {0, 1000000};
    phi_event event;
    all.begun_us = phi__clock_us();
    while (all.over < all.count) {
        uint64_t before = phi__clock_us();
        if (before > all.begun_us + MOST_MS * 1000u) exit(3);
        if (all.abort_us > 0 && all.aborted_us == 0 && before > all.begun_us + all.abort_us) {
            all.aborted_us = before;
            (void)phi_abort(all.speakers[0].agent);
        }
        (void)phi_step(rt, 0);
        all.steps++;
        uint64_t took = phi__clock_us() - before;
        if (took > all.longest_us) all.longest_us = took;
        while (!holds(phi__clock_us()) && phi_next_event(rt, &event)) hear(&event);
        (void)nanosleep(&pause, NULL);
    }
}

/* ---- what came of them ---- */

static void member(phi__buf *out, const char *name, phi_str value) {
    phi__buf_text(out, name);
    phi__json_write_str(out, value);
}

static void number(phi__buf *out, const char *name, uint64_t value) {
    phi__buf_text(out, name);
    phi__buf_u64(out, value);
}

static void tell(phi__buf *out, const speaker *s) {
    phi_str text = phi__buf_str(&s->text);
    member(out, "{\"status\":", phi_str_of(phi_status_text(s->status)));
    member(out, ",\"text\":", phi__str(text.at, phi__min(text.len, 200)));
    number(out, ",\"bytes\":", text.len);
    number(out, ",\"retries\":", (uint64_t)s->retries);
    number(out, ",\"ms\":", (s->ended_us - all.begun_us) / 1000);
    member(out, ",\"failure\":", phi__buf_str(&s->failure));
    phi__buf_text(out, "}\n");
}

int main(int argc, char **argv) {
    phi_allocator plain = PHI_ZERO;
    const char *error = NULL;
    phi__buf out;
    int at = 1;
    phi_memory_init(&all.memory, &plain, 0);
    phi__buf_init(&out, &all.memory);
    all.desc.error = &error;
    while (at < argc && strcmp(argv[at], "--") != 0)
        if (!set(argv[at++])) return 2;
    phi_runtime *rt = phi_runtime_new(&all.desc);
    if (rt == NULL) {
        printf("%s\n", error);
        return 2;
    }
    for (at++; at < argc && all.count < MOST_AGENTS; at++)
        if (!add(rt, argv[at])) return 2;
    run(rt);
    uint64_t end_us = phi__clock_us();
    for (size_t i = 0; i < all.count; i++) tell(&out, &all.speakers[i]);
    phi_runtime_free(rt);
    number(&out, "{\"steps\":", all.steps);
    number(&out, ",\"longest_us\":", all.longest_us);
    number(&out,
           ",\"abort_us\":", all.aborted_us > 0 ? all.speakers[0].ended_us - all.aborted_us : 0);
    number(&out, ",\"free_us\":", phi__clock_us() - end_us);
    member(&out, ",\"libcurl\":", phi_str_of(curl_version()));
    phi__buf_text(&out, "}\n");
    bool good = !out.failed && fwrite(out.at, 1, out.len, stdout) == out.len;
    for (size_t i = 0; i < all.count; i++) {
        phi__buf_free(&all.speakers[i].text);
        phi__buf_free(&all.speakers[i].failure);
    }
    phi__buf_free(&out);
    return good ? 0 : 1;
}
