/* mcp_events.c - mcp_events_in.h. */
#include "mcp/mcp_events_in.h"

#ifndef PHI_NO_LISTEN

enum { PHI__MCP_EVENTS_BYTES = 262144 };

PHI__FN void phi__mcp_events_init(phi__mcp_events *events, phi_memory *memory, uint64_t stream) {
    events->stream = stream;
    events->first = events->next = 1;
    phi__buf_init(&events->kept, memory);
}

PHI__FN void phi__mcp_events_free(phi__mcp_events *events) { phi__buf_free(&events->kept); }

static void phi__mcp_events_forget_all(phi__mcp_events *events) {
    phi__buf_free(&events->kept);
    events->first = events->next;
}

/* Each ends with an empty line, and has no other. */
static void phi__mcp_events_forget_first(phi__mcp_events *events) {
    size_t end = phi__str_find(phi__buf_str(&events->kept), 0, "\n\n");
    phi__buf_drop(&events->kept, phi__min(end, events->kept.len - 2) + 2);
    events->first++;
}

static void phi__mcp_events_keep(phi__mcp_events *events, phi_str text) {
    while (events->kept.len > 0 && text.len > PHI__MCP_EVENTS_BYTES - events->kept.len)
        phi__mcp_events_forget_first(events);
    if (text.len <= PHI__MCP_EVENTS_BYTES) phi__buf_add_str(&events->kept, text);
    events->next++;
    if (text.len > PHI__MCP_EVENTS_BYTES || events->kept.failed) phi__mcp_events_forget_all(events);
}

PHI__FN void phi__mcp_events_put(phi__mcp_events *events, phi_str json, phi__buf *out) {
    size_t before = out->len;
    if (events->stream != 0) {
        phi__buf_text(out, "id: ");
        phi__buf_u64(out, events->stream);
        phi__buf_char(out, '-');
        phi__buf_u64(out, events->next);
        phi__buf_char(out, '\n');
    }
    phi__buf_text(out, "data: ");
    phi__buf_add_str(out, json);
    phi__buf_text(out, "\n\n");
    if (events->stream != 0 && !out->failed)
        phi__mcp_events_keep(events, phi__str(out->at + before, out->len - before));
}

PHI__FN bool phi__mcp_events_after(const phi__mcp_events *events, uint64_t last, phi_str *out) {
    uint64_t skip;
    size_t at = 0;
    if (last >= events->next || last + 1 < events->first) return false;
    for (skip = last + 1 - events->first; skip > 0; skip--)
        at = phi__str_find(phi__buf_str(&events->kept), at, "\n\n") + 2;
    *out = phi__str(events->kept.at + at, events->kept.len - at);
    return true;
}

PHI__FN bool phi__mcp_events_id(phi_str text, uint64_t *stream, uint64_t *number) {
    size_t dash = phi__str_find(text, 0, "-");
    return dash != SIZE_MAX && phi__str_to_u64(phi__str(text.at, dash), stream) &&
           phi__str_to_u64(phi__str(text.at + dash + 1, text.len - dash - 1), number) &&
           *stream != 0;
}

#endif
