/* test_permissions.c - rules on tools, files and hosts; the hook in runs; "always allow this"; rules
   as JSON; and what happens without memory, or while a question waits. */
#include "permissions/permit.h"
#include "permissions/permissions.h"

#include "agent/snapshot.h"
#include "support/rig.h"
#include "agent/agent_history.h"
#include "log/thread.h"

static phi_permissions *make(const phi_permission_rules *rules) {
    phi_permissions_desc desc;
    phi_permissions *p;
    memset(&desc, 0, sizeof desc);
    desc.allocator = test_allocator();
    desc.rules = rules;
    desc.workspace = "/made/project";
    desc.home = "/home/ada";
    p = permit_new(&desc, NULL);
    CHECK(p != NULL);
    return p;
}

static phi_permission check(phi_permissions *p, const char *tool, const char *arguments) {
    return permit_check(p, phi_str_of(tool), phi_str_of(arguments), NULL);
}

static phi_permission by(const phi_permission_rule *rules, size_t count, const char *tool,
                         const char *arguments) {
    phi_permission_rules all;
    phi_permissions *p;
    phi_permission verdict;
    memset(&all, 0, sizeof all);
    all.rules = rules;
    all.count = count;
    p = make(&all);
    verdict = check(p, tool, arguments);
    phi_permissions_free(p);
    return verdict;
}

#define ALLOW PHI_PERMISSION_ALLOW
#define ASK PHI_PERMISSION_ASK
#define DENY PHI_PERMISSION_DENY

/* ---- rules ---- */

TEST(deny_counts_before_ask_and_ask_before_allow_in_any_order) {
    phi_permission_rule rules[3];
    memset(rules, 0, sizeof rules);
    rules[0].verdict = ALLOW;
    CHECK_EQ_INT(by(rules, 0, "x", "{}"), ASK);
    CHECK_EQ_INT(by(rules, 1, "x", "{}"), ALLOW);
    rules[1].verdict = ASK;
    CHECK_EQ_INT(by(rules, 2, "x", "{}"), ASK);
    rules[2].verdict = DENY;
    CHECK_EQ_INT(by(rules, 3, "x", "{}"), DENY);
    rules[2].verdict = ALLOW;
    rules[0].verdict = DENY;
    CHECK_EQ_INT(by(rules, 3, "x", "{}"), DENY);
}

TEST(tools_match_by_name_with_wildcards_and_alternatives) {
    phi_permission_rule rule;
    memset(&rule, 0, sizeof rule);
    rule.verdict = ALLOW;
    rule.tool = "a|mcp_*_read|t[0-9]|x?";
    CHECK_EQ_INT(by(&rule, 1, "a", "{}"), ALLOW);
    CHECK_EQ_INT(by(&rule, 1, "mcp_git_read", "{}"), ALLOW);
    CHECK_EQ_INT(by(&rule, 1, "t7", "{}"), ALLOW);
    CHECK_EQ_INT(by(&rule, 1, "xy", "{}"), ALLOW);
    CHECK_EQ_INT(by(&rule, 1, "xyz", "{}"), ASK);
    CHECK_EQ_INT(by(&rule, 1, "mcp_git_write", "{}"), ASK);
    CHECK_EQ_INT(by(&rule, 1, "", "{}"), ASK);
    CHECK_EQ_INT(by(&rule, 1, "t-", "{}"), ASK);
    rule.tool = "x[]]|y[!]a]";
    CHECK_EQ_INT(by(&rule, 1, "x]", "{}"), ALLOW);
    CHECK_EQ_INT(by(&rule, 1, "yb", "{}"), ALLOW);
    CHECK_EQ_INT(by(&rule, 1, "y]", "{}"), ASK);
}

TEST(files_match_by_path_inside_and_outside_of_the_workspace) {
    phi_permission_rule rule;
    memset(&rule, 0, sizeof rule);
    rule.verdict = ALLOW;
    rule.path = "./**";
    CHECK_EQ_INT(by(&rule, 1, "read_file", "{\"path\":\"a/b\"}"), ALLOW);
    CHECK_EQ_INT(by(&rule, 1, "read_file", "{\"path\":\".\"}"), ALLOW);
    CHECK_EQ_INT(by(&rule, 1, "read_file", "{\"path\":\"/made/project/a\"}"), ALLOW);
    CHECK_EQ_INT(by(&rule, 1, "read_file", "{\"path\":\"a/../../project/b\"}"), ALLOW);
    CHECK_EQ_INT(by(&rule, 1, "read_file", "{\"path\":\"../x\"}"), ASK);
    CHECK_EQ_INT(by(&rule, 1, "read_file", "{\"path\":\"/made/projects\"}"), ASK);
    CHECK_EQ_INT(by(&rule, 1, "read_file", "{\"path\":\"~/x\"}"), ASK);
    CHECK_EQ_INT(by(&rule, 1, "read_file", "{}"), ASK);
    CHECK_EQ_INT(by(&rule, 1, "read_file", "nonsense"), ASK);
    CHECK_EQ_INT(by(&rule, 1, "list_files", "{}"), ALLOW);
    rule.path = "!./**";
    CHECK_EQ_INT(by(&rule, 1, "read_file", "{\"path\":\"a\"}"), ASK);
    CHECK_EQ_INT(by(&rule, 1, "read_file", "{\"path\":\"../x\"}"), ALLOW);
    rule.path = "/**";
    CHECK_EQ_INT(by(&rule, 1, "read_file", "{\"path\":\"/\"}"), ALLOW);
    rule.path = "docs/README*";
    CHECK_EQ_INT(by(&rule, 1, "read_file", "{\"path\":\"docs/README.md\"}"), ALLOW);
    rule.path = "src/*.c|~/notes/**";
    CHECK_EQ_INT(by(&rule, 1, "read_file", "{\"path\":\"src/a.c\"}"), ALLOW);
    CHECK_EQ_INT(by(&rule, 1, "read_file", "{\"path\":\"src/b/a.c\"}"), ASK);
    CHECK_EQ_INT(by(&rule, 1, "read_file", "{\"path\":\"/home/ada/notes/a/b\"}"), ALLOW);
    rule.verdict = DENY;
    rule.path = "**/.env";
    rule.path = "**/.ENV";
    CHECK_EQ_INT(by(&rule, 1, "write_file", "{\"path\":\"a/.env\"}"), DENY);
    rule.path = "**/.env";
    CHECK_EQ_INT(by(&rule, 1, "write_file", "{\"path\":\"a/.env\"}"), DENY);
    CHECK_EQ_INT(by(&rule, 1, "bash", "{\"command\":\"cat a/.env\"}"), DENY);
    CHECK_EQ_INT(by(&rule, 1, "bash", "{\"command\":\"x --file=.env\"}"), DENY);
    CHECK_EQ_INT(by(&rule, 1, "bash", "{\"command\":\"F=.env; x $F\"}"), DENY);
    CHECK_EQ_INT(by(&rule, 1, "bash", "{\"command\":\"x < .env\"}"), DENY);
}

TEST(paths_that_no_file_has_are_never_allowed_and_always_denied) {
    phi_permission_rule rule;
    char arguments[6000];
    size_t i, at = (size_t)snprintf(arguments, sizeof arguments, "{\"path\":\"");
    for (i = 0; i < 4096; i++) arguments[at++] = 'a';
    (void)snprintf(arguments + at, sizeof arguments - at, "\"}");
    memset(&rule, 0, sizeof rule);
    rule.verdict = ALLOW;
    rule.path = "./**";
    CHECK_EQ_INT(by(&rule, 1, "read_file", arguments), ASK);
    rule.verdict = DENY;
    rule.path = "x";
    CHECK_EQ_INT(by(&rule, 1, "read_file", arguments), DENY);
}

static phi_permission from(phi_permissions *p, const char *source, const char *tool,
                           const char *arguments) {
    return permit_check_from(p, phi_str_of(source), phi_str_of(tool), phi_str_of(arguments), NULL);
}

TEST(a_servers_tool_with_the_name_of_a_built_in_one_is_not_judged_by_its_rules) {
    phi_permission_rule rules[3];
    phi_permissions *p = make(NULL);
    CHECK_EQ_INT(from(p, "", "read_file", "{\"path\":\"a\"}"), ALLOW);
    CHECK_EQ_INT(from(p, "files", "read_file", "{\"path\":\"a\"}"), ASK);
    CHECK_EQ_INT(from(p, "files", "search", "{}"), ASK);
    CHECK_EQ_INT(from(p, "files", "bash", "{\"command\":\"ls\"}"), ASK);
    CHECK_EQ_INT(from(p, "files", "read_file", "{\"path\":\"~/.ssh/id_rsa\"}"), DENY);
    memset(rules, 0, sizeof rules);
    rules[0].verdict = rules[1].verdict = rules[2].verdict = ALLOW;
    rules[0].tool = "files_*";
    rules[1].tool = "read_file";
    rules[1].source = "files|more";
    rules[2].tool = "write_file";
    rules[2].source = "";
    CHECK_EQ_INT(phi_permissions_add(p, rules, 3), PHI_OK);
    CHECK_EQ_INT(from(p, "files", "files_read", "{}"), ALLOW);
    CHECK_EQ_INT(from(p, "files", "read_file", "{}"), ALLOW);
    CHECK_EQ_INT(from(p, "other", "read_file", "{}"), ASK);
    CHECK_EQ_INT(from(p, "", "write_file", "{}"), ALLOW);
    CHECK_EQ_INT(from(p, "files", "write_file", "{}"), ASK);
    CHECK_EQ_INT(phi_permissions_set(p, phi_permissions_mode(PHI_PERMISSION_MODE_ALL)), PHI_OK);
    CHECK_EQ_INT(from(p, "files", "read_file", "{}"), ALLOW);
    phi_permissions_free(p);
}

TEST(files_that_the_host_runs_are_written_only_after_a_question_in_every_mode) {
    static const char *const paths[] = {"guard.sh", "/made/project/tools/[x].py",
                                        "/home/ada/phi.toml", NULL};
    static const phi_permission_mode modes[] = {
        PHI_PERMISSION_MODE_DEFAULT, PHI_PERMISSION_MODE_ACCEPT_EDITS, PHI_PERMISSION_MODE_ALL};
    static const char *const commands[] = {"cp a guard.sh",
                                           "mv a ./guard.sh",
                                           "cp a/guard.sh .",
                                           "cp a tools",
                                           "mv tools old",
                                           "echo x > guard.sh",
                                           "tee guard.sh",
                                           "sed -i 1d guard.sh",
                                           "rm guard.sh",
                                           "cp a guard.s?",
                                           "cp -ta guard.sh",
                                           "chmod +x tools/[[]x].py",
                                           "unlink guard.sh",
                                           "link a guard.sh",
                                           "git rm guard.sh",
                                           "git mv guard.sh b",
                                           "git checkout guard.sh",
                                           "find tools -delete",
                                           "find guard.sh -exec rm {} +",
                                           "sort -o guard.sh a",
                                           "gzip guard.sh",
                                           "curl -o guard.sh https://e.com",
                                           "perl -pi -e 1 guard.sh"};
    phi_permissions_desc desc;
    phi_permissions *p;
    char arguments[200];
    size_t m, i;
    memset(&desc, 0, sizeof desc);
    desc.allocator = test_allocator();
    desc.workspace = "/made/project";
    desc.protected_paths = paths;
    p = permit_new(&desc, NULL);
    REQUIRE(p != NULL);
    for (m = 0; m < PHI__COUNT(modes); m++) {
        CHECK_EQ_INT(phi_permissions_set(p, phi_permissions_mode(modes[m])), PHI_OK);
        CHECK_EQ_INT(check(p, "write_file", "{\"path\":\"guard.sh\"}"), ASK);
        CHECK_EQ_INT(check(p, "edit_file", "{\"path\":\"src/../GUARD.sh\"}"), ASK);
        CHECK_EQ_INT(check(p, "write_file", "{\"path\":\"tools/[x].py\"}"), ASK);
        CHECK_EQ_INT(check(p, "write_file", "{\"path\":\"/home/ada/phi.toml\"}"), ASK);
        CHECK_EQ_INT(check(p, "read_file", "{\"path\":\"guard.sh\"}"), ALLOW);
        CHECK_EQ_INT(check(p, "bash", "{\"command\":\"cat guard.sh\"}"), ALLOW);
        for (i = 0; i < PHI__COUNT(commands); i++) {
            (void)snprintf(arguments, sizeof arguments, "{\"command\":\"%s\"}", commands[i]);
            if (!CHECK_EQ_INT(check(p, "bash", arguments), ASK)) printf("  %s\n", commands[i]);
        }
    }
    CHECK_EQ_INT(check(p, "write_file", "{\"path\":\"other.sh\"}"), ALLOW);
    {
        phi_str why;
        (void)permit_check(p, PHI__LIT("write_file"), phi_str_of("{\"path\":\"guard.sh\"}"), &why);
        CHECK_STR(why, "to be approved: write_file: this program runs it, or heeds it");
    }
    phi_permissions_free(p);
}

