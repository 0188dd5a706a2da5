/* facts.c - world facts: the facts that an agent knows, the updates that tell facts to its model,
   and the facts in snapshots. */
#include "features/features_in.h"

/* ---- the facts of one scope: sorted by key, bounded in number and bytes ---- */

/* True if the text can be a key or the name of a group. */
static bool phi__facts_key_fits(phi_str key) {
    for (size_t i = 0; i < key.len; i++)
        if ((unsigned char)key.at[i] < 0x20 || key.at[i] == 0x7f) return false;
    return key.len > 0 && key.len <= PHI_FACT_KEY_BYTES && phi__utf8_valid(key) == key.len;
}

static bool phi__facts_value_fits(phi_str value) {
    return value.len <= PHI_FACT_VALUE_BYTES && phi__utf8_valid(value) == value.len &&
           (value.len == 0 || memchr(value.at, '\0', value.len) == NULL);
}

/* Compares two texts by bytes: negative, 0 or positive, like memcmp. */
static int phi__facts_compare(phi_str a, phi_str b) {
    size_t n = phi__min(a.len, b.len);
    int order = n > 0 ? memcmp(a.at, b.at, n) : 0;
    if (order != 0) return order;
    return a.len < b.len ? -1 : a.len > b.len;
}

/* Finds a name in a sorted list of structs that begin with their names. Returns its index; if
   *found is false, the index where the name belongs. */
static size_t phi__facts_place(const void *list, size_t count, size_t size, phi_str name,
                               bool *found) {
    const char *at = (const char *)list;
    size_t from = 0, to = count;
    int order = 1;
    while (from < to && order != 0) {
        size_t middle = from + (to - from) / 2;
        order = phi__facts_compare(*(const phi_str *)(const void *)(at + middle * size), name);
        if (order < 0)
            from = middle + 1;
        else
            to = middle;
        if (order == 0) from = middle;
    }
    *found = order == 0;
    return from;
}

/* Opens a gap in a sorted list and returns the list. NULL: no memory, and nothing changed. */
static void *phi__facts_open(phi_memory *memory, void *list, size_t *count, size_t *cap,
                             size_t size, size_t at) {
    char *grown = (char *)phi__grow(memory, list, cap, *count + 1, size);
    if (grown == NULL) return NULL;
    memmove(grown + (at + 1) * size, grown + at * size, (*count - at) * size);
    ++*count;
    return grown;
}

/* Removes the struct at this index from a list of structs. */
static void phi__facts_close(void *list, size_t *count, size_t size, size_t at) {
    char *from = (char *)list + at * size;
    memmove(from, from + size, (--*count - at) * size);
}

static size_t phi__facts_find(const phi__fact_list *list, phi_str key, bool *found) {
    return phi__facts_place(list->at, list->count, sizeof *list->at, key, found);
}

static size_t phi__facts_cost(const phi__fact *fact) { return fact->key.len + fact->value.len; }

static void phi__facts_drop(phi__fact *fact, phi_memory *memory) {
    phi__free(memory, (void *)(uintptr_t)fact->key.at, phi__facts_cost(fact) + 2);
}

static bool phi__facts_copy(phi__fact *fact, phi_memory *memory, phi_str key, phi_str value) {
    /* zeroed, so both strings are terminated */
    char *block = (char *)phi__alloc(memory, key.len + value.len + 2);
    if (block == NULL) return false;
    memcpy(block, key.at, key.len);
    if (value.len > 0) memcpy(block + key.len + 1, value.at, value.len);
    fact->key = phi__str(block, key.len);
    fact->value = phi__str(block + key.len + 1, value.len);
    return true;
}

/* Sets a fact. If version is 0, the new version is the old one plus 1. On failure returns PHI_FULL
   or PHI_NO_MEMORY; nothing changed. */
static phi_status phi__facts_set(phi__fact_list *list, phi_memory *memory, phi_str key,
                                 phi_str value, uint64_t version) {
    bool found;
    size_t at = phi__facts_find(list, key, &found), bytes = list->bytes;
    phi__fact made;
    if (found) {
        if (version == 0 && phi_str_equal(list->at[at].value, value)) return PHI_OK;
        bytes -= phi__facts_cost(&list->at[at]);
        if (version == 0) version = list->at[at].version + 1;
    }
    if (bytes + key.len + value.len > PHI_FACT_SCOPE_BYTES ||
        (!found && list->count >= PHI_FACT_SCOPE_COUNT))
        return PHI_FULL;
    if (!phi__facts_copy(&made, memory, key, value)) return PHI_NO_MEMORY;
    made.version = version != 0 ? version : 1;
    if (found) {
        phi__facts_drop(&list->at[at], memory);
    } else {
        void *grown = phi__facts_open(memory, list->at, &list->count, &list->cap, sizeof made, at);
        if (grown == NULL) {
            phi__facts_drop(&made, memory);
            return PHI_NO_MEMORY;
        }
        list->at = (phi__fact *)grown;
    }
    list->at[at] = made;
    list->bytes = bytes + phi__facts_cost(&made);
    return PHI_OK;
}

