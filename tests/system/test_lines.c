/* test_lines.c - lines over two descriptors: taken one by one, too long, cut off, and readers that stop or leave. */
#include "loop/loop_in.h"
#include "system/lines.h"
#include "support/test.h"

#include <fcntl.h>
#include <unistd.h>

typedef struct rig {
    phi_runtime *rt;
    phi_lines *lines;
    int in[2], out[2];
} rig;

static bool rig_open(rig *r, size_t line, size_t queue) {
    phi_runtime_desc desc = PHI_ZERO;
    phi_lines_desc with = PHI_ZERO;
    memset(r, 0, sizeof *r);
    desc.allocator = test_allocator();
    if (!CHECK(pipe(r->in) == 0 && pipe(r->out) == 0)) return false;
    r->rt = phi_runtime_new(&desc);
    with.in_fd = r->in[0];
    with.out_fd = r->out[1];
    with.max_line_bytes = line;
    with.max_queue_bytes = queue;
    if (r->rt != NULL) r->lines = phi_lines_open(r->rt, &with);
    return r->lines != NULL;
}

static void shut(int *fd) {
    if (*fd >= 0) (void)close(*fd);
    *fd = -1;
}

static void rig_close(rig *r) {
    phi_lines_free(r->lines);
    phi_runtime_free(r->rt);
    shut(&r->in[0]), shut(&r->in[1]);
    shut(&r->out[0]), shut(&r->out[1]);
}

static void say(rig *r, const char *bytes) {
    CHECK_EQ_INT(write(r->in[1], bytes, strlen(bytes)), strlen(bytes));
}

/* Steps until the next call of phi_lines_next says something, for a second at most. */
static phi_status next(rig *r, phi_str *line) {
    phi_status status = phi_lines_next(r->lines, line);
    for (int i = 0; i < 100 && status == PHI_BUSY; i++) {
        (void)phi_step(r->rt, 10);
        status = phi_lines_next(r->lines, line);
    }
    return status;
}

static void expect(rig *r, phi_status status, const char *want) {
    phi_str line;
    CHECK_EQ_INT(next(r, &line), status);
    CHECK_STR(line, want);
}

TEST(lines_come_one_by_one_without_their_ends) {
    rig r;
    REQUIRE(rig_open(&r, 0, 0));
    say(&r, "one\ntwo\r\n\nfour");
    expect(&r, PHI_OK, "one");
    expect(&r, PHI_OK, "two");
    expect(&r, PHI_OK, "");
    expect(&r, PHI_BUSY, "");
    say(&r, " and more\nlast");
    expect(&r, PHI_OK, "four and more");
    shut(&r.in[1]);
    expect(&r, PHI_OK, "last");
    expect(&r, PHI_STALE, "");
    expect(&r, PHI_STALE, "");
    rig_close(&r);
}

TEST(a_line_that_is_too_long_is_skipped_and_the_next_one_is_not) {
    rig r;
    char large[9001];
    memset(large, 'x', 9000);
    large[9000] = '\0';
    REQUIRE(rig_open(&r, 10, 0));
    say(&r, "1234567890\n12345678901\nshort\n");
    expect(&r, PHI_OK, "1234567890");
    expect(&r, PHI_TOO_BIG, "");
    expect(&r, PHI_OK, "short");
    for (int i = 0; i < 5; i++) { /* more than one read takes */
        say(&r, large);
        expect(&r, PHI_BUSY, "");
    }
    say(&r, "\nafter it\n");
    expect(&r, PHI_TOO_BIG, "");
    expect(&r, PHI_OK, "after it");
    say(&r, large);
    shut(&r.in[1]);
    expect(&r, PHI_TOO_BIG, "");
    expect(&r, PHI_STALE, "");
    rig_close(&r);
}

