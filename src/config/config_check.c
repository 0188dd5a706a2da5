/* config_check.c - checks every value by the field of its table: types, bounds, choices, missing
   fields, and fields that are given twice. */
#include "config/config_own_in.h"
#include "config/config_tables_in.h"

#include <stdio.h>

/* ---- unknown keys, and the keys that were probably meant ---- */

enum {
    PHI__CFG_PLACES = 3,          /* max. places that one message names */
    PHI__CFG_UNKNOWN_LISTED = 16, /* the fields of a larger table are not listed */
    PHI__CFG_UNKNOWN_DEPTH = 5
};

/* A search for fields with a given name or a similar name, in all tables of one depth. */
typedef struct phi__cfg_unknown {
    const phi__cfg_table *here; /* this table is not searched */
    phi_str key;
    phi__buf *words;
    phi__buf path;
    unsigned most;  /* greatest distance at which a name counts as similar */
    unsigned found; /* number of places so far */
    int depth;
} phi__cfg_unknown;

static bool phi__unknown_is(const phi__cfg_unknown *u, const phi__cfg_field *field) {
    if (u->most == 0)
        return phi__str_is(u->key, field->key) ||
               (field->alias != NULL && phi__str_is(u->key, field->alias));
    if (phi__near_distance(u->key, phi_str_of(field->key)) <= u->most) return true;
    return field->alias != NULL && phi__near_distance(u->key, phi_str_of(field->alias)) <= u->most;
}

/* Adds the field's table to the message, as "[execution]". A field that is a table itself is added
   by its own name. */
static void phi__unknown_place(phi__cfg_unknown *u, const phi__cfg_field *field, bool is_list) {
    bool is_table = field->kind == PHI__CFG_TABLE, is_tables = field->kind == PHI__CFG_TABLES;
    if (u->found++ >= PHI__CFG_PLACES) return;
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
    if (u->most > 0) u->found = PHI__CFG_PLACES; /* one guess is enough */
}

static void phi__unknown_search(phi__cfg_unknown *u, const phi__cfg_table *table, bool is_list,
                                int depth) {
    const phi__cfg_field *field;
    for (size_t i = 0; (field = phi__fields_at(table, i)) != NULL; i++) {
        size_t len = u->path.len;
        if (depth == u->depth && table != u->here && phi__unknown_is(u, field))
            phi__unknown_place(u, field, is_list);
        if (depth == u->depth || field->table == NULL || field->kind == PHI__CFG_VALUE ||
            strcmp(field->key, "context") == 0)
            continue;
        if (len > 0) phi__buf_char(&u->path, '.');
        phi__buf_text(&u->path, field->key);
        phi__unknown_search(u, field->table(), field->kind == PHI__CFG_TABLES, depth + 1);
        u->path.len = len;
    }
}

/* Searches other tables for the key: first the table's own profile, because it also describes the
   agent; then all tables from the top, outer ones before inner ones. False: not found. */
static bool phi__unknown_elsewhere(phi__cfg_walk *walk, const phi__cfg_table *table, phi_str key,
                                   unsigned most) {
    phi__cfg_unknown u = PHI_ZERO;
    u.here = table;
    u.key = key;
    u.words = &walk->words;
    u.most = most;
    phi__buf_init(&u.path, &walk->config->memory);
    const phi__cfg_field *profile = phi__fields_find(table, PHI__LIT("profile"), NULL);
    if (profile != NULL && profile->table != NULL) {
        phi__buf_printf(&u.path, "%s.profile", table->name);
        phi__unknown_search(&u, profile->table(), false, 0);
        u.path.len = 0;
    }
    for (u.depth = 0; u.depth < PHI__CFG_UNKNOWN_DEPTH && u.found == 0; u.depth++) {
        phi__unknown_search(&u, phi__table_top(), false, 0);
        if (u.found == 0) {
            const phi_config_section *const *sections = walk->config->sections;
            for (size_t i = 0; u.depth > 0 && sections[i] != NULL; i++) {
                if (sections[i]->field->table == NULL) continue;
                phi__buf_text(&u.path, sections[i]->name);
                phi__unknown_search(&u, sections[i]->field->table(), false, 1);
                u.path.len = 0;
            }
        }
    }
    if (most > 0 && u.found > 0) phi__buf_char(u.words, '?');
    if (u.path.failed) walk->config->problems.no_memory = true;
    phi__buf_free(&u.path);
    return u.found > 0;
}

