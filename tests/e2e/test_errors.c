/* test_errors.c - each trouble of docs/errors.md, made to happen over loopback HTTP in both
   protocols.

   What the host should see is read from the row of docs/errors.md that names the test: the page
   is the expectation. Around each trouble stands a conversation: a prompt that works before it, and
   one that works after it, with all that was said in the request. */
#include "e2e/e2e.h"
#include "base/base_in.h"
#include "e2e/errors_page.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "log/thread.h"
#include "model/failure.h"
#include "model/model.h"
#include "support/set.h"
#include "loop/loop_in.h"

#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- one trouble ---- */

typedef struct trouble {
    const char *test;
    crowd *c;
    seen *s;
    e2e_wire wire;
} trouble;

/* An agent that has one good conversation behind it. `desc` may hold more than e2e_desc says. */
static bool trouble_begin(trouble *t, const char *test, e2e_wire wire, const phi_runtime_desc *rt,
                          const phi_agent_desc *desc) {
    phi_agent_desc plain = *desc;
    memset(t, 0, sizeof *t);
    t->test = test;
    t->wire = wire;
    t->c = crowd_new(rt);
    if (t->c == NULL) return false;
    plain.model = e2e_model(wire, "/s/lookup");
    t->s = crowd_add(t->c, &plain, e2e_name(wire));
    return t->s != NULL && crowd_ask(t->s, "First.") && CHECK_EQ_INT(t->s->status, PHI_OK) &&
           CHECK_EQ_INT(set_model(t->s->agent, &desc->model), PHI_OK);
}

static const phi_message *trouble_last(const trouble *t) {
    size_t n = phi_thread_message_count(phi_agent_thread(t->s->agent));
    return n > 0 ? phi_thread_message_at(phi_agent_thread(t->s->agent), n - 1) : NULL;
}

/* What error_message begins with; docs/errors.md says so below its table. */
static void trouble_words(const trouble *t, const char *message) {
    const phi_failure *failure = &t->s->failure;
    char want[2300];
    const char *before = "API error";
    if (failure->kind == PHI_FAILURE_AUTH) before = "Auth error";
    if (failure->kind == PHI_FAILURE_OVERFLOW) before = "Context overflow";
    if (failure->kind == PHI_FAILURE_NETWORK || failure->kind == PHI_FAILURE_TIMEOUT)
        before = "Network error";
    if (failure->kind == PHI_FAILURE_RATE_LIMITED)
        before = failure->retry_after_ms == 7000   ? "Rate limited, retry after 7000ms"
                 : failure->retry_after_ms == 1500 ? "Rate limited, retry after 1500ms"
                                                   : "Rate limited";
    (void)snprintf(want, sizeof want, "%s: %s", before, t->s->failure_text);
    CHECK_EQ_STR(message, want);
}

/* The run failed as the page says, and the history ends in what had arrived of the answer. */
static void trouble_check(const trouble *t) {
    const phi_message *last = trouble_last(t);
    char text[2048];
    if (!errors_page_failure(t->test, t->s)) printf("  as %s, at %s\n", e2e_name(t->wire), t->test);
    CHECK_EQ_INT(t->s->events[PHI_EV_ERROR], 1);
    CHECK_EQ_INT(t->s->events[PHI_EV_AGENT_END], 1);
    if (t->s->failure.kind == PHI_FAILURE_NO_MEMORY) {
        CHECK(last != NULL && last->role == PHI_ROLE_USER); /* the prompt stays */
        return;
    }
    REQUIRE(last != NULL && last->role == PHI_ROLE_ASSISTANT);
    CHECK_EQ_INT(last->stop_reason, PHI_STOP_REASON_ERROR);
    (void)snprintf(text, sizeof text, "%.*s", (int)last->error_message.len, last->error_message.at);
    trouble_words(t, text);
    if (t->s->text_len >= sizeof text) return;
    crowd_message_text(t->s, phi_thread_message_count(phi_agent_thread(t->s->agent)) - 1, text,
                       sizeof text);
    CHECK_EQ_STR(text, t->s->text);
}

/* The same agent answers, and what it sends holds all that was said, where it did not fit: summed up. */
static void trouble_end(trouble *t) {
    phi_model model = e2e_model(t->wire, "/s/lookup");
    char *log;
    CHECK_EQ_INT(set_model(t->s->agent, &model), PHI_OK);
    CHECK(crowd_ask(t->s, "Third."));
    if (!CHECK_EQ_INT(t->s->status, PHI_OK)) printf("  %s\n", t->s->failure_text);
    CHECK_EQ_STR(t->s->text, "I look.It is 42.");
    log = mock_ask("GET", "/_log?last=1");
    CHECK(log != NULL && strstr(log, "First.") != NULL && strstr(log, "Second.") != NULL &&
          strstr(log, "Third.\"") != NULL);
    free(log);
    crowd_free(t->c);
}

