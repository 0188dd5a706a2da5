/* anthropic_in.h - the Anthropic Messages codec and its two halves. */
#ifndef PHI_CODECS_ANTHROPIC_IN_H
#define PHI_CODECS_ANTHROPIC_IN_H

#include "wire/codec_in.h"
#include "wire/delta_cache_in.h"

/* The settings that a rendering depends on: bits of phi__rendered.form. */
enum {
    PHI__ANTHROPIC_FORM = 1 << 28,
    PHI__ANTHROPIC_ORIGIN = 1, /* minted by the same model: thinking goes back */
    PHI__ANTHROPIC_NO_IMAGES = 2,
    PHI__ANTHROPIC_MEDIA = 4,      /* images and documents of an error result */
    PHI__ANTHROPIC_SYSTEM = 8,     /* an update that is a system message */
    PHI__ANTHROPIC_PROTOCOL = 16,  /* made over this protocol: citations go back, and calls whole */
    PHI__ANTHROPIC_ABANDONED = 32, /* without the server's calls that have no result */
    PHI__ANTHROPIC_PAUSED = 64,    /* the provider continues it, so it is sent unchanged */
    PHI__ANTHROPIC_ORPHANS = 128,  /* without the results whose call is not in this message */
    PHI__ANTHROPIC_MEDIA_SHIFT = 16 /* of PHI__MEDIA_ bits */
};

/* Blocks of messages, into the scratch buffer. form: PHI__ANTHROPIC_ bits. */
PHI__FN void phi__anthropic_blocks_text(phi__encoder *e, phi_str text);
PHI__FN void phi__anthropic_blocks_media_block(phi__encoder *e, const phi_content *c);
/* The text of a user or a result; media: with the images, documents and opaque blocks. */
PHI__FN void phi__anthropic_blocks_parts(phi__encoder *e, const phi_message *m, bool media);
PHI__FN void phi__anthropic_blocks_assistant(phi__encoder *e, const phi_message *m, uint32_t form);
PHI__FN void phi__anthropic_blocks_result(phi__encoder *e, const phi_message *m);
/* Types of opaque blocks: calls of the server's own tools, and their results. */
PHI__FN bool phi__anthropic_blocks_is_server_call(phi_str name);
PHI__FN bool phi__anthropic_blocks_is_server_result(phi_str name);

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
