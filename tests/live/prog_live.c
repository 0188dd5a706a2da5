/* prog_live.c - make live: one conversation with a tool for each protocol whose key is in the environment.

   NAME_API_KEY, and for tests of this program or for proxies NAME_BASE_URL and NAME_MODEL. A protocol
   without a key is reported as skipped. Exit code 1 when a conversation went wrong. Costs money: a few
   hundred tokens each. */
#include "agent/agent.h"
#include "base/base_in.h"
#include "loop/events.h"
#include "codecs/presets.h"
#include "model/model.h"
#include "loop/loop_in.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct line {
    const char *name, *protocol, *provider, *key, *base_variable, *base, *model_variable, *model;
} line;

/* Names of models are those of November 2026; NAME_MODEL takes another. */
static const line lines[] = {
    {"Anthropic Messages", PHI_PROTOCOL_ANTHROPIC, "anthropic", "ANTHROPIC_API_KEY",
     "ANTHROPIC_BASE_URL", "https://api.anthropic.com", "ANTHROPIC_MODEL", "claude-haiku-4-5"},
    {"OpenAI Chat Completions", PHI_PROTOCOL_OPENAI_CHAT, "openai", "OPENAI_API_KEY",
     "OPENAI_BASE_URL", "https://api.openai.com/v1", "OPENAI_MODEL", "gpt-5-mini"},
    {"OpenAI Responses", PHI_PROTOCOL_OPENAI_RESPONSES, "openai", "OPENAI_API_KEY",
     "OPENAI_BASE_URL", "https://api.openai.com/v1", "OPENAI_MODEL", "gpt-5-mini"},
    {"Azure OpenAI Responses", PHI_PROTOCOL_AZURE_RESPONSES, "azure_openai", "AZURE_OPENAI_API_KEY",
     "AZURE_OPENAI_BASE_URL", NULL, "AZURE_OPENAI_MODEL", "gpt-5-mini"},
    {"Google Gemini", PHI_PROTOCOL_GOOGLE, "google", "GEMINI_API_KEY", "GEMINI_BASE_URL",
     "https://generativelanguage.googleapis.com/v1beta", "GEMINI_MODEL", "gemini-2.5-flash"},
    {"Vertex AI", PHI_PROTOCOL_VERTEX, "google_vertex", "VERTEX_ACCESS_TOKEN", "VERTEX_BASE_URL",
     NULL, "VERTEX_MODEL", "gemini-2.5-flash"},
    {"Google Interactions", PHI_PROTOCOL_INTERACTIONS, "google_interactions", "GEMINI_API_KEY",
     "GEMINI_BASE_URL", "https://generativelanguage.googleapis.com/v1beta", "INTERACTIONS_MODEL",
     "gemini-3-flash-preview"},
    {"Amazon Bedrock", PHI_PROTOCOL_BEDROCK, "bedrock", "AWS_BEARER_TOKEN_BEDROCK",
     "BEDROCK_BASE_URL", "https://bedrock-runtime.us-east-1.amazonaws.com", "BEDROCK_MODEL",
     "us.anthropic.claude-haiku-4-5-20251001-v1:0"},
};

static const char *from(const char *variable, const char *fallback) {
    const char *value = getenv(variable);
    return value != NULL && value[0] != '\0' ? value : fallback;
}

static phi_flow weather(void *user_data, phi_call call, phi_str arguments) {
    (void)arguments;
    ++*(int *)user_data;
    (void)phi_call_reply(call, "Hail the size of walnuts.");
    return PHI_DONE;
}

/* By the presets, which know the quirks. */
static phi_model model_of(const line *l, const char *key) {
    const char *id = from(l->model_variable, l->model);
    phi_model model = PHI_ZERO;
    if (strcmp(l->protocol, PHI_PROTOCOL_ANTHROPIC) == 0) return phi_model_anthropic(id, key);
    if (strcmp(l->protocol, PHI_PROTOCOL_OPENAI_CHAT) == 0) return phi_model_openai(id, key);
    if (strcmp(l->protocol, PHI_PROTOCOL_OPENAI_RESPONSES) == 0)
        return phi_model_openai_responses(id, key);
    if (strcmp(l->protocol, PHI_PROTOCOL_GOOGLE) == 0) return phi_model_google(id, key);
    if (strcmp(l->protocol, PHI_PROTOCOL_INTERACTIONS) == 0) return phi_model_interactions(id, key);
    model.protocol = l->protocol;
    model.provider = l->provider;
    model.id = id;
    model.api_key = key;
    return model;
}

/* The run's words go to the screen as they come; its status is returned. */
static phi_status talk(phi_runtime *rt, phi_agent agent) {
    phi_event event;
    phi_status status = phi_prompt(agent, "What is the weather in Oslo? Use the tool, then answer "
                                          "in one sentence.");
    bool over = status != PHI_OK;
    while (!over) {
        (void)phi_step(rt, 100);
        while (phi_next_event(rt, &event)) {
            if (event.kind == PHI_EV_TEXT) printf("%.*s", (int)event.text.len, event.text.at);
            if (event.kind == PHI_EV_ERROR) printf("%.*s", (int)event.text.len, event.text.at);
            if (event.kind != PHI_EV_AGENT_END) continue;
            status = event.status;
            over = true;
        }
        (void)fflush(stdout);
    }
    return status;
}

/* 0: good, or skipped. */
static int try_line(phi_runtime *rt, const line *l) {
    const char *key = from(l->key, NULL), *base = from(l->base_variable, l->base), *words = NULL;
    phi_agent_desc desc = PHI_ZERO;
    phi_tool tool = PHI_ZERO;
    phi_agent agent;
    phi_status status;
    int called = 0;
    if (key == NULL || base == NULL) {
        printf("skipped  %s: no %s\n", l->name, key == NULL ? l->key : l->base_variable);
        return 0;
    }
    tool.name = "weather";
    tool.description = "Says what the weather is in a city";
    tool.schema = "{\"type\":\"object\",\"properties\":{\"city\":{\"type\":\"string\"}},"
                  "\"required\":[\"city\"]}";
    tool.start = weather;
    tool.user_data = &called;
    desc.model = model_of(l, key);
    desc.model.base_url = base;
    desc.tools = &tool;
    desc.tool_count = 1;
    agent = phi_agent_new(rt, &desc);
    if (agent.rt == NULL) {
        words = phi_last_error(rt).message;
        printf("FAILED   %s: %s\n", l->name, words);
        return 1;
    }
    printf("         %s: ", l->name);
    status = talk(rt, agent);
    printf("\n%s %s: %s, %d calls\n", status == PHI_OK && called > 0 ? "ok      " : "FAILED  ",
           l->name, phi_status_text(status), called);
    phi_agent_free(agent);
    return status == PHI_OK && called > 0 ? 0 : 1;
}

int main(void) {
    phi_runtime_desc runtime = PHI_ZERO;
    phi_runtime *rt;
    size_t i;
    int failed = 0;
    runtime.codecs = PHI_ALL_PROTOCOLS;
    rt = phi_runtime_new(&runtime);
    if (rt == NULL) return 2;
    for (i = 0; i < PHI__COUNT(lines); i++) failed |= try_line(rt, &lines[i]);
    phi_runtime_free(rt);
    return failed;
}
