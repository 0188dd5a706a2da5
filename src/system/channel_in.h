/* channel_in.h - the two sides of a channel, as calls to the system that never block.

   A side is a descriptor of the host, which the channel neither closes nor changes for good. */
#ifndef PHI_SYSTEM_CHANNEL_IN_H
#define PHI_SYSTEM_CHANNEL_IN_H

#include "base/base_in.h"
#include "io/os_in.h"

#ifndef PHI_NO_PROCESS
enum { PHI__SIDE_BUSY = -1 /* nothing has arrived, or there is no room */ };

#if defined(PHI__OS_WINDOWS)
typedef enum phi__side_kind {
    PHI__SIDE_FILE, /* also NUL */
    PHI__SIDE_PIPE,
    PHI__SIDE_CONSOLE
} phi__side_kind;
#endif

typedef struct phi__side {
    phi__fd fd;
    bool plain; /* no poller takes the descriptor: try again and again */
#if defined(PHI__OS_WINDOWS)
    phi__side_kind kind;
    phi__buf keys;    /* a console's input, as UTF-8 */
    size_t keys_done; /* bytes of `keys` that can be read: whole lines in line mode */
    bool keys_ended;  /* Ctrl+Z began a line */
    wchar_t half;     /* first half of a character's UTF-16, or 0 */
    phi__fd echo;     /* the console's screen, or 0 */
    char tail[4];     /* a console's output: the first bytes of a character */
    size_t tail_len;
#endif
} phi__side;

/* Begins to use the host's descriptor; `writes` says for which direction. False: it is not open. */
PHI__FN bool phi__side_open(phi__side *side, phi_memory *memory, int fd, bool writes);

/* Reads bytes that have arrived. 0 with *got 0: the input has ended. Other results: PHI__SIDE_BUSY,
   or an error of the system. */
PHI__FN int phi__side_read(phi__side *side, char *out, size_t n, size_t *got);

/* Writes some of the bytes. Returns 0, PHI__SIDE_BUSY, or an error of the system. *wrote is set in
   any case. */
PHI__FN int phi__side_write(phi__side *side, const char *bytes, size_t n, size_t *wrote);

/* Frees what the side has. Calling it twice is harmless. */
PHI__FN void phi__side_close(phi__side *side);
#endif

#endif
