/* test_pause.c - answers that the provider pauses, and the blocks and stop words that phi does not
   know, in a run. */
#include "agent/agent.h"
#include "agent/snapshot.h"
#include "base/base_in.h"
#include "features/facts.h"
#include "support/rig.h"
#include "support/set.h"
#include "codecs/presets.h"
#include "model/model.h"
#include "agent/agent_history.h"
#include "log/thread.h"
#include "loop/input.h"

#define SSE "content-type: text/event-stream\r\n"
#define HEAD                                                                                       \
    "data: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"model\":\"c\",\"usage\":{"      \
    "\"input_tokens\":1,\"output_tokens\":1}}}\n\n"
#define TAIL(reason)                                                                               \
    "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"" reason                       \
    "\"}}\n\ndata: {\"type\":\"message_stop\"}\n\n"
#define TEXT(text)                                                                                 \
    "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\","    \
    "\"text\":\"" text "\"}}\n\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n"
#define BLOCK                                                                                      \
    "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"odd\","     \
    "\"n\": 1}}\n\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n"

static void reply_fixture(rig *r, const char *name) {
    char *bytes = test_fixture(name, NULL);
    if (bytes != NULL) rig_replies(r, 200, SSE, bytes);
    free(bytes);
}

static phi_agent_desc desc_of(const char *model) {
    phi_agent_desc desc = rig_desc();
    desc.model = phi_model_anthropic(model, "key");
    desc.cache.mode = PHI_CACHE_DISABLED;
    return desc;
}

/* The documented search: its call, a pause, its result, the answer. */
static void search(rig *r) {
    reply_fixture(r, "anthropic/search_paused.sse");
    reply_fixture(r, "anthropic/search_resumed.sse");
}

#define ASKED "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Weather?\"}]}"
#define PAUSED                                                                                     \
    "{\"type\":\"text\",\"text\":\"I'll check the weather.\"},{\"type\":\"server_tool_use\","      \
    "\"id\":\"srvtoolu_014hJH82Qum7Td6UV8gDXThB\",\"name\":\"web_search\",\"input\":{\"query\": "  \
    "\"weather NYC today\"}}"
#define RESUMED                                                                                    \
    "{\"type\":\"web_search_tool_result\",\"tool_use_id\":\"srvtoolu_014hJH82Qum7Td6UV8gDXThB\","  \
    "\"content\":[{\"type\":\"web_search_result\",\"title\":\"Weather in New York\",\"url\":"      \
    "\"https://weather.example/nyc\",\"encrypted_content\":\"Ev0DCioIAxgCIiQ3NmE4==\","            \
    "\"page_age\":null}]},{\"type\":\"text\",\"text\":\"It is sunny in New York.\","               \
    "\"citations\":[{\"type\":\"web_search_result_location\",\"cited_text\":\"Sunny, 21 "          \
    "\xc2\xb0"                                                                                     \
    "C.\",\"url\":\"https://weather.example/nyc\",\"title\":\"Weather in New York\","              \
    "\"encrypted_index\":\"Eo8BCioIAhgB==\"}]}"

static void check_messages(rig *r, size_t request, const char *want) {
    const char *body = rig_request(r, request), *at;
    CHECK(body != NULL);
    at = body != NULL ? strstr(body, "\"messages\":") : NULL;
    CHECK_EQ_STR(at != NULL ? at + strlen("\"messages\":") : "", want);
}

TEST(a_pause_goes_on_with_its_blocks_as_the_last_message) {
    static const char *const models[] = {"claude-opus-5-5", "claude-sonnet-4-5"};
    size_t i;
    for (i = 0; i < 2; i++) { /* the first refuses a prefill */
        rig *r = rig_new();
        phi_agent_desc desc = desc_of(models[i]);
        phi_agent agent = rig_agent(r, &desc);
        search(r);
        CHECK_EQ_INT(phi_prompt(agent, "Weather?"), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 40), 0);
        CHECK_EQ_INT(rig_requests(r), 2);
        check_messages(r, 1, "[" ASKED ",{\"role\":\"assistant\",\"content\":[" PAUSED "]}]}");
        CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 3);
        CHECK_EQ_INT(phi_thread_message_at(phi_agent_thread(agent), 1)->stop_reason,
                     PHI_STOP_REASON_PAUSED);
        rig_says(r, "Fine.");
        CHECK_EQ_INT(phi_prompt(agent, "Thanks"), PHI_OK);
        CHECK_EQ_INT(rig_run(r, 40), 0);
        check_messages(r, 2,
                       "[" ASKED ",{\"role\":\"assistant\",\"content\":[" PAUSED "," RESUMED
                       "]},{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":"
                       "\"Thanks\"}]}]}");
        rig_free(r);
    }
}

