/* failing_disk.h - the system's disk, of which one call fails: the n-th of the writing ones, or all from there on. */
#ifndef PHI_TESTS_STORES_FAILING_DISK_H
#define PHI_TESTS_STORES_FAILING_DISK_H

#include "persist/journal_in.h"
#include "support/test.h"

typedef struct failing_disk {
    phi__disk disk;
    int fail_at; /* calls until the failure; negative: none */
    bool stays;  /* and all after it fail too, but cut, close and remove */
    bool half;   /* a write that fails writes half of its bytes */
    phi_status with;
    int tripped;
    int syncs, directory_syncs, writes;
} failing_disk;

static bool failing_now(failing_disk *f, phi__words *words) {
    if (f->fail_at < 0 || (f->fail_at > 0 && f->fail_at-- > 0)) return false;
    if (!f->stays) f->fail_at = -1;
    f->tripped++;
    if (words != NULL) (void)snprintf(words->text, sizeof words->text, "made to fail");
    return true;
}

#define FAILING(ud, words)                                                                         \
    failing_disk *f = (failing_disk *)ud;                                                          \
    const phi__disk *real = phi__disk_system();                                                    \
    if (failing_now(f, words)) return f->with

static phi_status failing_open(void *ud, const char *path, phi__disk_how how, intptr_t *out,
                               phi__words *words) {
    if (how != PHI__DISK_READ) {
        FAILING(ud, words);
        return real->open(NULL, path, how, out, words);
    }
    return phi__disk_system()->open(NULL, path, how, out, words);
}

static phi_status failing_close(void *ud, intptr_t file, phi__words *words) {
    failing_disk *f = (failing_disk *)ud;
    phi_status status = phi__disk_system()->close(NULL, file, words);
    return words != NULL && !f->stays && failing_now(f, words) ? f->with : status;
}

static phi_status failing_info(void *ud, intptr_t file, phi__disk_info *out, phi__words *words) {
    FAILING(ud, words);
    return real->info(NULL, file, out, words);
}

static phi_status failing_info_of(void *ud, const char *path, phi__disk_info *out,
                                  phi__words *words) {
    FAILING(ud, words);
    return real->info_of(NULL, path, out, words);
}

static phi_status failing_read(void *ud, intptr_t file, uint64_t at, char *out, size_t n,
                               size_t *got, phi__words *words) {
    (void)ud;
    return phi__disk_system()->read(NULL, file, at, out, n, got, words);
}

static phi_status failing_write(void *ud, intptr_t file, uint64_t at, const char *bytes, size_t n,
                                size_t *wrote, phi__words *words) {
    failing_disk *f = (failing_disk *)ud;
    const phi__disk *real = phi__disk_system();
    f->writes++;
    *wrote = 0;
    if (failing_now(f, words)) {
        if (f->half && n > 1) (void)real->write(NULL, file, at, bytes, n / 2, wrote, NULL);
        return f->with;
    }
    return real->write(NULL, file, at, bytes, n, wrote, words);
}

static phi_status failing_cut(void *ud, intptr_t file, uint64_t bytes, phi__words *words) {
    (void)ud;
    return phi__disk_system()->cut(NULL, file, bytes, words);
}

static phi_status failing_sync(void *ud, intptr_t file, phi__words *words) {
    FAILING(ud, words);
    f->syncs++;
    (void)file;
    (void)real;
    return PHI_OK;
}

static phi_status failing_lock(void *ud, intptr_t file, phi__words *words) {
    FAILING(ud, words);
    return real->lock(NULL, file, words);
}

static phi_status failing_rename(void *ud, const char *from, const char *to, phi__words *words) {
    FAILING(ud, words);
    return real->rename(NULL, from, to, words);
}

static phi_status failing_remove(void *ud, const char *path, phi__words *words) {
    (void)ud;
    return phi__disk_system()->remove(NULL, path, words);
}

static phi_status failing_make_directories(void *ud, const char *path, phi__words *words) {
    FAILING(ud, words);
    return real->make_directories(NULL, path, words);
}

static phi_status failing_sync_directory(void *ud, const char *path, phi__words *words) {
    failing_disk *f = (failing_disk *)ud;
    (void)path;
    (void)words;
    f->directory_syncs++;
    return PHI_OK;
}

static phi_status failing_list(void *ud, const char *path,
                               phi_status (*each)(void *ctx, const char *name), void *ctx,
                               phi__words *words) {
    FAILING(ud, words);
    return real->list(NULL, path, each, ctx, words);
}

static void failing_disk_init(failing_disk *f) {
    phi__disk disk = {f,
                      failing_open,
                      failing_close,
                      failing_info,
                      failing_info_of,
                      failing_read,
                      failing_write,
                      failing_cut,
                      failing_sync,
                      failing_lock,
                      failing_rename,
                      failing_remove,
                      failing_make_directories,
                      failing_sync_directory,
                      failing_list};
    memset(f, 0, sizeof *f);
    f->disk = disk;
    f->fail_at = -1;
    f->with = PHI_FULL;
}

#endif
