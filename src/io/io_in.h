/* io_in.h - the pump's system side: clock, random bytes, timers, watched descriptors and a step's
   time budget.

   One phi__io belongs to one runtime. Nothing in it waits, except phi__io_wait on request. Threads:
   the pumping thread only, except for phi__io_wake. */
#ifndef PHI_IO_IO_IN_H
#define PHI_IO_IO_IN_H

#include "base/base_in.h"
#include "io/os_in.h"
#include "io/transport.h"

typedef struct phi__io phi__io;

typedef struct phi__http phi__http;
PHI__FN uint64_t phi__clock_us(void);     /* monotonic, from an arbitrary start */
PHI__FN int64_t phi__clock_wall_ms(void); /* Unix time */

/* Fills `out` with random bytes of the kernel. If no source can be reached (no system call and no
   free file descriptor), uses clocks and addresses: unique enough for ids, but not secret. */
PHI__FN void phi__clock_random(void *out, size_t len);

/* ---- paths as text ---- */

/* True for a character that separates the parts of a path: a slash, or on Windows a backslash. */
PHI__FN bool phi__path_is_slash(char c);

/* True if a path does not depend on a directory. On Windows, "C:/a", "/a", "//server/share" and
   also "C:a" are absolute: none of them may be joined to a directory. */
PHI__FN bool phi__path_absolute(phi_str path);

/* Returns the part of a path that the system looks up. On Windows, a stream's name and dots and
   blanks at the end are removed: "a.txt. ", "a.txt::$DATA" and "a.txt" are one file. Elsewhere the
   part itself. */
PHI__FN phi_str phi__path_looked_up(phi_str part);

/* Returns the bytes of the drive or share at the beginning of a path: "C:", "//server/share". 0 on
   POSIX, and if there is none. */
PHI__FN size_t phi__path_drive(phi_str path);

/* Returns the last part of a path. Empty if the path ends with a slash. */
PHI__FN phi_str phi__path_name(phi_str path);

/* Returns the directory of a path, as text: "dir" for "dir/name", "/" for "/name", "C:/" for
   "C:/name". Empty if the path has no slash. */
PHI__FN phi_str phi__path_directory(phi_str path);

/* Returns the bytes of the root of a resolved path: 1 for "/a", 3 for "C:/a", 14 for
   "//server/share/a". */
PHI__FN size_t phi__path_root(const char *path);

enum { PHI__PATH_BYTES = 4096 }; /* bytes of a path, with the terminator */

#if defined(PHI__OS_WINDOWS) || defined(PHI__TESTED)
/* Resolved paths of Windows have one style: UTF-8, slashes, "C:/dir/name" or
   "//server/share/dir/name", no slash at the end except in "C:/". These functions read text only,
   so that every system can test them. Returned numbers are 0 or a phi__path_fault. */
typedef enum phi__path_fault {
    PHI__PATH_RELATIVE = -32,
    PHI__PATH_DRIVE,  /* "C:name" depends on the current directory of a drive */
    PHI__PATH_DEVICE, /* "\\?\", "\\.\", NUL, con.txt, COM1, a named pipe */
    PHI__PATH_SHARE,  /* "//server" without a share */
    PHI__PATH_STREAM, /* a colon in a part */
    PHI__PATH_CHAR,   /* a wildcard, a control character, < > " |, or no UTF-8 */
    PHI__PATH_TAIL,   /* a dot or a blank at the end of a part, which Windows ignores */
    PHI__PATH_LONG,
    PHI__PATH_IS_DIRECTORY, /* found by the system, as are the next ones */
    PHI__PATH_NO_DIRECTORY,
    PHI__PATH_NOT_REGULAR,
    PHI__PATH_DANGLING, /* a link whose target does not exist */
    PHI__PATH_FAULT_END
} phi__path_fault;

/* Writes the path without "." and ".." in the style above. ".." removes the part before it as text,
   as Windows does before it follows any link. `base` is in that style; NULL: the path must be
   absolute. "/a" begins at the root of base. */
PHI__FN int phi__windows_path(const char *base, phi_str path, char out[PHI__PATH_BYTES]);

/* Checks a name in a directory. */
PHI__FN int phi__windows_part(phi_str part);

/* Returns the bytes of the root of a path in the style above: "C:/" or "//server/share". */
PHI__FN size_t phi__windows_root(const char *path);

