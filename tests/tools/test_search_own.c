/* test_search_own.c - searching without a program: which files, which lines, and at what cost. */
#include "calls.h"

static bool open_own(calls *c, uint32_t most) {
    phi_tools_desc desc = PHI_ZERO;
    desc.search_with = PHI_SEARCH_OWN;
    desc.max_matches = most;
    return calls_open(c, &desc);
}

static void make_tree(const calls *c) {
    calls_mkdir(c, ".git");
    calls_mkdir(c, ".git/info");
    calls_put(c, ".git/info/exclude", "excluded\n");
    calls_put(c, ".git/config", "needle\n");
    calls_put(c, ".gitignore", "# build\n*.o\n!keep.o\n/out/\n/deep/a/no\n");
    calls_mkdir(c, "deep");
    calls_mkdir(c, "deep/a");
    calls_mkdir(c, "out");
    calls_put(c, "excluded", "needle\n");
    calls_put(c, "a.o", "needle\n");
    calls_put(c, "keep.o", "needle\n");
    calls_put(c, ".hidden", "needle\n");
    calls_put(c, "out/x", "needle\n");
    calls_put(c, "deep/out", "needle\n");
    calls_put(c, "deep/.gitignore", "a/*.c\n!.seen\n");
    calls_put(c, "deep/.seen", "needle\n");
    calls_put(c, "deep/a/no", "needle\n");
    calls_put(c, "deep/a/x.c", "needle\n");
    calls_put(c, "deep/a/x.h", "needle\n");
    calls_put(c, "deep/a/y.h", "needle\n");
    calls_put(c, "deep/a/.ignore", "y.h\n!x.c\n");
    calls_put(c, "deep-b", "Needle\n");
}

TEST(ignore_files_hidden_files_and_the_order_of_names) {
    calls c;
    REQUIRE(open_own(&c, 0));
    make_tree(&c);
    check_call(&c, "search", "{\"pattern\":\"needle\"}", false,
               "deep/.seen:1:needle\ndeep/a/x.c:1:needle\ndeep/a/x.h:1:needle\ndeep/out:1:needle\n"
               "deep-b:1:Needle\nkeep.o:1:needle\n(6 matches)",
               "{\"matches\":6}");
    check_call(&c, "search", "{\"pattern\":\"needle\",\"path\":\"deep/a\",\"case_sensitive\":true}",
               false, "deep/a/x.c:1:needle\ndeep/a/x.h:1:needle\n(2 matches)", NULL);
    check_call(&c, "search", "{\"pattern\":\"needle\",\"path\":\"./deep/a/\",\"include\":\"*.h\"}",
               false, "./deep/a/x.h:1:needle\n./deep/a/y.h:1:needle\n(2 matches)", NULL);
    check_call(&c, "search", "{\"pattern\":\"needle\",\"include\":\"deep/**/*.{c,h}\"}", false,
               "deep/a/x.c:1:needle\ndeep/a/x.h:1:needle\ndeep/a/y.h:1:needle\n(3 matches)", NULL);
    check_call(&c, "search", "{\"pattern\":\"needle\",\"include\":\"!deep\"}", false,
               "deep-b:1:Needle\nkeep.o:1:needle\n(2 matches)", NULL);
    check_call(&c, "search", "{\"pattern\":\"needle\",\"path\":\"out/x\"}", false,
               "out/x:1:needle\n(1 matches)", NULL);
    check_call(
        &c, "list_files", "{\"max_depth\":9}", false,
        ".gitignore\n.hidden\ndeep-b\ndeep/.gitignore\ndeep/.seen\ndeep/a/.ignore\ndeep/a/x.c\n"
        "deep/a/x.h\ndeep/out\nkeep.o\n\n(10 files)\n"
        "(left out: 5 ignored entries)",
        NULL);
    check_call(&c, "list_files", "{\"path\":\"deep\",\"pattern\":\"*.{c,h}\"}", false,
               "deep/a/x.c\ndeep/a/x.h\n\n(2 files)\n(left out: 1 ignored entry)", NULL);
    calls_close(&c);
}

