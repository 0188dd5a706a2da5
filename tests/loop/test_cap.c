/* test_cap.c - results that are larger than their agent allows: what stays, the file with the whole,
   and what may happen while it is written. */
#include "agent/snapshot.h"
#include "base/base_in.h"
#include "loop/wait_tool.h"
#include "record/replay.h"
#include "support/rig.h"
#include "agent/agent_history.h"
#include "loop/hook.h"

#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

static char directory[300], big[400001];

typedef struct scene {
    rig *r;
    bench_tool b;
    phi_tool tool;
    phi_agent_desc desc;
    phi_agent agent;
    char warning[500];
    size_t warnings;
} scene;

static void watch(void *user_data, const phi_event *event) {
    scene *s = (scene *)user_data;
    if (event->kind != PHI_EV_WARNING) return;
    s->warnings++;
    (void)snprintf(s->warning, sizeof s->warning, "%.*s", (int)event->text.len, event->text.at);
}

static void begin_with(scene *s, const phi_runtime_desc *runtime, uint32_t most, bool keeps) {
    memset(s, 0, sizeof *s);
    s->r = runtime != NULL ? rig_new_with(runtime) : rig_new();
    s->tool = wait_tool(&s->b);
    s->desc = rig_desc();
    s->desc.tools = &s->tool;
    s->desc.tool_count = 1;
    s->desc.tool_options.max_result_bytes = most;
    if (keeps) s->desc.tool_options.result_directory = directory;
    if (s->r != NULL) rig_watch(s->r, watch, s);
}

static bool ask(scene *s) {
    s->agent = rig_agent(s->r, &s->desc);
    rig_call(s->r, "c1", "wait", "{}");
    rig_says(s->r, "done");
    rig_says(s->r, "more");
    return s->agent.rt != NULL && phi_prompt(s->agent, "go") == PHI_OK && rig_run(s->r, 10) == 1;
}

static phi_content text_of(const char *text) {
    phi_content block;
    memset(&block, 0, sizeof block);
    block.kind = PHI_CONTENT_TEXT;
    block.text = phi_str_of(text);
    return block;
}

static phi_status give(scene *s, const phi_content *content, size_t count) {
    phi_tool_result result;
    memset(&result, 0, sizeof result);
    result.content = content;
    result.content_count = count;
    return phi_call_result(s->b.calls[0], &result);
}

static phi_status give_text(scene *s, const char *text) {
    phi_content block = text_of(text);
    return give(s, &block, 1);
}

static const phi_message *result_of(const scene *s) {
    return phi_thread_message_at(phi_agent_thread(s->agent), 2);
}

static bool is_utf8(phi_str text) { return phi__utf8_valid(text) == text.len; }

/* The log's result of one text, with so many bytes allowed. */
static void cut(const char *text, uint32_t most, const char *want) {
    scene s;
    begin_with(&s, NULL, most, false);
    REQUIRE(ask(&s));
    CHECK_EQ_INT(give_text(&s, text), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 20), 0);
    CHECK_STR(result_of(&s)->content[0].text, want);
    CHECK(is_utf8(result_of(&s)->content[0].text));
    CHECK_EQ_INT(s.warnings, 0);
    rig_free(s.r);
}

TEST(head_and_tail_of_a_long_text_stay_and_a_line_says_how_much_is_missing) {
    cut("0123456789", 10, "0123456789");
    cut("0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdef", 40,
        "012345\n[... 41 bytes left out ...]\nbcdef");
}

TEST(a_cut_is_between_two_characters) {
    int most;
    for (most = 1; most < 60; most++) {
        scene s;
        begin_with(&s, NULL, (uint32_t)most, false);
        REQUIRE(ask(&s));
        CHECK_EQ_INT(give_text(&s, "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\xc3\xa4\xe2\x82\xac\xf0"
                                   "\x9f\x98\x80\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\xc3\xa4\xe2"
                                   "\x82\xac\xf0\x9f\x98\x80\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"
                                   "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\xc3\xa4\xe2\x82\xac"),
                     PHI_OK);
        CHECK_EQ_INT(rig_run(s.r, 20), 0);
        CHECK(result_of(&s)->content[0].text.len <= (size_t)(most > 30 ? most : 30));
        CHECK(is_utf8(result_of(&s)->content[0].text));
        rig_free(s.r);
    }
}

