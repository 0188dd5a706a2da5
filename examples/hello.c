/* hello.c - the smallest whole program: cc -I. examples/hello.c -lcurl -lm */
#define PHI_IMPLEMENTATION
#include "phi.h"

#include "pick_model.h"

int main(void) {
    const char *why;
    phi_event ev;
    phi_runtime *rt = phi_runtime_new(NULL);
    phi_agent_desc desc = PHI_ZERO;
    phi_agent agent;
    int runs = 1;
    desc.model = pick_model(&why);
    desc.system_prompt = "You greet people in one sentence.";
    agent = phi_agent_new(rt, &desc);
    if (phi_prompt(agent, "Hello!") != PHI_OK) return 1;
    while (runs > 0) {
        runs = phi_step(rt, -1);
        while (phi_next_event(rt, &ev)) {
            if (ev.kind == PHI_EV_TEXT) printf("%.*s", PHI_ARG(ev.text));
            if (ev.kind == PHI_EV_AGENT_END && ev.status != PHI_OK) /* a failure, or a limit */
                fprintf(stderr, "%.*s\n", PHI_ARG(ev.text));
        }
    }
    printf("\n");
    phi_runtime_free(rt);
}
