/* sections.c - the sections for built-in tools, skills, permissions and scripts, and the list of
   all sections. An agent gets its parts in the order of the list. Scripts come last, because they
   are called before the hooks set earlier. */
#include "sections/section_in.h"
#include "tools/tools_in.h"
#include "agent/profile.h"
#include "base/base_in.h"
#include "config/config_in.h"
#include "permissions/permissions.h"
#include "sections/sections.h"
#include "system/system_in.h"
#include "tools/scripts.h"
#include "agent/agent.h"
#include "log/thread.h"
#include "loop/hook.h"
#include "loop/run.h"
#include "model/event.h"

/* ---- built-in tools and their settings ---- */

typedef struct phi__cfg_tool_settings {
    uint64_t set;
    phi__cfg_texts allowed_paths, deny_patterns;
    phi_tools_desc desc; /* fields that the table sets directly */
} phi__cfg_tool_settings;

/* The tools of one agent, for its workspace. */
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

static const phi__cfg_table *phi__table_tool_settings(void);

static const phi__cfg_field phi__tool_settings_rows[] = {
    PHI__C_PLAIN(tool_settings, allowed_paths, TEXTS, PHI__CFG_PATH, "[]",
                 "Files and directories outside the workspace that tools may use, too."),
    PHI__C_LIST(
        tool_settings, deny_patterns, "null",
        "Texts of refused commands (default: a few destructive commands). This is no boundary."),
    PHI__C_FLAG_IN(tool_settings, desc, unconfined, "Lets tools use files outside the workspace."),
    PHI__C_SECS(tool_settings, desc.bash_timeout_ms, "bash_timeout_secs", PHI__NO_LIMIT, "120",
                "Maximum number of seconds that a command may run."),
    PHI__C_SECS(tool_settings, desc.list_timeout_ms, "list_timeout_secs", PHI__NO_LIMIT, "10",
                "Maximum number of seconds per call of list_files."),
    PHI__C_SECS(tool_settings, desc.search_timeout_ms, "search_timeout_secs", PHI__NO_LIMIT, "30",
                "Maximum number of seconds per call of search."),
    PHI__C_U32_IN(
        tool_settings, desc, max_output_bytes, "262144",
        "Maximum bytes that are kept of each stream of a command: the head and the tail."),
    PHI__C_INT_IN(tool_settings, desc, max_bash_result_bytes, PHI__NO_LIMIT, 64, 4294967295,
                  "32768", "Maximum bytes of a command's result that the model sees."),
    PHI__C_U32_IN(tool_settings, desc, max_read_bytes, "1048576",
                  "Maximum bytes of a file that read_file shows."),
    PHI__C_U32_IN(tool_settings, desc, max_files, "200",
                  "Maximum number of files that list_files names."),
    PHI__C_U32_IN(tool_settings, desc, max_matches, "50",
                  "Maximum number of matches that search shows."),
    PHI__C_CHOICE_IN(
        tool_settings, desc, search_with, phi__sec_tools_search, "\"automatic\"",
        "automatic: ripgrep; phi's own engine if files are confined or ripgrep is not installed.")};

PHI__TABLE(tool_settings, "tool_settings", "Settings of the built-in tools.")

/* Returns the registry's name for a name that older files use. */
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

static phi_status phi__sec_tools_begin(phi__cfg_ground *ground, const phi_json *node,
                                       void **state) {
    phi__sec_tools_state *s = (phi__sec_tools_state *)phi__arena_zero(ground->arena, sizeof *s);
    if (s == NULL || !phi__cfg_take(ground->arena, node, phi__table_tool_settings(), &s->taken))
        return PHI_NO_MEMORY;
    s->allowed_paths = phi__sec_places(ground, &s->taken.allowed_paths);
    if (s->allowed_paths == NULL && s->taken.allowed_paths.count > 0) return PHI_NO_MEMORY;
    *state = s;
    return PHI_OK;
}

static phi_status phi__sec_tools_use(void *state, phi__cfg_making *making) {
    phi_json_iter it = phi_json_each(making->names);
    const phi_json *item;
    phi_status status = PHI_OK;
    if (phi_json_count(making->names) == 0) return PHI_OK;
    phi__registry *registry = phi__sec_tools_registry((phi__sec_tools_state *)state, making);
    if (registry == NULL) return PHI_NO_MEMORY;
    for (size_t i = 0; status == PHI_OK && (item = phi_json_next(&it)) != NULL; i++) {
        phi_tool found[2];
        const char *name = phi__sec_tools_alias(phi_json_str(item, ""));
        if (making->known[i]) continue; /* a tool of the host */
        size_t n = phi__reg_resolve(registry, &name, 1, found, NULL, NULL);
        making->known[i] = n > 0;
        for (size_t j = 0; status == PHI_OK && j < n; j++)
            status = phi__making_tool(making, &found[j]);
    }
    for (size_t i = 0; i < phi__reg_count(registry); i++)
        (void)phi__making_offer(making, phi__reg_at(registry, i)->name);
    return status;
}

static void phi__sec_tools_end(void *state) {
    phi__sec_tools_state *s = (phi__sec_tools_state *)state;
    for (phi__sec_tools_set *set = s != NULL ? s->sets : NULL; set != NULL; set = set->next)
        phi__reg_free(set->registry);
}

#ifndef PHI_NO_FILES

