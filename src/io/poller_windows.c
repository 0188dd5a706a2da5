/* poller_windows.c - the poller on Windows, and the pipes that it watches.

   Everything arrives at one completion port. A socket is watched by a poll of AFD, the driver below
   Winsock: each poll is one operation, which ends when the socket is ready. So a turn takes time
   for the ready sockets alone. Select of Winsock is built on the same polls; libuv, mio and wepoll
   use them as this file does. Where the driver refuses, and with PHI_USE_POLL, WSAPoll is used
   instead: a turn then takes time for each socket, and pipes are looked at every few milliseconds.

   The memory of an operation must stay until its packet has come out of the port. So a socket that
   is forgotten before, or a pipe that is closed before, is marked and freed with its packet. */
#include "io/os_in.h"
#include "io/poller_in.h"

#if defined(PHI__OS_WINDOWS)

#include "io/windows_in.h"

/* after windows.h */
#include <stdio.h>
#include <winternl.h>

/* The interface of AFD. Microsoft does not document it, but could not change it without breaking
   the programs of the libraries above. */
#define PHI__AFD_POLL 0x00012024u
#define PHI__AFD_RECEIVE 0x0001u
#define PHI__AFD_SEND 0x0004u
#define PHI__AFD_DISCONNECT 0x0008u
#define PHI__AFD_ABORT 0x0010u
#define PHI__AFD_LOCAL_CLOSE 0x0020u
#define PHI__AFD_ACCEPT 0x0080u
#define PHI__AFD_CONNECT_FAIL 0x0100u

#define PHI__NT_PENDING ((LONG)0x00000103)
#define PHI__NT_CANCELLED ((LONG)0xC0000120)

#define PHI__AFD_BASE 0x48000022u /* SIO_BASE_HANDLE, which some headers lack */

typedef struct phi__afd_info {
    LARGE_INTEGER timeout;
    ULONG count, exclusive;
    HANDLE socket;
    ULONG events;
    LONG status;
} phi__afd_info;

typedef LONG(NTAPI *phi__afd_open_fn)(HANDLE *, ACCESS_MASK, OBJECT_ATTRIBUTES *, IO_STATUS_BLOCK *,
                                      LARGE_INTEGER *, ULONG, ULONG, ULONG, ULONG, void *, ULONG);
typedef LONG(NTAPI *phi__nt_control_fn)(HANDLE, HANDLE, void *, void *, IO_STATUS_BLOCK *, ULONG,
                                        void *, ULONG, void *, ULONG);
typedef LONG(NTAPI *phi__nt_cancel_fn)(HANDLE, IO_STATUS_BLOCK *, IO_STATUS_BLOCK *);

/* An operation: a packet of the port leads to it by the address of its OVERLAPPED. AFD sees the
   first two members of that as an IO_STATUS_BLOCK. */
typedef struct phi__overlapped {
    OVERLAPPED overlapped;
    bool of_pipe;
} phi__overlapped;

/* A watched socket. */
typedef struct phi__polled {
    phi__overlapped operation;
    phi__afd_info info;
    phi__link link; /* in the list of those that need a new poll */
    SOCKET socket;
    HANDLE base; /* the socket below those of layered providers */
    ULONG asked; /* the events of the poll under way */
    uint32_t key;
    int want;
    bool linked, under_way, gone;
} phi__polled;

enum { PHI__PIPE_BYTES = 16384 };

/* A pipe that reads has always one read under way, or holds what that read has brought. A pipe that
   writes copies bytes, and takes more after the system has written them. */
typedef struct phi__pipe {
    phi__overlapped operation;
    phi__poller *poller;
    HANDLE handle;
    phi__link link; /* in the list of ready pipes */
    phi__link all;  /* in the list of all pipes */
    uint32_t key;
    int want;
    int error;        /* the pipe has ended or failed */
    unsigned packets; /* how many packets will still come out of the port */
    size_t at, len;   /* the bytes that were read, and are not taken yet */
    bool reads, under_way, linked, closed;
    char bytes[PHI__PIPE_BYTES];
} phi__pipe;

