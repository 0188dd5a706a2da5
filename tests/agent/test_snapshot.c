/* test_snapshot.c - an agent saved in the midst of things and loaded into another runtime: the log that comes of it
   is the one that would have come anyway. */
#include "agent/snapshot.h"

#include "loop/loop_in.h"
#include "support/rig.h"
#include "support/store_mem.h"
#include "support/request.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STEPS_MOST = 60, DUMP = 16000 };

/* ---- what a log says, but for times ---- */

static void dump_message(char *out, size_t *n, const phi_message *m) {
    size_t i;
    for (i = 0; m != NULL && i < m->content_count && *n + 400 < DUMP; i++)
        *n += (size_t)snprintf(out + *n, DUMP - *n, " <%d %.*s %.*s %.*s>", (int)m->content[i].kind,
                               (int)m->content[i].text.len, m->content[i].text.at,
                               (int)m->content[i].id.len, m->content[i].id.at,
                               (int)m->content[i].arguments.len, m->content[i].arguments.at);
}

static void dump(phi_agent agent, char out[DUMP]) {
    const phi_thread *thread = phi_agent_thread(agent);
    phi_entry e;
    uint64_t seq;
    size_t n = 0;
    out[0] = '\0';
    for (seq = 0; phi_thread_entry(thread, seq, &e) == PHI_OK && n + 400 < DUMP; seq++) {
        n += (size_t)snprintf(out + n, DUMP - n, "%u %d %.*s %u %d", (unsigned)seq, (int)e.kind,
                              (int)e.loop_id.len, e.loop_id.at, (unsigned)e.turn_index,
                              (int)e.status);
        if (e.message != NULL)
            n += (size_t)snprintf(out + n, DUMP - n, " role %d error %d", (int)e.message->role,
                                  (int)e.message->is_error);
        dump_message(out, &n, e.message);
        n += (size_t)snprintf(out + n, DUMP - n, "\n");
    }
}

/* ---- a story with a call that waits ---- */

typedef struct story {
    rig *r;
    phi_agent agent;
    phi_tool tools[2];
    phi_memory memory;
    phi_arena arena;
    int waited; /* steps that the pending call has waited so far, in both runtimes */
} story;

static phi_agent_desc story_desc(story *s) {
    phi_agent_desc desc = rig_desc();
    s->tools[0] = rig_echo();
    s->tools[1] = rig_wait(s->r);
    desc.tools = s->tools;
    desc.tool_count = 2;
    desc.ids.session_id = "game";
    desc.ids.agent_id = "smith";
    return desc;
}

/* The answers from the n-th on. */
static void script(rig *r, size_t from) {
    static const char *const calls[] = {"c1 echo {\"a\":1}", "c2 wait {}", "c3 echo {\"b\":2}"};
    if (from <= 0) rig_says(r, "Good day.");
    if (from <= 1) rig_calls(r, calls, 3);
    if (from <= 2) rig_call(r, "c4", "echo", "{\"c\":3}");
    if (from <= 3) rig_says(r, "The sword is mended.");
}

static void begin(story *s) {
    phi_agent_desc desc;
    memset(s, 0, sizeof *s);
    s->r = rig_new();
    rig_chunk(s->r, 200);
    phi_memory_init(&s->memory, NULL, 0);
    phi_arena_init(&s->arena, &s->memory, 0);
    desc = story_desc(s);
    s->agent = rig_agent(s->r, &desc);
    script(s->r, 0);
    CHECK_EQ_INT(phi_prompt(s->agent, "Hello"), PHI_OK);
    CHECK_EQ_INT(rig_run(s->r, 40), 0);
    CHECK_EQ_INT(phi_prompt(s->agent, "Mend my sword"), PHI_OK);
    CHECK_EQ_INT(phi_follow_up(s->agent, "Thanks"), PHI_OK);
}

static void end(story *s) {
    phi_arena_free(&s->arena);
    rig_free(s->r);
}

/* One step, and the host: it finishes the call when it has waited for five steps. */
static bool go_on(story *s) {
    phi_pending_item items[4];
    size_t n, i;
    int runs = rig_step(s->r);
    rig_pass_ms(s->r, 1);
    n = phi_pending(rig_runtime(s->r), items, 4);
    for (i = 0; i < n && i < 4; i++) {
        if (items[i].kind != PHI_WAITING_CALL || strcmp(items[i].tool_name.at, "wait") != 0)
            continue;
        if (s->waited++ >= 5) CHECK_EQ_INT(phi_call_reply(items[i].call, "hammered"), PHI_OK);
    }
    return runs > 0;
}

static size_t answers(phi_agent agent) {
    size_t i, n = 0;
    for (i = 0; i < phi_thread_message_count(phi_agent_thread(agent)); i++)
        n += phi_thread_message_at(phi_agent_thread(agent), i)->role == PHI_ROLE_ASSISTANT;
    return n;
}

/* Into another runtime, which has the answers that are still to come. */
static void move(story *s) {
    phi_str text = phi_str_of("");
    size_t said = answers(s->agent);
    rig *old = s->r;
    phi_agent_desc desc;
    CHECK_EQ_INT(phi_agent_snapshot(s->agent, &s->arena, &text), PHI_OK);
    s->r = rig_new();
    rig_chunk(s->r, 200);
    desc = story_desc(s);
    s->agent = phi_agent_restore(rig_runtime(s->r), &desc, text, PHI_RESTORE_RESUME);
    if (!CHECK(s->agent.rt != NULL)) {
        const char *words = "";
        words = phi_last_error(rig_runtime(s->r)).message;
        printf("  %s\n  %.*s\n", words, (int)text.len, text.at);
    }
    rig_free(old);
    script(s->r, said);
    rig_says(s->r, "You are welcome.");
}

TEST(a_snapshot_at_any_step_leads_to_the_same_log) {
    static char want[DUMP], got[DUMP];
    story s;
    int k, n = 0;
    begin(&s);
    rig_says(s.r, "You are welcome.");
    while (go_on(&s)) n++;
    dump(s.agent, want);
    CHECK(strstr(want, "You are welcome.") != NULL);
    end(&s);
    CHECK(n > 10 && n < STEPS_MOST);
    for (k = 0; k <= n; k++) {
        int i;
        begin(&s);
        rig_says(s.r, "You are welcome.");
        for (i = 0; i < k; i++) (void)go_on(&s);
        move(&s);
        for (i = 0; i < 3 * STEPS_MOST && go_on(&s); i++) continue;
        dump(s.agent, got);
        if (!CHECK(strcmp(want, got) == 0)) {
            printf("  snapshot at step %d of %d\nwant\n%sgot\n%s", k, n, want, got);
            end(&s);
            return;
        }
        end(&s);
    }
}

/* The rest of a story in a process of its own, which sends the log back. */
static void elsewhere(story *s, phi_str text, size_t said, char got[DUMP]) {
    int ends[2];
    pid_t child;
    size_t n = 0;
    ssize_t more;
    REQUIRE(pipe(ends) == 0);
    child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        static char log[DUMP];
        rig *old = s->r;
        phi_agent_desc desc;
        bool sent;
        int i;
        s->r = rig_new();
        rig_chunk(s->r, 200);
        desc = story_desc(s);
        s->agent = phi_agent_restore(rig_runtime(s->r), &desc, text, PHI_RESTORE_RESUME);
        script(s->r, said);
        rig_says(s->r, "You are welcome.");
        for (i = 0; i < 3 * STEPS_MOST && go_on(s); i++) continue;
        dump(s->agent, log);
        sent = write(ends[1], log, strlen(log)) == (ssize_t)strlen(log);
        rig_free(old);
        end(s);
        _exit(sent ? 0 : 1);
    }
    (void)close(ends[1]);
    while (n + 1 < DUMP && (more = read(ends[0], got + n, DUMP - 1 - n)) > 0) n += (size_t)more;
    got[n] = '\0';
    (void)close(ends[0]);
    CHECK(waitpid(child, NULL, 0) == child);
}

