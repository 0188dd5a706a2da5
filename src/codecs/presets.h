/* presets.h - presets: models of the known providers, with their protocols. */
#ifndef PHI_CODECS_PRESETS_H
#define PHI_CODECS_PRESETS_H

#include "model/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Presets. Each returns a model with the provider's URL, limits and quirks, and with the facts that
   follow from the model's name (quirks, and if it can think). All other fields have their defaults,
   and any field may be changed afterwards. The arguments are borrowed. */
PHI_API phi_model phi_model_anthropic(const char *id, const char *api_key);
PHI_API phi_model phi_model_openai(const char *id, const char *api_key);
PHI_API phi_model phi_model_openai_responses(const char *id, const char *api_key);
/* Azure OpenAI. base_url is like "https://RESOURCE.openai.azure.com/openai/v1", or an older URL
   with its ?api-version. api_key is sent in the header api-key. For an Entra token leave api_key
   NULL and put an authorization header into `headers`. If the deployment's name does not begin like
   the model's name, set `reasoning`. */
PHI_API phi_model phi_model_azure(const char *base_url, const char *deployment,
                                  const char *api_key);
PHI_API phi_model phi_model_google(const char *id, const char *api_key);
/* Google Vertex AI. base_url is like
   "https://europe-west1-aiplatform.googleapis.com/v1/projects/P/locations/europe-west1" with an
   OAuth token, which is valid for about an hour; or "https://aiplatform.googleapis.com/v1" with an
   API key. */
PHI_API phi_model phi_model_vertex(const char *base_url, const char *id, const char *token);
/* Google's Interactions API on the Gemini API's server, with a key of the Gemini API. For Vertex AI
   set base_url to its address with v1beta1 instead of v1:
   "https://aiplatform.googleapis.com/v1beta1/projects/P/locations/global". The key is then an OAuth
   token. */
PHI_API phi_model phi_model_interactions(const char *id, const char *api_key);
/* Amazon Bedrock. base_url is like "https://bedrock-runtime.eu-west-1.amazonaws.com" (NULL:
   us-east-1); requests are signed for the region in it. id may be the ARN of a profile; if its
   model is a Claude, set PHI_QUIRK_CACHE_CONTROL and `reasoning`. key is a Bedrock API key, or
   "ACCESS:SECRET" or "ACCESS:SECRET:SESSION_TOKEN", with which each request is signed. */
PHI_API phi_model phi_model_bedrock(const char *base_url, const char *id, const char *key);
/* MiniMax, with Anthropic's protocol. */
PHI_API phi_model phi_model_minimax(const char *id, const char *api_key);
/* A server with the Chat protocol, by its name: "openai", "openrouter", "xai", "groq", "cerebras",
   "mistral", "deepseek", "together", "qwen", "moonshot", "zai", "fireworks". Or a server at its
   usual port on this machine: "ollama", "llama_cpp", "vllm", "lm_studio", "litellm" (for another
   address set base_url, including "/v1"). For an unknown name the protocol is NULL, and
   phi_agent_new reports this. phi does not know if a local server's model can think: set
   `reasoning`. Ollama silently cuts prompts that are longer than its num_ctx (4,096 unless Ollama
   was configured otherwise): set context_window to this number. For LiteLLM `id` is a name that is
   configured in the proxy. If this name does not begin with "claude-", "anthropic/" or "gpt-" and
   the model can think, set `reasoning` and PHI_QUIRK_REASONING_EFFORT. */
PHI_API phi_model phi_model_preset(const char *name, const char *id, const char *api_key);
/* Any OpenAI-compatible server: Ollama, llama.cpp, vLLM, LM Studio... base_url is like
   "http://localhost:11434/v1"; api_key NULL: no key. */
PHI_API phi_model phi_model_local(const char *base_url, const char *id, const char *api_key);

/* Returns all protocols, for phi_runtime_desc.codecs: a static, NULL-ended list. */
PHI_API const phi_codec_fn *phi_codecs_all(void);
#define PHI_ALL_PROTOCOLS phi_codecs_all()

#ifdef __cplusplus
}
#endif
#endif
