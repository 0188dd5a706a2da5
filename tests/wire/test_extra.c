/* test_extra.c - members that a host adds to a request's body: what is refused, how extras are
   merged, and where they are in the body. */
#include "wire/codec_in.h"
#include "wire/wire_support.h"
#include "support/codec_of.h"

static phi_model claude(void) { return phi_model_anthropic("claude-sonnet-4-6", "K"); }

/* ---- checks ---- */

static void check_text(const char *protocol, phi_str text, phi_status want,
                       const char *want_words) {
    phi_allocator allocator = test_allocator();
    phi_memory memory;
    char words[240] = "";
    phi_memory_init(&memory, &allocator, 0);
    CHECK_EQ_INT(phi__extra_check(protocol != NULL ? codec_of(protocol) : NULL, &memory, text,
                                  words, sizeof words),
                 want);
    CHECK_EQ_STR(words, want_words);
    CHECK_EQ_INT(memory.used_bytes, 0);
}

static void check_bad(const char *protocol, const char *text, const char *want) {
    check_text(protocol, phi_str_of(text), PHI_BAD_ARG, want);
}

TEST(an_extra_is_one_json_object) {
    check_text(NULL, PHI__LIT(" {\"a\":1} "), PHI_OK, "");
    check_text(NULL, PHI__LIT("{}"), PHI_OK, "");
    check_bad(NULL, "[1]", ": expected a JSON object, got array");
    check_bad(NULL, "null", ": expected a JSON object, got null");
    check_bad(NULL, "\"{}\"", ": expected a JSON object, got string");
    check_bad(NULL, "{\"a\":\xff}", ": expected UTF-8");
}

TEST(a_malformed_extra_is_refused_with_its_place) {
    char words[240] = "";
    phi_allocator allocator = test_allocator();
    phi_memory memory;
    phi_memory_init(&memory, &allocator, 0);
    CHECK_EQ_INT(phi__extra_check(NULL, &memory, PHI__LIT("{\"a\":}"), words, sizeof words),
                 PHI_BAD_ARG);
    CHECK(strncmp(words, ":1:6: ", 6) == 0);
    CHECK_EQ_INT(phi__extra_check(NULL, &memory, PHI__LIT(""), words, sizeof words), PHI_BAD_ARG);
    CHECK_EQ_INT(phi__extra_check(NULL, &memory, PHI__LIT("{} {}"), words, sizeof words),
                 PHI_BAD_ARG);
    CHECK_EQ_INT(memory.used_bytes, 0);
}

TEST(a_member_that_is_there_twice_is_refused) {
    check_bad(NULL, "{\"a\":1,\"a\":2}", ": \"a\" is there twice");
    check_bad(NULL, "{\"a\":{\"b\":1,\"\\u0062\":2}}", ": \"a.b\" is there twice");
    check_text(NULL, PHI__LIT("{\"a\":[{\"b\":1,\"b\":2}]}"), PHI_OK,
               ""); /* arrays go as they are */
}

TEST(deep_and_wide_extras_are_refused) {
    char text[8192];
    size_t n = 0, i;
    for (i = 0; i < 32; i++) n += (size_t)sprintf(text + n, "{\"a\":");
    n += (size_t)sprintf(text + n, "1");
    for (i = 0; i < 32; i++) text[n++] = '}';
    check_text(NULL, phi__str(text, n), PHI_OK, "");
    memmove(text + 5, text, n);
    memcpy(text, "{\"a\":", 5);
    text[n + 5] = '}';
    check_text(NULL, phi__str(text, n + 6), PHI_BAD_ARG, ": expected objects at most 32 deep");
    n = (size_t)sprintf(text, "{");
    for (i = 0; i < 1025 && n < sizeof text - 16; i++)
        n += (size_t)sprintf(text + n, "%s\"%x\":1", i > 0 ? "," : "", (unsigned)i);
    text[n++] = '}';
    if (i == 1025)
        check_text(NULL, phi__str(text, n), PHI_BAD_ARG,
                   ": expected at most 1024 members in an object");
    CHECK(i >= 1000 || n > 8000);
}

