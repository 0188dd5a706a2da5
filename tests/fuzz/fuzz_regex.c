/* fuzz_regex.c - a pattern and a text, out of any bytes: never a crash, never more work than a pass of the
   program a byte, and the same lines whatever the pieces and the units are. The first byte chooses; the
   first newline parts the two. */
#include "tools/match_in.h"

#include <stdlib.h>

enum { MOST = 256 };

/* The lines that match, as bits. */
static uint64_t lines(phi__regex *regex, phi_str text, size_t piece, size_t units) {
    size_t at = 0, i, counted = 0, line = 0, have = 0, turns = 0;
    uint64_t found = 0;
    phi__regex_begin(regex);
    for (;;) {
        size_t left = units;
        bool last;
        phi__regex_found what;
        if (have < text.len) have = phi__min(text.len, phi__max(have, at) + piece);
        last = have == text.len;
        do {
            left = units;
            what = phi__regex_scan(regex, phi__str(text.at, have), last, &at, &left);
            if (++turns > 100 * (text.len + 10)) abort();
        } while (what == PHI__REGEX_BUSY);
        if (at > have || what == PHI__REGEX_NO_MEMORY) abort();
        if (what == PHI__REGEX_NONE && !last) continue;
        if (what == PHI__REGEX_NONE && text.len > 0 && text.at[text.len - 1] != '\n')
            what = phi__regex_finish(regex);
        if (what != PHI__REGEX_MATCH) return found;
        for (i = counted; i < at; i++) line += text.at[i] == '\n';
        counted = at;
        found |= (uint64_t)1 << (line % 64);
        while (at < text.len && text.at[at] != '\n') at++;
        if (at + 1 >= text.len) return found;
        at++;
        have = phi__max(have, at);
        phi__regex_begin(regex);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *bytes = (const char *)data;
    const char *cut = size > 1 ? (const char *)memchr(bytes + 1, '\n', size - 1) : NULL;
    phi_str pattern, text;
    phi_memory memory;
    phi__regex *regex;
    phi__regex_error error;
    phi_status status;
    if (cut == NULL) return 0;
    pattern = phi__str(bytes + 1, (size_t)(cut - bytes) - 1);
    text = phi__str(cut + 1, size - (size_t)(cut - bytes) - 1);
    text.len = phi__min(text.len, MOST);
    phi_memory_init(&memory, NULL, 0);
    status = phi__regex_new(&memory, pattern, (data[0] & 1) != 0, &regex, &error);
    if (status == PHI_BAD_ARG) {
        if (error.message[0] == '\0' || error.column == 0 || error.column > pattern.len + 1)
            abort();
    } else if (status == PHI_OK) {
        uint64_t whole = lines(regex, text, SIZE_MAX / 2, SIZE_MAX);
        if (lines(regex, text, 1, SIZE_MAX) != whole) abort();
        if (lines(regex, text, SIZE_MAX / 2, 1) != whole) abort();
    } else
        abort();
    phi__regex_free(regex);
    if (memory.used_bytes != 0 || memory.peak_bytes > 16000000) abort();
    return 0;
}
