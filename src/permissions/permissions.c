/* permissions.c - permissions of a host: rules in use, the verdict on a call, and the hook. */
#include "permissions/permissions.h"

#include <stdio.h>

#include "permissions/check_in.h"
#include "permissions/wildcard_in.h"

/* ---- copies of rules ---- */

static bool phi__permissions_text(phi_arena *arena, const char **text) {
    phi_str copy;
    if (*text == NULL) return true;
    if (!phi__arena_str(arena, phi_str_of(*text), &copy)) return false;
    *text = copy.at;
    return true;
}

static bool phi__permissions_copy_rule(phi_arena *arena, phi_permission_rule *rule) {
    return phi__permissions_text(arena, &rule->tool) &&
           phi__permissions_text(arena, &rule->command) &&
           phi__permissions_text(arena, &rule->with) &&
           phi__permissions_text(arena, &rule->without) &&
           phi__permissions_text(arena, &rule->piped) &&
           phi__permissions_text(arena, &rule->path) && phi__permissions_text(arena, &rule->host) &&
           phi__permissions_text(arena, &rule->argument) &&
           phi__permissions_text(arena, &rule->matches) &&
           phi__permissions_text(arena, &rule->reason) &&
           phi__permissions_text(arena, &rule->options) &&
           phi__permissions_text(arena, &rule->source);
}

static bool phi__permissions_copy(phi_arena *arena, const phi_permission_rule *rules, size_t count,
                                  phi_permission_rule *out) {
    size_t i;
    for (i = 0; i < count; i++) {
        out[i] = rules[i];
        if (!phi__permissions_copy_rule(arena, &out[i])) return false;
    }
    return true;
}

/* Both lists, one behind the other, in place of the old. */
static phi_status phi__permissions_use(phi_permissions *p, const phi_permission_rules *old,
                                       const phi_permission_rule *more, size_t count) {
    phi_arena arena;
    phi_permission_rule *all;
    phi_permission otherwise = old->otherwise;
    size_t n = phi__add(old->count, count);
    phi_arena_init(&arena, &p->memory, 0);
    all = (phi_permission_rule *)phi_arena_alloc(&arena, phi__mul(n, sizeof *all));
    if (all == NULL || !phi__permissions_copy(&arena, old->rules, old->count, all) ||
        !phi__permissions_copy(&arena, more, count, all + old->count)) {
        phi_arena_free(&arena);
        return PHI_NO_MEMORY;
    }
    phi_arena_free(&p->rules_arena);
    p->rules_arena = arena;
    p->rules.rules = all;
    p->rules.count = n;
    p->rules.otherwise = otherwise;
    return PHI_OK;
}

/* ---- protected paths ---- */

static void phi__permissions_path(phi__buf *out, phi_str path) {
    if (out->len > 0) phi__buf_char(out, '|');
    if (phi__str_starts(path, "!") || phi__str_starts(path, "**")) phi__buf_text(out, "./");
    phi__wildcard_quote(out, path);
}

/* The directories that a file is in, for who moves one moves the file. */
static void phi__permissions_above(phi__buf *out, phi_str path) {
    bool absolute = path.len > 0 && (path.at[0] == '/' || path.at[0] == '~');
    while (path.len > 0) {
        while (path.len > 0 && path.at[path.len - 1] != '/') path.len--;
        while (path.len > 0 && path.at[path.len - 1] == '/') path.len--;
        if (path.len > 0) phi__permissions_path(out, path);
    }
    if (!absolute) phi__permissions_path(out, phi__str(".", 1));
}

