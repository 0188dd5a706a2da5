/* powershell.c - reads a line of PowerShell, if it is a list of plain commands that only read.

   A command is plain if the table below has it, and all its words are plain: no variables,
   expressions, script blocks, redirections or escapes. A line with any other part is not read at
   all, and a host is asked about it. The line may have several commands after newlines or
   semicolons, and pipes into commands that only choose, sort or count.

   Words get slashes for backslashes, so that the rules find their paths. A word that Windows could
   take for another file than its text says is not plain: C:x, x::$DATA, LONGNA~1, x. */
#include "permissions/shell_in.h"

typedef enum phi__ps_sort {
    PHI__PS_LISTS,    /* words are paths; patterns find only names */
    PHI__PS_READS,    /* words are paths of files whose texts it gives */
    PHI__PS_SEARCHES, /* reads, or searches the texts that a pipe brings */
    PHI__PS_PRINTS,   /* words are texts */
    PHI__PS_RUNS,     /* another program, with the rules for its words */
    PHI__PS_FILTERS   /* only after a pipe; words are names of properties */
} phi__ps_sort;

typedef struct phi__ps_command {
    const char *name;       /* as the rules have it */
    const char *names;      /* a pattern of its names in small letters */
    const char *parameters; /* a pattern of its parameters in small letters */
    phi__ps_sort sort;
} phi__ps_command;

static const phi__ps_command phi__ps_commands[] = {
    {"Get-ChildItem", "get-childitem|gci|ls|dir",
     "path|literalpath|filter|include|exclude|recurse|depth|force|name|file|directory|hidden",
     PHI__PS_LISTS},
    {"Get-Item", "get-item|gi", "path|literalpath|force", PHI__PS_LISTS},
    {"Test-Path", "test-path", "path|literalpath|pathtype", PHI__PS_LISTS},
    {"Resolve-Path", "resolve-path|rvpa", "path|literalpath|relative", PHI__PS_LISTS},
    {"Get-Content", "get-content|gc|cat|type",
     "path|literalpath|totalcount|head|first|tail|last|raw|encoding", PHI__PS_READS},
    {"Get-FileHash", "get-filehash", "path|literalpath|algorithm", PHI__PS_READS},
    {"Select-String", "select-string|sls",
     "pattern|path|literalpath|simplematch|casesensitive|notmatch|allmatches|quiet|list|context",
     PHI__PS_SEARCHES},
    {"Get-Location", "get-location|gl|pwd", "", PHI__PS_PRINTS},
    {"Get-Date", "get-date", "format|uformat|asutc", PHI__PS_PRINTS},
    {"Write-Output", "write-output|echo|write", "noenumerate", PHI__PS_PRINTS},
    {"Write-Host", "write-host", "nonewline|foregroundcolor|backgroundcolor", PHI__PS_PRINTS},
    {"git", "git|git.exe", "", PHI__PS_RUNS},
    {"Select-Object", "select-object|select",
     "first|last|skip|skiplast|index|unique|property|expandproperty|excludeproperty",
     PHI__PS_FILTERS},
    {"Sort-Object", "sort-object|sort", "property|descending|unique|casesensitive|top|bottom",
     PHI__PS_FILTERS},
    {"Measure-Object", "measure-object|measure",
     "property|line|word|character|sum|average|minimum|maximum", PHI__PS_FILTERS},
    {"Get-Unique", "get-unique|gu", "", PHI__PS_FILTERS},
    {"Format-Table", "format-table|ft", "property|autosize|wrap|hidetableheaders", PHI__PS_FILTERS},
    {"Format-List", "format-list|fl", "property", PHI__PS_FILTERS},
    {"Out-String", "out-string", "width|stream|nonewline", PHI__PS_FILTERS}};

typedef struct phi__ps {
    phi_arena *arena;
    phi__shell *out;
    phi_str line;
    size_t at;
    bool lost; /* an allocation failed */
} phi__ps;

/* ---- words ---- */

static bool phi__ps_blank(char c) { return c == ' ' || c == '\t'; }

static bool phi__ps_ends(char c) { return c == ';' || c == '\n' || c == '\r' || c == '|'; }

static bool phi__ps_holds(phi_str text, const char *chars) {
    for (size_t i = 0; i < text.len; i++)
        if (strchr(chars, text.at[i]) != NULL) return true;
    return false;
}

/* True if a part of a path ends in a dot or a blank, which Windows ignores. */
static bool phi__ps_ends_oddly(phi_str path) {
    size_t from = 0;
    for (size_t i = 0; i <= path.len; i++) {
        if (i < path.len && strchr("/\\", path.at[i]) == NULL) continue;
        phi_str part = phi__str(path.at + from, i - from);
        from = i + 1;
        if (part.len > 0 && strchr(". ", part.at[part.len - 1]) != NULL &&
            !phi__str_is(part, ".") && !phi__str_is(part, ".."))
            return true;
    }
    return false;
}