TEST(a_snapshot_goes_on_in_another_process) {
    static char want[DUMP], got[DUMP];
    story s;
    int k;
    begin(&s);
    rig_says(s.r, "You are welcome.");
    while (go_on(&s)) continue;
    dump(s.agent, want);
    end(&s);
    for (k = 0; k < 24; k += 3) {
        phi_str text = phi_str_of("");
        int i;
        begin(&s);
        rig_says(s.r, "You are welcome.");
        for (i = 0; i < k; i++) (void)go_on(&s);
        CHECK_EQ_INT(phi_agent_snapshot(s.agent, &s.arena, &text), PHI_OK);
        elsewhere(&s, text, answers(s.agent), got);
        if (!CHECK(strcmp(want, got) == 0)) printf("  snapshot at step %d\n", k);
        end(&s);
    }
}

TEST(a_snapshot_of_a_snapshot_is_the_same_text) {
    story s;
    phi_str first = phi_str_of(""), second = phi_str_of("");
    phi_agent_desc desc;
    phi_agent again;
    int i;
    begin(&s);
    for (i = 0; i < 8; i++) (void)go_on(&s);
    CHECK_EQ_INT(phi_agent_snapshot(s.agent, &s.arena, &first), PHI_OK);
    CHECK_EQ_INT(phi_agent_snapshot(s.agent, &s.arena, &second), PHI_OK);
    CHECK(phi_str_equal(first, second)); /* it changes nothing */
    desc = story_desc(&s);
    again = phi_agent_restore(rig_runtime(s.r), &desc, first, PHI_RESTORE_RESUME);
    CHECK(again.rt != NULL);
    CHECK_EQ_INT(phi_agent_snapshot(again, &s.arena, &second), PHI_OK);
    CHECK_STR(second, first.at);
    end(&s);
}

TEST(a_run_in_a_turn_that_has_not_said_that_it_began_is_refused) {
    static const char member[] = "\"opened\":true,";
    story s;
    phi_str text = phi_str_of("");
    phi_agent_desc desc;
    begin(&s);
    for (int i = 0; i < 8; i++) (void)go_on(&s);
    CHECK_EQ_INT(phi_agent_snapshot(s.agent, &s.arena, &text), PHI_OK);
    CHECK(strstr(text.at, "\"turn_open\":true") != NULL);
    char *changed = (char *)malloc(text.len + 1);
    const char *at = strstr(text.at, member);
    if (CHECK(changed != NULL && at != NULL)) {
        size_t before = (size_t)(at - text.at);
        memcpy(changed, text.at, before);
        (void)snprintf(changed + before, text.len + 1 - before, "%s", at + sizeof member - 1);
        desc = story_desc(&s);
        CHECK(phi_agent_restore(rig_runtime(s.r), &desc, phi_str_of(changed), PHI_RESTORE_RESUME)
                  .rt == NULL);
    }
    free(changed);
    end(&s);
}

/* ---- a rewrite that waits for the end of the run ---- */

/* The first two messages by one, and another lane. */
static void ask_for_later(phi_agent agent, const char *to) {
    phi_content c = PHI_ZERO;
    phi_message m = PHI_ZERO;
    phi_span span = PHI_ZERO;
    phi_rewrite r = PHI_ZERO;
    c.kind = PHI_CONTENT_TEXT;
    c.text = phi_str_of("They have met.");
    m.role = PHI_ROLE_USER;
    m.content = &c;
    m.content_count = 1;
    span.to = 4;
    span.messages = &m;
    span.message_count = 1;
    span.summary = true;
    r.op_id = "later";
    r.lane = "default";
    r.reason = PHI_REWRITE_COMPACTION;
    r.base_seq = 5;
    r.spans = &span;
    r.span_count = 1;
    r.meta = "{\"why\": 1}";
    r.switch_to = to;
    CHECK_EQ_INT(phi_agent_rewrite(agent, &r), PHI_OK);
}

TEST(a_rewrite_that_waits_is_done_after_a_restore) {
    static char want[DUMP], got[DUMP];
    story s;
    int k, n = 0, i;
    begin(&s);
    ask_for_later(s.agent, "evening");
    rig_says(s.r, "You are welcome.");
    while (go_on(&s)) n++;
    CHECK_STR(phi_thread_get_info(phi_agent_thread(s.agent)).lane, "evening");
    dump(s.agent, want);
    end(&s);
    for (k = 0; k < n; k++) {
        phi_entry e;
        uint64_t last;
        begin(&s);
        ask_for_later(s.agent, "evening");
        rig_says(s.r, "You are welcome.");
        for (i = 0; i < k; i++) (void)go_on(&s);
        move(&s);
        for (i = 0; i < 3 * STEPS_MOST && go_on(&s); i++) continue;
        dump(s.agent, got);
        if (!CHECK(strcmp(want, got) == 0)) printf("  snapshot at step %d of %d\n", k, n);
        last = phi_thread_count(phi_agent_thread(s.agent)) - 1;
        CHECK_EQ_INT(phi_thread_entry(phi_agent_thread(s.agent), last, &e), PHI_OK);
        CHECK(e.kind == PHI_ENTRY_REWRITE && strcmp(e.rewrite->op_id, "later") == 0);
        CHECK_EQ_STR(e.rewrite->meta, "{\"why\": 1}");
        CHECK_EQ_INT(e.rewrite->base_seq, 5);
        CHECK(e.rewrite->span_count == 1 && e.rewrite->spans[0].summary);
        CHECK_STR(phi_thread_get_info(phi_agent_thread(s.agent)).lane, "evening");
        end(&s);
    }
}

TEST(a_rewrite_that_waits_is_written_again_as_it_was) {
    story s;
    phi_str first = phi_str_of(""), second = phi_str_of("");
    phi_agent_desc desc;
    phi_agent again;
    phi_rewrite bare = PHI_ZERO;
    int i;
    begin(&s);
    for (i = 0; i < 8; i++) (void)go_on(&s);
    desc = story_desc(&s);
    ask_for_later(s.agent, NULL);
    for (i = 0; i < 2; i++) { /* and one of which nothing is said */
        CHECK_EQ_INT(phi_agent_snapshot(s.agent, &s.arena, &first), PHI_OK);
        CHECK((strstr(first.at, "\"put_off\":{\"lane\":\"default\",\"op_id\":\"later\"") != NULL) ==
              (i == 0));
        CHECK((strstr(first.at, "\"put_off\":{\"op_id\":\"op-") != NULL) == (i == 1)); /* made */
        again = phi_agent_restore(rig_runtime(s.r), &desc, first, PHI_RESTORE_RESUME);
        CHECK(again.rt != NULL);
        CHECK_EQ_INT(phi_agent_snapshot(again, &s.arena, &second), PHI_OK);
        CHECK_STR(second, first.at);
        phi_agent_free(again);
        CHECK_EQ_INT(phi_agent_rewrite(s.agent, &bare), PHI_OK);
    }
    end(&s);
}

