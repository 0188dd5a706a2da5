/* config_load.c - reads a file into a phi_config: its format, its tree, its variables; then all
   checks. */
#include "config/config_own_in.h"
#include "system/files_in.h"
#include "formats/toml_in.h"
#include "formats/yaml_in.h"

#include <stdio.h>
#include <stdlib.h>

#define PHI__CONFIG_FILE_BYTES ((size_t)4 * 1024 * 1024)
enum { PHI__CONFIG_READ = 65536 };

static void phi__config_load_fail(phi_config *config, phi_status status, const char *words) {
    phi__config_problems_add_at(&config->problems, config, 0, 0, status, words);
}

/* ---- the file ---- */

#ifndef PHI_NO_FILES
static void phi__config_load_io(phi_config *config, phi_status status, const phi__words *words) {
    char line[200];
    snprintf(line, sizeof line, "I/O error: %s", words->text);
    phi__config_load_fail(config, status, line);
}

static bool phi__config_load_file(phi_config *config, const char *path, phi__buf *text) {
    phi__words words;
    phi__file *file;
    size_t got = 1;
    phi_status status =
        phi__files_open_read(&config->memory, path, PHI__LINKS_FOLLOW, &file, &words);
    if (status != PHI_OK) {
        phi__config_load_io(config, status, &words);
        return false;
    }
    while (got > 0 && status == PHI_OK && text->len <= config->max_bytes) {
        char *room = phi__buf_reserve(text, PHI__CONFIG_READ);
        if (room == NULL) break;
        status = phi__files_read(file, room, PHI__CONFIG_READ, &got, &words);
        if (status == PHI_OK) phi__buf_add_len(text, got);
    }
    phi__files_close(file);
    if (text->failed)
        config->problems.no_memory = true;
    else if (status != PHI_OK)
        phi__config_load_io(config, status, &words);
    return status == PHI_OK && !text->failed;
}
#else
static bool phi__config_load_file(phi_config *config, const char *path, phi__buf *text) {
    (void)path;
    (void)text;
    phi__config_load_fail(config, PHI_UNSUPPORTED,
                          "I/O error: built with PHI_NO_FILES: give phi_config_desc.text");
    return false;
}
#endif

/* ---- the format ---- */

/* The extension, with its dot, or "". */
static const char *phi__config_load_extension(const char *path) {
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    return dot != NULL && dot != name && dot[1] != '\0' ? dot : "";
}

static phi_config_format phi__config_load_format_of(const char *extension) {
    static const struct {
        const char *extension;
        phi_config_format format;
    } known[] = {{".toml", PHI_CONFIG_TOML},
                 {".json", PHI_CONFIG_JSON},
                 {".yaml", PHI_CONFIG_YAML},
                 {".yml", PHI_CONFIG_YAML}};
    size_t i;
    for (i = 0; i < PHI__COUNT(known); i++)
        if (phi__str_is_nocase(phi_str_of(extension), known[i].extension)) return known[i].format;
    return PHI_CONFIG_AUTO;
}

/* False: a file that no format reads. */
static bool phi__config_load_format(phi_config *config, bool is_file) {
    const char *extension = phi__config_load_extension(config->path);
    char line[200];
    if (config->format != PHI_CONFIG_AUTO) return true;
    config->format = phi__config_load_format_of(extension);
    if (config->format != PHI_CONFIG_AUTO || !is_file) return true;
    snprintf(line, sizeof line,
             "Unsupported config file extension: %s (expected .toml, .json, "
             ".yaml or .yml)",
             extension[0] != '\0' ? extension : "none");
    phi__config_load_fail(config, PHI_UNSUPPORTED, line);
    return false;
}

/* ---- the tree ---- */

static phi_status phi__config_load_json(phi_config *config, phi_str text, phi_json **root,
                                        phi_parse_error *error) {
    phi__json_reader reader;
    phi__json_read_begin(&reader, &config->arena, text, 0, 0);
    reader.marks = &config->marks;
    while (phi__json_read_advance(&reader, SIZE_MAX / 2) == PHI_BUSY) continue;
    return phi__json_read_result(&reader, root, error);
}

static phi_status phi__config_load_unsupported(phi_parse_error *error, const char *words) {
    memset(error, 0, sizeof *error);
    error->status = PHI_UNSUPPORTED;
    snprintf(error->message, sizeof error->message, "%s", words);
    return PHI_UNSUPPORTED;
}

