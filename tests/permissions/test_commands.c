/* test_commands.c - the table of command lines, and what each of them is taken apart into. */
#include "permissions/permit.h"
#include "permissions/permissions.h"

#include "base/base_in.h"
#include "support/rig.h"

static const char *const names[] = {"ask", "allow", "deny"};

/* {"command": line}, with <NL> as a line's end. */
static void arguments_of(phi__buf *out, const char *line, size_t len) {
    size_t i;
    phi__buf_text(out, "{\"command\":\"");
    for (i = 0; i < len; i++) {
        if (i + 4 <= len && memcmp(line + i, "<NL>", 4) == 0) {
            phi__buf_text(out, "\\n");
            i += 3;
        } else if (line[i] == '\t') {
            phi__buf_text(out, "\\t");
        } else {
            if (line[i] == '"' || line[i] == '\\') phi__buf_char(out, '\\');
            phi__buf_char(out, line[i]);
        }
    }
    phi__buf_text(out, "\"}");
}

static void check_line(phi_permissions *permissions, const char *line, size_t len) {
    phi_memory memory;
    phi__buf arguments;
    phi_permission got;
    phi_str why;
    size_t word = 0;
    while (word < len && line[word] != ' ') word++;
    phi_memory_init(&memory, NULL, 0);
    phi__buf_init(&arguments, &memory);
    arguments_of(&arguments, line + 7, len - 7);
    got = permit_check(permissions, PHI__LIT("bash"), phi__buf_str(&arguments), &why);
    if (!CHECK(strlen(names[got]) == word && memcmp(names[got], line, word) == 0))
        printf("  %s: %.*s\n    %.*s\n", names[got], (int)len, line, (int)why.len, why.at);
    phi__buf_free(&arguments);
}

static int check_table(const char *file, phi_permission_mode mode, const char *powershell) {
    char *table = test_read_file(file, NULL), *at = table;
    phi_permissions_desc desc;
    phi_permissions *permissions;
    int lines = 0;
    if (!CHECK(table != NULL)) return 0;
    memset(&desc, 0, sizeof desc);
    desc.allocator = test_allocator();
    desc.rules = phi_permissions_mode(mode);
    desc.workspace = "/made/project";
    desc.home = "/home/ada";
    desc.powershell_tools = powershell;
    permissions = permit_new(&desc, NULL);
    if (!CHECK(permissions != NULL)) return 0;
    while (*at != '\0') {
        size_t len = strcspn(at, "\n");
        if (len > 7 && *at != '#') {
            check_line(permissions, at, len);
            lines++;
        }
        at += len + (at[len] == '\n');
    }
    printf("  %d command lines\n", lines);
    phi_permissions_free(permissions);
    free(table);
    return lines;
}

TEST(each_line_of_the_table_has_its_verdict) {
    CHECK(check_table("tests/permissions/commands.txt", PHI_PERMISSION_MODE_DEFAULT, NULL) >= 600);
}

TEST(each_line_of_powershell_has_its_verdict) {
    CHECK(check_table("tests/permissions/powershell.txt", PHI_PERMISSION_MODE_DEFAULT, "bash|x") >=
          180);
}

/* On Windows, these words are paths that begin in the root of a drive. */
TEST(a_backslash_is_a_letter_of_a_name_but_on_windows_a_slash) {
#ifdef _WIN32
    static const char verdict[] = "ask   ";
#else
    static const char verdict[] = "allow ";
#endif
    static const char *const lines[] = {"find . -name $'\\q'", "find . \"\\-delete\"",
                                        "find . $'\\\\-delete'"};
    phi_permissions_desc desc;
    phi_permissions *permissions;
    memset(&desc, 0, sizeof desc);
    desc.allocator = test_allocator();
    desc.workspace = "/made/project";
    permissions = permit_new(&desc, NULL);
    REQUIRE(permissions != NULL);
    for (size_t i = 0; i < PHI__COUNT(lines); i++) {
        char line[80];
        (void)snprintf(line, sizeof line, "%s %s", verdict, lines[i]);
        check_line(permissions, line, strlen(line));
    }
    phi_permissions_free(permissions);
}

