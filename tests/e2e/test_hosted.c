/* test_hosted.c - the provider's own tools over loopback HTTP: the strict mock refuses a hosted call
   without its result, a result without its call, and contents that were changed. */
#include "e2e/e2e.h"
#include "model/citations.h"

static void searches(const char *id, const char *path) {
    crowd *c = crowd_new(NULL);
    phi_agent_desc desc = e2e_desc(E2E_ANTHROPIC, path);
    const phi_citation *list = NULL;
    phi_allocator allocator = test_allocator();
    const phi_message *answer;
    const phi_content *found;
    phi_memory memory;
    phi_arena arena;
    size_t count = 0;
    seen *s;
    int round;
    REQUIRE(c != NULL);
    desc.model.id = id;
    s = crowd_add(c, &desc, "searcher");
    REQUIRE(s != NULL);
    for (round = 1; round <= 3; round++) {
        CHECK(crowd_ask(s, "Weather?"));
        CHECK_EQ_INT(s->status, PHI_OK);
        if (s->status != PHI_OK) printf("  %s: %s\n", id, s->failure_text);
        CHECK_EQ_INT(phi_message_count(s->agent), (size_t)round * 3);
    }
    answer = phi_message_at(s->agent, 8);
    REQUIRE(answer != NULL && answer->content_count >= 2);
    found = answer->content + answer->content_count - 2; /* some models think first */
    CHECK_EQ_INT(found[0].kind, PHI_CONTENT_OPAQUE);
    CHECK_STR(found[0].name, "web_search_tool_result");
    CHECK_STR(found[1].text, "It is sunny.");
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_citations(&found[1], &arena, &list, &count), PHI_OK);
    CHECK_EQ_INT(count, 1);
    if (count == 1) CHECK_STR(list[0].url, "https://weather.example/");
    phi_arena_free(&arena);
    CHECK(crowd_history_holds(s));
    crowd_free(c);
}

TEST(a_hosted_search_pauses_goes_on_and_stays_in_the_history) {
    searches("claude-opus-5-5", "/s/search");
    searches("claude-sonnet-4-5", "/s/search");
    searches("claude-opus-5-5", "/m/bytes/s/search");
}

MOCK_MAIN(e2e_options, TEST_ENTRY(a_hosted_search_pauses_goes_on_and_stays_in_the_history))
