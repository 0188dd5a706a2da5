/* test_quirks_servers.c - the whole request to each server that speaks Chat Completions, with thinking off
   and on; docs/providers.md has a row for each. */
#include "wire/wire_support.h"

#define TOOLS                                                                                      \
    "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"read\",\"parameters\":{"           \
    "\"type\":\"object\",\"properties\":{}}}}],\"messages\":["

static phi_model thinking(phi_model model) {
    model.reasoning = true;
    return model;
}

/* A forced call, a temperature, a cache key, and a history of the model's own with thinking and a call. */
static void check_server(phi_model model, phi_thinking level, const char *url, const char *body) {
    conversation t;
    phi__tool_view read;
    memset(&read, 0, sizeof read);
    read.name = phi_str_of("read");
    talk_begin(&t, model);
    t.spec.system_prompt = phi_str_of("S");
    t.spec.tools = &read;
    t.spec.tool_count = 1;
    t.spec.tool_choice = PHI_TOOL_CHOICE_REQUIRED;
    t.spec.thinking = level;
    t.spec.temperature = 0.5;
    t.spec.session_id = phi_str_of("s-1");
    talk_user(&t, "hi");
    talk_assistant(&t);
    talk_thinking(&t, "hm", "reasoning_content");
    talk_call(&t, "toolu_01", "read", "{}");
    talk_result(&t, "toolu_01", "read", "ok");
    talk_user(&t, "go on");
    talk_render_ok(&t);
    CHECK_STR(phi_request_get_info(&t.encoder.request).url, url);
    CHECK_EQ_STR(t.body, body);
    talk_free(&t);
}

TEST(openai_gets_a_developer_prompt_effort_and_a_cache_key_and_stores_nothing) {
    check_server(phi_model_openai("gpt-5-mini", "K"), PHI_THINKING_OFF,
                 "https://api.openai.com/v1/chat/completions",
                 "{\"model\":\"gpt-5-mini\",\"stream\":true,"
                 "\"stream_options\":{\"include_usage\":true},\"store\":false,"
                 "\"max_completion_tokens\":4096,\"reasoning_effort\":\"minimal\","
                 "\"prompt_cache_key\":\"s-1\",\"tool_choice\":\"required\"," TOOLS
                 "{\"role\":\"developer\",\"content\":\"S\"},{\"role\":\"user\","
                 "\"content\":\"hi\"},{\"role\":\"assistant\",\"content\":null,"
                 "\"tool_calls\":[{\"id\":\"toolu_01\",\"type\":\"function\","
                 "\"function\":{\"name\":\"read\",\"arguments\":\"{}\"}}]},"
                 "{\"role\":\"tool\",\"tool_call_id\":\"toolu_01\",\"content\":\"ok\"},"
                 "{\"role\":\"user\",\"content\":\"go on\"}]}");
    check_server(phi_model_openai("gpt-5-mini", "K"), PHI_THINKING_MEDIUM,
                 "https://api.openai.com/v1/chat/completions",
                 "{\"model\":\"gpt-5-mini\",\"stream\":true,"
                 "\"stream_options\":{\"include_usage\":true},\"store\":false,"
                 "\"max_completion_tokens\":4096,\"reasoning_effort\":\"medium\","
                 "\"prompt_cache_key\":\"s-1\",\"tool_choice\":\"required\"," TOOLS
                 "{\"role\":\"developer\",\"content\":\"S\"},{\"role\":\"user\","
                 "\"content\":\"hi\"},{\"role\":\"assistant\",\"content\":null,"
                 "\"tool_calls\":[{\"id\":\"toolu_01\",\"type\":\"function\","
                 "\"function\":{\"name\":\"read\",\"arguments\":\"{}\"}}]},"
                 "{\"role\":\"tool\",\"tool_call_id\":\"toolu_01\",\"content\":\"ok\"},"
                 "{\"role\":\"user\",\"content\":\"go on\"}]}");
}

TEST(openrouter_gets_a_reasoning_object_and_marks_for_claude) {
    check_server(phi_model_preset("openrouter", "anthropic/claude-sonnet-4.5", "K"),
                 PHI_THINKING_OFF, "https://openrouter.ai/api/v1/chat/completions",
                 "{\"model\":\"anthropic/claude-sonnet-4.5\",\"stream\":true,"
                 "\"stream_options\":{\"include_usage\":true},"
                 "\"max_completion_tokens\":4096,\"temperature\":0.5,"
                 "\"tool_choice\":\"required\"," TOOLS
                 "{\"role\":\"developer\",\"content\":[{\"type\":\"text\",\"text\":\"S\","
                 "\"cache_control\":{\"type\":\"ephemeral\"}}]},{\"role\":\"user\","
                 "\"content\":[{\"type\":\"text\",\"text\":\"hi\"}]},"
                 "{\"role\":\"assistant\",\"content\":null,"
                 "\"reasoning_content\":\"hm\",\"tool_calls\":[{\"id\":\"toolu_01\","
                 "\"type\":\"function\",\"function\":{\"name\":\"read\","
                 "\"arguments\":\"{}\"}}]},{\"role\":\"tool\","
                 "\"tool_call_id\":\"toolu_01\",\"content\":\"ok\"},{\"role\":\"user\","
                 "\"content\":[{\"type\":\"text\",\"text\":\"go on\","
                 "\"cache_control\":{\"type\":\"ephemeral\"}}]}]}");
    check_server(phi_model_preset("openrouter", "anthropic/claude-sonnet-4.5", "K"),
                 PHI_THINKING_MEDIUM, "https://openrouter.ai/api/v1/chat/completions",
                 "{\"model\":\"anthropic/claude-sonnet-4.5\",\"stream\":true,"
                 "\"stream_options\":{\"include_usage\":true},"
                 "\"max_completion_tokens\":4096,\"temperature\":0.5,"
                 "\"reasoning\":{\"effort\":\"medium\"},\"tool_choice\":\"required\"," TOOLS
                 "{\"role\":\"developer\",\"content\":[{\"type\":\"text\",\"text\":\"S\","
                 "\"cache_control\":{\"type\":\"ephemeral\"}}]},{\"role\":\"user\","
                 "\"content\":[{\"type\":\"text\",\"text\":\"hi\"}]},"
                 "{\"role\":\"assistant\",\"content\":null,"
                 "\"reasoning_content\":\"hm\",\"tool_calls\":[{\"id\":\"toolu_01\","
                 "\"type\":\"function\",\"function\":{\"name\":\"read\","
                 "\"arguments\":\"{}\"}}]},{\"role\":\"tool\","
                 "\"tool_call_id\":\"toolu_01\",\"content\":\"ok\"},{\"role\":\"user\","
                 "\"content\":[{\"type\":\"text\",\"text\":\"go on\","
                 "\"cache_control\":{\"type\":\"ephemeral\"}}]}]}");
}

