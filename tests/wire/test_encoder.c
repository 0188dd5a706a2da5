/* test_encoder.c - what every codec gets from the driver: repair of lost results, kept renderings,
   addresses and headers, slices, and failures of memory. */
#include "support/header.h"
#include "wire/wire_support.h"
#include "support/codec_of.h"

static phi_model claude(void) { return phi_model_anthropic("claude-sonnet-4-6", "K"); }
static phi_model gpt(void) { return phi_model_openai("gpt-4o", "K"); }

/* ---- addresses ---- */

static void check_url(phi_model model, const char *base, const char *want) {
    conversation t;
    model.base_url = base;
    talk_begin(&t, model);
    talk_user(&t, "hi");
    talk_render_ok(&t);
    CHECK_STR(phi_request_get_info(&t.encoder.request).url, want);
    CHECK_STR(phi_request_get_info(&t.encoder.request).method, "POST");
    talk_free(&t);
}

TEST(a_base_url_may_have_its_version_and_slash_or_not) {
    static const char anthropic[] = "https://api.anthropic.com/v1/messages";
    check_url(claude(), "https://api.anthropic.com", anthropic);
    check_url(claude(), "https://api.anthropic.com/", anthropic);
    check_url(claude(), "https://api.anthropic.com/v1", anthropic);
    check_url(claude(), "https://api.anthropic.com/v1/", anthropic);
    check_url(claude(), "https://api.anthropic.com/v1/messages", anthropic);
    check_url(claude(), "https://api.minimax.io/anthropic",
              "https://api.minimax.io/anthropic/v1/messages");
    check_url(gpt(), "https://api.openai.com/v1", "https://api.openai.com/v1/chat/completions");
    check_url(gpt(), "https://api.openai.com/v1/", "https://api.openai.com/v1/chat/completions");
    check_url(gpt(), "https://api.openai.com", "https://api.openai.com/v1/chat/completions");
    check_url(gpt(), "http://localhost:11434/", "http://localhost:11434/v1/chat/completions");
    check_url(gpt(), "https://api.z.ai/api/paas/v4",
              "https://api.z.ai/api/paas/v4/chat/completions");
    check_url(gpt(), "https://h/v1/chat/completions", "https://h/v1/chat/completions");
    check_url(gpt(), " https://h/x?api-version=1 ", "https://h/x/chat/completions?api-version=1");
}

TEST(headers_of_the_model_are_added_and_replace_ours) {
    static const phi_model_header headers[] = {{"X-Team", "blue"},
                                               {"anthropic-VERSION", "2026-10-21"},
                                               {"X-Cut", "a\r\nEvil: b"},
                                               {"", "nameless"},
                                               {NULL, NULL}};
    conversation t;
    phi_model model = claude();
    size_t i, versions = 0;
    phi_str name, value;
    model.headers = headers;
    model.header_count = 5;
    talk_begin(&t, model);
    talk_user(&t, "hi");
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_header(&t, "x-team"), "blue");
    CHECK_EQ_STR(talk_header(&t, "anthropic-version"), "2026-10-21");
    CHECK_EQ_STR(talk_header(&t, "x-cut"), "aEvil: b");
    for (i = 0; header_at(&t.encoder.request, i, &name, &value); i++) {
        versions += phi__str_is_nocase(name, "anthropic-version");
        CHECK(!phi__str_is_nocase(name, "user-agent"));
        CHECK(!phi__str_is_nocase(name, "anthropic-beta"));
    }
    CHECK_EQ_INT(versions, 1);
    talk_free(&t);
}

TEST(keys_go_where_each_provider_looks_for_them) {
    conversation t;
    talk_begin(&t, phi_model_anthropic("claude-sonnet-4-6", " sk-ant-api03-x\n"));
    talk_user(&t, "hi");
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_header(&t, "x-api-key"), "sk-ant-api03-x");
    CHECK_EQ_STR(talk_header(&t, "authorization"), "");
    talk_free(&t);
    talk_begin(&t, phi_model_anthropic("claude-sonnet-4-6", "sk-ant-oat01-x"));
    talk_user(&t, "hi");
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_header(&t, "authorization"), "Bearer sk-ant-oat01-x");
    CHECK_EQ_STR(talk_header(&t, "x-api-key"), "");
    talk_free(&t);
    talk_begin(&t, phi_model_local("http://h", "m", NULL));
    talk_user(&t, "hi");
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_header(&t, "authorization"), "");
    talk_free(&t);
}

