/* config_unknown.c - keys that no field has: what may have been meant. */
#include "config/config_own_in.h"
#include "config/config_section_in.h"
#include "config/config_tables_in.h"

enum {
    PHI__CONFIG_PLACES = 3,          /* that are named */
    PHI__CONFIG_UNKNOWN_LISTED = 16, /* names of a table, at most */
    PHI__CONFIG_UNKNOWN_DEPTH = 5
};

/* A search through the tables of one depth for fields of a name, or nearly of it. */
typedef struct phi__config_unknown {
    const phi__config_table *here; /* is not searched */
    phi_str key;
    phi__buf *words;
    phi__buf path;
    unsigned most;  /* the distance at which a name counts */
    unsigned found; /* places so far */
    int depth;
} phi__config_unknown;

static bool phi__config_unknown_is(const phi__config_unknown *u, const phi__config_field *field) {
    if (u->most == 0)
        return phi__str_is(u->key, field->key) ||
               (field->alias != NULL && phi__str_is(u->key, field->alias));
    if (phi__config_nearest_distance(u->key, phi_str_of(field->key)) <= u->most) return true;
    return field->alias != NULL &&
           phi__config_nearest_distance(u->key, phi_str_of(field->alias)) <= u->most;
}

/* Adds "[execution]": where the field stands; of a table: the table itself. */
static void phi__config_unknown_place(phi__config_unknown *u, const phi__config_field *field,
                                      bool is_list) {
    bool is_table = field->kind == PHI__CONFIG_TABLE, is_tables = field->kind == PHI__CONFIG_TABLES;
    if (u->found++ >= PHI__CONFIG_PLACES) return;
    if (u->found > 1)
        phi__buf_text(u->words, " or ");
    else if (u->most > 0 && !is_table && !is_tables)
        phi__buf_printf(u->words, "; did you mean \"%s\" of ", field->key);
    else
        phi__buf_text(u->words, u->most > 0 ? "; did you mean " : ": it belongs to ");
    is_list = is_table ? false : is_tables ? true : is_list;
    phi__buf_text(u->words, is_list ? "[[" : "[");
    phi__buf_add_str(u->words, phi__buf_str(&u->path));
    if (is_table || is_tables)
        phi__buf_printf(u->words, "%s%s", u->path.len > 0 ? "." : "", field->key);
    phi__buf_text(u->words, is_list ? "]]" : "]");
    if (u->most > 0) u->found = PHI__CONFIG_PLACES; /* one guess is enough */
}

static void phi__config_unknown_search(phi__config_unknown *u, const phi__config_table *table,
                                       bool is_list, int depth) {
    const phi__config_field *field;
    size_t i;
    for (i = 0; (field = phi__config_fields_at(table, i)) != NULL; i++) {
        size_t len = u->path.len;
        if (depth == u->depth && table != u->here && phi__config_unknown_is(u, field))
            phi__config_unknown_place(u, field, is_list);
        if (depth == u->depth || field->table == NULL || field->kind == PHI__CONFIG_VALUE ||
            strcmp(field->key, "context") == 0)
            continue;
        if (len > 0) phi__buf_char(&u->path, '.');
        phi__buf_text(&u->path, field->key);
        phi__config_unknown_search(u, field->table(), field->kind == PHI__CONFIG_TABLES, depth + 1);
        u->path.len = len;
    }
}

static void phi__config_unknown_sections(phi__config_unknown *u,
                                         const phi_config_section *const *sections) {
    size_t i;
    for (i = 0; u->depth > 0 && sections != NULL && sections[i] != NULL; i++) {
        if (sections[i]->field->table == NULL) continue;
        phi__buf_text(&u->path, sections[i]->name);
        phi__config_unknown_search(u, sections[i]->field->table(), false, 1);
        u->path.len = 0;
    }
}

/* In the table's own profile first, since what an agent is stands there; then all from the top, the
   outer tables before the inner ones. False: nowhere. */
