/* scripts_make.c - makes a set of scripts out of its description, or names the fault of that. */
#include "tools/scripts_in.h"

#ifndef PHI_NO_PROCESS

#include <stdarg.h>
#include <stdio.h>

enum { PHI__SCRIPTS_MS = 30000, PHI__SCRIPTS_OUTPUT_BYTES = 65536, PHI__SCRIPTS_RUNNING = 8 };

static bool phi__scripts_make_refuse(phi_parse_error *error, phi_status status, const char *format,
                                     ...) PHI_PRINTF(3, 4);

static bool phi__scripts_make_refuse(phi_parse_error *error, phi_status status, const char *format,
                                     ...) {
    va_list args;
    va_start(args, format);
    error->status = status;
    (void)vsnprintf(error->message, sizeof error->message, format, args);
    va_end(args);
    return false;
}

static const char *phi__scripts_make_keep(phi_scripts *set, const char *text) {
    phi_str kept;
    return phi__arena_str(&set->arena, phi_str_of(text), &kept) ? kept.at : NULL;
}

/* A copy of a NULL-ended list; NULL: no memory. */
static const char *const *phi__scripts_make_list(phi_scripts *set, const char *const *list,
                                                 size_t *count) {
    size_t n = 0, i;
    const char **out;
    while (list != NULL && list[n] != NULL) n++;
    out = (const char **)phi_arena_alloc(&set->arena, (n + 1) * sizeof *out);
    for (i = 0; i < n && out != NULL; i++) {
        out[i] = phi__scripts_make_keep(set, list[i]);
        if (out[i] == NULL) return NULL;
    }
    if (out != NULL) out[n] = NULL;
    *count = n;
    return out;
}

static bool phi__scripts_make_arguments(phi_scripts *set, phi__scripts_one *one, size_t index,
                                        phi_parse_error *error) {
    const char *shell[4] = {"sh", "-c", NULL, NULL};
    const char *fault = "no memory";
    size_t n = 1;
    phi_status status = PHI_OK;
    shell[2] = one->script.command;
    if (one->script.argv != NULL)
        one->argv = phi__scripts_make_list(set, one->script.argv, &n);
    else if (one->script.shell)
        one->argv = phi__scripts_make_list(set, shell, &n);
    else
        status = phi__script_words_split(&set->arena, one->script.command, &one->argv, &fault);
    if (status == PHI_OK && one->argv != NULL && n > 0) {
        one->name = one->script.command != NULL ? phi__scripts_make_keep(set, one->script.command)
                                                : one->argv[0];
        return one->name != NULL || phi__scripts_make_refuse(error, PHI_NO_MEMORY, "no memory");
    }
    if (n > 0 && (status == PHI_OK || status == PHI_NO_MEMORY))
        return phi__scripts_make_refuse(error, PHI_NO_MEMORY, "no memory");
    return phi__scripts_make_refuse(error, PHI_BAD_ARG, "scripts[%u]: %s", (unsigned)index,
                                    n == 0 ? "argv is empty" : fault);
}

static bool phi__scripts_make_add(phi_scripts *set, const phi_script *given, size_t index,
                                  phi_parse_error *error) {
    const uint32_t all = (uint32_t)PHI_HOOK_CREDENTIAL * 2 - 1;
    const uint32_t never = (uint32_t)PHI_HOOK_TRANSFORM_CONTEXT | PHI_HOOK_CONVERT_TO_LLM |
                           PHI_HOOK_BEFORE_TOOL_UPDATE | PHI_HOOK_AFTER_TOOL_UPDATE;
    phi__scripts_one *one = &set->all[index];
    one->script = *given;
    if (given->points == 0 || (given->points & ~all) != 0 || (given->points & never) != 0)
        return phi__scripts_make_refuse(
            error, PHI_BAD_ARG,
            "scripts[%u]: points is 0x%x: expected points of a run at which "
            "a script can be called",
            (unsigned)index, (unsigned)given->points);
    if ((given->command == NULL) == (given->argv == NULL))
        return phi__scripts_make_refuse(
            error, PHI_BAD_ARG, "scripts[%u]: expected either command or argv", (unsigned)index);
    if (given->tool != NULL) {
        one->script.tool = phi__scripts_make_keep(set, given->tool);
        if (one->script.tool == NULL)
            return phi__scripts_make_refuse(error, PHI_NO_MEMORY, "no memory");
    }
    if (given->server != NULL) {
        one->script.server = phi__scripts_make_keep(set, given->server);
        if (one->script.server == NULL)
            return phi__scripts_make_refuse(error, PHI_NO_MEMORY, "no memory");
    }
    set->points |= given->points;
    return phi__scripts_make_arguments(set, one, index, error);
}

static void phi__scripts_make_defaults(phi_scripts_desc *desc) {
    if (desc->timeout_ms == 0) desc->timeout_ms = PHI__SCRIPTS_MS;
    if (desc->max_output_bytes == 0) desc->max_output_bytes = PHI__SCRIPTS_OUTPUT_BYTES;
    if (desc->max_running == 0) desc->max_running = PHI__SCRIPTS_RUNNING;
}

static bool phi__scripts_make_set(phi_scripts *set, const phi_scripts_desc *desc,
                                  phi_parse_error *error) {
    size_t i;
    set->desc = *desc;
    phi__scripts_make_defaults(&set->desc);
    set->desc.env = phi__scripts_make_list(set, desc->env, &set->env_count);
    if (desc->workspace != NULL) set->desc.workspace = phi__scripts_make_keep(set, desc->workspace);
    set->all = (phi__scripts_one *)phi__arena_zero(&set->arena,
                                                   phi__mul(desc->count + 1, sizeof *set->all));
    if (set->all == NULL || set->desc.env == NULL ||
        (desc->workspace != NULL && set->desc.workspace == NULL))
        return phi__scripts_make_refuse(error, PHI_NO_MEMORY, "no memory");
    for (i = 0; i < desc->count; i++)
        if (!phi__scripts_make_add(set, &desc->scripts[i], i, error)) return false;
    return true;
}

/* ---- public ---- */

PHI_API phi_scripts *phi_scripts_new(const phi_scripts_desc *desc, phi_parse_error *error) {
    phi_parse_error own;
    phi_memory memory;
    phi_scripts *set;
    if (error == NULL) error = &own;
    memset(error, 0, sizeof *error);
    if (desc == NULL || (desc->scripts == NULL && desc->count > 0)) {
        (void)phi__scripts_make_refuse(error, PHI_BAD_ARG, "desc or its scripts are missing");
        return NULL;
    }
    phi_memory_init(&memory, &desc->allocator, 0);
    set = (phi_scripts *)phi__alloc(&memory, sizeof *set);
    if (set == NULL) {
        (void)phi__scripts_make_refuse(error, PHI_NO_MEMORY, "no memory");
        return NULL;
    }
    set->memory = memory;
    phi_arena_init(&set->arena, &set->memory, 0);
    if (phi__scripts_make_set(set, desc, error)) return set;
    phi_scripts_free(set);
    return NULL;
}

#endif
