/* check.c - the parts of a call, each with its verdict. */
#include "permissions/check_in.h"

#include "permissions/wildcard_in.h"

enum { PHI__CHECK_SHOWN = 200 }; /* bytes of a command, or of a path */

/* Files that keep nothing, and the streams that a command has anyway. Who writes to /dev/stdin
   writes the file that the command reads. */
static bool phi__check_harmless(const phi__shell_redirect *redirect) {
    static const char *const files[] = {"/dev/null",   "/dev/zero",   "/dev/random", "/dev/urandom",
                                        "/dev/stdout", "/dev/stderr", "/dev/stdin"};
    size_t i, n = PHI__COUNT(files) - (redirect->writes ? 1 : 0);
    for (i = 0; redirect->target.known && i < n; i++)
        if (phi__str_is(redirect->target.text, files[i])) return true;
    return false;
}

static bool phi__check_lower(phi_str name) {
    size_t i;
    for (i = 0; i < name.len && name.at[i] != '='; i++)
        if (name.at[i] >= 'a' && name.at[i] <= 'z') return true;
    return false;
}

/* Variables that programs heed (PATH, LD_PRELOAD) have no small letters. */
static bool phi__check_only_variables(const phi__shell_command *c) {
    size_t i;
    if (c->count > 0) return false;
    for (i = 0; i < c->assigned_count; i++) {
        phi_str text = c->assigned[i].text;
        bool assigns = text.len > 0 && memchr(text.at, '=', text.len) != NULL;
        if ((i == 0 || assigns) && !phi__check_lower(text)) return false;
    }
    return true;
}

static void phi__check_words(phi__buf *out, const phi__shell_word *words, size_t count) {
    size_t i;
    for (i = 0; i < count && out->len < PHI__CHECK_SHOWN; i++) {
        if (i > 0) phi__buf_char(out, ' ');
        phi__buf_add_str(out, words[i].text);
    }
}

PHI__FN void phi__check_put(phi__buf *out, const phi__rules_subject *subject) {
    const phi__shell_command *c = subject->command;
    if (subject->line) {
        phi__buf_text(out, "a command line that cannot be read with certainty (");
        phi__buf_text(out, subject->shell->unknown);
        phi__buf_char(out, ')');
    } else if (subject->file) {
        phi__buf_text(out, subject->writes ? "writing " : "reading ");
        phi__buf_add_str(out, subject->path.text);
    } else if (c != NULL) {
        phi__buf_char(out, '`');
        phi__check_words(out, c->assigned, c->assigned_count);
        if (c->assigned_count > 0 && c->count > 0) phi__buf_char(out, ' ');
        phi__check_words(out, c->words, c->count);
        phi__buf_char(out, '`');
    } else
        phi__buf_add_str(out, subject->tool);
}

/* ---- the parts ---- */

typedef struct phi__checking {
    phi_permissions *permissions;
    phi__rules_subject subject;
    phi_status (*each)(void *ctx, const phi__check_part *part);
    void *ctx;
} phi__checking;

static phi_status phi__check_part_now(phi__checking *checking, bool only_strict) {
    phi__check_part part;
    phi__rules_subject *subject = &checking->subject;
    part.subject = subject;
    part.verdict = phi__rules_decide(&checking->permissions->rules, subject, &part.rule);
    if (part.verdict == PHI_PERMISSION_ALLOW && subject->line &&
        subject->shell->unknown != subject->shell->doubt &&
        phi__rules_restrict(&checking->permissions->rules, subject)) {
        part.verdict = PHI_PERMISSION_ASK;
        part.rule = NULL;
    }
    if (subject->command != NULL && subject->command->sort == PHI__SHELL_SUSPECT &&
        part.verdict == PHI_PERMISSION_DENY)
        part.verdict = PHI_PERMISSION_ASK;
    if (only_strict && (part.rule == NULL || part.verdict == PHI_PERMISSION_ALLOW))
        part.verdict = PHI_PERMISSION_ALLOW;
    return subject->lost ? PHI_NO_MEMORY : checking->each(checking->ctx, &part);
}

/* Files that a command reads or writes by redirection. */
static phi_status phi__check_files(phi__checking *checking, const phi__shell_command *c) {
    phi_status status = PHI_OK;
    size_t i;
    checking->subject.file = true;
    for (i = 0; i < c->redirect_count && status == PHI_OK; i++) {
        if (phi__check_harmless(&c->redirects[i])) continue;
        checking->subject.writes = c->redirects[i].writes;
        checking->subject.path = c->redirects[i].target;
        status = phi__check_part_now(checking, false);
    }
    checking->subject.file = false;
    return status;
}

/* Programs that run others, and variables, are decided on by rules that ask or deny alone. */
static phi_status phi__check_commands(phi__checking *checking, const phi__shell *shell) {
    phi__rules_subject *subject = &checking->subject;
    phi_status status = PHI_OK;
    size_t i;
    for (i = 0; i < shell->count && status == PHI_OK; i++) {
        const phi__shell_command *c = &shell->commands[i];
        subject->command = c;
        subject->index = i;
        if (c->count + c->assigned_count > 0)
            status = phi__check_part_now(checking, (c->wraps && c->assigned_count == 0) ||
                                                       c->sort != PHI__SHELL_RUNS ||
                                                       phi__check_only_variables(c));
        if (status == PHI_OK && c->redirect_count > 0) status = phi__check_files(checking, c);
    }
    return status;
}

static phi_status phi__check_line(phi__checking *checking, phi_arena *scratch, phi_str line) {
    phi__shell shell;
    phi_status status = phi__wrappers_parse(scratch, line, &shell);
    checking->subject.shell = &shell;
    if (status == PHI_OK) status = phi__check_commands(checking, &shell);
    if (status == PHI_OK && shell.unknown != NULL) {
        checking->subject.line = true;
        status = phi__check_part_now(checking, false);
    }
    return status;
}

/* ---- for other files ---- */

PHI__FN phi_status phi__check_parts(phi_permissions *permissions, phi_arena *scratch,
                                    phi_str source, phi_str tool_name, phi_str arguments,
                                    phi_status (*each)(void *ctx, const phi__check_part *part),
                                    void *ctx) {
    phi__checking checking;
    phi_json *root = NULL;
    phi_status status;
    memset(&checking, 0, sizeof checking);
    checking.permissions = permissions;
    checking.each = each;
    checking.ctx = ctx;
    checking.subject.workspace = permissions->workspace;
    checking.subject.home = permissions->home;
    checking.subject.tool = tool_name;
    checking.subject.source = source;
    checking.subject.shell_tools = permissions->shell_tools;
    checking.subject.arguments = arguments;
    checking.subject.memory = &permissions->memory;
    status = phi_json_parse(scratch, arguments, PHI_JSON_BORROW, &root, NULL);
    if (status == PHI_NO_MEMORY) return status;
    checking.subject.root = root;
    if (!phi__wildcard_any(phi_str_of(permissions->shell_tools), tool_name, false) ||
        !phi_json_is(phi_json_get(root, "command"), PHI_JSON_STRING))
        return phi__check_part_now(&checking, false);
    return phi__check_line(&checking, scratch, phi_json_str(phi_json_get(root, "command"), ""));
}
