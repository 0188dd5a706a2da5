/* config_check.c - every value against the field of its table: types, bounds, choices,
   missing fields, and fields that are given twice. */
#include "config/config_own_in.h"
#include "config/config_section_in.h"
#include "config/config_tables_in.h"

#include <stdio.h>

static void phi__config_check_table(phi__config_walk *walk, const phi__config_table *table,
                                    const phi_json *node, bool at_top);

/* A text without a field. */
static const phi__config_field phi__config_check_plain = {
    "", PHI__CONFIG_TEXT, 0, 0, 0, NULL, NULL, NULL, NULL, 0, 0, "null", ""};

/* ---- words ---- */

/* Invalid value for {path}: {value} (expected {expected}){hint} */
static void phi__config_check_invalid(phi__config_walk *walk, const phi__config_field *field,
                                      const phi_json *node, const char *expected,
                                      const char *hint) {
    phi__buf *words;
    if ((field->flags & PHI__CONFIG_SECRET) != 0 && !phi_json_is(node, PHI_JSON_OBJECT) &&
        !phi_json_is(node, PHI_JSON_ARRAY) && !phi__config_raws_hide(walk->config, node))
        walk->config->problems.no_memory = true;
    words = phi__config_path_words(walk);
    phi__buf_printf(words, "Invalid value for %s: ", phi__config_path_text(walk));
    phi__config_raws_show(walk->config, node, words);
    phi__buf_printf(words, " (expected %s)%s", expected, hint);
    if ((field->flags & PHI__CONFIG_LENIENT) != 0 && phi_json_is(node, PHI_JSON_STRING)) {
        phi__buf_printf(words, "; %s is used", field->fallback);
        phi__config_path_warning(walk, node);
    } else
        phi__config_path_error(walk, node, expected);
}

/* A bound as people write it: without ".0". */
static void phi__config_check_bound(char *out, size_t size, double d) {
    snprintf(out, size, d >= 1e15 || d != (double)(int64_t)d ? "%g" : "%.0f", d);
}

static void phi__config_check_bounds(const phi__config_field *field, const char *what, char *out,
                                     size_t size) {
    char low[32], high[32];
    const char *none = (field->flags & PHI__CONFIG_NO_LIMIT) != 0 ? ", or \"unlimited\"" : "";
    phi__config_check_bound(low, sizeof low, field->min);
    phi__config_check_bound(high, sizeof high, field->max);
    if (field->max > 0 && field->min > 0 && field->min < 0.0001)
        snprintf(out, size, "%s above 0, at most %s%s", what, high, none);
    else if (field->max > 0)
        snprintf(out, size, "%s from %s to %s%s", what, low, high, none);
    else
        snprintf(out, size, "%s of at least %s%s", what, low, none);
}

/* ---- values ---- */

static void phi__config_check_as(phi_json *node, uint32_t kind, phi__json_value value) {
    node->meta = (node->meta & ~0xffu) | kind;
    node->v = value;
    node->len = 0;
}

/* A text that was a variable becomes the number or bool that it says. */
static void phi__config_check_convert(phi__config_walk *walk, const phi__config_field *field,
                                      phi_json *node) {
    phi_str text = phi__str_trim(phi__json_text_of(node)), raw;
    const char *bad, *end;
    phi__json_number n = PHI_ZERO;
    phi__json_value none = PHI_ZERO;
    if (!phi_json_is(node, PHI_JSON_STRING) || !phi__config_raws_find(walk->config, node, &raw))
        return;
    if (field->kind == PHI__CONFIG_BOOL) {
        if (phi__str_is_nocase(text, "true") || phi__str_is_nocase(text, "false"))
            phi__config_check_as(
                node, phi__str_is_nocase(text, "true") ? PHI__JSON_TRUE : PHI__JSON_FALSE, none);
        return;
    }
    end = phi__json_number_read(text.at, text.at + text.len, &n, &bad);
    if (end != NULL && end == text.at + text.len && n.kind != 0)
        phi__config_check_as(node, n.kind, n.v);
}

