/* check.c - an entry as one JSON text without line breaks, and back: the lines of a stored thread.

   The same entry gives the same bytes, and reading gives back the same entry, message for message
   and byte for byte, but for bytes that are not UTF-8 (they become U+FFFD). Texts that are JSON
   themselves are kept as strings. An entry is read into the thread that it belongs to, behind those
   before it, and is refused where it could not have been appended there. */
#ifndef PHI_PERSIST_ENTRY_IN_H
#define PHI_PERSIST_ENTRY_IN_H

#include "persist/persist_in.h"
#include "base/base_in.h"
#include "history/history_in.h"
#include "text/json.h"

/* Appends it to a buffer; memory of `scratch` is given back. */
PHI__FN void phi__entry_json(phi__buf *out, const phi_thread *thread, const phi__entry *entry,
                             phi_arena *scratch);

/* Appends the entry to the thread. PHI_PARSE: it is none, or none that can stand there; `words` say
   why. After anything but PHI_OK the thread is to be freed. */
PHI__FN phi_status phi__entry_read(phi__entry_reader *reader, phi_str json);
PHI__FN phi_status phi__read_node(phi__entry_reader *reader, const phi_json *root);

#endif
