/* transfer_in.h - an HTTP request that a room above the loop makes, over the runtime's transport.

   phi_step calls on_head once, then on_body with the parts of the answer in order, then on_end
   once: the fetch is gone when on_end returns, or when phi__fetch_close does. None is called inside
   of open, close, resume, or a callback of the transport. A callback may close any fetch, this one
   too, open others, give results of calls and free agents.
   Redirects are not followed: a request may carry keys that only its own host may see. The caller
   gets the 3xx answer with its Location header. No Accept-Encoding is sent, so no body is
   compressed. A tape neither records nor plays a fetch: it has the result of the tool call that
   needed it.
   Memory: the caller's budget, which lives until the fetch is gone. Threads: the pumping thread. */
#ifndef PHI_LOOP_TRANSFER_IN_H
#define PHI_LOOP_TRANSFER_IN_H

#include "loop/loop_in.h"
#include "base/base_in.h"
#include "io/io_in.h"
#include "loop/run.h"

PHI__FN void phi__fetch_resume(phi__fetch *fetch); /* not paused: harmless */

#endif
