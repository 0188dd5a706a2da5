/* test_openai_chat.c - OpenAI Chat Completions: what each quirk changes in a request, and what
   servers do to streams beside the fixtures. */
#include "wire/wire_support.h"

#define P PHI_PROTOCOL_OPENAI_CHAT

static const phi__tool_view one_tool[] = {
    {{"read", 4}, {NULL, 0}, {NULL, 0}, false, NULL, false, {NULL, 0}, false}};

static phi_model plain(uint64_t quirks) {
    phi_model model = phi_model_local("http://h/v1", "m", NULL);
    model.quirks = quirks;
    model.reasoning = true;
    return model;
}

/* The value at a path of a request with one tool, a system prompt and a user's words. */
static void check_at(phi_model model, phi_thinking level, const char *path, const char *want) {
    conversation t;
    talk_begin(&t, model);
    t.spec.system_prompt = phi_str_of("S");
    t.spec.tools = one_tool;
    t.spec.tool_count = 1;
    t.spec.thinking = level;
    t.spec.session_id = phi_str_of("session-1");
    talk_user(&t, "hi");
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, path), want);
    talk_free(&t);
}

static void check_quirk(uint64_t quirk, phi_thinking level, const char *path, const char *without,
                        const char *with) {
    check_at(plain(0), level, path, without);
    check_at(plain(quirk), level, path, with);
}

TEST(each_quirk_of_the_body_changes_its_field) {
    check_quirk(PHI_QUIRK_MAX_COMPLETION_TOKENS, PHI_THINKING_OFF, "max_completion_tokens", "",
                "4096");
    check_quirk(PHI_QUIRK_MAX_COMPLETION_TOKENS, PHI_THINKING_OFF, "max_tokens", "4096", "");
    check_quirk(PHI_QUIRK_DEVELOPER_ROLE, PHI_THINKING_OFF, "messages[0].role", "\"system\"",
                "\"developer\"");
    check_quirk(PHI_QUIRK_STORE_FALSE, PHI_THINKING_OFF, "store", "", "false");
    check_quirk(PHI_QUIRK_NO_STREAM_USAGE, PHI_THINKING_OFF, "stream_options",
                "{\"include_usage\":true}", "");
    check_quirk(PHI_QUIRK_CACHE_KEY, PHI_THINKING_OFF, "prompt_cache_key", "", "\"session-1\"");
    check_quirk(PHI_QUIRK_TOOL_STREAM, PHI_THINKING_OFF, "tool_stream", "", "true");
    check_quirk(PHI_QUIRK_CACHE_CONTROL, PHI_THINKING_OFF, "messages[0].content", "\"S\"",
                "[{\"type\":\"text\",\"text\":\"S\",\"cache_control\":{\"type\":\"ephemeral\"}}]");
    check_quirk(PHI_QUIRK_CACHE_CONTROL, PHI_THINKING_OFF, "messages[1].content", "\"hi\"",
                "[{\"type\":\"text\",\"text\":\"hi\",\"cache_control\":{\"type\":\"ephemeral\"}}]");
}

TEST(each_quirk_of_thinking_asks_in_its_own_way) {
    check_quirk(PHI_QUIRK_REASONING_EFFORT, PHI_THINKING_MEDIUM, "reasoning_effort", "",
                "\"medium\"");
    check_quirk(PHI_QUIRK_REASONING_EFFORT, PHI_THINKING_OFF, "reasoning_effort", "", "");
    check_quirk(PHI_QUIRK_REASONING_EFFORT, PHI_THINKING_MINIMAL, "reasoning_effort", "",
                "\"low\"");
    check_quirk(PHI_QUIRK_REASONING_EFFORT, PHI_THINKING_LOW, "reasoning_effort", "", "\"low\"");
    check_quirk(PHI_QUIRK_REASONING_EFFORT, PHI_THINKING_HIGH, "reasoning_effort", "", "\"high\"");
    check_quirk(PHI_QUIRK_REASONING_OBJECT, PHI_THINKING_HIGH, "reasoning", "",
                "{\"effort\":\"high\"}");
    check_quirk(PHI_QUIRK_REASONING_OBJECT, PHI_THINKING_OFF, "reasoning", "", "");
    check_quirk(PHI_QUIRK_REASONING_ENABLED, PHI_THINKING_LOW, "reasoning", "",
                "{\"enabled\":true}");
    check_quirk(PHI_QUIRK_REASONING_ENABLED, PHI_THINKING_OFF, "reasoning", "",
                "{\"enabled\":false}");
    check_quirk(PHI_QUIRK_THINKING_TYPE, PHI_THINKING_LOW, "thinking", "",
                "{\"type\":\"enabled\"}");
    check_quirk(PHI_QUIRK_THINKING_TYPE, PHI_THINKING_OFF, "thinking", "",
                "{\"type\":\"disabled\"}");
    check_quirk(PHI_QUIRK_THINKING_TYPE | PHI_QUIRK_KEEP_THINKING, PHI_THINKING_LOW, "thinking", "",
                "{\"type\":\"enabled\",\"clear_thinking\":false}");
    check_quirk(PHI_QUIRK_ENABLE_THINKING, PHI_THINKING_LOW, "enable_thinking", "", "true");
    check_quirk(PHI_QUIRK_ENABLE_THINKING, PHI_THINKING_LOW, "thinking_budget", "", "2048");
    check_quirk(PHI_QUIRK_ENABLE_THINKING, PHI_THINKING_OFF, "enable_thinking", "", "false");
    check_quirk(PHI_QUIRK_TEMPLATE_THINKING, PHI_THINKING_LOW, "chat_template_kwargs", "",
                "{\"enable_thinking\":true}");
    check_quirk(PHI_QUIRK_PROMPT_MODE, PHI_THINKING_LOW, "prompt_mode", "", "\"reasoning\"");
    check_quirk(PHI_QUIRK_REASONING_FORMAT, PHI_THINKING_LOW, "reasoning_format", "", "\"parsed\"");
}

