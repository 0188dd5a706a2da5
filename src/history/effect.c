/* effect.c - effects: the changes that a tool makes to a JSON object.

   An effect is applied to a tree of the object as it stands, and the result is written and read
   again: so it is never larger than its limit, nor deeper than the reader allows. */
#include "history/effect_in.h"

#include "history/tool_state_in.h"
#include "text/json_in.h"

#include <stdio.h>

#ifndef PHI_NO_TOOL_STATE

enum { PHI__EFFECT_STEPS = 64 }; /* of a path */

static const char *const phi__effect_words[] = {"merge",    "replace",     "delete_keys",
                                                "set_path", "delete_path", "emit"};

PHI__FN const char *phi__effect_word(uint32_t op) {
    size_t i;
    for (i = 0; i < PHI__COUNT(phi__effect_words); i++)
        if (op == (uint32_t)1 << i) return phi__effect_words[i];
    return "";
}

PHI__FN uint32_t phi__effect_op(const phi_json *effect) {
    phi_str word = phi_json_str(phi_json_get(effect, "op"), "");
    size_t i;
    for (i = 0; i < PHI__COUNT(phi__effect_words); i++)
        if (phi__str_is(word, phi__effect_words[i])) return (uint32_t)1 << i;
    return 0;
}

/* ---- whether it is an effect ---- */

static bool phi__effect_are_names(const phi_json *list) {
    phi_json_iter it = phi_json_each(list);
    const phi_json *name;
    if (!phi_json_is_array(list)) return false;
    while ((name = phi_json_next(&it)) != NULL)
        if (!phi_json_is_string(name)) return false;
    return true;
}

static bool phi__effect_is_path(const phi_json *node) {
    phi_str path = phi_json_str(node, "");
    size_t i, steps = 0;
    if (!phi_json_is_string(node) || path.len == 0 || path.at[0] != '/') return false;
    for (i = 0; i < path.len; i++) {
        steps += path.at[i] == '/';
        if (path.at[i] == '~' &&
            (i + 1 == path.len || (path.at[i + 1] != '0' && path.at[i + 1] != '1')))
            return false;
    }
    return steps <= PHI__EFFECT_STEPS;
}

PHI__FN const char *phi__effect_fault(const phi_json *effect) {
    const phi_json *value = phi_json_get(effect, "value");
    switch (phi__effect_op(effect)) {
    case PHI_EFFECT_MERGE:
    case PHI_EFFECT_REPLACE: return phi_json_is_object(value) ? NULL : "value: expected an object";
    case PHI_EFFECT_DELETE_KEYS:
        return phi__effect_are_names(phi_json_get(effect, "keys"))
                   ? NULL
                   : "keys: expected an array of strings";
    case PHI_EFFECT_SET_PATH:
        if (value == NULL) return "value is missing";
        /* fall through */
    case PHI_EFFECT_DELETE_PATH:
        return phi__effect_is_path(phi_json_get(effect, "path"))
                   ? NULL
                   : "path: expected a JSON Pointer of 1 to 64 steps";
    case PHI_EFFECT_EMIT:
        return phi_json_is_string(phi_json_get(effect, "name")) ? NULL : "name: expected a string";
    default: break;
    }
    return "op: expected merge, replace, delete_keys, set_path, delete_path or emit";
}

static phi_status phi__effect_check_all(const phi_json *list, char *words, size_t size) {
    phi_json_iter it = phi_json_each(list);
    const phi_json *effect;
    unsigned i = 0;
    if (!phi_json_is_array(list) || phi_json_count(list) > PHI__TOOL_STATE_EFFECTS) {
        (void)snprintf(words, size, "expected an array of at most %u effects",
                       (unsigned)PHI__TOOL_STATE_EFFECTS);
        return PHI_BAD_ARG;
    }
    for (; (effect = phi_json_next(&it)) != NULL; i++) {
        const char *fault = phi__effect_fault(effect);
        if (fault == NULL) continue;
        (void)snprintf(words, size, "[%u].%s", i, fault);
        return PHI_BAD_ARG;
    }
    return PHI_OK;
}

