/* test_list_search.c - the tools that look around: listing and searching. */
#include "calls.h"
#include "agent/agent_info.h"

#include <fcntl.h>
#include <stdlib.h>

static void check_tail(const calls *c, const char *want) {
    size_t n = strlen(want);
    if (CHECK(c->len >= n)) CHECK_EQ_STR(c->text + c->len - n, want);
}

static void make_tree(const calls *c) {
    calls_mkdir(c, "src");
    calls_mkdir(c, "src/deep");
    calls_mkdir(c, "src/deep/er");
    calls_mkdir(c, "target");
    calls_mkdir(c, "node_modules");
    calls_mkdir(c, ".git");
    calls_put(c, "b.txt", "Beta\n");
    calls_put(c, "a.c", "int alpha;\n");
    calls_put(c, ".hidden", "h\n");
    calls_put(c, "src/main.c", "int main;\nint Main2;\n");
    calls_put(c, "src/deep/x.h", "int x;\n");
    calls_put(c, "src/deep/er/y.h", "int y;\n");
    calls_put(c, "target/out.c", "int no;\n");
    calls_put(c, "node_modules/m.c", "int no;\n");
    calls_put(c, ".git/config", "int no\n");
}

TEST(files_are_listed_sorted_without_what_is_never_wanted) {
    calls c;
    REQUIRE(calls_open(&c, NULL));
    make_tree(&c);
    check_call(&c, "list_files", "{}", false,
               ".hidden\na.c\nb.txt\nsrc/deep/x.h\nsrc/main.c\n\n(5 files)\n"
               "(left out: 2 ignored entries)",
               "{\"total\":5,\"truncated\":false,\"ignored\":2}");
    check_call(&c, "list_files", "{\"path\":\"src/\",\"max_depth\":4}", false,
               "src/deep/er/y.h\nsrc/deep/x.h\nsrc/main.c\n\n(3 files)", NULL);
    check_call(&c, "list_files", "{\"path\":\".\",\"max_depth\":1}", false,
               ".hidden\na.c\nb.txt\n\n(3 files)", NULL);
    check_call(&c, "list_files", "{\"path\":\"./src\",\"pattern\":\"*.h\"}", false,
               "./src/deep/er/y.h\n./src/deep/x.h\n\n(2 files)", NULL);
    check_call(&c, "list_files", "{\"pattern\":\"src/**/*.h\"}", false,
               "src/deep/x.h\n\n(1 files)\n(left out: 2 ignored entries)", NULL);
    calls_close(&c);
}

TEST(a_listing_says_how_many_ignored_entries_it_left_out) {
    calls c;
    REQUIRE(calls_open(&c, NULL));
    calls_mkdir(&c, "sub");
    calls_mkdir(&c, "sub/out");
    calls_put(&c, ".ignore", "*.o\nout/\n");
    calls_put(&c, "sub/a.o", "");
    check_call(&c, "list_files", "{\"path\":\"sub\"}", false,
               "No files found in sub\n(left out: 2 ignored entries)",
               "{\"total\":0,\"truncated\":false,\"ignored\":2}");
    calls_put(&c, "sub/b.c", "");
    check_call(&c, "list_files", "{\"path\":\"sub\",\"pattern\":\"b*\"}", false,
               "sub/b.c\n\n(1 files)\n(left out: 1 ignored entry)",
               "{\"total\":1,\"truncated\":false,\"ignored\":1}");
    calls_mkdir(&c, "sub/node_modules");
    calls_mkdir(&c, "sub/.git");
    check_call(&c, "list_files", "{\"path\":\"sub\"}", false,
               "sub/b.c\n\n(1 files)\n(left out: 3 ignored entries)", NULL);
    calls_close(&c);
}

TEST(what_is_never_wanted_is_left_out_at_any_depth_and_so_is_what_an_ignore_file_names) {
    calls c;
    REQUIRE(calls_open(&c, NULL));
    make_tree(&c);
    calls_mkdir(&c, "src/target");
    calls_mkdir(&c, "src/deep/.git");
    calls_put(&c, "src/target/out.o", "");
    calls_put(&c, "src/deep/.git/HEAD", "");
    calls_put(&c, ".ignore", "*.txt\nmain.c\n");
    check_call(&c, "list_files", "{}", false,
               ".hidden\n.ignore\na.c\nsrc/deep/x.h\n\n(4 files)\n(left out: 5 ignored entries)",
               "{\"total\":4,\"truncated\":false,\"ignored\":5}");
    calls_close(&c);
}

