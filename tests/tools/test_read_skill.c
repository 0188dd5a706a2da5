/* test_read_skill.c - the tool that reads a skill: what a model gets, and that it cannot leave the
   directory. */
#include "folders.h"
#include "tools/calls.h"
#include "agent/agent_info.h"

typedef struct lesson {
    calls c; /* its agent has read_skill alone */
    phi_skills *skills;
    phi_tool tool;
    char root[512];
} lesson;

/* The text of "git" and its files. */
static void lesson_write(const char *root) {
    folders_text(root, "all/git/SKILL.md",
                 "---\nname: git\ndescription: Commits.\n---\n\n# Git\nRun {baseDir}/run.sh, then "
                 "{baseDir}.\nlast\n");
    folders_text(root, "all/git/references/forms.md", "one\ntwo\nthree\nfour\n");
    folders_text(root, "all/git/run.sh", "echo {baseDir}\n");
    folders_text(root, "all/other/SKILL.md", "---\nname: other\ndescription: x\n---\nbody");
    folders_text(root, "secret", "secret");
}

static bool lesson_open(lesson *l, uint32_t max_read_bytes) {
    phi_skills_desc desc = PHI_ZERO;
    phi_agent_desc agent = rig_desc();
    memset(l, 0, sizeof *l);
    if (!test_temp_dir(l->root, sizeof l->root)) return false;
    lesson_write(l->root);
    desc.allocator = test_allocator();
    desc.max_read_bytes = max_read_bytes;
    l->skills = phi_skills_new(&desc);
    if (!CHECK_EQ_INT(folders_load(l->skills, folders_path(l->root, "all"), NULL), PHI_OK))
        return false;
    CHECK_EQ_INT(phi_skills_tool(l->skills, &l->tool), PHI_OK);
    l->c.r = rig_new();
    rig_silent(l->c.r, true);
    agent.tools = &l->tool;
    agent.tool_count = 1;
    agent.limits.max_turns = 1000;
    l->c.agent = rig_agent(l->c.r, &agent);
    calls_forget(&l->c);
    return CHECK(phi_agent_alive(l->c.agent));
}

static void lesson_close(lesson *l) {
    calls_close(&l->c);
    phi_skills_free(l->skills);
}

static void check_read(lesson *l, const char *arguments, bool is_error, const char *want) {
    check_call(&l->c, "read_skill", arguments, is_error, want, NULL);
}

TEST(the_instructions_come_without_front_matter_and_with_the_directory) {
    lesson l;
    char want[1200];
    const char *base;
    REQUIRE(lesson_open(&l, 0));
    base = phi_skills_at(l.skills, 0)->base_dir.at;
    (void)snprintf(want, sizeof want, "# Git\nRun %s/run.sh, then %s.\nlast\n", base, base);
    check_call(&l.c, "read_skill", "{\"name\":\"git\"}", false, want,
               "{\"skill\":\"git\",\"file\":\"SKILL.md\",\"truncated\":false}");
    check_read(&l, "{\"name\":\"git\",\"file\":\"\"}", false, want);
    check_read(&l, "{\"name\":\"git\",\"file\":\"SKILL.md\",\"offset\":3}", false, "last\n");
    check_read(&l, "{\"name\":\"other\"}", false, "body");
    lesson_close(&l);
}

TEST(other_files_come_as_they_are_or_by_their_lines) {
    lesson l;
    REQUIRE(lesson_open(&l, 0));
    check_read(&l, "{\"name\":\"git\",\"file\":\"references/forms.md\"}", false,
               "one\ntwo\nthree\nfour\n");
    check_read(&l, "{\"name\":\"git\",\"file\":\"references/forms.md\",\"offset\":2,\"limit\":2}",
               false, "two\nthree\n");
    check_read(
        &l, "{\"name\":\"git\",\"file\":\"references/forms.md\",\"offset\":9}", true,
        "Cannot read references/forms.md of the skill \"git\": it has 4 lines, offset was 9");
    check_read(&l, "{\"name\":\"git\",\"file\":\"run.sh\"}", false, "echo {baseDir}\n");
    check_call(&l.c, "read_skill", "{\"name\":\"git\",\"file\":\".\"}", false,
               "SKILL.md\nreferences/\nrun.sh",
               "{\"skill\":\"git\",\"directory\":\".\",\"truncated\":false}");
    check_read(&l, "{\"name\":\"git\",\"file\":\"references\"}", false, "forms.md");
    lesson_close(&l);
}

