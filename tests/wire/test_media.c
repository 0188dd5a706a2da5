/* test_media.c - documents and audio of users and of results, on every wire. */
#include "wire/wire_support.h"

#include "codecs/translate.h"

static phi_model claude(void) { return phi_model_anthropic("claude-sonnet-4-6", "K"); }
static phi_model gpt(void) { return phi_model_openai("gpt-5", "K"); }
static phi_model responses(void) { return phi_model_openai_responses("gpt-5", "K"); }
static phi_model gemini(void) { return phi_model_google("gemini-3-pro", "K"); }
static phi_model nova(void) { return phi_model_bedrock(NULL, "amazon.nova-pro-v1:0", "K"); }
static phi_model local(void) { return phi_model_preset("ollama", "qwen3", NULL); }

static phi_content *pdf(conversation *t, const char *title) {
    phi_content *c = talk_block(t, PHI_CONTENT_DOCUMENT);
    c->data = phi_str_of("JVBERi0=");
    c->mime_type = phi_str_of("application/pdf");
    c->name = phi_str_of(title);
    return c;
}

static phi_content *paper(conversation *t, const char *title, const char *text) {
    phi_content *c = talk_block(t, PHI_CONTENT_DOCUMENT);
    c->text = phi_str_of(text);
    c->name = phi_str_of(title);
    return c;
}

static phi_content *linked(conversation *t, const char *url) {
    phi_content *c = talk_block(t, PHI_CONTENT_DOCUMENT);
    c->url = phi_str_of(url);
    return c;
}

static phi_content *sound(conversation *t, const char *type) {
    phi_content *c = talk_block(t, PHI_CONTENT_AUDIO);
    c->data = phi_str_of("UklGRg==");
    c->mime_type = phi_str_of(type);
    return c;
}

/* A user's words, a PDF, a text and an address; a call whose result is a PDF and a sound. */
static void begin(conversation *t, phi_model model) {
    talk_begin(t, model);
    talk_user(t, "read");
    (void)pdf(t, "Report \"A\".pdf");
    (void)paper(t, "Notes", "one\ntwo");
    (void)linked(t, "https://a.example/b.pdf");
    talk_assistant(t);
    talk_call(t, "call_1", "get", "{}");
    (void)talk_result(t, "call_1", "get", NULL);
    (void)pdf(t, "");
    (void)sound(t, "audio/wav");
    t->items[0].from = t->items[0].to = 1;
    t->items[2].from = t->items[2].to = 3;
}

TEST(claude_gets_documents_as_blocks_and_a_line_for_audio) {
    conversation t;
    begin(&t, claude());
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "messages[0].content"),
                 "[{\"type\":\"text\",\"text\":\"read\"},"
                 "{\"type\":\"document\",\"source\":{\"type\":\"base64\",\"media_type\":"
                 "\"application/pdf\",\"data\":\"JVBERi0=\"},\"title\":\"Report \\\"A\\\".pdf\"},"
                 "{\"type\":\"document\",\"source\":{\"type\":\"text\",\"media_type\":"
                 "\"text/plain\",\"data\":\"one\\ntwo\"},\"title\":\"Notes\"},"
                 "{\"type\":\"document\",\"source\":{\"type\":\"url\",\"url\":"
                 "\"https://a.example/b.pdf\"}}]");
    CHECK_EQ_STR(talk_at(&t, "messages[2].content[0].content"),
                 "[{\"type\":\"document\",\"source\":{\"type\":\"base64\",\"media_type\":"
                 "\"application/pdf\",\"data\":\"JVBERi0=\"}},"
                 "{\"type\":\"text\",\"text\":\"(audio omitted: this model does not take it)\"}]");
    talk_free(&t);
}

