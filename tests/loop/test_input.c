/* test_input.c - steering, follow-ups and injected messages in their queues: how they are given
   out, at the worst moment, refused half-way, and when there is no room for them. */
#include "agent/snapshot.h"
#include "loop/loop_in.h"
#include "support/heard.h"
#include "support/request.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"

static void expect_turns(phi_input queue, phi_queue_mode mode, const char *want) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    char got[400] = "";
    size_t i;
    if (queue == PHI_INPUT_STEERING) desc.input.steering_mode = mode;
    if (queue == PHI_INPUT_FOLLOW_UP) desc.input.follow_up_mode = mode;
    agent = rig_agent(r, &desc);
    for (i = 0; i < 5; i++) rig_says(r, "ok");
    for (i = 0; i < 3; i++) {
        static const char *const said[] = {"a", "b", "c"};
        CHECK_EQ_INT(queue == PHI_INPUT_STEERING ? phi_steer(agent, said[i])
                                                 : phi_follow_up(agent, said[i]),
                     PHI_OK);
    }
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 50), 0);
    for (i = 0; i < phi_thread_message_count(phi_agent_thread(agent)); i++) {
        strcat(got, text_at(agent, i, 0));
        strcat(got, " ");
    }
    CHECK_EQ_STR(got, want);
    rig_free(r);
}

TEST(a_queue_gives_one_message_a_poll_by_default_and_all_of_them_in_mode_all) {
    expect_turns(PHI_INPUT_STEERING, PHI_QUEUE_ONE_AT_A_TIME, "go a ok b ok c ok ");
    expect_turns(PHI_INPUT_STEERING, PHI_QUEUE_ALL, "go a b c ok ");
    expect_turns(PHI_INPUT_FOLLOW_UP, PHI_QUEUE_ONE_AT_A_TIME, "go ok a ok b ok c ok ");
    expect_turns(PHI_INPUT_FOLLOW_UP, PHI_QUEUE_ALL, "go ok a b c ok ");
}

TEST(steering_and_follow_ups_may_be_pulled_from_hooks) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_filter filter = rig_filter(r);
    phi_agent agent;
    desc.input.filters = &filter;
    desc.input.filter_count = 1;
    rig_hooks(r, &desc, PHI_HOOK_STEERING | PHI_HOOK_FOLLOW_UP);
    rig_answers(r, PHI_HOOK_STEERING, PHI_ALLOW, "left");
    rig_answers(r, PHI_HOOK_FOLLOW_UP, PHI_WAIT, NULL);
    agent = rig_agent(r, &desc);
    rig_says(r, "one");
    rig_says(r, "two");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 30), 1);
    CHECK_EQ_INT(phi_decide(rig_ticket(r, 0), PHI_ALLOW, "more"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 30), 0);
    REQUIRE(phi_thread_message_count(phi_agent_thread(agent)) == 5);
    CHECK_EQ_STR(text_at(agent, 1, 0), "left");
    CHECK_EQ_STR(text_at(agent, 3, 0), "more");
    CHECK(strstr(rig_story(r), "-> steering\n-> filter \"left\"\nTurnStart 0\n") != NULL);
    CHECK(strstr(rig_story(r), "-> follow_up\n"
                               "Decision follow_up\n"
                               "-> filter \"more\"\n"
                               "TurnStart 1\n") != NULL);
    rig_free(r);
}

TEST(a_queue_is_cleared_alone_or_with_the_others) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    int i;
    for (i = 0; i < 2; i++) {
        CHECK_EQ_INT(phi_steer(agent, "s"), PHI_OK);
        CHECK_EQ_INT(phi_follow_up(agent, "f"), PHI_OK);
        CHECK_EQ_INT(phi_follow_up(agent, "g"), PHI_OK);
        (void)rig_step(r);
        CHECK_EQ_INT(phi_agent_get_info(agent).steering, 1);
        CHECK_EQ_INT(phi_agent_get_info(agent).follow_ups, 2);
        CHECK_EQ_INT(phi_agent_get_info(agent).queued, 3);
        CHECK_EQ_INT(phi_queue_clear(agent, i == 0 ? PHI_INPUT_STEERING : PHI_INPUT_FOLLOW_UP),
                     PHI_OK);
        CHECK_EQ_INT(phi_agent_get_info(agent).steering, i == 0 ? 0 : 1);
        CHECK_EQ_INT(phi_agent_get_info(agent).follow_ups, i == 0 ? 2 : 0);
        CHECK_EQ_INT(phi_queue_clear(agent, PHI_INPUT_NONE), PHI_OK);
        CHECK_EQ_INT(phi_agent_get_info(agent).queued, 0);
    }
    rig_says(r, "alone");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 2);
    rig_free(r);
}

