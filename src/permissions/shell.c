/* shell.c - the grammar of a command line: lists, pipes, compound commands, redirections. */
#include "permissions/shell_in.h"
#include "io/io_in.h"

typedef struct phi__sh_here {
    phi_str end;
    bool tabs, quoted;  /* tabs: the operator is <<-; quoted: nothing is expanded */
    phi__sh_word *body; /* receives the text */
} phi__sh_here;

/* The parser. When it stops, it moves `at` to `end`, which ends every loop. */
typedef struct phi__sh {
    phi_arena *arena;
    phi__buf buf; /* text of the words being read, the innermost last */
    const char *at, *end;
    phi__shell *out;
    unsigned depth, level;
    bool lost; /* an allocation failed */
    bool reads, by_pipe, posix;
    bool arrays; /* the word being read may assign an array */
    size_t pipe_from, fed;
    phi_str function; /* name of the function being defined; empty: none */
    unsigned repeats; /* number of enclosing loops and functions */
    /* `dirs`: where commands run; `there`: where they run if the last cd succeeds */
    const phi__sh_dirs *dirs, *there;
    unsigned moves; /* number of cd commands so far */
    bool single;    /* the last pipe was one simple command, without ! */
    phi__sh_sort sort;
    const phi__sh_word *body; /* the here-document being read; NULL: none */
    phi__sh_here here[PHI__SH_HERE_MOST];
    /* here-documents not read yet: of all lists; of the enclosing lists only */
    size_t here_count, here_outer;
} phi__sh;

/* ---- the text ---- */

/* Stops the parser, because the rest of the line is uncertain. */
static void phi__sh_stop(phi__sh *p, const char *why) {
    if (p->out->unknown == NULL) p->out->unknown = why;
    p->at = p->end;
}

static void phi__sh_invalid(phi__sh *p) { phi__sh_stop(p, "it is no valid command line"); }

static void phi__sh_lost(phi__sh *p) {
    p->lost = true;
    phi__sh_stop(p, "no memory");
}

/* Records that a part of the line is uncertain. The parser continues. */
static void phi__sh_doubt(phi__sh *p, const char *why) {
    if (p->out->doubt == NULL) p->out->doubt = why;
}

/* Records a doubt about bash syntax if another shell reads the line. */
static void phi__sh_dialect(phi__sh *p) {
    if (p->posix) phi__sh_doubt(p, "sh may read it in another way than bash");
}

static bool phi__sh_down(phi__sh *p) {
    if (++p->depth <= PHI__SH_DEPTH) return true;
    phi__sh_stop(p, "it is nested too deep");
    return false;
}

static char phi__sh_next(const phi__sh *p, size_t ahead) {
    return (size_t)(p->end - p->at) > ahead ? p->at[ahead] : '\0';
}

static bool phi__sh_at(const phi__sh *p, char c) { return p->at < p->end && *p->at == c; }

/* Advances past `c` if that character comes next. */
static bool phi__sh_char(phi__sh *p, char c) {
    if (!phi__sh_at(p, c)) return false;
    p->at++;
    return true;
}

/* Advances past the character that ended the caller's loop, or stops at the end of the text. */
static void phi__sh_close(phi__sh *p, const char *why) {
    if (p->at == p->end)
        phi__sh_stop(p, why);
    else
        p->at++;
}

static bool phi__sh_sees(const phi__sh *p, const char *text) {
    size_t n = strlen(text);
    return (size_t)(p->end - p->at) >= n && memcmp(p->at, text, n) == 0;
}

/* True if a word ends n characters after p->at. */
static bool phi__sh_ends(const phi__sh *p, size_t n) {
    return p->at + n == p->end || strchr(" \t\n;&|<>()", p->at[n]) != NULL;
}

/* True if this reserved word comes next, followed by a blank or an operator. */
static bool phi__sh_alone(const phi__sh *p, const char *word) {
    return phi__sh_sees(p, word) && phi__sh_ends(p, strlen(word));
}

static bool phi__sh_take(phi__sh *p, const char *word) {
    if (!phi__sh_alone(p, word)) return false;
    p->at += strlen(word);
    return true;
}

static bool phi__sh_name_char(char c) { return phi__is_alnum(c) || c == '_'; }

/* Handles a continued line (a backslash and a line end). Shells join such lines before they read
   anything else. A continued line counts as a blank if there is a blank on either side. Otherwise
   it may hide an operator, a name or a brace, and the parser stops. */
static void phi__sh_join(phi__sh *p, bool blank) {
    if (blank || strchr(" \t\n", phi__sh_next(p, 2)) != NULL)
        p->at += 2;
    else
        phi__sh_stop(p, "a line is continued in the midst of a word or an operator");
}

/* Skips blanks, continued lines and comments. */
static void phi__sh_blanks(phi__sh *p) {
    for (const char *from = p->at; p->at < p->end;) {
        if (*p->at == ' ' || *p->at == '\t')
            p->at++;
        else if (phi__sh_sees(p, "\\\n"))
            phi__sh_join(p, p->at > from);
        else if (*p->at == '#') {
            while (p->at < p->end && *p->at != '\n') p->at++;
        } else
            return;
    }
}

/* ---- growing ---- */

PHI__FN void *phi__sh_room(phi_arena *arena, void *old, size_t count, size_t size) {
    if (count != 0 && (count < 4 || (count & (count - 1)) != 0)) return old;
    void *made = phi_arena_alloc(arena, phi__mul(count == 0 ? 4 : phi__mul(count, 2), size));
    if (made != NULL && count > 0) memcpy(made, old, count * size);
    return made;
}

static void phi__sh_add(phi__sh *p, phi__sh_word **words, size_t *count, const phi__sh_word *word) {
    if (++p->out->words > PHI__SH_WORDS_MOST) {
        phi__sh_stop(p, "it has too many words");
        return;
    }
    phi__sh_word *all = (phi__sh_word *)phi__sh_room(p->arena, *words, *count, sizeof *all);
    if (all == NULL) {
        phi__sh_lost(p);
        return;
    }
    *words = all;
    all[(*count)++] = *word;
}

PHI__FN bool phi__sh_push(phi_arena *arena, phi__shell *out, const phi__sh_command *command) {
    if (out->count == PHI__SH_COMMANDS_MOST) {
        if (out->unknown == NULL) out->unknown = "it has too many commands";
        return true;
    }
    phi__sh_command *all =
        (phi__sh_command *)phi__sh_room(arena, out->commands, out->count, sizeof *all);
    if (all == NULL) return false;
    out->commands = all;
    all[out->count++] = *command;
    return true;
}

/* ---- quotes ---- */

static void phi__sh_expansion(phi__sh *p, bool in_quotes);
static void phi__sh_list(phi__sh *p, char close);

/* Reads a text in single quotes, from after the opening quote. */
static void phi__sh_single(phi__sh *p) {
    const char *from = p->at;
    while (p->at < p->end && *p->at != '\'') p->at++;
    if (p->at < p->end) phi__buf_add(&p->buf, from, (size_t)(p->at - from));
    phi__sh_close(p, "a quote is not closed");
}

/* Reads up to `most` digits of a base. *found is the number of digits. */
static uint32_t phi__sh_digits(phi__sh *p, unsigned base, unsigned most, unsigned *found) {
    uint32_t value = 0;
    for (*found = 0; *found < most && p->at < p->end; (*found)++, p->at++) {
        char c = *p->at;
        unsigned digit = phi__is_digit(c)       ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                         : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                                : 99;
        if (digit >= base) break;
        value = value * base + digit;
    }
    return value;
}

