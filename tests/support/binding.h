/* binding.h - a stand-in for a server that checks the prefix of thinking, in the words of Anthropic's
   documents ("Prefix checks on thinking blocks", read 2026-11-26): a block is valid while system,
   tools and every message before it are what they were when it was made, cache marks and thinking
   aside, and while the thinking before it is the one that was before it then, or it is the first.
   It looks at bodies of the Messages API alone, and also finds thinking that could have gone back. */
#ifndef PHI_TESTS_SUPPORT_BINDING_H
#define PHI_TESTS_SUPPORT_BINDING_H

#include "support/test.h"
#include "text/json_in.h"

enum { BINDING_MOST = 512 };

typedef struct binding {
    phi_memory memory;
    phi_arena arena;
    size_t count;
    const char *signature[BINDING_MOST], *prefix[BINDING_MOST], *before[BINDING_MOST];
    const char *model[BINDING_MOST];
} binding;

typedef struct binding_found {
    size_t sent;    /* thinking blocks in the request */
    size_t invalid; /* of them; each is a 400 */
    size_t lost;    /* recorded ones that were left out, though they were valid */
    char words[200];
} binding_found;

static inline void binding_begin(binding *b) {
    memset(b, 0, sizeof *b);
    phi_memory_init(&b->memory, NULL, 0);
    phi_arena_init(&b->arena, &b->memory, 0);
}

static inline void binding_end(binding *b) { phi_arena_free(&b->arena); }

/* JSON text without cache marks. */
static inline void binding_put(binding *b, phi__buf *out, const phi_json *node) {
    static const char mark[] = ",\"cache_control\":{\"type\":\"ephemeral\"}";
    phi_str text = {NULL, 0};
    size_t at;
    if (node == NULL || phi_json_write(&b->arena, node, 0, &text) != PHI_OK) return;
    while ((at = phi__str_find(text, 0, mark)) != SIZE_MAX) {
        phi__buf_add(out, text.at, at);
        text = phi__str(text.at + at + sizeof mark - 1, text.len - at - (sizeof mark - 1));
    }
    phi__buf_add_str(out, text);
}

static inline const char *binding_keep(binding *b, phi_str s) {
    phi_str copy = {NULL, 0};
    CHECK(phi__arena_str(&b->arena, s, &copy));
    return copy.at;
}

static inline size_t binding_find(const binding *b, phi_str signature) {
    size_t i;
    for (i = 0; i < b->count; i++)
        if (phi__str_is(signature, b->signature[i])) return i;
    return SIZE_MAX;
}

typedef struct binding_walk {
    binding *b;
    binding_found *found;
    phi__buf prefix;
    const char *last; /* thinking so far; "": none */
    phi_str model;
} binding_walk;

static inline void binding_look(binding_walk *w, phi_str signature, size_t message) {
    size_t at = binding_find(w->b, signature);
    bool prefix = at != SIZE_MAX && phi__str_is(phi__buf_str(&w->prefix), w->b->prefix[at]);
    bool run = at != SIZE_MAX && (w->last[0] == '\0' || strcmp(w->last, w->b->before[at]) == 0);
    w->found->sent++;
    if (!prefix || !run) {
        w->found->invalid++;
        if (w->found->words[0] == '\0')
            (void)snprintf(w->found->words, sizeof w->found->words, "messages.%u: %.*s: %s",
                           (unsigned)message, (int)signature.len, signature.at,
                           at == SIZE_MAX ? "unknown signature"
                           : prefix       ? "thinking before it is missing"
                                          : "the block is bound to a different conversation");
    }
    if (at != SIZE_MAX) w->last = w->b->signature[at];
}

/* Of a text whose answer had thinking: whether that could have been sent. Texts name their
   signature: "text of SIGNATURE". */
static inline void binding_missed(binding_walk *w, const phi_json *block, bool thinks) {
    phi_str text = phi_json_str(phi_json_get(block, "text"), "");
    size_t at = phi__str_find(text, 0, "text of "), i;
    if (at != 0 || thinks) return;
    i = binding_find(w->b, phi__str(text.at + 8, text.len - 8));
    if (i == SIZE_MAX || !phi__str_is(phi__buf_str(&w->prefix), w->b->prefix[i])) return;
    if (!phi__str_is(w->model, w->b->model[i])) return;
    if (w->last[0] != '\0' && strcmp(w->last, w->b->before[i]) != 0) return;
    w->found->lost++;
    if (w->found->words[0] == '\0')
        (void)snprintf(w->found->words, sizeof w->found->words, "%s was lost", w->b->signature[i]);
}

/* Looks at a request; the answer to it will have the thinking `signature`, where that is not
   NULL. */
static inline binding_found binding_request(binding *b, const char *body, const char *signature) {
    binding_found found;
    binding_walk w;
    phi_json *root = NULL;
    const phi_json *message, *block;
    phi_json_iter messages, blocks;
    size_t n = 0;
    memset(&found, 0, sizeof found);
    memset(&w, 0, sizeof w);
    w.b = b;
    w.found = &found;
    w.last = "";
    phi__buf_init(&w.prefix, &b->memory);
    CHECK_EQ_INT(phi_json_parse(&b->arena, phi_str_of(body), 0, &root, NULL), PHI_OK);
    w.model = phi_json_str(phi_json_get(root, "model"), "");
    binding_put(b, &w.prefix, phi_json_get(root, "system"));
    binding_put(b, &w.prefix, phi_json_get(root, "tools"));
    messages = phi_json_each(phi_json_get(root, "messages"));
    for (; (message = phi_json_next(&messages)) != NULL; n++) {
        phi_str role = phi_json_str(phi_json_get(message, "role"), "");
        bool thinks = false;
        blocks = phi_json_each(phi_json_get(message, "content"));
        while ((block = phi_json_next(&blocks)) != NULL) {
            if (phi__str_is(phi_json_str(phi_json_get(block, "type"), ""), "thinking")) {
                binding_look(&w, phi_json_str(phi_json_get(block, "signature"), ""), n);
                thinks = true;
                continue;
            }
            if (phi__str_is(role, "assistant")) binding_missed(&w, block, thinks);
            phi__buf_char(&w.prefix, role.at[0]);
            binding_put(b, &w.prefix, block);
        }
    }
    if (signature != NULL && CHECK(b->count < BINDING_MOST)) {
        b->signature[b->count] = binding_keep(b, phi_str_of(signature));
        b->model[b->count] = binding_keep(b, w.model);
        b->prefix[b->count] = binding_keep(b, phi__buf_str(&w.prefix));
        b->before[b->count++] = w.last;
    }
    phi__buf_free(&w.prefix);
    return found;
}

#endif