TEST(protocols_are_found_by_all_their_names) {
    CHECK(codec_of("anthropic_messages") != NULL);
    CHECK(codec_of("anthropic") == codec_of("anthropic_messages"));
    CHECK(codec_of("openai") != NULL);
    CHECK(codec_of("open_ai_completions") == codec_of("openai_completions"));
    CHECK(codec_of("gopher") == NULL);
    CHECK(codec_of("") == NULL);
}

/* ---- calls and results ---- */

/* Two calls; the second has no result, and there is a result of nothing, and one twice. */
static void lossy(conversation *t, phi_model model) {
    talk_begin(t, model);
    talk_user(t, "go");
    talk_result(t, "c0", "read", "of nothing");
    talk_assistant(t);
    talk_call(t, "c1", "read", "{\"path\":\"a\"}");
    talk_call(t, "c2", "read", "{\"path\":\"b\"}");
    talk_result(t, "c9", "read", "of another");
    talk_result(t, "c1", "read", "first");
    talk_message(t, PHI_ROLE_EXTENSION);
    talk_result(t, "c1", "read", "twice");
    talk_user(t, "and?");
    talk_result(t, "c2", "read", "too late");
}

TEST(lost_results_are_filled_in_and_stray_ones_left_out_for_anthropic) {
    conversation t;
    lossy(&t, claude());
    t.spec.cache.mode = PHI_CACHE_DISABLED;
    talk_render_ok(&t);
    CHECK_EQ_INT(phi_json_count(phi_json_path(t.tree, "messages")), 3);
    CHECK_EQ_STR(
        talk_at(&t, "messages[2]"),
        "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"c1\","
        "\"content\":\"first\"},{\"type\":\"tool_result\",\"tool_use_id\":\"c2\","
        "\"is_error\":true,\"content\":\"No result provided\"},{\"type\":\"text\",\"text\":"
        "\"and?\"}]}");
    talk_free(&t);
}

TEST(lost_results_are_filled_in_and_stray_ones_left_out_for_chat) {
    conversation t;
    lossy(&t, gpt());
    talk_render_ok(&t);
    CHECK_EQ_INT(phi_json_count(phi_json_path(t.tree, "messages")), 5);
    CHECK_EQ_STR(talk_at(&t, "messages[2]"),
                 "{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"first\"}");
    CHECK_EQ_STR(talk_at(&t, "messages[3]"), "{\"role\":\"tool\",\"tool_call_id\":\"c2\","
                                             "\"content\":\"Error: No result provided\"}");
    CHECK_EQ_STR(talk_at(&t, "messages[4]"), "{\"role\":\"user\",\"content\":\"and?\"}");
    talk_free(&t);
}

TEST(a_call_at_the_very_end_gets_its_result_too) {
    conversation t;
    talk_begin(&t, claude());
    talk_user(&t, "go");
    talk_assistant(&t);
    talk_call(&t, "c1", "read", "{}");
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "messages[2].content[0]"),
                 "{\"type\":\"tool_result\",\"tool_use_id\":\"c1\",\"is_error\":true,\"content\":"
                 "\"No result provided\",\"cache_control\":{\"type\":\"ephemeral\"}}");
    talk_free(&t);
    talk_begin(&t, gpt());
    talk_user(&t, "go");
    talk_assistant(&t);
    talk_call(&t, "c1", "read", "{}");
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "messages[2].content"), "\"Error: No result provided\"");
    talk_free(&t);
}

/* An answer, then a question. Nothing before the answer is sent. */
static void answer_first(conversation *t, phi_model model) {
    talk_begin(t, model);
    t->spec.cache.mode = PHI_CACHE_DISABLED;
    talk_message(t, PHI_ROLE_EXTENSION);
    talk_user(t, " ");
    talk_result(t, "c0", "read", "of nothing");
    talk_assistant(t);
    talk_text(t, " ");
    talk_assistant(t);
    talk_text(t, "Well met.");
    talk_user(t, "Who are you?");
}

