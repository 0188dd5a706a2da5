/* rules.c - matching rules of permissions. */
#include "permissions/rules_in.h"

#include "permissions/wildcard_in.h"

#ifndef PHI_NO_PERMISSIONS

enum {
    PHI__RULES_PATH_MOST = 4095,  /* bytes: no file has a longer path */
    PHI__RULES_LETTERS_MOST = 32, /* of options in one word, before a path */
    PHI__RULES_TRIES_MOST = 4000  /* parts of words of a line that are compared with paths */
};

static bool phi__rules_allows(const phi_permission_rule *rule) {
    return rule->verdict == PHI_PERMISSION_ALLOW;
}

static bool phi__rules_any(const char *pattern, phi_str text) {
    return phi__wildcard_any(phi_str_of(pattern), text, false);
}

static bool phi__rules_holds(phi_str text, const char *chars) {
    size_t i;
    for (i = 0; i < text.len; i++)
        if (text.at[i] != '\0' && strchr(chars, text.at[i]) != NULL) return true;
    return false;
}

/* ---- paths ---- */

/* Adds the parts of a path, without "." and "..", each with a slash before it. */
static void phi__rules_parts(phi__buf *out, phi_str path, size_t root) {
    size_t i = 0;
    while (i < path.len) {
        size_t from = i;
        phi_str part;
        while (i < path.len && path.at[i] != '/') i++;
        part = phi__str(path.at + from, i - from);
        i++;
        if (part.len == 0 || phi__str_is(part, ".")) continue;
        if (phi__str_is(part, "..")) {
            if (root > 0 && out->len == root && !out->failed)
                out->at[0] = '^'; /* above it, for good */
            while (out->len > root && out->at[--out->len] != '/') continue;
            continue;
        }
        phi__buf_char(out, '/');
        phi__buf_add_str(out, part);
    }
}

static phi_str phi__rules_after(phi_str text, size_t n) {
    return phi__str(text.at + n, text.len - n);
}

/* Bytes of a leading ~ or $HOME that stands for the home directory; 0: none. */
static size_t phi__rules_home(phi_str path) {
    static const char *const names[] = {"~", "$HOME", "${HOME}"};
    size_t i;
    for (i = 0; i < PHI__COUNT(names); i++) {
        size_t n = strlen(names[i]);
        if (phi__str_starts(path, names[i]) && (path.len == n || path.at[n] == '/')) return n;
    }
    return 0;
}

/* Absolute, or below "." or "~" where the directories are not known, or above these: "^". */
static void phi__rules_resolve(const phi__rules_subject *subject, phi_str path, phi__buf *out) {
    size_t home = phi__rules_home(path);
    if (home > 0) {
        path = phi__rules_after(path, home);
        if (subject->home != NULL)
            phi__rules_parts(out, phi_str_of(subject->home), 0);
        else
            phi__buf_char(out, '~');
        phi__rules_parts(out, path, subject->home != NULL ? 0 : 1);
    } else if (path.len > 0 && path.at[0] == '/') {
        phi__rules_parts(out, path, 0);
    } else if (path.len > 0 && path.at[0] == '~') { /* of another person, or ~+ */
        phi__buf_char(out, '^');
        phi__rules_parts(out, path, 1);
    } else if (subject->workspace != NULL) {
        phi__rules_parts(out, phi_str_of(subject->workspace), 0);
        phi__rules_parts(out, path, 0);
    } else {
        phi__buf_char(out, '.');
        phi__rules_parts(out, path, 1);
    }
    if (out->len == 0) phi__buf_char(out, '/');
}

static void phi__rules_lower(phi__buf *text) {
    size_t i;
    for (i = 0; i < text->len; i++)
        if (text->at[i] >= 'A' && text->at[i] <= 'Z') text->at[i] = (char)(text->at[i] + 32);
}

/* One alternative of a rule's path against a resolved path. fold: capitals are small letters. */
static bool phi__rules_path_one(phi__rules_subject *subject, phi_str pattern, phi_str resolved,
                                bool fold, bool glob) {
    phi__buf whole;
    bool matches;
    phi__buf_init(&whole, subject->memory);
    if (phi__str_starts(pattern, "**"))
        phi__buf_add_str(&whole, pattern);
    else
        phi__rules_resolve(subject, pattern, &whole);
    if (fold) phi__rules_lower(&whole);
    matches = phi__wildcard_any(phi__buf_str(&whole), resolved, true) ||
              (glob && phi__wildcard_meets(phi__buf_str(&whole), resolved));
    if (whole.failed) subject->lost = true;
    phi__buf_free(&whole);
    return matches;
}