/* Reads an escape in $'...', from after the backslash. False if its meaning is not certain. */
static bool phi__sh_escape(phi__sh *p) {
    static const char from[] = "abeEfnrtv\\'\"?", to[] = "\a\b\033\033\f\n\r\t\v\\'\"?";
    char c = *p->at++;
    const char *simple = c != '\0' ? strchr(from, c) : NULL;
    bool octal = c >= '0' && c <= '7';
    if (simple != NULL) {
        phi__buf_char(&p->buf, to[simple - from]);
    } else if (octal || c == 'x' || c == 'u' || c == 'U') {
        unsigned found;
        p->at -= octal ? 1 : 0;
        unsigned most = octal ? 3 : c == 'x' ? 2 : c == 'u' ? 4 : 8;
        uint32_t value = phi__sh_digits(p, octal ? 8 : 16, most, &found);
        if (found == 0 || (value & 0xff) == 0) return false;
        if (value > 127 && (c == 'u' || c == 'U')) return false;
        phi__buf_char(&p->buf, (char)(unsigned char)(value & 0xff));
        return value < 256;
    } else if (c == 'c') {
        return false;
    } else {
        phi__buf_char(&p->buf, '\\');
        phi__buf_char(&p->buf, c);
    }
    return true;
}

/* Reads $'...' from after the opening quote. False if the text is not certain. */
static bool phi__sh_ansi(phi__sh *p) {
    bool known = true;
    phi__sh_dialect(p);
    while (p->at < p->end && *p->at != '\'') {
        char c = *p->at++;
        if (c != '\\')
            phi__buf_char(&p->buf, c);
        else if (p->at < p->end && !phi__sh_escape(p))
            known = false;
    }
    phi__sh_close(p, "a quote is not closed");
    return known;
}

/* Reads a text in double quotes, or a here-document (body). False if the text is not certain. */
static bool phi__sh_double(phi__sh *p, bool body) {
    bool known = true;
    while (p->at < p->end && (body || *p->at != '"')) {
        char c = *p->at;
        if (c == '\\' && p->end - p->at > 1) {
            char next = p->at[1];
            if (next != '\n' && strchr(body ? "$`\\" : "$`\"\\", next) == NULL)
                phi__buf_char(&p->buf, c);
            if (next != '\n') phi__buf_char(&p->buf, next);
            p->at += 2;
        } else if (c == '$' || c == '`') {
            const char *from = p->at;
            size_t len = p->buf.len;
            phi__sh_expansion(p, true);
            if (p->at - from > 1 || c == '`') known = false;
            p->buf.len = len;
            if (p->out->unknown == NULL) phi__buf_add(&p->buf, from, (size_t)(p->at - from));
        } else {
            phi__buf_char(&p->buf, c);
            p->at++;
        }
    }
    if (!body) phi__sh_close(p, "a quote is not closed");
    return known;
}

/* True if a variable of this name most likely holds a secret. */
static bool phi__names_secret(phi_str name) {
    /* A final $ means that the name must end with this part. */
    static const char *const parts[] = {
        "KEY",         "TOKEN",     "SECRET",   "PASS",       "CREDENTIAL", "_PWD$",
        "_AUTH$",      "AUTH_",     "OAUTH",    "JWT",        "COOKIE",     "AUTHORIZ",
        "BEARER",      "NETRC",     "DSN$",     "_PAT$",      "CERT",       "VAULT",
        "DATABASE",    "REDIS_URL", "PRIVATE",  "CONNECTION", "_CONN",      "MONGO",
        "AMQP",        "RABBIT",    "POSTGRES", "WEBHOOK",    "DB_URL$",    "SESSION",
        "KUBECONFIG",  "OTP$",      "_SK$",     "SALT$",      "CREDS",      "MNEMONIC",
        "SEED_PHRASE", "_PROXY$",   "_HOOK$",   "_URI$",      "SMTP_",      "CLOUDINARY"};
    for (size_t i = 0; i < PHI__COUNT(parts); i++) {
        size_t n = strlen(parts[i]), at = 0;
        bool end = parts[i][n - 1] == '$';
        char part[16];
        memcpy(part, parts[i], n + 1);
        if (end) part[--n] = '\0';
        if (end && name.len < n) continue;
        if (end) at = name.len - n;
        if (phi__str_find_nocase(name, at, part) != SIZE_MAX) return true;
    }
    return false;
}

/* ---- expansions ---- */

/* Reads a list of commands inside of a word, up to `close`. The enclosing list is unaffected. */
static void phi__sh_nested(phi__sh *p, char close) {
    size_t outer = p->here_outer, len = p->buf.len;
    const phi__sh_dirs *dirs = p->dirs;
    bool arrays = p->arrays;
    if (!phi__sh_down(p)) return;
    p->here_outer = p->here_count;
    p->arrays = false;
    phi__sh_list(p, close);
    p->arrays = arrays;
    p->dirs = dirs;
    if (p->here_count != p->here_outer) phi__sh_stop(p, "a here-document has no lines of its own");
    p->here_outer = outer;
    p->buf.len = len;
    p->depth--;
}

/* Reads a substitution in backquotes, from after the first one. Its text is parsed again without
   the backslashes that protect characters. */
static void phi__sh_backquote(phi__sh *p, bool in_quotes) {
    size_t len = p->buf.len;
    const char *end = p->end;
    phi_str text;
    while (p->at < p->end && *p->at != '`') {
        if (*p->at == '\\' && p->end - p->at > 1) {
            if (p->at[1] == '\n') { /* shells join the lines before they see comments */
                phi__sh_stop(p, "a continued line in a backquote");
                return;
            }
            if (in_quotes && p->at[1] == '"') /* in a here-document the quote stays escaped */
                phi__sh_doubt(p, "a quote in a backquote in quotes");
            if (strchr(in_quotes ? "$`\\\"" : "$`\\", p->at[1]) != NULL)
                p->at++;
            else
                phi__buf_char(&p->buf, *p->at++);
        }
        phi__buf_char(&p->buf, *p->at++);
    }
    if (p->at == p->end) {
        phi__sh_stop(p, "a backquote is not closed");
        return;
    }
    const char *at = p->at + 1;
    if (!phi__arena_str(p->arena, phi__str(p->buf.at + len, p->buf.len - len), &text)) {
        phi__sh_lost(p);
        return;
    }
    p->buf.len = len;
    p->at = text.at;
    p->end = text.at + text.len;
    phi__sh_nested(p, '\0');
    p->end = end;
    p->at = p->out->unknown != NULL ? end : at;
}

/* Reads one character of a text in which only quotes, escapes and expansions have a meaning. */
static void phi__sh_inside(phi__sh *p, bool in_quotes) {
    char c = *p->at;
    if (c == '$' && !in_quotes && phi__sh_next(p, 1) == '\'') {
        p->at += 2;
        (void)phi__sh_ansi(p);
    } else if (c == '$' || c == '`')
        phi__sh_expansion(p, in_quotes);
    else if (phi__sh_sees(p, "\\\n"))
        phi__sh_join(p, false);
    else if (c == '\\' && p->end - p->at > 1)
        p->at += 2;
    else if (c == '\'' && in_quotes)
        phi__sh_stop(p, "a single quote inside of \"${...}\"");
    else if ((c == '<' || c == '>') && phi__sh_next(p, 1) == '(')
        phi__sh_stop(p, "a process substitution inside of an expansion");
    else {
        p->at++;
        if (c == '"') (void)phi__sh_double(p, false);
        if (c == '\'') phi__sh_single(p);
    }
}

/* Records a doubt if the variable at `from` may hold a secret: OPENAI_API_KEY, db_password. */
static void phi__sh_secret(phi__sh *p, const char *from) {
    const char *to = from;
    while (to < p->end && phi__sh_name_char(*to)) to++;
    if (phi__names_secret(phi__str(from, (size_t)(to - from))))
        phi__sh_doubt(p, "a variable with the name of a key or a password");
}

