/* pool.c - memory and messages of the readers of TOML and YAML. */
#include "formats/reader_in.h"

#include <stdio.h>

enum {
    PHI__POOL_TEXT = 4096, /* bytes of text taken from the arena at once */
    PHI__POOL_NODES = 16   /* max. nodes taken from the arena at once */
};

PHI__FN phi_json *phi__pool_node(phi__pool *pool, phi_arena *arena, size_t left, uint32_t meta) {
    if (pool->spare == pool->spare_end) {
        size_t count = phi__min(1 + left / 16, PHI__POOL_NODES);
        pool->spare = (phi_json *)phi_arena_alloc(arena, count * sizeof *pool->spare);
        pool->spare_end = pool->spare == NULL ? NULL : pool->spare + count;
        if (pool->spare == NULL) return NULL;
    }
    phi_json *node = pool->spare++;
    memset(node, 0, sizeof *node);
    node->meta = meta;
    return node;
}

PHI__FN bool phi__pool_room(phi__pool *pool, phi_arena *arena, char **text, char **to, size_t more,
                            size_t left) {
    if (*text == NULL) *text = *to = pool->text;
    if ((size_t)(pool->text_end - *to) > more) return true;
    size_t have = (size_t)(*to - *text);
    size_t bytes = phi__add(phi__add(have, more), 1);
    bytes = phi__add(bytes, phi__min(phi__max(have, PHI__POOL_TEXT), left)); /* doubles the room */
    char *room = bytes == SIZE_MAX ? NULL : phi__arena_bytes(arena, bytes);
    if (room == NULL) return false;
    if (have > 0) memcpy(room, *text, have);
    pool->text = *text = room;
    pool->text_end = room + bytes;
    *to = room + have;
    return true;
}

PHI__FN void phi__pool_end(phi__pool *pool, phi_arena *arena) {
    if (pool->spare != pool->spare_end && (char *)pool->spare_end == arena->at)
        arena->at = (char *)pool->spare;
    pool->spare = pool->spare_end = NULL;
}

PHI__FN void phi__reader_found(char *message, size_t size, const char *what, const char *at,
                               const char *end, bool is_break) {
    unsigned char c = at < end ? (unsigned char)*at : 0;
    if (at >= end)
        (void)snprintf(message, size, "expected %s, found the end of the text", what);
    else if (is_break)
        (void)snprintf(message, size, "expected %s, found the end of the line", what);
    else if (c > 0x20 && c < 0x7f)
        (void)snprintf(message, size, "expected %s, found '%c'", what, c);
    else if (c == ' ' || c == '\t')
        (void)snprintf(message, size, "expected %s, found %s", what,
                       c == ' ' ? "a space" : "a tab");
    else
        (void)snprintf(message, size, "expected %s, found byte 0x%02x", what, c);
}
