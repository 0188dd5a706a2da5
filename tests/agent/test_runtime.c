/* test_runtime.c - what src/agent/runtime.h promises: making, closing and freeing in every state, and
   how long a step may wait. And that the password of a proxy is in no error. */
#include "support/update.h"
#include "agent/snapshot.h"
#include "record/replay.h"
#include "support/rig.h"
#include "loop/events.h"
#include "io/transport.h"
#include "codecs/presets.h"
#include "model/model.h"
#include "loop/loop_in.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

TEST(a_desc_that_cannot_work_says_why) {
    phi_runtime_desc desc;
    phi_transport transport;
    const char *why = NULL;
    memset(&desc, 0, sizeof desc);
    memset(&transport, 0, sizeof transport);
    desc.allocator = test_allocator();
    desc.error = &why;
    desc.transport = &transport;
    CHECK(phi_runtime_new(&desc) == NULL);
    CHECK_EQ_STR(why, "transport: open, resume or cancel is missing");
    desc.transport = NULL;
    desc.inbox_bytes = SIZE_MAX;
    CHECK(phi_runtime_new(&desc) == NULL);
    CHECK_EQ_STR(why, "inbox_bytes: expected at most 1 GiB");
    desc.inbox_bytes = 0;
    desc.memory_limit_bytes = 1000;
    CHECK(phi_runtime_new(&desc) == NULL);
    CHECK(why != NULL && why[0] != '\0');
    desc.error = NULL;
    CHECK(phi_runtime_new(&desc) == NULL);
}

TEST(every_function_takes_no_runtime) {
    phi_event event;
    phi_model model = phi_model_anthropic("m", "k");
    size_t peak = 7;
    CHECK_EQ_INT(phi_runtime_close(NULL), PHI_BAD_ARG);
    phi_runtime_free(NULL);
    CHECK_EQ_INT(phi_step(NULL, 0), PHI_BAD_ARG);
    CHECK(!phi_next_event(NULL, &event));
    CHECK_EQ_INT(phi_runtime_fd(NULL), -1);
    CHECK_EQ_INT(phi_next_timeout(NULL), -1);
    phi_ready(NULL, 0, 0);
    phi_wake(NULL);
    CHECK_EQ_INT(phi_warm(NULL, &model), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_last_error(NULL).status, PHI_BAD_ARG);
    CHECK_EQ_STR(phi_last_error(NULL).message, "there is no runtime");
    CHECK(phi_agent_restore(NULL, NULL, phi_str_of("{}"), PHI_RESTORE_RESUME).rt == NULL);
    CHECK_EQ_INT(phi_memory_used(NULL, &peak), 0);
    CHECK_EQ_INT(peak, 0);
}

TEST(odd_arguments_of_a_live_runtime_do_nothing) {
    rig *r = rig_new();
    phi_model model = phi_model_anthropic("m", "k");
    const char *words = NULL;
    CHECK(!phi_next_event(rig_runtime(r), NULL));
    phi_ready(rig_runtime(r), -5, 99);
    phi_ready(rig_runtime(r), 100000, PHI_WATCH_READ);
    CHECK_EQ_INT(phi_warm(rig_runtime(r), NULL), PHI_BAD_ARG);
    model.base_url = NULL;
    CHECK_EQ_INT(phi_warm(rig_runtime(r), &model), PHI_BAD_ARG);
    words = phi_last_error(rig_runtime(r)).message;
    CHECK_EQ_INT(phi_last_error(rig_runtime(r)).status, PHI_BAD_ARG);
    CHECK_EQ_STR(words, "phi_warm: model.base_url is missing");
    CHECK_EQ_INT(phi_last_error(rig_runtime(r)).status, PHI_BAD_ARG);
    CHECK_EQ_INT(phi_step(rig_runtime(r), 0), 0);
    rig_free(r);
}