TEST(of_the_caps_of_a_tool_and_its_agent_the_smaller_counts) {
    static const uint32_t agent[] = {0, 100, 40, PHI_UNLIMITED, 40, 40};
    static const uint32_t tool[] = {40, 40, 100, 40, 0, PHI_UNLIMITED};
    size_t i;
    for (i = 0; i < sizeof agent / sizeof agent[0]; i++) {
        scene s;
        begin_with(&s, NULL, agent[i], false);
        s.tool.max_result_bytes = tool[i];
        REQUIRE(ask(&s));
        CHECK_EQ_INT(give_text(&s, "0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdef"), PHI_OK);
        CHECK_EQ_INT(rig_run(s.r, 20), 0);
        CHECK_STR(result_of(&s)->content[0].text, "012345\n[... 41 bytes left out ...]\nbcdef");
        rig_free(s.r);
    }
}

/* ---- of several blocks ---- */

TEST(the_texts_of_a_result_are_cut_as_one_and_images_between_them_stay) {
    scene s;
    phi_content blocks[5];
    const phi_message *m;
    begin_with(&s, NULL, 60, false);
    REQUIRE(ask(&s));
    blocks[0] = text_of("the head of the first block, and more");
    memset(&blocks[1], 0, sizeof blocks[1]);
    blocks[1].kind = PHI_CONTENT_IMAGE;
    blocks[1].data = phi_str_of("aGFsZg==");
    blocks[1].mime_type = phi_str_of("image/png");
    blocks[2] = text_of("all of the second one is lost");
    blocks[3] = text_of("");
    blocks[4] = text_of("of the last block the tail stays");
    CHECK_EQ_INT(give(&s, blocks, 5), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 20), 0);
    m = result_of(&s);
    CHECK_EQ_INT(m->content_count, 3);
    CHECK_STR(m->content[0].text, "the head of the \n[... 67 bytes left out ...]\n");
    CHECK_EQ_INT(m->content[1].kind, PHI_CONTENT_IMAGE);
    CHECK_STR(m->content[2].text, " the tail stays");
    rig_free(s.r);
}

TEST(an_image_that_is_too_large_becomes_a_text_that_says_so) {
    scene s;
    phi_content blocks[2];
    begin_with(&s, NULL, 0, true);
    s.desc.tool_options.max_result_image_bytes = 9;
    REQUIRE(ask(&s));
    memset(blocks, 0, sizeof blocks);
    blocks[0].kind = blocks[1].kind = PHI_CONTENT_IMAGE;
    blocks[0].mime_type = blocks[1].mime_type = phi_str_of("image/png");
    blocks[0].data = phi_str_of("aGFsZmhhbGY=");
    blocks[1].data = phi_str_of("aGFsZmhhbGZoYWxm");
    CHECK_EQ_INT(give(&s, blocks, 2), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 20), 0);
    CHECK_EQ_INT(result_of(&s)->content[0].kind, PHI_CONTENT_IMAGE);
    CHECK_STR(result_of(&s)->content[1].text,
              "[An image of 12 bytes was left out: at most 9 bytes are shown]");
    rig_free(s.r);
}

