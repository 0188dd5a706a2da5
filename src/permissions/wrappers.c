/* wrappers.c - programs that run others: the commands that they run are added to the list.

   Options that are not listed here may take a value, which would be mistaken for the command: such
   a program is not seen through, and stays a command of its own. */
#include "permissions/shell_in.h"

typedef struct phi__wrapper {
    const char *name;
    const char *flags, *values; /* letters of options without and with a value */
    unsigned operands;          /* before the command */
    bool assigns;               /* NAME=value may stand before the command */
    bool adds;                  /* words that are not known come behind those of the command */
    bool opaque;                /* it changes how the command runs: it is decided on as well */
    const char *risky;          /* options that make it so */
    char dir;                   /* the one that names the command's directory; NUL: none */
} phi__wrapper;

static const phi__wrapper phi__wrappers[] = {
    {"env", "iv0", "uC", 0, true, false, false, "Ciu", 'C'},
    {"nohup", "", "", 0, false, false, false, "", 0},
    {"exec", "cl", "a", 0, false, false, false, "acl", 0},
    {"command", "p", "", 0, false, false, false, "", 0},
    {"builtin", "", "", 0, false, false, false, "", 0},
    {"nice", "0123456789", "n", 0, false, false, false, "", 0},
    {"ionice", "t", "cn", 0, false, false, false, "", 0},
    {"timeout", "fpv", "ks", 1, false, false, false, "", 0},
    {"stdbuf", "", "ioe", 0, false, false, false, "", 0},
    {"setsid", "cfw", "", 0, false, false, false, "", 0},
    {"time", "apqv", "fo", 0, false, false, false, "o", 0},
    {"busybox", "", "", 0, false, false, false, "", 0},
    {"toybox", "", "", 0, false, false, false, "", 0},
    {"xargs", "0oprtx", "EILPadns", 0, false, true, false, "Ia", 0},
    {"sudo", "AEHPSbikns", "CDRTUghpru", 0, true, false, true, "", 'D'},
    {"doas", "Lns", "Cu", 0, false, false, true, "", 0},
};

typedef struct phi__wrapping {
    phi_arena *arena;
    phi__shell *out;
    phi__shell_command command; /* the program that runs others */
    size_t index;               /* its place */
    bool lost;                  /* no memory */
    bool risky;                 /* it has an option that may change what runs */
} phi__wrapping;

static bool phi__wrappers_is(const phi__shell_word *word, const char *text) {
    return word->known && phi__str_is(word->text, text);
}

/* The name of a program, without its directory; empty: not known. */
static phi_str phi__wrappers_name(const phi__shell_command *command) {
    phi_str name = phi__str("", 0);
    size_t i;
    if (command->count == 0 || !command->words[0].known) return name;
    name = command->words[0].text;
    for (i = name.len; i > 0; i--)
        if (name.at[i - 1] == '/') return phi__str(name.at + i, name.len - i);
    return name;
}

static phi__shell_command *phi__wrappers_self(const phi__wrapping *w) {
    return &w->out->commands[w->index];
}

static void phi__wrappers_unknown(const phi__wrapping *w, const char *why) {
    if (w->out->unknown == NULL) w->out->unknown = why;
}

static void phi__wrappers_doubt(const phi__wrapping *w, const char *why) {
    if (w->out->doubt == NULL) w->out->doubt = why;
}

static bool phi__wrappers_deep(const phi__wrapping *w) {
    if (w->command.level + 1 < PHI__SHELL_LEVELS) return false;
    phi__wrappers_unknown(w, "too many programs run one another");
    return true;
}

/* The words from `first` on are a command. */
static phi_status phi__wrappers_words(const phi__wrapping *w, size_t first, size_t end,
                                      size_t assigned) {
    phi__shell_command inner = w->command;
    if (phi__wrappers_deep(w)) return PHI_OK;
    inner.words += first;
    inner.count = end - first;
    inner.assigned = w->command.words + assigned;
    inner.assigned_count = first - assigned;
    inner.redirects = NULL;
    inner.redirect_count = 0;
    inner.also = NULL;
    inner.also_count = 0;
    inner.level++;
    return phi__shell_parse_push(w->arena, w->out, &inner) ? PHI_OK : PHI_NO_MEMORY;
}