static void phi__facts_unset(phi__fact_list *list, phi_memory *memory, size_t at) {
    list->bytes -= phi__facts_cost(&list->at[at]);
    phi__facts_drop(&list->at[at], memory);
    phi__facts_close(list->at, &list->count, sizeof *list->at, at);
}

static void phi__fact_list_free(phi__fact_list *list, phi_memory *memory) {
    while (list->count > 0) phi__facts_drop(&list->at[--list->count], memory);
    phi__free(memory, list->at, list->cap * sizeof *list->at);
    memset(list, 0, sizeof *list);
}

/* phi__facts_put writes a list as a JSON object. phi__facts_get reads such an object into an empty
   list. If it fails with PHI_PARSE, PHI_FULL or PHI_NO_MEMORY, the caller must free the list. */
static void phi__facts_put(phi__buf *out, const phi__fact_list *list) {
    phi__buf_char(out, '{');
    for (size_t i = 0; i < list->count; i++) {
        phi__json_write_key(out, list->at[i].key);
        phi__buf_char(out, '{');
        phi__records_str(out, "value", list->at[i].value);
        phi__records_u64(out, "version", list->at[i].version);
        phi__buf_char(out, '}');
    }
    phi__buf_char(out, '}');
}

static phi_status phi__facts_get(phi__fact_list *list, phi_memory *memory, const phi_json *node) {
    phi_json_iter it = phi_json_each(node);
    phi_status status = PHI_OK;
    const phi_json *each;
    if (node != NULL && !phi_json_is(node, PHI_JSON_OBJECT)) return PHI_PARSE;
    while (status == PHI_OK && (each = phi_json_next(&it)) != NULL) {
        phi_str value = phi__records_get_str(each, "value");
        if (!phi_json_is(phi_json_get(each, "value"), PHI_JSON_STRING) ||
            !phi__facts_key_fits(it.key) || !phi__facts_value_fits(value))
            return PHI_PARSE;
        status = phi__facts_set(list, memory, it.key, value,
                                phi__max(phi__records_get_size(each, "version"), 1));
    }
    return status;
}

/* ---- the facts of groups, and the memberships of agents; both lists are sorted by name ---- */

/* The facts feature's state of an agent: the agent's own facts and its groups. */
typedef struct phi__facts_own {
    phi__fact_list list;
    phi_str *groups; /* sorted by name; each string is separately allocated */
    size_t count, cap;
} phi__facts_own;

/* Finds a group like phi__facts_find. facts may be NULL. */
static size_t phi__fact_groups_find(const phi__facts *facts, phi_str name, bool *found) {
    *found = false;
    return facts == NULL
               ? 0
               : phi__facts_place(facts->groups, facts->count, sizeof *facts->groups, name, found);
}

/* Finds a group or makes it. Returns SIZE_MAX on failure; *status is then PHI_FULL or
   PHI_NO_MEMORY. */
static size_t phi__fact_groups_make(phi__facts *facts, phi_memory *memory, phi_str name,
                                    phi_status *status) {
    bool found;
    size_t at = phi__fact_groups_find(facts, name, &found);
    phi__fact_group made = PHI_ZERO;
    *status = PHI_OK;
    if (found) return at;
    *status = facts->count >= PHI_FACT_GROUPS ? PHI_FULL : PHI_NO_MEMORY;
    if (*status == PHI_FULL || !phi__own(memory, name, &made.name)) return SIZE_MAX;
    void *grown =
        phi__facts_open(memory, facts->groups, &facts->count, &facts->cap, sizeof made, at);
    if (grown == NULL) {
        phi__disown(memory, &made.name);
        return SIZE_MAX;
    }
    facts->groups = (phi__fact_group *)grown;
    facts->groups[at] = made;
    *status = PHI_OK;
    return at;
}

/* Removes the group at this index if it has no facts. */
static void phi__groups_tidy(phi__facts *facts, phi_memory *memory, size_t at) {
    if (facts->groups[at].list.count > 0) return;
    phi__fact_list_free(&facts->groups[at].list, memory);
    phi__disown(memory, &facts->groups[at].name);
    phi__facts_close(facts->groups, &facts->count, sizeof *facts->groups, at);
}

static size_t phi__groups_membership(const phi__facts_own *own, phi_str name, bool *found) {
    return phi__facts_place(own->groups, own->count, sizeof *own->groups, name, found);
}

/* Makes the agent a member of a group. Calling it twice is harmless. Returns PHI_OK, PHI_FULL or
   PHI_NO_MEMORY. */
static phi_status phi__groups_enter(phi__facts_own *own, phi_memory *memory, phi_str name) {
    bool found;
    size_t at = phi__groups_membership(own, name, &found);
    phi_str copy;
    if (found) return PHI_OK;
    if (own->count >= PHI_FACT_MEMBERSHIPS) return PHI_FULL;
    if (!phi__own(memory, name, &copy)) return PHI_NO_MEMORY;
    void *grown = phi__facts_open(memory, own->groups, &own->count, &own->cap, sizeof copy, at);
    if (grown == NULL) {
        phi__disown(memory, &copy);
        return PHI_NO_MEMORY;
    }
    own->groups = (phi_str *)grown;
    own->groups[at] = copy;
    return PHI_OK;
}

