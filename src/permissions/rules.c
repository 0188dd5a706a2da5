/* rules.c - matching rules of permissions. */
#include "permissions/rules_in.h"

#include "match/glob_in.h"
#include "permissions/wildcard_in.h"

enum { PHI__RULES_WORK_MOST = 100000 }; /* looks at words and commands of a line */

static bool phi__rules_allows(const phi_permission_rule *rule) {
    return rule->verdict == PHI_PERMISSION_ALLOW;
}

static bool phi__rules_any(const char *pattern, phi_str text) {
    return phi__wildcard_any(phi_str_of(pattern), text, false);
}

static phi_str phi__rules_after(phi_str text, size_t n) {
    return phi__str(text.at + n, text.len - n);
}

/* ---- words ---- */

static phi_str phi__rules_name(const phi__shell_command *c, bool anywhere) {
    phi_str name = c->count > 0 ? c->words[0].text : phi__str("", 0);
    size_t i;
    if (!anywhere && phi__str_starts(name, "/usr/bin/")) return phi__rules_after(name, 9);
    if (!anywhere && phi__str_starts(name, "/bin/")) return phi__rules_after(name, 5);
    for (i = name.len; anywhere && i > 0; i--)
        if (name.at[i - 1] == '/') return phi__rules_after(name, i);
    return name;
}

/* The word that says what a program is to do: behind options and their values, as in "git -C x
   push". */
static size_t phi__rules_skip(const phi__shell_command *c, phi_str pattern) {
    bool before = false, option;
    size_t i;
    for (i = 1; i < c->count; i++, before = option) {
        phi_str text = c->words[i].text;
        if (phi__wildcard_any(pattern, text, false)) return i;
        option = text.len > 0 && strchr("-+", text.at[0]) != NULL;
        if (!option && !before) break;
    }
    return 1;
}

static bool phi__rules_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Where the first expansion of a word begins, and where the last one ends: of "pu$()sh", "pu" and
   "sh" are certain. False: nothing is, or there is none. */
static bool phi__rules_certain(phi_str text, size_t *begin, size_t *end) {
    size_t i, last = 0;
    *begin = text.len;
    for (i = 0; i < text.len; i++) {
        bool sign = text.at[i] == '$' || text.at[i] == '`';
        if (sign && *begin == text.len) *begin = i;
        if (!sign && (*begin == text.len || strchr(")}", text.at[i]) == NULL)) continue;
        last = i + 1;
        if (text.at[i] != '$') continue;
        while (last < text.len && (text.at[last] == '_' || phi__rules_letter(text.at[last])))
            last++;
        if (last == i + 1 && last < text.len) last++; /* $@ */
    }
    *end = last;
    return *begin<text.len && * begin + text.len - last> 0;
}

/* Whether a word is one of a pattern's, or may be: "r[m]" names a file rm where there is one. */
static bool phi__rules_word(phi__rules_subject *subject, phi_str pattern, phi_str text,
                            const phi__shell_word *word) {
    size_t begin, end;
    bool matches = false;
    phi_str one;
    phi__buf glob;
    if (phi__wildcard_any(pattern, text, false)) return true;
    if (!subject->may || word->known) return false;
    phi__buf_init(&glob, subject->memory);
    if (phi__rules_certain(text, &begin, &end)) {
        phi__buf_add(&glob, text.at, begin);
        phi__buf_text(&glob, "**");
        phi__buf_add(&glob, text.at + end, text.len - end);
        text = phi__buf_str(&glob);
    } else if (phi__str_find(word->text, 0, "$") != SIZE_MAX ||
               phi__str_find(word->text, 0, "`") != SIZE_MAX)
        return false;
    while (!matches && phi__wildcard_next(&pattern, &one))
        matches = phi__wildcard_meets(one, text, PHI__WILDCARD_SEEN);
    if (glob.failed) subject->lost = true;
    phi__buf_free(&glob);
    return matches;
}