static bool phi__config_check_no_limit(const phi__config_field *field, const phi_json *node) {
    return (field->flags & PHI__CONFIG_NO_LIMIT) != 0 && phi_json_is(node, PHI_JSON_STRING) &&
           phi__str_is_nocase(phi__json_text_of(node), "unlimited");
}

static void phi__config_check_number(phi__config_walk *walk, const phi__config_field *field,
                                     const phi_json *node) {
    double value = phi_json_num(node, 0), most = phi__config_fields_most(field);
    bool whole = field->kind == PHI__CONFIG_INTEGER;
    char expected[120];
    const char *what = whole                                ? "an integer"
                       : field->kind == PHI__CONFIG_SECONDS ? "a number of seconds"
                                                            : "a number";
    const char *hint = "";
    if (phi__config_check_no_limit(field, node)) return;
    if (phi_json_is(node, PHI_JSON_NUMBER) && (!whole || phi_json_is(node, PHI_JSON_INTEGER)) &&
        value >= field->min && value <= (field->max > 0 ? field->max : most))
        return;
    if (phi_json_is(node, PHI_JSON_NUMBER) && field->max <= 0 && value > most) {
        phi__config_field bounded = *field;
        bounded.max = most;
        phi__config_check_bounds(&bounded, what, expected, sizeof expected);
    } else
        phi__config_check_bounds(field, what, expected, sizeof expected);
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
    phi__config_check_invalid(walk, field, node, expected, hint);
}

static void phi__config_check_text(phi__config_walk *walk, const phi__config_field *field,
                                   const phi_json *node) {
    phi_str text = phi__json_text_of(node);
    bool is_id = (field->flags & (PHI__CONFIG_ID | PHI__CONFIG_NAME)) != 0;
    if (!phi_json_is(node, PHI_JSON_STRING)) {
        bool scalar = phi_json_is(node, PHI_JSON_NUMBER) || phi_json_is(node, PHI_JSON_BOOL);
        phi__config_check_invalid(walk, field, node, "a text",
                                  scalar ? ": write it in quotes" : "");
        return;
    }
    if (text.len > 0 && memchr(text.at, 0, text.len) != NULL) {
        phi__config_check_invalid(walk, field, node, "a text without the character U+0000", "");
        return;
    }
    if ((is_id || (field->flags & PHI__CONFIG_ONLY_REFERENCE) != 0) &&
        phi__str_trim(text).len == 0) {
        phi__config_check_invalid(walk, field, node, "a name", "");
        return;
    }
    if ((field->flags & PHI__CONFIG_ID) != 0) {
        phi__config_ref ref = phi__config_refs_parse(text);
        if (ref.kind == PHI__CONFIG_REF_LITERAL && phi__str_starts(text, "{{"))
            phi__config_check_invalid(walk, field, node, "a name, as \"{{name}}\"", "");
        return;
    }
    if (field->choices != NULL &&
        phi__config_take_choice(field->choices, phi__json_text_of(node)) == NULL)
        phi__config_check_invalid(walk, field, node, "the name of a strategy", "");
    if ((field->flags & (PHI__CONFIG_REFERENCE | PHI__CONFIG_ONLY_REFERENCE)) != 0)
        phi__config_refs_check(walk, field, node);
}

/* ---- choices ---- */

static void phi__config_check_choice(phi__config_walk *walk, const phi__config_field *field,
                                     const phi_json *node, const char *what) {
    phi_str text = phi__json_text_of(node);
    const phi__config_choice *choice = field->choices, *near = NULL;
    unsigned best = PHI__CONFIG_FAR + 1, count = 0;
    char hint[80] = "";
    phi__buf expected;
    if (phi_json_is(node, PHI_JSON_STRING) && phi__config_take_choice(choice, text) != NULL) return;
    phi__buf_init(&expected, &walk->config->memory);
    phi__buf_text(&expected, what);
    for (; choice->name[0] != '\0'; choice++) {
        unsigned d = phi__config_nearest_distance(text, phi_str_of(choice->name));
        if (text.len > 0 && d < best) best = d, near = choice;
        if (!choice->alias) phi__buf_printf(&expected, "%s%s", count++ ? ", " : "", choice->name);
    }
    phi__buf_char(&expected, '\0');
    for (choice = field->choices; near != NULL && near->alias && choice->name[0] != 0; choice++)
        if (!choice->alias && choice->value == near->value) near = choice;
    if (near != NULL) snprintf(hint, sizeof hint, "; did you mean \"%s\"?", near->name);
    if (expected.failed)
        walk->config->problems.no_memory = true;
    else
        phi__config_check_invalid(walk, field, node, expected.at, hint);
    phi__buf_free(&expected);
}

