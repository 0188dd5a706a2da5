/* trace_scene.h - threads put together by hand, entry by entry: runs of turns with usage, tool calls with results, sub-agents,
   lanes and rewrites. Times are exact: every entry says how many ms it came after the one before. */
#ifndef PHI_TESTS_TRACE_TRACE_SCENE_H
#define PHI_TESTS_TRACE_TRACE_SCENE_H

#include "persist/persist_in.h"
#include "support/test.h"
#include "model/model_in.h"
#include "trace/trace.h"
#include "model/event_parts.h"

typedef struct scene {
    phi_memory memory;
    phi_thread thread;
    int64_t now;
    char loop[80], session[64], agent[40];
    const char *model, *provider;
    unsigned runs, turn, calls;
    uint32_t flags; /* of entries to come */
    int64_t early;  /* messages to come were made so many ms before they are logged */
    phi_usage turn_usage, run_usage;
    bool failed;
} scene;

static const char scene_call_format[] = "call_%s_%u";

static inline void scene_open(scene *s, const char *session) {
    phi_allocator allocator = test_allocator();
    memset(s, 0, sizeof *s);
    phi_memory_init(&s->memory, &allocator, 0);
    phi__thread_init(&s->thread, &s->memory, NULL);
    (void)snprintf(s->session, sizeof s->session, "%s", session);
    (void)snprintf(s->agent, sizeof s->agent, "coder");
    s->model = "claude-sonnet-4-5";
    s->provider = "anthropic";
    s->now = 1785600000000;
}

static inline void scene_close(scene *s) { phi__journal_free_thread(&s->thread); }

static inline phi_arena *scene_room(scene *s) { return phi__thread_room(&s->thread); }

static inline phi_str scene_str(scene *s, const char *text) {
    phi_str out = {"", 0};
    if (!phi__arena_str(scene_room(s), phi_str_of(text), &out)) s->failed = true;
    return out;
}

static inline void scene_put(scene *s, phi__entry *e, int64_t after) {
    s->now += after;
    e->at_ms = s->now;
    e->flags = (uint8_t)(e->flags | s->flags);
    e->turn_index = s->turn;
    if (e->loop_id.at == NULL) e->loop_id = scene_str(s, s->loop);
    if (!s->failed && !phi__append(&s->thread, e, 1)) s->failed = true;
    (void)phi__thread_roll(&s->thread, NULL);
}

static inline void scene_entry(scene *s, phi_entry_kind kind, int64_t after) {
    phi__entry e;
    memset(&e, 0, sizeof e);
    e.kind = kind;
    if (kind == PHI_ENTRY_TURN_START) e.trigger = PHI_TRIGGER_USER;
    scene_put(s, &e, after);
}

static inline const phi_usage *scene_usage(scene *s, const phi_usage *usage) {
    phi_usage *copy = (phi_usage *)phi__arena_zero(scene_room(s), sizeof *copy);
    if (copy == NULL)
        s->failed = true;
    else
        *copy = *usage;
    return copy;
}

/* Begins a run; system NULL: the prompt did not change. */
static inline void scene_run_of(scene *s, const char *loop, const char *parent,
                                const char *system) {
    phi__entry e;
    phi_loop_info *info;
    (void)snprintf(s->loop, sizeof s->loop, "%s", loop);
    s->turn = 0;
    memset(&s->run_usage, 0, sizeof s->run_usage);
    memset(&e, 0, sizeof e);
    info = (phi_loop_info *)phi__arena_zero(scene_room(s), sizeof *info);
    if (info == NULL) {
        s->failed = true;
        return;
    }
    info->agent_id = scene_str(s, s->agent);
    info->session_id = scene_str(s, s->session);
    info->loop_id = scene_str(s, s->loop);
    info->parent_loop_id = scene_str(s, parent != NULL ? parent : "");
    info->system_prompt = scene_str(s, system != NULL ? system : "");
    info->has_system_prompt = system != NULL;
    e.kind = PHI_ENTRY_LOOP_START;
    e.of.loop = info;
    scene_put(s, &e, 5);
}

static inline void scene_run(scene *s, const char *parent, const char *system) {
    char loop[80];
    (void)snprintf(loop, sizeof loop, "%s.m.%u", s->session, ++s->runs);
    scene_run_of(s, loop, parent, system);
}

static inline void scene_run_end(scene *s, phi_status status, phi_failure *failure, phi_keep keep) {
    phi__entry e;
    memset(&e, 0, sizeof e);
    e.kind = PHI_ENTRY_LOOP_END;
    e.status = status;
    e.keep = keep;
    e.of.failure = failure;
    e.usage = scene_usage(s, &s->run_usage);
    scene_put(s, &e, 2);
    s->turn = 0;
}

