/* delta_cache_in.h - a fast path for stream events that differ from the one before only in one
   string.

   Nearly every event of an answer is the one before it with other text in the same place. When a
   decoder has found that an event is only a piece of one block, it keeps the bytes around the text.
   The next event with the same bytes around a string means the same, and needs no parser. Zeroed
   memory is an empty cache. Events too long to keep are parsed each time. */
#ifndef PHI_WIRE_DELTA_CACHE_IN_H
#define PHI_WIRE_DELTA_CACHE_IN_H

#include "text/json_cursor_in.h"
#include "wire/assembly_in.h"

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
