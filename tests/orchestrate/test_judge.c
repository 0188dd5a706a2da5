/* The judge's prompt, its fitting into a window, and the reading of its verdict; selections by
   figures. */
#include "orchestrate/evaluate_in.h"
#include "support/test.h"

static phi_memory memory;
static phi_arena arena;

static void setup(void) {
    phi_allocator a = test_allocator();
    phi_memory_init(&memory, &a, 0);
    phi_arena_init(&arena, &memory, 0);
}

/* ---- the verdict ---- */

TEST(verdicts_are_the_first_word_whose_digits_name_a_response) {
    static const struct {
        const char *reply;
        size_t count, want;
    } rows[] = {{"1", 3, 0},
                {"2", 3, 1},
                {"Response 1 is best.", 3, 0},
                {"I pick 3.", 3, 2},
                {"5", 3, 0},
                {"5 is not there, so 2", 3, 1},
                {"0", 3, 0},
                {"", 3, 0},
                {"   \n\t", 3, 0},
                {"none of them", 3, 0},
                {"**2**", 3, 1},
                {"#3\n2", 3, 2},
                {"(\"2\")", 3, 1},
                {"1/2", 12, 11}, /* the digits of a word are one number */
                {"1/2", 3, 0},
                {"99999999999999999999999999 2", 3, 1},
                {"4294967297", 3, 0},
                {"-2", 3, 1},
                {"Two", 3, 0},
                {"64", 64, 63}};
    size_t i;
    for (i = 0; i < PHI__COUNT(rows); i++)
        if (!CHECK_EQ_INT(phi__judge_verdict(phi_str_of(rows[i].reply), rows[i].count),
                          rows[i].want))
            printf("    %s\n", rows[i].reply);
}

TEST(verdicts_of_any_bytes_are_responses) {
    uint32_t state = 1;
    int i;
    for (i = 0; i < 20000; i++) {
        char bytes[24];
        size_t len = test_random(&state) % sizeof bytes, n = 1 + test_random(&state) % 64, k;
        for (k = 0; k < len; k++) bytes[k] = (char)(test_random(&state) >> 8);
        CHECK(phi__judge_verdict(phi__str(bytes, len), n) < n);
    }
}

/* ---- transcripts and prompts ---- */

static phi_message message_of(phi_role role, const phi_content *content, size_t count) {
    phi_message m = PHI_ZERO;
    m.role = role;
    m.content = content;
    m.content_count = count;
    return m;
}

static phi_content text_of(const char *text) {
    phi_content c = PHI_ZERO;
    c.kind = PHI_CONTENT_TEXT;
    c.text = phi_str_of(text);
    return c;
}

TEST(a_transcript_has_the_text_of_messages_and_nothing_else) {
    phi_content blocks[4], call = PHI_ZERO, image = PHI_ZERO, thought = PHI_ZERO;
    phi_message m;
    phi__buf out;
    setup();
    phi__buf_init(&out, &memory);
    call.kind = PHI_CONTENT_TOOL_CALL;
    call.name = PHI__LIT("read");
    call.arguments = PHI__LIT("{\"path\":\"secret\"}");
    image.kind = PHI_CONTENT_IMAGE;
    image.data = PHI__LIT("aGk=");
    thought.kind = PHI_CONTENT_THINKING;
    thought.text = PHI__LIT("hm");
    blocks[0] = text_of("What is");
    blocks[1] = image;
    blocks[2] = text_of("this?");
    m = message_of(PHI_ROLE_USER, blocks, 3);
    phi__judge_transcribe(&out, &m);
    blocks[0] = thought;
    blocks[1] = text_of("I look.");
    blocks[2] = call;
    m = message_of(PHI_ROLE_ASSISTANT, blocks, 3);
    phi__judge_transcribe(&out, &m);
    blocks[0] = text_of("bytes");
    m = message_of(PHI_ROLE_TOOL_RESULT, blocks, 1);
    m.tool_name = PHI__LIT("read");
    phi__judge_transcribe(&out, &m);
    m = message_of(PHI_ROLE_ASSISTANT, &call, 1); /* no text: left out */
    phi__judge_transcribe(&out, &m);
    m = message_of(PHI_ROLE_EXTENSION, blocks, 1);
    phi__judge_transcribe(&out, &m);
    CHECK_STR(phi__buf_str(&out), "User: What is\nthis?\nAssistant: I look.\nTool [read]: bytes");
    phi__buf_free(&out);
}