/* Whether a file of that name is one of the rule's. .GIT is .git in many file systems, so rules
   that ask or deny match capitals and small letters alike, and a pattern of the shell where one of
   its files may be the rule's. */
static bool phi__rules_path_of_word(phi__rules_subject *subject, const phi_permission_rule *rule,
                                    phi_str path, bool known) {
    phi_str pattern = phi_str_of(rule->path), one;
    bool negative = pattern.len > 0 && pattern.at[0] == '!', found = false;
    bool fold = !negative && !phi__rules_allows(rule);
    bool glob = fold && subject->may && !known && phi__rules_holds(path, "*?[");
    phi__buf resolved;
    if (path.len > PHI__RULES_PATH_MOST) { /* a shell finds no such file; a tool may shorten it */
        subject->overlong = subject->command == NULL && !phi__rules_allows(rule);
        return subject->overlong;
    }
    if (negative) pattern = phi__rules_after(pattern, 1);
    phi__buf_init(&resolved, subject->memory);
    phi__rules_resolve(subject, path, &resolved);
    if (fold) phi__rules_lower(&resolved);
    while (!found && phi__wildcard_next(&pattern, &one))
        found = phi__rules_path_one(subject, one, phi__buf_str(&resolved), fold, glob);
    if (resolved.failed) subject->lost = true;
    phi__buf_free(&resolved);
    return found != negative;
}

static bool phi__rules_path(phi__rules_subject *subject, const phi_permission_rule *rule,
                            phi_str path) {
    return phi__rules_path_of_word(subject, rule, path, true);
}

/* The part of a word that may be a path: of an option, its value. */
static phi_str phi__rules_value(phi_str word) {
    const char *at;
    if (word.len == 0) return word;
    at = (const char *)memchr(word.at, '=', word.len);
    if (at != NULL) return phi__rules_after(word, (size_t)(at + 1 - word.at));
    if (word.at[0] != '-') return word;
    at = (const char *)memchr(word.at, '/', word.len);
    return at != NULL ? phi__rules_after(word, (size_t)(at - word.at)) : phi__str("", 0);
}

/* Whether a pattern of file names may match ".." (as in shells before bash 5.2), or hidden files,
   which rules name: .*, .?, .e* */
static bool phi__rules_hidden(phi_str text) {
    bool hidden = false;
    size_t i;
    for (i = 0; i < text.len; i++) {
        if (i == 0 || text.at[i - 1] == '/') hidden = text.at[i] == '.';
        if (hidden && text.at[i] != '\0' && strchr("*?[", text.at[i]) != NULL) return true;
    }
    return false;
}

/* "-t..", "-rf/etc": a path behind the letters of options, which may be anywhere in the word. */
static bool phi__rules_glued(phi_str text) {
    if (text.len < 3 || text.at[0] != '-' || text.at[1] == '-') return false;
    return phi__rules_holds(text, "/~") || phi__str_find(text, 0, "..") != SIZE_MAX;
}

/* For a rule that allows: whether this word is no path, or one of the rule's. */
static bool phi__rules_word_inside(phi__rules_subject *subject, const phi_permission_rule *rule,
                                   const phi__shell_word *word) {
    phi_str value = phi__rules_value(word->text);
    if (word->pipe) return true;
    if (!word->known && phi__rules_holds(word->text, "$`({")) return false;
    if (!word->known && phi__rules_hidden(word->text)) return false;
    if (phi__rules_glued(word->text)) return false;
    if (phi__str_find(word->text, 0, "..") == SIZE_MAX && !phi__rules_holds(word->text, "/~"))
        return true;
    return phi__rules_path(subject, rule, value) && phi__rules_path(subject, rule, word->text);
}

/* Whether programs may take what begins at i for a path of its own: "@file", "HEAD:file",
   "--option=file", "-tfile". */
