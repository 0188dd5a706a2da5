/* Tokens by estimate: behaviours C 35 and C 45. */
#include "support/test.h"

#include "model/tokens.h"

static phi_str text_of_length(size_t n) { return phi__str("", n); } /* estimates only look at it */

static phi_content text_block(phi_content_kind kind, const char *text) {
    phi_content c = PHI_ZERO;
    c.kind = kind;
    c.text = phi_str_of(text);
    return c;
}

/* The tokens of one block: those of a message with it, less the frame of an empty one. */
static size_t content_tokens(const phi_token_counter *counter, const phi_content *content) {
    phi_message m = PHI_ZERO;
    size_t frame;
    m.role = PHI_ROLE_USER;
    frame = phi_tokens_of_message(counter, &m);
    m.content = content;
    m.content_count = 1;
    return phi_tokens_of_message(counter, &m) - frame;
}

static size_t image_tokens(size_t base64_bytes) {
    phi_content c = PHI_ZERO;
    c.kind = PHI_CONTENT_IMAGE;
    c.data = text_of_length(base64_bytes);
    c.mime_type = phi_str_of("image/png");
    return content_tokens(NULL, &c);
}

static phi_content call_block(const char *name, const char *arguments) {
    phi_content c = PHI_ZERO;
    c.kind = PHI_CONTENT_TOOL_CALL;
    c.id = phi_str_of("toolu_0123456789");
    c.name = phi_str_of(name);
    c.arguments = phi_str_of(arguments);
    return c;
}

static phi_message message_of(phi_role role, const phi_content *content, size_t n) {
    phi_message m = PHI_ZERO;
    m.role = role;
    m.content = content;
    m.content_count = n;
    return m;
}

static size_t hundred_a_text(void *user_data, phi_str text) {
    size_t *asked = (size_t *)user_data;
    (void)text;
    if (asked != NULL) ++*asked;
    return 100;
}

TEST(a_text_is_a_quarter_of_its_bytes_rounded_up) {
    CHECK_EQ_INT(phi_tokens_of_text(NULL, phi_str_of("")), 0);
    CHECK_EQ_INT(phi_tokens_of_text(NULL, phi_str_of("a")), 1);
    CHECK_EQ_INT(phi_tokens_of_text(NULL, phi_str_of("abcd")), 1);
    CHECK_EQ_INT(phi_tokens_of_text(NULL, phi_str_of("abcde")), 2);
    CHECK_EQ_INT(phi_tokens_of_text(NULL, phi_str_of("\xe4\xb8\xad\xe6\x96\x87")), 2); /* bytes */
    CHECK_EQ_INT(phi_tokens_of_text(NULL, phi__str(NULL, 0)), 0);
}

TEST(an_image_is_its_bytes_by_750_between_85_and_16000) {
    CHECK_EQ_INT(image_tokens(0), 85);
    CHECK_EQ_INT(image_tokens(85999), 85);
    CHECK_EQ_INT(image_tokens(86000), 86);
    CHECK_EQ_INT(image_tokens(100000), 100);
    CHECK_EQ_INT(image_tokens(15998999), 15998);
    CHECK_EQ_INT(image_tokens(15999999), 15999);
    CHECK_EQ_INT(image_tokens(16000000), 16000);
    CHECK_EQ_INT(image_tokens(16000001), 16000);
    CHECK_EQ_INT(image_tokens(SIZE_MAX), 16000);
    CHECK_EQ_INT(image_tokens(SIZE_MAX / 3), 16000);
    CHECK_EQ_INT(image_tokens(SIZE_MAX / 3 + 2), 16000);
}

TEST(a_tool_call_is_its_name_its_arguments_and_eight) {
    phi_content c = call_block("read_file", "{\"path\":\"a.txt\"}");
    CHECK_EQ_INT(content_tokens(NULL, &c), 3 + 4 + 8);
    c = call_block("", "");
    CHECK_EQ_INT(content_tokens(NULL, &c), 8);
}

TEST(thinking_counts_as_text_and_its_signature_does_not_count) {
    phi_content c = text_block(PHI_CONTENT_THINKING, "hmm, well");
    c.signature = phi_str_of("abcdefghijklmnop");
    CHECK_EQ_INT(content_tokens(NULL, &c), 3);
}

TEST(a_user_or_assistant_message_is_its_blocks_and_four) {
    phi_content blocks[3];
    phi_message m;
    blocks[0] = text_block(PHI_CONTENT_TEXT, "12345678");
    blocks[1] = text_block(PHI_CONTENT_THINKING, "1234");
    blocks[2] = call_block("ls", "{}");
    m = message_of(PHI_ROLE_USER, blocks, 1);
    CHECK_EQ_INT(phi_tokens_of_message(NULL, &m), 2 + 4);
    m = message_of(PHI_ROLE_ASSISTANT, blocks, 3);
    CHECK_EQ_INT(phi_tokens_of_message(NULL, &m), 2 + 1 + (1 + 1 + 8) + 4);
    m = message_of(PHI_ROLE_ASSISTANT, NULL, 0);
    CHECK_EQ_INT(phi_tokens_of_message(NULL, &m), 4);
}

