/* gemini_in.h - the Google Gemini codec, which Vertex AI shares but for its address, and its two
   halves. */
#ifndef PHI_CODECS_GEMINI_IN_H
#define PHI_CODECS_GEMINI_IN_H

#include "wire/codec_in.h"
#include "wire/delta_cache_in.h"

#if !defined(PHI_NO_GEMINI) || !defined(PHI_NO_VERTEX)

#ifndef PHI_NO_GEMINI
PHI__FN const phi__codec *phi__gemini_codec(void);
#endif
#ifndef PHI_NO_VERTEX
PHI__FN const phi__codec *phi__gemini_vertex_codec(void);
#endif

/* Appends a schema as Gemini takes it; unchanged where it needs no change.
   phi__codec_rules.adapt. */
PHI__FN bool phi__gemini_schema_adapt(phi__buf *out, phi_str schema, char *words,
                                      size_t words_size);

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