/* Rules that compare their whole length with each byte of a path. */
TEST(costly_rules_are_asked_in_slices) {
    char rules[65537], path[1100];
    size_t i, k;
    calls c;
    REQUIRE(open_own(&c, 0));
    for (i = 0; i + 2001 <= 65536; i += 2001) {
        memset(rules + i, 'b', 2001);
        memcpy(rules + i, "**/*[", 5);
        memcpy(rules + i + 1998, "]z\n", 3);
    }
    rules[i] = '\0';
    calls_put(&c, ".ignore", rules);
    path[0] = '\0';
    for (k = 0, i = 0; k < 4; k++) {
        if (k > 0) path[i++] = '/';
        memset(path + i, 'a', 150);
        path[i += 150] = '\0';
    }
    (void)calls_put_deep(&c, path, "needle");
    if (call(&c, "search", "{\"pattern\":\"needle\"}")) {
        CHECK(strstr(c.text, "aaa:1:needle\n(1 matches)") != NULL);
        CHECK(c.steps > 12);
    }
    if (call(&c, "list_files", "{\"max_depth\":9}")) {
        if (!CHECK(strstr(c.text, "aaa\n\n(2 files)") != NULL)) printf("  %s\n", c.text);
        CHECK(c.steps > 50);
    }
    calls_close(&c);
}

TEST(a_long_ignore_file_ends_with_a_whole_line) {
    char *rules = (char *)malloc(262144 + 16);
    calls c;
    REQUIRE(open_own(&c, 0));
    memset(rules, '\n', 262143);
    (void)strcpy(rules + 262143, "*.o\n");
    memcpy(rules, "*.a\n", 4);
    calls_put(&c, ".ignore", rules);
    calls_put(&c, "x.c", "needle\n");
    calls_put(&c, "x.a", "needle\n");
    check_call(&c, "search", "{\"pattern\":\"needle\"}", false, "x.c:1:needle\n(1 matches)", NULL);
    calls_close(&c);
    free(rules);
}

TEST(large_ignore_files_are_read_one_a_step_or_a_few) {
    char rules[65537], name[32];
    size_t i;
    calls c;
    REQUIRE(open_own(&c, 0));
    for (i = 0; i < 65536; i += 2) memcpy(rules + i, "a\n", 2);
    rules[65536] = '\0';
    for (i = 0; i < 24; i++) {
        (void)snprintf(name, sizeof name, "d%02d", (int)i);
        calls_mkdir(&c, name);
        (void)strcat(name, "/.ignore");
        calls_put(&c, name, rules);
    }
    if (call(&c, "list_files", "{\"pattern\":\"x\"}")) CHECK(c.steps >= 24);
    if (call(&c, "search", "{\"pattern\":\"needle\"}")) CHECK(c.steps >= 24 / 8);
    calls_close(&c);
}

TEST(a_pattern_of_names_has_a_greatest_length) {
    char arguments[2200];
    calls c;
    REQUIRE(open_own(&c, 0));
    memset(arguments, 'a', sizeof arguments);
    memcpy(arguments, "{\"pattern\":\"", 12);
    memcpy(arguments + 12 + 2049, "\"}", 3);
    check_call(&c, "list_files", arguments, true,
               "Cannot list .: the pattern is longer than 2,048 bytes", NULL);
    calls_close(&c);
}

TEST(without_a_repository_gitignore_does_not_count) {
    calls c;
    REQUIRE(open_own(&c, 0));
    calls_put(&c, ".gitignore", "a\n");
    calls_put(&c, ".rgignore", "b\n");
    calls_put(&c, "a", "needle\n");
    calls_put(&c, "b", "needle\n");
    calls_mkdir(&c, "sub"); /* the top of one: what is above does not count for git */
    calls_mkdir(&c, "sub/.git");
    calls_put(&c, "sub/a", "needle\n");
    calls_put(&c, "sub/b", "needle\n");
    /* The tests' own directory lies in the repository of phi. */
    if (call(&c, "search", "{\"pattern\":\"needle\",\"path\":\"sub\"}"))
        CHECK_EQ_STR(c.text, "sub/a:1:needle\n(1 matches)");
    calls_close(&c);
}

