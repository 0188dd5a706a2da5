/* file_store.h - a phi_store in a directory: one file for each document and each thread.

       {id}.json         a document, as it was saved
       {id}.jsonl        a thread: a header line, then one line for each entry, with a check value
       {id}.json.lock    locked while a document is written; stays when the document is removed
       {id}.jsonl.lock   while a thread is locked or written

   A document whose agent cannot be read from it (a member "agent_id" at its top level, in the first
   64 KiB) has an extra first line, {"phi_agent_id":"..."}, which load leaves out. A thread's line
   is {"crc":"9ae0daaf","seq":12,"e":ENTRY}: the CRC-32, in hex, of the bytes after its comma up to
   the line's end; lines that were appended together say so ("of":[12,14]), and count only when all
   of them are there. Writers lock, readers do not: a reader during a write may see the state of a
   moment ago. Nothing waits for a lock. Files are made for their owner alone (0600); directories as
   the process's umask says. */
#ifndef PHI_PERSIST_FILE_STORE_H
#define PHI_PERSIST_FILE_STORE_H

#include "persist/store.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Zero means default for every field but directory. */
typedef struct phi_file_store_desc {
    const char *directory;   /* copied; made by the first write */
    phi_allocator allocator; /* copied (default: the C library's) */
    size_t memory_limit_bytes;
    /* Every append and save waits for the disk (fsync), so that acknowledged data survives a power
       failure. Default: the system writes when it likes (some 30 s), and the data survives only a
       crash of the process. */
    bool sync;
} phi_file_store_desc;

/* Allocates the store and touches no file yet. The caller closes *out; copies of it are the same
   store, and each is a phi_store for phi_thread_attach. PHI_BAD_ARG: no directory, or one of over
   3,900 bytes; PHI_NO_MEMORY; PHI_UNSUPPORTED: built with PHI_NO_FILES. *out is zeroed then.
   Threads: one at a time for each store. Stores of one directory, in one process or in several,
   exclude each other by their locks. */
PHI_API phi_status phi_file_store_open(const phi_file_store_desc *desc, phi_store *out);
/* Gives up its locks and frees it. Detach threads first. A zeroed store is harmless. */
PHI_API void phi_file_store_close(phi_store *store);

#ifdef __cplusplus
}
#endif
#endif