TEST(a_document_of_an_error_follows_all_results_at_claude) {
    conversation t;
    begin(&t, claude());
    t.messages[2].is_error = true;
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "messages[2].content"),
                 "[{\"type\":\"tool_result\",\"tool_use_id\":\"call_1\",\"is_error\":true,"
                 "\"content\":[{\"type\":\"text\",\"text\":"
                 "\"(audio omitted: this model does not take it)\"}]},"
                 "{\"type\":\"document\",\"source\":{\"type\":\"base64\",\"media_type\":"
                 "\"application/pdf\",\"data\":\"JVBERi0=\"},"
                 "\"cache_control\":{\"type\":\"ephemeral\"}}]");
    talk_free(&t);
}

TEST(minimax_gets_a_documents_text_and_a_line_for_the_rest) {
    conversation t;
    begin(&t, phi_model_minimax("MiniMax-M2", "K"));
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "messages[0].content"),
                 "[{\"type\":\"text\",\"text\":\"read\"},"
                 "{\"type\":\"text\",\"text\":\"(document omitted: this model does not take it)\"},"
                 "{\"type\":\"text\",\"text\":\"Document: Notes\\none\\ntwo\"},"
                 "{\"type\":\"text\",\"text\":"
                 "\"(document omitted: this model does not take it)\"}]");
    talk_free(&t);
}

TEST(chat_gets_a_pdf_as_a_file_and_media_of_results_in_a_users_message) {
    conversation t;
    begin(&t, gpt());
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "messages[0].content"),
                 "[{\"type\":\"text\",\"text\":\"read\"},"
                 "{\"type\":\"file\",\"file\":{\"filename\":\"Report \\\"A\\\".pdf\","
                 "\"file_data\":\"data:application/pdf;base64,JVBERi0=\"}},"
                 "{\"type\":\"text\",\"text\":\"Document: Notes\\none\\ntwo\"},"
                 "{\"type\":\"text\",\"text\":"
                 "\"(document omitted: this model does not take it)\"}]");
    CHECK_EQ_STR(talk_at(&t, "messages[2].content"),
                 "\"(audio omitted: this model does not take it)\"");
    CHECK_EQ_STR(talk_at(&t, "messages[3]"),
                 "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":"
                 "\"Document returned by tool get:\"},{\"type\":\"file\",\"file\":{\"filename\":"
                 "\"document.pdf\",\"file_data\":\"data:application/pdf;base64,JVBERi0=\"}}]}");
    talk_free(&t);
}

TEST(an_audio_model_of_chat_gets_wav_and_mp3) {
    conversation t;
    talk_begin(&t, phi_model_openai("gpt-audio", "K"));
    talk_user(&t, "hear");
    (void)sound(&t, "audio/x-wav");
    (void)sound(&t, "audio/mpeg");
    (void)sound(&t, "audio/flac");
    talk_assistant(&t);
    talk_call(&t, "call_1", "get", "{}");
    (void)talk_result(&t, "call_1", "get", NULL);
    (void)sound(&t, "audio/mp3");
    talk_assistant(&t);
    talk_call(&t, "call_2", "get", "{}");
    (void)talk_result(&t, "call_2", "get", NULL);
    (void)sound(&t, "audio/mp3");
    (void)pdf(&t, "");
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "messages[0].content"),
                 "[{\"type\":\"text\",\"text\":\"hear\"},"
                 "{\"type\":\"input_audio\",\"input_audio\":{\"data\":\"UklGRg==\",\"format\":"
                 "\"wav\"}},"
                 "{\"type\":\"input_audio\",\"input_audio\":{\"data\":\"UklGRg==\",\"format\":"
                 "\"mp3\"}},"
                 "{\"type\":\"text\",\"text\":\"(audio omitted: this model does not take it)\"}]");
    CHECK_EQ_STR(talk_at(&t, "messages[2].content"), "\"(see the audio below)\"");
    CHECK_EQ_STR(talk_at(&t, "messages[3].content[0].text"), "\"Audio returned by tool get:\"");
    CHECK_EQ_STR(talk_at(&t, "messages[5].content"), "\"(see the files below)\"");
    CHECK_EQ_STR(talk_at(&t, "messages[6].content[0].text"), "\"Files returned by tool get:\"");
    talk_free(&t);
}

