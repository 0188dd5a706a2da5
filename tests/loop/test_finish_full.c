/* test_finish_full.c - results on the pumping thread while the inbox is full, and tools that are done without one. */
#include "support/rig.h"

#include "agent/runtime.h"

#include <pthread.h>

static char large[301];

/* Finishes its call with 300 bytes, in start. */
static phi_flow finish_start(void *user_data, phi_call call, phi_str arguments) {
    (void)user_data, (void)arguments;
    CHECK_EQ_INT(phi_call_reply(call, large), PHI_OK);
    return PHI_DONE;
}

static phi_flow nothing_start(void *user_data, phi_call call, phi_str arguments) {
    (void)user_data, (void)call, (void)arguments;
    return PHI_DONE;
}

static phi_tool tool_of(const char *name,
                        phi_flow (*start)(void *user_data, phi_call call, phi_str arguments)) {
    phi_tool tool;
    memset(&tool, 0, sizeof tool);
    tool.name = name;
    tool.description = "A tool";
    tool.schema = "{\"type\":\"object\"}";
    tool.start = start;
    return tool;
}

/* An agent whose model calls the tool `calls` times at once; the request that its results are in. */
static const char *run_calls(rig *r, const phi_tool *tool, int calls) {
    char lines[12][32];
    const char *list[12];
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    int i;
    desc.tools = tool;
    desc.tool_count = 1;
    agent = rig_agent(r, &desc);
    for (i = 0; i < calls; i++) {
        (void)snprintf(lines[i], sizeof lines[i], "c%d %s {\"n\":%d}", i, tool->name, i);
        list[i] = lines[i];
    }
    rig_calls(r, list, (size_t)calls);
    rig_says(r, "Done.");
    CHECK_EQ_INT(phi_prompt(agent, "Go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 200), 0);
    return rig_request(r, 1);
}

static int count_of(const char *text, const char *what) {
    int n = 0;
    for (; text != NULL && (text = strstr(text, what)) != NULL; text += strlen(what)) n++;
    return n;
}

TEST(on_the_pumping_thread_no_result_is_refused_for_room) {
    phi_runtime_desc rd;
    phi_tool tool = tool_of("finish", finish_start);
    rig *r;
    memset(&rd, 0, sizeof rd);
    memset(large, 'x', sizeof large - 1);
    rd.inbox_bytes = 1024;
    r = rig_new_with(&rd);
    CHECK_EQ_INT(count_of(run_calls(r, &tool, 12), "xxxxxxxx\""), 12);
    rig_free(r);
}

static phi_flow huge_start(void *user_data, phi_call call, phi_str arguments) {
    static char huge[5000];
    (void)user_data, (void)arguments;
    memset(huge, 'y', sizeof huge);
    CHECK_EQ_INT(phi_call_failf(call, "%.*s", (int)sizeof huge, huge), PHI_OK);
    CHECK_EQ_INT(phi_call_reply(call, "z"), PHI_STALE);
    return PHI_PENDING;
}

TEST(nor_is_one_that_no_inbox_could_hold) {
    phi_runtime_desc rd;
    phi_tool tool = tool_of("huge", huge_start);
    const char *request;
    rig *r;
    memset(&rd, 0, sizeof rd);
    rd.inbox_bytes = 1024;
    r = rig_new_with(&rd);
    request = run_calls(r, &tool, 3);
    CHECK_EQ_INT(count_of(request, "yyyyyyyy\""), 3);
    CHECK_EQ_INT(count_of(request, "\"is_error\":true"), 3);
    rig_free(r);
}

typedef struct elsewhere {
    phi_call call;
    phi_status large_status, huge_status;
} elsewhere;

static void *finish_elsewhere(void *user_data) {
    static char huge[5000];
    elsewhere *e = (elsewhere *)user_data;
    int i;
    memset(huge, 'y', sizeof huge);
    e->huge_status = phi_call_replyf(e->call, "%.*s", (int)sizeof huge, huge);
    for (i = 0; i < 3; i++) /* nobody reads them meanwhile */
        e->large_status = phi_call_reply(e->call, large);
    return NULL;
}

static phi_flow waits_start(void *user_data, phi_call call, phi_str arguments) {
    elsewhere *e = (elsewhere *)user_data;
    (void)arguments;
    e->call = call;
    return PHI_PENDING;
}

TEST(another_thread_is_told_that_its_result_has_no_room) {
    phi_runtime_desc rd;
    phi_tool tool = tool_of("waits", waits_start);
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    pthread_t thread;
    elsewhere e;
    rig *r;
    memset(&rd, 0, sizeof rd);
    memset(&e, 0, sizeof e);
    rd.inbox_bytes = 1024;
    r = rig_new_with(&rd);
    tool.user_data = &e;
    desc.tools = &tool;
    desc.tool_count = 1;
    agent = rig_agent(r, &desc);
    rig_call(r, "c1", "waits", "{}");
    rig_says(r, "Done.");
    CHECK_EQ_INT(phi_prompt(agent, "Go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 1);
    CHECK_EQ_INT(pthread_create(&thread, NULL, finish_elsewhere, &e), 0);
    CHECK_EQ_INT(pthread_join(thread, NULL), 0);
    CHECK_EQ_INT(e.huge_status, PHI_BAD_ARG);
    CHECK_EQ_INT(e.large_status, PHI_STALE); /* the first of the three was taken */
    CHECK_EQ_INT(rig_run(r, 50), 0);
    rig_free(r);
}

TEST(a_tool_that_is_done_without_a_result_has_an_error_with_words) {
    rig *r = rig_new();
    phi_tool tool = tool_of("nothing", nothing_start);
    const char *request = run_calls(r, &tool, 1);
    CHECK(request != NULL &&
          strstr(request, "The tool returned PHI_DONE without a result") != NULL);
    CHECK_EQ_INT(count_of(request, "\"is_error\":true"), 1);
    rig_free(r);
}

TEST_MAIN(TEST_ENTRY(on_the_pumping_thread_no_result_is_refused_for_room),
          TEST_ENTRY(nor_is_one_that_no_inbox_could_hold),
          TEST_ENTRY(another_thread_is_told_that_its_result_has_no_room),
          TEST_ENTRY(a_tool_that_is_done_without_a_result_has_an_error_with_words))