/* ---- skills: their index in the prompt, and the tool read_skill ---- */

typedef struct phi__cfg_skills {
    uint64_t set;
    phi__cfg_texts directories;
    uint32_t max_skills, max_file_bytes, max_read_bytes;
    bool no_index;
} phi__cfg_skills;

/* The skills of an agent whose profile names some. */
typedef struct phi__sec_skills_part {
    struct phi__sec_skills_part *next;
    phi_skills *skills;
} phi__sec_skills_part;

typedef struct phi__sec_skill_state {
    phi__cfg_skills taken;
    const phi_json *node;
    phi_skills_desc desc;
    phi_skills *all; /* NULL if the file has no [skills] */
    phi__sec_skills_part *parts;
} phi__sec_skill_state;

static const phi__cfg_table *phi__table_skills(void);

static const phi__cfg_field phi__skills_rows[] = {
    PHI__C_PLAIN(
        skills, directories, TEXTS, PHI__CFG_PATH | PHI__REQUIRED, "[]",
        "Directories of skills (NAME/SKILL.md). A later one replaces skills of the same name."),
    PHI__C_U32(skills, max_skills, "1000", "Maximum number of skills."),
    PHI__C_U32(skills, max_file_bytes, "1048576",
               "Maximum bytes of a SKILL.md file; phi leaves out longer files."),
    PHI__C_U32(skills, max_read_bytes, "262144", "Maximum bytes of one answer of read_skill."),
    PHI__C_FLAG(skills, no_index, "Leaves the list of skills out of the system prompt.")};

PHI__TABLE(skills, "skills", "The directories of skills, and limits.")

static bool phi__sec_skill_is_listed(const phi_json *node, phi_str file) {
    phi_json_iter it = phi_json_each(phi_json_get(node, "directories"));
    const phi_json *item;
    while ((item = phi_json_next(&it)) != NULL)
        if (phi_str_equal(phi_json_str(item, ""), file)) return true;
    return false;
}

static phi_status phi__sec_skill_load(phi__cfg_ground *ground, phi__sec_skill_state *s) {
    const phi_json *list = phi_json_get(s->node, "directories");
    phi_status status = PHI_OK;
    s->all = phi_skills_new(&s->desc);
    if (s->all == NULL) return PHI_NO_MEMORY;
    for (size_t i = 0; status == PHI_OK && i < s->taken.directories.count; i++) {
        const char *dir =
            phi__cfg_join(ground->arena, ground->directory, s->taken.directories.at[i]);
        if (dir == NULL) return PHI_NO_MEMORY;
        status = phi_skills_load(s->all, dir, s->taken.directories.at[i], SIZE_MAX);
        if (status != PHI_NOT_FOUND && status != PHI_IO) continue;
        phi__cfg_error(
            ground, phi_json_at(list, i), status, "skills.directories",
            "skills.directories: \"%s\" is no directory that can be read; make it, correct the "
            "path, which is relative to the directory of this file, or remove it",
            dir);
        status = PHI_OK;
    }
    if (status == PHI_TOO_BIG)
        phi__cfg_error(ground, s->node, status, "skills.max_skills",
                       "skills: there are more than max_skills");
    return status == PHI_NO_MEMORY ? status : PHI_OK;
}

/* Returns the name of the skill most like `name`, or NULL. */
static const char *phi__sec_skill_near(phi_arena *arena, const phi_skills *skills, phi_str name) {
    size_t n = 0;
    const char **names;
    while (phi_skills_at(skills, n) != NULL) n++;
    names = (const char **)phi_arena_alloc(arena, (n + 1) * sizeof *names);
    if (names == NULL) return NULL;
    for (size_t i = 0; i < n; i++) names[i] = phi_skills_at(skills, i)->name.at;
    return phi__cfg_nearest(name, names, n);
}

/* Makes a list of the skills that an agent names. */
static phi_status phi__sec_skill_pick(phi__sec_skill_state *s, phi__cfg_making *making,
                                      phi_skills **out) {
    phi__cfg_ground *ground = making->ground;
    phi__sec_skills_part *part =
        (phi__sec_skills_part *)phi_arena_alloc(ground->arena, sizeof(phi__sec_skills_part));
    phi_status status = PHI_OK;
    *out = part != NULL ? phi_skills_new(&s->desc) : NULL;
    if (*out == NULL) return PHI_NO_MEMORY;
    part->skills = *out;
    part->next = s->parts;
    s->parts = part;
    for (size_t i = 0; status == PHI_OK && i < making->profile.skill_count; i++) {
        phi_str name = phi_str_of(making->profile.skills[i]);
        const phi_skill *skill = phi__skills_find(s->all, name);
        if (skill != NULL) {
            status = phi__skills_one(*out, skill->base_dir.at, skill->source.at);
            continue;
        }
        const char *nearest = phi__sec_skill_near(ground->arena, s->all, name);
        phi__cfg_error(ground, s->node, PHI_NOT_FOUND, "agent.profile.skills",
                       "agent \"%s\": skills: there is no skill \"%s\" in skills.directories%s%s%s",
                       making->name, name.at, nearest != NULL ? "; did you mean \"" : "",
                       nearest != NULL ? nearest : "", nearest != NULL ? "\"?" : "");
    }
    return status == PHI_NO_MEMORY ? status : PHI_OK;
}

