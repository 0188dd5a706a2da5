/* rules.c - matching rules of permissions. */
#include "permissions/rules_in.h"

#include "base/base_in.h"
#include "tools/tools_in.h"
#include "permissions/wildcard_in.h"
#include "text/text_in.h"

#include <stdio.h>

/* ---- the host of a URL against the host of a rule ---- */

static bool phi__rules_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Bytes of the name of a scheme; "evil.com/" before "://" is none. */
static size_t phi__hosts_scheme(phi_str url) {
    size_t i = 0;
    while (i < url.len && (phi__rules_letter(url.at[i]) || url.at[i] == '+')) i++;
    return i;
}

/* True if the scheme is one that goes to its host: not "file", "javascript", "data", "unix"... */
static bool phi__hosts_remote(phi_str scheme) {
    static const char *const names[] = {"http", "https", "ws",  "wss", "ftp",
                                        "ftps", "sftp",  "ssh", "git", "git+ssh"};
    for (size_t i = 0; i < PHI__COUNT(names); i++)
        if (phi__str_is_nocase(scheme, names[i])) return true;
    return false;
}

/* True if every program takes these bytes for a name: browsers and curl make other names of
   percent signs, of letters beyond ASCII and of what they leave out. */
static bool phi__hosts_plain(phi_str host) {
    for (size_t i = 0; i < host.len; i++) {
        char c = host.at[i];
        if ((c == '.' || c == '-') && (i == 0 || host.at[i - 1] == '.')) return false;
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.'))
            return false;
    }
    return host.len > 0;
}

/* True if a name that ends in a number is not the usual form of an address: 2130706433, 127.1,
   0x7f.0.0.1, 0177.0.0.1. */
static bool phi__hosts_number(phi_str host) {
    size_t from = host.len, dots = 0;
    bool odd = false;
    while (from > 0 && host.at[from - 1] != '.') from--;
    if (from == host.len || host.at[from] < '0' || host.at[from] > '9') return false;
    for (size_t i = 0; i < host.len; i++) {
        bool first = i == 0 || host.at[i - 1] == '.';
        if (host.at[i] == '.') dots++;
        if (host.at[i] == 'x') odd = true;
        if (first && host.at[i] == '0' && i + 1 < host.len && host.at[i + 1] != '.') odd = true;
    }
    return odd || dots != 3;
}

/* Whatever a program may take for the host: without a user's name, a port and a last dot. */
static void phi__hosts_may(phi_str url, phi__buf *out) {
    size_t at = phi__hosts_scheme(url), end;
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
    for (size_t i = at; i < end && (url.at[i] != ':' || url.at[at] == '['); i++)
        phi__buf_char(out, url.at[i] >= 'A' && url.at[i] <= 'Z' ? (char)(url.at[i] + ('a' - 'A'))
                                                                : url.at[i]);
    while (out->len > 0 && out->at[out->len - 1] == '.') out->len--;
}

PHI__FN bool phi__hosts_of(phi_str url, phi__buf *out) {
    size_t at = phi__hosts_scheme(url), end;
    bool port = false;
    if (!phi__hosts_remote(phi__str(url.at, at)) || !phi__str_starts(phi__str_from(url, at), "://"))
        return false;
    at += 3;
    /* a NUL, which strchr would find, does not end a host: it is refused below */
    for (end = at; end < url.len && (url.at[end] == '\0' || strchr("/?#", url.at[end]) == NULL);)
        end++;
    for (size_t i = at; i < end; i++) {
        char c = url.at[i];
        if (c == ':' && (url.at[at] != '[' || url.at[i - 1] == ']'))
            port = true;
        else if (port && (c < '0' || c > '9'))
            return false;
        if (!port) phi__buf_char(out, c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c);
    }
    phi_str host = phi__buf_str(out);
    bool address = host.len >= 4 && host.at[0] == '[' && host.at[host.len - 1] == ']'; /* [::1] */
    for (size_t i = 1; address && i + 1 < host.len; i++)
        address = host.at[i] != '\0' && strchr("0123456789abcdef:.", host.at[i]) != NULL;
    return !out->failed && (phi__hosts_plain(host) || address);
}

/* True if the host of a URL is the rule's; for rules that ask or deny, whatever a program may take
   for it, and, if subject->may, what may be the same host in another spelling. */
static bool phi__hosts_url(phi__subject *subject, const phi_permission_rule *rule, phi_str url) {
    phi__buf buf;
    bool matches = false;
    phi__buf_init(&buf, subject->memory);
    if (phi__allows(rule)) {
        matches = phi__hosts_of(url, &buf) && phi__among(phi__buf_str(&buf), rule->host);
    } else {
        phi__hosts_may(url, &buf);
        phi_str host = phi__buf_str(&buf);
        bool is_url = phi__str_find(url, 0, ":/") != SIZE_MAX;
        if (phi__among(host, rule->host))
            matches = subject->may || is_url;
        else if (subject->may && (subject->command == NULL ? url.len > 0 : is_url))
            matches = !phi__hosts_plain(host) || phi__hosts_number(host);
    }
    if (buf.failed) subject->lost = true;
    phi__buf_free(&buf);
    return matches;
}

