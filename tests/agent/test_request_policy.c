/* A request that brings a policy of its own: what its model calls are sent, what is said of that, and that no other
   run has it. */
#include "agent/response.h"
#include "agent/snapshot.h"
#include "support/rig.h"
#include "support/store_mem.h"
#include "support/request.h"
#include "agent/agent_history.h"
#include "agent/agent_info.h"
#include "loop/hook.h"

static size_t times_in(const char *text, const char *what) {
    size_t n = 0;
    for (; text != NULL && (text = strstr(text, what)) != NULL; text++) n++;
    return n;
}

static size_t messages_of(rig *r, size_t request) {
    return times_in(rig_request(r, request), "\"role\":");
}

static const char *words_of(rig *r) {
    const char *words = "";
    words = phi_last_error(rig_runtime(r)).message;
    return words;
}

static phi_policy newest_turns(uint32_t n) {
    phi_policy p = PHI_ZERO;
    p.max_turns = n;
    return p;
}

static phi_prompt_desc question(const char *text, const phi_policy *policy) {
    phi_prompt_desc desc = PHI_ZERO;
    desc.text = text;
    desc.policy = policy;
    return desc;
}

static void ask(rig *r, phi_agent agent, const char *text, const phi_policy *policy) {
    phi_prompt_desc desc = question(text, policy);
    phi_response response;
    CHECK_EQ_INT(phi_prompt_with(agent, &desc, &response), PHI_OK);
    CHECK_EQ_INT(rig_run_until(r, 60000), 0);
    CHECK(phi_response_get(response).done);
}

/* An agent that has been asked twice. */
static phi_agent talked(rig *r, const phi_agent_desc *desc) {
    phi_agent agent = rig_agent(r, desc);
    rig_says(r, "one");
    rig_says(r, "two");
    ask(r, agent, "first", NULL);
    ask(r, agent, "second", NULL);
    CHECK_EQ_INT(messages_of(r, 0), 1);
    CHECK_EQ_INT(messages_of(r, 1), 3);
    return agent;
}

/* ---- what is sent ---- */

TEST(all_turns_of_a_request_go_by_its_policy_and_the_next_run_by_none) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_echo();
    phi_policy policy = newest_turns(1);
    phi_agent agent;
    desc.tools = &tool;
    desc.tool_count = 1;
    agent = talked(r, &desc);
    rig_call(r, "c1", "echo", "{}");
    rig_says(r, "three");
    ask(r, agent, "third", &policy);
    CHECK_EQ_INT(messages_of(r, 2), 1); /* the question */
    CHECK(strstr(rig_request(r, 2), "third") != NULL);
    CHECK(strstr(rig_request(r, 2), "second") == NULL);
    CHECK_EQ_INT(messages_of(r, 3), 3); /* and the call and its result */
    CHECK(strstr(rig_request(r, 3), "second") == NULL);
    rig_says(r, "four");
    CHECK_EQ_INT(phi_prompt(agent, "fourth"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 60), 0);
    CHECK_EQ_INT(messages_of(r, 4), 9);
    CHECK(strstr(rig_request(r, 4), "first") != NULL);
    rig_free(r);
}

TEST(the_policy_of_a_request_comes_before_the_agent_s_which_stays) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc(), got;
    phi_policy one = newest_turns(1), two = newest_turns(2), all = PHI_ZERO;
    phi_agent agent;
    desc.policy = &two;
    agent = talked(r, &desc);
    rig_says(r, "three");
    rig_says(r, "four");
    rig_says(r, "five");
    ask(r, agent, "third", &one);
    CHECK_EQ_INT(messages_of(r, 2), 1);
    CHECK_EQ_INT(phi_agent_get_desc(agent, &got), PHI_OK);
    CHECK(got.policy != NULL && got.policy->max_turns == 2);
    ask(r, agent, "fourth", NULL);
    CHECK_EQ_INT(messages_of(r, 3), 3);
    ask(r, agent, "fifth", &all); /* a wider one as well */
    CHECK_EQ_INT(messages_of(r, 4), 9);
    rig_free(r);
}