static void phi__groups_forget(phi__facts_own *own, phi_memory *memory) {
    phi__fact_list_free(&own->list, memory);
    while (own->count > 0) phi__disown(memory, &own->groups[--own->count]);
    phi__free(memory, own->groups, own->cap * sizeof *own->groups);
    memset(own, 0, sizeof *own);
}

static void phi__groups_leave(phi__facts_own *own, phi_memory *memory, phi_str name) {
    bool found;
    size_t at = phi__groups_membership(own, name, &found);
    if (!found) return;
    phi__disown(memory, &own->groups[at]);
    phi__facts_close(own->groups, &own->count, sizeof *own->groups, at);
}

static phi__facts_own *phi__facts_of(const phi__agent *agent) {
    return (phi__facts_own *)phi__feature_agent_state(agent, phi_feature_facts);
}

/* Returns PHI_UNSUPPORTED if the runtime does not have the facts feature. */
static phi_status phi__facts_need(phi_runtime *rt) {
    return phi__feature_need(rt, PHI__FEATURE_AT_FACTS, "facts", "phi_feature_facts");
}

/* Frees the facts of all groups, and the facts for all agents. */
static void phi__groups_clear(phi__facts *facts, phi_memory *memory) {
    phi__fact_list_free(&facts->all, memory);
    for (size_t i = 0; i < facts->count; i++) {
        phi__fact_list_free(&facts->groups[i].list, memory);
        phi__disown(memory, &facts->groups[i].name);
    }
    phi__free(memory, facts->groups, facts->cap * sizeof *facts->groups);
    memset(facts, 0, sizeof *facts);
}

static void phi__facts_free(phi_runtime *rt) {
    if (rt->facts == NULL) return;
    phi__groups_clear(rt->facts, &rt->memory);
    phi__free(&rt->memory, rt->facts, sizeof *rt->facts);
    rt->facts = NULL;
}

/* ---- what an agent knows ---- */

/* Returns the agent whose facts this agent knows. For a hidden agent, or an agent in its parent's
   place, this is an agent above. */
static phi__agent *phi__facts_shown_owner(phi__agent *agent) {
    while ((phi__find_hidden(agent) || agent->tree.in_place) && agent->tree.parent != NULL)
        agent = agent->tree.parent;
    return agent;
}

/* Merges the facts of a scope into a list sorted by key. Scopes are merged from broad to narrow: a
   fact replaces a fact with the same key. */
static void phi__facts_shown_merge(phi_fact *list, size_t *count, const phi__fact_list *scope,
                                   phi_str group, bool own) {
    size_t at = 0;
    for (size_t i = 0; i < scope->count; i++, at++) {
        const phi__fact *fact = &scope->at[i];
        int order = 1;
        while (at < *count && (order = phi__facts_compare(list[at].key, fact->key)) < 0) at++;
        if (at == *count || order != 0)
            for (size_t k = (*count)++; k > at; k--) list[k] = list[k - 1];
        list[at].group = group;
        list[at].own = own;
        list[at].key = fact->key;
        list[at].value = fact->value;
        list[at].version = fact->version;
    }
}

/* Makes a list of the facts that the agent knows, sorted by key, in the arena. False: no memory. */
static bool phi__facts_known(phi__agent *agent, phi_arena *arena, const phi_fact **out,
                             size_t *count) {
    const phi__agent *owner = phi__facts_shown_owner(agent);
    const phi__facts *facts = owner->rt->facts;
    const phi__facts_own *own = phi__facts_of(owner);
    phi_fact *list = NULL;
    for (int fill = 0; fill < 2; fill++) { /* the first pass counts the facts */
        size_t most = own->list.count + (facts != NULL ? facts->all.count : 0);
        *count = 0;
        if (fill == 1 && facts != NULL)
            phi__facts_shown_merge(list, count, &facts->all, phi__str("", 0), false);
        for (size_t i = 0; i < own->count; i++) {
            bool found;
            size_t at = phi__fact_groups_find(facts, own->groups[i], &found);
            if (!found) continue;
            const phi__fact_group *group = &facts->groups[at];
            most += group->list.count;
            if (fill == 1) phi__facts_shown_merge(list, count, &group->list, group->name, false);
        }
        if (fill == 0) list = (phi_fact *)phi_arena_alloc(arena, phi__max(most, 1) * sizeof *list);
        if (list == NULL) return false;
    }
    phi__facts_shown_merge(list, count, &own->list, phi__str("", 0), true);
    *out = list;
    return true;
}

/* ---- as text ---- */

static size_t phi__facts_shown_cost(const phi_fact *fact) {
    size_t bytes = fact->key.len + fact->value.len + 3;
    for (size_t i = 0; i < fact->value.len; i++)
        if (fact->value.at[i] == '\n' || fact->value.at[i] == '\r') bytes += 2;
    return bytes;
}

