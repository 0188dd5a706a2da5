/* bridge.c - the program python.exe or bash.exe of tests under Wine: it runs the one of its name
   outside of Wine, by the launcher of scripts/windows.py, with its stdin, stdout and exit code.

   Both directions are frames: two bytes of length (big-endian), then the bytes. An empty frame ends
   a direction; after that of the other side, a byte is the exit code. */
#define WIN32_LEAN_AND_MEAN
#include <winsock2.h>
#include <windows.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static SOCKET side;

static bool all_sent(const char *bytes, int len) {
    while (len > 0) {
        int n = send(side, bytes, len, 0);
        if (n <= 0) return false;
        bytes += n;
        len -= n;
    }
    return true;
}

static bool all_got(char *out, int len) {
    while (len > 0) {
        int n = recv(side, out, len, 0);
        if (n <= 0) return false;
        out += n;
        len -= n;
    }
    return true;
}

static DWORD WINAPI forward(void *unused) {
    static char frame[4098];
    DWORD n = 0;
    (void)unused;
    while (ReadFile(GetStdHandle(STD_INPUT_HANDLE), frame + 2, 4096, &n, NULL) && n > 0) {
        frame[0] = (char)(n >> 8);
        frame[1] = (char)n;
        if (!all_sent(frame, (int)n + 2)) return 1;
    }
    (void)all_sent("\0\0", 2);
    return 0;
}

static bool begin(int argc, char **argv) {
    char here[MAX_PATH * 4];
    const char *port = getenv("PHI_LAUNCHER"), *name = argv[0], *at;
    struct sockaddr_in address;
    WSADATA data;
    int i;
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_port = htons((u_short)atoi(port != NULL ? port : "0"));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (WSAStartup(MAKEWORD(2, 2), &data) != 0) return false;
    side = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(side, (struct sockaddr *)&address, sizeof address) != 0) return false;
    for (at = name; *at != '\0'; at++)
        if (*at == '/' || *at == '\\') name = at + 1;
    if (GetCurrentDirectoryA(sizeof here, here) == 0) return false;
    if (!all_sent("@bridge", 8) || !all_sent(here, (int)strlen(here) + 1)) return false;
    if (!all_sent(name, (int)strlen(name) + 1)) return false;
    for (i = 1; i < argc; i++) /* an empty word would end the list */
        if (!all_sent(argv[i][0] != '\0' ? argv[i] : "@empty",
                      argv[i][0] != '\0' ? (int)strlen(argv[i]) + 1 : 7))
            return false;
    return all_sent("", 1);
}

int main(int argc, char **argv) {
    static char bytes[65536];
    unsigned char size[2];
    DWORD wrote;
    if (!begin(argc, argv)) return 127;
    if (CreateThread(NULL, 0, forward, NULL, 0, NULL) == NULL) return 127;
    while (all_got((char *)size, 2)) {
        int n = size[0] << 8 | size[1];
        if (n == 0) {
            unsigned char code = 127;
            (void)all_got((char *)&code, 1);
            ExitProcess(code);
        }
        if (!all_got(bytes, n)) break;
        if (!WriteFile(GetStdHandle(STD_OUTPUT_HANDLE), bytes, (DWORD)n, &wrote, NULL)) break;
    }
    return 127;
}