/* True if Windows takes the text for the path that it spells. */
static bool phi__ps_path(phi_str text) {
    size_t home =
        phi__str_is(text, "~") || phi__str_starts(text, "~/") || phi__str_starts(text, "~\\") ? 1
                                                                                              : 0;
    return text.len > 0 && !phi__ps_holds(phi__str_from(text, home), "~:\"<>|,'{}()&;@#%^!") &&
           !phi__ps_ends_oddly(text);
}

/* Reads a word. False: it is not plain. `quoted` says if it is in quotes. */
static bool phi__ps_word(phi__ps *p, phi_str *text, bool *quoted) {
    phi_str line = p->line;
    char quote = line.at[p->at];
    *quoted = quote == '\'' || quote == '"';
    size_t from = *quoted ? ++p->at : p->at;
    while (p->at < line.len) {
        char c = line.at[p->at];
        if (*quoted
                ? c == quote || c == '\n' || c == '\r' || (quote == '"' && (c == '$' || c == '`'))
                : !phi__is_alnum(c) && strchr("-_./\\+=,*?~:", c) == NULL)
            break;
        p->at++;
    }
    *text = phi__str(line.at + from, p->at - from);
    if (*quoted && (p->at == line.len || line.at[p->at++] != quote)) return false;
    /* a comma makes a list of words, in which PowerShell also takes blanks */
    return (*quoted || text->len > 0) &&
           (p->at == line.len || phi__ps_blank(line.at[p->at]) || phi__ps_ends(line.at[p->at]));
}

static const phi__ps_command *phi__ps_named(phi_str name) {
    char lower[24];
    if (name.len > sizeof lower) return NULL;
    for (size_t i = 0; i < name.len; i++)
        lower[i] = name.at[i] >= 'A' && name.at[i] <= 'Z' ? (char)(name.at[i] + 32) : name.at[i];
    for (size_t i = 0; i < PHI__COUNT(phi__ps_commands); i++)
        if (phi__among(phi__str(lower, name.len), phi__ps_commands[i].names))
            return &phi__ps_commands[i];
    return NULL;
}

/* True if the text is a parameter of the command: a dash and its whole name. */
static bool phi__ps_parameter(const phi__ps_command *command, phi_str text) {
    char lower[24];
    if (text.len < 2 || text.len > sizeof lower) return false;
    for (size_t i = 1; i < text.len; i++)
        lower[i - 1] =
            text.at[i] >= 'A' && text.at[i] <= 'Z' ? (char)(text.at[i] + 32) : text.at[i];
    return phi__among(phi__str(lower, text.len - 1), command->parameters);
}

/* True if the command takes the word for what its text says. `pattern`: the text to search for. */
static bool phi__ps_fits(const phi__ps_command *command, phi_str text, bool quoted, bool pattern) {
    bool option = !quoted && text.len > 0 && text.at[0] == '-';
    switch (command->sort) {
    case PHI__PS_LISTS:
        return option ? phi__ps_parameter(command, text)
                      : phi__ps_path(text) && !phi__ps_holds(text, "[]");
    case PHI__PS_READS:
    case PHI__PS_SEARCHES:
        if (option) return phi__ps_parameter(command, text);
        return pattern || (phi__ps_path(text) && !phi__ps_holds(text, "*?[]"));
    case PHI__PS_PRINTS:
        return option ? phi__ps_parameter(command, text) : quoted || !phi__ps_holds(text, ",*?~:");
    case PHI__PS_RUNS: /* PowerShell divides "-a.b", and drops or changes some words in quotes */
        return phi__ps_path(text) && !phi__ps_holds(text, "*?[]") &&
               (text.at[0] != '-' || !phi__ps_holds(text, ". ")) && text.at[text.len - 1] != '\\';
    case PHI__PS_FILTERS:
        return option ? phi__ps_parameter(command, text) : !phi__ps_holds(text, "\\/~:{}");
    }
    return false;
}

/* ---- commands ---- */

/* Adds a word to the command. A path gets slashes for its backslashes. */
static bool phi__ps_add(phi__ps *p, phi__sh_command *c, phi_str text, bool path) {
    phi__sh_word *words = (phi__sh_word *)phi__sh_room(p->arena, c->words, c->count, sizeof *words);
    phi__sh_word word = PHI_ZERO;
    char *copy = (char *)phi_arena_alloc(p->arena, text.len + 1);
    p->lost = p->lost || words == NULL || copy == NULL;
    if (p->lost) return false;
    for (size_t i = 0; i < text.len; i++) copy[i] = text.at[i] == '\\' && path ? '/' : text.at[i];
    copy[text.len] = '\0';
    word.text = phi__str(copy, text.len);
    word.known = true;
    c->words = words;
    c->words[c->count++] = word;
    return ++p->out->words <= PHI__SH_WORDS_MOST;
}