TEST(xai_gets_an_effort_and_no_developer_prompt) {
    check_server(phi_model_preset("xai", "grok-3-mini", "K"), PHI_THINKING_OFF,
                 "https://api.x.ai/v1/chat/completions",
                 "{\"model\":\"grok-3-mini\",\"stream\":true,"
                 "\"stream_options\":{\"include_usage\":true},"
                 "\"max_completion_tokens\":8192,\"temperature\":0.5,"
                 "\"tool_choice\":\"required\"," TOOLS
                 "{\"role\":\"system\",\"content\":\"S\"},{\"role\":\"user\","
                 "\"content\":\"hi\"},{\"role\":\"assistant\",\"content\":null,"
                 "\"tool_calls\":[{\"id\":\"toolu_01\",\"type\":\"function\","
                 "\"function\":{\"name\":\"read\",\"arguments\":\"{}\"}}]},"
                 "{\"role\":\"tool\",\"tool_call_id\":\"toolu_01\",\"content\":\"ok\"},"
                 "{\"role\":\"user\",\"content\":\"go on\"}]}");
    check_server(phi_model_preset("xai", "grok-3-mini", "K"), PHI_THINKING_MEDIUM,
                 "https://api.x.ai/v1/chat/completions",
                 "{\"model\":\"grok-3-mini\",\"stream\":true,"
                 "\"stream_options\":{\"include_usage\":true},"
                 "\"max_completion_tokens\":8192,\"temperature\":0.5,"
                 "\"reasoning_effort\":\"medium\",\"tool_choice\":\"required\"," TOOLS
                 "{\"role\":\"system\",\"content\":\"S\"},{\"role\":\"user\","
                 "\"content\":\"hi\"},{\"role\":\"assistant\",\"content\":null,"
                 "\"tool_calls\":[{\"id\":\"toolu_01\",\"type\":\"function\","
                 "\"function\":{\"name\":\"read\",\"arguments\":\"{}\"}}]},"
                 "{\"role\":\"tool\",\"tool_call_id\":\"toolu_01\",\"content\":\"ok\"},"
                 "{\"role\":\"user\",\"content\":\"go on\"}]}");
}

TEST(groq_gets_an_effort_for_gpt_oss) {
    check_server(phi_model_preset("groq", "openai/gpt-oss-20b", "K"), PHI_THINKING_OFF,
                 "https://api.groq.com/openai/v1/chat/completions",
                 "{\"model\":\"openai/gpt-oss-20b\",\"stream\":true,"
                 "\"stream_options\":{\"include_usage\":true},"
                 "\"max_completion_tokens\":8192,\"temperature\":0.5,"
                 "\"tool_choice\":\"required\"," TOOLS
                 "{\"role\":\"system\",\"content\":\"S\"},{\"role\":\"user\","
                 "\"content\":\"hi\"},{\"role\":\"assistant\",\"content\":null,"
                 "\"tool_calls\":[{\"id\":\"toolu_01\",\"type\":\"function\","
                 "\"function\":{\"name\":\"read\",\"arguments\":\"{}\"}}]},"
                 "{\"role\":\"tool\",\"tool_call_id\":\"toolu_01\",\"content\":\"ok\"},"
                 "{\"role\":\"user\",\"content\":\"go on\"}]}");
    check_server(phi_model_preset("groq", "openai/gpt-oss-20b", "K"), PHI_THINKING_MEDIUM,
                 "https://api.groq.com/openai/v1/chat/completions",
                 "{\"model\":\"openai/gpt-oss-20b\",\"stream\":true,"
                 "\"stream_options\":{\"include_usage\":true},"
                 "\"max_completion_tokens\":8192,\"temperature\":0.5,"
                 "\"reasoning_effort\":\"medium\",\"tool_choice\":\"required\"," TOOLS
                 "{\"role\":\"system\",\"content\":\"S\"},{\"role\":\"user\","
                 "\"content\":\"hi\"},{\"role\":\"assistant\",\"content\":null,"
                 "\"tool_calls\":[{\"id\":\"toolu_01\",\"type\":\"function\","
                 "\"function\":{\"name\":\"read\",\"arguments\":\"{}\"}}]},"
                 "{\"role\":\"tool\",\"tool_call_id\":\"toolu_01\",\"content\":\"ok\"},"
                 "{\"role\":\"user\",\"content\":\"go on\"}]}");
}

