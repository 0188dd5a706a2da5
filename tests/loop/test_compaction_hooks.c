/* test_compaction_hooks.c - what hooks say to a compaction, and know of it. */
#include "support/heard.h"
#include "agent/agent.h"
#include "agent/agent_history.h"
#include "log/thread.h"
#include "loop/hook.h"

#define TOO_LONG                                                                                   \
    "{\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":"               \
    "\"prompt is too long: 300000 tokens > 200000 maximum\"}}"

/* An agent with a history that something can be taken out of. */
static phi_agent chatty(rig *r, phi_agent_desc *desc) {
    phi_agent agent = rig_agent(r, desc);
    char text[4001];
    int i;
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    for (i = 0; i < 6; i++) {
        phi_content block;
        phi_message message;
        memset(&block, 0, sizeof block);
        memset(&message, 0, sizeof message);
        block.kind = PHI_CONTENT_TEXT;
        block.text = phi_str_of(text);
        message.role = i % 2 == 0 ? PHI_ROLE_USER : PHI_ROLE_ASSISTANT;
        message.stop_reason = i % 2 == 0 ? PHI_STOP_REASON_NONE : PHI_STOP_REASON_STOP;
        message.content = &block;
        message.content_count = 1;
        CHECK_EQ_INT(phi_thread_append(phi_agent_thread(agent), &message, 1, NULL), PHI_OK);
    }
    return agent;
}

TEST(a_denied_compaction_is_not_begun_and_has_no_events) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    rig_hooks(r, &desc, PHI_HOOK_BEFORE_COMPACTION | PHI_HOOK_AFTER_COMPACTION);
    rig_answers(r, PHI_HOOK_BEFORE_COMPACTION, PHI_DENY, NULL);
    agent = chatty(r, &desc);
    rig_replies(r, 400, "Content-Type: application/json\r\n", TOO_LONG);
    rig_says(r, "never");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 30), 0);
    CHECK_EQ_INT(count_of(rig_story(r), "-> before_compaction "), 1);
    CHECK_EQ_INT(count_of(rig_story(r), "Compaction"), 0);
    CHECK_EQ_INT(count_of(rig_story(r), "-> after_compaction"), 0);
    CHECK(strstr(rig_story(r), "Error overflow ") != NULL);
    CHECK_EQ_INT(rig_requests(r), 1);
    rig_free(r);
}

typedef struct numbers {
    phi_compaction before, after, start, end;
    uint64_t estimate;
    phi_str text;
} numbers;

static phi_verdict note_compaction(void *user_data, phi_hook *hook) {
    numbers *n = (numbers *)user_data;
    if (hook->point == PHI_HOOK_BEFORE_COMPACTION) n->before = *hook->compaction;
    if (hook->point == PHI_HOOK_AFTER_COMPACTION) n->after = *hook->compaction;
    return PHI_ALLOW;
}

static void watch_compaction(void *user_data, const phi_event *e) {
    numbers *n = (numbers *)user_data;
    if (e->kind == PHI_EV_COMPACTION_START) n->start = *e->compaction;
    if (e->kind == PHI_EV_COMPACTION_END) n->end = *e->compaction;
}

TEST(the_hooks_of_a_compaction_stand_around_its_events_and_know_the_same_numbers) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent;
    numbers n;
    const char *at;
    memset(&n, 0, sizeof n);
    rig_hooks(r, &desc, PHI_HOOK_BEFORE_COMPACTION | PHI_HOOK_AFTER_COMPACTION);
    rig_hook_with(r, note_compaction, &n);
    rig_watch(r, watch_compaction, &n);
    agent = chatty(r, &desc);
    rig_replies(r, 400, "Content-Type: application/json\r\n", TOO_LONG);
    rig_says(r, "fine");
    CHECK_EQ_INT(phi_prompt(agent, "go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 30), 0);
    CHECK(strstr(rig_story(r), "AgentEnd ok, 2 messages\n") != NULL);
    at = strstr(rig_story(r), "MessageEnd user \"go\"\n-> before_compaction ");
    at = at != NULL ? strstr(at, "\nCompactionStarted ") : NULL;
    at = at != NULL ? strstr(at, "\nCompactionEnded ") : NULL;
    at = at != NULL ? strstr(at, "\n-> after_compaction ") : NULL;
    at = at != NULL ? strstr(at, "\nMessageStart assistant\n") : NULL;
    CHECK(at != NULL);
    CHECK_EQ_INT(n.before.message_count, 7);
    CHECK(n.before.estimated_tokens > 6000 && n.before.estimated_tokens < 6200);
    CHECK_EQ_INT(n.start.message_count, n.before.message_count);
    CHECK_EQ_INT(n.start.estimated_tokens, n.before.estimated_tokens);
    CHECK_EQ_INT(n.after.messages_before, 7);
    CHECK(n.after.messages_after < 7);
    CHECK_EQ_INT(n.after.tokens_before, n.before.estimated_tokens);
    CHECK(n.after.tokens_after < n.after.tokens_before);
    CHECK_EQ_INT(n.after.loops_compacted, 1);
    CHECK_EQ_INT(n.end.messages_before, n.after.messages_before);
    CHECK_EQ_INT(n.end.messages_after, n.after.messages_after);
    CHECK_EQ_INT(n.end.tokens_before, n.after.tokens_before);
    CHECK_EQ_INT(n.end.tokens_after, n.after.tokens_after);
    CHECK(strlen(rig_request(r, 1)) < strlen(rig_request(r, 0)));
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 8); /* the history is whole */
    rig_free(r);
}

TEST_MAIN(TEST_ENTRY(a_denied_compaction_is_not_begun_and_has_no_events),
          TEST_ENTRY(the_hooks_of_a_compaction_stand_around_its_events_and_know_the_same_numbers))
