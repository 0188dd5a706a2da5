/* tools_in.h - the registry of tools by name, jobs, patterns, schema keywords, names, skills. */
#ifndef PHI_TOOLS_TOOLS_IN_H
#define PHI_TOOLS_TOOLS_IN_H

#include "base/base_in.h"
#include "loop/loop_in.h"
#include "system/system_in.h"
#include "text/text_in.h"
#include "tools/scripts.h"
#include "tools/skills.h"
#include "tools/tools.h"

typedef struct phi__registry phi__registry;

enum {
    PHI__JOB_SLICE = 65536, /* bytes of work in one step */
    PHI__JOB_PATHS = 128    /* units of path work in one step: see system_in.h */
};

typedef struct phi__job {
    phi_call call;
    const phi_toolset *set; /* the tool's set, if the tool is built in */
    void *user_data;        /* the tool's user_data */
    phi_memory *memory;     /* the agent's memory */
    phi__io *io;
    phi_arena arena; /* holds arguments and paths */
    phi__json_reader reader;
    phi_json *arguments; /* NULL while they are being read */
    bool ended;
    phi_flow (*go)(struct phi__job *job); /* does a slice of the work */
#ifndef PHI_NO_FILES
    const char *path, *place; /* the path as given by the model; the resolved path */
    size_t roots;             /* number of roots tried so far */
    phi__resolve *resolve;    /* resolves the place, then a root */
    phi_flow (*placed)(struct phi__job *job);
#endif
    void (*drop)(struct phi__job *job);
} phi__job;

/* Starts a job in `bytes` bytes of the call's memory and does its first slice. If `whole`, the
   arguments are parsed at once, for tools without a step. */
PHI__FN phi_flow phi__job_begin(void *user_data, phi_call call, phi_str arguments, size_t bytes,
                                bool whole, phi_flow (*go)(phi__job *), void (*drop)(phi__job *));
PHI__FN phi_flow phi__job_step(void *user_data, phi_call call); /* a phi_tool's step */

/* Gives the result and returns PHI_DONE. details: JSON text, or NULL. phi__job_done needs UTF-8;
   phi__job_fail repairs other bytes. */
PHI__FN phi_flow phi__job_done(phi__job *job, phi_str text, const char *details);

/* Like phi__job_done, with details; frees both buffers. */
PHI__FN phi_flow phi__job_done_with(phi__job *job, phi__buf *text, phi__buf *details);
PHI__FN phi_flow phi__job_fail(phi__job *job, const char *format, ...) PHI_PRINTF(2, 3);
PHI__FN phi_flow phi__job_no_memory(phi__job *job);
/* Read an argument; null counts as missing. A missing text is NULL. False: the job has failed. */
PHI__FN bool phi__job_text(phi__job *job, const char *name, bool required, const char **out);
PHI__FN bool phi__job_number(phi__job *job, const char *name, uint64_t fallback, uint64_t *out);
#ifndef PHI_NO_PROCESS
/* Splits a command into a NULL-ended list in the arena. If the first word ends in .py or .sh, puts
   its interpreter before it. PHI_PARSE: *fault, a static text, names the fault. The only other
   failure is PHI_NO_MEMORY. */
PHI__FN phi_status phi__split_command(phi_arena *arena, const char *command,
                                      const char *const **out, const char **fault);
#endif

/* Replaces a NULL-ended list of texts by a copy. NULL stays NULL. False: no memory. */
PHI__FN bool phi__keep_list(phi_arena *arena, const char *const **list);

/* Returns an empty registry, or NULL without memory. `allocator` is copied; NULL means the C
   library's allocator. */
PHI__FN phi__registry *phi__reg_new(const phi_allocator *allocator);

/* Returns a registry with the built-in tools, or NULL without memory. The registry owns the tools
   and must outlive the agents that use them. desc: see phi_tools_init. prun, prun_with_memo and
   revert_to_state (tools/context_tools.h) are found by name only: phi__reg_count does not count
   them, and phi__reg_at does not return them. */
PHI__FN phi__registry *phi__reg_with_defaults(const phi_allocator *allocator,
                                              const phi_tools_desc *desc);
PHI__FN void phi__reg_free(phi__registry *registry); /* NULL is harmless */

/* Adds a tool, or replaces the tool of the same name. The struct is copied. Its pointers are
   borrowed until the registry, and all agents that got the tool from it, are freed. PHI_BAD_ARG:
   the tool has no name, or no start function. */
PHI__FN phi_status phi__reg_add(phi__registry *registry, const phi_tool *tool);

/* Returns the tool of that name, or NULL. */
PHI__FN const phi_tool *phi__reg_named(const phi__registry *registry, const char *name);
PHI__FN size_t phi__reg_count(const phi__registry *registry);

