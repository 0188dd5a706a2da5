/* deferral_tools_in.h - search_tools and load_tools, for models whose provider has none of its own. */
#ifndef PHI_LOOP_DEFERRAL_TOOLS_IN_H
#define PHI_LOOP_DEFERRAL_TOOLS_IN_H

#include "loop/loop_in.h"
#include "loop/deferral_in.h"
#include "loop/inner_in.h"

#define PHI__DEFERRAL_SEARCH "search_tools"
#define PHI__DEFERRAL_LOAD "load_tools"

/* The details of a result of load_tools begin so. */
#define PHI__DEFERRAL_DETAILS "{\"loaded\":["

enum { PHI__DEFERRAL_LOADED = 1024 }; /* tools of an agent; more are not kept */

#endif
