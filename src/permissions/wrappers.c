/* wrappers.c - programs that run others: the commands that they run are added to the list.

   Options that are not listed here may take a value, which would be mistaken for the command: such
   a program is not seen through, and stays a command of its own. */
#include "permissions/shell_in.h"
#include "permissions/wildcard_in.h"

/* ======== The directories that the commands of a line may run in, as cd changes them. */

enum { PHI__DIRS_PATH_MOST = 4095 }; /* bytes */

/* Adds one that is not there yet. False: there are too many. */
static bool phi__dirs_add(phi__shell_dirs *dirs, const phi__shell_word *dir) {
    for (size_t i = 0; i < dirs->count; i++)
        if (phi_str_equal(dirs->at[i].text, dir->text)) return true;
    if (dirs->count == PHI__SHELL_DIRS_MOST) return false;
    dirs->at[dirs->count++] = *dir;
    return true;
}

static phi__shell_word phi__dirs_workspace(void) {
    phi__shell_word word = PHI_ZERO;
    word.text = phi__str("", 0);
    word.known = true;
    return word;
}

static bool phi__dirs_all(phi__shell_dirs *dirs, const phi__shell_dirs *more) {
    phi__shell_word workspace = phi__dirs_workspace();
    bool good = true;
    if (more == NULL) return phi__dirs_add(dirs, &workspace);
    for (size_t i = 0; i < more->count; i++) good = phi__dirs_add(dirs, &more->at[i]) && good;
    return good;
}

static bool phi__dirs_absolute(phi_str path) {
    return path.len > 0 && strchr("/~$", path.at[0]) != NULL && path.at[0] != '\0';
}

/* `to`, from `from`. False: no memory. */
static bool phi__dirs_join(phi_arena *arena, const phi__shell_word *from, const phi__shell_word *to,
                           phi__shell_word *out) {
    phi__buf text;
    *out = *to;
    if (from->text.len == 0 || phi__dirs_absolute(to->text)) return true;
    phi__buf_init(&text, arena->memory);
    phi__buf_add_str(&text, from->text);
    phi__buf_char(&text, '/');
    phi__buf_add_str(&text, to->text);
    bool good = !text.failed && phi__arena_str(arena, phi__buf_str(&text), &out->text);
    phi__buf_free(&text);
    out->known = from->known && to->known;
    return good;
}

PHI__FN const phi__shell_dirs *phi__dirs_both(phi_arena *arena, phi__shell *out,
                                              const phi__shell_dirs *one,
                                              const phi__shell_dirs *other) {
    phi__shell_dirs *all;
    if (one == other) return one;
    all = (phi__shell_dirs *)phi__arena_zero(arena, sizeof *all);
    if (all == NULL) return NULL;
    if (!phi__dirs_all(all, one) || !phi__dirs_all(all, other)) out->lost = true;
    return all;
}

PHI__FN const phi__shell_dirs *phi__dirs_go(phi_arena *arena, phi__shell *out,
                                            const phi__shell_dirs *from,
                                            const phi__shell_word *to) {
    phi__shell_word workspace = phi__dirs_workspace(), dir;
    phi__shell_dirs *all = (phi__shell_dirs *)phi__arena_zero(arena, sizeof *all);
    size_t n = from != NULL ? from->count : 1;
    if (all == NULL) return NULL;
    for (size_t i = 0; i < n; i++) {
        if (!phi__dirs_join(arena, from != NULL ? &from->at[i] : &workspace, to, &dir)) return NULL;
        if (dir.text.len > PHI__DIRS_PATH_MOST || !phi__dirs_add(all, &dir)) out->lost = true;
    }
    out->visited = phi__dirs_both(arena, out, out->visited, all);
    return out->visited != NULL ? all : NULL;
}

static bool phi__dirs_is(const phi__shell_word *word, const char *const *texts) {
    for (; word->known && *texts != NULL; texts++)
        if (phi__str_is(word->text, *texts)) return true;
    return false;
}

