/* config.h - configuration files: TOML, YAML or JSON that declares agents.

   phi_config_desc from = PHI_ZERO; from.path = "agent.toml"; from.environment = true;
   // ${NAME} is a variable of the process phi_config *config = phi_config_load(&from); phi_agents
   *agents = phi_agents_from_config(rt, config, NULL);   // config_agents.h for (i = 0; (problem =
   phi_agents_problem_at(agents, i)) != NULL; i++) show(problem);

   A file is read and checked as a whole. Every fault is added to a list of problems, with its file,
   line, column, field, value and the expected values. Most faults are errors. An unknown field is a
   warning with the nearest known name, if one is near, and doubtful values are warnings, too.
   docs/configuration.md lists every section and field.

   ${NAME} in a text is replaced by the value of the variable. ${NAME:-text} is replaced by `text`
   if the variable is not set or is empty. $${ means ${. Only values are replaced, after the file
   was parsed: a value never becomes syntax, and comments are not looked at. A field that expects a
   number or a bool also accepts a text that holds one. Messages never show the value of a variable
   or a secret: a problem shows the variable's name as written in the file, and "****" for a secret.

   Loading waits for the disk, so do it at start-up. Ownership: a config owns all its memory,
   from its own allocator. Every string it returns is valid until phi_config_free. Threads:   one
   at a time. */
#ifndef PHI_CONFIG_CONFIG_H
#define PHI_CONFIG_CONFIG_H

#include "text/json.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct phi_config phi_config;

/* An opaque section of another header, such as phi_config_sections of phi_tools.h. */
typedef struct phi_config_section phi_config_section;

typedef enum phi_config_format {
    /* By the path's extension. If a `text` has no path with a known extension, the first of TOML,
       JSON and YAML that fits. */
    PHI_CONFIG_AUTO = 0,
    PHI_CONFIG_TOML,
    PHI_CONFIG_JSON,
    PHI_CONFIG_YAML
} phi_config_format;

/* Set path, text or both. Zero means default for every other field. */
typedef struct phi_config_desc {
    phi_allocator allocator;   /* copied (default: the C library's) */
    size_t memory_limit_bytes; /* limit for all memory of the config (default: no limit) */
    const char *path;          /* path of a .toml, .json, .yaml or .yml file; copied */
    phi_str text;              /* replaces the file's content; path is then only a name */
    phi_config_format format;
    bool environment; /* take variables from the process's environment (default: no variables) */
    /* Replaces `environment`: returns a variable's value, valid until the next call, or NULL. */
    const char *(*variable_fn)(void *user_data, const char *name);
    void *user_data;
    /* More sections, besides phi.h's own; NULL-ended. Borrowed until the config and its agents are
       freed. By default there are none, and such a section in a file is an error. */
    const phi_config_section *const *sections;
    size_t max_bytes;      /* max. bytes of a file (default 4 MiB) */
    uint32_t max_problems; /* max. problems kept (default 1,000) */
} phi_config_desc;

/* Reads and checks a file. Returns NULL if desc is NULL, or if there is no memory for the config
   itself. A config can be used if no problem is an error; otherwise phi_agents_step returns the
   status of the first error. */
PHI_API phi_config *phi_config_load(const phi_config_desc *desc);
PHI_API void phi_config_free(phi_config *config); /* NULL is harmless */

typedef struct phi_config_problem {
    bool is_warning;
    phi_status status;
    phi_str file;          /* the path, or "" */
    uint32_t line, column; /* counted from 1; 0: no place in the text */
    phi_str field;         /* "agent.profile.thinking_level", "provider.instances[1].id"; or "" */
    phi_str value;         /* as written in the file; a secret is "****"; or "" */
    phi_str expected;      /* "one of off, minimal, low, medium, high"; or "" */
    phi_str message;       /* the whole problem in one line, with file:line:column: first */
} phi_config_problem;

/* Returns an error or a warning, in the order of the text; NULL past the last. Statuses of errors:
   PHI_NOT_FOUND or PHI_IO (the file cannot be read), PHI_PARSE (wrong syntax), PHI_UNSUPPORTED
   (unknown extension or format), PHI_BAD_ARG (a wrong field, variable or reference), PHI_TOO_BIG,
   PHI_NO_MEMORY. */
PHI_API const phi_config_problem *phi_config_problem_at(const phi_config *config, size_t index);

/* Returns all values, with variables replaced, or NULL if the file could not be read. Read-only. */
PHI_API const phi_json *phi_config_tree(const phi_config *config);

/* Writes a JSON Schema (draft 2020-12) of a whole configuration into the arena, for editors, with
   descriptions and defaults. The schema has phi.h's sections and those in `sections` (NULL-ended,
   or NULL for none). */
PHI_API phi_status phi_config_schema(const phi_config_section *const *sections, phi_arena *arena,
                                     phi_str *out);

#ifdef __cplusplus
}
inline phi_config *phi_config_load(const phi_config_desc &desc) { return phi_config_load(&desc); }
#endif
#endif
