/* prog_match.c - what the engine says of many patterns, for scripts that hold it against others.

       prog_match regex TEXT < patterns

   Each line of the input is "i" or "s" (ignore case or not), a blank and a pattern. For each one line
   is printed: the numbers of the matching lines of the file TEXT, or "error" and the message. */
#include "tools/match_in.h"

#include <stdio.h>
#include <stdlib.h>

static char *read_all(const char *path, size_t *n) {
    FILE *f = fopen(path, "rb");
    char *text = NULL;
    size_t cap = 1 << 20, got;
    *n = 0;
    if (f == NULL) exit(2);
    text = (char *)malloc(cap);
    while (text != NULL && (got = fread(text + *n, 1, cap - *n, f)) > 0) {
        *n += got;
        if (*n == cap) text = (char *)realloc(text, cap *= 2);
    }
    (void)fclose(f);
    return text;
}

static void match_lines(phi__regex *regex, const char *text, size_t n) {
    size_t at = 0, counted = 0, line = 1;
    phi__regex_begin(regex);
    for (;;) {
        size_t units = SIZE_MAX;
        phi__regex_found found = phi__regex_scan(regex, phi__str(text, n), true, &at, &units);
        const char *end;
        if (found == PHI__REGEX_NONE && n > 0 && text[n - 1] != '\n')
            found = phi__regex_finish(regex);
        if (found != PHI__REGEX_MATCH) break;
        for (; counted < at; counted++) line += text[counted] == '\n';
        printf(" %zu", line);
        end = at < n ? (const char *)memchr(text + at, '\n', n - at) : NULL;
        if (end == NULL) break;
        at = (size_t)(end - text) + 1;
        phi__regex_begin(regex);
        if (at == n) break;
    }
}

int main(int argc, char **argv) {
    static char line[65536];
    phi_memory memory;
    char *text;
    size_t n;
    if (argc < 3 || strcmp(argv[1], "regex") != 0) return 2;
    text = read_all(argv[2], &n);
    phi_memory_init(&memory, NULL, 0);
    while (text != NULL && fgets(line, sizeof line, stdin) != NULL) {
        phi__regex *regex;
        phi__regex_error error;
        size_t len = strcspn(line, "\n");
        if (phi__regex_new(&memory, phi__str(line + 2, len - 2), line[0] == 'i', &regex, &error) ==
            PHI_OK) {
            match_lines(regex, text, n);
            printf("\n");
        } else
            printf("error %zu %s\n", error.column, error.message);
        phi__regex_free(regex);
    }
    free(text);
    return memory.used_bytes != 0;
}
