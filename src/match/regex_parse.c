/* regex_parse.c - a pattern's text becomes a tree. */
#include "match/regex_parse_in.h"

enum { PHI__REGEX_NODE_DEPTH = 3 * PHI__REGEX_DEPTH };

static uint32_t phi__regex_parse_choice(phi__regex_parser *p);

static uint32_t phi__regex_parse_node(phi__regex_parser *p, phi__regex_kind kind, uint32_t a) {
    phi__regex_tree *tree = p->tree;
    phi__regex_node *nodes;
    if (p->status != PHI_OK) return 0;
    nodes = (phi__regex_node *)phi__grow(tree->memory, tree->nodes, &tree->node_cap,
                                         tree->node_count + 1, sizeof *nodes);
    if (nodes == NULL) {
        p->status = PHI_NO_MEMORY;
        return 0;
    }
    tree->nodes = nodes;
    memset(&nodes[tree->node_count], 0, sizeof *nodes);
    nodes[tree->node_count].kind = kind;
    nodes[tree->node_count].a = a;
    return (uint32_t)tree->node_count++;
}

/* The node around children: one deeper. */
static uint32_t phi__regex_parse_above(phi__regex_parser *p, phi__regex_kind kind, uint32_t child,
                                       uint16_t depth) {
    uint32_t node = phi__regex_parse_node(p, kind, child);
    if (p->status != PHI_OK) return 0;
    if (depth >= PHI__REGEX_NODE_DEPTH)
        phi__regex_parse_fail(p, p->at - 1, "the pattern is nested too deeply");
    p->tree->nodes[node].depth = (uint16_t)(depth + 1);
    return node;
}

/* ---- one character ---- */

static uint32_t phi__regex_parse_letter(phi__regex_parser *p, uint32_t code) {
    uint32_t set = 0;
    if (p->status != PHI_OK) return 0;
    phi__regex_set_begin(p->tree);
    if (phi__regex_parse_did(p, phi__regex_set_add(p->tree, code, code)) && p->fold)
        (void)phi__regex_parse_did(p, phi__regex_set_fold(p->tree));
    if (p->status == PHI_OK) (void)phi__regex_parse_did(p, phi__regex_set_end(p->tree, &set));
    return phi__regex_parse_node(p, PHI__REGEX_SET, set);
}

static uint32_t phi__regex_parse_any(phi__regex_parser *p) {
    uint32_t set = 0;
    p->at++;
    phi__regex_set_begin(p->tree);
    if (phi__regex_parse_did(p, phi__regex_set_add(p->tree, 0, PHI__REGEX_LAST_CODE)))
        (void)phi__regex_parse_did(p, phi__regex_set_end(p->tree, &set));
    return phi__regex_parse_node(p, PHI__REGEX_SET, set);
}

static uint32_t phi__regex_parse_escape(phi__regex_parser *p) {
    char next = phi__regex_parse_peek(p, 1), letter = 0;
    size_t begin = p->at;
    uint32_t code, set = 0;
    if (next == 'b' || next == 'B') {
        p->at += 2;
        if (phi__regex_parse_is(p, '{') && next == 'b' && phi__regex_parse_peek(p, 1) > '9')
            phi__regex_parse_fail(p, begin, "boundaries by name are not supported: use \\b");
        p->tree->words = true;
        return phi__regex_parse_node(p, next == 'b' ? PHI__REGEX_WORD : PHI__REGEX_NO_WORD, 0);
    }
    if (!phi__regex_letter_escape(p, &letter, &code)) {
        if (code == '\n') phi__regex_parse_fail(p, begin, "a match cannot contain a newline");
        return phi__regex_parse_letter(p, code);
    }
    phi__regex_set_begin(p->tree);
    if (phi__regex_parse_did(p, phi__regex_set_add_class(p->tree, letter)))
        (void)phi__regex_parse_did(p, phi__regex_set_end(p->tree, &set));
    return phi__regex_parse_node(p, PHI__REGEX_SET, set);
}

/* ---- groups ---- */

/* Behind "(?": letters up to ')' or ':'. */
static void phi__regex_parse_flags(phi__regex_parser *p) {
    bool on = true;
    size_t begin = p->at;
    while (phi__regex_parse_more(p) && !phi__regex_parse_is(p, ')') &&
           !phi__regex_parse_is(p, ':')) {
        char c = p->text.at[p->at++];
        if (c == '-' && on)
            on = false;
        else if (c == 'i')
            p->fold = on;
        else if (c == 's' || c == 'U' || ((c == 'm' || c == 'u') && on) || (c == 'x' && !on))
            continue; /* they change nothing about whether a line matches */
        else if (c == 'm' || c == 'u' || c == 'x')
            phi__regex_parse_fail(p, p->at - 1, "this flag is not supported");
        else
            phi__regex_parse_fail(p, p->at - 1, "unknown kind of group");
    }
    if (p->status == PHI_OK && p->at == begin && phi__regex_parse_is(p, ')'))
        phi__regex_parse_fail(p, begin, "a group without flags");
    if (p->status == PHI_OK && p->at >= p->text.len)
        phi__regex_parse_fail(p, begin - 2, "a group without its closing parenthesis");
}

