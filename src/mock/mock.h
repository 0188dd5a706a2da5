/* mock.h - a scripted model, for tests of a program that uses phi: no network, no key.

       phi_mock *mock = phi_mock_new(rt);
       phi_mock_call(mock, "look", "{\"place\":\"forge\"}");
       phi_mock_text(mock, "The fire is out.");
       desc.model = mock->model;
       ... phi_prompt and phi_step, as with any model ...
       assert(mock->request_count == 2 && mock->answers_left == 0);

   Each model call takes the next answer of the script, whichever agent makes the call. A text comes
   one word in each phi_step, so the same steps give the same events on every machine. Retries,
   tools, hooks and limits work as with any model. If no answer is left, a call fails with
   "phi_mock: no answer is left for request 3: ...", and is not tried again. A request with a tool
   whose name no provider takes fails with "phi_mock: tool \"ask him\": ...", and takes no answer.
   A save game does not have the script: after loading, add the answers that are still needed.
   Ownership: the runtime owns a mock, and frees it when the runtime is freed. Texts are copied. If
   there was no memory for an answer, the next model call fails and says so.
   Threads: the pumping thread. */
#ifndef PHI_MOCK_MOCK_H
#define PHI_MOCK_MOCK_H

#include "loop/provider.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct phi_mock {
    /* for phi_agent_desc.model; its protocol is "mock", or "mock2" for a second mock */
    phi_model model;
    /* for phi_agent_desc.provider: this provider answers in place of the agent's model */
    phi_provider provider;
    /* Read-only: copies of the requests so far, with system prompt, messages and tools. */
    const phi_model_request *requests;
    size_t request_count;
    size_t answers_left; /* answers left in the script */
    /* May be set: the mock keeps at most this many of the newest requests (default: all). Then
       requests[0] is the oldest of them, and a model call moves them. */
    size_t max_requests;
    size_t requests_freed; /* older requests that max_requests has freed */
    /* May be set: delay of all answers that are added later, by the runtime's clock (default 0). */
    uint32_t delay_ms;
    /* May be set: usage of all answers that are added later, but not of failures (default: none) */
    phi_usage usage;
    /* May be set: called if a request finds no answer left. The function adds an answer, which may
       depend on the request (default: none) */
    void (*answer_fn)(void *user_data, struct phi_mock *mock, const phi_model_request *request);
    void *user_data;
} phi_mock;

/* Makes a mock and registers its provider. NULL: no memory. */
PHI_API phi_mock *phi_mock_new(phi_runtime *rt);

/* Add an answer to the script: a text or a tool call. `arguments` is a JSON object (NULL: {}). */
PHI_API void phi_mock_text(phi_mock *mock, const char *text);
PHI_API void phi_mock_call(phi_mock *mock, const char *tool, const char *arguments);
/* Adds one more call to the answer that was added last, so its tools run together. Does nothing if
   that answer was already given. */
PHI_API void phi_mock_also_call(phi_mock *mock, const char *tool, const char *arguments);
/* Adds a failure. The failures PHI_FAILURE_RATE_LIMITED, _SERVER, _NETWORK and _TIMEOUT are tried
   again, as phi_retry says, and the retry takes the next answer. */
PHI_API void phi_mock_fail(phi_mock *mock, phi_failure_kind kind, const char *message);

#ifdef __cplusplus
}
#endif
#endif
