/* agent.c - making, prompting and freeing agents; all defaults of phi_agent_desc are resolved here. */
#include "agent/agent_in.h"
#include "base/id_in.h"
#include "text/schema.h"

enum {
    PHI__AGENT_TURNS = 50,           /* behaviours C 17 */
    PHI__AGENT_TOKENS = 1000000,     /* the same */
    PHI__AGENT_DURATION_MS = 600000, /* the same */
    PHI__AGENT_CONNECT_MS = 15000,
    PHI__AGENT_FIRST_EVENT_MS = 300000, /* a cold local model loads for minutes */
    PHI__AGENT_IDLE_MS = 120000,
    PHI__AGENT_TOOL_MS = 120000, /* DESIGN part 5; api-sketch.h */
    PHI__AGENT_BATCH = 4,
    PHI__AGENT_QUEUE_BYTES = 262144,
    PHI__AGENT_EVENT_BYTES = 16777216,
    PHI__AGENT_RESPONSE_BYTES = 268435456,
    PHI__AGENT_WINDOW = 128000,
    PHI__AGENT_MAX_TOKENS = 8192 /* behaviours C 48 */
};

static phi__agent *phi__agent_find(phi_agent handle) {
    phi__slot *slot =
        handle.rt != NULL ? phi__slots_find(&handle.rt->agents, handle.index, handle.gen) : NULL;
    return slot != NULL ? (phi__agent *)slot->object : NULL;
}

/* ---- copying a desc ---- */

static bool phi__agent_text(phi__agent *agent, const char *text, const char **out) {
    phi_str copy;
    if (!phi__arena_str(&agent->model_arena, phi_str_of(text), &copy)) return false;
    *out = copy.at;
    return true;
}

static bool phi__agent_headers(phi__agent *agent, const phi_model *model) {
    size_t i;
    phi_model_header *headers = (phi_model_header *)phi_arena_alloc(
        &agent->model_arena, phi__mul(model->header_count, sizeof *headers));
    if (headers == NULL) return false;
    for (i = 0; i < model->header_count; i++)
        if (!phi__agent_text(agent, model->headers[i].name, &headers[i].name) ||
            !phi__agent_text(agent, model->headers[i].value, &headers[i].value))
            return false;
    agent->model.headers = headers;
    return true;
}