static inline void scene_message(scene *s, phi_message *m, int64_t after) {
    phi__entry e;
    m->loop_id = phi_str_of(s->loop);
    m->turn_index = s->turn;
    m->timestamp_ms = s->now + after - s->early;
    memset(&e, 0, sizeof e);
    e.kind = PHI_ENTRY_MESSAGE;
    e.message = phi__append_keep(&s->thread, m);
    if (e.message == NULL) s->failed = true;
    if (!s->failed) scene_put(s, &e, after);
}

static inline phi_content scene_text(const char *text) {
    phi_content c;
    memset(&c, 0, sizeof c);
    c.kind = PHI_CONTENT_TEXT;
    c.text = phi_str_of(text);
    return c;
}

static inline void scene_user(scene *s, const char *text) {
    phi_content c = scene_text(text);
    phi_message m;
    memset(&m, 0, sizeof m);
    m.role = PHI_ROLE_USER;
    m.content = &c;
    m.content_count = 1;
    scene_message(s, &m, 1);
}

static inline void scene_turn(scene *s) { scene_entry(s, PHI_ENTRY_TURN_START, 3); }

/* An answer: a text (NULL: none), thinking (NULL: none), and calls, "name {arguments}" each; ids are made. */
static inline void scene_answer(scene *s, const char *thinking, const char *text,
                                const char *const *calls, size_t n, int64_t took) {
    phi_content c[12];
    char ids[8][96], names[8][40];
    phi_message m;
    size_t i, k = 0;
    memset(c, 0, sizeof c);
    memset(&m, 0, sizeof m);
    if (thinking != NULL) {
        c[k].kind = PHI_CONTENT_THINKING;
        c[k++].text = phi_str_of(thinking);
    }
    if (text != NULL) c[k++] = scene_text(text);
    for (i = 0; i < n; i++, k++) {
        const char *space = strchr(calls[i], ' ');
        (void)snprintf(ids[i], sizeof ids[i], scene_call_format, s->session, ++s->calls);
        (void)snprintf(names[i], sizeof names[i], "%.*s", (int)(space - calls[i]), calls[i]);
        c[k].kind = PHI_CONTENT_TOOL_CALL;
        c[k].id = phi_str_of(ids[i]);
        c[k].name = phi_str_of(names[i]);
        c[k].arguments = phi_str_of(space + 1);
    }
    m.role = PHI_ROLE_ASSISTANT;
    m.content = c;
    m.content_count = k;
    m.stop_reason = n > 0 ? PHI_STOP_REASON_TOOL_USE : PHI_STOP_REASON_STOP;
    m.model = phi_str_of(s->model);
    m.provider = phi_str_of(s->provider);
    m.usage = s->turn_usage;
    scene_message(s, &m, took);
}

/* The result of call `nth` of all of this thread, from 1. */
static inline void scene_result(scene *s, unsigned nth, const char *name, const char *text,
                                bool bad, int64_t took) {
    phi_content c = scene_text(text);
    phi_message m;
    char id[96];
    (void)snprintf(id, sizeof id, scene_call_format, s->session, nth);
    memset(&m, 0, sizeof m);
    m.role = PHI_ROLE_TOOL_RESULT;
    m.content = &c;
    m.content_count = 1;
    m.tool_call_id = phi_str_of(id);
    m.tool_name = phi_str_of(name);
    m.is_error = bad;
    scene_message(s, &m, took);
}

static inline void scene_turn_end(scene *s) {
    phi__entry e;
    phi__message_add_usage(&s->run_usage, &s->turn_usage);
    memset(&e, 0, sizeof e);
    e.kind = PHI_ENTRY_TURN_END;
    e.usage = scene_usage(s, &s->turn_usage);
    scene_put(s, &e, 1);
    s->turn++;
}

static inline void scene_tokens(scene *s, uint64_t input, uint64_t output, uint64_t read,
                                uint64_t write) {
    phi_usage u;
    memset(&u, 0, sizeof u);
    u.input = input;
    u.output = output;
    u.cache_read = read;
    u.cache_write = write;
    u.total_tokens = input + output + read + write;
    s->turn_usage = u;
}

static inline void scene_spawn(scene *s, unsigned nth, const char *session, const char *loop) {
    phi__entry e;
    phi__child_run *spawn = (phi__child_run *)phi__arena_zero(scene_room(s), sizeof *spawn);
    char id[96];
    if (spawn == NULL) {
        s->failed = true;
        return;
    }
    (void)snprintf(id, sizeof id, scene_call_format, s->session, nth);
    spawn->tool_call_id = scene_str(s, id);
    spawn->session_id = scene_str(s, session);
    spawn->loop_id = scene_str(s, loop);
    memset(&e, 0, sizeof e);
    e.kind = PHI_ENTRY_SPAWN;
    e.of.spawn = spawn;
    scene_put(s, &e, 1);
}