TEST(a_tool_result_is_its_blocks_its_tools_name_and_eight) {
    phi_content block = text_block(PHI_CONTENT_TEXT, "12345");
    phi_message m = message_of(PHI_ROLE_TOOL_RESULT, &block, 1);
    m.tool_name = phi_str_of("read_file");
    m.tool_call_id = phi_str_of("toolu_0123456789");
    m.details = phi_str_of("{\"bytes\":12345678}");
    CHECK_EQ_INT(phi_tokens_of_message(NULL, &m), 2 + 3 + 8);
}

TEST(an_extension_is_its_data_and_four) {
    phi_message m = message_of(PHI_ROLE_EXTENSION, NULL, 0);
    m.extension_kind = phi_str_of("a.very.long.kind");
    m.extension_data = phi_str_of("{\"x\":1}");
    CHECK_EQ_INT(phi_tokens_of_message(NULL, &m), 2 + 4);
}

TEST(a_counter_replaces_the_estimate_of_text_and_overheads_stay) {
    phi_token_counter counter = PHI_ZERO;
    phi_content blocks[4];
    phi_message m;
    size_t asked = 0;
    counter.count_text = hundred_a_text;
    counter.user_data = &asked;
    CHECK_EQ_INT(phi_tokens_of_text(&counter, phi_str_of("a")), 100);
    blocks[0] = text_block(PHI_CONTENT_TEXT, "a");
    blocks[1] = text_block(PHI_CONTENT_THINKING, "b");
    blocks[2] = call_block("ls", "{}");
    memset(&blocks[3], 0, sizeof blocks[3]);
    blocks[3].kind = PHI_CONTENT_IMAGE;
    m = message_of(PHI_ROLE_ASSISTANT, blocks, 4);
    asked = 0;
    CHECK_EQ_INT(phi_tokens_of_message(&counter, &m), 100 + 100 + (100 + 100 + 8) + 85 + 4);
    CHECK_EQ_INT(asked, 4);
    m = message_of(PHI_ROLE_TOOL_RESULT, blocks, 1);
    CHECK_EQ_INT(phi_tokens_of_message(&counter, &m), 100 + 100 + 8);
    m = message_of(PHI_ROLE_EXTENSION, NULL, 0);
    CHECK_EQ_INT(phi_tokens_of_message(&counter, &m), 100 + 4);
}

TEST(a_counter_without_a_function_is_the_estimate) {
    phi_token_counter counter = PHI_ZERO;
    CHECK_EQ_INT(phi_tokens_of_text(&counter, phi_str_of("abcde")), 2);
}

static size_t endless(void *user_data, phi_str text) {
    (void)user_data;
    (void)text;
    return SIZE_MAX;
}

TEST(sums_stop_at_the_greatest_number) {
    phi_token_counter counter = PHI_ZERO;
    phi_content blocks[2];
    phi_message m;
    counter.count_text = endless;
    blocks[0] = text_block(PHI_CONTENT_TEXT, "a");
    blocks[1] = call_block("ls", "{}");
    m = message_of(PHI_ROLE_ASSISTANT, blocks, 2);
    CHECK(phi_tokens_of_message(&counter, &m) == SIZE_MAX);
    m.role = PHI_ROLE_TOOL_RESULT;
    CHECK(phi_tokens_of_message(&counter, &m) == SIZE_MAX);
    m.role = PHI_ROLE_EXTENSION;
    CHECK(phi_tokens_of_message(&counter, &m) == SIZE_MAX);
    CHECK(phi_tokens_of_text(NULL, text_of_length(SIZE_MAX)) == SIZE_MAX / 4 + 1);
}

TEST(what_is_not_there_counts_nothing) {
    phi_content unknown = PHI_ZERO;
    CHECK_EQ_INT(phi_tokens_of_message(NULL, NULL), 0);
    CHECK_EQ_INT(content_tokens(NULL, &unknown), 0);
}

TEST_MAIN(TEST_ENTRY(a_text_is_a_quarter_of_its_bytes_rounded_up),
          TEST_ENTRY(an_image_is_its_bytes_by_750_between_85_and_16000),
          TEST_ENTRY(a_tool_call_is_its_name_its_arguments_and_eight),
          TEST_ENTRY(thinking_counts_as_text_and_its_signature_does_not_count),
          TEST_ENTRY(a_user_or_assistant_message_is_its_blocks_and_four),
          TEST_ENTRY(a_tool_result_is_its_blocks_its_tools_name_and_eight),
          TEST_ENTRY(an_extension_is_its_data_and_four),
          TEST_ENTRY(a_counter_replaces_the_estimate_of_text_and_overheads_stay),
          TEST_ENTRY(a_counter_without_a_function_is_the_estimate),
          TEST_ENTRY(sums_stop_at_the_greatest_number),
          TEST_ENTRY(what_is_not_there_counts_nothing))
