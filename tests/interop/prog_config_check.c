/* prog_config_check.c - a configuration in JSON a line; its messages a line, parted by tabs. */
#include "sections/sections.h"
#include "config/config_own_in.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char line[1 << 20];

static const char *variable(void *user_data, const char *name) {
    (void)user_data;
    (void)name;
    return "5";
}

int main(void) {
    while (fgets(line, sizeof line, stdin) != NULL) {
        phi_config_desc desc = PHI_ZERO;
        const phi_config_problem *p;
        phi_config *config;
        size_t i;
        desc.text = phi_str_of(line);
        desc.format = PHI_CONFIG_JSON;
        desc.variable_fn = variable;
        desc.sections = phi_config_sections();
        config = phi_config_load(&desc);
        for (i = 0; (p = phi_config_problem_at(config, i)) != NULL; i++)
            printf("%s\t", p->message.at);
        printf("\n");
        phi_config_free(config);
    }
    return 0;
}