TEST(groq_gets_none_or_default_and_a_parsed_format_for_qwen) {
    check_server(phi_model_preset("groq", "qwen/qwen3-32b", "K"), PHI_THINKING_OFF,
                 "https://api.groq.com/openai/v1/chat/completions",
                 "{\"model\":\"qwen/qwen3-32b\",\"stream\":true,"
                 "\"stream_options\":{\"include_usage\":true},"
                 "\"max_completion_tokens\":8192,\"temperature\":0.5,"
                 "\"reasoning_effort\":\"none\",\"reasoning_format\":\"parsed\","
                 "\"tool_choice\":\"required\"," TOOLS
                 "{\"role\":\"system\",\"content\":\"S\"},{\"role\":\"user\","
                 "\"content\":\"hi\"},{\"role\":\"assistant\",\"content\":null,"
                 "\"tool_calls\":[{\"id\":\"toolu_01\",\"type\":\"function\","
                 "\"function\":{\"name\":\"read\",\"arguments\":\"{}\"}}]},"
                 "{\"role\":\"tool\",\"tool_call_id\":\"toolu_01\",\"content\":\"ok\"},"
                 "{\"role\":\"user\",\"content\":\"go on\"}]}");
    check_server(phi_model_preset("groq", "qwen/qwen3-32b", "K"), PHI_THINKING_MEDIUM,
                 "https://api.groq.com/openai/v1/chat/completions",
                 "{\"model\":\"qwen/qwen3-32b\",\"stream\":true,"
                 "\"stream_options\":{\"include_usage\":true},"
                 "\"max_completion_tokens\":8192,\"temperature\":0.5,"
                 "\"reasoning_effort\":\"default\",\"reasoning_format\":\"parsed\","
                 "\"tool_choice\":\"required\"," TOOLS
                 "{\"role\":\"system\",\"content\":\"S\"},{\"role\":\"user\","
                 "\"content\":\"hi\"},{\"role\":\"assistant\",\"content\":null,"
                 "\"tool_calls\":[{\"id\":\"toolu_01\",\"type\":\"function\","
                 "\"function\":{\"name\":\"read\",\"arguments\":\"{}\"}}]},"
                 "{\"role\":\"tool\",\"tool_call_id\":\"toolu_01\",\"content\":\"ok\"},"
                 "{\"role\":\"user\",\"content\":\"go on\"}]}");
}

TEST(cerebras_gets_an_effort) {
    check_server(phi_model_preset("cerebras", "gpt-oss-120b", "K"), PHI_THINKING_OFF,
                 "https://api.cerebras.ai/v1/chat/completions",
                 "{\"model\":\"gpt-oss-120b\",\"stream\":true,"
                 "\"stream_options\":{\"include_usage\":true},"
                 "\"max_completion_tokens\":8192,\"temperature\":0.5,"
                 "\"tool_choice\":\"required\"," TOOLS
                 "{\"role\":\"system\",\"content\":\"S\"},{\"role\":\"user\","
                 "\"content\":\"hi\"},{\"role\":\"assistant\",\"content\":null,"
                 "\"tool_calls\":[{\"id\":\"toolu_01\",\"type\":\"function\","
                 "\"function\":{\"name\":\"read\",\"arguments\":\"{}\"}}]},"
                 "{\"role\":\"tool\",\"tool_call_id\":\"toolu_01\",\"content\":\"ok\"},"
                 "{\"role\":\"user\",\"content\":\"go on\"}]}");
    check_server(phi_model_preset("cerebras", "gpt-oss-120b", "K"), PHI_THINKING_MEDIUM,
                 "https://api.cerebras.ai/v1/chat/completions",
                 "{\"model\":\"gpt-oss-120b\",\"stream\":true,"
                 "\"stream_options\":{\"include_usage\":true},"
                 "\"max_completion_tokens\":8192,\"temperature\":0.5,"
                 "\"reasoning_effort\":\"medium\",\"tool_choice\":\"required\"," TOOLS
                 "{\"role\":\"system\",\"content\":\"S\"},{\"role\":\"user\","
                 "\"content\":\"hi\"},{\"role\":\"assistant\",\"content\":null,"
                 "\"tool_calls\":[{\"id\":\"toolu_01\",\"type\":\"function\","
                 "\"function\":{\"name\":\"read\",\"arguments\":\"{}\"}}]},"
                 "{\"role\":\"tool\",\"tool_call_id\":\"toolu_01\",\"content\":\"ok\"},"
                 "{\"role\":\"user\",\"content\":\"go on\"}]}");
}

TEST(mistral_gets_no_unknown_field_nine_letter_ids_and_thinking_in_parts) {
    check_server(phi_model_preset("mistral", "magistral-medium", "K"), PHI_THINKING_OFF,
                 "https://api.mistral.ai/v1/chat/completions",
                 "{\"model\":\"magistral-medium\",\"stream\":true,"
                 "\"max_tokens\":8192,\"temperature\":0.5,"
                 "\"prompt_cache_key\":\"s-1\",\"tool_choice\":\"any\"," TOOLS
                 "{\"role\":\"system\",\"content\":\"S\"},{\"role\":\"user\","
                 "\"content\":\"hi\"},{\"role\":\"assistant\","
                 "\"content\":[{\"type\":\"thinking\",\"thinking\":[{\"type\":\"text\","
                 "\"text\":\"hm\"}]}],\"tool_calls\":[{\"id\":\"1iVuQbpL6\","
                 "\"type\":\"function\",\"function\":{\"name\":\"read\","
                 "\"arguments\":\"{}\"}}]},{\"role\":\"tool\","
                 "\"tool_call_id\":\"1iVuQbpL6\",\"name\":\"read\",\"content\":\"ok\"},"
                 "{\"role\":\"user\",\"content\":\"go on\"}]}");
    check_server(phi_model_preset("mistral", "magistral-medium", "K"), PHI_THINKING_MEDIUM,
                 "https://api.mistral.ai/v1/chat/completions",
                 "{\"model\":\"magistral-medium\",\"stream\":true,"
                 "\"max_tokens\":8192,\"temperature\":0.5,"
                 "\"prompt_mode\":\"reasoning\",\"prompt_cache_key\":\"s-1\","
                 "\"tool_choice\":\"any\"," TOOLS
                 "{\"role\":\"system\",\"content\":\"S\"},{\"role\":\"user\","
                 "\"content\":\"hi\"},{\"role\":\"assistant\","
                 "\"content\":[{\"type\":\"thinking\",\"thinking\":[{\"type\":\"text\","
                 "\"text\":\"hm\"}]}],\"tool_calls\":[{\"id\":\"1iVuQbpL6\","
                 "\"type\":\"function\",\"function\":{\"name\":\"read\","
                 "\"arguments\":\"{}\"}}]},{\"role\":\"tool\","
                 "\"tool_call_id\":\"1iVuQbpL6\",\"name\":\"read\",\"content\":\"ok\"},"
                 "{\"role\":\"user\",\"content\":\"go on\"}]}");
}

