/* io_in.h - the pump's system side: clock, random bytes, timers, watched descriptors, a step's time
   budget.

   One phi__io belongs to one runtime. Nothing in it waits, except phi__io_wait when asked to.
   Threads: the pumping thread only, but for phi__io_wake. */
#ifndef PHI_IO_IO_IN_H
#define PHI_IO_IO_IN_H

#include "base/base_in.h"
#include "io/transport.h"

typedef struct phi__io phi__io;

typedef struct phi__http phi__http;
PHI__FN uint64_t phi__clock_us(void);     /* monotonic, from any start */
PHI__FN int64_t phi__clock_wall_ms(void); /* Unix time */

/* Fills `out` from the kernel. Where no kernel source can be reached (no file descriptor left on a
   system without a call for it), from clocks and addresses: unique enough for ids, not secret. */
PHI__FN void phi__clock_random(void *out, size_t len);
#ifndef PHI_NO_FILES
enum { PHI__PATH_BYTES = 4096 }; /* with the terminator */

typedef struct phi__words {
    char text[160]; /* terminated */
} phi__words;

/* An error that errno does not have: a part of a checked path has become a link. */
enum { PHI__EXACT_LINK = -1 };

typedef struct phi__file {
    phi_memory *memory;
    int fd;
    bool failed;       /* a write did: not to be committed */
    bool has_temp;     /* to be renamed or removed */
    int dir;           /* of a replacement, which holds both names; -1: none */
    char *path, *temp; /* of a replacement; two texts in one block */
    size_t bytes;      /* of that block */
} phi__file;

/* The status, and the words, of an errno value or PHI__EXACT_LINK. */
PHI__FN phi_status phi__files_refused(int error, phi__words *words);

/* openat, tried again after a signal, for a descriptor that no child inherits; -1: errno says
   why. */
PHI__FN int phi__files_open(int dir, const char *path, int flags, unsigned mode);

/* Without a descriptor; NULL: no memory. */
PHI__FN phi__file *phi__files_new(phi_memory *memory);

/* Makes a file for its owner alone (0600); uncommitted, it is removed. PHI_BUSY: the name is taken,
   be it by a link. */
PHI__FN phi_status phi__files_open_new(phi_memory *memory, const char *path, phi__file **out,
                                       phi__words *words);

/* All n, or an error that stays. */
PHI__FN phi_status phi__files_write(phi__file *file, const char *bytes, size_t n,
                                    phi__words *words);
PHI__FN phi_status phi__files_commit(phi__file *file,
                                     phi__words *words); /* a replacement is renamed */

/* Removes a file that was not committed. NULL is harmless. */
PHI__FN void phi__files_close(phi__file *file);

/* As mkdir -p. */
PHI__FN phi_status phi__files_make_directories(const char *path, phi__words *words);
#endif
#if !defined(PHI_NO_FILES)
typedef enum phi__disk_how {
    PHI__DISK_READ,
    PHI__DISK_UPDATE, /* to read and write an existing file */
    PHI__DISK_CREATE, /* the same; made, for its owner alone, where it is not there */
    PHI__DISK_FRESH   /* made, or emptied */
} phi__disk_how;

typedef struct phi__disk_info {
    uint64_t bytes;
    uint64_t device, file; /* the same two: the same file, whatever its name */
    int64_t changed_ns;    /* Unix time */
    bool regular;
} phi__disk_info;

