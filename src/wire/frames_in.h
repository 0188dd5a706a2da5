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

#include "wire/wire_in.h"
#include "base/base_in.h"

/* After the last byte: whether the stream ended inside of a frame. */
PHI__FN bool phi__frames_cut(const phi__frames *frames);

#endif
