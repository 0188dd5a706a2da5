/* test_presets.c - presets and costs. */
#include "codecs/presets.h"
#include "support/test.h"

TEST(presets_know_where_their_provider_lives) {
    phi_model m = phi_model_anthropic("claude-sonnet-4-5", "K");
    CHECK_EQ_STR(m.protocol, "anthropic_messages");
    CHECK_EQ_STR(m.base_url, "https://api.anthropic.com");
    CHECK_EQ_STR(m.provider, "anthropic");
    CHECK_EQ_STR(m.id, "claude-sonnet-4-5");
    CHECK_EQ_STR(m.api_key, "K");
    CHECK_EQ_INT(m.context_window, 200000);
    CHECK_EQ_INT(m.max_tokens, 8192);
    m = phi_model_openai("gpt-5-mini", NULL);
    CHECK_EQ_STR(m.protocol, "openai_completions");
    CHECK_EQ_STR(m.base_url, "https://api.openai.com/v1");
    CHECK(m.api_key == NULL);
    CHECK_EQ_INT(m.context_window, 128000);
    CHECK_EQ_INT(m.max_tokens, 4096);
    m = phi_model_local("http://localhost:11434/v1", "qwen3:8b", NULL);
    CHECK_EQ_STR(m.base_url, "http://localhost:11434/v1");
    CHECK_EQ_STR(m.name, "Local Model");
    CHECK_EQ_INT(m.context_window, 128000);
    CHECK_EQ_INT(m.max_tokens, 4096);
    CHECK((m.quirks & PHI_QUIRK_OPEN_KEY) != 0);
    CHECK_EQ_STR(phi_model_preset("groq", "m", "K").base_url, "https://api.groq.com/openai/v1");
    CHECK_EQ_STR(phi_model_preset("mistral", "m", "K").base_url, "https://api.mistral.ai/v1");
    CHECK_EQ_STR(phi_model_preset("openrouter", "m", "K").base_url, "https://openrouter.ai/api/v1");
    CHECK_EQ_INT(phi_model_preset("openrouter", "m", "K").context_window, 200000);
    CHECK_EQ_INT(phi_model_preset("openrouter", "m", "K").max_tokens, 4096);
    m = phi_model_openai_responses("gpt-5-mini", "K");
    CHECK_EQ_STR(m.protocol, "openai_responses");
    CHECK_EQ_STR(m.provider, "openai_responses");
    CHECK_EQ_STR(m.base_url, "https://api.openai.com/v1");
    m = phi_model_azure("https://R.openai.azure.com/openai/v1", "d", "K");
    CHECK_EQ_STR(m.protocol, "azure_openai_responses");
    CHECK_EQ_STR(m.provider, "azure_openai");
    CHECK_EQ_STR(m.id, "d");
    CHECK_EQ_STR(m.base_url, "https://R.openai.azure.com/openai/v1");
    CHECK_EQ_STR(phi_model_preset("xai", "m", "K").base_url, "https://api.x.ai/v1");
    CHECK_EQ_STR(phi_model_preset("cerebras", "m", "K").base_url, "https://api.cerebras.ai/v1");
    CHECK_EQ_STR(phi_model_preset("deepseek", "m", "K").base_url, "https://api.deepseek.com");
    CHECK_EQ_STR(phi_model_preset("together", "m", "K").base_url, "https://api.together.ai/v1");
    CHECK_EQ_STR(phi_model_preset("moonshot", "m", "K").base_url, "https://api.moonshot.ai/v1");
    CHECK_EQ_STR(phi_model_preset("zai", "m", "K").base_url, "https://api.z.ai/api/paas/v4");
    CHECK_EQ_STR(phi_model_preset("qwen", "m", "K").base_url,
                 "https://dashscope-intl.aliyuncs.com/compatible-mode/v1");
}

