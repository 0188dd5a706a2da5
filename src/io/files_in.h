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
#endif
