/* prog_frames.c - reads a file of AWS event-stream frames and prints each as a line of JSON, its name and its
   payload, for make interop (check.mjs). Read are all bytes at once, then one by one, then cut in two at
   every place: exit code 1 where any of these says something else. */
#include "support/test.h"
#include "text/json_in.h"
#include "wire/codec_in.h"

static void take(phi__frames *frames, phi__buf *out) {
    phi__frame frame;
    int got;
    while ((got = phi__frames_framing()->next(frames, &frame)) > 0) {
        phi__buf_char(out, '[');
        phi__json_write_str(out, frame.name);
        phi__buf_char(out, ',');
        phi__json_write_str(out, frame.payload);
        phi__buf_text(out, "]\n");
    }
    if (got < 0) phi__buf_text(out, "\"broken\"\n");
}

/* In steps of `step` bytes, the first one of `first`. */
static void read_all(phi_memory *memory, const char *at, size_t len, size_t first, size_t step,
                     phi__buf *out) {
    phi__frames frames;
    size_t from = 0, n = first;
    phi__buf_clear(out);
    phi__frames_framing()->init(&frames, memory, 0);
    while (from < len) {
        char *copy;
        n = phi__min(n, len - from);
        copy = (char *)malloc(n); /* so that a read beyond the piece shows */
        if (copy == NULL) abort();
        memcpy(copy, at + from, n);
        phi__frames_framing()->feed(&frames, copy, n);
        take(&frames, out);
        free(copy);
        from += n;
        n = step;
    }
    if (phi__frames_framing()->cut(&frames)) phi__buf_text(out, "\"cut\"\n");
    phi__frames_framing()->free(&frames);
}

static bool same(const phi__buf *a, const phi__buf *b) {
    return phi_str_equal(phi__buf_str(a), phi__buf_str(b));
}

int main(int argc, char **argv) {
    phi_allocator allocator = test_allocator();
    phi_memory memory;
    phi__buf whole, split;
    size_t len, i;
    int code = 0;
    char *text;
    if (argc != 2) {
        fprintf(stderr, "usage: prog_frames FILE\n");
        return 2;
    }
    text = test_read_file(argv[1], &len);
    if (text == NULL || len == 0) return 2;
    phi_memory_init(&memory, &allocator, 0);
    phi__buf_init(&whole, &memory);
    phi__buf_init(&split, &memory);
    read_all(&memory, text, len, len, len, &whole);
    read_all(&memory, text, len, 1, 1, &split);
    if (!same(&whole, &split)) code = 1;
    for (i = 1; i < len && code == 0; i++) {
        read_all(&memory, text, len, i, len, &split);
        if (!same(&whole, &split)) code = 1;
    }
    if (code != 0) fprintf(stderr, "prog_frames: cut at byte %zu it reads differently\n", i - 1);
    if (whole.failed || split.failed) code = 2;
    if (whole.len > 0) (void)fwrite(whole.at, 1, whole.len, stdout);
    phi__buf_free(&whole);
    phi__buf_free(&split);
    free(text);
    return code;
}
