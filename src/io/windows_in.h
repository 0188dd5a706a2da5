/* windows_in.h - what the files that call Windows share: its headers, wide texts, and pipes.

   Errors are values of GetLastError; 0 is success. Paths of phi are UTF-8; both kinds of slash
   separate their parts. */
#ifndef PHI_IO_WINDOWS_IN_H
#define PHI_IO_WINDOWS_IN_H

#include "io/io_in.h"
#include "io/os_in.h"

#if defined(PHI__OS_WINDOWS)

#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <winsock2.h>
/* after winsock2.h */
#include <windows.h>
#include <ws2tcpip.h>

static inline HANDLE phi__handle(phi__fd fd) { return (HANDLE)fd; }

/* Converts UTF-8 to UTF-16, terminated. False: it is not UTF-8, has a zero byte, or is too long. */
PHI__FN bool phi__wide(phi_str text, wchar_t *out, size_t count);

/* Converts UTF-16 to UTF-8, terminated; a lone surrogate becomes U+FFFD. SIZE_MAX: too long. Else
   the bytes without the terminator. */
PHI__FN size_t phi__narrow(const wchar_t *wide, size_t len, char *out, size_t size);

#ifndef PHI_NO_FILES
enum { PHI__WIDE_PATH = PHI__PATH_BYTES + 16 };

/* Converts a path to the full path that Windows opens, of any length ("\\?\..."). Relative paths
   begin in the working directory; "." and "..", and dots and blanks at the end of the last part,
   are removed as Windows removes them. Returns an error if the path is too long or not UTF-8, and
   ERROR_BAD_PATHNAME if it names a device (NUL, COM1, \\.\...) or a stream of a file (a:b). */
PHI__FN int phi__wide_path(const char *path, wchar_t out[PHI__WIDE_PATH]);
#endif

/* A pipe between this process and a child. Our end is a descriptor that phi__io_watch takes, though
   no other function of Windows does: it is the address of a struct of ours. Threads: the pumping
   thread only. */
#ifndef PHI_NO_PROCESS
/* Makes a pipe. `we_read` says which end is ours. The child's end can be inherited; the caller
   closes it with CloseHandle. */
PHI__FN int phi__pipe_new(phi__io *io, bool we_read, phi__fd *ours, HANDLE *childs);

/* Reads what has arrived. ERROR_NO_DATA: nothing yet. 0 with *got 0: the pipe has ended. */
PHI__FN int phi__pipe_read(phi__fd pipe, char *out, size_t n, size_t *got);

/* Copies bytes, which the system then writes. ERROR_NO_DATA: bytes of the call before are still
   being written. ERROR_BROKEN_PIPE: nobody reads any more. */
PHI__FN int phi__pipe_write(phi__fd pipe, const char *bytes, size_t n, size_t *wrote);

/* Closes our end, after phi__io_watch has forgotten it. Bytes that were copied are still written,
   until phi__io_free. */
PHI__FN void phi__pipe_close(phi__fd pipe);
#endif

#endif
#endif
