/* test_stored.c - agents whose thread is in a store: kept as they go, and gone on with later. */
#include "agent/one_shot_run.h"
#include "agent/response.h"
#include "agent/snapshot.h"
#include "support/heard.h"
#include "support/rig.h"
#include "support/store_mem.h"
#include "record/event_json.h"
#include "support/request.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "loop/input.h"
#include "log/log_in.h"

static store_mem *store;

static phi_agent_desc stored_desc(const char *thread_id) {
    phi_agent_desc desc = rig_desc();
    desc.store = store_mem_store(store);
    desc.thread_id = thread_id;
    return desc;
}

static phi_agent open_thread(rig *r, const char *thread_id) {
    phi_agent_desc desc = stored_desc(thread_id);
    phi_agent agent = rig_agent(r, &desc);
    CHECK(agent.rt != NULL);
    return agent;
}

static const char *last_words(rig *r) {
    const char *words = NULL;
    words = phi_last_error(rig_runtime(r)).message;
    return words;
}

static void talk(rig *r, phi_agent agent, const char *text, const char *answer) {
    rig_says(r, answer);
    CHECK_EQ_INT(phi_prompt(agent, text), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 40), 0);
}

static size_t times(const char *text, const char *part) {
    size_t n = 0;
    for (text = strstr(text, part); text != NULL; text = strstr(text + 1, part)) n++;
    return n;
}

static phi_message user_of(phi_content *content, const char *text) {
    phi_message m;
    memset(&m, 0, sizeof m);
    memset(content, 0, sizeof *content);
    content->kind = PHI_CONTENT_TEXT;
    content->text = phi_str_of(text);
    m.role = PHI_ROLE_USER;
    m.content = content;
    m.content_count = 1;
    return m;
}

/* ---- as a run goes on ---- */

/* When the end of a turn or a run is popped, the store has all that the thread had by then. */
static void watch_ends(void *user_data, const phi_event *event) {
    size_t *ends = (size_t *)user_data;
    if (event->kind != PHI_EV_TURN_END && event->kind != PHI_EV_AGENT_END) return;
    ++*ends;
    CHECK(strstr(store_mem_text(store, "t"),
                 event->kind == PHI_EV_TURN_END ? "\"turn_end\"" : "\"loop_end\"") != NULL);
    CHECK_EQ_INT(store_mem_count(store, "t"),
                 phi_thread_get_info(phi_agent_thread(event->agent)).stored);
}

TEST(a_run_is_in_the_store_when_its_ends_are_told) {
    rig *r;
    phi_agent agent;
    phi_agent_desc desc;
    phi_tool echo = rig_echo();
    size_t ends = 0;
    store = store_mem_new();
    r = rig_new();
    desc = stored_desc("t");
    desc.tools = &echo;
    desc.tool_count = 1;
    agent = rig_agent(r, &desc);
    rig_watch(r, watch_ends, &ends);
    rig_call(r, "c1", "echo", "{}");
    talk(r, agent, "hello", "done");
    CHECK_EQ_INT(ends, 3);
    CHECK_EQ_INT(phi_thread_count(phi_agent_thread(agent)), store_mem_count(store, "t"));
    CHECK(strstr(rig_story(r), "ThreadUpdated \"t\" 4 messages\nAgentEnd ok") != NULL);
    rig_free(r);
    CHECK(!store_mem_locked(store, "t"));
    store_mem_free(store);
}

TEST(an_agent_goes_on_where_another_process_left) {
    rig *r;
    phi_agent agent;
    store = store_mem_new();
    r = rig_new();
    agent = open_thread(r, "t");
    talk(r, agent, "my name is Ada", "hello Ada");
    CHECK_STR(phi_agent_get_info(agent).loop_id, "session.anthropic.test-model.1");
    rig_free(r);
    r = rig_new();
    agent = open_thread(r, "t");
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 2);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 1)->content[0].text, "hello Ada");
    CHECK_STR(phi_agent_get_info(agent).loop_id, "session.anthropic.test-model.1");
    CHECK_STR(phi_agent_get_info(agent).thread_id, "t");
    talk(r, agent, "who am I?", "Ada");
    CHECK(strstr(rig_request(r, 0), "my name is Ada") != NULL);
    CHECK_STR(phi_agent_get_info(agent).loop_id, "session.anthropic.test-model.2");
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 4);
    CHECK_EQ_INT(phi_thread_get_info(phi_agent_thread(agent)).usage.output,
                 2 * phi_agent_get_info(agent).usage.output);
    rig_free(r);
    store_mem_free(store);
}

