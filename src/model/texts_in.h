/* texts_in.h - the texts of an agent, with their holes filled. */
#ifndef PHI_MODEL_TEXTS_IN_H
#define PHI_MODEL_TEXTS_IN_H

#include "base/arena.h"
#include "base/arena_in.h"
#include "model/texts.h"

typedef struct phi__texts_args {
    uint64_t n;         /* {n} */
    phi_str text, name; /* {text}; {name} and {most} */
} phi__texts_args;

/* The template. texts NULL: phi's own. */
PHI__FN const char *phi__texts_get(const phi_texts *texts, phi_text which);
/* args NULL: of a text without any. */
PHI__FN void phi__texts_put(phi__buf *out, const phi_texts *texts, phi_text which,
                            const phi__texts_args *args);
/* The same into an arena; false: no memory. */
PHI__FN bool phi__texts_make(phi_arena *arena, const phi_texts *texts, phi_text which,
                             const phi__texts_args *args, phi_str *out);
/* A text with only a number in it. */
PHI__FN bool phi__texts_make_n(phi_arena *arena, const phi_texts *texts, phi_text which, uint64_t n,
                               phi_str *out);
/* True if the text is this one, in the host's words or in phi's, with any {n}, which becomes *n (1:
   it has none), with the text `name` as its {name}, and as far as its {text}; one that begins with
   {text} is never known. */
PHI__FN bool phi__texts_is(const phi_texts *texts, phi_text which, phi_text name, phi_str text,
                           uint64_t *n);

/* NULL, or the fault in `words`: "texts.summary: {text} is missing". */
PHI__FN const char *phi__texts_check(const phi_texts *texts, char *words, size_t words_size);
/* A copy in the arena, strings too. NULL: no memory. */
PHI__FN phi_texts *phi__texts_copy(const phi_texts *texts, phi_arena *arena);

#endif