/* The words of a command against the words of a rule's pattern. */
static bool phi__rules_words(phi__rules_subject *subject, const phi_permission_rule *rule) {
    const phi__shell_command *c = subject->command;
    bool allows = phi__rules_allows(rule);
    phi_str rest = phi_str_of(rule->command), pattern;
    size_t i = 0;
    if (phi__str_is(rest, "*")) return true;
    if (c->count == 0 || (allows && (!c->words[0].known || c->assigned_count > 0))) return false;
    while (phi__wildcard_word(&rest, &pattern)) {
        phi_str text;
        if (i > 0 && phi__str_is(pattern, "*") && phi__str_trim(rest).len == 0) return true;
        if (i >= c->count || (allows && !c->words[i].known)) return false;
        if (i == 1 && !allows) i = phi__rules_skip(c, pattern);
        text = i == 0 ? phi__rules_name(c, !allows) : c->words[i].text;
        if (!phi__rules_word(subject, pattern, text, &c->words[i]) &&
            (i > 0 || !phi__wildcard_any(pattern, c->words[0].text, false)))
            return false;
        i++;
    }
    /* a program that reads its orders does more than its words say */
    return i == c->count && (!allows || !c->reads || phi__names_plain(c->words[0].text));
}

/* Alternatives of which one is a word of the command. may: a letter's option is also one of
   several; else "-fn" may be -f with a value, and words behind "--" are no options. */
static bool phi__rules_has(const phi__shell_command *c, phi_str alternatives, bool may) {
    phi_str one;
    size_t i;
    while (phi__wildcard_next(&alternatives, &one))
        for (i = 1; i < c->count; i++) {
            phi_str text = c->words[i].text;
            size_t begin, end;
            if (!may && phi__str_is(text, "--")) break;
            if (phi__wildcard_any(one, text, false)) return true;
            if (!may) continue;
            if (!c->words[i].known && phi__rules_certain(text, &begin, &end) && begin == 0)
                text = phi__rules_after(text, end); /* $@-rf */
            if (phi__wildcard_any(one, text, false)) return true;
            if (phi__options_short_for(text, one) || phi__options_valued_by(text, one)) return true;
            if (one.len == 2 && one.at[0] == '-' && one.at[1] != '-' && text.len > 1 &&
                text.at[0] == '-' && text.at[1] != '-' &&
                memchr(text.at + 1, one.at[1], text.len - 1) != NULL)
                return true;
        }
    return false;
}

static bool phi__rules_with(const phi__shell_command *c, const phi_permission_rule *rule) {
    phi_str rest = phi_str_of(rule->with), one;
    while (phi__wildcard_word(&rest, &one))
        if (!phi__rules_has(c, one, !phi__rules_allows(rule))) return false;
    return true;
}

static bool phi__rules_without(const phi__shell_command *c, const phi_permission_rule *rule) {
    phi_str rest = phi_str_of(rule->without), one;
    size_t i;
    for (i = 1; phi__rules_allows(rule) && i < c->count; i++)
        if (!c->words[i].known && !c->words[i].pipe) return false;
    while (phi__wildcard_word(&rest, &one))
        if (phi__rules_has(c, one, phi__rules_allows(rule))) return false;
    return true;
}

/* Counts work on a line. True: it is more than any line is worth that somebody has written. */
static bool phi__rules_tired(phi__rules_subject *subject, size_t work) {
    subject->work += work;
    return subject->work > PHI__RULES_WORK_MOST;
}

/* Whether it is one of these programs, or may run one. */
static bool phi__rules_named(const phi__shell_command *c, const char *names) {
    phi__shell_command part = *c;
    if (phi__rules_any(names, phi__rules_name(c, true))) return true;
    for (; (c->wraps || !c->quiet) && part.count > 1; part.count--) {
        part.words++;
        if (phi__rules_any(names, phi__rules_name(&part, true))) return true;
    }
    return false;
}

/* Whether a command calls the function that another one is in. */
static bool phi__rules_calls(const phi__shell_command *c, const phi__shell_command *in) {
    return c->count > 0 && in->function.len > 0 && phi_str_equal(c->words[0].text, in->function);
}

/* Whether a command is one of these, or calls a function that has one. */
static bool phi__rules_runs(phi__rules_subject *subject, const char *names, size_t index) {
    const phi__shell_command *all = subject->shell->commands, *c = &all[index];
    size_t i;
    if (phi__rules_named(c, names)) return true;
    for (i = 0; subject->shell->later && i < subject->shell->count; i++)
        if (phi__rules_tired(subject, 1) ||
            (phi__rules_calls(c, &all[i]) && phi__rules_named(&all[i], names)))
            return true;
    return false;
}