/* A character of a name that is no text, and how it is shown. */
#if defined(_WIN32)
#define ODD "\x7f"
#else
#define ODD "\n"
#endif
#define ODD_SHOWN "?"

TEST(texts_of_every_kind) {
    calls c;
    REQUIRE(open_own(&c, 0));
    calls_put(&c, "crlf", "needle\r\nx needle\r\n");
    check_call(&c, "search", "{\"pattern\":\"needle\",\"path\":\"crlf\"}", false,
               "crlf:1:needle\ncrlf:2:x needle\n(2 matches)", NULL);
    check_call(&c, "search", "{\"pattern\":\"needle$\",\"path\":\"crlf\"}", false,
               "No matches found for 'needle$'", NULL);
    calls_put(&c, "end", "a\nneedle");
    check_call(&c, "search", "{\"pattern\":\"^needle$\",\"path\":\"end\"}", false,
               "end:2:needle\n(1 matches)", NULL);
    calls_put(&c, "mark", "\xEF\xBB\xBFneedle\n");
    check_call(&c, "search", "{\"pattern\":\"^needle\",\"path\":\"mark\"}", false,
               "mark:1:needle\n(1 matches)", NULL);
    calls_put(&c, "bytes", "\xff needle \x1b[2J\n");
    check_call(&c, "search", "{\"pattern\":\"needle\",\"path\":\"bytes\"}", false,
               "bytes:1:\xEF\xBF\xBD needle ?[2J\n(1 matches)", NULL);
    calls_put_bytes(&c, "binary", "needle\n\0needle\n", 15);
    calls_put(&c, "nothing", "");
    calls_put(&c, "a" ODD "b", "needle\n");
    check_call(&c, "search", "{\"pattern\":\"needle\",\"include\":\"{binary,nothing,a?b}\"}", false,
               "a" ODD_SHOWN "b:1:needle\n(1 matches)", NULL);
    calls_close(&c);
}

/* A line over several pieces of 64 KiB, one whose character is cut by them, and a binary end. */
TEST(pieces_of_a_file_are_no_edges) {
    char *text = (char *)malloc(300000);
    calls c;
    REQUIRE(open_own(&c, 0));
    memset(text, 'z', 300000);
    memcpy(text, "abc\n", 4);
    memcpy(text + 65535, "\xc3\xa9", 2);
    memcpy(text + 200000, "needle\nneedle\n", 14);
    calls_put_bytes(&c, "long", text, 200014);
    if (call(&c, "search", "{\"pattern\":\"needle|abc\"}")) {
        CHECK(strncmp(c.text, "long:1:abc\nlong:2:zzzz", 22) == 0);
        CHECK(strstr(c.text, "zz... (line truncated)\nlong:3:needle\n(3 matches)") != NULL);
        CHECK(c.len < 2100);
    }
    if (call(&c, "search", "{\"pattern\":\"z\\u00e9zz\",\"path\":\"long\"}"))
        CHECK(strstr(c.text, "(line truncated)\n(1 matches)") != NULL);
    text[199999] = '\0';
    calls_put_bytes(&c, "long", text, 200014);
    check_call(&c, "search", "{\"pattern\":\"needle|abc\"}", false, "long:1:abc\n(1 matches)",
               NULL);
    text[5] = '\0';
    calls_put_bytes(&c, "long", text, 200014);
    check_call(&c, "search", "{\"pattern\":\"needle|abc\"}", false,
               "No matches found for 'needle|abc'", NULL);
    free(text);
    calls_close(&c);
}