TEST(deepseek_gets_a_switch_an_effort_and_its_reasoning_back) {
    check_server(phi_model_preset("deepseek", "deepseek-chat", "K"), PHI_THINKING_OFF,
                 "https://api.deepseek.com/v1/chat/completions",
                 "{\"model\":\"deepseek-chat\",\"stream\":true,"
                 "\"stream_options\":{\"include_usage\":true},\"max_tokens\":8192,"
                 "\"temperature\":0.5,\"thinking\":{\"type\":\"disabled\"},"
                 "\"tool_choice\":\"required\"," TOOLS
                 "{\"role\":\"system\",\"content\":\"S\"},{\"role\":\"user\","
                 "\"content\":\"hi\"},{\"role\":\"assistant\",\"content\":\"\","
                 "\"reasoning_content\":\"hm\",\"tool_calls\":[{\"id\":\"toolu_01\","
                 "\"type\":\"function\",\"function\":{\"name\":\"read\","
                 "\"arguments\":\"{}\"}}]},{\"role\":\"tool\","
                 "\"tool_call_id\":\"toolu_01\",\"content\":\"ok\"},{\"role\":\"user\","
                 "\"content\":\"go on\"}]}");
    check_server(phi_model_preset("deepseek", "deepseek-chat", "K"), PHI_THINKING_MEDIUM,
                 "https://api.deepseek.com/v1/chat/completions",
                 "{\"model\":\"deepseek-chat\",\"stream\":true,"
                 "\"stream_options\":{\"include_usage\":true},\"max_tokens\":8192,"
                 "\"temperature\":0.5,\"reasoning_effort\":\"medium\","
                 "\"thinking\":{\"type\":\"enabled\"},\"tool_choice\":\"required\"," TOOLS
                 "{\"role\":\"system\",\"content\":\"S\"},{\"role\":\"user\","
                 "\"content\":\"hi\"},{\"role\":\"assistant\",\"content\":\"\","
                 "\"reasoning_content\":\"hm\",\"tool_calls\":[{\"id\":\"toolu_01\","
                 "\"type\":\"function\",\"function\":{\"name\":\"read\","
                 "\"arguments\":\"{}\"}}]},{\"role\":\"tool\","
                 "\"tool_call_id\":\"toolu_01\",\"content\":\"ok\"},{\"role\":\"user\","
                 "\"content\":\"go on\"}]}");
}

TEST(qwen_gets_a_switch_and_a_budget) {
    check_server(thinking(phi_model_preset("qwen", "m", "K")), PHI_THINKING_OFF,
                 "https://dashscope-intl.aliyuncs.com/compatible-mode/v1/chat/completions",
                 "{\"model\":\"m\",\"stream\":true,"
                 "\"stream_options\":{\"include_usage\":true},\"max_tokens\":8192,"
                 "\"temperature\":0.5,\"enable_thinking\":false,"
                 "\"tool_choice\":\"required\"," TOOLS
                 "{\"role\":\"system\",\"content\":\"S\"},{\"role\":\"user\","
                 "\"content\":\"hi\"},{\"role\":\"assistant\",\"content\":\"\","
                 "\"tool_calls\":[{\"id\":\"toolu_01\",\"type\":\"function\","
                 "\"function\":{\"name\":\"read\",\"arguments\":\"{}\"}}]},"
                 "{\"role\":\"tool\",\"tool_call_id\":\"toolu_01\",\"content\":\"ok\"},"
                 "{\"role\":\"user\",\"content\":\"go on\"}]}");
    check_server(thinking(phi_model_preset("qwen", "m", "K")), PHI_THINKING_MEDIUM,
                 "https://dashscope-intl.aliyuncs.com/compatible-mode/v1/chat/completions",
                 "{\"model\":\"m\",\"stream\":true,"
                 "\"stream_options\":{\"include_usage\":true},\"max_tokens\":8192,"
                 "\"temperature\":0.5,\"enable_thinking\":true,"
                 "\"thinking_budget\":8192,\"tool_choice\":\"required\"," TOOLS
                 "{\"role\":\"system\",\"content\":\"S\"},{\"role\":\"user\","
                 "\"content\":\"hi\"},{\"role\":\"assistant\",\"content\":\"\","
                 "\"tool_calls\":[{\"id\":\"toolu_01\",\"type\":\"function\","
                 "\"function\":{\"name\":\"read\",\"arguments\":\"{}\"}}]},"
                 "{\"role\":\"tool\",\"tool_call_id\":\"toolu_01\",\"content\":\"ok\"},"
                 "{\"role\":\"user\",\"content\":\"go on\"}]}");
}

TEST(together_gets_a_switch_in_an_object_and_an_effort) {
    check_server(thinking(phi_model_preset("together", "m", "K")), PHI_THINKING_OFF,
                 "https://api.together.ai/v1/chat/completions",
                 "{\"model\":\"m\",\"stream\":true,"
                 "\"stream_options\":{\"include_usage\":true},\"max_tokens\":8192,"
                 "\"temperature\":0.5,\"reasoning\":{\"enabled\":false},"
                 "\"tool_choice\":\"required\"," TOOLS
                 "{\"role\":\"system\",\"content\":\"S\"},{\"role\":\"user\","
                 "\"content\":\"hi\"},{\"role\":\"assistant\",\"content\":\"\","
                 "\"tool_calls\":[{\"id\":\"toolu_01\",\"type\":\"function\","
                 "\"function\":{\"name\":\"read\",\"arguments\":\"{}\"}}]},"
                 "{\"role\":\"tool\",\"tool_call_id\":\"toolu_01\",\"content\":\"ok\"},"
                 "{\"role\":\"user\",\"content\":\"go on\"}]}");
    check_server(thinking(phi_model_preset("together", "m", "K")), PHI_THINKING_MEDIUM,
                 "https://api.together.ai/v1/chat/completions",
                 "{\"model\":\"m\",\"stream\":true,"
                 "\"stream_options\":{\"include_usage\":true},\"max_tokens\":8192,"
                 "\"temperature\":0.5,\"reasoning_effort\":\"medium\","
                 "\"reasoning\":{\"enabled\":true},\"tool_choice\":\"required\"," TOOLS
                 "{\"role\":\"system\",\"content\":\"S\"},{\"role\":\"user\","
                 "\"content\":\"hi\"},{\"role\":\"assistant\",\"content\":\"\","
                 "\"tool_calls\":[{\"id\":\"toolu_01\",\"type\":\"function\","
                 "\"function\":{\"name\":\"read\",\"arguments\":\"{}\"}}]},"
                 "{\"role\":\"tool\",\"tool_call_id\":\"toolu_01\",\"content\":\"ok\"},"
                 "{\"role\":\"user\",\"content\":\"go on\"}]}");
}

