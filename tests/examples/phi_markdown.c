/* phi_markdown.c - the Markdown of the command, for test_phi_markdown.py.

       phi_markdown show COLUMNS < text      its rows, with a mark for each style: <b>bold</>
       phi_markdown rows COLUMNS < text      as a window of so many columns shows them, without styles
       phi_markdown split SEEDS < text       pieces of any size make the same rows; prints how many were tried
       phi_markdown fuzz SEEDS               the same of random texts, of which no letter is lost */
#include "phi/phi_markdown.h"

static const char *const tags[STYLES] = {"",    "</>", "<2>", "<3>", "<4>", "<5>", "<6>",
                                         "<7>", "<8>", "",    "",    "<b>", "<i>", "<c>",
                                         "<s>", "<#>", "<n>", "<a>", "<q>", "<c>"};
static uint64_t state = 1;

static size_t pick(size_t n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(state >> 33) % n;
}

/* In pieces of 1 to `most` bytes, 0: in one; with pauses after some of them. */
static text rendered(phi_str in, int columns, size_t most, bool pauses) {
    markdown m = PHI_ZERO;
    text out = {NULL, 0, 0};
    size_t at = 0, n;
    text_say(&out, "");
    for (; at < in.len; at += n) {
        phi_str piece = {in.at + at, 0};
        n = most == 0 ? in.len : 1 + pick(most);
        if (n > in.len - at) n = in.len - at;
        piece.len = n;
        markdown_add(&m, piece, columns, &out);
        if (pauses && pick(3) == 0) markdown_pause(&m, &out);
    }
    markdown_end(&m, &out);
    markdown_free(&m);
    return out;
}

static void show(const text *rows) {
    size_t i;
    for (i = 0; i < rows->len; i++) {
        unsigned char c = (unsigned char)rows->at[i];
        if (!rows_is_style(c))
            (void)putchar(c);
        else if (c < STYLES)
            (void)fputs(tags[c], stdout);
    }
}

static void show_rows(const text *rows, int columns) {
    size_t from = 0, end, next, i;
    bool more = true;
    while (more) {
        int indent = rows_indent(rows, columns, true, from);
        more = rows_next(rows, columns - indent, from, &end, &next);
        if (indent + rows_width(rows, from, end) > columns) (void)fputs("TOO WIDE: ", stdout);
        (void)printf("%*s", indent, "");
        for (i = from; i < end; i++)
            if (!rows_is_style((unsigned char)rows->at[i])) (void)putchar(rows->at[i]);
        (void)putchar('\n');
        from = next;
    }
}

/* How many of the texts' pieces made other rows. */
static int splits(phi_str in, int columns, int seeds, int *tried) {
    text whole = rendered(in, columns, 0, false);
    int i, wrong = 0;
    for (i = 0; i < seeds && wrong == 0; i++) {
        size_t most = i == 0 ? 1 : 1 + pick(i % 2 != 0 ? 4 : 40);
        text parts = rendered(in, columns, most, false);
        ++*tried;
        if (parts.len != whole.len || memcmp(parts.at, whole.at, whole.len) != 0) {
            (void)printf("of this text:\n%.*s\n--- whole:\n", PHI_ARG(in));
            show(&whole);
            (void)printf("\n--- in pieces of %u:\n", (unsigned)most);
            show(&parts);
            wrong++;
        }
        free(parts.at);
    }
    free(whole.at);
    return wrong;
}

static int letters(phi_str in, char c) {
    int n = 0;
    size_t i;
    for (i = 0; i < in.len; i++) n += in.at[i] == c;
    return n;
}

static int lost(phi_str in, bool pauses) {
    text whole = rendered(in, 20, pauses ? 9 : 0, pauses);
    const char *c;
    int wrong = 0;
    for (c = "abcxyz"; *c != '\0' && wrong == 0; c++)
        if (letters(in, *c) != letters(text_str(&whole), *c)) {
            (void)printf("%c of this text is lost or added:\n%.*s\n--- in\n", *c, PHI_ARG(in));
            show(&whole);
            wrong++;
        }
    free(whole.at);
    return wrong;
}

static int fuzz(int seeds, int *tried) {
    static const char *const words[] = {"a",    "b",         "c",
                                        "x",    "y",         "z",
                                        " ",    " ",         "\n",
                                        "\n",   "*",         "**",
                                        "***",  "_",         "`",
                                        "``",   "```",       "~~~",
                                        "[",    "](",        ")",
                                        "<",    "https://",  ">",
                                        "# ",   "- ",        "1. ",
                                        "|",    "|-|",       "---",
                                        "\\",   "    ",      "\t",
                                        "\"",   "'",         "//",
                                        "/*",   "*/",        "\xE4\xBD\xA0",
                                        "\xC3", "e\xCC\x81", "\r\n",
                                        "\x1b", "!["};
    int i, wrong = 0;
    for (i = 0; i < seeds && wrong == 0; i++) {
        text in = {NULL, 0, 0};
        size_t n = pick(i % 50 == 0 ? 3000 : 80);
        while (n-- > 0) text_say(&in, words[pick(sizeof words / sizeof *words)]);
        text_say(&in, "");
        wrong += splits(text_str(&in), 8 + (int)pick(60), 3, tried);
        if (strstr(in.at, "](") == NULL)
            wrong += lost(text_str(&in), false) + lost(text_str(&in), true);
        free(in.at);
    }
    return wrong;
}

int main(int argc, char **argv) {
    text in = {NULL, 0, 0};
    char part[4096];
    size_t got;
    int number = argc == 3 ? atoi(argv[2]) : 80, tried = 0, wrong = 0;
    const char *what = argc > 1 ? argv[1] : "";
    while (strcmp(what, "fuzz") != 0 && (got = fread(part, 1, sizeof part, stdin)) > 0)
        text_add(&in, part, got);
    text_say(&in, "");
    if (strcmp(what, "split") == 0)
        wrong = splits(text_str(&in), 60, number, &tried);
    else if (strcmp(what, "fuzz") == 0)
        wrong = fuzz(number, &tried);
    else {
        text rows = rendered(text_str(&in), number, 0, false);
        if (strcmp(what, "show") == 0) show(&rows);
        if (strcmp(what, "rows") == 0) show_rows(&rows, number);
        free(rows.at);
    }
    if (tried > 0 && wrong == 0) (void)printf("%d tried\n", tried);
    free(in.at);
    return wrong > 0;
}
