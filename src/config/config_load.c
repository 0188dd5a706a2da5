/* config_load.c - reads a file into a phi_config: format, tree, variables; then runs all checks. */
#include "config/config_own_in.h"
#include "formats/formats_in.h"
#include "wire/wire_in.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- variables: replacing ${NAME} and ${NAME:-text} in all texts of the tree ---- */

typedef struct phi__cfg_variables {
    phi__cfg_walk walk;
    phi__buf out; /* the current text after replacement */
    size_t added; /* bytes of all values together */
    bool too_big;
    bool missing;   /* a variable of the current text is not set */
    bool odd, open; /* these two warnings were given for the current text */
} phi__cfg_variables;

/* A variable at the start of a text: ${NAME} or ${NAME:-text}. */
typedef struct phi__cfg_variable {
    phi_str name, fallback;
    bool has_fallback, is_name;
    size_t len;
} phi__cfg_variable;

static bool phi__vars_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool phi__vars_is_name(phi_str name) {
    if (name.len == 0 || (name.at[0] >= '0' && name.at[0] <= '9')) return false;
    for (size_t i = 0; i < name.len; i++)
        if (!phi__vars_letter(name.at[i])) return false;
    return true;
}

/* Reads a variable. False: it is ${}, or is not closed. */
static bool phi__vars_read(phi_str text, phi__cfg_variable *out) {
    size_t close = text.len > 2 ? phi__str_find(text, 2, "}") : SIZE_MAX, colon;
    memset(out, 0, sizeof *out);
    if (close == SIZE_MAX || close == 2) return false;
    out->len = close + 1;
    out->name = phi__str(text.at + 2, close - 2);
    colon = phi__str_find(out->name, 0, ":-");
    if (colon != SIZE_MAX) {
        out->has_fallback = true;
        out->fallback = phi__str(out->name.at + colon + 2, out->name.len - colon - 2);
        out->name.len = colon;
    }
    out->is_name = phi__vars_is_name(out->name);
    return true;
}

static const char *phi__vars_value(phi__cfg_variables *v, phi_str name) {
    phi_config *config = v->walk.config;
    phi_str copy;
    if (config->variable_fn == NULL) return NULL;
    if (!phi__arena_str(&config->arena, name, &copy)) {
        config->problems.no_memory = true;
        return NULL;
    }
    return config->variable_fn(config->user_data, copy.at);
}

static void phi__vars_add(phi__cfg_variables *v, phi_str text) {
    if (text.len > v->walk.config->max_bytes - v->added) {
        v->too_big = true;
        return;
    }
    v->added += text.len;
    phi__buf_add_str(&v->out, text);
}

static void phi__vars_put(phi__cfg_variables *v, const phi_json *node,
                          const phi__cfg_variable *variable) {
    const char *value = phi__vars_value(v, variable->name);
    if (value != NULL && (value[0] != '\0' || !variable->has_fallback)) {
        if (!phi__raws_keep(v->walk.config, variable->name, phi_str_of(value)))
            v->walk.config->problems.no_memory = true;
        phi__vars_add(v, phi_str_of(value));
        return;
    }
    if (variable->has_fallback) {
        phi__vars_add(v, variable->fallback);
        return;
    }
    phi__buf *words = phi__walk_words(&v->walk);
    phi__buf_text(words, "Missing environment variable: ${");
    phi__buf_add_str(words, variable->name);
    phi__buf_text(words, "}: set it, or write ${");
    phi__buf_add_str(words, variable->name);
    phi__buf_text(words, ":-text} with a text to use instead");
    v->missing = true;
    phi__walk_part(&v->walk, node, false, phi__str(variable->name.at - 2, variable->len));
}

/* Warns about "${" without a valid name. Secrets are not known yet, so the warning shows only "${"
   or "${NAME:", which cannot contain a key. */
static void phi__vars_odd(phi__cfg_variables *v, const phi_json *node,
                          const phi__cfg_variable *variable) {
    phi__buf *words = phi__walk_words(&v->walk);
    size_t colon = phi__str_find(variable->name, 0, ":");
    phi_str name = phi__str(variable->name.at, colon != SIZE_MAX ? colon : 0);
    if (phi__vars_is_name(name) && !variable->has_fallback) {
        phi__buf_text(words, "\"${");
        phi__buf_add_str(words, name);
        phi__buf_text(words, ":\" is kept as it is; a text to use without the variable is written "
                             "with \":-\", as ${");
        phi__buf_add_str(words, name);
        phi__buf_text(words, ":-text}");
        phi__walk_part(&v->walk, node, true, phi__str(name.at - 2, name.len + 3));
        return;
    }
    if (v->odd) return;
    v->odd = true;
    phi__buf_text(words, "\"${\" is kept as it is, since the name of a variable has letters, "
                         "digits and _ alone; write $${ where you mean the two characters");
    phi__walk_part(&v->walk, node, true, PHI__LIT("${"));
}

