/* arena.c - arenas: chained blocks, newest first; and buffers that grow. */
#include "base/base_in.h"

#include <stdarg.h>
#include <stdio.h>

#if defined(__SANITIZE_ADDRESS__)
#define PHI__ARENA_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PHI__ARENA_ASAN 1
#endif
#endif

#ifdef PHI__ARENA_ASAN
#ifdef __cplusplus
extern "C" {
#endif
void __asan_poison_memory_region(void const volatile *at, size_t size);
void __asan_unpoison_memory_region(void const volatile *at, size_t size);
#ifdef __cplusplus
}
#endif
#define PHI__POISON(at, size) __asan_poison_memory_region((at), (size))
#define PHI__UNPOISON(at, size) __asan_unpoison_memory_region((at), (size))
#else
#define PHI__POISON(at, size) ((void)(at), (void)(size))
#define PHI__UNPOISON(at, size) ((void)(at), (void)(size))
#endif

#define PHI__ARENA_ALIGN 16u
#define PHI__ARENA_DEFAULT 2048u /* bytes of the first block */
#define PHI__ARENA_MOST 65536u   /* bytes of the largest shared block */

/* A block's header. It has 16 bytes on every supported platform, which aligns the memory. */
struct phi__block {
    struct phi__block *older;
    size_t bytes; /* including this header */
#if UINTPTR_MAX == 0xffffffffu
    uint32_t pad[2];
#endif
};

/* Takes a spare block that is large enough, but at most twice as large as needed. */
static struct phi__block *phi__arena_reuse(phi_arena *arena, size_t bytes) {
    for (struct phi__block **at = &arena->spare; *at != NULL; at = &(*at)->older) {
        struct phi__block *block = *at;
        if (block->bytes < bytes || block->bytes / 2 > bytes) continue;
        *at = block->older;
        PHI__UNPOISON(block, block->bytes);
        return block;
    }
    return NULL;
}

static struct phi__block *phi__arena_take(phi_arena *arena, size_t payload) {
    size_t bytes = phi__add(payload, sizeof(struct phi__block));
    if (bytes == SIZE_MAX) return NULL;
    struct phi__block *block = phi__arena_reuse(arena, bytes);
    if (block != NULL) return block;
    block = (struct phi__block *)phi__realloc(arena->memory, NULL, 0, bytes);
    if (block == NULL) return NULL;
    block->bytes = bytes;
    return block;
}

static void phi__arena_drop(phi_arena *arena, struct phi__block **list, struct phi__block *until) {
    while (*list != until) {
        struct phi__block *block = *list;
        *list = block->older;
        PHI__UNPOISON(block, block->bytes);
        phi__free(arena->memory, block, block->bytes);
    }
}

/* Rounds up the size of a large block, by at most an eighth, if the arena is rewound. The block can
   then be used again for a slightly larger request. */
static size_t phi__arena_round(const phi_arena *arena, size_t bytes) {
    size_t step = 512;
    if (!arena->rewound || bytes < 8 * step || bytes > SIZE_MAX / 4) return bytes;
    while (step * 16 <= bytes) step *= 2;
    return (bytes + step - 1) / step * step;
}

static void *phi__arena_take_aligned(phi_arena *arena, size_t bytes, size_t align) {
    size_t pad = (size_t)(0u - (uintptr_t)arena->at) & (align - 1);
    if ((size_t)(arena->end - arena->at) < pad || /* false without a block, as both are 0 */
        (size_t)(arena->end - arena->at) - pad < bytes || arena->shared == NULL) {
        if (bytes > (arena->next_block_bytes - sizeof(struct phi__block)) / 2) {
            struct phi__block *block = phi__arena_take(arena, phi__arena_round(arena, bytes));
            if (block == NULL) return NULL;
            block->older = arena->own;
            arena->own = block;
            return block + 1;
        }
        struct phi__block *block =
            phi__arena_take(arena, arena->next_block_bytes - sizeof(struct phi__block));
        if (block == NULL) return NULL;
        block->older = arena->shared;
        arena->shared = block;
        arena->at = (char *)(block + 1);
        arena->end = (char *)block + block->bytes;
        PHI__POISON(arena->at, (size_t)(arena->end - arena->at));
        arena->next_block_bytes = phi__min(arena->next_block_bytes * 2, arena->most_block_bytes);
        pad = 0;
    }
    char *out = arena->at + pad;
    PHI__UNPOISON(out, bytes);
    arena->at = out + bytes;
    return out;
}