static bool phi__rules_part_begins(phi_str word, size_t i, bool letters) {
    return strchr("@:=,", word.at[i - 1]) != NULL ||
           (letters && i >= 2 && i <= PHI__RULES_LETTERS_MOST);
}

/* For others: whether it, or a part that may be a path, is one of the rule's. A word with more
   parts than anybody writes is for a rule that asks. */
static bool phi__rules_word_path(phi__rules_subject *subject, const phi_permission_rule *rule,
                                 const phi__shell_word *word) {
    phi_str text = word->text;
    bool letters = text.len > 2 && text.at[0] == '-' && text.at[1] != '-';
    size_t i;
    if (phi__rules_path_of_word(subject, rule, text, word->known)) return true;
    for (i = 1; i < text.len; i++) {
        if (text.at[i - 1] == '\0' || !phi__rules_part_begins(text, i, letters)) continue;
        subject->tries += word->known ? 1 : 1 + text.len / 8; /* patterns take longer */
        if (subject->tries > PHI__RULES_TRIES_MOST) return rule->verdict == PHI_PERMISSION_ASK;
        if (phi__rules_path_of_word(subject, rule, phi__rules_after(text, i), word->known))
            return true;
    }
    return false;
}

static phi_str phi__rules_name(const phi__shell_command *c, bool anywhere) {
    phi_str name = c->count > 0 ? c->words[0].text : phi__str("", 0);
    size_t i;
    if (!anywhere && phi__str_starts(name, "/usr/bin/")) return phi__rules_after(name, 9);
    if (!anywhere && phi__str_starts(name, "/bin/")) return phi__rules_after(name, 5);
    for (i = name.len; anywhere && i > 0; i--)
        if (name.at[i - 1] == '/') return phi__rules_after(name, i);
    return name;
}

/* git runs programs that the configuration of its directory names, and files that look like a
   repository may be in any directory. */
static bool phi__rules_moved_git(const phi__rules_subject *subject) {
    size_t i;
    if (!phi__str_is(phi__rules_name(subject->command, true), "git")) return false;
    for (i = 0; i < subject->shell->count; i++) {
        phi_str name = phi__rules_name(&subject->shell->commands[i], true);
        if (phi__str_is(name, "cd") || phi__str_is(name, "pushd")) return true;
    }
    return false;
}

static bool phi__rules_command_path(phi__rules_subject *subject, const phi_permission_rule *rule) {
    const phi__shell_command *c = subject->command;
    size_t i;
    if (phi__rules_allows(rule)) {
        if (subject->shell->moved || phi__rules_moved_git(subject)) return false;
        for (i = 1; i < c->count; i++)
            if (!phi__rules_word_inside(subject, rule, &c->words[i])) return false;
        return true;
    }
    for (i = 0; i < c->assigned_count; i++)
        if (phi__rules_word_path(subject, rule, &c->assigned[i])) return true;
    for (i = 1; i < c->count; i++)
        if (phi__rules_word_path(subject, rule, &c->words[i])) return true;
    return false;
}

/* ---- words ---- */

/* The words of a command against the words of a rule's pattern. */
static bool phi__rules_words(const phi__shell_command *c, const phi_permission_rule *rule) {
    bool allows = phi__rules_allows(rule);
    phi_str rest = phi_str_of(rule->command), pattern;
    size_t i = 0;
    if (phi__str_is(rest, "*")) return true;
    if (c->count == 0 || (allows && (!c->words[0].known || c->assigned_count > 0))) return false;
    while (phi__wildcard_word(&rest, &pattern)) {
        phi_str text;
        if (i > 0 && phi__str_is(pattern, "*") && phi__str_trim(rest).len == 0) return true;
        if (i >= c->count || (allows && !c->words[i].known)) return false;
        text = i == 0 ? phi__rules_name(c, !allows) : c->words[i].text;
        if (!phi__wildcard_any(pattern, text, false) &&
            (i > 0 || !phi__wildcard_any(pattern, c->words[0].text, false)))
            return false;
        i++;
    }
    return i == c->count;
}

