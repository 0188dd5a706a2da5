/* fuzz_effects.c - a state and effects, both out of any bytes: an effect without fault is applied or refused with words,
   the state stays an object within its limit, and nothing is left. The first zero byte parts the two. */
#include "log/thread_in.h"

#include <stdlib.h>

enum { MOST = 4096 };

static void apply_all(phi_memory *memory, phi_arena *arena, const phi_json *state, phi_json *list) {
    phi_json_iter it = phi_json_each(list);
    const phi_json *effect;
    phi__effect_tree tree;
    phi__buf text;
    phi__buf_init(&text, memory);
    if (phi__json_write(&text, state, 0) != PHI_OK ||
        phi__effect_open(&tree, memory, arena, phi__buf_str(&text)) != PHI_OK)
        abort();
    while ((effect = phi_json_next(&it)) != NULL) {
        const char *why = NULL;
        if (phi__effect_fault(effect) != NULL) abort();
        if (phi__effect_apply(&tree, effect, MOST, &why) != PHI_OK) abort();
        phi__buf_clear(&text);
        if (phi__json_write(&text, tree.root, 0) != PHI_OK) abort();
        if (tree.bytes != text.len || (why == NULL && text.len > MOST)) abort();
    }
    phi__effect_close(&tree);
    phi__buf_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *text = (const char *)data;
    const char *cut = size > 0 ? (const char *)memchr(text, 0, size) : NULL;
    size_t first = cut != NULL ? (size_t)(cut - text) : size;
    phi_str state = phi__str(text, first), effects;
    phi_memory memory;
    phi_arena arena;
    phi_json *root = NULL, *list = NULL;
    char words[160] = "";
    effects = phi__str(cut != NULL ? cut + 1 : text, cut != NULL ? size - first - 1 : size);
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    if (phi__effect_check(&memory, effects, words, sizeof words) != PHI_OK) {
        if (words[0] == '\0' || memchr(words, 0, sizeof words) == NULL) abort();
    } else if (phi_json_parse(&arena, effects, 0, &list, NULL) == PHI_OK &&
               phi_json_parse(&arena, state, 0, &root, NULL) == PHI_OK &&
               phi_json_is(root, PHI_JSON_OBJECT)) {
        apply_all(&memory, &arena, root, list);
    }
    phi_arena_free(&arena);
    if (memory.used_bytes != 0) abort();
    return 0;
}
