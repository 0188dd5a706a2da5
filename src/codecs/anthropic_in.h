/* anthropic_in.h - the Anthropic Messages codec and its two halves. */
#ifndef PHI_CODECS_ANTHROPIC_IN_H
#define PHI_CODECS_ANTHROPIC_IN_H

#include "wire/codec_in.h"
#include "wire/delta_cache_in.h"

#ifndef PHI_NO_ANTHROPIC

PHI__FN const phi__codec *phi__anthropic_codec(void);

/* The stream half; the state is zeroed memory. */
typedef struct phi__anthropic_state {
    bool got_stop; /* a message_delta brought a stop reason */
    bool broken;   /* the last event was no JSON: an error, unless the stream ends with it */
    bool heard;    /* an event came */
    phi__delta_cache repeat;
} phi__anthropic_state;

PHI__FN void phi__anthropic_stream_event(void *state, phi__assembly *a, phi_str name, phi_str data);
PHI__FN void phi__anthropic_stream_end(void *state, phi__assembly *a);
PHI__FN void phi__anthropic_stream_whole(void *state, phi__assembly *a, phi_str body);

#endif

#endif