typedef struct phi__disk {
    void *user_data; /* given to every function */
    /* A regular file, or refused; a symbolic link, too. */
    phi_status (*open)(void *user_data, const char *path, phi__disk_how how, intptr_t *out,
                       phi__words *words);
    /* Some file systems report a full disk only here; the file is closed all the same. */
    phi_status (*close)(void *user_data, intptr_t file, phi__words *words);
    phi_status (*info)(void *user_data, intptr_t file, phi__disk_info *out, phi__words *words);
    phi_status (*info_of)(void *user_data, const char *path, phi__disk_info *out,
                          phi__words *words);
    /* Up to n bytes; *got 0 at the end. */
    phi_status (*read)(void *user_data, intptr_t file, uint64_t at, char *out, size_t n,
                       size_t *got, phi__words *words);
    /* One write of up to n bytes; *wrote says how many it took, also after a failure. */
    phi_status (*write)(void *user_data, intptr_t file, uint64_t at, const char *bytes, size_t n,
                        size_t *wrote, phi__words *words);
    phi_status (*cut)(void *user_data, intptr_t file, uint64_t bytes, phi__words *words);
    phi_status (*sync)(void *user_data, intptr_t file, phi__words *words); /* data and size */
    /* An advisory lock on the open file: gone when it is closed, or its process ends however it
       ends. Two opens of one file shut each other out in one process as well. */
    phi_status (*lock)(void *user_data, intptr_t file, phi__words *words);
    phi_status (*rename)(void *user_data, const char *from, const char *to, phi__words *words);
    phi_status (*remove)(void *user_data, const char *path, phi__words *words);
    phi_status (*make_directories)(void *user_data, const char *path, phi__words *words);
    /* Names in it survive a loss of power. */
    phi_status (*sync_directory)(void *user_data, const char *path, phi__words *words);
    /* Every name in a directory, in any order, until `each` says anything but PHI_OK. */
    phi_status (*list)(void *user_data, const char *path,
                       phi_status (*each)(void *ctx, const char *name), void *ctx,
                       phi__words *words);
} phi__disk;

/* The system's; static. */
PHI__FN const phi__disk *phi__disk_system(void);
#endif

/* Replaceable sources; a NULL function means the system's (monotonic clock, kernel random). */
typedef struct phi__io_desc {
    uint64_t (*clock_us_fn)(void *user_data);
    void (*random_fn)(void *user_data, void *out, size_t len);
    /* The host's loop instead of a poller of ours; want 0 forgets fd. NULL: our own poller. */
    void (*watch_fn)(void *user_data, intptr_t fd, int want);
    void *user_data;
    uint32_t max_starts_per_step; /* default 4 */
    uint32_t step_budget_us;      /* spent: no further start in the step but the first (0: none) */
    bool told_gaps; /* gaps come by phi__io_gaps_set: those of a tape that is played */
} phi__io_desc;

/* A timer; lives in its owner, zeroed at first. Fires once, in phi__io_timers, with place 0. Timers
   of one moment fire in the order in which they were set. A timer set while timers fire, for now or
   before, fires in the next phi__io_timers. */
typedef struct phi__timer {
    uint64_t at_us;
    uint64_t order; /* which phi__io_timer_set it was */
    size_t place;   /* in the heap, from 1; 0: not set */
    void (*fire)(struct phi__timer *timer);
    bool deadline; /* set by phi__io_deadline_set: a gap moves it */
} phi__timer;

enum { PHI__READ = 1, PHI__WRITE = 2 }; /* equal to PHI_WATCH_READ and PHI_WATCH_WRITE */

/* A watched descriptor; lives in its owner, zeroed at first. `ready` may change, forget or free any
   watch, this one too. Level-triggered, and now and then without cause: descriptors are to be
   non-blocking. Forget it before its descriptor is closed. */
typedef struct phi__watch {
    intptr_t fd;
    int want;      /* 0: not watched */
    uint32_t slot; /* the poller's */
    void (*ready)(struct phi__watch *watch, int have);
} phi__watch;

PHI__FN phi_status phi__io_new(phi_memory *memory, const phi__io_desc *desc, phi__io **out);
PHI__FN void phi__io_free(phi__io *io); /* NULL is harmless; timers and watches need not be gone */
PHI__FN uint64_t phi__io_now_us(const phi__io *io); /* from the replaceable clock, read each time */

/* Unix time for timestamps: wall clock, or clock_us_fn / 1000 when that is given */
PHI__FN int64_t phi__io_wall_ms(const phi__io *io);
PHI__FN void phi__io_random(phi__io *io, void *out, size_t len);

/* Sets or moves a timer (absolute; UINT64_MAX: never, but its place is kept); NO_MEMORY only when
   not set before. */
PHI__FN phi_status phi__io_timer_set(phi__io *io, phi__timer *timer, uint64_t at_us);
PHI__FN void phi__io_timer_clear(phi__io *io, phi__timer *timer); /* unset is harmless */
PHI__FN uint64_t phi__io_next_timer_us(const phi__io *io);        /* UINT64_MAX: none */

