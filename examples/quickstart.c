/* quickstart.c - the main job: a model looks at a directory with two tools and tells what is in it.

   usage: quickstart [directory] [question] */
#include "phi_tools.h"
#include "pick_model.h"

#include <string.h>

static void say(const char *label, phi_str text, size_t most) {
    size_t n = text.len < most ? text.len : most;
    printf("%s%.*s%s\n", label, (int)n, n > 0 ? text.at : "", n < text.len ? " ..." : "");
}

/* The first line of a tool's result. */
static phi_str first_line(const phi_message *result) {
    phi_str text = PHI_ZERO;
    const char *end;
    if (result != NULL && result->content_count > 0) text = result->content[0].text;
    end = text.len > 0 ? (const char *)memchr(text.at, '\n', text.len) : NULL;
    if (end != NULL) text.len = (size_t)(end - text.at);
    return text;
}

/* Shows an event as a person would want to see it; 1 when the run failed. */
static int show(const phi_event *ev) {
    switch (ev->kind) {
    case PHI_EV_AGENT_START: say("run      ", ev->loop_id, 100); break;
    case PHI_EV_TEXT:
        if (ev->text.len == ev->partial.len) printf("model    ");
        printf("%.*s", PHI_ARG(ev->text));
        fflush(stdout);
        break;
    case PHI_EV_MESSAGE_END:
        if (ev->message->role == PHI_ROLE_USER) say("you      ", first_line(ev->message), 200);
        if (ev->message->role == PHI_ROLE_ASSISTANT) printf("\n");
        break;
    case PHI_EV_TOOL_START:
        printf("tool     %.*s ", PHI_ARG(ev->tool_name));
        say("", ev->arguments, 100);
        break;
    case PHI_EV_TOOL_END:
        say(ev->is_error ? "error    " : "result   ", first_line(ev->message), 100);
        break;
    case PHI_EV_RETRACT: printf(" ... cut off\n"); break;
    case PHI_EV_RETRY: say("retry    ", ev->text, 500); break;
    case PHI_EV_ERROR: say("failed   ", ev->text, 500); break;
    case PHI_EV_AGENT_END:
        if (ev->usage != NULL)
            printf("end      %s; %u messages, %u tokens in, %u out\n", phi_status_text(ev->status),
                   (unsigned)ev->message_count, (unsigned)ev->usage->input,
                   (unsigned)ev->usage->output);
        return ev->status != PHI_OK;
    default: break;
    }
    return 0;
}

int main(int argc, char **argv) {
    static phi_toolset set;
    phi_tools_desc tools = PHI_ZERO;
    phi_agent_desc desc = PHI_ZERO;
    phi_runtime *rt;
    phi_agent agent;
    phi_event ev;
    const char *why = "";
    int failed = 0, runs = 1;
    tools.workspace = argc > 1 ? argv[1] : ".";
    (void)phi_tools_init(&set, &tools);
    rt = phi_runtime_new(NULL);
    if (rt == NULL) {
        printf("no runtime: out of memory, or libcurl cannot be used\n");
        return 1;
    }
    desc.model = pick_model(&why);
    printf("model    %s at %s (%s)\n", desc.model.id, desc.model.base_url, why);
    desc.system_prompt = "You answer questions about a directory. Look before you answer.";
    desc.tools = set.tools;
    desc.tool_count = set.count;
    agent = phi_agent_new(rt, &desc);
    if (phi_prompt(agent, argc > 2 ? argv[2] : "What is in this directory?") != PHI_OK) {
        printf("failed   %s\n", phi_last_error(rt).message);
        failed = 1;
        runs = 0;
    }
    while (runs > 0) {
        runs = phi_step(rt, -1);
        while (phi_next_event(rt, &ev)) failed |= show(&ev);
    }
    phi_runtime_free(rt);
    return failed;
}
