/* config_in.h - the tables of a configuration. From them follow what the reader checks and warns
   about, the structs that are filled, the JSON Schema, the reference in docs/, and what
   phi_config_write writes; the JSON of settings has its own tables (config_json.c).

   A table lists the fields of one kind of TOML table. phi__cfg_take checks a node against a
   table and fills the struct that the table describes. Sections of phi_tools.h have tables of the
   same kind in their phi_config_section. */
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
    PHI__CFG_INTEGER,    /* uint8_t to uint64_t, int, by its size */
    PHI__CFG_NUMBER,     /* double */
    PHI__CFG_SECONDS,    /* uint32_t milliseconds of a number of seconds in the file */
    PHI__CFG_CHOICE,     /* int or enum of `choices`; case and - or _ make no difference */
    PHI__CFG_TEXTS,      /* phi__cfg_texts: an array of texts; with `choices` of such names */
    PHI__CFG_BITS,       /* uint32_t or uint64_t: an array of `choices`, whose numbers are bits */
    PHI__CFG_TABLE,      /* const phi_json *: checked against `table`; NULL: not set */
    PHI__CFG_TABLES,     /* const phi_json *: an array of such tables */
    PHI__CFG_MAP,        /* const phi_json *: a table of texts with any keys */
    PHI__CFG_MAP_TABLES, /* const phi_json *: a table of such tables with any keys */
    PHI__CFG_VALUE       /* const phi_json *: anything */
} phi__cfg_kind;

enum {
    PHI__REQUIRED = 1,
    PHI__CFG_SECRET = 2,      /* never shown, never written */
    PHI__CFG_FILE = 4,        /* a text may be "file:path" */
    PHI__CFG_REFERENCE = 8,   /* a text may be a reference into `space` */
    PHI__ONLY_REFERENCE = 16, /* ... and a plain name counts as one, too */
    PHI__CFG_ID = 32,         /* declares an entity in `space` */
    PHI__CFG_PATH = 64,       /* of a file or directory, for editors */
    PHI__CFG_NAME = 128,      /* declares it where there is no field with CONFIG_ID */
    PHI__NO_LIMIT = 256,      /* INTEGER, SECONDS: "unlimited" is the type's largest */
    PHI__CFG_LENIENT = 512,   /* CHOICE: another text is a warning, and not set */
    PHI__CFG_PART = 1024      /* TABLE: the member is the struct of `table` */
};

/* The rows hold their texts, in arrays of these sizes: GNU ld drops a table that a program does not
   use, but none of the strings that a static pointer means. */
enum { PHI__CFG_CHOICE_SIZE = 28, PHI__CFG_KEY_SIZE = 40, PHI__CFG_TEXT_SIZE = 96 };

/* The values of a CHOICE are names separated by blanks, in the order of their numbers from 0:
   "text json_object|json". A name after a bar has the same number: it is read, and not written or
   listed. "user=1" gives a number; the next name has the following one. */
typedef struct phi__cfg_choice {
    const char *next; /* the rest of the names; of phi__choice_next */
    char name[PHI__CFG_CHOICE_SIZE];
    int value;
    bool alias;
} phi__cfg_choice;

typedef struct phi__cfg_texts {
    const char *const *at; /* NULL-ended; NULL: not set */
    size_t count;
} phi__cfg_texts;

/* A table is a function, so that tables of other files can name it. */
struct phi__cfg_table;

typedef const struct phi__cfg_table *(*phi__cfg_table_fn)(void);

typedef struct phi__cfg_field {
    char key[PHI__CFG_KEY_SIZE];
    uint8_t kind, size;
    uint16_t flags, offset;
    const char *alias;   /* another key of the same meaning; NULL: none */
    const char *choices; /* as phi__cfg_choice says; NULL: none */
    phi__cfg_table_fn table;
    const char *space;             /* of references and ids: "provider" */
    double min, max;               /* max 0: no bound but the type's */
    const char *fallback;          /* the default, as JSON: "50", "\"off\"", "null" */
    char text[PHI__CFG_TEXT_SIZE]; /* one sentence, for the schema and docs/configuration.md */
} phi__cfg_field;

/* Rows. `of` is the name of the table's struct without phi__cfg_. The key is the member's name, but
   for rows of any kind (ROW), of seconds, and those that end in _AS; _IN: a member of the struct's
   member `part`. `table` is the name of phi__table_{table}. Without a fallback it is null; bounds
   of 0, 0 are those of the type. */
