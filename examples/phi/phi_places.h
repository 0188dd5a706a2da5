/* phi_places.h - files, directories and the words of the command line, in UTF-8 on every system. Copy what you need of
   it. */
#ifndef PHI_PLACES_H
#define PHI_PLACES_H

#ifdef _WIN32
#include "phi_places_windows.h"
#else
#include "phi_places_posix.h"
#endif

#endif
