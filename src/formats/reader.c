/* reader.c - the public functions of readers of all formats. */
#include "formats/formats_in.h"

#include <stdio.h>

/* Each format sets its own function, so that a program that reads JSON does not link the readers of
   TOML and YAML. */
struct phi_reader {
    phi_status (*advance)(phi_reader *reader, size_t units); /* also sets root and error */
    phi_status status;
    phi_json *root;
    phi_parse_error error;
    union {
        phi__json_reader json;
        phi__toml_reader toml;
        phi__yaml_reader yaml;
    } of;
};

static phi_reader *phi__reader_new(phi_arena *arena,
                                   phi_status (*advance)(phi_reader *reader, size_t units)) {
    phi_reader *reader = (phi_reader *)phi__arena_zero(arena, sizeof *reader);
    if (reader == NULL) return NULL;
    reader->advance = advance;
    reader->status = PHI_BUSY;
    return reader;
}

static phi_status phi__reader_json(phi_reader *r, size_t units) {
    (void)phi__json_read_advance(&r->of.json, units);
    return phi__json_read_result(&r->of.json, &r->root, &r->error);
}

static phi_status phi__reader_toml(phi_reader *r, size_t units) {
    (void)phi__toml_read_advance(&r->of.toml, units);
    return phi__toml_read_result(&r->of.toml, &r->root, &r->error);
}

static phi_status phi__reader_yaml(phi_reader *r, size_t units) {
    (void)phi__yaml_read_advance(&r->of.yaml, units);
    return phi__yaml_read_result(&r->of.yaml, &r->root, &r->error);
}

/* ---- public ---- */

PHI_API phi_reader *phi_json_reader_new(phi_arena *arena, phi_str text, uint32_t flags) {
    phi_reader *reader = phi__reader_new(arena, phi__reader_json);
    if (reader != NULL) phi__json_read_begin(&reader->of.json, arena, text, flags, 0);
    return reader;
}

PHI_API phi_reader *phi_toml_reader_new(phi_arena *arena, phi_str text,
                                        const phi_toml_desc *options) {
    phi_reader *reader = phi__reader_new(arena, phi__reader_toml);
    if (reader != NULL) phi__toml_read_begin(&reader->of.toml, arena, text, options);
    return reader;
}

PHI_API phi_reader *phi_yaml_reader_new(phi_arena *arena, phi_str text,
                                        const phi_yaml_desc *options) {
    phi_reader *reader = phi__reader_new(arena, phi__reader_yaml);
    if (reader != NULL) phi__yaml_read_begin(&reader->of.yaml, arena, text, options);
    return reader;
}

PHI_API phi_status phi_reader_advance(phi_reader *reader, size_t units) {
    if (reader == NULL) return PHI_NO_MEMORY;
    return reader->status = reader->advance(reader, units);
}

PHI_API phi_status phi_reader_result(const phi_reader *reader, phi_json **out,
                                     phi_parse_error *error) {
    if (out != NULL) *out = reader != NULL ? reader->root : NULL;
    if (error != NULL && reader != NULL) *error = reader->error;
    if (error != NULL && reader == NULL) {
        memset(error, 0, sizeof *error);
        error->status = PHI_NO_MEMORY;
        (void)snprintf(error->message, sizeof error->message, "no memory for the reader");
    }
    return reader != NULL ? reader->status : PHI_NO_MEMORY;
}