/* Returns the message of a fault. */
PHI__FN const char *phi__windows_fault(int fault);

/* The functions above for the text of Windows. */
PHI__FN size_t phi__windows_drive_bytes(phi_str path);
PHI__FN bool phi__windows_is_slash(char c);
PHI__FN bool phi__windows_absolute(phi_str path);
PHI__FN phi_str phi__windows_looked_up(phi_str part);
#endif

#ifndef PHI_NO_FILES

typedef struct phi__words {
    char text[160]; /* terminated */
} phi__words;

/* Errors that are no errors of the system. phi__files_refused knows them. Windows has more of them:
   phi__path_fault. */
enum {
    PHI__EXACT_LINK = -1,      /* a part of a checked path has become a link */
    PHI__FILES_NO_MEMORY = -2, /* the allocator refused */
    PHI__FILES_TOO_LONG = -3   /* the path is too long */
};

typedef struct phi__file {
    phi_memory *memory;
    phi__fd fd;
    bool failed;       /* a write failed: the file must not be committed */
    bool has_temp;     /* the temporary file must be renamed or removed */
    phi__fd dir;       /* directory of a replacement's two names; -1: none */
    char *path, *temp; /* names of a replacement, in one block of memory */
    size_t bytes;      /* bytes of that block */
} phi__file;

/* Returns the status of an error of the system or of phi, and writes its message. */
PHI__FN phi_status phi__files_refused(int error, phi__words *words);

#if defined(PHI__OS_POSIX)
/* Calls openat with close-on-exec, and again if a signal interrupted the call. Returns -1 and sets
   errno on failure. */
PHI__FN int phi__files_open(int dir, const char *path, int flags, unsigned mode);
#endif

/* Makes a file object without a descriptor. NULL: no memory. */
PHI__FN phi__file *phi__files_new(phi_memory *memory);

/* Creates a file for its owner only (0600). It is removed unless it is committed. PHI_BUSY: the
   name exists already, perhaps as a link. */
PHI__FN phi_status phi__files_open_new(phi_memory *memory, const char *path, phi__file **out,
                                       phi__words *words);

/* Writes all n bytes. After a failure, all later calls fail. */
PHI__FN phi_status phi__files_write(phi__file *file, const char *bytes, size_t n,
                                    phi__words *words);
PHI__FN phi_status phi__files_commit(phi__file *file,
                                     phi__words *words); /* renames a replacement */

/* Removes a file that was not committed. NULL is allowed. */
PHI__FN void phi__files_close(phi__file *file);

/* Works like mkdir -p. */
PHI__FN phi_status phi__files_make_directories(const char *path, phi__words *words);
#endif
#if !defined(PHI_NO_FILES)
typedef enum phi__disk_how {
    PHI__DISK_READ,
    PHI__DISK_UPDATE, /* reads and writes an existing file */
    PHI__DISK_CREATE, /* as UPDATE, but makes a missing file, for its owner only */
    PHI__DISK_FRESH   /* creates the file, or empties it */
} phi__disk_how;

typedef struct phi__disk_info {
    uint64_t bytes;
    uint64_t device, file; /* two files with equal values are the same file, under any name */
    int64_t changed_ns;    /* Unix time */
    bool regular;
} phi__disk_info;

