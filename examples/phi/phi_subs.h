/* phi_subs.h - the calls of sub-agents, below the names of those. Copy what you need of it. */
#ifndef PHI_SUBS_H
#define PHI_SUBS_H

#include "phi_rows.h"

enum { SUBS_KEPT = 16 };

/* Zero to begin with. */
typedef struct subs {
    struct {
        char loop[96], name[65];
        bool shown; /* its own events come, too */
    } kept[SUBS_KEPT];
    size_t next;
    char last[65]; /* the tool of the caller that began last */
    int open;      /* its calls that run */
} subs;

/* The place of a sub-agent's run; a new one replaces the oldest. SIZE_MAX: the id is too long. */
static inline size_t subs_find(subs *s, phi_str loop) {
    size_t i;
    for (i = 0; i < SUBS_KEPT; i++)
        if (phi_str_equal(phi_str_of(s->kept[i].loop), loop)) return i;
    if (loop.len >= sizeof s->kept[0].loop) return SIZE_MAX;
    i = s->next++ % SUBS_KEPT;
    memset(&s->kept[i], 0, sizeof s->kept[i]);
    (void)snprintf(s->kept[i].loop, sizeof s->kept[i].loop, "%.*s", PHI_ARG(loop));
    return i;
}

/* Which calls of the caller run: if it is one, that began the sub-agent. */
static inline void subs_own(subs *s, const phi_event *ev) {
    if (ev->kind == PHI_EV_AGENT_START) s->open = 0;
    if (ev->kind == PHI_EV_TOOL_END) s->open--;
    if (ev->kind != PHI_EV_TOOL_START) return;
    s->open++;
    (void)snprintf(s->last, sizeof s->last, "%.*s", PHI_ARG(ev->tool_name));
}

/* Adds the line of a call of a sub-agent that shows no events. STYLE_END: there is none. */
static inline style subs_event(subs *s, const phi_event *ev, phi_agent caller, text *out) {
    static const char begins[] = "[sub-agent calling tool: ";
    bool calls =
        ev->text.len > sizeof begins && memcmp(ev->text.at, begins, sizeof begins - 1) == 0;
    phi_str name = ev->tool_name, tool = ev->text;
    size_t i;
    if (ev->agent.index == caller.index)
        subs_own(s, ev);
    else if (ev->kind == PHI_EV_AGENT_START && (i = subs_find(s, ev->loop_id)) < SUBS_KEPT) {
        s->kept[i].shown = true;
        if (s->open == 1) memcpy(s->kept[i].name, s->last, sizeof s->last);
    }
    if (ev->kind != PHI_EV_TOOL_UPDATE || ev->child_loop_id.len == 0) return STYLE_END;
    i = subs_find(s, ev->child_loop_id);
    if (i >= SUBS_KEPT) return STYLE_END;
    (void)snprintf(s->kept[i].name, sizeof s->kept[i].name, "%.*s", PHI_ARG(name));
    if (!calls || s->kept[i].shown) return STYLE_END;
    tool.at += sizeof begins - 1;
    tool.len -= sizeof begins; /* and the bracket at its end */
    text_say(out, "  ");
    text_fit(out, name, 64);
    text_say(out, ": ");
    text_fit(out, tool, 64);
    return STYLE_DIM;
}

/* Writes the sub-agent's name before the line of its call. */
static inline void subs_name(subs *s, const phi_event *ev, phi_agent caller, text *line) {
    text name = {NULL, 0, 0};
    size_t i = ev->agent.index != caller.index ? subs_find(s, ev->loop_id) : SIZE_MAX;
    if (i >= SUBS_KEPT || line->len == 0) return;
    text_say(&name, "  ");
    text_fit(&name, phi_str_of(s->kept[i].name[0] != '\0' ? s->kept[i].name : "sub-agent"), 64);
    text_say(&name, ": ");
    (void)text_insert(line, 0, name.at, name.len);
    free(name.at);
}

#endif