static bool phi__config_unknown_elsewhere(phi__config_walk *walk, const phi__config_table *table,
                                          phi_str key, unsigned most) {
    const phi__config_field *profile;
    phi__config_unknown u = PHI_ZERO;
    u.here = table;
    u.key = key;
    u.words = &walk->words;
    u.most = most;
    phi__buf_init(&u.path, &walk->config->memory);
    profile = phi__config_fields_find(table, PHI__LIT("profile"), NULL);
    if (profile != NULL && profile->table != NULL) {
        phi__buf_printf(&u.path, "%s.profile", table->name);
        phi__config_unknown_search(&u, profile->table(), false, 0);
        u.path.len = 0;
    }
    for (u.depth = 0; u.depth < PHI__CONFIG_UNKNOWN_DEPTH && u.found == 0; u.depth++) {
        phi__config_unknown_search(&u, phi__config_tables_top(), false, 0);
        if (u.found == 0) phi__config_unknown_sections(&u, walk->config->sections);
    }
    if (most > 0 && u.found > 0) phi__buf_char(u.words, '?');
    if (u.path.failed) walk->config->problems.no_memory = true;
    phi__buf_free(&u.path);
    return u.found > 0;
}

/* The only field that has `key` as its last word, as api_key has "key"; NULL: none, or several. */
static const char *phi__config_unknown_ending(const phi__config_table *table, phi_str key) {
    const phi__config_field *field;
    const char *found = NULL;
    size_t i;
    for (i = 0; (field = phi__config_fields_at(table, i)) != NULL; i++) {
        size_t n = strlen(field->key);
        if (n <= key.len + 1 || field->key[n - key.len - 1] != '_' ||
            memcmp(field->key + n - key.len, key.at, key.len) != 0)
            continue;
        if (found != NULL) return NULL;
        found = field->key;
    }
    return found;
}

static bool phi__config_unknown_near(phi__config_walk *walk, const phi__config_table *table,
                                     phi_str key, bool at_top) {
    const phi__config_field *field;
    const char *near = NULL;
    unsigned best = PHI__CONFIG_FAR + 1;
    size_t i;
    for (i = 0; (field = phi__config_fields_at(table, i)) != NULL; i++) {
        unsigned d = phi__config_nearest_distance(key, phi_str_of(field->key));
        if (d < best) best = d, near = field->key;
        if (field->alias == NULL) continue;
        d = phi__config_nearest_distance(key, phi_str_of(field->alias));
        if (d < best) best = d, near = field->alias;
    }
    for (i = 0; at_top && walk->config->sections != NULL && walk->config->sections[i] != NULL;
         i++) {
        unsigned d = phi__config_nearest_distance(key, phi_str_of(walk->config->sections[i]->name));
        if (d < best) best = d, near = walk->config->sections[i]->name;
    }
    if (near == NULL && key.len > 2) near = phi__config_unknown_ending(table, key);
    if (near == NULL) return false;
    phi__buf_printf(&walk->words, "; did you mean \"%s\"?", near);
    return true;
}

/* The names that the table has, where none is near; of a long one nobody reads them. */
static void phi__config_unknown_all(phi__config_walk *walk, const phi__config_table *table) {
    const phi__config_field *field;
    size_t i;
    if (phi__config_fields_at(table, PHI__CONFIG_UNKNOWN_LISTED) != NULL) return;
    for (i = 0; (field = phi__config_fields_at(table, i)) != NULL; i++) {
        bool is_list = field->kind == PHI__CONFIG_TABLES && walk->config->format == PHI_CONFIG_TOML;
        phi__buf_printf(&walk->words, "%s%s%s%s", i == 0 ? "; known are " : ", ",
                        is_list ? "[[" : "", is_list ? field->table()->name : field->key,
                        is_list ? "]]" : "");
    }
}

