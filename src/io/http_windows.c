/* http_windows.c - the Windows calls of the libcurl transport. */
#include "io/http_curl_in.h"
#include "io/os_in.h"

#if defined(PHI__OS_WINDOWS) && !defined(PHI_NO_CURL)

#include "io/windows_in.h"

PHI__FN curl_socket_t phi__http_open_socket(int family, int type, int protocol, bool *none_left) {
    SOCKET made = WSASocketW(family, type, protocol, NULL, 0,
                             WSA_FLAG_OVERLAPPED | WSA_FLAG_NO_HANDLE_INHERIT);
    if (made == INVALID_SOCKET) {
        int error = WSAGetLastError();
        *none_left = error == WSAEMFILE || error == WSAENOBUFS;
    }
    return made;
}

PHI__FN void phi__http_close(curl_socket_t fd) {
    if (fd != CURL_SOCKET_BAD) (void)closesocket(fd);
}

PHI__FN curl_socket_t phi__http_listen(int *port) {
    struct sockaddr_in address = PHI_ZERO;
    int len = (int)sizeof address;
    u_long on = 1;
    bool none_left;
    curl_socket_t fd = phi__http_open_socket(AF_INET, SOCK_STREAM, 0, &none_left);
    if (fd == CURL_SOCKET_BAD) return fd;
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (ioctlsocket(fd, (long)FIONBIO, &on) == 0 &&
        bind(fd, (struct sockaddr *)&address, len) == 0 && listen(fd, 1) == 0 &&
        getsockname(fd, (struct sockaddr *)&address, &len) == 0) {
        *port = (int)ntohs(address.sin_port);
        return fd;
    }
    phi__http_close(fd);
    return CURL_SOCKET_BAD;
}

/* An accepted socket does not block either, because its listener does not. */
PHI__FN bool phi__http_heard(curl_socket_t listener, curl_socket_t *peer) {
    char byte;
    if (*peer == CURL_SOCKET_BAD) *peer = accept(listener, NULL, NULL);
    if (*peer == CURL_SOCKET_BAD) return false;
    return recv(*peer, &byte, 1, MSG_PEEK) > 0;
}

/* Windows has no small limit of sockets. */
PHI__FN bool phi__http_descriptors_left(intptr_t any_fd, int count) {
    (void)any_fd;
    (void)count;
    return true;
}

PHI__FN phi_status phi__http_connect_status(long os_error) {
    if (os_error == WSAECONNREFUSED) return PHI_REFUSED;
    return os_error == WSAETIMEDOUT ? PHI_TIMEOUT : PHI_NETWORK;
}

PHI__FN bool phi__http_can_read(const char *path) {
#if defined(PHI_NO_FILES)
    (void)path;
    return true; /* libcurl reports an unreadable file */
#else
    wchar_t wide[PHI__WIDE_PATH];
    if (phi__wide_path(path, wide) != 0) return false;
    HANDLE file =
        CreateFileW(wide, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                    NULL, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, NULL);
    if (file == INVALID_HANDLE_VALUE) return false;
    (void)CloseHandle(file);
    return true;
#endif
}

PHI__FN void phi__http_yield(void) { (void)SwitchToThread(); }

/* Windows has no SIGPIPE. */
PHI__FN bool phi__http_signal_hold(void) { return false; }
PHI__FN void phi__http_signal_release(void) {}

#endif
