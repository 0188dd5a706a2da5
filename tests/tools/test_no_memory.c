/* test_no_memory.c - each allocation of a whole run with a call of each tool fails once: nothing
   leaks, nothing crashes, and the agent can be used again. */
#include "calls.h"

/* Returns how many allocations there are. */
static int fail_each(const char *tool, const char *arguments) {
    int n = 0, left;
    bool tripped;
    do {
        calls c;
        phi_status status;
        if (!calls_open(&c, NULL)) return -1;
        calls_put(&c, "f.txt", "one\ntwo\n");
        calls_mkdir(&c, "sub");
        calls_put(&c, "sub/g.txt", "three\n");
        rig_call(c.r, "c1", tool, arguments);
        rig_says(c.r, "done");
        test_alloc_fail_at(n++);
        status = phi_prompt(c.agent, "go");
        CHECK(status == PHI_OK || status == PHI_NO_MEMORY);
        left = 5000;
        while (status == PHI_OK && calls_step(&c) > 0 && left-- > 0) continue;
        CHECK(left > 0);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK_EQ_INT(phi_agent_running(c.agent), false);
        check_file(&c, "sub/g.txt", "three\n");
        calls_close(&c);
    } while (tripped && n < 2000);
    return n;
}

TEST(bash_survives) { CHECK(fail_each("bash", "{\"command\":\"echo a; echo b >&2\"}") > 20); }
TEST(read_file_survives) { CHECK(fail_each("read_file", "{\"path\":\"f.txt\"}") > 20); }
TEST(write_file_survives) {
    CHECK(fail_each("write_file", "{\"path\":\"n/f.txt\",\"content\":\"x\"}") > 20);
}
TEST(edit_file_survives) {
    CHECK(fail_each("edit_file", "{\"path\":\"f.txt\",\"old_text\":\"two\",\"new_text\":\"2\"}") >
          20);
    CHECK(fail_each("edit_file",
                    "{\"path\":\"f.txt\",\"old_text\":\"two\\nx\",\"new_text\":\"2\"}") > 20);
}
TEST(list_files_survives) { CHECK(fail_each("list_files", "{\"pattern\":\"*.txt\"}") > 20); }
TEST(search_survives) {
    CHECK(fail_each("search", "{\"pattern\":\"t\",\"include\":\"*.txt\"}") > 20);
}

TEST_MAIN(TEST_ENTRY(bash_survives), TEST_ENTRY(read_file_survives),
          TEST_ENTRY(write_file_survives), TEST_ENTRY(edit_file_survives),
          TEST_ENTRY(list_files_survives), TEST_ENTRY(search_survives))
