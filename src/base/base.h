/* base.h - the basis of all parts of phi: linkage, strings, statuses, the allocator.

   No function here allocates memory or keeps state. */
#ifndef PHI_BASE_BASE_H
#define PHI_BASE_BASE_H

#if !defined(__cplusplus) && (!defined(__STDC_VERSION__) || __STDC_VERSION__ < 199901L)
#error "phi: C99 or newer is needed: compile with -std=c99 (MSVC: /std:c11)"
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PHI_VERSION "0.1.0"
#define PHI_VERSION_NUMBER 100 /* major * 10000 + minor * 100 + patch */

/* Linkage of the public functions: extern by default, static with PHI_STATIC, or your definition of
   PHI_API. */
#ifndef PHI_API
#if defined(PHI_STATIC)
#if defined(__GNUC__)
#define PHI_API static __attribute__((unused))
#else
#define PHI_API static
#endif
#else
#define PHI_API extern
#endif
#endif

/* Zeroes any struct, in C and in C++: phi_agent_desc desc = PHI_ZERO; */
/* clang-format off */
#ifdef __cplusplus
#define PHI_ZERO {}
#else
#define PHI_ZERO {0}
#endif
/* clang-format on */

/* here "printf" is that of msvcrt; C99 programs get the standard one */
#if defined(__MINGW32__) && !defined(__clang__)
#define PHI_PRINTF(format_index, first) __attribute__((format(gnu_printf, format_index, first)))
#elif defined(__GNUC__)
#define PHI_PRINTF(format_index, first) __attribute__((format(printf, format_index, first)))
#else
#define PHI_PRINTF(format_index, first)
#endif

/* Means "no limit" in fields in which 0 means "the default". */
#define PHI_UNLIMITED UINT32_MAX

#ifdef __cplusplus
extern "C" {
#endif

/* Types that other headers describe. */
typedef struct phi_runtime phi_runtime;
typedef struct phi_arena phi_arena;
typedef struct phi_transport phi_transport;
typedef struct phi_tape phi_tape; /* described in phi_tools.h */

/* Bytes with a length; not terminated. Each function or struct that uses a phi_str says who owns
   the bytes. */
typedef struct phi_str {
    const char *at;
    size_t len;
} phi_str;

/* the numbers never change */
#define PHI_STATUS_LIST(X)                                                                         \
    X(OK, 0, "ok")                                                                                 \
    X(BAD_ARG, -1, "an argument is missing or out of range")                                       \
    X(NO_MEMORY, -2, "the allocator or a memory limit said no")                                    \
    X(MISUSE, -3, "not allowed here or now")                                                       \
    X(BUSY, -4, "still going on")                                                                  \
    X(STALE, -5, "the handle's object is gone")                                                    \
    X(FULL, -6, "a bounded queue is full")                                                         \
    X(CANCELLED, -7, "cancelled")                                                                  \
    X(TIMEOUT, -8, "a deadline passed")                                                            \
    X(NETWORK, -9, "the network failed")                                                           \
    X(TLS, -10, "the secure connection failed")                                                    \
    X(PARSE, -11, "the text is not what its format allows")                                        \
    X(TOO_BIG, -12, "larger than a limit allows")                                                  \
    X(NOT_FOUND, -13, "no such thing")                                                             \
    X(IO, -14, "the operating system said no")                                                     \
    X(UNSUPPORTED, -15, "not built in, or not supported here")                                     \
    X(REFUSED, -16, "the other side refused")                                                      \
    X(LIMIT, -17, "a limit of the run was reached")                                                \
    X(REJECTED, -18, "an input filter rejected it")                                                \
    X(DENIED, -19, "a hook said no")                                                               \
    X(UNREACHABLE, -20, "no server takes connections there")

#define PHI_X(name, value, text) PHI_##name = value,
typedef enum phi_status { PHI_STATUS_LIST(PHI_X) PHI_STATUS_END = -1000 } phi_status;
#undef PHI_X

/* Returns a sentence for a status, or "unknown status". Never NULL, static. */
PHI_API const char *phi_status_text(int status);

/* An allocator. phi gets memory only through realloc_fn, which works like realloc: ptr NULL
   allocates; new_bytes 0 frees and returns NULL. old_bytes is always the size of the last request.
   Returned memory must be aligned for any type. NULL means that there is no memory; ptr is then
   unchanged.
   Threads: called on the pumping thread only. */
typedef struct phi_allocator {
    void *(*realloc_fn)(void *user_data, void *ptr, size_t old_bytes, size_t new_bytes);
    void *user_data;
} phi_allocator;

/* A memory budget: an allocator with a limit and counters. Budgets form a tree: memory taken from a
   budget is also counted in its parent, and both limits apply. */
typedef struct phi_memory {
    phi_allocator allocator;
    struct phi_memory *parent; /* borrowed; NULL for a root */
    size_t limit_bytes;        /* 0: no limit */
    size_t used_bytes, peak_bytes;
    uint64_t refusals; /* the number of times that this limit has refused memory */
} phi_memory;

/* Initializes a root budget. `allocator` is copied; if it or its realloc_fn is NULL, the C
   library's allocator is used. */
PHI_API void phi_memory_init(phi_memory *memory, const phi_allocator *allocator,
                             size_t limit_bytes);

/* Where a parser stopped and why. */
typedef struct phi_parse_error {
    uint32_t line, column; /* count from 1; column counts bytes */
    size_t offset;         /* the number of bytes before this place */
    char message[160];     /* says which value was found and which was expected; terminated */
    phi_status status;     /* PHI_PARSE, PHI_NO_MEMORY, PHI_NOT_FOUND... */
} phi_parse_error;

/* Returns a phi_str that borrows a terminated string; NULL gives an empty phi_str. For other bytes
   set `at` and `len` yourself. */
PHI_API phi_str phi_str_of(const char *text);
/* For the conversion %.*s: printf("%.*s\n", PHI_ARG(text)). */
#define PHI_ARG(s) (int)(s).len, (s).at
PHI_API bool phi_str_equal(phi_str a, phi_str b);
/* True if s equals the text: phi_str_is(name, "ada"). NULL is the empty text. */
PHI_API bool phi_str_is(phi_str s, const char *text);

#ifdef __cplusplus
}
#endif
#endif