TEST(a_local_server_gets_text_alone) {
    conversation t;
    begin(&t, local());
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "messages[0].content"),
                 "\"read\\n(document omitted: this model does not take it)\\n"
                 "Document: Notes\\none\\ntwo\\n"
                 "(document omitted: this model does not take it)\"");
    CHECK_EQ_STR(talk_at(&t, "messages[2].content"),
                 "\"(document omitted: this model does not take it)\\n"
                 "(audio omitted: this model does not take it)\"");
    CHECK_EQ_INT(phi_json_count(phi_json_path(t.tree, "messages")), 3);
    talk_free(&t);
}

TEST(openrouter_gets_a_pdf_by_its_address) {
    conversation t;
    talk_begin(&t, phi_model_preset("openrouter", "anthropic/claude-sonnet-4.5", "K"));
    talk_user(&t, "read");
    (void)linked(&t, "https://a.example/b.pdf");
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "messages[0].content[1].file"),
                 "{\"filename\":\"document.pdf\",\"file_data\":\"https://a.example/b.pdf\"}");
    talk_free(&t);
}

static bool hears(phi_model model) {
    conversation t;
    bool heard;
    talk_begin(&t, model);
    talk_user(&t, "hear");
    (void)sound(&t, "audio/wav");
    talk_render_ok(&t);
    heard = strstr(t.body, "UklGRg==") != NULL;
    CHECK(heard == (strstr(t.body, "(audio omitted: this model does not take it)") == NULL));
    talk_free(&t);
    return heard;
}

TEST(a_models_name_says_whether_it_hears) {
    CHECK(hears(phi_model_openai("gpt-4o-audio-preview", "K")));
    CHECK(hears(phi_model_preset("vllm", "mistralai/Voxtral-Mini-3B", NULL)));
    CHECK(hears(phi_model_preset("llama_cpp", "ultravox-v0_5", NULL)));
    CHECK(hears(phi_model_preset("qwen", "qwen3-omni-flash", "K")));
    CHECK(hears(phi_model_preset("openrouter", "google/gemini-3-pro", "K")));
    CHECK(hears(phi_model_google("gemini-2.5-flash", "K")));
    CHECK(hears(phi_model_bedrock(NULL, "mistral.voxtral-mini-3b-2507", "K")));
    CHECK(!hears(phi_model_preset("mistral", "voxtral-small-latest", "K"))); /* another form */
    CHECK(!hears(phi_model_preset("openrouter", "anthropic/claude-sonnet-4.5", "K")));
    CHECK(!hears(phi_model_openai("gpt-5", "K")));
    CHECK(!hears(phi_model_openai_responses("gpt-5", "K")));
    CHECK(!hears(phi_model_anthropic("claude-opus-4-6", "K")));
    CHECK(!hears(phi_model_google("gemma-3-27b-it", "K")));
    CHECK(!hears(phi_model_bedrock(NULL, "anthropic.claude-sonnet-4-6", "K")));
}

TEST(responses_gets_files_by_bytes_and_by_address_in_results_too) {
    conversation t;
    phi_content *sheet;
    begin(&t, responses());
    sheet = pdf(&t, "sums"); /* behind the sound: of the result */
    sheet->mime_type = phi_str_of("text/csv");
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "input[0].content"),
                 "[{\"type\":\"input_text\",\"text\":\"read\"},"
                 "{\"type\":\"input_file\",\"filename\":\"Report \\\"A\\\".pdf\",\"file_data\":"
                 "\"data:application/pdf;base64,JVBERi0=\"},"
                 "{\"type\":\"input_text\",\"text\":\"Document: Notes\\none\\ntwo\"},"
                 "{\"type\":\"input_file\",\"file_url\":\"https://a.example/b.pdf\"}]");
    CHECK_EQ_STR(talk_at(&t, "input[2].output"),
                 "[{\"type\":\"input_file\",\"filename\":\"document.pdf\",\"file_data\":"
                 "\"data:application/pdf;base64,JVBERi0=\"},"
                 "{\"type\":\"input_text\",\"text\":"
                 "\"(audio omitted: this model does not take it)\"},"
                 "{\"type\":\"input_file\",\"filename\":\"sums.csv\",\"file_data\":"
                 "\"data:text/csv;base64,JVBERi0=\"}]");
    talk_free(&t);
}

