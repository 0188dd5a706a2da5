/* rules.c - decides which rules match a tool call, a command of a shell line, or its files. */
#include "permissions/permissions_in.h"
#include "text/text_in.h"
#include "tools/tools_in.h"

#include <stdio.h>

enum {
    PHI__PATHS_MOST = 4095,       /* bytes of the longest path that a file can have */
    PHI__PATHS_LETTERS_MOST = 32, /* max. option letters before a path in one word: "-tfile" */
    PHI__PATHS_TRIES_MOST = 4000, /* max. word parts of a line that are compared with paths */
    PHI__PATHS_DEPTH = 32         /* max. levels of nesting in a tool's arguments */
};

static bool phi__paths_holds(phi_str text, const char *chars) {
    for (size_t i = 0; i < text.len; i++)
        if (text.at[i] != '\0' && strchr(chars, text.at[i]) != NULL) return true;
    return false;
}

/* Frees a text, and records if it is incomplete because there was no memory. */
static void phi__paths_free(phi__subject *subject, phi__buf *text) {
    if (text->failed) subject->lost = true;
    phi__buf_free(text);
}

/* ---- the files that a call names, against the path of a rule ---- */

/* Where a path is from. The names of a call are read as the system reads them, those of a pattern
   as the user wrote them. */
typedef enum phi__paths_from { PHI__PATHS_PATTERN, PHI__PATHS_CALL } phi__paths_from;

/* Appends a path's parts, each after a slash. ".." never removes the first `root` bytes. */
static void phi__paths_parts(phi__buf *out, phi_str path, size_t root, phi__paths_from source) {
    size_t i = 0;
    while (i < path.len) {
        size_t from = i;
        while (i < path.len && !phi__path_is_slash(path.at[i])) i++;
        phi_str part = phi__str(path.at + from, i - from);
        if (source == PHI__PATHS_CALL) part = phi__path_looked_up(part);
        i++;
        if (part.len == 0 || phi__str_is(part, ".")) continue;
        if (phi__str_is(part, "..")) {
            if (root > 0 && out->len == root && !out->failed)
                out->at[0] = '^'; /* marks a path that leaves its root */
            while (out->len > root && out->at[--out->len] != '/') continue;
            continue;
        }
        phi__buf_char(out, '/');
        phi__buf_add_str(out, part);
    }
}

/* Returns the length of a leading ~, $HOME or ${HOME}; 0 if the path has none. */
static size_t phi__paths_home(phi_str path) {
    static const char *const names[] = {"~", "$HOME", "${HOME}"};
    for (size_t i = 0; i < PHI__COUNT(names); i++) {
        size_t n = strlen(names[i]);
        if (phi__str_starts(path, names[i]) && (path.len == n || phi__path_is_slash(path.at[n])))
            return n;
    }
    return 0;
}

/* Appends the drive of the workspace if the path begins with a slash and names no drive. */
static phi_str phi__paths_drive(const phi__subject *subject, phi_str path, phi__buf *out) {
    phi_str here = phi_str_of(subject->workspace != NULL ? subject->workspace : "");
    size_t drive = phi__path_drive(path);
    if (drive > 0 || !phi__path_is_slash(path.at[0])) return path;
    if (phi__path_drive(phi__str_from(path, 1)) > 0) return path; /* of a URL: "/C:/a" */
    phi__paths_parts(out, phi__str(here.at, phi__path_drive(here)), 0, PHI__PATHS_CALL);
    return path;
}

/* True if a path depends on the current directory of a drive: "C:a". */
static bool phi__paths_of_drive(phi_str path) {
    size_t drive = phi__path_drive(path);
    return drive > 0 && !phi__path_is_slash(path.at[0]) &&
           (path.len == drive || !phi__path_is_slash(path.at[drive]));
}

/* Appends the resolved path. It is absolute, or begins with "." if the workspace is not known, with
   "~" if the home directory is not known, or with "^" if it is outside of both. The current
   directory of a drive is most likely the workspace. */
static void phi__paths_resolve(const phi__subject *subject, phi_str path, phi__paths_from from,
                               phi__buf *out) {
    size_t home = phi__paths_home(path);
    if (home == 0 && phi__paths_of_drive(path)) path = phi__str_from(path, phi__path_drive(path));
    if (home > 0) {
        path = phi__str_from(path, home);
        if (subject->home != NULL)
            phi__paths_parts(out, phi_str_of(subject->home), 0, PHI__PATHS_CALL);
        else
            phi__buf_char(out, '~');
        phi__paths_parts(out, path, subject->home != NULL ? 0 : 1, from);
    } else if (phi__path_absolute(path)) {
        phi__paths_parts(out, phi__paths_drive(subject, path, out), 0, from);
    } else if (path.len > 0 && path.at[0] == '~') { /* another user's home, or ~+ */
        phi__buf_char(out, '^');
        phi__paths_parts(out, path, 1, from);
    } else if (subject->workspace != NULL) {
        phi__paths_parts(out, phi_str_of(subject->workspace), 0, PHI__PATHS_CALL);
        phi__paths_parts(out, path, 0, from);
    } else {
        phi__buf_char(out, '.');
        phi__paths_parts(out, path, 1, from);
    }
    if (out->len == 0) phi__buf_char(out, '/');
}

static void phi__paths_lower(phi__buf *text) {
    for (size_t i = 0; i < text->len; i++)
        if (text->at[i] >= 'A' && text->at[i] <= 'Z') text->at[i] = (char)(text->at[i] + 32);
}

static bool phi__paths_capitals(phi_str text) {
    for (size_t i = 0; i < text.len; i++)
        if (text.at[i] >= 'A' && text.at[i] <= 'Z') return true;
    return false;
}

/* Expands the beginning of a path (~ada, ~+, $PWD, ${HOME:?}) as a shell most likely does. Returns
   `path` itself, or the new text in `out`. */
static phi_str phi__paths_shell(const phi__subject *subject, phi_str path, phi__buf *out) {
    static const char *const here[] = {"~+", "~-", "$PWD", "${PWD}"};
    size_t n;
    for (size_t i = 0; i < PHI__COUNT(here); i++) {
        n = strlen(here[i]);
        if (!phi__str_starts(path, here[i]) || (path.len > n && !phi__path_is_slash(path.at[n])))
            continue;
        phi__buf_char(out, '.');
        phi__buf_add_str(out, phi__str_from(path, n));
        return phi__buf_str(out);
    }
    if (phi__str_starts(path, "${HOME") && path.len > 6 && strchr(":?-+=%#", path.at[6]) != NULL &&
        (n = phi__str_find(path, 0, "}")) != SIZE_MAX) {
        phi__buf_char(out, '~');
        phi__buf_add_str(out, phi__str_from(path, n + 1));
        return phi__buf_str(out);
    }
    if (!phi__str_starts(path, "~") || path.len < 2 || phi__path_is_slash(path.at[1])) return path;
    if (!phi__str_starts(path, "~root") && subject->home != NULL) {
        phi__buf_text(out, subject->home);
        phi__buf_text(out, "/../");
    } else
        phi__buf_char(out, '/');
    phi__buf_add_str(out, phi__str_from(path, 1));
    return phi__buf_str(out);
}

