/* bedrock_in.h - the codec of Amazon Bedrock's ConverseStream and its two halves. */
#ifndef PHI_CODECS_BEDROCK_IN_H
#define PHI_CODECS_BEDROCK_IN_H

#include "wire/codec_in.h"

/* The settings that a rendering depends on: bits of phi__rendered.form. */
enum {
    PHI__BEDROCK_FORM = 3 << 28,
    PHI__BEDROCK_ORIGIN = 1, /* minted by the same model: reasoning goes back */
    PHI__BEDROCK_NO_IMAGES = 2,
    PHI__BEDROCK_MEDIA = 4, /* blocks that a result may not hold: they follow it */
    PHI__BEDROCK_ID_9 = 8,
    PHI__BEDROCK_SIGNED = 16,     /* reasoning with its signature */
    PHI__BEDROCK_PROTOCOL = 32,   /* made over this protocol: citations go back, and calls whole */
    PHI__BEDROCK_ABANDONED = 64,  /* without the server's calls that have no result */
    PHI__BEDROCK_MEDIA_SHIFT = 16 /* of PHI__MEDIA_ bits */
};

typedef enum phi__bedrock_choice {
    PHI__BEDROCK_INSIDE, /* of the message: text, and the blocks that it may hold */
    PHI__BEDROCK_BEHIND  /* of a result: the blocks that it may not hold */
} phi__bedrock_choice;

/* Blocks of messages, into the scratch buffer; at: the item. form: PHI__BEDROCK_ bits. */
PHI__FN void phi__bedrock_blocks_parts(phi__encoder *e, size_t at, phi__bedrock_choice choice);
PHI__FN void phi__bedrock_blocks_assistant(phi__encoder *e, const phi_message *m, uint32_t form);
PHI__FN void phi__bedrock_blocks_result_open(phi__encoder *e, phi_str id, bool is_error);
PHI__FN void phi__bedrock_blocks_result(phi__encoder *e, size_t at);
/* True if the message may hold the block. */
PHI__FN bool phi__bedrock_blocks_fits(const phi_message *m, const phi_content *c);
/* The type of an opaque block that is a call of the server's own tools. */
PHI__FN bool phi__bedrock_blocks_is_server_call(phi_str name);
PHI__FN phi__id_rule phi__bedrock_blocks_id_rule(const phi_model *model);

/* A document as a block, into the scratch buffer. at: its item; ordinal: its place among the
   documents of its message that are sent. */
PHI__FN void phi__bedrock_document_put(phi__encoder *e, const phi_content *c, size_t at,
                                       size_t ordinal);

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
