/* test_hop.c - one conversation that goes from model to model: what was rendered for one is never sent to
   another, and the first gets its own thinking back unchanged. */
#include "wire/wire_support.h"
#include "support/codec_of.h"

enum { MODELS = 16 };

static void model_list(phi_model out[MODELS]) {
    size_t n = 0;
    out[n++] = phi_model_anthropic("claude-sonnet-4-5", "k");
    out[n++] = phi_model_openai("gpt-5-mini", "k");
    out[n++] = phi_model_openai_responses("gpt-5-mini", "k");
    out[n++] = phi_model_azure("https://x.openai.azure.com", "gpt-5-mini", "k");
    out[n++] = phi_model_google("gemini-3-pro", "k");
    out[n++] = phi_model_google("gemini-2.5-flash", "k");
    out[n++] = phi_model_vertex("https://h/v1/projects/p/locations/l", "gemini-3-pro", "t");
    out[n++] = phi_model_bedrock("https://bedrock-runtime.us-east-1.amazonaws.com",
                                 "anthropic.claude-sonnet-4-5", "k");
    out[n++] = phi_model_bedrock("https://bedrock-runtime.us-east-1.amazonaws.com",
                                 "mistral.mistral-large", "k");
    out[n++] = phi_model_preset("mistral", "magistral-medium", "k");
    out[n++] = phi_model_preset("deepseek", "deepseek-reasoner", "k");
    out[n++] = phi_model_preset("openrouter", "anthropic/claude-sonnet-4.5", "k");
    out[n++] = phi_model_interactions("gemini-3-pro", "k");
    out[n++] = phi_model_interactions("gemini-2.5-flash", "k");
    out[n++] = phi_model_preset("groq", "llama", "k");
    out[n++] = phi_model_preset("groq", "llama-text", "k");
    out[n - 1].quirks |= PHI_QUIRK_NO_IMAGES;
    CHECK_EQ_INT(n, MODELS);
}

static phi_message *answer_of(conversation *t, const phi_model *model) {
    phi_message *m = talk_message(t, PHI_ROLE_ASSISTANT);
    m->model = phi_str_of(model->id);
    m->provider = phi_str_of(model->provider);
    m->protocol = phi_str_of(model->protocol);
    m->stop_reason = PHI_STOP_REASON_STOP;
    t->items[t->count - 1].origin = phi__codec_origin_of(m->model, m->provider, m->protocol);
    return m;
}

/* Thinking, calls, an image in a result, an error; by the first model and by the second. */
static void say_all(conversation *t, const phi_model models[MODELS]) {
    t->spec.system_prompt = phi_str_of("You are the blacksmith.");
    talk_user(t, "Look around");
    talk_image(t, "aGVsbG8=");
    answer_of(t, &models[0]);
    talk_thinking(t, "Where to begin?", "c2lnbmF0dXJl");
    talk_text(t, "I look.");
    talk_call(t, "toolu_01", "look", "{\"at\":\"square\"}");
    talk_call(t, "toolu_02", "look", "{\"at\":\"well\"}");
    talk_result(t, "toolu_01", "look", "A square");
    talk_image(t, "aGVsbG8=");
    talk_result(t, "toolu_02", "look", "nothing")->is_error = true;
    answer_of(t, &models[1]);
    talk_text(t, "A square, and a well.");
    talk_user(t, "And then?");
}

/* The request for a model; `thinks`: with a thinking level. Freed by the caller. */
static char *request_of(conversation *t, const phi_model *model, bool thinks) {
    phi_status status;
    char *body;
    t->model = *model;
    if (t->model.name == NULL) t->model.name = t->model.id;
    t->spec.thinking = thinks ? PHI_THINKING_HIGH : PHI_THINKING_OFF;
    phi__encoder_begin(&t->encoder, codec_of(model->protocol), &t->spec, &t->turn);
    while ((status = phi__encoder_advance(&t->encoder, 3)) == PHI_BUSY) {}
    CHECK_EQ_INT(status, PHI_OK);
    body = (char *)calloc(1, (size_t)t->encoder.request.length + 1);
    (void)phi_request_read(&t->encoder.request, 0, body, (size_t)t->encoder.request.length);
    phi__encoder_free(&t->encoder);
    phi_arena_free(&t->turn);
    return body;
}

