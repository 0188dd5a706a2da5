/* test_seven.c - each protocol once around over loopback HTTP: a conversation with a tool, a failure that
   is tried again, a stream that breaks, an abort. A protocol that the library does not speak is
   reported as skipped, and the others go on. */
#include "e2e/e2e.h"
#include "io/io_in.h"
#include "loop/loop_in.h"
#include "support/request.h"
#include "agent/agent_history.h"
#include "support/set.h"

#define ANSWER "I look.It is 42." /* of the scenario "lookup", with one call between */

typedef struct protocol {
    const char *protocol, *provider, *id, *base; /* base: behind the scenario */
} protocol;

static const protocol protocols[] = {
    {PHI_PROTOCOL_ANTHROPIC, "anthropic", "claude-sonnet-4-5", ""},
    {PHI_PROTOCOL_OPENAI_CHAT, "openai", "gpt-4.1-mini", "/v1"},
    {PHI_PROTOCOL_OPENAI_RESPONSES, "openai", "gpt-4.1-mini", "/v1"},
    {PHI_PROTOCOL_AZURE_RESPONSES, "azure", "my-deployment", "/openai/v1"},
    {PHI_PROTOCOL_GOOGLE, "google", "gemini-3-pro-preview", "/v1beta"},
    {PHI_PROTOCOL_VERTEX, "vertex", "gemini-3-pro-preview", "/v1/projects/p/locations/global"},
    {PHI_PROTOCOL_INTERACTIONS, "google", "gemini-3-pro-preview", "/v1beta"},
    {PHI_PROTOCOL_INTERACTIONS, "vertex", "gemini-2.5-flash",
     "/v1beta1/projects/p/locations/global"},
    {PHI_PROTOCOL_BEDROCK, "bedrock", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", ""}};
enum { PROTOCOLS = sizeof protocols / sizeof protocols[0] };

/* A path of the mock whose %s becomes the protocol's name, and what the protocol adds. */
static phi_model model_at(const protocol *p, const char *path, const char *key, char url[400]) {
    phi_model model = PHI_ZERO;
    char at[300];
    (void)snprintf(at, sizeof at, path, p->protocol);
    (void)snprintf(url, 400, "%s%s", mock_url(at), p->base);
    model.protocol = p->protocol;
    model.provider = p->provider;
    model.id = p->id;
    model.base_url = url;
    model.api_key = key;
    return model;
}

/* An agent that speaks the protocol, and tries again soon; NULL: the library does not speak it. */
static seen *agent_at(crowd *c, const protocol *p, const char *path, const char *key) {
    phi_agent_desc desc = e2e_desc(E2E_ANTHROPIC, "");
    phi_agent trial;
    char url[400];
    desc.model = model_at(p, path, key, url);
    desc.retry.disable = false;
    desc.retry.initial_delay_ms = 20;
    trial = phi_agent_new(crowd_runtime(c), &desc);
    if (trial.rt == NULL && phi_last_error(crowd_runtime(c)).status == PHI_UNSUPPORTED) return NULL;
    if (trial.rt != NULL) phi_agent_free(trial);
    return crowd_add(c, &desc, p->protocol);
}

/* A step that does all there is to do, however slow the machine is. */
static crowd *roomy_crowd(void) {
    phi_runtime_desc rt = PHI_ZERO;
    rt.step_budget_us = 1000000;
    rt.step_budget_bytes = 65536;
    return crowd_new(&rt);
}

static bool answered(seen *s, int retries) {
    bool good = CHECK_EQ_INT(s->status, PHI_OK);
    good = CHECK_EQ_STR(s->text, ANSWER) && good;
    good = CHECK_EQ_INT(s->retries, retries) && good;
    good = CHECK_EQ_INT(s->events[PHI_EV_TOOL_START], 1) && good;
    good = CHECK(crowd_history_holds(s)) && good;
    if (!good) printf("  %s: %s %s\n", s->name, s->failure_text, s->retry_text);
    return good;
}

/* Runs "lookup" at a path in one protocol; the agent is asked once more, with all of its history. */
static void looks_up(size_t i, const char *path, const char *key, int retries, bool *spoken) {
    crowd *c = roomy_crowd();
    seen *s = c != NULL ? agent_at(c, &protocols[i], path, key) : NULL;
    *spoken = s != NULL;
    if (s != NULL && crowd_ask(s, "Begin.") && answered(s, retries)) {
        CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(s->agent)), 4);
        if (crowd_ask(s, "And again?") && answered(s, 0))
            CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(s->agent)), 8);
    }
    if (c != NULL) crowd_free(c);
}