TEST(servers_of_ones_own_live_on_this_machine_unless_one_says_where) {
    CHECK_EQ_STR(phi_model_preset("ollama", "qwen3:8b", NULL).base_url,
                 "http://localhost:11434/v1");
    CHECK_EQ_STR(phi_model_preset("llama_cpp", "m", NULL).base_url, "http://localhost:8080/v1");
    CHECK_EQ_STR(phi_model_preset("vllm", "m", NULL).base_url, "http://localhost:8000/v1");
    CHECK_EQ_STR(phi_model_preset("lm_studio", "m", NULL).base_url, "http://localhost:1234/v1");
    CHECK_EQ_STR(phi_model_preset("litellm", "m", NULL).base_url, "http://localhost:4000/v1");
    CHECK_EQ_STR(phi_model_preset("litellm", "m", "K").api_key, "K");
    CHECK(phi_model_preset("unheard of", "m", "K").protocol == NULL);
    CHECK_EQ_STR(phi_model_preset("unheard of", "m", "K").provider, "unheard of");
    CHECK(phi_model_preset(NULL, "m", "K").protocol == NULL);
    CHECK(phi_model_preset("ollama", "m", NULL).api_key == NULL);
    CHECK((phi_model_preset("ollama", "m", NULL).quirks & PHI_QUIRK_OPEN_KEY) != 0);
    CHECK((phi_model_preset("vllm", "m", NULL).quirks & PHI_QUIRK_TEMPLATE_THINKING) != 0);
    CHECK_EQ_STR(phi_model_preset("ollama", "m", NULL).provider, "ollama");
    CHECK_EQ_STR(phi_model_preset("fireworks", "m", "K").base_url,
                 "https://api.fireworks.ai/inference/v1");
    CHECK_EQ_STR(phi_model_minimax("MiniMax-M2", "K").protocol, PHI_PROTOCOL_ANTHROPIC);
    CHECK_EQ_STR(phi_model_minimax("MiniMax-M2", "K").base_url, "https://api.minimax.io/anthropic");
}

TEST(presets_say_whose_they_are) {
    CHECK_EQ_STR(phi_model_anthropic("m", "K").provider, "anthropic");
    CHECK_EQ_STR(phi_model_minimax("m", "K").provider, "minimax");
    CHECK_EQ_STR(phi_model_openai("m", "K").provider, "openai");
    CHECK_EQ_STR(phi_model_openai_responses("m", "K").provider, "openai_responses");
    CHECK_EQ_STR(phi_model_azure("https://h", "d", "K").provider, "azure_openai");
    CHECK_EQ_STR(phi_model_preset("openrouter", "m", "K").provider, "openrouter");
    CHECK_EQ_STR(phi_model_preset("xai", "m", "K").provider, "xai");
    CHECK_EQ_STR(phi_model_preset("groq", "m", "K").provider, "groq");
    CHECK_EQ_STR(phi_model_preset("cerebras", "m", "K").provider, "cerebras");
    CHECK_EQ_STR(phi_model_preset("mistral", "m", "K").provider, "mistral");
    CHECK_EQ_STR(phi_model_preset("deepseek", "m", "K").provider, "deepseek");
    CHECK_EQ_STR(phi_model_preset("together", "m", "K").provider, "together");
    CHECK_EQ_STR(phi_model_preset("qwen", "m", "K").provider, "qwen");
    CHECK_EQ_STR(phi_model_preset("moonshot", "m", "K").provider, "moonshot");
    CHECK_EQ_STR(phi_model_preset("zai", "m", "K").provider, "zai");
    CHECK_EQ_STR(phi_model_preset("fireworks", "m", "K").provider, "fireworks");
    CHECK_EQ_STR(phi_model_local("http://h/v1", "m", NULL).provider, "local");
    CHECK_EQ_STR(phi_model_preset("llama_cpp", "m", NULL).provider, "llama_cpp");
    CHECK_EQ_STR(phi_model_preset("vllm", "m", NULL).provider, "vllm");
    CHECK_EQ_STR(phi_model_preset("lm_studio", "m", NULL).provider, "lm_studio");
    CHECK_EQ_STR(phi_model_preset("litellm", "m", NULL).provider, "litellm");
    CHECK_EQ_STR(phi_model_google("m", "K").provider, "google");
    CHECK_EQ_STR(phi_model_vertex("https://h", "m", "T").provider, "google_vertex");
    CHECK_EQ_STR(phi_model_interactions("m", "K").provider, "google_interactions");
    CHECK_EQ_STR(phi_model_bedrock(NULL, "m", "K").provider, "bedrock");
}