TEST(a_model_that_cannot_think_is_never_asked_to) {
    phi_model model = plain(PHI_QUIRK_REASONING_EFFORT | PHI_QUIRK_THINKING_TYPE |
                            PHI_QUIRK_ENABLE_THINKING | PHI_QUIRK_DEVELOPER_ROLE);
    model.reasoning = false;
    check_at(model, PHI_THINKING_HIGH, "reasoning_effort", "");
    check_at(model, PHI_THINKING_HIGH, "thinking", "");
    check_at(model, PHI_THINKING_HIGH, "enable_thinking", "");
    check_at(model, PHI_THINKING_HIGH, "messages[0].role", "\"system\"");
}

TEST(a_model_of_an_unknown_name_is_told_an_effort_only_when_it_is_to_think) {
    static const char *const names[] = {"omega-1", "gpt-7", "ft:gpt-4.1:me"};
    size_t i;
    for (i = 0; i < sizeof names / sizeof names[0]; i++) {
        phi_model model = phi_model_openai(names[i], "K");
        check_at(model, PHI_THINKING_OFF, "reasoning_effort", "");
        check_at(model, PHI_THINKING_MINIMAL, "reasoning_effort", "\"low\"");
    }
    check_at(phi_model_openai("gpt-oss-20b", "K"), PHI_THINKING_OFF, "reasoning_effort", "\"low\"");
}

TEST(openai_models_have_their_own_lowest_effort) {
    check_at(phi_model_openai("gpt-5-mini", "K"), PHI_THINKING_OFF, "reasoning_effort",
             "\"minimal\"");
    check_at(phi_model_openai("gpt-5-mini", "K"), PHI_THINKING_MINIMAL, "reasoning_effort",
             "\"minimal\"");
    check_at(phi_model_openai("gpt-5.1", "K"), PHI_THINKING_OFF, "reasoning_effort", "\"none\"");
    check_at(phi_model_openai("gpt-5.1", "K"), PHI_THINKING_MINIMAL, "reasoning_effort", "\"low\"");
    check_at(phi_model_openai("o3", "K"), PHI_THINKING_OFF, "reasoning_effort", "\"low\"");
    check_at(phi_model_openai("gpt-5-pro", "K"), PHI_THINKING_LOW, "reasoning_effort", "\"high\"");
    check_at(phi_model_openai("gpt-4o", "K"), PHI_THINKING_HIGH, "reasoning_effort", "");
}

static void check_choice(phi_model model, phi_tool_choice choice, const char *want) {
    conversation t;
    talk_begin(&t, model);
    t.spec.tools = one_tool;
    t.spec.tool_count = 1;
    t.spec.tool_choice = choice;
    talk_user(&t, "hi");
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "tool_choice"), want);
    CHECK_EQ_STR(talk_at(&t, "tools[0].function"),
                 "{\"name\":\"read\",\"parameters\":{\"type\":\"object\",\"properties\":{}}}");
    talk_free(&t);
}

TEST(the_tool_choice_is_said_in_the_servers_words) {
    check_choice(plain(0), PHI_TOOL_CHOICE_AUTO, "\"auto\"");
    check_choice(plain(0), PHI_TOOL_CHOICE_NONE, "\"none\"");
    check_choice(plain(0), PHI_TOOL_CHOICE_REQUIRED, "\"required\"");
    check_choice(plain(PHI_QUIRK_TOOL_CHOICE_ANY), PHI_TOOL_CHOICE_REQUIRED, "\"any\"");
}

static const char *temperature(conversation *t, phi_model model) {
    talk_begin(t, model);
    t->spec.temperature = 0.2;
    talk_user(t, "hi");
    talk_render_ok(t);
    return talk_at(t, "temperature");
}

TEST(reasoning_models_get_no_temperature) {
    conversation t;
    CHECK_EQ_STR(temperature(&t, phi_model_openai("gpt-4o", "K")), "0.2");
    talk_free(&t);
    CHECK_EQ_STR(temperature(&t, phi_model_openai("gpt-5", "K")), "");
    talk_free(&t);
}

