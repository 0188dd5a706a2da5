/* json_cursor_in.h - a pull scan over JSON text without a tree: how stream decoders read deltas.

       phi__json_cursor c;
       phi__json_text key, type;
       phi__json_cursor_init(&c, text);
       if (phi__json_cursor_enter_object(&c))
           while (phi__json_cursor_next_key(&c, &key)) {
               if (phi__json_cursor_text_is(key, PHI__LIT("type"))) phi__json_cursor_take_text(&c,
               &type); else phi__json_cursor_skip(&c);
           }
       if (c.bad) ... // broken text: checked once, at the end

   Every value is consumed by exactly one take, enter or skip. A take or enter of another type than
   the value has skips the value and returns false: null and surprises need no code. After broken
   text `bad` is set and every call returns false. Skipped values are checked for closing strings
   and brackets, not for their grammar. Nothing is allocated and nothing is copied. */
#ifndef PHI_TEXT_JSON_CURSOR_IN_H
#define PHI_TEXT_JSON_CURSOR_IN_H

#include "text/text_in.h"
#include "text/json_in.h"

PHI__FN bool phi__json_cursor_take_num(phi__json_cursor *c, double *out);

#endif
