/* bench_stores.c - reading a thread of 100 MB from a file, and opening it, beside checksumming and parsing the same bytes
   in memory; and what an append costs, with and without waiting for the disk.

       cc -O2 -std=c99 -D_GNU_SOURCE -Isrc bench/bench_stores.c src/x/x.c -lcurl -lm

   Prints `name value unit` lines. Reading is CPU time, the kernel's too, and the least of several rounds; the file is
   in the system's memory by then. Appending is wall time.
   Reading: both sides parse each entry into a tree in an arena that is emptied for the next one. Opening: entries,
   messages and what the model would see are made and kept; beside it the messages alone are made of the bytes, and
   kept, too. Either is done with memory that comes from the system, as for a program that has just begun, and once
   more with memory that the C library has kept: which of the two it is would else be left to chance. */
#include "agent/one_shot_run.h"
#include "base/base_in.h"
#include "persist/file_store.h"
#include "text/json.h"
#include "log/log_in.h"
#include "loop/state_in.h"
#include "text/text_in.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 7
#define BATCH 64
#define FILE_BYTES 100000000
#define APPENDS 20000
#define SYNCED 300

static char dir[] = "build/bench/stores";
static phi_memory memory;
static phi_arena arena;

static double clock_ns(clockid_t clock) {
    struct timespec t;
    (void)clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double cpu_ns(void) { return clock_ns(CLOCK_THREAD_CPUTIME_ID); }

static void need(bool fine, const char *what) {
    if (fine) return;
    fprintf(stderr, "bench_stores: %s\n", what);
    exit(1);
}

static phi_store store_at(const char *path, bool sync) {
    phi_file_store_desc desc = PHI_ZERO;
    phi_store s;
    desc.directory = path;
    desc.sync = sync;
    need(phi_file_store_open(&desc, &s) == PHI_OK, "open");
    return s;
}

/* An entry such as a conversation has: every third a long answer, every fifth a call. */
static phi_str entry_of(uint64_t n) {
    static char text[4096];
    static const char words[] = "The sword is of good steel, and yet the edge is chipped; ";
    size_t at = (size_t)snprintf(
        text, sizeof text,
        "{\"seq\":%llu,\"id\":\"e%llu\",\"at\":%llu,\"kind\":\"message\","
        "\"refs\":{\"run_id\":\"r.%llu\",\"turn\":%d},\"message\":{\"role\":"
        "\"%s\",\"content\":[",
        (unsigned long long)n, (unsigned long long)n, 1763700000000ull + n,
        (unsigned long long)(n / 20), (int)(n % 20), n % 2 == 0 ? "user" : "assistant");
    int i, times = n % 3 == 0 ? 20 : 4;
    if (n % 5 == 0)
        at += (size_t)snprintf(text + at, sizeof text - at,
                               "{\"type\":\"toolCall\",\"id\":\"c%llu\",\"name\":\"look\","
                               "\"arguments\":{\"place\":\"smithy\",\"depth\":3,\"all\":true}},",
                               (unsigned long long)n);
    at += (size_t)snprintf(text + at, sizeof text - at, "{\"type\":\"text\",\"text\":\"");
    for (i = 0; i < times; i++) {
        memcpy(text + at, words, sizeof words - 1);
        at += sizeof words - 1;
    }
    at += (size_t)snprintf(text + at, sizeof text - at,
                           "\\n\"}],\"usage\":{\"input\":1200,\"output\":80}}}");
    return phi__str(text, at);
}

static void parse(phi_str entry) {
    phi_json *tree;
    need(phi_json_parse(&arena, entry, 0, &tree, NULL) == PHI_OK, "parse");
    phi__arena_rewind(&arena);
}

static phi_status each_parsed(void *ctx, uint64_t seq, phi_str entry) {
    (void)ctx;
    (void)seq;
    parse(entry);
    return PHI_OK;
}

static phi_status each_nothing(void *ctx, uint64_t seq, phi_str entry) {
    (void)seq;
    *(uint64_t *)ctx += entry.len;
    return PHI_OK;
}

static uint64_t fill(phi_store *s, const char *id, uint64_t bytes) {
    static char room[BATCH][4096];
    phi_str entries[BATCH];
    uint64_t n = 0, wrote = 0;
    size_t i;
    need(s->lock(s->user_data, id, NULL, 0) == PHI_OK, "lock");
    while (wrote < bytes) {
        for (i = 0; i < BATCH; i++) {
            phi_str e = entry_of(n + i);
            memcpy(room[i], e.at, e.len);
            entries[i] = phi__str(room[i], e.len);
            wrote += e.len + 60;
        }
        need(s->append(s->user_data, id, n, entries, BATCH, NULL, 0) == PHI_OK, "append");
        n += BATCH;
    }
    s->unlock(s->user_data, id);
    return n;
}

static char *whole_file(const char *path, size_t *n) {
    FILE *f = fopen(path, "rb");
    char *bytes;
    need(f != NULL && fseek(f, 0, SEEK_END) == 0, "file");
    *n = (size_t)ftell(f);
    rewind(f);
    bytes = (char *)malloc(*n);
    need(bytes != NULL && fread(bytes, 1, *n, f) == *n, "read");
    (void)fclose(f);
    return bytes;
}

/* As an agent opens it: read, checked, made into entries and folded into what the model would see. */
static double opened_ns(const phi_store *s, uint64_t count) {
    phi_runtime *rt = phi_runtime_new(NULL);
    phi_thread *thread = rt != NULL ? phi_thread_new(rt, 0) : NULL;
    char words[200] = "";
    double t0 = cpu_ns();
    need(thread != NULL, "thread");
    need(phi_thread_attach(thread, s, "big", NULL, words, sizeof words) == PHI_OK, words);
    t0 = cpu_ns() - t0;
    need(phi_thread_count(thread) == count, "entries");
    phi_runtime_free(rt);
    return t0;
}

/* The message of an entry, its last member, kept. */
static void keep(phi_str entry, phi_arena *kept) {
    static const char key[] = "\"message\":";
    const char *at = strstr(entry.at, key);
    phi_parse_error error;
    phi_message m;
    need(at != NULL && at < entry.at + entry.len, "message");
    at += sizeof key - 1;
    need(phi_message_from_json(phi__str(at, (size_t)(entry.at + entry.len - 1 - at)), kept, &m,
                               &error) == PHI_OK,
         "message");
}

/* The same bytes in memory: a CRC of each line, and of each entry a tree, or its message, which is kept. */
static double by_hand(const char *bytes, size_t n, phi_arena *kept) {
    static volatile uint32_t crc;
    double t0 = cpu_ns();
    size_t at = 0;
    while (at < n) {
        const char *stop = (const char *)memchr(bytes + at, '\n', n - at);
        size_t len = (size_t)(stop - bytes) - at;
        const char *entry;
        crc = crc + phi__crc32(0, bytes + at + 18, len - 18);
        entry = strstr(bytes + at + 18, "\"e\":");
        if (at > 0 && entry != NULL) {
            phi_str text = phi__str(entry + 4, (size_t)(bytes + at + len - 1 - entry - 4));
            if (kept != NULL)
                keep(text, kept);
            else
                parse(text);
        }
        at += len + 1;
    }
    return cpu_ns() - t0;
}

static double kept_ns(const char *bytes, size_t n) {
    phi_arena kept;
    double t;
    phi_arena_init(&kept, &memory, 65536);
    t = by_hand(bytes, n, &kept);
    phi_arena_free(&kept);
    return t;
}

static void least(double *of, double t) { *of = t < *of ? t : *of; }

static double read_ns(const phi_store *s, phi_status (*each)(void *, uint64_t, phi_str)) {
    char words[200] = "";
    uint64_t sum = 0;
    double t0 = cpu_ns();
    need(s->read(s->user_data, "big", 0, each, &sum, NULL, words, sizeof words) == PHI_OK, words);
    return cpu_ns() - t0;
}

static void bench_read(void) {
    phi_store s = store_at(dir, false);
    char path[200];
    double parsed = 1e18, bare = 1e18, hand = 1e18;
    double open[2] = {1e18, 1e18}, kept[2] = {1e18, 1e18}; /* memory: new, used before */
    uint64_t count;
    char *bytes;
    size_t n;
    int i, used;
    (void)s.remove_thread(s.user_data, "big", NULL, 0);
    count = fill(&s, "big", FILE_BYTES);
    (void)snprintf(path, sizeof path, "%s/big.jsonl", dir);
    bytes = whole_file(path, &n);
    for (i = 0; i < ROUNDS; i++) {
        least(&parsed, read_ns(&s, each_parsed));
        least(&hand, by_hand(bytes, n, NULL));
        least(&bare, read_ns(&s, each_nothing));
        (void)malloc_trim(0);
        for (used = 0; used < 2; used++) least(&kept[used], kept_ns(bytes, n));
        (void)malloc_trim(0);
        for (used = 0; used < 2; used++) least(&open[used], opened_ns(&s, count));
    }
    printf("stores_read_bytes %.1f MB\n", (double)n / 1e6);
    printf("stores_read_entries %llu entries\n", (unsigned long long)count);
    printf("stores_read_only %.1f ms\n", bare / 1e6);
    printf("stores_read_and_parse %.1f ms\n", parsed / 1e6);
    printf("stores_checksum_and_parse_in_memory %.1f ms\n", hand / 1e6);
    printf("stores_read_over_checksum_and_parse %.3f times\n", parsed / hand);
    for (used = 0; used < 2; used++) {
        const char *how = used ? "_again" : "";
        printf("stores_open%s %.1f ms\n", how, open[used] / 1e6);
        printf("stores_checksum_and_messages_in_memory%s %.1f ms\n", how, kept[used] / 1e6);
        printf("stores_open_over_checksum_and_messages%s %.3f times\n", how,
               open[used] / kept[used]);
        printf("stores_open_over_checksum_and_parse%s %.3f times\n", how, open[used] / hand);
    }
    free(bytes);
    (void)s.remove_thread(s.user_data, "big", NULL, 0);
    phi_file_store_close(&s);
}

/* Microseconds an append of one entry of some 700 bytes. */
static double append_us(bool sync, bool locked, int times) {
    phi_store s = store_at(dir, sync);
    double t0;
    int i;
    (void)s.remove_thread(s.user_data, "t", NULL, 0);
    if (locked) need(s.lock(s.user_data, "t", NULL, 0) == PHI_OK, "lock");
    t0 = clock_ns(CLOCK_MONOTONIC);
    for (i = 0; i < times; i++) {
        phi_str e = entry_of((uint64_t)i);
        need(s.append(s.user_data, "t", (uint64_t)i, &e, 1, NULL, 0) == PHI_OK, "append");
    }
    t0 = clock_ns(CLOCK_MONOTONIC) - t0;
    (void)s.remove_thread(s.user_data, "t", NULL, 0);
    phi_file_store_close(&s);
    return t0 / 1e3 / times;
}

int main(void) {
    /* What is freed goes back to the system when we say so. */
    need(mallopt(M_TRIM_THRESHOLD, 1 << 30) == 1 && mallopt(M_MMAP_THRESHOLD, 1 << 25) == 1,
         "mallopt");
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 65536);
    bench_read();
    printf("stores_append %.2f us\n", append_us(false, true, APPENDS));
    printf("stores_append_without_lock_held %.2f us\n", append_us(false, false, APPENDS / 4));
    printf("stores_append_synced %.1f us\n", append_us(true, true, SYNCED));
    phi_arena_free(&arena);
    (void)rmdir(dir);
    return 0;
}
