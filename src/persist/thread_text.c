/* thread_text.c - a thread as text: a header line and one line for each entry. */
#include "persist/journal_in.h"

#include <stdio.h>

/* Returns the next line without its line break. False: the text has no more lines. */
static bool phi__thread_text_line(phi_str *rest, phi_str *line) {
    if (rest->len == 0) return false;
    const char *end = (const char *)memchr(rest->at, '\n', rest->len);
    *line = phi__str(rest->at, end != NULL ? (size_t)(end - rest->at) : rest->len);
    rest->at += line->len + (end != NULL ? 1u : 0u);
    rest->len -= line->len + (end != NULL ? 1u : 0u);
    return true;
}

/* Unknown keys come from later versions, and are ignored. */
static phi_status phi__thread_text_is_header(phi__entry_reader *reader, const phi_json *root) {
    if (phi_json_int(phi_json_get(root, "phi_thread"), 0) == 1)
        return phi__info_get_head(reader->thread, root);
    (void)snprintf(reader->words, sizeof reader->words,
                   "expected the header of a thread, {\"phi_thread\":1}");
    return PHI_PARSE;
}

/* Finishes reading. After an error the thread is empty again. */
static phi_status phi__thread_text_end(phi__entry_reader *reader, phi_status status,
                                       uint64_t number, char *words, size_t words_size) {
    phi_thread *log = reader->thread;
    status = phi__load_end(log, status);
    if (status == PHI_PARSE) {
        size_t size = words_size;
        const char *why = reader->words;
        if (words != NULL && size > 0)
            (void)snprintf(words, size, "line %llu: %.*s", (unsigned long long)number,
                           (int)phi__utf8_cut(phi_str_of(why), 120), why);
    }
    phi__get_reader_free(reader);
    log->loops.restored = log->log.count > 0;
    if (status == PHI_OK) {
        phi__journal_skip(log);
        return PHI_OK;
    }
    phi__journal_close(log); /* so that the entries read so far are not stored */
    phi__thread_destroy(log);
    return status;
}

PHI__FN phi_status phi__thread_text_from_array(phi_thread *log, const phi_json *lines, char *words,
                                               size_t words_size) {
    phi_json_iter it = phi_json_each(lines);
    phi__entry_reader reader;
    const phi_json *line;
    uint64_t number = 1;
    phi__get_reader_init(&reader, log);
    phi_status status = phi__thread_text_is_header(&reader, phi_json_next(&it));
    if (status == PHI_OK) status = phi__load_begin(log, false);
    while (status == PHI_OK && (line = phi_json_next(&it)) != NULL) {
        number++;
        status = phi__read_node(&reader, line);
    }
    return phi__thread_text_end(&reader, status, number, words, words_size);
}

PHI__FN bool phi__thread_text_more(phi__buf *out, const phi_thread *thread, size_t *line,
                                   phi_arena *scratch) {
    size_t i = (*line)++;
    if (i > thread->log.held) return false;
    if (i > 0) {
        phi__entry_json(out, thread, thread->log.entries[i - 1], scratch);
        return true;
    }
    phi__buf_text(out, "{\"phi_thread\":1");
    phi__info_put_head(out, thread);
    phi__buf_char(out, '}');
    return true;
}

/* ---- public ---- */

PHI_API phi_status phi_thread_to_json(const phi_thread *thread, phi_arena *arena, phi_str *out) {
    phi_arena scratch;
    phi__buf text;
    size_t line = 0;
    if (thread == NULL || arena == NULL || out == NULL) return PHI_BAD_ARG;
    phi_status status = phi__recall(thread);
    if (status != PHI_OK) return status;
    phi__buf_init(&text, arena->memory);
    phi_arena_init(&scratch, arena->memory, 0);
    while (!text.failed && phi__thread_text_more(&text, thread, &line, &scratch))
        phi__buf_char(&text, '\n');
    phi_arena_free(&scratch);
    bool done = !text.failed && phi__arena_str(arena, phi__buf_str(&text), out);
    phi__buf_free(&text);
    return done ? PHI_OK : PHI_NO_MEMORY;
}

PHI_API phi_status phi_thread_from_json(phi_thread *thread, phi_str json, phi_parse_error *error) {
    phi__entry_reader reader;
    phi_str line = {"", 0};
    uint64_t number = 1;
    phi_parse_error own;
    if (error == NULL) error = &own;
    memset(error, 0, sizeof *error);
    if (thread == NULL) return PHI_BAD_ARG;
    if (thread->log.count > 0 || thread->user != NULL) return PHI_MISUSE;
    phi__get_reader_init(&reader, thread);
    (void)phi__thread_text_line(&json, &line);
    phi_json *root = NULL;
    phi_status status = phi_json_parse(&reader.scratch, line, PHI_JSON_BORROW, &root, NULL);
    status = status == PHI_NO_MEMORY
                 ? status
                 : phi__thread_text_is_header(&reader, status == PHI_OK ? root : NULL);
    if (status == PHI_OK) status = phi__load_begin(thread, false);
    while (status == PHI_OK && phi__thread_text_line(&json, &line)) {
        number++;
        status = phi__entry_read(&reader, line);
    }
    status = phi__thread_text_end(&reader, status, number, error->message, sizeof error->message);
    error->status = status;
    if (status != PHI_OK) error->line = number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
    return status;
}
