/* tool_state.c - the tool state of lanes, and the notes that hold it.

   A note also has the whole state if the effects since the last whole state are longer than the
   state. So a fold reads at most about twice the state, and the notes take about twice the
   effects. */
#include "log/thread_in.h"

#include <stdio.h>

/* ---- effects: the changes that a tool makes to a JSON object ---- */

/* One tree takes the effects of a result, or of a fold, and knows the length of its object as text.
   So a state is never larger than its limit, nor deeper than the JSON reader allows. */

enum {
    PHI__EFFECT_STEPS = 64, /* steps of a path */
    PHI__EFFECT_DEPTH = 512 /* depth of the object, the JSON reader's default */
};

static const char *const phi__effect_words[] = {"merge",    "replace",     "delete_keys",
                                                "set_path", "delete_path", "emit"};

PHI__FN const char *phi__effect_word(uint32_t op) {
    for (size_t i = 0; i < PHI__COUNT(phi__effect_words); i++)
        if (op == (uint32_t)1 << i) return phi__effect_words[i];
    return "";
}

/* Returns the op of an effect as a PHI_EFFECT_ bit; 0: it has no valid op. */
static uint32_t phi__effect_op(const phi_json *effect) {
    phi_str word = phi_json_str(phi_json_get(effect, "op"), "");
    for (size_t i = 0; i < PHI__COUNT(phi__effect_words); i++)
        if (phi__str_is(word, phi__effect_words[i])) return (uint32_t)1 << i;
    return 0;
}

/* ---- checking an effect ---- */

static bool phi__effect_are_names(const phi_json *list) {
    phi_json_iter it = phi_json_each(list);
    const phi_json *name;
    if (!phi_json_is(list, PHI_JSON_ARRAY)) return false;
    while ((name = phi_json_next(&it)) != NULL)
        if (!phi_json_is(name, PHI_JSON_STRING)) return false;
    return true;
}

static bool phi__effect_is_path(const phi_json *node) {
    phi_str path = phi_json_str(node, "");
    size_t steps = 0;
    if (!phi_json_is(node, PHI_JSON_STRING) || path.len == 0 || path.at[0] != '/') return false;
    for (size_t i = 0; i < path.len; i++) {
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
    case PHI_EFFECT_REPLACE:
        return phi_json_is(value, PHI_JSON_OBJECT) ? NULL : "value: expected an object";
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
        return phi_json_is(phi_json_get(effect, "name"), PHI_JSON_STRING)
                   ? NULL
                   : "name: expected a string";
    default: break;
    }
    return "op: expected merge, replace, delete_keys, set_path, delete_path or emit";
}

PHI__FN phi_status phi__effect_check(phi_memory *memory, phi_str effects, char *words,
                                     size_t words_size) {
    phi_json *root = NULL;
    const phi_json *effect;
    const char *fault = NULL;
    unsigned i = 0;
    phi_arena scratch;
    phi_arena_init(&scratch, memory, 0);
    phi_status status = effects.len > PHI__TOOL_STATE_MOST
                            ? PHI_TOO_BIG
                            : phi_json_parse(&scratch, effects, PHI_JSON_BORROW, &root, NULL);
    if (status != PHI_OK)
        (void)snprintf(words, words_size, "expected JSON of at most 1 MiB");
    else if (!phi_json_is(root, PHI_JSON_ARRAY) || phi_json_count(root) > PHI__TOOL_STATE_EFFECTS) {
        (void)snprintf(words, words_size, "expected an array of at most %u effects",
                       (unsigned)PHI__TOOL_STATE_EFFECTS);
        status = PHI_BAD_ARG;
    }
    phi_json_iter it = phi_json_each(root);
    for (; status == PHI_OK && fault == NULL && (effect = phi_json_next(&it)) != NULL; i++)
        fault = phi__effect_fault(effect);
    if (fault != NULL) (void)snprintf(words, words_size, "[%u].%s", i - 1, fault);
    phi_arena_free(&scratch);
    if (status != PHI_OK) return status == PHI_NO_MEMORY ? status : PHI_BAD_ARG;
    return fault == NULL ? PHI_OK : PHI_BAD_ARG;
}

