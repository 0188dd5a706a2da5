/* test_translate.c - phi_translate: a list that a target takes, which renders to the bytes that the encoders
   make of the original by themselves. */
#include "codecs/translate.h"
#include "wire/wire_support.h"
#include "support/codec_of.h"

enum { MODELS = 11, HISTORIES = 300 };

static phi_model model_of(size_t i) {
    switch (i) {
    case 0: return phi_model_anthropic("claude-sonnet-4-5", "k");
    case 1: return phi_model_openai("gpt-5-mini", "k");
    case 2: return phi_model_openai_responses("gpt-5-mini", "k");
    case 3: return phi_model_azure("https://x.openai.azure.com", "gpt-5-mini", "k");
    case 4: return phi_model_google("gemini-3-pro", "k");
    case 5: return phi_model_vertex("https://h/v1/projects/p/locations/l", "gemini-3-pro", "t");
    case 6: return phi_model_bedrock(NULL, "anthropic.claude-sonnet-4-5", "k");
    case 7: return phi_model_bedrock(NULL, "mistral.mistral-large", "k");
    case 8: return phi_model_preset("mistral", "magistral-medium", "k");
    case 9: return phi_model_interactions("gemini-3-pro", "k");
    default: return phi_model_preset("deepseek", "deepseek-reasoner", "k");
    }
}

static void minted(conversation *t, const phi_model *model) {
    phi_message *m = &t->messages[t->count - 1];
    m->model = phi_str_of(model->id);
    m->provider = phi_str_of(model->provider);
    m->protocol = phi_str_of(model->protocol);
    m->stop_reason = PHI_STOP_REASON_STOP;
    t->items[t->count - 1].origin = 0;
}

static uint32_t roll(uint32_t *seed, uint32_t most) {
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % most;
}

static const char *const ids[] = {
    "toolu_01",  "call|odd id",
    "fc_1",      "c_",
    "abcdefghi", "a-very-long-identifier-that-no-provider-would-take-unchanged-0123456789"};

static void talk_opaque(conversation *t, const char *protocol, const char *json) {
    phi_content *c = talk_block(t, PHI_CONTENT_OPAQUE);
    c->protocol = phi_str_of(protocol);
    c->replay = phi_str_of(json);
    c->name = phi_str_of("x");
}

static void random_answer(conversation *t, uint32_t *seed, size_t *calls) {
    phi_model model = model_of(roll(seed, MODELS));
    size_t n = roll(seed, 4), i;
    (void)talk_message(t, PHI_ROLE_ASSISTANT);
    minted(t, &model);
    *calls = 0;
    for (i = 0; i < n; i++) switch (roll(seed, 7)) {
        case 0: talk_thinking(t, "Hm", "c2ln"); break;
        case 1: talk_text(t, "  "); break;
        case 2: talk_text(t, "I say"); break;
        case 3:
            talk_call(t, ids[roll(seed, 6)], "look", "{\"a\":1}");
            t->blocks[t->count - 1][t->messages[t->count - 1].content_count - 1].incomplete = true;
            break;
        case 4: {
            phi_model other = model_of(roll(seed, MODELS));
            talk_opaque(t, other.protocol, "{\"type\":\"x\",\"id\": 1}");
            break;
        }
        case 5:
            talk_text(t, "Cited ");
            t->blocks[t->count - 1][t->messages[t->count - 1].content_count - 1].citations =
                phi_str_of("[{\"url\":\"u\"}]");
            break;
        default:
            talk_call(t, ids[*calls], "look", "{\"a\":1}");
            if (roll(seed, 3) == 0)
                t->blocks[t->count - 1][t->messages[t->count - 1].content_count - 1].replay =
                    phi_str_of("{\"caller\":{}}");
            (*calls)++;
        }
}

/* An item of Responses goes only with the reasoning of its answer, which a translation has taken out:
   the codec alone knows of it (docs/limits.md). Such an item is as if it never came whole. */
static void paired(conversation *t) {
    const phi_message *m = &t->messages[t->count - 1];
    bool thinks = false;
    size_t i;
    for (i = 0; i < m->content_count; i++)
        thinks = thinks || t->blocks[t->count - 1][i].kind == PHI_CONTENT_THINKING;
    for (i = 0; thinks && i < m->content_count; i++) {
        phi_content *c = &t->blocks[t->count - 1][i];
        if (c->kind == PHI_CONTENT_OPAQUE &&
            (phi__str_is(c->protocol, PHI_PROTOCOL_OPENAI_RESPONSES) ||
             phi__str_is(c->protocol, PHI_PROTOCOL_AZURE_RESPONSES)))
            c->incomplete = true;
    }
}

