/* test_skills.c - loading directories of skills: what is found, who wins, what is left out and why. */
#include "folders.h"

#include "base/arena.h"

static const char git[] =
    "---\nname: git\ndescription: Commits & branches.\n---\n\n# Git\nDo it.\n";

TEST(skills_of_a_directory_are_sorted_and_have_their_fields) {
    char dir[512];
    phi_skills *skills = folders_skills();
    const phi_skill *skill;
    REQUIRE(test_temp_dir(dir, sizeof dir));
    folders_text(dir, "weather/SKILL.md", "---\nname: weather\ndescription: Forecasts.\n---\nx\n");
    folders_text(dir, "git/SKILL.md",
                 "---\nname: git\ndescription: \"Commits: and branches\"\nlicense: MIT\n"
                 "compatibility: needs git\nallowed-tools: Bash(git:*) Read\nmetadata:\n"
                 "  author: ada\n  version: 1.0\n  on: yes\n---\nbody\n");
    folders_text(dir, "empty/readme.txt", "no skill");
    folders_text(dir, "file.md", "no skill");
    CHECK_EQ_INT(folders_load(skills, dir, "workspace"), PHI_OK);
    CHECK_EQ_STR(folders_problems(skills), "");
    CHECK_EQ_INT(folders_count(skills), 2);
    skill = phi_skills_at(skills, 0);
    REQUIRE(CHECK(skill != NULL));
    CHECK_STR(skill->name, "git");
    CHECK_STR(skill->description, "Commits: and branches");
    CHECK_STR(skill->license, "MIT");
    CHECK_STR(skill->compatibility, "needs git");
    CHECK_STR(skill->allowed_tools, "Bash(git:*) Read");
    CHECK_STR(skill->source, "workspace");
    CHECK_EQ_INT(skill->metadata_count, 3);
    CHECK_STR(skill->metadata[1].key, "version");
    CHECK_STR(skill->metadata[1].value, "1.0");
    CHECK_STR(skill->metadata[2].value, "yes");
    CHECK(strcmp(skill->base_dir.at + skill->base_dir.len - 4, "/git") == 0);
    CHECK(strcmp(skill->file_path.at + skill->file_path.len - 13, "/git/SKILL.md") == 0);
    CHECK(strncmp(skill->base_dir.at, dir, strlen(dir)) == 0); /* absolute, as `dir` is */
    CHECK(folders_find(skills, "git") == skill);
    CHECK(folders_find(skills, "gi") == NULL);
    CHECK(phi_skills_at(skills, 2) == NULL);
    phi_skills_free(skills);
}

TEST(a_later_directory_wins_and_a_missing_one_is_a_problem) {
    char dir[512];
    const char *dirs[3];
    phi_skills *skills = folders_skills(), *bundled = folders_skills();
    REQUIRE(test_temp_dir(dir, sizeof dir));
    folders_text(dir, "a/git/SKILL.md", git);
    folders_text(dir, "a/only/SKILL.md", "---\nname: only\ndescription: Of a.\n---\n");
    folders_text(dir, "b/git/SKILL.md", "---\nname: git\ndescription: Of b.\n---\n");
    dirs[0] = folders_path(dir, "a");
    dirs[1] = folders_path(dir, "none");
    dirs[2] = folders_path(dir, "b");
    CHECK_EQ_INT(folders_load(skills, dirs[0], NULL), PHI_OK);
    CHECK_EQ_INT(folders_load(skills, dirs[1], NULL), PHI_NOT_FOUND);
    CHECK_EQ_INT(folders_load(skills, dirs[2], NULL), PHI_OK);
    CHECK_EQ_INT(folders_count(skills), 2);
    CHECK_STR(phi_skills_at(skills, 0)->description, "Of b.");
    CHECK_STR(phi_skills_at(skills, 0)->source, "dir:2");
    CHECK_STR(phi_skills_at(skills, 1)->source, "dir:0");
    CHECK_EQ_STR(folders_problems(skills), "none: No such file or directory\n");
    CHECK_EQ_INT(folders_load(bundled, dirs[1], "x"), PHI_NOT_FOUND);
    CHECK_EQ_STR(folders_problems(bundled), "none: No such file or directory\n");
    CHECK_EQ_INT(folders_load(bundled, dirs[0], "bundled"), PHI_OK);
    CHECK_EQ_INT(folders_load(bundled, dirs[0], NULL), PHI_OK); /* over what is there */
    CHECK_EQ_INT(folders_load(bundled, dirs[2], NULL), PHI_OK);
    phi_skills_free(skills);
    CHECK_EQ_INT(folders_count(bundled), 2);
    CHECK_STR(phi_skills_at(bundled, 0)->description, "Of b.");
    CHECK_STR(phi_skills_at(bundled, 1)->source, "dir:0");
    phi_skills_free(bundled);
}

