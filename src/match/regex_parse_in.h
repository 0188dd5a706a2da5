/* regex_parse_in.h - shared by the two halves of the parser: where it stands, and its failures. */
#ifndef PHI_MATCH_REGEX_PARSE_IN_H
#define PHI_MATCH_REGEX_PARSE_IN_H

#include "match/regex_tree_in.h"

typedef struct phi__regex_parser {
    phi__regex_tree *tree;
    phi_str text;
    size_t at;
    uint32_t depth; /* groups that are open */
    bool fold;
    phi_status status; /* once it is not PHI_OK nothing is read any more */
    phi__regex_error *error;
} phi__regex_parser;

/* The first failure counts. `at`: the byte at fault. */
static inline void phi__regex_parse_fail(phi__regex_parser *p, size_t at, const char *message) {
    size_t n = phi__min(strlen(message), sizeof p->error->message - 1);
    if (p->status != PHI_OK) return;
    p->status = PHI_BAD_ARG;
    p->error->column = at + 1;
    memcpy(p->error->message, message, n);
    p->error->message[n] = '\0';
}

/* Notes what a set's function returned; false: not PHI_OK. */
static inline bool phi__regex_parse_did(phi__regex_parser *p, phi_status status) {
    if (status == PHI_FULL) phi__regex_parse_fail(p, p->at, "the pattern is too large");
    if (p->status == PHI_OK) p->status = status;
    return p->status == PHI_OK;
}

static inline bool phi__regex_parse_more(const phi__regex_parser *p) {
    return p->status == PHI_OK && p->at < p->text.len;
}

/* The byte so far ahead, or 0. */
static inline char phi__regex_parse_peek(const phi__regex_parser *p, size_t ahead) {
    return p->at + ahead < p->text.len ? p->text.at[p->at + ahead] : '\0';
}

static inline bool phi__regex_parse_is(const phi__regex_parser *p, char c) {
    return phi__regex_parse_more(p) && p->text.at[p->at] == c;
}

/* A character as it stands. */
PHI__FN uint32_t phi__regex_letter_plain(phi__regex_parser *p);
/* An escape, whose backslash is at p->at. True: a class of "dswDSW", in *letter; else a character,
   in *code. */
PHI__FN bool phi__regex_letter_escape(phi__regex_parser *p, char *letter, uint32_t *code);
/* A set in brackets, at p->at; its index. */
PHI__FN uint32_t phi__regex_letter_set(phi__regex_parser *p);

#endif