TEST(without_a_session_of_its_own_an_agent_has_that_of_the_log) {
    rig *r;
    phi_agent agent;
    phi_agent_desc desc;
    store = store_mem_new();
    r = rig_new();
    talk(r, open_thread(r, "t"), "hi", "ho");
    rig_free(r);
    r = rig_new();
    desc = stored_desc("t");
    desc.ids.session_id = NULL;
    agent = rig_agent(r, &desc);
    CHECK_STR(phi_agent_get_info(agent).session_id, "session");
    talk(r, agent, "hi", "ho");
    CHECK_STR(phi_agent_get_info(agent).loop_id, "session.anthropic.test-model.2");
    rig_free(r);
    r = rig_new();
    desc = stored_desc("t");
    desc.ids.session_id = "other";
    agent = rig_agent(r, &desc);
    CHECK_STR(phi_agent_get_info(agent).loop_id, "");
    talk(r, agent, "hi", "ho");
    CHECK_STR(phi_agent_get_info(agent).loop_id, "other.anthropic.test-model.1");
    rig_free(r);
    store_mem_free(store);
}

/* In the store as "u": a thread as it is when its process is killed inside a tool. */
static void lose_a_call(void) {
    rig *r = rig_new();
    phi_agent agent;
    phi_agent_desc desc = stored_desc("t");
    phi_tool wait = rig_wait(r);
    char *text;
    desc.tools = &wait;
    desc.tool_count = 1;
    agent = rig_agent(r, &desc);
    rig_call(r, "c1", "wait", "{}");
    CHECK_EQ_INT(phi_prompt(agent, "hello"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 1);
    text = (char *)malloc(strlen(store_mem_text(store, "t")) + 1);
    if (text == NULL) abort();
    strcpy(text, store_mem_text(store, "t"));
    CHECK(strstr(text, "\"toolCall\"") != NULL);
    store_mem_set(store, "u", text, strlen(text));
    free(text);
    rig_free(r);
}

TEST(a_call_that_was_lost_with_its_process_gets_an_error_result) {
    rig *r;
    phi_agent agent;
    store = store_mem_new();
    lose_a_call();
    r = rig_new();
    agent = open_thread(r, "u");
    talk(r, agent, "go on", "fine");
    CHECK(strstr(rig_request(r, 0), "The process ended before this call had a result") != NULL);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 5);
    CHECK(phi_thread_message_at(phi_agent_thread(agent), 2)->is_error);
    rig_free(r);
    store_mem_free(store);
}

TEST(a_reopened_thread_is_continued_behind_a_call_that_was_lost) {
    rig *r;
    phi_agent agent;
    store = store_mem_new();
    lose_a_call();
    r = rig_new();
    agent = open_thread(r, "u");
    rig_says(r, "fine");
    CHECK_EQ_INT(phi_continue(agent, PHI_CONTINUATION_DEFAULT), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 40), 0);
    CHECK(strstr(rig_request(r, 0), "The process ended before this call had a result") != NULL);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 4);
    CHECK(phi_thread_message_at(phi_agent_thread(agent), 2)->is_error);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 3)->content[0].text, "fine");
    CHECK_EQ_INT(phi_continue(agent, PHI_CONTINUATION_DEFAULT), PHI_MISUSE); /* it calls nothing */
    CHECK_EQ_STR(last_words(r), "phi_continue: the last message is the model's own");
    rig_free(r);
    store_mem_free(store);
}

TEST(a_message_that_a_host_appends_stands_behind_the_result_of_a_call_that_was_lost) {
    phi_content block;
    phi_message said = text_message(PHI_ROLE_USER, &block, "never mind");
    phi_thread *thread;
    phi_entry e;
    uint64_t seq = 0;
    rig *r;
    store = store_mem_new();
    lose_a_call();
    r = rig_new();
    thread = phi_agent_thread(open_thread(r, "u"));
    CHECK_EQ_INT(phi_thread_append(thread, &said, 1, NULL), PHI_OK);
    seq = phi_thread_count(thread) - 1;
    CHECK_EQ_INT(phi_thread_entry(thread, seq - 1, &e), PHI_OK);
    CHECK(e.kind == PHI_ENTRY_MESSAGE && e.message->role == PHI_ROLE_TOOL_RESULT &&
          e.message->is_error);
    rig_free(r);
    store_mem_free(store);
}

TEST(a_run_over_a_lent_thread_goes_on_behind_a_call_that_was_lost) {
    rig *r;
    phi_thread *thread;
    phi_agent_desc desc = rig_desc();
    phi_run_desc run = PHI_ZERO;
    store = store_mem_new();
    lose_a_call();
    r = rig_new();
    thread = phi_thread_new(rig_runtime(r), 0);
    CHECK_EQ_INT(phi_thread_attach(thread, store_mem_store(store), "u", NULL, NULL, 0), PHI_OK);
    run.agent = &desc;
    run.thread = thread;
    rig_says(r, "fine");
    CHECK(phi_run(rig_runtime(r), &run).rt != NULL);
    CHECK_EQ_INT(rig_run(r, 40), 0);
    CHECK_EQ_INT(phi_thread_message_count(thread), 4);
    phi_thread_free(thread);
    rig_free(r);
    store_mem_free(store);
}

