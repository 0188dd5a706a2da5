/* base_in.h - what every module of phi needs: internal linkage, assertions, atomics, small helpers.

   PHI__FN marks a function that crosses files: hidden in the per-file build, static when
   amalgamated. */
#ifndef PHI_BASE_BASE_IN_H
#define PHI_BASE_BASE_IN_H

#include "base/base.h"

#include <assert.h>
#include <stdatomic.h>
#include <string.h>

#ifndef PHI__FN
#define PHI__FN __attribute__((visibility("hidden")))
#endif
/* For our own invariants only; a caller's mistake is a status. */
#ifndef PHI_ASSERT
#define PHI_ASSERT(condition) assert(condition)
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

/* In line: of a literal the compiler knows how long it is. */
static inline bool phi__str_is(phi_str s, const char *text) {
    size_t n = strlen(text);
    return s.len == n && (n == 0 || memcmp(s.at, text, n) == 0);
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

#endif