TEST(gemini_gets_documents_inline_and_audio_behind_its_results) {
    conversation t;
    begin(&t, gemini());
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "contents[0].parts"),
                 "[{\"text\":\"read\"},"
                 "{\"inlineData\":{\"mimeType\":\"application/pdf\",\"data\":\"JVBERi0=\"}},"
                 "{\"text\":\"Document: Notes\\none\\ntwo\"},"
                 "{\"fileData\":{\"mimeType\":\"application/pdf\",\"fileUri\":"
                 "\"https://a.example/b.pdf\"}}]");
    CHECK_EQ_STR(talk_at(&t, "contents[2].parts[0].functionResponse"),
                 "{\"id\":\"call_1\",\"name\":\"get\",\"response\":{\"output\":"
                 "\"(see the attached files)\"},\"parts\":[{\"inlineData\":{\"mimeType\":"
                 "\"application/pdf\",\"data\":\"JVBERi0=\"}}]}");
    CHECK_EQ_STR(talk_at(&t, "contents[3]"),
                 "{\"role\":\"user\",\"parts\":[{\"inlineData\":{\"mimeType\":\"audio/wav\","
                 "\"data\":\"UklGRg==\"}}]}");
    talk_free(&t);
}

TEST(gemini_before_3_gets_all_media_of_results_behind_them) {
    conversation t;
    begin(&t, phi_model_google("gemini-2.5-pro", "K"));
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "contents[2].parts[0].functionResponse.parts"), "");
    CHECK_EQ_STR(talk_at(&t, "contents[3].parts"),
                 "[{\"inlineData\":{\"mimeType\":\"application/pdf\",\"data\":\"JVBERi0=\"}},"
                 "{\"inlineData\":{\"mimeType\":\"audio/wav\",\"data\":\"UklGRg==\"}}]");
    talk_free(&t);
}

TEST(vertex_alone_gets_titles) {
    conversation t;
    begin(&t, phi_model_vertex("https://aiplatform.googleapis.com/v1", "gemini-3-pro", "K"));
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "contents[0].parts[1]"),
                 "{\"inlineData\":{\"mimeType\":\"application/pdf\",\"displayName\":"
                 "\"Report \\\"A\\\".pdf\",\"data\":\"JVBERi0=\"}}");
    talk_free(&t);
}

/* ---- Bedrock ---- */

TEST(bedrock_gets_documents_with_legal_names_and_a_line_for_addresses) {
    conversation t;
    begin(&t, nova());
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "messages[0].content[0]"), "{\"text\":\"read\"}");
    CHECK_EQ_STR(talk_at(&t, "messages[0].content[1].document.format"), "\"pdf\"");
    CHECK(strncmp(talk_at(&t, "messages[0].content[1].document.name"), "\"Report A ", 10) == 0);
    CHECK_EQ_INT(strlen(talk_at(&t, "messages[0].content[1].document.name")), 10 + 8 + 1);
    CHECK_EQ_STR(talk_at(&t, "messages[0].content[1].document.source"), "{\"bytes\":\"JVBERi0=\"}");
    CHECK_EQ_STR(talk_at(&t, "messages[0].content[2].document.format"), "\"txt\"");
    CHECK(strncmp(talk_at(&t, "messages[0].content[2].document.name"), "\"Notes ", 7) == 0);
    CHECK_EQ_STR(talk_at(&t, "messages[0].content[2].document.source"), "{\"text\":\"one\\ntwo\"}");
    CHECK_EQ_STR(talk_at(&t, "messages[0].content[3]"),
                 "{\"text\":\"(document omitted: this model does not take it)\"}");
    CHECK(strncmp(talk_at(&t, "messages[2].content[0].toolResult.content[0].document.name"),
                  "\"document ", 10) == 0);
    CHECK_EQ_STR(talk_at(&t, "messages[2].content[0].toolResult.content[1]"),
                 "{\"text\":\"(audio omitted: this model does not take it)\"}");
    talk_free(&t);
}

