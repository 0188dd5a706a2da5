/* test_hosted.c - the provider's own tools over loopback HTTP, on the streams that Anthropic and
   OpenAI document. For Claude the strict mock refuses a hosted call without its result, a result
   without its call, and contents that were changed; for OpenAI the items in the next request are
   compared byte for byte. */
#include "e2e/e2e.h"
#include "model/citations.h"
#include "codecs/presets.h"
#include "model/model.h"
#include "agent/agent_history.h"
#include "log/thread.h"
#include "model/message.h"

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
        CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(s->agent)), (size_t)round * 3);
    }
    answer = phi_thread_message_at(phi_agent_thread(s->agent), 8);
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

/* ---- OpenAI: items of a search, and a text with its sources ---- */

/* The items of an answer as they stream, with its turn for %d. */
#define SEARCH                                                                                     \
    "{\"id\":\"ws_000%da\",\"type\":\"web_search_call\",\"status\":\"completed\",\"action\":{"     \
    "\"type\":\"search\",\"query\":\"Wetter \303\274ber \\\"Rom\\\"\",\"queries\":[\"Wetter "      \
    "\303\274ber \\\"Rom\\\"\",\"rain\"],\"sources\":[{\"type\":\"url\",\"url\":"                  \
    "\"https://weather.example/\"}]}}"
#define OPENED                                                                                     \
    "{\"id\":\"ws_000%db\",\"type\":\"web_search_call\",\"status\":\"completed\",\"action\":{"     \
    "\"type\":\"open_page\",\"url\":\"https://weather.example/\"}}"
#define CITED                                                                                      \
    "\"annotations\":[{\"type\":\"url_citation\",\"start_index\":21,\"end_index\":38,\"url\":"     \
    "\"https://weather.example/?q=a%%20b\",\"title\":\"Weather \342\200\223 Rome\"}]"

static char items[4][500]; /* of PHI_EV_OPAQUE, in their order */
static int item_count;

static void note_items(seen *s, const phi_event *e) {
    (void)s;
    if (e->kind != PHI_EV_OPAQUE || item_count == 4) return;
    CHECK_STR(e->source, "web_search_call");
    (void)snprintf(items[item_count++], sizeof items[0], "%.*s", (int)e->text.len, e->text.at);
}

static void expect_item(const char *json, const char *format, int turn) {
    char want[500];
    (void)snprintf(want, sizeof want, format, turn);
    CHECK_EQ_STR(json, want);
}

/* The answer: reasoning, two items of the search, and a text that cites. */
static void expect_answer(const phi_message *answer, int turn) {
    phi_allocator allocator = test_allocator();
    const phi_citation *list = NULL;
    phi_memory memory;
    phi_arena arena;
    size_t count = 0, i;
    REQUIRE(answer != NULL);
    if (!CHECK_EQ_INT(answer->content_count, 4)) return;
    CHECK_EQ_INT(answer->content[0].kind, PHI_CONTENT_THINKING);
    for (i = 1; i < 3; i++) {
        char json[500];
        CHECK_EQ_INT(answer->content[i].kind, PHI_CONTENT_OPAQUE);
        CHECK_STR(answer->content[i].name, "web_search_call");
        (void)snprintf(json, sizeof json, "%.*s", (int)answer->content[i].replay.len,
                       answer->content[i].replay.at);
        expect_item(json, i == 1 ? SEARCH : OPENED, turn);
    }
    CHECK_STR(answer->content[3].text, "It is sunny in Rome (weather.example).");
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_citations(&answer->content[3], &arena, &list, &count), PHI_OK);
    if (CHECK_EQ_INT(count, 1)) {
        CHECK_STR(list[0].url, "https://weather.example/?q=a%20b");
        CHECK_STR(list[0].title, "Weather \342\200\223 Rome");
        CHECK(list[0].has_range && !list[0].in_source);
        CHECK_EQ_INT(list[0].start, 21);
        CHECK_EQ_INT(list[0].end, 38);
    }
    phi_arena_free(&arena);
}