TEST(the_queues_outlive_a_run) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    rig_replies(r, 500, "Content-Type: application/json\r\n", "{}");
    rig_says(r, "one");
    rig_says(r, "two");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(phi_follow_up(agent, "later"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(phi_agent_get_info(agent).follow_ups, 1);
    CHECK_EQ_INT(phi_steer(agent, "sooner"), PHI_OK);
    (void)rig_step(r);
    CHECK_EQ_INT(phi_agent_get_info(agent).steering, 1);
    CHECK_EQ_INT(phi_prompt(agent, "again"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    REQUIRE(phi_thread_message_count(phi_agent_thread(agent)) == 7);
    CHECK_EQ_STR(text_at(agent, 3, 0), "sooner");
    CHECK_EQ_STR(text_at(agent, 5, 0), "later");
    rig_free(r);
}

static phi_content text_block(const char *text) {
    phi_content block;
    memset(&block, 0, sizeof block);
    block.kind = PHI_CONTENT_TEXT;
    block.text = phi_str_of(text);
    return block;
}

/* Hypothesis: a NULL, zeroed, stale or foreign handle, or an empty text, gets past the door. */
TEST(bad_handles_and_texts_are_refused_by_every_function_of_input) {
    rig *r = rig_new();
    phi_agent none, agent = rig_agent(r, NULL), stale = rig_agent(r, NULL);
    phi_content block = text_block("x"), thought = text_block("x"), image = text_block("");
    static char huge[70000];
    memset(&none, 0, sizeof none);
    memset(huge, 'x', sizeof huge - 1);
    thought.kind = PHI_CONTENT_THINKING;
    image.kind = PHI_CONTENT_IMAGE;
    phi_agent_free(stale);
    CHECK_EQ_INT(phi_steer(none, "x"), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_steer(stale, "x"), PHI_STALE);
    CHECK_EQ_INT(phi_steer(agent, NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_steer(agent, ""), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_steer(agent, " \n\t "), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_steer(agent, huge), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_follow_up(stale, "x"), PHI_STALE);
    CHECK_EQ_INT(phi_inject(agent, "x", NULL), PHI_MISUSE);
    CHECK_EQ_INT(phi_inject(stale, "x", NULL), PHI_STALE);
    CHECK_EQ_INT(phi_inject(none, "x", "y"), PHI_BAD_ARG);
    CHECK_EQ_INT(enqueue_blocks(none, PHI_INPUT_STEERING, &block, 1, NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(enqueue_blocks(stale, PHI_INPUT_STEERING, &block, 1, NULL), PHI_STALE);
    CHECK_EQ_INT(enqueue_blocks(agent, PHI_INPUT_PROMPT, &block, 1, NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(enqueue_blocks(agent, PHI_INPUT_NONE, &block, 1, NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(enqueue_blocks(agent, (phi_input)99, &block, 1, NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(enqueue_blocks(agent, PHI_INPUT_STEERING, NULL, 1, NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(enqueue_blocks(agent, PHI_INPUT_STEERING, &block, 0, NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(enqueue_blocks(agent, PHI_INPUT_STEERING, &thought, 1, NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(enqueue_blocks(agent, PHI_INPUT_STEERING, &image, 1, NULL), PHI_BAD_ARG);
    CHECK_EQ_INT(enqueue_blocks(agent, PHI_INPUT_INJECTED, &block, 1, NULL), PHI_MISUSE);
    CHECK_EQ_INT(phi_agent_get_info(none).queued, 0);
    CHECK_EQ_INT(phi_agent_get_info(stale).queued, 0);
    CHECK_EQ_INT(phi_queue_clear(stale, PHI_INPUT_NONE), PHI_STALE);
    CHECK_EQ_INT(phi_queue_clear(none, PHI_INPUT_NONE), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_queue_clear(agent, PHI_INPUT_PROMPT), PHI_BAD_ARG);
    CHECK_EQ_INT(rig_run(r, 2), 0);
    CHECK_EQ_INT(phi_agent_get_info(agent).queued, 0);
    CHECK_EQ_STR(rig_story(r), "");
    rig_free(r);
}

/* ---- at the worst moment ---- */
typedef struct says {
    phi_hook_point at;
    int what; /* 0: steer, 1: follow-up, 2: inject, 3: enqueue steering, 4: enqueue injected */
    size_t done;
    phi_status said;
} says;

static phi_verdict say_at(void *user_data, phi_hook *hook) {
    says *s = (says *)user_data;
    phi_content block = text_block("NOW");
    if (hook->point != s->at || s->done++ > 0) return PHI_ALLOW;
    switch (s->what) {
    case 0: s->said = phi_steer(hook->agent, "NOW"); break;
    case 1: s->said = phi_follow_up(hook->agent, "NOW"); break;
    case 2: s->said = phi_inject(hook->agent, "NOW", "tag"); break;
    case 3: s->said = enqueue_blocks(hook->agent, PHI_INPUT_STEERING, &block, 1, NULL); break;
    default: s->said = enqueue_blocks(hook->agent, PHI_INPUT_INJECTED, &block, 1, "tag"); break;
    }
    return PHI_ALLOW;
}

/* Hypothesis: what is said in the last hook before the end is lost, or seen twice: it must be in the
   history once, still queued, or reported. */
TEST(what_is_said_from_a_hook_is_delivered_kept_or_reported_exactly_once) {
    int i, what;
    for (what = 0; what < 5; what++)
        for (i = 0; i < HOOK_POINTS; i++) {
            rig *r = rig_new();
            phi_agent_desc desc = rig_desc();
            phi_tool tool = rig_echo();
            phi_agent agent;
            says s;
            size_t seen, dropped, kept;
            memset(&s, 0, sizeof s);
            s.at = (phi_hook_point)(1 << i);
            s.what = what;
            rig_hook_with(r, say_at, &s);
            rig_hooks(r, &desc, EVERY_POINT);
            rig_call(r, "c1", "echo", "{}");
            rig_says(r, "one");
            rig_says(r, "two");
            rig_says(r, "three");
            agent = agent_with(r, &desc, &tool);
            CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
            CHECK_EQ_INT(rig_run(r, 100), 0);
            CHECK_EQ_INT(rig_run(r, 2), 0);
            seen = count_of(rig_story(r), "MessageEnd user \"NOW\"");
            dropped = count_of(rig_story(r), "InputDropped");
            kept = phi_agent_get_info(agent).queued;
            if (s.done > 0 && s.said == PHI_OK) {
                if (!CHECK_EQ_INT(seen + dropped + kept, 1))
                    printf("  %s %d\n%s", rig_point_name(1 << i), what, rig_story(r));
                /* Only what is said after the end may wait, or be dropped. */
                if (s.at != PHI_HOOK_AFTER_LOOP) CHECK_EQ_INT(seen, 1);
            } else {
                CHECK_EQ_INT(seen + dropped + kept, 0);
                if (s.done > 0) CHECK_EQ_INT(s.said, PHI_MISUSE);
            }
            rig_free(r);
        }
}

/* Hypothesis: more than one look at the inbox is needed at the end, and the run ends without what was
   posted before it. */
TEST(a_run_does_not_end_before_a_full_inbox_was_read) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent, other;
    phi_status said = PHI_OK;
    int posted = 0;
    rig_says(r, "one");
    rig_says(r, "two");
    rig_chunk(r, 20);           /* the first answer takes many steps */
    desc.input.queue_limit = 1; /* of the other's, that the inbox may be full of its messages */
    other = rig_agent(r, &desc);
    desc.input.queue_limit = 0;
    agent = rig_agent(r, &desc);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 5), 1);
    while (posted < 1000 && said == PHI_OK) {
        said = phi_steer(other, "x");
        posted++;
    }
    CHECK(posted > 500);
    CHECK_EQ_INT(phi_follow_up(agent, "NOW"), PHI_OK);
    rig_chunk(r, 0); /* what is left of it comes in one */
    CHECK_EQ_INT(rig_run(r, 50), 0);
    CHECK_EQ_INT(count_of(rig_story(r), "MessageEnd user \"NOW\""), 1);
    CHECK_EQ_INT(count_of(rig_story(r), "AgentEnd"), 1);
    rig_free(r);
}

/* Hypothesis: an agent that has gone on for so long that the inbox's count of bytes has wrapped half-way is
   deaf to phi_abort. */
TEST(an_abort_is_heard_by_a_run_that_is_older_than_two_gigabytes_of_posts) {
    rig *r = rig_new();
    phi_runtime *rt = rig_runtime(r);
    phi_agent agent = rig_agent(r, NULL);
    rig_hangs(r, "");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 5), 1);
    CHECK_EQ_INT(rt->inbox.head, rt->inbox.tail);
    /* As if so much had passed through: the ring is empty and zeroed. */
    rt->inbox.head = rt->inbox.tail = rt->inbox.tail + (UINT32_C(1) << 31);
    CHECK_EQ_INT(phi_inject(agent, "NOW", NULL), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 2), 1);
    CHECK_EQ_INT(phi_agent_get_info(agent).injected, 1);
    CHECK_EQ_INT(phi_abort(agent), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 5), 0);
    rig_free(r);
}

/* Hypothesis: an abort or an injected message for a run that has ended hits the next one. */
TEST(what_was_said_to_an_earlier_run_does_not_reach_the_next) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    rig_says(r, "one");
    rig_says(r, "two");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 50), 0);
    CHECK_EQ_INT(phi_abort(agent), PHI_OK);
    CHECK_EQ_INT(phi_stop(agent), PHI_OK);
    CHECK_EQ_INT(phi_prompt(agent, "go on"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 50), 0);
    CHECK_EQ_INT(count_of(rig_story(r), "AgentEnd ok"), 2);
    rig_free(r);
}

static phi_verdict says_late(void *user_data, phi_hook *hook) {
    (void)user_data;
    if (hook->point == PHI_HOOK_ON_ERROR)
        CHECK_EQ_INT(phi_inject(hook->agent, "late", "tag"), PHI_OK);
    return PHI_ALLOW;
}

/* Said in the last hook of a run that failed; the host prompts again before it steps. */
TEST(a_message_for_a_run_that_failed_is_reported_and_not_delivered_to_the_next) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    int steps = 0;
    rig_hook_with(r, says_late, NULL);
    rig_hooks(r, &desc, PHI_HOOK_ON_ERROR);
    agent = rig_agent(r, &desc);
    rig_replies(r, 400, HEARD_JSON, HEARD_BOOM);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    while (phi_agent_get_info(agent).running && steps++ < 50) {
        (void)rig_step(r);
        rig_pass_ms(r, 1);
    }
    CHECK_EQ_INT(count_of(rig_story(r), "-> on_error"), 1);
    CHECK_EQ_INT(count_of(rig_story(r), "InputDropped"), 0); /* it was not read yet */
    rig_says(r, "two");
    CHECK_EQ_INT(phi_prompt(agent, "go on"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 50), 0);
    CHECK_EQ_INT(count_of(rig_story(r), "InputDropped injected \"late\""), 1);
    CHECK_EQ_INT(count_of(rig_story(r), "MessageEnd user \"late\""), 0);
    CHECK(strstr(rig_request(r, 1), "late") == NULL);
    rig_free(r);
}

/* ---- filters ---- */

/* Hypothesis: refusing one of several messages loses its neighbours. */
TEST(a_refused_message_takes_none_of_its_neighbours_along) {
    int which;
    for (which = 0; which < 3; which++) {
        rig *r = rig_new();
        phi_agent_desc desc = rig_desc();
        phi_filter filter = rig_filter(r);
        phi_agent agent;
        int i;
        desc.input.filters = &filter;
        desc.input.filter_count = 1;
        desc.input.steering_mode = PHI_QUEUE_ALL;
        agent = rig_agent(r, &desc);
        CHECK_EQ_INT(phi_steer(agent, "a"), PHI_OK);
        CHECK_EQ_INT(phi_steer(agent, "b"), PHI_OK);
        CHECK_EQ_INT(phi_steer(agent, "c"), PHI_OK);
        CHECK_EQ_INT(rig_step(r), 0);
        rig_answers(r, PHI_HOOK_FILTER, PHI_ALLOW, NULL); /* the prompt */
        for (i = 0; i < which; i++) rig_answers(r, PHI_HOOK_FILTER, PHI_WARN, "w");
        rig_answers(r, PHI_HOOK_FILTER, PHI_DENY, "no");
        CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 50), 0);
        CHECK_EQ_INT(count_of(rig_story(r), "InputRejected \"no\""), 1);
        CHECK_EQ_INT(phi_agent_get_info(agent).steering, 2);
        rig_says(r, "x");
        CHECK_EQ_INT(phi_prompt(agent, "again"), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 50), 0);
        CHECK_EQ_INT(phi_agent_get_info(agent).steering, 0);
        /* What had been passed with a warning is not warned of twice. */
        CHECK(strstr(rig_story(r), "[Warning: w]\" \"[Warning") == NULL);
        rig_free(r);
    }
}

/* ---- room ---- */

/* Hypothesis: a queue's limit is a suggestion. */
TEST(a_full_queue_reports_what_it_does_not_take) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    phi_content block = text_block("x");
    int i;
    desc.input.queue_limit = 2;
    agent = rig_agent(r, &desc);
    for (i = 0; i < 5; i++) CHECK_EQ_INT(phi_follow_up(agent, "more"), PHI_OK);
    CHECK_EQ_INT(enqueue_blocks(agent, PHI_INPUT_STEERING, &block, 1, NULL), PHI_OK);
    CHECK_EQ_INT(enqueue_blocks(agent, PHI_INPUT_STEERING, &block, 1, NULL), PHI_OK);
    CHECK_EQ_INT(enqueue_blocks(agent, PHI_INPUT_STEERING, &block, 1, NULL), PHI_FULL);
    CHECK_EQ_INT(rig_step(r), 0);
    CHECK_EQ_INT(phi_agent_get_info(agent).follow_ups, 2);
    CHECK_EQ_INT(count_of(rig_story(r), "InputDropped follow-up \"more\""), 3);
    CHECK_EQ_INT(phi_queue_clear(agent, PHI_INPUT_FOLLOW_UP), PHI_OK);
    CHECK_EQ_INT(phi_agent_get_info(agent).queued, 2);
    CHECK_EQ_INT(phi_queue_clear(agent, PHI_INPUT_NONE), PHI_OK);
    CHECK_EQ_INT(phi_agent_get_info(agent).queued, 0);
    rig_free(r);
}

typedef struct pull {
    size_t asked;
} pull;

static phi_verdict pull_always(void *user_data, phi_hook *hook) {
    pull *p = (pull *)user_data;
    p->asked++;
    hook->reply = PHI__LIT("more \0 odd \xff bytes");
    return PHI_ALLOW;
}

/* Hypothesis: a pull hook that never stops giving keeps a step for ever. */
TEST(a_pull_hook_that_always_gives_is_asked_a_bounded_number_of_times) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    pull p;
    memset(&p, 0, sizeof p);
    desc.input.steering_mode = PHI_QUEUE_ALL;
    desc.input.queue_limit = 8;
    desc.limits.max_turns = 3;
    rig_hook_with(r, pull_always, &p);
    rig_hooks(r, &desc, PHI_HOOK_STEERING);
    rig_says(r, "1"), rig_says(r, "2"), rig_says(r, "3"), rig_says(r, "4");
    agent = rig_agent(r, &desc);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    CHECK(strstr(rig_story(r), "Max turns reached (3/3)") != NULL);
    CHECK(p.asked <= 4 * 8);
    CHECK_EQ_INT(rig_requests(r), 3);
    CHECK_EQ_INT(phi_agent_get_info(agent).steering, 8); /* back in the queue */
    rig_free(r);
}

/* ---- memory ---- */

/* A run that is steered and injected into, behind `fill` events that nobody pops: so any event may be the
   one that needs a new block. False: the agent could not be made. */
static bool say_much(rig *r, int fill, phi_agent *agent) {
    phi_agent_desc desc = rig_desc();
    phi_agent other;
    desc.input.queue_limit = 1;
    other = rig_agent(r, &desc);
    while (other.rt != NULL && fill-- >= 0) (void)phi_follow_up(other, "x");
    desc.input.queue_limit = 0;
    desc.input.steering_mode = PHI_QUEUE_ALL;
    *agent = rig_agent(r, &desc);
    if (agent->rt == NULL || phi_prompt(*agent, "go") != PHI_OK) return false;
    (void)phi_steer(*agent, "S1");
    (void)phi_steer(*agent, "S2");
    (void)phi_inject(*agent, "I1", "tag");
    rig_silent(r, true);
    (void)rig_run(r, 50);
    return true;
}

/* How often a user's message of this text is in the history. */
static size_t stored(phi_agent agent, const char *text) {
    size_t i, n = 0;
    for (i = 0; i < phi_thread_message_count(phi_agent_thread(agent)); i++)
        n += phi__str_is(phi_thread_message_at(phi_agent_thread(agent), i)->content[0].text, text);
    return n;
}

/* The n-th allocation fails. False: it came to no n-th. */
static bool say_much_without(int fill, int n) {
    phi_agent agent;
    bool tripped;
    rig *r;
    test_alloc_fail_at(n);
    r = rig_new_with(NULL);
    if (r == NULL) return true;
    rig_says(r, "one");
    rig_says(r, "two");
    if (!say_much(r, fill, &agent)) agent.rt = NULL;
    tripped = test_alloc_tripped();
    test_alloc_fail_at(-1);
    rig_silent(r, false);
    if (agent.rt != NULL) {
        bool right;
        CHECK_EQ_INT(rig_run(r, 50), 0);
        CHECK_EQ_INT(count_of(rig_story(r), "AgentEnd"), 1);
        rig_says(r, "x"), rig_says(r, "x"), rig_says(r, "x");
        CHECK_EQ_INT(phi_prompt(agent, "again"), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 60), 0);
        right = CHECK_EQ_INT(stored(agent, "S1") + count_of(rig_story(r), "steering \"S1\""), 1);
        right = CHECK_EQ_INT(stored(agent, "S2") + count_of(rig_story(r), "steering \"S2\""), 1) &&
                right;
        right =
            CHECK(stored(agent, "I1") + count_of(rig_story(r), "injected \"I1\"") <= 1) && right;
        if (!right) printf("  fill %d, allocation %d\n", fill, n);
    }
    rig_free(r);
    return tripped;
}

/* Hypothesis: a message that was stored when memory ran out is delivered once more later, or is lost
   without a word. */
TEST(a_message_is_delivered_once_whatever_allocation_fails) {
    int fill, n;
    for (fill = 0; fill < 24; fill++)
        for (n = 0; say_much_without(fill, n); n++) {}
}

/* Two messages to a queue with room for one, while a tool works, and no memory for the step that
   reads them. False: each of them is waiting, delivered or reported. */
static bool lost_without_a_word(int fill) {
    static const char *const texts[] = {"S1", "S2"};
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_wait(r);
    phi_agent agent, other;
    char reported[40];
    bool lost = false;
    size_t i;
    desc.input.queue_limit = 1;
    other = rig_agent(r, &desc);
    agent = agent_with(r, &desc, &tool);
    rig_silent(r, true);
    while (fill-- >= 0) CHECK_EQ_INT(phi_follow_up(other, "x"), PHI_OK);
    rig_call(r, "c1", "wait", "{}");
    rig_says(r, "one");
    rig_says(r, "two");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 10), 1);
    for (i = 0; i < 2; i++) CHECK_EQ_INT(phi_steer(agent, texts[i]), PHI_OK);
    test_alloc_fail_from(0);
    (void)rig_run(r, 1);
    test_alloc_fail_from(-1);
    rig_silent(r, false);
    rig_finish(r, 0, "done");
    CHECK_EQ_INT(rig_run(r, 100), 0);
    for (i = 0; i < 2; i++) {
        (void)snprintf(reported, sizeof reported, "InputDropped steering \"%s\"", texts[i]);
        lost = lost || (stored(agent, texts[i]) == 0 && phi_agent_get_info(agent).queued == 0 &&
                        count_of(rig_story(r), reported) == 0);
    }
    if (lost) {
        CHECK(strstr(rig_story(r), "AgentEnd the allocator or a memory limit") != NULL);
        CHECK_EQ_STR(words_of(r), "a message to an agent was lost: out of memory");
    }
    rig_free(r);
    return lost;
}

