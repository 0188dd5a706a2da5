/* section_tools.c - built-in tools by their names, and their settings. */
#include "sections/section_in.h"

#include "tools/tools_in.h"

typedef struct phi__cfg_tool_settings {
    uint64_t set;
    phi__cfg_texts allowed_paths, deny_patterns;
    phi_tools_desc desc; /* its plain fields */
} phi__cfg_tool_settings;

/* Each agent has its own, for its own workspace. */
typedef struct phi__sec_tools_set {
    struct phi__sec_tools_set *next;
    phi__registry *registry;
} phi__sec_tools_set;

typedef struct phi__sec_tools_state {
    phi__cfg_tool_settings taken;
    const char *const *allowed_paths;
    phi__sec_tools_set *sets;
} phi__sec_tools_state;

static const char phi__sec_tools_search[] = "automatic rg|ripgrep grep own";

static const phi__cfg_field phi__tool_settings_rows[] = {
    PHI__C_PLAIN(tool_settings, allowed_paths, TEXTS, PHI__CFG_PATH, "[]",
                 "Files and directories that tools may use besides the workspace."),
    PHI__C_LIST(
        tool_settings, deny_patterns, "null",
        "Commands with one of these texts are refused (default: a few that destroy); no boundary."),
    PHI__C_FLAG_IN(tool_settings, desc, unconfined,
                   "Tools may use files outside of the workspace, too."),
    PHI__C_SECS(tool_settings, desc.bash_timeout_ms, "bash_timeout_secs", PHI__NO_LIMIT, "120",
                "Seconds that a command may run."),
    PHI__C_SECS(tool_settings, desc.list_timeout_ms, "list_timeout_secs", PHI__NO_LIMIT, "10",
                "Seconds of list_files."),
    PHI__C_SECS(tool_settings, desc.search_timeout_ms, "search_timeout_secs", PHI__NO_LIMIT, "30",
                "Seconds of search."),
    PHI__C_U32_IN(tool_settings, desc, max_output_bytes, "262144",
                  "Bytes that are kept of each stream of a command: its head and its tail."),
    PHI__C_INT_IN(tool_settings, desc, max_bash_result_bytes, PHI__NO_LIMIT, 64, 4294967295,
                  "32768", "Bytes of the result of a command that the model sees."),
    PHI__C_U32_IN(tool_settings, desc, max_read_bytes, "1048576",
                  "Bytes of a file that read_file shows."),
    PHI__C_U32_IN(tool_settings, desc, max_files, "200", "Files that list_files names."),
    PHI__C_U32_IN(tool_settings, desc, max_matches, "50", "Matches that search shows."),
    PHI__C_CHOICE_IN(
        tool_settings, desc, search_with, phi__sec_tools_search, "\"automatic\"",
        "The program that search runs; automatic: phi's own engine where files are confined.")};

PHI__TABLE(tool_settings, "tool_settings", "Settings of the built-in tools.")

/* The registry's name for one that the original's files use. */
static const char *phi__sec_tools_alias(phi_str name) {
    static const char *const names[][2] = {{"file_read", "read_file"}, {"file_write", "write_file"},
                                           {"file_edit", "edit_file"}, {"file_list", "list_files"},
                                           {"file_search", "search"},  {"prune", "prun"}};
    for (size_t i = 0; i < PHI__COUNT(names); i++)
        if (phi__str_is(name, names[i][0])) return names[i][1];
    return name.at;
}

static phi__registry *phi__sec_tools_registry(phi__sec_tools_state *s,
                                              const phi__cfg_making *making) {
    phi__sec_tools_set *set =
        (phi__sec_tools_set *)phi_arena_alloc(making->ground->arena, sizeof(phi__sec_tools_set));
    phi_tools_desc desc = s->taken.desc;
    if (set == NULL) return NULL;
    desc.workspace = making->workspace;
    desc.allowed_paths = s->allowed_paths;
    desc.deny_patterns = s->taken.deny_patterns.at;
    set->registry = phi__reg_with_defaults(&making->ground->memory->allocator, &desc);
    if (set->registry == NULL) return NULL;
    set->next = s->sets;
    s->sets = set;
    return set->registry;
}

PHI__FN phi_status phi__sec_tools_begin(phi__cfg_ground *ground, const phi_json *node,
                                        void **state) {
    phi__sec_tools_state *s = (phi__sec_tools_state *)phi__arena_zero(ground->arena, sizeof *s);
    if (s == NULL || !phi__cfg_take(ground->arena, node, phi__table_tool_settings(), &s->taken))
        return PHI_NO_MEMORY;
    s->allowed_paths = phi__sec_places(ground, &s->taken.allowed_paths);
    if (s->allowed_paths == NULL && s->taken.allowed_paths.count > 0) return PHI_NO_MEMORY;
    *state = s;
    return PHI_OK;
}

PHI__FN phi_status phi__sec_tools_use(void *state, phi__cfg_making *making) {
    phi_json_iter it = phi_json_each(making->names);
    const phi_json *item;
    phi_status status = PHI_OK;
    if (phi_json_count(making->names) == 0) return PHI_OK;
    phi__registry *registry = phi__sec_tools_registry((phi__sec_tools_state *)state, making);
    if (registry == NULL) return PHI_NO_MEMORY;
    for (size_t i = 0; status == PHI_OK && (item = phi_json_next(&it)) != NULL; i++) {
        phi_tool found[2];
        const char *name = phi__sec_tools_alias(phi_json_str(item, ""));
        if (making->known[i]) continue; /* the host's own */
        size_t n = phi__reg_resolve(registry, &name, 1, found, NULL, NULL);
        making->known[i] = n > 0;
        for (size_t j = 0; status == PHI_OK && j < n; j++)
            status = phi__making_tool(making, &found[j]);
    }
    for (size_t i = 0; i < phi__reg_count(registry); i++)
        (void)phi__making_offer(making, phi__reg_at(registry, i)->name);
    return status;
}

PHI__FN void phi__sec_tools_end(void *state) {
    phi__sec_tools_state *s = (phi__sec_tools_state *)state;
    for (phi__sec_tools_set *set = s != NULL ? s->sets : NULL; set != NULL; set = set->next)
        phi__reg_free(set->registry);
}
