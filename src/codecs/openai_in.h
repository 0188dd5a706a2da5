/* openai_in.h - shared by OpenAI's two protocols, Chat Completions and Responses. */
#ifndef PHI_CODECS_OPENAI_IN_H
#define PHI_CODECS_OPENAI_IN_H

#include "codecs/codecs_in.h"
#include "wire/codec_in.h"

/* A text that is sent: not blank. */
PHI__FN bool phi__openai_is_text(const phi_content *c);

/* The texts of a message as the inside of one JSON string in the scratch buffer, joined by line
   feeds; whether there was any. blank: blank texts too. */
PHI__FN bool phi__openai_join_text(phi__encoder *e, const phi_message *m, bool blank);

/* True if any block of a user's message is sent, or a line that replaces it. */
PHI__FN bool phi__openai_says(const phi__encoder *e, const phi_message *m);

/* "data:application/pdf;base64,...", with quotes, into the scratch buffer. */
PHI__FN void phi__openai_data_url(phi__encoder *e, const phi_content *c);

/* The word for the thinking level, by OpenAI's models where `openai`, or NULL: none is to be
   sent. */
PHI__FN const char *phi__openai_effort_name(const phi__encoder *e, bool openai);

/* The level of thinking that is sent for the wanted one, by OpenAI's models where `openai`. */
PHI__FN phi_thinking phi__openai_level(const phi_model *model, phi_thinking wanted, bool openai);

/* "prompt_cache_key", where there is a session; into the scratch buffer. */
PHI__FN void phi__openai_put_cache_key(phi__encoder *e);

/* The name, strictness and schema of the answer's format, as members of an object that is open. */
PHI__FN void phi__openai_put_schema(phi__encoder *e);

/* As phi__strict_put_tool, with the schema as "parameters" and a description that OpenAI
   takes: a longer one is cut at a character and ends in "...". */
PHI__FN bool phi__openai_put_tool(phi__encoder *e, const phi__tool_view *tool);

/* For phi__codec_rules: api.openai.com takes keywords that narrow, other servers do not. */
PHI__FN phi__strict_form phi__openai_strict_form(const phi_model *model);

/* For decoders. True if a text is one JSON value; bytes that are not UTF-8 do not count, because
   kept text has U+FFFD in their place. Uses and resets the arena. */
PHI__FN bool phi__kept_is_json(phi_arena *arena, phi_str text, bool *no_memory);

/* The same for an object. */
PHI__FN bool phi__kept_is_object(phi_arena *arena, phi_str text, bool *no_memory);

/* For encoders. The tree, in e->arena, of an object that a request may hold (phi__render_goes);
   NULL: it may not. */
PHI__FN phi_json *phi__kept_tree(phi__encoder *e, phi_str text);

/* A string of a tree that grows in place, as an item of an array has no name to set it by. */
typedef struct phi__kept_grown {
    phi_json *node; /* the string with room for more; NULL: none */
    char *at;
    size_t cap;
} phi__kept_grown;

/* Appends a string to another. PHI_PARSE: it is too long; PHI_NO_MEMORY. */
PHI__FN phi_status phi__kept_append(phi_arena *arena, phi__kept_grown *grown, phi_json *old,
                                    const phi_json *more);

/* The latest text of an answer, or SIZE_MAX. */
PHI__FN size_t phi__kept_text(const phi__assembly *a);

/* An opaque block of one of two protocols, which are two addresses of one wire; any case. */
PHI__FN bool phi__kept_is_of(const phi_content *c, const char *const names[PHI__CODEC_NAMES],
                             const char *other);

#endif
