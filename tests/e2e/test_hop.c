/* test_hop.c - one conversation of forty turns that goes from provider to provider over loopback HTTP, also
   between a call and its result: each request passes phi_preflight and the strict mock, each provider gets its
   own signatures back and nobody else's, and the history stays as it was said. */
#include "support/preflight.h"
#include "e2e/e2e.h"
#include "codecs/presets.h"
#include "model/model.h"
#include "support/request.h"
#include "agent/agent_history.h"
#include "loop/hook.h"
#include "support/set.h"

#define PNG                                                                                        \
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg" \
    "gg=="

/* What the first provider's first answer began with, as it has to come back. */
static const char first_blocks[] =
    "{\"type\":\"thinking\",\"thinking\":\"At 0000 I wonder: \\\"why\\\", a \\\\ and "
    "gr\xc3\xb6\xc3\x9f"
    "er.\",\"signature\":\"bW9jay867b96e99c4f4d9405967223f404a61b6442c6bd==\"},"
    "{\"type\":\"redacted_thinking\",\"data\":\"cmVkYWN0ZWQw0000\"},";

enum { PROVIDERS = 8, PROMPTS = 20, TURNS = 2 * PROMPTS, MESSAGES = 128, SECRETS = 128 };

static const char *const hop_options[] = {"--scenario", "tests/e2e/hop.json", NULL};

/* What a provider wants back from an answer and nobody else may see. */
typedef struct secret {
    char text[300];
    size_t provider;
} secret;

typedef struct hop {
    seen *s;
    phi_model models[PROVIDERS]; /* borrow urls and tools */
    char urls[PROVIDERS][128];
    size_t at;                              /* the provider that speaks */
    bool stop;                              /* the run ends with its tools */
    int requests, images, turns[PROVIDERS]; /* images: in the last request */
    char *said[MESSAGES];                   /* each message as JSON, when it came */
    size_t said_count;
    secret secrets[SECRETS];
    size_t secret_count;
    phi_memory memory;
    phi_arena scratch;
} hop;

static hop *hopping; /* the one that goes on: a crowd's user_data is its own */

/* ---- the tools ---- */

static phi_flow hop_result(phi_call call, const char *text, bool is_error, size_t blocks) {
    phi_content content[2];
    phi_tool_result result = PHI_ZERO;
    memset(content, 0, sizeof content);
    content[0].kind = PHI_CONTENT_TEXT;
    content[0].text = phi_str_of(text);
    content[1].kind = PHI_CONTENT_IMAGE;
    content[1].data = phi_str_of(PNG);
    content[1].mime_type = phi_str_of("image/png");
    result.content = content;
    result.content_count = blocks;
    result.is_error = is_error;
    CHECK_EQ_INT(phi_call_result(call, &result), PHI_OK);
    return PHI_DONE;
}

/* The result comes with the next step, which sees the phi_stop before. */
static phi_flow hop_start(void *user_data, phi_call call, phi_str arguments) {
    const char *name = (const char *)user_data;
    CHECK(phi__str_find(arguments, 0,
                        strcmp(name, "look") == 0     ? "\"square\""
                        : strcmp(name, "double") == 0 ? "21"
                                                      : "{}") != SIZE_MAX);
    if (hopping->stop) CHECK_EQ_INT(phi_stop(phi_call_get_info(call).agent), PHI_OK);
    return PHI_PENDING;
}

static phi_flow hop_step(void *user_data, phi_call call) {
    const char *name = (const char *)user_data;
    if (strcmp(name, "look") == 0) return hop_result(call, "a well", false, 2);
    if (strcmp(name, "double") == 0) return hop_result(call, "42", false, 1);
    return hop_result(call, "it is locked", true, 2);
}

/* Static. */
static const phi_tool *hop_tools(void) {
    static char names[3][8] = {"look", "double", "open"};
    static phi_tool tools[3];
    size_t i;
    for (i = 0; i < 3; i++) {
        tools[i].name = names[i];
        tools[i].description = "A tool";
        tools[i].start = hop_start;
        tools[i].step = hop_step;
        tools[i].user_data = names[i];
    }
    tools[0].schema = "{\"type\":\"object\",\"properties\":{\"at\":{\"type\":\"string\"}},"
                      "\"required\":[\"at\"]}";
    tools[1].schema = "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}},"
                      "\"required\":[\"n\"]}";
    tools[2].schema = "{\"type\":\"object\",\"properties\":{}}";
    return tools;
}

/* ---- what goes out and what comes in ---- */

