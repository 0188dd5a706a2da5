/* test_replay_lines.c - a tape whose lines are missing, doubled, swapped or cut; tapes of version 1; and results that are
   given before their call has started. */
#include "support/update.h"
#include "base/base_in.h"
#include "record/replay.h"
#include "support/rig.h"
#include "agent/agent_history.h"
#include "loop/hook.h"
#include "loop/loop_in.h"

enum { LINES = 100, STEPS = 100000, SUM_BYTES = 18 };

typedef struct text {
    char at[1 << 16];
    size_t len;
} text;

typedef struct tape_lines {
    phi_str line[LINES]; /* without the line break */
    size_t count;
} tape_lines;

static phi_status write_tape(void *user_data, const char *bytes, size_t len) {
    text *t = (text *)user_data;
    if (t->len + len + 1 > sizeof t->at) abort();
    memcpy(t->at + t->len, bytes, len);
    t->len += len;
    t->at[t->len] = '\0';
    return PHI_OK;
}

static void add_line(text *t, phi_str line) {
    (void)write_tape(t, line.at, line.len);
    (void)write_tape(t, "\n", 1);
}

static void split(const text *t, tape_lines *out) {
    const char *at = t->at, *end;
    out->count = 0;
    while ((end = strchr(at, '\n')) != NULL) {
        if (out->count == LINES) abort();
        out->line[out->count++] = phi__str(at, (size_t)(end - at));
        at = end + 1;
    }
}

/* ---- the run ---- */

static phi_flow count_step(void *user_data, phi_call call) {
    int *left = (int *)phi_call_state(call, sizeof *left);
    (void)user_data;
    if (left == NULL) return PHI_PENDING;
    if (++*left < 3) {
        (void)call_update(call, "part");
        return PHI_PENDING;
    }
    (void)phi_call_reply(call, "counted");
    return PHI_DONE;
}

static phi_flow count_start(void *user_data, phi_call call, phi_str arguments) {
    (void)user_data;
    (void)arguments;
    (void)phi_call_progress(call, "begun");
    return PHI_PENDING;
}

static phi_verdict hold_wait(void *user_data, phi_hook *hook) {
    (void)user_data;
    return phi_str_equal(hook->tool_name, phi_str_of("wait")) ? PHI_WAIT : PHI_ALLOW;
}

typedef struct watched {
    phi_call call; /* of the decision */
    int waited;
} watched;

static void watch(void *user_data, const phi_event *e) {
    watched *w = (watched *)user_data;
    if (e->kind == PHI_EV_DECISION) w->call = e->call;
}

static void script(rig *r) {
    static const char *const calls[] = {"c1 count {}", "c2 echo {\"n\":2}", "c3 wait {}"};
    char half[512];
    (void)snprintf(half, sizeof half, "%.480s", rig_stream_of("this is lost in the middle"));
    rig_replies(r, 529, "Retry-After: 1\r\n", "{\"type\":\"error\"}");
    rig_breaks(r, half, PHI_NETWORK, "the line is dead");
    rig_calls(r, calls, 3);
    rig_says(r, "It is done");
}

/* Steps until the run is over; false: it never ends. */
static bool perform(phi_tape *tape, uint64_t *hash) {
    phi_runtime_desc runtime_desc;
    phi_agent_desc desc = rig_desc();
    phi_tool tools[3];
    phi_agent agent;
    watched w;
    rig *r;
    int i, runs = 1;
    memset(&runtime_desc, 0, sizeof runtime_desc);
    memset(tools, 0, sizeof tools);
    memset(&w, 0, sizeof w);
    runtime_desc.tape = tape;
    r = rig_new_with(&runtime_desc);
    tools[0].name = "count";
    tools[0].start = count_start;
    tools[0].step = count_step;
    tools[0].heartbeat_ms = 1;
    tools[1] = rig_echo();
    tools[2] = rig_wait(r);
    desc.tools = tools;
    desc.tool_count = 3;
    desc.hook_fn = hold_wait;
    desc.hook_points = PHI_HOOK_BEFORE_TOOL;
    desc.retry.disable = false;
    rig_chunk(r, 300);
    script(r);
    rig_watch(r, watch, &w);
    agent = rig_agent(r, &desc);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    for (i = 0; i < STEPS && runs > 0; i++) {
        runs = rig_step(r);
        rig_pass_ms(r, 5);
        if (w.call.rt != NULL && w.waited++ == 4) /* its decision waits still */
            (void)phi_call_reply(w.call, "waited");
    }
    *hash = phi_thread_hash(phi_agent_thread(agent));
    rig_free(r);
    return runs == 0;
}