/* True if a "${" only takes a variable's value. Other forms assign a value, or evaluate it. */
static bool phi__sh_parameter(const phi__sh *p) {
    const char *at = p->at, *end = p->end;
    if (end - at > 1 && at[0] == '#' && at[1] != '}') at++;
    const char *name = at;
    while (at < end && phi__sh_name_char(*at)) at++;
    if (at == name && at < end && strchr("@*#?-$", *at) != NULL) at++;
    if (at < end && at > name && *at == '[') {
        at++;
        while (at < end && (phi__is_digit(*at) || *at == '@' || *at == '*')) at++;
        if (at == end || *at++ != ']') return false;
    }
    if (at == name || at == end) return false;
    if (*at == ':') return end - at > 1 && at[1] != '\0' && strchr("-+?", at[1]) != NULL;
    return *at != '\0' && strchr("}-+?#%/^,", *at) != NULL;
}

/* Reads "${...}" from after the brace. */
static void phi__sh_braces(phi__sh *p, bool in_quotes) {
    size_t len = p->buf.len;
    char c = phi__sh_next(p, 0);
    if (c != '\0' && strchr(" \t\n|(", c) != NULL) {
        phi__sh_stop(p, "commands in \"${ ...; }\"");
        return;
    }
    phi__sh_secret(p, p->at + (c == '#' ? 1 : 0));
    if (!phi__sh_parameter(p)) phi__sh_doubt(p, "\"${...}\" that evaluates or assigns");
    if (!phi__sh_down(p)) return;
    while (p->at < p->end && *p->at != '}') phi__sh_inside(p, in_quotes);
    phi__sh_close(p, "\"${\" is not closed");
    p->buf.len = len;
    p->depth--;
}

/* Reads arithmetic from after "((" to "))". */
static void phi__sh_arithmetic(phi__sh *p) {
    const char *from = p->at;
    size_t len = p->buf.len;
    unsigned open = 0;
    if (!phi__sh_down(p)) return;
    while (p->at < p->end && (*p->at != ')' || open > 0)) {
        if (*p->at == '(') open++;
        if (*p->at == ')') open--;
        if (*p->at == '(' || *p->at == ')')
            p->at++;
        else
            phi__sh_inside(p, false);
    }
    /* Arithmetic evaluates a variable's value, which may run commands in subscripts. */
    for (; from < p->at; from++)
        if (*from == '$' || *from == '`' || (phi__sh_name_char(*from) && *from > '9'))
            phi__sh_doubt(p, "a value in arithmetic may hold commands");
    if (phi__sh_next(p, 1) != ')')
        phi__sh_stop(p, "\"((\" may be arithmetic or two subshells");
    else
        p->at += 2;
    p->buf.len = len;
    p->depth--;
}

/* At a $ or a backquote: reads an expansion, or a single $. The buffer stays as it was. */
static void phi__sh_expansion(phi__sh *p, bool in_quotes) {
    char c = *p->at++, next = phi__sh_next(p, 0);
    if (c == '`')
        phi__sh_backquote(p, in_quotes);
    else if (phi__sh_sees(p, "((")) {
        p->at += 2;
        phi__sh_arithmetic(p);
    } else if (next == '(') {
        p->at++;
        phi__sh_nested(p, ')');
    } else if (next == '{') {
        p->at++;
        phi__sh_braces(p, in_quotes);
    } else if (next == '[' || phi__sh_sees(p, "\\\n"))
        phi__sh_stop(p, "\"$[\", or a $ at the end of a continued line");
    else if (phi__is_digit(next))
        p->at++;
    else if (phi__sh_name_char(next)) {
        phi__sh_secret(p, p->at);
        while (p->at < p->end && phi__sh_name_char(*p->at)) p->at++;
        if (phi__sh_sees(p, "\\\n")) phi__sh_join(p, false);
    } else if (next != '\0' && strchr("@*#?-$!", next) != NULL)
        p->at++;
}

/* ---- words ---- */

typedef struct phi__sh_reading {
    phi__sh_word word;
    bool bracket;        /* a [ is open */
    bool braced, listed; /* braced: a { is open; listed: it has a comma or ".." */
    const char *from;
    size_t begin; /* start of the word in the buffer */
} phi__sh_reading;

/* Replaces the buffer's text from `len` on by the source text, whose meaning is not known. */
static void phi__sh_keep(phi__sh *p, phi__sh_reading *r, const char *from, size_t len) {
    r->word.known = false;
    p->buf.len = len;
    if (p->out->unknown == NULL) phi__buf_add(&p->buf, from, (size_t)(p->at - from));
}

static void phi__sh_dollar(phi__sh *p, phi__sh_reading *r) {
    const char *from = p->at;
    size_t len = p->buf.len;
    char next = phi__sh_next(p, 1);
    if (*from == '$' && (next == '\'' || next == '"')) {
        p->at += 2;
        r->word.quoted = true;
        if (next == '"') phi__sh_dialect(p);
        if (next == '\'' ? !phi__sh_ansi(p) : !phi__sh_double(p, false)) r->word.known = false;
        return;
    }
    phi__sh_expansion(p, false);
    if (p->at - from > 1 || *from == '`')
        phi__sh_keep(p, r, from, len);
    else
        phi__buf_char(&p->buf, '$');
}

/* Reads one unquoted character. Wildcards and braces make the word unknown. */
static void phi__sh_plain(phi__sh *p, phi__sh_reading *r) {
    char c = *p->at++;
    if (c == '#' && p->at - r->from > 1 && strchr(")`'\"}", p->at[-2]) != NULL)
        phi__sh_stop(p, "a # behind a quote or a substitution"); /* it may begin a comment */
    if (c == '*' || c == '?' || (c == ']' && r->bracket)) r->word.known = false;
    if (c == '[') r->bracket = true;
    if (c == '{') r->braced = true;
    if (r->braced && (c == ',' || (c == '.' && phi__sh_next(p, 0) == '.'))) r->listed = true;
    if (c == '}' && r->listed) r->word.braces = true;
    if (r->word.braces) r->word.known = false;
    phi__buf_char(&p->buf, c);
}

static bool phi__sh_read(phi__sh *p, phi__sh_word *out);

/* Reads the elements of an array, from after "(" to ")". */
static void phi__sh_parens(phi__sh *p) {
    phi__sh_word word;
    if (!phi__sh_down(p)) return;
    while (p->at < p->end && *p->at != ')') {
        phi__sh_blanks(p);
        if (p->at == p->end || *p->at == ')') break;
        if (*p->at == '[') phi__sh_doubt(p, "a subscript that is uncertain");
        if (*p->at == '\n' && p->here_count > 0) {
            phi__sh_stop(p, "a here-document that begins before an array of many lines");
            break;
        }
        if (*p->at == '\n')
            p->at++;
        else if (!phi__sh_read(p, &word)) /* bash ends the array, and runs the next lines */
            phi__sh_invalid(p);
    }
    phi__sh_close(p, "a parenthesis is not closed");
    p->depth--;
}

/* Reads a parenthesis in a word. After "=", the parenthesis begins an array. False if the word ends
   before the parenthesis. */