TEST(reading_stops_at_a_line_that_is_not_taken) {
    rig r;
    phi_str line;
    size_t before;
    char lines[32769]; /* a pipe takes as much at once */
    for (int i = 0; i < 32768; i++) lines[i] = i % 64 == 63 ? '\n' : 'x';
    lines[32768] = '\0';
    REQUIRE(rig_open(&r, 0, 0));
    before = phi_memory_used(r.rt, NULL);
    say(&r, lines);
    for (int i = 0; i < 20; i++) (void)phi_step(r.rt, 1);
    CHECK(phi_memory_used(r.rt, NULL) - before < 30000);
    for (int i = 0; i < 512; i++) {
        CHECK_EQ_INT(next(&r, &line), PHI_OK);
        CHECK_EQ_INT(line.len, 63);
    }
    expect(&r, PHI_BUSY, "");
    rig_close(&r);
}

TEST(what_is_written_arrives_in_lines) {
    rig r;
    char got[64] = "";
    REQUIRE(rig_open(&r, 0, 0));
    CHECK_EQ_INT(phi_lines_write(r.lines, phi_str_of("one")), PHI_OK);
    CHECK_EQ_INT(phi_lines_write(r.lines, phi_str_of("")), PHI_OK);
    CHECK_EQ_INT(phi_lines_waiting(r.lines), 5);
    (void)phi_step(r.rt, 10);
    CHECK_EQ_INT(phi_lines_waiting(r.lines), 0);
    CHECK_EQ_INT(read(r.out[0], got, sizeof got), 5);
    CHECK_EQ_STR(got, "one\n\n");
    rig_close(&r);
}

TEST(a_reader_that_does_not_read_fills_the_queue_and_no_more) {
    rig r;
    phi_str line = {NULL, 1000};
    char bytes[1000];
    int lines = 0;
    memset(bytes, 'y', sizeof bytes);
    line.at = bytes;
    REQUIRE(rig_open(&r, 0, 10000));
    for (int i = 0; i < 500; i++) {
        lines += phi_lines_write(r.lines, line) == PHI_OK;
        (void)phi_step(r.rt, 0);
    }
    CHECK_EQ_INT(phi_lines_write(r.lines, line), PHI_FULL);
    CHECK(lines < 100 && phi_lines_waiting(r.lines) <= 10000);
    CHECK_EQ_INT(phi_lines_write(r.lines, phi_str_of("z")), PHI_OK); /* there is room for it */
    shut(&r.out[0]);
    for (int i = 0; i < 100 && phi_lines_next(r.lines, &line) != PHI_STALE; i++)
        (void)phi_step(r.rt, 10);
    CHECK_EQ_INT(phi_lines_next(r.lines, &line), PHI_STALE);
    CHECK_EQ_INT(phi_lines_write(r.lines, phi_str_of("z")), PHI_STALE);
    CHECK_EQ_INT(phi_lines_waiting(r.lines), 0);
    rig_close(&r);
}

TEST(descriptors_that_are_not_open_or_the_same_are_refused) {
    phi_runtime *rt = phi_runtime_new(NULL);
    phi_lines_desc with = PHI_ZERO;
    REQUIRE(rt != NULL);
    with.in_fd = 999;
    CHECK(phi_lines_open(rt, &with) == NULL);
    CHECK_EQ_INT(phi_last_error(rt).status, PHI_BAD_ARG);
    CHECK_EQ_STR(phi_last_error(rt).message, "phi_lines_open: in_fd 999 or out_fd 1 is not open");
    with.in_fd = 1;
    CHECK(phi_lines_open(rt, &with) == NULL);
    CHECK_EQ_INT(phi_last_error(rt).status, PHI_BAD_ARG);
    CHECK_EQ_STR(phi_last_error(rt).message, "phi_lines_open: in_fd and out_fd are both 1");
    phi_runtime_free(rt);
}

TEST(no_lines_are_no_crash) {
    phi_str line = phi_str_of("before");
    CHECK(phi_lines_open(NULL, NULL) == NULL);
    CHECK_EQ_INT(phi_lines_next(NULL, &line), PHI_STALE);
    CHECK_EQ_INT(line.len, 0);
    CHECK_EQ_INT(phi_lines_write(NULL, phi_str_of("x")), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_lines_waiting(NULL), 0);
    phi_lines_free(NULL);
}