/* An item of a list: of choices, of references, or any text. */
static void phi__config_check_item(phi__config_walk *walk, const phi__config_field *field,
                                   const phi_json *item) {
    if (phi__config_raws_is_missing(walk->config, item)) return;
    if (field->choices != NULL)
        phi__config_check_choice(walk, field, item, "one of ");
    else
        phi__config_check_text(walk, field, item);
}

static void phi__config_check_texts(phi__config_walk *walk, const phi__config_field *field,
                                    const phi_json *node) {
    phi_json_iter it = phi_json_each(node);
    const phi_json *item;
    size_t i = 0;
    if (!phi_json_is(node, PHI_JSON_ARRAY)) {
        phi__config_check_invalid(
            walk, field, node, "an array of texts",
            phi_json_is(node, PHI_JSON_STRING) ? ": write it in brackets, as [\"a\"]" : "");
        return;
    }
    while ((item = phi_json_next(&it)) != NULL) {
        size_t len = phi__config_path_index(walk, i++);
        phi__config_check_item(walk, field, item);
        phi__config_path_back(walk, len);
    }
}

/* ---- keys that are given twice ---- */

const phi__config_field *phi__config_check_section(const phi_config *config, phi_str key) {
    size_t i;
    for (i = 0; config->sections != NULL && config->sections[i] != NULL; i++)
        if (phi__str_is(key, config->sections[i]->name)) return config->sections[i]->field;
    return NULL;
}

/* The key, or its alias, is there a second time. */
static void phi__config_check_twice(phi__config_walk *walk, const phi__config_field *field,
                                    const phi_json *node) {
    phi__buf *words = phi__config_path_words(walk);
    phi__buf_add_str(words, phi_str_of(phi__config_path_text(walk)));
    phi__buf_text(words, " is given twice: ");
    if (field->alias == NULL)
        phi__buf_text(words, "keep one of the two");
    else
        phi__buf_printf(words, "%s and %s mean the same; keep one of the two", field->key,
                        field->alias);
    phi__config_path_error_key(walk, node);
}

/* Whether a key of a table without such a field means something: a section, or a text. */
static bool phi__config_check_takes(const phi_config *config, const phi__config_table *table,
                                    phi_str key) {
    return phi__config_fields_find(table, key, NULL) == NULL &&
           (table->open || phi__config_check_section(config, key) != NULL);
}

/* Members of the same key that no field has; JSON alone reads such a text. table NULL: it has no
   fields. */
static void phi__config_check_again(phi__config_walk *walk, const phi__config_table *table,
                                    const phi_json *node) {
    phi_json_iter it = phi_json_each(node);
    const phi_json *other;
    phi__map seen;
    if (walk->config->format != PHI_CONFIG_JSON || it.left < 2) return;
    phi__map_init(&seen, &walk->config->memory);
    if (!phi__map_reserve(&seen, it.left)) walk->config->problems.no_memory = true;
    while (seen.cap > 0 && phi_json_next(&it) != NULL) {
        uint64_t hash = phi__map_hash((uint64_t)(uintptr_t)node, it.key);
        size_t probe = 0, len;
        if (table != NULL && !phi__config_check_takes(walk->config, table, it.key)) continue;
        while ((other = (const phi_json *)phi__map_each(&seen, hash, &probe)) != NULL)
            if (phi_str_equal(phi__str(other->key, phi__json_key_len(other)), it.key)) break;
        if (other == NULL) {
            phi__map_add(&seen, hash, it.at);
            continue;
        }
        len = phi__config_path_name(walk, it.key);
        phi__config_check_twice(walk, &phi__config_check_plain, it.at);
        phi__config_path_back(walk, len);
    }
    phi__map_free(&seen);
}

/* ---- tables ---- */