/* The same of a command and those in its substitutions. */
static bool phi__rules_prints(phi__rules_subject *subject, const char *names, size_t index) {
    const phi__shell_command *c = &subject->shell->commands[index];
    size_t i;
    if (phi__rules_runs(subject, names, index)) return true;
    for (i = c->inner_from; i < c->inner_to; i++)
        if (phi__rules_runs(subject, names, i)) return true;
    return false;
}

/* What such a program prints comes to the command at `index`. */
static bool phi__rules_piped_to(phi__rules_subject *subject, const phi_permission_rule *rule,
                                size_t index) {
    const phi__shell_command *all = subject->shell->commands, *c = &all[index];
    size_t i;
    for (i = c->inner_from; i < c->inner_to; i++)
        if (phi__rules_runs(subject, rule->piped, i)) return true;
    if (c->fed > 0 && phi__rules_prints(subject, rule->piped, c->fed - 1)) return true;
    for (i = 0; c->reads && i < subject->shell->count; i++) {
        if (c->input != NULL && all[i].body == c->input && phi__rules_runs(subject, rule->piped, i))
            return true;
        if (i == index || all[i].pipe_from != c->pipe_from) continue;
        if (phi__rules_prints(subject, rule->piped, i) || phi__rules_tired(subject, all[i].count))
            return true;
    }
    return false;
}

/* It comes by a pipe, a substitution or a here-document: to it, or to who calls its function. */
static bool phi__rules_piped(phi__rules_subject *subject, const phi_permission_rule *rule) {
    const phi__shell_command *all = subject->shell->commands;
    size_t i;
    if (phi__rules_piped_to(subject, rule, subject->index)) return true;
    for (i = 0; subject->command->function.len > 0 && i < subject->shell->count; i++)
        if (phi__rules_calls(&all[i], subject->command) && phi__rules_piped_to(subject, rule, i))
            return true;
    return false;
}

/* ---- hosts ---- */

static bool phi__rules_host(phi__rules_subject *subject, const phi_permission_rule *rule) {
    /* a tool heeds one of them, and the other may be a decoy */
    static const char *const names[] = {"url", "uri"};
    const phi__shell_command *c = subject->command;
    size_t i, urls = 0, good = 0;
    for (i = 0; c == NULL && i < PHI__COUNT(names); i++) {
        const phi_json *url = phi_json_get(subject->root, names[i]);
        if (url == NULL) continue;
        urls++;
        good += phi__hosts_url(subject, rule, phi_json_str(url, ""));
    }
    for (i = 1; c != NULL && i < c->count; i++) {
        bool plain = phi__str_find(c->words[i].text, 0, "://") == SIZE_MAX;
        if (plain && (c->words[i].known && phi__str_starts(c->words[i].text, "-"))) continue;
        urls++;
        good += (c->words[i].known || !phi__rules_allows(rule)) &&
                phi__hosts_url(subject, rule, c->words[i].text);
    }
    return phi__rules_allows(rule) ? urls > 0 && good == urls : good > 0;
}

/* ---- arguments of tools ---- */

static const char *const phi__rules_path_names[] = {"path", "file_path", "file", "filename",
                                                    "directory"};

PHI__FN phi_str phi__rules_path_of(const phi_json *root) {
    size_t i;
    for (i = 0; i < PHI__COUNT(phi__rules_path_names); i++) {
        const phi_json *member = phi_json_get(root, phi__rules_path_names[i]);
        if (phi_json_is(member, PHI_JSON_STRING)) return phi_json_str(member, "");
    }
    return phi__str(NULL, 0);
}

/* Each member that may be the path: a tool heeds one of them, and others may be a decoy. */
static bool phi__rules_tool_paths(phi__rules_subject *subject, const phi_permission_rule *rule,
                                  bool *found) {
    bool allows = phi__rules_allows(rule), matches = allows;
    size_t i;
    *found = false;
    for (i = 0; i < PHI__COUNT(phi__rules_path_names); i++) {
        const phi_json *member = phi_json_get(subject->root, phi__rules_path_names[i]);
        if (!phi_json_is(member, PHI_JSON_STRING)) continue;
        *found = true;
        if (phi__paths_text(subject, rule, phi_json_str(member, "")) != allows) matches = !allows;
    }
    return *found && matches;
}