TEST(a_cache_key_that_is_too_long_becomes_a_hash) {
    conversation t;
    talk_begin(&t, plain(PHI_QUIRK_CACHE_KEY));
    t.spec.session_id =
        phi_str_of("0123456789012345678901234567890123456789012345678901234567890123"
                   "4");
    talk_user(&t, "hi");
    talk_render_ok(&t);
    CHECK_EQ_INT(phi_json_str(phi_json_path(t.tree, "prompt_cache_key"), "").len, 16);
    t.spec.cache.mode = PHI_CACHE_DISABLED;
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "prompt_cache_key"), "");
    talk_free(&t);
}

TEST(an_empty_tool_list_goes_only_to_servers_that_need_one_beside_old_calls) {
    conversation t;
    int i;
    for (i = 0; i < 4; i++) {
        talk_begin(&t, plain(i < 2 ? PHI_QUIRK_EMPTY_TOOLS : 0));
        talk_user(&t, "hi");
        if (i % 2 == 0) {
            talk_assistant(&t);
            talk_call(&t, "c", "read", "{}");
        }
        talk_render_ok(&t);
        CHECK_EQ_STR(talk_at(&t, "tools"), i == 0 ? "[]" : "");
        talk_free(&t);
    }
}

/* ---- messages ---- */

/* A user, an assistant that thought, spoke and called, a result, a user. */
static void worked(conversation *t, phi_model model, bool text) {
    talk_begin(t, model);
    talk_user(t, "go");
    talk_assistant(t);
    talk_thinking(t, "hm \"1\"", "reasoning");
    talk_thinking(t, "hm2", "reasoning");
    if (text) talk_text(t, "Looking.");
    talk_call(t, "call_12345", "read", "{\"a\":1}");
    talk_result(t, "call_12345", "read", "ok");
    talk_user(t, "and?");
}

static void check_worked(uint64_t quirks, phi_thinking level, bool text, const char *path,
                         const char *want) {
    conversation t;
    worked(&t, plain(quirks), text);
    t.spec.thinking = level;
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, path), want);
    talk_free(&t);
}

TEST(each_quirk_of_messages_changes_how_they_look) {
    static const char
        assistant[] = "messages[1]",
        calls[] =
            "\"tool_calls\":[{\"id\":\"call_12345\",\"type\":\"function\",\"function\":{\"name\":"
            "\"read\",\"arguments\":\"{\\\"a\\\":1}\"}}]}";
    char want[400];
    snprintf(want, sizeof want, "{\"role\":\"assistant\",\"content\":null,%s", calls);
    check_worked(0, PHI_THINKING_OFF, false, assistant, want);
    snprintf(want, sizeof want, "{\"role\":\"assistant\",\"content\":\"\",%s", calls);
    check_worked(PHI_QUIRK_EMPTY_CONTENT, PHI_THINKING_OFF, false, assistant, want);
    snprintf(want, sizeof want, "{\"role\":\"assistant\",\"content\":\"Looking.\",%s", calls);
    check_worked(PHI_QUIRK_EMPTY_CONTENT, PHI_THINKING_OFF, true, assistant, want);
    snprintf(want, sizeof want,
             "{\"role\":\"assistant\",\"content\":\"Looking.\",\"reasoning\":"
             "\"hm \\\"1\\\"\\nhm2\",%s",
             calls);
    check_worked(PHI_QUIRK_REPLAY_REASONING, PHI_THINKING_OFF, true, assistant, want);
    snprintf(want, sizeof want,
             "{\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\","
             "\"thinking\":[{\"type\":\"text\",\"text\":\"hm \\\"1\\\"\"}]},{"
             "\"type\":\"thinking\",\"thinking\":[{\"type\":\"text\",\"text\":"
             "\"hm2\"}]},{\"type\":\"text\",\"text\":\"Looking.\"}],%s",
             calls);
    check_worked(PHI_QUIRK_THINKING_PARTS, PHI_THINKING_OFF, true, assistant, want);
    check_worked(PHI_QUIRK_TOOL_NAME_IN_RESULT, PHI_THINKING_OFF, true, "messages[2].name",
                 "\"read\"");
    check_worked(0, PHI_THINKING_OFF, true, "messages[2].name", "");
    check_worked(PHI_QUIRK_ASSISTANT_AFTER_TOOL, PHI_THINKING_OFF, true, "messages[3].role",
                 "\"assistant\"");
    check_worked(0, PHI_THINKING_OFF, true, "messages[3].role", "\"user\"");
}

TEST(required_reasoning_is_on_every_assistant_message_while_thinking) {
    conversation t;
    uint64_t quirks = PHI_QUIRK_REPLAY_REASONING | PHI_QUIRK_REASONING_REQUIRED;
    check_worked(quirks, PHI_THINKING_LOW, true, "messages[1].reasoning", "\"hm \\\"1\\\"\\nhm2\"");
    check_worked(quirks, PHI_THINKING_LOW, true, "messages[1].reasoning_content", "");
    talk_begin(&t, plain(quirks));
    talk_user(&t, "go");
    talk_assistant(&t);
    talk_text(&t, "yes");
    talk_user(&t, "and?");
    t.spec.thinking = PHI_THINKING_LOW;
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "messages[1].reasoning_content"), "\"\"");
    t.spec.thinking = PHI_THINKING_OFF;
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "messages[1].reasoning_content"), "");
    talk_free(&t);
}

