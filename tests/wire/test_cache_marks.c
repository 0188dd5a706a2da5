/* test_cache_marks.c - which marks of prompt caching each mode sends, in the three protocols that
   want marks, and the key that it lives by in those that want one. */
#include "wire/wire_support.h"

#define CLAUDE "us.anthropic.claude-sonnet-4-5-20250929-v1:0"

enum { SYSTEM = 1, TOOLS = 2, MESSAGES = 4 };

static phi__tool_view tool(const char *name) {
    phi__tool_view view;
    memset(&view, 0, sizeof view);
    view.name = phi_str_of(name);
    view.description = phi_str_of("Does it");
    view.schema = phi_str_of("{\"type\":\"object\",\"properties\":{}}");
    return view;
}

static int count(const char *text, const char *what) {
    int n = 0;
    for (text = strstr(text, what); text != NULL; text = strstr(text + 1, what)) n++;
    return n;
}

/* A conversation whose last user block is a result. */
static void rendered(conversation *t, phi_model model, phi_cache cache) {
    static phi__tool_view tools[2];
    tools[0] = tool("read");
    tools[1] = tool("write");
    talk_begin(t, model);
    t->spec.system_prompt = phi_str_of("Be brief.");
    t->spec.session_id = phi_str_of("session-1");
    t->spec.tools = tools;
    t->spec.tool_count = 2;
    t->spec.cache = cache;
    talk_user(t, "Read it.");
    talk_assistant(t);
    talk_call(t, "a", "read", "{}");
    talk_result(t, "a", "read", "It is empty.");
    talk_user(t, "Go on.");
    talk_render_ok(t);
}

static phi_cache marks_of(phi_cache_mode mode, int which) {
    phi_cache cache;
    memset(&cache, 0, sizeof cache);
    cache.mode = mode;
    cache.system = (which & SYSTEM) != 0;
    cache.tools = (which & TOOLS) != 0;
    cache.messages = (which & MESSAGES) != 0;
    return cache;
}

static void check_anthropic(phi_cache cache, int want) {
    conversation t;
    rendered(&t, phi_model_anthropic("claude-sonnet-4-5", "K"), cache);
    CHECK_EQ_STR(talk_at(&t, "system[0].cache_control.type"), want & SYSTEM ? "\"ephemeral\"" : "");
    CHECK_EQ_STR(talk_at(&t, "tools[0].cache_control.type"), "");
    CHECK_EQ_STR(talk_at(&t, "tools[1].cache_control.type"), want & TOOLS ? "\"ephemeral\"" : "");
    CHECK_EQ_STR(talk_at(&t, "messages[2].content[1].cache_control.type"),
                 want & MESSAGES ? "\"ephemeral\"" : "");
    CHECK_EQ_INT(count(t.body, "cache_control"),
                 !!(want & SYSTEM) + !!(want & TOOLS) + !!(want & MESSAGES));
    talk_free(&t);
}

static void check_bedrock(phi_cache cache, int want) {
    static const char point[] = "{\"cachePoint\":{\"type\":\"default\"}}";
    conversation t;
    rendered(&t, phi_model_bedrock(NULL, CLAUDE, "K"), cache);
    CHECK_EQ_STR(talk_at(&t, "system[1]"), want & SYSTEM ? point : "");
    CHECK_EQ_STR(talk_at(&t, "toolConfig.tools[2]"), want & TOOLS ? point : "");
    CHECK_EQ_STR(talk_at(&t, "messages[2].content[2]"), want & MESSAGES ? point : "");
    CHECK_EQ_INT(count(t.body, "cachePoint"),
                 !!(want & SYSTEM) + !!(want & TOOLS) + !!(want & MESSAGES));
    talk_free(&t);
}

/* Tools have no marks of their own here: they stand before the system prompt, whose mark holds them, too. */
static void check_chat(phi_cache cache, int want) {
    conversation t;
    rendered(&t, phi_model_preset("openrouter", "anthropic/claude-sonnet-4.5", "K"), cache);
    CHECK_EQ_STR(talk_at(&t, "messages[0].content[0].cache_control.type"),
                 want & SYSTEM ? "\"ephemeral\"" : "");
    CHECK_EQ_STR(talk_at(&t, "messages[4].content[0].cache_control.type"),
                 want & MESSAGES ? "\"ephemeral\"" : "");
    CHECK_EQ_INT(count(t.body, "cache_control"), !!(want & SYSTEM) + !!(want & MESSAGES));
    talk_free(&t);
}

static void check_all(phi_cache cache, int want) {
    check_anthropic(cache, want);
    check_bedrock(cache, want);
    check_chat(cache, want);
}

