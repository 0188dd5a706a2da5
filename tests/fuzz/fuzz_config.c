/* fuzz_config.c - any bytes as a configuration, in each format and by guess.

   What must hold: it ends; problems lie in the text, in order, and each says something; no value of
   a variable is shown; the status says whether there is an error; a second reading says the same;
   nothing is left allocated, also where memory runs out. */
#include "support/problems.h"
#include "config/config_in.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool held) {
    if (!held) abort();
}

static size_t live;

static void *counted(void *user_data, void *ptr, size_t old_bytes, size_t new_bytes) {
    size_t *left = (size_t *)user_data;
    void *now;
    if (new_bytes > 0 && left != NULL && (*left)-- == 0) {
        *left = 0;
        return NULL;
    }
    if (new_bytes == 0) {
        free(ptr);
        live -= old_bytes;
        return NULL;
    }
    now = realloc(ptr, new_bytes);
    must(now != NULL);
    live += new_bytes - old_bytes;
    return now;
}

static const char *variable(void *user_data, const char *name) {
    (void)user_data;
    return name[0] == 'N' ? NULL : name[0] == '5' ? "5" : "qwertyuiop-secret";
}

static phi_config *load(phi_str text, phi_config_format format, size_t *left) {
    phi_config_desc desc = PHI_ZERO;
    desc.allocator.realloc_fn = counted;
    desc.allocator.user_data = left;
    desc.text = text;
    desc.format = format;
    desc.variable_fn = variable;
    desc.max_problems = 50;
    return phi_config_load(&desc);
}

static void check_problems(const phi_config *config, phi_str text) {
    phi_config_problem p;
    uint32_t line = 1, column = 0;
    size_t i, errors = 0;
    for (i = 0; config_problem(config, i, &p); i++) {
        must(p.message.len > 0 && p.message.at[p.message.len] == '\0');
        must(memchr(p.message.at, '\n', p.message.len) == NULL);
        must(phi__str_find(p.message, 0, "qwertyuiop") == SIZE_MAX);
        must(phi__str_find(p.value, 0, "qwertyuiop") == SIZE_MAX);
        must(p.line <= text.len + 1 && p.column <= text.len + 2);
        must(p.line == 0 || p.line > line || (p.line == line && p.column >= column));
        if (p.line > 0) line = p.line, column = p.column;
        if (!p.is_warning) errors++;
    }
    must(i == config_problem_count(config) && i <= 50);
    must(errors <= config_error_count(config));
    must((config_error_count(config) > 0) == (config_status(config) != PHI_OK));
    must(config_status(config) != PHI_NO_MEMORY);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    phi_str text = phi__str((const char *)data, size);
    size_t left = 0;
    int format;
    if (size > 0) left = data[0]; /* allocations until memory runs out */
    /* the text may hold the value itself */
    if (phi__str_find(text, 0, "qwertyuiop") != SIZE_MAX) return 0;
    for (format = PHI_CONFIG_AUTO; format <= PHI_CONFIG_YAML; format++) {
        phi_config *config = load(text, (phi_config_format)format, NULL);
        phi_config *again = load(text, (phi_config_format)format, NULL);
        must(config != NULL && again != NULL);
        check_problems(config, text);
        must(strcmp(config_message(config), config_message(again)) == 0);
        must(config_problem_count(config) == config_problem_count(again));
        phi_config_free(config);
        phi_config_free(again);
        phi_config_free(load(text, (phi_config_format)format, &left));
        must(live == 0);
        left = size > 0 ? data[size - 1] : 0;
    }
    return 0;
}
