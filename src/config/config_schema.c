/* config_schema.c - writes a JSON Schema from the tables. The schema accepts what the reader
   accepts: variables in place of numbers and bools, and choices in any case. */
#include "config/config_in.h"

enum { PHI__CFG_TABLES_MOST = 128 };

typedef struct phi__cfg_schema {
    phi__buf out;
    const phi__cfg_table *tables[PHI__CFG_TABLES_MOST]; /* tables with a definition */
    size_t count, written;
} phi__cfg_schema;

static void phi__cfg_schema_text(phi__cfg_schema *s, const char *key, const char *text) {
    phi__json_write_key(&s->out, phi_str_of(key));
    phi__json_write_str(&s->out, phi_str_of(text));
}

/* Writes a reference such as {"$ref":"#/$defs/agent.profile"}. */
static void phi__cfg_schema_ref(phi__cfg_schema *s, const phi__cfg_table *table) {
    size_t i = 0;
    while (i < s->count && s->tables[i] != table) i++;
    if (i == s->count && i < PHI__CFG_TABLES_MOST) s->tables[s->count++] = table;
    phi__buf_printf(&s->out, "{\"$ref\":\"#/$defs/%s\"}", table->name);
}

/* Writes the schema of a variable, which may replace any value. */
static void phi__cfg_schema_variable(phi__cfg_schema *s) {
    phi__buf_text(&s->out, "{\"type\":\"string\",\"pattern\":\"\\\\$\\\\{.+\\\\}\"}");
}

static void phi__cfg_schema_bound(phi__cfg_schema *s, const char *key, double bound) {
    phi__json_write_key(&s->out, phi_str_of(key));
    if (bound == (double)(int64_t)bound)
        phi__json_number_put_i64(&s->out, (int64_t)bound);
    else
        phi__json_number_put_double(&s->out, bound);
}

static void phi__cfg_schema_number(phi__cfg_schema *s, const phi__cfg_field *field) {
    bool whole = field->kind == PHI__CFG_INTEGER;
    phi__buf_printf(&s->out, "\"anyOf\":[{\"type\":\"%s\"", whole ? "integer" : "number");
    phi__cfg_schema_bound(s, "minimum", field->min);
    if (field->max > 0)
        phi__cfg_schema_bound(s, "maximum", field->max);
    else if (field->kind == PHI__CFG_SECONDS)
        phi__cfg_schema_bound(s, "maximum", phi__fields_most(field));
    phi__buf_text(&s->out, "},");
    if ((field->flags & PHI__NO_LIMIT) != 0) phi__buf_text(&s->out, "{\"const\":\"unlimited\"},");
    phi__cfg_schema_variable(s);
    phi__buf_char(&s->out, ']');
}

/* Writes the names that editors offer, then a pattern of all names that are read. */
static void phi__cfg_schema_choice(phi__cfg_schema *s, const phi__cfg_field *field) {
    phi__cfg_choice choice = PHI_ZERO;
    const char *between = "";
    phi__buf_text(&s->out, "\"anyOf\":[{\"enum\":[");
    choice.next = field->choices;
    while (phi__choice_next(&choice)) {
        if (choice.alias) continue;
        phi__json_write_comma(&s->out);
        phi__json_write_str(&s->out, phi_str_of(choice.name));
    }
    phi__buf_text(&s->out, "]},{\"type\":\"string\"");
    if ((field->flags & PHI__CFG_LENIENT) == 0) {
        phi__buf_text(&s->out, ",\"pattern\":\"^(?:");
        memset(&choice, 0, sizeof choice);
        choice.next = field->choices;
        while (phi__choice_next(&choice)) {
            phi__buf_text(&s->out, between);
            /* Write a pattern of one name: in any case, with either - or _. */
            for (const char *name = choice.name; *name != '\0'; name++) {
                char c = *name;
                if (c >= 'a' && c <= 'z')
                    phi__buf_printf(&s->out, "[%c%c]", c, (char)(c - 'a' + 'A'));
                else if (c == '_')
                    phi__buf_text(&s->out, "[-_]");
                else
                    phi__buf_char(&s->out, c);
            }
            between = "|";
        }
        phi__buf_text(&s->out, ")$|\\\\$\\\\{.+\\\\}\"");
    }
    phi__buf_text(&s->out, "}]");
}

static void phi__cfg_schema_texts(phi__cfg_schema *s, const phi__cfg_field *field) {
    phi__buf_text(&s->out, "\"type\":\"array\",\"items\":{");
    if (field->choices != NULL)
        phi__cfg_schema_choice(s, field);
    else
        phi__buf_text(&s->out, "\"type\":\"string\"");
    phi__buf_char(&s->out, '}');
}