static bool phi__permissions_guard(phi_permissions *p, const char *const *paths) {
    phi__buf files, all;
    size_t i;
    bool good;
    if (paths == NULL || paths[0] == NULL) return true;
    phi__buf_init(&files, &p->memory);
    phi__buf_init(&all, &p->memory);
    for (i = 0; paths[i] != NULL; i++) phi__permissions_path(&files, phi_str_of(paths[i]));
    phi__buf_add_str(&all, phi__buf_str(&files));
    for (i = 0; paths[i] != NULL; i++) phi__permissions_above(&all, phi_str_of(paths[i]));
    p->guards[0].tool = "write_file|edit_file";
    p->guards[1].command = "cp|mv|ln|link|tee|touch|install|rm|rmdir|unlink|dd|sed|truncate|chmod|"
                           "chown|patch|rsync|tar|unzip|shred|split|gzip|gunzip|bzip2|xz|zstd|ed|"
                           "ex|perl|curl|wget *";
    p->guards[2].command = "git rm|mv|checkout|restore|clean|apply|stash *";
    p->guards[3].command = "find|sort *";
    p->guards[3].with = "-delete|-exec*|-ok*|-fprint*|-fls|-o*|--o*";
    phi__buf_char(&files, '\0');
    phi__buf_char(&all, '\0');
    good = !files.failed && !all.failed;
    p->guard_count = PHI__CHECK_GUARDS;
    for (i = 0; good && i < p->guard_count; i++) {
        p->guards[i].verdict = PHI_PERMISSION_ASK;
        p->guards[i].reason = "this program runs it, or heeds it";
        p->guards[i].path = i == 0 ? files.at : all.at;
        good = phi__permissions_copy_rule(&p->arena, &p->guards[i]);
    }
    phi__buf_free(&files);
    phi__buf_free(&all);
    return good;
}

/* ---- the verdict ---- */

typedef struct phi__permissions_verdict {
    phi_permissions *permissions;
    phi_permission strictest;
    bool any;
} phi__permissions_verdict;

static int phi__permissions_rank(phi_permission verdict) {
    return verdict == PHI_PERMISSION_DENY ? 2 : verdict == PHI_PERMISSION_ALLOW ? 0 : 1;
}

/* The words are of the first part with the strictest verdict. */
static phi_status phi__permissions_part(void *ctx, const phi__check_part *part) {
    static const char *const says[] = {"allowed: ", "to be approved: ", "denied: "};
    phi__permissions_verdict *v = (phi__permissions_verdict *)ctx;
    phi__buf *why = &v->permissions->why;
    int rank = phi__permissions_rank(part->verdict);
    if (v->any && rank <= phi__permissions_rank(v->strictest)) return PHI_OK;
    v->any = true;
    v->strictest = part->verdict;
    phi__buf_clear(why);
    phi__buf_text(why, says[rank]);
    phi__check_put(why, part->subject);
    phi__buf_text(why, ": ");
    if (part->rule == NULL)
        phi__buf_text(why, rank == 0 ? "nothing forbids it" : "no rule allows it");
    else if (part->subject->overlong)
        phi__buf_text(why, "its path is longer than 4,095 bytes, as no file's is");
    else
        phi__buf_text(why, part->rule->reason != NULL ? part->rule->reason : "a rule says so");
    return PHI_OK;
}

static phi_permission phi__permissions_decide(phi_permissions *p, phi_str source, phi_str tool_name,
                                              phi_str arguments) {
    /* a line without any command is allowed */
    phi__permissions_verdict v = {p, PHI_PERMISSION_ALLOW, false};
    phi_arena scratch;
    phi_status status;
    phi__buf_clear(&p->why);
    phi_arena_init(&scratch, &p->memory, 0);
    status = phi__check_parts(p, &scratch, source, tool_name, arguments, phi__permissions_part, &v);
    phi_arena_free(&scratch);
    if (status == PHI_OK && !p->why.failed) return v.strictest;
    phi__buf_clear(&p->why);
    phi__buf_text(&p->why, "to be approved: there is no memory to check it");
    return v.strictest == PHI_PERMISSION_DENY ? v.strictest : PHI_PERMISSION_ASK;
}

/* ---- the hook ---- */

/* The lowest bits of phi_hook.waited: 0 until ask_fn has decided, then the rounds that it took, and
   one more. */
enum { PHI__PERMISSIONS_BITS = 8, PHI__PERMISSIONS_MOST = (1 << PHI__PERMISSIONS_BITS) - 1 };

static uint32_t phi__permissions_asked(const phi_hook *hook) {
    return hook->round > 0 ? hook->waited & PHI__PERMISSIONS_MOST : 0;
}