/* Returns the only field whose last word is `key`, such as api_key for "key". NULL: there is no
   such field, or there are several. */
static const char *phi__unknown_ending(const phi__cfg_table *table, phi_str key) {
    const phi__cfg_field *field;
    const char *found = NULL;
    for (size_t i = 0; (field = phi__fields_at(table, i)) != NULL; i++) {
        size_t n = strlen(field->key);
        if (n <= key.len + 1 || field->key[n - key.len - 1] != '_' ||
            memcmp(field->key + n - key.len, key.at, key.len) != 0)
            continue;
        if (found != NULL) return NULL;
        found = field->key;
    }
    return found;
}

static bool phi__unknown_near(phi__cfg_walk *walk, const phi__cfg_table *table, phi_str key,
                              bool at_top) {
    const phi__cfg_field *field;
    const char *nearest = NULL;
    unsigned best = PHI__CFG_FAR + 1;
    for (size_t i = 0; (field = phi__fields_at(table, i)) != NULL; i++) {
        if (phi__near_try(&best, key, phi_str_of(field->key))) nearest = field->key;
        if (field->alias != NULL && phi__near_try(&best, key, phi_str_of(field->alias)))
            nearest = field->alias;
    }
    const phi_config_section *const *section = walk->config->sections;
    for (; at_top && *section != NULL; section++)
        if (phi__near_try(&best, key, phi_str_of((*section)->name))) nearest = (*section)->name;
    if (nearest == NULL && key.len > 2) nearest = phi__unknown_ending(table, key);
    if (nearest == NULL) return false;
    phi__buf_printf(&walk->words, "; did you mean \"%s\"?", nearest);
    return true;
}

/* Lists the fields of a table. A long list would not help, so it is left out. */
static void phi__unknown_all(phi__cfg_walk *walk, const phi__cfg_table *table) {
    const phi__cfg_field *field;
    if (phi__fields_at(table, PHI__CFG_UNKNOWN_LISTED) != NULL) return;
    for (size_t i = 0; (field = phi__fields_at(table, i)) != NULL; i++) {
        bool is_list = field->kind == PHI__CFG_TABLES && walk->config->format == PHI_CONFIG_TOML;
        phi__buf_printf(&walk->words, "%s%s%s%s", i == 0 ? "; known are " : ", ",
                        is_list ? "[[" : "", is_list ? field->table()->name : field->key,
                        is_list ? "]]" : "");
    }
}

/* Suggests fields for names from other programs' files, and for common mistakes. */
static bool phi__unknown_habit(phi__cfg_walk *walk, const phi__cfg_table *table, phi_str key) {
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
    for (size_t i = 0; i < PHI__COUNT(known); i++) {
        if (strcmp(table->name, known[i].table) != 0 || !phi__str_is(key, known[i].key)) continue;
        phi__buf_text(&walk->words, known[i].words);
        return true;
    }
    return false;
}

static bool phi__unknown_needs_header(phi_str key) {
    static const char *const names[] = {"mcp",   "openapi",     "skills",       "callbacks",
                                        "hooks", "permissions", "tool_settings"};
    for (size_t i = 0; i < PHI__COUNT(names); i++)
        if (phi__str_is(key, names[i])) return true;
    return false;
}

/* Reports a key that no field has. */
static void phi__unknown_field(phi__cfg_walk *walk, const phi__cfg_table *table, phi_str key,
                               const phi_json *node, bool at_top) {
    phi__buf *words = phi__walk_words(walk);
    size_t len;
    if (at_top && phi__unknown_needs_header(key)) {
        phi__buf_char(words, '[');
        phi__buf_add_str(words, key);
        phi__buf_text(words,
                      "] needs phi_tools.h: set phi_config_desc.sections to phi_config_sections()");
        len = phi__walk_name(walk, key);
        phi__walk_error_key(walk, node);
        phi__walk_back(walk, len);
        return;
    }
    if (phi__walk_full(walk)) return; /* the warning would not be kept */
    phi__buf_text(words, "Unknown field \"");
    phi__raws_name(key, words);
    phi__buf_char(words, '"');
    if (walk->path.len > 0) {
        phi__buf_text(words, " in ");
        phi__buf_add_str(words, phi__buf_str(&walk->path));
    }
    if (!phi__unknown_habit(walk, table, key) && !phi__unknown_elsewhere(walk, table, key, 0) &&
        !phi__unknown_near(walk, table, key, at_top) &&
        !phi__unknown_elsewhere(walk, table, key, 1))
        phi__unknown_all(walk, table);
    len = phi__walk_name(walk, key);
    phi__walk_warning(walk, node, true);
    phi__walk_back(walk, len);
}