/* ---- options of a command against those that a rule names ---- */

enum { PHI__OPTIONS_GLUED_MOST = 62 }; /* bytes of a value that is glued to its letter */

/* Several letters in one word, the last perhaps with its value. */
static bool phi__options_cluster(const char *options, phi_str text) {
    char word[PHI__OPTIONS_GLUED_MOST + 2];
    if (text.len - 1 > PHI__OPTIONS_GLUED_MOST) return false;
    word[0] = '-';
    for (size_t i = 1; i < text.len; i++) {
        phi_str rest = phi_str_of(options), valued = phi__str(word, text.len - i + 1), one;
        memcpy(word + 1, text.at + i, text.len - i);
        while (phi__wild_next(&rest, &one)) /* "-xVALUE" by an alternative that ends in a star */
            if (one.len > 0 && one.at[one.len - 1] == '*' && phi__wild_any(one, valued, false))
                return true;
        if (!phi__among(phi__str(word, 2), options)) return false;
    }
    return true;
}

/* True if all options of a command are among those of the rule's text. */
static bool phi__options_named(const phi__sh_command *c, const char *options) {
    for (size_t i = 1; i < c->count; i++) {
        phi_str text = c->words[i].text;
        if (!c->words[i].known) {
            /* The shell may make an option of it, or several words; ** is the files of a find. */
            if (text.len == 0 || strchr("-*?[", text.at[0]) != NULL) return false;
            if (phi__str_find(text, 0, "**") != SIZE_MAX) return false;
            for (size_t k = 0; k < text.len; k++)
                if (strchr("$`({<>", text.at[k]) != NULL) return false; /* or a NUL */
        }
        if (text.len < 2 || text.at[0] != '-' || phi__str_is(text, "--")) continue;
        if (phi__among(text, options)) continue;
        if (text.at[1] == '-' || !phi__options_cluster(options, text)) return false;
    }
    return true;
}

/* True if programs take the word for this long option: --fo, --fo=x and --force=x for --force. */
static bool phi__options_short_for(phi_str text, phi_str option) {
    size_t n = phi__min(phi__str_find(text, 0, "="), text.len);
    if (n < 2 || n > option.len || memcmp(text.at, option.at, n) != 0) return false;
    return phi__str_starts(option, "--") && (n < option.len ? n > 2 : n < text.len);
}

/* ---- words ---- */

static phi_str phi__rules_name(const phi__sh_command *c, bool anywhere) {
    phi_str name = c->count > 0 ? c->words[0].text : phi__str("", 0);
    if (anywhere) return phi__names_last(name);
    if (phi__str_starts(name, "/usr/bin/")) return phi__str_from(name, 9);
    return phi__str_starts(name, "/bin/") ? phi__str_from(name, 5) : name;
}

/* The word that says what a program is to do: behind options and their values, as in "git -C x
   push". */
static size_t phi__rules_skip(const phi__sh_command *c, phi_str pattern) {
    bool before = false, option;
    for (size_t i = 1; i < c->count; i++, before = option) {
        phi_str text = c->words[i].text;
        if (phi__wild_any(pattern, text, false)) return i;
        option = text.len > 0 && strchr("-+", text.at[0]) != NULL;
        if (!option && !before) break;
    }
    return 1;
}

/* Where the first expansion of a word begins, and where the last one ends: of "pu$()sh", "pu" and
   "sh" are certain. False: nothing is, or there is none. */
static bool phi__rules_certain(phi_str text, size_t *begin, size_t *end) {
    size_t last = 0;
    *begin = text.len;
    for (size_t i = 0; i < text.len; i++) {
        bool sign = text.at[i] == '$' || text.at[i] == '`';
        if (sign && *begin == text.len) *begin = i;
        if (!sign && (*begin == text.len || strchr(")}", text.at[i]) == NULL)) continue;
        last = i + 1;
        if (text.at[i] != '$') continue;
        while (last < text.len && (text.at[last] == '_' || phi__rules_letter(text.at[last])))
            last++;
        if (last == i + 1 && last < text.len) last++; /* $@ */
    }
    *end = last;
    return *begin<text.len && * begin + text.len - last> 0;
}

