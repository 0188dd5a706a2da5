/* names.c - programs and variables that are known by their names. */
#include "permissions/shell_in.h"

#include "permissions/wildcard_in.h"

PHI__FN bool phi__names_secret(phi_str name) {
    /* $ behind one: at the end alone */
    static const char *const parts[] = {
        "KEY",         "TOKEN",     "SECRET",   "PASS",       "CREDENTIAL", "_PWD$",
        "_AUTH$",      "AUTH_",     "OAUTH",    "JWT",        "COOKIE",     "AUTHORIZ",
        "BEARER",      "NETRC",     "DSN$",     "_PAT$",      "CERT",       "VAULT",
        "DATABASE",    "REDIS_URL", "PRIVATE",  "CONNECTION", "_CONN",      "MONGO",
        "AMQP",        "RABBIT",    "POSTGRES", "WEBHOOK",    "DB_URL$",    "SESSION",
        "KUBECONFIG",  "OTP$",      "_SK$",     "SALT$",      "CREDS",      "MNEMONIC",
        "SEED_PHRASE", "_PROXY$",   "_HOOK$",   "_URI$",      "SMTP_",      "CLOUDINARY"};
    size_t i;
    for (i = 0; i < PHI__COUNT(parts); i++) {
        size_t n = strlen(parts[i]), at = 0;
        bool end = parts[i][n - 1] == '$';
        char part[16];
        memcpy(part, parts[i], n + 1);
        if (end) part[--n] = '\0';
        if (end && name.len < n) continue;
        if (end) at = name.len - n;
        if (phi__str_find_nocase(name, at, part) != SIZE_MAX) return true;
    }
    return false;
}

/* The name of a program of the system, without its directory. */
static phi_str phi__names_name(phi_str name) {
    if (phi__str_starts(name, "/usr/bin/")) return phi__str(name.at + 9, name.len - 9);
    return phi__str_starts(name, "/bin/") ? phi__str(name.at + 5, name.len - 5) : name;
}

PHI__FN bool phi__names_prints(phi_str name) {
    static const char names[] =
        "echo|printf|seq|sleep|basename|dirname|pwd|true|false|:|whoami|id|uname|date|uptime|"
        "hostname|which|type|test|[[]|exit|cd|pushd|popd";
    return phi__wildcard_any(phi_str_of(names), phi__names_name(name), false);
}

PHI__FN bool phi__names_plain(phi_str name) {
    static const char names[] =
        "ls|cat|head|tail|wc|nl|tac|stat|du|df|cmp|comm|cut|tr|rev|column|paste|fold|realpath|"
        "readlink|od|xxd|hexdump|md5sum|sha1sum|sha256sum|sha512sum|cksum|base64|diff|strings|file|"
        "jq|grep|egrep|fgrep|rg|uniq|tree|sort|find|tee|mkdir|touch|cp|mv|rm|ln|chmod|rmdir|gzip|"
        "gunzip|zcat|join|shuf|expand|iconv";
    return phi__names_prints(name) ||
           phi__wildcard_any(phi_str_of(names), phi__names_name(name), false);
}

PHI__FN phi_str phi__names_last(phi_str path) {
    size_t i = path.len;
    while (i > 0 && path.at[i - 1] != '/') i--;
    return phi__str(path.at + i, path.len - i);
}

PHI__FN bool phi__names_runner(phi_str name) {
    static const char names[] =
        "sh|bash*|dash|zsh*|ksh*|ash|hush|mksh|fish|csh|tcsh|yash|posh|rbash|pwsh|source|.|eval|"
        "python*|pypy*|perl*|ruby*|node|php*|lua*|tclsh*|deno|bun|xargs|parallel|at|batch|crontab|"
        "ssh|make|gmake|awk|gawk|sudo|su|docker|podman|kubectl|psql|mysql|sqlite3|gdb";
    return phi__wildcard_any(phi_str_of(names), phi__names_last(name), false);
}

PHI__FN bool phi__names_tool(phi_str name) {
    static const char names[] =
        "git|docker|podman|npm|pnpm|yarn|cargo|go|kubectl|helm|systemctl|service|apt|apt-get|brew|"
        "dnf|yum|apk|pacman|pip*|uv|gem|gh|aws|gcloud|az|terraform|man|info|help|snap|nix|conda|"
        "bundle|composer|rustup|make|alias|unalias|export|declare|local|set|unset|read|return";
    return phi__wildcard_any(phi_str_of(names), phi__names_name(name), false);
}
