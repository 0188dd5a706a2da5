/* shell.c - the grammar of a command line: lists, pipes, compound commands, redirections. */
#include "permissions/shell_in.h"

/* ======== Words of a command line: quotes, escapes, expansions, and the commands in them. */

PHI__FN void phi__shell_word_stop(phi__shell_parser *p, const char *why) {
    if (p->out->unknown == NULL) p->out->unknown = why;
    p->at = p->end;
}

PHI__FN void phi__shell_word_doubt(phi__shell_parser *p, const char *why) {
    if (p->out->doubt == NULL) p->out->doubt = why;
}

PHI__FN void phi__shell_word_dialect(phi__shell_parser *p) {
    if (p->posix) phi__shell_word_doubt(p, "sh may read it in another way than bash");
}

PHI__FN bool phi__shell_word_sees(const phi__shell_parser *p, const char *text) {
    size_t n = strlen(text);
    return (size_t)(p->end - p->at) >= n && memcmp(p->at, text, n) == 0;
}

PHI__FN bool phi__shell_word_alone(const phi__shell_parser *p, const char *word) {
    size_t n = strlen(word);
    return phi__shell_word_sees(p, word) &&
           (p->at + n == p->end || strchr(" \t\n;&|<>()", p->at[n]) != NULL);
}

PHI__FN bool phi__shell_word_take(phi__shell_parser *p, const char *word) {
    if (!phi__shell_word_alone(p, word)) return false;
    p->at += strlen(word);
    return true;
}

static char phi__shell_word_next(const phi__shell_parser *p, size_t ahead) {
    return (size_t)(p->end - p->at) > ahead ? p->at[ahead] : '\0';
}

static bool phi__shell_word_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* At a continued line, which is joined before anything else is read. It counts as a
   blank if there is one on either side; else it may hide an operator, a name or a brace. */
static void phi__shell_word_join(phi__shell_parser *p, bool blank) {
    if (blank || strchr(" \t\n", phi__shell_word_next(p, 2)) != NULL)
        p->at += 2;
    else
        phi__shell_word_stop(p, "a line is continued in the midst of a word or an operator");
}

PHI__FN void phi__shell_word_blanks(phi__shell_parser *p) {
    const char *from = p->at;
    while (p->at < p->end) {
        if (*p->at == ' ' || *p->at == '\t')
            p->at++;
        else if (phi__shell_word_sees(p, "\\\n"))
            phi__shell_word_join(p, p->at > from);
        else if (*p->at == '#') {
            while (p->at < p->end && *p->at != '\n') p->at++;
        } else
            return;
    }
}

static bool phi__shell_word_down(phi__shell_parser *p) {
    if (++p->depth <= PHI__SHELL_DEPTH) return true;
    phi__shell_word_stop(p, "it is nested too deep");
    return false;
}

static void phi__shell_word_expansion(phi__shell_parser *p, bool in_quotes);

/* ---- quotes ---- */

/* Behind the opening quote. */
static void phi__shell_word_single(phi__shell_parser *p) {
    const char *from = p->at;
    while (p->at < p->end && *p->at != '\'') p->at++;
    if (p->at == p->end) {
        phi__shell_word_stop(p, "a quote is not closed");
        return;
    }
    phi__buf_add(&p->buf, from, (size_t)(p->at - from));
    p->at++;
}

/* Up to `most` digits of a base; *found: how many there were. */
static uint32_t phi__shell_word_digits(phi__shell_parser *p, unsigned base, unsigned most,
                                       unsigned *found) {
    uint32_t value = 0;
    for (*found = 0; *found < most && p->at < p->end; (*found)++, p->at++) {
        char c = *p->at;
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                         : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                                : 99;
        if (digit >= base) break;
        value = value * base + digit;
    }
    return value;
}

/* Behind a backslash in $'...'. */
static bool phi__shell_word_escape(phi__shell_parser *p) {
    static const char from[] = "abeEfnrtv\\'\"?", to[] = "\a\b\033\033\f\n\r\t\v\\'\"?";
    char c = *p->at++;
    const char *simple = c != '\0' ? strchr(from, c) : NULL;
    if (simple != NULL) {
        phi__buf_char(&p->buf, to[simple - from]);
        return true;
    }
    if ((c >= '0' && c <= '7') || c == 'x' || c == 'u' || c == 'U') {
        /* A number in $'...'. */
        char kind = c;
        unsigned found;
        uint32_t value;
        if (kind >= '0' && kind <= '7') {
            p->at--;
            value = phi__shell_word_digits(p, 8, 3, &found);
        } else
            value = phi__shell_word_digits(p, 16, kind == 'x' ? 2 : kind == 'u' ? 4 : 8, &found);
        if (found == 0 || (value & 0xff) == 0) return false;
        if (value > 127 && (kind == 'u' || kind == 'U')) return false;
        phi__buf_char(&p->buf, (char)(unsigned char)(value & 0xff));
        return value < 256;
    }
    if (c == 'c') return false;
    phi__buf_char(&p->buf, '\\');
    phi__buf_char(&p->buf, c);
    return true;
}

/* Behind $'. False: not known. */
static bool phi__shell_word_ansi(phi__shell_parser *p) {
    bool known = true;
    phi__shell_word_dialect(p);
    while (p->at < p->end && *p->at != '\'') {
        char c = *p->at++;
        if (c != '\\')
            phi__buf_char(&p->buf, c);
        else if (p->at < p->end && !phi__shell_word_escape(p))
            known = false;
    }
    if (p->at == p->end)
        phi__shell_word_stop(p, "a quote is not closed");
    else
        p->at++;
    return known;
}

/* Behind the opening quote, or all of a here-document. False: not known. */
static bool phi__shell_word_double(phi__shell_parser *p, bool body) {
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
            phi__shell_word_expansion(p, true);
            if (p->at - from > 1 || c == '`') known = false;
            p->buf.len = len;
            if (p->out->unknown == NULL) phi__buf_add(&p->buf, from, (size_t)(p->at - from));
        } else {
            phi__buf_char(&p->buf, c);
            p->at++;
        }
    }
    if (body) return known;
    if (p->at == p->end)
        phi__shell_word_stop(p, "a quote is not closed");
    else
        p->at++;
    return known;
}

PHI__FN void phi__shell_word_body(phi__shell_parser *p, phi__shell_word *body) {
    const char *at = p->at, *end = p->end;
    size_t len = p->buf.len;
    if (!phi__shell_word_down(p)) return;
    p->at = body->text.at;
    p->end = body->text.at + body->text.len;
    if (!phi__shell_word_double(p, true))
        body->known = false;
    else if (!phi__arena_str(p->arena, phi__str(p->buf.at + len, p->buf.len - len), &body->text))
        p->lost = true;
    p->buf.len = len;
    p->depth--;
    p->end = end;
    p->at = p->out->unknown != NULL ? end : at;
}

/* ---- expansions ---- */

/* A list of commands inside of a word, up to `close`. What the commands around it wait for stays
   theirs. */
