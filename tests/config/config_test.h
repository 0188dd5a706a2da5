/* config_test.h - loads a text as a configuration, with variables of the test's own. */
#ifndef PHI_TESTS_CONFIG_CONFIG_TEST_H
#define PHI_TESTS_CONFIG_CONFIG_TEST_H

#include "config/config_in.h"
#include "support/problems.h"
#include "support/test.h"

static const char *config_variable(void *user_data, const char *name) {
    (void)user_data;
    if (strcmp(name, "KEY") == 0) return "sk-secret";
    if (strcmp(name, "FIVE") == 0) return "5";
    if (strcmp(name, "YES") == 0) return "True";
    if (strcmp(name, "EMPTY") == 0) return "";
    if (strcmp(name, "TRICKY") == 0) return "\"]\n[x] ${KEY}";
    return NULL;
}

static phi_config *config_load(phi_config_format format, const char *name, const char *text) {
    phi_config_desc desc = PHI_ZERO;
    desc.allocator = test_allocator();
    desc.path = name;
    desc.text = phi_str_of(text);
    desc.format = format;
    desc.variable_fn = config_variable;
    return phi_config_load(&desc);
}

/* All messages, a line each. */
static const char *config_said(const phi_config *config) {
    static char said[16384];
    phi_config_problem p;
    size_t i, n = 0;
    said[0] = '\0';
    for (i = 0; config_problem(config, i, &p) && n < sizeof said; i++)
        n += (size_t)snprintf(said + n, sizeof said - n, "%s%s", i > 0 ? "\n" : "", p.message.at);
    return said;
}

/* One text, one or more messages. */
typedef struct config_case {
    const char *text, *said;
} config_case;

__attribute__((unused)) static void config_cases(phi_config_format format, const config_case *cases,
                                                 size_t count) {
    size_t i;
    for (i = 0; i < count; i++) {
        phi_config *config = config_load(format, "f", cases[i].text);
        if (!CHECK_EQ_STR(config_said(config), cases[i].said)) printf("of: %s\n", cases[i].text);
        phi_config_free(config);
    }
}

#endif
