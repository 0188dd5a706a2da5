/* test_compat_stores.c - threads in a directory: what each scene writes, read back by an agent that goes
   on with it; a torn tail; a process that ended in the midst; documents beside threads:
   tests/fixtures/compat/stores. PHI_COMPAT_WRITE=1 writes missing ones (compat.h).

   NAME.jsonl: the thread's file at the scene's end; NAME_left.jsonl: as a process leaves it that ends in
   the midst. NAME_more.jsonl, NAME_left_more.jsonl: the lines that an agent added which found it. */
#include "agent/one_shot_run.h"
#include "compat/scenes_crew.h"
#include "persist/file_store.h"
#include "record/session.h"
#include "agent/agent_history.h"
#include "support/thread_text.h"

#include <unistd.h>

typedef struct shelf {
    char directory[400];
    phi_store store;
} shelf;

static bool shelf_open(shelf *f) {
    phi_file_store_desc desc = PHI_ZERO;
    desc.directory = f->directory;
    desc.allocator = test_allocator();
    return CHECK(phi_file_store_open(&desc, &f->store) == PHI_OK);
}

static bool shelf_begin(shelf *f) {
    memset(f, 0, sizeof *f);
    return test_temp_dir(f->directory, sizeof f->directory) && shelf_open(f);
}

static void shelf_path(const shelf *f, const char *file, char out[700]) {
    (void)snprintf(out, 700, "%s/%s", f->directory, file);
}

static char *shelf_read(const shelf *f, const char *file, size_t *len) {
    char path[700];
    shelf_path(f, file, path);
    return test_read_file(path, len);
}

static void shelf_put(const shelf *f, const char *file, const char *at, size_t len) {
    char path[700];
    FILE *out;
    shelf_path(f, file, path);
    out = fopen(path, "wb");
    if (!CHECK(out != NULL)) return;
    CHECK(fwrite(at, 1, len, out) == len);
    CHECK(fclose(out) == 0);
}

/* The file as it is now, under a name of tests/fixtures/compat; from: so many bytes are left out. */
static void shelf_file(const shelf *f, const char *file, const char *name, size_t from) {
    size_t len;
    char *text = shelf_read(f, file, &len);
    if (text == NULL) return;
    if (CHECK(from <= len)) (void)compat_file(name, text + from, len - from);
    free(text);
}

static void scene_in_store(scene *s, const scene_kind *kind, const shelf *f) {
    scene_begin(s, kind, NULL);
    s->desc.store = &f->store;
    s->desc.thread_id = "thread";
}

static phi_str thread_text(scene *s) {
    phi_str text = PHI_ZERO;
    CHECK_EQ_INT(phi_thread_to_json(phi_agent_thread(s->agent), &s->arena, &text), PHI_OK);
    return text;
}

/* The thread read out of its own text says the same. */
static void text_again(scene *s, phi_str text) {
    phi_thread *thread = phi_thread_new(rig_runtime(s->r), 0);
    phi_str again = PHI_ZERO;
    char words[300] = "";
    CHECK_EQ_INT(thread_from_json(thread, text, words, sizeof words), PHI_OK);
    CHECK_EQ_INT(phi_thread_to_json(thread, &s->arena, &again), PHI_OK);
    (void)compat_same("a thread's text", again.at, again.len, text.at, text.len);
    phi_thread_free(thread);
}

/* The scene in a store: its file, and the text of its thread. */
static char *live(const scene_kind *kind, size_t *len) {
    char name[160], *text = NULL;
    shelf f;
    scene s;
    if (!shelf_begin(&f)) return NULL;
    scene_in_store(&s, kind, &f);
    if (scene_open(&s)) {
        phi_str said_now;
        kind->act(&s);
        kind->rest(&s);
        said_now = thread_text(&s);
        text_again(&s, said_now);
        text = (char *)malloc(said_now.len + 1);
        if (text == NULL) abort();
        memcpy(text, said_now.at, said_now.len);
        *len = said_now.len;
    }
    scene_close(&s);
    (void)snprintf(name, sizeof name, "stores/%s.jsonl", kind->name);
    shelf_file(&f, "thread.jsonl", name, 0);
    phi_file_store_close(&f.store);
    return text;
}

