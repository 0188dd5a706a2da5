/* gemini_in.h - the Google Gemini codec, which Vertex AI shares but for its address, and its two
   halves; and what it shares with the codec of Interactions (gemini_interactions_in.h). */
#ifndef PHI_CODECS_GEMINI_IN_H
#define PHI_CODECS_GEMINI_IN_H

#include "wire/codec_in.h"
#include "wire/delta_cache_in.h"

#if !defined(PHI_NO_GEMINI) || !defined(PHI_NO_VERTEX) || !defined(PHI_NO_INTERACTIONS)
#define PHI__GEMINI_SHARED 1

/* Appends a schema as Gemini takes it; unchanged where it needs no change.
   phi__codec_rules.adapt. */
PHI__FN bool phi__gemini_schema_adapt(phi__buf *out, phi_str schema, char *words,
                                      size_t words_size);

/* 25 of gemini-2.5-flash, 30 of gemini-3-pro, 90 of one without a number; 0: another family. */
PHI__FN int phi__gemini_version(const phi_model *model);
PHI__FN bool phi__gemini_has(const phi_model *model, const char *word); /* in its name */
/* A tool's name of history, where another provider may have allowed what this one does not. */
PHI__FN void phi__gemini_name(phi__buf *out, phi_str name);
/* The name of a result's tool, which the API wants with the result. */
PHI__FN phi_str phi__gemini_result_name(const phi__encoder *e, const phi_message *m);
/* All text of a result, a line each: the inside of a string. */
PHI__FN void phi__gemini_result_text(phi__encoder *e, const phi_message *m);
/* A format's schema as Gemini takes it. One that it does not take goes as it is: the loop refuses
   that of a tool before it comes here. */
PHI__FN phi_str phi__gemini_schema(phi__encoder *e, phi_str schema);

#endif

#if !defined(PHI_NO_GEMINI) || !defined(PHI_NO_VERTEX)

#ifndef PHI_NO_GEMINI
PHI__FN const phi__codec *phi__gemini_codec(void);
#endif
#ifndef PHI_NO_VERTEX
PHI__FN const phi__codec *phi__gemini_vertex_codec(void);
#endif

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

#endif