TEST(fireworks_gets_plain_chat_completions) {
    check_server(thinking(phi_model_preset("fireworks", "m", "K")), PHI_THINKING_OFF,
                 "https://api.fireworks.ai/inference/v1/chat/completions",
                 "{\"model\":\"m\",\"stream\":true,"
                 "\"stream_options\":{\"include_usage\":true},\"max_tokens\":8192,"
                 "\"temperature\":0.5,\"tool_choice\":\"required\"," TOOLS
                 "{\"role\":\"system\",\"content\":\"S\"},{\"role\":\"user\","
                 "\"content\":\"hi\"},{\"role\":\"assistant\",\"content\":\"\","
                 "\"tool_calls\":[{\"id\":\"toolu_01\",\"type\":\"function\","
                 "\"function\":{\"name\":\"read\",\"arguments\":\"{}\"}}]},"
                 "{\"role\":\"tool\",\"tool_call_id\":\"toolu_01\",\"content\":\"ok\"},"
                 "{\"role\":\"user\",\"content\":\"go on\"}]}");
    check_server(thinking(phi_model_preset("fireworks", "m", "K")), PHI_THINKING_MEDIUM,
                 "https://api.fireworks.ai/inference/v1/chat/completions",
                 "{\"model\":\"m\",\"stream\":true,"
                 "\"stream_options\":{\"include_usage\":true},\"max_tokens\":8192,"
                 "\"temperature\":0.5,\"tool_choice\":\"required\"," TOOLS
                 "{\"role\":\"system\",\"content\":\"S\"},{\"role\":\"user\","
                 "\"content\":\"hi\"},{\"role\":\"assistant\",\"content\":\"\","
                 "\"tool_calls\":[{\"id\":\"toolu_01\",\"type\":\"function\","
                 "\"function\":{\"name\":\"read\",\"arguments\":\"{}\"}}]},"
                 "{\"role\":\"tool\",\"tool_call_id\":\"toolu_01\",\"content\":\"ok\"},"
                 "{\"role\":\"user\",\"content\":\"go on\"}]}");
}

TEST(moonshot_gets_a_switch_and_its_reasoning_back) {
    check_server(thinking(phi_model_preset("moonshot", "m", "K")), PHI_THINKING_OFF,
                 "https://api.moonshot.ai/v1/chat/completions",
                 "{\"model\":\"m\",\"stream\":true,"
                 "\"stream_options\":{\"include_usage\":true},\"max_tokens\":8192,"
                 "\"temperature\":0.5,\"thinking\":{\"type\":\"disabled\"},"
                 "\"tool_choice\":\"required\"," TOOLS
                 "{\"role\":\"system\",\"content\":\"S\"},{\"role\":\"user\","
                 "\"content\":\"hi\"},{\"role\":\"assistant\",\"content\":\"\","
                 "\"reasoning_content\":\"hm\",\"tool_calls\":[{\"id\":\"toolu_01\","
                 "\"type\":\"function\",\"function\":{\"name\":\"read\","
                 "\"arguments\":\"{}\"}}]},{\"role\":\"tool\","
                 "\"tool_call_id\":\"toolu_01\",\"content\":\"ok\"},{\"role\":\"user\","
                 "\"content\":\"go on\"}]}");
    check_server(thinking(phi_model_preset("moonshot", "m", "K")), PHI_THINKING_MEDIUM,
                 "https://api.moonshot.ai/v1/chat/completions",
                 "{\"model\":\"m\",\"stream\":true,"
                 "\"stream_options\":{\"include_usage\":true},\"max_tokens\":8192,"
                 "\"temperature\":0.5,\"thinking\":{\"type\":\"enabled\"},"
                 "\"tool_choice\":\"required\"," TOOLS
                 "{\"role\":\"system\",\"content\":\"S\"},{\"role\":\"user\","
                 "\"content\":\"hi\"},{\"role\":\"assistant\",\"content\":\"\","
                 "\"reasoning_content\":\"hm\",\"tool_calls\":[{\"id\":\"toolu_01\","
                 "\"type\":\"function\",\"function\":{\"name\":\"read\","
                 "\"arguments\":\"{}\"}}]},{\"role\":\"tool\","
                 "\"tool_call_id\":\"toolu_01\",\"content\":\"ok\"},{\"role\":\"user\","
                 "\"content\":\"go on\"}]}");
}

TEST(zai_gets_a_switch_that_keeps_thinking_and_streams_arguments) {
    check_server(thinking(phi_model_preset("zai", "m", "K")), PHI_THINKING_OFF,
                 "https://api.z.ai/api/paas/v4/chat/completions",
                 "{\"model\":\"m\",\"stream\":true,"
                 "\"stream_options\":{\"include_usage\":true},\"max_tokens\":8192,"
                 "\"temperature\":0.5,\"thinking\":{\"type\":\"disabled\","
                 "\"clear_thinking\":false},\"tool_choice\":\"required\","
                 "\"tool_stream\":true," TOOLS
                 "{\"role\":\"system\",\"content\":\"S\"},{\"role\":\"user\","
                 "\"content\":\"hi\"},{\"role\":\"assistant\",\"content\":\"\","
                 "\"reasoning_content\":\"hm\",\"tool_calls\":[{\"id\":\"toolu_01\","
                 "\"type\":\"function\",\"function\":{\"name\":\"read\","
                 "\"arguments\":\"{}\"}}]},{\"role\":\"tool\","
                 "\"tool_call_id\":\"toolu_01\",\"content\":\"ok\"},{\"role\":\"user\","
                 "\"content\":\"go on\"}]}");
    check_server(thinking(phi_model_preset("zai", "m", "K")), PHI_THINKING_MEDIUM,
                 "https://api.z.ai/api/paas/v4/chat/completions",
                 "{\"model\":\"m\",\"stream\":true,"
                 "\"stream_options\":{\"include_usage\":true},\"max_tokens\":8192,"
                 "\"temperature\":0.5,\"thinking\":{\"type\":\"enabled\","
                 "\"clear_thinking\":false},\"tool_choice\":\"required\","
                 "\"tool_stream\":true," TOOLS
                 "{\"role\":\"system\",\"content\":\"S\"},{\"role\":\"user\","
                 "\"content\":\"hi\"},{\"role\":\"assistant\",\"content\":\"\","
                 "\"reasoning_content\":\"hm\",\"tool_calls\":[{\"id\":\"toolu_01\","
                 "\"type\":\"function\",\"function\":{\"name\":\"read\","
                 "\"arguments\":\"{}\"}}]},{\"role\":\"tool\","
                 "\"tool_call_id\":\"toolu_01\",\"content\":\"ok\"},{\"role\":\"user\","
                 "\"content\":\"go on\"}]}");
}