/* ---- one word ---- */

/* True if `glob` finds only source files ("*.c"), and `alternative` hidden files (".env.*"). */
static bool phi__paths_sources(phi_str glob, phi_str alternative) {
    static const char sources[] =
        "*.c|*.h|*.cc|*.hh|*.cpp|*.hpp|*.cxx|*.m|*.py|*.js|*.jsx|*.ts|*.tsx|*.mjs|*.vue|*.go|*.rs|"
        "*.java|*.kt|*.scala|*.rb|*.php|*.lua|*.pl|*.ex|*.hs|*.ml|*.swift|*.cs|*.dart|*.zig|*.r|"
        "*.md|*.rst|*.html|*.css|*.scss|*.proto|*.cmake";
    alternative = phi__glob_name(alternative);
    return alternative.len > 2 && alternative.at[0] == '.' &&
           strchr("*?[", alternative.at[1]) == NULL && alternative.at[alternative.len - 1] == '*' &&
           phi__among(glob, sources);
}

/* True if one alternative of a rule's path matches a resolved path. If fold is set, `resolved` is
   in lower case. If glob is set, `resolved` may be a shell pattern. */
static bool phi__paths_one(phi__subject *subject, phi_str pattern, phi_str resolved,
                           const phi__sh_word *word, bool fold, bool glob) {
    phi__buf whole;
    bool anywhere = phi__str_starts(pattern, "**");
    if (word->below && anywhere) return false;
    phi__buf_init(&whole, subject->memory);
    if (!anywhere)
        phi__paths_resolve(subject, pattern, PHI__PATHS_PATTERN, &whole);
    else if (fold && phi__paths_capitals(pattern))
        phi__buf_add_str(&whole, pattern);
    if (fold) phi__paths_lower(&whole);
    if (whole.len > 0) pattern = phi__buf_str(&whole);
    bool matches = phi__wild_any(pattern, resolved, true) ||
                   (glob && !phi__paths_sources(resolved, pattern) &&
                    phi__wild_meets(pattern, resolved, word->hidden));
    phi__paths_free(subject, &whole);
    return matches;
}

static bool phi__paths_absolute(phi_str path) {
    return phi__path_absolute(path) || (path.len > 0 && path.at[0] == '~') ||
           phi__paths_home(path) > 0;
}

/* True if `word`, relative to `dir` (NULL: the workspace), matches an alternative of `pattern`. */
static bool phi__paths_in(phi__subject *subject, phi_str pattern, const phi__sh_word *dir,
                          const phi__sh_word *word, bool fold) {
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
    phi__paths_resolve(subject, path, PHI__PATHS_CALL, &resolved);
    if (fold) phi__paths_lower(&resolved);
    known = known || !subject->may || !phi__paths_holds(path, "*?[");
    while (!found && phi__wild_next(&pattern, &one))
        found = phi__paths_one(subject, one, phi__buf_str(&resolved), word, fold, fold && !known);
    phi__paths_free(subject, &joined);
    phi__paths_free(subject, &person);
    phi__paths_free(subject, &resolved);
    return found;
}

/* True if a word names a file of the rule. Rules that ask or deny ignore case, as many file systems
   do. If subject->may is set, a shell pattern matches if it may find a file of the rule. */
static bool phi__paths_word(phi__subject *subject, const phi_permission_rule *rule,
                            const phi__sh_word *given) {
    const phi__sh_dirs *sets[2] = {NULL, NULL};
    phi_str pattern = phi_str_of(rule->path);
    bool negative = phi__str_starts(pattern, "!"), allows = phi__allows(rule);
    bool fold = !negative && !allows, settled = false, matches = false;
    phi__sh_word word = *given;
    phi__buf text;
    /* A shell finds no file with so long a path, but a tool may shorten the path. */
    if (word.text.len > PHI__PATHS_MOST) {
        subject->overlong = subject->command == NULL && !allows;
        return subject->overlong;
    }
    if (negative) pattern = phi__str_from(pattern, 1);
    phi__buf_init(&text, subject->memory);
    if (!allows) word.text = phi__paths_shell(subject, word.text, &text);
    if (subject->command != NULL && !phi__paths_absolute(word.text)) {
        settled = allows && subject->shell->lost;
        sets[0] = subject->command->dirs;
        if (subject->shell->lost) sets[1] = subject->shell->visited;
    }
    if (!settled && sets[0] == NULL)
        settled = matches = phi__paths_in(subject, pattern, NULL, &word, fold) != negative;
    /* A rule that allows must match in all directories of the command, other rules only in one. */
    if (!settled) matches = allows && sets[0] != NULL;
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; !settled && sets[i] != NULL && k < sets[i]->count; k++) {
            bool in = phi__paths_in(subject, pattern, &sets[i]->at[k], &word, fold) != negative;
            settled = in != allows;
            if (settled) matches = in;
        }
    phi__paths_free(subject, &text);
    return matches;
}

static bool phi__paths_text(phi__subject *subject, const phi_permission_rule *rule, phi_str path) {
    phi__sh_word word = PHI_ZERO;
    word.text = path;
    word.known = true;
    return phi__paths_word(subject, rule, &word);
}

/* Returns the path of a "file:" URL in a text, without the host; empty if there is no such URL. */
static phi_str phi__paths_url(phi_str text) {
    size_t at = phi__str_find_nocase(text, 0, "file:");
    if (at == SIZE_MAX) return phi__str("", 0);
    text = phi__str_from(text, at + 5);
    if (!phi__str_starts(text, "//")) return text;
    if (text.len > 2 && text.at[2] == '$') return phi__str_from(text, 2); /* file://$PWD/x */
    size_t slash = phi__str_find(text, 2, "/");
    return slash != SIZE_MAX ? phi__str_from(text, slash) : phi__str("", 0);
}