/* The word of a cd that says where to. NULL: home, or back to where it was. */
static const phi__shell_word *phi__dirs_target(const phi__shell_command *c, bool *changes,
                                               bool *back) {
    static const char *const before[] = {"command", "builtin", "-p", "--", NULL};
    static const char *const names[] = {"cd", "pushd", "chdir", "popd", NULL};
    size_t i = 0;
    while (i < c->count && phi__dirs_is(&c->words[i], before)) i++;
    *changes = i < c->count && phi__dirs_is(&c->words[i], names);
    *back = *changes && phi__str_is(c->words[i].text, "popd");
    if (*changes && i + 1 == c->count && phi__str_is(c->words[i].text, "pushd")) *back = true;
    for (i++; *changes && i < c->count; i++) {
        phi_str text = c->words[i].text;
        if (phi__str_is(text, "-") || phi__str_starts(text, "+")) *back = true;
        if (text.len == 0 || (text.at[0] != '-' && text.at[0] != '+')) return &c->words[i];
    }
    return NULL;
}

PHI__FN void phi__dirs_after(phi__shell_parser *p, const phi__shell_command *command) {
    phi__shell_word home = phi__dirs_workspace();
    bool changes, back;
    const phi__shell_word *to = phi__dirs_target(command, &changes, &back);
    if (!changes) return;
    home.text = phi__str("~", 1);
    if (p->repeats > 0) p->out->lost = true;
    p->moves++;
    p->stay = p->dirs;
    if (back && p->out->visited == NULL) {
        p->out->lost = true;
        p->there = p->dirs;
        return;
    }
    p->there = back ? phi__dirs_both(p->arena, p->out, p->dirs, p->out->visited)
                    : phi__dirs_go(p->arena, p->out, p->dirs, to != NULL ? to : &home);
    if (p->there != NULL) p->dirs = phi__dirs_both(p->arena, p->out, p->stay, p->there);
    if (p->there == NULL || p->dirs == NULL) phi__shell_word_lost(p);
}

/* ======== What a line may run besides the commands that are known to run.

   For rules that ask or deny: a command whose braces are expanded, and texts in words and inputs
   of programs that may run them (ssh h 'rm x', env -S 'rm x', awk '{system("rm x")}'). A text is
   taken apart at quotes and signs, whatever language it is in: it may look like a command where it
   is none, so that a rule that denies asks about it. */

enum {
    PHI__SUSPECTS_DEPTH = 8,     /* of braces */
    PHI__SUSPECTS_EXPANDED = 64, /* words of a command whose braces are expanded */
    PHI__SUSPECTS_BRACES = 1024, /* bytes of a word with braces */
    PHI__SUSPECTS_RUN = 32 /* words of a command among which one that runs texts is looked for */
};

static const char phi__suspects_too_many[] = "it has too many words that may be run";

static void phi__suspects_unknown(phi__shell *out, const char *why) {
    if (out->unknown == NULL) out->unknown = why;
}

/* ---- braces ---- */

typedef struct phi__suspects {
    phi_arena *arena;
    phi__shell *out;
    phi__shell_word *words;
    size_t count;
    size_t pipe_from; /* of the text */
    bool lost, full;
    bool quiet; /* the program of the first command runs none of its words */
} phi__suspects;

/* The first "{" of a word with a "," or ".." in it, up to its "}". False: there is none. */
static bool phi__suspects_brace(phi_str text, size_t *open, size_t *close, bool *range) {
    size_t k;
    for (size_t i = 0; i < text.len; i++) {
        unsigned depth = 0;
        bool list = false, dots = false;
        if (text.at[i] != '{' || (i > 0 && text.at[i - 1] == '$')) continue;
        for (k = i; k < text.len; k++) {
            if (text.at[k] == '{') depth++;
            if (text.at[k] == ',' && depth == 1) list = true;
            if (text.at[k] == '.' && text.at[k - 1] == '.') dots = true;
            if (text.at[k] == '}' && --depth == 0) break;
        }
        if (k == text.len || (!list && !dots)) continue;
        *open = i;
        *close = k;
        *range = !list;
        return true;
    }
    return false;
}

