/* response.c - phi_prompt_with: a prompt with options for its run, and a handle to the answer. */
#include "agent/response.h"
#include "agent/agent_in.h"
#include "features/features_in.h"
#include "agent/agent_history.h"

#include <limits.h>

static phi__response *phi__response_find(phi_response handle) {
    phi__slot *slot =
        handle.rt != NULL ? phi__slots_find(&handle.rt->responses, handle.index, handle.gen) : NULL;
    return slot != NULL ? (phi__response *)slot->object : NULL;
}

static phi__response *phi__response_new(phi__agent *agent) {
    phi__response *response = (phi__response *)phi__alloc(&agent->memory, sizeof *response);
    if (response == NULL) return NULL;
    response->slot = phi__slots_take(&agent->rt->responses, 1, response);
    if (response->slot == NULL) {
        phi__free(&agent->memory, response, sizeof *response);
        return NULL;
    }
    response->index = response->slot->index;
    response->gen = phi__slots_gen_of(PHI__LOAD(&response->slot->word));
    response->agent = agent;
    response->status = PHI_BUSY;
    response->asked_ms = phi__io_wall_ms(agent->rt->io);
    response->older = agent->responses;
    if (agent->responses != NULL) agent->responses->newer = response;
    agent->responses = response;
    return response;
}

static bool phi__response_keep(phi__agent *agent, phi_str text, phi_str *out) {
    if (text.at == NULL) return true;
    char *copy = (char *)phi__alloc(&agent->memory, phi__add(text.len, 1));
    if (copy == NULL) return false;
    memcpy(copy, text.at, text.len);
    *out = phi__str(copy, text.len);
    return true;
}

/* Sets the response's id, and its query: the first text block of the prompt. */
static bool phi__response_name(phi__response *response, const phi_prompt_desc *desc) {
    char made[PHI__UUID_SIZE];
    phi_str query = {NULL, 0};
    size_t i = 0;
    if (desc->id == NULL) phi__take_random_id(response->agent, made);
    while (i < desc->content_count && desc->content[i].kind != PHI_CONTENT_TEXT) i++;
    if (i < desc->content_count) query = desc->content[i].text;
    return phi__response_keep(response->agent, phi_str_of(desc->id != NULL ? desc->id : made),
                              &response->id) &&
           phi__response_keep(response->agent, query, &response->query);
}

/* Returns the allowed tools of the request, or else of the agent. NULL: no memory. */
static phi_tool *phi__response_tools(const phi__agent *agent, const phi_prompt_desc *desc,
                                     phi_arena *arena, size_t *count) {
    const phi_tool *all = desc->tools != NULL ? desc->tools : agent->toolset.tools;
    size_t total = desc->tools != NULL ? desc->tool_count : agent->toolset.count, j;
    phi_tool *chosen =
        (phi_tool *)phi_arena_alloc(arena, phi__mul(phi__max(total, 1), sizeof *chosen));
    *count = 0;
    if (chosen == NULL || desc->no_tools) return chosen;
    for (size_t i = 0; i < total; i++) {
        for (j = 0; j < desc->allowed_count; j++)
            if (strcmp(all[i].name, desc->allowed_tools[j]) == 0) break;
        if (desc->allowed_count == 0 || j < desc->allowed_count) chosen[(*count)++] = all[i];
    }
    return chosen;
}

static phi_status phi__response_order(phi__agent *agent, phi__response *response,
                                      const phi_prompt_desc *desc, phi__buf *details,
                                      phi_arena *scratch) {
    phi_limits limits;
    if (response != NULL && !phi__response_name(response, desc)) return PHI_NO_MEMORY;
    phi__enqueue_details(desc->id, desc->refs, details);
    if (details->failed) return PHI_NO_MEMORY;
    phi_message message = PHI_ZERO;
    message.role = PHI_ROLE_USER;
    message.content = desc->content;
    message.content_count = desc->content_count;
    message.details = phi__buf_str(details);
    phi__run_order order = PHI_ZERO;
    order.prompts = &message;
    order.prompt_count = 1;
    order.policy = desc->policy;
    order.waits_ms = desc->decision_timeout_ms;
    order.extra = desc->extra;
    order.context = desc->tool_context;
    order.metadata = desc->metadata;
    order.format = desc->format;
    order.has_temperature = desc->has_temperature;
    order.temperature = desc->temperature;
    order.has_tools = desc->tools != NULL || desc->no_tools || desc->allowed_count > 0;
    if (order.has_tools) {
        order.tools = phi__response_tools(agent, desc, scratch, &order.tool_count);
        if (order.tools == NULL) return PHI_NO_MEMORY;
    }
    if (desc->limits != NULL) {
        limits = phi__make_limits_of(desc->limits);
        order.limits = &limits;
    }
    /* If the request names a model, the agent gets its old model back when the run ends. */
    const phi_model *model = desc->model;
    phi__ask_model *ask = model != NULL ? phi__ask_model_begin(agent, model) : NULL;
    if (model != NULL && ask == NULL) return PHI_NO_MEMORY;
    phi_status status = phi__run_new(agent, &order);
    if (ask != NULL && status == PHI_OK) phi__ask_model_keep(agent, ask);
    if (ask != NULL && status != PHI_OK) phi__ask_model_drop(agent, ask);
    return status;
}