static void in_all(const char *path, int retries) {
    size_t i;
    int silent = 0;
    e2e_forget();
    for (i = 0; i < PROTOCOLS; i++) {
        bool spoken;
        looks_up(i, path, "a-key", retries, &spoken);
        if (!spoken) printf("  not spoken: %s\n", protocols[i].protocol);
        silent += !spoken;
    }
    if (silent > 0) test_skip("not every protocol is spoken");
}

TEST(a_conversation_with_a_tool_ends_well_in_every_protocol) { in_all("/s/lookup", 0); }

TEST(a_stream_of_single_bytes_is_read_in_every_protocol) { in_all("/m/bytes/s/lookup", 0); }

/* What "double" hears of its argument, and its start: "/n=21;start;" for each call. */
static char heard[200];

static void hear(void *user_data, const phi_field *field) {
    size_t at = strlen(heard);
    (void)user_data;
    (void)snprintf(heard + at, sizeof heard - at, "%.*s=%.*s;", (int)field->path.len,
                   field->path.at, (int)field->value.len, field->value.at);
}

static phi_flow hear_start(void *user_data, phi_call call, phi_str arguments) {
    size_t at = strlen(heard);
    (void)snprintf(heard + at, sizeof heard - at, "start;");
    return e2e_double(user_data, call, arguments);
}

TEST(values_of_arguments_are_told_before_a_call_starts_in_every_protocol) {
    size_t i;
    for (i = 0; i < PROTOCOLS; i++) {
        crowd *c = roomy_crowd();
        seen *s = c != NULL ? agent_at(c, &protocols[i], "/m/bytes/s/lookup", "a-key") : NULL;
        phi_tool tool = e2e_tools()[0];
        tool.start = hear_start;
        tool.on_field = hear;
        heard[0] = '\0';
        if (s != NULL && CHECK_EQ_INT(set_tools(s->agent, &tool, 1), PHI_OK) &&
            crowd_ask(s, "Begin.") && answered(s, 0) && !CHECK_EQ_STR(heard, "/n=21;start;"))
            printf("  %s\n", s->name);
        if (c != NULL) crowd_free(c);
    }
}

TEST(keep_alives_between_the_events_are_no_events_in_any_protocol) {
    in_all("/m/pings+unknown/s/lookup", 0);
}

TEST(a_429_that_says_when_is_waited_out_in_every_protocol) {
    in_all("/m/status=429+retry-after=0.1+times=1,a%s/s/lookup", 1);
}

TEST(a_stream_that_is_cut_is_tried_again_in_every_protocol) {
    in_all("/m/cut=1+times=1,c%s/s/lookup", 1);
}

TEST(an_error_in_mid_stream_is_tried_again_in_every_protocol) {
    in_all("/m/overloaded=1+times=1,o%s/s/lookup", 1);
}

TEST(thinking_goes_back_whole_in_every_protocol) {
    size_t i;
    for (i = 0; i < PROTOCOLS; i++) {
        crowd *c = roomy_crowd();
        seen *s = c != NULL ? agent_at(c, &protocols[i], "/s/lookup-thinking", "a-key") : NULL;
        if (s != NULL && crowd_ask(s, "Begin.") && !answered(s, 0)) printf("  with thinking\n");
        if (s != NULL) CHECK_EQ_STR(s->thinking, "Double it.");
        if (c != NULL) crowd_free(c);
    }
}