static void phi__vars_open(phi__cfg_variables *v, const phi_json *node) {
    if (v->open) return;
    v->open = true;
    phi__buf_text(phi__walk_words(&v->walk),
                  "\"${\" is kept as it is, since no name and \"}\" follow; a variable is written "
                  "${NAME}, and $${ where you mean the two characters");
    phi__walk_part(&v->walk, node, true, PHI__LIT("${"));
}

/* Writes the text with all variables replaced to v->out. False: it has no variables. */
static bool phi__vars_text(phi__cfg_variables *v, const phi_json *node) {
    phi_str text = phi__json_text_of(node);
    size_t at = 0, found, end = text.len;
    bool any = false;
    v->missing = v->odd = v->open = false;
    while (end > 0 && text.at[end - 1] != '}') end--; /* no variable ends after the last '}' */
    v->out.len = 0;
    while ((found = phi__str_find(text, at, "${")) != SIZE_MAX) {
        phi_str rest = phi__str(text.at + found, end > found ? end - found : 0);
        phi__cfg_variable variable;
        if (found > at && text.at[found - 1] == '$') {
            phi__buf_add(&v->out, text.at + at, found - 1 - at);
            phi__buf_text(&v->out, "${");
            any = true;
            at = found + 2;
            continue;
        }
        phi__buf_add(&v->out, text.at + at, found - at);
        if (!phi__vars_read(rest, &variable)) {
            phi__vars_open(v, node);
            phi__buf_text(&v->out, "${");
            at = found + 2;
            continue;
        }
        at = found + variable.len;
        if (variable.is_name) {
            any = true;
            phi__vars_put(v, node, &variable);
        } else {
            phi__vars_odd(v, node, &variable);
            phi__buf_add(&v->out, rest.at, variable.len);
        }
    }
    phi__buf_add(&v->out, text.at + at, text.len - at);
    return any;
}

static void phi__vars_node(phi__cfg_variables *v, phi_json *node) {
    phi_config *config = v->walk.config;
    phi_str text = phi__json_text_of(node), copy;
    if (text.len == 0 || phi__str_find(text, 0, "${") == SIZE_MAX) return;
    if (!phi__vars_text(v, node)) return;
    if (v->out.failed || !phi__arena_str(&config->arena, phi__buf_str(&v->out), &copy) ||
        copy.len > UINT32_MAX || !phi__raws_add(config, node, text)) {
        config->problems.no_memory = true;
        return;
    }
    if (v->missing) phi__raws_miss(config, node);
    node->v.str = copy.at;
    node->len = (uint32_t)copy.len;
}

/* Recursive. The reader of the tree bounds its depth. */
static void phi__vars_tree(phi__cfg_variables *v, phi_json *node) {
    phi_json_iter it = phi_json_each(node);
    bool is_array = phi_json_is(node, PHI_JSON_ARRAY);
    phi_json *child;
    for (size_t i = 0; (child = phi_json_next(&it)) != NULL && !v->too_big; i++) {
        if (phi_json_is(child, PHI_JSON_NUMBER) || phi_json_is(child, PHI_JSON_BOOL)) continue;
        size_t len = is_array ? phi__walk_index(&v->walk, i) : phi__walk_name(&v->walk, it.key);
        if (phi_json_is(child, PHI_JSON_STRING))
            phi__vars_node(v, child);
        else
            phi__vars_tree(v, child);
        phi__walk_back(&v->walk, len);
    }
}

/* ---- reading a file into a phi_config ---- */

#define PHI__CFG_FILE_BYTES ((size_t)4 * 1024 * 1024)

static void phi__load_fail(phi_config *config, phi_status status, const char *words) {
    phi__prob_add_at(&config->problems, config, 0, 0, status, words);
}

/* ---- the file ---- */

#ifndef PHI_NO_FILES
static bool phi__load_file(phi_config *config, const char *path, phi__buf *text) {
    phi__words words = PHI_ZERO;
    char line[200];
    phi_status status = phi__cfg_file(&config->memory, path, config->max_bytes, text, &words);
    if (text->failed)
        config->problems.no_memory = true;
    else if (status != PHI_OK) {
        snprintf(line, sizeof line, "I/O error: %s", words.text);
        phi__load_fail(config, status, line);
    }
    return status == PHI_OK;
}
#else
static bool phi__load_file(phi_config *config, const char *path, phi__buf *text) {
    (void)path;
    (void)text;
    phi__load_fail(config, PHI_UNSUPPORTED,
                   "I/O error: built with PHI_NO_FILES: give phi_config_desc.text");
    return false;
}
#endif

/* ---- the format ---- */