/* Deadlines count the clock without its gaps. phi__io_step_begin and phi__io_timers look at the
   clock. The time between two looks counts for at most a second; the rest is a gap: a debugger, a
   minimised window, a suspended laptop. A deadline is a timer that each gap moves. For a moment
   without a timer, keep phi__io_counted_us and compare it later. */
#define PHI__IO_GAP_MS 1000

/* Sets or moves a deadline, `after_us` of counted time from now (UINT64_MAX: never, as above). */
PHI__FN phi_status phi__io_deadline_set(phi__io *io, phi__timer *timer, uint64_t after_us);
PHI__FN bool phi__io_deadlines(const phi__io *io); /* one is set, and not for never */

/* How long until a timer is due, at now_us of the clock; it is set. */
PHI__FN uint64_t phi__io_left_us(const phi__io *io, const phi__timer *timer, uint64_t now_us);
PHI__FN uint64_t phi__io_counted_us(const phi__io *io); /* the clock without its gaps */

/* All gaps until now_us of the clock, the one under way too. */
PHI__FN uint64_t phi__io_gaps_us(const phi__io *io, uint64_t now_us);
PHI__FN void phi__io_gaps_set(phi__io *io, uint64_t us); /* told_gaps; less than before: ignored */

/* Watches fd for `want` (0 forgets it; always safe to forget). */
PHI__FN phi_status phi__io_watch(phi__io *io, phi__watch *watch, intptr_t fd, int want);

/* One turn of the pump: waits up to timeout_ms (0: not at all, <0: until woken) for a descriptor,
   the wake-up or the next timer, then calls at most `most` ready functions; the next call continues
   where it stopped. Returns how many were called. A signal ends the wait early. It does not wait
   with a host's loop, nor when phi__io_timers has fired a timer since the last call: the caller may
   be waiting for the effect of that timer. A message posted before a wake that this call swallowed
   is visible when it returns: check the inbox again before sleeping on phi__io_fd. */
PHI__FN int phi__io_wait(phi__io *io, int timeout_ms, int most);
PHI__FN int phi__io_timers(phi__io *io, int most); /* fires the due timers; returns how many */

/* The host's loop says fd is ready (watch_fn); unknown descriptors are ignored. */
PHI__FN void phi__io_ready(phi__io *io, intptr_t fd, int have);
PHI__FN intptr_t phi__io_fd(const phi__io *io);     /* for a host to sleep on, or -1 */
PHI__FN bool phi__io_own(const phi__io *io);        /* false in a child of fork */
PHI__FN intptr_t phi__io_any_fd(const phi__io *io); /* an open one, to try a dup of */
PHI__FN void phi__io_wake(phi__io *io);             /* ends a wait; any thread, async-signal-safe */

/* Something phi__io_free must end: it calls `end` once for each that is still in the list, newest
   first, before anything of the io's own is gone. Lives in its owner, zeroed at first. (Children
   that were killed and forgotten but not yet reaped.) */
typedef struct phi__ending {
    struct phi__ending *next, *prev;         /* a ring through the io's own; NULL: not in it */
    void (*end)(struct phi__ending *ending); /* it is out of the list by then */
} phi__ending;

PHI__FN void phi__io_ending_add(phi__io *io, phi__ending *ending);
PHI__FN void phi__io_ending_remove(phi__io *io, phi__ending *ending); /* not in it: harmless */
PHI__FN bool phi__io_pending(const phi__io *io); /* any is in it; a few more turns may end it */

/* Admission: starting a transfer or a process is work. phi__io_may_start takes one of this step's
   starts; phi__io_start_left only says whether one is left. */
PHI__FN void phi__io_step_begin(phi__io *io); /* also after the step has slept: it ends a gap */
PHI__FN bool phi__io_may_start(phi__io *io);
PHI__FN bool phi__io_start_left(const phi__io *io);
PHI__FN phi_memory *phi__io_memory(phi__io *io);