/* An agent that finds the stored file: the thread is the live one's, and it goes on. */
static void found(const scene_kind *kind, const char *live_text, size_t live_len) {
    char name[160], more[160];
    size_t len;
    char *stored;
    shelf f;
    scene s;
    (void)snprintf(name, sizeof name, "stores/%s.jsonl", kind->name);
    (void)snprintf(more, sizeof more, "stores/%s_more.jsonl", kind->name);
    stored = compat_stored(name, &len);
    if (stored == NULL || !shelf_begin(&f)) {
        free(stored);
        return;
    }
    shelf_put(&f, "thread.jsonl", stored, len);
    free(stored);
    scene_in_store(&s, kind, &f);
    s.loaded = true;
    if (scene_open(&s)) {
        phi_str text = thread_text(&s);
        if (live_text != NULL) (void)compat_same(name, text.at, text.len, live_text, live_len);
        scene_talk(&s, "Where were we?", "Here.");
    }
    scene_close(&s);
    shelf_file(&f, "thread.jsonl", more, len);
    phi_file_store_close(&f.store);
}

static void each(const scene_kind *kinds, size_t count) {
    size_t i, len = 0;
    for (i = 0; i < count; i++) {
        int failures = test_failures();
        char *text;
        if ((kinds[i].flags & (SCENE_FORGETS | SCENE_UNSTORED | SCENE_COMMON)) != 0) continue;
        text = live(&kinds[i], &len);
        found(&kinds[i], text, len);
        free(text);
        scene_failed(&kinds[i], failures);
    }
}

TEST(threads_of_runs_are_stored_as_before) { each(scenes_of_loops, PHI__COUNT(scenes_of_loops)); }
TEST(threads_of_hosts_are_stored_as_before) { each(scenes_of_hosts, PHI__COUNT(scenes_of_hosts)); }

TEST(threads_of_histories_are_stored_as_before) {
    each(scenes_of_histories, PHI__COUNT(scenes_of_histories));
}
TEST(threads_of_threads_are_stored_as_before) {
    each(scenes_of_threads, PHI__COUNT(scenes_of_threads));
}
TEST(threads_of_crews_are_stored_as_before) { each(scenes_of_crews, PHI__COUNT(scenes_of_crews)); }

/* ---- a process that ended, and a torn tail ---- */

static const scene_kind *kind_in(const scene_kind *kinds, size_t count, const char *name) {
    size_t i;
    for (i = 0; i < count; i++)
        if (strcmp(kinds[i].name, name) == 0) return &kinds[i];
    return NULL;
}

static const scene_kind *kind_of(const char *name) {
    const scene_kind *kind = kind_in(scenes_of_loops, PHI__COUNT(scenes_of_loops), name);
    if (kind == NULL) kind = kind_in(scenes_of_histories, PHI__COUNT(scenes_of_histories), name);
    if (kind == NULL) kind = kind_in(scenes_of_threads, PHI__COUNT(scenes_of_threads), name);
    if (kind == NULL) kind = kind_in(scenes_of_crews, PHI__COUNT(scenes_of_crews), name);
    if (kind == NULL) abort();
    return kind;
}

/* The scene until it is in its midst; its file as a process that ends there leaves it. */
static void left(const scene_kind *kind, const char *name) {
    shelf f;
    scene s;
    if (!shelf_begin(&f)) return;
    scene_in_store(&s, kind, &f);
    if (scene_open(&s)) kind->act(&s);
    (void)rig_step(s.r); /* which stores what the host has added */
    shelf_file(&f, "thread.jsonl", name, 0);
    scene_close(&s);
    phi_file_store_close(&f.store);
}

/* An agent that finds such a file, without its last bytes: its file afterwards, from there on. */
static void recovered(const scene_kind *kind, const char *name, size_t torn, const char *more) {
    size_t len;
    char *stored = compat_stored(name, &len);
    shelf f;
    scene s;
    if (stored == NULL || !shelf_begin(&f)) {
        free(stored);
        return;
    }
    shelf_put(&f, "thread.jsonl", stored, len - torn);
    free(stored);
    scene_in_store(&s, kind, &f);
    if (scene_open(&s)) {
        rig_says(s.r, "Where was I?");
        if (phi_continue(s.agent, PHI_CONTINUATION_DEFAULT) != PHI_OK) scene_prompt(&s, "Hello?");
        scene_end(&s);
    }
    scene_close(&s);
    shelf_file(&f, "thread.jsonl", more, torn == 0 ? len : 0);
    phi_file_store_close(&f.store);
}

