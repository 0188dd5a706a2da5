/* slow_lookup.c - a library to preload: getaddrinfo waits, and then every name that ends in .test is 127.0.0.1. */
#include <dlfcn.h>
#include <netdb.h>
#include <string.h>
#include <time.h>

#if !defined(SLOW_MS)
#define SLOW_MS 1500
#endif

typedef int lookup_fn(const char *, const char *, const struct addrinfo *, struct addrinfo **);

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
                struct addrinfo **out) {
    const struct timespec wait = {SLOW_MS / 1000, SLOW_MS % 1000 * 1000000};
    lookup_fn *next;
    size_t len = name != NULL ? strlen(name) : 0;
    *(void **)&next = dlsym(RTLD_NEXT, "getaddrinfo");
    if (len < 5 || strcmp(name + len - 5, ".test") != 0) return next(name, service, hints, out);
    (void)nanosleep(&wait, NULL);
    return next("127.0.0.1", service, hints, out);
}