typedef struct phi__disk {
    void *user_data; /* passed to every function */
    /* Opens a regular file. Refuses anything else, and symbolic links. */
    phi_status (*open)(void *user_data, const char *path, phi__disk_how how, intptr_t *out,
                       phi__words *words);
    /* Some file systems report a full disk only here. The file is closed anyway. */
    phi_status (*close)(void *user_data, intptr_t file, phi__words *words);
    phi_status (*info)(void *user_data, intptr_t file, phi__disk_info *out, phi__words *words);
    phi_status (*info_of)(void *user_data, const char *path, phi__disk_info *out,
                          phi__words *words);
    /* Reads up to n bytes. *got is 0 at the end of the file. */
    phi_status (*read)(void *user_data, intptr_t file, uint64_t at, char *out, size_t n,
                       size_t *got, phi__words *words);
    /* Writes up to n bytes with one call. *wrote gets the number of bytes written, also after a
       failure. */
    phi_status (*write)(void *user_data, intptr_t file, uint64_t at, const char *bytes, size_t n,
                        size_t *wrote, phi__words *words);
    phi_status (*cut)(void *user_data, intptr_t file, uint64_t bytes, phi__words *words);
    /* makes data and size survive a loss of power */
    phi_status (*sync)(void *user_data, intptr_t file, phi__words *words);
    /* Takes an advisory lock on the open file. It ends when the file is closed or its process ends
       in any way. Two opens of one file exclude each other in one process as well. */
    phi_status (*lock)(void *user_data, intptr_t file, phi__words *words);
    phi_status (*rename)(void *user_data, const char *from, const char *to, phi__words *words);
    phi_status (*remove)(void *user_data, const char *path, phi__words *words);
    phi_status (*make_directories)(void *user_data, const char *path, phi__words *words);
    /* Makes the names in a directory survive a loss of power. */
    phi_status (*sync_directory)(void *user_data, const char *path, phi__words *words);
    /* Calls `each` for every name in a directory, in any order, while it returns PHI_OK. */
    phi_status (*list)(void *user_data, const char *path,
                       phi_status (*each)(void *ctx, const char *name), void *ctx,
                       phi__words *words);
} phi__disk;

/* The system's file functions; static. */
PHI__FN const phi__disk *phi__disk_system(void);
#endif

/* Sources that can be replaced. NULL: the system's (monotonic clock, kernel random). */
typedef struct phi__io_desc {
    uint64_t (*clock_us_fn)(void *user_data);
    void (*random_fn)(void *user_data, void *out, size_t len);
    /* Watches descriptors with the host's loop. want 0 forgets fd. NULL: phi's own poller. */
    void (*watch_fn)(void *user_data, intptr_t fd, int want);
    void *user_data;
    uint32_t max_starts_per_step; /* default 4 */
    /* time after which a step starts nothing more, except its first start; 0: no limit */
    uint32_t step_budget_us;
    /* gaps come only from phi__io_gaps_set; true while a tape is played */
    bool told_gaps;
} phi__io_desc;

/* A timer. It lives in its owner and is zeroed at first. It fires once, in phi__io_timers, and is
   then not set any more. Timers of the same time fire in the order in which they were set. A timer
   that is set for now or earlier while timers fire waits for the next phi__io_timers. */
typedef struct phi__timer {
    uint64_t at_us;
    uint64_t order; /* counts the calls of phi__io_timer_set */
    size_t place;   /* place in the heap, from 1; 0: not set */
    void (*fire)(struct phi__timer *timer);
    bool deadline; /* set by phi__io_deadline_set: gaps move the timer */
} phi__timer;

enum { PHI__READ = 1, PHI__WRITE = 2 }; /* equal to PHI_WATCH_READ and PHI_WATCH_WRITE */

/* A watched descriptor. It lives in its owner and is zeroed at first. `ready` may change, forget or
   free any watch, this one included. It is level-triggered and sometimes called without cause, so
   descriptors must be non-blocking. Forget a watch before closing its descriptor. */
typedef struct phi__watch {
    intptr_t fd;
    int want;      /* 0: not watched */
    uint32_t slot; /* index in the table of watches */
    void (*ready)(struct phi__watch *watch, int have);
} phi__watch;

PHI__FN phi_status phi__io_new(phi_memory *memory, const phi__io_desc *desc, phi__io **out);
PHI__FN void phi__io_free(phi__io *io); /* NULL is allowed; timers and watches may still be set */
PHI__FN uint64_t phi__io_now_us(const phi__io *io); /* reads the replaceable clock */

/* Returns Unix time for timestamps: the wall clock, or clock_us_fn / 1000 if it is given. */
PHI__FN int64_t phi__io_wall_ms(const phi__io *io);
PHI__FN void phi__io_random(phi__io *io, void *out, size_t len);

/* Sets or moves a timer to the absolute time at_us. UINT64_MAX: the timer never fires, but keeps
   its place. Fails with PHI_NO_MEMORY only if the timer was not set before. */
PHI__FN phi_status phi__io_timer_set(phi__io *io, phi__timer *timer, uint64_t at_us);
PHI__FN void phi__io_timer_clear(phi__io *io,
                                 phi__timer *timer);       /* may be called for an unset timer */
PHI__FN uint64_t phi__io_next_timer_us(const phi__io *io); /* UINT64_MAX: none */

