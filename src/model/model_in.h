/* model_in.h - functions of model/ for other rooms: failures, messages as JSON, servers, texts. */
#ifndef PHI_MODEL_MODEL_IN_H
#define PHI_MODEL_MODEL_IN_H

#include "base/arena.h"
#include "base/base_in.h"
#include "model/failure.h"
#include "model/message.h"
#include "model/model.h"
#include "model/texts.h"
#include "text/json.h"

/* Returns a failure with this message. The message is borrowed. */
PHI__FN phi_failure phi__failure_of(phi_failure_kind kind, bool retryable, const char *words);
PHI__FN phi_status phi__failure_status(const phi_failure *failure);

/* Returns the kind of a failure of which only the status is known. */
PHI__FN phi_failure_kind phi__failure_kind_of(phi_status status);

/* Copies a message like phi_message_copy, into *out. False: no memory. */
PHI__FN bool phi__message_copy(const phi_message *message, phi_arena *arena, phi_message *out);

/* Adds each field of `more`, without overflow. */
PHI__FN void phi__message_add_usage(phi_usage *to, const phi_usage *more);

/* ---- writing: each function appends to a buffer ---- */
PHI__FN void phi__message_put(phi__buf *out, const phi_message *message, phi_arena *scratch);

/* Write the member "usage" or "content", after a comma if one is needed. */
PHI__FN void phi__message_put_usage(phi__buf *out, const phi_usage *usage);
/* writes no key */
PHI__FN void phi__message_put_usage_value(phi__buf *out, const phi_usage *usage);
PHI__FN void phi__message_put_blocks(phi__buf *out, const phi_message *message, phi_arena *scratch);

/* Writes a text as a JSON value on one line; as a string if it is not JSON; as {} if it is
   empty. */
PHI__FN void phi__message_put_value(phi__buf *out, phi_str text, phi_arena *scratch);

/* Writes a JSON text as a value on one line, with the key unless key is NULL. False: nothing was
   written, because the text is not JSON, or because it is a string and strings_too is false. If
   memory runs out during the check, out->failed is set. */
PHI__FN bool phi__message_put_json(phi__buf *out, const char *key, phi_str text, bool strings_too,
                                   phi_arena *scratch);

/* Returns the current name of a provider. Earlier versions of phi and the Rust original had the
   names openai-responses and azure for two providers. "azure" with a protocol other than Azure's
   Responses is a host's own name and stays. The result is the argument or a static string. */
PHI__FN phi_str phi__message_read_provider(phi_str provider, phi_str protocol);

/* Reads a message like phi_message_from_json, but from a tree, and without copying its strings. */
PHI__FN phi_status phi__message_read_get(const phi_json *root, phi_arena *arena, phi_message *out,
                                         phi_parse_error *error);

/* Reads only an array of blocks, into the message's content. */
PHI__FN phi_status phi__message_read_get_blocks(const phi_json *array, phi_arena *arena,
                                                phi_message *out, phi_parse_error *error);
PHI__FN phi_usage phi__message_read_get_usage(const phi_json *node);

/* Reads what phi__message_put_value wrote. node NULL: *out is unchanged. False: no memory. */
PHI__FN bool phi__message_read_get_value(const phi_json *node, phi_arena *arena, phi_str *out);

/* Returns a protocol's name in the Rust original's JSON; `protocol` may have either spelling. NULL:
   the original does not know the protocol and would refuse the whole file. Static. */
PHI__FN const char *phi__message_read_api(phi_str protocol);

/* Returns the word in the JSON; "" for PHI_STOP_REASON_NONE. Static. */
PHI__FN const char *phi__message_stop_text(phi_stop_reason reason);

/* True if two addresses have the same scheme, user info, host and port, byte by byte; a written
   default port differs from none. NULL equals "". */
PHI__FN bool phi__model_same_server(const char *a, const char *b);
PHI__FN bool phi__model_is_at(const phi_model *model, const char *address);

typedef struct phi__texts_args {
    uint64_t n;         /* value of {n} */
    phi_str text, name; /* text: value of {text}; name: value of {name} and {most} */
} phi__texts_args;

/* Returns the template of a text. texts NULL: phi's own texts. */
PHI__FN const char *phi__texts_get(const phi_texts *texts, phi_text which);

/* Appends a text. args may be NULL if the text has no holes. */
PHI__FN void phi__texts_put(phi__buf *out, const phi_texts *texts, phi_text which,
                            const phi__texts_args *args);

/* Writes a text into the arena. False: no memory. */
PHI__FN bool phi__texts_make(phi_arena *arena, const phi_texts *texts, phi_text which,
                             const phi__texts_args *args, phi_str *out);

/* Writes a text that has only the hole {n} into the arena. False: no memory. */
PHI__FN bool phi__texts_make_n(phi_arena *arena, const phi_texts *texts, phi_text which, uint64_t n,
                               phi_str *out);

/* True if `text` is this text, in the host's version or in phi's. {n} may be any number, and *n
   gets it (1 if there is no {n}). {name} must be the text `name`. The comparison ends at {text}; a
   text that begins with {text} is never recognized. */
PHI__FN bool phi__texts_is(const phi_texts *texts, phi_text which, phi_text name, phi_str text,
                           uint64_t *n);

/* Returns NULL, or a message in `words`: "texts.summary: {text} is missing". */
PHI__FN const char *phi__texts_check(const phi_texts *texts, char *words, size_t words_size);

/* Copies the texts into the arena, with their strings. NULL: no memory. */
PHI__FN phi_texts *phi__texts_copy(const phi_texts *texts, phi_arena *arena);

#endif