/* Reads one command. `from` is the first command of its pipe; NULL: this is the first. */
static bool phi__ps_read(phi__ps *p, const phi__ps_command *from, const phi__ps_command **command) {
    phi__sh_command c = PHI_ZERO;
    phi_str text;
    bool quoted, searched = false, valued = false;
    if (!phi__ps_word(p, &text, &quoted) || quoted) return false;
    *command = phi__ps_named(text);
    if (*command == NULL || !phi__ps_add(p, &c, phi_str_of((*command)->name), false)) return false;
    phi__ps_sort sort = (*command)->sort;
    /* Objects of files bring a search the texts of these files. */
    bool texts = from != NULL && (from->sort == PHI__PS_READS || from->sort == PHI__PS_PRINTS ||
                                  from->sort == PHI__PS_RUNS);
    if (from == NULL ? sort == PHI__PS_FILTERS
                     : sort != PHI__PS_FILTERS && (sort != PHI__PS_SEARCHES || !texts))
        return false;
    for (;;) {
        while (p->at < p->line.len && phi__ps_blank(p->line.at[p->at])) p->at++;
        if (p->at == p->line.len || phi__ps_ends(p->line.at[p->at])) break;
        if (!phi__ps_word(p, &text, &quoted)) return false;
        bool option = !quoted && phi__str_starts(text, "-");
        bool named = valued && sort == PHI__PS_SEARCHES; /* the value of a parameter */
        bool pattern = sort == PHI__PS_SEARCHES && !option && !named && !searched;
        if (sort == PHI__PS_SEARCHES && option && phi__str_is_nocase(text, "-pattern")) {
            if (searched) return false;
            searched = true; /* the next word is the pattern */
            if (!phi__ps_add(p, &c, text, false)) return false;
            while (p->at < p->line.len && phi__ps_blank(p->line.at[p->at])) p->at++;
            if (p->at == p->line.len || phi__ps_ends(p->line.at[p->at]) ||
                !phi__ps_word(p, &text, &quoted) || (!quoted && phi__str_starts(text, "-")))
                return false;
            option = named = false;
            pattern = true;
        }
        if (!phi__ps_fits(*command, text, quoted, pattern)) return false;
        if (pattern) searched = true;
        valued = option &&
                 (phi__str_is_nocase(text, "-path") || phi__str_is_nocase(text, "-literalpath") ||
                  phi__str_is_nocase(text, "-context"));
        if (!phi__ps_add(p, &c, text, !pattern && sort != PHI__PS_PRINTS)) return false;
    }
    c.quiet = sort != PHI__PS_RUNS;
    if (sort == PHI__PS_RUNS && phi__reads_also(p->arena, &c) != PHI_OK) p->lost = true;
    if (!p->lost && !phi__sh_push(p->arena, p->out, &c)) p->lost = true;
    return !p->lost;
}

/* Reads all commands. False: the line is not plain, or memory ran out. */
static bool phi__ps_commands_of(phi__ps *p) {
    const phi__ps_command *from = NULL, *command;
    for (size_t i = 0; i < p->line.len; i++) {
        unsigned char c = (unsigned char)p->line.at[i];
        /* PowerShell also takes dashes, quotes and blanks of other scripts for its own. */
        if (c >= 0x7F || (c < ' ' && strchr("\t\r\n", c) == NULL) || c == '\0') return false;
    }
    while (p->at < p->line.len) {
        char c = p->line.at[p->at];
        if (phi__ps_blank(c) || (from == NULL && phi__ps_ends(c) && c != '|')) {
            p->at++;
            continue;
        }
        if (p->out->count >= PHI__SH_COMMANDS_MOST || !phi__ps_read(p, from, &command))
            return false;
        if (from == NULL) from = command;
        if (p->at == p->line.len) return true;
        bool pipe = p->line.at[p->at++] == '|';
        if (!pipe) from = NULL;
        if (pipe && p->at == p->line.len) return false;
    }
    return from == NULL; /* else a pipe leads nowhere */
}

PHI__FN phi_status phi__ps_parse(phi_arena *arena, phi_str line, phi__shell *out) {
    phi__ps p = PHI_ZERO;
    memset(out, 0, sizeof *out);
    p.arena = arena;
    p.out = out;
    p.line = line;
    if (line.len <= PHI__SH_BYTES_MOST && phi__ps_commands_of(&p)) return PHI_OK;
    if (p.lost) return PHI_NO_MEMORY;
    out->count = 0;
    out->unknown = "PowerShell, and more than plain commands that read";
    return PHI_OK;
}
