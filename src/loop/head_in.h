/* head_in.h - the head of a conversation: system prompt and tools as a model saw them first.

   A model that takes system messages in mid-conversation keeps its head: what changes is appended,
   so that the prompt cache and the thinking before it stay valid. A changed system prompt goes as
   text. Changed tools go as additions and removals where the codec has them
   (phi__codec_rules.put_tool), else the head is made anew, as for every other model.

   An update names what held then in its details, so that the next one is made from the history:
       {"head":N,"id":"HASH","system":"HASH","tools":["NAME","HASH",...]}
   N counts the updates of this head, from 1. Where the view has lost one of them, or has no answer
   yet, the head is made anew; updates of another head are left out of the request. */
#ifndef PHI_LOOP_HEAD_IN_H
#define PHI_LOOP_HEAD_IN_H

#include "loop/loop_in.h"
#include "wire/wire_in.h"

/* Puts the head into the request whose items are known, and appends the changes. False: no
   memory. */
PHI__FN bool phi__head_apply(phi__run *run);

#endif