TEST(a_users_message_comes_before_an_answer_that_would_be_the_first) {
    static const char contents[] =
        "[{\"role\":\"user\",\"parts\":[{\"text\":\"[The conversation so far]\"}]},"
        "{\"role\":\"model\",\"parts\":[{\"text\":\"Well met.\"}]},"
        "{\"role\":\"user\",\"parts\":[{\"text\":\"Who are you?\"}]}]";
    conversation t;
    answer_first(&t, claude());
    talk_render_ok(&t);
    CHECK_EQ_STR(
        talk_at(&t, "messages"),
        "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":"
        "\"[The conversation so far]\"}]},"
        "{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"Well met.\"}]},"
        "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"Who are you?\"}]}]");
    talk_free(&t);
    answer_first(&t, phi_model_bedrock("https://b.example", "anthropic.claude-sonnet-4-6", "K"));
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "messages"),
                 "[{\"role\":\"user\",\"content\":[{\"text\":\"[The conversation so far]\"}]},"
                 "{\"role\":\"assistant\",\"content\":[{\"text\":\"Well met.\"}]},"
                 "{\"role\":\"user\",\"content\":[{\"text\":\"Who are you?\"}]}]");
    talk_free(&t);
    answer_first(&t, phi_model_google("gemini-2.5-flash", "K"));
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "contents"), contents);
    talk_free(&t);
}

TEST(gemini_s_interactions_begin_with_the_user_too) {
    conversation t;
    answer_first(&t, phi_model_interactions("gemini-2.5-flash", "K"));
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "input"),
                 "[{\"type\":\"user_input\",\"content\":[{\"type\":\"text\",\"text\":"
                 "\"[The conversation so far]\"}]},"
                 "{\"type\":\"model_output\",\"content\":[{\"type\":\"text\",\"text\":"
                 "\"Well met.\"}]},"
                 "{\"type\":\"user_input\",\"content\":[{\"type\":\"text\",\"text\":"
                 "\"Who are you?\"}]}]");
    talk_free(&t);
}

TEST(openai_s_protocols_take_an_answer_first) {
    conversation t;
    answer_first(&t, gpt());
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "messages[0].role"), "\"assistant\"");
    CHECK_EQ_INT(phi_json_count(phi_json_path(t.tree, "messages")), 2);
    talk_free(&t);
}

TEST(an_added_first_message_has_the_hosts_text_and_calls_may_follow_it) {
    conversation t;
    phi_texts texts = PHI_ZERO;
    char text[4001];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    texts.at[PHI_TEXT_USER_MISSING] = text;
    talk_begin(&t, claude());
    t.spec.texts = &texts;
    talk_assistant(&t);
    talk_call(&t, "c1", "read", "{}");
    talk_result(&t, "c1", "read", "ok");
    talk_assistant(&t);
    talk_text(&t, "Done.");
    talk_render_ok(&t);
    CHECK_EQ_INT(phi_json_count(phi_json_path(t.tree, "messages")), 4);
    CHECK_EQ_INT(strlen(talk_at(&t, "messages[0].content[0].text")), 4002);
    CHECK_EQ_STR(talk_at(&t, "messages[1].content[0].type"), "\"tool_use\"");
    CHECK_EQ_STR(talk_at(&t, "messages[2].content[0].type"), "\"tool_result\"");
    CHECK_EQ_STR(talk_at(&t, "messages[3].content[0].text"), "\"Done.\"");
    talk_free(&t);
}

TEST(an_added_first_message_survives_every_failed_allocation) {
    conversation t;
    phi_status status;
    int n = 0;
    do {
        answer_first(&t, claude());
        test_alloc_fail_at(n++);
        status = talk_render(&t, 1);
        test_alloc_fail_at(-1);
        CHECK(status == PHI_OK || status == PHI_NO_MEMORY);
        CHECK_EQ_INT(talk_render(&t, 1), PHI_OK); /* and the next turn is none the worse */
        CHECK_EQ_STR(talk_at(&t, "messages[0].content[0].text"), "\"[The conversation so far]\"");
        CHECK_EQ_INT(phi_json_count(phi_json_path(t.tree, "messages")), 3);
        talk_free(&t);
        CHECK_EQ_INT(test_alloc_live_bytes(), 0);
    } while (status != PHI_OK && n < 1000);
    CHECK(n > 5);
}

