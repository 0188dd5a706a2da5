/* posix_in.h - shared by files and processes: the system's error messages, and a write that cannot
   kill the host by a signal. */
#ifndef PHI_IO_POSIX_IN_H
#define PHI_IO_POSIX_IN_H

#include "base/base_in.h"

#if !defined(PHI_NO_PROCESS) || !defined(PHI_NO_FILES) || !defined(PHI_NO_LISTEN)
/* The system's words for an errno value, terminated; safe with other threads about. */
PHI__FN void phi__posix_words(int error, char *out, size_t size);

/* Writes what fits at once, up to n bytes, with SIGPIPE and SIGXFSZ held back on this thread and
   taken out of its queue if the write caused one; no disposition is touched. Returns 0 or an errno
   value (EAGAIN: no room now). */
PHI__FN int phi__posix_write(int fd, const char *bytes, size_t n, size_t *wrote);
#endif

#endif
