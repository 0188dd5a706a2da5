/* phi_output.h - the output of a tool, as it may be shown. Copy what you need of it. */
#ifndef PHI_OUTPUT_H
#define PHI_OUTPUT_H

#include "phi_live.h"

/* Adds the lines of an output as they may be shown. */
static inline void output_clean(text *out, phi_str in) {
    text line = {NULL, 0, 0};
    size_t i, from = 0, begin, end;
    for (i = 0; i <= in.len; i++) {
        phi_str part = in;
        if (i < in.len && in.at[i] != '\n') continue;
        for (end = i; end > from && in.at[end - 1] == '\r';) end--;
        for (begin = end; begin > from && in.at[begin - 1] != '\r';) begin--;
        part.at += begin; /* a carriage return begins a line again */
        part.len = end - begin;
        line.len = 0;
        live_plain(&line, part);
        text_strict(out, text_str(&line));
        if (i < in.len) text_say(out, "\n");
        from = i + 1;
    }
    while (out->len > 0 && strchr(" \n", out->at[out->len - 1]) != NULL) out->len--;
    free(line.at);
}

/* Without what its line has said already, and without empty lines at its beginning. */
static inline phi_str output_result(const phi_event *ev, phi_str result) {
    static const char *const begins[] = {"Exit code: ", "STDOUT:"};
    size_t i, n;
    for (i = 0; i < 2 && phi_str_is(ev->tool_name, "bash"); i++) {
        n = strlen(begins[i]);
        if (result.len < n || memcmp(result.at, begins[i], n) != 0) continue;
        while (result.len > 0 && result.at[0] != '\n') result.at++, result.len--;
        if (result.len > 0) result.at++, result.len--;
    }
    while (result.len > 0 && result.at[0] == '\n') result.at++, result.len--;
    return result;
}

#endif
