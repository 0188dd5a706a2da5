/* always.c - "always allow this": rules out of a call that was asked about. */
#include "permissions/check_in.h"
#include "permissions/wildcard_in.h"

typedef struct phi__always {
    phi_permissions *permissions;
    phi_arena *arena;
    phi_permission_scope scope;
    phi_str source;
    phi_permission_rule *rules;
    size_t count;
    bool asked; /* a rule asks about a part, or its words say too little: this call, or none */
} phi__always;

static phi_status phi__always_refuse(const phi__always *a, const phi__rules_subject *subject,
                                     const char *why) {
    phi__buf *words = &a->permissions->why;
    phi__buf_clear(words);
    phi__check_put(words, subject);
    phi__buf_text(words, ": ");
    phi__buf_text(words, why);
    return PHI_REJECTED;
}

static bool phi__always_keep(const phi__always *a, phi__buf *buf, const char **out) {
    phi_str text;
    bool good = !buf->failed && phi__arena_str(a->arena, phi__buf_str(buf), &text);
    phi__buf_free(buf);
    if (good) *out = text.at;
    return good;
}

/* Whose tool it is: for tools that nobody else's tool is taken for, the rule says nothing. */
static phi_status phi__always_source(const phi__always *a, phi_permission_rule *rule) {
    phi__buf words;
    if (a->source.len == 0 && phi__rules_own(a->permissions->shell_tools, phi_str_of(rule->tool)))
        return PHI_OK;
    phi__buf_init(&words, a->arena->memory);
    phi__wildcard_quote(&words, a->source);
    return phi__always_keep(a, &words, &rule->source) ? PHI_OK : PHI_NO_MEMORY;
}

/* Room for one more; the same one again is not added. */
static phi_status phi__always_add(phi__always *a, phi_permission_rule *rule) {
    phi_permission_rule *all;
    size_t i;
    if (phi__always_source(a, rule) != PHI_OK) return PHI_NO_MEMORY;
    for (i = 0; i < a->count; i++) {
        const phi_permission_rule *old = &a->rules[i];
        if (old->command != NULL && rule->command != NULL &&
            strcmp(old->command, rule->command) == 0)
            return PHI_OK;
    }
    all = (phi_permission_rule *)phi_arena_alloc(a->arena, phi__mul(a->count + 1, sizeof *all));
    if (all == NULL) return PHI_NO_MEMORY;
    if (a->count > 0) memcpy(all, a->rules, a->count * sizeof *all);
    all[a->count++] = *rule;
    a->rules = all;
    return PHI_OK;
}

/* ---- commands ---- */

/* Commands whose options and further words were read: these options, and files of the workspace,
   give them no other effect. For all other commands the very words are allowed. */
typedef struct phi__always_known {
    const char *command; /* a pattern for each word that stays */
    const char *options;
} phi__always_known;

static const phi__always_known phi__always_commands[] = {
    {"npm|pnpm|yarn|bun test", ""},
    {"npm|pnpm|yarn|bun run ?*", ""},
    {"cargo build|check|test|clippy|doc",
     "-[qv]|--release|--workspace|--all|--all-targets|--lib|--bins|--tests|--no-run|--locked|"
     "--offline|--quiet|--verbose|--package|--features|--all-features|--no-default-features|"
     "--nocapture|--no-deps"},
    {"go build|vet|test", "-v|-race|-short|-run|-run=*|-count=*|-bench=*|-cover|-failfast|-json"},
    {"mkdir", "-[pv]|--parents|--verbose"},
    {"touch", "-[acm]"},
    {"git add", "-[AnuvN]|--all|--update|--dry-run|--verbose|--intent-to-add"},
    {"git commit", "-[aqv]|-m*|--all|--message=*|--quiet|--verbose"}};
/* The name of a program without its directory and version. */
static phi_str phi__always_program(phi_str name) {
    name = phi__names_last(name);
    while (name.len > 1 && (strchr("0123456789.-", name.at[name.len - 1]) != NULL)) name.len--;
    return name;
}

