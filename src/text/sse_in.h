/* sse_in.h - reads server-sent events out of bytes that arrive in any pieces.

       phi__sse_feed(&sse, bytes, len);
       while ((got = phi__sse_next(&sse, &event)) > 0) use(event);
       if (got < 0) ...                       // a phi_status, from now on

   Lines end in LF, CR or CRLF; a byte order mark, comments and unknown fields are ignored, and so
   are ids and retries without a place for them (sse.resume). Data lines are joined by LF. An event
   without data is not handed out (as the standard says), but its name line is forgotten with it.
   With `strays`, a line that begins with a brace or a bracket is no field, but the start of stray
   JSON: an error, or a whole answer, that a server wrote without `data:`. It ends the event before
   it, extends to the next data or event line or to the end of the stream, and is an event of its
   own.
   An event handed out is valid until the next call of next, feed, finish or reset, and may point
   into the bytes fed, which must therefore live until next has returned 0. */
#ifndef PHI_TEXT_SSE_IN_H
#define PHI_TEXT_SSE_IN_H

#include "text/text_in.h"
#include "base/base_in.h"

enum { PHI__SSE_ID_MOST = 1024 };

#endif