/* True if a word is one of a pattern's, or may be: "r[m]" names a file rm if there is one. */
static bool phi__rules_word(phi__subject *subject, phi_str pattern, phi_str text,
                            const phi__sh_word *word) {
    size_t begin, end;
    bool matches = false;
    phi_str one;
    phi__buf glob;
    if (phi__wild_any(pattern, text, false)) return true;
    if (!subject->may || word->known) return false;
    phi__buf_init(&glob, subject->memory);
    if (phi__rules_certain(text, &begin, &end)) {
        phi__buf_add(&glob, text.at, begin);
        phi__buf_text(&glob, "**");
        phi__buf_add(&glob, text.at + end, text.len - end);
        text = phi__buf_str(&glob);
    } else if (phi__str_find(word->text, 0, "$") != SIZE_MAX ||
               phi__str_find(word->text, 0, "`") != SIZE_MAX)
        return false;
    while (!matches && phi__wild_next(&pattern, &one))
        matches = phi__wild_meets(one, text, PHI__WILD_SEEN);
    if (glob.failed) subject->lost = true;
    phi__buf_free(&glob);
    return matches;
}

/* The words of a command against the words of a rule's pattern. */
static bool phi__rules_words(phi__subject *subject, const phi_permission_rule *rule) {
    const phi__sh_command *c = subject->command;
    bool allows = phi__allows(rule);
    phi_str rest = phi_str_of(rule->command), pattern;
    size_t i = 0;
    if (phi__str_is(rest, "*")) return true;
    if (c->count == 0 || (allows && (!c->words[0].known || c->assigned_count > 0))) return false;
    while (phi__wild_word(&rest, &pattern)) {
        if (i > 0 && phi__str_is(pattern, "*") && phi__str_trim(rest).len == 0) return true;
        if (i >= c->count || (allows && !c->words[i].known)) return false;
        if (i == 1 && !allows) i = phi__rules_skip(c, pattern);
        phi_str text = i == 0 ? phi__rules_name(c, !allows) : c->words[i].text;
        if (!phi__rules_word(subject, pattern, text, &c->words[i]) &&
            (i > 0 || !phi__wild_any(pattern, c->words[0].text, false)))
            return false;
        i++;
    }
    /* a program that reads its orders does more than its words say */
    return i == c->count && (!allows || !c->reads || phi__names_plain(c->words[0].text));
}

/* True if the command has an alternative of each word of the pattern; any: of one. may: a letter's
   option is also one of several; else "-fn" may be -f with a value, and words after "--" are no
   options. */
static bool phi__rules_has(const phi__sh_command *c, const char *words, bool any, bool may) {
    phi_str rest = phi_str_of(words), alternatives, one;
    while (phi__wild_word(&rest, &alternatives)) {
        bool found = false;
        while (!found && phi__wild_next(&alternatives, &one))
            for (size_t i = 1; i < c->count && !found; i++) {
                phi_str text = c->words[i].text;
                size_t begin, end;
                if (!may && phi__str_is(text, "--")) break;
                found = phi__wild_any(one, text, false);
                if (!may || found) continue;
                if (!c->words[i].known && phi__rules_certain(text, &begin, &end) && begin == 0)
                    text = phi__str_from(text, end); /* $@-rf */
                found = phi__wild_any(one, text, false) || phi__options_short_for(text, one) ||
                        (one.len == 2 && one.at[0] == '-' && one.at[1] != '-' && text.len > 1 &&
                         text.at[0] == '-' && text.at[1] != '-' &&
                         memchr(text.at + 1, one.at[1], text.len - 1) != NULL);
            }
        if (found == any) return any;
    }
    return !any;
}

enum { PHI__RULES_WORK_MOST = 100000 }; /* looks at words and commands of a line */

/* Counts work on a line. True: it is more than any line is worth that somebody has written. */
static bool phi__rules_tired(phi__subject *subject, size_t work) {
    subject->work += work;
    return subject->work > PHI__RULES_WORK_MOST;
}

/* True if it is one of these programs, or may run one. */
static bool phi__rules_named(const phi__sh_command *c, const char *names) {
    for (size_t i = 0; i < c->count; i++) {
        if (i > 0 && c->quiet && !c->wraps) break;
        if (phi__among(phi__names_last(c->words[i].text), names)) return true;
    }
    return c->count == 0 && phi__among(phi__str("", 0), names);
}

/* True if a command calls the function that another one is in. */
static bool phi__rules_calls(const phi__sh_command *c, const phi__sh_command *in) {
    return c->count > 0 && in->function.len > 0 && phi_str_equal(c->words[0].text, in->function);
}

/* True if a command is one of these, or calls a function that has one. */
static bool phi__rules_runs(phi__subject *subject, const char *names, size_t index) {
    const phi__sh_command *all = subject->shell->commands, *c = &all[index];
    if (phi__rules_named(c, names)) return true;
    for (size_t i = 0; subject->shell->later && i < subject->shell->count; i++)
        if (phi__rules_tired(subject, 1) ||
            (phi__rules_calls(c, &all[i]) && phi__rules_named(&all[i], names)))
            return true;
    return false;
}

