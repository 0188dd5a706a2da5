/* base_in.h - what every module of phi needs: internal linkage, assertions, atomics, small helpers.

   PHI__FN marks a function that crosses files: hidden in the per-file build, static when
   amalgamated. */
#ifndef PHI_BASE_BASE_IN_H
#define PHI_BASE_BASE_IN_H

#include "base/arena.h"
#include "base/base.h"

#include <string.h>

#ifndef PHI__FN
#define PHI__FN __attribute__((visibility("hidden")))
#endif
/* For our own invariants only; a caller's mistake is a status. */
#ifndef PHI_ASSERT
#include <assert.h>
#define PHI_ASSERT(condition) assert(condition)
#endif
/* A condition that cannot be true, as far as we know, and is handled all the same. Tests that make
   it true end at once, and `make coverage` does not count its line. */
#ifdef PHI__TESTED
#define PHI_NEVER(condition) ((condition) ? (__builtin_trap(), true) : false)
#else
#define PHI_NEVER(condition) (condition)
#endif

/* Atomics: a type, and of it a load, a store, a compare-and-swap and an addition without a result;
   acquire and release. The builtins of gcc and clang, else those of C11. With PHI_NO_THREADS they
   are plain accesses: every phi_ function is then for the pumping thread alone.
   PHI__NO_BUILTINS is for the checks, which have no other compiler with C11's. */
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

/* A phi_str of a literal, without strlen. */
#define PHI__LIT(literal) phi__str((literal), sizeof(literal) - 1)

/* The struct that holds `member`; for intrusive lists and heaps. */
#define PHI__OWNER(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

static inline phi_str phi__str(const char *at, size_t len) {
    phi_str s;
    s.at = at;
    s.len = len;
    return s;
}

/* All but the first n bytes, of which there are so many. */
static inline phi_str phi__str_from(phi_str s, size_t n) { return phi__str(s.at + n, s.len - n); }

/* In line: of a literal the compiler knows how long it is. */
static inline bool phi__str_is(phi_str s, const char *text) {
    size_t n = strlen(text);
    return s.len == n && (n == 0 || memcmp(s.at, text, n) == 0);
}

/* ASCII only. */
static inline bool phi__is_digit(char c) { return c >= '0' && c <= '9'; }