static phi_status phi__sec_skill_give(phi__sec_skill_state *s, phi__cfg_making *making,
                                      phi_skills *skills) {
    phi_tool tool;
    phi_str prompt;
    phi_status status;
    if (phi_skills_at(skills, 0) == NULL) return PHI_OK;
    if (!s->taken.no_index) {
        status = phi_skills_prompt(skills, PHI_SKILLS_READ_SKILL, making->desc->system_prompt,
                                   making->ground->arena, &prompt);
        if (status != PHI_OK) return status;
        making->desc->system_prompt = prompt.at;
    }
    status = phi_skills_tool(skills, &tool);
    (void)phi__making_offer(making, "read_skill");
    return status == PHI_OK ? phi__making_tool(making, &tool) : status;
}

static void phi__sec_skill_end(void *state) {
    phi__sec_skill_state *s = (phi__sec_skill_state *)state;
    if (s == NULL) return;
    for (phi__sec_skills_part *part = s->parts; part != NULL; part = part->next)
        phi_skills_free(part->skills);
    phi_skills_free(s->all);
    s->parts = NULL;
    s->all = NULL;
}

static phi_status phi__sec_skill_begin(phi__cfg_ground *ground, const phi_json *node,
                                       void **state) {
    phi__sec_skill_state *s = (phi__sec_skill_state *)phi__arena_zero(ground->arena, sizeof *s);
    *state = s;
    if (s == NULL || !phi__cfg_take(ground->arena, node, phi__table_skills(), &s->taken))
        return PHI_NO_MEMORY;
    s->node = node;
    s->desc.allocator = ground->memory->allocator;
    s->desc.max_skills = s->taken.max_skills;
    s->desc.max_file_bytes = s->taken.max_file_bytes;
    s->desc.max_read_bytes = s->taken.max_read_bytes;
    if (node == NULL) return PHI_OK;
    phi_status status = phi__sec_skill_load(ground, s);
    if (status == PHI_OK) {
        /* A problem of one skill is a warning, because the others can be used. */
        const phi_skills *skills = s->all;
        const phi_skill_problem *p;
        for (size_t i = 0; (p = phi_skills_problem_at(skills, i)) != NULL; i++) {
            if (p->line == 0 && phi__sec_skill_is_listed(node, p->file))
                continue; /* already reported */
            phi__cfg_warn(ground, node, "skills", "%s%s:%u: %s",
                          p->loaded ? "" : "this skill is left out: ", p->file.at,
                          (unsigned)p->line, p->message.at);
        }
    }
    if (status == PHI_NO_MEMORY) phi__sec_skill_end(s);
    return status;
}

static phi_status phi__sec_skill_use(void *state, phi__cfg_making *making) {
    phi__sec_skill_state *s = (phi__sec_skill_state *)state;
    phi_skills *skills = s->all;
    phi_status status = PHI_OK;
    /* Skills named in the host's own profile come from the file's [skills], if there is one. */
    const phi_agent_desc *base = making->ground->desc.base;
    bool hosts =
        base != NULL && base->profile != NULL && making->profile.skills == base->profile->skills;
    if (making->profile.skill_count > 0 && s->all == NULL && !hosts) {
        phi__cfg_error(making->ground, making->node, PHI_NOT_FOUND, "agent.profile.skills",
                       "agent \"%s\" names skills, but nothing says where they are: write [skills] "
                       "directories = [\"skills\"]",
                       making->name);
        return PHI_OK;
    }
    if (s->all == NULL || (making->is_child && making->profile.skill_count == 0)) return PHI_OK;
    if (making->profile.skill_count > 0) status = phi__sec_skill_pick(s, making, &skills);
    return status == PHI_OK ? phi__sec_skill_give(s, making, skills) : status;
}

#endif

/* ---- files that a configuration runs or reads ---- */

enum {
    PHI__PROTECTED_DEPTH = 16, /* max. levels that are searched; configurations have fewer */
    PHI__PROTECTED_MOST = 500  /* max. paths */
};

typedef struct phi__protected {
    phi_arena *arena;
    phi_str directory; /* directory of the file, with a slash at its end; may be empty */
    const char **list;
    size_t count;
    bool full;
} phi__protected;

static bool phi__protected_keep(phi__protected *p, phi_str path) {
    phi_str copy;
    for (size_t i = 0; i < p->count; i++)
        if (phi__str_is(path, p->list[i])) return true;
    p->full = p->count == PHI__PROTECTED_MOST;
    if (p->full || !phi__arena_str(p->arena, path, &copy)) return false;
    p->list[p->count++] = copy.at;
    return true;
}

/* Keeps a path, and the absolute path without links that it resolves to. */
static bool phi__protected_resolved(phi__protected *p, phi_str path) {
    const char *absolute;
    phi_str copy;
    if (!phi__arena_str(p->arena, path, &copy) ||
        phi__cfg_resolve(p->arena, copy.at, &absolute, NULL, 0) == PHI_NO_MEMORY)
        return false;
    return (absolute == NULL || phi__protected_keep(p, phi_str_of(absolute))) &&
           phi__protected_keep(p, path);
}