static bool phi__sh_paren(phi__sh *p, phi__sh_reading *r) {
    const char *from = p->at;
    size_t len = p->buf.len;
    char before = p->at > r->from ? p->at[-1] : '\0';
    if (before == '\0' || strchr("=?*+@!", before) == NULL) return false;
    if (before != '=') {
        phi__sh_stop(p, "a pattern with parentheses");
        return true;
    }
    if (!p->arrays || memchr(r->from, '=', (size_t)(p->at - r->from)) != p->at - 1) return false;
    p->at++;
    p->arrays = false;
    phi__sh_parens(p);
    p->arrays = true;
    if (p->at < p->end && strchr(" \t\n;&|<>)", *p->at) == NULL) phi__sh_invalid(p);
    phi__sh_keep(p, r, from, len);
    return true;
}

/* Reads one piece of a word. False if the word ends here. */
static bool phi__sh_piece(phi__sh *p, phi__sh_reading *r) {
    const char *from = p->at;
    size_t len = p->buf.len;
    char c = *p->at;
    if ((c == '<' || c == '>') && phi__sh_next(p, 1) == '(') {
        bool reads = p->reads, by_pipe = p->by_pipe;
        p->at += 2;
        p->reads = reads || c == '>'; /* ">(x)": x reads what the command prints */
        p->by_pipe = by_pipe || c == '>';
        phi__sh_nested(p, ')');
        p->reads = reads;
        p->by_pipe = by_pipe;
        phi__sh_keep(p, r, from, len);
        r->word.pipe = from == r->from;
    } else if (c == '(') {
        return phi__sh_paren(p, r);
    } else if (strchr(" \t\n;&|<>)", c) != NULL) {
        return false;
    } else if (phi__sh_sees(p, "\\\n")) {
        phi__sh_join(p, false);
    } else if (c == '\\') {
        size_t n = p->end - p->at > 1 ? 2 : 1;
        phi__buf_char(&p->buf, p->at[n - 1]);
        r->word.quoted = true;
        p->at += n;
    } else if (c == '\'' || c == '"') {
        p->at++;
        r->word.quoted = true;
        if (c == '\'')
            phi__sh_single(p);
        else if (!phi__sh_double(p, false))
            r->word.known = false;
    } else if (c == '$' || c == '`')
        phi__sh_dollar(p, r);
    else
        phi__sh_plain(p, r);
    return true;
}

/* Reads the word at p->at. False if there is none. */
static bool phi__sh_read(phi__sh *p, phi__sh_word *out) {
    bool any = false;
    phi__sh_reading r = PHI_ZERO;
    r.word.known = true;
    r.from = p->at;
    r.begin = p->buf.len;
    while (p->at < p->end) {
        bool pipe = r.word.pipe;
        if (!phi__sh_piece(p, &r)) break;
        if (pipe) r.word.pipe = false;
        any = true;
    }
    if (p->buf.failed) phi__sh_lost(p);
    phi_str text = phi__str("", 0);
    if (p->buf.len > r.begin) text = phi__str(p->buf.at + r.begin, p->buf.len - r.begin);
    if (any && p->out->unknown == NULL && !phi__arena_str(p->arena, text, &r.word.text))
        phi__sh_lost(p);
    p->buf.len = r.begin;
    *out = r.word;
    return any && p->out->unknown == NULL;
}

/* Reads a word. If there is none, the line is invalid. */
static bool phi__sh_need(phi__sh *p, phi__sh_word *out) {
    if (phi__sh_read(p, out)) return true;
    phi__sh_invalid(p);
    return false;
}

/* ---- here-documents ---- */

/* Finds the commands in an unquoted here-document, and removes its backslashes. */
static void phi__sh_here_body(phi__sh *p, phi__sh_word *body) {
    const char *at = p->at, *end = p->end;
    const phi__sh_word *outer = p->body;
    size_t len = p->buf.len;
    if (!phi__sh_down(p)) return;
    p->body = body;
    p->at = body->text.at;
    p->end = body->text.at + body->text.len;
    if (!phi__sh_double(p, true))
        body->known = false;
    else if (!phi__arena_str(p->arena, phi__str(p->buf.at + len, p->buf.len - len), &body->text))
        phi__sh_lost(p);
    p->body = outer;
    p->buf.len = len;
    p->depth--;
    p->end = end;
    p->at = p->out->unknown != NULL ? end : at;
}

static void phi__sh_here_read(phi__sh *p, const phi__sh_here *here) {
    const char *from = p->at, *to = p->end;
    size_t n = here->end.len;
    bool tabs = false; /* a line begins with a tab */
    while (p->at < p->end) {
        const char *begin = p->at;
        const char *stop = (const char *)memchr(begin, '\n', (size_t)(p->end - begin));
        phi_str line = phi__str(begin, (size_t)((stop != NULL ? stop : p->end) - begin));
        size_t slashes = 0;
        p->at = stop != NULL ? stop + 1 : p->end;
        while (here->tabs && phi__str_starts(line, "\t")) line = phi__str_from(line, 1);
        if (phi_str_equal(line, here->end)) {
            to = begin;
            break;
        }
        tabs = tabs || *begin == '\t';
        /* In a substitution, bash also ends a here-document at a line such as "END x)". */
        bool uncertain = line.len > n && memcmp(line.at, here->end.at, n) == 0 &&
                         memchr(line.at + n, ')', line.len - n) != NULL;
        /* A continued line of an unquoted here-document may end the document, or hide its end. */
        while (slashes < line.len && line.at[line.len - 1 - slashes] == '\\') slashes++;
        if (!here->quoted && slashes % 2 == 1) uncertain = true;
        /* In some shells, the end word right after a substitution ends the here-document. */
        if (!here->quoted && n > 0 && line.len > n &&
            memcmp(line.at + line.len - n, here->end.at, n) == 0 &&
            strchr(")}`", line.at[line.len - n - 1]) != NULL)
            uncertain = true;
        if (uncertain) {
            phi__sh_stop(p, "a here-document whose end is uncertain");
            return;
        }
    }
    here->body->text = phi__str(from, (size_t)(to - from));
    here->body->known = !here->tabs || !tabs;
    if (!here->quoted && to != from) phi__sh_here_body(p, here->body);
}

/* Skips blanks and line ends, and reads the here-documents that follow a line end. */
static void phi__sh_lines(phi__sh *p) {
    for (phi__sh_blanks(p); phi__sh_char(p, '\n'); phi__sh_blanks(p)) {
        if (p->here_outer > 0) {
            phi__sh_stop(p, "a here-document that begins before a substitution of many lines");
            continue;
        }
        for (size_t i = 0; i < p->here_count && p->out->unknown == NULL; i++)
            phi__sh_here_read(p, &p->here[i]);
        p->here_count = 0;
    }
}

/* ---- redirections ---- */

/* Returns the position after a redirection's descriptor, which is empty, a number or {name}. NULL
   if no redirection begins at p->at. */
static const char *phi__sh_descriptor(const phi__sh *p) {
    const char *at = p->at;
    bool brace = *at == '{';
    if (brace) at++;
    while (at < p->end && (phi__is_digit(*at) || (brace && phi__sh_name_char(*at)))) at++;
    if (brace && (at == p->end || *at++ != '}' || at - p->at < 3)) return NULL;
    if (at == p->end || (*at != '<' && *at != '>')) return NULL;
    if (p->end - at > 1 && at[1] == '(') return NULL; /* a process substitution */
    return at;
}

/* Reads the word after an operator. False if there is none before the next redirection. */
static bool phi__sh_target(phi__sh *p, phi__sh_word *out) {
    phi__sh_blanks(p);
    return p->at < p->end && phi__sh_descriptor(p) == NULL && phi__sh_read(p, out);
}

