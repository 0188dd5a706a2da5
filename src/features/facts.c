/* facts.c - world facts: the facts that an agent knows, the message that shows them, and those that
   its snapshot has. */
#include "features/facts_in.h"

#include "loop/loop_in.h"
#include "text/records_in.h"

#ifndef PHI_NO_FACTS

PHI__FN phi__facts_own *phi__facts_of(const phi__agent *agent) {
    return (phi__facts_own *)phi__feature_agent_state(agent, phi__facts_feature);
}

PHI__FN void phi__facts_free(phi_runtime *rt) {
    if (rt->facts == NULL) return;
    phi__fact_groups_clear(rt->facts, &rt->memory);
    phi__free(&rt->memory, rt->facts, sizeof *rt->facts);
    rt->facts = NULL;
}

/* ---- what an agent knows ---- */

/* The agent whose facts it knows: of a hidden one, and of one in its parent's place, that above. */
static phi__agent *phi__facts_shown_owner(phi__agent *agent) {
    while ((phi__find_hidden(agent) || agent->tree.in_place) && agent->tree.parent != NULL)
        agent = agent->tree.parent;
    return agent;
}

/* Puts the facts of a scope into a list that is sorted by key; one of the same key goes, for the
   narrower scope comes later. */
static void phi__facts_shown_merge(phi_fact *list, size_t *count, const phi__fact_list *scope,
                                   phi_str group, bool own) {
    size_t i, k, at = 0;
    for (i = 0; i < scope->count; i++) {
        int order = 1;
        while (at < *count && (order = phi__fact_list_compare(list[at].key, scope->at[i].key)) < 0)
            at++;
        if (at == *count || order != 0) {
            for (k = (*count)++; k > at; k--) list[k] = list[k - 1];
        }
        list[at].group = group;
        list[at].own = own;
        list[at].key = scope->at[i].key;
        list[at].value = scope->at[i].value;
        list[at].version = scope->at[i].version;
        at++;
    }
}

PHI__FN bool phi__facts_known(phi__agent *agent, phi_arena *arena, const phi_fact **out,
                              size_t *count) {
    const phi__agent *owner = phi__facts_shown_owner(agent);
    const phi__facts *facts = owner->rt->facts;
    const phi__facts_own *own = phi__facts_of(owner);
    size_t most = own->list.count + (facts != NULL ? facts->all.count : 0), i, at;
    phi_fact *list;
    bool found;
    for (i = 0; i < own->count; i++) {
        at = phi__fact_groups_find(facts, own->groups[i], &found);
        if (found) most += facts->groups[at].list.count;
    }
    *count = 0;
    *out = list = (phi_fact *)phi_arena_alloc(arena, phi__max(most, 1) * sizeof *list);
    if (list == NULL) return false;
    if (facts != NULL) phi__facts_shown_merge(list, count, &facts->all, phi__str("", 0), false);
    for (i = 0; i < own->count; i++) {
        at = phi__fact_groups_find(facts, own->groups[i], &found);
        if (found)
            phi__facts_shown_merge(list, count, &facts->groups[at].list, facts->groups[at].name,
                                   false);
    }
    phi__facts_shown_merge(list, count, &own->list, phi__str("", 0), true);
    return true;
}

/* ---- as text ---- */

static size_t phi__facts_shown_cost(const phi_fact *fact) {
    size_t bytes = fact->key.len + fact->value.len + 3, i;
    for (i = 0; i < fact->value.len; i++)
        if (fact->value.at[i] == '\n' || fact->value.at[i] == '\r') bytes += 2;
    return bytes;
}

/* 0: of all; 1: of a group; 2: its own. */
static int phi__facts_shown_breadth(const phi_fact *fact) {
    return fact->own ? 2 : fact->group.len > 0 ? 1 : 0;
}

/* A line break in a value is followed by blanks: only a key begins a line. */
static void phi__facts_shown_line(phi__buf *out, const phi_fact *fact) {
    size_t i;
    phi__buf_char(out, '\n');
    phi__buf_add_str(out, fact->key);
    phi__buf_text(out, ": ");
    for (i = 0; i < fact->value.len; i++) {
        char c = fact->value.at[i];
        if (c == '\r' && i + 1 < fact->value.len && fact->value.at[i + 1] == '\n') continue;
        phi__buf_char(out, c == '\r' ? '\n' : c);
        if (c == '\n' || c == '\r') phi__buf_text(out, "  ");
    }
}

/* Whether each fact is shown, in `shown`: the own ones first, then those of groups, then those of
   all, in the order of their keys, as far as there is room. How many are not. */
static size_t phi__facts_shown_choose(const phi_fact *list, size_t count, uint8_t *shown) {
    size_t room = PHI_FACT_SHOWN_BYTES, left = count, i;
    int breadth;
    for (breadth = 2; breadth >= 0; breadth--)
        for (i = 0; i < count; i++) {
            size_t cost = phi__facts_shown_cost(&list[i]);
            if (phi__facts_shown_breadth(&list[i]) != breadth || cost > room) continue;
            shown[i] = 1;
            room -= cost;
            left--;
        }
    return left;
}