TEST(what_a_host_appends_is_stored_by_the_next_step) {
    rig *r;
    phi_agent agent;
    store = store_mem_new();
    r = rig_new();
    agent = open_thread(r, "t");
    CHECK_EQ_INT(phi_next_timeout(rig_runtime(r)), -1);
    CHECK_EQ_INT(phi_thread_note(phi_agent_thread(agent), "mark", phi_str_of("1"), NULL), PHI_OK);
    CHECK_EQ_INT(phi_next_timeout(rig_runtime(r)), 0);
    CHECK_EQ_INT(store_mem_count(store, "t"), 0);
    (void)rig_step(r);
    CHECK_EQ_INT(store_mem_count(store, "t"), 1);
    CHECK_EQ_INT(phi_next_timeout(rig_runtime(r)), -1);
    rig_free(r);
    store_mem_free(store);
}

TEST(a_step_writes_one_batch_of_what_a_host_appended) {
    rig *r;
    phi_agent agent;
    int i;
    store = store_mem_new();
    r = rig_new();
    agent = open_thread(r, "t");
    for (i = 0; i < 600; i++)
        CHECK_EQ_INT(phi_thread_note(phi_agent_thread(agent), "mark", phi_str_of("1"), NULL),
                     PHI_OK);
    (void)rig_step(r);
    CHECK_EQ_INT(store_mem_count(store, "t"), 256);
    (void)rig_step(r);
    (void)rig_step(r);
    CHECK_EQ_INT(store_mem_count(store, "t"), 600);
    rig_free(r);
    store_mem_free(store);
}

TEST(the_thread_of_a_bare_run_is_stored_as_it_goes) {
    rig *r;
    phi_agent_desc desc = rig_desc();
    phi_run_desc run;
    phi_content content;
    phi_message prompt = user_of(&content, "hello");
    phi_thread *thread;
    char words[200];
    store = store_mem_new();
    r = rig_new();
    thread = phi_thread_new(rig_runtime(r), 0);
    CHECK_EQ_INT(phi_thread_attach(thread, store_mem_store(store), "t", NULL, words, sizeof words),
                 PHI_OK);
    memset(&run, 0, sizeof run);
    run.agent = &desc;
    run.thread = thread;
    run.prompts = &prompt;
    run.prompt_count = 1;
    rig_says(r, "fine");
    CHECK(phi_run(rig_runtime(r), &run).rt != NULL);
    CHECK_EQ_INT(rig_run(r, 40), 0);
    CHECK(strstr(rig_story(r), "ThreadUpdated \"t\" 2 messages\nAgentEnd ok") != NULL);
    CHECK_EQ_INT(store_mem_count(store, "t"), phi_thread_count(thread));
    desc.store = store_mem_store(store);
    CHECK(phi_run(rig_runtime(r), &run).rt == NULL);
    CHECK_EQ_STR(last_words(r), "phi_run: agent.store: attach the thread instead");
    rig_free(r);
    CHECK(!store_mem_locked(store, "t"));
    store_mem_free(store);
}

TEST(a_thread_is_attached_in_the_midst_of_a_run) {
    rig *r;
    phi_agent agent;
    char words[200];
    store = store_mem_new();
    r = rig_new();
    agent = rig_agent(r, NULL);
    rig_says(r, "fine");
    CHECK_EQ_INT(phi_prompt(agent, "hello"), PHI_OK);
    (void)rig_step(r);
    CHECK(phi_agent_get_info(agent).running);
    CHECK_EQ_INT(phi_thread_attach(phi_agent_thread(agent), store_mem_store(store), "t", NULL,
                                   words, sizeof words),
                 PHI_OK);
    CHECK_EQ_INT(rig_run(r, 40), 0);
    CHECK(strstr(rig_story(r), "ThreadUpdated \"t\" 2 messages\nAgentEnd ok") != NULL);
    CHECK_EQ_INT(store_mem_count(store, "t"), phi_thread_count(phi_agent_thread(agent)));
    rig_free(r);
    store_mem_free(store);
}

TEST(a_snapshot_is_restored_into_a_thread_that_the_store_has_not) {
    rig *r;
    phi_agent agent, loaded;
    phi_agent_desc desc;
    phi_memory memory;
    phi_arena arena;
    phi_str text = {"", 0};
    store = store_mem_new();
    r = rig_new();
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    agent = open_thread(r, "t");
    talk(r, agent, "hello", "fine");
    CHECK_EQ_INT(phi_agent_snapshot(agent, &arena, &text), PHI_OK);
    phi_agent_free(agent);
    desc = stored_desc("t");
    CHECK(phi_agent_restore(rig_runtime(r), &desc, text, PHI_RESTORE_RESUME).rt == NULL);
    CHECK_EQ_INT(phi_last_error(rig_runtime(r)).status, PHI_MISUSE);
    CHECK(!store_mem_locked(store, "t"));
    desc.thread_id = "u";
    loaded = phi_agent_restore(rig_runtime(r), &desc, text, PHI_RESTORE_RESUME);
    CHECK(loaded.rt != NULL);
    (void)rig_step(r);
    CHECK_EQ_STR(store_mem_text(store, "u"), store_mem_text(store, "t"));
    CHECK(phi_agent_restore(rig_runtime(r), &desc,
                            phi_str_of("{\"phi_snapshot\":1,\"thread\":[1]}"), PHI_RESTORE_RESUME)
              .rt == NULL);
    phi_arena_free(&arena);
    rig_free(r);
    store_mem_free(store);
}

