/* test_fixtures.c - the sample streams, requests and errors of tests/fixtures. */
#include "wire/wire_support.h"
#include "support/codec_of.h"
#include "model/model_in.h"

/* One line that says all there is to know of an answer, to compare one split with another. */
static char *answer_text(stream *s) {
    phi__buf out;
    phi_str json = {NULL, 0};
    const phi__assembly *a = &s->assembly;
    char *text;
    size_t i;
    phi__buf_init(&out, &s->memory);
    CHECK_EQ_INT(phi_message_to_json(&s->message, &s->arena, &json), PHI_OK);
    phi__buf_add_str(&out, json);
    phi__buf_printf(&out, " raw:%.*s model:%.*s id:%.*s", (int)a->raw_stop_reason.len,
                    a->raw_stop_reason.at != NULL ? a->raw_stop_reason.at : "", (int)a->model.len,
                    a->model.at != NULL ? a->model.at : "", (int)a->response_id.len,
                    a->response_id.at != NULL ? a->response_id.at : "");
    phi__buf_printf(&out, " failure:%s retry:%d", phi_failure_kind_text(a->failure.kind),
                    a->failure.retryable);
    for (i = 0; i < a->count; i++)
        phi__buf_printf(&out, " %d%d", a->drafts[i].incomplete, a->drafts[i].open);
    text = (char *)calloc(1, out.len + 1);
    memcpy(text, out.at, out.len);
    phi__buf_free(&out);
    return text;
}

static const phi_json *expected_of(stream *s, const char *folder, const char *name) {
    char path[300];
    char *text;
    size_t len;
    phi_json *root = NULL;
    snprintf(path, sizeof path, "%s/%s.expected.json", folder, name);
    text = test_fixture(path, &len);
    if (text == NULL) return NULL;
    CHECK_EQ_INT(phi_json_parse(&s->arena, phi__str(text, len), 0, &root, NULL), PHI_OK);
    free(text);
    return root;
}

static phi_json *read_json(stream *s, phi_str text) {
    phi_json *root = NULL;
    CHECK_EQ_INT(phi_json_parse(&s->arena, text, 0, &root, NULL), PHI_OK);
    return root;
}

static void check_text(phi_str got, const phi_json *want) {
    CHECK_STR(got, phi_json_str(want, "").at);
}

static void check_replay(stream *s, const phi_content *c, const phi_json *want) {
    if (phi_json_get(want, "replay") != NULL)
        CHECK(phi__json_get_equal(read_json(s, c->replay), phi_json_get(want, "replay")));
    else
        CHECK_EQ_INT(c->replay.len, 0);
}

static void check_block(stream *s, const phi_content *c, const phi_json *want) {
    phi_str type = phi_json_str(phi_json_get(want, "type"), "");
    if (phi__str_is(type, "text")) {
        CHECK_EQ_INT(c->kind, PHI_CONTENT_TEXT);
        check_text(c->text, phi_json_get(want, "text"));
        check_text(c->signature, phi_json_get(want, "signature"));
        if (phi_json_get(want, "citations") != NULL)
            CHECK(phi__json_get_equal(read_json(s, c->citations), phi_json_get(want, "citations")));
        else
            CHECK_EQ_INT(c->citations.len, 0);
    } else if (phi__str_is(type, "opaque")) {
        CHECK_EQ_INT(c->kind, PHI_CONTENT_OPAQUE);
        CHECK(!c->incomplete);
        check_text(c->name, phi_json_get(want, "name"));
        if (phi_json_get(want, "json") != NULL) {
            CHECK(phi__json_get_equal(read_json(s, c->replay), phi_json_get(want, "json")));
            return;
        }
    } else if (phi__str_is(type, "thinking")) {
        CHECK_EQ_INT(c->kind, PHI_CONTENT_THINKING);
        check_text(c->text, phi_json_get(want, "thinking"));
        check_text(c->signature, phi_json_get(want, "signature"));
        CHECK_EQ_INT(c->redacted, phi_json_bool(phi_json_get(want, "redacted"), false));
    } else {
        CHECK_EQ_INT(c->kind, PHI_CONTENT_TOOL_CALL);
        CHECK(!c->incomplete);
        if (phi__str_is(phi_json_str(phi_json_get(want, "id"), ""), "*"))
            CHECK(c->id.len > 0); /* any */
        else
            check_text(c->id, phi_json_get(want, "id"));
        check_text(c->name, phi_json_get(want, "name"));
        check_text(c->signature, phi_json_get(want, "signature"));
        CHECK(phi__json_get_equal(read_json(s, c->arguments), phi_json_get(want, "arguments")));
    }
    check_replay(s, c, want);
}