/* Asked for by the last hook, which waits: the run is over as far as the text goes. */
TEST(a_rewrite_that_waits_for_no_run_is_done_with_the_restore) {
    rig *r = rig_new(), *other = rig_new();
    phi_agent_desc desc = rig_desc(), fresh = rig_desc();
    phi_memory memory;
    phi_arena arena;
    phi_agent agent;
    phi_str text = phi_str_of("");
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    rig_hooks(r, &desc, PHI_HOOK_AFTER_LOOP);
    rig_answers(r, PHI_HOOK_AFTER_LOOP, PHI_WAIT, NULL);
    agent = rig_agent(r, &desc);
    rig_says(r, "Well.");
    CHECK_EQ_INT(phi_prompt(agent, "Go"), PHI_OK);
    (void)rig_run(r, 10);
    ask_for_later(agent, "evening");
    CHECK_STR(phi_thread_get_info(phi_agent_thread(agent)).lane, "default");
    CHECK_EQ_INT(phi_agent_snapshot(agent, &arena, &text), PHI_OK);
    agent = phi_agent_restore(rig_runtime(other), &fresh, text, PHI_RESTORE_RESUME);
    CHECK(agent.rt != NULL);
    CHECK_STR(phi_thread_get_info(phi_agent_thread(agent)).lane, "evening");
    (void)rig_run(other, 2);
    CHECK(strstr(rig_story(other), "Rewrite") != NULL);
    phi_arena_free(&arena);
    rig_free(r);
    rig_free(other);
}

/* The limit holds for what comes after. */
TEST(messages_that_wait_in_a_snapshot_are_kept_whatever_the_queue_limit) {
    static const char *const says[] = {"one", "two", "three"};
    rig *r = rig_new(), *other = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_allocator allocator = test_allocator();
    phi_memory memory;
    phi_arena arena;
    phi_str text = phi_str_of("");
    phi_agent agent = rig_agent(r, &desc);
    phi_content content = phi__input_text(phi_str_of("four"));
    size_t i;
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
    for (i = 0; i < PHI__COUNT(says); i++) {
        CHECK_EQ_INT(phi_follow_up(agent, says[i]), PHI_OK);
        CHECK_EQ_INT(phi_steer(agent, says[i]), PHI_OK);
    }
    CHECK_EQ_INT(phi_agent_snapshot(agent, &arena, &text), PHI_OK);
    desc.input.queue_limit = 1;
    agent = phi_agent_restore(rig_runtime(other), &desc, text, PHI_RESTORE_RESUME);
    if (CHECK(agent.rt != NULL)) {
        CHECK_EQ_INT(phi_agent_get_info(agent).follow_ups, 3);
        CHECK_EQ_INT(phi_agent_get_info(agent).steering, 3);
        CHECK_EQ_INT(enqueue_blocks(agent, PHI_INPUT_FOLLOW_UP, &content, 1, NULL), PHI_FULL);
        for (i = 0; i < 8; i++) rig_says(other, "Well.");
        CHECK_EQ_INT(phi_prompt(agent, "Go"), PHI_OK);
        CHECK_EQ_INT(rig_run(other, 60), 0);
        CHECK_EQ_INT(phi_agent_get_info(agent).queued, 0);
        CHECK_EQ_INT(enqueue_blocks(agent, PHI_INPUT_FOLLOW_UP, &content, 1, NULL), PHI_OK);
        CHECK_EQ_INT(enqueue_blocks(agent, PHI_INPUT_FOLLOW_UP, &content, 1, NULL), PHI_FULL);
    }
    phi_arena_free(&arena);
    rig_free(r);
    rig_free(other);
}

TEST(an_interrupted_run_ends_and_the_agent_can_be_prompted) {
    story s;
    phi_str text = phi_str_of("");
    phi_agent_desc desc;
    size_t n;
    int i;
    begin(&s);
    for (i = 0; i < STEPS_MOST && rig_started(s.r) == 0; i++) (void)go_on(&s);
    CHECK_EQ_INT(phi_agent_snapshot(s.agent, &s.arena, &text), PHI_OK);
    rig_free(s.r);
    s.r = rig_new();
    desc = story_desc(&s);
    s.agent = phi_agent_restore(rig_runtime(s.r), &desc, text, PHI_RESTORE_INTERRUPT);
    CHECK(s.agent.rt != NULL);
    CHECK(phi_agent_get_info(s.agent).running);
    CHECK_EQ_INT(rig_run(s.r, 40), 0);
    n = phi_thread_message_count(phi_agent_thread(s.agent));
    CHECK(phi_thread_message_at(phi_agent_thread(s.agent), n - 1)->role == PHI_ROLE_TOOL_RESULT);
    CHECK_EQ_INT(phi_agent_get_info(s.agent).follow_ups, 1); /* it was not delivered */
    CHECK_EQ_INT(phi_queue_clear(s.agent, PHI_INPUT_NONE), PHI_OK);
    rig_says(s.r, "Here I am.");
    CHECK_EQ_INT(phi_prompt(s.agent, "Are you there?"), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 40), 0);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(s.agent),
                                    phi_thread_message_count(phi_agent_thread(s.agent)) - 1)
                  ->content[0]
                  .text,
              "Here I am.");
    CHECK_STR(phi_agent_get_info(s.agent).loop_id, "game.anthropic.test-model.3");
    end(&s);
}

/* ---- tools that take up their work ---- */

typedef struct forge {
    int starts, resumes;
    char arguments[40];
} forge;

static phi_flow forge_start(void *user_data, phi_call call, phi_str arguments) {
    forge *f = (forge *)user_data;
    (void)call;
    (void)arguments;
    f->starts++;
    return PHI_PENDING;
}

static phi_flow forge_step(void *user_data, phi_call call) {
    forge *f = (forge *)user_data;
    if (f->resumes == 0) return PHI_PENDING;
    (void)phi_call_reply(call, "done");
    return PHI_DONE;
}

static phi_flow forge_resume(void *user_data, phi_call call, phi_str arguments) {
    forge *f = (forge *)user_data;
    CHECK(phi_call_get_info(call).pending);
    f->resumes++;
    (void)snprintf(f->arguments, sizeof f->arguments, "%.*s", (int)arguments.len, arguments.at);
    return PHI_PENDING;
}

/* The text with the last `from` in it made `to`; caller frees it. */
static char *changed(phi_str text, const char *from, const char *to) {
    const char *at = NULL, *next = strstr(text.at, from);
    char *out = (char *)malloc(text.len + strlen(to) + 1);
    size_t n;
    for (; next != NULL; next = strstr(next + 1, from)) at = next;
    if (out == NULL || !CHECK(at != NULL)) abort();
    n = (size_t)(at - text.at);
    memcpy(out, text.at, n);
    (void)sprintf(out + n, "%s%s", to, at + strlen(from));
    return out;
}

