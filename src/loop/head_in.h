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

#include "loop/types_in.h"
#include "wire/codec_in.h"

/* At PHI__POINT_REQUEST: appends a message of the program (is_update) to the history. It is copied
   into the log, emitted, and becomes the last item of the request. Nothing is appended after an
   answer that paused, since the provider continues that. False: no memory. */
PHI__FN bool phi__tell(phi__run *run, const phi_message *message);

typedef struct phi__head {
    phi_arena arena;
    phi_str system;
    phi__tool_view *tools;
    size_t count;
    uint64_t id;
    bool searches; /* a request with it had deferred tools */
} phi__head;

/* Puts the head into the request whose items are known, and appends the changes. False: no
   memory. */
PHI__FN bool phi__head_apply(phi__run *run);

/* Puts the head, where there is one, into another request of the agent's; appends nothing. The
   same. */
PHI__FN bool phi__head_keep(phi__agent *agent, phi__request_spec *spec, phi_arena *arena);

/* The head that phi__head_apply would put into a request, without the update that it would append;
   changes nothing but the request. False: no memory. */
PHI__FN bool phi__head_foresee(const phi__agent *agent, phi__request_spec *spec, phi_arena *arena);
PHI__FN void phi__head_free(phi__agent *agent); /* none is harmless */

/* Gives the agent the head of another one whose history it continues; no head is harmless. False:
   no memory. */
PHI__FN bool phi__head_copy(phi__agent *agent, const phi__agent *from);

/* The head in a snapshot, as a member "head" where there is one:
       "head":{"id":"HASH","system":"TEXT","tools":[["NAME","DESCRIPTION","SCHEMA",STRICT],...],
               "searches":true}
   A restored agent keeps it, so that earlier thinking stays valid. */
PHI__FN void phi__head_save(phi__buf *out, const phi__agent *agent);

/* PHI_PARSE: it is none of these; PHI_NO_MEMORY. Then the agent has no head. */
PHI__FN phi_status phi__head_load(phi__agent *agent, const phi_json *head);

#endif
