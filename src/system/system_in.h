/* system_in.h - what system/ offers to other rooms. */
#ifndef PHI_SYSTEM_SYSTEM_IN_H
#define PHI_SYSTEM_SYSTEM_IN_H

#include "base/base_in.h"
#include "io/io_in.h"

#ifndef PHI_NO_PROCESS
typedef struct phi__channel phi__channel;
#endif
#ifndef PHI_NO_FILES
typedef struct phi__walk phi__walk;
#endif
#ifndef PHI_NO_PROCESS
typedef struct phi__process phi__process;
#endif
#ifndef PHI_NO_FILES
typedef struct phi__ordered phi__ordered;
#endif
#ifndef PHI_NO_PROCESS
typedef struct phi__channel_desc {
    int in_fd;            /* default 0: stdin */
    int out_fd;           /* default 0: stdout, which is 1. Not equal to in_fd */
    size_t max_out_bytes; /* that wait for the reader (default 1 MiB) */
    /* Bytes of in_fd, at most 16 KiB a turn; borrowed until it returns. False stops the reading
       until phi__channel_resume. */
    bool (*input)(void *ctx, const char *bytes, size_t len);
    /* After a write that was not taken whole: half of the queue is free. May be NULL. */
    void (*room)(void *ctx);
    /* Once, and no `input` after it. PHI_OK: the end of in_fd; queued bytes are still sent.
       PHI_IO: in_fd cannot be read, or nobody reads out_fd any more: writes are refused from now.
       The message is borrowed until it returns. */
    void (*ended)(void *ctx, phi_status status, const char *message);
    void *ctx;
} phi__channel_desc;

/* PHI_BAD_ARG: a descriptor is not open, or both are the same; PHI_NO_MEMORY. */
PHI__FN phi_status phi__channel_new(phi__io *io, const phi__channel_desc *desc, phi__channel **out);
PHI__FN void phi__channel_resume(phi__channel *channel);

/* Queues bytes, copied. Never waits. PHI_OK: *taken says how many, perhaps fewer than len: `room`
   follows. PHI_STALE: nobody reads out_fd any more (after `ended` only this tells). PHI_NO_MEMORY:
   none was taken. */
PHI__FN phi_status phi__channel_write(phi__channel *channel, const char *bytes, size_t len,
                                      size_t *taken);
PHI__FN size_t phi__channel_waiting(const phi__channel *channel); /* bytes that are queued */
PHI__FN void phi__channel_free(phi__channel *channel);            /* NULL is harmless */
#endif
#ifndef PHI_NO_FILES
typedef enum phi__file_kind {
    PHI__FILE_NONE,
    PHI__FILE_REGULAR,
    PHI__FILE_DIRECTORY,
    PHI__FILE_LINK,
    PHI__FILE_OTHER
} phi__file_kind;

typedef struct phi__file_info {
    phi__file_kind kind;
    uint64_t bytes;
} phi__file_info;

typedef enum phi__links {
    PHI__LINKS_FOLLOW, /* a path of the host's */
    PHI__LINKS_REFUSE  /* a resolved path, in every part */
} phi__links;

PHI__FN phi_status phi__files_stat(const char *path, phi__links links, phi__file_info *out,
                                   phi__words *words);

/* A regular file; anything else is refused, without waiting for a pipe's other end. */
PHI__FN phi_status phi__files_open_read(phi_memory *memory, const char *path, phi__links links,
                                        phi__file **out, phi__words *words);

/* The same of a name in an open directory; a link is refused. */
PHI__FN phi_status phi__files_open_in(phi_memory *memory, int dir, const char *name,
                                      phi__file **out, phi__words *words);

/* Writes next to `path` and renames over it at commit: a torn write leaves the old file, with the
   old mode (and owner, where allowed). `path` is a resolved one, as with PHI__LINKS_REFUSE, so that
   a link's target is replaced; other names of the same file (hard links) keep the old content.
   Anything but a regular file is refused. */
