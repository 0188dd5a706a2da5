/* job_in.h - shared by the built-in tools: a job is a call under way, with its arguments and
   result.

   A job is the first member of a tool's own struct, which is the call's memory. It ends once, by
   phi__job_done or phi__job_fail; `drop` then releases the tool's resources, as it does when the
   call is cancelled. After that the job must not be touched. The `go` of a job drives tools with a
   `step`; the io drives the others. */
#ifndef PHI_TOOLS_JOB_IN_H
#define PHI_TOOLS_JOB_IN_H

#include "system/files_in.h"
#include "loop/loop_in.h"
#include "text/json_in.h"
#include "tools/tools.h"

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
PHI__FN phi_flow phi__job_content(phi__job *job, const phi_content *content, const char *details);
PHI__FN phi_flow phi__job_fail(phi__job *job, const char *format, ...) PHI_PRINTF(2, 3);
PHI__FN phi_flow phi__job_no_memory(phi__job *job);

/* Arguments. False: the job has failed with the words for it. null counts as not there; a text that
   is not there and not required is NULL. */
PHI__FN bool phi__job_str(phi__job *job, const char *name, phi_str *out); /* required */
PHI__FN bool phi__job_text(phi__job *job, const char *name, bool required, const char **out);
PHI__FN bool phi__job_number(phi__job *job, const char *name, uint64_t fallback, uint64_t *out);
PHI__FN bool phi__job_flag(phi__job *job, const char *name, bool *out);

#ifndef PHI_NO_FILES
/* False: files anywhere may be used. */
PHI__FN bool phi__job_confined(const phi_tools_desc *desc);
/* Resolves `path`, which stays, in the workspace, and checks that it may be used: job->place, in
   the job's arena. Then `placed`. */
PHI__FN phi_flow phi__job_place(phi__job *job, const char *path, phi_flow (*placed)(phi__job *));
/* The same for jobs without a step: begin, and more until it is not PHI_BUSY. PHI_REFUSED: the job
   has failed. */
PHI__FN phi_status phi__job_place_begin(phi__job *job, const char *path);
PHI__FN phi_status phi__job_place_more(phi__job *job);
#endif

/* The tools themselves, one file each. */
#ifndef PHI_NO_PROCESS
PHI__FN phi_flow phi__bash_start(void *user_data, phi_call call, phi_str arguments);
#endif
#ifndef PHI_NO_FILES
PHI__FN phi_flow phi__read_file_start(void *user_data, phi_call call, phi_str arguments);
PHI__FN phi_flow phi__write_file_start(void *user_data, phi_call call, phi_str arguments);
PHI__FN phi_flow phi__edit_file_start(void *user_data, phi_call call, phi_str arguments);
PHI__FN phi_flow phi__list_files_start(void *user_data, phi_call call, phi_str arguments);
PHI__FN phi_flow phi__search_start(void *user_data, phi_call call, phi_str arguments);
#endif

#endif
