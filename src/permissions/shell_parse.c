/* shell_parse.c - the grammar of a command line: lists, pipes, compound commands, redirections. */
#include "permissions/shell_in.h"

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
    phi__shell_command command;
    size_t i, to = p->out->count;
    memset(&command, 0, sizeof command);
    command.inner_from = p->out->count;
    for (;;) {
        phi__shell_word_blanks(p);
        if (p->at == p->end || !phi__shell_redirect_read(p, &command)) break;
    }
    for (i = from; i < to; i++) {
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
    bool index;
    while (at < p->end && phi__shell_parse_letter(*at, at == from)) at++;
    if (at == from || at == p->end) return false;
    index = *at == '[';
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
    size_t i;
    for (i = 0; !word->quoted && words[i] != NULL; i++)
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
    phi__shell_command command;
    memset(&command, 0, sizeof command);
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
    size_t i;
    for (i = 0; i < PHI__COUNT(words); i++)
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

static void phi__shell_parse_if(phi__shell_parser *p) {
    bool any;
    do {
        phi__shell_parse_until(p, "then");
        any = phi__shell_parse_body(p);
    } while (any && phi__shell_word_take(p, "elif"));
    if (any && phi__shell_word_take(p, "else")) any = phi__shell_parse_body(p);
    if (!any) phi__shell_word_invalid(p);
    phi__shell_parse_expect(p, "fi");
}

static void phi__shell_parse_loop(phi__shell_parser *p) {
    p->repeats++;
    phi__shell_parse_until(p, "do");
    phi__shell_parse_until(p, "done");
    p->repeats--;
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
    phi__shell_command command;
    phi__shell_word word;
    const char *from;
    size_t semicolons = 0;
    memset(&command, 0, sizeof command);
    command.inner_from = p->out->count;
    phi__shell_word_blanks(p);
    if (phi__shell_word_sees(p, "((")) {
        phi__shell_word_dialect(p); /* dash reads subshells */
        p->at += 2;
        from = p->at;
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
    else if (phi__shell_word_take(p, "if"))
        phi__shell_parse_if(p);
    else if (phi__shell_word_take(p, "while") || phi__shell_word_take(p, "until"))
        phi__shell_parse_loop(p);
    else if (phi__shell_word_take(p, "for") || phi__shell_word_take(p, "select"))
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
    bool simple;
    size_t from = p->out->count;
    if (++p->depth > PHI__SHELL_DEPTH) phi__shell_word_stop(p, "it is nested too deep");
    simple = !phi__shell_parse_compound(p);
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
    phi__shell_command command;
    phi__shell_word word;
    size_t i, n = 0;
    if (p->function.len == 0) return;
    for (i = from; i < p->out->count; i++) {
        const phi__shell_command *c = &p->out->commands[i];
        n += c->count > 0 && phi_str_equal(c->words[0].text, p->function);
    }
    if (n < calls) return;
    memset(&command, 0, sizeof command);
    command.inner_from = p->out->count;
    memset(&word, 0, sizeof word);
    word.text = PHI__LIT(":(){:|:&};:");
    word.known = true;
    phi__shell_word_add(p, &command.words, &command.count, &word);
    phi__shell_parse_emit(p, &command);
}

static void phi__shell_parse_pipe(phi__shell_parser *p) {
    size_t outer = p->pipe_from, from = p->out->count, i;
    bool reads = p->reads, by_pipe = p->by_pipe;
    bool negated = false, several = false, bang, piped;
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
        for (i = from; i < p->out->count; i++) { /* all of { ls; curl x; } prints into it */
            p->out->commands[i].pipe_from = p->pipe_from;
            p->out->commands[i].prints = true;
        }
        phi__shell_redirect_lines(p);
        phi__shell_parse_command(p, false);
        phi__shell_word_blanks(p);
    }
    piped = p->reads != reads;
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
        bool success;
        phi__shell_parse_pipe(p);
        if (!phi__shell_word_sees(p, "&&") && !phi__shell_word_sees(p, "||")) break;
        success = *p->at == '&';
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
    phi__shell_parser p;
    memset(&p, 0, sizeof p);
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
