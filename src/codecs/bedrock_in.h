/* bedrock_in.h - the codec of Amazon Bedrock's ConverseStream and its two halves. */
#ifndef PHI_CODECS_BEDROCK_IN_H
#define PHI_CODECS_BEDROCK_IN_H

#include "wire/codec_in.h"

#ifndef PHI_NO_BEDROCK

/* A document as a block, into the scratch buffer. at: its item; ordinal: its place among the
   documents of its message that are sent. */
PHI__FN void phi__bedrock_document_put(phi__encoder *e, const phi_content *c, size_t at,
                                       size_t ordinal);

PHI__FN const phi__codec *phi__bedrock_codec(void);

/* The stream half; the state is zeroed memory. */
typedef struct phi__bedrock_state {
    bool heard;    /* an event came */
    bool got_stop; /* messageStop */
    bool got_usage;
    bool settled; /* both, or the end: later frames are ignored */
} phi__bedrock_state;

/* name: the event's type; '!' and the type of an exception; empty: the JSON holds it as its key. */
PHI__FN void phi__bedrock_stream_event(void *state, phi__assembly *a, phi_str name, phi_str data);
PHI__FN void phi__bedrock_stream_end(void *state, phi__assembly *a);
PHI__FN void phi__bedrock_stream_whole(void *state, phi__assembly *a, phi_str body);

#endif

#endif
