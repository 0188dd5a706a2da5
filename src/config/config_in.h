/* config_in.h - the tables of a configuration. They define the checks and warnings of the reader,
   the structs that it fills, the JSON Schema, the reference in docs/, and the output of
   phi_config_write. The JSON of settings has its own tables (config_json.c).

   A table lists the fields of one kind of TOML table. phi__cfg_take reads a node by a table and
   fills the table's struct. Sections of phi_tools.h have such tables in their
   phi_config_section. */
#ifndef PHI_CONFIG_CONFIG_IN_H
#define PHI_CONFIG_CONFIG_IN_H

#include "agent/profile.h"
#include "base/base_in.h"
#include "config/config.h"
#include "config/config_agents.h"
#include "loop/tool_source.h"
#include "system/system_in.h"
#include "text/text_in.h"

typedef enum phi__cfg_kind {
    PHI__CFG_TEXT = 0,   /* const char *: terminated; NULL: not set */
    PHI__CFG_BOOL,       /* bool */
    PHI__CFG_INTEGER,    /* uint8_t to uint64_t or int, by its size */
    PHI__CFG_NUMBER,     /* double */
    PHI__CFG_SECONDS,    /* uint32_t milliseconds; the file has seconds */
    PHI__CFG_CHOICE,     /* int or enum of `choices`; ignores case, - and _ */
    PHI__CFG_TEXTS,      /* phi__cfg_texts, or the same two members in another struct: a list of
                            texts, or of names in `choices` */
    PHI__CFG_BITS,       /* uint32_t or uint64_t: an array of `choices`, whose values are bits */
    PHI__CFG_TABLE,      /* const phi_json *: a table of kind `table`; NULL: not set */
    PHI__CFG_TABLES,     /* const phi_json *: an array of tables of kind `table` */
    PHI__CFG_MAP,        /* const phi_json *: a table of texts with any keys */
    PHI__CFG_MAP_TABLES, /* const phi_json *: tables of kind `table` under any keys */
    PHI__CFG_VALUE       /* const phi_json *: any value */
} phi__cfg_kind;

enum {
    PHI__REQUIRED = 1,
    PHI__CFG_SECRET = 2,      /* never shown and never written */
    PHI__CFG_FILE = 4,        /* a text may be "file:path" */
    PHI__CFG_REFERENCE = 8,   /* a text may be a reference into `space` */
    PHI__ONLY_REFERENCE = 16, /* like PHI__CFG_REFERENCE, but a plain name is also a reference */
    PHI__CFG_ID = 32,         /* names an entity in `space` */
    PHI__CFG_PATH = 64,       /* a path of a file or directory, for editors */
    PHI__CFG_NAME = 128,      /* names the entity if there is no field with PHI__CFG_ID */
    PHI__NO_LIMIT = 256,      /* INTEGER, SECONDS: "unlimited" is the type's largest value */
    PHI__CFG_LENIENT = 512,   /* CHOICE: an unknown text is a warning; the field stays unset */
    PHI__CFG_PART = 1024,     /* TABLE: the member is the struct of `table` itself */
    PHI__CFG_HAS = 2048,      /* the bool `twin` is set if the file has the field */
    PHI__CFG_NONE = 4096      /* INTEGER: the bool `twin` is set if the file has 0 */
};

/* The rows hold their texts in arrays of these sizes. GNU ld can drop an unused table, but not the
   strings that a static pointer refers to. */
enum { PHI__CFG_CHOICE_SIZE = 28, PHI__CFG_KEY_SIZE = 40, PHI__CFG_TEXT_SIZE = 96 };

/* The values of a CHOICE are names separated by blanks, with numbers that count from 0: "text
   json_object|json". A name after a bar has the same number as the name before; it can be read, but
   is not written or listed. "user=1" sets a number; the next name has the following number. */
typedef struct phi__cfg_choice {
    const char *next; /* the names still to read, for phi__choice_next */
    char name[PHI__CFG_CHOICE_SIZE];
    int value;
    bool alias;
} phi__cfg_choice;

typedef struct phi__cfg_texts {
    const char *const *at; /* NULL-ended; NULL: not set */
    size_t count;
} phi__cfg_texts;

/* A table is returned by a function, so that tables in other files can refer to it. */
struct phi__cfg_table;

typedef const struct phi__cfg_table *(*phi__cfg_table_fn)(void);