TEST(what_was_rendered_for_one_model_is_never_sent_to_another) {
    phi_model models[MODELS];
    conversation kept;
    size_t round, i;
    model_list(models);
    talk_begin(&kept, models[0]);
    say_all(&kept, models);
    for (round = 0; round < 4; round++)
        for (i = 0; i < MODELS; i++) {
            size_t at = round % 2 == 0 ? i : MODELS - 1 - i;
            conversation fresh;
            char *got = request_of(&kept, &models[at], round < 2), *want;
            talk_begin(&fresh, models[at]);
            say_all(&fresh, models);
            want = request_of(&fresh, &models[at], round < 2);
            if (!CHECK(strcmp(got, want) == 0))
                printf("  %s %s\n", models[at].provider, models[at].id);
            free(got);
            free(want);
            talk_free(&fresh);
        }
    talk_free(&kept);
}

TEST(the_first_model_gets_its_thinking_back_and_nobody_else_does) {
    phi_model models[MODELS];
    conversation t;
    char *first, *again;
    size_t i;
    model_list(models);
    talk_begin(&t, models[0]);
    say_all(&t, models);
    first = request_of(&t, &models[0], true);
    CHECK(strstr(first, "Where to begin?") != NULL);
    CHECK(strstr(first, "c2lnbmF0dXJl") != NULL);
    for (i = 1; i < MODELS; i++) {
        char *other = request_of(&t, &models[i], true);
        CHECK(strstr(other, "c2lnbmF0dXJl") == NULL);
        if (!CHECK(strstr(other, "Where to begin?") == NULL)) printf("  %s\n", models[i].provider);
        free(other);
    }
    again = request_of(&t, &models[0], true);
    CHECK_EQ_STR(again, first);
    free(first);
    free(again);
    talk_free(&t);
}

/* A question, and a call of `by` that has its result; `thought`: with thinking before it. */
static void say_loop(conversation *t, const phi_model *by, bool thought) {
    talk_user(t, "Look around");
    answer_of(t, by);
    if (thought) talk_thinking(t, "Where to begin?", "c2lnbmF0dXJl");
    talk_text(t, "I look.");
    talk_call(t, "toolu_01", "look", "{}");
    talk_result(t, "toolu_01", "look", "A square");
}

static bool asks_to_think(conversation *t, const phi_model *model) {
    char *body = request_of(t, model, true);
    bool asks = strstr(body, "\"budget_tokens\"") != NULL;
    free(body);
    return asks;
}

TEST(a_claude_that_goes_on_from_anothers_calls_is_not_asked_to_think_about_them) {
    phi_model models[MODELS];
    size_t claudes[] = {0, 7}, i; /* of Anthropic, of Bedrock */
    model_list(models);
    for (i = 0; i < 2; i++) {
        const phi_model *claude = &models[claudes[i]], *other = &models[claudes[1 - i]];
        conversation t;
        talk_begin(&t, *claude);
        say_loop(&t, claude, true);
        CHECK(asks_to_think(&t, claude));
        CHECK(!asks_to_think(&t, other));
        talk_user(&t, "And then?"); /* with the results: they are one message */
        CHECK(!asks_to_think(&t, other));
        answer_of(&t, other);
        talk_text(&t, "A square.");
        talk_user(&t, "Thank you");
        CHECK(asks_to_think(&t, claude));
        CHECK(asks_to_think(&t, other));
        talk_free(&t);
        talk_begin(&t, *claude);
        say_loop(&t, claude, false);
        CHECK(!asks_to_think(&t, claude));
        talk_free(&t);
    }
}

TEST(every_model_takes_the_conversation_before_a_byte_is_sent) {
    phi_model models[MODELS];
    conversation t;
    char words[200];
    size_t i;
    model_list(models);
    talk_begin(&t, models[0]);
    say_all(&t, models);
    for (i = 0; i < MODELS; i++) {
        t.model = models[i];
        if (!CHECK(phi__preflight(codec_of(models[i].protocol), &t.spec, words, sizeof words) ==
                   PHI_OK))
            printf("  %s: %s\n", models[i].provider, words);
    }
    talk_free(&t);
}

TEST_MAIN(TEST_ENTRY(what_was_rendered_for_one_model_is_never_sent_to_another),
          TEST_ENTRY(the_first_model_gets_its_thinking_back_and_nobody_else_does),
          TEST_ENTRY(a_claude_that_goes_on_from_anothers_calls_is_not_asked_to_think_about_them),
          TEST_ENTRY(every_model_takes_the_conversation_before_a_byte_is_sent))
