/* phi_servers.h - the MCP servers of the agent: their states, and the last words of those that end. */
#ifndef PHI_SERVERS_H
#define PHI_SERVERS_H

#include "phi_app.h"

enum { SERVERS_ROWS = 5 };

/* The agent's connection at that index, from 0. NULL: there are no more. */
static inline phi_mcp *servers_at(phi_agent agent, size_t index) {
    phi_agent_desc desc;
    phi_mcp *mcp;
    size_t i;
    if (agent.rt == NULL || phi_agent_get_desc(agent, &desc) != PHI_OK) return NULL;
    for (i = 0; i < desc.tool_options.source_count; i++)
        if ((mcp = phi_mcp_of_source(desc.tool_options.sources[i])) != NULL && index-- == 0)
            return mcp;
    return NULL;
}

/* Adds the last rows that a program has written to stderr. */
static inline void servers_last_words(const phi_mcp_info *info, text *out) {
    phi_str words = info->stderr_text;
    size_t from, rows = 0, end = words.len, at;
    while (end > 0 && strchr(" \t\r\n", words.at[end - 1]) != NULL) end--;
    for (from = end; from > 0 && rows < SERVERS_ROWS; from--)
        if (words.at[from - 1] == '\n' && ++rows == SERVERS_ROWS) break;
    for (at = from; at < end;) {
        phi_str row = {words.at + at, 0};
        while (at < end && words.at[at] != '\n') at++, row.len++;
        at++;
        text_say(out, "\n  | ");
        text_fit(out, row, 160);
    }
}

/* Adds a server in a row: "files: ready, 3 tools, restarted 1 time". */
static inline void servers_row(phi_mcp *mcp, text *out) {
    static const char *const states[] = {"", "connecting", "ready", "closing", "closed", "failed"};
    phi_mcp_info info = phi_mcp_get_info(mcp);
    unsigned tools = 0;
    while (phi_mcp_tool_at(mcp, tools) != NULL) tools++;
    text_fit(out, phi_str_of(info.label), 60);
    text_print(out, ": %s", states[info.state]);
    if (info.state == PHI_MCP_READY) text_print(out, ", %u tool%s", tools, tools == 1 ? "" : "s");
    if (info.restarts > 0)
        text_print(out, ", restarted %u time%s", (unsigned)info.restarts,
                   info.restarts == 1 ? "" : "s");
    if (info.state != PHI_MCP_READY && info.message[0] != '\0') {
        text_say(out, ": ");
        text_fit(out, phi_str_of(info.message), 200);
    }
}

/* /mcp: each server, its tools, and what it said before it ended. */
static inline void servers_list(app *a) {
    const phi_mcp_tool *tool;
    phi_mcp_info info;
    phi_mcp *mcp;
    size_t i, t;
    for (i = 0; (mcp = servers_at(a->agent, i)) != NULL; i++) {
        text row = {NULL, 0, 0};
        servers_row(mcp, &row);
        for (t = 0; (tool = phi_mcp_tool_at(mcp, t)) != NULL; t++) {
            text_say(&row, t == 0 ? "\n  " : ", ");
            text_fit(&row, tool->name, 64);
        }
        info = phi_mcp_get_info(mcp);
        if (info.state != PHI_MCP_READY || info.restarts > 0) servers_last_words(&info, &row);
        note_str(a, info.state == PHI_MCP_FAILED ? STYLE_BAD : STYLE_DIM, text_str(&row));
        free(row.at);
    }
    if (i == 0) note(a, STYLE_DIM, "(this agent has no MCP servers)");
}

/* Says which servers have ended since it was last called, with their last words. A server that was started twice before it
   was ready is well: an old one ends when it is asked for its version. */
static inline void servers_look(app *a) {
    phi_mcp *mcp;
    size_t i;
    bool first = !a->servers_seen;
    a->servers_seen = a->agent.rt != NULL;
    for (i = 0; i < SERVERS_MOST && (mcp = servers_at(a->agent, i)) != NULL; i++) {
        phi_mcp_info info = phi_mcp_get_info(mcp);
        bool failed = info.state == PHI_MCP_FAILED;
        text row = {NULL, 0, 0};
        bool news = info.restarts != a->servers[i].restarts || failed != a->servers[i].failed;
        a->servers[i].restarts = info.restarts;
        a->servers[i].failed = failed;
        if (!news || info.state == PHI_MCP_CLOSED ||
            (first && (!failed || info.stderr_text.len == 0)))
            continue;
        text_say(&row, "MCP server ");
        text_fit(&row, phi_str_of(info.label), 60);
        if (first) { /* that it has failed was said when the agent was made */
            text_say(&row, " said before it ended:");
        } else {
            text_say(&row, failed ? " has failed: " : " has ended and is started again: ");
            text_fit(&row, phi_str_of(info.message), 200);
        }
        servers_last_words(&info, &row);
        note_str(a, failed ? STYLE_BAD : STYLE_DIM, text_str(&row));
        free(row.at);
    }
}

#endif
