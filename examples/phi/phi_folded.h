/* phi_folded.h - what calls gave, in a few rows below their lines; all of it later, for the key that asks. Copy what you
   need of it.

   The newest outputs are kept, at most FOLDED_BYTES together. */
#ifndef PHI_FOLDED_H
#define PHI_FOLDED_H

#include "phi_calls.h"
#include "phi_change.h"
#include "phi_output.h"
#include "phi_prose.h"

enum { FOLDED_KEPT = 16, FOLDED_BYTES = 2 << 20, FOLDED_ROWS = 4, FOLDED_CHANGE = 24 };
enum { FOLDED_ALL = 1 << 30 };

typedef struct folded_output {
    text head, body; /* the call's line; lines that are safe to show */
    bool change;     /* the lines of a change */
    bool failed;     /* its last lines say why */
} folded_output;

/* A change that a call makes: noted when the call begins. */
typedef struct folded_change {
    char id[96];
    bool asked; /* a person has seen it */
    text body;
} folded_change;

/* Zero to begin with; ends with folded_free. */
typedef struct folded {
    folded_output kept[FOLDED_KEPT]; /* the newest first */
    folded_change changes[FOLDED_KEPT];
    size_t count, next_change;
    size_t opened; /* so many of the newest were shown whole */
    bool watches;  /* calls are noted when they begin, and the file is read */
} folded;

/* ---- changes of files ---- */

static inline folded_change *folded_find(folded *f, phi_str id) {
    size_t i;
    for (i = 0; i < FOLDED_KEPT; i++)
        if (id.len > 0 && phi_str_equal(phi_str_of(f->changes[i].id), id)) return &f->changes[i];
    return NULL;
}

/* A call that changes a file, when a person has said yes (asked), or when it begins. */
static inline void folded_note(folded *f, phi_str id, const change_call *call, bool asked) {
    folded_change *c = folded_find(f, id);
    phi_arena arena;
    phi_memory memory;
    if (c != NULL && asked) c->asked = true;
    if (c != NULL || id.len == 0 || id.len >= sizeof c->id) return;
    c = &f->changes[f->next_change++ % FOLDED_KEPT];
    (void)snprintf(c->id, sizeof c->id, "%.*s", PHI_ARG(id));
    c->asked = asked;
    c->body.len = 0;
    if (asked) return;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    if (change_shown(&c->body, call, &arena))
        text_remove(&c->body, 0, strcspn(c->body.at, "\n")); /* the call's line has the path */
    else
        c->id[0] = '\0';
    if (c->body.len > 0) text_remove(&c->body, 0, 1);
    phi_arena_free(&arena);
}

/* ---- lines ---- */

static inline void folded_more(text *rows, size_t count) {
    spans_style(rows, STYLE_DIM);
    if (count > 0) text_print(rows, "    ... %u rows (Ctrl+O shows them)\n", (unsigned)count);
}

/* The length of the line at `from`; *blank: it shows nothing. */
static inline size_t folded_line(const text *body, size_t from, bool *blank) {
    size_t n = 0;
    *blank = true;
    for (; from + n < body->len && body->at[from + n] != '\n'; n++)
        if (body->at[from + n] != ' ' && body->at[from + n] != '\t') *blank = false;
    return n;
}

/* Shows lines, below the call's: `most` that are not blank, cut to the window, the first ones, or the last ones of a call
   that failed; FOLDED_ALL: all. */
static inline void folded_rows(screen *s, const folded_output *o, size_t most) {
    text rows = {NULL, 0, 0};
    size_t from, count = 0, skip = 0, n;
    bool all = most == FOLDED_ALL, blank;
    for (from = 0; from <= o->body.len; from += n + 1) {
        n = folded_line(&o->body, from, &blank);
        count += all || !blank ? 1 : 0;
    }
    if (count <= most + 1) most = count; /* a row that counts one row says less than that row */
    if (o->failed) skip = count - most;
    folded_more(&rows, skip);
    for (from = 0; from <= o->body.len && most > 0; from += n + 1) {
        phi_str line = {o->body.at + from, 0};
        char mark;
        n = line.len = folded_line(&o->body, from, &blank);
        if (blank && !all) continue;
        count--;
        if (skip > 0) {
            skip--;
            continue;
        }
        most--;
        mark = o->change ? change_mark(line.at, line.len) : ' ';
        spans_style(&rows, mark == '-' ? STYLE_BAD : mark == '+' ? STYLE_GOOD : STYLE_DIM);
        text_say(&rows, "    ");
        rows_hang(&rows, 4);
        if (!all) text_fit(&rows, line, s->columns - 4);
        for (; line.len > 0 && all; line.at++, line.len--)
            text_add(&rows, *line.at == '\t' ? "    " : line.at, *line.at == '\t' ? 4 : 1);
        text_say(&rows, "\n");
    }
    if (!o->failed) folded_more(&rows, count);
    spans_style(&rows, STYLE_PLAIN);
    screen_answer_styled(s, &rows);
    free(rows.at);
}