/* The last request has the items and citations of each earlier answer, in their places. */
static void expect_sent(int rounds) {
    char *body = mock_ask("GET", "/_body");
    int turn;
    REQUIRE(body != NULL);
    CHECK_EQ_INT(e2e_count(body, "{\"type\":\"web_search\",\"search_context_size\":\"low\"}"), 1);
    CHECK_EQ_INT(e2e_count(body, "web_search_call.action.sources"), 1);
    CHECK_EQ_INT(e2e_count(body, "\"web_search_call\""), 2 * (rounds - 1));
    for (turn = 0; turn < rounds - 1; turn++) {
        char want[1000];
        const char *at;
        (void)snprintf(want, sizeof want, "," SEARCH "," OPENED ",", turn, turn);
        at = strstr(body, want);
        if (!CHECK(at != NULL)) printf("  %s\n", body);
        (void)snprintf(want, sizeof want, CITED);
        CHECK(at != NULL && strstr(at, want) != NULL);
        CHECK_EQ_INT(e2e_count(body, want), rounds - 1);
    }
    free(body);
}

static void searches_openai(bool azure, const char *path) {
    static const phi_raw_tool of_openai = {
        PHI_PROTOCOL_OPENAI_RESPONSES, "{\"type\":\"web_search\",\"search_context_size\":\"low\"}"};
    static const phi_raw_tool of_azure = {
        PHI_PROTOCOL_AZURE_RESPONSES, "{\"type\":\"web_search\",\"search_context_size\":\"low\"}"};
    phi_agent_desc desc = e2e_desc(E2E_ANTHROPIC, "");
    crowd *c = crowd_new(NULL);
    char url[400];
    int round;
    seen *s;
    REQUIRE(c != NULL);
    (void)snprintf(url, sizeof url, "%s%s", mock_url(path), azure ? "/openai/v1" : "/v1");
    desc.model = azure ? phi_model_azure(url, "gpt-5-mini", "a-key")
                       : phi_model_openai_responses("gpt-5-mini", "a-key");
    desc.model.base_url = url;
    desc.model.extra = "{\"include\":[\"web_search_call.action.sources\"]}";
    desc.thinking = PHI_THINKING_LOW;
    desc.tool_options.raw_tools = azure ? &of_azure : &of_openai;
    desc.tool_options.raw_tool_count = 1;
    s = crowd_add(c, &desc, azure ? "azure" : "openai");
    REQUIRE(s != NULL);
    s->on_event = note_items;
    for (round = 1; round <= 3; round++) {
        item_count = 0;
        CHECK(crowd_ask(s, "Weather?"));
        if (!CHECK_EQ_INT(s->status, PHI_OK)) printf("  %s: %s\n", s->name, s->failure_text);
        if (CHECK_EQ_INT(item_count, 2)) {
            expect_item(items[0], SEARCH, round - 1);
            expect_item(items[1], OPENED, round - 1);
        }
        CHECK_EQ_STR(s->text, "It is sunny in Rome (weather.example).");
        CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(s->agent)), (size_t)round * 2);
        expect_answer(phi_thread_message_at(phi_agent_thread(s->agent), (size_t)round * 2 - 1),
                      round - 1);
        expect_sent(round);
    }
    CHECK(crowd_history_holds(s));
    crowd_free(c);
}

TEST(items_of_openais_search_are_events_and_citations_and_go_back_byte_for_byte) {
    searches_openai(false, "/s/web-searched");
    searches_openai(false, "/m/bytes/s/web-searched");
    searches_openai(true, "/s/web-searched");
}

MOCK_MAIN(e2e_options, TEST_ENTRY(a_hosted_search_pauses_goes_on_and_stays_in_the_history),
          TEST_ENTRY(items_of_openais_search_are_events_and_citations_and_go_back_byte_for_byte))
