/* mcp_admit.c - mcp_admit_in.h. */
#include "mcp/mcp_admit_in.h"

#ifndef PHI_NO_LISTEN

/* Of "name", "name:port" or "[v6]:port". */
static phi_str phi__mcp_admit_name(phi_str authority) {
    size_t i, end = authority.len;
    for (i = 0; i < authority.len; i++) {
        if (authority.at[i] == ']') return phi__str(authority.at, i + 1);
        if (authority.at[i] == ':' && end == authority.len) end = i;
    }
    return authority.len > 0 && authority.at[0] == '[' ? authority : phi__str(authority.at, end);
}

static bool phi__mcp_admit_is_loopback(phi_str authority) {
    phi_str name = phi__mcp_admit_name(authority);
    return phi__str_is_nocase(name, "localhost") || phi__str_is(name, "127.0.0.1") ||
           phi__str_is(name, "[::1]");
}

/* Whether nothing but a port is behind the name. */
static bool phi__mcp_admit_ends(phi_str authority) {
    size_t i = phi__mcp_admit_name(authority).len;
    if (i == authority.len) return true;
    if (authority.at[i++] != ':' || authority.len - i > 5) return false;
    while (i < authority.len && authority.at[i] >= '0' && authority.at[i] <= '9') i++;
    return i == authority.len;
}

static bool phi__mcp_admit_listed(const char *const *list, phi_str value) {
    for (; list != NULL && *list != NULL; list++)
        if (phi__str_is_nocase(value, *list)) return true;
    return false;
}

/* A token keeps strangers out of a server that others reach by names we cannot know. */
PHI__FN bool phi__mcp_admit_host(const phi_mcp_server_desc *desc, phi_str host) {
    phi_str name = phi__mcp_admit_name(host);
    if (host.len == 0) return false;
    if (phi__mcp_admit_is_loopback(host) || phi__str_is(name, desc->address)) return true;
    if (name.at[0] == '[' && phi__str_is(phi__str(name.at + 1, name.len - 2), desc->address))
        return true;
    if (phi__mcp_admit_listed(desc->allowed_hosts, host) ||
        phi__mcp_admit_listed(desc->allowed_hosts, name))
        return true;
    return desc->any_address && desc->token != NULL && desc->allowed_hosts == NULL;
}

PHI__FN bool phi__mcp_admit_origin(const phi_mcp_server_desc *desc, phi_str origin) {
    size_t scheme = phi__str_find_nocase(origin, 0, "http://") == 0    ? 7
                    : phi__str_find_nocase(origin, 0, "https://") == 0 ? 8
                                                                       : 0;
    if (origin.at == NULL) return true; /* no browser's page */
    if (phi__mcp_admit_listed(desc->allowed_origins, origin)) return true;
    origin = phi__str(origin.at + scheme, origin.len - scheme);
    return scheme > 0 && phi__mcp_admit_ends(origin) && phi__mcp_admit_is_loopback(origin);
}

static bool phi__mcp_admit_counts(phi_str name) {
    static const char *const names[] = {"authorization", "content-type", "last-event-id", "origin"};
    size_t i;
    for (i = 0; i < PHI__COUNT(names); i++)
        if (phi__str_is_nocase(name, names[i])) return true;
    return phi__str_find_nocase(name, 0, "mcp-") == 0;
}

static bool phi__mcp_admit_same(phi_str a, phi_str b) {
    size_t i;
    for (i = 0; i < a.len && a.len == b.len; i++) /* of letters, digits and '-' */
        if ((a.at[i] | 0x20) != (b.at[i] | 0x20)) return false;
    return a.len == b.len;
}

PHI__FN bool phi__mcp_admit_once(const phi__http_head *head) {
    size_t i, k;
    for (i = 1; i < head->header_count; i++)
        for (k = 0; phi__mcp_admit_counts(head->headers[i].name) && k < i; k++)
            if (phi__mcp_admit_same(head->headers[i].name, head->headers[k].name)) return false;
    return true;
}

PHI__FN bool phi__mcp_admit_token(const char *token, phi_str authorization) {
    if (phi__str_find_nocase(authorization, 0, "bearer ") != 0) return false;
    authorization = phi__str_trim(phi__str(authorization.at + 7, authorization.len - 7));
    return phi__str_equal_secret(authorization, phi_str_of(token));
}

#endif