TEST(one_broken_skill_does_not_stop_the_others) {
    char dir[512];
    phi_skills *skills = folders_skills();
    REQUIRE(test_temp_dir(dir, sizeof dir));
    folders_text(dir, "git/SKILL.md", git);
    folders_text(dir, "plain/SKILL.md", "# No front matter\n");
    CHECK_EQ_INT(folders_load(skills, dir, NULL), PHI_OK);
    CHECK_EQ_INT(folders_count(skills), 1);
    CHECK_EQ_STR(folders_problems(skills),
                 "SKILL.md:1: no front matter: expected a line \"---\" at the beginning\n");
    CHECK(!phi_skills_problem_at(skills, 0)->loaded);
    CHECK_STR(phi_skills_problem_at(skills, 0)->file, folders_path(dir, "plain/SKILL.md"));
    phi_skills_free(skills);
}

TEST(a_directory_whose_name_is_not_utf_8_holds_no_skill) {
#ifndef __APPLE__ /* its file systems refuse such names */
    char dir[512];
    phi_skills *skills = folders_skills();
    REQUIRE(test_temp_dir(dir, sizeof dir));
    folders_text(dir, "a\377b/SKILL.md", git);
    (void)folders_load(skills, folders_path(dir, "a\377b/SKILL.md"), NULL);
    CHECK_EQ_INT(folders_count(skills), 0);
    CHECK(strstr(folders_problems(skills), "the name of the directory is not UTF-8") != NULL);
    phi_skills_free(skills);
#endif
}

/* The problems of one skill, in a directory "one". */
static const char *problems_of(const char *text, size_t n, size_t want) {
    char dir[512];
    static char out[8192];
    phi_skills *skills = folders_skills();
    out[0] = '\0';
    if (!test_temp_dir(dir, sizeof dir)) return out;
    folders_put(dir, "one/SKILL.md", text, n);
    (void)folders_load(skills, folders_path(dir, "one/SKILL.md"), NULL);
    CHECK_EQ_INT(folders_count(skills), want);
    (void)snprintf(out, sizeof out, "%s", folders_problems(skills));
    phi_skills_free(skills);
    return out;
}

static void check_problems(const char *text, size_t loaded, const char *want) {
    CHECK_EQ_STR(problems_of(text, strlen(text), loaded), want);
}

TEST(faults_that_keep_a_skill_out_are_named_with_their_line) {
    check_problems("---\nname: one\n", 0,
                   "SKILL.md: no end of the front matter: expected a second line \"---\"\n");
    check_problems("", 0,
                   "SKILL.md:1: no front matter: expected a line \"---\" at the beginning\n");
    check_problems("---\ndescription: x\n---\n", 0, "SKILL.md: the field \"name\" is missing\n");
    check_problems("---\nname: one\n---\n", 0, "SKILL.md: the field \"description\" is missing\n");
    check_problems("---\nname: one\ndescription:\n---\n", 0,
                   "SKILL.md:3: description: expected a text that is not empty\n");
    check_problems("---\nname: one\ndescription:\n  - x\n---\n", 0,
                   "SKILL.md:3: description: expected a text that is not empty\n");
    check_problems("---\n- name\n---\n", 0,
                   "SKILL.md:1: the front matter is no mapping of fields\n");
    CHECK_EQ_STR(problems_of("---\nname: one\ndescription: \xff\n---\n", 33, 0),
                 "SKILL.md: the front matter is not UTF-8\n");
}

