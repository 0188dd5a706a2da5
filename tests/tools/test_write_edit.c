/* test_write_edit.c - the tools that change files: their texts, and that no file is ever lost. */
#include "calls.h"

#include <errno.h>
#include <sys/resource.h>

/* {"path":path,"content":n times a letter}; caller frees. */
static char *write_arguments(const char *path, size_t n) {
    char *out = (char *)malloc(n + 600);
    int head = sprintf(out, "{\"path\":\"%s\",\"content\":\"", path);
    memset(out + head, 'w', n);
    memcpy(out + head + n, "\"}", 3);
    return out;
}

TEST(a_file_is_written_with_its_directories) {
    calls c;
    REQUIRE(calls_open(&c, NULL));
    check_call(&c, "write_file", "{\"path\":\"a/b/c.txt\",\"content\":\"h\xc3\xa9llo\\n\"}", false,
               "Wrote 7 bytes to a/b/c.txt", "{\"path\":\"a/b/c.txt\",\"bytes\":7}");
    check_file(&c, "a/b/c.txt", "h\xc3\xa9llo\n");
    check_call(&c, "write_file", "{\"path\":\"a/b/c.txt\",\"content\":\"\"}", false,
               "Wrote 0 bytes to a/b/c.txt", NULL);
    check_file(&c, "a/b/c.txt", "");
#if !defined(_WIN32) /* where no name has a quotation mark */
    check_call(&c, "write_file", "{\"path\":\"quo\\\"te\",\"content\":\"x\"}", false,
               "Wrote 1 bytes to quo\"te", "{\"path\":\"quo\\\"te\",\"bytes\":1}");
#endif
    calls_close(&c);
}

TEST(directories_of_a_deep_path_are_made_over_many_steps) {
    char path[1000], arguments[1200];
    int i, n = 0, cut;
    calls c;
    for (i = 0; i < 300; i++) n += snprintf(path + n, sizeof path - (size_t)n, "d/");
    for (cut = 0; cut < 2; cut++) {
        REQUIRE(calls_open(&c, NULL));
        (void)snprintf(arguments, sizeof arguments, "{\"path\":\"%sf\",\"content\":\"x\"}", path);
        calls_begin(&c, "write_file", arguments);
        calls_go_on(&c, 5);
        CHECK(!c.ended);
        if (cut > 0) CHECK_EQ_INT(phi_abort(c.agent), PHI_OK);
        while (calls_step(&c) > 0) continue;
        if (cut > 0)
            CHECK_EQ_STR(c.text, "Cancelled");
        else {
            CHECK(!c.is_error && strncmp(c.text, "Wrote 1 bytes to d/d/", 21) == 0);
            CHECK(c.steps > 12);
        }
        calls_close(&c);
    }
}

TEST(a_megabyte_is_written_over_many_steps_and_the_old_file_stays_until_then) {
    char *arguments = write_arguments("f", 1000000), *text;
    size_t len = 0;
    calls c;
    REQUIRE(calls_open(&c, NULL));
    calls_put(&c, "f", "old");
    calls_begin(&c, "write_file", arguments);
    calls_go_on(&c, 4);
    CHECK(!c.ended);
    check_file(&c, "f", "old");
    while (calls_step(&c) > 0) continue;
    CHECK_EQ_STR(c.text, "Wrote 1000000 bytes to f");
    text = test_read_file(calls_path(&c, "f"), &len);
    CHECK_EQ_INT(len, 1000000);
    free(text);
    free(arguments);
    calls_close(&c);
}

TEST(cancelling_in_the_middle_leaves_the_old_file_and_no_other) {
    char *arguments = write_arguments("f", 1000000);
    calls c;
    REQUIRE(calls_open(&c, NULL));
    calls_put(&c, "f", "old");
    calls_begin(&c, "write_file", arguments);
    calls_go_on(&c, 4);
    CHECK_EQ_INT(phi_abort(c.agent), PHI_OK);
    while (calls_step(&c) > 0) continue;
    CHECK_EQ_STR(c.text, "Cancelled");
    check_file(&c, "f", "old");
    CHECK(unlink(calls_path(&c, "f")) == 0);
    CHECK(rmdir(c.dir) == 0);
    CHECK(mkdir(c.dir, 0777) == 0);
    free(arguments);
    calls_close(&c);
}

