/* system_in.h - the internal interfaces of src/system: channels, files, paths, walks, processes. */
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
    int out_fd;           /* 0 means stdout (1); must differ from in_fd */
    size_t max_out_bytes; /* max. bytes queued for the reader (default 1 MiB) */
    /* Receives bytes of in_fd, at most 16 KiB a turn. They are borrowed until `input` returns. If
       `input` returns false, reading stops until phi__channel_resume. */
    bool (*input)(void *ctx, const char *bytes, size_t len);
    /* Called when half of the queue is free, after a write whose bytes were not all queued. May be
       NULL. */
    void (*room)(void *ctx);
    /* Called once; `input` is not called after it. PHI_OK: in_fd has ended. PHI_IO: in_fd cannot be
       read. After both, queued bytes are still sent. PHI_STALE: out_fd has no reader; later writes
       are refused. `message` is borrowed until the callback returns. */
    void (*ended)(void *ctx, phi_status status, const char *message);
    void *ctx;
} phi__channel_desc;

/* Makes a channel. PHI_BAD_ARG: a descriptor is not open, or both are the same. The only other
   failure is PHI_NO_MEMORY. */
PHI__FN phi_status phi__channel_new(phi__io *io, const phi__channel_desc *desc, phi__channel **out);
PHI__FN void phi__channel_resume(phi__channel *channel);

/* Queues a copy of the bytes; never waits. PHI_OK: *taken bytes were queued; if fewer than len,
   `room` is called later. PHI_STALE: out_fd has no reader; if `ended` was already called, only this
   status reports it. PHI_NO_MEMORY: no byte was queued. */
PHI__FN phi_status phi__channel_write(phi__channel *channel, const char *bytes, size_t len,
                                      size_t *taken);
/* Takes the memory for writes of `len` bytes in all before the next phi_step. False: there is none,
   and the queue is unchanged. */
PHI__FN bool phi__channel_reserve(phi__channel *channel, size_t len);
PHI__FN size_t phi__channel_waiting(const phi__channel *channel); /* queued bytes */
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
    PHI__LINKS_FOLLOW, /* for a path from the host */
    PHI__LINKS_REFUSE  /* for a resolved path: a link in any part is an error */
} phi__links;

PHI__FN phi_status phi__files_stat(const char *path, phi__links links, phi__file_info *out,
                                   phi__words *words);

/* Opens a regular file for reading. Refuses anything else; does not wait for a pipe's writer. */
PHI__FN phi_status phi__files_open_read(phi_memory *memory, const char *path, phi__links links,
                                        phi__file **out, phi__words *words);

/* Like phi__files_open_read, for a name in an open directory. Refuses a link. */
PHI__FN phi_status phi__files_open_in(phi_memory *memory, phi__fd dir, const char *name,
                                      phi__file **out, phi__words *words);

/* Opens a temporary file next to `path`, which phi__files_commit renames to `path`: an interrupted
   write leaves the old file. The new file gets the old mode (and owner, if allowed). `path` is
   resolved, as for PHI__LINKS_REFUSE, so a link's target is replaced. Other hard links of the file
   keep the old content. Refuses anything but a regular file. */
PHI__FN phi_status phi__files_open_replace(phi_memory *memory, const char *path, phi__file **out,
                                           phi__words *words);

/* Makes the replacing file private to its owner (0600; on Windows, rights for this user alone).
   Call this function before any write. */
PHI__FN void phi__files_private(phi__file *file);

/* Reads at most n bytes. *got is 0 at the end of the file. */
PHI__FN phi_status phi__files_read(phi__file *file, char *out, size_t n, size_t *got,
                                   phi__words *words);

/* Makes the missing directories of a path, which is resolved as for PHI__LINKS_REFUSE. Works in
   slices. Zero a phi__way and set its path first; end with phi__files_leave. */
typedef struct phi__way {
    const char *path; /* borrowed */
    size_t at;        /* offset of the next part */
    phi__fd dir;      /* open directory that holds that part */
    bool open;
} phi__way;

/* Works until no units are left and then returns PHI_BUSY: call again. Each part of the path costs
   two units. */
PHI__FN phi_status phi__files_make_way(phi__way *way, size_t *units, phi__words *words);
PHI__FN void phi__files_leave(phi__way *way); /* calling it twice is harmless */

