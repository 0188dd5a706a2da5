/* e2e.h - what the end-to-end tests share: a model of each protocol on the mock, and a tool. */
#ifndef PHI_TESTS_E2E_E2E_H
#define PHI_TESTS_E2E_E2E_H

#include "support/crowd.h"
#include "support/mock_server.h"
#include "tools/tools.h"
#include "codecs/presets.h"
#include "model/model.h"

static const char *const e2e_options[] = {"--scenario", "tests/e2e/scenarios.json", NULL};

typedef enum e2e_wire { E2E_ANTHROPIC, E2E_CHAT, E2E_WIRES } e2e_wire;

static inline const char *e2e_name(e2e_wire wire) {
    return wire == E2E_ANTHROPIC ? "anthropic" : "chat";
}

/* A model at a path of the mock such as "/m/bytes/s/demo"; it is as strict as the real ones are.
   Borrows the path until the desc was copied. */
static inline phi_model e2e_model(e2e_wire wire, const char *path) {
    phi_model model = wire == E2E_ANTHROPIC ? phi_model_anthropic("claude-sonnet-4-5", "a-key")
                                            : phi_model_openai("gpt-4.1-mini", "a-key");
    model.base_url = mock_url(path);
    return model;
}

/* "double" says twice its number; the schema wants {"n": integer}. */
static inline phi_flow e2e_double(void *user_data, phi_call call, phi_str arguments) {
    (void)user_data, (void)arguments;
    (void)phi_call_replyf(call, "%d", 2 * (int)phi_call_arg_int(call, "n", 0));
    return PHI_PENDING;
}

static inline phi_flow e2e_never(void *user_data, phi_call call, phi_str arguments) {
    (void)user_data;
    (void)call;
    (void)arguments;
    return PHI_PENDING;
}

/* Two tools: "double", and "never", which ends by its deadline of 100 ms. Static. */
static inline const phi_tool *e2e_tools(void) {
    static phi_tool tools[2];
    tools[0].name = "double";
    tools[0].description = "Doubles a number";
    tools[0].schema = "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}},"
                      "\"required\":[\"n\"]}";
    tools[0].start = e2e_double;
    tools[1].name = "never";
    tools[1].description = "Never ends";
    tools[1].start = e2e_never;
    tools[1].timeout_ms = 100;
    return tools;
}

/* Each model call is tried once: clear retry.disable where more is meant. */
static inline phi_agent_desc e2e_desc(e2e_wire wire, const char *path) {
    phi_agent_desc desc = PHI_ZERO;
    desc.model = e2e_model(wire, path);
    desc.system_prompt = "You are a test.";
    desc.tools = e2e_tools();
    desc.tool_count = 2;
    desc.retry.disable = true;
    return desc;
}

/* How often `what` stands in `text`. */
static inline int e2e_count(const char *text, const char *what) {
    int n = 0;
    while (text != NULL && (text = strstr(text, what)) != NULL) {
        n++;
        text += strlen(what);
    }
    return n;
}

/* The mock's number of a name in /_stats, such as "gone"; -1: none. */
static inline int e2e_stat(const char *name) {
    char *stats = mock_ask("GET", "/_stats"), key[64];
    const char *at;
    int n = -1;
    (void)snprintf(key, sizeof key, "\"%s\": ", name);
    at = stats != NULL ? strstr(stats, key) : NULL;
    if (at != NULL) n = atoi(at + strlen(key));
    free(stats);
    return n;
}

static inline void e2e_forget(void) { free(mock_ask("POST", "/_reset")); }

#endif
