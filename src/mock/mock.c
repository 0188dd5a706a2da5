/* mock.c - a scripted model: a provider within the process. */
#include "agent/runtime.h"
#include "mock/mock.h"

#include "base/base_in.h"
#include "loop/loop_in.h"
#include "wire/wire_in.h"

#include <stdio.h>

typedef struct phi__mock_toolcall {
    struct phi__mock_toolcall *next;
    phi_str tool, arguments;
} phi__mock_toolcall;

/* An answer of the script, which is also the call that gives it. It is freed when the call ends. */
typedef struct phi__mock_answer {
    struct phi__mock_answer *next;
    phi_arena arena; /* memory of the text and the calls */
    phi_str text;    /* the answer's text; for a failure, its message */
    phi__mock_toolcall *calls;
    phi_failure_kind failure;
    uint32_t delay_ms;
    phi_usage usage;
    size_t at; /* bytes of the text that were already sent */
    uint64_t from_us;
} phi__mock_answer;

typedef struct phi__mock {
    phi_mock shown; /* must be first: a pointer to a phi_mock also points to a phi__mock */
    phi_runtime *rt;
    phi__mock_answer *first, *last;
    phi_model_request *requests;
    phi_arena *arenas; /* memory of each request */
    size_t room, arena_room;
    uint32_t calls; /* number of tool calls made so far; ids are made from it */
    bool lost;      /* an answer was not added because there was no memory */
    char name[16];
} phi__mock;

/* ---- requests ---- */

static bool phi__mock_keep_tools(phi_arena *arena, phi_model_request *to) {
    phi_tool_spec *tools = (phi_tool_spec *)phi__arena_zero(
        arena, phi__mul(phi__max(to->tool_count, 1), sizeof *tools));
    if (tools == NULL) return false;
    for (size_t i = 0; i < to->tool_count; i++) {
        const phi_tool_spec *from = &to->tools[i];
        tools[i].strict = from->strict;
        if (!phi__arena_str(arena, from->name, &tools[i].name) ||
            !phi__arena_str(arena, from->description, &tools[i].description) ||
            !phi__arena_str(arena, from->schema, &tools[i].schema) ||
            !phi__arena_str(arena, from->raw, &tools[i].raw))
            return false;
    }
    to->tools = tools;
    return true;
}

static bool phi__mock_keep_messages(phi_arena *arena, phi_model_request *to) {
    const phi_message **list = (const phi_message **)phi_arena_alloc(
        arena, phi__mul(phi__max(to->message_count, 1), sizeof *list));
    if (list == NULL) return false;
    for (size_t i = 0; i < to->message_count; i++) {
        list[i] = phi_message_copy(to->messages[i], arena);
        if (list[i] == NULL) return false;
    }
    to->messages = list;
    return true;
}

static bool phi__mock_fill(phi__mock *m, phi_arena *arena, const phi_model_request *request,
                           phi_model_request *to) {
    *to = *request;
    to->model = &m->shown.model;
    return phi__mock_keep_messages(arena, to) && phi__mock_keep_tools(arena, to) &&
           phi__takes_copy(arena, &request->options, &to->options) &&
           phi__arena_str(arena, request->system_prompt, &to->system_prompt) &&
           phi__arena_str(arena, request->session_id, &to->session_id) &&
           phi__keep_text(arena, &to->format.name) && phi__keep_text(arena, &to->format.schema);
}

static void phi__mock_drop_oldest(phi__mock *m) {
    size_t left = --m->shown.request_count;
    phi_arena_free(&m->arenas[0]);
    memmove(m->arenas, m->arenas + 1, left * sizeof *m->arenas);
    memmove(m->requests, m->requests + 1, left * sizeof *m->requests);
    m->shown.requests_freed++;
}

static bool phi__mock_keep(phi__mock *m, const phi_model_request *request) {
    phi_memory *memory = &m->rt->memory;
    while (m->shown.max_requests > 0 && m->shown.request_count >= m->shown.max_requests)
        phi__mock_drop_oldest(m);
    size_t count = m->shown.request_count;
    void *arenas = phi__grow(memory, m->arenas, &m->arena_room, count + 1, sizeof *m->arenas);
    if (arenas == NULL) return false;
    m->arenas = (phi_arena *)arenas;
    void *requests = phi__grow(memory, m->requests, &m->room, count + 1, sizeof *m->requests);
    if (requests == NULL) return false;
    m->shown.requests = m->requests = (phi_model_request *)requests;
    phi_arena_init(&m->arenas[count], memory, 512);
    if (!phi__mock_fill(m, &m->arenas[count], request, &m->requests[count])) {
        phi_arena_free(&m->arenas[count]);
        return false;
    }
    m->shown.request_count++;
    return true;
}