/* The list of each request, as it is about to be rendered, in the eyes of phi_preflight. */
static phi_verdict hop_hook(void *user_data, phi_hook *hook) {
    hop *h = hopping;
    phi_message flat[MESSAGES];
    char words[300];
    size_t i, j;
    (void)user_data;
    h->requests++;
    h->images = 0;
    for (i = 0; i < hook->message_count && i < MESSAGES; i++) {
        flat[i] = *hook->messages[i];
        for (j = 0; j < flat[i].content_count; j++)
            h->images += flat[i].content[j].kind == PHI_CONTENT_IMAGE;
    }
    if (!CHECK_EQ_INT(
            preflight(&h->models[h->at], flat, i, hop_tools(), 3, &h->scratch, words, sizeof words),
            PHI_OK))
        printf("  to %s: %s\n", h->models[h->at].protocol, words);
    return PHI_ALLOW;
}

/* Signatures, encrypted data, whole reasoning items. What Chat has there is the name of a field. */
static void hop_secret(hop *h, phi_str text) {
    secret *kept = &h->secrets[h->secret_count];
    if (text.len == 0 || phi__str_is(text, "reasoning_content") ||
        !CHECK(h->secret_count < SECRETS && text.len < sizeof kept->text))
        return;
    memcpy(kept->text, text.at, text.len);
    kept->text[text.len] = '\0';
    kept->provider = h->at;
    h->secret_count++;
}

static char *hop_json(hop *h, const phi_message *message) {
    phi_str json = PHI_ZERO;
    char *out;
    phi_arena_mark mark = phi_arena_save(&h->scratch);
    CHECK_EQ_INT(phi_message_to_json(message, &h->scratch, &json), PHI_OK);
    out = (char *)calloc(1, json.len + 1);
    if (out == NULL) abort();
    memcpy(out, json.at, json.len);
    phi_arena_reset(&h->scratch, mark);
    return out;
}

static void hop_event(seen *s, const phi_event *event) {
    hop *h = hopping;
    size_t i;
    (void)s;
    if (event->kind != PHI_EV_MESSAGE_END || !CHECK(h->said_count < MESSAGES)) return;
    h->said[h->said_count++] = hop_json(h, event->message);
    if (event->message->role == PHI_ROLE_ASSISTANT) h->turns[h->at]++;
    for (i = 0; i < event->message->content_count; i++)
        hop_secret(h, event->message->content[i].signature);
}

/* ---- the way ---- */

static void hop_models(hop *h) {
    static const char *const paths[PROVIDERS] = {"/s/hop-claude",
                                                 "/s/hop/v1",
                                                 "/s/hop/v1",
                                                 "/s/hop/openai/v1",
                                                 "/s/hop-google/v1beta",
                                                 "/s/hop-google/v1/projects/p/locations/global",
                                                 "/s/hop-google/v1beta",
                                                 "/s/hop-claude"};
    size_t i;
    for (i = 0; i < PROVIDERS; i++)
        (void)snprintf(h->urls[i], sizeof h->urls[i], "%s", mock_url(paths[i]));
    h->models[0] = phi_model_anthropic("claude-sonnet-4-5", "a-key");
    h->models[1] = phi_model_openai("gpt-5-mini", "a-key");
    h->models[2] = phi_model_openai_responses("gpt-5-mini", "a-key");
    h->models[3] = phi_model_azure(h->urls[3], "gpt-5-mini", "a-key");
    h->models[4] = phi_model_google("gemini-3-pro-preview", "a-key");
    h->models[5] = phi_model_vertex(h->urls[5], "gemini-3-pro-preview", "a-token");
    h->models[6] = phi_model_interactions("gemini-3-pro-preview", "a-key");
    h->models[7] = phi_model_bedrock(h->urls[7], "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
                                     "AKIDEXAMPLE:wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY");
    for (i = 0; i < PROVIDERS; i++) h->models[i].base_url = h->urls[i];
}

static void hop_to(hop *h, size_t provider) {
    h->at = provider % PROVIDERS;
    CHECK_EQ_INT(set_model(h->s->agent, &h->models[h->at]), PHI_OK);
}

/* The last request holds all images, what its provider wants back of its answers in the runs before, and
   nothing of any other's. */
static void hop_check_body(hop *h, size_t before) {
    char *body = mock_ask("GET", "/_body");
    size_t i;
    CHECK_EQ_INT(e2e_count(body, PNG), h->images);
    for (i = 0; body != NULL && i < before; i++) {
        const secret *one = &h->secrets[i];
        if (!CHECK((strstr(body, one->text) != NULL) == (one->provider == h->at)))
            printf("  %s of %s to %s\n", one->text, h->models[one->provider].protocol,
                   h->models[h->at].protocol);
    }
    free(body);
}

/* The first provider's first answer, from a request that holds it: the whole message as it was sent. */
static char *hop_first_answer(void) {
    char *body = mock_ask("GET", "/_body");
    char *from = body != NULL ? strstr(body, "{\"role\":\"assistant\",\"content\":[") : NULL;
    char *to = from != NULL ? strstr(from, "{\"role\":\"user\"") : NULL;
    if (CHECK(to != NULL)) {
        *to = '\0';
        memmove(body, from, (size_t)(to - from) + 1);
    }
    return body;
}