/* ": its fields are a, b, c", the first few. */
static const char *phi__config_check_fields(const phi__config_table *table, char *out,
                                            size_t size) {
    const phi__config_field *field;
    size_t i, n = (size_t)snprintf(out, size, ": its fields are ");
    for (i = 0; i < 4 && (field = phi__config_fields_at(table, i)) != NULL && n < size; i++)
        n += (size_t)snprintf(out + n, size - n, "%s%s", i > 0 ? ", " : "", field->key);
    if (n < size && phi__config_fields_at(table, i) != NULL) snprintf(out + n, size - n, "...");
    return out;
}

static void phi__config_check_one_table(phi__config_walk *walk, const phi__config_field *field,
                                        const phi_json *node) {
    char expected[120], several[240];
    const char *hint = "";
    if (phi_json_is(node, PHI_JSON_OBJECT)) {
        phi__config_check_table(walk, field->table(), node, false);
        return;
    }
    if (walk->config->format == PHI_CONFIG_TOML)
        snprintf(expected, sizeof expected, "a table, as [%s]", field->table()->name);
    else
        snprintf(expected, sizeof expected, "a table of fields");
    if (strcmp(field->key, "profile") == 0 && phi_json_is(node, PHI_JSON_STRING))
        hint = ": a reference to a profile is written agent_profile = \"{{name}}\"";
    if (hint[0] == '\0' && !phi_json_is(node, PHI_JSON_ARRAY))
        hint = phi__config_check_fields(field->table(), several, sizeof several);
    if (phi_json_is(node, PHI_JSON_ARRAY) && walk->config->format == PHI_CONFIG_TOML) {
        bool alone = field->table()->count == 1 && field->table()->base == NULL;
        hint = ": write single brackets";
        snprintf(several, sizeof several,
                 alone ? ": write each as [[%s.instances]]"
                       : ": write single brackets, or [[%s.instances]] for one of several",
                 field->table()->name);
        if (phi__config_fields_find(field->table(), PHI__LIT("instances"), NULL) != NULL)
            hint = several;
    }
    if (phi_json_is(node, PHI_JSON_STRING) && walk->config->format == PHI_CONFIG_YAML &&
        phi__str_find(phi__json_text_of(node), 0, ":") != SIZE_MAX)
        hint = ": write a blank behind the colon";
    phi__config_check_invalid(walk, field, node, expected, hint);
}

static void phi__config_check_tables(phi__config_walk *walk, const phi__config_field *field,
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
        phi__config_check_invalid(walk, field, node, expected,
                                  !phi_json_is(node, PHI_JSON_OBJECT) ? ""
                                  : toml                              ? ": write double brackets"
                                         : ": put the table into an array");
        return;
    }
    while ((item = phi_json_next(&it)) != NULL) {
        size_t len = phi__config_path_index(walk, i++);
        if (phi_json_is(item, PHI_JSON_OBJECT))
            phi__config_check_table(walk, field->table(), item, false);
        else
            phi__config_check_invalid(walk, field, item, "a table of fields",
                                      walk->config->format == PHI_CONFIG_TOML ? each : "");
        phi__config_path_back(walk, len);
    }
}

/* A key of any name. */
static void phi__config_check_key(phi__config_walk *walk, phi_str key, const phi_json *node) {
    phi__buf *words = phi__config_path_words(walk);
    if (key.len == 0 || memchr(key.at, 0, key.len) == NULL) return;
    phi__buf_printf(words, "%s: expected a name without the character U+0000",
                    phi__config_path_text(walk));
    phi__config_path_error_key(walk, node);
}

/* A table with any keys: of texts, or of tables. */
static void phi__config_check_map(phi__config_walk *walk, const phi__config_field *field,
                                  const phi_json *node) {
    phi_json_iter it = phi_json_each(node);
    const phi_json *item;
    if (!phi_json_is(node, PHI_JSON_OBJECT)) {
        phi__config_check_invalid(
            walk, field, node,
            field->kind == PHI__CONFIG_MAP ? "a table of texts" : "a table of tables", "");
        return;
    }
    phi__config_check_again(walk, NULL, node);
    while ((item = phi_json_next(&it)) != NULL) {
        size_t len = phi__config_path_name(walk, it.key);
        phi__config_check_key(walk, it.key, item);
        if (field->kind == PHI__CONFIG_MAP)
            phi__config_check_text(walk, field, item);
        else if (phi_json_is(item, PHI_JSON_OBJECT))
            phi__config_check_table(walk, field->table(), item, false);
        else
            phi__config_check_invalid(walk, field, item, "a table of fields", "");
        phi__config_path_back(walk, len);
    }
}