static bool phi__always_has_flag(const phi__shell_command *c, char flag) {
    size_t i;
    for (i = 1; i < c->count; i++) {
        phi_str text = c->words[i].text;
        if (text.len > 1 && text.at[0] == '-' && text.at[1] != '-' &&
            memchr(text.at, flag, text.len) != NULL)
            return true;
    }
    return false;
}

static bool phi__always_has(const phi__shell_command *c, const char *start) {
    size_t i;
    for (i = 1; i < c->count; i++)
        if (phi__str_starts(c->words[i].text, start)) return true;
    return false;
}

/* rm -rf, in whatever spelling. */
static bool phi__always_deletes(const phi__shell_command *c) {
    if (!phi__str_is(phi__always_program(c->words[0].text), "rm")) return false;
    return phi__always_has_flag(c, 'r') || phi__always_has_flag(c, 'R') ||
           phi__always_has(c, "--r");
}

/* Whether all words of the pattern match; *count: how many they are. */
static bool phi__always_begins(const phi__shell_command *c, const char *command, size_t *count) {
    phi_str rest = phi_str_of(command), pattern;
    for (*count = 0; phi__wildcard_word(&rest, &pattern); (*count)++)
        if (*count == c->count || !phi__wildcard_any(pattern, c->words[*count].text, false) ||
            phi__str_starts(c->words[*count].text, "-"))
            return false;
    return true;
}

static bool phi__always_words(const phi__always *a, const phi__shell_command *c, size_t count,
                              bool more, const char **out) {
    phi__buf words;
    size_t i;
    phi__buf_init(&words, a->arena->memory);
    for (i = 0; i < count; i++) {
        if (i > 0) phi__buf_char(&words, ' ');
        phi__wildcard_quote(&words, c->words[i].text);
    }
    if (more) phi__buf_text(&words, " *");
    return phi__always_keep(a, &words, out);
}

/* SCOPE_KIND: the rule on all commands of this kind, if it allows the command itself. */
static phi_status phi__always_kind(const phi__always *a, phi__rules_subject *subject,
                                   phi_permission_rule *rule) {
    phi_permission_rules alone;
    const phi_permission_rule *which;
    phi_permission_rule wide = *rule;
    size_t i, count = 0;
    for (i = 0; i < PHI__COUNT(phi__always_commands); i++)
        if (phi__always_begins(subject->command, phi__always_commands[i].command, &count)) break;
    if (i == PHI__COUNT(phi__always_commands)) return PHI_OK;
    wide.path = "./**";
    wide.options = phi__always_commands[i].options;
    if (!phi__always_words(a, subject->command, count, true, &wide.command)) return PHI_NO_MEMORY;
    memset(&alone, 0, sizeof alone);
    alone.rules = &wide;
    alone.count = 1;
    if (phi__rules_decide(&alone, subject, &which) == PHI_PERMISSION_ALLOW) *rule = wide;
    return subject->lost ? PHI_NO_MEMORY : PHI_OK;
}

static phi_status phi__always_command(phi__always *a, phi__rules_subject *subject) {
    const phi__shell_command *c = subject->command;
    phi_permission_rule rule;
    phi__buf tool;
    size_t i;
    bool moved;
    memset(&rule, 0, sizeof rule);
    if (c->count == 0 || c->assigned_count > 0)
        return phi__always_refuse(a, subject, "it sets variables that programs heed");
    for (i = 0; i < c->count; i++)
        if (!c->words[i].known || c->words[i].text.len == 0)
            return phi__always_refuse(a, subject, "not all of its words are known");
    if (phi__always_deletes(c)) return phi__always_refuse(a, subject, "it deletes directories");
    moved = phi__rules_moved(subject, false);
    if (moved || (c->reads && !phi__names_plain(c->words[0].text))) {
        a->asked = true; /* the words alone say too little */
        if (a->scope == PHI_PERMISSION_SCOPE_EXACT) return PHI_OK;
        return phi__always_refuse(a, subject,
                                  moved ? "it may run what is in another directory"
                                        : "it may run what it reads");
    }
    rule.verdict = PHI_PERMISSION_ALLOW;
    phi__buf_init(&tool, a->arena->memory);
    phi__wildcard_quote(&tool, subject->tool);
    if (!phi__always_keep(a, &tool, &rule.tool) ||
        !phi__always_words(a, c, c->count, false, &rule.command) ||
        (a->scope == PHI_PERMISSION_SCOPE_KIND && phi__always_kind(a, subject, &rule) != PHI_OK))
        return PHI_NO_MEMORY;
    return phi__always_add(a, &rule);
}