/* Whether a search looks at a file of the rule: below its directory, by a choice of its pattern. */
static bool phi__rules_choice(phi__rules_subject *subject, const phi_permission_rule *rule,
                              const phi__shell_word *dir, phi_str choice, bool all) {
    const phi_json *pattern = phi_json_get(subject->root, "pattern");
    phi__shell_word word;
    phi__buf text;
    bool matches;
    memset(&word, 0, sizeof word);
    phi__buf_init(&text, subject->memory);
    phi__buf_add_str(&text, dir->text);
    phi__buf_text(&text, "/**");
    phi__reads_put(&text, choice);
    word.text = phi__buf_str(&text);
    if (all) word.hidden = PHI__WILDCARD_LEFT_OUT;
    word.below = all && !phi__reads_hidden(dir) && !phi__reads_dumps(phi_json_str(pattern, ""));
    matches = phi__paths_word(subject, rule, &word);
    if (text.failed) subject->lost = true;
    phi__buf_free(&text);
    return matches;
}

/* The files that a search looks at: those of its pattern, or all in its directory. */
static bool phi__rules_searched(phi__rules_subject *subject, const phi_permission_rule *rule) {
    phi_str include = phi_json_str(phi_json_get(subject->root, "include"), "");
    phi_str path = phi__rules_path_of(subject->root);
    bool matches = false, narrow = phi__reads_narrows(include);
    phi__shell_word dir;
    phi__buf choices;
    size_t at = 0;
    if (phi__rules_allows(rule) || (!narrow && !phi__str_is(subject->tool, "search"))) return false;
    memset(&dir, 0, sizeof dir);
    dir.text = path.len > 0 ? path : PHI__LIT(".");
    dir.known = true;
    if (!narrow) return phi__rules_choice(subject, rule, &dir, phi__str("", 0), true);
    phi__buf_init(&choices, subject->memory);
    if (phi__glob_expand(&choices, include) != NULL)
        matches = phi__rules_choice(subject, rule, &dir, PHI__LIT("*"), false);
    for (; !choices.failed && at < choices.len && !matches; at += strlen(choices.at + at) + 1)
        matches = phi__rules_choice(subject, rule, &dir, phi_str_of(choices.at + at), false);
    if (choices.failed) subject->lost = true;
    phi__buf_free(&choices);
    return matches;
}

static bool phi__rules_tool_path(phi__rules_subject *subject, const phi_permission_rule *rule) {
    phi_str path = phi__rules_path_of(subject->root);
    bool found, matches = phi__rules_tool_paths(subject, rule, &found);
    bool any = rule->argument == NULL || rule->matches != NULL;
    if (any && !phi__rules_allows(rule) && !phi__rules_own(subject->shell_tools, subject->tool))
        return phi__paths_arguments(subject, rule, subject->root, 0);
    if (found && any) return matches;
    if (rule->argument != NULL && rule->matches == NULL)
        path = phi_json_str(phi_json_get(subject->root, rule->argument), "");
    /* these two look at the workspace where they are given no path */
    if (path.at == NULL &&
        (phi__str_is(subject->tool, "list_files") || phi__str_is(subject->tool, "search")))
        path = PHI__LIT(".");
    return path.at != NULL && phi__paths_text(subject, rule, path);
}

static bool phi__rules_argument(const phi__rules_subject *subject,
                                const phi_permission_rule *rule) {
    const phi_json *member;
    if (rule->argument == NULL) return phi__rules_any(rule->matches, subject->arguments);
    member = phi_json_get(subject->root, rule->argument);
    return phi_json_is(member, PHI_JSON_STRING) &&
           phi__rules_any(rule->matches, phi_json_str(member, ""));
}

/* ---- rules ---- */

/* It restricts commands: their words, or what they work on. */
static bool phi__rules_narrow(const phi_permission_rule *rule) {
    return (rule->command != NULL && strcmp(rule->command, "*") != 0) || rule->with != NULL ||
           rule->without != NULL || rule->piped != NULL || rule->path != NULL ||
           rule->host != NULL || rule->options != NULL;
}