/* ---- every value against the field of its table ---- */

static void phi__check_table(phi__cfg_walk *walk, const phi__cfg_table *table, const phi_json *node,
                             bool at_top);

/* A field that fits any text. A text for which no table has a field is checked by this field. */
static const phi__cfg_field phi__check_plain = {"",   PHI__CFG_TEXT, 0,    0, 0, 0,      NULL,
                                                NULL, NULL,          NULL, 0, 0, "null", ""};

/* ---- messages ---- */

/* Reports "Invalid value for {path}: {value} (expected {expected}){hint}". */
static void phi__check_invalid(phi__cfg_walk *walk, const phi__cfg_field *field,
                               const phi_json *node, const char *expected, const char *hint) {
    if ((field->flags & PHI__CFG_SECRET) != 0 && !phi_json_is(node, PHI_JSON_OBJECT) &&
        !phi_json_is(node, PHI_JSON_ARRAY) && !phi__raws_hide(walk->config, node))
        walk->config->problems.no_memory = true;
    phi__buf *words = phi__walk_words(walk);
    phi__buf_printf(words, "Invalid value for %s: ", phi__walk_text(walk));
    phi__raws_show(walk->config, node, words);
    phi__buf_printf(words, " (expected %s)%s", expected, hint);
    if ((field->flags & PHI__CFG_LENIENT) != 0 && phi_json_is(node, PHI_JSON_STRING)) {
        phi__buf_printf(words, "; %s is used", field->fallback);
        phi__walk_warning(walk, node, false);
    } else
        phi__walk_error(walk, node, expected);
}

/* Writes a bound without ".0". */
static void phi__check_bound(char *out, size_t size, double d) {
    snprintf(out, size, d >= 1e15 || d != (double)(int64_t)d ? "%g" : "%.0f", d);
}

static void phi__check_bounds(const phi__cfg_field *field, const char *what, char *out,
                              size_t size) {
    char low[32], high[32];
    const char *none = (field->flags & PHI__NO_LIMIT) != 0 ? ", or \"unlimited\"" : "";
    phi__check_bound(low, sizeof low, field->min);
    phi__check_bound(high, sizeof high, field->max);
    if (field->max > 0 && field->min > 0 && field->min < 0.0001)
        snprintf(out, size, "%s above 0, at most %s%s", what, high, none);
    else if (field->max > 0)
        snprintf(out, size, "%s from %s to %s%s", what, low, high, none);
    else
        snprintf(out, size, "%s of at least %s%s", what, low, none);
}

/* ---- values ---- */

static void phi__check_as(phi_json *node, uint32_t kind, phi__json_value value) {
    node->meta = (node->meta & ~0xffu) | kind;
    node->v = value;
    node->len = 0;
}

/* Turns a text that came from a variable into the number or bool that it holds. */
static void phi__check_convert(phi__cfg_walk *walk, const phi__cfg_field *field, phi_json *node) {
    phi_str text = phi__str_trim(phi__json_text_of(node)), raw;
    const char *bad;
    phi__json_number n = PHI_ZERO;
    phi__json_value none = PHI_ZERO;
    if (!phi_json_is(node, PHI_JSON_STRING) || !phi__raws_find(walk->config, node, &raw)) return;
    if (field->kind == PHI__CFG_BOOL) {
        if (phi__str_is_nocase(text, "true") || phi__str_is_nocase(text, "false"))
            phi__check_as(node, phi__str_is_nocase(text, "true") ? PHI__JSON_TRUE : PHI__JSON_FALSE,
                          none);
        return;
    }
    const char *end = phi__json_number_read(text.at, text.at + text.len, &n, &bad);
    if (end != NULL && end == text.at + text.len && n.kind != 0) phi__check_as(node, n.kind, n.v);
}

