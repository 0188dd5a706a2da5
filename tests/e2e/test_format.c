/* test_format.c - answers that are JSON over loopback HTTP, in every protocol: the strict mock takes the
   request, whichever way the format goes, and the host reads the same tree. */
#include "e2e/e2e.h"
#include "wire/structured.h"
#include "agent/agent_history.h"
#include "log/thread.h"
#include "model/message.h"
#include "text/text_in.h"

#define SCHEMA                                                                                     \
    "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\",\"minimum\":1},"             \
    "\"why\":{\"type\":\"string\"}},\"required\":[\"n\"]}"

typedef struct target {
    const char *protocol, *provider, *id, *base; /* base: behind the scenario */
    uint64_t quirks;
    bool reasoning;
} target;

/* The protocols, then those where the tool stands in. */
static const target targets[] = {
    {PHI_PROTOCOL_ANTHROPIC, "anthropic", "claude-sonnet-4-5", "", 0, false},
    {PHI_PROTOCOL_OPENAI_CHAT, "openai", "gpt-4.1-mini", "/v1", 0, false},
    {PHI_PROTOCOL_OPENAI_RESPONSES, "openai", "gpt-4.1-mini", "/v1", 0, false},
    {PHI_PROTOCOL_AZURE_RESPONSES, "azure", "my-deployment", "/openai/v1", 0, false},
    {PHI_PROTOCOL_GOOGLE, "google", "gemini-3-pro-preview", "/v1beta", 0, false},
    {PHI_PROTOCOL_VERTEX, "vertex", "gemini-3-pro-preview", "/v1/projects/p/locations/global", 0,
     false},
    {PHI_PROTOCOL_INTERACTIONS, "google", "gemini-3-pro-preview", "/v1beta", 0, false},
    {PHI_PROTOCOL_BEDROCK, "bedrock", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "", 0, false},
    {PHI_PROTOCOL_ANTHROPIC, "anthropic", "claude-3-5-haiku-20241022", "", 0, false},
    {PHI_PROTOCOL_ANTHROPIC, "anthropic", "claude-opus-4-6", "", 0, true},
    {PHI_PROTOCOL_OPENAI_CHAT, "deepseek", "deepseek-chat", "/v1",
     PHI_QUIRK_NO_JSON_SCHEMA | PHI_QUIRK_EMPTY_CONTENT, false},
    {PHI_PROTOCOL_OPENAI_CHAT, "local", "mock-local", "/v1", PHI_QUIRK_FORMAT_ALONE, false},
    {PHI_PROTOCOL_GOOGLE, "google", "gemini-2.5-flash", "/v1beta", 0, true},
    {PHI_PROTOCOL_INTERACTIONS, "google", "gemini-2.5-flash", "/v1beta", 0, true},
    {PHI_PROTOCOL_BEDROCK, "bedrock", "anthropic.claude-3-5-sonnet-20241022-v2:0", "", 0, false}};
enum { TARGETS = sizeof targets / sizeof targets[0] };

static seen *agent_at(crowd *c, const target *t, const char *path, phi_format format,
                      bool with_tools) {
    phi_agent_desc desc = e2e_desc(E2E_ANTHROPIC, "");
    char url[400];
    memset(&desc.model, 0, sizeof desc.model);
    (void)snprintf(url, sizeof url, "%s%s", mock_url(path), t->base);
    desc.model.protocol = t->protocol;
    desc.model.provider = t->provider;
    desc.model.id = t->id;
    desc.model.base_url = url;
    desc.model.api_key = "a-key";
    desc.model.quirks = t->quirks;
    desc.model.reasoning = t->reasoning;
    desc.thinking = t->reasoning ? PHI_THINKING_LOW : PHI_THINKING_OFF;
    desc.tool_count = with_tools ? 2 : 0;
    desc.format = format;
    return crowd_add(c, &desc, t->id);
}

/* The last message as a tree that fits the format. */
static bool reads(seen *s, const phi_format *format) {
    phi_allocator allocator = test_allocator();
    phi_memory memory;
    phi_arena arena;
    phi_json *json = NULL;
    char words[300];
    const phi_message *last = phi_thread_message_at(
        phi_agent_thread(s->agent), phi_thread_message_count(phi_agent_thread(s->agent)) - 1);
    bool good;
    phi_memory_init(&memory, &allocator, 0);
    phi_arena_init(&arena, &memory, 0);
    good =
        CHECK_EQ_INT(phi_message_json(last, format, &arena, &json, words, sizeof words), PHI_OK) &&
        CHECK_EQ_INT(phi_json_int(phi_json_get(json, "n"), 0), 42);
    if (!good) printf("  %s\n", words);
    good = CHECK_EQ_INT(last->stop_reason, PHI_STOP_REASON_STOP) && good;
    phi_arena_free(&arena);
    return good;
}

static void answers_in_all(const char *path, phi_format format, bool with_tools) {
    size_t i;
    for (i = 0; i < TARGETS; i++) {
        crowd *c = crowd_new(NULL);
        seen *s = c != NULL ? agent_at(c, &targets[i], path, format, with_tools) : NULL;
        bool good = s != NULL && crowd_ask(s, "Begin.");
        good = good && CHECK_EQ_INT(s->status, PHI_OK) && reads(s, &format);
        /* once more, with the answer in the history */
        good = good && crowd_ask(s, "And again?") && CHECK_EQ_INT(s->status, PHI_OK) &&
               reads(s, &format) && CHECK(crowd_history_holds(s));
        if (!CHECK(good))
            printf("  %s %s: %s\n", targets[i].provider, targets[i].id,
                   s != NULL ? s->failure_text : "no agent");
        if (c != NULL) crowd_free(c);
    }
}

static phi_format format_of(phi_format_kind kind, bool strict) {
    phi_format format;
    memset(&format, 0, sizeof format);
    format.kind = kind;
    if (kind == PHI_FORMAT_JSON_SCHEMA) format.schema = SCHEMA;
    format.strict = strict;
    return format;
}

TEST(a_schema_is_answered_in_every_protocol) {
    answers_in_all("/s/answer", format_of(PHI_FORMAT_JSON_SCHEMA, false), false);
}

TEST(a_strict_schema_is_answered_in_every_protocol) {
    answers_in_all("/s/answer", format_of(PHI_FORMAT_JSON_SCHEMA, true), true);
}

TEST(any_object_is_answered_in_every_protocol_byte_by_byte) {
    answers_in_all("/m/bytes/s/answer", format_of(PHI_FORMAT_JSON_OBJECT, false), false);
}

TEST(tools_run_before_the_answer_in_every_protocol) {
    answers_in_all("/s/answer-later", format_of(PHI_FORMAT_JSON_SCHEMA, false), true);
}

MOCK_MAIN(e2e_options, TEST_ENTRY(a_schema_is_answered_in_every_protocol),
          TEST_ENTRY(a_strict_schema_is_answered_in_every_protocol),
          TEST_ENTRY(any_object_is_answered_in_every_protocol_byte_by_byte),
          TEST_ENTRY(tools_run_before_the_answer_in_every_protocol))