static uint64_t record(text *out) {
    phi_tape_desc how;
    phi_tape *tape;
    uint64_t hash = 0;
    memset(&how, 0, sizeof how);
    out->len = 0;
    how.allocator = test_allocator();
    how.write_fn = write_tape;
    how.user_data = out;
    tape = phi_tape_record(&how);
    CHECK(perform(tape, &hash));
    CHECK_EQ_INT(phi_tape_end(tape, NULL), PHI_OK);
    phi_tape_free(tape);
    return hash;
}

/* PHI_PARSE with *line: it is no tape; else what phi_tape_end says. */
static phi_status play(const text *t, uint64_t *hash, uint32_t *line) {
    phi_tape_desc how;
    phi_tape *tape;
    phi_parse_error error;
    phi_status status;
    *line = 0;
    memset(&how, 0, sizeof how);
    how.allocator = test_allocator();
    how.host_wait_ms = 1;
    tape = phi_tape_play(&how, phi__str(t->at, t->len), &error);
    if (tape == NULL) {
        *line = error.line;
        return PHI_PARSE;
    }
    CHECK(perform(tape, hash));
    status = phi_tape_end(tape, NULL);
    phi_tape_free(tape);
    return status;
}

/* ---- lines ---- */

static const char chained[] = "its sum is another: the line is damaged, or lines before it are "
                              "missing, doubled or in another order";

static void check_refused(const text *t, size_t line) {
    phi_tape_desc how;
    phi_parse_error error;
    phi_tape *tape;
    memset(&how, 0, sizeof how);
    how.allocator = test_allocator();
    tape = phi_tape_play(&how, phi__str(t->at, t->len), &error);
    CHECK(tape == NULL);
    CHECK_EQ_INT(error.line, line + 1);
    CHECK_EQ_STR(error.message,
                 line == 0 ? "a tape begins with one line of kind \"tape\"" : chained);
    phi_tape_free(tape);
}

TEST(a_tape_that_lacks_any_one_line_is_refused_with_the_place) {
    static text whole, other;
    tape_lines lines;
    size_t i, j;
    (void)record(&whole);
    split(&whole, &lines);
    CHECK(lines.count >= 40 && lines.count <= 60);
    for (i = 1; i + 1 < lines.count; i++) {
        other.len = 0;
        for (j = 0; j < lines.count; j++)
            if (j != i) add_line(&other, lines.line[j]);
        check_refused(&other, i);
    }
}

TEST(a_tape_that_has_any_one_line_twice_is_refused_with_the_place) {
    static text whole, other;
    tape_lines lines;
    size_t i, j;
    (void)record(&whole);
    split(&whole, &lines);
    for (i = 0; i < lines.count; i++) {
        other.len = 0;
        for (j = 0; j < lines.count; j++) {
            add_line(&other, lines.line[j]);
            if (j == i) add_line(&other, lines.line[j]);
        }
        check_refused(&other, i + 1);
    }
}

TEST(a_tape_with_any_two_lines_swapped_is_refused_with_the_place) {
    static text whole, other;
    tape_lines lines;
    size_t i, j, k;
    (void)record(&whole);
    split(&whole, &lines);
    for (i = 1; i < lines.count; i++)
        for (j = i + 1; j < lines.count; j++) {
            other.len = 0;
            for (k = 0; k < lines.count; k++)
                add_line(&other, lines.line[k == i ? j : k == j ? i : k]);
            check_refused(&other, i);
        }
}

TEST(a_line_of_another_tape_is_refused) {
    static text whole, other;
    tape_lines lines, others;
    size_t i;
    (void)record(&whole);
    (void)record(&other);
    CHECK_EQ_STR(whole.at, other.at);
    split(&whole, &lines);
    other.len = 0;
    add_line(&other, lines.line[0]);
    add_line(&other, lines.line[1]);
    other.at[60] = other.at[60] == '0' ? '1' : '0'; /* a digit of the time */
    {
        char sum[SUM_BYTES + 1];
        size_t n = lines.line[0].len - SUM_BYTES;
        (void)snprintf(sum, sizeof sum, ",\"sum\":\"%08lx\"}",
                       (unsigned long)phi__crc32(0, other.at, n));
        memcpy(other.at + n, sum, SUM_BYTES);
    }
    split(&other, &others);
    for (i = 2; i < lines.count; i++) add_line(&other, lines.line[i]);
    check_refused(&other, 1);
}

