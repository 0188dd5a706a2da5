/* openai_in.h - shared by OpenAI's two protocols, Chat Completions and Responses. */
#ifndef PHI_CODECS_OPENAI_IN_H
#define PHI_CODECS_OPENAI_IN_H

#include "codecs/codecs_in.h"
#include "wire/codec_in.h"

/* Appends the texts of a message, joined by line feeds, to the scratch buffer as the inside of a
   JSON string. If `blank` is true, includes blank texts. Returns true if there was any text. */
PHI__FN bool phi__openai_join_text(phi__encoder *e, const phi_message *m, bool blank);

/* True if any block of a user's message is sent, or if a line of text replaces a block. */
PHI__FN bool phi__openai_says(const phi__encoder *e, const phi_message *m);

/* Writes a data URL in quotes, such as "data:application/pdf;base64,...", to the scratch buffer. */
PHI__FN void phi__openai_data_url(phi__encoder *e, const phi_content *c);

/* Returns the API's word for the thinking level. NULL: send no level. `openai` is true at OpenAI
   itself. */
PHI__FN const char *phi__openai_effort_name(const phi__encoder *e, bool openai);

/* Returns the thinking level that is sent if `wanted` is requested. `openai` is true at OpenAI
   itself. */
PHI__FN phi_thinking phi__openai_level(const phi_model *model, phi_thinking wanted, bool openai);

/* Writes "prompt_cache_key" to the scratch buffer if there is a session. */
PHI__FN void phi__openai_put_cache_key(phi__encoder *e);

/* Writes name, strictness and schema of the answer's format as members of an open object. */
PHI__FN void phi__openai_put_schema(phi__encoder *e);

/* As phi__strict_put_tool, with the schema as "parameters". A description longer than OpenAI
   accepts is cut at a character and ends in "...". */
PHI__FN bool phi__openai_put_tool(phi__encoder *e, const phi__tool_view *tool);

/* For phi__codec_rules. Only api.openai.com accepts schema keywords that narrow a value. */
PHI__FN phi__strict_form phi__openai_strict_form(const phi_model *model);

/* For decoders. True if a text is one JSON value (is_json), or one JSON object (is_object). Bytes
   that are not UTF-8 do not matter, because U+FFFD replaces them in kept text. Use and reset
   a->scratch. */
PHI__FN bool phi__kept_is_json(phi__assembly *a, phi_str text);
PHI__FN bool phi__kept_is_object(phi__assembly *a, phi_str text);

/* For encoders. Parses an object into e->arena. NULL if the text is no object, or a request may not
   hold it (phi__render_goes). */
PHI__FN phi_json *phi__kept_tree(phi__encoder *e, phi_str text);

/* A string of a JSON tree, with room to append. It is changed in its node, because replacing the
   node would need a key, which an item of an array does not have. */
typedef struct phi__kept_grown {
    phi_json *node; /* the string with spare room; NULL if there is none */
    char *at;
    size_t cap;
} phi__kept_grown;

/* Appends `more` to the string `old`. PHI_PARSE if the result is too long, or PHI_NO_MEMORY. */
PHI__FN phi_status phi__kept_append(phi_arena *arena, phi__kept_grown *grown, phi_json *old,
                                    const phi_json *more);

/* Returns the index of the latest text block of an answer; SIZE_MAX if there is none. */
PHI__FN size_t phi__kept_text(const phi__assembly *a);

/* True if an opaque block came from one of two protocols that share a wire. Ignores case. */
PHI__FN bool phi__kept_is_of(const phi_content *c, const char *const names[PHI__CODEC_NAMES],
                             const char *other);

#endif