struct phi__poller {
    phi_memory *memory;
    HANDLE port, afd; /* afd: INVALID_HANDLE_VALUE if WSAPoll is used */
    phi__nt_control_fn control;
    phi__nt_cancel_fn cancel;
    phi__polled **sockets; /* by key */
    size_t socket_cap, socket_len;
    phi__list stale;  /* sockets that need a new poll */
    phi__list ready;  /* pipes */
    phi__list pipes;  /* all */
    size_t under_way; /* polls of AFD */
    WSAPOLLFD *fds;   /* with WSAPoll */
    size_t fd_cap, cursor;
};

static IO_STATUS_BLOCK *phi__polled_status(phi__polled *s) {
    return (IO_STATUS_BLOCK *)(void *)&s->operation.overlapped;
}

/* ---- making and freeing ---- */

#if defined(PHI_USE_POLL)

static bool phi__afd_open(phi__poller *poller) {
    (void)poller;
    return false;
}

#else

/* GetProcAddress returns one type for all functions. */
static void phi__nt_find(const char *name, void *out, size_t size) {
    HMODULE module = GetModuleHandleW(L"ntdll.dll");
    FARPROC found = module != NULL ? GetProcAddress(module, name) : NULL;
    memcpy(out, &found, size);
}

/* Opens the driver. False: it refuses. */
static bool phi__afd_open(phi__poller *poller) {
    wchar_t path[] = L"\\Device\\Afd\\Phi";
    UNICODE_STRING name;
    OBJECT_ATTRIBUTES about = PHI_ZERO;
    IO_STATUS_BLOCK status = PHI_ZERO;
    phi__afd_open_fn create;
    phi__nt_find("NtCreateFile", &create, sizeof create);
    phi__nt_find("NtDeviceIoControlFile", &poller->control, sizeof poller->control);
    phi__nt_find("NtCancelIoFileEx", &poller->cancel, sizeof poller->cancel);
    if (create == NULL || poller->control == NULL || poller->cancel == NULL) return false;
    name.Buffer = path;
    name.Length = (USHORT)(sizeof path - sizeof path[0]);
    name.MaximumLength = (USHORT)sizeof path;
    about.Length = (ULONG)sizeof about;
    about.ObjectName = &name;
    if (create(&poller->afd, SYNCHRONIZE, &about, &status, NULL, 0,
               FILE_SHARE_READ | FILE_SHARE_WRITE, FILE_OPEN, 0, NULL, 0) != 0) {
        poller->afd = INVALID_HANDLE_VALUE;
        return false;
    }
    if (CreateIoCompletionPort(poller->afd, poller->port, 0, 0) != NULL) return true;
    (void)CloseHandle(poller->afd);
    poller->afd = INVALID_HANDLE_VALUE;
    return false;
}

#endif

PHI__FN phi_status phi__poller_new(phi_memory *memory, phi__poller **out) {
    phi__poller *poller = (phi__poller *)phi__alloc(memory, sizeof *poller);
    if (poller == NULL) return PHI_NO_MEMORY;
    poller->memory = memory;
    poller->afd = INVALID_HANDLE_VALUE;
    poller->port = CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 1);
    if (poller->port == NULL) {
        phi__free(memory, poller, sizeof *poller);
        return PHI_IO;
    }
    (void)phi__afd_open(poller);
    *out = poller;
    return PHI_OK;
}

/* ---- sockets ---- */

static void phi__polled_link(phi__poller *poller, phi__polled *s) {
    if (s->linked) return;
    s->linked = true;
    phi__list_push(&poller->stale, &s->link);
}

static void phi__polled_unlink(phi__poller *poller, phi__polled *s) {
    if (s->linked) phi__list_take(&poller->stale, &s->link);
    s->linked = false;
}

static ULONG phi__polled_events(int want) {
    ULONG events = PHI__AFD_ABORT | PHI__AFD_CONNECT_FAIL | PHI__AFD_LOCAL_CLOSE;
    if ((want & PHI__READ) != 0) events |= PHI__AFD_RECEIVE | PHI__AFD_DISCONNECT | PHI__AFD_ACCEPT;
    if ((want & PHI__WRITE) != 0) events |= PHI__AFD_SEND;
    return events;
}