static inline bool phi__is_alnum(char c) {
    return phi__is_digit(c) || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static inline size_t phi__min(size_t a, size_t b) { return a < b ? a : b; }

static inline size_t phi__max(size_t a, size_t b) { return a > b ? a : b; }

/* The allocator of a desc whose realloc_fn is NULL: the C library's. */
PHI__FN phi_allocator phi__allocator_default(void);

/* Takes, grows, shrinks or frees memory of a budget, with realloc_fn's contract. */
PHI__FN void *phi__realloc(phi_memory *memory, void *ptr, size_t old_bytes, size_t new_bytes);

/* Zeroed memory, or NULL. */
PHI__FN void *phi__alloc(phi_memory *memory, size_t bytes);
PHI__FN void phi__free(phi_memory *memory, void *ptr, size_t bytes);

/* Makes room for `need` elements in the array `ptr` of `*cap` elements of `size` bytes, at least
   doubling. Returns the array, or NULL with ptr and *cap untouched. */
PHI__FN void *phi__grow(phi_memory *memory, void *ptr, size_t *cap, size_t need, size_t size);

/* a + b and a * b, or SIZE_MAX where they do not fit. */
PHI__FN size_t phi__add(size_t a, size_t b);
PHI__FN size_t phi__mul(size_t a, size_t b);
PHI__FN bool phi__str_starts(phi_str s, const char *prefix);
PHI__FN bool phi__str_ends(phi_str s, const char *suffix);

/* ASCII only, as header names and error phrases are. */
PHI__FN bool phi__str_is_nocase(phi_str s, const char *text);
PHI__FN bool phi__str_equal_nocase(phi_str a, phi_str b);

/* Secrets: the time does not say where they differ, only whether their lengths do. */
PHI__FN bool phi__str_equal_secret(phi_str a, phi_str b);

/* Offset of `needle` in `s` from `from`, or SIZE_MAX. */
PHI__FN size_t phi__str_find(phi_str s, size_t from, const char *needle);
PHI__FN size_t phi__str_find_nocase(phi_str s, size_t from, const char *needle);
PHI__FN phi_str phi__str_trim(phi_str s);

/* A whole decimal number, or false: empty, trailing bytes, overflow. */
PHI__FN bool phi__str_to_u64(phi_str s, uint64_t *out);

/* Makes bytes fit for a terminal, in place: valid UTF-8 without control characters but newline and
   tab. CR LF becomes LF; any other control character (U+0000 to U+001F, U+007F to U+009F), any that
   changes the direction of text, and any byte that is no UTF-8 becomes '?'. Returns the
   length, which is not greater. */
PHI__FN size_t phi__words_clean(char *at, size_t len);

/* The same for one line: newline and tab become '?', too. */
PHI__FN size_t phi__words_clean_line(char *at, size_t len);

/* As phi_arena_alloc, zeroed. */
PHI__FN void *phi__arena_zero(phi_arena *arena, size_t bytes);

/* As phi_arena_alloc, but of any alignment: for bytes. */
PHI__FN char *phi__arena_bytes(phi_arena *arena, size_t bytes);

/* Frees all memory handed out and keeps the blocks for later use; blocks that were kept before and
   not needed since are freed. For work that is repeated at about the same size: turn after turn. */
PHI__FN void phi__arena_rewind(phi_arena *arena);

/* Bytes of all its blocks. */
PHI__FN size_t phi__arena_taken(const phi_arena *arena);

/* Copies `s`, with a terminator that is not counted. False: no memory, *out untouched. */
PHI__FN bool phi__arena_str(phi_arena *arena, phi_str s, phi_str *out);

typedef struct phi__buf {
    phi_memory *memory; /* borrowed */
    char *at;
    size_t len, cap;
    bool failed; /* an append found no memory */
} phi__buf;

PHI__FN void phi__buf_init(phi__buf *buf, phi_memory *memory);
PHI__FN void phi__buf_free(phi__buf *buf);  /* as after init; twice is harmless */
PHI__FN void phi__buf_clear(phi__buf *buf); /* keeps its memory, forgets a failure */

/* Room for `more` bytes behind the end, or NULL and failed. The bytes count once phi__buf_add_len
   says how many were written. */
PHI__FN char *phi__buf_reserve(phi__buf *buf, size_t more);

static inline void phi__buf_add_len(phi__buf *buf, size_t len) { buf->len += len; }
PHI__FN void phi__buf_add(phi__buf *buf, const char *at, size_t len);
PHI__FN void phi__buf_text(phi__buf *buf, const char *text);
PHI__FN void phi__buf_char(phi__buf *buf, char c);
PHI__FN void phi__buf_u64(phi__buf *buf, uint64_t n);
PHI__FN void phi__buf_printf(phi__buf *buf, const char *format, ...) PHI_PRINTF(2, 3);

/* Letters, digits and the bytes in `plain` as they are, all others as %XX. */
PHI__FN void phi__buf_percent(phi__buf *buf, phi_str text, const char *plain);

/* Forgets the first n bytes. */
PHI__FN void phi__buf_drop(phi__buf *buf, size_t n);

/* A text between two others. */
PHI__FN void phi__buf_wrap(phi__buf *buf, const char *before, phi_str inside, const char *after);

static inline void phi__buf_add_str(phi__buf *buf, phi_str s) { phi__buf_add(buf, s.at, s.len); }

static inline phi_str phi__buf_str(const phi__buf *buf) { return phi__str(buf->at, buf->len); }

/* An address of http taken apart. Each text is a piece of it, but for a port that goes without
   saying. */
typedef struct phi__url {
    phi_str scheme; /* as written */
    phi_str origin; /* "https://ada:key@host:8080": all before the path */
    phi_str user;   /* "ada:key"; at NULL: there is no "@" */
    phi_str site;   /* "[::1]:8080", as written: host and port */
    phi_str host;   /* without the brackets of "[::1]"; empty if there is more after them */
    phi_str port;   /* "443" of https, else "80", if none is written */
    phi_str path;   /* from its "/" to "?" or "#"; may be empty */
    phi_str query;  /* after "?", before "#" */
    bool web;       /* the scheme is http or https, in any case */
    bool secure;    /* https */
} phi__url;

/* False if there is no "://"; the parts are then those of "host/path", without a scheme. */
PHI__FN bool phi__url_split(phi_str url, phi__url *out);

/* True if the address is at this host, or at one below it: "api.example" has "eu.api.example". */
PHI__FN bool phi__url_is_at(phi_str url, const char *host);

/* Appends where a reference leads from `base` (RFC 3986 5.2, without the removal of ".." and "."
   but for one "./" in front), without its fragment. False: no memory, an empty reference, or one
   that needs a base and there is none. */
PHI__FN bool phi__url_resolve(phi__buf *out, phi_str base, phi_str to);

typedef struct phi__link {
    struct phi__link *next, *prev;
} phi__link;

typedef struct phi__list {
    phi__link *first, *last;
} phi__list;

/* At the end. */
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

/* A link that is in this list. */
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
    void *item; /* NULL: free */
} phi__map_slot;

