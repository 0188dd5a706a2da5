/* spill.c - texts that are written to files of their own, in slices. */
#include "loop/spill_in.h"

#include <stdio.h>

PHI__FN void phi__spill_name(const unsigned char random[16], char out[PHI__SPILL_NAME_BYTES]) {
    size_t i;
    memcpy(out, "/phi-", 5);
    for (i = 0; i < 16; i++) (void)snprintf(out + 5 + 2 * i, 3, "%02x", (unsigned)random[i]);
}

#ifndef PHI_NO_FILES

enum { PHI__SPILL_TRIES = 100, PHI__SPILL_NUMBER = 8 /* "-99" and the terminator, with room */ };

struct phi__spill {
    phi_memory *memory;
    phi__file *file; /* NULL: complete, or it failed */
    phi_status status;
    const phi_str *texts;
    size_t text_count;
    size_t text, at; /* where the next piece begins */
    char *path;
    size_t path_bytes;
};

/* A name that is taken gets a number. */
static phi_status phi__spill_open(phi__spill *spill, const phi__spill_desc *desc,
                                  phi__words *words) {
    char name[PHI__SPILL_NAME_BYTES], number[PHI__SPILL_NUMBER] = "";
    phi_status status = PHI_BUSY;
    int i;
    phi__spill_name(desc->random, name);
    for (i = 0; i < PHI__SPILL_TRIES && status == PHI_BUSY; i++) {
        if (i > 0) (void)snprintf(number, sizeof number, "-%d", i);
        (void)snprintf(spill->path, spill->path_bytes, "%s%s%s%s", desc->directory, name, number,
                       desc->ending);
        status = phi__files_open_new(spill->memory, spill->path, &spill->file, words);
        if (status == PHI_NOT_FOUND &&
            phi__files_make_directories(desc->directory, words) == PHI_OK)
            status = phi__files_open_new(spill->memory, spill->path, &spill->file, words);
    }
    return status;
}

/* A file that is not committed is removed. */
static phi_status phi__spill_end(phi__spill *spill, phi_status status) {
    phi__files_close(spill->file);
    spill->file = NULL;
    return spill->status = status;
}

/* ---- for other modules ---- */

PHI__FN phi_status phi__spill_new(phi_memory *memory, const phi__spill_desc *desc, phi__spill **out,
                                  phi__words *words) {
    phi__spill *spill = (phi__spill *)phi__alloc(memory, sizeof *spill);
    phi_status status = PHI_NO_MEMORY;
    *out = NULL;
    words->text[0] = '\0';
    if (spill == NULL) return PHI_NO_MEMORY;
    spill->memory = memory;
    spill->texts = desc->texts;
    spill->text_count = desc->text_count;
    spill->path_bytes = phi__add(strlen(desc->directory) + strlen(desc->ending),
                                 (size_t)PHI__SPILL_NAME_BYTES + (size_t)PHI__SPILL_NUMBER);
    spill->path = (char *)phi__alloc(memory, spill->path_bytes);
    if (spill->path != NULL) status = phi__spill_open(spill, desc, words);
    if (status == PHI_OK)
        *out = spill;
    else
        phi__spill_free(spill);
    return status;
}

PHI__FN phi_status phi__spill_more(phi__spill *spill, size_t bytes, phi__words *words) {
    phi_status status;
    if (spill->file == NULL) return spill->status;
    while (spill->text < spill->text_count) {
        const phi_str *text = &spill->texts[spill->text];
        size_t n = phi__min(bytes, text->len - spill->at);
        if (spill->at < text->len && n == 0) return PHI_BUSY;
        status = n > 0 ? phi__files_write(spill->file, text->at + spill->at, n, words) : PHI_OK;
        if (status != PHI_OK) return phi__spill_end(spill, status);
        bytes -= n;
        spill->at += n;
        if (spill->at < text->len) return PHI_BUSY;
        spill->text++;
        spill->at = 0;
    }
    status = phi__files_commit(spill->file, words);
    return phi__spill_end(spill, status);
}

PHI__FN const char *phi__spill_path(const phi__spill *spill) { return spill->path; }

PHI__FN void phi__spill_free(phi__spill *spill) {
    if (spill == NULL) return;
    phi__files_close(spill->file);
    phi__free(spill->memory, spill->path, spill->path_bytes);
    phi__free(spill->memory, spill, sizeof *spill);
}

#endif
