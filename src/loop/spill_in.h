/* spill_in.h - a text written to a new file in slices: the whole of a result that a model sees
   cut.

   The file is made for its owner alone (0600), under a name of its own that says nothing of the
   text: "phi-", the 32 digits of `random`, and the ending. A directory that is missing is made. A
   file that does not become complete is removed. */
#ifndef PHI_LOOP_SPILL_IN_H
#define PHI_LOOP_SPILL_IN_H

#include "io/files_in.h"

#ifndef PHI_NO_FILES

typedef struct phi__spill phi__spill;

typedef struct phi__spill_desc {
    const char *directory; /* terminated; copied */
    const char *ending;    /* of the name: ".txt"; copied */
    unsigned char random[16];
    const phi_str *texts; /* written one behind the other; borrowed until phi__spill_free */
    size_t text_count;
} phi__spill_desc;

/* Opens the file. PHI_NO_MEMORY, or as files_in.h has it, with words. */
PHI__FN phi_status phi__spill_new(phi_memory *memory, const phi__spill_desc *desc, phi__spill **out,
                                  phi__words *words);
/* Writes up to `bytes` more. PHI_BUSY: come again; PHI_OK: the file is complete and closed; else
   refused, and it will not become complete. */
PHI__FN phi_status phi__spill_more(phi__spill *spill, size_t bytes, phi__words *words);
/* Terminated; valid until phi__spill_free. */
PHI__FN const char *phi__spill_path(const phi__spill *spill);
PHI__FN void phi__spill_free(phi__spill *spill); /* NULL is harmless */

#endif

enum { PHI__SPILL_NAME_BYTES = 40 }; /* "/phi-", 32 digits, and the terminator, with room */

/* "/phi-" and the digits, terminated. */
PHI__FN void phi__spill_name(const unsigned char random[16], char out[PHI__SPILL_NAME_BYTES]);

#endif
