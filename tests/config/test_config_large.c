/* test_config_large.c - configurations that are large: the work and the messages stay small. */
#include "support/problems.h"
#include "config_test.h"

static phi_config *load(phi__buf *text) {
    phi_config *config;
    phi__buf_char(text, '\0');
    config = config_load(PHI_CONFIG_TOML, "f", text->failed ? "" : text->at);
    phi__buf_free(text);
    return config;
}

static phi__buf begin(phi_memory *memory) {
    phi__buf text;
    phi_memory_init(memory, NULL, 0);
    phi__buf_init(&text, memory);
    return text;
}

static size_t longest(const phi_config *config) {
    phi_config_problem p;
    size_t i, most = 0;
    for (i = 0; config_problem(config, i, &p); i++) most = phi__max(most, p.message.len);
    return most;
}

TEST(thousands_of_references_back_have_short_messages) {
    enum { COUNT = 3000 };
    phi_memory memory;
    phi__buf text = begin(&memory);
    phi_config *config;
    unsigned i;
    for (i = 0; i < COUNT; i++)
        phi__buf_printf(&text,
                        "[[sub_agents.instances]]\nid = \"s%u\"\nname = \"s%u\"\n"
                        "description = \"d\"\nsystem_prompt = \"x\"\nsub_agents = [\"s%u\", "
                        "\"s0\"]\n",
                        i, i, (i + 1) % COUNT);
    config = load(&text);
    CHECK_EQ_INT(config_status(config), PHI_BAD_ARG);
    CHECK_EQ_INT(config_error_count(config), COUNT + 1);
    CHECK_EQ_INT(config_problem_count(config), 1000);
    CHECK(longest(config) < 300);
    phi_config_free(config);
}

TEST(a_long_circle_shows_its_ends) {
    phi_memory memory;
    phi__buf text = begin(&memory);
    phi_config *config;
    unsigned i;
    for (i = 0; i < 40; i++)
        phi__buf_printf(&text,
                        "[[sub_agents.instances]]\nid = \"s%u\"\nname = \"s%u\"\n"
                        "description = \"d\"\nsystem_prompt = \"x\"\nsub_agents = [\"s%u\"]\n",
                        i, i, (i + 1) % 40);
    config = load(&text);
    CHECK_EQ_STR(config_said(config),
                 "f:240:15: sub_agents.instances[39] leads back to itself: s0 -> s1 -> s2 -> s3 -> "
                 "s4 -> s5 -> s6 -> s7 -> ... -> s32 -> s33 -> s34 -> s35 -> s36 -> s37 -> s38 -> "
                 "s39 -> s0; remove one of these references");
    phi_config_free(config);
}

TEST(names_in_messages_are_cut) {
    phi_memory memory;
    phi__buf text = begin(&memory);
    phi_config *config;
    unsigned i, j;
    for (i = 0; i < 9; i++) {
        phi__buf_text(&text, "[[provider.instances]]\nmodel = \"m\"\nid = \"");
        for (j = 0; j < 20000; j++) phi__buf_char(&text, 'q');
        phi__buf_printf(&text, "%u\"\n", i / 2);
    }
    for (i = 0; i < 5; i++)
        phi__buf_printf(&text, "[[agent.instances]]\nname = \"a%u\"\nprovider = \"zz\"\n", i);
    for (j = 0; j < 20000; j++) phi__buf_char(&text, 'k');
    phi__buf_text(&text, " = 1\n");
    config = load(&text);
    CHECK_EQ_INT(config_problem_count(config), 4 + 5 + 1);
    CHECK(longest(config) < 1200);
    phi_config_free(config);
}

TEST_MAIN(TEST_ENTRY(thousands_of_references_back_have_short_messages),
          TEST_ENTRY(a_long_circle_shows_its_ends), TEST_ENTRY(names_in_messages_are_cut))