static void phi__sh_here_begin(phi__sh *p, phi__sh_command *command, bool tabs, bool standard) {
    phi__sh_word word;
    if (p->here_count == PHI__SH_HERE_MOST || !phi__sh_target(p, &word) || !word.known ||
        (tabs && phi__str_starts(word.text, "\t"))) {
        phi__sh_stop(p, "a here-document whose end is uncertain");
        return;
    }
    phi__sh_here *here = &p->here[p->here_count];
    here->end = word.text;
    here->tabs = tabs;
    here->quoted = word.quoted;
    here->body = (phi__sh_word *)phi__arena_zero(p->arena, sizeof *here->body);
    if (here->body == NULL) {
        phi__sh_lost(p);
        return;
    }
    here->body->text = phi__str("", 0);
    p->here_count++;
    if (standard) command->input = here->body;
    command->reads = true;
}

static void phi__sh_here_string(phi__sh *p, phi__sh_command *command, bool standard) {
    phi__sh_word word;
    if (!phi__sh_target(p, &word)) {
        phi__sh_invalid(p);
        return;
    }
    command->reads = true;
    if (!standard) return;
    command->input = (phi__sh_word *)phi_arena_alloc(p->arena, sizeof word);
    if (command->input == NULL)
        phi__sh_lost(p);
    else
        *command->input = word;
}

static void phi__sh_file(phi__sh *p, phi__sh_command *command, bool writes, bool duplicates,
                         bool standard) {
    /* If a descriptor other than 0 reads a file, "> /dev/stdout" may write to that file. */
    static const char moved[] = "a file that is read may be written by its descriptor";
    phi__sh_redirect redirect = PHI_ZERO;
    redirect.writes = writes;
    if (duplicates) {
        /* For bash the dash is a whole word: in "<&-./x", the next word is ./x. */
        phi__sh_blanks(p);
        if (phi__sh_char(p, '-')) {
            if (!phi__sh_ends(p, 0))
                phi__sh_stop(p, "a word close behind the dash of a redirection");
            if (!writes) command->reads = true;
            return;
        }
    }
    if (!phi__sh_target(p, &redirect.target)) {
        phi__sh_invalid(p);
        return;
    }
    if (!writes) command->reads = true;
    if (!writes && !duplicates && !standard) phi__sh_doubt(p, moved);
    phi_str target = redirect.target.text;
    size_t i = 0;
    while (i < target.len && phi__is_digit(target.at[i])) i++;
    if (i < target.len && target.at[i] == '-') i++;
    if (duplicates && redirect.target.known && target.len > 0 && i == target.len) {
        while (target.len > 1 && target.at[0] == '0' && target.at[1] != '-')
            target = phi__str_from(target, 1);
        if (!standard && target.at[0] == '0') phi__sh_doubt(p, moved);
        return;
    }
    phi__sh_redirect *all = (phi__sh_redirect *)phi__sh_room(p->arena, command->redirects,
                                                             command->redirect_count, sizeof *all);
    if (all == NULL) {
        phi__sh_lost(p);
        return;
    }
    command->redirects = all;
    all[command->redirect_count++] = redirect;
}

/* Reads a redirection at p->at. False if there is none. */
static bool phi__sh_redirection(phi__sh *p, phi__sh_command *command) {
    static const char *const operators[] = {"<<<", "<<-", "<<", "<>", "<&", "<",
                                            "&>>", "&>",  ">>", ">&", ">|", ">"};
    const char *at = phi__sh_sees(p, "&>") ? p->at : phi__sh_descriptor(p);
    size_t i = 0, zeros = 0;
    if (at == NULL) return false;
    phi_str descriptor = phi__str(p->at, (size_t)(at - p->at));
    if (phi__str_starts(descriptor, "{")) phi__sh_doubt(p, "a variable that a redirection sets");
    p->at = at;
    while (!phi__sh_sees(p, operators[i])) i++;
    p->at += strlen(operators[i]);
    while (zeros < descriptor.len && descriptor.at[zeros] == '0') zeros++;
    bool standard = descriptor.len > 0 ? zeros == descriptor.len : i < 6; /* descriptor 0 */
    if (standard) command->inputs++;
    if (i == 6 || i == 7) phi__sh_dialect(p);
    if (i == 0)
        phi__sh_here_string(p, command, standard);
    else if (i < 3)
        phi__sh_here_begin(p, command, i == 1, standard);
    else
        phi__sh_file(p, command, i != 4 && i != 5, i == 4 || i == 9, standard);
    return true;
}

/* ---- tests: [[ ... ]] ---- */

static bool phi__sh_test_number(const phi__sh_word *word) {
    size_t i = word->text.len > 1 && word->text.at[0] == '-' ? 1 : 0;
    if (!word->known || word->text.len == 0) return false;
    while (i < word->text.len && phi__is_digit(word->text.at[i])) i++;
    return i == word->text.len;
}

/* Records a doubt if an operand of a test may run commands. Both sides of a numeric comparison are
   arithmetic, and -v and -R take a name with a subscript. */
static void phi__sh_test_operand(phi__sh *p, const phi__sh_word *left, const phi__sh_word *right) {
    static const char compare[] = "-eq|-ne|-lt|-le|-gt|-ge";
    bool bad = (phi__among(left->text, compare) && !phi__sh_test_number(right)) ||
               (phi__among(right->text, compare) && !phi__sh_test_number(left));
    if (phi__among(left->text, "-v|-R"))
        bad = bad || !right->known || phi__str_find(right->text, 0, "[") != SIZE_MAX;
    if (bad) phi__sh_doubt(p, "a value in a test may hold commands");
}

/* Reads a word of a test. If there is none before "]]", the line is invalid. */
static bool phi__sh_test_word(phi__sh *p, phi__sh_word *out) {
    phi__sh_blanks(p);
    if (!phi__sh_alone(p, "]]") && p->at < p->end && phi__sh_read(p, out)) return true;
    phi__sh_invalid(p);
    return false;
}

/* Reads the regular expression after =~. Parentheses and bars are part of it. */
static void phi__sh_test_regex(phi__sh *p) {
    phi__sh_word word;
    size_t open = 0;
    phi__sh_blanks(p);
    const char *from = p->at;
    while (p->at < p->end && strchr(" \t\n", *p->at) == NULL) {
        if (*p->at == ')' && open == 0) break;
        if (strchr("()|", *p->at) == NULL) {
            (void)phi__sh_need(p, &word);
            continue;
        }
        open += *p->at == '(' ? 1 : *p->at == ')' ? SIZE_MAX : 0;
        p->at++;
    }
    if (p->at == from || open > 0) phi__sh_invalid(p);
}

/* Reads an operator and the right side of a test, if these follow the left side. */
static void phi__sh_test_compared(phi__sh *p, const phi__sh_word *left) {
    static const char binary[] = "=|==|!=|=~|-eq|-ne|-lt|-le|-gt|-ge|-nt|-ot|-ef";
    phi__sh_word sign, right;
    phi__sh_blanks(p);
    if (phi__sh_at(p, '<') || phi__sh_at(p, '>')) {
        if (phi__sh_next(p, 1) == '(') phi__sh_stop(p, "a process substitution in a test");
        p->at += p->at < p->end;
        (void)phi__sh_test_word(p, &right);
        return;
    }
    if (p->at == p->end || strchr("&|)\n", *p->at) != NULL || phi__sh_alone(p, "]]")) return;
    if (!phi__sh_need(p, &sign)) return;
    if (sign.quoted || !phi__among(sign.text, binary)) {
        phi__sh_invalid(p);
        return;
    }
    phi__sh_test_operand(p, left, &sign);
    if (phi__str_is(sign.text, "=~"))
        phi__sh_test_regex(p);
    else if (phi__sh_test_word(p, &right))
        phi__sh_test_operand(p, &sign, &right);
}

static void phi__sh_test_all(phi__sh *p);

