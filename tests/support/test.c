/* test.c - see test.h. The last line a program prints is "N passed, N failed, N skipped", which
   scripts/run_tests.py adds up. */
#include "support/test.h"

#include "support/os.h"

#define TEST_SHOWN 20 /* failed checks printed for one test */
#define TEST_FDS 1024 /* descriptors looked at for leaks */
#define TEST_MAGIC 0x7e57a110u

static const char *test__name;
static const char *test__skipped; /* why, or NULL */
static char test__temp[300];
static int test__failures;

static struct {
    size_t bytes, blocks;
    long long until, from;   /* requests until one fails, until all do; negative: never */
    uint32_t chance, one_in; /* 0: no chance is taken */
    bool tripped;
} test__memory = {0, 0, -1, -1, 0, 0, false};

/* ---- checks ---- */

int test_failures(void) { return test__failures; }

static bool test__fail(const char *file, int line) {
    test__failures++;
    if (test__failures > TEST_SHOWN) return false;
    printf("%s:%d: %s: ", file, line, test__name);
    return true;
}

bool test_check(bool held, const char *what, const char *file, int line) {
    if (!held && test__fail(file, line)) printf("not so: %s\n", what);
    return held;
}

bool test_check_int(long long got, long long want, const char *what, const char *file, int line) {
    if (got != want && test__fail(file, line))
        printf("%s is %lld, should be %lld\n", what, got, want);
    return got == want;
}

static void test__show(const char *at, size_t len) {
    size_t i;
    putchar('"');
    for (i = 0; i < len; i++) {
        unsigned char c = (unsigned char)at[i];
        if (c == '\n')
            printf("\\n");
        else if (c == '"' || c == '\\')
            printf("\\%c", c);
        else if (c < 32 || c == 127)
            printf("\\x%02x", c);
        else
            putchar(c);
    }
    putchar('"');
}

bool test_check_str(phi_str got, const char *want, const char *what, const char *file, int line) {
    size_t n = strlen(want);
    bool same = got.len == n && (n == 0 || memcmp(got.at, want, n) == 0);
    if (!same && test__fail(file, line)) {
        printf("%s is\n    ", what);
        test__show(got.at, got.len);
        printf(", should be\n    ");
        test__show(want, n);
        printf("\n");
    }
    return same;
}

bool test_check_text(const char *got, const char *want, const char *what, const char *file,
                     int line) {
    phi_str s;
    if (got == NULL || want == NULL) {
        if (got == want) return true;
        if (test__fail(file, line))
            printf("%s is %s, should be %s\n", what, got ? got : "NULL", want ? want : "NULL");
        return false;
    }
    s.at = got;
    s.len = strlen(got);
    return test_check_str(s, want, what, file, line);
}

void test_skip(const char *why) {
    test__skipped = why;
    printf("%s: skipped: %s\n", test__name, why);
}

/* ---- the allocator ---- */

/* 16 bytes on every machine, so that blocks are aligned as those of malloc. */
typedef struct test__block {
    uint64_t bytes;
    uint32_t magic, pad;
} test__block;

static bool test__refuse(void) {
    bool no = test__memory.until == 0 || test__memory.from == 0;
    if (test__memory.one_in > 0 && test_random(&test__memory.chance) % test__memory.one_in == 0)
        no = true;
    if (test__memory.until >= 0) test__memory.until--;
    if (test__memory.from > 0) test__memory.from--;
    if (no) test__memory.tripped = true;
    return no;
}

static test__block *test__block_of(void *ptr, size_t old_bytes) {
    test__block *block = (test__block *)ptr - 1;
    if (block->magic != TEST_MAGIC || block->bytes != old_bytes) {
        printf("%s: allocator: old_bytes %zu is not what was asked for (%zu)\n", test__name,
               old_bytes, block->magic == TEST_MAGIC ? (size_t)block->bytes : (size_t)0);
        fflush(stdout);
        abort();
    }
    return block;
}

static void *test__take(size_t bytes) {
    test__block *block = (test__block *)malloc(sizeof *block + bytes);
    if (block == NULL) abort();
    block->bytes = bytes;
    block->magic = TEST_MAGIC;
    memset(block + 1, 0xA5, bytes);
    test__memory.bytes += bytes;
    test__memory.blocks++;
    return block + 1;
}

static void test__give(test__block *block) {
    test__memory.bytes -= (size_t)block->bytes;
    test__memory.blocks--;
    block->magic = 0;
    free(block);
}

static void *test__realloc(void *user_data, void *ptr, size_t old_bytes, size_t new_bytes) {
    test__block *old = ptr != NULL ? test__block_of(ptr, old_bytes) : NULL;
    void *out = NULL;
    (void)user_data;
    if (new_bytes != 0) {
        if (new_bytes > SIZE_MAX / 4 || test__refuse()) return NULL;
        out = test__take(new_bytes);
        if (old != NULL) memcpy(out, ptr, old_bytes < new_bytes ? old_bytes : new_bytes);
    }
    if (old != NULL) test__give(old);
    return out;
}

phi_allocator test_allocator(void) {
    phi_allocator a;
    a.realloc_fn = test__realloc;
    a.user_data = NULL;
    return a;
}

static void test__alloc_fail(int until, int from, uint32_t one_in) {
    test__memory.until = until;
    test__memory.from = from;
    test__memory.one_in = one_in;
    test__memory.tripped = false;
}

