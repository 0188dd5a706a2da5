/* test_citations.c - phi_citations: each provider's shape, read into one. */
#include "model/citations.h"
#include "support/test.h"

#include <time.h>

/* The citations of a JSON text, a line each: url|title|text|start-end, with " in source". */
static const char *read(const char *json, phi_status want) {
    static char out[4000];
    phi_allocator allocator = test_allocator();
    const phi_citation *list;
    phi_content content = PHI_ZERO;
    phi_memory memory;
    phi_arena arena;
    size_t count = 99, i, n = 0;
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
    content.kind = PHI_CONTENT_TEXT;
    content.citations = phi_str_of(json);
    out[0] = '\0';
    CHECK_EQ_INT(phi_citations(&content, &arena, &list, &count), want);
    for (i = 0; i < count && n < sizeof out; i++) {
        const phi_citation *c = &list[i];
        n += (size_t)snprintf(out + n, sizeof out - n, "%.*s|%.*s|%.*s", (int)c->url.len, c->url.at,
                              (int)c->title.len, c->title.at, (int)c->text.len, c->text.at);
        if (c->has_range)
            n += (size_t)snprintf(out + n, sizeof out - n, "|%u-%u%s", (unsigned)c->start,
                                  (unsigned)c->end, c->in_source ? " in source" : "");
        n += (size_t)snprintf(out + n, sizeof out - n, "\n");
    }
    phi_arena_free(&arena);
    return out;
}

TEST(citations_of_anthropic_are_read) {
    CHECK_EQ_STR(
        read("[{\"type\":\"web_search_result_location\",\"cited_text\":\"c\",\"url\":"
             "\"https://e.x\",\"title\":\"T\",\"encrypted_index\":\"I\"},"
             "{\"type\":\"char_location\",\"cited_text\":\"d\",\"document_index\":0,"
             "\"document_title\":\"D\",\"start_char_index\":3,\"end_char_index\":9,\"file_id\":"
             "null},"
             "{\"type\":\"page_location\",\"cited_text\":\"p\",\"document_index\":0,"
             "\"document_title\":null,\"start_page_number\":1,\"end_page_number\":2},"
             "{\"type\":\"search_result_location\",\"cited_text\":\"s\",\"search_result_index\":0,"
             "\"source\":\"kb/7\",\"title\":\"K\",\"start_block_index\":0,\"end_block_index\":1}]",
             PHI_OK),
        "https://e.x|T|c\n|D|d|3-9 in source\n||p|1-2 in source\nkb/7|K|s|0-1 in source\n");
}

TEST(citations_of_bedrock_are_read) {
    CHECK_EQ_STR(
        read(
            "[{\"title\":\"T\",\"sourceContent\":[{\"text\":\"c\"}],\"location\":{\"web\":{"
            "\"url\":\"https://e.x\",\"domain\":\"e.x\"}}},"
            "{\"title\":\"D\",\"source\":\"s\",\"location\":{\"documentPage\":{\"documentIndex\":0,"
            "\"start\":4,\"end\":5}}}]",
            PHI_OK),
        "https://e.x|T|c\ns|D||4-5 in source\n");
}

TEST(annotations_of_openai_and_interactions_are_read) {
    CHECK_EQ_STR(
        read(
            "[{\"type\":\"url_citation\",\"url\":\"https://e.x\",\"title\":\"T\",\"start_index\":"
            "2,\"end_index\":8},"
            "{\"type\":\"url_citation\",\"url_citation\":{\"url\":\"https://f.x\",\"title\":\"U\","
            "\"start_index\":0,\"end_index\":1}},"
            "{\"type\":\"file_citation\",\"file_id\":\"file_1\",\"filename\":\"a.pdf\",\"index\":7"
            "},"
            "{\"type\":\"container_file_citation\",\"container_id\":\"c\",\"file_id\":\"f\","
            "\"filename\":\"b.csv\",\"start_index\":1,\"end_index\":3},"
            "{\"type\":\"file_citation\",\"document_uri\":\"fs://d\",\"file_name\":\"d\",\"source\""
            ":\"words\",\"start_index\":4,\"end_index\":6},"
            "{\"type\":\"place_citation\",\"place_id\":\"p\",\"name\":\"Cafe\",\"url\":"
            "\"https://m.x\",\"start_index\":0,\"end_index\":4}]",
            PHI_OK),
        "https://e.x|T||2-8\nhttps://f.x|U||0-1\n|a.pdf||7-7\n|b.csv||1-3\nfs://d|d||4-6\n"
        "https://m.x|Cafe||0-4\n");
}

