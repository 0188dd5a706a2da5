/* test_story.c - the whole order of a run, with every hook, as it stands in story.txt and docs/loop.md.

   Three turns with parallel tools, an update, steering, a follow-up, a retry before the first delta and
   one after it, and a compaction; then a run that fails for good. Lines "== " are what the host does. */
#include "support/update.h"
#include "support/heard.h"
#include "loop/input.h"

enum { STORY_MOST = 1 << 16 };

static const char story_path[] = "tests/loop/story.txt";

typedef struct book {
    rig *r;
    char text[STORY_MOST];
    size_t len;
} book;

static void book_add(book *b, const char *text) {
    size_t n = strlen(text);
    if (n >= sizeof b->text - b->len) abort();
    memcpy(b->text + b->len, text, n + 1);
    b->len += n;
}

/* What has happened since the last time, and then what the host does next. */
static void book_tell(book *b, const char *next) {
    book_add(b, rig_story(b->r));
    rig_forget(b->r);
    book_add(b, next);
}

/* "look": half of what there is to see at once, the rest when the test finishes it. */
static phi_flow look_start(void *user_data, phi_call call, phi_str arguments) {
    (void)call_update(call, "A well,");
    return rig_wait((rig *)user_data).start(user_data, call, arguments);
}

static phi_agent make_agent(rig *r) {
    phi_agent_desc desc = rig_desc();
    phi_tool tools[2];
    tools[0] = rig_wait(r);
    tools[0].name = "look";
    tools[0].start = look_start;
    tools[1] = rig_echo();
    desc.tools = tools;
    desc.tool_count = 2;
    desc.retry.disable = false;
    rig_hooks(r, &desc, 0x1ffff); /* every point */
    return rig_agent(r, &desc);
}

/* What the provider says to the seven requests. */
static void script(rig *r) {
    static const char *const calls[] = {"c1 look {\"at\":\"square\"}", "c2 echo {\"n\":1}"};
    static const char cut[] = "event: content_block_stop";
    char broken[2000];
    const char *whole;
    rig_replies(r, 529, HEARD_JSON,
                "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\","
                "\"message\":\"Overloaded\"}}");
    rig_calls(r, calls, 2);
    whole = rig_stream_of("The well is");
    (void)snprintf(broken, sizeof broken, "%.*s", (int)(strstr(whole, cut) - whole), whole);
    rig_breaks(r, broken, PHI_NETWORK, "the connection was cut");
    rig_says(r, "The well is dry.");
    rig_replies(r, 413, HEARD_JSON,
                "{\"type\":\"error\",\"error\":{\"type\":\"request_too_large\","
                "\"message\":\"Request exceeds the maximum size\"}}");
    rig_says(r, "Someone filled it with sand.");
    rig_replies(r, 401, HEARD_JSON,
                "{\"type\":\"error\",\"error\":{\"type\":\"authentication_error\","
                "\"message\":\"invalid x-api-key\"}}");
    rig_replies(r, 401, HEARD_JSON,
                "{\"type\":\"error\",\"error\":{\"type\":\"authentication_error\","
                "\"message\":\"invalid x-api-key\"}}");
}

/* The file, or with PHI_WRITE_STORY=1 in the environment the file that is written now. */
static char *golden(const book *b) {
    const char *write = getenv("PHI_WRITE_STORY");
    FILE *file = write != NULL && write[0] == '1' ? fopen(story_path, "wb") : NULL;
    if (file != NULL) {
        CHECK(fwrite(b->text, 1, b->len, file) == b->len);
        CHECK(fclose(file) == 0);
    }
    return test_read_file(story_path, NULL);
}

TEST(the_whole_order_of_a_run_is_as_the_page_on_the_loop_shows_it) {
    static book b;
    rig *r = rig_new();
    phi_agent agent;
    char *want;
    memset(&b, 0, sizeof b);
    b.r = r;
    agent = make_agent(r);
    script(r);
    book_tell(&b, "== phi_prompt \"What is there?\"\n");
    CHECK_EQ_INT(phi_prompt(agent, "What is there?"), PHI_OK);
    CHECK_EQ_INT(rig_run_until(r, 2000), 1); /* look waits */
    book_tell(&b, "== phi_steer \"Only the well.\"; phi_follow_up \"Why?\"; look finishes\n");
    CHECK_EQ_INT(phi_steer(agent, "Only the well."), PHI_OK);
    CHECK_EQ_INT(phi_follow_up(agent, "Why?"), PHI_OK);
    rig_finish(r, 0,
               "A well, a smithy, an inn, a church with two bells and a crooked door, and a dog.");
    CHECK_EQ_INT(rig_run_until(r, 10000), 0);
    book_tell(&b, "== phi_prompt \"Who?\"\n");
    CHECK_EQ_INT(phi_prompt(agent, "Who?"), PHI_OK);
    CHECK_EQ_INT(rig_run_until(r, 10000), 0);
    book_tell(&b, "");
    want = golden(&b);
    if (want != NULL && !CHECK_EQ_STR(b.text, want))
        printf("  If the new order is right: PHI_WRITE_STORY=1 make one T=tests/loop/test_story.c\n"
               "  writes %s, and scripts/check_docs.py --write puts it into docs/loop.md.\n",
               story_path);
    free(want);
    rig_free(r);
}

TEST_MAIN(TEST_ENTRY(the_whole_order_of_a_run_is_as_the_page_on_the_loop_shows_it))
