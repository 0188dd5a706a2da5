/* test_counter.c - the host's counter of tokens decides wherever tokens decide. */
#include "support/context_tools.h"
#include "support/heard.h"

#include "agent/one_shot_run.h"

#include "tools/context_tools.h"
#include "agent/agent_history.h"
#include "log/log_in.h"
/* A token each byte: four times what the estimate says. */
static size_t bytes_of(void *user_data, phi_str text) {
    if (user_data != NULL) ++*(size_t *)user_data;
    return text.len;
}

/* A token each text, however long. */
static size_t one(void *user_data, phi_str text) {
    (void)user_data;
    return text.len > 0;
}

#define TEXT100                                                                                    \
    "abcdefghijklmnopqrstuvwxyabcdefghijklmnopqrstuvwxyabcdefghijklmnopqrstuvwxyabcdefghijklmnop"  \
    "qrstuvwxy"

static phi_agent_desc desc_of(rig *r) {
    phi_agent_desc desc = rig_desc();
    rig_mock(r);
    desc.limits.max_tokens = UINT64_MAX;
    return desc;
}

static void say(rig *r, phi_agent agent, const char *text) {
    rig_says(r, "Yes.");
    CHECK_EQ_INT(phi_prompt(agent, text), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 100), 0);
}

static const char *explained(phi_agent agent, phi_arena *arena) {
    phi_str words = {"", 0};
    CHECK_EQ_INT(phi_agent_explain(agent, arena, &words), PHI_OK);
    return words.at;
}

/* Six prompts of 100 bytes, with answers of 4: by estimate 29 and 5 tokens, by bytes 104 and 8. */
static size_t compactions_of(size_t (*count)(void *, phi_str), uint32_t window) {
    rig *r = rig_new();
    phi_agent_desc desc = desc_of(r);
    phi_agent agent;
    size_t n;
    int i;
    desc.token_counter.count_text = count;
    desc.compaction.max_context_tokens = window;
    desc.compaction.system_prompt_tokens = 1;
    desc.compaction.max_summary_tokens = 40;
    agent = rig_agent(r, &desc);
    for (i = 0; i < 6; i++) say(r, agent, TEXT100);
    n = count_of(rig_story(r), "CompactionEnded");
    rig_free(r);
    return n;
}

TEST(the_counter_says_when_a_run_compacts) {
    CHECK_EQ_INT(compactions_of(NULL, 400), 0); /* 204 tokens by estimate */
    CHECK(compactions_of(bytes_of, 400) > 0);   /* 672 by bytes */
    CHECK(compactions_of(NULL, 100) > 0);
    CHECK_EQ_INT(compactions_of(one, 100), 0); /* 60 by texts */
}

/* A run over a host's thread, which other agents have run over. */
static size_t compactions_over(rig *r, phi_thread *thread, size_t (*count)(void *, phi_str)) {
    phi_agent_desc desc = desc_of(r);
    phi_run_desc run;
    phi_content block;
    phi_message prompt;
    memset(&run, 0, sizeof run);
    memset(&block, 0, sizeof block);
    memset(&prompt, 0, sizeof prompt);
    block.kind = PHI_CONTENT_TEXT;
    block.text = phi_str_of(TEXT100);
    prompt.role = PHI_ROLE_USER;
    prompt.content = &block;
    prompt.content_count = 1;
    desc.token_counter.count_text = count;
    desc.compaction.max_context_tokens = 400;
    desc.compaction.system_prompt_tokens = 1;
    desc.compaction.max_summary_tokens = 40;
    run.agent = &desc;
    run.thread = thread;
    run.prompts = &prompt;
    run.prompt_count = 1;
    rig_forget(r);
    rig_says(r, "Yes.");
    CHECK(phi_run(rig_runtime(r), &run).rt != NULL);
    CHECK_EQ_INT(rig_run(r, 100), 0);
    return count_of(rig_story(r), "CompactionEnded");
}

TEST(each_agent_over_a_thread_counts_it_by_its_own_counter) {
    rig *r = rig_new();
    phi_thread *thread = phi_thread_new(rig_runtime(r), 0);
    int i;
    for (i = 0; i < 6; i++) CHECK_EQ_INT(compactions_over(r, thread, one), 0);
    CHECK_EQ_INT(compactions_over(r, thread, bytes_of), 1); /* 672 and more by bytes */
    phi_thread_free(thread);
    rig_free(r);
}