TEST(minimax_is_spoken_to_as_anthropic_is) {
    check_server(thinking(phi_model_minimax("m", "K")), PHI_THINKING_OFF,
                 "https://api.minimax.io/anthropic/v1/messages",
                 "{\"model\":\"m\",\"max_tokens\":8192,\"stream\":true,"
                 "\"system\":[{\"type\":\"text\",\"text\":\"S\","
                 "\"cache_control\":{\"type\":\"ephemeral\"}}],\"temperature\":0.5,"
                 "\"tool_choice\":{\"type\":\"any\"},\"tools\":[{\"name\":\"read\","
                 "\"input_schema\":{\"type\":\"object\",\"properties\":{}},"
                 "\"cache_control\":{\"type\":\"ephemeral\"}}],"
                 "\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\","
                 "\"text\":\"hi\"}]},{\"role\":\"assistant\","
                 "\"content\":[{\"type\":\"thinking\",\"thinking\":\"hm\","
                 "\"signature\":\"reasoning_content\"},{\"type\":\"tool_use\","
                 "\"id\":\"toolu_01\",\"name\":\"read\",\"input\":{}}]},"
                 "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\","
                 "\"tool_use_id\":\"toolu_01\",\"content\":\"ok\"},{\"type\":\"text\","
                 "\"text\":\"go on\",\"cache_control\":{\"type\":\"ephemeral\"}}]}]}");
    check_server(thinking(phi_model_minimax("m", "K")), PHI_THINKING_MEDIUM,
                 "https://api.minimax.io/anthropic/v1/messages",
                 "{\"model\":\"m\",\"max_tokens\":16384,\"stream\":true,"
                 "\"system\":[{\"type\":\"text\",\"text\":\"S\","
                 "\"cache_control\":{\"type\":\"ephemeral\"}}],"
                 "\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":8192},"
                 "\"tool_choice\":{\"type\":\"auto\"},\"tools\":[{\"name\":\"read\","
                 "\"input_schema\":{\"type\":\"object\",\"properties\":{}},"
                 "\"cache_control\":{\"type\":\"ephemeral\"}}],"
                 "\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\","
                 "\"text\":\"hi\"}]},{\"role\":\"assistant\","
                 "\"content\":[{\"type\":\"thinking\",\"thinking\":\"hm\","
                 "\"signature\":\"reasoning_content\"},{\"type\":\"tool_use\","
                 "\"id\":\"toolu_01\",\"name\":\"read\",\"input\":{}}]},"
                 "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\","
                 "\"tool_use_id\":\"toolu_01\",\"content\":\"ok\"},{\"type\":\"text\","
                 "\"text\":\"go on\",\"cache_control\":{\"type\":\"ephemeral\"}}]}]}");
}

TEST(ollama_gets_max_tokens_an_effort_and_no_null) {
    check_server(thinking(phi_model_preset("ollama", "m", NULL)), PHI_THINKING_OFF,
                 "http://localhost:11434/v1/chat/completions",
                 "{\"model\":\"m\",\"stream\":true,"
                 "\"stream_options\":{\"include_usage\":true},\"max_tokens\":4096,"
                 "\"temperature\":0.5,\"tool_choice\":\"required\"," TOOLS
                 "{\"role\":\"system\",\"content\":\"S\"},{\"role\":\"user\","
                 "\"content\":\"hi\"},{\"role\":\"assistant\",\"content\":\"\","
                 "\"tool_calls\":[{\"id\":\"toolu_01\",\"type\":\"function\","
                 "\"function\":{\"name\":\"read\",\"arguments\":\"{}\"}}]},"
                 "{\"role\":\"tool\",\"tool_call_id\":\"toolu_01\",\"content\":\"ok\"},"
                 "{\"role\":\"user\",\"content\":\"go on\"}]}");
    check_server(thinking(phi_model_preset("ollama", "m", NULL)), PHI_THINKING_MEDIUM,
                 "http://localhost:11434/v1/chat/completions",
                 "{\"model\":\"m\",\"stream\":true,"
                 "\"stream_options\":{\"include_usage\":true},\"max_tokens\":4096,"
                 "\"temperature\":0.5,\"reasoning_effort\":\"medium\","
                 "\"tool_choice\":\"required\"," TOOLS
                 "{\"role\":\"system\",\"content\":\"S\"},{\"role\":\"user\","
                 "\"content\":\"hi\"},{\"role\":\"assistant\",\"content\":\"\","
                 "\"tool_calls\":[{\"id\":\"toolu_01\",\"type\":\"function\","
                 "\"function\":{\"name\":\"read\",\"arguments\":\"{}\"}}]},"
                 "{\"role\":\"tool\",\"tool_call_id\":\"toolu_01\",\"content\":\"ok\"},"
                 "{\"role\":\"user\",\"content\":\"go on\"}]}");
}