/* A directory is open and cannot be read. */
TEST(an_input_that_cannot_be_read_ends_and_writes_go_on) {
    char got[8] = "";
    rig r;
    phi_lines_desc with = PHI_ZERO;
    REQUIRE(rig_open(&r, 0, 0));
    phi_lines_free(r.lines);
    with.in_fd = open(".", O_RDONLY);
    with.out_fd = r.out[1];
    REQUIRE((r.lines = phi_lines_open(r.rt, &with)) != NULL);
    expect(&r, PHI_STALE, "");
    CHECK_EQ_INT(phi_lines_write(r.lines, phi_str_of("one")), PHI_OK);
    CHECK_EQ_INT(phi_lines_waiting(r.lines), 4);
    (void)phi_step(r.rt, 10);
    CHECK_EQ_INT(read(r.out[0], got, sizeof got), 4);
    CHECK_EQ_STR(got, "one\n");
    rig_close(&r);
    shut(&with.in_fd);
}

/* The text and its end are queued together or not at all, however long the text is. */
TEST(a_line_without_memory_is_not_queued_and_the_next_one_is) {
    char text[300];
    int refused = 0;
    memset(text, 'x', sizeof text);
    for (size_t len = 0; len < sizeof text; len++) {
        rig r;
        REQUIRE(rig_open(&r, 0, 0));
        CHECK_EQ_INT(phi_lines_write(r.lines, phi_str_of("first")), PHI_OK);
        size_t before = phi_lines_waiting(r.lines);
        test_alloc_fail_from(0);
        phi_status status = phi_lines_write(r.lines, phi__str(text, len));
        test_alloc_fail_from(-1);
        CHECK(status == PHI_OK || status == PHI_NO_MEMORY);
        refused += status == PHI_NO_MEMORY;
        CHECK_EQ_INT(phi_lines_waiting(r.lines) - before, status == PHI_OK ? len + 1 : 0);
        CHECK_EQ_INT(phi_lines_write(r.lines, phi_str_of("next")), PHI_OK);
        rig_close(&r);
    }
    CHECK(refused > 0 && refused < (int)sizeof text);
}

TEST(lines_survive_every_failed_allocation) {
    int n = 0;
    bool tripped = true;
    for (; tripped && n < 500; n++) {
        rig r;
        phi_str line;
        phi_status status;
        test_alloc_fail_at(n);
        if (rig_open(&r, 0, 0)) {
            say(&r, "a line\nanother\n");
            status = next(&r, &line);
            CHECK(status == PHI_OK || status == PHI_NO_MEMORY || status == PHI_BUSY);
            status = phi_lines_write(r.lines, phi_str_of("abc"));
            CHECK(status == PHI_OK || status == PHI_NO_MEMORY);
            CHECK_EQ_INT(phi_lines_waiting(r.lines), status == PHI_OK ? 4 : 0);
            (void)phi_step(r.rt, 0);
        }
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        rig_close(&r);
    }
    CHECK(n >= 5);
}

TEST_MAIN(TEST_ENTRY(lines_come_one_by_one_without_their_ends),
          TEST_ENTRY(a_line_that_is_too_long_is_skipped_and_the_next_one_is_not),
          TEST_ENTRY(reading_stops_at_a_line_that_is_not_taken),
          TEST_ENTRY(what_is_written_arrives_in_lines),
          TEST_ENTRY(a_reader_that_does_not_read_fills_the_queue_and_no_more),
          TEST_ENTRY(descriptors_that_are_not_open_or_the_same_are_refused),
          TEST_ENTRY(no_lines_are_no_crash),
          TEST_ENTRY(an_input_that_cannot_be_read_ends_and_writes_go_on),
          TEST_ENTRY(a_line_without_memory_is_not_queued_and_the_next_one_is),
          TEST_ENTRY(lines_survive_every_failed_allocation))