TEST(a_full_disk_is_told_and_the_old_file_stays) {
    char *arguments = write_arguments("f", 400000);
    struct rlimit before, small;
    calls c;
    REQUIRE(calls_open(&c, NULL));
    calls_put(&c, "f", "old");
    (void)fflush(NULL);
    (void)getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 100000;
    (void)setrlimit(RLIMIT_FSIZE, &small);
    (void)call(&c, "write_file", arguments);
    (void)setrlimit(RLIMIT_FSIZE, &before);
    CHECK_EQ_STR(c.text, "Cannot write f: File too large");
    CHECK(c.is_error);
    check_file(&c, "f", "old");
    free(arguments);
    calls_close(&c);
}

TEST(what_cannot_be_written_is_told_in_words) {
    calls c;
    REQUIRE(calls_open(&c, NULL));
    calls_mkdir(&c, "sub");
    calls_put(&c, "file", "x");
    check_call(&c, "write_file", "{\"path\":\"sub\",\"content\":\"x\"}", true,
               "Cannot write sub: Is a directory", "");
    check_call(&c, "write_file", "{\"path\":\"file/x\",\"content\":\"x\"}", true,
               "Cannot access file/x: Not a directory", "");
    check_call(&c, "write_file", "{\"path\":\"x\"}", true,
               "Invalid arguments: missing 'content' parameter", "");
    check_call(&c, "write_file", "{\"content\":\"x\"}", true,
               "Invalid arguments: missing 'path' parameter", "");
    check_call(&c, "write_file", "{\"path\":\"../x\",\"content\":\"x\"}", true,
               "Cannot access ../x: it is outside the allowed paths", "");
#if !defined(_WIN32) /* Wine shows no link to nothing */
    CHECK(symlink("/tmp/not-there-for-phi", calls_path(&c, "out")) == 0);
    check_call(&c, "write_file", "{\"path\":\"out\",\"content\":\"x\"}", true,
               "Cannot access out: it is outside the allowed paths", "");
    CHECK(access("/tmp/not-there-for-phi", F_OK) != 0);
#endif
    calls_close(&c);
}

/* ---- edit_file ---- */

TEST(the_one_place_is_replaced) {
    struct stat info;
    calls c;
    REQUIRE(calls_open(&c, NULL));
    calls_put(&c, "f", "one\ntwo\nthree\n");
    (void)chmod(calls_path(&c, "f"), 0750);
    check_call(&c, "edit_file", "{\"path\":\"f\",\"old_text\":\"two\",\"new_text\":\"2\\n2b\"}",
               false, "Replaced 1 line with 2 lines in f",
               "{\"path\":\"f\",\"old_lines\":1,\"new_lines\":2}");
    check_file(&c, "f", "one\n2\n2b\nthree\n");
    CHECK(stat(calls_path(&c, "f"), &info) == 0);
#if !defined(_WIN32)
    CHECK((info.st_mode & 0777) == 0750);
#endif
    check_call(&c, "edit_file", "{\"path\":\"f\",\"old_text\":\"one\\n2\\n\",\"new_text\":\"\"}",
               false, "Replaced 2 lines with 0 lines in f", NULL);
    check_file(&c, "f", "2b\nthree\n");
    check_call(&c, "edit_file",
               "{\"path\":\"f\",\"old_text\":\"2b\\nthree\\n\",\"new_text\":\"all\"}", false,
               "Replaced 2 lines with 1 line in f", NULL);
    check_file(&c, "f", "all");
    calls_close(&c);
}

TEST(the_same_text_is_no_change) {
    calls c;
    REQUIRE(calls_open(&c, NULL));
    calls_put(&c, "f", "one\n");
    check_call(&c, "edit_file", "{\"path\":\"f\",\"old_text\":\"one\",\"new_text\":\"one\"}", false,
               "No changes (old_text == new_text)",
               "{\"path\":\"f\",\"old_lines\":1,\"new_lines\":1}");
    calls_close(&c);
}

TEST(text_that_is_there_twice_is_refused) {
    calls c;
    REQUIRE(calls_open(&c, NULL));
    calls_put(&c, "f", "aXbXcX");
    check_call(&c, "edit_file", "{\"path\":\"f\",\"old_text\":\"X\",\"new_text\":\"y\"}", true,
               "old_text matches 3 locations in f. Include more surrounding context to make the "
               "match unique.",
               "");
    check_file(&c, "f", "aXbXcX");
    calls_put(&c, "g", "aaaa");
    check_call(&c, "edit_file", "{\"path\":\"g\",\"old_text\":\"aa\",\"new_text\":\"y\"}", true,
               "old_text matches 2 locations in g. Include more surrounding context to make the "
               "match unique.",
               "");
    calls_close(&c);
}