TEST(an_incomplete_call_is_left_out_with_its_result) {
    conversation t;
    talk_begin(&t, claude());
    talk_user(&t, "go");
    talk_assistant(&t);
    talk_text(&t, "Working");
    talk_call(&t, "c1", "read", "{\"pa");
    t.blocks[1][1].incomplete = true;
    talk_result(&t, "c1", "read", "never");
    talk_user(&t, "again");
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "messages[1].content"), "[{\"type\":\"text\",\"text\":\"Working\"}]");
    CHECK_EQ_INT(phi_json_count(phi_json_path(t.tree, "messages[2].content")), 1);
    talk_free(&t);
}

/* ---- ids ---- */

static void check_ids(phi_model model, const char *id, const char *call_path,
                      const char *result_path, const char *want) {
    conversation t;
    talk_begin(&t, model);
    talk_user(&t, "go");
    talk_assistant(&t);
    talk_call(&t, id, "read", "{}");
    talk_result(&t, id, "read", "ok");
    talk_render_ok(&t);
    if (want != NULL) CHECK_EQ_STR(phi_json_str(phi_json_path(t.tree, call_path), "").at, want);
    CHECK(
        phi__json_get_equal(phi_json_path(t.tree, call_path), phi_json_path(t.tree, result_path)));
    talk_free(&t);
}

TEST(call_ids_fit_the_target_in_calls_and_results_alike) {
    static const char *const long_id =
        "call_0123456789012345678901234567890123456789012345678901234567890123456789";
    static const char a[] = "messages[1].content[0].id",
                      ar[] = "messages[2].content[0].tool_use_id";
    static const char c[] = "messages[1].tool_calls[0].id", cr[] = "messages[2].tool_call_id";
    check_ids(claude(), "toolu_01-A", a, ar, "toolu_01-A");
    check_ids(claude(), "call_1|fc_2", a, ar, "call_05b8137a7174a7fb6d0c1c947b2d8377");
    check_ids(claude(), long_id, a, ar, NULL);
    check_ids(gpt(), "call_1|fc_2", c, cr, "call_1|fc_2");
    check_ids(gpt(), long_id, c, cr, NULL);
    check_ids(phi_model_preset("mistral", "m", "K"), "abcDEF123", c, cr, "abcDEF123");
    check_ids(phi_model_preset("mistral", "m", "K"), "toolu_01", c, cr, NULL);
}

TEST(mapped_ids_have_the_right_shape_and_differ) {
    char ids[200][16], id[32];
    conversation t;
    size_t i, j, same = 0;
    for (i = 0; i < 200; i++) {
        phi_str got;
        talk_begin(&t, phi_model_preset("mistral", "m", "K"));
        talk_user(&t, "go");
        talk_assistant(&t);
        snprintf(id, sizeof id, "toolu_%zu", i);
        talk_call(&t, id, "read", "{}");
        talk_render_ok(&t);
        got = phi_json_str(phi_json_path(t.tree, "messages[1].tool_calls[0].id"), "");
        CHECK_EQ_INT(got.len, 9);
        for (j = 0; j < got.len; j++)
            CHECK((got.at[j] >= '0' && got.at[j] <= '9') ||
                  ((got.at[j] | 32) >= 'a' && (got.at[j] | 32) <= 'z'));
        snprintf(ids[i], sizeof ids[i], "%.*s", (int)got.len, got.at);
        for (j = 0; j < i; j++) same += strcmp(ids[i], ids[j]) == 0;
        talk_free(&t);
    }
    CHECK_EQ_INT(same, 0);
}

/* ---- slices and memory ---- */

static void long_talk(conversation *t, phi_model model) {
    talk_begin(t, model);
    t->spec.system_prompt = phi_str_of("Be brief.");
    talk_user(t, "look \"here\"\n");
    talk_image(t, "aGk=");
    talk_assistant(t);
    talk_thinking(t, "hm", "sig==");
    talk_text(t, "yes");
    talk_call(t, "c1", "read", "{\"a\":[1,2,{\"b\":null}]}");
    talk_call(t, "c2", "shot", "not json");
    talk_result(t, "c1", "read", "no")->is_error = true;
    talk_image(t, "aGk=");
    talk_result(t, "c2", "shot", NULL);
    talk_image(t, "aGk=");
    talk_user(t, "so?");
    talk_assistant(t);
    talk_call(t, "c3", "read", "{}");
}

