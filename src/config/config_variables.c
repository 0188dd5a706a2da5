/* config_variables.c - replaces ${NAME} and ${NAME:-text} in all texts of the tree. */
#include "config/config_own_in.h"

typedef struct phi__config_variables {
    phi__config_walk walk;
    phi__buf out; /* of the text under way */
    size_t added; /* bytes of all values */
    bool too_big;
    bool missing;   /* in the text under way */
    bool odd, open; /* the same: it has that warning, which says the same of others */
} phi__config_variables;

/* ${NAME}, ${NAME:-text} at the start of a text. */
typedef struct phi__config_variable {
    phi_str name, fallback;
    bool has_fallback, is_name;
    size_t len;
} phi__config_variable;

static bool phi__config_variables_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool phi__config_variables_is_name(phi_str name) {
    size_t i;
    if (name.len == 0 || (name.at[0] >= '0' && name.at[0] <= '9')) return false;
    for (i = 0; i < name.len; i++)
        if (!phi__config_variables_letter(name.at[i])) return false;
    return true;
}

/* False: no variable: ${} or one that is not closed. */
static bool phi__config_variables_read(phi_str text, phi__config_variable *out) {
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
    out->is_name = phi__config_variables_is_name(out->name);
    return true;
}

/* The value, or NULL. */
static const char *phi__config_variables_value(phi__config_variables *v, phi_str name) {
    phi_config *config = v->walk.config;
    phi_str copy;
    if (config->variable_fn == NULL) return NULL;
    if (!phi__arena_str(&config->arena, name, &copy)) {
        config->problems.no_memory = true;
        return NULL;
    }
    return config->variable_fn(config->user_data, copy.at);
}

static void phi__config_variables_add(phi__config_variables *v, phi_str text) {
    if (text.len > v->walk.config->max_bytes - v->added) {
        v->too_big = true;
        return;
    }
    v->added += text.len;
    phi__buf_add_str(&v->out, text);
}

static void phi__config_variables_put(phi__config_variables *v, const phi_json *node,
                                      const phi__config_variable *variable) {
    const char *value = phi__config_variables_value(v, variable->name);
    phi__buf *words;
    if (value != NULL && (value[0] != '\0' || !variable->has_fallback)) {
        if (!phi__config_raws_keep(v->walk.config, variable->name, phi_str_of(value)))
            v->walk.config->problems.no_memory = true;
        phi__config_variables_add(v, phi_str_of(value));
        return;
    }
    if (variable->has_fallback) {
        phi__config_variables_add(v, variable->fallback);
        return;
    }
    words = phi__config_path_words(&v->walk);
    phi__buf_text(words, "Missing environment variable: ${");
    phi__buf_add_str(words, variable->name);
    phi__buf_text(words, "}: set it, or write ${");
    phi__buf_add_str(words, variable->name);
    phi__buf_text(words, ":-text} with a text to use instead");
    v->missing = true;
    phi__config_path_part(&v->walk, node, false, phi__str(variable->name.at - 2, variable->len));
}

/* Nothing is known yet of which texts are secrets: warnings show what no key holds, "${" or
   "${NAME:". */
static void phi__config_variables_odd(phi__config_variables *v, const phi_json *node,
                                      const phi__config_variable *variable) {
    phi__buf *words = phi__config_path_words(&v->walk);
    size_t colon = phi__str_find(variable->name, 0, ":");
    phi_str name = phi__str(variable->name.at, colon != SIZE_MAX ? colon : 0);
    if (phi__config_variables_is_name(name) && !variable->has_fallback) {
        phi__buf_text(words, "\"${");
        phi__buf_add_str(words, name);
        phi__buf_text(words, ":\" is kept as it is; a text to use without the variable is written "
                             "with \":-\", as ${");
        phi__buf_add_str(words, name);
        phi__buf_text(words, ":-text}");
        phi__config_path_part(&v->walk, node, true, phi__str(name.at - 2, name.len + 3));
        return;
    }
    if (v->odd) return;
    v->odd = true;
    phi__buf_text(words,
                  "\"${\" is kept as it is, since the name of a variable has letters, digits "
                  "and _ alone; write $${ where you mean the two characters");
    phi__config_path_part(&v->walk, node, true, PHI__LIT("${"));
}

