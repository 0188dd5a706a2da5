/* reader.c - the public functions of readers of all formats. */
#include "formats/formats_in.h"

#include <stdio.h>

typedef enum phi__reader_format {
    PHI__READER_JSON,
    PHI__READER_TOML,
    PHI__READER_YAML
} phi__reader_format;

struct phi_reader {
    phi__reader_format format;
    union {
        phi__json_reader json;
        phi__toml_reader toml;
        phi__yaml_reader yaml;
    } of;
};

/* ---- public ---- */

PHI_API phi_reader *phi_json_reader_new(phi_arena *arena, phi_str text, uint32_t flags) {
    phi_reader *reader = (phi_reader *)phi_arena_alloc(arena, sizeof *reader);
    if (reader == NULL) return NULL;
    reader->format = PHI__READER_JSON;
    phi__json_read_begin(&reader->of.json, arena, text, flags, 0);
    return reader;
}

PHI_API phi_reader *phi_toml_reader_new(phi_arena *arena, phi_str text,
                                        const phi_toml_desc *options) {
    phi_reader *reader = (phi_reader *)phi_arena_alloc(arena, sizeof *reader);
    if (reader == NULL) return NULL;
    reader->format = PHI__READER_TOML;
    phi__toml_read_begin(&reader->of.toml, arena, text, options);
    return reader;
}

PHI_API phi_reader *phi_yaml_reader_new(phi_arena *arena, phi_str text,
                                        const phi_yaml_desc *options) {
    phi_reader *reader = (phi_reader *)phi_arena_alloc(arena, sizeof *reader);
    if (reader == NULL) return NULL;
    reader->format = PHI__READER_YAML;
    phi__yaml_read_begin(&reader->of.yaml, arena, text, options);
    return reader;
}

PHI_API phi_status phi_reader_advance(phi_reader *reader, size_t units) {
    if (reader == NULL) return PHI_NO_MEMORY;
    switch (reader->format) {
    case PHI__READER_JSON: return phi__json_read_advance(&reader->of.json, units);
    case PHI__READER_TOML: return phi__toml_read_advance(&reader->of.toml, units);
    case PHI__READER_YAML:
    default: return phi__yaml_read_advance(&reader->of.yaml, units);
    }
}

PHI_API phi_status phi_reader_result(const phi_reader *reader, phi_json **out,
                                     phi_parse_error *error) {
    if (reader == NULL) {
        if (out != NULL) *out = NULL;
        if (error != NULL) {
            memset(error, 0, sizeof *error);
            error->status = PHI_NO_MEMORY;
            (void)snprintf(error->message, sizeof error->message, "no memory for the reader");
        }
        return PHI_NO_MEMORY;
    }
    switch (reader->format) {
    case PHI__READER_JSON: return phi__json_read_result(&reader->of.json, out, error);
    case PHI__READER_TOML: return phi__toml_read_result(&reader->of.toml, out, error);
    case PHI__READER_YAML:
    default: return phi__yaml_read_result(&reader->of.yaml, out, error);
    }
}