/* ---- trouble ---- */

TEST(a_store_that_is_full_is_told_once_and_the_run_goes_on) {
    rig *r;
    phi_agent agent;
    store = store_mem_new();
    r = rig_new();
    agent = open_thread(r, "t");
    store_mem_room(store, 0);
    talk(r, agent, "one", "first");
    talk(r, agent, "two", "second");
    CHECK_EQ_INT(
        times(rig_story(r), "Warning \"The thread \"t\" could not be stored: no space left\""), 1);
    CHECK_EQ_INT(times(rig_story(r), "AgentEnd ok"), 2);
    CHECK_EQ_INT(times(rig_story(r), "ThreadUpdated"), 0);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 4);
    store_mem_room(store, SIZE_MAX);
    talk(r, agent, "three", "third");
    CHECK_EQ_INT(times(rig_story(r), "ThreadUpdated \"t\" 6 messages"), 1);
    CHECK_EQ_INT(store_mem_count(store, "t"), phi_thread_count(phi_agent_thread(agent)));
    store_mem_fail_at(store, 0, PHI_IO);
    talk(r, agent, "four", "fourth"); /* it is told again */
    CHECK_EQ_INT(times(rig_story(r), "could not be stored: the store failed on demand"), 1);
    CHECK_EQ_INT(store_mem_count(store, "t"), phi_thread_count(phi_agent_thread(agent)));
    rig_free(r);
    store_mem_free(store);
}

TEST(a_run_over_a_store_that_fails_at_any_call_is_stored_in_the_end) {
    int n;
    for (n = 0; n < 12; n++) {
        rig *r;
        phi_agent agent;
        store = store_mem_new();
        r = rig_new();
        agent = open_thread(r, "t");
        store_mem_fail_at(store, n, PHI_FULL);
        talk(r, agent, "one", "first");
        talk(r, agent, "two", "second");
        CHECK_EQ_INT(times(rig_story(r), "AgentEnd ok"), 2);
        CHECK_EQ_INT(phi_thread_sync(phi_agent_thread(agent), NULL, 0), PHI_OK);
        CHECK_EQ_INT(store_mem_count(store, "t"), phi_thread_count(phi_agent_thread(agent)));
        store_mem_fail_at(store, -1, PHI_OK);
        rig_free(r);
        store_mem_free(store);
    }
}

TEST(a_torn_end_is_told_by_a_warning) {
    rig *r;
    store = store_mem_new();
    r = rig_new();
    store_mem_set(store, "t", "{\"seq\":0,\"kind\":\"turn_start\"}\n{\"seq\":1", 38);
    (void)open_thread(r, "t");
    (void)rig_step(r);
    CHECK_EQ_STR(rig_story(r),
                 "Warning \"The thread \"t\" had a torn end: 8 bytes were cut off\"\n");
    rig_free(r);
    store_mem_free(store);
}

static void refused(rig *r, const phi_agent_desc *desc, phi_status want, const char *words) {
    CHECK(rig_agent(r, desc).rt == NULL);
    CHECK_EQ_INT(phi_last_error(rig_runtime(r)).status, want);
    CHECK_EQ_STR(last_words(r), words);
}

TEST(an_agent_whose_thread_cannot_be_had_is_not_made) {
    rig *r;
    phi_agent_desc desc;
    phi_store half;
    store = store_mem_new();
    r = rig_new();
    (void)open_thread(r, "t");
    desc = stored_desc("t");
    refused(r, &desc, PHI_BUSY, "phi_agent_new: thread \"t\": locked");
    desc.thread_id = "../t";
    refused(r, &desc, PHI_BAD_ARG,
            "thread_id \"../t\": expected 1 to 128 of A-Z a-z 0-9 . _ -, no dot in front");
    desc.store = NULL;
    refused(r, &desc, PHI_BAD_ARG, "thread_id is given, store is missing");
    half = *store_mem_store(store);
    half.read = NULL;
    desc.store = &half;
    refused(r, &desc, PHI_BAD_ARG, "store: append or read is missing");
    half = *store_mem_store(store);
    half.journal = NULL;
    refused(r, &desc, PHI_UNSUPPORTED,
            "store: journal is missing: set phi_store.journal to phi_store_journal()");
    desc = stored_desc("u");
    store_mem_set(store, "u", "nonsense\n", 9);
    refused(r, &desc, PHI_PARSE,
            "phi_agent_new: thread \"u\": entry 0: column 2: expected 'null', found 'o'");
    CHECK(!store_mem_locked(store, "u"));
    rig_free(r);
    store_mem_free(store);
}

/* ---- changes of the history ---- */