TEST(long_files_are_cut_at_a_line_that_is_named) {
    lesson l;
    REQUIRE(lesson_open(&l, 10));
    check_call(&l.c, "read_skill", "{\"name\":\"git\",\"file\":\"references/forms.md\"}", false,
               "one\ntwo\n\n... (cut at 10 bytes; continue with offset 3)",
               "{\"skill\":\"git\",\"file\":\"references/forms.md\",\"truncated\":true}");
    check_read(&l, "{\"name\":\"git\",\"file\":\"references/forms.md\",\"offset\":3}", false,
               "three\n\n... (cut at 10 bytes; continue with offset 4)");
    folders_text(l.root, "all/git/long", "0123456789abcdef\nx\n");
    check_read(&l, "{\"name\":\"git\",\"file\":\"long\"}", false,
               "0123456789\n... (cut at 10 bytes; continue with offset 2)");
    check_read(&l, "{\"name\":\"git\",\"file\":\"long\",\"offset\":2}", false, "x\n");
    lesson_close(&l);
}

TEST(nothing_leads_out_of_the_directory) {
    static const char *const ways[] = {
        "../../secret",
        "../other/SKILL.md",
        "link",
        "dir/secret",
        "/etc/passwd",
#if !defined(_WIN32) /* Wine shows no link to nothing */
        "dangling",
#endif
        "references/../../..",
        "loop"
    };
    lesson l;
    size_t i;
    REQUIRE(lesson_open(&l, 0));
    CHECK(symlink("../../secret", folders_path(l.root, "all/git/link")) == 0);
    CHECK(symlink("../..", folders_path(l.root, "all/git/dir")) == 0);
    CHECK(symlink("../../nowhere", folders_path(l.root, "all/git/dangling")) == 0);
    CHECK(symlink("loop", folders_path(l.root, "all/git/loop")) == 0);
    CHECK(symlink("run.sh", folders_path(l.root, "all/git/inside")) == 0);
    for (i = 0; i < PHI__COUNT(ways); i++) {
        char arguments[200], want[300];
        (void)snprintf(arguments, sizeof arguments, "{\"name\":\"git\",\"file\":\"%s\"}", ways[i]);
        (void)snprintf(want, sizeof want, "Cannot read %s of the skill \"git\": %s", ways[i],
                       strcmp(ways[i], "loop") == 0 ? "Too many levels of symbolic links"
                                                    : "it lies outside the directory of the skill");
        check_read(&l, arguments, true, want);
    }
    check_read(&l, "{\"name\":\"git\",\"file\":\"inside\"}", false, "echo {baseDir}\n");
    check_read(&l, "{\"name\":\"git\",\"file\":\"references/../run.sh\"}", false,
               "echo {baseDir}\n");
    lesson_close(&l);
}

TEST(faults_are_named) {
    lesson l;
    REQUIRE(lesson_open(&l, 0));
    check_read(&l, "{}", true, "Invalid arguments: missing 'name' parameter");
    check_read(&l, "{\"name\":\"gti\"}", true, "There is no skill \"gti\". Skills: git, other");
    check_read(&l, "{\"name\":\"git\",\"file\":\"none.md\"}", true,
               "Cannot read none.md of the skill \"git\": No such file or directory");
    check_read(&l, "{\"name\":\"git\",\"file\":7}", true,
               "Invalid arguments: 'file' must be a string");
    folders_put(l.root, "all/git/bytes", "a\0b", 3);
    check_read(&l, "{\"name\":\"git\",\"file\":\"bytes\"}", true,
               "Cannot read bytes of the skill \"git\": it is not a text");
    folders_put(l.root, "all/git/latin", "\xe9t\xe9", 3);
    check_read(&l, "{\"name\":\"git\",\"file\":\"latin\"}", false, "\xef\xbf\xbdt\xef\xbf\xbd");
    folders_put(l.root, "all/git/empty", "", 0);
    check_read(&l, "{\"name\":\"git\",\"file\":\"empty\"}", false, "");
    CHECK(mkdir(folders_path(l.root, "all/git/none"), 0777) == 0);
    check_read(&l, "{\"name\":\"git\",\"file\":\"none\"}", false, "(an empty directory)");
    lesson_close(&l);
}

