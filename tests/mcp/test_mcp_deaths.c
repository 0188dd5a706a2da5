/* test_mcp_deaths.c - servers that die, hang, babble and flood, again and again: each call gets one
   answer, the connection is good for the next, no process is left (the harness looks), and memory
   stays under a cap.

   PHI_SEEDS says how many rounds (make soak; default 1). The server is tests/mock/mcp_server.py. */
#include "agent/agent.h"
#include "loop/provider.h"
#include "mcp/mcp.h"
#include "mcp/mcp_tools.h"
#include "support/mcp_mock.h"
#include "loop/events.h"
#include "loop/loop_in.h"
#include "mcp/mcp_requests_in.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

enum {
    MESSAGE_MOST = 1 << 20,    /* max_message_bytes of these tests */
    MEMORY_MOST = 12 * 1048576 /* of a runtime with one such connection */
};

/* ---- an allocator that keeps the highest sum ---- */

typedef struct counted {
    phi_allocator below;
    size_t now, peak;
} counted;

static void *counted_resize(void *ctx, void *old, size_t old_size, size_t size) {
    counted *c = (counted *)ctx;
    void *at = c->below.realloc_fn(c->below.user_data, old, old_size, size);
    if (at == NULL && size > 0) return NULL;
    c->now = c->now - (old != NULL ? old_size : 0) + size;
    if (c->now > c->peak) c->peak = c->now;
    return at;
}

/* ---- a connection ---- */

typedef struct kit {
    counted memory;
    phi_runtime *rt;
    phi_mcp *mcp;
    int answers; /* how often `done` was called for the last call */
    phi_status status;
    char text[400];
} kit;

static void kit_begin(kit *k, const char *behaviour, uint32_t timeout_ms) {
    phi_runtime_desc desc = PHI_ZERO;
    phi_mcp_desc to = PHI_ZERO;
    memset(k, 0, sizeof *k);
    k->memory.below = test_allocator();
    desc.features = PHI_ALL_FEATURES;
    desc.allocator.realloc_fn = counted_resize;
    desc.allocator.user_data = &k->memory;
    REQUIRE((k->rt = phi_runtime_new(&desc)) != NULL);
    to.argv = mcp_mock_argv("2025-06-18", behaviour, NULL);
    to.max_message_bytes = MESSAGE_MOST;
    to.timeout_ms = timeout_ms;
    to.max_restarts = PHI_UNLIMITED;
    to.restart_delay_ms = 1;
    to.close_ms = 300;
    REQUIRE((k->mcp = phi_mcp_connect(k->rt, &to)) != NULL);
}

static void kit_end(kit *k) {
    CHECK(k->memory.peak < MEMORY_MOST);
    if (getenv("V") != NULL)
        printf("peak %u restarts %u\n", (unsigned)k->memory.peak,
               phi_mcp_get_info(k->mcp).restarts);
    if (k->memory.peak >= MEMORY_MOST) printf("%u bytes\n", (unsigned)k->memory.peak);
    phi_mcp_free(k->mcp);
    phi_runtime_free(k->rt);
}

