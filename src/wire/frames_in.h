/* frames_in.h - reads AWS event-stream frames out of bytes that arrive in any pieces; used as
   sse_in.h is.

       phi__frames_feed(&frames, bytes, len);
       while ((got = phi__frames_next(&frames, &frame)) > 0) use(frame);
       if (got < 0) ...                       // a phi_status; dead from then on

   Both checks of a frame are verified, that of its head before its lengths are believed. A stream
   whose first byte is '{' is one of lines instead: each a JSON object, handed out with an empty
   name, as soon as its last brace is there.
   A frame handed out is valid until the next call, and may point into the bytes fed. */
#ifndef PHI_WIRE_FRAMES_IN_H
#define PHI_WIRE_FRAMES_IN_H

#include "base/arena_in.h"

typedef struct phi__frame {
    phi_str name;    /* the event's type; of an exception or an error: '!' and its type or code */
    phi_str payload; /* JSON; of an error: its message, not JSON */
} phi__frame;

typedef struct phi__frames {
    phi__buf held;        /* a frame, or a line, that was cut */
    phi__buf name;        /* '!' and a type */
    const char *at, *end; /* the fed bytes that are not read yet */
    size_t max_bytes;     /* of one frame */
    size_t drop;          /* of held: handed out, and to be forgotten */
    size_t depth;         /* of the braces that are open, in lines */
    bool in_string, escaped;
    bool lines, begun;
    phi_status status;
} phi__frames;

/* The functions below, for a codec whose stream is of frames. */
typedef struct phi__framing {
    void (*init)(phi__frames *frames, phi_memory *memory, size_t max_bytes);
    void (*free)(phi__frames *frames);
    void (*feed)(phi__frames *frames, const char *bytes, size_t len);
    int (*next)(phi__frames *frames, phi__frame *out);
    bool (*cut)(const phi__frames *frames);
} phi__framing;

PHI__FN void phi__frames_init(phi__frames *frames, phi_memory *memory, size_t max_bytes);
PHI__FN void phi__frames_free(phi__frames *frames); /* twice is harmless */
PHI__FN void phi__frames_feed(phi__frames *frames, const char *bytes, size_t len);
/* 1: a frame; 0: needs more bytes; PHI_PARSE: a check or a length is wrong; PHI_TOO_BIG,
   PHI_NO_MEMORY. */
PHI__FN int phi__frames_next(phi__frames *frames, phi__frame *out);
/* After the last byte: whether the stream ended inside of a frame. */
PHI__FN bool phi__frames_cut(const phi__frames *frames);
PHI__FN const phi__framing *phi__frames_framing(void);

#endif