/* Names that other programs' files have, and habits. */
static bool phi__config_unknown_habit(phi__config_walk *walk, const phi__config_table *table,
                                      phi_str key) {
    static const struct {
        char table[20], key[16], words[72];
    } known[] = {
        {"", "agents", "; write each agent as [[agent.instances]] with its name"},
        {"", "providers", "; write each provider as [[provider.instances]] with its id"},
        {"", "subagents", "; write each one as [[sub_agents.instances]] with its name"},
        {"", "sub_agent", "; write each one as [[sub_agents.instances]] with its name"},
        {"", "mcp_servers", "; write each server as [[mcp.instances]] with its name"},
        {"", "mcpServers", "; write each server as [[mcp.instances]] with its name"},
        {"", "limits", "; the limits of a run are in [execution]"},
        {"execution", "max_duration_ms", "; did you mean \"max_duration_secs\", in seconds?"},
        {"mcp", "servers", "; write each server as [[mcp.instances]] with its name"},
        {"mcp.instances", "cmd", "; did you mean \"command\"?"},
        {"openapi.instances", "token", "; did you mean \"bearer_token\"?"},
        {"skills", "paths", "; did you mean \"directories\"?"},
        {"skills", "path", "; did you mean \"directories\"?"},
        {"skills", "dirs", "; did you mean \"directories\"?"},
        {"tools", "list", "; did you mean \"enabled\"?"},
        {"tools", "allow", "; did you mean \"enabled\"?"},
        {"permissions", "allow",
         ": write [[permissions.rules]] with verdict = \"allow\" and tool = \"NAME\""},
        {"permissions", "deny",
         ": write [[permissions.rules]] with verdict = \"deny\" and tool = \"NAME\""},
        {"permissions", "ask",
         ": write [[permissions.rules]] with verdict = \"ask\" and tool = \"NAME\""},
        {"callbacks", "before_tool", "; did you mean \"before_tool_execution\"?"},
        {"callbacks", "after_tool", "; did you mean \"after_tool_execution\"?"}};
    size_t i;
    for (i = 0; i < PHI__COUNT(known); i++) {
        if (strcmp(table->name, known[i].table) != 0 || !phi__str_is(key, known[i].key)) continue;
        phi__buf_text(&walk->words, known[i].words);
        return true;
    }
    return false;
}

static bool phi__config_unknown_needs_header(phi_str key) {
    static const char *const names[] = {"mcp",   "openapi",     "skills",       "callbacks",
                                        "hooks", "permissions", "tool_settings"};
    size_t i;
    for (i = 0; i < PHI__COUNT(names); i++)
        if (phi__str_is(key, names[i])) return true;
    return false;
}

void phi__config_unknown_field(phi__config_walk *walk, const phi__config_table *table, phi_str key,
                               const phi_json *node, bool at_top) {
    phi__buf *words = phi__config_path_words(walk);
    size_t len;
    if (at_top && phi__config_unknown_needs_header(key)) {
        phi__buf_char(words, '[');
        phi__buf_add_str(words, key);
        phi__buf_text(words, "] needs phi_tools.h: set phi_config_desc.sections to "
                             "phi_config_sections()");
        len = phi__config_path_name(walk, key);
        phi__config_path_error_key(walk, node);
        phi__config_path_back(walk, len);
        return;
    }
    if (phi__config_path_full(walk)) return; /* a warning more, which nobody would see */
    phi__buf_text(words, "Unknown field \"");
    phi__config_raws_name(key, words);
    phi__buf_char(words, '"');
    if (walk->path.len > 0) {
        phi__buf_text(words, " in ");
        phi__buf_add_str(words, phi__buf_str(&walk->path));
    }
    if (!phi__config_unknown_habit(walk, table, key) &&
        !phi__config_unknown_elsewhere(walk, table, key, 0) &&
        !phi__config_unknown_near(walk, table, key, at_top) &&
        !phi__config_unknown_elsewhere(walk, table, key, 1))
        phi__config_unknown_all(walk, table);
    len = phi__config_path_name(walk, key);
    phi__config_path_warning_key(walk, node);
    phi__config_path_back(walk, len);
}