static void phi__suspects_word(phi__suspects *s, phi_str text) {
    if (text.len == 0) return; /* of "{git,}" the shell makes one word */
    if (s->count == PHI__SUSPECTS_EXPANDED) {
        s->full = true;
        return;
    }
    phi__shell_word *word = &s->words[s->count];
    memset(word, 0, sizeof *word);
    word->known = true;
    for (size_t i = 0; i < text.len; i++)
        if (text.at[i] == '\0' || strchr("*?[$`", text.at[i]) != NULL) word->known = false;
    if (phi__arena_str(s->arena, text, &word->text))
        s->count++;
    else
        s->lost = true;
}

static void phi__suspects_expand(phi__suspects *s, phi_str text, unsigned depth) {
    size_t open, close, i;
    unsigned inside = 0;
    bool range;
    if (s->full || s->lost) return;
    if (depth == PHI__SUSPECTS_DEPTH || !phi__suspects_brace(text, &open, &close, &range)) {
        phi__suspects_word(s, text);
        return;
    }
    for (size_t from = i = open + 1; i <= close && !s->full && !s->lost; i++) {
        phi__buf made;
        if (text.at[i] == '{') inside++;
        if (text.at[i] == '}' && i < close) inside--;
        if (i < close && (range || text.at[i] != ',' || inside > 0)) continue;
        phi__buf_init(&made, s->arena->memory);
        phi__buf_add(&made, text.at, open);
        if (range)
            phi__buf_char(&made, '*'); /* {1..9} */
        else
            phi__buf_add(&made, text.at + from, i - from);
        phi__buf_add(&made, text.at + close + 1, text.len - close - 1);
        if (made.failed) s->lost = true;
        phi__suspects_expand(s, phi__buf_str(&made), depth + 1);
        phi__buf_free(&made);
        from = i + 1;
    }
}

PHI__FN phi_status phi__suspects_braces(phi_arena *arena, phi__shell *out, size_t index) {
    phi__shell_command command = out->commands[index];
    bool any = false;
    phi__suspects s = PHI_ZERO;
    if (command.count == 0 && command.assigned_count > 1 &&
        phi__str_find(command.assigned[0].text, 0, "=") == SIZE_MAX) {
        command.words = command.assigned; /* for NAME in WORDS */
        command.count = command.assigned_count;
        command.assigned_count = 0;
    }
    for (size_t i = 0; i < command.count; i++) {
        any = any || command.words[i].braces;
        s.full =
            s.full || (command.words[i].braces && command.words[i].text.len > PHI__SUSPECTS_BRACES);
    }
    if (!any) return PHI_OK;
    s.arena = arena;
    s.words = (phi__shell_word *)phi_arena_alloc(arena, PHI__SUSPECTS_EXPANDED * sizeof *s.words);
    if (s.words == NULL) return PHI_NO_MEMORY;
    for (size_t i = 0; i < command.count && !s.full && !s.lost; i++) {
        if (command.words[i].braces)
            phi__suspects_expand(&s, command.words[i].text, 0);
        else if (s.count < PHI__SUSPECTS_EXPANDED)
            s.words[s.count++] = command.words[i];
        else
            s.full = true;
    }
    if (s.full) phi__suspects_unknown(out, phi__suspects_too_many);
    if (s.lost) return PHI_NO_MEMORY;
    command.words = s.words;
    command.count = s.count;
    command.redirects = NULL;
    command.redirect_count = 0;
    command.also = NULL;
    command.also_count = 0;
    command.sort = PHI__SHELL_AGAIN;
    return phi__shell_parse_push(arena, out, &command) ? PHI_OK : PHI_NO_MEMORY;
}

/* ---- texts ---- */

/* Adds the words so far as a command, whose input may be the one before. */
static void phi__suspects_end(phi__suspects *s, const phi__shell_command *from, size_t first,
                              bool piped) {
    if (s->count == first || s->lost) return;
    phi__shell_command command = PHI_ZERO;
    command.words = s->words + first;
    command.count = s->count - first;
    if (!piped) s->pipe_from = from->reads ? from->pipe_from : s->out->count;
    command.reads = piped || from->reads;
    command.pipe_from = s->pipe_from;
    command.dirs = from->dirs;
    command.sort = PHI__SHELL_SUSPECT;
    command.quiet = first == 0 && s->quiet;
    if (!phi__shell_parse_push(s->arena, s->out, &command)) s->lost = true;
}