/* The same of a command and those in its substitutions. */
static bool phi__rules_prints(phi__subject *subject, const char *names, size_t index) {
    const phi__sh_command *c = &subject->shell->commands[index];
    if (phi__rules_runs(subject, names, index)) return true;
    for (size_t i = c->inner_from; i < c->inner_to; i++)
        if (phi__rules_runs(subject, names, i)) return true;
    return false;
}

/* What such a program prints comes to the command at `index`. */
static bool phi__rules_piped_to(phi__subject *subject, const phi_permission_rule *rule,
                                size_t index) {
    const phi__sh_command *all = subject->shell->commands, *c = &all[index];
    for (size_t i = c->inner_from; i < c->inner_to; i++)
        if (phi__rules_runs(subject, rule->piped, i)) return true;
    if (c->fed > 0 && phi__rules_prints(subject, rule->piped, c->fed - 1)) return true;
    for (size_t i = 0; c->reads && i < subject->shell->count; i++) {
        if (c->input != NULL && all[i].body == c->input && phi__rules_runs(subject, rule->piped, i))
            return true;
        if (i == index || all[i].pipe_from != c->pipe_from) continue;
        if (phi__rules_prints(subject, rule->piped, i) || phi__rules_tired(subject, all[i].count))
            return true;
    }
    return false;
}

/* It comes by a pipe, a substitution or a here-document: to it, or to who calls its function. */
static bool phi__rules_piped(phi__subject *subject, const phi_permission_rule *rule) {
    const phi__sh_command *all = subject->shell->commands;
    if (phi__rules_piped_to(subject, rule, subject->index)) return true;
    for (size_t i = 0; subject->command->function.len > 0 && i < subject->shell->count; i++)
        if (phi__rules_calls(&all[i], subject->command) && phi__rules_piped_to(subject, rule, i))
            return true;
    return false;
}

/* ---- hosts ---- */

static bool phi__rules_host(phi__subject *subject, const phi_permission_rule *rule) {
    /* a tool heeds one of them, and the other may be a decoy */
    static const char *const names[] = {"url", "uri"};
    const phi__sh_command *c = subject->command;
    size_t urls = 0, good = 0;
    for (size_t i = 0; c == NULL && i < PHI__COUNT(names); i++) {
        const phi_json *url = phi_json_get(subject->root, names[i]);
        if (url == NULL) continue;
        urls++;
        good += phi__hosts_url(subject, rule, phi_json_str(url, ""));
    }
    for (size_t i = 1; c != NULL && i < c->count; i++) {
        bool plain = phi__str_find(c->words[i].text, 0, "://") == SIZE_MAX;
        if (plain && (c->words[i].known && phi__str_starts(c->words[i].text, "-"))) continue;
        urls++;
        good += (c->words[i].known || !phi__allows(rule)) &&
                phi__hosts_url(subject, rule, c->words[i].text);
    }
    return phi__allows(rule) ? urls > 0 && good == urls : good > 0;
}

/* ---- arguments of tools ---- */

static const char *const phi__rules_path_names[] = {"path", "file_path", "file", "filename",
                                                    "directory"};

PHI__FN phi_str phi__rules_path_of(const phi_json *root) {
    for (size_t i = 0; i < PHI__COUNT(phi__rules_path_names); i++) {
        const phi_json *member = phi_json_get(root, phi__rules_path_names[i]);
        if (phi_json_is(member, PHI_JSON_STRING)) return phi_json_str(member, "");
    }
    return phi__str(NULL, 0);
}

/* True if a search looks at a file of the rule: below its directory, by a choice of its pattern. */
static bool phi__rules_choice(phi__subject *subject, const phi_permission_rule *rule,
                              const phi__sh_word *dir, phi_str choice, bool all) {
    const phi_json *pattern = phi_json_get(subject->root, "pattern");
    phi__buf text;
    phi__sh_word word = PHI_ZERO;
    phi__buf_init(&text, subject->memory);
    phi__buf_add_str(&text, dir->text);
    phi__buf_text(&text, "/**");
    phi__reads_put(&text, choice);
    word.text = phi__buf_str(&text);
    if (all) word.hidden = PHI__WILD_LEFT_OUT;
    word.below = all && !phi__reads_hidden(dir) && !phi__reads_dumps(phi_json_str(pattern, ""));
    bool matches = phi__paths_word(subject, rule, &word);
    if (text.failed) subject->lost = true;
    phi__buf_free(&text);
    return matches;
}