static phi_status phi__wrappers_line(const phi__wrapping *w, phi_str line) {
    size_t i = w->out->count;
    phi_status status;
    if (phi__wrappers_deep(w)) return PHI_OK;
    status = phi__shell_parse_line(w->arena, line, &w->command, w->out);
    for (; w->command.prints && i < w->out->count; i++) {
        w->out->commands[i].pipe_from = w->command.pipe_from;
        w->out->commands[i].prints = true;
    }
    return status;
}

/* ---- options ---- */

/* The command runs in this directory. False: no memory, which the caller notes. */
static bool phi__wrappers_moves(phi__wrapping *w, const phi__shell_word *dir) {
    w->command.dirs = phi__dirs_go(w->arena, w->out, w->command.dirs, dir);
    w->lost = w->command.dirs == NULL;
    return !w->lost;
}

/* A cluster of short options at *i. False: one of them is not known. */
static bool phi__wrappers_short(phi__wrapping *w, const phi__wrapper *wrapper, size_t *i) {
    phi_str text = w->command.words[*i].text;
    phi__shell_word value;
    size_t k;
    for (k = 1; k < text.len; k++) {
        if (text.at[k] == '\0') return false;
        if (strchr(wrapper->risky, text.at[k]) != NULL) w->risky = true;
        if (strchr(wrapper->flags, text.at[k]) != NULL) continue;
        if (strchr(wrapper->values, text.at[k]) == NULL) return false;
        if (k + 1 == text.len) (*i)++; /* the next word is its value */
        if (*i >= w->command.count || !w->command.words[*i].known) return false;
        value = w->command.words[*i];
        if (k + 1 < text.len) value.text = phi__str(text.at + k + 1, text.len - k - 1);
        return text.at[k] != wrapper->dir || phi__wrappers_moves(w, &value);
    }
    return true;
}

/* *i: behind the options. False: they are not understood. */
static bool phi__wrappers_options(phi__wrapping *w, const phi__wrapper *wrapper, size_t *i) {
    for (; *i < w->command.count; (*i)++) {
        const phi__shell_word *word = &w->command.words[*i];
        if (word->text.len == 0 || word->text.at[0] != '-') return word->known;
        if (!word->known) return false;
        if (word->text.len == 1) w->risky = true; /* env -: the same as -i */
        if (phi__str_is(word->text, "--")) {
            (*i)++;
            return true;
        }
        if (word->text.len > 1 && word->text.at[1] == '-') {
            if (memchr(word->text.at, '=', word->text.len) == NULL ||
                phi__str_starts(word->text, "--sp") || phi__str_starts(word->text, "--s="))
                return false; /* env --split-string, and its shorter spellings */
            w->risky = true;
            if (wrapper->dir != 0 && phi__str_starts(word->text, "--ch")) {
                const char *at = (const char *)memchr(word->text.at, '=', word->text.len) + 1;
                phi__shell_word dir = *word;
                dir.text = phi__str(at, (size_t)(word->text.at + word->text.len - at));
                if (!phi__wrappers_moves(w, &dir)) return false;
            }
        } else if (!phi__wrappers_short(w, wrapper, i))
            return false;
    }
    return true;
}

static bool phi__wrappers_assigns(const phi__shell_word *word) {
    return word->text.len > 0 && word->text.at[0] != '=' &&
           memchr(word->text.at, '=', word->text.len) != NULL;
}

