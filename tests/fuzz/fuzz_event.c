/* fuzz_event.c - an event's JSON out of any bytes: what is read is written again, and that text gives the
   same text for ever; never a crash, never a byte left. */
#include "agent/agent.h"
#include "base/base_in.h"
#include "record/event_json.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    phi_memory memory;
    phi_arena arena;
    phi_event event;
    phi_parse_error error;
    phi_str first, second;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    if (phi_event_from_json(phi__str((const char *)data, size), &arena, &event, &error) == PHI_OK) {
        if (phi_event_to_json(&event, &arena, &first) != PHI_OK) abort();
        if (phi_event_from_json(first, &arena, &event, &error) != PHI_OK) abort();
        if (phi_event_to_json(&event, &arena, &second) != PHI_OK) abort();
        if (!phi_str_equal(first, second)) abort();
    } else if (memchr(error.message, 0, sizeof error.message) == NULL)
        abort();
    phi_arena_free(&arena);
    if (memory.used_bytes != 0) abort();
    return 0;
}