/* (?P<name>...) and (?<name>...), at the name. */
static void phi__regex_parse_name(phi__regex_parser *p) {
    size_t begin = p->at;
    char c;
    while ((c = phi__regex_parse_peek(p, 0)) != '\0' && c != '>') {
        bool letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
        if (!letter && c != '_' && (p->at == begin || c < '0' || c > '9')) break;
        p->at++;
    }
    if (c != '>' || p->at == begin)
        phi__regex_parse_fail(p, p->at, "the name of a group has letters, digits and underscores");
    p->at++;
}

/* The flags between "(?" and the group's own pattern. False: flags alone, nothing to repeat. */
static bool phi__regex_parse_head(phi__regex_parser *p) {
    char c = phi__regex_parse_peek(p, 0), next = phi__regex_parse_peek(p, 1);
    if (c == '=' || c == '!' || (c == '<' && (next == '=' || next == '!')))
        phi__regex_parse_fail(p, p->at - 2, "look-around is not supported");
    else if (c == 'P' && next == '=')
        phi__regex_parse_fail(p, p->at - 2, "back references are not supported");
    else if (c == '<' || (c == 'P' && next == '<')) {
        p->at += c == 'P' ? 2 : 1;
        phi__regex_parse_name(p);
    } else {
        phi__regex_parse_flags(p);
        if (p->status == PHI_OK && p->text.at[p->at++] == ')') return false;
    }
    return true;
}

/* At "(". *alone: flags for the rest of the group around it. */
static uint32_t phi__regex_parse_group(phi__regex_parser *p, bool *alone) {
    size_t begin = p->at++;
    bool fold = p->fold;
    uint32_t node;
    *alone = false;
    if (phi__regex_parse_is(p, '?')) {
        p->at++;
        *alone = !phi__regex_parse_head(p);
        if (*alone) return 0;
    }
    if (p->depth >= PHI__REGEX_DEPTH)
        phi__regex_parse_fail(p, begin, "the pattern is nested too deeply");
    if (p->status != PHI_OK) return 0;
    p->depth++;
    node = phi__regex_parse_choice(p);
    p->depth--;
    p->fold = fold;
    if (p->status == PHI_OK && !phi__regex_parse_is(p, ')'))
        phi__regex_parse_fail(p, begin, "a group without its closing parenthesis");
    p->at++;
    return node;
}

/* ---- repetition ---- */

/* A count in braces; false: there is none. */
static bool phi__regex_parse_count(phi__regex_parser *p, uint16_t *out) {
    size_t begin = p->at;
    uint32_t n = 0;
    while (phi__regex_parse_more(p) && p->text.at[p->at] >= '0' && p->text.at[p->at] <= '9') {
        n = n * 10 + (uint32_t)(p->text.at[p->at++] - '0');
        if (n > PHI__REGEX_REPEAT) phi__regex_parse_fail(p, begin, "a count of more than 1,000");
    }
    *out = (uint16_t)n;
    return p->at > begin;
}

static void phi__regex_parse_braces(phi__regex_parser *p, uint16_t *min, uint16_t *max) {
    size_t begin = p->at++;
    bool good = phi__regex_parse_count(p, min);
    *max = *min;
    if (good && phi__regex_parse_is(p, ',')) {
        p->at++;
        if (!phi__regex_parse_count(p, max)) *max = PHI__REGEX_ENDLESS;
    }
    if (!good || !phi__regex_parse_is(p, '}'))
        phi__regex_parse_fail(p, begin, "expected a count such as {2}, {2,} or {2,5}: write \\{");
    else if (*max < *min)
        phi__regex_parse_fail(p, begin, "a count whose end is before its beginning");
    p->at++;
}

static uint32_t phi__regex_parse_times(phi__regex_parser *p, uint32_t node) {
    while (phi__regex_parse_more(p) && strchr("*+?{", p->text.at[p->at]) != NULL &&
           p->text.at[p->at] != '\0') {
        char c = p->text.at[p->at];
        uint16_t min = c == '+' ? 1 : 0, max = c == '?' ? 1 : PHI__REGEX_ENDLESS;
        if (c == '{')
            phi__regex_parse_braces(p, &min, &max);
        else
            p->at++;
        if (phi__regex_parse_is(p, '?')) p->at++; /* lazy: the same lines */
        if (p->status != PHI_OK) return 0;
        if (min == 1 && max == 1) continue;
        node = phi__regex_parse_above(p, PHI__REGEX_TIMES, node, p->tree->nodes[node].depth);
        if (p->status != PHI_OK) return 0;
        p->tree->nodes[node].min = min;
        p->tree->nodes[node].max = max;
    }
    return node;
}