/* Words that xargs adds. */
static phi_status phi__wrappers_add_words(phi__wrapping *w) {
    size_t n = w->command.count;
    phi__shell_word *words =
        (phi__shell_word *)phi_arena_alloc(w->arena, phi__mul(n + 1, sizeof *words));
    if (words == NULL) return PHI_NO_MEMORY;
    memcpy(words, w->command.words, n * sizeof *words);
    memset(&words[n], 0, sizeof words[n]);
    words[n].text = PHI__LIT("$@");
    w->command.words = words;
    w->command.count = n + 1;
    return PHI_OK;
}

static phi_status phi__wrappers_plain(phi__wrapping *w, const phi__wrapper *wrapper) {
    size_t i = 1, k, assigned;
    w->risky = false;
    if (!phi__wrappers_options(w, wrapper, &i)) return w->lost ? PHI_NO_MEMORY : PHI_OK;
    for (k = 0; k < wrapper->operands; k++)
        if (i >= w->command.count || !w->command.words[i++].known) return PHI_OK;
    assigned = i;
    while (wrapper->assigns && i < w->command.count && phi__wrappers_assigns(&w->command.words[i]))
        i++;
    if (i >= w->command.count) return PHI_OK;
    phi__wrappers_self(w)->wraps = !wrapper->opaque && !w->risky;
    if (wrapper->adds && phi__wrappers_add_words(w) != PHI_OK) return PHI_NO_MEMORY;
    return phi__wrappers_words(w, i, w->command.count, assigned);
}

/* ---- shells ---- */

/* Options that change what a line means (keyword, history, interactive shells and their start
   files) are decided on as well. */
static bool phi__wrappers_plain_option(phi_str name) {
    static const char *const names[] = {"errexit", "nounset", "pipefail", "xtrace"};
    size_t i;
    for (i = 0; i < PHI__COUNT(names); i++)
        if (phi__str_is(name, names[i])) return true;
    return false;
}

/* The word behind -c and all options; 0: there is none, or the options are not understood. */
static size_t phi__wrappers_script(phi__wrapping *w, bool *operands) {
    bool script = false;
    size_t i, k;
    *operands = false;
    for (i = 1; i < w->command.count; i++) {
        const phi__shell_word *word = &w->command.words[i];
        phi_str text = word->text;
        if (text.len < 2 || (text.at[0] != '-' && text.at[0] != '+')) break;
        if (!word->known) break;
        if (phi__str_is(text, "--norc") || phi__str_is(text, "--noprofile") ||
            phi__str_is(text, "--posix"))
            continue;
        if (phi__str_is(text, "--login")) {
            w->risky = true;
            continue;
        }
        for (k = 1; k < text.len; k++) {
            if (text.at[k] == '\0' || strchr("cefhlmnopuvxisE", text.at[k]) == NULL) {
                *operands = true;
                return 0;
            }
            if (text.at[k] == 'c' && text.at[0] == '-') script = true;
            if (text.at[k] == 'i' || text.at[k] == 'l') w->risky = true;
            if (text.at[k] == 'o' && (++i >= w->command.count || !w->command.words[i].known)) {
                *operands = true;
                return 0;
            }
            if (text.at[k] == 'o' && !phi__wrappers_plain_option(w->command.words[i].text))
                w->risky = true;
        }
    }
    *operands = i < w->command.count;
    return script && *operands && w->command.words[i].known ? i : 0;
}

static phi_status phi__wrappers_shell(phi__wrapping *w, phi_str name) {
    bool operands;
    size_t script;
    w->risky = false;
    script = phi__wrappers_script(w, &operands);
    const phi__shell_word *input = w->command.input;
    w->command.posix = w->command.posix || !phi__str_is(name, "bash");
    if (phi__str_is(name, "zsh") || phi__str_is(name, "ksh"))
        phi__wrappers_doubt(w, "it is a line of another shell");
    if (script > 0) {
        phi_status status = phi__wrappers_line(w, w->command.words[script].text);
        phi__wrappers_self(w)->wraps = !w->risky;
        w->command.sort = PHI__SHELL_SUSPECT; /* the words after it: '"$@"' may run them */
        return status != PHI_OK || script + 1 == w->command.count
                   ? status
                   : phi__wrappers_words(w, script + 1, w->command.count, script + 1);
    }
    if (operands || input == NULL || !input->known || w->command.inputs != 1) return PHI_OK;
    phi__wrappers_self(w)->wraps = !w->risky;
    return phi__wrappers_line(w, input->text);
}