TEST(each_line_of_the_table_of_edits_has_its_verdict) {
    CHECK(check_table("tests/permissions/edits.txt", PHI_PERMISSION_MODE_ACCEPT_EDITS, NULL) >= 80);
}

TEST(each_line_of_the_table_of_all_has_its_verdict) {
    CHECK(check_table("tests/permissions/all.txt", PHI_PERMISSION_MODE_ALL, NULL) >= 560);
}

/* Makes permissions of a mode for lines of PowerShell. */
static phi_permissions *for_powershell(phi_permission_mode mode) {
    phi_permissions_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.allocator = test_allocator();
    desc.rules = phi_permissions_mode(mode);
    desc.powershell_tools = "bash";
    return permit_new(&desc, NULL);
}

TEST(each_mode_asks_about_powershell_that_it_cannot_read_but_for_the_mode_that_denies) {
    static const phi_permission_mode modes[] = {
        PHI_PERMISSION_MODE_DEFAULT, PHI_PERMISSION_MODE_PLAN, PHI_PERMISSION_MODE_ACCEPT_EDITS,
        PHI_PERMISSION_MODE_ALL};
    static const char *const lines[] = {"{\"command\":\"Remove-Item x\"}",
                                        "{\"command\":\"ls | % { $_ }\"}",
                                        "{\"command\":\"mkdir x\"}"};
    for (size_t i = 0; i < PHI__COUNT(modes); i++) {
        phi_permissions *permissions = for_powershell(modes[i]);
        phi_permission want =
            modes[i] == PHI_PERMISSION_MODE_PLAN ? PHI_PERMISSION_DENY : PHI_PERMISSION_ASK;
        REQUIRE(permissions != NULL);
        for (size_t k = 0; k < PHI__COUNT(lines); k++)
            CHECK_EQ_INT(permit_check(permissions, PHI__LIT("bash"), phi_str_of(lines[k]), NULL),
                         want);
        CHECK_EQ_INT(permit_check(permissions, PHI__LIT("bash"),
                                  PHI__LIT("{\"command\":\"gci src\"}"), NULL),
                     PHI_PERMISSION_ALLOW);
        phi_permissions_free(permissions);
    }
}

TEST(a_line_of_powershell_is_named_in_full_and_its_reason_says_what_it_is) {
    phi_permissions *permissions = for_powershell(PHI_PERMISSION_MODE_DEFAULT);
    phi_permission_rules rules;
    phi_memory memory;
    phi_arena arena;
    phi_str why;
    REQUIRE(permissions != NULL);
    (void)permit_check(permissions, PHI__LIT("bash"), PHI__LIT("{\"command\":\"cat .\\\\.env\"}"),
                       &why);
    CHECK_STR(why, "to be approved: `Get-Content ./.env`: it may hold secrets");
    (void)permit_check(permissions, PHI__LIT("bash"), PHI__LIT("{\"command\":\"rm x\"}"), &why);
    CHECK_STR(why, "to be approved: a command line that cannot be read with certainty (PowerShell, "
                   "and more than plain commands that read): no rule allows it");
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(permit_always(permissions, PHI__LIT("bash"), PHI__LIT("{\"command\":\"rm x\"}"),
                               PHI_PERMISSION_SCOPE_EXACT, &arena, &rules, NULL),
                 PHI_REJECTED);
    CHECK_EQ_INT(permit_always(permissions, PHI__LIT("bash"),
                               PHI__LIT("{\"command\":\"git fetch origin\"}"),
                               PHI_PERMISSION_SCOPE_EXACT, &arena, &rules, NULL),
                 PHI_OK);
    if (CHECK_EQ_INT(rules.count, 1)) CHECK_EQ_STR(rules.rules[0].command, "git fetch origin");
    phi_arena_free(&arena);
    phi_permissions_free(permissions);
}