TEST(presets_know_by_name_which_models_can_think) {
    CHECK(phi_model_anthropic("claude-sonnet-4-5", "K").reasoning);
    CHECK(phi_model_anthropic("claude-3-7-sonnet-20250219", "K").reasoning);
    CHECK(!phi_model_anthropic("claude-3-5-haiku-20241022", "K").reasoning);
    CHECK(!phi_model_anthropic("MiniMax-M2", "K").reasoning);
    CHECK(!phi_model_anthropic(NULL, "K").reasoning);
    CHECK(phi_model_openai("gpt-5-mini", "K").reasoning);
    CHECK(phi_model_openai("o3", "K").reasoning);
    CHECK(!phi_model_openai("gpt-4o", "K").reasoning);
    CHECK(!phi_model_openai("gpt-5-chat-latest", "K").reasoning);
    CHECK(phi_model_openai_responses("o3", "K").reasoning);
    CHECK(!phi_model_openai_responses("gpt-4o", "K").reasoning);
    CHECK(phi_model_azure("https://h", "d", "K").reasoning);
    CHECK(!phi_model_azure("https://h", "gpt-4o", "K").reasoning);
    CHECK(phi_model_preset("mistral", "magistral-medium", "K").reasoning);
    CHECK(!phi_model_preset("mistral", "mistral-large", "K").reasoning);
}

TEST(only_servers_of_ones_own_leave_small_models_to_phi) {
    const uint64_t small = PHI_QUIRK_THINK_TAGS | PHI_QUIRK_TEXT_CALLS | PHI_QUIRK_REPAIR_CALLS;
    const uint64_t all = small | PHI_QUIRK_THINK_OPEN;
    CHECK((phi_model_preset("ollama", "m", NULL).quirks & all) == small);
    CHECK((phi_model_preset("llama_cpp", "m", NULL).quirks & all) == small);
    CHECK((phi_model_preset("vllm", "m", NULL).quirks & all) == small);
    CHECK((phi_model_preset("lm_studio", "m", NULL).quirks & all) == small);
    CHECK((phi_model_local("http://h/v1", "m", NULL).quirks & all) == small);
    CHECK((phi_model_openai("m", "K").quirks & all) == 0);
    CHECK((phi_model_preset("openrouter", "m", "K").quirks & all) == 0);
    CHECK((phi_model_preset("groq", "m", "K").quirks & all) == 0);
    CHECK((phi_model_preset("cerebras", "m", "K").quirks & all) == 0);
    CHECK((phi_model_preset("mistral", "m", "K").quirks & all) == 0);
    CHECK((phi_model_preset("deepseek", "m", "K").quirks & all) == 0);
    CHECK((phi_model_preset("fireworks", "m", "K").quirks & all) == 0);
    CHECK((phi_model_preset("litellm", "m", "K").quirks & all) == 0);
}

TEST(presets_set_quirks_by_model_where_they_differ) {
    CHECK((phi_model_preset("openrouter", "anthropic/claude-sonnet-4.5", "K").quirks &
           PHI_QUIRK_CACHE_CONTROL) != 0);
    CHECK((phi_model_preset("openrouter", "openai/gpt-5", "K").quirks & PHI_QUIRK_DEVELOPER_ROLE) !=
          0);
    CHECK((phi_model_preset("openrouter", "meta/llama", "K").quirks &
           (PHI_QUIRK_DEVELOPER_ROLE | PHI_QUIRK_CACHE_CONTROL)) == 0);
    CHECK((phi_model_preset("deepseek", "deepseek-reasoner", "K").quirks &
           PHI_QUIRK_REPLAY_REASONING) != 0);
    CHECK((phi_model_preset("deepseek", "deepseek-r1", "K").quirks & PHI_QUIRK_REPLAY_REASONING) ==
          0);
    CHECK((phi_model_preset("groq", "qwen/qwen3-32b", "K").quirks & PHI_QUIRK_REASONING_FORMAT) !=
          0);
}

TEST(cost_is_dollars_per_million_and_reasoning_is_not_charged_twice) {
    phi_cost rates = {3.0, 15.0, 0.3, 3.75};
    phi_usage usage = {1000000, 100000, 90000, 2000000, 400000, 3500000};
    double cost = phi_cost_of(&rates, &usage);
    CHECK(cost > 6.5999 && cost < 6.6001); /* 3 + 1.5 + 0.6 + 1.5 */
}

TEST_MAIN(TEST_ENTRY(presets_know_where_their_provider_lives),
          TEST_ENTRY(servers_of_ones_own_live_on_this_machine_unless_one_says_where),
          TEST_ENTRY(presets_say_whose_they_are),
          TEST_ENTRY(presets_know_by_name_which_models_can_think),
          TEST_ENTRY(only_servers_of_ones_own_leave_small_models_to_phi),
          TEST_ENTRY(presets_set_quirks_by_model_where_they_differ),
          TEST_ENTRY(cost_is_dollars_per_million_and_reasoning_is_not_charged_twice))