static phi_config_format phi__load_format_of(const char *extension) {
    static const struct {
        const char *extension;
        phi_config_format format;
    } known[] = {{".toml", PHI_CONFIG_TOML},
                 {".json", PHI_CONFIG_JSON},
                 {".yaml", PHI_CONFIG_YAML},
                 {".yml", PHI_CONFIG_YAML}};
    for (size_t i = 0; i < PHI__COUNT(known); i++)
        if (phi__str_is_nocase(phi_str_of(extension), known[i].extension)) return known[i].format;
    return PHI_CONFIG_AUTO;
}

/* Sets the format. False: no format has the file's extension. */
static bool phi__load_format(phi_config *config, bool is_file) {
    /* The extension with its dot, or "". */
    const char *path = config->path;
    const char *name = phi__path_name(phi_str_of(path)).at;
    const char *dot = strrchr(name, '.');
    const char *extension = dot != NULL && dot != name && dot[1] != '\0' ? dot : "";
    char line[200];
    if (config->format != PHI_CONFIG_AUTO) return true;
    config->format = phi__load_format_of(extension);
    if (config->format != PHI_CONFIG_AUTO || !is_file) return true;
    snprintf(line, sizeof line,
             "Unsupported config file extension: %s (expected .toml, .json, .yaml or .yml)",
             extension[0] != '\0' ? extension : "none");
    phi__load_fail(config, PHI_UNSUPPORTED, line);
    return false;
}

/* ---- the tree ---- */

static phi_status phi__load_as(phi_config *config, phi_config_format format, phi_str text,
                               phi_json **root, phi_parse_error *error) {
    size_t all = SIZE_MAX / 2;
    memset(error, 0, sizeof *error);
    phi__marks_init(&config->marks, &config->arena);
    if (format == PHI_CONFIG_TOML) {
        phi__toml_reader reader;
        phi__toml_read_begin(&reader, &config->arena, text, NULL);
        reader.marks = &config->marks;
        while (phi__toml_read_advance(&reader, all) == PHI_BUSY) continue;
        return phi__toml_read_result(&reader, root, error);
    }
    if (format == PHI_CONFIG_JSON) {
        phi__json_reader reader;
        phi__json_read_begin(&reader, &config->arena, text, 0, 0);
        reader.marks = &config->marks;
        while (phi__json_read_advance(&reader, all) == PHI_BUSY) continue;
        return phi__json_read_result(&reader, root, error);
    }
    if (format == PHI_CONFIG_YAML) {
        phi__yaml_reader reader;
        phi__yaml_read_begin(&reader, &config->arena, text, NULL);
        reader.marks = &config->marks;
        while (phi__yaml_read_advance(&reader, all) == PHI_BUSY) continue;
        return phi__yaml_read_result(&reader, root, error);
    }
    error->status = PHI_UNSUPPORTED;
    snprintf(error->message, sizeof error->message, "phi_config_desc.format is no format");
    return PHI_UNSUPPORTED;
}

/* Takes the first format in which the text is a table. If no format fits, returns the error whose
   place is farthest in the text. */