static void phi__check_number(phi__cfg_walk *walk, const phi__cfg_field *field,
                              const phi_json *node) {
    double value = phi_json_num(node, 0), most = phi__fields_most(field);
    bool whole = field->kind == PHI__CFG_INTEGER;
    char expected[120];
    const char *what = whole                             ? "an integer"
                       : field->kind == PHI__CFG_SECONDS ? "a number of seconds"
                                                         : "a number";
    const char *hint = "";
    if (((field->flags & PHI__NO_LIMIT) != 0 && phi_json_is(node, PHI_JSON_STRING) &&
         phi__str_is_nocase(phi__json_text_of(node), "unlimited")))
        return;
    if (phi_json_is(node, PHI_JSON_NUMBER) && (!whole || phi_json_is(node, PHI_JSON_INTEGER)) &&
        value >= field->min && value <= (field->max > 0 ? field->max : most))
        return;
    if (phi_json_is(node, PHI_JSON_NUMBER) && field->max <= 0 && value > most) {
        phi__cfg_field bounded = *field;
        bounded.max = most;
        phi__check_bounds(&bounded, what, expected, sizeof expected);
    } else
        phi__check_bounds(field, what, expected, sizeof expected);
    if (phi_json_is(node, PHI_JSON_NUMBER) && value <= 0 && field->min > 0 &&
        strcmp(field->fallback, "null") == 0 && strncmp(field->key, "max_", 4) == 0)
        hint = ": leave it out where there is no limit";
    if (phi_json_is(node, PHI_JSON_STRING)) {
        phi__json_number n;
        const char *bad;
        phi_str text = phi__json_text_of(node);
        if (phi__json_number_read(text.at, text.at + text.len, &n, &bad) == text.at + text.len)
            hint = ": write the number without quotes";
    }
    phi__check_invalid(walk, field, node, expected, hint);
}

static void phi__check_text(phi__cfg_walk *walk, const phi__cfg_field *field,
                            const phi_json *node) {
    phi_str text = phi__json_text_of(node);
    bool is_id = (field->flags & (PHI__CFG_ID | PHI__CFG_NAME)) != 0;
    if (!phi_json_is(node, PHI_JSON_STRING)) {
        bool scalar = phi_json_is(node, PHI_JSON_NUMBER) || phi_json_is(node, PHI_JSON_BOOL);
        phi__check_invalid(walk, field, node, "a text", scalar ? ": write it in quotes" : "");
        return;
    }
    if (text.len > 0 && memchr(text.at, 0, text.len) != NULL) {
        phi__check_invalid(walk, field, node, "a text without the character U+0000", "");
        return;
    }
    if ((is_id || (field->flags & PHI__ONLY_REFERENCE) != 0) && phi__str_trim(text).len == 0) {
        phi__check_invalid(walk, field, node, "a name", "");
        return;
    }
    if ((field->flags & PHI__CFG_ID) != 0) {
        phi__cfg_ref ref = phi__refs_parse(text);
        if (ref.kind == PHI__CFG_REF_LITERAL && phi__str_starts(text, "{{"))
            phi__check_invalid(walk, field, node, "a name, as \"{{name}}\"", "");
        return;
    }
    if (field->choices != NULL && !phi__choice_find(field->choices, text, NULL))
        phi__check_invalid(walk, field, node, "the name of a strategy", "");
    if ((field->flags & (PHI__CFG_REFERENCE | PHI__ONLY_REFERENCE)) != 0)
        phi__refs_check(walk, field, node);
}

/* ---- choices ---- */