/* Keeps a word that may be a file in the workspace or in the file's directory. */
static bool phi__protected_word(phi__protected *p, phi_str word) {
    phi__buf joined;
    if (word.len == 0 || word.at[0] == '-' || phi__str_find(word, 0, "://") != SIZE_MAX)
        return true;
    if (phi__path_name(word).len == word.len && memchr(word.at, '.', word.len) == NULL)
        return true; /* a program in PATH, or not a file */
    if (phi__path_absolute(word)) return phi__protected_resolved(p, word);
    if (!phi__protected_keep(p, word)) return false;
    if (word.at[0] == '~') return true;
    phi__buf_init(&joined, p->arena->memory);
    phi__buf_add_str(&joined, p->directory);
    phi__buf_add_str(&joined, word);
    bool good = !joined.failed && phi__protected_resolved(p, phi__buf_str(&joined));
    phi__buf_free(&joined);
    return good;
}

/* Keeps the words of the texts whose keys, such as "command", say that they are commands. If `all`,
   keeps the words of every text. */
static bool phi__protected_tree(phi__protected *p, const phi_json *node, bool all, unsigned depth) {
    static const char *const keys[] = {"command", "args", "callbacks", "hooks"};
    phi_json_iter it = phi_json_each(node);
    const phi_json *member;
    if (all && phi_json_is(node, PHI_JSON_STRING)) {
        phi_str text = phi_json_str(node, "");
        size_t i = 0;
        while (i < text.len) {
            size_t from = i;
            while (i < text.len && text.at[i] != '\0' &&
                   strchr(" \t\n'\"`;|&()<>=,", text.at[i]) == NULL)
                i++;
            if (!phi__protected_word(p, phi__str(text.at + from, i - from))) return false;
            i++;
        }
        return true;
    }
    if (depth == PHI__PROTECTED_DEPTH ||
        (!phi_json_is(node, PHI_JSON_OBJECT) && !phi_json_is(node, PHI_JSON_ARRAY)))
        return true;
    while ((member = phi_json_next(&it)) != NULL) {
        bool named = all;
        /* [permissions] has patterns, not commands */
        if (depth == 0 && phi__str_is(it.key, "permissions")) continue;
        for (size_t i = 0; i < PHI__COUNT(keys); i++) named = named || phi__str_is(it.key, keys[i]);
        if (!phi__protected_tree(p, member, named, depth + 1)) return false;
    }
    return true;
}

PHI_API phi_status phi_config_protected_paths(const phi_config *config, phi_arena *arena,
                                              const char *const **out) {
    if (config == NULL || arena == NULL || out == NULL) return PHI_BAD_ARG;
    *out = NULL;
    phi__protected p = PHI_ZERO;
    p.arena = arena;
    p.list = (const char **)phi__arena_zero(arena, (PHI__PROTECTED_MOST + 1) * sizeof *p.list);
    if (p.list == NULL) return PHI_NO_MEMORY;
    phi_str path = phi_str_of(phi__load_path(config));
    p.directory = phi__str(path.at, path.len - phi__path_name(path).len);
    if ((path.len > 0 && !phi__protected_resolved(&p, path)) ||
        !phi__protected_tree(&p, phi_config_tree(config), false, 0))
        return p.full ? PHI_TOO_BIG : PHI_NO_MEMORY;
    *out = p.list;
    return PHI_OK;
}

/* ---- rules of permissions, checked before the host's hook ---- */

typedef struct phi__cfg_permissions {
    uint64_t set;
    int mode, otherwise;
    const phi_json *rules;
    const char *home, *shell_tools;
} phi__cfg_permissions;

/* The rules of one agent, and two hooks of the host that are called after the rules. */
typedef struct phi__sec_perm_one {
    struct phi__sec_perm_one *next;
    phi_permissions *permissions;
    phi_hook_fn ask_fn, hook_fn;
    void *ask_user_data, *hook_user_data;
    uint32_t hook_points;
} phi__sec_perm_one;

typedef struct phi__sec_perm_state {
    phi__cfg_permissions taken;
    const phi_json *node;
    phi_permission_rules rules;
    phi__sec_perm_one *all;
} phi__sec_perm_state;

static const char phi__sec_perm_modes[] = "default plan accept_edits all";

static const char phi__sec_perm_verdicts[] = "ask allow deny";

/* A rule of the file. phi_permissions_from_json reads rules, too. */
typedef struct phi__cfg_rule {
    uint64_t set;
    phi_permission_rule rule;
} phi__cfg_rule;

static const phi__cfg_table *phi__table_permission_rule(void);

static const phi__cfg_field phi__permission_rule_rows[] = {
    PHI__C_NAMES(rule, rule.verdict, "verdict", CHOICE, PHI__REQUIRED, phi__sec_perm_verdicts,
                 "null", "The verdict on calls that the rule matches."),
    PHI__C_TEXT_IN(rule, rule, tool, "A pattern of tool names: \"bash\", \"mcp_*\"."),
    PHI__C_TEXT_IN(rule, rule, command, "A pattern for each word of a command: \"git log *\"."),
    PHI__C_TEXT_IN(rule, rule, with,
                   "Words that the command must have. One of several alternatives is enough."),
    PHI__C_TEXT_IN(rule, rule, without, "Words that the command must not have."),
    PHI__C_TEXT_IN(rule, rule, piped,
                   "Names of programs. The output of one of them must go to the command."),
    PHI__C_TEXT_IN(rule, rule, path, "A pattern of paths, such as \"./src/\" followed by \"**\"."),
    PHI__C_TEXT_IN(rule, rule, host, "A pattern of the URL's host."),
    PHI__C_TEXT_IN(rule, rule, argument,
                   "The name of an argument of the call; `matches` checks its text."),
    PHI__C_TEXT_IN(rule, rule, matches,
                   "A pattern of the text of `argument` (default: of all arguments as JSON)."),
    PHI__C_TEXT_IN(rule, rule, reason,
                   "The reason, shown to the model and to the person who is asked."),
    PHI__C_TEXT_IN(rule, rule, options, "The only options that the command may have."),
    PHI__C_TEXT_IN(rule, rule, source,
                   "A pattern of tool sources: MCP servers or \"openapi\"; \"\" matches the "
                   "program's own tools.")};