TEST(a_path_that_phi_always_writes_is_refused_by_its_name) {
    check_bad(PHI_PROTOCOL_ANTHROPIC, "{\"messages\":[]}", ": phi writes \"messages\" itself");
    check_bad(PHI_PROTOCOL_ANTHROPIC, "{\"m\\u006fdel\":\"x\"}", ": phi writes \"model\" itself");
    check_bad(PHI_PROTOCOL_ANTHROPIC, "{\"output_config\":{\"format\":null}}",
              ": phi writes \"output_config.format\" itself");
    check_bad(PHI_PROTOCOL_ANTHROPIC, "{\"output_config\":1}",
              ": \"output_config\": expected an object, since phi writes a member of it");
    check_bad(PHI_PROTOCOL_OPENAI_CHAT, "{\"stream\":false}", ": phi writes \"stream\" itself");
    check_bad(PHI_PROTOCOL_OPENAI_CHAT, "{\"stream_options\":{\"include_usage\":false}}",
              ": phi writes \"stream_options.include_usage\" itself");
    check_bad(PHI_PROTOCOL_OPENAI_RESPONSES, "{\"input\":[]}", ": phi writes \"input\" itself");
    check_bad(PHI_PROTOCOL_AZURE_RESPONSES, "{\"store\":true}", ": phi writes \"store\" itself");
    check_bad(PHI_PROTOCOL_GOOGLE, "{\"generationConfig\":{\"maxOutputTokens\":1}}",
              ": phi writes \"generationConfig.maxOutputTokens\" itself");
    check_bad(PHI_PROTOCOL_VERTEX, "{\"contents\":[]}", ": phi writes \"contents\" itself");
    check_bad(PHI_PROTOCOL_BEDROCK, "{\"inferenceConfig\":{\"maxTokens\":1}}",
              ": phi writes \"inferenceConfig.maxTokens\" itself");
    check_text(PHI_PROTOCOL_BEDROCK, PHI__LIT("{\"inferenceConfig\":{},\"messages2\":1}"), PHI_OK,
               "");
}

/* ---- extras of model, agent and request ---- */

static void check_join(const char *wide, const char *narrow, const char *want) {
    phi_allocator allocator = test_allocator();
    phi_memory memory;
    phi_arena arena;
    phi_str out;
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK(phi__extra_join(&arena, phi_str_of(wide), phi_str_of(narrow), &out));
    CHECK_EQ_STR(out.at != NULL ? out.at : "", want);
    phi_arena_free(&arena);
}

TEST(objects_are_merged_deeply_and_the_narrower_replaces_everything_else) {
    check_join("{\"a\":{\"b\":1,\"c\":[1,2]},\"d\":2}", "{\"a\":{\"c\":[3],\"e\":{}},\"f\":\"x\"}",
               "{\"a\":{\"b\":1,\"c\":[3],\"e\":{}},\"d\":2,\"f\":\"x\"}");
    check_join("{\"a\":{\"b\":1}}", "{\"a\":2}", "{\"a\":2}");
    check_join("{\"a\":2}", "{\"a\":{\"b\":1}}", "{\"a\":{\"b\":1}}");
    check_join("{}", "{\"a\":1}", "{\"a\":1}");
    check_join("{\"a\":1}", " {} ", "{\"a\":1}");
    check_join("", "{\"a\":1}", "{\"a\":1}");
    check_join("{\"a\":1}", "", "{\"a\":1}");
}

TEST(null_is_a_value_and_numbers_stay_as_they_are_written) {
    check_join("{\"a\":1,\"b\":1.50}", "{\"a\":null,\"c\":12345678901234567890123}",
               "{\"a\":null,\"b\":1.50,\"c\":12345678901234567890123}");
}

TEST(keys_are_equal_however_they_are_written) {
    check_join("{\"\\u0061\":1,\"b\":2}", "{\"a\":3,\"\\u0062\":4}", "{\"\\u0061\":3,\"b\":4}");
    check_join("{\"\\u0061\":1}", "{\"\\u0061\":2}", "{\"\\u0061\":2}");
    check_join("{\"\\u0061\":1}", "{\"\\u0061b\":2}", "{\"\\u0061\":1,\"\\u0061b\":2}");
}

/* ---- any two ---- */