/* ---- together ---- */

static uint32_t phi__regex_parse_atom(phi__regex_parser *p, bool *alone) {
    char c = p->text.at[p->at];
    *alone = false;
    switch (c) {
    case '.': return phi__regex_parse_any(p);
    case '(': return phi__regex_parse_group(p, alone);
    case '\\': return phi__regex_parse_escape(p);
    case '[': {
        uint32_t set = phi__regex_letter_set(p);
        return phi__regex_parse_node(p, PHI__REGEX_SET, set);
    }
    case '^':
    case '$':
        p->at++;
        return phi__regex_parse_node(p, c == '^' ? PHI__REGEX_START : PHI__REGEX_END, 0);
    case '*':
    case '+':
    case '?':
    case '{': phi__regex_parse_fail(p, p->at, "there is nothing to repeat"); return 0;
    case '\n': phi__regex_parse_fail(p, p->at, "a match cannot contain a newline"); return 0;
    default: return phi__regex_parse_letter(p, phi__regex_letter_plain(p));
    }
}

/* A list of nodes: none, one, or many below one of `kind`. */
typedef struct phi__regex_row {
    uint32_t first, last, count;
    uint16_t depth;
} phi__regex_row;

static void phi__regex_parse_append(phi__regex_parser *p, phi__regex_row *row, uint32_t node) {
    phi__regex_node *nodes = p->tree->nodes;
    if (p->status != PHI_OK) return;
    if (row->count++ == 0)
        row->first = node;
    else
        nodes[row->last].next = node;
    row->last = node;
    if (nodes[node].depth > row->depth) row->depth = nodes[node].depth;
}

/* A node that is in two lists would join them: an appended node is in no other list. */
static uint32_t phi__regex_parse_row(phi__regex_parser *p, const phi__regex_row *row,
                                     phi__regex_kind kind) {
    if (row->count == 1) return row->first;
    if (row->count == 0) return phi__regex_parse_node(p, PHI__REGEX_EMPTY, 0);
    return phi__regex_parse_above(p, kind, row->first, row->depth);
}

static uint32_t phi__regex_parse_sequence(phi__regex_parser *p) {
    phi__regex_row row;
    memset(&row, 0, sizeof row);
    while (phi__regex_parse_more(p) && !phi__regex_parse_is(p, '|') &&
           !phi__regex_parse_is(p, ')')) {
        bool alone;
        uint32_t node = phi__regex_parse_atom(p, &alone);
        if (alone && phi__regex_parse_more(p) && strchr("*+?{", p->text.at[p->at]) != NULL)
            phi__regex_parse_fail(p, p->at, "there is nothing to repeat");
        if (alone) continue;
        node = phi__regex_parse_times(p, node);
        phi__regex_parse_append(p, &row, node);
    }
    return phi__regex_parse_row(p, &row, PHI__REGEX_CAT);
}

static uint32_t phi__regex_parse_choice(phi__regex_parser *p) {
    phi__regex_row row;
    memset(&row, 0, sizeof row);
    phi__regex_parse_append(p, &row, phi__regex_parse_sequence(p));
    while (phi__regex_parse_is(p, '|')) {
        p->at++;
        phi__regex_parse_append(p, &row, phi__regex_parse_sequence(p));
    }
    return phi__regex_parse_row(p, &row, PHI__REGEX_ALT);
}

/* ---- for other files ---- */

PHI__FN phi_status phi__regex_parse(phi__regex_tree *tree, phi_memory *memory, phi_str pattern,
                                    bool ignore_case, phi__regex_error *error) {
    phi__regex_parser p;
    memset(tree, 0, sizeof *tree);
    tree->memory = memory;
    memset(&p, 0, sizeof p);
    p.tree = tree;
    p.text = pattern;
    p.fold = ignore_case;
    p.error = error;
    if (pattern.len > PHI__REGEX_PATTERN_BYTES)
        phi__regex_parse_fail(&p, PHI__REGEX_PATTERN_BYTES,
                              "the pattern is longer than 4,096 bytes");
    (void)phi__regex_parse_node(&p, PHI__REGEX_EMPTY, 0); /* index 0: no node */
    tree->root = phi__regex_parse_choice(&p);
    if (p.status == PHI_OK && p.at < pattern.len)
        phi__regex_parse_fail(&p, p.at, "a closing parenthesis without a group");
    return p.status;
}

PHI__FN void phi__regex_parse_free(phi__regex_tree *tree) {
    phi__free(tree->memory, tree->nodes, tree->node_cap * sizeof *tree->nodes);
    phi__free(tree->memory, tree->ranges, tree->range_cap * sizeof *tree->ranges);
    phi__free(tree->memory, tree->sets, tree->set_cap * sizeof *tree->sets);
    memset(tree, 0, sizeof *tree);
}