/* Deadlines run on the clock without its gaps. phi__io_step_begin and phi__io_timers look at the
   clock. At most a second between two looks counts. The rest is a gap, caused for example by a
   debugger, a minimised window or a suspended laptop. A deadline is a timer that each gap moves. To
   measure counted time without a timer, compare values of phi__io_counted_us. */
#define PHI__IO_GAP_MS 1000

/* Sets or moves a deadline, `after_us` of counted time from now; UINT64_MAX: never. */
PHI__FN phi_status phi__io_deadline_set(phi__io *io, phi__timer *timer, uint64_t after_us);
PHI__FN bool phi__io_deadlines(const phi__io *io); /* true if a deadline is set for a time */

/* Returns the time from now_us until a timer is due. The timer must be set. */
PHI__FN uint64_t phi__io_left_us(const phi__io *io, const phi__timer *timer, uint64_t now_us);
PHI__FN uint64_t phi__io_counted_us(const phi__io *io); /* the clock without its gaps */

/* Returns the sum of all gaps until now_us, including the current one. */
PHI__FN uint64_t phi__io_gaps_us(const phi__io *io, uint64_t now_us);
/* Sets the sum of all gaps (told_gaps). A smaller value than before is ignored. */
PHI__FN void phi__io_gaps_set(phi__io *io, uint64_t us);

/* Watches fd for `want`. 0 forgets it, which is always allowed. */
PHI__FN phi_status phi__io_watch(phi__io *io, phi__watch *watch, intptr_t fd, int want);

/* One turn of the pump. Waits up to timeout_ms (0: not at all, <0: until woken) for a descriptor, a
   wake-up or the next timer. Then calls at most `most` ready functions and returns the number of
   calls; the next turn calls the others. A signal ends the wait early. Does not wait with a host's
   loop. Does not wait either if phi__io_timers has fired a timer since the last turn, because the
   caller may be waiting for the effect of that timer. If this call swallows a wake, messages posted
   before the wake are visible when it returns, so check the inbox before sleeping on phi__io_fd. */
PHI__FN int phi__io_wait(phi__io *io, int timeout_ms, int most);
PHI__FN int phi__io_timers(phi__io *io, int most); /* fires due timers; returns their number */

/* Reports that the host's loop found fd ready (watch_fn). Ignores unknown descriptors. */
PHI__FN void phi__io_ready(phi__io *io, intptr_t fd, int have);
PHI__FN intptr_t phi__io_fd(const phi__io *io); /* descriptor on which a host can sleep, or -1 */
#if defined(PHI__OS_WINDOWS)
/* Returns the poller, which watches pipes too. NULL: the host's loop watches descriptors. */
PHI__FN struct phi__poller *phi__io_poller(const phi__io *io);
#endif
PHI__FN bool phi__io_own(const phi__io *io);        /* false in a child of fork */
PHI__FN intptr_t phi__io_any_fd(const phi__io *io); /* an open descriptor, to test if dup works */
PHI__FN void phi__io_wake(phi__io *io);             /* ends a wait; any thread, async-signal-safe */

/* Something that phi__io_free must end, such as a killed child that is not reaped yet. phi__io_free
   calls `end` for each element of the list, newest first, before it frees anything else. An ending
   lives in its owner and is zeroed at first. */
typedef struct phi__ending {
    /* links of a ring that begins in the io; NULL: not in the list */
    struct phi__ending *next, *prev;
    void (*end)(struct phi__ending *ending); /* called after removal from the list */
} phi__ending;

PHI__FN void phi__io_ending_add(phi__io *io, phi__ending *ending);
/* An ending that is not in the list may be removed, too. */
PHI__FN void phi__io_ending_remove(phi__io *io, phi__ending *ending);
PHI__FN bool phi__io_pending(
    const phi__io *io); /* true if the list is not empty; a few more turns may end its elements */

/* Limits starts, because starting a transfer or a process takes time. phi__io_may_start returns
   true if the step has a start left, and uses it up. phi__io_start_left returns the same, but uses
   up nothing. */
PHI__FN void
phi__io_step_begin(phi__io *io); /* call it again after a sleep within the step, to end the gap */
PHI__FN bool phi__io_may_start(phi__io *io);
PHI__FN bool phi__io_start_left(const phi__io *io);
PHI__FN phi_memory *phi__io_memory(phi__io *io);