/* ---- paths ---- */

/* Removes the first step of a JSON Pointer and returns it in *step. False: no memory. */
static bool phi__effect_step(phi_arena *arena, phi_str *path, phi_str *step) {
    size_t n = 1, len = 0;
    while (n < path->len && path->at[n] != '/') n++;
    char *out = phi__arena_bytes(arena, n);
    if (out == NULL) return false;
    for (size_t i = 1; i < n; i++) {
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

/* Returns the array index that a step names; `count` for "-". SIZE_MAX: the step is no index. */
static size_t phi__effect_index(phi_str step, size_t count) {
    size_t n = 0;
    if (phi__str_is(step, "-")) return count;
    if (step.len == 0 || step.len > 9 || (step.at[0] == '0' && step.len > 1)) return SIZE_MAX;
    for (size_t i = 0; i < step.len; i++) {
        if (step.at[i] < '0' || step.at[i] > '9') return SIZE_MAX;
        n = n * 10 + (size_t)(step.at[i] - '0');
    }
    return n;
}

/* Replaces item `at`, or appends an item. The other items keep their nodes. */
static phi_status phi__effect_put_item(phi_json *array, size_t at, phi_json *item) {
    size_t count = phi_json_count(array);
    phi_status status = PHI_OK;
    if (at == count) return phi_json_add(array, item);
    for (size_t i = 0; status == PHI_OK && i < count; i++) {
        phi_json *was = phi__json_edit_remove_at(array, 0);
        status = phi_json_add(array, i == at ? item : was);
    }
    return status;
}

/* ---- the tree ---- */

/* A value that the current effect replaced, or added if `was` is NULL. */
typedef struct phi__effect_change {
    const struct phi__effect_change *next;
    phi_json *container, *was, *made;
    size_t at; /* index, if the container is an array */
} phi__effect_change;

static bool phi__effect_lost(phi__effect_tree *tree) {
    tree->status = PHI_NO_MEMORY;
    return false;
}

/* Returns the length of a value as text. */
static size_t phi__effect_measure(phi__effect_tree *tree, const phi_json *node) {
    phi__buf_clear(&tree->text);
    if (phi__json_write(&tree->text, node, 0) != PHI_OK || tree->text.failed)
        (void)phi__effect_lost(tree);
    return tree->text.len;
}

/* Returns the length of a member as text; with a comma if it has a neighbour. */
static size_t phi__effect_member(phi__effect_tree *tree, const phi_json *value, phi_str key,
                                 bool neighbour) {
    size_t bytes = phi__effect_measure(tree, value);
    phi__buf_clear(&tree->text);
    phi__json_write_str(&tree->text, key);
    if (tree->text.failed) (void)phi__effect_lost(tree);
    return bytes + tree->text.len + 1 + neighbour;
}

static unsigned phi__effect_height(const phi_json *node) {
    phi_json_iter it = phi_json_each(node);
    unsigned most = 0;
    if (!phi_json_is(node, PHI_JSON_OBJECT) && !phi_json_is(node, PHI_JSON_ARRAY)) return 0;
    while (phi_json_next(&it) != NULL) {
        unsigned height = phi__effect_height(it.at);
        if (height > most) most = height;
    }
    return most + 1;
}

static bool phi__effect_get(phi__effect_tree *tree, phi_json *object, phi_str key,
                            phi_json **found) {
    return phi__json_index_get(&tree->index, object, key, found) || phi__effect_lost(tree);
}

static bool phi__effect_remove(phi__effect_tree *tree, phi_json *object, phi_str key) {
    phi_json *was;
    if (!phi__effect_get(tree, object, key, &was)) return false;
    if (was == NULL) return true;
    tree->bytes -= phi__effect_member(tree, was, key, phi_json_count(object) > 1);
    return phi__json_index_remove(&tree->index, object, key, &was) || phi__effect_lost(tree);
}

/* The place for a value: the place of `was`, or the end of the container. */
typedef struct phi__effect_place {
    phi_json *container, *was;
    phi_str key;    /* if the container is an object */
    size_t at;      /* index, if the container is an array */
    unsigned depth; /* depth of the container; the root has 1 */
} phi__effect_place;

static bool phi__effect_put(phi__effect_tree *tree, const phi__effect_place *place,
                            phi_json *made) {
    bool array = phi_json_is(place->container, PHI_JSON_ARRAY);
    bool neighbour = phi_json_count(place->container) > 0;
    phi__effect_change *change = (phi__effect_change *)phi__arena_zero(tree->arena, sizeof *change);
    if (change == NULL || made == NULL) return phi__effect_lost(tree);
    if (place->depth + phi__effect_height(made) > PHI__EFFECT_DEPTH) {
        tree->why = "the state would be nested too deeply";
        return false;
    }
    if (place->was != NULL)
        tree->bytes += phi__effect_measure(tree, made) - phi__effect_measure(tree, place->was);
    else if (array)
        tree->bytes += phi__effect_measure(tree, made) + neighbour;
    else
        tree->bytes += phi__effect_member(tree, made, place->key, neighbour);
    if (array ? phi__effect_put_item(place->container, place->at, made) != PHI_OK
              : !phi__json_index_set(&tree->index, place->container, place->key, made))
        return phi__effect_lost(tree);
    change->next = tree->changes;
    change->container = place->container;
    change->was = place->was;
    change->made = made;
    change->at = place->at;
    tree->changes = change;
    return tree->status == PHI_OK;
}

/* ---- single effects; after false, the tree says why ---- */

/* Returns a copy of the value inside new objects, one for each step of the path. */
static phi_json *phi__effect_wrap(phi__effect_tree *tree, phi_str path, const phi_json *value) {
    phi_str step;
    if (path.len == 0) return phi_json_copy(tree->arena, value);
    phi_json *node = phi_json_new_object(tree->arena);
    if (node == NULL || !phi__effect_step(tree->arena, &path, &step)) return NULL;
    phi_json *inner = phi__effect_wrap(tree, path, value);
    return phi__json_edit_set(tree->arena, node, step, inner) == PHI_OK ? node : NULL;
}

/* Follows the path to its end, or to the first missing value, and sets the value there. */
static bool phi__effect_set_path(phi__effect_tree *tree, phi_str path, const phi_json *value) {
    phi__effect_place p = PHI_ZERO;
    p.was = tree->root;
    do {
        p.container = p.was;
        p.depth++;
        if (!phi__effect_step(tree->arena, &path, &p.key)) return phi__effect_lost(tree);
        if (phi_json_is(p.container, PHI_JSON_ARRAY)) {
            p.at = phi__effect_index(p.key, phi_json_count(p.container));
            if (p.at > phi_json_count(p.container))
                tree->why = "the path names no item of an array";
            p.was = phi_json_at(p.container, p.at);
        } else if (!phi_json_is(p.container, PHI_JSON_OBJECT)) {
            tree->why = "the path leads through a value that has no members";
        } else if (!phi__effect_get(tree, p.container, p.key, &p.was)) {
            return false;
        }
        if (tree->why != NULL) return false;
    } while (p.was != NULL && path.len > 0);
    return phi__effect_put(tree, &p, phi__effect_wrap(tree, path, value));
}

static bool phi__effect_delete_path(phi__effect_tree *tree, phi_str path) {
    phi_json *node = tree->root;
    phi_str step;
    while (node != NULL) {
        if (!phi__effect_step(tree->arena, &path, &step)) return phi__effect_lost(tree);
        size_t at =
            phi_json_is(node, PHI_JSON_ARRAY) ? phi__effect_index(step, SIZE_MAX) : SIZE_MAX;
        if (!phi_json_is(node, PHI_JSON_OBJECT)) {
            phi_json *item = at != SIZE_MAX ? phi_json_at(node, at) : NULL;
            if (item != NULL && path.len == 0) {
                tree->bytes -= phi__effect_measure(tree, item) + (phi_json_count(node) > 1);
                (void)phi__json_edit_remove_at(node, at);
            }
            node = path.len > 0 ? item : NULL;
            continue;
        }
        if (path.len == 0) return phi__effect_remove(tree, node, step);
        if (!phi__effect_get(tree, node, step, &node)) return false;
    }
    return tree->status == PHI_OK;
}

/* Recursion is as deep as the value, whose depth the reader limits. */
static bool phi__effect_merge(phi__effect_tree *tree, phi_json *into, const phi_json *value,
                              unsigned depth) {
    phi_json_iter it = phi_json_each(value);
    const phi_json *child;
    phi__effect_place p = PHI_ZERO;
    p.container = into;
    p.depth = depth;
    while ((child = phi_json_next(&it)) != NULL) {
        p.key = it.key;
        if (!phi__effect_get(tree, into, it.key, &p.was)) return false;
        bool both = phi_json_is(p.was, PHI_JSON_OBJECT) && phi_json_is(child, PHI_JSON_OBJECT);
        if (both ? !phi__effect_merge(tree, p.was, child, depth + 1)
                 : !phi__effect_put(tree, &p, phi_json_copy(tree->arena, child)))
            return false;
    }
    return true;
}

static bool phi__effect_delete_keys(phi__effect_tree *tree, const phi_json *keys) {
    phi_json_iter it = phi_json_each(keys);
    const phi_json *key;
    while ((key = phi_json_next(&it)) != NULL)
        if (!phi__effect_remove(tree, tree->root, phi_json_str(key, ""))) return false;
    return true;
}

/* Replaces the tree by a copy of an object. Returns PHI_OK or PHI_NO_MEMORY. */
static phi_status phi__effect_replace(phi__effect_tree *tree, const phi_json *value) {
    tree->root = phi_json_copy(tree->arena, value);
    if (tree->root == NULL) (void)phi__effect_lost(tree);
    if (tree->status == PHI_OK) tree->bytes = phi__effect_measure(tree, tree->root);
    return tree->status;
}

PHI__FN phi_status phi__effect_open(phi__effect_tree *tree, phi_memory *memory, phi_arena *arena,
                                    phi_str text) {
    memset(tree, 0, sizeof *tree);
    tree->arena = arena;
    phi__buf_init(&tree->text, memory);
    phi__json_index_init(&tree->index, memory, arena);
    tree->bytes = text.len;
    if (phi_json_parse(arena, text, 0, &tree->root, NULL) != PHI_OK) (void)phi__effect_lost(tree);
    return tree->status;
}

PHI__FN void phi__effect_close(phi__effect_tree *tree) {
    phi__json_index_free(&tree->index);
    phi__buf_free(&tree->text);
}

PHI__FN phi_status phi__effect_apply(phi__effect_tree *tree, const phi_json *effect,
                                     size_t max_bytes, const char **why) {
    phi_json *root = tree->root;
    size_t bytes = tree->bytes;
    tree->changes = NULL;
    tree->why = NULL;
    const phi_json *value = phi_json_get(effect, "value");
    phi_str path = phi_json_str(phi_json_get(effect, "path"), "");
    switch (phi__effect_op(effect)) {
    case PHI_EFFECT_MERGE: (void)phi__effect_merge(tree, tree->root, value, 1); break;
    case PHI_EFFECT_REPLACE: (void)phi__effect_replace(tree, value); break;
    case PHI_EFFECT_DELETE_KEYS:
        (void)phi__effect_delete_keys(tree, phi_json_get(effect, "keys"));
        break;
    case PHI_EFFECT_SET_PATH: (void)phi__effect_set_path(tree, path, value); break;
    case PHI_EFFECT_DELETE_PATH: (void)phi__effect_delete_path(tree, path); break;
    default: break;
    }
    if (tree->status == PHI_OK && tree->index.shed)
        tree->bytes = phi__effect_measure(tree, tree->root);
    if (tree->status == PHI_OK && tree->why == NULL && tree->bytes > max_bytes &&
        tree->bytes > bytes) /* only an effect that grows the state is refused for its size */
        tree->why = "the state would be too large";
    if (tree->status == PHI_OK && tree->why != NULL) {
        /* Undoes the changes of the current effect. This takes no memory. */
        const phi__effect_change *c = tree->changes;
        for (; c != NULL; c = c->next) {
            phi_str key = phi__str(c->made->key, phi__json_key_len(c->made));
            phi_json *gone;
            if (phi_json_is(c->container, PHI_JSON_ARRAY) && c->was != NULL)
                (void)phi__effect_put_item(c->container, c->at, c->was);
            else if (phi_json_is(c->container, PHI_JSON_ARRAY))
                (void)phi__json_edit_remove_at(c->container, c->at);
            else if (c->was != NULL)
                (void)phi__json_index_set(&tree->index, c->container, key, c->was);
            else
                (void)phi__json_index_remove(&tree->index, c->container, key, &gone);
        }
        tree->root = root;
        tree->bytes = tree->index.shed ? phi__effect_measure(tree, root) : bytes;
    }
    tree->index.shed = false;
    *why = tree->why;
    return tree->status;
}

/* ---- the tool state of a lane, computed from its notes ---- */

/* A list of notes, oldest first. */
typedef struct phi__state_note {
    const struct phi__state_note *next;
    phi_json *root;
} phi__state_note;

/* Lists the notes of a lane, beginning with the last note that has the whole state. False: no
   memory. */
static bool phi__state_notes(const phi_thread *thread, const phi__limit *limits, uint64_t upto,
                             phi_arena *arena, const phi__state_note **out) {
    uint64_t skip_to = 0;
    uint32_t skip_lane = PHI__LANE_NONE;
    size_t i = thread->log.held;
    *out = NULL;
    while (i-- > 0) {
        const phi__entry *entry = thread->log.entries[i];
        if (entry->seq > upto || !limits[entry->lane].any || entry->seq > limits[entry->lane].seq ||
            (entry->lane == skip_lane && entry->seq >= skip_to))
            continue;
        if (entry->kind == PHI_ENTRY_LOOP_END && entry->keep == PHI_KEEP_NONE &&
            entry->ordinal > 0) { /* the run is undone, so its notes are skipped */
            skip_lane = entry->lane;
            skip_to = (uint64_t)entry->ordinal - 1;
        }
        if (entry->kind != PHI_ENTRY_NOTE || !phi__str_is(entry->of.note->kind, PHI_NOTE_STATE))
            continue;
        phi__state_note *note = (phi__state_note *)phi__arena_zero(arena, sizeof *note);
        if (note == NULL) return false;
        phi_status status = phi_json_parse(arena, entry->of.note->json, 0, &note->root, NULL);
        if (status == PHI_NO_MEMORY) return false;
        if (status != PHI_OK) continue; /* a log from a file may have any text in this note */
        note->next = *out;
        *out = note;
        if (phi_json_is(phi_json_get(note->root, "state"), PHI_JSON_OBJECT)) return true;
    }
    return true;
}

/* Applies the effects of a note. *tail counts the bytes of effects since the whole state. */
static phi_status phi__state_replay(phi__effect_tree *tree, const phi__state_note *note,
                                    uint64_t *tail) {
    const phi_json *whole = phi_json_get(note->root, "state"),
                   *effects = phi_json_get(note->root, "effects"), *effect;
    phi_json_iter it = phi_json_each(effects);
    const char *why;
    if (phi_json_is(whole, PHI_JSON_OBJECT)) {
        *tail = 0;
        return phi__effect_replace(tree, whole);
    }
    phi__buf_clear(&tree->text);
    phi_status status = phi__json_write(&tree->text, effects, 0);
    *tail += tree->text.len;
    while (status == PHI_OK && (effect = phi_json_next(&it)) != NULL)
        if (phi__effect_fault(effect) == NULL)
            status = phi__effect_apply(tree, effect, PHI__TOOL_STATE_MOST, &why);
    return status;
}

static bool phi__state_copy(phi_memory *memory, phi_str from, phi__state_text *out) {
    memset(out, 0, sizeof *out);
    if (phi__str_is(from, "{}")) return true;
    out->at = (char *)phi__alloc(memory, phi__add(from.len, 1));
    if (out->at == NULL) return false;
    memcpy(out->at, from.at, from.len);
    out->len = from.len;
    return true;
}

/* Computes a lane's state after an entry. */
static phi_status phi__state_read(const phi_thread *thread, uint32_t lane, uint64_t upto,
                                  phi__state_text *out) {
    phi_memory *memory = thread->log.memory;
    phi__limit *limits = phi__fold_limits(thread, lane, upto);
    const phi__state_note *note = NULL;
    phi__effect_tree tree;
    phi_arena scratch;
    phi__buf text;
    uint64_t tail = 0;
    memset(out, 0, sizeof *out);
    phi_arena_init(&scratch, memory, 0);
    phi__buf_init(&text, memory);
    phi_status status = phi__effect_open(&tree, memory, &scratch, PHI__LIT("{}"));
    if (limits == NULL || !phi__state_notes(thread, limits, upto, &scratch, &note))
        status = PHI_NO_MEMORY;
    for (; status == PHI_OK && note != NULL; note = note->next)
        status = phi__state_replay(&tree, note, &tail);
    if (status == PHI_OK) status = phi__json_write(&text, tree.root, 0);
    bool done =
        status == PHI_OK && !text.failed && phi__state_copy(memory, phi__buf_str(&text), out);
    out->tail = tail;
    phi__effect_close(&tree);
    phi__free(memory, limits, limits != NULL ? phi__thread_lanes(thread) * sizeof *limits : 0);
    phi__buf_free(&text);
    phi_arena_free(&scratch);
    return done ? PHI_OK : PHI_NO_MEMORY;
}

PHI__FN phi_status phi__state_fold(const phi_thread *thread, uint32_t lane, uint64_t upto,
                                   phi_arena *arena, phi_str *out) {
    phi__state_text made;
    phi_status status = phi__state_read(thread, lane, upto, &made);
    phi_str text = made.at != NULL ? phi__str(made.at, made.len) : PHI__LIT("{}");
    if (status == PHI_OK && !phi__arena_str(arena, text, out)) status = PHI_NO_MEMORY;
    phi__state_drop(thread->log.memory, &made);
    return status;
}

/* ---- the state of the active lane ---- */

/* Takes `made` as the new state. A run that may keep nothing also keeps the state before its first
   change until the run ends. */
static void phi__state_take(phi_thread *thread, const phi__state_text *made) {
    phi__tool_state *state = &thread->state;
    const phi__entry *run = thread->loops.started;
    uint64_t start = run != NULL && thread->loops.keeps_none ? run->seq + 1 : 0;
    if (start != 0 && state->run != start) {
        phi__state_drop(thread->log.memory, &state->before);
        state->before = state->now;
        state->run = start;
        memset(&state->now, 0, sizeof state->now);
    }
    phi__state_drop(thread->log.memory, &state->now);
    state->now = *made;
    state->known = true;
}

/* Computes the state. If the active run was read with its thread, also computes the state before
   the run, because the notes that hold it may be evicted. */
static phi_status phi__tool_state_learn(phi_thread *thread) {
    const phi__entry *run = thread->loops.started;
    phi__state_text now;
    phi_status status = phi__state_read(thread, thread->lanes.active, UINT64_MAX, &now);
    phi__state_text before = PHI_ZERO;
    if (status == PHI_OK && run != NULL)
        status = phi__state_read(thread, thread->lanes.active, run->seq, &before);
    if (status != PHI_OK) {
        phi__state_drop(thread->log.memory, &now);
        return status;
    }
    phi__tool_state *state = &thread->state;
    phi__state_drop(thread->log.memory, &state->now);
    phi__state_drop(thread->log.memory, &state->before);
    state->now = now;
    state->before = before;
    state->run = (run != NULL ? run->seq + 1 : 0);
    state->known = true;
    return PHI_OK;
}

PHI__FN phi_status phi__state_now(phi_thread *thread, phi_str *out) {
    phi_status status = thread->state.known ? PHI_OK : phi__tool_state_learn(thread);
    const phi__state_text *now = &thread->state.now;
    *out = status == PHI_OK && now->at != NULL ? phi__str(now->at, now->len) : PHI__LIT("{}");
    return status;
}

/* ---- notes ---- */

/* Adds a note of a call's effects, of a state, or of both. `whole` is the state after the effects;
   NULL: left out. */
static phi_status phi__state_note_add(phi_thread *thread, phi_str call_id, const phi__buf *applied,
                                      const phi__buf *denied, const phi_str *whole) {
    phi_status status = PHI_NO_MEMORY;
    phi__buf note;
    phi__buf_init(&note, thread->log.memory);
    phi__buf_char(&note, '{');
    phi__records_some(&note, "call", call_id);
    if (applied != NULL) {
        phi__json_write_key(&note, PHI__LIT("effects"));
        phi__buf_add_str(&note, phi__buf_str(applied));
    }
    if (denied != NULL && denied->len > 2) { /* an empty array is left out */
        phi__json_write_key(&note, PHI__LIT("denied"));
        phi__buf_add_str(&note, phi__buf_str(denied));
    }
    if (whole != NULL) {
        phi__json_write_key(&note, PHI__LIT("state"));
        phi__buf_add_str(&note, *whole);
    }
    phi__buf_char(&note, '}');
    if (!note.failed) status = phi__note_add_of_run(thread, PHI_NOTE_STATE, phi__buf_str(&note));
    phi__buf_free(&note);
    return status == PHI_OK ? PHI_OK : PHI_NO_MEMORY;
}

static phi_status phi__state_note_whole(phi_thread *thread, phi_str state) {
    return phi__state_note_add(thread, phi__str("", 0), NULL, NULL, &state);
}

PHI__FN phi_status phi__state_at(const phi_thread *thread, uint32_t lane, uint64_t upto,
                                 phi_arena *arena, phi_str *out) {
    if (lane == thread->lanes.active && (upto == UINT64_MAX || upto + 1 >= thread->log.count))
        return phi__state_now((phi_thread *)(uintptr_t)thread, out);
    return phi__state_fold(thread, lane, upto, arena, out);
}

PHI__FN bool phi__state_carry(phi_thread *thread, const phi_thread *from, uint32_t lane,
                              uint64_t upto) {
    phi_arena scratch;
    phi_str text;
    phi_arena_init(&scratch, thread->log.memory, 0);
    bool done = phi__state_at(from, lane, upto, &scratch, &text) == PHI_OK;
    if (done && !phi__str_is(text, "{}")) done = phi__state_note_whole(thread, text) == PHI_OK;
    thread->state.known = false;
    phi_arena_free(&scratch);
    return done;
}

PHI__FN phi_status phi__state_set(phi_thread *thread, phi_str json, size_t max_bytes) {
    phi_json *root = NULL;
    phi_arena scratch;
    phi__buf text;
    phi_str now;
    phi_arena_init(&scratch, thread->log.memory, 0);
    phi__buf_init(&text, thread->log.memory);
    phi__state_text made = PHI_ZERO;
    phi_status status = phi_json_parse(&scratch, json, PHI_JSON_BORROW, &root, NULL);
    if (status == PHI_OK && phi_json_is(root, PHI_JSON_OBJECT))
        status = phi__json_write(&text, root, 0);
    if (status == PHI_OK && (!phi_json_is(root, PHI_JSON_OBJECT) || text.len > max_bytes))
        status = PHI_BAD_ARG;
    if (status != PHI_OK && status != PHI_NO_MEMORY) status = PHI_BAD_ARG;
    /* kept as the state before, in case the run is undone */
    if (status == PHI_OK) status = phi__state_now(thread, &now);
    if (status == PHI_OK && !phi__state_copy(thread->log.memory, phi__buf_str(&text), &made))
        status = PHI_NO_MEMORY;
    if (status == PHI_OK) status = phi__state_note_whole(thread, phi__buf_str(&text));
    if (status == PHI_OK)
        phi__state_take(thread, &made);
    else
        phi__state_drop(thread->log.memory, &made);
    phi__buf_free(&text);
    phi_arena_free(&scratch);
    return status;
}

/* ---- the effects of a call ---- */

/* Applies the effects, and writes two lists: the applied effects and the denied ones. */
static phi_status phi__state_run(phi__effect_tree *tree, const phi_json *list,
                                 const phi__state_order *order, phi_arena *arena,
                                 phi__state_outcome *outcomes, phi__buf *applied,
                                 phi__buf *denied) {
    phi_json_iter it = phi_json_each(list);
    const phi_json *effect;
    phi_status status = PHI_OK;
    for (; status == PHI_OK && (effect = phi_json_next(&it)) != NULL; outcomes++) {
        outcomes->op = phi__effect_op(effect);
        outcomes->why = phi__effect_fault(effect);
        if (outcomes->why == NULL && (order->allowed & outcomes->op) == 0)
            outcomes->why = "the policy denies it";
        if (outcomes->why == NULL && outcomes->op != PHI_EFFECT_EMIT)
            status = phi__effect_apply(tree, effect, order->max_bytes, &outcomes->why);
        if (outcomes->why == NULL && outcomes->op == PHI_EFFECT_EMIT) {
            outcomes->name = phi_json_str(phi_json_get(effect, "name"), "");
            status = phi_json_write(arena, phi_json_get(effect, "value"), 0, &outcomes->value);
        }
        if (status != PHI_OK) break;
        if (outcomes->why == NULL) {
            phi__json_write_comma(applied);
            status = phi__json_write(applied, effect, 0);
            continue;
        }
        phi__json_write_comma(denied);
        phi__buf_char(denied, '{');
        phi__records_str(denied, "op", phi_str_of(phi__effect_word(outcomes->op)));
        phi__records_str(denied, "why", phi_str_of(outcomes->why));
        phi__buf_char(denied, '}');
    }
    return status;
}

/* Adds the note, then sets the state. */
static phi_status phi__state_commit(phi_thread *thread, phi_str call_id, const phi__buf *text,
                                    const phi__buf *applied, const phi__buf *denied) {
    uint64_t tail = thread->state.now.tail + applied->len;
    bool whole = tail > text->len;
    phi_str state = phi__buf_str(text);
    phi__state_text made;
    if (!phi__state_copy(thread->log.memory, state, &made)) return PHI_NO_MEMORY;
    made.tail = whole ? 0 : tail;
    phi_status status =
        phi__state_note_add(thread, call_id, applied, denied, whole ? &state : NULL);
    if (status == PHI_OK)
        phi__state_take(thread, &made);
    else
        phi__state_drop(thread->log.memory, &made);
    return status;
}

PHI__FN phi_status phi__state_apply(phi_thread *thread, const phi__state_order *order,
                                    phi_arena *arena, phi__state_outcome **outcomes, size_t *count,
                                    bool *changed) {
    phi__buf text, applied, denied;
    phi__effect_tree tree;
    phi_json *list = NULL;
    phi_str now;
    phi_status status = phi_json_parse(arena, order->effects, 0, &list, NULL);
    *count = status == PHI_OK && phi_json_is(list, PHI_JSON_ARRAY) ? phi_json_count(list) : 0;
    *changed = false;
    if (status == PHI_NO_MEMORY || phi__state_now(thread, &now) != PHI_OK) return PHI_NO_MEMORY;
    *outcomes = (phi__state_outcome *)phi__arena_zero(
        arena, phi__mul(phi__max(*count, 1), sizeof **outcomes));
    if (*outcomes == NULL) return PHI_NO_MEMORY;
    if (*count == 0) return PHI_OK;
    phi__buf_init(&text, thread->log.memory);
    phi__buf_init(&applied, thread->log.memory);
    phi__buf_init(&denied, thread->log.memory);
    phi__buf_char(&applied, '[');
    phi__buf_char(&denied, '[');
    status = phi__effect_open(&tree, thread->log.memory, arena, now);
    if (status == PHI_OK)
        status = phi__state_run(&tree, list, order, arena, *outcomes, &applied, &denied);
    if (status == PHI_OK) status = phi__json_write(&text, tree.root, 0);
    phi__effect_close(&tree);
    phi__buf_char(&applied, ']');
    phi__buf_char(&denied, ']');
    if (status == PHI_OK && (text.failed || applied.failed || denied.failed))
        status = PHI_NO_MEMORY;
    if (status == PHI_OK) *changed = text.len != now.len || memcmp(text.at, now.at, now.len) != 0;
    if (status == PHI_OK)
        status = phi__state_commit(thread, order->call_id, &text, &applied, &denied);
    phi__buf_free(&text);
    phi__buf_free(&applied);
    phi__buf_free(&denied);
    return status == PHI_OK ? PHI_OK : PHI_NO_MEMORY;
}