TEST(a_path_that_is_too_long_is_said_so_and_a_long_word_of_a_command_is_no_path) {
    phi_permissions *p = make(NULL);
    char arguments[6000];
    size_t i, at = (size_t)snprintf(arguments, sizeof arguments, "{\"file\":\"");
    phi_str why;
    for (i = 0; i < 4096; i++) arguments[at++] = 'a';
    (void)snprintf(arguments + at, sizeof arguments - at, "\"}");
    CHECK_EQ_INT(permit_check(p, PHI__LIT("read_file"), phi_str_of(arguments), &why), DENY);
    CHECK_STR(why, "denied: read_file: its path is longer than 4,095 bytes, as no file's is");
    at = (size_t)snprintf(arguments, sizeof arguments, "{\"command\":\"git commit -m ");
    for (i = 0; i < 4096; i++) arguments[at++] = 'a';
    (void)snprintf(arguments + at, sizeof arguments - at, "\"}");
    CHECK_EQ_INT(check(p, "bash", arguments), ASK);
    phi_permissions_free(p);
}

TEST(a_rule_may_name_the_argument_that_is_the_path) {
    phi_permission_rule rule;
    memset(&rule, 0, sizeof rule);
    rule.verdict = ALLOW;
    rule.argument = "dest";
    rule.path = "src/**";
    CHECK_EQ_INT(by(&rule, 1, "move", "{\"dest\":\"src/a\",\"path\":\"b\"}"), ALLOW);
    CHECK_EQ_INT(by(&rule, 1, "move", "{\"dest\":\"b\",\"path\":\"src/a\"}"), ASK);
    CHECK_EQ_INT(by(&rule, 1, "move", "{\"path\":\"src/a\"}"), ASK);
    rule.argument = NULL;
    rule.path = "/**";
    CHECK_EQ_INT(by(&rule, 1, "move", "{\"path\":\"/a\"}"), ALLOW);
    CHECK_EQ_INT(by(&rule, 1, "move", "{\"path\":\"~root/a\"}"), ASK);
    rule.command = "cat *";
    rule.path = "src/**";
    CHECK_EQ_INT(by(&rule, 1, "bash", "{\"command\":\"cat -n src/a\"}"), ALLOW);
    CHECK_EQ_INT(by(&rule, 1, "bash", "{\"command\":\"cat -n a/b\"}"), ASK);
}

TEST(what_a_program_was_told_does_not_count_for_the_next) {
    phi_permission_rule rules[2];
    memset(rules, 0, sizeof rules);
    rules[0].verdict = rules[1].verdict = ALLOW;
    rules[0].command = "env *";
    rules[1].command = "ls";
    rules[1].path = "./**";
    CHECK_EQ_INT(by(rules, 2, "bash", "{\"command\":\"env -C src ls; nice ls\"}"), ALLOW);
    CHECK_EQ_INT(by(rules + 1, 1, "bash", "{\"command\":\"env -C src ls\"}"), ASK);
}

TEST(rules_are_copied) {
    char tool[] = "one";
    phi_permission_rule rule;
    phi_permissions *p = make(NULL);
    memset(&rule, 0, sizeof rule);
    rule.verdict = DENY;
    rule.tool = tool;
    CHECK_EQ_INT(phi_permissions_add(p, &rule, 1), PHI_OK);
    tool[0] = 'x';
    CHECK_EQ_INT(check(p, "one", "{}"), DENY);
    CHECK_EQ_INT(check(p, "xne", "{}"), ASK);
    phi_permissions_free(p);
}

TEST(a_rule_on_all_of_a_shell_allows_its_redirections) {
    phi_permission_rule rules[2];
    memset(rules, 0, sizeof rules);
    rules[0].verdict = rules[1].verdict = ALLOW;
    rules[0].tool = "bash";
    CHECK_EQ_INT(by(rules, 1, "bash", "{\"command\":\"x > /etc/out\"}"), ALLOW);
    rules[0].command = "x";
    CHECK_EQ_INT(by(rules, 1, "bash", "{\"command\":\"x > /etc/out\"}"), ASK);
    rules[0].command = ":(){:[|]:&};: *"; /* the name of what calls itself in a pipe */
    rules[1].command = ":";
    CHECK_EQ_INT(by(rules, 2, "bash", "{\"command\":\":(){ :|:& };:\"}"), ALLOW);
    CHECK_EQ_INT(by(rules + 1, 1, "bash", "{\"command\":\":(){ :|:& };:\"}"), ASK);
}

static void says(phi_permissions *p, const char *line, const char *want) {
    char arguments[300];
    phi_str why;
    (void)snprintf(arguments, sizeof arguments, "{\"command\":\"%s\"}", line);
    (void)permit_check(p, PHI__LIT("bash"), phi_str_of(arguments), &why);
    CHECK_STR(why, want);
}

TEST(a_verdict_says_which_part_it_is_of_and_why) {
    phi_permission_rule rule;
    phi_permissions *p = make(NULL);
    says(p, "ls; x=1", "allowed: `ls`: it only reads");
    says(p, "ls; PATH=x", "to be approved: `PATH=x`: no rule allows it");
    says(p, "", "");
#if !defined(_WIN32) /* where it is a path */
    says(p, "ls $'x\\\\q'", "allowed: `ls x\\q`: it only reads");
#endif
    says(p, "A=(1 2)", "to be approved: `A=(1 2)`: no rule allows it");
    says(p, "x 2> f", "to be approved: `x`: no rule allows it");
    /* a substitution before any other word: found by fuzz_shell, whose sanitizers see more */
    says(
        p, "select(ls `pwd`) | x\xef\xbf\xbd",
        "to be approved: a command line that cannot be read with certainty (it is no valid command "
        "line): no rule allows it");
    says(p, "`pwd`", "to be approved: ``pwd``: no rule allows it");
    says(p, "ls < /f", "to be approved: reading /f: no rule allows it");
    memset(&rule, 0, sizeof rule);
    rule.verdict = DENY;
    CHECK_EQ_INT(phi_permissions_add(p, &rule, 1), PHI_OK);
    says(p, "ls", "denied: `ls`: a rule says so");
    CHECK_EQ_INT(phi_permissions_set(p, phi_permissions_mode(PHI_PERMISSION_MODE_ALL)), PHI_OK);
    says(p, "'",
         "to be approved: a command line that cannot be read with certainty (a quote is not "
         "closed): no rule allows it");
    phi_permissions_free(p);
}

TEST(without_a_workspace_what_climbs_out_of_it_is_outside) {
    phi_permissions_desc desc;
    phi_permissions *p;
    memset(&desc, 0, sizeof desc);
    desc.allocator = test_allocator();
    p = permit_new(&desc, NULL);
    CHECK_EQ_INT(check(p, "read_file", "{\"path\":\"a/b\"}"), ALLOW);
    CHECK_EQ_INT(check(p, "read_file", "{\"path\":\"a/../..\"}"), ASK);
    CHECK_EQ_INT(check(p, "read_file", "{\"path\":\"../x/../..\"}"), ASK);
    CHECK_EQ_INT(check(p, "read_file", "{\"path\":\"/x\"}"), ASK);
    CHECK_EQ_INT(check(p, "bash", "{\"command\":\"cat ~/.ssh/id_rsa\"}"), DENY);
    phi_permissions_free(p);
    desc.workspace = "relative";
    {
        phi_parse_error error;
        CHECK(permit_new(&desc, &error) == NULL);
        CHECK_EQ_INT(error.status, PHI_BAD_ARG);
        CHECK_EQ_STR(error.message, "workspace: expected an absolute path");
        desc.workspace = NULL;
        desc.home = "relative";
        CHECK(permit_new(&desc, &error) == NULL);
        CHECK_EQ_STR(error.message, "home: expected an absolute path");
        desc.home = NULL;
        p = permit_new(&desc, NULL);
        CHECK(p != NULL);
        phi_permissions_free(p);
    }
}