/* A question and its answer, whole. */
static inline void scene_ask(scene *s, const char *question, const char *answer) {
    scene_run(s, NULL, NULL);
    scene_user(s, question);
    scene_turn(s);
    scene_answer(s, NULL, answer, NULL, 0, 900);
    scene_turn_end(s);
    scene_run_end(s, PHI_OK, NULL, PHI_KEEP_COMPLETE);
}

static inline void scene_rewrite(scene *s, phi_rewrite_reason reason, uint64_t from, uint64_t to,
                                 const char *text, const char *op_id) {
    phi_content c = scene_text(text != NULL ? text : "");
    phi_message m;
    phi_span span;
    phi_rewrite r;
    char words[200] = "";
    memset(&m, 0, sizeof m);
    memset(&span, 0, sizeof span);
    memset(&r, 0, sizeof r);
    m.role = PHI_ROLE_USER;
    m.content = &c;
    m.content_count = 1;
    span.from = from;
    span.to = to;
    span.messages = &m;
    span.message_count = text != NULL;
    span.summary = text != NULL;
    r.reason = reason;
    r.spans = &span;
    r.span_count = 1;
    r.op_id = op_id;
    s->now += 20;
    if (phi_thread_rewrite(&s->thread, &r, NULL, words, sizeof words) != PHI_OK) {
        printf("  %s\n", words);
        s->failed = true;
    }
}

/* ---- a story for people: the screenshot of README.md ---- */

static const char scene_prompt[] = "You are a careful engineer. Read before you change, run the "
                                   "tests after you have changed, and say what you did.";

static inline void scene_helper_story(scene *s) {
    const char *const calls[] = {"search {\"pattern\":\"parse_date\"}",
                                 "read_file {\"path\":\"src/date.c\"}"};
    (void)snprintf(s->agent, sizeof s->agent, "researcher");
    s->now = 1785600007400;
    scene_run_of(s, "child-1.sub.1", "s-81.m.1", "You look things up and answer in a paragraph.");
    scene_user(s, "Where is a date without a time zone read, and what is assumed?");
    scene_tokens(s, 620, 96, 0, 0);
    scene_turn(s);
    scene_answer(s, NULL, "I search for the parser.", calls, 2, 1350);
    scene_result(s, 1, "search", "src/date.c:41: bool parse_date(const char *text, date *out)",
                 false, 40);
    scene_result(s, 2, "read_file", "if (zone == NULL) zone = local_zone();", false, 12);
    scene_turn_end(s);
    scene_tokens(s, 240, 74, 610, 0);
    scene_turn(s);
    scene_answer(s, NULL,
                 "In parse_date, src/date.c line 41: without a zone the local one is assumed.",
                 NULL, 0, 1480);
    scene_turn_end(s);
    scene_run_end(s, PHI_OK, NULL, PHI_KEEP_COMPLETE);
}

static inline void scene_first_run(scene *s) {
    const char *const look[] = {"bash {\"command\":\"make test\"}",
                                "read_file {\"path\":\"tests/test_date.c\"}"};
    const char *const ask[] = {
        "researcher {\"task\":\"Where is a date without a time zone read, and what is assumed?\"}"};
    const char *const edit[] = {
        "edit_file {\"path\":\"src/date.c\",\"old\":\"local_zone()\",\"new\":\"utc_zone()\"}",
        "bash {\"command\":\"make test\"}"};
    scene_run(s, NULL, scene_prompt);
    scene_user(s,
               "The date tests fail on the build server but not here. Find out why and mend it.");
    scene_tokens(s, 1840, 132, 0, 1620);
    scene_turn(s);
    scene_answer(s, "They differ by machine, so a time zone or a locale is likely. Run them first.",
                 "I run the tests and read the one that fails.", look, 2, 2300);
    scene_result(s, 1, "bash",
                 "test_date: FAIL line 88: expected 1785542400, got 1785535200\n1 of 214 failed",
                 true, 4600);
    scene_result(s, 2, "read_file",
                 "CHECK(parse_date(\"2026-08-01\", &d) && d.unix == 1785542400);", false, 30);
    scene_turn_end(s);
    scene_tokens(s, 410, 88, 1620, 380);
    scene_turn(s);
    scene_answer(s, NULL, "Two hours apart: a time zone. I ask who reads dates without one.", ask,
                 1, 1900);
    scene_result(s, 3, "researcher",
                 "In parse_date, src/date.c line 41: without a zone the local one is assumed.",
                 false, 2930);
    scene_spawn(s, 3, "child-1", "child-1.sub.1");
    scene_turn_end(s);
    scene_tokens(s, 260, 171, 2000, 140);
    scene_turn(s);
    scene_answer(s, NULL, "The documentation says UTC. I change it and run the tests again.", edit,
                 2, 2600);
    scene_result(s, 4, "edit_file", "1 replacement in src/date.c", false, 18);
    scene_result(s, 5, "bash", "214 of 214 passed", false, 5200);
    scene_turn_end(s);
    scene_tokens(s, 190, 120, 2140, 210);
    scene_turn(s);
    scene_answer(s, NULL,
                 "Fixed: a date without a zone is read as UTC now, as the documentation says. All "
                 "214 tests pass.",
                 NULL, 0, 2100);
    scene_turn_end(s);
    scene_run_end(s, PHI_OK, NULL, PHI_KEEP_COMPLETE);
}