/* For rules that ask or deny: true if a string in the arguments names a file of the rule. */
static bool phi__paths_arguments(phi__subject *subject, const phi_permission_rule *rule,
                                 const phi_json *node, unsigned depth) {
    phi_json_iter each = phi_json_each(node);
    phi_str text = phi_json_str(node, ""), url = phi__paths_url(text);
    const phi_json *member;
    if (depth > PHI__PATHS_DEPTH || ++subject->tries > PHI__PATHS_TRIES_MOST)
        return subject->may; /* a string beyond the limits may name such a file */
    /* A string with blanks counts as a file name only if subject->may is set. */
    bool named = text.len > 0 && text.len <= PHI__PATHS_MOST &&
                 !phi__paths_holds(text, subject->may ? "\n" : "\n ");
    if (named && (phi__paths_text(subject, rule, text) ||
                  (url.len > 0 && phi__paths_text(subject, rule, url))))
        return true;
    if (!phi_json_is(node, PHI_JSON_ARRAY) && !phi_json_is(node, PHI_JSON_OBJECT)) return false;
    while ((member = phi_json_next(&each)) != NULL)
        if (phi__paths_arguments(subject, rule, member, depth + 1)) return true;
    return false;
}

/* ---- commands ---- */

/* True if a pattern may match ".." (in shells before bash 5.2) or hidden files: .*, .?, .e* */
static bool phi__paths_hidden(phi_str text) {
    bool hidden = false;
    for (size_t i = 0; i < text.len; i++) {
        if (i == 0 || phi__path_is_slash(text.at[i - 1])) hidden = text.at[i] == '.';
        if (hidden && text.at[i] != '\0' && strchr("*?[", text.at[i]) != NULL) return true;
    }
    return false;
}

/* For a rule that allows: true if the word is no path, or names a file of the rule. */
static bool phi__paths_inside(phi__subject *subject, const phi_permission_rule *rule,
                              const phi__sh_word *word) {
    phi_str text = word->text, value = text;
    size_t slash = 0;
    while (slash < text.len && !phi__path_is_slash(text.at[slash])) slash++;
    bool dots = phi__str_find(text, 0, "..") != SIZE_MAX;
    bool path = slash < text.len || phi__paths_holds(text, "~") || phi__path_absolute(text);
    if (word->pipe) return true;
    if (!word->known && (phi__paths_holds(text, "$`({") || phi__paths_hidden(text))) return false;
    if (!dots && !path) return true;
    /* In "-t.." and "-rf/etc", the path may begin after any letter. */
    if (text.len > 2 && text.at[0] == '-' && text.at[1] != '-') return false;
    size_t at = phi__str_find(text, 0, "=");
    if (at != SIZE_MAX)
        value = phi__str_from(text, at + 1);
    else if (text.at[0] == '-')
        value = phi__str_from(text, slash);
    return phi__paths_text(subject, rule, value) && phi__paths_text(subject, rule, text);
}

/* True if a part, or its beginning up to a ":" or ",", names a file of the rule: "~/.ssh:/keys". */
static bool phi__paths_part(phi__subject *subject, const phi_permission_rule *rule,
                            const phi__sh_word *part) {
    phi__sh_word before = *part;
    size_t i = 0;
    if (phi__paths_word(subject, rule, part)) return true;
    while (i < part->text.len && part->text.at[i] != ':' && part->text.at[i] != ',') i++;
    if (i == 0 || i >= part->text.len) return false;
    before.text.len = i;
    return phi__paths_word(subject, rule, &before);
}

/* For rules that ask or deny: true if the word, or a part of it that may be a path, names a file of
   the rule. If the line has too many parts, returns subject->may. */
static bool phi__paths_parts_of(phi__subject *subject, const phi_permission_rule *rule,
                                const phi__sh_word *word) {
    phi__sh_word part = *word;
    phi_str text = word->text;
    bool letters = text.len > 2 && text.at[0] == '-' && text.at[1] != '-';
    if (phi__paths_part(subject, rule, word)) return true;
    part.text = phi__paths_url(text);
    if (part.text.len > 0 && phi__paths_part(subject, rule, &part)) return true;
    for (size_t i = 1; i < text.len; i++) {
        /* A path may begin here: "@file", "HEAD:file", "--option=file", "-tfile". */
        if (text.at[i - 1] == '\0' || (strchr("@:=,)", text.at[i - 1]) == NULL &&
                                       (!letters || i < 2 || i > PHI__PATHS_LETTERS_MOST)))
            continue;
        subject->tries += word->known ? 1 : 1 + text.len / 8; /* patterns take longer to compare */
        if (subject->tries > PHI__PATHS_TRIES_MOST) return subject->may;
        part.text = phi__str_from(text, i);
        if (phi__paths_part(subject, rule, &part)) return true;
    }
    return false;
}

/* True if subject->command names a file of the rule. For a rule that allows, every directory and
   every path of the command must match the rule. */
static bool phi__paths_command(phi__subject *subject, const phi_permission_rule *rule) {
    const phi__sh_command *c = subject->command;
    const phi__sh_dirs *dirs = c->dirs;
    if (phi__allows(rule)) {
        if (subject->shell->moved || subject->shell->lost) return false;
        for (size_t i = 0; dirs != NULL && i < dirs->count; i++)
            if (!dirs->at[i].known ||
                !phi__paths_in(subject, phi_str_of(rule->path), NULL, &dirs->at[i], false))
                return false;
        for (size_t i = 1; i < c->count; i++)
            if (!phi__paths_inside(subject, rule, &c->words[i])) return false;
        return true;
    }
    for (size_t i = 0; i < c->assigned_count; i++)
        if (phi__paths_parts_of(subject, rule, &c->assigned[i])) return true;
    for (size_t i = 1; i < c->count; i++)
        if (phi__paths_parts_of(subject, rule, &c->words[i])) return true;
    for (size_t i = 0; i < c->also_count; i++)
        if (phi__paths_word(subject, rule, &c->also[i])) return true;
    return false;
}

/* ---- files that a command reads without naming them ----

   These are whole directories, and files that match a pattern. Both become patterns for rules that
   ask or deny: "src/" "**" for grep -r x src. A search of a named directory finds a secret only by
   chance. Its pattern is therefore marked `below`, and rules whose path begins with ** skip it.
   These rules do apply to the whole workspace, to hidden directories, and to searches that show
   most lines or look for keys. */

enum {
    PHI__READS_RUN = 3,       /* letters in a row that count as a word */
    PHI__READS_CONTEXT = 3,   /* a line count with this many digits shows most lines: -C 100 */
    PHI__READS_OPERANDS = 16, /* max. operands of a command that are examined */
    PHI__READS_CHOICES = 64   /* max. file patterns of a command; more count as all files */
};

/* False if a file pattern is empty, or only leaves files out: "!*.c". */
static bool phi__reads_narrows(phi_str glob) { return glob.len > 0 && glob.at[0] != '!'; }

/* ---- what a search looks for ---- */

/* True if an alternative of a regular expression has a word that must be in every matching line:
   enough letters in a row that are in no group and no set, and none of which is optional. */
