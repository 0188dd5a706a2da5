/* url.c - splits URLs, and resolves references. */
#include "base/base_in.h"

/* Returns the end of the authority that begins at `at`, or, if `path` is true, of the path that
   begins there. */
static size_t phi__url_end(phi_str url, size_t at, bool path) {
    while (at < url.len && url.at[at] != '?' && url.at[at] != '#' && (path || url.at[at] != '/'))
        at++;
    return at;
}

PHI__FN bool phi__url_split(phi_str url, phi__url *out) {
    size_t at = phi__str_find(url, 0, "://"), colon;
    bool good = at != SIZE_MAX;
    memset(out, 0, sizeof *out);
    out->scheme = phi__str(url.at, good ? at : 0);
    out->secure = phi__str_is_nocase(out->scheme, "https");
    out->web = out->secure || phi__str_is_nocase(out->scheme, "http");
    size_t from = good ? at + 3 : 0, end = phi__url_end(url, from, false);
    size_t path_end = phi__url_end(url, end, true);
    out->origin = phi__str(url.at, end);
    out->path = phi__str(url.at + end, path_end - end);
    if (path_end < url.len && url.at[path_end] == '?') {
        phi_str rest = phi__str_from(url, path_end + 1);
        out->query = phi__str(rest.at, phi__min(phi__str_find(rest, 0, "#"), rest.len));
    }
    for (at = end; at > from && url.at[at - 1] != '@';) at--;
    if (at > from) out->user = phi__str(url.at + from, at - 1 - from);
    out->site = out->host = phi__str(url.at + at, end - at);
    /* The host stays empty if it is invalid: "[::1" without "]", or "[::1].example". */
    if (at < end && url.at[at] == '[') {
        size_t close = phi__str_find(out->site, 0, "]");
        colon = close == SIZE_MAX ? SIZE_MAX : phi__str_find(out->site, close, ":");
        if (close != SIZE_MAX && phi__min(colon, out->site.len) != close + 1) close = SIZE_MAX;
        out->host =
            close == SIZE_MAX ? phi__str(url.at + at, 0) : phi__str(url.at + at + 1, close - 1);
    } else if ((colon = phi__str_find(out->site, 0, ":")) != SIZE_MAX)
        out->host.len = colon;
    if (colon != SIZE_MAX) out->port = phi__str_from(out->site, colon + 1);
    if (out->port.len == 0) out->port = out->secure ? PHI__LIT("443") : PHI__LIT("80");
    return good;
}

PHI__FN bool phi__url_is_at(phi_str url, const char *host) {
    phi__url parts;
    size_t n = strlen(host);
    if (!phi__url_split(url, &parts) || parts.host.len < n) return false;
    size_t before = parts.host.len - n;
    return phi__str_is_nocase(phi__str_from(parts.host, before), host) &&
           (before == 0 || parts.host.at[before - 1] == '.');
}

PHI__FN bool phi__url_resolve(phi__buf *out, phi_str base, phi_str to) {
    phi__url parts;
    size_t keep, name = 0;
    bool whole = phi__url_split(base, &parts);
    to.len = phi__min(phi__str_find(to, 0, "#"), to.len);
    while (name < to.len && strchr(":/?", to.at[name]) == NULL) name++;
    if (name < to.len && to.at[name] == ':') { /* with its own scheme, `to` needs no base */
        phi__buf_add_str(out, to);
        return !out->failed;
    }
    if (!whole || to.len == 0) return false;
    keep = parts.origin.len;
    if (phi__str_starts(to, "//")) {
        keep = parts.scheme.len + 1;
    } else if (to.at[0] == '?') {
        keep += parts.path.len;
    } else if (to.at[0] != '/') { /* `to` replaces the last part of the path */
        for (size_t i = 0; i < parts.path.len; i++)
            if (parts.path.at[i] == '/') keep = parts.origin.len + i + 1;
        if (phi__str_starts(to, "./")) to = phi__str_from(to, 2);
    }
    phi__buf_add(out, base.at, keep);
    if (to.len > 0 && keep == parts.origin.len && to.at[0] != '/' && to.at[0] != '?')
        phi__buf_char(out, '/');
    phi__buf_add_str(out, to);
    return !out->failed;
}