static void check_blocks(stream *s, const phi_json *want) {
    const phi_json *cut = phi_json_get(want, "incomplete_tool_calls");
    size_t i, whole = 0, broken = 0;
    for (i = 0; i < s->message.content_count; i++) {
        const phi_content *c = &s->content[i];
        if (!c->incomplete) {
            const phi_json *block = phi_json_at(phi_json_get(want, "content"), whole++);
            if (CHECK(block != NULL)) check_block(s, c, block);
            continue;
        }
        check_text(c->id, phi_json_get(phi_json_at(cut, broken), "id"));
        check_text(c->name, phi_json_get(phi_json_at(cut, broken), "name"));
        check_text(c->arguments, phi_json_get(phi_json_at(cut, broken++), "partial"));
    }
    CHECK_EQ_INT(whole, phi_json_count(phi_json_get(want, "content")));
    CHECK_EQ_INT(broken, phi_json_count(cut));
}

static void check_answer(stream *s, const phi_json *want) {
    const phi_json *usage = phi_json_get(want, "usage"), *error = phi_json_get(want, "error");
    const phi__assembly *a = &s->assembly;
    check_text(phi__buf_str(&a->response_id), phi_json_get(want, "response_id"));
    check_text(phi__buf_str(&a->model), phi_json_get(want, "model"));
    check_blocks(s, want);
    CHECK_EQ_STR(phi__message_stop_text(s->message.stop_reason),
                 phi_json_str(phi_json_get(want, "stop_reason"), "").at);
    check_text(s->message.raw_stop_reason, phi_json_get(want, "raw_stop_reason"));
    CHECK_EQ_INT(s->message.usage.input, phi__json_get_uint(phi_json_get(usage, "input"), 99));
    CHECK_EQ_INT(s->message.usage.output, phi__json_get_uint(phi_json_get(usage, "output"), 99));
    CHECK_EQ_INT(s->message.usage.reasoning,
                 phi__json_get_uint(phi_json_get(usage, "reasoning"), 99));
    CHECK_EQ_INT(s->message.usage.cache_read,
                 phi__json_get_uint(phi_json_get(usage, "cache_read"), 99));
    CHECK_EQ_INT(s->message.usage.cache_write,
                 phi__json_get_uint(phi_json_get(usage, "cache_write"), 99));
    CHECK_EQ_INT(s->message.usage.total_tokens,
                 phi__json_get_uint(phi_json_get(usage, "total"), 99));
    if (phi_json_is(error, PHI_JSON_NULL)) {
        CHECK_EQ_STR(phi_failure_kind_text(a->failure.kind), "");
        CHECK(a->terminal);
        return;
    }
    CHECK_EQ_STR(phi_failure_kind_text(a->failure.kind),
                 phi_json_str(phi_json_get(error, "kind"), "").at);
    check_text(a->failure.code, phi_json_get(error, "code"));
    CHECK_EQ_INT(a->failure.retryable, phi_json_bool(phi_json_get(error, "retryable"), false));
    if (phi_json_is(phi_json_get(error, "message"), PHI_JSON_STRING))
        check_text(a->failure.message, phi_json_get(error, "message"));
    else
        CHECK(a->failure.message.len > 0);
}

/* The stream cut in two at `cut`, or into single bytes where that is SIZE_MAX. */
static void decode(stream *s, const char *protocol, const char *bytes, size_t len, size_t cut) {
    size_t i;
    stream_begin(s, protocol);
    if (cut == SIZE_MAX) {
        for (i = 0; i < len; i++) stream_feed(s, bytes + i, 1);
    } else {
        stream_feed(s, bytes, cut);
        stream_feed(s, bytes + cut, len - cut);
    }
    stream_end(s);
}

