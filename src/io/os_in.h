/* os_in.h - determines the system for which phi is compiled, and its type of descriptors.

   PHI__OS_POSIX or PHI__OS_WINDOWS selects the code that is compiled. The finer names select calls
   within the POSIX code. At most one PHI__POLLER_ name is defined. */
#ifndef PHI_IO_OS_IN_H
#define PHI_IO_OS_IN_H

#include "base/base_in.h"

#if defined(_WIN32)
#define PHI__OS_WINDOWS 1
#else
#define PHI__OS_POSIX 1
#if defined(__linux__)
#define PHI__OS_LINUX 1
#elif defined(__APPLE__)
#define PHI__OS_MACOS 1
#define PHI__OS_BSD 1
#elif defined(__FreeBSD__) || defined(__NetBSD__) || defined(__OpenBSD__) || defined(__DragonFly__)
#define PHI__OS_BSD 1
#endif
#endif

/* An open file, pipe, socket or directory: a descriptor of POSIX, or a HANDLE or SOCKET of Windows.
   -1: none. */
#if defined(PHI__OS_WINDOWS)
typedef intptr_t phi__fd;
#else
typedef int phi__fd;
#endif

#if defined(PHI__OS_POSIX)
#if defined(PHI_USE_POLL)
#define PHI__POLLER_POLL 1
#elif defined(PHI__OS_LINUX)
#define PHI__POLLER_EPOLL 1
#elif defined(PHI__OS_BSD)
#define PHI__POLLER_KQUEUE 1
#else
#define PHI__POLLER_POLL 1
#endif
#endif

#endif