TEST(threads_of_processes_that_ended_in_the_midst_are_read_as_before) {
    static const char *const names[] = {"calls_and_input_pending",
                                        "rewritten_and_a_rewrite_that_waits", "subagents_at_work",
                                        "evaluation_with_a_judge", "lanes_and_a_branch"};
    char name[160], more[160];
    size_t i;
    for (i = 0; i < PHI__COUNT(names); i++) {
        int failures = test_failures();
        (void)snprintf(name, sizeof name, "stores/%s_left.jsonl", names[i]);
        (void)snprintf(more, sizeof more, "stores/%s_left_more.jsonl", names[i]);
        left(kind_of(names[i]), name);
        recovered(kind_of(names[i]), name, 0, more);
        scene_failed(kind_of(names[i]), failures);
    }
}

TEST(a_torn_tail_is_cut_off_as_before) {
    recovered(kind_of("calls_and_input_pending"), "stores/calls_and_input_pending_left.jsonl", 25,
              "stores/torn_tail.jsonl"); /* within the last line */
}

/* ---- a thread in no store, of one-shot runs ---- */

TEST(the_text_of_a_thread_of_one_shot_runs_is_written_and_read_as_before) {
    static const char name[] = "stores/one_shot_thread.jsonl";
    static const scene_kind kind = {"one_shot", scene_plain_make, NULL, NULL, 0};
    phi_content block;
    phi_message message = said(PHI_ROLE_USER, &block, "One shot.");
    phi_run_desc run = PHI_ZERO;
    phi_str text = PHI_ZERO;
    phi_thread *thread;
    char *stored;
    scene s;
    scene_begin(&s, &kind, NULL);
    thread = phi_thread_new(rig_runtime(s.r), 0);
    run.agent = &s.desc;
    run.thread = thread;
    run.prompts = &message;
    run.prompt_count = 1;
    run.metadata = "{\"n\":1}";
    run.loop_id = "my \"loop\"";
    run.parent_loop_id = "another";
    rig_says(s.r, "Shot.");
    s.agent = phi_run(rig_runtime(s.r), &run);
    CHECK(s.agent.rt != NULL);
    scene_end(&s);
    CHECK_EQ_INT(phi_thread_to_json(thread, &s.arena, &text), PHI_OK);
    (void)compat_file(name, text.at, text.len);
    phi_thread_free(thread);
    stored = compat_stored(name, &text.len);
    text.at = stored;
    if (stored != NULL) text_again(&s, text);
    free(stored);
    scene_close(&s);
}

/* ---- a directory of threads and documents ---- */

static void store_documents(scene *s, const shelf *f) {
    phi_allocator allocator = test_allocator();
    phi_session *session = NULL;
    phi_str snapshot = PHI_ZERO;
    CHECK_EQ_INT(phi_session_of_thread(phi_agent_thread(s->agent), &allocator, &session), PHI_OK);
    CHECK_EQ_INT(phi_session_save(&f->store, session, PHI_SESSION_OWN_EVENTS, NULL, 0), PHI_OK);
    phi_session_free(session);
    CHECK_EQ_INT(phi_agent_snapshot(s->agent, &s->arena, &snapshot), PHI_OK);
    CHECK_EQ_INT(f->store.save(f->store.user_data, "save-1", "agent", snapshot, NULL, 0), PHI_OK);
    CHECK_EQ_INT(
        f->store.save(f->store.user_data, "plain", "smith", phi_str_of("no \"JSON\"\n"), NULL, 0),
        PHI_OK);
}

/* Every file of the directory, by name; lock files are empty and left out. */
static void directory_files(const shelf *f) {
    const struct dirent *entry;
    DIR *dir = opendir(f->directory);
    char name[400];
    if (!CHECK(dir != NULL)) return;
    while ((entry = readdir(dir)) != NULL) {
        size_t n = strlen(entry->d_name);
        if (entry->d_name[0] == '.' || (n > 5 && strcmp(entry->d_name + n - 5, ".lock") == 0))
            continue;
        (void)snprintf(name, sizeof name, "stores/directory/%.200s", entry->d_name);
        shelf_file(f, entry->d_name, name, 0);
    }
    (void)closedir(dir);
}