static HANDLE phi__polled_base(SOCKET socket) {
    SOCKET base = INVALID_SOCKET;
    DWORD got;
    if (WSAIoctl(socket, PHI__AFD_BASE, NULL, 0, &base, (DWORD)sizeof base, &got, NULL, NULL) != 0)
        base = socket;
    return (HANDLE)base;
}

/* Ends all polls of the driver. From now on WSAPoll is used. */
static void phi__poller_plain(phi__poller *poller) {
    IO_STATUS_BLOCK status;
    if (poller->afd == INVALID_HANDLE_VALUE) return;
    (void)poller->cancel(poller->afd, NULL, &status);
    (void)CloseHandle(poller->afd);
    poller->afd = INVALID_HANDLE_VALUE;
}

/* True if the socket was closed, though it is watched. */
static bool phi__polled_closed(const phi__polled *s) {
    int type, len = (int)sizeof type;
    return getsockopt(s->socket, SOL_SOCKET, SO_TYPE, (char *)&type, &len) != 0 &&
           WSAGetLastError() == WSAENOTSOCK;
}

/* Begins a poll with the events that are wanted now, or ends the one under way if it has others:
   its packet brings the socket here again. */
static void phi__polled_update(phi__poller *poller, phi__polled *s) {
    ULONG events = phi__polled_events(s->want);
    phi__polled_unlink(poller, s);
    if (poller->afd == INVALID_HANDLE_VALUE || s->gone) return;
    if (s->under_way) {
        IO_STATUS_BLOCK status;
        if ((events & ~s->asked) != 0)
            (void)poller->cancel(poller->afd, phi__polled_status(s), &status);
        return;
    }
    phi__polled_status(s)->Status = PHI__NT_PENDING;
    s->info.timeout.QuadPart = INT64_MAX;
    s->info.count = 1;
    s->info.exclusive = 0;
    s->info.socket = s->base;
    s->info.events = s->asked = events;
    s->info.status = 0;
    LONG result = poller->control(poller->afd, NULL, NULL, &s->operation.overlapped,
                                  phi__polled_status(s), PHI__AFD_POLL, &s->info,
                                  (ULONG)sizeof s->info, &s->info, (ULONG)sizeof s->info);
    if (result == 0 || result == PHI__NT_PENDING) {
        s->under_way = true;
        poller->under_way++;
        return;
    }
    if (!phi__polled_closed(s)) phi__poller_plain(poller);
}

static void phi__polled_free(phi__poller *poller, phi__polled *s) {
    phi__polled_unlink(poller, s);
    phi__free(poller->memory, s, sizeof *s);
}

static void phi__polled_forget(phi__poller *poller, uint32_t key) {
    phi__polled *s = key < poller->socket_len ? poller->sockets[key] : NULL;
    IO_STATUS_BLOCK status;
    if (s == NULL) return;
    poller->sockets[key] = NULL;
    while (poller->socket_len > 0 && poller->sockets[poller->socket_len - 1] == NULL)
        poller->socket_len--;
    if (!s->under_way) {
        phi__polled_free(poller, s);
        return;
    }
    s->gone = true;
    phi__polled_unlink(poller, s);
    if (poller->afd != INVALID_HANDLE_VALUE)
        (void)poller->cancel(poller->afd, phi__polled_status(s), &status);
}

static phi_status phi__polled_change(phi__poller *poller, intptr_t fd, int want, uint32_t key) {
    phi__polled *s = key < poller->socket_len ? poller->sockets[key] : NULL;
    if (s != NULL && s->socket != (SOCKET)fd) {
        phi__polled_forget(poller, key);
        s = NULL;
    }
    if (s == NULL) {
        phi__polled **sockets = (phi__polled **)phi__grow(
            poller->memory, poller->sockets, &poller->socket_cap, (size_t)key + 1, sizeof *sockets);
        if (sockets == NULL) return PHI_NO_MEMORY;
        poller->sockets = sockets;
        WSAPOLLFD *fds = (WSAPOLLFD *)phi__grow(poller->memory, poller->fds, &poller->fd_cap,
                                                (size_t)key + 1, sizeof *fds);
        if (fds == NULL) return PHI_NO_MEMORY;
        poller->fds = fds;
        s = (phi__polled *)phi__alloc(poller->memory, sizeof *s);
        if (s == NULL) return PHI_NO_MEMORY;
        s->socket = (SOCKET)fd;
        s->base = phi__polled_base(s->socket);
        s->key = key;
        while (poller->socket_len <= key) sockets[poller->socket_len++] = NULL;
        sockets[key] = s;
    }
    s->want = want;
    phi__polled_link(poller, s);
    return PHI_OK;
}