static int64_t now_ms(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static bool ready(kit *k) {
    int64_t end = now_ms() + 20000;
    while (phi_mcp_get_info(k->mcp).state == PHI_MCP_CONNECTING && now_ms() < end)
        (void)phi_step(k->rt, 20);
    if (phi_mcp_get_info(k->mcp).state == PHI_MCP_READY) return true;
    printf("state %d: %s\n", (int)phi_mcp_get_info(k->mcp).state, phi_mcp_get_info(k->mcp).message);
    return false;
}

static void done(void *user_data, const phi_mcp_reply *reply) {
    kit *k = (kit *)user_data;
    phi_str text = reply->message;
    k->answers++;
    k->status = reply->status;
    if (reply->status == PHI_OK)
        text = phi_json_str(phi_json_path(reply->result, "content[0].text"), "(no text)");
    (void)snprintf(k->text, sizeof k->text, "%.*s", (int)text.len, text.at);
}

/* Calls a tool and waits for its answer; then looks whether a second one comes. */
static phi_status call(kit *k, const char *tool, const char *arguments) {
    char params[300];
    phi_mcp_send_desc request = PHI_ZERO;
    int64_t end = now_ms() + 60000;
    int i;
    if (!CHECK(ready(k))) return PHI_MISUSE;
    (void)snprintf(params, sizeof params, "{\"name\":\"%s\",\"arguments\":%s}", tool, arguments);
    request.method = "tools/call";
    request.params = phi_str_of(params);
    request.done_fn = done;
    request.user_data = k;
    k->answers = 0;
    k->text[0] = '\0';
    if (!CHECK(phi_mcp_send(k->mcp, &request, NULL) == PHI_OK)) return PHI_MISUSE;
    while (k->answers == 0 && now_ms() < end) (void)phi_step(k->rt, 20);
    for (i = 0; i < 3; i++) (void)phi_step(k->rt, 1);
    CHECK_EQ_INT(k->answers, 1);
    return k->status;
}

static void works(kit *k, const char *word) {
    char arguments[60];
    (void)snprintf(arguments, sizeof arguments, "{\"text\":\"%s\"}", word);
    CHECK_EQ_INT(call(k, "echo", arguments), PHI_OK);
    CHECK_EQ_STR(k->text, word);
}

static int rounds(void) {
    const char *more = getenv("PHI_SEEDS");
    return more != NULL && atoi(more) > 0 ? atoi(more) : 1;
}

/* ---- deaths ---- */

/* A connection for each round: restarts in a row wait longer and longer. */
static void dies(const char *tool, const char *arguments) {
    int i, n;
    for (n = 0; n < rounds(); n++) {
        kit k;
        kit_begin(&k, "bad", 20000);
        for (i = 0; i < 2; i++) {
            works(&k, "before");
            CHECK(call(&k, tool, arguments) != PHI_OK);
            CHECK(k.text[0] != '\0');
        }
        works(&k, "after");
        CHECK_EQ_INT(phi_mcp_get_info(k.mcp).restarts, 2);
        kit_end(&k);
    }
}

TEST(a_server_that_exits_in_a_call_gives_one_error_and_is_started_again) { dies("die", "{}"); }

TEST(a_server_that_is_killed_in_a_call_gives_one_error_and_is_started_again) {
    dies("die", "{\"signal\":9}");
}

TEST(a_server_that_dies_in_the_midst_of_an_answer_gives_one_error) { dies("die_midway", "{}"); }

TEST(a_server_that_hangs_gives_one_error_and_answers_the_next_call) {
    kit k;
    int i;
    kit_begin(&k, "bad", 300);
    for (i = 0; i < rounds(); i++) {
        CHECK_EQ_INT(call(&k, "hang", "{}"), PHI_TIMEOUT);
        works(&k, "after");
    }
    kit_end(&k);
}

/* ---- noise ---- */

TEST(lines_that_are_no_messages_break_nothing) {
    static const char *const tools[] = {"garbage", "strange_notes", "stray",        "huge_id",
                                        "deep",    "odd_request",   "stderr_flood", "twice"};
    size_t i;
    int n;
    kit k;
    kit_begin(&k, "bad+noise+chatty", 20000);
    for (n = 0; n < rounds(); n++)
        for (i = 0; i < sizeof tools / sizeof tools[0]; i++) {
            if (!CHECK_EQ_INT(call(&k, tools[i], "{}"), PHI_OK)) printf("%s\n", tools[i]);
            works(&k, tools[i]);
        }
    CHECK_EQ_INT(phi_mcp_get_info(k.mcp).restarts, 0);
    kit_end(&k);
}

TEST(answers_in_a_wrong_form_give_one_error_each) {
    char arguments[40];
    int i, n;
    kit k;
    kit_begin(&k, "bad", 300);
    for (n = 0; n < rounds(); n++)
        for (i = 0; i < 7; i++) {
            (void)snprintf(arguments, sizeof arguments, "{\"which\":%d}", i);
            if (!CHECK(call(&k, "wrong_envelope", arguments) != PHI_OK)) printf("%d\n", i);
            works(&k, "after");
        }
    kit_end(&k);
}

/* 100 MB in the soak; an answer of that size is refused, too. */
TEST(a_flood_without_a_line_break_costs_no_memory) {
    char arguments[40];
    int i, mb = getenv("PHI_SEEDS") != NULL ? 100 : 8;
    kit k;
    kit_begin(&k, "bad", mb == 100 ? 5000 : 1500);
    (void)snprintf(arguments, sizeof arguments, "{\"mb\":%d}", mb);
    for (i = 0; i < (rounds() + 9) / 10; i++) {
        (void)call(&k, "flood", arguments);
        works(&k, "after");
        CHECK(call(&k, "huge", arguments) != PHI_OK);
        works(&k, "after");
    }
    kit_end(&k);
}

/* ---- an agent ---- */

/* Its model calls each tool of the list, one a turn, and an echo after each of them. */
typedef struct script {
    const char *const *calls; /* "name {arguments}" */
    size_t count, next;       /* turns */
    int results, errors;      /* of tools: all, and those of echo that failed */
    int all_errors;
} script;

static phi_status model_open(void *user_data, const phi_model_request *request, void **call) {
    (void)request;
    *call = user_data;
    return PHI_OK;
}

static phi_poll model_poll(void *user_data, void *call, phi_answer *answer) {
    script *s = (script *)user_data;
    size_t i = s->next++;
    char again[40]; /* another text each time: no call is repeated */
    const char *space;
    phi_str name;
    (void)call;
    if (i >= 2 * s->count) {
        phi_answer_text(answer, phi_str_of("done"));
        return PHI_POLL_DONE;
    }
    (void)snprintf(again, sizeof again, "{\"text\":\"good %u\"}", (unsigned)i);
    space = strchr(s->calls[i / 2], ' ');
    name.at = s->calls[i / 2];
    name.len = (size_t)(space - name.at);
    phi_answer_call(answer, phi_str_of(""), i % 2 == 1 ? phi_str_of("echo") : name);
    phi_answer_arguments(answer, phi_str_of(i % 2 == 1 ? again : space + 1), true);
    return PHI_POLL_DONE;
}

static void model_close(void *user_data, void *call) {
    (void)user_data;
    (void)call;
}

static void model_of(kit *k, script *s) {
    phi_provider model = PHI_ZERO;
    model.protocol = "scripted";
    model.user_data = s;
    model.open = model_open;
    model.poll = model_poll;
    model.close = model_close;
    CHECK(phi_register_provider(k->rt, &model) == PHI_OK);
}

static phi_agent agent_of(kit *k, const phi_tool_source **source) {
    phi_agent_desc desc = PHI_ZERO;
    *source = phi_mcp_tools(k->mcp);
    desc.model.protocol = "scripted";
    desc.model.id = "scripted";
    desc.tool_options.sources = source;
    desc.tool_options.source_count = 1;
    return phi_agent_new(k->rt, &desc);
}

static phi_status run_of(kit *k, script *s, phi_agent agent) {
    phi_status status = PHI_BUSY;
    int64_t end = now_ms() + 90000;
    phi_event ev;
    CHECK(phi_prompt(agent, "Go.") == PHI_OK);
    while (status == PHI_BUSY && now_ms() < end) {
        (void)phi_step(k->rt, 20);
        while (phi_next_event(k->rt, &ev)) {
            if (ev.kind == PHI_EV_TOOL_END) s->results++;
            if (ev.kind == PHI_EV_TOOL_END && ev.is_error) s->all_errors++;
            if (ev.kind == PHI_EV_TOOL_END && ev.is_error &&
                phi_str_equal(ev.tool_name, phi_str_of("echo"))) {
                s->errors++;
                if (getenv("V") != NULL)
                    printf("echo failed: %s\n", phi_mcp_get_info(k->mcp).message);
            }
            if (ev.kind == PHI_EV_AGENT_END) {
                status = ev.status;
                if (status != PHI_OK) printf("%.*s\n", (int)ev.text.len, ev.text.at);
            }
        }
    }
    return status;
}

TEST(an_agent_goes_on_whatever_its_server_does) {
    static const char *const calls[] = {"die {}",
                                        "garbage {\"lines\":50}",
                                        "die {\"signal\":9}",
                                        "hang {}",
                                        "flood {\"mb\":3}",
                                        "die_midway {}",
                                        "huge {\"mb\":3}",
                                        "wrong_envelope {\"which\":2}",
                                        "stray {}",
                                        "stderr_flood {\"mb\":1}",
                                        "twice {}",
                                        "wrong_types {\"which\":1}"};
    int i;
    for (i = 0; i < rounds(); i++) {
        script s = {calls, sizeof calls / sizeof calls[0], 0, 0, 0, 0};
        const phi_tool_source *source;
        phi_agent agent;
        kit k;
        kit_begin(&k, "bad", 1000);
        if (!CHECK(ready(&k))) break;
        model_of(&k, &s);
        agent = agent_of(&k, &source);
        CHECK_EQ_INT(run_of(&k, &s, agent), PHI_OK);
        CHECK_EQ_INT(s.results, 2 * (int)s.count);
        CHECK_EQ_INT(s.errors, 0);
        phi_agent_free(agent);
        kit_end(&k);
    }
}

/* ---- beginnings and ends ---- */

TEST(a_server_that_dies_in_the_handshake_fails_with_its_words) {
    kit k;
    kit_begin(&k, "no-start=3", 1000);
    phi_mcp_free(k.mcp);
    {
        phi_mcp_desc to = PHI_ZERO;
        to.argv = mcp_mock_argv(NULL, "no-start=3", NULL);
        to.max_restarts = 1;
        to.restart_delay_ms = 1;
        REQUIRE((k.mcp = phi_mcp_connect(k.rt, &to)) != NULL);
    }
    CHECK(!ready(&k));
    CHECK_EQ_INT(phi_mcp_get_info(k.mcp).state, PHI_MCP_FAILED);
    CHECK(phi_mcp_get_info(k.mcp).message[0] != '\0');
    CHECK(phi__str_find(phi_mcp_get_info(k.mcp).stderr_text, 0, "no configuration") != SIZE_MAX);
    kit_end(&k);
}

TEST(a_server_that_ignores_eof_and_sigterm_is_killed) {
    int64_t began;
    kit k;
    kit_begin(&k, "stay", 1000);
    works(&k, "there");
    began = now_ms();
    phi_mcp_close(k.mcp);
    while (phi_mcp_get_info(k.mcp).state == PHI_MCP_CLOSING && now_ms() < began + 20000)
        (void)phi_step(k.rt, 20);
    CHECK_EQ_INT(phi_mcp_get_info(k.mcp).state, PHI_MCP_CLOSED);
#if defined(_WIN32)
    CHECK(now_ms() - began >= 250); /* close_ms: Windows has no SIGTERM */
#else
    CHECK(now_ms() - began >= 500); /* twice close_ms */
#endif
    kit_end(&k);
}

TEST(a_server_is_freed_in_the_midst_of_a_call) {
    static const char *const tools[] = {"hang", "busy", "flood"};
    phi_mcp_send_desc request = PHI_ZERO;
    char params[60];
    size_t i;
    int n;
    for (i = 0; i < 3; i++) {
        kit k;
        kit_begin(&k, "bad", 20000);
        if (!CHECK(ready(&k))) break;
        (void)snprintf(params, sizeof params, "{\"name\":\"%s\"}", tools[i]);
        request.method = "tools/call";
        request.params = phi_str_of(params);
        request.done_fn = done;
        request.user_data = &k;
        CHECK(phi_mcp_send(k.mcp, &request, NULL) == PHI_OK);
        for (n = 0; n < 10; n++) (void)phi_step(k.rt, 5);
        kit_end(&k);
        CHECK(k.answers <= 1);
    }
}

/* ---- a hundred times in a row ---- */

/* Longest time of its answers. Under Wine a start is slow. */
#if defined(_WIN32)
enum { SHELL_MS = 3000 };
#else
enum { SHELL_MS = 300 };
#endif

/* A server that is a shell: a start costs a millisecond. */
static const char *const *shell(void) {
    static const char text[] =
        "say() { printf '{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\\n' \"$id\" \"$1\"; }\n"
        "while read -r line; do\n"
        "  id=${line#*\\\"id\\\":}; id=${id%%,*}\n"
        "  case $line in\n"
        "  *tools/list*) say '{\"tools\":[{\"name\":\"die\"},{\"name\":\"kill\"},{\"name\":"
        "\"half\"},{\"name\":\"garbage\"},{\"name\":\"flood\"},{\"name\":\"hang\"},{\"name\":"
        "\"twice\"},"
        "{\"name\":\"echo\"}]}' ;;\n"
        "  *:?initialize?*) say "
        "'{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"tools\":{}},"
        "\"serverInfo\":{\"name\":\"sh\",\"version\":\"1\"}}' ;;\n"
        "  *name*:?die?*) exit 1 ;;\n"
        "  *name*:?kill?*) kill -9 $$ ;;\n"
        "  *name*:?half?*) printf '{\"jsonrpc\":\"2.0\",\"id\":%s,\"resu' \"$id\"; exit 0 ;;\n"
        "  *name*:?garbage?*) printf '\\377\\000{[\\n\\n[[[[\\n'; say '{\"content\":[]}' ;;\n"
        "  *name*:?flood?*) head -c ${FLOOD} /dev/zero; echo; say '{\"content\":[]}' ;;\n"
        "  *name*:?hang?*) ;;\n"
        "  *name*:?twice?*) say '{\"content\":[]}'; say '{\"content\":[]}' ;;\n"
        "  *tools/call*) say '{\"content\":[{\"type\":\"text\",\"text\":\"good\"}]}' ;;\n"
        "  *id*:*) printf '{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":-32601,\"message\":"
        "\"no\"}}\\n' \"$id\" ;;\n"
        "  esac\n"
        "done\n";
    static const char *const argv[] = {MCP_MOCK_SH, "-c", text, NULL};
    return argv;
}

static phi_mcp *shell_connect(kit *k) {
    static const char *const small[] = {"FLOOD=3000000", NULL};
    static const char *const large[] = {"FLOOD=104857600", NULL};
    phi_mcp_desc to = PHI_ZERO;
    to.argv = shell();
    to.env = getenv("PHI_SEEDS") != NULL ? large : small;
    to.era = "2025-06-18";
    to.max_message_bytes = MESSAGE_MOST;
    to.timeout_ms = getenv("PHI_SEEDS") != NULL ? 20000 : SHELL_MS;
    to.restart_delay_ms = 1;
    to.close_ms = 300;
    return phi_mcp_connect(k->rt, &to);
}

/* One agent, which calls that tool and then one that works. */
static void once(kit *k, script *s, const char *const *calls) {
    script fresh = {calls, 1, 0, 0, 0, 0};
    const phi_tool_source *source;
    phi_agent agent;
    int i, pid;
    k->mcp = shell_connect(k);
    if (!CHECK(ready(k))) return;
    pid = phi_mcp_get_info(k->mcp).process_id;
    *s = fresh;
    agent = agent_of(k, &source);
    CHECK_EQ_INT(run_of(k, s, agent), PHI_OK);
    CHECK_EQ_INT(s->results, 2);
    CHECK_EQ_INT(s->errors, 0);
    CHECK_EQ_INT(phi_mcp_get_info(k->mcp).state, PHI_MCP_READY);
    phi_agent_free(agent);
    (void)phi_step(k->rt, 0);
    phi_mcp_free(k->mcp);
    for (i = 0; i < 100 && kill(pid, 0) == 0; i++) (void)phi_step(k->rt, 5);
    CHECK(kill(pid, 0) != 0);
}

TEST(a_hundred_troubles_in_a_row_give_one_result_each_and_leave_nothing) {
    static const char *const tools[] = {"die {}",   "kill {}", "half {}", "garbage {}",
                                        "flood {}", "hang {}", "twice {}"};
    phi_runtime_desc desc = PHI_ZERO;
    size_t before = SIZE_MAX;
    script s;
    int i, j, before_failures = test_failures();
    kit k;
    memset(&k, 0, sizeof k);
    k.memory.below = test_allocator();
    desc.features = PHI_ALL_FEATURES;
    desc.allocator.realloc_fn = counted_resize;
    desc.allocator.user_data = &k.memory;
    REQUIRE((k.rt = phi_runtime_new(&desc)) != NULL);
    model_of(&k, &s);
    for (i = 0; i < 100 && test_failures() == before_failures; i++) {
        once(&k, &s, &tools[i % 7]);
        for (j = 0; j < 40 && i >= 14 && k.memory.now > before; j++)
            (void)phi_step(k.rt, 5); /* until a killed program is reaped */
        if (i < 14) before = phi__min(before, k.memory.now);
        if (i >= 14) CHECK_EQ_INT((int)k.memory.now, (int)before);
        if (test_failures() != before_failures) printf("round %d: %s\n", i, tools[i % 7]);
    }
    CHECK(k.memory.peak < MEMORY_MOST);
    phi_runtime_free(k.rt);
    CHECK_EQ_INT((int)k.memory.now, 0);
}

/* ---- cut at each byte ---- */

/* Its answers, all together, are as long as CUT; then it ends. */
static const char *const *cut_shell(void) {
    static const char text[] =
        "left=$CUT\n"
        "say() { s=\"{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":$id,\\\"result\\\":$1}\"\n"
        "  if [ $left -le ${#s} ]; then printf %s \"$s\" | head -c $left; exit 0; fi\n"
        "  left=$((left - ${#s} - 1)); printf '%s\\n' \"$s\"; }\n"
        "while read -r line; do\n"
        "  id=${line#*\\\"id\\\":}; id=${id%%,*}\n"
        "  case $line in\n"
        "  *tools/list*) say '{\"tools\":[{\"name\":\"good\"},{\"name\":\"echo\"}]}' ;;\n"
        "  *:?initialize?*) say "
        "'{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"tools\":{}},"
        "\"serverInfo\":{\"name\":\"sh\",\"version\":\"1\"}}' ;;\n"
        "  *tools/call*) say '{\"content\":[{\"type\":\"text\",\"text\":\"good\"}]}' ;;\n"
        "  esac\n"
        "done\n";
    static const char *const argv[] = {MCP_MOCK_SH, "-c", text, NULL};
    return argv;
}

/* How many of the two calls of an agent are answered with errors. */
static int cut_at(kit *k, script *s, int cut) {
    static const char *const calls[] = {"good {}"};
    script fresh = {calls, 1, 0, 0, 0, 0};
    const phi_tool_source *source;
    const char *env[] = {NULL, NULL};
    phi_mcp_desc to = PHI_ZERO;
    char text[20];
    phi_agent agent;
    (void)snprintf(text, sizeof text, "CUT=%d", cut);
    env[0] = text;
    to.argv = cut_shell();
    to.env = env;
    to.era = "2025-06-18";
    to.no_restart = true;
    to.timeout_ms = to.connect_timeout_ms = 5000;
    k->mcp = phi_mcp_connect(k->rt, &to);
    *s = fresh;
    while (phi_mcp_get_info(k->mcp).state == PHI_MCP_CONNECTING) (void)phi_step(k->rt, 20);
    agent = agent_of(k, &source);
    CHECK_EQ_INT(run_of(k, s, agent), PHI_OK);
    CHECK_EQ_INT(s->results, 2);
    if (phi_mcp_get_info(k->mcp).state != PHI_MCP_READY)
        CHECK(phi_mcp_get_info(k->mcp).message[0] != '\0');
    phi_agent_free(agent);
    (void)phi_step(k->rt, 0);
    phi_mcp_free(k->mcp);
    return s->all_errors;
}

TEST(a_conversation_that_is_cut_at_any_byte_ends_with_words) {
    int cut, fails = 0, last = 2, errors, before = test_failures();
    int stride = getenv("PHI_SEEDS") != NULL ? 1 : 9;
    phi_runtime_desc desc = PHI_ZERO;
    script s;
    kit k;
    memset(&k, 0, sizeof k);
    desc.features = PHI_ALL_FEATURES;
    desc.allocator = test_allocator();
    REQUIRE((k.rt = phi_runtime_new(&desc)) != NULL);
    model_of(&k, &s);
    for (cut = 0; cut < 470 && test_failures() == before; cut += stride) {
        errors = cut_at(&k, &s, cut);
        CHECK(errors <= last); /* the longer it lives, the better */
        if (test_failures() != before) printf("cut at %d: %d errors\n", cut, errors);
        last = errors;
        fails += errors > 0;
    }
    CHECK(fails > 10 && last == 0);
    phi_runtime_free(k.rt);
}

TEST_MAIN(TEST_ENTRY(a_server_that_exits_in_a_call_gives_one_error_and_is_started_again),
          TEST_ENTRY(a_server_that_is_killed_in_a_call_gives_one_error_and_is_started_again),
          TEST_ENTRY(a_server_that_dies_in_the_midst_of_an_answer_gives_one_error),
          TEST_ENTRY(a_server_that_hangs_gives_one_error_and_answers_the_next_call),
          TEST_ENTRY(lines_that_are_no_messages_break_nothing),
          TEST_ENTRY(answers_in_a_wrong_form_give_one_error_each),
          TEST_ENTRY(a_flood_without_a_line_break_costs_no_memory),
          TEST_ENTRY(an_agent_goes_on_whatever_its_server_does),
          TEST_ENTRY(a_server_that_dies_in_the_handshake_fails_with_its_words),
          TEST_ENTRY(a_server_that_ignores_eof_and_sigterm_is_killed),
          TEST_ENTRY(a_server_is_freed_in_the_midst_of_a_call),
          TEST_ENTRY(a_hundred_troubles_in_a_row_give_one_result_each_and_leave_nothing),
          TEST_ENTRY(a_conversation_that_is_cut_at_any_byte_ends_with_words))
