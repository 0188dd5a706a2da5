/* deny.c - the normalised forms of a command in which patterns are searched. */
#include "tools/deny_in.h"

#include "base/buf_in.h"

static bool phi__deny_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/* Ends a command: words behind it are not its arguments. */
static bool phi__deny_ends(char c) { return c != '\0' && strchr(";&|()<>\n`", c) != NULL; }

/* Without quotes and backslashes, runs of blanks as one; a line that is continued is one line. */
static void phi__deny_plain(phi__buf *out, const char *command) {
    bool blank = false;
    for (; *command != '\0'; command++) {
        if (command[0] == '\\' && command[1] == '\n') {
            command++;
            blank = true;
        } else if (phi__deny_blank(*command))
            blank = true;
        else if (*command != '\'' && *command != '"' && *command != '\\') {
            if (blank && out->len > 0) phi__buf_char(out, ' ');
            phi__buf_char(out, *command);
            blank = false;
        }
    }
}

/* A word of a plain command from `at`; empty: the command ends here. */
static phi_str phi__deny_word(const char *at) {
    size_t n = 0;
    while (*at == ' ') at++;
    while (at[n] != '\0' && at[n] != ' ' && !phi__deny_ends(at[n])) n++;
    return phi__str(at, n);
}

static void phi__deny_flags(phi_str word, bool *recursive, bool *force) {
    size_t i;
    if (phi__str_is(word, "--recursive")) *recursive = true;
    if (phi__str_is(word, "--force")) *force = true;
    for (i = 1; i < word.len && word.at[1] != '-'; i++) {
        if (word.at[i] == 'r' || word.at[i] == 'R') *recursive = true;
        if (word.at[i] == 'f') *force = true;
    }
}

/* The arguments of an rm, from `at`: each operand behind "rm -rf", where both flags are given. */
static const char *phi__deny_rm(phi__buf *out, const char *at) {
    const char *from = at;
    bool recursive = false, force = false, operands = false;
    phi_str word;
    for (word = phi__deny_word(at); word.len > 0; word = phi__deny_word(at)) {
        at = word.at + word.len;
        if (word.at[0] == '-' && !operands) phi__deny_flags(word, &recursive, &force);
        if (phi__str_is(word, "--")) operands = true;
    }
    for (word = phi__deny_word(from); recursive && force && word.len > 0;
         word = phi__deny_word(from)) {
        from = word.at + word.len;
        if (word.at[0] == '-') continue;
        phi__buf_text(out, "\nrm -rf ");
        phi__buf_add_str(out, word);
    }
    return at;
}

/* Each rm of a plain command, with its flags written in one way. */
static void phi__deny_removals(phi__buf *out, const char *plain) {
    while (*plain != '\0') {
        phi_str word = phi__deny_word(plain);
        if (word.len == 0) {
            while (*plain == ' ') plain++;
            if (*plain != '\0') plain++;
            continue;
        }
        plain = word.at + word.len;
        if (phi__str_is(word, "rm") ||
            (word.len > 3 && memcmp(word.at + word.len - 3, "/rm", 3) == 0))
            plain = phi__deny_rm(out, plain);
    }
}

/* Of a pattern of signs, without a blank: blanks between them do not matter. */
static bool phi__deny_signs(const char *pattern) {
    bool signs = false;
    for (; *pattern != '\0'; pattern++) {
        if (phi__deny_blank(*pattern)) return false;
        if (strchr("{}();|&:", *pattern) != NULL) signs = true;
    }
    return signs;
}

static void phi__deny_squeeze(phi__buf *out, const char *command) {
    for (; *command != '\0'; command++)
        if (!phi__deny_blank(*command) && *command != '\n') phi__buf_char(out, *command);
}

/* ---- for the tool ---- */

PHI__FN phi_status phi__deny_find(phi_memory *memory, const char *command,
                                  const char *const *patterns, const char **found) {
    phi__buf plain, removals, squeezed;
    bool failed;
    phi__buf_init(&plain, memory);
    phi__buf_init(&removals, memory);
    phi__buf_init(&squeezed, memory);
    phi__deny_plain(&plain, command);
    phi__buf_char(&plain, '\0');
    if (!plain.failed) phi__deny_removals(&removals, plain.at);
    phi__buf_char(&removals, '\0');
    phi__deny_squeeze(&squeezed, command);
    phi__buf_char(&squeezed, '\0');
    failed = plain.failed || removals.failed || squeezed.failed;
    *found = NULL;
    for (; !failed && *found == NULL && *patterns != NULL; patterns++)
        if (strstr(command, *patterns) != NULL || strstr(plain.at, *patterns) != NULL ||
            strstr(removals.at, *patterns) != NULL ||
            (phi__deny_signs(*patterns) && strstr(squeezed.at, *patterns) != NULL))
            *found = *patterns;
    phi__buf_free(&plain);
    phi__buf_free(&removals);
    phi__buf_free(&squeezed);
    return failed ? PHI_NO_MEMORY : PHI_OK;
}