/* Takes the packet of a poll. Returns what the socket is ready for. */
static int phi__polled_done(phi__poller *poller, phi__polled *s) {
    LONG status = (LONG)phi__polled_status(s)->Status;
    ULONG events = s->info.count > 0 ? s->info.events : 0;
    s->under_way = false;
    poller->under_way--;
    if (s->gone) {
        phi__polled_free(poller, s);
        return 0;
    }
    phi__polled_link(poller, s);
    if (status == PHI__NT_CANCELLED) return 0;
    if (status < 0) events = PHI__AFD_ABORT;
    if ((events & PHI__AFD_LOCAL_CLOSE) != 0) { /* closed, though it is watched */
        phi__polled_unlink(poller, s);
        return 0;
    }
    bool broken = (events & (PHI__AFD_ABORT | PHI__AFD_CONNECT_FAIL)) != 0;
    bool reads = (events & (PHI__AFD_RECEIVE | PHI__AFD_DISCONNECT | PHI__AFD_ACCEPT)) != 0;
    return (reads || broken ? PHI__READ : 0) |
           ((events & PHI__AFD_SEND) != 0 || broken ? PHI__WRITE : 0);
}

/* ---- pipes ---- */

#if !defined(PHI_NO_PROCESS)

/* A descriptor of a pipe is its address plus 1: those of sockets are multiples of 4. */
static phi__pipe *phi__pipe_of(phi__fd fd) { return (fd & 1) != 0 ? (phi__pipe *)(fd - 1) : NULL; }

PHI__FN int phi__pipe_new(phi__poller *poller, bool we_read, phi__fd *ours, HANDLE *childs) {
    SECURITY_ATTRIBUTES inherited = PHI_ZERO;
    unsigned char random[16];
    char name[64];
    wchar_t wide[64];
    *ours = -1;
    *childs = NULL;
    if (poller == NULL) return ERROR_NOT_SUPPORTED;
    phi__clock_random(random, sizeof random);
    int n = snprintf(name, sizeof name, "\\\\.\\pipe\\phi.");
    for (size_t i = 0; i < sizeof random; i++)
        n += snprintf(name + n, sizeof name - (size_t)n, "%02x", random[i]);
    if (!phi__wide(phi_str_of(name), wide, PHI__COUNT(wide))) return ERROR_INVALID_NAME;
    phi__pipe *p = (phi__pipe *)phi__alloc(poller->memory, sizeof *p);
    if (p == NULL) return ERROR_NOT_ENOUGH_MEMORY;
    p->operation.of_pipe = true;
    p->poller = poller;
    p->reads = we_read;
    p->handle = CreateNamedPipeW(wide,
                                 (we_read ? PIPE_ACCESS_INBOUND : PIPE_ACCESS_OUTBOUND) |
                                     FILE_FLAG_OVERLAPPED | FILE_FLAG_FIRST_PIPE_INSTANCE,
                                 PIPE_TYPE_BYTE | PIPE_READMODE_BYTE | PIPE_WAIT |
                                     PIPE_REJECT_REMOTE_CLIENTS,
                                 1, 4 * PHI__PIPE_BYTES, 4 * PHI__PIPE_BYTES, 0, NULL);
    inherited.nLength = (DWORD)sizeof inherited;
    inherited.bInheritHandle = TRUE;
    if (p->handle != INVALID_HANDLE_VALUE)
        *childs = CreateFileW(wide,
                              we_read ? GENERIC_WRITE | FILE_READ_ATTRIBUTES
                                      : GENERIC_READ | FILE_WRITE_ATTRIBUTES,
                              0, &inherited, OPEN_EXISTING, 0, NULL);
    if (p->handle != INVALID_HANDLE_VALUE && *childs != INVALID_HANDLE_VALUE &&
        CreateIoCompletionPort(p->handle, poller->port, 0, 0) != NULL) {
        phi__list_push(&poller->pipes, &p->all);
        *ours = (phi__fd)p + 1;
        return 0;
    }
    int error = (int)GetLastError();
    if (p->handle != INVALID_HANDLE_VALUE) {
        if (*childs != INVALID_HANDLE_VALUE) (void)CloseHandle(*childs);
        (void)CloseHandle(p->handle);
    }
    *childs = NULL;
    phi__free(poller->memory, p, sizeof *p);
    return error;
}

