/* codecs_in.h - what codecs/ offers to other rooms. */
#ifndef PHI_CODECS_CODECS_IN_H
#define PHI_CODECS_CODECS_IN_H

#include "codecs/queries.h"
#include "wire/wire_in.h"

typedef struct phi__queries {
    const char *names[PHI__CODEC_NAMES]; /* of the protocol */
    const char *call;                    /* the end of a model call's path, or a part of it */
    const char *models;                  /* the list's in its place; NULL: there is no list */
    const char *size, *next;             /* of a page; its cursor's parameter. NULL: one page */
    const char *counted, *count;         /* the end of a path, and a count's; NULL: no count */
    const char *const *kept;             /* members that a count takes, then NULL; NULL: all */
    const char *before, *after;          /* around those members */
    bool names_model;                    /* the model is a member, too */
    const char *tokens;                  /* the member of the answer */
} phi__queries;

/* NULL: the protocol has none. */
PHI__FN const phi__queries *phi__queries_of(const phi__codec *codec);

/* Append the address. False: `url` is none of a model call of this protocol. page: the cursor;
   empty for the first page. */
PHI__FN bool phi__queries_models_url(const phi__queries *q, phi_str url, phi_str page,
                                     phi__buf *out);
PHI__FN bool phi__queries_count_url(const phi__queries *q, phi_str url, phi__buf *out);

/* The members of a model call's body that a count takes: moved to the beginning of `body`, which
   changes. *out is their text, without the braces. False: the body is no object. */
PHI__FN bool phi__queries_members(const phi__queries *q, char *body, size_t len, phi_str *out);

/* Appends the bytes before the members. */
PHI__FN void phi__queries_before(const phi__queries *q, const phi_model *model, bool any,
                                 phi__buf *out);

/* Reads a page: `take` is called for each model, with texts that are valid during the call; false
   from it: no memory. *next: the cursor of the next page, in `arena`; empty: there is none.
   PHI_PARSE: it is no list. */
PHI__FN phi_status phi__queries_page(const phi__queries *q, phi_str body, phi_arena *arena,
                                     bool (*take)(void *ctx, const phi_model_info *info), void *ctx,
                                     phi_str *next);
PHI__FN bool phi__queries_tokens(const phi__queries *q, phi_str body, uint64_t *out);

#endif