/* On Windows a resolved path has the style of phi__windows_path, and the long names, in the case of
   the disk, that the system reports for the parts that exist; links, junctions and short names are
   resolved. ".." removes a part before links are resolved. Refused: a path that depends on the
   current directory of a drive, device names, streams, parts that end with a dot or a blank, and a
   link whose target does not exist. A path on another share than `base` is not looked up, so it is
   not sent over the network: its result is its text.

   Resolves `path` against `base` (NULL: the working directory) to an absolute path without "..",
   "." or links. Links are resolved in every part, dangling ones too. Last parts may be missing; a
   ".." after a missing part removes that part. Works in slices, because a chain of links can take a
   second. `rest` holds the unresolved part at its right end: a link's target is put before it. */
typedef struct phi__resolve {
    char out[PHI__PATH_BYTES]; /* terminated; holds the result after PHI_OK */
    char rest[PHI__PATH_BYTES];
    size_t len, at;
    int links;
} phi__resolve;

PHI__FN phi_status phi__path_resolve_begin(phi__resolve *r, const char *base, const char *path,
                                           phi__words *words);
/* Works until no units are left and then returns PHI_BUSY: call again. A part of the path costs one
   unit, and one more for each 64 bytes of the path before it, which the system walks again. */
PHI__FN phi_status phi__path_resolve_advance(phi__resolve *r, size_t *units, phi__words *words);

/* True if a resolved path is `directory`, which is resolved too, or lies in it. Ignores case on
   Windows. */
PHI__FN bool phi__path_inside(const char *directory, const char *path);

/* A walk of a directory tree, an entry at a time, in no order, in time linear in the entries.
   Directories that cannot be read, or are more than 64 levels deep, are returned but not entered.
   Open descriptors: one for the root, one for the current directory, and one for each directory
   above with more than 64 KiB of directory names. About 64 KiB of names of each of these
   directories are in memory. */
typedef struct phi__walk_entry {
    phi_str path;        /* relative to the walk's root; borrowed until the next call */
    phi__file_kind kind; /* links are not followed */
    uint32_t depth;      /* 1 for entries of the root; also set with PHI_BUSY */
    /* set with PHI_BUSY: the directory `path` was opened; path ends with a slash */
    bool entered;
} phi__walk_entry;

PHI__FN phi_status phi__walk_new(phi_memory *memory, const char *root, phi__links links,
                                 phi__walk **out, phi__words *words);

/* PHI_OK: *out is an entry. PHI_BUSY: call again. A directory was closed, or was opened; opening it
   took two system calls for each part of its path. PHI_NOT_FOUND: the walk has ended. */
PHI__FN phi_status phi__walk_next(phi__walk *walk, phi__walk_entry *out);

/* Returns the descriptor of the current directory, valid until the next call; -1 if closed. */
PHI__FN phi__fd phi__walk_at(const phi__walk *walk);
PHI__FN void phi__walk_skip(phi__walk *walk); /* do not enter the directory just returned */
PHI__FN void phi__walk_free(phi__walk *walk); /* NULL is harmless */
#endif
#ifndef PHI_NO_PROCESS
typedef struct phi__process_desc {
    const char *const *argv; /* NULL-ended; copied; argv[0] is looked up in PATH */
    const char *cwd;         /* NULL: the host's working directory */
    /* "NAME=value", NULL-ended; added to the host's, or in place of them; NULL: none */
    const char *const *env;
    bool hide_keys;               /* leave out the host's variables whose names look like keys */
    const char *const *keep_keys; /* NULL-ended names that hide_keys keeps; NULL: none */
    bool env_only;                /* the child gets only `env`, no variable of the host */
    /* Written to the child's stdin, which is then closed; copied. If it is empty and keep_input is
       not set, stdin is /dev/null. */
    phi_str input;
    bool keep_input;        /* stdin stays open until phi__process_end_input */
    size_t max_input_bytes; /* with keep_input: most bytes queued for the child (default 1 MiB) */
    /* Called on the pumping thread when half of the queue is free, after a write whose bytes were
       not all queued. May be NULL. */
    void (*room)(void *ctx);
    /* Receives bytes of stdout (1) or stderr (2) on the pumping thread, at most 16 KiB of each
       stream in a turn. The bytes are borrowed until return. If `output` returns false, reading of
       that stream stops until phi__process_resume. */
    bool (*output)(void *ctx, int stream, const char *bytes, size_t len);
    /* Called once, after the child has exited with `code` or was killed by `signal_number` (code is
       then -1). If neither is known, they are -1 and 0. Both streams were read to their ends. But
       if a grandchild holds a stream open, it is read for at most 100 ms of the io's clock after
       the exit, and then at most 1 MiB more. The function is not called while a stream is
       stopped. */
    void (*exited)(void *ctx, int code, int signal_number);
    void *ctx;
} phi__process_desc;