static void check_fixture(const char *folder, const char *protocol, const char *name) {
    char path[300];
    char *bytes, *first, *other;
    size_t len, cut;
    stream s;
    const phi_json *want;
    snprintf(path, sizeof path, "%s/%s.%s", folder, name,
             codec_of(protocol)->frames ? "bin" : "sse");
    bytes = test_fixture(path, &len);
    if (bytes == NULL) return;
    decode(&s, protocol, bytes, len, 0);
    want = expected_of(&s, folder, name);
    if (CHECK(want != NULL)) check_answer(&s, want);
    first = answer_text(&s);
    stream_free(&s);
    for (cut = 1; cut <= len + 1; cut++) {
        decode(&s, protocol, bytes, len, cut == len + 1 ? SIZE_MAX : cut);
        other = answer_text(&s);
        if (strcmp(first, other) != 0) {
            CHECK_EQ_INT(cut, -1);
            CHECK_EQ_STR(other, first);
            cut = len + 1;
        }
        free(other);
        stream_free(&s);
    }
    free(first);
    free(bytes);
}

static void check_fixtures(const char *folder, const char *protocol, const char *const *names) {
    for (; *names != NULL; names++) check_fixture(folder, protocol, *names);
}

TEST(anthropic_streams_cut_at_every_byte_give_the_expected_answers) {
    static const char *const names[] = {"error_midstream",
                                        "parallel_tools",
                                        "redacted_omitted",
                                        "refusal",
                                        "search_paused",
                                        "search_resumed",
                                        "text",
                                        "tool_split",
                                        "truncated",
                                        "unicode_escapes",
                                        NULL};
    check_fixtures("anthropic", PHI_PROTOCOL_ANTHROPIC, names);
}

TEST(chat_streams_cut_at_every_byte_give_the_expected_answers) {
    static const char *const names[] = {"content_filter",
                                        "error_then_done",
                                        "gateway_sloppy",
                                        "groq_reasoning",
                                        "llamacpp_error_line",
                                        "lmstudio_error_event",
                                        "ollama_tool",
                                        "openrouter_reasoning_details",
                                        "parallel_tools",
                                        "text",
                                        "thinking_text_deepseek",
                                        "tool_split",
                                        "truncated",
                                        NULL};
    check_fixtures("openai-chat", PHI_PROTOCOL_OPENAI_CHAT, names);
}

TEST(gemini_streams_cut_at_every_byte_give_the_expected_answers) {
    static const char *const names[] = {
        "error_raw_tail", "malformed_call", "max_tokens", "parallel_no_ids", "text",
        "thinking_text",  "tool_call",      "truncated",  "unicode_escapes", NULL};
    check_fixtures("gemini", PHI_PROTOCOL_GOOGLE, names);
}

TEST(vertex_streams_cut_at_every_byte_give_the_expected_answers) {
    static const char *const names[] = {"error_midstream", "text", "thinking_text", "tool_split",
                                        "unicode_escapes", NULL};
    check_fixtures("vertex", PHI_PROTOCOL_VERTEX, names);
}

TEST(interactions_streams_cut_at_every_byte_give_the_expected_answers) {
    static const char *const names[] = {
        "code_execution", "error_midstream", "failed", "google_search", "incomplete",
        "parallel_tools", "sloppy",          "text",   "thinking_text", "tool_call",
        "truncated",      "unicode_escapes", NULL};
    check_fixtures("gemini-interactions", PHI_PROTOCOL_INTERACTIONS, names);
}

TEST(responses_streams_cut_at_every_byte_give_the_expected_answers) {
    static const char *const names[] = {"error_flat",
                                        "error_midstream",
                                        "failed_overflow",
                                        "keepalive_unknown",
                                        "parallel_tools",
                                        "refusal",
                                        "text",
                                        "truncated",
                                        "unicode_escapes",
                                        NULL};
    check_fixtures("openai-responses", PHI_PROTOCOL_OPENAI_RESPONSES, names);
}

