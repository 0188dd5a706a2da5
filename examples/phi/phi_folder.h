/* phi_folder.h - the names in a directory, one by one, and a file that gets another name; in UTF-8 on every system. Copy
   what you need of it. */
#ifndef PHI_FOLDER_H
#define PHI_FOLDER_H

#ifdef _WIN32
#include "phi_folder_windows.h"
#else
#include "phi_folder_posix.h"
#endif

#endif