static void phi__shell_word_list(phi__shell_parser *p, char close) {
    size_t outer = p->here_outer, len = p->buf.len;
    const phi__shell_dirs *dirs = p->dirs;
    bool arrays = p->arrays;
    if (!phi__shell_word_down(p)) return;
    p->here_outer = p->here_count;
    p->arrays = false;
    p->list(p, close);
    p->arrays = arrays;
    p->dirs = dirs;
    if (p->here_count != p->here_outer)
        phi__shell_word_stop(p, "a here-document has no lines of its own");
    p->here_outer = outer;
    p->buf.len = len;
    p->depth--;
}

/* Behind a backquote. Its text is read again without the backslashes that protected it. */
static void phi__shell_word_backquote(phi__shell_parser *p, bool in_quotes) {
    size_t len = p->buf.len;
    const char *end = p->end;
    phi_str text;
    while (p->at < p->end && *p->at != '`') {
        if (*p->at == '\\' && p->end - p->at > 1) {
            if (p->at[1] == '\n') { /* joined before a comment is seen */
                phi__shell_word_stop(p, "a continued line in a backquote");
                return;
            }
            if (in_quotes && p->at[1] == '"') /* it stays one in a here-document */
                phi__shell_word_doubt(p, "a quote in a backquote in quotes");
            if (strchr(in_quotes ? "$`\\\"" : "$`\\", p->at[1]) != NULL)
                p->at++;
            else
                phi__buf_char(&p->buf, *p->at++);
        }
        phi__buf_char(&p->buf, *p->at++);
    }
    if (p->at == p->end) {
        phi__shell_word_stop(p, "a backquote is not closed");
        return;
    }
    const char *at = p->at + 1;
    if (!phi__arena_str(p->arena, phi__str(p->buf.at + len, p->buf.len - len), &text)) {
        p->lost = true;
        return;
    }
    p->buf.len = len;
    p->at = text.at;
    p->end = text.at + text.len;
    phi__shell_word_list(p, '\0');
    p->end = end;
    p->at = p->out->unknown != NULL ? end : at;
}

/* One character of a text in which only quotes, escapes and expansions count. */
static void phi__shell_word_inside(phi__shell_parser *p, bool in_quotes) {
    char c = *p->at;
    if (c == '$' && !in_quotes && phi__shell_word_next(p, 1) == '\'') {
        p->at += 2;
        (void)phi__shell_word_ansi(p);
    } else if (c == '$' || c == '`')
        phi__shell_word_expansion(p, in_quotes);
    else if (phi__shell_word_sees(p, "\\\n"))
        phi__shell_word_join(p, false);
    else if (c == '\\' && p->end - p->at > 1)
        p->at += 2;
    else if (c == '"') {
        p->at++;
        (void)phi__shell_word_double(p, false);
    } else if (c == '\'' && in_quotes)
        phi__shell_word_stop(p, "a single quote inside of \"${...}\"");
    else if (c == '\'') {
        p->at++;
        phi__shell_word_single(p);
    } else if ((c == '<' || c == '>') && phi__shell_word_next(p, 1) == '(')
        phi__shell_word_stop(p, "a process substitution inside of an expansion");
    else
        p->at++;
}

/* The name of a variable: OPENAI_API_KEY, db_password... */
static void phi__shell_word_secret(phi__shell_parser *p, const char *from) {
    const char *to = from;
    while (to < p->end && phi__shell_word_name(*to)) to++;
    if (phi__names_secret(phi__str(from, (size_t)(to - from))))
        phi__shell_word_doubt(p, "a variable with the name of a key or a password");
}

/* Behind "${": whether it yields the value of a variable, and no more. Other forms evaluate the
   text of a value (as arithmetic, as a name, as a prompt), or assign. */
static bool phi__shell_word_parameter(const phi__shell_parser *p) {
    const char *at = p->at, *end = p->end;
    if (end - at > 1 && at[0] == '#' && at[1] != '}') at++;
    const char *name = at;
    while (at < end && phi__shell_word_name(*at)) at++;
    if (at == name && at < end && strchr("@*#?-$", *at) != NULL) at++;
    if (at < end && at > name && *at == '[') {
        at++;
        while (at < end && ((*at >= '0' && *at <= '9') || *at == '@' || *at == '*')) at++;
        if (at == end || *at++ != ']') return false;
    }
    if (at == name || at == end) return false;
    if (*at == ':') return end - at > 1 && at[1] != '\0' && strchr("-+?", at[1]) != NULL;
    return *at != '\0' && strchr("}-+?#%/^,", *at) != NULL;
}

/* Behind "${". */
static void phi__shell_word_braces(phi__shell_parser *p, bool in_quotes) {
    size_t len = p->buf.len;
    char c = phi__shell_word_next(p, 0);
    if (c == ' ' || c == '\t' || c == '\n' || c == '|' || c == '(') {
        phi__shell_word_stop(p, "commands in \"${ ...; }\"");
        return;
    }
    phi__shell_word_secret(p, p->at + (c == '#' ? 1 : 0));
    if (!phi__shell_word_parameter(p))
        phi__shell_word_doubt(p, "\"${...}\" that evaluates or assigns");
    if (!phi__shell_word_down(p)) return;
    while (p->at < p->end && *p->at != '}') phi__shell_word_inside(p, in_quotes);
    if (p->at == p->end)
        phi__shell_word_stop(p, "\"${\" is not closed");
    else
        p->at++;
    p->buf.len = len;
    p->depth--;
}

/* Values in arithmetic are expressions again, and commands stand in their subscripts. */
static bool phi__shell_word_numbers(const char *from, const char *to) {
    for (; from < to; from++)
        if (*from == '$' || *from == '`' || (phi__shell_word_name(*from) && *from > '9'))
            return false;
    return true;
}

PHI__FN void phi__shell_word_arithmetic(phi__shell_parser *p) {
    const char *from = p->at;
    size_t len = p->buf.len;
    unsigned open = 0;
    if (!phi__shell_word_down(p)) return;
    while (p->at < p->end) {
        if (*p->at == '(')
            open++;
        else if (*p->at == ')' && open > 0)
            open--;
        else if (*p->at == ')')
            break;
        if (*p->at == '(' || *p->at == ')')
            p->at++;
        else
            phi__shell_word_inside(p, false);
    }
    if (!phi__shell_word_numbers(from, p->at))
        phi__shell_word_doubt(p, "a value in arithmetic may hold commands");
    if (phi__shell_word_next(p, 1) != ')')
        phi__shell_word_stop(p, "\"((\" may be arithmetic or two subshells");
    else
        p->at += 2;
    p->buf.len = len;
    p->depth--;
}

/* At a $ or a backquote; its pieces stay out of the buffer. A $ that begins nothing is one
   character. */
static void phi__shell_word_expansion(phi__shell_parser *p, bool in_quotes) {
    char c = *p->at++, next = phi__shell_word_next(p, 0);
    if (c == '`')
        phi__shell_word_backquote(p, in_quotes);
    else if (phi__shell_word_sees(p, "((")) {
        p->at += 2;
        phi__shell_word_arithmetic(p);
    } else if (next == '(') {
        p->at++;
        phi__shell_word_list(p, ')');
    } else if (next == '{') {
        p->at++;
        phi__shell_word_braces(p, in_quotes);
    } else if (next == '[' || phi__shell_word_sees(p, "\\\n"))
        phi__shell_word_stop(p, "\"$[\", or a $ at the end of a continued line");
    else if (next >= '0' && next <= '9')
        p->at++;
    else if (phi__shell_word_name(next)) {
        phi__shell_word_secret(p, p->at);
        while (p->at < p->end && phi__shell_word_name(*p->at)) p->at++;
        if (phi__shell_word_sees(p, "\\\n")) phi__shell_word_join(p, false);
    } else if (next != '\0' && strchr("@*#?-$!", next) != NULL)
        p->at++;
}