/* Behind the last of these signs a name may begin: "alias.x=!rm", "exec=rm". */
static phi_str phi__suspects_name(phi_str text) {
    size_t i = text.len;
    while (i > 0 && strchr("=!:@$", text.at[i - 1]) == NULL) i--;
    return phi__str(text.at + i, text.len - i);
}

static void phi__suspects_put(phi__suspects *s, phi_str text) {
    phi__shell_word *all =
        (phi__shell_word *)phi__shell_word_room(s->arena, s->words, s->count, sizeof *all);
    if (all == NULL) {
        s->lost = true;
        return;
    }
    s->words = all;
    memset(&all[s->count], 0, sizeof *all);
    all[s->count].text = text;
    all[s->count++].known = phi__str_find(text, 0, "$") == SIZE_MAX;
    if (++s->out->words > PHI__SHELL_WORDS_MOST) s->full = true;
}

static bool phi__suspects_prints(const phi__shell_command *c) {
    return c->count > 0 &&
           (phi__str_is(c->words[0].text, "echo") || phi__str_is(c->words[0].text, "printf"));
}

/* Takes a text apart: words end at blanks, quotes and brackets, commands at signs of a shell. The
   words point into the text. The first command begins with the words that are there. */
static void phi__suspects_more(phi__suspects *s, const phi__shell_command *from, phi_str text) {
    size_t i = 0, first = 0;
    bool piped = false;
    if (text.len > 2 && text.at[0] == '-' && text.at[1] != '-') i = 2; /* glued to its option */
    while (i < text.len && !s->lost && !s->full) {
        size_t begin = i;
        while (i < text.len && text.at[i] != '\0' &&
               strchr(" \t\r\n;|&\"'`,()[]{}<>\\", text.at[i]) == NULL)
            i++;
        phi_str word = phi__str(text.at + begin, i - begin);
        phi_str name = phi__suspects_name(word);
        if (word.len > 0) phi__suspects_put(s, word);
        if (name.len > 0 && name.len < word.len) phi__suspects_put(s, name);
        if (i < text.len && text.at[i] != '\0' && strchr("\n;|&", text.at[i]) != NULL) {
            phi__suspects_end(s, from, first, piped);
            piped = text.at[i] == '|' && s->count > first;
            first = s->count;
        }
        i++;
    }
    phi__suspects_end(s, from, first, piped);
}

static void phi__suspects_text(phi__suspects *s, const phi__shell_command *from, phi_str text) {
    s->words = NULL;
    s->count = 0;
    phi__suspects_more(s, from, text);
}

/* "git -c alias.p=push p", "git config alias.p push": git, and the words of the alias. */
static void phi__suspects_aliases(phi__suspects *s, const phi__shell_command *c) {
    static const char start[] = "alias.";
    size_t n = sizeof start - 1;
    for (size_t i = 1; i < c->count && phi__str_is(c->words[0].text, "git"); i++) {
        phi_str text = c->words[i].text;
        const char *value = text.len > n ? (const char *)memchr(text.at, '=', text.len) : NULL;
        if (text.len <= n || !phi__str_is_nocase(phi__str(text.at, n), start)) continue;
        if (value == NULL && i + 1 == c->count) continue;
        s->words = NULL;
        s->count = 0;
        phi__suspects_put(s, PHI__LIT("git"));
        phi__suspects_more(s, c,
                           value == NULL
                               ? c->words[i + 1].text
                               : phi__str(value + 1, text.len - 1 - (size_t)(value - text.at)));
    }
}

/* What xargs makes of a text: its own words, and those of the text; behind -I, the text in its
   place. */
static void phi__suspects_added(phi__suspects *s, const phi__shell_command *c, phi_str text) {
    phi_str place = PHI__LIT("{}");
    bool placed = false;
    size_t i;
    s->words = NULL;
    s->count = 0;
    for (i = 1; i + 1 < c->count && phi__str_starts(c->words[i].text, "-"); i++) {
        phi_str option = c->words[i].text;
        if (!phi__str_starts(option, "-I")) continue;
        place = option.len > 2 ? phi__str(option.at + 2, option.len - 2) : c->words[++i].text;
    }
    s->quiet = i < c->count && phi__names_plain(c->words[i].text);
    for (; i < c->count; i++) {
        bool here = phi_str_equal(c->words[i].text, place);
        placed = placed || here;
        phi__suspects_put(s, here ? phi__str_trim(text) : c->words[i].text);
    }
    phi__suspects_more(s, c, placed ? phi__str("", 0) : text);
    s->quiet = false;
}

