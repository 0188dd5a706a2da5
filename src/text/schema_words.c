/* schema_words.c - a schema check's messages, paths, work limit and references. */
#include "text/schema_in.h"

#include "base/utf8_in.h"

/* ---- words ---- */

PHI__FN void phi__schema_words_put(phi__schema *c, phi_str text) {
    size_t room;
    if (c->error == NULL) return;
    room = sizeof c->error->message - 1 - c->len;
    if (text.len > room) text.len = phi__utf8_cut(text, room);
    if (text.len > 0) memcpy(c->error->message + c->len, text.at, text.len);
    c->len += text.len;
    c->error->message[c->len] = '\0';
}

PHI__FN void phi__schema_words_text(phi__schema *c, const char *text) {
    phi__schema_words_put(c, phi_str_of(text));
}

PHI__FN bool phi__schema_words_say(phi__schema *c, const char *text) {
    if (c->quiet > 0 || c->status != PHI_OK || c->error == NULL) return false;
    c->len = 0;
    phi__schema_words_put(c, phi__str(c->place, c->place_len));
    phi__schema_words_text(c, ": ");
    phi__schema_words_text(c, text);
    return true;
}

#define PHI__SCHEMA_QUOTE 60u /* bytes of a string in a message */

PHI__FN void phi__schema_words_quote(phi__schema *c, phi_str text) {
    phi__schema_words_text(c, "\"");
    phi__schema_words_put(c, phi__str(text.at, phi__utf8_cut(text, PHI__SCHEMA_QUOTE)));
    phi__schema_words_text(c, text.len > PHI__SCHEMA_QUOTE ? "...\"" : "\"");
}

PHI__FN void phi__schema_words_number(phi__schema *c, const phi_json *node) {
    char digits[32];
    phi__buf buf;
    memset(&buf, 0, sizeof buf); /* room enough, so that it never looks for memory */
    buf.at = digits;
    buf.cap = sizeof digits;
    if (phi__json_kind_of(node) == PHI__JSON_INT)
        phi__json_number_put_i64(&buf, node->v.i);
    else if (phi__json_kind_of(node) == PHI__JSON_UINT)
        phi__json_number_put_u64(&buf, node->v.u);
    else
        phi__json_number_put_double(&buf, node->v.d);
    phi__schema_words_put(c, phi__buf_str(&buf));
}

PHI__FN void phi__schema_words_value(phi__schema *c, const phi_json *node) {
    switch (phi_json_type_of(node)) {
    case PHI_JSON_STRING: phi__schema_words_quote(c, phi_json_str(node, NULL)); break;
    case PHI_JSON_NUMBER: phi__schema_words_number(c, node); break;
    case PHI_JSON_BOOL:
        phi__schema_words_text(c, phi_json_bool(node, false) ? "true" : "false");
        break;
    case PHI_JSON_NULL: phi__schema_words_text(c, "null"); break;
    case PHI_JSON_ARRAY: phi__schema_words_text(c, "an array"); break;
    default: phi__schema_words_text(c, "an object"); break;
    }
}

PHI__FN void phi__schema_words_list(phi__schema *c, const phi_json *list, bool quoted) {
    phi_json_iter it = phi_json_each(list);
    bool first = true;
    while (phi_json_next(&it) != NULL) {
        if (!first) phi__schema_words_text(c, quoted || it.left > 0 ? ", " : " or ");
        first = false;
        if (quoted)
            phi__schema_words_value(c, it.at);
        else
            phi__schema_words_put(c, phi_json_str(it.at, "?"));
    }
}

PHI__FN size_t phi__schema_words_into(phi__schema *c, const char *before, phi_str name,
                                      const char *after) {
    size_t was = c->place_len, room, i;
    phi_str part[3];
    part[0] = phi_str_of(before);
    part[1] = name;
    part[2] = phi_str_of(after);
    for (i = 0; i < 3; i++) {
        room = sizeof c->place - c->place_len;
        if (part[i].len > room) part[i].len = phi__utf8_cut(part[i], room);
        if (part[i].len > 0) memcpy(c->place + c->place_len, part[i].at, part[i].len);
        c->place_len += part[i].len;
    }
    return was;
}

PHI__FN size_t phi__schema_words_into_item(phi__schema *c, size_t index) {
    char digits[24], *at = digits + sizeof digits;
    do {
        *--at = (char)('0' + index % 10);
        index /= 10;
    } while (index > 0);
    return phi__schema_words_into(c, "[", phi__str(at, (size_t)(digits + sizeof digits - at)), "]");
}

/* ---- bounds ---- */

PHI__FN bool phi__schema_words_spend(phi__schema *c, size_t work) {
    if (c->status != PHI_OK) return false;
    if (work <= PHI__SCHEMA_WORK && c->work <= PHI__SCHEMA_WORK - work) {
        c->work += (uint32_t)work;
        return true;
    }
    c->quiet = 0;
    (void)phi__schema_words_say(c, "checking this takes too much work");
    c->status = PHI_TOO_BIG;
    return false;
}