static void trouble_with(const char *test, e2e_wire wire, const phi_runtime_desc *rt,
                         const phi_agent_desc *desc) {
    trouble t;
    REQUIRE(trouble_begin(&t, test, wire, rt, desc));
    CHECK(crowd_ask(t.s, "Second."));
    trouble_check(&t);
    trouble_end(&t);
}

/* At a path of the mock, in both protocols. */
static void trouble_at(const char *test, const char *path) {
    int w;
    for (w = 0; w < E2E_WIRES; w++) {
        phi_agent_desc desc = e2e_desc((e2e_wire)w, path);
        trouble_with(test, (e2e_wire)w, NULL, &desc);
    }
}

static void trouble_url(const char *test, const char *url, const phi_runtime_desc *rt) {
    int w;
    for (w = 0; w < E2E_WIRES; w++) {
        phi_agent_desc desc = e2e_desc((e2e_wire)w, "");
        desc.model.base_url = url;
        trouble_with(test, (e2e_wire)w, rt, &desc);
    }
}

/* ---- no connection ---- */

static int open_descriptors(void) {
    int fd, n = 0;
    for (fd = 0; fd < 1024; fd++) n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

TEST(a_host_that_does_not_exist_is_said_so) {
    int before = open_descriptors(), tries;
    trouble_url(__func__, "http://no-such-host.invalid", NULL);
    for (tries = 0; tries < 500 && open_descriptors() > before; tries++) (void)usleep(10000);
}

static int free_port(void) {
    struct sockaddr_in address;
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    (void)CHECK(bind(fd, (struct sockaddr *)&address, sizeof address) == 0);
    (void)CHECK(getsockname(fd, (struct sockaddr *)&address, &size) == 0);
    (void)close(fd);
    return ntohs(address.sin_port);
}

TEST(a_refused_connection_is_said_so) {
    char url[64];
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%d", free_port());
    trouble_url(__func__, url, NULL);
}

TEST(a_url_that_is_none_is_said_so) { trouble_url(__func__, "http://127.0.0.1:99999", NULL); }

TEST(no_connection_within_the_deadline_is_a_timeout) {
    struct sockaddr_in address;
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0), filler[3], i, w;
    char url[64];
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(bind(listener, (struct sockaddr *)&address, sizeof address) == 0 &&
            listen(listener, 0) == 0 &&
            getsockname(listener, (struct sockaddr *)&address, &size) == 0);
    for (i = 0; i < 3; i++) { /* its queue is full: the kernel leaves the next ones waiting */
        filler[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        (void)connect(filler[i], (struct sockaddr *)&address, sizeof address);
    }
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%d", ntohs(address.sin_port));
    for (w = 0; w < E2E_WIRES; w++) {
        phi_agent_desc desc = e2e_desc((e2e_wire)w, "");
        desc.model.base_url = url;
        desc.deadlines.connect_ms = 300;
        trouble_with(__func__, (e2e_wire)w, NULL, &desc);
    }
    for (i = 0; i < 3; i++) (void)close(filler[i]);
    (void)close(listener);
}

/* ---- TLS ---- */

/* At a mock with the certificate `name`; trusting the test CA, or only the system's. */
static void trouble_tls(const char *test, const char *name, bool trusting) {
    char dir[512], command[1200], files[3][600], url[64];
    const char *options[4];
    mock_server server;
    phi_runtime_desc rt = PHI_ZERO;
    const char *python = getenv("PYTHON");
    if (system("openssl version >/dev/null 2>&1") != 0) {
        test_skip("no openssl command");
        return;
    }
    REQUIRE(test_temp_dir(dir, sizeof dir));
    (void)snprintf(command, sizeof command, "%s tests/mock/certs.py '%s' >/dev/null 2>&1",
                   python != NULL && python[0] != '\0' ? python : "/usr/bin/python3", dir);
    REQUIRE(system(command) == 0);
    (void)snprintf(files[0], sizeof files[0], "%s/%s.pem", dir, name);
    (void)snprintf(files[1], sizeof files[1], "%s/%s.key", dir, name);
    (void)snprintf(files[2], sizeof files[2], "%s/ca.pem", dir);
    options[0] = "--tls";
    options[1] = files[0];
    options[2] = files[1];
    options[3] = NULL;
    REQUIRE(mock_start(&server, options));
    (void)snprintf(url, sizeof url, "https://localhost:%d", server.port);
    if (trusting) rt.ca_file = files[2];
    if (strcmp(name, "good") != 0 || !trusting) {
        trouble_url(test, url, &rt);
    } else {
        phi_agent_desc desc = e2e_desc(E2E_ANTHROPIC, "");
        crowd *c = crowd_new(&rt);
        seen *s;
        desc.model.base_url = url;
        s = c != NULL ? crowd_add(c, &desc, "tls") : NULL;
        CHECK(s != NULL && crowd_ask(s, "Hi.") && CHECK_EQ_INT(s->status, PHI_OK));
        crowd_free(c);
    }
    mock_stop(&server);
}

TEST(a_self_signed_certificate_is_refused) { trouble_tls(__func__, "selfsigned", true); }
TEST(an_expired_certificate_is_refused) { trouble_tls(__func__, "expired", true); }
TEST(a_certificate_of_another_host_is_refused) { trouble_tls(__func__, "wronghost", true); }
TEST(a_certificate_of_an_unknown_authority_is_refused) { trouble_tls(__func__, "good", false); }
TEST(a_certificate_of_a_given_authority_is_good) { trouble_tls(__func__, "good", true); }

/* A child that answers `count` connections with a few bytes, or with none, and closes them. */
static pid_t rude_server(int count, const char *says, int *port) {
    struct sockaddr_in address;
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    pid_t pid;
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(listener, 8) != 0 || getsockname(listener, (struct sockaddr *)&address, &size) != 0)
        return -1;
    *port = ntohs(address.sin_port);
    fflush(stdout);
    pid = fork();
    while (pid == 0 && count-- > 0) {
        char asked[65536];
        int fd = accept(listener, NULL, NULL);
        if (read(fd, asked, sizeof asked) > 0 && says[0] != '\0')
            (void)!write(fd, says, strlen(says));
        (void)shutdown(fd, SHUT_WR);
        while (read(fd, asked, sizeof asked) > 0) continue;
        (void)close(fd);
    }
    if (pid == 0) _exit(0);
    (void)close(listener);
    return pid;
}

