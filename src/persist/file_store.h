/* file_store.h - a phi_store in a directory: one file for each document and each thread.

       {id}.json         a document, as it was saved
       {id}.jsonl        a thread: a header line, then one line for each entry, with a check value
       {id}.json.lock    locked while a document is written; stays when the document is removed
       {id}.jsonl.lock   locked while a thread is locked or written, then removed; after a crash the
                         file may stay, without a lock

   A document normally has a member "agent_id" at its top level, in the first 64 KiB. If it has
   none, the file has an extra first line, {"phi_agent_id":"..."}, which load leaves out. A line of
   a thread is {"crc":"9ae0daaf","seq":12,"e":ENTRY}: the CRC-32, in hex, covers the bytes after the
   comma that follows it, up to the end of the line. Lines that were appended together are marked
   ("of":[12,14]), and are valid only if all of them are there. Writers lock, readers do not, so
   during a write a reader may see the previous state. Nothing waits for a lock. Files get the mode
   0600; the modes of directories follow the process's umask. */
#ifndef PHI_PERSIST_FILE_STORE_H
#define PHI_PERSIST_FILE_STORE_H

#include "persist/store.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Zero means default for every field but directory. */
typedef struct phi_file_store_desc {
    const char *directory;   /* copied; the first write makes the directory */
    phi_allocator allocator; /* copied (default: the C library's) */
    size_t memory_limit_bytes;
    /* true: every append and save waits for the disk (fsync), so after PHI_OK the data survives a
       power failure. Default: the system writes later (after about 30 s), so the data survives a
       crash of the process, but not of the machine. */
    bool sync;
} phi_file_store_desc;

/* Creates a store; no file is touched yet. The caller closes *out with phi_file_store_close. Copies
   of *out are the same store, and each can be given to phi_thread_attach. PHI_BAD_ARG: there is no
   directory, or its path has more than 3,900 bytes. PHI_UNSUPPORTED: built with PHI_NO_FILES. Or
   PHI_NO_MEMORY. After any of these *out is zeroed.
   Threads: one at a time for each store. Stores with the same directory, in one process or in
   several, exclude each other by their locks. */
PHI_API phi_status phi_file_store_open(const phi_file_store_desc *desc, phi_store *out);
/* Releases a store's locks and frees the store. Detach all threads first. A zeroed store is
   ignored. */
PHI_API void phi_file_store_close(phi_store *store);

#ifdef __cplusplus
}
#endif
#endif