PHI__TABLE(permission_rule, "permissions.rules",
           "A rule. It matches a call if all of its fields match.")

static const phi__cfg_table *phi__table_permissions(void);

static const phi__cfg_field phi__permissions_rows[] = {
    PHI__C_CHOICE(
        permissions, mode, phi__sec_perm_modes, "\"default\"",
        "Adds built-in rules before the file's (if mode is unset: only if the file has no rules)."),
    PHI__C_CHOICE(
        permissions, otherwise, phi__sec_perm_verdicts, "\"ask\"",
        "The verdict on calls that no rule matches (default: the mode's, or ask without a mode)."),
    PHI__C_TABLES(permissions, rules, permission_rule, "The rules. Their order does not matter."),
    PHI__C_TEXT(permissions, home, PHI__CFG_PATH,
                "The absolute path that ~ stands for, such as \"${HOME}\"."),
    PHI__C_PLAIN(permissions, shell_tools, TEXT, 0, "\"bash\"",
                 "A pattern of the tools that run shell commands.")};

PHI__TABLE(permissions, "permissions",
           "Rules for tool calls. If a rule asks and the program cannot ask, the call is denied.")

/* ---- the host's hooks, called after the rules ---- */

static phi_verdict phi__sec_perm_ask(void *user_data, phi_hook *hook) {
    phi__sec_perm_one *one = (phi__sec_perm_one *)user_data;
    return one->ask_fn(one->ask_user_data, hook);
}

static phi_verdict phi__sec_perm_host(void *user_data, phi_hook *hook) {
    phi__sec_perm_one *one = (phi__sec_perm_one *)user_data;
    if (one->hook_fn == NULL || (one->hook_points & (uint32_t)hook->point) == 0) return PHI_ALLOW;
    return one->hook_fn(one->hook_user_data, hook);
}

/* ---- making rules ---- */

/* Reads the file's rules, and puts them after those of the mode. */
static phi_status phi__sec_perm_read(phi__cfg_ground *ground, phi__sec_perm_state *s) {
    const phi__cfg_permissions *t = &s->taken;
    bool has_mode = phi__fields_has(phi__table_permissions(), t, "mode");
    const phi_permission_rules *base =
        has_mode || t->rules == NULL ? phi_permissions_mode((phi_permission_mode)t->mode) : NULL;
    size_t n = (base != NULL ? base->count : 0) + phi_json_count(t->rules), i = 0;
    phi_permission_rule *rules =
        (phi_permission_rule *)phi__arena_zero(ground->arena, phi__mul(n + 1, sizeof *rules));
    phi_json_iter it = phi_json_each(t->rules);
    const phi_json *node;
    if (rules == NULL) return PHI_NO_MEMORY;
    if (base != NULL) memcpy(rules, base->rules, base->count * sizeof *rules);
    if (base != NULL) i = base->count;
    while ((node = phi_json_next(&it)) != NULL) {
        phi__cfg_rule r = PHI_ZERO;
        if (!phi__cfg_take(ground->arena, node, phi__table_permission_rule(), &r))
            return PHI_NO_MEMORY;
        rules[i++] = r.rule;
    }
    s->rules.rules = rules;
    s->rules.count = n;
    s->rules.otherwise = base != NULL ? base->otherwise : PHI_PERMISSION_ASK;
    if (phi__fields_has(phi__table_permissions(), t, "otherwise"))
        s->rules.otherwise = (phi_permission)t->otherwise;
    return PHI_OK;
}

/* Makes one->permissions. If it stays NULL, a problem was reported. Fails only with
   PHI_NO_MEMORY. */
static phi_status phi__sec_perm_make(phi__sec_perm_state *s, phi__cfg_making *making,
                                     phi__sec_perm_one *one) {
    phi__cfg_ground *ground = making->ground;
    const phi_json *place = making->place != NULL ? making->place : s->node;
    phi_parse_error error;
    phi_permissions_desc desc = PHI_ZERO;
    phi_status status =
        phi__cfg_absolute(ground, place, "workspace", making->workspace, &desc.workspace);
    if (status == PHI_NO_MEMORY) return status;
    if (status == PHI_OK && desc.workspace == NULL) return PHI_OK; /* no agent will be made */
    status = phi_config_protected_paths(ground->config, ground->arena, &desc.protected_paths);
    if (status == PHI_TOO_BIG)
        phi__cfg_error(ground, s->node, status, "permissions",
                       "permissions: the commands of the file name more than 500 files");
    if (status != PHI_OK) return status == PHI_TOO_BIG ? PHI_OK : status;
    desc.allocator = ground->memory->allocator;
    desc.rules = &s->rules;
    desc.home = s->taken.home;
    desc.shell_tools = s->taken.shell_tools;
    if (one->ask_fn != NULL) desc.ask_fn = phi__sec_perm_ask;
    desc.hook_fn = phi__sec_perm_host;
    desc.user_data = one;
    one->permissions = phi_permissions_new(&desc, &error);
    if (one->permissions != NULL) return PHI_OK;
    if (error.status == PHI_NO_MEMORY) return PHI_NO_MEMORY;
    phi__cfg_error(ground, s->node, error.status, "permissions",
                   "permissions: a rule is not valid; a path must be absolute or begin with \"./\" "
                   "or \"~/\", and home must be absolute");
    return PHI_OK;
}