/* A line that the shell itself runs: after a cd in it, other commands run elsewhere. */
static phi_status phi__wrappers_here(const phi__wrapping *w, phi_str line) {
    const phi__shell_dirs *visited = w->out->visited;
    phi_status status = phi__wrappers_line(w, line);
    if (w->out->visited != visited) w->out->lost = true;
    return status;
}

/* eval: its words are one line; trap: its first word is. */
static phi_status phi__wrappers_eval(phi__wrapping *w, size_t first, size_t end) {
    phi__buf line;
    phi_str text;
    size_t i;
    bool good;
    for (i = first; i < end; i++)
        if (!w->command.words[i].known) {
            phi__wrappers_unknown(w, "a text that is not known is run as a command line");
            return PHI_OK;
        }
    phi__buf_init(&line, w->arena->memory);
    for (i = first; i < end; i++) {
        if (i > first) phi__buf_char(&line, ' ');
        phi__buf_add_str(&line, w->command.words[i].text);
    }
    good = !line.failed && phi__arena_str(w->arena, phi__buf_str(&line), &text);
    phi__buf_free(&line);
    if (!good) return PHI_NO_MEMORY;
    phi__wrappers_self(w)->wraps = true;
    return phi__wrappers_here(w, text);
}

static phi_status phi__wrappers_trap(phi__wrapping *w) {
    size_t first = 1;
    if (first < w->command.count && phi__wrappers_is(&w->command.words[first], "--")) first++;
    if (first + 1 >= w->command.count || phi__wrappers_is(&w->command.words[first], "-"))
        return PHI_OK;
    w->out->later = true;
    return phi__wrappers_eval(w, first, first + 1);
}

/* ---- find ---- */

enum { PHI__WRAPPERS_STARTS_MOST = 4 }; /* directories of a find, each with its patterns */

static bool phi__wrappers_one_of(const phi__shell_word *word, const char *const *texts) {
    for (; *texts != NULL; texts++)
        if (phi__wrappers_is(word, *texts)) return true;
    return false;
}

/* Where the expression begins, behind the directories. *count: how many these are, from *from. */
static size_t phi__wrappers_starts(const phi__shell_command *c, size_t *from, size_t *count) {
    size_t i = 1;
    while (i < c->count && c->words[i].known && phi__str_starts(c->words[i].text, "-") &&
           c->words[i].text.len == 2 && strchr("HLP", c->words[i].text.at[1]) != NULL)
        i++;
    *from = i;
    while (i < c->count && !phi__str_starts(c->words[i].text, "-") &&
           !phi__wrappers_is(&c->words[i], "(") && !phi__wrappers_is(&c->words[i], "!"))
        i++;
    *count = i - *from;
    return i;
}

/* The pattern that all names match when the word at `exec` is reached; "": it is not certain. */
static phi_str phi__wrappers_names(const phi__shell_command *c, size_t begin, size_t exec) {
    static const char *const pairs[] = {"-type", "-maxdepth", "-mindepth", "-size", "-mtime", NULL};
    static const char *const names[] = {"-name", "-iname", NULL};
    static const char *const others[] = {"-o", "-or", ",", NULL};
    size_t i = begin, k;
    while (i + 1 < exec && phi__wrappers_one_of(&c->words[i], pairs)) i += 2;
    if (i + 1 >= exec || !phi__wrappers_one_of(&c->words[i], names) || !c->words[i + 1].known)
        return phi__str("", 0);
    for (k = i + 2; k < exec; k++)
        if (!c->words[k].known || phi__wrappers_one_of(&c->words[k], others))
            return phi__str("", 0);
    return c->words[i + 1].text;
}