TEST(faults_that_only_break_the_standard_are_warnings) {
    char text[2048], name[80];
    check_problems(
        "---\nname: One\ndescription: x\n---\n", 1,
        "- SKILL.md:2: name \"One\": expected lower case\n"
        "- SKILL.md:2: name \"One\": expected the name of its directory, \"one\", which is "
        "used\n");
    check_problems(
        "---\nname: -a--b_\ndescription: x\n---\n", 1,
        "- SKILL.md:2: name \"-a--b_\": expected letters, digits and hyphens alone\n"
        "- SKILL.md:2: name \"-a--b_\": expected no hyphen at its beginning or end\n"
        "- SKILL.md:2: name \"-a--b_\": expected no two hyphens in a row\n"
        "- SKILL.md:2: name \"-a--b_\": expected the name of its directory, \"one\", which "
        "is used\n");
    check_problems("\n---\nname: one\ndescription: x\n---\n", 1,
                   "- SKILL.md:1: expected \"---\" as the very first characters\n");
    check_problems("---\nname: one\ndescription: x\nversion: 1\n---\n", 1,
                   "- SKILL.md:4: unknown field \"version\": expected name, description, license, "
                   "compatibility, metadata or allowed-tools\n");
    check_problems("---\nname: one\ndescription: x\ncompatibility:\n  a: b\n---\n", 1,
                   "- SKILL.md:4: compatibility: expected a text\n");
    check_problems("---\nname: one\ndescription: x\nallowed-tools: [Read, Bash]\n---\n", 1,
                   "- SKILL.md:4: a list in brackets: expected plain YAML without it\n");
    memset(name, 'a', 65);
    name[65] = '\0';
    (void)snprintf(text, sizeof text, "---\nname: %s\ndescription: x\n---\n", name);
    CHECK(strstr(problems_of(text, strlen(text), 1), "name: 65 characters, expected at most 64"));
    (void)snprintf(text, sizeof text, "---\nname: one\ndescription: %0*d\n---\n", 1025, 1);
    check_problems(text, 1, "- SKILL.md:3: description: 1025 characters, expected at most 1024\n");
    (void)snprintf(text, sizeof text, "---\nname: one\ndescription: x\ncompatibility: %0*d\n---\n",
                   501, 1);
    check_problems(text, 1, "- SKILL.md:4: compatibility: 501 characters, expected at most 500\n");
}

TEST(a_description_that_is_no_yaml_is_read_by_its_line) {
    char dir[512];
    phi_skills *skills = folders_skills();
    REQUIRE(test_temp_dir(dir, sizeof dir));
    folders_text(dir, "one/SKILL.md",
                 "---\nname: 'one'\ndescription: Use when: the user asks.\n---\n");
    CHECK_EQ_INT(folders_load(skills, dir, NULL), PHI_OK);
    REQUIRE(CHECK_EQ_INT(folders_count(skills), 1));
    CHECK_STR(phi_skills_at(skills, 0)->description, "Use when: the user asks.");
    CHECK(phi_skills_problem_at(skills, 1) == NULL);
    CHECK(phi_skills_problem_at(skills, 0)->loaded);
    CHECK_EQ_INT(phi_skills_problem_at(skills, 0)->line, 3);
    phi_skills_free(skills);
}