static uint64_t before, after;

static void note_compaction(void *user_data, const phi_event *event) {
    (void)user_data;
    if (event->kind != PHI_EV_COMPACTION_END) return;
    before = event->compaction->tokens_before;
    after = event->compaction->tokens_after;
}

TEST(what_a_compaction_says_is_counted) {
    rig *r = rig_new();
    phi_agent_desc desc = desc_of(r);
    phi_allocator allocator = test_allocator();
    phi_memory memory;
    phi_arena arena;
    phi_agent agent;
    char words[100];
    int i;
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
    before = after = 0;
    desc.token_counter.count_text = bytes_of;
    desc.compaction.max_context_tokens = 400;
    desc.compaction.system_prompt_tokens = 1;
    desc.compaction.max_summary_tokens = 60;
    agent = rig_agent(r, &desc);
    rig_watch(r, note_compaction, NULL);
    for (i = 0; i < 4 && before == 0; i++) say(r, agent, TEXT100);
    CHECK_EQ_INT(before, 3 * 112 + 104);
    CHECK(after > 0 && after < before);
    (void)snprintf(words, sizeof words, ", %u tokens\n", (unsigned)after + 8);
    CHECK(strstr(explained(agent, &arena), words) != NULL);
    phi_arena_free(&arena);
    rig_free(r);
}

TEST(the_counter_says_when_to_warn_without_a_policy) {
    rig *r = rig_new();
    phi_agent_desc desc = desc_of(r);
    phi_agent agent;
    desc.token_counter.count_text = bytes_of;
    desc.compaction.disable = true;
    desc.model.context_window = 300;
    desc.system_prompt = "Be brief.";
    agent = rig_agent(r, &desc);
    say(r, agent, TEXT100);
    say(r, agent, TEXT100);
    CHECK(strstr(rig_story(r), "ContextWarning") == NULL);
    say(r, agent, TEXT100);
    CHECK_EQ_INT(count_of(rig_story(r), "ContextWarning \"at_limit\""), 1);
    rig_free(r);
}

TEST(a_budget_reserves_what_the_counter_says) {
    rig *r = rig_new();
    phi_agent_desc desc = desc_of(r);
    phi_agent agent;
    desc.token_counter.count_text = bytes_of;
    desc.max_tokens = 20;
    desc.budget.max_tokens = 100;
    desc.system_prompt = "Be brief.";
    agent = rig_agent(r, &desc);
    CHECK_EQ_INT(phi_prompt(agent, TEXT100), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    /* 9 of the system prompt, 104 of the message, 20 of the answer */
    CHECK(strstr(rig_story(r), "Token budget reached (0/100, the next call may take 133)") != NULL);
    rig_free(r);
}

#define OLD "{\"text\":\"a long and winding list of all the houses in the village\"}"

static phi_tool context_tools[4];

static phi_agent agent_with_tools(rig *r, size_t (*count)(void *, phi_str)) {
    phi_agent_desc desc = desc_of(r);
    desc.token_counter.count_text = count;
    context_tools[0] = rig_echo();
    CHECK_EQ_INT(tools_prun(&context_tools[1]), PHI_OK); /* two of them */
    CHECK_EQ_INT(tools_revert(&context_tools[3]), PHI_OK);
    desc.tools = context_tools;
    desc.tool_count = 4;
    return rig_agent(r, &desc);
}

static void prune_a_hundred(size_t (*count)(void *, phi_str), const char *want) {
    rig *r = rig_new();
    phi_agent agent = agent_with_tools(r, count);
    rig_call(r, "-", "echo", OLD);
    rig_call(r, "-", "echo", OLD);
    rig_call(r, "-", "prun", "{\"tokens\":100}");
    rig_says(r, "Done.");
    CHECK_EQ_INT(phi_prompt(agent, "Count the houses."), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 200), 0);
    if (!CHECK(strstr(rig_story(r), want) != NULL)) printf("%s\n", rig_story(r));
    rig_free(r);
}