static inline void scene_failed_run(scene *s) {
    phi_failure *failure = (phi_failure *)phi__arena_zero(scene_room(s), sizeof *failure);
    if (failure != NULL) {
        failure->kind = PHI_FAILURE_RATE_LIMITED;
        failure->http_status = 429;
        failure->message = scene_str(s, "This request would exceed your organization's rate limit");
    }
    scene_run(s, NULL, NULL);
    scene_user(s, "Is there a release note for it?");
    scene_turn(s);
    s->now += 9000;
    scene_tokens(s, 0, 0, 0, 0);
    scene_turn_end(s);
    scene_run_end(s, PHI_LIMIT, failure, PHI_KEEP_COMPLETE);
}

/* `helper` is the thread of the sub-agent. */
static inline void scene_story(scene *s, scene *helper) {
    const char *const write[] = {
        "write_file {\"path\":\"CHANGES\",\"text\":\"Dates without a zone are UTC.\"}"};
    scene_open(s, "s-81");
    scene_open(helper, "child-1");
    scene_first_run(s);
    scene_helper_story(helper);
    s->loop[0] = '\0';
    scene_rewrite(s, PHI_REWRITE_COMPACTION, 1, 6,
                  "Before: the date tests failed on the build server, two hours off. src/date.c:41 "
                  "assumed the local zone.",
                  "sum-1");
    s->now += 60000;
    scene_failed_run(s);
    scene_tokens(s, 340, 66, 1700, 90);
    scene_run(s, NULL, NULL);
    scene_user(s, "Write it, then.");
    scene_turn(s);
    scene_answer(s, NULL, NULL, write, 1, 1700);
    scene_result(s, 6, "write_file", "CHANGES: 30 bytes", false, 22);
    scene_turn_end(s);
    scene_turn(s);
    scene_answer(s, NULL, "CHANGES has the line.", NULL, 0, 1200);
    scene_turn_end(s);
    scene_run_end(s, PHI_OK, NULL, PHI_KEEP_COMPLETE);
    if (phi_thread_fork_lane(&s->thread, "shorter", NULL, UINT64_MAX) != PHI_OK ||
        phi_thread_switch(&s->thread, "shorter") != PHI_OK)
        s->failed = true;
    scene_ask(s, "Say it in five words.", "Dates without zone are UTC.");
}

/* So many entries of ordinary size, a run for each ten turns. */
static inline void scene_many(scene *s, uint64_t entries) {
    static const char words[] = "The function reads one line at a time, keeps the last position "
                                "that was good, and returns it where the next "
                                "line is broken. Callers compare it with the length of the file "
                                "and cut the rest off. A writer that dies in "
                                "the middle of a line loses this line alone; what stood before it "
                                "is read as it was written. ";
    const char *const calls[] = {
        "read_file {\"path\":\"src/log/reader.c\",\"from\":120,\"to\":180}"};
    char text[1200];
    unsigned n = 0;
    scene_open(s, "big");
    while (phi_thread_count(&s->thread) + 6 < entries && !s->failed) {
        unsigned turn;
        scene_run(s, NULL, NULL);
        (void)snprintf(text, sizeof text, "Question %u: %s", s->runs, words);
        scene_user(s, text);
        for (turn = 0; turn < 10 && phi_thread_count(&s->thread) + 6 < entries; turn++) {
            scene_tokens(s, 300, 120, 9000, 200);
            scene_turn(s);
            (void)snprintf(text, sizeof text, "Step %u: %s", n++, words);
            scene_answer(s, NULL, text, calls, 1, 1500);
            (void)snprintf(text, sizeof text, "%s%s%s", words, words, words);
            scene_result(s, s->calls, "read_file", text, false, 60);
            scene_turn_end(s);
        }
        scene_run_end(s, PHI_OK, NULL, PHI_KEEP_COMPLETE);
        s->loop[0] = '\0';
        if (s->runs % 50 == 0) {
            uint64_t count = phi_thread_count(&s->thread);
            scene_rewrite(s, PHI_REWRITE_COMPACTION, 0, count - 30,
                          "A summary of all that stood before.", NULL);
        }
    }
    s->loop[0] = '\0';
    while (phi_thread_count(&s->thread) < entries && !s->failed) scene_user(s, words);
}

#endif
