/* tools_in.h - tools by name: what the section [tools] of a configuration chooses from. */
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
    PHI__JOB_PATHS = 128    /* units of work with paths in one step: files_in.h */
};

typedef struct phi__job {
    phi_call call;
    const phi_toolset *set; /* of a built-in tool */
    void *user_data;        /* the tool's */
    phi_memory *memory;     /* the agent's */
    phi__io *io;
    phi_arena arena; /* arguments, paths */
    phi__json_reader reader;
    phi_json *arguments; /* NULL: still being read */
    bool ended;
    phi_flow (*go)(struct phi__job *job); /* a slice of work */
#ifndef PHI_NO_FILES
    const char *path, *place; /* as it was given; resolved */
    size_t roots;             /* that the place was not in */
    phi__resolve *resolve;    /* of one of these */
    phi_flow (*placed)(struct phi__job *job);
#endif
    void (*drop)(struct phi__job *job);
} phi__job;

/* Starts a job in `bytes` of the call's memory and does its first slice. `whole`: the arguments are
   read at once, for tools without a step. */
PHI__FN phi_flow phi__job_begin(void *user_data, phi_call call, phi_str arguments, size_t bytes,
                                bool whole, phi_flow (*go)(phi__job *), void (*drop)(phi__job *));
PHI__FN phi_flow phi__job_step(void *user_data, phi_call call); /* a phi_tool's step */
PHI__FN void phi__job_cancel(void *user_data, phi_call call);   /* a phi_tool's cancel */

/* The result; all return PHI_DONE. done: `text` is UTF-8; fail: any bytes. details: JSON text, or
   NULL. */
PHI__FN phi_flow phi__job_done(phi__job *job, phi_str text, const char *details);

/* The same, with details; both buffers are freed. */
PHI__FN phi_flow phi__job_done_with(phi__job *job, phi__buf *text, phi__buf *details);
PHI__FN phi_flow phi__job_fail(phi__job *job, const char *format, ...) PHI_PRINTF(2, 3);
PHI__FN phi_flow phi__job_no_memory(phi__job *job);
PHI__FN bool phi__job_text(phi__job *job, const char *name, bool required, const char **out);
PHI__FN bool phi__job_number(phi__job *job, const char *name, uint64_t fallback, uint64_t *out);
#ifndef PHI_NO_PROCESS
/* Splits a command into a NULL-ended list in the arena, with the interpreter that its first word
   needs. PHI_PARSE: *fault (static) names the fault; PHI_NO_MEMORY. */
PHI__FN phi_status phi__split_command(phi_arena *arena, const char *command,
                                      const char *const **out, const char **fault);
#endif

/* Puts a copy of a text, or of a NULL-ended list of texts, in its place; NULL stays. False: no
   memory. */
PHI__FN bool phi__keep_text(phi_arena *arena, const char **text);
PHI__FN bool phi__keep_list(phi_arena *arena, const char *const **list);

/* An empty registry. allocator: copied; NULL: the C library's. NULL: no memory. */
PHI__FN phi__registry *phi__reg_new(const phi_allocator *allocator);

/* A registry with the built-in tools. It owns them, and must outlive the agents that use them. desc
   as in phi_tools_init. It also knows prun, prun_with_memo and revert_to_state
   (tools/context_tools.h), but only by name: they are not counted, nor found by
   phi__reg_at. */
PHI__FN phi__registry *phi__reg_with_defaults(const phi_allocator *allocator,
                                              const phi_tools_desc *desc);
PHI__FN void phi__reg_free(phi__registry *registry); /* NULL is harmless */

/* Adds a tool, or replaces the tool of that name. The struct is copied; its pointers are borrowed
   until the registry, and the agents that got the tool from it, are freed. PHI_BAD_ARG: no name, or
   no start. */
PHI__FN phi_status phi__reg_add(phi__registry *registry, const phi_tool *tool);

/* The tool of that name; NULL: there is none. */
PHI__FN const phi_tool *phi__reg_named(const phi__registry *registry, const char *name);
PHI__FN size_t phi__reg_count(const phi__registry *registry);

/* In the order they were added; NULL past the last. Owned by the registry, valid until the next
   add. */
PHI__FN const phi_tool *phi__reg_at(const phi__registry *registry, size_t index);