TEST(llama_cpp_gets_a_switch_of_its_template) {
    check_server(thinking(phi_model_preset("llama_cpp", "m", NULL)), PHI_THINKING_OFF,
                 "http://localhost:8080/v1/chat/completions",
                 "{\"model\":\"m\",\"stream\":true,"
                 "\"stream_options\":{\"include_usage\":true},\"max_tokens\":4096,"
                 "\"temperature\":0.5,"
                 "\"chat_template_kwargs\":{\"enable_thinking\":false},"
                 "\"tool_choice\":\"required\"," TOOLS
                 "{\"role\":\"system\",\"content\":\"S\"},{\"role\":\"user\","
                 "\"content\":\"hi\"},{\"role\":\"assistant\",\"content\":\"\","
                 "\"tool_calls\":[{\"id\":\"toolu_01\",\"type\":\"function\","
                 "\"function\":{\"name\":\"read\",\"arguments\":\"{}\"}}]},"
                 "{\"role\":\"tool\",\"tool_call_id\":\"toolu_01\",\"content\":\"ok\"},"
                 "{\"role\":\"user\",\"content\":\"go on\"}]}");
    check_server(thinking(phi_model_preset("llama_cpp", "m", NULL)), PHI_THINKING_MEDIUM,
                 "http://localhost:8080/v1/chat/completions",
                 "{\"model\":\"m\",\"stream\":true,"
                 "\"stream_options\":{\"include_usage\":true},\"max_tokens\":4096,"
                 "\"temperature\":0.5,"
                 "\"chat_template_kwargs\":{\"enable_thinking\":true},"
                 "\"tool_choice\":\"required\"," TOOLS
                 "{\"role\":\"system\",\"content\":\"S\"},{\"role\":\"user\","
                 "\"content\":\"hi\"},{\"role\":\"assistant\",\"content\":\"\","
                 "\"tool_calls\":[{\"id\":\"toolu_01\",\"type\":\"function\","
                 "\"function\":{\"name\":\"read\",\"arguments\":\"{}\"}}]},"
                 "{\"role\":\"tool\",\"tool_call_id\":\"toolu_01\",\"content\":\"ok\"},"
                 "{\"role\":\"user\",\"content\":\"go on\"}]}");
}

TEST(vllm_gets_a_switch_of_its_template) {
    check_server(thinking(phi_model_preset("vllm", "m", NULL)), PHI_THINKING_OFF,
                 "http://localhost:8000/v1/chat/completions",
                 "{\"model\":\"m\",\"stream\":true,"
                 "\"stream_options\":{\"include_usage\":true},\"max_tokens\":4096,"
                 "\"temperature\":0.5,"
                 "\"chat_template_kwargs\":{\"enable_thinking\":false},"
                 "\"tool_choice\":\"required\"," TOOLS
                 "{\"role\":\"system\",\"content\":\"S\"},{\"role\":\"user\","
                 "\"content\":\"hi\"},{\"role\":\"assistant\",\"content\":\"\","
                 "\"tool_calls\":[{\"id\":\"toolu_01\",\"type\":\"function\","
                 "\"function\":{\"name\":\"read\",\"arguments\":\"{}\"}}]},"
                 "{\"role\":\"tool\",\"tool_call_id\":\"toolu_01\",\"content\":\"ok\"},"
                 "{\"role\":\"user\",\"content\":\"go on\"}]}");
    check_server(thinking(phi_model_preset("vllm", "m", NULL)), PHI_THINKING_MEDIUM,
                 "http://localhost:8000/v1/chat/completions",
                 "{\"model\":\"m\",\"stream\":true,"
                 "\"stream_options\":{\"include_usage\":true},\"max_tokens\":4096,"
                 "\"temperature\":0.5,"
                 "\"chat_template_kwargs\":{\"enable_thinking\":true},"
                 "\"tool_choice\":\"required\"," TOOLS
                 "{\"role\":\"system\",\"content\":\"S\"},{\"role\":\"user\","
                 "\"content\":\"hi\"},{\"role\":\"assistant\",\"content\":\"\","
                 "\"tool_calls\":[{\"id\":\"toolu_01\",\"type\":\"function\","
                 "\"function\":{\"name\":\"read\",\"arguments\":\"{}\"}}]},"
                 "{\"role\":\"tool\",\"tool_call_id\":\"toolu_01\",\"content\":\"ok\"},"
                 "{\"role\":\"user\",\"content\":\"go on\"}]}");
}

TEST(lm_studio_gets_an_effort) {
    check_server(thinking(phi_model_preset("lm_studio", "m", NULL)), PHI_THINKING_OFF,
                 "http://localhost:1234/v1/chat/completions",
                 "{\"model\":\"m\",\"stream\":true,"
                 "\"stream_options\":{\"include_usage\":true},\"max_tokens\":4096,"
                 "\"temperature\":0.5,\"tool_choice\":\"required\"," TOOLS
                 "{\"role\":\"system\",\"content\":\"S\"},{\"role\":\"user\","
                 "\"content\":\"hi\"},{\"role\":\"assistant\",\"content\":\"\","
                 "\"tool_calls\":[{\"id\":\"toolu_01\",\"type\":\"function\","
                 "\"function\":{\"name\":\"read\",\"arguments\":\"{}\"}}]},"
                 "{\"role\":\"tool\",\"tool_call_id\":\"toolu_01\",\"content\":\"ok\"},"
                 "{\"role\":\"user\",\"content\":\"go on\"}]}");
    check_server(thinking(phi_model_preset("lm_studio", "m", NULL)), PHI_THINKING_MEDIUM,
                 "http://localhost:1234/v1/chat/completions",
                 "{\"model\":\"m\",\"stream\":true,"
                 "\"stream_options\":{\"include_usage\":true},\"max_tokens\":4096,"
                 "\"temperature\":0.5,\"reasoning_effort\":\"medium\","
                 "\"tool_choice\":\"required\"," TOOLS
                 "{\"role\":\"system\",\"content\":\"S\"},{\"role\":\"user\","
                 "\"content\":\"hi\"},{\"role\":\"assistant\",\"content\":\"\","
                 "\"tool_calls\":[{\"id\":\"toolu_01\",\"type\":\"function\","
                 "\"function\":{\"name\":\"read\",\"arguments\":\"{}\"}}]},"
                 "{\"role\":\"tool\",\"tool_call_id\":\"toolu_01\",\"content\":\"ok\"},"
                 "{\"role\":\"user\",\"content\":\"go on\"}]}");
}