static phi_status phi__config_load_yaml(phi_config *config, phi_str text, phi_json **root,
                                        phi_parse_error *error) {
    phi__yaml_reader reader;
    phi__yaml_read_begin(&reader, &config->arena, text, NULL);
    reader.marks = &config->marks;
    while (phi__yaml_read_advance(&reader, SIZE_MAX / 2) == PHI_BUSY) continue;
    return phi__yaml_read_result(&reader, root, error);
}

static phi_status phi__config_load_toml(phi_config *config, phi_str text, phi_json **root,
                                        phi_parse_error *error) {
    phi__toml_reader reader;
    phi__toml_read_begin(&reader, &config->arena, text, NULL);
    reader.marks = &config->marks;
    while (phi__toml_read_advance(&reader, SIZE_MAX / 2) == PHI_BUSY) continue;
    return phi__toml_read_result(&reader, root, error);
}

static phi_status phi__config_load_as(phi_config *config, phi_config_format format, phi_str text,
                                      phi_json **root, phi_parse_error *error) {
    memset(error, 0, sizeof *error);
    phi__marks_init(&config->marks, &config->arena);
    switch (format) {
    case PHI_CONFIG_TOML: return phi__config_load_toml(config, text, root, error);
    case PHI_CONFIG_JSON: return phi__config_load_json(config, text, root, error);
    case PHI_CONFIG_YAML: return phi__config_load_yaml(config, text, root, error);
    default: return phi__config_load_unsupported(error, "phi_config_desc.format is no format");
    }
}

/* The first of the formats that reads a table. Otherwise the error of the one that got farthest. */
static phi_status phi__config_load_any(phi_config *config, phi_str text, phi_json **root,
                                       phi_parse_error *error) {
    static const phi_config_format formats[] = {PHI_CONFIG_TOML, PHI_CONFIG_JSON, PHI_CONFIG_YAML};
    phi_status status = PHI_UNSUPPORTED;
    size_t i;
    config->format = PHI_CONFIG_TOML;
    for (i = 0; i < PHI__COUNT(formats); i++) {
        phi_parse_error now;
        phi_status got = phi__config_load_as(config, formats[i], text, root, &now);
        if (got == PHI_NO_MEMORY) return got;
        if (got == PHI_OK && phi_json_is(*root, PHI_JSON_OBJECT)) {
            config->format = formats[i];
            return PHI_OK;
        }
        if (got == PHI_OK || (i > 0 && (got == PHI_UNSUPPORTED || now.offset <= error->offset)))
            continue;
        status = got;
        *error = now;
        config->format = formats[i];
    }
    return status;
}

static bool phi__config_load_parse(phi_config *config, phi_str text) {
    phi_parse_error error = PHI_ZERO;
    phi_json *root = NULL;
    phi_status status = config->format == PHI_CONFIG_AUTO
                            ? phi__config_load_any(config, text, &root, &error)
                            : phi__config_load_as(config, config->format, text, &root, &error);
    char line[240];
    if (status == PHI_NO_MEMORY)
        config->problems.no_memory = true;
    else if (status != PHI_OK) {
        snprintf(line, sizeof line, "Config parse error: %s", error.message);
        phi__config_problems_add_at(&config->problems, config, error.line, error.column, status,
                                    line);
    } else if (phi_json_is(root, PHI_JSON_NULL)) { /* an empty file in YAML */
        root = phi_json_new_object(&config->arena);
        config->problems.no_memory |= root == NULL;
    } else if (!phi_json_is(root, PHI_JSON_OBJECT)) {
        snprintf(line, sizeof line, "Config parse error: expected a table of sections, found %s %s",
                 phi_json_is(root, PHI_JSON_ARRAY) ? "an" : "a", phi__json_get_type_name(root));
        phi__config_problems_add(&config->problems, config, root, false, PHI_PARSE, NULL, NULL,
                                 line);
        root = NULL;
    }
    if (status == PHI_OK) config->root = root;
    return config->root != NULL;
}

/* ---- all of it ---- */

