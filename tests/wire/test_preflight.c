/* test_preflight.c - what is refused before a byte is sent, and in which words. */
#include "wire/wire_support.h"
#include "support/codec_of.h"

static phi_model claude(void) { return phi_model_anthropic("claude-sonnet-4-6", "K"); }

static void check(conversation *t, const char *want) {
    char words[200];
    phi_status status = phi__preflight(codec_of(t->model.protocol), &t->spec, words, sizeof words);
    CHECK_EQ_STR(words, want);
    CHECK_EQ_INT(status, want[0] == '\0' ? PHI_OK : PHI_BAD_ARG);
}

/* A user, and an assistant with one call. */
static void begin(conversation *t) {
    talk_begin(t, claude());
    talk_user(t, "go");
    talk_assistant(t);
    talk_call(t, "x", "read", "{}");
}

TEST(a_good_transcript_passes) {
    conversation t;
    begin(&t);
    talk_message(&t, PHI_ROLE_EXTENSION);
    talk_result(&t, "x", "read", "ok");
    check(&t, "");
    talk_free(&t);
}

TEST(calls_and_results_must_pair) {
    conversation t;
    begin(&t);
    check(&t, "messages[1]: tool call \"x\" has no result");
    talk_user(&t, "between");
    talk_result(&t, "x", "read", "late");
    check(&t, "messages[1]: tool call \"x\" has no result");
    talk_free(&t);
    begin(&t);
    talk_result(&t, "x", "read", "ok");
    talk_result(&t, "x", "read", "again");
    check(&t, "messages[3]: a second result of tool call \"x\"");
    talk_free(&t);
    begin(&t);
    talk_result(&t, "x", "read", "ok");
    talk_result(&t, "y", "read", "of nothing");
    check(&t, "messages[3]: a result of tool call \"y\", which the message before it did not make");
    talk_free(&t);
    talk_begin(&t, claude());
    talk_result(&t, "y", "read", "first");
    check(&t, "messages[0]: a result of tool call \"y\", which the message before it did not make");
    talk_free(&t);
}

TEST(a_call_that_was_cut_may_have_its_result) {
    conversation t;
    begin(&t);
    t.blocks[1][0].incomplete = true;
    talk_result(&t, "x", "read", "the stream broke off inside this call");
    talk_user(&t, "on");
    check(&t, ""); /* neither is sent */
    talk_free(&t);
}

TEST(ids_must_be_there_and_unique) {
    conversation t;
    begin(&t);
    talk_call(&t, "x", "read", "{}");
    talk_result(&t, "x", "read", "ok");
    check(&t, "messages[1]: two tool calls have the id \"x\"");
    talk_free(&t);
    begin(&t);
    talk_result(&t, "x", "read", "ok");
    talk_assistant(&t);
    talk_call(&t, "x", "read", "{}");
    talk_result(&t, "x", "read", "ok");
    check(&t, "messages[3]: the id \"x\" of a tool call is used in messages[1] too");
    talk_free(&t);
    talk_begin(&t, claude());
    talk_user(&t, "go");
    talk_assistant(&t);
    talk_call(&t, "", "read", "{}");
    check(&t, "messages[1]: a tool call has no id");
    t.blocks[1][0].incomplete = true;
    talk_user(&t, "again");
    check(&t, "");
    talk_free(&t);
}

TEST(a_long_id_is_not_cut_inside_a_character) {
    conversation t;
    char id[84], want[160];
    memset(id, 'x', 79);
    memcpy(id + 79, "\xc3\xa9y", 4);
    (void)snprintf(want, sizeof want, "messages[1]: tool call \"%.79s\" has no result", id);
    begin(&t);
    t.blocks[1][0].id = phi_str_of(id);
    check(&t, want);
    talk_free(&t);
}

TEST(messages_must_say_something_and_begin_and_end_as_the_target_wants) {
    conversation t;
    talk_begin(&t, claude());
    check(&t, "messages: there is none to send");
    talk_user(&t, " ");
    check(&t, "messages[0]: a user message with nothing in it");
    talk_free(&t);
    talk_begin(&t, claude());
    talk_assistant(&t);
    talk_text(&t, "me first");
    check(&t, "messages: the first must be the user's");
    t.model = phi_model_openai("gpt-5", "K");
    check(&t, "");
    talk_free(&t);
    talk_begin(&t, claude());
    talk_user(&t, "go");
    talk_assistant(&t);
    talk_text(&t, "I will");
    check(&t, "messages: the last may not be the assistant's for claude-sonnet-4-6");
    t.model = phi_model_anthropic("claude-sonnet-4-5", "K");
    check(&t, "");
    talk_free(&t);
}

TEST(a_paused_answer_may_be_the_last_for_its_own_protocol) {
    conversation t;
    phi_message *m;
    phi_content *c;
    talk_begin(&t, claude());
    talk_user(&t, "go");
    m = talk_assistant(&t);
    m->stop_reason = PHI_STOP_REASON_PAUSED;
    c = talk_block(&t, PHI_CONTENT_OPAQUE);
    c->protocol = phi_str_of(PHI_PROTOCOL_ANTHROPIC);
    c->replay = phi_str_of("{\"type\":\"server_tool_use\"}");
    check(&t, "");
    m->protocol = phi_str_of(PHI_PROTOCOL_ANTHROPIC);
    check(&t, "");
    m->protocol = phi_str_of(PHI_PROTOCOL_BEDROCK);
    check(&t, "messages: the last may not be the assistant's for claude-sonnet-4-6");
    talk_free(&t);
}

