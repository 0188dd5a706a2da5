/* The order of the events of an evaluation, as it stands in story.txt and docs/evaluation.md: two branches that run at the
   same time, the second of which ends first, and a judge. */
#include "orchestrate/actors.h"

static const char story_path[] = "tests/orchestrate/story.txt";

typedef struct book {
    stage *s;
    char text[6000];
} book;

static void book_add(book *b, const char *text) {
    size_t at = strlen(b->text);
    (void)snprintf(b->text + at, sizeof b->text - at, "%s", text);
}

static void book_event(void *user_data, const phi_event *e) {
    book *b = (book *)user_data;
    char line[300];
    (void)snprintf(line, sizeof line, "%-18s %s", phi_event_name(e->kind),
                   e->agent.index == b->s->agent.index ? "the agent" : "");
    if (e->loop_id.len > 0)
        (void)snprintf(line, sizeof line, "%-18s %.*s", phi_event_name(e->kind),
                       (int)e->loop_id.len, e->loop_id.at);
    book_add(b, line);
    if (e->kind == PHI_EV_PARALLEL_START)
        (void)snprintf(line, sizeof line, ": %.*s, %.*s", (int)e->parallel->loop_ids[0].len,
                       e->parallel->loop_ids[0].at, (int)e->parallel->loop_ids[1].len,
                       e->parallel->loop_ids[1].at);
    else if (e->kind == PHI_EV_PARALLEL_END)
        (void)snprintf(line, sizeof line, ": %.*s", (int)e->parallel->selected_loop_id.len,
                       e->parallel->selected_loop_id.at);
    else if (e->kind == PHI_EV_TEXT)
        (void)snprintf(line, sizeof line, ": %.*s", (int)e->text.len, e->text.at);
    else
        line[0] = '\0';
    book_add(b, line);
    book_add(b, "\n");
}

TEST(the_events_come_in_the_order_of_the_story) {
    static book b;
    stage s;
    char *want;
    stage_set(&s, rig_new(), 2);
    REQUIRE(stage_open(&s));
    b.s = &s;
    rig_watch(s.r, book_event, &b);
    s.actors[1].polls = 2;
    s.desc.by = PHI_EVALUATE_JUDGE;
    s.desc.judge = &s.configs[5];
    book_add(&b, "== phi_evaluate\n");
    stage_evaluate(&s);
    book_add(&b, "== phi_prompt\n");
    CHECK_EQ_INT(phi_prompt(s.agent, "On"), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 50), 0);
    want = test_read_file(story_path, NULL);
    if (want == NULL || !CHECK_EQ_STR(b.text, want)) printf("%s", b.text);
    free(want);
    rig_free(s.r);
}

TEST_MAIN(TEST_ENTRY(the_events_come_in_the_order_of_the_story))
