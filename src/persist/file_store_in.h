/* file_store_in.h - shared by the files of the file store: paths, messages, locks, and the locked
   threads. */
#ifndef PHI_PERSIST_FILE_STORE_IN_H
#define PHI_PERSIST_FILE_STORE_IN_H

#include "persist/persist_in.h"
#include "persist/file_store.h"

#ifndef PHI_NO_FILES
/* As phi_file_store_open, on a disk of the test's own, which is copied. */
PHI__FN phi_status phi__store_open_on(const phi_file_store_desc *desc, const phi__disk *disk,
                                      phi_store *out);
#endif

#endif