typedef struct phi__map {
    phi_memory *memory;
    phi__map_slot *slots;
    size_t cap, count; /* cap: a power of two, or 0 */
} phi__map;

/* A hash of a text, good in its low and its high bits. A seed that differs from run to run (an
   address) keeps anyone from making texts in advance that collide. */
PHI__FN uint64_t phi__map_hash(uint64_t seed, phi_str text);

/* Takes no memory yet. */
PHI__FN void phi__map_init(phi__map *map, phi_memory *memory);
PHI__FN void phi__map_free(phi__map *map); /* as after init; twice is harmless */

/* Room for one more, or for so many in all. False: no memory, and nothing changed. */
PHI__FN bool phi__map_room(phi__map *map);
PHI__FN bool phi__map_reserve(phi__map *map, size_t count);
PHI__FN void phi__map_clear(phi__map *map); /* keeps its memory */

/* An item that is not in there, after phi__map_room. */
PHI__FN void phi__map_add(phi__map *map, uint64_t hash, void *item);

/* An entry that is in the map under this hash. */
PHI__FN void phi__map_drop(phi__map *map, uint64_t hash, const void *item);

/* The next item under a hash, *probe being 0 at first; NULL: that were all. */
PHI__FN void *phi__map_each(const phi__map *map, uint64_t hash, size_t *probe);

/* 32-bit ABIs align 64 bits to 4: that is slow, and of clang a call into libatomic. */
#if defined(__GNUC__)
typedef PHI__ATOMIC(uint64_t) phi__slot_word __attribute__((aligned(8)));
#else
typedef PHI__ATOMIC(uint64_t) phi__slot_word;
#endif

typedef struct phi__slot {
    phi__slot_word word;
    void *object;
    uint32_t index, next_free; /* next_free: index + 1 of the next free slot, 0: none */
} phi__slot;

enum { PHI__SLOT_PAGES = 22, PHI__SLOT_FIRST_PAGE = 64 };

typedef struct phi__slots {
    phi_memory *memory;
    phi__slot *pages[PHI__SLOT_PAGES];
    PHI__ATOMIC(uint32_t) count; /* slots that exist */
    uint32_t first_free;         /* index + 1 */
    uint32_t in_use;
    PHI__ATOMIC(uint32_t) marks; /* set so far */
    uint32_t marks_seen;         /* of those */
    uint32_t mark_at;            /* the group of 64 slots where the next look begins */
} phi__slots;

PHI__FN void phi__slots_init(phi__slots *slots, phi_memory *memory);
PHI__FN void phi__slots_free(phi__slots *slots);

/* A free slot, now in `state` (not 0) with a new generation; NULL: no memory. */
PHI__FN phi__slot *phi__slots_take(phi__slots *slots, uint32_t state, void *object);
PHI__FN void phi__slots_release(phi__slots *slots, phi__slot *slot);

/* The slot at an index, or NULL where none was ever made. */
PHI__FN phi__slot *phi__slots_at(const phi__slots *slots, uint32_t index);

/* The live slot of a handle, or NULL. Pumping thread. */
PHI__FN phi__slot *phi__slots_find(const phi__slots *slots, uint32_t index, uint32_t gen);

static inline uint64_t phi__slots_word_of(uint32_t gen, uint32_t state) {
    return (uint64_t)gen << 32 | state;
}

static inline uint32_t phi__slots_gen_of(uint64_t word) { return (uint32_t)(word >> 32); }

static inline uint32_t phi__slots_state_of(uint64_t word) { return (uint32_t)word; }