TEST(text_that_is_not_there_gets_a_hint_from_its_first_line) {
    calls c;
    REQUIRE(calls_open(&c, NULL));
    calls_put(&c, "f", "int main() {\n    int x = 1;\n    return x;\n}\nend\n");
    check_call(
        &c, "edit_file",
        "{\"path\":\"f\",\"old_text\":\"  int x = 1;\\n  return y;\\n\",\"new_text\":\"\"}", true,
        "old_text not found in f.\n\nDid you mean:\n```\n    int x = 1;\n    return x;\n}\n```",
        "");
    check_call(&c, "edit_file", "{\"path\":\"f\",\"old_text\":\"end of\",\"new_text\":\"\"}", true,
               "old_text not found in f.\n\nTip: Use read_file to see the current file contents, "
               "then copy the exact text you want to replace.",
               "");
    check_call(&c, "edit_file", "{\"path\":\"f\",\"old_text\":\" \\n\\n\",\"new_text\":\"\"}", true,
               "old_text not found in f.\n\nTip: Use read_file to see the current file contents, "
               "then copy the exact text you want to replace.",
               "");
    check_call(&c, "edit_file", "{\"path\":\"f\",\"old_text\":\"end\\nmore\",\"new_text\":\"\"}",
               true, "old_text not found in f.\n\nDid you mean:\n```\nend\n```", "");
    calls_close(&c);
}

TEST(bytes_that_are_not_utf8_are_kept) {
    char *text;
    calls c;
    REQUIRE(calls_open(&c, NULL));
    calls_put(&c, "f", "\xff one \xfe");
    check_call(&c, "edit_file", "{\"path\":\"f\",\"old_text\":\"one\",\"new_text\":\"two\"}", false,
               "Replaced 1 line with 1 line in f", NULL);
    text = test_read_file(calls_path(&c, "f"), NULL);
    if (text != NULL) CHECK(strcmp(text, "\xff two \xfe") == 0);
    free(text);
    check_call(&c, "edit_file", "{\"path\":\"f\",\"old_text\":\"two\\nx\",\"new_text\":\"\"}", true,
               "old_text not found in f.\n\nDid you mean:\n```\n\xef\xbf\xbd two \xef\xbf\xbd\n```",
               "");
    calls_close(&c);
}

TEST(what_cannot_be_edited_is_told_in_words) {
    calls c;
    REQUIRE(calls_open(&c, NULL));
    check_call(&c, "edit_file", "{\"path\":\"none\",\"old_text\":\"a\",\"new_text\":\"b\"}", true,
               "Cannot read none: No such file or directory. Use write_file to create new files.",
               "");
    check_call(&c, "edit_file", "{\"path\":\"none\",\"old_text\":\"\",\"new_text\":\"b\"}", true,
               "Invalid arguments: 'old_text' must not be empty", "");
    check_call(&c, "edit_file", "{\"path\":\"f\",\"new_text\":\"b\"}", true,
               "Invalid arguments: missing 'old_text' parameter", "");
    check_call(&c, "edit_file", "{\"path\":\"f\",\"old_text\":\"b\"}", true,
               "Invalid arguments: missing 'new_text' parameter", "");
    check_call(&c, "edit_file", "{\"path\":\"/etc/hosts\",\"old_text\":\"a\",\"new_text\":\"b\"}",
               true, "Cannot access /etc/hosts: it is outside the allowed paths", "");
    calls_put(&c, "f", "x");
    CHECK(truncate(calls_path(&c, "f"), 16777217) == 0);
    check_call(&c, "edit_file", "{\"path\":\"f\",\"old_text\":\"a\",\"new_text\":\"b\"}", true,
               "Cannot edit f: larger than 16777216 bytes", "");
    calls_close(&c);
}

TEST(a_large_file_is_edited_over_many_steps_near_every_slice_border) {
    size_t n = 300000, at;
    char *text = (char *)malloc(n + 16), *got;
    calls c;
    REQUIRE(calls_open(&c, NULL));
    for (at = 65530; at < 65542; at += 3) {
        size_t len = 0;
        memset(text, 'n', n);
        memcpy(text + at, "needle", 6);
        calls_put_bytes(&c, "f", text, n);
        check_call(&c, "edit_file", "{\"path\":\"f\",\"old_text\":\"needle\",\"new_text\":\"pin\"}",
                   false, "Replaced 1 line with 1 line in f", NULL);
        CHECK(c.steps > 10);
        got = test_read_file(calls_path(&c, "f"), &len);
        if (CHECK(got != NULL) && CHECK_EQ_INT(len, n - 3)) {
            CHECK(memcmp(got, text, at) == 0);
            CHECK(memcmp(got + at, "pinnnn", 6) == 0);
        }
        free(got);
    }
    free(text);
    calls_close(&c);
}