static void random_history(conversation *t, uint32_t seed) {
    size_t turns = 1 + roll(&seed, 8), i, c, calls = 0;
    talk_user(t, "Go");
    for (i = 0; i < turns; i++) {
        random_answer(t, &seed, &calls);
        paired(t);
        for (c = 0; c < calls; c++)
            if (roll(&seed, 4) > 0) {
                talk_result(t, ids[c], "look", "seen")->is_error = roll(&seed, 3) == 0;
                if (roll(&seed, 4) == 0) talk_image(t, "aGVsbG8=");
            }
        if (roll(&seed, 5) == 0) talk_result(t, "nobody", "look", "an orphan");
        if (roll(&seed, 3) == 0) {
            phi_model other = model_of(roll(&seed, MODELS));
            talk_user(t, "And?");
            if (roll(&seed, 2) == 0) talk_opaque(t, other.protocol, "{\"type\":\"y\"}");
        }
        if (roll(&seed, 6) == 0) {
            phi_message *m = talk_message(t, PHI_ROLE_EXTENSION);
            m->extension_kind = phi_str_of("note");
        }
    }
    talk_user(t, "Well?");
}

static char *body_of(const phi_model *model, const phi__item *items, size_t count,
                     phi_memory *memory) {
    phi__encoder e;
    phi__request_spec spec;
    phi_arena arena;
    phi_status status;
    char *body;
    memset(&spec, 0, sizeof spec);
    spec.model = model;
    spec.items = items;
    spec.item_count = count;
    spec.temperature = -1;
    phi_arena_init(&arena, memory, 0);
    phi__encoder_begin(&e, codec_of(model->protocol), &spec, &arena);
    while ((status = phi__encoder_advance(&e, 3)) == PHI_BUSY) {}
    CHECK_EQ_INT(status, PHI_OK);
    body = (char *)calloc(1, (size_t)e.request.length + 1);
    (void)phi_request_read(&e.request, 0, body, (size_t)e.request.length);
    phi__encoder_free(&e);
    phi_arena_free(&arena);
    return body;
}

static void same_bytes(uint32_t seed, size_t target) {
    conversation t;
    phi_model model = model_of(target);
    const phi_message *list[64];
    const phi_message *const *out = NULL;
    phi__item items[64], translated[128];
    phi_arena arena;
    size_t count = 0, i;
    char *want, *got;
    if (model.name == NULL) model.name = model.id;
    if (model.base_url == NULL) model.base_url = "https://h";
    talk_begin(&t, model);
    random_history(&t, seed);
    memset(items, 0, sizeof items);
    memset(translated, 0, sizeof translated);
    for (i = 0; i < t.count; i++) items[i].message = list[i] = &t.messages[i];
    phi_arena_init(&arena, &t.memory, 0);
    CHECK_EQ_INT(phi_translate(&model, list, t.count, &arena, &out, &count), PHI_OK);
    CHECK(count <= 128);
    for (i = 0; i < count; i++) translated[i].message = out[i];
    want = body_of(&model, items, t.count, &t.memory);
    got = body_of(&model, translated, count, &t.memory);
    if (!CHECK(strcmp(want, got) == 0))
        printf("  seed %u, %s %s\n  want %s\n  got  %s\n", (unsigned)seed, model.provider, model.id,
               want, got);
    free(want);
    free(got);
    phi_arena_free(&arena);
    talk_free(&t);
}

TEST(a_translated_history_renders_to_the_same_bytes) {
    uint32_t seed;
    size_t target;
    for (seed = 1; seed <= HISTORIES; seed++)
        for (target = 0; target < MODELS; target++) same_bytes(seed, target);
}

TEST(what_needs_no_change_is_the_very_message) {
    conversation t;
    phi_model model = model_of(0);
    const phi_message *list[4];
    const phi_message *const *out = NULL;
    phi_arena arena;
    size_t count = 0, i;
    talk_begin(&t, model);
    talk_user(&t, "Go");
    (void)talk_message(&t, PHI_ROLE_ASSISTANT);
    minted(&t, &model);
    talk_thinking(&t, "Hm", "c2ln");
    talk_call(&t, "toolu_01", "look", "{}");
    talk_result(&t, "toolu_01", "look", "seen");
    for (i = 0; i < t.count; i++) list[i] = &t.messages[i];
    phi_arena_init(&arena, &t.memory, 0);
    CHECK_EQ_INT(phi_translate(&model, list, t.count, &arena, &out, &count), PHI_OK);
    CHECK_EQ_INT(count, 3);
    for (i = 0; i < count; i++) CHECK(out[i] == list[i]);
    phi_arena_free(&arena);
    talk_free(&t);
}

TEST(a_block_of_a_protocol_of_the_same_wire_stays_in_any_spelling) {
    conversation t;
    phi_model model = model_of(4);
    const phi_message *list[1];
    const phi_message *const *out = NULL;
    phi_arena arena;
    size_t count = 0;
    talk_begin(&t, model);
    talk_user(&t, "Go");
    talk_opaque(&t, "Google_Vertex", "{\"x\":1}");
    list[0] = &t.messages[0];
    phi_arena_init(&arena, &t.memory, 0);
    CHECK_EQ_INT(phi_translate(&model, list, 1, &arena, &out, &count), PHI_OK);
    CHECK(count == 1 && out[0] == list[0]);
    phi_arena_free(&arena);
    talk_free(&t);
}