TEST(documents_and_audio_have_the_cap_of_images) {
    scene s;
    phi_content blocks[5];
    const phi_message *m;
    begin_with(&s, NULL, 0, true);
    s.desc.tool_options.max_result_image_bytes = 9;
    REQUIRE(ask(&s));
    rig_careless(s.r); /* its model takes no audio */
    memset(blocks, 0, sizeof blocks);
    blocks[0].kind = blocks[1].kind = blocks[2].kind = PHI_CONTENT_DOCUMENT;
    blocks[3].kind = blocks[4].kind = PHI_CONTENT_AUDIO;
    blocks[0].mime_type = blocks[1].mime_type = phi_str_of("application/pdf");
    blocks[3].mime_type = blocks[4].mime_type = phi_str_of("audio/wav");
    blocks[0].data = blocks[3].data = phi_str_of("aGFsZmhhbGY=");
    blocks[1].data = blocks[4].data = phi_str_of("aGFsZmhhbGZoYWxm");
    blocks[2].text = phi_str_of("ten bytes.");
    CHECK_EQ_INT(give(&s, blocks, 5), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 20), 0);
    m = result_of(&s);
    CHECK_EQ_INT(m->content_count, 5);
    CHECK_EQ_INT(m->content[0].kind, PHI_CONTENT_DOCUMENT);
    CHECK_STR(m->content[1].text,
              "[A document of 12 bytes was left out: at most 9 bytes are shown]");
    CHECK_STR(m->content[2].text,
              "[A document of 10 bytes was left out: at most 9 bytes are shown]");
    CHECK_EQ_INT(m->content[3].kind, PHI_CONTENT_AUDIO);
    CHECK_STR(m->content[4].text, "[A sound of 12 bytes was left out: at most 9 bytes are shown]");
    rig_free(s.r);
}

TEST(by_default_two_mebibytes_of_text_are_whole_and_unlimited_is_unlimited) {
    static char text[2097154];
    scene s;
    int i;
    memset(text, 'x', sizeof text - 1);
    for (i = 0; i < 3; i++) {
        begin_with(&s, NULL, i == 2 ? PHI_UNLIMITED : 0, false);
        if (i == 2) s.desc.tool_options.max_result_image_bytes = PHI_UNLIMITED;
        REQUIRE(ask(&s));
        text[2097152] = i == 0 ? '\0' : 'x';
        CHECK_EQ_INT(give_text(&s, text), PHI_OK);
        CHECK_EQ_INT(rig_run(s.r, 20), 0);
        CHECK_EQ_INT(strstr(result_of(&s)->content[0].text.at, "left out") != NULL, i == 1);
        CHECK(result_of(&s)->content[0].text.len > 2097000);
        if (i == 1) CHECK(result_of(&s)->content[0].text.len <= 2097152);
        rig_free(s.r);
    }
}

/* ---- the file ---- */

static size_t files_in(const char *path) {
    DIR *dir = opendir(path);
    struct dirent *entry;
    size_t n = 0;
    if (dir == NULL) return 0;
    while ((entry = readdir(dir)) != NULL) n += entry->d_name[0] != '.';
    (void)closedir(dir);
    return n;
}

static bool fresh(void) {
    size_t n;
    if (!test_temp_dir(directory, sizeof directory - 10)) return false;
    n = strlen(directory);
    memcpy(directory + n, "/results", 9); /* it is not there yet */
    for (n = 0; n < sizeof big - 1; n++) big[n] = (char)('a' + n % 26);
    return true;
}

/* The path that the result names; its content is checked. */
static void check_file(const phi_message *m, const char *want) {
    const char *from = strstr(m->content[m->content_count - 1].text.at, "whole result is in "),
               *end;
    char path[400], *content;
    struct stat info;
    size_t n;
    REQUIRE(from != NULL);
    from += strlen("whole result is in ");
    end = strstr(from, ": read_file");
    REQUIRE(end != NULL);
    (void)snprintf(path, sizeof path, "%.*s", (int)(end - from), from);
    CHECK(strncmp(path, directory, strlen(directory)) == 0);
    CHECK(strlen(path) >= strlen(directory) + strlen("/phi-.txt") + 32);
    REQUIRE(stat(path, &info) == 0);
    CHECK_EQ_INT(info.st_mode & 0777, TEST_OWNER_MODE);
    content = test_read_file(path, &n);
    if (content != NULL) CHECK(n == strlen(want) && memcmp(content, want, n) == 0);
    free(content);
}

