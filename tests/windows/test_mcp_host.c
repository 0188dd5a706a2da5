/* test_mcp_host.c - MCP over stdio as a host on Windows uses it: the server is this program, started
   by CreateProcess with anonymous pipes. Runs by `make windows` alone. */
#include "support/test.h"

#if defined(_WIN32)

#include "agent/runtime.h"
#include "mcp/mcp.h"
#include "mcp/mcp_serve.h"

#include <windows.h>

enum { ROOM = 4 << 20, MOST_MS = 60000 };

static char self[1024];

/* ---- the server ---- */

static phi_flow echo(void *user_data, phi_call call, phi_str arguments) {
    char *text = (char *)malloc(arguments.len + 1);
    (void)user_data;
    memcpy(text, arguments.at, arguments.len);
    text[arguments.len] = '\0';
    (void)phi_call_reply(call, text);
    free(text);
    return PHI_DONE;
}

static int serve(void) {
    phi_runtime *rt = phi_runtime_new(NULL);
    phi_tool tool = PHI_ZERO;
    phi_mcp_server_desc desc = PHI_ZERO;
    phi_mcp_server *server;
    tool.name = "echo";
    tool.start = echo;
    desc.name = "echo";
    desc.tools = &tool;
    desc.tool_count = 1;
    desc.stdio = true;
    server = phi_mcp_serve(rt, &desc);
    if (server == NULL) return 9;
    while (!phi_mcp_server_get_info(server).ended) (void)phi_step(rt, -1);
    phi_mcp_server_free(server);
    phi_runtime_free(rt);
    return 3;
}

/* ---- a host that phi did not make ---- */

typedef struct host {
    HANDLE to, from, process;
    char *text; /* all that came */
    size_t len, at;
} host;

static bool host_open(host *h) {
    SECURITY_ATTRIBUTES inherited = {sizeof inherited, NULL, TRUE};
    STARTUPINFOA start;
    PROCESS_INFORMATION made;
    HANDLE in, out;
    char line[1100];
    BOOL good;
    memset(&start, 0, sizeof start);
    memset(h, 0, sizeof *h);
    h->text = (char *)malloc(ROOM);
    if (!CreatePipe(&in, &h->to, &inherited, 0) || !CreatePipe(&h->from, &out, &inherited, 0))
        return false;
    (void)SetHandleInformation(h->to, HANDLE_FLAG_INHERIT, 0);
    (void)SetHandleInformation(h->from, HANDLE_FLAG_INHERIT, 0);
    start.cb = sizeof start;
    start.dwFlags = STARTF_USESTDHANDLES;
    start.hStdInput = in;
    start.hStdOutput = out;
    start.hStdError = GetStdHandle(STD_ERROR_HANDLE);
    (void)snprintf(line, sizeof line, "\"%s\" --serve", self);
    good = CreateProcessA(self, line, NULL, NULL, TRUE, 0, NULL, NULL, &start, &made);
    (void)CloseHandle(in);
    (void)CloseHandle(out);
    if (!CHECK(good)) return false;
    (void)CloseHandle(made.hThread);
    h->process = made.hProcess;
    return true;
}

static void host_say(const host *h, const char *text) {
    size_t len = strlen(text);
    DWORD n = 0;
    for (; len > 0 && CHECK(WriteFile(h->to, text, (DWORD)len, &n, NULL)); text += n, len -= n)
        if (n == 0) return;
}

/* Waits for a line. "": none comes. */
static const char *host_hear(host *h) {
    char *line, *end;
    DWORD n;
    while ((end = (char *)memchr(h->text + h->at, '\n', h->len - h->at)) == NULL) {
        if (h->len == ROOM ||
            !ReadFile(h->from, h->text + h->len, (DWORD)(ROOM - h->len), &n, NULL))
            return "";
        h->len += n;
    }
    *end = '\0';
    line = h->text + h->at;
    h->at = (size_t)(end - h->text) + 1;
    return line;
}

