/* got_parse.c - what Graph-of-Thoughts reads in answers, beside thoughts (tot_parse.c). */
#include "strategy/got_in.h"

#include "strategy/parse_in.h"

static phi_str phi__got_parse_from(phi_str text, size_t at) {
    return phi__str(text.at + at, text.len - at);
}

/* "[12]", or "12". *rest begins behind it. */
static bool phi__got_parse_id(phi_str text, uint32_t *id, phi_str *rest) {
    uint32_t n = 0;
    size_t i = 0, from;
    bool bracket;
    text = phi__parse_plain(text);
    bracket = text.len > 0 && text.at[0] == '[';
    from = i = bracket ? 1 : 0;
    for (; i < text.len && text.at[i] >= '0' && text.at[i] <= '9'; i++)
        n = n < 100000000u ? n * 10u + (uint32_t)(text.at[i] - '0') : n;
    if (i == from) return false;
    if (bracket && (i == text.len || text.at[i++] != ']')) return false;
    *id = n;
    *rest = phi__got_parse_from(text, i);
    return true;
}

/* "->", "=>", or U+2192. */
static bool phi__got_parse_arrow(phi_str text, phi_str *rest) {
    text = phi__parse_plain(text);
    if (phi__str_starts(text, "->") || phi__str_starts(text, "=>"))
        *rest = phi__got_parse_from(text, 2);
    else if (phi__str_starts(text, "\xE2\x86\x92"))
        *rest = phi__got_parse_from(text, 3);
    else
        return false;
    return true;
}

/* The next line that begins with the word and a colon; *rest: the text behind it. */
static bool phi__got_parse_line(phi_str text, size_t *at, const char *word, phi_str *rest) {
    phi_str line, body;
    while (phi__parse_full_line(text, at, &line)) {
        if (phi__parse_bullet(line, &body)) line = body;
        line = phi__parse_plain(line);
        if (phi__parse_word(line, word, &body) && phi__parse_colon(body, rest)) return true;
    }
    return false;
}

/* "contradicts: ..." */
static phi__got_kind phi__got_parse_kind(phi_str text) {
    static const char *const against[] = {"contradicts", "contradict", "conflicts",
                                          "refutes",     "opposes",    "disproves"};
    static const char *const again[] = {"repeats", "duplicates", "same"};
    phi_str rest;
    size_t i;
    for (i = 0; i < PHI__COUNT(against); i++)
        if (phi__parse_word(text, against[i], &rest)) return PHI__GOT_CONTRADICTS;
    for (i = 0; i < PHI__COUNT(again); i++)
        if (phi__parse_word(text, again[i], &rest)) return PHI__GOT_REPEATS;
    return PHI__GOT_SUPPORTS;
}

PHI__FN bool phi__got_parse_connection(phi_str text, size_t *at, phi__got_edge *out) {
    phi_str rest;
    while (phi__got_parse_line(text, at, "connection", &rest)) {
        if (!phi__got_parse_id(rest, &out->from, &rest) || !phi__got_parse_arrow(rest, &rest) ||
            !phi__got_parse_id(rest, &out->to, &rest))
            continue;
        (void)phi__parse_colon(rest, &rest);
        out->text = phi__parse_plain(rest);
        out->kind = phi__got_parse_kind(out->text);
        return true;
    }
    return false;
}

PHI__FN bool phi__got_parse_weight(phi_str text, size_t *at, uint32_t *node, double *out) {
    phi_str rest;
    while (phi__got_parse_line(text, at, "weight", &rest)) {
        if (!phi__got_parse_id(rest, node, &rest) || !phi__parse_colon(rest, &rest) ||
            !phi__parse_number(rest, out, &rest))
            continue;
        if (!(*out > 0.0)) *out = 0.0;
        if (*out > 1.0) *out = 1.0;
        return true;
    }
    return false;
}

PHI__FN uint32_t phi__got_parse_vote(phi_str text) {
    uint32_t vote = 0, id;
    size_t at = 0;
    phi_str rest;
    while (phi__got_parse_line(text, &at, "vote", &rest))
        if (phi__got_parse_id(rest, &id, &rest)) vote = id;
    for (at = text.len; vote == 0 && at-- > 0;)
        if (text.at[at] == '[' &&
            phi__got_parse_id(phi__str(text.at + at, phi__min(text.len - at, 12)), &id, &rest))
            vote = id;
    return vote;
}