PHI__FN phi_status phi__effect_check(phi_memory *memory, phi_str effects, char *words,
                                     size_t words_size) {
    phi_json *root = NULL;
    phi_arena scratch;
    phi_status status;
    phi_arena_init(&scratch, memory, 0);
    status = effects.len > PHI__TOOL_STATE_MOST
                 ? PHI_TOO_BIG
                 : phi_json_parse(&scratch, effects, PHI_JSON_BORROW, &root, NULL);
    if (status == PHI_OK) {
        status = phi__effect_check_all(root, words, words_size);
    } else if (status != PHI_NO_MEMORY) {
        (void)snprintf(words, words_size, "expected JSON of at most 1 MiB");
        status = PHI_BAD_ARG;
    }
    phi_arena_free(&scratch);
    return status;
}

/* ---- paths ---- */

/* Takes the first step off a JSON Pointer. False: no memory. */
static bool phi__effect_step(phi_arena *arena, phi_str *path, phi_str *step) {
    size_t n = 1, i, len = 0;
    char *out;
    while (n < path->len && path->at[n] != '/') n++;
    out = phi__arena_bytes(arena, n);
    if (out == NULL) return false;
    for (i = 1; i < n; i++) {
        char c = path->at[i];
        if (c == '~' && i + 1 < n) c = path->at[++i] == '1' ? '/' : '~';
        out[len++] = c;
    }
    out[len] = '\0';
    *step = phi__str(out, len);
    path->at += n;
    path->len -= n;
    return true;
}

/* A place in an array; count for "-". SIZE_MAX: none. */
static size_t phi__effect_index(phi_str step, size_t count) {
    size_t n = 0, i;
    if (phi__str_is(step, "-")) return count;
    if (step.len == 0 || step.len > 9 || (step.at[0] == '0' && step.len > 1)) return SIZE_MAX;
    for (i = 0; i < step.len; i++) {
        if (step.at[i] < '0' || step.at[i] > '9') return SIZE_MAX;
        n = n * 10 + (size_t)(step.at[i] - '0');
    }
    return n;
}

/* Replaces item `at`, or appends it. The items keep their nodes. */
static phi_status phi__effect_put_item(phi_json *array, size_t at, phi_json *item) {
    size_t count = phi_json_count(array), i;
    phi_status status = PHI_OK;
    if (at == count) return phi_json_add(array, item);
    for (i = 0; status == PHI_OK && i < count; i++) {
        phi_json *was = phi_json_remove_at(array, 0);
        status = phi_json_add(array, i == at ? item : was);
    }
    return status;
}

typedef struct phi__effect_work {
    phi_arena *arena;
    phi_status status; /* of memory */
    const char *why;   /* the effect is refused */
} phi__effect_work;

/* The node with the value at the path in it, in place of `node`; NULL: see the work. */
static phi_json *phi__effect_set_path(phi__effect_work *work, phi_json *node, phi_str path,
                                      const phi_json *value) {
    phi_json *child, *made;
    phi_str step;
    size_t at = SIZE_MAX;
    if (path.len == 0) return phi_json_copy(work->arena, value);
    if (node == NULL) node = phi_json_new_object(work->arena);
    if (node == NULL || !phi__effect_step(work->arena, &path, &step)) return NULL;
    if (phi_json_is_array(node)) {
        at = phi__effect_index(step, phi_json_count(node));
        if (at > phi_json_count(node)) work->why = "the path names no item of an array";
    } else if (!phi_json_is_object(node)) {
        work->why = "the path leads through a value that has no members";
    }
    if (work->why != NULL) return NULL;
    child = at != SIZE_MAX ? phi_json_at(node, at) : phi_json_get_n(node, step);
    made = phi__effect_set_path(work, child, path, value);
    if (made == NULL || made == child) return made != NULL ? node : NULL;
    work->status = at != SIZE_MAX ? phi__effect_put_item(node, at, made)
                                  : phi_json_set_n(work->arena, node, step, made);
    return work->status == PHI_OK ? node : NULL;
}

/* phi_json_remove ends a key at its first zero byte; such a key names another member. */
static void phi__effect_remove(phi_json *object, phi_str key) {
    if (memchr(key.at, '\0', key.len) == NULL) (void)phi_json_remove(object, key.at);
}