/* Of any kind. With a table: of a table in the place of the value. */
static void phi__config_check_value(phi__config_walk *walk, const phi__config_field *field,
                                    const phi_json *node) {
    phi_json_iter it = phi_json_each(node);
    const phi_json *item;
    size_t i = 0;
    if (phi_json_is(node, PHI_JSON_STRING))
        phi__config_check_text(walk, &phi__config_check_plain, node);
    if (field->table != NULL && phi_json_is(node, PHI_JSON_OBJECT))
        phi__config_check_table(walk, field->table(), node, false);
    while (phi_json_is(node, PHI_JSON_ARRAY) && (item = phi_json_next(&it)) != NULL) {
        size_t len = phi__config_path_index(walk, i++);
        if (phi_json_is(item, PHI_JSON_STRING))
            phi__config_check_text(walk, &phi__config_check_plain, item);
        phi__config_path_back(walk, len);
    }
}

static const char *phi__config_check_bool_hint(const phi_json *node) {
    phi_str text = phi__json_text_of(node);
    if (!phi_json_is(node, PHI_JSON_STRING)) return "";
    if (phi__str_is_nocase(text, "yes") || phi__str_is_nocase(text, "on")) return ": write true";
    if (phi__str_is_nocase(text, "no") || phi__str_is_nocase(text, "off")) return ": write false";
    return phi__str_is_nocase(text, "true") || phi__str_is_nocase(text, "false")
               ? ": write it without quotes"
               : "";
}

static void phi__config_check_field(phi__config_walk *walk, const phi__config_field *field,
                                    phi_json *node) {
    if (phi__config_raws_is_missing(walk->config, node)) return;
    if (field->kind == PHI__CONFIG_BOOL || field->kind == PHI__CONFIG_INTEGER ||
        field->kind == PHI__CONFIG_NUMBER || field->kind == PHI__CONFIG_SECONDS)
        phi__config_check_convert(walk, field, node);
    switch (field->kind) {
    case PHI__CONFIG_TEXT: phi__config_check_text(walk, field, node); break;
    case PHI__CONFIG_BOOL:
        if (!phi_json_is(node, PHI_JSON_BOOL))
            phi__config_check_invalid(walk, field, node, "true or false",
                                      phi__config_check_bool_hint(node));
        break;
    case PHI__CONFIG_INTEGER:
    case PHI__CONFIG_NUMBER:
    case PHI__CONFIG_SECONDS: phi__config_check_number(walk, field, node); break;
    case PHI__CONFIG_CHOICE: phi__config_check_choice(walk, field, node, "one of "); break;
    case PHI__CONFIG_TEXTS: phi__config_check_texts(walk, field, node); break;
    case PHI__CONFIG_TABLE: phi__config_check_one_table(walk, field, node); break;
    case PHI__CONFIG_TABLES: phi__config_check_tables(walk, field, node); break;
    case PHI__CONFIG_MAP:
    case PHI__CONFIG_MAP_TABLES: phi__config_check_map(walk, field, node); break;
    case PHI__CONFIG_VALUE: phi__config_check_value(walk, field, node); break;
    default: break;
    }
}

/* ---- members ---- */

/* A key that no field has, of a table that takes texts by any name. */
static void phi__config_check_open(phi__config_walk *walk, phi_str key, const phi_json *node) {
    size_t len = phi__config_path_name(walk, key);
    if (!phi_json_is(node, PHI_JSON_NULL))
        phi__config_check_text(walk, &phi__config_check_plain, node);
    phi__config_path_back(walk, len);
}