/* Copies the tools of those names into `out`, in that order, each once; unknown names are skipped
   and, where `unknown` is given, put into unknown[0..count). The name prun brings prun_with_memo
   with it, so `out` has room for count + 1. Returns how many tools; *unknown_count (may be NULL):
   how many names were unknown. */
PHI__FN size_t phi__reg_resolve(const phi__registry *registry, const char *const *names,
                                size_t count, phi_tool *out, const char **unknown,
                                size_t *unknown_count);

/* ======== Patterns of paths, keywords of schemas, names of tools. */

/* Appends the pattern to `out`, once for each choice that its braces leave, a NUL behind each.
   NULL, or an error message; `out` is then as it was. A buffer without memory is failed. */
PHI__FN const char *phi__glob_expand(phi__buf *out, phi_str pattern);

/* The part of a path after its last slash. */
PHI__FN phi_str phi__glob_name(phi_str path);

typedef enum phi__keyword {
    PHI__KEYWORD_DROP,    /* says nothing to a model, or is treated on its own */
    PHI__KEYWORD_COPY,    /* well formed: it goes on */
    PHI__KEYWORD_SHORT,   /* the same, unless it is long */
    PHI__KEYWORD_SUB,     /* a schema */
    PHI__KEYWORD_SUBS,    /* properties */
    PHI__KEYWORD_CHOICES, /* a list of schemas */
    PHI__KEYWORD_NAMES,   /* required */
    PHI__KEYWORD_NOTE     /* moves into the description */
} phi__keyword;

/* The treatment of one member of a schema; of malformed ones: DROP. */
PHI__FN phi__keyword phi__keywords_of(phi_str key, const phi_json *value);

/* One of JSON Schema's seven types. */
PHI__FN bool phi__keywords_is_type(phi_str name);

enum { PHI__TOOL_NAME_MOST = 64 };

typedef struct phi__tool_name {
    char at[PHI__TOOL_NAME_MOST]; /* not terminated */
    size_t len;
    bool cut, exact; /* exact: no character was changed */
} phi__tool_name;

/* Begins with "{prefix}__", where there is one (NULL: none). first: the first character
   that will be put. */
PHI__FN void phi__tool_name_begin(phi__tool_name *name, const char *prefix, char first);
PHI__FN void phi__tool_name_put(phi__tool_name *name, char c);
PHI__FN void phi__tool_name_text(phi__tool_name *name, phi_str text);
PHI__FN bool phi__tool_name_plain(char c); /* allowed in names */

/* The names of a set. */
typedef struct phi__tool_names {
    phi_arena scratch;
    phi__map map;
} phi__tool_names;

PHI__FN void phi__tool_name_init(phi__tool_names *names, phi_memory *memory);
PHI__FN void phi__tool_name_free(phi__tool_names *names); /* twice is harmless */
PHI__FN bool phi__tool_name_reserve(phi__tool_names *names, size_t count);

/* False: no memory. */
PHI__FN bool phi__tool_name_count(phi__tool_names *names, const phi__tool_name *name);

/* Changes the name to the one it gets, once all were counted. hash: of what sets the tool apart.
   PHI_FULL: all that it could have are taken; PHI_NO_MEMORY. */
PHI__FN phi_status phi__tool_name_claim(phi__tool_names *names, phi__tool_name *name,
                                        const unsigned char hash[32]);
#ifndef PHI_NO_FILES
/* ======== The set of skills.

   Skills and their strings live in one arena and never move. A fault of a skill is a problem in the
   list, not a failure of the load; only a lack of memory ends it. */

/* A load of one directory that is under way. */
typedef struct phi__skills_load {
    phi__walk *walk; /* NULL: none is */
    phi_str dir, label;
} phi__skills_load;

struct phi_skills {
    phi_memory memory;
    phi_arena arena; /* of skills, strings and problems */
    phi_skills_desc desc;
    phi_skill **list; /* sorted by name */
    size_t count, cap;
    phi_skill_problem *problems;
    size_t problem_count, problem_cap;
    phi__skills_load load;
    uint32_t unlabelled; /* loads so far without a label */
};

/* NULL: there is no such skill. */
PHI__FN const phi_skill *phi__skills_find(const phi_skills *skills, phi_str name);

/* The skill of this directory. */
PHI__FN phi_status phi__skills_one(phi_skills *skills, const char *dir, const char *label);
#endif

#endif