typedef struct phi__cfg_field {
    char key[PHI__CFG_KEY_SIZE];
    uint8_t kind, size;
    uint16_t flags, offset;
    uint16_t twin;     /* offset of the bool of PHI__CFG_HAS or _NONE, or of the count of a list */
    const char *alias; /* another key for the field; NULL: none */
    const char *choices; /* see phi__cfg_choice; NULL: none */
    phi__cfg_table_fn table;
    const char *space;             /* namespace of references and ids, such as "provider" */
    double min, max;               /* for numbers only; if max is 0, only the type limits it */
    const char *fallback;          /* the default, as JSON: "50", "\"off\"", "null" */
    char text[PHI__CFG_TEXT_SIZE]; /* a sentence for the schema and docs/configuration.md */
} phi__cfg_field;

/* Macros that write rows. `of` is the name of the table's struct without phi__cfg_. The key is the
   member's name, except in ROW, in rows of seconds, and in macros that end in _AS. Macros with _IN
   take a member of the struct's member `part`. `table` is the name of phi__table_{table}. The
   default is null if a macro has no `fallback`. Bounds 0, 0 mean the type's bounds. */
#define PHI__C_CELLS(of, member, twin, key, kind, flags, alias, choices, table, space, min, max,   \
                     fallback, text)                                                               \
    {                                                                                              \
        key, PHI__CFG_##kind, (uint8_t)sizeof(((phi__cfg_##of *)0)->member), (flags),              \
            (uint16_t)offsetof(phi__cfg_##of, member), (uint16_t)offsetof(phi__cfg_##of, twin),    \
            (alias), (choices), (table), (space), (min), (max), (fallback), text                   \
    }
#define PHI__C_ROW(of, member, key, kind, flags, alias, choices, table, space, min, max, fallback, \
                   text)                                                                           \
    PHI__C_CELLS(of, member, member, key, kind, flags, alias, choices, table, space, min, max,     \
                 fallback, text)
#define PHI__C_HAS(of, member, twin, key, kind, min, max, fallback, text)                          \
    PHI__C_CELLS(of, member, twin, key, kind, PHI__CFG_HAS, NULL, NULL, NULL, NULL, min, max,      \
                 fallback, text)
#define PHI__C_NONE(of, member, twin, key, alias, max, fallback, text) /* 0 to max */              \
    PHI__C_CELLS(of, member, twin, key, INTEGER, PHI__CFG_NONE, alias, NULL, NULL, NULL, 0, max,   \
                 fallback, text)
/* `count`: the size_t that follows the member */
#define PHI__C_COUNTED(of, member, count, choices, fallback, text)                                 \
    PHI__C_CELLS(of, member, count, #member, TEXTS, 0, NULL, choices, NULL, NULL, 0, 0, fallback,  \
                 text)
#define PHI__C_PLAIN_AS(of, member, key, kind, flags, fallback, text)                              \
    PHI__C_ROW(of, member, key, kind, flags, NULL, NULL, NULL, NULL, 0, 0, fallback, text)