TEST(a_history_that_is_replaced_or_cleared_stays_in_the_store) {
    rig *r;
    phi_agent agent;
    phi_content content;
    phi_message m = user_of(&content, "from elsewhere");
    uint64_t before;
    store = store_mem_new();
    r = rig_new();
    agent = open_thread(r, "t");
    talk(r, agent, "the first", "one");
    before = store_mem_count(store, "t");
    CHECK_EQ_INT(phi_agent_replace_messages(agent, &m, 1), PHI_OK);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 1);
    CHECK_STR(phi_thread_get_info(phi_agent_thread(agent)).lane, "lane-1");
    talk(r, agent, "the second", "two");
    CHECK(strstr(rig_request(r, 1), "from elsewhere") != NULL);
    CHECK(strstr(rig_request(r, 1), "the first") == NULL);
    CHECK(store_mem_count(store, "t") > before + 3);
    CHECK_EQ_INT(phi_agent_replace_messages(agent, NULL, 0), PHI_OK);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 0);
    talk(r, agent, "the third", "three");
    CHECK_EQ_INT(phi_agent_reset(agent), PHI_OK);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 0);
    (void)rig_step(r);
    rig_free(r);
    r = rig_new();
    agent = open_thread(r, "t");
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)),
                 0); /* the lane that was the last */
    CHECK_EQ_INT(phi_thread_get_info(phi_agent_thread(agent)).lane_count, 4);
    CHECK_EQ_INT(phi_thread_switch(phi_agent_thread(agent), "default"), PHI_OK);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 2);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 0)->content[0].text, "the first");
    rig_free(r);
    store_mem_free(store);
}

/* ---- other threads ---- */

/* Who shares the session needs memory for another. */
TEST(a_reset_that_finds_no_memory_changes_nothing) {
    int n = 0;
    bool tripped = true;
    for (; tripped; n++) {
        rig *r;
        phi_agent agent;
        char session[64];
        size_t messages;
        uint64_t entries;
        phi_status status;
        store = store_mem_new();
        r = rig_new();
        agent = open_thread(r, "t");
        (void)rig_agent(r, NULL); /* of the same session */
        talk(r, agent, "hello", "hi");
        CHECK_EQ_INT(phi_follow_up(agent, "and?"), PHI_OK);
        (void)rig_step(r);
        (void)snprintf(session, sizeof session, "%s", phi_agent_get_info(agent).session_id.at);
        messages = phi_thread_message_count(phi_agent_thread(agent));
        entries = phi_thread_count(phi_agent_thread(agent));
        test_alloc_fail_at(n);
        status = phi_agent_reset(agent);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK_EQ_INT(status, tripped ? PHI_NO_MEMORY : PHI_OK);
        CHECK((strcmp(session, phi_agent_get_info(agent).session_id.at) == 0) == tripped);
        CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), tripped ? messages : 0);
        CHECK((phi_thread_count(phi_agent_thread(agent)) == entries) == tripped);
        CHECK_EQ_INT(phi_agent_get_info(agent).follow_ups, tripped ? 1 : 0);
        CHECK((phi_agent_get_info(agent).loop_id.len > 0) == tripped);
        rig_free(r);
        store_mem_free(store);
    }
    CHECK(n > 3);
}

TEST(an_agent_goes_over_to_another_thread_and_back) {
    rig *r;
    phi_agent agent;
    phi_str made;
    store = store_mem_new();
    r = rig_new();
    agent = open_thread(r, "a");
    talk(r, agent, "in a", "one");
    CHECK_EQ_INT(phi_agent_use_thread(agent, "b"), PHI_OK);
    CHECK(!store_mem_locked(store, "a") && store_mem_locked(store, "b"));
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 0);
    CHECK(!phi_str_equal(phi_agent_get_info(agent).session_id, phi_str_of("session")));
    talk(r, agent, "in b", "two");
    CHECK(strstr(rig_request(r, 1), "in a") == NULL);
    CHECK_EQ_INT(phi_agent_use_thread(agent, "b"), PHI_OK); /* it has it */
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 2);
    CHECK_EQ_INT(phi_agent_use_thread(agent, "a"), PHI_OK);
    CHECK_STR(phi_agent_get_info(agent).session_id, "session");
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 0)->content[0].text, "in a");
    talk(r, agent, "again in a", "three");
    CHECK_STR(phi_agent_get_info(agent).loop_id, "session.anthropic.test-model.2");
    CHECK_EQ_INT(phi_agent_use_thread(agent, NULL), PHI_OK);
    made = phi_agent_get_info(agent).thread_id;
    CHECK_EQ_INT(made.len, 36);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 0);
    rig_free(r);
    store_mem_free(store);
}