/* The files that a search looks at: those of its pattern, or all in its directory. */
static bool phi__rules_searched(phi__subject *subject, const phi_permission_rule *rule) {
    phi_str include = phi_json_str(phi_json_get(subject->root, "include"), "");
    phi_str path = phi__rules_path_of(subject->root);
    bool matches = false, narrow = phi__reads_narrows(include);
    phi__buf choices;
    size_t at = 0;
    if (phi__allows(rule) || (!narrow && !phi__str_is(subject->tool, "search"))) return false;
    phi__sh_word dir = PHI_ZERO;
    dir.text = path.len > 0 ? path : PHI__LIT(".");
    dir.known = true;
    if (!narrow) return phi__rules_choice(subject, rule, &dir, phi__str("", 0), true);
    phi__buf_init(&choices, subject->memory);
    if (phi__glob_expand(&choices, include) != NULL)
        matches = phi__rules_choice(subject, rule, &dir, PHI__LIT("*"), false);
    for (; !choices.failed && at < choices.len && !matches; at += strlen(choices.at + at) + 1)
        matches = phi__rules_choice(subject, rule, &dir, phi_str_of(choices.at + at), false);
    if (choices.failed) subject->lost = true;
    phi__buf_free(&choices);
    return matches;
}

static bool phi__rules_tool_path(phi__subject *subject, const phi_permission_rule *rule) {
    phi_str path = phi__rules_path_of(subject->root);
    bool any = rule->argument == NULL || rule->matches != NULL, found = false;
    bool allows = phi__allows(rule), matches = allows;
    /* Each member that may be the path: a tool heeds one of them, and others may be a decoy. */
    for (size_t i = 0; i < PHI__COUNT(phi__rules_path_names); i++) {
        const phi_json *member = phi_json_get(subject->root, phi__rules_path_names[i]);
        if (!phi_json_is(member, PHI_JSON_STRING)) continue;
        found = true;
        if (phi__paths_text(subject, rule, phi_json_str(member, "")) != allows) matches = !allows;
    }
    if (any && !allows && !phi__rules_own(subject->shell_tools, subject->tool))
        return phi__paths_arguments(subject, rule, subject->root, 0);
    if (found && any) return matches;
    if (!any) path = phi_json_str(phi_json_get(subject->root, rule->argument), "");
    /* these two look at the workspace where they are given no path */
    if (path.at == NULL && phi__among(subject->tool, "list_files|search")) path = PHI__LIT(".");
    return path.at != NULL && phi__paths_text(subject, rule, path);
}

static bool phi__rules_argument(const phi__subject *subject, const phi_permission_rule *rule) {
    if (rule->argument == NULL) return phi__among(subject->arguments, rule->matches);
    const phi_json *member = phi_json_get(subject->root, rule->argument);
    return phi_json_is(member, PHI_JSON_STRING) &&
           phi__among(phi_json_str(member, ""), rule->matches);
}

/* ---- rules ---- */

/* It restricts commands: their words, or what they work on. */
static bool phi__rules_narrow(const phi_permission_rule *rule) {
    return (rule->command != NULL && strcmp(rule->command, "*") != 0) || rule->with != NULL ||
           rule->without != NULL || rule->piped != NULL || rule->path != NULL ||
           rule->host != NULL || rule->options != NULL;
}

static bool phi__rules_file(phi__subject *subject, const phi_permission_rule *rule) {
    phi_str tool = phi_str_of(subject->writes ? "write_file" : "read_file");
    bool own = rule->tool == NULL || phi__among(subject->tool, rule->tool);
    if (!phi__rules_narrow(rule) && own)
        return rule->matches == NULL || phi__rules_argument(subject, rule);
    if (rule->command != NULL || rule->with != NULL || rule->without != NULL ||
        rule->piped != NULL || rule->host != NULL || rule->matches != NULL || rule->options != NULL)
        return false;
    if (rule->tool != NULL && !phi__among(tool, rule->tool) &&
        (phi__allows(rule) || rule->path == NULL || !own))
        return false;
    if (rule->path == NULL) return true;
    if (phi__allows(rule) && !subject->path.known) return false;
    return phi__paths_word(subject, rule, &subject->path);
}

PHI__FN bool phi__rules_moved(const phi__subject *subject, bool path) {
    const phi__sh_command *c = subject->command;
    if (c->count == 0 || (c->dirs == NULL && !subject->shell->lost && !subject->shell->moved))
        return false;
    return path ? !phi__names_plain(c->words[0].text) : !phi__names_prints(c->words[0].text);
}

PHI__FN bool phi__rules_own(const char *shell_tools, phi_str tool) {
    return phi__among(tool, "read_file|write_file|edit_file|list_files|search|bash") ||
           phi__among(tool, shell_tools);
}