#define PHI__C_PLAIN(of, member, kind, flags, fallback, text)                                      \
    PHI__C_PLAIN_AS(of, member, #member, kind, flags, fallback, text)
#define PHI__C_ALIAS(of, member, key, alias, kind, fallback, text)                                 \
    PHI__C_ROW(of, member, key, kind, 0, alias, NULL, NULL, NULL, 0, 0, fallback, text)
#define PHI__C_TEXT(of, member, flags, text) PHI__C_PLAIN(of, member, TEXT, flags, "null", text)
#define PHI__C_TEXT_IN(of, part, member, text)                                                     \
    PHI__C_PLAIN_AS(of, part.member, #member, TEXT, 0, "null", text)
#define PHI__C_LIST(of, member, fallback, text) PHI__C_PLAIN(of, member, TEXTS, 0, fallback, text)
#define PHI__C_BOOL(of, member, fallback, text) PHI__C_PLAIN(of, member, BOOL, 0, fallback, text)
#define PHI__C_FLAG(of, member, text) PHI__C_PLAIN(of, member, BOOL, 0, "false", text)
#define PHI__C_FLAG_IN(of, part, member, text)                                                     \
    PHI__C_PLAIN_AS(of, part.member, #member, BOOL, 0, "false", text)
#define PHI__C_RANGE(of, member, key, kind, flags, min, max, fallback, text)                       \
    PHI__C_ROW(of, member, key, kind, flags, NULL, NULL, NULL, NULL, min, max, fallback, text)
#define PHI__C_INT(of, member, flags, min, max, fallback, text)                                    \
    PHI__C_RANGE(of, member, #member, INTEGER, flags, min, max, fallback, text)
#define PHI__C_INT_IN(of, part, member, flags, min, max, fallback, text)                           \
    PHI__C_RANGE(of, part.member, #member, INTEGER, flags, min, max, fallback, text)
#define PHI__C_U32(of, member, fallback, text) /* 1 or more */                                     \
    PHI__C_INT(of, member, 0, 1, 4294967295, fallback, text)
#define PHI__C_U32_IN(of, part, member, fallback, text)                                            \
    PHI__C_INT_IN(of, part, member, 0, 1, 4294967295, fallback, text)
#define PHI__C_NUM_AS(of, member, key, min, max, fallback, text)                                   \
    PHI__C_RANGE(of, member, key, NUMBER, 0, min, max, fallback, text)
#define PHI__C_NUM(of, member, min, max, fallback, text)                                           \
    PHI__C_NUM_AS(of, member, #member, min, max, fallback, text)
#define PHI__C_TEMPERATURE(of, text)                                                               \
    PHI__C_HAS(of, temperature, has_temperature, "temperature", NUMBER, 0, 2, "null", text)
#define PHI__C_NUM_IN(of, part, member, min, max, fallback, text)                                  \
    PHI__C_NUM_AS(of, part.member, #member, min, max, fallback, text)
#define PHI__C_SECS(of, member, key, flags, fallback, text)                                        \
    PHI__C_RANGE(of, member, key, SECONDS, flags, 0.001, 0, fallback, text)
#define PHI__C_NAMES(of, member, key, kind, flags, choices, fallback, text)                        \
    PHI__C_ROW(of, member, key, kind, flags, NULL, choices, NULL, NULL, 0, 0, fallback, text)
#define PHI__C_CHOICE(of, member, choices, fallback, text)                                         \
    PHI__C_NAMES(of, member, #member, CHOICE, 0, choices, fallback, text)
#define PHI__C_CHOICE_IN(of, part, member, choices, fallback, text)                                \
    PHI__C_NAMES(of, part.member, #member, CHOICE, 0, choices, fallback, text)
#define PHI__C_TABLE_AS(of, member, key, kind, flags, table, text)                                 \
    PHI__C_ROW(of, member, key, kind, flags, NULL, NULL, phi__table_##table, NULL, 0, 0, "null",   \
               text)
#define PHI__C_TABLE(of, member, table, text)                                                      \
    PHI__C_TABLE_AS(of, member, #member, TABLE, 0, table, text)
#define PHI__C_PART(of, member, table, text)                                                       \
    PHI__C_TABLE_AS(of, member, #member, TABLE, PHI__CFG_PART, table, text)
#define PHI__C_PART_IN(of, part, member, table, text)                                              \
    PHI__C_TABLE_AS(of, part.member, #member, TABLE, PHI__CFG_PART, table, text)
#define PHI__C_TABLES(of, member, table, text)                                                     \
    PHI__C_TABLE_AS(of, member, #member, TABLES, 0, table, text)
#define PHI__C_NAMED(of, member, kind, flags, space, fallback, text) /* a name in `space` */       \
    PHI__C_ROW(of, member, #member, kind, flags, NULL, NULL, NULL, space, 0, 0, fallback, text)
#define PHI__C_REF(of, member, kind, space, fallback, text)                                        \
    PHI__C_NAMED(of, member, kind, PHI__ONLY_REFERENCE, space, fallback, text)

/* The struct of a table begins with `uint64_t set`, unless the table is plain. Bit i is set if
   field i was in the file. The fields of `base` come first, so bit 0 is the first field of `base`.
   At most 64 fields in all. */
typedef struct phi__cfg_table {
    char name[PHI__CFG_KEY_SIZE]; /* such as "provider", for docs */
    char text[PHI__CFG_TEXT_SIZE];
    const phi__cfg_field *fields;
    size_t count;
    phi__cfg_table_fn base; /* table with the first fields of the struct; NULL: none */
    bool open;              /* any other key may hold a text (blocks of a system prompt) */
    bool plain;             /* the struct is a public type, which has no `set` */
} phi__cfg_table;

/* Defines phi__table_{of}, the table of the rows phi__{of}_rows. `linkage` is PHI__FN, with a
   prototype elsewhere, or static. */
#define PHI__TABLE_AS(linkage, of, name, text, base, open, plain)                                  \
    linkage const phi__cfg_table *phi__table_##of(void) {                                          \
        static const phi__cfg_table is = {                                                         \
            name, text, phi__##of##_rows, PHI__COUNT(phi__##of##_rows), base, open, plain};        \
        return &is;                                                                                \
    }
#define PHI__TABLE_OF(of, name, text, base, open)                                                  \
    PHI__TABLE_AS(PHI__FN, of, name, text, base, open, false)
#define PHI__TABLE(of, name, text) PHI__TABLE_AS(PHI__FN, of, name, text, NULL, false, false)
#define PHI__TABLE_BASE(of) PHI__TABLE_AS(static, of, "", "", NULL, false, false)
#define PHI__TABLE_PLAIN(linkage, of, name, text)                                                  \
    PHI__TABLE_AS(linkage, of, name, text, NULL, false, true)

/* Defines a table whose only field is instances. */
#define PHI__TABLE_LIST(linkage, of, name, text, table, row_text)                                  \
    linkage const phi__cfg_table *phi__table_##of(void) {                                          \
        static const phi__cfg_field row = PHI__C_TABLES(instances, instances, table, row_text);    \
        static const phi__cfg_table is = {name, text, &row, 1, NULL, false, false};                \
        return &is;                                                                                \
    }

typedef struct phi__cfg_instances {
    uint64_t set;
    const phi_json *instances;
} phi__cfg_instances;

/* Returns field i, or NULL past the end. The fields of the base come first. */
PHI__FN const phi__cfg_field *phi__fields_at(const phi__cfg_table *table, size_t i);

/* Returns the field of that key or alias, or NULL, and sets *index. `index` may be NULL. */
PHI__FN const phi__cfg_field *phi__fields_find(const phi__cfg_table *table, phi_str key,
                                               size_t *index);

/* True if the field was in the file. `taken` is the struct that phi__cfg_take has filled; the table
   must not be plain. */
PHI__FN bool phi__fields_has(const phi__cfg_table *table, const void *taken, const char *key);

/* Returns the largest value that a field may have in the file. For SECONDS this is a number of
   seconds: the largest whose milliseconds fit into a uint32_t. */
PHI__FN double phi__fields_most(const phi__cfg_field *field);

/* Returns the table of a whole file, without the sections of other headers. */
PHI__FN const phi__cfg_table *phi__table_top(void);

/* Sets the fields of *out that the node has (NULL: none), their twins, and their bits in `set`.
   Other fields keep their values: zero the struct, then take the base, then the instance over it.
   The node was checked by phi_config_load, so nothing is reported, and a value that does not fit is
   skipped. Strings belong to the tree; lists are in the arena. False: no memory. */
PHI__FN bool phi__cfg_take(phi_arena *arena, const phi_json *node, const phi__cfg_table *table,
                           void *out);

/* Returns a number of bytes as a size_t, at most SIZE_MAX. */
PHI__FN size_t phi__cfg_take_size(uint64_t bytes);

/* Reads the next choice from c->next. False: there are no more. */
PHI__FN bool phi__choice_next(phi__cfg_choice *c);

/* Finds the choice of that name; case, - and _ make no difference. `out` may be NULL. */
PHI__FN bool phi__choice_find(const char *choices, phi_str name, phi__cfg_choice *out);

/* Sets *out to the choice of that number. False: no choice has it, and out->name is "". */
PHI__FN bool phi__choice_of(const char *choices, int value, phi__cfg_choice *out);

PHI__FN const char *phi__load_path(const phi_config *config); /* "" if not from a file */

/* Appends a message. In it, "${NAME}" replaces the value of each variable whose value has four
   bytes or more. If the message was cut within a value, the beginning of that value is replaced,
   too. */
PHI__FN void phi__raws_mask(const phi_config *config, phi_str text, phi__buf *out);

/* The kinds of references: {{type.name}}, {{name}}, {{%..%}} and {{#id#}}. Any other text is
   LITERAL. */
typedef enum phi__cfg_ref_kind {
    PHI__CFG_REF_LITERAL = 0,
    PHI__CFG_REF_NAME,
    PHI__CFG_REF_ID /* {{#id#}} */
} phi__cfg_ref_kind;

typedef struct phi__cfg_ref {
    phi__cfg_ref_kind kind;
    phi_str space, name; /* space is empty if the reference has none */
    bool keep;           /* {{%..%}}: share the entity with other such references */
} phi__cfg_ref;

PHI__FN phi__cfg_ref phi__refs_parse(phi_str text);

/* Returns the table that a reference means; phi_config_load has checked the reference. NULL: the
   text is a literal, or no such table exists and an error was reported. `space` is the field's
   namespace. */
PHI__FN const phi_json *phi__refs_find(const phi_config *config, const char *space,
                                       const char *text);

typedef struct phi__cfg_problem {
    phi_config_problem is;
    size_t order; /* number in the order of adding */
} phi__cfg_problem;

/* The problems of a config or of a phi_agents. */
typedef struct phi__cfg_probs {
    phi_arena arena; /* holds the texts of problems */
    phi__cfg_problem *at;
    size_t count, cap, most;
    size_t errors; /* number of errors, including errors that were not kept */
    bool no_memory;
} phi__cfg_probs;

/* If `most` is 0, the limit is the default of phi_config_desc.max_problems. */
PHI__FN void phi__prob_init(phi__cfg_probs *problems, phi_memory *memory, size_t most);
PHI__FN void phi__prob_free(phi__cfg_probs *problems);

/* Adds a problem. `node` gives the place, and the value as written in the file. `words` is the
   message without the place. Arguments that are NULL are left out. */
PHI__FN void phi__prob_add(phi__cfg_probs *problems, const phi_config *config, const phi_json *node,
                           bool is_warning, phi_status status, const char *field,
                           const char *expected, const char *words);

/* Adds an error at a place. */
PHI__FN void phi__prob_add_at(phi__cfg_probs *problems, const phi_config *config, uint32_t line,
                              uint32_t column, phi_status status, const char *words);

/* Sorts the problems by their places in the text. Problems without a place come last. */
PHI__FN void phi__prob_sort(phi__cfg_probs *problems);

/* Returns the first error, or NULL. If `problems` is NULL, returns a static error "no memory". */
PHI__FN const phi_config_problem *phi__prob_error(const phi__cfg_probs *problems);
PHI__FN phi_status phi__prob_status(const phi__cfg_probs *problems);
PHI__FN const phi_config_problem *phi__prob_get(const phi__cfg_probs *problems, size_t index);

/* Returns the distance of two names. 0: they differ at most in case, - and _. Above PHI__CFG_FAR:
   they are not similar. */
enum { PHI__CFG_FAR = 3 };
PHI__FN unsigned phi__near_distance(phi_str a, phi_str b);

/* True if the names differ less than *best, which is then set to their distance. */
static inline bool phi__near_try(unsigned *best, phi_str a, phi_str b) {
    unsigned d = phi__near_distance(a, b);
    if (d >= *best) return false;
    *best = d;
    return true;
}

/* The shared state of making agents, as sections see it. */
typedef struct phi__cfg_ground {
    phi_runtime *rt;
    const phi_config *config;
    phi_agents_desc desc; /* all zero if the host gave none */
    phi_memory *memory;
    phi_arena *arena; /* freed after all agents and states of sections */
    phi__cfg_probs *problems;
    const char *directory; /* directory of the file, terminated; "." if it has none */
} phi__cfg_ground;

/* An agent, or the settings of a sub-agent, under construction. */
typedef struct phi__cfg_making {
    phi__cfg_ground *ground;
    const char *name;
    const phi_json *node; /* the agent's table; NULL: the default agent */
    const phi_json *base; /* [agent]; NULL if there is none, and for a sub-agent */
    bool is_child;
    bool has_own_key; /* true for a sub-agent whose key differs from its caller's */
    phi_agent_desc *desc;
    const phi_agent_desc *top; /* desc of the agent itself, or of a sub-agent's caller */
    phi_profile profile;       /* desc->profile points here */
    const char *workspace;     /* the desc's workspace */
    const phi_json *place;     /* the node that names the workspace; NULL: the host's, or none */
    const phi_json *names;     /* the list of tools; NULL: none */
    bool *known;               /* known[i] is true if the tool names[i] exists */
    const char **offered;      /* names of existing tools, for messages */
    size_t offered_count, offered_cap;
    phi_tool *tools;
    size_t tool_count, tool_cap;
    const phi_tool_source **sources;
    size_t source_count, source_cap;
    size_t at;            /* index of the entity in work, if a section returned PHI_BUSY */
    void *work;           /* the section's state of that entity; NULL at first */
    const phi_json *list; /* the list that phi__making_used walks, or NULL */
    phi_json_iter items;
    size_t list_at; /* index of the next item of the list */
} phi__cfg_making;

/* An entity that an agent uses. */
typedef struct phi__cfg_used {
    const phi_json *node; /* the entity's table */
    const phi_json *from; /* the reference, or the table itself; for messages */
    bool keep;            /* shared with other agents */
} phi__cfg_used;

struct phi_config_section {
    const char *name;            /* the section's key at the top of a file, such as "mcp" */
    const phi__cfg_field *field; /* the section's field at the top: TABLE or TABLES */
    const char *space;           /* namespace of the section's instances; NULL: none */
    /* Checks the section, and makes the parts that agents share. node is NULL if the file has no
       such section. *state is passed to the other functions. Problems are added to
       ground->problems. Any status but PHI_OK ends the making of agents. `begin` is NULL if the
       section has no functions. */
    phi_status (*begin)(phi__cfg_ground *ground, const phi_json *node, void **state);
    /* Gives one agent its part. PHI_BUSY: call `use` again after phi_step, with the same `making`.
       If ground->desc.check_only is set, nothing is opened. */
    phi_status (*use)(void *state, phi__cfg_making *making);
    /* Called after the agents were freed. */
    void (*end)(void *state);
};

/* Finds entity i of an agent: from its list under `key`, else from the list of [agent], else from
   all instances of the section, which agents then share. A sub-agent has only its own list. False:
   no more. */
PHI__FN bool phi__making_used(phi__cfg_making *making, const char *key, const char *space,
                              const phi_json *section, size_t i, phi__cfg_used *out);

/* Adds a tool, unless the agent has a tool of that name. Fails only with PHI_NO_MEMORY. */
PHI__FN phi_status phi__making_tool(phi__cfg_making *making, const phi_tool *tool);
PHI__FN phi_status phi__making_source(phi__cfg_making *making, const phi_tool_source *source);

/* Notes that a tool exists. True if the agent's list has the name. `name` must live as long as
   `making`. */
PHI__FN bool phi__making_offer(phi__cfg_making *making, const char *name);

/* Accepts every name in the agent's list, because a document that defines tools is not read now. */
PHI__FN void phi__making_trust(phi__cfg_making *making);

/* Returns a table of texts as an array of structs of two texts, {name, value}: phi_model_header,
   phi_mcp_pair, phi_openapi_pair. The array is in the arena. NULL: the table is empty (*count is
   0), or there is no memory. */
PHI__FN void *phi__cfg_pairs(phi_arena *arena, const phi_json *map, size_t *count);

#ifndef PHI_NO_FILES
/* Appends a file to *out. Stops soon after `most` bytes: if out->len is then above `most`, the file
   is too large. If the file cannot be opened or read, sets *words and returns the reason's status.
   Without memory, returns PHI_NO_MEMORY. */
PHI__FN phi_status phi__cfg_file(phi_memory *memory, const char *path, size_t most, phi__buf *out,
                                 phi__words *words);
#endif

/* Puts `directory` before `path`, unless `path` is absolute. The result is in the arena. NULL: no
   memory. */
PHI__FN const char *phi__cfg_join(phi_arena *arena, const char *directory, const char *path);

/* Resolves a path to an absolute one without links, in the arena. On failure sets *out to NULL and
   writes a message to `why`, which may be NULL if its size is 0. PHI_UNSUPPORTED: phi was built
   with PHI_NO_FILES. */
PHI__FN phi_status phi__cfg_resolve(phi_arena *arena, const char *path, const char **out, char *why,
                                    size_t size);

/* Like phi__cfg_resolve, but a path that cannot be resolved is reported as a problem, and the
   status is then PHI_OK. */
PHI__FN phi_status phi__cfg_absolute(phi__cfg_ground *ground, const phi_json *node,
                                     const char *field, const char *path, const char **out);

/* Adds a problem. Its message is formatted as by printf, and cut at 500 bytes. */
PHI__FN void phi__cfg_error(phi__cfg_ground *ground, const phi_json *node, phi_status status,
                            const char *field, const char *format, ...) PHI_PRINTF(5, 6);
PHI__FN void phi__cfg_warn(phi__cfg_ground *ground, const phi_json *node, const char *field,
                           const char *format, ...) PHI_PRINTF(4, 5);

/* Returns the name most similar to `name`, for "did you mean". NULL: no name is similar. */
PHI__FN const char *phi__cfg_nearest(phi_str name, const char *const *names, size_t count);

#endif