PHI__FN phi_status phi__files_open_replace(phi_memory *memory, const char *path, phi__file **out,
                                           phi__words *words);

/* What replaces a file will be for its owner alone (0600), whatever the old mode; before any
   write. */
PHI__FN void phi__files_private(phi__file *file);

/* Up to n bytes; *got 0 at the end. */
PHI__FN phi_status phi__files_read(phi__file *file, char *out, size_t n, size_t *got,
                                   phi__words *words);

/* Makes the directories that a resolved path lies in, in slices, as with PHI__LINKS_REFUSE. Zeroed
   at first, with the path; phi__files_leave ends it. */
typedef struct phi__way {
    const char *path; /* borrowed */
    size_t at;        /* of the next part */
    int dir;          /* holds that part */
    bool open;
} phi__way;

PHI__FN phi_status phi__files_make_way(phi__way *way, size_t *units, phi__words *words);
PHI__FN void phi__files_leave(phi__way *way); /* twice is harmless */

/* Resolves `path` against `base` (NULL: the working directory) to an absolute one without "..", "."
   or links, at every level, dangling ones too; last parts that do not exist are allowed, and ".."
   takes such a part back. In slices: a chain of links can cost a second. `rest` holds the part
   still to be resolved, at its right end, so that a link's target can be put before it. */
typedef struct phi__resolve {
    char out[PHI__PATH_BYTES]; /* terminated; the result after PHI_OK */
    char rest[PHI__PATH_BYTES];
    size_t len, at;
    int links;
} phi__resolve;

PHI__FN phi_status phi__path_resolve_begin(phi__resolve *r, const char *base, const char *path,
                                           phi__words *words);
PHI__FN phi_status phi__path_resolve_advance(phi__resolve *r, size_t *units, phi__words *words);

/* True if a resolved path is `directory` (resolved too) or lies in it. */
PHI__FN bool phi__path_inside(const char *directory, const char *path);

/* A directory walk, an entry at a time, in no order; its time is linear in the entries. Directories
   that cannot be read, or lie more than 64 deep, are returned and not entered. Holds one descriptor
   for the root, one for the directory being read, and one for each directory above that has more
   than 64 KiB of names of directories; of those 64 KiB are in memory. */
typedef struct phi__walk_entry {
    phi_str path;        /* relative to the walk's root; borrowed until the next call */
    phi__file_kind kind; /* links are not followed */
    uint32_t depth;      /* 1: in the root itself; also of PHI_BUSY */
    /* with PHI_BUSY: the directory `path` was opened; its slash is in the path */
    bool entered;
} phi__walk_entry;

PHI__FN phi_status phi__walk_new(phi_memory *memory, const char *root, phi__links links,
                                 phi__walk **out, phi__words *words);

/* PHI_OK: an entry; PHI_BUSY: a directory was opened, with two system calls a part of its path, or
   closed: come again; PHI_NOT_FOUND: the end. */
PHI__FN phi_status phi__walk_next(phi__walk *walk, phi__walk_entry *out);

/* The descriptor of the directory that was entered last, until the next call; -1: it has none. */
PHI__FN int phi__walk_at(const phi__walk *walk);
PHI__FN void phi__walk_skip(phi__walk *walk); /* do not enter the directory just returned */
PHI__FN void phi__walk_free(phi__walk *walk); /* NULL is harmless */
#endif
#ifndef PHI_NO_PROCESS
typedef struct phi__process_desc {
    const char *const *argv; /* NULL-ended; copied; argv[0] is looked up in PATH */
    const char *cwd;         /* NULL: the host's */
    /* "NAME=value", NULL-ended, added to or replacing the host's; NULL: none */
    const char *const *env;
    bool hide_keys;               /* the host's variables whose names look like keys are left out */
    const char *const *keep_keys; /* NULL-ended names that hide_keys leaves in; NULL: none */
    bool env_only;                /* the child's environment is `env`, and nothing of the host's */
    /* Written to the child's stdin, which is then closed; copied. None, without keep_input: stdin
       is /dev/null. */
    phi_str input;
    bool keep_input;        /* stdin stays open until phi__process_end_input */
    size_t max_input_bytes; /* with keep_input, of bytes that wait for the child (default 1 MiB) */
    /* After a write that was not taken whole: half of the queue is free. On the pumping thread; may
       be NULL. */
    void (*room)(void *ctx);
    /* Bytes of stdout (1) or stderr (2), on the pumping thread, at most 16 KiB a stream and turn;
       borrowed until it returns. False stops the reading of that stream until
       phi__process_resume. */
    bool (*output)(void *ctx, int stream, const char *bytes, size_t len);
    /* Once: exited with `code`, or -1 with `signal_number` not 0. Both streams were read to their
       end before it, or for at most 100 ms of the io's clock after the exit (and then 1 MiB) when a
       grandchild holds them open. A stopped stream is waited for. */
    void (*exited)(void *ctx, int code, int signal_number);
    void *ctx;
} phi__process_desc;

