/* cap_in.h - a result that is larger than its agent allows: cut, and the whole kept in a file.

   The call is claimed meanwhile, and its run is ready, so that the file is written slice by slice.
   With a tape the whole of it is written at once: a step processes all of its input. A tape that
   is recorded gets the cut result, and one that is played writes no file. */
#ifndef PHI_LOOP_CAP_IN_H
#define PHI_LOOP_CAP_IN_H

#include "loop/loop_in.h"
#include "base/base_in.h"
#include "io/io_in.h"
#include "loop/tool.h"

/* Gives a claimed call its result; NULL: memory ran out. */
typedef phi_status (*phi__cap_give_fn)(phi__toolcall *call, const phi_tool_result *result);

/* The bytes that the texts of its result may have: the agent's or the tool's limit, the smaller. */
PHI__FN uint32_t phi__cap_most(const phi__toolcall *call);

/* True if an image, a document or audio has more bytes than `most`. */
PHI__FN bool phi__cap_too_large(const phi_content *content, uint32_t most);

/* Of a result that is too large: gives the cut one now, or keeps call->cap until it can. */
PHI__FN phi_status phi__cap_begin(phi__toolcall *call, const phi_tool_result *result,
                                  phi__cap_give_fn give);

/* Writes a slice; the last one gives the result. */
PHI__FN void phi__cap_more(phi__toolcall *call);
PHI__FN void phi__cap_finish(phi__toolcall *call); /* all of it, now */
PHI__FN void phi__cap_drop(phi__toolcall *call);   /* gives nothing; the file is removed */

#endif