TEST(what_cannot_be_searched_is_said) {
    calls c;
    REQUIRE(open_own(&c, 0));
    calls_put(&c, "f", "needle\n");
#if !defined(_WIN32)                                  /* which has no such files */
    CHECK(mkfifo(calls_path(&c, "pipe"), 0600) == 0); /* nobody will ever write */
    check_call(&c, "search", "{\"pattern\":\"x\",\"path\":\"pipe\"}", true,
               "Search error: pipe: Not a regular file", "");
#endif
    check_call(&c, "search", "{\"pattern\":\"needle\"}", false, "f:1:needle\n(1 matches)", NULL);
    check_call(&c, "search", "{\"pattern\":\"x\",\"path\":\"none\"}", true,
               "Search error: none: No such file or directory", "");
    check_call(&c, "search", "{\"pattern\":\"a(\"}", true,
               "Search error: pattern, column 2: a group without its closing parenthesis", "");
    check_call(&c, "search", "{\"pattern\":\"a\",\"include\":\"[\"}", true,
               "Search error: include \"[\": a set without its closing bracket", "");
    calls_close(&c);
}

/* So many names of few files: NTFS gives a file at most 1,023 more names. */
static bool put_links(calls *c, int count) {
    char from[32] = "", to[32];
    int i;
    bool good = true;
    for (i = 0; i < count && good; i++) {
        (void)snprintf(to, sizeof to, "f%06d", (int)((unsigned)i * 7919u % (unsigned)count));
        if (i % 1000 == 0) {
            memcpy(from, to, sizeof from);
            calls_put(c, from, "needle\n");
        } else
            good = calls_link(c, from, to);
    }
    return CHECK(good);
}

TEST(a_search_of_many_files_takes_many_steps_and_ends_with_the_last_match_it_shows) {
    calls c;
    REQUIRE(open_own(&c, 3001));
    CHECK(put_links(&c, 3000));
    if (call(&c, "search", "{\"pattern\":\"needle\"}")) {
        CHECK(strncmp(c.text, "f000000:1:needle\nf000001:1:needle\n", 34) == 0);
        CHECK(strstr(c.text, "\nf002999:1:needle\n(3000 matches)") != NULL);
        CHECK(c.steps >= 3000 / 140);
    }
    calls_close(&c);
    REQUIRE(open_own(&c, 0));
    CHECK(put_links(&c, 3000));
    if (call(&c, "search", "{\"pattern\":\"needle\"}")) {
        CHECK(strstr(c.text, "\nf000049:1:needle\n... (showing first 50 matches)") != NULL);
        CHECK(c.steps < 12);
    }
    calls_close(&c);
}

TEST(a_search_in_its_midst_can_be_cancelled_time_out_and_be_freed) {
    int way;
    for (way = 0; way < 3; way++) {
        calls c;
        phi_tools_desc desc = PHI_ZERO;
        desc.search_with = PHI_SEARCH_OWN;
        desc.max_matches = 100000;
        desc.search_timeout_ms = 900;
        REQUIRE(calls_open(&c, &desc));
        CHECK(put_links(&c, 2000));
        calls_begin(&c, "search", "{\"pattern\":\"needle\"}");
        calls_go_on(&c, 3);
        CHECK(!c.ended);
        if (way == 0) CHECK_EQ_INT(phi_abort(c.agent), PHI_OK);
        if (way == 1) rig_pass_ms(c.r, 900);
        if (way == 2) phi_agent_free(c.agent);
        while (calls_step(&c) > 0) continue;
        if (way < 2) CHECK_EQ_STR(c.text, way == 0 ? "Cancelled" : "Search timed out");
        calls_close(&c);
    }
}

TEST(what_vanishes_during_the_walk_is_not_there) {
    char name[32];
    int i;
    calls c;
    REQUIRE(open_own(&c, 100000));
    CHECK(put_links(&c, 2000));
    calls_mkdir(&c, "g");
    calls_put(&c, "g/h", "needle\n");
    calls_begin(&c, "search", "{\"pattern\":\"needle\"}");
    calls_go_on(&c, 5);
    CHECK(!c.ended);
    for (i = 1000; i < 2000; i++) {
        (void)snprintf(name, sizeof name, "f%06d", i);
        CHECK(unlink(calls_path(&c, name)) == 0);
    }
    CHECK(unlink(calls_path(&c, "g/h")) == 0 && rmdir(calls_path(&c, "g")) == 0);
    while (calls_step(&c) > 0) continue;
    CHECK(!c.is_error);
    CHECK(strstr(c.text, "\nf000999:1:needle\n(1000 matches)") != NULL);
    calls_close(&c);
}

