/* base.c - statuses, memory budgets, and functions on strings. */
#include "base/base_in.h"

#include <stdlib.h>
#include <string.h>

static void *phi__base_libc_realloc(void *user_data, void *ptr, size_t old_bytes,
                                    size_t new_bytes) {
    (void)user_data;
    (void)old_bytes;
    if (new_bytes == 0) {
        free(ptr);
        return NULL;
    }
    return realloc(ptr, new_bytes);
}

PHI__FN void *phi__realloc(phi_memory *memory, void *ptr, size_t old_bytes, size_t new_bytes) {
    phi_memory *m;
    if (new_bytes > old_bytes) {
        size_t more = new_bytes - old_bytes;
        for (m = memory; m != NULL; m = m->parent)
            if (m->limit_bytes != 0 &&
                (m->used_bytes > m->limit_bytes || more > m->limit_bytes - m->used_bytes)) {
                m->refusals++;
                return NULL;
            }
    }
    void *out = memory != NULL ? memory->allocator.realloc_fn(memory->allocator.user_data, ptr,
                                                              old_bytes, new_bytes)
                               : phi__base_libc_realloc(NULL, ptr, old_bytes, new_bytes);
    if (out == NULL && new_bytes != 0) return NULL;
    for (m = memory; m != NULL; m = m->parent) {
        PHI_ASSERT(m->used_bytes >= old_bytes);
        m->used_bytes = m->used_bytes - old_bytes + new_bytes;
        if (m->used_bytes > m->peak_bytes) m->peak_bytes = m->used_bytes;
    }
    return out;
}

PHI__FN void *phi__alloc(phi_memory *memory, size_t bytes) {
    if (bytes > SIZE_MAX / 2) return NULL; /* no object is so large: a product overflowed */
    void *out = phi__realloc(memory, NULL, 0, bytes);
    if (out != NULL) memset(out, 0, bytes);
    return out;
}

PHI__FN void phi__free(phi_memory *memory, void *ptr, size_t bytes) {
    if (ptr != NULL) (void)phi__realloc(memory, ptr, bytes, 0);
}

PHI__FN size_t phi__add(size_t a, size_t b) { return a > SIZE_MAX - b ? SIZE_MAX : a + b; }

PHI__FN size_t phi__mul(size_t a, size_t b) {
    return b != 0 && a > SIZE_MAX / b ? SIZE_MAX : a * b;
}

PHI__FN void *phi__grow(phi_memory *memory, void *ptr, size_t *cap, size_t need, size_t size) {
    size_t now = *cap;
    size_t least = size > 128 ? 1 : 4; /* arrays of large elements often have only one */
    if (need <= now) return ptr;
    now = now > SIZE_MAX / 2 ? need : phi__max(phi__max(now * 2, need), least);
    size_t bytes = phi__mul(now, size);
    if (bytes == SIZE_MAX) return NULL;
    void *out = phi__realloc(memory, ptr, *cap * size, bytes);
    if (out != NULL) *cap = now;
    return out;
}

PHI__FN bool phi__str_starts(phi_str s, const char *prefix) {
    size_t n = strlen(prefix);
    return s.len >= n && (n == 0 || memcmp(s.at, prefix, n) == 0);
}

PHI__FN bool phi__str_ends(phi_str s, const char *suffix) {
    size_t n = strlen(suffix);
    return s.len >= n && memcmp(s.at + s.len - n, suffix, n) == 0;
}

static bool phi__base_same_nocase(const char *a, const char *b, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (phi__lower(a[i]) != phi__lower(b[i])) return false;
    return true;
}

PHI__FN bool phi__str_is_nocase(phi_str s, const char *text) {
    return s.len == strlen(text) && phi__base_same_nocase(s.at, text, s.len);
}

PHI__FN bool phi__str_equal_nocase(phi_str a, phi_str b) {
    return a.len == b.len && phi__base_same_nocase(a.at, b.at, a.len);
}

PHI__FN bool phi__str_equal_secret(phi_str a, phi_str b) {
    unsigned char differ = 0;
    if (a.len != b.len) return false;
    for (size_t i = 0; i < a.len; i++) differ = (unsigned char)(differ | (a.at[i] ^ b.at[i]));
    return differ == 0;
}

PHI__FN size_t phi__str_find(phi_str s, size_t from, const char *needle) {
    size_t n = strlen(needle);
    for (size_t i = from; n <= s.len && i <= s.len - n; i++)
        if (memcmp(s.at + i, needle, n) == 0) return i;
    return SIZE_MAX;
}

PHI__FN size_t phi__str_find_nocase(phi_str s, size_t from, const char *needle) {
    size_t n = strlen(needle);
    for (size_t i = from; n <= s.len && i <= s.len - n; i++)
        if (phi__base_same_nocase(s.at + i, needle, n)) return i;
    return SIZE_MAX;
}

static bool phi__base_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

PHI__FN phi_str phi__str_trim(phi_str s) {
    while (s.len > 0 && phi__base_space(s.at[0])) s = phi__str_from(s, 1);
    while (s.len > 0 && phi__base_space(s.at[s.len - 1])) s.len--;
    return s;
}

PHI__FN bool phi__str_to_u64(phi_str s, uint64_t *out) {
    uint64_t n = 0;
    if (s.len == 0) return false;
    for (size_t i = 0; i < s.len; i++) {
        unsigned digit = (unsigned)(unsigned char)s.at[i] - '0';
        /* 19 digits always fit */
        if (digit > 9 || (i >= 19 && n > (UINT64_MAX - digit) / 10)) return false;
        n = n * 10 + digit;
    }
    *out = n;
    return true;
}

PHI__FN void phi__hash_hex(uint64_t n, char out[17]) {
    for (int i = 15; i >= 0; i--, n >>= 4) out[i] = "0123456789abcdef"[n & 15];
    out[16] = '\0';
}

PHI__FN uint64_t phi__hash_of_hex(phi_str digits) {
    uint64_t n = 0;
    for (size_t i = 0; i < digits.len && i < 16; i++) {
        char c = digits.at[i];
        if (!phi__is_digit(c) && (c < 'a' || c > 'f')) return 0;
        n = n << 4 | (uint64_t)(c >= 'a' ? c - 'a' + 10 : c - '0');
    }
    return n;
}

PHI__FN phi_allocator phi__allocator_default(void) {
    phi_allocator a;
    a.realloc_fn = phi__base_libc_realloc;
    a.user_data = NULL;
    return a;
}

/* ---- public ---- */

PHI_API const char *phi_status_text(int status) {
    switch (status) {
#define PHI_X(name, value, text)                                                                   \
    case value: return text;
        PHI_STATUS_LIST(PHI_X)
#undef PHI_X
    default: return "unknown status";
    }
}

PHI_API void phi_memory_init(phi_memory *memory, const phi_allocator *allocator,
                             size_t limit_bytes) {
    memset(memory, 0, sizeof *memory);
    memory->allocator =
        allocator != NULL && allocator->realloc_fn != NULL ? *allocator : phi__allocator_default();
    memory->limit_bytes = limit_bytes;
}

PHI_API phi_str phi_str_of(const char *text) { return phi__str(text, text ? strlen(text) : 0); }

PHI_API bool phi_str_equal(phi_str a, phi_str b) {
    return a.len == b.len && (a.len == 0 || memcmp(a.at, b.at, a.len) == 0);
}

PHI_API bool phi_str_is(phi_str s, const char *text) {
    return phi__str_is(s, text != NULL ? text : "");
}