TEST(urls_match_by_their_plain_host) {
    phi_permission_rule rule;
    memset(&rule, 0, sizeof rule);
    rule.verdict = ALLOW;
    rule.host = "example.com|*.example.org";
    CHECK_EQ_INT(by(&rule, 1, "fetch", "{\"url\":\"https://example.com/x\"}"), ALLOW);
    CHECK_EQ_INT(by(&rule, 1, "fetch", "{\"url\":\"https://EXAMPLE.com:8080\"}"), ALLOW);
    CHECK_EQ_INT(by(&rule, 1, "fetch", "{\"url\":\"http://a.example.org?q\"}"), ALLOW);
    CHECK_EQ_INT(by(&rule, 1, "fetch", "{\"url\":\"https://example.com.evil.net/\"}"), ASK);
    CHECK_EQ_INT(by(&rule, 1, "fetch", "{\"url\":\"https://example.com@evil.net/\"}"), ASK);
    CHECK_EQ_INT(by(&rule, 1, "fetch", "{\"url\":\"https://evil.net\\\\@example.com\"}"), ASK);
    CHECK_EQ_INT(by(&rule, 1, "fetch", "{\"url\":\"example.com\"}"), ASK);
    CHECK_EQ_INT(by(&rule, 1, "fetch", "{\"url\":\"xxexample.com\"}"), ASK);
    CHECK_EQ_INT(by(&rule, 1, "fetch", "{\"url\":\"://example.com\"}"), ASK);
    CHECK_EQ_INT(by(&rule, 1, "fetch", "{\"url\":\"http://example.com\\u0000.net\"}"), ASK);
    CHECK_EQ_INT(by(&rule, 1, "fetch", "{\"url\":\"http:/evil.net/x://example.com/\"}"), ASK);
    CHECK_EQ_INT(by(&rule, 1, "fetch", "{\"url\":\"evil.net?://example.com\"}"), ASK);
    CHECK_EQ_INT(by(&rule, 1, "fetch", "{\"url\":\"file://example.com/etc/passwd\"}"), ASK);
    CHECK_EQ_INT(
        by(&rule, 1, "fetch", "{\"url\":\"http://example.com\",\"uri\":\"http://evil.net\"}"), ASK);
    CHECK_EQ_INT(by(&rule, 1, "fetch", "{}"), ASK);
    CHECK_EQ_INT(by(&rule, 1, "fetch", "{\"url\":\"https://a.example.org:\"}"), ALLOW);
    CHECK_EQ_INT(by(&rule, 1, "fetch", "{\"url\":\"https://evil.net\\uff0f.example.org\"}"), ASK);
    CHECK_EQ_INT(by(&rule, 1, "fetch", "{\"url\":\"https://evil.net;.example.org\"}"), ASK);
    CHECK_EQ_INT(by(&rule, 1, "fetch", "{\"url\":\"https://{evil.net,a}.example.org\"}"), ASK);
    CHECK_EQ_INT(by(&rule, 1, "fetch", "{\"url\":\"https://[::1].example.org\"}"), ASK);
    CHECK_EQ_INT(by(&rule, 1, "fetch", "{\"url\":\"https://.example.org\"}"), ASK);
    CHECK_EQ_INT(by(&rule, 1, "fetch", "{\"url\":\"https://a..example.org\"}"), ASK);
    CHECK_EQ_INT(by(&rule, 1, "fetch", "{\"url\":\"javascript://example.com/%0ax()\"}"), ASK);
    CHECK_EQ_INT(by(&rule, 1, "fetch", "{\"url\":\"unix://example.com/x\"}"), ASK);
    rule.host = "[[]::1]";
    CHECK_EQ_INT(by(&rule, 1, "fetch", "{\"url\":\"http://[::1]:80/\"}"), ALLOW);
    rule.host = "example.com|*.example.org";
    rule.command = "curl *";
    CHECK_EQ_INT(by(&rule, 1, "bash", "{\"command\":\"curl evil.net/://example.com/\"}"), ASK);
    CHECK_EQ_INT(by(&rule, 1, "bash", "{\"command\":\"curl -s https://example.com\"}"), ALLOW);
    CHECK_EQ_INT(by(&rule, 1, "bash", "{\"command\":\"curl https://example.com evil.net\"}"), ASK);
    CHECK_EQ_INT(by(&rule, 1, "bash", "{\"command\":\"curl https://example.com $X\"}"), ASK);
    CHECK_EQ_INT(by(&rule, 1, "bash", "{\"command\":\"curl\"}"), ASK);
}

TEST(a_host_is_denied_in_whatever_way_it_is_written) {
    phi_permission_rule rules[2];
    memset(rules, 0, sizeof rules);
    rules[0].verdict = DENY;
    rules[0].host = "evil.net";
    rules[1].verdict = ALLOW;
    CHECK_EQ_INT(by(rules, 2, "fetch", "{\"url\":\"https://u:p@EVIL.net:80/x\"}"), DENY);
    CHECK_EQ_INT(by(rules, 2, "fetch", "{\"url\":\"https:/evil.net.\"}"), DENY);
    CHECK_EQ_INT(by(rules, 2, "fetch", "{\"url\":\"https:\\/\\/evil.net\\\\\"}"), DENY);
    CHECK_EQ_INT(by(rules, 2, "fetch", "{\"url\":\"x\",\"uri\":\"http://evil.net\"}"), DENY);
    CHECK_EQ_INT(by(rules, 2, "fetch", "{\"url\":\"evil.net/x\"}"), ASK);
    CHECK_EQ_INT(by(rules, 2, "fetch", "{\"url\":\"https://a.net/evil.net\"}"), ALLOW);
    CHECK_EQ_INT(by(rules, 2, "fetch", "{\"url\":\"https://evil.net@a.net\"}"), ALLOW);
    CHECK_EQ_INT(by(rules, 2, "fetch", "{\"url\":\"http:evil.net\"}"), ASK);
    CHECK_EQ_INT(by(rules, 2, "fetch", "{\"url\":\"http:\\\\evil.net\"}"), ASK);
    CHECK_EQ_INT(by(rules, 2, "fetch", "{\"url\":\"http:evil.net/://a.net/\"}"), DENY);
    CHECK_EQ_INT(by(rules, 2, "fetch", "{\"url\":\"https://%65vil.net\"}"), ASK);
    CHECK_EQ_INT(by(rules, 2, "fetch", "{\"url\":\"https://e\\tvil.net\"}"), ASK);
    CHECK_EQ_INT(by(rules, 2, "fetch", "{\"url\":\"https://\\uff45vil.net\"}"), ASK);
    CHECK_EQ_INT(by(rules, 2, "fetch", "{\"url\":\"http://2130706433/\"}"), ASK);
    CHECK_EQ_INT(by(rules, 2, "fetch", "{\"url\":\"http://127.1/\"}"), ASK);
    CHECK_EQ_INT(by(rules, 2, "fetch", "{\"url\":\"http://0x7f.0.0.1/\"}"), ASK);
    CHECK_EQ_INT(by(rules, 2, "fetch", "{\"url\":\"http://0177.0.0.1/\"}"), ASK);
    CHECK_EQ_INT(by(rules, 2, "fetch", "{\"url\":\"http://127.0.0.1:80/\"}"), ALLOW);
    CHECK_EQ_INT(by(rules, 2, "fetch", "{\"url\":\"http://a-b.c1.net/\"}"), ALLOW);
    CHECK_EQ_INT(by(rules, 2, "bash", "{\"command\":\"curl 'https://evil%2enet'\"}"), ASK);
    CHECK_EQ_INT(by(rules, 2, "bash", "{\"command\":\"awk '{print}' x\"}"), ALLOW);
    CHECK_EQ_INT(by(rules, 2, "bash", "{\"command\":\"curl https://u@evil.net\"}"), DENY);
    CHECK_EQ_INT(by(rules, 2, "bash", "{\"command\":\"git clone git@evil.net:x\"}"), ASK);
    CHECK_EQ_INT(by(rules, 2, "bash", "{\"command\":\"curl a.net\"}"), ALLOW);
}

TEST(what_excuses_a_command_stands_there_as_the_rule_says_it) {
    phi_permission_rule rules[2];
    memset(rules, 0, sizeof rules);
    rules[0].verdict = ALLOW;
    rules[0].command = "make *";
    rules[0].with = "-n|--dry-run";
    CHECK_EQ_INT(by(rules, 1, "bash", "{\"command\":\"make -n all\"}"), ALLOW);
    CHECK_EQ_INT(by(rules, 1, "bash", "{\"command\":\"make -fn all\"}"), ASK); /* -f n */
    CHECK_EQ_INT(by(rules, 1, "bash", "{\"command\":\"make --d all\"}"), ASK);
    CHECK_EQ_INT(by(rules, 1, "bash", "{\"command\":\"make all -- -n\"}"), ASK);
    rules[0].verdict = DENY;
    rules[0].command = "git push *";
    rules[0].with = NULL;
    rules[0].without = "-n";
    rules[1].verdict = ALLOW;
    CHECK_EQ_INT(by(rules, 2, "bash", "{\"command\":\"git push -n\"}"), ALLOW);
    CHECK_EQ_INT(by(rules, 2, "bash", "{\"command\":\"git push -on x\"}"), DENY); /* -o n */
    CHECK_EQ_INT(by(rules, 2, "bash", "{\"command\":\"git push x -- -n\"}"), DENY);
}

TEST(arguments_match_by_name_or_as_a_whole) {
    phi_permission_rule rule;
    memset(&rule, 0, sizeof rule);
    rule.verdict = DENY;
    rule.argument = "query";
    rule.matches = "*DROP *";
    CHECK_EQ_INT(by(&rule, 1, "sql", "{\"query\":\"DROP TABLE x\"}"), DENY);
    CHECK_EQ_INT(by(&rule, 1, "sql", "{\"query\":\"SELECT 1\"}"), ASK);
    CHECK_EQ_INT(by(&rule, 1, "sql", "{\"query\":7}"), ASK);
    rule.argument = NULL;
    CHECK_EQ_INT(by(&rule, 1, "sql", "{\"other\":\"DROP x\"}"), DENY);
}

TEST(words_that_are_not_known_match_only_a_last_star) {
    phi_permission_rule rule;
    memset(&rule, 0, sizeof rule);
    rule.verdict = ALLOW;
    rule.command = "npm run test";
    CHECK_EQ_INT(by(&rule, 1, "bash", "{\"command\":\"npm run test\"}"), ALLOW);
    CHECK_EQ_INT(by(&rule, 1, "bash", "{\"command\":\"npm run test -- x\"}"), ASK);
    rule.command = "npm run *";
    CHECK_EQ_INT(by(&rule, 1, "bash", "{\"command\":\"npm run $X\"}"), ALLOW);
    CHECK_EQ_INT(by(&rule, 1, "bash", "{\"command\":\"npm run\"}"), ALLOW);
    CHECK_EQ_INT(by(&rule, 1, "bash", "{\"command\":\"npm $X\"}"), ASK);
    rule.command = "npm ?* *";
    CHECK_EQ_INT(by(&rule, 1, "bash", "{\"command\":\"npm $X\"}"), ASK);
    rule.command = "*";
    CHECK_EQ_INT(by(&rule, 1, "bash", "{\"command\":\"$X\"}"), ALLOW);
    CHECK_EQ_INT(by(&rule, 1, "bash", "{\"command\":\"x > 'y\"}"), ALLOW); /* not known at all */
}

