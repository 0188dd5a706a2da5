/* fuzz_http_request.c - any bytes as what a client sends to our server.

   First to the reader, whole and in pieces: the verdict must not depend on them. Then over a real
   connection: every answer is one of HTTP's, memory stays within bounds, and nothing is left when
   the client has gone. The first byte chooses the pieces. */
#include "serve/serve_in.h"
#include "serve/http_head_in.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool held) {
    if (!held) abort();
}

/* ---- the reader ---- */

static void read_requests(const char *bytes, size_t len, size_t piece, phi__buf *log) {
    static const phi__http_head_limits limits = {200, 600, 8};
    phi__http_head head;
    phi__http_head_body body;
    phi_memory memory;
    size_t at = 0, used;
    phi_status status = PHI_OK;
    phi_memory_init(&memory, NULL, 0);
    phi__http_head_init(&head, &memory, &limits);
    while (status == PHI_OK && at < len) {
        phi_str data;
        do {
            size_t n = piece < len - at ? piece : len - at;
            char *copy = (char *)malloc(n);
            if (copy == NULL) abort();
            memcpy(copy, bytes + at, n);
            status = phi__http_head_read(&head, copy, n, &used);
            free(copy);
            must(used <= n && head.bytes.len <= 600);
            at += used;
        } while (status == PHI_BUSY && at < len);
        if (status != PHI_OK) break;
        must(head.method.len > 0 && head.path.len > 0 && head.header_count <= 8);
        must(!head.chunked || head.length == 0);
        phi__buf_printf(log, "%.*s|%.*s|%d;", (int)head.path.len, head.path.at,
                        (int)head.authority.len, head.authority.at, (int)head.header_count);
        phi__http_head_body_init(&body, &head);
        do {
            size_t n = piece < len - at ? piece : len - at;
            status = phi__http_head_body_read(&body, bytes + at, n, &used, &data);
            must(used <= n && data.len <= used);
            if (data.len > 0) phi__buf_add_str(log, data);
            at += used;
        } while (status == PHI_BUSY && at < len);
        phi__http_head_clear(&head);
    }
    phi__buf_printf(log, "=%d at %d", (int)status, status == PHI_PARSE ? 0 : (int)at);
    phi__http_head_free(&head);
    must(memory.used_bytes == 0);
}

static void compare(const char *bytes, size_t len, size_t piece) {
    phi_memory memory;
    phi__buf whole, parts;
    phi_memory_init(&memory, NULL, 0);
    phi__buf_init(&whole, &memory);
    phi__buf_init(&parts, &memory);
    read_requests(bytes, len, len + 1, &whole);
    read_requests(bytes, len, piece, &parts);
    must(whole.len == parts.len && memcmp(whole.at, parts.at, whole.len) == 0);
    phi__buf_free(&whole);
    phi__buf_free(&parts);
}

/* ---- the server ---- */

static phi_memory server_memory;
static phi__io *io;
static phi__serve *serve;
static phi__serve_exchange *kept;

static void on_body(void *ctx, const char *bytes, size_t len) { (void)ctx, (void)bytes, (void)len; }

static void on_whole(void *ctx) {
    (void)ctx;
    (void)phi__serve_reply(kept, 200, NULL, 0, phi_str_of("whole"));
    kept = NULL;
}

static void on_gone(void *ctx) {
    (void)ctx;
    kept = NULL;
}

static void on_request(void *ctx, phi__serve_exchange *exchange, const phi__http_head *head) {
    phi__serve_calls calls;
    (void)ctx;
    must(kept == NULL);
    if (head->path.len % 3 == 0) {
        phi__serve_refuse(exchange, 404, NULL);
        return;
    }
    memset(&calls, 0, sizeof calls);
    calls.body = on_body;
    calls.whole = on_whole;
    calls.gone = on_gone;
    phi__serve_keep(exchange, &calls, NULL);
    if (head->path.len % 3 == 1) {
        if (phi__serve_begin(exchange, 200, NULL, 0) == PHI_OK &&
            phi__serve_write(exchange, head->path) == PHI_OK)
            phi__serve_end(exchange);
        return;
    }
    kept = exchange;
}

static void begin(void) {
    phi__serve_desc desc;
    char message[160];
    phi_memory_init(&server_memory, NULL, 0);
    must(phi__io_new(&server_memory, NULL, &io) == PHI_OK);
    memset(&desc, 0, sizeof desc);
    desc.max_body_bytes = 5000;
    desc.request = on_request;
    must(phi__serve_new(io, &desc, &serve, message, sizeof message) == PHI_OK);
}

static void pump(int turns) {
    while (turns-- > 0) {
        phi__io_step_begin(io);
        (void)phi__io_wait(io, 0, 64);
        (void)phi__io_timers(io, 64);
    }
}

static void converse(const char *bytes, size_t len, size_t piece) {
    struct sockaddr_in address;
    struct linger hard;
    char got[16384];
    size_t at = 0;
    ssize_t n;
    int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), i;
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(phi__serve_port(serve));
    must(fd >= 0);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        (void)close(fd); /* this machine has no port to spare now */
        return;
    }
    (void)fcntl(fd, F_SETFL, O_NONBLOCK);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, (socklen_t)sizeof one);
    while (at < len) {
        n = send(fd, bytes + at, piece < len - at ? piece : len - at, MSG_NOSIGNAL);
        if (n <= 0) break;
        at += (size_t)n;
        pump(1);
    }
    pump(6);
    must(server_memory.used_bytes < 200000);
    n = read(fd, got, sizeof got);
    must(n < 9 || memcmp(got, "HTTP/1.1 ", 9) == 0);
    hard.l_onoff = 1;
    hard.l_linger = 0; /* ports must not run out */
    (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, (socklen_t)sizeof hard);
    (void)close(fd);
    for (i = 0; i < 2000 && phi__serve_connections(serve) > 0; i++) pump(1);
    if (phi__serve_connections(serve) > 0) { /* the server has not seen the end yet */
        phi__serve_free(serve);
        phi__io_free(io);
        must(server_memory.used_bytes == 0);
        begin();
    }
    must(kept == NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t piece;
    if (size < 2 || size > 20000) return 0;
    piece = (size_t)data[0] + 1;
    compare((const char *)data + 1, size - 1, piece);
    if (io == NULL) begin();
    if (data[0] % 4 == 0) converse((const char *)data + 1, size - 1, piece * 16);
    return 0;
}
