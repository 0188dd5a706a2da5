/* fact_scopes.c - sets, reads and lists the facts of a scope, and writes those of all agents and of
   groups as text. */
#include "features/facts_in.h"

#include "loop/loop_in.h"
#include "text/records_in.h"

/* ---- scopes ---- */

/* The list of a scope, and its memory. *list NULL: it has no facts; make: it is made, where the
   scope can have some. */
static phi_status phi__fact_scopes_find(const phi_fact_scope *scope, bool make,
                                        phi__fact_list **list, phi_memory **memory) {
    phi_runtime *rt = scope->rt;
    phi__agent *agent;
    phi_status status = PHI_OK;
    size_t at;
    bool found;
    *list = NULL;
    if (rt == NULL) return PHI_BAD_ARG;
    if (phi__facts_need(rt) != PHI_OK) return PHI_UNSUPPORTED;
    *memory = &rt->memory;
    if (scope->agent.rt != NULL) {
        agent = phi__find_agent(scope->agent);
        if (agent == NULL) return PHI_STALE;
        *memory = &agent->memory;
        *list = &phi__facts_of(agent)->list;
        return PHI_OK;
    }
    if (scope->group != NULL && !phi__fact_list_key_fits(phi_str_of(scope->group)))
        return phi__error(rt, PHI_BAD_ARG, "phi_fact: no name for a group");
    if (rt->facts == NULL && make)
        rt->facts = (phi__facts *)phi__alloc(&rt->memory, sizeof *rt->facts);
    if (rt->facts == NULL) return make ? PHI_NO_MEMORY : PHI_OK;
    if (scope->group == NULL) {
        *list = &rt->facts->all;
        return PHI_OK;
    }
    at = phi__fact_groups_find(rt->facts, phi_str_of(scope->group), &found);
    if (!found && make)
        at = phi__fact_groups_make(rt->facts, &rt->memory, phi_str_of(scope->group), &status);
    if (status == PHI_OK && (found || make)) *list = &rt->facts->groups[at].list;
    return status;
}

static void phi__fact_scopes_tidy(const phi_fact_scope *scope) {
    bool found;
    size_t at;
    if (scope->agent.rt != NULL || scope->group == NULL || scope->rt->facts == NULL) return;
    at = phi__fact_groups_find(scope->rt->facts, phi_str_of(scope->group), &found);
    if (found) phi__fact_groups_tidy(scope->rt->facts, &scope->rt->memory, at);
}

static phi_fact phi__fact_scopes_shape(const phi_fact_scope *scope, const phi__fact *fact) {
    phi_fact out;
    memset(&out, 0, sizeof out);
    out.own = scope->agent.rt != NULL;
    if (!out.own) out.group = phi_str_of(scope->group);
    out.key = fact->key;
    out.value = fact->value;
    out.version = fact->version;
    return out;
}

/* ---- as text ---- */

static phi_status phi__fact_scopes_read(phi__facts *facts, phi_memory *memory,
                                        const phi_json *root) {
    phi_json_iter it = phi_json_each(phi_json_get(root, "groups"));
    const phi_json *group;
    phi_status status = phi_json_is(root, PHI_JSON_OBJECT) ? PHI_OK : PHI_PARSE;
    size_t at;
    if (status == PHI_OK)
        status = phi__fact_list_get(&facts->all, memory, phi_json_get(root, "all"));
    while (status == PHI_OK && (group = phi_json_next(&it)) != NULL) {
        if (!phi__fact_list_key_fits(it.key)) return PHI_PARSE;
        at = phi__fact_groups_make(facts, memory, it.key, &status);
        if (status == PHI_OK) status = phi__fact_list_get(&facts->groups[at].list, memory, group);
        if (status == PHI_OK) phi__fact_groups_tidy(facts, memory, at);
    }
    return status;
}

/* ---- public ---- */

PHI_API phi_fact_scope phi_fact_all(phi_runtime *rt) {
    phi_fact_scope scope;
    memset(&scope, 0, sizeof scope);
    scope.rt = rt;
    return scope;
}

PHI_API phi_fact_scope phi_fact_group(phi_runtime *rt, const char *name) {
    phi_fact_scope scope = phi_fact_all(rt);
    scope.group = name != NULL ? name : ""; /* no name: refused, not all */
    return scope;
}