typedef struct phi__slice {
    const phi__io *io;
    uint64_t (*work_us_fn)(void *user_data); /* clock of the slice; NULL: that of io */
    void *user_data;
    uint32_t budget_us, budget_bytes;
    uint64_t until_us;
    size_t bytes_left;
} phi__slice;

PHI__FN void phi__slice_begin(phi__slice *slice); /* resets the budget */
PHI__FN void phi__slice_took(phi__slice *slice, size_t bytes);
PHI__FN bool phi__slice_spent(const phi__slice *slice);

/* True if the time for descriptors is used up. The rest of the budget is left for runs. */
PHI__FN bool phi__slice_io_spent(const phi__slice *slice);

typedef struct phi__piece {
    const char *at;
    size_t len;
    uint64_t start; /* offset of the piece in the body; set by phi__request_seal */
} phi__piece;

typedef phi_request_header phi__header;

struct phi_request {
    phi_str method, url; /* terminated by a zero byte after their length */
    phi__header *headers;
    size_t header_count;
    phi__piece *pieces;
    size_t piece_count;
    uint64_t length;
};

/* Sets the offset of each piece and the length of the body. */
PHI__FN void phi__request_seal(phi_request *request);

typedef struct phi__secret {
    phi_str text;
    bool passing; /* a signature, which only one request uses */
} phi__secret;

typedef struct phi__secrets {
    phi_arena *arena; /* borrowed */
    phi__secret *list;
    size_t count, cap;
    size_t longest;
    size_t next_passing;     /* index of the passing secret to replace next */
    unsigned char first[32]; /* a bit for each byte value with which a secret may begin in a text */
    bool failed;             /* memory ran out, so a secret is missing */
} phi__secrets;

/* Makes an empty set. Call it again after a reset of the arena. */
PHI__FN void phi__secret_init(phi__secrets *set, phi_arena *arena);

/* Adds a copy of a secret to the set. A secret shorter than 8 bytes is ignored. */
PHI__FN void phi__secret_add(phi__secrets *set, phi_str secret);

/* Adds a key, and its parts if it has the form "ACCESS:SECRET:TOKEN". */
PHI__FN void phi__secret_key(phi__secrets *set, phi_str key);

/* Adds the URL's user info, and those values of its query that may be secret. */
PHI__FN void phi__secret_url(phi__secrets *set, phi_str url);

/* Adds a header's value if its name or its form suggests a secret. False if it does not. */
PHI__FN bool phi__secret_header(phi__secrets *set, phi_str name, phi_str value);

/* Adds all secrets in the URL and headers of a request. */
PHI__FN void phi__secret_request(phi__secrets *set, const phi_request *request);

/* Appends a URL. "[redacted]" replaces the user info, the values of the query (except versions) and
   the fragment after "#". */
PHI__FN void phi__secret_put_url(phi__buf *out, phi_str url);

typedef enum phi__secret_text {
    PHI__SECRET_BYTES, /* part of a stream */
    /* Text that may have been cut: the beginning of a secret at the end of the text is hidden
       too. */
    PHI__SECRET_WORDS,
    PHI__SECRET_JSON /* JSON text: it stays valid */
} phi__secret_text;

/* Replaces secrets by asterisks. False if there were none. */
PHI__FN bool phi__secret_hide(const phi__secrets *set, char *at, size_t len, phi__secret_text kind);

/* Returns the number of bytes at the end of a part of a stream that may begin a secret. */
PHI__FN size_t phi__secret_tail(const phi__secrets *set, phi_str text);

/* The functions to which a transport reports. The runtime's own functions implement
   phi_transfer_stage, _head, _push and _end. */
typedef struct phi__transfer_port {
    phi_status (*stage)(phi_transfer transfer, phi_transfer_stage stage);
    phi_status (*head)(phi_transfer transfer, int http_status, const char *headers, size_t len);
    phi_status (*push)(phi_transfer transfer, const char *bytes, size_t len);
    phi_status (*end)(phi_transfer transfer, phi_status status, const char *words);
} phi__transfer_port;

typedef struct phi__http_desc {
    uint32_t max_connections; /* limit; other requests wait */
    bool enable_http2;        /* at most 10 streams per connection */
    bool use_environment;     /* uses the proxy variables */
    const char *proxy;        /* copied; NULL: none */
    const char *ca_file;      /* copied; NULL: the system's */
    /* "HOST:PORT:ADDRESS" entries, copied; the last is NULL; NULL: none */
    const char *const *resolve;
} phi__http_desc;

