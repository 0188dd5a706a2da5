/* shell_redirect.c - redirections of a command line, and the here-documents behind a line's end. */
#include "permissions/shell_in.h"

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
    const phi__shell_word *body;
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
    body = p->body;
    p->body = here->body;
    phi__shell_word_body(p, here->body);
    p->body = body;
}

/* At a line's end. */
static void phi__shell_redirect_newline(phi__shell_parser *p) {
    size_t i;
    p->at++;
    if (p->here_outer > 0) {
        phi__shell_word_stop(p, "a here-document that begins before a substitution of many lines");
        return;
    }
    for (i = 0; i < p->here_count && p->out->unknown == NULL; i++)
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
    phi__shell_here *here;
    phi__shell_word word;
    if (p->here_count == PHI__SHELL_HERE_MOST || !phi__shell_redirect_word(p, &word) ||
        !word.known || (tabs && phi__str_starts(word.text, "\t"))) {
        phi__shell_word_stop(p, "a here-document whose end is uncertain");
        return;
    }
    here = &p->here[p->here_count];
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
    phi_str target;
    if (duplicates && phi__shell_redirect_closes(p)) {
        if (!writes) command->reads = true;
        return;
    }
    if (!phi__shell_redirect_word(p, &redirect.target)) {
        phi__shell_word_invalid(p);
        return;
    }
    target = redirect.target.text;
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
    bool standard;
    size_t i = 0;
    while (!phi__shell_word_sees(p, operators[i])) i++;
    p->at += strlen(operators[i]);
    standard = phi__shell_redirect_standard(descriptor, i < 6);
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
    phi_str descriptor;
    if (!phi__shell_word_sees(p, "&>")) at = phi__shell_redirect_descriptor(p);
    if (at == NULL) return false;
    descriptor = phi__str(p->at, (size_t)(at - p->at));
    if (phi__str_starts(descriptor, "{"))
        phi__shell_word_doubt(p, "a variable that a redirection sets");
    p->at = at;
    phi__shell_redirect_operator(p, command, descriptor);
    return true;
}