#define PHI__C_ROW(of, member, key, kind, flags, alias, choices, table, space, min, max, fallback, \
                   text)                                                                           \
    {                                                                                              \
        key, PHI__CFG_##kind, (uint8_t)sizeof(((phi__cfg_##of *)0)->member), (flags),              \
            (uint16_t)offsetof(phi__cfg_##of, member), (alias), (choices), (table), (space),       \
            (min), (max), (fallback), text                                                         \
    }
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
#define PHI__C_U32(of, member, fallback, text) /* from 1 */                                        \
    PHI__C_INT(of, member, 0, 1, 4294967295, fallback, text)
#define PHI__C_U32_IN(of, part, member, fallback, text)                                            \
    PHI__C_INT_IN(of, part, member, 0, 1, 4294967295, fallback, text)
#define PHI__C_NUM_AS(of, member, key, min, max, fallback, text)                                   \
    PHI__C_RANGE(of, member, key, NUMBER, 0, min, max, fallback, text)
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
#define PHI__C_TABLES(of, member, table, text)                                                     \
    PHI__C_TABLE_AS(of, member, #member, TABLES, 0, table, text)
#define PHI__C_NAMED(of, member, kind, flags, space, fallback, text) /* names in `space` */        \
    PHI__C_ROW(of, member, #member, kind, flags, NULL, NULL, NULL, space, 0, 0, fallback, text)
#define PHI__C_REF(of, member, kind, space, fallback, text)                                        \
    PHI__C_NAMED(of, member, kind, PHI__ONLY_REFERENCE, space, fallback, text)

/* The struct of a table begins with `uint64_t set`: bit i says that field i stood in the file. The
   fields of `base` come first: bit 0 is its first one. At most 64 in all. */
typedef struct phi__cfg_table {
    char name[PHI__CFG_KEY_SIZE]; /* "provider", for docs */
    char text[PHI__CFG_TEXT_SIZE];
    const phi__cfg_field *fields;
    size_t count;
    phi__cfg_table_fn base; /* further fields of the same struct; NULL: none */
    bool open;              /* other keys are further texts (blocks of a system prompt) */
} phi__cfg_table;

/* Defines phi__table_{of}, the table of the rows phi__{of}_rows. */
#define PHI__TABLE_OF(of, name, text, base, open)                                                  \
    const phi__cfg_table *phi__table_##of(void) {                                                  \
        static const phi__cfg_table is = {                                                         \
            name, text, phi__##of##_rows, PHI__COUNT(phi__##of##_rows), base, open};               \
        return &is;                                                                                \
    }
#define PHI__TABLE(of, name, text) PHI__TABLE_OF(of, name, text, NULL, false)

/* A table that has nothing but instances. */
#define PHI__TABLE_LIST(of, name, text, table, row_text)                                           \
    static const phi__cfg_field phi__##of##_rows[] = {                                             \
        PHI__C_TABLES(instances, instances, table, row_text)};                                     \
    PHI__TABLE(of, name, text)

typedef struct phi__cfg_instances {
    uint64_t set;
    const phi_json *instances;
} phi__cfg_instances;

/* Field i, those of the base first; NULL past the end. */
PHI__FN const phi__cfg_field *phi__fields_at(const phi__cfg_table *table, size_t i);

/* The field of that key or alias, and its index; NULL: none. *index may be NULL. */
PHI__FN const phi__cfg_field *phi__fields_find(const phi__cfg_table *table, phi_str key,
                                               size_t *index);

/* True if that field was in the file; phi__cfg_take filled `taken`. */
PHI__FN bool phi__fields_has(const phi__cfg_table *table, const void *taken, const char *key);

/* The largest value of the field's size; of seconds: of its milliseconds. */
PHI__FN double phi__fields_most(const phi__cfg_field *field);

/* All of a file. Sections of further headers are not in it. */
PHI__FN const phi__cfg_table *phi__table_top(void);

/* Sets those fields of *out, of the table's struct, that the node has (NULL: none), and their bits
   of `set`; the rest stays: zero the struct first, then take the base, then the instance over it.
   The node was checked when the config was loaded: nothing is reported, and a value that does not
   fit is left out. Strings are the tree's; lists are in the arena. False: no memory. */
PHI__FN bool phi__cfg_take(phi_arena *arena, const phi_json *node, const phi__cfg_table *table,
                           void *out);

/* A number of bytes; of more than there can be, all of them. */
PHI__FN size_t phi__cfg_take_size(uint64_t bytes);

/* The next choice, of c->next; false: there is none. */
PHI__FN bool phi__choice_next(phi__cfg_choice *c);

/* The choice of that name (case, - and _ make no difference), which *out may be NULL for. */
PHI__FN bool phi__choice_find(const char *choices, phi_str name, phi__cfg_choice *out);

/* The name of that number in *out; "" and false: it has none. */
PHI__FN bool phi__choice_of(const char *choices, int value, phi__cfg_choice *out);

PHI__FN const char *phi__load_path(const phi_config *config); /* "": of a text */
PHI__FN const phi_config_section *const *phi__load_sections(const phi_config *config);

/* A message as it may be shown: "${NAME}" in place of values of variables of four bytes or more,
   and of their beginnings where the message is cut. */
PHI__FN void phi__raws_mask(const phi_config *config, phi_str text, phi__buf *out);

/* {{type.name}} {{name}} {{%..%}} {{#id#}}; anything else is LITERAL. */
typedef enum phi__cfg_ref_kind {
    PHI__CFG_REF_LITERAL = 0,
    PHI__CFG_REF_NAME,
    PHI__CFG_REF_ID /* {{#id#}} */
} phi__cfg_ref_kind;

typedef struct phi__cfg_ref {
    phi__cfg_ref_kind kind;
    phi_str space, name; /* space: empty where it is not qualified */
    bool keep;           /* with %: an entity that exists already is used again */
} phi__cfg_ref;

PHI__FN phi__cfg_ref phi__refs_parse(phi_str text);

/* The table that a reference means, checked when the config was loaded; NULL: it is a literal, or
   (with errors) there is none. `space`: of the field. */
PHI__FN const phi_json *phi__refs_find(const phi_config *config, const char *space,
                                       const char *text);

typedef struct phi__cfg_problem {
    phi_config_problem is;
    size_t order; /* in which they came */
} phi__cfg_problem;

/* A list of problems, of a config or of a phi_agents. */
typedef struct phi__cfg_probs {
    phi_arena arena; /* of their texts */
    phi__cfg_problem *at;
    size_t count, cap, most;
    size_t errors; /* those that are not kept, too */
    bool no_memory;
} phi__cfg_probs;

/* Those that the config has from its file. */
PHI__FN const phi__cfg_probs *phi__load_problems(const phi_config *config);

/* most 0: the default of phi_config_desc.max_problems. */
PHI__FN void phi__prob_init(phi__cfg_probs *problems, phi_memory *memory, size_t most);
PHI__FN void phi__prob_free(phi__cfg_probs *problems);

/* `node`: the value's, for its place and its text as written in the file. words: the message
   without its place. Parts that are NULL are left out. */
PHI__FN void phi__prob_add(phi__cfg_probs *problems, const phi_config *config, const phi_json *node,
                           bool is_warning, phi_status status, const char *field,
                           const char *expected, const char *words);

/* An error at a place. */
PHI__FN void phi__prob_add_at(phi__cfg_probs *problems, const phi_config *config, uint32_t line,
                              uint32_t column, phi_status status, const char *words);

/* Into the order of the text; problems without a place come last. */
PHI__FN void phi__prob_sort(phi__cfg_probs *problems);

/* The first error; NULL: there is none. problems NULL: there was no memory for them. */
PHI__FN const phi_config_problem *phi__prob_error(const phi__cfg_probs *problems);
PHI__FN phi_status phi__prob_status(const phi__cfg_probs *problems);
PHI__FN const phi_config_problem *phi__prob_get(const phi__cfg_probs *problems, size_t index);

/* How unlike two names are; 0: but for case, - and _. Above PHI__CFG_FAR they are not alike. */
enum { PHI__CFG_FAR = 3 };
PHI__FN unsigned phi__near_distance(phi_str a, phi_str b);

/* True if they are less unlike than *best, which is then how unlike they are. */
static inline bool phi__near_try(unsigned *best, phi_str a, phi_str b) {
    unsigned d = phi__near_distance(a, b);
    if (d >= *best) return false;
    *best = d;
    return true;
}

/* What sections see of a phi_agents. */
typedef struct phi__cfg_ground {
    phi_runtime *rt;
    const phi_config *config;
    phi_agents_desc desc; /* zero where the host gave none */
    phi_memory *memory;
    phi_arena *arena; /* freed after the agents and all states */
    phi__cfg_probs *problems;
    const char *directory; /* of the file, terminated; "." where it has none */
    bool check_only;
} phi__cfg_ground;

/* An agent, or the settings of a sub-agent, under construction. */
typedef struct phi__cfg_making {
    phi__cfg_ground *ground;
    const char *name;
    const phi_json *node; /* its table; NULL: the default agent */
    const phi_json *base; /* [agent]; NULL: none, or a sub-agent */
    bool is_child;
    bool has_own_key; /* a sub-agent whose key is not that of the agent it works for */
    phi_agent_desc *desc;
    const phi_agent_desc *top; /* of the agent that a sub-agent works for; its own: an agent */
    phi_profile profile;       /* desc->profile points to it */
    const char *workspace;     /* as it goes into the desc */
    const phi_json *place;     /* that names the workspace; NULL: the host's, or none */
    const phi_json *names;     /* the list of tools; NULL: none */
    bool *known;               /* of each of them: somebody has it */
    const char **offered;      /* names of tools that there are, for messages */
    size_t offered_count, offered_cap;
    phi_tool *tools;
    size_t tool_count, tool_cap;
    const phi_tool_source **sources;
    size_t source_count, source_cap;
    size_t at;            /* of a section that said PHI_BUSY: the entity it works on */
    void *work;           /* the same; NULL at first */
    const phi_json *list; /* of config_agents.c: that phi__making_used walks, or NULL */
    phi_json_iter items;
    size_t list_at; /* items before the next */
} phi__cfg_making;

/* An entity that an agent uses. */
typedef struct phi__cfg_used {
    const phi_json *node; /* its table */
    const phi_json *from; /* the reference, for messages; or the table itself */
    bool keep;            /* shared with other agents that keep it */
} phi__cfg_used;

struct phi_config_section {
    const char *name;            /* "mcp": its key at the top of a file */
    const phi__cfg_field *field; /* of the top: TABLE or TABLES */
    const char *space;           /* namespace of its instances; NULL: none */
    /* Checks, and begins what agents share. node NULL: the file does not have the section. *state
       is handed to the others; problems are added to the ground's. Anything but PHI_OK ends all.
       NULL: the section has no functions. */
    phi_status (*begin)(phi__cfg_ground *ground, const phi_json *node, void **state);
    /* Gives one agent its part. PHI_BUSY: again after phi_step, with the same making. With
       check_only nothing is opened. */
    phi_status (*use)(void *state, phi__cfg_making *making);
    /* The agents are freed already. */
    void (*end)(void *state);
};

/* The agent's entity `i`: from its list under `key`, else from [agent]'s, else from all of the
   section's instances, shared; a sub-agent has only its list. False: no more. */
PHI__FN bool phi__making_used(phi__cfg_making *making, const char *key, const char *space,
                              const phi_json *section, size_t i, phi__cfg_used *out);

/* Adds a tool, unless there is one of that name. PHI_NO_MEMORY. */
PHI__FN phi_status phi__making_tool(phi__cfg_making *making, const phi_tool *tool);
PHI__FN phi_status phi__making_source(phi__cfg_making *making, const phi_tool_source *source);

/* Says that a tool of that name exists; true: the agent's list has it. `name` is borrowed as long
   as the making. */
PHI__FN bool phi__making_offer(phi__cfg_making *making, const char *name);

/* Takes every name for known: tools that only a document says, which is not read now. */
PHI__FN void phi__making_trust(phi__cfg_making *making);

/* A table of texts as an array of structs of two texts, {name, value}: phi_model_header,
   phi_mcp_pair, phi_openapi_pair. In the arena. NULL: it is empty (*count 0), or no memory. */
PHI__FN void *phi__cfg_pairs(phi_arena *arena, const phi_json *map, size_t *count);

#ifndef PHI_NO_FILES
/* Adds the bytes of a file to *out; more than `most` may be read of a larger one. *words are set if
   it cannot be read. PHI_NO_MEMORY, or the file's status. */
PHI__FN phi_status phi__cfg_file(phi_memory *memory, const char *path, size_t most, phi__buf *out,
                                 phi__words *words);
#endif

/* `path`, relative to `directory` unless it is absolute; in the arena. NULL: no memory. */
PHI__FN const char *phi__cfg_join(phi_arena *arena, const char *directory, const char *path);

/* Absolute, without links; in the arena. *out NULL: it cannot be resolved, as `why` of `size` bytes
   says (NULL, 0: it does not). PHI_NO_MEMORY; PHI_UNSUPPORTED: PHI_NO_FILES. */
PHI__FN phi_status phi__cfg_resolve(phi_arena *arena, const char *path, const char **out, char *why,
                                    size_t size);

/* The same; if it cannot be resolved, a problem of the node and the field says why, and the status
   is PHI_OK. */
PHI__FN phi_status phi__cfg_absolute(phi__cfg_ground *ground, const phi_json *node,
                                     const char *field, const char *path, const char **out);

/* A problem with a message of parts, as printf. Longer ones than 500 bytes are cut. */
PHI__FN void phi__cfg_error(phi__cfg_ground *ground, const phi_json *node, phi_status status,
                            const char *field, const char *format, ...) PHI_PRINTF(5, 6);
PHI__FN void phi__cfg_warn(phi__cfg_ground *ground, const phi_json *node, const char *field,
                           const char *format, ...) PHI_PRINTF(4, 5);

/* The name most like `name`, for "did you mean"; NULL: none is near. */
PHI__FN const char *phi__cfg_nearest(phi_str name, const char *const *names, size_t count);

#endif