TEST(no_files_is_said_and_no_error) {
    calls c;
    REQUIRE(calls_open(&c, NULL));
    check_call(&c, "list_files", "{}", false, "No files found in .",
               "{\"total\":0,\"truncated\":false}");
    make_tree(&c);
    check_call(&c, "list_files", "{\"path\":\"src\",\"pattern\":\"*.py\"}", false,
               "No files found in src", NULL);
    check_call(&c, "list_files", "{\"max_depth\":0}", false, "No files found in .", NULL);
    calls_close(&c);
}

TEST(a_missing_directory_is_told) {
    calls c;
    REQUIRE(calls_open(&c, NULL));
    calls_put(&c, "f", "x");
    check_call(&c, "list_files", "{\"path\":\"none\"}", true,
               "Directory not found: none. Check the path and try again.", "");
    check_call(&c, "list_files", "{\"path\":\"f\"}", true,
               "Directory not found: f. Check the path and try again.", "");
    check_call(&c, "list_files", "{\"path\":\"..\"}", true,
               "Cannot access ..: it is outside the allowed paths", "");
    check_call(&c, "list_files", "{\"path\":7}", true, "Invalid arguments: 'path' must be a string",
               "");
    calls_close(&c);
}

TEST(two_hundred_files_are_shown_and_all_are_counted) {
    char name[32];
    int i;
    calls c;
    REQUIRE(calls_open(&c, NULL));
    for (i = 0; i < 1001; i++) {
        (void)snprintf(name, sizeof name, "f%04d", i);
        calls_put(&c, name, "");
    }
    if (call(&c, "list_files", "{}")) {
        check_tail(&c, "\nf0198\nf0199\n\n... (1001 files, showing first 200)");
        CHECK(strncmp(c.text, "f0000\nf0001\n", 12) == 0);
        CHECK_EQ_INT(c.len, 200 * 6 - 1 + 37);
        CHECK_EQ_STR(c.details, "{\"total\":1001,\"truncated\":true}");
    }
    calls_close(&c);
}

/* Many names, in an order that is none, of few files: a link is made sooner than a file. NTFS
   gives a file at most 1,023 of them. */
static bool put_links(calls *c, int count) {
    char from[32], to[32];
    int i;
    bool good = true;
    for (i = 0; i < count && good; i++) {
        unsigned n = (unsigned)i * 7919u % (unsigned)count;
        (void)snprintf(to, sizeof to, "f%06u", n);
        if (i % 1000 == 0) {
            memcpy(from, to, sizeof from);
            calls_put(c, from, "");
        } else
            good = calls_link(c, from, to);
    }
    return CHECK(good);
}

TEST(a_listing_that_takes_too_long_ends) {
    calls c;
    phi_tools_desc desc = PHI_ZERO;
    desc.list_timeout_ms = 1800;
    REQUIRE(calls_open(&c, &desc));
    CHECK(put_links(&c, 5000));
    calls_begin(&c, "list_files", "{}");
    calls_go_on(&c, 2);
    CHECK(!c.ended);
    rig_pass_ms(c.r, 900);
    (void)calls_step(&c);
    CHECK(!c.ended);
    rig_pass_ms(c.r, 900);
    while (calls_step(&c) > 0) continue;
    CHECK_EQ_STR(c.text, "Listing timed out");
    CHECK(c.is_error);
    calls_close(&c);
}

TEST(odd_names_are_listed_as_text) {
    calls c;
    REQUIRE(calls_open(&c, NULL));
    calls_put(&c, "a\nb", "");
    calls_put(&c, "\xff", "");
    check_call(&c, "list_files", "{}", false, "a?b\n\xef\xbf\xbd\n\n(2 files)", NULL);
    calls_close(&c);
}

