/* gemini_in.h - shared by Google's protocols: generateContent (Gemini API and Vertex AI, gemini.c)
   and Interactions (gemini_interactions.c). */
#ifndef PHI_CODECS_GEMINI_IN_H
#define PHI_CODECS_GEMINI_IN_H

#include "codecs/codecs_in.h"
#include "wire/codec_in.h"

/* Returns the model's version: 25 for gemini-2.5-flash, 30 for gemini-3-pro, 90 for a Gemini
   without a number, 0 for another family. */
PHI__FN int phi__gemini_version(const phi_model *model);

/* True for model 3 and later: it checks signatures, and results may hold images. */
static inline bool phi__gemini_three(const phi__encoder *e) {
    return phi__gemini_version(e->spec->model) >= 30;
}

PHI__FN bool phi__gemini_has(const phi_model *model, const char *word); /* searches the id */

/* Adds the content type headers, the key (bearer: as an OAuth token) and the model's headers. */
PHI__FN void phi__gemini_headers(phi__encoder *e, bool bearer);

/* Entries of phi__codec_rules. Models since 3 accept a format together with tools. */
PHI__FN phi__strict_form phi__gemini_strict_form(const phi_model *model);
PHI__FN phi__format_way phi__gemini_format_way(const phi__request_spec *spec);

/* Writes a tool's name from history. Characters that Google refuses become '_'. */
PHI__FN void phi__gemini_name(phi__buf *out, const char *before, phi_str name);

/* Returns the name of a result's tool, which the API requires in the result. */
PHI__FN phi_str phi__gemini_result_name(const phi__encoder *e, const phi_message *m);

/* Writes all texts of a result as the inside of a string, joined by line feeds. */
PHI__FN void phi__gemini_result_text(phi__encoder *e, const phi_message *m);

#endif