/* Alternatives of which one is a word of the command; a letter's option is also one of several. */
static bool phi__rules_has(const phi__shell_command *c, phi_str alternatives) {
    phi_str one;
    size_t i;
    while (phi__wildcard_next(&alternatives, &one))
        for (i = 1; i < c->count; i++) {
            phi_str text = c->words[i].text;
            if (phi__wildcard_any(one, text, false) || phi__options_short_for(text, one))
                return true;
            if (one.len == 2 && one.at[0] == '-' && one.at[1] != '-' && text.len > 1 &&
                text.at[0] == '-' && text.at[1] != '-' &&
                memchr(text.at + 1, one.at[1], text.len - 1) != NULL)
                return true;
        }
    return false;
}

static bool phi__rules_with(const phi__shell_command *c, const phi_permission_rule *rule) {
    phi_str rest = phi_str_of(rule->with), one;
    while (phi__wildcard_word(&rest, &one))
        if (!phi__rules_has(c, one)) return false;
    return true;
}

static bool phi__rules_without(const phi__shell_command *c, const phi_permission_rule *rule) {
    phi_str rest = phi_str_of(rule->without), one;
    size_t i;
    for (i = 1; phi__rules_allows(rule) && i < c->count; i++)
        if (!c->words[i].known && !c->words[i].pipe) return false;
    while (phi__wildcard_word(&rest, &one))
        if (phi__rules_has(c, one)) return false;
    return true;
}

static bool phi__rules_piped(const phi__rules_subject *subject, const phi_permission_rule *rule) {
    const phi__shell_command *c = subject->command;
    size_t i;
    if (!c->reads) return false;
    for (i = c->pipe_from; i < subject->shell->count; i++)
        if (i != subject->index && subject->shell->commands[i].pipe_from == c->pipe_from &&
            phi__rules_any(rule->piped, phi__rules_name(&subject->shell->commands[i], true)))
            return true;
    return false;
}

/* ---- hosts ---- */

PHI__FN bool phi__rules_host_of(phi_str url, phi__buf *out) {
    size_t at = phi__str_find(url, 0, "://"), end, i;
    bool port = false;
    if (at == SIZE_MAX || at == 0) return false;
    at += 3;
    /* a NUL, which strchr would find, does not end a host: it is refused below */
    for (end = at; end < url.len && (url.at[end] == '\0' || strchr("/?#", url.at[end]) == NULL);)
        end++;
    for (i = at; i < end; i++) {
        char c = url.at[i];
        if (c == '@' || c == '\\' || c == '%' || (unsigned char)c <= ' ') return false;
        if (c == ':' && url.at[at] != '[')
            port = true;
        else if (port && (c < '0' || c > '9'))
            return false;
        if (!port) phi__buf_char(out, c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c);
    }
    return out->len > 0 && !out->failed;
}

static bool phi__rules_url(phi__rules_subject *subject, const phi_permission_rule *rule,
                           phi_str url) {
    phi__buf host;
    bool matches;
    phi__buf_init(&host, subject->memory);
    matches = phi__rules_host_of(url, &host) && phi__rules_any(rule->host, phi__buf_str(&host));
    if (host.failed) subject->lost = true;
    phi__buf_free(&host);
    return matches;
}

static bool phi__rules_host(phi__rules_subject *subject, const phi_permission_rule *rule) {
    const phi__shell_command *c = subject->command;
    size_t i, urls = 0, good = 0;
    if (c == NULL) {
        const phi_json *url = phi_json_get(subject->root, "url");
        if (url == NULL) url = phi_json_get(subject->root, "uri");
        return phi__rules_url(subject, rule, phi_json_str(url, ""));
    }
    for (i = 1; i < c->count; i++) {
        bool plain = phi__str_find(c->words[i].text, 0, "://") == SIZE_MAX;
        if (plain && (c->words[i].known && phi__str_starts(c->words[i].text, "-"))) continue;
        urls++;
        good += (c->words[i].known || !phi__rules_allows(rule)) &&
                phi__rules_url(subject, rule, c->words[i].text);
    }
    return phi__rules_allows(rule) ? urls > 0 && good == urls : good > 0;
}

/* ---- arguments of tools ---- */

static const char *const phi__rules_path_names[] = {"path", "file_path", "file", "filename",
                                                    "directory"};