/* Moves a handle's slot from one state to another; false: stale, or in some other state. */
PHI__FN bool phi__slots_move(const phi__slots *slots, uint32_t index, uint32_t gen, uint32_t from,
                             uint32_t to);

/* The state of a handle's slot, 0 when stale. */
PHI__FN uint32_t phi__slots_state(const phi__slots *slots, uint32_t index, uint32_t gen);

/* Clears and sets bits of a handle's state, which must not become 0. The state before; 0: stale,
   and nothing was changed. */
PHI__FN uint32_t phi__slots_change(const phi__slots *slots, uint32_t index, uint32_t gen,
                                   uint32_t clear, uint32_t set);

/* Marks the slot at an index, for phi__slots_marked. Make the change first. */
PHI__FN void phi__slots_mark(phi__slots *slots, uint32_t index);
PHI__FN bool phi__slots_any_marked(const phi__slots *slots); /* there may be one */

/* Takes the marks of up to `most` slots (PHI__SLOTS_MARKED_LEAST or more) and gives their indexes;
   every marked slot gets its turn. A slot may have been released, and taken again, since it was
   marked. */
PHI__FN size_t phi__slots_marked(phi__slots *slots, uint32_t *out, size_t most);

/* `before`: the check of the bytes before these; 0 for none. */
PHI__FN uint32_t phi__crc32(uint32_t before, const void *bytes, size_t len);

enum { PHI__SHA256_BYTES = 32, PHI__SHA256_HEX = 64 };

typedef struct phi__sha256 {
    uint32_t state[8];
    uint64_t bytes; /* added so far */
    unsigned char block[64];
} phi__sha256;

PHI__FN void phi__sha256_begin(phi__sha256 *sha);
PHI__FN void phi__sha256_add(phi__sha256 *sha, const void *bytes, size_t len);
PHI__FN void phi__sha256_end(phi__sha256 *sha, unsigned char out[32]);
PHI__FN void phi__sha256_of(phi_str text, unsigned char out[32]);

/* `out` may be where the key is. */
PHI__FN void phi__sha256_hmac(phi_str key, phi_str text, unsigned char out[32]);

/* In lower case; 64 characters, not terminated. */
PHI__FN void phi__sha256_hex(const unsigned char hash[32], char out[64]);

/* Appends the encoding of n bytes. In slices: every n but the last a multiple of 3. */
PHI__FN void phi__base64_encode(phi__buf *out, const char *bytes, size_t n);

/* Appends what `text` encodes; false (and out as it was) when it is not strict base64. */
PHI__FN bool phi__base64_decode(phi__buf *out, phi_str text);

enum { PHI__UUID_SIZE = 37 }; /* with the terminator */

/* Writes sixteen random bytes as a UUID version 4. */
PHI__FN void phi__id_uuid(const unsigned char random[16], char out[PHI__UUID_SIZE]);

/* Bytes of the longest valid prefix; s.len when all of it is valid. */
PHI__FN size_t phi__utf8_valid(phi_str s);

/* The greatest length up to `most` that does not end inside a sequence of valid text. */
PHI__FN size_t phi__utf8_cut(phi_str s, size_t most);

/* Where no valid sequence begins at `at` (before end): how many bytes become one U+FFFD. It is the
   maximal subpart of a sequence, as of the WHATWG's decoder: the longest beginning of one, else a
   single byte. */
PHI__FN size_t phi__utf8_bad(const char *at, const char *end);

/* Appends s, each maximal subpart that is not valid UTF-8 as U+FFFD. */
PHI__FN void phi__utf8_repair(phi__buf *out, phi_str s);

/* Writes a code point (a surrogate or one past U+10FFFF becomes U+FFFD); 1 to 4 bytes. */
PHI__FN size_t phi__utf8_put(char out[4], uint32_t code);

enum { PHI__DATE_BYTES = 25 }; /* the longest text, and its terminator */

/* Writes Unix time in milliseconds, terminated, in UTC, with three digits of fraction where there
   is one. Times outside of the years 0 to 9999 become the nearest inside. Returns the length. */
PHI__FN size_t phi__date_put(int64_t ms, char out[PHI__DATE_BYTES]);

/* Reads one, with any fraction (cut to milliseconds) and any offset. False: it is none, *ms is
   untouched. */
PHI__FN bool phi__date_get(phi_str text, int64_t *ms);

#endif