PHI_API phi_fact_scope phi_fact_agent(phi_agent agent) {
    phi_fact_scope scope = phi_fact_all(agent.rt);
    scope.agent = agent;
    return scope;
}

static phi_status phi__fact_scopes_unset(phi_fact_scope scope, const char *key) {
    phi__fact_list *list;
    phi_memory *memory;
    phi_status status = phi__fact_scopes_find(&scope, false, &list, &memory);
    bool found = false;
    size_t at = 0;
    if (status != PHI_OK) return status;
    if (list != NULL) at = phi__fact_list_find(list, phi_str_of(key), &found);
    if (!found) return PHI_NOT_FOUND;
    phi__fact_list_unset(list, memory, at);
    phi__fact_scopes_tidy(&scope);
    return PHI_OK;
}

PHI_API phi_status phi_fact_set(phi_fact_scope scope, const char *key, phi_str value,
                                uint64_t *version) {
    phi_str name = phi_str_of(key);
    phi__fact_list *list;
    phi_memory *memory;
    phi_status status;
    bool found;
    if (scope.rt == NULL || (value.at == NULL && value.len > 0)) return PHI_BAD_ARG;
    if (value.at == NULL) return phi__fact_scopes_unset(scope, key);
    if (!phi__fact_list_key_fits(name))
        return phi__error(scope.rt, PHI_BAD_ARG,
                          "phi_fact_set: key: expected 1 to %u bytes of UTF-8 without control "
                          "characters",
                          (unsigned)PHI_FACT_KEY_BYTES);
    if (!phi__fact_list_value_fits(value))
        return phi__error(scope.rt, PHI_BAD_ARG,
                          "phi_fact_set: value of \"%s\": expected at most %u bytes of UTF-8", key,
                          (unsigned)PHI_FACT_VALUE_BYTES);
    status = phi__fact_scopes_find(&scope, true, &list, &memory);
    if (status == PHI_OK) status = phi__fact_list_set(list, memory, name, value, 0);
    if (status == PHI_OK && version != NULL)
        *version = list->at[phi__fact_list_find(list, name, &found)].version;
    phi__fact_scopes_tidy(&scope);
    if (status == PHI_OK) phi__feature_join_all(scope.rt, phi_feature_facts);
    return status == PHI_FULL
               ? phi__error(scope.rt, status, "phi_fact_set: \"%s\": the scope is full", key)
               : status;
}

PHI_API phi_status phi_fact_get(phi_fact_scope scope, const char *key, phi_fact *out) {
    phi__fact_list *list;
    phi_memory *memory;
    phi_status status = phi__fact_scopes_find(&scope, false, &list, &memory);
    bool found = false;
    size_t at = 0;
    if (status != PHI_OK || out == NULL) return out == NULL ? PHI_BAD_ARG : status;
    if (list != NULL) at = phi__fact_list_find(list, phi_str_of(key), &found);
    if (!found) return PHI_NOT_FOUND;
    *out = phi__fact_scopes_shape(&scope, &list->at[at]);
    if (!out->own && scope.group != NULL) /* the scope's own is borrowed */
        out->group =
            scope.rt->facts
                ->groups[phi__fact_groups_find(scope.rt->facts, phi_str_of(scope.group), &found)]
                .name;
    return PHI_OK;
}

static phi_status phi__fact_scopes_known(phi_fact_scope scope, phi_arena *arena,
                                         const phi_fact **out, size_t *count) {
    phi__agent *agent = phi__find_agent(scope.agent);
    if (scope.agent.rt == NULL) return PHI_BAD_ARG;
    if (agent == NULL) return PHI_STALE;
    if (phi__facts_need(scope.agent.rt) != PHI_OK) return PHI_UNSUPPORTED;
    return phi__facts_known(agent, arena, out, count) ? PHI_OK : PHI_NO_MEMORY;
}

