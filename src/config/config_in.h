/* config_in.h - the tables of a configuration, from which everything follows: what the reader
   checks and warns about, the structs that are filled, the JSON Schema, the reference in docs/, the
   JSON of settings, and what phi_config_write writes.

   A table lists the fields of one kind of TOML table. phi__config_take checks a node against a
   table and fills the struct that the table describes. Sections of phi_tools.h have tables of the
   same kind in their phi_config_section. */
#ifndef PHI_CONFIG_CONFIG_IN_H
#define PHI_CONFIG_CONFIG_IN_H

#include "base/arena_in.h"
#include "base/buf_in.h"
#include "config/config.h"
#include "text/json_in.h"

#ifndef PHI_NO_CONFIG

typedef enum phi__config_kind {
    PHI__CONFIG_TEXT = 0, /* const char *: terminated; NULL: not set */
    PHI__CONFIG_BOOL,     /* bool */
    PHI__CONFIG_INTEGER,  /* uint8_t to uint64_t, by its size; min and max bound it */
    PHI__CONFIG_NUMBER,   /* double; the same */
    PHI__CONFIG_SECONDS,  /* uint32_t milliseconds of a number of seconds in the file */
    PHI__CONFIG_CHOICE,   /* int of `choices`; case and - or _ make no difference */
    PHI__CONFIG_TEXTS,    /* phi__config_texts: an array of texts */
    PHI__CONFIG_TABLE,    /* const phi_json *: checked against `table`; NULL: not set */
    PHI__CONFIG_TABLES,   /* const phi_json *: an array of such tables */
    PHI__CONFIG_MAP,      /* const phi_json *: a table of texts with any keys */
    PHI__CONFIG_MAP_TABLES, /* const phi_json *: a table of such tables with any keys */
    PHI__CONFIG_VALUE     /* const phi_json *: anything */
} phi__config_kind;

enum {
    PHI__CONFIG_REQUIRED = 1,
    PHI__CONFIG_SECRET = 2,    /* never shown, never written */
    PHI__CONFIG_FILE = 4,      /* a text may be "file:path" */
    PHI__CONFIG_REFERENCE = 8, /* a text may be a reference into `space` */
    PHI__CONFIG_ONLY_REFERENCE = 16, /* ... and a plain name counts as one, too */
    PHI__CONFIG_ID = 32,             /* declares an entity in `space` */
    PHI__CONFIG_PATH = 64            /* of a file or directory, for editors */
};

typedef struct phi__config_choice {
    const char *name;
    int value;
    bool alias; /* read, and not written or listed */
} phi__config_choice;

typedef struct phi__config_texts {
    const char *const *at; /* NULL-ended, in the config's arena; NULL: not set */
    size_t count;
} phi__config_texts;

struct phi__config_table;

typedef struct phi__config_field {
    const char *key;
    uint8_t kind, size;
    uint16_t flags, offset;
    const char *alias;                  /* another key of the same meaning; NULL: none */
    const phi__config_choice *choices;  /* ends with a name NULL */
    const struct phi__config_table *table;
    const char *space; /* of references and ids: "provider" */
    double min, max;   /* both 0: no bounds but the type's */
    const char *fallback; /* the default, as JSON: "50", "\"off\"", "null" */
    const char *text;     /* one sentence, for the schema and docs/configuration.md */
} phi__config_field;

/* The struct of a table begins with `uint64_t set`: bit i says that field i stood in the file. */
typedef struct phi__config_table {
    const char *name; /* "provider", for docs */
    const phi__config_field *fields;
    size_t count;
    bool open; /* other keys are texts of their own (blocks of a system prompt) */
    const char *text;
} phi__config_table;

/* ---- reading (config_take.c) ---- */

/* Fills *out, of the table's struct, from a node (NULL: nothing is set). The node was checked when
   the config was loaded: nothing is reported. Strings are the config's. */
PHI__FN void phi__config_take(const phi_config *config, const phi_json *node,
                              const phi__config_table *table, void *out);
/* The same from plain JSON, for the JSON of settings; a value that does not fit is reported into
   error. PHI_PARSE, PHI_NO_MEMORY. */

/* ---- references (config_refs.c) ---- */

/* {{type.name}} {{name}} {{%..%}} {{#id#}}; anything else is LITERAL. */
typedef struct phi__config_ref {
    enum {
        PHI__CONFIG_REF_LITERAL = 0,
        PHI__CONFIG_REF_NAME,
        PHI__CONFIG_REF_ID /* {{#id#}} */
    } kind;
    phi_str space, name; /* space: empty where it is not qualified */
    bool keep;           /* with %: an entity that exists already is used again */
} phi__config_ref;
PHI__FN phi__config_ref phi__config_refs_parse(phi_str text);

/* The table that a reference means, checked when the config was loaded; NULL: it is a literal, or
   (with errors) there is none. `space`: of the field. */
PHI__FN const phi_json *phi__config_refs_find(const phi_config *config, const char *space,
                                              const char *text);

/* ---- problems (config_problems.c) ---- */

/* A list of problems, of a config or of a phi_agents. */
typedef struct phi__config_problems phi__config_problems;
/* `node`: of the value, for its place and its text as it stands in the file. Parts that are NULL
   are left out. */
PHI__FN void phi__config_problems_add(phi__config_problems *problems, const phi_config *config,
                                      const phi_json *node, bool is_warning, phi_status status,
                                      const char *field, const char *expected, const char *words);

#endif
#endif