TEST(groundings_and_citations_of_gemini_are_read) {
    static const char grounding[] =
        "{\"groundingChunks\":[{\"web\":{\"uri\":\"https://a\",\"title\":\"A\"}},{\"web\":{\"uri\":"
        "\"https://b\",\"title\":\"B\"}}],\"groundingSupports\":[{\"segment\":{\"endIndex\":5,"
        "\"text\":\"words\"},\"groundingChunkIndices\":[1,0]},{\"segment\":{\"startIndex\":6,"
        "\"endIndex\":9,\"text\":\"own\"},\"groundingChunkIndices\":[7]}]}";
    static const char want[] = "https://b|B|words|0-5\nhttps://a|A|words|0-5\n||own|6-9\n";
    char json[800];
    snprintf(json, sizeof json, "[%s]", grounding);
    CHECK_EQ_STR(read(json, PHI_OK), want);
    snprintf(json, sizeof json, "[{\"groundingMetadata\":%s}]", grounding);
    CHECK_EQ_STR(read(json, PHI_OK), want);
    CHECK_EQ_STR(read("[{\"groundingChunks\":[{\"retrievedContext\":{\"uri\":\"gs://d\",\"title\":"
                      "\"D\",\"text\":\"t\"}}]}]",
                      PHI_OK),
                 "gs://d|D|t\n");
    CHECK_EQ_STR(
        read("[{\"citationMetadata\":{\"citationSources\":[{\"startIndex\":1,\"endIndex\":"
             "4,\"uri\":\"https://c\"}]}},{\"citations\":[{\"uri\":\"https://d\",\"title\":"
             "\"D\"}]}]",
             PHI_OK),
        "https://c|||1-4\nhttps://d|D|\n");
}

TEST(what_is_no_citation_is_left_out_and_what_is_no_array_is_refused) {
    phi_content content = PHI_ZERO;
    const phi_citation *list;
    size_t count;
    CHECK_EQ_STR(read("", PHI_OK), "");
    CHECK_EQ_STR(read("[]", PHI_OK), "");
    CHECK_EQ_STR(read("[1,null,\"x\",[],{},{\"type\":\"word_info\",\"start_index\":1},{\"url\":5},"
                      "{\"groundingSupports\":7},{\"citationMetadata\":null}]",
                      PHI_OK),
                 "");
    CHECK_EQ_STR(read("{}", PHI_PARSE), "");
    CHECK_EQ_STR(read("[{]", PHI_PARSE), "");
    CHECK_EQ_STR(read("[{\"url\":\"u\",\"start_index\":-3,\"end_index\":\"x\"}]", PHI_OK),
                 "u|||0-0\n");
    CHECK_EQ_INT(phi_citations(&content, NULL, &list, &count), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_citations(NULL, NULL, &list, &count), PHI_BAD_ARG);
}

TEST(many_supports_of_many_sources_are_found_at_once) {
    enum { SOURCES = 30000 };
    char *text = (char *)malloc(SOURCES * 60 + 200);
    phi_allocator allocator = test_allocator();
    phi_content content = PHI_ZERO;
    const phi_citation *list;
    phi_memory memory;
    phi_arena arena;
    clock_t start;
    size_t n, count, i;
    n = (size_t)sprintf(text, "[{\"groundingChunks\":[{}");
    for (i = 1; i < SOURCES; i++) n += (size_t)sprintf(text + n, ",{\"web\":{\"uri\":\"u\"}}");
    n += (size_t)sprintf(text + n, "],\"groundingSupports\":[{\"groundingChunkIndices\":[0");
    for (i = 1; i < SOURCES; i++) n += (size_t)sprintf(text + n, ",%u", (unsigned)i);
    n += (size_t)sprintf(text + n, "]}]}]");
    content.citations = phi__str(text, n);
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
    start = clock();
    CHECK_EQ_INT(phi_citations(&content, &arena, &list, &count), PHI_OK);
    CHECK((double)(clock() - start) / CLOCKS_PER_SEC < 1);
    CHECK_EQ_INT(count, SOURCES - 1);
    CHECK_STR(list[SOURCES - 2].url, "u");
    phi_arena_free(&arena);
    free(text);
}

TEST(reading_citations_survives_every_failed_allocation) {
    phi_allocator allocator = test_allocator();
    bool tripped;
    int n = 0;
    do {
        const phi_citation *list;
        phi_content content = PHI_ZERO;
        phi_memory memory;
        phi_arena arena;
        size_t count = 7;
        phi_status status;
        phi_memory_init(&memory, &allocator, 0);
        phi_arena_init(&arena, &memory, 0);
        content.citations = phi_str_of("[{\"url\":\"https://e.x\",\"title\":\"T\"},"
                                       "{\"groundingChunks\":[{}],\"groundingSupports\":[{}]}]");
        test_alloc_fail_at(n++);
        status = phi_citations(&content, &arena, &list, &count);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        CHECK_EQ_INT(status, tripped ? PHI_NO_MEMORY : PHI_OK);
        CHECK_EQ_INT(count, tripped ? 0 : 1);
        phi_arena_free(&arena);
    } while (tripped && n < 100);
    CHECK(n > 1);
    CHECK_EQ_INT((long)test_alloc_live_bytes(), 0);
}

TEST_MAIN(TEST_ENTRY(citations_of_anthropic_are_read), TEST_ENTRY(citations_of_bedrock_are_read),
          TEST_ENTRY(annotations_of_openai_and_interactions_are_read),
          TEST_ENTRY(groundings_and_citations_of_gemini_are_read),
          TEST_ENTRY(what_is_no_citation_is_left_out_and_what_is_no_array_is_refused),
          TEST_ENTRY(many_supports_of_many_sources_are_found_at_once),
          TEST_ENTRY(reading_citations_survives_every_failed_allocation))
