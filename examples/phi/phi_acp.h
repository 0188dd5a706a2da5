/* phi_acp.h - phi acp: the Agent Client Protocol, version 1, over stdin and stdout, for editors.

   Each session is an agent in a directory of its own; all of them share a runtime. Nothing here waits: what a request
   begins goes on in the loop below, while others are read. Other headers have the parts: the messages (wire), sessions
   (session, begin), prompts, calls (call, ask), updates (show), the methods. */
#ifndef PHI_ACP_H
#define PHI_ACP_H

#include "phi_acp_methods.h"

enum { ACP_LOOK_MS = 100, ACP_SHORT_MS = 10, ACP_END_MS = 3000, ACP_FLUSH_MS = 1000 };

/* Takes what the editor has sent. False: nothing more will come. */
static inline bool acp_listen(acp *p) {
    phi_status status = PHI_OK;
    phi_str line, none = PHI_ZERO;
    while (!acp_full(&p->wire) && status != PHI_BUSY && status != PHI_STALE) {
        status = phi_lines_next(p->wire.lines, &line);
        if (status == PHI_OK) acp_take(p, line);
        if (status == PHI_TOO_BIG || status == PHI_NO_MEMORY)
            acp_fail(&p->wire, none, ACP_REQUEST, "this line is too large");
    }
    return status != PHI_STALE;
}

/* Shows what has happened, as long as the editor reads: what is not taken makes the runs wait. */
static inline void acp_events(acp *p) {
    phi_event ev;
    while (!acp_full(&p->wire) && phi_next_event(p->first->rt, &ev)) {
        phi_arena_mark mark = phi_arena_save(&p->wire.arena);
        acp_event(p, &ev);
        phi_arena_reset(&p->wire.arena, mark);
    }
}

static inline void acp_asks(acp *p) {
    phi_arena_mark mark = phi_arena_save(&p->wire.arena);
    acp_ask_all(p);
    phi_arena_reset(&p->wire.arena, mark);
}

static inline void acp_loop(acp *p) {
    bool busy = false;
    do {
        if (acp_full(&p->wire))
            keys_sleep(ACP_SHORT_MS); /* events that wait would end a step at once */
        (void)phi_step(p->first->rt, busy ? ACP_SHORT_MS : ACP_LOOK_MS);
        acp_events(p);
        acp_asks(p);
        busy = acp_step_all(p);
    } while (acp_listen(p) && !keys_signal);
}

/* What runs is cancelled, and its end is sent if somebody reads it. */
static inline void acp_finish(acp *p) {
    uint64_t end = keys_now_ms() + ACP_END_MS;
    acp_session *s;
    bool runs = true;
    int first = keys_signal;
    for (s = p->sessions; s != NULL; s = s->next) acp_cancel(s);
    while (runs && keys_now_ms() < end && keys_signal == first) {
        (void)phi_step(p->first->rt, ACP_SHORT_MS);
        acp_events(p);
        for (s = p->sessions, runs = false; s != NULL; s = s->next)
            runs = runs || s->prompt.len > 0;
    }
    end = keys_now_ms() + ACP_FLUSH_MS;
    while (phi_lines_waiting(p->wire.lines) > 0 && keys_now_ms() < end)
        (void)phi_step(p->first->rt, ACP_SHORT_MS);
}

/* Serves until stdin ends, nobody reads stdout any more, or a signal comes. permissions: gives an app its rules. Returns the
   program's exit code. */
static inline int acp_serve(app *first, int (*permissions)(app *a)) {
    static acp p;
    phi_runtime_desc desc = PHI_ZERO;
    phi_lines_desc lines = PHI_ZERO;
    const char *why = "";
    desc.use_environment = true, desc.ca_file = pick_env("SSL_CERT_FILE");
    desc.features = PHI_ALL_FEATURES;
    desc.error = &why;
    lines.max_queue_bytes = ACP_QUEUE;
    p.first = first;
    p.permissions = permissions;
    if ((first->rt = phi_runtime_new(&desc)) == NULL) return complain(first, why, NULL);
    p.wire.lines = phi_lines_open(first->rt, &lines);
    if (p.wire.lines == NULL) return complain(first, last_error(first), NULL);
    phi_arena_init(&p.wire.arena, &first->memory, 0);
    if (typed_is_terminal(0))
        note(first, STYLE_DIM, "phi acp is for editors: it reads lines of JSON-RPC (man phi)");
    acp_loop(&p);
    acp_finish(&p);
    while (p.sessions != NULL) acp_remove(&p, p.sessions);
    acp_wire_free(&p.wire);
    return keys_signal ? INTERRUPTED : 0;
}

#endif