static const phi__tool_view tools[] = {
    {{"read", 4},
     {"Reads", 5},
     {"{\"type\":\"object\",\"properties\":{}}", 33},
     false,
     NULL,
     false,
     {NULL, 0},
     false},
    {{"shot", 4}, {NULL, 0}, {NULL, 0}, false, NULL, false, {NULL, 0}, false},
};

static void check_slices(phi_model model) {
    conversation whole, sliced;
    size_t units;
    long_talk(&whole, model);
    whole.spec.tools = tools;
    whole.spec.tool_count = 2;
    talk_render_ok(&whole);
    for (units = 1; units < 5; units++) {
        long_talk(&sliced, model);
        sliced.spec.tools = tools;
        sliced.spec.tool_count = 2;
        CHECK_EQ_INT(talk_render(&sliced, units), PHI_OK);
        CHECK_EQ_STR(sliced.body, whole.body);
        talk_free(&sliced);
    }
    talk_free(&whole);
}

TEST(slices_of_any_size_give_the_same_bytes) {
    check_slices(claude());
    check_slices(gpt());
    check_slices(phi_model_preset("mistral", "magistral", "K"));
}

TEST(kept_renderings_are_used_again_and_cost_no_memory) {
    conversation t;
    char *first;
    const char *at;
    long_talk(&t, claude());
    talk_render_ok(&t);
    first = strdup(t.body);
    at = t.kept.at;
    talk_render_ok(&t);
    CHECK_EQ_STR(t.body, first);
    CHECK(t.kept.at == at);
    free(first);
    talk_free(&t);
}

TEST(a_kept_rendering_is_not_sent_to_another_target) {
    conversation t;
    long_talk(&t, claude());
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "messages[1].content[0].type"), "\"thinking\"");
    t.model = phi_model_openai("gpt-4o", "K");
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "messages[2].content"), "\"yes\"");
    CHECK_EQ_STR(talk_at(&t, "messages[2].reasoning_content"), "");
    t.model = phi_model_anthropic("claude-opus-4-6", "K");
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "messages[1].content[0].type"), "\"text\"");
    t.model = phi_model_anthropic("claude-sonnet-4-6", "K");
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "messages[1].content[0].type"), "\"thinking\"");
    talk_free(&t);
}

TEST(items_that_keep_nothing_are_rendered_into_the_request) {
    conversation t;
    char *first;
    size_t i;
    long_talk(&t, claude());
    talk_render_ok(&t);
    first = strdup(t.body);
    for (i = 0; i < t.count; i++) t.items[i].rendered = NULL;
    talk_render_ok(&t);
    CHECK_EQ_STR(t.body, first);
    free(first);
    talk_free(&t);
}

static void check_memory(phi_model model) {
    conversation t;
    char *want;
    int n = 0;
    phi_status status;
    long_talk(&t, model);
    t.spec.tools = tools;
    t.spec.tool_count = 2;
    talk_render_ok(&t);
    want = strdup(t.body);
    talk_free(&t);
    do {
        long_talk(&t, model);
        t.spec.tools = tools;
        t.spec.tool_count = 2;
        test_alloc_fail_at(n++);
        status = talk_render(&t, 1);
        if (status == PHI_OK && test_alloc_tripped()) CHECK(t.tree != NULL);
        CHECK(status == PHI_OK || status == PHI_NO_MEMORY);
        test_alloc_fail_at(-1);
        CHECK_EQ_INT(talk_render(&t, 1), PHI_OK); /* and the next turn is none the worse */
        CHECK_EQ_STR(t.body, want);
        talk_free(&t);
        CHECK_EQ_INT(test_alloc_live_bytes(), 0);
    } while (status != PHI_OK && n < 1000);
    CHECK(n > 5);
    free(want);
}

TEST(encoding_survives_every_failed_allocation) {
    check_memory(claude());
    check_memory(gpt());
    check_memory(phi_model_preset("openrouter", "anthropic/claude-sonnet-4.5", "K"));
}

/* 50,000 bytes that need care: quotes, line ends, letters of two to four bytes. */
static const char *long_text(void) {
    static char text[50001];
    static const char pattern[] = "say \"x\"\n\t\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80 \\ end. ";
    size_t i, n = sizeof pattern - 1;
    for (i = 0; i + n < sizeof text; i += n) memcpy(text + i, pattern, n);
    return text;
}