static void phi__permissions_done(phi_hook *hook, uint32_t rounds) {
    hook->waited &= ~(uint32_t)PHI__PERMISSIONS_MOST;
    hook->waited |= rounds < PHI__PERMISSIONS_MOST ? rounds + 1 : (uint32_t)PHI__PERMISSIONS_MOST;
}

/* hook_fn, of a call that rules or ask_fn have allowed; the reply so far is other arguments. */
static phi_verdict phi__permissions_next(const phi_permissions *p, phi_hook *hook) {
    phi_hook inner = *hook;
    phi_verdict verdict;
    uint32_t asked = hook->waited & PHI__PERMISSIONS_MOST;
    if (asked > 0) inner.round -= asked - 1 < inner.round ? asked - 1 : inner.round;
    if (hook->point == PHI_HOOK_BEFORE_TOOL && hook->reply.len > 0) inner.arguments = hook->reply;
    inner.waited >>= PHI__PERMISSIONS_BITS;
    verdict = p->hook_fn(p->user_data, &inner);
    if (verdict == PHI_DENY && inner.reply.at == hook->reply.at) inner.reply = phi__str("", 0);
    inner.round = hook->round;
    inner.waited = inner.waited << PHI__PERMISSIONS_BITS | asked;
    *hook = inner;
    return verdict;
}

static phi_verdict phi__permissions_ask(phi_permissions *p, phi_hook *hook) {
    phi_verdict verdict;
    phi__buf_clear(&p->question);
    phi__buf_add_str(&p->question, phi__buf_str(&p->why));
    hook->text = phi__buf_str(&p->question);
    hook->permissions = p;
    verdict = p->ask_fn(p->user_data, hook);
    if (verdict == PHI_WAIT && p->hook_fn != NULL && !hook->ask_again) {
        hook->ask_again = true; /* for hook_fn */
        phi__permissions_done(hook, hook->round + 1);
    }
    if (verdict == PHI_ALLOW) phi__permissions_done(hook, hook->round);
    if (verdict != PHI_WAIT) hook->permissions = NULL;
    if (p->freed) hook->text = phi__str(NULL, 0);
    return verdict;
}

/* The host's hooks; what one of them denies is denied. */
static phi_verdict phi__permissions_host(phi_permissions *p, phi_hook *hook, bool ask) {
    phi_verdict verdict = PHI_ALLOW;
    bool busy = p->busy;
    p->busy = true;
    if (ask) verdict = phi__permissions_ask(p, hook);
    if (verdict == PHI_ALLOW && p->hook_fn != NULL && !p->freed)
        verdict = phi__permissions_next(p, hook);
    p->busy = busy;
    if (p->freed && !busy) phi_permissions_free(p);
    return verdict;
}

static phi_permissions *phi__permissions_refuse(phi_parse_error *error, phi_status status,
                                                const char *message) {
    if (error == NULL) return NULL;
    memset(error, 0, sizeof *error);
    error->status = status;
    (void)snprintf(error->message, sizeof error->message, "%s", message);
    return NULL;
}

/* ---- public ---- */

PHI_API phi_verdict phi_permissions_hook(void *permissions, phi_hook *hook) {
    phi_permissions *p = (phi_permissions *)permissions;
    phi_permission verdict = PHI_PERMISSION_ALLOW;
    if (phi__permissions_asked(hook) > 0) return phi__permissions_host(p, hook, false);
    if (hook->point == PHI_HOOK_BEFORE_TOOL)
        verdict = phi__permissions_decide(p, hook->source, hook->tool_name, hook->arguments);
    if (verdict == PHI_PERMISSION_DENY) {
        hook->reply = p->why.failed ? PHI__LIT("Denied.") : phi__buf_str(&p->why);
        return PHI_DENY;
    }
    if (verdict == PHI_PERMISSION_ASK && p->ask_fn == NULL) {
        phi__buf_text(&p->why, "; there is nobody to ask");
        hook->reply = p->why.failed ? PHI__LIT("Not approved: there is nobody to ask.")
                                    : phi__buf_str(&p->why);
        return PHI_DENY;
    }
    if (verdict == PHI_PERMISSION_ALLOW && p->hook_fn == NULL && hook->point == PHI_HOOK_QUESTION)
        return PHI_DENY; /* there is nobody to answer */
    return phi__permissions_host(p, hook, verdict == PHI_PERMISSION_ASK);
}

