/* model_in.h - which server a model is at. */
#ifndef PHI_MODEL_MODEL_IN_H
#define PHI_MODEL_MODEL_IN_H

#include "base/arena.h"
#include "base/base_in.h"
#include "model/failure.h"
#include "model/message.h"
#include "model/model.h"
#include "model/texts.h"
#include "text/json.h"

/* words: borrowed. */
PHI__FN phi_failure phi__failure_of(phi_failure_kind kind, bool retryable, const char *words);
PHI__FN phi_status phi__failure_status(const phi_failure *failure);

/* The kind of a failure that has a status and no more. */
PHI__FN phi_failure_kind phi__failure_kind_of(phi_status status);

/* As phi_message_copy, into a message that there is. False: no memory. */
PHI__FN bool phi__message_copy(const phi_message *message, phi_arena *arena, phi_message *out);

/* Adds each field. */
PHI__FN void phi__message_add_usage(phi_usage *to, const phi_usage *more);

/* ---- writing: appended to a buffer ---- */
PHI__FN void phi__message_put(phi__buf *out, const phi_message *message, phi_arena *scratch);

/* The members "usage" and "content", with the comma before them where one is needed. */
PHI__FN void phi__message_put_usage(phi__buf *out, const phi_usage *usage);
PHI__FN void phi__message_put_usage_value(phi__buf *out, const phi_usage *usage); /* no key */
PHI__FN void phi__message_put_blocks(phi__buf *out, const phi_message *message, phi_arena *scratch);

/* A text as a JSON value on one line; text that is no JSON as a string; an empty text as {}. */
PHI__FN void phi__message_put_value(phi__buf *out, phi_str text, phi_arena *scratch);

/* The same, with its key unless that is NULL, if it is JSON; strings only where they count. False:
   it was not, and nothing is written. */
PHI__FN bool phi__message_put_json(phi__buf *out, const char *key, phi_str text, bool strings_too,
                                   phi_arena *scratch);

/* A provider under the name it has today: earlier versions of this library and the original called
   two of them openai-responses and azure. An "azure" that speaks another protocol than Azure's
   Responses is a host's own name and stays. The result is the argument, or static. */
PHI__FN phi_str phi__message_read_provider(phi_str provider, phi_str protocol);

/* As phi_message_from_json; the strings of the tree are not copied. */
PHI__FN phi_status phi__message_read_get(const phi_json *root, phi_arena *arena, phi_message *out,
                                         phi_parse_error *error);

/* Only an array of blocks, into a message's content. */
PHI__FN phi_status phi__message_read_get_blocks(const phi_json *array, phi_arena *arena,
                                                phi_message *out, phi_parse_error *error);
PHI__FN phi_usage phi__message_read_get_usage(const phi_json *node);

/* What phi__message_put_value wrote. NULL leaves *out as it is. False: no memory. */
PHI__FN bool phi__message_read_get_value(const phi_json *node, phi_arena *arena, phi_str *out);

/* A protocol, in either spelling, as the original's JSON has it. NULL: the original has none of
   that name, and would refuse the whole file. Static. */
PHI__FN const char *phi__message_read_api(phi_str protocol);

/* The text of the JSON; "" for none. Static. */
PHI__FN const char *phi__message_stop_text(phi_stop_reason reason);

/* True where two addresses have the same scheme, host and port, letter for letter; NULL and "" are
   none, which both may be. */
PHI__FN bool phi__model_same_server(const char *a, const char *b);
PHI__FN bool phi__model_is_at(const phi_model *model, const char *address);

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
