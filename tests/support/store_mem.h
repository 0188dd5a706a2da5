/* store_mem.h - a phi_store in memory, with trouble on demand.

   Memory is the C library's, not test_allocator()'s: what is in a store outlives the runtimes of a test. */
#ifndef PHI_TESTS_SUPPORT_STORE_MEM_H
#define PHI_TESTS_SUPPORT_STORE_MEM_H

#include "support/test.h"
#include "persist/store.h"

typedef struct store_mem store_mem;

store_mem *store_mem_new(void);
void store_mem_free(store_mem *store); /* checks that every lock was given back */
const phi_store *store_mem_store(store_mem *store);

/* The n-th call from now on (0: the next) of any function says `status`, once; negative: none does. */
void store_mem_fail_at(store_mem *store, int n, phi_status status);
/* The next append is done, and says PHI_IO all the same. */
void store_mem_lie(store_mem *store);
/* All appends say PHI_FULL beyond that many bytes of entries, all told. SIZE_MAX: there is room. */
void store_mem_room(store_mem *store, size_t bytes);

/* All entries of a thread, a line each, terminated; "" for none. Valid until the thread changes. */
const char *store_mem_text(store_mem *store, const char *thread_id);
uint64_t store_mem_count(store_mem *store, const char *thread_id);
/* Makes the thread what a file of this text would be: whole lines are entries, and what is behind the last
   line break is a torn tail. */
void store_mem_set(store_mem *store, const char *thread_id, const char *text, size_t len);
bool store_mem_locked(store_mem *store, const char *thread_id);
/* Calls of append so far, and the most entries and bytes of one. */
size_t store_mem_appends(const store_mem *store, size_t *most_entries, size_t *most_bytes);

#endif