PHI__FN void phi__shell_word_parens(phi__shell_parser *p) {
    phi__shell_word word;
    if (!phi__shell_word_down(p)) return;
    while (p->at < p->end && *p->at != ')') {
        phi__shell_word_blanks(p);
        if (p->at == p->end || *p->at == ')') break;
        if (*p->at == '[') phi__shell_word_doubt(p, "a subscript that is uncertain");
        if (*p->at == '\n' && p->here_count > 0) {
            phi__shell_word_stop(p, "a here-document that begins before an array of many lines");
            break;
        }
        if (*p->at == '\n')
            p->at++;
        else if (!phi__shell_word_read(p, &word)) /* bash ends it here, and runs the next lines */
            phi__shell_word_invalid(p);
    }
    if (p->at == p->end)
        phi__shell_word_stop(p, "a parenthesis is not closed");
    else
        p->at++;
    p->depth--;
}

/* ---- words ---- */

typedef struct phi__shell_reading {
    phi__shell_word word;
    bool bracket;        /* an open one */
    bool braced, listed; /* an open brace, and a comma or ".." in it */
    const char *from;
    size_t begin; /* in the buffer */
} phi__shell_reading;

/* As it stands in the source, for it is not known. */
static void phi__shell_word_keep(phi__shell_parser *p, phi__shell_reading *r, const char *from,
                                 size_t len) {
    r->word.known = false;
    p->buf.len = len;
    if (p->out->unknown == NULL) phi__buf_add(&p->buf, from, (size_t)(p->at - from));
}

static void phi__shell_word_dollar(phi__shell_parser *p, phi__shell_reading *r) {
    const char *from = p->at;
    size_t len = p->buf.len;
    char next = phi__shell_word_next(p, 1);
    if (*from == '$' && (next == '\'' || next == '"')) {
        p->at += 2;
        r->word.quoted = true;
        if (next == '"') phi__shell_word_dialect(p);
        if (next == '\'' ? !phi__shell_word_ansi(p) : !phi__shell_word_double(p, false))
            r->word.known = false;
        return;
    }
    phi__shell_word_expansion(p, false);
    if (p->at - from > 1 || *from == '`')
        phi__shell_word_keep(p, r, from, len);
    else
        phi__buf_char(&p->buf, '$');
}

/* Patterns and braces: the shell makes file names, or several words, of it. */
static void phi__shell_word_plain(phi__shell_parser *p, phi__shell_reading *r) {
    char c = *p->at++;
    if (c == '#' && p->at - r->from > 1 && strchr(")`'\"}", p->at[-2]) != NULL)
        phi__shell_word_stop(p, "a # behind a quote or a substitution"); /* or a comment */
    if (c == '*' || c == '?' || (c == ']' && r->bracket)) r->word.known = false;
    if (c == '[') r->bracket = true;
    if (c == '{') r->braced = true;
    if (r->braced && (c == ',' || (c == '.' && phi__shell_word_next(p, 0) == '.')))
        r->listed = true;
    if (c == '}' && r->listed) r->word.braces = true;
    if (r->word.braces) r->word.known = false;
    phi__buf_char(&p->buf, c);
}

/* A parenthesis in a word: an array behind "=". False: it ends the word. */
static bool phi__shell_word_paren(phi__shell_parser *p, phi__shell_reading *r) {
    const char *from = p->at;
    size_t len = p->buf.len;
    char before = p->at > r->from ? p->at[-1] : '\0';
    if (before == '\0' || strchr("=?*+@!", before) == NULL) return false;
    if (before != '=') {
        phi__shell_word_stop(p, "a pattern with parentheses");
        return true;
    }
    if (!p->arrays || memchr(r->from, '=', (size_t)(p->at - r->from)) != p->at - 1) return false;
    p->at++;
    p->arrays = false;
    phi__shell_word_parens(p);
    p->arrays = true;
    if (p->at < p->end && strchr(" \t\n;&|<>)", *p->at) == NULL) phi__shell_word_invalid(p);
    phi__shell_word_keep(p, r, from, len);
    return true;
}

/* One piece of a word; false: the word ends here. */
static bool phi__shell_word_piece(phi__shell_parser *p, phi__shell_reading *r) {
    const char *from = p->at;
    size_t len = p->buf.len;
    char c = *p->at;
    if ((c == '<' || c == '>') && phi__shell_word_next(p, 1) == '(') {
        bool reads = p->reads, by_pipe = p->by_pipe;
        p->at += 2;
        p->reads = reads || c == '>'; /* it reads what the command prints */
        p->by_pipe = by_pipe || c == '>';
        phi__shell_word_list(p, ')');
        p->reads = reads;
        p->by_pipe = by_pipe;
        phi__shell_word_keep(p, r, from, len);
        r->word.pipe = from == r->from;
    } else if (c == '(') {
        return phi__shell_word_paren(p, r);
    } else if (strchr(" \t\n;&|<>)", c) != NULL) {
        return false;
    } else if (c == '\\') {
        if (phi__shell_word_next(p, 1) == '\n') {
            phi__shell_word_join(p, false);
            return true;
        }
        phi__buf_char(&p->buf, p->end - p->at > 1 ? p->at[1] : c);
        r->word.quoted = true;
        p->at += p->end - p->at > 1 ? 2 : 1;
    } else if (c == '\'' || c == '"') {
        p->at++;
        r->word.quoted = true;
        if (c == '\'')
            phi__shell_word_single(p);
        else if (!phi__shell_word_double(p, false))
            r->word.known = false;
    } else if (c == '$' || c == '`')
        phi__shell_word_dollar(p, r);
    else
        phi__shell_word_plain(p, r);
    return true;
}

PHI__FN bool phi__shell_word_read(phi__shell_parser *p, phi__shell_word *out) {
    bool any = false;
    phi__shell_reading r = PHI_ZERO;
    r.word.known = true;
    r.from = p->at;
    r.begin = p->buf.len;
    while (p->at < p->end && !p->lost) {
        bool pipe = r.word.pipe;
        if (!phi__shell_word_piece(p, &r)) break;
        if (pipe) r.word.pipe = false;
        any = true;
    }
    if (p->buf.failed || p->lost) {
        p->lost = true;
        phi__shell_word_stop(p, "no memory");
        return false;
    }
    if (any && p->out->unknown == NULL &&
        !phi__arena_str(p->arena, phi__str(p->buf.at + r.begin, p->buf.len - r.begin),
                        &r.word.text))
        p->lost = true;
    p->buf.len = r.begin;
    *out = r.word;
    return any && !p->lost && p->out->unknown == NULL;
}

PHI__FN void phi__shell_word_invalid(phi__shell_parser *p) {
    phi__shell_word_stop(p, "it is no valid command line");
}

PHI__FN void phi__shell_word_lost(phi__shell_parser *p) {
    p->lost = true;
    phi__shell_word_stop(p, "no memory");
}

