/* fuzz_session.c - a session's JSON out of any bytes: what is read is written again, and that text gives the same text
   for ever; and every line of it as an event for a recorder. Never a crash, never a byte left. */
#include "session/recorder.h"

#include <stdlib.h>
#include <string.h>

static void check_file(const uint8_t *data, size_t size) {
    phi_memory memory;
    phi_arena arena;
    phi_session *s, *back;
    phi_parse_error error;
    phi_str text, first, second;
    const phi_loop_record *found[4];
    text.at = (const char *)data;
    text.len = size;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    if (phi_session_from_json(text, NULL, 0, &s, &error) == PHI_OK) {
        size_t i;
        if (phi_session_to_json(s, PHI_SESSION_OWN_EVENTS, &arena, &first) != PHI_OK) abort();
        if (phi_session_from_json(first, NULL, 0, &back, &error) != PHI_OK) abort();
        if (phi_session_to_json(back, PHI_SESSION_OWN_EVENTS, &arena, &second) != PHI_OK) abort();
        if (!phi_str_equal(first, second)) abort();
        if (phi_session_to_json(s, 0, &arena, &first) != PHI_OK) abort();
        (void)phi_session_root_loops(s, found, 4);
        for (i = 0; i < s->loop_count && i < 8; i++)
            if (phi_session_loop_chain(s, s->loops[i]->loop_id, found, 4) > s->loop_count) abort();
        phi_session_free(back);
        phi_session_free(s);
    } else if (memchr(error.message, 0, sizeof error.message) == NULL)
        abort();
    phi_arena_free(&arena);
    if (memory.used_bytes != 0) abort();
}

static void check_events(const uint8_t *data, size_t size) {
    phi_recorder *recorder = phi_recorder_new(NULL);
    phi_session *s;
    const uint8_t *end = data + size;
    while (recorder != NULL && data < end) {
        const uint8_t *line = (const uint8_t *)memchr(data, '\n', (size_t)(end - data));
        phi_str text;
        text.at = (const char *)data;
        text.len = (size_t)((line != NULL ? line : end) - data);
        (void)phi_recorder_add_json(recorder, text);
        data += text.len + 1;
    }
    phi_recorder_flush(recorder);
    while ((s = phi_recorder_drain(recorder)) != NULL) phi_session_free(s);
    phi_recorder_free(recorder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    check_file(data, size);
    check_events(data, size);
    return 0;
}