static bool phi__rules_match(phi__subject *subject, const phi_permission_rule *rule) {
    const phi__sh_command *c = subject->command;
    bool allows = phi__allows(rule);
    if (rule->source != NULL && !phi__among(subject->source, rule->source)) return false;
    if (rule->source == NULL && subject->source.len > 0 && allows && rule->tool != NULL &&
        phi__rules_own(subject->shell_tools, subject->tool))
        return false;
    if (subject->file) return phi__rules_file(subject, rule);
    if (rule->tool != NULL && !phi__among(subject->tool, rule->tool)) return false;
    if (rule->matches != NULL && !phi__rules_argument(subject, rule)) return false;
    if (subject->line) return !phi__rules_narrow(rule);
    if (c != NULL) {
        if (allows && phi__rules_narrow(rule) && phi__rules_moved(subject, rule->path != NULL))
            return false;
        if (rule->command != NULL && !phi__rules_words(subject, rule)) return false;
        if (rule->with != NULL && !phi__rules_has(c, rule->with, false, !allows)) return false;
        for (size_t i = 1; rule->without != NULL && allows && i < c->count; i++)
            if (!c->words[i].known && !c->words[i].pipe) return false;
        if (rule->without != NULL && phi__rules_has(c, rule->without, true, allows)) return false;
        if (rule->options != NULL && !phi__options_named(c, rule->options)) return false;
        if (rule->piped != NULL && !phi__rules_piped(subject, rule)) return false;
        if (rule->path != NULL && !phi__paths_command(subject, rule)) return false;
        return rule->host == NULL || phi__rules_host(subject, rule);
    }
    if (rule->command != NULL || rule->with != NULL || rule->without != NULL ||
        rule->piped != NULL || rule->options != NULL)
        return false;
    if (rule->path != NULL && !phi__rules_tool_path(subject, rule) &&
        !phi__rules_searched(subject, rule))
        return false;
    return rule->host == NULL || phi__rules_host(subject, rule);
}

/* True if a rule matches the words of a command from a later one on, which a program may run that
   is not known to. */
static bool phi__rules_later(phi__subject *subject, const phi_permission_rule *rule) {
    const phi__sh_command *c = subject->command;
    phi_str rest = phi_str_of(rule->command), name;
    bool matches = false;
    if (c == NULL || subject->file || subject->line || c->quiet || c->count == 0 ||
        !phi__wild_word(&rest, &name) || phi__str_is(name, "*"))
        return false;
    size_t i = c->sort != PHI__SH_SUSPECT && phi__names_tool(phi__rules_name(c, true)) ? 2 : 1;
    for (; i < c->count && !matches; i++) {
        phi__sh_command part = *c;
        part.words += i;
        part.count -= i;
        part.assigned_count = part.also_count = 0;
        phi_str text = phi__rules_name(&part, true);
        size_t begin, end, k = 0;
        while (k < text.len && !phi__rules_letter(text.at[k])) k++;
        /* a word of which a part is an expansion or a pattern may be one of these names */
        bool partly = k < text.len && (phi__rules_certain(text, &begin, &end) ||
                                       phi__str_find(text, 0, "$") == SIZE_MAX);
        if (!phi__wild_any(name, text, false) &&
            (!partly || !phi__rules_word(subject, name, text, &part.words[0])))
            continue;
        if (phi__rules_tired(subject, part.count)) return true;
        subject->command = &part;
        matches = phi__rules_match(subject, rule);
        subject->command = c;
    }
    return matches;
}

/* What the rule says of it. False: it does not match. A file that may be one of a rule that denies
   is asked about, and so is a command that may be run. */
static bool phi__rules_says(phi__subject *subject, const phi_permission_rule *rule,
                            phi_permission *verdict) {
    *verdict = rule->verdict;
    subject->may = rule->verdict == PHI_PERMISSION_ASK;
    if (phi__rules_match(subject, rule)) return true;
    if (phi__allows(rule)) return false;
    *verdict = PHI_PERMISSION_ASK;
    subject->may = true;
    bool matches = (rule->verdict == PHI_PERMISSION_DENY && phi__rules_match(subject, rule)) ||
                   (rule->command != NULL && phi__rules_later(subject, rule));
    subject->may = false;
    return matches;
}