static bool phi__reads_word(phi_str text) {
    size_t run = 0;
    unsigned open = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];
        bool letter = phi__is_alnum(c) || c == '_' || (unsigned char)c >= 128;
        size_t after = i + 1; /* position of an operator: "?", or "\?" in grep */
        if (after + 1 < text.len && text.at[after] == '\\') after++;
        bool optional =
            after < text.len && text.at[after] != '\0' && strchr("*?{", text.at[after]) != NULL;
        run = letter && open == 0 && !optional ? run + 1 : 0;
        if (run >= PHI__READS_RUN) return true;
        if (c == '\\') i++;
        if (c == '(' || c == '[') open++;
        if ((c == ')' || c == ']') && open > 0) open--;
    }
    return false;
}

/* True if a search for this pattern shows most lines, or looks for keys. */
static bool phi__reads_dumps(phi_str pattern) {
    static const char *const keys[] = {"PRIVATE", "BEGIN", "SECRET", "_KEY", "_TOKEN", "PASSWORD"};
    size_t from = 0;
    for (size_t i = 0; i < PHI__COUNT(keys); i++)
        if (phi__str_find(pattern, 0, keys[i]) != SIZE_MAX) return true;
    for (size_t i = 0; i <= pattern.len; i++) {
        if (i < pattern.len && pattern.at[i] != '|' && pattern.at[i] != '\n') continue;
        if (!phi__reads_word(phi__str(pattern.at + from, i - from))) return true;
        from = i + 1;
    }
    return false;
}

/* ---- programs ---- */

typedef struct phi__reads_program {
    const char *names;
    const char *deep;   /* option letters with which it reads directories; NULL: it always does */
    const char *longer; /* pattern of the long options with which it reads directories */
    const char *values; /* option letters that take a value */
    bool searches;      /* the first operand is the search pattern */
    bool shown;         /* hidden files are skipped */
    bool target;        /* the last operand is the destination */
} phi__reads_program;

static const phi__reads_program phi__reads_programs[] = {
    {"grep|egrep|fgrep|zgrep|rgrep", "rRd", "--de*|--dir*|--rec*", "ABCmdDef", true, false, false},
    {"rg|ag|ack", NULL, "", "ABCmegtTrjdEfM", true, true, false},
    {"diff", NULL, "", "", false, false, false},
    {"cp", "rRa", "--r*|--a*", "St", false, false, true},
    {"scp", "r", "", "FPSciloJ", false, false, true},
    {"mv|rsync", NULL, "", "", false, false, true},
    {"tar|bsdtar|gtar|7z|7za|rar", NULL, "", "", false, false, false},
    {"zip", "r", "--rec*", "", false, false, false},
};

typedef struct phi__reads {
    phi_arena *arena;
    phi__sh_command *c;
    const phi__reads_program *reader;
    const phi__sh_word *operands[PHI__READS_OPERANDS];
    size_t count;
    phi_str sought;
    bool deep, dumps;
    bool joins; /* a match may span several lines */
    bool pipes; /* an operand is a process substitution */
    bool all;   /* there are more than PHI__READS_CHOICES file patterns */
    bool lost;
} phi__reads;

PHI__FN void phi__reads_put(phi__buf *out, phi_str glob) {
    for (size_t i = 0; i < glob.len; i++) {
        bool quoted = glob.at[i] == '\\';
        char before = i > 0 ? glob.at[i - 1] : '\0';
        if (quoted && ++i == glob.len) return; /* a backslash at the end quotes nothing */
        if (!quoted && glob.at[i] == '*' && before != '*') phi__buf_char(out, '*');
        if (!quoted && before == '/' && (glob.at[i] == '?' || glob.at[i] == '['))
            phi__buf_text(out, "**"); /* ? and [ match a leading dot, too */
        phi__buf_char(out, glob.at[i]);
    }
}

/* Adds a pattern to the command's `also`: the texts `start`, `between` and `rest` joined. */
static void phi__reads_add(phi__reads *r, phi_str start, const char *between, phi_str rest,
                           bool below) {
    phi__sh_word *all;
    phi__buf text;
    phi__sh_word word = PHI_ZERO;
    phi__buf_init(&text, r->arena->memory);
    phi__buf_add_str(&text, start);
    phi__buf_text(&text, between);
    phi__reads_put(&text, rest);
    r->lost = r->lost || text.failed || !phi__arena_str(r->arena, phi__buf_str(&text), &word.text);
    phi__buf_free(&text);
    all = (phi__sh_word *)phi__sh_room(r->arena, r->c->also, r->c->also_count, sizeof *all);
    r->lost = r->lost || all == NULL;
    if (r->lost) return;
    word.below = below;
    if (r->reader != NULL && r->reader->shown && rest.len == 0) word.hidden = PHI__WILD_LEFT_OUT;
    r->c->also = all;
    all[r->c->also_count++] = word;
}

/* True if a directory is the whole workspace, or "/". */
static bool phi__reads_root(phi_str dir) {
    while (phi__str_starts(dir, "./")) dir = phi__str_from(dir, 2);
    return dir.len == 0 || phi__str_is(dir, ".") || phi__str_is(dir, "/");
}

/* True if a directory is hidden, outside of the workspace, or not known. */
static bool phi__reads_hidden(const phi__sh_word *dir) {
    phi_str rest = dir->text;
    while (phi__str_starts(rest, "./")) rest = phi__str_from(rest, 2);
    if (phi__reads_root(rest)) return false;
    return !dir->known || strchr("./~", rest.at[0]) != NULL ||
           phi__str_find(rest, 0, "/.") != SIZE_MAX;
}

static void phi__reads_deep(phi__reads *r) {
    bool shown = r->reader->shown;
    size_t n = r->count;
    /* rg without operands searches its input if that is a pipe or a here-document. With any other
       input ("< /dev/null"), rg searches files. */
    bool input = r->c->inputs > 0 ? r->c->inputs == 1 && r->c->input != NULL : r->c->by_pipe;
    if (r->reader->target && n > 1) n--;
    if (n == 0 && (r->pipes || (shown && input))) return;
    if (n == 0) phi__reads_add(r, PHI__LIT("."), "/**", phi__str("", 0), shown && !r->dumps);
    for (size_t i = 0; i < n; i++) {
        const phi__sh_word *dir = r->operands[i];
        bool any = phi__reads_hidden(dir) || (phi__reads_root(dir->text) && !shown);
        phi__reads_add(r, dir->text, "/**", phi__str("", 0), !any && !r->dumps);
    }
}