/* Most programs have no facts: their requests take no memory for them. */
static bool phi__facts_none(phi__agent *agent) {
    const phi__agent *owner = phi__facts_shown_owner(agent);
    const phi__facts *facts = owner->rt->facts;
    const phi__facts_own *own = phi__facts_of(owner);
    return own->list.count == 0 &&
           (facts == NULL || (facts->all.count == 0 && (facts->count == 0 || own->count == 0)));
}

/* Empty: there are none. False: no memory. */
static bool phi__facts_shown_text(phi__agent *agent, phi_arena *arena, phi_str *out) {
    const phi_fact *list;
    size_t count, left, i;
    uint8_t *shown;
    phi__buf text;
    bool done;
    *out = phi__str("", 0);
    if (!phi__facts_known(agent, arena, &list, &count)) return false;
    if (count == 0) return true;
    shown = (uint8_t *)phi__arena_zero(arena, count);
    if (shown == NULL) return false;
    left = phi__facts_shown_choose(list, count, shown);
    phi__buf_init(&text, &agent->memory);
    phi__buf_text(&text, "[What you know now]");
    for (i = 0; i < count; i++)
        if (shown[i] != 0) phi__facts_shown_line(&text, &list[i]);
    if (left > 0) {
        phi__buf_text(&text, "\n[");
        phi__buf_u64(&text, left);
        phi__buf_text(&text, " more are left out]");
    }
    done = !text.failed && phi__arena_str(arena, phi__buf_str(&text), out);
    phi__buf_free(&text);
    return done;
}

/* ---- the request ---- */

static bool phi__facts_show(phi__run *run) {
    phi_content content;
    phi_message message;
    if (run->agent->desc.disable_facts || phi__facts_none(run->agent)) return true;
    memset(&content, 0, sizeof content);
    memset(&message, 0, sizeof message);
    if (!phi__facts_shown_text(run->agent, &run->arena, &content.text)) return false;
    if (content.text.len == 0) return true;
    content.kind = PHI_CONTENT_TEXT;
    message.role = PHI_ROLE_USER;
    message.content = &content;
    message.content_count = 1;
    return phi__model_call_append(run, &message);
}

/* ---- snapshots ---- */

static void phi__facts_save_own(phi__buf *out, const phi__facts_own *own) {
    size_t i;
    if (own->list.count == 0 && own->count == 0) return;
    phi__records_raw(out, "facts", "{");
    phi__json_write_key(out, PHI__LIT("own"));
    phi__fact_list_put(out, &own->list);
    phi__records_raw(out, "groups", "[");
    for (i = 0; i < own->count; i++) {
        phi__json_write_comma(out);
        phi__json_write_str(out, own->groups[i]);
    }
    phi__buf_text(out, "]}");
}

static phi_status phi__facts_load_own(phi__agent *agent, phi__facts_own *own,
                                      const phi_json *node) {
    phi_json_iter it = phi_json_each(phi_json_get(node, "groups"));
    phi_status status = phi__fact_list_get(&own->list, &agent->memory, phi_json_get(node, "own"));
    const phi_json *group;
    while (status == PHI_OK && (group = phi_json_next(&it)) != NULL) {
        phi_str name = phi_json_str(group, "");
        status = phi__fact_list_key_fits(name) ? phi__fact_groups_enter(own, &agent->memory, name)
                                               : PHI_PARSE;
    }
    if (own->list.count > 0) phi__feature_join_all(agent->rt, phi__facts_feature);
    return status == PHI_OK || status == PHI_NO_MEMORY ? status : PHI_PARSE;
}

/* ---- the feature ---- */

static phi__state phi__facts_take(phi__moment *moment) {
    phi__facts_own *own = (phi__facts_own *)moment->agent_state;
    bool done = true;
    switch (moment->point) {
    case PHI__POINT_REQUEST: done = phi__facts_show(moment->run); break;
    case PHI__POINT_AGENT_FREED: phi__fact_groups_forget(own, &moment->agent->memory); break;
    case PHI__POINT_AGENT_SAVE: phi__facts_save_own(moment->out, own); break;
    case PHI__POINT_AGENT_LOAD:
        moment->status =
            phi__facts_load_own(moment->agent, own, phi_json_get(moment->json, "facts"));
        break;
    default: break;
    }
    return done ? PHI__RUN_ON : PHI__RUN_LOST;
}

PHI__FN const phi__feature *phi__facts_feature(void) {
    static const phi__feature feature = {
        PHI__POINT_REQUEST | PHI__POINT_AGENT_FREED | PHI__POINT_AGENT_SAVE | PHI__POINT_AGENT_LOAD,
        0, sizeof(phi__facts_own), phi__facts_take, phi__feature_late};
    return &feature;
}

#else

PHI__FN void phi__facts_free(phi_runtime *rt) { (void)rt; }

#endif