TEST(bedrock_names_are_unique_and_have_a_text_beside_them) {
    conversation t;
    char first[80], second[80], third[80];
    talk_begin(&t, nova());
    talk_message(&t, PHI_ROLE_USER);
    (void)pdf(&t, "  a__b?  \xC3\xA9 (x)[y]-z.docx");
    (void)pdf(&t, "  a__b?  \xC3\xA9 (x)[y]-z.docx");
    talk_assistant(&t);
    talk_text(&t, "ok");
    talk_message(&t, PHI_ROLE_USER);
    (void)pdf(&t, "  a__b?  \xC3\xA9 (x)[y]-z.docx");
    t.items[0].from = 1;
    t.items[2].from = 3;
    talk_render_ok(&t);
    (void)snprintf(first, sizeof first, "%s", talk_at(&t, "messages[0].content[0].document.name"));
    (void)snprintf(second, sizeof second, "%s",
                   talk_at(&t, "messages[0].content[1].document.name"));
    (void)snprintf(third, sizeof third, "%s", talk_at(&t, "messages[2].content[0].document.name"));
    CHECK(strncmp(first, "\"a b (x)[y]-z ", 14) == 0);
    CHECK(strcmp(first, second) != 0);
    CHECK(strcmp(first, third) != 0);
    CHECK(strcmp(second, third) != 0);
    CHECK_EQ_STR(talk_at(&t, "messages[0].content[2]"),
                 "{\"text\":\"(see the attached document)\"}");
    CHECK_EQ_INT(phi_json_count(phi_json_path(t.tree, "messages[0].content")), 3);
    talk_free(&t);
}

TEST(bedrock_cuts_a_long_title) {
    conversation t;
    char title[300];
    memset(title, 'x', sizeof title);
    title[sizeof title - 1] = '\0';
    talk_begin(&t, nova());
    talk_user(&t, "read");
    (void)pdf(&t, title);
    talk_render_ok(&t);
    CHECK_EQ_INT(strlen(talk_at(&t, "messages[0].content[1].document.name")), 60 + 1 + 8 + 2);
    talk_free(&t);
}

TEST(audio_of_a_bedrock_result_follows_it) {
    conversation t;
    begin(&t, phi_model_bedrock(NULL, "mistral.voxtral-mini-3b-2507", "K"));
    talk_render_ok(&t);
    CHECK_EQ_INT(phi_json_count(phi_json_path(t.tree, "messages[2].content")), 2);
    CHECK_EQ_STR(talk_at(&t, "messages[2].content[1]"),
                 "{\"audio\":{\"format\":\"wav\",\"source\":{\"bytes\":\"UklGRg==\"}}}");
    talk_free(&t);
}

TEST(a_model_of_bedrock_without_documents_gets_their_text) {
    conversation t;
    begin(&t, phi_model_bedrock(NULL, "openai.gpt-oss-120b-1:0", "K"));
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "messages[0].content[2]"),
                 "{\"text\":\"Document: Notes\\none\\ntwo\"}");
    CHECK_EQ_STR(talk_at(&t, "messages[0].content[1]"),
                 "{\"text\":\"(document omitted: this model does not take it)\"}");
    talk_free(&t);
}

/* ---- switches of model ---- */

