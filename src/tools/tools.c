/* tools.c - the table of the built-in tools: names, descriptions, schemas, defaults. */
#include "tools/tools_in.h"

#include "tools/context_tools.h"
#include "tools/job_in.h"

enum {
    PHI__TOOLS_BASH_MS = 120000, /* defaults, as in tools.h */
    PHI__TOOLS_LIST_MS = 10000,
    PHI__TOOLS_SEARCH_MS = 30000,
    PHI__TOOLS_OUTPUT_BYTES = 262144,
    PHI__TOOLS_BASH_RESULT_BYTES = 32768, /* more would crowd the model's context */
    PHI__TOOLS_READ_BYTES = 1048576,
    PHI__TOOLS_FILES = 200,
    PHI__TOOLS_MATCHES = 50,
    PHI__TOOLS_MARGIN_MS = 10000 /* the loop's deadline is this much later than the tool's */
};

#ifndef PHI_NO_PROCESS
static const char phi__tools_bash[] =
    "{\"type\":\"object\",\"properties\":{"
    "\"command\":{\"type\":\"string\",\"description\":\"The command to run with bash -c\"}},"
    "\"required\":[\"command\"]}";
static const char phi__tools_powershell[] =
    "{\"type\":\"object\",\"properties\":{"
    "\"command\":{\"type\":\"string\",\"description\":\"The command to run with PowerShell\"}},"
    "\"required\":[\"command\"]}";
#endif
#ifndef PHI_NO_FILES
static const char phi__tools_read[] =
    "{\"type\":\"object\",\"properties\":{"
    "\"path\":{\"type\":\"string\",\"description\":\"Path of the file to read\"},"
    "\"offset\":{\"type\":\"integer\",\"minimum\":0,"
    "\"description\":\"First line to read, counted from 1 (default: 1)\"},"
    "\"limit\":{\"type\":\"integer\",\"minimum\":0,"
    "\"description\":\"How many lines to read (default: all)\"}},"
    "\"required\":[\"path\"]}";
static const char phi__tools_write[] =
    "{\"type\":\"object\",\"properties\":{"
    "\"path\":{\"type\":\"string\",\"description\":\"Path of the file to write\"},"
    "\"content\":{\"type\":\"string\",\"description\":\"The whole new content of the file\"}},"
    "\"required\":[\"path\",\"content\"]}";
static const char phi__tools_edit[] =
    "{\"type\":\"object\",\"properties\":{"
    "\"path\":{\"type\":\"string\",\"description\":\"Path of the file to edit\"},"
    "\"old_text\":{\"type\":\"string\",\"description\":"
    "\"The exact text to replace, whitespace included; it must occur once\"},"
    "\"new_text\":{\"type\":\"string\",\"description\":\"What to put in its place\"}},"
    "\"required\":[\"path\",\"old_text\",\"new_text\"]}";
static const char phi__tools_list[] =
    "{\"type\":\"object\",\"properties\":{"
    "\"path\":{\"type\":\"string\",\"description\":\"Directory to list (default: .)\"},"
    "\"pattern\":{\"type\":\"string\","
    "\"description\":\"Glob that file names must match, such as *.c\"},"
    "\"max_depth\":{\"type\":\"integer\",\"minimum\":0,"
    "\"description\":\"How many levels of directories to look at (default: 3)\"}}}";
static const char phi__tools_search[] =
    "{\"type\":\"object\",\"properties\":{"
    "\"pattern\":{\"type\":\"string\",\"description\":\"Regular expression to look for\"},"
    "\"path\":{\"type\":\"string\","
    "\"description\":\"File or directory to search (default: .)\"},"
    "\"include\":{\"type\":\"string\","
    "\"description\":\"Glob that file names must match, such as *.c\"},"
    "\"case_sensitive\":{\"type\":\"boolean\","
    "\"description\":\"Tell upper from lower case (default: false)\"}},"
    "\"required\":[\"pattern\"]}";
#endif

#if !defined(PHI_NO_PROCESS) || !defined(PHI_NO_FILES)
static uint32_t phi__tools_behind(uint32_t timeout_ms) {
    return timeout_ms > PHI_UNLIMITED - PHI__TOOLS_MARGIN_MS ? PHI_UNLIMITED
                                                             : timeout_ms + PHI__TOOLS_MARGIN_MS;
}
#endif

static uint32_t phi__tools_or(uint32_t value, uint32_t standard) {
    return value != 0 ? value : standard;
}

static bool phi__tools_missing(const phi_tools_desc *desc) {
#ifdef PHI_NO_FILES
    (void)desc;
    return false;
#else
    phi__file_info info;
    return desc->workspace != NULL &&
           (phi__files_stat(desc->workspace, PHI__LINKS_FOLLOW, &info, NULL) != PHI_OK ||
            info.kind != PHI__FILE_DIRECTORY);
#endif
}