/* A pattern of what find may name: in the directory itself, or below it. A star that a name begins
   with matches a dot, too; names are looked for in hidden directories as well. */
static bool phi__wrappers_found(const phi__wrapping *w, phi_str start, phi_str names, bool below,
                                phi__shell_word *out) {
    phi__buf text;
    bool good;
    memset(out, 0, sizeof *out);
    phi__buf_init(&text, w->arena->memory);
    phi__buf_add_str(&text, start);
    phi__buf_text(&text, below ? "/**" : "/");
    if (names.len > 0) out->hidden = PHI__WILDCARD_ENTERED;
    if (below && names.len > 0) phi__buf_char(&text, '/');
    if (names.len > 0 && strchr("*?[", names.at[0]) != NULL) phi__buf_text(&text, "**");
    phi__reads_put(&text, names);
    good = !text.failed && phi__arena_str(w->arena, phi__buf_str(&text), &out->text);
    phi__buf_free(&text);
    return good;
}

/* The files that find may put in place of {}: two patterns for each directory. */
static phi_status phi__wrappers_all_found(const phi__wrapping *w, phi_str names,
                                          phi__shell_word *found, size_t *count) {
    size_t from, starts, i, n = 0;
    (void)phi__wrappers_starts(&w->command, &from, &starts);
    for (i = 0; i < starts || i == 0; i++) {
        phi_str start = PHI__LIT(".");
        if (starts > PHI__WRAPPERS_STARTS_MOST) start = phi__str("", 0); /* anywhere */
        if (starts > 0 && starts <= PHI__WRAPPERS_STARTS_MOST)
            start = w->command.words[from + i].text;
        if (!phi__wrappers_found(w, start, names, false, &found[n++]) ||
            !phi__wrappers_found(w, start, names, true, &found[n++]))
            return PHI_NO_MEMORY;
        if (start.len == 0) break;
    }
    *count = n;
    return PHI_OK;
}

/* A command of an -exec, with the files that find may put in place of each {}. */
static phi_status phi__wrappers_exec(phi__wrapping *w, size_t begin, size_t exec, size_t end) {
    phi__shell_command old = w->command;
    phi__shell_word found[2 * PHI__WRAPPERS_STARTS_MOST], *words;
    size_t count, i, k, n = 0, most = end - exec - 1;
    phi_status status =
        phi__wrappers_all_found(w, phi__wrappers_names(&old, begin, exec), found, &count);
    if (status != PHI_OK) return status;
    if (phi__add(w->out->words, phi__mul(most, count)) > PHI__SHELL_WORDS_MOST) {
        phi__wrappers_unknown(w, "it has too many words");
        return PHI_OK;
    }
    words = (phi__shell_word *)phi_arena_alloc(w->arena, phi__mul(most * count, sizeof *words));
    if (words == NULL) return PHI_NO_MEMORY;
    for (i = exec + 1; i < end; i++) {
        bool all = phi__wrappers_is(&old.words[i], "{}");
        for (k = 0; k < (all ? count : 1); k++) words[n++] = all ? found[k] : old.words[i];
        /* a file's name in the midst of a text may be a command */
        if (!all && phi__str_find(old.words[i].text, 0, "{}") != SIZE_MAX)
            words[n - 1].known = false;
    }
    w->out->words += n;
    w->command.words = words;
    w->command.count = n;
    status = phi__wrappers_words(w, 0, n, 0);
    w->command = old;
    return status;
}

/* Each -exec of a find, up to its ";" or "+". A + ends it behind {} only; in busybox, anywhere.
   What stands behind is looked at again, for the word may be the value of another test. */
