/* phi_acp_ask.h - calls that the rules ask about: the editor shows the question, and its answer decides. */
#ifndef PHI_ACP_ASK_H
#define PHI_ACP_ASK_H

#include "phi_acp_call.h"

/* The session whose agent is this one, or one above it; NULL: none. */
static inline acp_session *acp_of(const acp *p, phi_agent agent) {
    phi_agent_desc desc = PHI_ZERO;
    int deep;
    for (deep = 0; deep < 16 && agent.rt != NULL; deep++) {
        acp_session *s = p->sessions;
        while (s != NULL && (s->a.agent.index != agent.index || s->a.agent.gen != agent.gen))
            s = s->next;
        if (s != NULL) return s;
        memset(&desc, 0, sizeof desc);
        if (phi_agent_get_desc(agent, &desc) != PHI_OK) return NULL;
        agent = desc.parent;
    }
    return NULL;
}

/* What "always" would add to the rules that ask. False: there is no such rule. */
static inline bool acp_always(acp_wire *w, const acp_ask *ask, phi_permission_rules *rules) {
    static const phi_permission_scope scopes[] = {PHI_PERMISSION_SCOPE_KIND,
                                                  PHI_PERMISSION_SCOPE_EXACT};
    phi_permission_call call = PHI_ZERO;
    phi_status status = PHI_REJECTED;
    phi_str why;
    int i;
    call.tool_name = text_str(&ask->name);
    call.arguments = text_str(&ask->arguments);
    call.source = text_str(&ask->source);
    for (i = 0; i < 2 && status == PHI_REJECTED && ask->permissions != NULL; i++)
        status = phi_permissions_always(ask->permissions, &call, scopes[i], &w->arena, rules, &why);
    return status == PHI_OK && rules->count > 0;
}

static inline void acp_option(acp_wire *w, phi_json *list, const char *kind, phi_str name) {
    phi_json *option = acp_add(w, list);
    acp_say(w, option, "optionId", kind);
    acp_say(w, option, "kind", kind);
    acp_str(w, option, "name", name);
}

/* All of a call, safe to show, if its title does not have all of it. */
static inline void acp_whole(acp_wire *w, phi_json *call, const acp_ask *ask) {
    phi_str arguments = text_str(&ask->arguments);
    phi_str about = calls_argument(&w->arena, arguments);
    text words = {NULL, 0, 0};
    if (phi_json_get(call, "content") != NULL) return; /* it is shown as a change */
    text_strict(&words, about);
    if (!calls_is_whole(&w->arena, arguments, about)) {
        text_say(&words, "\n");
        text_strict(&words, arguments);
    }
    acp_text(w, acp_in(w, call, "content", true), text_str(&words));
    free(words.at);
}

static inline void acp_ask_send(acp *p, acp_session *s, acp_ask *ask) {
    acp_wire *w = &p->wire;
    phi_json *params = acp_object(w), *call, *list;
    phi_permission_rules rules = PHI_ZERO;
    text name = {NULL, 0, 0};
    size_t i;
    acp_str(w, params, "sessionId", text_str(&s->id));
    call = acp_in(w, params, "toolCall", false);
    acp_str(w, call, "toolCallId", text_str(&ask->call));
    acp_say(w, call, "status", "pending");
    (void)acp_describe(w, s, call, text_str(&ask->name), text_str(&ask->source),
                       text_str(&ask->arguments), ask->nested);
    acp_whole(w, call, ask);
    list = acp_in(w, params, "options", true);
    acp_option(w, list, "allow_once", phi_str_of("Allow once"));
    if (acp_always(w, ask, &rules)) {
        text words = {NULL, 0, 0};
        for (i = 0; i < rules.count; i++) {
            if (i > 0) text_say(&words, "; ");
            calls_rule(&words, &rules.rules[i]);
        }
        text_say(&name, "Always allow: ");
        text_fit(&name, text_str(&words), ACP_TITLE);
        if (words.len <= ACP_TITLE) /* one that cannot be shown is not offered */
            acp_option(w, list, "allow_always", text_str(&name));
        free(words.at);
    }
    acp_option(w, list, "reject_once", phi_str_of("Reject"));
    free(name.at);
    if (!acp_call(w, "session/request_permission", params, &ask->id)) ask->id = 0;
}

static inline bool acp_same(const acp_ask *ask, const phi_pending_item *item) {
    return ask->id != 0 && ask->ticket.gen == item->ticket.gen &&
           ask->ticket.index == item->ticket.index;
}