TEST(an_agent_without_a_policy_has_none_while_a_request_has) {
    rig *r = rig_new();
    phi_agent_desc got;
    phi_policy policy = newest_turns(1);
    phi_prompt_desc asked = question("go", &policy);
    phi_agent agent = rig_agent(r, NULL);
    phi_response response;
    CHECK_EQ_INT(phi_prompt_with(agent, &asked, &response), PHI_OK);
    CHECK_EQ_INT(phi_agent_get_desc(agent, &got), PHI_OK);
    CHECK(got.policy == NULL && got.token_counter.count_text == NULL);
    rig_free(r);
}

TEST(what_a_request_brings_is_copied) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_policy policy = newest_turns(1);
    phi_content blocks[2];
    char said[] = "what is this?", mime[] = "image/png", data[] = "aGVsbG8=";
    phi_prompt_desc asked = question(NULL, &policy);
    phi_response response;
    phi_agent agent = talked(r, &desc);
    memset(blocks, 0, sizeof blocks);
    blocks[0].kind = PHI_CONTENT_TEXT;
    blocks[0].text = phi_str_of(said);
    blocks[1].kind = PHI_CONTENT_IMAGE;
    blocks[1].mime_type = phi_str_of(mime);
    blocks[1].data = phi_str_of(data);
    asked.content = blocks;
    asked.content_count = 2;
    rig_says(r, "three");
    CHECK_EQ_INT(phi_prompt_with(agent, &asked, &response), PHI_OK);
    policy = newest_turns(5);
    memset(blocks, 0, sizeof blocks);
    memset(&asked, 0, sizeof asked);
    memset(said, 'x', sizeof said - 1);
    memset(mime, 'x', sizeof mime - 1);
    memset(data, 'x', sizeof data - 1);
    CHECK_EQ_INT(rig_run(r, 60), 0);
    CHECK_EQ_INT(messages_of(r, 2), 1);
    CHECK(strstr(rig_request(r, 2), "what is this?") != NULL);
    CHECK(strstr(rig_request(r, 2), "image/png") != NULL);
    CHECK(strstr(rig_request(r, 2), "aGVsbG8=") != NULL);
    rig_free(r);
}

static size_t a_thousand(void *user_data, phi_str text) {
    ++*(size_t *)user_data;
    return text.len > 0 ? 1000 : 0;
}

TEST(the_agent_s_counter_counts_for_the_request) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_policy policy = PHI_ZERO;
    size_t calls = 0;
    phi_agent agent;
    policy.max_input_tokens = 2500;
    policy.no_reserve = policy.keep_no_turns = true;
    desc.token_counter.count_text = a_thousand;
    desc.token_counter.user_data = &calls;
    agent = talked(r, &desc);
    calls = 0;
    rig_says(r, "three");
    ask(r, agent, "third", &policy);
    CHECK(calls > 0);
    CHECK_EQ_INT(messages_of(r, 2), 1);
    CHECK(phi_agent_get_info(agent).projection.budget_truncated);
    rig_free(r);
}

TEST(a_budget_reserves_what_the_request_may_send) {
    static char long_text[40000];
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_policy policy = PHI_ZERO;
    phi_agent agent;
    memset(long_text, 'x', sizeof long_text - 1);
    policy.max_input_tokens = 1000;
    policy.no_reserve = policy.keep_no_turns = true;
    desc.max_tokens = 100;
    desc.budget.max_tokens = 5000;
    agent = rig_agent(r, &desc);
    rig_says(r, "one");
    ask(r, agent, long_text, NULL);
    ask(r, agent, "short", NULL);
    CHECK_EQ_INT(rig_requests(r), 0); /* 10,000 tokens: refused before they are sent */
    ask(r, agent, "short", &policy);
    CHECK_EQ_INT(rig_requests(r), 1);
    rig_free(r);
}

/* ---- what is said of it ---- */