TEST(azure_streams_cut_at_every_byte_give_the_expected_answers) {
    static const char *const names[] = {"error_failed", "error_midstream", "text",
                                        "tool_split",   "unicode_escapes", NULL};
    check_fixtures("azure-responses", PHI_PROTOCOL_AZURE_RESPONSES, names);
}

TEST(bedrock_streams_cut_at_every_byte_give_the_expected_answers) {
    static const char *const names[] = {"bad_message_crc",
                                        "error_midstream",
                                        "guardrail",
                                        "max_tokens",
                                        "overflow_stop",
                                        "parallel_tools",
                                        "text",
                                        "thinking_text",
                                        "tool_split",
                                        "truncated",
                                        "unicode_escapes",
                                        NULL};
    check_fixtures("bedrock", PHI_PROTOCOL_BEDROCK, names);
}

/* ---- requests ---- */

static phi_json *fixture_json(phi_arena *arena, const char *path) {
    char *text;
    size_t len;
    phi_json *root = NULL;
    text = test_fixture(path, &len);
    if (text == NULL) return NULL;
    CHECK_EQ_INT(phi_json_parse(arena, phi__str(text, len), 0, &root, NULL), PHI_OK);
    free(text);
    return root;
}

/* The canonical conversation, with the ids and the signature of one protocol. */
static void canonical(conversation *t, const phi_json *root, const char *prefix,
                      const char *signature, char ids[2][16]) {
    phi_json_iter it = phi_json_each(phi_json_get(root, "messages"));
    const phi_json *message;
    snprintf(ids[0], 16, "%s1", prefix);
    snprintf(ids[1], 16, "%s2", prefix);
    while ((message = phi_json_next(&it)) != NULL) {
        phi_str text;
        phi_message *m = talk_message(t, PHI_ROLE_USER);
        phi_content *content;
        size_t i;
        CHECK_EQ_INT(phi_json_write(&t->kept, message, 0, &text), PHI_OK);
        CHECK_EQ_INT(phi_message_from_json(text, &t->kept, m, NULL), PHI_OK);
        content = t->blocks[t->count - 1];
        memcpy(content, m->content, m->content_count * sizeof *content);
        m->content = content;
        for (i = 0; i < m->content_count; i++) {
            if (content[i].kind == PHI_CONTENT_THINKING)
                content[i].signature = phi_str_of(prefix[0] == 'x' ? "" : signature);
            if (prefix[0] == 'x' && phi__str_is(content[i].id, "<c1>")) /* Google signs the call */
                content[i].signature = phi_str_of(signature);
            if (content[i].kind == PHI_CONTENT_TEXT && signature[0] == '{')
                content[i].replay = phi_str_of("{\"id\":\"msg_1\"}");
            if (content[i].kind != PHI_CONTENT_TOOL_CALL) continue;
            if (signature[0] == '{')
                content[i].replay = phi_str_of(
                    phi__str_is(content[i].id, "<c1>") ? "{\"id\":\"fc_1\"}" : "{\"id\":\"fc_2\"}");
            content[i].id = phi_str_of(ids[phi__str_is(content[i].id, "<c1>") ? 0 : 1]);
        }
        if (m->role == PHI_ROLE_TOOL_RESULT)
            m->tool_call_id = phi_str_of(ids[phi__str_is(m->tool_call_id, "<c1>") ? 0 : 1]);
        m->model = phi_str_of(t->model.id);
        m->provider = phi_str_of(t->model.provider);
    }
}