/* The host would think that it was said. */
TEST(a_message_that_is_lost_without_a_word_fails_the_run) {
    int fill, lost = 0;
    for (fill = 0; fill < 40; fill++) lost += lost_without_a_word(fill);
    CHECK(lost > 0);
}

/* Hypothesis: a host that neither listens nor is stopped fills the memory with reports. */
TEST(reports_of_what_was_dropped_are_bounded_and_none_is_forgotten) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    phi_event event;
    size_t i, told = 0, used = 0;
    desc.input.queue_limit = 1;
    desc.memory.event_queue_bytes = 8192;
    agent = rig_agent(r, &desc);
    rig_silent(r, true);
    for (i = 0; i < 5000; i++) {
        CHECK_EQ_INT(phi_steer(agent, "again"), PHI_OK);
        (void)rig_step(r);
        if (i == 100) used = phi_memory_used(rig_runtime(r), NULL);
    }
    CHECK_EQ_INT(phi_memory_used(rig_runtime(r), NULL), used);
    while (phi_next_event(rig_runtime(r), &event)) {
        CHECK_EQ_INT(event.kind, PHI_EV_INPUT_DROPPED);
        told += event.text.len > 0 ? 1 : event.message_count;
    }
    CHECK_EQ_INT(told, 4999);
    rig_free(r);
}