/* ---- growing ---- */

PHI__FN void *phi__shell_word_room(phi_arena *arena, void *old, size_t count, size_t size) {
    if (count != 0 && (count < 4 || (count & (count - 1)) != 0)) return old;
    void *made = phi_arena_alloc(arena, phi__mul(count == 0 ? 4 : phi__mul(count, 2), size));
    if (made != NULL && count > 0) memcpy(made, old, count * size);
    return made;
}

PHI__FN void phi__shell_word_add(phi__shell_parser *p, phi__shell_word **words, size_t *count,
                                 const phi__shell_word *word) {
    phi__shell_word *all;
    if (++p->out->words > PHI__SHELL_WORDS_MOST) {
        phi__shell_word_stop(p, "it has too many words");
        return;
    }
    all = (phi__shell_word *)phi__shell_word_room(p->arena, *words, *count, sizeof *all);
    if (all == NULL) {
        phi__shell_word_lost(p);
        return;
    }
    *words = all;
    all[(*count)++] = *word;
}

/* ======== Redirections of a command line, and the here-documents behind a line's end. */

/* ---- here-documents ---- */

static bool phi__shell_redirect_here_ends(const phi__shell_here *here, phi_str line) {
    while (here->tabs && line.len > 0 && line.at[0] == '\t') {
        line.at++;
        line.len--;
    }
    return phi_str_equal(line, here->end);
}

/* In a substitution, bash takes a line for the end that begins so and has a parenthesis later. */
static bool phi__shell_redirect_here_closes(const phi__shell_here *here, phi_str line) {
    while (here->tabs && line.len > 0 && line.at[0] == '\t') {
        line.at++;
        line.len--;
    }
    return line.len > here->end.len && memcmp(line.at, here->end.at, here->end.len) == 0 &&
           memchr(line.at + here->end.len, ')', line.len - here->end.len) != NULL;
}

/* A line of an unquoted one that is continued may end it, or hide its end. */
static bool phi__shell_redirect_continued(phi_str line) {
    size_t n = 0;
    while (n < line.len && line.at[line.len - 1 - n] == '\\') n++;
    return n % 2 == 1;
}

/* Whether a line begins with a tab. */
static bool phi__shell_redirect_tabs(phi_str text) {
    return (text.len > 0 && text.at[0] == '\t') || phi__str_find(text, 0, "\n\t") != SIZE_MAX;
}

/* The word that ends it, close behind a substitution: some shells see the end there. */
static bool phi__shell_redirect_close_end(const phi__shell_here *here, phi_str line) {
    size_t n = here->end.len;
    return n > 0 && line.len > n && memcmp(line.at + line.len - n, here->end.at, n) == 0 &&
           strchr(")}`", line.at[line.len - n - 1]) != NULL;
}

static void phi__shell_redirect_here_read(phi__shell_parser *p, const phi__shell_here *here) {
    const char *from = p->at, *to = p->end;
    while (p->at < p->end) {
        const char *begin = p->at;
        const char *stop = (const char *)memchr(begin, '\n', (size_t)(p->end - begin));
        phi_str line = phi__str(begin, (size_t)((stop != NULL ? stop : p->end) - begin));
        p->at = stop != NULL ? stop + 1 : p->end;
        if (phi__shell_redirect_here_ends(here, line)) {
            to = begin;
            break;
        }
        if (phi__shell_redirect_here_closes(here, line) ||
            (!here->quoted &&
             (phi__shell_redirect_continued(line) || phi__shell_redirect_close_end(here, line)))) {
            phi__shell_word_stop(p, "a here-document whose end is uncertain");
            return;
        }
    }
    here->body->text = phi__str(from, (size_t)(to - from));
    here->body->known = !here->tabs || !phi__shell_redirect_tabs(here->body->text);
    if (here->quoted || to == from) return;
    const phi__shell_word *body = p->body;
    p->body = here->body;
    phi__shell_word_body(p, here->body);
    p->body = body;
}

/* At a line's end. */
static void phi__shell_redirect_newline(phi__shell_parser *p) {
    p->at++;
    if (p->here_outer > 0) {
        phi__shell_word_stop(p, "a here-document that begins before a substitution of many lines");
        return;
    }
    for (size_t i = 0; i < p->here_count && p->out->unknown == NULL; i++)
        phi__shell_redirect_here_read(p, &p->here[i]);
    p->here_count = 0;
}

PHI__FN void phi__shell_redirect_lines(phi__shell_parser *p) {
    for (;;) {
        phi__shell_word_blanks(p);
        if (p->at == p->end || *p->at != '\n') return;
        phi__shell_redirect_newline(p);
    }
}

/* ---- redirections ---- */

