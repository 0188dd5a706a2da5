/* fuzz_ignore.c - an ignore file and paths, out of any bytes: never a crash, and never much work or memory.
   The first zero byte parts the two; a newline ends a path. */
#include "tools/match_in.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *text = (const char *)data;
    const char *cut = size > 0 ? (const char *)memchr(text, 0, size) : NULL;
    size_t first = cut != NULL ? (size_t)(cut - text) : size;
    phi_str paths = cut != NULL ? phi__str(cut + 1, size - first - 1) : phi__str("a/b", 3);
    phi_memory memory;
    phi__ignore ignore;
    size_t at = 0, left, units = SIZE_MAX;
    phi_memory_init(&memory, NULL, 0);
    phi__ignore_init(&ignore, &memory);
    if (phi__ignore_add(&ignore, phi__str(text, first)) != PHI_OK) abort();
    if (ignore.outs > ignore.count || ignore.count > first + 1) abort();
    while (at < paths.len) {
        const char *end = (const char *)memchr(paths.at + at, '\n', paths.len - at);
        size_t n = end != NULL ? (size_t)(end - paths.at) - at : paths.len - at;
        phi_str path = phi__str(paths.at + at, n);
        phi__ignore_said file;
        left = ignore.count;
        file = phi__ignore_says(&ignore, path, false, &left, &units);
        left = ignore.count;
        /* A rule for directories alone is the only difference. */
        if (file != PHI__IGNORE_NONE &&
            phi__ignore_says(&ignore, path, true, &left, &units) == PHI__IGNORE_NONE)
            abort();
        at += n + 1;
    }
    phi__ignore_free(&ignore);
    if (memory.used_bytes != 0) abort();
    return 0;
}