static void trouble_rude(const char *test, const char *scheme, const char *says) {
    char url[64];
    int port = 0;
    pid_t pid = rude_server(E2E_WIRES, says, &port);
    REQUIRE(pid > 0);
    (void)snprintf(url, sizeof url, "%s://127.0.0.1:%d", scheme, port);
    trouble_url(test, url, NULL);
    (void)kill(pid, SIGKILL);
    CHECK_EQ_INT(waitpid(pid, NULL, 0), pid);
}

TEST(a_server_that_does_not_speak_http_is_said_so) {
    trouble_rude(__func__, "http", "SSH-2.0-OpenSSH_9.2\r\n");
}

TEST(tls_to_a_plain_port_is_refused) {
    trouble_rude(__func__, "https", "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
}

TEST(a_connection_closed_without_an_answer_is_said_so) { trouble_rude(__func__, "http", ""); }

/* ---- the server says no ---- */

TEST(a_400_is_an_invalid_request) { trouble_at(__func__, "/m/status=400/s/hello"); }
TEST(a_401_is_an_auth_error) { trouble_at(__func__, "/m/status=401/s/hello"); }
TEST(a_402_is_a_quota_error) { trouble_at(__func__, "/m/status=402/s/hello"); }
TEST(a_403_is_an_auth_error) { trouble_at(__func__, "/m/status=403/s/hello"); }
TEST(a_404_is_an_invalid_request) { trouble_at(__func__, "/m/status=404/s/hello"); }
TEST(a_413_is_an_overflow) { trouble_at(__func__, "/m/status=413/s/hello"); }
TEST(a_413_before_the_body_was_read_is_an_overflow) { trouble_at(__func__, "/m/early/s/hello"); }
TEST(a_prompt_too_long_for_the_model_is_an_overflow) {
    trouble_at(__func__, "/m/overflow/s/hello");
}
TEST(a_429_without_a_delay_is_rate_limited) { trouble_at(__func__, "/m/status=429/s/hello"); }
TEST(a_429_with_retry_after_carries_the_delay) {
    trouble_at(__func__, "/m/status=429+retry-after=7/s/hello");
}
TEST(a_429_with_retry_after_ms_carries_the_delay) {
    trouble_at(__func__, "/m/status=429+retry-after-ms=1500/s/hello");
}
TEST(a_500_is_a_server_error) { trouble_at(__func__, "/m/status=500/s/hello"); }
TEST(a_503_with_a_page_is_a_server_error) { trouble_at(__func__, "/m/status=503+html/s/hello"); }
TEST(a_529_is_a_server_error) { trouble_at(__func__, "/m/status=529/s/hello"); }
TEST(an_error_without_a_body_is_said_so) {
    trouble_at(__func__, "/m/status=500+empty-body/s/hello");
}

TEST(a_redirect_is_not_followed) {
    char *log;
    trouble_at(__func__, "/m/redirect=307/s/hello");
    log = mock_ask("GET", "/_log?last=8");
    CHECK(log != NULL && strstr(log, "\"/landed\"") == NULL);
    free(log);
}

/* ---- an answer that is none ---- */

TEST(a_web_page_instead_of_an_answer_is_said_so) { trouble_at(__func__, "/m/html/s/hello"); }
TEST(a_json_error_with_status_200_is_an_error) { trouble_at(__func__, "/m/json-error/s/hello"); }
TEST(half_of_a_json_answer_is_an_error) { trouble_at(__func__, "/m/whole+truncated-json/s/hello"); }
TEST(a_stream_without_an_event_is_an_error) { trouble_at(__func__, "/m/end=0/s/hello"); }
TEST(an_error_event_in_mid_stream_is_an_error) { trouble_at(__func__, "/m/error-event=4/s/hello"); }
TEST(an_overload_in_mid_stream_is_a_server_error) {
    trouble_at(__func__, "/m/overloaded=4/s/hello");
}
TEST(an_answer_stopped_by_the_content_filter_is_an_error) { trouble_at(__func__, "/s/refusal"); }
TEST(an_event_of_64_megabytes_is_refused) { trouble_at(__func__, "/m/big-event=64/s/hello"); }

TEST(an_answer_larger_than_the_limit_is_refused) {
    int w;
    for (w = 0; w < E2E_WIRES; w++) {
        phi_agent_desc desc = e2e_desc((e2e_wire)w, "/s/long-10000");
        desc.memory.max_response_bytes = 100000;
        trouble_with(__func__, (e2e_wire)w, NULL, &desc);
    }
}

/* ---- silence ---- */

static void trouble_late(const char *test, const char *path, const phi_deadlines *deadlines) {
    int w;
    for (w = 0; w < E2E_WIRES; w++) {
        phi_agent_desc desc = e2e_desc((e2e_wire)w, path);
        desc.deadlines = *deadlines;
        trouble_with(test, (e2e_wire)w, NULL, &desc);
    }
}

TEST(no_answer_within_the_deadline_is_a_timeout) {
    phi_deadlines deadlines = PHI_ZERO;
    deadlines.first_event_ms = 300;
    trouble_late(__func__, "/m/slow-headers/s/hello", &deadlines);
}

TEST(no_first_event_within_the_deadline_is_a_timeout) {
    phi_deadlines deadlines = PHI_ZERO;
    deadlines.first_event_ms = 300;
    trouble_late(__func__, "/m/stall=0/s/hello", &deadlines);
}

TEST(silence_in_mid_stream_is_a_timeout) {
    phi_deadlines deadlines = PHI_ZERO;
    deadlines.idle_ms = 300;
    trouble_late(__func__, "/m/stall=4/s/hello", &deadlines);
}

TEST(keep_alives_for_ever_are_silence) {
    phi_deadlines deadlines = PHI_ZERO;
    deadlines.idle_ms = 300;
    trouble_late(__func__, "/m/ping-forever=4,20/s/hello", &deadlines);
    trouble_late(__func__, "/m/comment-forever=4,20/s/hello", &deadlines);
}

TEST(an_answer_that_takes_too_long_is_a_timeout) {
    phi_deadlines deadlines = PHI_ZERO;
    deadlines.total_ms = 400;
    trouble_late(__func__, "/s/slow-100", &deadlines);
}

/* ---- memory ---- */

TEST(an_answer_larger_than_the_agent_s_memory_is_an_error) {
    int w;
    for (w = 0; w < E2E_WIRES; w++) {
        phi_agent_desc desc = e2e_desc((e2e_wire)w, "/s/long-100000");
        desc.memory.limit_bytes = 300000;
        trouble_with(__func__, (e2e_wire)w, NULL, &desc);
    }
}

/* ---- a stream that breaks off, wherever that is ---- */

/* Breaks the answer of turn `turn` after each number of its events, from `first` on, in each of the
   ways; all at the same time. */
static void cut_everywhere(const char *test, e2e_wire wire, int turn, const char *const *hows,
                           int ways, int first) {
    enum { MOST = 48, EVENTS = 16 };
    crowd *c = crowd_new(NULL);
    seen *s[MOST];
    char names[MOST][48];
    phi_model model;
    int i, n = ways * EVENTS, whole = 0, broken = 0;
    REQUIRE(c != NULL && n <= MOST);
    for (i = 0; i < n; i++) {
        char path[100];
        phi_agent_desc desc;
        (void)snprintf(names[i], sizeof names[i], "%s=%d+on-turn=%d", hows[i % ways],
                       first + i / ways, turn);
        (void)snprintf(path, sizeof path, "/m/%s/s/lookup", names[i]);
        desc = e2e_desc(wire, path);
        s[i] = crowd_add(c, &desc, names[i]);
        REQUIRE(s[i] != NULL && crowd_prompt(s[i], "Second."));
    }
    CHECK(crowd_run(c, 30));
    for (i = 0; i < n; i++) {
        CHECK(crowd_history_holds(s[i]));
        if (s[i]->status == PHI_OK) {
            whole++;
            CHECK_EQ_STR(s[i]->text, "I look.It is 42.");
            continue;
        }
        broken++;
        if (!errors_page_failure(test, s[i])) printf("  %s %s\n", e2e_name(wire), names[i]);
        CHECK_EQ_INT(s[i]->events[PHI_EV_TOOL_START], turn); /* a broken call is never run */
    }
    if (!CHECK(broken >= 2 * ways && whole >= ways))
        printf("  %s, turn %d: %d broken, %d whole\n", e2e_name(wire), turn, broken, whole);
    model = e2e_model(wire, "/s/lookup");
    for (i = 0; i < n; i++)
        CHECK(set_model(s[i]->agent, &model) == PHI_OK && crowd_prompt(s[i], "Third."));
    CHECK(crowd_run(c, 30));
    for (i = 0; i < n; i++) {
        bool same = CHECK_EQ_INT(s[i]->status, PHI_OK);
        same = CHECK(crowd_history_holds(s[i])) && same;
        same = CHECK(strstr(s[i]->text, "It is 42.") != NULL) && same;
        if (!same) printf("  %s %s: %s\n", e2e_name(wire), names[i], s[i]->failure_text);
    }
    crowd_free(c);
}

TEST(a_connection_cut_after_each_event_is_an_error_and_its_calls_are_not_run) {
    static const char *const hows[] = {"eof", "cut", "rst"};
    int w, turn;
    for (w = 0; w < E2E_WIRES; w++)
        for (turn = 0; turn < 2; turn++) cut_everywhere(__func__, (e2e_wire)w, turn, hows, 3, 0);
}

TEST(a_stream_that_ends_after_each_event_is_an_error_and_its_calls_are_not_run) {
    static const char *const hows[] = {"end", "end-mid"};
    int w, turn;
    for (w = 0; w < E2E_WIRES; w++)
        for (turn = 0; turn < 2; turn++) cut_everywhere(__func__, (e2e_wire)w, turn, hows, 2, 1);
}

/* ---- tools ---- */

/* The call's result is an error with the page's words, the run goes on, and the model reads it. */
static void tool_trouble(const char *test, const char *path, const phi_tools_desc *builtin) {
    int w;
    for (w = 0; w < E2E_WIRES; w++) {
        phi_agent_desc desc = e2e_desc((e2e_wire)w, path);
        phi_toolset set;
        crowd *c = crowd_new(NULL);
        seen *s;
        REQUIRE(c != NULL);
        if (builtin != NULL) {
            (void)phi_tools_init(&set, builtin);
            desc.tools = set.tools;
            desc.tool_count = set.count;
        }
        s = crowd_add(c, &desc, e2e_name((e2e_wire)w));
        REQUIRE(s != NULL && crowd_ask(s, "Second."));
        CHECK(errors_page_result(test, s));
        CHECK_EQ_INT(s->status, PHI_OK);
        CHECK_EQ_INT(s->message_count, 4);
        CHECK_EQ_INT(s->events[PHI_EV_TOOL_END], 1);
        CHECK(strncmp(s->text, "The tool said: ", 15) == 0 && strstr(s->text, s->result) != NULL);
        desc.model = e2e_model((e2e_wire)w, "/s/hello");
        CHECK_EQ_INT(set_model(s->agent, &desc.model), PHI_OK);
        CHECK(crowd_ask(s, "Third."));
        CHECK_EQ_INT(s->status, PHI_OK);
        CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(s->agent)), 6);
        crowd_free(c);
    }
}