static const char *long_image(void) {
    static char data[30001];
    memset(data, 'Q', sizeof data - 1);
    return data;
}

static void heavy_talk(conversation *t, phi_model model) {
    talk_begin(t, model);
    talk_user(t, long_text());
    talk_image(t, long_image());
    talk_text(t, "short");
    talk_text(t, long_text());
    talk_assistant(t);
    talk_text(t, long_text());
    talk_call(t, "c1", "shot", "{}");
    talk_call(t, "c2", "read", "{}");
    talk_result(t, "c1", "shot", long_text());
    talk_image(t, long_image());
    talk_result(t, "c2", "read", long_text())->is_error = true;
    talk_user(t, "so?");
}

static void check_heavy(phi_model model, const char *user, const char *result) {
    conversation t;
    char *first;
    const phi_json *node;
    size_t units, i;
    heavy_talk(&t, model);
    CHECK_EQ_INT(talk_render(&t, 1), PHI_OK);
    first = strdup(t.body);
    node = phi_json_path(t.tree, user);
    CHECK_STR(phi_json_str(node, ""), long_text());
    node = phi_json_path(t.tree, result);
    CHECK_STR(phi_json_str(node, ""), long_text());
    CHECK(strstr(t.body, long_image()) != NULL);
    for (units = 2; units < 200; units = units * 3) {
        conversation again;
        heavy_talk(&again, model);
        CHECK_EQ_INT(talk_render(&again, units), PHI_OK);
        CHECK(strcmp(again.body, first) == 0);
        talk_free(&again);
    }
    for (i = 0; i < t.count; i++) t.items[i].rendered = NULL;
    CHECK_EQ_INT(talk_render(&t, 5), PHI_OK);
    CHECK(strcmp(t.body, first) == 0);
    free(first);
    talk_free(&t);
}

TEST(long_texts_and_images_are_rendered_in_slices_to_the_same_bytes) {
    check_heavy(claude(), "messages[0].content[3].text", "messages[2].content[0].content[0].text");
    check_heavy(gpt(), "messages[0].content[3].text", "messages[2].content");
}

TEST(a_slice_does_a_bounded_amount) {
    conversation t;
    size_t calls = 0;
    phi_status status;
    heavy_talk(&t, claude());
    phi__encoder_begin(&t.encoder, codec_of(t.model.protocol), &t.spec, &t.turn);
    do {
        status = phi__encoder_advance(&t.encoder, 16);
        calls++;
    } while (status == PHI_BUSY);
    CHECK_EQ_INT(status, PHI_OK);
    CHECK(calls > 30); /* 310,000 bytes, measured and written, 16 KiB a call */
    talk_free(&t);
}

TEST(a_rendering_that_is_given_up_halfway_leaves_nothing_behind) {
    conversation t;
    size_t calls, before;
    heavy_talk(&t, claude());
    before = test_alloc_live_bytes();
    for (calls = 1; calls < 60; calls++) {
        phi_arena_mark mark = phi_arena_save(&t.kept), turn = phi_arena_save(&t.turn);
        size_t i;
        phi__encoder_begin(&t.encoder, codec_of(t.model.protocol), &t.spec, &t.turn);
        for (i = 0; i < calls; i++)
            if (phi__encoder_advance(&t.encoder, 16) != PHI_BUSY) break;
        phi__encoder_free(&t.encoder);
        for (i = 0; i < t.count; i++) t.rendered[i] = NULL;
        phi_arena_reset(&t.kept, mark);
        phi_arena_reset(&t.turn, turn);
        CHECK_EQ_INT(test_alloc_live_bytes(), before);
    }
    talk_free(&t);
}

static void check_heavy_memory(phi_model model) {
    int n = 0;
    phi_status status;
    do {
        conversation t;
        heavy_talk(&t, model);
        test_alloc_fail_at(n++);
        status = talk_render(&t, 16);
        CHECK(status == PHI_OK || status == PHI_NO_MEMORY);
        test_alloc_fail_at(-1);
        CHECK_EQ_INT(talk_render(&t, 16), PHI_OK);
        talk_free(&t);
        CHECK_EQ_INT(test_alloc_live_bytes(), 0);
    } while (status != PHI_OK && n < 1000);
    CHECK(n > 5);
}

TEST(long_texts_survive_every_failed_allocation) {
    check_heavy_memory(claude());
    check_heavy_memory(gpt());
}

