/* reader_in.h - what the readers of TOML and YAML share. */
#ifndef PHI_FORMATS_READER_IN_H
#define PHI_FORMATS_READER_IN_H

#include "formats/formats_in.h"
#include "formats/reader.h"

/* Returns the value of a hexadecimal digit; 16 if `c` is none. */
static inline unsigned phi__reader_digit(char c) {
    if (c >= '0' && c <= '9') return (unsigned)(c - '0');
    if (c >= 'a' && c <= 'f') return (unsigned)(c - 'a') + 10;
    if (c >= 'A' && c <= 'F') return (unsigned)(c - 'A') + 10;
    return 16;
}

/* Returns a zeroed node. `left` bytes of the text are still unread. NULL: no memory. */
PHI__FN phi_json *phi__pool_node(phi__pool *pool, phi_arena *arena, size_t left, uint32_t meta);

/* Makes room at *to for `more` bytes and a terminator. Moves the text that begins at *text to the
   new room. At most `left` bytes will follow. False if there is no memory. */
PHI__FN bool phi__pool_room(phi__pool *pool, phi_arena *arena, char **text, char **to, size_t more,
                            size_t left);

/* Returns unused memory for nodes to the arena, if nothing was taken from the arena since then. */
PHI__FN void phi__pool_end(phi__pool *pool, phi_arena *arena);

/* Writes a message such as "expected a value, found 'x'" about the byte at `at`. */
PHI__FN void phi__reader_found(char *message, size_t size, const char *what, const char *at,
                               const char *end, bool is_break);

#endif
