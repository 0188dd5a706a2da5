/* facts.c - world facts: the facts that an agent knows, the updates that tell them to its model,
   and the facts in its snapshot. */
#include "features/facts_in.h"

#include "loop/loop_in.h"
#include "loop/tell_in.h"
#include "model/texts_in.h"
#include "text/records_in.h"
#include "wire/hash_in.h"

PHI__FN phi__facts_own *phi__facts_of(const phi__agent *agent) {
    return (phi__facts_own *)phi__feature_agent_state(agent, phi_feature_facts);
}

PHI__FN phi_status phi__facts_need(phi_runtime *rt) {
    return phi__feature_need(rt, PHI__FEATURE_AT_FACTS, "facts", "phi_feature_facts");
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

/* The facts that fit, in *list; `left` more do not. False: no memory. */
static bool phi__facts_shown_list(phi__agent *agent, phi_arena *arena, const phi_fact **list,
                                  size_t *count, size_t *left) {
    phi_fact *kept;
    uint8_t *shown;
    size_t all, i;
    if (!phi__facts_known(agent, arena, list, &all)) return false;
    kept = (phi_fact *)(uintptr_t)*list; /* it was made just now */
    shown = (uint8_t *)phi__arena_zero(arena, phi__max(all, 1));
    if (shown == NULL) return false;
    *left = phi__facts_shown_choose(*list, all, shown);
    for (i = 0, *count = 0; i < all; i++)
        if (shown[i] != 0) kept[(*count)++] = kept[i];
    return true;
}

/* ---- facts that the model knows ---- */

/* An update names what it told in its details, so that the next one, after a restore or in another
   lane as well, is made from the history alone:
       {"facts":N,"state":"HASH","keys":["KEY","HASH",...]}
   N counts the updates since one that told everything, which is 0; the state is a hash of all that
   held then; a key without a hash holds no more. */
typedef struct phi__told {
    phi_str key;
    uint64_t value; /* a hash; 0: it holds no more */
} phi__told;

typedef struct phi__tellings {
    const phi_message **updates; /* from the one that told everything to the newest */
    size_t count;                /* 0: the model does not know everything */
    uint64_t state;
} phi__tellings;

enum { PHI__FACTS_UPDATES = 64 }; /* after as many changes all facts are sent again */

static uint64_t phi__facts_hash(const phi_fact *fact) {
    return phi__hash(fact->value, phi__hash(fact->key, 1)) | 1;
}

static uint64_t phi__facts_state(const phi_fact *list, size_t count, size_t left) {
    uint64_t n = left;
    size_t i;
    for (i = 0; i < count; i++) n = phi__hash_mix(n ^ phi__facts_hash(&list[i]));
    return n | 1;
}

/* Its number, or negative: it is no update of facts. */
static int64_t phi__facts_number(const phi_message *m) {
    phi__json_found found;
    int64_t n = -1;
    if (!m->is_update || m->details.len == 0) return -1;
    if (phi__json_cursor_find(m->details, "facts", &found) != PHI_OK ||
        !phi__json_cursor_found_int(&found, &n))
        return -1;
    return n;
}

/* Looks backwards through the request for an unbroken row of updates. False: no memory. */
static bool phi__facts_tellings(const phi__run *run, phi_arena *arena, phi__tellings *out) {
    const phi__request_spec *spec = &run->attempt.spec;
    int64_t want = -1;
    size_t i;
    memset(out, 0, sizeof *out);
    for (i = spec->item_count; i > 0 && want != 0; i--) {
        const phi_message *m = spec->items[i - 1].message;
        int64_t n = phi__facts_number(m);
        if (n < 0) continue;
        if (want < 0) { /* the newest */
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

/* Puts the keys of one update into a list by key; both are in the order of their keys. */
static bool phi__facts_merge(phi_arena *arena, phi_str details, phi__told **told, size_t *count) {
    phi_json *root = NULL;
    const phi_json *keys, *node;
    phi_json_iter it;
    phi__told *out;
    size_t at = 0, n = 0;
    phi_status status = phi_json_parse(arena, details, PHI_JSON_BORROW, &root, NULL);
    if (status != PHI_OK) return status != PHI_NO_MEMORY;
    keys = phi_json_get(root, "keys");
    out = (phi__told *)phi_arena_alloc(
        arena, phi__mul(phi__add(*count + 1, phi_json_count(keys)), sizeof *out));
    if (out == NULL) return false;
    it = phi_json_each(keys);
    while ((node = phi_json_next(&it)) != NULL) {
        const phi_json *hash = phi_json_next(&it);
        phi_str key = phi_json_str(node, "");
        int order = 1;
        while (at < *count && (order = phi__fact_list_compare((*told)[at].key, key)) < 0)
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

/* ---- one update ---- */

typedef struct phi__facts_update {
    phi__buf text, gone; /* facts that hold; keys that hold no more */
    phi__buf keys;       /* of the details */
} phi__facts_update;

static void phi__facts_put_key(phi__buf *out, phi_str key, uint64_t hash) {
    char digits[17];
    phi__json_write_comma(out);
    phi__json_write_str(out, key);
    phi__hash_hex(hash, digits);
    phi__buf_char(out, ',');
    phi__json_write_str(out, phi__str(digits, hash != 0 ? 16 : 0));
}

/* The facts that differ from those that the model knows, and the keys that are gone. */
static void phi__facts_differ(phi__facts_update *u, const phi_fact *list, size_t count,
                              const phi__told *told, size_t told_count) {
    size_t i = 0, t = 0;
    while (i < count || t < told_count) {
        int order = i == count        ? 1
                    : t == told_count ? -1
                                      : phi__fact_list_compare(list[i].key, told[t].key);
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

/* The whole text of the update and its details, into u->text and u->keys. */
static void phi__facts_compose(phi__facts_update *u, const phi_texts *texts, size_t number,
                               uint64_t state, size_t left, phi__buf *text, phi__buf *details) {
    char digits[17];
    phi__texts_args args;
    memset(&args, 0, sizeof args);
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

static bool phi__facts_say(phi__run *run, phi__buf *text, phi__buf *details) {
    phi_content content;
    phi_message message;
    memset(&content, 0, sizeof content);
    memset(&message, 0, sizeof message);
    if (text->failed || details->failed) return false;
    content.kind = PHI_CONTENT_TEXT;
    content.text = phi__buf_str(text);
    message.content = &content;
    message.content_count = 1;
    message.details = phi__buf_str(details);
    return phi__tell(run, &message);
}

/* Tells everything, or the changes since. */
static bool phi__facts_tell(phi__run *run, phi_arena *arena, const phi__tellings *tellings,
                            const phi_fact *list, size_t count, size_t left) {
    phi_memory *memory = &run->agent->memory;
    size_t number = left > 0 ? 0 : tellings->count, told_count = 0, i;
    phi__told *told = NULL;
    phi__facts_update u;
    phi__buf text, details;
    bool done = true;
    for (i = 0; i < tellings->count && done && number > 0; i++)
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
        done = phi__facts_say(run, &text, &details);
    }
    phi__buf_free(&u.text);
    phi__buf_free(&u.gone);
    phi__buf_free(&u.keys);
    phi__buf_free(&text);
    phi__buf_free(&details);
    return done;
}

/* ---- the request ---- */

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
    if (own->list.count > 0) phi__feature_join_all(agent->rt, phi_feature_facts);
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

PHI_API const phi__feature *phi_feature_facts(void) {
    static const phi__feature feature = {PHI__POINT_REQUEST | PHI__POINT_AGENT_FREED |
                                             PHI__POINT_AGENT_SAVE | PHI__POINT_AGENT_LOAD,
                                         0,
                                         sizeof(phi__facts_own),
                                         phi__facts_take,
                                         phi__feature_late,
                                         PHI__FEATURE_AT_FACTS,
                                         NULL,
                                         phi__facts_free};
    return &feature;
}