/* ---- files and tools ---- */

static bool phi__always_path(const phi__always *a, phi_str path, bool kind, const char **out) {
    phi__buf words;
    size_t n = path.len;
    while (kind && n > 0 && path.at[n - 1] != '/') n--;
    if (path.len > 0 && (strchr("/~$", path.at[0]) != NULL ||
                         phi__str_find(path, 0, "..") != SIZE_MAX)) { /* perhaps outside */
        kind = false;
        n = path.len;
    }
    phi__buf_init(&words, a->arena->memory);
    if (phi__str_starts(path, "!")) phi__buf_text(&words, "./"); /* else it means any other */
    phi__wildcard_quote(&words, phi__str(path.at, n));
    if (kind && n == 0) phi__buf_text(&words, "./");
    if (kind) phi__buf_text(&words, "**");
    return phi__always_keep(a, &words, out);
}

static phi_status phi__always_file(phi__always *a, const phi__rules_subject *subject) {
    phi_permission_rule rule;
    memset(&rule, 0, sizeof rule);
    rule.verdict = PHI_PERMISSION_ALLOW;
    if (!subject->path.known || subject->path.text.len == 0)
        return phi__always_refuse(a, subject, "the file's name is not known");
    if (subject->command->dirs != NULL || subject->shell->lost) {
        a->asked = true;
        if (a->scope == PHI_PERMISSION_SCOPE_EXACT) return PHI_OK;
        return phi__always_refuse(a, subject, "it is in another directory");
    }
    rule.tool = subject->writes ? "write_file" : "read_file";
    if (!phi__always_path(a, subject->path.text, false, &rule.path)) return PHI_NO_MEMORY;
    return phi__always_add(a, &rule);
}

/* The host of a URL of the arguments, if there is one. False: it has no plain host. */
static bool phi__always_host(const phi__always *a, const phi_json *root, const char **out,
                             bool *lost) {
    static const char *const names[] = {"url", "uri"};
    phi__buf host, words;
    size_t i = 0;
    bool good;
    while (i < PHI__COUNT(names) && !phi_json_is(phi_json_get(root, names[i]), PHI_JSON_STRING))
        i++;
    if (i == PHI__COUNT(names)) return true;
    phi__buf_init(&host, a->arena->memory);
    phi__buf_init(&words, a->arena->memory);
    good = phi__hosts_of(phi_json_str(phi_json_get(root, names[i]), ""), &host);
    if (good) phi__wildcard_quote(&words, phi__buf_str(&host));
    phi__buf_free(&host);
    *lost = !phi__always_keep(a, &words, out);
    return good;
}

