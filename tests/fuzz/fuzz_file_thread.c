/* fuzz_file_thread.c - any bytes as a thread's file: what is read from it is a dense prefix, and can be appended to.

   The first byte says how many bytes a read gives, and whether each line gets a check value that fits: else nothing
   would ever be looked at behind it. */
#include "base/base_in.h"
#include "persist/journal_in.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool held) {
    if (!held) abort();
}

/* A disk of one thread and its lock. */
typedef struct one_file {
    char *bytes;
    size_t len, piece;
} one_file;

static bool is_lock(const char *path) { return strstr(path, ".lock") != NULL; }

static phi_status one_open(void *ud, const char *path, phi__disk_how how, intptr_t *out,
                           phi__words *words) {
    (void)ud;
    (void)how;
    (void)words;
    *out = is_lock(path) ? 2 : 1;
    return PHI_OK;
}

static phi_status one_close(void *ud, intptr_t file, phi__words *words) {
    (void)ud;
    (void)file;
    (void)words;
    return PHI_OK;
}

static phi_status one_info(void *ud, intptr_t file, phi__disk_info *out, phi__words *words) {
    one_file *f = (one_file *)ud;
    (void)words;
    memset(out, 0, sizeof *out);
    out->file = (uint64_t)file;
    out->bytes = file == 1 ? f->len : 0;
    out->regular = true;
    return PHI_OK;
}

static phi_status one_info_of(void *ud, const char *path, phi__disk_info *out, phi__words *words) {
    return one_info(ud, is_lock(path) ? 2 : 1, out, words);
}

static phi_status one_read(void *ud, intptr_t file, uint64_t at, char *out, size_t n, size_t *got,
                           phi__words *words) {
    one_file *f = (one_file *)ud;
    (void)words;
    must(file == 1);
    *got = at >= f->len ? 0 : phi__min(phi__min(n, f->len - (size_t)at), f->piece);
    if (*got > 0) memcpy(out, f->bytes + at, *got);
    return PHI_OK;
}

static phi_status one_write(void *ud, intptr_t file, uint64_t at, const char *bytes, size_t n,
                            size_t *wrote, phi__words *words) {
    one_file *f = (one_file *)ud;
    (void)words;
    must(file == 1 && at == f->len); /* behind the end, always */
    *wrote = phi__min(n, f->piece);
    f->bytes = (char *)realloc(f->bytes, f->len + *wrote);
    memcpy(f->bytes + f->len, bytes, *wrote);
    f->len += *wrote;
    return PHI_OK;
}

static phi_status one_cut(void *ud, intptr_t file, uint64_t bytes, phi__words *words) {
    one_file *f = (one_file *)ud;
    (void)words;
    must(file == 1 && bytes <= f->len);
    f->len = (size_t)bytes;
    return PHI_OK;
}

static phi_status one_lock(void *ud, intptr_t file, phi__words *words) {
    (void)ud;
    (void)words;
    must(file == 2);
    return PHI_OK;
}

static phi_status one_remove(void *ud, const char *path, phi__words *words) {
    (void)ud;
    (void)words;
    must(is_lock(path));
    return PHI_OK;
}

typedef struct seen {
    uint64_t count;
    uint32_t check;
    uint64_t check_up_to; /* entries in it */
} seen;

static phi_status each(void *ctx, uint64_t seq, phi_str entry) {
    seen *s = (seen *)ctx;
    must(seq == s->count && entry.len > 0 && memchr(entry.at, '\n', entry.len) == NULL);
    s->count++;
    if (seq < s->check_up_to) s->check = phi__crc32(s->check, entry.at, entry.len);
    return PHI_OK;
}

/* The lines of the input, each behind the check value of its own bytes. */
static void seal(phi__buf *out, const char *at, size_t n) {
    while (n > 0) {
        const char *stop = (const char *)memchr(at, '\n', n);
        size_t len = stop == NULL ? n : (size_t)(stop - at);
        phi__buf_printf(out, "{\"crc\":\"%08x\",", (unsigned)phi__crc32(0, at, len));
        phi__buf_add(out, at, len);
        if (stop != NULL) phi__buf_char(out, '\n');
        at += phi__min(len + 1, n);
        n -= phi__min(len + 1, n);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    one_file f;
    phi__disk disk = {&f,       one_open,   one_close, one_info, one_info_of,
                      one_read, one_write,  one_cut,   NULL,     one_lock,
                      NULL,     one_remove, NULL,      NULL,     NULL};
    phi_file_store_desc desc = PHI_ZERO;
    phi_store s;
    phi_memory memory;
    phi__buf file;
    seen before = PHI_ZERO, after = PHI_ZERO;
    uint64_t torn;
    phi_status status;
    char words[200];
    if (size < 1) return 0;
    phi_memory_init(&memory, NULL, 0);
    phi__buf_init(&file, &memory);
    if (data[0] & 1)
        seal(&file, (const char *)data + 1, size - 1);
    else
        phi__buf_add(&file, (const char *)data + 1, size - 1);
    memset(&f, 0, sizeof f);
    f.piece = (size_t)(data[0] >> 1) * 7 + 1;
    f.len = file.len;
    f.bytes = (char *)malloc(file.len + 1);
    if (file.len > 0) memcpy(f.bytes, file.at, file.len);
    desc.directory = "d";
    must(phi__store_open_on(&desc, &disk, &s) == PHI_OK);
    before.check_up_to = UINT64_MAX;
    status = s.read(s.user_data, "t", 0, each, &before, &torn, words, sizeof words);
    must(status == PHI_OK || status == PHI_NOT_FOUND || status == PHI_PARSE);
    must(torn <= file.len && (status != PHI_NOT_FOUND || before.count == 0));
    if (status != PHI_PARSE) {
        phi_str e = PHI__LIT("{\"new\":1}");
        must(s.append(s.user_data, "t", before.count, &e, 1, words, sizeof words) == PHI_OK);
        after.check_up_to = before.count;
        must(s.read(s.user_data, "t", 0, each, &after, &torn, words, sizeof words) == PHI_OK);
        must(torn == 0 && after.count == before.count + 1 && after.check == before.check);
    }
    phi_file_store_close(&s);
    free(f.bytes);
    phi__buf_free(&file);
    return 0;
}
