/* test_config_page.c - docs/configuration.md: its reference is that of the reader's tables, and
   every block of its guide loads without a word. */
#include "config/reference.h"
#include "support/problems.h"
#include "support/made.h"

#define BEGIN "<!-- reference: make schema writes it -->\n"
#define END "<!-- end of the reference -->\n"

static char *page(void) {
    FILE *f = fopen("docs/configuration.md", "rb");
    char *at = (char *)malloc(1 << 19);
    size_t n = f != NULL && at != NULL ? fread(at, 1, (1 << 19) - 1, f) : 0;
    if (f != NULL) fclose(f);
    if (at != NULL) at[n] = '\0';
    return at;
}

TEST(the_reference_is_that_of_the_readers_tables) {
    static reference r;
    phi_memory memory;
    phi_allocator allocator = test_allocator();
    char *text = page(), *begin = strstr(text, BEGIN), *end = strstr(text, END);
    phi_memory_init(&memory, &allocator, 0);
    reference_write(&r, &memory);
    REQUIRE(begin != NULL && end != NULL && end > begin && !r.out.failed);
    begin += strlen(BEGIN);
    if (!CHECK(r.out.len == (size_t)(end - begin) && memcmp(begin, r.out.at, r.out.len) == 0))
        printf("docs/configuration.md is stale: make schema\n");
    phi__buf_free(&r.out);
    free(text);
}

static const char *guide_variable(void *user_data, const char *name) {
    (void)user_data;
    return strstr(name, "KEY") != NULL || strstr(name, "TOKEN") != NULL ? "secret" : NULL;
}

static void check_block(const char *text, size_t len, phi_config_format format) {
    phi_config_desc desc = PHI_ZERO;
    phi_agents_desc with = PHI_ZERO;
    phi_config_problem p;
    phi_agents *agents;
    rig *r = rig_new();
    phi_status status;
    size_t i;
    desc.allocator = test_allocator();
    desc.text.at = text;
    desc.text.len = len;
    desc.format = format;
    desc.path = "tests/config/fixtures/guide"; /* with the workspace and skills beside it */
    desc.variable_fn = guide_variable;
    desc.sections = phi_config_sections();
    with.check_only = true;
    {
        phi_config *config = phi_config_load(&desc);
        agents = phi_agents_from_config(rig_runtime(r), config, &with);
        while ((status = phi_agents_step(agents)) == PHI_BUSY) (void)rig_step(r);
        CHECK_EQ_INT(status, PHI_OK);
        for (i = 0; agents_problem(agents, i, &p); i++) CHECK_EQ_STR(p.message.at, "");
        for (i = 0; config_problem(config, i, &p); i++) CHECK_EQ_STR(p.message.at, "");
        phi_agents_free(agents);
        phi_config_free(config);
    }
    rig_free(r);
}

TEST(every_block_of_the_guide_loads_without_a_word) {
    static const struct {
        const char *fence;
        phi_config_format format;
    } kinds[] = {{"\n```toml\n", PHI_CONFIG_TOML},
                 {"\n```yaml\n", PHI_CONFIG_YAML},
                 {"\n```json\n", PHI_CONFIG_JSON}};
    char *text = page();
    size_t i, n = 0;
    for (i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const char *at = text;
        while ((at = strstr(at, kinds[i].fence)) != NULL) {
            const char *end;
            at += strlen(kinds[i].fence);
            end = strstr(at, "\n```");
            REQUIRE(end != NULL);
            check_block(at, (size_t)(end + 1 - at), kinds[i].format);
            n++;
        }
    }
    CHECK(n >= 10);
    free(text);
}

TEST_MAIN(TEST_ENTRY(the_reference_is_that_of_the_readers_tables),
          TEST_ENTRY(every_block_of_the_guide_loads_without_a_word))