PHI__FN void *phi__arena_zero(phi_arena *arena, size_t bytes) {
    /* A product that overflowed gets NULL. The compiler must see that memset never gets such a
       size. */
    void *out = bytes <= SIZE_MAX / 2 ? phi_arena_alloc(arena, bytes) : NULL;
    if (out != NULL) memset(out, 0, bytes);
    return out;
}

PHI__FN char *phi__arena_bytes(phi_arena *arena, size_t bytes) {
    return (char *)phi__arena_take_aligned(arena, bytes, 1);
}

PHI__FN void *phi__arena_grow(phi_arena *arena, void *old, size_t count, size_t *cap, size_t size) {
    if (count < *cap) return old;
    size_t more = phi__max(phi__max(phi__mul(*cap, 2), phi__add(count, 1)), 4);
    void *out = phi_arena_alloc(arena, phi__mul(more, size));
    if (out == NULL) return NULL;
    if (count > 0) memcpy(out, old, count * size);
    *cap = more;
    return out;
}

PHI__FN bool phi__arena_str(phi_arena *arena, phi_str s, phi_str *out) {
    if (s.len == SIZE_MAX) return false;
    char *copy = phi__arena_bytes(arena, s.len + 1);
    if (copy == NULL) return false;
    if (s.len > 0) memcpy(copy, s.at, s.len);
    copy[s.len] = '\0';
    *out = phi__str(copy, s.len);
    return true;
}

PHI__FN bool phi__keep_text(phi_arena *arena, const char **text) {
    phi_str copy;
    if (*text == NULL) return true;
    if (!phi__arena_str(arena, phi_str_of(*text), &copy)) return false;
    *text = copy.at;
    return true;
}

PHI__FN size_t phi__arena_taken(const phi_arena *arena) {
    size_t bytes = 0;
    for (const struct phi__block *block = arena->shared; block != NULL; block = block->older)
        bytes += block->bytes;
    for (const struct phi__block *block = arena->own; block != NULL; block = block->older)
        bytes += block->bytes;
    return bytes;
}

static void phi__arena_spare(phi_arena *arena, struct phi__block *list) {
    while (list != NULL) {
        struct phi__block *block = list;
        list = block->older;
        block->older = arena->spare;
        arena->spare = block;
        PHI__POISON(block + 1, block->bytes - sizeof *block);
    }
}

PHI__FN void phi__arena_rewind(phi_arena *arena) {
    arena->rewound = true;
    phi__arena_drop(arena, &arena->spare, NULL);
    phi__arena_spare(arena, arena->shared);
    phi__arena_spare(arena, arena->own);
    arena->shared = arena->own = NULL;
    arena->at = arena->end = NULL;
    arena->next_block_bytes = arena->first_block_bytes;
}

/* ---- public ---- */

PHI_API void phi_arena_init(phi_arena *arena, phi_memory *memory, size_t first_block_bytes) {
    memset(arena, 0, sizeof *arena);
    arena->memory = memory;
    arena->first_block_bytes = first_block_bytes == 0
                                   ? PHI__ARENA_DEFAULT
                                   : phi__min(phi__max(first_block_bytes, 64), PHI__ARENA_MOST);
    arena->next_block_bytes = arena->first_block_bytes;
    arena->most_block_bytes = PHI__ARENA_MOST;
}

PHI_API void *phi_arena_alloc(phi_arena *arena, size_t bytes) {
    return phi__arena_take_aligned(arena, bytes, PHI__ARENA_ALIGN);
}

PHI_API phi_arena_mark phi_arena_save(const phi_arena *arena) {
    phi_arena_mark mark;
    mark.shared = arena->shared;
    mark.own = arena->own;
    mark.at = arena->at;
    return mark;
}