TEST(a_tool_that_is_not_there_is_an_error_result) { tool_trouble(__func__, "/s/notool", NULL); }

TEST(arguments_that_are_no_json_are_an_error_result) {
    phi_tools_desc tools = PHI_ZERO;
    tool_trouble(__func__, "/s/badargs", &tools);
}

TEST(arguments_that_do_not_fit_the_schema_are_an_error_result) {
    tool_trouble(__func__, "/s/unfit", NULL);
}

TEST(a_tool_that_never_ends_is_an_error_result_at_its_deadline) {
    tool_trouble(__func__, "/s/never", NULL);
}

TEST(a_command_that_never_ends_is_killed_at_its_deadline) {
    phi_tools_desc tools = PHI_ZERO;
    tools.bash_timeout_ms = 1000;
    tool_trouble(__func__, "/s/sleeper", &tools);
}

TEST(a_file_outside_the_workspace_is_an_error_result) {
    phi_tools_desc tools = PHI_ZERO;
    char dir[512];
    REQUIRE(test_temp_dir(dir, sizeof dir));
    tools.workspace = dir;
    tool_trouble(__func__, "/s/outside", &tools);
}

/* A limit on the size of files stands for the full disk: the write fails in its middle. */
TEST(a_full_disk_is_an_error_result_and_the_old_file_is_whole) {
    phi_tools_desc tools = PHI_ZERO;
    struct rlimit before, low;
    char dir[512], command[700], path[600], *text;
    void (*handler)(int);
    REQUIRE(test_temp_dir(dir, sizeof dir));
    (void)snprintf(command, sizeof command, "echo kept > '%s/full.txt'", dir);
    REQUIRE(system(command) == 0);
    tools.workspace = dir;
    fflush(stdout);
    handler = signal(SIGXFSZ, SIG_IGN);
    REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
    low = before;
    low.rlim_cur = 16;
    REQUIRE(setrlimit(RLIMIT_FSIZE, &low) == 0);
    tool_trouble(__func__, "/s/writer", &tools);
    CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0);
    (void)signal(SIGXFSZ, handler);
    (void)snprintf(path, sizeof path, "%s/full.txt", dir);
    text = test_read_file(path, NULL);
    CHECK_EQ_STR(text, "kept\n");
    free(text);
    (void)snprintf(command, sizeof command, "test \"$(ls -A '%s')\" = full.txt", dir);
    CHECK(system(command) == 0);
}