TEST(facts_are_not_put_behind_a_paused_answer) {
    rig *r = rig_new();
    phi_agent_desc desc = desc_of("claude-opus-5-5");
    phi_agent agent = rig_agent(r, &desc);
    CHECK_EQ_INT(phi_fact_set(phi_fact_agent(agent), "season", phi_str_of("winter"), NULL), PHI_OK);
    search(r);
    CHECK_EQ_INT(phi_prompt(agent, "Weather?"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 40), 0);
    CHECK(strstr(rig_request(r, 0), "winter") != NULL);
    CHECK(strstr(rig_request(r, 1), PAUSED "]}]}") != NULL);
    rig_free(r);
}

TEST(a_block_that_phi_does_not_interpret_is_an_event_when_it_is_whole) {
    rig *r = rig_new();
    phi_agent_desc desc = desc_of("claude-opus-5-5");
    phi_agent agent = rig_agent(r, &desc);
    rig_chunk(r, 7);
    search(r);
    CHECK_EQ_INT(phi_prompt(agent, "Weather?"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 4000), 0);
    CHECK(strstr(rig_story(r),
                 "OpaqueBlock \"server_tool_use\" "
                 "\"{\"type\":\"server_tool_use\",\"id\":\"srvtoolu_014hJH82Qum7Td6UV8gDXThB\","
                 "\"name\":\"web_search\",\"input\":{\"query\": \"weather NYC today\"}}\"\n") !=
          NULL);
    CHECK(strstr(rig_story(r), "OpaqueBlock \"web_search_tool_result\"") != NULL);
    rig_free(r);
}

