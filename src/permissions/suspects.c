/* suspects.c - what a line may run besides the commands that are known to run.

   For rules that ask or deny: a command whose braces are expanded, and texts in words and inputs
   of programs that may run them (ssh h 'rm x', env -S 'rm x', awk '{system("rm x")}'). A text is
   taken apart at quotes and signs, whatever language it is in: it may look like a command where it
   is none, so that a rule that denies asks about it. */
#include "permissions/shell_in.h"

#include "permissions/wildcard_in.h"

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
    size_t i, k;
    for (i = 0; i < text.len; i++) {
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
    phi__shell_word *word;
    size_t i;
    if (text.len == 0) return; /* of "{git,}" the shell makes one word */
    if (s->count == PHI__SUSPECTS_EXPANDED) {
        s->full = true;
        return;
    }
    word = &s->words[s->count];
    memset(word, 0, sizeof *word);
    word->known = true;
    for (i = 0; i < text.len; i++)
        if (text.at[i] == '\0' || strchr("*?[$`", text.at[i]) != NULL) word->known = false;
    if (phi__arena_str(s->arena, text, &word->text))
        s->count++;
    else
        s->lost = true;
}

static void phi__suspects_expand(phi__suspects *s, phi_str text, unsigned depth) {
    size_t open, close, from, i;
    unsigned inside = 0;
    bool range;
    if (s->full || s->lost) return;
    if (depth == PHI__SUSPECTS_DEPTH || !phi__suspects_brace(text, &open, &close, &range)) {
        phi__suspects_word(s, text);
        return;
    }
    for (from = i = open + 1; i <= close && !s->full && !s->lost; i++) {
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
    phi__suspects s;
    bool any = false;
    size_t i;
    memset(&s, 0, sizeof s);
    if (command.count == 0 && command.assigned_count > 1 &&
        phi__str_find(command.assigned[0].text, 0, "=") == SIZE_MAX) {
        command.words = command.assigned; /* for NAME in WORDS */
        command.count = command.assigned_count;
        command.assigned_count = 0;
    }
    for (i = 0; i < command.count; i++) {
        any = any || command.words[i].braces;
        s.full =
            s.full || (command.words[i].braces && command.words[i].text.len > PHI__SUSPECTS_BRACES);
    }
    if (!any) return PHI_OK;
    s.arena = arena;
    s.words = (phi__shell_word *)phi_arena_alloc(arena, PHI__SUSPECTS_EXPANDED * sizeof *s.words);
    if (s.words == NULL) return PHI_NO_MEMORY;
    for (i = 0; i < command.count && !s.full && !s.lost; i++) {
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
    phi__shell_command command;
    if (s->count == first || s->lost) return;
    memset(&command, 0, sizeof command);
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
        phi_str word, name;
        while (i < text.len && text.at[i] != '\0' &&
               strchr(" \t\r\n;|&\"'`,()[]{}<>\\", text.at[i]) == NULL)
            i++;
        word = phi__str(text.at + begin, i - begin);
        name = phi__suspects_name(word);
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
    size_t i, n = sizeof start - 1;
    for (i = 1; i < c->count && phi__str_is(c->words[0].text, "git"); i++) {
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
    size_t i, k, n = s->out->count;
    if (c.count < 2 || !c.reads || !phi__str_is(c.words[0].text, "xargs")) return;
    if (c.input != NULL) phi__suspects_added(s, &c, c.input->text);
    for (i = 0; i < n && !s->lost && !s->full; i++) {
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
    size_t i;
    if (word->pipe) return false;
    for (i = 0; i < PHI__COUNT(runs); i++)
        if (word->known && phi__str_find(word->text, 0, runs[i]) != SIZE_MAX) return true;
    for (i = 0; !quiet && i < word->text.len; i++)
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
    size_t i, k;
    for (i = 0; i < shell->count; i++) {
        const phi__shell_command *c = &shell->commands[i];
        size_t n = c->count > 0 && phi__names_plain(c->words[0].text) ? 1 : c->count;
        for (k = 0; k < n && k < PHI__SUSPECTS_RUN; k++)
            if (phi__names_runner(c->words[k].text)) return true;
    }
    return false;
}

/* env -SLINE, --split-string=LINE: also if it is one word. */
static void phi__suspects_split(phi__suspects *s, const phi__shell_command *c) {
    size_t i, at;
    for (i = 1; i < c->count && phi__str_is(phi__names_last(c->words[0].text), "env"); i++) {
        phi_str text = c->words[i].text;
        at = phi__str_starts(text, "--s") ? phi__str_find(text, 0, "=")
                                          : phi__str_find(text, 0, "S");
        if (phi__str_starts(text, "-") && at != SIZE_MAX)
            phi__suspects_text(s, c, phi__str(text.at + at + 1, text.len - at - 1));
    }
}

/* find, with a word that may be -exec. */
static bool phi__suspects_open(const phi__shell_command *c) {
    size_t i;
    for (i = 1; phi__str_is(phi__names_last(c->words[0].text), "find") && i < c->count; i++)
        if (!c->words[i].known && phi__str_find(c->words[i].text, 0, "$") != SIZE_MAX) return true;
    return false;
}

static void phi__suspects_of(phi__suspects *s, size_t index, bool runner) {
    phi__shell_command c = s->out->commands[index];
    size_t i;
    c.quiet = c.wraps ||
              (c.sort != PHI__SHELL_SUSPECT && c.count > 0 && phi__names_plain(c.words[0].text) &&
               !phi__suspects_open(&c) && !(phi__suspects_prints(&c) && runner));
    s->out->commands[index].quiet = c.quiet;
    for (i = 0; i < c.assigned_count; i++)
        if (phi__suspects_line(&c.assigned[i], false))
            phi__suspects_text(s, &c, c.assigned[i].text);
    phi__suspects_xargs(s, index);
    phi__suspects_aliases(s, &c);
    phi__suspects_split(s, &c);
    if (c.wraps || phi__suspects_message(&c)) return;
    for (i = c.sort == PHI__SHELL_SUSPECT ? 0 : 1; i < c.count; i++)
        if (phi__suspects_line(&c.words[i], c.quiet)) phi__suspects_text(s, &c, c.words[i].text);
    if (c.input != NULL && ((!c.quiet && c.fed == 0) || runner))
        phi__suspects_text(s, &c, c.input->text);
}

PHI__FN phi_status phi__suspects_find(phi_arena *arena, phi__shell *out) {
    phi__suspects s;
    size_t i, n = out->count;
    bool runner = phi__suspects_runner(out);
    memset(&s, 0, sizeof s);
    s.arena = arena;
    s.out = out;
    for (i = 0; i < n && !s.lost && !s.full; i++) phi__suspects_of(&s, i, runner);
    if (s.full) phi__suspects_unknown(out, phi__suspects_too_many);
    return s.lost ? PHI_NO_MEMORY : PHI_OK;
}