/* PHI_BUSY: no start was free this step, or the system is out of descriptors or processes: try
   again; PHI_NOT_FOUND: no such program; PHI_IO: the system refused; PHI_UNSUPPORTED: no cwd here.
   Words of the system's go to `words`, terminated; may be NULL with size 0. */
PHI__FN phi_status phi__process_new(phi__io *io, const phi__process_desc *desc, phi__process **out,
                                    char *words, size_t words_size);
PHI__FN void phi__process_resume(phi__process *process);

/* With keep_input: queues bytes for the child's stdin, copied, and writes what fits at once. Never
   waits. PHI_OK: *taken says how many, perhaps fewer than len: `room` follows. PHI_STALE: stdin is
   closed, by phi__process_end_input, by the child or by its end. PHI_NO_MEMORY: none was taken. */
PHI__FN phi_status phi__process_write(phi__process *process, const char *bytes, size_t len,
                                      size_t *taken);

/* Closes stdin once the child has read the queued bytes. Harmless when it is closed. */
PHI__FN void phi__process_end_input(phi__process *process);

/* Sends SIGTERM to the child's group. Harmless when it has exited. */
PHI__FN void phi__process_terminate(phi__process *process);
PHI__FN int phi__process_id(const phi__process *process); /* the system's number of it */

/* Kills if alive; no callback after it. NULL is harmless. */
PHI__FN void phi__process_free(phi__process *process);
#endif
#ifndef PHI_NO_FILES
/* A resolved path. */
PHI__FN int phi__walk_open_path(phi_str path);
PHI__FN void phi__walk_close(int dir);

/* True if the directory holds the name. */
PHI__FN bool phi__walk_has(int dir, const char *name, bool *directory);

typedef struct phi__ordered_entry {
    phi_str path; /* relative to the root, terminated; borrowed until the next call */
    phi__file_kind kind;
    uint32_t depth; /* 1: in the root itself */
    /* The directory `path`, which ends with a slash unless it is the root, was read: its entries
       come next. */
    bool entered;
} phi__ordered_entry;

/* root: a resolved path, as with PHI__LINKS_REFUSE. */
PHI__FN phi_status phi__ordered_new(phi_memory *memory, const char *root, phi__ordered **out,
                                    phi__words *words);

/* PHI_OK: an entry, or a directory that was entered; PHI_BUSY: come again; PHI_NOT_FOUND: the end;
   PHI_IO: the directory at out->path cannot be read, and the words say why. */
PHI__FN phi_status phi__ordered_next(phi__ordered *tree, phi__ordered_entry *out,
                                     phi__words *words);
PHI__FN void phi__ordered_skip(phi__ordered *tree); /* do not enter the directory just returned */

/* The open directory of the last entry; -1: it cannot be opened again. Costs two system calls for
   each part of its path where it was closed meanwhile. */
PHI__FN int phi__ordered_at(phi__ordered *tree);
PHI__FN void phi__ordered_free(phi__ordered *tree); /* NULL is harmless */
#endif

#endif
