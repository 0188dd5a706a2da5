/* A program that uses phi out of a package: it asks a scripted model and prints the answer. */
#include "phi_tools.h"
#include <stdio.h>

int main(void) {
    phi_runtime *rt = phi_runtime_new(NULL);
    phi_mock *mock = phi_mock_new(rt);
    phi_agent_desc desc = PHI_ZERO;
    phi_event ev;
    int runs;
    if (mock == NULL) return 1;
    phi_mock_text(mock, "For ten gold pieces.");
    desc.model = mock->model;
    if (phi_prompt(phi_agent_new(rt, &desc), "Can you mend this sword?") != PHI_OK) {
        fprintf(stderr, "%s\n", phi_last_error(rt).message);
        return 1;
    }
    do {
        runs = phi_step(rt, -1);
        while (phi_next_event(rt, &ev))
            if (ev.kind == PHI_EV_TEXT || ev.kind == PHI_EV_ERROR)
                fwrite(ev.text.at, 1, ev.text.len, stdout);
    } while (runs > 0);
    printf("\n");
    phi_runtime_free(rt);
    return 0;
}
