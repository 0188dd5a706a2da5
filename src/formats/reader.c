/* reader.c - the public functions of readers of all formats. */
#include "formats/formats_in.h"

#include <stdio.h>

/* Each format sets its own functions, so that a program that reads JSON does not link the readers
   of TOML and YAML. */
struct phi_reader {
    phi_status (*advance)(phi_reader *reader, size_t units);
    phi_status (*result)(const phi_reader *reader, phi_json **out, phi_parse_error *error);
    union {
        phi__json_reader json;
        phi__toml_reader toml;
        phi__yaml_reader yaml;
    } of;
};

static phi_status phi__reader_json_advance(phi_reader *r, size_t units) {
    return phi__json_read_advance(&r->of.json, units);
}

static phi_status phi__reader_json_result(const phi_reader *r, phi_json **out,
                                          phi_parse_error *error) {
    return phi__json_read_result(&r->of.json, out, error);
}

static phi_status phi__reader_toml_advance(phi_reader *r, size_t units) {
    return phi__toml_read_advance(&r->of.toml, units);
}

static phi_status phi__reader_toml_result(const phi_reader *r, phi_json **out,
                                          phi_parse_error *error) {
    return phi__toml_read_result(&r->of.toml, out, error);
}

static phi_status phi__reader_yaml_advance(phi_reader *r, size_t units) {
    return phi__yaml_read_advance(&r->of.yaml, units);
}

static phi_status phi__reader_yaml_result(const phi_reader *r, phi_json **out,
                                          phi_parse_error *error) {
    return phi__yaml_read_result(&r->of.yaml, out, error);
}

/* ---- public ---- */

PHI_API phi_reader *phi_json_reader_new(phi_arena *arena, phi_str text, uint32_t flags) {
    phi_reader *reader = (phi_reader *)phi_arena_alloc(arena, sizeof *reader);
    if (reader == NULL) return NULL;
    reader->advance = phi__reader_json_advance;
    reader->result = phi__reader_json_result;
    phi__json_read_begin(&reader->of.json, arena, text, flags, 0);
    return reader;
}

PHI_API phi_reader *phi_toml_reader_new(phi_arena *arena, phi_str text,
                                        const phi_toml_desc *options) {
    phi_reader *reader = (phi_reader *)phi_arena_alloc(arena, sizeof *reader);
    if (reader == NULL) return NULL;
    reader->advance = phi__reader_toml_advance;
    reader->result = phi__reader_toml_result;
    phi__toml_read_begin(&reader->of.toml, arena, text, options);
    return reader;
}

PHI_API phi_reader *phi_yaml_reader_new(phi_arena *arena, phi_str text,
                                        const phi_yaml_desc *options) {
    phi_reader *reader = (phi_reader *)phi_arena_alloc(arena, sizeof *reader);
    if (reader == NULL) return NULL;
    reader->advance = phi__reader_yaml_advance;
    reader->result = phi__reader_yaml_result;
    phi__yaml_read_begin(&reader->of.yaml, arena, text, options);
    return reader;
}

PHI_API phi_status phi_reader_advance(phi_reader *reader, size_t units) {
    return reader != NULL ? reader->advance(reader, units) : PHI_NO_MEMORY;
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
