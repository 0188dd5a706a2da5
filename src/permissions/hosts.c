/* hosts.c - the host of a URL against the host of a rule. */
#include "permissions/rules_in.h"

#include "permissions/wildcard_in.h"

/* Bytes of the name of a scheme; "evil.com/" before "://" is none. */
static size_t phi__hosts_scheme(phi_str url) {
    size_t i = 0;
    while (i < url.len &&
           ((url.at[i] >= 'a' && url.at[i] <= 'z') || (url.at[i] >= 'A' && url.at[i] <= 'Z') ||
            (url.at[i] >= '0' && url.at[i] <= '9') || url.at[i] == '+'))
        i++;
    return i;
}

/* True if the scheme is one that goes to its host: not "file", "javascript", "data", "unix"... */
static bool phi__hosts_remote(phi_str scheme) {
    static const char *const names[] = {"http", "https", "ws",  "wss", "ftp",
                                        "ftps", "sftp",  "ssh", "git", "git+ssh"};
    size_t i;
    for (i = 0; i < PHI__COUNT(names); i++)
        if (phi__str_is_nocase(scheme, names[i])) return true;
    return false;
}

/* True if every program takes these bytes for a name: browsers and curl make other names of
   percent signs, of letters beyond ASCII and of what they leave out. */
static bool phi__hosts_plain(phi_str host) {
    size_t i;
    for (i = 0; i < host.len; i++) {
        char c = host.at[i];
        if ((c == '.' || c == '-') && (i == 0 || host.at[i - 1] == '.')) return false;
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.'))
            return false;
    }
    return host.len > 0;
}

/* [::1]: an address, and nothing else. */
static bool phi__hosts_address(phi_str host) {
    size_t i;
    if (host.len < 4 || host.at[0] != '[' || host.at[host.len - 1] != ']') return false;
    for (i = 1; i + 1 < host.len; i++)
        if (host.at[i] == '\0' || strchr("0123456789abcdef:.", host.at[i]) == NULL) return false;
    return true;
}

/* True if a name that ends in a number is not the usual form of an address: 2130706433, 127.1,
   0x7f.0.0.1, 0177.0.0.1. */
static bool phi__hosts_number(phi_str host) {
    size_t i, from = host.len, dots = 0;
    bool odd = false;
    while (from > 0 && host.at[from - 1] != '.') from--;
    if (from == host.len || host.at[from] < '0' || host.at[from] > '9') return false;
    for (i = 0; i < host.len; i++) {
        bool first = i == 0 || host.at[i - 1] == '.';
        if (host.at[i] == '.') dots++;
        if (host.at[i] == 'x') odd = true;
        if (first && host.at[i] == '0' && i + 1 < host.len && host.at[i + 1] != '.') odd = true;
    }
    return odd || dots != 3;
}

/* Whatever a program may take for the host: without a user's name, a port and a last dot. */
static void phi__hosts_may(phi_str url, phi__buf *out) {
    size_t at = phi__hosts_scheme(url), end, i;
    if (at < url.len && url.at[at] == ':' && phi__hosts_remote(phi__str(url.at, at)))
        at++; /* browsers do without the slashes */
    else
        at = phi__str_find(url, 0, ":/");
    at = at == SIZE_MAX ? 0 : at + (url.at[at] == ':');
    while (at < url.len && url.at[at] != '\0' && strchr("/\\ \t", url.at[at]) != NULL) at++;
    for (end = at;
         end < url.len && (unsigned char)url.at[end] > ' ' && strchr("/?#\\", url.at[end]) == NULL;
         end++)
        if (url.at[end] == '@') at = end + 1;
    if (end < url.len && strchr("\t\r\n", url.at[end]) != NULL) phi__buf_char(out, '%');
    for (i = at; i < end && (url.at[i] != ':' || url.at[at] == '['); i++)
        phi__buf_char(out, url.at[i] >= 'A' && url.at[i] <= 'Z' ? (char)(url.at[i] + ('a' - 'A'))
                                                                : url.at[i]);
    while (out->len > 0 && out->at[out->len - 1] == '.') out->len--;
}

/* Of rules that ask or deny. A host that may be the rule's in another spelling is asked about. */
static bool phi__hosts_suspect(const phi__rules_subject *subject, const phi_permission_rule *rule,
                               phi_str url, phi_str host) {
    bool is_url = phi__str_find(url, 0, ":/") != SIZE_MAX;
    if (phi__wildcard_any(phi_str_of(rule->host), host, false)) return subject->may || is_url;
    if (subject->command == NULL) is_url = url.len > 0;
    return subject->may && is_url && (!phi__hosts_plain(host) || phi__hosts_number(host));
}

/* ---- for other files ---- */

PHI__FN bool phi__hosts_of(phi_str url, phi__buf *out) {
    size_t at = phi__hosts_scheme(url), end, i;
    bool port = false;
    phi_str host;
    if (!phi__hosts_remote(phi__str(url.at, at)) ||
        !phi__str_starts(phi__str(url.at + at, url.len - at), "://"))
        return false;
    at += 3;
    /* a NUL, which strchr would find, does not end a host: it is refused below */
    for (end = at; end < url.len && (url.at[end] == '\0' || strchr("/?#", url.at[end]) == NULL);)
        end++;
    for (i = at; i < end; i++) {
        char c = url.at[i];
        if (c == ':' && (url.at[at] != '[' || url.at[i - 1] == ']'))
            port = true;
        else if (port && (c < '0' || c > '9'))
            return false;
        if (!port) phi__buf_char(out, c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c);
    }
    host = phi__buf_str(out);
    return !out->failed && (phi__hosts_plain(host) || phi__hosts_address(host));
}

PHI__FN bool phi__hosts_url(phi__rules_subject *subject, const phi_permission_rule *rule,
                            phi_str url) {
    phi__buf host;
    bool matches;
    phi__buf_init(&host, subject->memory);
    if (rule->verdict == PHI_PERMISSION_ALLOW) {
        matches = phi__hosts_of(url, &host) &&
                  phi__wildcard_any(phi_str_of(rule->host), phi__buf_str(&host), false);
    } else {
        phi__hosts_may(url, &host);
        matches = phi__hosts_suspect(subject, rule, url, phi__buf_str(&host));
    }
    if (host.failed) subject->lost = true;
    phi__buf_free(&host);
    return matches;
}