/* The stored files, in the directory. */
static void fill_directory(const shelf *f) {
    char path[COMPAT_PATH], name[400];
    const struct dirent *entry;
    DIR *dir;
    compat_path(path, "stores/directory");
    dir = opendir(path);
    if (!CHECK(dir != NULL)) return;
    while ((entry = readdir(dir)) != NULL) {
        size_t len;
        char *text;
        if (entry->d_name[0] == '.') continue;
        (void)snprintf(name, sizeof name, "stores/directory/%.200s", entry->d_name);
        text = compat_stored(name, &len);
        if (text != NULL) shelf_put(f, entry->d_name, text, len);
        free(text);
    }
    (void)closedir(dir);
}

static void read_documents(const shelf *f) {
    static const char *const ids[] = {"save-1", "plain"};
    phi_allocator allocator = test_allocator();
    phi_memory memory;
    phi_arena arena;
    phi_session *session = NULL;
    const phi_store_item *items = NULL;
    size_t count = 0, i;
    char words[200] = "", path[80];
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    for (i = 0; i < PHI__COUNT(ids); i++) {
        phi_str text = PHI_ZERO;
        CHECK_EQ_INT(f->store.load(f->store.user_data, ids[i], &arena, &text, NULL, 0), PHI_OK);
        (void)snprintf(path, sizeof path, "stores/directory_%s.txt", ids[i]);
        (void)compat_file(path, text.at, text.len);
    }
    CHECK_EQ_INT(f->store.list(f->store.user_data, "agent", &arena, &items, &count, NULL, 0),
                 PHI_OK);
    CHECK_EQ_INT(count, 2);
    for (i = 0; i < count; i++) {
        if (phi__str_is(items[i].id, "save-1")) continue;
        (void)snprintf(path, sizeof path, "%.*s", (int)items[i].id.len, items[i].id.at);
        CHECK_EQ_INT(phi_session_load(&f->store, path, &allocator, &session, words, sizeof words),
                     PHI_OK);
        CHECK_EQ_INT(
            phi_session_save(&f->store, session, PHI_SESSION_OWN_EVENTS, words, sizeof words),
            PHI_OK); /* the same bytes: directory_files looks */
        phi_session_free(session);
    }
    CHECK_EQ_INT(f->store.list_threads(f->store.user_data, &arena, &items, &count, NULL, 0),
                 PHI_OK);
    CHECK_EQ_INT(count, 3);
    phi_arena_free(&arena);
}

TEST(a_directory_of_threads_and_documents_is_written_and_read_as_before) {
    const scene_kind *kind = kind_of("sessions_begun_anew");
    shelf f;
    scene s;
    if (!shelf_begin(&f)) return;
    scene_in_store(&s, kind, &f);
    if (scene_open(&s)) {
        kind->act(&s);
        kind->rest(&s);
        store_documents(&s, &f);
    }
    scene_close(&s);
    directory_files(&f);
    phi_file_store_close(&f.store);
    if (!shelf_begin(&f)) return;
    fill_directory(&f);
    read_documents(&f);
    directory_files(&f);
    phi_file_store_close(&f.store);
}

TEST(the_folder_has_no_other_stores) { compat_folder("stores"); }

TEST_MAIN(TEST_ENTRY(threads_of_runs_are_stored_as_before),
          TEST_ENTRY(threads_of_hosts_are_stored_as_before),
          TEST_ENTRY(threads_of_histories_are_stored_as_before),
          TEST_ENTRY(threads_of_threads_are_stored_as_before),
          TEST_ENTRY(threads_of_crews_are_stored_as_before),
          TEST_ENTRY(threads_of_processes_that_ended_in_the_midst_are_read_as_before),
          TEST_ENTRY(a_torn_tail_is_cut_off_as_before),
          TEST_ENTRY(the_text_of_a_thread_of_one_shot_runs_is_written_and_read_as_before),
          TEST_ENTRY(a_directory_of_threads_and_documents_is_written_and_read_as_before),
          TEST_ENTRY(the_folder_has_no_other_stores))