TEST(without_a_word_all_three_marks_are_sent) {
    check_all(marks_of(PHI_CACHE_AUTO, 0), SYSTEM | TOOLS | MESSAGES);
    check_all(marks_of(PHI_CACHE_AUTO, TOOLS), SYSTEM | TOOLS | MESSAGES);
}

TEST(caching_that_is_disabled_sends_none) {
    check_all(marks_of(PHI_CACHE_DISABLED, 0), 0);
    check_all(marks_of(PHI_CACHE_DISABLED, SYSTEM | TOOLS | MESSAGES), 0);
}

TEST(manual_marks_are_those_that_are_set) {
    int which;
    for (which = 0; which < 8; which++) check_all(marks_of(PHI_CACHE_MANUAL, which), which);
}

TEST(marks_of_an_hour_say_so_in_all_places) {
    static const char hour[] = "{\"type\":\"ephemeral\",\"ttl\":\"1h\"}";
    static const char point[] = "{\"cachePoint\":{\"type\":\"default\",\"ttl\":\"1h\"}}";
    phi_cache cache = marks_of(PHI_CACHE_AUTO, 0);
    conversation t;
    cache.one_hour = true;
    rendered(&t, phi_model_anthropic("claude-sonnet-4-5", "K"), cache);
    CHECK_EQ_STR(talk_at(&t, "system[0].cache_control"), hour);
    CHECK_EQ_STR(talk_at(&t, "tools[1].cache_control"), hour);
    CHECK_EQ_STR(talk_at(&t, "messages[2].content[1].cache_control"), hour);
    talk_free(&t);
    rendered(&t, phi_model_bedrock(NULL, CLAUDE, "K"), cache);
    CHECK_EQ_STR(talk_at(&t, "system[1]"), point);
    CHECK_EQ_STR(talk_at(&t, "toolConfig.tools[2]"), point);
    CHECK_EQ_STR(talk_at(&t, "messages[2].content[2]"), point);
    talk_free(&t);
    rendered(&t, phi_model_preset("openrouter", "anthropic/claude-sonnet-4.5", "K"), cache);
    CHECK_EQ_STR(talk_at(&t, "messages[0].content[0].cache_control"), hour);
    CHECK_EQ_STR(talk_at(&t, "messages[4].content[0].cache_control"), hour);
    talk_free(&t);
}

TEST(bedrocks_models_without_marks_of_an_hour_get_those_of_five_minutes) {
    static const char point[] = "{\"cachePoint\":{\"type\":\"default\"}}";
    phi_cache cache = marks_of(PHI_CACHE_AUTO, 0);
    conversation t;
    cache.one_hour = true;
    rendered(&t, phi_model_bedrock(NULL, "anthropic.claude-3-7-sonnet-20250219-v1:0", "K"), cache);
    CHECK_EQ_STR(talk_at(&t, "system[1]"), point);
    CHECK_EQ_STR(talk_at(&t, "toolConfig.tools[2]"), point);
    CHECK_EQ_STR(talk_at(&t, "messages[2].content[2]"), point);
    talk_free(&t);
}

static void check_key(phi_model model, phi_cache cache, const char *want) {
    conversation t;
    rendered(&t, model, cache);
    CHECK_EQ_STR(talk_at(&t, "prompt_cache_key"), want);
    talk_free(&t);
}

TEST(the_key_of_the_cache_is_the_session_unless_caching_is_disabled) {
    phi_model chat = phi_model_openai("gpt-4.1-mini", "K");
    phi_model responses = phi_model_openai_responses("gpt-4.1-mini", "K");
    check_key(chat, marks_of(PHI_CACHE_AUTO, 0), "\"session-1\"");
    check_key(chat, marks_of(PHI_CACHE_MANUAL, 0), "\"session-1\"");
    check_key(chat, marks_of(PHI_CACHE_DISABLED, 0), "");
    check_key(responses, marks_of(PHI_CACHE_AUTO, 0), "\"session-1\"");
    check_key(responses, marks_of(PHI_CACHE_MANUAL, 0), "\"session-1\"");
    responses.quirks &= ~(uint32_t)PHI_QUIRK_CACHE_KEY;
    check_key(responses, marks_of(PHI_CACHE_AUTO, 0), "");
    check_key(responses, marks_of(PHI_CACHE_DISABLED, 0), "");
}