typedef struct phi__slice {
    const phi__io *io;
    uint64_t (*work_us_fn)(void *user_data); /* its own clock; NULL: that of io */
    void *user_data;
    uint32_t budget_us, budget_bytes;
    uint64_t until_us;
    size_t bytes_left;
} phi__slice;

PHI__FN void phi__slice_begin(phi__slice *slice); /* resets the budget */
PHI__FN void phi__slice_took(phi__slice *slice, size_t bytes);
PHI__FN bool phi__slice_spent(const phi__slice *slice);

/* The part of the time that is for descriptors is over: the rest is for the runs. */
PHI__FN bool phi__slice_io_spent(const phi__slice *slice);

typedef struct phi__piece {
    const char *at;
    size_t len;
    uint64_t start; /* offset in the body; filled by phi__request_seal */
} phi__piece;

typedef phi_request_header phi__header;

struct phi_request {
    phi_str method, url; /* terminated behind their length */
    phi__header *headers;
    size_t header_count;
    phi__piece *pieces;
    size_t piece_count;
    uint64_t length;
};

/* Fills starts and length. */
PHI__FN void phi__request_seal(phi_request *request);

typedef struct phi__secret {
    phi_str text;
    bool passing; /* a signature: of one request */
} phi__secret;

typedef struct phi__secrets {
    phi_arena *arena; /* borrowed */
    phi__secret *list;
    size_t count, cap;
    size_t longest;
    size_t next_passing;     /* place of a passing secret, which the next one replaces */
    unsigned char first[32]; /* bits: bytes with which a secret may begin in a text */
    bool failed;             /* no memory: a secret is missing */
} phi__secrets;

/* Empty. After a reset of the arena, too. */
PHI__FN void phi__secret_init(phi__secrets *set, phi_arena *arena);
PHI__FN void phi__secret_add(phi__secrets *set, phi_str secret);

/* A key, and its parts where it is "ACCESS:SECRET:TOKEN". */
PHI__FN void phi__secret_key(phi__secrets *set, phi_str key);

/* User info, and the values of the query. */
PHI__FN void phi__secret_url(phi__secrets *set, phi_str url);

/* A header's value, where it is a secret by its name or by how it looks. False: it is none. */
PHI__FN bool phi__secret_header(phi__secrets *set, phi_str name, phi_str value);

/* All that a request carries in its URL and its headers. */
PHI__FN void phi__secret_request(phi__secrets *set, const phi_request *request);

/* Appends a URL with "[redacted]" in place of user info, of the query's values except versions, and
   of the fragment behind a "#". */
PHI__FN void phi__secret_put_url(phi__buf *out, phi_str url);

typedef enum phi__secret_text {
    PHI__SECRET_BYTES, /* a part of a stream */
    /* words that may have been cut: the beginning of a secret at their end is hidden, too */
    PHI__SECRET_WORDS,
    PHI__SECRET_JSON /* JSON text: it stays valid */
} phi__secret_text;

/* Replaces secrets by asterisks. False: there were none. */
PHI__FN bool phi__secret_hide(const phi__secrets *set, char *at, size_t len, phi__secret_text kind);

/* How many bytes at the end of a part of a stream may be the beginning of a secret. */
PHI__FN size_t phi__secret_tail(const phi__secrets *set, phi_str text);

/* Where a transport's findings go; the runtime fills it with the phi_transfer_ functions'
   bodies. */
typedef struct phi__transfer_port {
    phi_status (*stage)(phi_transfer transfer, phi_transfer_stage stage);
    phi_status (*head)(phi_transfer transfer, int http_status, const char *headers, size_t len);
    phi_status (*push)(phi_transfer transfer, const char *bytes, size_t len);
    phi_status (*end)(phi_transfer transfer, phi_status status, const char *words);
} phi__transfer_port;

typedef struct phi__http_desc {
    uint32_t max_connections;   /* more wait their turn */
    bool enable_http2;          /* at most 10 streams a connection */
    bool use_environment;       /* proxy variables */
    const char *proxy;          /* copied; NULL: none */
    const char *ca_file;        /* copied; NULL: the system's */
    const char *const *resolve; /* "HOST:PORT:ADDRESS" entries, copied; NULL-ended; NULL: none */
} phi__http_desc;