TEST(a_prompt_has_context_query_and_numbered_responses) {
    phi_str responses[2];
    phi__judge_case c = PHI_ZERO;
    phi__buf out;
    setup();
    phi__buf_init(&out, &memory);
    c.context = PHI__LIT("User: What is quantum mechanics?\nAssistant: A branch of physics.");
    c.query = PHI__LIT("What is entanglement?");
    responses[0] = PHI__LIT("Two particles.");
    responses[1] = PHI__LIT("Two dice.");
    c.responses = responses;
    c.count = 2;
    phi__judge_prompt(&out, &c);
    CHECK_STR(phi__buf_str(&out),
              "Prior conversation context:\nUser: What is quantum mechanics?\n"
              "Assistant: A branch of physics.\n\nOriginal query:\nWhat is entanglement?\n\n"
              "Response 1:\nTwo particles.\n\nResponse 2:\nTwo dice.\n\nWhich response is best? "
              "Reply with ONLY the response number (e.g., \"1\" or \"2\").");
    phi__buf_clear(&out);
    c.context = PHI__LIT(" \n"); /* blank */
    c.count = 1;
    phi__judge_prompt(&out, &c);
    CHECK_STR(phi__buf_str(&out),
              "Original query:\nWhat is entanglement?\n\nResponse 1:\nTwo particles.\n\nWhich "
              "response is best? Reply with ONLY the response number (e.g., \"1\" or \"2\").");
    phi__buf_free(&out);
    CHECK(strstr(phi_text_default(PHI_TEXT_JUDGE, NULL), "impartial judge") != NULL);
}

/* ---- fitting ---- */

/* n times the text, in the arena. */
static phi_str times(const char *text, size_t n) {
    size_t len = strlen(text), i;
    char *at = (char *)phi_arena_alloc(&arena, len * n + 1);
    for (i = 0; i < n; i++) memcpy(at + i * len, text, len);
    at[len * n] = '\0';
    return phi__str(at, len * n);
}

typedef struct fit_row {
    phi_str context, response;
    size_t count;
    uint64_t max_tokens;
    phi_status want;
    size_t context_len, response_len; /* afterwards */
} fit_row;

static void fit_one(const fit_row *row, size_t at) {
    phi_str responses[4];
    phi__judge_case c = PHI_ZERO;
    size_t i;
    c.context = row->context;
    c.query = PHI__LIT("q");
    c.responses = responses;
    c.count = row->count;
    for (i = 0; i < row->count; i++) responses[i] = row->response;
    CHECK_EQ_INT(phi__judge_fit(&c, row->max_tokens, NULL, &arena), row->want);
    if (!CHECK_EQ_INT(c.context.len, row->context_len)) printf("    row %d\n", (int)at);
    for (i = 0; i < row->count; i++)
        if (!CHECK_EQ_INT(responses[i].len, row->response_len)) printf("    row %d\n", (int)at);
}

TEST(a_case_is_shortened_in_two_passes_of_three_tiers) {
    phi_str lines, paragraphs, wide, ten;
    size_t i;
    setup();
    lines = times("123456789\n", 200);      /* 2000 bytes, 500 tokens */
    paragraphs = times("12345678\n\n", 60); /* 600 bytes, 150 tokens */
    wide = times("x", 4000);                /* one line, 1000 tokens */
    ten = times("0123456789", 10);          /* 100 bytes, 25 tokens */
    {
        /* Budgets are 4/5 of max_tokens. */
        fit_row rows[] = {
            {lines, ten, 2, 0, PHI_OK, 2000, 100},   /* no limit */
            {lines, ten, 2, 688, PHI_OK, 2000, 100}, /* 550: it fits as it is */
            {lines, ten, 2, 687, PHI_OK, 790, 100},  /* 549: tier 1, 80 lines (the last is empty) */
            {lines, ten, 2, 310, PHI_OK, 790, 100},  /* 248: just so */
            {lines, ten, 2, 300, PHI_OK, 760, 100},  /* 240: tier 3, (240 - 50) * 4 */
            {lines, ten, 2, 125, PHI_OK, 200, 100},  /* 100: tier 3, the least */
            {paragraphs, ten, 2, 125, PHI_OK, 16, 100}, /* 100: tier 2, and the last one is empty */
            {wide, ten, 2, 125, PHI_OK, 200, 100},
            {wide, ten, 2, 124, PHI_LIMIT, 200, 100}, /* 99: nothing gets shorter than the least */
            {ten, wide, 2, 1000, PHI_LIMIT, 100, 1600}, /* 800: each 800 * 4 / 2, and the context */
            {PHI__LIT(""), wide, 2, 1000, PHI_OK, 0, 1600},
            {PHI__LIT(""), wide, 3, 1000, PHI_OK, 0, 1064},
            {PHI__LIT(""), wide, 4, 100, PHI_LIMIT, 0, 200},
            {PHI__LIT(""), lines, 2, 600, PHI_OK, 0, 790},
            {ten, ten, 4, 1, PHI_LIMIT, 100, 100}, /* 0 */
        };
        for (i = 0; i < PHI__COUNT(rows); i++) fit_one(&rows[i], i);
    }
    phi_arena_free(&arena);
}