TEST(names_forge_no_entries_and_say_nothing_to_a_terminal) {
    calls c;
    REQUIRE(calls_open(&c, NULL));
    calls_mkdir(&c, "d\n(9 files)\n");
    calls_put(&c, "d\n(9 files)\n/x\nnew", "");
    calls_put(&c, "\x1b[2J\x1b]0;evil\x07", "");
    calls_put(&c,
              "\xc2\x9b"
              "1m\t\r",
              "");
    check_call(&c, "list_files", "{}", false,
               "?[2J?]0;evil?\nd?(9 files)?/x?new\n?1m??\n\n(3 files)", NULL);
    check_call(&c, "list_files", "{\"path\":\"d\\n(9 files)\\n\"}", false,
               "d?(9 files)?/x?new\n\n(1 files)", NULL);
    check_call(&c, "list_files", "{\"path\":\"d\\n(9 files)\\n\",\"pattern\":\"*.c\"}", false,
               "No files found in d?(9 files)?", NULL);
    check_call(&c, "list_files", "{\"path\":\"no\\u001b[2J\"}", true,
               "Directory not found: no?[2J. Check the path and try again.", "");
    calls_close(&c);
}

TEST(a_listing_takes_steps_by_the_number_of_files_and_memory_by_what_is_shown) {
    static const int counts[] = {2001, 8001};
    int i;
    for (i = 0; i < 2; i++) {
        char tail[80];
        size_t peak = 0;
        calls c;
        REQUIRE(calls_open(&c, NULL));
        if (put_links(&c, counts[i]) && call(&c, "list_files", "{}")) {
            (void)snprintf(tail, sizeof tail,
                           "\nf000198\nf000199\n\n... (%d files, showing first 200)", counts[i]);
            check_tail(&c, tail);
            CHECK(strncmp(c.text, "f000000\nf000001\n", 16) == 0);
            CHECK(c.steps >= counts[i] / 1024);
            if (!CHECK(c.steps <= counts[i] / 1024 + 4)) printf("  %d steps\n", c.steps);
            peak = phi_agent_get_info(c.agent).memory_peak;
            if (!CHECK(peak < 100000)) printf("  %zu bytes\n", peak);
        }
        calls_close(&c);
    }
}

TEST(a_listing_of_more_than_a_step_shows_is_whole_and_in_order) {
    phi_tools_desc desc = PHI_ZERO;
    calls c;
    int i, n;
    desc.max_files = 5000;
    REQUIRE(calls_open(&c, &desc));
    if (put_links(&c, 3001) && call(&c, "list_files", "{}")) {
        check_tail(&c, "\nf003000\n\n(3001 files)");
        for (i = 0; i < 3001; i++)
            if (sscanf(c.text + i * 8, "f%6d", &n) != 1 || n != i) break;
        CHECK_EQ_INT(i, 3001);
    }
    calls_close(&c);
}

/* ---- search ---- */

/* The same tests with rg and, by a PATH that has no rg, with grep. */
static void use_path(calls *c, bool grep_only) {
    static char before[4096];
    char only[600];
    if (!grep_only) {
        if (before[0] != '\0') (void)setenv("PATH", before, 1);
        return;
    }
    (void)snprintf(before, sizeof before, "%s", getenv("PATH"));
    (void)snprintf(only, sizeof only, "%s/../bin", c->dir);
    calls_mkdir(c, ".bin");
#if !defined(_WIN32)
    CHECK(symlink(access("/bin/grep", X_OK) == 0 ? "/bin/grep" : "/usr/bin/grep",
                  calls_path(c, ".bin/grep")) == 0);
#endif
    (void)setenv("PATH", calls_path(c, ".bin"), 1);
}

static bool has_rg(void) {
    if (system("rg --version > /dev/null 2>&1") == 0) return true;
    test_skip("rg is not installed");
    return false;
}