TEST(figures_and_words_are_those_of_the_request_while_it_goes_on) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_tool tool = rig_wait(r);
    phi_policy policy = newest_turns(1);
    phi_prompt_desc asked = question("third", &policy);
    phi_response response;
    phi_memory memory;
    phi_arena arena;
    phi_str words = {NULL, 0};
    phi_agent agent;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    desc.tools = &tool;
    desc.tool_count = 1;
    agent = talked(r, &desc);
    CHECK_EQ_INT(phi_agent_get_info(agent).projection.messages_total, 0);
    rig_call(r, "c1", "wait", "{}");
    CHECK_EQ_INT(phi_prompt_with(agent, &asked, &response), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 1);
    REQUIRE(rig_started(r) == 1);
    CHECK_EQ_INT(phi_agent_get_info(agent).projection.messages_included, 1);
    CHECK_EQ_INT(phi_agent_get_info(agent).projection.messages_total, 5);
    CHECK(phi_agent_get_info(agent).projection.window_truncated);
    CHECK_EQ_INT(phi_agent_explain(agent, &arena, &words), PHI_OK);
    CHECK(words.len > 0 && times_in(words.at, "left out: max_turns\n") == 4);
    rig_says(r, "three");
    rig_finish(r, 0, "done");
    CHECK_EQ_INT(rig_run(r, 20), 0);
    CHECK_EQ_INT(phi_agent_explain(agent, &arena, &words), PHI_OK);
    CHECK(words.len > 0 && strstr(words.at, "no policy: all of 8 messages") == words.at);
    CHECK_EQ_INT(phi_agent_get_info(agent).projection.messages_included,
                 3); /* of what was sent last */
    rig_says(r, "four");
    ask(r, agent, "fourth", NULL);
    CHECK_EQ_INT(phi_agent_get_info(agent).projection.messages_included, 0);
    phi_arena_free(&arena);
    rig_free(r);
}

TEST(warnings_go_by_the_policy_of_the_request) {
    static char text[400];
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_policy policy = PHI_ZERO;
    phi_agent agent = talked(r, &desc);
    memset(text, 'x', 360); /* 94 tokens */
    policy.max_input_tokens = 100;
    policy.no_reserve = policy.keep_no_turns = true;
    rig_mock(r);
    CHECK_EQ_INT(times_in(rig_story(r), "ContextWarning"), 0);
    ask(r, agent, text, &policy);
    CHECK_EQ_INT(times_in(rig_story(r), "ContextWarning \"at_limit\""), 1);
    ask(r, agent, "x", NULL); /* far below the model's window */
    CHECK_EQ_INT(times_in(rig_story(r), "ContextWarning"), 1);
    ask(r, agent, "x", &policy); /* reached again */
    CHECK_EQ_INT(times_in(rig_story(r), "ContextWarning"), 2);
    rig_free(r);
}

TEST(a_request_that_cannot_fit_its_own_policy_is_not_sent) {
    static char text[400];
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_policy policy = PHI_ZERO;
    phi_agent agent = talked(r, &desc);
    memset(text, 'x', sizeof text - 1);
    policy.max_input_tokens = 50;
    policy.no_reserve = true;
    ask(r, agent, text, &policy);
    CHECK_EQ_INT(rig_requests(r), 2);
    CHECK(strstr(rig_story(r), "Context overflow: The newest turn is too large for the policy") !=
          NULL);
    rig_says(r, "fine");
    ask(r, agent, "short", NULL);
    CHECK_EQ_INT(rig_requests(r), 3);
    rig_free(r);
}

/* ---- what is refused ---- */

static void refused(rig *r, phi_agent agent, const phi_prompt_desc *desc, phi_status status,
                    const char *words) {
    phi_response response;
    phi_response_info info;
    CHECK_EQ_INT(phi_prompt_with(agent, desc, &response), status);
    CHECK_EQ_STR(words_of(r), words);
    CHECK_EQ_INT(response_get(response, &info), PHI_STALE);
}

