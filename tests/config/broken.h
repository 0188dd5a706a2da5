/* broken.h - what phi says about a configuration that is a file: at loading, and when agents are
   made of it without beginning anything. */
#ifndef PHI_TESTS_CONFIG_BROKEN_H
#define PHI_TESTS_CONFIG_BROKEN_H

#include "support/problems.h"
#include "config/config_agents.h"
#include "sections/sections.h"
#include "loop/loop_in.h"

#include <stdio.h>
#include <string.h>

/* The variables that there are. */
static const char *broken_variable(void *user_data, const char *name) {
    (void)user_data;
    if (strcmp(name, "ANTHROPIC_API_KEY") == 0) return "sk-ant-of-the-test";
    if (strcmp(name, "OPENAI_API_KEY") == 0) return "sk-of-the-test";
    if (strcmp(name, "HOME") == 0) return "/home/ann";
    return NULL;
}

/* Appends a message and "\n", without the directory of the file. */
static size_t broken_add(char *out, size_t size, size_t n, phi_str message, const char *directory) {
    size_t len = strlen(directory), i;
    for (i = 0; i < message.len && n + 2 < size; i++) {
        if (len > 0 && message.len - i >= len && memcmp(message.at + i, directory, len) == 0) {
            i += len - 1;
            continue;
        }
        out[n++] = message.at[i];
    }
    if (n + 1 < size) out[n++] = '\n';
    out[n] = '\0';
    return n;
}

/* All messages of a file, a line each; "" where there is nothing to say. directory: "a/b/", which
   is left out of them. */
static phi_status broken_said(phi_runtime *rt, const phi_allocator *allocator, const char *path,
                              const char *directory, char *out, size_t size) {
    phi_config_desc desc = PHI_ZERO;
    phi_agents_desc with = PHI_ZERO;
    phi_config_problem p;
    phi_config *config;
    phi_agents *agents = NULL;
    phi_status status;
    size_t i, n = 0;
    int left = 1000;
    out[0] = '\0';
    if (allocator != NULL) desc.allocator = *allocator;
    desc.path = path;
    desc.variable_fn = broken_variable;
    desc.sections = phi_config_sections();
    config = phi_config_load(&desc);
    status = config_status(config);
    for (i = 0; status != PHI_OK && config_problem(config, i, &p); i++)
        n = broken_add(out, size, n, p.message, directory);
    if (status == PHI_OK) {
        with.check_only = true;
        agents = phi_agents_from_config(rt, config, &with);
        while ((status = phi_agents_step(agents)) == PHI_BUSY && left-- > 0) (void)phi_step(rt, 1);
        for (i = 0; agents_problem(agents, i, &p); i++)
            n = broken_add(out, size, n, p.message, directory);
    }
    phi_agents_free(agents);
    phi_config_free(config);
    return status;
}

#endif
