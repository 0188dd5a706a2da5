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

/* Converts a resolved path, in the style that phi__windows_path writes, to what Windows opens. Any
   other path is refused, because Windows would take it as it is. */
PHI__FN int phi__wide_resolved(const char *path, wchar_t out[PHI__WIDE_PATH]);

/* Writes the resolved path of an open file, as the system reports it: long names, their case on the
   disk, and no links. Returns a fault if another program could not open such a path. */
PHI__FN int phi__final_path(HANDLE file, char out[PHI__PATH_BYTES]);

/* True if both resolved paths are equal without regard to case. */
PHI__FN bool phi__same_path(const char *a, size_t a_len, const char *b, size_t b_len);

/* A name in a directory is opened, renamed and deleted by functions of the kernel, because those of
   kernel32 take whole paths, whose directories another program could replace by links. */
typedef struct phi__nt_how {
    ULONG access;      /* SYNCHRONIZE is added */
    ULONG disposition; /* FILE_OPEN, FILE_CREATE, FILE_OPEN_IF */
    ULONG options;     /* a link itself is opened, unless `follow` is set */
    ULONG attributes;  /* of a new file; 0: none */
    void *security;    /* descriptor of a new file; NULL: the directory's */
    bool follow;
} phi__nt_how;

/* Opens `name` in a directory; "" opens the directory itself again. Every other handle may read,
   write, rename and delete the file; started programs do not inherit it. */
PHI__FN int phi__nt_open(HANDLE dir, phi_str name, const phi__nt_how *how, HANDLE *out);

/* Renames an open file (access DELETE), and replaces a file of the new name. If dir is NULL, `name`
   is a path that phi__wide_path wrote. */
PHI__FN int phi__nt_rename(HANDLE file, HANDLE dir, const wchar_t *name);

/* Deletes an open file (access DELETE). Its name is free when this function returns, or on old
   systems when the last handle is closed. */
PHI__FN int phi__nt_delete(HANDLE file);

/* Tests an open file: 0, PHI__EXACT_LINK, or a fault. A link is a reparse point that leads to
   another name; those of deduplicated or remote files are none. *plain is set to false if the file
   is such a reparse point, whose content must be read through another handle. */
PHI__FN int phi__nt_check(HANDLE file, bool directory, bool *plain);

/* The counterpart of mode 0600: a list of access rights with one entry, all rights for the user of
   this process. Nothing is inherited from the directory. */
typedef struct phi__private {
    SECURITY_DESCRIPTOR descriptor;
    union {
        TOKEN_USER user;
        char bytes[sizeof(TOKEN_USER) + SECURITY_MAX_SID_SIZE];
    } owner;
    union {
        ACL list;
        char bytes[sizeof(ACL) + sizeof(ACCESS_ALLOWED_ACE) + SECURITY_MAX_SID_SIZE];
    } rights;
} phi__private;

PHI__FN int phi__private_init(phi__private *out);
#endif

/* A pipe between this process and a child. Our end is a descriptor that phi__io_watch takes, though
   no other function of Windows does: it is the address of a struct of ours. Threads: the pumping
   thread only. */
#ifndef PHI_NO_PROCESS
/* Makes a pipe, or returns ERROR_NOT_SUPPORTED without a poller. `we_read` says which end is ours.
   The child's end can be inherited; the caller closes it with CloseHandle. */
PHI__FN int phi__pipe_new(struct phi__poller *poller, bool we_read, phi__fd *ours, HANDLE *childs);

/* Reads bytes that have arrived. ERROR_NO_DATA: nothing yet. 0 with *got 0: the pipe has ended. */
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
