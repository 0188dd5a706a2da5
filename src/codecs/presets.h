/* presets.h - models by provider, and the protocols that they carry. */
#ifndef PHI_CODECS_PRESETS_H
#define PHI_CODECS_PRESETS_H

#include "model/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Presets: the provider's URL, its quirks, and the facts that the model's name implies (whether it
   can think; limits). All else is default, and any field may be changed afterwards. They borrow
   their arguments. */
PHI_API phi_model phi_model_anthropic(const char *id, const char *api_key);
PHI_API phi_model phi_model_openai(const char *id, const char *api_key);
PHI_API phi_model phi_model_openai_responses(const char *id, const char *api_key);
/* base_url as "https://RESOURCE.openai.azure.com/openai/v1", or an older one with its ?api-version.
   api_key goes into the header api-key; for an Entra token leave it NULL and put an authorization
   header into `headers`. Where the deployment's name does not begin as its model's does, set
   `reasoning`. */
PHI_API phi_model phi_model_azure(const char *base_url, const char *deployment,
                                  const char *api_key);
PHI_API phi_model phi_model_google(const char *id, const char *api_key);
/* base_url as
   "https://europe-west1-aiplatform.googleapis.com/v1/projects/P/locations/europe-west1", with an
   OAuth token, which lives about an hour; or "https://aiplatform.googleapis.com/v1" with an API
   key. */
PHI_API phi_model phi_model_vertex(const char *base_url, const char *id, const char *token);
/* Google's Interactions API, at the Gemini API with its key. For Vertex AI put its address into
   base_url, with v1beta1 for v1:
   "https://aiplatform.googleapis.com/v1beta1/projects/P/locations/global"; the key is then an OAuth
   token. */
PHI_API phi_model phi_model_interactions(const char *id, const char *api_key);
/* Amazon Bedrock. base_url as "https://bedrock-runtime.eu-west-1.amazonaws.com", whose region is
   signed for (NULL: us-east-1); id may be the ARN of a profile: for a Claude, set
   PHI_QUIRK_CACHE_CONTROL and `reasoning`. key: a Bedrock API key, or "ACCESS:SECRET" or
   "ACCESS:SECRET:SESSION_TOKEN", with which each request is signed. */
PHI_API phi_model phi_model_bedrock(const char *base_url, const char *id, const char *key);
/* by Anthropic's protocol */
PHI_API phi_model phi_model_minimax(const char *id, const char *api_key);
/* A server of the Chat protocol, by its name: "openai", "openrouter", "xai", "groq", "cerebras",
   "mistral", "deepseek", "together", "qwen", "moonshot", "zai", "fireworks"; or at its usual port
   on this machine (for another address set base_url, with its "/v1"): "ollama", "llama_cpp",
   "vllm", "lm_studio", "litellm". For an unknown name the protocol is NULL, and phi_agent_new says
   so.
   phi does not know if a local server's model can think: set `reasoning`. Ollama silently cuts
   prompts longer than its num_ctx (4,096 unless it was set there): set context_window to yours. For
   LiteLLM `id` is a name configured in the proxy: where it does not begin with "claude-",
   "anthropic/" or "gpt-", set `reasoning`, and PHI_QUIRK_REASONING_EFFORT with it, for a model that
   can think. */
PHI_API phi_model phi_model_preset(const char *name, const char *id, const char *api_key);
/* Any OpenAI-compatible server: Ollama, llama.cpp, vLLM, LM Studio... base_url as
   "http://localhost:11434/v1"; api_key NULL for none. */
PHI_API phi_model phi_model_local(const char *base_url, const char *id, const char *api_key);

/* All protocols, for phi_runtime_desc.codecs; NULL-ended and static. */
PHI_API const phi_codec_fn *phi_codecs_all(void);
#define PHI_ALL_PROTOCOLS phi_codecs_all()

#ifdef __cplusplus
}
#endif
#endif