TEST(names_of_the_directory_replace_other_names) {
    char dir[512];
    phi_skills *skills = folders_skills();
    REQUIRE(test_temp_dir(dir, sizeof dir));
    folders_text(dir, "one/SKILL.md", "---\r\nname: two\r\ndescription: x\r\n---\r\nbody\r\n");
    CHECK_EQ_INT(folders_load(skills, folders_path(dir, "one/SKILL.md"), "me"), PHI_OK);
    CHECK(folders_find(skills, "one") != NULL);
    CHECK(folders_find(skills, "two") == NULL);
    CHECK_EQ_INT(folders_load(skills, folders_path(dir, "SKILL.md"), "me"), PHI_NOT_FOUND);
    CHECK_EQ_INT(folders_load(skills, folders_path(dir, "no/SKILL.md"), "me"), PHI_NOT_FOUND);
    CHECK(strstr(folders_problems(skills), "no SKILL.md here") != NULL);
    phi_skills_free(skills);
}

TEST(links_may_lead_to_a_skill_but_not_out_of_one) {
    char dir[512];
    phi_skills *skills = folders_skills();
    REQUIRE(test_temp_dir(dir, sizeof dir));
    folders_text(dir, "real/git/SKILL.md", git);
    folders_text(dir, "all/inner/text.md", "---\nname: inner\ndescription: x\n---\n");
    CHECK(mkdir(folders_path(dir, "all/outer"), 0777) == 0);
    CHECK(symlink("../real/git", folders_path(dir, "all/git")) == 0);
    CHECK(symlink("text.md", folders_path(dir, "all/inner/SKILL.md")) == 0);
    CHECK(symlink("../../real/git/SKILL.md", folders_path(dir, "all/outer/SKILL.md")) == 0);
    CHECK(symlink("nowhere", folders_path(dir, "all/dangling")) == 0);
    CHECK(symlink(".", folders_path(dir, "all/self")) == 0);
    CHECK_EQ_INT(folders_load(skills, folders_path(dir, "all"), NULL), PHI_OK);
    CHECK_EQ_INT(folders_count(skills), 2);
    CHECK(strstr(folders_find(skills, "git")->base_dir.at, "/real/git") != NULL);
    CHECK(folders_find(skills, "inner") != NULL);
    CHECK_EQ_STR(folders_problems(skills),
                 "SKILL.md: it lies outside the directory of the skill\n");
    phi_skills_free(skills);
}

TEST(sizes_and_numbers_are_bounded) {
    char dir[512], name[32], *big = (char *)malloc(70000);
    phi_skills_desc desc = PHI_ZERO;
    phi_skills *skills;
    int i;
    desc.allocator = test_allocator();
    desc.max_skills = 3;
    desc.max_file_bytes = 100;
    skills = phi_skills_new(&desc);
    REQUIRE(CHECK(big != NULL) && test_temp_dir(dir, sizeof dir));
    for (i = 0; i < 5; i++) {
        (void)snprintf(name, sizeof name, "many/s%d/SKILL.md", i);
        folders_text(dir, name, "---\nname: s\ndescription: x\n---\n");
    }
    memset(big, '#', 70000);
    memcpy(big, "---\n", 4);
    folders_put(dir, "big/SKILL.md", big, 101);
    CHECK_EQ_INT(folders_load(skills, folders_path(dir, "big/SKILL.md"), NULL), PHI_PARSE);
    CHECK_EQ_STR(folders_problems(skills), "SKILL.md: 101 bytes, expected at most 100\n");
    CHECK_EQ_INT(folders_load(skills, folders_path(dir, "many"), NULL), PHI_TOO_BIG);
    CHECK_EQ_INT(folders_count(skills), 3);
    CHECK(strstr(folders_problems(skills), "more than 3 skills: this one and others are not "));
    phi_skills_free(skills);
    folders_put(dir, "big/SKILL.md", big, 70000);
    skills = folders_skills();
    CHECK_EQ_INT(folders_load(skills, folders_path(dir, "big/SKILL.md"), NULL), PHI_PARSE);
    CHECK_EQ_STR(folders_problems(skills),
                 "SKILL.md: the front matter is longer than 65,536 bytes\n");
    phi_skills_free(skills);
    free(big);
}