static phi_status phi__sec_perm_begin(phi__cfg_ground *ground, const phi_json *node, void **state) {
    phi__sec_perm_state *s = (phi__sec_perm_state *)phi__arena_zero(ground->arena, sizeof *s);
    *state = s;
    if (s == NULL || !phi__cfg_take(ground->arena, node, phi__table_permissions(), &s->taken))
        return PHI_NO_MEMORY;
    s->node = node;
    return node != NULL ? phi__sec_perm_read(ground, s) : PHI_OK;
}

static phi_status phi__sec_perm_use(void *state, phi__cfg_making *making) {
    phi__sec_perm_state *s = (phi__sec_perm_state *)state;
    phi__sec_perm_one *one;
    phi_agent_desc *desc = making->desc;
    if (s->node == NULL) return PHI_OK;
    one = (phi__sec_perm_one *)phi__arena_zero(making->ground->arena, sizeof *one);
    if (one == NULL) return PHI_NO_MEMORY;
    one->ask_fn = making->ground->desc.ask_fn;
    one->ask_user_data = making->ground->desc.ask_user_data;
    one->hook_fn = desc->hook_fn;
    one->hook_points = desc->hook_points;
    one->hook_user_data = desc->hook_user_data != NULL ? desc->hook_user_data : desc->user_data;
    phi_status status = phi__sec_perm_make(s, making, one);
    if (one->permissions == NULL) return status;
    one->next = s->all;
    s->all = one;
    desc->hook_fn = phi_permissions_hook;
    desc->hook_points |= PHI_HOOK_BEFORE_TOOL;
    desc->hook_user_data = one->permissions;
    return PHI_OK;
}

static void phi__sec_perm_end(void *state) {
    phi__sec_perm_state *s = (phi__sec_perm_state *)state;
    for (phi__sec_perm_one *one = s != NULL ? s->all : NULL; one != NULL; one = one->next)
        phi_permissions_free(one->permissions);
}

#ifndef PHI_NO_PROCESS

/* ---- scripts, which are run at points of a run: [callbacks] and [hooks] ---- */

enum { PHI__SEC_SCRIPTS_MOST = 32, PHI__SEC_SCRIPTS_TASK = 0 };

/* A script that is written as a table. */
typedef struct phi__cfg_script {
    uint64_t set;
    phi_script script;
} phi__cfg_script;

static const char phi__sec_script_failures[] = "allow=1 deny=2";

static const phi__cfg_table *phi__table_script(void);

static const phi__cfg_field phi__script_rows[] = {
    PHI__C_TEXT_IN(script, script, command, "The program and its arguments."),
    PHI__C_TEXT_IN(script, script, tool, "Limits the script to calls of this tool."),
    PHI__C_SECS(script, script.timeout_ms, "timeout_secs", PHI__NO_LIMIT, "30",
                "Maximum number of seconds that the script may run."),
    PHI__C_FLAG_IN(script, script, shell, "Runs the command as a line of sh -c."),
    PHI__C_CHOICE_IN(
        script, script, on_failure, phi__sec_script_failures, "null",
        "The verdict if the script fails (default: deny, or allow if it cannot be started).")};
PHI__TABLE(script, "callbacks.script", "A script at a point of a run.")

/* The code reads the values from the tree. The struct is needed only for the table. */
typedef struct phi__cfg_callbacks {
    uint64_t set;
    const phi_json *any;
} phi__cfg_callbacks;

/* Keys, their points (0: no script is run), and their descriptions. */
#define PHI__SEC_POINTS(X)                                                                         \
    X("before_loop", PHI_HOOK_BEFORE_LOOP,                                                         \
      "Runs before a run; an exit code other than 0 prevents the run.")                            \
    X("after_loop", PHI_HOOK_AFTER_LOOP, "Runs after a run.")                                      \
    X("before_turn", PHI_HOOK_BEFORE_TURN,                                                         \
      "Runs before a turn; an exit code other than 0 ends the run.")                               \
    X("after_turn", PHI_HOOK_AFTER_TURN, "Runs after a turn.")                                     \
    X("before_tool_execution", PHI_HOOK_BEFORE_TOOL,                                               \
      "Runs before a tool call; an exit code other than 0 denies the call.")                       \
    X("after_tool_execution", PHI_HOOK_AFTER_TOOL, "Runs after a tool call.")                      \
    X("before_compaction_start", PHI_HOOK_BEFORE_COMPACTION,                                       \
      "Runs before a compaction; an exit code other than 0 prevents the compaction.")              \
    X("after_compaction_end", PHI_HOOK_AFTER_COMPACTION, "Runs after a compaction.")               \
    X("on_error", PHI_HOOK_ON_ERROR, "Runs after a model call has failed for good.")               \
    X("steering", PHI_HOOK_STEERING, "Replies with a steering message.")                           \
    X("follow_up", PHI_HOOK_FOLLOW_UP, "Replies with a follow-up message.")                        \
    X("filter", PHI_HOOK_FILTER,                                                                   \
      "Runs before a user's message is stored; the script may refuse the message.")                \
    X("credential", PHI_HOOK_CREDENTIAL, "Replies with the key of the next model call.")           \
    X("before_task", PHI__SEC_SCRIPTS_TASK,                                                        \
      "Ignored with a warning: this point belongs to a recorder.")                                 \
    X("after_task", PHI__SEC_SCRIPTS_TASK,                                                         \
      "Ignored with a warning: this point belongs to a recorder.")                                 \
    X("transform_context", PHI_HOOK_TRANSFORM_CONTEXT,                                             \
      "Ignored with a warning: this point is for functions only.")                                 \
    X("convert_to_llm", PHI_HOOK_CONVERT_TO_LLM,                                                   \
      "Ignored with a warning: this point is for functions only.")

