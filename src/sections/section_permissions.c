/* section_permissions.c - rules of permissions, in front of the host's hook. */
#include "base/base_in.h"
#include "config/config_in.h"
#include "permissions/permissions.h"
#include "sections/section_in.h"
#include "sections/sections.h"
#include "system/system_in.h"

/* ---- the files that a configuration runs or heeds ---- */

enum {
    PHI__PROTECTED_DEPTH = 16, /* of the tree: tables of a configuration are less deep */
    PHI__PROTECTED_MOST = 500  /* paths */
};

typedef struct phi__protected {
    phi_arena *arena;
    phi_str directory; /* of the file, with a slash behind; empty: it has none */
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

/* Absolute, without links; and as it is. */
static bool phi__protected_resolved(phi__protected *p, phi_str path) {
    const char *absolute;
    phi_str copy;
    if (!phi__arena_str(p->arena, path, &copy) ||
        phi__cfg_resolve(p->arena, copy.at, &absolute, NULL) == PHI_NO_MEMORY)
        return false;
    return (absolute == NULL || phi__protected_keep(p, phi_str_of(absolute))) &&
           phi__protected_keep(p, path);
}

/* A word of a command: relative to the workspace, or to the file's directory. */
static bool phi__protected_word(phi__protected *p, phi_str word) {
    phi__buf joined;
    if (word.len == 0 || word.at[0] == '-' || phi__str_find(word, 0, "://") != SIZE_MAX)
        return true;
    if (memchr(word.at, '/', word.len) == NULL && memchr(word.at, '.', word.len) == NULL)
        return true; /* a program of the PATH, or no file */
    if (word.at[0] == '/') return phi__protected_resolved(p, word);
    if (!phi__protected_keep(p, word)) return false;
    if (word.at[0] == '~') return true;
    phi__buf_init(&joined, p->arena->memory);
    phi__buf_add_str(&joined, p->directory);
    phi__buf_add_str(&joined, word);
    bool good = !joined.failed && phi__protected_resolved(p, phi__buf_str(&joined));
    phi__buf_free(&joined);
    return good;
}

/* Texts under keys that name commands; `all`: each text. */
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
        if (depth == 0 && phi__str_is(it.key, "permissions")) continue; /* patterns, no commands */
        for (size_t i = 0; i < PHI__COUNT(keys); i++) named = named || phi__str_is(it.key, keys[i]);
        if (!phi__protected_tree(p, member, named, depth + 1)) return false;
    }
    return true;
}

/* ---- public ---- */

PHI_API phi_status phi_config_protected_paths(const phi_config *config, phi_arena *arena,
                                              const char *const **out) {
    size_t n;
    if (config == NULL || arena == NULL || out == NULL) return PHI_BAD_ARG;
    *out = NULL;
    phi__protected p = PHI_ZERO;
    p.arena = arena;
    p.list = (const char **)phi__arena_zero(arena, (PHI__PROTECTED_MOST + 1) * sizeof *p.list);
    if (p.list == NULL) return PHI_NO_MEMORY;
    phi_str path = phi_str_of(phi__load_path(config));
    for (n = path.len; n > 0 && path.at[n - 1] != '/';) n--;
    p.directory = phi__str(path.at, n);
    if ((path.len > 0 && !phi__protected_resolved(&p, path)) ||
        !phi__protected_tree(&p, phi_config_tree(config), false, 0))
        return p.full ? PHI_TOO_BIG : PHI_NO_MEMORY;
    *out = p.list;
    return PHI_OK;
}

/* ---- rules of permissions, in front of the host's hook ---- */

enum { PHI__SEC_PERM_NONE = -1 };

typedef struct phi__cfg_permissions {
    uint64_t set;
    int mode, otherwise;
    const phi_json *rules;
    const char *home, *shell_tools;
} phi__cfg_permissions;

/* The rules of one agent, and the two hooks of the host behind them. */
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

/* A rule of the file; phi_permissions_from_json reads it. */
typedef struct phi__cfg_rule {
    uint64_t set;
    phi_permission_rule rule;
} phi__cfg_rule;

static const phi__cfg_table *phi__table_permission_rule(void);

