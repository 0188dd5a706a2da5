/* gemini_in.h - the Google Gemini codec, which Vertex AI shares but for its address, and its two
   halves; and what it shares with the codec of Interactions (gemini_interactions.c). */
#ifndef PHI_CODECS_GEMINI_IN_H
#define PHI_CODECS_GEMINI_IN_H

#include "codecs/codecs_in.h"
#include "wire/codec_in.h"

/* 25 of gemini-2.5-flash, 30 of gemini-3-pro, 90 of one without a number; 0: another family. */
PHI__FN int phi__gemini_version(const phi_model *model);
PHI__FN bool phi__gemini_has(const phi_model *model, const char *word); /* in its name */

/* The content types and the key: as a token of OAuth (bearer) or as Google's own header; then the
   model's headers. */
PHI__FN void phi__gemini_headers(phi__encoder *e, bool bearer);

/* Entries of phi__codec_rules. Version 3 and later take a format together with tools. */
PHI__FN phi__strict_form phi__gemini_strict_form(const phi_model *model);
PHI__FN phi__format_way phi__gemini_format_way(const phi__request_spec *spec);

/* A tool's name in the history, made fit: another provider may have allowed other characters. */
PHI__FN void phi__gemini_name(phi__buf *out, const char *before, phi_str name);

/* The name of a result's tool, which the API wants with the result. */
PHI__FN phi_str phi__gemini_result_name(const phi__encoder *e, const phi_message *m);

/* All text of a result, a line each: the inside of a string. */
PHI__FN void phi__gemini_result_text(phi__encoder *e, const phi_message *m);

#endif
