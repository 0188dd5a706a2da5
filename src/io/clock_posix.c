/* clock_posix.c - clocks and random bytes on POSIX systems. */
#include "io/clock_in.h"
#include "io/os_in.h"

#if defined(PHI__OS_POSIX)

#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>
#if defined(PHI__OS_LINUX) || defined(PHI__OS_MACOS)
#include <sys/random.h>
#endif

PHI__FN uint64_t phi__clock_us(void) {
    struct timespec now;
    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0) return 0;
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

PHI__FN int64_t phi__clock_wall_ms(void) {
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0) return 0;
    return (int64_t)now.tv_sec * 1000 + (int64_t)(now.tv_nsec / 1000000);
}

/* One call of the kernel's; how many bytes it gave, 0 for none. */
static size_t phi__clock_kernel_random(char *out, size_t len) {
#if defined(PHI__OS_LINUX)
    ssize_t n = getrandom(out, len, 0);
    while (n < 0 && errno == EINTR) n = getrandom(out, len, 0);
    return n > 0 ? (size_t)n : 0;
#elif defined(PHI__OS_BSD)
    size_t n = phi__min(len, 256); /* the most getentropy gives */
    return getentropy(out, n) == 0 ? n : 0;
#else
    (void)out;
    (void)len;
    return 0;
#endif
}

#if defined(PHI_NO_FILES)
static size_t phi__clock_device_random(char *out, size_t len) {
    (void)out;
    (void)len;
    return 0;
}
#else
static size_t phi__clock_device_random(char *out, size_t len) {
    int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    size_t done = 0;
    if (fd < 0) return 0;
    while (done < len) {
        ssize_t n = read(fd, out + done, len - done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        done += (size_t)n;
    }
    (void)close(fd);
    return done;
}
#endif

static void phi__clock_weak_random(char *out, size_t len) {
    uint64_t x = phi__clock_us() ^ ((uint64_t)getpid() << 40) ^ (uint64_t)(uintptr_t)out ^
                 (uint64_t)phi__clock_wall_ms() * 0x9E3779B97F4A7C15u;
    size_t i;
    for (i = 0; i < len; i++) { /* splitmix64 */
        uint64_t z = (x += 0x9E3779B97F4A7C15u);
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        out[i] = (char)(unsigned char)((z ^ (z >> 31)) & 0xFF);
    }
}

PHI__FN void phi__clock_random(void *out, size_t len) {
    char *at = (char *)out;
    while (len > 0) {
        size_t n = phi__clock_kernel_random(at, len);
        if (n == 0) n = phi__clock_device_random(at, len);
        if (n == 0) {
            phi__clock_weak_random(at, len);
            n = len;
        }
        at += n;
        len -= n;
    }
}

#endif