/* The n-th allocation of a run with a message in each queue fails; then the history goes. What went back into its
   queue was said to no run yet, and nothing of it lies in the log that is gone. False: it came to no n-th. */
static bool come_back_without(int n, bool renew, size_t *waiting) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    phi_memory memory;
    phi_arena arena;
    phi_str text = phi_str_of("");
    char longer[3000]; /* than what the log has taken memory for */
    bool tripped;
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    rig_says(r, "one");
    rig_says(r, "two");
    rig_silent(r, true);
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(phi_steer(agent, longer), PHI_OK);
    CHECK_EQ_INT(phi_follow_up(agent, longer), PHI_OK);
    test_alloc_fail_at(n);
    CHECK_EQ_INT(rig_run(r, 60), 0);
    tripped = test_alloc_tripped();
    test_alloc_fail_at(-1);
    *waiting += phi_agent_get_info(agent).queued;
    CHECK_EQ_INT(renew ? phi_agent_new_session(agent, true)
                       : phi_agent_replace_messages(agent, NULL, 0),
                 PHI_OK);
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_agent_snapshot(agent, &arena, &text), PHI_OK);
    CHECK(strstr(text.at, "loopId") == NULL);
    phi_arena_free(&arena);
    rig_free(r);
    return tripped;
}

TEST(what_went_back_into_its_queue_holds_nothing_of_a_log_that_is_gone) {
    size_t waiting = 0;
    int n = 0;
    while (come_back_without(n, n % 2 == 0, &waiting)) n++;
    CHECK(n > 20 && waiting > 10);
}

