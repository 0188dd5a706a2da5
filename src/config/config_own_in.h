/* config_own_in.h - a phi_config, and what its files share. The agents made of it see config_in.h
   alone. */
#ifndef PHI_CONFIG_CONFIG_OWN_IN_H
#define PHI_CONFIG_CONFIG_OWN_IN_H

#include "config/config_in.h"
#include "base/base_in.h"
#include "text/text_in.h"

/* A value that is not to be shown as it is: it holds variables, or is a secret. */
typedef struct phi__cfg_raw {
    const phi_json *node;
    phi_str text;    /* as written in the file, or "****" */
    bool is_missing; /* one of its variables is: nothing more is said of the value */
} phi__cfg_raw;

/* The value of a variable that the file names. */
typedef struct phi__cfg_value {
    struct phi__cfg_value *next;
    phi_str name, value;
} phi__cfg_value;

/* Something that references can mean; with the space "models": an alias, whose node is its
   value. */
typedef struct phi__cfg_entity {
    struct phi__cfg_entity *next; /* in the order of the file */
    const char *space;
    phi_str name;
    phi_str shown;        /* the name as it may be shown: variables are not replaced */
    const phi_json *node; /* its table */
    const phi__cfg_table *table;
    phi_str path;     /* "provider.instances[1]" */
    uint8_t visiting; /* of the search for cycles: 1: on the way, 2: done */
} phi__cfg_entity;

struct phi_config {
    phi_memory memory;
    phi_arena arena;
    const char *path;                          /* "" where there is none */
    phi_config_format format;                  /* that it was read as */
    const phi_config_section *const *sections; /* NULL-ended, never NULL */
    const char *(*variable_fn)(void *user_data, const char *name);
    void *user_data;
    size_t max_bytes;
    phi_json *root;
    const phi_json *provider; /* [provider], or NULL */
    phi__marks marks;
    phi__cfg_probs problems;
    phi__map raws;   /* phi__cfg_raw, by node */
    phi__map values; /* phi__cfg_value, by name */
    phi__cfg_value *all_values;
    phi__map entities; /* phi__cfg_entity, by name */
    phi__cfg_entity *first, *last;
};

/* Where a check is: the path of names so far. */
typedef struct phi__cfg_walk {
    phi_config *config;
    phi__buf path;  /* "provider.instances[1]"; not terminated */
    phi__buf words; /* of the message under way */
} phi__cfg_walk;

/* ---- config_walk.c ---- */
PHI__FN void phi__walk_begin(phi__cfg_walk *walk, phi_config *config);
PHI__FN void phi__walk_end(phi__cfg_walk *walk);

/* Adds a name or an index; the length to go back to. */
PHI__FN size_t phi__walk_name(phi__cfg_walk *walk, phi_str name);
PHI__FN size_t phi__walk_index(phi__cfg_walk *walk, size_t index);
PHI__FN void phi__walk_back(phi__cfg_walk *walk, size_t len);

/* The path, terminated, valid until it changes; "" where there is no memory. */
PHI__FN const char *phi__walk_text(phi__cfg_walk *walk);

/* A fresh buffer for a message. */
PHI__FN phi__buf *phi__walk_words(phi__cfg_walk *walk);

/* True if no further problem is kept: its words need not be made. */
PHI__FN bool phi__walk_full(const phi__cfg_walk *walk);

/* Adds the message as a problem of the node: at its value, or at its key. */
PHI__FN void phi__walk_error(phi__cfg_walk *walk, const phi_json *node, const char *expected);
PHI__FN void phi__walk_error_key(phi__cfg_walk *walk, const phi_json *node);
PHI__FN void phi__walk_warning(phi__cfg_walk *walk, const phi_json *node, bool at_key);

/* The same with a part of the value: all of it may be a secret. */
PHI__FN void phi__walk_part(phi__cfg_walk *walk, const phi_json *node, bool is_warning,
                            phi_str value);

/* ---- config_load.c ---- */

/* The text to show for a node; false: show it as it is. */
PHI__FN bool phi__raws_find(const phi_config *config, const phi_json *node, phi_str *out);

/* False: no memory. The text is kept as long as the config. */
PHI__FN bool phi__raws_hide(phi_config *config, const phi_json *node);

/* Notes the text of a node with variables; keeps a variable's value, which is copied, for
   phi__raws_mask. False: no memory. */
PHI__FN bool phi__raws_add(phi_config *config, const phi_json *node, phi_str text);
PHI__FN bool phi__raws_keep(phi_config *config, phi_str name, phi_str value);

/* A node of raws_add lacks a variable. */
PHI__FN void phi__raws_miss(const phi_config *config, const phi_json *node);
PHI__FN bool phi__raws_is_missing(const phi_config *config, const phi_json *node);

/* A name in a message: in a line, cut where it is long. */
PHI__FN void phi__raws_name(phi_str text, phi__buf *out);

/* A scalar as it may be shown, in a line: "gpt-4o" in quotes, 5, true; "a table", "an array". */
PHI__FN void phi__raws_show(const phi_config *config, const phi_json *node, phi__buf *out);

/* ---- the steps of reading ---- */

/* config_refs.c: finds all that has an id. */
PHI__FN void phi__entities_collect(phi_config *config);

/* config_check.c: every value against its table. */
PHI__FN void phi__check_tree(phi_config *config);

/* config_refs.c: a reference in a field; the path is the field's. */
PHI__FN void phi__refs_check(phi__cfg_walk *walk, const phi__cfg_field *field,
                             const phi_json *node);

/* config_refs.c */
PHI__FN void phi__cycle_check(phi_config *config);

/* config_refs.c: what single values do not show. */
PHI__FN void phi__rules_check(phi_config *config);

#endif