/* Begins the run. If out is NULL, makes no response. */
static phi_status phi__response_begin(phi__agent *agent, const phi_prompt_desc *desc,
                                      phi_response *out) {
    phi__response *response = out != NULL ? phi__response_new(agent) : NULL;
    phi_arena scratch;
    phi__buf details;
    if (out != NULL && response == NULL)
        return phi__error(agent->rt, PHI_NO_MEMORY, "phi_prompt_with: out of memory");
    phi__buf_init(&details, &agent->memory);
    phi_arena_init(&scratch, &agent->memory, 0);
    phi_status status = phi__response_order(agent, response, desc, &details, &scratch);
    phi__buf_free(&details);
    phi_arena_free(&scratch);
    if (status != PHI_OK && response != NULL) phi__responses_drop_one(response);
    if (status != PHI_OK) return phi__agent_no_memory(agent, "phi_prompt_with");
    if (response == NULL) return PHI_OK;
    agent->run->response = response;
    response->loop_id = agent->run->loop_id;
    /* Frees responses older than the newest PHI_RESPONSES_KEPT. */
    phi__response *last = agent->responses;
    int kept = 1;
    while (last->older != NULL && kept++ < PHI_RESPONSES_KEPT) last = last->older;
    while (last->older != NULL) phi__responses_drop_one(last->older);
    out->index = response->index;
    out->gen = response->gen;
    return PHI_OK;
}

static phi_response_state phi__response_state(phi_status status) {
    if (status == PHI_BUSY) return PHI_RESPONSE_RUNNING;
    if (status == PHI_OK) return PHI_RESPONSE_COMPLETED;
    return status == PHI_CANCELLED ? PHI_RESPONSE_CANCELLED : PHI_RESPONSE_FAILED;
}

static phi_str phi__response_text(const phi_message *message) {
    size_t i = message != NULL ? message->content_count : 0;
    for (; i > 0; i--)
        if (message->content[i - 1].kind == PHI_CONTENT_TEXT) return message->content[i - 1].text;
    return phi__str("", 0);
}

static phi_status phi__response_check(phi_runtime *rt, const char *what,
                                      const phi_prompt_desc *desc) {
    const char *fault = NULL;
    if (desc->thread_id != NULL && desc->new_thread)
        return phi__error(rt, PHI_BAD_ARG, "%s: thread_id is given, and new_thread is set", what);
    if (desc->policy != NULL) fault = phi__policy_fault(desc->policy);
    if (fault != NULL) return phi__error(rt, PHI_BAD_ARG, "%s", fault);
    return phi__enqueue_check(rt, what, desc->content, desc->content_count);
}

static phi_status phi__response_check_allowed(const phi__agent *agent, const char *what,
                                              const phi_prompt_desc *desc) {
    const phi_tool *all = desc->tools != NULL ? desc->tools : agent->toolset.tools;
    size_t count = desc->tools != NULL ? desc->tool_count : agent->toolset.count, j;
    if (desc->allowed_count > 0 && desc->allowed_tools == NULL)
        return phi__error(agent->rt, PHI_BAD_ARG, "%s: allowed_tools is NULL, allowed_count is %u",
                          what, (unsigned)desc->allowed_count);
    for (size_t i = 0; i < desc->allowed_count; i++) {
        const char *name = desc->allowed_tools[i] != NULL ? desc->allowed_tools[i] : "";
        for (j = 0; j < count; j++)
            if (strcmp(all[j].name, name) == 0) break;
        if (j == count)
            return phi__error(agent->rt, PHI_BAD_ARG,
                              "%s: allowed_tools[%u]: %s has no tool \"%.64s\"", what, (unsigned)i,
                              desc->tools != NULL ? "the request" : "the agent", name);
    }
    return PHI_OK;
}

