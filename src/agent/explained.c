/* explained.c - explains which messages an agent's policy, or that of the active request, sends: as
   text and in figures. */
#include "agent/agent_in.h"

#include "base/utf8_in.h"
#include "wire/render_in.h"
#include "agent/agent_history.h"

#include <stdio.h>

/* One more line, if the last request left thinking out. */
static phi_status phi__explained_thinking(const phi__agent *agent, phi_arena *arena, phi_str *out) {
    const phi__thinking *thinking = &agent->prior.thinking;
    char line[240];
    int n;
    char *at;
    if (thinking->cause == NULL) return PHI_OK;
    n = snprintf(line, sizeof line,
                 "thinking: the last request left out that of %llu answer%s, from entry %llu on: "
                 "%s\n",
                 (unsigned long long)thinking->dropped, thinking->dropped == 1 ? "" : "s",
                 (unsigned long long)thinking->first, thinking->cause);
    at = phi__arena_bytes(arena, phi__add(out->len, (size_t)n));
    if (at == NULL) return PHI_NO_MEMORY;
    memcpy(at, out->at, out->len);
    memcpy(at + out->len, line, (size_t)n);
    *out = phi__str(at, out->len + (size_t)n);
    return PHI_OK;
}

static phi_status phi__explained_all(const phi__agent *agent, phi_arena *arena, phi_str *out) {
    char words[120];
    (void)snprintf(words, sizeof words, "no policy: all of %llu messages, %llu tokens\n",
                   (unsigned long long)agent->thread->fold.count,
                   (unsigned long long)phi__projection_view_tokens(agent));
    return phi__arena_str(arena, phi_str_of(words), out) ? PHI_OK : PHI_NO_MEMORY;
}

/* The opaque blocks of a message that the agent's protocol does not take, and one of them. */
static size_t phi__explained_foreign(const phi__agent *agent, const phi_message *m,
                                     const phi_content **one) {
    size_t i, n = 0;
    for (i = 0; m != NULL && i < m->content_count; i++) {
        const phi_content *c = &m->content[i];
        if (c->kind != PHI_CONTENT_OPAQUE || phi__render_is_opaque(agent->codec, c)) continue;
        if (n++ == 0) *one = c;
    }
    return n;
}

/* A line for each message with opaque blocks that are not sent. A host's own model gets them all.
   False: no memory. */
static bool phi__explained_opaque(const phi__agent *agent, phi_arena *arena, phi_str *out) {
    const phi__fold *fold = &agent->thread->fold;
    phi__buf text;
    size_t i;
    bool done;
    if (agent->codec == NULL) return true;
    phi__buf_init(&text, arena->memory);
    for (i = 0; i < fold->count; i++) {
        const phi_content *one = NULL;
        size_t n = phi__explained_foreign(agent, fold->items[i].message, &one);
        if (n == 0) continue;
        if (text.len == 0) phi__buf_add_str(&text, *out);
        phi__buf_printf(&text, "%llu, %llu opaque block%s (%.*s of %.*s): left out: ",
                        (unsigned long long)fold->items[i].from, (unsigned long long)n,
                        n == 1 ? "" : "s", (int)phi__utf8_cut(one->name, 80), one->name.at,
                        (int)phi__utf8_cut(one->protocol, 80), one->protocol.at);
        phi__buf_text(&text, one->incomplete ? "cut off\n" : "another protocol\n");
    }
    done = !text.failed && (text.len == 0 || phi__arena_str(arena, phi__buf_str(&text), out));
    phi__buf_free(&text);
    return done;
}

/* ---- public ---- */

PHI_API phi_status phi_agent_explain(phi_agent handle, phi_arena *arena, phi_str *out) {
    phi__agent *agent = phi__find_agent(handle);
    phi__project_order order;
    phi_str text;
    phi_status status;
    if (handle.rt == NULL || arena == NULL || out == NULL) return PHI_BAD_ARG;
    if (agent == NULL) return PHI_STALE;
    status = phi__projection_order_of(agent, &order) ? phi__explain(&order, arena, &text)
                                                     : phi__explained_all(agent, arena, &text);
    if (status == PHI_OK) status = phi__explained_thinking(agent, arena, &text);
    if (status != PHI_OK) return status;
    if (!phi__explained_opaque(agent, arena, &text)) return PHI_NO_MEMORY;
    *out = text;
    return PHI_OK;
}