/* Texts that xargs reads: of a here-document, or printed in its pipe. */
static void phi__suspects_xargs(phi__suspects *s, size_t index) {
    phi__shell_command c = s->out->commands[index];
    size_t k, n = s->out->count;
    if (c.count < 2 || !c.reads || !phi__str_is(c.words[0].text, "xargs")) return;
    if (c.input != NULL) phi__suspects_added(s, &c, c.input->text);
    for (size_t i = 0; i < n && !s->lost && !s->full; i++) {
        phi__shell_command from = s->out->commands[i];
        if (i == index || from.pipe_from != c.pipe_from || from.sort != PHI__SHELL_RUNS ||
            from.count < 2 || !phi__suspects_prints(&from))
            continue;
        for (k = 1; k < from.count; k++) phi__suspects_added(s, &c, from.words[k].text);
    }
}

/* Whether a word may be more than one: a command line, or a program. */
static bool phi__suspects_line(const phi__shell_word *word, bool quiet) {
    static const char *const runs[] = {"$(", "`"};
    if (word->pipe) return false;
    for (size_t i = 0; i < PHI__COUNT(runs); i++)
        if (word->known && phi__str_find(word->text, 0, runs[i]) != SIZE_MAX) return true;
    for (size_t i = 0; !quiet && i < word->text.len; i++)
        if (word->text.at[i] != '\0' && strchr(" \t\n;|&(`", word->text.at[i]) != NULL) return true;
    return false;
}

/* Texts that git keeps or looks for, and does not run. */
static bool phi__suspects_message(const phi__shell_command *c) {
    static const char names[] = "commit|tag|merge|notes|stash|log|show|diff|blame";
    return c->count > 1 && phi__str_is(c->words[0].text, "git") &&
           phi__wildcard_any(phi_str_of(names), c->words[1].text, false);
}

/* Whether the line may run a text: a program that is not known may run its words ("flock f sh"). */
static bool phi__suspects_runner(const phi__shell *shell) {
    size_t k;
    for (size_t i = 0; i < shell->count; i++) {
        const phi__shell_command *c = &shell->commands[i];
        size_t n = c->count > 0 && phi__names_plain(c->words[0].text) ? 1 : c->count;
        for (k = 0; k < n && k < PHI__SUSPECTS_RUN; k++)
            if (phi__names_runner(c->words[k].text)) return true;
    }
    return false;
}

/* find, with a word that may be -exec. */
static bool phi__suspects_open(const phi__shell_command *c) {
    for (size_t i = 1; phi__str_is(phi__names_last(c->words[0].text), "find") && i < c->count; i++)
        if (!c->words[i].known && phi__str_find(c->words[i].text, 0, "$") != SIZE_MAX) return true;
    return false;
}

static void phi__suspects_of(phi__suspects *s, size_t index, bool runner) {
    phi__shell_command c = s->out->commands[index];
    c.quiet = c.wraps ||
              (c.sort != PHI__SHELL_SUSPECT && c.count > 0 && phi__names_plain(c.words[0].text) &&
               !phi__suspects_open(&c) && !(phi__suspects_prints(&c) && runner));
    s->out->commands[index].quiet = c.quiet;
    for (size_t i = 0; i < c.assigned_count; i++)
        if (phi__suspects_line(&c.assigned[i], false))
            phi__suspects_text(s, &c, c.assigned[i].text);
    phi__suspects_xargs(s, index);
    phi__suspects_aliases(s, &c);
    /* env -SLINE, --split-string=LINE: also if it is one word. */
    size_t at;
    for (size_t i = 1; i < c.count && phi__str_is(phi__names_last(c.words[0].text), "env"); i++) {
        phi_str text = c.words[i].text;
        at = phi__str_starts(text, "--s") ? phi__str_find(text, 0, "=")
                                          : phi__str_find(text, 0, "S");
        if (phi__str_starts(text, "-") && at != SIZE_MAX)
            phi__suspects_text(s, &c, phi__str(text.at + at + 1, text.len - at - 1));
    }
    if (c.wraps || phi__suspects_message(&c)) return;
    for (size_t i = c.sort == PHI__SHELL_SUSPECT ? 0 : 1; i < c.count; i++)
        if (phi__suspects_line(&c.words[i], c.quiet)) phi__suspects_text(s, &c, c.words[i].text);
    if (c.input != NULL && ((!c.quiet && c.fed == 0) || runner))
        phi__suspects_text(s, &c, c.input->text);
}