static void check_request(phi_model model, const char *fixture, const char *prefix,
                          const char *signature) {
    conversation t;
    phi_json *root, *want;
    char ids[2][16];
    phi__tool_view tools[2];
    size_t i;
    phi_json_iter headers;
    const phi_json *value;
    char *first;
    talk_begin(&t, model);
    root = fixture_json(&t.kept, "requests/canonical.json");
    want = root != NULL ? fixture_json(&t.kept, fixture) : NULL;
    if (want == NULL) {
        talk_free(&t);
        return;
    }
    canonical(&t, root, prefix, signature, ids);
    memset(tools, 0, sizeof tools);
    for (i = 0; i < 2; i++) {
        const phi_json *tool = phi_json_at(phi_json_get(root, "tools"), i);
        tools[i].name = phi_json_str(phi_json_get(tool, "name"), "");
        tools[i].description = phi_json_str(phi_json_get(tool, "description"), "");
        CHECK_EQ_INT(phi_json_write(&t.kept, phi_json_get(tool, "schema"), 0, &tools[i].schema), 0);
    }
    t.spec.tools = tools;
    t.spec.tool_count = 2;
    t.spec.system_prompt = phi_json_str(phi_json_get(root, "system"), "");
    t.spec.max_tokens = 4096;
    t.spec.thinking = PHI_THINKING_MEDIUM;
    t.spec.session_id = phi_str_of("session-1");
    CHECK_EQ_INT(phi__preflight(codec_of(model.protocol), &t.spec, NULL, 0), PHI_OK);
    talk_render_ok(&t);
    if (!CHECK(phi__json_get_equal(t.tree, phi_json_get(want, "body")))) printf("%s\n", t.body);
    CHECK(phi__str_find(phi_request_get_info(&t.encoder.request).url, 0,
                        phi_json_str(phi_json_get(want, "request_line"), "").at + 5) != SIZE_MAX);
    headers = phi_json_each(phi_json_get(want, "headers"));
    while ((value = phi_json_next(&headers)) != NULL) {
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)headers.key.len, headers.key.at);
        if (phi__str_starts(phi_json_str(value, ""), "AWS4")) /* or a bearer */
            CHECK_EQ_STR(talk_header(&t, name), "Bearer K");
        else
            CHECK_EQ_STR(talk_header(&t, name), phi_json_str(value, "").at);
    }
    first = strdup(t.body); /* again: from kept pieces, and one message a step */
    CHECK_EQ_INT(talk_render(&t, 1), PHI_OK);
    CHECK_EQ_STR(t.body, first);
    for (i = 0; i < t.count; i++) t.rendered[i] = NULL;
    CHECK_EQ_INT(talk_render(&t, 1), PHI_OK);
    CHECK_EQ_STR(t.body, first);
    free(first);
    talk_free(&t);
}

TEST(the_canonical_conversation_is_the_expected_anthropic_request) {
    check_request(phi_model_anthropic("claude-sonnet-4-6", "K"), "requests/anthropic.json",
                  "toolu_", "EqQBSig==");
}

TEST(the_canonical_conversation_is_the_expected_chat_request) {
    check_request(phi_model_openai("gpt-5-mini", "K"), "requests/openai-chat.json", "call_",
                  "reasoning_content");
}

TEST(the_canonical_conversation_is_the_expected_gemini_request) {
    check_request(phi_model_google("gemini-3-pro-preview", "K"), "requests/gemini.json", "x",
                  "U2lnMQ==");
}

TEST(the_canonical_conversation_is_the_expected_vertex_request) {
    check_request(
        phi_model_vertex("https://aiplatform.googleapis.com/v1/projects/P/locations/global",
                         "gemini-3-pro-preview", "T"),
        "requests/vertex.json", "x", "U2lnMQ==");
}

TEST(the_canonical_conversation_is_the_expected_interactions_request) {
    check_request(phi_model_interactions("gemini-3-pro-preview", "K"),
                  "requests/gemini-interactions.json", "ix", "U2lnMQ==");
}

static const char reasoning_item[] =
    "{\"type\":\"reasoning\",\"id\":\"rs_1\",\"summary\":[{\"type\":\"summary_text\",\"text\":"
    "\"Need the file.\"}],\"encrypted_content\":\"gAAAA==\"}";

TEST(the_canonical_conversation_is_the_expected_responses_request) {
    check_request(phi_model_openai_responses("gpt-5-mini", "K"), "requests/openai-responses.json",
                  "call_", reasoning_item);
}

TEST(the_canonical_conversation_is_the_expected_azure_request) {
    check_request(
        phi_model_azure("https://RES.openai.azure.com/openai/v1", "my-gpt5-deployment", "K"),
        "requests/azure-responses.json", "call_", reasoning_item);
}