TEST(each_mode_has_its_verdicts) {
    static const phi_permission_mode modes[] = {
        PHI_PERMISSION_MODE_DEFAULT, PHI_PERMISSION_MODE_PLAN, PHI_PERMISSION_MODE_ACCEPT_EDITS,
        PHI_PERMISSION_MODE_ALL};
    static const struct {
        const char *tool, *arguments;
        phi_permission want[4];
    } cases[] = {
        {"read_file", "{\"path\":\"a\"}", {ALLOW, ALLOW, ALLOW, ALLOW}},
        {"read_file", "{\"path\":\"/etc/passwd\"}", {ASK, DENY, ASK, ALLOW}},
        {"read_file", "{\"path\":\".env\"}", {ASK, ASK, ASK, ALLOW}},
        {"read_file", "{\"path\":\"~/.ssh/id_rsa\"}", {DENY, DENY, DENY, DENY}},
        {"write_file", "{\"path\":\"a\"}", {ASK, DENY, ALLOW, ALLOW}},
        {"edit_file", "{\"path\":\".git/hooks/x\"}", {ASK, ASK, ASK, ALLOW}},
        {"write_file", "{\"path\":\"/etc/x\"}", {ASK, DENY, ASK, ALLOW}},
        {"mcp_mail_send", "{}", {ASK, DENY, ASK, ALLOW}},
        {"bash", "{\"command\":\"git status\"}", {ALLOW, ALLOW, ALLOW, ALLOW}},
        {"bash", "{\"command\":\"npm test\"}", {ASK, DENY, ASK, ALLOW}},
        {"bash", "{\"command\":\"ls > out\"}", {ASK, DENY, ALLOW, ALLOW}},
        {"bash", "{\"command\":\"mkdir a\"}", {ASK, DENY, ALLOW, ALLOW}},
        {"bash", "{\"command\":\"mkdir /a\"}", {ASK, DENY, ASK, ALLOW}},
        {"bash", "{\"command\":\"rm -rf /\"}", {DENY, DENY, DENY, DENY}},
        {"bash", "{\"command\":\"'\"}", {ASK, DENY, ASK, ASK}}, /* it may hold rm -rf / */
        {"bash", "{\"command\":\"echo $((x))\"}", {ASK, DENY, ASK, ALLOW}},
        {"bash", "{\"command\":\"cp x .gi*\"}", {ASK, ASK, ASK, ALLOW}},
        {"bash", "{\"command\":\"cp x .GIT/config\"}", {ASK, ASK, ASK, ALLOW}},
        {"bash", "{\"command\":\"cd .git/hooks && echo x > pre-commit\"}", {ASK, ASK, ASK, ALLOW}},
        {"bash", "{\"command\":\"echo x > ~root/y\"}", {ASK, DENY, ASK, ALLOW}},
        {"write_file", "{\"path\":\"a\",\"file_path\":\"/etc/x\"}", {ASK, DENY, ASK, ALLOW}},
        {"write_file", "{\"path\":\"~root/x\"}", {ASK, DENY, ASK, ALLOW}},
        {"bash", "{\"command\":\"a[ x ]=1 rm -rf /\"}", {ASK, DENY, ASK, ASK}},
        {"bash", "{\"command\":\"echo x (\"}", {ASK, DENY, ASK, ASK}},
        {"bash", "{\"command\":\"eval \\\"$X\\\"\"}", {ASK, DENY, ASK, ASK}},
        {"bash", "{\"command\":\"echo ${ rm -rf /; }\"}", {ASK, DENY, ASK, ASK}},
        {"bash", "{}", {ASK, DENY, ASK, ALLOW}},
    };
    size_t m, i;
    for (m = 0; m < 4; m++) {
        phi_permissions *p = make(phi_permissions_mode(modes[m]));
        for (i = 0; i < PHI__COUNT(cases); i++)
            if (!CHECK_EQ_INT(check(p, cases[i].tool, cases[i].arguments), cases[i].want[m]))
                printf("  mode %d: %s %s\n", (int)m, cases[i].tool, cases[i].arguments);
        phi_permissions_free(p);
    }
}

/* ---- "always allow this" ---- */

static void always(phi_permission_scope scope, const char *tool, const char *arguments,
                   const char *want) {
    phi_permissions *p = make(NULL);
    phi_memory memory;
    phi_allocator allocator = test_allocator();
    phi_arena arena;
    phi_permission_rules rules;
    phi_str json, why;
    phi_status status;
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
    status = permit_always(p, phi_str_of(tool), phi_str_of(arguments), scope, &arena, &rules, &why);
    if (status != PHI_OK) {
        CHECK_EQ_INT(status, PHI_REJECTED);
        CHECK_STR(why, want);
    } else {
        CHECK_EQ_INT(phi_permissions_to_json(&rules, &arena, &json), PHI_OK);
        CHECK_STR(json, want);
        CHECK_EQ_INT(phi_permissions_add(p, rules.rules, rules.count), PHI_OK);
        CHECK_EQ_INT(check(p, tool, arguments), ALLOW);
        CHECK_EQ_INT(phi_permissions_rules(p)->count,
                     phi_permissions_mode(PHI_PERMISSION_MODE_DEFAULT)->count + rules.count);
    }
    phi_arena_free(&arena);
    phi_permissions_free(p);
    CHECK_EQ_INT(test_alloc_live_bytes(), 0);
}

#define RULES(text) "{\"rules\":[\n" text "\n],\"otherwise\":\"ask\"}\n"
#define WIDE(command, options)                                                                     \
    "{\"verdict\":\"allow\",\"tool\":\"bash\",\"command\":\"" command "\",\"path\":\"./**\","      \
    "\"options\":\"" options "\"}"
#define OWN "\"source\":\"\""
#define BASH(command) "{\"verdict\":\"allow\",\"tool\":\"bash\",\"command\":\"" command "\"}"

TEST(always_makes_the_narrowest_rules_and_they_allow_the_call) {
    phi_permission_scope exact = PHI_PERMISSION_SCOPE_EXACT, kind = PHI_PERMISSION_SCOPE_KIND;
    always(exact, "bash", "{\"command\":\"npm test\"}", RULES(BASH("npm test")));
    always(kind, "bash", "{\"command\":\"npm test -- x\"}", RULES(WIDE("npm test *", "")));
    always(kind, "bash", "{\"command\":\"npm test --watch\"}", RULES(BASH("npm test --watch")));
    always(kind, "bash", "{\"command\":\"npm run build -- x\"}",
           RULES(WIDE("npm run build *", "")));
    always(exact, "bash", "{\"command\":\"ls && make all; make all\"}", RULES(BASH("make all")));
    always(kind, "bash", "{\"command\":\"env make && ./run 'a b' | ls\"}",
           RULES(BASH("./run a[ ]b") ",\n" BASH("make")));
    always(exact, "bash", "{\"command\":\"./run 'a b' '*'\"}", RULES(BASH("./run a[ ]b [*]")));
    always(kind, "bash", "{\"command\":\"/usr/bin/make\"}", RULES(BASH("/usr/bin/make")));
    always(kind, "bash", "{\"command\":\"python3 x.py\"}", RULES(BASH("python3 x.py")));
    always(kind, "bash", "{\"command\":\"git -C x push\"}", RULES(BASH("git -C x push")));
    always(kind, "bash", "{\"command\":\"./venv/bin/python3.11 x.py\"}",
           RULES(BASH("./venv/bin/python3.11 x.py")));
    always(kind, "bash", "{\"command\":\"printf hi\"}", RULES(BASH("printf hi")));
    always(kind, "bash", "{\"command\":\"rm x\"}", RULES(BASH("rm x")));
    always(kind, "bash", "{\"command\":\"git\"}", RULES(BASH("git")));
    always(kind, "bash", "{\"command\":\"git config a b\"}", RULES(BASH("git config a b")));
    always(kind, "bash", "{\"command\":\"npm x a b\"}", RULES(BASH("npm x a b")));
    always(exact, "bash", "{\"command\":\"make > log.txt\"}",
           RULES(BASH(
               "make") ",\n{\"verdict\":\"allow\",\"tool\":\"write_file\",\"path\":\"log.txt\"}"));
    always(exact, "bash", "{\"command\":\"ls\"}", "{\"rules\":[\n],\"otherwise\":\"ask\"}\n");
    always(exact, "write_file", "{\"path\":\"src/a.c\"}",
           RULES("{\"verdict\":\"allow\",\"tool\":\"write_file\",\"path\":\"src/a.c\"}"));
    always(kind, "write_file", "{\"path\":\"src/a.c\"}",
           RULES("{\"verdict\":\"allow\",\"tool\":\"write_file\",\"path\":\"src/**\"}"));
    always(kind, "write_file", "{\"path\":\"a.c\"}",
           RULES("{\"verdict\":\"allow\",\"tool\":\"write_file\",\"path\":\"./**\"}"));
    always(kind, "write_file", "{\"path\":\"/f\"}",
           RULES("{\"verdict\":\"allow\",\"tool\":\"write_file\",\"path\":\"/f\"}"));
    always(kind, "bash", "{\"command\":\"ls > ~bob\"}",
           RULES("{\"verdict\":\"allow\",\"tool\":\"write_file\",\"path\":\"~bob\"}"));
    always(exact, "write_file", "{\"path\":\"!f\"}", /* not any other file */
           RULES("{\"verdict\":\"allow\",\"tool\":\"write_file\",\"path\":\"./!f\"}"));
    always(exact, "fetch", "{\"url\":\"https://Example.com/x\"}",
           RULES("{\"verdict\":\"allow\",\"tool\":\"fetch\",\"host\":\"example.com\"," OWN "}"));
    always(kind, "fetch", "{\"uri\":\"https://example.com/x\"}",
           RULES("{\"verdict\":\"allow\",\"tool\":\"fetch\",\"host\":\"example.com\"," OWN "}"));
    always(kind, "send", "{\"path\":\"a/b\",\"url\":\"https://example.com/x\"}",
           RULES("{\"verdict\":\"allow\",\"tool\":\"send\",\"path\":\"a/**\",\"host\":"
                 "\"example.com\"," OWN "}"));
    always(exact, "copy", "{\"path\":\"a\",\"to\":\"b\"}",
           RULES("{\"verdict\":\"allow\",\"tool\":\"copy\",\"matches\":\"{\\\"path\\\":"
                 "\\\"a\\\",\\\"to\\\":\\\"b\\\"}\"," OWN "}"));
    always(kind, "mail", "{\"to\":\"x\"}",
           RULES("{\"verdict\":\"allow\",\"tool\":\"mail\"," OWN "}"));
    always(
        exact, "mail", "{\"n\":1}",
        RULES("{\"verdict\":\"allow\",\"tool\":\"mail\",\"matches\":\"{\\\"n\\\":1}\"," OWN "}"));
}

/* The verdict on a call of `source` after the rules that a call of the server "srv" has made. */
static phi_permission after_server(phi_permission_scope scope, const char *tool,
                                   const char *arguments, const char *source) {
    phi_permissions *p = make(NULL);
    phi_memory memory;
    phi_arena arena;
    phi_permission_rules rules;
    phi_permission verdict;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(permit_always_from(p, PHI__LIT("srv"), phi_str_of(tool), phi_str_of(arguments),
                                    scope, &arena, &rules, NULL),
                 PHI_OK);
    CHECK_EQ_INT(phi_permissions_add(p, rules.rules, rules.count), PHI_OK);
    verdict =
        permit_check_from(p, phi_str_of(source), phi_str_of(tool), phi_str_of(arguments), NULL);
    phi_arena_free(&arena);
    phi_permissions_free(p);
    return verdict;
}

TEST(what_is_always_allowed_to_a_server_is_allowed_to_nobody_else) {
    static const char *const calls[][2] = {{"query", "{\"sql\":\"x\"}"},
                                           {"read_file", "{\"path\":\"/etc/hosts\"}"},
                                           {"write_file", "{\"path\":\"x\"}"},
                                           {"bash", "{\"command\":\"make > x\"}"},
                                           {"fetch", "{\"url\":\"https://example.com\"}"}};
    size_t i;
    int scope;
    for (i = 0; i < PHI__COUNT(calls); i++)
        for (scope = 0; scope < 2; scope++) {
            phi_permission_scope which = (phi_permission_scope)scope;
            CHECK_EQ_INT(after_server(which, calls[i][0], calls[i][1], "srv"), ALLOW);
            CHECK_EQ_INT(after_server(which, calls[i][0], calls[i][1], "other"), ASK);
            CHECK_EQ_INT(after_server(which, calls[i][0], calls[i][1], ""), ASK);
        }
}

