/* reader_in.h - reads the body of a streamed answer: bytes become events, and events the message.

   The loop, the tests and the fuzzers share this reader: it alone decides what to read after the
   end of an answer and after its failure.
   Ownership: codec, state and assembly are borrowed until phi__reader_free. */
#ifndef PHI_WIRE_READER_IN_H
#define PHI_WIRE_READER_IN_H

#include "text/json_cursor_in.h"
#include "text/sse_in.h"
#include "wire/assembly_in.h"
#include "wire/codec_in.h"
#include "wire/frames_in.h"
#include "wire/writer.h"

typedef struct phi__reader {
    const phi__codec *codec;
    void *state; /* the decoder's */
    phi__assembly *assembly;
    phi__sse sse;
    const phi__framing *framing; /* NULL: a stream of events */
    phi__frames frames;          /* instead of sse, for frames */
    size_t max_event_bytes;
    bool whole;              /* the body was one JSON document: the codec has seen its end */
    void (*seen)(void *ctx); /* after each event that the codec has read; NULL: not wanted */
    void *ctx;
} phi__reader;

/* max_event_bytes as for phi__sse_init. Takes no memory yet. */
PHI__FN void phi__reader_init(phi__reader *r, const phi__codec *codec, void *state,
                              phi__assembly *assembly, size_t max_event_bytes);
PHI__FN void phi__reader_free(phi__reader *r); /* twice is harmless */

/* The next bytes of the body. A fault in them becomes the assembly's failure. */
PHI__FN void phi__reader_feed(phi__reader *r, phi_str bytes);

/* After the last byte: reads an event that no blank line ended. cut: the connection broke, so stray
   JSON may be incomplete, and is dropped. */
PHI__FN void phi__reader_finish(phi__reader *r, bool cut);

/* After that, or after phi__reader_done: tells the codec that nothing follows. */
PHI__FN void phi__reader_end(phi__reader *r);

/* Nothing that follows is read: the last event was seen, or the answer has failed for good. */
PHI__FN bool phi__reader_done(const phi__reader *r);

/* The answer is as whole as it will be, or has failed; its usage alone may follow. */
PHI__FN bool phi__reader_lingers(const phi__reader *r);

static inline phi_answer *phi__writer_of(phi__assembly *assembly) { return (phi_answer *)assembly; }

enum { PHI__DELTA_CACHE_MOST = 384 }; /* bytes around the text: chunks of OpenAI's have about 250 */

typedef struct phi__delta_cache {
    uint16_t head;       /* bytes before the string's text; 0: empty */
    uint16_t tail;       /* and behind it, with its quote */
    size_t block, count; /* where the text goes, and how many blocks there were */
    char around[PHI__DELTA_CACHE_MOST];
} phi__delta_cache;

/* Keeps an event that is nothing but `text`, which lies in `data`, for a block. */
PHI__FN void phi__delta_cache_learn(phi__delta_cache *r, const phi__assembly *a, phi_str data,
                                    phi__json_text text, size_t block);

static inline void phi__delta_cache_forget(phi__delta_cache *r) { r->head = 0; }

/* Adds the event's text to its block, if the event is the kept one with another text; else
   false. */
PHI__FN bool phi__delta_cache_add(const phi__delta_cache *r, phi__assembly *a, phi_str data);

#endif
