/* own_loop.c - phi inside a loop that is not phi's: epoll, with a timer of the host's own beside it.

   The host sleeps on phi_runtime_fd for as long as phi_next_timeout allows. libuv, GLib and game
   engines work the same; loops that want to watch descriptors themselves give watch_fn. */
#include "pick_model.h"

#include <sys/epoll.h>
#include <unistd.h>

static void show(const phi_event *ev) {
    if (ev->kind == PHI_EV_TEXT) printf("%.*s", PHI_ARG(ev->text));
    if (ev->kind == PHI_EV_ERROR) printf("error: %.*s", PHI_ARG(ev->text));
    if (ev->kind == PHI_EV_AGENT_END) printf("\n");
    fflush(stdout);
}

/* The shorter of the host's own wish and phi's; -1 is for ever. */
static int sooner(int a, int b) { return a < 0 ? b : b < 0 ? a : a < b ? a : b; }

int main(void) {
    const char *why;
    phi_runtime *rt = phi_runtime_new(NULL);
    phi_agent_desc desc = PHI_ZERO;
    phi_event ev;
    struct epoll_event watched, ready;
    int loop = epoll_create1(EPOLL_CLOEXEC), runs, sleeps = 0;
    if (rt == NULL || loop < 0) return 1;
    watched.events = EPOLLIN;
    watched.data.fd = (int)phi_runtime_fd(rt);
    if (epoll_ctl(loop, EPOLL_CTL_ADD, watched.data.fd, &watched) != 0) return 1;
    desc.model = pick_model(&why);
    if (phi_prompt(phi_agent_new(rt, &desc), "Tell me about event loops.") != PHI_OK) {
        printf("error: %s\n", phi_last_error(rt).message);
        return 1;
    }
    do {
        (void)epoll_wait(loop, &ready, 1, sooner(1000, phi_next_timeout(rt)));
        sleeps++;
        runs = phi_step(rt, 0);
        while (phi_next_event(rt, &ev)) show(&ev);
    } while (runs > 0);
    printf("woke %d times\n", sleeps);
    phi_runtime_free(rt);
    (void)close(loop);
    return 0;
}
