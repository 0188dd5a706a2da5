/* shell_word.c - words of a command line: quotes, escapes, expansions, and the commands in them. */
#include "permissions/shell_in.h"

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

/* A number in $'...'. False: the shell's reading is uncertain: an end of text, or bytes that depend
   on its locale. */
static bool phi__shell_word_number(phi__shell_parser *p, char kind) {
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

/* Behind a backslash in $'...'. */
static bool phi__shell_word_escape(phi__shell_parser *p) {
    static const char from[] = "abeEfnrtv\\'\"?", to[] = "\a\b\033\033\f\n\r\t\v\\'\"?";
    char c = *p->at++;
    const char *simple = c != '\0' ? strchr(from, c) : NULL;
    if (simple != NULL) {
        phi__buf_char(&p->buf, to[simple - from]);
        return true;
    }
    if ((c >= '0' && c <= '7') || c == 'x' || c == 'u' || c == 'U')
        return phi__shell_word_number(p, c);
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
    const char *at, *end = p->end;
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
    at = p->at + 1;
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
    const char *name;
    if (end - at > 1 && at[0] == '#' && at[1] != '}') at++;
    name = at;
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
    phi__shell_reading r;
    bool any = false;
    memset(&r, 0, sizeof r);
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
    void *made;
    if (count != 0 && (count < 4 || (count & (count - 1)) != 0)) return old;
    made = phi_arena_alloc(arena, phi__mul(count == 0 ? 4 : phi__mul(count, 2), size));
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
