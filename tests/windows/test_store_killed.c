/* test_store_killed.c - the file store on Windows, whose process is killed a hundred times. The child
   is this program. Runs by `make windows` alone. */
#include "persist/file_store.h"
#include "persist/persist_in.h"
#include "support/test.h"

#include "io/os_in.h"

#if defined(PHI__OS_WINDOWS)

#include "io/windows_in.h"
#include "system/process_in.h"

#include <fcntl.h>
#include <io.h>

enum { KILLS = 100 };

static char self[1024];

static phi_status opened(const char *dir, phi_store *out) {
    phi_file_store_desc desc = PHI_ZERO;
    desc.directory = dir;
    return phi_file_store_open(&desc, out);
}

/* Entry n: a text that says n. */
static phi_str entry_of(uint64_t n, char room[4096]) {
    size_t len = (size_t)(n * 7919 % 3000) + 30;
    memset(room, 'a' + (int)(n % 26), len);
    (void)snprintf(room, 24, "\"%llu", (unsigned long long)n);
    room[strlen(room)] = ' ';
    room[len - 1] = '"';
    return phi__str(room, len);
}

/* Appends until it is killed, and says each number of acknowledged entries. */
static int append(const char *dir, uint64_t has) {
    char words[200], room[4096];
    phi_store s;
    (void)_setmode(1, _O_BINARY);
    if (opened(dir, &s) != PHI_OK) return 1;
    if (s.lock(s.user_data, "t", words, sizeof words) != PHI_OK) return 2;
    for (;;) {
        phi_str entry = entry_of(has, room);
        if (s.append(s.user_data, "t", has, &entry, 1, words, sizeof words) != PHI_OK) return 3;
        has++;
        if (_write(1, &has, (unsigned)sizeof has) != (int)sizeof has) return 4;
    }
}

/* ---- what the child said, and what is there ---- */

typedef struct heard {
    unsigned char bytes[sizeof(uint64_t)];
    size_t at;
    uint64_t said;
    int exits, code;
} heard;

static bool on_output(void *ctx, int stream, const char *bytes, size_t len) {
    heard *h = (heard *)ctx;
    for (size_t i = 0; stream == 1 && i < len; i++) {
        h->bytes[h->at++] = (unsigned char)bytes[i];
        if (h->at < sizeof h->bytes) continue;
        memcpy(&h->said, h->bytes, sizeof h->said);
        h->at = 0;
    }
    return true;
}

static void on_exit_of(void *ctx, int code, int signal_number) {
    heard *h = (heard *)ctx;
    (void)signal_number;
    h->exits++;
    h->code = code;
}

typedef struct seen {
    uint64_t count, wrong;
} seen;

static phi_status each(void *ctx, uint64_t seq, phi_str entry) {
    char room[4096];
    seen *s = (seen *)ctx;
    if (seq != s->count || !phi_str_equal(entry, entry_of(seq, room))) s->wrong++;
    s->count++;
    return PHI_OK;
}

static void turn(phi__io *io) {
    phi__io_step_begin(io);
    (void)phi__io_wait(io, 1, 64);
    (void)phi__io_timers(io, 64);
}

/* Starts a child, lets it append for `ms` after its first word, and kills it. */
static uint64_t kill_one(phi__io *io, const char *dir, uint64_t has, unsigned ms) {
    char count[24];
    const char *argv[] = {self, "--child", dir, count, NULL};
    heard h = PHI_ZERO;
    phi__process_desc desc = PHI_ZERO;
    phi__process *process;
    ULONGLONG end;
    (void)snprintf(count, sizeof count, "%llu", (unsigned long long)has);
    h.said = has;
    desc.argv = argv;
    desc.output = on_output;
    desc.exited = on_exit_of;
    desc.ctx = &h;
    phi__io_step_begin(io);
    if (!CHECK_EQ_INT(phi__process_new(io, &desc, &process, NULL, 0), PHI_OK)) return has;
    end = GetTickCount64() + 20000;
    /* an eighth is killed while it starts */
    while (ms % 8 != 0 && h.said == has && h.exits == 0 && GetTickCount64() < end) turn(io);
    end = GetTickCount64() + ms;
    while (GetTickCount64() < end) turn(io);
    CHECK_EQ_INT(h.exits, 0);
    phi__process_terminate(process);
    end = GetTickCount64() + 20000;
    while (h.exits == 0 && GetTickCount64() < end) turn(io);
    CHECK_EQ_INT(h.exits, 1);
    phi__process_free(process);
    return h.said;
}

static void no_acknowledged_entry_is_lost_when_the_process_is_killed(void) {
    char dir[512], words[200];
    phi_allocator allocator = test_allocator();
    phi_memory memory;
    phi__io *io;
    phi_store s;
    uint64_t has = 0, all = 0, torn = 0, tears = 0;
    REQUIRE(test_temp_dir(dir, sizeof dir));
    REQUIRE(opened(dir, &s) == PHI_OK);
    phi_memory_init(&memory, &allocator, 0);
    CHECK_EQ_INT(phi__io_new(&memory, NULL, &io), PHI_OK);
    for (unsigned i = 0; i < KILLS && test_failures() == 0; i++) {
        seen found = PHI_ZERO;
        uint64_t said = kill_one(io, dir, has, i * 7919 % 50);
        phi_status status = s.read(s.user_data, "t", 0, each, &found, &torn, words, sizeof words);
        CHECK(status == PHI_OK || (status == PHI_NOT_FOUND && found.count == 0));
        CHECK_EQ_INT(found.wrong, 0);
        CHECK(found.count >= said && found.count <= said + 1);
        tears += torn > 0;
        all += found.count - has;
        has = found.count;
        if (has > 2000 && s.remove_thread(s.user_data, "t", words, sizeof words) == PHI_OK) has = 0;
    }
    printf("%d kills, %d entries, %d torn\n", KILLS, (int)all, (int)tears);
    CHECK(all > KILLS);
    phi__io_free(io);
    phi_file_store_close(&s);
}

int main(int argc, char **argv) {
    static const test_entry entries[] = {
        TEST_ENTRY(no_acknowledged_entry_is_lost_when_the_process_is_killed)};
    if (argc > 3 && strcmp(argv[1], "--child") == 0)
        return append(argv[2], (uint64_t)strtoull(argv[3], NULL, 10));
    (void)GetModuleFileNameA(NULL, self, (DWORD)sizeof self);
    return test_run(argc, argv, entries, PHI__COUNT(entries));
}

#else

int main(void) { return 0; }

#endif