TEST(a_path_is_denied_wherever_it_stands_in_a_servers_arguments) {
    phi_permission_rule rules[2];
    memset(rules, 0, sizeof rules);
    rules[0].verdict = DENY;
    rules[0].path = "**/.ssh/**";
    rules[1].verdict = ALLOW;
    CHECK_EQ_INT(by(rules, 2, "get", "{\"source\":\"/home/ada/.ssh/x\"}"), DENY);
    CHECK_EQ_INT(by(rules, 2, "get", "{\"path\":\"a\",\"to\":{\"b\":[1,\"~/.ssh/x\"]}}"), DENY);
    CHECK_EQ_INT(by(rules, 2, "get", "{\"uri\":\"file:///home/ada/.ssh/x\"}"), DENY);
    CHECK_EQ_INT(by(rules, 2, "get", "{\"x\":\"a b/../.ssh/x\"}"), ASK);
    CHECK_EQ_INT(by(rules, 2, "get", "{\"x\":\"see\\n.ssh/x\"}"), ALLOW);
    CHECK_EQ_INT(by(rules, 2, "edit_file", "{\"path\":\"a\",\"old_text\":\".ssh/x\"}"), ALLOW);
    rules[0].path = "/etc/**";
    CHECK_EQ_INT(by(rules, 2, "get", "{\"uri\":\"FILE://localhost/etc/x\"}"), DENY);
    CHECK_EQ_INT(by(rules, 2, "get", "{\"uri\":\"file:/etc/x\"}"), DENY);
    CHECK_EQ_INT(by(rules, 2, "bash", "{\"command\":\"curl file://localhost/etc/x\"}"), DENY);
    CHECK_EQ_INT(by(rules, 2, "bash", "{\"command\":\"docker run --mount src=/etc,dst=/x\"}"),
                 DENY);
    CHECK_EQ_INT(by(rules, 2, "get", "{\"uri\":\"https://x/etc/x\"}"), ALLOW);
    rules[0].tool = "bash";
    CHECK_EQ_INT(by(rules, 2, "bash", "{\"command\":\"cat < /etc/x\"}"), DENY);
    CHECK_EQ_INT(by(rules, 2, "bash", "{\"command\":\"ls > /etc/x\"}"), DENY);
    CHECK_EQ_INT(by(rules, 2, "read_file", "{\"path\":\"/etc/x\"}"), ALLOW);
}

/* Hypothesis: what stands behind more texts than are looked at is not denied, without a word. */
TEST(a_path_behind_too_many_texts_of_a_server_is_asked_about) {
    static char many[40000], deep[200];
    phi_permission_rule rules[2];
    size_t n = 0, i;
    memset(rules, 0, sizeof rules);
    rules[0].verdict = DENY;
    rules[0].path = "/etc/**";
    rules[1].verdict = ALLOW;
    n = (size_t)snprintf(many, sizeof many, "{\"x\":[");
    for (i = 0; i < 4100; i++) n += (size_t)snprintf(many + n, sizeof many - n, "1,");
    (void)snprintf(many + n, sizeof many - n, "\"/etc/x\"]}");
    CHECK_EQ_INT(by(rules, 2, "get", many), ASK);
    n = (size_t)snprintf(deep, sizeof deep, "{\"x\":");
    for (i = 0; i < 40; i++) deep[n++] = '[';
    n += (size_t)snprintf(deep + n, sizeof deep - n, "\"/etc/x\"");
    for (i = 0; i < 40; i++) deep[n++] = ']';
    deep[n++] = '}';
    CHECK_EQ_INT(by(rules, 2, "get", deep), ASK);
}

TEST(a_word_of_which_a_part_is_certain_may_be_a_rules) {
    phi_permission_rule rules[2];
    memset(rules, 0, sizeof rules);
    rules[0].verdict = DENY;
    rules[0].command = "git push *";
    rules[1].verdict = ALLOW;
    CHECK_EQ_INT(by(rules, 2, "bash", "{\"command\":\"git push$X\"}"), ASK);
    CHECK_EQ_INT(by(rules, 2, "bash", "{\"command\":\"git pu$()sh\"}"), ASK);
    CHECK_EQ_INT(by(rules, 2, "bash", "{\"command\":\"git `x`sh\"}"), ASK);
    CHECK_EQ_INT(by(rules, 2, "bash", "{\"command\":\"git ${x}push\"}"), ASK);
    CHECK_EQ_INT(by(rules, 2, "bash", "{\"command\":\"g$@it push\"}"), ASK);
    CHECK_EQ_INT(by(rules, 2, "bash", "{\"command\":\"git $Xpush\"}"), ALLOW);
    CHECK_EQ_INT(by(rules, 2, "bash", "{\"command\":\"git pull$X\"}"), ALLOW);
    rules[0].command = "docker *";
    rules[0].with = "--privileged";
    CHECK_EQ_INT(by(rules, 2, "bash", "{\"command\":\"docker run --privileged=true x\"}"), DENY);
    CHECK_EQ_INT(by(rules, 2, "bash", "{\"command\":\"docker run --privileged-x x\"}"), ALLOW);
}

TEST(a_rule_that_asks_is_answered_for_this_very_call_and_no_other) {
    phi_permission_scope exact = PHI_PERMISSION_SCOPE_EXACT;
    phi_permission_rule rules[3];
    const char *call = "{\"command\":\"cat .env\"}";
    always(exact, "bash", "{\"command\":\"cat .env; ls > x\"}",
           RULES("{\"verdict\":\"allow\",\"tool\":\"bash\",\"matches\":\"{\\\"command\\\":\\\"cat[ "
                 "].env;[ ]ls[ ]>[ ]x\\\"}\"}"));
    always(exact, "read_file", "{\"path\":\".env\"}",
           RULES("{\"verdict\":\"allow\",\"tool\":\"read_file\",\"matches\":\"{\\\"path\\\":\\\"."
                 "env\\\"}"
                 "\"}"));
    memset(rules, 0, sizeof rules);
    rules[0].verdict = ASK;
    rules[0].path = "**/.env";
    rules[1].verdict = ALLOW;
    rules[1].tool = "bash";
    rules[1].matches = "{\"command\":\"cat[ ].env\"}";
    CHECK_EQ_INT(by(rules, 2, "bash", call), ALLOW);
    CHECK_EQ_INT(by(rules, 2, "bash", "{\"command\":\"cat .env x\"}"), ASK);
    CHECK_EQ_INT(by(rules, 2, "bash", "{\"command\":\"cat  .env\"}"), ASK);
    CHECK_EQ_INT(by(rules, 2, "sh", call), ASK);
    rules[1].matches = "{\"command\":\"cat .en?\"}";
    CHECK_EQ_INT(by(rules, 2, "bash", call), ASK);
    rules[1].matches = "{\"command\":\"cat[ ].env\"}";
    rules[2].verdict = DENY;
    rules[2].path = ".env";
    CHECK_EQ_INT(by(rules, 3, "bash", call), DENY);
}

TEST(a_pattern_that_may_match_a_file_of_a_rule_that_denies_is_asked_about) {
    phi_permission_rule rules[2];
    memset(rules, 0, sizeof rules);
    rules[0].verdict = ALLOW;
    rules[1].verdict = DENY;
    rules[1].path = "**/.env";
    CHECK_EQ_INT(by(rules, 2, "bash", "{\"command\":\"cat .env\"}"), DENY);
    CHECK_EQ_INT(by(rules, 2, "bash", "{\"command\":\"cat .en?\"}"), ASK);
    CHECK_EQ_INT(by(rules, 2, "bash", "{\"command\":\"cat *.c\"}"), ALLOW);
}

TEST(a_rule_names_the_options_that_a_command_may_have) {
    phi_permission_rule rule;
    memset(&rule, 0, sizeof rule);
    rule.verdict = ALLOW;
    rule.command = "x *";
    rule.options = "-a|-n|-C*|--long|--color=*";
    CHECK_EQ_INT(by(&rule, 1, "bash", "{\"command\":\"x -an -C3 -aC3 --long --color=no - -- y\"}"),
                 ALLOW);
    CHECK_EQ_INT(by(&rule, 1, "bash", "{\"command\":\"x a*.c\"}"), ALLOW);
    CHECK_EQ_INT(by(&rule, 1, "bash", "{\"command\":\"x *.c\"}"), ASK);
    CHECK_EQ_INT(by(&rule, 1, "bash", "{\"command\":\"x -b\"}"), ASK);
    CHECK_EQ_INT(by(&rule, 1, "bash", "{\"command\":\"x -ab\"}"), ASK);
    CHECK_EQ_INT(by(&rule, 1, "bash", "{\"command\":\"x --lon\"}"), ASK);
    CHECK_EQ_INT(by(&rule, 1, "bash", "{\"command\":\"x y$Z\"}"), ASK);
    rule.options = "";
    CHECK_EQ_INT(by(&rule, 1, "bash", "{\"command\":\"x y\"}"), ALLOW);
    CHECK_EQ_INT(by(&rule, 1, "bash", "{\"command\":\"x -a\"}"), ASK);
    rule.options = NULL;
    rule.without = "--force";
    CHECK_EQ_INT(by(&rule, 1, "bash", "{\"command\":\"x --force=1\"}"), ASK);
    CHECK_EQ_INT(by(&rule, 1, "bash", "{\"command\":\"x --fo\"}"), ASK);
    CHECK_EQ_INT(by(&rule, 1, "bash", "{\"command\":\"x --f=1\"}"), ASK);
    CHECK_EQ_INT(by(&rule, 1, "bash", "{\"command\":\"x --format\"}"), ALLOW);
}

TEST(always_refuses_what_no_rule_should_allow) {
    /* what may be a call that a rule denies: found by fuzz_shell */
    always(PHI_PERMISSION_SCOPE_EXACT, "bash", "{\"command\":\"o \\\"rm -r/\\\"\"}",
           "`rm -r/`: it deletes the system or the home directory");
    always(PHI_PERMISSION_SCOPE_EXACT, "bash", "{\"command\":\"rm -rf build\"}",
           "`rm -rf build`: it deletes directories");
    always(PHI_PERMISSION_SCOPE_KIND, "bash", "{\"command\":\"/bin/rm -fR x\"}",
           "`/bin/rm -fR x`: it deletes directories");
    always(PHI_PERMISSION_SCOPE_KIND, "bash", "{\"command\":\"make $X\"}",
           "`make $X`: not all of its words are known");
    always(PHI_PERMISSION_SCOPE_KIND, "bash", "{\"command\":\"$X\"}",
           "`$X`: not all of its words are known");
    always(PHI_PERMISSION_SCOPE_KIND, "bash", "{\"command\":\"PATH=x make\"}",
           "`PATH=x make`: it sets variables that programs heed");
    always(PHI_PERMISSION_SCOPE_KIND, "bash", "{\"command\":\"make '\"}",
           "a command line that cannot be read with certainty (a quote is not closed): it may hold "
           "other commands");
    always(PHI_PERMISSION_SCOPE_KIND, "bash", "{\"command\":\"cat .env\"}",
           "`cat .env`: it may hold secrets");
    always(PHI_PERMISSION_SCOPE_KIND, "bash", "{\"command\":\"make > $X\"}",
           "writing $X: the file's name is not known");
    always(PHI_PERMISSION_SCOPE_KIND, "bash", "{\"command\":\"rm -rf /\"}",
           "`rm -rf /`: it deletes the system or the home directory");
    always(PHI_PERMISSION_SCOPE_KIND, "bash", "{\"command\":\"python3 <<< 1\"}",
           "`python3`: it may run what it reads");
    always(PHI_PERMISSION_SCOPE_KIND, "bash", "{\"command\":\"python3 < x\"}",
           "`python3`: it may run what it reads");
    always(PHI_PERMISSION_SCOPE_KIND, "bash", "{\"command\":\"ls | bash\"}",
           "`bash`: it may run what it reads");
    always(PHI_PERMISSION_SCOPE_EXACT, "bash", "{\"command\":\"python3 < x\"}",
           RULES("{\"verdict\":\"allow\",\"tool\":\"bash\",\"matches\":\"{\\\"command\\\":"
                 "\\\"python3[ ]<[ ]x\\\"}\"}"));
    always(PHI_PERMISSION_SCOPE_KIND, "bash", "{\"command\":\"cd src && npm test\"}",
           "`npm test`: it may run what is in another directory");
    always(PHI_PERMISSION_SCOPE_KIND, "bash", "{\"command\":\"cd src && ls > x\"}",
           "writing x: it is in another directory");
    always(PHI_PERMISSION_SCOPE_KIND, "bash", "{\"command\":\"rm --recurs x\"}",
           "`rm --recurs x`: it deletes directories");
    always(PHI_PERMISSION_SCOPE_KIND, "fetch", "{\"url\":\"https://a@b/\"}",
           "fetch: its URL has no plain host");
    always(PHI_PERMISSION_SCOPE_KIND, "fetch", "{\"url\":\"https://a:1@b/\"}",
           "fetch: its URL has no plain host");
    always(PHI_PERMISSION_SCOPE_KIND, "fetch", "{\"url\":\"https://a:\\\\@b/\"}",
           "fetch: its URL has no plain host");
}

