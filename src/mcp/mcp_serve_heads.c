/* mcp_serve_heads.c - the headers of an HTTP request of 2026-07-28, which must repeat its body. */
#include "mcp/mcp_serve_state_in.h"

#include "base/base64_in.h"
#include "mcp/mcp_headers_in.h"

/* A value without its "=?base64?...?=". False: broken, or no memory. */
static bool phi__mcp_serve_heads_plain(phi_str header, phi__buf *out) {
    bool encoded = header.len >= 11 && phi__str_starts(header, "=?base64?") &&
                   memcmp(header.at + header.len - 2, "?=", 2) == 0;
    phi__buf_clear(out);
    if (encoded) return phi__base64_decode(out, phi__str(header.at + 9, header.len - 11));
    phi__buf_add_str(out, header);
    return !out->failed;
}

static bool phi__mcp_serve_heads_is(phi_mcp_server *server, phi_str header, phi_str value) {
    phi__buf plain;
    bool same;
    phi__buf_init(&plain, &server->rt->memory);
    same = phi__mcp_serve_heads_plain(header, &plain) && phi_str_equal(phi__buf_str(&plain), value);
    phi__buf_free(&plain);
    return same;
}

/* 42.0 is 42. */
static bool phi__mcp_serve_heads_same_number(phi_arena *arena, phi_str a, phi_str b) {
    phi_json *x = NULL, *y = NULL;
    return phi_json_parse(arena, a, PHI_JSON_BORROW, &x, NULL) == PHI_OK &&
           phi_json_parse(arena, b, PHI_JSON_BORROW, &y, NULL) == PHI_OK &&
           phi_json_is(x, PHI_JSON_NUMBER) && phi__json_get_equal(x, y);
}

static bool phi__mcp_serve_heads_param(phi_mcp_server *server, const phi__mcp_heads *heads,
                                       const phi_mcp_pair *pair, phi_arena *arena) {
    phi_str header = heads->get(heads->ctx, pair->name);
    phi__buf want;
    bool same;
    if (header.at == NULL) return false;
    phi__buf_init(&want, &server->rt->memory);
    same = phi__mcp_serve_heads_plain(phi_str_of(pair->value), &want) &&
           (phi__mcp_serve_heads_is(server, header, phi__buf_str(&want)) ||
            phi__mcp_serve_heads_same_number(arena, header, phi__buf_str(&want)));
    phi__buf_free(&want);
    return same;
}

/* The headers of marked parameters; a schema without a mark is not parsed. */
static bool phi__mcp_serve_heads_params(phi_mcp_server *server, const phi__mcp_heads *heads,
                                        const char *schema, const phi_json *arguments) {
    phi_mcp_pair *pairs = NULL;
    phi_json *root = NULL;
    phi_arena arena;
    size_t count = 0, i;
    bool same = true;
    if (schema == NULL || heads->get == NULL || strstr(schema, "x-mcp-header") == NULL) return true;
    phi_arena_init(&arena, &server->rt->memory, 0);
    if (phi_json_parse(&arena, phi_str_of(schema), PHI_JSON_BORROW, &root, NULL) != PHI_OK ||
        phi__mcp_headers_of(root, arguments, &arena, &pairs, &count) != PHI_OK)
        same = false;
    for (i = 0; same && i < count; i++)
        same = phi__mcp_serve_heads_param(server, heads, &pairs[i], &arena);
    phi_arena_free(&arena);
    return same;
}

PHI__FN const char *phi__mcp_serve_heads_check(phi_mcp_server *server, const phi__mcp_heads *heads,
                                               phi_str method, const phi_json *params) {
    bool call = phi__str_is(method, "tools/call"), named = phi__str_is(method, "prompts/get");
    bool placed = phi__str_is(method, "resources/read");
    bool task = server->desc.tasks &&
                (phi__str_is(method, "tasks/get") || phi__str_is(method, "tasks/update") ||
                 phi__str_is(method, "tasks/cancel"));
    phi_str name = phi_json_str(phi_json_get(params, placed ? "uri"
                                                     : task ? "taskId"
                                                            : "name"),
                                NULL);
    size_t i;
    if (!phi_str_equal(heads->method, method))
        return "Header mismatch: Mcp-Method is not the method of the body";
    if ((call || named || placed || task) && name.len > 0 &&
        !phi__mcp_serve_heads_is(server, heads->name, name))
        return "Header mismatch: Mcp-Name is not the name in the body";
    for (i = 0; call && i < server->desc.tool_count; i++)
        if (phi__str_is(name, server->desc.tools[i].name) &&
            !phi__mcp_serve_heads_params(server, heads, server->desc.tools[i].schema,
                                         phi_json_get(params, "arguments")))
            return "Header mismatch: an Mcp-Param header is missing, or is not the argument";
    return NULL;
}