/* ---- the script ---- */

static void phi__mock_free_answer(phi__mock *m, phi__mock_answer *answer) {
    phi_arena_free(&answer->arena);
    phi__free(&m->rt->memory, answer, sizeof *answer);
}

static phi__mock_answer *phi__mock_add(phi__mock *m) {
    phi__mock_answer *answer = (phi__mock_answer *)phi__alloc(&m->rt->memory, sizeof *answer);
    if (answer == NULL) {
        m->lost = true;
        return NULL;
    }
    phi_arena_init(&answer->arena, &m->rt->memory, 256);
    answer->delay_ms = m->shown.delay_ms;
    answer->usage = m->shown.usage;
    if (m->first == NULL)
        m->first = answer;
    else
        m->last->next = answer;
    m->last = answer;
    m->shown.answers_left++;
    return answer;
}

static void phi__mock_set_text(phi__mock *m, phi__mock_answer *answer, const char *text) {
    if (answer != NULL && !phi__arena_str(&answer->arena, phi_str_of(text), &answer->text))
        m->lost = true;
}

/* Puts a failure with this message in front of the script. */
static void phi__mock_refuse(phi__mock *m, const char *words) {
    phi__mock_answer *first = m->first, *last = m->last;
    m->first = m->last = NULL;
    phi__mock_answer *answer = phi__mock_add(m);
    if (answer == NULL) {
        m->first = first;
        m->last = last;
        return;
    }
    answer->failure = PHI_FAILURE_INVALID_REQUEST;
    answer->delay_ms = 0;
    phi__mock_set_text(m, answer, words);
    answer->next = first;
    if (first != NULL) m->last = last;
}

/* Refuses a request with a tool whose name no provider takes. False: every name is good. */
static bool phi__mock_refuse_name(phi__mock *m, const phi_model_request *request) {
    for (size_t i = 0; i < request->tool_count; i++) {
        phi_str name = request->tools[i].name;
        const char *why = phi__preflight_name(NULL, name);
        char words[256];
        if (why == NULL || request->tools[i].raw.len > 0) continue;
        (void)snprintf(words, sizeof words, "phi_mock: tool \"%.*s\": %s",
                       (int)phi__utf8_cut(name, 100), name.len > 0 ? name.at : "", why);
        phi__mock_refuse(m, words);
        return true;
    }
    return false;
}

/* Refuses a request that finds no answer. */
static void phi__mock_refuse_missing(phi__mock *m, const phi_model_request *request) {
    const phi_message *last =
        request->message_count > 0 ? request->messages[request->message_count - 1] : NULL;
    phi_str text =
        last != NULL && last->content_count > 0 ? last->content[0].text : phi__str("", 0);
    char words[256];
    (void)snprintf(words, sizeof words, "phi_mock: no answer is left for request %u: %s \"%.*s\"",
                   (unsigned)(m->shown.requests_freed + m->shown.request_count),
                   last != NULL && last->role == PHI_ROLE_TOOL_RESULT ? "tool result" : "user",
                   (int)phi__utf8_cut(text, 100), text.len > 0 ? text.at : "");
    phi__mock_refuse(m, words);
}

/* ---- the provider ---- */

static phi_status phi__mock_open(void *user_data, const phi_model_request *request, void **call) {
    phi__mock *m = (phi__mock *)user_data;
    if (!phi__mock_keep(m, request)) return PHI_NO_MEMORY;
    bool refused = phi__mock_refuse_name(m, request);
    if (!refused && m->first == NULL && m->shown.answer_fn != NULL)
        m->shown.answer_fn(m->shown.user_data, &m->shown, request);
    if (m->first == NULL && !m->lost) phi__mock_refuse_missing(m, request);
    if (m->lost) return PHI_NO_MEMORY;
    phi__mock_answer *answer = m->first;
    m->first = answer->next;
    m->shown.answers_left--;
    answer->from_us = phi__io_now_us(m->rt->io) + (uint64_t)answer->delay_ms * 1000;
    *call = answer;
    return PHI_OK;
}

static void phi__mock_say_calls(phi__mock *m, const phi__mock_answer *said, phi_answer *answer) {
    for (const phi__mock_toolcall *call = said->calls; call != NULL; call = call->next) {
        char id[32];
        (void)snprintf(id, sizeof id, "call_%u", (unsigned)++m->calls);
        phi_answer_call(answer, phi_str_of(id), call->tool);
        phi_answer_arguments(answer, call->arguments, true);
    }
}

static bool phi__mock_passes(phi_failure_kind kind) {
    return kind == PHI_FAILURE_RATE_LIMITED || kind == PHI_FAILURE_SERVER ||
           kind == PHI_FAILURE_NETWORK || kind == PHI_FAILURE_TIMEOUT;
}