static bool phi__effect_delete_path(phi_arena *arena, phi_json *node, phi_str path) {
    phi_str step;
    size_t at;
    while (node != NULL) {
        if (!phi__effect_step(arena, &path, &step)) return false;
        at = phi_json_is_array(node) ? phi__effect_index(step, SIZE_MAX) : SIZE_MAX;
        if (path.len > 0) {
            node = at != SIZE_MAX ? phi_json_at(node, at) : phi_json_get_n(node, step);
            continue;
        }
        if (at != SIZE_MAX && at < phi_json_count(node)) (void)phi_json_remove_at(node, at);
        if (phi_json_is_object(node)) phi__effect_remove(node, step);
        break;
    }
    return true;
}

/* ---- one effect ---- */

/* Its depth is that of the value, which the reader has bounded. */
static bool phi__effect_merge(phi_arena *arena, phi_json *into, const phi_json *value) {
    phi_json_iter it = phi_json_each(value);
    const phi_json *child;
    while ((child = phi_json_next(&it)) != NULL) {
        phi_json *was = phi_json_get_n(into, it.key);
        bool both = phi_json_is_object(was) && phi_json_is_object(child);
        if (both ? !phi__effect_merge(arena, was, child)
                 : phi_json_set_n(arena, into, it.key, phi_json_copy(arena, child)) != PHI_OK)
            return false;
    }
    return true;
}

static bool phi__effect_delete_keys(phi_arena *arena, phi_json *state, const phi_json *keys) {
    phi_json_iter it = phi_json_each(keys);
    const phi_json *key;
    phi_str copy;
    while ((key = phi_json_next(&it)) != NULL) {
        if (!phi__arena_str(arena, phi_json_str(key, ""), &copy)) return false;
        phi__effect_remove(state, copy);
    }
    return true;
}

/* The state with an effect that has no fault; NULL: see the work. */
static phi_json *phi__effect_with(phi__effect_work *work, phi_json *state, const phi_json *effect) {
    const phi_json *value = phi_json_get(effect, "value");
    phi_str path = phi_json_str(phi_json_get(effect, "path"), "");
    switch (phi__effect_op(effect)) {
    case PHI_EFFECT_MERGE: return phi__effect_merge(work->arena, state, value) ? state : NULL;
    case PHI_EFFECT_REPLACE: return phi_json_copy(work->arena, value);
    case PHI_EFFECT_DELETE_KEYS:
        return phi__effect_delete_keys(work->arena, state, phi_json_get(effect, "keys")) ? state
                                                                                         : NULL;
    case PHI_EFFECT_SET_PATH: return phi__effect_set_path(work, state, path, value);
    case PHI_EFFECT_DELETE_PATH:
        return phi__effect_delete_path(work->arena, state, path) ? state : NULL;
    default: return state;
    }
}

PHI__FN phi_status phi__effect_apply(phi__buf *text, const phi_json *effect, size_t max_bytes,
                                     phi_arena *arena, const char **why) {
    phi_arena_mark mark = phi_arena_save(arena);
    phi__effect_work work;
    phi_json *state = NULL;
    phi__buf made;
    memset(&work, 0, sizeof work);
    work.arena = arena;
    phi__buf_init(&made, text->memory);
    work.status = phi_json_parse(arena, phi__buf_str(text), 0, &state, NULL);
    if (work.status == PHI_OK) state = phi__effect_with(&work, state, effect);
    if (state == NULL && work.why == NULL) work.status = PHI_NO_MEMORY;
    if (work.status == PHI_OK && work.why == NULL) work.status = phi__json_write(&made, state, 0);
    if (work.status == PHI_OK && work.why == NULL && made.len > max_bytes)
        work.why = "the state would be too large";
    if (work.status == PHI_OK && work.why == NULL) { /* no deeper than it can be read */
        work.status = phi_json_parse(arena, phi__buf_str(&made), 0, &state, NULL);
        if (work.status != PHI_OK && work.status != PHI_NO_MEMORY) {
            work.status = PHI_OK;
            work.why = "the state would be nested too deeply";
        }
    }
    if (work.status == PHI_OK && work.why == NULL) {
        phi__buf was = *text;
        *text = made;
        made = was;
    }
    *why = work.why;
    phi__buf_free(&made);
    phi_arena_reset(arena, mark);
    return work.status == PHI_OK ? PHI_OK : PHI_NO_MEMORY;
}

#endif