static const phi_message *resumed(bool has_resume, const char *from, const char *to, forge *f) {
    static rig *other;
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = PHI_ZERO;
    phi_memory memory;
    phi_arena arena;
    phi_agent agent;
    phi_str text = phi_str_of("");
    char *now;
    static phi_message result;
    static char words[100];
    tool.name = "forge";
    tool.start = forge_start;
    tool.step = forge_step;
    tool.resume = has_resume ? forge_resume : NULL;
    tool.user_data = f;
    memset(f, 0, sizeof *f);
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    desc.tools = &tool;
    desc.tool_count = 1;
    agent = rig_agent(r, &desc);
    rig_call(r, "c1", "forge", "{\"metal\":\"iron\"}");
    CHECK_EQ_INT(phi_prompt(agent, "Go"), PHI_OK);
    (void)rig_run(r, 10);
    CHECK_EQ_INT(f->starts, 1);
    CHECK_EQ_INT(phi_agent_snapshot(agent, &arena, &text), PHI_OK);
    rig_free(r);
    other = rig_new();
    now = changed(text, from, to);
    agent = phi_agent_restore(rig_runtime(other), &desc, phi_str_of(now), PHI_RESTORE_RESUME);
    free(now);
    CHECK(agent.rt != NULL);
    CHECK_EQ_INT(f->resumes, 0); /* not before the first step */
    rig_says(other, "Well.");
    CHECK_EQ_INT(rig_run(other, 20), 0);
    CHECK_EQ_INT(f->starts, 1);
    CHECK((strstr(rig_story(other), "A call of forge was interrupted by the restore: the tool "
                                    "has no resume") == NULL) == has_resume);
    result = *phi_thread_message_at(phi_agent_thread(agent), 2);
    (void)snprintf(words, sizeof words, "%.*s", (int)result.content[0].text.len,
                   result.content[0].text.at);
    result.error_message = phi_str_of(words);
    phi_arena_free(&arena);
    rig_free(other);
    return &result;
}

TEST(a_tool_takes_up_its_call_with_the_arguments_it_had) {
    forge f;
    const phi_message *result = resumed(true, "forge", "forge", &f);
    CHECK_EQ_INT(f.resumes, 1);
    CHECK_EQ_STR(f.arguments, "{\"metal\":\"iron\"}");
    CHECK(!result->is_error);
    CHECK_STR(result->error_message, "done");
}

TEST(a_tool_that_works_in_steps_and_cannot_resume_fails_its_call) {
    forge f;
    const phi_message *result = resumed(false, "forge", "forge", &f);
    CHECK_EQ_INT(f.resumes, 0);
    CHECK(result->is_error);
    CHECK_STR(result->error_message,
              "Interrupted: the program was started anew while this tool ran");
}

TEST(arguments_that_were_tampered_with_are_not_taken_up) {
    static const char was[] = "{\\\"metal\\\":\\\"iron\\\"}";
    forge f;
    const phi_message *result = resumed(true, was, "", &f);
    CHECK_EQ_INT(f.resumes, 0);
    CHECK(result->is_error);
    CHECK(strstr(result->error_message.at, "Invalid arguments: not JSON") != NULL);
    result = resumed(true, was, "[1]", &f);
    CHECK_EQ_INT(f.resumes, 0);
    CHECK_STR(result->error_message, "Invalid arguments: expected object, got array");
}

/* ---- tools whose calls keep their state ---- */

typedef struct kiln {
    char seen[40]; /* what resume found */
} kiln;

static phi_flow kiln_start(void *user_data, phi_call call, phi_str arguments) {
    char *state = (char *)phi_call_state(call, 16);
    (void)user_data;
    (void)arguments;
    if (state != NULL) memcpy(state, "hot\0\xff 1,200 C", sizeof "hot\0\xff 1,200 C");
    return PHI_PENDING;
}

static phi_flow kiln_resume(void *user_data, phi_call call, phi_str arguments) {
    kiln *k = (kiln *)user_data;
    const char *state = (const char *)phi_call_state(call, 16);
    (void)arguments;
    (void)snprintf(k->seen, sizeof k->seen, "%s|%s", state != NULL ? state : "none",
                   state != NULL && state[3] == '\0' && state[4] == '\xff' ? state + 5 : "");
    CHECK(phi_call_state(call, 17) == NULL);
    (void)phi_call_reply(call, "fired");
    return PHI_DONE;
}

/* Saves in the midst of the call, and loads with `from` made `to`. PHI_OK: resume has run. */
static phi_status kiln_restored(bool saves, bool loads, const char *from, const char *to, kiln *k) {
    rig *r = rig_new(), *other = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = PHI_ZERO;
    phi_memory memory;
    phi_arena arena;
    phi_agent agent;
    phi_str text = phi_str_of("");
    phi_status status = PHI_OK;
    char *now;
    tool.name = "kiln";
    tool.start = kiln_start;
    tool.resume = kiln_resume;
    tool.keeps_state = saves;
    tool.user_data = k;
    memset(k, 0, sizeof *k);
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    desc.tools = &tool;
    desc.tool_count = 1;
    agent = rig_agent(r, &desc);
    rig_call(r, "c1", "kiln", "{}");
    CHECK_EQ_INT(phi_prompt(agent, "Go"), PHI_OK);
    (void)rig_run(r, 10);
    CHECK_EQ_INT(phi_agent_snapshot(agent, &arena, &text), PHI_OK);
    tool.keeps_state = loads;
    now = changed(text, from, to);
    agent = phi_agent_restore(rig_runtime(other), &desc, phi_str_of(now), PHI_RESTORE_RESUME);
    free(now);
    if (agent.rt == NULL)
        status = phi_last_error(rig_runtime(other)).status;
    else {
        rig_says(other, "Well.");
        CHECK_EQ_INT(rig_run(other, 20), 0);
    }
    phi_arena_free(&arena);
    rig_free(r);
    rig_free(other);
    return status;
}

TEST(a_call_has_the_bytes_that_its_tool_kept_also_after_a_restore) {
    kiln k;
    CHECK_EQ_INT(kiln_restored(true, true, "kiln", "kiln", &k), PHI_OK);
    CHECK_EQ_STR(k.seen, "hot| 1,200 C");
}

TEST(a_call_whose_tool_keeps_nothing_begins_with_zeros) {
    kiln k;
    CHECK_EQ_INT(kiln_restored(false, true, "kiln", "kiln", &k), PHI_OK);
    CHECK_EQ_STR(k.seen, "|");
    CHECK_EQ_INT(kiln_restored(true, false, "kiln", "kiln", &k), PHI_OK);
    CHECK_EQ_STR(k.seen, "|");
}

TEST(kept_bytes_that_were_tampered_with_make_no_agent) {
    kiln k;
    CHECK_EQ_INT(kiln_restored(true, true, "\"state\":\"aG90", "\"state\":\"aG9!", &k), PHI_PARSE);
    CHECK_EQ_STR(k.seen, "");
}