/* ---- cut ---- */

TEST(a_tape_cut_at_any_byte_is_played_up_to_there_and_the_run_ends) {
    static text whole, cut;
    tape_lines lines;
    uint64_t hash = 0, played = 0;
    uint32_t line = 0;
    size_t i, at = 0, early = 0;
    hash = record(&whole);
    split(&whole, &lines);
    for (i = 0; i <= whole.len; i++) {
        bool ends = i > 0 && whole.at[i - 1] == '\n';
        cut.len = 0;
        (void)write_tape(&cut, whole.at, i);
        if (i < lines.line[0].len) {
            CHECK_EQ_INT(play(&cut, &played, &line), PHI_PARSE);
            CHECK_EQ_INT(line, 1);
        } else if (ends || i % 97 == 0) { /* between two ends the tape has the same lines */
            phi_status status = play(&cut, &played, &line);
            CHECK_EQ_INT(line, 0);
            CHECK(status == PHI_REFUSED || status == PHI_PARSE || i == whole.len);
            if (status == PHI_REFUSED) early++;
            if (i == whole.len) CHECK_EQ_INT(status, PHI_OK);
            if (status == PHI_OK) CHECK(played == hash);
            at++;
        }
    }
    CHECK(at > lines.count && early > 30);
}

/* ---- results before the start ---- */

enum { BY_HOST, BY_HOOK_POSTED, BY_HOOK_AT_ONCE };

typedef struct early {
    int how;
    bool waits; /* the hook does not decide, either */
    int started;
    phi_call call;
} early;

static void answer(phi_call call) {
    phi_content content;
    phi_tool_result result;
    memset(&content, 0, sizeof content);
    memset(&result, 0, sizeof result);
    content.kind = PHI_CONTENT_TEXT;
    content.text = phi_str_of("given early");
    result.content = &content;
    result.content_count = 1;
    CHECK_EQ_INT(phi_call_result(call, &result), PHI_OK);
}

static phi_verdict early_hook(void *user_data, phi_hook *hook) {
    early *e = (early *)user_data;
    e->call = hook->call;
    if (e->how == BY_HOOK_POSTED) CHECK_EQ_INT(phi_call_reply(hook->call, "given early"), PHI_OK);
    if (e->how == BY_HOOK_AT_ONCE) answer(hook->call);
    return e->waits || e->how == BY_HOST ? PHI_WAIT : PHI_ALLOW;
}

static phi_flow early_start(void *user_data, phi_call call, phi_str arguments) {
    (void)call;
    (void)arguments;
    ((early *)user_data)->started++;
    return PHI_PENDING;
}

static uint64_t perform_early(phi_tape *tape, early *e) {
    phi_runtime_desc runtime_desc;
    phi_agent_desc desc = rig_desc();
    phi_tool tool;
    phi_agent agent;
    uint64_t hash;
    rig *r;
    int i, runs = 1;
    memset(&runtime_desc, 0, sizeof runtime_desc);
    memset(&tool, 0, sizeof tool);
    runtime_desc.tape = tape;
    r = rig_new_with(&runtime_desc);
    tool.name = "act";
    tool.schema = "{\"type\":\"object\",\"required\":[\"n\"]}"; /* checked at the start */
    tool.start = early_start;
    tool.heartbeat_ms = 1;
    tool.user_data = e;
    desc.tools = &tool;
    desc.tool_count = 1;
    desc.hook_fn = early_hook;
    desc.hook_user_data = e;
    desc.hook_points = PHI_HOOK_BEFORE_TOOL;
    rig_call(r, "c1", "act", "{}");
    rig_says(r, "thanks");
    agent = rig_agent(r, &desc);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    for (i = 0; i < 100 && runs > 0; i++) {
        runs = rig_step(r);
        rig_pass_ms(r, 2);
        if (i == 6 && e->how == BY_HOST)
            CHECK_EQ_INT(phi_call_reply(e->call, "given early"), PHI_OK);
    }
    CHECK_EQ_INT(runs, 0);
    CHECK(strstr(rig_story(r), "ToolExecutionEnd toolResult c1 \"given early\"") != NULL);
    CHECK(strstr(rig_story(r), "thanks") != NULL);
    hash = phi_thread_hash(phi_agent_thread(agent));
    rig_free(r);
    return hash;
}

