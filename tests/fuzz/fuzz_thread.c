/* fuzz_thread.c - a thread out of any bytes: what is read is written, and that text is read as the same thread,
   which is written the same; never a crash, never a byte left. */
#include "persist/store.h"
#include "persist/persist_in.h"
#include "../support/thread_text.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    phi_memory memory;
    phi_arena arena;
    phi_thread one, two;
    phi_str first, second;
    char words[200];
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    phi__thread_init(&one, &memory, NULL);
    phi__thread_init(&two, &memory, NULL);
    if (thread_from_json(&one, phi__str((const char *)data, size), words, sizeof words) == PHI_OK) {
        if (phi_thread_to_json(&one, &arena, &first) != PHI_OK) abort();
        if (thread_from_json(&two, first, words, sizeof words) != PHI_OK) abort();
        if (phi_thread_to_json(&two, &arena, &second) != PHI_OK) abort();
        if (!phi_str_equal(first, second) || one.fold.count != two.fold.count ||
            one.fold.tokens != two.fold.tokens)
            abort();
    } else if (memchr(words, 0, sizeof words) == NULL || one.log.count != 0)
        abort();
    phi__journal_free_thread(&one);
    phi__journal_free_thread(&two);
    phi_arena_free(&arena);
    if (memory.used_bytes != 0) abort();
    return 0;
}
