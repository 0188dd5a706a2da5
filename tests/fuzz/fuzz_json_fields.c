/* fuzz_json_fields.c - any bytes, cut at places that they choose, through the scanner of growing texts.

   What must hold: what is found does not depend on how the text was cut; each value is JSON by itself; of a
   text that the reader takes, the leaves of its tree are found, in order, unless a limit ended it; nothing
   is left allocated. */
#include "text/json_in.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool held) {
    if (!held) abort();
}

/* What was found, one after another: the lengths, then the bytes. */
static void note(phi__buf *all, phi_str path, phi_str value) {
    phi__buf_add(all, (const char *)&path.len, sizeof path.len);
    phi__buf_add(all, (const char *)&value.len, sizeof value.len);
    phi__buf_add_str(all, path);
    phi__buf_add_str(all, value);
}

static int found(phi_memory *memory, phi_str text, uint32_t seed, phi__buf *all) {
    phi__json_fields f;
    phi_str path, value;
    size_t len = seed == 0 ? text.len : 0;
    int got;
    phi__json_fields_init(&f, memory);
    for (;;) {
        char *copy = (char *)malloc(len > 0 ? len : 1); /* its end is watched, and it moves */
        must(copy != NULL);
        if (len > 0) memcpy(copy, text.at, len);
        while ((got = phi__json_fields_next(&f, phi__str(copy, len), &path, &value)) > 0)
            note(all, path, value);
        free(copy);
        if (len == text.len) break;
        seed = seed * 1103515245u + 12345u;
        len = phi__min(text.len, len + 1 + (seed >> 16) % 7);
    }
    phi__json_fields_free(&f);
    return got;
}

/* Takes the leaves of a tree off the front of what was found. */
static void match(const phi_json *node, phi_arena *arena, phi_str *rest) {
    uint32_t kind = phi__json_kind_of(node), i;
    const phi_json *child;
    size_t lens[2];
    phi_json *value;
    if ((kind == PHI__JSON_ARRAY || kind == PHI__JSON_OBJECT) && node->len > 0) {
        for (i = 0, child = node->v.last->next; i < node->len; i++, child = child->next)
            match(child, arena, rest);
        return;
    }
    must(rest->len >= sizeof lens);
    memcpy(lens, rest->at, sizeof lens);
    must(phi_json_parse(arena, phi__str(rest->at + sizeof lens + lens[0], lens[1]), 0, &value,
                        NULL) == PHI_OK);
    must(phi__json_get_equal(value, node));
    rest->at += sizeof lens + lens[0] + lens[1];
    rest->len -= sizeof lens + lens[0] + lens[1];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    phi_memory memory;
    phi_arena arena;
    phi__buf whole, cut;
    phi_json *root;
    phi_str text, rest;
    int got, again;
    uint32_t seed = size > 0 ? 1u + data[0] : 1u;
    if (size > 4096) return 0;
    text = phi__str((const char *)data, size);
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    phi__buf_init(&whole, &memory);
    phi__buf_init(&cut, &memory);
    got = found(&memory, text, 0, &whole);
    again = found(&memory, text, seed, &cut);
    must(got == again);
    must(whole.len == cut.len && (whole.len == 0 || memcmp(whole.at, cut.at, cut.len) == 0));
    if (phi_json_parse(&arena, text, 0, &root, NULL) == PHI_OK) {
        rest = phi__buf_str(&whole);
        must(got == 0 || got == PHI_TOO_BIG);
        if (got == 0 && phi_json_type_of(root) != PHI_JSON_NUMBER) {
            match(root, &arena, &rest);
            must(rest.len == 0);
        }
    }
    phi__buf_free(&whole);
    phi__buf_free(&cut);
    phi_arena_free(&arena);
    must(memory.used_bytes == 0);
    return 0;
}
