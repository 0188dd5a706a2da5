/* glob.c - patterns of paths and ignore files. Matching needs no recursion: a mismatch retries only
   the last star, then the last double star. An earlier star of the same path part cannot help,
   because the last one can skip all that the earlier one could. A star of an earlier part ends at
   that part's slash. To retry an earlier double star would only let the last one begin later. */
#include "tools/match_in.h"

/* ---- sets ---- */

static bool phi__glob_in_class(phi_str name, unsigned char c) {
    bool lower = c >= 'a' && c <= 'z', large = c >= 'A' && c <= 'Z', digit = c >= '0' && c <= '9';
    bool graph = c > ' ' && c < 0x7F;
    if (phi__str_is(name, "alpha")) return lower || large;
    if (phi__str_is(name, "digit")) return digit;
    if (phi__str_is(name, "alnum")) return lower || large || digit;
    if (phi__str_is(name, "upper")) return large;
    if (phi__str_is(name, "lower")) return lower;
    if (phi__str_is(name, "space")) return c == ' ' || (c >= '\t' && c <= '\r');
    if (phi__str_is(name, "blank")) return c == ' ' || c == '\t';
    if (phi__str_is(name, "cntrl")) return c < ' ' || c == 0x7F;
    if (phi__str_is(name, "graph")) return graph;
    if (phi__str_is(name, "print")) return graph || c == ' ';
    if (phi__str_is(name, "punct")) return graph && !lower && !large && !digit;
    return phi__str_is(name, "xdigit") && (digit || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f'));
}

/* Tests c against one part of a set: the class, character or range at `at`. Returns the part's
   end. */
static size_t phi__glob_part(phi_str p, size_t at, unsigned char c, bool *in) {
    unsigned char low, high;
    if (p.at[at] == '[' && at + 1 < p.len && p.at[at + 1] == ':') {
        /* The longest name of a class has six letters. Without a limit, "[:[:" takes quadratic
           time. */
        size_t most = phi__min(p.len, at + 10),
               end = phi__str_find(phi__str(p.at, most), at + 2, ":]");
        if (end != SIZE_MAX) {
            if (phi__glob_in_class(phi__str(p.at + at + 2, end - at - 2), c)) *in = true;
            return end + 2;
        }
    }
    if (p.at[at] == '\\' && at + 1 < p.len) at++;
    low = high = (unsigned char)p.at[at++];
    if (at + 1 < p.len && p.at[at] == '-' && p.at[at + 1] != ']') {
        at++;
        if (p.at[at] == '\\' && at + 1 < p.len) at++;
        high = (unsigned char)p.at[at++];
    }
    if (c >= low && c <= high) *in = true;
    return at;
}

/* Tests c against the set whose '[' is at `at`. Returns the set's end, or 0 if it is not closed. */
static size_t phi__glob_set(phi_str p, size_t at, char c, bool *in) {
    size_t first = at + 1;
    bool outside = first < p.len && (p.at[first] == '!' || p.at[first] == '^');
    *in = false;
    if (outside) first++;
    for (at = first; at < p.len && (p.at[at] != ']' || at == first);)
        at = phi__glob_part(p, at, (unsigned char)c, in);
    *in = *in != outside;
    return at < p.len ? at + 1 : 0;
}

/* ---- matching ---- */

/* Matches c with the pattern's element at `at`, which is not a star. Returns the element's end; 0:
   no match. */
static size_t phi__glob_one(phi_str p, size_t at, char c, size_t *work) {
    bool in;
    if (p.at[at] == '?') return c == '/' ? 0 : at + 1;
    if (p.at[at] == '[') {
        size_t end = phi__glob_set(p, at, c, &in);
        *work += (end != 0 ? end : p.len) - at;
        if (end != 0) return in && c != '/' ? end : 0;
    }
    if (p.at[at] == '\\' && at + 1 < p.len) at++;
    return p.at[at] == c ? at + 1 : 0;
}

/* True if a double star at `at` is a whole part of the pattern. */
static bool phi__glob_is_deep(phi_str p, size_t at) {
    return at + 1 < p.len && p.at[at + 1] == '*' && (at == 0 || p.at[at - 1] == '/') &&
           (at + 2 == p.len || p.at[at + 2] == '/');
}

PHI__FN bool phi__glob_match(phi_str p, phi_str s, size_t *work) {
    size_t at = 0, i = 0, next;
    size_t star = SIZE_MAX, star_at = 0, deep = SIZE_MAX, deep_at = 0;
    for (;;) {
        if (at < p.len && p.at[at] == '*') {
            if (phi__glob_is_deep(p, at)) {
                if (at + 2 == p.len) return at == 0 || i < s.len;
                deep = at += 3;
                deep_at = i;
                star = SIZE_MAX;
                continue;
            }
            while (at < p.len && p.at[at] == '*') at++;
            star = at;
            star_at = i;
            continue;
        }
        if (at == p.len && i == s.len) return true;
        next = at < p.len && i < s.len ? phi__glob_one(p, at, s.at[i], work) : 0;
        (*work)++;
        if (next != 0) {
            at = next;
            i++;
        } else if (star != SIZE_MAX && star_at < s.len && s.at[star_at] != '/') {
            at = star;
            i = ++star_at;
        } else if (deep != SIZE_MAX) {
            const char *slash = (const char *)memchr(s.at + deep_at, '/', s.len - deep_at);
            if (slash == NULL) return false;
            at = deep;
            i = deep_at = (size_t)(slash - s.at) + 1;
            star = SIZE_MAX;
        } else {
            return false;
        }
    }
}

/* ---- braces ---- */

/* Returns the end of the element at `at`: an escape, a set, or one byte. SIZE_MAX: the set is not
   closed, or no byte follows the backslash. */
static size_t phi__glob_token(phi_str p, size_t at) {
    bool in;
    if (p.at[at] == '\\') return at + 1 < p.len ? at + 2 : SIZE_MAX;
    if (p.at[at] != '[') return at + 1;
    size_t end = phi__glob_set(p, at, '\0', &in);
    return end != 0 ? end : SIZE_MAX;
}

/* Finds the first opening brace and the brace that closes it; *open is SIZE_MAX if there are none.
   Returns NULL or an error message. */
static const char *phi__glob_find(phi_str p, size_t *open, size_t *close) {
    size_t at = 0;
    int depth = 0;
    *open = *close = SIZE_MAX;
    while (at < p.len) {
        size_t next = phi__glob_token(p, at);
        if (next == SIZE_MAX)
            return p.at[at] == '[' ? "a set without its closing bracket" : "a backslash at the end";
        if (p.at[at] == '{' && depth++ == 0 && *open == SIZE_MAX) *open = at;
        if (p.at[at] == '}' && depth-- == 0) return "a closing brace without its opening one";
        if (p.at[at] == '}' && depth == 0 && *close == SIZE_MAX) *close = at;
        at = next;
    }
    return depth != 0 ? "a brace that does not close" : NULL;
}

/* Replaces the pattern of `len` bytes at `from` by one pattern for each choice in its first
   braces. */
static void phi__glob_split(phi__buf *out, size_t from, size_t len, size_t open, size_t close) {
    phi__buf whole;
    size_t begin = open + 1;
    int depth = 0;
    phi__buf_init(&whole, out->memory);
    phi__buf_add(&whole, out->at + from, len);
    if (whole.failed) {
        out->failed = true;
        return;
    }
    phi_str p = phi__str(whole.at, whole.len); /* p includes the NUL */
    out->len -= len;
    memmove(out->at + from, out->at + from + len, out->len - from);
    for (size_t at = begin; at <= close; at = phi__glob_token(p, at)) {
        char c = p.at[at];
        if (c == '{') depth++;
        if (at == close || (c == ',' && depth == 0)) {
            phi__buf_add(out, p.at, open);
            phi__buf_add(out, p.at + begin, at - begin);
            phi__buf_add(out, p.at + close + 1, p.len - close - 1);
            begin = at + 1;
        } else if (c == '}')
            depth--;
    }
    phi__buf_free(&whole);
}

PHI__FN const char *phi__glob_expand(phi__buf *out, phi_str pattern) {
    size_t begin = out->len, from = begin, open, close, choices = 0, splits = 0;
    if (pattern.len > PHI__GLOB_PATTERN) return "it is longer than 2,048 bytes";
    const char *wrong = phi__glob_find(pattern, &open, &close);
    if (wrong == NULL && pattern.len > 0 && memchr(pattern.at, '\0', pattern.len) != NULL)
        wrong = "a NUL";
    if (wrong != NULL) return wrong;
    phi__buf_add_str(out, pattern);
    phi__buf_char(out, '\0');
    while (!out->failed && from < out->len) {
        phi_str p = phi_str_of(out->at + from);
        (void)phi__glob_find(p, &open, &close);
        if (open == SIZE_MAX) {
            from += p.len + 1;
            choices++;
        } else {
            phi__glob_split(out, from, p.len + 1, open, close);
            splits++;
        }
        if (choices > PHI__GLOB_CHOICES || splits > PHI__GLOB_SPLITS ||
            out->len - begin > PHI__GLOB_BYTES) {
            out->len = begin;
            return "its braces leave too many choices";
        }
    }
    return NULL;
}

PHI__FN bool phi__glob_any(phi_str choices, phi_str path, size_t *work) {
    size_t at = 0;
    while (at < choices.len) {
        const char *end = (const char *)memchr(choices.at + at, '\0', choices.len - at);
        size_t n = end != NULL ? (size_t)(end - choices.at) - at : choices.len - at;
        if (phi__glob_match(phi__str(choices.at + at, n), path, work)) return true;
        at += n + 1;
    }
    return false;
}

PHI__FN phi_str phi__glob_name(phi_str path) {
    size_t name = path.len;
    while (name > 0 && path.at[name - 1] != '/') name--;
    return phi__str_from(path, name);
}

/* ======== The rules of .gitignore files: which paths are left out.

   A rule is a line. "#" begins a comment, and "!" takes a path back in. A slash at the beginning or
   in the middle binds the pattern to the file's directory. A pattern with a slash at the end
   matches only directories. Blanks at the end are removed, except a blank after a backslash. The
   last rule that matches decides. match_in.h describes the syntax of patterns. A line that is no
   valid pattern is ignored. docs/tools.md says which details follow ripgrep, and which follow
   git. */

/* units that a rule costs, besides those for the bytes compared */
enum { PHI__IGNORE_RULE = 8 };

static bool phi__ignore_is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

PHI__FN void phi__ignore_init(phi__ignore *ignore, phi_memory *memory) {
    memset(ignore, 0, sizeof *ignore);
    ignore->memory = memory;
    phi__buf_init(&ignore->text, memory);
}

PHI__FN void phi__ignore_free(phi__ignore *ignore) {
    phi__buf_free(&ignore->text);
    phi__free(ignore->memory, ignore->rules, ignore->cap * sizeof *ignore->rules);
    ignore->rules = NULL;
    ignore->count = ignore->cap = ignore->outs = 0;
}

PHI__FN phi_status phi__ignore_add_line(phi__ignore *ignore, phi_str line, const char **wrong) {
    phi__ignore_rule *rules;
    phi__ignore_rule rule = PHI_ZERO;
    *wrong = NULL;
    if (line.len > 0 && line.at[0] == '#') return PHI_OK;
    /* Remove the blanks at the end, but not a blank after a backslash. */
    while (line.len > 0 && phi__ignore_is_blank(line.at[line.len - 1])) {
        size_t slashes = 0;
        while (slashes + 1 < line.len && line.at[line.len - 2 - slashes] == '\\') slashes++;
        if (slashes % 2 == 1) break;
        line.len--;
    }
    rule.in = line.len > 0 && line.at[0] == '!';
    if (rule.in) line = phi__str_from(line, 1);
    rule.name_alone = true;
    if (line.len > 0 && line.at[line.len - 1] == '/') {
        rule.directories = true;
        line.len--;
    }
    if (line.len > 0 && memchr(line.at, '/', line.len) != NULL) rule.name_alone = false;
    if (line.len > 0 && line.at[0] == '/') line = phi__str_from(line, 1);
    if (line.len == 0) return PHI_OK;
    rules = (phi__ignore_rule *)phi__grow(ignore->memory, ignore->rules, &ignore->cap,
                                          ignore->count + 1, sizeof *rules);
    if (rules == NULL) return PHI_NO_MEMORY;
    ignore->rules = rules;
    rule.at = ignore->text.len;
    *wrong = phi__glob_expand(&ignore->text, line);
    if (*wrong != NULL) return PHI_BAD_ARG;
    if (ignore->text.failed) return PHI_NO_MEMORY;
    rule.len = ignore->text.len - rule.at;
    rules[ignore->count++] = rule;
    if (!rule.in) ignore->outs++;
    return PHI_OK;
}

PHI__FN phi_status phi__ignore_add(phi__ignore *ignore, phi_str file) {
    size_t at = phi__str_starts(file, "\xEF\xBB\xBF") ? 3 : 0;
    while (at < file.len) {
        const char *end = (const char *)memchr(file.at + at, '\n', file.len - at);
        size_t n = end != NULL ? (size_t)(end - file.at) - at : file.len - at;
        const char *wrong;
        if (phi__ignore_add_line(ignore, phi__str(file.at + at, n), &wrong) == PHI_NO_MEMORY)
            return PHI_NO_MEMORY;
        at += n + 1;
    }
    return PHI_OK;
}

PHI__FN phi__ignore_said phi__ignore_says(const phi__ignore *ignore, phi_str path, bool directory,
                                          size_t *left, size_t *units) {
    phi_str name = phi__glob_name(path);
    while (*left > 0 && *units > 0) {
        const phi__ignore_rule *rule = &ignore->rules[--*left];
        size_t work = PHI__IGNORE_RULE;
        bool matches = (directory || !rule->directories) &&
                       phi__glob_any(phi__str(ignore->text.at + rule->at, rule->len),
                                     rule->name_alone ? name : path, &work);
        *units -= phi__min(*units, work);
        if (matches) return rule->in ? PHI__IGNORE_IN : PHI__IGNORE_OUT;
    }
    return PHI__IGNORE_NONE;
}

/* ======== The ignore files of the directories from the file system's root to the walk's root. */

#ifndef PHI_NO_FILES

typedef enum phi__ignored_kind {
    PHI__IGNORED_RG,
    PHI__IGNORED_PLAIN,
    PHI__IGNORED_GIT,
    PHI__IGNORED_EXCLUDE
} phi__ignored_kind;

/* ---- reading ---- */

/* Reads one ignore file of a directory. A missing or unreadable file has no rules. */
static phi_status phi__ignored_read(phi__ignored *ignored, phi__ignored_level *level, size_t kind,
                                    phi__fd dir) {
    phi__file *file;
    phi__buf text;
    size_t got = 1;
    static const char *const names[PHI__IGNORED_KINDS] = {".rgignore", ".ignore", ".gitignore",
                                                          ".git/info/exclude"};
    phi_status status = phi__files_open_in(ignored->memory, dir, names[kind], &file, NULL);
    if (status != PHI_OK) return status == PHI_NO_MEMORY ? PHI_NO_MEMORY : PHI_OK;
    phi__buf_init(&text, ignored->memory);
    while (got > 0 && text.len < PHI__IGNORED_BYTES) {
        size_t room = phi__min(PHI__IGNORED_BYTES - text.len, 16384);
        char *to = phi__buf_reserve(&text, room);
        if (to == NULL || phi__files_read(file, to, room, &got, NULL) != PHI_OK) break;
        phi__buf_add_len(&text, got);
    }
    phi__files_close(file);
    /* Drop an incomplete last line, which would be another rule: "*.o" could become "*". */
    if (text.len >= PHI__IGNORED_BYTES)
        while (text.len > 0 && text.at[text.len - 1] != '\n') text.len--;
    ignored->spent += PHI__IGNORED_BYTE * text.len;
    status = text.failed ? PHI_NO_MEMORY : PHI_OK;
    if (status == PHI_OK && text.len > 0) {
        phi__ignore *rules = (phi__ignore *)phi__alloc(ignored->memory, sizeof *rules);
        level->files[kind] = rules;
        if (rules != NULL) {
            phi__ignore_init(rules, ignored->memory);
            status = phi__ignore_add(rules, phi__buf_str(&text));
            ignored->rules += rules->count;
        } else
            status = PHI_NO_MEMORY;
    }
    phi__buf_free(&text);
    return status;
}

static phi_status phi__ignored_fill(phi__ignored *ignored, phi__ignored_level *level, phi__fd dir) {
    phi_status status = PHI_OK;
    bool directory = false;
    level->git = phi__walk_has(dir, ".git", &directory);
    for (size_t kind = 0; kind < PHI__IGNORED_KINDS && status == PHI_OK; kind++)
        if (kind != PHI__IGNORED_EXCLUDE || directory)
            status = phi__ignored_read(ignored, level, kind, dir);
    return status;
}

/* ---- levels ---- */

static void phi__ignored_pop(phi__ignored *ignored) {
    phi__ignored_level *level = &ignored->levels[--ignored->count];
    for (size_t kind = 0; kind < PHI__IGNORED_KINDS; kind++) {
        phi__ignore *rules = level->files[kind];
        if (rules == NULL) continue;
        ignored->rules -= rules->count;
        phi__ignore_free(rules);
        phi__free(ignored->memory, rules, sizeof *rules);
    }
}

static phi__ignored_level *phi__ignored_push(phi__ignored *ignored, size_t from) {
    phi__ignored_level *levels = (phi__ignored_level *)phi__grow(
        ignored->memory, ignored->levels, &ignored->cap, ignored->count + 1, sizeof *levels);
    if (levels == NULL) return NULL;
    ignored->levels = levels;
    memset(&levels[ignored->count], 0, sizeof *levels);
    levels[ignored->count].from = from;
    return &levels[ignored->count++];
}

PHI__FN void phi__ignored_init(phi__ignored *ignored, phi_memory *memory) {
    memset(ignored, 0, sizeof *ignored);
    ignored->memory = memory;
    phi__buf_init(&ignored->path, memory);
}

PHI__FN void phi__ignored_free(phi__ignored *ignored) {
    while (ignored->count > 0) phi__ignored_pop(ignored);
    phi__free(ignored->memory, ignored->levels, ignored->cap * sizeof *ignored->levels);
    ignored->levels = NULL;
    ignored->cap = 0;
    phi__buf_free(&ignored->path);
    ignored->asked.open = false;
}

PHI__FN phi_status phi__ignored_above(phi__ignored *ignored, const char *place) {
    if (ignored->path.len == 0) {
        phi__buf_text(&ignored->path, place);
        if (place[0] == '\0' || place[strlen(place) - 1] != '/') phi__buf_char(&ignored->path, '/');
        if (ignored->path.failed) return PHI_NO_MEMORY;
        ignored->root = ignored->path.len;
        return PHI_BUSY;
    }
    size_t len = strlen(place), root = phi__path_root(place);
    size_t from = ignored->count > 0 ? ignored->levels[ignored->count - 1].from : root - 1;
    while (from < len && place[from] != '/') from++;
    if (from >= len || len <= root) return PHI_OK;
    phi__ignored_level *level = phi__ignored_push(ignored, from + 1);
    ignored->above = ignored->count;
    if (level == NULL) return PHI_NO_MEMORY;
    phi__fd dir = phi__walk_open_path(phi__str(place, phi__max(from, root)));
    if (dir < 0) return PHI_BUSY;
    phi_status status = phi__ignored_fill(ignored, level, dir);
    phi__walk_close(dir);
    return status == PHI_OK ? PHI_BUSY : status;
}

PHI__FN phi_status phi__ignored_enter(phi__ignored *ignored, uint32_t depth, phi__fd dir,
                                      phi_str path) {
    while (ignored->count > ignored->above + depth) phi__ignored_pop(ignored);
    phi__ignored_level *level = phi__ignored_push(ignored, ignored->root + path.len);
    if (level == NULL) return PHI_NO_MEMORY;
    return dir >= 0 ? phi__ignored_fill(ignored, level, dir) : PHI_OK;
}

static phi_status phi__ignored_ask(phi__ignored *ignored, uint32_t depth, phi_str path) {
    phi__ignored_asked *asked = &ignored->asked;
    while (ignored->count > ignored->above + depth) phi__ignored_pop(ignored);
    memset(asked, 0, sizeof *asked);
    if (ignored->rules == 0) return PHI_OK;
    ignored->path.len = ignored->root;
    phi__buf_add_str(&ignored->path, path);
    if (ignored->path.failed) return PHI_NO_MEMORY;
    for (size_t i = 0; i < ignored->count; i++)
        asked->in_git = asked->in_git || ignored->levels[i].git;
    asked->level = ignored->count;
    asked->left = SIZE_MAX;
    asked->open = true;
    return PHI_OK;
}

/* Asks the rules of one kind at one level. False: the units are used up. */
static bool phi__ignored_ask_kind(phi__ignored *ignored, const phi__ignored_level *level,
                                  bool directory, size_t *units) {
    phi__ignored_asked *asked = &ignored->asked;
    const phi__ignore *rules = level->files[asked->kind];
    phi_str whole = phi__buf_str(&ignored->path);
    phi__ignore_said *said = &asked->said[asked->kind];
    if (rules == NULL || *said != PHI__IGNORE_NONE) return true;
    if (asked->kind >= PHI__IGNORED_GIT && (!asked->in_git || asked->past_git)) return true;
    if (asked->left > rules->count) asked->left = rules->count;
    whole = phi__str(whole.at + level->from, whole.len - level->from);
    *said = phi__ignore_says(rules, whole, directory, &asked->left, units);
    return *said != PHI__IGNORE_NONE || asked->left == 0;
}

PHI__FN phi_status phi__ignored_says(phi__ignored *ignored, uint32_t depth, phi_str path,
                                     bool directory, size_t *units, phi__ignore_said *out) {
    phi__ignored_asked *asked = &ignored->asked;
    *out = PHI__IGNORE_NONE;
    if (!asked->open) {
        phi_status status = phi__ignored_ask(ignored, depth, path);
        if (status != PHI_OK || !asked->open) return status;
    }
    for (; asked->level > 0; asked->level--) {
        const phi__ignored_level *level = &ignored->levels[asked->level - 1];
        for (; asked->kind < PHI__IGNORED_KINDS; asked->kind++) {
            if (!phi__ignored_ask_kind(ignored, level, directory, units)) return PHI_BUSY;
            asked->left = SIZE_MAX;
        }
        asked->kind = 0;
        asked->past_git = asked->past_git || level->git;
    }
    asked->open = false;
    for (size_t kind = 0; kind < PHI__IGNORED_KINDS && *out == PHI__IGNORE_NONE; kind++)
        *out = asked->said[kind];
    return PHI_OK;
}

#endif
