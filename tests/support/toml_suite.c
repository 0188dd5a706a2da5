/* toml_suite.c - see toml_suite.h. */
#include "support/toml_suite.h"

#include "support/test.h"
#include "text/json_in.h"

#include <math.h>

static unsigned digit_of(char c) { return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10); }

/* In place. */
static phi_str unescape(char *at, size_t len) {
    size_t i, n = 0;
    for (i = 0; i < len; i++)
        if (at[i] == '\\') {
            at[n++] = (char)(digit_of(at[i + 1]) << 4 | digit_of(at[i + 2]));
            i += 2;
        } else
            at[n++] = at[i];
    return phi__str(at, n);
}

size_t toml_suite_read(toml_case cases[TOML_CASES], char **memory) {
    char *all = test_read_file("tests/formats/toml_suite.txt", NULL), *line = all, *next;
    size_t count = 0;
    *memory = all;
    for (; all != NULL && *line != '\0' && count < TOML_CASES; line = next) {
        char *end = strchr(line, '\n'), *text = strchr(line, '\t'), *tagged;
        toml_case *one = &cases[count];
        next = end + 1;
        *end = '\0';
        if (*line == '#') continue;
        *text++ = '\0';
        tagged = strchr(text, '\t');
        one->name = line;
        one->tagged = tagged == NULL ? phi__str("", 0) : unescape(tagged + 1, strlen(tagged + 1));
        one->text = unescape(text, tagged == NULL ? strlen(text) : (size_t)(tagged - text));
        count++;
    }
    return count;
}

bool toml_suite_same(const phi_json *a, const phi_json *b) {
    phi_json_iter of_a = phi_json_each(a), of_b = phi_json_each(b);
    phi_toml_type type = phi_toml_type_of(a, NULL);
    double x = phi_json_num(a, 0), y = phi_json_num(b, 0);
    if (type != phi_toml_type_of(b, NULL)) return false;
    if (type == PHI_TOML_FLOAT) return memcmp(&x, &y, sizeof x) == 0 || (isnan(x) && isnan(y));
    if (type < PHI_TOML_ARRAY) return phi__json_get_equal(a, b);
    if (phi_json_count(a) != phi_json_count(b)) return false;
    while (phi_json_next(&of_a) != NULL) {
        const phi_json *other = phi_json_next(&of_b);
        if (type == PHI_TOML_TABLE && !phi_str_equal(of_a.key, of_b.key))
            other = phi__json_get_n(b, of_a.key);
        if (!toml_suite_same(of_a.at, other)) return false;
    }
    return true;
}