/* ---- JSON ---- */

TEST(rules_are_the_same_through_json) {
    phi_memory memory;
    phi_arena arena;
    phi_permission_rules rules;
    phi_str first, second;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_permissions_to_json(phi_permissions_mode(PHI_PERMISSION_MODE_ACCEPT_EDITS),
                                         &arena, &first),
                 PHI_OK);
    CHECK_EQ_INT(phi_permissions_from_json(first, &arena, &rules, NULL), PHI_OK);
    CHECK_EQ_INT(rules.count, phi_permissions_mode(PHI_PERMISSION_MODE_ACCEPT_EDITS)->count);
    CHECK_EQ_INT(phi_permissions_to_json(&rules, &arena, &second), PHI_OK);
    CHECK_STR(second, first.at);
    CHECK_EQ_INT(phi_permissions_from_json(phi_str_of("{}"), &arena, &rules, NULL), PHI_OK);
    CHECK_EQ_INT(rules.count, 0);
    CHECK_EQ_INT(rules.otherwise, ASK);
    phi_arena_free(&arena);
}

TEST(a_number_that_is_no_verdict_is_written_as_ask) {
    phi_memory memory;
    phi_arena arena;
    phi_str json;
    phi_permission_rule rule;
    phi_permission_rules rules;
    memset(&rule, 0, sizeof rule);
    memset(&rules, 0, sizeof rules);
    rule.verdict = (phi_permission)7;
    rules.otherwise = (phi_permission)1000000;
    rules.rules = &rule;
    rules.count = 1;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_permissions_to_json(&rules, &arena, &json), PHI_OK);
    CHECK_STR(json, "{\"rules\":[\n{\"verdict\":\"ask\"}\n],\"otherwise\":\"ask\"}\n");
    phi_arena_free(&arena);
}

static void refused(const char *text, const char *want) {
    phi_memory memory;
    phi_arena arena;
    phi_permission_rules rules;
    phi_parse_error error;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_permissions_from_json(phi_str_of(text), &arena, &rules, &error), PHI_PARSE);
    CHECK(strncmp(error.message, want, strlen(want)) == 0);
    if (strncmp(error.message, want, strlen(want)) != 0) printf("  %s\n", error.message);
    CHECK_EQ_INT(phi_permissions_from_json(phi_str_of(text), &arena, &rules, NULL), PHI_PARSE);
    CHECK(rules.rules == NULL && rules.count == 0);
    CHECK_EQ_INT(phi_permissions_from_json(phi_str_of(text), NULL, &rules, NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_permissions_from_json(phi_str_of(text), &arena, NULL, NULL), PHI_BAD_ARG);
    phi_arena_free(&arena);
}

TEST(rules_that_are_misspelt_are_refused_with_their_place) {
    refused("[]", "permissions \"array\": expected an object");
    refused("{\"rule\":[]}", "member \"rule\": expected rules or otherwise");
    refused("{\"rules\":{}}", "rules \"object\": expected an array");
    refused("{\"rules\":[7]}", "rules[0] \"number\": expected an object");
    refused("{\"rules\":[{}]}", "rules[0]: expected a verdict");
    refused("{\"rules\":[{\"verdict\":\"maybe\"}]}",
            "rules[0].verdict \"maybe\": expected allow, ask or deny");
    refused("{\"rules\":[{\"verdict\":\"allow\"},{\"verdict\":\"deny\",\"comand\":\"x\"}]}",
            "rules[1]: member \"comand\": expected verdict, tool, command");
    refused("{\"rules\":[{\"verdict\":\"allow\",\"tool\":7}]}",
            "rules[0]: member \"tool\": expected a string");
    refused("{\"rules\":[{\"verdict\":\"allow\",\"tool\":\"a\\u0000b\"}]}",
            "rules[0]: member \"tool\": expected a string");
    refused("{\"otherwise\":1}", "otherwise: expected allow, ask or deny");
    refused("{", "");
}

/* ---- in runs ---- */

typedef struct world {
    rig *r;
    char seen[100]; /* the arguments that hook_fn saw last, before the tool */
    uint32_t round; /* ... and its round */
    bool waits;     /* hook_fn waits in its first round */
    bool edits;     /* ask_fn allows at once, with other arguments */
    phi_permissions *p;
    phi_agent agent;
    phi_ticket ticket;
    size_t asked, told;
    char why[300];
    phi_verdict answer, next;
    bool free_agent, free_permissions;
} world;

static phi_verdict ask_fn(void *user_data, phi_hook *hook) {
    world *w = (world *)user_data;
    w->asked++;
    w->ticket = hook->ticket;
    CHECK(hook->permissions == w->p);
    CHECK_STR(hook->source, "files");
    (void)snprintf(w->why, sizeof w->why, "%.*s", (int)hook->text.len, hook->text.at);
    CHECK_EQ_INT(phi_permissions_set(w->p, phi_permissions_mode(PHI_PERMISSION_MODE_ALL)),
                 PHI_MISUSE);
    /* a dialog that looks at other calls keeps its question */
    (void)permit_check(w->p, PHI__LIT("bash"),
                       phi_str_of("{\"command\":\"a_program_with_a_long_name "
                                  "and_words_that_do_not_fit_into_the_buffer_of_the_first "
                                  "and_words_that_do_not_fit_into_the_buffer_of_the_first "
                                  "and_words_that_do_not_fit_into_the_buffer_of_it\"}"),
                       NULL);
    CHECK(phi__str_is(hook->text, w->why));
    if (w->edits) hook->reply = phi_str_of("{\"x\":3}");
    if (w->free_agent) phi_agent_free(w->agent);
    if (w->free_permissions) phi_permissions_free(w->p);
    if (w->free_permissions) w->p = NULL;
    return w->answer;
}

static phi_verdict next_fn(void *user_data, phi_hook *hook) {
    world *w = (world *)user_data;
    w->told++;
    if (hook->point == PHI_HOOK_BEFORE_TOOL) {
        (void)snprintf(w->seen, sizeof w->seen, "%.*s", (int)hook->arguments.len,
                       hook->arguments.at);
        w->round = hook->round;
        w->ticket = hook->ticket;
        hook->ask_again = w->waits && hook->round == 0;
        if (hook->ask_again) return PHI_WAIT;
    }
    return w->next;
}

/* One call of "echo"; its result is message 2. */
static void begin(world *w, phi_permission_mode mode, bool person) {
    phi_permissions_desc how;
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_echo();
    phi_verdict answer = w->answer, next = w->next;
    bool free_agent = w->free_agent, free_permissions = w->free_permissions;
    bool waits = w->waits, edits = w->edits;
    memset(w, 0, sizeof *w);
    memset(&how, 0, sizeof how);
    w->answer = answer;
    w->next = next;
    w->free_agent = free_agent;
    w->free_permissions = free_permissions;
    w->waits = waits;
    w->edits = edits;
    w->r = rig_new();
    how.allocator = test_allocator();
    how.rules = phi_permissions_mode(mode);
    if (person) how.ask_fn = ask_fn;
    how.hook_fn = next_fn;
    how.user_data = w;
    w->p = permit_new(&how, NULL);
    tool.needs_approval = true;
    tool.source = "files";
    desc.tools = &tool;
    desc.tool_count = 1;
    desc.hook_fn = phi_permissions_hook;
    desc.hook_points = PHI_HOOK_BEFORE_TOOL | PHI_HOOK_AFTER_TOOL;
    desc.user_data = w->p;
    w->agent = rig_agent(w->r, &desc);
    rig_call(w->r, "c1", "echo", "{\"x\":1}");
    rig_says(w->r, "done");
    rig_says(w->r, "done");
    CHECK_EQ_INT(phi_prompt(w->agent, "go"), PHI_OK);
    (void)rig_run(w->r, 30);
}

static void end(world *w) {
    rig_free(w->r);
    phi_permissions_free(w->p);
}

TEST(rules_for_tools_answer_no_question_from_outside) {
    phi_permissions_desc how;
    phi_permissions *p;
    phi_hook hook;
    memset(&how, 0, sizeof how);
    memset(&hook, 0, sizeof hook);
    how.allocator = test_allocator();
    p = permit_new(&how, NULL);
    hook.point = PHI_HOOK_QUESTION;
    CHECK_EQ_INT(phi_permissions_hook(p, &hook), PHI_DENY);
    hook.point = PHI_HOOK_BEFORE_TURN;
    CHECK_EQ_INT(phi_permissions_hook(p, &hook), PHI_ALLOW);
    phi_permissions_free(p);
}

TEST(without_a_person_a_call_to_ask_about_is_denied_and_nothing_hangs) {
    world w;
    memset(&w, 0, sizeof w);
    begin(&w, PHI_PERMISSION_MODE_DEFAULT, false);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(w.agent)), 4);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(w.agent), 2)->content[0].text,
              "to be approved: echo: no rule allows it; there is nobody to ask");
    CHECK(phi_thread_message_at(phi_agent_thread(w.agent), 2)->is_error);
    end(&w);
    begin(&w, PHI_PERMISSION_MODE_PLAN, true);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(w.agent), 2)->content[0].text,
              "denied: echo: no rule allows it");
    CHECK_EQ_INT(w.asked, 0);
    end(&w);
}

TEST(an_allowed_call_runs_and_the_hosts_own_hook_has_its_word) {
    world w;
    memset(&w, 0, sizeof w);
    begin(&w, PHI_PERMISSION_MODE_ALL, true);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(w.agent), 2)->content[0].text, "{\"x\":1}");
    CHECK_EQ_INT(w.asked, 0);
    CHECK_EQ_INT(w.told, 2); /* before and after the tool */
    end(&w);
    w.next = PHI_DENY;
    begin(&w, PHI_PERMISSION_MODE_ALL, true);
    CHECK(phi_thread_message_at(phi_agent_thread(w.agent), 2)->is_error);
    end(&w);
}

TEST(a_question_may_wait_and_is_decided_later) {
    world w;
    memset(&w, 0, sizeof w);
    w.answer = PHI_WAIT;
    begin(&w, PHI_PERMISSION_MODE_DEFAULT, true);
    CHECK_EQ_INT(w.asked, 1);
    CHECK_EQ_STR(w.why, "to be approved: echo: no rule allows it");
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(w.agent)), 2);
    /* other rules change nothing about it */
    CHECK_EQ_INT(phi_permissions_set(w.p, phi_permissions_mode(PHI_PERMISSION_MODE_PLAN)), PHI_OK);
    (void)rig_run(w.r, 5);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(w.agent)), 2);
    CHECK_EQ_INT(phi_decide(w.ticket, PHI_ALLOW, NULL), PHI_OK);
    CHECK_EQ_INT(rig_run(w.r, 30), 0);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(w.agent), 2)->content[0].text, "{\"x\":1}");
    end(&w);
}