/* Writes a fact as a line. Blanks follow the line breaks in the value, so that only keys begin
   lines. */
static void phi__facts_shown_line(phi__buf *out, const phi_fact *fact) {
    phi__buf_char(out, '\n');
    phi__buf_add_str(out, fact->key);
    phi__buf_text(out, ": ");
    for (size_t i = 0; i < fact->value.len; i++) {
        char c = fact->value.at[i];
        if (c == '\r' && i + 1 < fact->value.len && fact->value.at[i + 1] == '\n') continue;
        phi__buf_char(out, c == '\r' ? '\n' : c);
        if (c == '\n' || c == '\r') phi__buf_text(out, "  ");
    }
}

/* True if the agent knows no facts. Then requests need no memory for facts. */
static bool phi__facts_none(phi__agent *agent) {
    const phi__agent *owner = phi__facts_shown_owner(agent);
    const phi__facts *facts = owner->rt->facts;
    const phi__facts_own *own = phi__facts_of(owner);
    return own->list.count == 0 &&
           (facts == NULL || (facts->all.count == 0 && (facts->count == 0 || own->count == 0)));
}

/* Lists the facts that fit into PHI_FACT_SHOWN_BYTES, sorted by key. The agent's own facts are
   chosen first, then those of groups, then those for all agents. *left: the number of facts left
   out. False: no memory. */
static bool phi__facts_shown_list(phi__agent *agent, phi_arena *arena, const phi_fact **list,
                                  size_t *count, size_t *left) {
    size_t all, room = PHI_FACT_SHOWN_BYTES;
    if (!phi__facts_known(agent, arena, list, &all)) return false;
    /* this function made the list, so it may write to it */
    phi_fact *kept = (phi_fact *)(uintptr_t)*list;
    uint8_t *shown = (uint8_t *)phi__arena_zero(arena, phi__max(all, 1));
    if (shown == NULL) return false;
    *left = all;
    for (int breadth = 2; breadth >= 0; breadth--)
        for (size_t i = 0; i < all; i++) {
            size_t cost = phi__facts_shown_cost(&kept[i]);
            int broad = kept[i].own ? 2 : kept[i].group.len > 0 ? 1 : 0;
            if (broad != breadth || cost > room) continue;
            shown[i] = 1;
            room -= cost;
            --*left;
        }
    *count = 0;
    for (size_t i = 0; i < all; i++)
        if (shown[i] != 0) kept[(*count)++] = kept[i];
    return true;
}

/* ---- facts that the model knows ---- */

/* The details of an update say which facts it told:
       {"facts":N,"state":"HASH","keys":["KEY","HASH",...]}
   N is 0 for an update with all facts, and 1 more for each later update. "state" is a hash of all
   facts at that time. A key with an empty hash is a removed fact. Since the details are in the log,
   the next update can be made from the history alone, even after a restore or in another lane. */
typedef struct phi__told {
    phi_str key;
    uint64_t value; /* hash of the value; 0: the fact was removed */
} phi__told;

typedef struct phi__tellings {
    /* the updates from the last one with all facts to the newest one */
    const phi_message **updates;
    size_t count; /* 0: the next update must tell all facts */
    uint64_t state;
} phi__tellings;

enum { PHI__FACTS_UPDATES = 64 }; /* after this many updates, all facts are sent again */

static uint64_t phi__facts_hash(const phi_fact *fact) {
    return phi__hash(fact->value, phi__hash(fact->key, 1)) | 1;
}

static uint64_t phi__facts_state(const phi_fact *list, size_t count, size_t left) {
    uint64_t n = left;
    for (size_t i = 0; i < count; i++) n = phi__hash_mix(n ^ phi__facts_hash(&list[i]));
    return n | 1;
}

/* Returns the number of an update of facts; negative: the message is no such update. */
static int64_t phi__facts_number(const phi_message *m) {
    phi__json_found found;
    int64_t n = -1;
    if (!m->is_update || m->details.len == 0) return -1;
    if (phi__json_cursor_find(m->details, "facts", &found) != PHI_OK ||
        !phi__json_cursor_found_int(&found, &n))
        return -1;
    return n;
}

/* Searches the request backwards for updates, up to an update with all facts. False: no memory. */
static bool phi__facts_tellings(const phi__run *run, phi_arena *arena, phi__tellings *out) {
    const phi__request_spec *spec = &run->attempt.spec;
    int64_t want = -1;
    memset(out, 0, sizeof *out);
    for (size_t i = spec->item_count; i > 0 && want != 0; i--) {
        const phi_message *m = spec->items[i - 1].message;
        int64_t n = phi__facts_number(m);
        if (n < 0) continue;
        if (want < 0) { /* the newest update */
            if (n >= PHI__FACTS_UPDATES) return true;
            out->updates = (const phi_message **)phi_arena_alloc(arena, ((size_t)n + 1) *
                                                                            sizeof *out->updates);
            if (out->updates == NULL) return false;
            out->count = (size_t)n + 1;
            want = n + 1;
        }
        if (n != want - 1) break;
        out->updates[n] = m;
        want = n;
    }
    if (want != 0) out->count = 0;
    if (out->count > 0) {
        phi__json_found found;
        phi_str digits = {NULL, 0};
        if (phi__json_cursor_find(out->updates[out->count - 1]->details, "state", &found) == PHI_OK)
            (void)phi__json_cursor_found_str(arena, &found, &digits);
        out->state = phi__hash_of_hex(digits);
    }
    return true;
}