TEST(tiers_keep_the_end_and_the_outer_paragraphs_and_whole_characters) {
    phi_str response = PHI__LIT("r");
    phi__judge_case c = PHI_ZERO;
    size_t i;
    phi__buf text;
    setup();
    phi__buf_init(&text, &memory);
    for (i = 0; i < 100; i++) phi__buf_printf(&text, "%sline %d", i > 0 ? "\n" : "", (int)i);
    c.context = phi__buf_str(&text);
    c.query = response;
    c.responses = &response;
    c.count = 1;
    CHECK_EQ_INT(phi__judge_fit(&c, 220, NULL, &arena), PHI_OK);
    CHECK(phi__str_starts(c.context, "line 20\nline 21\n"));
    CHECK(phi__str_find(c.context, 0, "line 99") != SIZE_MAX);
    phi__buf_clear(&text);
    phi__buf_text(&text, "first\nparagraph\n\n");
    for (i = 0; i < 30; i++) phi__buf_text(&text, "in between\n\n");
    phi__buf_text(&text, "the\nlast");
    c.context = phi__buf_str(&text);
    CHECK_EQ_INT(phi__judge_fit(&c, 60, NULL, &arena), PHI_OK);
    CHECK_STR(c.context, "first\nparagraph\n\n...\n\nthe\nlast");
    phi__buf_clear(&text);
    for (i = 0; i < 300; i++) phi__buf_text(&text, "\xE2\x82\xAC"); /* 3 bytes each */
    c.context = phi__buf_str(&text);
    CHECK_EQ_INT(phi__judge_fit(&c, 70, NULL, &arena), PHI_OK);
    CHECK_EQ_INT(c.context.len, 72 * 3 + 3); /* 217 bytes have room for 72 of them */
    CHECK(phi__str_find(c.context, 72 * 3, "...") == 72 * 3);
    phi__buf_free(&text);
    phi_arena_free(&arena);
}

static size_t one_a_byte(void *user_data, phi_str text) {
    (void)user_data;
    return text.len;
}

TEST(a_counter_of_the_hosts_counts_for_the_fitting) {
    phi_token_counter counter = {one_a_byte, NULL};
    phi_str response = PHI__LIT("0123456789");
    phi__judge_case c = PHI_ZERO;
    setup();
    c.context = times("x", 300);
    c.query = response;
    c.responses = &response;
    c.count = 1;
    CHECK_EQ_INT(phi__judge_fit(&c, 400, &counter, &arena), PHI_OK);
    CHECK_EQ_INT(c.context.len, 300);
    CHECK_EQ_INT(phi__judge_fit(&c, 300, &counter, &arena), PHI_LIMIT);
    phi_arena_free(&arena);
}

TEST(a_fitting_without_memory_says_so) {
    phi_str response = PHI__LIT("r");
    phi__judge_case c = PHI_ZERO;
    setup();
    c.context = times("x", 3000);
    c.query = response;
    c.responses = &response;
    c.count = 1;
    memory.limit_bytes = memory.used_bytes; /* the arena has no room left */
    while (phi_arena_alloc(&arena, 64) != NULL) {}
    CHECK_EQ_INT(phi__judge_fit(&c, 100, NULL, &arena), PHI_NO_MEMORY);
    phi_arena_free(&arena);
}

