/* repl.c - a chat in a terminal, with tools: /quit, /clear, /model ID; Ctrl+C stops the answer and not
   the program (twice at the prompt: the program).

   usage: repl [directory] */
#include "phi_tools.h"
#include "pick_model.h"
#include "typed.h"

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number) {
    (void)number;
    interrupted = 1;
}

typedef struct repl {
    phi_runtime *rt;
    phi_agent agent;
    phi_agent_desc desc;
    char model_id[128];
} repl;

static void complain(const repl *r) { printf("! %s\n", phi_last_error(r->rt).message); }

static void show(const phi_event *ev) {
    switch (ev->kind) {
    case PHI_EV_TEXT: printf("%.*s", PHI_ARG(ev->text)); break;
    case PHI_EV_THINKING: printf("\033[2m%.*s\033[0m", PHI_ARG(ev->text)); break;
    case PHI_EV_TOOL_START:
        printf("\n- %.*s %.*s\n", PHI_ARG(ev->tool_name), PHI_ARG(ev->arguments));
        break;
    case PHI_EV_TOOL_UPDATE: printf("%.*s", PHI_ARG(ev->text)); break;
    case PHI_EV_RETRACT: printf("\n(that was cut off)\n"); break;
    case PHI_EV_RETRY: printf("(%.*s)\n", PHI_ARG(ev->text)); break;
    case PHI_EV_ERROR: printf("\n! %.*s\n", PHI_ARG(ev->text)); break;
    case PHI_EV_AGENT_END:
        printf(ev->status == PHI_CANCELLED ? "\n(stopped)\n" : "\n");
        if (ev->status == PHI_LIMIT) printf("(%s)\n", phi_status_text(ev->status));
        break;
    default: break;
    }
    fflush(stdout);
}

/* Streams one answer; Ctrl+C aborts the run. */
static void answer(repl *r, const char *text) {
    phi_event ev;
    if (phi_prompt(r->agent, text) != PHI_OK) {
        complain(r);
        return;
    }
    for (;;) {
        int runs = phi_step(r->rt, 100);
        while (phi_next_event(r->rt, &ev)) show(&ev);
        if (interrupted) (void)phi_abort(r->agent);
        interrupted = 0;
        if (runs == 0) return;
    }
}

static void command(repl *r, const char *line) {
    phi_usage usage = phi_agent_get_info(r->agent).usage;
    if (strcmp(line, "/clear") == 0) {
        if (phi_agent_reset(r->agent) != PHI_OK) complain(r);
        printf("(forgotten)\n");
    } else if (strncmp(line, "/model ", 7) == 0 && strlen(line + 7) < sizeof r->model_id) {
        memcpy(r->model_id, line + 7, strlen(line + 7) + 1);
        r->desc.model.id = r->model_id;
        r->desc.model.name = NULL;
        if (phi_agent_set(r->agent, &r->desc, PHI_SET_MODEL) != PHI_OK) complain(r);
        printf("(%s)\n", r->model_id);
    } else if (strcmp(line, "/model") == 0) {
        phi_str id = phi_agent_get_info(r->agent).model_id;
        printf("(%.*s; %u tokens in, %u out)\n", PHI_ARG(id), (unsigned)usage.input,
               (unsigned)usage.output);
    } else {
        printf("commands: /quit /clear /model [ID]\n");
    }
}

/* False: Ctrl+C. Looks now and then: a signal just before a wait without end would be lost. */
static bool key_waits(void) {
    while (!interrupted)
        if (typed_waits(100)) return true;
    return false;
}

/* One line without its end; 0 at the end of the input, -1 when interrupted. */
static int read_line(char *out, size_t size) {
    size_t n = 0;
    while (n + 1 < size) {
        ptrdiff_t got = key_waits() ? typed_read(out + n, 1) : -1;
        if (got < 0) return -1;
        if (got == 0 && n == 0) return 0;
        if (got == 0 || out[n] == '\n') break;
        n++;
    }
    out[n] = '\0';
    return 1;
}

static void chat(repl *r) {
    char line[8192];
    for (;;) {
        int got;
        printf("> ");
        fflush(stdout);
        got = read_line(line, sizeof line);
        if (got == 0 || (got < 0 && interrupted && line[0] == '\003')) return;
        if (got < 0) { /* Ctrl+C at the prompt: the next one in a row quits */
            printf("\n(Ctrl+C again or /quit to leave)\n");
            interrupted = 0;
            line[0] = '\003';
            continue;
        }
        if (strcmp(line, "/quit") == 0) return;
        if (line[0] == '/')
            command(r, line);
        else if (line[0] != '\0')
            answer(r, line);
    }
}

int main(int argc, char **argv) {
    static phi_toolset set;
    static repl r;
    phi_tools_desc tools = PHI_ZERO;
    const char *why = "";
    typed_interrupt(on_interrupt);
    tools.workspace = argc > 1 ? argv[1] : ".";
    (void)phi_tools_init(&set, &tools);
    r.rt = phi_runtime_new(NULL);
    if (r.rt == NULL) {
        printf("! no runtime: out of memory, or libcurl cannot be used\n");
        return 1;
    }
    r.desc.model = pick_model(&why);
    r.desc.system_prompt = "You are a helpful assistant in a terminal. Be brief.";
    r.desc.tools = set.tools;
    r.desc.tool_count = set.count;
    r.agent = phi_agent_new(r.rt, &r.desc);
    if (r.agent.rt == NULL) complain(&r);
    printf("%s at %s (%s); /quit /clear /model, Ctrl+C stops an answer\n", r.desc.model.id,
           r.desc.model.base_url, why);
    if (r.agent.rt != NULL) chat(&r);
    phi_runtime_free(r.rt);
    return 0;
}
