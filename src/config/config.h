/* config.h - configuration files: TOML, YAML or JSON that says which agents there are.

       phi_config_desc from = PHI_ZERO;
       from.path = "agent.toml";
       from.environment = true;                       // ${NAME} is a variable of the process
       phi_config *config = phi_config_load(&from);
       phi_agents *agents = phi_agents_from_config(rt, config, NULL);   // config_agents.h
       for (i = 0; (problem = phi_agents_problem_at(agents, i)) != NULL; i++) show(problem);

   A file is read whole and checked whole: every fault is a problem in a list, each with its file,
   line, column, field, value and the expected values. Faults are errors; an unknown field is a
   warning, with the nearest known name. docs/configuration.md lists every section and field.

   ${NAME} inside a text is replaced by the variable's value, ${NAME:-text} by the text where there
   is none, and $${ means ${. It is done in values after the file was read, so that a value never
   becomes syntax and comments are not looked at; a field that wants a number or a bool takes a text
   that is one after that. Values of variables, and secrets, are never shown: a problem has them as
   they are written in the file.

   Loading reads the disk until it is done: it is for start-up.
   Ownership: a config owns all its memory, from its own allocator; every string it hands out is
   valid until phi_config_free. Threads: one at a time. */
#ifndef PHI_CONFIG_CONFIG_H
#define PHI_CONFIG_CONFIG_H

#include "text/json.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct phi_config phi_config;

/* A section that a further header brings (phi_tools.h: phi_config_sections); opaque. */
typedef struct phi_config_section phi_config_section;

typedef enum phi_config_format {
    PHI_CONFIG_AUTO = 0, /* by the path's extension; of a text: TOML, then JSON, then YAML */
    PHI_CONFIG_TOML,
    PHI_CONFIG_JSON,
    PHI_CONFIG_YAML
} phi_config_format;

/* Zero means default for every field but path or text. */
typedef struct phi_config_desc {
    phi_allocator allocator;   /* copied (default: the C library's) */
    size_t memory_limit_bytes; /* of everything of ours (default: none) */
    const char *path;          /* of the file: .toml, .json, .yaml or .yml; copied */
    phi_str text;              /* instead of the file's content; path is then its name alone */
    phi_config_format format;
    bool environment; /* variables are those of the process (default: there are none) */
    /* instead: the value of a variable, valid until the next call; NULL: there is none */
    const char *(*variable_fn)(void *user_data, const char *name);
    void *user_data;
    /* Sections besides phi.h's own, NULL-ended; borrowed as long as the config and the agents made
       of it (default: none: a file that has one is an error with words) */
    const phi_config_section *const *sections;
    size_t max_bytes;      /* of a file (default 4 MiB) */
    uint32_t max_problems; /* kept (default 1,000) */
} phi_config_desc;

/* Reads and checks. NULL: no memory for the config itself. It can be used if no problem is an
   error; phi_agents_step returns the status of the first. */
PHI_API phi_config *phi_config_load(const phi_config_desc *desc);
PHI_API void phi_config_free(phi_config *config); /* NULL is harmless */

typedef struct phi_config_problem {
    bool is_warning;
    phi_status status;
    phi_str file;          /* the path, or "" */
    uint32_t line, column; /* from 1; 0: no place in the text */
    phi_str field;         /* "agent.profile.thinking_level", "provider.instances[1].id"; or "" */
    phi_str value;         /* as written in the file; a secret is "****"; or "" */
    phi_str expected;      /* "one of off, minimal, low, medium, high"; or "" */
    phi_str message;       /* all of it in a line, with file:line:column: before it */
} phi_config_problem;

/* Errors and warnings, in the order of the text; NULL past the last. Statuses of errors:
   PHI_NOT_FOUND, PHI_IO: the file. PHI_PARSE: its syntax. PHI_UNSUPPORTED: its extension or format.
   PHI_BAD_ARG: a field, a variable or a reference. PHI_TOO_BIG, PHI_NO_MEMORY. */
PHI_API const phi_config_problem *phi_config_problem_at(const phi_config *config, size_t index);

/* The values, variables replaced; NULL: it could not be read. Do not change it. */
PHI_API const phi_json *phi_config_tree(const phi_config *config);

/* A JSON Schema (draft 2020-12) of all of a configuration: phi.h's sections and those given
   (NULL-ended; may be NULL), with descriptions and defaults; for editors. In the arena. */
PHI_API phi_status phi_config_schema(const phi_config_section *const *sections, phi_arena *arena,
                                     phi_str *out);

#ifdef __cplusplus
}
inline phi_config *phi_config_load(const phi_config_desc &desc) { return phi_config_load(&desc); }
#endif
#endif