static phi_status phi__always_tool(phi__always *a, const phi__rules_subject *subject) {
    phi_str path = phi__rules_path_of(subject->root);
    bool exact = a->scope == PHI_PERMISSION_SCOPE_EXACT, lost = false;
    phi_permission_rule rule;
    phi__buf words;
    memset(&rule, 0, sizeof rule);
    rule.verdict = PHI_PERMISSION_ALLOW;
    phi__buf_init(&words, a->arena->memory);
    phi__wildcard_quote(&words, subject->tool);
    if (!phi__always_keep(a, &words, &rule.tool)) return PHI_NO_MEMORY;
    if (!phi__always_host(a, subject->root, &rule.host, &lost) && !lost)
        return phi__always_refuse(a, subject, "its URL has no plain host");
    if (lost) return PHI_NO_MEMORY;
    /* what other arguments say, phi knows of its own tools alone */
    if (path.len > 0 && (!exact || phi__rules_own(subject->shell_tools, subject->tool))) {
        if (!phi__always_path(a, path, !exact, &rule.path)) return PHI_NO_MEMORY;
    } else if (exact && (path.len > 0 || rule.host == NULL)) {
        phi__buf_init(&words, a->arena->memory);
        phi__wildcard_quote(&words, subject->arguments);
        if (!phi__always_keep(a, &words, &rule.matches)) return PHI_NO_MEMORY;
    }
    return phi__always_add(a, &rule);
}

/* phi__check_parts: each part that is not allowed yet. */
static phi_status phi__always_part(void *ctx, const phi__check_part *part) {
    phi__always *a = (phi__always *)ctx;
    phi__rules_subject *subject = part->subject;
    if (part->verdict == PHI_PERMISSION_ALLOW) return PHI_OK;
    if (part->rule != NULL && part->verdict == PHI_PERMISSION_ASK &&
        a->scope == PHI_PERMISSION_SCOPE_EXACT) {
        a->asked = true;
        return PHI_OK;
    }
    if (part->rule != NULL)
        return phi__always_refuse(
            a, subject, part->rule->reason != NULL ? part->rule->reason : "a rule asks or denies");
    if (subject->line) return phi__always_refuse(a, subject, "it may hold other commands");
    if (subject->file) return phi__always_file(a, subject);
    return subject->command != NULL ? phi__always_command(a, subject)
                                    : phi__always_tool(a, subject);
}

/* The rule on this very call, which counts before those that ask, in place of all others. */
static phi_status phi__always_this(phi__always *a, phi_str tool_name, phi_str arguments) {
    phi_permission_rule rule;
    phi__buf words;
    memset(&rule, 0, sizeof rule);
    rule.verdict = PHI_PERMISSION_ALLOW;
    phi__buf_init(&words, a->arena->memory);
    phi__wildcard_quote(&words, tool_name);
    if (!phi__always_keep(a, &words, &rule.tool)) return PHI_NO_MEMORY;
    phi__buf_init(&words, a->arena->memory);
    phi__wildcard_quote(&words, arguments);
    a->count = 0;
    return phi__always_keep(a, &words, &rule.matches) ? phi__always_add(a, &rule) : PHI_NO_MEMORY;
}

/* ---- public ---- */

PHI_API phi_status phi_permissions_always(phi_permissions *permissions,
                                          const phi_permission_call *call,
                                          phi_permission_scope scope, phi_arena *arena,
                                          phi_permission_rules *out, phi_str *why) {
    phi__always a;
    phi_arena scratch;
    phi_status status;
    if (permissions == NULL || call == NULL || arena == NULL || out == NULL) return PHI_BAD_ARG;
    memset(&a, 0, sizeof a);
    memset(out, 0, sizeof *out);
    a.permissions = permissions;
    a.arena = arena;
    a.scope = scope;
    a.source = call->source;
    phi__buf_clear(&permissions->why);
    phi_arena_init(&scratch, &permissions->memory, 0);
    status = phi__check_parts(permissions, &scratch, call->source, call->tool_name, call->arguments,
                              phi__always_part, &a);
    if (status == PHI_OK && a.asked)
        status = phi__always_this(&a, call->tool_name, call->arguments);
    phi_arena_free(&scratch);
    if (why != NULL) *why = phi__buf_str(&permissions->why);
    if (status != PHI_OK) return status;
    out->rules = a.rules;
    out->count = a.count;
    return PHI_OK;
}