enum { EDITED = 300000 };

/* Aborts when the edit is so many steps old. False: it had its result before. */
static bool cancel_edit_at(int steps, const char *text, const char *arguments) {
    char *got;
    size_t len = 0;
    bool cancelled;
    calls c;
    if (!CHECK(calls_open(&c, NULL))) return false;
    calls_put_bytes(&c, "f", text, EDITED);
    calls_begin(&c, "edit_file", arguments);
    calls_go_on(&c, steps);
    CHECK_EQ_INT(phi_abort(c.agent), PHI_OK);
    while (calls_step(&c) > 0) continue;
    CHECK_EQ_INT(c.results, 1);
    cancelled = c.text != NULL && strcmp(c.text, "Cancelled") == 0;
    got = test_read_file(calls_path(&c, "f"), &len);
    if (cancelled && CHECK(got != NULL) && CHECK_EQ_INT(len, EDITED))
        CHECK(memcmp(got, text, EDITED) == 0);
    free(got);
    CHECK(unlink(calls_path(&c, "f")) == 0);
    CHECK(rmdir(c.dir) == 0); /* nothing else is in it */
    CHECK(mkdir(c.dir, 0777) == 0);
    calls_close(&c);
    return cancelled;
}

TEST(an_edit_cancelled_at_any_step_leaves_the_old_file_and_no_other) {
    static const char *const edits[] = {
        "{\"path\":\"f\",\"old_text\":\"needle\",\"new_text\":\"pin\"}", /* is made */
        "{\"path\":\"f\",\"old_text\":\"needle\\nx\",\"new_text\":\"pin\"}" /* gets a hint */};
    char *text = (char *)malloc(EDITED);
    size_t i;
    int steps;
    REQUIRE(text != NULL);
    memset(text, 'n', EDITED);
    memcpy(text + EDITED / 2, "\nneedle\n", 8);
    for (i = 0; i < 2; i++) {
        for (steps = 0; steps < 200 && cancel_edit_at(steps, text, edits[i]); steps++) continue;
        CHECK(steps > 10 && steps < 200);
    }
    free(text);
}

TEST(two_edits_of_one_turn_both_stay) {
    static const char *const two[] = {
        "c1 edit_file {\"path\":\"f\",\"old_text\":\"a\",\"new_text\":\"1\"}",
        "c2 edit_file {\"path\":\"f\",\"old_text\":\"b\",\"new_text\":\"2\"}"};
    int left = 10000;
    calls c;
    REQUIRE(calls_open(&c, NULL));
    calls_put(&c, "f", "a b");
    rig_calls(c.r, two, 2);
    rig_says(c.r, "done");
    CHECK_EQ_INT(phi_prompt(c.agent, "go"), PHI_OK);
    while (calls_step(&c) > 0 && left-- > 0) continue;
    CHECK_EQ_INT(c.results, 2);
    check_file(&c, "f", "1 2");
    calls_close(&c);
}

TEST_MAIN(TEST_ENTRY(a_file_is_written_with_its_directories),
          TEST_ENTRY(directories_of_a_deep_path_are_made_over_many_steps),
          TEST_ENTRY(a_megabyte_is_written_over_many_steps_and_the_old_file_stays_until_then),
          TEST_ENTRY(cancelling_in_the_middle_leaves_the_old_file_and_no_other),
          TEST_ENTRY(a_full_disk_is_told_and_the_old_file_stays),
          TEST_ENTRY(what_cannot_be_written_is_told_in_words),
          TEST_ENTRY(the_one_place_is_replaced), TEST_ENTRY(the_same_text_is_no_change),
          TEST_ENTRY(text_that_is_there_twice_is_refused),
          TEST_ENTRY(text_that_is_not_there_gets_a_hint_from_its_first_line),
          TEST_ENTRY(bytes_that_are_not_utf8_are_kept),
          TEST_ENTRY(what_cannot_be_edited_is_told_in_words),
          TEST_ENTRY(a_large_file_is_edited_over_many_steps_near_every_slice_border),
          TEST_ENTRY(an_edit_cancelled_at_any_step_leaves_the_old_file_and_no_other),
          TEST_ENTRY(two_edits_of_one_turn_both_stay))