static bool phi__rules_file(phi__rules_subject *subject, const phi_permission_rule *rule) {
    static const char *const tools[] = {"read_file", "write_file"};
    const char *tool = tools[subject->writes ? 1 : 0];
    if (!phi__rules_narrow(rule) &&
        (rule->tool == NULL || phi__rules_any(rule->tool, subject->tool)))
        return rule->matches == NULL || phi__rules_argument(subject, rule);
    if (rule->command != NULL || rule->with != NULL || rule->without != NULL ||
        rule->piped != NULL || rule->host != NULL || rule->matches != NULL || rule->options != NULL)
        return false;
    if (rule->tool != NULL && !phi__rules_any(rule->tool, phi_str_of(tool)) &&
        (phi__rules_allows(rule) || rule->path == NULL ||
         !phi__rules_any(rule->tool, subject->tool)))
        return false;
    if (rule->path == NULL) return true;
    if (phi__rules_allows(rule) && !subject->path.known) return false;
    return phi__paths_word(subject, rule, &subject->path);
}

PHI__FN bool phi__rules_moved(const phi__rules_subject *subject, bool path) {
    const phi__shell_command *c = subject->command;
    if (c->count == 0 || (c->dirs == NULL && !subject->shell->lost && !subject->shell->moved))
        return false;
    return path ? !phi__names_plain(c->words[0].text) : !phi__names_prints(c->words[0].text);
}

static bool phi__rules_command(phi__rules_subject *subject, const phi_permission_rule *rule) {
    const phi__shell_command *c = subject->command;
    if (phi__rules_allows(rule) && phi__rules_narrow(rule) &&
        phi__rules_moved(subject, rule->path != NULL))
        return false;
    if (rule->command != NULL && !phi__rules_words(subject, rule)) return false;
    if (rule->with != NULL && !phi__rules_with(c, rule)) return false;
    if (rule->without != NULL && !phi__rules_without(c, rule)) return false;
    if (rule->options != NULL && !phi__options_named(c, rule->options)) return false;
    if (rule->piped != NULL && !phi__rules_piped(subject, rule)) return false;
    if (rule->path != NULL && !phi__paths_command(subject, rule)) return false;
    return rule->host == NULL || phi__rules_host(subject, rule);
}

PHI__FN bool phi__rules_own(const char *shell_tools, phi_str tool) {
    return phi__rules_any("read_file|write_file|edit_file|list_files|search|bash", tool) ||
           phi__rules_any(shell_tools, tool);
}

static bool phi__rules_source(const phi__rules_subject *subject, const phi_permission_rule *rule) {
    if (rule->source != NULL) return phi__rules_any(rule->source, subject->source);
    if (subject->source.len == 0 || !phi__rules_allows(rule) || rule->tool == NULL) return true;
    return !phi__rules_own(subject->shell_tools, subject->tool);
}

static bool phi__rules_match(phi__rules_subject *subject, const phi_permission_rule *rule) {
    if (!phi__rules_source(subject, rule)) return false;
    if (subject->file) return phi__rules_file(subject, rule);
    if (rule->tool != NULL && !phi__rules_any(rule->tool, subject->tool)) return false;
    if (rule->matches != NULL && !phi__rules_argument(subject, rule)) return false;
    if (subject->line) return !phi__rules_narrow(rule);
    if (subject->command != NULL) return phi__rules_command(subject, rule);
    if (rule->command != NULL || rule->with != NULL || rule->without != NULL ||
        rule->piped != NULL || rule->options != NULL)
        return false;
    if (rule->path != NULL && !phi__rules_tool_path(subject, rule) &&
        !phi__rules_searched(subject, rule))
        return false;
    return rule->host == NULL || phi__rules_host(subject, rule);
}

/* ---- for other files ---- */

/* It allows one very call: a person has seen all of it, so that no rule needs to ask. */
static bool phi__rules_one_call(const phi_permission_rule *rule) {
    return phi__rules_allows(rule) && !phi__rules_narrow(rule) && rule->argument == NULL &&
           rule->matches != NULL && phi__wildcard_literal(phi_str_of(rule->matches)) &&
           rule->tool != NULL && phi__wildcard_literal(phi_str_of(rule->tool));
}

