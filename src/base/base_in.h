/* base_in.h - internal linkage, assertions, atomics and small helpers, for all rooms of phi.

   PHI__FN marks a function that is used in several files: hidden in the per-file build, static when
   amalgamated. */
#ifndef PHI_BASE_BASE_IN_H
#define PHI_BASE_BASE_IN_H

#include "base/arena.h"
#include "base/base.h"

#include <string.h>

#ifndef PHI__FN
#if defined(__GNUC__) && (defined(__ELF__) || defined(__MACH__))
#define PHI__FN __attribute__((visibility("hidden")))
#else
#define PHI__FN
#endif
#endif
/* MSVC lacks gcc's extensions and C11's atomics. clang for MSVC has both. */
#if defined(_MSC_VER) && !defined(__clang__)
#define PHI__MSVC 1
#include <intrin.h>
#endif
/* Only for phi's own invariants. A caller's mistake returns a status instead. */
#ifndef PHI_ASSERT
#include <assert.h>
#define PHI_ASSERT(condition) assert(condition)
#endif
/* Marks a condition that should never be true but is handled anyway. If a test makes the condition
   true, the test stops at once. `make coverage` does not count the line. */
#if defined(PHI__TESTED) && defined(PHI__MSVC)
#define PHI_NEVER(condition) ((condition) ? (__debugbreak(), true) : false)
#elif defined(PHI__TESTED)
#define PHI_NEVER(condition) ((condition) ? (__builtin_trap(), true) : false)
#else
#define PHI_NEVER(condition) (condition)
#endif

/* Atomics: a type, and operations on it with acquire and release order: load, store,
   compare-and-swap, and an addition without a result. They use the builtins of gcc and clang, the
   intrinsics of MSVC, or else C11. With PHI_NO_THREADS they are plain accesses, and only the
   pumping thread may call phi. PHI__NO_BUILTINS lets the checks compile the C11 branch with gcc and
   clang. */
#if defined(PHI_NO_THREADS)
#define PHI__ATOMIC(type) type
#define PHI__LOAD(p) (*(p))
#define PHI__STORE(p, v) ((void)(*(p) = (v)))
#define PHI__CAS(p, expected, desired)                                                             \
    (*(p) == *(expected) ? (*(p) = (desired), true) : (*(expected) = *(p), false))
#define PHI__ADD(p, v) ((void)(*(p) += (v)))
#elif defined(__ATOMIC_ACQUIRE) && !defined(PHI__NO_BUILTINS)
#define PHI__ATOMIC(type) type
#define PHI__LOAD(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define PHI__STORE(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)
#define PHI__CAS(p, expected, desired)                                                             \
    __atomic_compare_exchange_n((p), (expected), (desired), false, __ATOMIC_ACQ_REL,               \
                                __ATOMIC_ACQUIRE)
#define PHI__ADD(p, v) ((void)__atomic_fetch_add((p), (v), __ATOMIC_ACQ_REL))
#elif defined(PHI__MSVC)
#define PHI__ATOMIC(type) volatile type
/* MSVC's C has no typeof. So the operations choose by size, and a load of 4 bytes is a uint32_t in
   a uint64_t. */
#define PHI__IS_WIDE(p) (sizeof *(p) == 8)
#define PHI__LOAD(p) (PHI__IS_WIDE(p) ? phi__msvc_load64(p) : phi__msvc_load32(p))
#define PHI__STORE(p, v)                                                                           \
    (PHI__IS_WIDE(p) ? phi__msvc_store64((p), (uint64_t)(v))                                       \
                     : phi__msvc_store32((p), (uint32_t)(v)))
#define PHI__CAS(p, expected, desired)                                                             \
    (PHI__IS_WIDE(p) ? phi__msvc_cas64((p), (expected), (uint64_t)(desired))                       \
                     : phi__msvc_cas32((p), (expected), (uint32_t)(desired)))