TEST(a_wrong_key_is_refused_in_every_protocol) {
    size_t i;
    for (i = 0; i < PROTOCOLS; i++) {
        crowd *c = roomy_crowd();
        seen *s = c != NULL ? agent_at(c, &protocols[i], "/s/hello", "bad-key") : NULL;
        if (s != NULL && crowd_ask(s, "Begin.")) {
            if (!CHECK_EQ_INT(s->failure.kind, PHI_FAILURE_AUTH))
                printf("  %s: %s\n", s->name, s->failure_text);
            CHECK_EQ_INT(s->retries, 0);
        }
        if (c != NULL) crowd_free(c);
    }
}

TEST(bedrock_takes_a_signature_made_with_the_key_pair) {
    bool spoken;
    looks_up(PROTOCOLS - 1, "/s/lookup", "AKIDEXAMPLE:wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", 0,
             &spoken);
    if (!spoken) test_skip("Bedrock is not spoken");
}

TEST(steps_of_a_hosted_search_go_back_to_interactions) {
    crowd *c = roomy_crowd();
    seen *s = c != NULL ? agent_at(c, &protocols[6], "/s/searched", "a-key") : NULL;
    int i;
    for (i = 0; s != NULL && i < 3 && crowd_ask(s, "Does it rain?"); i++) {
        CHECK_EQ_INT(s->status, PHI_OK);
        CHECK_EQ_STR(s->text, "It rains.");
    }
    if (s != NULL) {
        char *body = mock_ask("GET", "/_body");
        CHECK_EQ_STR(protocols[6].protocol, PHI_PROTOCOL_INTERACTIONS);
        for (i = 0; i < 2; i++) {
            char want[400];
            (void)snprintf(want, sizeof want,
                           "{\"type\":\"google_search_call\",\"id\":\"s000%d\",\"arguments\":"
                           "{\"queries\":[\"rain\"]},\"search_type\":\"web_search\","
                           "\"signature\":\"U2ln\"},{\"type\":\"google_search_result\","
                           "\"call_id\":\"s000%d\",\"result\":[{\"search_suggestions\":\"<b>\"}],"
                           "\"signature\":\"U2ln\"},",
                           i, i);
            if (!CHECK_EQ_INT(e2e_count(body, want), 1)) printf("  %s\n", body);
        }
        free(body);
    }
    if (c != NULL) crowd_free(c);
}

TEST(an_abort_in_mid_stream_keeps_the_text_in_every_protocol) {
    size_t i;
    for (i = 0; i < PROTOCOLS; i++) {
        crowd *c = roomy_crowd();
        seen *s = c != NULL ? agent_at(c, &protocols[i], "/s/slow-60", "a-key") : NULL;
        char text[256], url[400];
        phi_model model;
        int tries = 0;
        if (s != NULL && crowd_prompt(s, "Begin.")) {
            while (s->events[PHI_EV_TEXT] < 2 && s->running && tries++ < 400)
                (void)crowd_step(c, 20);
            CHECK_EQ_INT(phi_abort(s->agent), PHI_OK);
            (void)crowd_step(c, 0);
            CHECK(!s->running);
            CHECK_EQ_INT(s->status, PHI_CANCELLED);
            crowd_message_text(s, 1, text, sizeof text);
            if (!CHECK(strncmp(text, "one two", 7) == 0)) printf("  %s: %s\n", s->name, text);
            CHECK(crowd_history_holds(s));
            model = model_at(&protocols[i], "/s/lookup", "a-key", url);
            CHECK_EQ_INT(set_model(s->agent, &model), PHI_OK);
            if (crowd_ask(s, "And now?")) (void)answered(s, 0);
        }
        if (c != NULL) crowd_free(c);
    }
}