TEST(what_cannot_be_had_leaves_the_agent_in_its_thread) {
    rig *r;
    phi_agent agent, plain;
    store = store_mem_new();
    r = rig_new();
    agent = open_thread(r, "a");
    (void)open_thread(r, "b");
    talk(r, agent, "in a", "one");
    CHECK_EQ_INT(phi_agent_use_thread(agent, "b"), PHI_BUSY);
    CHECK_EQ_STR(last_words(r), "phi_agent_use_thread: thread \"b\": locked");
    CHECK_EQ_INT(phi_agent_use_thread(agent, "c/d"), PHI_BAD_ARG);
    store_mem_set(store, "c", "{}\n", 3);
    CHECK_EQ_INT(phi_agent_use_thread(agent, "c"), PHI_PARSE);
    CHECK_EQ_STR(last_words(r), "phi_agent_use_thread: thread \"c\": entry 0: seq: expected 0");
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 2);
    CHECK_STR(phi_agent_get_info(agent).thread_id, "a");
    talk(r, agent, "again", "two");
    CHECK_EQ_INT(store_mem_count(store, "a"), phi_thread_count(phi_agent_thread(agent)));
    rig_hangs(r, "");
    CHECK_EQ_INT(phi_prompt(agent, "wait"), PHI_OK);
    CHECK_EQ_INT(phi_agent_use_thread(agent, "d"), PHI_BUSY);
    plain = rig_agent(r, NULL);
    CHECK_EQ_INT(phi_agent_use_thread(plain, "d"), PHI_MISUSE);
    CHECK_EQ_STR(last_words(r), "phi_agent_use_thread: the agent has no store");
    CHECK_STR(phi_agent_get_info(plain).thread_id, "");
    rig_free(r);
    store_mem_free(store);
}

TEST(a_thread_that_cannot_be_saved_is_not_left) {
    rig *r;
    phi_agent agent;
    store = store_mem_new();
    r = rig_new();
    agent = open_thread(r, "a");
    CHECK_EQ_INT(phi_thread_note(phi_agent_thread(agent), "mark", phi_str_of("1"), NULL), PHI_OK);
    store_mem_room(store, 0);
    CHECK_EQ_INT(phi_agent_use_thread(agent, "b"), PHI_FULL);
    CHECK_EQ_STR(last_words(r), "phi_agent_use_thread: thread \"b\": no space left");
    CHECK_STR(phi_agent_get_info(agent).thread_id, "a");
    CHECK_EQ_INT(phi_thread_count(phi_agent_thread(agent)), 1);
    store_mem_room(store, SIZE_MAX);
    rig_free(r);
    CHECK_EQ_INT(store_mem_count(store, "a"), 1);
    store_mem_free(store);
}

static phi_status ask_in(phi_agent agent, const char *thread_id, const char *text,
                         phi_response *response) {
    phi_prompt_desc desc = PHI_ZERO;
    desc.text = text;
    desc.thread_id = thread_id;
    return phi_prompt_with(agent, &desc, response);
}

TEST(a_question_names_its_thread) {
    rig *r;
    phi_agent agent;
    phi_response one, two;
    phi_response_info info;
    store = store_mem_new();
    r = rig_new();
    agent = open_thread(r, "a");
    rig_says(r, "for b");
    CHECK_EQ_INT(ask_in(agent, "b", "question", &one), PHI_OK);
    CHECK_EQ_INT(ask_in(agent, "a", "question", &two), PHI_BUSY);
    CHECK_EQ_INT(rig_run(r, 40), 0);
    CHECK_EQ_INT(response_get(one, &info), PHI_OK);
    CHECK_STR(info.text, "for b");
    rig_says(r, "for a");
    CHECK_EQ_INT(ask_in(agent, "a", "question", &two), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 40), 0);
    CHECK_EQ_INT(response_get(one, &info), PHI_STALE);
    CHECK_EQ_INT(times(store_mem_text(store, "a"), "for a"), 1);
    CHECK_EQ_INT(times(store_mem_text(store, "b"), "for b"), 1);
    CHECK_EQ_INT(ask_in(agent, "a", "", &two), PHI_BAD_ARG);
    CHECK_EQ_STR(last_words(r), "phi_prompt_with: the text is empty");
    rig_free(r);
    store_mem_free(store);
}

/* ---- what is told ---- */

TEST(a_desc_has_its_store_and_its_thread) {
    rig *r;
    phi_agent agent;
    phi_agent_desc desc;
    store = store_mem_new();
    r = rig_new();
    agent = open_thread(r, "t");
    CHECK_EQ_INT(phi_agent_get_desc(agent, &desc), PHI_OK);
    CHECK(desc.store != NULL && desc.store->user_data == store);
    CHECK_EQ_STR(desc.thread_id, "t");
    rig_free(r);
    store_mem_free(store);
}

static void watch_updated(void *user_data, const phi_event *event) {
    phi_arena *arena = (phi_arena *)user_data;
    phi_event read;
    phi_parse_error error;
    phi_str json = {"", 0}, again = {"", 0};
    if (event->kind != PHI_EV_THREAD_UPDATED) return;
    CHECK_EQ_INT(phi_event_to_json(event, arena, &json), PHI_OK);
    CHECK_STR(
        json,
        "{\"type\":\"ThreadUpdated\",\"loop_id\":\"session.anthropic.test-model.1\",\"thread_id\":"
        "\"t\","
        "\"message_count\":2,\"usage\":{\"input\":10,\"output\":5,\"reasoning\":0,\"cache_read\":0,"
        "\"cache_write\":0,\"total_tokens\":15}}");
    CHECK_EQ_INT(phi_event_from_json(json, arena, &read, &error), PHI_OK);
    CHECK_EQ_INT(read.message_count, 2);
    CHECK_EQ_INT(phi_event_to_json(&read, arena, &again), PHI_OK);
    CHECK(phi_str_equal(json, again));
}

