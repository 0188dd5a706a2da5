/* about_in.h - a thread's id, title and metadata; notes, which no model sees. */
#ifndef PHI_HISTORY_ABOUT_IN_H
#define PHI_HISTORY_ABOUT_IN_H

#include "log/log_in.h"
#include "log/parts_in.h"
#include "log/thread_in.h"

PHI__FN void phi__about_free(phi_thread *thread);
PHI__FN size_t phi__about_bytes(const phi_thread *thread);

#endif
