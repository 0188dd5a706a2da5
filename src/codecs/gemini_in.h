/* gemini_in.h - the Google Gemini codec, which Vertex AI shares but for its address, and its two
   halves; and what it shares with the codec of Interactions (gemini_interactions_in.h). */
#ifndef PHI_CODECS_GEMINI_IN_H
#define PHI_CODECS_GEMINI_IN_H

#include "wire/codec_in.h"
#include "wire/delta_cache_in.h"

#define PHI__GEMINI_SHARED 1

/* Appends a schema as Gemini takes it; unchanged where it needs no change.
   phi__codec_rules.adapt. */
PHI__FN bool phi__gemini_schema_adapt(phi__buf *out, phi_str schema, char *words,
                                      size_t words_size);

/* 25 of gemini-2.5-flash, 30 of gemini-3-pro, 90 of one without a number; 0: another family. */
PHI__FN int phi__gemini_version(const phi_model *model);
PHI__FN bool phi__gemini_has(const phi_model *model, const char *word); /* in its name */
/* The content types and the key: as a token of OAuth (bearer) or as Google's own header; then the
   model's headers. */
PHI__FN void phi__gemini_headers(phi__encoder *e, bool bearer);
/* Entries of phi__codec_rules. A format beside tools is known from version 3 on. */
PHI__FN phi__strict_form phi__gemini_strict_form(const phi_model *model);
PHI__FN phi__format_way phi__gemini_format_way(const phi__request_spec *spec);
/* A tool's name in the history, made fit: another provider may have allowed other characters. */
PHI__FN void phi__gemini_name(phi__buf *out, phi_str name);
/* The name of a result's tool, which the API wants with the result. */
PHI__FN phi_str phi__gemini_result_name(const phi__encoder *e, const phi_message *m);
/* All text of a result, a line each: the inside of a string. */
PHI__FN void phi__gemini_result_text(phi__encoder *e, const phi_message *m);
/* A format's schema as Gemini takes it. One that it does not take goes as it is: the loop refuses
   that of a tool before it comes here. */
PHI__FN phi_str phi__gemini_schema(phi__encoder *e, phi_str schema);

/* The settings that a rendering depends on: bits of phi__rendered.form. */
enum {
    PHI__GEMINI_FORM = 2 << 28,
    PHI__GEMINI_ORIGIN = 1, /* minted by the same model: signatures go back */
    PHI__GEMINI_NO_IMAGES = 2,
    PHI__GEMINI_MEDIA = 4,       /* blocks that follow a result */
    PHI__GEMINI_THREE = 8,       /* ids, and images and documents inside of results */
    PHI__GEMINI_OWN = 16,        /* minted by a model of this name, at Google or Vertex */
    PHI__GEMINI_VERTEX = 32,     /* hosted tools that only the Gemini API has are left out */
    PHI__GEMINI_TITLES = 64,     /* names of documents: Vertex AI alone takes them */
    PHI__GEMINI_MEDIA_SHIFT = 16 /* of PHI__MEDIA_ bits */
};

/* A model since 3: signatures are checked, results may hold images. */
PHI__FN bool phi__gemini_parts_three(const phi__encoder *e);
/* Documents have titles. */
PHI__FN bool phi__gemini_parts_titles(const phi__encoder *e);
/* Parts of messages, into the scratch buffer. `same`: the same model minted it; `own`: a model of
   this name. */
PHI__FN void phi__gemini_parts_user(phi__encoder *e, const phi_message *m);
PHI__FN void phi__gemini_parts_model(phi__encoder *e, const phi_message *m, bool same, bool own);
PHI__FN void phi__gemini_parts_result_open(phi__encoder *e, phi_str id, phi_str name,
                                           bool is_error);
PHI__FN void phi__gemini_parts_result(phi__encoder *e, const phi_message *m);
/* Writes the blocks that go inside of a result, or those that follow it, and counts them. write
   false: only counts. */
PHI__FN size_t phi__gemini_parts_blocks(phi__encoder *e, const phi_message *m, bool inside,
                                        bool write);

/* The stream half; the state is zeroed memory. */
typedef struct phi__gemini_state {
    bool broken;  /* the last event was no JSON: an error, unless the stream ends with it */
    bool heard;   /* an event came */
    bool in_call; /* the last block is a call whose arguments still come, in pieces */
    uint64_t prompt, tools, cached, candidates, thoughts; /* tokens, as last reported */
    phi__delta_cache repeat;
} phi__gemini_state;

PHI__FN void phi__gemini_stream_event(void *state, phi__assembly *a, phi_str name, phi_str data);
PHI__FN void phi__gemini_stream_end(void *state, phi__assembly *a);
PHI__FN void phi__gemini_stream_whole(void *state, phi__assembly *a, phi_str body);

/* Arguments out of Vertex's pieces, `[` and objects with commas between, into the arena; PHI_PARSE:
   a path that is none, or a value of no known kind. */
PHI__FN phi_status phi__gemini_pieces_join(phi_arena *arena, phi_str pieces, phi_str *out);

#endif
