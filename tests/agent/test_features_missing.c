/* test_features_missing.c - a runtime without a feature refuses what needs it, and names the feature. */
#include "agent/snapshot.h"
#include "features/failover.h"
#include "support/rig.h"

static phi_runtime *plain_runtime(void) {
    phi_runtime_desc desc = PHI_ZERO;
    desc.allocator = test_allocator();
    return phi_runtime_new(&desc);
}

static void refused(phi_runtime *rt, const phi_agent_desc *desc, const char *what,
                    const char *feature) {
    CHECK(phi_agent_new(rt, desc).rt == NULL);
    CHECK_EQ_INT(phi_last_error(rt).status, PHI_UNSUPPORTED);
    CHECK(strstr(phi_last_error(rt).message, feature) != NULL);
    CHECK(strstr(phi_last_error(rt).message, what) != NULL);
}

static void hear_field(void *user_data, const phi_field *field) { (void)user_data, (void)field; }

TEST(a_field_of_a_desc_that_needs_a_feature_names_it) {
    phi_runtime *rt = plain_runtime();
    phi_agent_desc desc = rig_desc();
    struct phi_failover failover = PHI_ZERO;
    phi_policy policy = PHI_ZERO;
    phi_tool tool = rig_echo();
    phi_tool_source source = PHI_ZERO;
    const phi_tool_source *sources = &source;
    REQUIRE(rt != NULL);
    desc.failover = &failover;
    refused(rt, &desc, "failover", "phi_feature_failover");
    desc = rig_desc();
    desc.options.capture_requests = true;
    refused(rt, &desc, "options.capture_requests", "phi_feature_capture");
    desc = rig_desc();
    desc.tool_options.sources = &sources;
    desc.tool_options.source_count = 1;
    refused(rt, &desc, "tool_options.sources", "phi_feature_tool_sources");
    desc = rig_desc();
    policy.summaries = PHI_SUMMARIES_WRITE;
    desc.policy = &policy;
    refused(rt, &desc, "policy.summaries", "phi_feature_summaries");
    desc = rig_desc();
    desc.tools = &tool;
    desc.tool_count = 1;
    tool.on_field = hear_field;
    refused(rt, &desc, "on_field", "phi_feature_argument_stream");
    tool = rig_echo();
    tool.strict = true;
    refused(rt, &desc, "strict", "phi_feature_formats");
    tool = rig_echo();
    tool.deferred = true;
    refused(rt, &desc, "deferred", "phi_feature_deferral");
    desc = rig_desc();
    desc.format.kind = PHI_FORMAT_JSON_OBJECT;
    refused(rt, &desc, "format", "phi_feature_formats");
    phi_runtime_free(rt);
}

/* The snapshot of a fresh agent, with a member more. */
static void refused_with(phi_runtime *rt, phi_str snapshot, const char *member, const char *what,
                         const char *feature) {
    char text[8000];
    phi_agent_desc desc = rig_desc();
    size_t len = snapshot.len;
    while (len > 0 && snapshot.at[len - 1] != '}') len--;
    REQUIRE(len > 0 && len + strlen(member) + 2 < sizeof text);
    /* at the end, where it counts in place of a member of the same name */
    (void)snprintf(text, sizeof text, "%.*s,%s}", (int)len - 1, snapshot.at, member);
    CHECK(phi_agent_restore(rt, &desc, phi_str_of(text), PHI_RESTORE_RESUME).rt == NULL);
    CHECK_EQ_INT(phi_last_error(rt).status, PHI_UNSUPPORTED);
    CHECK(strstr(phi_last_error(rt).message, what) != NULL);
    CHECK(strstr(phi_last_error(rt).message, feature) != NULL);
}

TEST(a_snapshot_that_needs_a_feature_names_it) {
    rig *r = rig_new();
    phi_agent_desc desc = rig_desc();
    phi_agent agent = rig_agent(r, &desc);
    phi_runtime *rt = plain_runtime();
    phi_memory memory;
    phi_arena arena;
    phi_str text = phi_str_of("");
    REQUIRE(rt != NULL);
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    CHECK_EQ_INT(phi_agent_snapshot(agent, &arena, &text), PHI_OK);
    refused_with(rt, text, "\"facts\":{}", "facts", "phi_feature_facts");
    refused_with(rt, text, "\"failover\":{}", "another model's seat", "phi_feature_failover");
    refused_with(rt, text, "\"loaded_tools\":[]", "loaded tools", "phi_feature_deferral");
    refused_with(rt, text, "\"put_off\":{}", "a deferred rewrite", "phi_feature_deferred_rewrites");
    refused_with(rt, text, "\"run\":{\"failover\":{}}", "a failover", "phi_feature_failover");
    refused_with(rt, text, "\"run\":{\"tool_state\":{}}", "a tool state", "phi_feature_tool_state");
    refused_with(rt, text, "\"run\":{\"prune\":{}}", "a context edit", "phi_feature_context_edits");
    refused_with(rt, text, "\"run\":{\"revert\":{}}", "a context edit",
                 "phi_feature_context_edits");
    refused_with(rt, text, "\"run\":{\"format\":{\"kind\":1}}", "a format", "phi_feature_formats");
    refused_with(rt, text, "\"run\":{\"policy\":{\"summaries\":3}}", "a policy with summaries",
                 "phi_feature_summaries");
    refused_with(rt, text, "\"thread\":[{\"kind\":\"note\",\"name\":\"phi.state\"}]",
                 "a tool state", "phi_feature_tool_state");
    refused_with(rt, text, "\"head\":{\"tools\":[[\"a\",\"b\",\"c\",true]]}", "a strict tool",
                 "phi_feature_formats");
    phi_arena_free(&arena);
    phi_runtime_free(rt);
    rig_free(r);
}

TEST_MAIN(TEST_ENTRY(a_field_of_a_desc_that_needs_a_feature_names_it),
          TEST_ENTRY(a_snapshot_that_needs_a_feature_names_it))
