/* search_lines.c - the lines that a search lists, and its result. */
#include "tools/search_in.h"

#ifndef PHI_NO_FILES

#include "base/utf8_in.h"
#include "base/words_in.h"

#include <stdio.h>

PHI__FN phi_flow phi__search_lines_end(phi__search *search) {
    char details[40];
    (void)snprintf(details, sizeof details, "{\"matches\":%u}", (unsigned)search->matches);
    if (search->matches == 0)
        phi__buf_printf(&search->out, "No matches found for '%s'", search->pattern);
    else if (search->matches >= search->job.set->desc.max_matches)
        phi__buf_printf(&search->out, "\n... (showing first %u matches)",
                        (unsigned)search->matches);
    else
        phi__buf_printf(&search->out, "\n(%u matches)", (unsigned)search->matches);
    if (search->out.failed) return phi__job_no_memory(&search->job);
    return phi__job_done(&search->job, phi__buf_str(&search->out), details);
}

PHI__FN bool phi__search_lines_add(phi__search *search) {
    phi_str line = phi__buf_str(&search->line);
    size_t shown = phi__utf8_cut(line, PHI__SEARCH_LINE_BYTES);
    bool cut = search->line_bytes > shown;
    size_t from;
    if (!cut && line.len > 0 && line.at[line.len - 1] == '\r') shown--;
    line.len = shown;
    if (search->matches > 0) phi__buf_char(&search->out, '\n');
    from = search->out.len;
    phi__utf8_repair(&search->out, line);
    if (!search->out.failed)
        search->out.len = from + phi__words_clean(search->out.at + from, search->out.len - from);
    if (cut) phi__buf_text(&search->out, "... (line truncated)");
    phi__buf_clear(&search->line);
    search->line_bytes = 0;
    if (++search->matches < search->job.set->desc.max_matches) return false;
    (void)phi__search_lines_end(search);
    return true;
}

#endif