/* Adds a file pattern. False if the pattern is empty, or leaves files out with a leading "!". */
static bool phi__reads_glob(phi__reads *r, phi_str glob) {
    phi__buf choices;
    size_t at = 0;
    if (!phi__reads_narrows(glob)) return false;
    if (r->reader == NULL || !r->reader->shown) {
        phi__reads_add(r, PHI__LIT("."), "/**", glob, false);
        return true;
    }
    if (r->all) return true;
    /* Adds each expansion of the pattern's braces, or all files if there are too many. */
    phi__buf_init(&choices, r->arena->memory);
    r->all = phi__glob_expand(&choices, glob) != NULL || r->c->also_count >= PHI__READS_CHOICES;
    if (r->all) phi__reads_add(r, PHI__LIT("."), "/**", PHI__LIT("*"), false);
    for (; !r->all && !choices.failed && at < choices.len; at += strlen(choices.at + at) + 1)
        phi__reads_add(r, PHI__LIT("."), "/**", phi_str_of(choices.at + at), false);
    r->lost = r->lost || choices.failed;
    phi__buf_free(&choices);
    return true;
}

/* ---- options ---- */

/* Adds the file pattern of -g PATTERN or --include=PATTERN. True if it narrows the search. */
static bool phi__reads_pattern(phi__reads *r, size_t i) {
    static const char *const names[] = {
        "--glob=", "--iglob=", "--inc=", "--incl=", "--inclu=", "--includ=", "--include="};
    const phi__sh_command *c = r->c;
    phi_str text = c->words[i].text;
    size_t k;
    for (k = 0; k < PHI__COUNT(names); k++)
        if (phi__str_starts(text, names[k]))
            return phi__reads_glob(r, phi__str_from(text, strlen(names[k])));
    if (phi__str_is(text, "--include"))
        return i + 1 < c->count && phi__reads_glob(r, c->words[i + 1].text);
    if (!r->reader->shown || text.len < 2 || text.at[1] == '-') return false;
    for (k = 1; k < text.len && text.at[k] != 'g'; k++)
        if (strchr(r->reader->values, text.at[k]) != NULL) return false;
    if (k == text.len) return false;
    if (k + 1 < text.len) return phi__reads_glob(r, phi__str_from(text, k + 1));
    return i + 1 < c->count && phi__reads_glob(r, c->words[i + 1].text);
}

/* Reads the long option of a search at *i. Advances *i to its value if that is the next word. */
static void phi__reads_searching(phi__reads *r, size_t *i) {
    static const char dumps[] = "--file|--file=*|--reg*|--inv*|--null-*";
    static const char context[] = "--con*|--a*|--be*";
    static const char valued[] =
        "--inc*|--exc*|--max*|--lab*|--group-s*|--bi*|--dev*|--reg*|--file";
    phi_str text = r->c->words[*i].text, value = phi__str("", 0);
    size_t at = phi__str_find(text, 0, "=");
    bool around = phi__among(text, context);
    bool colors = r->reader->shown && phi__among(text, "--color|--colors");
    if (phi__among(text, dumps)) r->dumps = true;
    if (phi__str_starts(text, "--multi")) r->joins = true;
    if (at != SIZE_MAX)
        value = phi__str_from(text, at + 1);
    else if (around || colors || phi__among(text, valued))
        if (++*i < r->c->count) value = r->c->words[*i].text;
    if (around && value.len >= PHI__READS_CONTEXT) r->dumps = true;
}

/* Reads the short options at *i. Advances *i to their value if that is the next word. */
static void phi__reads_option(phi__reads *r, size_t *i) {
    phi_str text = r->c->words[*i].text;
    bool searches = r->reader->searches;
    size_t digits = 0; /* in a row: -999 */
    for (size_t k = 1; k < text.len && text.at[k] != '\0'; k++) {
        char c = text.at[k];
        digits = phi__is_digit(c) ? digits + 1 : 0;
        if (r->reader->deep != NULL && strchr(r->reader->deep, c) != NULL) r->deep = true;
        if (searches && (strchr("efvz", c) != NULL || digits >= PHI__READS_CONTEXT))
            r->dumps = true;
        if (c == 'U') r->joins = true;
        if (strchr(r->reader->values, c) == NULL) continue;
        phi_str value = phi__str_from(text, k + 1);
        if (value.len == 0 && ++*i < r->c->count) value = r->c->words[*i].text;
        if (strchr("ABC", c) != NULL && value.len >= PHI__READS_CONTEXT) r->dumps = true;
        return;
    }
}

static void phi__reads_operands(phi__reads *r) {
    const phi__sh_command *c = r->c;
    bool options = true, globs = false, sought = !r->reader->searches;
    for (size_t i = 1; i < c->count; i++) {
        const phi__sh_word *word = &c->words[i];
        if (options && phi__str_is(word->text, "--")) {
            options = false;
        } else if (options && word->text.len > 1 && word->text.at[0] == '-') {
            globs = phi__reads_pattern(r, i) || globs;
            bool wide = word->text.at[1] == '-';
            if (wide && phi__among(word->text, r->reader->longer)) r->deep = true;
            if (wide && r->reader->searches) phi__reads_searching(r, &i);
            if (!wide) phi__reads_option(r, &i);
        } else if (!sought) {
            sought = true;
            r->sought = word->text;
            if (!word->known || phi__reads_dumps(word->text)) r->dumps = true;
        } else if (word->pipe)
            r->pipes = true;
        else if (r->count < PHI__READS_OPERANDS)
            r->operands[r->count++] = word;
    }
    for (size_t i = 0; r->joins && i < r->sought.len; i++) /* foo[\s\S]* finds most lines */
        if (r->sought.at[i] != '\0' && strchr("*+{", r->sought.at[i]) != NULL) r->dumps = true;
    if (r->deep && !globs) phi__reads_deep(r);
}

/* ---- git ---- */

static const phi__reads_program phi__reads_git_grep = {"", NULL, "", "ABCmef", true, false, false};

/* Adds the file patterns that git itself expands. In "git grep", they follow the search pattern. */
static void phi__reads_git(phi__reads *r) {
    static const char named[] = "ls-files|ls-tree|status|branch|tag|add|remote|config|check-ignore";
    const phi__sh_command *c = r->c;
    bool options = true;
    if (c->count < 2 || phi__among(c->words[1].text, named)) return;
    bool grep = phi__str_is(c->words[1].text, "grep");
    if (grep) r->reader = &phi__reads_git_grep;
    bool sought = !grep;
    for (size_t i = 2; i < c->count; i++) {
        phi_str text = c->words[i].text;
        if (options && phi__str_starts(text, "-")) {
            options = !phi__str_is(text, "--");
            sought = sought || phi__str_starts(text, "-e");
            if (grep && options && text.at[1] == '-')
                phi__reads_searching(r, &i);
            else if (grep && options)
                phi__reads_option(r, &i);
            if (phi__str_starts(text, "--unt") || phi__str_starts(text, "--no-"))
                phi__reads_add(r, PHI__LIT("."), "/**", phi__str("", 0), false);
        } else if (!sought) {
            sought = true;
            r->dumps = r->dumps || phi__reads_dumps(text);
        } else if (!phi__str_starts(text, ":!") && !phi__str_starts(text, ":^")) {
            size_t end = phi__str_starts(text, ":(") ? phi__str_find(text, 0, ")") : SIZE_MAX;
            if (end != SIZE_MAX) text = phi__str_from(text, end + 1);
            while (phi__str_starts(text, ":") || phi__str_starts(text, "/"))
                text = phi__str_from(text, 1);
            if (end != SIZE_MAX || phi__paths_holds(text, "*?[")) (void)phi__reads_glob(r, text);
        }
    }
    if (grep && r->dumps) phi__reads_add(r, PHI__LIT("."), "/**", phi__str("", 0), false);
}

