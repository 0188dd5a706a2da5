/* mock.h - a scripted model, for the tests of a program that uses phi: no network, no key.

       phi_mock *mock = phi_mock_new(rt);
       phi_mock_call(mock, "look", "{\"place\":\"forge\"}");
       phi_mock_text(mock, "The fire is out.");
       desc.model = mock->model;
       ... phi_prompt and phi_step, as with any model ...
       assert(mock->request_count == 2 && mock->answers_left == 0);

   Each call of the model takes the next answer of the script, whichever agent makes it. A text
   comes a word in each phi_step, so the same steps bring the same events on every machine. Retries,
   tools, hooks and limits are those of any model. When the script is over, a call fails with
   "phi_mock: no answer is left for request 3: ...", and that is not tried again.
   A save game holds no script: after loading, add the answers that are still to come.
   Ownership: the runtime owns a mock and frees it with itself. Texts are copied. When memory ends,
   the next call of the model fails and says so.
   Threads: the pumping thread. */
#ifndef PHI_MOCK_MOCK_H
#define PHI_MOCK_MOCK_H

#include "loop/provider.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct phi_mock {
    phi_model model; /* for phi_agent_desc.model: its protocol is "mock", of a second one "mock2" */
    /* or for phi_agent_desc.provider: it answers in place of whatever model the agent has */
    phi_provider provider;
    /* Read these: the requests so far, with system prompt, messages and tools, copied. */
    const phi_model_request *requests;
    size_t request_count;
    size_t answers_left; /* of the script */
    /* Set these. The answers that are added from now on begin so much later, by the runtime's clock
       (default 0). */
    uint32_t delay_ms;
    /* Called when a request finds no answer left; adds one, which may depend on the request
       (default: none) */
    void (*answer_fn)(void *user_data, struct phi_mock *mock, const phi_model_request *request);
    void *user_data;
} phi_mock;

/* NULL: no memory. */
PHI_API phi_mock *phi_mock_new(phi_runtime *rt);

/* Adds an answer to the script: a text; or a call of a tool with its arguments, a JSON object
   (NULL: {}). */
PHI_API void phi_mock_text(phi_mock *mock, const char *text);
PHI_API void phi_mock_call(phi_mock *mock, const char *tool, const char *arguments);
/* Adds one more call to the answer that was added last, so that its tools run together. Nothing
   happens when the model was given that answer already. */
PHI_API void phi_mock_also_call(phi_mock *mock, const char *tool, const char *arguments);
/* Adds a failure. Those that pass with time are tried again, as phi_retry says, and take the next
   answer: PHI_FAILURE_RATE_LIMITED, _SERVER, _NETWORK, _TIMEOUT. */
PHI_API void phi_mock_fail(phi_mock *mock, phi_failure_kind kind, const char *message);

#ifdef __cplusplus
}
#endif
#endif