TEST(the_whole_is_in_a_file_that_the_line_names) {
    scene s;
    phi_content blocks[3];
    REQUIRE(fresh());
    begin_with(&s, NULL, 1000, true);
    REQUIRE(ask(&s));
    CHECK_EQ_INT(give_text(&s, big), PHI_OK);
    CHECK(!phi_call_get_info(s.b.calls[0]).pending);
    CHECK_EQ_INT(give_text(&s, "again"), PHI_STALE);
    CHECK_EQ_INT(rig_run(s.r, 100), 0);
    CHECK_EQ_INT(s.b.cancelled, 0);
    CHECK_EQ_INT(files_in(directory), 1);
    CHECK(result_of(&s)->content[0].text.len <= 1000);
    check_file(result_of(&s), big);
    rig_free(s.r);
    begin_with(&s, NULL, 200, true);
    REQUIRE(ask(&s));
    blocks[0] = text_of("one");
    blocks[1] = text_of("");
    big[1000] = '\0';
    blocks[2] = text_of(big);
    CHECK_EQ_INT(give(&s, blocks, 3), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 100), 0);
    CHECK_EQ_INT(files_in(directory), 2);
    memmove(big + 5, big, 1001);
    memcpy(big, "one\n\n", 5);
    check_file(result_of(&s), big);
    rig_free(s.r);
}

TEST(a_tool_with_a_cap_of_its_own_has_the_whole_in_a_file_too) {
    scene s;
    REQUIRE(fresh());
    begin_with(&s, NULL, PHI_UNLIMITED, true);
    s.tool.max_result_bytes = 1000;
    REQUIRE(ask(&s));
    CHECK_EQ_INT(give_text(&s, big), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 100), 0);
    CHECK_EQ_INT(files_in(directory), 1);
    CHECK(result_of(&s)->content[0].text.len <= 1000);
    check_file(result_of(&s), big);
    rig_free(s.r);
}

TEST(a_text_from_another_function_is_cut_as_well) {
    scene s;
    REQUIRE(fresh());
    begin_with(&s, NULL, 100, true);
    REQUIRE(ask(&s));
    CHECK_EQ_INT(phi_call_failf(s.b.calls[0], "%.*s", (int)5000, big), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 100), 0);
    big[5000] = '\0';
    CHECK(result_of(&s)->is_error);
    check_file(result_of(&s), big);
    rig_free(s.r);
}

/* Steps that do as little as they can. */
static void slowly(scene *s, phi_runtime_desc *desc) {
    memset(desc, 0, sizeof *desc);
    desc->step_budget_bytes = 1;
    begin_with(s, desc, 1000, true);
}

TEST(the_file_is_written_slice_by_slice_while_the_run_waits) {
    scene s;
    phi_runtime_desc desc;
    int steps = 0;
    REQUIRE(fresh());
    slowly(&s, &desc);
    REQUIRE(ask(&s));
    CHECK_EQ_INT(give_text(&s, big), PHI_OK);
    while (phi_thread_message_count(phi_agent_thread(s.agent)) == 2 && steps < 1000) {
        (void)rig_run(s.r, 1);
        steps++;
    }
    printf("  %d steps\n", steps);
    CHECK(steps < 1000);
    CHECK_EQ_INT(rig_run(s.r, 100), 0);
    check_file(result_of(&s), big);
    rig_free(s.r);
}

TEST(an_abort_meanwhile_leaves_the_cut_result_and_no_file) {
    scene s;
    phi_runtime_desc desc;
    REQUIRE(fresh());
    slowly(&s, &desc);
    REQUIRE(ask(&s));
    CHECK_EQ_INT(give_text(&s, big), PHI_OK);
    CHECK_EQ_INT(phi_abort(s.agent), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 100), 0);
    CHECK_EQ_INT(files_in(directory), 0);
    CHECK_EQ_INT(s.b.cancelled, 0);
    CHECK_EQ_INT(s.warnings, 0);
    CHECK(strstr(result_of(&s)->content[0].text.at, "bytes left out ...]") != NULL);
    rig_free(s.r);
}

TEST(an_agent_that_is_freed_meanwhile_leaves_no_file) {
    scene s;
    phi_runtime_desc desc;
    REQUIRE(fresh());
    slowly(&s, &desc);
    REQUIRE(ask(&s));
    CHECK_EQ_INT(give_text(&s, big), PHI_OK);
    CHECK_EQ_INT(files_in(directory), 1);
    phi_agent_free(s.agent);
    (void)rig_run(s.r, 3);
    CHECK_EQ_INT(files_in(directory), 0);
    rig_free(s.r);
}