/* Merges the keys of one update into a list. Both are sorted by key. False: no memory. */
static bool phi__facts_merge(phi_arena *arena, phi_str details, phi__told **told, size_t *count) {
    phi_json *root = NULL;
    const phi_json *node;
    phi__told *out;
    size_t at = 0, n = 0;
    phi_status status = phi_json_parse(arena, details, PHI_JSON_BORROW, &root, NULL);
    if (status != PHI_OK) return status != PHI_NO_MEMORY;
    const phi_json *keys = phi_json_get(root, "keys");
    out = (phi__told *)phi_arena_alloc(
        arena, phi__mul(phi__add(*count + 1, phi_json_count(keys)), sizeof *out));
    if (out == NULL) return false;
    phi_json_iter it = phi_json_each(keys);
    while ((node = phi_json_next(&it)) != NULL) {
        const phi_json *hash = phi_json_next(&it);
        phi_str key = phi_json_str(node, "");
        int order = 1;
        while (at < *count && (order = phi__facts_compare((*told)[at].key, key)) < 0)
            out[n++] = (*told)[at++];
        if (at < *count && order == 0) at++;
        out[n].key = key;
        out[n++].value = phi__hash_of_hex(phi_json_str(hash, ""));
    }
    while (at < *count) out[n++] = (*told)[at++];
    *told = out;
    *count = n;
    return true;
}

typedef struct phi__facts_update {
    phi__buf text, gone; /* changed facts; keys of removed facts */
    phi__buf keys;       /* keys for the update's details */
} phi__facts_update;

static void phi__facts_put_key(phi__buf *out, phi_str key, uint64_t hash) {
    char digits[17];
    phi__json_write_comma(out);
    phi__json_write_str(out, key);
    phi__hash_hex(hash, digits);
    phi__buf_char(out, ',');
    phi__json_write_str(out, phi__str(digits, hash != 0 ? 16 : 0));
}

/* Writes the facts that the model lacks or has in an old version, and the keys of removed facts. */
static void phi__facts_differ(phi__facts_update *u, const phi_fact *list, size_t count,
                              const phi__told *told, size_t told_count) {
    size_t i = 0, t = 0;
    while (i < count || t < told_count) {
        int order = i == count        ? 1
                    : t == told_count ? -1
                                      : phi__facts_compare(list[i].key, told[t].key);
        if (order <= 0 && (order < 0 || phi__facts_hash(&list[i]) != told[t].value)) {
            phi__facts_shown_line(&u->text, &list[i]);
            phi__facts_put_key(&u->keys, list[i].key, phi__facts_hash(&list[i]));
        }
        if (order > 0 && told[t].value != 0) {
            phi__buf_char(&u->gone, '\n');
            phi__buf_add_str(&u->gone, told[t].key);
            phi__facts_put_key(&u->keys, told[t].key, 0);
        }
        if (order <= 0) i++;
        if (order >= 0) t++;
    }
}

/* Joins the parts of u into the update's text and its details. */
static void phi__facts_compose(phi__facts_update *u, const phi_texts *texts, size_t number,
                               uint64_t state, size_t left, phi__buf *text, phi__buf *details) {
    char digits[17];
    phi__texts_args args = PHI_ZERO;
    args.n = left;
    if (u->text.len > 0 || number == 0)
        phi__texts_put(text, texts, number == 0 ? PHI_TEXT_FACTS : PHI_TEXT_FACTS_CHANGED, NULL);
    phi__buf_add_str(text, phi__buf_str(&u->text));
    if (left > 0) {
        phi__buf_char(text, '\n');
        phi__texts_put(text, texts, PHI_TEXT_FACTS_LEFT_OUT, &args);
    }
    if (u->gone.len > 0) {
        if (text->len > 0) phi__buf_char(text, '\n');
        phi__texts_put(text, texts, PHI_TEXT_FACTS_GONE, NULL);
        phi__buf_add_str(text, phi__buf_str(&u->gone));
    }
    phi__hash_hex(state, digits);
    phi__buf_text(details, "{\"facts\":");
    phi__buf_u64(details, number);
    phi__buf_text(details, ",\"state\":\"");
    phi__buf_text(details, digits);
    phi__buf_text(details, "\",\"keys\":[");
    phi__buf_add_str(details, phi__buf_str(&u->keys));
    phi__buf_text(details, "]}");
    if (u->text.failed || u->gone.failed || u->keys.failed) text->failed = true;
}