static void phi__check_choice(phi__cfg_walk *walk, const phi__cfg_field *field,
                              const phi_json *node) {
    phi_str text = phi__json_text_of(node);
    phi__cfg_choice choice = PHI_ZERO, nearest = PHI_ZERO;
    unsigned best = PHI__CFG_FAR + 1, count = 0;
    char hint[80] = "";
    phi__buf expected;
    if (phi_json_is(node, PHI_JSON_STRING) && phi__choice_find(field->choices, text, NULL)) return;
    phi__buf_init(&expected, &walk->config->memory);
    phi__buf_text(&expected, "one of ");
    choice.next = field->choices;
    while (phi__choice_next(&choice)) {
        if (text.len > 0 && phi__near_try(&best, text, phi_str_of(choice.name))) nearest = choice;
        if (!choice.alias) phi__buf_printf(&expected, "%s%s", count++ ? ", " : "", choice.name);
    }
    phi__buf_char(&expected, '\0');
    if (nearest.alias) (void)phi__choice_of(field->choices, nearest.value, &nearest);
    if (nearest.name[0] != '\0')
        snprintf(hint, sizeof hint, "; did you mean \"%s\"?", nearest.name);
    if (expected.failed)
        walk->config->problems.no_memory = true;
    else
        phi__check_invalid(walk, field, node, expected.at, hint);
    phi__buf_free(&expected);
}

/* Checks an item of a list of choices, references or texts. */
static void phi__check_item(phi__cfg_walk *walk, const phi__cfg_field *field,
                            const phi_json *item) {
    if (phi__raws_is_missing(walk->config, item)) return;
    if (field->choices != NULL)
        phi__check_choice(walk, field, item);
    else
        phi__check_text(walk, field, item);
}

static void phi__check_texts(phi__cfg_walk *walk, const phi__cfg_field *field,
                             const phi_json *node) {
    phi_json_iter it = phi_json_each(node);
    const phi_json *item;
    size_t i = 0;
    if (!phi_json_is(node, PHI_JSON_ARRAY)) {
        phi__check_invalid(walk, field, node, "an array of texts",
                           phi_json_is(node, PHI_JSON_STRING) ? ": write it in brackets, as [\"a\"]"
                                                              : "");
        return;
    }
    while ((item = phi_json_next(&it)) != NULL) {
        size_t len = phi__walk_index(walk, i++);
        phi__check_item(walk, field, item);
        phi__walk_back(walk, len);
    }
}

/* ---- keys given twice ---- */

/* Returns the field that a section adds for a key at the top. NULL: none. */
static const phi__cfg_field *phi__check_section(const phi_config *config, phi_str key) {
    for (size_t i = 0; config->sections[i] != NULL; i++)
        if (phi__str_is(key, config->sections[i]->name)) return config->sections[i]->field;
    return NULL;
}

/* Reports that the key, or its alias, occurs twice. */
static void phi__check_twice(phi__cfg_walk *walk, const phi__cfg_field *field,
                             const phi_json *node) {
    phi__buf *words = phi__walk_words(walk);
    phi__buf_add_str(words, phi_str_of(phi__walk_text(walk)));
    phi__buf_text(words, " is given twice: ");
    if (field->alias == NULL)
        phi__buf_text(words, "keep one of the two");
    else
        phi__buf_printf(words, "%s and %s mean the same; keep one of the two", field->key,
                        field->alias);
    phi__walk_error_key(walk, node);
}

/* Reports each key that occurs twice, unless a field of the table has that key. If `table` is NULL,
   reports all such keys. Only JSON allows a key twice. */
static void phi__check_again(phi__cfg_walk *walk, const phi__cfg_table *table,
                             const phi_json *node) {
    phi_json_iter it = phi_json_each(node);
    const phi_json *other;
    phi__map seen;
    if (walk->config->format != PHI_CONFIG_JSON || it.left < 2) return;
    phi__map_init(&seen, &walk->config->memory);
    if (!phi__map_reserve(&seen, it.left)) walk->config->problems.no_memory = true;
    while (seen.cap > 0 && phi_json_next(&it) != NULL) {
        uint64_t hash = phi__map_hash((uint64_t)(uintptr_t)node, it.key);
        size_t probe = 0;
        if (table != NULL && !(phi__fields_find(table, it.key, NULL) == NULL &&
                               (table->open || phi__check_section(walk->config, it.key) != NULL)))
            continue;
        while ((other = (const phi_json *)phi__map_each(&seen, hash, &probe)) != NULL)
            if (phi_str_equal(phi__str(other->key, phi__json_key_len(other)), it.key)) break;
        if (other == NULL) {
            phi__map_add(&seen, hash, it.at);
            continue;
        }
        size_t len = phi__walk_name(walk, it.key);
        phi__check_twice(walk, &phi__check_plain, it.at);
        phi__walk_back(walk, len);
    }
    phi__map_free(&seen);
}