static uint32_t next_random(uint32_t *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* A random object; keys from a to e, each once. */
static void put_random(char *out, size_t *n, uint32_t *seed, unsigned depth) {
    static const char *const values[] = {"1",          "null",   "[1,{\"a\":[]}]",
                                         "\"x\\\"}\"", "-0.5e3", "true"};
    static const char *const keys[] = {"a", "b", "c", "d", "e"};
    bool first = true;
    size_t i;
    out[(*n)++] = '{';
    for (i = 0; i < 5; i++) {
        uint32_t r = next_random(seed) % 8;
        if (r < 3) continue;
        *n +=
            (size_t)sprintf(out + *n, "%s%s\"%s\":", first ? "" : ",", r == 3 ? " " : "", keys[i]);
        first = false;
        if (r >= 6 && depth < 3)
            put_random(out, n, seed, depth + 1);
        else
            *n += (size_t)sprintf(out + *n, "%s", values[next_random(seed) % 6]);
    }
    out[(*n)++] = '}';
    out[*n] = '\0';
}

/* The same merge over trees. */
static void merge_trees(phi_arena *arena, phi_json *wide, const phi_json *narrow) {
    phi_json_iter it = phi_json_each(narrow);
    const phi_json *value;
    while ((value = phi_json_next(&it)) != NULL) {
        phi_json *there = phi__json_get_n(wide, it.key);
        if (phi_json_is(there, PHI_JSON_OBJECT) && phi_json_is(value, PHI_JSON_OBJECT))
            merge_trees(arena, there, value);
        else
            CHECK_EQ_INT(phi__json_edit_set(arena, wide, it.key, phi_json_copy(arena, value)),
                         PHI_OK);
    }
}

TEST(random_extras_are_merged_as_trees_are) {
    static char texts[2][20000];
    phi_allocator allocator = test_allocator();
    phi_memory memory;
    phi_arena arena;
    uint32_t seed = 7;
    size_t round, i, n;
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
    for (round = 0; round < 20000; round++) {
        phi_arena_mark mark = phi_arena_save(&arena);
        phi_json *trees[2], *joined = NULL;
        phi_str out;
        for (i = 0; i < 2; i++) {
            n = 0;
            put_random(texts[i], &n, &seed, 0);
            CHECK_EQ_INT(phi_json_parse(&arena, phi_str_of(texts[i]), 0, &trees[i], NULL), PHI_OK);
        }
        CHECK(phi__extra_join(&arena, phi_str_of(texts[0]), phi_str_of(texts[1]), &out));
        CHECK_EQ_INT(phi_json_parse(&arena, out, 0, &joined, NULL), PHI_OK);
        merge_trees(&arena, trees[0], trees[1]);
        if (!CHECK(phi__json_get_equal(joined, trees[0]))) {
            fprintf(stderr, "%s\n%s\n%s\n", texts[0], texts[1], out.at);
            break;
        }
        phi_arena_reset(&arena, mark);
    }
    phi_arena_free(&arena);
}

/* ---- in the body ---- */

static void check_body(phi_model model, const char *extra, const char *want) {
    conversation t;
    talk_begin(&t, model);
    talk_user(&t, "hi");
    t.spec.cache.mode = PHI_CACHE_DISABLED;
    t.spec.extra = phi_str_of(extra);
    talk_render_ok(&t);
    CHECK_EQ_STR(t.body, want);
    talk_free(&t);
}

TEST(new_members_are_between_the_head_and_the_messages) {
    check_body(
        claude(), "{\"metadata\":{\"user_id\":\"u\"},\"x\":null}",
        "{\"model\":\"claude-sonnet-4-6\",\"max_tokens\":8192,\"stream\":true,"
        "\"metadata\":{\"user_id\":\"u\"},\"x\":null,"
        "\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"hi\"}]}]}");
    check_body(phi_model_local("http://h:1/v1", "m", NULL),
               "{\"stream_options\":{\"include_obfuscation\":false},\"min_p\":0.05}",
               "{\"model\":\"m\",\"stream\":true,\"stream_options\":{\"include_usage\":true,"
               "\"include_obfuscation\":false},\"max_tokens\":4096,\"min_p\":0.05,"
               "\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}");
    check_body(phi_model_google("gemini-2.0-flash", "K"),
               "{\"generationConfig\":{\"candidateCount\":1},\"safetySettings\":[]}",
               "{\"generationConfig\":{\"maxOutputTokens\":8192,\"candidateCount\":1},"
               "\"safetySettings\":[],"
               "\"contents\":[{\"role\":\"user\",\"parts\":[{\"text\":\"hi\"}]}]}");
    check_body(phi_model_bedrock(NULL, "amazon.nova-pro-v1:0", "K"),
               "{\"additionalModelRequestFields\":{\"inferenceConfig\":{\"topK\":5}}}",
               "{\"inferenceConfig\":{\"maxTokens\":8192},"
               "\"additionalModelRequestFields\":{\"inferenceConfig\":{\"topK\":5}},"
               "\"messages\":[{\"role\":\"user\",\"content\":[{\"text\":\"hi\"}]}]}");
    check_body(phi_model_openai_responses("gpt-4o", "K"), "{\"text\":{\"verbosity\":\"low\"}}",
               "{\"model\":\"gpt-4o\",\"stream\":true,\"store\":false,\"max_output_tokens\":8192,"
               "\"text\":{\"verbosity\":\"low\"},"
               "\"input\":[{\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":"
               "\"hi\"}]}]}");
}

TEST(an_empty_extra_changes_no_byte) {
    check_body(
        claude(), "{}",
        "{\"model\":\"claude-sonnet-4-6\",\"max_tokens\":8192,\"stream\":true,"
        "\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"hi\"}]}]}");
}

static void check_refused(conversation *t, const char *extra, const char *want) {
    t->spec.extra = phi_str_of(extra);
    CHECK_EQ_INT(talk_render(t, 0), PHI_BAD_ARG);
    CHECK_EQ_STR(t->encoder.refused, want);
}

TEST(a_member_of_this_request_is_refused_by_its_path) {
    conversation t;
    talk_begin(&t, phi_model_anthropic("claude-opus-4-8", "K"));
    talk_user(&t, "hi");
    t.spec.thinking = PHI_THINKING_HIGH;
    t.spec.options.service_tier = "auto";
    check_refused(&t, "{\"thinking\":{\"block_binding\":{},\"type\":\"enabled\"}}",
                  "extra: phi writes \"thinking.type\" itself in this request");
    check_refused(&t, "{\"output_config\":{\"effort\":\"max\"}}",
                  "extra: phi writes \"output_config.effort\" itself in this request");
    check_refused(&t, "{\"thinking\":null}",
                  "extra: phi writes \"thinking\" itself in this request");
    check_refused(&t, "{\"service_tier\":\"x\"}",
                  "extra: phi writes \"service_tier\" itself in this request");
    check_refused(&t, "{\"tools\":[]}", "extra: phi writes \"tools\" itself");
    check_refused(&t, "[]", "extra: expected a JSON object, got array");
    t.spec.extra = phi_str_of("{\"thinking\":{\"block_binding\":{\"a\":1}}}");
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "thinking"), "{\"type\":\"adaptive\",\"display\":\"summarized\","
                                          "\"block_binding\":{\"a\":1}}");
    talk_free(&t);
}