TEST(reasoning_details_go_back_verbatim_in_place_of_the_text) {
    conversation t;
    worked(&t, plain(PHI_QUIRK_REPLAY_REASONING), true);
    t.blocks[1][0].replay = phi_str_of("{\"reasoning_details\":[{\"type\":\"reasoning.encrypted\","
                                       "\"data\":\"x\"}]}");
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "messages[1].reasoning_details"),
                 "[{\"type\":\"reasoning.encrypted\",\"data\":\"x\"}]");
    CHECK_EQ_STR(talk_at(&t, "messages[1].reasoning"), "");
    t.messages[1].model = phi_str_of("another");
    t.rendered[1] = NULL;
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "messages[1].reasoning_details"), "");
    talk_free(&t);
}

TEST(thinking_blocks_go_back_verbatim_to_whatever_server_they_came_from) {
    conversation t;
    worked(&t, plain(0), true);
    t.blocks[1][0].replay = phi_str_of("{\"thinking_blocks\":[{\"type\":\"thinking\","
                                       "\"thinking\":\"hm\",\"signature\":\"S\"}]}");
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "messages[1].thinking_blocks"),
                 "[{\"type\":\"thinking\",\"thinking\":\"hm\",\"signature\":\"S\"}]");
    CHECK_EQ_STR(talk_at(&t, "messages[1].reasoning_content"), "");
    t.messages[1].model = phi_str_of("another");
    t.rendered[1] = NULL;
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "messages[1].thinking_blocks"), "");
    talk_free(&t);
}

TEST(foreign_thinking_is_dropped) {
    conversation t;
    worked(&t, plain(PHI_QUIRK_REPLAY_REASONING), true);
    t.messages[1].provider = phi_str_of("another");
    talk_render_ok(&t);
    CHECK(phi__str_find(phi_str_of(t.body), 0, "hm2") == SIZE_MAX);
    talk_free(&t);
}

TEST(bad_arguments_in_history_are_sent_as_an_empty_object) {
    conversation t;
    talk_begin(&t, plain(0));
    talk_user(&t, "go");
    talk_assistant(&t);
    talk_call(&t, "c1", "a b", "not json");
    talk_call(&t, "c2", "", "[1]");
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "messages[1].tool_calls[0].function"),
                 "{\"name\":\"a_b\",\"arguments\":\"{}\"}");
    CHECK_EQ_STR(talk_at(&t, "messages[1].tool_calls[1].function"),
                 "{\"name\":\"_\",\"arguments\":\"{}\"}");
    talk_free(&t);
}

TEST(texts_are_one_string_and_images_make_parts) {
    conversation t;
    talk_begin(&t, plain(0));
    talk_user(&t, "one");
    talk_text(&t, " ");
    talk_text(&t, "two");
    talk_user(&t, "three");
    talk_image(&t, "a\"G k=");
    talk_message(&t, PHI_ROLE_USER);
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "messages"),
                 "[{\"role\":\"user\",\"content\":\"one\\ntwo\"},{\"role\":\"user\",\"content\":[{"
                 "\"type\":\"text\",\"text\":\"three\"},{\"type\":\"image_url\",\"image_url\":{"
                 "\"url\":\"data:image/png;base64,aGk=\"}}]}]");
    talk_free(&t);
}

TEST(images_of_all_results_follow_in_one_user_message) {
    conversation t;
    talk_begin(&t, plain(0));
    talk_user(&t, "go");
    talk_assistant(&t);
    talk_call(&t, "a", "shot", "{}");
    talk_call(&t, "b", "map", "{}");
    talk_result(&t, "a", "shot", NULL)->is_error = true;
    talk_image(&t, "aGk=");
    talk_result(&t, "b", "map", "ok");
    talk_image(&t, "aGk=");
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "messages[2].content"), "\"Error: (see the image below)\"");
    CHECK_EQ_STR(talk_at(&t, "messages[3].content"), "\"ok\"");
    CHECK_EQ_INT(phi_json_count(phi_json_path(t.tree, "messages[4].content")), 4);
    CHECK_EQ_STR(talk_at(&t, "messages[4].content[2].text"), "\"Image returned by tool map:\"");
    CHECK_EQ_INT(phi_json_count(phi_json_path(t.tree, "messages")), 5);
    talk_free(&t);
    talk_begin(&t, plain(PHI_QUIRK_NO_IMAGES));
    talk_user(&t, "go");
    talk_assistant(&t);
    talk_call(&t, "a", "shot", "{}");
    talk_result(&t, "a", "shot", NULL);
    talk_image(&t, "aGk=");
    talk_image(&t, "aGk=");
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "messages[2].content"),
                 "\"(image omitted: this model does not take it)\"");
    CHECK_EQ_INT(phi_json_count(phi_json_path(t.tree, "messages")), 3);
    talk_free(&t);
}

/* ---- streams ---- */

#define CHUNK(delta) "data: {\"id\":\"r\",\"choices\":[{\"index\":0,\"delta\":" delta "}]}\n\n"
#define FINISH(word)                                                                               \
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"" word "\"}]}\n\n"
#define CALL(fields) CHUNK("{\"tool_calls\":[{" fields "}]}")

