/* reader.c - one reader in slices for all formats, and that of JSON. */
#include "text/text_in.h"
#include "formats/reader_in.h"

#include <stdio.h>

typedef struct phi__reader_json {
    phi_reader head;
    phi__json_reader reader;
} phi__reader_json;

static phi_status phi__reader_json_advance(phi_reader *reader, size_t units) {
    return phi__json_read_advance(&((phi__reader_json *)reader)->reader, units);
}

static phi_status phi__reader_json_result(const phi_reader *reader, phi_json **out,
                                          phi_parse_error *error) {
    return phi__json_read_result(&((const phi__reader_json *)reader)->reader, out, error);
}

/* ---- public ---- */

PHI_API phi_reader *phi_json_reader_new(phi_arena *arena, phi_str text, uint32_t flags) {
    phi__reader_json *r = (phi__reader_json *)phi_arena_alloc(arena, sizeof *r);
    if (r == NULL) return NULL;
    r->head.advance = phi__reader_json_advance;
    r->head.result = phi__reader_json_result;
    phi__json_read_begin(&r->reader, arena, text, flags, 0);
    return &r->head;
}

PHI_API phi_status phi_reader_advance(phi_reader *reader, size_t units) {
    return reader == NULL ? PHI_NO_MEMORY : reader->advance(reader, units);
}

PHI_API phi_status phi_reader_result(const phi_reader *reader, phi_json **out,
                                     phi_parse_error *error) {
    if (reader != NULL) return reader->result(reader, out, error);
    if (out != NULL) *out = NULL;
    if (error != NULL) {
        memset(error, 0, sizeof *error);
        error->status = PHI_NO_MEMORY;
        (void)snprintf(error->message, sizeof error->message, "no memory for the reader");
    }
    return PHI_NO_MEMORY;
}
