/* mock_server.h - the mock model server (tests/mock) as a process beside a test program.

   MOCK_MAIN is TEST_MAIN with one server that all tests of the program share. The server is
   nobody's child and ends when its stdin closes, so that a program that crashes leaves nothing
   behind. $PYTHON names the interpreter (default: /usr/bin/python3). */
#ifndef PHI_TESTS_SUPPORT_MOCK_SERVER_H
#define PHI_TESTS_SUPPORT_MOCK_SERVER_H

#include "support/test.h"

typedef struct mock_server {
    int to, from; /* its stdin and stdout */
    int port;     /* on 127.0.0.1; 0: it does not run */
} mock_server;

extern mock_server mock; /* MOCK_MAIN's */

/* options: NULL-ended, besides --port 0; NULL: none. False, and words on stdout: not started. */
bool mock_start(mock_server *server, const char *const *options);
bool mock_start_script(mock_server *server, const char *script, const char *const *options);
void mock_stop(mock_server *server); /* returns when it is gone */

/* GET or POST a control path of `mock` ("/_log?last=1"); the answer's body, caller frees with
   free(). NULL, and a failed check, when there is none. */
char *mock_ask(const char *method, const char *path);
char *mock_ask_at(int port, const char *method, const char *path); /* of any server */

/* "http://127.0.0.1:PORT" and `path`, in a buffer that is used again after 8 calls. */
const char *mock_url(const char *path);

/* `options` of the server: a terminated list, or NULL. */
#define MOCK_MAIN(options, ...)                                                                    \
    int main(int argc, char **argv) {                                                              \
        static const test_entry entries[] = {__VA_ARGS__};                                         \
        return mock_main(options, argc, argv, entries, sizeof entries / sizeof entries[0]);        \
    }

/* Starts `mock`, runs the tests, and stops it. */
int mock_main(const char *const *options, int argc, char **argv, const test_entry *entries,
              size_t count);

#endif
