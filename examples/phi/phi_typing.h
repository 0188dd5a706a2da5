/* phi_typing.h - what belongs to the line that a person types: lines for the shell, words that are completed, rows below. */
#ifndef PHI_TYPING_H
#define PHI_TYPING_H

#include "phi_complete.h"
#include "phi_shell.h"

/* Zero to begin with. */
typedef struct typing {
    shell shell;       /* lines that a person runs */
    complete complete; /* of a word of the line */
    menu menu;         /* below it */
    uint64_t key_ms;   /* when the last key came */
    text asked;        /* all prompts, whose URLs may be private */
    text steered;      /* lines sent to the run, each with its 0 */
} typing;

static inline void typing_free(typing *t) {
    shell_free(&t->shell);
    complete_free(&t->complete);
    menu_free(&t->menu);
    free(t->asked.at);
    free(t->steered.at);
}

#endif