/* Takes what the operation under way has brought, if it has ended. */
static void phi__pipe_harvest(phi__pipe *p) {
    DWORD n = 0;
    if (!p->under_way || !HasOverlappedIoCompleted(&p->operation.overlapped)) return;
    p->under_way = false;
    if (!GetOverlappedResult(p->handle, &p->operation.overlapped, &n, FALSE))
        p->error = (int)GetLastError();
    else if (p->reads)
        p->len = (size_t)n;
}

/* Begins to read, or to write n bytes. Also an operation that ends at once has a packet. */
static void phi__pipe_begin(phi__pipe *p, size_t n) {
    memset(&p->operation.overlapped, 0, sizeof p->operation.overlapped);
    p->at = p->len = 0;
    BOOL done = p->reads ? ReadFile(p->handle, p->bytes, (DWORD)n, NULL, &p->operation.overlapped)
                         : WriteFile(p->handle, p->bytes, (DWORD)n, NULL, &p->operation.overlapped);
    if (!done && GetLastError() != ERROR_IO_PENDING) {
        p->error = (int)GetLastError();
        return;
    }
    p->under_way = true;
    p->packets++;
}

/* A write of no bytes ends a read with no bytes. Its packet brings the pipe here again, so a child
   that makes many such writes does not hold up a turn. */
static bool phi__pipe_ready(phi__pipe *p) {
    phi__pipe_harvest(p);
    if (!p->reads) return !p->under_way;
    if (!p->under_way && p->at == p->len && p->error == 0) {
        phi__pipe_begin(p, sizeof p->bytes);
        phi__pipe_harvest(p);
    }
    return p->at < p->len || p->error != 0;
}

PHI__FN int phi__pipe_read(phi__fd pipe, char *out, size_t n, size_t *got) {
    phi__pipe *p = phi__pipe_of(pipe);
    *got = 0;
    if (!phi__pipe_ready(p)) return ERROR_NO_DATA;
    size_t have = phi__min(n, p->len - p->at);
    memcpy(out, p->bytes + p->at, have);
    p->at += have;
    *got = have;
    if (have > 0 || n == 0) return 0;
    bool ended = p->error == ERROR_BROKEN_PIPE || p->error == ERROR_HANDLE_EOF ||
                 p->error == ERROR_PIPE_NOT_CONNECTED;
    return ended ? 0 : p->error;
}

PHI__FN int phi__pipe_write(phi__fd pipe, const char *bytes, size_t n, size_t *wrote) {
    phi__pipe *p = phi__pipe_of(pipe);
    *wrote = 0;
    if (!phi__pipe_ready(p)) return ERROR_NO_DATA;
    if (p->error == 0 && n > 0) {
        n = phi__min(n, sizeof p->bytes);
        memcpy(p->bytes, bytes, n);
        phi__pipe_begin(p, n);
        phi__pipe_harvest(p);
    }
    if (p->error != 0) return ERROR_BROKEN_PIPE;
    *wrote = n;
    return 0;
}

static void phi__pipe_free(phi__pipe *p) {
    phi__list_take(&p->poller->pipes, &p->all);
    if (p->handle != INVALID_HANDLE_VALUE) (void)CloseHandle(p->handle);
    phi__free(p->poller->memory, p, sizeof *p);
}

static void phi__pipe_want(phi__pipe *p, int want, uint32_t key) {
    phi__poller *poller = p->poller;
    p->want = want;
    p->key = key;
    bool ready = want != 0 && phi__pipe_ready(p);
    if (ready == p->linked) return;
    p->linked = ready;
    if (ready)
        phi__list_push(&poller->ready, &p->link);
    else
        phi__list_take(&poller->ready, &p->link);
}