PHI__FN phi_status phi__reads_also(phi_arena *arena, phi__sh_command *command) {
    phi__reads r = PHI_ZERO;
    if (command->count < 2 || !command->words[0].known) return PHI_OK;
    phi_str name = phi__glob_name(command->words[0].text);
    r.arena = arena;
    r.c = command;
    if (phi__str_is(name, "git")) phi__reads_git(&r);
    for (size_t i = 0; i < PHI__COUNT(phi__reads_programs); i++) {
        r.reader = &phi__reads_programs[i];
        if (!phi__among(name, r.reader->names)) continue;
        r.deep = r.reader->deep == NULL;
        phi__reads_operands(&r);
        /* Given a directory and a file, diff reads the file of the same name in the directory. */
        for (size_t k = 0; phi__str_is(name, "diff") && r.count == 2 && k < 2; k++)
            phi__reads_add(&r, r.operands[k]->text, "/", phi__glob_name(r.operands[1 - k]->text),
                           false);
    }
    return r.lost ? PHI_NO_MEMORY : PHI_OK;
}

/* True if the first operand of a program names an action: "docker rm". */
static bool phi__names_tool(phi_str name) {
    static const char names[] =
        "git|docker|podman|npm|pnpm|yarn|cargo|go|kubectl|helm|systemctl|service|apt|apt-get|brew|"
        "dnf|yum|apk|pacman|pip*|uv|gem|gh|aws|gcloud|az|terraform|man|info|help|snap|nix|conda|"
        "bundle|composer|rustup|make|alias|unalias|export|declare|local|set|unset|read|return";
    return phi__among(phi__names_name(name), names);
}

/* True if a pattern matches one text only: it has no wildcards, or phi__wild_quote() made it. */
static bool phi__wild_literal(phi_str pattern) {
    for (size_t i = 0; i < pattern.len; i++) {
        if (strchr("*?|[", pattern.at[i]) == NULL) continue;
        if (pattern.at[i] != '[' || pattern.len - i < 3 || pattern.at[i + 2] != ']') return false;
        i += 2;
    }
    return true;
}

/* ---- the host of a URL against the host of a rule ---- */

/* Returns the length of the scheme's name at the start of a URL. A dot or a slash ends the name. */
static size_t phi__hosts_scheme(phi_str url) {
    size_t i = 0;
    while (i < url.len && (phi__is_alnum(url.at[i]) || url.at[i] == '+')) i++;
    return i;
}

/* True if URLs of this scheme name a remote host, unlike "file", "javascript", "data" or "unix". */
static bool phi__hosts_remote(phi_str scheme) {
    static const char *const names[] = {"http", "https", "ws",  "wss", "ftp",
                                        "ftps", "sftp",  "ssh", "git", "git+ssh"};
    for (size_t i = 0; i < PHI__COUNT(names); i++)
        if (phi__str_is_nocase(scheme, names[i])) return true;
    return false;
}

/* True if every program takes these bytes for the same host. Browsers and curl rewrite names with
   percent signs, letters beyond ASCII, or characters that they leave out. */
static bool phi__hosts_plain(phi_str host) {
    for (size_t i = 0; i < host.len; i++) {
        char c = host.at[i];
        if ((c == '.' || c == '-') && (i == 0 || host.at[i - 1] == '.')) return false;
        if (!((c >= 'a' && c <= 'z') || phi__is_digit(c) || c == '-' || c == '_' || c == '.'))
            return false;
    }
    return host.len > 0;
}

/* True if a host ends in a number, but is no usual IPv4 address: 2130706433, 127.1, 0x7f.0.0.1. */
static bool phi__hosts_number(phi_str host) {
    size_t from = host.len, dots = 0;
    bool odd = false;
    while (from > 0 && host.at[from - 1] != '.') from--;
    if (from == host.len || !phi__is_digit(host.at[from])) return false;
    for (size_t i = 0; i < host.len; i++) {
        bool first = i == 0 || host.at[i - 1] == '.';
        if (host.at[i] == '.') dots++;
        if (host.at[i] == 'x') odd = true;
        if (first && host.at[i] == '0' && i + 1 < host.len && host.at[i + 1] != '.') odd = true;
    }
    return odd || dots != 3;
}

/* Appends the text that a program may take for the host, without user name, port and last dot. */
static void phi__hosts_may(phi_str url, phi__buf *out) {
    size_t at = phi__hosts_scheme(url), end;
    if (at < url.len && url.at[at] == ':' && phi__hosts_remote(phi__str(url.at, at)))
        at++; /* browsers do not need the slashes after the colon */
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
    /* A NUL does not end a host, although strchr finds it: a host with a NUL is refused below. */
    for (end = at; end < url.len && (url.at[end] == '\0' || strchr("/?#", url.at[end]) == NULL);)
        end++;
    for (size_t i = at; i < end; i++) {
        char c = url.at[i];
        if (c == ':' && (url.at[at] != '[' || url.at[i - 1] == ']'))
            port = true;
        else if (port && !phi__is_digit(c))
            return false;
        if (!port) phi__buf_char(out, c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c);
    }
    phi_str host = phi__buf_str(out);
    /* An IPv6 address is in brackets: [::1]. */
    bool address = host.len >= 4 && host.at[0] == '[' && host.at[host.len - 1] == ']';
    for (size_t i = 1; address && i + 1 < host.len; i++)
        address = host.at[i] != '\0' && strchr("0123456789abcdef:.", host.at[i]) != NULL;
    return !out->failed && (phi__hosts_plain(host) || address);
}

/* True if the host of a URL is one of the rule's. Rules that ask or deny match whatever a program
   may take for the host, and, if subject->may is set, any host in an unusual spelling. */
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
    phi__paths_free(subject, &buf);
    return matches;
}

/* ---- options of a command against those that a rule names ---- */

enum { PHI__OPTIONS_GLUED_MOST = 62 }; /* max. bytes of a value in its option's word: "-C30" */

