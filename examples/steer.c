/* steer.c - talking to an agent while it works.

   A line that is typed steers it: it is seen before the next model call, and tool calls that have not begun
   are skipped. With a "+" in front it is a follow-up: more work for when this is done. "/stop" ends the
   run after the turn that is going on, Ctrl+C at once. What was not delivered waits for the next run.
   usage: steer [directory] [task] */
#include "phi_tools.h"
#include "pick_model.h"
#include "typed.h"

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number) {
    (void)number;
    interrupted = 1;
}

static void show_message(const phi_event *ev) {
    static const char *const from[] = {"phi", "you", "you, while it works", "you, afterwards",
                                       "injected"};
    const phi_message *m = ev->message;
    phi_str text = PHI_ZERO;
    if (m->content_count > 0) text = m->content[0].text;
    if (m->role == PHI_ROLE_USER) printf("\n[%s] %.*s\n", from[ev->input], PHI_ARG(text));
    if (m->role == PHI_ROLE_TOOL_RESULT) printf("[result] %.*s\n", PHI_ARG(text));
}

static void show(const phi_event *ev) {
    switch (ev->kind) {
    case PHI_EV_TEXT: printf("%.*s", PHI_ARG(ev->text)); break;
    case PHI_EV_TOOL_START:
        printf("\n- %.*s %.*s\n", PHI_ARG(ev->tool_name), PHI_ARG(ev->arguments));
        break;
    case PHI_EV_MESSAGE_END: show_message(ev); break;
    case PHI_EV_RETRACT: printf("\n(that was cut off)\n"); break;
    case PHI_EV_RETRY: printf("(%.*s)\n", PHI_ARG(ev->text)); break;
    case PHI_EV_INPUT_DROPPED:
        printf("(not delivered: \"%.*s\": %.*s)\n", PHI_ARG(ev->text), PHI_ARG(ev->source));
        break;
    case PHI_EV_ERROR: printf("\n! %.*s\n", PHI_ARG(ev->text)); break;
    case PHI_EV_AGENT_END: printf("\n[%s]\n", phi_status_text(ev->status)); break;
    default: break;
    }
    fflush(stdout);
}

/* These may be called from any thread: a reader thread would do as well. */
static void say(phi_agent agent, const char *line) {
    phi_status status = PHI_OK;
    if (strcmp(line, "/stop") == 0)
        status = phi_stop(agent);
    else if (line[0] == '+')
        status = phi_follow_up(agent, line + 1);
    else if (line[0] != '\0')
        status = phi_steer(agent, line);
    if (status != PHI_OK) printf("! %s\n", phi_status_text(status));
}

static void work(phi_runtime *rt, phi_agent agent) {
    static typed keys;
    char line[1024];
    phi_event ev;
    int runs;
    do {
        runs = phi_step(rt, 50); /* a game: phi_step(rt, 0), once a frame */
        while (phi_next_event(rt, &ev)) show(&ev);
        while (runs > 0 && typed_line(&keys, line, sizeof line) > 0) say(agent, line);
        if (interrupted) (void)phi_abort(agent);
        interrupted = 0;
    } while (runs > 0);
}

int main(int argc, char **argv) {
    static phi_toolset set;
    phi_tools_desc tools = PHI_ZERO;
    phi_agent_desc desc = PHI_ZERO;
    phi_runtime *rt;
    phi_agent agent;
    phi_agent_info info;
    const char *why = "";
    typed_interrupt(on_interrupt);
    tools.workspace = argc > 1 ? argv[1] : ".";
    (void)phi_tools_init(&set, &tools);
    rt = phi_runtime_new(NULL);
    if (rt == NULL) {
        printf("no runtime: out of memory, or libcurl cannot be used\n");
        return 1;
    }
    desc.model = pick_model(&why);
    desc.system_prompt = "You work in a directory. The user may say more while you work.";
    desc.tools = set.tools;
    desc.tool_count = set.count;
    desc.tool_options.mode = PHI_TOOLS_SEQUENTIAL; /* steering is looked for after each call */
    agent = phi_agent_new(rt, &desc);
    if (phi_prompt(agent, argc > 2 ? argv[2] : "Look around here.") != PHI_OK) {
        printf("! %s\n", phi_last_error(rt).message);
        phi_runtime_free(rt);
        return 1;
    }
    work(rt, agent);
    info = phi_agent_get_info(agent);
    if (info.queued > 0)
        printf("(%u said and not delivered: the next run would begin with it)\n",
               (unsigned)info.queued);
    phi_runtime_free(rt);
    return 0;
}
