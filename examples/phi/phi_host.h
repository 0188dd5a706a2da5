/* phi_host.h - which addresses are of this machine or of a private network, and what a URL must look like. Copy what you
   need of it. */
#ifndef PHI_HOST_H
#define PHI_HOST_H

#include "phi_raw.h"
#include "phi_text.h"

static inline bool host_private_4(const unsigned char *b) {
    return b[0] == 0 || b[0] == 10 || b[0] == 127 || b[0] >= 224 ||
           (b[0] == 100 && (b[1] & 0xC0) == 64) || (b[0] == 169 && b[1] == 254) ||
           (b[0] == 172 && (b[1] & 0xF0) == 16) || (b[0] == 192 && b[1] == 168) ||
           (b[0] == 192 && b[1] == 0 && b[2] == 0) || (b[0] == 198 && (b[1] & 0xFE) == 18);
}

/* Anything but global unicast is private; IPv4 within IPv6 as IPv4. */
static inline bool host_private_6(const unsigned char *b) {
    static const unsigned char zeros[12] = {0},
                               mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
    static const unsigned char nat[12] = {0, 0x64, 0xFF, 0x9B};
    if (memcmp(b, zeros, 12) == 0 || memcmp(b, mapped, 12) == 0 || memcmp(b, nat, 12) == 0)
        return host_private_4(b + 12);
    if (b[0] == 0x20 && b[1] == 0x02) return host_private_4(b + 2); /* 6to4 */
    return (b[0] & 0xE0) != 0x20;
}

static inline bool host_private(const struct sockaddr *address) {
    if (address->sa_family == AF_INET)
        return host_private_4(
            (const unsigned char *)&((const struct sockaddr_in *)(const void *)address)->sin_addr);
    if (address->sa_family == AF_INET6)
        return host_private_6(
            (const unsigned char *)&((const struct sockaddr_in6 *)(const void *)address)
                ->sin6_addr);
    return true;
}

/* NULL, or what is wrong with it. A URL in which two programs may see two hosts is refused. */
static inline const char *host_wrong(const char *url) {
    size_t n = strncmp(url, "https://", 8) == 0 ? 8 : strncmp(url, "http://", 7) == 0 ? 7 : 0, i;
    if (n == 0) return "the URL must begin with http:// or https://";
    for (i = 0; url[i] != '\0'; i++)
        if ((unsigned char)url[i] <= ' ' || url[i] == 127 || url[i] == '\\')
            return "the URL has a blank, a backslash or a control character";
    if (memchr(url + n, '@', strcspn(url + n, "/?#")) != NULL) return "the URL has a user's name";
    return strcspn(url + n, "/?#") > 0 ? NULL : "the URL has no host";
}

/* True if a person typed this very URL: it begins after a blank, a bracket or a quote, and ends so, or with what ends a
   sentence. */
static inline bool host_was_typed(const text *said, const char *url) {
    const char *at = said->at;
    size_t n = strlen(url);
    for (; at != NULL && (at = strstr(at, url)) != NULL; at++) {
        const char *end = at + n;
        if (at > said->at && strchr(" \t\n([<\"'", at[-1]) == NULL) continue;
        if (strchr(" \t\n)>\"',;", *end) != NULL || /* the end, too */
            strchr(" \t\n", end[strspn(end, ".?!:])>\"',;")]) != NULL)
            return true;
    }
    return false;
}

#endif