PHI_API void phi_arena_reset(phi_arena *arena, phi_arena_mark mark) {
    phi__arena_drop(arena, &arena->own, mark.own);
    phi__arena_drop(arena, &arena->shared, mark.shared);
    /* otherwise an allocation that is tried and undone would take more memory each time */
    arena->next_block_bytes = mark.shared != NULL
                                  ? phi__min(mark.shared->bytes * 2, arena->most_block_bytes)
                                  : arena->first_block_bytes;
    arena->at = mark.at;
    arena->end = mark.shared != NULL ? (char *)mark.shared + mark.shared->bytes : NULL;
    if (mark.shared != NULL) PHI__POISON(arena->at, (size_t)(arena->end - arena->at));
}

PHI_API void phi_arena_free(phi_arena *arena) {
    if (arena == NULL) return;
    phi__arena_drop(arena, &arena->own, NULL);
    phi__arena_drop(arena, &arena->shared, NULL);
    phi__arena_drop(arena, &arena->spare, NULL);
    arena->at = arena->end = NULL;
    arena->next_block_bytes = arena->first_block_bytes;
}

/* ---- a growing buffer of bytes ----

   After a failed allocation the buffer stays failed. Appending to a failed buffer does nothing, so
   a writer checks `failed` only once, at the end. The result of phi__buf_str is valid until the
   next append or free. */

PHI__FN void phi__buf_init(phi__buf *buf, phi_memory *memory) {
    memset(buf, 0, sizeof *buf);
    buf->memory = memory;
}

PHI__FN void phi__buf_free(phi__buf *buf) {
    phi__free(buf->memory, buf->at, buf->cap);
    phi__buf_init(buf, buf->memory);
}

PHI__FN void phi__buf_clear(phi__buf *buf) {
    buf->len = 0;
    buf->failed = false;
}

PHI__FN char *phi__buf_reserve(phi__buf *buf, size_t more) {
    if (buf->failed) return NULL;
    if (buf->at == NULL || more > buf->cap - buf->len) {
        size_t need = phi__add(buf->len, more);
        char *at = NULL;
        if (need != SIZE_MAX)
            at = (char *)phi__grow(buf->memory, buf->at, &buf->cap, phi__max(need, 64), 1);
        if (at == NULL) {
            buf->failed = true;
            return NULL;
        }
        buf->at = at;
    }
    return buf->at + buf->len;
}

PHI__FN void phi__buf_add(phi__buf *buf, const char *at, size_t len) {
    char *to = len > 0 ? phi__buf_reserve(buf, len) : NULL;
    if (to == NULL) return;
    memcpy(to, at, len);
    buf->len += len;
}

PHI__FN void phi__buf_text(phi__buf *buf, const char *text) {
    phi__buf_add(buf, text, strlen(text));
}

PHI__FN void phi__buf_percent(phi__buf *buf, phi_str text, const char *plain) {
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];
        if (phi__is_alnum(c) || (c != '\0' && strchr(plain, c) != NULL))
            phi__buf_char(buf, c);
        else
            phi__buf_printf(buf, "%%%02X", (unsigned)(unsigned char)c);
    }
}

PHI__FN void phi__buf_wrap(phi__buf *buf, const char *before, phi_str inside, const char *after) {
    phi__buf_text(buf, before);
    phi__buf_add_str(buf, inside);
    phi__buf_text(buf, after);
}

PHI__FN void phi__buf_char(phi__buf *buf, char c) {
    char *to = buf->len < buf->cap && !buf->failed ? buf->at + buf->len : phi__buf_reserve(buf, 1);
    if (to == NULL) return;
    *to = c;
    buf->len++;
}

PHI__FN void phi__buf_u64(phi__buf *buf, uint64_t n) {
    char digits[20];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + n % 10);
        n /= 10;
    } while (n != 0);
    phi__buf_add(buf, digits + at, sizeof digits - at);
}

PHI__FN void phi__buf_printf(phi__buf *buf, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *to = n < 0 ? NULL : phi__buf_reserve(buf, (size_t)n + 1);
    if (to == NULL) {
        buf->failed = true;
        return;
    }
    va_start(args, format);
    (void)vsnprintf(to, (size_t)n + 1, format, args);
    va_end(args);
    buf->len += (size_t)n;
}

PHI__FN void phi__buf_drop(phi__buf *buf, size_t n) {
    PHI_ASSERT(n <= buf->len);
    buf->len -= n;
    if (n > 0 && buf->len > 0) memmove(buf->at, buf->at + n, buf->len);
}