PHI_API phi_status phi_fact_list(phi_fact_scope scope, phi_arena *arena, const phi_fact **out,
                                 size_t *count) {
    phi__fact_list *list;
    phi_memory *memory;
    phi_fact *made;
    phi_status status;
    phi_str group = {"", 0};
    size_t n, i;
    if (arena == NULL || out == NULL || count == NULL) return PHI_BAD_ARG;
    if (scope.known) return phi__fact_scopes_known(scope, arena, out, count);
    status = phi__fact_scopes_find(&scope, false, &list, &memory);
    if (status != PHI_OK) return status;
    n = list != NULL ? list->count : 0;
    made = (phi_fact *)phi_arena_alloc(arena, phi__max(n, 1) * sizeof *made);
    if (made == NULL || !phi__arena_str(arena, phi_str_of(scope.group), &group))
        return PHI_NO_MEMORY;
    for (i = 0; i < n; i++) {
        made[i] = phi__fact_scopes_shape(&scope, &list->at[i]);
        if (!made[i].own) made[i].group = group;
    }
    *out = made;
    *count = n;
    return PHI_OK;
}

PHI_API phi_status phi_fact_join(phi_agent handle, const char *group, bool join) {
    phi__agent *agent = phi__find_agent(handle);
    if (handle.rt == NULL || !phi__fact_list_key_fits(phi_str_of(group))) return PHI_BAD_ARG;
    if (agent == NULL) return PHI_STALE;
    if (phi__facts_need(handle.rt) != PHI_OK) return PHI_UNSUPPORTED;
    if (join)
        return phi__fact_groups_enter(phi__facts_of(agent), &agent->memory, phi_str_of(group));
    phi__fact_groups_leave(phi__facts_of(agent), &agent->memory, phi_str_of(group));
    return PHI_OK;
}

PHI_API phi_status phi_facts_save(phi_runtime *rt, phi_arena *arena, phi_str *out) {
    const phi__fact_list none = {NULL, 0, 0, 0};
    const phi__facts *facts;
    phi__buf text;
    bool done;
    size_t i;
    if (rt == NULL || arena == NULL || out == NULL) return PHI_BAD_ARG;
    facts = rt->facts;
    phi__buf_init(&text, &rt->memory);
    phi__buf_text(&text, "{\"phi_facts\":1,\"all\":");
    phi__fact_list_put(&text, facts != NULL ? &facts->all : &none);
    phi__records_raw(&text, "groups", "{");
    for (i = 0; facts != NULL && i < facts->count; i++) {
        phi__json_write_key(&text, facts->groups[i].name);
        phi__fact_list_put(&text, &facts->groups[i].list);
    }
    phi__buf_text(&text, "}}");
    done = !text.failed && phi__arena_str(arena, phi__buf_str(&text), out);
    phi__buf_free(&text);
    return done ? PHI_OK : PHI_NO_MEMORY;
}

PHI_API phi_status phi_facts_load(phi_runtime *rt, phi_str json) {
    phi_parse_error error;
    phi_json *root = NULL;
    phi_arena scratch;
    phi__facts made, *place;
    phi_status status;
    if (rt == NULL || (json.at == NULL && json.len > 0)) return PHI_BAD_ARG;
    if (phi__facts_need(rt) != PHI_OK) return PHI_UNSUPPORTED;
    memset(&made, 0, sizeof made);
    phi_arena_init(&scratch, &rt->memory, 0);
    status = phi_json_parse(&scratch, json, PHI_JSON_BORROW, &root, &error);
    if (status == PHI_OK) status = phi__fact_scopes_read(&made, &rt->memory, root);
    phi_arena_free(&scratch);
    place = rt->facts;
    if (status == PHI_OK && place == NULL)
        rt->facts = place = (phi__facts *)phi__alloc(&rt->memory, sizeof *place);
    if (status == PHI_OK && place == NULL) status = PHI_NO_MEMORY;
    if (status != PHI_OK) {
        phi__fact_groups_clear(&made, &rt->memory);
        if (status == PHI_TOO_BIG) status = PHI_PARSE;
        return status == PHI_NO_MEMORY
                   ? status
                   : phi__error(rt, status,
                                "phi_facts_load: expected facts as phi_facts_save "
                                "writes them");
    }
    phi__fact_groups_clear(place, &rt->memory);
    *place = made;
    phi__feature_join_all(rt, phi_feature_facts);
    return PHI_OK;
}