PHI__FN void phi__pipe_close(phi__fd pipe) {
    phi__pipe *p = phi__pipe_of(pipe);
    phi__pipe_want(p, 0, 0);
    p->closed = true;
    phi__pipe_harvest(p);
    /* A write goes on until it is done. Nobody wants what a read brings. */
    if (p->under_way && p->reads) (void)CancelIoEx(p->handle, &p->operation.overlapped);
    if (!p->under_way) {
        (void)CloseHandle(p->handle);
        p->handle = INVALID_HANDLE_VALUE;
    }
    if (p->packets == 0) phi__pipe_free(p);
}

/* Takes a packet of a pipe, which may be older than the operation under way. */
static void phi__pipe_done(phi__pipe *p) {
    p->packets--;
    phi__pipe_harvest(p);
    if (!p->closed) {
        phi__pipe_want(p, p->want, p->key);
    } else if (!p->under_way && p->packets == 0) {
        phi__pipe_free(p);
    }
}

/* Reports ready pipes, each at most once, and moves them to the end of the list. */
static int phi__pipe_report(phi__poller *poller, phi__poller_event *out, int n) {
    phi__link *last = poller->ready.last, *link = poller->ready.first;
    while (link != NULL && n < PHI__POLLER_BATCH) {
        phi__pipe *p = PHI__OWNER(link, phi__pipe, link);
        phi__link *next = link == last ? NULL : link->next;
        phi__pipe_want(p, p->want, p->key);
        if (p->linked) {
            phi__list_take(&poller->ready, link);
            phi__list_push(&poller->ready, link);
            out[n].key = p->key;
            out[n++].have = p->reads ? PHI__READ : PHI__WRITE;
        }
        link = next;
    }
    return n;
}

#endif

/* ---- the poller ---- */

PHI__FN phi_status phi__poller_change(phi__poller *poller, intptr_t fd, int was, int want,
                                      uint32_t key) {
    (void)was;
#if !defined(PHI_NO_PROCESS)
    phi__pipe *pipe = phi__pipe_of(fd);
    if (pipe != NULL) {
        phi__pipe_want(pipe, want, key);
        return PHI_OK;
    }
#endif
    if (want != 0) return phi__polled_change(poller, fd, want, key);
    phi__polled_forget(poller, key);
    return PHI_OK;
}

/* Takes packets from the port, waiting at most timeout_ms for the first. */
static int phi__poller_take(phi__poller *poller, int timeout_ms, phi__poller_event *out, int n) {
    OVERLAPPED_ENTRY entries[PHI__POLLER_BATCH];
    ULONG got = 0;
    if (!GetQueuedCompletionStatusEx(poller->port, entries, (ULONG)(PHI__POLLER_BATCH - n), &got,
                                     timeout_ms < 0 ? INFINITE : (DWORD)timeout_ms, FALSE))
        return n;
    for (ULONG i = 0; i < got; i++) {
        phi__overlapped *operation = (phi__overlapped *)(void *)entries[i].lpOverlapped;
        if (operation == NULL) continue;
        if (operation->of_pipe) {
#if !defined(PHI_NO_PROCESS)
            phi__pipe_done((phi__pipe *)(void *)operation);
#endif
            continue;
        }
        phi__polled *s = (phi__polled *)(void *)operation;
        uint32_t key = s->key;
        int have = phi__polled_done(poller, s);
        if (have == 0) continue;
        out[n].key = key;
        out[n++].have = have;
    }
    return n;
}

enum { PHI__POLLER_SLICE_MS = 5 }; /* with WSAPoll: how long pipes may wait */

/* Waits with WSAPoll, in slices if there are pipes. A closed socket is not looked at any more: one
   of them would end each call at once. */