TEST(a_load_in_slices_finds_the_same) {
    char dir[512], name[32];
    phi_skills *skills = folders_skills();
    int i, slices = 0;
    REQUIRE(test_temp_dir(dir, sizeof dir));
    for (i = 0; i < 20; i++) {
        (void)snprintf(name, sizeof name, "s%02d/SKILL.md", i);
        folders_text(dir, name, git);
    }
    CHECK_EQ_INT(phi_skills_load(skills, dir, "x", 1), PHI_BUSY);
    CHECK_EQ_INT(folders_load(skills, folders_path(dir, "s01"), "x"), PHI_MISUSE);
    while (phi_skills_load(skills, dir, "x", 1) == PHI_BUSY) slices++;
    CHECK(slices >= 19);
    CHECK_EQ_INT(folders_count(skills), 20);
    CHECK_EQ_INT(phi_skills_load(skills, dir, "x", 3), PHI_BUSY); /* dropped in the midst */
    phi_skills_free(skills);
}

TEST(the_index_is_the_standards_and_escapes) {
    char dir[512];
    phi_memory memory;
    phi_arena arena;
    phi_str out, prompt;
    phi_skills *skills = folders_skills();
    char want[4096];
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    REQUIRE(test_temp_dir(dir, sizeof dir));
    CHECK_EQ_INT(phi_skills_prompt(skills, PHI_SKILLS_NO_HINT, NULL, &arena, &out), PHI_OK);
    CHECK_STR(out, "");
    CHECK_EQ_INT(phi_skills_prompt(skills, PHI_SKILLS_READ_SKILL, "Base.", &arena, &prompt),
                 PHI_OK);
    CHECK_STR(prompt, "Base.");
    folders_text(dir, "b/SKILL.md", "---\nname: b\ndescription: \"A <b> & 'c' \\\"d\\\"\"\n---\n");
    folders_text(dir, "a/SKILL.md", "---\nname: a\ndescription: First.\n---\n");
    CHECK_EQ_INT(folders_load(skills, dir, NULL), PHI_OK);
    CHECK_EQ_INT(phi_skills_prompt(skills, PHI_SKILLS_NO_HINT, NULL, &arena, &out), PHI_OK);
    (void)snprintf(want, sizeof want,
                   "<available_skills>\n  <skill>\n    <name>a</name>\n"
                   "    <description>First.</description>\n    <location>%s</location>\n"
                   "  </skill>\n  <skill>\n    <name>b</name>\n    <description>A &lt;b&gt; &amp; "
                   "&apos;c&apos; &quot;d&quot;</description>\n    <location>%s</location>\n"
                   "  </skill>\n</available_skills>",
                   phi_skills_at(skills, 0)->file_path.at, phi_skills_at(skills, 1)->file_path.at);
    CHECK_STR(out, want);
    CHECK_EQ_INT(phi_skills_prompt(skills, PHI_SKILLS_NO_HINT, "Base.", &arena, &prompt), PHI_OK);
    CHECK(memcmp(prompt.at, "Base.\n\n<available_skills>\n", 26) == 0);
    CHECK_EQ_INT(phi_skills_prompt(skills, PHI_SKILLS_READ_SKILL, NULL, &arena, &prompt), PHI_OK);
    CHECK(strncmp(prompt.at, "These skills hold", 17) == 0);
    CHECK(strstr(prompt.at, "read_skill and follow it.\n\n<available_skills>") != NULL);
    CHECK_EQ_INT(phi_skills_prompt(skills, PHI_SKILLS_READ_FILE, NULL, &arena, &prompt), PHI_OK);
    CHECK(strstr(prompt.at, "with read_file and follow it.") != NULL);
    phi_arena_free(&arena);
    phi_skills_free(skills);
}