/* ---- tables ---- */

/* Writes the first fields, such as ": its fields are a, b, c...". */
static const char *phi__check_fields(const phi__cfg_table *table, char *out, size_t size) {
    const phi__cfg_field *field;
    size_t i, n = (size_t)snprintf(out, size, ": its fields are ");
    for (i = 0; i < 4 && (field = phi__fields_at(table, i)) != NULL && n < size; i++)
        n += (size_t)snprintf(out + n, size - n, "%s%s", i > 0 ? ", " : "", field->key);
    if (n < size && phi__fields_at(table, i) != NULL) snprintf(out + n, size - n, "...");
    return out;
}

static void phi__check_one_table(phi__cfg_walk *walk, const phi__cfg_field *field,
                                 const phi_json *node) {
    char expected[120], several[240];
    const char *hint = "";
    if (phi_json_is(node, PHI_JSON_OBJECT)) {
        phi__check_table(walk, field->table(), node, false);
        return;
    }
    if (walk->config->format == PHI_CONFIG_TOML)
        snprintf(expected, sizeof expected, "a table, as [%s]", field->table()->name);
    else
        snprintf(expected, sizeof expected, "a table of fields");
    if (strcmp(field->key, "profile") == 0 && phi_json_is(node, PHI_JSON_STRING))
        hint = ": a reference to a profile is written agent_profile = \"{{name}}\"";
    if (hint[0] == '\0' && !phi_json_is(node, PHI_JSON_ARRAY))
        hint = phi__check_fields(field->table(), several, sizeof several);
    if (phi_json_is(node, PHI_JSON_ARRAY) && walk->config->format == PHI_CONFIG_TOML) {
        bool alone = field->table()->count == 1 && field->table()->base == NULL;
        hint = ": write single brackets";
        snprintf(several, sizeof several,
                 alone ? ": write each as [[%s.instances]]"
                       : ": write single brackets, or [[%s.instances]] for one of several",
                 field->table()->name);
        if (phi__fields_find(field->table(), PHI__LIT("instances"), NULL) != NULL) hint = several;
    }
    if (phi_json_is(node, PHI_JSON_STRING) && walk->config->format == PHI_CONFIG_YAML &&
        phi__str_find(phi__json_text_of(node), 0, ":") != SIZE_MAX)
        hint = ": write a blank behind the colon";
    phi__check_invalid(walk, field, node, expected, hint);
}

static void phi__check_tables(phi__cfg_walk *walk, const phi__cfg_field *field,
                              const phi_json *node) {
    phi_json_iter it = phi_json_each(node);
    const phi_json *item;
    char expected[140], each[140];
    size_t i = 0;
    snprintf(each, sizeof each, ": write each as [[%s]], with its fields", field->table()->name);
    if (walk->config->format == PHI_CONFIG_TOML)
        snprintf(expected, sizeof expected, "an array of tables, as [[%s]]", field->table()->name);
    else
        snprintf(expected, sizeof expected, "an array of tables");
    if (!phi_json_is(node, PHI_JSON_ARRAY)) {
        bool toml = walk->config->format == PHI_CONFIG_TOML;
        phi__check_invalid(walk, field, node, expected,
                           !phi_json_is(node, PHI_JSON_OBJECT) ? ""
                           : toml                              ? ": write double brackets"
                                                               : ": put the table into an array");
        return;
    }
    while ((item = phi_json_next(&it)) != NULL) {
        size_t len = phi__walk_index(walk, i++);
        if (phi_json_is(item, PHI_JSON_OBJECT))
            phi__check_table(walk, field->table(), item, false);
        else
            phi__check_invalid(walk, field, item, "a table of fields",
                               walk->config->format == PHI_CONFIG_TOML ? each : "");
        phi__walk_back(walk, len);
    }
}