/* ---- public ---- */

PHI_API phi_status phi_tools_init(phi_toolset *set, const phi_tools_desc *desc) {
    phi_tool *tool;
    if (set == NULL) return PHI_BAD_ARG;
    memset(set, 0, sizeof *set);
    if (desc != NULL) set->desc = *desc;
    static const char *const patterns[] = {PHI_TOOLS_DENY_PATTERNS, NULL};
    if (set->desc.deny_patterns == NULL) set->desc.deny_patterns = patterns;
    set->desc.bash_timeout_ms = phi__tools_or(set->desc.bash_timeout_ms, PHI__TOOLS_BASH_MS);
    set->desc.list_timeout_ms = phi__tools_or(set->desc.list_timeout_ms, PHI__TOOLS_LIST_MS);
    set->desc.search_timeout_ms = phi__tools_or(set->desc.search_timeout_ms, PHI__TOOLS_SEARCH_MS);
    set->desc.max_output_bytes = phi__tools_or(set->desc.max_output_bytes, PHI__TOOLS_OUTPUT_BYTES);
    set->desc.max_bash_result_bytes =
        phi__tools_or(set->desc.max_bash_result_bytes, PHI__TOOLS_BASH_RESULT_BYTES);
    set->desc.max_read_bytes = phi__tools_or(set->desc.max_read_bytes, PHI__TOOLS_READ_BYTES);
    set->desc.max_files = phi__tools_or(set->desc.max_files, PHI__TOOLS_FILES);
    set->desc.max_matches = phi__tools_or(set->desc.max_matches, PHI__TOOLS_MATCHES);
    tool = NULL;
#ifndef PHI_NO_PROCESS
    tool = &set->tools[set->count++];
    phi__job_tool(tool, set, "bash", "Execute Command",
                  "Run a command with bash and get its exit code, stdout and stderr. "
                  "Background processes end with the command.",
                  phi__tools_bash, phi__bash_start);
    phi__shell_program shell;
    phi__shell_find(&shell);
    set->powershell = shell.powershell;
    if (shell.powershell) {
        tool->description = "Run a command with PowerShell on Windows (there is no bash) and get "
                            "its exit code, stdout and stderr. Background processes end with the "
                            "command.";
        tool->schema = phi__tools_powershell;
    }
    tool->timeout_ms = phi__tools_behind(set->desc.bash_timeout_ms);
    tool->max_result_bytes = set->desc.max_bash_result_bytes;
#endif
#ifndef PHI_NO_FILES
    tool = &set->tools[set->count++];
    phi__job_tool(tool, set, "read_file", "Read File",
                  "Read a text file, with line numbers, or look at an image or a PDF. offset "
                  "and limit choose lines of a large file.",
                  phi__tools_read, phi__rf_start);
    tool->step = phi__job_step;
    tool = &set->tools[set->count++];
    phi__job_tool(tool, set, "write_file", "Write File",
                  "Write a whole file, replacing what was there. Makes its directories.",
                  phi__tools_write, phi__write_start);
    tool->step = phi__job_step;
    tool->not_concurrent = true;
    tool = &set->tools[set->count++];
    phi__job_tool(tool, set, "edit_file", "Edit File",
                  "Replace one piece of text in a file. old_text must be in the file "
                  "exactly once, whitespace included.",
                  phi__tools_edit, phi__edit_start);
    tool->step = phi__job_step;
    tool->not_concurrent = true;
    tool = &set->tools[set->count++];
    phi__job_tool(tool, set, "list_files", "List Files",
                  "List the files in a directory and below, sorted, without .git, "
                  "node_modules, target and what .gitignore leaves out.",
                  phi__tools_list, phi__ls_start);
    tool->step = phi__job_step;
    tool->timeout_ms = phi__tools_behind(set->desc.list_timeout_ms);
    tool = &set->tools[set->count++];
    phi__job_tool(tool, set, "search", "Search Files",
                  "Search files for a regular expression. Gives file:line:text of each "
                  "matching line.",
                  phi__tools_search, phi__search_start);
    tool->timeout_ms = phi__tools_behind(set->desc.search_timeout_ms);
#endif
    (void)tool;
    return phi__tools_missing(&set->desc) ? PHI_NOT_FOUND : PHI_OK;
}

/* ---- copies of texts in a description ---- */

