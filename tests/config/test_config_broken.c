/* test_config_broken.c - two hundred configurations with a mistake each, and what phi says of them,
   word for word: tests/config/broken/ and its expected.txt. tests/config/mend.py writes that file
   anew, and hands the files to a reader who mends them by their messages alone. */
#include "config/broken.h"
#include "support/rig.h"
#include "support/test.h"

#define DIRECTORY "tests/config/broken/"

/* The file's text, for free(); NULL: it cannot be read. */
static char *read_all(const char *path) {
    FILE *f = fopen(path, "rb");
    char *at = (char *)malloc(1 << 20);
    size_t n = f != NULL && at != NULL ? fread(at, 1, (1 << 20) - 1, f) : 0;
    if (f != NULL) fclose(f);
    if (f == NULL || at == NULL) {
        free(at);
        return NULL;
    }
    at[n] = '\0';
    return at;
}

/* A file and its messages; *at moves behind them. */
static bool next_case(char **at, char **name, char **messages) {
    char *end;
    if (strncmp(*at, "== ", 3) != 0) return false;
    *name = *at + 3;
    end = strchr(*name, '\n');
    if (end == NULL) return false;
    *end = '\0';
    *messages = end + 1;
    end = strstr(*messages, "\n== ");
    if (end == NULL) {
        *at = *messages + strlen(*messages);
        return true;
    }
    end[0] = '\0';
    *at = end + 1;
    return true;
}

/* The last line has its end only at the end of all. */
static void trim(char *text) {
    size_t n = strlen(text);
    while (n > 0 && text[n - 1] == '\n') text[--n] = '\0';
}

TEST(two_hundred_broken_configurations_have_messages_that_say_how_to_mend_them) {
    static char said[65536];
    char *expected = read_all(DIRECTORY "expected.txt"), *at = expected, *name, *messages;
    phi_allocator allocator = test_allocator();
    rig *r = rig_new();
    int count = 0;
    REQUIRE(expected != NULL);
    while (next_case(&at, &name, &messages)) {
        char path[512];
        (void)snprintf(path, sizeof path, DIRECTORY "%s", name);
        (void)broken_said(rig_runtime(r), &allocator, path, DIRECTORY, said, sizeof said);
        trim(said);
        trim(messages);
        if (!CHECK_EQ_STR(said, messages)) printf("of: %s\n", name);
        if (!CHECK(said[0] != '\0')) printf("nothing is said of %s\n", name);
        count++;
    }
    CHECK_EQ_INT(count, 200);
    free(expected);
    rig_free(r);
}

/* Loading and checking frees all that it took, at whatever file it stops. */
TEST(broken_configurations_leave_no_memory) {
    static char said[65536];
    char *expected = read_all(DIRECTORY "expected.txt"), *at = expected, *name, *messages;
    phi_allocator allocator = test_allocator();
    rig *r = rig_new();
    size_t before = 0;
    REQUIRE(expected != NULL);
    (void)broken_said(rig_runtime(r), &allocator, DIRECTORY "none.toml", "", said, sizeof said);
    before = test_alloc_live_bytes();
    while (next_case(&at, &name, &messages)) {
        char path[512];
        (void)snprintf(path, sizeof path, DIRECTORY "%s", name);
        (void)broken_said(rig_runtime(r), &allocator, path, DIRECTORY, said, sizeof said);
        if (!CHECK(test_alloc_live_bytes() <= before)) printf("of: %s\n", name);
    }
    free(expected);
    rig_free(r);
}

TEST_MAIN(TEST_ENTRY(two_hundred_broken_configurations_have_messages_that_say_how_to_mend_them),
          TEST_ENTRY(broken_configurations_leave_no_memory))