#define PHI__SEC_ROW(key, point, text) PHI__C_TABLE_AS(callbacks, any, key, VALUE, 0, script, text),
#define PHI__SEC_POINT(key, point, text) point,
static const phi__cfg_table *phi__table_callbacks(void);

static const phi__cfg_field phi__callbacks_rows[] = {PHI__SEC_POINTS(PHI__SEC_ROW)};
static const uint32_t phi__sec_script_points[] = {PHI__SEC_POINTS(PHI__SEC_POINT)};
#undef PHI__SEC_ROW
#undef PHI__SEC_POINT
#undef PHI__SEC_POINTS
PHI__TABLE(
    callbacks, "callbacks",
    "Scripts at points of a run: each is a command or a table (docs/scripts.md). Same as [hooks].")

typedef struct phi__sec_script_set {
    struct phi__sec_script_set *next;
    phi_scripts *scripts;
} phi__sec_script_set;

typedef struct phi__sec_script_state {
    const phi_json *node;
    phi_script list[PHI__SEC_SCRIPTS_MOST];
    size_t count;
    phi__sec_script_set *sets;
} phi__sec_script_state;

/* True if the value cannot be run. A warning was then added. */
static bool phi__sec_script_skips(phi__cfg_ground *ground, const phi_json *node, const char *key,
                                  uint32_t point, const char *command) {
    if (strstr(command, "::") != NULL && strchr(command, '/') == NULL) {
        phi__cfg_warn(ground, node, key,
                      "%s = \"%s\" names a function of a plug-in, which phi does not load: it is "
                      "ignored; remove it, or write the path of a script",
                      key, command);
        return true;
    }
    if (point == PHI__SEC_SCRIPTS_TASK) {
        phi__cfg_warn(ground, node, key,
                      "%s belongs to a session recorder (phi_recorder_desc.%s_fn): it is ignored "
                      "here; remove it: before_loop and after_loop are run for each run",
                      key, key);
        return true;
    }
    if (point != PHI_HOOK_TRANSFORM_CONTEXT && point != PHI_HOOK_CONVERT_TO_LLM) return false;
    phi__cfg_warn(ground, node, key,
                  "%s changes messages, which a script cannot: it is ignored; remove it here, and "
                  "set phi_agent_desc.hook_fn in the program",
                  key);
    return true;
}

static phi_status phi__sec_script_add(phi__cfg_ground *ground, phi__sec_script_state *s,
                                      phi_str key, const phi_json *node) {
    size_t i;
    const phi__cfg_field *field = phi__fields_find(phi__table_callbacks(), key, &i);
    phi__cfg_script one = PHI_ZERO;
    if (field == NULL || s->count == PHI__SEC_SCRIPTS_MOST) return PHI_OK; /* was reported */
    if (phi_json_is(node, PHI_JSON_STRING))
        one.script.command = phi_json_str(node, "").at;
    else if (!phi__cfg_take(ground->arena, node, phi__table_script(), &one))
        return PHI_NO_MEMORY;
    const char *command = one.script.command;
    one.script.points = phi__sec_script_points[i];
    if (command == NULL || command[0] == '\0')
        phi__cfg_error(
            ground, node, PHI_BAD_ARG, field->key,
            "%s: expected a command, as \"./check.sh\", or a table with command = \"...\"",
            field->key);
    else if (!phi__sec_script_skips(ground, node, field->key, one.script.points, command))
        s->list[s->count++] = one.script;
    return PHI_OK;
}

/* Selects the scripts of an agent. Scripts for keys are for the server of the top agent's model.
   A sub-agent gets only scripts that guard tools and, if it has no key, scripts for
   keys. */
static phi_status phi__sec_script_of(const phi__sec_script_state *s, const phi__cfg_making *making,
                                     phi_scripts_desc *desc) {
    const uint32_t guards = (uint32_t)PHI_HOOK_BEFORE_TOOL | (uint32_t)PHI_HOOK_AFTER_TOOL;
    const char *server = making->top->model.base_url;
    phi_script *list =
        (phi_script *)phi_arena_alloc(making->ground->arena, (s->count + 1) * sizeof *list);
    if (list == NULL) return PHI_NO_MEMORY;
    desc->scripts = list;
    for (size_t i = 0; i < s->count; i++) {
        bool key = s->list[i].points == (uint32_t)PHI_HOOK_CREDENTIAL;
        if (making->is_child && !(key ? !making->has_own_key : (s->list[i].points & guards) != 0))
            continue;
        list[desc->count] = s->list[i];
        if (key) list[desc->count].server = server != NULL ? server : "";
        desc->count++;
    }
    return PHI_OK;
}

