/* http_curl_in.h - structs and functions that the files of the libcurl transport share.

   A request has the table slot with the index of its phi_transfer. While the request waits there,
   it costs nothing else. When it starts, it gets a phi__http_transfer with an easy handle. A
   transfer is in exactly one list. Active: curl works on it. Done: curl has finished, and the
   transfer's end must be reported. Lingering: it was released, and curl reads and discards the rest
   of the body, so that the connection can be used again. Dying: it was cancelled, and waits for its
   removal. In the last two lists a transfer never touches its request. Nothing is freed inside a
   callback of curl: only the pump removes transfers. */
#ifndef PHI_IO_HTTP_CURL_IN_H
#define PHI_IO_HTTP_CURL_IN_H

#include "io/io_in.h"

#if !defined(PHI_NO_CURL)

#include <curl/curl.h>

/* max. bytes of header lines that are kept, as transport.h says */
#define PHI__HTTP_HEAD_BYTES 16384
#define PHI__HTTP_HEADERS_MOST                                                                     \
    262144 /* max. bytes of header lines that are read, including interim answers and trailers */
#define PHI__HTTP_JOIN_BYTES 16384 /* bodies up to this size are sent from one block */
#define PHI__HTTP_OVERFLOW_BYTES                                                                   \
    1048576 /* max. bytes of an HTTP/2 stream that may wait for the receiver */
#define PHI__HTTP_WORDS_BYTES 512
#define PHI__HTTP_LINGER_BYTES 65536u /* max. bytes of a body that are read after its last event */

/* Phi's reason for stopping a transfer, in addition to the status. */
typedef enum phi__http_reason {
    PHI__HTTP_REASON_NONE = 0,
    PHI__HTTP_REASON_OVERFLOW, /* HTTP/2: too many bytes wait for the receiver */
    PHI__HTTP_REASON_HEADERS,  /* too many bytes of header lines */
    PHI__HTTP_REASON_LINE,     /* a header line exceeds libcurl's own limits */
    PHI__HTTP_REASON_COUNT,    /* more header lines than libcurl's own limit */
    PHI__HTTP_REASON_CODING    /* a transfer coding that phi does not accept */
} phi__http_reason;

typedef struct phi__http_transfer {
    phi__link link; /* the link in `list` */
    struct phi__http_list *list;
    phi__http *http;
    CURL *easy;
    struct curl_slist *headers;
    phi_transfer transfer;
    const phi_request *request; /* NULL: a warm-up, or a request that was released or cancelled */
    char *url;                  /* URL of a warm-up, terminated; else NULL */
    size_t url_bytes;
    char *body; /* a small body in one block; NULL once sent */
    size_t body_bytes;
    curl_socket_t fd;  /* the socket opened last, or CURL_SOCKET_BAD */
    uint64_t body_at;  /* position of the read callback in the body */
    phi__buf head;     /* header lines of the current head */
    size_t head_bytes; /* bytes of all header lines so far */
    phi__buf overflow; /* HTTP/2: bytes that a push refused; they begin at overflow_at */
    size_t overflow_at;
    uint64_t released_us;  /* time of the release */
    size_t released_bytes; /* bytes of the body that came after the release */
    int http_status;
    CURLcode result;   /* set in the list of done transfers */
    phi_status failed; /* phi's own reason to stop; PHI_OK: none */
    phi__http_reason reason;
    bool in_coding; /* the last header line listed transfer codings; the next may continue it */
    bool added;     /* the easy handle is in the multi handle */
    bool finished;  /* curl has reported the end */
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
/* Return the first transfer of a list, or the transfer after `t`. NULL if there is none. */
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
    phi__http_transfer *running; /* set once the request is started */
    uint64_t queued_us;
    /* Links in the queue: index + 1 of a slot; 0: none. The list of base/ cannot be used: it holds
       addresses, and slots move when the table grows. */
    uint32_t next, prev;
} phi__http_slot;

struct phi__http {
    phi__io *io;
    phi_memory *memory;
    phi__transfer_port port;
    phi_transport transport;
    phi_arena strings; /* copies of the desc's strings */
    CURLM *multi;
    struct curl_slist *resolve;
    const char *proxy, *ca_file;
    uint32_t max_connections;
    bool http2, use_environment, drop_ca_path;
    bool async_dns, quick_exit, prereq, mask_sigpipe, ca_cache; /* abilities of this libcurl */
    bool ca_loaded;
    phi__http_slot *slots;
    size_t slot_count;
    uint32_t queue_first, queue_last; /* index + 1; 0: none */
    size_t queue_count;
    phi__http_list active, done, lingering, dying;
    size_t live;            /* transfers in the multi handle that are not finished */
    phi__timer curl_timer;  /* curl's only timeout */
    phi__timer kick;        /* the pump has work left: do not sleep */
    uint64_t hold_until_us; /* start nothing before this time, because no descriptors were free */
    int inside;             /* number of active calls into libcurl */
    bool signal_held, pumping, resumes_wanted, starved;
};

/* Moves a transfer to a list. NULL: removes it from its list. */
PHI__FN void phi__http_move(phi__http_transfer *t, phi__http_list *list);

PHI__FN void phi__http_enter(phi__http *http); /* call these around every call that may call back */
PHI__FN void phi__http_leave(phi__http *http);

/* ---- http_posix.c ---- */

/* Calls socket() with close-on-exec. Returns CURL_SOCKET_BAD on failure; *none_left is then true if
   descriptors or buffers are used up. */
PHI__FN curl_socket_t phi__http_open_socket(int family, int type, int protocol, bool *none_left);
/* Opens a socket that listens on any free loopback port. CURL_SOCKET_BAD on failure. */
PHI__FN curl_socket_t phi__http_listen(int *port);
/* True if the peer that connected to the listener has sent bytes. *peer keeps its socket. */
PHI__FN bool phi__http_heard(curl_socket_t listener, curl_socket_t *peer);
PHI__FN void phi__http_close(curl_socket_t fd); /* CURL_SOCKET_BAD is allowed */
PHI__FN bool phi__http_descriptors_left(intptr_t any_fd, int count);
/* Returns PHI_REFUSED, PHI_TIMEOUT or PHI_NETWORK. */
PHI__FN phi_status phi__http_connect_status(long os_error);
PHI__FN bool phi__http_can_read(const char *path);
PHI__FN void phi__http_yield(void);

/* Protect the host from SIGPIPE while older libcurls write to TLS. hold blocks the signal on this
   thread, and returns true if release must follow. release consumes a pending SIGPIPE. */
PHI__FN bool phi__http_signal_hold(void);
PHI__FN void phi__http_signal_release(void);

#endif
#endif