/* Forgets the last run, as crowd_prompt does, and runs what `status` has begun. */
static bool hop_run(hop *h, phi_status status, phi_status ends) {
    bool good;
    memset(h->s->events, 0, sizeof h->s->events);
    h->s->running = status == PHI_OK;
    good = CHECK_EQ_INT(status, PHI_OK) && crowd_run(h->s->of, 30);
    good = good && CHECK_EQ_INT(h->s->status, ends) && CHECK(crowd_history_holds(h->s));
    if (!good) printf("  %s: %s\n", h->models[h->at].protocol, h->s->failure_text);
    return good;
}

static phi_status hop_prompt(hop *h, bool image) {
    phi_content content[2];
    memset(content, 0, sizeof content);
    content[0].kind = PHI_CONTENT_TEXT;
    content[0].text = phi_str_of("Go on.");
    content[1].kind = PHI_CONTENT_IMAGE;
    content[1].data = phi_str_of(PNG);
    content[1].mime_type = phi_str_of("image/png");
    return prompt_blocks(h->s->agent, content, image ? 2 : 1);
}

static bool hop_begin(hop *h) {
    phi_allocator plain = test_allocator();
    phi_runtime_desc rt = PHI_ZERO;
    phi_agent_desc desc = PHI_ZERO;
    crowd *c;
    memset(h, 0, sizeof *h);
    hopping = h;
    phi_memory_init(&h->memory, &plain, 0);
    phi_arena_init(&h->scratch, &h->memory, 0);
    hop_models(h);
    rt.step_budget_us =
        1000000; /* a step that does all there is to do, however slow the machine is */
    rt.step_budget_bytes = 65536;
    c = crowd_new(&rt);
    desc.model = h->models[0];
    desc.system_prompt = "You are a test.";
    desc.tools = hop_tools();
    desc.tool_count = 3;
    desc.thinking = PHI_THINKING_MEDIUM;
    desc.retry.disable = true;
    desc.hook_fn = hop_hook;
    desc.hook_points = PHI_HOOK_CONVERT_TO_LLM;
    h->s = c != NULL ? crowd_add(c, &desc, "hop") : NULL;
    if (h->s == NULL) return false;
    h->s->on_event = hop_event;
    return true;
}

/* The messages are what they were when they came, and all of them are there. */
static void hop_check_history(hop *h) {
    size_t i;
    CHECK_EQ_INT(phi_thread_message_count(phi_agent_thread(h->s->agent)), h->said_count);
    for (i = 0; i < h->said_count; i++) {
        char *now = hop_json(h, phi_thread_message_at(phi_agent_thread(h->s->agent), i));
        CHECK_EQ_STR(now, h->said[i]);
        free(now);
        free(h->said[i]);
    }
}

/* One prompt, which is two turns: in every third both are one provider's, in the others the next provider
   answers to the results of the calls that the one before has made. */
static bool hop_one_prompt(hop *h, int prompt) {
    size_t before = h->secret_count;
    h->stop = prompt % 3 != 0 && prompt < PROMPTS - 1;
    if (!hop_run(h, hop_prompt(h, prompt % 2 == 1), h->stop ? PHI_CANCELLED : PHI_OK)) return false;
    hop_check_body(h, before);
    if (!h->stop) return true;
    h->stop = false;
    before = h->secret_count;
    hop_to(h, h->at + 1);
    if (!hop_run(h, phi_continue(h->s->agent, PHI_CONTINUATION_DEFAULT), PHI_OK)) return false;
    hop_check_body(h, before);
    return true;
}

TEST(forty_turns_hop_through_eight_providers_and_the_first_finds_its_own_again) {
    static hop way;
    hop *h = &way;
    char *first = NULL, *again;
    int prompt;
    size_t i;
    REQUIRE(hop_begin(h));
    e2e_forget();
    for (prompt = 0; prompt < PROMPTS && hop_one_prompt(h, prompt); prompt++) {
        if (prompt == 0) first = hop_first_answer();
        if (prompt < PROMPTS - 1) hop_to(h, prompt < PROMPTS - 2 ? h->at + 1 : 0);
    }
    CHECK_EQ_INT(prompt, PROMPTS);
    CHECK_EQ_INT(h->requests, TURNS);
    CHECK_EQ_INT(h->images, 30);
    CHECK_EQ_INT(e2e_stat("total"), TURNS);
    for (i = 0; i < PROVIDERS; i++) CHECK(h->turns[i] >= 4);
    again = hop_first_answer();
    CHECK_EQ_STR(again, first);
    CHECK(again != NULL && strstr(again, first_blocks) != NULL);
    hop_check_history(h);
    free(first);
    free(again);
    crowd_free(h->s->of);
    phi_arena_free(&h->scratch);
}

MOCK_MAIN(hop_options,
          TEST_ENTRY(forty_turns_hop_through_eight_providers_and_the_first_finds_its_own_again))
