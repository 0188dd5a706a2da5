/* toml_suite.h - the cases of tests/formats/toml_suite.txt, and trees compared as TOML sees them. */
#ifndef PHI_TESTS_SUPPORT_TOML_SUITE_H
#define PHI_TESTS_SUPPORT_TOML_SUITE_H

#include "formats/toml.h"
#include "text/text_in.h"

typedef struct toml_case {
    const char *name;
    phi_str text, tagged; /* tagged: empty where the text is invalid */
} toml_case;

enum { TOML_CASES = 1000 }; /* at most */

/* Reads the file into `cases`; *memory is for free(). Returns how many there are. */
size_t toml_suite_read(toml_case cases[TOML_CASES], char **memory);

/* The same values of the same types, members in any order. */
bool toml_suite_same(const phi_json *a, const phi_json *b);

#endif
