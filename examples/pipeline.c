/* pipeline.c - agents as parts of a program: a fan-out, a pipeline, and a supervisor.

   Three critics read a text at once (the fan-out); an editor rewrites it with what they said, and a translator
   takes over from the editor (the pipeline); a supervisor reads the result and sends it back to the editor with a
   reason, at most twice. Who does what is decided here, in plain C: no model chooses the next step.
   All agents are below one chief, whose budget pays for everything, and whose phi_abort would end everything.
   usage: pipeline [text] */
#include "phi.h"
#include "pick_model.h"

#include <string.h>

enum { CRITICS = 3, TEXT = 8000, TRIES = 2 };

typedef struct office {
    phi_runtime *rt;
    phi_agent chief, critics[CRITICS], editor, translator, supervisor;
    char text[TEXT], draft[TEXT], prompt[3 * TEXT];
} office;

static phi_agent hire(office *o, const char *system_prompt) {
    phi_agent_desc desc = PHI_ZERO;
    const char *why;
    desc.model = pick_model(&why);
    desc.system_prompt = system_prompt;
    desc.max_tokens = 1000;
    desc.parent = o->chief;
    return phi_agent_new(o->rt, &desc);
}

static void open_office(office *o) {
    static const char *const views[CRITICS] = {
        "You check facts. Name what is wrong in the text, in two sentences at most.",
        "You check style. Name what reads badly, in two sentences at most.",
        "You are the reader. Say what you did not understand, in two sentences at most."};
    phi_agent_desc desc = PHI_ZERO;
    const char *why;
    int i;
    desc.model = pick_model(&why); /* it makes no call of its own */
    desc.budget.max_requests = 20;
    o->chief = phi_agent_new(o->rt, &desc);
    for (i = 0; i < CRITICS; i++) o->critics[i] = hire(o, views[i]);
    o->editor = hire(o, "You are an editor. Reply with the new text and nothing else.");
    o->translator = hire(o, "Translate into French. Reply with the translation alone.");
    o->supervisor = hire(o, "Reply OK if the text is fit to print, else with one reason.");
}

/* ---- asking ---- */

/* Until these have answered. A host that draws frames would look in each frame instead. */
static void wait_for(office *o, const phi_response *responses, int count) {
    phi_event ev;
    int i = 0;
    while (i < count) {
        if (phi_response_get(responses[i]).done) {
            i++;
            continue;
        }
        (void)phi_step(o->rt, 100);
        while (phi_next_event(o->rt, &ev))
            if (ev.kind == PHI_EV_ERROR) printf("! %.*s\n", PHI_ARG(ev.text));
    }
}

/* The answer into `out`; false: there is none. */
static bool take(phi_response response, char *out, size_t size) {
    phi_response_info info = phi_response_get(response);
    if (info.state != PHI_RESPONSE_COMPLETED) return false;
    (void)snprintf(out, size, "%.*s", (int)info.text.len, info.text.len > 0 ? info.text.at : "");
    return true;
}

static bool begin(phi_agent who, const char *prompt, phi_response *response) {
    phi_prompt_desc desc = PHI_ZERO;
    desc.text = prompt;
    return phi_prompt_with(who, &desc, response) == PHI_OK;
}

static bool ask(office *o, phi_agent who, const char *prompt, char *out, size_t size) {
    phi_response response;
    if (!begin(who, prompt, &response)) return false;
    wait_for(o, &response, 1);
    return take(response, out, size);
}

/* ---- the work ---- */

/* All critics at once; who fails says nothing. */
static bool fan_out(office *o) {
    phi_response responses[CRITICS];
    char said[TEXT];
    size_t at;
    int i;
    for (i = 0; i < CRITICS; i++)
        if (!begin(o->critics[i], o->text, &responses[i])) return false;
    wait_for(o, responses, CRITICS);
    at = (size_t)snprintf(o->prompt, sizeof o->prompt, "Text:\n%s\n\nCritics:\n", o->text);
    for (i = 0; i < CRITICS; i++) {
        if (!take(responses[i], said, sizeof said)) continue;
        printf("critic %d: %s\n", i + 1, said);
        if (at < sizeof o->prompt)
            at += (size_t)snprintf(o->prompt + at, sizeof o->prompt - at, "- %s\n", said);
    }
    return true;
}

/* The editor keeps its history: it knows its earlier drafts when the supervisor sends one back. */
static bool pipeline(office *o, char *french, size_t size) {
    if (!ask(o, o->editor, o->prompt, o->draft, sizeof o->draft)) return false;
    printf("editor: %s\n", o->draft);
    return ask(o, o->translator, o->draft, french, size);
}

static bool supervise(office *o, char *french, size_t size) {
    char verdict[TEXT];
    int tries;
    for (tries = 0; pipeline(o, french, size); tries++) {
        if (!ask(o, o->supervisor, o->draft, verdict, sizeof verdict)) return false;
        printf("supervisor: %s\n", verdict);
        if (strncmp(verdict, "OK", 2) == 0 || tries == TRIES) return true;
        (void)snprintf(o->prompt, sizeof o->prompt, "Not yet: %s", verdict);
    }
    return false;
}

int main(int argc, char **argv) {
    static office o;
    static char french[TEXT];
    int code = 0;
    o.rt = phi_runtime_new(NULL);
    if (o.rt == NULL) {
        printf("no runtime: out of memory, or libcurl cannot be used\n");
        return 1;
    }
    (void)snprintf(o.text, sizeof o.text, "%s",
                   argc > 1 ? argv[1] : "The moon are a planet which shines at night by itself.");
    open_office(&o);
    if (fan_out(&o) && supervise(&o, french, sizeof french))
        printf("in French: %s\n%u calls\n", french,
               (unsigned)phi_agent_get_info(o.chief).spending.requests);
    else {
        printf("! it was not finished. %s\n", phi_last_error(o.rt).message);
        code = 1;
    }
    phi_runtime_free(o.rt);
    return code;
}
