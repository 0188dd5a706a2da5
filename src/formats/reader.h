/* reader.h - reads a text into the tree of json.h in slices, for a program that draws frames.

       phi_reader *reader = phi_yaml_reader_new(&arena, text, NULL);
       ...
       if (phi_reader_advance(reader, 10000) != PHI_BUSY) // once a frame
           status = phi_reader_result(reader, &root, &error);

   Each format has a constructor. After it, call phi_reader_advance() until it no longer returns
   PHI_BUSY, then phi_reader_result(). The reader is in the arena, and freed with it; it can be
   abandoned at any time. A constructor returns NULL if there is no memory. The functions here
   accept this NULL, and the result is then PHI_NO_MEMORY.
   Threads: a reader belongs to one thread at a time. */
#ifndef PHI_FORMATS_READER_H
#define PHI_FORMATS_READER_H

#include "text/json.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct phi_reader phi_reader;

/* Makes a reader of JSON with the flags of phi_json_parse. `text` is borrowed until
   phi_reader_result(), or with PHI_JSON_BORROW as long as the tree is used. */
PHI_API phi_reader *phi_json_reader_new(phi_arena *arena, phi_str text, uint32_t flags);

/* Reads about `units` bytes, at least one. Returns PHI_BUSY while there is more to read. */
PHI_API phi_status phi_reader_advance(phi_reader *reader, size_t units);
/* Returns the last status of phi_reader_advance, and sets *out to the tree and *error to the error.
   `out` and `error` may be NULL. */
PHI_API phi_status phi_reader_result(const phi_reader *reader, phi_json **out,
                                     phi_parse_error *error);

#ifdef __cplusplus
}
#endif
#endif
