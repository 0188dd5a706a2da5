/* ignore.c - lines of .gitignore files, and what they say of a path. */
#include "match/ignore_in.h"

static bool phi__ignore_is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

/* Without the blanks at its end, but for one behind a backslash. */
static phi_str phi__ignore_trim(phi_str line) {
    while (line.len > 0 && phi__ignore_is_blank(line.at[line.len - 1])) {
        size_t slashes = 0;
        while (slashes + 1 < line.len && line.at[line.len - 2 - slashes] == '\\') slashes++;
        if (slashes % 2 == 1) break;
        line.len--;
    }
    return line;
}

PHI__FN void phi__ignore_init(phi__ignore *ignore, phi_memory *memory) {
    memset(ignore, 0, sizeof *ignore);
    ignore->memory = memory;
    phi__buf_init(&ignore->text, memory);
}

PHI__FN void phi__ignore_free(phi__ignore *ignore) {
    phi__buf_free(&ignore->text);
    phi__free(ignore->memory, ignore->rules, ignore->cap * sizeof *ignore->rules);
    ignore->rules = NULL;
    ignore->count = ignore->cap = ignore->outs = 0;
}

PHI__FN phi_status phi__ignore_add_line(phi__ignore *ignore, phi_str line, const char **wrong) {
    phi__ignore_rule rule;
    phi__ignore_rule *rules;
    memset(&rule, 0, sizeof rule);
    *wrong = NULL;
    if (line.len > 0 && line.at[0] == '#') return PHI_OK;
    line = phi__ignore_trim(line);
    rule.in = line.len > 0 && line.at[0] == '!';
    if (rule.in) line = phi__str(line.at + 1, line.len - 1);
    rule.name_alone = true;
    if (line.len > 0 && line.at[line.len - 1] == '/') {
        rule.directories = true;
        line.len--;
    }
    if (line.len > 0 && memchr(line.at, '/', line.len) != NULL) rule.name_alone = false;
    if (line.len > 0 && line.at[0] == '/') line = phi__str(line.at + 1, line.len - 1);
    if (line.len == 0) return PHI_OK;
    rules = (phi__ignore_rule *)phi__grow(ignore->memory, ignore->rules, &ignore->cap,
                                          ignore->count + 1, sizeof *rules);
    if (rules == NULL) return PHI_NO_MEMORY;
    ignore->rules = rules;
    rule.at = ignore->text.len;
    *wrong = phi__glob_expand(&ignore->text, line);
    if (*wrong != NULL) return PHI_BAD_ARG;
    if (ignore->text.failed) return PHI_NO_MEMORY;
    rule.len = ignore->text.len - rule.at;
    rules[ignore->count++] = rule;
    if (!rule.in) ignore->outs++;
    return PHI_OK;
}

PHI__FN phi_status phi__ignore_add(phi__ignore *ignore, phi_str file) {
    size_t at = phi__str_starts(file, "\xEF\xBB\xBF") ? 3 : 0;
    while (at < file.len) {
        const char *end = (const char *)memchr(file.at + at, '\n', file.len - at);
        size_t n = end != NULL ? (size_t)(end - file.at) - at : file.len - at;
        const char *wrong;
        if (phi__ignore_add_line(ignore, phi__str(file.at + at, n), &wrong) == PHI_NO_MEMORY)
            return PHI_NO_MEMORY;
        at += n + 1;
    }
    return PHI_OK;
}

PHI__FN phi__ignore_said phi__ignore_says(const phi__ignore *ignore, phi_str path, bool directory,
                                          size_t *left, size_t *units) {
    phi_str name = phi__glob_name(path);
    while (*left > 0 && *units > 0) {
        const phi__ignore_rule *rule = &ignore->rules[--*left];
        size_t work = PHI__IGNORE_RULE;
        bool matches = (directory || !rule->directories) &&
                       phi__glob_any(phi__str(ignore->text.at + rule->at, rule->len),
                                     rule->name_alone ? name : path, &work);
        *units -= phi__min(*units, work);
        if (matches) return rule->in ? PHI__IGNORE_IN : PHI__IGNORE_OUT;
    }
    return PHI__IGNORE_NONE;
}
