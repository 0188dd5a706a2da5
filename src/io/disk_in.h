/* disk_in.h - the file system calls of a store: reads and writes at an offset, locks, renames,
   syncs.

   A table of functions, so that a test can have a disk that is full. Words for a failure are the
   system's own, and may be NULL. PHI_NOT_FOUND is ENOENT; PHI_FULL no space, quota or file size
   left; PHI_BUSY a lock that another has; PHI_NO_MEMORY ENOMEM; PHI_TOO_BIG an offset that the
   system cannot count; PHI_IO every other refusal. No descriptor is inherited by a program that is
   started, and no signal is raised. Nothing waits for a lock.
   Threads: one at a time for each file. */
#ifndef PHI_IO_DISK_IN_H
#define PHI_IO_DISK_IN_H

#include "io/files_in.h"

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