TEST(an_updated_thread_is_told_as_json_and_read_back) {
    rig *r;
    phi_memory memory;
    phi_arena arena;
    store = store_mem_new();
    r = rig_new();
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    rig_watch(r, watch_updated, &arena);
    talk(r, open_thread(r, "t"), "hi", "ho");
    CHECK(memory.used_bytes > 0);
    phi_arena_free(&arena);
    rig_free(r);
    store_mem_free(store);
}

/* ---- anything ---- */

static void do_something(rig *r, phi_agent agent, uint32_t *state) {
    phi_content content;
    phi_message m = user_of(&content, "from elsewhere");
    phi_thread *thread = phi_agent_thread(agent);
    switch (test_random(state) % 12) {
    case 0:
    case 1:
    case 2:
        if (test_random(state) % 2 == 0) rig_call(r, "c1", "echo", "{ \"a\": 1 }");
        if (test_random(state) % 6 == 0) rig_breaks(r, "", PHI_NETWORK, "gone");
        rig_says(r, "fine");
        (void)phi_prompt(agent, "and now");
        break;
    case 3: (void)phi_abort(agent); break;
    case 4: (void)phi_steer(agent, "this way"); break;
    case 5: (void)phi_thread_append(phi_agent_thread(agent), &m, 1, NULL); break;
    case 6: (void)phi_agent_replace_messages(agent, &m, 1); break;
    case 7: (void)phi_thread_note(thread, "mark", phi_str_of("[1, 2]"), NULL); break;
    case 8: (void)phi_thread_fork_lane(thread, "way", NULL, UINT64_MAX); break;
    case 9: (void)phi_thread_switch(thread, test_random(state) % 2 == 0 ? "way" : "default"); break;
    case 10: store_mem_fail_at(store, (int)(test_random(state) % 3), PHI_IO); break;
    default: (void)phi_agent_use_thread(agent, test_random(state) % 2 == 0 ? "a" : "b"); break;
    }
}

/* The store, and what is read from it, against the thread in memory. */
static void check_kept(phi_agent agent) {
    phi_thread *thread = phi_agent_thread(agent), *again = phi_thread_new(agent.rt, 0);
    phi_memory memory;
    phi_arena arena;
    phi_str one = {"", 0}, two = {"", 0};
    char words[200], id[64];
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    (void)snprintf(id, sizeof id, "%s", phi_agent_get_info(agent).thread_id.at);
    store_mem_fail_at(store, -1, PHI_OK);
    CHECK_EQ_INT(phi_thread_to_json(thread, &arena, &one), PHI_OK);
    CHECK_EQ_INT(phi_thread_attach(thread, NULL, NULL, NULL, NULL, 0), PHI_OK);
    CHECK_EQ_STR(strchr(one.at, '\n') + 1, store_mem_text(store, id));
    CHECK_EQ_INT(phi_thread_attach(again, store_mem_store(store), id, NULL, words, sizeof words),
                 PHI_OK);
    CHECK_EQ_INT(phi_thread_to_json(again, &arena, &two), PHI_OK);
    CHECK(phi_str_equal(one, two));
    CHECK_EQ_INT(phi_thread_message_count(again),
                 phi_thread_message_count(phi_agent_thread(agent)));
    phi_arena_free(&arena);
}

TEST(whatever_happens_the_store_has_what_the_thread_has) {
    uint32_t seed;
    for (seed = 1; seed <= 60; seed++) {
        rig *r;
        phi_agent agent;
        phi_agent_desc desc;
        phi_tool echo = rig_echo();
        uint32_t state = seed;
        int i;
        store = store_mem_new();
        r = rig_new();
        rig_mock(r);
        desc = stored_desc("a");
        desc.tools = &echo;
        desc.tool_count = 1;
        agent = rig_agent(r, &desc);
        for (i = 0; i < 40; i++) {
            do_something(r, agent, &state);
            (void)rig_run(r, (int)(test_random(&state) % 6));
        }
        CHECK_EQ_INT(rig_run(r, 400), 0);
        check_kept(agent);
        rig_free(r);
        store_mem_free(store);
    }
}

/* ---- without memory ---- */