static const phi__tool_view two_tools[2] = {
    {{"first", 5}, {"One", 3}, {"{\"type\":\"object\"}", 17}, false, NULL, false, {NULL, 0}, false},
    {{"second", 6},
     {"Two", 3},
     {"{\"type\":\"object\"}", 17},
     false,
     NULL,
     false,
     {NULL, 0},
     false},
};

static int marks_in(const conversation *t) {
    int n = 0;
    const char *at = t->body;
    while ((at = strstr(at, "\"cache_control\":{\"type\":\"ephemeral\"}")) != NULL) {
        at++;
        n++;
    }
    return n;
}

static void cached_talk(conversation *t) {
    talk_begin(t, phi_model_anthropic("claude-sonnet-4-5", "K"));
    t->spec.system_prompt = phi_str_of("You are a test.");
    t->spec.tools = two_tools;
    t->spec.tool_count = 2;
    talk_user(t, "one");
}

#define EPHEMERAL "{\"type\":\"ephemeral\"}"

/* The checklist marks the last message but one; wire.md 1.11 marks the last user block: both hit, and
   the last saves one turn more. */
TEST(the_system_prompt_the_last_tool_and_the_last_user_block_are_marked) {
    conversation t;
    cached_talk(&t);
    talk_text(&t, "and more");
    talk_render_ok(&t);
    CHECK_EQ_INT(marks_in(&t), 3);
    CHECK_EQ_STR(talk_at(&t, "system[0].cache_control"), EPHEMERAL);
    CHECK_EQ_STR(talk_at(&t, "tools[0].cache_control"), "");
    CHECK_EQ_STR(talk_at(&t, "tools[1].cache_control"), EPHEMERAL);
    CHECK_EQ_STR(talk_at(&t, "messages[0].content[0].cache_control"), "");
    CHECK_EQ_STR(talk_at(&t, "messages[0].content[1].cache_control"), EPHEMERAL);
    (void)talk_assistant(&t);
    talk_text(&t, "two");
    talk_user(&t, "three");
    talk_render_ok(&t);
    CHECK_EQ_INT(marks_in(&t), 3);
    CHECK_EQ_STR(talk_at(&t, "messages[0].content[1].cache_control"), "");
    CHECK_EQ_STR(talk_at(&t, "messages[1].content[0].cache_control"), "");
    CHECK_EQ_STR(talk_at(&t, "messages[2].content[0].cache_control"), EPHEMERAL);
    talk_free(&t);
}

TEST(the_last_of_several_results_is_marked) {
    conversation t;
    cached_talk(&t);
    (void)talk_assistant(&t);
    talk_call(&t, "a", "first", "{}");
    talk_call(&t, "b", "second", "{}");
    (void)talk_result(&t, "a", "first", "1");
    (void)talk_result(&t, "b", "second", "2");
    talk_render_ok(&t);
    CHECK_EQ_INT(marks_in(&t), 3);
    CHECK_EQ_STR(talk_at(&t, "messages[2].content[0].cache_control"), "");
    CHECK_EQ_STR(talk_at(&t, "messages[2].content[1].cache_control"), EPHEMERAL);
    talk_free(&t);
}

TEST(what_stands_before_a_mark_is_the_same_bytes_a_turn_later) {
    conversation t;
    char before[4000];
    const char *mark;
    size_t len;
    cached_talk(&t);
    talk_render_ok(&t);
    (void)snprintf(before, sizeof before, "%s", t.body);
    mark = strstr(before, ",\"cache_control\":{\"type\":\"ephemeral\"}}]}]");
    REQUIRE(mark != NULL && strstr(before, "\"tools\"") < mark &&
            strstr(before, "\"system\"") < mark);
    len = (size_t)(mark - before);
    (void)talk_assistant(&t);
    talk_text(&t, "two");
    talk_user(&t, "three");
    talk_render_ok(&t);
    CHECK(strncmp(t.body, before, len) == 0);
    talk_free(&t);
}

TEST_MAIN(TEST_ENTRY(without_a_word_all_three_marks_are_sent),
          TEST_ENTRY(caching_that_is_disabled_sends_none),
          TEST_ENTRY(manual_marks_are_those_that_are_set),
          TEST_ENTRY(marks_of_an_hour_say_so_in_all_places),
          TEST_ENTRY(bedrocks_models_without_marks_of_an_hour_get_those_of_five_minutes),
          TEST_ENTRY(the_key_of_the_cache_is_the_session_unless_caching_is_disabled),
          TEST_ENTRY(the_system_prompt_the_last_tool_and_the_last_user_block_are_marked),
          TEST_ENTRY(the_last_of_several_results_is_marked),
          TEST_ENTRY(what_stands_before_a_mark_is_the_same_bytes_a_turn_later))