PHI__FN bool phi__schema_words_enter(phi__schema *c, const phi_json *schema) {
    size_t work = phi__mul(PHI__SCHEMA_VISIT, 1 + phi_json_count(schema));
    if (!phi__schema_words_spend(c, work)) return false;
    if (c->depth == PHI__SCHEMA_DEPTH) {
        c->quiet = 0;
        (void)phi__schema_words_say(c, "nested too deeply to be checked");
        c->status = PHI_TOO_BIG;
        return false;
    }
    c->depth++;
    return true;
}

/* ---- members ---- */

static uint64_t phi__schema_words_hash(const phi__schema *c, const phi_json *object, phi_str key) {
    uint64_t of = (uint64_t)(uintptr_t)object * UINT64_C(0x9e3779b97f4a7c15);
    return phi__map_hash((uint64_t)(uintptr_t)c ^ of ^ of >> 32, key);
}

static phi_json *phi__schema_words_look(const phi__schema *c, uint64_t hash, phi_str key) {
    phi_json *member;
    size_t probe = 0;
    while ((member = (phi_json *)phi__map_each(&c->names, hash, &probe)) != NULL)
        if (phi_str_equal(phi__str(member->key, phi__json_key_len(member)), key)) break;
    return member;
}

/* Puts the members of an object into the table, of equal names the last one, and the object
   itself. False: there is no table, or no memory for them. */
static bool phi__schema_words_know(phi__schema *c, const phi_json *object) {
    uint64_t own = ~phi__schema_words_hash(c, object, phi__str(NULL, 0)), hash;
    phi_json_iter it = phi_json_each(object);
    size_t probe = 0;
    void *item;
    if (c->names.memory == NULL) return false;
    while ((item = phi__map_each(&c->names, own, &probe)) != NULL)
        if (item == (const void *)object) return true;
    if (!phi__map_reserve(&c->names, phi__add(c->names.count, 1 + it.left)) ||
        !phi__schema_words_spend(c, it.left))
        return false;
    while (phi_json_next(&it) != NULL) {
        hash = phi__schema_words_hash(c, object, it.key);
        item = phi__schema_words_look(c, hash, it.key);
        if (item != NULL) phi__map_drop(&c->names, hash, item);
        phi__map_add(&c->names, hash, (void *)(uintptr_t)it.at);
    }
    phi__map_add(&c->names, own, (void *)(uintptr_t)object);
    return true;
}

PHI__FN const phi_json *phi__schema_words_member(phi__schema *c, const phi_json *object,
                                                 phi_str key) {
    if (phi_json_count(object) > PHI__SCHEMA_SMALL && phi_json_is(object, PHI_JSON_OBJECT) &&
        phi__schema_words_know(c, object)) {
        return phi__schema_words_spend(c, 1)
                   ? phi__schema_words_look(c, phi__schema_words_hash(c, object, key), key)
                   : NULL;
    }
    if (!phi__schema_words_spend(c, 1 + phi_json_count(object))) return NULL;
    return phi__json_get_n(object, key);
}

/* ---- references ---- */

/* Compares a key with a step of a JSON pointer, in which ~1 is a slash and ~0 a tilde. */
static bool phi__schema_words_same_step(phi_str key, phi_str step) {
    size_t k = 0, s = 0;
    while (k < key.len && s < step.len) {
        char want = step.at[s++];
        if (want == '~' && s < step.len) want = step.at[s++] == '1' ? '/' : '~';
        if (key.at[k++] != want) return false;
    }
    return k == key.len && s == step.len;
}

static const phi_json *phi__schema_words_step(phi__schema *c, const phi_json *from, phi_str step) {
    const phi_json *found = NULL;
    phi_json_iter it = phi_json_each(from);
    uint64_t index = 0; /* gcc -Os does not see that it is set */
    if (!phi__schema_words_spend(c, 1 + it.left)) return NULL;
    if (phi_json_is(from, PHI_JSON_ARRAY))
        return phi__str_to_u64(step, &index) && index < it.left ? phi_json_at(from, (size_t)index)
                                                                : NULL;
    while (phi_json_next(&it) != NULL)
        if (phi__schema_words_same_step(it.key, step)) found = it.at;
    return found;
}

static const phi_json *phi__schema_words_follow(phi__schema *c, phi_str ref) {
    const phi_json *at = c->root;
    if (ref.len == 0 || ref.at[0] != '#') return NULL;
    ref = phi__str(ref.at + 1, ref.len - 1);
    while (ref.len > 0 && at != NULL) {
        size_t end = phi__str_find(ref, 1, "/");
        if (ref.at[0] != '/') return NULL;
        if (end == SIZE_MAX) end = ref.len;
        at = phi__schema_words_step(c, at, phi__str(ref.at + 1, end - 1));
        ref = phi__str(ref.at + end, ref.len - end);
    }
    return at;
}

PHI__FN const phi_json *phi__schema_words_target(phi__schema *c, phi_str ref) {
    phi__schema_ref *known =
        &c->refs[((uintptr_t)ref.at >> 4 ^ (uintptr_t)ref.at >> 9) & (PHI__SCHEMA_REFS - 1)];
    if (ref.at == NULL || known->ref != ref.at) {
        known->target = phi__schema_words_follow(c, ref);
        known->ref = ref.at;
    }
    return known->target;
}