/* Where a redirection begins: its descriptor, a number or {name}; NULL: there is none. */
static const char *phi__shell_redirect_descriptor(const phi__shell_parser *p) {
    const char *at = p->at;
    bool brace = *at == '{';
    if (brace) at++;
    while (at < p->end &&
           ((*at >= '0' && *at <= '9') ||
            (brace && (*at == '_' || (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z')))))
        at++;
    if (brace && (at == p->end || *at++ != '}' || at - p->at < 3)) return NULL;
    if (at == p->end || (*at != '<' && *at != '>')) return NULL;
    if (p->end - at > 1 && at[1] == '(') return NULL; /* a process substitution */
    return at;
}

/* The word behind an operator. False: there is none, or it belongs to the next redirection. */
static bool phi__shell_redirect_word(phi__shell_parser *p, phi__shell_word *out) {
    phi__shell_word_blanks(p);
    return p->at < p->end && phi__shell_redirect_descriptor(p) == NULL &&
           phi__shell_word_read(p, out);
}

static void phi__shell_redirect_here(phi__shell_parser *p, phi__shell_command *command, bool tabs,
                                     bool standard) {
    phi__shell_word word;
    if (p->here_count == PHI__SHELL_HERE_MOST || !phi__shell_redirect_word(p, &word) ||
        !word.known || (tabs && phi__str_starts(word.text, "\t"))) {
        phi__shell_word_stop(p, "a here-document whose end is uncertain");
        return;
    }
    phi__shell_here *here = &p->here[p->here_count];
    here->end = word.text;
    here->tabs = tabs;
    here->quoted = word.quoted;
    here->body = (phi__shell_word *)phi__arena_zero(p->arena, sizeof *here->body);
    if (here->body == NULL) {
        phi__shell_word_lost(p);
        return;
    }
    here->body->text = phi__str("", 0);
    p->here_count++;
    if (standard) command->input = here->body;
    command->reads = true;
}

static void phi__shell_redirect_text(phi__shell_parser *p, phi__shell_command *command,
                                     bool standard) {
    phi__shell_word word;
    if (!phi__shell_redirect_word(p, &word)) {
        phi__shell_word_invalid(p);
        return;
    }
    command->reads = true;
    if (!standard) return;
    command->input = (phi__shell_word *)phi_arena_alloc(p->arena, sizeof word);
    if (command->input == NULL)
        phi__shell_word_lost(p);
    else
        *command->input = word;
}

/* Of >& and <&: a number, or "-". */
static bool phi__shell_redirect_duplicates(const phi__shell_word *word) {
    size_t i = 0;
    while (i < word->text.len && word->text.at[i] >= '0' && word->text.at[i] <= '9') i++;
    if (i < word->text.len && word->text.at[i] == '-') i++;
    return word->known && word->text.len > 0 && i == word->text.len;
}

/* Behind <& and >&. bash takes a dash for all of the word: in "<&-./x", ./x is the next one. */
static bool phi__shell_redirect_closes(phi__shell_parser *p) {
    phi__shell_word_blanks(p);
    if (p->at == p->end || *p->at != '-') return false;
    p->at++;
    if (p->at < p->end && strchr(" \t\n;&|<>()", *p->at) == NULL)
        phi__shell_word_stop(p, "a word close behind the dash of a redirection");
    return true;
}

/* Notes that a file which is read is at another descriptor than 0: "> /dev/stdout" opens it again,
   and writes it. */
static void phi__shell_redirect_moved(phi__shell_parser *p) {
    phi__shell_word_doubt(p, "a file that is read may be written by its descriptor");
}

static void phi__shell_redirect_file(phi__shell_parser *p, phi__shell_command *command, bool writes,
                                     bool duplicates, bool standard) {
    phi__shell_redirect redirect, *all;
    if (duplicates && phi__shell_redirect_closes(p)) {
        if (!writes) command->reads = true;
        return;
    }
    if (!phi__shell_redirect_word(p, &redirect.target)) {
        phi__shell_word_invalid(p);
        return;
    }
    phi_str target = redirect.target.text;
    if (!writes) command->reads = true;
    if (!writes && !duplicates && !standard) phi__shell_redirect_moved(p);
    if (duplicates && phi__shell_redirect_duplicates(&redirect.target)) {
        while (target.len > 1 && target.at[0] == '0' && target.at[1] != '-')
            target = phi__str(target.at + 1, target.len - 1);
        if (!standard && target.at[0] == '0') phi__shell_redirect_moved(p);
        return;
    }
    redirect.writes = writes;
    all = (phi__shell_redirect *)phi__shell_word_room(p->arena, command->redirects,
                                                      command->redirect_count, sizeof *all);
    if (all == NULL) {
        phi__shell_word_lost(p);
        return;
    }
    command->redirects = all;
    all[command->redirect_count++] = redirect;
}

/* Whether a redirection with these digits before it is one of descriptor 0; none: it reads. */
static bool phi__shell_redirect_standard(phi_str digits, bool reads) {
    size_t i = 0;
    while (i < digits.len && digits.at[i] == '0') i++;
    return digits.len > 0 ? i == digits.len : reads;
}

/* Behind the descriptor. */
static void phi__shell_redirect_operator(phi__shell_parser *p, phi__shell_command *command,
                                         phi_str descriptor) {
    static const char *const operators[] = {"<<<", "<<-", "<<", "<>", "<&", "<",
                                            "&>>", "&>",  ">>", ">&", ">|", ">"};
    size_t i = 0;
    while (!phi__shell_word_sees(p, operators[i])) i++;
    p->at += strlen(operators[i]);
    bool standard = phi__shell_redirect_standard(descriptor, i < 6);
    if (standard) command->inputs++;
    if (i == 6 || i == 7) phi__shell_word_dialect(p);
    if (i == 0)
        phi__shell_redirect_text(p, command, standard);
    else if (i < 3)
        phi__shell_redirect_here(p, command, i == 1, standard);
    else
        phi__shell_redirect_file(p, command, i != 4 && i != 5, i == 4 || i == 9, standard);
}

PHI__FN bool phi__shell_redirect_read(phi__shell_parser *p, phi__shell_command *command) {
    const char *at = p->at;
    if (!phi__shell_word_sees(p, "&>")) at = phi__shell_redirect_descriptor(p);
    if (at == NULL) return false;
    phi_str descriptor = phi__str(p->at, (size_t)(at - p->at));
    if (phi__str_starts(descriptor, "{"))
        phi__shell_word_doubt(p, "a variable that a redirection sets");
    p->at = at;
    phi__shell_redirect_operator(p, command, descriptor);
    return true;
}

/* ======== Tests of a command line: [[ ... ]]. */

static bool phi__shell_test_number(const phi__shell_word *word) {
    size_t i = word->text.len > 1 && word->text.at[0] == '-' ? 1 : 0;
    if (!word->known || word->text.len == 0) return false;
    while (i < word->text.len && word->text.at[i] >= '0' && word->text.at[i] <= '9') i++;
    return i == word->text.len;
}

/* In a test, both sides of a comparison of numbers are arithmetic, and -v and -R take a name with
   its subscript. */
static void phi__shell_test_operand(phi__shell_parser *p, const phi__shell_word *left,
                                    const phi__shell_word *right) {
    static const char *const compare[] = {"-eq", "-ne", "-lt", "-le", "-gt", "-ge"};
    bool bad = false;
    for (size_t i = 0; i < PHI__COUNT(compare); i++)
        if ((phi__str_is(left->text, compare[i]) && !phi__shell_test_number(right)) ||
            (phi__str_is(right->text, compare[i]) && !phi__shell_test_number(left)))
            bad = true;
    if (phi__str_is(left->text, "-v") || phi__str_is(left->text, "-R"))
        bad = bad || !right->known || phi__str_find(right->text, 0, "[") != SIZE_MAX;
    if (bad) phi__shell_word_doubt(p, "a value in a test may hold commands");
}

static bool phi__shell_test_unary(const phi__shell_word *word) {
    return !word->quoted && word->text.len == 2 && word->text.at[0] == '-' &&
           word->text.at[1] != '\0' &&
           strchr("abcdefghknoprstuvwxzGLNORS", word->text.at[1]) != NULL;
}

static bool phi__shell_test_binary(const phi__shell_word *word) {
    static const char *const words[] = {"=",   "==",  "!=",  "=~",  "-eq", "-ne", "-lt",
                                        "-le", "-gt", "-ge", "-nt", "-ot", "-ef", NULL};
    for (size_t i = 0; !word->quoted && words[i] != NULL; i++)
        if (phi__str_is(word->text, words[i])) return true;
    return false;
}

/* A word of a test, which is no "]]". */
static bool phi__shell_test_word(phi__shell_parser *p, phi__shell_word *out) {
    phi__shell_word_blanks(p);
    if (!phi__shell_word_alone(p, "]]") && p->at < p->end && phi__shell_word_read(p, out))
        return true;
    phi__shell_word_invalid(p);
    return false;
}

/* Behind the left side: an operator and its right side, or nothing. */
static void phi__shell_test_compared(phi__shell_parser *p, const phi__shell_word *left) {
    phi__shell_word sign, right;
    phi__shell_word_blanks(p);
    if (p->at < p->end && (*p->at == '<' || *p->at == '>')) {
        if (phi__shell_word_sees(p, "<(") || phi__shell_word_sees(p, ">("))
            phi__shell_word_stop(p, "a process substitution in a test");
        p->at += p->at < p->end;
        (void)phi__shell_test_word(p, &right);
        return;
    }
    if (p->at == p->end || strchr("&|)\n", *p->at) != NULL || phi__shell_word_alone(p, "]]"))
        return;
    if (!phi__shell_word_read(p, &sign) || !phi__shell_test_binary(&sign)) {
        phi__shell_word_invalid(p);
        return;
    }
    phi__shell_test_operand(p, left, &sign);
    if (phi__str_is(sign.text, "=~")) {
        /* A regular expression: parentheses and bars are part of it. */
        phi__shell_word word;
        const char *from;
        size_t open = 0;
        phi__shell_word_blanks(p);
        for (from = p->at; p->at < p->end && strchr(" \t\n", *p->at) == NULL;) {
            if (*p->at == ')' && open == 0) break;
            if (strchr("()|", *p->at) == NULL) {
                if (!phi__shell_word_read(p, &word)) phi__shell_word_invalid(p);
                continue;
            }
            open += *p->at == '(' ? 1 : *p->at == ')' ? SIZE_MAX : 0;
            p->at++;
        }
        if (p->at == from || open > 0) phi__shell_word_invalid(p);
    } else if (phi__shell_test_word(p, &right))
        phi__shell_test_operand(p, &sign, &right);
}

static void phi__shell_test_all(phi__shell_parser *p);

/* One test, which may be negated, or more of them in parentheses. */
static void phi__shell_test_one(phi__shell_parser *p) {
    phi__shell_word word, right;
    do phi__shell_redirect_lines(p);
    while (phi__shell_word_take(p, "!"));
    if (p->at < p->end && *p->at == '(') {
        p->at++;
        phi__shell_test_all(p);
        if (p->at == p->end || *p->at++ != ')') phi__shell_word_invalid(p);
    } else if (phi__shell_test_word(p, &word)) {
        if (!phi__shell_test_unary(&word))
            phi__shell_test_compared(p, &word);
        else if (phi__shell_test_word(p, &right))
            phi__shell_test_operand(p, &word, &right);
    }
}

static void phi__shell_test_all(phi__shell_parser *p) {
    if (++p->depth > PHI__SHELL_DEPTH) phi__shell_word_stop(p, "it is nested too deep");
    phi__shell_test_one(p);
    for (phi__shell_redirect_lines(p);
         phi__shell_word_sees(p, "&&") || phi__shell_word_sees(p, "||");
         phi__shell_redirect_lines(p)) {
        p->at += 2;
        phi__shell_test_one(p);
    }
    p->depth--;
}

PHI__FN void phi__shell_test_read(phi__shell_parser *p) {
    phi__shell_word_dialect(p);
    phi__shell_test_all(p);
    if (!phi__shell_word_take(p, "]]")) phi__shell_word_invalid(p);
}

/* ======== The grammar of a command line: lists, pipes, compound commands, redirections. */

PHI__FN bool phi__shell_parse_push(phi_arena *arena, phi__shell *out,
                                   const phi__shell_command *command) {
    if (out->count == PHI__SHELL_COMMANDS_MOST) {
        if (out->unknown == NULL) out->unknown = "it has too many commands";
        return true;
    }
    if (out->count == out->cap) {
        size_t cap = out->cap == 0 ? 8 : out->cap * 2;
        phi__shell_command *all =
            (phi__shell_command *)phi_arena_alloc(arena, phi__mul(cap, sizeof *all));
        if (all == NULL) return false;
        if (out->count > 0) memcpy(all, out->commands, out->count * sizeof *all);
        out->commands = all;
        out->cap = cap;
    }
    out->commands[out->count++] = *command;
    return true;
}

static void phi__shell_parse_emit(phi__shell_parser *p, phi__shell_command *command) {
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
    if (!phi__shell_parse_push(p->arena, p->out, command)) phi__shell_word_lost(p);
    phi__dirs_after(p, command);
    if (p->out->unknown != NULL) p->at = p->end;
}

/* Behind a compound command: its commands, from `from` on, read the same input. */
static void phi__shell_parse_redirects(phi__shell_parser *p, size_t from) {
    size_t to = p->out->count;
    phi__shell_command command = PHI_ZERO;
    command.inner_from = p->out->count;
    for (;;) {
        phi__shell_word_blanks(p);
        if (p->at == p->end || !phi__shell_redirect_read(p, &command)) break;
    }
    for (size_t i = from; i < to; i++) {
        phi__shell_command *c = &p->out->commands[i];
        if (p->out->count > to) c->pipe_from = p->pipe_from; /* { ls; curl x; } > >(sh) */
        if (!command.reads) continue;
        if (command.inputs > 0) c->by_pipe = false;
        if (c->reads) continue;
        c->reads = true;
        c->fed = to + 1;
        c->input = command.input;
        c->inputs = command.inputs;
    }
    command.input = NULL;
    if (command.redirect_count > 0 || command.reads) phi__shell_parse_emit(p, &command);
}

/* ---- simple commands ---- */

static bool phi__shell_parse_letter(char c, bool first) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (!first && c >= '0' && c <= '9');
}

/* Whether the source of a word assigns. A subscript is a plain one, or the word is uncertain. */
static bool phi__shell_parse_assigns(phi__shell_parser *p, const char *from) {
    const char *at = from;
    while (at < p->end && phi__shell_parse_letter(*at, at == from)) at++;
    if (at == from || at == p->end) return false;
    bool index = *at == '[';
    if (index) {
        at++;
        while (at < p->end &&
               (phi__shell_parse_letter(*at, false) || strchr("@*$-", *at) != NULL)) {
            if (*at < '0' || *at > '9')
                phi__shell_word_doubt(p, "a value in a subscript may hold commands");
            at++;
        }
        if (at == p->end || *at != ']' || ++at == p->end) {
            phi__shell_word_stop(p, "a subscript that is uncertain");
            return false;
        }
    }
    if (*at == '+') at++;
    if (at < p->end && *at == '=') {
        if (index || at[-1] == '+') phi__shell_word_dialect(p); /* dash runs a command x+=y */
        return true;
    }
    if (index) phi__shell_word_stop(p, "a subscript that is uncertain");
    return false;
}

static void phi__shell_parse_command(phi__shell_parser *p, bool compound);

/* NAME () body: no function. Other shells take a simple command for a body as well. */
static void phi__shell_parse_function(phi__shell_parser *p, phi_str name) {
    phi_str outer = p->function;
    size_t i = p->out->count;
    p->function = name;
    p->repeats++;
    p->out->later = true;
    phi__shell_redirect_lines(p);
    if (phi__shell_word_alone(p, "function")) phi__shell_word_invalid(p);
    phi__shell_parse_command(p, true);
    for (; i < p->out->count; i++) p->out->commands[i].reads = true; /* what its caller reads */
    p->repeats--;
    p->function = outer;
}

/* At the parenthesis behind a command's first word. */
static void phi__shell_parse_defines(phi__shell_parser *p, const phi__shell_command *command) {
    p->at++;
    phi__shell_word_blanks(p);
    if (command->count != 1 || command->assigned_count + command->redirect_count > 0 ||
        command->input != NULL || p->at == p->end || *p->at != ')') {
        phi__shell_word_invalid(p);
        return;
    }
    p->at++;
    phi__shell_parse_function(p, command->words[0].text);
}

/* One that was not taken for it: it stands on two lines, or where it does not count. */
static bool phi__shell_parse_reserved(const phi__shell_word *word) {
    static const char *const words[] = {"!",      "{",        "}",    "[[",   "if",     "then",
                                        "else",   "elif",     "fi",   "do",   "done",   "for",
                                        "while",  "until",    "case", "esac", "select", "time",
                                        "coproc", "function", "in",   "]]",   NULL};
    for (size_t i = 0; !word->quoted && words[i] != NULL; i++)
        if (phi__str_is(word->text, words[i])) return true;
    return false;
}

static void phi__shell_parse_argument(phi__shell_parser *p, phi__shell_command *command) {
    const char *from = p->at;
    phi__shell_word word;
    bool assigns = command->count == 0 && phi__shell_parse_assigns(p, from), outer = p->arrays;
    if (p->out->unknown != NULL) return;
    p->arrays = assigns;
    if (!phi__shell_word_read(p, &word)) {
        phi__shell_word_invalid(p);
        return;
    }
    p->arrays = outer;
    if (!assigns && command->count == 0 &&
        (memchr(from, '=', (size_t)(p->at - from)) != NULL ||
         memchr(from + 1, '[', (size_t)(p->at - from) - 1) != NULL ||
         phi__shell_parse_reserved(&word))) {
        phi__shell_word_stop(p, "a word in parts that may be more than a command's name");
        return;
    }
    if (assigns)
        phi__shell_word_add(p, &command->assigned, &command->assigned_count, &word);
    else
        phi__shell_word_add(p, &command->words, &command->count, &word);
}

static void phi__shell_parse_simple(phi__shell_parser *p) {
    phi__shell_command command = PHI_ZERO;
    command.inner_from = p->out->count;
    for (;;) {
        phi__shell_word_blanks(p);
        if (p->at == p->end) break;
        if (phi__shell_redirect_read(p, &command)) continue;
        if (strchr("\n;&|)", *p->at) != NULL) break;
        if (*p->at == '(') {
            phi__shell_parse_defines(p, &command);
            return;
        }
        phi__shell_parse_argument(p, &command);
    }
    if (command.count + command.assigned_count + command.redirect_count > 0 ||
        command.input != NULL)
        phi__shell_parse_emit(p, &command);
    else
        phi__shell_word_invalid(p);
}

/* ---- compound commands ---- */

static bool phi__shell_parse_closes(const phi__shell_parser *p) {
    static const char *const words[] = {"then", "do", "done", "fi", "elif", "else", "esac", "}"};
    for (size_t i = 0; i < PHI__COUNT(words); i++)
        if (phi__shell_word_alone(p, words[i])) return true;
    return false;
}

static void phi__shell_parse_and_or(phi__shell_parser *p);
static void phi__shell_parse_bomb(phi__shell_parser *p, size_t from, size_t calls);

/* Up to a word or sign that closes it, which is not taken. False: there is no command. */
static bool phi__shell_parse_body(phi__shell_parser *p) {
    bool any = false;
    for (;; any = true) {
        size_t from = p->out->count;
        phi__shell_redirect_lines(p);
        if (p->at == p->end || *p->at == ')' || *p->at == ';' || phi__shell_parse_closes(p))
            return any;
        phi__shell_parse_and_or(p);
        phi__shell_word_blanks(p);
        if (p->at == p->end || phi__shell_word_sees(p, ";;") || phi__shell_word_sees(p, ";&"))
            return true;
        if (*p->at == '&') phi__shell_parse_bomb(p, from, 1);
        if (p->at == p->end) return true;
        if (*p->at == ';' || *p->at == '&')
            p->at++;
        else if (*p->at != '\n')
            return true;
    }
}

static void phi__shell_parse_expect(phi__shell_parser *p, const char *word) {
    if (!phi__shell_word_take(p, word)) phi__shell_word_invalid(p);
}

/* A list that must end with `word`, and may not be empty. */
static void phi__shell_parse_until(phi__shell_parser *p, const char *word) {
    if (!phi__shell_parse_body(p)) phi__shell_word_invalid(p);
    phi__shell_parse_expect(p, word);
}

/* do ... done, or { ... }. */
static void phi__shell_parse_do(phi__shell_parser *p) {
    phi__shell_word_blanks(p);
    if (p->at < p->end && *p->at == ';') p->at++;
    phi__shell_redirect_lines(p);
    p->repeats++;
    if (phi__shell_word_take(p, "{"))
        phi__shell_parse_until(p, "}");
    else {
        phi__shell_parse_expect(p, "do");
        phi__shell_parse_until(p, "done");
    }
    p->repeats--;
}

/* for and select: the variable is assigned. */
static void phi__shell_parse_for(phi__shell_parser *p) {
    phi__shell_word word;
    size_t semicolons = 0;
    phi__shell_command command = PHI_ZERO;
    command.inner_from = p->out->count;
    phi__shell_word_blanks(p);
    if (phi__shell_word_sees(p, "((")) {
        phi__shell_word_dialect(p); /* dash reads subshells */
        p->at += 2;
        const char *from = p->at;
        phi__shell_word_arithmetic(p);
        for (; from < p->at; from++) semicolons += *from == ';';
        if (semicolons != 2) phi__shell_word_invalid(p);
        phi__shell_parse_do(p);
        return;
    }
    if (!phi__shell_word_read(p, &word) || !word.known) {
        phi__shell_word_invalid(p);
        return;
    }
    phi__shell_word_add(p, &command.assigned, &command.assigned_count, &word);
    phi__shell_redirect_lines(p);
    if (phi__shell_word_take(p, "in")) {
        for (phi__shell_word_blanks(p); p->at < p->end && *p->at != ';' && *p->at != '\n';
             phi__shell_word_blanks(p))
            if (phi__shell_word_read(p, &word))
                phi__shell_word_add(p, &command.assigned, &command.assigned_count, &word);
            else
                phi__shell_word_invalid(p);
    }
    if (p->out->unknown == NULL) phi__shell_parse_emit(p, &command);
    phi__shell_parse_do(p);
}

static void phi__shell_parse_pattern(phi__shell_parser *p) {
    phi__shell_word word;
    if (p->at < p->end && *p->at == '(') p->at++;
    for (;;) {
        phi__shell_word_blanks(p);
        if (!phi__shell_word_read(p, &word)) {
            phi__shell_word_invalid(p);
            return;
        }
        phi__shell_word_blanks(p);
        if (p->at == p->end || *p->at != '|') break;
        p->at++;
    }
    if (p->at < p->end && *p->at == ')')
        p->at++;
    else
        phi__shell_word_invalid(p);
}

static void phi__shell_parse_case(phi__shell_parser *p) {
    phi__shell_word word;
    phi__shell_word_blanks(p);
    if (!phi__shell_word_read(p, &word)) phi__shell_word_invalid(p);
    phi__shell_redirect_lines(p);
    phi__shell_parse_expect(p, "in");
    for (;;) {
        phi__shell_redirect_lines(p);
        if (p->out->unknown != NULL || phi__shell_word_take(p, "esac")) return;
        phi__shell_parse_pattern(p);
        (void)phi__shell_parse_body(p);
        if (phi__shell_word_sees(p, ";;&"))
            p->at += 3;
        else if (phi__shell_word_sees(p, ";;") || phi__shell_word_sees(p, ";&"))
            p->at += 2;
        else if (!phi__shell_word_alone(p, "esac"))
            phi__shell_word_invalid(p);
    }
}

static void phi__shell_parse_named_function(phi__shell_parser *p) {
    phi__shell_word word;
    phi__shell_word_blanks(p);
    if (!phi__shell_word_read(p, &word)) {
        phi__shell_word_invalid(p);
        return;
    }
    phi__shell_word_blanks(p);
    if (p->at < p->end && *p->at == '(') {
        p->at++;
        phi__shell_word_blanks(p);
        phi__shell_parse_expect(p, ")");
    }
    phi__shell_parse_function(p, word.text);
}

/* False: it is a simple one. */
static bool phi__shell_parse_compound(phi__shell_parser *p) {
    if (phi__shell_word_sees(p, "((")) {
        phi__shell_word_dialect(p); /* dash reads subshells */
        p->at += 2;
        phi__shell_word_arithmetic(p);
    } else if (p->at < p->end && *p->at == '(') {
        const phi__shell_dirs *dirs = p->dirs;
        p->at++;
        phi__shell_parse_until(p, ")");
        p->dirs = dirs;
    } else if (phi__shell_word_take(p, "{"))
        phi__shell_parse_until(p, "}");
    else if (phi__shell_word_take(p, "if")) {
        bool any;
        do {
            phi__shell_parse_until(p, "then");
            any = phi__shell_parse_body(p);
        } while (any && phi__shell_word_take(p, "elif"));
        if (any && phi__shell_word_take(p, "else")) any = phi__shell_parse_body(p);
        if (!any) phi__shell_word_invalid(p);
        phi__shell_parse_expect(p, "fi");
    } else if (phi__shell_word_take(p, "while") || phi__shell_word_take(p, "until")) {
        p->repeats++;
        phi__shell_parse_until(p, "do");
        phi__shell_parse_until(p, "done");
        p->repeats--;
    } else if (phi__shell_word_take(p, "for") || phi__shell_word_take(p, "select"))
        phi__shell_parse_for(p);
    else if (phi__shell_word_take(p, "case"))
        phi__shell_parse_case(p);
    else if (phi__shell_word_take(p, "[["))
        phi__shell_test_read(p);
    else if (phi__shell_word_take(p, "function"))
        phi__shell_parse_named_function(p);
    else
        return false;
    return true;
}

static void phi__shell_parse_command(phi__shell_parser *p, bool compound) {
    size_t from = p->out->count;
    if (++p->depth > PHI__SHELL_DEPTH) phi__shell_word_stop(p, "it is nested too deep");
    bool simple = !phi__shell_parse_compound(p);
    if (!simple)
        phi__shell_parse_redirects(p, from);
    else if (compound)
        phi__shell_word_invalid(p);
    else
        phi__shell_parse_simple(p);
    p->single = simple;
    p->depth--;
}

/* ---- lists ---- */

/* f() { f | f & }, f() { f & f; }: listed as a command whose name is the classic form, when the
   commands from `from` on call the function this many times. */
static void phi__shell_parse_bomb(phi__shell_parser *p, size_t from, size_t calls) {
    size_t n = 0;
    if (p->function.len == 0) return;
    for (size_t i = from; i < p->out->count; i++) {
        const phi__shell_command *c = &p->out->commands[i];
        n += c->count > 0 && phi_str_equal(c->words[0].text, p->function);
    }
    if (n < calls) return;
    phi__shell_command command = PHI_ZERO;
    command.inner_from = p->out->count;
    phi__shell_word word = PHI_ZERO;
    word.text = PHI__LIT(":(){:|:&};:");
    word.known = true;
    phi__shell_word_add(p, &command.words, &command.count, &word);
    phi__shell_parse_emit(p, &command);
}

static void phi__shell_parse_pipe(phi__shell_parser *p) {
    size_t outer = p->pipe_from, from = p->out->count;
    bool reads = p->reads, by_pipe = p->by_pipe;
    bool negated = false, several = false, bang;
    if (!reads) p->pipe_from = from; /* else it is within another one */
    while ((bang = phi__shell_word_take(p, "!")) || phi__shell_word_take(p, "time")) {
        negated = negated || bang;
        if (!bang) phi__shell_word_dialect(p); /* a program, which runs x=y */
        phi__shell_word_blanks(p);
        if (phi__shell_word_take(p, "-p")) phi__shell_word_blanks(p);
    }
    phi__shell_parse_command(p, false);
    phi__shell_word_blanks(p);
    while (phi__shell_word_sees(p, "|") && !phi__shell_word_sees(p, "||")) {
        p->at += phi__shell_word_sees(p, "|&") ? 2 : 1;
        p->reads = p->by_pipe = several = true;
        for (size_t i = from; i < p->out->count; i++) { /* all of { ls; curl x; } prints into it */
            p->out->commands[i].pipe_from = p->pipe_from;
            p->out->commands[i].prints = true;
        }
        phi__shell_redirect_lines(p);
        phi__shell_parse_command(p, false);
        phi__shell_word_blanks(p);
    }
    bool piped = p->reads != reads;
    p->reads = reads;
    p->by_pipe = by_pipe;
    if (piped) phi__shell_parse_bomb(p, from, 2);
    p->single = p->single && !several && !negated;
    p->pipe_from = outer;
}

/* Behind "cd x &&" commands run in x. Where they run else is kept for the end of the list. */
static void phi__shell_parse_and_or(phi__shell_parser *p) {
    const phi__shell_dirs *all = p->dirs;
    bool narrow = false, either = false;
    for (;;) {
        unsigned moves = p->moves;
        size_t from = p->out->count;
        phi__shell_parse_pipe(p);
        if (!phi__shell_word_sees(p, "&&") && !phi__shell_word_sees(p, "||")) break;
        bool success = *p->at == '&';
        all = phi__dirs_both(p->arena, p->out, all, p->dirs);
        either = either || !success; /* of "a || cd x && b", b may run without the cd */
        if (!either && p->single && p->moves == moves + 1 && p->out->count == from + 1) {
            p->dirs = p->there;
            narrow = true;
        } else if (either) {
            p->dirs = all;
            narrow = false;
        }
        p->at += 2;
        phi__shell_redirect_lines(p);
    }
    if (narrow) p->dirs = phi__dirs_both(p->arena, p->out, all, p->dirs);
}

static void phi__shell_parse_list(phi__shell_parser *p, char close) {
    (void)phi__shell_parse_body(p);
    if (p->out->unknown != NULL) return;
    if (close == '\0' ? p->at != p->end : p->at == p->end || *p->at != close)
        phi__shell_word_invalid(p);
    else if (close != '\0')
        p->at++;
}

/* ---- for other files ---- */

PHI__FN phi_status phi__shell_parse_line(phi_arena *arena, phi_str line,
                                         const phi__shell_command *around, phi__shell *out) {
    const char *before = out->unknown; /* of a line that runs this one */
    phi__shell_parser p = PHI_ZERO;
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
    p.list = phi__shell_parse_list;
    if (line.len > PHI__SHELL_BYTES_MOST || (line.len > 0 && memchr(line.at, '\0', line.len)))
        phi__shell_word_stop(&p, "it is too long, or holds a NUL");
    else
        phi__shell_parse_list(&p, '\0');
    phi__buf_free(&p.buf);
    if (before != NULL) out->unknown = before;
    return p.lost ? PHI_NO_MEMORY : PHI_OK;
}
