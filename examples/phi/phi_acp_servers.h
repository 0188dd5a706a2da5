/* phi_acp_servers.h - MCP servers that an editor names for a session. */
#ifndef PHI_ACP_SERVERS_H
#define PHI_ACP_SERVERS_H

#include "phi_acp_session.h"

/* Pairs of name and value as "name=value", NULL-ended, or as headers. */
static inline const char **acp_env(acp_wire *w, const phi_json *list) {
    phi_json_iter it = phi_json_each(list);
    size_t i = 0, n = phi_json_count(list) + 1;
    const char **out = (const char **)phi_arena_alloc(&w->arena, n * sizeof *out);
    phi_json *each;
    while (out != NULL && (each = phi_json_next(&it)) != NULL) {
        phi_str name = phi_json_str(phi_json_get(each, "name"), "");
        phi_str value = phi_json_str(phi_json_get(each, "value"), "");
        char *pair = (char *)phi_arena_alloc(&w->arena, name.len + value.len + 2);
        if (pair == NULL) break;
        (void)snprintf(pair, name.len + value.len + 2, "%.*s=%.*s", PHI_ARG(name), PHI_ARG(value));
        out[i++] = pair;
    }
    if (out != NULL) out[i] = NULL;
    return out;
}

static inline const char **acp_argv(acp_wire *w, const phi_json *server) {
    const phi_json *args = phi_json_get(server, "args");
    phi_json_iter it = phi_json_each(args);
    size_t i = 0, n = phi_json_count(args) + 2;
    const char **out = (const char **)phi_arena_alloc(&w->arena, n * sizeof *out);
    phi_json *each;
    if (out == NULL) return NULL;
    out[i++] = phi_json_str(phi_json_get(server, "command"), "").at;
    while ((each = phi_json_next(&it)) != NULL) out[i++] = phi_json_str(each, "").at;
    out[i] = NULL;
    return out;
}

static inline phi_mcp_pair *acp_headers(acp_wire *w, const phi_json *list) {
    phi_json_iter it = phi_json_each(list);
    phi_mcp_pair *out =
        (phi_mcp_pair *)phi_arena_alloc(&w->arena, (phi_json_count(list) + 1) * sizeof *out);
    size_t i = 0;
    phi_json *each;
    while (out != NULL && (each = phi_json_next(&it)) != NULL) {
        out[i].name = phi_json_str(phi_json_get(each, "name"), "").at;
        out[i++].value = phi_json_str(phi_json_get(each, "value"), "").at;
    }
    return out;
}

/* Begins to connect to one server. Without one the session goes on, and a note says why. */
static inline void acp_connect(acp *p, acp_session *s, const phi_json *server) {
    phi_mcp_desc to = PHI_ZERO;
    phi_str name = phi_json_str(phi_json_get(server, "name"), "");
    const phi_json *headers = phi_json_get(server, "headers");
    phi_mcp *mcp = NULL;
    text prefix = {NULL, 0, 0};
    size_t i;
    for (i = 0; i < name.len; i++)
        if (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_",
                   name.at[i]) != NULL)
            text_add(&prefix, name.at + i, 1);
        else
            text_say(&prefix, "_");
    to.name = name.at;
    to.name_prefix = prefix.at;
    to.cwd = s->a.place.at;
    to.hide_keys = true;
    to.max_restarts = 1;
    if (phi_json_get(server, "url") != NULL) {
        to.url = phi_json_str(phi_json_get(server, "url"), "").at;
        to.headers = acp_headers(&p->wire, headers);
        to.header_count = to.headers != NULL ? phi_json_count(headers) : 0;
    } else {
        to.argv = acp_argv(&p->wire, server);
        to.env = acp_env(&p->wire, phi_json_get(server, "env"));
    }
    if (s->server_count == ACP_SERVERS)
        note(&s->a, STYLE_BAD, "phi: at most %d MCP servers", ACP_SERVERS);
    else if ((mcp = phi_mcp_connect(s->a.rt, &to)) == NULL)
        note(&s->a, STYLE_BAD, "phi: MCP server %.*s: %s", PHI_ARG(name), last_error(&s->a));
    free(prefix.at);
    if (mcp == NULL) return;
    s->servers[s->server_count] = mcp;
    s->sources[s->server_count++] = phi_mcp_tools(mcp);
}

/* True while one of them is still connecting. */
static inline bool acp_connecting(const acp_session *s) {
    size_t i;
    for (i = 0; i < s->server_count; i++)
        if (phi_mcp_get_info(s->servers[i]).state == PHI_MCP_CONNECTING) return true;
    return false;
}

/* A server that failed is said on stderr, and the session goes on without its tools. */
static inline void acp_say_failed(const acp_session *s) {
    size_t i;
    for (i = 0; i < s->server_count; i++) {
        phi_mcp_info info = phi_mcp_get_info(s->servers[i]);
        text words = {NULL, 0, 0};
        if (info.state == PHI_MCP_READY) continue;
        text_note(&words, phi_str_of(info.message));
        (void)fprintf(stderr, "phi: an MCP server of the editor is not ready: %s\n", words.at);
        free(words.at);
    }
}

#endif