static phi_status phi__response_check_tools(phi__agent *agent, const char *what,
                                            const phi_prompt_desc *desc) {
    phi_status status = PHI_OK;
    if (desc->allowed_count > 0 && agent->sources != NULL && agent->run == NULL &&
        agent->held == NULL && agent->rt->features.sources->refresh(agent, false) != PHI_OK)
        return phi__agent_no_memory(agent, what);
    if (desc->no_tools && (desc->tool_count > 0 || desc->allowed_count > 0))
        return phi__error(agent->rt, PHI_BAD_ARG, "%s: %s is given, and no_tools is set", what,
                          desc->tool_count > 0 ? "tools" : "allowed_tools");
    if (desc->tools != NULL || desc->tool_count > 0)
        status = phi__check_tools(agent->rt, &agent->desc, desc->tools, desc->tool_count);
    return status == PHI_OK ? phi__response_check_allowed(agent, what, desc) : status;
}

/* Checks `extra`. A request with a model uses the agent's own provider, even after a failover. */
static phi_status phi__response_check_extra(phi__agent *agent, const phi_prompt_desc *desc) {
    phi_agent_desc own = agent->desc;
    if (desc->model != NULL) phi__failover_own(agent, &own);
    return phi__said_check_extra(agent->rt, "extra", own.provider,
                                 desc->model != NULL ? desc->model : &own.model, desc->extra);
}

/* Checks that the request's model accepts the agent's extra and the names of the run's tools. */
static phi_status phi__response_check_model(phi__agent *agent, const phi_prompt_desc *desc) {
    phi_agent_desc own = agent->desc;
    if (desc->model == NULL) return PHI_OK;
    phi__failover_own(agent, &own);
    phi_status status = phi__check_model(agent->rt, "", own.provider, desc->model);
    if (status == PHI_OK)
        status = phi__said_check_extra(agent->rt, "options.extra", own.provider, desc->model,
                                       own.options.extra);
    if (status != PHI_OK) return status;
    return phi__tool_check_names(agent->rt, "", own.provider, desc->model,
                                 desc->tools != NULL ? desc->tools : agent->toolset.tools,
                                 desc->tools != NULL ? desc->tool_count : agent->toolset.own);
}

static phi_status phi__response_check_context(phi__agent *agent, const char *what,
                                              const char *text) {
    phi_arena arena;
    phi_json *root = NULL;
    if (text == NULL) return PHI_OK;
    phi_arena_init(&arena, &agent->memory, 0);
    phi_status status = phi_json_parse(&arena, phi_str_of(text), PHI_JSON_BORROW, &root, NULL);
    bool good = status == PHI_OK && phi_json_is(root, PHI_JSON_OBJECT);
    phi_arena_free(&arena);
    if (status == PHI_NO_MEMORY) return phi__agent_no_memory(agent, what);
    if (good) return PHI_OK;
    return phi__error(agent->rt, PHI_BAD_ARG, "%s: tool_context is no JSON object", what);
}

/* Checks the request's format, temperature and metadata, and the context for its tools. */
static phi_status phi__response_check_own(phi__agent *agent, const char *what,
                                          const phi_prompt_desc *desc) {
    phi_status status = phi__check_format(
        agent->rt, desc->format, desc->tools != NULL ? desc->tools : agent->toolset.tools,
        desc->tools != NULL ? desc->tool_count : agent->toolset.count);
    if (status == PHI_OK && desc->has_temperature &&
        !(desc->temperature >= 0.0 && desc->temperature <= 100.0))
        status = phi__error(agent->rt, PHI_BAD_ARG, "%s: temperature %g: expected 0 to 100", what,
                            desc->temperature);
    if (status == PHI_OK)
        status = phi__enqueue_check_json(agent->rt, what, "metadata", desc->metadata);
    return status == PHI_OK ? phi__response_check_context(agent, what, desc->tool_context) : status;
}

/* Moves the agent to the request's thread, then begins the run. The change of thread calls the
   host, which may free the agent. */
static phi_status phi__response_start(phi_agent handle, const phi_prompt_desc *desc,
                                      phi_response *out) {
    phi_status status = PHI_OK;
    if (desc->thread_id != NULL || desc->new_thread)
        status = phi_agent_use_thread(handle, desc->thread_id);
    if (status != PHI_OK) return status;
    phi__agent *agent = phi__find_agent(handle);
    if (agent == NULL)
        return phi__error(handle.rt, PHI_STALE, "phi_prompt_with: the agent is gone");
    status = phi__agent_may_run(agent, "phi_prompt_with");
    return status == PHI_OK ? phi__response_begin(agent, desc, out) : status;
}

/* ---- public ---- */