static phi_status phi__sec_script_begin(phi__cfg_ground *ground, const phi_json *node,
                                        void **state) {
    phi__sec_script_state *s = (phi__sec_script_state *)phi__arena_zero(ground->arena, sizeof *s);
    const phi_json *nodes[2], *value;
    phi_status status = PHI_OK;
    *state = s;
    if (s == NULL) return PHI_NO_MEMORY;
    nodes[0] = node;
    nodes[1] = phi_json_get(phi_config_tree(ground->config), "hooks");
    s->node = node != NULL ? node : nodes[1];
    for (size_t i = 0; i < 2; i++) {
        phi_json_iter it = phi_json_each(nodes[i]);
        while (status == PHI_OK && (value = phi_json_next(&it)) != NULL)
            status = phi__sec_script_add(ground, s, it.key, value);
    }
    return status;
}

static phi_status phi__sec_script_use(void *state, phi__cfg_making *making) {
    phi__sec_script_state *s = (phi__sec_script_state *)state;
    phi__cfg_ground *ground = making->ground;
    phi__sec_script_set *set;
    phi_scripts_desc desc = PHI_ZERO;
    phi_parse_error error;
    if (phi__sec_script_of(s, making, &desc) != PHI_OK) return PHI_NO_MEMORY;
    if (desc.count == 0) return PHI_OK;
    set = (phi__sec_script_set *)phi_arena_alloc(ground->arena, sizeof *set);
    if (set == NULL) return PHI_NO_MEMORY;
    desc.workspace = making->top->workspace; /* "./check" is inside the top agent's workspace */
    desc.allocator = ground->memory->allocator;
    set->scripts = phi_scripts_new(&desc, &error);
    if (set->scripts == NULL && error.status == PHI_NO_MEMORY) return PHI_NO_MEMORY;
    if (set->scripts == NULL) {
        phi__cfg_error(ground, s->node, PHI_BAD_ARG, "callbacks", "callbacks: %s", error.message);
        return PHI_OK;
    }
    set->next = s->sets;
    s->sets = set;
    return phi_scripts_use(set->scripts, making->desc);
}

static void phi__sec_script_end(void *state) {
    phi__sec_script_state *s = (phi__sec_script_state *)state;
    for (phi__sec_script_set *set = s != NULL ? s->sets : NULL; set != NULL; set = set->next)
        phi_scripts_free(set->scripts);
}

#endif

/* ---- the list of all sections ---- */

/* The top level of a file, as these sections read it. */
typedef struct phi__cfg_sections {
    uint64_t set;
    const phi_json *node;
} phi__cfg_sections;

/* Defines the section [key], whose table is phi__table_{key}. */
#define PHI__SECTION(key, space, begin, use, end, text)                                            \
    static const phi__cfg_field phi__key_##key =                                                   \
        PHI__C_TABLE_AS(sections, node, #key, TABLE, 0, key, text);                                \
    static const phi_config_section phi__in_##key = {#key, &phi__key_##key, space, begin, use, end};
PHI__SECTION(tool_settings, NULL, phi__sec_tools_begin, phi__sec_tools_use, phi__sec_tools_end,
             "Settings of the built-in tools.")
#ifndef PHI_NO_FILES
PHI__SECTION(skills, NULL, phi__sec_skill_begin, phi__sec_skill_use, phi__sec_skill_end,
             "The directories of skills, and limits.")
#endif
PHI__SECTION(mcp, "mcp", phi__sec_mcp_begin, phi__sec_mcp_use, phi__sec_mcp_end, "MCP servers.")
PHI__SECTION(openapi, "openapi", phi__sec_api_begin, phi__sec_api_use, phi__sec_api_end,
             "OpenAPI documents whose operations are tools.")
PHI__SECTION(permissions, NULL, phi__sec_perm_begin, phi__sec_perm_use, phi__sec_perm_end,
             "Rules for tool calls.")
#ifndef PHI_NO_PROCESS
PHI__SECTION(callbacks, NULL, phi__sec_script_begin, phi__sec_script_use, phi__sec_script_end,
             "Scripts at points of a run.")

static const phi__cfg_field phi__key_hooks =
    PHI__C_TABLE_AS(sections, node, "hooks", TABLE, 0, callbacks, "The same as [callbacks].");
static const phi_config_section phi__in_hooks = {"hooks", &phi__key_hooks, NULL, NULL, NULL, NULL};
#endif

/* ---- public ---- */

PHI_API const phi_config_section *const *phi_config_sections(void) {
    static const phi_config_section *const list[] = {&phi__in_tool_settings,
#ifndef PHI_NO_FILES
                                                     &phi__in_skills,
#endif
                                                     &phi__in_mcp,
                                                     &phi__in_openapi,
                                                     &phi__in_permissions,
#ifndef PHI_NO_PROCESS
                                                     &phi__in_callbacks,
                                                     &phi__in_hooks,
#endif
                                                     NULL};
    return list;
}