/* Whether the first word, of which a part is an expansion or a pattern, may be one of these
   names. */
static bool phi__rules_partly(phi__rules_subject *subject, phi_str names,
                              const phi__shell_command *c) {
    size_t begin, end, i = 0;
    phi_str name = phi__rules_name(c, true);
    while (i < name.len && !phi__rules_letter(name.at[i])) i++;
    return i < name.len &&
           (phi__rules_certain(name, &begin, &end) || phi__str_find(name, 0, "$") == SIZE_MAX) &&
           phi__rules_word(subject, names, name, &c->words[0]);
}

/* Whether a rule matches the words of a command from a later one on, which a program may run that
   is not known to. */
static bool phi__rules_later(phi__rules_subject *subject, const phi_permission_rule *rule) {
    const phi__shell_command *c = subject->command;
    phi_str rest = phi_str_of(rule->command), name;
    phi__shell_command part;
    bool matches = false;
    size_t i, from;
    if (c == NULL || subject->file || subject->line || c->quiet || c->count == 0 ||
        !phi__wildcard_word(&rest, &name) || phi__str_is(name, "*"))
        return false;
    from = c->sort != PHI__SHELL_SUSPECT && phi__names_tool(phi__rules_name(c, true)) ? 2 : 1;
    for (i = from; i < c->count && !matches; i++) {
        part = *c;
        part.words += i;
        part.count -= i;
        part.assigned_count = part.also_count = 0;
        if (!phi__wildcard_any(name, phi__rules_name(&part, true), false) &&
            !phi__rules_partly(subject, name, &part))
            continue;
        if (phi__rules_tired(subject, part.count)) return true;
        subject->command = &part;
        matches = phi__rules_match(subject, rule);
        subject->command = c;
    }
    return matches;
}

/* What the rule says of it. False: it does not match. A file that may be one of a rule that denies
   is asked about, and so is a command that may be run. */
static bool phi__rules_says(phi__rules_subject *subject, const phi_permission_rule *rule,
                            phi_permission *verdict) {
    bool matches;
    *verdict = rule->verdict;
    subject->may = rule->verdict == PHI_PERMISSION_ASK;
    if (phi__rules_match(subject, rule)) return true;
    if (rule->verdict == PHI_PERMISSION_ALLOW) return false;
    *verdict = PHI_PERMISSION_ASK;
    subject->may = true;
    matches = (rule->verdict == PHI_PERMISSION_DENY && phi__rules_match(subject, rule)) ||
              (rule->command != NULL && phi__rules_later(subject, rule));
    subject->may = false;
    return matches;
}

PHI__FN phi_permission phi__rules_decide(const phi_permission_rules *rules,
                                         phi__rules_subject *subject,
                                         const phi_permission_rule **which) {
    phi_permission strictest = rules->otherwise, verdict;
    bool settled = false; /* by a rule on this very call */
    size_t i;
    *which = NULL;
    for (i = 0; i < rules->count; i++) {
        const phi_permission_rule *rule = &rules->rules[i];
        bool one = phi__rules_one_call(rule);
        if (rule->verdict != PHI_PERMISSION_DENY && !one &&
            (settled || (*which != NULL && strictest == PHI_PERMISSION_ASK)))
            continue;
        if (!phi__rules_says(subject, rule, &verdict)) continue;
        if (settled && verdict != PHI_PERMISSION_DENY) continue;
        if (*which == NULL || one || verdict == PHI_PERMISSION_DENY ||
            (verdict == PHI_PERMISSION_ASK && strictest == PHI_PERMISSION_ALLOW)) {
            *which = rule;
            strictest = verdict;
        }
        settled = settled || one;
        if (verdict == PHI_PERMISSION_DENY) break;
    }
    return strictest;
}

PHI__FN bool phi__rules_restrict(const phi_permission_rules *rules,
                                 const phi__rules_subject *subject) {
    size_t i;
    for (i = 0; i < rules->count; i++) {
        const phi_permission_rule *rule = &rules->rules[i];
        if (!phi__rules_allows(rule) && phi__rules_narrow(rule) &&
            (rule->tool == NULL || phi__rules_any(rule->tool, subject->tool)))
            return true;
    }
    return false;
}
