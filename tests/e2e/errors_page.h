/* errors_page.h - docs/errors.md as the expectation of tests: the row that names a test says what
   its host should see. A text in backticks is compared, "..." in it stands for anything; other
   words are for people. */
#ifndef PHI_TESTS_E2E_ERRORS_PAGE_H
#define PHI_TESTS_E2E_ERRORS_PAGE_H

#include "support/crowd.h"
#include "model/failure.h"

enum { ERRORS_PAGE_CELLS = 12 };

/* Cells of the row whose last one is `test`; 0: there is none. */
static inline int errors_page_row(const char *test, char cells[ERRORS_PAGE_CELLS][400]) {
    static char *page;
    char name[200], *line, *next;
    if (page == NULL) page = test_read_file("docs/errors.md", NULL);
    (void)snprintf(name, sizeof name, "| `%s` |", test);
    for (line = page; line != NULL && *line != '\0'; line = next) {
        char *end = strchr(line, '\n'), *at = strstr(line, name);
        int n = 0;
        next = end != NULL ? end + 1 : line + strlen(line);
        if (at == NULL || at >= next) continue;
        while (n < ERRORS_PAGE_CELLS && line < at) {
            char *bar = strchr(line + 1, '|'), *last = bar;
            while (line + 1 < bar && line[1] == ' ') line++;
            while (last > line + 1 && last[-1] == ' ') last--;
            (void)snprintf(cells[n++], 400, "%.*s", (int)(last - line - 1), line + 1);
            line = bar;
        }
        return n;
    }
    return 0;
}

/* Whether a text is what a cell says. */
static inline bool errors_page_fits(const char *cell, const char *text) {
    char want[400], *piece, *dots;
    size_t n = strlen(cell);
    const char *at = text;
    bool first = true;
    if (n < 2 || cell[0] != '`' || cell[n - 1] != '`') return true;
    (void)snprintf(want, sizeof want, "%.*s", (int)(n - 2), cell + 1);
    for (piece = want; piece != NULL; piece = dots != NULL ? dots + 3 : NULL, first = false) {
        const char *found;
        dots = strstr(piece, "...");
        if (dots != NULL) *dots = '\0';
        found = dots == NULL && !first && strlen(at) >= strlen(piece)
                    ? at + strlen(at) - strlen(piece) /* the last piece ends the text */
                    : at;
        if (first || dots == NULL) {
            if (strncmp(found, piece, strlen(piece)) != 0) return false;
        } else if ((found = strstr(at, piece)) == NULL)
            return false;
        at = found + strlen(piece);
        if (dots == NULL) return *at == '\0';
    }
    return true;
}

static inline const char *errors_page_status(phi_status status) {
    switch (status) {
#define PHI_X(name, value, text)                                                                   \
    case PHI_##name: return "PHI_" #name;
        PHI_STATUS_LIST(PHI_X)
#undef PHI_X
    case PHI_STATUS_END: break;
    }
    return "?";
}

/* trouble | kind | HTTP | retryable | delay in ms | status | text | test */
static inline bool errors_page_failure(const char *test, const seen *s) {
    char cells[ERRORS_PAGE_CELLS][400], got[5][40];
    int n = errors_page_row(test, cells), i;
    bool same = n == 7;
    (void)snprintf(got[0], sizeof got[0], "%s", phi_failure_kind_text(s->failure.kind));
    (void)snprintf(got[1], sizeof got[1], "%d", s->failure.http_status);
    (void)snprintf(got[2], sizeof got[2], "%s", s->failure.retryable ? "yes" : "no");
    (void)snprintf(got[3], sizeof got[3], "%llu", (unsigned long long)s->failure.retry_after_ms);
    if (!s->failure.has_retry_after) (void)snprintf(got[3], sizeof got[3], "-");
    if (s->failure.http_status == 0) (void)snprintf(got[1], sizeof got[1], "-");
    (void)snprintf(got[4], sizeof got[4], "%s", errors_page_status(s->error_status));
    for (i = 0; same && i < 5; i++) same = strcmp(cells[i + 1], got[i]) == 0;
    same = same && errors_page_fits(cells[6], s->failure_text) && s->status == s->error_status;
    if (CHECK(same)) return true;
    printf("  | | %s | %s | %s | %s | %s | `%s` | `%s` |\n", got[0], got[1], got[2], got[3], got[4],
           s->failure_text, test);
    return false;
}

/* trouble | result | test */
static inline bool errors_page_result(const char *test, const seen *s) {
    char cells[ERRORS_PAGE_CELLS][400];
    if (CHECK(errors_page_row(test, cells) == 2 && errors_page_fits(cells[1], s->result) &&
              s->is_error))
        return true;
    printf("  | | `%s` | `%s` |\n", s->result, test);
    return false;
}

#endif