/* True if `options` has all letters of a word ("-an"). The last letter may have a value:
   "-nC3". */
static bool phi__options_cluster(const char *options, phi_str text) {
    char word[PHI__OPTIONS_GLUED_MOST + 2];
    if (text.len - 1 > PHI__OPTIONS_GLUED_MOST) return false;
    word[0] = '-';
    for (size_t i = 1; i < text.len; i++) {
        phi_str rest = phi_str_of(options), valued = phi__str(word, text.len - i + 1), one;
        memcpy(word + 1, text.at + i, text.len - i);
        while (phi__wild_next(&rest, &one)) /* "-C*" matches "-C3" */
            if (one.len > 0 && one.at[one.len - 1] == '*' && phi__wild_any(one, valued, false))
                return true;
        if (!phi__among(phi__str(word, 2), options)) return false;
    }
    return true;
}

/* True if all options of a command are among the alternatives in `options`. */
static bool phi__options_named(const phi__sh_command *c, const char *options) {
    for (size_t i = 1; i < c->count; i++) {
        phi_str text = c->words[i].text;
        if (!c->words[i].known) {
            /* The shell may expand this word to an option or to several words. "**" means the
               files that a find passes on. */
            if (text.len == 0 || strchr("-*?[", text.at[0]) != NULL) return false;
            if (phi__str_find(text, 0, "**") != SIZE_MAX) return false;
            for (size_t k = 0; k < text.len; k++)
                if (strchr("$`({<>", text.at[k]) != NULL) return false; /* strchr finds NULs, too */
        }
        if (text.len < 2 || text.at[0] != '-' || phi__str_is(text, "--")) continue;
        if (phi__among(text, options)) continue;
        if (text.at[1] == '-' || !phi__options_cluster(options, text)) return false;
    }
    return true;
}

static phi_str phi__rules_name(const phi__sh_command *c, bool anywhere) {
    phi_str name = c->count > 0 ? c->words[0].text : phi__str("", 0);
    return anywhere ? phi__glob_name(name) : phi__names_name(name);
}

/* Returns the index of the word that matches `pattern` after options ("git -C x push"), or 1. */
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

/* Finds where the first expansion of a word begins and where the last one ends. In "pu$()sh", the
   text "pu" and "sh" is certain. False if the word has no expansion, or no certain text. */
static bool phi__rules_certain(phi_str text, size_t *begin, size_t *end) {
    size_t last = 0;
    *begin = text.len;
    for (size_t i = 0; i < text.len; i++) {
        bool sign = text.at[i] == '$' || text.at[i] == '`';
        if (sign && *begin == text.len) *begin = i;
        if (!sign && (*begin == text.len || strchr(")}", text.at[i]) == NULL)) continue;
        last = i + 1;
        if (text.at[i] != '$') continue;
        while (last < text.len && (text.at[last] == '_' || phi__is_alnum(text.at[last]))) last++;
        if (last == i + 1 && last < text.len) last++; /* a special parameter: $@ */
    }
    *end = last;
    return (*begin < text.len) && (*begin + text.len > last);
}

/* True if a word matches the pattern. If subject->may is set, also true if the word may match after
   expansion: "r[m]" becomes rm if there is such a file. */
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
    phi__paths_free(subject, &glob);
    return matches;
}

/* True if the words of a command match the words of the rule's pattern. */
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
    /* A program that takes commands from its input does more than its words say. */
    return i == c->count && (!allows || !c->reads || phi__names_plain(c->words[0].text));
}

/* True if a program takes `text` for a shorter form of a long option, or for the option with a
   value. For --force, these are --fo, --fo=x and --force=x. */
static bool phi__options_short_for(phi_str text, phi_str option) {
    size_t n = phi__min(phi__str_find(text, 0, "="), text.len);
    if (n < 2 || n > option.len || memcmp(text.at, option.at, n) != 0) return false;
    return phi__str_starts(option, "--") && (n < option.len ? n > 2 : n < text.len);
}

/* True if every word of the pattern has an alternative among the words of the command. If any is
   set, this must hold for only one word of the pattern. If may is set, -f also matches inside
   "-fn". Otherwise "-fn" may be -f with a value, and words after "--" are no options. */
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
                    text = phi__str_from(text, end); /* "$@-rf" may become "-rf" */
                found = phi__wild_any(one, text, false) || phi__options_short_for(text, one) ||
                        (one.len == 2 && one.at[0] == '-' && one.at[1] != '-' && text.len > 1 &&
                         text.at[0] == '-' && text.at[1] != '-' &&
                         memchr(text.at + 1, one.at[1], text.len - 1) != NULL);
            }
        if (found == any) return any;
    }
    return !any;
}

enum { PHI__RULES_WORK_MOST = 100000 }; /* max. words and commands of a line that are examined */

/* Counts work on a line. True if the work exceeds what any hand-written line needs. */
static bool phi__rules_tired(phi__subject *subject, size_t work) {
    subject->work += work;
    return subject->work > PHI__RULES_WORK_MOST;
}

/* True if the command is one of these programs, or may run one of them. */
static bool phi__rules_named(const phi__sh_command *c, const char *names) {
    for (size_t i = 0; i < c->count; i++) {
        if (i > 0 && c->quiet && !c->wraps) break;
        if (phi__among(phi__glob_name(c->words[i].text), names)) return true;
    }
    return c->count == 0 && phi__among(phi__str("", 0), names);
}

/* True if command `c` calls the function that contains command `in`. */
static bool phi__rules_calls(const phi__sh_command *c, const phi__sh_command *in) {
    return c->count > 0 && in->function.len > 0 && phi_str_equal(c->words[0].text, in->function);
}

/* True if a command is one of these programs, or calls a function that contains one of them. */
static bool phi__rules_runs(phi__subject *subject, const char *names, size_t index) {
    const phi__sh_command *all = subject->shell->commands, *c = &all[index];
    if (phi__rules_named(c, names)) return true;
    for (size_t i = 0; subject->shell->later && i < subject->shell->count; i++)
        if (phi__rules_tired(subject, 1) ||
            (phi__rules_calls(c, &all[i]) && phi__rules_named(&all[i], names)))
            return true;
    return false;
}

/* True if a command, or a command in its substitutions, runs one of these programs. */
static bool phi__rules_prints(phi__subject *subject, const char *names, size_t index) {
    const phi__sh_command *c = &subject->shell->commands[index];
    if (phi__rules_runs(subject, names, index)) return true;
    for (size_t i = c->inner_from; i < c->inner_to; i++)
        if (phi__rules_runs(subject, names, i)) return true;
    return false;
}

/* True if the command at `index` receives output of one of the rule's programs. */
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