static void phi__config_variables_open(phi__config_variables *v, const phi_json *node) {
    if (v->open) return;
    v->open = true;
    phi__buf_text(phi__config_path_words(&v->walk),
                  "\"${\" is kept as it is, since no name and \"}\" follow; a variable is written "
                  "${NAME}, and $${ where you mean the two characters");
    phi__config_path_part(&v->walk, node, true, PHI__LIT("${"));
}

/* The text with all its variables, in v->out. False: there are none. */
static bool phi__config_variables_text(phi__config_variables *v, const phi_json *node) {
    phi_str text = phi__json_text_of(node);
    size_t at = 0, found, end = text.len;
    bool any = false;
    v->missing = v->odd = v->open = false;
    while (end > 0 && text.at[end - 1] != '}') end--; /* behind it no variable can end */
    v->out.len = 0;
    while ((found = phi__str_find(text, at, "${")) != SIZE_MAX) {
        phi_str rest = phi__str(text.at + found, end > found ? end - found : 0);
        phi__config_variable variable;
        if (found > at && text.at[found - 1] == '$') {
            phi__buf_add(&v->out, text.at + at, found - 1 - at);
            phi__buf_text(&v->out, "${");
            any = true;
            at = found + 2;
            continue;
        }
        phi__buf_add(&v->out, text.at + at, found - at);
        if (!phi__config_variables_read(rest, &variable)) {
            phi__config_variables_open(v, node);
            phi__buf_text(&v->out, "${");
            at = found + 2;
            continue;
        }
        at = found + variable.len;
        if (variable.is_name) {
            any = true;
            phi__config_variables_put(v, node, &variable);
        } else {
            phi__config_variables_odd(v, node, &variable);
            phi__buf_add(&v->out, rest.at, variable.len);
        }
    }
    phi__buf_add(&v->out, text.at + at, text.len - at);
    return any;
}

static void phi__config_variables_node(phi__config_variables *v, phi_json *node) {
    phi_config *config = v->walk.config;
    phi_str text = phi__json_text_of(node), copy;
    if (text.len == 0 || phi__str_find(text, 0, "${") == SIZE_MAX) return;
    if (!phi__config_variables_text(v, node)) return;
    if (v->out.failed || !phi__arena_str(&config->arena, phi__buf_str(&v->out), &copy) ||
        copy.len > UINT32_MAX || !phi__config_raws_add(config, node, text)) {
        config->problems.no_memory = true;
        return;
    }
    if (v->missing) phi__config_raws_miss(config, node);
    node->v.str = copy.at;
    node->len = (uint32_t)copy.len;
}

/* As deep as the tree is, which its reader bounds. */
static void phi__config_variables_tree(phi__config_variables *v, phi_json *node) {
    phi_json_iter it = phi_json_each(node);
    bool is_array = phi_json_is(node, PHI_JSON_ARRAY);
    phi_json *child;
    size_t i;
    for (i = 0; (child = phi_json_next(&it)) != NULL && !v->too_big; i++) {
        size_t len;
        if (phi_json_is(child, PHI_JSON_NUMBER) || phi_json_is(child, PHI_JSON_BOOL)) continue;
        len = is_array ? phi__config_path_index(&v->walk, i)
                       : phi__config_path_name(&v->walk, it.key);
        if (phi_json_is(child, PHI_JSON_STRING))
            phi__config_variables_node(v, child);
        else
            phi__config_variables_tree(v, child);
        phi__config_path_back(&v->walk, len);
    }
}

void phi__config_variables_replace(phi_config *config) {
    phi__config_variables v = PHI_ZERO;
    phi__config_path_begin(&v.walk, config);
    phi__buf_init(&v.out, &config->memory);
    phi__config_variables_tree(&v, config->root);
    if (v.too_big)
        phi__config_problems_add(&config->problems, config, config->root, false, PHI_TOO_BIG, NULL,
                                 NULL,
                                 "The values of variables are larger together than a file "
                                 "may be");
    phi__buf_free(&v.out);
    phi__config_path_end(&v.walk);
}
