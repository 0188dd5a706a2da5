/* own_model.c - a model in the process: no network, the same loop, the same events.

   A game has characters that are worth a language model and some that are not. This one is a few rules, and speaks
   through the same agents, tools and events; a small model on a thread of the game's own would look the same, with
   poll() taking from a queue what the thread has put there.
   usage: own_model [what you say] */
#define PHI_IMPLEMENTATION
#include "phi.h"

#include <stdio.h>
#include <string.h>

/* An answer under way: a text, and how much of it was said. One word a poll. */
typedef struct speech {
    char text[200];
    size_t at;
    bool looks; /* calls the tool instead */
} speech;

static bool holds(phi_str text, const char *word) {
    size_t n = strlen(word), i;
    for (i = 0; i + n <= text.len; i++)
        if (memcmp(text.at + i, word, n) == 0) return true;
    return false;
}

static phi_status guard_open(void *user_data, const phi_model_request *request, void **call) {
    speech *s = (speech *)user_data; /* one agent, so one call at a time */
    const phi_message *last = request->messages[request->message_count - 1];
    phi_str said = last->content_count > 0 ? last->content[0].text : phi_str_of("");
    memset(s, 0, sizeof *s);
    if (last->role == PHI_ROLE_TOOL_RESULT)
        (void)snprintf(s->text, sizeof s->text, "The gate is %.*s. Move along.", PHI_ARG(said));
    else if (holds(said, "gate"))
        s->looks = true;
    else
        (void)snprintf(s->text, sizeof s->text, "Halt! State your business at the gate.");
    *call = s;
    return PHI_OK;
}

static phi_poll guard_poll(void *user_data, void *call, phi_answer *answer) {
    speech *s = (speech *)call;
    phi_str word = phi_str_of(s->text + s->at);
    const char *space = strchr(word.at, ' ');
    (void)user_data;
    if (s->looks) {
        phi_answer_call(answer, phi_str_of(""), phi_str_of("look"));
        return PHI_POLL_DONE;
    }
    if (space != NULL) word.len = (size_t)(space - word.at) + 1;
    s->at += word.len;
    phi_answer_text(answer, word);
    return s->text[s->at] != '\0' ? PHI_POLL_AGAIN : PHI_POLL_DONE;
}

static void guard_close(void *user_data, void *call) {
    (void)user_data;
    (void)call; /* nothing to let go of: the speech is the program's */
}

static phi_flow look(void *user_data, phi_call call, phi_str arguments) {
    (void)user_data, (void)arguments;
    phi_call_reply(call, "shut");
    return PHI_DONE;
}

int main(int argc, char **argv) {
    phi_runtime *rt = phi_runtime_new(NULL);
    phi_provider guard = PHI_ZERO;
    phi_tool tool = PHI_ZERO;
    phi_agent_desc desc = PHI_ZERO;
    phi_event ev;
    speech words;
    int frames = 0;
    if (rt == NULL) return 1;
    guard.protocol = "guard";
    guard.user_data = &words;
    guard.open = guard_open;
    guard.poll = guard_poll;
    guard.close = guard_close;
    tool.name = "look";
    tool.description = "How the gate is";
    tool.start = look;
    desc.model.protocol = "guard";
    desc.model.id = "guard";
    desc.tools = &tool;
    desc.tool_count = 1;
    if (phi_register_provider(rt, &guard) != PHI_OK) return 1;
    if (phi_prompt(phi_agent_new(rt, &desc), argc > 1 ? argv[1] : "Is the gate open?") != PHI_OK)
        return 1;
    for (;;) {
        int runs = phi_step(rt, 0); /* a frame */
        frames++;
        while (phi_next_event(rt, &ev)) {
            if (ev.kind == PHI_EV_TEXT) printf("%.*s", PHI_ARG(ev.text));
            if (ev.kind == PHI_EV_TOOL_START) printf("[%.*s] ", PHI_ARG(ev.tool_name));
        }
        if (runs == 0) break;
    }
    printf("\n%d frames\n", frames);
    phi_runtime_free(rt);
    return 0;
}
