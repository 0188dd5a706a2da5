/* mcp_place.c - joins addresses, within one origin. */
#include "mcp/mcp_place_in.h"

enum { PHI__MCP_PLACE_MOST = 8192 }; /* bytes of an address */

typedef struct phi__mcp_place {
    phi_str scheme, authority, host, port;
    size_t path; /* where it begins */
} phi__mcp_place;

static phi_str phi__mcp_place_upto(phi_str s, const char *ends) {
    size_t i = 0;
    while (i < s.len && strchr(ends, s.at[i]) == NULL) i++;
    return phi__str(s.at, i);
}

/* "http://host:port/path"; a user in front of the host is refused. */
static bool phi__mcp_place_read(phi_str url, phi__mcp_place *out) {
    size_t at = phi__str_find(url, 0, "://"), end;
    phi_str rest;
    if (at == SIZE_MAX) return false;
    out->scheme = phi__str(url.at, at);
    if (!phi__str_is_nocase(out->scheme, "http") && !phi__str_is_nocase(out->scheme, "https"))
        return false;
    rest = phi__str(url.at + at + 3, url.len - at - 3);
    out->authority = phi__mcp_place_upto(rest, "/?#");
    out->path = at + 3 + out->authority.len;
    out->port = phi__str_is_nocase(out->scheme, "https") ? PHI__LIT("443") : PHI__LIT("80");
    end = out->authority.len;
    while (end > 0 && out->authority.at[end - 1] >= '0' && out->authority.at[end - 1] <= '9') end--;
    out->host = out->authority;
    if (end > 0 && out->authority.at[end - 1] == ':') {
        out->host = phi__str(out->authority.at, end - 1);
        if (end < out->authority.len)
            out->port = phi__str(out->authority.at + end, out->authority.len - end);
    }
    return out->host.len > 0 && memchr(out->authority.at, '@', out->authority.len) == NULL;
}

/* A user in an address of the host's own is no fault of the server. */
static phi_str phi__mcp_place_without_user(phi__mcp_place *own) {
    const char *at = (const char *)memchr(own->host.at, '@', own->host.len);
    size_t skip = at != NULL ? (size_t)(at - own->host.at) + 1 : 0;
    return phi__str(own->host.at + skip, own->host.len - skip);
}

static bool phi__mcp_place_plain(phi_str text) {
    size_t i;
    for (i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.at[i];
        if (c <= 32 || c == 127 || c == '\\') return false;
    }
    return text.len > 0 && text.len <= PHI__MCP_PLACE_MOST;
}

/* Whether it begins as "name:" does. */
static bool phi__mcp_place_has_scheme(phi_str to) {
    phi_str name = phi__mcp_place_upto(to, ":/?#");
    return name.len < to.len && to.at[name.len] == ':';
}

static void phi__mcp_place_relative(phi__buf *out, phi_str from, size_t path, phi_str to) {
    phi_str own = phi__str(from.at + path, from.len - path);
    phi_str until = phi__mcp_place_upto(own, to.at[0] == '?' ? "?#" : "/?#");
    size_t keep = path + until.len, i;
    if (to.at[0] != '?' && to.at[0] != '/') { /* beside the last part of the path */
        phi_str whole = phi__mcp_place_upto(own, "?#");
        keep = path;
        for (i = 0; i < whole.len; i++)
            if (whole.at[i] == '/') keep = path + i + 1;
    }
    phi__buf_add(out, from.at, keep);
    if (to.at[0] != '?' && to.at[0] != '/' && keep == path) phi__buf_char(out, '/');
    phi__buf_add_str(out, to);
}

PHI__FN bool phi__mcp_place_join(phi__buf *out, phi_str from, phi_str to) {
    phi__mcp_place own, other;
    phi__buf_clear(out);
    if (!phi__mcp_place_plain(to)) return false;
    to = phi__mcp_place_upto(to, "#");
    if (phi__str_find(from, 0, "://") == SIZE_MAX || to.len == 0) return false;
    (void)phi__mcp_place_read(from, &own); /* true but for a user, which the host may give */
    if (phi__str_starts(to, "//")) {
        phi__buf_add_str(out, own.scheme);
        phi__buf_char(out, ':');
        phi__buf_add_str(out, to);
    } else if (phi__mcp_place_has_scheme(to))
        phi__buf_add_str(out, to);
    else {
        phi__mcp_place_relative(out, from, own.path, to);
        return !out->failed;
    }
    if (out->failed) return false;
    return phi__mcp_place_read(phi__buf_str(out), &other) &&
           phi__str_equal_nocase(own.scheme, other.scheme) &&
           phi__str_equal_nocase(phi__mcp_place_without_user(&own), other.host) &&
           phi__str_equal_nocase(own.port, other.port);
}