TEST(reading_powershell_survives_every_failed_allocation) {
    phi_permissions *permissions = for_powershell(PHI_PERMISSION_MODE_DEFAULT);
    bool tripped = true;
    int n;
    REQUIRE(permissions != NULL);
    for (n = 0; tripped && n < 500; n++) {
        test_alloc_fail_at(n);
        phi_permission got =
            permit_check(permissions, PHI__LIT("bash"),
                         PHI__LIT("{\"command\":\"ls src | select Name; git log -n 3\"}"), NULL);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK(got == PHI_PERMISSION_ALLOW || (tripped && got == PHI_PERMISSION_ASK));
    }
    CHECK(!tripped);
    phi_permissions_free(permissions);
}

/* The verdict on a line where one rule is about pushes, and all else has the verdict `otherwise`. */
static phi_permission of_pushes(phi_permission verdict, phi_permission otherwise,
                                const char *line) {
    phi_permission_rule rule;
    phi_permission_rules rules;
    phi_permissions_desc desc;
    phi_permissions *permissions;
    phi_permission got;
    phi_memory memory;
    phi__buf text;
    memset(&rule, 0, sizeof rule);
    memset(&rules, 0, sizeof rules);
    memset(&desc, 0, sizeof desc);
    rule.verdict = verdict;
    rule.tool = "bash";
    rule.command = "git push *";
    rules.rules = &rule;
    rules.count = 1;
    rules.otherwise = otherwise;
    desc.rules = &rules;
    phi_memory_init(&memory, NULL, 0);
    phi__buf_init(&text, &memory);
    permissions = permit_new(&desc, NULL);
    arguments_of(&text, line, strlen(line));
    got = permit_check(permissions, PHI__LIT("bash"), phi__buf_str(&text), NULL);
    phi__buf_free(&text);
    phi_permissions_free(permissions);
    return got;
}

static const char *const asked_pushes[] = {"timeout --foreground 5 git push",
                                           "env -S 'git push'",
                                           "flock f git -C x push",
                                           "git pus[h]",
                                           "git -c alias.p=push p",
                                           "git config --global Alias.p 'push origin'",
                                           "echo push origin | xargs -n9 git",
                                           "xargs git <<< push",
                                           "echo push | xargs -I % git % origin",
                                           "bash -c '\"$@\"' _ git push",
                                           "g?t push",
                                           "ssh h 'cd x; git push'",
                                           "python3 -c 'os.system(\"git push\")'",
                                           "x='git push'; $x",
                                           "git config alias.p '!git push'",
                                           "echo git push | sh",
                                           "make -f - <<< 'a:;git push'",
                                           "echo git push | flock f sh",
                                           "echo git push | env -S sh",
                                           "env -Sgit\\ push",
                                           "env -v --split-string=git\\ push",
                                           "env g?t push",
                                           "command g$@it push",
                                           "setsid $@{git,push}",
                                           "bash <<< 'git push$@'",
                                           "sh -c '$0 push' 'git push '",
                                           "find . $@-exec git push {} +"};

TEST(a_rule_that_denies_a_command_finds_it_behind_options_and_programs) {
    static const char *const denied[] = {"git push",
                                         "git -C . push origin",
                                         "git --no-pager -c a=b push",
                                         "git {push,origin}",
                                         "{git,} push",
                                         "sh <<E<NL>gi\\t push<NL>E",
                                         "cd x && /usr/bin/git push"};
    static const char *const allowed[] = {"git commit -m 'git push is next'",
                                          "git log --grep push",
                                          "echo git push",
                                          "git status push",
                                          "man git push",
                                          "git checkout push",
                                          "echo push | xargs grep git",
                                          "git config alias.p pull"};
    size_t i;
    for (i = 0; i < PHI__COUNT(denied); i++)
        if (!CHECK_EQ_INT(of_pushes(PHI_PERMISSION_DENY, PHI_PERMISSION_ALLOW, denied[i]),
                          PHI_PERMISSION_DENY))
            printf("  %s\n", denied[i]);
    for (i = 0; i < PHI__COUNT(asked_pushes); i++) {
        if (!CHECK_EQ_INT(of_pushes(PHI_PERMISSION_DENY, PHI_PERMISSION_ALLOW, asked_pushes[i]),
                          PHI_PERMISSION_ASK))
            printf("  %s\n", asked_pushes[i]);
        CHECK(of_pushes(PHI_PERMISSION_ALLOW, PHI_PERMISSION_DENY, asked_pushes[i]) !=
              PHI_PERMISSION_ALLOW);
    }
    for (i = 0; i < PHI__COUNT(allowed); i++)
        if (!CHECK_EQ_INT(of_pushes(PHI_PERMISSION_DENY, PHI_PERMISSION_ALLOW, allowed[i]),
                          PHI_PERMISSION_ALLOW))
            printf("  %s\n", allowed[i]);
    for (i = 1; i < 4; i++)
        CHECK(of_pushes(PHI_PERMISSION_ALLOW, PHI_PERMISSION_ASK, denied[i]) == PHI_PERMISSION_ASK);
}