static void search_scenario(calls *c) {
    check_call(c, "search", "{\"pattern\":\"int m\",\"path\":\"src\"}", false,
               "src/main.c:1:int main;\nsrc/main.c:2:int Main2;\n(2 matches)", "{\"matches\":2}");
    check_call(c, "search", "{\"pattern\":\"int M\",\"path\":\"src\",\"case_sensitive\":true}",
               false, "src/main.c:2:int Main2;\n(1 matches)", "{\"matches\":1}");
    check_call(c, "search", "{\"pattern\":\"alpha|Beta\",\"include\":\"*.txt\"}", false,
               "b.txt:1:Beta\n(1 matches)", NULL);
    check_call(c, "search", "{\"pattern\":\"alpha\",\"path\":\"a.c\"}", false,
               "a.c:1:int alpha;\n(1 matches)", NULL);
    check_call(c, "search", "{\"pattern\":\"nowhere\"}", false, "No matches found for 'nowhere'",
               "{\"matches\":0}");
    calls_put(c, "dash", "--version\n-e x\n");
    check_call(c, "search", "{\"pattern\":\"--version\",\"path\":\"dash\"}", false,
               "dash:1:--version\n(1 matches)", NULL);
    check_call(c, "search", "{\"pattern\":\"-e\",\"path\":\"dash\"}", false,
               "dash:2:-e x\n(1 matches)", NULL);
    calls_put(c, "-f", "odd\n");
    check_call(c, "search", "{\"pattern\":\"odd\",\"path\":\"-f\"}", false, "-f:1:odd\n(1 matches)",
               NULL);
#if !defined(_WIN32) /* which has no such names */
    calls_mkdir(c, "forged");
    calls_put(c, "forged/x\nb.txt:9:no \x1b[2J", "needle \x1b[31m\n");
    calls_put(c, "forged/y:1:z", "needle\n");
    check_call(c, "search", "{\"pattern\":\"needle\",\"path\":\"forged\",\"include\":\"x*\"}",
               false, "forged/x?b.txt:9:no ?[2J:1:needle ?[31m\n(1 matches)", NULL);
    check_call(c, "search", "{\"pattern\":\"needle\",\"path\":\"forged\",\"include\":\"y*\"}",
               false, "forged/y:1:z:1:needle\n(1 matches)", NULL);
#endif
    if (call(c, "search", "{\"pattern\":\"(\"}")) {
        CHECK(strncmp(c->text, "Search error: ", 14) == 0);
        CHECK(c->is_error && c->len > 20);
    }
    if (call(c, "search", "{\"pattern\":\"x\",\"path\":\"none\"}")) {
        CHECK(strncmp(c->text, "Search error: ", 14) == 0);
        CHECK(strstr(c->text, "No such file or directory") != NULL);
    }
}

/* rg notices a NUL behind the first 64 KiB after it has told a match, and says so in a line without a
   NUL behind a name: it stands before the next name, and is taken out. */
TEST(a_notice_about_a_binary_file_makes_no_line) {
    FILE *f;
    int i;
    calls c;
    if (!has_rg()) return;
    REQUIRE(calls_open(&c, NULL));
    c.set.desc.search_with = PHI_SEARCH_RG;
    f = fopen(calls_path(&c, "a"), "wb");
    REQUIRE(f != NULL);
    (void)fputs("needle\n", f);
    for (i = 0; i < 200000; i++) (void)fputs("x\n", f);
    (void)fwrite("\0\n", 1, 2, f);
    (void)fclose(f);
    calls_put(&c, "b", "needle\n");
    check_call(&c, "search", "{\"pattern\":\"needle\"}", false,
               "a:1:needle\nb:1:needle\n(2 matches)", NULL);
    calls_close(&c);
}

TEST(rg_finds_lines) {
    calls c;
    if (!has_rg()) return;
    REQUIRE(calls_open(&c, NULL));
    c.set.desc.search_with = PHI_SEARCH_RG;
    make_tree(&c);
    search_scenario(&c);
    calls_close(&c);
}

TEST(grep_finds_the_same_lines_where_the_host_wants_it) {
    phi_tools_desc desc = PHI_ZERO;
    calls c;
    desc.search_with = PHI_SEARCH_GREP;
    REQUIRE(calls_open(&c, &desc));
    make_tree(&c);
    use_path(&c, true);
    search_scenario(&c);
    use_path(&c, false);
    calls_close(&c);
}

TEST(our_own_engine_finds_the_same_lines_where_there_is_no_rg) {
    calls c;
    REQUIRE(calls_open(&c, NULL));
    c.set.desc.unconfined = true;
    make_tree(&c);
    use_path(&c, true);
    search_scenario(&c);
    use_path(&c, false);
    calls_close(&c);
}