/* ---- calls ---- */

static inline folded_output *folded_keep(folded *f, phi_str head) {
    size_t all = 0, i;
    folded_output oldest = f->kept[FOLDED_KEPT - 1];
    memmove(f->kept + 1, f->kept, (FOLDED_KEPT - 1) * sizeof *f->kept);
    oldest.head.len = oldest.body.len = 0;
    f->kept[0] = oldest;
    text_add(&f->kept[0].head, head.at, head.len);
    if (f->count < FOLDED_KEPT) f->count++;
    for (i = 1; i < FOLDED_KEPT; i++) { /* the newest gets the other half */
        all += f->kept[i].body.len;
        if (all <= FOLDED_BYTES / 2) continue;
        if (f->count > i) f->count = i;
        free(f->kept[i].body.at), f->kept[i].body = (text){NULL, 0, 0};
    }
    f->opened = 0;
    return &f->kept[0];
}

/* A call has ended, and its line, `head`, is in the transcript. */
static inline void folded_end(folded *f, screen *s, const phi_event *ev, phi_str head,
                              phi_str result) {
    folded_change *c = folded_find(f, ev->tool_call_id);
    bool reads = phi_str_is(ev->tool_name, "read_file") ||
                 phi_str_is(ev->tool_name, "list_files") || phi_str_is(ev->tool_name, "search");
    folded_output *o;
    text body = {NULL, 0, 0};
    size_t rows = 1, i;
    bool change = c != NULL && !c->asked && !ev->is_error;
    if (c == NULL) output_clean(&body, output_result(ev, result));
    if (change) text_add(&body, c->body.at, c->body.len);
    if (c != NULL) c->id[0] = '\0';
    for (i = 0; i < body.len; i++) rows += body.at[i] == '\n';
    if (body.len > FOLDED_BYTES / 2) {
        for (i = FOLDED_BYTES / 2; ((unsigned char)body.at[i] & 0xC0) == 0x80;) i--;
        text_remove(&body, i, body.len - i);
        text_say(&body, "\n(the rest is not kept)");
    }
    if (body.len > 0 && (rows > 1 || !ev->is_error)) {
        o = folded_keep(f, head);
        text_add(&o->body, body.at, body.len);
        o->change = change;
        o->failed = ev->is_error || calls_exit_code(ev, result) != 0;
        folded_rows(s, o, change ? FOLDED_CHANGE : reads ? 0 : FOLDED_ROWS);
    }
    free(body.at);
}

/* The calls of an answer, by their arguments alone. */
static inline void folded_wanted(folded *f, const phi_message *message) {
    size_t i;
    for (i = 0; i < message->content_count && !f->watches; i++) {
        const phi_content *c = &message->content[i];
        change_call call = PHI_ZERO;
        call.tool = c->name;
        call.arguments = c->arguments;
        if (c->kind == PHI_CONTENT_TOOL_CALL &&
            (phi_str_is(c->name, "edit_file") || phi_str_is(c->name, "write_file")))
            folded_note(f, c->id, &call, false);
    }
}

/* The newest output that was not yet shown whole; NULL: there is none. */
static inline const folded_output *folded_next(folded *f) {
    return f->opened < f->count ? &f->kept[f->opened++] : NULL;
}

static inline void folded_free(folded *f) {
    size_t i;
    for (i = 0; i < FOLDED_KEPT; i++) {
        free(f->kept[i].head.at), free(f->kept[i].body.at);
        free(f->changes[i].body.at);
    }
}

#endif