/* ---- what is no error ---- */

TEST(bytes_that_are_not_utf_8_become_replacement_characters) {
    int w;
    for (w = 0; w < E2E_WIRES; w++) {
        phi_agent_desc desc = e2e_desc((e2e_wire)w, "/m/garbage/s/hello");
        crowd *c = crowd_new(NULL);
        seen *s = c != NULL ? crowd_add(c, &desc, "garbage") : NULL;
        REQUIRE(s != NULL && crowd_ask(s, "Hi."));
        CHECK_EQ_INT(s->status, PHI_OK);
        CHECK(strstr(s->text, "\xef\xbf\xbd") != NULL);
        CHECK(strstr(s->text, "Hello! I am a scripted model") != NULL);
        CHECK_EQ_INT(phi__utf8_valid(phi_str_of(s->text)), s->text_len);
        CHECK(crowd_ask(s, "Again."));
        CHECK_EQ_INT(s->status, PHI_OK);
        crowd_free(c);
    }
}

TEST(a_queue_nobody_drains_stops_the_reading_and_nothing_is_lost) {
    int w, i;
    for (w = 0; w < E2E_WIRES; w++) {
        phi_agent_desc desc = e2e_desc((e2e_wire)w, "/s/long-20000");
        crowd *c = crowd_new(NULL);
        seen *s;
        size_t used;
        desc.memory.event_queue_bytes = 20000;
        desc.deadlines.idle_ms = 200; /* it stands still while the host does not drain */
        s = c != NULL ? crowd_add(c, &desc, "queue") : NULL;
        REQUIRE(s != NULL && crowd_prompt(s, "Hi."));
        crowd_silent(c, true);
        for (i = 0; i < 100; i++) {
            CHECK_EQ_INT(crowd_step(c, 0), 1);
            (void)usleep(5000);
        }
        used = phi_memory_used(crowd_runtime(c), NULL);
        CHECK(used < 500000);
        crowd_silent(c, false);
        CHECK(crowd_run(c, 30));
        CHECK_EQ_INT(s->status, PHI_OK);
        CHECK_EQ_INT(s->events[PHI_EV_TEXT], 20000);
        CHECK_EQ_INT(s->text_len, 100000);
        crowd_free(c);
    }
}