static bool phi__config_load_text(phi_config *config, const phi_config_desc *desc) {
    phi__buf file;
    phi_str text = desc->text;
    bool is_file = text.at == NULL, good = true;
    if (!phi__config_load_format(config, is_file)) return false;
    phi__buf_init(&file, &config->memory);
    if (is_file) {
        good = phi__config_load_file(config, config->path, &file);
        text = phi__buf_str(&file);
    }
    if (text.at == NULL) text = PHI__LIT("");
    if (good && text.len > config->max_bytes) {
        char line[120];
        snprintf(line, sizeof line,
                 "The configuration is larger than %lu bytes, the most that is read",
                 (unsigned long)config->max_bytes);
        phi__config_load_fail(config, PHI_TOO_BIG, line);
        good = false;
    }
    if (good && text.len >= 3 && memcmp(text.at, "\xef\xbb\xbf", 3) == 0)
        text = phi__str(text.at + 3, text.len - 3); /* a byte order mark */
    if (good && text.len >= 2 &&
        (memcmp(text.at, "\xff\xfe", 2) == 0 || memcmp(text.at, "\xfe\xff", 2) == 0)) {
        phi__config_load_fail(config, PHI_PARSE,
                              "Config parse error: the file is UTF-16: save it as UTF-8");
        good = false;
    }
    if (good) good = phi__config_load_parse(config, text);
    phi__buf_free(&file);
    return good;
}

static void phi__config_load_all(phi_config *config, const phi_config_desc *desc) {
    phi_str path;
    if (!phi__arena_str(&config->arena, phi_str_of(desc->path), &path)) {
        config->problems.no_memory = true;
        return;
    }
    config->path = path.at;
    if (desc->path == NULL && desc->text.at == NULL) {
        phi__config_load_fail(config, PHI_BAD_ARG, "phi_config_desc has neither a path nor a text");
        return;
    }
    if (!phi__config_load_text(config, desc)) return;
    phi__config_variables_replace(config);
    phi__config_entities_collect(config);
    phi__config_check_tree(config);
    phi__config_cycles_check(config);
    phi__config_rules_check(config);
    phi__config_problems_sort(&config->problems);
}

const char *phi__config_load_path(const phi_config *config) { return config->path; }

const phi_config_section *const *phi__config_load_sections(const phi_config *config) {
    return config->sections;
}

static const char *phi__config_load_environment(void *user_data, const char *name) {
    (void)user_data;
    return getenv(name);
}

PHI__FN const phi__config_problems *phi__config_load_problems(const phi_config *config) {
    return &config->problems;
}

/* ---- public ---- */

PHI_API phi_config *phi_config_load(const phi_config_desc *desc) {
    phi_memory memory;
    phi_config *config;
    if (desc == NULL) return NULL;
    phi_memory_init(&memory, &desc->allocator, desc->memory_limit_bytes);
    config = (phi_config *)phi__alloc(&memory, sizeof *config);
    if (config == NULL) return NULL;
    config->memory = memory; /* counts the config itself */
    phi_arena_init(&config->arena, &config->memory, 0);
    phi__config_problems_init(&config->problems, &config->memory, desc->max_problems);
    phi__marks_init(&config->marks, &config->arena);
    phi__map_init(&config->raws, &config->memory);
    phi__map_init(&config->values, &config->memory);
    phi__map_init(&config->entities, &config->memory);
    config->path = "";
    config->format = desc->format;
    config->sections = desc->sections;
    config->variable_fn = desc->variable_fn;
    if (desc->variable_fn == NULL && desc->environment)
        config->variable_fn = phi__config_load_environment;
    config->user_data = desc->user_data;
    config->max_bytes = desc->max_bytes > 0 ? desc->max_bytes : PHI__CONFIG_FILE_BYTES;
    phi__config_load_all(config, desc);
    config->variable_fn = NULL; /* it may be gone later */
    return config;
}

PHI_API void phi_config_free(phi_config *config) {
    phi_memory memory;
    if (config == NULL) return;
    phi__map_free(&config->raws);
    phi__map_free(&config->values);
    phi__map_free(&config->entities);
    phi__config_problems_free(&config->problems);
    phi_arena_free(&config->arena);
    memory = config->memory;
    phi__free(&memory, config, sizeof *config);
}

PHI_API const phi_config_problem *phi_config_problem_at(const phi_config *config, size_t index) {
    return config != NULL ? phi__config_problems_get(&config->problems, index) : NULL;
}

PHI_API const phi_json *phi_config_tree(const phi_config *config) {
    return config != NULL ? config->root : NULL;
}
