/* taped.c - is linked into an example, as it stands, and stands between it and the library (ld --wrap): every runtime that
   the example makes records to a tape, or plays one; and the hash of each of its logs is written down when the log goes.
   test_replay_builds.py builds and runs them.

       TAPED    record: writes f.1, f.2 ..., one a runtime; play
       TAPE     f
       OUT      the file for the hashes
       BUDGET   step_budget_bytes
       TOOLS    run: they are run again when a tape is played
       KEYS     "start:y TextDelta:no,thanks :^C": what is typed, at the start or in answer to the next event of that name;
                without a name: at once after what was typed before. A comma is a space; ^C is the signal */
#include "phi_tools.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TAPED_MOST = 8, TAPED_TAPE_MOST = 1 << 22 };

static struct taped {
    int runtimes, keys; /* made so far; file descriptor */
    const char *script; /* what of KEYS was not typed */
    phi_tape *tape;     /* of the runtime at hand: an example has one at a time */
    FILE *file, *out;
    char *text; /* of a tape that is played */
    phi_agent agents[TAPED_MOST];
    int agent_count;
} taped;

phi_runtime *__real_phi_runtime_new(const phi_runtime_desc *desc);
phi_runtime *__wrap_phi_runtime_new(const phi_runtime_desc *desc);
void __real_phi_runtime_free(phi_runtime *rt);
void __wrap_phi_runtime_free(phi_runtime *rt);
phi_agent __real_phi_agent_new(phi_runtime *rt, const phi_agent_desc *desc);
phi_agent __wrap_phi_agent_new(phi_runtime *rt, const phi_agent_desc *desc);
phi_agent __real_phi_agent_restore(phi_runtime *rt, const phi_agent_desc *desc, phi_str snapshot,
                                   phi_restore_run how);
phi_agent __wrap_phi_agent_restore(phi_runtime *rt, const phi_agent_desc *desc, phi_str snapshot,
                                   phi_restore_run how);
phi_status __real_phi_agent_reset(phi_agent agent);
phi_status __wrap_phi_agent_reset(phi_agent agent);
void __real_phi_agents_free(phi_agents *agents);
void __wrap_phi_agents_free(phi_agents *agents);
bool __real_phi_next_event(phi_runtime *rt, phi_event *out);
bool __wrap_phi_next_event(phi_runtime *rt, phi_event *out);

static void give_up(const char *what) {
    fprintf(stderr, "taped: %s\n", what);
    _exit(99);
}

static const char *setting(const char *name) {
    const char *value = getenv(name);
    if (value == NULL) give_up(name);
    return value;
}

static bool plays(void) { return strcmp(setting("TAPED"), "play") == 0; }

/* ---- what is typed ---- */

/* What the script has next, if it is for this moment. */
static void type(const char *when) {
    char line[512];
    size_t n = strlen(when), len = 0;
    const char *at = taped.script;
    if (at == NULL || strncmp(at, when, n) != 0 || at[n] != ':') return;
    for (at += n + 1; *at != ' ' && *at != '\0' && len < sizeof line - 1; at++)
        line[len++] = (char)(*at == ',' ? ' ' : *at);
    taped.script = *at == ' ' ? at + 1 : at;
    line[len++] = '\n';
    if (strncmp(line, "^C", 2) == 0)
        (void)raise(SIGINT);
    else if (write(taped.keys, line, len) != (ssize_t)len)
        give_up("nothing can be typed");
    type("");
}

/* Standard input is a pipe of ours. */
static void sit_down(void) {
    int ends[2];
    taped.script = getenv("KEYS");
    if (taped.script == NULL) return;
    if (pipe(ends) != 0 || dup2(ends[0], 0) != 0) give_up("no pipe");
    taped.keys = ends[1];
    type("start");
    if (*taped.script == '\0') (void)close(taped.keys);
}

/* ---- the tape ---- */

static phi_status write_tape(void *user_data, const char *bytes, size_t len) {
    return fwrite(bytes, 1, len, (FILE *)user_data) == len ? PHI_OK : PHI_IO;
}

static bool runs_again(void *user_data, phi_str tool) {
    (void)user_data;
    (void)tool;
    return strcmp(setting("TOOLS"), "run") == 0;
}