/* ---- what functions say ---- */

/* The last error is what the page says of this test. */
static void refused(const char *test, phi_runtime *rt) {
    char cells[ERRORS_PAGE_CELLS][400];
    const char *words = "";
    words = phi_last_error(rt).message;
    phi_status status = phi_last_error(rt).status;
    if (!CHECK_EQ_INT(errors_page_row(test, cells), 4) ||
        !CHECK_EQ_STR(errors_page_status(status), cells[2]) ||
        !CHECK(errors_page_fits(cells[3], words)))
        printf("  | | | %s | `%s` | `%s` |\n", errors_page_status(status), words, test);
}

TEST(a_model_without_a_provider_is_refused) {
    crowd *c = crowd_new(NULL);
    phi_agent_desc desc = e2e_desc(E2E_ANTHROPIC, "");
    phi_model model = desc.model;
    seen *s = c != NULL ? crowd_add(c, &desc, "agent") : NULL;
    REQUIRE(s != NULL);
    model.protocol = desc.model.protocol = "telepathy";
    CHECK(phi_agent_new(crowd_runtime(c), &desc).rt == NULL);
    refused(__func__, crowd_runtime(c));
    CHECK_EQ_INT(set_model(s->agent, &model), PHI_UNSUPPORTED);
    refused(__func__, crowd_runtime(c));
    CHECK_STR(phi_agent_get_info(s->agent).model_id, "claude-sonnet-4-5");
    crowd_free(c);
}

TEST(a_model_without_a_name_is_refused) {
    crowd *c = crowd_new(NULL);
    phi_agent_desc desc = e2e_desc(E2E_ANTHROPIC, "");
    REQUIRE(c != NULL);
    desc.model.id = NULL;
    CHECK(phi_agent_new(crowd_runtime(c), &desc).rt == NULL);
    refused(__func__, crowd_runtime(c));
    crowd_free(c);
}

TEST(an_api_key_with_a_line_break_is_refused) {
    crowd *c = crowd_new(NULL);
    phi_agent_desc desc = e2e_desc(E2E_ANTHROPIC, "");
    REQUIRE(c != NULL);
    desc.model.api_key = "key\r\nX-Smuggled: 1";
    CHECK(phi_agent_new(crowd_runtime(c), &desc).rt == NULL);
    refused(__func__, crowd_runtime(c));
    crowd_free(c);
}