void test_alloc_fail_at(int n) { test__alloc_fail(n, -1, 0); }
void test_alloc_fail_from(int n) { test__alloc_fail(-1, n, 0); }

void test_alloc_fail_some(uint32_t seed, uint32_t one_in) {
    test__alloc_fail(-1, -1, one_in);
    test__memory.chance = seed;
}

bool test_alloc_tripped(void) { return test__memory.tripped; }
size_t test_alloc_live_bytes(void) { return test__memory.bytes; }
size_t test_alloc_live_blocks(void) { return test__memory.blocks; }

/* ---- files ---- */

static char *test__slurp(FILE *file, size_t *len) {
    size_t cap = 4096, n = 0, got;
    char *text = (char *)malloc(cap + 1);
    while (text != NULL && (got = fread(text + n, 1, cap - n, file)) > 0) {
        n += got;
        if (n < cap) continue;
        cap *= 2;
        text = (char *)realloc(text, cap + 1);
    }
    if (text == NULL) abort();
    text[n] = '\0';
    if (len != NULL) *len = n;
    return text;
}

char *test_read_file(const char *path, size_t *len) {
    FILE *file = fopen(path, "rb");
    char *text;
    if (len != NULL) *len = 0;
    if (file == NULL) {
        if (test__fail(__FILE__, __LINE__)) printf("cannot read %s\n", path);
        return NULL;
    }
    text = test__slurp(file, len);
    fclose(file);
    return text;
}

char *test_fixture(const char *path, size_t *len) {
    char file[512];
    int n = snprintf(file, sizeof file, "tests/fixtures/%s", path);
    if (n < 0 || (size_t)n >= sizeof file) abort();
    return test_read_file(file, len);
}

static void test__temp_remove(void) {
    if (test__temp[0] == '\0') return;
    test_os_remove_tree(test__temp);
    test__temp[0] = '\0';
}

/* An absolute path, so that a test may change directory or hand it to a child. */
bool test_temp_dir(char *out, size_t cap) {
    static const char tail[] = "/build/tmp_XXXXXX";
    char here[256];
    int n;
    test__temp_remove();
    if (!test_os_here(here, sizeof here)) return CHECK(!"getcwd");
    n = snprintf(test__temp, sizeof test__temp, "%s%s", here, tail);
    if (!CHECK(n > 0 && (size_t)n < sizeof test__temp && (size_t)n < cap)) return false;
    if (!CHECK(test_os_make_temp(test__temp))) return false;
    memcpy(out, test__temp, (size_t)n + 1);
    return true;
}

uint32_t test_random(uint32_t *state) {
    uint32_t x = *state != 0 ? *state : 0x9e3779b9u;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    *state = x;
    return x;
}

/* ---- the run ---- */

static void test__check_left(const bool *before) {
    static bool after[TEST_FDS];
    const char *child;
    long pid;
    int fd;
    if (test__memory.bytes != 0 || test__memory.blocks != 0) {
        printf("%s: left %zu bytes in %zu blocks\n", test__name, test__memory.bytes,
               test__memory.blocks);
        test__failures++;
        test__memory.bytes = test__memory.blocks = 0;
    }
    test_os_descriptors(after, TEST_FDS);
    for (fd = 0; fd < TEST_FDS; fd++) {
        if (!after[fd] || before[fd]) continue;
        printf("%s: left file descriptor %d open\n", test__name, fd);
        test__failures++;
    }
    child = test_os_child_left(&pid);
    if (child == NULL) return;
    if (pid != 0)
        printf("%s: left %s (%ld)\n", test__name, child, pid);
    else
        printf("%s: left %s\n", test__name, child);
    test__failures++;
}

static void test__one(const test_entry *entry) {
    static bool before[TEST_FDS];
    test__name = entry->name;
    test__skipped = NULL;
    test__failures = 0;
    test_alloc_fail_at(-1);
    test_os_descriptors(before, TEST_FDS);
    entry->run();
    test_alloc_fail_at(-1);
    test__temp_remove();
    test__check_left(before);
    if (test__failures > TEST_SHOWN)
        printf("%s: %d more failed checks\n", test__name, test__failures - TEST_SHOWN);
    fflush(stdout);
}

static bool test__wanted(int argc, char **argv, const char *name) {
    int i;
    for (i = 1; i < argc; i++)
        if (strstr(name, argv[i]) != NULL) return true;
    return argc < 2;
}

/* $PHI_LEFT_OUT: names of tests that are not run (scripts/windows.py). */
static bool test__left_out(const char *name) {
    const char *at = getenv("PHI_LEFT_OUT");
    size_t n = strlen(name);
    while (at != NULL && (at = strstr(at, name)) != NULL) {
        bool begins = at == getenv("PHI_LEFT_OUT") || at[-1] == ' ';
        at += n;
        if (begins && (*at == '\0' || *at == ' ')) return true;
    }
    return false;
}

int test_run(int argc, char **argv, const test_entry *entries, size_t count) {
    int passed = 0, failed = 0, skipped = 0;
    size_t i;
    test_os_begin();
    for (i = 0; i < count; i++) {
        if (!test__wanted(argc, argv, entries[i].name)) continue;
        if (test__left_out(entries[i].name)) {
            printf("%s: left out\n", entries[i].name);
            skipped++;
            continue;
        }
        test__one(&entries[i]);
        if (test__failures > 0)
            failed++;
        else if (test__skipped != NULL)
            skipped++;
        else
            passed++;
    }
    printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
    return failed > 0 ? 1 : 0;
}
