/* mcp_mock.h - the mock MCP server (tests/mock/mcp_server.py): over HTTP as a process beside a test
   program, over stdio as an argument vector that the code under test starts itself.

   MCP_MOCK_MAIN is TEST_MAIN with one HTTP server that all tests of the program share; its paths
   choose the eras and the misbehaviours, so that one is enough. See tests/mock/README.md, "MCP". */
#ifndef PHI_TESTS_SUPPORT_MCP_MOCK_H
#define PHI_TESTS_SUPPORT_MCP_MOCK_H

#include "support/mock_server.h"

extern mock_server mcp_mock; /* MCP_MOCK_MAIN's */

/* A shell as the first word of an argument vector: on Windows it is looked for. */
#if defined(_WIN32)
#define MCP_MOCK_SH "sh"
#else
#define MCP_MOCK_SH "/bin/sh"
#endif

/* "http://127.0.0.1:PORT/m/BEHAVIOUR/e/ERAS/mcp", or without the parts that are NULL. In a buffer
   that is used again after 8 calls. */
const char *mcp_mock_url(const char *eras, const char *behaviour);

/* The same, of HTTP with SSE (2024-11-05): ends in /sse. */
const char *mcp_mock_sse_url(const char *behaviour);

/* A NULL-ended argument vector that starts the server on stdin and stdout, in a buffer that is
   used again after 8 calls. NULL: all eras, no misbehaviour, no log. `log` is a file that gets a
   line of JSON for each message and each refusal. */
const char *const *mcp_mock_argv(const char *eras, const char *behaviour, const char *log);

/* What clients did wrong over HTTP since the last call: "[]", or a JSON list of sentences. The
   caller frees it with free(). */
char *mcp_mock_problems(void);

/* The lines {"problem": ...} of a log of mcp_mock_argv: their number, each one printed. */
int mcp_mock_log_problems(const char *log);

#define MCP_MOCK_MAIN(...)                                                                         \
    int main(int argc, char **argv) {                                                              \
        static const test_entry entries[] = {__VA_ARGS__};                                         \
        return mcp_mock_main(argc, argv, entries, sizeof entries / sizeof entries[0]);             \
    }

int mcp_mock_main(int argc, char **argv, const test_entry *entries, size_t count);

#endif
