/* messages.h - messages in few words, and agents that have some. */
#ifndef PHI_TESTS_AGENT_MESSAGES_H
#define PHI_TESTS_AGENT_MESSAGES_H

#include "support/heard.h"
#include "agent/agent_history.h"
#include "base/arena.h"

static inline phi_content text_block(const char *text) {
    phi_content content;
    memset(&content, 0, sizeof content);
    content.kind = PHI_CONTENT_TEXT;
    content.text = phi_str_of(text);
    return content;
}

static inline phi_content call_block(const char *id, const char *name, const char *arguments) {
    phi_content content;
    memset(&content, 0, sizeof content);
    content.kind = PHI_CONTENT_TOOL_CALL;
    content.id = phi_str_of(id);
    content.name = phi_str_of(name);
    content.arguments = phi_str_of(arguments);
    return content;
}

/* One block, which must stay. */
static inline phi_message message_of(phi_role role, const phi_content *content) {
    phi_message message;
    memset(&message, 0, sizeof message);
    message.role = role;
    message.content = content;
    message.content_count = 1;
    if (role == PHI_ROLE_ASSISTANT) message.stop_reason = PHI_STOP_REASON_STOP;
    return message;
}

static inline phi_message result_of(const char *id, const phi_content *content) {
    phi_message message = message_of(PHI_ROLE_TOOL_RESULT, content);
    message.tool_call_id = phi_str_of(id);
    message.tool_name = phi_str_of("echo");
    return message;
}

static inline phi_message extension_of(const char *kind, const char *data) {
    phi_message message;
    memset(&message, 0, sizeof message);
    message.role = PHI_ROLE_EXTENSION;
    message.extension_kind = phi_str_of(kind);
    message.extension_data = phi_str_of(data);
    return message;
}

/* An agent that has been asked and has answered. */
static inline phi_agent talked(rig *r) {
    phi_agent agent = rig_agent(r, NULL);
    rig_says(r, "the answer");
    CHECK_EQ_INT(phi_prompt(agent, "the question"), PHI_OK);
    CHECK_EQ_INT(rig_run(r, 20), 0);
    return agent;
}

/* The history as JSON, copied; caller frees with free(). */
static inline char *saved(phi_agent agent) {
    phi_memory memory;
    phi_arena arena;
    phi_str json = {NULL, 0};
    char *out = NULL;
    phi_memory_init(&memory, NULL, 0);
    phi_arena_init(&arena, &memory, 0);
    if (CHECK(phi_agent_messages_to_json(agent, &arena, &json) == PHI_OK)) {
        out = (char *)malloc(json.len + 1);
        if (out == NULL) abort();
        memcpy(out, json.at, json.len + 1);
    }
    phi_arena_free(&arena);
    CHECK_EQ_INT(memory.used_bytes, 0);
    return out;
}

static const char whole[] =
    "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"look \\\"here\\\"\"},"
    "{\"type\":\"image\",\"data\":\"aGk=\",\"mimeType\":\"image/png\"}],\"timestamp\":1700,"
    "\"turnId\":{\"loopId\":\"s.c.1\",\"turnIndex\":0}},"
    "{\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"hm\","
    "\"signature\":\"sig\",\"redacted\":true,\"replay\":\"a string\"},"
    "{\"type\":\"toolCall\",\"id\":\"t1\",\"name\":\"echo\",\"arguments\":{\"a\":1.5,\"b\":[null]}}"
    ","
    "{\"type\":\"toolCall\",\"id\":\"t2\",\"name\":\"echo\",\"arguments\":\"{broken\","
    "\"incomplete\":true}],\"stopReason\":\"toolUse\",\"model\":\"m\",\"provider\":\"p\","
    "\"api\":\"anthropic_messages\",\"usage\":{\"input\":1,\"output\":2,\"reasoning\":0,"
    "\"cache_read\":3,\"cache_write\":4,\"total_tokens\":10},\"timestamp\":1701},"
    "{\"role\":\"toolResult\",\"toolCallId\":\"t1\",\"toolName\":\"echo\",\"content\":[{\"type\":"
    "\"text\",\"text\":\"done\"}],\"isError\":false,\"timestamp\":1702},"
    "{\"role\":\"extension\",\"kind\":\"note\",\"data\":{\"deep\":[1,2,{\"x\":\"y\"}]}},"
    "{\"role\":\"assistant\",\"content\":[],\"stopReason\":\"error\",\"model\":\"m\","
    "\"provider\":\"p\",\"usage\":{\"input\":0,\"output\":0,\"reasoning\":0,\"cache_read\":0,"
    "\"cache_write\":0,\"total_tokens\":0},\"error_message\":\"broke off\",\"timestamp\":-5}]";

#endif