static int phi__poller_plain_wait(phi__poller *poller, int timeout_ms, phi__poller_event *out,
                                  int n) {
    size_t len = poller->socket_len, i;
    int left, slice = timeout_ms;
    bool pipes = poller->pipes.first != NULL;
    for (i = 0; i < len; i++) {
        phi__polled *s = poller->sockets[i];
        int want = s != NULL ? s->want : 0;
        poller->fds[i].fd = want != 0 ? s->socket : INVALID_SOCKET;
        poller->fds[i].events = 0;
        if ((want & PHI__READ) != 0) poller->fds[i].events |= POLLRDNORM;
        if ((want & PHI__WRITE) != 0) poller->fds[i].events |= POLLWRNORM;
        poller->fds[i].revents = 0;
    }
    if (pipes && (slice < 0 || slice > PHI__POLLER_SLICE_MS)) slice = PHI__POLLER_SLICE_MS;
    left = len > 0 ? WSAPoll(poller->fds, (ULONG)len, slice) : 0;
    if (len == 0 && slice > 0) Sleep((DWORD)slice);
    if (left < 0 && slice != 0) Sleep(1); /* an error of the system must not spin */
    for (i = 0; i < len && left != 0; i++) {
        phi__polled *s = poller->sockets[i];
        bool suspect = s != NULL && (left < 0 || (poller->fds[i].revents & POLLNVAL) != 0);
        if (suspect && phi__polled_closed(s)) s->want = 0;
    }
    for (i = 0; i < len && left > 0 && n < PHI__POLLER_BATCH; i++) {
        size_t at = (poller->cursor + i) % len;
        const phi__polled *s = poller->sockets[at];
        int got = s != NULL && s->want != 0 ? poller->fds[at].revents : 0;
        bool broken = (got & (POLLHUP | POLLERR | POLLNVAL)) != 0;
        if (got == 0) continue;
        left--;
        out[n].key = (uint32_t)at;
        out[n++].have = ((got & POLLRDNORM) != 0 || broken ? PHI__READ : 0) |
                        ((got & POLLWRNORM) != 0 || broken ? PHI__WRITE : 0);
    }
    if (len > 0) poller->cursor = (poller->cursor + i) % len;
    return n;
}

PHI__FN int phi__poller_wait(phi__poller *poller, int timeout_ms,
                             phi__poller_event out[PHI__POLLER_BATCH]) {
    int n = 0;
    phi__link *last = poller->stale.last;
    while (poller->stale.first != NULL) {
        phi__link *link = poller->stale.first;
        phi__polled_update(poller, PHI__OWNER(link, phi__polled, link));
        if (link == last) break;
    }
#if !defined(PHI_NO_PROCESS)
    n = phi__pipe_report(poller, out, n);
#endif
    if (n > 0) timeout_ms = 0;
    if (n == PHI__POLLER_BATCH) return n;
    if (poller->afd != INVALID_HANDLE_VALUE) return phi__poller_take(poller, timeout_ms, out, n);
    n = phi__poller_plain_wait(poller, timeout_ms, out, n);
    return n < PHI__POLLER_BATCH ? phi__poller_take(poller, 0, out, n) : n;
}

PHI__FN intptr_t phi__poller_fd(const phi__poller *poller) {
    (void)poller;
    return -1;
}

/* Ends all operations, and takes their packets, which come at once: a tenth of a second is a
   guard. The memory of an operation without a packet is not given back, because the system may
   still write into it. */
PHI__FN void phi__poller_free(phi__poller *poller) {
    phi__poller_event out[PHI__POLLER_BATCH];
    if (poller == NULL) return;
    for (uint32_t key = 0; key < poller->socket_cap; key++) phi__polled_forget(poller, key);
    phi__poller_plain(poller);
#if !defined(PHI_NO_PROCESS)
    for (phi__link *link = poller->pipes.first; link != NULL;) {
        phi__pipe *p = PHI__OWNER(link, phi__pipe, all);
        link = link->next;
        if (p->under_way) (void)CancelIoEx(p->handle, &p->operation.overlapped);
    }
#endif
    for (int i = 0; i < 100 && (poller->under_way > 0 || poller->pipes.first != NULL); i++)
        (void)phi__poller_take(poller, 1, out, 0);
    (void)CloseHandle(poller->port);
    phi__free(poller->memory, poller->sockets, poller->socket_cap * sizeof *poller->sockets);
    phi__free(poller->memory, poller->fds, poller->fd_cap * sizeof *poller->fds);
    phi__free(poller->memory, poller, sizeof *poller);
}

#endif