TEST(a_snapshot_made_meanwhile_holds_the_result_and_the_file_is_complete) {
    scene s;
    phi_runtime_desc desc;
    phi_memory memory;
    phi_arena arena;
    phi_str saved;
    phi_agent loaded;
    REQUIRE(fresh());
    slowly(&s, &desc);
    REQUIRE(ask(&s));
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(give_text(&s, big), PHI_OK);
    CHECK_EQ_INT(phi_agent_snapshot(s.agent, &arena, &saved), PHI_OK);
    phi_agent_free(s.agent);
    loaded = phi_agent_restore(rig_runtime(s.r), &s.desc, saved, PHI_RESTORE_RESUME);
    CHECK(loaded.rt != NULL);
    CHECK_EQ_INT(rig_run(s.r, 100), 0);
    s.agent = loaded;
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(loaded)), 4);
    check_file(result_of(&s), big);
    phi_arena_free(&arena);
    rig_free(s.r);
}

/* ---- where it cannot be written ---- */

#ifdef _WIN32
#define NOWHERE "Y:/nothing/there" /* a drive that is not there */
#else
#define NOWHERE "/proc/self/nothing/there"
#endif

TEST(without_a_directory_that_can_be_made_the_result_is_cut_and_the_host_warned) {
    scene s;
    char want[500];
    REQUIRE(fresh());
    begin_with(&s, NULL, 100, true);
    s.desc.tool_options.result_directory = NOWHERE;
    REQUIRE(ask(&s));
    CHECK_EQ_INT(give_text(&s, big), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 100), 0);
    CHECK_EQ_INT(s.warnings, 1);
    (void)snprintf(want, sizeof want, "The whole result of wait could not be kept in %s: %s",
                   NOWHERE, "No such file or directory");
    CHECK_EQ_STR(s.warning, want);
    CHECK(strstr(result_of(&s)->content[0].text.at, "bytes left out ...]") != NULL);
    rig_free(s.r);
}

TEST(a_full_disk_cuts_the_result_warns_the_host_and_leaves_no_file) {
    scene s;
    struct rlimit old, small;
    REQUIRE(fresh());
    begin_with(&s, NULL, 100, true);
    REQUIRE(ask(&s));
    REQUIRE(getrlimit(RLIMIT_FSIZE, &old) == 0);
    small = old;
    small.rlim_cur = 100000;
    REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
    CHECK_EQ_INT(give_text(&s, big), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 100), 0);
    REQUIRE(setrlimit(RLIMIT_FSIZE, &old) == 0);
    CHECK_EQ_INT(s.warnings, 1);
    CHECK(strstr(s.warning, "File too large") != NULL);
    CHECK_EQ_INT(files_in(directory), 0);
    CHECK(strstr(result_of(&s)->content[0].text.at, "bytes left out ...]") != NULL);
    rig_free(s.r);
}

TEST(a_cut_result_survives_every_failed_allocation) {
    int n;
    bool tripped = true;
    for (n = 0; tripped && n < 3000; n++) {
        scene s;
        REQUIRE(n % 100 != 0 || fresh());
        big[3000] = '\0';
        begin_with(&s, NULL, 1000, true);
        if (!CHECK(ask(&s))) break;
        test_alloc_fail_at(n);
        (void)give_text(&s, big);
        (void)rig_run(s.r, 100);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK_EQ_INT(rig_run(s.r, 100), 0);
        if (phi_thread_message_count(phi_agent_thread(s.agent)) >= 3)
            CHECK(result_of(&s)->content[0].text.len <= 1000);
        if (!tripped) check_file(result_of(&s), big);
        rig_free(s.r);
        if (!CHECK_EQ_INT(test_alloc_live_bytes(), 0)) return;
    }
    CHECK(n > 20 && !tripped);
    printf("  %d allocations failed, one after another\n", n - 1);
}

/* ---- what others see ---- */

TEST(events_and_the_hook_after_the_tool_see_the_cut_result) {
    scene s;
    const char *story;
    begin_with(&s, NULL, 40, false);
    rig_hooks(s.r, &s.desc, PHI_HOOK_AFTER_TOOL);
    REQUIRE(ask(&s));
    CHECK_EQ_INT(give_text(&s, "0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdef"), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 20), 0);
    story = rig_story(s.r);
    CHECK(strstr(story, "bytes left out") != NULL);
    CHECK(strstr(story, "abcdefghij") == NULL);
    rig_free(s.r);
}

