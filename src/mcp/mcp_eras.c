/* mcp_eras.c - the table of eras, from the pages of the specification and their changelogs. */
#include "mcp/mcp_eras_in.h"

/* clang-format off */
static const phi__mcp_era phi__mcp_eras_rows[PHI__MCP_ERAS] = {
    /*                                    handshake
                                          |  old_sse
                                          |  |  batches
                                          |  |  |  version_header
                                          |  |  |  |  session_id
                                          |  |  |  |  |  resumption
                                          |  |  |  |  |  |  primes
                                          |  |  |  |  |  |  |  message_headers
                                          |  |  |  |  |  |  |  |  asks, ping, log_request */
    {"2026-07-28", PHI__MCP_TASKS_EXTENSION, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0,
     /* listen, subscribe, cancel_by_stream, progress_message, annotations, audio */
     1, 0, 1, 1, 1, 1,
     /* links, structured, any_output, titles, completions, completions_context */
     1, 1, 1, 1, 1, 1,
     /* forms, urls, sampling_tools, result_type */
     1, 1, 1, 1},
    {"2025-11-25", PHI__MCP_TASKS_ASKED,     1, 0, 0, 1, 1, 1, 1, 0, 1, 1, 1,
     0, 1, 0, 1, 1, 1,  1, 1, 0, 1, 1, 1,  1, 1, 1, 0},
    {"2025-06-18", PHI__MCP_TASKS_NONE,      1, 0, 0, 1, 1, 1, 0, 0, 1, 1, 1,
     0, 1, 0, 1, 1, 1,  1, 1, 0, 1, 1, 1,  1, 0, 0, 0},
    {"2025-03-26", PHI__MCP_TASKS_NONE,      1, 0, 1, 0, 1, 1, 0, 0, 1, 1, 1,
     0, 1, 0, 1, 1, 1,  0, 0, 0, 0, 1, 0,  0, 0, 0, 0},
    {"2024-11-05", PHI__MCP_TASKS_NONE,      1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1,
     0, 1, 0, 0, 0, 0,  0, 0, 0, 0, 0, 0,  0, 0, 0, 0},
};
/* clang-format on */

PHI__FN const phi__mcp_era *phi__mcp_eras_at(size_t i) { return &phi__mcp_eras_rows[i]; }

PHI__FN const phi__mcp_era *phi__mcp_eras_find(phi_str version) {
    size_t i;
    for (i = 0; i < PHI__MCP_ERAS; i++)
        if (phi__str_is(version, phi__mcp_eras_rows[i].version)) return &phi__mcp_eras_rows[i];
    return NULL;
}

PHI__FN const phi__mcp_era *phi__mcp_eras_legacy(void) {
    size_t i = 0;
    while (!phi__mcp_eras_rows[i].handshake) i++;
    return &phi__mcp_eras_rows[i];
}

PHI__FN const phi__mcp_era *phi__mcp_eras_modern(void) { return &phi__mcp_eras_rows[0]; }