static phi_status phi__wrappers_find(phi__wrapping *w) {
    static const char *const here[] = {"-exec", "-ok", NULL};
    static const char *const there[] = {"-execdir", "-okdir", NULL};
    const phi__shell_command *c = &w->command;
    size_t i, k, from, starts, begin = phi__wrappers_starts(c, &from, &starts);
    for (i = 1; i < c->count; i++) {
        bool moved = phi__wrappers_one_of(&c->words[i], there), ended = false;
        if (!moved && !phi__wrappers_one_of(&c->words[i], here)) continue;
        if (moved) w->out->moved = true;
        for (k = i + 1; !ended; k++) {
            bool plus = k < c->count && phi__wrappers_is(&c->words[k], "+");
            ended = k == c->count || phi__wrappers_is(&c->words[k], ";") ||
                    (plus && k > i + 1 && phi__wrappers_is(&c->words[k - 1], "{}"));
            if ((ended || plus) && k > i + 1 && phi__wrappers_exec(w, begin, i, k) != PHI_OK)
                return PHI_NO_MEMORY;
        }
    }
    return PHI_OK;
}

/* su -c LINE. */
static phi_status phi__wrappers_su(phi__wrapping *w) {
    size_t i;
    for (i = 1; i + 1 < w->command.count; i++)
        if (phi__wrappers_is(&w->command.words[i], "-c")) {
            phi_status status = phi__wrappers_eval(w, i + 1, i + 2);
            phi__wrappers_self(w)->wraps = false;
            return status;
        }
    return PHI_OK;
}

static bool phi__wrappers_any(phi_str name, const char *const *names) {
    for (; *names != NULL; names++)
        if (phi__str_is(name, *names)) return true;
    return false;
}

static phi_status phi__wrappers_open(phi__wrapping *w) {
    static const char *const shells[] = {"sh", "bash", "dash", "zsh", "ksh", "ash", NULL};
    phi_str name = phi__wrappers_name(&w->command);
    size_t i;
    if (phi__wrappers_any(name, shells)) return phi__wrappers_shell(w, name);
    if (phi__str_is(name, "eval") && w->command.count > 1)
        return phi__wrappers_eval(w, 1, w->command.count);
    if (phi__str_is(name, "trap")) return phi__wrappers_trap(w);
    if (phi__str_is(name, "find")) return phi__wrappers_find(w);
    if (phi__str_is(name, "su")) return phi__wrappers_su(w);
    for (i = 0; i < PHI__COUNT(phi__wrappers); i++)
        if (phi__str_is(name, phi__wrappers[i].name))
            return phi__wrappers_plain(w, &phi__wrappers[i]);
    return PHI_OK;
}

/* Whether a name finds the program of the system: "./env" may be anything. */
static bool phi__wrappers_system(phi_str name) {
    size_t skip = phi__str_starts(name, "/usr/bin/") ? 9 : phi__str_starts(name, "/bin/") ? 5 : 0;
    return name.len > skip && memchr(name.at + skip, '/', name.len - skip) == NULL;
}

/* ---- for other files ---- */

PHI__FN phi_status phi__wrappers_parse(phi_arena *arena, phi_str line, phi__shell *out) {
    phi__wrapping w;
    phi_status status;
    memset(out, 0, sizeof *out);
    memset(&w, 0, sizeof w);
    w.arena = arena;
    w.out = out;
    status = phi__shell_parse_line(arena, line, NULL, out);
    for (w.index = 0; w.index < out->count && status == PHI_OK; w.index++) {
        status = phi__reads_also(arena, &out->commands[w.index]);
        if (status == PHI_OK && out->commands[w.index].sort == PHI__SHELL_RUNS)
            status = phi__suspects_braces(arena, out, w.index);
        w.command = out->commands[w.index];
        if (status == PHI_OK) status = phi__wrappers_open(&w);
        if (w.command.count > 0 && !phi__wrappers_system(w.command.words[0].text))
            out->commands[w.index].wraps = false;
    }
    if (out->later && out->visited != NULL) out->lost = true;
    if (status == PHI_OK) status = phi__suspects_find(arena, out);
    if (out->unknown == NULL) out->unknown = out->doubt;
    return status;
}