TEST(a_rendering_is_of_the_model_it_was_made_for) {
    conversation t;
    begin(&t, gpt());
    talk_render_ok(&t);
    CHECK(strstr(t.body, "JVBERi0=") != NULL);
    t.model = local();
    talk_render_ok(&t);
    CHECK(strstr(t.body, "JVBERi0=") == NULL);
    t.model = gpt();
    talk_render_ok(&t);
    CHECK(strstr(t.body, "JVBERi0=") != NULL);
    t.model.quirks |= PHI_QUIRK_NO_IMAGES; /* no pages either */
    talk_render_ok(&t);
    CHECK(strstr(t.body, "JVBERi0=") == NULL);
    talk_free(&t);
}

/* What phi_translate makes renders to the same bytes. */
static void check_translated(phi_model model) {
    conversation t, again;
    const phi_message *list[3];
    const phi_message *const *out = NULL;
    phi_arena arena;
    size_t count = 0, i;
    begin(&t, model);
    (void)sound(&t, "audio/wav"); /* two in a row */
    (void)pdf(&t, "more");
    talk_render_ok(&t);
    for (i = 0; i < 3; i++) list[i] = &t.messages[i];
    phi_arena_init(&arena, &t.memory, 0);
    CHECK_EQ_INT(phi_translate(&model, list, 3, &arena, &out, &count), PHI_OK);
    CHECK_EQ_INT(count, 3);
    begin(&again, model);
    for (i = 0; i < 3; i++) again.items[i].message = out[i];
    talk_render_ok(&again);
    CHECK_EQ_STR(again.body, t.body);
    phi_arena_free(&arena);
    talk_free(&again);
    talk_free(&t);
}

TEST(a_translated_history_renders_to_the_same_bytes) {
    phi_model none = gpt();
    none.quirks |= PHI_QUIRK_NO_IMAGES;
    check_translated(claude());
    check_translated(gpt());
    check_translated(none);
    check_translated(responses());
    check_translated(gemini());
    check_translated(nova());
    check_translated(local());
    check_translated(phi_model_google("gemini-2.5-pro", "K"));
    check_translated(phi_model_minimax("MiniMax-M2", "K"));
    check_translated(phi_model_bedrock(NULL, "openai.gpt-oss-120b-1:0", "K"));
}

TEST(translation_replaces_what_the_target_does_not_take) {
    conversation t;
    phi_model model = claude();
    const phi_message *list[1];
    const phi_message *const *out = NULL;
    phi_arena arena;
    size_t count = 0;
    talk_begin(&t, model);
    talk_user(&t, "hear");
    (void)sound(&t, "audio/wav");
    (void)sound(&t, "audio/mpeg");
    (void)pdf(&t, "kept");
    list[0] = &t.messages[0];
    phi_arena_init(&arena, &t.memory, 0);
    CHECK_EQ_INT(phi_translate(&model, list, 1, &arena, &out, &count), PHI_OK);
    CHECK_EQ_INT(out[0]->content_count, 3);
    CHECK_STR(out[0]->content[1].text, "(audio omitted: this model does not take it)");
    CHECK_EQ_INT(out[0]->content[2].kind, PHI_CONTENT_DOCUMENT);
    phi_arena_free(&arena);
    talk_free(&t);
}

/* ---- long ones, and no memory ---- */

static void check_memory(phi_model model) {
    int n = 0;
    phi_status status;
    do {
        conversation t;
        begin(&t, model);
        test_alloc_fail_at(n++);
        status = talk_render(&t, 1);
        CHECK(status == PHI_OK || status == PHI_NO_MEMORY);
        test_alloc_fail_at(-1);
        CHECK_EQ_INT(talk_render(&t, 1), PHI_OK);
        talk_free(&t);
        CHECK_EQ_INT(test_alloc_live_bytes(), 0);
    } while (status != PHI_OK && n < 1000);
    CHECK(n > 3);
}