/* True if the command receives output of one of the rule's programs by a pipe, a substitution or a
   here-document. If the command is in a function, its caller may receive the output instead. */
static bool phi__rules_piped(phi__subject *subject, const phi_permission_rule *rule) {
    const phi__sh_command *all = subject->shell->commands;
    if (phi__rules_piped_to(subject, rule, subject->index)) return true;
    for (size_t i = 0; subject->command->function.len > 0 && i < subject->shell->count; i++)
        if (phi__rules_calls(&all[i], subject->command) && phi__rules_piped_to(subject, rule, i))
            return true;
    return false;
}

static bool phi__rules_host(phi__subject *subject, const phi_permission_rule *rule) {
    /* A tool uses one of these members only; the other may be a decoy. */
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

/* True if a search for files named `choice` below `dir` may read a file of the rule. If `all` is
   true, the search reads all files, and `choice` is empty. */
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
    phi__paths_free(subject, &text);
    return matches;
}

/* True if a search tool may read a file of the rule. The tool reads the files that match "include",
   or, without "include", all files in its directory. */
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
    phi__paths_free(subject, &choices);
    return matches;
}

static bool phi__rules_tool_path(phi__subject *subject, const phi_permission_rule *rule) {
    phi_str path = phi__rules_path_of(subject->root);
    bool any = rule->argument == NULL || rule->matches != NULL, found = false;
    bool allows = phi__allows(rule), matches = allows;
    /* Checks every member that may be the path: a tool uses only one of them. */
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
    /* Without a path, these two tools look at the whole workspace. */
    if (path.at == NULL && phi__among(subject->tool, "list_files|search")) path = PHI__LIT(".");
    return path.at != NULL && phi__paths_text(subject, rule, path);
}

static bool phi__rules_argument(const phi__subject *subject, const phi_permission_rule *rule) {
    if (rule->argument == NULL) return phi__among(subject->arguments, rule->matches);
    const phi_json *member = phi_json_get(subject->root, rule->argument);
    return phi_json_is(member, PHI_JSON_STRING) &&
           phi__among(phi_json_str(member, ""), rule->matches);
}

/* True if the rule restricts commands: their words, options, input, paths or hosts. */
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

/* True if a rule matches the words of a command from a later word on: a program that phi does not
   know may run these words as a command. */
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
        while (k < text.len && !phi__is_alnum(text.at[k])) k++;
        /* A word that is partly an expansion or a pattern may become the name of a program. */
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

/* Sets *verdict to the rule's verdict on the subject. False if the rule does not match. If it is
   not certain that a rule that denies matches a file or a command, the verdict is to ask. */
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
    bool settled = false; /* a rule allows exactly this call */
    *which = NULL;
    for (size_t i = 0; i < rules->count; i++) {
        const phi_permission_rule *rule = &rules->rules[i];
        /* This rule allows one exact call. A person has seen it, so no rule needs to ask. */
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

/* Returns the name of a verdict. A number that is no verdict counts as "ask". */
static const char *phi__rule_verdict_name(phi_permission verdict) {
    return phi__rule_verdicts[(size_t)verdict < PHI__COUNT(phi__rule_verdicts)
                                  ? verdict
                                  : PHI_PERMISSION_ASK];
}

static const char **phi__rule_field(phi_permission_rule *rule, size_t i) {
    return (const char **)(void *)((char *)rule + phi__rule_members[i].at);
}

PHI__FN bool phi__rules_keep(phi_arena *arena, phi_permission_rule *rule) {
    for (size_t i = 0; i < PHI__COUNT(phi__rule_members); i++)
        if (!phi__keep_text(arena, phi__rule_field(rule, i))) return false;
    return true;
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

static phi_status phi__rule_verdict(const phi_json *node, const char *place, phi_permission *out,
                                    phi_parse_error *error) {
    phi_str text = phi_json_str(node, "");
    for (size_t i = 0; i < PHI__COUNT(phi__rule_verdicts); i++) {
        if (!phi__str_is(text, phi__rule_verdicts[i])) continue;
        *out = (phi_permission)i;
        return PHI_OK;
    }
    return phi__rule_refuse(error, place, text, "allow, ask or deny");
}

/* Reads one member of rules[index] into `out`. */
static phi_status phi__rule_take(const phi_json *node, phi_str key, size_t index,
                                 phi_permission_rule *out, phi_parse_error *error) {
    char place[64];
    phi_str text = phi_json_str(node, "");
    if (phi__str_is(key, "verdict")) {
        (void)snprintf(place, sizeof place, "rules[%u].verdict", (unsigned)index);
        return phi__rule_verdict(node, place, &out->verdict, error);
    }
    (void)snprintf(place, sizeof place, "rules[%u]: member", (unsigned)index);
    for (size_t i = 0; i < PHI__COUNT(phi__rule_members); i++) {
        if (!phi__str_is(key, phi__rule_members[i].name)) continue;
        if (!phi_json_is(node, PHI_JSON_STRING) || memchr(text.at, '\0', text.len) != NULL)
            return phi__rule_refuse(error, place, key, "a string");
        *phi__rule_field(out, i) = text.at; /* NUL-terminated, in the arena */
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
    phi_status status = PHI_OK;
    if (!phi_json_is(root, PHI_JSON_OBJECT))
        return phi__rule_refuse(error, "permissions", phi_str_of(phi__json_get_type_name(root)),
                                "an object");
    while (status == PHI_OK && phi_json_next(&it) != NULL) {
        if (phi__str_is(it.key, "rules"))
            status = phi__rule_list(arena, it.at, out, error);
        else if (phi__str_is(it.key, "otherwise"))
            status = phi__rule_verdict(it.at, "otherwise", &out->otherwise, error);
        else
            status = phi__rule_refuse(error, "member", it.key, "rules or otherwise");
    }
    return status;
}

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
        phi__buf_printf(&buf, "{\"verdict\":\"%s\"", phi__rule_verdict_name(rule.verdict));
        for (size_t k = 0; k < PHI__COUNT(phi__rule_members); k++) {
            const char *text = *phi__rule_field(&rule, k);
            if (text == NULL) continue;
            phi__buf_printf(&buf, ",\"%s\":", phi__rule_members[k].name);
            phi__json_write_str(&buf, phi_str_of(text));
        }
        phi__buf_char(&buf, '}');
    }
    phi__buf_text(&buf, "\n],\"otherwise\":\"");
    phi__buf_text(&buf, phi__rule_verdict_name(rules->otherwise));
    phi__buf_text(&buf, "\"}\n");
    bool good = !buf.failed && phi__arena_str(arena, phi__buf_str(&buf), out);
    phi__buf_free(&buf);
    return good ? PHI_OK : PHI_NO_MEMORY;
}