/* The verdict on `other` after the rules on `line` were added. *made: there are such rules. */
static phi_permission after(phi_permission_scope scope, const char *line, size_t len,
                            const char *other, size_t other_len, bool *made) {
    phi_permissions_desc desc;
    phi_permissions *permissions;
    phi_permission_rules rules;
    phi_permission verdict;
    phi_memory memory;
    phi_arena arena;
    phi__buf text;
    memset(&desc, 0, sizeof desc);
    desc.workspace = "/made/project";
    desc.home = "/home/ada";
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    phi__buf_init(&text, &memory);
    permissions = permit_new(&desc, NULL);
    arguments_of(&text, line, len);
    *made = permit_always(permissions, PHI__LIT("bash"), phi__buf_str(&text), scope, &arena, &rules,
                          NULL) == PHI_OK;
    if (*made) CHECK_EQ_INT(phi_permissions_add(permissions, rules.rules, rules.count), PHI_OK);
    phi__buf_clear(&text);
    arguments_of(&text, other, other_len);
    verdict = permit_check(permissions, PHI__LIT("bash"), phi__buf_str(&text), NULL);
    phi__buf_free(&text);
    phi_arena_free(&arena);
    phi_permissions_free(permissions);
    return verdict;
}

TEST(what_always_proposes_allows_no_line_that_was_not_seen) {
    char *table = test_read_file("tests/permissions/always.txt", NULL), *at = table;
    int pairs = 0;
    REQUIRE(table != NULL);
    while (*at != '\0') {
        size_t len = strcspn(at, "\n");
        const char *arrow = strstr(at, " => ");
        if (len > 5 && *at != '#' && CHECK(arrow != NULL && arrow < at + len)) {
            const char *line = at + 5, *other = arrow + 4;
            bool made;
            phi_permission got = after(PHI_PERMISSION_SCOPE_KIND, line, (size_t)(arrow - line),
                                       other, (size_t)(at + len - other), &made);
            if (!CHECK((got == PHI_PERMISSION_ALLOW) == (*at == 'y')))
                printf("  %s: %.*s\n", names[got], (int)len, at);
            pairs++;
        }
        at += len + (at[len] == '\n');
    }
    printf("  %d pairs\n", pairs);
    CHECK(pairs >= 130);
    free(table);
}

TEST(what_always_proposes_allows_its_own_line) {
    char *table = test_read_file("tests/permissions/commands.txt", NULL), *at = table;
    int scope, proposals = 0;
    REQUIRE(table != NULL);
    while (*at != '\0') {
        size_t len = strcspn(at, "\n");
        for (scope = 0; scope < 2 && len > 7 && *at != '#'; scope++) {
            bool made;
            phi_permission got =
                after((phi_permission_scope)scope, at + 7, len - 7, at + 7, len - 7, &made);
            if (made && !CHECK_EQ_INT(got, PHI_PERMISSION_ALLOW))
                printf("  %d: %.*s\n", scope, (int)len, at);
            if (made && *at == 'd') CHECK(!"a denied line has no rule");
            proposals += made ? 1 : 0;
        }
        at += len + (at[len] == '\n');
    }
    CHECK(proposals > 400);
    free(table);
}