#define CLAUDE_TALK                                                                                \
    "{\"role\":\"system\",\"content\":[{\"type\":\"text\",\"text\":\"S\"," MARK "}]},"             \
    "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"hi\"}]},"                       \
    "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"toolu_01\","               \
    "\"type\":\"function\",\"function\":{\"name\":\"read\",\"arguments\":\"{}\"}}]},"              \
    "{\"role\":\"tool\",\"tool_call_id\":\"toolu_01\",\"content\":\"ok\"},"                        \
    "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"go on\"," MARK "}]}]}"
#define MARK "\"cache_control\":{\"type\":\"ephemeral\"}"

TEST(litellm_gets_marks_for_claude_no_empty_content_and_a_cache_key_for_openai_alone) {
    conversation t;
    check_server(phi_model_preset("litellm", "claude-sonnet-4-5", NULL), PHI_THINKING_OFF,
                 "http://localhost:4000/v1/chat/completions",
                 "{\"model\":\"claude-sonnet-4-5\",\"stream\":true,"
                 "\"stream_options\":{\"include_usage\":true},\"max_tokens\":4096,"
                 "\"temperature\":0.5,\"tool_choice\":\"required\"," TOOLS CLAUDE_TALK);
    check_server(phi_model_preset("litellm", "claude-sonnet-4-5", NULL), PHI_THINKING_MEDIUM,
                 "http://localhost:4000/v1/chat/completions",
                 "{\"model\":\"claude-sonnet-4-5\",\"stream\":true,"
                 "\"stream_options\":{\"include_usage\":true},\"max_tokens\":4096,"
                 "\"reasoning_effort\":\"medium\",\"tool_choice\":\"auto\"," TOOLS CLAUDE_TALK);
    talk_begin(&t, phi_model_preset("litellm", "gpt-5-mini", NULL));
    t.spec.session_id = phi_str_of("s-1");
    talk_user(&t, "hi");
    talk_assistant(&t);
    talk_call(&t, "c", "read", "{}");
    talk_result(&t, "c", "read", "ok");
    talk_render_ok(&t);
    CHECK_EQ_STR(talk_at(&t, "prompt_cache_key"), "\"s-1\"");
    CHECK_EQ_STR(talk_at(&t, "messages[1].content"), "null");
    CHECK_EQ_STR(talk_at(&t, "tools"), "[]"); /* none of the agent's, beside calls */
    talk_free(&t);
}

TEST(any_other_server_gets_plain_chat_completions) {
    check_server(thinking(phi_model_local("http://h:1/v1", "m", NULL)), PHI_THINKING_OFF,
                 "http://h:1/v1/chat/completions",
                 "{\"model\":\"m\",\"stream\":true,"
                 "\"stream_options\":{\"include_usage\":true},\"max_tokens\":4096,"
                 "\"temperature\":0.5,\"tool_choice\":\"required\"," TOOLS
                 "{\"role\":\"system\",\"content\":\"S\"},{\"role\":\"user\","
                 "\"content\":\"hi\"},{\"role\":\"assistant\",\"content\":\"\","
                 "\"tool_calls\":[{\"id\":\"toolu_01\",\"type\":\"function\","
                 "\"function\":{\"name\":\"read\",\"arguments\":\"{}\"}}]},"
                 "{\"role\":\"tool\",\"tool_call_id\":\"toolu_01\",\"content\":\"ok\"},"
                 "{\"role\":\"user\",\"content\":\"go on\"}]}");
    check_server(thinking(phi_model_local("http://h:1/v1", "m", NULL)), PHI_THINKING_MEDIUM,
                 "http://h:1/v1/chat/completions",
                 "{\"model\":\"m\",\"stream\":true,"
                 "\"stream_options\":{\"include_usage\":true},\"max_tokens\":4096,"
                 "\"temperature\":0.5,\"tool_choice\":\"required\"," TOOLS
                 "{\"role\":\"system\",\"content\":\"S\"},{\"role\":\"user\","
                 "\"content\":\"hi\"},{\"role\":\"assistant\",\"content\":\"\","
                 "\"tool_calls\":[{\"id\":\"toolu_01\",\"type\":\"function\","
                 "\"function\":{\"name\":\"read\",\"arguments\":\"{}\"}}]},"
                 "{\"role\":\"tool\",\"tool_call_id\":\"toolu_01\",\"content\":\"ok\"},"
                 "{\"role\":\"user\",\"content\":\"go on\"}]}");
}

TEST_MAIN(
    TEST_ENTRY(openai_gets_a_developer_prompt_effort_and_a_cache_key_and_stores_nothing),
    TEST_ENTRY(openrouter_gets_a_reasoning_object_and_marks_for_claude),
    TEST_ENTRY(xai_gets_an_effort_and_no_developer_prompt),
    TEST_ENTRY(groq_gets_an_effort_for_gpt_oss),
    TEST_ENTRY(groq_gets_none_or_default_and_a_parsed_format_for_qwen),
    TEST_ENTRY(cerebras_gets_an_effort),
    TEST_ENTRY(mistral_gets_no_unknown_field_nine_letter_ids_and_thinking_in_parts),
    TEST_ENTRY(deepseek_gets_a_switch_an_effort_and_its_reasoning_back),
    TEST_ENTRY(qwen_gets_a_switch_and_a_budget),
    TEST_ENTRY(together_gets_a_switch_in_an_object_and_an_effort),
    TEST_ENTRY(fireworks_gets_plain_chat_completions),
    TEST_ENTRY(moonshot_gets_a_switch_and_its_reasoning_back),
    TEST_ENTRY(zai_gets_a_switch_that_keeps_thinking_and_streams_arguments),
    TEST_ENTRY(minimax_is_spoken_to_as_anthropic_is),
    TEST_ENTRY(ollama_gets_max_tokens_an_effort_and_no_null),
    TEST_ENTRY(llama_cpp_gets_a_switch_of_its_template),
    TEST_ENTRY(vllm_gets_a_switch_of_its_template),
    TEST_ENTRY(litellm_gets_marks_for_claude_no_empty_content_and_a_cache_key_for_openai_alone),
    TEST_ENTRY(lm_studio_gets_an_effort), TEST_ENTRY(any_other_server_gets_plain_chat_completions))
