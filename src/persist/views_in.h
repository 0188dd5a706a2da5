/* views_in.h - the id of a thread: that of its store, or of its own. */
#ifndef PHI_PERSIST_VIEWS_IN_H
#define PHI_PERSIST_VIEWS_IN_H

#include "persist/persist_in.h"
#include "base/base_in.h"
#include "log/thread.h"
#include "text/json.h"

/* Of a text's first line: what stands there, taken into the thread and written. Reading:
   PHI_NO_MEMORY. */
PHI__FN phi_status phi__info_get_head(phi_thread *thread, const phi_json *head);
PHI__FN void phi__info_put_head(phi__buf *out, const phi_thread *thread);

#endif