static void check_type(phi_model model, const char *user, const char *said, const char *result) {
    conversation t;
    talk_begin(&t, model);
    talk_user(&t, "look");
    talk_image(&t, "aGk=");
    t.blocks[0][1].mime_type = phi_str_of("image/bmp");
    talk_assistant(&t);
    talk_call(&t, "c1", "shot", "{}");
    talk_result(&t, "c1", "shot", NULL);
    talk_image(&t, "aGk=");
    t.blocks[2][0].mime_type = phi_str_of("image/bmp");
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, user), said);
    CHECK_EQ_STR(talk_at(&t, result), "\"(image omitted: this model does not take it)\"");
    CHECK(strstr(t.body, "bmp") == NULL);
    talk_free(&t);
}

TEST(an_image_of_a_type_that_no_provider_takes_becomes_words) {
    check_type(claude(), "messages[0].content[1].text",
               "\"(image omitted: this model does not take it)\"",
               "messages[2].content[0].content[0].text");
    check_type(gpt(), "messages[0].content",
               "\"look\\n(image omitted: this model does not take it)\"", "messages[2].content");
}

TEST(what_is_sent_is_always_valid_utf8) {
    conversation t;
    talk_begin(&t, claude());
    talk_user(&t, "a\xFF"
                  "b\xED\xA0\x80"); /* a stray byte, and a lone surrogate */
    talk_assistant(&t);
    talk_call(&t, "c\xFF",
              "re\xFF"
              "ad",
              "{\"a\":\"\xFF\"}");
    talk_render_ok(&t);
    CHECK(phi__str_find(phi_str_of(t.body), 0, "\xFF") == SIZE_MAX);
    CHECK(phi__str_find(phi_str_of(t.body), 0, "\xED\xA0") == SIZE_MAX);
    CHECK_EQ_STR(talk_at(&t, "messages[1].content[0].name"), "\"re_ad\"");
    CHECK_EQ_STR(talk_at(&t, "messages[1].content[0].input"), "{}");
    talk_free(&t);
}

TEST_MAIN(TEST_ENTRY(a_base_url_may_have_its_version_and_slash_or_not),
          TEST_ENTRY(headers_of_the_model_are_added_and_replace_ours),
          TEST_ENTRY(keys_go_where_each_provider_looks_for_them),
          TEST_ENTRY(protocols_are_found_by_all_their_names),
          TEST_ENTRY(lost_results_are_filled_in_and_stray_ones_left_out_for_anthropic),
          TEST_ENTRY(lost_results_are_filled_in_and_stray_ones_left_out_for_chat),
          TEST_ENTRY(a_call_at_the_very_end_gets_its_result_too),
          TEST_ENTRY(a_users_message_comes_before_an_answer_that_would_be_the_first),
          TEST_ENTRY(gemini_s_interactions_begin_with_the_user_too),
          TEST_ENTRY(openai_s_protocols_take_an_answer_first),
          TEST_ENTRY(an_added_first_message_has_the_hosts_text_and_calls_may_follow_it),
          TEST_ENTRY(an_added_first_message_survives_every_failed_allocation),
          TEST_ENTRY(an_incomplete_call_is_left_out_with_its_result),
          TEST_ENTRY(call_ids_fit_the_target_in_calls_and_results_alike),
          TEST_ENTRY(mapped_ids_have_the_right_shape_and_differ),
          TEST_ENTRY(slices_of_any_size_give_the_same_bytes),
          TEST_ENTRY(kept_renderings_are_used_again_and_cost_no_memory),
          TEST_ENTRY(a_kept_rendering_is_not_sent_to_another_target),
          TEST_ENTRY(items_that_keep_nothing_are_rendered_into_the_request),
          TEST_ENTRY(encoding_survives_every_failed_allocation),
          TEST_ENTRY(an_image_of_a_type_that_no_provider_takes_becomes_words),
          TEST_ENTRY(long_texts_and_images_are_rendered_in_slices_to_the_same_bytes),
          TEST_ENTRY(a_slice_does_a_bounded_amount),
          TEST_ENTRY(a_rendering_that_is_given_up_halfway_leaves_nothing_behind),
          TEST_ENTRY(long_texts_survive_every_failed_allocation),
          TEST_ENTRY(what_is_sent_is_always_valid_utf8))
