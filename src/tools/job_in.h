/* job_in.h - shared by the built-in tools: results, arguments and paths of jobs (tools_in.h). */
#ifndef PHI_TOOLS_JOB_IN_H
#define PHI_TOOLS_JOB_IN_H

#include "tools/tools_in.h"
#include "loop/loop_in.h"
#include "system/system_in.h"
#include "text/text_in.h"
#include "tools/tools.h"

/* Gives the result and ends the job. Without memory for the result, the call fails. */
PHI__FN phi_flow phi__job_give(phi__job *job, const phi_content *content, const char *details,
                               bool is_error);

/* Fills *out with a tool whose calls are jobs. Its texts are borrowed. */
PHI__FN void phi__job_tool(phi_tool *out, void *user_data, const char *name, const char *label,
                           const char *description, const char *schema,
                           phi_flow (*start)(void *user_data, phi_call call, phi_str arguments));

/* Read an argument; null counts as missing. A missing flag is false. False: the job has failed. */
PHI__FN bool phi__job_str(phi__job *job, const char *name, phi_str *out); /* fails if missing */
PHI__FN bool phi__job_flag(phi__job *job, const char *name, bool *out);
#ifndef PHI_NO_FILES
/* False if files anywhere may be used. */
PHI__FN bool phi__job_confined(const phi_tools_desc *desc);

/* Resolves `path`, which is borrowed, and checks that it may be used. Then calls `placed`, with the
   resolved path as job->place in the job's arena. */
PHI__FN phi_flow phi__job_place(phi__job *job, const char *path, phi_flow (*placed)(phi__job *));

/* Like phi__job_place, for jobs without a step: call phi__job_place_begin once, then
   phi__job_place_more until it does not return PHI_BUSY. PHI_REFUSED: the job has failed. */
PHI__FN phi_status phi__job_place_begin(phi__job *job, const char *path);
PHI__FN phi_status phi__job_place_more(phi__job *job);
#endif

/* The start functions of the tools. */
#ifndef PHI_NO_PROCESS
PHI__FN phi_flow phi__bash_start(void *user_data, phi_call call, phi_str arguments);
#endif
#ifndef PHI_NO_FILES
PHI__FN phi_flow phi__rf_start(void *user_data, phi_call call, phi_str arguments);
PHI__FN phi_flow phi__write_start(void *user_data, phi_call call, phi_str arguments);
PHI__FN phi_flow phi__edit_start(void *user_data, phi_call call, phi_str arguments);
PHI__FN phi_flow phi__ls_start(void *user_data, phi_call call, phi_str arguments);
PHI__FN phi_flow phi__search_start(void *user_data, phi_call call, phi_str arguments);
#endif

#endif
