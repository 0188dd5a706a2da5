/* phi_raw.h - a terminal in raw mode. However the program ends, also by a signal, a crash or Ctrl+Z, the terminal gets
   its settings back. Copy what you need of it. */
#ifndef PHI_RAW_H
#define PHI_RAW_H

#ifdef _WIN32
#include "phi_raw_windows.h"
#else
#include "phi_raw_posix.h"
#endif

#endif