/* Reads one test, with or without a "!", or several tests in parentheses. */
static void phi__sh_test_one(phi__sh *p) {
    phi__sh_word word, right;
    do phi__sh_lines(p);
    while (phi__sh_take(p, "!"));
    if (phi__sh_char(p, '(')) {
        phi__sh_test_all(p);
        if (!phi__sh_char(p, ')')) phi__sh_invalid(p);
    } else if (phi__sh_test_word(p, &word)) {
        if (word.quoted || !phi__among(word.text, "-[abcdefghknoprstuvwxzGLNORS]"))
            phi__sh_test_compared(p, &word);
        else if (phi__sh_test_word(p, &right))
            phi__sh_test_operand(p, &word, &right);
    }
}

static void phi__sh_test_all(phi__sh *p) {
    (void)phi__sh_down(p);
    phi__sh_test_one(p);
    for (phi__sh_lines(p); phi__sh_sees(p, "&&") || phi__sh_sees(p, "||"); phi__sh_lines(p)) {
        p->at += 2;
        phi__sh_test_one(p);
    }
    p->depth--;
}

/* ---- the directories that commands may run in, as cd changes them ---- */

enum { PHI__DIRS_PATH_MOST = 4095 }; /* max. bytes of a directory's path */

static phi__sh_word phi__dirs_word(const char *text) {
    phi__sh_word word = PHI_ZERO;
    word.text = phi_str_of(text);
    word.known = true;
    return word;
}

/* Adds a directory that is not in the list yet. False if the list is full. */
static bool phi__dirs_add(phi__sh_dirs *dirs, const phi__sh_word *dir) {
    for (size_t i = 0; i < dirs->count; i++)
        if (phi_str_equal(dirs->at[i].text, dir->text)) return true;
    if (dirs->count == PHI__SH_DIRS_MOST) return false;
    dirs->at[dirs->count++] = *dir;
    return true;
}

/* Sets *out to the directory `to`, relative to `from`. False if there is no memory. */
static bool phi__dirs_join(phi_arena *arena, const phi__sh_word *from, const phi__sh_word *to,
                           phi__sh_word *out) {
    char first = to->text.len > 0 ? to->text.at[0] : '\0';
    *out = *to;
    if (from->text.len == 0 || first == '~' || first == '$' || phi__path_absolute(to->text))
        return true;
    phi__buf text;
    phi__buf_init(&text, arena->memory);
    phi__buf_add_str(&text, from->text);
    phi__buf_char(&text, '/');
    phi__buf_add_str(&text, to->text);
    bool good = !text.failed && phi__arena_str(arena, phi__buf_str(&text), &out->text);
    phi__buf_free(&text);
    out->known = from->known && to->known;
    return good;
}

/* Adds the directories of `more` to *dirs. A NULL list means the workspace. False if there is no
   memory; *dirs is unchanged. */
static bool phi__dirs_merge(phi_arena *arena, phi__shell *out, const phi__sh_dirs **dirs,
                            const phi__sh_dirs *more) {
    phi__sh_word workspace = phi__dirs_word("");
    if (*dirs == more) return true;
    phi__sh_dirs *all = (phi__sh_dirs *)phi__arena_zero(arena, sizeof *all);
    if (all == NULL) return false;
    for (const phi__sh_dirs *from = *dirs;; from = more) {
        for (size_t i = 0; i < (from != NULL ? from->count : 1); i++)
            if (!phi__dirs_add(all, from != NULL ? &from->at[i] : &workspace)) out->lost = true;
        if (from == more) break;
    }
    *dirs = all;
    return true;
}

PHI__FN const phi__sh_dirs *phi__dirs_go(phi_arena *arena, phi__shell *out,
                                         const phi__sh_dirs *from, const phi__sh_word *to) {
    phi__sh_word workspace = phi__dirs_word(""), dir;
    phi__sh_dirs *all = (phi__sh_dirs *)phi__arena_zero(arena, sizeof *all);
    if (all == NULL) return NULL;
    for (size_t i = 0; i < (from != NULL ? from->count : 1); i++) {
        if (!phi__dirs_join(arena, from != NULL ? &from->at[i] : &workspace, to, &dir)) return NULL;
        if (dir.text.len > PHI__DIRS_PATH_MOST || !phi__dirs_add(all, &dir)) out->lost = true;
    }
    return phi__dirs_merge(arena, out, &out->visited, all) ? all : NULL;
}

/* Adds the directories of `more` to *dirs. False if there is no memory; the parser stops. */
static bool phi__dirs_widen(phi__sh *p, const phi__sh_dirs **dirs, const phi__sh_dirs *more) {
    if (phi__dirs_merge(p->arena, p->out, dirs, more)) return true;
    phi__sh_lost(p);
    return false;
}

/* If the command is a cd, updates the directories that later commands run in. */
static void phi__dirs_after(phi__sh *p, const phi__sh_command *c) {
    phi__sh_word home = phi__dirs_word("~");
    const phi__sh_word *to = &home;
    size_t i = 0;
    while (i < c->count && phi__sh_one_of(&c->words[i], "command|builtin|-p|--")) i++;
    if (i == c->count || !phi__sh_one_of(&c->words[i], "cd|pushd|chdir|popd")) return;
    bool back = phi__str_is(c->words[i].text, "popd") || /* to an earlier directory */
                (i + 1 == c->count && phi__str_is(c->words[i].text, "pushd"));
    for (i++; i < c->count && to == &home; i++) {
        phi_str text = c->words[i].text;
        if (phi__str_is(text, "-") || phi__str_starts(text, "+")) back = true;
        if (text.len == 0 || (text.at[0] != '-' && text.at[0] != '+')) to = &c->words[i];
    }
    if (p->repeats > 0) p->out->lost = true;
    p->moves++;
    if (!back) {
        p->there = phi__dirs_go(p->arena, p->out, p->dirs, to);
        if (p->there == NULL) phi__sh_lost(p);
    } else {
        p->there = p->dirs;
        if (p->out->visited == NULL)
            p->out->lost = true;
        else
            (void)phi__dirs_widen(p, &p->there, p->out->visited);
    }
    (void)phi__dirs_widen(p, &p->dirs, p->there);
}

/* ---- simple commands ---- */

static void phi__sh_emit(phi__sh *p, phi__sh_command *command) {
    command->pipe_from = p->pipe_from;
    command->level = p->level;
    command->posix = p->posix;
    command->dirs = p->dirs;
    command->inner_to = p->out->count;
    command->body = p->body;
    command->sort = p->sort;
    command->by_pipe = p->by_pipe;
    command->fed = p->fed;
    command->function = p->function;
    if (p->reads) command->reads = true;
    if (!phi__sh_push(p->arena, p->out, command)) phi__sh_lost(p);
    phi__dirs_after(p, command);
    if (p->out->unknown != NULL) p->at = p->end;
}

/* Reads the redirections of a compound command. Commands from `from` on read the same input. */
static void phi__sh_redirects(phi__sh *p, size_t from) {
    size_t to = p->out->count;
    phi__sh_command command = PHI_ZERO;
    command.inner_from = p->out->count;
    do phi__sh_blanks(p);
    while (p->at < p->end && phi__sh_redirection(p, &command));
    for (size_t i = from; i < to; i++) {
        phi__sh_command *c = &p->out->commands[i];
        if (p->out->count > to) c->pipe_from = p->pipe_from; /* as in { ls; curl x; } > >(sh) */
        if (!command.reads) continue;
        if (command.inputs > 0) c->by_pipe = false;
        if (c->reads) continue;
        c->reads = true;
        c->fed = to + 1;
        c->input = command.input;
        c->inputs = command.inputs;
    }
    command.input = NULL;
    if (command.redirect_count > 0 || command.reads) phi__sh_emit(p, &command);
}

