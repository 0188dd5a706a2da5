/* config_own_in.h - phi_config, and what the files of this room share. Other rooms include only
   config_in.h. */
#ifndef PHI_CONFIG_CONFIG_OWN_IN_H
#define PHI_CONFIG_CONFIG_OWN_IN_H

#include "config/config_in.h"
#include "base/base_in.h"
#include "text/text_in.h"

/* A value that must not be shown as it is: it holds variables, or is a secret. */
typedef struct phi__cfg_raw {
    const phi_json *node;
    phi_str text;    /* as written in the file, or "****" */
    bool is_missing; /* a variable is not set, so no other problem of the value is reported */
} phi__cfg_raw;

/* A variable that the file names, and its value. */
typedef struct phi__cfg_value {
    struct phi__cfg_value *next;
    phi_str name, value;
} phi__cfg_value;

/* An entity that references can mean. In the space "models", it is an alias, and `node` is its
   value. */
typedef struct phi__cfg_entity {
    struct phi__cfg_entity *next; /* in the order of the file */
    const char *space;
    phi_str name;
    phi_str shown;        /* the name for messages: variables are not replaced */
    const phi_json *node; /* the entity's table */
    const phi__cfg_table *table;
    phi_str path;     /* such as "provider.instances[1]" */
    uint8_t visiting; /* for the search for cycles: 1 is on the path, 2 is done */
} phi__cfg_entity;

struct phi_config {
    phi_memory memory;
    phi_arena arena;
    const char *path;                          /* "" if the config was read from a text */
    phi_config_format format;                  /* the format that was read */
    const phi_config_section *const *sections; /* NULL-ended, never NULL */
    const char *(*variable_fn)(void *user_data, const char *name);
    void *user_data;
    size_t max_bytes;
    phi_json *root;
    const phi_json *provider; /* [provider], or NULL */
    phi__marks marks;
    phi__cfg_probs problems;
    phi__map raws;   /* phi__cfg_raw by node */
    phi__map values; /* phi__cfg_value by name */
    phi__cfg_value *all_values;
    phi__map entities; /* phi__cfg_entity by name */
    phi__cfg_entity *first, *last;
};

/* The place of a check: a path of names. */
typedef struct phi__cfg_walk {
    phi_config *config;
    phi__buf path;  /* such as "provider.instances[1]"; not terminated */
    phi__buf words; /* the message under construction */
} phi__cfg_walk;

PHI__FN void phi__walk_begin(phi__cfg_walk *walk, phi_config *config);
PHI__FN void phi__walk_end(phi__cfg_walk *walk);

/* Appends a name or an index to the path. Returns the old length, for phi__walk_back. */
PHI__FN size_t phi__walk_name(phi__cfg_walk *walk, phi_str name);
PHI__FN size_t phi__walk_index(phi__cfg_walk *walk, size_t index);
PHI__FN void phi__walk_back(phi__cfg_walk *walk, size_t len);

/* Returns the path, terminated, valid until it changes. Without memory, returns "". */
PHI__FN const char *phi__walk_text(phi__cfg_walk *walk);

/* Returns an empty buffer for a message. */
PHI__FN phi__buf *phi__walk_words(phi__cfg_walk *walk);

/* True if no more problems are kept, so that no message is needed. */
PHI__FN bool phi__walk_full(const phi__cfg_walk *walk);

/* Adds the message as a problem, at the node's value or at its key. */
PHI__FN void phi__walk_error(phi__cfg_walk *walk, const phi_json *node, const char *expected);
PHI__FN void phi__walk_error_key(phi__cfg_walk *walk, const phi_json *node);
PHI__FN void phi__walk_warning(phi__cfg_walk *walk, const phi_json *node, bool at_key);

/* Adds a problem that shows `value` instead of the node's whole value, which may be a secret. */
PHI__FN void phi__walk_part(phi__cfg_walk *walk, const phi_json *node, bool is_warning,
                            phi_str value);

/* Finds the text to show for a node. False: show the node's value. */
PHI__FN bool phi__raws_find(const phi_config *config, const phi_json *node, phi_str *out);

/* Hides the value of a node. False: no memory. */
PHI__FN bool phi__raws_hide(phi_config *config, const phi_json *node);

/* phi__raws_add notes the text of a node with variables, as written. phi__raws_keep copies a
   variable's value for phi__raws_mask. False: no memory. */
PHI__FN bool phi__raws_add(phi_config *config, const phi_json *node, phi_str text);
PHI__FN bool phi__raws_keep(phi_config *config, phi_str name, phi_str value);

/* Notes that a variable of a node is not set, after phi__raws_add. */
PHI__FN void phi__raws_miss(const phi_config *config, const phi_json *node);
PHI__FN bool phi__raws_is_missing(const phi_config *config, const phi_json *node);

/* Appends a name to a message: in one line, cut if it is long. */
PHI__FN void phi__raws_name(phi_str text, phi__buf *out);

/* Appends a value in one line, such as "gpt-4o" (with quotes), 5 or true. A table or an array is
   only described, as in: an empty table. */
PHI__FN void phi__raws_show(const phi_config *config, const phi_json *node, phi__buf *out);

/* ---- the steps of reading ---- */

/* config_refs.c: finds all entities. */
PHI__FN void phi__entities_collect(phi_config *config);

/* config_check.c: checks every value by its table. */
PHI__FN void phi__check_tree(phi_config *config);

/* config_refs.c: checks a reference in a field. The path is that of the field. */
PHI__FN void phi__refs_check(phi__cfg_walk *walk, const phi__cfg_field *field,
                             const phi_json *node);

/* config_refs.c: reports cycles of references. */
PHI__FN void phi__cycle_check(phi_config *config);

/* config_refs.c: checks rules between fields. */
PHI__FN void phi__rules_check(phi_config *config);

#endif
