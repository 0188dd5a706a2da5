/* test_replay_http.c - conversations over real HTTP are recorded, and played without any network: the same log.
   With PHI_TAPES set to a folder, the tapes are kept there. */
#include "agent/agent.h"
#include "record/replay.h"
#include "support/mock_server.h"
#include "support/test.h"
#include "text/json.h"

#include "loop/events.h"
#include "codecs/presets.h"
#include "agent/agent_history.h"
#include "record/seven_scene.h"

typedef struct tape_text {
    char *at;
    size_t len;
} tape_text;

static phi_status keep(void *user_data, const char *bytes, size_t len) {
    tape_text *t = (tape_text *)user_data;
    t->at = (char *)realloc(t->at, t->len + len + 1);
    if (t->at == NULL) abort();
    memcpy(t->at + t->len, bytes, len);
    t->len += len;
    t->at[t->len] = '\0';
    return PHI_OK;
}

static void put(const char *name, const char *end, const char *bytes, size_t len) {
    const char *folder = getenv("PHI_TAPES");
    char path[400];
    FILE *file;
    if (folder == NULL) return;
    (void)snprintf(path, sizeof path, "%s/%s.tape%s", folder, name, end);
    file = fopen(path, "wb");
    if (!CHECK(file != NULL)) return;
    CHECK_EQ_INT(fwrite(bytes, 1, len, file), len);
    (void)fclose(file);
}

/* The tape, and the hash of its log as a line. */
static void store(const tape_text *t, const char *name, uint64_t hash) {
    char line[20];
    (void)snprintf(line, sizeof line, "%016llx\n", (unsigned long long)hash);
    put(name, "", t->at, t->len);
    put(name, ".hash", line, strlen(line));
}

static uint64_t record(size_t i, tape_text *out) {
    phi_runtime_desc desc = PHI_ZERO;
    phi_tape_desc how = PHI_ZERO;
    uint64_t hash;
    memset(out, 0, sizeof *out);
    how.write_fn = keep;
    how.user_data = out;
    how.allocator = test_allocator();
    desc.tape = phi_tape_record(&how);
    desc.step_budget_us = 100000;
    hash = scene_run(&desc, i, mock_url(""));
    CHECK_EQ_INT(phi_tape_end(desc.tape, NULL), PHI_OK);
    phi_tape_free(desc.tape);
    return hash;
}

static uint64_t play(size_t i, const tape_text *from, uint32_t budget) {
    phi_runtime_desc desc = PHI_ZERO;
    phi_tape_desc how = PHI_ZERO;
    phi_tape_divergence d;
    uint64_t hash;
    how.allocator = test_allocator();
    desc.tape = phi_tape_play(&how, phi_str_of(from->at), NULL);
    if (!CHECK(desc.tape != NULL)) return 0;
    desc.step_budget_bytes = budget;
    hash = scene_run(&desc, i, mock_url(""));
    if (!CHECK_EQ_INT(phi_tape_end(desc.tape, &d), PHI_OK))
        printf("  %s: %.*s\n  %.*s\n  %.*s\n", scene_seven[i].protocol, (int)d.what.len, d.what.at,
               (int)d.recorded.len, d.recorded.at, (int)d.actual.len, d.actual.at);
    phi_tape_free(desc.tape);
    return hash;
}

TEST(what_was_recorded_over_http_is_played_without_it_in_every_protocol) {
    tape_text tape;
    size_t i;
    for (i = 0; i < SCENE_SEVEN; i++) {
        uint64_t hash;
        int called;
        scene_doubled = 0;
        hash = record(i, &tape);
        called = scene_doubled;
        CHECK(hash != 0);
        CHECK_EQ_INT(called, 2);
        CHECK(strstr(tape.at, "key-of-the-scene") == NULL);
        CHECK(strstr(tape.at, "\"k\":\"stage\"") != NULL);
        CHECK(play(i, &tape, 0) == hash);
        CHECK(play(i, &tape, 1024) == hash);
        CHECK_EQ_INT(scene_doubled, called);
        store(&tape, scene_seven[i].protocol, hash);
        free(tape.at);
    }
    CHECK_EQ_INT(test_alloc_live_bytes(), 0);
}

static const char *const options[] = {"--scenario", "tests/e2e/scenarios.json", NULL};

MOCK_MAIN(options, TEST_ENTRY(what_was_recorded_over_http_is_played_without_it_in_every_protocol))
