/* codecs_in.h - the functions that codecs/ offers to other rooms. */
#ifndef PHI_CODECS_CODECS_IN_H
#define PHI_CODECS_CODECS_IN_H

#include "codecs/queries.h"
#include "wire/wire_in.h"

typedef struct phi__queries {
    const char *names[PHI__CODEC_NAMES]; /* names of the protocol */
    const char *call;                    /* end or part of a model call's path */
    const char *models;                  /* replaces `call` for the list of models; NULL: no list */
    const char *size, *next; /* parameters of a page: its size, its cursor; NULL: only one page */
    const char *counted,
        *count; /* end of a model call's path, and its replacement for a count; NULL: no count */
    const char *const *kept;    /* members that a count accepts, ended by NULL; NULL: all */
    const char *before, *after; /* text around the kept members */
    bool names_model;           /* the count's body has a member for the model */
    const char *tokens;         /* the answer's member with the number of tokens */
} phi__queries;

/* Returns a protocol's row, or NULL if it has none. */
PHI__FN const phi__queries *phi__queries_of(const phi__codec *codec);

/* Append the URL. False if `url` is no model call's URL of this protocol, or if the protocol has no
   such query. `page` is the cursor of a page, and empty for the first page. */
PHI__FN bool phi__queries_models_url(const phi__queries *q, phi_str url, phi_str page,
                                     phi__buf *out);
PHI__FN bool phi__queries_count_url(const phi__queries *q, phi_str url, phi__buf *out);

/* Keeps only the members of a model call's body that a count accepts, moved to the start of `body`.
   *out is their text, without the braces. False if the body is no object. */
PHI__FN bool phi__queries_members(const phi__queries *q, char *body, size_t len, phi_str *out);

/* Appends the text that comes before the members. `any` is true if members follow. */
PHI__FN void phi__queries_before(const phi__queries *q, const phi_model *model, bool any,
                                 phi__buf *out);

/* Reads a page and calls `take` for each model, with texts that are valid during the call. `take`
   returns false if memory ran out. *next is the cursor of the next page, in `arena`, or empty.
   PHI_PARSE if the body is no list. */
PHI__FN phi_status phi__queries_page(const phi__queries *q, phi_str body, phi_arena *arena,
                                     bool (*take)(void *ctx, const phi_model_info *info), void *ctx,
                                     phi_str *next);
PHI__FN bool phi__queries_tokens(const phi__queries *q, phi_str body, uint64_t *out);

#endif
