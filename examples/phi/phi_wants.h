/* phi_wants.h - what the command line asks of an agent: permissions, thinking and limits. Copy what you need of it. */
#ifndef PHI_WANTS_H
#define PHI_WANTS_H

#include "phi_tools.h"

#include <stdlib.h>
#include <string.h>

enum { WANTS_RULES = 32 };

/* Zero to begin with. */
typedef struct wants {
    struct {
        char tool[64];
        const char *rest; /* a pattern of commands or paths; "": every call of the tool */
    } allow[WANTS_RULES];
    size_t allow_count;
    bool yes, plan, thinks; /* thinks: the level is given */
    phi_thinking thinking;
    uint32_t max_turns; /* 0: not given */
    double max_cost;    /* 0: not given */
} wants;

/* ---- values of options; false: the value is wrong ---- */

static inline bool wants_allow(wants *w, const char *pattern) {
    size_t n = strcspn(pattern, " ");
    if (n == 0 || n >= sizeof w->allow[0].tool || w->allow_count == WANTS_RULES) return false;
    memcpy(w->allow[w->allow_count].tool, pattern, n); /* the rest is zero */
    w->allow[w->allow_count++].rest = pattern + n + strspn(pattern + n, " ");
    return true;
}

static inline bool wants_thinking(wants *w, const char *name) {
    static const char *const names[] = {"off", "minimal", "low", "medium", "high", "xhigh", "max"};
    int i = 0, count = sizeof names / sizeof *names;
    while (i < count && strcmp(name, names[i]) != 0) i++;
    w->thinks = i < count;
    w->thinking = (phi_thinking)(PHI_THINKING_OFF + i);
    return w->thinks;
}

static inline bool wants_turns(wants *w, const char *value) {
    unsigned long n = strtoul(value, NULL, 10);
    if (value[strspn(value, "0123456789")] != '\0' || n == 0 || n > 1000000) return false;
    w->max_turns = (uint32_t)n;
    return true;
}

static inline bool wants_cost(wants *w, const char *value) {
    char *end;
    w->max_cost = strtod(value, &end);
    return value[strspn(value, "0123456789.")] == '\0' && *end == '\0' && w->max_cost > 0 &&
           w->max_cost <= 1e6;
}

/* ---- permissions ---- */

/* Those that allow what --allow names and ask about all else. NULL: none are named, or *error says what is wrong. The
   patterns begin where the tools work. */
static inline phi_permissions *wants_permissions(const wants *w, phi_permissions_desc with,
                                                 phi_parse_error *error) {
    phi_permission_rule rules[WANTS_RULES] = PHI_ZERO;
    phi_permission_rules all = PHI_ZERO;
    size_t i;
    for (i = 0; i < w->allow_count; i++) {
        rules[i].verdict = PHI_PERMISSION_ALLOW;
        rules[i].tool = w->allow[i].tool;
        if (w->allow[i].rest[0] == '\0') continue;
        if (strcmp(rules[i].tool, "bash") == 0)
            rules[i].command = w->allow[i].rest;
        else if (strcmp(rules[i].tool, "read_url") == 0)
            rules[i].host = w->allow[i].rest;
        else
            rules[i].path = w->allow[i].rest;
    }
    if (w->allow_count == 0) return NULL;
    all.rules = rules, all.count = w->allow_count;
    with.rules = &all;
    with.ask_fn = NULL, with.hook_fn = NULL;
    return phi_permissions_new(&with, error);
}

/* What a model is told while it plans. */
static const char wants_planning[] =
    "\n\nYou are planning: only calls that read run, and every other call is refused. Find out "
    "what "
    "is needed, then answer with the steps of a plan. Do not try to carry it out.";

#endif