TEST(a_request_with_options_says_what_is_wrong_with_them) {
    rig *r = rig_new();
    phi_agent agent = rig_agent(r, NULL);
    phi_content block = PHI_ZERO;
    phi_policy policy = PHI_ZERO;
    phi_prompt_desc desc = question("go", &policy);
    phi_response response;
    policy.include = 64;
    refused(r, agent, &desc, PHI_BAD_ARG, "policy.include: expected PHI_INCLUDE_ bits");
    policy.include = 0;
    policy.summaries = (phi_summaries)9;
    refused(r, agent, &desc, PHI_BAD_ARG, "policy.summaries is none of its values");
    policy.summaries = PHI_SUMMARIES_USE;
    desc.content = &block;
    desc.content_count = 1;
    refused(r, agent, &desc, PHI_BAD_ARG, "phi_prompt_with: text and content are both given");
    desc.text = NULL;
    refused(r, agent, &desc, PHI_BAD_ARG,
            "phi_prompt_with: content[0].kind: expected text, image, document, audio or opaque");
    desc.content_count = 0;
    refused(r, agent, &desc, PHI_BAD_ARG, "phi_prompt_with: there is no content");
    desc.content = NULL;
    refused(r, agent, &desc, PHI_BAD_ARG, "phi_prompt_with: the text is empty");
    refused(r, agent, NULL, PHI_BAD_ARG, "phi_prompt_with: desc is NULL");
    desc.text = "go";
    desc.thread_id = "t";
    refused(r, agent, &desc, PHI_MISUSE, "phi_agent_use_thread: the agent has no store");
    desc.new_thread = true;
    refused(r, agent, &desc, PHI_BAD_ARG,
            "phi_prompt_with: thread_id is given, and new_thread is set");
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 0);
    CHECK(!phi_agent_get_info(agent).running);
    desc = question("go", &policy);
    CHECK_EQ_INT(phi_prompt_with(agent, &desc, &response), PHI_OK);
    refused(r, agent, &desc, PHI_BUSY, "Agent is already streaming. Use steer() or follow_up().");
    phi_agent_free(agent);
    refused(r, agent, &desc, PHI_STALE, "phi_prompt_with: the agent is gone");
    rig_free(r);
}

TEST(a_request_with_a_policy_names_its_thread_or_begins_one) {
    rig *r = rig_new();
    store_mem *store = store_mem_new();
    phi_agent_desc desc = rig_desc();
    phi_policy policy = newest_turns(1);
    phi_prompt_desc asked = question("go", &policy);
    phi_response response;
    phi_agent agent;
    desc.store = store_mem_store(store);
    desc.thread_id = "a";
    agent = talked(r, &desc);
    rig_says(r, "in b");
    rig_says(r, "in a");
    rig_says(r, "in a new one");
    asked.thread_id = "b";
    CHECK_EQ_INT(phi_prompt_with(agent, &asked, &response), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 60), 0);
    asked.thread_id = "a";
    CHECK_EQ_INT(phi_prompt_with(agent, &asked, &response), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 60), 0);
    CHECK_EQ_INT(messages_of(r, 3), 1);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 6);
    asked.thread_id = NULL;
    asked.new_thread = true;
    CHECK_EQ_INT(phi_prompt_with(agent, &asked, &response), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 60), 0);
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 2);
    CHECK_EQ_INT(times_in(store_mem_text(store, "b"), "in b"), 1);
    CHECK_EQ_INT(times_in(store_mem_text(store, "a"), "in a"), 1);
    rig_free(r);
    store_mem_free(store);
}

/* ---- saved in the midst of it ---- */

typedef struct saved {
    rig *r;
    phi_memory memory;
    phi_arena arena;
    phi_tool tool;
    phi_str text;
} saved;

static phi_agent_desc saved_desc(saved *s) {
    phi_agent_desc desc = rig_desc();
    s->tool = rig_wait(s->r);
    desc.tools = &s->tool;
    desc.tool_count = 1;
    return desc;
}

static void save(saved *s, const phi_policy *policy) {
    phi_agent_desc desc;
    phi_prompt_desc asked = question("third", policy);
    phi_response response;
    phi_agent agent;
    memset(s, 0, sizeof *s);
    phi_memory_init(&s->memory, NULL, 0);
    phi_arena_init(&s->arena, &s->memory, 0);
    s->r = rig_new();
    desc = saved_desc(s);
    agent = talked(s->r, &desc);
    rig_call(s->r, "c1", "wait", "{}");
    CHECK_EQ_INT(phi_prompt_with(agent, &asked, &response), PHI_OK);
    CHECK_EQ_INT(rig_run(s->r, 20), 1);
    CHECK_EQ_INT(phi_agent_snapshot(agent, &s->arena, &s->text), PHI_OK);
    rig_free(s->r);
    s->r = rig_new();
}

