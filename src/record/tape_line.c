/* tape_line.c - writes the lines of a tape. */
#include "base/crc32_in.h"
#include "record/replay_in.h"

PHI__FN phi__buf *phi__tape_line_begin(phi__tape *tape, const char *kind) {
    phi__buf_clear(&tape->line);
    phi__buf_text(&tape->line, "{\"k\":\"");
    phi__buf_text(&tape->line, kind);
    phi__buf_char(&tape->line, '"');
    return &tape->line;
}

PHI__FN void phi__tape_line_end(phi__tape *tape) {
    phi__buf *line = &tape->line;
    if (tape->failed != PHI_OK || tape->over) return;
    if (!line->failed)
        (void)phi__secret_hide(&tape->secrets, line->at, line->len, PHI__SECRET_JSON);
    if (!line->failed) tape->sum = phi__crc32(tape->sum, line->at, line->len);
    phi__buf_printf(line, ",\"sum\":\"%08lx\"}\n", (unsigned long)tape->sum);
    if (line->failed)
        tape->failed = PHI_NO_MEMORY;
    else
        tape->failed = tape->desc.write_fn(tape->desc.user_data, line->at, line->len);
    tape->lines++;
}