#define PHI__ADD(p, v)                                                                             \
    (PHI__IS_WIDE(p) ? phi__msvc_add64((p), (uint64_t)(v)) : phi__msvc_add32((p), (uint32_t)(v)))

/* The intrinsics are full barriers. */
static inline bool phi__msvc_cas32(volatile void *at, void *expected, uint32_t desired) {
    long *want = (long *)expected;
    long was = _InterlockedCompareExchange((volatile long *)at, (long)desired, *want);
    if (was == *want) return true;
    *want = was;
    return false;
}

static inline bool phi__msvc_cas64(volatile void *at, void *expected, uint64_t desired) {
    long long *want = (long long *)expected;
    long long was =
        _InterlockedCompareExchange64((volatile long long *)at, (long long)desired, *want);
    if (was == *want) return true;
    *want = was;
    return false;
}

/* On x86 every load is an acquire, if the compiler keeps its place. Elsewhere, and for 8 bytes in
   32-bit programs, a swap of 0 for 0 reads the value. */
static inline uint64_t phi__msvc_load32(const volatile void *at) {
    uint32_t value = 0;
#if defined(_M_IX86) || (defined(_M_X64) && !defined(_M_ARM64EC))
    value = *(const volatile uint32_t *)at;
    _ReadWriteBarrier();
#else
    (void)phi__msvc_cas32((volatile void *)(uintptr_t)at, &value, 0);
#endif
    return value;
}

static inline uint64_t phi__msvc_load64(const volatile void *at) {
    uint64_t value = 0;
#if defined(_M_X64) && !defined(_M_ARM64EC)
    value = *(const volatile uint64_t *)at;
    _ReadWriteBarrier();
#else
    (void)phi__msvc_cas64((volatile void *)(uintptr_t)at, &value, 0);
#endif
    return value;
}

static inline void phi__msvc_store32(volatile void *at, uint32_t value) {
    (void)_InterlockedExchange((volatile long *)at, (long)value);
}

/* x86 has no exchange of 8 bytes. */
static inline void phi__msvc_store64(volatile void *at, uint64_t value) {
    uint64_t was = phi__msvc_load64(at);
    while (!phi__msvc_cas64(at, &was, value)) {}
}

static inline void phi__msvc_add32(volatile void *at, uint32_t value) {
    (void)_InterlockedExchangeAdd((volatile long *)at, (long)value);
}

static inline void phi__msvc_add64(volatile void *at, uint64_t value) {
    uint64_t was = phi__msvc_load64(at);
    while (!phi__msvc_cas64(at, &was, was + value)) {}
}
#elif !defined(__cplusplus) && __STDC_VERSION__ >= 201112L && !defined(__STDC_NO_ATOMICS__)
#include <stdatomic.h>
#define PHI__ATOMIC(type) _Atomic(type)
#define PHI__LOAD(p) atomic_load_explicit((p), memory_order_acquire)
#define PHI__STORE(p, v) atomic_store_explicit((p), (v), memory_order_release)
#define PHI__CAS(p, expected, desired)                                                             \
    atomic_compare_exchange_strong_explicit((p), (expected), (desired), memory_order_acq_rel,      \
                                            memory_order_acquire)
#define PHI__ADD(p, v) ((void)atomic_fetch_add_explicit((p), (v), memory_order_acq_rel))
#else
#error "phi: this compiler has no atomics that phi knows: try -std=c11, or define PHI_NO_THREADS \
for a build in which one thread makes every call"
#endif
#define PHI__COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Makes a phi_str of a literal, without strlen. */
#define PHI__LIT(literal) phi__str((literal), sizeof(literal) - 1)

/* Returns the struct whose `member` ptr points to; for intrusive lists and heaps. */
#define PHI__OWNER(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

static inline phi_str phi__str(const char *at, size_t len) {
    phi_str s;
    s.at = at;
    s.len = len;
    return s;
}