typedef struct tape_text {
    char at[400000];
    size_t len;
} tape_text;

static phi_status write_tape(void *user_data, const char *bytes, size_t len) {
    tape_text *t = (tape_text *)user_data;
    if (t->len + len >= sizeof t->at) return PHI_FULL;
    memcpy(t->at + t->len, bytes, len);
    t->len += len;
    t->at[t->len] = '\0';
    return PHI_OK;
}

/* One run on a tape; the log's hash. */
static uint64_t on_tape(tape_text *text, bool plays, bool deterministic) {
    phi_runtime_desc desc;
    phi_tape_desc how;
    phi_tape_divergence differs;
    uint64_t hash;
    scene s;
    memset(&desc, 0, sizeof desc);
    memset(&how, 0, sizeof how);
    how.allocator = test_allocator();
    how.write_fn = write_tape;
    how.user_data = text;
    desc.tape =
        plays ? phi_tape_play(&how, phi__str(text->at, text->len), NULL) : phi_tape_record(&how);
    begin_with(&s, &desc, 1000, true);
    s.tool.deterministic = deterministic;
    CHECK(ask(&s) || plays);
    if (!plays || deterministic) CHECK_EQ_INT(give_text(&s, big), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 200), 0);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(s.agent)), 4);
    if (!plays) check_file(result_of(&s), big);
    hash = phi_thread_hash(phi_agent_thread(s.agent));
    rig_free(s.r);
    CHECK_EQ_INT(phi_tape_end(desc.tape, &differs), PHI_OK);
    phi_tape_free(desc.tape);
    return hash;
}

TEST(a_tape_plays_the_same_result_and_writes_no_file) {
    static tape_text text;
    int deterministic;
    for (deterministic = 0; deterministic < 2; deterministic++) {
        uint64_t hash;
        REQUIRE(fresh());
        text.len = 0;
        hash = on_tape(&text, false, deterministic != 0);
        CHECK_EQ_INT(files_in(directory), 1);
        CHECK(text.len < 20000); /* the whole is not on the tape */
        CHECK(on_tape(&text, true, deterministic != 0) == hash);
        CHECK_EQ_INT(files_in(directory), 1);
    }
}

TEST_MAIN(TEST_ENTRY(head_and_tail_of_a_long_text_stay_and_a_line_says_how_much_is_missing),
          TEST_ENTRY(a_cut_is_between_two_characters),
          TEST_ENTRY(of_the_caps_of_a_tool_and_its_agent_the_smaller_counts),
          TEST_ENTRY(a_tool_with_a_cap_of_its_own_has_the_whole_in_a_file_too),
          TEST_ENTRY(the_texts_of_a_result_are_cut_as_one_and_images_between_them_stay),
          TEST_ENTRY(an_image_that_is_too_large_becomes_a_text_that_says_so),
          TEST_ENTRY(by_default_two_mebibytes_of_text_are_whole_and_unlimited_is_unlimited),
          TEST_ENTRY(the_whole_is_in_a_file_that_the_line_names),
          TEST_ENTRY(a_text_from_another_function_is_cut_as_well),
          TEST_ENTRY(the_file_is_written_slice_by_slice_while_the_run_waits),
          TEST_ENTRY(an_abort_meanwhile_leaves_the_cut_result_and_no_file),
          TEST_ENTRY(an_agent_that_is_freed_meanwhile_leaves_no_file),
          TEST_ENTRY(a_snapshot_made_meanwhile_holds_the_result_and_the_file_is_complete),
          TEST_ENTRY(without_a_directory_that_can_be_made_the_result_is_cut_and_the_host_warned),
          TEST_ENTRY(a_full_disk_cuts_the_result_warns_the_host_and_leaves_no_file),
          TEST_ENTRY(a_cut_result_survives_every_failed_allocation),
          TEST_ENTRY(events_and_the_hook_after_the_tool_see_the_cut_result),
          TEST_ENTRY(a_tape_plays_the_same_result_and_writes_no_file),
          TEST_ENTRY(documents_and_audio_have_the_cap_of_images))