TEST(the_same_reasoning_in_two_fields_is_taken_once) {
    stream s;
    stream_of(&s, P,
              CHUNK("{\"reasoning\":\"hm\",\"reasoning_content\":\"hm\",\"content\":\"Hi\"}")
                  FINISH("stop"));
    CHECK_EQ_INT(s.message.content_count, 2);
    CHECK_STR(s.content[0].text, "hm");
    CHECK_STR(s.content[0].signature, "reasoning_content");
    CHECK_STR(s.content[1].text, "Hi");
    stream_free(&s);
}

TEST(a_pair_of_surrogates_cut_between_chunks_is_joined) {
    stream s;
    stream_of(&s, P,
              CHUNK("{\"content\":\"a\\ud83d\"}") CHUNK("{\"content\":\"\\ude00\"}")
                  FINISH("stop"));
    CHECK_STR(s.content[0].text, "a\xF0\x9F\x98\x80");
    stream_free(&s);
}

TEST(another_id_at_a_known_index_is_another_call) {
    stream s;
    stream_of(&s, P,
              CALL("\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"x\",\"arguments\":\"{}\"}")
                  CALL("\"index\":0,\"id\":\"b\",\"function\":{\"name\":\"y\",\"arguments\":"
                       "\"{\"}") CALL("\"index\":0,\"function\":{\"arguments\":\"}\"}")
                      FINISH("tool_calls"));
    CHECK_EQ_INT(s.message.content_count, 2);
    CHECK_STR(s.content[0].arguments, "{}");
    CHECK_STR(s.content[1].id, "b");
    CHECK_STR(s.content[1].arguments, "{}");
    stream_free(&s);
}

TEST(a_missing_or_null_id_is_invented_and_arguments_may_be_an_object) {
    stream s;
    stream_of(&s, P,
              CALL("\"index\":0,\"id\":\"null\",\"function\":{\"name\":\"x\",\"arguments\":{"
                   "\"a\":1}}") CALL("\"index\":1,\"id\":null,\"function\":{\"name\":\"y\"}")
                  FINISH("stop"));
    CHECK_EQ_INT(s.message.content_count, 2);
    CHECK(phi__str_starts(s.content[0].id, "call_"));
    CHECK(phi__str_starts(s.content[1].id, "call_"));
    CHECK(!phi_str_equal(s.content[0].id, s.content[1].id));
    CHECK_STR(s.content[0].arguments, "{\"a\":1}");
    CHECK_STR(s.content[1].arguments, "{}");
    CHECK_EQ_INT(s.message.stop_reason, PHI_STOP_REASON_TOOL_USE);
    stream_free(&s);
}

TEST(content_parts_hold_text_and_thinking) {
    stream s;
    stream_of(&s, P,
              CHUNK("{\"content\":[{\"type\":\"thinking\",\"thinking\":[{\"type\":\"text\","
                    "\"text\":\"hm\"}]}]}")
                  CHUNK("{\"content\":[{\"type\":\"text\",\"text\":"
                        "\"Hi\"},{\"type\":\"reference\",\"reference_ids\":[1]}]}") FINISH("stop"));
    CHECK_EQ_INT(s.message.content_count, 3);
    CHECK_STR(s.content[0].text, "hm");
    CHECK_STR(s.content[1].text, "Hi");
    CHECK_STR(s.content[2].name, "reference");
    CHECK_STR(s.content[2].replay,
              "{\"content\":[{\"type\":\"reference\",\"reference_ids\":[1]}]}");
    stream_free(&s);
}

TEST(reasoning_details_without_a_reasoning_field_are_the_thinking) {
    stream s;
    stream_of(&s, P,
              CHUNK("{\"reasoning_details\":[{\"type\":\"reasoning.text\",\"text\":\"a\\n\","
                    "\"index\":0}]}")
                  CHUNK("{\"reasoning_details\":[{\"type\":\"reasoning.text\",\"text\":\"b\","
                        "\"signature\":\"sg\",\"index\":0}]}")
                      CHUNK("{\"reasoning_details\":[{\"type\":\"reasoning.text\",\"text\":\"c\","
                            "\"index\":1},7]}") CHUNK("{\"content\":\"Hi\"}") FINISH("stop"));
    CHECK_STR(s.content[0].text, "a\nbc");
    CHECK_STR(s.content[0].replay,
              "{\"reasoning_details\":[{\"type\":\"reasoning.text\",\"index\":0,\"text\":\"a\\nb\","
              "\"signature\":\"sg\"},{\"type\":\"reasoning.text\",\"index\":1,\"text\":\"c\"}]}");
    stream_free(&s);
    stream_of(&s, P,
              CHUNK("{\"reasoning_details\":[{\"type\":\"reasoning.text\",\"text\":\"a\"}]}"));
    CHECK_STR(s.content[0].replay,
              "{\"reasoning_details\":[{\"type\":\"reasoning.text\",\"text\":\"a\"}]}");
    stream_free(&s);
}