TEST(what_a_person_allows_the_hosts_own_hook_may_still_deny) {
    phi_pending_item item;
    world w;
    memset(&w, 0, sizeof w);
    w.next = PHI_DENY;
    begin(&w, PHI_PERMISSION_MODE_DEFAULT, true);
    CHECK_EQ_INT(w.asked, 1); /* and allowed it at once */
    CHECK_EQ_INT(w.told, 1);
    CHECK(phi_thread_message_at(phi_agent_thread(w.agent), 2)->is_error);
    end(&w);
    w.answer = PHI_WAIT;
    begin(&w, PHI_PERMISSION_MODE_DEFAULT, true);
    CHECK_EQ_INT(w.told, 0);
    CHECK_EQ_INT(phi_pending(rig_runtime(w.r), &item, 1), 1);
    CHECK(item.permissions == w.p);
    CHECK_EQ_INT(phi_decide(w.ticket, PHI_ALLOW, "{\"x\":2}"), PHI_OK);
    CHECK_EQ_INT(rig_run(w.r, 30), 0);
    CHECK_EQ_INT(w.asked, 1);
    CHECK_EQ_STR(w.seen, "{\"x\":2}"); /* what would run */
    CHECK_EQ_INT(w.round, 0);
    CHECK(phi_thread_message_at(phi_agent_thread(w.agent), 2)->is_error);
    /* and not the arguments as the reason */
    CHECK_STR(phi_thread_message_at(phi_agent_thread(w.agent), 2)->content[0].text,
              "Tool execution skipped by before_tool_execution hook.");
    end(&w);
}

TEST(the_hosts_own_hook_sees_the_arguments_that_a_person_has_changed_at_once) {
    phi_pending_item item;
    world w;
    memset(&w, 0, sizeof w);
    w.edits = w.waits = true;
    begin(&w, PHI_PERMISSION_MODE_DEFAULT, true);
    CHECK_EQ_STR(w.seen, "{\"x\":3}");
    CHECK_EQ_INT(phi_pending(rig_runtime(w.r), &item, 1), 1);
    CHECK(item.permissions == NULL); /* its wait is no question of the rules */
    CHECK_EQ_INT(phi_decide(w.ticket, PHI_ALLOW, NULL), PHI_OK);
    CHECK_EQ_INT(rig_run(w.r, 30), 0);
    CHECK_EQ_INT(w.asked, 1);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(w.agent), 2)->content[0].text, "{\"x\":3}");
    end(&w);
}

TEST(the_hosts_own_hook_may_wait_behind_a_persons_yes) {
    world w;
    memset(&w, 0, sizeof w);
    w.answer = PHI_WAIT;
    begin(&w, PHI_PERMISSION_MODE_DEFAULT, true);
    w.waits = true;
    CHECK_EQ_INT(phi_decide(w.ticket, PHI_ALLOW, "{\"x\":2}"), PHI_OK);
    (void)rig_run(w.r, 30);
    CHECK_EQ_INT(w.told, 1);
    CHECK_EQ_INT(phi_decide(w.ticket, PHI_ALLOW, "{\"x\":3}"), PHI_OK);
    CHECK_EQ_INT(rig_run(w.r, 30), 0);
    CHECK_EQ_INT(w.asked, 1);
    CHECK_EQ_INT(w.round, 1);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(w.agent), 2)->content[0].text, "{\"x\":3}");
    end(&w);
}

TEST(the_permissions_may_go_with_their_agent_while_a_question_waits) {
    world w;
    memset(&w, 0, sizeof w);
    w.answer = PHI_WAIT;
    begin(&w, PHI_PERMISSION_MODE_DEFAULT, true);
    phi_agent_free(w.agent);
    phi_permissions_free(w.p);
    w.p = NULL;
    CHECK_EQ_INT(phi_decide(w.ticket, PHI_ALLOW, NULL), PHI_STALE);
    (void)rig_run(w.r, 5);
    end(&w);
    w.free_agent = true;
    w.answer = PHI_ALLOW;
    begin(&w, PHI_PERMISSION_MODE_DEFAULT, true);
    CHECK_EQ_INT(w.asked, 1);
    end(&w);
    w.free_permissions = true;
    begin(&w, PHI_PERMISSION_MODE_DEFAULT, true);
    CHECK_EQ_INT(w.asked, 1);
    end(&w);
}

TEST(a_snapshot_with_a_waiting_question_asks_it_again) {
    world w;
    phi_memory memory;
    phi_arena arena;
    phi_str saved;
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_echo();
    tool.source = "files";
    memset(&w, 0, sizeof w);
    w.answer = PHI_WAIT;
    begin(&w, PHI_PERMISSION_MODE_DEFAULT, true);
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_agent_snapshot(w.agent, &arena, &saved), PHI_OK);
    phi_agent_free(w.agent);
    (void)rig_run(w.r, 2);
    desc.tools = &tool;
    desc.tool_count = 1;
    desc.hook_fn = phi_permissions_hook;
    desc.hook_points = PHI_HOOK_BEFORE_TOOL;
    desc.user_data = w.p;
    w.agent = phi_agent_restore(rig_runtime(w.r), &desc, saved, PHI_RESTORE_RESUME);
    CHECK(w.agent.rt != NULL);
    (void)rig_run(w.r, 10);
    CHECK_EQ_INT(w.asked, 2);
    CHECK_EQ_INT(phi_decide(w.ticket, PHI_DENY, "not today"), PHI_OK);
    CHECK_EQ_INT(rig_run(w.r, 30), 0);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(w.agent), 2)->content[0].text, "not today");
    phi_arena_free(&arena);
    end(&w);
}

/* ---- memory ---- */

static const char *const busy = "{\"command\":\"cd src && env make -j2 > out.txt; echo \\\"$(cat x "
                                "| sh -c 'ls; `pwd`')\\\" <<E "
                                "| xargs f\\n$(a)\\nE\\nfor i in 1 2; do eval 'x y'; done\"}";

TEST(every_allocation_may_fail) {
    int n;
    bool tripped = true;
    for (n = 0; tripped && n < 3000; n++) {
        phi_permissions_desc desc;
        phi_permissions *p;
        phi_memory memory;
        phi_arena arena;
        phi_allocator allocator = test_allocator();
        phi_permission_rules rules;
        phi_str json = phi_str_of("");
        memset(&desc, 0, sizeof desc);
        desc.allocator = allocator;
        desc.workspace = "/made/project";
        phi_memory_init(&memory, &allocator, 0);
        phi_arena_init(&arena, &memory, 0);
        test_alloc_fail_at(n);
        p = permit_new(&desc, NULL);
        if (p != NULL) {
            CHECK(check(p, "bash", busy) != ALLOW);
            CHECK(check(p, "bash", "{\"command\":\"rm -rf / ; echo $(ls)\"}") != ALLOW);
            (void)permit_always(p, PHI__LIT("bash"), phi_str_of("{\"command\":\"a b\"}"),
                                PHI_PERMISSION_SCOPE_KIND, &arena, &rules, NULL);
            (void)permit_always(p, PHI__LIT("bash"), phi_str_of(busy), PHI_PERMISSION_SCOPE_EXACT,
                                &arena, &rules, NULL);
            if (phi_permissions_to_json(phi_permissions_rules(p), &arena, &json) == PHI_OK &&
                phi_permissions_from_json(json, &arena, &rules, NULL) == PHI_OK)
                (void)phi_permissions_set(p, &rules);
        }
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        if (p != NULL) CHECK_EQ_INT(check(p, "bash", "{\"command\":\"rm -rf /\"}"), DENY);
        phi_arena_free(&arena);
        phi_permissions_free(p);
        if (!CHECK_EQ_INT(test_alloc_live_bytes(), 0)) return;
    }
    CHECK(n > 50 && !tripped);
    printf("  %d allocations failed, one after another\n", n - 1);
}

/* Commands of kinds of their own, the last with many words. */
static void many_words(char *out, size_t cap) {
    size_t i, n = (size_t)snprintf(out, cap, "{\"command\":\"");
    for (i = 1; i < 20; i++) n += (size_t)snprintf(out + n, cap - n, "x%d; ", (int)i);
    for (i = 1; i < 40; i++) n += (size_t)snprintf(out + n, cap - n, ">f ");
    n += (size_t)snprintf(out + n, cap - n, "; xargs x0");
    for (i = 0; i < 200; i++) n += (size_t)snprintf(out + n, cap - n, " w");
    (void)snprintf(out + n, cap - n, "\"}");
}

TEST(no_rule_is_overlooked_when_an_allocation_fails) {
    static char many[4000];
    phi_permission_rule rules[3];
    phi_permission_rules all, none;
    phi_permissions *p;
    int n;
    bool tripped = true;
    memset(&none, 0, sizeof none);
    memset(rules, 0, sizeof rules);
    rules[0].verdict = ALLOW;
    rules[1].verdict = DENY;
    rules[1].path = "**/secrets/of/somebody/with/a/long/name";
    rules[2].verdict = DENY;
    rules[2].host = "a.host.of.somebody.with.a.long.name";
    memset(&all, 0, sizeof all);
    all.rules = rules;
    all.count = 3;
    p = make(&all);
    many_words(many, sizeof many);
    for (n = 0; tripped && n < 3000; n++) {
        phi_memory memory;
        phi_allocator allocator = test_allocator();
        phi_arena arena;
        phi_permission_rules more;
        phi_str why;
        phi_permissions *strict = make(&none);
        phi_status status;
        phi_memory_init(&memory, &allocator, 0);
        phi_arena_init(&arena, &memory, 1);
        test_alloc_fail_at(n);
        CHECK(check(p, "read", "{\"path\":\"secrets/of/somebody/with/a/long/name\"}") != ALLOW);
        CHECK(check(p, "read", "{\"url\":\"http://a.host.of.somebody.with.a.long.name\"}") !=
              ALLOW);
        CHECK(check(p, "bash", "{\"command\":\"cat secrets/of/somebody/with/a/long/name\"}") !=
              ALLOW);
        if (permit_check(p, PHI__LIT("bash"), phi_str_of(busy), &why) != ALLOW)
            CHECK(phi__str_find(why, 0, "(no memory)") == SIZE_MAX);
        status = permit_always(strict, PHI__LIT("bash"), phi_str_of(many),
                               PHI_PERMISSION_SCOPE_EXACT, &arena, &more, NULL);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK(status == PHI_NO_MEMORY || status == PHI_REJECTED);
        phi_arena_free(&arena);
        phi_permissions_free(strict);
    }
    CHECK(n > 10 && !tripped);
    phi_permissions_free(p);
    CHECK_EQ_INT(test_alloc_live_bytes(), 0);
}

/* Parses a line while allocation n fails. Each allocation of the arena asks for a block. */
static bool parse_while_one_fails(phi_str line, int n) {
    phi_memory memory;
    phi_allocator allocator = test_allocator();
    phi_arena arena;
    phi__shell shell;
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 1);
    test_alloc_fail_at(n);
    phi_status status = phi__wrap_parse(&arena, line, &shell);
    bool tripped = test_alloc_tripped();
    test_alloc_fail_at(-1);
    CHECK_EQ_INT(status, tripped ? PHI_NO_MEMORY : PHI_OK);
    phi_arena_free(&arena);
    return tripped;
}

