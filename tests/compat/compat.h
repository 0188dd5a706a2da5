/* compat.h - files of tests/fixtures/compat: what an older build wrote, and this one must write again,
   byte for byte.

   A scenario makes a text and hands it to compat_file, which compares it with the stored file. With
   PHI_COMPAT_WRITE=1 in the environment it writes a file that is missing. That is for formats that are
   new: files that are there were written by the build that tests/fixtures/compat/README.md names, and
   are compared in any case.
   The last test of each program calls compat_folder: a stored file that no scenario named is a failure.

   Each program stores its files in a folder of its own, its subject. */
#ifndef PHI_TESTS_COMPAT_COMPAT_H
#define PHI_TESTS_COMPAT_COMPAT_H

#include "support/test.h"

#include <dirent.h>
#include <stdarg.h>
#include <sys/stat.h>

enum { COMPAT_FILES = 256, COMPAT_PATH = 512 };

/* ---- a text that grows ---- */

typedef struct compat_text {
    char *at; /* terminated; malloc'ed; NULL: empty */
    size_t len, cap;
} compat_text;

static inline void compat_add(compat_text *t, const char *at, size_t len) {
    if (t->len + len + 1 > t->cap) {
        t->cap = (t->len + len + 1) * 2;
        t->at = (char *)realloc(t->at, t->cap);
        if (t->at == NULL) abort();
    }
    if (len > 0) memcpy(t->at + t->len, at, len);
    t->len += len;
    t->at[t->len] = '\0';
}

static inline void compat_str(compat_text *t, phi_str s) { compat_add(t, s.at, s.len); }

static inline void compat_print(compat_text *t, const char *format, ...) PHI_PRINTF(2, 3);
static inline void compat_print(compat_text *t, const char *format, ...) {
    char line[2048];
    va_list args;
    int n;
    va_start(args, format);
    n = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (n < 0 || (size_t)n >= sizeof line) abort();
    compat_add(t, line, (size_t)n);
}

static inline void compat_drop(compat_text *t) {
    free(t->at);
    memset(t, 0, sizeof *t);
}

/* ---- the files ---- */

static char compat_names[COMPAT_FILES][128]; /* "subject/name", of this program */
static size_t compat_count;

static inline void compat_path(char out[COMPAT_PATH], const char *name) {
    int n = snprintf(out, COMPAT_PATH, "tests/fixtures/compat/%s", name);
    if (n < 0 || n >= COMPAT_PATH) abort();
}

static inline void compat_name(const char *name) {
    size_t i;
    for (i = 0; i < compat_count; i++)
        if (strcmp(compat_names[i], name) == 0) return;
    if (compat_count == COMPAT_FILES || strlen(name) >= sizeof compat_names[0]) abort();
    memcpy(compat_names[compat_count++], name, strlen(name) + 1);
}

/* Whether that file is to be written: it is missing, and the environment says so. */
static inline bool compat_writes(const char *path) {
    const char *said = getenv("PHI_COMPAT_WRITE");
    struct stat what;
    return said != NULL && strcmp(said, "1") == 0 && stat(path, &what) != 0;
}

static inline bool compat_write(const char *path, const char *at, size_t len) {
    char folder[COMPAT_PATH];
    size_t i;
    FILE *file;
    bool good;
    for (i = 1; path[i] != '\0'; i++) {
        if (path[i] != '/') continue;
        memcpy(folder, path, i);
        folder[i] = '\0';
        (void)mkdir(folder, 0777);
    }
    file = fopen(path, "wb");
    if (!CHECK(file != NULL)) return false;
    good = fwrite(at, 1, len, file) == len;
    good = fclose(file) == 0 && good;
    return CHECK(good);
}

/* Prints where two texts part. */
static inline void compat_differ(const char *path, const char *got, size_t got_len,
                                 const char *want, size_t want_len) {
    size_t at = 0, from, i;
    while (at < got_len && at < want_len && got[at] == want[at]) at++;
    from = at > 120 ? at - 120 : 0;
    printf("%s: differs at byte %zu (%zu bytes, should be %zu)\n  got:    ", path, at, got_len,
           want_len);
    for (i = from; i < got_len && i < at + 200; i++) putchar(got[i]);
    printf("\n  stored: ");
    for (i = from; i < want_len && i < at + 200; i++) putchar(want[i]);
    printf("\n");
}

static inline bool compat_same(const char *path, const char *got, size_t got_len, const char *want,
                               size_t want_len) {
    bool same = got_len == want_len && (got_len == 0 || memcmp(got, want, got_len) == 0);
    if (!CHECK(same)) compat_differ(path, got, got_len, want, want_len);
    return same;
}

/* Compares a text with the stored file "SUBJECT/NAME", or writes that, where it is missing. */
static inline bool compat_file(const char *name, const char *at, size_t len) {
    char path[COMPAT_PATH];
    char *want;
    size_t want_len;
    bool same;
    compat_name(name);
    compat_path(path, name);
    if (at == NULL) at = "";
    if (compat_writes(path)) return compat_write(path, at, len);
    want = test_read_file(path, &want_len);
    if (want == NULL) return false;
    same = compat_same(path, at, len, want, want_len);
    free(want);
    return same;
}

/* The same of a file that is only read, since its bytes depend on the build. */
static inline bool compat_read_only(const char *name, const char *at, size_t len) {
    char path[COMPAT_PATH];
    compat_name(name);
    compat_path(path, name);
    return !compat_writes(path) || compat_write(path, at, len);
}

/* compat_file, which also frees the text. */
static inline bool compat_done(const char *name, compat_text *t) {
    bool same = compat_file(name, t->at, t->len);
    compat_drop(t);
    return same;
}

/* The stored file; caller frees with free(). NULL, and a failed check: it is missing. */
static inline char *compat_stored(const char *name, size_t *len) {
    char path[COMPAT_PATH];
    compat_path(path, name);
    return test_read_file(path, len);
}

static inline bool compat_known(const char *name) {
    size_t i;
    for (i = 0; i < compat_count; i++)
        if (strcmp(compat_names[i], name) == 0) return true;
    return false;
}

/* Every file below a subject's folder was named by a scenario. */
static inline void compat_folder(const char *subject) {
    char path[COMPAT_PATH], name[COMPAT_PATH];
    const struct dirent *entry;
    struct stat what;
    DIR *dir;
    compat_path(path, subject);
    dir = opendir(path);
    if (!CHECK(dir != NULL)) return;
    while ((entry = readdir(dir)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        (void)snprintf(name, sizeof name, "%.200s/%.255s", subject, entry->d_name);
        compat_path(path, name);
        if (stat(path, &what) == 0 && S_ISDIR(what.st_mode))
            compat_folder(name);
        else if (!CHECK(compat_known(name)))
            printf("  %s: no scenario names it\n", name);
    }
    (void)closedir(dir);
}

#endif