/* Starts a child. PHI_BUSY: no more starts are allowed in this step, or the system lacks
   descriptors or processes: try again. PHI_NOT_FOUND: no such program. PHI_IO: the system refused.
   PHI_UNSUPPORTED: on Windows with a host's loop. PHI_BAD_ARG: argv is missing. PHI_NO_MEMORY: no
   child was started. `words` gets the system's message, terminated; `words` may be NULL if its size
   is 0. */
PHI__FN phi_status phi__process_new(phi__io *io, const phi__process_desc *desc, phi__process **out,
                                    char *words, size_t words_size);
PHI__FN void phi__process_resume(phi__process *process);

/* With keep_input: queues a copy of the bytes for the child's stdin, and writes at once those that
   fit. Never waits. PHI_OK: *taken bytes were queued; if fewer than len, `room` is called later.
   PHI_STALE: stdin was closed by phi__process_end_input or by the child, or the child has ended.
   PHI_NO_MEMORY: no byte was queued. */
PHI__FN phi_status phi__process_write(phi__process *process, const char *bytes, size_t len,
                                      size_t *taken);

/* Closes stdin after the child has read all queued bytes. Harmless if stdin is closed. */
PHI__FN void phi__process_end_input(phi__process *process);

/* Sends SIGTERM to the child's group. Harmless if the child has exited. */
PHI__FN void phi__process_terminate(phi__process *process);
PHI__FN int phi__process_id(const phi__process *process); /* the system's process id */

/* Kills the child if it is alive. No callback follows. NULL is harmless. */
PHI__FN void phi__process_free(phi__process *process);

enum {
    PHI__SHELL_PATH_BYTES = 1024, /* of a program's path, with the terminator */
    PHI__SHELL_ARGS = 10          /* arguments of a shell, with the NULL at their end */
};

/* The shell that runs lines for the tool `bash`. */
typedef struct phi__shell_program {
    char path[PHI__SHELL_PATH_BYTES]; /* for phi__process_desc.argv */
    bool powershell;                  /* else it is bash */
    bool quotes; /* this bash cannot take every line as it is: see phi__shell_quote */
} phi__shell_program;

/* Finds the shell. On POSIX this is "bash". On Windows it is a bash of Git or MSYS, else
   PowerShell, which every Windows has; finding it looks at about 50 files. */
PHI__FN void phi__shell_find(phi__shell_program *out);

/* Fills argv, for a shell that runs the line. The arguments point into `shell`, `line` and `text`,
   an empty buffer that the caller frees. PHI_OK or PHI_NO_MEMORY. */
PHI__FN phi_status phi__shell_argv(const phi__shell_program *shell, const char *line,
                                   phi__buf *text, const char *argv[PHI__SHELL_ARGS]);
#endif
#ifndef PHI_NO_FILES
/* Opens the directory at a resolved path. Returns -1 on failure. */
PHI__FN phi__fd phi__walk_open_path(phi_str path);
PHI__FN void phi__walk_close(phi__fd dir);

/* True if the directory holds `name`. *directory then says if `name` is a directory. */
PHI__FN bool phi__walk_has(phi__fd dir, const char *name, bool *directory);

typedef struct phi__ordered_entry {
    phi_str path; /* relative to the root, terminated; borrowed until the next call */
    phi__file_kind kind;
    uint32_t depth; /* 1 for entries of the root */
    /* The directory `path` was read; its entries follow. `path` is "" or ends with a slash. */
    bool entered;
} phi__ordered_entry;

/* Begins a walk in the order of names. `root` is resolved, as for PHI__LINKS_REFUSE. */
PHI__FN phi_status phi__ordered_new(phi_memory *memory, const char *root, phi__ordered **out,
                                    phi__words *words);

/* PHI_OK: *out is an entry, or a directory that was entered. PHI_BUSY: call again. PHI_NOT_FOUND:
   the walk has ended. PHI_IO: the directory at out->path cannot be read, and *words says why. */
PHI__FN phi_status phi__ordered_next(phi__ordered *tree, phi__ordered_entry *out,
                                     phi__words *words);
PHI__FN void phi__ordered_skip(phi__ordered *tree); /* do not enter the directory just returned */

/* Returns the open directory of the last entry, or -1 if it cannot be opened again. If it was
   closed, this costs two system calls for each part of its path. */
PHI__FN phi__fd phi__ordered_at(phi__ordered *tree);
PHI__FN void phi__ordered_free(phi__ordered *tree); /* NULL is harmless */
#endif

#endif
