/* reference.h - the reference of all sections and fields as Markdown, out of the tables that the
   reader checks a file with. */
#ifndef PHI_TESTS_CONFIG_REFERENCE_H
#define PHI_TESTS_CONFIG_REFERENCE_H

#include "config/config_in.h"
#include "config/config_tables_in.h"
#include "sections/sections.h"

#include <stdio.h>
#include <string.h>

enum { REFERENCE_TABLES = 64 };

typedef struct reference {
    phi__buf out;
    const phi__cfg_table *seen[REFERENCE_TABLES];
    size_t seen_count;
} reference;

static bool reference_is_new(reference *r, const phi__cfg_table *table) {
    size_t i;
    for (i = 0; i < r->seen_count; i++)
        if (r->seen[i] == table) return false;
    if (r->seen_count < REFERENCE_TABLES) r->seen[r->seen_count++] = table;
    return true;
}

static void reference_number(phi__buf *out, double value) {
    phi__buf_printf(out, value >= 1e15 || value != (double)(int64_t)value ? "%g" : "%.0f", value);
}

static void reference_bounds(phi__buf *out, const phi__cfg_field *field) {
    if (field->max > 0 && field->max < 4294967295.0) {
        phi__buf_text(out, ", ");
        reference_number(out, field->min);
        phi__buf_text(out, " to ");
        reference_number(out, field->max);
    } else if (field->min > 0) {
        phi__buf_text(out, ", at least ");
        reference_number(out, field->min);
    }
    if ((field->flags & PHI__NO_LIMIT) != 0) phi__buf_text(out, ", or \"unlimited\"");
}

static void reference_choices(phi__buf *out, const char *choices) {
    phi__cfg_choice choice = PHI_ZERO;
    unsigned n = 0;
    choice.next = choices;
    while (phi__choice_next(&choice))
        if (!choice.alias) phi__buf_printf(out, "%s`%s`", n++ > 0 ? ", " : "", choice.name);
}

static void reference_type(phi__buf *out, const phi__cfg_field *field) {
    switch (field->kind) {
    case PHI__CFG_TEXT:
        phi__buf_text(out, "text");
        if (field->choices != NULL) {
            phi__buf_text(out, ": ");
            reference_choices(out, field->choices);
        }
        break;
    case PHI__CFG_BOOL: phi__buf_text(out, "bool"); break;
    case PHI__CFG_INTEGER: phi__buf_text(out, "integer"); break;
    case PHI__CFG_NUMBER: phi__buf_text(out, "number"); break;
    case PHI__CFG_SECONDS: phi__buf_text(out, "seconds"); break;
    case PHI__CFG_CHOICE: reference_choices(out, field->choices); break;
    case PHI__CFG_BITS:
    case PHI__CFG_TEXTS:
        phi__buf_text(out, "list of texts");
        if (field->choices != NULL) {
            phi__buf_text(out, ": ");
            reference_choices(out, field->choices);
        }
        break;
    case PHI__CFG_TABLE: phi__buf_printf(out, "table `[%s]`", field->table()->name); break;
    case PHI__CFG_TABLES: phi__buf_printf(out, "tables `[[%s]]`", field->table()->name); break;
    case PHI__CFG_MAP: phi__buf_text(out, "table of texts"); break;
    case PHI__CFG_MAP_TABLES: phi__buf_text(out, "table of tables"); break;
    default: phi__buf_text(out, "value"); break;
    }
    if (field->kind == PHI__CFG_INTEGER || field->kind == PHI__CFG_NUMBER ||
        field->kind == PHI__CFG_SECONDS)
        reference_bounds(out, field);
}

static void reference_row(phi__buf *out, const phi__cfg_field *field) {
    phi__buf_printf(out, "| `%s`", field->key);
    if (field->alias != NULL) phi__buf_printf(out, " or `%s`", field->alias);
    phi__buf_text(out, " | ");
    reference_type(out, field);
    phi__buf_text(out, " | ");
    if ((field->flags & PHI__REQUIRED) != 0)
        phi__buf_text(out, "required");
    else if (strcmp(field->fallback, "null") != 0)
        phi__buf_printf(out, "`%s`", field->fallback);
    phi__buf_printf(out, " | %s", field->text);
    if ((field->flags & PHI__CFG_SECRET) != 0) phi__buf_text(out, " Never shown.");
    phi__buf_text(out, " |\n");
}

/* As deep as the tables are; each table once. */
static void reference_table(reference *r, const phi__cfg_table *table, bool is_list) {
    const phi__cfg_field *field;
    size_t i;
    if (!reference_is_new(r, table)) return;
    phi__buf_printf(&r->out,
                    "### %s%s%s\n\n%s\n\n| field | type | default | meaning |\n|-|-|-|-|\n",
                    is_list ? "[[" : "[", table->name, is_list ? "]]" : "]", table->text);
    for (i = 0; (field = phi__fields_at(table, i)) != NULL; i++) reference_row(&r->out, field);
    phi__buf_text(&r->out, "\n");
    for (i = 0; (field = phi__fields_at(table, i)) != NULL; i++)
        if (field->table != NULL)
            reference_table(r, field->table(), field->kind == PHI__CFG_TABLES);
}

/* Into a buffer of that memory. */
static void reference_write(reference *r, phi_memory *memory) {
    const phi__cfg_table *top = phi__table_top();
    const phi_config_section *const *sections = phi_config_sections();
    const phi__cfg_field *field;
    size_t i;
    memset(r, 0, sizeof *r);
    phi__buf_init(&r->out, memory);
    phi__buf_text(&r->out, "### The top of a file\n\n| key | type | meaning |\n|-|-|-|\n");
    for (i = 0; (field = phi__fields_at(top, i)) != NULL; i++) {
        phi__buf_printf(&r->out, "| `%s` | ", field->key);
        reference_type(&r->out, field);
        phi__buf_printf(&r->out, " | %s |\n", field->text);
    }
    for (i = 0; sections[i] != NULL; i++) {
        phi__buf_printf(&r->out, "| `%s` | ", sections[i]->name);
        reference_type(&r->out, sections[i]->field);
        phi__buf_printf(&r->out, " | %s |\n", sections[i]->field->text);
    }
    phi__buf_text(&r->out, "\n");
    for (i = 0; (field = phi__fields_at(top, i)) != NULL; i++)
        if (field->table != NULL)
            reference_table(r, field->table(), field->kind == PHI__CFG_TABLES);
    for (i = 0; sections[i] != NULL; i++)
        reference_table(r, sections[i]->field->table(),
                        sections[i]->field->kind == PHI__CFG_TABLES);
}

#endif