TEST(a_program_that_the_host_wants_and_that_is_not_there_is_named) {
    phi_tools_desc desc = PHI_ZERO;
    calls c;
    desc.search_with = PHI_SEARCH_RG;
    REQUIRE(calls_open(&c, &desc));
    use_path(&c, true);
    (void)unlink(calls_path(&c, ".bin/grep"));
    check_call(&c, "search", "{\"pattern\":\"x\"}", true, "Search error: rg was not found", "");
    use_path(&c, false);
    calls_close(&c);
    desc.search_with = PHI_SEARCH_GREP;
    REQUIRE(calls_open(&c, &desc));
    use_path(&c, true);
    (void)unlink(calls_path(&c, ".bin/grep"));
    check_call(&c, "search", "{\"pattern\":\"x\"}", true, "Search error: grep was not found", "");
    use_path(&c, false);
    calls_close(&c);
}

static void many_matches(calls *c) {
    char lines[4000] = "";
    int i;
    for (i = 0; i < 40; i++) (void)snprintf(lines + strlen(lines), 24, "hit %d\n", i);
    calls_put(c, "one", lines);
    calls_put(c, "two", lines);
    if (call(c, "search", "{\"pattern\":\"hit\",\"path\":\"one\"}"))
        check_tail(c, "\none:40:hit 39\n(40 matches)");
    if (call(c, "search", "{\"pattern\":\"hit\"}")) {
        CHECK(strstr(c->text, "\n... (showing first 50 matches)") != NULL);
        CHECK_EQ_STR(c->details, "{\"matches\":50}");
        CHECK(!c->is_error);
    }
}

TEST(fifty_matches_are_shown_of_all_files_together) {
    calls c;
    REQUIRE(calls_open(&c, NULL));
    many_matches(&c);
    calls_close(&c);
    REQUIRE(calls_open(&c, NULL));
    use_path(&c, true);
    many_matches(&c);
    use_path(&c, false);
    calls_close(&c);
}

TEST(a_long_line_is_cut) {
    char *line = (char *)malloc(300002);
    calls c;
    REQUIRE(calls_open(&c, NULL));
    memset(line, 'z', 300000);
    memcpy(line + 300000, "\n", 2);
    calls_put(&c, "long", line);
    if (call(&c, "search", "{\"pattern\":\"zzz\"}")) {
        CHECK(strncmp(c.text, "long:1:zzzz", 11) == 0);
        check_tail(&c, "zzzz... (line truncated)\n(1 matches)");
        CHECK(c.len < 2100);
    }
    free(line);
    calls_close(&c);
}

TEST(a_search_stays_inside_the_workspace) {
    calls c;
    REQUIRE(calls_open(&c, NULL));
    check_call(&c, "search", "{\"pattern\":\"root\",\"path\":\"/etc\"}", true,
               "Cannot access /etc: it is outside the allowed paths", "");
    CHECK(symlink("..", calls_path(&c, "link")) == 0);
    check_call(&c, "search", "{\"pattern\":\"root\",\"path\":\"link\"}", true,
               "Cannot access link: it is outside the allowed paths", "");
    check_call(&c, "search", "{\"pattern\":\"root\"}", false, "No matches found for 'root'", NULL);
    check_call(&c, "search", "{}", true, "Invalid arguments: missing 'pattern' parameter", "");
    check_call(&c, "search", "{\"pattern\":\"x\",\"case_sensitive\":\"no\"}", true,
               "Invalid arguments: 'case_sensitive' must be true or false", "");
    calls_close(&c);
}

TEST(a_search_that_takes_too_long_is_ended) {
    phi_tools_desc desc = PHI_ZERO;
    calls c;
    if (!has_rg()) return;
    desc.search_with = PHI_SEARCH_RG;
    REQUIRE(calls_open(&c, &desc));
    CHECK(mkfifo(calls_path(&c, ".ignore"), 0600) == 0); /* nobody will ever write */
    calls_begin(&c, "search", "{\"pattern\":\"x\"}");
    calls_go_on(&c, 20);
    CHECK(!c.ended);
    rig_pass_stepping_ms(c.r, 30000);
    while (calls_step(&c) > 0) continue;
    CHECK_EQ_STR(c.text, "Search timed out");
    CHECK(c.is_error);
    calls_close(&c);
}

