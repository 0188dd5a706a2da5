/* mcp_mock.c - see mcp_mock.h. */
#include "support/mcp_mock.h"

enum { MCP_MOCK_TURNS = 8, MCP_MOCK_WORDS = 10 };

static const char mcp_mock_script[] = "tests/mock/mcp_server.py";

mock_server mcp_mock = {-1, -1, 0};

static const char *mcp_mock__url(const char *eras, const char *behaviour, const char *end) {
    static char urls[MCP_MOCK_TURNS][400];
    static unsigned next;
    char *url = urls[next++ % MCP_MOCK_TURNS];
    (void)snprintf(url, sizeof urls[0], "http://127.0.0.1:%d%s%s%s%s/%s", mcp_mock.port,
                   behaviour != NULL ? "/m/" : "", behaviour != NULL ? behaviour : "",
                   eras != NULL ? "/e/" : "", eras != NULL ? eras : "", end);
    return url;
}

const char *mcp_mock_url(const char *eras, const char *behaviour) {
    return mcp_mock__url(eras, behaviour, "mcp");
}

const char *mcp_mock_sse_url(const char *behaviour) {
    return mcp_mock__url("2024-11-05", behaviour, "sse");
}

const char *const *mcp_mock_argv(const char *eras, const char *behaviour, const char *log) {
    static const char *vectors[MCP_MOCK_TURNS][MCP_MOCK_WORDS];
    static unsigned next;
    const char **argv = vectors[next++ % MCP_MOCK_TURNS], *python = getenv("PYTHON");
    size_t n = 0;
    argv[n++] = python != NULL && python[0] != '\0' ? python : "/usr/bin/python3";
    argv[n++] = mcp_mock_script;
    if (eras != NULL) {
        argv[n++] = "--eras";
        argv[n++] = eras;
    }
    if (behaviour != NULL) {
        argv[n++] = "--m";
        argv[n++] = behaviour;
    }
    if (log != NULL) {
        argv[n++] = "--log";
        argv[n++] = log;
    }
    argv[n] = NULL;
    return argv;
}

char *mcp_mock_problems(void) {
    char *problems = mock_ask_at(mcp_mock.port, "GET", "/_problems");
    free(mock_ask_at(mcp_mock.port, "GET", "/_forget"));
    return problems;
}

int mcp_mock_log_problems(const char *log) {
    static char line[4096];
    int found = 0;
    FILE *file = fopen(log, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "{\"problem\"", 10) != 0) continue;
        printf("the mock says %s", line);
        found++;
    }
    if (file != NULL) (void)fclose(file);
    return found;
}

int mcp_mock_main(int argc, char **argv, const test_entry *entries, size_t count) {
    int failed;
    if (!mock_start_script(&mcp_mock, mcp_mock_script, NULL)) return 1;
    failed = test_run(argc, argv, entries, count);
    mock_stop(&mcp_mock);
    return failed;
}