static phi_poll phi__mock_poll(void *user_data, void *call, phi_answer *answer) {
    phi__mock *m = (phi__mock *)user_data;
    phi__mock_answer *said = (phi__mock_answer *)call;
    if (phi__io_now_us(m->rt->io) < said->from_us) return PHI_POLL_AGAIN;
    if (said->failure != PHI_FAILURE_NONE) {
        phi_answer_fail(answer, said->failure, phi__mock_passes(said->failure), said->text.at);
        return PHI_POLL_DONE;
    }
    phi_answer_usage(answer, &said->usage);
    if (said->at < said->text.len) {
        phi_str text = said->text;
        size_t at = said->at;
        size_t end = at;
        while (end < text.len && text.at[end] != ' ') end++;
        while (end < text.len && text.at[end] == ' ') end++;
        phi_str word = phi__str(text.at + at, end - at);
        phi_answer_text(answer, word);
        said->at += word.len;
    }
    if (said->at < said->text.len) {
        phi_wake(m->rt); /* so that the next step sends the next word */
        return PHI_POLL_AGAIN;
    }
    phi__mock_say_calls(m, said, answer);
    return PHI_POLL_DONE;
}

static void phi__mock_close(void *user_data, void *call) {
    phi__mock_free_answer((phi__mock *)user_data, (phi__mock_answer *)call);
}

static void phi__mock_release(void *user_data) {
    phi__mock *m = (phi__mock *)user_data;
    phi_memory *memory = &m->rt->memory;
    while (m->first != NULL) {
        phi__mock_answer *answer = m->first;
        m->first = answer->next;
        phi__mock_free_answer(m, answer);
    }
    for (size_t i = 0; i < m->shown.request_count; i++) phi_arena_free(&m->arenas[i]);
    phi__free(memory, m->arenas, m->arena_room * sizeof *m->arenas);
    phi__free(memory, m->requests, m->room * sizeof *m->requests);
    phi__free(memory, m, sizeof *m);
}

/* ---- public ---- */

PHI_API phi_mock *phi_mock_new(phi_runtime *rt) {
    phi__mock *m;
    unsigned n = 1;
    if (rt == NULL) return NULL;
    m = (phi__mock *)phi__alloc(&rt->memory, sizeof *m);
    if (m == NULL) return NULL;
    m->rt = rt;
    (void)snprintf(m->name, sizeof m->name, "mock");
    while (phi__provider_find(rt, phi_str_of(m->name)) != NULL)
        (void)snprintf(m->name, sizeof m->name, "mock%u", ++n);
    m->shown.model.protocol = m->shown.model.id = m->name;
    phi_provider *provider = &m->shown.provider;
    provider->protocol = m->name;
    provider->user_data = m;
    provider->open = phi__mock_open;
    provider->poll = phi__mock_poll;
    provider->close = phi__mock_close;
    provider->release = phi__mock_release;
    if (phi_register_provider(rt, &m->shown.provider) != PHI_OK) {
        phi__mock_release(m);
        return NULL;
    }
    return &m->shown;
}

PHI_API void phi_mock_text(phi_mock *mock, const char *text) {
    phi__mock *m = (phi__mock *)(void *)mock;
    if (m != NULL) phi__mock_set_text(m, phi__mock_add(m), text);
}

PHI_API void phi_mock_also_call(phi_mock *mock, const char *tool, const char *arguments) {
    phi__mock *m = (phi__mock *)(void *)mock;
    phi__mock_toolcall *call, **end;
    if (m == NULL || m->first == NULL) return; /* there is no answer to add to */
    phi_arena *arena = &m->last->arena;
    call = (phi__mock_toolcall *)phi__arena_zero(arena, sizeof *call);
    if (call == NULL || !phi__arena_str(arena, phi_str_of(tool), &call->tool) ||
        !phi__arena_str(arena, phi_str_of(arguments), &call->arguments)) {
        m->lost = true;
        return;
    }
    for (end = &m->last->calls; *end != NULL; end = &(*end)->next) {}
    *end = call;
}

PHI_API void phi_mock_call(phi_mock *mock, const char *tool, const char *arguments) {
    phi__mock *m = (phi__mock *)(void *)mock;
    if (m != NULL && phi__mock_add(m) != NULL) phi_mock_also_call(mock, tool, arguments);
}

PHI_API void phi_mock_fail(phi_mock *mock, phi_failure_kind kind, const char *message) {
    phi__mock *m = (phi__mock *)(void *)mock;
    phi__mock_answer *answer = m != NULL ? phi__mock_add(m) : NULL;
    if (answer == NULL) return;
    answer->failure = kind != PHI_FAILURE_NONE ? kind : PHI_FAILURE_SERVER;
    phi__mock_set_text(m, answer, message);
}