TEST(cancelling_a_search_or_a_listing_leaves_nothing) {
    phi_tools_desc desc = PHI_ZERO;
    calls c;
    if (!has_rg()) return;
    desc.search_with = PHI_SEARCH_RG;
    REQUIRE(calls_open(&c, &desc));
    CHECK(mkfifo(calls_path(&c, ".ignore"), 0600) == 0);
    calls_begin(&c, "search", "{\"pattern\":\"x\"}");
    calls_go_on(&c, 20);
    CHECK_EQ_INT(phi_abort(c.agent), PHI_OK);
    while (calls_step(&c) > 0) continue;
    CHECK_EQ_STR(c.text, "Cancelled");
    calls_close(&c);
}

/* One call that is aborted after some steps: it says so, and all that it had opened is closed. */
static void cancelled_at(const char *tool, const char *arguments, int steps) {
    calls c;
    int before, after;
    REQUIRE(calls_open(&c, NULL));
    CHECK(put_links(&c, 5000));
    before = open(".", O_RDONLY);
    calls_begin(&c, tool, arguments);
    calls_go_on(&c, steps);
    CHECK(!c.ended);
    CHECK_EQ_INT(phi_abort(c.agent), PHI_OK);
    while (calls_step(&c) > 0) continue;
    CHECK_EQ_STR(c.text, "Cancelled");
    CHECK(c.is_error);
    (void)close(before);
    after = open(".", O_RDONLY); /* the lowest number that is free */
    CHECK_EQ_INT(after, before);
    (void)close(after);
    calls_close(&c);
}

TEST(a_listing_that_is_cancelled_says_so_and_closes_what_it_had_open) {
    int steps;
    for (steps = 1; steps <= 3; steps++) cancelled_at("list_files", "{}", steps);
}

TEST(a_search_without_rg_that_is_cancelled_says_so_and_closes_what_it_had_open) {
    calls c;
    REQUIRE(calls_open(&c, NULL));
    make_tree(&c);
    use_path(&c, true); /* no rg: phi's own engine */
    cancelled_at("search", "{\"pattern\":\"x\"}", 1);
    use_path(&c, false);
    calls_close(&c);
}

TEST_MAIN(
    TEST_ENTRY(files_are_listed_sorted_without_what_is_never_wanted),
    TEST_ENTRY(a_listing_says_how_many_ignored_entries_it_left_out),
    TEST_ENTRY(what_is_never_wanted_is_left_out_at_any_depth_and_so_is_what_an_ignore_file_names),
    TEST_ENTRY(no_files_is_said_and_no_error), TEST_ENTRY(a_missing_directory_is_told),
    TEST_ENTRY(two_hundred_files_are_shown_and_all_are_counted),
    TEST_ENTRY(a_listing_that_takes_too_long_ends), TEST_ENTRY(odd_names_are_listed_as_text),
    TEST_ENTRY(names_forge_no_entries_and_say_nothing_to_a_terminal),
    TEST_ENTRY(a_listing_takes_steps_by_the_number_of_files_and_memory_by_what_is_shown),
    TEST_ENTRY(a_listing_of_more_than_a_step_shows_is_whole_and_in_order),
    TEST_ENTRY(a_notice_about_a_binary_file_makes_no_line), TEST_ENTRY(rg_finds_lines),
    TEST_ENTRY(grep_finds_the_same_lines_where_the_host_wants_it),
    TEST_ENTRY(our_own_engine_finds_the_same_lines_where_there_is_no_rg),
    TEST_ENTRY(a_program_that_the_host_wants_and_that_is_not_there_is_named),
    TEST_ENTRY(fifty_matches_are_shown_of_all_files_together), TEST_ENTRY(a_long_line_is_cut),
    TEST_ENTRY(a_search_stays_inside_the_workspace),
    TEST_ENTRY(a_search_that_takes_too_long_is_ended),
    TEST_ENTRY(cancelling_a_search_or_a_listing_leaves_nothing),
    TEST_ENTRY(a_listing_that_is_cancelled_says_so_and_closes_what_it_had_open),
    TEST_ENTRY(a_search_without_rg_that_is_cancelled_says_so_and_closes_what_it_had_open))
