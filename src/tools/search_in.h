/* search_in.h - shared by the halves of the tool that searches: a program's output, or our own walk
   and engine, becomes lines of one form, "file:number:text". */
#ifndef PHI_TOOLS_SEARCH_IN_H
#define PHI_TOOLS_SEARCH_IN_H

#include "system/process_in.h"
#include "system/ordered_in.h"
#include "match/regex_in.h"
#include "tools/ignored_in.h"
#include "tools/job_in.h"

#ifndef PHI_NO_FILES

enum { PHI__SEARCH_LINE_BYTES = 2000 /* bytes listed of one line */ };

struct phi__search_own;

typedef struct phi__search {
    phi__job job;
    const char *pattern, *path, *include;
    bool case_sensitive, placed;
    phi__timer deadline, tick;
    phi__buf line, out; /* line: the line being read */
    size_t line_bytes;  /* of it, listed or not */
    uint32_t matches;
    struct phi__search_own *own; /* NULL: a program searches */
#ifndef PHI_NO_PROCESS
    phi__process *process;
    phi__buf words;       /* of the program's stderr */
    phi__buf last;        /* the name of the last line's file, as the program wrote it */
    bool use_grep, named; /* named: the name of the line's file is whole */
#endif
} phi__search;

/* search->line is whole. True: it was the last to list, and the job is done. */
PHI__FN bool phi__search_lines_add(phi__search *search);
PHI__FN phi_flow phi__search_lines_end(phi__search *search);

/* Comes again in a later step. */
static inline void phi__search_again(phi__search *search, uint64_t delay_us) {
    phi__job *job = &search->job;
    if (phi__io_timer_set(job->io, &search->tick, phi__io_now_us(job->io) + delay_us) != PHI_OK)
        (void)phi__job_no_memory(job);
}

/* Our own search: begins, once the place is known, and continues. Both may end the job. */
PHI__FN void phi__search_own_begin(phi__search *search);
PHI__FN void phi__search_own_more(phi__search *search);
PHI__FN void phi__search_own_free(phi__search *search); /* twice is harmless */

#endif
#endif