/* Its answer stands beside calls that were not run, and a hook is asked for steering when it is saved. */
TEST(an_answer_that_was_given_is_still_given_after_a_restore) {
    static const char *const calls[] = {"c1 echo {}", "c2 respond_json {}"};
    rig *r = rig_new(), *other = rig_new();
    phi_tool echo = rig_echo();
    phi_agent_desc desc = rig_desc();
    phi_memory memory;
    phi_arena arena;
    phi_agent agent;
    phi_str text = phi_str_of("");
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    desc.tools = &echo;
    desc.tool_count = 1;
    desc.format.kind = PHI_FORMAT_JSON_OBJECT;
    rig_hooks(r, &desc, PHI_HOOK_STEERING);
    rig_answers(r, PHI_HOOK_STEERING, PHI_ALLOW, NULL);
    rig_answers(r, PHI_HOOK_STEERING, PHI_WAIT, NULL);
    agent = rig_agent(r, &desc);
    rig_calls(r, calls, 2);
    CHECK_EQ_INT(phi_prompt(agent, "Go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 1);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 3);
    CHECK_EQ_INT(phi_agent_snapshot(agent, &arena, &text), PHI_OK);
    CHECK(strstr(text.at, "\"state\":\"tools\"") != NULL);
    rig_hooks(other, &desc, PHI_HOOK_STEERING);
    agent = phi_agent_restore(rig_runtime(other), &desc, text, PHI_RESTORE_RESUME);
    CHECK(agent.rt != NULL);
    rig_says(other, "Not wanted.");
    CHECK_EQ_INT(rig_run(other, 20), 0);
    CHECK_EQ_INT(rig_requests(other), 0);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 3);
    phi_arena_free(&arena);
    rig_free(r);
    rig_free(other);
}

/* ---- restores that fail ---- */

/* Two calls that wait, as a text. */
static phi_str two_wait(rig *r, phi_arena *arena, const phi_tool *tool, phi_agent_desc *desc) {
    static const char *const calls[] = {"c1 wait {}", "c2 wait {}"};
    phi_agent agent;
    phi_str text = phi_str_of("");
    desc->tools = tool;
    desc->tool_count = 1;
    agent = rig_agent(r, desc);
    rig_calls(r, calls, 2);
    CHECK_EQ_INT(phi_prompt(agent, "Go"), PHI_OK);
    (void)rig_run(r, 10);
    CHECK_EQ_INT(rig_started(r), 2);
    CHECK_EQ_INT(phi_agent_snapshot(agent, arena, &text), PHI_OK);
    return text;
}

typedef struct waiting {
    rig *r, *other;
    phi_memory memory;
    phi_arena arena;
    phi_tool tool;
    phi_agent_desc desc;
    phi_str text;
} waiting;

static void wait_begin(waiting *w) {
    memset(w, 0, sizeof *w);
    w->r = rig_new();
    w->other = rig_new();
    phi_memory_init(&w->memory, NULL, 0);
    phi_arena_init(&w->arena, &w->memory, 0);
    w->desc = rig_desc();
    w->tool = rig_wait(w->r);
    w->text = two_wait(w->r, &w->arena, &w->tool, &w->desc);
    w->tool = rig_wait(w->other);
}

static void wait_end(waiting *w) {
    phi_arena_free(&w->arena);
    rig_free(w->r);
    rig_free(w->other);
}

/* What is said of the text with a change. */
static const char *said_of(waiting *w, const char *from, const char *to) {
    char *text = changed(w->text, from, to);
    const char *words = "";
    phi_agent agent =
        phi_agent_restore(rig_runtime(w->other), &w->desc, phi_str_of(text), PHI_RESTORE_RESUME);
    free(text);
    if (agent.rt != NULL) return "it was made";
    words = phi_last_error(rig_runtime(w->other)).message;
    return words;
}

TEST(a_restore_that_fails_cancels_no_call) {
    waiting w;
    int n = 0;
    bool tripped = true;
    wait_begin(&w);
    CHECK_EQ_STR(said_of(&w, "\"id\":\"c2\",\"name\"", "\"id\":\"c3\",\"name\""),
                 "phi_agent_restore: the snapshot does not fit together");
    CHECK_EQ_INT(rig_cancelled(w.other), 0);
    for (; tripped; n++) {
        phi_agent agent;
        test_alloc_fail_at(n);
        agent = phi_agent_restore(rig_runtime(w.other), &w.desc, w.text, PHI_RESTORE_RESUME);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK(agent.rt != NULL || tripped);
        phi_agent_free(agent);
        CHECK_EQ_INT(rig_cancelled(w.other), 0); /* no tool has taken it up yet */
    }
    CHECK(n > 20);
    wait_end(&w);
}

/* For people and programs that look into a saved game. */
TEST(a_call_that_waits_is_saved_with_the_name_of_its_tool) {
    waiting w;
    const char *calls;
    wait_begin(&w);
    calls = strstr(w.text.at, "\"calls\":[");
    REQUIRE(calls != NULL);
    CHECK(strstr(calls, "\"calls\":[{\"id\":\"c1\",\"name\":\"wait\",\"arguments\":\"{}\",") ==
          calls);
    CHECK(strstr(calls, "{\"id\":\"c2\",\"name\":\"wait\",\"arguments\":\"{}\",") != NULL);
    wait_end(&w);
}

TEST(calls_that_contradict_themselves_or_the_log_are_refused) {
    static const char *const changes[][2] = {
        {"\"told\":true,\"started\":true", "\"told\":true"}, /* nobody would ever finish it */
        {"\"told\":true,\"started\":true", "\"started\":true"},
        {"\"begun\":true,\"asked\":true", "\"asked\":true"},
        {"\"started\":true", "\"started\":true,\"ended\":true"},
        {"\"started\":true", "\"started\":true,\"after\":true"},
        {"\"told_calls\":0", "\"told_calls\":1"}, /* its result is not in the log */
        {"\"next_call\":2", "\"next_call\":1"},
        {"\"first_message\":0", "\"first_message\":2"}, /* told before they began */
        {"\"state\":\"tools\"", "\"state\":\"turn_end\""}};
    waiting w;
    size_t i;
    wait_begin(&w);
    for (i = 0; i < sizeof changes / sizeof changes[0]; i++)
        if (!CHECK_EQ_STR(said_of(&w, changes[i][0], changes[i][1]),
                          "phi_agent_restore: the snapshot does not fit together"))
            printf("  change %u\n", (unsigned)i);
    CHECK_EQ_INT(rig_cancelled(w.other), 0);
    wait_end(&w);
}

static phi_runtime *stepped;

static phi_status steps(void *user_data, const char *thread_id, uint64_t from,
                        phi_status (*each)(void *ctx, uint64_t seq, phi_str entry), void *ctx,
                        uint64_t *torn, char *words, size_t words_size) {
    store_mem *store = (store_mem *)user_data;
    const phi_store *real = store_mem_store(store);
    CHECK_EQ_INT(phi_step(stepped, 0), PHI_MISUSE);
    return real->read(real->user_data, thread_id, from, each, ctx, torn, words, words_size);
}

TEST(a_restore_that_fails_leaves_its_store_as_it_was) {
    waiting w;
    store_mem *store = store_mem_new();
    phi_store mine = *store_mem_store(store);
    phi_agent agent;
    wait_begin(&w);
    CHECK(mine.user_data == store);
    mine.read = steps;
    stepped = rig_runtime(w.other);
    w.desc.store = &mine;
    w.desc.thread_id = "smith";
    CHECK_EQ_STR(said_of(&w, "\"id\":\"c2\",\"name\"", "\"id\":\"c3\",\"name\""),
                 "phi_agent_restore: the snapshot does not fit together");
    CHECK_EQ_INT(store_mem_count(store, "smith"), 0);
    CHECK(!store_mem_locked(store, "smith"));
    agent = phi_agent_restore(rig_runtime(w.other), &w.desc, w.text, PHI_RESTORE_RESUME);
    CHECK(agent.rt != NULL);
    phi_agent_free(agent);
    CHECK(store_mem_count(store, "smith") > 3);
    wait_end(&w);
    store_mem_free(store);
}

/* ---- decisions ---- */

TEST(a_decision_that_was_waited_for_is_asked_for_again) {
    rig *r = rig_new(), *other = rig_new();
    phi_agent_desc desc = rig_desc(), fresh = rig_desc();
    phi_tool echo = rig_echo();
    phi_memory memory;
    phi_arena arena;
    phi_agent agent;
    phi_str text = phi_str_of("");
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    desc.tools = fresh.tools = &echo;
    desc.tool_count = fresh.tool_count = 1;
    rig_hooks(r, &desc, PHI_HOOK_BEFORE_TOOL);
    rig_hooks(other, &fresh, PHI_HOOK_BEFORE_TOOL);
    rig_answers(r, PHI_HOOK_BEFORE_TOOL, PHI_WAIT, NULL);
    rig_answers(other, PHI_HOOK_BEFORE_TOOL, PHI_WAIT, NULL);
    agent = rig_agent(r, &desc);
    rig_call(r, "c1", "echo", "{}");
    CHECK_EQ_INT(phi_prompt(agent, "Go"), PHI_OK);
    (void)rig_run(r, 10);
    CHECK_EQ_INT(phi_agent_snapshot(agent, &arena, &text), PHI_OK);
    agent = phi_agent_restore(rig_runtime(other), &fresh, text, PHI_RESTORE_RESUME);
    CHECK(agent.rt != NULL);
    (void)rig_run(other, 5);
    CHECK_EQ_INT(phi_decide(rig_ticket(other, 0), PHI_DENY, "Not in here"), PHI_OK);
    rig_says(other, "As you wish.");
    CHECK_EQ_INT(rig_run(other, 20), 0);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 2)->content[0].text, "Not in here");
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 3)->content[0].text, "As you wish.");
    phi_arena_free(&arena);
    rig_free(r);
    rig_free(other);
}

