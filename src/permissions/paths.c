/* paths.c - the files that a call names, against the path of a rule. */
#include "permissions/rules_in.h"

#include "permissions/wildcard_in.h"

enum {
    PHI__PATHS_MOST = 4095,       /* bytes: no file has a longer path */
    PHI__PATHS_LETTERS_MOST = 32, /* of options in one word, before a path */
    PHI__PATHS_TRIES_MOST = 4000, /* parts of words of a line that are compared with paths */
    PHI__PATHS_DEPTH = 32         /* of arguments */
};

static bool phi__paths_allows(const phi_permission_rule *rule) {
    return rule->verdict == PHI_PERMISSION_ALLOW;
}

static bool phi__paths_holds(phi_str text, const char *chars) {
    size_t i;
    for (i = 0; i < text.len; i++)
        if (text.at[i] != '\0' && strchr(chars, text.at[i]) != NULL) return true;
    return false;
}

static phi_str phi__paths_after(phi_str text, size_t n) {
    return phi__str(text.at + n, text.len - n);
}

/* ---- absolute paths ---- */

/* Adds the parts of a path, without "." and "..", each with a slash before it. */
static void phi__paths_parts(phi__buf *out, phi_str path, size_t root) {
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

/* The length of a leading ~ or $HOME that means the home directory; 0: none. */
static size_t phi__paths_home(phi_str path) {
    static const char *const names[] = {"~", "$HOME", "${HOME}"};
    size_t i;
    for (i = 0; i < PHI__COUNT(names); i++) {
        size_t n = strlen(names[i]);
        if (phi__str_starts(path, names[i]) && (path.len == n || path.at[n] == '/')) return n;
    }
    return 0;
}

/* Absolute, or below "." or "~" where the directories are not known, or above these: "^". */
static void phi__paths_resolve(const phi__rules_subject *subject, phi_str path, phi__buf *out) {
    size_t home = phi__paths_home(path);
    if (home > 0) {
        path = phi__paths_after(path, home);
        if (subject->home != NULL)
            phi__paths_parts(out, phi_str_of(subject->home), 0);
        else
            phi__buf_char(out, '~');
        phi__paths_parts(out, path, subject->home != NULL ? 0 : 1);
    } else if (path.len > 0 && path.at[0] == '/') {
        phi__paths_parts(out, path, 0);
    } else if (path.len > 0 && path.at[0] == '~') { /* of another person, or ~+ */
        phi__buf_char(out, '^');
        phi__paths_parts(out, path, 1);
    } else if (subject->workspace != NULL) {
        phi__paths_parts(out, phi_str_of(subject->workspace), 0);
        phi__paths_parts(out, path, 0);
    } else {
        phi__buf_char(out, '.');
        phi__paths_parts(out, path, 1);
    }
    if (out->len == 0) phi__buf_char(out, '/');
}

static void phi__paths_lower(phi__buf *text) {
    size_t i;
    for (i = 0; i < text->len; i++)
        if (text->at[i] >= 'A' && text->at[i] <= 'Z') text->at[i] = (char)(text->at[i] + 32);
}

static bool phi__paths_capitals(phi_str text) {
    size_t i;
    for (i = 0; i < text.len; i++)
        if (text.at[i] >= 'A' && text.at[i] <= 'Z') return true;
    return false;
}

/* Puts what a shell most likely makes of the beginning in its place: ~ada, ~+, $PWD, ${HOME:?}. */
static phi_str phi__paths_shell(const phi__rules_subject *subject, phi_str path, phi__buf *out) {
    static const char *const here[] = {"~+", "~-", "$PWD", "${PWD}"};
    size_t i, n;
    for (i = 0; i < PHI__COUNT(here); i++) {
        n = strlen(here[i]);
        if (!phi__str_starts(path, here[i]) || (path.len > n && path.at[n] != '/')) continue;
        phi__buf_char(out, '.');
        phi__buf_add_str(out, phi__paths_after(path, n));
        return phi__buf_str(out);
    }
    if (phi__str_starts(path, "${HOME") && path.len > 6 && strchr(":?-+=%#", path.at[6]) != NULL &&
        (n = phi__str_find(path, 0, "}")) != SIZE_MAX) {
        phi__buf_char(out, '~');
        phi__buf_add_str(out, phi__paths_after(path, n + 1));
        return phi__buf_str(out);
    }
    if (!phi__str_starts(path, "~") || path.len < 2 || path.at[1] == '/') return path;
    if (!phi__str_starts(path, "~root") && subject->home != NULL) {
        phi__buf_text(out, subject->home);
        phi__buf_text(out, "/../");
    } else
        phi__buf_char(out, '/');
    phi__buf_add_str(out, phi__paths_after(path, 1));
    return phi__buf_str(out);
}

/* ---- one word ---- */

/* A pattern of sources, "*.c": it finds no hidden file of a name with an open end, ".env.*". */
static bool phi__paths_sources(phi_str glob, phi_str alternative) {
    static const char sources[] =
        "*.c|*.h|*.cc|*.hh|*.cpp|*.hpp|*.cxx|*.m|*.py|*.js|*.jsx|*.ts|*.tsx|*.mjs|*.vue|*.go|*.rs|"
        "*.java|*.kt|*.scala|*.rb|*.php|*.lua|*.pl|*.ex|*.hs|*.ml|*.swift|*.cs|*.dart|*.zig|*.r|"
        "*.md|*.rst|*.html|*.css|*.scss|*.proto|*.cmake";
    alternative = phi__names_last(alternative);
    return alternative.len > 2 && alternative.at[0] == '.' &&
           strchr("*?[", alternative.at[1]) == NULL && alternative.at[alternative.len - 1] == '*' &&
           phi__wildcard_any(phi_str_of(sources), glob, false);
}

/* One alternative of a rule's path against a resolved path. fold: capitals are small letters. */
static bool phi__paths_one(phi__rules_subject *subject, phi_str pattern, phi_str resolved,
                           const phi__shell_word *word, bool fold, bool glob) {
    phi__buf whole;
    bool matches, anywhere = phi__str_starts(pattern, "**");
    if (word->below && anywhere) return false;
    phi__buf_init(&whole, subject->memory);
    if (!anywhere)
        phi__paths_resolve(subject, pattern, &whole);
    else if (fold && phi__paths_capitals(pattern))
        phi__buf_add_str(&whole, pattern);
    if (fold) phi__paths_lower(&whole);
    if (whole.len > 0) pattern = phi__buf_str(&whole);
    matches = phi__wildcard_any(pattern, resolved, true) ||
              (glob && !phi__paths_sources(resolved, pattern) &&
               phi__wildcard_meets(pattern, resolved, word->hidden));
    if (whole.failed) subject->lost = true;
    phi__buf_free(&whole);
    return matches;
}

static bool phi__paths_absolute(phi_str path) {
    return path.len > 0 && (path.at[0] == '/' || path.at[0] == '~' || phi__paths_home(path) > 0);
}

/* In this directory; NULL: in the workspace. */
static bool phi__paths_in(phi__rules_subject *subject, phi_str pattern, const phi__shell_word *dir,
                          const phi__shell_word *word, bool fold) {
    bool found = false, known = word->known && (dir == NULL || dir->known);
    phi__buf joined, resolved, person;
    phi_str one, path = word->text;
    phi__buf_init(&joined, subject->memory);
    phi__buf_init(&person, subject->memory);
    phi__buf_init(&resolved, subject->memory);
    if (dir != NULL && dir->text.len > 0 && !phi__paths_absolute(path)) {
        phi__buf_add_str(&joined, fold ? phi__paths_shell(subject, dir->text, &person) : dir->text);
        phi__buf_char(&joined, '/');
        phi__buf_add_str(&joined, path);
        path = phi__buf_str(&joined);
    }
    phi__paths_resolve(subject, path, &resolved);
    if (fold) phi__paths_lower(&resolved);
    known = known || !subject->may || !phi__paths_holds(path, "*?[");
    while (!found && phi__wildcard_next(&pattern, &one))
        found = phi__paths_one(subject, one, phi__buf_str(&resolved), word, fold, fold && !known);
    if (joined.failed || resolved.failed || person.failed) subject->lost = true;
    phi__buf_free(&joined);
    phi__buf_free(&person);
    phi__buf_free(&resolved);
    return found;
}

/* In one of the directories that the command may run in; for a rule that allows, in each. */
static bool phi__paths_somewhere(phi__rules_subject *subject, const phi_permission_rule *rule,
                                 phi_str pattern, const phi__shell_word *word, bool negative,
                                 bool fold) {
    const phi__shell_dirs *sets[2] = {NULL, NULL};
    bool allows = phi__paths_allows(rule);
    size_t i, k;
    if (subject->command != NULL && !phi__paths_absolute(word->text)) {
        if (allows && subject->shell->lost) return false;
        sets[0] = subject->command->dirs;
        if (subject->shell->lost) sets[1] = subject->shell->visited;
    }
    if (sets[0] == NULL && phi__paths_in(subject, pattern, NULL, word, fold) != negative)
        return true;
    for (i = 0; i < 2; i++)
        for (k = 0; sets[i] != NULL && k < sets[i]->count; k++) {
            const phi__shell_word *dir = &sets[i]->at[k];
            bool matches = phi__paths_in(subject, pattern, dir, word, fold) != negative;
            if (matches != allows) return matches;
        }
    return allows && sets[0] != NULL;
}

PHI__FN bool phi__paths_word(phi__rules_subject *subject, const phi_permission_rule *rule,
                             const phi__shell_word *given) {
    phi_str pattern = phi_str_of(rule->path);
    bool negative = pattern.len > 0 && pattern.at[0] == '!', matches;
    bool fold = !negative && !phi__paths_allows(rule);
    phi__shell_word word = *given;
    phi__buf text;
    if (word.text.len > PHI__PATHS_MOST) { /* a shell finds no such file; a tool may shorten it */
        subject->overlong = subject->command == NULL && !phi__paths_allows(rule);
        return subject->overlong;
    }
    if (negative) pattern = phi__paths_after(pattern, 1);
    phi__buf_init(&text, subject->memory);
    if (!phi__paths_allows(rule)) word.text = phi__paths_shell(subject, word.text, &text);
    matches = phi__paths_somewhere(subject, rule, pattern, &word, negative, fold);
    if (text.failed) subject->lost = true;
    phi__buf_free(&text);
    return matches;
}

PHI__FN bool phi__paths_text(phi__rules_subject *subject, const phi_permission_rule *rule,
                             phi_str path) {
    phi__shell_word word;
    memset(&word, 0, sizeof word);
    word.text = path;
    word.known = true;
    return phi__paths_word(subject, rule, &word);
}

/* Behind "file:" and a host: the path; empty: it is no such URL. */
static phi_str phi__paths_url(phi_str text) {
    size_t at = phi__str_find_nocase(text, 0, "file:"), slash;
    if (at == SIZE_MAX) return phi__str("", 0);
    text = phi__paths_after(text, at + 5);
    if (!phi__str_starts(text, "//")) return text;
    if (text.len > 2 && text.at[2] == '$') return phi__paths_after(text, 2); /* file://$PWD/x */
    slash = phi__str_find(text, 2, "/");
    return slash != SIZE_MAX ? phi__paths_after(text, slash) : phi__str("", 0);
}

/* A text of a tool's arguments that is a file's name, or, with blanks in it, may be one. */
static bool phi__paths_named(const phi__rules_subject *subject, phi_str text) {
    if (text.len == 0 || text.len > PHI__PATHS_MOST || phi__paths_holds(text, "\n")) return false;
    return subject->may || !phi__paths_holds(text, " ");
}

PHI__FN bool phi__paths_arguments(phi__rules_subject *subject, const phi_permission_rule *rule,
                                  const phi_json *node, unsigned depth) {
    phi_json_iter each = phi_json_each(node);
    phi_str text = phi_json_str(node, ""), url = phi__paths_url(text);
    const phi_json *member;
    if (depth > PHI__PATHS_DEPTH || ++subject->tries > PHI__PATHS_TRIES_MOST)
        return subject->may; /* the texts beyond may be the rule's */
    if (phi__paths_named(subject, text) && (phi__paths_text(subject, rule, text) ||
                                            (url.len > 0 && phi__paths_text(subject, rule, url))))
        return true;
    if (!phi_json_is(node, PHI_JSON_ARRAY) && !phi_json_is(node, PHI_JSON_OBJECT)) return false;
    while ((member = phi_json_next(&each)) != NULL)
        if (phi__paths_arguments(subject, rule, member, depth + 1)) return true;
    return false;
}

/* ---- commands ---- */

/* The part of a word that may be a path: of an option, its value. */
static phi_str phi__paths_value(phi_str word) {
    const char *at;
    if (word.len == 0) return word;
    at = (const char *)memchr(word.at, '=', word.len);
    if (at != NULL) return phi__paths_after(word, (size_t)(at + 1 - word.at));
    if (word.at[0] != '-') return word;
    at = (const char *)memchr(word.at, '/', word.len);
    return at != NULL ? phi__paths_after(word, (size_t)(at - word.at)) : phi__str("", 0);
}

/* Whether a pattern of file names may match ".." (as in shells before bash 5.2), or hidden files,
   which rules name: .*, .?, .e* */
static bool phi__paths_hidden(phi_str text) {
    bool hidden = false;
    size_t i;
    for (i = 0; i < text.len; i++) {
        if (i == 0 || text.at[i - 1] == '/') hidden = text.at[i] == '.';
        if (hidden && text.at[i] != '\0' && strchr("*?[", text.at[i]) != NULL) return true;
    }
    return false;
}

/* "-t..", "-rf/etc": a path behind the letters of options, which may be anywhere in the word. */
static bool phi__paths_glued(phi_str text) {
    if (text.len < 3 || text.at[0] != '-' || text.at[1] == '-') return false;
    return phi__paths_holds(text, "/~") || phi__str_find(text, 0, "..") != SIZE_MAX;
}

/* For a rule that allows: whether this word is no path, or one of the rule's. */
static bool phi__paths_inside(phi__rules_subject *subject, const phi_permission_rule *rule,
                              const phi__shell_word *word) {
    phi_str value = phi__paths_value(word->text);
    if (word->pipe) return true;
    if (!word->known && phi__paths_holds(word->text, "$`({")) return false;
    if (!word->known && phi__paths_hidden(word->text)) return false;
    if (phi__paths_glued(word->text)) return false;
    if (phi__str_find(word->text, 0, "..") == SIZE_MAX && !phi__paths_holds(word->text, "/~"))
        return true;
    return phi__paths_text(subject, rule, value) && phi__paths_text(subject, rule, word->text);
}

/* True if programs may take the rest from i on for a path: "@file", "HEAD:file",
   "--option=file", "-tfile". */
static bool phi__paths_begins(phi_str word, size_t i, bool letters) {
    return strchr("@:=,)", word.at[i - 1]) != NULL ||
           (letters && i >= 2 && i <= PHI__PATHS_LETTERS_MOST);
}

/* The part, and its beginning up to a colon or comma: "~/.ssh:/keys", "source=~/.ssh,ro". */
static bool phi__paths_part(phi__rules_subject *subject, const phi_permission_rule *rule,
                            const phi__shell_word *part) {
    phi__shell_word before = *part;
    size_t i = 0;
    if (phi__paths_word(subject, rule, part)) return true;
    while (i < part->text.len && part->text.at[i] != ':' && part->text.at[i] != ',') i++;
    if (i == 0 || i >= part->text.len) return false;
    before.text.len = i;
    return phi__paths_word(subject, rule, &before);
}

/* For others: whether it, or a part that may be a path, is one of the rule's. A word with more
   parts than anybody writes is for a rule that asks. */
static bool phi__paths_parts_of(phi__rules_subject *subject, const phi_permission_rule *rule,
                                const phi__shell_word *word) {
    phi__shell_word part = *word;
    phi_str text = word->text;
    bool letters = text.len > 2 && text.at[0] == '-' && text.at[1] != '-';
    size_t i;
    if (phi__paths_part(subject, rule, word)) return true;
    part.text = phi__paths_url(text);
    if (part.text.len > 0 && phi__paths_part(subject, rule, &part)) return true;
    for (i = 1; i < text.len; i++) {
        if (text.at[i - 1] == '\0' || !phi__paths_begins(text, i, letters)) continue;
        subject->tries += word->known ? 1 : 1 + text.len / 8;            /* patterns take longer */
        if (subject->tries > PHI__PATHS_TRIES_MOST) return subject->may; /* as above */
        part.text = phi__paths_after(text, i);
        if (phi__paths_part(subject, rule, &part)) return true;
    }
    return false;
}

/* Whether the directories that the command may run in are among the rule's. */
static bool phi__paths_there(phi__rules_subject *subject, const phi_permission_rule *rule) {
    const phi__shell_dirs *dirs = subject->command->dirs;
    size_t i;
    if (subject->shell->moved || subject->shell->lost) return false;
    for (i = 0; dirs != NULL && i < dirs->count; i++)
        if (!dirs->at[i].known ||
            !phi__paths_in(subject, phi_str_of(rule->path), NULL, &dirs->at[i], false))
            return false;
    return true;
}

PHI__FN bool phi__paths_command(phi__rules_subject *subject, const phi_permission_rule *rule) {
    const phi__shell_command *c = subject->command;
    size_t i;
    if (phi__paths_allows(rule)) {
        if (!phi__paths_there(subject, rule)) return false;
        for (i = 1; i < c->count; i++)
            if (!phi__paths_inside(subject, rule, &c->words[i])) return false;
        return true;
    }
    for (i = 0; i < c->assigned_count; i++)
        if (phi__paths_parts_of(subject, rule, &c->assigned[i])) return true;
    for (i = 1; i < c->count; i++)
        if (phi__paths_parts_of(subject, rule, &c->words[i])) return true;
    for (i = 0; i < c->also_count; i++)
        if (phi__paths_word(subject, rule, &c->also[i])) return true;
    return false;
}