/* As LiteLLM streams Claude's thinking: each piece twice, and the signature in a chunk of its own. */
#define LITELLM_THINKS(text)                                                                       \
    CHUNK("{\"reasoning_content\":\"" text "\",\"thinking_blocks\":[{\"type\":\"thinking\","       \
          "\"thinking\":\"" text "\"}],\"provider_specific_fields\":{\"thinking_blocks\":[{"       \
          "\"type\":\"thinking\",\"thinking\":\"" text "\"}]},\"content\":\"\"}")
#define LITELLM_SIGNS(token)                                                                       \
    CHUNK("{\"reasoning_content\":\"\",\"thinking_blocks\":[{\"type\":\"thinking\",\"thinking\":"  \
          "\"\",\"signature\":\"" token "\"}],\"content\":\"\"}")

TEST(thinking_blocks_of_litellm_keep_their_signatures) {
    stream s;
    stream_of(&s, P,
              LITELLM_THINKS("Let me \\\"look\\\"") LITELLM_THINKS(".") LITELLM_SIGNS("Er1/+==")
                  LITELLM_THINKS("Or not") LITELLM_SIGNS("Er2")
                      CHUNK("{\"thinking_blocks\":[{\"type\":\"redacted_thinking\",\"data\":"
                            "\"En\"}]}") CHUNK("{\"content\":\"Hi\"}") FINISH("stop"));
    CHECK_EQ_INT(s.message.content_count, 2);
    CHECK_STR(s.content[0].text, "Let me \"look\".Or not");
    CHECK_STR(s.content[0].replay,
              "{\"thinking_blocks\":[{\"type\":\"thinking\",\"thinking\":\"Let me \\\"look\\\".\","
              "\"signature\":\"Er1/+==\"},{\"type\":\"thinking\",\"thinking\":\"Or not\","
              "\"signature\":\"Er2\"},{\"type\":\"redacted_thinking\",\"data\":\"En\"}]}");
    CHECK_STR(s.content[1].text, "Hi");
    stream_free(&s);
    stream_of(&s, P, LITELLM_SIGNS("Er") CHUNK("{\"content\":\"Hi\"}") FINISH("stop"));
    CHECK_STR(s.content[0].replay, "{\"thinking_blocks\":[{\"type\":\"thinking\","
                                   "\"thinking\":\"\",\"signature\":\"Er\"}]}");
    stream_free(&s);
    stream_begin(&s, P);
    stream_whole(&s, "{\"choices\":[{\"message\":{\"content\":null,\"reasoning_content\":\"hm\","
                     "\"thinking_blocks\":[{\"type\":\"thinking\",\"thinking\":\"hm\","
                     "\"signature\":\"S\"}],\"tool_calls\":[{\"id\":\"c\",\"function\":{"
                     "\"name\":\"f\",\"arguments\":\"{}\"}}]},\"finish_reason\":"
                     "\"tool_calls\"}]}");
    CHECK_STR(s.content[0].text, "hm");
    CHECK_STR(s.content[0].replay, "{\"thinking_blocks\":[{\"type\":\"thinking\","
                                   "\"thinking\":\"hm\",\"signature\":\"S\"}]}");
    stream_free(&s);
}

static void check_usage(const char *event, uint64_t input, uint64_t read, uint64_t output) {
    stream s;
    stream_begin(&s, P);
    stream_text(&s, FINISH("stop"));
    stream_text(&s, "data: ");
    stream_text(&s, event);
    stream_text(&s, "\n\ndata: [DONE]\n\n");
    stream_end(&s);
    CHECK_EQ_INT(s.message.usage.input, input);
    CHECK_EQ_INT(s.message.usage.cache_read, read);
    CHECK_EQ_INT(s.message.usage.output, output);
    stream_free(&s);
}

TEST(usage_is_found_wherever_servers_put_it) {
    check_usage("{\"choices\":[],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":2}}", 10, 0,
                2);
    check_usage("{\"choices\":[{\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":2,"
                "\"cached_tokens\":4}}]}",
                6, 4, 2);
    check_usage("{\"x_groq\":{\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":2}}}", 10, 0,
                2);
    check_usage("{\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":2,"
                "\"prompt_cache_hit_tokens\":9,\"prompt_cache_miss_tokens\":1}}",
                1, 9, 2);
    check_usage("{\"usage\":{\"prompt_tokens\":5,\"prompt_tokens_details\":{\"cached_tokens\":9}}}",
                0, 9, 0);
    check_usage("{\"usage\":null}", 0, 0, 0);
}

static void check_finish(const char *word, phi_stop_reason want, phi_failure_kind kind,
                         bool retryable) {
    stream s;
    char text[300];
    snprintf(text, sizeof text,
             "data: {\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":\"%s\"}]}\n\n",
             word);
    stream_of(&s, P, text);
    CHECK_EQ_INT(s.message.stop_reason, want);
    CHECK_EQ_INT(s.assembly.failure.kind, kind);
    CHECK_EQ_INT(s.assembly.failure.retryable, retryable);
    stream_free(&s);
}