TEST(a_tool_whose_schema_is_no_json_is_refused) {
    crowd *c = crowd_new(NULL);
    phi_agent_desc desc = e2e_desc(E2E_ANTHROPIC, "");
    phi_tool tool = e2e_tools()[0];
    REQUIRE(c != NULL);
    tool.schema = "{\"type\":\"object\",}";
    desc.tools = &tool;
    desc.tool_count = 1;
    CHECK(phi_agent_new(crowd_runtime(c), &desc).rt == NULL);
    refused(__func__, crowd_runtime(c));
    crowd_free(c);
}

TEST(an_empty_prompt_is_refused) {
    crowd *c = crowd_new(NULL);
    phi_agent_desc desc = e2e_desc(E2E_ANTHROPIC, "/s/hello");
    seen *s = c != NULL ? crowd_add(c, &desc, "agent") : NULL;
    REQUIRE(s != NULL);
    CHECK_EQ_INT(phi_prompt(s->agent, ""), PHI_BAD_ARG);
    refused(__func__, crowd_runtime(c));
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(s->agent)), 0);
    CHECK(crowd_ask(s, "Hi."));
    crowd_free(c);
}

TEST(a_prompt_in_the_midst_of_a_run_is_refused) {
    crowd *c = crowd_new(NULL);
    phi_agent_desc desc = e2e_desc(E2E_ANTHROPIC, "/s/hello");
    seen *s = c != NULL ? crowd_add(c, &desc, "agent") : NULL;
    REQUIRE(s != NULL && crowd_prompt(s, "Hi."));
    CHECK_EQ_INT(phi_prompt(s->agent, "And?"), PHI_BUSY);
    refused(__func__, crowd_runtime(c));
    CHECK(crowd_run(c, 10));
    CHECK_EQ_INT(s->status, PHI_OK);
    CHECK_EQ_INT(s->message_count, 2);
    crowd_free(c);
}

TEST(a_prompt_of_an_agent_that_is_gone_is_refused) {
    crowd *c = crowd_new(NULL);
    phi_agent_desc desc = e2e_desc(E2E_ANTHROPIC, "/s/hello");
    seen *s = c != NULL ? crowd_add(c, &desc, "agent") : NULL;
    REQUIRE(s != NULL);
    phi_agent_free(s->agent);
    CHECK_EQ_INT(phi_prompt(s->agent, "Hi."), PHI_STALE);
    refused(__func__, crowd_runtime(c));
    crowd_free(c);
}

/* ---- the page itself ---- */

static bool has(const char *path, const char *what) {
    char *text = test_read_file(path, NULL);
    bool found = text != NULL && strstr(text, what) != NULL;
    free(text);
    return found;
}

static bool ends_with(const char *name, const char *end) {
    size_t n = strlen(name), m = strlen(end);
    return n > m && strcmp(name + n - m, end) == 0;
}

static bool defined_in(const char *room, const char *c, const char *python) {
    char path[600];
    struct dirent *entry;
    bool found = false;
    DIR *folder;
    (void)snprintf(path, sizeof path, "tests/%s", room);
    folder = opendir(path);
    while (folder != NULL && !found && (entry = readdir(folder)) != NULL) {
        (void)snprintf(path, sizeof path, "tests/%s/%s", room, entry->d_name);
        if (ends_with(path, ".c") || ends_with(path, ".h")) found = has(path, c);
        if (strncmp(entry->d_name, "test_", 5) == 0 && ends_with(path, ".py"))
            found = has(path, python);
    }
    if (folder != NULL) (void)closedir(folder);
    return found;
}

static bool defined_somewhere(const char *test) {
    char c[250], python[250];
    struct dirent *entry;
    bool found = false;
    DIR *rooms = opendir("tests");
    (void)snprintf(c, sizeof c, "TEST(%s)", test);
    (void)snprintf(python, sizeof python, "def %s(self)", test);
    while (rooms != NULL && !found && (entry = readdir(rooms)) != NULL)
        if (entry->d_name[0] != '.') found = defined_in(entry->d_name, c, python);
    if (rooms != NULL) (void)closedir(rooms);
    return found;
}

TEST(every_row_of_the_page_names_a_test_that_exists) {
    char *page = test_read_file("docs/errors.md", NULL), *line, *next;
    int rows = 0;
    REQUIRE(page != NULL);
    for (line = page; *line != '\0'; line = next) {
        char *end = strchr(line, '\n'), *last;
        next = end != NULL ? end + 1 : line + strlen(line);
        if (end != NULL) *end = '\0';
        if (line[0] != '|' || line[1] == '-' || strncmp(next, "|-", 2) == 0) continue;
        last = strrchr(line, '`');
        if (!CHECK(last != NULL && strcmp(last, "` |") == 0)) {
            printf("  %s\n", line);
            continue;
        }
        *last = '\0';
        last = strrchr(line, '`') + 1;
        if (!CHECK(defined_somewhere(last))) printf("  no TEST(%s)\n", last);
        rows++;
    }
    CHECK(rows >= 50);
    free(page);
}