static const phi__cfg_field phi__permission_rule_rows[] = {
    PHI__C_NAMES(rule, rule.verdict, "verdict", CHOICE, PHI__REQUIRED, phi__sec_perm_verdicts,
                 "null", "What happens to a call that the rule matches."),
    PHI__C_TEXT_IN(rule, rule, tool, "A pattern of tool names: \"bash\", \"mcp_*\"."),
    PHI__C_TEXT_IN(rule, rule, command, "A pattern for each word of a command: \"git log *\"."),
    PHI__C_TEXT_IN(rule, rule, with, "Words of the command, one of which must be there."),
    PHI__C_TEXT_IN(rule, rule, without, "Words of the command, none of which may be there."),
    PHI__C_TEXT_IN(rule, rule, piped, "Programs, one of which writes into the command."),
    PHI__C_TEXT_IN(rule, rule, path, "A pattern of paths: \"./src/\" with \"**\" behind."),
    PHI__C_TEXT_IN(rule, rule, host, "A pattern of the host of a URL."),
    PHI__C_TEXT_IN(rule, rule, argument, "A member of the arguments, for `matches`."),
    PHI__C_TEXT_IN(rule, rule, matches, "A pattern of its text."),
    PHI__C_TEXT_IN(rule, rule, reason, "Why, for the model and the person who is asked."),
    PHI__C_TEXT_IN(rule, rule, options, "The options that the command may have, and no other."),
    PHI__C_TEXT_IN(rule, rule, source,
                   "A pattern of MCP servers whose tools are meant; \"\": phi's own.")};

PHI__TABLE(permission_rule, "permissions.rules", "A rule: it matches where all of its fields do.")

static const phi__cfg_field phi__permissions_rows[] = {
    PHI__C_CHOICE(permissions, mode, phi__sec_perm_modes, "\"default\"",
                  "Rules before those of the file. Without it the file's rules are all there are, "
                  "if it has any."),
    PHI__C_CHOICE(permissions, otherwise, phi__sec_perm_verdicts, "\"ask\"",
                  "What happens to calls that no rule matches."),
    PHI__C_TABLES(permissions, rules, phi__table_permission_rule,
                  "Rules; their order has no meaning."),
    PHI__C_TEXT(permissions, home, PHI__CFG_PATH,
                "The absolute path that ~ stands for: \"${HOME}\"."),
    PHI__C_PLAIN(permissions, shell_tools, TEXT, 0, "\"bash\"",
                 "A pattern of the tools that run shell commands.")};

PHI__TABLE(permissions, "permissions",
           "Which tool calls may run. Calls to ask about are denied where the program cannot ask.")

/* ---- the hooks behind the rules ---- */

static phi_verdict phi__sec_perm_ask(void *user_data, phi_hook *hook) {
    phi__sec_perm_one *one = (phi__sec_perm_one *)user_data;
    return one->ask_fn(one->ask_user_data, hook);
}

static phi_verdict phi__sec_perm_host(void *user_data, phi_hook *hook) {
    phi__sec_perm_one *one = (phi__sec_perm_one *)user_data;
    if (one->hook_fn == NULL || (one->hook_points & (uint32_t)hook->point) == 0) return PHI_ALLOW;
    return one->hook_fn(one->hook_user_data, hook);
}

/* ---- making ---- */

/* The file's rules, behind those of the mode. */
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

/* one->permissions NULL: a problem says why. PHI_NO_MEMORY. */
static phi_status phi__sec_perm_make(phi__sec_perm_state *s, phi__cfg_making *making,
                                     phi__sec_perm_one *one) {
    phi__cfg_ground *ground = making->ground;
    const phi_json *place = making->place != NULL ? making->place : s->node;
    phi_parse_error error;
    phi_permissions_desc desc = PHI_ZERO;
    phi_status status =
        phi__cfg_absolute(ground, place, "workspace", making->workspace, &desc.workspace);
    if (status == PHI_NO_MEMORY) return status;
    if (status == PHI_OK && desc.workspace == NULL) return PHI_OK; /* no agent is made */
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

PHI__FN phi_status phi__sec_perm_begin(phi__cfg_ground *ground, const phi_json *node,
                                       void **state) {
    phi__sec_perm_state *s = (phi__sec_perm_state *)phi__arena_zero(ground->arena, sizeof *s);
    *state = s;
    if (s == NULL || !phi__cfg_take(ground->arena, node, phi__table_permissions(), &s->taken))
        return PHI_NO_MEMORY;
    s->node = node;
    return node != NULL ? phi__sec_perm_read(ground, s) : PHI_OK;
}

PHI__FN phi_status phi__sec_perm_use(void *state, phi__cfg_making *making) {
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

PHI__FN void phi__sec_perm_end(void *state) {
    phi__sec_perm_state *s = (phi__sec_perm_state *)state;
    for (phi__sec_perm_one *one = s != NULL ? s->all : NULL; one != NULL; one = one->next)
        phi_permissions_free(one->permissions);
}