PHI__FN bool phi__keep_list(phi_arena *arena, const char *const **list) {
    size_t count = 0;
    if (*list == NULL) return true;
    while ((*list)[count] != NULL) count++;
    const char **copy = (const char **)phi__arena_zero(arena, phi__mul(count + 1, sizeof *copy));
    if (copy == NULL) return false;
    for (size_t i = 0; i < count; i++) {
        copy[i] = (*list)[i];
        if (!phi__keep_text(arena, &copy[i])) return false;
    }
    *list = copy;
    return true;
}

/* ---- tools by name ---- */

enum { PHI__REGISTRY_APART = PHI_CONTEXT_TOOLS };

struct phi__registry {
    phi_memory memory;
    phi_tool *tools;
    size_t count, cap;
    phi_toolset defaults;
    phi_tool apart[PHI__REGISTRY_APART]; /* tools found by name only */
    size_t apart_count;
};

static size_t phi__reg_find(const phi__registry *registry, const char *name) {
    for (size_t i = 0; i < registry->count; i++)
        if (strcmp(registry->tools[i].name, name) == 0) return i;
    return SIZE_MAX;
}

PHI__FN const phi_tool *phi__reg_named(const phi__registry *registry, const char *name) {
    if (registry == NULL || name == NULL) return NULL;
    size_t at = phi__reg_find(registry, name);
    if (at != SIZE_MAX) return &registry->tools[at];
    for (size_t i = 0; i < registry->apart_count; i++)
        if (strcmp(registry->apart[i].name, name) == 0) return &registry->apart[i];
    return NULL;
}

static bool phi__reg_has(const phi_tool *tools, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(tools[i].name, name) == 0) return true;
    return false;
}

PHI__FN phi__registry *phi__reg_new(const phi_allocator *allocator) {
    phi_memory memory;
    phi__registry *registry;
    phi_memory_init(&memory, allocator, 0);
    registry = (phi__registry *)phi__alloc(&memory, sizeof *registry);
    if (registry != NULL) registry->memory = memory;
    return registry;
}

PHI__FN phi__registry *phi__reg_with_defaults(const phi_allocator *allocator,
                                              const phi_tools_desc *desc) {
    phi__registry *registry = phi__reg_new(allocator);
    if (registry == NULL) return NULL;
    (void)phi_tools_init(&registry->defaults, desc);
    (void)phi_tools_context(registry->apart);
    registry->apart_count = PHI__REGISTRY_APART;
    for (size_t i = 0; i < registry->defaults.count; i++) {
        if (phi__reg_add(registry, &registry->defaults.tools[i]) == PHI_OK) continue;
        phi__reg_free(registry);
        return NULL;
    }
    return registry;
}

PHI__FN void phi__reg_free(phi__registry *registry) {
    if (registry == NULL) return;
    phi__free(&registry->memory, registry->tools, registry->cap * sizeof *registry->tools);
    phi_memory memory = registry->memory; /* free through a copy, which lies outside of the block */
    phi__free(&memory, registry, sizeof *registry);
}

PHI__FN phi_status phi__reg_add(phi__registry *registry, const phi_tool *tool) {
    phi_tool *tools;
    if (registry == NULL || tool == NULL || tool->name == NULL || tool->name[0] == '\0' ||
        tool->start == NULL)
        return PHI_BAD_ARG;
    size_t at = phi__reg_find(registry, tool->name);
    if (at == SIZE_MAX) {
        tools = (phi_tool *)phi__grow(&registry->memory, registry->tools, &registry->cap,
                                      registry->count + 1, sizeof *tools);
        if (tools == NULL) return PHI_NO_MEMORY;
        registry->tools = tools;
        at = registry->count++;
    }
    registry->tools[at] = *tool;
    return PHI_OK;
}

PHI__FN size_t phi__reg_count(const phi__registry *registry) {
    return registry != NULL ? registry->count : 0;
}

PHI__FN const phi_tool *phi__reg_at(const phi__registry *registry, size_t index) {
    return registry != NULL && index < registry->count ? &registry->tools[index] : NULL;
}

PHI__FN size_t phi__reg_resolve(const phi__registry *registry, const char *const *names,
                                size_t count, phi_tool *out, const char **unknown,
                                size_t *unknown_count) {
    size_t found = 0, missing = 0;
    for (size_t i = 0; i < count; i++) {
        const phi_tool *tool = phi__reg_named(registry, names[i]);
        if (tool == NULL) {
            if (unknown != NULL) unknown[missing] = names[i];
            missing++;
            continue;
        }
        if (!phi__reg_has(out, found, names[i])) out[found++] = *tool;
        if (strcmp(names[i], "prun") != 0 || phi__reg_has(out, found, "prun_with_memo")) continue;
        tool = phi__reg_named(registry, "prun_with_memo");
        if (tool != NULL) out[found++] = *tool;
    }
    if (unknown_count != NULL) *unknown_count = missing;
    return found;
}