PHI__FN phi_status phi__suspects_find(phi_arena *arena, phi__shell *out) {
    size_t n = out->count;
    bool runner = phi__suspects_runner(out);
    phi__suspects s = PHI_ZERO;
    s.arena = arena;
    s.out = out;
    for (size_t i = 0; i < n && !s.lost && !s.full; i++) phi__suspects_of(&s, i, runner);
    if (s.full) phi__suspects_unknown(out, phi__suspects_too_many);
    return s.lost ? PHI_NO_MEMORY : PHI_OK;
}

/* ======== Programs that run others: the commands that they run are added to the list.

   Options that are not listed here may take a value, which would be mistaken for the command: such
   a program is not seen through, and stays a command of its own. */

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
    if (command->count == 0 || !command->words[0].known) return name;
    name = command->words[0].text;
    for (size_t i = name.len; i > 0; i--)
        if (name.at[i - 1] == '/') return phi__str(name.at + i, name.len - i);
    return name;
}

static phi__shell_command *phi__wrappers_self(const phi__wrapping *w) {
    return &w->out->commands[w->index];
}

static void phi__wrappers_unknown(const phi__wrapping *w, const char *why) {
    if (w->out->unknown == NULL) w->out->unknown = why;
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
    if (phi__wrappers_deep(w)) return PHI_OK;
    phi_status status = phi__shell_parse_line(w->arena, line, &w->command, w->out);
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
    for (size_t k = 1; k < text.len; k++) {
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
    size_t i = 1;
    w->risky = false;
    if (!phi__wrappers_options(w, wrapper, &i)) return w->lost ? PHI_NO_MEMORY : PHI_OK;
    for (size_t k = 0; k < wrapper->operands; k++)
        if (i >= w->command.count || !w->command.words[i++].known) return PHI_OK;
    size_t assigned = i;
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
    for (size_t i = 0; i < PHI__COUNT(names); i++)
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
    w->risky = false;
    size_t script = phi__wrappers_script(w, &operands);
    const phi__shell_word *input = w->command.input;
    w->command.posix = w->command.posix || !phi__str_is(name, "bash");
    if (phi__str_is(name, "zsh") || phi__str_is(name, "ksh")) {
        if (w->out->doubt == NULL) w->out->doubt = "it is a line of another shell";
    }
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

/* eval: its words are one line; trap: its first word is. */
static phi_status phi__wrappers_eval(phi__wrapping *w, size_t first, size_t end) {
    phi__buf line;
    phi_str text;
    for (size_t i = first; i < end; i++)
        if (!w->command.words[i].known) {
            phi__wrappers_unknown(w, "a text that is not known is run as a command line");
            return PHI_OK;
        }
    phi__buf_init(&line, w->arena->memory);
    for (size_t i = first; i < end; i++) {
        if (i > first) phi__buf_char(&line, ' ');
        phi__buf_add_str(&line, w->command.words[i].text);
    }
    bool good = !line.failed && phi__arena_str(w->arena, phi__buf_str(&line), &text);
    phi__buf_free(&line);
    if (!good) return PHI_NO_MEMORY;
    phi__wrappers_self(w)->wraps = true;
    /* A line that the shell itself runs: after a cd in it, other commands run elsewhere. */
    const phi__shell_dirs *visited = w->out->visited;
    phi_status status = phi__wrappers_line(w, text);
    if (w->out->visited != visited) w->out->lost = true;
    return status;
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
    size_t i = begin;
    while (i + 1 < exec && phi__wrappers_one_of(&c->words[i], pairs)) i += 2;
    if (i + 1 >= exec || !phi__wrappers_one_of(&c->words[i], names) || !c->words[i + 1].known)
        return phi__str("", 0);
    for (size_t k = i + 2; k < exec; k++)
        if (!c->words[k].known || phi__wrappers_one_of(&c->words[k], others))
            return phi__str("", 0);
    return c->words[i + 1].text;
}

/* A pattern of what find may name: in the directory itself, or below it. A star that a name begins
   with matches a dot, too; names are looked for in hidden directories as well. */
static bool phi__wrappers_found(const phi__wrapping *w, phi_str start, phi_str names, bool below,
                                phi__shell_word *out) {
    phi__buf text;
    memset(out, 0, sizeof *out);
    phi__buf_init(&text, w->arena->memory);
    phi__buf_add_str(&text, start);
    phi__buf_text(&text, below ? "/**" : "/");
    if (names.len > 0) out->hidden = PHI__WILDCARD_ENTERED;
    if (below && names.len > 0) phi__buf_char(&text, '/');
    if (names.len > 0 && strchr("*?[", names.at[0]) != NULL) phi__buf_text(&text, "**");
    phi__reads_put(&text, names);
    bool good = !text.failed && phi__arena_str(w->arena, phi__buf_str(&text), &out->text);
    phi__buf_free(&text);
    return good;
}

/* The files that find may put in place of {}: two patterns for each directory. */
static phi_status phi__wrappers_all_found(const phi__wrapping *w, phi_str names,
                                          phi__shell_word *found, size_t *count) {
    size_t from, starts, n = 0;
    (void)phi__wrappers_starts(&w->command, &from, &starts);
    for (size_t i = 0; i < starts || i == 0; i++) {
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
    size_t count, k, n = 0, most = end - exec - 1;
    phi_status status =
        phi__wrappers_all_found(w, phi__wrappers_names(&old, begin, exec), found, &count);
    if (status != PHI_OK) return status;
    if (phi__add(w->out->words, phi__mul(most, count)) > PHI__SHELL_WORDS_MOST) {
        phi__wrappers_unknown(w, "it has too many words");
        return PHI_OK;
    }
    words = (phi__shell_word *)phi_arena_alloc(w->arena, phi__mul(most * count, sizeof *words));
    if (words == NULL) return PHI_NO_MEMORY;
    for (size_t i = exec + 1; i < end; i++) {
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
    size_t k, from, starts, begin = phi__wrappers_starts(c, &from, &starts);
    for (size_t i = 1; i < c->count; i++) {
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

static bool phi__wrappers_any(phi_str name, const char *const *names) {
    for (; *names != NULL; names++)
        if (phi__str_is(name, *names)) return true;
    return false;
}

static phi_status phi__wrappers_open(phi__wrapping *w) {
    static const char *const shells[] = {"sh", "bash", "dash", "zsh", "ksh", "ash", NULL};
    phi_str name = phi__wrappers_name(&w->command);
    if (phi__wrappers_any(name, shells)) return phi__wrappers_shell(w, name);
    if (phi__str_is(name, "eval") && w->command.count > 1)
        return phi__wrappers_eval(w, 1, w->command.count);
    if (phi__str_is(name, "trap")) {
        size_t first = 1;
        if (first < w->command.count && phi__wrappers_is(&w->command.words[first], "--")) first++;
        if (first + 1 >= w->command.count || phi__wrappers_is(&w->command.words[first], "-"))
            return PHI_OK;
        w->out->later = true;
        return phi__wrappers_eval(w, first, first + 1);
    }
    if (phi__str_is(name, "find")) return phi__wrappers_find(w);
    if (phi__str_is(name, "su")) {
        for (size_t i = 1; i + 1 < w->command.count; i++)
            if (phi__wrappers_is(&w->command.words[i], "-c")) {
                phi_status status = phi__wrappers_eval(w, i + 1, i + 2);
                phi__wrappers_self(w)->wraps = false;
                return status;
            }
        return PHI_OK;
    }
    for (size_t i = 0; i < PHI__COUNT(phi__wrappers); i++)
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
    memset(out, 0, sizeof *out);
    phi__wrapping w = PHI_ZERO;
    w.arena = arena;
    w.out = out;
    phi_status status = phi__shell_parse_line(arena, line, NULL, out);
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
