/* Reported tokens and estimates, mixed. */
#include "support/rig.h"

#include "loop/loop_in.h"
#include "agent/agent_history.h"
#include "log/thread_in.h"

static size_t one(void *user_data, phi_str text) {
    (void)user_data;
    (void)text;
    return 1;
}

static const phi_token_counter constant = {one, NULL};

/* Three user messages of eight bytes each: 4 + 2 tokens by estimate, 4 + 1 by the constant counter. */
static phi_content content;
static phi_message message;
static const phi_message *const list[3] = {&message, &message, &message};

/* The known tokens, and an estimate of the messages after them. */
static uint64_t tokens_of(const phi__tracker *tracker, const phi_message *const *messages,
                          size_t count, const phi_token_counter *counter) {
    size_t i;
    if (messages == NULL) return 0;
    uint64_t sum = phi__tracker_known(tracker, count, &i);
    for (; i < count; i++) {
        uint64_t more = phi_tokens_of_message(counter, messages[i]);
        sum = sum > UINT64_MAX - more ? UINT64_MAX : sum + more;
    }
    return sum;
}

static void setup(void) {
    memset(&content, 0, sizeof content);
    memset(&message, 0, sizeof message);
    content.kind = PHI_CONTENT_TEXT;
    content.text = phi_str_of("12345678");
    message.role = PHI_ROLE_USER;
    message.content = &content;
    message.content_count = 1;
}

static phi_usage usage_of(uint64_t input, uint64_t output, uint64_t read, uint64_t write) {
    phi_usage usage = PHI_ZERO;
    usage.input = input;
    usage.output = output;
    usage.cache_read = read;
    usage.cache_write = write;
    return usage;
}

TEST(without_a_report_all_is_estimated) {
    phi__tracker t = PHI_ZERO;
    setup();
    CHECK_EQ_INT(tokens_of(&t, list, 3, NULL), 18);
    CHECK_EQ_INT(tokens_of(&t, list, 1, &constant), 5);
    CHECK_EQ_INT(tokens_of(&t, list, 3, &constant), 15);
    CHECK_EQ_INT(tokens_of(NULL, list, 3, NULL), 18);
    CHECK_EQ_INT(tokens_of(&t, list, 0, NULL), 0);
    CHECK_EQ_INT(tokens_of(&t, NULL, 3, NULL), 0);
}

TEST(a_report_counts_with_what_stands_behind_it) {
    phi__tracker t = PHI_ZERO;
    phi_usage usage = usage_of(100, 20, 3, 4);
    setup();
    phi__tracker_record(&t, &usage, 0);
    CHECK_EQ_INT(tokens_of(&t, list, 3, NULL), 127 + 12);
    CHECK_EQ_INT(tokens_of(&t, list, 3, &constant), 127 + 10);
    CHECK_EQ_INT(tokens_of(&t, list, 1, NULL), 127);
    phi__tracker_record(&t, &usage, 2);
    CHECK_EQ_INT(tokens_of(&t, list, 3, NULL), 127);
}

TEST(a_report_of_nothing_is_ignored) {
    phi__tracker t = PHI_ZERO;
    phi_usage some = usage_of(10, 0, 0, 0), none = usage_of(0, 0, 0, 0);
    setup();
    phi__tracker_record(&t, &none, 0);
    CHECK_EQ_INT(tokens_of(&t, list, 3, NULL), 18);
    phi__tracker_record(&t, &some, 1);
    phi__tracker_record(&t, &none, 2);
    phi__tracker_record(&t, NULL, 2);
    phi__tracker_record(NULL, &some, 2);
    CHECK_EQ_INT(tokens_of(&t, list, 3, NULL), 16);
}

TEST(a_report_of_a_longer_list_counts_for_nothing) {
    phi__tracker t = PHI_ZERO;
    phi_usage usage = usage_of(100, 20, 0, 0);
    size_t from = 7;
    setup();
    phi__tracker_record(&t, &usage, 3);
    CHECK_EQ_INT(tokens_of(&t, list, 3, NULL), 18);
    CHECK_EQ_INT(phi__tracker_known(&t, 3, &from), 0);
    CHECK_EQ_INT(from, 0);
    CHECK_EQ_INT(phi__tracker_known(&t, 4, &from), 120);
    CHECK_EQ_INT(from, 4);
}

TEST(a_reset_forgets_the_report) {
    phi__tracker t = PHI_ZERO;
    phi_usage usage = usage_of(100, 20, 0, 0);
    setup();
    phi__tracker_record(&t, &usage, 0);
    memset(&t, 0, sizeof t);
    CHECK_EQ_INT(tokens_of(&t, list, 3, NULL), 18);
}

TEST(sums_stop_where_they_do_not_fit) {
    phi__tracker t = PHI_ZERO;
    phi_usage usage = usage_of(UINT64_MAX, 20, UINT64_MAX, 1);
    setup();
    phi__tracker_record(&t, &usage, 0);
    CHECK(tokens_of(&t, list, 3, NULL) == UINT64_MAX);
}

/* ---- a run's ---- */

static uint64_t seen[8];
static size_t seen_count;

static phi_verdict look(void *user_data, phi_hook *hook) {
    phi__agent *agent =
        (phi__agent *)phi__slots_find(&hook->agent.rt->agents, hook->agent.index, hook->agent.gen)
            ->object;
    (void)user_data;
    if (seen_count < 8) seen[seen_count++] = phi__projection_context_tokens(agent->run);
    return PHI_ALLOW;
}

TEST(a_run_goes_by_the_last_report_until_the_list_is_changed) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool echo = rig_echo();
    phi_rewrite rewrite = PHI_ZERO;
    phi_span span = PHI_ZERO;
    phi_agent agent;
    seen_count = 0;
    desc.tools = &echo;
    desc.tool_count = 1;
    rig_hooks(r, &desc, PHI_HOOK_TRANSFORM_CONTEXT);
    rig_hook_with(r, look, NULL);
    agent = rig_agent(r, &desc);
    rig_call(r, "c1", "echo", "{}");
    rig_says(r, "Done.");
    rig_says(r, "Yes.");
    CHECK_EQ_INT(phi_prompt(agent, "12345678"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    span.from = 3; /* the call; its result is 4 */
    span.to = 4;
    rewrite.spans = &span;
    rewrite.span_count = 1;
    REQUIRE(CHECK_EQ_INT(phi_agent_rewrite(agent, &rewrite), PHI_OK));
    CHECK_EQ_INT(phi_prompt(agent, "12345678"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    REQUIRE(CHECK_EQ_INT(seen_count, 3));
    CHECK_EQ_INT(seen[0], 6); /* estimated */
    CHECK_EQ_INT(seen[1],
                 15 - 14 + 10); /* what the rig reports, without the tool; and the result */
    CHECK_EQ_INT(seen[2], 6 + 6 + 6);
    rig_free(r);
}

TEST_MAIN(TEST_ENTRY(without_a_report_all_is_estimated),
          TEST_ENTRY(a_report_counts_with_what_stands_behind_it),
          TEST_ENTRY(a_report_of_nothing_is_ignored),
          TEST_ENTRY(a_report_of_a_longer_list_counts_for_nothing),
          TEST_ENTRY(a_reset_forgets_the_report), TEST_ENTRY(sums_stop_where_they_do_not_fit),
          TEST_ENTRY(a_run_goes_by_the_last_report_until_the_list_is_changed))