/* True if the word at `from` is an assignment. If its subscript is not plain, the parser stops. */
static bool phi__sh_assigns(phi__sh *p, const char *from) {
    const char *at = from;
    while (at < p->end && phi__sh_name_char(*at) && (at > from || *at > '9')) at++;
    if (at == from || at == p->end) return false;
    bool index = *at == '[';
    if (index) {
        at++;
        while (at < p->end && (phi__sh_name_char(*at) || strchr("@*$-", *at) != NULL)) {
            if (!phi__is_digit(*at)) phi__sh_doubt(p, "a value in a subscript may hold commands");
            at++;
        }
        if (at == p->end || *at != ']' || ++at == p->end) {
            phi__sh_stop(p, "a subscript that is uncertain");
            return false;
        }
    }
    if (*at == '+') at++;
    if (at < p->end && *at == '=') {
        if (index || at[-1] == '+') phi__sh_dialect(p); /* in dash, x+=y is a command */
        return true;
    }
    if (index) phi__sh_stop(p, "a subscript that is uncertain");
    return false;
}

static void phi__sh_command_read(phi__sh *p, bool compound);

/* Reads the body of a function after NAME (). The body must be a compound command other than a
   function. Only other shells accept a simple command here. */
static void phi__sh_function(phi__sh *p, phi_str name) {
    phi_str outer = p->function;
    size_t i = p->out->count;
    p->function = name;
    p->repeats++;
    p->out->later = true;
    phi__sh_lines(p);
    if (phi__sh_alone(p, "function")) phi__sh_invalid(p);
    phi__sh_command_read(p, true);
    for (; i < p->out->count; i++) p->out->commands[i].reads = true; /* reads its caller's input */
    p->repeats--;
    p->function = outer;
}

static void phi__sh_argument(phi__sh *p, phi__sh_command *command) {
    /* A reserved word in this place is split over two lines, or has no meaning. */
    static const char reserved[] =
        "!|{|}|[[][[]|if|then|else|elif|fi|do|done|for|while|until|case|esac|select|time|coproc|"
        "function|in|]]";
    const char *from = p->at;
    phi__sh_word word;
    bool first = command->count == 0, outer = p->arrays;
    bool assigns = first && phi__sh_assigns(p, from);
    if (p->out->unknown != NULL) return;
    p->arrays = assigns;
    if (!phi__sh_need(p, &word)) return;
    p->arrays = outer;
    if (!assigns && first &&
        (memchr(from, '=', (size_t)(p->at - from)) != NULL ||
         memchr(from + 1, '[', (size_t)(p->at - from) - 1) != NULL ||
         (!word.quoted && phi__among(word.text, reserved))))
        phi__sh_stop(p, "a word in parts that may be more than a command's name");
    else if (assigns)
        phi__sh_add(p, &command->assigned, &command->assigned_count, &word);
    else
        phi__sh_add(p, &command->words, &command->count, &word);
}

static void phi__sh_simple(phi__sh *p) {
    phi__sh_command command = PHI_ZERO;
    command.inner_from = p->out->count;
    for (;;) {
        phi__sh_blanks(p);
        if (p->at == p->end) break;
        if (phi__sh_redirection(p, &command)) continue;
        if (strchr("\n;&|)", *p->at) != NULL) break;
        if (!phi__sh_char(p, '(')) {
            phi__sh_argument(p, &command);
            continue;
        }
        phi__sh_blanks(p);
        if (command.count == 1 && command.assigned_count + command.redirect_count == 0 &&
            command.input == NULL && phi__sh_char(p, ')'))
            phi__sh_function(p, command.words[0].text);
        else
            phi__sh_invalid(p);
        return;
    }
    if (command.count + command.assigned_count + command.redirect_count > 0 ||
        command.input != NULL)
        phi__sh_emit(p, &command);
    else
        phi__sh_invalid(p);
}

/* ---- compound commands ---- */

static bool phi__sh_closes(const phi__sh *p) {
    static const char *const words[] = {"then", "do", "done", "fi", "elif", "else", "esac", "}"};
    for (size_t i = 0; i < PHI__COUNT(words); i++)
        if (phi__sh_alone(p, words[i])) return true;
    return false;
}

/* If the commands from index `from` on call the function being defined at least `calls` times, adds
   a command with the name of the classic fork bomb. Examples: f() { f | f & }, f() { f & f; }. */
static void phi__sh_bomb(phi__sh *p, size_t from, size_t calls) {
    phi__sh_word word = phi__dirs_word(":(){:|:&};:");
    size_t n = 0;
    if (p->function.len == 0) return;
    for (size_t i = from; i < p->out->count; i++) {
        const phi__sh_command *c = &p->out->commands[i];
        n += c->count > 0 && phi_str_equal(c->words[0].text, p->function);
    }
    if (n < calls) return;
    phi__sh_command command = PHI_ZERO;
    command.inner_from = p->out->count;
    phi__sh_add(p, &command.words, &command.count, &word);
    phi__sh_emit(p, &command);
}

static void phi__sh_and_or(phi__sh *p);

/* Reads commands up to a closing word or sign, which is not taken. False if there is no command. */
static bool phi__sh_body(phi__sh *p) {
    bool any = false;
    for (;; any = true) {
        size_t from = p->out->count;
        phi__sh_lines(p);
        if (p->at == p->end || *p->at == ')' || *p->at == ';' || phi__sh_closes(p)) return any;
        phi__sh_and_or(p);
        phi__sh_blanks(p);
        if (p->at == p->end || phi__sh_sees(p, ";;") || phi__sh_sees(p, ";&")) return true;
        if (*p->at == '&') phi__sh_bomb(p, from, 1);
        if (p->at == p->end) return true;
        if (*p->at == ';' || *p->at == '&')
            p->at++;
        else if (*p->at != '\n')
            return true;
    }
}

static void phi__sh_expect(phi__sh *p, const char *word) {
    if (!phi__sh_take(p, word)) phi__sh_invalid(p);
}

/* Reads a list that must end with `word` and must not be empty. */
static void phi__sh_until(phi__sh *p, const char *word) {
    if (!phi__sh_body(p)) phi__sh_invalid(p);
    phi__sh_expect(p, word);
}

/* Reads for and select, with do ... done or { ... }. The variable counts as assigned. */
static void phi__sh_for(phi__sh *p) {
    phi__sh_word word;
    size_t semicolons = 0;
    phi__sh_command command = PHI_ZERO;
    command.inner_from = p->out->count;
    phi__sh_blanks(p);
    if (phi__sh_sees(p, "((")) {
        phi__sh_dialect(p); /* in dash, (( begins subshells */
        p->at += 2;
        const char *from = p->at;
        phi__sh_arithmetic(p);
        for (; from < p->at; from++) semicolons += *from == ';';
        if (semicolons != 2) phi__sh_invalid(p);
    } else {
        if (!phi__sh_need(p, &word)) return;
        if (!word.known) phi__sh_invalid(p);
        phi__sh_add(p, &command.assigned, &command.assigned_count, &word);
        phi__sh_lines(p);
        bool in = phi__sh_take(p, "in");
        if (in) phi__sh_blanks(p);
        for (; in && p->at < p->end && *p->at != ';' && *p->at != '\n'; phi__sh_blanks(p))
            if (phi__sh_need(p, &word))
                phi__sh_add(p, &command.assigned, &command.assigned_count, &word);
        if (p->out->unknown == NULL) phi__sh_emit(p, &command);
    }
    phi__sh_blanks(p);
    (void)phi__sh_char(p, ';');
    phi__sh_lines(p);
    p->repeats++;
    if (phi__sh_take(p, "{"))
        phi__sh_until(p, "}");
    else {
        phi__sh_expect(p, "do");
        phi__sh_until(p, "done");
    }
    p->repeats--;
}