TEST(a_skill_that_changes_or_vanishes_is_told) {
    lesson l;
    REQUIRE(lesson_open(&l, 0));
    folders_text(l.root, "all/git/SKILL.md", "---\nname: git\ndescription: New.\n---\nnew\n");
    check_read(&l, "{\"name\":\"git\"}", false, "new\n");
    folders_text(l.root, "all/git/SKILL.md", "nothing\n");
    check_read(&l, "{\"name\":\"git\"}", true,
               "Cannot read SKILL.md of the skill \"git\": it has changed since the skills were "
               "loaded, and has no front matter now");
    CHECK(unlink(folders_path(l.root, "all/git/SKILL.md")) == 0);
    check_read(&l, "{\"name\":\"git\"}", true,
               "Cannot read SKILL.md of the skill \"git\": No such file or directory");
    CHECK(rename(folders_path(l.root, "all/git"), folders_path(l.root, "moved")) == 0);
    CHECK(symlink("../moved", folders_path(l.root, "all/git")) == 0);
    check_read(
        &l, "{\"name\":\"git\",\"file\":\"run.sh\"}", true,
        "Cannot read run.sh of the skill \"git\": the directory of the skill has moved since "
        "the skills were loaded");
    lesson_close(&l);
}

TEST(a_large_file_is_read_in_slices_and_a_cancelled_call_ends) {
    lesson l;
    size_t n = 300000, i;
    char *text = (char *)malloc(n + 1);
    REQUIRE(CHECK(text != NULL) && lesson_open(&l, 0));
    for (i = 0; i < n; i++) text[i] = i % 50 == 49 ? '\n' : 'x';
    text[n] = '\0';
    folders_text(l.root, "all/git/large", text);
    if (call(&l.c, "read_skill",
             "{\"name\":\"git\",\"file\":\"large\",\"offset\":5000,\"limit\":2}"))
        CHECK_EQ_INT(l.c.len, 100);
    CHECK(l.c.steps >= 3);
    calls_begin(&l.c, "read_skill", "{\"name\":\"git\",\"file\":\"large\"}");
    calls_go_on(&l.c, 1);
    CHECK_EQ_INT(phi_abort(l.c.agent), PHI_OK);
    while (calls_step(&l.c) > 0) continue;
    CHECK_EQ_STR(l.c.text, "Cancelled");
    free(text);
    lesson_close(&l);
}

static void fail_each(const char *arguments) {
    int n = 0, left;
    bool tripped;
    do {
        lesson l;
        phi_status status;
        if (!lesson_open(&l, 0)) return;
        rig_call(l.c.r, "c1", "read_skill", arguments);
        rig_says(l.c.r, "done");
        test_alloc_fail_at(n++);
        status = phi_prompt(l.c.agent, "go");
        CHECK(status == PHI_OK || status == PHI_NO_MEMORY);
        left = 2000;
        while (status == PHI_OK && rig_step(l.c.r) > 0 && left-- > 0) rig_pass_ms(l.c.r, 1);
        CHECK(left > 0);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK_EQ_INT(phi_agent_get_info(l.c.agent).running, false);
        lesson_close(&l);
    } while (tripped && n < 1000);
    CHECK(n > 20);
}

TEST(reading_survives_each_failed_allocation) {
    fail_each("{\"name\":\"git\"}");
    fail_each("{\"name\":\"git\",\"file\":\"references\"}");
    fail_each("{\"name\":\"none\"}");
}

TEST_MAIN(TEST_ENTRY(the_instructions_come_without_front_matter_and_with_the_directory),
          TEST_ENTRY(other_files_come_as_they_are_or_by_their_lines),
          TEST_ENTRY(long_files_are_cut_at_a_line_that_is_named),
          TEST_ENTRY(nothing_leads_out_of_the_directory), TEST_ENTRY(faults_are_named),
          TEST_ENTRY(a_skill_that_changes_or_vanishes_is_told),
          TEST_ENTRY(a_large_file_is_read_in_slices_and_a_cancelled_call_ends),
          TEST_ENTRY(reading_survives_each_failed_allocation))