/* Fails with PHI_UNSUPPORTED and words when libcurl is too old or lacks SSL. One-time
   curl_global_init happens here. */
PHI__FN phi_status phi__http_new(phi__io *io, const phi__http_desc *desc,
                                 const phi__transfer_port *port, phi__http **out,
                                 const char **words);

/* Its transport; valid until free. A transfer's index must be small: it is an index into a table. A
   host name without AsynchDNS to look it up ends with PHI_UNSUPPORTED. When no descriptor is free
   while other transfers are under way, a transfer goes back to the queue: STARTED may then be
   reported twice. */
PHI__FN const phi_transport *phi__http_transport(phi__http *http);

/* Loads the CA store (20 ms and more, in this call; a libcurl before 7.87 cannot keep it) and
   starts a connection to url's host that later steps finish: a HEAD of / without any key, after
   which the connection is kept for the first request. PHI_BUSY: max_connections are in use. */
PHI__FN phi_status phi__http_warm(phi__http *http, phi_str url);

/* Adds the user and password of the proxy, also of those that libcurl takes from the environment.
   http may be NULL. */
PHI__FN void phi__http_proxy(const phi__http *http, phi__secrets *secrets);

/* How many transfers and removals are still under way. At zero, free costs nothing. */
PHI__FN size_t phi__http_pending(const phi__http *http);

/* Cancels the remaining transfers. May wait for a resolver thread where libcurl cannot quit one
   (pending says so beforehand). NULL is harmless. */
PHI__FN void phi__http_free(phi__http *http);

typedef struct phi__inbox {
    phi_memory *memory;
    char *ring;
    uint32_t size;                    /* bytes, a power of two */
    PHI__ATOMIC(uint32_t) head, tail; /* running counts of bytes */
} phi__inbox;

/* One message: what, about whom, and up to a bounded text. */
typedef struct phi__post {
    uint32_t kind;       /* the owner's numbering, not 0 */
    uint32_t index, gen; /* a handle */
    uint32_t flag;
    phi_str text;
} phi__post;

PHI__FN phi_status phi__inbox_init(phi__inbox *inbox, phi_memory *memory, size_t bytes);
PHI__FN void phi__inbox_free(phi__inbox *inbox); /* zeroed or freed before is harmless */

/* PHI_FULL: no room now. PHI_BAD_ARG: longer than half the ring, so that it may never fit. Reserves
   room first, for a caller that must change its own state only when the message is sure to be sent:
   after PHI_OK, phi__inbox_publish must follow soon; later messages are not seen before it. `keep`
   false: the message is as if never posted. */
struct phi__inbox_record;
PHI__FN phi_status phi__inbox_prepare(phi__inbox *inbox, const phi__post *post,
                                      struct phi__inbox_record **out);

/* Another text comes before post->text in the message. */
PHI__FN phi_status phi__inbox_prepare_two(phi__inbox *inbox, const phi__post *post, phi_str before,
                                          struct phi__inbox_record **out);

/* The room for the text of a prepared message, when post->text.at was NULL: the caller fills it. */
PHI__FN char *phi__inbox_text(struct phi__inbox_record *record);
PHI__FN void phi__inbox_publish(struct phi__inbox_record *record, bool keep);

/* The oldest message; false: none. `out->text` is valid until phi__inbox_drop, which must
   follow. */
PHI__FN bool phi__inbox_peek(phi__inbox *inbox, phi__post *out);
PHI__FN void phi__inbox_drop(phi__inbox *inbox);
#if !defined(PHI_NO_PROCESS) || !defined(PHI_NO_FILES) || !defined(PHI_NO_LISTEN)
/* The system's words for an errno value, terminated; safe with other threads about. */
PHI__FN void phi__posix_words(int error, char *out, size_t size);

/* Writes what fits at once, up to n bytes, with SIGPIPE and SIGXFSZ held back on this thread and
   taken out of its queue if the write caused one; no disposition is touched. Returns 0 or an errno
   value (EAGAIN: no room now). */
PHI__FN int phi__posix_write(int fd, const char *bytes, size_t n, size_t *wrote);
#endif

#endif