/* Sends an update with all facts, or with the changes since the last update. */
static bool phi__facts_tell(phi__run *run, phi_arena *arena, const phi__tellings *tellings,
                            const phi_fact *list, size_t count, size_t left) {
    phi_memory *memory = &run->agent->memory;
    size_t number = left > 0 ? 0 : tellings->count, told_count = 0;
    phi__told *told = NULL;
    phi__facts_update u;
    phi__buf text, details;
    bool done = true;
    for (size_t i = 0; i < tellings->count && done && number > 0; i++)
        done = phi__facts_merge(arena, tellings->updates[i]->details, &told, &told_count);
    phi__buf_init(&u.text, memory);
    phi__buf_init(&u.gone, memory);
    phi__buf_init(&u.keys, memory);
    phi__buf_init(&text, memory);
    phi__buf_init(&details, memory);
    if (done) {
        phi__facts_differ(&u, list, count, told, number > 0 ? told_count : 0);
        phi__facts_compose(&u, run->agent->desc.texts, number, phi__facts_state(list, count, left),
                           left, &text, &details);
        phi_content content = phi__input_text(phi__buf_str(&text));
        phi_message message = PHI_ZERO;
        message.content = &content;
        message.content_count = 1;
        message.details = phi__buf_str(&details);
        done = !text.failed && !details.failed && phi__tell(run, &message);
    }
    phi__buf_free(&u.text);
    phi__buf_free(&u.gone);
    phi__buf_free(&u.keys);
    phi__buf_free(&text);
    phi__buf_free(&details);
    return done;
}

static bool phi__facts_show(phi__run *run) {
    const phi_fact *list = NULL;
    phi__tellings tellings;
    size_t count = 0, left = 0;
    phi_arena *arena = &run->arena;
    if (run->agent->desc.options.disable_facts) return true;
    if (!phi__facts_tellings(run, arena, &tellings)) return false;
    if (!phi__facts_none(run->agent) &&
        !phi__facts_shown_list(run->agent, arena, &list, &count, &left))
        return false;
    if (tellings.count == 0 ? count == 0 : tellings.state == phi__facts_state(list, count, left))
        return true;
    return phi__facts_tell(run, arena, &tellings, list, count, left);
}

/* ---- snapshots ---- */

static void phi__facts_save_own(phi__buf *out, const phi__facts_own *own) {
    if (own->list.count == 0 && own->count == 0) return;
    phi__records_raw(out, "facts", "{");
    phi__json_write_key(out, PHI__LIT("own"));
    phi__facts_put(out, &own->list);
    phi__records_strs(out, "groups", own->groups, own->count);
    phi__buf_char(out, '}');
}

static phi_status phi__facts_load_own(phi__agent *agent, phi__facts_own *own,
                                      const phi_json *node) {
    phi_json_iter it = phi_json_each(phi_json_get(node, "groups"));
    phi_status status = phi__facts_get(&own->list, &agent->memory, phi_json_get(node, "own"));
    const phi_json *group;
    while (status == PHI_OK && (group = phi_json_next(&it)) != NULL) {
        phi_str name = phi_json_str(group, "");
        status =
            phi__facts_key_fits(name) ? phi__groups_enter(own, &agent->memory, name) : PHI_PARSE;
    }
    if (own->list.count > 0) phi__feature_join_all(agent->rt, phi_feature_facts);
    return status == PHI_OK || status == PHI_NO_MEMORY ? status : PHI_PARSE;
}

static phi__state phi__facts_take(phi__moment *moment) {
    phi__facts_own *own = (phi__facts_own *)moment->agent_state;
    bool done = true;
    switch (moment->point) {
    case PHI__POINT_REQUEST: done = phi__facts_show(moment->run); break;
    case PHI__POINT_AGENT_FREED: phi__groups_forget(own, &moment->agent->memory); break;
    case PHI__POINT_AGENT_SAVE: phi__facts_save_own(moment->out, own); break;
    case PHI__POINT_AGENT_LOAD:
        moment->status =
            phi__facts_load_own(moment->agent, own, phi_json_get(moment->json, "facts"));
        break;
    default: break;
    }
    return done ? PHI__RUN_ON : PHI__RUN_LOST;
}

PHI_API const phi__feature *phi_feature_facts(void) {
    enum {
        points = PHI__POINT_REQUEST | PHI__POINT_AGENT_FREED | PHI__POINT_AGENT_SAVE |
                 PHI__POINT_AGENT_LOAD
    };
    static const phi__feature feature = {points,
                                         0,
                                         sizeof(phi__facts_own),
                                         phi__facts_take,
                                         phi__feature_late,
                                         PHI__FEATURE_AT_FACTS,
                                         NULL,
                                         phi__facts_free};
    return &feature;
}

/* ---- the facts of a scope for the host; the facts for all agents and groups as text ---- */

/* Finds the list of a scope, and the memory it uses. *list is NULL if the scope has no facts. With
   `make`, makes a missing list. */