TEST(finish_reasons_are_mapped) {
    check_finish("stop", PHI_STOP_REASON_STOP, PHI_FAILURE_NONE, false);
    check_finish("end", PHI_STOP_REASON_STOP, PHI_FAILURE_NONE, false);
    check_finish("eos", PHI_STOP_REASON_STOP, PHI_FAILURE_NONE, false);
    check_finish("length", PHI_STOP_REASON_LENGTH, PHI_FAILURE_NONE, false);
    check_finish("model_length", PHI_STOP_REASON_LENGTH, PHI_FAILURE_NONE, false);
    check_finish("content_filter", PHI_STOP_REASON_GUARD_RAIL, PHI_FAILURE_CONTENT_FILTER, false);
    check_finish("sensitive", PHI_STOP_REASON_GUARD_RAIL, PHI_FAILURE_CONTENT_FILTER, false);
    check_finish("network_error", PHI_STOP_REASON_ERROR, PHI_FAILURE_SERVER, true);
    check_finish("insufficient_system_resource", PHI_STOP_REASON_ERROR, PHI_FAILURE_SERVER, true);
    check_finish("model_context_window_exceeded", PHI_STOP_REASON_ERROR, PHI_FAILURE_OVERFLOW,
                 false);
    check_finish("abort", PHI_STOP_REASON_ERROR, PHI_FAILURE_SERVER, false);
    check_finish("mystery", PHI_STOP_REASON_STOP, PHI_FAILURE_NONE, false);
}

TEST(the_end_is_a_finish_reason_and_not_the_done_marker) {
    stream s;
    stream_of(&s, P, CHUNK("{\"content\":\"Hi\"}") "data: [DONE]\n\n");
    CHECK_EQ_INT(s.assembly.failure.kind, PHI_FAILURE_NETWORK);
    stream_free(&s);
    stream_of(&s, P, CHUNK("{\"content\":\"Hi\"}") FINISH("") "data: [DONE]\n\n");
    CHECK_EQ_INT(s.message.stop_reason, PHI_STOP_REASON_STOP);
    CHECK(s.assembly.terminal);
    stream_free(&s);
    stream_of(&s, P, CHUNK("{\"content\":\"Hi\"}") FINISH(""));
    CHECK_EQ_INT(s.assembly.failure.kind, PHI_FAILURE_NETWORK);
    stream_free(&s);
}

TEST(an_error_leaves_open_calls_incomplete) {
    stream s;
    stream_of(
        &s, P,
        CALL(
            "\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"x\",\"arguments\":\"{}\"}") "data: "
                                                                                           "{\"choi"
                                                                                           "ces\":["
                                                                                           "{\"delt"
                                                                                           "a\":{},"
                                                                                           "\"finis"
                                                                                           "h_"
                                                                                           "reason"
                                                                                           "\":"
                                                                                           "\"error"
                                                                                           "\"}],"
                                                                                           "\"error"
                                                                                           "\":{"
                                                                                           "\"code"
                                                                                           "\":502,"
                                                                                           "\"messa"
                                                                                           "ge\":"
                                                                                           "\"upstr"
                                                                                           "eam\","
                                                                                           "\"metad"
                                                                                           "ata\":{"
                                                                                           "}}}"
                                                                                           "\n\n");
    CHECK(s.content[0].incomplete);
    CHECK_EQ_INT(s.assembly.failure.kind, PHI_FAILURE_SERVER);
    CHECK_STR(s.assembly.failure.code, "502");
    CHECK_STR(s.assembly.failure.message, "upstream");
    stream_free(&s);
}

static void check_error(const char *data, phi_failure_kind kind, const char *message) {
    stream s;
    stream_begin(&s, P);
    stream_text(&s, CHUNK("{\"content\":\"x\"}"));
    stream_text(&s, "data: ");
    stream_text(&s, data);
    stream_text(&s, "\n\ndata: [DONE]\n\n");
    stream_end(&s);
    CHECK_EQ_INT(s.assembly.failure.kind, kind);
    CHECK_STR(s.assembly.failure.message, message);
    stream_free(&s);
}

TEST(errors_in_a_stream_are_classified_like_those_of_http) {
    check_error("{\"error\":{\"message\":\"slow\",\"code\":\"rate_limit_exceeded\"}}",
                PHI_FAILURE_RATE_LIMITED, "slow");
    check_error("{\"error\":{\"message\":\"no\"},\"status_code\":401}", PHI_FAILURE_AUTH, "no");
    check_error("{\"error\":\"plain words\"}", PHI_FAILURE_SERVER, "plain words");
    check_error("{\"error\":{\"message\":\"you hit the rate limit\"}}", PHI_FAILURE_RATE_LIMITED,
                "you hit the rate limit");
    check_error("{\"error\":{\"message\":\"x\",\"code\":\"insufficient_quota\"}}",
                PHI_FAILURE_QUOTA, "x");
    check_error("{\"x_groq\":{\"error\":{\"message\":\"g\",\"code\":\"500\"}}}", PHI_FAILURE_SERVER,
                "g");
    check_error("{\"error\":{\"code\":400,\"message\":\"Provider returned error\",\"metadata\":{"
                "\"raw\":\"prompt is too long: 9 tokens\"}}}",
                PHI_FAILURE_OVERFLOW, "Provider returned error");
}