TEST(calls_that_are_none_are_refused_everywhere) {
    rig *r = rig_new();
    phi_call none, stale;
    phi_tool_result result;
    memset(&none, 0, sizeof none);
    memset(&stale, 0, sizeof stale);
    memset(&result, 0, sizeof result);
    stale.rt = rig_runtime(r);
    stale.index = 12345;
    CHECK_EQ_INT(phi_call_result(none, &result), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_call_result(stale, NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_call_result(stale, &result), PHI_STALE);
    result.content_count = 1;
    CHECK_EQ_INT(phi_call_result(stale, &result), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_call_reply(none, ""), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_call_reply(stale, NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_call_fail(stale, ""), PHI_STALE);
    CHECK_EQ_INT(call_update(none, ""), PHI_BAD_ARG);
    CHECK_EQ_INT(call_update(stale, NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_call_progress(stale, "x"), PHI_STALE);
    CHECK(phi_call_state(none, 8) == NULL);
    CHECK(phi_call_state(stale, SIZE_MAX) == NULL);
    CHECK_STR(phi_call_get_info(none).id, "");
    CHECK_STR(phi_call_get_info(stale).tool_name, "");
    CHECK(phi_call_get_info(stale).agent.rt == NULL);
    CHECK(!phi_call_get_info(none).pending);
    CHECK(!phi_call_get_info(stale).pending);
    rig_free(r);
}

static phi_flow wait_start(void *user_data, phi_call call, phi_str arguments) {
    (void)arguments;
    *(phi_call *)user_data = call;
    CHECK_EQ_INT(phi_runtime_close(call.rt), PHI_MISUSE);
    return PHI_PENDING;
}

/* Closing an idle, a streaming, a waiting and a just prompted agent; events popped or not. */
TEST(closing_ends_every_state_and_refuses_what_is_new) {
    int state, silent;
    for (state = 0; state < 4; state++)
        for (silent = 0; silent < 2; silent++) {
            rig *r = rig_new();
            phi_agent_desc desc = rig_desc();
            phi_tool tool;
            phi_call call;
            phi_agent agent;
            int i;
            memset(&tool, 0, sizeof tool);
            memset(&call, 0, sizeof call);
            tool.name = "wait";
            tool.start = wait_start;
            tool.user_data = &call;
            desc.tools = &tool;
            desc.tool_count = 1;
            agent = rig_agent(r, &desc);
            rig_silent(r, silent != 0);
            if (state == 1) rig_hangs(r, "data: {\"type\":\"message_start\",\"message\":{}}\n\n");
            if (state == 2) rig_call(r, "c1", "wait", "{}");
            if (state > 0) CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
            if (state < 3) (void)rig_run(r, 10);
            CHECK_EQ_INT(phi_runtime_close(rig_runtime(r)), state > 0 ? PHI_BUSY : PHI_OK);
            CHECK_EQ_INT(phi_prompt(agent, "no"), PHI_MISUSE);
            CHECK(rig_agent(r, NULL).rt == NULL);
            for (i = 0; i < 10 && phi_runtime_close(rig_runtime(r)) == PHI_BUSY; i++)
                (void)rig_step(r);
            CHECK_EQ_INT(phi_runtime_close(rig_runtime(r)), PHI_OK);
            CHECK(phi_agent_alive(agent));
            CHECK(!phi_call_get_info(call).pending);
            rig_free(r);
        }
}

TEST(a_closed_runtime_still_frees_its_agents_one_by_one) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    CHECK_EQ_INT(phi_runtime_close(rig_runtime(r)), PHI_OK);
    phi_agent_free(agent);
    CHECK_EQ_INT(phi_step(rig_runtime(r), 0), 0);
    rig_free(r);
}

TEST(the_next_timeout_is_what_there_is_to_wait_for) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    desc.deadlines.first_event_ms = 500;
    agent = rig_agent(r, &desc);
    CHECK_EQ_INT(phi_next_timeout(rig_runtime(r)), -1);
    CHECK_EQ_INT(phi_abort(agent), PHI_OK);
    CHECK_EQ_INT(phi_next_timeout(rig_runtime(r)), 0);
    (void)rig_step(r);
    CHECK_EQ_INT(phi_next_timeout(rig_runtime(r)), -1);
    rig_hangs(r, "");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(phi_next_timeout(rig_runtime(r)), 0);
    (void)rig_step(r);
    (void)rig_step(r);
    CHECK_EQ_INT(phi_next_timeout(rig_runtime(r)), 500);
    rig_pass_ms(r, 499);
    CHECK_EQ_INT(phi_next_timeout(rig_runtime(r)), 1);
    rig_pass_ms(r, 5);
    CHECK_EQ_INT(phi_next_timeout(rig_runtime(r)), 0);
    CHECK_EQ_INT(rig_run(r, 10), 0);
    rig_free(r);
}

TEST(a_memory_limit_of_the_runtime_is_an_error_event_and_agents_stay_usable) {
    rig *r = rig_new();
    size_t idle = phi_memory_used(rig_runtime(r), NULL), limit;
    rig_free(r);
    for (limit = idle + 4000; limit < idle + 60000; limit += 500) {
        phi_runtime_desc desc;
        phi_agent agent;
        int i;
        memset(&desc, 0, sizeof desc);
        desc.memory_limit_bytes = limit;
        r = rig_new_with(&desc);
        REQUIRE(r != NULL);
        agent = rig_agent(r, NULL);
        for (i = 0; i < 3 && agent.rt != NULL; i++) {
            const char *at;
            int ends = 0;
            phi_status status;
            rig_forget(r);
            rig_says(r, "a few words");
            status = phi_prompt(agent, "go");
            if (status == PHI_OK) {
                CHECK_EQ_INT(rig_run(r, 60), 0);
                for (at = rig_story(r); (at = strstr(at, "AgentEnd")) != NULL; at++) ends++;
                CHECK_EQ_INT(ends, 1);
            } else
                CHECK_EQ_INT(status, PHI_NO_MEMORY);
            CHECK(phi_memory_used(rig_runtime(r), NULL) <= limit);
            CHECK_EQ_INT(phi_agent_reset(agent), PHI_OK);
        }
        rig_free(r);
    }
}

/* ---- a proxy ---- */

#define PROXY_PASS "pass-word-0815"

/* Takes one request, and refuses it with what it was sent with. */
static void *be_a_proxy(void *ctx) {
    static const char body[] = "{\"error\":{\"message\":\"no some-user:" PROXY_PASS " here\"}}";
    char bytes[4096];
    int fd = accept(*(int *)ctx, NULL, NULL), n;
    if (fd < 0) return NULL;
    (void)recv(fd, bytes, sizeof bytes, 0);
    n = snprintf(bytes, sizeof bytes,
                 "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\n"
                 "Content-Length: %d\r\nConnection: close\r\n\r\n%s",
                 (int)sizeof body - 1, body);
    (void)send(fd, bytes, (size_t)n, 0);
    (void)shutdown(fd, SHUT_WR);
    while (recv(fd, bytes, sizeof bytes, 0) > 0) continue;
    (void)close(fd);
    return NULL;
}

/* What a tape was written, which a test's own memory holds. */
static char taped[20000];

static phi_status write_taped(void *user_data, const char *bytes, size_t len) {
    size_t n = strlen(taped);
    (void)user_data;
    if (!CHECK(n + len < sizeof taped)) return PHI_FULL;
    memcpy(taped + n, bytes, len);
    taped[n + len] = '\0';
    return PHI_OK;
}

/* One prompt over the proxy, recorded where there is a tape. The proxy is given, or named by the
   environment. */
static void ask_over_a_proxy(phi_tape *tape, bool environment) {
    phi_runtime_desc desc;
    phi_agent_desc agent_desc = rig_desc();
    phi_runtime *rt;
    phi_agent agent;
    phi_event ev;
    struct sockaddr_in at;
    socklen_t len = sizeof at;
    pthread_t proxy;
    char url[100], words[300] = "";
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    bool running;
    memset(&at, 0, sizeof at);
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(fd >= 0 && bind(fd, (struct sockaddr *)&at, sizeof at) == 0 && listen(fd, 1) == 0);
    REQUIRE(getsockname(fd, (struct sockaddr *)&at, &len) == 0);
    REQUIRE(pthread_create(&proxy, NULL, be_a_proxy, &fd) == 0);
    (void)snprintf(url, sizeof url, "http://some-user:" PROXY_PASS "@127.0.0.1:%d",
                   (int)ntohs(at.sin_port));
    memset(&desc, 0, sizeof desc);
    desc.allocator = test_allocator();
    desc.proxy = environment ? NULL : url;
    desc.use_environment = environment;
    if (environment) CHECK_EQ_INT(setenv("http_proxy", url, 1), 0);
    desc.tape = tape;
    rt = phi_runtime_new(&desc);
    agent_desc.model.base_url = "http://nowhere.invalid";
    agent = phi_agent_new(rt, &agent_desc);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    do {
        running = phi_step(rt, 1000) > 0;
        while (phi_next_event(rt, &ev))
            if (ev.kind == PHI_EV_ERROR && CHECK(ev.failure != NULL))
                (void)snprintf(words, sizeof words, "%.*s", (int)ev.failure->message.len,
                               ev.failure->message.at);
    } while (running);
    CHECK(strstr(words, "no ") != NULL && strstr(words, " here") != NULL);
    CHECK(strstr(words, PROXY_PASS) == NULL);
    phi_runtime_free(rt);
    (void)unsetenv("http_proxy");
    (void)shutdown(fd, SHUT_RDWR);
    (void)pthread_join(proxy, NULL);
    (void)close(fd);
}

TEST(an_error_of_a_proxy_loses_the_password_it_was_asked_with) {
    ask_over_a_proxy(NULL, false);
    ask_over_a_proxy(NULL, true);
}

static void record_over_a_proxy(bool environment) {
    phi_tape_desc desc;
    phi_tape *tape;
    memset(&desc, 0, sizeof desc);
    desc.allocator = test_allocator();
    desc.write_fn = write_taped;
    taped[0] = '\0';
    tape = phi_tape_record(&desc);
    ask_over_a_proxy(tape, environment);
    CHECK_EQ_INT(phi_tape_end(tape, NULL), PHI_OK);
    phi_tape_free(tape);
    CHECK(strstr(taped, " here") != NULL);
    CHECK(strstr(taped, PROXY_PASS) == NULL && strstr(taped, "some-user") == NULL);
}

TEST(a_password_of_a_proxy_that_a_server_repeats_is_on_no_tape) {
    record_over_a_proxy(false);
    record_over_a_proxy(true);
}

TEST_MAIN(TEST_ENTRY(a_desc_that_cannot_work_says_why), TEST_ENTRY(every_function_takes_no_runtime),
          TEST_ENTRY(odd_arguments_of_a_live_runtime_do_nothing),
          TEST_ENTRY(calls_that_are_none_are_refused_everywhere),
          TEST_ENTRY(closing_ends_every_state_and_refuses_what_is_new),
          TEST_ENTRY(a_closed_runtime_still_frees_its_agents_one_by_one),
          TEST_ENTRY(the_next_timeout_is_what_there_is_to_wait_for),
          TEST_ENTRY(a_memory_limit_of_the_runtime_is_an_error_event_and_agents_stay_usable),
          TEST_ENTRY(an_error_of_a_proxy_loses_the_password_it_was_asked_with),
          TEST_ENTRY(a_password_of_a_proxy_that_a_server_repeats_is_on_no_tape))
