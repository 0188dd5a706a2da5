/* path.c - resolves paths, part by part.

   realpath refuses a path whose end does not exist yet, as that of a file about to be written, and
   a check of the text alone is fooled by links. */
#include "system/files_in.h"

#ifndef PHI_NO_FILES

#include "io/posix_in.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PHI__PATH_LINKS = 40 }; /* followed in one path; as Linux */

static int phi__path_prepend(phi__resolve *p, const char *text, size_t n) {
    if (n > p->at) return ENAMETOOLONG;
    p->at -= n;
    memcpy(p->rest + p->at, text, n);
    return 0;
}

static void phi__path_up(phi__resolve *p) {
    while (p->len > 0 && p->out[--p->len] != '/') continue;
    p->out[p->len] = '\0';
}

static int phi__path_link(phi__resolve *p) {
    char target[PHI__PATH_BYTES];
    ssize_t n = readlink(p->out, target, sizeof target);
    int error;
    if (n < 0) return errno;
    if (n == 0) return ENOENT;
    if ((size_t)n == sizeof target) return ENAMETOOLONG;
    if (++p->links > PHI__PATH_LINKS) return ELOOP;
    if (target[0] == '/')
        p->len = 0;
    else
        phi__path_up(p);
    error = phi__path_prepend(p, "/", 1);
    return error != 0 ? error : phi__path_prepend(p, target, (size_t)n);
}

static bool phi__path_more(const phi__resolve *p) {
    size_t i;
    for (i = p->at; i < sizeof p->rest; i++)
        if (p->rest[i] != '/') return true;
    return false;
}

/* One part of n bytes, at p->at. */
static int phi__path_part(phi__resolve *p, size_t n) {
    const char *part = p->rest + p->at;
    struct stat info;
    p->at += n;
    if (n == 1 && part[0] == '.') return 0;
    if (n == 2 && part[0] == '.' && part[1] == '.') {
        phi__path_up(p);
        return 0;
    }
    if (p->len + n + 2 > sizeof p->out) return ENAMETOOLONG;
    p->out[p->len] = '/';
    memcpy(p->out + p->len + 1, part, n);
    p->len += n + 1;
    p->out[p->len] = '\0';
    if (lstat(p->out, &info) != 0) return errno == ENOENT ? 0 : errno;
    if (S_ISLNK(info.st_mode)) return phi__path_link(p);
    return !S_ISDIR(info.st_mode) && phi__path_more(p) ? ENOTDIR : 0;
}

static int phi__path_begin(phi__resolve *p, const char *base, const char *path) {
    char here[PHI__PATH_BYTES];
    int error;
    p->at = sizeof p->rest;
    if (path[0] == '\0') return ENOENT;
    error = phi__path_prepend(p, path, strlen(path));
    if (error == 0 && path[0] != '/' && base != NULL) {
        error = phi__path_prepend(p, "/", 1);
        if (error == 0) error = phi__path_prepend(p, base, strlen(base));
    }
    if (error == 0 && p->rest[p->at] != '/') {
        if (getcwd(here, sizeof here) == NULL) return errno;
        error = phi__path_prepend(p, "/", 1);
        if (error == 0) error = phi__path_prepend(p, here, strlen(here));
    }
    return error;
}

/* ---- for other modules ---- */

static phi_status phi__path_refused(int error, phi__words *words) {
    if (words != NULL) phi__posix_words(error, words->text, sizeof words->text);
    return error == ENOENT ? PHI_NOT_FOUND : PHI_IO;
}

PHI__FN phi_status phi__path_resolve_begin(phi__resolve *r, const char *base, const char *path,
                                           phi__words *words) {
    int error;
    r->len = 0;
    r->links = 0;
    r->out[0] = '\0';
    error = phi__path_begin(r, base, path);
    return error == 0 ? PHI_OK : phi__path_refused(error, words);
}

PHI__FN phi_status phi__path_resolve_advance(phi__resolve *r, size_t *units, phi__words *words) {
    while (r->at < sizeof r->rest) {
        size_t n = 0;
        int error;
        while (r->at + n < sizeof r->rest && r->rest[r->at + n] != '/') n++;
        if (n == 0) {
            r->at++;
            continue;
        }
        if (*units == 0) return PHI_BUSY;
        *units -= phi__min(*units, 1 + r->len / 64);
        error = phi__path_part(r, n);
        if (error != 0) return phi__path_refused(error, words);
    }
    if (r->len == 0) memcpy(r->out, "/", 2);
    return PHI_OK;
}

PHI__FN bool phi__path_inside(const char *directory, const char *path) {
    size_t n = strlen(directory);
    if (n == 1) return true; /* the root */
    return strncmp(directory, path, n) == 0 && (path[n] == '\0' || path[n] == '/');
}

#endif
