/* bare.h - the peer: libcurl's multi handle over epoll, with curl_multi_socket_action, and no more.

   This is the least work a program can do with libcurl and not block. One request at a time; the
   connection is kept between them. */
#ifndef BENCH_BARE_H
#define BENCH_BARE_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct bare {
    CURLM *multi;
    CURL *easy;
    struct curl_slist *headers;
    int epoll, running;
    uint64_t due_ns; /* curl's timeout; UINT64_MAX: none */
} bare;

void bare_open(bare *b);
void bare_close(bare *b);

/* Sends `body`, borrowed until bare_end, as an Anthropic program would; what comes back goes to
   `take`, as of CURLOPT_WRITEFUNCTION. */
void bare_begin(bare *b, const char *url, const char *body, size_t body_len,
                curl_write_callback take, void *user_data);

/* One turn: waits up to timeout_ms (-1: for ever) and works on what is ready. Returns how many
   sockets were. */
int bare_step(bare *b, int timeout_ms);
void bare_end(bare *b);

/* A write callback that puts the bytes into a buffer and counts them; user_data: a uint64_t. */
size_t bare_touch(char *at, size_t size, size_t n, void *user_data);

#endif