/* A call of echo with its result: by bytes 83 and 88 tokens. */
TEST(a_prune_takes_as_many_tokens_as_the_counter_says) {
    prune_a_hundred(NULL, "PrunApplied 4 messages, 118 tokens");
    prune_a_hundred(bytes_of, "PrunApplied 2 messages, 171 tokens");
}

static uint64_t seen_bytes(phi_agent agent, phi_arena *arena) {
    static const phi_token_counter bytes = {bytes_of, NULL};
    const phi_view_item *items = NULL;
    size_t count = 0, i;
    uint64_t sum = 0;
    CHECK_EQ_INT(phi_thread_view(phi_agent_thread(agent), NULL, UINT64_MAX, arena, &items, &count),
                 PHI_OK);
    for (i = 0; i < count; i++) sum += phi_tokens_of_message(&bytes, items[i].message);
    return sum;
}

TEST(after_a_revert_what_is_left_is_counted_anew) {
    rig *r = rig_new();
    phi_allocator allocator = test_allocator();
    phi_memory memory;
    phi_arena arena;
    phi_agent agent = agent_with_tools(r, bytes_of);
    char words[100];
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
    rig_call(r, "-", "echo", OLD);
    rig_call(r, "-", "echo", OLD);
    rig_call(r, "-", "revert_to_state",
             "{\"category\":\"failure\",\"step\":\"n4\",\"summary\":\"no houses\"}");
    rig_says(r, "Done.");
    CHECK_EQ_INT(phi_prompt(agent, "Count the houses."), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 200), 0);
    CHECK(strstr(rig_story(r), "RevertApplied failure to n4") != NULL);
    (void)snprintf(words, sizeof words, "messages, %u tokens\n",
                   (unsigned)seen_bytes(agent, &arena));
    CHECK(strstr(explained(agent, &arena), words) != NULL);
    phi_arena_free(&arena);
    rig_free(r);
}

TEST(a_message_is_counted_once_however_long_the_history) {
    rig *r = rig_new();
    phi_agent_desc desc = desc_of(r);
    size_t asked = 0, first, i;
    phi_agent agent;
    desc.token_counter.count_text = bytes_of;
    desc.token_counter.user_data = &asked;
    agent = rig_agent(r, &desc);
    say(r, agent, "Hello");
    asked = 0;
    say(r, agent, "Hello");
    first = asked;
    for (i = 0; i < 50; i++) say(r, agent, "Hello");
    asked = 0;
    say(r, agent, "Hello");
    CHECK_EQ_INT(asked, first);
    rig_free(r);
}

TEST(in_another_lane_what_is_shown_is_counted_anew) {
    rig *r = rig_new();
    phi_allocator allocator = test_allocator();
    phi_memory memory;
    phi_arena arena;
    phi_agent agent = agent_with_tools(r, bytes_of);
    phi_thread *thread = phi_agent_thread(agent);
    char words[100];
    int i;
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
    for (i = 0; i < 3; i++) {
        say(r, agent, TEXT100);
        (void)snprintf(words, sizeof words, "messages, %u tokens\n",
                       (unsigned)seen_bytes(agent, &arena));
        CHECK(strstr(explained(agent, &arena), words) != NULL);
        CHECK_EQ_INT(i == 0 ? phi_thread_switch(thread, NULL)
                            : phi_thread_switch(thread, PHI_LANE_DEFAULT),
                     PHI_OK);
    }
    phi_arena_free(&arena);
    rig_free(r);
}

TEST_MAIN(TEST_ENTRY(the_counter_says_when_a_run_compacts),
          TEST_ENTRY(each_agent_over_a_thread_counts_it_by_its_own_counter),
          TEST_ENTRY(what_a_compaction_says_is_counted),
          TEST_ENTRY(the_counter_says_when_to_warn_without_a_policy),
          TEST_ENTRY(a_budget_reserves_what_the_counter_says),
          TEST_ENTRY(a_prune_takes_as_many_tokens_as_the_counter_says),
          TEST_ENTRY(after_a_revert_what_is_left_is_counted_anew),
          TEST_ENTRY(a_message_is_counted_once_however_long_the_history),
          TEST_ENTRY(in_another_lane_what_is_shown_is_counted_anew))