TEST_MAIN(TEST_ENTRY(a_queue_gives_one_message_a_poll_by_default_and_all_of_them_in_mode_all),
          TEST_ENTRY(steering_and_follow_ups_may_be_pulled_from_hooks),
          TEST_ENTRY(a_queue_is_cleared_alone_or_with_the_others),
          TEST_ENTRY(the_queues_outlive_a_run),
          TEST_ENTRY(bad_handles_and_texts_are_refused_by_every_function_of_input),
          TEST_ENTRY(what_is_said_from_a_hook_is_delivered_kept_or_reported_exactly_once),
          TEST_ENTRY(a_run_does_not_end_before_a_full_inbox_was_read),
          TEST_ENTRY(an_abort_is_heard_by_a_run_that_is_older_than_two_gigabytes_of_posts),
          TEST_ENTRY(what_was_said_to_an_earlier_run_does_not_reach_the_next),
          TEST_ENTRY(a_message_for_a_run_that_failed_is_reported_and_not_delivered_to_the_next),
          TEST_ENTRY(a_refused_message_takes_none_of_its_neighbours_along),
          TEST_ENTRY(a_full_queue_reports_what_it_does_not_take),
          TEST_ENTRY(a_pull_hook_that_always_gives_is_asked_a_bounded_number_of_times),
          TEST_ENTRY(a_message_is_delivered_once_whatever_allocation_fails),
          TEST_ENTRY(a_message_that_is_lost_without_a_word_fails_the_run),
          TEST_ENTRY(reports_of_what_was_dropped_are_bounded_and_none_is_forgotten),
          TEST_ENTRY(what_went_back_into_its_queue_holds_nothing_of_a_log_that_is_gone))