static void check_early(int how, bool waits) {
    static text written;
    phi_tape_desc desc;
    phi_tape *tape;
    early e;
    uint64_t hash;
    memset(&desc, 0, sizeof desc);
    memset(&e, 0, sizeof e);
    e.how = how;
    e.waits = waits;
    written.len = 0;
    desc.allocator = test_allocator();
    desc.write_fn = write_tape;
    desc.user_data = &written;
    tape = phi_tape_record(&desc);
    hash = perform_early(tape, &e);
    CHECK_EQ_INT(phi_tape_end(tape, NULL), PHI_OK);
    phi_tape_free(tape);
    tape = phi_tape_play(&desc, phi__str(written.at, written.len), NULL);
    CHECK(perform_early(tape, &e) == hash);
    CHECK_EQ_INT(phi_tape_end(tape, NULL), PHI_OK);
    phi_tape_free(tape);
    CHECK_EQ_INT(e.started, 0);
}

TEST(a_call_that_the_host_finishes_while_its_decision_waits_is_played) {
    check_early(BY_HOST, true);
}

TEST(a_call_that_its_hook_answers_is_played) {
    check_early(BY_HOOK_POSTED, false);
    check_early(BY_HOOK_POSTED, true);
    check_early(BY_HOOK_AT_ONCE, false);
    check_early(BY_HOOK_AT_ONCE, true);
}

/* ---- version 1 ---- */

/* The lines as version 1 had them, each with a sum of its own. */
static void add_old(text *t, phi_str line) {
    char buffer[4096];
    size_t n = line.len - SUM_BYTES;
    const char *version = "\"version\":2";
    char *at;
    if (n + SUM_BYTES + 1 > sizeof buffer) abort();
    memcpy(buffer, line.at, n);
    buffer[n] = '\0';
    at = strstr(buffer, version);
    if (at != NULL) at[strlen(version) - 1] = '1';
    (void)snprintf(buffer + n, sizeof buffer - n, ",\"sum\":\"%08lx\"}",
                   (unsigned long)phi__crc32(0, buffer, n));
    add_line(t, phi_str_of(buffer));
}

TEST(a_tape_of_version_1_that_lacks_a_line_or_has_one_twice_ends) {
    static text whole, other;
    tape_lines lines;
    uint64_t played = 0;
    uint32_t line = 0;
    size_t i, j, twice;
    (void)record(&whole);
    split(&whole, &lines);
    for (twice = 0; twice < 2; twice++)
        for (i = 1; i < lines.count; i++) {
            other.len = 0;
            for (j = 0; j < lines.count; j++) {
                if (j != i || twice == 1) add_old(&other, lines.line[j]);
                if (j == i && twice == 1) add_old(&other, lines.line[j]);
            }
            (void)play(&other, &played, &line);
            CHECK_EQ_INT(line, 0);
            if (test_failures() > 0) {
                printf("  line %u, %u: %.200s\n", (unsigned)i + 1, (unsigned)twice,
                       lines.line[i].at);
                return;
            }
        }
}

TEST_MAIN(TEST_ENTRY(a_tape_that_lacks_any_one_line_is_refused_with_the_place),
          TEST_ENTRY(a_tape_that_has_any_one_line_twice_is_refused_with_the_place),
          TEST_ENTRY(a_tape_with_any_two_lines_swapped_is_refused_with_the_place),
          TEST_ENTRY(a_line_of_another_tape_is_refused),
          TEST_ENTRY(a_tape_cut_at_any_byte_is_played_up_to_there_and_the_run_ends),
          TEST_ENTRY(a_call_that_the_host_finishes_while_its_decision_waits_is_played),
          TEST_ENTRY(a_call_that_its_hook_answers_is_played),
          TEST_ENTRY(a_tape_of_version_1_that_lacks_a_line_or_has_one_twice_ends))
