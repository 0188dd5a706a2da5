/* wrappers.c - adds the commands that other programs run (env, xargs, bash -c) to the list.

   An option that is not listed here may take a value, which would be mistaken for the command. A
   program with such an option therefore stays one command. */
#include "permissions/shell_in.h"
#include "tools/tools_in.h"

/* ---- commands that a line may run ----

   These are for rules that ask or deny: commands with their braces expanded, and texts in the words
   and inputs of programs that may run them (ssh h 'rm x', env -S 'rm x', awk '{system("rm x")}'). A
   text in any language is split at quotes and signs. The result may only look like a command, so a
   rule that denies asks about it instead. */

enum {
    PHI__SUSPECTS_DEPTH = 8,     /* max. levels of nested braces */
    PHI__SUSPECTS_EXPANDED = 64, /* max. words of a command after its braces are expanded */
    PHI__SUSPECTS_BRACES = 1024, /* max. bytes of a word with braces */
    PHI__SUSPECTS_RUN = 32       /* max. words searched for a program that runs texts */
};

static void phi__wrap_unknown(phi__shell *out, const char *why) {
    if (out->unknown == NULL) out->unknown = why;
}

static const char phi__suspects_full[] = "it has too many words that may be run";

/* ---- braces ---- */

typedef struct phi__suspects {
    phi_arena *arena;
    phi__shell *out;
    phi__sh_word *words;
    size_t count;
    size_t pipe_from; /* index of the first command of the text's pipe */
    bool lost, full;
    bool quiet; /* the program of the first command runs none of its words */
} phi__suspects;

/* Finds the first "{" with a "," or ".." (*range) before its "}". False if there is none. */
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
    if (text.len == 0) return; /* the shell makes one word of "{git,}" */
    if (s->count == PHI__SUSPECTS_EXPANDED) {
        s->full = true;
        return;
    }
    phi__sh_word word = PHI_ZERO;
    word.known = true;
    for (size_t i = 0; i < text.len; i++)
        if (text.at[i] == '\0' || strchr("*?[$`", text.at[i]) != NULL) word.known = false;
    s->lost = !phi__arena_str(s->arena, text, &word.text);
    s->words[s->count++] = word;
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
            phi__buf_char(&made, '*'); /* for {1..9} */
        else
            phi__buf_add(&made, text.at + from, i - from);
        phi__buf_add(&made, text.at + close + 1, text.len - close - 1);
        if (made.failed) s->lost = true;
        phi__suspects_expand(s, phi__buf_str(&made), depth + 1);
        phi__buf_free(&made);
        from = i + 1;
    }
}