TEST(the_canonical_conversation_is_the_expected_bedrock_request) {
    check_request(phi_model_bedrock(NULL, "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "K"),
                  "requests/bedrock.json", "tooluse_", "EqQBSig==");
}

/* ---- errors ---- */

static void check_error(phi_arena *arena, const phi_json *one) {
    phi_model model = phi_model_openai("m", "K");
    phi_failure got;
    const phi_json *want = phi_json_get(one, "expected"), *value;
    const phi_json *delay = phi_json_get(want, "retry_after_ms");
    phi_json_iter it = phi_json_each(phi_json_get(one, "headers"));
    phi__buf headers;
    phi__buf_init(&headers, arena->memory);
    if (phi__str_is(phi_json_str(phi_json_get(one, "provider"), ""), "cerebras"))
        model = phi_model_preset("cerebras", "m", "K");
    while ((value = phi_json_next(&it)) != NULL)
        phi__buf_printf(&headers, "%.*s: %s\r\n", (int)it.key.len, it.key.at,
                        phi_json_str(value, "").at);
    phi__classify(&model, (int)phi_json_int(phi_json_get(one, "status"), 0), phi__buf_str(&headers),
                  phi_json_str(phi_json_get(one, "body"), ""), arena, &got);
    phi__buf_free(&headers);
    printf("  %s\n", phi_json_str(phi_json_get(one, "name"), "").at);
    CHECK_EQ_STR(phi_failure_kind_text(got.kind), phi_json_str(phi_json_get(want, "kind"), "").at);
    CHECK_EQ_INT(got.retryable, phi_json_bool(phi_json_get(want, "retryable"), false));
    CHECK_EQ_INT(got.has_retry_after, phi_json_is(delay, PHI_JSON_NUMBER));
    CHECK_EQ_INT(got.retry_after_ms, phi__json_get_uint(delay, 0));
    check_text(got.code, phi_json_get(want, "code"));
    CHECK(got.message.len > 0);
}

TEST(http_errors_are_classified_as_the_cases_say) {
    phi_allocator allocator = test_allocator();
    phi_memory memory;
    phi_arena arena;
    const phi_json *one;
    phi_json_iter it;
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
    it = phi_json_each(fixture_json(&arena, "http_errors/cases.json"));
    while ((one = phi_json_next(&it)) != NULL) check_error(&arena, one);
    phi_arena_free(&arena);
}

TEST_MAIN(TEST_ENTRY(anthropic_streams_cut_at_every_byte_give_the_expected_answers),
          TEST_ENTRY(chat_streams_cut_at_every_byte_give_the_expected_answers),
          TEST_ENTRY(the_canonical_conversation_is_the_expected_anthropic_request),
          TEST_ENTRY(the_canonical_conversation_is_the_expected_chat_request),
          TEST_ENTRY(gemini_streams_cut_at_every_byte_give_the_expected_answers),
          TEST_ENTRY(vertex_streams_cut_at_every_byte_give_the_expected_answers),
          TEST_ENTRY(the_canonical_conversation_is_the_expected_gemini_request),
          TEST_ENTRY(the_canonical_conversation_is_the_expected_vertex_request),
          TEST_ENTRY(interactions_streams_cut_at_every_byte_give_the_expected_answers),
          TEST_ENTRY(the_canonical_conversation_is_the_expected_interactions_request),
          TEST_ENTRY(responses_streams_cut_at_every_byte_give_the_expected_answers),
          TEST_ENTRY(azure_streams_cut_at_every_byte_give_the_expected_answers),
          TEST_ENTRY(the_canonical_conversation_is_the_expected_responses_request),
          TEST_ENTRY(the_canonical_conversation_is_the_expected_azure_request),
          TEST_ENTRY(bedrock_streams_cut_at_every_byte_give_the_expected_answers),
          TEST_ENTRY(the_canonical_conversation_is_the_expected_bedrock_request),
          TEST_ENTRY(http_errors_are_classified_as_the_cases_say))