static phi_tape *tape_of(const char *path) {
    phi_tape_desc desc = PHI_ZERO;
    phi_parse_error error;
    phi_str text;
    phi_tape *tape;
    taped.file = fopen(path, plays() ? "rb" : "wb");
    if (taped.file == NULL) give_up(path);
    desc.whole_bodies = true;
    desc.write_fn = write_tape;
    desc.user_data = taped.file;
    desc.runs_fn = runs_again;
    if (!plays()) return phi_tape_record(&desc);
    taped.text = (char *)malloc(TAPED_TAPE_MOST);
    if (taped.text == NULL) give_up("no memory");
    text.len = fread(taped.text, 1, TAPED_TAPE_MOST, taped.file);
    text.at = taped.text;
    tape = phi_tape_play(&desc, text, &error);
    if (tape == NULL) give_up(error.message);
    return tape;
}

static void end_tape(void) {
    phi_tape_divergence d;
    phi_status status = phi_tape_end(taped.tape, &d);
    fprintf(taped.out, "runtime %d: %s\n", taped.runtimes, phi_status_text(status));
    if (status == PHI_REFUSED)
        fprintf(taped.out, "line %u: %.*s\nrecorded: %.*s\nnow: %.*s\n", (unsigned)d.line,
                (int)d.what.len, d.what.at, (int)d.recorded.len, d.recorded.at, (int)d.actual.len,
                d.actual.at);
    phi_tape_free(taped.tape);
    if (fclose(taped.file) != 0 || fclose(taped.out) != 0) give_up("a file cannot be written");
    free(taped.text);
    taped.text = NULL;
    taped.tape = NULL;
    taped.agent_count = 0;
}

static void write_hash(phi_agent agent) {
    const phi_thread *thread = phi_agent_thread(agent);
    fprintf(taped.out, "runtime %d, agent %u: %u entries, %016llx\n", taped.runtimes, agent.index,
            (unsigned)phi_thread_count(thread), (unsigned long long)phi_thread_hash(thread));
}

static phi_agent keep(phi_agent agent) {
    if (agent.rt == NULL) return agent;
    if (taped.agent_count == TAPED_MOST) give_up("too many agents");
    return taped.agents[taped.agent_count++] = agent;
}

/* ---- in the place of the library's ---- */

phi_runtime *__wrap_phi_runtime_new(const phi_runtime_desc *desc) {
    phi_runtime_desc mine = PHI_ZERO;
    char path[1024];
    if (desc != NULL) mine = *desc;
    if (taped.tape != NULL) give_up("two runtimes at once");
    if (taped.runtimes++ == 0) sit_down();
    (void)snprintf(path, sizeof path, "%s.%d", setting("TAPE"), taped.runtimes);
    mine.tape = tape_of(path);
    mine.step_budget_bytes = (uint32_t)strtoul(setting("BUDGET"), NULL, 10);
    taped.out = fopen(setting("OUT"), taped.runtimes == 1 ? "w" : "a");
    if (taped.out == NULL) give_up("OUT cannot be written");
    taped.tape = mine.tape;
    return __real_phi_runtime_new(&mine);
}

void __wrap_phi_runtime_free(phi_runtime *rt) {
    int i;
    for (i = 0; i < taped.agent_count; i++) write_hash(taped.agents[i]);
    __real_phi_runtime_free(rt);
    if (rt != NULL) end_tape();
}

phi_agent __wrap_phi_agent_new(phi_runtime *rt, const phi_agent_desc *desc) {
    return keep(__real_phi_agent_new(rt, desc));
}

phi_agent __wrap_phi_agent_restore(phi_runtime *rt, const phi_agent_desc *desc, phi_str snapshot,
                                   phi_restore_run how) {
    return keep(__real_phi_agent_restore(rt, desc, snapshot, how));
}

phi_status __wrap_phi_agent_reset(phi_agent agent) {
    write_hash(agent); /* another log begins */
    return __real_phi_agent_reset(agent);
}

/* The agents of a configuration are made inside of the library. */
void __wrap_phi_agents_free(phi_agents *agents) {
    const phi_named_agent *named;
    size_t i;
    for (i = 0; (named = phi_agents_at(agents, i)) != NULL; i++) write_hash(named->agent);
    __real_phi_agents_free(agents);
}

bool __wrap_phi_next_event(phi_runtime *rt, phi_event *out) {
    bool got = __real_phi_next_event(rt, out);
    if (got) type(phi_event_name(out->kind));
    return got;
}