PHI__FN phi_str phi__rules_path_of(const phi_json *root) {
    size_t i;
    for (i = 0; i < PHI__COUNT(phi__rules_path_names); i++) {
        const phi_json *member = phi_json_get(root, phi__rules_path_names[i]);
        if (phi_json_is_string(member)) return phi_json_str(member, "");
    }
    return phi__str(NULL, 0);
}

/* Each member that may be the path: a tool heeds one of them, and others may be a decoy. */
static bool phi__rules_tool_paths(phi__rules_subject *subject, const phi_permission_rule *rule,
                                  bool *found) {
    bool allows = phi__rules_allows(rule), matches = allows;
    size_t i;
    *found = false;
    for (i = 0; i < PHI__COUNT(phi__rules_path_names); i++) {
        const phi_json *member = phi_json_get(subject->root, phi__rules_path_names[i]);
        if (!phi_json_is_string(member)) continue;
        *found = true;
        if (phi__rules_path(subject, rule, phi_json_str(member, "")) != allows) matches = !allows;
    }
    return *found && matches;
}

/* The pattern of the files that a search looks at, in its directory. */
static bool phi__rules_included(phi__rules_subject *subject, const phi_permission_rule *rule) {
    const phi_json *include = phi_json_get(subject->root, "include");
    phi_str path = phi__rules_path_of(subject->root);
    phi__buf text;
    bool matches;
    if (!phi_json_is_string(include) || phi__rules_allows(rule)) return false;
    phi__buf_init(&text, subject->memory);
    phi__buf_add_str(&text, path.len > 0 ? path : PHI__LIT("."));
    phi__buf_char(&text, '/');
    phi__buf_add_str(&text, phi_json_str(include, ""));
    matches = phi__rules_path_of_word(subject, rule, phi__buf_str(&text), false);
    if (text.failed) subject->lost = true;
    phi__buf_free(&text);
    return matches;
}

static bool phi__rules_tool_path(phi__rules_subject *subject, const phi_permission_rule *rule) {
    phi_str path = phi__rules_path_of(subject->root);
    bool found, matches = phi__rules_tool_paths(subject, rule, &found);
    if (found && (rule->argument == NULL || rule->matches != NULL)) return matches;
    if (rule->argument != NULL && rule->matches == NULL)
        path = phi_json_str(phi_json_get(subject->root, rule->argument), "");
    /* these two look at the workspace where they are given no path */
    if (path.at == NULL &&
        (phi__str_is(subject->tool, "list_files") || phi__str_is(subject->tool, "search")))
        path = PHI__LIT(".");
    return path.at != NULL && phi__rules_path(subject, rule, path);
}

static bool phi__rules_argument(const phi__rules_subject *subject,
                                const phi_permission_rule *rule) {
    const phi_json *member;
    if (rule->argument == NULL) return phi__rules_any(rule->matches, subject->arguments);
    member = phi_json_get(subject->root, rule->argument);
    return phi_json_is_string(member) && phi__rules_any(rule->matches, phi_json_str(member, ""));
}

/* ---- rules ---- */

/* It restricts commands: their words, or what they work on. */
static bool phi__rules_narrow(const phi_permission_rule *rule) {
    return (rule->command != NULL && strcmp(rule->command, "*") != 0) || rule->with != NULL ||
           rule->without != NULL || rule->piped != NULL || rule->path != NULL ||
           rule->host != NULL || rule->options != NULL;
}

static bool phi__rules_file(phi__rules_subject *subject, const phi_permission_rule *rule) {
    static const char *const tools[] = {"read_file", "write_file"};
    const char *tool = tools[subject->writes ? 1 : 0];
    if (!phi__rules_narrow(rule) &&
        (rule->tool == NULL || phi__rules_any(rule->tool, subject->tool)))
        return rule->matches == NULL || phi__rules_argument(subject, rule);
    if (rule->command != NULL || rule->with != NULL || rule->without != NULL ||
        rule->piped != NULL || rule->host != NULL || rule->matches != NULL || rule->options != NULL)
        return false;
    if (rule->tool != NULL && !phi__rules_any(rule->tool, phi_str_of(tool))) return false;
    if (rule->path == NULL) return true;
    if (phi__rules_allows(rule) && !subject->path.known) return false;
    return phi__rules_path_of_word(subject, rule, subject->path.text, subject->path.known);
}