static phi_status phi__fact_scopes_find(const phi_fact_scope *scope, bool make,
                                        phi__fact_list **list, phi_memory **memory) {
    phi_runtime *rt = scope->rt;
    phi_status status = PHI_OK;
    bool found;
    *list = NULL;
    if (rt == NULL) return PHI_BAD_ARG;
    if (phi__facts_need(rt) != PHI_OK) return PHI_UNSUPPORTED;
    *memory = &rt->memory;
    if (scope->agent.rt != NULL) {
        phi__agent *agent = phi__find_agent(scope->agent);
        if (agent == NULL) return PHI_STALE;
        *memory = &agent->memory;
        *list = &phi__facts_of(agent)->list;
        return PHI_OK;
    }
    if (scope->group != NULL && !phi__facts_key_fits(phi_str_of(scope->group)))
        return phi__error(rt, PHI_BAD_ARG, "phi_fact: no name for a group");
    if (rt->facts == NULL && make)
        rt->facts = (phi__facts *)phi__alloc(&rt->memory, sizeof *rt->facts);
    if (rt->facts == NULL) return make ? PHI_NO_MEMORY : PHI_OK;
    if (scope->group == NULL) {
        *list = &rt->facts->all;
        return PHI_OK;
    }
    size_t at = phi__fact_groups_find(rt->facts, phi_str_of(scope->group), &found);
    if (!found && make)
        at = phi__fact_groups_make(rt->facts, &rt->memory, phi_str_of(scope->group), &status);
    if (status == PHI_OK && (found || make)) *list = &rt->facts->groups[at].list;
    return status;
}

static void phi__fact_scopes_tidy(const phi_fact_scope *scope) {
    bool found;
    if (scope->agent.rt != NULL || scope->group == NULL || scope->rt->facts == NULL) return;
    size_t at = phi__fact_groups_find(scope->rt->facts, phi_str_of(scope->group), &found);
    if (found) phi__groups_tidy(scope->rt->facts, &scope->rt->memory, at);
}

static phi_fact phi__fact_scopes_shape(const phi_fact_scope *scope, const phi__fact *fact) {
    phi_fact out = PHI_ZERO;
    out.own = scope->agent.rt != NULL;
    if (!out.own) out.group = phi_str_of(scope->group);
    out.key = fact->key;
    out.value = fact->value;
    out.version = fact->version;
    return out;
}

/* ---- reading the text ---- */

static phi_status phi__fact_scopes_read(phi__facts *facts, phi_memory *memory,
                                        const phi_json *root) {
    phi_json_iter it = phi_json_each(phi_json_get(root, "groups"));
    const phi_json *group;
    phi_status status = phi_json_is(root, PHI_JSON_OBJECT) ? PHI_OK : PHI_PARSE;
    if (status == PHI_OK) status = phi__facts_get(&facts->all, memory, phi_json_get(root, "all"));
    while (status == PHI_OK && (group = phi_json_next(&it)) != NULL) {
        if (!phi__facts_key_fits(it.key)) return PHI_PARSE;
        size_t at = phi__fact_groups_make(facts, memory, it.key, &status);
        if (status == PHI_OK) status = phi__facts_get(&facts->groups[at].list, memory, group);
        if (status == PHI_OK) phi__groups_tidy(facts, memory, at);
    }
    return status;
}

/* ---- public ---- */

PHI_API phi_fact_scope phi_fact_all(phi_runtime *rt) {
    phi_fact_scope scope = PHI_ZERO;
    scope.rt = rt;
    return scope;
}

PHI_API phi_fact_scope phi_fact_group(phi_runtime *rt, const char *name) {
    phi_fact_scope scope = phi_fact_all(rt);
    /* a NULL name is refused, and does not mean "all agents" */
    scope.group = name != NULL ? name : "";
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
    if (list != NULL) at = phi__facts_find(list, phi_str_of(key), &found);
    if (!found) return PHI_NOT_FOUND;
    phi__facts_unset(list, memory, at);
    phi__fact_scopes_tidy(&scope);
    return PHI_OK;
}

PHI_API phi_status phi_fact_set(phi_fact_scope scope, const char *key, phi_str value,
                                uint64_t *version) {
    phi_str name = phi_str_of(key);
    phi__fact_list *list;
    phi_memory *memory;
    bool found;
    if (scope.rt == NULL || (value.at == NULL && value.len > 0)) return PHI_BAD_ARG;
    if (value.at == NULL) return phi__fact_scopes_unset(scope, key);
    if (!phi__facts_key_fits(name))
        return phi__error(scope.rt, PHI_BAD_ARG,
                          "phi_fact_set: key: expected 1 to %u bytes of UTF-8 without control "
                          "characters",
                          (unsigned)PHI_FACT_KEY_BYTES);
    if (!phi__facts_value_fits(value))
        return phi__error(scope.rt, PHI_BAD_ARG,
                          "phi_fact_set: value of \"%s\": expected at most %u bytes of UTF-8", key,
                          (unsigned)PHI_FACT_VALUE_BYTES);
    phi_status status = phi__fact_scopes_find(&scope, true, &list, &memory);
    if (status == PHI_OK) status = phi__facts_set(list, memory, name, value, 0);
    if (status == PHI_OK && version != NULL)
        *version = list->at[phi__facts_find(list, name, &found)].version;
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
    if (list != NULL) at = phi__facts_find(list, phi_str_of(key), &found);
    if (!found) return PHI_NOT_FOUND;
    *out = phi__fact_scopes_shape(&scope, &list->at[at]);
    /* scope.group is borrowed, so phi's own string replaces it */
    if (!out->own && scope.group != NULL)
        out->group =
            scope.rt->facts
                ->groups[phi__fact_groups_find(scope.rt->facts, phi_str_of(scope.group), &found)]
                .name;
    return PHI_OK;
}