TEST(a_deep_tree_is_walked_and_come_back_from) {
    char where[4096];
    int i;
    calls c;
    REQUIRE(open_own(&c, 0));
    calls_put(&c, "z", "needle\n");
    for (i = 0; i < 300; i++) memcpy(where + 2 * i, "d/", 2);
    (void)strcpy(where + 600, "f");
    (void)calls_put_deep(&c, where, "needle");
    (void)snprintf(where + 600, sizeof where - 600, "f:1:needle\nz:1:needle\n(2 matches)");
    check_call(&c, "search", "{\"pattern\":\"needle\"}", false, where, NULL);
    calls_close(&c);
}

/* ---- as ripgrep ---- */

static void as_ripgrep(const char *workspace, const char *arguments) {
    phi_tools_desc desc = PHI_ZERO;
    calls own, rg;
    desc.workspace = workspace;
    desc.max_matches = 1000000;
    desc.search_with = PHI_SEARCH_OWN;
    REQUIRE(calls_open(&own, &desc));
    desc.search_with = PHI_SEARCH_RG;
    REQUIRE(calls_open(&rg, &desc));
    if (call(&own, "search", arguments) && call(&rg, "search", arguments)) {
        if (!CHECK(strcmp(own.text, rg.text) == 0)) printf("  %s\n", arguments);
        CHECK(!own.is_error && own.len > 100);
    }
    calls_close(&own);
    calls_close(&rg);
}

TEST(the_sources_of_phi_give_the_same_lines_as_ripgrep) {
    static const char *const asked[] = {
        "{\"pattern\":\"phi__regex_[a-z]+\\\\(\",\"path\":\"src\"}",
        "{\"pattern\":\"\\\\bstatic\\\\s+bool\\\\b.*\\\\{$\",\"include\":\"*.c\"}",
        "{\"pattern\":\"todo|fixme|\\u00e9|\\u20ac\"}",
        "{\"pattern\":\"^$\",\"path\":\"docs\",\"include\":\"*.md\"}",
        "{\"pattern\":\"(?-i)PHI_[A-Z]{3,}\",\"path\":\"src/base\"}",
        "{\"pattern\":\"\\\\d{2,4}-\\\\d\\\\d?\",\"path\":\"tests\"}"};
    char here[4096];
    size_t i;
    if (system("rg --version > /dev/null 2>&1") != 0) {
        test_skip("rg is not installed");
        return;
    }
    REQUIRE(getcwd(here, sizeof here) != NULL);
    for (i = 0; i < PHI__COUNT(asked); i++) as_ripgrep(here, asked[i]);
}

TEST_MAIN(TEST_ENTRY(ignore_files_hidden_files_and_the_order_of_names),
          TEST_ENTRY(costly_rules_are_asked_in_slices),
          TEST_ENTRY(a_long_ignore_file_ends_with_a_whole_line),
          TEST_ENTRY(large_ignore_files_are_read_one_a_step_or_a_few),
          TEST_ENTRY(a_pattern_of_names_has_a_greatest_length),
          TEST_ENTRY(without_a_repository_gitignore_does_not_count),
          TEST_ENTRY(texts_of_every_kind), TEST_ENTRY(pieces_of_a_file_are_no_edges),
          TEST_ENTRY(what_cannot_be_searched_is_said),
          TEST_ENTRY(a_search_of_many_files_takes_many_steps_and_ends_with_the_last_match_it_shows),
          TEST_ENTRY(a_search_in_its_midst_can_be_cancelled_time_out_and_be_freed),
          TEST_ENTRY(what_vanishes_during_the_walk_is_not_there),
          TEST_ENTRY(a_deep_tree_is_walked_and_come_back_from),
          TEST_ENTRY(the_sources_of_phi_give_the_same_lines_as_ripgrep))