PHI__FN phi_permission phi__rules_decide(const phi_permission_rules *rules, phi__subject *subject,
                                         const phi_permission_rule **which) {
    phi_permission strictest = rules->otherwise, verdict;
    bool settled = false; /* by a rule on this very call */
    *which = NULL;
    for (size_t i = 0; i < rules->count; i++) {
        const phi_permission_rule *rule = &rules->rules[i];
        /* It allows one very call: a person has seen all of it, so that no rule needs to ask. */
        bool one = phi__allows(rule) && !phi__rules_narrow(rule) && rule->argument == NULL &&
                   rule->matches != NULL && phi__wild_literal(phi_str_of(rule->matches)) &&
                   rule->tool != NULL && phi__wild_literal(phi_str_of(rule->tool));
        if (rule->verdict != PHI_PERMISSION_DENY && !one &&
            (settled || (*which != NULL && strictest == PHI_PERMISSION_ASK)))
            continue;
        if (!phi__rules_says(subject, rule, &verdict)) continue;
        if (settled && verdict != PHI_PERMISSION_DENY) continue;
        if (*which == NULL || one || verdict == PHI_PERMISSION_DENY ||
            (verdict == PHI_PERMISSION_ASK && strictest == PHI_PERMISSION_ALLOW)) {
            *which = rule;
            strictest = verdict;
        }
        settled = settled || one;
        if (verdict == PHI_PERMISSION_DENY) break;
    }
    return strictest;
}

PHI__FN bool phi__rules_restrict(const phi_permission_rules *rules, const phi__subject *subject) {
    for (size_t i = 0; i < rules->count; i++) {
        const phi_permission_rule *rule = &rules->rules[i];
        if (!phi__allows(rule) && phi__rules_narrow(rule) &&
            (rule->tool == NULL || phi__among(subject->tool, rule->tool)))
            return true;
    }
    return false;
}

/* ---- rules from JSON, and as JSON ---- */

/* Where the members of a rule are. */
typedef struct phi__rule_member {
    const char *name;
    size_t at;
} phi__rule_member;

static const phi__rule_member phi__rule_members[] = {
    {"tool", offsetof(phi_permission_rule, tool)},
    {"command", offsetof(phi_permission_rule, command)},
    {"with", offsetof(phi_permission_rule, with)},
    {"without", offsetof(phi_permission_rule, without)},
    {"piped", offsetof(phi_permission_rule, piped)},
    {"path", offsetof(phi_permission_rule, path)},
    {"host", offsetof(phi_permission_rule, host)},
    {"argument", offsetof(phi_permission_rule, argument)},
    {"matches", offsetof(phi_permission_rule, matches)},
    {"reason", offsetof(phi_permission_rule, reason)},
    {"options", offsetof(phi_permission_rule, options)},
    {"source", offsetof(phi_permission_rule, source)}};

static const char *const phi__rule_verdicts[] = {"ask", "allow", "deny"};

static const char **phi__rule_field(phi_permission_rule *rule, size_t i) {
    return (const char **)(void *)((char *)rule + phi__rule_members[i].at);
}

static phi_status phi__rule_refuse(phi_parse_error *error, const char *place, phi_str found,
                                   const char *expected) {
    if (error == NULL) return PHI_PARSE;
    memset(error, 0, sizeof *error);
    error->status = PHI_PARSE;
    if (found.len > 0)
        (void)snprintf(error->message, sizeof error->message, "%s \"%.*s\": expected %s", place,
                       (int)phi__min(found.len, 40), found.at, expected);
    else
        (void)snprintf(error->message, sizeof error->message, "%s: expected %s", place, expected);
    return PHI_PARSE;
}

static bool phi__rule_verdict(const phi_json *node, phi_permission *out) {
    for (size_t i = 0; i < PHI__COUNT(phi__rule_verdicts); i++) {
        if (!phi__str_is(phi_json_str(node, ""), phi__rule_verdicts[i])) continue;
        *out = (phi_permission)i;
        return true;
    }
    return false;
}

/* One member of rules[index]. */
static phi_status phi__rule_take(const phi_json *node, phi_str key, size_t index,
                                 phi_permission_rule *out, phi_parse_error *error) {
    char place[64];
    phi_str text = phi_json_str(node, "");
    if (phi__str_is(key, "verdict")) {
        (void)snprintf(place, sizeof place, "rules[%u].verdict", (unsigned)index);
        if (phi__rule_verdict(node, &out->verdict)) return PHI_OK;
        return phi__rule_refuse(error, place, text, "allow, ask or deny");
    }
    (void)snprintf(place, sizeof place, "rules[%u]: member", (unsigned)index);
    for (size_t i = 0; i < PHI__COUNT(phi__rule_members); i++) {
        if (!phi__str_is(key, phi__rule_members[i].name)) continue;
        if (!phi_json_is(node, PHI_JSON_STRING) || memchr(text.at, '\0', text.len) != NULL)
            return phi__rule_refuse(error, place, key, "a string");
        *phi__rule_field(out, i) = text.at; /* terminated, in the arena */
        return PHI_OK;
    }
    return phi__rule_refuse(error, place, key,
                            "verdict, tool, command, with, without, piped, path, host, "
                            "argument, matches, reason, options or source");
}