/* How a run ended: AGENT_END's status, and its failure's kind, code and message. */
typedef struct ending {
    int errors, ends;
    phi_status status;
    char failure[200];
} ending;

static void hear_ending(void *user_data, const phi_event *e) {
    ending *h = (ending *)user_data;
    h->errors += e->kind == PHI_EV_ERROR;
    if (e->kind != PHI_EV_AGENT_END || !CHECK(e->failure != NULL)) return;
    h->ends++;
    h->status = e->status;
    (void)snprintf(h->failure, sizeof h->failure, "%d %d %.*s %.*s", (int)e->failure->kind,
                   e->failure->http_status, (int)e->failure->code.len, e->failure->code.at,
                   (int)e->failure->message.len, e->failure->message.at);
}

/* Saved while its hook waits. What was told of the failure is not told again. */
TEST(a_run_that_failed_ends_as_it_would_have_after_a_restore) {
    rig *r = rig_new(), *other = rig_new();
    phi_agent_desc desc = rig_desc(), fresh = rig_desc();
    phi_memory memory;
    phi_arena arena;
    phi_agent agent;
    phi_str text = phi_str_of("");
    char *changed_text;
    ending was = PHI_ZERO, now = PHI_ZERO;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    rig_hooks(r, &desc, PHI_HOOK_ON_ERROR);
    rig_hooks(other, &fresh, PHI_HOOK_ON_ERROR);
    rig_answers(r, PHI_HOOK_ON_ERROR, PHI_WAIT, NULL);
    rig_watch(r, hear_ending, &was);
    rig_watch(other, hear_ending, &now);
    agent = rig_agent(r, &desc);
    rig_replies(r, 400, "Content-Type: application/json\r\n",
                "{\"type\":\"error\",\"error\":{\"type\":\"bad\",\"message\":\"no sword\"}}");
    CHECK_EQ_INT(phi_prompt(agent, "Go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 1);
    CHECK_EQ_INT(phi_agent_snapshot(agent, &arena, &text), PHI_OK);
    CHECK_EQ_INT(phi_decide(rig_ticket(r, 0), PHI_ALLOW, NULL), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    agent = phi_agent_restore(rig_runtime(other), &fresh, text, PHI_RESTORE_RESUME);
    CHECK(agent.rt != NULL);
    CHECK_EQ_INT(rig_run(other, 20), 0);
    CHECK(strstr(rig_story(other), "-> on_error") != NULL);
    CHECK(was.errors == 1 && was.ends == 1);
    CHECK(now.errors == 0 && now.ends == 1);
    CHECK(was.status != PHI_OK);
    CHECK_EQ_INT(now.status, was.status);
    CHECK_EQ_STR(now.failure, was.failure);
    CHECK(strstr(was.failure, "no sword") != NULL);
    changed_text = changed(text, "\"failure\":{", "\"no_failure\":{"); /* nothing to end with */
    CHECK(
        phi_agent_restore(rig_runtime(other), &fresh, phi_str_of(changed_text), PHI_RESTORE_RESUME)
            .rt == NULL);
    free(changed_text);
    phi_arena_free(&arena);
    rig_free(r);
    rig_free(other);
}

/* Saved while a filter looks at it, and loaded an hour later. */
TEST(a_prompt_is_of_the_time_when_it_was_said_also_after_a_restore) {
    rig *r = rig_new(), *other = rig_new();
    phi_agent_desc desc = rig_desc(), fresh = rig_desc();
    phi_filter filter = rig_filter(r), passes = rig_filter(other);
    phi_memory memory;
    phi_arena arena;
    phi_agent agent;
    phi_str text = phi_str_of("");
    phi_entry was, now;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    desc.input.filters = &filter;
    fresh.input.filters = &passes;
    desc.input.filter_count = fresh.input.filter_count = 1;
    rig_answers(r, PHI_HOOK_FILTER, PHI_WAIT, NULL);
    agent = rig_agent(r, &desc);
    CHECK_EQ_INT(phi_prompt(agent, "Go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 1);
    CHECK_EQ_INT(phi_agent_snapshot(agent, &arena, &text), PHI_OK);
    rig_says(r, "Well.");
    CHECK_EQ_INT(phi_decide(rig_ticket(r, 0), PHI_ALLOW, NULL), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(phi_thread_entry(phi_agent_thread(agent), 1, &was), PHI_OK);
    CHECK_EQ_INT(was.kind, PHI_ENTRY_MESSAGE);
    rig_pass_ms(other, 3600000);
    agent = phi_agent_restore(rig_runtime(other), &fresh, text, PHI_RESTORE_RESUME);
    REQUIRE(agent.rt != NULL);
    rig_says(other, "Well.");
    CHECK_EQ_INT(rig_run(other, 20), 0);
    CHECK_EQ_INT(phi_thread_entry(phi_agent_thread(agent), 1, &now), PHI_OK);
    CHECK_EQ_INT(now.kind, PHI_ENTRY_MESSAGE);
    CHECK_STR(now.message->content[0].text, "Go");
    CHECK_EQ_INT(now.at_ms, was.at_ms);
    CHECK_EQ_INT(now.message->timestamp_ms, was.message->timestamp_ms);
    phi_arena_free(&arena);
    rig_free(r);
    rig_free(other);
}

/* Nor is one that was let through saved a second time, beside the log. A step without a budget does
   one state. */
TEST(a_prompt_that_a_filter_rejected_is_in_no_snapshot) {
    static const phi_verdict verdicts[] = {PHI_DENY, PHI_ALLOW};
    size_t i;
    for (i = 0; i < PHI__COUNT(verdicts); i++) {
        rig *r = rig_new();
        phi_filter filter = rig_filter(r);
        phi_agent_desc desc = rig_desc();
        phi_memory memory;
        phi_agent agent;
        int before = 0, after = 0, runs = 1;
        rig_runtime(r)->slice.budget_us = 0;
        desc.input.filters = &filter;
        desc.input.filter_count = 1;
        rig_answers(r, PHI_HOOK_FILTER, verdicts[i], NULL);
        rig_says(r, "Well.");
        agent = rig_agent(r, &desc);
        phi_memory_init(&memory, NULL, 0);
        CHECK_EQ_INT(phi_prompt(agent, "The password is swordfish"), PHI_OK);
        while (runs > 0 && before + after < 100) {
            phi_arena arena;
            phi_str text = phi_str_of("");
            phi_arena_init(&arena, &memory, 0);
            runs = rig_run(r, 1);
            CHECK_EQ_INT(phi_agent_snapshot(agent, &arena, &text), PHI_OK);
            if (strstr(rig_story(r), "-> filter") == NULL) {
                CHECK(strstr(text.at, "\"prompts\":") != NULL);
                before++;
            } else {
                CHECK(strstr(text.at, "\"prompts\":") == NULL);
                CHECK_EQ_INT(strstr(text.at, "swordfish") != NULL, verdicts[i] == PHI_ALLOW);
                after++;
            }
            phi_arena_free(&arena);
        }
        CHECK(runs == 0 && before > 0 && after > 1);
        rig_free(r);
    }
}

/* Saved after each state of a run whose limit is reached: the loaded run ends with the same words. */
TEST(a_run_that_was_saved_at_its_limit_says_which_after_loading) {
    rig *r = rig_new();
    phi_tool tool = rig_wait(r);
    phi_agent_desc desc = rig_desc();
    phi_memory memory;
    phi_agent agent;
    int ends = 0, runs = 1, stopped = 0;
    phi_memory_init(&memory, NULL, 0);
    rig_runtime(r)->slice.budget_us = 0;
    desc.tools = &tool;
    desc.tool_count = 1;
    desc.limits.max_turns = 1;
    agent = rig_agent(r, &desc);
    rig_call(r, "c1", "wait", "{}");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    while (rig_started(r) == 0) CHECK_EQ_INT(rig_run(r, 1), 1);
    rig_finish(r, 0, "ok");
    for (int i = 0; i < STEPS_MOST && runs > 0; i++) {
        phi_arena arena;
        phi_str text;
        phi_event ev;
        phi_runtime *other = phi_runtime_new(NULL);
        phi_agent_desc plain = desc;
        phi_arena_init(&arena, &memory, 0);
        runs = rig_run(r, 1);
        CHECK_EQ_INT(phi_agent_snapshot(agent, &arena, &text), PHI_OK);
        stopped += strstr(text.at, "\"state\":\"close\"") != NULL;
        CHECK(phi_agent_restore(other, &plain, text, PHI_RESTORE_RESUME).rt != NULL);
        for (int k = 0; k < STEPS_MOST; k++) (void)phi_step(other, 0);
        while (phi_next_event(other, &ev))
            if (ev.kind == PHI_EV_AGENT_END) {
                CHECK_EQ_INT(ev.status, PHI_LIMIT);
                CHECK_STR(ev.text, "Max turns reached (1/1)");
                ends++;
            }
        phi_runtime_free(other);
        phi_arena_free(&arena);
    }
    CHECK(runs == 0 && stopped > 0 && ends > stopped);
    rig_free(r);
}

/* ---- what it has spent, and lanes ---- */

TEST(spending_lanes_and_rewrites_come_back) {
    story s;
    phi_str text = phi_str_of("");
    phi_agent_desc desc;
    phi_agent again;
    phi_usage before;
    int i;
    begin(&s);
    for (i = 0; i < 3 * STEPS_MOST && go_on(&s); i++) continue;
    before = phi_agent_get_info(s.agent).usage;
    CHECK_EQ_INT(phi_thread_fork_lane(phi_agent_thread(s.agent), "other", NULL, 5), PHI_OK);
    CHECK_EQ_INT(phi_thread_switch(phi_agent_thread(s.agent), "other"), PHI_OK);
    CHECK_EQ_INT(phi_agent_snapshot(s.agent, &s.arena, &text), PHI_OK);
    desc = story_desc(&s);
    again = phi_agent_restore(rig_runtime(s.r), &desc, text, PHI_RESTORE_RESUME);
    CHECK(again.rt != NULL);
    CHECK(!phi_agent_get_info(again).running);
    CHECK_STR(phi_thread_get_info(phi_agent_thread(again)).lane, "other");
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(again)),
                 phi_thread_message_count(phi_agent_thread(s.agent)));
    CHECK_EQ_INT(phi_agent_get_info(again).usage.total_tokens, before.total_tokens);
    CHECK(before.total_tokens > 0);
    CHECK_STR(phi_agent_get_info(again).session_id, "game");
    CHECK_STR(phi_agent_get_info(again).agent_id, "smith");
    end(&s);
}

/* ---- what is none ---- */

static bool restores(rig *r, const phi_agent_desc *desc, phi_str text) {
    phi_agent agent = phi_agent_restore(rig_runtime(r), desc, text, PHI_RESTORE_RESUME);
    if (agent.rt == NULL) return false;
    (void)rig_run(r, 20); /* whatever it is: no crash, and it can be freed */
    phi_agent_free(agent);
    return true;
}

TEST(a_text_that_is_cut_or_changed_is_refused_or_harmless) {
    story s;
    phi_str text = phi_str_of("");
    phi_agent_desc desc;
    uint32_t seed = 7;
    size_t i;
    begin(&s);
    for (i = 0; i < STEPS_MOST && rig_started(s.r) == 0; i++) (void)go_on(&s);
    ask_for_later(s.agent, "evening");
    CHECK_EQ_INT(phi_agent_snapshot(s.agent, &s.arena, &text), PHI_OK);
    desc = story_desc(&s);
    rig_silent(s.r, true);
    for (i = 0; i < text.len; i += 37) CHECK(!restores(s.r, &desc, phi__str(text.at, i)));
    for (i = 0; i < 400; i++) {
        char *text_now = (char *)malloc(text.len + 1);
        size_t at = test_random(&seed) % text.len;
        memcpy(text_now, text.at, text.len + 1);
        text_now[at] = "0129{}[]\",:x"[test_random(&seed) % 12];
        (void)restores(s.r, &desc, phi_str_of(text_now));
        free(text_now);
    }
    end(&s);
}

TEST(misuse_is_said) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    const char *words = "";
    phi_agent agent;
    CHECK(phi_agent_restore(rig_runtime(r), &desc, phi_str_of("{}"), PHI_RESTORE_RESUME).rt ==
          NULL);
    words = phi_last_error(rig_runtime(r)).message;
    CHECK_EQ_STR(words, "phi_agent_restore: no snapshot");
    CHECK(phi_agent_restore(rig_runtime(r), &desc, phi_str_of("{\"phi_snapshot\":2}"),
                            PHI_RESTORE_RESUME)
              .rt == NULL);
    words = phi_last_error(rig_runtime(r)).message;
    CHECK_EQ_STR(words, "phi_agent_restore: a snapshot of version 2, expected at most 1");
    CHECK(phi_agent_restore(rig_runtime(r), NULL, phi_str_of("{}"), PHI_RESTORE_RESUME).rt == NULL);
    agent = rig_agent(r, &desc);
    CHECK_EQ_INT(phi_agent_snapshot(agent, NULL, NULL), PHI_BAD_ARG);
    phi_agent_free(agent);
    {
        phi_memory memory;
        phi_arena arena;
        phi_str text;
        phi_memory_init(&memory, NULL, 0);
        phi_arena_init(&arena, &memory, 0);
        CHECK_EQ_INT(phi_agent_snapshot(agent, &arena, &text), PHI_STALE);
        CHECK_EQ_STR(phi_last_error(rig_runtime(r)).message,
                     "phi_agent_snapshot: the agent is gone");
        phi_arena_free(&arena);
    }
    rig_free(r);
}

TEST(every_allocation_may_fail) {
    story s;
    phi_str text = phi_str_of("");
    phi_agent_desc desc;
    phi_memory memory;
    phi_arena arena;
    int n, i;
    bool tripped;
    begin(&s);
    for (i = 0; i < STEPS_MOST && rig_started(s.r) == 0; i++) (void)go_on(&s);
    ask_for_later(s.agent, "evening");
    CHECK_EQ_INT(phi_agent_snapshot(s.agent, &s.arena, &text), PHI_OK);
    desc = story_desc(&s);
    for (n = 0; n < 2000; n++) {
        phi_agent again;
        test_alloc_fail_at(n);
        again = phi_agent_restore(rig_runtime(s.r), &desc, text, PHI_RESTORE_RESUME);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        if (again.rt != NULL) {
            phi_agent_free(again);
            if (!tripped) break;
        }
    }
    CHECK(n > 20 && n < 2000);
    {
        phi_allocator allocator = test_allocator();
        phi_memory_init(&memory, &allocator, 0);
    }
    for (n = 0; n < 2000; n++) {
        phi_status status;
        phi_str out;
        phi_arena_init(&arena, &memory, 0);
        test_alloc_fail_at(n);
        status = phi_agent_snapshot(s.agent, &arena, &out);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        phi_arena_free(&arena);
        if (!tripped) break;
        CHECK_EQ_INT(status, PHI_NO_MEMORY);
    }
    CHECK(n > 1 && n < 2000);
    end(&s);
}

/* ---- what was spent before it ---- */

static void hear_usage(void *user_data, const phi_event *e) {
    uint64_t *output = (uint64_t *)user_data;
    if (e->kind == PHI_EV_AGENT_END && e->usage != NULL) output[1] = e->usage->output;
}

static phi_verdict hear_turn(void *user_data, phi_hook *hook) {
    uint64_t *output = (uint64_t *)user_data;
    if (output[0] == 0) output[0] = hook->usage->output;
    return PHI_ALLOW;
}

/* Saved while a call waits. An answer costs two cents; the limit is met by what both runtimes have spent. */
TEST(what_a_run_has_spent_is_counted_on_after_a_restore) {
    rig *r = rig_new(), *other = rig_new();
    phi_tool wait = rig_wait(r);
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    phi_memory memory;
    phi_arena arena;
    phi_str text = phi_str_of("");
    uint64_t output[2] = {0, 0};
    phi_pending_item item;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    desc.tools = &wait;
    desc.tool_count = 1;
    desc.model.cost.input = 1000.0;
    desc.model.cost.output = 2000.0;
    desc.limits.max_cost = 0.035;
    desc.hook_fn = hear_turn;
    desc.hook_points = PHI_HOOK_AFTER_TURN;
    desc.user_data = output;
    agent = rig_agent(r, &desc);
    rig_call(r, "c1", "wait", "{}");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    (void)rig_run(r, 20);
    CHECK_EQ_INT(rig_started(r), 1);
    CHECK_EQ_INT(phi_agent_snapshot(agent, &arena, &text), PHI_OK);
    wait = rig_wait(other);
    agent = phi_agent_restore(rig_runtime(other), &desc, text, PHI_RESTORE_RESUME);
    CHECK(agent.rt != NULL);
    rig_watch(other, hear_usage, output);
    rig_call(other, "c2", "wait", "{\"a\":2}");
    rig_says(other, "The limit was not met.");
    (void)rig_run(other, 20);
    CHECK_EQ_INT(phi_pending(rig_runtime(other), &item, 1), 1);
    CHECK_EQ_INT(phi_call_reply(item.call, "done"), PHI_OK);
    (void)rig_run(other, 20);
    CHECK_EQ_INT(output[0], 5);   /* of the turn that was saved */
    rig_finish(other, 0, "done"); /* the first that was started here */
    CHECK_EQ_INT(rig_run(other, 20), 0);
    CHECK_EQ_INT(output[1], 10);
    CHECK(strstr(rig_story(other), "Max cost reached ($0.0400/$0.0350)") != NULL);
    phi_arena_free(&arena);
    rig_free(r);
    rig_free(other);
}

TEST_MAIN(TEST_ENTRY(a_snapshot_at_any_step_leads_to_the_same_log),
          TEST_ENTRY(a_snapshot_goes_on_in_another_process),
          TEST_ENTRY(a_snapshot_of_a_snapshot_is_the_same_text),
          TEST_ENTRY(a_run_in_a_turn_that_has_not_said_that_it_began_is_refused),
          TEST_ENTRY(a_rewrite_that_waits_is_done_after_a_restore),
          TEST_ENTRY(a_rewrite_that_waits_is_written_again_as_it_was),
          TEST_ENTRY(a_rewrite_that_waits_for_no_run_is_done_with_the_restore),
          TEST_ENTRY(an_interrupted_run_ends_and_the_agent_can_be_prompted),
          TEST_ENTRY(a_tool_takes_up_its_call_with_the_arguments_it_had),
          TEST_ENTRY(a_tool_that_works_in_steps_and_cannot_resume_fails_its_call),
          TEST_ENTRY(a_call_has_the_bytes_that_its_tool_kept_also_after_a_restore),
          TEST_ENTRY(a_call_whose_tool_keeps_nothing_begins_with_zeros),
          TEST_ENTRY(kept_bytes_that_were_tampered_with_make_no_agent),
          TEST_ENTRY(arguments_that_were_tampered_with_are_not_taken_up),
          TEST_ENTRY(an_answer_that_was_given_is_still_given_after_a_restore),
          TEST_ENTRY(a_restore_that_fails_cancels_no_call),
          TEST_ENTRY(a_call_that_waits_is_saved_with_the_name_of_its_tool),
          TEST_ENTRY(calls_that_contradict_themselves_or_the_log_are_refused),
          TEST_ENTRY(a_restore_that_fails_leaves_its_store_as_it_was),
          TEST_ENTRY(a_decision_that_was_waited_for_is_asked_for_again),
          TEST_ENTRY(a_run_that_failed_ends_as_it_would_have_after_a_restore),
          TEST_ENTRY(a_prompt_is_of_the_time_when_it_was_said_also_after_a_restore),
          TEST_ENTRY(a_run_that_was_saved_at_its_limit_says_which_after_loading),
          TEST_ENTRY(a_prompt_that_a_filter_rejected_is_in_no_snapshot),
          TEST_ENTRY(spending_lanes_and_rewrites_come_back),
          TEST_ENTRY(a_text_that_is_cut_or_changed_is_refused_or_harmless),
          TEST_ENTRY(messages_that_wait_in_a_snapshot_are_kept_whatever_the_queue_limit),
          TEST_ENTRY(misuse_is_said), TEST_ENTRY(every_allocation_may_fail),
          TEST_ENTRY(what_a_run_has_spent_is_counted_on_after_a_restore))
