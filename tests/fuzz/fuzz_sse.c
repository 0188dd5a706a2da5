/* fuzz_sse.c - any bytes as a stream of events: the pieces they come in must not matter.

   The first two bytes choose the limit and the sizes of the pieces. */
#include "text/json_in.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool held) {
    if (!held) abort();
}

static void note(phi__buf *log, const phi__sse_event *event) {
    phi__buf_u64(log, event->name.len);
    if (event->name.len > 0) phi__buf_add_str(log, event->name);
    phi__buf_u64(log, event->data.len);
    if (event->data.len > 0) phi__buf_add_str(log, event->data);
}

/* Pieces of `piece` bytes, each in memory of its own that is gone afterwards. */
static int run(phi_memory *memory, const uint8_t *data, size_t size, size_t piece, size_t most,
               phi__buf *log) {
    phi__sse sse;
    phi__sse_event event;
    int got = 0;
    phi__sse_init(&sse, memory, most);
    while (size > 0 && got >= 0) {
        size_t n = size < piece ? size : piece;
        char *copy = (char *)malloc(n);
        if (copy == NULL) abort();
        memcpy(copy, data, n);
        phi__sse_feed(&sse, copy, n);
        while ((got = phi__sse_next(&sse, &event)) > 0) {
            must(event.data.len + event.name.len <= most);
            note(log, &event);
        }
        must(got < 0 || memory->used_bytes < 8 * most + 65536 + 8 * log->cap);
        free(copy);
        data += n;
        size -= n;
    }
    while (got >= 0 && (got = phi__sse_finish(&sse, &event)) > 0) note(log, &event);
    phi__sse_free(&sse);
    return got;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    phi_memory memory;
    phi__buf whole, pieces;
    size_t most, piece;
    int a, b;
    if (size < 2) return 0;
    most = data[0] == 0 ? PHI__SSE_EVENT_MOST : (size_t)data[0] * 8;
    piece = 1 + data[1];
    phi_memory_init(&memory, NULL, 0);
    phi__buf_init(&whole, &memory);
    phi__buf_init(&pieces, &memory);
    a = run(&memory, data + 2, size - 2, size, most, &whole);
    b = run(&memory, data + 2, size - 2, piece, most, &pieces);
    /* A long line that is no event is read over where it is whole, and too big where it is cut. */
    must(a == b || b == PHI_TOO_BIG);
    if (a == b && a >= 0) must(phi_str_equal(phi__buf_str(&whole), phi__buf_str(&pieces)));
    phi__buf_free(&whole);
    phi__buf_free(&pieces);
    must(memory.used_bytes == 0);
    return 0;
}
