/* tape_match.c - finds a run's requests and results on the tape, and describes differences. */
#include "base/utf8_in.h"
#include "record/replay_in.h"
#include "text/json_in.h"

#include <stdio.h>

/* ---- divergence ---- */

static phi_str phi__tape_match_keep(phi__tape *tape, phi_str words) {
    phi_str kept = phi__str("", 0);
    (void)phi__arena_str(&tape->parted.words, words, &kept);
    return kept;
}

PHI__FN void phi__tape_match_diverge(phi__tape *tape, size_t line, const char *what,
                                     phi_str recorded, phi_str actual) {
    phi_tape_divergence *d = &tape->parted.where;
    tape->off = true;
    if (tape->parted.yes) return;
    tape->parted.yes = true;
    d->line = line + 1;
    d->step = tape->step;
    d->what = phi__tape_match_keep(tape, phi_str_of(what));
    d->recorded = phi__tape_match_keep(tape, recorded);
    d->actual = phi__tape_match_keep(tape, actual);
}

PHI__FN void phi__tape_match_no_memory(phi__tape *tape) {
    tape->failed = PHI_NO_MEMORY;
    tape->off = true;
}

/* ---- requests ---- */

PHI__FN phi__tape_line *phi__tape_match_next(phi__tape *tape, phi__tape_kind kind,
                                             phi__tape_line *from) {
    size_t i = from != NULL ? (size_t)(from - tape->index.lines) + 1 : tape->index.at;
    for (; i < tape->index.count; i++) {
        phi__tape_line *line = &tape->index.lines[i];
        if (line->kind == PHI__TAPE_T && !line->more) return NULL;
        if (line->kind == kind && !line->used) return line;
    }
    return NULL;
}

/* The members of a recorded request that are compared. */
static bool phi__tape_match_same(const phi_json *then, const phi_json *now, const char **what) {
    static const char *const members[] = {"method", "url", "headers", "length", "sha256"};
    static const char *const words[] = {"the method", "the URL", "the headers", "the body",
                                        "the body"};
    size_t i;
    for (i = 0; i < PHI__COUNT(members); i++) {
        *what = words[i];
        if (!phi__json_get_equal(phi_json_get(then, members[i]), phi_json_get(now, members[i])))
            return false;
    }
    return true;
}

/* Where two bodies differ, if both are whole: quoted from a little before that place. */
static phi_str phi__tape_match_from(phi_str body, size_t at) {
    size_t from = at > 40 ? at - 40 : 0, n;
    phi_str cut;
    if (from >= body.len) return phi__str("", 0);
    cut = phi__str(body.at + from, body.len - from);
    n = phi__utf8_cut(cut, PHI__TAPE_PLAY_WORDS);
    return phi__str(cut.at, n);
}

static size_t phi__tape_match_apart(phi_str a, phi_str b) {
    size_t i = 0;
    while (i < a.len && i < b.len && a.at[i] == b.at[i]) i++;
    return i;
}

static phi_str phi__tape_match_member(phi_arena *arena, const phi_json *root, const char *what) {
    const char *name = strcmp(what, "the method") == 0    ? "method"
                       : strcmp(what, "the URL") == 0     ? "url"
                       : strcmp(what, "the headers") == 0 ? "headers"
                                                          : "sha256";
    phi_str out = phi__str("", 0);
    (void)phi_json_write(arena, phi_json_get(root, name), 0, &out);
    return out;
}

static void phi__tape_match_other(phi__tape *tape, const phi__tape_line *line, const phi_json *then,
                                  const phi_json *now, const char *what) {
    char words[100];
    phi_str a = phi_json_str(phi_json_get(then, "body"), "");
    phi_str b = phi_json_str(phi_json_get(now, "body"), "");
    (void)snprintf(words, sizeof words, "request %u: %s", (unsigned)line->x, what);
    if (strcmp(what, "the body") == 0 && phi_json_get(then, "body") != NULL) {
        size_t at = phi__tape_match_apart(a, b);
        a = phi__tape_match_from(a, at);
        b = phi__tape_match_from(b, at);
    } else {
        a = phi__tape_match_member(&tape->arena, then, what);
        b = phi__tape_match_member(&tape->arena, now, what);
    }
    phi__tape_match_diverge(tape, (size_t)(line - tape->index.lines), words, a, b);
}

PHI__FN const phi_json *phi__tape_match_request(phi__tape *tape, phi_arena *arena,
                                                const phi_request *request) {
    phi_json *root = NULL;
    phi__buf *line = phi__tape_line_begin(tape, "request");
    phi__tape_secret_put_request(tape, line, request, true);
    phi__buf_char(line, '}');
    if (line->failed) return NULL;
    (void)phi__secret_hide(&tape->secrets, line->at, line->len, PHI__SECRET_JSON);
    return phi_json_parse(arena, phi__buf_str(line), 0, &root, NULL) == PHI_OK ? root : NULL;
}

PHI__FN phi__tape_line *phi__tape_match_find(phi__tape *tape, const phi_json *now) {
    phi__tape_line *first = phi__tape_match_next(tape, PHI__TAPE_REQUEST, NULL), *line;
    const char *what = NULL;
    for (line = first; line != NULL; line = phi__tape_match_next(tape, PHI__TAPE_REQUEST, line)) {
        const phi_json *then = phi__tape_read_tree(tape, line);
        if (then == NULL) {
            phi__tape_match_no_memory(tape);
            return NULL;
        }
        if (phi__tape_match_same(then, now, &what)) return line;
    }
    if (first == NULL) {
        phi__tape_match_diverge(tape, tape->index.at, "a request that was not recorded",
                                phi_str_of("nothing"), phi_json_str(phi_json_get(now, "url"), ""));
        return NULL;
    }
    {
        const phi_json *then = phi__tape_read_tree(tape, first);
        if (then == NULL)
            phi__tape_match_no_memory(tape);
        else if (!phi__tape_match_same(then, now, &what))
            phi__tape_match_other(tape, first, then, now, what);
    }
    return NULL;
}

/* A result as the tape writes it, for a comparison and for words. */
static phi_str phi__tape_match_words_of(phi__tape *tape, phi__buf *out, const phi__toolcall *call,
                                        const phi_message *result) {
    phi_message plain = *result;
    plain.timestamp_ms = 0;
    phi__tape_result_put(tape, out, call, &plain);
    return phi__buf_str(out);
}

/* Compares a tool's result with the recorded one. */
PHI__FN void phi__tape_match_compare(phi__tape *tape, size_t line, phi__toolcall *call,
                                     const phi_message *recorded) {
    phi__buf then, now;
    char what[120];
    phi_str a, b;
    phi__buf_init(&then, &tape->memory);
    phi__buf_init(&now, &tape->memory);
    a = phi__tape_match_words_of(tape, &then, call, recorded);
    b = phi__tape_match_words_of(tape, &now, call, call->held);
    (void)snprintf(what, sizeof what, "the result of tool %.*s",
                   (int)phi__utf8_cut(call->block->name, 64), call->block->name.at);
    if (then.failed || now.failed)
        phi__tape_match_no_memory(tape);
    else if (!phi_str_equal(a, b))
        phi__tape_match_diverge(tape, line, what, a, b);
    phi__buf_free(&then);
    phi__buf_free(&now);
}
