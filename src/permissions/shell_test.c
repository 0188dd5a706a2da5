/* shell_test.c - tests of a command line: [[ ... ]]. */
#include "permissions/shell_in.h"

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
    size_t i;
    for (i = 0; i < PHI__COUNT(compare); i++)
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
    size_t i;
    for (i = 0; !word->quoted && words[i] != NULL; i++)
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

/* A regular expression: parentheses and bars are part of it. */
static void phi__shell_test_regex(phi__shell_parser *p) {
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
    if (phi__str_is(sign.text, "=~"))
        phi__shell_test_regex(p);
    else if (phi__shell_test_word(p, &right))
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
