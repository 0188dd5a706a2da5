/* test_limits_carried.c - each limit of a run goes wherever settings go: a file, the file that is written of an
   agent, settings as JSON, a snapshot. */
#include "agent/agent_info.h"
#include "agent/snapshot.h"
#include "config/config_json.h"
#include "support/made.h"

#define PROVIDER "[provider]\nmodel = \"m\"\napi_key = \"k\"\napi = \"anthropic\"\n"

static const char text[] = PROVIDER "[execution]\nmax_turns = 7\nmax_total_tokens = 900\n"
                                    "max_duration_secs = 2.5\nmax_cost = 1.5\npause = true\n"
                                    "[provider.cost]\noutput_per_million = 1.0\n";

struct aligned {
    char before;
    double number; /* 4 bytes behind on some 32-bit machines, 8 on others */
};

static void carried(const phi_limits *l) {
    /* a new member: name it in `text`, compare it here, and see docs/architecture.md for its places */
    CHECK_EQ_INT(offsetof(phi_limits, disable),
                 offsetof(phi_limits, max_cost) + sizeof(double) + 1);
    CHECK_EQ_INT(offsetof(phi_limits, max_cost),
                 offsetof(phi_limits, max_duration_ms) + offsetof(struct aligned, number));
    CHECK_EQ_INT(l->max_turns, 7);
    CHECK_EQ_INT(l->max_tokens, 900);
    CHECK_EQ_INT(l->max_duration_ms, 2500);
    CHECK(l->max_cost > 1.49 && l->max_cost < 1.51);
    CHECK(l->pause);
}

TEST(each_limit_goes_wherever_settings_go) {
    rig *r = rig_new();
    rig *other = rig_new();
    made m, again;
    phi_memory memory;
    phi_arena arena;
    phi_agent_desc desc;
    phi_settings settings = PHI_ZERO, got = PHI_ZERO;
    phi_str out = phi_str_of("");
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    REQUIRE(made_load(&m, r, text, NULL, NULL, NULL));
    CHECK_EQ_STR(made_problems(&m), "");
    desc = made_desc(&m, NULL);
    carried(&desc.limits);
    CHECK_EQ_INT(phi_config_write(phi_agents_get(m.agents, NULL), PHI_CONFIG_TOML, &arena, &out),
                 PHI_OK);
    char *key = strstr(out.at, "${API_KEY}");
    REQUIRE(key != NULL);
    memcpy(key, "a-key-of-m", 10); /* the arena's bytes are ours */
    CHECK(made_load(&again, other, out.at, NULL, NULL, NULL));
    phi_agent_desc read = made_desc(&again, NULL);
    carried(&read.limits);
    settings.limits = desc.limits;
    CHECK_EQ_INT(phi_settings_to_json(&settings, 0, &arena, &out), PHI_OK);
    CHECK_EQ_INT(phi_settings_from_json(out, &arena, &got, NULL), PHI_OK);
    carried(&got.limits);
    CHECK_EQ_INT(phi_prompt(phi_agents_get(m.agents, NULL), "Go"), PHI_OK);
    CHECK_EQ_INT(phi_agent_snapshot(phi_agents_get(m.agents, NULL), &arena, &out), PHI_OK);
    CHECK(strstr(out.at, "\"max_turns\":7,\"max_tokens\":900,\"max_duration_ms\":2500,"
                         "\"max_cost\":1.5,") !=
          NULL); /* whether it pauses is up to the desc it is restored with */
    made_free(&again);
    made_free(&m);
    rig_free(other);
    phi_arena_free(&arena);
    rig_free(r);
}

TEST_MAIN(TEST_ENTRY(each_limit_goes_wherever_settings_go))