PHI_API phi_permission phi_permissions_check(phi_permissions *permissions,
                                             const phi_permission_call *call, phi_str *why) {
    phi_permission verdict;
    if (permissions == NULL || call == NULL) return PHI_PERMISSION_DENY;
    verdict = phi__permissions_decide(permissions, call->source, call->tool_name, call->arguments);
    if (why != NULL) *why = phi__buf_str(&permissions->why);
    return verdict;
}

PHI_API phi_permissions *phi_permissions_new(const phi_permissions_desc *given,
                                             phi_parse_error *error) {
    phi_permissions_desc desc;
    phi_permissions *p;
    phi_memory memory;
    memset(&desc, 0, sizeof desc);
    if (given != NULL) desc = *given;
    if (desc.workspace != NULL && desc.workspace[0] != '/')
        return phi__permissions_refuse(error, PHI_BAD_ARG, "workspace: expected an absolute path");
    if (desc.home != NULL && desc.home[0] != '/')
        return phi__permissions_refuse(error, PHI_BAD_ARG, "home: expected an absolute path");
    phi_memory_init(&memory, &desc.allocator, 0);
    p = (phi_permissions *)phi__alloc(&memory, sizeof *p);
    if (p == NULL) return phi__permissions_refuse(error, PHI_NO_MEMORY, "no memory");
    p->memory = memory; /* it counts the object itself */
    phi_arena_init(&p->arena, &p->memory, 0);
    phi_arena_init(&p->rules_arena, &p->memory, 0);
    phi__buf_init(&p->why, &p->memory);
    phi__buf_init(&p->question, &p->memory);
    p->workspace = desc.workspace;
    p->home = desc.home;
    p->shell_tools = desc.shell_tools != NULL ? desc.shell_tools : "bash";
    p->ask_fn = desc.ask_fn;
    p->hook_fn = desc.hook_fn;
    p->user_data = desc.user_data;
    if (desc.rules == NULL) desc.rules = phi_permissions_mode(PHI_PERMISSION_MODE_DEFAULT);
    if (!phi__permissions_text(&p->arena, &p->workspace) ||
        !phi__permissions_text(&p->arena, &p->home) ||
        !phi__permissions_text(&p->arena, &p->shell_tools) ||
        !phi__permissions_guard(p, desc.protected_paths) ||
        phi__permissions_use(p, desc.rules, p->guards, p->guard_count) != PHI_OK) {
        phi_permissions_free(p);
        return phi__permissions_refuse(error, PHI_NO_MEMORY, "no memory");
    }
    return p;
}

PHI_API void phi_permissions_free(phi_permissions *permissions) {
    phi_memory memory;
    if (permissions == NULL) return;
    if (permissions->busy) {
        permissions->freed = true;
        return;
    }
    phi__buf_free(&permissions->why);
    phi__buf_free(&permissions->question);
    phi_arena_free(&permissions->rules_arena);
    phi_arena_free(&permissions->arena);
    memory = permissions->memory;
    phi__free(&memory, permissions, sizeof *permissions);
}

PHI_API phi_status phi_permissions_set(phi_permissions *permissions,
                                       const phi_permission_rules *rules) {
    if (permissions == NULL || rules == NULL) return PHI_BAD_ARG;
    if (permissions->busy) return PHI_MISUSE;
    return phi__permissions_use(permissions, rules, permissions->guards, permissions->guard_count);
}

PHI_API phi_status phi_permissions_add(phi_permissions *permissions,
                                       const phi_permission_rule *rules, size_t count) {
    if (permissions == NULL || (rules == NULL && count > 0)) return PHI_BAD_ARG;
    if (permissions->busy) return PHI_MISUSE;
    return phi__permissions_use(permissions, &permissions->rules, rules, count);
}

PHI_API const phi_permission_rules *phi_permissions_rules(const phi_permissions *permissions) {
    return permissions != NULL ? &permissions->rules : NULL;
}
