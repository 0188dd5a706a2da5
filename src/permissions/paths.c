/* paths.c - the files that a call names, against the path of a rule. */
#include "tools/tools_in.h"
#include "permissions/rules_in.h"
#include "permissions/shell_in.h"
#include "permissions/wildcard_in.h"

enum {
    PHI__PATHS_MOST = 4095,       /* bytes: no file has a longer path */
    PHI__PATHS_LETTERS_MOST = 32, /* of options in one word, before a path */
    PHI__PATHS_TRIES_MOST = 4000, /* parts of words of a line that are compared with paths */
    PHI__PATHS_DEPTH = 32         /* of arguments */
};

static bool phi__paths_holds(phi_str text, const char *chars) {
    for (size_t i = 0; i < text.len; i++)
        if (text.at[i] != '\0' && strchr(chars, text.at[i]) != NULL) return true;
    return false;
}

/* ---- absolute paths ---- */

/* Adds the parts of a path, without "." and "..", each with a slash before it. */
static void phi__paths_parts(phi__buf *out, phi_str path, size_t root) {
    size_t i = 0;
    while (i < path.len) {
        size_t from = i;
        while (i < path.len && path.at[i] != '/') i++;
        phi_str part = phi__str(path.at + from, i - from);
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
    for (size_t i = 0; i < PHI__COUNT(names); i++) {
        size_t n = strlen(names[i]);
        if (phi__str_starts(path, names[i]) && (path.len == n || path.at[n] == '/')) return n;
    }
    return 0;
}

/* Absolute, or below "." or "~" where the directories are not known, or above these: "^". */
static void phi__paths_resolve(const phi__subject *subject, phi_str path, phi__buf *out) {
    size_t home = phi__paths_home(path);
    if (home > 0) {
        path = phi__str_from(path, home);
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
    for (size_t i = 0; i < text->len; i++)
        if (text->at[i] >= 'A' && text->at[i] <= 'Z') text->at[i] = (char)(text->at[i] + 32);
}

static bool phi__paths_capitals(phi_str text) {
    for (size_t i = 0; i < text.len; i++)
        if (text.at[i] >= 'A' && text.at[i] <= 'Z') return true;
    return false;
}

/* Puts what a shell most likely makes of the beginning in its place: ~ada, ~+, $PWD, ${HOME:?}. */
static phi_str phi__paths_shell(const phi__subject *subject, phi_str path, phi__buf *out) {
    static const char *const here[] = {"~+", "~-", "$PWD", "${PWD}"};
    size_t n;
    for (size_t i = 0; i < PHI__COUNT(here); i++) {
        n = strlen(here[i]);
        if (!phi__str_starts(path, here[i]) || (path.len > n && path.at[n] != '/')) continue;
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
    if (!phi__str_starts(path, "~") || path.len < 2 || path.at[1] == '/') return path;
    if (!phi__str_starts(path, "~root") && subject->home != NULL) {
        phi__buf_text(out, subject->home);
        phi__buf_text(out, "/../");
    } else
        phi__buf_char(out, '/');
    phi__buf_add_str(out, phi__str_from(path, 1));
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
           phi__among(glob, sources);
}

/* One alternative of a rule's path against a resolved path. fold: capitals are small letters. */
static bool phi__paths_one(phi__subject *subject, phi_str pattern, phi_str resolved,
                           const phi__sh_word *word, bool fold, bool glob) {
    phi__buf whole;
    bool anywhere = phi__str_starts(pattern, "**");
    if (word->below && anywhere) return false;
    phi__buf_init(&whole, subject->memory);
    if (!anywhere)
        phi__paths_resolve(subject, pattern, &whole);
    else if (fold && phi__paths_capitals(pattern))
        phi__buf_add_str(&whole, pattern);
    if (fold) phi__paths_lower(&whole);
    if (whole.len > 0) pattern = phi__buf_str(&whole);
    bool matches = phi__wild_any(pattern, resolved, true) ||
                   (glob && !phi__paths_sources(resolved, pattern) &&
                    phi__wild_meets(pattern, resolved, word->hidden));
    if (whole.failed) subject->lost = true;
    phi__buf_free(&whole);
    return matches;
}

static bool phi__paths_absolute(phi_str path) {
    return path.len > 0 && (path.at[0] == '/' || path.at[0] == '~' || phi__paths_home(path) > 0);
}

/* In this directory; NULL: in the workspace. */
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
    phi__paths_resolve(subject, path, &resolved);
    if (fold) phi__paths_lower(&resolved);
    known = known || !subject->may || !phi__paths_holds(path, "*?[");
    while (!found && phi__wild_next(&pattern, &one))
        found = phi__paths_one(subject, one, phi__buf_str(&resolved), word, fold, fold && !known);
    if (joined.failed || resolved.failed || person.failed) subject->lost = true;
    phi__buf_free(&joined);
    phi__buf_free(&person);
    phi__buf_free(&resolved);
    return found;
}

PHI__FN bool phi__paths_word(phi__subject *subject, const phi_permission_rule *rule,
                             const phi__sh_word *given) {
    const phi__sh_dirs *sets[2] = {NULL, NULL};
    phi_str pattern = phi_str_of(rule->path);
    bool negative = phi__str_starts(pattern, "!"), allows = phi__allows(rule);
    bool fold = !negative && !allows, settled = false, matches = false;
    phi__sh_word word = *given;
    phi__buf text;
    if (word.text.len > PHI__PATHS_MOST) { /* a shell finds no such file; a tool may shorten it */
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
    /* in one of the directories that the command may run in; for a rule that allows, in each */
    if (!settled) matches = allows && sets[0] != NULL;
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; !settled && sets[i] != NULL && k < sets[i]->count; k++) {
            bool in = phi__paths_in(subject, pattern, &sets[i]->at[k], &word, fold) != negative;
            settled = in != allows;
            if (settled) matches = in;
        }
    if (text.failed) subject->lost = true;
    phi__buf_free(&text);
    return matches;
}

PHI__FN bool phi__paths_text(phi__subject *subject, const phi_permission_rule *rule, phi_str path) {
    phi__sh_word word = PHI_ZERO;
    word.text = path;
    word.known = true;
    return phi__paths_word(subject, rule, &word);
}

/* Behind "file:" and a host: the path; empty: it is no such URL. */
static phi_str phi__paths_url(phi_str text) {
    size_t at = phi__str_find_nocase(text, 0, "file:");
    if (at == SIZE_MAX) return phi__str("", 0);
    text = phi__str_from(text, at + 5);
    if (!phi__str_starts(text, "//")) return text;
    if (text.len > 2 && text.at[2] == '$') return phi__str_from(text, 2); /* file://$PWD/x */
    size_t slash = phi__str_find(text, 2, "/");
    return slash != SIZE_MAX ? phi__str_from(text, slash) : phi__str("", 0);
}

PHI__FN bool phi__paths_arguments(phi__subject *subject, const phi_permission_rule *rule,
                                  const phi_json *node, unsigned depth) {
    phi_json_iter each = phi_json_each(node);
    phi_str text = phi_json_str(node, ""), url = phi__paths_url(text);
    const phi_json *member;
    if (depth > PHI__PATHS_DEPTH || ++subject->tries > PHI__PATHS_TRIES_MOST)
        return subject->may; /* the texts beyond may be the rule's */
    /* A file's name, or, with blanks in it, what may be one. */
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

/* True if a pattern of file names may match ".." (as in shells before bash 5.2), or hidden files,
   which rules name: .*, .?, .e* */
static bool phi__paths_hidden(phi_str text) {
    bool hidden = false;
    for (size_t i = 0; i < text.len; i++) {
        if (i == 0 || text.at[i - 1] == '/') hidden = text.at[i] == '.';
        if (hidden && text.at[i] != '\0' && strchr("*?[", text.at[i]) != NULL) return true;
    }
    return false;
}

/* For a rule that allows: true if this word is no path, or one of the rule's. */
static bool phi__paths_inside(phi__subject *subject, const phi_permission_rule *rule,
                              const phi__sh_word *word) {
    phi_str text = word->text, value = text;
    bool dots = phi__str_find(text, 0, "..") != SIZE_MAX, path = phi__paths_holds(text, "/~");
    if (word->pipe) return true;
    if (!word->known && (phi__paths_holds(text, "$`({") || phi__paths_hidden(text))) return false;
    if (!dots && !path) return true;
    /* "-t..", "-rf/etc": a path behind the letters of options may be anywhere in the word */
    if (text.len > 2 && text.at[0] == '-' && text.at[1] != '-') return false;
    size_t at = phi__str_find(text, 0, "="), slash = phi__str_find(text, 0, "/");
    if (at != SIZE_MAX)
        value = phi__str_from(text, at + 1);
    else if (text.at[0] == '-')
        value = slash != SIZE_MAX ? phi__str_from(text, slash) : phi__str("", 0);
    return phi__paths_text(subject, rule, value) && phi__paths_text(subject, rule, text);
}

/* The part, and its beginning up to a colon or comma: "~/.ssh:/keys", "source=~/.ssh,ro". */
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

/* For others: whether it, or a part that may be a path, is one of the rule's. A word with more
   parts than anybody writes is for a rule that asks. */
static bool phi__paths_parts_of(phi__subject *subject, const phi_permission_rule *rule,
                                const phi__sh_word *word) {
    phi__sh_word part = *word;
    phi_str text = word->text;
    bool letters = text.len > 2 && text.at[0] == '-' && text.at[1] != '-';
    if (phi__paths_part(subject, rule, word)) return true;
    part.text = phi__paths_url(text);
    if (part.text.len > 0 && phi__paths_part(subject, rule, &part)) return true;
    for (size_t i = 1; i < text.len; i++) {
        /* "@file", "HEAD:file", "--option=file", "-tfile" */
        if (text.at[i - 1] == '\0' || (strchr("@:=,)", text.at[i - 1]) == NULL &&
                                       (!letters || i < 2 || i > PHI__PATHS_LETTERS_MOST)))
            continue;
        subject->tries += word->known ? 1 : 1 + text.len / 8;            /* patterns take longer */
        if (subject->tries > PHI__PATHS_TRIES_MOST) return subject->may; /* as above */
        part.text = phi__str_from(text, i);
        if (phi__paths_part(subject, rule, &part)) return true;
    }
    return false;
}

PHI__FN bool phi__paths_command(phi__subject *subject, const phi_permission_rule *rule) {
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

/* ---- what a command reads besides the files that it names ----

   Directories as a whole, and files that match its pattern. These are patterns for rules that ask
   or deny: "src/" "**" for grep -r x src. A search of a directory that is named finds a secret only
   by chance, so that rules on names anywhere do not count for it ("below"): they do for the
   workspace as a whole, for hidden directories, and where the search shows most lines or looks for
   keys. */

enum {
    PHI__READS_RUN = 3,       /* letters in a row that make a search one of a word */
    PHI__READS_CONTEXT = 3,   /* digits of a number of lines around each that is found: too many */
    PHI__READS_OPERANDS = 16, /* files and directories of a command that are looked at */
    PHI__READS_CHOICES = 64   /* patterns of files of a command; more are all files */
};

/* ---- what a search looks for ---- */

/* True if an alternative of a regular expression has a word that each line it finds must have: the
   word is in no group and no set, and nothing after it makes its last letter optional. */
static bool phi__reads_word(phi_str text) {
    size_t run = 0;
    unsigned open = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '_' || (unsigned char)c >= 128;
        size_t after = i + 1; /* "?", and "\?" of grep */
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

PHI__FN bool phi__reads_dumps(phi_str pattern) {
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
    const char *deep;   /* letters of options that make it read directories; NULL: it always does */
    const char *longer; /* the same of long options: a pattern */
    const char *values; /* letters of options with a value */
    bool searches;      /* its first operand is what it looks for */
    bool shown;         /* it leaves hidden files out */
    bool target;        /* its last operand is where it writes */
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
    bool joins; /* it looks for more than one line */
    bool pipes; /* an operand is a process substitution */
    bool all;   /* it has more patterns of files than are looked at */
    bool lost;
} phi__reads;

PHI__FN void phi__reads_put(phi__buf *out, phi_str glob) {
    for (size_t i = 0; i < glob.len; i++) {
        bool quoted = glob.at[i] == '\\';
        char before = i > 0 ? glob.at[i - 1] : '\0';
        if (quoted && ++i == glob.len) return; /* find takes it for nothing */
        if (!quoted && glob.at[i] == '*' && before != '*') phi__buf_char(out, '*');
        if (!quoted && before == '/' && (glob.at[i] == '?' || glob.at[i] == '['))
            phi__buf_text(out, "**"); /* it matches a leading dot, too */
        phi__buf_char(out, glob.at[i]);
    }
}

/* Adds `start`, a separator and `rest`. */
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

/* The workspace as a whole. */
static bool phi__reads_root(phi_str dir) {
    while (phi__str_starts(dir, "./")) dir = phi__str_from(dir, 2);
    return dir.len == 0 || phi__str_is(dir, ".") || phi__str_is(dir, "/");
}

PHI__FN bool phi__reads_hidden(const phi__sh_word *dir) {
    phi_str rest = dir->text;
    while (phi__str_starts(rest, "./")) rest = phi__str_from(rest, 2);
    if (phi__reads_root(rest)) return false;
    return !dir->known || strchr("./~", rest.at[0]) != NULL ||
           phi__str_find(rest, 0, "/.") != SIZE_MAX;
}

static void phi__reads_deep(phi__reads *r) {
    bool shown = r->reader->shown;
    size_t n = r->count;
    /* With any other input than a pipe or a text, "< /dev/null", rg looks at files. */
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

/* A pattern of files. False: it begins with ! and leaves them out, or it is empty. */
static bool phi__reads_glob(phi__reads *r, phi_str glob) {
    phi__buf choices;
    size_t at = 0;
    if (!phi__reads_narrows(glob)) return false;
    if (r->reader == NULL || !r->reader->shown) {
        phi__reads_add(r, PHI__LIT("."), "/**", glob, false);
        return true;
    }
    if (r->all) return true;
    /* each choice that the braces of a pattern leave; all files where these are too many */
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

/* -g PATTERN of rg, --include=PATTERN of grep: true if it narrows the search. */
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

/* A long option of a search at *i, and its value where that is the next word. */
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

/* An option at *i, and its value where that is the next word. */
static void phi__reads_option(phi__reads *r, size_t *i) {
    phi_str text = r->c->words[*i].text;
    bool searches = r->reader->searches;
    size_t digits = 0; /* of -999 */
    for (size_t k = 1; k < text.len && text.at[k] != '\0'; k++) {
        char c = text.at[k];
        digits = c >= '0' && c <= '9' ? digits + 1 : 0;
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
    for (size_t i = 0; r->joins && i < r->sought.len; i++) /* foo[\s\S]* */
        if (r->sought.at[i] != '\0' && strchr("*+{", r->sought.at[i]) != NULL) r->dumps = true;
    if (r->deep && !globs) phi__reads_deep(r);
}

/* ---- git ---- */

static const phi__reads_program phi__reads_git_grep = {"", NULL, "", "ABCmef", true, false, false};

/* Patterns of files, which git finds by itself; in "git grep" behind what it looks for. */
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

/* ---- for other files ---- */

PHI__FN phi_status phi__reads_also(phi_arena *arena, phi__sh_command *command) {
    phi__reads r = PHI_ZERO;
    if (command->count < 2 || !command->words[0].known) return PHI_OK;
    phi_str name = phi__names_last(command->words[0].text);
    r.arena = arena;
    r.c = command;
    if (phi__str_is(name, "git")) phi__reads_git(&r);
    for (size_t i = 0; i < PHI__COUNT(phi__reads_programs); i++) {
        r.reader = &phi__reads_programs[i];
        if (!phi__among(name, r.reader->names)) continue;
        r.deep = r.reader->deep == NULL;
        phi__reads_operands(&r);
        /* diff of a directory and a file looks at the file of this name in the directory */
        for (size_t k = 0; phi__str_is(name, "diff") && r.count == 2 && k < 2; k++)
            phi__reads_add(&r, r.operands[k]->text, "/", phi__names_last(r.operands[1 - k]->text),
                           false);
    }
    return r.lost ? PHI_NO_MEMORY : PHI_OK;
}