static phi_status phi__load_any(phi_config *config, phi_str text, phi_json **root,
                                phi_parse_error *error) {
    static const phi_config_format formats[] = {PHI_CONFIG_TOML, PHI_CONFIG_JSON, PHI_CONFIG_YAML};
    phi_status status = PHI_UNSUPPORTED;
    config->format = PHI_CONFIG_TOML;
    for (size_t i = 0; i < PHI__COUNT(formats); i++) {
        phi_parse_error now;
        phi_status got = phi__load_as(config, formats[i], text, root, &now);
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

static bool phi__load_parse(phi_config *config, phi_str text) {
    phi_parse_error error = PHI_ZERO;
    phi_json *root = NULL;
    phi_status status = config->format == PHI_CONFIG_AUTO
                            ? phi__load_any(config, text, &root, &error)
                            : phi__load_as(config, config->format, text, &root, &error);
    char line[240];
    if (status == PHI_NO_MEMORY)
        config->problems.no_memory = true;
    else if (status != PHI_OK) {
        snprintf(line, sizeof line, "Config parse error: %s", error.message);
        phi__prob_add_at(&config->problems, config, error.line, error.column, status, line);
    } else if (phi_json_is(root, PHI_JSON_NULL)) { /* an empty YAML file */
        root = phi_json_new_object(&config->arena);
        config->problems.no_memory |= root == NULL;
    } else if (!phi_json_is(root, PHI_JSON_OBJECT)) {
        snprintf(line, sizeof line, "Config parse error: expected a table of sections, found %s %s",
                 phi_json_is(root, PHI_JSON_ARRAY) ? "an" : "a", phi__json_get_type_name(root));
        phi__prob_add(&config->problems, config, root, false, PHI_PARSE, NULL, NULL, line);
        root = NULL;
    }
    if (status == PHI_OK) config->root = root;
    return config->root != NULL;
}

/* ---- all steps ---- */

static bool phi__load_text(phi_config *config, const phi_config_desc *desc) {
    phi__buf file;
    phi_str text = desc->text;
    bool is_file = text.at == NULL, good = true;
    if (!phi__load_format(config, is_file)) return false;
    phi__buf_init(&file, &config->memory);
    if (is_file) {
        good = phi__load_file(config, config->path, &file);
        text = phi__buf_str(&file);
    }
    if (text.at == NULL) text = PHI__LIT("");
    if (good && text.len > config->max_bytes) {
        char line[120];
        snprintf(line, sizeof line,
                 "The configuration is larger than %lu bytes, the most that is read",
                 (unsigned long)config->max_bytes);
        phi__load_fail(config, PHI_TOO_BIG, line);
        good = false;
    }
    if (good && text.len >= 3 && memcmp(text.at, "\xef\xbb\xbf", 3) == 0)
        text = phi__str(text.at + 3, text.len - 3); /* a byte order mark */
    if (good && text.len >= 2 &&
        (memcmp(text.at, "\xff\xfe", 2) == 0 || memcmp(text.at, "\xfe\xff", 2) == 0)) {
        phi__load_fail(config, PHI_PARSE,
                       "Config parse error: the file is UTF-16: save it as UTF-8");
        good = false;
    }
    if (good) good = phi__load_parse(config, text);
    phi__buf_free(&file);
    return good;
}

static void phi__load_all(phi_config *config, const phi_config_desc *desc) {
    phi_str path;
    if (!phi__arena_str(&config->arena, phi_str_of(desc->path), &path)) {
        config->problems.no_memory = true;
        return;
    }
    config->path = path.at;
    if (desc->path == NULL && desc->text.at == NULL) {
        phi__load_fail(config, PHI_BAD_ARG, "phi_config_desc has neither a path nor a text");
        return;
    }
    if (!phi__load_text(config, desc)) return;
    phi__cfg_variables v = PHI_ZERO;
    phi__walk_begin(&v.walk, config);
    phi__buf_init(&v.out, &config->memory);
    phi__vars_tree(&v, config->root);
    if (v.too_big)
        phi__prob_add(&config->problems, config, config->root, false, PHI_TOO_BIG, NULL, NULL,
                      "The values of variables are larger together than a file may be");
    phi__buf_free(&v.out);
    phi__walk_end(&v.walk);
    phi__entities_collect(config);
    phi__check_tree(config);
    phi__cycle_check(config);
    phi__rules_check(config);
    phi__prob_sort(&config->problems);
}

const char *phi__load_path(const phi_config *config) { return config->path; }

static const char *phi__load_environment(void *user_data, const char *name) {
    (void)user_data;
    return getenv(name);
}

/* ---- public ---- */

PHI_API phi_config *phi_config_load(const phi_config_desc *desc) {
    static const phi_config_section *const no_sections[] = {NULL};
    phi_memory memory;
    phi_config *config;
    if (desc == NULL) return NULL;
    phi_memory_init(&memory, &desc->allocator, desc->memory_limit_bytes);
    config = (phi_config *)phi__alloc(&memory, sizeof *config);
    if (config == NULL) return NULL;
    config->memory = memory; /* this copy counts the config's own block, too */
    phi_arena_init(&config->arena, &config->memory, 0);
    phi__prob_init(&config->problems, &config->memory, desc->max_problems);
    phi__marks_init(&config->marks, &config->arena);
    phi__map_init(&config->raws, &config->memory);
    phi__map_init(&config->values, &config->memory);
    phi__map_init(&config->entities, &config->memory);
    config->path = "";
    config->format = desc->format;
    config->sections = desc->sections != NULL ? desc->sections : no_sections;
    config->variable_fn = desc->variable_fn;
    if (desc->variable_fn == NULL && desc->environment) config->variable_fn = phi__load_environment;
    config->user_data = desc->user_data;
    config->max_bytes = desc->max_bytes > 0 ? desc->max_bytes : PHI__CFG_FILE_BYTES;
    phi__load_all(config, desc);
    config->variable_fn = NULL; /* not used after loading */
    return config;
}

PHI_API void phi_config_free(phi_config *config) {
    if (config == NULL) return;
    phi__map_free(&config->raws);
    phi__map_free(&config->values);
    phi__map_free(&config->entities);
    phi__prob_free(&config->problems);
    phi_arena_free(&config->arena);
    phi_memory memory = config->memory;
    phi__free(&memory, config, sizeof *config);
}

PHI_API const phi_config_problem *phi_config_problem_at(const phi_config *config, size_t index) {
    return config != NULL ? phi__prob_get(&config->problems, index) : NULL;
}

PHI_API const phi_json *phi_config_tree(const phi_config *config) {
    return config != NULL ? config->root : NULL;
}
