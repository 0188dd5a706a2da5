/* gemini_interactions_in.h - the codec of Google's Interactions API, and its two halves. */
#ifndef PHI_CODECS_GEMINI_INTERACTIONS_IN_H
#define PHI_CODECS_GEMINI_INTERACTIONS_IN_H

#include "wire/codec_in.h"
#include "wire/delta_cache_in.h"

/* The stream half; the state is zeroed memory. */
typedef struct phi__interactions_state {
    bool finished; /* the answer has its end: later events are ignored */
    bool broken;   /* the last event was no JSON: an error, unless the stream ends with it */
    bool heard;    /* an event came */
    int64_t index; /* of the step that began last: that of events without one */
    uint64_t input, tools, cached, output, thoughts; /* tokens, as last reported */
    phi__delta_cache repeat;
} phi__interactions_state;

#define PHI__INTERACTIONS_IS(text, literal) phi__json_cursor_text_is((text), PHI__LIT(literal))

/* Makes one object of a block's start and its deltas, which wait in `replay`, one behind the other.
   A start without deltas stays as it came. */
PHI__FN void phi__interactions_merge(phi__assembly *a, size_t block);
/* Arguments that are a string are a piece of their JSON; false: they are none. */
PHI__FN bool phi__interactions_merge_piece(phi_str arguments, phi__json_text *piece);

PHI__FN void phi__interactions_stream_event(void *state, phi__assembly *a, phi_str name,
                                            phi_str data);
PHI__FN void phi__interactions_stream_end(void *state, phi__assembly *a);
PHI__FN void phi__interactions_stream_whole(void *state, phi__assembly *a, phi_str body);

#endif