TEST(pauses_that_bring_nothing_end_the_run) {
    rig *r = rig_new();
    phi_agent_desc desc = desc_of("claude-opus-5-5");
    phi_agent agent = rig_agent(r, &desc);
    rig_replies(r, 200, SSE, HEAD TAIL("pause_turn"));
    rig_replies(r, 200, SSE, HEAD TEXT(" ") TAIL("pause_turn"));
    CHECK_EQ_INT(phi_prompt(agent, "Go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 40), 0);
    CHECK_EQ_INT(rig_requests(r), 2);
    CHECK(strstr(rig_story(r), "the model paused its turn twice without a word or a block") !=
          NULL);
    rig_forget(r);
    rig_replies(r, 200, SSE, HEAD TAIL("pause_turn"));
    rig_replies(r, 200, SSE, HEAD BLOCK TAIL("pause_turn"));
    rig_replies(r, 200, SSE, HEAD TAIL("pause_turn"));
    rig_replies(r, 200, SSE, HEAD TEXT("So") TAIL("end_turn"));
    CHECK_EQ_INT(phi_prompt(agent, "Go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 60), 0);
    CHECK_EQ_INT(rig_requests(r), 6);
    CHECK(strstr(rig_story(r), "paused its turn") == NULL);
    rig_free(r);
}

TEST(words_that_come_in_a_pause_let_go_of_the_call_that_waits) {
    rig *r = rig_new();
    phi_agent_desc desc = desc_of("claude-opus-5-5");
    phi_agent agent = rig_agent(r, &desc);
    reply_fixture(r, "anthropic/search_paused.sse");
    rig_says(r, "Then not.");
    CHECK_EQ_INT(phi_prompt(agent, "Weather?"), PHI_OK);
    CHECK_EQ_INT(rig_step(r), 1);
    CHECK_EQ_INT(phi_steer(agent, "Never mind"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 40), 0);
    check_messages(r, 1,
                   "[" ASKED ",{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":"
                   "\"I'll check the weather.\"}]},{\"role\":\"user\",\"content\":[{\"type\":"
                   "\"text\",\"text\":\"Never mind\"}]}]}");
    rig_free(r);
}

TEST(an_unknown_stop_word_ends_the_turn_with_a_warning) {
    rig *r = rig_new();
    phi_agent_desc desc = desc_of("claude-opus-5-5");
    phi_agent agent = rig_agent(r, &desc);
    rig_replies(r, 200, SSE, HEAD TEXT("So") TAIL("telepathy"));
    CHECK_EQ_INT(phi_prompt(agent, "Go"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 40), 0);
    CHECK(strstr(rig_story(r),
                 "Warning \"the model stopped with the reason \"telepathy\", which is not known: "
                 "its answer is taken as it is\"\n") != NULL);
    CHECK(strstr(rig_story(r), "Error") == NULL);
    CHECK_EQ_INT(phi_thread_message_at(phi_agent_thread(agent), 1)->stop_reason,
                 PHI_STOP_REASON_STOP);
    CHECK_STR(phi_thread_message_at(phi_agent_thread(agent), 1)->raw_stop_reason, "telepathy");
    rig_free(r);
}

TEST(blocks_of_another_protocol_are_named_by_explain) {
    rig *r = rig_new();
    phi_agent_desc desc = desc_of("claude-opus-5-5");
    phi_agent agent = rig_agent(r, &desc);
    phi_allocator allocator = test_allocator();
    phi_model other = phi_model_openai("gpt-5-mini", "key");
    phi_memory memory;
    phi_arena arena;
    phi_str words;
    search(r);
    CHECK_EQ_INT(phi_prompt(agent, "Weather?"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 40), 0);
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_agent_explain(agent, &arena, &words), PHI_OK);
    CHECK(strstr(words.at, "opaque") == NULL);
    CHECK_EQ_INT(set_model(agent, &other), PHI_OK);
    CHECK_EQ_INT(phi_agent_explain(agent, &arena, &words), PHI_OK);
    CHECK(strstr(words.at, ", 1 opaque block (server_tool_use of " PHI_PROTOCOL_ANTHROPIC
                           "): left out: another protocol\n") != NULL);
    CHECK(strstr(words.at, ", 1 opaque block (web_search_tool_result of " PHI_PROTOCOL_ANTHROPIC
                           "): left out: another protocol\n") != NULL);
    phi_arena_free(&arena);
    rig_free(r);
}

TEST(explain_cuts_no_character_of_a_long_type_in_two) {
    rig *r = rig_new();
    phi_agent_desc desc = desc_of("claude-opus-5-5");
    phi_agent agent = rig_agent(r, &desc);
    phi_allocator allocator = test_allocator();
    phi_message message = PHI_ZERO;
    phi_content block = PHI_ZERO;
    char type[90];
    phi_memory memory;
    phi_arena arena;
    phi_str words;
    memset(type, 'a', 79);
    memcpy(type + 79, "\xc3\xa9", 3);
    block.kind = PHI_CONTENT_OPAQUE;
    block.name = phi_str_of(type);
    block.protocol = phi_str_of("elsewhere");
    block.replay = phi_str_of("{}");
    message.role = PHI_ROLE_ASSISTANT;
    message.content = &block;
    message.content_count = 1;
    CHECK_EQ_INT(phi_thread_append(phi_agent_thread(agent), &message, 1, NULL), PHI_OK);
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_agent_explain(agent, &arena, &words), PHI_OK);
    CHECK(strstr(words.at, "a of elsewhere") != NULL);
    CHECK_EQ_INT(phi__utf8_valid(words), words.len);
    phi_arena_free(&arena);
    rig_free(r);
}

TEST(blocks_live_through_a_snapshot_and_through_json) {
    rig *r = rig_new();
    phi_agent_desc desc = desc_of("claude-opus-5-5");
    phi_agent agent = rig_agent(r, &desc), twin;
    phi_allocator allocator = test_allocator();
    phi_memory memory;
    phi_arena arena;
    phi_str state;
    search(r);
    CHECK_EQ_INT(phi_prompt(agent, "Weather?"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 40), 0);
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_agent_snapshot(agent, &arena, &state), PHI_OK);
    twin = phi_agent_restore(rig_runtime(r), &desc, state, PHI_RESTORE_RESUME);
    CHECK(twin.rt != NULL);
    rig_says(r, "Fine.");
    CHECK_EQ_INT(phi_prompt(twin, "Thanks"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 40), 0);
    check_messages(r, 2,
                   "[" ASKED ",{\"role\":\"assistant\",\"content\":[" PAUSED "," RESUMED
                   "]},{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":"
                   "\"Thanks\"}]}]}");
    CHECK_EQ_INT(phi_agent_messages_to_json(agent, &arena, &state), PHI_OK);
    CHECK_EQ_INT(phi_agent_messages_from_json(twin, state, NULL), PHI_OK);
    rig_says(r, "Fine.");
    CHECK_EQ_INT(phi_prompt(twin, "Thanks"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 40), 0);
    CHECK_EQ_STR(rig_request(r, 3), rig_request(r, 2));
    phi_arena_free(&arena);
    rig_free(r);
}

TEST(a_run_with_blocks_survives_every_failed_allocation) {
    int n = 0;
    bool tripped;
    do {
        rig *r = rig_new();
        phi_agent_desc desc = desc_of("claude-opus-5-5");
        phi_agent agent = rig_agent(r, &desc);
        search(r);
        test_alloc_fail_at(n);
        (void)phi_prompt(agent, "Weather?");
        CHECK_EQ_INT(rig_run(r, 60), 0);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        if (!tripped) CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(agent)), 3);
        rig_free(r);
        n++;
    } while (tripped && n < 3000);
    CHECK(n > 20);
    CHECK_EQ_INT((long)test_alloc_live_bytes(), 0);
}

TEST_MAIN(TEST_ENTRY(a_pause_goes_on_with_its_blocks_as_the_last_message),
          TEST_ENTRY(facts_are_not_put_behind_a_paused_answer),
          TEST_ENTRY(a_block_that_phi_does_not_interpret_is_an_event_when_it_is_whole),
          TEST_ENTRY(pauses_that_bring_nothing_end_the_run),
          TEST_ENTRY(words_that_come_in_a_pause_let_go_of_the_call_that_waits),
          TEST_ENTRY(an_unknown_stop_word_ends_the_turn_with_a_warning),
          TEST_ENTRY(blocks_of_another_protocol_are_named_by_explain),
          TEST_ENTRY(explain_cuts_no_character_of_a_long_type_in_two),
          TEST_ENTRY(blocks_live_through_a_snapshot_and_through_json),
          TEST_ENTRY(a_run_with_blocks_survives_every_failed_allocation))