/* "double" gives a document and a sound with its number. */
static phi_flow give_media(void *user_data, phi_call call, phi_str arguments) {
    phi_content blocks[4];
    phi_tool_result result = PHI_ZERO;
    (void)user_data;
    (void)arguments;
    memset(blocks, 0, sizeof blocks);
    blocks[0].kind = PHI_CONTENT_TEXT;
    blocks[0].text = phi_str_of("42");
    blocks[1].kind = blocks[2].kind = PHI_CONTENT_DOCUMENT;
    blocks[1].data = phi_str_of("JVBERi0xLjc=");
    blocks[1].mime_type = phi_str_of("application/pdf");
    blocks[1].name = phi_str_of("Report 2026.pdf");
    blocks[2].text = phi_str_of("some words");
    blocks[3].kind = PHI_CONTENT_AUDIO;
    blocks[3].data = phi_str_of("UklGRg==");
    blocks[3].mime_type = phi_str_of("audio/wav");
    result.content = blocks;
    result.content_count = 4;
    CHECK_EQ_INT(phi_call_result(call, &result), PHI_OK);
    return PHI_DONE;
}

static phi_status prompt_media(phi_agent agent) {
    phi_content blocks[4];
    memset(blocks, 0, sizeof blocks);
    blocks[0].kind = PHI_CONTENT_AUDIO;
    blocks[0].data = phi_str_of("UklGRg==");
    blocks[0].mime_type = phi_str_of("audio/wav");
    blocks[1].kind = blocks[2].kind = blocks[3].kind = PHI_CONTENT_DOCUMENT;
    blocks[1].data = phi_str_of("JVBERi0xLjc=");
    blocks[1].mime_type = phi_str_of("application/pdf");
    blocks[2].text = phi_str_of("more words");
    blocks[2].name = phi_str_of("a_b/c.txt");
    blocks[3].url = phi_str_of("https://a.example/b.pdf");
    return prompt_blocks(agent, blocks, 4);
}

/* The mock refuses what the real ones refuse. */
TEST(documents_and_audio_go_to_every_protocol_as_it_takes_them) {
    size_t i;
    e2e_forget();
    for (i = 0; i < PROTOCOLS; i++) {
        phi_agent_desc desc = e2e_desc(E2E_ANTHROPIC, "");
        phi_tool tool = desc.tools[0];
        crowd *c = roomy_crowd();
        char url[400], *body;
        seen *s;
        REQUIRE(c != NULL);
        tool.start = give_media;
        desc.tools = &tool;
        desc.tool_count = 1;
        desc.model = model_at(&protocols[i], "/s/media", "a-key", url);
        s = crowd_add(c, &desc, protocols[i].protocol);
        if (CHECK(s != NULL)) {
            CHECK_EQ_INT(prompt_media(s->agent), PHI_OK);
            s->running = true;
            CHECK(crowd_run(c, 30));
            if (!CHECK_EQ_INT(s->status, PHI_OK)) printf("  %s: %s\n", s->name, s->failure_text);
            CHECK(strncmp(s->text, "I look.It is ", 13) == 0);
            body = mock_ask("GET", "/_body");
            CHECK_EQ_INT(e2e_count(body, "JVBERi0xLjc="), 2);
            free(body);
            CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(s->agent)), 4);
        }
        crowd_free(c);
    }
}

MOCK_MAIN(e2e_options, TEST_ENTRY(a_conversation_with_a_tool_ends_well_in_every_protocol),
          TEST_ENTRY(a_stream_of_single_bytes_is_read_in_every_protocol),
          TEST_ENTRY(values_of_arguments_are_told_before_a_call_starts_in_every_protocol),
          TEST_ENTRY(keep_alives_between_the_events_are_no_events_in_any_protocol),
          TEST_ENTRY(a_429_that_says_when_is_waited_out_in_every_protocol),
          TEST_ENTRY(a_stream_that_is_cut_is_tried_again_in_every_protocol),
          TEST_ENTRY(an_error_in_mid_stream_is_tried_again_in_every_protocol),
          TEST_ENTRY(thinking_goes_back_whole_in_every_protocol),
          TEST_ENTRY(a_wrong_key_is_refused_in_every_protocol),
          TEST_ENTRY(bedrock_takes_a_signature_made_with_the_key_pair),
          TEST_ENTRY(steps_of_a_hosted_search_go_back_to_interactions),
          TEST_ENTRY(an_abort_in_mid_stream_keeps_the_text_in_every_protocol),
          TEST_ENTRY(documents_and_audio_go_to_every_protocol_as_it_takes_them))