static void forget(saved *s) {
    phi_arena_free(&s->arena);
    rig_free(s->r);
}

TEST(a_run_that_was_saved_has_its_policy_when_it_is_loaded) {
    phi_policy policy = PHI_ZERO;
    phi_pending_item items[2];
    phi_agent_desc desc;
    phi_agent agent;
    saved s;
    policy.max_input_tokens = PHI_POLICY_UNLIMITED;
    policy.reserve_output_tokens = 77;
    policy.max_turns = 1;
    policy.max_messages = 9;
    policy.keep_last_turns = 2;
    policy.keep_no_turns = policy.no_reserve = true;
    policy.summaries = PHI_SUMMARIES_REQUEST;
    policy.summary_role = PHI_ROLE_ASSISTANT;
    policy.include = PHI_INCLUDE_MESSAGES | PHI_INCLUDE_TOOLS;
    save(&s, &policy);
    CHECK(strstr(s.text.at,
                 "\"policy\":{\"max_input_tokens\":18446744073709551615,"
                 "\"reserve_output_tokens\":77,\"no_reserve\":true,\"max_messages\":9,"
                 "\"max_turns\":1,\"keep_last_turns\":2,\"keep_no_turns\":true,\"summaries\":2,"
                 "\"summary_role\":2,\"include\":3}") != NULL);
    desc = saved_desc(&s);
    agent = phi_agent_restore(rig_runtime(s.r), &desc, s.text, PHI_RESTORE_RESUME);
    REQUIRE(agent.rt != NULL);
    rig_says(s.r, "three");
    CHECK_EQ_INT(rig_run(s.r, 5), 1);
    REQUIRE(phi_pending(rig_runtime(s.r), items, 2) == 1);
    CHECK_EQ_INT(phi_call_reply(items[0].call, "done"), PHI_OK);
    CHECK_EQ_INT(rig_run(s.r, 20), 0);
    CHECK_EQ_INT(messages_of(s.r, 0), 3);
    CHECK(strstr(rig_request(s.r, 0), "second") == NULL);
    rig_says(s.r, "four");
    ask(s.r, agent, "fourth", NULL);
    CHECK_EQ_INT(messages_of(s.r, 1), 9);
    forget(&s);
}

TEST(a_saved_run_without_a_policy_has_the_agent_s) {
    phi_agent_desc desc;
    phi_policy policy = newest_turns(1);
    saved s;
    save(&s, NULL);
    CHECK(strstr(s.text.at, "\"policy\"") == NULL);
    desc = saved_desc(&s);
    desc.policy = &policy;
    CHECK(phi_agent_restore(rig_runtime(s.r), &desc, s.text, PHI_RESTORE_INTERRUPT).rt != NULL);
    CHECK_EQ_INT(rig_run(s.r, 20), 0);
    forget(&s);
}

TEST(a_saved_policy_that_is_none_is_refused) {
    phi_agent_desc desc;
    phi_policy policy = newest_turns(1);
    char *text, *at;
    saved s;
    save(&s, &policy);
    text = (char *)malloc(s.text.len + 1);
    REQUIRE(text != NULL);
    memcpy(text, s.text.at, s.text.len + 1);
    at = strstr(text, "\"summaries\":0");
    REQUIRE(at != NULL);
    at[strlen("\"summaries\":")] = '9';
    desc = saved_desc(&s);
    CHECK(phi_agent_restore(rig_runtime(s.r), &desc, phi_str_of(text), PHI_RESTORE_RESUME).rt ==
          NULL);
    CHECK_EQ_STR(words_of(s.r), "phi_agent_restore: the snapshot does not fit together");
    free(text);
    forget(&s);
}

/* ---- memory ---- */