/* Checks a key that may be any name. */
static void phi__check_key(phi__cfg_walk *walk, phi_str key, const phi_json *node) {
    phi__buf *words = phi__walk_words(walk);
    if (key.len == 0 || memchr(key.at, 0, key.len) == NULL) return;
    phi__buf_printf(words, "%s: expected a name without the character U+0000",
                    phi__walk_text(walk));
    phi__walk_error_key(walk, node);
}

/* Checks a table whose keys may be any names, and whose values are texts or tables. */
static void phi__check_map(phi__cfg_walk *walk, const phi__cfg_field *field, const phi_json *node) {
    phi_json_iter it = phi_json_each(node);
    const phi_json *item;
    if (!phi_json_is(node, PHI_JSON_OBJECT)) {
        phi__check_invalid(walk, field, node,
                           field->kind == PHI__CFG_MAP ? "a table of texts" : "a table of tables",
                           "");
        return;
    }
    phi__check_again(walk, NULL, node);
    while ((item = phi_json_next(&it)) != NULL) {
        size_t len = phi__walk_name(walk, it.key);
        phi__check_key(walk, it.key, item);
        if (field->kind == PHI__CFG_MAP)
            phi__check_text(walk, field, item);
        else if (phi_json_is(item, PHI_JSON_OBJECT))
            phi__check_table(walk, field->table(), item, false);
        else
            phi__check_invalid(walk, field, item, "a table of fields", "");
        phi__walk_back(walk, len);
    }
}

/* Checks a value of any kind. If the field has a table, the value may be such a table. */
static void phi__check_value(phi__cfg_walk *walk, const phi__cfg_field *field,
                             const phi_json *node) {
    phi_json_iter it = phi_json_each(node);
    const phi_json *item;
    size_t i = 0;
    if (phi_json_is(node, PHI_JSON_STRING)) phi__check_text(walk, &phi__check_plain, node);
    if (field->table != NULL && phi_json_is(node, PHI_JSON_OBJECT))
        phi__check_table(walk, field->table(), node, false);
    while (phi_json_is(node, PHI_JSON_ARRAY) && (item = phi_json_next(&it)) != NULL) {
        size_t len = phi__walk_index(walk, i++);
        if (phi_json_is(item, PHI_JSON_STRING)) phi__check_text(walk, &phi__check_plain, item);
        phi__walk_back(walk, len);
    }
}

static const char *phi__check_bool_hint(const phi_json *node) {
    phi_str text = phi__json_text_of(node);
    if (!phi_json_is(node, PHI_JSON_STRING)) return "";
    if (phi__str_is_nocase(text, "yes") || phi__str_is_nocase(text, "on")) return ": write true";
    if (phi__str_is_nocase(text, "no") || phi__str_is_nocase(text, "off")) return ": write false";
    return phi__str_is_nocase(text, "true") || phi__str_is_nocase(text, "false")
               ? ": write it without quotes"
               : "";
}

static void phi__check_field(phi__cfg_walk *walk, const phi__cfg_field *field, phi_json *node) {
    if (phi__raws_is_missing(walk->config, node)) return;
    if (field->kind == PHI__CFG_BOOL || field->kind == PHI__CFG_INTEGER ||
        field->kind == PHI__CFG_NUMBER || field->kind == PHI__CFG_SECONDS)
        phi__check_convert(walk, field, node);
    switch (field->kind) {
    case PHI__CFG_TEXT: phi__check_text(walk, field, node); break;
    case PHI__CFG_BOOL:
        if (!phi_json_is(node, PHI_JSON_BOOL))
            phi__check_invalid(walk, field, node, "true or false", phi__check_bool_hint(node));
        break;
    case PHI__CFG_INTEGER:
    case PHI__CFG_NUMBER:
    case PHI__CFG_SECONDS: phi__check_number(walk, field, node); break;
    case PHI__CFG_CHOICE: phi__check_choice(walk, field, node); break;
    case PHI__CFG_BITS:
    case PHI__CFG_TEXTS: phi__check_texts(walk, field, node); break;
    case PHI__CFG_TABLE: phi__check_one_table(walk, field, node); break;
    case PHI__CFG_TABLES: phi__check_tables(walk, field, node); break;
    case PHI__CFG_MAP:
    case PHI__CFG_MAP_TABLES: phi__check_map(walk, field, node); break;
    case PHI__CFG_VALUE: phi__check_value(walk, field, node); break;
    default: break;
    }
}