TEST(any_case_fits_or_is_at_its_shortest) {
    uint32_t state = 7;
    int round;
    for (round = 0; round < 3000; round++) {
        phi_str responses[4], before[4];
        phi__judge_case c = PHI_ZERO;
        uint64_t max = 1 + test_random(&state) % 900, sum;
        size_t i, context;
        phi_status status;
        setup();
        c.count = 1 + test_random(&state) % 4;
        c.context =
            times(test_random(&state) % 2 ? "ab\n\ncd\n" : "abcde ", test_random(&state) % 300);
        context = c.context.len;
        for (i = 0; i < c.count; i++)
            before[i] = responses[i] =
                times(test_random(&state) % 2 ? "x\n\nyyyyyy\n" : "12 ", test_random(&state) % 300);
        c.responses = responses;
        c.query = PHI__LIT("");
        status = phi__judge_fit(&c, max, NULL, &arena);
        sum = phi_tokens_of_text(NULL, c.context);
        for (i = 0; i < c.count; i++) {
            sum += phi_tokens_of_text(NULL, responses[i]);
            CHECK(responses[i].len <= before[i].len);
        }
        CHECK(status == PHI_OK || status == PHI_LIMIT);
        CHECK((status == PHI_OK) == (sum <= max / 5 * 4 + max % 5 * 4 / 5));
        CHECK(c.context.len <= context);
        if (status == PHI_LIMIT) CHECK(c.context.len <= 200);
        phi_arena_free(&arena);
    }
}

/* ---- selections ---- */

static phi_branch branch_of(phi_status status, uint64_t tokens) {
    phi_branch b = PHI_ZERO;
    b.status = status;
    b.usage.total_tokens = tokens;
    return b;
}

TEST(branches_are_selected_by_their_figures) {
    static const struct {
        phi_status status[4];
        uint64_t tokens[4];
        size_t first, efficient, elaborate;
    } rows[] = {{{PHI_OK, PHI_OK, PHI_OK, PHI_OK}, {5, 3, 9, 4}, 0, 1, 2},
                {{PHI_OK, PHI_OK, PHI_OK, PHI_OK}, {5, 5, 5, 5}, 0, 0, 3}, /* equals */
                {{PHI_OK, PHI_OK, PHI_OK, PHI_OK}, {0, 0, 0, 0}, 0, 0, 3},
                {{PHI_NETWORK, PHI_OK, PHI_OK, PHI_OK}, {1, 3, 2, 4}, 1, 2, 3},
                {{PHI_NETWORK, PHI_OK, PHI_CANCELLED, PHI_OK}, {1, 3, 9, 4}, 1, 1, 3},
                {{PHI_OK, PHI_LIMIT, PHI_OK, PHI_NETWORK},
                 {5, 1, 7, 99},
                 0,
                 1,
                 2}, /* a limit is no fault */
                {{PHI_NETWORK, PHI_NETWORK, PHI_NETWORK, PHI_NETWORK}, {5, 1, 7, 2}, 0, 1, 2},
                {{PHI_NETWORK, PHI_CANCELLED, PHI_NETWORK, PHI_REJECTED}, {0, 0, 0, 0}, 0, 0, 3}};
    size_t i, k;
    for (i = 0; i < PHI__COUNT(rows); i++) {
        phi_branch b[4];
        for (k = 0; k < 4; k++) {
            b[k] = branch_of(rows[i].status[k], rows[i].tokens[k]);
            b[k].text = phi_str_of("an answer");
        }
        CHECK_EQ_INT(phi__select_by(PHI_EVALUATE_FIRST, b, 4), rows[i].first);
        CHECK_EQ_INT(phi__select_by(PHI_EVALUATE_TRANSPARENT, b, 4), rows[i].first);
        CHECK_EQ_INT(phi__select_first(b, 4), rows[i].first);
        CHECK_EQ_INT(phi__select_by(PHI_EVALUATE_TOKEN_EFFICIENT, b, 4), rows[i].efficient);
        CHECK_EQ_INT(phi__select_by(PHI_EVALUATE_ELABORATE, b, 4), rows[i].elaborate);
        CHECK_EQ_INT(phi__select_by(PHI_EVALUATE_ELABORATE, b, 1), 0);
    }
}

TEST_MAIN(TEST_ENTRY(verdicts_are_the_first_word_whose_digits_name_a_response),
          TEST_ENTRY(verdicts_of_any_bytes_are_responses),
          TEST_ENTRY(a_transcript_has_the_text_of_messages_and_nothing_else),
          TEST_ENTRY(a_prompt_has_context_query_and_numbered_responses),
          TEST_ENTRY(a_case_is_shortened_in_two_passes_of_three_tiers),
          TEST_ENTRY(tiers_keep_the_end_and_the_outer_paragraphs_and_whole_characters),
          TEST_ENTRY(a_counter_of_the_hosts_counts_for_the_fitting),
          TEST_ENTRY(a_fitting_without_memory_says_so),
          TEST_ENTRY(any_case_fits_or_is_at_its_shortest),
          TEST_ENTRY(branches_are_selected_by_their_figures))