/* A value to write, for a field that is missing. */
static void phi__config_check_example(const phi__config_field *field, phi__buf *words) {
    if ((field->flags & PHI__CONFIG_ID) != 0)
        phi__buf_text(words, "\"{{name}}\"");
    else if (field->space != NULL && strcmp(field->space, "system_prompt_strategy") == 0)
        phi__buf_text(words, "\"agent\", or \"minimal\"");
    else if (field->kind == PHI__CONFIG_TEXTS && (field->flags & PHI__CONFIG_PATH) != 0)
        phi__buf_printf(words, "[\"skills\"], with the directories that there are");
    else if (field->kind == PHI__CONFIG_TEXTS && field->space != NULL)
        phi__buf_printf(words, "[\"{{%s.name}}\"], with ids of [[%s.instances]]", field->space,
                        field->space);
    else if (field->kind == PHI__CONFIG_CHOICE)
        phi__buf_printf(words, "\"%s\"", field->choices[0].name);
    else if (field->space != NULL && (field->flags & PHI__CONFIG_NAME) == 0)
        phi__buf_printf(words, "\"{{%s.name}}\"", field->space);
    else
        phi__buf_text(words, field->kind == PHI__CONFIG_TEXTS ? "[\"...\"]" : "\"...\"");
}

static void phi__config_check_required(phi__config_walk *walk, const phi__config_table *table,
                                       const phi_json *node, uint64_t set) {
    static const char *const written[] = {" = ", " = ", "\": ", ": "};
    const phi__config_field *field;
    size_t i;
    for (i = 0; (field = phi__config_fields_at(table, i)) != NULL; i++) {
        phi__buf *words;
        size_t len;
        if ((field->flags & PHI__CONFIG_REQUIRED) == 0 || (set >> i & 1) != 0) continue;
        words = phi__config_path_words(walk);
        phi__buf_printf(words, "%s has no %s: add %s%s%s", phi__config_path_text(walk), field->key,
                        walk->config->format == PHI_CONFIG_JSON ? "\"" : "", field->key,
                        written[walk->config->format & 3]);
        phi__config_check_example(field, words);
        len = phi__config_path_name(walk, phi_str_of(field->key));
        phi__config_path_error_key(walk, node);
        phi__config_path_back(walk, len);
    }
}

/* What the host keeps in the file for itself: [game], and x_ names in every table. */
static bool phi__config_check_of_host(phi_str key, bool at_top) {
    return phi__str_starts(key, "x_") || (at_top && phi__str_is(key, "game"));
}

static void phi__config_check_member(phi__config_walk *walk, const phi__config_table *table,
                                     phi_str key, phi_json *node, bool at_top, uint64_t *set) {
    size_t i = 0, len;
    const phi__config_field *field = phi__config_fields_find(table, key, &i);
    const phi__config_field *section =
        at_top && field == NULL ? phi__config_check_section(walk->config, key) : NULL;
    if (field == NULL && section == NULL) {
        if (table->open)
            phi__config_check_open(walk, key, node);
        else if (!phi__config_check_of_host(key, at_top))
            phi__config_unknown_field(walk, table, key, node, at_top);
        return;
    }
    len = phi__config_path_name(walk, key);
    if (field != NULL && (*set >> i & 1) != 0)
        phi__config_check_twice(walk, field, node);
    else if (!phi_json_is(node, PHI_JSON_NULL)) {
        if (field != NULL) *set |= (uint64_t)1 << i;
        phi__config_check_field(walk, field != NULL ? field : section, node);
    }
    phi__config_path_back(walk, len);
}

/* As deep as the tables are. */
static void phi__config_check_table(phi__config_walk *walk, const phi__config_table *table,
                                    const phi_json *node, bool at_top) {
    phi_json_iter it = phi_json_each(node);
    uint64_t set = 0;
    phi_json *child;
    if (at_top || table->open) phi__config_check_again(walk, table, node);
    while ((child = phi_json_next(&it)) != NULL)
        phi__config_check_member(walk, table, it.key, child, at_top, &set);
    phi__config_check_required(walk, table, node, set);
}

void phi__config_check_tree(phi_config *config) {
    phi__config_walk walk;
    phi__config_path_begin(&walk, config);
    phi__config_check_table(&walk, phi__config_tables_top(), config->root, true);
    phi__config_path_end(&walk);
}