/* ---- members ---- */

/* Appends an example value for a missing field. */
static void phi__check_example(const phi__cfg_field *field, phi__buf *words) {
    if ((field->flags & PHI__CFG_ID) != 0)
        phi__buf_text(words, "\"{{name}}\"");
    else if (field->space != NULL && strcmp(field->space, "system_prompt_strategy") == 0)
        phi__buf_text(words, "\"agent\", or \"minimal\"");
    else if (field->kind == PHI__CFG_TEXTS && (field->flags & PHI__CFG_PATH) != 0)
        phi__buf_printf(words, "[\"skills\"], with the directories that there are");
    else if (field->kind == PHI__CFG_TEXTS && field->space != NULL)
        phi__buf_printf(words, "[\"{{%s.name}}\"], with ids of [[%s.instances]]", field->space,
                        field->space);
    else if (field->kind == PHI__CFG_CHOICE)
        phi__buf_printf(words, "\"%.*s\"", (int)strcspn(field->choices, " |="), field->choices);
    else if (field->space != NULL && (field->flags & PHI__CFG_NAME) == 0)
        phi__buf_printf(words, "\"{{%s.name}}\"", field->space);
    else
        phi__buf_text(words, field->kind == PHI__CFG_TEXTS ? "[\"...\"]" : "\"...\"");
}

static void phi__check_member(phi__cfg_walk *walk, const phi__cfg_table *table, phi_str key,
                              phi_json *node, bool at_top, uint64_t *set) {
    size_t i = 0;
    const phi__cfg_field *field = phi__fields_find(table, key, &i);
    const phi__cfg_field *section =
        at_top && field == NULL ? phi__check_section(walk->config, key) : NULL;
    if (field == NULL && section == NULL) {
        if (table->open) {
            /* The table accepts a text under any key. */
            size_t len = phi__walk_name(walk, key);
            if (!phi_json_is(node, PHI_JSON_NULL)) phi__check_text(walk, &phi__check_plain, node);
            phi__walk_back(walk, len);
        } else if (!(phi__str_starts(key, "x_") || (at_top && phi__str_is(key, "game"))))
            phi__unknown_field(walk, table, key, node, at_top);
        return;
    }
    size_t len = phi__walk_name(walk, key);
    if (field != NULL && (*set >> i & 1) != 0)
        phi__check_twice(walk, field, node);
    else if (!phi_json_is(node, PHI_JSON_NULL)) {
        if (field != NULL) *set |= (uint64_t)1 << i;
        phi__check_field(walk, field != NULL ? field : section, node);
    }
    phi__walk_back(walk, len);
}

/* Recursive. The depth is bounded by the depth of the tables. */
static void phi__check_table(phi__cfg_walk *walk, const phi__cfg_table *table, const phi_json *node,
                             bool at_top) {
    phi_json_iter it = phi_json_each(node);
    uint64_t set = 0;
    phi_json *child;
    if (at_top || table->open) phi__check_again(walk, table, node);
    while ((child = phi_json_next(&it)) != NULL)
        phi__check_member(walk, table, it.key, child, at_top, &set);
    static const char *const written[] = {" = ", " = ", "\": ", ": "};
    const phi__cfg_field *field;
    for (size_t i = 0; (field = phi__fields_at(table, i)) != NULL; i++) {
        if ((field->flags & PHI__REQUIRED) == 0 || (set >> i & 1) != 0) continue;
        phi__buf *words = phi__walk_words(walk);
        phi__buf_printf(words, "%s has no %s: add %s%s%s", phi__walk_text(walk), field->key,
                        walk->config->format == PHI_CONFIG_JSON ? "\"" : "", field->key,
                        written[walk->config->format & 3]);
        phi__check_example(field, words);
        size_t len = phi__walk_name(walk, phi_str_of(field->key));
        phi__walk_error_key(walk, node);
        phi__walk_back(walk, len);
    }
}

void phi__check_tree(phi_config *config) {
    phi__cfg_walk walk;
    phi__walk_begin(&walk, config);
    phi__check_table(&walk, phi__table_top(), config->root, true);
    phi__walk_end(&walk);
}