TEST(for_another_model_thinking_goes_and_lost_results_are_said) {
    conversation t;
    phi_model ours = model_of(0), other = model_of(8);
    const phi_message *list[8];
    const phi_message *const *out = NULL;
    phi_arena arena;
    size_t count = 0, i;
    talk_begin(&t, ours);
    talk_user(&t, "Go");
    (void)talk_message(&t, PHI_ROLE_ASSISTANT);
    minted(&t, &ours);
    talk_thinking(&t, "Hm", "c2ln");
    talk_call(&t, "toolu_01", "look", "{}");
    talk_user(&t, "Well?");
    for (i = 0; i < t.count; i++) list[i] = &t.messages[i];
    phi_arena_init(&arena, &t.memory, 0);
    CHECK_EQ_INT(phi_translate(&other, list, t.count, &arena, &out, &count), PHI_OK);
    CHECK_EQ_INT(count, 4);
    CHECK_EQ_INT(out[1]->content_count, 1);
    CHECK_EQ_INT(out[1]->content[0].id.len, 9);
    CHECK_EQ_INT(out[2]->role, PHI_ROLE_TOOL_RESULT);
    CHECK(out[2]->is_error);
    CHECK_STR(out[2]->content[0].text, "No result provided");
    CHECK(phi_str_equal(out[2]->tool_call_id, out[1]->content[0].id));
    CHECK_EQ_INT(t.messages[1].content_count, 2); /* what was given is as it was */
    CHECK_STR(t.messages[1].content[1].id, "toolu_01");
    phi_arena_free(&arena);
    talk_free(&t);
}

TEST(where_a_model_takes_no_images_a_line_stands_for_them) {
    conversation t;
    phi_model model = model_of(1);
    const phi_message *list[1];
    const phi_message *const *out = NULL;
    phi_arena arena;
    size_t count = 0;
    model.quirks |= PHI_QUIRK_NO_IMAGES;
    talk_begin(&t, model);
    talk_user(&t, "Look:");
    talk_image(&t, "aGVsbG8=");
    talk_image(&t, "aGVsbG8=");
    list[0] = &t.messages[0];
    phi_arena_init(&arena, &t.memory, 0);
    CHECK_EQ_INT(phi_translate(&model, list, 1, &arena, &out, &count), PHI_OK);
    CHECK_EQ_INT(out[0]->content_count, 2);
    CHECK_STR(out[0]->content[1].text, "(image omitted: this model does not take it)");
    phi_arena_free(&arena);
    talk_free(&t);
}

TEST(want_of_memory_and_bad_arguments_are_said) {
    conversation t;
    phi_model model = model_of(8), none;
    const phi_message *list[3];
    const phi_message *const *out = NULL;
    phi_arena arena;
    size_t count = 0;
    int n;
    memset(&none, 0, sizeof none);
    talk_begin(&t, model);
    talk_user(&t, "Go");
    (void)talk_message(&t, PHI_ROLE_ASSISTANT);
    minted(&t, &model);
    talk_call(&t, "a call with an odd id", "look", "{}");
    talk_user(&t, "Well?");
    list[0] = &t.messages[0];
    list[1] = &t.messages[1];
    list[2] = &t.messages[2];
    phi_arena_init(&arena, &t.memory, 64);
    CHECK_EQ_INT(phi_translate(&none, list, 3, &arena, &out, &count), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_translate(&model, NULL, 3, &arena, &out, &count), PHI_BAD_ARG);
    CHECK_EQ_INT(phi_translate(&model, NULL, 0, &arena, &out, &count), PHI_OK);
    CHECK_EQ_INT(count, 0);
    for (n = 0; n < 100; n++) {
        phi_status status;
        phi_arena_free(&arena);
        phi_arena_init(&arena, &t.memory, 64);
        test_alloc_fail_at(n);
        status = phi_translate(&model, list, 3, &arena, &out, &count);
        if (!test_alloc_tripped()) break;
        CHECK_EQ_INT(status, PHI_NO_MEMORY);
    }
    test_alloc_fail_at(-1);
    CHECK(n > 1 && n < 100);
    phi_arena_free(&arena);
    talk_free(&t);
}

TEST_MAIN(TEST_ENTRY(a_translated_history_renders_to_the_same_bytes),
          TEST_ENTRY(what_needs_no_change_is_the_very_message),
          TEST_ENTRY(a_block_of_a_protocol_of_the_same_wire_stays_in_any_spelling),
          TEST_ENTRY(for_another_model_thinking_goes_and_lost_results_are_said),
          TEST_ENTRY(where_a_model_takes_no_images_a_line_stands_for_them),
          TEST_ENTRY(want_of_memory_and_bad_arguments_are_said))
