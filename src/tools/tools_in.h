/* tools_in.h - tools by name: what the section [tools] of a configuration chooses from. */
#ifndef PHI_TOOLS_TOOLS_IN_H
#define PHI_TOOLS_TOOLS_IN_H

#include "base/base_in.h"
#include "loop/loop_in.h"
#include "system/system_in.h"
#include "text/text_in.h"
#include "tools/scripts.h"
#include "tools/tools.h"

typedef struct phi__registry phi__registry;

/* A job is a call of a built-in tool under way, with its arguments and result. It is the first
   member of a tool's own struct, which is the call's memory. It ends once, by phi__job_done or
   phi__job_fail; `drop` then releases the tool's resources, as it does when the call is cancelled.
   After that the job must not be touched. The `go` of a job drives tools with a `step`; the io
   drives the others. */

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

#endif