MOCK_MAIN(
    e2e_options, TEST_ENTRY(a_host_that_does_not_exist_is_said_so),
    TEST_ENTRY(a_refused_connection_is_said_so), TEST_ENTRY(a_url_that_is_none_is_said_so),
    TEST_ENTRY(no_connection_within_the_deadline_is_a_timeout),
    TEST_ENTRY(a_self_signed_certificate_is_refused), TEST_ENTRY(an_expired_certificate_is_refused),
    TEST_ENTRY(a_certificate_of_another_host_is_refused),
    TEST_ENTRY(a_certificate_of_an_unknown_authority_is_refused),
    TEST_ENTRY(a_certificate_of_a_given_authority_is_good),
    TEST_ENTRY(tls_to_a_plain_port_is_refused),
    TEST_ENTRY(a_server_that_does_not_speak_http_is_said_so),
    TEST_ENTRY(a_connection_closed_without_an_answer_is_said_so),
    TEST_ENTRY(a_400_is_an_invalid_request), TEST_ENTRY(a_401_is_an_auth_error),
    TEST_ENTRY(a_402_is_a_quota_error), TEST_ENTRY(a_403_is_an_auth_error),
    TEST_ENTRY(a_404_is_an_invalid_request), TEST_ENTRY(a_413_is_an_overflow),
    TEST_ENTRY(a_413_before_the_body_was_read_is_an_overflow),
    TEST_ENTRY(a_prompt_too_long_for_the_model_is_an_overflow),
    TEST_ENTRY(a_429_without_a_delay_is_rate_limited),
    TEST_ENTRY(a_429_with_retry_after_carries_the_delay),
    TEST_ENTRY(a_429_with_retry_after_ms_carries_the_delay), TEST_ENTRY(a_500_is_a_server_error),
    TEST_ENTRY(a_503_with_a_page_is_a_server_error), TEST_ENTRY(a_529_is_a_server_error),
    TEST_ENTRY(an_error_without_a_body_is_said_so), TEST_ENTRY(a_redirect_is_not_followed),
    TEST_ENTRY(a_web_page_instead_of_an_answer_is_said_so),
    TEST_ENTRY(a_json_error_with_status_200_is_an_error),
    TEST_ENTRY(half_of_a_json_answer_is_an_error),
    TEST_ENTRY(a_stream_without_an_event_is_an_error),
    TEST_ENTRY(an_error_event_in_mid_stream_is_an_error),
    TEST_ENTRY(an_overload_in_mid_stream_is_a_server_error),
    TEST_ENTRY(an_answer_stopped_by_the_content_filter_is_an_error),
    TEST_ENTRY(an_event_of_64_megabytes_is_refused),
    TEST_ENTRY(an_answer_larger_than_the_limit_is_refused),
    TEST_ENTRY(no_answer_within_the_deadline_is_a_timeout),
    TEST_ENTRY(no_first_event_within_the_deadline_is_a_timeout),
    TEST_ENTRY(silence_in_mid_stream_is_a_timeout), TEST_ENTRY(keep_alives_for_ever_are_silence),
    TEST_ENTRY(an_answer_that_takes_too_long_is_a_timeout),
    TEST_ENTRY(an_answer_larger_than_the_agent_s_memory_is_an_error),
    TEST_ENTRY(a_connection_cut_after_each_event_is_an_error_and_its_calls_are_not_run),
    TEST_ENTRY(a_stream_that_ends_after_each_event_is_an_error_and_its_calls_are_not_run),
    TEST_ENTRY(a_tool_that_is_not_there_is_an_error_result),
    TEST_ENTRY(arguments_that_are_no_json_are_an_error_result),
    TEST_ENTRY(arguments_that_do_not_fit_the_schema_are_an_error_result),
    TEST_ENTRY(a_tool_that_never_ends_is_an_error_result_at_its_deadline),
    TEST_ENTRY(a_command_that_never_ends_is_killed_at_its_deadline),
    TEST_ENTRY(a_file_outside_the_workspace_is_an_error_result),
    TEST_ENTRY(a_full_disk_is_an_error_result_and_the_old_file_is_whole),
    TEST_ENTRY(bytes_that_are_not_utf_8_become_replacement_characters),
    TEST_ENTRY(a_queue_nobody_drains_stops_the_reading_and_nothing_is_lost),
    TEST_ENTRY(a_model_without_a_provider_is_refused),
    TEST_ENTRY(a_model_without_a_name_is_refused),
    TEST_ENTRY(an_api_key_with_a_line_break_is_refused),
    TEST_ENTRY(a_tool_whose_schema_is_no_json_is_refused), TEST_ENTRY(an_empty_prompt_is_refused),
    TEST_ENTRY(a_prompt_in_the_midst_of_a_run_is_refused),
    TEST_ENTRY(a_prompt_of_an_agent_that_is_gone_is_refused),
    TEST_ENTRY(every_row_of_the_page_names_a_test_that_exists))
