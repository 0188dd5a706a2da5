/* config_path.c - the path of names to a value, and problems there. */
#include "config/config_own_in.h"

void phi__config_path_begin(phi__config_walk *walk, phi_config *config) {
    memset(walk, 0, sizeof *walk);
    walk->config = config;
    phi__buf_init(&walk->path, &config->memory);
    phi__buf_init(&walk->words, &config->memory);
}

void phi__config_path_end(phi__config_walk *walk) {
    if (walk->path.failed || walk->words.failed) walk->config->problems.no_memory = true;
    phi__buf_free(&walk->path);
    phi__buf_free(&walk->words);
}

size_t phi__config_path_name(phi__config_walk *walk, phi_str name) {
    size_t len = walk->path.len;
    if (len > 0) phi__buf_char(&walk->path, '.');
    phi__buf_add_str(&walk->path, name);
    return len;
}

size_t phi__config_path_index(phi__config_walk *walk, size_t index) {
    size_t len = walk->path.len;
    phi__buf_char(&walk->path, '[');
    phi__buf_u64(&walk->path, index);
    phi__buf_char(&walk->path, ']');
    return len;
}

void phi__config_path_back(phi__config_walk *walk, size_t len) {
    if (walk->path.len > len) walk->path.len = len;
}

const char *phi__config_path_text(phi__config_walk *walk) {
    size_t len = walk->path.len;
    phi__buf_char(&walk->path, '\0');
    if (walk->path.failed) return "";
    walk->path.len = len;
    return walk->path.at;
}

phi__buf *phi__config_path_words(phi__config_walk *walk) {
    walk->words.len = 0;
    return &walk->words;
}

bool phi__config_path_full(const phi__config_walk *walk) {
    return walk->config->problems.count >= walk->config->problems.most;
}

static const char *phi__config_path_said(phi__config_walk *walk) {
    phi__buf_char(&walk->words, '\0');
    return walk->words.failed ? "" : walk->words.at;
}

void phi__config_path_error(phi__config_walk *walk, const phi_json *node, const char *expected) {
    phi__config_problems_add(&walk->config->problems, walk->config, node, false, PHI_BAD_ARG,
                             phi__config_path_text(walk), expected, phi__config_path_said(walk));
}

void phi__config_path_part(phi__config_walk *walk, const phi_json *node, bool is_warning,
                           phi_str value) {
    phi__config_problems_add_part(&walk->config->problems, walk->config, node, is_warning,
                                  is_warning ? PHI_OK : PHI_BAD_ARG, phi__config_path_text(walk),
                                  value, phi__config_path_said(walk));
}

void phi__config_path_error_key(phi__config_walk *walk, const phi_json *node) {
    phi__config_problems_add_key(&walk->config->problems, walk->config, node, false, PHI_BAD_ARG,
                                 phi__config_path_text(walk), phi__config_path_said(walk));
}

void phi__config_path_warning(phi__config_walk *walk, const phi_json *node) {
    phi__config_problems_add(&walk->config->problems, walk->config, node, true, PHI_OK,
                             phi__config_path_text(walk), NULL, phi__config_path_said(walk));
}

void phi__config_path_warning_key(phi__config_walk *walk, const phi_json *node) {
    phi__config_problems_add_key(&walk->config->problems, walk->config, node, true, PHI_OK,
                                 phi__config_path_text(walk), phi__config_path_said(walk));
}