static phi_status phi__suspects_braces(phi_arena *arena, phi__shell *out, size_t index) {
    phi__sh_command command = out->commands[index];
    bool any = false;
    phi__suspects s = PHI_ZERO;
    if (command.count == 0 && command.assigned_count > 1 &&
        phi__str_find(command.assigned[0].text, 0, "=") == SIZE_MAX) {
        command.words = command.assigned; /* words of "for NAME in WORDS" */
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
    s.words = (phi__sh_word *)phi_arena_alloc(arena, PHI__SUSPECTS_EXPANDED * sizeof *s.words);
    if (s.words == NULL) return PHI_NO_MEMORY;
    for (size_t i = 0; i < command.count && !s.full && !s.lost; i++) {
        if (command.words[i].braces)
            phi__suspects_expand(&s, command.words[i].text, 0);
        else if (s.count < PHI__SUSPECTS_EXPANDED)
            s.words[s.count++] = command.words[i];
        else
            s.full = true;
    }
    if (s.full) phi__wrap_unknown(out, phi__suspects_full);
    if (s.lost) return PHI_NO_MEMORY;
    command.words = s.words;
    command.count = s.count;
    command.redirects = NULL;
    command.redirect_count = 0;
    command.also = NULL;
    command.also_count = 0;
    command.sort = PHI__SH_AGAIN;
    return phi__sh_push(arena, out, &command) ? PHI_OK : PHI_NO_MEMORY;
}

/* ---- texts ---- */

/* Adds the words from `first` on as a command. If piped, the command before may write its input. */
static void phi__suspects_end(phi__suspects *s, const phi__sh_command *from, size_t first,
                              bool piped) {
    if (s->count == first || s->lost) return;
    phi__sh_command command = PHI_ZERO;
    command.words = s->words + first;
    command.count = s->count - first;
    if (!piped) s->pipe_from = from->reads ? from->pipe_from : s->out->count;
    command.reads = piped || from->reads;
    command.pipe_from = s->pipe_from;
    command.dirs = from->dirs;
    command.sort = PHI__SH_SUSPECT;
    command.quiet = first == 0 && s->quiet;
    if (!phi__sh_push(s->arena, s->out, &command)) s->lost = true;
}

static void phi__suspects_put(phi__suspects *s, phi_str text) {
    phi__sh_word *all = (phi__sh_word *)phi__sh_room(s->arena, s->words, s->count, sizeof *all);
    if (all == NULL) {
        s->lost = true;
        return;
    }
    s->words = all;
    memset(&all[s->count], 0, sizeof *all);
    all[s->count].text = text;
    all[s->count++].known = phi__str_find(text, 0, "$") == SIZE_MAX;
    if (++s->out->words > PHI__SH_WORDS_MOST) s->full = true;
}

/* Splits a text into words and commands. Words end at blanks, quotes and brackets; commands end at
   operators of a shell. Words point into the text. Words that are in the list already begin the
   first command. */
static void phi__suspects_more(phi__suspects *s, const phi__sh_command *from, phi_str text) {
    size_t i = 0, first = 0;
    bool piped = false;
    /* the text follows its option letter */
    if (text.len > 2 && text.at[0] == '-' && text.at[1] != '-') i = 2;
    while (i < text.len && !s->lost && !s->full) {
        size_t begin = i;
        while (i < text.len && text.at[i] != '\0' &&
               strchr(" \t\r\n;|&\"'`,()[]{}<>\\", text.at[i]) == NULL)
            i++;
        /* A name may begin after the last of these signs: "alias.x=!rm", "exec=rm". */
        size_t name = i;
        while (name > begin && strchr("=!:@$", text.at[name - 1]) == NULL) name--;
        if (i > begin) phi__suspects_put(s, phi__str(text.at + begin, i - begin));
        if (name < i && name > begin) phi__suspects_put(s, phi__str(text.at + name, i - name));
        if (i < text.len && text.at[i] != '\0' && strchr("\n;|&", text.at[i]) != NULL) {
            phi__suspects_end(s, from, first, piped);
            piped = text.at[i] == '|' && s->count > first;
            first = s->count;
        }
        i++;
    }
    phi__suspects_end(s, from, first, piped);
}

static void phi__suspects_text(phi__suspects *s, const phi__sh_command *from, phi_str text) {
    s->words = NULL;
    s->count = 0;
    phi__suspects_more(s, from, text);
}

/* Adds the command of a git alias: "git -c alias.p=push p", "git config alias.p push". */
static void phi__suspects_aliases(phi__suspects *s, const phi__sh_command *c) {
    static const char start[] = "alias.";
    size_t n = sizeof start - 1;
    for (size_t i = 1; i < c->count && phi__str_is(c->words[0].text, "git"); i++) {
        phi_str text = c->words[i].text;
        if (text.len <= n || !phi__str_is_nocase(phi__str(text.at, n), start)) continue;
        size_t at = phi__str_find(text, 0, "=");
        if (at == SIZE_MAX && i + 1 == c->count) continue;
        s->words = NULL;
        s->count = 0;
        phi__suspects_put(s, PHI__LIT("git"));
        phi__suspects_more(s, c,
                           at == SIZE_MAX ? c->words[i + 1].text : phi__str_from(text, at + 1));
    }
}

/* Adds the command that xargs makes of a text. With -I, the text replaces the placeholder. */
static void phi__suspects_added(phi__suspects *s, const phi__sh_command *c, phi_str text) {
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

/* Adds commands for texts that xargs reads from a here-document, or from echo and printf. */
static void phi__suspects_xargs(phi__suspects *s, size_t index) {
    phi__sh_command c = s->out->commands[index];
    size_t n = s->out->count;
    if (c.count < 2 || !c.reads || !phi__str_is(c.words[0].text, "xargs")) return;
    if (c.input != NULL) phi__suspects_added(s, &c, c.input->text);
    for (size_t i = 0; i < n && !s->lost && !s->full; i++) {
        phi__sh_command from = s->out->commands[i];
        if (i == index || from.pipe_from != c.pipe_from || from.sort != PHI__SH_RUNS ||
            from.count < 2 || !phi__among(from.words[0].text, "echo|printf"))
            continue;
        for (size_t k = 1; k < from.count; k++) phi__suspects_added(s, &c, from.words[k].text);
    }
}

/* True if a word may be a command line or a program instead of one argument. */
static bool phi__suspects_line(const phi__sh_word *word, bool quiet) {
    if (word->pipe) return false;
    if (word->known && (phi__str_find(word->text, 0, "$(") != SIZE_MAX ||
                        phi__str_find(word->text, 0, "`") != SIZE_MAX))
        return true;
    for (size_t i = 0; !quiet && i < word->text.len; i++)
        if (word->text.at[i] != '\0' && strchr(" \t\n;|&(`", word->text.at[i]) != NULL) return true;
    return false;
}

static void phi__suspects_of(phi__suspects *s, size_t index, bool runner) {
    phi__sh_command c = s->out->commands[index];
    bool suspect = c.sort == PHI__SH_SUSPECT, open = false;
    phi_str name = c.count > 0 ? c.words[0].text : phi__str("", 0), last = phi__glob_name(name);
    for (size_t i = 1; phi__str_is(last, "find") && i < c.count; i++) /* $x may be -exec */
        open = open || (!c.words[i].known && phi__str_find(c.words[i].text, 0, "$") != SIZE_MAX);
    c.quiet = c.wraps || (!suspect && c.count > 0 && phi__names_plain(name) && !open &&
                          !(phi__among(name, "echo|printf") && runner));
    s->out->commands[index].quiet = c.quiet;
    for (size_t i = 0; i < c.assigned_count; i++)
        if (phi__suspects_line(&c.assigned[i], false))
            phi__suspects_text(s, &c, c.assigned[i].text);
    phi__suspects_xargs(s, index);
    phi__suspects_aliases(s, &c);
    /* env -SLINE and --split-string=LINE run LINE, even if LINE is one word. */
    for (size_t i = 1; i < c.count && phi__str_is(last, "env"); i++) {
        phi_str text = c.words[i].text;
        size_t at = phi__str_find(text, 0, phi__str_starts(text, "--s") ? "=" : "S");
        if (phi__str_starts(text, "-") && at != SIZE_MAX)
            phi__suspects_text(s, &c, phi__str_from(text, at + 1));
    }
    if (c.wraps) return;
    /* Git stores or searches these texts, and does not run them. */
    if (c.count > 1 && phi__str_is(name, "git") &&
        phi__among(c.words[1].text, "commit|tag|merge|notes|stash|log|show|diff|blame"))
        return;
    for (size_t i = suspect ? 0 : 1; i < c.count; i++)
        if (phi__suspects_line(&c.words[i], c.quiet)) phi__suspects_text(s, &c, c.words[i].text);
    if (c.input != NULL && ((!c.quiet && c.fed == 0) || runner))
        phi__suspects_text(s, &c, c.input->text);
}

/* True if a program runs its input or its words. */
static bool phi__names_runner(phi_str name) {
    static const char names[] =
        "sh|bash*|dash|zsh*|ksh*|ash|hush|mksh|fish|csh|tcsh|yash|posh|rbash|pwsh|source|.|eval|"
        "python*|pypy*|perl*|ruby*|node|php*|lua*|tclsh*|deno|bun|xargs|parallel|at|batch|crontab|"
        "ssh|make|gmake|awk|gawk|sudo|su|docker|podman|kubectl|psql|mysql|sqlite3|gdb";
    return phi__among(phi__glob_name(name), names);
}

static phi_status phi__suspects_find(phi_arena *arena, phi__shell *out) {
    size_t n = out->count;
    bool runner = false; /* a word of the line names such a program, as in "flock f sh" */
    phi__suspects s = PHI_ZERO;
    s.arena = arena;
    s.out = out;
    for (size_t i = 0; i < n && !runner; i++) {
        const phi__sh_command *c = &out->commands[i];
        size_t most = c->count > 0 && phi__names_plain(c->words[0].text) ? 1 : c->count;
        for (size_t k = 0; k < phi__min(most, PHI__SUSPECTS_RUN) && !runner; k++)
            runner = phi__names_runner(c->words[k].text);
    }
    for (size_t i = 0; i < n && !s.lost && !s.full; i++) phi__suspects_of(&s, i, runner);
    if (s.full) phi__wrap_unknown(out, phi__suspects_full);
    return s.lost ? PHI_NO_MEMORY : PHI_OK;
}

/* ---- programs that run others ---- */

typedef struct phi__wrapper {
    const char *name;
    const char *flags, *values; /* option letters without and with a value */
    unsigned operands;          /* number of operands before the command */
    bool assigns;               /* NAME=value may precede the command */
    bool adds;                  /* the program adds unknown words after the command's words */
    /* The program changes how the command runs, so rules decide on the program, too. */
    bool opaque;
    const char *risky; /* option letters that make the program opaque */
    char dir;          /* option letter that sets the command's directory; NUL: none */
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
    phi__sh_command command; /* the program that runs others */
    size_t index;            /* index of that program in the list */
    bool lost;               /* an allocation failed */
    bool risky;              /* an option may change what runs */
} phi__wrapping;

static bool phi__wrap_deep(const phi__wrapping *w) {
    if (w->command.level + 1 < PHI__SH_LEVELS) return false;
    phi__wrap_unknown(w->out, "too many programs run one another");
    return true;
}

/* Adds the words from `first` to `end` as a command. Its assignments begin at index `assigned`. */
static phi_status phi__wrap_words(const phi__wrapping *w, size_t first, size_t end,
                                  size_t assigned) {
    phi__sh_command inner = w->command;
    if (phi__wrap_deep(w)) return PHI_OK;
    inner.words += first;
    inner.count = end - first;
    inner.assigned = w->command.words + assigned;
    inner.assigned_count = first - assigned;
    inner.redirects = NULL;
    inner.redirect_count = 0;
    inner.also = NULL;
    inner.also_count = 0;
    inner.level++;
    return phi__sh_push(w->arena, w->out, &inner) ? PHI_OK : PHI_NO_MEMORY;
}

static phi_status phi__wrap_line(const phi__wrapping *w, phi_str line) {
    size_t i = w->out->count;
    if (phi__wrap_deep(w)) return PHI_OK;
    phi_status status = phi__sh_line(w->arena, line, &w->command, w->out);
    for (; w->command.prints && i < w->out->count; i++) {
        w->out->commands[i].pipe_from = w->command.pipe_from;
        w->out->commands[i].prints = true;
    }
    return status;
}

/* ---- options ---- */

/* Makes `dir` the directory of the command. Without memory, sets w->lost and returns false. */
static bool phi__wrap_moves(phi__wrapping *w, const phi__sh_word *dir) {
    w->command.dirs = phi__dirs_go(w->arena, w->out, w->command.dirs, dir);
    w->lost = w->command.dirs == NULL;
    return !w->lost;
}

/* Reads a word of short options at *i. False if an option is not known. */
static bool phi__wrap_short(phi__wrapping *w, const phi__wrapper *wrapper, size_t *i) {
    phi_str text = w->command.words[*i].text;
    phi__sh_word value;
    for (size_t k = 1; k < text.len; k++) {
        if (text.at[k] == '\0') return false;
        if (strchr(wrapper->risky, text.at[k]) != NULL) w->risky = true;
        if (strchr(wrapper->flags, text.at[k]) != NULL) continue;
        if (strchr(wrapper->values, text.at[k]) == NULL) return false;
        if (k + 1 == text.len) (*i)++; /* the next word is the option's value */
        if (*i >= w->command.count || !w->command.words[*i].known) return false;
        value = w->command.words[*i];
        if (k + 1 < text.len) value.text = phi__str(text.at + k + 1, text.len - k - 1);
        return text.at[k] != wrapper->dir || phi__wrap_moves(w, &value);
    }
    return true;
}

/* Advances *i past the options. False if an option is not understood. */
static bool phi__wrap_options(phi__wrapping *w, const phi__wrapper *wrapper, size_t *i) {
    for (; *i < w->command.count; (*i)++) {
        const phi__sh_word *word = &w->command.words[*i];
        if (word->text.len == 0 || word->text.at[0] != '-') return word->known;
        if (!word->known) return false;
        if (word->text.len == 1) w->risky = true; /* "env -" means "env -i" */
        if (phi__str_is(word->text, "--")) {
            (*i)++;
            return true;
        }
        if (phi__str_starts(word->text, "--")) {
            size_t at = phi__str_find(word->text, 0, "=");
            if (at == SIZE_MAX || phi__str_starts(word->text, "--sp") ||
                phi__str_starts(word->text, "--s="))
                return false; /* env --split-string, or a shorter spelling */
            w->risky = true;
            if (wrapper->dir != 0 && phi__str_starts(word->text, "--ch")) {
                phi__sh_word dir = *word;
                dir.text = phi__str_from(dir.text, at + 1);
                if (!phi__wrap_moves(w, &dir)) return false;
            }
        } else if (!phi__wrap_short(w, wrapper, i))
            return false;
    }
    return true;
}

static phi_status phi__wrap_plain(phi__wrapping *w, const phi__wrapper *wrapper) {
    phi__sh_command *c = &w->command;
    size_t i = 1;
    w->risky = false;
    if (!phi__wrap_options(w, wrapper, &i)) return w->lost ? PHI_NO_MEMORY : PHI_OK;
    for (size_t k = 0; k < wrapper->operands; k++)
        if (i >= c->count || !c->words[i++].known) return PHI_OK;
    size_t assigned = i;
    while (wrapper->assigns && i < c->count && phi__among(c->words[i].text, "[!=]*=*")) i++;
    if (i >= c->count) return PHI_OK;
    w->out->commands[w->index].wraps = !wrapper->opaque && !w->risky;
    if (wrapper->adds) { /* $@: the words that xargs adds */
        phi__sh_word *words =
            (phi__sh_word *)phi_arena_alloc(w->arena, phi__mul(c->count + 1, sizeof *words));
        if (words == NULL) return PHI_NO_MEMORY;
        memcpy(words, c->words, c->count * sizeof *words);
        memset(&words[c->count], 0, sizeof *words);
        words[c->count++].text = PHI__LIT("$@");
        c->words = words;
    }
    return phi__wrap_words(w, i, c->count, assigned);
}

/* ---- shells ---- */

/* Returns the script's index after -c and all options; 0 if there is no script, or in doubt. */
static size_t phi__wrap_script(phi__wrapping *w, bool *operands) {
    const phi__sh_command *c = &w->command;
    bool script = false;
    size_t i = 1;
    *operands = true;
    for (; i < c->count; i++) {
        phi_str text = c->words[i].text;
        if (!c->words[i].known || text.len < 2 || strchr("-+", text.at[0]) == NULL) break;
        if (phi__among(text, "--norc|--noprofile|--posix")) continue;
        if (phi__str_is(text, "--login")) {
            w->risky = true;
            continue;
        }
        for (size_t k = 1; k < text.len; k++) {
            char letter = text.at[k];
            if (letter == '\0' || strchr("cefhlmnopuvxisE", letter) == NULL) return 0;
            if (letter == 'c' && text.at[0] == '-') script = true;
            if (letter == 'i' || letter == 'l') w->risky = true;
            if (letter != 'o') continue;
            if (++i >= c->count || !c->words[i].known) return 0;
            /* Other options change what a line means (keyword), so rules decide on the shell. */
            if (!phi__among(c->words[i].text, "errexit|nounset|pipefail|xtrace")) w->risky = true;
        }
    }
    *operands = i < c->count;
    return script && *operands && c->words[i].known ? i : 0;
}

static phi_status phi__wrap_shell(phi__wrapping *w, phi_str name) {
    bool operands;
    w->risky = false;
    size_t script = phi__wrap_script(w, &operands);
    const phi__sh_word *input = w->command.input;
    w->command.posix = w->command.posix || !phi__str_is(name, "bash");
    if (phi__among(name, "zsh|ksh") && w->out->doubt == NULL)
        w->out->doubt = "it is a line of another shell";
    if (script > 0) {
        phi_status status = phi__wrap_line(w, w->command.words[script].text);
        w->out->commands[w->index].wraps = !w->risky;
        w->command.sort = PHI__SH_SUSPECT; /* the script may run the words after it by "$@" */
        return status != PHI_OK || script + 1 == w->command.count
                   ? status
                   : phi__wrap_words(w, script + 1, w->command.count, script + 1);
    }
    if (operands || input == NULL || !input->known || w->command.inputs != 1) return PHI_OK;
    w->out->commands[w->index].wraps = !w->risky;
    return phi__wrap_line(w, input->text);
}

/* Parses the words from `first` to `end` as one line: for eval all words, for trap the first. */
static phi_status phi__wrap_eval(phi__wrapping *w, size_t first, size_t end) {
    phi__buf line;
    phi_str text;
    for (size_t i = first; i < end; i++)
        if (!w->command.words[i].known) {
            phi__wrap_unknown(w->out, "a text that is not known is run as a command line");
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
    w->out->commands[w->index].wraps = true;
    /* The shell itself runs this line: after a cd in it, other commands run elsewhere. */
    const phi__sh_dirs *visited = w->out->visited;
    phi_status status = phi__wrap_line(w, text);
    if (w->out->visited != visited) w->out->lost = true;
    return status;
}

/* ---- find ---- */

/* max. start directories of a find; with more, any file may be found */
enum { PHI__WRAP_STARTS_MOST = 4 };

/* Returns the index of the expression. The start directories are *count words from *from on. */
static size_t phi__wrap_starts(const phi__sh_command *c, size_t *from, size_t *count) {
    size_t i = 1;
    while (i < c->count && phi__sh_one_of(&c->words[i], "-[HLP]")) i++;
    *from = i;
    while (i < c->count && !phi__str_starts(c->words[i].text, "-") &&
           !phi__sh_one_of(&c->words[i], "(|!"))
        i++;
    *count = i - *from;
    return i;
}

/* Returns the -name pattern of all files that reach the word at `exec`; "" if in doubt. */
static phi_str phi__wrap_names(const phi__sh_command *c, size_t begin, size_t exec) {
    static const char pairs[] = "-type|-maxdepth|-mindepth|-size|-mtime";
    size_t i = begin;
    while (i + 1 < exec && phi__sh_one_of(&c->words[i], pairs)) i += 2;
    if (i + 1 >= exec || !phi__sh_one_of(&c->words[i], "-name|-iname") || !c->words[i + 1].known)
        return phi__str("", 0);
    for (size_t k = i + 2; k < exec; k++)
        if (!c->words[k].known || phi__among(c->words[k].text, "-o|-or|,")) return phi__str("", 0);
    return c->words[i + 1].text;
}

/* Sets *out to a pattern of the paths that find may name in `start`: directly in it, or, if below
   is set, at any depth. A leading star of `names` also matches a dot, and hidden directories are
   entered. False if there is no memory. */
static bool phi__wrap_found(const phi__wrapping *w, phi_str start, phi_str names, bool below,
                            phi__sh_word *out) {
    phi__buf text;
    memset(out, 0, sizeof *out);
    phi__buf_init(&text, w->arena->memory);
    phi__buf_add_str(&text, start);
    phi__buf_text(&text, below ? "/**" : "/");
    if (names.len > 0) out->hidden = PHI__WILD_ENTERED;
    if (below && names.len > 0) phi__buf_char(&text, '/');
    if (names.len > 0 && strchr("*?[", names.at[0]) != NULL) phi__buf_text(&text, "**");
    phi__reads_put(&text, names);
    bool good = !text.failed && phi__arena_str(w->arena, phi__buf_str(&text), &out->text);
    phi__buf_free(&text);
    return good;
}

/* Adds the command of an -exec. Each {} becomes two file patterns for each start directory. */
static phi_status phi__wrap_exec(phi__wrapping *w, size_t begin, size_t exec, size_t end) {
    phi__sh_command old = w->command;
    phi__sh_word found[2 * PHI__WRAP_STARTS_MOST], *words;
    size_t from, starts, count = 0, n = 0, most = end - exec - 1;
    phi_str names = phi__wrap_names(&old, begin, exec);
    (void)phi__wrap_starts(&old, &from, &starts);
    bool anywhere = starts > PHI__WRAP_STARTS_MOST;
    for (size_t i = 0; i == 0 || (i < starts && !anywhere); i++) {
        phi_str start = starts > 0 ? old.words[from + i].text : PHI__LIT(".");
        if (anywhere) start = phi__str("", 0);
        if (!phi__wrap_found(w, start, names, false, &found[count++]) ||
            !phi__wrap_found(w, start, names, true, &found[count++]))
            return PHI_NO_MEMORY;
        if (start.len == 0) break;
    }
    if (phi__add(w->out->words, phi__mul(most, count)) > PHI__SH_WORDS_MOST) {
        phi__wrap_unknown(w->out, "it has too many words");
        return PHI_OK;
    }
    words = (phi__sh_word *)phi_arena_alloc(w->arena, phi__mul(most * count, sizeof *words));
    if (words == NULL) return PHI_NO_MEMORY;
    for (size_t i = exec + 1; i < end; i++) {
        bool all = phi__sh_one_of(&old.words[i], "{}");
        for (size_t k = 0; k < (all ? count : 1); k++) words[n++] = all ? found[k] : old.words[i];
        /* a file name inside of a text may be a command */
        if (!all && phi__str_find(old.words[i].text, 0, "{}") != SIZE_MAX)
            words[n - 1].known = false;
    }
    w->out->words += n;
    w->command.words = words;
    w->command.count = n;
    phi_status status = phi__wrap_words(w, 0, n, 0);
    w->command = old;
    return status;
}

/* Adds the command of each -exec, up to ";" or "+". A "+" ends a command only after {}, but in
   busybox anywhere. Words after an -exec are examined again, because this -exec may be the value of
   a test. */
static phi_status phi__wrap_find(phi__wrapping *w) {
    const phi__sh_command *c = &w->command;
    size_t from, starts, begin = phi__wrap_starts(c, &from, &starts);
    for (size_t i = 1; i < c->count; i++) {
        bool ended = false;
        if (!phi__sh_one_of(&c->words[i], "-exec|-ok|-execdir|-okdir")) continue;
        if (phi__among(c->words[i].text, "*dir")) w->out->moved = true;
        for (size_t k = i + 1; !ended; k++) {
            bool plus = k < c->count && phi__sh_one_of(&c->words[k], "+");
            ended = k == c->count || phi__sh_one_of(&c->words[k], ";") ||
                    (plus && k > i + 1 && phi__sh_one_of(&c->words[k - 1], "{}"));
            if ((ended || plus) && k > i + 1 && phi__wrap_exec(w, begin, i, k) != PHI_OK)
                return PHI_NO_MEMORY;
        }
    }
    return PHI_OK;
}

static phi_status phi__wrap_open(phi__wrapping *w) {
    const phi__sh_command *c = &w->command;
    if (c->count == 0 || !c->words[0].known) return PHI_OK;
    phi_str name = phi__glob_name(c->words[0].text);
    if (phi__among(name, "sh|bash|dash|zsh|ksh|ash")) return phi__wrap_shell(w, name);
    if (phi__str_is(name, "eval") && c->count > 1) return phi__wrap_eval(w, 1, c->count);
    if (phi__str_is(name, "trap")) {
        size_t first = c->count > 1 && phi__sh_one_of(&c->words[1], "--") ? 2 : 1;
        if (first + 1 >= c->count || phi__sh_one_of(&c->words[first], "-")) return PHI_OK;
        w->out->later = true;
        return phi__wrap_eval(w, first, first + 1);
    }
    if (phi__str_is(name, "find")) return phi__wrap_find(w);
    for (size_t i = 1; phi__str_is(name, "su") && i + 1 < c->count; i++)
        if (phi__sh_one_of(&c->words[i], "-c")) {
            phi_status status = phi__wrap_eval(w, i + 1, i + 2);
            w->out->commands[w->index].wraps = false;
            return status;
        }
    for (size_t i = 0; i < PHI__COUNT(phi__wrappers); i++)
        if (phi__str_is(name, phi__wrappers[i].name)) return phi__wrap_plain(w, &phi__wrappers[i]);
    return PHI_OK;
}

PHI__FN phi_status phi__wrap_parse(phi_arena *arena, phi_str line, phi__shell *out) {
    memset(out, 0, sizeof *out);
    phi__wrapping w = PHI_ZERO;
    w.arena = arena;
    w.out = out;
    phi_status status = phi__sh_line(arena, line, NULL, out);
    for (w.index = 0; w.index < out->count && status == PHI_OK; w.index++) {
        status = phi__reads_also(arena, &out->commands[w.index]);
        if (status == PHI_OK && out->commands[w.index].sort == PHI__SH_RUNS)
            status = phi__suspects_braces(arena, out, w.index);
        w.command = out->commands[w.index];
        if (status == PHI_OK) status = phi__wrap_open(&w);
        phi_str name =
            w.command.count > 0 ? phi__names_name(w.command.words[0].text) : phi__str("", 0);
        if (w.command.count > 0 && (name.len == 0 || phi__str_find(name, 0, "/") != SIZE_MAX))
            out->commands[w.index].wraps = false; /* "./env" may be anything */
    }
    if (out->later && out->visited != NULL) out->lost = true;
    if (status == PHI_OK) status = phi__suspects_find(arena, out);
    if (out->unknown == NULL) out->unknown = out->doubt;
    return status;
}