PHI_API phi_status phi_prompt_with(phi_agent handle, const phi_prompt_desc *desc,
                                   phi_response *response) {
    phi__agent *agent = phi__find_agent(handle);
    phi_content content;
    if (response != NULL) {
        memset(response, 0, sizeof *response);
        response->rt = handle.rt; /* generation 0 is never valid */
    }
    if (handle.rt == NULL) return PHI_BAD_ARG;
    if (agent == NULL)
        return phi__error(handle.rt, PHI_STALE, "phi_prompt_with: the agent is gone");
    if (desc == NULL) return phi__error(handle.rt, PHI_BAD_ARG, "phi_prompt_with: desc is NULL");
    phi_prompt_desc given = *desc;
    if (given.content != NULL && given.text != NULL)
        return phi__error(handle.rt, PHI_BAD_ARG,
                          "phi_prompt_with: text and content are both given");
    if (given.content == NULL) {
        if (given.text == NULL || given.text[0] == '\0')
            return phi__error(handle.rt, PHI_BAD_ARG, "phi_prompt_with: the text is empty");
        content = phi__input_text(phi_str_of(given.text));
        given.content = &content;
        given.content_count = 1;
    }
    static const char *const what = "phi_prompt_with";
    phi_status status = phi__response_check(agent->rt, what, &given);
    if (status == PHI_OK)
        status = phi__enqueue_check_details(agent->rt, what, given.id, given.refs);
    if (status == PHI_OK) status = phi__response_check_tools(agent, what, &given);
    if (status == PHI_OK) status = phi__response_check_model(agent, &given);
    if (status == PHI_OK) status = phi__response_check_extra(agent, &given);
    status = status == PHI_OK ? phi__response_check_own(agent, what, &given) : status;
    return status == PHI_OK ? phi__response_start(handle, &given, response) : status;
}

PHI_API phi_response_info phi_response_get(phi_response handle) {
    phi__response *response = phi__response_find(handle);
    phi_response_info info = PHI_ZERO;
    info.loop_id = info.id = info.query = info.text = phi__str("", 0);
    info.status = PHI_STALE;
    info.done = true;
    if (response == NULL) return info;
    if (response->status == PHI_BUSY) phi__responses_update(response, response->agent->run);
    info.state = phi__response_state(response->status);
    info.done = info.state != PHI_RESPONSE_RUNNING;
    info.status = response->status;
    info.agent = response->agent->handle;
    info.loop_id = response->loop_id;
    info.id = response->id;
    info.query = response->query;
    info.message = response->message;
    info.text = phi__response_text(response->message);
    info.failure = response->failure;
    info.usage = response->usage;
    info.cost = response->cost;
    info.asked_ms = response->asked_ms;
    info.ended_ms = response->ended_ms;
    info.first_event_ms = response->first_delta_ms;
    return info;
}

static bool phi__response_done(phi_response handle) {
    const phi__response *response = phi__response_find(handle);
    return response == NULL || response->status != PHI_BUSY;
}

/* Returns the time left in ms, or -1 for no limit. */
static int phi__response_rest(const phi_runtime *rt, uint64_t end_us, bool unlimited) {
    uint64_t now = phi__io_now_us(rt->io);
    if (unlimited) return -1;
    if (now >= end_us) return 0;
    uint64_t left = (end_us - now + 999) / 1000;
    return left > (uint64_t)INT_MAX ? INT_MAX : (int)left;
}

PHI_API phi_status phi_response_await(phi_response handle, uint32_t timeout_ms,
                                      void (*event_fn)(void *user_data, const phi_event *event),
                                      void *user_data) {
    phi_runtime *rt = handle.rt;
    phi_event event;
    int rest, runs;
    if (rt == NULL) return PHI_BAD_ARG;
    if (rt->in_step) return phi__error(rt, PHI_MISUSE, "phi_response_await: inside a callback");
    uint64_t end = phi__io_now_us(rt->io) + (uint64_t)timeout_ms * 1000;
    for (;;) {
        if (phi__response_find(handle) == NULL) return PHI_STALE;
        if (phi__response_done(handle)) return PHI_OK;
        rest = phi__response_rest(rt, end, timeout_ms == PHI_UNLIMITED);
        runs = phi_step(rt, rest);
        if (runs < 0) return (phi_status)runs;
        while (phi_next_event(rt, &event))
            if (event_fn != NULL) event_fn(user_data, &event);
        if (rest == 0)
            return phi__response_find(handle) == NULL ? PHI_STALE
                   : phi__response_done(handle)       ? PHI_OK
                                                      : PHI_TIMEOUT;
    }
}

PHI_API void phi_response_free(phi_response handle) {
    phi__response *response = phi__response_find(handle);
    if (response != NULL) phi__responses_drop_one(response);
}