TEST(a_whole_answer_is_read) {
    stream s;
    stream_begin(&s, P);
    stream_whole(&s,
                 "{\"id\":\"r\",\"model\":\"m\",\"choices\":[{\"message\":{\"role\":\"assistant\","
                 "\"content\":\"Hi\",\"reasoning_content\":\"hm\",\"tool_calls\":[{\"id\":\"c\","
                 "\"type\":\"function\",\"function\":{\"name\":\"n\",\"arguments\":\"{}\"}}]},"
                 "\"finish_reason\":\"tool_calls\"}],\"usage\":{\"prompt_tokens\":3,"
                 "\"completion_tokens\":4}}\n");
    CHECK_EQ_INT(s.message.content_count, 3);
    CHECK_STR(s.content[1].text, "Hi");
    CHECK_STR(s.content[2].id, "c");
    CHECK_EQ_INT(s.message.usage.total_tokens, 7);
    CHECK_EQ_INT(s.message.stop_reason, PHI_STOP_REASON_TOOL_USE);
    stream_free(&s);
    stream_begin(&s, P);
    stream_whole(&s, "{\"error\":{\"message\":\"bad key\",\"code\":401}}");
    CHECK_EQ_INT(s.assembly.failure.kind, PHI_FAILURE_AUTH);
    stream_free(&s);
    stream_begin(&s, P);
    stream_whole(&s, "{\"object\":\"list\"}");
    CHECK_EQ_INT(s.assembly.failure.kind, PHI_FAILURE_SERVER);
    stream_free(&s);
}

static const char everything[] = CHUNK(
    "{\"reasoning\":\"hm\",\"reasoning_details\":[{\"type\":\"reasoning.text\",\"text\":\"hm\"},{"
    "\"type\":\"reasoning.encrypted\",\"data\":\"x\"}]}") CHUNK("{\"content\":\"Hi\"}")
    CALL("\"index\":0,\"function\":{\"name\":\"x\"}") "data: {\"error\":{\"message\":\"oh\","
                                                      "\"code\":500}}\n\n" FINISH("tool_calls");

TEST(decoding_survives_every_failed_allocation) {
    stream s;
    int n = 0;
    bool tripped;
    do {
        test_alloc_fail_at(n++);
        stream_of(&s, P, everything);
        tripped = test_alloc_tripped();
        test_alloc_fail_at(-1);
        if (!tripped) CHECK_STR(s.assembly.failure.message, "oh");
        if (tripped)
            CHECK(s.assembly.failure.kind != PHI_FAILURE_NONE || s.reader.sse.status != PHI_OK);
        stream_free(&s);
        CHECK_EQ_INT(test_alloc_live_bytes(), 0);
    } while (tripped && n < 1000);
    CHECK(n > 8);
}

TEST_MAIN(TEST_ENTRY(each_quirk_of_the_body_changes_its_field),
          TEST_ENTRY(each_quirk_of_thinking_asks_in_its_own_way),
          TEST_ENTRY(a_model_that_cannot_think_is_never_asked_to),
          TEST_ENTRY(a_model_of_an_unknown_name_is_told_an_effort_only_when_it_is_to_think),
          TEST_ENTRY(openai_models_have_their_own_lowest_effort),
          TEST_ENTRY(the_tool_choice_is_said_in_the_servers_words),
          TEST_ENTRY(reasoning_models_get_no_temperature),
          TEST_ENTRY(a_cache_key_that_is_too_long_becomes_a_hash),
          TEST_ENTRY(an_empty_tool_list_goes_only_to_servers_that_need_one_beside_old_calls),
          TEST_ENTRY(each_quirk_of_messages_changes_how_they_look),
          TEST_ENTRY(required_reasoning_is_on_every_assistant_message_while_thinking),
          TEST_ENTRY(reasoning_details_go_back_verbatim_in_place_of_the_text),
          TEST_ENTRY(thinking_blocks_go_back_verbatim_to_whatever_server_they_came_from),
          TEST_ENTRY(foreign_thinking_is_dropped),
          TEST_ENTRY(bad_arguments_in_history_are_sent_as_an_empty_object),
          TEST_ENTRY(texts_are_one_string_and_images_make_parts),
          TEST_ENTRY(images_of_all_results_follow_in_one_user_message),
          TEST_ENTRY(the_same_reasoning_in_two_fields_is_taken_once),
          TEST_ENTRY(a_pair_of_surrogates_cut_between_chunks_is_joined),
          TEST_ENTRY(another_id_at_a_known_index_is_another_call),
          TEST_ENTRY(a_missing_or_null_id_is_invented_and_arguments_may_be_an_object),
          TEST_ENTRY(content_parts_hold_text_and_thinking),
          TEST_ENTRY(reasoning_details_without_a_reasoning_field_are_the_thinking),
          TEST_ENTRY(thinking_blocks_of_litellm_keep_their_signatures),
          TEST_ENTRY(usage_is_found_wherever_servers_put_it), TEST_ENTRY(finish_reasons_are_mapped),
          TEST_ENTRY(the_end_is_a_finish_reason_and_not_the_done_marker),
          TEST_ENTRY(an_error_leaves_open_calls_incomplete),
          TEST_ENTRY(errors_in_a_stream_are_classified_like_those_of_http),
          TEST_ENTRY(a_whole_answer_is_read), TEST_ENTRY(decoding_survives_every_failed_allocation))