TEST(a_line_is_not_judged_after_a_failed_allocation) {
    static const char *const lines[] = {
        "cd a && rm x && ls && rm y; rm z",
        "cd a || cd b && rm x; rm z",
        "cd a; pushd; cd -; (cd b && rm y); rm z",
        "env -C a rm x && cd b && sh -c 'cd c && rm y' && rm z",
        "eval 'cd a && rm x'; f() { cd b && rm y; }; f && `rm z`",
        "find a b -name '*.c' -exec rm {} + ; rm {a,b}/{c,d} ; echo x | xargs rm y",
        "for i in $(ls) 'a b' $'\\n'; do sh <<< \"rm $i\"; done > out; git -c alias.x='!rm y' x",
        "awk '{system(\"rm x\")}' < in",
    };
    phi__buf here;
    phi_memory memory;
    phi_memory_init(&memory, NULL, 0);
    phi__buf_init(&here, &memory);
    phi__buf_text(&here, "sh <<E\n");
    for (int i = 0; i < 200; i++) phi__buf_text(&here, "echo some text\n");
    phi__buf_text(&here, "rm -rf /\nE\n");
    for (size_t i = 0; i <= PHI__COUNT(lines); i++) {
        phi_str line = i < PHI__COUNT(lines) ? phi_str_of(lines[i]) : phi__buf_str(&here);
        int n = 0;
        while (parse_while_one_fails(line, n) && n < 3000) n++;
        CHECK(n > 2 && n < 3000);
    }
    phi__buf_free(&here);
    CHECK_EQ_INT(test_alloc_live_bytes(), 0);
}

TEST(every_allocation_of_a_run_with_permissions_may_fail) {
    int n;
    bool tripped = true;
    for (n = 0; tripped && n < 3000; n++) {
        world w;
        memset(&w, 0, sizeof w);
        w.answer = PHI_WAIT;
        begin(&w, PHI_PERMISSION_MODE_DEFAULT, true);
        rig_call(w.r, "c2", "echo", "{\"x\":2}");
        w.answer = PHI_ALLOW;
        test_alloc_fail_at(n);
        (void)phi_decide(w.ticket, PHI_ALLOW, NULL);
        (void)rig_run(w.r, 60);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK_EQ_INT(rig_run(w.r, 60), 0);
        end(&w);
        if (!CHECK_EQ_INT(test_alloc_live_bytes(), 0)) return;
    }
    CHECK(n > 5 && !tripped);
}

/* ---- size ---- */

TEST(lines_that_are_long_deep_or_many_end_and_are_asked_about) {
    static char text[200000];
    static const char *const pieces[] = {"$(",   "`",   "( ",          "{ ",    "eval ",
                                         "env ", "a;",  "\\\"$(",      "${x:-", "$((",
                                         "<(",   "if ", "find -exec ", "a|",    "<<E "};
    phi_permissions *p = make(NULL);
    size_t i, n, sizes[] = {100, 5000, 150000};
    for (i = 0; i < PHI__COUNT(pieces) * 3; i++) {
        size_t len = strlen(pieces[i / 3]);
        (void)snprintf(text, sizeof text, "{\"command\":\"x ;");
        for (n = strlen(text); n + len + 3 < sizes[i % 3]; n += len)
            memcpy(text + n, pieces[i / 3], len);
        memcpy(text + n, "\"}", 3);
        CHECK(check(p, "bash", text) != ALLOW);
    }
    phi_permissions_free(p);
}

TEST(pieces_side_by_side_are_not_deep) {
    static const char *const pieces[] = {
        "${x} ", "$((1)) ", "$(:) ", "`:` ", "\\\"$(:)\\\" ", "<(:) ", "\\ncat <<E\\n$(:)\\nE\\n"};
    static char text[10000];
    phi_permissions *p = make(NULL);
    size_t i, k;
    for (i = 0; i < PHI__COUNT(pieces); i++) {
        size_t n = (size_t)snprintf(text, sizeof text, "{\"command\":\"echo ");
        for (k = 0; k < 200; k++) n += (size_t)snprintf(text + n, sizeof text - n, "%s", pieces[i]);
        (void)snprintf(text + n, sizeof text - n, "\"}");
        CHECK_EQ_INT(check(p, "bash", text), ALLOW);
    }
    for (i = 0; i < 2; i++) {
        size_t n = (size_t)snprintf(text, sizeof text, "{\"command\":\"");
        for (k = 0; k < 200; k++)
            n += (size_t)snprintf(text + n, sizeof text - n, "%s", i == 0 ? "(ls);" : "a=(1);");
        (void)snprintf(text + n, sizeof text - n, "\"}");
        CHECK_EQ_INT(check(p, "bash", text), ALLOW);
    }
    phi_permissions_free(p);
}

TEST(commands_behind_too_many_are_not_allowed) {
    static char text[10000];
    phi_permissions *p = make(NULL);
    size_t k, n = (size_t)snprintf(text, sizeof text, "{\"command\":\"");
    for (k = 0; k < 1000; k++) n += (size_t)snprintf(text + n, sizeof text - n, "ls;");
    (void)snprintf(text + n, sizeof text - n, "\"}");
    CHECK_EQ_INT(check(p, "bash", text), ALLOW);
    (void)snprintf(text + n, sizeof text - n, "npm test\"}");
    CHECK_EQ_INT(check(p, "bash", text), ASK);
    phi_permissions_free(p);
}

/* At the deepest level that is read, a here-document's commands are still seen. */
TEST(no_depth_hides_a_command) {
    static char text[4000];
    phi_permissions *p = make(NULL);
    size_t i, k;
    for (i = 0; i < 2; i++) { /* of plain ones, the deepest are not read at all */
        size_t n = (size_t)snprintf(text, sizeof text, "{\"command\":\"");
        for (k = 0; k < 60; k++)
            n += (size_t)snprintf(text + n, sizeof text - n, "%s", i == 0 ? "( " : "x=(");
        n += (size_t)snprintf(text + n, sizeof text - n, "ls");
        for (k = 0; k < 60; k++) n += (size_t)snprintf(text + n, sizeof text - n, ")");
        (void)snprintf(text + n, sizeof text - n, "\"}");
        CHECK_EQ_INT(check(p, "bash", text), ASK);
    }
    for (i = 0; i < 60; i++) {
        size_t n = (size_t)snprintf(text, sizeof text, "{\"command\":\"echo ");
        for (k = 0; k < i; k++) n += (size_t)snprintf(text + n, sizeof text - n, "$(echo ");
        n += (size_t)snprintf(text + n, sizeof text - n, "$(cat <<E\\n${x:-$(npm test)}\\nE\\n)");
        for (k = 0; k < i; k++) n += (size_t)snprintf(text + n, sizeof text - n, ")");
        (void)snprintf(text + n, sizeof text - n, "\"}");
        CHECK_EQ_INT(check(p, "bash", text), ASK);
    }
    phi_permissions_free(p);
}

TEST_MAIN(TEST_ENTRY(deny_counts_before_ask_and_ask_before_allow_in_any_order),
          TEST_ENTRY(tools_match_by_name_with_wildcards_and_alternatives),
          TEST_ENTRY(files_match_by_path_inside_and_outside_of_the_workspace),
          TEST_ENTRY(paths_that_no_file_has_are_never_allowed_and_always_denied),
          TEST_ENTRY(a_servers_tool_with_the_name_of_a_built_in_one_is_not_judged_by_its_rules),
          TEST_ENTRY(files_that_the_host_runs_are_written_only_after_a_question_in_every_mode),
          TEST_ENTRY(a_path_that_is_too_long_is_said_so_and_a_long_word_of_a_command_is_no_path),
          TEST_ENTRY(a_rule_may_name_the_argument_that_is_the_path),
          TEST_ENTRY(what_a_program_was_told_does_not_count_for_the_next),
          TEST_ENTRY(rules_are_copied),
          TEST_ENTRY(a_rule_on_all_of_a_shell_allows_its_redirections),
          TEST_ENTRY(a_verdict_says_which_part_it_is_of_and_why),
          TEST_ENTRY(without_a_workspace_what_climbs_out_of_it_is_outside),
          TEST_ENTRY(urls_match_by_their_plain_host),
          TEST_ENTRY(a_host_is_denied_in_whatever_way_it_is_written),
          TEST_ENTRY(what_excuses_a_command_stands_there_as_the_rule_says_it),
          TEST_ENTRY(arguments_match_by_name_or_as_a_whole),
          TEST_ENTRY(words_that_are_not_known_match_only_a_last_star),
          TEST_ENTRY(each_mode_has_its_verdicts),
          TEST_ENTRY(always_makes_the_narrowest_rules_and_they_allow_the_call),
          TEST_ENTRY(what_is_always_allowed_to_a_server_is_allowed_to_nobody_else),
          TEST_ENTRY(a_path_is_denied_wherever_it_stands_in_a_servers_arguments),
          TEST_ENTRY(a_path_behind_too_many_texts_of_a_server_is_asked_about),
          TEST_ENTRY(a_word_of_which_a_part_is_certain_may_be_a_rules),
          TEST_ENTRY(a_rule_that_asks_is_answered_for_this_very_call_and_no_other),
          TEST_ENTRY(a_pattern_that_may_match_a_file_of_a_rule_that_denies_is_asked_about),
          TEST_ENTRY(a_rule_names_the_options_that_a_command_may_have),
          TEST_ENTRY(always_refuses_what_no_rule_should_allow),
          TEST_ENTRY(rules_are_the_same_through_json),
          TEST_ENTRY(a_number_that_is_no_verdict_is_written_as_ask),
          TEST_ENTRY(rules_that_are_misspelt_are_refused_with_their_place),
          TEST_ENTRY(rules_for_tools_answer_no_question_from_outside),
          TEST_ENTRY(without_a_person_a_call_to_ask_about_is_denied_and_nothing_hangs),
          TEST_ENTRY(an_allowed_call_runs_and_the_hosts_own_hook_has_its_word),
          TEST_ENTRY(a_question_may_wait_and_is_decided_later),
          TEST_ENTRY(what_a_person_allows_the_hosts_own_hook_may_still_deny),
          TEST_ENTRY(the_hosts_own_hook_may_wait_behind_a_persons_yes),
          TEST_ENTRY(the_hosts_own_hook_sees_the_arguments_that_a_person_has_changed_at_once),
          TEST_ENTRY(the_permissions_may_go_with_their_agent_while_a_question_waits),
          TEST_ENTRY(a_snapshot_with_a_waiting_question_asks_it_again),
          TEST_ENTRY(every_allocation_may_fail),
          TEST_ENTRY(no_rule_is_overlooked_when_an_allocation_fails),
          TEST_ENTRY(a_line_is_not_judged_after_a_failed_allocation),
          TEST_ENTRY(every_allocation_of_a_run_with_permissions_may_fail),
          TEST_ENTRY(lines_that_are_long_deep_or_many_end_and_are_asked_about),
          TEST_ENTRY(pieces_side_by_side_are_not_deep),
          TEST_ENTRY(commands_behind_too_many_are_not_allowed),
          TEST_ENTRY(no_depth_hides_a_command))
