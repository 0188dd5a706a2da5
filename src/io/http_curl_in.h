/* http_curl_in.h - structs and functions that the files of the libcurl transport share.

   A request has the table slot of its phi_transfer's index: waiting there costs no more than the
   slot. When it starts it becomes a phi__http_transfer with an easy handle. A transfer is in
   exactly one list: active (curl works on it), done (curl has finished, its end is still to be
   reported), lingering (released: curl reads and discards the rest of the body, so that the
   connection can serve again), dying (cancelled, it waits for its removal). A transfer in one of
   the last two never touches its request again. Nothing in here is freed inside a callback of curl:
   only the pump removes. */
#ifndef PHI_IO_HTTP_CURL_IN_H
#define PHI_IO_HTTP_CURL_IN_H

#include "io/io_in.h"

#if !defined(PHI_NO_CURL)

#include <curl/curl.h>

#define PHI__HTTP_HEAD_BYTES 16384    /* of header lines that are kept; transport.h */
#define PHI__HTTP_HEADERS_MOST 262144 /* of header lines that are read, interim and trailers too */
#define PHI__HTTP_JOIN_BYTES 16384    /* bodies up to this are sent from one block */
#define PHI__HTTP_OVERFLOW_BYTES 1048576 /* of an HTTP/2 stream that is not taken */
#define PHI__HTTP_WORDS_BYTES 512
#define PHI__HTTP_LINGER_BYTES 65536u /* of a body that are read behind its last event */

/* What stopped a transfer, where its status does not say enough. */
typedef enum phi__http_reason {
    PHI__HTTP_REASON_NONE = 0,
    PHI__HTTP_REASON_OVERFLOW, /* HTTP/2: more waits than may */
    PHI__HTTP_REASON_HEADERS,  /* too many bytes of header lines */
    PHI__HTTP_REASON_LINE,     /* too many of one, by libcurl's own limits */
    PHI__HTTP_REASON_CODING    /* a transfer coding that is not ours */
} phi__http_reason;

typedef struct phi__http_transfer {
    phi__link link; /* of `list` */
    struct phi__http_list *list;
    phi__http *http;
    CURL *easy;
    struct curl_slist *headers;
    phi_transfer transfer;
    const phi_request *request; /* NULL: a warm-up, released, or cancelled */
    char *url;                  /* a warm-up's own, terminated; else NULL */
    size_t url_bytes;
    char *body; /* a small body, joined; NULL once sent */
    size_t body_bytes;
    curl_socket_t fd;  /* the newest it has opened, or CURL_SOCKET_BAD */
    uint64_t body_at;  /* how far the read callback has come */
    phi__buf head;     /* header lines of the answer that is coming */
    size_t head_bytes; /* of all header lines so far */
    phi__buf overflow; /* HTTP/2: bytes that a push refused, from overflow_at on */
    size_t overflow_at;
    uint64_t released_us;  /* when it was released */
    size_t released_bytes; /* of the body since then */
    int http_status;
    CURLcode result;   /* when done */
    phi_status failed; /* our own reason to stop; PHI_OK: none */
    phi__http_reason reason;
    bool in_coding; /* the last header line was of transfer codings; it may go on in the next */
    bool added;     /* in the multi handle */
    bool finished;  /* curl has said so */
    bool resolving; /* a name is being looked up */
    bool no_descriptor, connected, head_told, http2, paused, resume_wanted;
    char error[CURL_ERROR_SIZE];
} phi__http_transfer;

typedef struct phi__http_list {
    phi__list all;
    size_t count;
} phi__http_list;

static inline phi__http_transfer *phi__http_curl_of(const phi__link *link) {
    return link != NULL ? PHI__OWNER(link, phi__http_transfer, link) : NULL;
}
/* NULL: none, or it is the last. */
static inline phi__http_transfer *phi__http_curl_first(const phi__http_list *list) {
    return phi__http_curl_of(list->all.first);
}
static inline phi__http_transfer *phi__http_curl_next(const phi__http_transfer *t) {
    return phi__http_curl_of(t->link.next);
}

typedef enum phi__http_state {
    PHI__HTTP_FREE = 0,
    PHI__HTTP_QUEUED,
    PHI__HTTP_STARTED
} phi__http_state;

typedef struct phi__http_slot {
    phi_transfer transfer;
    phi__http_state state;
    const phi_request *request;
    phi__http_transfer *running; /* when started */
    uint64_t queued_us;
    /* In the queue, when queued; index + 1, 0: none. Kept by hand, as base/list holds addresses,
       and the table of slots moves when it grows. */
    uint32_t next, prev;
} phi__http_slot;

struct phi__http {
    phi__io *io;
    phi_memory *memory;
    phi__transfer_port port;
    phi_transport transport;
    phi_arena strings; /* copies from the desc */
    CURLM *multi;
    struct curl_slist *resolve;
    const char *proxy, *ca_file;
    uint32_t max_connections;
    bool http2, use_environment, drop_ca_path;
    bool async_dns, quick_exit, prereq, mask_sigpipe, ca_cache; /* of the libcurl at hand */
    bool ca_loaded;
    phi__http_slot *slots;
    size_t slot_count;
    uint32_t queue_first, queue_last; /* index + 1, 0: none */
    size_t queue_count;
    phi__http_list active, done, lingering, dying;
    size_t live;            /* in the multi handle, and not yet finished */
    phi__timer curl_timer;  /* curl's one timeout */
    phi__timer kick;        /* the pump has work left: do not sleep */
    uint64_t hold_until_us; /* out of descriptors: start none before */
    int inside;             /* active calls into libcurl */
    bool signal_held, pumping, resumes_wanted, starved;
};

/* ---- http.c: one easy handle ---- */

/* NULL: to none */
PHI__FN void phi__http_move(phi__http_transfer *t, phi__http_list *list);

/* ---- http.c: libcurl's sockets and timeout over phi__io ---- */

/* lets curl work on fd */
PHI__FN void phi__http_enter(phi__http *http); /* around every call that may call back */
PHI__FN void phi__http_leave(phi__http *http);

/* ---- http.c: the certificate store ---- */

/* ---- http.c: words of failures ---- */

/* ---- http_posix.c: the system ---- */

/* As socket(), close-on-exec; CURL_SOCKET_BAD, and *none_left when descriptors or buffers are. */
PHI__FN curl_socket_t phi__http_open_socket(int family, int type, int protocol, bool *none_left);
/* A socket that listens on a loopback port of the system's choosing, or CURL_SOCKET_BAD. */
PHI__FN curl_socket_t phi__http_listen(int *port);
/* True if the peer that connected to it, kept in *peer, has sent bytes. */
PHI__FN bool phi__http_heard(curl_socket_t listener, curl_socket_t *peer);
PHI__FN void phi__http_close(curl_socket_t fd); /* CURL_SOCKET_BAD is harmless */
PHI__FN bool phi__http_descriptors_left(intptr_t any_fd, int count);
PHI__FN phi_status phi__http_connect_status(long os_error); /* REFUSED, TIMEOUT or NETWORK */
PHI__FN bool phi__http_can_read(const char *path);
PHI__FN void phi__http_yield(void);

/* Keeps SIGPIPE from the host while older libcurls write to TLS: blocks it on this thread, and
   removes a pending one. True: blocked, and to be released. */
PHI__FN bool phi__http_signal_hold(void);
PHI__FN void phi__http_signal_release(void);

#endif
#endif
