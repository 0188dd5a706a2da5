/* tot_parse.c - what Tree-of-Thoughts reads in answers. */
#include "strategy/tot_in.h"

#include "strategy/parse_in.h"
#include "text/json_in.h"

/* ---- thoughts ---- */

/* False: no memory. */
static bool phi__tot_parse_keep(phi_str text, phi_arena *arena, phi_str *out, phi__tot_read *read) {
    text = phi__str_trim(text);
    if (text.len == 0) return true;
    if (!phi__arena_str(arena, text, &out[read->count])) return false;
    read->count++;
    return true;
}

static bool phi__tot_parse_items(const phi_json *items, phi_arena *arena, phi_str *out, size_t most,
                                 phi__tot_read *read) {
    phi_json_iter it = phi_json_each(items);
    const phi_json *item;
    while (read->count < most && (item = phi_json_next(&it)) != NULL) {
        const phi_json *content =
            phi_json_is(item, PHI_JSON_OBJECT) ? phi_json_get(item, "content") : item;
        if (!phi_json_is(content, PHI_JSON_STRING)) continue;
        if (!phi__tot_parse_keep(phi_json_str(content, ""), arena, out, read)) return false;
    }
    return true;
}

/* "1. text", up to the next such line. */
static bool phi__tot_parse_lines(phi_str text, phi_arena *arena, phi_str *out, size_t most,
                                 phi__tot_read *read) {
    phi_str line, rest, open = {NULL, 0};
    size_t at = 0;
    uint32_t number;
    while (phi__parse_line(text, &at, &line)) {
        if (!phi__parse_numbered(line, &number, &rest)) {
            if (open.at != NULL) open.len = (size_t)(line.at + line.len - open.at);
            continue;
        }
        if (open.at != NULL && !phi__tot_parse_keep(open, arena, out, read)) return false;
        if (read->count >= most) return true;
        open = phi__str(rest.at, (size_t)(line.at + line.len - rest.at));
    }
    return open.at == NULL || phi__tot_parse_keep(open, arena, out, read);
}

PHI__FN phi__tot_read phi__tot_parse_thoughts(phi_str text, phi_arena *arena, phi_str *out,
                                              size_t most) {
    phi__tot_read read;
    const phi_json *items;
    memset(&read, 0, sizeof read);
    if (most == 0) return read;
    text = phi__parse_tail(text);
    items = phi_json_get(phi__parse_object(text, arena, &read.no_memory), "thoughts");
    if (!phi__tot_parse_items(items, arena, out, most, &read)) read.no_memory = true;
    read.json = read.count > 0;
    if (read.count == 0 && !read.no_memory && !phi__tot_parse_lines(text, arena, out, most, &read))
        read.no_memory = true;
    read.none = read.count == 0 && phi_json_is(items, PHI_JSON_ARRAY) && phi_json_count(items) == 0;
    return read;
}

/* ---- scores ---- */

static double phi__tot_parse_clamp(double score) {
    if (!(score > 0.0)) return 0.0;
    return score < 1.0 ? score : 1.0;
}

static bool phi__tot_parse_value(const phi_json *node, double *out) {
    phi_str text = phi_json_str(node, ""), rest;
    if (phi_json_is(node, PHI_JSON_NUMBER)) {
        *out = phi_json_num(node, 0.5);
        return true;
    }
    return phi_json_is(node, PHI_JSON_STRING) && phi__parse_number(text, out, &rest) &&
           phi__parse_plain(rest).len == 0;
}

/* By id, then by number, then by content. */
static bool phi__tot_parse_score_of(const phi_json *scores, size_t index, phi_str content,
                                    double *out) {
    char key[24] = "t";
    size_t len = 1, digits = index + 1, left;
    for (left = digits; left > 0; left /= 10) len++;
    for (left = len - 1; left > 0; left--, digits /= 10) key[left] = (char)('0' + digits % 10);
    return phi__tot_parse_value(phi__json_get_n(scores, phi__str(key, len)), out) ||
           phi__tot_parse_value(phi__json_get_n(scores, phi__str(key + 1, len - 1)), out) ||
           phi__tot_parse_value(phi__json_get_n(scores, content), out);
}

static size_t phi__tot_parse_score_lines(phi_str text, size_t count, bool *seen, double *out) {
    phi_str line, rest;
    size_t at = 0, found = 0;
    uint32_t number;
    double score;
    while (phi__parse_line(text, &at, &line)) {
        if (!phi__parse_numbered(line, &number, &rest) || number == 0 || number > count) continue;
        if (!phi__parse_number(rest, &score, &rest)) continue;
        out[number - 1] = phi__tot_parse_clamp(score);
        found += !seen[number - 1];
        seen[number - 1] = true;
    }
    return found;
}

PHI__FN phi__tot_read phi__tot_parse_scores(phi_str text, phi_arena *scratch,
                                            const phi_str *thoughts, size_t count, double *out) {
    phi__tot_read read;
    const phi_json *scores;
    bool *seen;
    size_t i;
    double score;
    memset(&read, 0, sizeof read);
    text = phi__parse_tail(text);
    scores = phi_json_get(phi__parse_object(text, scratch, &read.no_memory), "scores");
    for (i = 0; i < count; i++) {
        out[i] = 0.5;
        if (!phi_json_is(scores, PHI_JSON_OBJECT) ||
            !phi__tot_parse_score_of(scores, i, thoughts[i], &score))
            continue;
        out[i] = phi__tot_parse_clamp(score);
        read.count++;
    }
    read.json = read.count > 0;
    if (read.json || read.no_memory) return read;
    seen = (bool *)phi__arena_zero(scratch, phi__max(count, 1));
    if (seen == NULL)
        read.no_memory = true;
    else
        read.count = phi__tot_parse_score_lines(text, count, seen, out);
    return read;
}