TEST(a_long_description_is_cut_in_the_index) {
    char dir[512], text[4096];
    phi_memory memory;
    phi_arena arena;
    phi_str out;
    size_t i, n = 0;
    phi_skills *skills = folders_skills();
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    REQUIRE(test_temp_dir(dir, sizeof dir));
    n = (size_t)snprintf(text, sizeof text, "---\nname: a\ndescription: ");
    for (i = 0; i < 1500; i++) n += (size_t)snprintf(text + n, sizeof text - n, "\xc3\xa9");
    (void)snprintf(text + n, sizeof text - n, "\n---\n");
    folders_text(dir, "a/SKILL.md", text);
    CHECK_EQ_INT(folders_load(skills, dir, NULL), PHI_OK);
    CHECK_EQ_INT(phi_skills_at(skills, 0)->description.len, 3000);
    CHECK_EQ_INT(phi_skills_prompt(skills, PHI_SKILLS_NO_HINT, NULL, &arena, &out), PHI_OK);
    for (i = 0, n = 0; i < out.len; i++) n += out.at[i] == '\xa9';
    CHECK_EQ_INT(n, 1024);
    phi_arena_free(&arena);
    phi_skills_free(skills);
}

TEST(what_is_missing_is_refused) {
    phi_skills *skills = folders_skills();
    phi_tool tool;
    CHECK_EQ_INT(phi_skills_load(NULL, ".", NULL, 1), PHI_BAD_ARG);
    CHECK_EQ_INT(folders_load(skills, "", NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_skills_load(skills, NULL, NULL, 1), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_skills_tool(NULL, &tool), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_skills_tool(skills, NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(folders_count(NULL), 0);
    CHECK(folders_find(NULL, "a") == NULL);
    phi_skills_free(NULL);
    phi_skills_free(skills);
}

static void load_all(const char *dir) {
    phi_skills *skills = folders_skills();
    phi_memory memory;
    phi_arena arena;
    phi_allocator allocator = test_allocator();
    phi_status status;
    phi_str out;
    if (skills == NULL) return;
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
    status = folders_load(skills, dir, "x");
    CHECK(status == PHI_OK || status == PHI_NO_MEMORY);
    if (status == PHI_OK) {
        status = phi_skills_prompt(skills, PHI_SKILLS_READ_SKILL, "a", &arena, &out);
        CHECK(status == PHI_OK || status == PHI_NO_MEMORY);
    }
    phi_arena_free(&arena);
    phi_skills_free(skills);
}

TEST(loading_survives_each_failed_allocation) {
    char dir[512];
    int n = 0;
    bool tripped;
    REQUIRE(test_temp_dir(dir, sizeof dir));
    folders_text(dir, "a/SKILL.md",
                 "---\nname: a\ndescription: x\nallowed-tools:\n- b\n- c\nmetadata:\n  k: v\n"
                 "  deep:\n    x: y\n---\n");
    folders_text(dir, "b/SKILL.md", "---\nname: b\ndescription: x: y\n---\n");
    do {
        test_alloc_fail_at(n++);
        load_all(dir);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK_EQ_INT(test_alloc_live_bytes(), 0);
    } while (tripped && n < 1000);
    CHECK(n > 20);
}

TEST_MAIN(TEST_ENTRY(skills_of_a_directory_are_sorted_and_have_their_fields),
          TEST_ENTRY(a_later_directory_wins_and_a_missing_one_is_a_problem),
          TEST_ENTRY(one_broken_skill_does_not_stop_the_others),
          TEST_ENTRY(a_directory_whose_name_is_not_utf_8_holds_no_skill),
          TEST_ENTRY(faults_that_keep_a_skill_out_are_named_with_their_line),
          TEST_ENTRY(faults_that_only_break_the_standard_are_warnings),
          TEST_ENTRY(a_description_that_is_no_yaml_is_read_by_its_line),
          TEST_ENTRY(names_of_the_directory_replace_other_names),
          TEST_ENTRY(links_may_lead_to_a_skill_but_not_out_of_one),
          TEST_ENTRY(sizes_and_numbers_are_bounded), TEST_ENTRY(a_load_in_slices_finds_the_same),
          TEST_ENTRY(the_index_is_the_standards_and_escapes),
          TEST_ENTRY(a_long_description_is_cut_in_the_index),
          TEST_ENTRY(what_is_missing_is_refused),
          TEST_ENTRY(loading_survives_each_failed_allocation))
