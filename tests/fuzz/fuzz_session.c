/* fuzz_session.c - a session's JSON out of any bytes: what is read is written again, and that text gives the same text
   for ever; its blocks are applied and made; and every line of it as an event for a recorder. Never a crash, never a byte
   left. */
#include "../support/session_list.h"
#include "support/recorded.h"
#include "record/recorder.h"
#include "record/session_context.h"
#include "persist/persist_in.h"
#include "log/thread_in.h"

#include <stdlib.h>
#include <string.h>

/* A thread that takes it up shows what would be sent of it; but for answers that failed, which it
   never shows, and for messages of blocks that say nothing. */
static void check_thread(const phi_session *s, phi_str id, const phi_message *list, size_t count) {
    phi_thread thread;
    phi_memory memory;
    char words[160];
    phi_status status;
    size_t i;
    bool plain = true;
    for (i = 0; i < s->loop_count; i++) {
        size_t k;
        for (k = 0; k < s->loops[i]->message_count; k++)
            plain = plain && phi__fold_shows(&s->loops[i]->messages[k]);
    }
    for (i = 0; i < count; i++)
        plain = plain && phi__fold_shows(&list[i]) && list[i].role != PHI_ROLE_EXTENSION &&
                list[i].content_count > 0;
    phi_memory_init(&memory, NULL, 0);
    phi__thread_init(&thread, &memory, NULL);
    status = phi_session_to_thread(s, id, 0, NULL, NULL, &thread, words, sizeof words);
    if (status != PHI_OK && (status != PHI_BAD_ARG || words[0] == '\0')) abort();
    if (status == PHI_OK && plain) {
        if (thread.fold.count != count) abort();
        for (i = 0; i < count; i++) {
            const phi_message *m = thread.fold.items[i].message;
            if (m->role != list[i].role || m->content_count != list[i].content_count) abort();
            if (m->content_count > 0 && !phi_str_equal(m->content[0].text, list[i].content[0].text))
                abort();
        }
    }
    phi__journal_free_thread(&thread);
    if (memory.used_bytes != 0) abort();
}

/* Whatever blocks it has; and then those of ours. */
static void check_blocks(phi_session *s, phi_arena *arena) {
    phi_compaction_config config;
    const phi_message *list;
    size_t i, count, made;
    memset(&config, 0, sizeof config);
    config.keep_recent_turns = 1;
    config.scope_runs = UINT32_MAX;
    for (i = 0; i < s->loop_count && i < 8; i++) {
        phi_str id = s->loops[i]->loop_id;
        uint32_t flags = (uint32_t)(i & 1);
        if (session_list(s, id, flags, NULL, NULL, arena, &list, &count) != PHI_OK) abort();
        if (session_list(s, id, 0, NULL, NULL, arena, &list, &count) != PHI_OK) abort();
        check_thread(s, id, list, count);
        if (compact_session(s, id, flags, &config, 1, &made) != PHI_OK) abort();
        if (made > s->loop_count) abort();
        if (session_list(s, id, flags, &config, NULL, arena, &list, &count) != PHI_OK) abort();
    }
}

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
        (void)phi_session_loops(s, PHI_LOOP_ROOTS, phi_str_of(""), found, 4);
        for (i = 0; i < s->loop_count && i < 8; i++)
            if (phi_session_loops(s, PHI_LOOP_CHAIN, s->loops[i]->loop_id, found, 4) >
                s->loop_count)
                abort();
        check_blocks(back, &arena);
        if (phi_session_to_json(back, 0, &arena, &first) != PHI_OK) abort();
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
        (void)add_json(recorder, text);
        data += text.len + 1;
    }
    (void)phi_recorder_flush(recorder, PHI_FLUSH_ALL);
    while ((s = phi_recorder_drain(recorder)) != NULL) phi_session_free(s);
    phi_recorder_free(recorder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    check_file(data, size);
    check_events(data, size);
    return 0;
}