PHI_API phi_status phi_fact_list(phi_fact_scope scope, phi_arena *arena, const phi_fact **out,
                                 size_t *count) {
    phi__fact_list *list;
    phi_memory *memory;
    phi_fact *made;
    phi_str group = {"", 0};
    if (arena == NULL || out == NULL || count == NULL) return PHI_BAD_ARG;
    if (scope.known) {
        phi__agent *agent = phi__find_agent(scope.agent);
        if (scope.agent.rt == NULL) return PHI_BAD_ARG;
        if (agent == NULL) return PHI_STALE;
        if (phi__facts_need(scope.agent.rt) != PHI_OK) return PHI_UNSUPPORTED;
        return phi__facts_known(agent, arena, out, count) ? PHI_OK : PHI_NO_MEMORY;
    }
    phi_status status = phi__fact_scopes_find(&scope, false, &list, &memory);
    if (status != PHI_OK) return status;
    size_t n = list != NULL ? list->count : 0;
    made = (phi_fact *)phi_arena_alloc(arena, phi__max(n, 1) * sizeof *made);
    if (made == NULL || !phi__arena_str(arena, phi_str_of(scope.group), &group))
        return PHI_NO_MEMORY;
    for (size_t i = 0; i < n; i++) {
        made[i] = phi__fact_scopes_shape(&scope, &list->at[i]);
        if (!made[i].own) made[i].group = group;
    }
    *out = made;
    *count = n;
    return PHI_OK;
}

PHI_API phi_status phi_fact_join(phi_agent handle, const char *group, bool join) {
    phi__agent *agent = phi__find_agent(handle);
    if (handle.rt == NULL || !phi__facts_key_fits(phi_str_of(group))) return PHI_BAD_ARG;
    if (agent == NULL) return PHI_STALE;
    if (phi__facts_need(handle.rt) != PHI_OK) return PHI_UNSUPPORTED;
    if (join) return phi__groups_enter(phi__facts_of(agent), &agent->memory, phi_str_of(group));
    phi__groups_leave(phi__facts_of(agent), &agent->memory, phi_str_of(group));
    return PHI_OK;
}

PHI_API phi_status phi_facts_save(phi_runtime *rt, phi_arena *arena, phi_str *out) {
    const phi__fact_list none = {NULL, 0, 0, 0};
    phi__buf text;
    if (rt == NULL || arena == NULL || out == NULL) return PHI_BAD_ARG;
    const phi__facts *facts = rt->facts;
    phi__buf_init(&text, &rt->memory);
    phi__buf_text(&text, "{\"phi_facts\":1,\"all\":");
    phi__facts_put(&text, facts != NULL ? &facts->all : &none);
    phi__records_raw(&text, "groups", "{");
    for (size_t i = 0; facts != NULL && i < facts->count; i++) {
        phi__json_write_key(&text, facts->groups[i].name);
        phi__facts_put(&text, &facts->groups[i].list);
    }
    phi__buf_text(&text, "}}");
    bool done = !text.failed && phi__arena_str(arena, phi__buf_str(&text), out);
    phi__buf_free(&text);
    return done ? PHI_OK : PHI_NO_MEMORY;
}

PHI_API phi_status phi_facts_load(phi_runtime *rt, phi_str json) {
    phi_parse_error error;
    phi_json *root = NULL;
    phi_arena scratch;
    if (rt == NULL || (json.at == NULL && json.len > 0)) return PHI_BAD_ARG;
    if (phi__facts_need(rt) != PHI_OK) return PHI_UNSUPPORTED;
    phi__facts made = PHI_ZERO;
    phi_arena_init(&scratch, &rt->memory, 0);
    phi_status status = phi_json_parse(&scratch, json, PHI_JSON_BORROW, &root, &error);
    if (status == PHI_OK) status = phi__fact_scopes_read(&made, &rt->memory, root);
    phi_arena_free(&scratch);
    phi__facts *place = rt->facts;
    if (status == PHI_OK && place == NULL)
        rt->facts = place = (phi__facts *)phi__alloc(&rt->memory, sizeof *place);
    if (status == PHI_OK && place == NULL) status = PHI_NO_MEMORY;
    if (status != PHI_OK) {
        phi__groups_clear(&made, &rt->memory);
        if (status == PHI_TOO_BIG) status = PHI_PARSE;
        return status == PHI_NO_MEMORY
                   ? status
                   : phi__error(rt, status,
                                "phi_facts_load: expected facts as phi_facts_save "
                                "writes them");
    }
    phi__groups_clear(place, &rt->memory);
    *place = made;
    phi__feature_join_all(rt, phi_feature_facts);
    return PHI_OK;
}
