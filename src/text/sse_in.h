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

#include "base/arena_in.h"

#define PHI__SSE_EVENT_MOST (16u << 20) /* bytes of an event, by default */

typedef struct phi__sse_event {
    phi_str name; /* of the event: line; empty: none */
    phi_str data;
} phi__sse_event;

enum { PHI__SSE_ID_MOST = 1024 };

/* Where a broken stream is to be resumed: of the events that were complete. Its owner's; init its
   buffers, free them. */
typedef struct phi__sse_resume {
    phi__buf id;      /* of the last event that had one, with or without data; empty: none */
    phi__buf id_next; /* of the event under way */
    bool has_next;
    bool has_retry;
    uint64_t retry_ms; /* the delay before the stream is to be opened again */
} phi__sse_resume;

PHI__FN void phi__sse_resume_init(phi__sse_resume *resume, phi_memory *memory);
PHI__FN void phi__sse_resume_free(phi__sse_resume *resume); /* twice is harmless */

typedef struct phi__sse {
    phi__buf line; /* a line that was cut */
    phi__buf data; /* data lines before the one under way */
    phi__buf name;
    phi_str view;         /* a single data line that lies in the bytes fed */
    const char *at, *end; /* the fed bytes that are not read yet */
    size_t max_event_bytes;
    uint64_t comments; /* comment lines so far: keep-alives */
    uint64_t events;   /* handed out so far */
    uint32_t bom;      /* bytes of a byte order mark seen; 3: that is behind us */
    bool has_data, viewed, skip_lf, handed;
    bool strays; /* set after init, to get stray JSON */
    bool stray;  /* the event under way, or the one handed out, is stray JSON */
    phi_status status;
    phi__sse_resume *resume; /* set after init, to get ids and retries; borrowed; NULL: ignored */
} phi__sse;

/* max_event_bytes: data and name of one event, or one line, at most (default 16 MiB). Takes no
   memory yet. */
PHI__FN void phi__sse_init(phi__sse *sse, phi_memory *memory, size_t max_event_bytes);
PHI__FN void phi__sse_free(phi__sse *sse); /* twice is harmless */
/* Before the first byte of a stream that resumes another one: it reads ids into `resume`, where the
   id of an event that was cut counts for nothing. */
PHI__FN void phi__sse_resume_with(phi__sse *sse, phi__sse_resume *resume);
/* The next bytes of the stream, borrowed. The bytes fed before must be read: next returned 0. */
PHI__FN void phi__sse_feed(phi__sse *sse, const char *bytes, size_t len);
/* 1: an event; 0: needs more bytes; PHI_TOO_BIG or PHI_NO_MEMORY: dead until reset. */
PHI__FN int phi__sse_next(phi__sse *sse, phi__sse_event *out);
/* After the last byte, when next has returned 0: hands out an event that no blank line ended. As
   next; afterwards 0. */
PHI__FN int phi__sse_finish(phi__sse *sse, phi__sse_event *out);

#endif