/* Returns a tool in the order of adding, valid until the next phi__reg_add. NULL past the last. */
PHI__FN const phi_tool *phi__reg_at(const phi__registry *registry, size_t index);

/* Copies the tools with these names into `out`, in the order of the names, each once. Returns how
   many were copied. Unknown names are skipped; unknown[0..*unknown_count) lists them (both
   arguments may be NULL). The name prun also brings prun_with_memo, so `out` needs room for count +
   1 tools. */
PHI__FN size_t phi__reg_resolve(const phi__registry *registry, const char *const *names,
                                size_t count, phi_tool *out, const char **unknown,
                                size_t *unknown_count);

/* ======== Patterns of paths, keywords of schemas, names of tools. */

/* Appends the pattern once for each choice of its braces, with a NUL after each. Returns NULL, or
   an error message; after an error `out` is unchanged. Without memory, out->failed is set. */
PHI__FN const char *phi__glob_expand(phi__buf *out, phi_str pattern);

/* Returns the part of a path after its last slash. */
PHI__FN phi_str phi__glob_name(phi_str path);

typedef enum phi__keyword {
    PHI__KEYWORD_DROP,    /* leave it out: models do not need it, or the caller handles it */
    PHI__KEYWORD_COPY,    /* copy it: it is well formed */
    PHI__KEYWORD_SHORT,   /* copy it, unless it is long */
    PHI__KEYWORD_SUB,     /* its value is a schema */
    PHI__KEYWORD_SUBS,    /* its value maps names to schemas */
    PHI__KEYWORD_CHOICES, /* its value is a list of schemas */
    PHI__KEYWORD_NAMES,   /* its value is a list of names */
    PHI__KEYWORD_NOTE     /* move it into the description */
} phi__keyword;

/* Returns the treatment of one member of a schema. A malformed member is PHI__KEYWORD_DROP. */
PHI__FN phi__keyword phi__keywords_of(phi_str key, const phi_json *value);

/* True if the name is one of JSON Schema's seven types. */
PHI__FN bool phi__keywords_is_type(phi_str name);

enum { PHI__TOOL_NAME_MOST = 64 };

typedef struct phi__tool_name {
    char at[PHI__TOOL_NAME_MOST]; /* not terminated */
    size_t len;
    bool cut, exact; /* exact: no character was replaced */
} phi__tool_name;

/* Begins a name with "{prefix}__" if prefix is not NULL. `first` is the first character that
   follows. */
PHI__FN void phi__tool_name_begin(phi__tool_name *name, const char *prefix, char first);
PHI__FN void phi__tool_name_put(phi__tool_name *name, char c);
PHI__FN void phi__tool_name_text(phi__tool_name *name, phi_str text);
PHI__FN bool phi__tool_name_plain(char c); /* True if c is allowed in names */

/* The names of a set of tools. */
typedef struct phi__tool_names {
    phi_arena scratch;
    phi__map map;
} phi__tool_names;

PHI__FN void phi__tool_name_init(phi__tool_names *names, phi_memory *memory);
PHI__FN void phi__tool_name_free(phi__tool_names *names); /* calling it twice is harmless */
PHI__FN bool phi__tool_name_reserve(phi__tool_names *names, size_t count);

/* Counts a name, before any name is claimed. False: no memory. */
PHI__FN bool phi__tool_name_count(phi__tool_names *names, const phi__tool_name *name);

/* Changes *name to its final form. Call it after all names were counted. `hash` tells the tool from
   other tools of the same name. PHI_FULL: every form of the name is taken. The only other failure
   is PHI_NO_MEMORY. */
PHI__FN phi_status phi__tool_name_claim(phi__tool_names *names, phi__tool_name *name,
                                        const unsigned char hash[32]);
#ifndef PHI_NO_FILES
/* ======== The set of skills.

   Skills and their strings live in one arena and never move. A fault of a skill is added to the
   list of problems and does not end the load. Only a lack of memory ends the load. */

/* A load of one directory that is under way. */
typedef struct phi__skills_load {
    phi__walk *walk; /* NULL: no load is under way */
    phi_str dir, label;
} phi__skills_load;

struct phi_skills {
    phi_memory memory;
    phi_arena arena; /* holds skills, strings and problems */
    phi_skills_desc desc;
    phi_skill **list; /* sorted by name */
    size_t count, cap;
    phi_skill_problem *problems;
    size_t problem_count, problem_cap;
    phi__skills_load load;
    uint32_t unlabelled; /* loads without a label so far */
};

/* Returns the skill of that name, or NULL. */
PHI__FN const phi_skill *phi__skills_find(const phi_skills *skills, phi_str name);

/* Loads the skill of the directory `dir`. */
PHI__FN phi_status phi__skills_one(phi_skills *skills, const char *dir, const char *label);
#endif

#endif