static void host_begin(host *h) {
    host_say(h, "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
                "\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},"
                "\"clientInfo\":{\"name\":\"host\",\"version\":\"1\"}}}\n");
    CHECK(strstr(host_hear(h), "\"protocolVersion\":\"2025-06-18\"") != NULL);
    host_say(h, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
}

/* The server ends by itself. */
static void host_close(host *h) {
    DWORD code = 0;
    if (h->to != NULL) (void)CloseHandle(h->to);
    CHECK_EQ_INT(WaitForSingleObject(h->process, MOST_MS), WAIT_OBJECT_0);
    CHECK(GetExitCodeProcess(h->process, &code) && code == 3);
    if (h->from != NULL) (void)CloseHandle(h->from);
    (void)TerminateProcess(h->process, 1);
    (void)CloseHandle(h->process);
    free(h->text);
}

TEST(a_host_calls_a_tool_over_anonymous_pipes) {
    enum { CALLS = 100 };
    char line[200], want[100];
    ULONGLONG began;
    host h;
    int i;
    REQUIRE(host_open(&h));
    host_begin(&h);
    host_say(&h, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\n");
    CHECK(strstr(host_hear(&h), "\"name\":\"echo\"") != NULL);
    began = GetTickCount64();
    for (i = 0; i < CALLS; i++) {
        (void)snprintf(
            line, sizeof line,
            "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{\"name\":"
            "\"echo\",\"arguments\":{\"n\":%d}}}\n",
            i + 2, i);
        (void)snprintf(want, sizeof want, "\"text\":\"{\\\"n\\\":%d}\"", i);
        host_say(&h, line);
        CHECK(strstr(host_hear(&h), want) != NULL);
    }
    printf("  %d ms for %d calls\n", (int)(GetTickCount64() - began), CALLS);
    host_close(&h);
}

TEST(a_megabyte_goes_there_and_comes_back) {
    enum { BYTES = 1000000 };
    static const char head[] =
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
        "\"name\":\"echo\",\"arguments\":{\"text\":\"";
    char *text = (char *)malloc(BYTES + 300);
    const char *line;
    host h;
    REQUIRE(host_open(&h));
    host_begin(&h);
    memcpy(text, head, sizeof head - 1);
    memset(text + sizeof head - 1, 'x', BYTES);
    memcpy(text + sizeof head - 1 + BYTES, "\"}}}\n", 6);
    host_say(&h, text);
    line = host_hear(&h);
    CHECK(strlen(line) > BYTES);
    CHECK(strstr(line, "xxx\\\"}\"}],\"isError\":false}}") != NULL);
    free(text);
    host_close(&h);
}

TEST(a_server_whose_host_is_gone_ends) {
    host h;
    REQUIRE(host_open(&h));
    host_begin(&h);
    host_say(&h, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n{\"jsonrpc\"");
    (void)CloseHandle(h.from);
    h.from = NULL;
    host_close(&h);
}

/* ---- phi as the host ---- */

static void done(void *user_data, const phi_mcp_reply *reply) {
    phi_str text = phi_json_str(phi_json_path(reply->result, "content[0].text"), "");
    *(int *)user_data += reply->status == PHI_OK && phi_str_equal(text, phi_str_of("{\"a\":1}"));
}

TEST(phi_is_the_host_of_its_own_server) {
    enum { CALLS = 60 }; /* at a time: the server takes 64 */
    const char *argv[] = {self, "--serve", NULL};
    ULONGLONG end = GetTickCount64() + MOST_MS;
    phi_mcp_send_desc request = PHI_ZERO;
    phi_mcp_desc desc = PHI_ZERO;
    phi_runtime *rt = phi_runtime_new(NULL);
    phi_mcp *mcp;
    int answers = 0, i;
    desc.argv = argv;
    REQUIRE((mcp = phi_mcp_connect(rt, &desc)) != NULL);
    while (phi_mcp_get_info(mcp).state == PHI_MCP_CONNECTING && GetTickCount64() < end)
        (void)phi_step(rt, 100);
    REQUIRE(CHECK_EQ_INT(phi_mcp_get_info(mcp).state, PHI_MCP_READY));
    request.method = "tools/call";
    request.params = phi_str_of("{\"name\":\"echo\",\"arguments\":{\"a\":1}}");
    request.done_fn = done;
    request.user_data = &answers;
    for (i = 0; i < CALLS; i++) CHECK_EQ_INT(phi_mcp_send(mcp, &request, NULL), PHI_OK);
    while (answers < CALLS && GetTickCount64() < end) (void)phi_step(rt, 100);
    CHECK_EQ_INT(answers, CALLS);
    phi_mcp_close(mcp);
    while (phi_mcp_get_info(mcp).state == PHI_MCP_CLOSING && GetTickCount64() < end)
        (void)phi_step(rt, 100);
    CHECK_EQ_INT(phi_mcp_get_info(mcp).state, PHI_MCP_CLOSED);
    CHECK_EQ_INT(phi_mcp_get_info(mcp).restarts, 0);
    phi_mcp_free(mcp);
    phi_runtime_free(rt);
}

int main(int argc, char **argv) {
    static const test_entry entries[] = {TEST_ENTRY(a_host_calls_a_tool_over_anonymous_pipes),
                                         TEST_ENTRY(a_megabyte_goes_there_and_comes_back),
                                         TEST_ENTRY(a_server_whose_host_is_gone_ends),
                                         TEST_ENTRY(phi_is_the_host_of_its_own_server)};
    if (argc > 1 && strcmp(argv[1], "--serve") == 0) return serve();
    (void)GetModuleFileNameA(NULL, self, (DWORD)sizeof self);
    return test_run(argc, argv, entries, sizeof entries / sizeof entries[0]);
}

#else

int main(void) { return 0; }

#endif
