/* files_in.h - makes and writes files, and makes directories.

   Words for a failure are the system's own ("No such file or directory"), copied into the caller's
   buffer; `words` may be NULL. Paths are terminated strings in the system's encoding (UTF-8), at
   most 4,095 bytes. PHI_NOT_FOUND is ENOENT, PHI_IO every other refusal. No descriptor is inherited
   by a child, no signal is raised (SIGXFSZ at a file size limit), and nothing here calls fsync.
   Threads: one at a time. */
#ifndef PHI_IO_FILES_IN_H
#define PHI_IO_FILES_IN_H

#include "base/base_in.h"

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
    PHI__DISK_FRESH   /* made anew, or emptied */
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
    /* One write of up to n bytes; *wrote says how many it took, also beside a failure. */
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

#endif
