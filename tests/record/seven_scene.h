/* seven_scene.h - one conversation with a tool in each protocol, by public functions only: recorded over HTTP, played
   in the test suite and by programs of other compilers (replay_main.c). */
#ifndef PHI_TESTS_SESSION_SEVEN_SCENE_H
#define PHI_TESTS_SESSION_SEVEN_SCENE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct scene_protocol {
    const char *protocol, *provider, *id, *base; /* base: behind the scenario */
} scene_protocol;

static const scene_protocol scene_seven[] = {
    {PHI_PROTOCOL_ANTHROPIC, "anthropic", "claude-sonnet-4-5", ""},
    {PHI_PROTOCOL_OPENAI_CHAT, "openai", "gpt-4.1-mini", "/v1"},
    {PHI_PROTOCOL_OPENAI_RESPONSES, "openai", "gpt-4.1-mini", "/v1"},
    {PHI_PROTOCOL_AZURE_RESPONSES, "azure", "my-deployment", "/openai/v1"},
    {PHI_PROTOCOL_GOOGLE, "google", "gemini-3-pro-preview", "/v1beta"},
    {PHI_PROTOCOL_VERTEX, "vertex", "gemini-3-pro-preview", "/v1/projects/p/locations/global"},
    {PHI_PROTOCOL_INTERACTIONS, "google", "gemini-3-pro-preview", "/v1beta"},
    {PHI_PROTOCOL_BEDROCK, "bedrock", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", ""}};
enum { SCENE_SEVEN = 8 };

static int scene_doubled; /* calls of the tool */

static phi_flow scene_double(void *user_data, phi_call call, phi_str arguments) {
    int64_t n = phi_call_arg_int(call, "n", 0);
    char text[40];
    (void)user_data;
    (void)arguments;
    scene_doubled++;
    (void)snprintf(text, sizeof text, "%lld", (long long)(2 * n));
    (void)phi_call_reply(call, text);
    return PHI_DONE;
}

/* host: "http://127.0.0.1:PORT". Two prompts, each to its end. 0: something went wrong. */
static uint64_t scene_run(const phi_runtime_desc *desc, size_t i, const char *host) {
    const scene_protocol *p = &scene_seven[i];
    phi_runtime *rt;
    phi_runtime_desc runtime_desc = PHI_ZERO;
    phi_agent_desc agent_desc;
    phi_agent agent;
    phi_tool tool;
    phi_event event;
    char url[400];
    uint64_t hash = 0;
    int prompt, steps;
    runtime_desc = *desc;
    runtime_desc.codecs = PHI_ALL_PROTOCOLS;
    rt = phi_runtime_new(&runtime_desc);
    if (rt == NULL) return 0;
    memset(&agent_desc, 0, sizeof agent_desc);
    memset(&tool, 0, sizeof tool);
    tool.name = "double";
    tool.description = "Doubles a number.";
    tool.schema =
        "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}},\"required\":[\"n\"]}";
    tool.start = scene_double;
    (void)snprintf(url, sizeof url, "%s/s/lookup%s", host, p->base);
    agent_desc.model.protocol = p->protocol;
    agent_desc.model.provider = p->provider;
    agent_desc.model.id = p->id;
    agent_desc.model.base_url = url;
    agent_desc.model.api_key = "key-of-the-scene";
    agent_desc.tools = &tool;
    agent_desc.tool_count = 1;
    agent = phi_agent_new(rt, &agent_desc);
    for (prompt = 0; prompt < 2; prompt++) {
        if (phi_prompt(agent, prompt == 0 ? "Begin." : "And again?") != PHI_OK) break;
        for (steps = 0; steps < 200000 && phi_step(rt, 5) > 0; steps++)
            while (phi_next_event(rt, &event)) {}
        while (phi_next_event(rt, &event)) {}
    }
    if (prompt == 2 && phi_thread_message_count(phi_agent_thread(agent)) == 8)
        hash = phi_thread_hash(phi_agent_thread(agent));
    phi_runtime_free(rt);
    return hash;
}

#endif
