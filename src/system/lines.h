/* lines.h - lines over stdin and stdout, for protocols whose messages are lines: JSON-RPC of an
   editor or of a language server, JSON Lines of another program.

       phi_lines *lines = phi_lines_open(rt, NULL);
       while ((status = phi_lines_next(lines, &line)) != PHI_STALE)
           if (status == PHI_OK) answer(lines, line);   // phi_lines_write
           else phi_step(rt, 100);
       phi_lines_free(lines);

   phi_step reads and writes, and no call waits. Reading stops at the first whole line that the host
   has not taken, so a peer that sends too much has to wait. Nothing else in the process may use the
   two descriptors.

   Ownership: lines borrow their runtime: free them first. Their memory counts against the
   runtime's.
   Threads:   the pumping thread.

   PHI_NO_PROCESS leaves all of this out. */
#ifndef PHI_SYSTEM_LINES_H
#define PHI_SYSTEM_LINES_H

#include "agent/runtime.h"

#ifndef PHI_NO_PROCESS

#ifdef __cplusplus
extern "C" {
#endif

typedef struct phi_lines phi_lines;

/* Zero means default for every field. */
typedef struct phi_lines_desc {
    int in_fd, out_fd;      /* instead of 0 and 1 (default: 0 and 1) */
    size_t max_line_bytes;  /* a longer line is skipped (default 16,777,216) */
    size_t max_queue_bytes; /* max. bytes that wait for the reader (default 16,777,216) */
} phi_lines_desc;

/* Begins to read. desc NULL: all defaults. NULL: a descriptor is not open, both are the same, or
   there is no memory; phi_last_error says which. Also NULL if rt is NULL. */
PHI_API phi_lines *phi_lines_open(phi_runtime *rt, const phi_lines_desc *desc);

/* Takes the next line, without its end ("\n" or "\r\n"). PHI_OK: *line is valid until the next
   call. PHI_BUSY: there is none yet; call phi_step. PHI_TOO_BIG: a line longer than max_line_bytes
   was skipped. PHI_NO_MEMORY: one or more lines were skipped for that reason. PHI_STALE: no line
   will follow, because the input has ended or cannot be read, because nobody reads the output any
   more, or because lines is NULL. A last line without an end counts as a line. */
PHI_API phi_status phi_lines_next(phi_lines *lines, phi_str *line);

/* Queues a copy of a text and a line break after it; the text should have no line break. PHI_FULL:
   max_queue_bytes would be exceeded. PHI_STALE: nobody reads the output any more. PHI_NO_MEMORY.
   PHI_BAD_ARG: lines is NULL. After any of these nothing was queued. */
PHI_API phi_status phi_lines_write(phi_lines *lines, phi_str text);

/* Returns the number of queued bytes; 0 if nobody reads, or lines is NULL. */
PHI_API size_t phi_lines_waiting(const phi_lines *lines);

/* Drops the queued bytes. The descriptors stay open. NULL is harmless. */
PHI_API void phi_lines_free(phi_lines *lines);

#ifdef __cplusplus
}
#endif
#endif
#endif