TEST(a_member_that_this_request_leaves_out_may_be_said) {
    conversation t;
    talk_begin(&t, claude());
    talk_user(&t, "hi");
    t.spec.extra = phi_str_of("{\"thinking\":{\"type\":\"disabled\"},\"top_k\":3}");
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "thinking.type"), "\"disabled\"");
    CHECK_EQ_STR(talk_at(&t, "top_k"), "3");
    talk_free(&t);
}

TEST(the_list_of_what_to_include_is_added_to) {
    conversation t;
    talk_begin(&t, phi_model_openai_responses("gpt-5.4", "K"));
    talk_user(&t, "hi");
    t.spec.extra = phi_str_of("{\"include\":[\"web_search_call.action.sources\"]}");
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "include"),
                 "[\"reasoning.encrypted_content\",\"web_search_call.action.sources\"]");
    t.spec.extra = phi_str_of("{\"include\":[ ]}");
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "include"), "[\"reasoning.encrypted_content\"]");
    check_refused(&t, "{\"include\":\"x\"}",
                  "extra: phi writes \"include\" itself in this request");
    talk_free(&t);
    talk_begin(&t, phi_model_bedrock(NULL, "anthropic.claude-sonnet-4-5-20250929-v1:0", "K"));
    t.model.reasoning = true;
    talk_user(&t, "hi");
    t.spec.thinking = PHI_THINKING_LOW;
    t.spec.extra = phi_str_of("{\"additionalModelRequestFields\":{\"anthropic_beta\":[\"b\"]}}");
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "additionalModelRequestFields.anthropic_beta"),
                 "[\"interleaved-thinking-2025-05-14\",\"b\"]");
    talk_free(&t);
}

