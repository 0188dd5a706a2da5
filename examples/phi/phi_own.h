/* phi_own.h - the user's own configuration, phi/config.toml next to phi/trusted: its tables serve every project whose file
   lacks them. Copy what you need of it.

   The file is used only if nobody else can write it. A table of the project's file replaces the whole table of the same
   name, so that the project's file means what it says. Relative paths in both files begin where the project's file is. */
#ifndef PHI_OWN_H
#define PHI_OWN_H

#include "phi_commands.h"

enum { OWN_BYTES = 4 << 20 };

/* Zero to begin with. */
typedef struct own {
    text path, file;
    text merged; /* the project's file with the tables that it lacks */
    bool
        unsafe; /* there is a file, and it is a link, or others can write it, or it cannot be read */
} own;

/* Reads it. False: there is none, or it is not safe. */
static inline bool own_open(own *o) {
    if (!trust_place("config.toml", &o->path)) return false;
    if (places_read(o->path.at, true, OWN_BYTES, &o->file)) return o->file.len > 0;
    o->file.len = 0;
    o->unsafe = places_is_file(o->path.at, false);
    return false;
}

static inline void own_free(own *o) {
    free(o->path.at);
    free(o->file.at);
    free(o->merged.at);
}

static inline phi_config *own_load_text(const char *path, const text *file, trust *found) {
    phi_config_desc from = PHI_ZERO;
    from.path = path;
    from.text = text_str(file);
    from.environment = true;
    if (found != NULL) from.variable_fn = trust_variable;
    from.user_data = found;
    from.sections = phi_config_sections();
    return phi_config_load(&from);
}

typedef enum own_format { OWN_TOML, OWN_YAML, OWN_JSON } own_format;

static inline own_format own_format_of(const char *path) {
    const char *dot = strrchr(path, '.');
    if (dot != NULL && strcmp(dot, ".json") == 0) return OWN_JSON;
    return dot != NULL && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0) ? OWN_YAML
                                                                                  : OWN_TOML;
}

static inline phi_json *own_parse(phi_arena *arena, own_format format, const text *file) {
    phi_json *root = NULL;
    phi_status status =
        format == OWN_TOML   ? phi_toml_parse(arena, text_str(file), NULL, &root, NULL)
        : format == OWN_YAML ? phi_yaml_parse(arena, text_str(file), NULL, &root, NULL)
                             : phi_json_parse(arena, text_str(file), 0, &root, NULL);
    return status == PHI_OK && phi_json_is(root, PHI_JSON_OBJECT) ? root : NULL;
}

/* Adds tables after the project's text, so that its lines keep their numbers. */
static inline bool own_add(own_format format, phi_arena *arena, const phi_json *tables, text *to) {
    phi_str more = PHI_ZERO;
    size_t end = to->len, first = 0;
    phi_status status = format == OWN_TOML   ? phi_toml_write(arena, tables, 0, &more)
                        : format == OWN_YAML ? phi_yaml_write(arena, tables, 0, &more)
                                             : phi_json_write(arena, tables, 0, &more);
    if (status != PHI_OK) return false;
    while (first < to->len && strchr(" \t\r\n", to->at[first]) != NULL) first++;
    if (format == OWN_TOML || (format == OWN_YAML && first < to->len && to->at[first] != '{')) {
        text_say(to, "\n");
        return text_add(to, more.at, more.len);
    }
    if (format == OWN_YAML) return false; /* braces, which phi_yaml_write does not continue */
    while (end > 0 && to->at[end - 1] != '}') end--;
    if (end == 0 || more.len < 2) return false;
    to->len = end - 1; /* {"a":1 + ,"b":2} */
    while (to->len > 0 && strchr(" \t\r\n", to->at[to->len - 1]) != NULL) to->len--;
    if (to->len > 0 && to->at[to->len - 1] != '{') text_say(to, ",");
    return text_add(to, more.at + 1, more.len - 1);
}

/* Takes out of the user's tables what the project's file has, and what is no table: that could not come after its tables.
   NULL: nothing is left, or there is no memory. */
static inline phi_json *own_rest(phi_arena *arena, phi_json *mine, const phi_json *theirs) {
    phi_json_iter it = phi_json_each(mine);
    phi_json *rest = phi_json_new_object(arena), *node, *copy;
    phi_str json;
    char key[64];
    while (rest != NULL && (node = phi_json_next(&it)) != NULL) {
        bool table = phi_json_is(node, PHI_JSON_OBJECT) ||
                     phi_json_is(phi_json_at(node, 0), PHI_JSON_OBJECT);
        if (!table || snprintf(key, sizeof key, "%.*s", PHI_ARG(it.key)) >= (int)sizeof key)
            continue;
        if (phi_json_get(theirs, key) != NULL) continue;
        /* as text, because a table in braces would stay one */
        if (phi_json_write(arena, node, 0, &json) != PHI_OK ||
            phi_json_parse(arena, json, 0, &copy, NULL) != PHI_OK ||
            phi_json_set(arena, rest, key, copy) != PHI_OK)
            rest = NULL;
    }
    return phi_json_count(rest) > 0 ? rest : NULL;
}

/* The project's configuration with the tables that only the user's file has. `found`: the project's file was found, and
   shown; NULL: it was named. NULL is returned if nothing can be added to it, or if it cannot be read. */
static inline phi_config *own_load_both(own *o, const char *path, trust *found, phi_arena *arena) {
    own_format format = own_format_of(path);
    phi_arena_mark mark = phi_arena_save(arena);
    phi_json *mine, *theirs, *rest = NULL;
    bool good = found != NULL ? text_add(&o->merged, found->file.at, found->file.len)
                              : places_is_file(path, false) &&
                                    places_read(path, false, OWN_BYTES, &o->merged);
    if (!good) return NULL; /* an empty text would be a configuration, too */
    mine = own_parse(arena, OWN_TOML, &o->file);
    theirs = own_parse(arena, format, &o->merged);
    if (mine != NULL && theirs != NULL) rest = own_rest(arena, mine, theirs);
    good = rest != NULL && own_add(format, arena, rest, &o->merged);
    phi_arena_reset(arena, mark);
    return good ? own_load_text(path, &o->merged, found) : NULL;
}

/* False: the tables of both files together have a fault, such as a name that only a replaced table had. */
static inline bool own_fits(const phi_config *config) {
    const phi_config_problem *problem;
    size_t i;
    for (i = 0; (problem = phi_config_problem_at(config, i)) != NULL; i++)
        if (!problem->is_warning) return false;
    return true;
}

#endif