/* Writes the members that say which values a field accepts. */
static void phi__cfg_schema_kind(phi__cfg_schema *s, const phi__cfg_field *field) {
    switch (field->kind) {
    case PHI__CFG_TEXT:
        if (field->choices != NULL)
            phi__cfg_schema_choice(s, field);
        else
            phi__buf_text(&s->out, "\"type\":\"string\"");
        break;
    case PHI__CFG_BOOL:
        phi__buf_text(&s->out, "\"anyOf\":[{\"type\":\"boolean\"},");
        phi__cfg_schema_variable(s);
        phi__buf_char(&s->out, ']');
        break;
    case PHI__CFG_INTEGER:
    case PHI__CFG_NUMBER:
    case PHI__CFG_SECONDS: phi__cfg_schema_number(s, field); break;
    case PHI__CFG_CHOICE: phi__cfg_schema_choice(s, field); break;
    case PHI__CFG_BITS:
    case PHI__CFG_TEXTS: phi__cfg_schema_texts(s, field); break;
    case PHI__CFG_TABLE:
        phi__buf_text(&s->out, "\"allOf\":[");
        phi__cfg_schema_ref(s, field->table());
        phi__buf_char(&s->out, ']');
        break;
    case PHI__CFG_TABLES:
        phi__buf_text(&s->out, "\"type\":\"array\",\"items\":");
        phi__cfg_schema_ref(s, field->table());
        break;
    case PHI__CFG_MAP:
        phi__buf_text(&s->out,
                      "\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}");
        break;
    case PHI__CFG_MAP_TABLES:
        phi__buf_text(&s->out, "\"type\":\"object\",\"additionalProperties\":");
        phi__cfg_schema_ref(s, field->table());
        break;
    default: break;
    }
}

static void phi__cfg_schema_field(phi__cfg_schema *s, const phi__cfg_field *field) {
    phi__json_write_key(&s->out, phi_str_of(field->key));
    phi__buf_char(&s->out, '{');
    phi__cfg_schema_kind(s, field);
    phi__cfg_schema_text(s, "description", field->text);
    if (field->fallback != NULL && strcmp(field->fallback, "null") != 0) {
        phi__json_write_key(&s->out, PHI__LIT("default"));
        phi__buf_text(&s->out, field->fallback);
    }
    if ((field->flags & PHI__CFG_SECRET) != 0) phi__buf_text(&s->out, ",\"writeOnly\":true");
    phi__buf_char(&s->out, '}');
    if (field->alias == NULL) return;
    phi__json_write_key(&s->out, phi_str_of(field->alias));
    phi__buf_char(&s->out, '{');
    phi__cfg_schema_kind(s, field);
    phi__buf_printf(&s->out, ",\"description\":\"The same as %s.\"}", field->key);
}

static void phi__cfg_schema_required(phi__cfg_schema *s, const phi__cfg_table *table) {
    const phi__cfg_field *field;
    size_t count = 0;
    for (size_t i = 0; (field = phi__fields_at(table, i)) != NULL; i++) {
        if ((field->flags & PHI__REQUIRED) == 0) continue;
        if (count++ == 0) phi__buf_text(&s->out, ",\"required\":[");
        phi__json_write_comma(&s->out);
        phi__json_write_str(&s->out, phi_str_of(field->key));
    }
    if (count > 0) phi__buf_char(&s->out, ']');
}

/* Writes the members of a table's schema. `sections` is NULL-ended, or is NULL if the table is not
   the top. */
static void phi__cfg_schema_table(phi__cfg_schema *s, const phi__cfg_table *table,
                                  const phi_config_section *const *sections) {
    const phi__cfg_field *field;
    phi__cfg_schema_text(s, "type", "object");
    phi__cfg_schema_text(s, "description", table->text);
    phi__json_write_key(&s->out, PHI__LIT("properties"));
    phi__buf_char(&s->out, '{');
    for (size_t i = 0; (field = phi__fields_at(table, i)) != NULL; i++)
        phi__cfg_schema_field(s, field);
    for (size_t i = 0; sections != NULL && sections[i] != NULL; i++)
        phi__cfg_schema_field(s, sections[i]->field);
    if (table == phi__table_top())
        phi__buf_text(&s->out, ",\"game\":{\"description\":\"The host's own table.\"}");
    phi__buf_char(&s->out, '}');
    phi__cfg_schema_required(s, table);
    if (!table->open) phi__buf_text(&s->out, ",\"patternProperties\":{\"^x_\":{}}");
    phi__json_write_key(&s->out, PHI__LIT("additionalProperties"));
    phi__buf_text(&s->out, table->open ? "{\"type\":\"string\"}" : "false");
}

/* ---- public ---- */

PHI_API phi_status phi_config_schema(const phi_config_section *const *sections, phi_arena *arena,
                                     phi_str *out) {
    phi__cfg_schema *s;
    if (arena == NULL || out == NULL) return PHI_BAD_ARG;
    *out = PHI__LIT("");
    s = (phi__cfg_schema *)phi__arena_zero(arena, sizeof *s);
    if (s == NULL) return PHI_NO_MEMORY;
    phi__buf_init(&s->out, arena->memory);
    phi__buf_char(&s->out, '{');
    phi__cfg_schema_text(s, "$schema", "https://json-schema.org/draft/2020-12/schema");
    phi__cfg_schema_text(s, "title", "phi configuration");
    phi__cfg_schema_table(s, phi__table_top(), sections);
    /* A definition may refer to more tables, which are appended and defined in turn. */
    phi__json_write_key(&s->out, PHI__LIT("$defs"));
    phi__buf_char(&s->out, '{');
    for (; s->written < s->count; s->written++) {
        const phi__cfg_table *table = s->tables[s->written];
        phi__json_write_key(&s->out, phi_str_of(table->name));
        phi__buf_char(&s->out, '{');
        phi__cfg_schema_table(s, table, NULL);
        phi__buf_char(&s->out, '}');
    }
    phi__buf_char(&s->out, '}');
    phi__buf_char(&s->out, '}');
    bool good = !s->out.failed && phi__arena_str(arena, phi__buf_str(&s->out), out);
    phi__buf_free(&s->out);
    return good ? PHI_OK : PHI_NO_MEMORY;
}