TEST(tools_prompt_and_a_format_stay_whole_beside_an_extra) {
    static const phi__tool_view tool = {{"read", 4}, {"{[", 2}, {"{\"type\":\"object\"}", 17},
                                        false,       NULL,      false,
                                        {NULL, 0},   false};
    conversation t;
    talk_begin(&t, phi_model_openai_responses("gpt-4o", "K"));
    talk_user(&t, "hi");
    t.spec.tools = &tool;
    t.spec.tool_count = 1;
    t.spec.system_prompt = phi_str_of("\"messages\":[ {\\ \"}");
    t.spec.format.kind = PHI_FORMAT_JSON_OBJECT;
    t.spec.extra = phi_str_of("{\"text\":{\"verbosity\":\"low\"},\"metadata\":{\"a\":\"b\"}}");
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "text"),
                 "{\"format\":{\"type\":\"json_object\"},\"verbosity\":\"low\"}");
    CHECK_EQ_STR(talk_at(&t, "instructions"), "\"\\\"messages\\\":[ {\\\\ \\\"}\"");
    CHECK_EQ_STR(talk_at(&t, "tools[0].description"), "\"{[\"");
    CHECK_EQ_STR(talk_at(&t, "metadata"), "{\"a\":\"b\"}");
    CHECK_EQ_STR(talk_at(&t, "input[0].role"), "\"developer\"");
    CHECK_EQ_STR(talk_at(&t, "input[1].role"), "\"user\"");
    talk_free(&t);
}

TEST(an_extra_survives_every_failed_allocation) {
    conversation t;
    int n = 0;
    phi_status status;
    do {
        talk_begin(&t, claude());
        talk_user(&t, "hi");
        t.spec.extra = phi_str_of("{\"metadata\":{\"user_id\":\"u\"}}");
        test_alloc_fail_at(n);
        status = talk_render(&t, 0);
        test_alloc_fail_at(-1);
        CHECK(status == PHI_OK || status == PHI_NO_MEMORY);
        talk_free(&t);
        CHECK_EQ_INT(test_alloc_live_bytes(), 0);
        n++;
    } while (status != PHI_OK && n < 200);
    CHECK_EQ_INT(status, PHI_OK);
    CHECK(n > 3);
}

TEST_MAIN(TEST_ENTRY(an_extra_is_one_json_object),
          TEST_ENTRY(a_malformed_extra_is_refused_with_its_place),
          TEST_ENTRY(a_member_that_is_there_twice_is_refused),
          TEST_ENTRY(deep_and_wide_extras_are_refused),
          TEST_ENTRY(a_path_that_phi_always_writes_is_refused_by_its_name),
          TEST_ENTRY(objects_are_merged_deeply_and_the_narrower_replaces_everything_else),
          TEST_ENTRY(null_is_a_value_and_numbers_stay_as_they_are_written),
          TEST_ENTRY(keys_are_equal_however_they_are_written),
          TEST_ENTRY(random_extras_are_merged_as_trees_are),
          TEST_ENTRY(new_members_are_between_the_head_and_the_messages),
          TEST_ENTRY(an_empty_extra_changes_no_byte),
          TEST_ENTRY(a_member_of_this_request_is_refused_by_its_path),
          TEST_ENTRY(a_member_that_this_request_leaves_out_may_be_said),
          TEST_ENTRY(the_list_of_what_to_include_is_added_to),
          TEST_ENTRY(tools_prompt_and_a_format_stay_whole_beside_an_extra),
          TEST_ENTRY(an_extra_survives_every_failed_allocation))