TEST(a_request_with_a_policy_that_lacks_memory_changes_nothing) {
    int n;
    bool tripped = true;
    for (n = 0; tripped && n < 100; n++) {
        rig *r = rig_new();
        phi_agent_desc desc = rig_desc();
        phi_policy policy = newest_turns(1);
        phi_prompt_desc asked = question("third", &policy);
        phi_agent agent = talked(r, &desc);
        phi_response response;
        phi_status status;
        test_alloc_fail_at(n);
        status = phi_prompt_with(agent, &asked, &response);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK(status == PHI_OK || (tripped && status == PHI_NO_MEMORY));
        if (status != PHI_OK) {
            CHECK_EQ_STR(words_of(r), "phi_prompt_with: out of memory");
            CHECK(!phi_agent_get_info(agent).running);
            CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 4);
            CHECK_EQ_INT(phi_prompt_with(agent, &asked, &response), PHI_OK);
        }
        rig_says(r, "three");
        CHECK_EQ_INT(rig_run(r, 60), 0);
        CHECK_EQ_INT(messages_of(r, 2), 1);
        rig_free(r);
    }
    CHECK(n > 5);
}

/* A request with a policy and a tool, saved while that waits, and loaded. */
static void scenario(void) {
    rig *r = rig_new_with(NULL);
    phi_agent_desc desc = rig_desc();
    phi_policy policy = newest_turns(1);
    phi_prompt_desc asked = question("go", &policy);
    phi_allocator allocator = test_allocator();
    phi_response response;
    phi_memory memory;
    phi_arena arena;
    phi_str text;
    phi_tool tool;
    phi_agent agent;
    if (r == NULL) return;
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
    tool = rig_wait(r);
    desc.tools = &tool;
    desc.tool_count = 1;
    agent = rig_agent(r, &desc);
    rig_says(r, "one");
    rig_call(r, "c1", "wait", "{}");
    if (agent.rt != NULL && phi_prompt(agent, "first") == PHI_OK) (void)rig_run(r, 30);
    if (agent.rt != NULL && phi_prompt_with(agent, &asked, &response) == PHI_OK)
        (void)rig_run(r, 30);
    if (agent.rt != NULL && phi_agent_snapshot(agent, &arena, &text) == PHI_OK) {
        phi_agent_free(agent);
        agent = phi_agent_restore(rig_runtime(r), &desc, text, PHI_RESTORE_INTERRUPT);
        if (agent.rt != NULL) (void)rig_run(r, 30);
    }
    phi_arena_free(&arena);
    rig_free(r);
}

TEST(a_request_with_a_policy_survives_every_failed_allocation) {
    int n = 0;
    do {
        test_alloc_fail_at(n);
        scenario();
        if (!CHECK(test_alloc_live_bytes() == 0)) break;
    } while (test_alloc_tripped() && n++ < 2000);
    test_alloc_fail_at(-1);
    CHECK(n > 50);
}

TEST_MAIN(TEST_ENTRY(all_turns_of_a_request_go_by_its_policy_and_the_next_run_by_none),
          TEST_ENTRY(the_policy_of_a_request_comes_before_the_agent_s_which_stays),
          TEST_ENTRY(an_agent_without_a_policy_has_none_while_a_request_has),
          TEST_ENTRY(what_a_request_brings_is_copied),
          TEST_ENTRY(the_agent_s_counter_counts_for_the_request),
          TEST_ENTRY(a_budget_reserves_what_the_request_may_send),
          TEST_ENTRY(figures_and_words_are_those_of_the_request_while_it_goes_on),
          TEST_ENTRY(warnings_go_by_the_policy_of_the_request),
          TEST_ENTRY(a_request_that_cannot_fit_its_own_policy_is_not_sent),
          TEST_ENTRY(a_request_with_options_says_what_is_wrong_with_them),
          TEST_ENTRY(a_request_with_a_policy_names_its_thread_or_begins_one),
          TEST_ENTRY(a_run_that_was_saved_has_its_policy_when_it_is_loaded),
          TEST_ENTRY(a_saved_run_without_a_policy_has_the_agent_s),
          TEST_ENTRY(a_saved_policy_that_is_none_is_refused),
          TEST_ENTRY(a_request_with_a_policy_that_lacks_memory_changes_nothing),
          TEST_ENTRY(a_request_with_a_policy_survives_every_failed_allocation))