/* Begins to ask about a call. If an earlier "always" allows it, it runs unasked. */
static inline void acp_ask_begin(acp *p, acp_session *s, const phi_pending_item *item) {
    phi_permission_call call = PHI_ZERO;
    acp_ask *ask = NULL;
    size_t i;
    call.tool_name = item->tool_name;
    call.arguments = item->arguments;
    call.source = item->source;
    for (i = 0; i < ACP_ASKS && (ask == NULL || ask->id != 0); i++) ask = &s->asks[i];
    if (item->permissions != NULL)
        kept_into(&s->a.always, item->permissions, &p->wire.arena); /* a sub-agent's, too */
    if (item->permissions != NULL &&
        phi_permissions_check(item->permissions, &call, NULL) == PHI_PERMISSION_ALLOW) {
        (void)phi_decide(item->ticket, PHI_ALLOW, NULL);
        return;
    }
    if (ask->id != 0) return; /* later */
    ask->ticket = item->ticket;
    ask->permissions = item->permissions;
    acp_keep(&ask->name, item->tool_name);
    acp_keep(&ask->arguments, item->arguments);
    acp_keep(&ask->source, item->source);
    acp_keep(&ask->call, item->tool_call_id);
    ask->nested = *acp_open_find(s, item->tool_call_id) == NULL;
    if (ask->nested)
        acp_call_wanted(&p->wire, s, item->tool_call_id, item->tool_name, item->source,
                        item->arguments, true);
    acp_ask_send(p, s, ask);
    ask->seen = true;
    if (ask->id == 0) (void)phi_decide(item->ticket, PHI_DENY, "The question cannot be shown.");
}

/* Asks about each call that waits and was not asked about. Forgets questions whose call waits no more: their answers count
   for nothing. */
static inline void acp_ask_all(acp *p) {
    enum { WAITS = 256 };
    phi_pending_item items[WAITS];
    size_t n = phi_pending(p->first->rt, items, WAITS), i, k;
    acp_session *s;
    for (s = p->sessions; s != NULL; s = s->next)
        for (k = 0; k < ACP_ASKS; k++) s->asks[k].seen = false;
    for (i = 0; i < n && i < WAITS && !acp_full(&p->wire); i++) {
        const phi_pending_item *item = &items[i];
        if (item->quiet || item->kind != PHI_WAITING_DECISION ||
            item->point != PHI_HOOK_BEFORE_TOOL)
            continue;
        s = acp_of(p, item->agent);
        for (k = 0; s != NULL && k < ACP_ASKS && !acp_same(&s->asks[k], item); k++) {}
        if (s == NULL)
            (void)phi_decide(item->ticket, PHI_DENY, "Nobody is there to allow this call.");
        else if (k < ACP_ASKS)
            s->asks[k].seen = true;
        else
            acp_ask_begin(p, s, item);
    }
    for (s = p->sessions; s != NULL && i >= n; s = s->next)
        for (k = 0; k < ACP_ASKS; k++)
            if (!s->asks[k].seen) s->asks[k].id = 0;
}

/* The editor's answer. One of no question that waits is ignored. */
static inline void acp_answered(acp *p, const acp_message *m) {
    phi_json *outcome = phi_json_get(m->result, "outcome");
    phi_str option = phi_json_str(phi_json_get(outcome, "optionId"), "");
    bool always = phi_str_is(option, "allow_always");
    bool yes = (always || phi_str_is(option, "allow_once")) &&
               phi_str_is(phi_json_str(phi_json_get(outcome, "outcome"), ""), "selected");
    uint64_t id = strtoull(m->id.at, NULL, 10);
    phi_permission_rules rules = PHI_ZERO;
    acp_session *s;
    size_t k;
    for (s = p->sessions; s != NULL && id != 0; s = s->next)
        for (k = 0; k < ACP_ASKS; k++) {
            acp_ask *ask = &s->asks[k];
            if (ask->id != id) continue;
            if (yes && always && acp_always(&p->wire, ask, &rules)) {
                (void)phi_permissions_add(ask->permissions, rules.rules, rules.count);
                (void)kept_add(&s->a.always, &rules, &p->wire.arena);
            }
            (void)phi_decide(ask->ticket, yes ? PHI_ALLOW : PHI_DENY,
                             yes                ? NULL
                             : m->error != NULL ? "The editor cannot ask the user."
                                                : "The user said no.");
            ask->id = 0;
            if (ask->nested) acp_call_ended(&p->wire, s, text_str(&ask->call), NULL, yes);
            (void)phi_step(s->a.rt, 0); /* the decision is seen before the next question */
            return;
        }
}

#endif