TEST(images_must_be_of_a_known_type_and_in_their_place) {
    conversation t;
    talk_begin(&t, claude());
    talk_user(&t, "see");
    talk_image(&t, "aGk=");
    check(&t, "");
    t.blocks[0][1].data.len = 0;
    check(&t, "messages[0]: an image has no data");
    talk_free(&t);
    talk_begin(&t, claude());
    talk_user(&t, "see");
    talk_assistant(&t);
    talk_image(&t, "aGk=");
    check(&t, "messages[1]: an assistant message may not hold images");
    talk_free(&t);
}

static void check_tool(const char *name, const char *schema, const char *want) {
    conversation t;
    phi__tool_view tools[2];
    memset(tools, 0, sizeof tools);
    tools[0].name = phi_str_of("read");
    tools[1].name = phi_str_of(name);
    tools[1].schema = phi_str_of(schema);
    talk_begin(&t, claude());
    talk_user(&t, "go");
    t.spec.tools = tools;
    t.spec.tool_count = 2;
    check(&t, want);
    talk_free(&t);
}

static void check_block(phi_model model, phi_content block, const char *want) {
    conversation t;
    talk_begin(&t, model);
    talk_user(&t, "go");
    talk_assistant(&t);
    talk_text(&t, "what?");
    talk_user(&t, "this");
    *talk_block(&t, block.kind) = block;
    check(&t, want);
    talk_free(&t);
}

TEST(documents_and_audio_that_a_model_does_not_take_are_named) {
    phi_content block = PHI_ZERO;
    block.kind = PHI_CONTENT_AUDIO;
    block.data = phi_str_of("UklGRg==");
    block.mime_type = phi_str_of("audio/wav");
    check_block(claude(), block, "messages[2].content[1]: this model takes no audio (audio/wav)");
    check_block(phi_model_google("gemini-3-pro", "K"), block, "");
    block.data = phi_str_of("");
    check_block(claude(), block, "messages[2].content[1]: audio without data");
    block.kind = PHI_CONTENT_DOCUMENT;
    check_block(claude(), block, "messages[2].content[1]: a document without data");
    block.data = phi_str_of("JVBERi0=");
    block.mime_type = phi_str_of("application/pdf");
    check_block(claude(), block, "");
    check_block(phi_model_preset("ollama", "qwen3", NULL), block,
                "messages[2].content[1]: this model takes no document (application/pdf)");
    block.mime_type = phi_str_of("application/msword");
    check_block(claude(), block,
                "messages[2].content[1]: this model takes no document (application/msword)");
    block.data = phi_str_of("");
    block.url = phi_str_of("https://a.example/b");
    check_block(claude(), block,
                "messages[2].content[1]: this model takes no document (application/msword by its "
                "address)");
    block.mime_type = phi_str_of("");
    check_block(claude(), block, "");
    check_block(phi_model_openai("gpt-5", "K"), block,
                "messages[2].content[1]: this model takes no document (by its address)");
    block.url = phi_str_of("");
    block.text = phi_str_of("words");
    check_block(phi_model_preset("ollama", "qwen3", NULL), block, "");
}

static void check_assistant(phi_content_kind kind, const char *want) {
    conversation t;
    talk_begin(&t, claude());
    talk_user(&t, "go");
    talk_assistant(&t);
    talk_block(&t, kind)->text = phi_str_of("x");
    check(&t, want);
    talk_free(&t);
}

TEST(an_assistant_holds_neither_documents_nor_audio) {
    check_assistant(PHI_CONTENT_DOCUMENT,
                    "messages[1]: an assistant message may not hold documents");
    check_assistant(PHI_CONTENT_AUDIO, "messages[1]: an assistant message may not hold audio");
}

TEST(tools_must_have_unique_names_and_an_object_schema) {
    check_tool("write", "{\"type\":\"object\"}", "");
    check_tool("write", "", "");
    check_tool("wr ite", "", "tools[1]: name \"wr ite\": expected 1 to 64 of a-z A-Z 0-9 _ -");
    check_tool("", "", "tools[1]: name \"\": expected 1 to 64 of a-z A-Z 0-9 _ -");
    check_tool("read", "", "tools[1]: name \"read\" is taken by tools[0]");
    check_tool("write", "{}",
               "tools[1]: schema of \"write\" must be a JSON object with type \"object\"");
    check_tool("write", "[1",
               "tools[1]: schema of \"write\" must be a JSON object with type \"object\"");
    check_tool("write", "{\"type\":\"object\",\"anyOf\":[]}",
               "tools[1]: schema of \"write\" may not have anyOf, oneOf or allOf at its root");
}

TEST_MAIN(TEST_ENTRY(a_good_transcript_passes), TEST_ENTRY(calls_and_results_must_pair),
          TEST_ENTRY(a_call_that_was_cut_may_have_its_result),
          TEST_ENTRY(ids_must_be_there_and_unique),
          TEST_ENTRY(a_long_id_is_not_cut_inside_a_character),
          TEST_ENTRY(messages_must_say_something_and_begin_and_end_as_the_target_wants),
          TEST_ENTRY(a_paused_answer_may_be_the_last_for_its_own_protocol),
          TEST_ENTRY(images_must_be_of_a_known_type_and_in_their_place),
          TEST_ENTRY(tools_must_have_unique_names_and_an_object_schema),
          TEST_ENTRY(documents_and_audio_that_a_model_does_not_take_are_named),
          TEST_ENTRY(an_assistant_holds_neither_documents_nor_audio))