static bool phi__rules_command(phi__rules_subject *subject, const phi_permission_rule *rule) {
    const phi__shell_command *c = subject->command;
    if (rule->command != NULL && !phi__rules_words(c, rule)) return false;
    if (rule->with != NULL && !phi__rules_with(c, rule)) return false;
    if (rule->without != NULL && !phi__rules_without(c, rule)) return false;
    if (rule->options != NULL && !phi__options_named(c, rule->options)) return false;
    if (rule->piped != NULL && !phi__rules_piped(subject, rule)) return false;
    if (rule->path != NULL && !phi__rules_command_path(subject, rule)) return false;
    return rule->host == NULL || phi__rules_host(subject, rule);
}

/* Another source's tool with the name of one of phi's does something else. */
static bool phi__rules_source(const phi__rules_subject *subject, const phi_permission_rule *rule) {
    static const char own[] = "read_file|write_file|edit_file|list_files|search|bash";
    if (rule->source != NULL) return phi__rules_any(rule->source, subject->source);
    if (subject->source.len == 0 || !phi__rules_allows(rule) || rule->tool == NULL) return true;
    return !phi__rules_any(own, subject->tool) &&
           !phi__rules_any(subject->shell_tools, subject->tool);
}

static bool phi__rules_match(phi__rules_subject *subject, const phi_permission_rule *rule) {
    if (!phi__rules_source(subject, rule)) return false;
    if (subject->file) return phi__rules_file(subject, rule);
    if (rule->tool != NULL && !phi__rules_any(rule->tool, subject->tool)) return false;
    if (rule->matches != NULL && !phi__rules_argument(subject, rule)) return false;
    if (subject->line) return !phi__rules_narrow(rule);
    if (subject->command != NULL) return phi__rules_command(subject, rule);
    if (rule->command != NULL || rule->with != NULL || rule->without != NULL ||
        rule->piped != NULL || rule->options != NULL)
        return false;
    if (rule->path != NULL && !phi__rules_tool_path(subject, rule) &&
        !phi__rules_included(subject, rule))
        return false;
    return rule->host == NULL || phi__rules_host(subject, rule);
}

/* ---- for other files ---- */

/* It allows one very call: a person has seen all of it, so that no rule needs to ask. */
static bool phi__rules_one_call(const phi_permission_rule *rule) {
    return phi__rules_allows(rule) && !phi__rules_narrow(rule) && rule->argument == NULL &&
           rule->matches != NULL && phi__wildcard_literal(phi_str_of(rule->matches)) &&
           rule->tool != NULL && phi__wildcard_literal(phi_str_of(rule->tool));
}

/* What the rule says of it. False: it does not match. A file that may be one of a rule that denies
   is asked about. */
static bool phi__rules_says(phi__rules_subject *subject, const phi_permission_rule *rule,
                            phi_permission *verdict) {
    bool matches;
    *verdict = rule->verdict;
    subject->may = rule->verdict == PHI_PERMISSION_ASK;
    if (phi__rules_match(subject, rule)) return true;
    if (rule->verdict != PHI_PERMISSION_DENY || rule->path == NULL) return false;
    *verdict = PHI_PERMISSION_ASK;
    subject->may = true;
    matches = phi__rules_match(subject, rule);
    subject->may = false;
    return matches;
}

PHI__FN phi_permission phi__rules_decide(const phi_permission_rules *rules,
                                         phi__rules_subject *subject,
                                         const phi_permission_rule **which) {
    phi_permission strictest = rules->otherwise, verdict;
    bool settled = false; /* by a rule on this very call */
    size_t i;
    *which = NULL;
    for (i = 0; i < rules->count; i++) {
        const phi_permission_rule *rule = &rules->rules[i];
        bool one = phi__rules_one_call(rule);
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

PHI__FN bool phi__rules_restrict(const phi_permission_rules *rules,
                                 const phi__rules_subject *subject) {
    size_t i;
    for (i = 0; i < rules->count; i++) {
        const phi_permission_rule *rule = &rules->rules[i];
        if (!phi__rules_allows(rule) && phi__rules_narrow(rule) &&
            (rule->tool == NULL || phi__rules_any(rule->tool, subject->tool)))
            return true;
    }
    return false;
}

#endif