TEST(a_search_is_asked_about_when_its_pattern_of_files_finds_secrets) {
    static const char *const asked[] = {"{\"pattern\":\".\",\"include\":\".env\"}",
                                        "{\"pattern\":\".\",\"include\":\".e*\"}",
                                        "{\"pattern\":\".\",\"include\":\"*.pem\"}",
                                        "{\"pattern\":\".\",\"path\":\"a\",\"include\":\".npmrc\"}",
                                        "{\"pattern\":\"foo\",\"include\":\"*env\"}",
                                        "{\"pattern\":\"foo\",\"include\":\"*\"}",
                                        "{\"pattern\":\"foo\",\"include\":\"[.]e*\"}",
                                        "{\"pattern\":\".\"}",
                                        "{\"pattern\":\".\",\"include\":\"!x\"}",
                                        "{\"pattern\":\".\",\"include\":\".{e,x}nv\"}",
                                        "{\"pattern\":\"x\",\"include\":\"sub/?env\"}",
                                        "{\"pattern\":\"x\",\"include\":\"{a\"}",
                                        "{\"pattern\":\".\",\"include\":\"\"}",
                                        "{\"pattern\":\"x\",\"path\":\".git\",\"include\":\"!x\"}",
                                        "{\"pattern\":\"\",\"path\":\"src\"}",
                                        "{\"pattern\":\"BEGIN\"}",
                                        "{\"pattern\":\"token\",\"path\":\".git\"}",
                                        "{\"pattern\":\"url\",\"path\":\".git/config\"}"};
    static const char *const allowed[] = {
        "{\"pattern\":\".\",\"include\":\"*.c\"}", "{\"pattern\":\"foo\"}",
        "{\"pattern\":\"foo\",\"include\":\"!*.c\"}", "{\"pattern\":\".\",\"include\":\"*.{c,h}\"}",
        "{\"pattern\":\"foo|bar\",\"path\":\"src\"}"};
    phi_permissions_desc desc;
    phi_permissions *permissions;
    size_t i;
    memset(&desc, 0, sizeof desc);
    desc.workspace = "/made/project";
    desc.home = "/home/ada";
    permissions = permit_new(&desc, NULL);
    for (i = 0; i < PHI__COUNT(asked); i++)
        CHECK_EQ_INT(permit_check(permissions, PHI__LIT("search"), phi_str_of(asked[i]), NULL),
                     PHI_PERMISSION_ASK);
    for (i = 0; i < PHI__COUNT(allowed); i++)
        CHECK_EQ_INT(permit_check(permissions, PHI__LIT("search"), phi_str_of(allowed[i]), NULL),
                     PHI_PERMISSION_ALLOW);
    phi_permissions_free(permissions);
}

TEST_MAIN(
    TEST_ENTRY(each_line_of_the_table_has_its_verdict),
    TEST_ENTRY(each_line_of_the_table_of_edits_has_its_verdict),
    TEST_ENTRY(each_line_of_the_table_of_all_has_its_verdict),
    TEST_ENTRY(a_backslash_is_a_letter_of_a_name_but_on_windows_a_slash),
    TEST_ENTRY(each_line_of_powershell_has_its_verdict),
    TEST_ENTRY(each_mode_asks_about_powershell_that_it_cannot_read_but_for_the_mode_that_denies),
    TEST_ENTRY(a_line_of_powershell_is_named_in_full_and_its_reason_says_what_it_is),
    TEST_ENTRY(reading_powershell_survives_every_failed_allocation),
    TEST_ENTRY(a_rule_that_denies_a_command_finds_it_behind_options_and_programs),
    TEST_ENTRY(what_always_proposes_allows_no_line_that_was_not_seen),
    TEST_ENTRY(what_always_proposes_allows_its_own_line),
    TEST_ENTRY(a_search_is_asked_about_when_its_pattern_of_files_finds_secrets))