TEST(documents_survive_every_failed_allocation) {
    check_memory(claude());
    check_memory(gpt());
    check_memory(responses());
    check_memory(gemini());
    check_memory(nova());
}

static void check_long(phi_model model, bool is_error) {
    enum { BYTES = 300000 };
    char *data = (char *)malloc(BYTES + 1), *text = (char *)malloc(BYTES + 1);
    conversation once, sliced;
    conversation *both[2];
    size_t i;
    memset(data, 'Q', BYTES);
    memset(text, 'x', BYTES);
    data[BYTES] = text[BYTES] = '\0';
    both[0] = &once;
    both[1] = &sliced;
    for (i = 0; i < 2; i++) {
        begin(both[i], model);
        both[i]->blocks[0][1].data = phi_str_of(data);
        both[i]->blocks[0][2].text = phi_str_of(text);
        both[i]->blocks[2][0].data = phi_str_of(data);
        both[i]->blocks[2][1].data = phi_str_of(data);
        both[i]->messages[2].is_error = is_error;
    }
    CHECK_EQ_INT(talk_render(&once, 0), PHI_OK);
    CHECK_EQ_INT(talk_render(&sliced, 1), PHI_OK);
    CHECK_EQ_STR(sliced.body, once.body);
    CHECK(strlen(once.body) > 2 * BYTES);
    talk_free(&once);
    talk_free(&sliced);
    free(data);
    free(text);
}

TEST(long_documents_are_the_same_in_slices) {
    int is_error;
    for (is_error = 0; is_error < 2; is_error++) {
        check_long(claude(), is_error != 0);
        check_long(gpt(), is_error != 0);
        check_long(responses(), is_error != 0);
        check_long(gemini(), is_error != 0);
        check_long(phi_model_google("gemini-2.5-pro", "K"), is_error != 0);
        check_long(nova(), is_error != 0);
        check_long(phi_model_bedrock(NULL, "mistral.voxtral-mini-3b-2507", "K"), is_error != 0);
    }
}

TEST_MAIN(TEST_ENTRY(claude_gets_documents_as_blocks_and_a_line_for_audio),
          TEST_ENTRY(a_document_of_an_error_follows_all_results_at_claude),
          TEST_ENTRY(minimax_gets_a_documents_text_and_a_line_for_the_rest),
          TEST_ENTRY(chat_gets_a_pdf_as_a_file_and_media_of_results_in_a_users_message),
          TEST_ENTRY(an_audio_model_of_chat_gets_wav_and_mp3),
          TEST_ENTRY(a_local_server_gets_text_alone),
          TEST_ENTRY(a_models_name_says_whether_it_hears),
          TEST_ENTRY(responses_gets_files_by_bytes_and_by_address_in_results_too),
          TEST_ENTRY(gemini_gets_documents_inline_and_audio_behind_its_results),
          TEST_ENTRY(gemini_before_3_gets_all_media_of_results_behind_them),
          TEST_ENTRY(vertex_alone_gets_titles),
          TEST_ENTRY(bedrock_gets_documents_with_legal_names_and_a_line_for_addresses),
          TEST_ENTRY(bedrock_names_are_unique_and_have_a_text_beside_them),
          TEST_ENTRY(bedrock_cuts_a_long_title), TEST_ENTRY(audio_of_a_bedrock_result_follows_it),
          TEST_ENTRY(a_model_of_bedrock_without_documents_gets_their_text),
          TEST_ENTRY(a_rendering_is_of_the_model_it_was_made_for),
          TEST_ENTRY(a_translated_history_renders_to_the_same_bytes),
          TEST_ENTRY(translation_replaces_what_the_target_does_not_take),
          TEST_ENTRY(documents_survive_every_failed_allocation),
          TEST_ENTRY(long_documents_are_the_same_in_slices),
          TEST_ENTRY(openrouter_gets_a_pdf_by_its_address))