TEST(without_memory_a_thread_is_opened_or_not_and_left_or_not) {
    int n;
    bool done = false;
    for (n = 0; n < 3000 && !done; n++) {
        rig *r;
        phi_agent agent;
        phi_agent_desc desc;
        phi_content content;
        phi_message m = user_of(&content, "new");
        phi_status status = PHI_NO_MEMORY;
        store = store_mem_new();
        r = rig_new();
        talk(r, open_thread(r, "a"), "in a", "one");
        rig_free(r);
        r = rig_new();
        desc = stored_desc("a");
        test_alloc_fail_at(n);
        agent = rig_agent(r, &desc);
        if (agent.rt != NULL) {
            status = phi_agent_replace_messages(agent, &m, 1);
            CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)),
                         status == PHI_OK ? 1 : 2);
        }
        if (status == PHI_OK) status = phi_agent_use_thread(agent, "b");
        test_alloc_fail_at(-1);
        if (agent.rt != NULL) {
            CHECK_STR(phi_agent_get_info(agent).thread_id, status == PHI_OK ? "b" : "a");
            talk(r, agent, "and now", "two");
            CHECK_EQ_INT(phi_thread_get_info(phi_agent_thread(agent)).stored,
                         phi_thread_count(phi_agent_thread(agent)));
        }
        done = status == PHI_OK;
        CHECK(done || status == PHI_NO_MEMORY);
        rig_free(r);
        CHECK(!store_mem_locked(store, "a") && !store_mem_locked(store, "b"));
        store_mem_free(store);
    }
    CHECK(n > 20 && n < 3000);
}

/* The thread is another session's, which the agent would take over with it. */
TEST(without_memory_for_the_thread_of_another_session_an_agent_stays_in_its_own) {
    int n;
    bool done = false;
    for (n = 0; n < 500 && !done; n++) {
        rig *r;
        phi_agent agent;
        phi_agent_desc desc;
        phi_status status;
        store = store_mem_new();
        r = rig_new();
        desc = stored_desc("b");
        desc.ids.session_id = "evening";
        talk(r, rig_agent(r, &desc), "in b", "one");
        rig_free(r);
        r = rig_new();
        agent = open_thread(r, "a");
        talk(r, agent, "in a", "one");
        test_alloc_fail_at(n);
        status = phi_agent_use_thread(agent, "b");
        test_alloc_fail_at(-1);
        done = status == PHI_OK;
        CHECK(done || status == PHI_NO_MEMORY);
        CHECK_STR(phi_agent_get_info(agent).thread_id, done ? "b" : "a");
        CHECK_STR(phi_agent_get_info(agent).session_id, done ? "evening" : "session");
        CHECK_STR(phi_agent_get_info(agent).loop_id,
                  done ? "evening.anthropic.test-model.1" : "session.anthropic.test-model.1");
        rig_free(r); /* which has no session left */
        store_mem_free(store);
    }
    CHECK(n > 10 && n < 500);
}

TEST_MAIN(
    TEST_ENTRY(a_run_is_in_the_store_when_its_ends_are_told),
    TEST_ENTRY(an_agent_goes_on_where_another_process_left),
    TEST_ENTRY(without_a_session_of_its_own_an_agent_has_that_of_the_log),
    TEST_ENTRY(a_call_that_was_lost_with_its_process_gets_an_error_result),
    TEST_ENTRY(a_reopened_thread_is_continued_behind_a_call_that_was_lost),
    TEST_ENTRY(a_message_that_a_host_appends_stands_behind_the_result_of_a_call_that_was_lost),
    TEST_ENTRY(a_run_over_a_lent_thread_goes_on_behind_a_call_that_was_lost),
    TEST_ENTRY(what_a_host_appends_is_stored_by_the_next_step),
    TEST_ENTRY(a_step_writes_one_batch_of_what_a_host_appended),
    TEST_ENTRY(the_thread_of_a_bare_run_is_stored_as_it_goes),
    TEST_ENTRY(a_thread_is_attached_in_the_midst_of_a_run),
    TEST_ENTRY(a_snapshot_is_restored_into_a_thread_that_the_store_has_not),
    TEST_ENTRY(a_store_that_is_full_is_told_once_and_the_run_goes_on),
    TEST_ENTRY(a_run_over_a_store_that_fails_at_any_call_is_stored_in_the_end),
    TEST_ENTRY(a_torn_end_is_told_by_a_warning),
    TEST_ENTRY(an_agent_whose_thread_cannot_be_had_is_not_made),
    TEST_ENTRY(a_history_that_is_replaced_or_cleared_stays_in_the_store),
    TEST_ENTRY(a_reset_that_finds_no_memory_changes_nothing),
    TEST_ENTRY(an_agent_goes_over_to_another_thread_and_back),
    TEST_ENTRY(what_cannot_be_had_leaves_the_agent_in_its_thread),
    TEST_ENTRY(a_thread_that_cannot_be_saved_is_not_left), TEST_ENTRY(a_question_names_its_thread),
    TEST_ENTRY(a_desc_has_its_store_and_its_thread),
    TEST_ENTRY(an_updated_thread_is_told_as_json_and_read_back),
    TEST_ENTRY(whatever_happens_the_store_has_what_the_thread_has),
    TEST_ENTRY(without_memory_a_thread_is_opened_or_not_and_left_or_not),
    TEST_ENTRY(without_memory_for_the_thread_of_another_session_an_agent_stays_in_its_own))