static phi_status phi__rule_list(phi_arena *arena, const phi_json *node, phi_permission_rules *out,
                                 phi_parse_error *error) {
    size_t n = phi_json_count(node);
    phi_json_iter each = phi_json_each(node);
    phi_status status = PHI_OK;
    char place[64];
    if (!phi_json_is(node, PHI_JSON_ARRAY))
        return phi__rule_refuse(error, "rules", phi_str_of(phi__json_get_type_name(node)),
                                "an array");
    phi_permission_rule *rules =
        (phi_permission_rule *)phi__arena_zero(arena, phi__mul(n + 1, sizeof *rules));
    if (rules == NULL) return PHI_NO_MEMORY;
    for (size_t i = 0; i < n && status == PHI_OK; i++) {
        const phi_json *rule = phi_json_next(&each), *member;
        phi_json_iter it = phi_json_each(rule);
        (void)snprintf(place, sizeof place, "rules[%u]", (unsigned)i);
        if (!phi_json_is(rule, PHI_JSON_OBJECT))
            return phi__rule_refuse(error, place, phi_str_of(phi__json_get_type_name(rule)),
                                    "an object");
        while (status == PHI_OK && (member = phi_json_next(&it)) != NULL)
            status = phi__rule_take(member, it.key, i, &rules[i], error);
        if (status == PHI_OK && phi_json_get(rule, "verdict") == NULL)
            return phi__rule_refuse(error, place, phi__str("", 0), "a verdict");
    }
    out->rules = rules;
    out->count = n;
    return status;
}

static phi_status phi__rule_read(phi_arena *arena, const phi_json *root, phi_permission_rules *out,
                                 phi_parse_error *error) {
    phi_json_iter it = phi_json_each(root);
    const phi_json *member;
    phi_status status = PHI_OK;
    if (!phi_json_is(root, PHI_JSON_OBJECT))
        return phi__rule_refuse(error, "permissions", phi_str_of(phi__json_get_type_name(root)),
                                "an object");
    while (status == PHI_OK && (member = phi_json_next(&it)) != NULL) {
        if (phi__str_is(it.key, "rules"))
            status = phi__rule_list(arena, member, out, error);
        else if (!phi__str_is(it.key, "otherwise"))
            status = phi__rule_refuse(error, "member", it.key, "rules or otherwise");
        else if (!phi__rule_verdict(member, &out->otherwise))
            status = phi__rule_refuse(error, "otherwise", phi_json_str(member, ""),
                                      "allow, ask or deny");
    }
    return status;
}

/* ---- public ---- */

PHI_API phi_status phi_permissions_from_json(phi_str json, phi_arena *arena,
                                             phi_permission_rules *out, phi_parse_error *error) {
    phi_json *root = NULL;
    if (arena == NULL || out == NULL) return PHI_BAD_ARG;
    phi_arena_mark mark = phi_arena_save(arena);
    memset(out, 0, sizeof *out);
    phi_status status = phi_json_parse(arena, json, 0, &root, error);
    if (status == PHI_OK) status = phi__rule_read(arena, root, out, error);
    if (status != PHI_OK) {
        phi_arena_reset(arena, mark);
        memset(out, 0, sizeof *out);
    }
    return status;
}

PHI_API phi_status phi_permissions_to_json(const phi_permission_rules *rules, phi_arena *arena,
                                           phi_str *out) {
    phi__buf buf;
    if (arena == NULL || rules == NULL || out == NULL) return PHI_BAD_ARG;
    phi__buf_init(&buf, arena->memory);
    phi__buf_text(&buf, "{\"rules\":[");
    for (size_t i = 0; i < rules->count; i++) {
        phi__buf_text(&buf, i > 0 ? ",\n" : "\n");
        phi_permission_rule rule = rules->rules[i];
        bool valid = rule.verdict <= PHI_PERMISSION_DENY;
        phi__buf_printf(&buf, "{\"verdict\":\"%s\"",
                        phi__rule_verdicts[valid ? rule.verdict : PHI_PERMISSION_ASK]);
        for (size_t k = 0; k < PHI__COUNT(phi__rule_members); k++) {
            const char *text = *phi__rule_field(&rule, k);
            if (text == NULL) continue;
            phi__buf_printf(&buf, ",\"%s\":", phi__rule_members[k].name);
            phi__json_write_str(&buf, phi_str_of(text));
        }
        phi__buf_char(&buf, '}');
    }
    phi__buf_text(&buf, "\n],\"otherwise\":\"");
    phi__buf_text(&buf, phi__rule_verdicts[rules->otherwise]);
    phi__buf_text(&buf, "\"}\n");
    bool good = !buf.failed && phi__arena_str(arena, phi__buf_str(&buf), out);
    phi__buf_free(&buf);
    return good ? PHI_OK : PHI_NO_MEMORY;
}