/* Creates the transport, and calls curl_global_init once. Returns PHI_UNSUPPORTED, with a message
   in *words, if libcurl is too old or lacks SSL. */
PHI__FN phi_status phi__http_new(phi__io *io, const phi__http_desc *desc,
                                 const phi__transfer_port *port, phi__http **out,
                                 const char **words);

/* Returns the transport, valid until phi__http_free. A transfer's index must be small, because it
   is an index into a table. If libcurl lacks AsynchDNS, a request to a host name ends with
   PHI_UNSUPPORTED. If no descriptor is free while other transfers run, a transfer returns to the
   queue, so STARTED may be reported twice. */
PHI__FN const phi_transport *phi__http_transport(phi__http *http);

/* Loads the CA store, which takes 20 ms or more in this call (libcurl before 7.87 cannot keep it).
   Then starts a connection to the URL's host: a HEAD request for "/" without a key, which later
   steps finish. The connection is kept for the first request. PHI_BUSY: max_connections are in
   use. */
PHI__FN phi_status phi__http_warm(phi__http *http, phi_str url);

/* Adds user and password of the proxy, even if the proxy is from the environment. http may be
   NULL. */
PHI__FN void phi__http_proxy(const phi__http *http, phi__secrets *secrets);

/* Returns the number of running transfers and removals. At 0, phi__http_free takes no time. */
PHI__FN size_t phi__http_pending(const phi__http *http);

/* Cancels the remaining transfers. May wait for a resolver thread that libcurl cannot stop (see
   phi__http_pending). NULL is allowed. */
PHI__FN void phi__http_free(phi__http *http);

typedef struct phi__inbox {
    phi_memory *memory;
    char *ring;
    uint32_t size;                    /* bytes; a power of two */
    PHI__ATOMIC(uint32_t) head, tail; /* counts of bytes, which only grow */
} phi__inbox;

/* A message: its kind, the handle that it is about, and a short text. */
typedef struct phi__post {
    uint32_t kind;       /* numbered by the owner, from 1 */
    uint32_t index, gen; /* a handle */
    uint32_t flag;
    /* phi__inbox_prepare puts this text before `text`; phi__inbox_peek does not set it */
    phi_str before;
    phi_str text;
} phi__post;

PHI__FN phi_status phi__inbox_init(phi__inbox *inbox, phi_memory *memory, size_t bytes);
PHI__FN void phi__inbox_free(phi__inbox *inbox); /* may be called for a zeroed or freed inbox */

/* Reserves room for a message. Reserve first if state may change only when the message can be sent.
   After PHI_OK, phi__inbox_publish must follow soon, because later messages stay invisible until
   then. If its `keep` is false, the message is dropped. PHI_FULL: there is no room now.
   PHI_BAD_ARG: the message is longer than half the ring, so it may never fit. */
struct phi__inbox_record;
PHI__FN phi_status phi__inbox_prepare(phi__inbox *inbox, const phi__post *post,
                                      struct phi__inbox_record **out);

/* Returns the room for a prepared message's text. The caller fills it if post->text.at was NULL. */
PHI__FN char *phi__inbox_text(struct phi__inbox_record *record);
PHI__FN void phi__inbox_publish(struct phi__inbox_record *record, bool keep);

/* Gets the oldest message, or returns false. phi__inbox_drop must follow; then out->text is
   invalid. */
PHI__FN bool phi__inbox_peek(phi__inbox *inbox, phi__post *out);
PHI__FN void phi__inbox_drop(phi__inbox *inbox);
#if !defined(PHI_NO_PROCESS) || !defined(PHI_NO_FILES) || !defined(PHI_NO_LISTEN)
/* Writes the message for an error of the system (an errno value, or one of GetLastError),
   terminated. Thread-safe. */
PHI__FN void phi__os_words(int error, char *out, size_t size);

#if defined(PHI__OS_POSIX)
/* Writes up to n bytes with one call. SIGPIPE and SIGXFSZ are blocked on this thread, and consumed
   if the write caused them. The process's signal handlers are not changed. Returns 0 or an errno
   value (EAGAIN: no room). */
PHI__FN int phi__posix_write(int fd, const char *bytes, size_t n, size_t *wrote);
#endif
#endif

#endif