static void phi__sh_case(phi__sh *p) {
    phi__sh_word word;
    phi__sh_blanks(p);
    (void)phi__sh_need(p, &word);
    phi__sh_lines(p);
    phi__sh_expect(p, "in");
    for (;;) {
        phi__sh_lines(p);
        if (p->out->unknown != NULL || phi__sh_take(p, "esac")) return;
        (void)phi__sh_char(p, '(');
        do {
            phi__sh_blanks(p);
            (void)phi__sh_need(p, &word);
            phi__sh_blanks(p);
        } while (phi__sh_char(p, '|'));
        if (!phi__sh_char(p, ')')) phi__sh_invalid(p);
        (void)phi__sh_body(p);
        if (phi__sh_sees(p, ";;&"))
            p->at += 3;
        else if (phi__sh_sees(p, ";;") || phi__sh_sees(p, ";&"))
            p->at += 2;
        else if (!phi__sh_alone(p, "esac"))
            phi__sh_invalid(p);
    }
}

/* Reads a compound command. False if the command is a simple one. */
static bool phi__sh_compound(phi__sh *p) {
    phi__sh_word word;
    if (phi__sh_sees(p, "((")) {
        phi__sh_dialect(p); /* in dash, (( begins subshells */
        p->at += 2;
        phi__sh_arithmetic(p);
    } else if (phi__sh_char(p, '(')) {
        const phi__sh_dirs *dirs = p->dirs;
        phi__sh_until(p, ")");
        p->dirs = dirs;
    } else if (phi__sh_take(p, "{"))
        phi__sh_until(p, "}");
    else if (phi__sh_take(p, "if")) {
        bool any;
        do {
            phi__sh_until(p, "then");
            any = phi__sh_body(p);
        } while (any && phi__sh_take(p, "elif"));
        if (any && phi__sh_take(p, "else")) any = phi__sh_body(p);
        if (!any) phi__sh_invalid(p);
        phi__sh_expect(p, "fi");
    } else if (phi__sh_take(p, "while") || phi__sh_take(p, "until")) {
        p->repeats++;
        phi__sh_until(p, "do");
        phi__sh_until(p, "done");
        p->repeats--;
    } else if (phi__sh_take(p, "for") || phi__sh_take(p, "select"))
        phi__sh_for(p);
    else if (phi__sh_take(p, "case"))
        phi__sh_case(p);
    else if (phi__sh_take(p, "[[")) {
        phi__sh_dialect(p);
        phi__sh_test_all(p);
        phi__sh_expect(p, "]]");
    } else if (phi__sh_take(p, "function")) {
        phi__sh_blanks(p);
        if (!phi__sh_need(p, &word)) return true;
        phi__sh_blanks(p);
        if (phi__sh_char(p, '(')) {
            phi__sh_blanks(p);
            phi__sh_expect(p, ")");
        }
        phi__sh_function(p, word.text);
    } else
        return false;
    return true;
}

static void phi__sh_command_read(phi__sh *p, bool compound) {
    size_t from = p->out->count;
    (void)phi__sh_down(p);
    bool simple = !phi__sh_compound(p);
    if (!simple)
        phi__sh_redirects(p, from);
    else if (compound)
        phi__sh_invalid(p);
    else
        phi__sh_simple(p);
    p->single = simple;
    p->depth--;
}

/* ---- lists ---- */

static void phi__sh_pipe(phi__sh *p) {
    size_t outer = p->pipe_from, from = p->out->count;
    bool reads = p->reads, by_pipe = p->by_pipe;
    bool negated = false, several = false, bang;
    if (!reads) p->pipe_from = from; /* otherwise this pipe is inside of another one */
    while ((bang = phi__sh_take(p, "!")) || phi__sh_take(p, "time")) {
        negated = negated || bang;
        if (!bang) phi__sh_dialect(p); /* other shells run a program named time */
        phi__sh_blanks(p);
        if (phi__sh_take(p, "-p")) phi__sh_blanks(p);
    }
    phi__sh_command_read(p, false);
    phi__sh_blanks(p);
    while (phi__sh_sees(p, "|") && !phi__sh_sees(p, "||")) {
        p->at += phi__sh_sees(p, "|&") ? 2 : 1;
        p->reads = p->by_pipe = several = true;
        /* each command in { ls; curl x; } prints into the pipe */
        for (size_t i = from; i < p->out->count; i++) {
            p->out->commands[i].pipe_from = p->pipe_from;
            p->out->commands[i].prints = true;
        }
        phi__sh_lines(p);
        phi__sh_command_read(p, false);
        phi__sh_blanks(p);
    }
    bool piped = p->reads != reads;
    p->reads = reads;
    p->by_pipe = by_pipe;
    if (piped) phi__sh_bomb(p, from, 2);
    p->single = p->single && !several && !negated;
    p->pipe_from = outer;
}

/* Reads pipes joined by && and ||. After "cd x &&", commands run in x. After the list, commands may
   run in x or in the directories before it. */
static void phi__sh_and_or(phi__sh *p) {
    const phi__sh_dirs *all = p->dirs;
    bool narrow = false, either = false;
    for (;;) {
        unsigned moves = p->moves;
        size_t from = p->out->count;
        phi__sh_pipe(p);
        if (!phi__sh_sees(p, "&&") && !phi__sh_sees(p, "||")) break;
        if (!phi__dirs_widen(p, &all, p->dirs)) return;
        either = either || *p->at == '|'; /* in "a || cd x && b", b may run without the cd */
        if (!either && p->single && p->moves == moves + 1 && p->out->count == from + 1) {
            p->dirs = p->there;
            narrow = true;
        } else if (either) {
            p->dirs = all;
            narrow = false;
        }
        p->at += 2;
        phi__sh_lines(p);
    }
    if (narrow) {
        (void)phi__dirs_widen(p, &all, p->dirs);
        p->dirs = all;
    }
}

/* Reads a list up to `close`, which is taken; a `close` of 0 means the end of the text. */
static void phi__sh_list(phi__sh *p, char close) {
    (void)phi__sh_body(p);
    if (p->out->unknown != NULL) return;
    if (close == '\0' ? p->at != p->end : !phi__sh_char(p, close)) phi__sh_invalid(p);
}

PHI__FN phi_status phi__sh_line(phi_arena *arena, phi_str line, const phi__sh_command *around,
                                phi__shell *out) {
    const char *before = out->unknown; /* set by the line that runs this one */
    phi__sh p = PHI_ZERO;
    out->unknown = NULL;
    p.arena = arena;
    phi__buf_init(&p.buf, arena->memory);
    p.at = line.at;
    p.end = line.at + line.len;
    p.out = out;
    if (around != NULL) {
        p.level = around->level + 1;
        p.reads = around->reads;
        p.by_pipe = around->by_pipe && around->inputs == 0;
        p.pipe_from = around->pipe_from;
        p.fed = around->fed;
        p.posix = around->posix;
        p.dirs = around->dirs;
        p.body = around->body;
        p.sort = around->sort;
    }
    if (line.len > PHI__SH_BYTES_MOST || (line.len > 0 && memchr(line.at, '\0', line.len)))
        phi__sh_stop(&p, "it is too long, or holds a NUL");
    else
        phi__sh_list(&p, '\0');
    bool lost = p.lost || p.buf.failed; /* a text in the buffer may be cut */
    phi__buf_free(&p.buf);
    if (before != NULL) out->unknown = before;
    return lost ? PHI_NO_MEMORY : PHI_OK;
}