/* provider.slug[.thinking]: the middle of a loop id; behaviours B 29. */
static bool phi__agent_segment(phi__agent *agent, const char *config_id) {
    phi__buf segment;
    const char *p;
    bool done;
    if (config_id != NULL)
        return phi__arena_str(&agent->model_arena, phi_str_of(config_id), &agent->segment);
    phi__buf_init(&segment, &agent->memory);
    phi__buf_text(&segment, agent->model.provider);
    phi__buf_char(&segment, '.');
    for (p = agent->model.id; *p != '\0'; p++) {
        bool plain = (*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z') ||
                     (*p >= 'A' && *p <= 'Z') || *p == '-';
        phi__buf_char(&segment, plain ? *p : '-');
    }
    if (agent->thinking != PHI_THINKING_OFF) phi__buf_text(&segment, ".thinking");
    done = !segment.failed &&
           phi__arena_str(&agent->model_arena, phi__buf_str(&segment), &agent->segment);
    phi__buf_free(&segment);
    return done;
}

static bool phi__agent_model(phi__agent *agent, const phi_model *model) {
    agent->model = *model;
    agent->codec = phi__codec_find(phi_str_of(model->protocol));
    if (agent->model.context_window == 0) agent->model.context_window = PHI__AGENT_WINDOW;
    if (agent->model.max_tokens == 0) agent->model.max_tokens = PHI__AGENT_MAX_TOKENS;
    return phi__agent_text(agent, model->protocol, &agent->model.protocol) &&
           phi__agent_text(agent, model->id, &agent->model.id) &&
           phi__agent_text(agent, model->name != NULL ? model->name : model->id,
                           &agent->model.name) &&
           phi__agent_text(agent, model->provider != NULL ? model->provider : model->protocol,
                           &agent->model.provider) &&
           phi__agent_text(agent, model->base_url, &agent->model.base_url) &&
           (model->api_key == NULL || model->api_key[0] == '\0' ||
            phi__agent_text(agent, model->api_key, &agent->model.api_key)) &&
           phi__agent_headers(agent, model);
}

static bool phi__agent_tools(phi__agent *agent, const phi_agent_desc *desc) {
    size_t i;
    agent->tools = (phi_tool *)phi_arena_alloc(&agent->arena,
                                               phi__mul(desc->tool_count, sizeof *agent->tools));
    agent->tool_views = (phi__tool_view *)phi_arena_alloc(
        &agent->arena, phi__mul(desc->tool_count, sizeof *agent->tool_views));
    if (agent->tools == NULL || agent->tool_views == NULL) return false;
    agent->tool_count = desc->tool_count;
    for (i = 0; i < desc->tool_count; i++) {
        phi_tool *tool = &agent->tools[i];
        *tool = desc->tools[i];
        if (tool->timeout_ms == 0) tool->timeout_ms = PHI__AGENT_TOOL_MS;
        if (tool->schema == NULL) tool->schema = "{\"type\":\"object\",\"properties\":{}}";
        agent->tool_views[i].name = phi_str_of(tool->name);
        agent->tool_views[i].description = phi_str_of(tool->description);
        agent->tool_views[i].schema = phi_str_of(tool->schema);
    }
    return true;
}

static uint32_t phi__agent_or(uint32_t value, uint32_t fallback) {
    return value != 0 ? value : fallback;
}

static void phi__agent_limits(phi__agent *agent, const phi_agent_desc *desc) {
    phi_limits *limits = &agent->limits;
    phi_deadlines *deadlines = &agent->deadlines;
    *limits = desc->limits;
    *deadlines = desc->deadlines;
    limits->max_turns = phi__agent_or(limits->max_turns, PHI__AGENT_TURNS);
    limits->max_duration_ms = phi__agent_or(limits->max_duration_ms, PHI__AGENT_DURATION_MS);
    if (limits->max_tokens == 0) limits->max_tokens = PHI__AGENT_TOKENS;
    deadlines->connect_ms = phi__agent_or(deadlines->connect_ms, PHI__AGENT_CONNECT_MS);
    deadlines->first_event_ms = phi__agent_or(deadlines->first_event_ms, PHI__AGENT_FIRST_EVENT_MS);
    deadlines->idle_ms = phi__agent_or(deadlines->idle_ms, PHI__AGENT_IDLE_MS);
    deadlines->total_ms = phi__agent_or(deadlines->total_ms, PHI_UNLIMITED);
    agent->event_queue_bytes =
        desc->event_queue_bytes != 0 ? desc->event_queue_bytes : (size_t)PHI__AGENT_QUEUE_BYTES;
    agent->max_event_bytes =
        desc->max_event_bytes != 0 ? desc->max_event_bytes : (size_t)PHI__AGENT_EVENT_BYTES;
    agent->max_response_bytes = desc->max_response_bytes != 0 ? desc->max_response_bytes
                                                              : (uint64_t)PHI__AGENT_RESPONSE_BYTES;
}

static void phi__agent_make_id(const phi__agent *agent, char out[PHI__UUID_SIZE]) {
    unsigned char random[16];
    phi__io_random(agent->rt->io, random, sizeof random);
    phi__uuid(random, out);
}

/* Ids live apart from the thread, so that an agent without history takes none of its memory. */
static bool phi__agent_new_id(phi__agent *agent, const char *given, phi_str *out) {
    char made[PHI__UUID_SIZE], *copy;
    size_t n;
    if (given == NULL) {
        phi__agent_make_id(agent, made);
        given = made;
    }
    n = strlen(given);
    copy = (char *)phi__realloc(&agent->memory, NULL, 0, n + 1);
    if (copy == NULL) return false;
    memcpy(copy, given, n + 1);
    *out = phi__str(copy, n);
    return true;
}

static void phi__agent_drop_id(phi__agent *agent, phi_str id) {
    if (id.at != NULL && id.at != agent->session_made)
        phi__free(&agent->memory, (void *)(uintptr_t)id.at, id.len + 1);
}

static bool phi__agent_fill(phi__agent *agent, const phi_agent_desc *desc) {
    agent->thinking = desc->thinking;
    agent->tool_mode = desc->tool_mode;
    agent->tool_batch = phi__agent_or(desc->tool_batch, PHI__AGENT_BATCH);
    agent->tool_choice = desc->tool_choice;
    agent->max_tokens = desc->max_tokens;
    agent->temperature = desc->has_temperature ? desc->temperature : -1.0;
    agent->disable_cache = desc->disable_cache;
    agent->user_data = desc->user_data;
    agent->segment_given = desc->config_id != NULL;
    phi__agent_limits(agent, desc);
    agent->no_memory.kind = PHI_FAILURE_NO_MEMORY;
    agent->no_memory.message = phi_str_of("Out of memory");
    return phi__agent_model(agent, &desc->model) && phi__agent_tools(agent, desc) &&
           phi__arena_str(&agent->arena, phi_str_of(desc->system_prompt), &agent->system_prompt) &&
           phi__agent_segment(agent, desc->config_id) &&
           phi__agent_new_id(agent, desc->agent_id, &agent->agent_id) &&
           phi__agent_new_id(agent, desc->session_id, &agent->session_id);
}

/* ---- checking a desc ---- */

static phi_status phi__agent_check_model(phi_runtime *rt, const phi_model *model) {
    size_t i;
    if (model->protocol == NULL || model->protocol[0] == '\0')
        return phi__error(rt, PHI_BAD_ARG, "model.protocol is missing: use a phi_model_ preset");
    if (model->id == NULL || model->id[0] == '\0')
        return phi__error(rt, PHI_BAD_ARG, "model.id is missing");
    if (phi__codec_find(phi_str_of(model->protocol)) == NULL)
        return phi__error(rt, PHI_UNSUPPORTED, "No provider registered for protocol: %s",
                          model->protocol);
    if (model->base_url == NULL || model->base_url[0] == '\0')
        return phi__error(rt, PHI_BAD_ARG, "model.base_url is missing");
    if (model->header_count > 0 && model->headers == NULL)
        return phi__error(rt, PHI_BAD_ARG, "model.headers is missing, header_count is %u",
                          (unsigned)model->header_count);
    for (i = 0; i < model->header_count; i++)
        if (model->headers[i].name == NULL || model->headers[i].value == NULL ||
            strpbrk(model->headers[i].name, "\r\n:") != NULL ||
            strpbrk(model->headers[i].value, "\r\n") != NULL)
            return phi__error(rt, PHI_BAD_ARG, "model.headers[%u]: not a header", (unsigned)i);
    if (model->api_key != NULL && strpbrk(model->api_key, "\r\n") != NULL)
        return phi__error(rt, PHI_BAD_ARG, "model.api_key holds a line break");
    return PHI_OK;
}

static phi_status phi__agent_check_schema(phi_runtime *rt, const phi_tool *tool) {
    phi_arena arena;
    phi_json *schema = NULL;
    phi_parse_error parse;
    phi_schema_error error;
    phi_status status;
    if (tool->schema == NULL) return PHI_OK;
    phi_arena_init(&arena, &rt->memory, 1024);
    status = phi_json_parse(&arena, phi_str_of(tool->schema), PHI_JSON_BORROW, &schema, &parse);
    if (status == PHI_PARSE)
        (void)phi__error(rt, status, "tool \"%s\": schema:%u:%u: %s", tool->name,
                         (unsigned)parse.line, (unsigned)parse.column, parse.message);
    else if (status != PHI_OK)
        (void)phi__error(rt, status, "tool \"%s\": schema: %s", tool->name,
                         phi_status_text(status));
    else if (!tool->checks_arguments && (status = phi_schema_valid(schema, &error)) != PHI_OK)
        (void)phi__error(rt, status, "tool \"%s\": %s", tool->name, error.message);
    phi_arena_free(&arena);
    return status;
}

static phi_status phi__agent_check(phi_runtime *rt, const phi_agent_desc *desc) {
    size_t i, j;
    phi_status status = phi__agent_check_model(rt, &desc->model);
    if (status != PHI_OK) return status;
    if (desc->has_temperature && !(desc->temperature >= 0.0 && desc->temperature <= 100.0))
        return phi__error(rt, PHI_BAD_ARG, "temperature is %g: expected 0 or more",
                          desc->temperature);
    if ((unsigned)desc->thinking > (unsigned)PHI_THINKING_HIGH ||
        (unsigned)desc->tool_choice > (unsigned)PHI_TOOL_CHOICE_REQUIRED ||
        (unsigned)desc->tool_mode > (unsigned)PHI_TOOLS_BATCHED)
        return phi__error(rt, PHI_BAD_ARG,
                          "thinking, tool_choice or tool_mode is none of its values");
    if (desc->tool_count > 0 && desc->tools == NULL)
        return phi__error(rt, PHI_BAD_ARG, "tools is missing, tool_count is %u",
                          (unsigned)desc->tool_count);
    for (i = 0; i < desc->tool_count; i++) {
        const phi_tool *tool = &desc->tools[i];
        if (tool->name == NULL || tool->name[0] == '\0')
            return phi__error(rt, PHI_BAD_ARG, "tools[%u].name is missing", (unsigned)i);
        if (tool->start == NULL)
            return phi__error(rt, PHI_BAD_ARG, "tool \"%s\": start is missing", tool->name);
        for (j = 0; j < i; j++)
            if (strcmp(desc->tools[j].name, tool->name) == 0)
                return phi__error(rt, PHI_BAD_ARG, "tool \"%s\" is there twice", tool->name);
        status = phi__agent_check_schema(rt, tool);
        if (status != PHI_OK) return status;
    }
    return PHI_OK;
}

/* ---- the end of one ---- */

PHI__FN void phi__agent_doom(phi__agent *agent) {
    phi_runtime *rt = agent->rt;
    phi__slot *slot = agent->slot;
    if (slot == NULL) return;
    if (agent->run != NULL) phi__run_detach(agent->run);
    if (agent->slot == NULL) return; /* a tool's cancel freed it meanwhile */
    agent->slot = NULL;
    phi__slots_release(&rt->agents, slot);
    phi__events_purge(rt, agent);
    agent->next_doomed = rt->doomed;
    rt->doomed = agent;
}

PHI__FN void phi__agent_destroy(phi__agent *agent) {
    phi_runtime *rt = agent->rt;
    if (agent->run != NULL) phi__run_destroy(agent->run);
    phi__thread_free(&agent->thread);
    phi_arena_free(&agent->model_arena);
    phi_arena_free(&agent->arena);
    phi__agent_drop_id(agent, agent->agent_id);
    phi__agent_drop_id(agent, agent->session_id);
    PHI_ASSERT(agent->memory.used_bytes == 0);
    phi__free(&rt->memory, agent, sizeof *agent);
}

static phi__agent *phi__agent_make(phi_runtime *rt, const phi_agent_desc *desc) {
    phi__agent *agent = (phi__agent *)phi__alloc(&rt->memory, sizeof *agent);
    if (agent == NULL) return NULL;
    agent->rt = rt;
    phi_memory_init(&agent->memory, &rt->memory.allocator, desc->memory_limit_bytes);
    agent->memory.parent = &rt->memory;
    phi_arena_init(&agent->arena, &agent->memory, 512);
    phi_arena_init(&agent->model_arena, &agent->memory, 256);
    phi__thread_init(&agent->thread, &agent->memory);
    if (phi__agent_fill(agent, desc)) agent->slot = phi__slots_take(&rt->agents, 1, agent);
    if (agent->slot == NULL) {
        phi__agent_destroy(agent);
        return NULL;
    }
    agent->index = agent->slot->index;
    agent->gen = phi__slot_gen(PHI__LOAD(&agent->slot->word));
    return agent;
}

/* ---- prompting ---- */

static bool phi__agent_reserve_free(const phi__agent *agent) {
    size_t i;
    for (i = 0; i < PHI__RESERVE; i++)
        if (agent->reserve[i].in_use) return false;
    return true;
}

static phi_status phi__agent_check_prompt(phi_runtime *rt, const phi_content *content,
                                          size_t count) {
    size_t i;
    if (content == NULL || count == 0)
        return phi__error(rt, PHI_BAD_ARG, "phi_prompt: there is no content");
    for (i = 0; i < count; i++)
        if (content[i].kind != PHI_CONTENT_TEXT && content[i].kind != PHI_CONTENT_IMAGE)
            return phi__error(rt, PHI_BAD_ARG,
                              "phi_prompt: content[%u].kind: expected text or image", (unsigned)i);
        else if (content[i].kind == PHI_CONTENT_IMAGE &&
                 (content[i].data.len == 0 || content[i].mime_type.len == 0))
            return phi__error(rt, PHI_BAD_ARG,
                              "phi_prompt: content[%u]: an image needs data and mime_type",
                              (unsigned)i);
    return PHI_OK;
}

static phi_status phi__agent_may_run(phi__agent *agent) {
    phi_runtime *rt = agent->rt;
    if (rt->closing) return phi__error(rt, PHI_MISUSE, "phi_prompt: the runtime is closing");
    if (agent->run != NULL)
        return phi__error(rt, PHI_BUSY,
                          "Agent is already streaming. Wait for its AGENT_END, or phi_abort it.");
    if (!phi__agent_reserve_free(agent))
        return phi__error(rt, PHI_BUSY, "phi_prompt: the last run's events were not popped");
    return PHI_OK;
}

static phi_status phi__agent_idle(phi__agent *agent, const char *what) {
    return agent->run == NULL ? PHI_OK
                              : phi__error(agent->rt, PHI_BUSY, "%s: a run is going on", what);
}

/* ---- public ---- */

PHI_API phi_agent phi_agent_new(phi_runtime *rt, const phi_agent_desc *desc) {
    phi_agent none;
    phi__agent *agent;
    memset(&none, 0, sizeof none);
    if (rt == NULL) return none;
    if (rt->closing) {
        (void)phi__error(rt, PHI_MISUSE, "phi_agent_new: the runtime is closing");
        return none;
    }
    if (desc == NULL) {
        (void)phi__error(rt, PHI_BAD_ARG, "phi_agent_new: desc is NULL");
        return none;
    }
    if (phi__agent_check(rt, desc) != PHI_OK) return none;
    agent = phi__agent_make(rt, desc);
    if (agent == NULL) {
        (void)phi__error(rt, PHI_NO_MEMORY, "phi_agent_new: out of memory");
        return none;
    }
    return phi__agent_handle(agent);
}

PHI_API phi_status phi_agent_free(phi_agent handle) {
    phi__agent *agent = phi__agent_find(handle);
    bool inside;
    if (handle.rt == NULL) return PHI_BAD_ARG;
    if (agent == NULL) return PHI_STALE;
    inside = handle.rt->in_step;
    handle.rt->in_step = true; /* the tools' cancel functions must not step */
    phi__agent_doom(agent);
    if (!inside) phi__step_end(handle.rt);
    return PHI_OK;
}

PHI_API bool phi_agent_alive(phi_agent handle) {
    return handle.rt != NULL && phi__slots_state(&handle.rt->agents, handle.index, handle.gen) != 0;
}

PHI_API bool phi_agent_running(phi_agent handle) {
    phi__agent *agent = phi__agent_find(handle);
    return agent != NULL && agent->run != NULL;
}

PHI_API phi_status phi_prompt_content(phi_agent handle, const phi_content *content, size_t count) {
    phi__agent *agent = phi__agent_find(handle);
    phi_message message;
    phi_status status;
    if (handle.rt == NULL) return PHI_BAD_ARG;
    if (agent == NULL) return phi__error(handle.rt, PHI_STALE, "phi_prompt: the agent is gone");
    status = phi__agent_check_prompt(handle.rt, content, count);
    if (status == PHI_OK) status = phi__agent_may_run(agent);
    if (status != PHI_OK) return status;
    memset(&message, 0, sizeof message);
    message.role = PHI_ROLE_USER;
    message.content = content;
    message.content_count = count;
    status = phi__run_new(agent, &message);
    return status == PHI_OK ? status : phi__error(handle.rt, status, "phi_prompt: out of memory");
}

PHI_API phi_status phi_prompt(phi_agent agent, const char *text) {
    phi_content content;
    if (agent.rt == NULL) return PHI_BAD_ARG;
    if (text == NULL || text[0] == '\0')
        return phi__error(agent.rt, PHI_BAD_ARG, "phi_prompt: the text is empty");
    memset(&content, 0, sizeof content);
    content.kind = PHI_CONTENT_TEXT;
    content.text = phi_str_of(text);
    return phi_prompt_content(agent, &content, 1);
}

PHI_API phi_status phi_abort(phi_agent handle) {
    phi__post post;
    phi_status status;
    if (handle.rt == NULL) return PHI_BAD_ARG;
    if (!phi_agent_alive(handle)) return PHI_STALE;
    memset(&post, 0, sizeof post);
    post.kind = PHI__POST_ABORT;
    post.index = handle.index;
    post.gen = handle.gen;
    status = phi__inbox_post(&handle.rt->inbox, &post);
    if (status == PHI_OK) phi__io_wake(handle.rt->io);
    return status;
}

PHI_API phi_status phi_agent_set_model(phi_agent handle, const phi_model *model) {
    phi__agent *agent = phi__agent_find(handle), before;
    phi_status status;
    if (handle.rt == NULL || model == NULL) return PHI_BAD_ARG;
    if (agent == NULL) return PHI_STALE;
    status = phi__agent_idle(agent, "phi_agent_set_model");
    if (status == PHI_OK) status = phi__agent_check_model(handle.rt, model);
    if (status != PHI_OK) return status;
    before = *agent;
    phi_arena_init(&agent->model_arena, &agent->memory, 256);
    if (phi__agent_model(agent, model) &&
        phi__agent_segment(agent, agent->segment_given ? before.segment.at : NULL)) {
        phi_arena_free(&before.model_arena);
        return PHI_OK;
    }
    phi_arena_free(&agent->model_arena);
    agent->model_arena = before.model_arena;
    agent->model = before.model;
    agent->codec = before.codec;
    agent->segment = before.segment;
    return phi__error(handle.rt, PHI_NO_MEMORY, "phi_agent_set_model: out of memory");
}

PHI_API phi_status phi_agent_reset(phi_agent handle) {
    phi__agent *agent = phi__agent_find(handle);
    phi_status status;
    if (handle.rt == NULL) return PHI_BAD_ARG;
    if (agent == NULL) return PHI_STALE;
    status = phi__agent_idle(agent, "phi_agent_reset");
    if (status != PHI_OK) return status;
    phi__events_purge(handle.rt, agent);
    phi__thread_free(&agent->thread);
    phi__agent_drop_id(agent, agent->session_id);
    phi__agent_make_id(agent, agent->session_made);
    agent->session_id = phi_str_of(agent->session_made);
    agent->loops = 0;
    return PHI_OK;
}

PHI_API phi_str phi_agent_id(phi_agent handle) {
    phi__agent *agent = phi__agent_find(handle);
    return agent != NULL ? agent->agent_id : phi__str("", 0);
}

PHI_API phi_str phi_agent_session_id(phi_agent handle) {
    phi__agent *agent = phi__agent_find(handle);
    return agent != NULL ? agent->session_id : phi__str("", 0);
}

PHI_API phi_str phi_agent_model_id(phi_agent handle) {
    phi__agent *agent = phi__agent_find(handle);
    return agent != NULL ? phi_str_of(agent->model.id) : phi__str("", 0);
}

PHI_API phi_usage phi_agent_usage(phi_agent handle) {
    phi__agent *agent = phi__agent_find(handle);
    phi_usage none;
    memset(&none, 0, sizeof none);
    return agent != NULL ? agent->usage : none;
}

PHI_API double phi_agent_cost(phi_agent handle) {
    phi__agent *agent = phi__agent_find(handle);
    return agent != NULL ? agent->cost : 0.0;
}

PHI_API size_t phi_agent_memory_used(phi_agent handle, size_t *peak) {
    phi__agent *agent = phi__agent_find(handle);
    if (peak != NULL) *peak = agent != NULL ? agent->memory.peak_bytes : 0;
    return agent != NULL ? agent->memory.used_bytes : 0;
}

PHI_API size_t phi_message_count(phi_agent handle) {
    phi__agent *agent = phi__agent_find(handle);
    return agent != NULL ? agent->thread.message_count : 0;
}

PHI_API const phi_message *phi_message_at(phi_agent handle, size_t i) {
    phi__agent *agent = phi__agent_find(handle);
    return agent != NULL && i < agent->thread.message_count ? agent->thread.messages[i]->message
                                                            : NULL;
}