/* Returns s without its first n bytes. s must have at least n bytes. */
static inline phi_str phi__str_from(phi_str s, size_t n) { return phi__str(s.at + n, s.len - n); }

/* This function is inline, since the compiler knows the length of a literal. */
static inline bool phi__str_is(phi_str s, const char *text) {
    size_t n = strlen(text);
    return s.len == n && (n == 0 || memcmp(s.at, text, n) == 0);
}

/* ASCII only. */
static inline bool phi__is_digit(char c) { return c >= '0' && c <= '9'; }

static inline bool phi__is_alnum(char c) {
    return phi__is_digit(c) || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static inline char phi__lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }

static inline size_t phi__min(size_t a, size_t b) { return a < b ? a : b; }

static inline size_t phi__max(size_t a, size_t b) { return a > b ? a : b; }

/* Returns a + b, or UINT64_MAX on overflow. */
static inline uint64_t phi__sum(uint64_t a, uint64_t b) {
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Returns the C library's allocator, for a desc without realloc_fn. */
PHI__FN phi_allocator phi__allocator_default(void);

/* Allocates, grows, shrinks or frees memory of a budget, like realloc_fn. */
PHI__FN void *phi__realloc(phi_memory *memory, void *ptr, size_t old_bytes, size_t new_bytes);

/* Returns zeroed memory, or NULL. */
PHI__FN void *phi__alloc(phi_memory *memory, size_t bytes);
PHI__FN void phi__free(phi_memory *memory, void *ptr, size_t bytes);

/* Makes room for `need` elements in the array `ptr`, which has room for *cap elements of `size`
   bytes. If the array grows, its room at least doubles. Returns the array, or NULL; then ptr and
   *cap are unchanged. */
PHI__FN void *phi__grow(phi_memory *memory, void *ptr, size_t *cap, size_t need, size_t size);

/* Return a + b and a * b, or SIZE_MAX on overflow. */
PHI__FN size_t phi__add(size_t a, size_t b);
PHI__FN size_t phi__mul(size_t a, size_t b);
PHI__FN bool phi__str_starts(phi_str s, const char *prefix);
PHI__FN bool phi__str_ends(phi_str s, const char *suffix);

/* ASCII only, as in header names and error phrases. */
PHI__FN bool phi__str_is_nocase(phi_str s, const char *text);
PHI__FN bool phi__str_equal_nocase(phi_str a, phi_str b);

/* For secrets. The time taken shows only whether the lengths differ, not at which byte. */
PHI__FN bool phi__str_equal_secret(phi_str a, phi_str b);

/* Returns the offset of the first `needle` at or after `from`, or SIZE_MAX. */
PHI__FN size_t phi__str_find(phi_str s, size_t from, const char *needle);
PHI__FN size_t phi__str_find_nocase(phi_str s, size_t from, const char *needle);
PHI__FN phi_str phi__str_trim(phi_str s);

/* Writes sixteen hexadecimal digits in lower case and a terminator. */
PHI__FN void phi__hash_hex(uint64_t n, char out[17]);

/* Reads up to sixteen digits as phi__hash_hex writes them; the rest is ignored. Fewer digits give
   the number that they form. 0: there is no digit, or another character is among them. */
PHI__FN uint64_t phi__hash_of_hex(phi_str digits);

/* Reads a whole decimal number. False: the text is empty, has other bytes, or has a number that is
   too large. */
PHI__FN bool phi__str_to_u64(phi_str s, uint64_t *out);

/* Makes bytes safe for a terminal, in place. The result is valid UTF-8 without control characters
   except newline and tab. CR LF becomes LF. These become '?': all other control characters (U+0000
   to U+001F, U+007F to U+009F), the embeddings, overrides and isolates that reorder text (U+202A to
   U+202E, U+2066 to U+2069), and bytes that are not UTF-8. Marks such as U+200E stay: texts in
   Arabic and Hebrew need them, and they cannot reorder other words. Returns the length, which is
   not greater. */
PHI__FN size_t phi__words_clean(char *at, size_t len);

/* Cleans a text like phi__words_clean, but for one line: newline and tab become '?', too. */
PHI__FN size_t phi__words_clean_line(char *at, size_t len);

/* Allocates like phi_arena_alloc, and zeroes the memory. */
PHI__FN void *phi__arena_zero(phi_arena *arena, size_t bytes);

/* Allocates bytes like phi_arena_alloc, but does not align them. */
PHI__FN char *phi__arena_bytes(phi_arena *arena, size_t bytes);

/* Frees all memory that was handed out, but keeps the blocks for later use. Kept blocks that were
   not used since the last rewind are freed. For work that is repeated at about the same size, such
   as turns. */
PHI__FN void phi__arena_rewind(phi_arena *arena);

/* Returns the bytes of all blocks in use. */
PHI__FN size_t phi__arena_taken(const phi_arena *arena);

/* Makes room for one more element in the array `old` of the arena, which has `count` elements of
   `size` bytes and room for *cap elements. A full array is copied to an array with twice the room
   (at least 4, and count + 1); new elements are not zeroed, and the old array stays until the arena
   is reset. NULL: no memory, and *cap is
   unchanged. */
PHI__FN void *phi__arena_grow(phi_arena *arena, void *old, size_t count, size_t *cap, size_t size);

/* Copies `s` with a terminator, which is not counted. False: no memory, and *out is unchanged. */
PHI__FN bool phi__arena_str(phi_arena *arena, phi_str s, phi_str *out);

/* Replaces a text by a copy. NULL stays NULL. False: no memory. */
PHI__FN bool phi__keep_text(phi_arena *arena, const char **text);

typedef struct phi__buf {
    phi_memory *memory; /* borrowed */
    char *at;
    size_t len, cap;
    bool failed; /* an append got no memory */
} phi__buf;

PHI__FN void phi__buf_init(phi__buf *buf, phi_memory *memory);
PHI__FN void phi__buf_free(phi__buf *buf);  /* leaves *buf as after init */
PHI__FN void phi__buf_clear(phi__buf *buf); /* keeps the memory, clears `failed` */

/* Returns room for `more` bytes at the end. Pass the number of bytes that were written to
   phi__buf_add_len. NULL: no memory, and `failed` is set. */
PHI__FN char *phi__buf_reserve(phi__buf *buf, size_t more);

static inline void phi__buf_add_len(phi__buf *buf, size_t len) { buf->len += len; }
PHI__FN void phi__buf_add(phi__buf *buf, const char *at, size_t len);
PHI__FN void phi__buf_text(phi__buf *buf, const char *text);
PHI__FN void phi__buf_char(phi__buf *buf, char c);
PHI__FN void phi__buf_u64(phi__buf *buf, uint64_t n);
PHI__FN void phi__buf_printf(phi__buf *buf, const char *format, ...) PHI_PRINTF(2, 3);

/* Appends text for a URL: letters, digits and the bytes in `plain` unchanged, all others as %XX. */
PHI__FN void phi__buf_percent(phi__buf *buf, phi_str text, const char *plain);

/* Removes the first n bytes. */
PHI__FN void phi__buf_drop(phi__buf *buf, size_t n);

/* Appends `inside` between two other texts. */
PHI__FN void phi__buf_wrap(phi__buf *buf, const char *before, phi_str inside, const char *after);

static inline void phi__buf_add_str(phi__buf *buf, phi_str s) { phi__buf_add(buf, s.at, s.len); }

static inline phi_str phi__buf_str(const phi__buf *buf) { return phi__str(buf->at, buf->len); }

/* The parts of a URL. Each is a piece of the URL's text, except a default port. */
typedef struct phi__url {
    phi_str scheme; /* as it is in the URL */
    phi_str origin; /* "https://ada:key@host:8080": everything before the path */
    phi_str user;   /* "ada:key"; `at` is NULL if the URL has no "@" */
    phi_str site;   /* "[::1]:8080": host and port as in the URL */
    phi_str host;   /* without the brackets of "[::1]"; empty if other text follows the brackets */
    phi_str port;   /* if the URL has none: "443" for https, else "80" */
    phi_str path;   /* from the first "/" up to "?" or "#"; may be empty */
    phi_str query;  /* after "?" and before "#" */
    bool web;       /* the scheme is http or https, in any case */
    bool secure;    /* the scheme is https */
} phi__url;

/* Splits a URL into its parts. False: the URL has no "://", and is split like "host/path". */
PHI__FN bool phi__url_split(phi_str url, phi__url *out);

/* True if the URL's host is `host` or a subdomain of it, such as "eu.api.example" for
   "api.example". */
PHI__FN bool phi__url_is_at(phi_str url, const char *host);

/* Resolves the reference `to` against `base` and appends the result without its fragment (RFC 3986
   5.2, but of the dot segments only one leading "./" is removed). False: there is no memory, the
   reference is empty, or it is relative and the base is not valid. */
PHI__FN bool phi__url_resolve(phi__buf *out, phi_str base, phi_str to);

typedef struct phi__link {
    struct phi__link *next, *prev;
} phi__link;

typedef struct phi__list {
    phi__link *first, *last;
} phi__list;

/* Appends a link at the end. */
static inline void phi__list_push(phi__list *list, phi__link *link) {
    link->next = NULL;
    link->prev = list->last;
    if (list->last != NULL)
        list->last->next = link;
    else
        list->first = link;
    list->last = link;
}

static inline void phi__list_push_first(phi__list *list, phi__link *link) {
    link->prev = NULL;
    link->next = list->first;
    if (list->first != NULL)
        list->first->prev = link;
    else
        list->last = link;
    list->first = link;
}

/* Removes a link, which must be in this list. */
static inline void phi__list_take(phi__list *list, phi__link *link) {
    if (link->prev != NULL)
        link->prev->next = link->next;
    else
        list->first = link->next;
    if (link->next != NULL)
        link->next->prev = link->prev;
    else
        list->last = link->prev;
    link->next = link->prev = NULL;
}

typedef struct phi__map_slot {
    uint64_t hash;
    void *item; /* NULL: the slot is free */
} phi__map_slot;

typedef struct phi__map {
    phi_memory *memory;
    phi__map_slot *slots;
    size_t cap, count; /* cap: a power of two, or 0 */
} phi__map;

/* Returns a hash of a text. The low and the high bits of the hash are both usable. A seed that
   differs in each run (such as an address) prevents others from preparing texts that collide. */
PHI__FN uint64_t phi__map_hash(uint64_t seed, phi_str text);

/* Allocates nothing yet. */
PHI__FN void phi__map_init(phi__map *map, phi_memory *memory);
PHI__FN void phi__map_free(phi__map *map); /* leaves *map as after init */

/* Make room for one more item, or for `count` in all. False: no memory, and nothing changed. */
PHI__FN bool phi__map_room(phi__map *map);
PHI__FN bool phi__map_reserve(phi__map *map, size_t count);
PHI__FN void phi__map_clear(phi__map *map); /* keeps the memory */

/* Adds an item that is not in the map. Call phi__map_room first. */
PHI__FN void phi__map_add(phi__map *map, uint64_t hash, void *item);

/* Removes an item that is in the map under this hash. */
PHI__FN void phi__map_drop(phi__map *map, uint64_t hash, const void *item);

/* Returns the next item with this hash, or NULL after the last item. Set *probe to 0 before the
   first call. */
PHI__FN void *phi__map_each(const phi__map *map, uint64_t hash, size_t *probe);

/* The order of a heap, which is an array. Its first item is above all others. */
typedef struct phi__heap {
    size_t size; /* bytes of an item */
    bool (*above)(const void *a, const void *b, const void *ctx);
    const void *ctx; /* passed to `above` */
} phi__heap;

/* Move item `at` up or down to its place. Call them after an item was added at the end or
   replaced. */
PHI__FN void phi__heap_rise(const phi__heap *heap, void *items, size_t at);
PHI__FN void phi__heap_sink(const phi__heap *heap, void *items, size_t count, size_t at);

/* Moves the first item to the end, and makes the other count - 1 items a heap again. */
PHI__FN void phi__heap_pop(const phi__heap *heap, void *items, size_t count);

/* Sorts any array. The item that a heap would have first becomes the last. Unlike qsort, this
   function allocates nothing. */
PHI__FN void phi__heap_sort(const phi__heap *heap, void *items, size_t count);

/* 32-bit ABIs align 64-bit integers to 4 bytes. That is slow, and makes clang call libatomic. */
#if defined(__GNUC__)
typedef PHI__ATOMIC(uint64_t) phi__slot_word __attribute__((aligned(8)));
#else
typedef PHI__ATOMIC(uint64_t) phi__slot_word;
#endif

typedef struct phi__slot {
    phi__slot_word word;
    void *object;
    uint32_t index, next_free; /* next_free: index + 1 of the next free slot; 0: none */
} phi__slot;

enum { PHI__SLOT_PAGES = 22, PHI__SLOT_FIRST_PAGE = 64 };

typedef struct phi__slots {
    phi_memory *memory;
    phi__slot *pages[PHI__SLOT_PAGES];
    PHI__ATOMIC(uint32_t) count; /* slots that exist */
    uint32_t first_free;         /* index + 1 of the first free slot; 0: none */
    uint32_t in_use;
    PHI__ATOMIC(uint32_t) marks; /* marks set so far */
    uint32_t marks_seen;         /* marks already handled */
    uint32_t mark_at;            /* next group of 64 slots to check */
} phi__slots;

PHI__FN void phi__slots_init(phi__slots *slots, phi_memory *memory);
PHI__FN void phi__slots_free(phi__slots *slots);

/* Takes a free slot and gives it `state` (not 0) and a new generation. NULL: no memory. */
PHI__FN phi__slot *phi__slots_take(phi__slots *slots, uint32_t state, void *object);
PHI__FN void phi__slots_release(phi__slots *slots, phi__slot *slot);

/* Returns the slot at an index, or NULL if there is none. */
PHI__FN phi__slot *phi__slots_at(const phi__slots *slots, uint32_t index);

/* Returns the live slot of a handle, or NULL. Pumping thread. */
PHI__FN phi__slot *phi__slots_find(const phi__slots *slots, uint32_t index, uint32_t gen);

static inline uint64_t phi__slots_word_of(uint32_t gen, uint32_t state) {
    return (uint64_t)gen << 32 | state;
}

static inline uint32_t phi__slots_gen_of(uint64_t word) { return (uint32_t)(word >> 32); }

static inline uint32_t phi__slots_state_of(uint64_t word) { return (uint32_t)word; }

/* Changes the state of a handle's slot. False: the handle is stale, or the state is not `from`. */
PHI__FN bool phi__slots_move(const phi__slots *slots, uint32_t index, uint32_t gen, uint32_t from,
                             uint32_t to);

/* Returns the state of a handle's slot, or 0 if the handle is stale. */
PHI__FN uint32_t phi__slots_state(const phi__slots *slots, uint32_t index, uint32_t gen);

/* Clears and sets bits in the state of a handle's slot. The new state must not be 0. Returns the
   old state; 0: the handle is stale, and nothing was changed. */
PHI__FN uint32_t phi__slots_change(const phi__slots *slots, uint32_t index, uint32_t gen,
                                   uint32_t clear, uint32_t set);

/* Marks the slot at an index, so phi__slots_marked finds it. Change the slot's state first. */
PHI__FN void phi__slots_mark(phi__slots *slots, uint32_t index);
PHI__FN bool phi__slots_any_marked(const phi__slots *slots); /* true: maybe; false: none is */

/* Removes the marks of up to `most` slots and writes their indexes to out. `most` must be at least
   PHI__SLOTS_MARKED_LEAST. Every marked slot gets its turn. A slot may have been released and taken
   again since it was marked. */
PHI__FN size_t phi__slots_marked(phi__slots *slots, uint32_t *out, size_t most);

/* Returns the CRC-32. `before` is the CRC of the bytes that come before these; 0: none do. */
PHI__FN uint32_t phi__crc32(uint32_t before, const void *bytes, size_t len);

enum { PHI__SHA256_BYTES = 32, PHI__SHA256_HEX = 64 };

typedef struct phi__sha256 {
    uint32_t state[8];
    uint64_t bytes; /* bytes added so far */
    unsigned char block[64];
} phi__sha256;

PHI__FN void phi__sha256_begin(phi__sha256 *sha);
PHI__FN void phi__sha256_add(phi__sha256 *sha, const void *bytes, size_t len);
PHI__FN void phi__sha256_end(phi__sha256 *sha, unsigned char out[32]);
PHI__FN void phi__sha256_of(phi_str text, unsigned char out[32]);

/* `out` may overlap the key. */
PHI__FN void phi__sha256_hmac(phi_str key, phi_str text, unsigned char out[32]);

/* Writes 64 characters in lower case, not terminated. */
PHI__FN void phi__sha256_hex(const unsigned char hash[32], char out[64]);

/* Appends n bytes in base64. If a text is encoded in pieces, each n except the last must be a
   multiple of 3. */
PHI__FN void phi__base64_encode(phi__buf *out, const char *bytes, size_t n);

/* Appends the bytes that `text` encodes. False: `text` is not strict base64 (and `out` is
   unchanged), or there is no memory. */
PHI__FN bool phi__base64_decode(phi__buf *out, phi_str text);

enum { PHI__UUID_SIZE = 37 }; /* including the terminator */

/* Formats sixteen random bytes as a UUID of version 4. */
PHI__FN void phi__id_uuid(const unsigned char random[16], char out[PHI__UUID_SIZE]);

/* Returns the length of the longest valid prefix; s.len if all of s is valid. */
PHI__FN size_t phi__utf8_valid(phi_str s);

/* Returns the greatest length up to `most` that does not cut a sequence of valid UTF-8. */
PHI__FN size_t phi__utf8_cut(phi_str s, size_t most);

/* Returns how many of the bytes at `at`, which do not begin a valid sequence, become one U+FFFD.
   These bytes are the maximal subpart, as in the WHATWG's decoder: the longest prefix of a valid
   sequence, or else one byte. */
PHI__FN size_t phi__utf8_bad(const char *at, const char *end);

/* Appends s. Each maximal subpart that is not valid UTF-8 becomes U+FFFD. */
PHI__FN void phi__utf8_repair(phi__buf *out, phi_str s);

/* Writes a code point and returns its length, 1 to 4 bytes. Surrogates and codes above U+10FFFF
   become U+FFFD. */
PHI__FN size_t phi__utf8_put(char out[4], uint32_t code);

enum { PHI__DATE_BYTES = 25 }; /* longest text with its terminator */

/* Writes a Unix time in milliseconds as RFC 3339 in UTC, terminated. A fraction, if there is one,
   has three digits. Times outside of the years 0 to 9999 become the nearest time inside. Returns
   the length. */
PHI__FN size_t phi__date_put(int64_t ms, char out[PHI__DATE_BYTES]);

/* Reads a time in RFC 3339, with any fraction (cut to milliseconds) and any offset. False: the text
   is no such time, and *ms is unchanged. */
PHI__FN bool phi__date_get(phi_str text, int64_t *ms);

#endif
